# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A part of gen_activities.awk: the JSON schema of dumps, and their manual page.

function range_schema(range, optional,	ends)
{
	split(range, ends, /\.\./)
	return "{\"type\": \"integer\", \"minimum\": " (optional && ends[1] < 1 ? 1 : ends[1]) \
		", \"maximum\": " (ends[2] == "" ? INT_MAX : ends[2]) "}"
}

# Return the JSON schema of a type; optional: 0 is not written.
function schema(typ, optional,	more, n, i, words, json)
{
	more = options(typ)
	if (base == "own" || base == "with")
		return schema(more, 0)
	if (base == "int")
		return range_schema(more, optional)
	if (base == "list")
		return "{\"type\": \"array\", \"items\": " ref(more) "}"
	if (base == "bool" && optional)
		return "{\"const\": true}"
	if ((base == "u32" || base == "u64") && optional)
		return range_schema("1.." (base == "u32" ? "4294967295" : U64_MAX), 0)
	if (base != "enum")
		return schema_of[base]
	n = split(more, words, /[=:,]/)
	json = ""
	for (i = 3; i <= n; i += 2)
		json = json (json == "" ? "" : ", ") "\"" words[i] "\""
	return "{\"enum\": [" json "]}"
}

function definition(kind, file,	i, required, properties, line, of, optional)
{
	line = parts[kind] ? substr(kind, 1, index(kind, "_") - 1) : kind
	required = kind in objects ? "" : "\"kind\""
	properties = kind in objects ? "" : "\"kind\": {\"const\": \"" line "\"}"
	if (parts[kind]) {
		of = substr(kind, index(kind, "_") + 1)
		required = required ", \"of\""
		properties = properties ",\n\t\t\t\t\"of\": {\"const\": \"" of "\"}"
	}
	for (i = 1; i <= nrows[kind]; i++) {
		optional = when[kind, i] ~ /^(\?|flag|if|how)/
		if (!optional)
			required = required (required == "" ? "" : ", ") "\"" key[kind, i] "\""
		properties = properties (properties == "" ? "" : ",\n\t\t\t\t") "\"" key[kind, i] \
			"\": " schema(typ[kind, i], when[kind, i] == "?" && !hand[kind])
		if (has_hex(typ[kind, i]))
			properties = properties ",\n\t\t\t\t\"" key[kind, i] "_hex\": " ref("bytes")
	}
	printf "\t\t\"%s\": {\n\t\t\t\"description\": \"%s\",\n\t\t\t\"type\": \"object\",\n" \
	       "\t\t\t\"additionalProperties\": false,\n\t\t\t\"required\": [%s],\n" \
	       "\t\t\t\"properties\": {\n\t\t\t\t%s\n\t\t\t}%s\n\t\t}", \
	       kind, text_of[kind], required, properties, raw[kind] cases_of(kind) >file
}

# Return the choice between the parts of a kind, by "of".
function cases_of(kind,	k, s, of)
{
	s = ""
	for (k = 1; k <= nsections; k++) {
		if (!parts[sections[k]] || index(sections[k], kind "_") != 1)
			continue
		of = substr(sections[k], length(kind) + 2)
		s = s (s == "" ? ",\n\t\t\t\"allOf\": [" : ",") "\n\t\t\t\t{\n\t\t\t\t\t\"if\": " \
			"{\"properties\": {\"of\": {\"const\": \"" of "\"}}},\n\t\t\t\t\t\"then\": " \
			ref(sections[k]) "\n\t\t\t\t}"
	}
	return s == "" ? "" : s "\n\t\t\t]"
}

function kinds_list(want_parts,	k, s, kind)
{
	s = ""
	for (k = 1; k <= nsections; k++) {
		kind = sections[k]
		if (kind in objects || !want_parts != !parts[kind])
			continue
		if (want_parts)
			kind = substr(kind, index(kind, "_") + 1)
		s = s (s == "" ? "" : ", ") "\"" kind "\""
	}
	return "[" s "]"
}

function cases(	k, s, kind)
{
	s = ""
	for (k = 1; k <= nsections; k++) {
		kind = sections[k]
		if (kind in objects || parts[kind])
			continue
		s = s (s == "" ? "" : ",") "\n\t\t{\n\t\t\t\"if\": {\"properties\": {\"kind\": " \
			"{\"const\": \"" kind "\"}}},\n\t\t\t\"then\": " ref(kind) "\n\t\t}"
	}
	return "[" s "\n\t]"
}

# Copy a template to a file; @WORD@ stands for what follows from the table.
function write_schema(from, file,	line, at, k)
{
	while ((getline line <from) > 0) {
		if (line ~ /@definitions@/) {
			for (k = 1; k <= nsections; k++) {
				definition(sections[k], file)
				print (k < nsections ? "," : "") >file
			}
			continue
		}
		at = index(line, "@kinds@")
		if (at)
			line = substr(line, 1, at - 1) kinds_list(0) substr(line, at + 7)
		at = index(line, "@parts@")
		if (at)
			line = substr(line, 1, at - 1) kinds_list(1) substr(line, at + 7)
		at = index(line, "@cases@")
		if (at)
			line = substr(line, 1, at - 1) cases() substr(line, at + 7)
		print line >file
	}
	close(file)
}

function write_page(from, file,	line)
{
	while ((getline line <from) > 0) {
		if (line == "@lines@")
			printf "%s", man >file
		else
			print line >file
	}
	close(file)
}
