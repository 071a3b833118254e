#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# How long does it take to decode a dump of a million calls, and to compare two, in
# how much memory, and how long does jq take to read the same file?
#
# usage: dump.sh [CALLS]	1000000 unless told; in the build directory
#
# The dump is one of a small program; its calls are repeated, with times that
# rise.  RUNS: 3
#
# The dump is compared with one that is made in the same way of another run: its
# pids, times and addresses are others, and nothing differs.  That reads two
# dumps, and should take no more than three times as long as to decode one.
#
# To see whether memory grows with the dump, a tenth of it is decoded, too.

set -eu
LC_ALL=C
export LC_ALL
calls=${1:-1000000} runs=${RUNS:-3}
builddir=$(cd "${builddir:-.}" && pwd)
pevtrace=${PEVTRACE:-$builddir/pevtrace}
attrs=${PEVTRACE_TARGETS:-$builddir/tests/targets}/attrs

trouble() {
	echo "bench/dump.sh: $*" >&2
	exit 2
}

[ -x "$pevtrace" ] || trouble "$pevtrace is not there: run make first"
[ -x "$attrs" ] || trouble "$attrs is not there: run make check TESTS=decode first"
for need in jq python3 hyperfine time; do
	env which $need >/dev/null || trouble "$need is not installed: apt-get install $need"
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

"$pevtrace" -o /dev/null --json="$tmp/seed" "$attrs" ioctl >/dev/null

# make CALLS FILE: the calls of the seed in turn until there are so many
make() {
	python3 - "$tmp/seed" "$1" >"$2" <<'EOF'
import json, re, sys
lines = open(sys.argv[1]).read().splitlines()
want = int(sys.argv[2])
kinds = [json.loads(line)["kind"] for line in lines]
calls = [line for line, kind in zip(lines, kinds) if kind == "call"]
first = kinds.index("call")
last = max(i for i, kind in enumerate(kinds) if kind == "call")
out = sys.stdout.write
for line in lines[:first]:
    out(line + "\n")
for line, kind in zip(lines[first:last], kinds[first:last]):
    if kind == "name":
        out(line + "\n")
now = [json.loads(calls[-1])["exit_ns"]]
def later(m):
    now[0] += 100
    return m.group(1) + str(now[0])
times = re.compile(r'("(?:enter|start|exit)_ns":)\d+')
for n in range(want):
    out(times.sub(later, calls[n % len(calls)]) + "\n")
for line in lines[last + 1:]:
    o = json.loads(line)
    if "ns" in o:
        now[0] += 100
        o["ns"] = now[0]
    if o["kind"] == "end":
        o["calls"] = want
    out(json.dumps(o, separators=(",", ":")) + "\n")
EOF
}

# peak COMMAND...: its largest resident size in MB.  time is small itself: what
# starts a program counts as that program's size at first.
peak() {
	env time -f %M -o "$tmp/peak" -- "$@" >/dev/null
	awk '{ printf "%.1f", $1 / 1024 }' "$tmp/peak"
}

make "$calls" "$tmp/dump"
make "$((calls / 10))" "$tmp/tenth"
# another run of the same
"$pevtrace" -o /dev/null --json="$tmp/seed" "$attrs" ioctl >/dev/null
make "$calls" "$tmp/other"
make "$((calls / 10))" "$tmp/othertenth"
"$pevtrace" diff "$tmp/dump" "$tmp/other" >/dev/null ||
	trouble "two dumps of the same calls differ: pevtrace diff says in what"
echo "$(uname -srm), $(nproc) CPUs, $("$pevtrace" --version | head -n 1), $(jq --version)"
echo "$calls calls, $(($(wc -c <"$tmp/dump") / 1048576)) MiB"

hyperfine -N --style none --warmup 0 --runs "$runs" --export-csv "$tmp/csv" \
	-n "pevtrace decode" "$pevtrace decode -o /dev/null $tmp/dump" \
	-n "pevtrace decode -c" "$pevtrace decode -c -o /dev/null $tmp/dump" \
	-n "pevtrace decode --json" "$pevtrace decode -o /dev/null --json $tmp/dump" \
	-n "pevtrace diff" "$pevtrace diff $tmp/dump $tmp/other" \
	-n "jq -c ." "jq -c . $tmp/dump" >"$tmp/log" 2>&1 || {
	cat "$tmp/log"
	exit 1
}
awk -F, -v calls="$calls" '
NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
{
	least[$1] = $at["min"]
	printf "  %-24s %7.2f s  %6.2f us a call, spread %.0f%%\n", $1,
		$at["median"], 1e6 * $at["median"] / calls,
		100 * ($at["max"] - $at["min"]) / $at["median"]
}
END {
	printf "  diff of two is %.2f times decode of one, by the shortest of each\n",
		least["pevtrace diff"] / least["pevtrace decode"]
}' "$tmp/csv"

echo "peak memory, MB:         all     a tenth"
printf '  %-20s %7s  %7s\n' \
	"pevtrace decode" "$(peak "$pevtrace" decode -o /dev/null "$tmp/dump")" \
	"$(peak "$pevtrace" decode -o /dev/null "$tmp/tenth")" \
	"pevtrace decode -c" "$(peak "$pevtrace" decode -c -o /dev/null "$tmp/dump")" \
	"$(peak "$pevtrace" decode -c -o /dev/null "$tmp/tenth")" \
	"pevtrace diff" "$(peak "$pevtrace" diff "$tmp/dump" "$tmp/other")" \
	"$(peak "$pevtrace" diff "$tmp/tenth" "$tmp/othertenth")" \
	"jq -c ." "$(peak jq -c . "$tmp/dump")" "$(peak jq -c . "$tmp/tenth")"
