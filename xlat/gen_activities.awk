# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Generate all that follows from the table of activities:
#
#	awk -v out=DIR -v schema_in=trace.schema.in -v page_in=pevtrace-json.5.in \
#		-f gen_activities.awk -f gen_activities_page.awk activities.in
#
# writes xlat/activities.h (the structs), xlat/activities.c (the members of a dump's lines),
# share/pevtrace/trace.schema.json and man/pevtrace-json.5 below DIR, whose folders must exist, if
# all of the input is valid.  README.md describes the input.

function fail(text)
{
	print FILENAME ":" FNR ": " text | "cat 1>&2"
	failed = 1
}

# Describe a type: the kind of field in C, the C type of its member, the JSON schema.
function type(name, field, c, json)
{
	field_of[name] = field
	c_of[name] = c
	schema_of[name] = json
}

function ref(name)
{
	return "{\"$ref\": \"#/definitions/" name "\"}"
}

BEGIN {
	FS = "\t"
	INT_MAX = "2147483647"
	U64_MAX = "18446744073709551615"
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	type("tid", "INT", "pid_t ", ref("tid"))
	type("fd", "INT", "int ", ref("fd"))
	type("int", "INT", "int ", "")
	type("s64", "S64", "int64_t ", ref("s64"))
	type("u32", "UINT", "uint32_t ", ref("u32"))
	type("u64", "UINT", "uint64_t ", ref("u64"))
	type("ns", "UINT", "uint64_t ", ref("ns"))
	type("bool", "BOOL", "bool ", "{\"type\": \"boolean\"}")
	type("hex", "HEX", "uint64_t ", ref("hex"))
	type("hexes", "HEXES", "const uint64_t *", ref("hexes"))
	type("ident", "TEXT", "const char *", ref("ident"))
	type("text", "TEXT", "const char *", "{\"type\": \"string\"}")
	type("path", "TEXT", "const char *", "{\"type\": \"string\", \"minLength\": 1}")
	type("text?", "TEXT_OR_NULL", "const char *", "{\"type\": [\"string\", \"null\"]}")
	type("chars", "CHARS", "", "{\"type\": \"string\"}")
	type("bytes", "BYTES", "const uint8_t *", ref("bytes"))
	type("array", "ARRAY", "", ref("bytes"))
	type("words", "WORDS", "char *const *", ref("words"))
	type("event", "EVENT", "struct event *", ref("number"))
	type("event?", "EVENT_OR_NULL", "struct event *", ref("number"))
	type("ring", "RING", "struct ring *", ref("number"))
	type("enum", "ENUM", "", "")
	type("list", "LIST", "", "")
	type("own", "OWN", "", "")
	# of lines that the dump writes and reads by hand
	type("with", "", "", "")
	type("string", "", "", "{\"type\": \"string\"}")
	type("true", "", "", "{\"const\": true}")
	split("number schema kernel byte_order features tids started part callname errname signame " \
	      "injected_signal decoded record_body attr memory stack raw ret notes", named, " ")
	for (i in named)
		type(named[i], "", "", ref(named[i]))
}

function toup(s,	r, i, at)
{
	r = ""
	for (i = 1; i <= length(s); i++) {
		at = index("abcdefghijklmnopqrstuvwxyz", substr(s, i, 1))
		r = r (at ? substr(upper, at, 1) : substr(s, i, 1))
	}
	return r
}

# Return the part of a type after its first colon, and set base to what is before.
function options(typ,	at)
{
	at = index(typ, ":")
	base = at ? substr(typ, 1, at - 1) : typ
	return at ? substr(typ, at + 1) : ""
}

function has_hex(typ)
{
	return typ == "text" || typ == "text?" || typ == "path" || typ == "chars"
}

# Rows -----------------------------------------------------------------------

function end_section()
{
	if (open_keys != "" && !(section in objects) && !parts[section])
		fail("no text after the last member of " section)
	open_keys = ""
}

