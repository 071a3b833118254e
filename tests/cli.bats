#!/usr/bin/env bats
# SPDX-License-Identifier: LGPL-2.1-or-later
# The command line as a person meets it: what is printed, where, with what
# exit status, and what happens when things are wrong.

setup() {
	demo=${PEVTRACE_TARGETS:?}/demo
	dir=$BATS_TEST_TMPDIR
	[ -x "${PEVTRACE:?}" ]
}

# "! grep" cannot fail a bats test unless it stands last: these can.
absent() {
	if grep -q "$@"; then
		return 1
	fi
}

# Every call line of file $2 matches $1.
only_calls() {
	if grep -E '^[0-9]+ +[a-z0-9_]+\(' "$2" | grep -qvE "$1"; then
		return 1
	fi
}

# What a test started in the background must not outlive it: bats would wait.
teardown() {
	for pid in ${tracer:-} ${target:-}; do
		kill -KILL "$pid" 2>/dev/null || :
	done
}

# Waits, 5 minutes at most, until that command succeeds.
await() {
	for i in $(seq 6000); do
		"$@" 2>/dev/null && return
		sleep 0.05
	done
	return 1
}

# Attaches with these options to a demo that has opened and mapped all that it will,
# which goes on then and ends.
attach_to_demo() {
	"$demo" sh -c ': >"$0/up"; while [ -d "$0" ] && [ ! -e "$0/go" ]; do sleep 0.05; done' \
		"$dir" >/dev/null 3>&- &
	target=$!
	await test -e "$dir/up"
	$how "$PEVTRACE" "$@" -p "$target" 2>"$dir/err" 3>&- &
	tracer=$!
	await grep -q "attached to process $target" "$dir/err"
	touch "$dir/go"
	wait "$tracer"
	wait "$target"
}

# Skip the test if this machine lacks what it needs: a name of tests/lib/machine.py.
needs() {
	local why
	why=$(python3 -B "$srcdir/tests/lib/machine.py" "$1") || skip "$why"
}

# One line on standard error that names pevtrace and contains $1, beside what every verb says where
# /proc/sys is hidden.
one_line_with() {
	output=$(printf '%s\n' "$output" | grep -v "/proc/sys is hidden")
	[ "$(printf '%s\n' "$output" | wc -l)" -eq 1 ] || return 1
	case $output in
	"pevtrace: "*"$1"*) ;;
	*) return 1 ;;
	esac
}

@test "the target's exit status is ours" {
	needs events
	for n in 0 1 2 77 255; do
		run "$PEVTRACE" sh -c "exit $n"
		[ "$status" -eq "$n" ]
		[ -z "$output" ]
	done
}

@test "a target that dies from a signal takes us the same way" {
	for sig in TERM KILL SEGV USR1; do
		run sh -c '"$0" sh -c "kill -$1 \$\$"; echo $?' "$PEVTRACE" "$sig"
		[ "${lines[-1]}" -eq $((128 + $(kill -l "$sig"))) ]
	done
}

@test "target's standard streams are its own" {
	needs events
	run sh -c 'echo in | "$0" -o "$1/out" sh -c "cat; echo err >&2" 2>"$1/err"' "$PEVTRACE" "$dir"
	[ "$output" = in ]
	[ "$(cat "$dir/err")" = err ]
	[ -f "$dir/out" ]
}

@test "trace and -- run a command that looks like something else" {
	run "$PEVTRACE" trace sh -c 'exit 3'
	[ "$status" -eq 3 ]
	run "$PEVTRACE" -- sh -c 'exit 4'
	[ "$status" -eq 4 ]
	mkdir "$dir/bin"
	printf '#!/bin/sh\nexit 9\n' >"$dir/bin/trace"
	chmod +x "$dir/bin/trace"
	PATH=$dir/bin:$PATH run "$PEVTRACE" -- trace
	[ "$status" -eq 9 ]
}

