#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Write the page's files as C strings, with the SHA-256 hashes of style and script for its
# Content-Security-Policy.
#
# usage: embed.sh DIRECTORY >assets.c

set -eu
LC_ALL=C
export LC_ALL
cd "$1"
scripts='data.js calls.js timeline.js pointing.js page.js'

# text NAME FILE...: define a string with the concatenated files
text() {
	echo "const char page_$1[] ="
	shift
	awk '{
		gsub(/\\/, "&&")
		gsub(/"/, "\\\\&")
		gsub(/\?/, "\\\\&")
		gsub(/\t/, "\\t")
		print "\t\"" $0 "\\n\""
	} END { print "\t;" }' "$@"
}

# hash NAME FILE...: define the hash of the concatenated files, in base64
# Single quotes: this is awk.
# shellcheck disable=SC2016
hash() {
	name=$1
	shift
	cat "$@" | sha256sum | awk -v name="$name" '{
		hex = "0123456789abcdef"
		set = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
		# 32 bytes: three hex digits make two base64 digits; four bits remain
		for (i = 1; i <= 63; i += 3) {
			v = 0
			for (k = 0; k < 3; k++)
				v = v * 16 + index(hex, substr($1, i + k, 1)) - 1
			out = out substr(set, int(v / 64) + 1, 1) substr(set, v % 64 + 1, 1)
		}
		v = (index(hex, substr($1, 64, 1)) - 1) * 4
		print "const char page_" name "_sha256[] = \"" out substr(set, v + 1, 1) "=\";"
	}'
}

# shellcheck disable=SC2086
if grep -n -i -e '</s' -e '<!--' $scripts page.css >&2; then
	echo "embed.sh: this would end or break its HTML element" >&2
	exit 1
fi
echo "/* Made by src/report/embed.sh. */"
echo '#include "report/page_internal.h"'
text template page.html
text style page.css
hash style page.css
# shellcheck disable=SC2086
text script $scripts
# shellcheck disable=SC2086
hash script $scripts
