#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The generator stops at every kind of mistake and says where it is, and makes
# the same of the description under every awk.

setup() {
	srcdir=$(cd "${srcdir:-.}" && pwd)
	gen=()
	for part in values read check write; do
		gen+=(-f "$srcdir/xlat/gen_$part.awk")
	done
	gen+=("$srcdir/xlat/sections.txt")
	dir=$BATS_TEST_TMPDIR
	tab=$(printf '\t')
	LC_ALL=C
	export LC_ALL
	# A description with one of everything, for mistakes to be put into.
	rows good.in <<-'END'
		%table colour enum prefix=C_ header=colour.h btf=colour
		C_RED|0|2.6.31|c|Red
		C_ROUGE|0|2.6.31|alias|Red too
		C_BLUE|7|5.13|-|Blue
		C_MAX|8|-|nonabi|Number of colours
		%table bits flags prefix=B_
		B_LOW|1<<0|-|-|Low
		B_TWO|2&6|-|-|Two of two bits
		B_HIGH|0xffffffff00000000|-|nonabi|High
		%layout paint
		kind|0/4|pmu|colour|-|-|always|-|-|Kind
		size|4/4|size|-|-|-|-|-|-|Size
		one|8/8|uint|-|-|-|-|kind=C_BLUE|-|One
		two|8/8|uint|-|-|-|-|-|kind!=C_RED|Two
		bit|16/8:0|bool|-|24|6.1|-|-|-|Bit
		more|16/8:1-63|reserved|-|24|6.1|-|-|-|More
		%ioctls
		I_ONE|0x2400|0x2400|value|flags|bits|-|First
		I_TWO|0x40082401|0x40042401|in|string|-|-|Second
		%calls
		one|open|always|-|fd:fd,what:enum/colour|Opens
		two|read|held|-|fd:fd\|buf:read_buf,n:size|Reads
		three|process|held|-|-|Forks
		%table by flags prefix=RULE_BY_
		RULE_BY_ATTR|1<<0|-|-|The attr
		RULE_BY_CHANCE|1<<1|-|-|Chance
		%table trait flags prefix=PMU_TRAIT_
		PMU_TRAIT_CORE|1<<0|-|-|Core
		%pmus source=paint.c
		cpu_*|core|2.6.31|Counters
		%rules source=paint.c
		first|C_BLUE|2.6.31|attr|kind,what|Kind is wrong
		second|-|5.1..6.2|attr,chance|-|Something is wrong
		third|C_RED|6.1|chance|-|Bad luck
		%layout perf_event_attr
		kind|0/4|uint|-|-|-|-|-|-|Kind
		%calls
		perf_event_open|open|always|-|what:fd|Opens
		%claims
		one_claim|ARGUMENTS|2.6.31|some words|Something is so
		|open a dummy -> ok
		two_claims|ERRORS|5.1..6.2|more words|So is this
		|open a "x" -> EINVAL
		%steps
		go|fn_a|2.6.31|symbol|a.c|does a
		go|fn_b|-|inlined|a.c|does b
		stop|fn_c|6.1|x86|a.c|does c
		%terms
		C_BLUE|go,stop|Bluer. Than others
		paint.size|-|Size of the paint
		perf_event_open.what|stop|What to open
		I_ONE|go|The first one
		%refusals
		two_wrong|two|-|EINVAL|5.10|attr|n|Something is wrong
		one_not|one|I_ONE|EPERM|5.10|chance|kind|Not allowed
		%undocumented
		one_claim|word,a phrase
		%takers source=go.c
		I_TWO|kind!=C_RED|4.7|Red ones do not
		%glossary
		brush,paint brush|a tool|-|pevtrace brush|brush(1)|It paints. It has hairs
	END
}

# rows FILE: writes standard input there with | made a tab, \| made a |
rows() {
	sed -e 's/\\|/\x01/g' -e "s/|/$tab/g" -e 's/\x01/|/g' >"$dir/$1"
}

# awks: those that are installed, one a line
awks() {
	for a in "gawk --posix" mawk "busybox awk" original-awk awk; do
		command -v "${a%% *}" >/dev/null || continue
		if [ "${a%% *}" = busybox ]; then
			busybox awk 'BEGIN { exit 0 }' 2>/dev/null || continue
		fi
		echo "$a"
	done
}

# wrong LINE TEXT SED: with that edit, every awk complains of line LINE of the
# description with words that hold TEXT, and writes nothing
wrong() {
	sed -e "$3" "$dir/good.in" >"$dir/bad.in"
	if cmp -s "$dir/good.in" "$dir/bad.in"; then
		echo "nothing was edited by $3"
		return 1
	fi
	rm -rf "$dir/out"
	mkdir "$dir/out"
	awks >"$dir/awks"
	while read -r a; do
		run $a -v out="$dir/out" "${gen[@]}" "$dir/bad.in" </dev/null
		echo "$a: $status: $output"
		[ "$status" -ne 0 ]
		[[ $output == *"$dir/bad.in:$1: "*"$2"* ]]
		[ -z "$(ls "$dir/out")" ]
	done <"$dir/awks"
}

