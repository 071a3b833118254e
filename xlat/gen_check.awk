# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A part of the generator (see gen_read.awk): the checks, and what cells become in C.

END {
	if (!lost) {
		check_steps()
		convert_all()
	}
	if (!lost) {
		check_tables()
		check_layouts()
		check_ioctls()
	}
	if (!failed)
		write_all()
	close("cat 1>&2")
	exit failed
}

function check_tables(	t, i, at, prev, key, seen, kind, traits_of, prefix)
{
	for (t = 1; t <= ngroups["table"]; t++) {
		kind = option["table", t, "KIND"]
		prefix = option["table", t, "prefix="]
		if (group_last("table", t) < group_first["table", t])
			fail(group_at["table", t], "table " option["table", t, "NAME"] " is empty")
		prev = ""
		for (i = group_first["table", t]; i <= group_last("table", t); i++) {
			at = row_at["table", i]
			traits_of = cell["table", i, "TRAITS"]
			if (index(cell["table", i, "NAME"], prefix) != 1 && prefix != "")
				fail(at, cell["table", i, "NAME"] " does not start with " prefix)
			if (kind == "bits" && traits_of !~ /nonabi/ && less("000000000000003f", hex[i]))
				fail(at, "a 64-bit mask has no bit " cell["table", i, "VALUE"])
			if (prev != "" && less(hex[i], prev))
				fail(at, "not sorted by value")
			prev = hex[i]
			if (traits_of ~ /nonabi|alias/)
				continue
			key = t ",x" hex[i] "&x" mask[i]
			if (key in seen)
				fail(at, "value " cell["table", i, "VALUE"] " is defined twice, also at " seen[key])
			seen[key] = at
		}
	}
}

function check_layouts(	l, i, name)
{
	for (l = 1; l <= ngroups["layout"]; l++) {
		name = option["layout", l, "NAME"]
		if (group_last("layout", l) < group_first["layout", l])
			fail(group_at["layout", l], "layout " name " is empty")
		for (i = group_first["layout", l]; i <= group_last("layout", l); i++) {
			if (i > group_first["layout", l] && start[i] < start[i - 1])
				fail(row_at["layout", i], "not sorted by offset and bit")
			if (name ~ /^perf_record_/ && offset[i] < 8)
				fail(row_at["layout", i], cell["layout", i, "NAME"] \
				     " overlaps the record's header of 8 bytes")
			check_overlaps(i, group_last("layout", l))
		}
		if (option["layout", l, "word"] && layout_size[l] != 8)
			fail(group_at["layout", l], "a word has 8 bytes, not " layout_size[l])
		if (layout_size[l] > 65535)
			fail(group_at["layout", l], "layout " name " is too large")
	}
}

# Of overlapping members, only the last one may lack WHEN.
function check_overlaps(i, last,	j)
{
	if (cell["layout", i, "WHEN"] != "-")
		return
	for (j = i + 1; j <= last; j++)
		if (start[j] < stop[i] && start[i] < stop[j])
			fail(row_at["layout", j], cell["layout", j, "NAME"] " overlaps " cell["layout", i, "NAME"] \
						  ", which has no WHEN")
}

# The low byte of a request is its number, the next one the type.
function check_ioctls(	i, at, nr, prev)
{
	for (i = 1; i <= nrows["ioctls"]; i++) {
		at = row_at["ioctls", i]
		nr = substr(value(cell["ioctls", i, "REQUEST"], at, 0), 13)
		if (("table", cell["ioctls", i, "NAME"]) in row_of)
			fail(at, cell["ioctls", i, "NAME"] " is defined twice")
		if (("x" nr) != ("x" substr(value(cell["ioctls", i, "COMPAT"], at, 0), 13)))
			fail(at, "the two requests have different numbers")
		if (i > 1 && !less(prev, nr))
			fail(at, less(nr, prev) ? "not sorted by number" : "number 0x" nr " is defined twice")
		prev = nr
	}
}

# Check that the rows of a step are adjacent; keep the last one of each.
function check_steps(	i, s, f, at, seen)
{
	for (i = 1; i <= nrows["steps"]; i++) {
		s = cell["steps", i, "STEP"]
		f = cell["steps", i, "FUNCTION"]
		at = row_at["steps", i]
		if (s !~ /^[a-z][a-z0-9_]*$/ || !identifier(f))
			fail(at, "not a step and a function: " s " " f)
		if ((s, f) in seen)
			fail(at, f " is defined twice in " s ", also at " row_at["steps", seen[s, f]])
		if ((s in step_last) && step_last[s] != i - 1)
			fail(at, "the step " s " is defined in two places")
		seen[s, f] = step_last[s] = i
	}
}

# The types of columns: each checks the text of a cell and returns the initializers of its members.

function convert_all(	k, s, i, j, c)
{
	for (k = 1; k <= nsections; k++) {
		s = section_name[k]
		for (i = 1; i <= nrows[s]; i++)
			for (j = 1; j <= ncols[s] + ntabs[s]; j++) {
				c = col_name[s, j]
				initializer[s, i, c] = convert(s, i, col_type[s, c], col_arg[s, c],
							       cell[s, i, c], row_at[s, i])
			}
	}
}

