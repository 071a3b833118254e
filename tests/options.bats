#!/usr/bin/env bats
# Verbs and options: the table, --help and the man pages agree.

setup() {
	dir=$BATS_TEST_TMPDIR
	"${PEVTRACE:?}" help --list >"$dir/list"
}

verbs() {
	awk -F '\t' '$1 == "verb" { print $2 }' "$dir/list"
}

# Options of verb $1, one a line, short and long.
options() {
	awk -F '\t' -v verb="$1" '
	$1 == "option" && $2 == verb { for (i = 3; i <= 4; i++) if ($i != "-") print $i }
	' "$dir/list" | sort -u
}

page() {
	case $1 in
	trace | help) echo "$srcdir/man/pevtrace.1" ;;
	*) echo "$srcdir/man/pevtrace-$1.1" ;;
	esac
}

# Names of options in standard input, one a line; doubled letters (-ff) count as single.
names() {
	grep -oE -- '(^|[^[:alnum:]-])--?[[:alpha:]][[:alnum:]-]*' |
		sed -E 's/^[^-]*//; s/^-(.)\1+$/-\1/' | sort -u
}

# Options in the tags of the section OPTIONS of a page; .TQ adds a tag.
page_options() {
	awk '
	/^\.SH/ { options = ($2 == "OPTIONS") }
	tag && options { print }
	{ tag = ($1 == ".TP" || $1 == ".TQ") }
	' "$1" | sed -E 's/\\f\(?[[:upper:]]+//g; s/\\-/-/g; s/^\.[[:upper:]]+ //; s/"//g' |
		grep '^-' | sed -E 's/[[:blank:]]*([=[]).*//; s/ ,/,/g' | names
}

@test "--help lists the options of the table, in up to 79 columns" {
	for verb in $(verbs); do
		echo "$verb"
		"$PEVTRACE" "$verb" --help >"$dir/help"
		sed -nE 's/^  +(-.*)$/\1/p' "$dir/help" | sed 's/  .*//' | names >"$dir/help.options"
		options "$verb" | diff -u - "$dir/help.options"
		if grep -E '.{80}' "$dir/help"; then return 1; fi
		[ "$("$PEVTRACE" help "$verb")" = "$(cat "$dir/help")" ]
	done
}

@test "every option has help text, and names its argument if it has one" {
	awk -F '\t' '
	$1 == "option" && (NF != 8 || length($8) < 10 || ($5 == "no") != ($6 == "-")) {
		print; bad = 1
	}
	$1 == "verb" && (NF != 4 || length($4) < 10) { print; bad = 1 }
	END { exit bad }
	' "$dir/list"
}

@test "no verb has two options of one name" {
	[ -z "$(awk -F '\t' '$1 == "option" { for (i = 3; i <= 4; i++) if ($i != "-") print $2, $i }' \
		"$dir/list" | sort | uniq -d)" ]
}

@test "the page of each verb lists the same options as its --help" {
	for verb in $(verbs); do
		[ "$verb" != help ] || continue
		echo "$verb"
		options "$verb" >"$dir/table"
		page_options "$(page "$verb")" | diff -u "$dir/table" -
	done
}

@test "every verb has a page of its own, in pevtrace.1 and NEWS, too" {
	[ "$(verbs | wc -l)" -gt 12 ]
	for verb in $(verbs); do
		echo "$verb"
		grep -qE "^\.B pevtrace $verb( |\$)" "$srcdir/man/pevtrace.1"
		case $verb in trace | help) continue ;; esac
		[ -f "$(page "$verb")" ]
		grep -q "pevtrace.\?-$verb (1)" "$srcdir/man/pevtrace.1"
		grep -qi "$verb" "$srcdir/NEWS"
	done
}

@test "every verb is in the list of --help" {
	"$PEVTRACE" --help | sed -n '/^Verbs:/,/^$/s/^  \([[:lower:]]*\) .*/\1/p' >"$dir/listed"
	verbs | diff -u - "$dir/listed"
}