@test "the description without mistakes passes" {
	mkdir "$dir/out"
	awks >"$dir/awks"
	while read -r a; do
		$a -v out="$dir/out" "${gen[@]}" "$dir/good.in"
	done <"$dir/awks"
	grep -q '"C_BLUE"' "$dir/out/tables.c"
	grep -qx '#define B_HIGH 0xffffffff00000000ULL' "$dir/out/constants.h"
	grep -qx '#define B_TWO 0x2' "$dir/out/constants.h"
	grep -qx 'RULE(FIRST, first)' "$dir/out/rule_ids.h"
	grep -qx 'RULE(SECOND, second)' "$dir/out/rule_ids.h"
	grep -qx 'RULE_CHANCE(THIRD, third)' "$dir/out/rule_ids.h"
	grep -q '"second", RULE_SECOND, 0, KVER(5, 1, 0), KVER(6, 2, 0),' "$dir/out/tables.c"
	grep -qF '"cpu_*", PMU_TRAIT_CORE, ' "$dir/out/tables.c"
	grep -qF '"go", "fn_b", 0, STEP_INLINED' "$dir/out/tables.c"
	grep -qF '"C_BLUE", "go,stop",' "$dir/out/tables.c"
	grep -qF '"one", "I_ONE", EPERM, "EPERM",' "$dir/out/tables.c"
	# of a table of the system's only what C needs
	grep -qx '#define ABI_C_RED 0' "$dir/out/constants.h"
	! grep -q C_BLUE "$dir/out/constants.h"
}

