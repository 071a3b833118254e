#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hardware counters, on a kernel under test: what pevtrace says of them is held against
perf stat, perf report -D, read(2), and the known number of instructions of a loop."""

import functools
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "lib")]
import records
import ringparse as rp
import straceparse as sp

TESTS = os.path.join(os.environ.get("PEVTRACE_TARGETS", "tests/targets"), "..")
PMU = os.path.join(TESTS, "kernels/pmu")
ROUNDS = 2000000
PER_ROUND = 2			# instructions
STARTS = 100			# by which starts of a program differ: lengths of strings, addresses
# for events that take turns: riscv64 has twice the counters, and instructions take half the time
TURNS = 80000000 if os.uname().machine == "riscv64" else 20000000
NAME = {"aarch64": "armv8_pmuv3", "riscv64": "cpu"}.get(os.uname().machine, "cpu")

def loop(n=ROUNDS):
	return [PMU, "loop", str(n)]

def output(argv):
	r = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
			   stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
	return r.stdout

def opened(events, command, options=()):
	"""Return the lines of pevtrace open as (count or None, event, remark)."""
	words = [w for e in events for w in ("-e", e)]
	text = output([rp.PEVTRACE, "open", "-q", *options, *words, *command])
	return [(None if m[1].startswith("<") else int(m[1]), m[2], m[3] or "") for m in
		re.finditer(r"^ +(\d+|<not \w+>)  (\S+)(?: /\* (.*) \*/)?$", text, re.M)]

def stat(events, command):
	"""Return what perf stat counts, as (count or None, share of the time in %)."""
	words = [w for e in events for w in ("-e", e)]
	found = []
	for line in output([rp.PERF, "stat", "-x,", *words, *command]).splitlines():
		f = line.split(",")
		if len(f) > 4 and re.fullmatch(r"\d+|<not \w+>", f[0]):
			found.append((int(f[0]) if f[0].isdigit() else None, float(f[4] or 0)))
	return found

def too_many():
	"""Return some more events than there are counters."""
	alone = opened(["instructions:uD"] * 40, loop())
	return ["instructions:u"] * (sum(n is not None for n, *_ in alone) + 4)

def near(counts, want):
	return all(n is not None and abs(n - want) < starts() for n in counts)

@functools.lru_cache
def starts():
	"""By how much counts may differ: some emulators count the kernel's instructions, too."""
	kernel = stat(["instructions:k"], loop())[0][0]
	if kernel and kernel > PER_ROUND * ROUNDS:
		print("# instructions are counted in all modes")
		return ROUNDS // 20
	return STARTS

@functools.lru_cache
def counts_alike():
	"""Return what events of one kind count at once if that differs, else "": qemu's RISC-V counts
	an event in the counter only that was last set up for it."""
	same = [int(n) for n in output([PMU, "same", "3"]).split()]
	good = len(same) == 3 and max(same) - min(same) < min(same) / 10
	return "" if good else "three of one kind count %s" % same

def counts(tap):
	"""Both grow by the instructions that the loop has more."""
	events = ["cycles:u", "instructions:u"]
	short, long = opened(events, loop()), opened(events, loop(2 * ROUNDS))
	base, more = stat(events, loop()), stat(events, loop(2 * ROUNDS))
	ours = [b[0] - a[0] for a, b in zip(short, long)]
	theirs = [b[0] - a[0] for a, b in zip(base, more)]
	tap.ok(near(ours[1:] + theirs[1:], PER_ROUND * ROUNDS),
	       "pevtrace open and perf stat count the instructions of a loop", [ours, theirs])
	tap.ok(ours and theirs and abs(ours[0] - theirs[0]) <= max(ours[0] / 100, starts()),
	       "pevtrace open and perf stat count the same cycles", [ours, theirs])
	run = rp.Run([], [rp.PERF, "stat", "-x,", "-e", "cycles:u,instructions:u", *loop()])
	read = [sp.number(c.arg(1).get("value")) for c in run.calls
		if c.name == "read" and c.arg(1) and c.arg(1).get("value")]
	told = [int(n) for n in re.findall(r"^(\d+),", run.err, re.M)]
	tap.ok(told and read == told, "the counts that perf stat reads are shown", [read, run.err])

