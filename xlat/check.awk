# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Compare the description with the system's headers: from check.list (written by
# gen_write.awk) and the preprocessed headers.c, generate a C file of assertions about
# all names that those headers define:
#
#	$(CC) $(CPPFLAGS) -std=gnu11 -E -dD $(srcdir)/xlat/headers.c >xlat/headers.i
#	LC_ALL=C $(AWK) -f $(srcdir)/xlat/check.awk xlat/check.list \
#		xlat/headers.i >xlat/check.c
#	$(CC) $(CFLAGS) -std=gnu11 -I$(srcdir)/xlat -c -o xlat/check.o xlat/check.c
#
# check.o is empty; a value that differs stops its compilation.  Names that a
# header lacks are not compared, so that old headers can be used.

BEGIN {
	FS = "\t"
	nitems = 0
	member_of = ""
}

FNR == 1 {
	nfile++
}

nfile == 1 {
	nitems++
	item[nitems] = $0
	if ($1 == "member")
		struct[$2] = 1
	next
}

# Macros.
/^#define / {
	name = $0
	sub(/^#define /, "", name)
	sub(/[^A-Za-z0-9_].*/, "", name)
	seen[name] = 1
	next
}

/^#undef / {
	name = $0
	sub(/^#undef /, "", name)
	sub(/[^A-Za-z0-9_].*/, "", name)
	delete seen[name]
	next
}

/^#/ {
	next
}

# Enumerators and members: all other words of the text.  Macros are expanded
# there, so that no word of it is the name of one.
{
	line = $0
	if (match(line, /^(struct|union) [a-z_0-9]+ \{/)) {
		split(line, word, / /)
		if (word[2] in struct)
			member_of = word[2]
	}
	if (line ~ /^\}/)
		member_of = ""
	n = split(line, word, /[^A-Za-z0-9_]+/)
	for (i = 1; i <= n; i++) {
		if (word[i] == "")
			continue
		seen[word[i]] = 1
		if (member_of != "")
			member[member_of, word[i]] = 1
	}
	if (line ~ /^(struct|union) [a-z_0-9]+ \{/)
		kind_of[member_of] = line ~ /^union/ ? "union" : "struct"
}

END {
	print "/* Made by check.awk from xlat/; do not edit. */"
	print "#include \"headers.c\""
	print ""
	print "#define SAME(a, b) ((unsigned long long)(a) == (b))"
	print ""
	print "/* What every architecture has alike. */"
	for (i = 1; i <= nitems; i++) {
		split(item[i], f, /\t/)
		if (f[1] == "const" && f[4] == "perf" && f[2] in seen)
			assert("SAME(" f[2] ", " f[3] ")", f[2], f[5])
		if (f[1] == "member" && (f[2] SUBSEP f[3]) in member)
			assert(little_endian(f[2]) "offsetof(" kind_of[f[2]] \
			       " " f[2] ", " f[3] ") == " f[4], f[3], f[5])
	}
	print ""
	print "/* What only x86-64 has as described. */"
	print "#if defined(__x86_64__) && !defined(__ILP32__)"
	for (i = 1; i <= nitems; i++) {
		split(item[i], f, /\t/)
		if (f[1] == "const" && f[4] == "libc" && f[2] in seen)
			assert("SAME(" f[2] ", " f[3] ")", f[2], f[5])
	}
	print "#endif"
	print ""
	print "/* Requests have other bits on a few old architectures. */"
	print "#if defined(__x86_64__) || defined(__i386__) || \\"
	print "	defined(__aarch64__) || defined(__arm__) || defined(__riscv)"
	for (i = 1; i <= nitems; i++) {
		split(item[i], f, /\t/)
		if (f[1] == "ioctl" && f[2] in seen)
			assert("SAME(" f[2] ", sizeof(void *) == 8 ? " f[3] \
			       " : " f[4] ")", f[2], f[5])
	}
	print "#endif"
}

# Unions split an integer into members, whose offsets depend on byte order.
function little_endian(name)
{
	return kind_of[name] == "union" ? \
	       "__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ ||\n\t       " : ""
}

function assert(test, name, at)
{
	print "_Static_assert(" test ","
	print "\t\"" at ": " name " differs from the system's header\");"
}