function begin_section(	words, n, traits, t)
{
	end_section()
	n = split($1, words, " ")
	if (n != 3 || NF != 2 || (words[1] != "%activity" && words[1] != "%object")) {
		fail("wanted: %activity NAME TRAITS<TAB>TEXT, or %object NAME STRUCT<TAB>TEXT")
		return
	}
	section = words[2]
	if (section in text_of)
		fail(section " twice")
	text_of[section] = $2
	sections[++nsections] = section
	nrows[section] = 0
	if (words[1] == "%object") {
		objects[section] = words[3]
		return
	}
	n = split(words[3], traits, ",")
	for (t = 1; t <= n; t++) {
		if (traits[t] == "hand")
			hand[section] = 1
		else if (traits[t] == "part")
			parts[section] = 1
		else if (traits[t] == "time" || traits[t] == "splits")
			order[section] = toup(traits[t])
		else if (traits[t] != "-")
			fail("unknown trait " traits[t])
	}
	if (!parts[section])
		man = man ".SS " section "\n"
}

# Begin the paragraph of the members before, unless one is open, and continue it.
function add_text(	n, keys, i)
{
	if (open_keys != "") {
		n = split(open_keys, keys, " ")
		man = man ".TP\n" (n == 1 ? ".B " : ".BR ") keys[1]
		for (i = 2; i <= n; i++)
			man = man " \", \" " keys[i]
		man = man "\n"
		after = ""
		for (i = 1; i <= n; i++)
			if (has_hex(type_at[section, keys[i]]))
				after = after ".TP\n.B " keys[i] "_hex\n" \
					"Its bytes, if it is not UTF-8.\n"
		open_keys = ""
		pending_after = after
	}
	man = man substr($0, 2) "\n"
}

function flush_after()
{
	man = man pending_after
	pending_after = ""
}

function check_type(typ,	more)
{
	more = options(typ)
	if (!(base in field_of))
		fail("unknown type " typ)
	else if (base == "list" && !(more in objects))
		fail("unknown object " more)
	else if ((base == "own" || base == "with") && more != "")
		check_type(more)
	else if (field_of[base] == "" && base != "with" && !hand[section] && !in_own)
		fail("type " typ " only where the dump is written by hand")
}

function check_when(when,	at, name)
{
	at = index(when, "=")
	if (when ~ /^(-|\?|old|out|flag=[a-z_]+|if=[a-z_]+|how=[A-Z_]+(,old)?)$/) {
		name = substr(when, at + 1)
		if (when ~ /^if=/ && !((section, name) in type_at))
			fail("no member " name " before")
	} else {
		fail("unknown condition " when)
	}
}

function add_row(	n)
{
	if (NF != 4) {
		fail("wanted: KEY TYPE WHEN MEMBER")
		return
	}
	if ($2 == "c") {
		declared[section] = declared[section] "\t" $4 ";\n"
		return
	}
	if (open_keys == "")
		flush_after()
	if ((section, $1) in type_at)
		fail($1 " twice in " section)
	in_own = $2 ~ /^(own|with):/
	check_type($2)
	check_when($3)
	n = ++nrows[section]
	key[section, n] = $1
	type_at[section, $1] = typ[section, n] = $2
	when[section, n] = $3
	member[section, n] = $4 == "-" ? $1 : $4
	open_keys = open_keys (open_keys == "" ? "" : " ") $1
}

/^#/ || /^$/ {
	next
}

/^%/ {
	flush_after()
	begin_section()
	next
}

section == "" {
	fail("no section")
	next
}

/^\+\t/ {
	raw[section] = raw[section] ",\n\t\t\t" $2
	next
}

/^\t/ {
	add_text()
	next
}

{
	add_row()
}

# Output ---------------------------------------------------------------------

