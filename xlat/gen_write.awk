# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A part of the generator (see gen_read.awk): what is written.

function write_all()
{
	license = "/* SPDX-License-Identifier: LGPL-2.1-or-later */\n" \
		  "/* Generated from xlat/; do not edit. */"
	write_enums(out "/enums.h")
	write_rows_h(out "/rows.h")
	write_constants(out "/constants.h")
	write_layouts_h(out "/layouts.h")
	write_rule_ids(out "/rule_ids.h", "rules")
	write_rule_ids(out "/refusal_ids.h", "refusals")
	write_tables_h(out "/tables.h")
	write_list(out "/check.list")
	write_sections_md(out "/sections.md")
	write_tables_c(out "/tables.c")
}

# Return " \t/* TEXT *" "/" where there is a text.
function comment(text)
{
	return text == "" || text == "-" ? "" : "\t/* " text " */"
}

function write_enums(f,	i, j, n, s, a)
{
	print license "\n#pragma once" > f
	for (i = 1; i <= nsets; i++) {
		s = set_name[i]
		print "\n/* " (set_remark[s] ? set_remark[s] : "The " set_noun[s] ".") " */\nenum " s " {" > f
		n = split(substr(words[s], 2), a, / /)
		for (j = 1; j <= n; j++)
			print "\t" known[s, a[j]] "," comment(meaning[s, a[j]]) > f
		print "};" > f
	}
	for (i = 1; i <= nsections; i++) {
		s = section_name[i]
		if (col_type[s, "NAME"] != "id")
			continue
		print "\nenum " col_arg[s, "NAME"] "_id {" > f
		for (j = 1; j <= nrows[s]; j++)
			print "\t" toupper(col_arg[s, "NAME"]) "_" constant(cell[s, j, "NAME"]) "," > f
		print "\t" toupper(col_arg[s, "NAME"]) "_COUNT\n};" > f
	}
	close(f)
}

# Write the structs of the rows and declare their arrays.
function write_rows_h(f,	k, s, name, seen)
{
	print license "\n#pragma once" > f
	for (k = 1; k <= nsections; k++) {
		s = section_name[k]
		name = tolower(row_noun[s])
		if (!(struct[s] in seen))
			write_struct(f, s)
		seen[struct[s]] = 1
		if (head[s] == "")
			print "\nextern const struct " struct[s] " " name "_descs[]; /* the last is empty */\n" \
			      "extern const size_t " name "_ndescs; /* without it */" > f
	}
	close(f)
}

function write_struct(f, s,	i, j, c, n, m, type, member, about)
{
	print (section_remark[s] ? "\n/* " section_remark[s] " */" : "") "\nstruct " struct[s] " {" > f
	for (i = 1; i <= ncols[s] + ntabs[s]; i++) {
		c = col_name[s, i]
		n = split(col_members[s, c], member, /,/)
		split(ctype[col_type[s, c]], type, /\|/)
		m = split(col_meaning[s, c], about, /; /)
		for (j = 1; j <= n; j++) {
			sub(/[$]/, col_arg[s, c], type[j])
			print "\t" type[j] member[j] (type[j] ~ /arg_desc/ ? "[CALL_MAX_ARGS]" : "") ";" \
			      comment(m == n ? about[j] : j == 1 ? col_meaning[s, c] : "") > f
		}
	}
	print "};" > f
}

# Return whether C code uses all constants of the header: those about perf, or of no header.
function is_perf_header(name)
{
	return name == "" || name == "linux/perf_event.h" || name == "linux/hw_breakpoint.h" ||
	       name == "asm/perf_regs.h"
}