@test "command that cannot be run" {
	needs events
	run "$PEVTRACE" no-such-command-here
	[ "$status" -eq 2 ]
	one_line_with "cannot run 'no-such-command-here'"
	run "$PEVTRACE" /
	[ "$status" -eq 2 ]
	one_line_with "Permission denied"
	printf 'x' >"$dir/plain"
	run "$PEVTRACE" "$dir/plain"
	[ "$status" -eq 2 ]
	one_line_with "$dir/plain"
	# a mistyped command leaves older outputs as they are
	echo older | tee "$dir/text" >"$dir/dump"
	for command in no-such-command-here "$dir/no-such-file"; do
		run "$PEVTRACE" -o "$dir/text" --json="$dir/dump" "$command"
		[ "$status" -eq 2 ]
		one_line_with "cannot run '$command'"
		[ "$(cat "$dir/text" "$dir/dump")" = "older
older" ]
	done
	# a directory that an ordinary user may not search
	mkdir -m 0 "$dir/closed"
	PATH=$dir/closed:$PATH run "$PEVTRACE" -o "$dir/text" no-such-command-here
	rmdir "$dir/closed"
	[ "$status" -eq 2 ]
	one_line_with "not found in PATH"
	[ "$(cat "$dir/text")" = older ]
}

@test "in a user namespace without a mapping -o /dev/null works" {
	needs events
	unshare -U true || skip "no user namespaces"
	run unshare -U "$PEVTRACE" -o /dev/null sh -c 'echo ran'
	[ "$status" -eq 0 ]
	# the owner of /dev has no uid in this user namespace
	run unshare -U -r "$PEVTRACE" -o /dev/stdout sh -c 'echo ran'
	[ "$status" -eq 0 ]
	[ "$output" = ran ]
}

@test "pids that cannot be traced" {
	sleep 0 3>&- &
	gone=$!
	wait "$gone"
	run "$PEVTRACE" -p "$gone"
	[ "$status" -eq 2 ]
	one_line_with "$gone"
	run "$PEVTRACE" -p 0
	[ "$status" -eq 2 ]
	one_line_with "-p requires a number"
	run "$PEVTRACE" --attach 0
	[ "$status" -eq 2 ]
	one_line_with "--attach requires a number"
	run "$PEVTRACE" -p x
	[ "$status" -eq 2 ]
	one_line_with "'x'"
}

@test "a process that somebody traces already" {
	needs events
	"$PEVTRACE" -o "$dir/first" sleep 30 3>&- &
	tracer=$!
	await grep -q . "/proc/$tracer/task/$tracer/children"
	pid=$(cat "/proc/$tracer/task/$tracer/children")
	pid=${pid%% *}
	await grep -q sleep "/proc/$pid/comm"
	run "$PEVTRACE" -p "$pid"
	kill "$pid"
	wait "$tracer" || true
	[ "$status" -eq 2 ]
	one_line_with "traced"
}

@test "output that cannot be written" {
	run "$PEVTRACE" -o "$dir/no/such/dir" sh -c 'echo ran'
	[ "$status" -eq 2 ]
	one_line_with "$dir/no/such/dir"
	[[ "$output" != *ran* ]]
	[ ! -e "$dir/no" ]
}

@test "output to a pipe that nobody reads is told to wait" {
	needs events
	mkfifo "$dir/fifo"
	"$PEVTRACE" -o "$dir/fifo" sh -c '"$0" true; echo ran' "$demo" >"$dir/out" 2>"$dir/err" 3>&- &
	tracer=$!
	await grep -q "waiting for a reader of the pipe '$dir/fifo'" "$dir/err"
	[ "$(wc -l <"$dir/err")" -eq 1 ]
	[ ! -s "$dir/out" ]
	[ "$(grep -c perf_event_open "$dir/fifo")" -gt 0 ] # read to the end, unlike grep -q
	wait "$tracer"
	grep -qx ran "$dir/out"
	# with somebody there it says nothing of it
	exec 5<>"$dir/fifo"
	run "$PEVTRACE" -o "$dir/fifo" sh -c '"$0" true >"$1"' "$demo" "$dir/out"
	exec 5>&-
	[ "$status" -eq 0 ]
	[[ "$output" != *"nobody reads"* ]]
}

@test "output to a directory, and to a file system that is read only" {
	for option in -o --json=; do
		run "$PEVTRACE" "$option$dir" sh -c 'echo ran'
		[ "$status" -eq 2 ]
		one_line_with "Is a directory"
	done
	[ "$(id -u)" -eq 0 ] && unshare -m mount --version || skip "cannot mount"
	mkdir "$dir/ro"
	for option in "-o $dir/ro/t" "-ff -o $dir/ro/t" "--json=$dir/ro/t"; do
		run unshare -m sh -c "mount -t tmpfs -o ro none '$dir/ro' && exec '$PEVTRACE' $option sh -c 'echo ran'"
		[ "$status" -eq 2 ]
		one_line_with "Read-only file system"
	done
}

@test "help and version onto a full device fail with a word" {
	[ -c /dev/full ] || skip "no /dev/full"
	for words in --help --version "diff --help" "explain EINVAL" "list software"; do
		# shellcheck disable=SC2086
		run bash -c '"$0" "$@" 2>&1 >/dev/full' "$PEVTRACE" $words
		[ "$status" -eq 2 ]
		one_line_with "No space left"
	done
}

@test "the old name of a verb is answered with the new one" {
	while IFS='|' read -r old new; do
		for words in "$old" "$old --json" "help $old"; do
			# shellcheck disable=SC2086
			run "$PEVTRACE" $words
			[ "$status" -eq 2 ]
			[ "$output" = "pevtrace: $old is now $new" ]
		done
	done <<-'END'
	features|list --tried
	watch|open --side-band
	END
}

@test "closed standard streams get no file or event, and stay closed for the program" {
	for words in "list cpu-clock" "explain precise_ip" "list --tried attr"; do
		# shellcheck disable=SC2086
		run bash -c '"$0" "$@" 2>&1 >&-' "$PEVTRACE" $words
		[ "$status" -eq 2 ]
		one_line_with "Bad file descriptor"
		# shellcheck disable=SC2086
		run bash -c '"$0" "$@" <&- 2>&-' "$PEVTRACE" $words
		[ "$status" -eq 0 ]
	done
	for closed in "<&-" ">&-" "2>&-" "<&- >&- 2>&-"; do
		what='for i in 0 1 2; do [ -e /proc/self/fd/$i ] && echo $i >>'"$dir/alone"'; done; :'
		bash -c "sh -c '$what' $closed"
		bash -c "'$PEVTRACE' -o /dev/null sh -c '${what/alone/traced}' $closed"
	done
	diff "$dir/alone" "$dir/traced"
}

@test "a full disk is said once, the target still runs to its end" {
	needs events
	[ -c /dev/full ] || skip "no /dev/full"
	run "$PEVTRACE" -o /dev/full "$demo" true
	[ "$status" -eq 2 ]
	[ "$(printf '%s\n' "$output" | grep -c 'No space left')" -eq 1 ]
	[[ "$output" == *samples* ]]
}

@test "a broken pipe is said once, the target still runs to its end" {
	needs events
	# a pipe whose reader has gone before anything is written
	mkfifo "$dir/fifo"
	exec 5<>"$dir/fifo" 6>"$dir/fifo" 5>&-
	code=0
	"$PEVTRACE" -o - sh -c '"$0" true >"$1"' "$demo" "$dir/out" >&6 2>"$dir/err" || code=$?
	exec 6>&-
	[ "$code" -eq 2 ]
	[ "$(grep -c 'standard output: Broken pipe; the rest of it is lost' "$dir/err")" -eq 1 ]
	[ "$(wc -l <"$dir/err")" -eq 1 ]
	grep -q samples "$dir/out"
}

@test "help and version" {
	run "$PEVTRACE" --help
	[ "$status" -eq 0 ]
	[[ "$output" == Usage:* ]]
	run "$PEVTRACE" -V
	[ "$status" -eq 0 ]
	[[ "$output" == pevtrace\ [0-9]* ]]
}

@test "a program without perf prints nothing" {
	needs events
	run "$PEVTRACE" sh -c ': | cat; ls / >/dev/null'
	[ "$status" -eq 0 ]
	[ -z "$output" ]
}

@test "at a terminal an empty trace is explained" {
	needs events
	command -v script >/dev/null || skip "no script(1)"
	run script -qec "$PEVTRACE true" "$dir/typescript"
	one_line_with "no perf_event_open was seen: 'true' used no perf events"
	run script -qec "$PEVTRACE -q true" "$dir/typescript"
	[ -z "$output" ]
	run script -qec "$PEVTRACE -o $dir/t true" "$dir/typescript"
	[ -z "$output" ]
}

@test "the demo: opens, rings, polls, reads are shown" {
	needs events
	"$PEVTRACE" -o "$dir/t" "$demo" sleep 0.3 >/dev/null
	grep -q 'perf_event_open({type=PERF_TYPE_SOFTWARE, ' "$dir/t"
	grep -q 'mmap(NULL, [0-9]*, PROT_READ|PROT_WRITE, MAP_SHARED, [0-9]*, 0) = 0x' "$dir/t"
	grep -q 'poll(\[{fd=' "$dir/t"
	grep -q 'close(' "$dir/t"
	absent -F '...}' "$dir/t"
	# every line carries the task's number
	! grep -vqE '^[0-9]+ ' "$dir/t"
}

@test "without seccomp the same calls are shown" {
	needs events
	calls() { sed -nE 's/^[0-9]+ +([a-z_0-9]+)\(.*/\1/p' "$1" | sort | uniq -c | grep -v poll; }
	"$PEVTRACE" -o "$dir/a" "$demo" true >/dev/null
	"$PEVTRACE" --no-seccomp -o "$dir/b" "$demo" true >/dev/null
	calls "$dir/a" >"$dir/ca"
	calls "$dir/b" >"$dir/cb"
	diff "$dir/ca" "$dir/cb"
}

@test "-v shows every field, zero or not" {
	needs events
	"$PEVTRACE" -v -o "$dir/t" "$demo" true >/dev/null
	for field in sample_type read_format disabled inherit wakeup_events bp_type config1 \
		     branch_sample_type clockid sample_max_stack aux_sample_size sig_data; do
		grep perf_event_open "$dir/t" | grep -q "size=PERF_ATTR_SIZE_VER[789].*$field="
	done
}

@test "-y names events" {
	needs events
	"$PEVTRACE" -y -o "$dir/t" "$demo" true >/dev/null
	grep -qE 'ioctl\([0-9]+<[a-z-]+(:u)? cpu[0-9]+( #[0-9]+)?>, PERF_EVENT_IOC' "$dir/t"
}

@test "-e chooses calls and outcomes" {
	needs events
	"$PEVTRACE" -e trace=perf_event_open -o "$dir/t" "$demo" true >/dev/null
	[ "$(grep -c '^[0-9]* *perf_event_open(' "$dir/t")" -ge 3 ]
	only_calls perf_event_open "$dir/t"
	"$PEVTRACE" -e 'trace=!%poll,close' -o "$dir/t" "$demo" true >/dev/null
	grep -q 'ioctl(' "$dir/t"
	absent -E 'poll\(|close\(' "$dir/t"
	"$PEVTRACE" -e status=failed -o "$dir/t" "$demo" true >/dev/null
	only_calls ' = -1 E' "$dir/t"
	"$PEVTRACE" --trace=mmap --status=successful -o "$dir/t" sh -c : >/dev/null
	grep -q 'mmap(NULL, .*MAP_PRIVATE' "$dir/t"
}

@test "-c counts instead" {
	needs events
	run "$PEVTRACE" -c -o "$dir/t" "$demo" true
	[ "$status" -eq 0 ]
	grep -qE ' perf_event_open$' "$dir/t"
	grep -qE '^100\.00 .* total$' "$dir/t"
	absent 'perf_event_open(' "$dir/t"
}

@test "-ff writes a file for each task" {
	needs events
	"$PEVTRACE" -ff -o "$dir/t" "$demo" true >/dev/null
	[ "$(ls "$dir"/t.* | wc -l)" -ge 2 ]
	grep -q '^perf_event_open(' "$dir"/t.*
	[ ! -e "$dir/t" ]
}

@test "times: -t -tt -ttt -r -T" {
	needs events
	"$PEVTRACE" -t -o "$dir/t" "$demo" true >/dev/null
	grep -qE '^[0-9]+ +[0-9]{2}:[0-9]{2}:[0-9]{2} perf_event_open' "$dir/t"
	"$PEVTRACE" -tt -o "$dir/t" "$demo" true >/dev/null
	grep -qE '^[0-9]+ +[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6} perf_event_open' "$dir/t"
	before=$(date +%s)
	"$PEVTRACE" -ttt -o "$dir/t" "$demo" true >/dev/null
	at=$(sed -nE '1s/^[0-9]+ +([0-9]+)\.[0-9]{6} .*/\1/p' "$dir/t")
	[ "$at" -ge "$before" ]
	[ "$at" -le "$(date +%s)" ]
	"$PEVTRACE" -r -T -o "$dir/t" "$demo" true >/dev/null
	grep -qE '^[0-9]+ +[0-9]+\.[0-9]{6} perf_event_open.* <[0-9]+\.[0-9]{6}>$' "$dir/t"
}

@test "-k shows where a call was made" {
	needs events
	"$PEVTRACE" -k -e trace=perf_event_open -o "$dir/t" "$demo" true >/dev/null
	grep -qE '^ > .*/demo\(.*\+0x[0-9a-f]+\) \[0x[0-9a-f]+\]( demo\.c:[0-9]+)?$' "$dir/t"
	grep -q 'main+0x' "$dir/t"
}

@test "-k has the source lines that addr2line finds" {
	needs events
	# that of binutils misses what clang inlined
	tool=addr2line
	! readelf -p .comment "$demo" | grep -q clang || tool=llvm-addr2line
	command -v $tool >/dev/null && command -v nm >/dev/null || skip "no $tool or nm"
	"$PEVTRACE" -k -e trace=perf_event_open -o "$dir/t" "$demo" true >/dev/null
	grep -q 'main+0x.* demo\.c:[0-9]' "$dir/t" || skip "no debug information, or no libdw"
	main=$(nm "$demo" | sed -nE 's/^([0-9a-f]+) T main$/\1/p')
	for at in $(sed -nE 's/.*\(main\+0x([0-9a-f]+)\).*/\1/p' "$dir/t" | sort -u); do
		ip=$(sed -n "s/.*(main+0x$at) \\(\\[0x[0-9a-f]*\\]\\).*/\\1/p" "$dir/t" | head -n 1)
		# what is inlined into main there, and main
		grep -F "$ip" "$dir/t" | sed '/(main+/q' | sed -E 's/.*\] ([^ ]+).*/\1/' >"$dir/ours"
		$tool -i -s -e "$demo" "$(printf '0x%x' $((0x$main + 0x$at - 1)))" |
			sed 's/ (.*//' >"$dir/theirs"
		diff "$dir/ours" "$dir/theirs"
	done
}

# Compile standard input to $1, with the options that follow.
compile() {
	command -v "${CC:-cc}" >/dev/null || skip "no compiler"
	cat >"$1.c"
	"${CC:-cc}" -std=gnu11 -w -O2 -g "${@:2}" -o "$1" "$1.c" || skip "does not compile"
}

@test "-k names the function that a signal interrupted, and its caller's line" {
	command -v addr2line >/dev/null && command -v nm >/dev/null || skip "no binutils"
	compile "$dir/faults" <<-'END'
		#include <linux/perf_event.h>
		#include <signal.h>
		#include <string.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		static volatile int done;
		static void on_fault(int sig)
		{
			struct perf_event_attr attr = { .type = 1, .size = sizeof(attr), .config = 9 };
			for (int i = 0; i < 2; i++)	/* libunwind caches the first walk */
				syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
			_exit(0);
		}
		__attribute__((noinline)) int before(int *p) { return *p + 12; }
		__attribute__((noinline)) int victim(int *p)
		{
			int v = *p;	/* faults on the first instruction */
			__asm__ volatile("" : "+r"(v));
			return v + 1;
		}
		__attribute__((noinline)) void caller(int *p)
		{
			victim(p);
			done++;
		}
		int main(int argc, char **argv)
		{
			signal(SIGSEGV, on_fault);
			caller((int *)(long)(argc - 1));
			return done + (argc > 3 ? before(0) : 0);
		}
	END
	"$PEVTRACE" -k -e trace=perf_event_open -o "$dir/t" "$dir/faults"
	grep -q '/faults(on_fault+0x.* faults\.c:[0-9]' "$dir/t" || skip "no libdw"
	[ "$(grep -c '/faults(victim+0x0)' "$dir/t")" -eq 2 ]
	[ "$(grep -c '/faults(caller+0x' "$dir/t")" -eq 2 ]
	absent '/faults(before+' "$dir/t"
	# function, and how far before the address its instruction is
	while read -r function back; do
		start=$(nm "$dir/faults" | sed -nE "s/^([0-9a-f]+) [tT] $function$/\\1/p")
		sed -nE "s/.*\\($function\\+0x([0-9a-f]+)\\) .* faults\.c:([0-9]+)$/\\1 \\2/p" "$dir/t" >"$dir/frames"
		[ "$(wc -l <"$dir/frames")" -eq 2 ]
		while read -r at line; do
			addr2line -e "$dir/faults" "$(printf '0x%x' $((0x$start + 0x$at - back)))" |
				grep -qE "faults\.c:$line( |\$)"
		done <"$dir/frames"
	done <<<$'victim 0\ncaller 1\nmain 1'
	# a C library that has local symbols names the trampoline
	if grep -q __libc_start_call_main "$dir/t"; then
		grep -qE '\((__restore_rt|__kernel_rt_sigreturn)\+0x' "$dir/t"
	fi
}

@test "-k has no source line where only a .dwo file shows what is inlined" {
	needs events
	source='
		#include <linux/perf_event.h>
		#include <sys/syscall.h>
		#include <unistd.h>
		static inline __attribute__((always_inline)) int inner(struct perf_event_attr *attr)
		{
			return syscall(SYS_perf_event_open, attr, 0, -1, -1, 0);
		}
		__attribute__((noinline)) int outer(void)
		{
			struct perf_event_attr attr = { .type = 1, .size = sizeof(attr), .config = 9, .exclude_kernel = 1 };
			int fd = inner(&attr);
			return fd + 1;
		}
		int main(void)
		{
			return outer() < 1;
		}'
	compile "$dir/whole" <<<"$source"
	"$PEVTRACE" -k -e trace=perf_event_open -o "$dir/t" "$dir/whole"
	grep -qE '\(outer\+0x[0-9a-f]+\) .* whole\.c:12$' "$dir/t" || skip "no libdw"
	for version in 4 5; do
		compile "$dir/split" "-gdwarf-$version" -gsplit-dwarf <<<"$source"
		"$PEVTRACE" -k -e trace=perf_event_open -o "$dir/t" "$dir/split"
		grep -qE '\(outer\+0x[0-9a-f]+\) \[0x[0-9a-f]+\]$' "$dir/t"
		absent 'split\.c:' "$dir/t"
	done
}

@test "-q and -qq" {
	needs events
	run "$PEVTRACE" -qq -o "$dir/t" "$demo" true
	absent '+++ exited' "$dir/t"
	"$PEVTRACE" -q -o "$dir/t" "$demo" true >/dev/null
	grep -q '+++ exited with 0 +++' "$dir/t"
}

@test "colour only where it is wanted" {
	needs events
	"$PEVTRACE" -o "$dir/t" "$demo" true >/dev/null
	absent "$(printf '\033')" "$dir/t"
	"$PEVTRACE" --color -o "$dir/t" "$demo" true >/dev/null
	grep -q "$(printf '\033')" "$dir/t"
}

@test "-b lets go of children that run another program" {
	run "$PEVTRACE" -b execve -o "$dir/t" sh -c "'$demo' true >/dev/null & wait; exit 5"
	[ "$status" -eq 5 ]
	absent perf_event_open "$dir/t"
}

@test "attach, watch, and let go on SIGTERM with the target unharmed" {
	sh -c 'while [ ! -e "$0/stop" ]; do sleep 0.05; done; exit 7' "$dir" 3>&- &
	target=$!
	"$PEVTRACE" -o "$dir/t" -p "$target" 2>"$dir/err" 3>&- &
	tracer=$!
	await grep -q "attached to process $target" "$dir/err"
	grep -q "^TracerPid:[[:space:]]*$tracer" "/proc/$target/status"
	kill -TERM "$tracer"
	wait "$tracer"
	grep -q "^TracerPid:[[:space:]]*0" "/proc/$target/status"
	touch "$dir/stop"
	run wait "$target"
	code=0
	wait "$target" || code=$?
	[ "$code" -eq 7 ]
}

@test "attach to a program that opened its events before" {
	needs events
	how="setpriv --bounding-set=-bpf,-sys_admin" attach_to_demo -y -o "$dir/t"
	grep -qE '<event [0-9]+, opened before attach>' "$dir/t"
	grep -q '+++ exited with 0 +++' "$dir/t"
}

@test "a call that blocks is shown while it blocks" {
	perf record -e cpu-clock -o "$dir/p" true >/dev/null 2>&1 || skip "perf record does not work here"
	mkfifo "$dir/fifo"
	exec 5<>"$dir/fifo"
	# attached, as the line of an exec could come after that of poll
	head -n 1 "$dir/fifo" >/dev/null 3>&- 5>&- &
	target=$!
	"$PEVTRACE" -o "$dir/t" perf record -e cpu-clock -o "$dir/p" -p "$target" \
		>/dev/null 2>&1 3>&- 5>&- &
	tracer=$!
	for i in $(seq 6000); do
		blocked=$(tail -n 1 "$dir/t" 2>/dev/null) || :
		grep -q 'poll(\[{fd=.*\], [0-9]*, -\?[0-9]*$' <<<"$blocked" && break
		sleep 0.05
	done
	echo >&5
	wait "$tracer" # with the fifo open: the line stays there until it is read
	exec 5>&-
	# the line was there without its end, and the end came on the same line
	[[ "$blocked" == *"poll([{fd="* ]]
	[[ "$blocked" != *" = "* ]]
	grep -qF -- "$blocked" "$dir/t"
	absent -E 'poll\(.*poll\(' "$dir/t"
}

@test "-ff with more tasks than descriptors" {
	(
		ulimit -n 40
		"$PEVTRACE" -ff -o "$dir/t" -e trace=%process sh -c \
			'for i in $(seq 80); do /bin/true; done'
	)
	[ "$(ls "$dir"/t.* | wc -l)" -eq 82 ] # the shell, seq, and 80
	for file in "$dir"/t.*; do
		grep -q 'exited with 0' "$file"
	done
	run "$PEVTRACE" -ff -o "$dir/no/such/t" sh -c 'echo ran'
	[ "$status" -eq 2 ]
	one_line_with "$dir/no/such/t"
}

@test "a target that wants to trace is told of, once" {
	command -v strace >/dev/null || skip "strace is not installed"
	run "$PEVTRACE" -o "$dir/t" sh -c 'strace -o /dev/null true; strace -o /dev/null true'
	[ "$(printf '%s\n' "$output" | grep -c 'pevtrace: .*a task has one tracer')" -eq 1 ]
}

@test "a dump of an attached process gives the text again" {
	needs events
	for how in "" "setpriv --bounding-set=-bpf,-sys_admin"; do
		rm -f "$dir/up" "$dir/go"
		attach_to_demo -y --summary --json="$dir/d" -o "$dir/live"
		grep -q 'opened before attach' "$dir/live"
		"$PEVTRACE" decode -q -y --summary -o "$dir/again" "$dir/d"
		diff "$dir/live" "$dir/again"
	done
}

@test "text and dump do not go to one file" {
	run "$PEVTRACE" -o "$dir/t" --json="$dir/t" true
	[ "$status" -eq 2 ]
	one_line_with "cannot both go"
	[ ! -e "$dir/t" ]
}

@test "in the directory of another user no link of theirs is followed" {
	needs events
	[ "$(id -u)" -eq 0 ] || skip "needs another user to be attacked by"
	mkdir "$dir/home"
	echo precious >"$dir/victim"
	ln -s "$dir/victim" "$dir/home/link"
	ln "$dir/victim" "$dir/home/hard"
	: >"$dir/home/plain"
	chown -h 65534 "$dir/home" "$dir/home/link" "$dir/home/plain" || skip "cannot chown"
	for name in link hard; do
		run timeout 300 "$PEVTRACE" -o "$dir/home/$name" "$demo"
		[ "$status" -eq 2 ]
		one_line_with "belongs to another user"
	done
	[ "$(cat "$dir/victim")" = precious ]
	# the owner's own plain file, as with sudo, and a new one
	for name in plain new; do
		run "$PEVTRACE" -o "$dir/home/$name" "$demo"
		[ "$status" -eq 0 ]
		[ -s "$dir/home/$name" ]
	done
}

@test "a limit of open files that is too low for BPF programs is named" {
	"$PEVTRACE" --engine=bpf -o "$dir/t" true || skip "no BPF programs can be loaded here"
	for n in 16 18 20 26 32; do
		# shellcheck disable=SC3045 # dash and bash have ulimit -n
		run sh -c 'ulimit -n "$1" && exec "$2" --engine=bpf -o "$3" true' sh "$n" "$PEVTRACE" "$dir/t"
		[ "$status" -eq 2 ]
		one_line_with "raise the limit of open files"
		case $output in *Linux*) false ;; esac
	done
}

