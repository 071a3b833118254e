#!/usr/bin/env bats
# The runner: it counts correctly, and notices every kind of failure.

setup() {
	tree=$BATS_TEST_TMPDIR
	mkdir -p "$tree/tests/unit" "$tree/build/tests/unit"
	runner=$srcdir/tests/run
	unset TESTS TIMEOUT JOBS PEVTRACE PEVTRACE_TARGETS HAVE_CMOCKA
}

# Create a test of this name from standard input.
script() {
	{ echo '#!/bin/sh'; cat; } >"$tree/tests/$1"
	chmod +x "$tree/tests/$1"
}

# Run the runner; compare its last line and its exit status.
counts() {
	run env srcdir="$tree" builddir="$tree/build" "$runner"
	echo "$output"
	[ "${lines[-1]}" = "$1" ]
	[ "$status" -eq "$2" ]
}

@test "counts what passed, failed and was skipped" {
	script a <<-'EOF'
		printf '1..5\nok 1 - one\nnot ok 2 - two\n# why it failed\nok 3 three # SKIP no perf\n'
		printf 'ok 4 # skip\nnot ok 5 five # TODO later\n'
		exit 1
	EOF
	counts "1 passed, 1 failed, 3 skipped" 1
	[[ $output == *"skipped: three: no perf"* ]]
	[[ $output == *"why it failed"* ]]
}

@test "all passed is status 0" {
	script a <<<'echo 1..1; echo ok 1'
	script b <<<'echo ok 1; echo ok 2; echo 1..2'
	counts "3 passed, 0 failed, 0 skipped" 0
}

@test "nothing ran is a failure" {
	counts "0 passed, 0 failed, 0 skipped" 1
}

@test "no plan, an early end and a wrong status are failures" {
	script a <<<'echo hello'
	script b <<<'echo 1..3; echo ok 1'
	script c <<<'echo 1..1; echo ok 1; exit 3'
	counts "2 passed, 3 failed, 0 skipped" 1
	[[ $output == *"No plan found"* ]]
	[[ $output == *"planned 3 tests but ran 1"* ]]
	[[ $output == *"exit status 3"* ]]
}

@test "a crash is one failure and its output is shown" {
	script a <<<'echo 1..2; echo ok 1; echo on stderr >&2; kill -SEGV $$'
	counts "1 passed, 1 failed, 0 skipped" 1
	[[ $output == *"died from signal 11"* ]]
	[[ $output == *"on stderr"* ]]
}

@test "a test that hangs is killed and fails" {
	script a <<<'echo 1..1; sleep 60'
	export TIMEOUT=1
	counts "0 passed, 1 failed, 0 skipped" 1
	[[ $output == *"longer than 1 seconds"* ]]
}

@test "bailing out is a failure with its reason" {
	script a <<<'echo 1..2; echo "Bail out! no kernel"; exit 1'
	counts "0 passed, 1 failed, 0 skipped" 1
	export JOBS=1
	counts "0 passed, 1 failed, 0 skipped" 1
	[[ $output == *"bailed out: no kernel"* ]]
}

@test "a whole file can be skipped, with a reason" {
	script a <<<'echo "1..0 # Skipped: no perf"'
	script b <<<'echo 1..0'
	counts "0 passed, 1 failed, 1 skipped" 1
	[[ $output == *"no perf"* ]]
}

@test "indented lines belong to a subtest" {
	script a <<<'printf "1..1\n    1..2\n    ok 1\n    not ok 2 # TODO\nok 1 - outer\n"'
	counts "1 passed, 0 failed, 0 skipped" 0
}

@test "cmocka: a skip, a failed set-up" {
	: >"$tree/tests/unit/test_a.c" >"$tree/tests/unit/test_b.c"
	cat >"$tree/build/tests/unit/test_a" <<-'EOF'
		#!/bin/sh
		[ "$CMOCKA_MESSAGE_OUTPUT" = TAP ] || exit 9
		printf '1..3\nok 1 - a\nok 2 - b\n# no perf\nnot ok 3 # SKIP c\n# ok - A\n'
	EOF
	cat >"$tree/build/tests/unit/test_b" <<-'EOF'
		#!/bin/sh
		printf '1..3\nnot ok 0 - B [  FAILED  ] GROUP SETUP\n# ok - B\n'
		exit 2
	EOF
	chmod +x "$tree/build/tests/unit/"*
	counts "2 passed, 2 failed, 1 skipped" 1
	[[ $output == *"skipped: c: no perf"* ]]
}

