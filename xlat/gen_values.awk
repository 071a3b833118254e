# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The first part of the generator (see gen_read.awk): numbers, constants and C text.
#
# awk's numbers are doubles, so a 64-bit value is a string of 16 hex digits.
# Comparisons prepend "x", so that no awk compares such strings as numbers.

function fail(at, text)
{
	print at ": " text | "cat 1>&2"
	return failed = 1
}

# Return an integer below 2^53 as hex digits.
function tohex(n)
{
	return sprintf("%04x%06x%06x", int(n / 281474976710656), int(n / 16777216) % 16777216,
		       n % 16777216)
}

function digit(c)
{
	return index("0123456789abcdef", c) - 1
}

# Return the number of a hex string, exact below 2^53.
function tonum(h,	n, i)
{
	n = 0
	for (i = 1; i <= 16; i++)
		n = n * 16 + digit(substr(h, i, 1))
	return n
}

function negate(h,	s, i, d, carry)
{
	s = ""
	carry = 1
	for (i = 16; i >= 1; i--) {
		d = 15 - digit(substr(h, i, 1)) + carry
		carry = d > 15
		s = substr("0123456789abcdef", d % 16 + 1, 1) s
	}
	return s
}

function less(a, b)
{
	return ("x" a) < ("x" b)
}

# Return whether a has bits outside of m.
function outside(a, m,	i, j)
{
	for (i = 1; i <= 16; i++)
		for (j = 1; j <= 8; j *= 2)
			if (int(digit(substr(a, i, 1)) / j) % 2 > int(digit(substr(m, i, 1)) / j) % 2)
				return 1
	return 0
}

# Return the hex digits of a number or constant, or "" after an error.
function value(text, at, depth,	s, n, row)
{
	if (text ~ /^0[xX][0-9a-fA-F]+$/) {
		s = tolower(substr(text, 3))
		if (length(s) <= 16)
			return substr("0000000000000000", 1, 16 - length(s)) s
	} else if (text ~ /^1<<[0-9]+$/) {
		n = substr(text, 4) + 0
		if (n < 64) {
			s = substr("1248", n % 4 + 1, 1)
			n = int(n / 4)
			return substr("000000000000000", 1, 15 - n) s \
			       substr("000000000000000", 1, n)
		}
	} else if (text ~ /^-?[0-9]+$/) {
		n = text
		sub(/^-/, "", n)
		if (length(n) <= 15 && (n == "0" || n !~ /^0/)) {
			s = tohex(n + 0)
			return text ~ /^-/ ? negate(s) : s
		}
	} else if (identifier(text)) {
		if (!(("table", text) in row_of)) {
			lost = fail(at, "unknown constant " text)
			return ""
		}
		if (depth > 8) {
			lost = fail(at, text " is defined by itself")
			return ""
		}
		row = row_of["table", text]
		n = cell["table", row, "VALUE"]
		sub(/&.*/, "", n)
		return value(n, row_at["table", row], depth + 1)
	}
	lost = fail(at, "not a 64-bit value: " text)
	return ""
}

# Return a C string.  What gsub() makes of backslashes differs from awk to awk.
function quoted(s,	at, text)
{
	while ((at = match(s, /[\\"]/))) {
		text = text substr(s, 1, at - 1) "\\" substr(s, at, 1)
		s = substr(s, at + 1)
	}
	return "\"" text s "\""
}

function quoted_or_null(s)
{
	return s == "-" || s == "" ? "NULL" : quoted(s)
}

# Return a hex string as a C constant with suffix u.
function chex(h, u)
{
	sub(/^0+/, "", h)
	return "0x" (h == "" ? "0" : h) u
}

# Return a release as C's KVER(), "0" for "-".
function kver(text, at,	a, n)
{
	if (text == "-")
		return "0"
	if (text !~ /^[0-9]+\.[0-9]+(\.[0-9]+)?$/) {
		fail(at, "not a release: " text)
		return "0"
	}
	n = split(text, a, /\./)
	return "KVER(" (a[1] + 0) ", " (a[2] + 0) ", " (n > 2 ? a[3] + 0 : 0) ")"
}

function identifier(s)
{
	return s ~ /^[A-Za-z_][A-Za-z0-9_]*$/
}

# Return a name as the end of a C constant: in capitals, without underscores before it.
function constant(name)
{
	name = toupper(name)
	sub(/^_+/, "", name)
	return name
}