function convert(s, i, type, arg, text, at)
{
	if (pattern[type] != "-" && text !~ pattern[type]) {
		lost = fail(at, wrong[type] ": " text)
		return "0"
	}
	check_names(s, i, type, arg, text, at)
	return becomes[type] == "text" ? quoted(text) : \
	       becomes[type] == "or_empty" ? quoted(text == "-" ? "" : text) : \
	       becomes[type] == "or_null" ? quoted_or_null(text) : \
	       type == "words" ? known_word(arg, text, at) : \
	       type == "table" ? table_ref(cell[s, i, s == "layout" ? "KIND" : "ARG"], text, at) : \
	       type == "value" ? value_and_mask(i, text, at) : \
	       type == "where" ? place(i, text, at) : \
	       type == "condition" ? condition(arg ? group_of["layout", arg] : row_group[s, i], text, at) : \
	       type == "release" ? kver(text, at) : \
	       type == "since" ? releases(text, ",", at) : \
	       type == "span" ? releases(text, "[.][.]", at) : \
	       type ~ /^(bits|traits)$/ ? joined(type, text, arg, at) : \
	       type == "request" ? request(text, at) : \
	       type == "ioctl" ? request(cell["ioctls", row_of["ioctls", text], "REQUEST"], at) : \
	       type == "number" ? (text == "-" ? 0 : text) : \
	       type == "number_of_error" ? (text == "-" ? 0 : tonum(value(text, at, 0))) : \
	       type == "error" ? text ", " quoted(text) : \
	       type == "either" ? (text == arg ? "true" : "false") : \
	       type == "id" ? quoted(text) ", " toupper(arg) "_" constant(text) : \
	       type == "arguments" ? arguments(i, text, at) : \
	       type == "names" ? names(text, at) : convert_lines(i, type, text, at)
}

# Check names of other rows in a cell.
function check_names(s, i, type, arg, text, at,	a, n, call)
{
	if (type == "ref" && !((arg, text) in row_of))
		fail(at, "unknown " row_noun[arg] " " text)
	if (type == "term" && !(text in terms))
		fail(at, "unknown term " text)
	if (type ~ /^(ioctl|command)$/ && text != "-" && !(("ioctls", text) in row_of) &&
	    !(cell[s, i, "CALL"] == "bpf" && (("table", text) in row_of)))
		fail(at, "unknown ioctl " text)
	if (type == "number_of_error" && text != "-" && !(("table", text) in row_of))
		fail(at, "unknown error " text)
	if (type == "condition" && text == "-" && arg != "")
		fail(at, "no condition: it would apply to every event")
	if (type == "commit" && length(text) != 12 && length(text) != 40)
		fail(at, "not a commit: " text)
	n = type !~ /^(steps|rule_fields)$/ || text == "-" ? 0 : split(text, a, /,/)
	call = s == "refusals" ? cell[s, i, "CALL"] : "perf_event_open"
	for (i = 1; i <= n; i++)
		if (type == "steps" && !(a[i] in step_last))
			fail(at, "unknown step " a[i])
		else if (type == "rule_fields" && !((call "." a[i]) in terms) &&
			 !(("perf_event_attr." a[i]) in terms))
			fail(at, "unknown field " a[i])
}

# Convert a release and an update, or two releases.
function releases(text, between, at,	a, n)
{
	n = split(text, a, between)
	if (n > 2)
		fail(at, "not a span of releases: " text)
	return kver(a[1], at) ", " (n > 1 ? kver(a[2], at) : "0")
}

function request(text, at)
{
	text = value(text, at, 0)
	if (text != "" && less("00000000ffffffff", text))
		fail(at, "a request has 32 bits")
	return chex(text, "U")
}

# Convert the lines below a row.
function convert_lines(i, type, text, at,	a, n, j, s)
{
	n = split(text, a, /\n/) - 1
	if (type == "step_lines" && n < 1)
		fail(at, "claim " cell["claims", i, "NAME"] " has no experiment")
	for (j = 1; j <= n; j++) {
		if (type == "step_lines")
			gsub(/^\t+|[ \t]+$/, "", a[j])
		s = s "\n\t  " quoted(a[j]) " \"\\n\""
	}
	return s != "" ? s : type == "lines_or_null" ? "NULL" : "\"\""
}

# Convert NAME[,NAME]... of a word that is unique under each name.
function names(text, at,	a, n, i)
{
	n = split(text, a, /,/)
	for (i = 1; i <= n; i++) {
		if (a[i] in word_known)
			fail(at, "the word " a[i] " is defined twice")
		word_known[a[i]] = 1
	}
	return quoted(a[1]) ", " quoted(n > 1 ? substr(text, length(a[1]) + 2) : "")
}

function known_word(set, text, at)
{
	if ((set, text) in known)
		return known[set, text]
	fail(at, "unknown " set_noun[set] " " text)
	return "0"
}