@test "pevtrace(1) lists the verbs of help, in their order and with their summaries" {
	awk -F '\t' '$1 == "verb" { print $2 ": " $4 "." }' "$dir/list" >"$dir/wanted"
	sed '1,/^\.BI pevtrace.* VERB (1):/d; /^\.PP/,$d' "$srcdir/man/pevtrace.1" | awk '
	/^\.TP/ { tag = 1; next }
	{ sub(/^\.B /, "") }
	tag { printf "%s%s:", n++ ? "\n" : "", $0; tag = 0; next }
	{ printf " %s", $0 }
	END { print "" }' | diff -u "$dir/wanted" -
	# words in bold or in a list, in the pages that name verbs
	run grep -nE '^\.BR? (check|features|watch|run)( ,| \.)?$' "$srcdir"/man/*.1
	echo "$output"
	[ -z "$output" ]
}

@test "examples follow the SYNOPSIS, and pevtrace(1) has the verbs in the order of help" {
	for page in "$srcdir"/man/*.1; do
		echo "$page"
		[ "$(grep '^\.SH' "$page" | sed -n 3p)" = ".SH EXAMPLES" ]
	done
	sed -n '/^\.SH SYNOPSIS/,/^\.SH EXAMPLES/s/^\.B pevtrace \([a-z]*\).*/\1/p' "$srcdir/man/pevtrace.1" |
		uniq | diff -u - <(verbs)
}

@test "the SYNOPSIS of each page is the usage of --help" {
	command -v mandoc >/dev/null || skip "mandoc is not installed"
	for verb in $(verbs); do
		case $verb in trace | help) continue ;; esac
		echo "$verb"
		"$PEVTRACE" "$verb" --help | sed -E '/^[^[:blank:]U]/,$d; s/^Usage: |^ {7}//' |
			awk '/^pevtrace/ && n++ { print "" } { printf "%s%s", /^ / ? " " : "", $0 }
			END { print "" }' | tr -s ' ' >"$dir/usage"
		mandoc -Tascii -O width=400 "$(page "$verb")" | sed -E 's/.\x08//g' |
			sed '1,/^SYNOPSIS/d; /^EXAMPLES/,$d' |
			sed -E 's/^ +//; /^$/d' | tr -s ' ' | diff -u "$dir/usage" -
	done
}

@test "-h is examples and common options in 25 lines, -V is --version, for every verb and for none" {
	version="pevtrace $(sed -n 's/^#define PACKAGE_VERSION "\(.*\)"$/\1/p' "$builddir/config.h")"
	for verb in "" $(verbs); do
		echo "$verb"
		"$PEVTRACE" $verb -h >"$dir/brief"
		[ "$(wc -l <"$dir/brief")" -le 25 ]
		head -n 1 "$dir/brief" | grep -q '^Usage: pevtrace '
		tail -n 1 "$dir/brief" | grep -q '^pevtrace .*--help shows all of it\.$'
		grep '^  pevtrace ' "$dir/brief" | while read -r example; do
			"$PEVTRACE" $verb --help | grep -qF "$example"
		done
		if grep -E '.{80}' "$dir/brief"; then return 1; fi
		[ "$("$PEVTRACE" $verb --version)" = "$version" ]
		[ "$("$PEVTRACE" $verb -V)" = "$version" ]
	done
	[ "$("$PEVTRACE" help)" = "$("$PEVTRACE" --help)" ]
	[ "$("$PEVTRACE" trace --help)" = "$("$PEVTRACE" --help)" ]
}

@test "every option of a trace that has no argument is accepted" {
	for option in $(awk -F '\t' '$1 == "option" && $2 == "trace" && $5 != "required" {
				print $3; print $4 }' "$dir/list"); do
		with=
		case $option in
		- | -h | --help | -V | --version) continue ;;
		-a | --all) "$PEVTRACE" --engine=bpf -o "$dir/out" true 2>"$dir/err" || continue ;;
		-w | --summary-wall-clock) with=-c ;;
		esac
		echo "$option"
		run "$PEVTRACE" $with "$option" -o "$dir/out" true
		echo "$output"
		[ "$status" -eq 0 ]
	done
}