function write_constants(f,	t, i, prefix, title)
{
	print license "\n#pragma once" > f
	for (t = 1; t <= ngroups["table"]; t++) {
		prefix = is_perf_header(option["table", t, "header="]) ? "" : "ABI_"
		title = "\n/* " option["table", t, "NAME"] " */\n"
		for (i = group_first["table", t]; i <= group_last("table", t); i++) {
			if (prefix != "" && cell["table", i, "TRAITS"] !~ /(^|,)c$/)
				continue
			print title "#define " prefix cell["table", i, "NAME"] " " \
			      (less("000000007fffffff", hex[i]) ? chex(hex[i], "ULL") : \
			       option["table", t, "KIND"] == "flags" ? chex(hex[i], "") : tonum(hex[i])) > f
			title = ""
		}
	}
	if (nrows["ioctls"])
		print "\n/* ioctls, as a 64-bit program passes them */" > f
	for (i = 1; i <= nrows["ioctls"]; i++)
		print "#define " cell["ioctls", i, "NAME"] " " initializer["ioctls", i, "REQUEST"] > f
	close(f)
}

# Return the constant of a member's index in its layout.
function member_index(l, i,	name)
{
	name = layout_prefix(l) "_" constant(cell["layout", i, "NAME"])
	return member_of[l, cell["layout", i, "NAME"]] == i ? name : \
	       name "_AGAIN_" (i - group_first["layout", l] + 1)
}

function layout_prefix(l)
{
	return option["layout", l, "NAME"] == "perf_event_attr" ? "ATTR" : \
	       toupper(option["layout", l, "NAME"])
}

# Write the enums of members, and keep the indexes of config, config1 and so on.
function write_layouts_h(f,	l, i, n)
{
	print license "\n#pragma once" > f
	for (l = 1; l <= ngroups["layout"]; l++) {
		print "\n/* Indexes into the fields of layout_" option["layout", l, "NAME"] ". */\nenum {" > f
		for (i = group_first["layout", l]; i <= group_last("layout", l); i++) {
			print "\t" member_index(l, i) "," > f
			if (cell["layout", i, "KIND"] ~ /^configx?$/ && ++n)
				attr_configs = attr_configs member_index(l, i) ", "
		}
		print "\t" layout_prefix(l) "_NFIELDS\n};" > f
	}
	print "\nenum { ATTR_CONFIGS = " n + 0 " };" > f
	close(f)
}

# Write RULE(ID, name) for each rule, or REFUSAL(): with _CHANCE if only chance decides it.
function write_rule_ids(f, s,	i, name)
{
	print "/* Generated from xlat/; do not edit. */" > f
	for (i = 1; i <= nrows[s]; i++) {
		name = cell[s, i, "NAME"]
		print toupper(row_noun[s]) (cell[s, i, "BY"] == "chance" ? "_CHANCE" : "") \
		      "(" toupper(name) ", " name ")" > f
	}
	close(f)
}

function write_tables_h(f)
{
	print license "\n#pragma once" > f
	print "\n#include \"core/abi/xlat.h\"\n" > f
	write_list_of(f, "table", "extern const struct xlat xlat_", ";")
	write_list_of(f, "layout", "extern const struct layout layout_", ";")
	print "\n/* Indexes of perf_event_attr.config, config1 and so on: ATTR_CONFIGS. */" > f
	print "extern const unsigned int attr_configs[];" > f
	close(f)
}

# Write a line with the name of each table, or layout.
function write_list_of(f, s, before, behind,	g)
{
	for (g = 1; g <= ngroups[s]; g++)
		print before option[s, g, "NAME"] behind > f
}

# Write what check.awk compares with the system's headers: constants, ioctls and
# the offsets of members that are not bits.
function write_list(f,	i, name, h, l)
{
	for (i = 1; i <= nrows["table"]; i++) {
		name = cell["table", i, "NAME"]
		h = option["table", row_group["table", i], "header="]
		# *_MAX and the like grow with the headers
		if (h == "" || cell["table", i, "TRAITS"] ~ /nonabi/ && name ~ /_MAX(_SHIFT)?$|^NR_/)
			continue
		h = is_perf_header(h) ? "perf" : "libc"
		print "const\t" name "\t" chex(hex[i], "ULL") "\t" h "\t" row_at["table", i] > f
	}
	for (i = 1; i <= nrows["ioctls"]; i++)
		print "ioctl\t" cell["ioctls", i, "NAME"] "\t" initializer["ioctls", i, "REQUEST"] \
		      "\t" initializer["ioctls", i, "COMPAT"] "\t" row_at["ioctls", i] > f
	for (i = 1; i <= nrows["layout"]; i++) {
		l = option["layout", row_group["layout", i], "btf="]
		if (l != "" && !nbits[i] && cell["layout", i, "KIND"] != "reserved")
			print "member\t" l "\t" cell["layout", i, "NAME"] "\t" offset[i] "\t" row_at["layout", i] > f
	}
	close(f)
}