@test "a stack of 64 KiB suffices" {
	needs events
	"$PEVTRACE" --json="$dir/dump" -o "$dir/text" "$demo"
	for args in "$demo" "conform --self" "conform --no-behaviour" "why --once -e cpu-clock:u" \
	    "why -e cpu-clock:u" "explain $dir/dump" "report -o $dir/page $dir/dump" \
	    "diff $dir/dump $dir/dump" "codegen $dir/dump" "decode -v $dir/dump" \
	    "open -e cpu-clock:u true"; do
		run sh -c "ulimit -s 64; exec \"\$0\" $args >/dev/null" "$PEVTRACE"
		[ "$status" -lt 128 ] || { echo "$args: $status"; false; }
	done
}

@test "beyond a file size limit all verbs end with a message, and leave nothing" {
	needs events
	"$PEVTRACE" --json="$dir/dump" -o "$dir/text" "$demo"
	export TMPDIR="$dir/tmp"
	mkdir "$TMPDIR"
	for args in "conform --self" "conform --claim=record_mmap2" "learn counting" \
	    "explain $dir/dump" "diff $dir/dump $dir/text" "list --tried call"; do
		run sh -c "ulimit -f 0; exec \"\$0\" $args 2>&1 >\"$dir/out\" | cat" "$PEVTRACE"
		[[ "$output" == *"pevtrace: "* ]] || { echo "$args: $output"; false; }
	done
	[ -z "$(ls "$TMPDIR")" ]
	# the limit's signal is as before in what is run
	run "$PEVTRACE" open -q -e cpu-clock:u sh -c 'kill -s XFSZ $$'
	[[ "$output" != *"exited"* ]]
	[ "$status" -ne 0 ]
}