def groups(tap):
	got = opened(["{cycles:u,page-faults:u,instructions:u}"], loop())
	alone = opened(["instructions:u"], loop())
	tap.ok(len(got) == 3 and near([got[2][0]], alone[0][0]) and got[1][0] > 0 and not got[2][2],
	       "a group of hardware and software events counts as one does alone", [got, alone])
	got = opened(["{page-faults:u,instructions:u}"], loop())
	tap.ok(len(got) == 2 and near([got[1][0]], alone[0][0]),
	       "a hardware event joins a software leader", [got, alone])
	out = output([rp.PEVTRACE, "open", "-e", "{instructions:u,cycles:ue}", *loop()])
	tap.ok("EINVAL" in out and "rule group_pinned" in out, "an exclusive member is refused", [out])

def raw(tap):
	formats = "/sys/bus/event_source/devices/%s/format" % NAME
	want = opened(["instructions:u"], loop())
	codes = {"aarch64": ["r8:u", NAME + "/event=8/u", NAME + "/inst_retired/u",
			     NAME + "/event=0x11/u"]}.get(os.uname().machine)
	if not codes or not os.path.isdir(formats):
		tap.skip("raw events", "not known for this PMU")
		return
	got = opened(codes, loop())
	cycles = opened(["cycles:u"], loop())
	tap.ok(near([g[0] for g in got[:3]], want[0][0]) and
	       abs(got[3][0] - cycles[0][0]) < cycles[0][0] / 1000,
	       "raw events, terms of format/ and names of events/ count the same", [got, want])
	theirs = stat(codes[:3], loop())
	run = rp.Run([], [rp.PERF, "stat", "-e", codes[3], *loop()])
	shown = [c for c in run.calls if c.name == "perf_event_open" and not c.failed]
	tap.ok(near([t[0] for t in theirs], theirs[0][0]) and "0x11" in shown[-1].line and
	       (NAME in shown[-1].line or "PERF_TYPE_RAW" in shown[-1].line),
	       "perf's raw events have the PMU's name and config", [theirs, shown[-1].line])

def times(run):
	"""Return the shares of the time that reads of the run return, in percent."""
	found = []
	for c in run.calls:
		v = c.arg(1) if c.name == "read" else None
		if v and v.get("time_running"):
			found.append(100 * sp.number(v.get("time_running")) /
				     sp.number(v.get("time_enabled")))
	return found

def multiplexed(tap):
	"""More events than counters: scaled by pevtrace as by perf, and explained."""
	events = too_many()
	command = [rp.PERF, "stat", "-x,", *[w for e in events for w in ("-e", e)], *loop(TURNS)]
	run = rp.Run([], command)
	told = [float(line.split(",")[4]) for line in run.err.splitlines() if line.count(",") > 4]
	shown = times(run)
	tap.ok(len(told) == len(events) and min(told) < 90 and len(shown) == len(told) and
	       all(0 <= b - a < 1 for a, b in zip(told, shown)),
	       "multiplexed events: the shares that perf tells are those of the reads shown",
	       [told, shown])
	got = opened(events, loop(TURNS))
	scaled = [g for g in got if "scaled: on the PMU for" in g[2]]
	tap.ok(len(scaled) == len(events),
	       "pevtrace open says for which share events counted", got)
	if counts_alike():
		tap.skip("pevtrace open scales counts", counts_alike())
	else:
		tap.ok(all(abs(g[0] - PER_ROUND * TURNS) < PER_ROUND * TURNS / 10 for g in scaled),
		       "pevtrace open scales counts", got)
	text = " ".join(output([rp.PEVTRACE, "--explain", *command]).split())
	shares = re.search(r"They took turns on the PMU, as together they need more counters than "
			   r"were free; .*?: (.*?) of the time\. ", text)
	tap.ok(shares and len(re.findall(r"fd \d+ for (\d+\.\d) %", shares.group(0))) ==
	       len(events), "--explain says how much was multiplexed, and why", [text[-3000:]])
	if sp.has_bpf(rp.PEVTRACE):
		tap.ok(re.search(r"When the first of them was read, events of the PMU were held by "
				 r"perf\[\d+\] \(%s.* and %d more\)" % (events[0], len(events) - 1), text),
		       "--explain says who held events of the PMU", [text[-3000:]])