# Write the tables of README.md.
function write_sections_md(f,	k, j, s, row)
{
	print "| section | columns of a row | C |\n|---|---|---|" > f
	for (k = 1; k <= nsections; k++) {
		s = section_name[k]
		row = "| `%" s (head[s] ? " " head[s] : "") "` | `" col_name[s, 1]
		for (j = 2; j <= ncols[s]; j++)
			row = row " " col_name[s, j]
		print row "`" (ntabs[s] ? ", lines" : "") " | `struct " struct[s] "` |" > f
	}
	print "\n| words of | |\n|---|---|" > f
	for (k = 1; k <= nsets; k++)
		print "| " set_noun[set_name[k]] " | `" substr(words[set_name[k]], 2) "` |" > f
	close(f)
}

function write_rows(f, s, first, last,	i, j, row)
{
	for (i = first; i <= last; i++) {
		row = ""
		for (j = 1; j <= ncols[s] + ntabs[s]; j++)
			row = row (j > 1 ? ", " : "") initializer[s, i, col_name[s, j]]
		print "\t{ " row " }," > f
	}
}

function write_tables_c(f,	g, k, s, name)
{
	print license "\n#include <errno.h>\n\n#include \"xlat/constants.h\"" > f
	print "#include \"xlat/layouts.h\"\n#include \"xlat/tables.h\"" > f
	print "\nconst uint32_t xlat_release = " release ";" > f
	print "const unsigned int attr_configs[] = { " attr_configs "};" > f
	for (g = 1; g <= ngroups["table"]; g++)
		write_group(f, "table", g, "xlat", "entries")
	print "\nconst struct xlat *const xlat_tables[] = {" > f
	write_list_of(f, "table", "\t&xlat_", ",")
	print "\tNULL\n};" > f
	for (g = 1; g <= ngroups["layout"]; g++)
		write_group(f, "layout", g, "layout", "fields")
	print "\nconst struct layout *const layouts[] = {" > f
	write_list_of(f, "layout", "\t&layout_", ",")
	print "\tNULL\n};" > f
	for (k = 1; k <= nsections; k++) {
		s = section_name[k]
		if (head[s] != "")
			continue
		name = tolower(row_noun[s])
		print "\nconst struct " struct[s] " " name "_descs[] = {" > f
		write_rows(f, s, 1, nrows[s])
		print "\t{ 0 }\n};\nconst size_t " name "_ndescs = " nrows[s] ";" > f
	}
	close(f)
}

# Write the rows of a table or layout, and a struct TYPE with its name, them and words of its line.
function write_group(f, s, g, type, rows,	name, array, i, n, want, key)
{
	name = option[s, g, "NAME"]
	array = rows "_" name
	print "\nstatic const struct " struct[s] " " array "[] = {" > f
	write_rows(f, s, group_first[s, g], group_last(s, g))
	print "};\n\nconst struct " type " " type "_" name " = {\n\t.name = " quoted(name) "," > f
	n = split(head[s], want, / /)
	for (i = 2; i <= n; i++) {
		key = option[s, g, want[i]]
		if (want[i] ~ /=$/)
			print "\t." substr(want[i], 1, length(want[i]) - 1) " = " \
			      (want[i] == "prefix=" ? quoted(key) : quoted_or_null(key)) "," > f
	}
	if (s == "table")
		print "\t.kind = " known["xlat_kind", option[s, g, "KIND"]] \
		      ", .is_signed = " (option[s, g, "signed"] ? "true" : "false") "," > f
	else
		print "\t.size = " layout_size[g] "," > f
	print "\t." rows " = " array ", .n = sizeof(" array ") / sizeof(*" array "),\n};" > f
}