@test "too little memory for a trace is a message, not a crash" {
	! nm "$PEVTRACE" 2>/dev/null | grep -q __asan_init || skip "ASan reserves terabytes"
	for kib in $(seq 6000 100 10000); do
		run sh -c "ulimit -v $kib; exec \"\$0\" -o /dev/null \"\$1\"" "$PEVTRACE" "$demo"
		[ "$status" -ne 139 ] || { echo "$kib KiB: $status"; false; }
	done
}

@test "a process named twice, or by its threads, is attached to once" {
	mkfifo "$dir/hold"
	python3 -c '
import os, sys, threading
t = threading.Thread(target=sys.stdin.read)
t.start()
print(os.getpid(), t.native_id, flush=True)
t.join()' <"$dir/hold" >"$dir/ids" 3>&- &
	exec 9>"$dir/hold"
	await test -s "$dir/ids"
	read -r pid tid <"$dir/ids"
	"$PEVTRACE" -o "$dir/t" -p "$pid,$tid" -p "$pid" 2>"$dir/err" 3>&- 9>&- &
	tracer=$!
	await grep -q "$tid is a thread of process $pid" "$dir/err"
	exec 9>&-
	wait "$tracer"
	! grep -q "cannot attach" "$dir/err"
	[ "$(grep "attached to" "$dir/err")" = "pevtrace: attached to process $pid" ]
}

@test "a library is loaded only when it is needed; if it is missing, it is named" {
	needs events
	ldd "$PEVTRACE" | grep -q libseccomp || skip "linked statically"
	! ldd "$PEVTRACE" | grep -q libunwind || skip "built with --disable-late-loading"
	for library in libdw.so.1 libelf.so.1 libbpf.so.1 liblzma.so.5 libz.so.1 libunwind.so.8; do
		: >"$dir/$library"
	done
	export LD_LIBRARY_PATH=$dir
	"$PEVTRACE" -k -o "$dir/t" "$demo" 2>"$dir/err"
	[ "$(grep -c "cannot load a library: .*/libunwind.so.8: file too short; install" "$dir/err")" -eq 1 ]
	printf '\037\213' >"$dir/page.gz"
	run "$PEVTRACE" conform --man="$dir/page.gz"
	[ "$status" -eq 2 ]
	[[ "$output" == *"cannot load a library: "*"libz.so.1: file too short; install"* ]]
}