# Add the declaration of a member to the struct, unless the member is of another struct.
function declare(kind, i,	names, n, c, t)
{
	t = typ[kind, i]
	options(t)
	c = c_of[base]
	n = split(member[kind, i], names, ",")
	if (index(names[1], " ")) { # with a type of its own
		declared[kind] = declared[kind] "\t" names[1] ";\n"
		sub(/^.* /, "", member[kind, i])
		return
	}
	if (index(names[1], ".") || base == "own" || base == "with")
		return
	if (base == "enum")
		c = "enum " substr(t, 6, index(t, "=") - 6) " "
	if (!((kind, names[1]) in has_member))
		declared[kind] = declared[kind] "\t" c names[1] ";\n"
	has_member[kind, names[1]] = 1
	if (base ~ /^(bytes|hexes)$/)
		declared[kind] = declared[kind] "\tsize_t " (n > 1 ? names[2] : names[1] "_len") ";\n"
	if (when[kind, i] ~ /^flag=/ && !((kind, when[kind, i]) in has_member)) {
		declared[kind] = declared[kind] "\tbool " substr(when[kind, i], 6) ";\n"
		has_member[kind, when[kind, i]] = 1
	}
}

function declare_enum(t, file,	words, n, i, line)
{
	n = split(substr(t, 6), words, /[=:,]/)
	line = "enum " words[1] " {"
	for (i = 2; i < n; i += 2)
		line = line (i > 2 ? ", " : " ") words[i]
	print line " };\n" >file
}

function write_header(file,	k, kind, i)
{
	print "/* Generated from xlat/activities.in. */\n#pragma once\n\n#include <signal.h>\n" \
	      "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n" \
	      "#include \"core/host/proc_image.h\"\n\nstruct call;\nstruct event;\n" \
	      "struct record_format;\nstruct record_hooks;\nstruct ring;\n" >file
	print "enum activity_kind {" >file
	for (k = 1; k <= nsections; k++)
		if (is_struct(sections[k]))
			print "\tACTIVITY_" toup(sections[k]) "," >file
	print "\tACTIVITY_KINDS\n};\n" >file
	for (k = 1; k <= nsections; k++) {
		kind = sections[k]
		if (!is_struct(kind))
			continue
		for (i = 1; i <= nrows[kind]; i++) {
			if (typ[kind, i] ~ /^enum:/)
				declare_enum(typ[kind, i], file)
			declare(kind, i)
		}
		print "/* " text_of[kind] " */\nstruct activity_" kind " {\n" declared[kind] "};\n" >file
	}
	print "/* One activity of a session; kind tells which member it has. */" >file
	print "struct activity {\n\tenum activity_kind kind;\n\tunion {" >file
	for (k = 1; k <= nsections; k++)
		if (is_struct(sections[k]))
			print "\t\tstruct activity_" sections[k] " " sections[k] ";" >file
	print "\t};\n};" >file
	close(file)
}

function is_struct(kind)
{
	return !(kind in objects) && !hand[kind]
}

function offset(kind, name)
{
	return kind in objects ? "offsetof(struct " objects[kind] ", " name ")" : \
		"offsetof(struct activity, " kind "." name ")"
}

function size_of(kind, name)
{
	return kind in objects ? "sizeof(((struct " objects[kind] " *)0)->" name ")" : \
		"sizeof(((struct activity *)0)->" kind "." name ")"
}

# Return the bounds of an integer as members of the field.
function bounds(t,	more, ends)
{
	more = options(t)
	if (base == "tid")
		more = "-1.."
	else if (base == "fd")
		more = "0.."
	else if (base == "path") # at least that long
		return ", .min = 1"
	else if (base == "u32")
		more = "0..UINT32_MAX"
	else if (base != "int")
		return ""
	split(more, ends, /\.\./)
	return ", .min = " ends[1] ", .max = " (ends[2] == "" ? INT_MAX : ends[2])
}

function write_condition(kind, i, file,	w, value)
{
	w = when[kind, i]
	value = substr(w, index(w, "=") + 1)
	if (w == "?")
		print "\t  .when = WHEN_NOT_ZERO," >file
	else if (w == "old")
		print "\t  .when = WHEN_OLD," >file
	else if (w == "out")
		print "\t  .when = WHEN_WRITTEN," >file
	else if (w ~ /^(if|flag)=/)
		print "\t  .when = WHEN_" (w ~ /^if/ ? "IF" : "FLAG") ", .cond = " \
			offset(kind, value) ", .cond_size = " size_of(kind, value) "," >file
	else if (w ~ /^how=/)
		print "\t  .when = " (sub(/,old$/, "", value) ? "WHEN_HOW_OLD" : "WHEN_HOW") \
			", .cond = " offset(kind, "how") ", .cond_size = " size_of(kind, "how") \
			", .how = " value "," >file
}