@test "a required argument that is missing is one line and status 2" {
	awk -F '\t' '$1 == "option" && $5 == "required" {
		if ($3 != "-") print $2, $3; if ($4 != "-") print $2, $4 }' "$dir/list" >"$dir/required"
	[ "$(wc -l <"$dir/required")" -gt 80 ]
	while read -r verb option; do
		echo "$verb $option"
		run "$PEVTRACE" "$verb" "$option"
		[ "$status" -eq 2 ]
		[[ $output == "pevtrace: option '$option' requires an argument; see pevtrace"*" --help" ]]
	done <"$dir/required"
}

@test "an option that does not exist is one line and status 2, for every verb" {
	for verb in $(verbs); do
		for option in --bogus -@; do
			run "$PEVTRACE" "$verb" "$option" true
			[ "$status" -eq 2 ]
			[[ $output == "pevtrace: unknown option '$option'; see pevtrace"*" --help" ]]
			[ "${#lines[@]}" -eq 1 ]
		done
	done
}

@test "long options may be abbreviated if that is unambiguous" {
	run "$PEVTRACE" --recor --string-l=5 -o "$dir/out" true
	[ "$status" -eq 0 ]
	[ -f "$dir/out" ]
	[ "$("$PEVTRACE" why --vers)" = "$("$PEVTRACE" --version)" ]
	run "$PEVTRACE" --summary -o "$dir/out" true # which --summary-only begins with, too
	[ "$status" -eq 0 ]
	run "$PEVTRACE" --s true
	[ "$status" -eq 2 ]
	[[ $output == "pevtrace: option '--s' is ambiguous:"*" --summary "* ]]
	[[ $output == *" --status "*" --string-limit "* ]]
}

@test "options may follow operands, except where these are a command" {
	run "$PEVTRACE" why 00 --rules-only --bogus
	[ "$status" -eq 2 ]
	[[ $output == *"--bogus"* ]]
	run "$PEVTRACE" sh -c 'exit 7' --bogus
	[ "$status" -eq 7 ]
}

# Arguments with a misspelt word, and the word that was meant.
@test "what is misspelt is answered with the nearest" {
	printf '%s\n' '.TH perf_event_open 2' '.SH DESCRIPTION' .EX 'struct perf_event_attr {' \
		'__u32 type;' '};' .EE .TP .I type Type. '.SH ERRORS' None. >"$dir/page"
	while read -r word args; do
		echo "$args -> $word"
		eval run '"$PEVTRACE"' "$args"
		echo "$output"
		[ "$status" -ne 0 ]
		[[ $output == *"did you mean $word?"* || $output == *"did you mean pevtrace $word?"* ]]
	done <<-'END'
	report repotr x
	open opne -e cycles true
	open help opne
	--summary --summray true
	--also open --side-band --aslo=comm true
	always --color=alwyas true
	chrome report --format=chorme x
	kernel --explain=kernle true
	perf_event_open --trace=perf_event_opne true
	%ioctl -e trace=%iocl true
	failed --status=faild true
	SIGTERM -e signal=SIGTREM true
	trace= -e tarce=all true
	EINVAL -e inject=ioctl:error=EINVLA true
	retval= -e inject=ioctl:retvla=3 true
	sample_freq open -e cpu-clock,sample_frq=99
	context-switch open --side-band --only=context_swich true
	precise_ip explain precise_pi
	sample_type_bits explain sample_type_btis
	sample_type list --tried sampel_type
	precise_ip list --tried precise_pi
	counting learn countnig
	sample_freq diff --ignore=sample_frq a b
	sample_period why '{type=1, smaple_period=1}'
	type why '{typ=1}'
	type why '{typ=1, size=112}'
	sample_type decode '--attr={sampel_type=1}'
	PERF_TYPE_SOFTWARE why '{type=PERF_TYPE_SOFTWAER}'
	PERF_COUNT_SW_CPU_CLOCK why '{type=PERF_TYPE_SOFTWARE, config=PERF_COUNT_SW_CPU_CLOK}'
	PERF_SAMPLE_IP open -e cpu-clock,sample_type=PERF_SAMPLE_IIP true
	PERF_FLAG_FD_CLOEXEC why --flags=PERF_FLAG_FD_CLOEXC '{type=1}'
	PERF_EVENT_IOC_ENABLE decode --ioctl=PERF_EVENT_IOC_ENABEL
	ENABLE decode --ioctl=enabel
	EINVAL decode --errno=EINVL
	EBADFD decode --errno=EBADFDD
	precise_ip -e 'inject=perf_event_open:error=EIO:when=precise_pi>0' true
	PERF_TYPE_SOFTWARE -e inject=perf_event_open:error=EIO:when=type==PERF_TYPE_SOFTWAER true
	PERF_EVENT_IOC_ENABLE -e inject=ioctl:error=EIO:when=request==PERF_EVENT_IOC_ENABEL true
	KILL -e inject=perf_event_open:signal=KIL true
	SIGKILL -e inject=perf_event_open:signal=SIGKIL true
	fork open --side-band --only=frok true
	ERRORS conform --no-behaviour --section=ERORS --man="$dir/page"
	END
}

