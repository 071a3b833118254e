# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Generate the C tables from the description:
#
#	awk -v out=DIR -f gen_values.awk -f gen_read.awk -f gen_check.awk -f gen_write.awk \
#		sections.txt FILE.in...
#
# writes tables.c, tables.h, enums.h, rows.h, constants.h, layouts.h, rule_ids.h, refusal_ids.h, sections.md (the
# tables of README.md) and check.list (the input of check.awk) into DIR, which must exist, if all
# of the input is valid.  sections.txt describes the sections, README.md the rest.
# This part reads: after it, cell[SECTION, ROW, COLUMN] has the text of every cell.

BEGIN {
	FS = "\t+"
	nsections = nsets = lost = failed = release = 0
	if (out == "")
		exit fail("gen_read.awk", "-v out=DIR is missing")
}

{
	at = FILENAME ":" FNR
	sub(/\r$/, "")
	if (FNR == 1)
		section = ""
}

/^#/ || /^[ \t]*$/ {
	remark = /^# / ? substr($0, 3) : ""
	next
}

/^%/ {
	begin_section(split($0, word, /[ \t]+/))
	remark = ""
	next
}

section == "" {
	lost = fail(at, "a row outside of any section")
	section = "bad"
}

section == "bad" {
	next
}

section == "types" {
	if (columns(5)) {
		ctype[$1] = $2
		becomes[$1] = $3
		pattern[$1] = $4
		wrong[$1] = $5
	}
	next
}

section == "words" {
	if (columns(2)) {
		meaning[word[2], $1] = $2 == "-" ? "" : $2
		known[word[2], $1] = word[3] toupper($1)
		words[word[2]] = words[word[2]] " " $1
	}
	next
}

section == "section" {
	if (columns(4))
		add_column(word[2])
	next
}

/^\t/ && ((section, "TAB") in col_type) {
	add_line((section, "TAB|") in col_type && /^\t\|/ ? "TAB|" : "TAB")
	next
}

columns(ncols[section]) {
	add_row()
}

# Return whether the row has so many columns that may be read.
function columns(want,	i, why)
{
	why = NF != want ? "a missing column: " NF " instead of " want : \
	      $NF ~ /\.$/ ? "the meaning ends in a full stop" : ""
	for (i = 1; i <= NF && section != "types"; i++)
		if ($i == "" || $i ~ /^ / || $i ~ / $/)
			why = "column " i " is empty or has blanks around it"
	if (why != "")
		lost = fail(at, why)
	return why == ""
}

# Begin the section of a line of n words: one of sections.txt, or one that it describes.
function begin_section(n,	name)
{
	name = substr(word[1], 2)
	section = name
	sourced = /[ \t](header|source)=./
	if (word[n] ~ /^source=./)
		n--
	if (name == "words" && n > 3) {
		set_name[++nsets] = word[2]
		set_remark[word[2]] = remark
		sub(/^%words [^ ]+ [^ ]+ /, "")
		set_noun[word[2]] = $0
	} else if (name == "section" && n > 3) {
		describe_section(word[2])
	} else if (name == "release" && n == 2) {
		release = kver(word[2], at)
		section = "bad"
	} else if (name != "types" && (!(name in head) || (head[name] == "" && n > 1) || !begin_group(name, n))) {
		lost = fail(at, "not a section: " $0)
		section = "bad"
	}
}

# Take the line "%section NAME ROW STRUCT [WORD...]".
function describe_section(name)
{
	section_name[++nsections] = name
	section_remark[name] = remark
	row_noun[name] = word[3]
	struct[name] = word[4]
	sub(/^%section [^ ]+ [^ ]+ [^ ]+ ?/, "")
	head[name] = $0
	nrows[name] = ngroups[name] = ncols[name] = ntabs[name] = 0
}

function add_column(name)
{
	if ($1 ~ /^TAB\|?$/)
		col_name[name, ncols[name] + ++ntabs[name]] = $1
	else
		col_name[name, ++ncols[name]] = $1
	unique[name, $1] = sub(/ unique$/, "", $2)
	proved[name, $1] = sub(/ sourced$/, "", $2)
	col_arg[name, $1] = $2 ~ / / ? substr($2, index($2, " ") + 1) : ""
	sub(/ .*/, "", $2)
	col_type[name, $1] = $2
	col_members[name, $1] = $3
	col_meaning[name, $1] = $4
	if (!($2 in ctype))
		fail(at, "unknown type " $2)
}

# Begin a table or a layout; return whether its line has the words that it must have.
function begin_group(name, n,	g, i, j, m, want, key)
{
	if (head[name] == "")
		return 1
	g = ++ngroups[name]
	group_at[name, g] = at
	group_first[name, g] = nrows[name] + 1
	m = split(head[name], want, / /)
	for (i = 1; want[i] ~ /^[A-Z]/; i++) {
		if (i >= n)
			return 0
		option[name, g, want[i]] = word[i + 1]
	}
	for (j = i; j <= m; j++)
		option[name, g, want[j]] = ""
	for (; i < n; i++) {
		key = word[i + 1]
		sub(/=.+/, "=", key)
		if (!((name, g, key) in option) || key == word[i + 1] && key ~ /=/)
			fail(at, "unknown word " word[i + 1])
		option[name, g, key] = key ~ /=/ ? substr(word[i + 1], length(key) + 1) : 1
	}
	key = option[name, g, "NAME"]
	if (!identifier(key) || (name, key) in group_of)
		fail(at, identifier(key) ? name " " key " is defined twice" : "not a name: " key)
	group_of[name, key] = g
	if (name == "table")
		known_word("xlat_kind", option[name, g, "KIND"], at)
	return 1
}

# Return the number of the last row of a group.
function group_last(name, g)
{
	return g < ngroups[name] ? group_first[name, g + 1] - 1 : nrows[name]
}

function add_row(	i, j, c)
{
	i = ++nrows[section]
	row_at[section, i] = at
	row_group[section, i] = ngroups[section]
	for (j = 1; j <= ncols[section]; j++) {
		c = col_name[section, j]
		cell[section, i, c] = $j
		# no kernel that the tests boot proves a release below 5.10
		if (proved[section, c] && !sourced && $j ~ /^(2|3|4|5\.[0-9])(\.|,|$)/)
			fail(at, "a release below 5.10 in a section without header= or source=")
		if (!unique[section, c])
			continue
		if (section ~ /^(table|ioctls|calls)$/)
			terms[$j] = 1
		if ((section, $j) in row_of)
			fail(at, row_noun[section] " " $j " is defined twice, also at " row_at[section, row_of[section, $j]])
		else
			row_of[section, $j] = i
	}
	if (section == "layout")
		add_member(ngroups["layout"], i)
}

# A member may have two rows at one place, under two conditions.
function add_member(l, i,	p)
{
	kind_of[l, $3] = i
	terms[option["layout", l, "NAME"] "." $1] = 1
	if (!((l, $1) in member_of))
		member_of[l, $1] = i
	p = member_of[l, $1]
	if (p != i && (cell["layout", p, "WHERE"] != $2 || cell["layout", p, "WHEN"] == $8))
		fail(at, "member " $1 " is defined twice, also at " row_at["layout", p])
}

# Add a line to the text of the last row.
function add_line(c,	i)
{
	i = nrows[section]
	if (!i)
		fail(at, (col_type[section, c] == "step_lines" ? "a step" : "a text") " without a " row_noun[section])
	cell[section, i, c] = cell[section, i, c] substr($0, c == "TAB" ? 2 : 4) "\n"
}