@test "cmocka 2: tests behind a failed one, a skip" {
	: >"$tree/tests/unit/test_a.c"
	cat >"$tree/build/tests/unit/test_a" <<-'EOF'
		#!/bin/sh
		printf 'TAP version 14\n1..4\nok 1 - a\nnot ok 2 - b\n'
		printf '  ---\n  message: |-\n    1 != 2\n  severity: fail\n  ...\n'
		printf 'no perf\nok 3 - c # SKIP\nok 4 - d\n# not ok - A\n'
		exit 1
	EOF
	chmod +x "$tree/build/tests/unit/test_a"
	counts "2 passed, 1 failed, 1 skipped" 1
	[[ $output == *"1 != 2"* ]]
	[[ $output == *"skipped: c: no perf"* ]]
}

@test "a unit test that was not built is a failure, without cmocka a skip" {
	: >"$tree/tests/unit/test_a.c"
	counts "0 passed, 1 failed, 0 skipped" 1
	export HAVE_CMOCKA=no
	counts "0 passed, 0 failed, 1 skipped" 0
}

@test "a script that is not executable is a failure, a helper is nothing" {
	script a <<<'echo 1..1; echo ok 1'
	chmod -x "$tree/tests/a"
	echo 'x = 1' >"$tree/tests/helper.py"
	counts "0 passed, 1 failed, 0 skipped" 1
	[[ $output == *"chmod +x"* ]]
}

@test "TESTS selects by name" {
	script apple <<<'echo 1..1; echo ok 1'
	script pear <<<'echo 1..1; echo not ok 1'
	export TESTS="app nothing"
	counts "1 passed, 0 failed, 0 skipped" 0
	TESTS="p*r"
	counts "0 passed, 1 failed, 0 skipped" 1
	TESTS="plum"
	counts "0 passed, 0 failed, 0 skipped" 1
	[[ $output == *"no test has a name with any of: plum"* ]]
}

@test "what a sanitizer reports is a failure" {
	# shellcheck disable=SC2016
	script a <<<'echo 1..1; echo ok 1; echo leak >"${ASAN_OPTIONS##*log_path=}.$$"'
	counts "1 passed, 1 failed, 0 skipped" 1
	[[ $output == *"a sanitizer reported:"*leak* ]]
}

@test "when the runner ends, the test that it runs ends" {
	script a <<-EOF
		echo \$\$ >$tree/pid; sleep 60
	EOF
	srcdir=$tree builddir=$tree/build "$runner" >"$tree/out" &
	until [ -s "$tree/pid" ]; do sleep 0.05; done
	kill -TERM $!
	! wait $!
	while kill -0 "$(cat "$tree/pid")" 2>/dev/null; do sleep 0.05; done
	[ "$(tail -n 1 "$tree/out")" = "0 passed, 1 failed, 0 skipped" ]
}

@test "a test that runs alone runs after the others, beside none" {
	: >"$tree/log"
	for name in b c; do
		script $name <<-EOF
			echo 1..1; echo + >>$tree/log; sleep 0.2; echo - >>$tree/log; echo ok 1
		EOF
	done
	for name in a d; do
		script $name <<-EOF
			# Runs alone: measures time.
			echo 1..1; echo $name >>$tree/log; sleep 0.2; echo $name >>$tree/log; echo ok 1
		EOF
	done
	export JOBS=2
	counts "4 passed, 0 failed, 0 skipped" 0
	[ "$(tr '\n' ' ' <"$tree/log")" = "+ + - - a a d d " ]
}

@test "tests see where they are" {
	# shellcheck disable=SC2016
	script a <<<'echo 1..1; [ "$PEVTRACE" = "$builddir/pevtrace" ] &&
		[ -d "$srcdir/tests" ] && [ "$PWD" = "$builddir" ] &&
		[ "$PEVTRACE_TARGETS" = "$builddir/tests/targets" ] && echo ok 1'
	counts "1 passed, 0 failed, 0 skipped" 0
}