function write_field(kind, i, file,	t, more, names, n)
{
	t = typ[kind, i]
	more = options(t)
	if (base == "with")
		return
	print "\t{ .key = \"" key[kind, i] "\", .type = MEMBER_" field_of[base] bounds(t) "," >file
	write_condition(kind, i, file)
	n = split(member[kind, i], names, ",")
	options(t)
	if (base == "own") {
		print "\t  .own = dump_own_" kind "_" key[kind, i] " }," >file
		return
	}
	if (base == "enum")
		print "\t  .names = " kind "_" key[kind, i] "_names," >file
	if (base == "list")
		print "\t  .object = &object_" more "," >file
	if (base ~ /^(bytes|hexes|list)$/)
		print "\t  .len = " offset(kind, n > 1 ? names[2] : names[1] "_len") "," >file
	print "\t  .at = " offset(kind, names[1]) ", .size = " size_of(kind, names[1]) " }," >file
}

function write_names(kind, i, file,	words, n, w)
{
	n = split(substr(typ[kind, i], 6), words, /[=:,]/)
	print "static const char *const " kind "_" key[kind, i] "_names[] = {" >file
	for (w = 2; w < n; w += 2)
		print "\t[" words[w] "] = \"" words[w + 1] "\"," >file
	print "\tNULL\n};\n" >file
}

function write_fields(kind, file,	i)
{
	for (i = 1; i <= nrows[kind]; i++)
		if (typ[kind, i] ~ /^enum:/)
			write_names(kind, i, file)
	print "static const struct dump_field " kind "_fields[] = {" >file
	for (i = 1; i <= nrows[kind]; i++)
		write_field(kind, i, file)
	print "};\n" >file
	if (kind in objects)
		print "static const struct dump_object object_" kind " = {\n\t" kind "_fields, " \
			"sizeof(" kind "_fields) / sizeof(*" kind "_fields),\n\tsizeof(struct " \
			objects[kind] "),\n};\n" >file
}

function write_table(file,	k, kind, line, of, i)
{
	print "/* Generated from xlat/activities.in. */\n#include \"formats/dump/dump_activity.h\"\n" >file
	for (k = 1; k <= nsections; k++)
		if (!hand[sections[k]])
			write_fields(sections[k], file)
	print "const struct dump_kind dump_kinds[ACTIVITY_KINDS] = {" >file
	for (k = 1; k <= nsections; k++) {
		kind = sections[k]
		if (!is_struct(kind))
			continue
		of = parts[kind] ? substr(kind, index(kind, "_") + 1) : ""
		line = parts[kind] ? substr(kind, 1, index(kind, "_") - 1) : kind
		print "\t[ACTIVITY_" toup(kind) "] = {\n\t\t.line = \"" line "\"," \
			(of == "" ? "" : " .of = \"" of "\",") >file
		print "\t\t.fields = " kind "_fields, .n = sizeof(" kind "_fields) / sizeof(*" \
			kind "_fields)," >file
		for (i = 1; i <= nrows[kind]; i++)
			if (key[kind, i] ~ /^(tid|ns)$/)
				print "\t\t." key[kind, i] " = " offset(kind, key[kind, i]) "," >file
		print "\t\t.order = ORDER_" (kind in order ? order[kind] : "NONE") "," >file
		print "\t}," >file
	}
	print "};" >file
	close(file)
}

END {
	end_section()
	flush_after()
	if (!nsections)
		fail("no activities")
	if (failed)
		exit 1
	write_header(out "/xlat/activities.h")
	write_table(out "/xlat/activities.c")
	write_schema(schema_in, out "/share/pevtrace/trace.schema.json")
	write_page(page_in, out "/man/pevtrace-json.5")
}
