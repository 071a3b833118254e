# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Generate the C tables from the description:
#
#	awk -v out=DIR -f gen.awk FILE.in...
#
# writes tables.c, tables.h, constants.h, layouts.h, call_ids.h, rule_ids.h and check.list
# (the input of check.awk) into DIR, which must exist, if all of the
# input is valid.  README.md describes the input.
#
# awk's numbers are doubles, so a 64-bit value is a string of 16 hex digits.
# Comparisons prepend "x", so that no awk compares such strings as numbers.

function fail(at, text)
{
	print at ": " text | "cat 1>&2"
	failed = 1
}

# Return an integer below 2^53 as hex digits.
function tohex(n,	s, r, i)
{
	s = ""
	for (i = 0; i < 16; i++) {
		r = n % 16
		s = substr("0123456789abcdef", r + 1, 1) s
		n = (n - r) / 16
	}
	return s
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

function same(a, b)
{
	return ("x" a) == ("x" b)
}

# Return whether a has bits outside of m.
function outside(a, m,	i, j, x, y)
{
	for (i = 1; i <= 16; i++) {
		x = digit(substr(a, i, 1))
		y = digit(substr(m, i, 1))
		for (j = 0; j < 4; j++) {
			if (x % 2 && !(y % 2))
				return 1
			x = int(x / 2)
			y = int(y / 2)
		}
	}
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
	} else if (text ~ /^[A-Za-z_][A-Za-z0-9_]*$/) {
		if (!(text in const_row)) {
			fail(at, "unknown constant " text)
			return ""
		}
		if (depth > 8) {
			fail(at, text " is defined by itself")
			return ""
		}
		row = const_row[text]
		n = row_value[row]
		sub(/&.*/, "", n)
		return value(n, row_at[row], depth + 1)
	}
	fail(at, "not a 64-bit value: " text)
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

# Return lines as adjacent C strings.
function quoted_lines(s,	a, i, n, text)
{
	n = split(s, a, /\n/)
	text = "\"\""
	for (i = 1; i < n; i++)
		text = text "\n\t  " quoted(a[i]) " \"\\n\""
	return text
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

function kind(set, word, at,	what)
{
	if (!((set, word) in known)) {
		what = set
		gsub(/_/, " ", what)
		fail(at, "unknown " what " " word)
		return set "_?"
	}
	return known[set, word]
}

# Allow the words in the set; each means PREFIX_WORD.
function allow(set, prefix, words,	a, n, i)
{
	n = split(words, a, / /)
	for (i = 1; i <= n; i++)
		known[set, a[i]] = prefix toupper(a[i])
}

function table_ref(name, at)
{
	if (name == "-" || name == "")
		return "NULL"
	if (!(name in table_no)) {
		fail(at, "unknown table " name)
		return "NULL"
	}
	return "&xlat_" name
}

function identifier(s)
{
	return s ~ /^[A-Za-z_][A-Za-z0-9_]*$/
}

# Return whether C code uses all constants of the header: those about perf, or of no header.
function is_perf_header(header)
{
	return header == "" || header == "linux/perf_event.h" ||
	       header == "linux/hw_breakpoint.h" || header == "asm/perf_regs.h"
}

BEGIN {
	FS = "\t+"
	ntables = nlayouts = nrows = nioctls = ncalls = npmus = nrules = nclaims = namendments = nmisstatements = nfiles = 0
	since_column["table"] = since_column["pmus"] = since_column["rules"] = 3
	since_column["takers"] = 3
	since_column["calls"] = 4
	since_column["layout"] = 6
	since_column["ioctls"] = 7
	nsteps = nterms = nwords = nrefusals = ntakers = 0
	release = "0"
	section = ""
	failed = 0
	pair_sections = "parts|cause_words|undocumented|exceptions|uncheckable|commits|example_output|example_events|requirements|defaults|purposes"

	allow("table_kind", "XLAT_", "enum flags bits")
	allow("trait", "XLAT_", "nonabi alias c")
	allow("field_kind", "FIELD_", "uint sint hex bool enum flags words " \
	      "addr string regs config configx pmu size reserved fd pid pids signal program")
	allow("direction", "IOCTL_", "value in out inout")
	allow("ioctl_argument", "IOCTL_ARG_", "uint sint flags fd u64 " \
	      "string attr query_bpf")
	allow("call_class", "CLASS_", "open ioctl bpf memory poll read desc pass process")
	allow("watch", "WATCH_", "always ioctl bpf shared prctl ptrace unshare held fd")
	allow("argument_kind", "ARG_", "uint sint hex hex32 loff addr enum flags flags32 fd dirfd pid " \
	      "cpu size string argv envp attr event_pid group_fd " \
	      "ioctl_request ioctl_arg bpf_attr mmap_offset pollfds fdset timespec " \
	      "timespec64 timeval msec sigset sigset_pair epoll_event epoll_events " \
	      "read_buf read_iov fcntl_cmd fcntl_arg clone_args " \
	      "clone_flags status mremap_addr prctl_arg msghdr " \
	      "open_flags pos_high")

	allow("step_kind", "STEP_", "symbol inlined optional x86 arm64")

	if (out == "") {
		fail("gen.awk", "-v out=DIR is missing")
		exit 1
	}
}

{
	at = FILENAME ":" FNR
	sub(/\r$/, "")
}

FNR == 1 {
	section = ""
}

/^#/ || /^[ \t]*$/ {
	next
}

/^%/ {
	n = split($0, word, /[ \t]+/)
	section = ""
	sourced = /[ \t](header|source)=./
	if (word[n] ~ /^source=./)
		n--
	if (word[1] == "%table" && n >= 3)
		begin_table(n)
	else if (word[1] == "%layout" && n >= 2)
		begin_layout(n)
	else if (word[1] == "%release" && n == 2) {
		release = kver(word[2], at)
		section = "bad"
	} else if (word[1] == "%ioctls" && n == 1)
		section = "ioctls"
	else if (word[1] == "%calls" && n == 1)
		section = "calls"
	else if (word[1] == "%pmus" && n == 1)
		section = "pmus"
	else if (word[1] == "%rules" && n == 1)
		section = "rules"
	else if (word[1] ~ "^%(" pair_sections ")$" && n == 1)
		section = substr(word[1], 2)
	else if (word[1] == "%claims" && n == 1)
		section = "claims"
	else if (word[1] == "%amendments" && n == 1)
		section = "amendments"
	else if (word[1] == "%misstatements" && n == 1)
		section = "misstatements"
	else if (word[1] == "%steps" && n == 1)
		section = "steps"
	else if (word[1] == "%terms" && n == 1)
		section = "terms"
	else if (word[1] == "%glossary" && n == 1)
		section = "glossary"
	else if (word[1] == "%refusals" && n == 1)
		section = "refusals"
	else if (word[1] == "%takers" && n == 1)
		section = "takers"
	else
		fail(at, "not a section: " $0)
	if (section == "")
		section = "bad"
	next
}

section == "" {
	fail(at, "a row outside of any section")
	section = "bad"
}

section == "bad" {
	next
}

# No kernel that the tests boot proves a release below 5.10.
(section in since_column) && !sourced && !/^\t/ &&
$(since_column[section]) ~ /^(2|3|4|5\.[0-9])(\.|,|$)/ {
	fail(at, "a release below 5.10 in a section without header= or source=")
}

section == "table" {
	if (columns(5))
		table_row()
	next
}

section == "layout" {
	if (columns(10))
		layout_row()
	next
}

section == "ioctls" {
	if (columns(8))
		ioctl_row()
	next
}

section == "calls" {
	if (columns(6))
		call_row()
	next
}

section == "pmus" {
	if (columns(4))
		pmu_row()
	next
}

section == "rules" {
	if (columns(6))
		rule_row()
	next
}

# Sections whose rows are a name and a text.
section ~ "^(" pair_sections ")$" {
	if (columns(2))
		pair_row(section)
	next
}

section == "amendments" && /^\t/ {
	if (!namendments)
		fail(at, "a text without an amendment")
	amendment_text[namendments] = amendment_text[namendments] substr($0, 2) "\n"
	next
}

section == "amendments" {
	if (columns(4))
		amendment_row()
	next
}

section == "misstatements" && /^\t/ {
	if (!nmisstatements)
		fail(at, "a text without a misstatement")
	misstatement_text[nmisstatements] = misstatement_text[nmisstatements] substr($0, 2) "\n"
	next
}

section == "misstatements" {
	if (columns(5))
		misstatement_row()
	next
}

section == "claims" && /^\t\|/ {
	if (!nclaims)
		fail(at, "a correction without a claim")
	claim_correction[nclaims] = claim_correction[nclaims] substr($0, 4) "\n"
	next
}

section == "claims" && /^\t/ {
	claim_step()
	next
}

section == "claims" {
	if (columns(5))
		claim_row()
	next
}

section == "steps" {
	if (columns(6))
		step_row()
	next
}

section == "terms" {
	if (columns(3))
		term_row()
	next
}

section == "glossary" {
	if (columns(6))
		word_row()
	next
}

section == "refusals" {
	if (columns(4))
		refusal_row()
	next
}

section == "takers" {
	if (columns(4))
		taker_row()
	next
}

function columns(want,	i)
{
	if (NF != want) {
		fail(at, "a missing column: " NF " instead of " want)
		return 0
	}
	for (i = 1; i <= NF; i++)
		if ($i == "" || $i ~ /^ / || $i ~ / $/) {
			fail(at, "column " i " is empty or has blanks around it")
			return 0
		}
	if ($NF ~ /\.$/) {
		fail(at, "the meaning ends in a full stop")
		return 0
	}
	return 1
}

function begin_table(n,	i, name)
{
	name = word[2]
	if (!identifier(name))
		fail(at, "not a name: " name)
	if (name in table_no)
		fail(at, "table " name " is defined twice")
	kind("table_kind", word[3], at)
	table_no[name] = ++ntables
	table_name[ntables] = name
	table_kind[ntables] = word[3]
	table_prefix[ntables] = table_header[ntables] = table_btf[ntables] = ""
	table_at[ntables] = at
	table_n[ntables] = 0
	for (i = 4; i <= n; i++) {
		if (word[i] ~ /^prefix=./)
			table_prefix[ntables] = substr(word[i], 8)
		else if (word[i] ~ /^header=./)
			table_header[ntables] = substr(word[i], 8)
		else if (word[i] ~ /^btf=./)
			table_btf[ntables] = substr(word[i], 5)
		else if (word[i] == "signed")
			table_signed[ntables] = 1
		else
			fail(at, "unknown word " word[i])
	}
	section = "table"
}

function table_row(	t, r, i, a, n)
{
	t = ntables
	if (!identifier($1))
		fail(at, "not a name: " $1)
	if ($1 in const_row) {
		fail(at, $1 " is defined twice, also at " row_at[const_row[$1]])
		return
	}
	if (index($1, table_prefix[t]) != 1 && table_prefix[t] != "")
		fail(at, $1 " does not start with " table_prefix[t])
	r = ++nrows
	table_n[t]++
	table_row_no[t, table_n[t]] = r
	const_row[$1] = r
	row_at[r] = at
	row_name[r] = $1
	row_value[r] = $2
	row_since[r] = $3
	row_traits[r] = $4
	row_meaning[r] = $5
	if ($4 != "-") {
		n = split($4, a, /,/)
		for (i = 1; i <= n; i++)
			kind("trait", a[i], at)
	}
}

function begin_layout(n,	i, name)
{
	name = word[2]
	if (!identifier(name))
		fail(at, "not a name: " name)
	if (name in layout_no)
		fail(at, "layout " name " is defined twice")
	layout_no[name] = ++nlayouts
	layout_name[nlayouts] = name
	layout_btf[nlayouts] = layout_part[nlayouts] = ""
	layout_at[nlayouts] = at
	layout_n[nlayouts] = 0
	for (i = 3; i <= n; i++) {
		if (word[i] ~ /^btf=./)
			layout_btf[nlayouts] = substr(word[i], 5)
		else if (word[i] ~ /^part=./)
			layout_part[nlayouts] = substr(word[i], 6)
		else if (word[i] == "word")
			layout_word[nlayouts] = 1
		else
			fail(at, "unknown word " word[i])
	}
	section = "layout"
}

function layout_row(	l, f, p, a, w, first, last)
{
	l = nlayouts
	if (!identifier($1))
		fail(at, "not a name: " $1)
	if ($2 !~ /^[0-9]+\/[1248](:[0-9]+(-[0-9]+)?)?$/) {
		fail(at, "not a place: " $2)
		return
	}
	split($2, a, /[\/:-]/)
	first = a[3] + 0
	last = $2 ~ /-/ ? a[4] + 0 : ($2 ~ /:/ ? first : a[2] * 8 - 1)
	if (last < first || last >= a[2] * 8) {
		fail(at, "no such bits: " $2)
		return
	}
	f = ++layout_n[l]
	if ((l, $1) in field_no) {
		# a member may have two rows at one place, under two conditions
		p = field_no[l, $1]
		if (field_where[l, p] != $2 || field_when[l, p] == $8)
			fail(at, "member " $1 " is defined twice, also at " field_at[l, p])
	} else {
		field_no[l, $1] = f
	}
	field_at[l, f] = at
	field_name[l, f] = $1
	field_where[l, f] = $2
	field_offset[l, f] = a[1] + 0
	field_width[l, f] = a[2] + 0
	field_bit[l, f] = first
	field_nbits[l, f] = $2 ~ /:/ ? last - first + 1 : 0
	field_start[l, f] = a[1] * 8 + first
	field_end[l, f] = a[1] * 8 + last + 1
	field_kind[l, f] = kind("field_kind", $3, at)
	field_table[l, f] = $4
	if ($3 ~ /^(enum|flags|words)$/ && $4 == "-")
		fail(at, "kind " $3 " needs a table")
	if ($3 == "bool" && last != first)
		fail(at, "a bool has one bit")
	if ($5 != "-" && $5 !~ /^[0-9]+$/)
		fail(at, "not a size: " $5)
	field_size[l, f] = $5 == "-" ? 0 : $5
	field_since[l, f] = kver($6, at)
	if ($7 != "-" && $7 != "always")
		fail(at, "unknown word " $7)
	field_always[l, f] = $7 == "always"
	field_when[l, f] = $8
	field_needs[l, f] = $9
	field_meaning[l, f] = $10
}

function ioctl_row(	i)
{
	i = ++nioctls
	if (!identifier($1))
		fail(at, "not a name: " $1)
	if ($1 in const_row || $1 in ioctl_no)
		fail(at, $1 " is defined twice")
	ioctl_no[$1] = i
	ioctl_at[i] = at
	ioctl_name[i] = $1
	ioctl_request[i] = value($2, at, 0)
	ioctl_compat[i] = value($3, at, 0)
	ioctl_dir[i] = kind("direction", $4, at)
	ioctl_arg[i] = kind("ioctl_argument", $5, at)
	ioctl_table[i] = $6
	ioctl_since[i] = kver($7, at)
	ioctl_meaning[i] = $8
	if ($5 == "flags" && $6 == "-")
		fail(at, "argument flags needs a table")
	if (ioctl_request[i] == "" || ioctl_compat[i] == "")
		return
	if (less("00000000ffffffff", ioctl_request[i]) ||
	    less("00000000ffffffff", ioctl_compat[i]))
		fail(at, "a request has 32 bits")
	# the low byte is the number, the next one the type
	ioctl_nr[i] = substr(ioctl_request[i], 13)
	if (!same(ioctl_nr[i], substr(ioctl_compat[i], 13)))
		fail(at, "the two requests have different numbers")
	if (i > 1 && ioctl_nr[i - 1] != "") {
		if (same(ioctl_nr[i - 1], ioctl_nr[i]))
			fail(at, "number 0x" ioctl_nr[i] " is defined twice")
		else if (less(ioctl_nr[i], ioctl_nr[i - 1]))
			fail(at, "not sorted by number")
	}
}

function call_row(	c, args, n, i, part, a, k)
{
	c = ++ncalls
	if (!identifier($1))
		fail(at, "not a name: " $1)
	if ($1 in call_no)
		fail(at, "call " $1 " is defined twice, also at " call_at[call_no[$1]])
	call_no[$1] = c
	call_at[c] = at
	call_name[c] = $1
	call_class[c] = kind("call_class", $2, at)
	call_watch[c] = kind("watch", $3, at)
	call_since[c] = kver($4, at)
	call_meaning[c] = $6
	args = $5
	call_nargs[c] = call_in[c] = 0
	if (args == "-")
		return
	n = split(args, part, /\|/)
	if (n > 2)
		fail(at, "more than one |")
	if (n == 2)
		call_in[c] = part[1] == "" ? 0 : split(part[1], a, /,/)
	sub(/^\|/, "", args)
	gsub(/\|/, ",", args)
	n = split(args, a, /,/)
	if (n > 6)
		fail(at, "more than 6 arguments")
	call_nargs[c] = n
	if ($5 !~ /\|/)
		call_in[c] = n
	for (i = 1; i <= n; i++) {
		if (a[i] !~ /^[a-z_][a-z0-9_]*:[a-z0-9_]+(\/[A-Za-z0-9_]+)?$/) {
			fail(at, "not an argument: " a[i])
			continue
		}
		split(a[i], k, /[:\/]/)
		arg_name[c, i] = k[1]
		arg_kind[c, i] = kind("argument_kind", k[2], at)
		arg_table[c, i] = a[i] ~ /\// ? k[3] : "-"
		if (k[2] ~ /^(enum|flags|flags32)$/ && arg_table[c, i] == "-")
			fail(at, "kind " k[2] " needs a table")
	}
}

function pmu_row(	p)
{
	if ($1 !~ /^[A-Za-z_][A-Za-z0-9_]*\*?$/)
		fail(at, "not the name of a PMU: " $1)
	if ($1 in pmu_no)
		fail(at, "PMU " $1 " is defined twice, also at " pmu_at[pmu_no[$1]])
	p = ++npmus
	pmu_no[$1] = p
	pmu_at[p] = at
	pmu_name[p] = $1
	pmu_traits[p] = $2
	pmu_since[p] = kver($3, at)
	pmu_meaning[p] = $4
}

function rule_row(	r, n, a)
{
	if ($1 !~ /^[a-z][a-z0-9_]*$/)
		fail(at, "not a name: " $1)
	if ($1 in rule_no)
		fail(at, "rule " $1 " is defined twice, also at " rule_at[rule_no[$1]])
	r = ++nrules
	rule_no[$1] = r
	rule_at[r] = at
	rule_name[r] = $1
	rule_errno[r] = $2
	n = split($3, a, /\.\./)
	if (n > 2)
		fail(at, "not a span of releases: " $3)
	rule_since[r] = kver(a[1], at)
	rule_until[r] = n == 2 ? kver(a[2], at) : "0"
	rule_by[r] = $4
	rule_fields[r] = $5
	rule_meaning[r] = $6
}

function pair_row(set,	i)
{
	if ((set, $1) in pair_no)
		fail(at, $1 " is defined twice, also at " pair_at[set, pair_no[set, $1]])
	i = ++npairs[set]
	pair_no[set, $1] = i
	pair_at[set, i] = at
	pair_name[set, i] = $1
	pair_text[set, i] = $2 == "-" ? "" : $2
}

function claim_row(	c, n, a)
{
	if ($1 !~ /^[a-z][a-z0-9_]*$/)
		fail(at, "not a name: " $1)
	if ($1 in claim_no)
		fail(at, "claim " $1 " is defined twice, also at " claim_at[claim_no[$1]])
	c = ++nclaims
	claim_no[$1] = c
	claim_at[c] = at
	claim_name[c] = $1
	claim_section[c] = $2
	n = split($3, a, /\.\./)
	if (n > 2)
		fail(at, "not a span of releases: " $3)
	claim_since[c] = kver(a[1], at)
	claim_until[c] = n == 2 ? kver(a[2], at) : "0"
	claim_place[c] = $4
	claim_meaning[c] = $5
	claim_nsteps[c] = 0
}

# Add a step to the experiment of the last claim.
function claim_step(	s)
{
	s = $0
	sub(/^\t+/, "", s)
	sub(/[ \t]+$/, "", s)
	if (!nclaims)
		fail(at, "a step without a claim")
	else
		claim_steps[nclaims, ++claim_nsteps[nclaims]] = s
}

function amendment_row(	i)
{
	i = ++namendments
	amendment_finding[i] = $1
	if ($2 !~ /^(sentence|after|entry|before|line|over)$/)
		fail(at, "not a place for a text: " $2)
	amendment_how[i] = "AMEND_" toupper($2)
	amendment_section[i] = $3
	amendment_place[i] = $4
	amendment_text[i] = ""
}

function misstatement_row(	i)
{
	i = ++nmisstatements
	if ($2 !~ /^(false|lacks)$/)
		fail(at, "neither false nor lacks: " $2)
	misstatement_name[i] = $1
	misstatement_lacks[i] = $2 == "lacks" ? "true" : "false"
	misstatement_section[i] = $3
	misstatement_place[i] = $4
	misstatement_meaning[i] = $5
	misstatement_text[i] = ""
}

function check_commits(	i)
{
	for (i = 1; i <= npairs["commits"]; i++)
		if (pair_text["commits", i] !~ /^[0-9a-f]+$/ ||
		    length(pair_text["commits", i]) !~ /^(12|40)$/)
			fail(pair_at["commits", i], "not a commit: " pair_text["commits", i])
}

function check_claims(	c)
{
	for (c = 1; c <= nclaims; c++)
		if (!claim_nsteps[c])
			fail(claim_at[c], "claim " claim_name[c] " has no experiment")
	for (c = 1; c <= npairs["undocumented"]; c++)
		if (!(pair_name["undocumented", c] in claim_no))
			fail(pair_at["undocumented", c], "unknown claim " pair_name["undocumented", c])
}

function step_row(	i)
{
	if ($1 !~ /^[a-z][a-z0-9_]*$/ || $2 !~ /^[A-Za-z_][A-Za-z0-9_]*$/)
		fail(at, "not a step and a function: " $1 " " $2)
	if (($1, $2) in step_no)
		fail(at, $2 " is defined twice in " $1 ", also at " step_at[step_no[$1, $2]])
	if ($1 in step_known && $1 != step_name[nsteps])
		fail(at, "the step " $1 " is defined in two places")
	i = ++nsteps
	step_no[$1, $2] = i
	step_known[$1] = 1
	step_at[i] = at
	step_name[i] = $1
	step_function[i] = $2
	step_since[i] = kver($3, at)
	step_kind[i] = kind("step_kind", $4, at)
	step_file[i] = $5
	step_meaning[i] = $6
}

function term_row(	i)
{
	if ($1 in term_no)
		fail(at, "term " $1 " is defined twice, also at " term_at[term_no[$1]])
	i = ++nterms
	term_no[$1] = i
	term_at[i] = at
	term_name[i] = $1
	term_steps[i] = $2
	term_text[i] = $3
}

function word_row(	i, j, n, a)
{
	i = ++nwords
	n = split($1, a, /,/)
	for (j = 1; j <= n; j++) {
		if (a[j] in word_known)
			fail(at, "the word " a[j] " is defined twice")
		word_known[a[j]] = 1
	}
	if ($6 !~ /[.] ./)
		fail(at, "the text of " a[1] " has fewer than two sentences")
	word_name[i] = a[1]
	word_also[i] = n > 1 ? substr($1, length(a[1]) + 2) : ""
	word_what[i] = $2
	word_path[i] = $3
	word_show[i] = $4
	word_source[i] = $5
	word_text[i] = $6
}

function refusal_row(	i)
{
	i = ++nrefusals
	refusal_at[i] = at
	refusal_call[i] = $1
	refusal_request[i] = $2
	refusal_errno[i] = $3
	refusal_meaning[i] = $4
	if ($3 !~ /^E[A-Z0-9]+$/)
		fail(at, "not an error: " $3)
	if (i > 1 && $1 == refusal_call[i - 1] && $2 == refusal_request[i - 1] &&
	    $3 == refusal_errno[i - 1])
		fail(at, "the refusal is listed twice")
}

function taker_row(	i)
{
	i = ++ntakers
	taker_at[i] = at
	taker_request[i] = $1
	taker_events[i] = $2
	taker_since[i] = kver($3, at)
	taker_meaning[i] = $4
	if ($2 == "-")
		fail(at, "no condition: it would apply to every event")
}

END {
	if (!failed)
		check_tables()
	if (!failed)
		check_layouts()
	if (!failed)
		check_refs()
	if (!failed)
		check_rules()
	if (!failed)
		check_claims()
		check_commits()
	if (!failed)
		check_terms()
	if (!failed)
		write_all()
	close("cat 1>&2")
	exit failed
}

function check_tables(	t, i, r, v, m, at, prev, key, seen)
{
	for (t = 1; t <= ntables; t++) {
		if (table_n[t] == 0)
			fail(table_at[t], "table " table_name[t] " is empty")
		prev = ""
		for (i = 1; i <= table_n[t]; i++) {
			r = table_row_no[t, i]
			at = row_at[r]
			v = row_value[r]
			m = ""
			if (v ~ /&/) {
				if (table_kind[t] != "flags")
					fail(at, "a mask outside of a flags table")
				m = v
				sub(/^[^&]*&/, "", m)
				sub(/&.*/, "", v)
			}
			v = value(v, at, 0)
			row_hex[r] = v
			if (v == "")
				continue
			if (m != "") {
				m = value(m, at, 0)
				if (m == "")
					continue
				if (outside(v, m))
					fail(at, "the value has bits outside its mask")
			} else {
				m = table_kind[t] == "flags" ? v : "0000000000000000"
			}
			row_mask[r] = m
			if (table_kind[t] == "bits" && row_traits[r] !~ /nonabi/ &&
			    less("000000000000003f", v))
				fail(at, "a 64-bit mask has no bit " row_value[r])
			if (prev != "" && less(v, prev))
				fail(at, "not sorted by value")
			prev = v
			row_traits_c[r] = traits(row_traits[r])
			row_since_c[r] = kver(since_part(row_since[r], 1), at)
			row_update_c[r] = kver(since_part(row_since[r], 2), at)
			if (row_traits[r] ~ /nonabi|alias/)
				continue
			key = t ",x" v "&x" m
			if (key in seen)
				fail(at, "value " row_value[r] " is defined twice, also at " seen[key])
			seen[key] = at
		}
	}
}

# Return the release of SINCE (i = 1), or the update after its comma (i = 2).
function since_part(text, i,	a, n)
{
	n = split(text, a, /,/)
	return i <= n && n <= 2 ? a[i] : n > 2 ? text : "-"
}

function traits(text,	a, n, i, s)
{
	if (text == "-")
		return "0"
	n = split(text, a, /,/)
	s = ""
	for (i = 1; i <= n; i++)
		if (a[i] != "c")
			s = s (s != "" ? " | " : "") "XLAT_" toupper(a[i])
	return s == "" ? "0" : s
}

function check_layouts(	l, f, g, at)
{
	for (l = 1; l <= nlayouts; l++) {
		if (layout_n[l] == 0)
			fail(layout_at[l], "layout " layout_name[l] " is empty")
		layout_size[l] = 0
		for (f = 1; f <= layout_n[l]; f++) {
			at = field_at[l, f]
			if (f > 1 && field_start[l, f] < field_start[l, f - 1])
				fail(at, "not sorted by offset and bit")
			if (field_offset[l, f] + field_width[l, f] > layout_size[l])
				layout_size[l] = field_offset[l, f] + field_width[l, f]
			if (layout_name[l] ~ /^perf_record_/ && field_offset[l, f] < 8)
				fail(at, field_name[l, f] " overlaps the record's header of 8 bytes")
			# of overlapping members, only the last one may lack WHEN
			for (g = f + 1; g <= layout_n[l]; g++)
				if (field_start[l, g] < field_end[l, f] &&
				    field_start[l, f] < field_end[l, g] &&
				    field_when[l, f] == "-")
					fail(field_at[l, g], field_name[l, g] \
					     " overlaps " field_name[l, f] \
					     ", which has no WHEN")
			field_when_c[l, f] = condition(l, field_when[l, f], at)
			field_needs_c[l, f] = condition(l, field_needs[l, f], at)
		}
		if ((l in layout_word) && layout_size[l] != 8)
			fail(layout_at[l], "a word has 8 bytes, not " layout_size[l])
		if (layout_size[l] > 65535)
			fail(layout_at[l], "layout " layout_name[l] " is too large")
	}
}

# Return a condition as the C initializer of a struct cond.
function condition(l, text, at,	op, name, v, f)
{
	if (text == "-")
		return ""
	if (!match(text, /^[A-Za-z_][A-Za-z0-9_]*/)) {
		fail(at, "not a condition: " text)
		return ""
	}
	name = substr(text, 1, RLENGTH)
	v = substr(text, RLENGTH + 1)
	if (name == "pmu" && v ~ /^=[A-Za-z0-9_-]+$/) {
		for (f = 1; f <= layout_n[l]; f++)
			if (field_kind[l, f] == "FIELD_PMU")
				return "{ COND_PMU, " (f - 1) ", 0, " \
				       quoted(substr(v, 2)) " }"
		fail(at, "pmu= where no member is a pmu")
		return ""
	}
	if (v ~ /^!=/) {
		op = "COND_NE"
		v = substr(v, 3)
	} else if (v ~ /^[=&]/) {
		op = v ~ /^=/ ? "COND_EQ" : "COND_MASK"
		v = substr(v, 2)
	} else {
		fail(at, "not a condition: " text)
		return ""
	}
	if (!((l, name) in field_no)) {
		fail(at, "unknown field " name)
		return ""
	}
	v = value(v, at, 0)
	if (v == "")
		return ""
	return "{ " op ", " (field_no[l, name] - 1) ", " chex(v, "ULL") ", NULL }"
}

function check_refs(	l, f, i, c)
{
	for (l = 1; l <= nlayouts; l++)
		for (f = 1; f <= layout_n[l]; f++)
			field_xlat[l, f] = table_ref(field_table[l, f], field_at[l, f])
	for (i = 1; i <= nioctls; i++)
		ioctl_xlat[i] = table_ref(ioctl_table[i], ioctl_at[i])
	for (c = 1; c <= ncalls; c++)
		for (i = 1; i <= call_nargs[c]; i++)
			arg_xlat[c, i] = table_ref(arg_table[c, i], call_at[c])
}

# Return the words of a list as names of constants: "P_A | P_B" for "a,b" and P_.
function named_bits(list, prefix, at,	a, n, i, name, s)
{
	if (list == "-")
		return "0"
	n = split(list, a, /,/)
	s = ""
	for (i = 1; i <= n; i++) {
		name = prefix toupper(a[i])
		if (!(name in const_row))
			fail(at, "unknown word " a[i])
		s = s (i > 1 ? " | " : "") name
	}
	return s
}

# Return whether name is a member of the attr or an argument of the call.
function rule_field(name,	c, i)
{
	if (("perf_event_attr" in layout_no) &&
	    ((layout_no["perf_event_attr"], name) in field_no))
		return 1
	if (!("perf_event_open" in call_no))
		return 0
	c = call_no["perf_event_open"]
	for (i = 1; i <= call_nargs[c]; i++)
		if (arg_name[c, i] == name)
			return 1
	return 0
}

function check_rules(	r, n, i, a)
{
	for (r = 1; r <= npmus; r++)
		pmu_traits_c[r] = named_bits(pmu_traits[r], "PMU_TRAIT_", pmu_at[r])
	for (r = 1; r <= nrules; r++) {
		if (rule_errno[r] != "-" && !(rule_errno[r] in const_row))
			fail(rule_at[r], "unknown error " rule_errno[r])
		else
			rule_error[r] = rule_errno[r] == "-" ? "0" : \
				tonum(row_hex[const_row[rule_errno[r]]])
		rule_by_c[r] = named_bits(rule_by[r], "RULE_BY_", rule_at[r])
		n = rule_fields[r] == "-" ? 0 : split(rule_fields[r], a, /,/)
		for (i = 1; i <= n; i++)
			if (!rule_field(a[i]))
				fail(rule_at[r], "unknown field " a[i])
	}
	for (i = 1; i <= npairs["cause_words"]; i++)
		if (!(pair_name["cause_words", i] in rule_no))
			fail(pair_at["cause_words", i], "unknown rule " pair_name["cause_words", i])
}

# Return whether name is a constant, an ioctl, a call, LAYOUT.MEMBER or CALL.ARGUMENT.
function is_term(name,	i, p, c)
{
	if (name in const_row || name in call_no)
		return 1
	for (i = 1; i <= nioctls; i++)
		if (ioctl_name[i] == name)
			return 1
	p = index(name, ".")
	c = p && (substr(name, 1, p - 1) in call_no) ? call_no[substr(name, 1, p - 1)] : 0
	for (i = 1; c && i <= call_nargs[c]; i++)
		if (arg_name[c, i] == substr(name, p + 1))
			return 1
	return p && (substr(name, 1, p - 1) in layout_no) &&
	       ((layout_no[substr(name, 1, p - 1)], substr(name, p + 1)) in field_no)
}

function check_terms(	i, j, n, a, known)
{
	for (i = 1; i <= nterms; i++) {
		if (!is_term(term_name[i]))
			fail(term_at[i], "unknown term " term_name[i])
		n = term_steps[i] == "-" ? 0 : split(term_steps[i], a, /,/)
		for (j = 1; j <= n; j++)
			if (!(a[j] in step_known))
				fail(term_at[i], "unknown step " a[j])
	}
	for (i = 1; i <= nioctls; i++)
		known[ioctl_name[i]] = 1
	for (i = 1; i <= nrefusals; i++) {
		if (!(refusal_call[i] in call_no))
			fail(refusal_at[i], "unknown call " refusal_call[i])
		if (refusal_request[i] != "-" && !(refusal_request[i] in known) &&
		    !(refusal_call[i] == "bpf" && refusal_request[i] in const_row))
			fail(refusal_at[i], "unknown ioctl " refusal_request[i])
	}
	for (i = 1; i <= ntakers; i++) {
		if (!(taker_request[i] in known))
			fail(taker_at[i], "unknown ioctl " taker_request[i])
		taker_events_c[i] = condition(layout_no["perf_event_attr"], taker_events[i],
					      taker_at[i])
	}
}

function write_all(	f)
{
	license = "/* SPDX-License-Identifier: LGPL-2.1-or-later */\n" \
		  "/* Generated by gen.awk from xlat/; do not edit. */"
	write_constants(out "/constants.h")
	write_layouts_h(out "/layouts.h")
	write_call_ids(out "/call_ids.h")
	write_rule_ids(out "/rule_ids.h")
	write_tables_h(out "/tables.h")
	write_list(out "/check.list")
	write_tables_c(out "/tables.c")
}

function write_constants(f,	t, i, r, h, prefix, title)
{
	print license > f
	print "#ifndef PEVTRACE_XLAT_CONSTANTS_H" > f
	print "#define PEVTRACE_XLAT_CONSTANTS_H" > f
	for (t = 1; t <= ntables; t++) {
		prefix = is_perf_header(table_header[t]) ? "" : "ABI_"
		title = "\n/* " table_name[t] " */\n"
		for (i = 1; i <= table_n[t]; i++) {
			r = table_row_no[t, i]
			if (prefix != "" && row_traits[r] !~ /(^|,)c$/)
				continue
			h = row_hex[r]
			if (less("000000007fffffff", h))
				h = chex(h, "ULL")
			else if (table_kind[t] == "flags")
				h = chex(h, "")
			else
				h = tonum(h) ""
			print title "#define " prefix row_name[r] " " h > f
			title = ""
		}
	}
	if (nioctls)
		print "\n/* ioctls, as a 64-bit program passes them */" > f
	for (i = 1; i <= nioctls; i++)
		print "#define " ioctl_name[i] " " chex(ioctl_request[i], "U") > f
	print "\n#endif" > f
	close(f)
}

function layout_prefix(l)
{
	return layout_name[l] == "perf_event_attr" ? "ATTR" : toupper(layout_name[l])
}

# Return the indexes of config, config1 and so on, in their order.
function attr_configs(	l, i, s)
{
	for (l = 1; l <= nlayouts; l++)
		for (i = 1; i <= layout_n[l]; i++)
			if (field_kind[l, i] ~ /^FIELD_CONFIGX?$/)
				s = s layout_prefix(l) "_" toupper(field_name[l, i]) ", "
	return s
}

function write_layouts_h(f,	l, i, p, name, x)
{
	print license > f
	print "#ifndef PEVTRACE_XLAT_LAYOUTS_H" > f
	print "#define PEVTRACE_XLAT_LAYOUTS_H" > f
	for (l = 1; l <= nlayouts; l++) {
		p = layout_prefix(l)
		print "\n/* Indexes into the fields of layout_" layout_name[l] ". */" > f
		print "enum {" > f
		for (i = 1; i <= layout_n[l]; i++) {
			name = toupper(field_name[l, i])
			sub(/^_+/, "", name)
			name = p "_" name
			if (field_no[l, field_name[l, i]] != i)
				name = name "_AGAIN_" i
			print "\t" name "," > f
		}
		print "\t" p "_NFIELDS" > f
		print "};" > f
	}
	print "\nenum { ATTR_CONFIGS = " split(attr_configs() "x", x, ", ") - 1 " };" > f
	print "\n#endif" > f
	close(f)
}

function write_call_ids(f,	c)
{
	print "/* Generated by gen.awk from xlat/; do not edit. */" > f
	for (c = 1; c <= ncalls; c++)
		print "CALL_" call_id(c) "," > f
	close(f)
}

# Write RULE(ID, name) for each rule, RULE_CHANCE() if only chance decides it.
function write_rule_ids(f,	r)
{
	print "/* Generated by gen.awk from xlat/; do not edit. */" > f
	for (r = 1; r <= nrules; r++)
		print (rule_by[r] == "chance" ? "RULE_CHANCE" : "RULE") "(" \
		      toupper(rule_name[r]) ", " rule_name[r] ")" > f
	close(f)
}

function call_id(c,	s)
{
	s = toupper(call_name[c])
	sub(/^_+/, "", s)
	return s
}

function write_tables_h(f,	t, l)
{
	print license > f
	print "#ifndef PEVTRACE_XLAT_TABLES_H" > f
	print "#define PEVTRACE_XLAT_TABLES_H" > f
	print "\n#include \"core/abi/xlat.h\"\n" > f
	for (t = 1; t <= ntables; t++)
		print "extern const struct xlat xlat_" table_name[t] ";" > f
	print "" > f
	for (l = 1; l <= nlayouts; l++)
		print "extern const struct layout layout_" layout_name[l] ";" > f
	print "\n/* Indexes of perf_event_attr.config, config1 and so on: ATTR_CONFIGS. */" > f
	print "extern const unsigned int attr_configs[];" > f
	print "\n#endif" > f
	close(f)
}

# Write what check.awk compares with the system's headers: constants, ioctls and
# the offsets of members that are not bits.
function write_list(f,	t, i, r, l)
{
	for (t = 1; t <= ntables; t++) {
		if (table_header[t] == "")
			continue
		for (i = 1; i <= table_n[t]; i++) {
			r = table_row_no[t, i]
			# these grow with the headers
			if (row_traits[r] ~ /nonabi/ &&
			    row_name[r] ~ /_MAX(_SHIFT)?$|^NR_/)
				continue
			print "const\t" row_name[r] "\t" chex(row_hex[r], "ULL") \
			      "\t" (is_perf_header(table_header[t]) ? "perf" : "libc") \
			      "\t" row_at[r] > f
		}
	}
	for (i = 1; i <= nioctls; i++)
		print "ioctl\t" ioctl_name[i] "\t" chex(ioctl_request[i], "U") \
		      "\t" chex(ioctl_compat[i], "U") "\t" ioctl_at[i] > f
	for (l = 1; l <= nlayouts; l++)
		for (i = 1; i <= layout_n[l]; i++)
			if (layout_btf[l] != "" && !field_nbits[l, i] &&
			    field_kind[l, i] != "FIELD_RESERVED")
				print "member\t" layout_btf[l] "\t" field_name[l, i] \
				      "\t" field_offset[l, i] "\t" field_at[l, i] > f
	close(f)
}

function write_tables_c(f,	t, i, r, l, c, h, n)
{
	print license > f
	print "#include <errno.h>\n" > f
	print "#include \"core/abi/xlat.h\"" > f
	print "#include \"xlat/constants.h\"" > f
	print "#include \"xlat/layouts.h\"" > f
	print "#include \"xlat/tables.h\"" > f

	print "\nconst uint32_t xlat_release = " release ";" > f
	for (t = 1; t <= ntables; t++) {
		print "\nstatic const struct xlat_entry entries_" table_name[t] "[] = {" > f
		for (i = 1; i <= table_n[t]; i++) {
			r = table_row_no[t, i]
			print "\t{ " chex(row_hex[r], "ULL") ", " \
			      chex(row_mask[r], "ULL") ", " \
			      quoted(row_name[r]) ",\n\t  " \
			      quoted(row_meaning[r]) ", " row_since_c[r] ", " \
			      row_traits_c[r] ", " row_update_c[r] " }," > f
		}
		print "};\n" > f
		print "const struct xlat xlat_" table_name[t] " = {" > f
		print "\t.name = " quoted(table_name[t]) "," > f
		print "\t.kind = XLAT_" toupper(table_kind[t]) "," > f
		if (t in table_signed)
			print "\t.is_signed = true," > f
		print "\t.prefix = " quoted(table_prefix[t]) "," > f
		print "\t.header = " quoted_or_null(table_header[t]) "," > f
		print "\t.btf = " quoted_or_null(table_btf[t]) "," > f
		print "\t.entries = entries_" table_name[t] "," > f
		print "\t.n = " table_n[t] "," > f
		print "};" > f
	}
	print "\nconst struct xlat *const xlat_tables[] = {" > f
	for (t = 1; t <= ntables; t++)
		print "\t&xlat_" table_name[t] "," > f
	print "\tNULL\n};" > f

	for (l = 1; l <= nlayouts; l++) {
		print "\nstatic const struct field fields_" layout_name[l] "[] = {" > f
		for (i = 1; i <= layout_n[l]; i++) {
			print "\t{" > f
			print "\t\t.name = " quoted(field_name[l, i]) "," > f
			print "\t\t.meaning = " quoted(field_meaning[l, i]) "," > f
			if (field_xlat[l, i] != "NULL")
				print "\t\t.xlat = " field_xlat[l, i] "," > f
			print "\t\t.offset = " field_offset[l, i] \
			      ", .width = " field_width[l, i] \
			      ", .bit = " field_bit[l, i] \
			      ", .nbits = " field_nbits[l, i] "," > f
			print "\t\t.kind = " field_kind[l, i] \
			      ", .size = " field_size[l, i] \
			      ", .since = " field_since[l, i] "," > f
			if (field_always[l, i])
				print "\t\t.always = true," > f
			if (l in layout_word)
				print "\t\t.word = true," > f
			if (field_when_c[l, i] != "")
				print "\t\t.when = " field_when_c[l, i] "," > f
			if (field_needs_c[l, i] != "")
				print "\t\t.needs = " field_needs_c[l, i] "," > f
			print "\t}," > f
		}
		print "};\n" > f
		print "const struct layout layout_" layout_name[l] " = {" > f
		print "\t.name = " quoted(layout_name[l]) "," > f
		print "\t.btf = " quoted_or_null(layout_btf[l]) "," > f
		print "\t.part = " quoted_or_null(layout_part[l]) "," > f
		print "\t.fields = fields_" layout_name[l] "," > f
		print "\t.n = " layout_n[l] "," > f
		print "\t.size = " layout_size[l] "," > f
		print "};" > f
	}
	print "\nconst unsigned int attr_configs[] = { " attr_configs() " };" > f
	print "\nconst struct layout *const layouts[] = {" > f
	for (l = 1; l <= nlayouts; l++)
		print "\t&layout_" layout_name[l] "," > f
	print "\tNULL\n};" > f

	print "\nconst struct ioctl_desc ioctl_descs[] = {" > f
	for (i = 1; i <= nioctls; i++) {
		print "\t{ " quoted(ioctl_name[i]) ", " \
		      chex(ioctl_request[i], "U") ", " \
		      chex(ioctl_compat[i], "U") ", " \
		      ioctl_dir[i] ", " ioctl_arg[i] ",\n\t  " \
		      ioctl_xlat[i] ", " ioctl_since[i] ",\n\t  " \
		      quoted(ioctl_meaning[i]) " }," > f
	}
	if (!nioctls)
		print "\t{ .name = NULL }," > f
	print "};" > f
	print "const size_t ioctl_ndescs = " nioctls ";" > f

	print "\nconst struct call_desc call_descs[CALL_COUNT] = {" > f
	for (c = 1; c <= ncalls; c++) {
		print "\t{" > f
		print "\t\t.name = " quoted(call_name[c]) ", .id = CALL_" call_id(c) "," > f
		print "\t\t.class = " call_class[c] ", .watch = " call_watch[c] "," > f
		print "\t\t.nargs = " call_nargs[c] ", .in_args = " call_in[c] "," > f
		if (call_nargs[c]) {
			print "\t\t.args = {" > f
			for (i = 1; i <= call_nargs[c]; i++)
				print "\t\t\t{ " quoted(arg_name[c, i]) ", " \
				      arg_kind[c, i] ", " arg_xlat[c, i] " }," > f
			print "\t\t}," > f
		}
		print "\t\t.since = " call_since[c] "," > f
		print "\t\t.meaning = " quoted(call_meaning[c]) "," > f
		print "\t}," > f
	}
	print "};" > f

	print "\nconst struct pmu_desc pmu_descs[] = {" > f
	for (i = 1; i <= npmus; i++)
		print "\t{ " quoted(pmu_name[i]) ", " pmu_traits_c[i] ", " \
		      pmu_since[i] ",\n\t  " quoted(pmu_meaning[i]) " }," > f
	print "\t{ .name = NULL }\n};" > f

	print "\nconst struct rule_desc rule_descs[RULE_COUNT] = {" > f
	for (r = 1; r <= nrules; r++) {
		print "\t{ " quoted(rule_name[r]) ", RULE_" toupper(rule_name[r]) \
		      ", " rule_error[r] ", " rule_since[r] ", " \
		      rule_until[r] ",\n\t  " rule_by_c[r] ",\n\t  " \
		      quoted(rule_fields[r] == "-" ? "" : rule_fields[r]) ",\n\t  " \
		      quoted(rule_meaning[r]) " }," > f
	}
	print "};" > f
	write_pairs(f, "parts", "part_descs")
	write_pairs(f, "cause_words", "cause_word_descs")
	write_pairs(f, "undocumented", "undocumented_descs")
	write_pairs(f, "exceptions", "exception_descs")
	write_pairs(f, "uncheckable", "uncheckable_descs")
	write_pairs(f, "commits", "commit_descs")
	write_pairs(f, "example_output", "example_output_descs")
	write_pairs(f, "example_events", "example_event_descs")
	write_pairs(f, "requirements", "requirement_descs")
	write_pairs(f, "defaults", "default_descs")
	write_pairs(f, "purposes", "purpose_descs")
	write_claims(f)

	print "\nconst struct step_desc step_descs[] = {" > f
	for (i = 1; i <= nsteps; i++)
		print "\t{ " quoted(step_name[i]) ", " quoted(step_function[i]) ", " \
		      step_since[i] ", " step_kind[i] ",\n\t  " \
		      quoted(step_file[i]) ", " quoted(step_meaning[i]) " }," > f
	print "\t{ .step = NULL }\n};" > f

	print "\nconst struct term_desc term_descs[] = {" > f
	for (i = 1; i <= nterms; i++)
		print "\t{ " quoted(term_name[i]) ", " \
		      quoted(term_steps[i] == "-" ? "" : term_steps[i]) ",\n\t  " \
		      quoted(term_text[i]) " }," > f
	print "\t{ .name = NULL }\n};" > f

	print "\nconst struct word_desc word_descs[] = {" > f
	for (i = 1; i <= nwords; i++)
		print "\t{ " quoted(word_name[i]) ", " quoted(word_also[i]) ", " \
		      quoted(word_what[i]) ",\n\t  " \
		      (word_path[i] == "-" ? "NULL" : quoted(word_path[i])) ", " \
		      (word_show[i] == "-" ? "NULL" : quoted(word_show[i])) ",\n\t  " \
		      quoted(word_source[i]) ",\n\t  " quoted(word_text[i]) " }," > f
	print "\t{ .name = NULL }\n};" > f

	print "\nconst struct taker_desc taker_descs[] = {" > f
	for (i = 1; i <= ntakers; i++)
		print "\t{ " chex(ioctl_request[ioctl_no[taker_request[i]]], "U") ", " \
		      taker_events_c[i] ", " taker_since[i] ",\n\t  " \
		      quoted(taker_meaning[i]) " }," > f
	print "\t{ .meaning = NULL },\n};" > f

	print "\nconst struct refusal_desc refusal_descs[] = {" > f
	for (i = 1; i <= nrefusals; i++)
		print "\t{ " quoted(refusal_call[i]) ", " \
		      (refusal_request[i] == "-" ? "NULL" : quoted(refusal_request[i])) \
		      ", " refusal_errno[i] ", " quoted(refusal_errno[i]) ",\n\t  " \
		      quoted(refusal_meaning[i]) " }," > f
	print "\t{ .call = NULL }\n};" > f
	close(f)
}

function write_pairs(f, set, name,	i)
{
	print "\nconst struct pair_desc " name "[] = {" > f
	for (i = 1; i <= npairs[set]; i++)
		print "\t{ " quoted(pair_name[set, i]) ", " quoted(pair_text[set, i]) " }," > f
	print "\t{ .name = NULL }\n};" > f
}

function write_claims(f,	c, i)
{
	print "\nconst struct claim_desc claim_descs[] = {" > f
	for (c = 1; c <= nclaims; c++) {
		print "\t{ " quoted(claim_name[c]) ", " quoted(claim_section[c]) ", " \
		      claim_since[c] ", " claim_until[c] ",\n\t  " \
		      quoted(claim_place[c]) ",\n\t  " quoted(claim_meaning[c]) "," > f
		for (i = 1; i <= claim_nsteps[c]; i++)
			print "\t  " quoted(claim_steps[c, i]) " \"\\n\"" > f
		print "\t  , " (c in claim_correction ? quoted_lines(claim_correction[c]) : "NULL") > f
		print "\t}," > f
	}
	print "\t{ .name = NULL }\n};" > f
	print "const size_t claim_ndescs = " nclaims ";" > f

	print "\nconst struct amendment_desc amendment_descs[] = {" > f
	for (i = 1; i <= namendments; i++)
		print "\t{ " quoted(amendment_finding[i]) ", " amendment_how[i] ", " \
		      quoted(amendment_section[i]) ",\n\t  " quoted(amendment_place[i]) ",\n\t  " \
		      quoted_lines(amendment_text[i]) " }," > f
	print "\t{ .finding = NULL }\n};" > f

	print "\nconst struct misstatement_desc misstatement_descs[] = {" > f
	for (i = 1; i <= nmisstatements; i++)
		print "\t{ " quoted(misstatement_name[i]) ", " misstatement_lacks[i] ", " \
		      quoted(misstatement_section[i]) ",\n\t  " \
		      quoted(misstatement_place[i]) ",\n\t  " \
		      quoted(misstatement_meaning[i]) ",\n\t  " \
		      quoted_lines(misstatement_text[i]) " }," > f
	print "\t{ .name = NULL }\n};" > f
}