def ps(tap):
	events = too_many()
	if os.getuid() or not sp.has_bpf(rp.PEVTRACE):
		tap.skip("pevtrace ps", "requires root and the BPF programs")
		return
	words = [w for e in events for w in ("-e", e)]
	with subprocess.Popen([rp.PERF, "stat", "-x,", *words, *loop(50 * TURNS)],
			      stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as target:
		for _ in range(50):
			text = output([rp.PEVTRACE, "ps", "-p", str(target.pid)])
			shares = [int(n) for n in re.findall(r"enabled +\S+ +(\d+)%", text)]
			if len(shares) == len(events) and all(0 < s < 100 for s in shares):
				break
		target.terminate()
	tap.ok(len(shares) == len(events) and all(0 < s < 100 for s in shares),
	       "pevtrace ps shows the shares of multiplexed events", [text])

def pinned(tap):
	events = [e + "D" for e in too_many()]
	got, theirs = opened(events, loop()), stat(events, loop())
	tap.ok([g[0] is None for g in got] == [t[0] is None for t in theirs] and
	       any(g[0] is None for g in got) and got[0][0],
	       "pinned events without a counter: not counted, as perf says", [got, theirs])
	run = rp.Run([], [PMU, "pinned", str(len(events))])
	ends = [c.line for c in run.calls if c.name == "read" and c.ret == 0]
	lost = sum(t[0] is None for t in theirs)
	tap.ok(run.out == "%d of %d in error state\n" % (lost, len(events)) and
	       len(ends) == lost and all("event in error state: pinned" in e for e in ends),
	       "the read of an event in error state says so", [run.out, *ends])

def exclusive(tap):
	got = opened(["instructions:ue", "cycles:u"], loop(TURNS))
	tap.ok(len(got) == 2 and all("scaled: on the PMU for" in g[2] for g in got),
	       "an exclusive event and another take turns", got)

def sampled(tap, tmp):
	rp.BUSY = loop()
	for name, options, period in (
			("cycles", ["-e", "cycles", "-c", "100000"], 100000),
			("cycles:u -F", ["-e", "cycles:u", "-F", "2000"], None),
			("cycles -g", ["-e", "cycles", "-F", "997", "--call-graph", "fp"], None)):
		run, data = records.record(tap, tmp, options, "record " + name)
		if run:
			records.compare(tap, "record " + name, run, data, period)

def adapts(tap):
	"""The kernel adapts the period until samples are 1/frequency apart.

	It begins with 1, and each adjustment goes an eighth of the way (perf_adjust_period()).  An
	emulator may miss an overflow after one cycle: then the first sample has had an adjustment.
	"""
	text = output([rp.PEVTRACE, "open", "-q", "-e", "cycles:u,sample_freq=1000", "--mmap=8",
		       *loop(TURNS)])
	found = [(int(t), int(p)) for t, p in
		 re.findall(r"PERF_RECORD_SAMPLE.* time=(\d+), period=(\d+)", text)]
	# the median: another task may run in between
	gaps = sorted((b[0] - a[0]) / 1e6 for a, b in zip(found[-21:], found[-20:]))
	first = [p for _, p in found[:8]]
	tap.ok(len(found) > 30 and first == sorted(first) and first[0] < found[-1][1] / 6 and
	       0.5 < gaps[len(gaps) // 2] < 1.5,
	       "frequency mode: periods grow until samples are a millisecond apart",
	       [found[:9], found[-1], gaps])

def throttled(tap, tmp):
	path = "/proc/sys/kernel/perf_event_max_sample_rate"
	if not os.access(path, os.W_OK):
		tap.skip("throttled events", "cannot write " + path)
		return
	with open(path) as f:
		before = f.read()
	with open(path, "w") as f:
		f.write("2000")
	try:
		rp.BUSY = loop()
		run, data = records.record(tap, tmp, ["-e", "cycles:u", "-c", "5000"], "throttled")
		if not run:
			return
		theirs, _ = records.compare(tap, "throttled", run, data, 5000)
		n = records.by_type(theirs)
		tap.ok(n.get("THROTTLE", 0) > 1, "THROTTLE is written and shown (%s)" %
		       n.get("THROTTLE"), [n])
		# RISC-V's driver starts a throttled counter again itself, without a record
		alone = output([PMU, "samples", str(ROUNDS), "5000"]).strip()
		if " unthrottle=0" in alone and " throttle=0" not in alone:
			tap.skip("UNTHROTTLE", "the kernel writes none: " + alone)
		else:
			tap.ok(n.get("UNTHROTTLE", 0) > 0, "UNTHROTTLE is written and shown (%s)" %
			       n.get("UNTHROTTLE"), [n, alone])
	finally:
		with open(path, "w") as f:
			f.write(before)

def in_user_space(tap):
	"""A counter that is read without a system call is that of read(2)."""
	try:
		with open("/proc/sys/kernel/perf_user_access", "w") as f:
			f.write("1")
	except OSError:
		tap.skip("counters read in user space", "no kernel.perf_user_access")
		return
	# arm64: bit 1 of config1 requests it, bit 0 a counter of 64 bits
	for config1 in ("2", "3") if os.uname().machine == "aarch64" else ("0",):
		out = output([PMU, "user", "1000", config1])
		tap.ok("wrong=0" in out, "config1=%s: user space reads what read(2) returns (%s)" %
		       (config1, out.strip()), [out])

def cost(tap):
	"""A call beside an event costs what the second filter costs, not a stop."""
	command = [PMU, "getppid", "20000", "e"]
	native = min(int(output(command)) for _ in range(3))
	beside = min(int(output([rp.PEVTRACE, "-o", "/dev/null", *command])) for _ in range(3))
	print("# getppid beside an event: %d ns, traced %d ns" % (native, beside))
	tap.ok(beside < 3 * native, "getppid beside an event costs no stop", [native, beside])

def doubts(event, mode):
	"""Return how pevtrace why --once judges what such events need, under counters.so in that mode."""
	env = dict(os.environ)
	if mode:
		env.update(COUNTERS=mode, LD_PRELOAD=os.path.join(TESTS, "handicap/counters.so"))
	r = subprocess.run([rp.PEVTRACE, "why", "--once", "--json", "-e", event], env=env, text=True,
			   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=300, check=False)
	i = json.loads(r.stdout).get("instrument", {})
	return i.get("name"), i.get("verdict"), i.get("words", "")

def instruments(tap):
	"""Counters that stay 0, freeze, are absurd or never interrupt are told from those that work."""
	samples = "cycles:u,sample_period=100000"
	for event in ("instructions:u", samples):
		got = doubts(event, None)
		tap.ok(got[0] is None, event + " works", got)
	for mode, event, want, words in (
			("zero", "instructions:u", ("hardware", "dead"), "do not advance"),
			("frozen", "instructions:u", ("hardware", "implausible"), "counts 0 instr"),
			("absurd", "instructions:u", ("hardware", "implausible"), " instructions where"),
			("silent", "instructions:u", (None, None), ""),
			("silent", samples, ("hardware.samples", "dead"), "do not interrupt")):
		got = doubts(event, mode)
		tap.ok(got[:2] == want and words in got[2], "%s counters: %s" % (mode, got[:2]), got)
	env = dict(os.environ, COUNTERS="zero", LD_PRELOAD=os.path.join(TESTS, "handicap/counters.so"))
	for argv, want in ((["list", "--tried", "PERF_COUNT_HW_INSTRUCTIONS"], r"_INSTRUCTIONS +dead"),
			   (["open", "-q", "-e", "instructions:u", *loop()], "do not advance")):
		r = subprocess.run([rp.PEVTRACE, *argv], env=env, stdin=subprocess.DEVNULL, text=True,
				   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
		tap.ok(re.search(want, r.stdout), "zero counters: pevtrace %s says so" % argv[0],
		       [r.stdout])

def main():
	tap = sp.Tap()
	if not any(n for n, *_ in opened(["cycles:u"], loop())):
		sp.skip_all("no hardware counters")
	with tempfile.TemporaryDirectory() as tmp:
		for test in (counts, groups, raw, multiplexed, ps, pinned, exclusive, adapts,
			     in_user_space, cost, instruments):
			test(tap)
		sampled(tap, tmp)
		throttled(tap, tmp)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