# Convert the name of a table, which members and arguments of some kinds need.
function table_ref(kind, name, at)
{
	if (name == "-" && kind ~ /^(enum|flags|flags32|words)$/)
		fail(at, "kind " kind " needs a table")
	if (name != "-" && !(("table", name) in group_of))
		fail(at, "unknown table " name)
	return name == "-" ? "NULL" : "&xlat_" name
}

# Convert words of a list to names of constants: "P_A | P_B" for "a,b" and P_.
function joined(type, list, prefix, at,	a, n, i, s)
{
	n = list == "-" ? 0 : split(list, a, /,/)
	for (i = 1; i <= n; i++)
		if (type == "traits" && a[i] !~ /^(nonabi|alias|c)$/)
			fail(at, "unknown trait " a[i])
		else if (type == "bits" && !(("table", prefix toupper(a[i])) in row_of))
			fail(at, "unknown word " a[i])
		else if (a[i] != "c")
			s = s (s == "" ? "" : " | ") prefix toupper(a[i])
	return s == "" ? "0" : s
}

# Convert the value of a constant, "V" or in a table of flags "V&M"; keep both.
function value_and_mask(i, text, at,	flags, m)
{
	flags = option["table", row_group["table", i], "KIND"] == "flags"
	if (text ~ /&/) {
		if (!flags)
			fail(at, "a mask outside of a flags table")
		m = text
		sub(/^[^&]*&/, "", m)
		sub(/&.*/, "", text)
	}
	text = hex[i] = value(text, at, 0)
	if (text == "")
		return ""
	mask[i] = m != "" ? value(m, at, 0) : flags ? text : "0000000000000000"
	if (m != "" && mask[i] != "" && outside(text, mask[i]))
		fail(at, "the value has bits outside its mask")
	return chex(text, "ULL") ", " chex(mask[i], "ULL")
}

# Convert OFFSET/BYTES[:BIT[-LAST]]; keep where the member begins and ends.
function place(i, text, at,	a, l, first, last)
{
	split(text, a, /[\/:-]/)
	first = a[3] + 0
	last = text ~ /-/ ? a[4] + 0 : (text ~ /:/ ? first : a[2] * 8 - 1)
	if (last < first || last >= a[2] * 8)
		fail(at, "no such bits: " text)
	offset[i] = a[1] + 0
	nbits[i] = text ~ /:/ ? last - first + 1 : 0
	start[i] = a[1] * 8 + first
	stop[i] = a[1] * 8 + last + 1
	if (cell["layout", i, "KIND"] == "bool" && first != last)
		fail(at, "a bool has one bit")
	l = row_group["layout", i]
	if (a[1] + a[2] > layout_size[l])
		layout_size[l] = a[1] + a[2]
	return offset[i] ", " a[2] ", " first ", " nbits[i] ", " (option["layout", l, "word"] ? "true" : "false")
}

# Convert a condition on members of layout l to a struct cond.
function condition(l, text, at,	op, name, v, f)
{
	if (text == "-")
		return "{ 0 }"
	match(text, /^[A-Za-z_0-9]+/)
	name = substr(text, 1, RLENGTH)
	v = substr(text, RLENGTH + 1)
	op = v ~ /^!/ ? "COND_NE" : v ~ /^=/ ? "COND_EQ" : "COND_MASK"
	v = substr(v, op == "COND_NE" ? 3 : 2)
	f = group_first["layout", l]
	if (name == "pmu" && op == "COND_EQ") {
		if (!((l, "pmu") in kind_of))
			fail(at, "pmu= where no member is a pmu")
		return "{ COND_PMU, " (kind_of[l, "pmu"] - f) ", 0, " quoted(v) " }"
	}
	if (!((l, name) in member_of)) {
		fail(at, "unknown field " name)
		return ""
	}
	return "{ " op ", " (member_of[l, name] - f) ", " chex(value(v, at, 0), "ULL") ", NULL }"
}

# Convert NAME:KIND[/TABLE],...; those after a "|" are known after the return only.
function arguments(call, text, at,	n, i, in_args, part, a, k, s)
{
	n = split(text, part, /\|/)
	if (n > 2)
		fail(at, "more than one |")
	in_args = n == 2 ? (part[1] == "" ? 0 : split(part[1], a, /,/)) : -1
	sub(/^\|/, "", text)
	gsub(/\|/, ",", text)
	n = text == "-" ? 0 : split(text, a, /,/)
	if (n > 6)
		fail(at, "more than 6 arguments")
	for (i = 1; i <= n; i++) {
		if (a[i] !~ /^[a-z_][a-z0-9_]*:[a-z0-9_]+(\/[A-Za-z0-9_]+)?$/) {
			fail(at, "not an argument: " a[i])
			continue
		}
		split(a[i] "/-", k, /[:\/]/)
		terms[cell["calls", call, "NAME"] "." k[1]] = 1
		s = s "\n\t\t{ " quoted(k[1]) ", " known_word("arg_kind", k[2], at) ", " \
		    table_ref(k[2], k[3], at) " },"
	}
	return n ", " (in_args < 0 ? n : in_args) ", {" (n ? s "\n\t" : " { 0 } ") "}"
}
