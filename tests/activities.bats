#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# xlat/gen_activities.awk: every mistake stops it and is reported with its line, and every awk makes the
# same of xlat/activities.in.

setup() {
	srcdir=$(cd "${srcdir:-.}" && pwd)
	gen=$srcdir/xlat/gen_activities.awk
	dir=$BATS_TEST_TMPDIR
	cd "$dir" || return
	LC_ALL=C
	export LC_ALL
	sed "s/|/$(printf '\t')/g" >good.in <<-'END'
		# One of everything.
		%object part part_struct|A part
		size|u32|-|-
		%activity one time|One
		|Introduction.
		-|c|-|struct more more
		tid|tid|-|-
		ns|ns|-|-
		|The task, and when.
		how|enum:hows=HOW_A:a,HOW_B:b|-|-
		|How.
		left|int:1..|how=HOW_A|-
		|Left.
		text|text|?|-
		|Text.
		parts|list:part|-|parts,nparts
		|Parts.
		+|"dependencies": {"left": ["how"]}
		%activity name hand|A name
		of|part|-|-
		|Of what.
		%activity name_it part|A name of it
		text|text?|-|-
	END
	printf '{"kinds": @kinds@, "parts": @parts@, "cases": @cases@, "definitions": {\n@definitions@\n}}\n' \
		>schema.in
	printf '.SH LINES\n@lines@\n' >page.in
}

# Print the awks that are installed, one a line.
awks() {
	for a in "gawk --posix" mawk "busybox awk" original-awk awk; do
		command -v "${a%% *}" >/dev/null && $a 'BEGIN { exit 0 }' 2>/dev/null && echo "$a"
	done
	:
}

# generate AWK TABLE SCHEMA PAGE: write into out
generate() {
	rm -rf out
	mkdir -p out/xlat out/man out/share/pevtrace
	$1 -v out="$dir/out" -v schema_in="$3" -v page_in="$4" -f "$gen" \
		-f "${gen%.awk}_page.awk" "$2" </dev/null
}

# wrong LINE TEXT SED: with that edit, every awk reports LINE with TEXT, and writes nothing
wrong() {
	sed -e "$3" good.in >bad.in
	! cmp -s good.in bad.in
	awks >awks
	while read -r a; do
		run generate "$a" bad.in schema.in page.in
		echo "$a: $status: $output"
		[ "$status" -ne 0 ]
		[[ $output == *"bad.in:$1: "*"$2"* ]]
		[ -z "$(find out -type f)" ]
	done <awks
}

@test "the table without mistakes passes" {
	awks >awks
	while read -r a; do
		generate "$a" good.in schema.in page.in
		grep -q 'ACTIVITY_ONE,' out/xlat/activities.h
		grep -q 'enum hows { HOW_A, HOW_B };' out/xlat/activities.h
		! grep -q 'ACTIVITY_NAME,' out/xlat/activities.h
		grep -q '.line = "name", .of = "it"' out/xlat/activities.c
		grep -q '"then": {"$ref": "#/definitions/name_it"}' out/share/pevtrace/trace.schema.json
		grep -q '"left": {"type": "integer", "minimum": 1, "maximum": 2147483647}' \
			out/share/pevtrace/trace.schema.json
		grep -qx '.BR tid ", " ns' out/man/pevtrace-json.5
		grep -qx '.B text_hex' out/man/pevtrace-json.5
	done <awks
}

@test "all awks make the same of xlat/activities.in" {
	awks >awks
	while read -r a; do
		generate "$a" "$srcdir/xlat/activities.in" "$srcdir/share/pevtrace/trace.schema.in" \
			"$srcdir/man/pevtrace-json.5.in"
		[ ! -d first ] || diff -r first out
		[ -d first ] || mv out first
	done <awks
}

@test "mistakes in sections" {
	wrong 4 "wanted: %activity" 's/^%activity one time/%activity one/'
	wrong 4 "wanted: %activity" 's/^%activity one time/%thing one time/'
	wrong 4 "unknown trait soon" 's/^%activity one time/%activity one soon/'
	wrong 19 "one twice" 's/^%activity name hand/%activity one hand/'
	wrong 2 "no section" '2d'
	wrong 21 "no text after the last member of name" '/Of what/d'
}

@test "mistakes in rows" {
	wrong 7 "wanted: KEY TYPE" 's/^tid.*/tid/'
	wrong 7 "unknown type task" 's/^tid\ttid/tid\ttask/'
	wrong 8 "tid twice" 's/^ns\tns/tid\tns/'
	wrong 12 "unknown condition sometimes" 's/how=HOW_A/sometimes/'
	wrong 14 "no member size before" 's/^text\ttext\t?/text\ttext\tif=size/'
	wrong 16 "unknown object bit" 's/list:part/list:bit/'
	wrong 7 "only where the dump is written by hand" 's/^tid\ttid/tid\tmemory/'
}
