#!/usr/bin/env bats
# The options that --help lists and those that the page describes are the same.

# Options in standard input, one a line, short and long: "-o" and "--output".
# Doubled letters (-ff, -qq, -tt) count as the single one.
names() {
	grep -oE -- '(^|[^[:alnum:]-])--?[[:alpha:]][[:alnum:]-]*' |
		sed -E 's/^[^-]*//; s/^-(.)\1+$/-\1/' | sort -u
}

# The column of options: up to the first two blanks behind the indentation.
help_options() {
	"$PEVTRACE" --help |
		sed -nE 's/^[[:blank:]]+(-.*)$/\1/p' | sed 's/  .*//' | names
}

# Tags of the paragraphs in the section OPTIONS.
page_options() {
	awk '
	/^\.SH/ { options = ($2 == "OPTIONS") }
	tag && options { print }
	{ tag = ($1 == ".TP") }
	' "$srcdir/man/pevtrace.1" |
		sed -E 's/\\f[A-Z]//g; s/\\-/-/g; s/^\.[A-Z]+ //; s/"//g' |
		grep '^-' | sed -E 's/[[:blank:]]*([=[]).*//; s/ ,/,/g' | names
}

@test "--help and pevtrace.1 list the same options" {
	help_options >"$BATS_TEST_TMPDIR/help"
	page_options >"$BATS_TEST_TMPDIR/page"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/page")" -gt 30 ]
	diff -u "$BATS_TEST_TMPDIR/help" "$BATS_TEST_TMPDIR/page"
}

# Verbs, as the usage of --help lists them; trace's page is pevtrace.1 itself.
verbs() {
	"$PEVTRACE" --help | sed -nE 's/^ +pevtrace ([a-z]+) .*/\1/p' | grep -vx trace
}

@test "every verb has a page of its own, in pevtrace.1 and NEWS, too" {
	[ "$(verbs | wc -l)" -gt 12 ]
	for verb in $(verbs); do
		echo "$verb"
		[ -f "$srcdir/man/pevtrace-$verb.1" ]
		grep -qE "^\.B pevtrace $verb( |\$)" "$srcdir/man/pevtrace.1"
		grep -q "pevtrace.\?-$verb (1)" "$srcdir/man/pevtrace.1"
		grep -qi "$verb" "$srcdir/NEWS"
	done
}

@test "what open, watch and replay take stands in their --help and on their page" {
	for verb in open watch replay; do
		"$PEVTRACE" $verb --help >"$BATS_TEST_TMPDIR/verb"
		sed -nE 's/^[[:blank:]]+(-.*)$/\1/p' "$BATS_TEST_TMPDIR/verb" |
			sed 's/  .*//' | names >"$BATS_TEST_TMPDIR/options"
		[ "$(wc -l <"$BATS_TEST_TMPDIR/options")" -gt 15 ]
		pages=("$srcdir/man/pevtrace-$verb.1")
		if [ $verb != open ]; then # which refer to that of open
			pages+=("$srcdir/man/pevtrace-open.1")
		fi
		sed -E 's/\\f[A-Z]//g; s/\\-/-/g' "${pages[@]}" >"$BATS_TEST_TMPDIR/page"
		while read -r option; do
			echo "$verb $option"
			[[ $option == --output || $option == --json ]] || # by -o and -j
				grep -qE -- "(^|[^[:alnum:]-])$option([^[:alnum:]-]|\$)" \
					"$BATS_TEST_TMPDIR/page"
			[ "$("$PEVTRACE" $verb "$option" x 2>&1 | grep -c 'unknown option')" -eq 0 ]
		done <"$BATS_TEST_TMPDIR/options"
	done
}

@test "-h is --help, and it goes to standard output with status 0" {
	long=$("$PEVTRACE" --help 2>/dev/null)
	[ -n "$long" ]
	[ "$long" = "$("$PEVTRACE" -h 2>/dev/null)" ]
}

@test "-V is --version and says the version that was built" {
	version=$("$PEVTRACE" --version 2>/dev/null)
	[ "$version" = "$("$PEVTRACE" -V 2>/dev/null)" ]
	[[ $version == *"$(sed -n 's/^#define PACKAGE_VERSION "\(.*\)"$/\1/p' "$builddir/config.h")"* ]]
}

@test "every option of the page that takes no argument is accepted" {
	for option in $(page_options); do
		case $option in
		-[peso] | --attach | --expr | --trace | --status | --signal | \
		--string-limit | --output | -b | --detach-on | --as-kernel | --look-every | --keep-going | \
		-h | --help | -V | --version)
			continue
			;;
		esac
		echo "$option"
		run "$PEVTRACE" "$option" -o "$BATS_TEST_TMPDIR/out" true
		echo "$output"
		[ "$status" -eq 0 ]
	done
}

@test "an option that does not exist is one line and status 2" {
	for option in --bogus -@; do
		run "$PEVTRACE" "$option" true
		[ "$status" -eq 2 ]
		[[ ${lines[0]} == "pevtrace: "* ]]
		[ "${#lines[@]}" -le 2 ]
	done
}