# Arguments that are wrong, after the message.
@test "misuse is answered with what is wrong and what to do" {
	echo '{}' >"$dir/rec.json"
	while IFS='|' read -r message args; do
		echo "$args -> $message"
		eval run '"$PEVTRACE"' "$args"
		echo "$output"
		[ "$status" -eq 2 ]
		[ "$output" = "pevtrace: ${message//DIR/$dir}" ]
	done <<-'END'
	option '--explain' is for tracing; pevtrace explain DUMP explains a dump|decode --explain d.json
	option '-p' is for tracing; see pevtrace --help|decode -p 1
	option '--as-kernel' is for tracing; pevtrace explain EVENT says which kernels open it, and pevtrace explain --as-kernel=RELEASE -- COMMAND what an older one refuses|decode --as-kernel=6.1 d.json
	option '--look-every' is for tracing; see pevtrace --help|report --look-every=3 d.json
	option '--no-seccomp' is for tracing; see pevtrace --help|open --side-band --no-seccomp true
	-e inject= is for tracing; see pevtrace --help|decode -e inject=ioctl:error=EIO
	unknown option '--bogus'; see pevtrace decode --help|decode --bogus
	option '--for' is not for trace: see pevtrace open --help|--for=3 true
	diff: missing operand: another DUMP, PERF.DATA, EVENT or COMMAND; see pevtrace diff --help|diff rec.json
	diff: missing DUMP, PERF.DATA, EVENT or COMMAND; see pevtrace diff --help|diff
	cannot run 'version': not found in PATH; did you mean pevtrace --version?|version
	cannot run 'help': not found in PATH|-- help
	-p requires a PID, not 'x'; pidof(1) finds those of a name|-p x
	-p requires a PID, not ''|-p ''
	--attach requires a PID, not ''|--att=
	-C requires a list of CPUs such as 0-3,8, not 'x'|open -e cs -C x
	-e decode-fds requires path, all, none, dev, eventfd, pidfd, signalfd or socket, not 'x'|-e decode-fds=x true
	-S requires time, min-time, max-time, avg-time, calls, errors, name or nothing, not 'x'|-c -S x true
	help: unexpected argument 'open'; see pevtrace help --help|help trace open
	'DIR/rec.json:' has no LINE: name a call as DIR/rec.json:LINE (grep -n perf_event_open finds them)|explain "$dir/rec.json:"
	END
}

@test "--help states the default of -s of each verb" {
	for verb in trace open why decode; do
		"$PEVTRACE" help $verb | grep -q "string (default 32)"
	done
}

@test "a program that is called like a misspelt verb is traced" {
	mkdir "$dir/bin"
	printf '#!/bin/sh\nexit 9\n' >"$dir/bin/repotr"
	chmod +x "$dir/bin/repotr"
	PATH=$dir/bin:$PATH run "$PEVTRACE" repotr x
	[ "$status" -eq 9 ]
	run "$PEVTRACE" trace repotr
	[ "$status" -eq 2 ]
	[[ $output == *"cannot run 'repotr'"* ]]
	[[ $output != *"did you mean"* ]]
}
