# SPDX-License-Identifier: LGPL-2.1-or-later
# Write each part of parts.txt as a C string.
/^== / {
	print end "static const char part_" $2 "[] ="
	end = ";\n\n"
	next
}
end {
	gsub(/\\/, "&&")
	gsub(/"/, "\\\\&")
	gsub(/\t/, "\\t")
	print "\"" $0 "\\n\""
}
END {
	print ";"
}