@test "all awks make the same of xlat/" {
	first=
	awks >"$dir/awks"
	while read -r a; do
		d=$dir/$(echo "$a" | tr -d ' -')
		mkdir "$d"
		# activities.in has a generator of its own: tests/activities.bats
		$a -v out="$d" "${gen[@]}" $(ls "$srcdir"/xlat/*.in | grep -v /activities.in) \
			"$srcdir"/src/{conform,explain}/*.in
		$a -f "$srcdir/xlat/check.awk" "$d/check.list" /dev/null >"$d/check.c"
		if [ -n "$first" ]; then
			diff -r "$first" "$d"
		fi
		first=${first:-$d}
	done <"$dir/awks"
	for f in tables.c tables.h constants.h layouts.h enums.h rows.h rule_ids.h \
		sections.md check.list; do
		[ -s "$first/$f" ]
	done
}

@test "README.md has the sections and their columns" {
	mkdir "$dir/out"
	awk -v out="$dir/out" "${gen[@]}" "$dir/good.in"
	sed -n '/^| section /,/^## /p' "$srcdir/xlat/README.md" | sed '/^## /d' |
		sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >"$dir/shown"
	diff "$dir/out/sections.md" "$dir/shown"
}

@test "what sections.txt says is what rows become" {
	mkdir "$dir/out"
	rows sections.txt <<-'END'
		%types
		text|const char *|text|-|-
		even|int |text|[02468]$|not an even number
		%words xlat_kind XLAT_ table kind
		enum|-
		%section birds bird bird_desc
		NAME|text unique|name|of the bird
		WINGS|even|wings|-
	END
	gen=("${gen[@]::8}" "$dir/sections.txt")
	printf '%%birds\nowl\t2\ncrow\t4\n' >"$dir/good.in"
	awk -v out="$dir/out" "${gen[@]}" "$dir/good.in"
	grep -qx "${tab}const char \*name;$tab/\* of the bird \*/" "$dir/out/rows.h"
	grep -qx "${tab}{ \"crow\", \"4\" }," "$dir/out/tables.c"
	wrong 2 "not an even number: 3" '2s/2/3/'
	wrong 3 "bird owl is defined twice" '3s/crow/owl/'
	wrong 3 "a missing column" '3s/4/&\t5/'
}

@test "64-bit values are exact" {
	rows good.in <<-'END'
		%table big enum prefix=P_
		P_TEN|10|-|-|Small
		P_A|0x8000000000000000|-|-|Top bit
		P_B|0x8000000000000001|-|-|Top bit and one
		P_C|-4095|-|-|Negative
		P_D|-1|-|-|All bits
	END
	mkdir "$dir/out"
	awks >"$dir/awks"
	while read -r a; do
		rm -f "$dir"/out/*
		$a -v out="$dir/out" "${gen[@]}" "$dir/good.in"
		grep -qx '#define P_TEN 10' "$dir/out/constants.h"
		grep -qx '#define P_B 0x8000000000000001ULL' "$dir/out/constants.h"
		grep -qx '#define P_C 0xfffffffffffff001ULL' "$dir/out/constants.h"
		grep -qx '#define P_D 0xffffffffffffffffULL' "$dir/out/constants.h"
	done <"$dir/awks"
	# all of these are one double
	wrong 4 "not sorted" 's/8000000000000000/8000000000000002/'
	wrong 4 "is defined twice" 's/8000000000000000/8000000000000001/'
	# more than a double holds has to be hexadecimal
	wrong 2 "not a 64-bit value" "2s/10${tab}/9007199254740993${tab}/"
}

@test "a name that is defined twice" {
	wrong 4 "C_RED is defined twice" 's/C_BLUE/C_RED/'
	wrong 12 "is defined twice" "s/^size/kind/"
	wrong 19 "I_ONE is defined twice" 's/^I_TWO/I_ONE/'
	wrong 22 "call one is defined twice" 's/^two\(.read\)/one\1/'
	wrong 6 "table colour is defined twice" 's/%table bits/%table colour/'
}

@test "a value that is defined twice" {
	wrong 3 "value 0 is defined twice" 's/alias/-/'
	wrong 19 "number 0x2400 is defined twice" 's/2401/2400/g'
}

@test "a missing column" {
	wrong 4 "missing column" "s/${tab}Blue//"
	wrong 12 "missing column" "s/${tab}Size//"
	wrong 18 "missing column" "s/${tab}First//"
	wrong 23 "missing column" "s/${tab}Forks//"
	wrong 4 "missing column" "s/${tab}Blue/ Blue/"
}

@test "a table that is not sorted" {
	wrong 4 "not sorted" 's/^\(C_ROUGE.\)0/\19/'
	wrong 14 "not sorted" "s,^one${tab}8/8,one${tab}16/8,"
	wrong 19 "not sorted" 's/0x2400/0x2409/g'
}

@test "an unknown kind" {
	wrong 1 "unknown table kind set" 's/ enum/ set/'
	wrong 2 "unknown trait odd" "2s/${tab}c${tab}/${tab}odd${tab}/"
	wrong 12 "unknown field kind length" "12s/size${tab}-/length${tab}-/"
	wrong 18 "unknown ioctl argument" "18s/flags/flag/"
	wrong 18 "unknown direction" "18s/value/by/"
	wrong 21 "unknown call class" "21s/open/opens/"
	wrong 21 "unknown watch" "21s/always/ever/"
	wrong 21 "unknown argument kind" "21s/fd:fd/fd:file/"
}

@test "an unknown table, field or constant" {
	wrong 11 "unknown table paints" '11s/colour/paints/'
	wrong 18 "unknown table bit" "18s/bits/bit/"
	wrong 21 "unknown table colours" '21s/colour/colours/'
	wrong 13 "unknown field sort" '13s/kind=/sort=/'
	wrong 13 "unknown constant C_GREEN" '13s/C_BLUE/C_GREEN/'
	wrong 2 "unknown constant C_GREEN" "2s/${tab}0/${tab}C_GREEN/"
	wrong 13 "not a condition" '13s/kind=/kind>/'
}

@test "a name without the prefix" {
	wrong 4 "does not start with C_" 's/C_BLUE/D_BLUE/;13s/D_BLUE/0/'
}

@test "members that overlap without WHEN" {
	wrong 14 "two overlaps one" '13s/kind=C_BLUE/-/'
	wrong 16 "more overlaps bit" '16s/:1-/:0-/'
}

@test "values that are none" {
	wrong 2 "not a 64-bit value" "2s/${tab}0/${tab}0x10000000000000000/"
	wrong 2 "not a 64-bit value" "2s/${tab}0/${tab}1<<64/"
	wrong 2 "not a 64-bit value" "2s/${tab}0/${tab}010/"
	wrong 2 "not a 64-bit value" "2s/${tab}0/${tab}two/;2s/two/2+2/"
	wrong 2 "defined by itself" "2s/${tab}0/${tab}C_RED/"
	wrong 2 "not a release" '2s/2.6.31/2/'
	wrong 8 "outside its mask" '8s/2&6/2\&4/'
	wrong 15 "no such bits" '15s/:0/:64/'
	wrong 15 "not a place" '15s,16/8,16/3,'
	wrong 18 "32 bits" '18s/0x2400/0x100002400/'
}

@test "a release that no test proves, in a section without its source" {
	wrong 2 "a release below 5.10 in a section without" '1s/ header=colour.h//'
	wrong 2 "a release below 5.10" '1s/ header=colour.h//;2s/2.6.31/5.9,5.8.18/'
	wrong 15 "a release below 5.10" '15s/6.1/4.1/'
	sed -e '1s/ header=colour.h\(.*\)/\1 source=colour.c/' "$dir/good.in" >"$dir/sourced.in"
	mkdir -p "$dir/out"
	awk -v out="$dir/out" "${gen[@]}" "$dir/sourced.in"
}

@test "other rows and sections that are wrong" {
	wrong 1 "outside of any section" '1d'
	wrong 1 "not a section" '1s/%table/%tables/'
	wrong 1 "unknown word" '1s/btf=/bft=/'
	wrong 2 "full stop" '2s/Red/Red./'
	wrong 11 "overlaps the record's header" '10s/paint/perf_record_paint/'
	wrong 11 "needs a table" "11s/pmu${tab}colour/enum${tab}-/"
	wrong 21 "not an argument" '21s/fd:fd/fd/'
	wrong 22 "more than one" '22s/,/|/'
	wrong 21 "more than 6" '21s/fd:fd/a:fd,b:fd,c:fd,d:fd,e:fd,f:fd/'
}

@test "PMUs and rules that are wrong" {
	wrong 30 "unknown word hard" '30s/core/hard/'
	wrong 30 "not the name of a PMU" '30s/cpu_/cpu-/'
	wrong 33 "rule first is defined twice" '33s/second/first/'
	wrong 32 "not a name" '32s/first/First/'
	wrong 32 "unknown error C_GREEN" '32s/C_BLUE/C_GREEN/'
	wrong 32 "unknown word attrs" '32s/attr/attrs/'
	wrong 32 "unknown field sort" '32s/kind,/sort,/'
	wrong 33 "not a span" '33s/6.2/6.2..6.3/'
	wrong 33 "not a release" '33s/5.1/5/'
	wrong 34 "missing column" "s/${tab}Bad luck//"
}

@test "claims that are wrong" {
	wrong 42 "claim one_claim is defined twice" '42s/two_claims/one_claim/'
	wrong 40 "not a name" '40s/one/One/'
	wrong 42 "not a span" '42s/6.2/6.2..6.3/'
	wrong 40 "not a release" '40s/2.6.31/2/'
	wrong 40 "missing column" "40s/${tab}some words//"
	wrong 40 "has no experiment" '41d'
	wrong 40 "a step without a claim" '40d'
	wrong 40 "full stop" '40s/so$/so./'
	wrong 57 "unknown claim no_claim" '57s/one/no/'
}

@test "steps, terms, refusals and takers that are wrong" {
	wrong 46 "fn_a is defined twice" '46s/fn_b/fn_a/'
	wrong 47 "not a step and a function" '47s/stop/Stop/'
	wrong 47 "unknown step kind arm" '47s/x86/arm/'
	wrong 47 "is defined in two places" '46s/go/halt/;47s/stop/go/'
	wrong 49 "unknown term C_GREEN" '49s/C_BLUE/C_GREEN/'
	wrong 49 "unknown step jump" '49s/stop/jump/'
	wrong 50 "unknown term paint.sort" '50s/size/sort/'
	wrong 51 "unknown term perf_event_open.which" '51s/what/which/'
	wrong 52 "term C_BLUE is defined twice" '52s/I_ONE/C_BLUE/'
	wrong 54 "unknown call none" '54s/two\t/none\t/'
	wrong 54 "not an error: WRONG" '54s/EINVAL/WRONG/'
	wrong 54 "unknown field what" '54s/\tn\t/\twhat\t/'
	wrong 55 "two_wrong is defined twice" '55s/one_not/two_wrong/'
	wrong 55 "unknown ioctl I_ZERO" '55s/I_ONE/I_ZERO/'
	wrong 55 "missing column" "55s/${tab}Not allowed//"
	wrong 59 "unknown ioctl I_ZERO" '59s/I_TWO/I_ZERO/'
	wrong 59 "unknown field colour" '59s/kind/colour/'
	wrong 59 "no condition" '59s/kind!=C_RED/-/'
}

@test "words of the glossary that are wrong" {
	wrong 61 "brush is defined twice" '61s/,paint brush/,brush/'
	wrong 61 "fewer than two sentences" '61s/[.] It has hairs//'
	wrong 61 "missing column" "61s/${tab}brush(1)//"
}

@test "mistakes are told all at once" {
	sed -e 's/C_BLUE/C_RED/' -e '12s/size.-/length\t-/' "$dir/good.in" >"$dir/bad.in"
	run awk -v out="$dir" "${gen[@]}" "$dir/bad.in"
	[ "$status" -ne 0 ]
	[[ $output == *"bad.in:4: "* ]]
	[[ $output == *"bad.in:12: "* ]]
}
