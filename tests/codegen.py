#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace codegen: programs that make the calls of a dump.

Each program is compiled with gcc and clang, all warnings being errors, and run
under pevtrace: its trace must be the same as the dump.  That alone could hide
what both the dump and diff leave out, so attrs are also compared byte by byte
as the kernel got them, and counts and numbers of records with those of perf on
a command that does the same each time.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from programs import dump, objects, run_bytes
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE") or shutil.which("pevtrace")
TARGETS = os.environ.get("PEVTRACE_TARGETS", "tests/targets")
PERF = shutil.which("perf")
COMPILERS = ("gcc", "clang")
FLAGS = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"]
# what perf does: its arguments, how many events it opens for good on two CPUs or
# more, whether it needs root, and what the program is to run
ROUNDS = (
	("stat, two events", ["stat", "-e", "task-clock,page-faults", "true"], 2, False),
	("stat, the usual events", ["stat", "true"], 4, False),
	("stat, a group", ["stat", "-e", "{task-clock,page-faults},cs", "true"], 3, False),
	("stat again and again", ["stat", "-I", "20", "-e", "task-clock", "sleep", "0.1"],
	 1, False),
	("stat after a delay", ["stat", "-D", "30", "-e", "task-clock", "sleep", "0.1"],
	 1, False),
	("stat -a", ["stat", "-a", "-e", "cpu-clock,cs", "sleep", "0.1"], 4, True),
	("stat -C 0", ["stat", "-C", "0", "-e", "cs,page-faults", "sleep", "0.1"], 2, True),
	("record", ["record", "-o", "@", "-e", "cpu-clock", "true"], 2, False),
	("record --call-graph fp", ["record", "-o", "@", "-e", "cpu-clock", "--call-graph",
				    "fp", "true"], 2, False),
	("record, a group", ["record", "-o", "@", "-e", "{cpu-clock,task-clock,dummy}:S",
			     "true"], 4, False),
	("record -a", ["record", "-o", "@", "-a", "-e", "cpu-clock", "sleep", "0.1"], 4, True),
	("record -C 0", ["record", "-o", "@", "-C", "0", "-e", "cpu-clock", "sleep", "0.1"],
	 1, True),
	("record --overwrite", ["record", "--overwrite", "-o", "@", "-a", "-e", "cpu-clock",
				"sleep", "0.1"], 4, True),
	("record, breakpoints", ["record", "-o", "@", "-e", "mem:0x1000:rw,mem:0x2000:x",
				 "true"], 2, False),
	("record, tracepoints", ["record", "-o", "@", "-e",
				 "sched:sched_switch,sched:sched_wakeup", "true"], 4, True),
)
# cases of tests/targets/attrs whose calls a program can all make
CASES = ("size0", "size-small", "size-odd", "size-beyond", "big-zero", "big-dirty", "edge",
	 "sample-type", "read-format", "branch", "fields", "all", "unions", "precise",
	 "clockid", "regs", "hw", "sw", "cache", "types", "uprobe", "breakpoint", "flags",
	 "group", "filter", "modify", "prctl", "mmap", "poll", "wakeup", "select", "epoll",
	 "read")

# What cannot stand in a comment or a string as it is.
NASTY = "*/ \" ' \\ ??/ ??) /* %d %n\n\t\\n $(x) end\\"

FILTER = r"""
import ctypes, fcntl, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
attr = struct.pack("IIQQ", 2, 128, int(sys.argv[1]), 0).ljust(128, bytes(1))
fd = libc.syscall(298, attr, 0, -1, -1, 8)
for text in sys.argv[2:]:
    libc.ioctl(fd, 0x40082406, os.fsencode(text))
"""

# Sets each kind of owner of a software event; the process leads its group.
OWNERS = r"""
import ctypes, fcntl, os, struct
libc = ctypes.CDLL(None, use_errno=True)
attr = struct.pack("IIQQQQQQ", 1, 128, 9, 0, 0, 0, 1 << 5, 0).ljust(128, bytes(1))
fd = libc.syscall(298, attr, 0, -1, -1, 8)
os.setpgid(0, 0)
for kind in range(3):
    fcntl.fcntl(fd, 15, struct.pack("ii", kind, os.getpid()))
"""

def run(*args, **more):
	"""Run a command; one that does not end has the status -1."""
	try:
		return run_bytes(*args, **more)
	except subprocess.TimeoutExpired as e:
		return subprocess.CompletedProcess(args, -1, b"", str(e).encode())

def codegen(*args, data=None):
	return run_bytes(PEVTRACE, "codegen", *args, input=data or b"")

def attrs(path):
	"""Return the bytes of each attr passed to perf_event_open, in order."""
	got = []
	for line in objects(path):
		if line["kind"] != "call" or line["call"] != "perf_event_open":
			continue
		first = [m["hex"] for m in line["memory"] if m["at"] == "enter" and
			 m["addr"] == line["raw"][0]]
		got.append(first[0] if first else None)
	return got

def build(cc, source, program, *flags):
	return run(cc, *FLAGS, *flags, "-o", program, source)

class Round:
	"""A dump, the program made of it, and what its trace says."""
	count = 0

	def __init__(self, base, path, command, options=()):
		self.base, self.path, self.command = base, path, command
		self.options = list(options)
		self.source = base + ".c"
		self.made = codegen("-o", self.source, *self.options, path)

	def with_compiler(self, cc):
		"""Return None on success, otherwise what went wrong."""
		program, again = self.base + "." + cc, self.base + "." + cc + ".json"
		r = build(cc, self.source, program)
		if r.returncode:
			return r.stderr.decode()
		self.run = dump(again, program, *self.command)
		if self.run.returncode:
			return "status %d\n%s" % (self.run.returncode, self.run.stderr.decode())
		options = [] if "--all" in self.options else ["--no-probes"]
		r = run(PEVTRACE, "diff", *options, self.path, again)
		if r.returncode or r.stdout or r.stderr:
			return r.stdout.decode() + r.stderr.decode()
		self.again = again
		return None

	def all_compilers(self, tap, name):
		Round.count += 1
		for cc in sp.sample(COMPILERS, 2, Round.count):
			if not shutil.which(cc):
				tap.skip("%s with %s" % (name, cc), "there is no %s here" % cc)
				continue
			why = self.with_compiler(cc)
			tap.ok(self.made.returncode == 0 and not self.made.stderr and not why,
			       "%s, compiled with %s, is the same" % (name, cc),
			       [self.made.stderr.decode(), why])

def kept_opens(path):
	r = run(PEVTRACE, "diff", "--normalize", "--no-probes", path)
	return r.stdout.decode().count(" perf_event_open ")

def command_of(args):
	"""Return the command that perf runs."""
	return args[-1:] if args[-1] == "true" else args[-2:]

def rounds(tap, tmp):
	for i, (name, args, least, root) in enumerate(ROUNDS):
		if root and os.geteuid():
			tap.skip("perf " + name, "needs root")
			continue
		base = os.path.join(tmp, "round%d" % i)
		dump(base, PERF, *[base + ".data" if a == "@" else a for a in args])
		n = kept_opens(base)
		tap.ok(n >= (least if os.cpu_count() > 1 else 1),
		       "perf %s opens %d events" % (name, n))
		Round(base, base, command_of(args)).all_compilers(tap, "perf " + name)
		if i in (0, 7):
			Round(base + "-all", base, command_of(args), ["--all"]).all_compilers(
				tap, "perf %s with its probes" % name)

def cases(tap, tmp):
	"""Compare attrs of all kinds byte by byte; calls that failed fail again."""
	target = os.path.join(TARGETS, "attrs")
	for n, case in enumerate(CASES):
		base = os.path.join(tmp, case)
		dump(base, target, case)
		if case != "mmap" and not attrs(base):
			tap.skip("attrs " + case, "this machine cannot do it")
			continue
		r = Round(base, base, [], ["--all"])
		for cc in sp.sample(COMPILERS, 2, n):
			if not shutil.which(cc):
				tap.skip("attrs %s with %s" % (case, cc), "there is no " + cc)
				continue
			why = r.with_compiler(cc)
			# the path of an uprobe is passed as an address, which differs
			bytes_same = not why and (case == "uprobe" or
						  attrs(base) == attrs(r.again))
			tap.ok(bytes_same and not r.made.returncode,
			       "attrs %s, with %s: the same, %d attrs byte by byte"
			       % (case, cc, len(attrs(base))),
			       [r.made.stderr.decode(), why])

def program_of(base, args, *flags):
	"""Compile the program generated from a perf run."""
	cc = next((c for c in COMPILERS if shutil.which(c)), None)
	dump(base, PERF, *args)
	codegen("-o", base + ".c", base)
	if cc and not build(cc, base + ".c", base + ".out", *flags).returncode:
		return base + ".out"
	return None

def counts(tap, tmp):
	"""perf and the program count and record the same on the same command."""
	busy = ["sh", "-c", "i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo; done"]
	event = "raw_syscalls:sys_enter"
	stat = ["stat", "-x,", "-e", event + ",page-faults", "--"] + busy
	base = os.path.join(tmp, "counts")
	theirs = run(PERF, *stat).stderr.decode()
	theirs = {w[2]: int(w[0]) for w in (l.split(",") for l in theirs.splitlines())
		  if len(w) > 2}
	program = program_of(base, stat)
	with open(base + ".c", encoding="utf-8") as f:
		source = f.read()
	number = run("cat", "/sys/kernel/tracing/events/raw_syscalls/sys_enter/id").stdout.decode()
	tap.ok("/raw_syscalls/sys_enter/id\")" in source and ".config = " + number.strip() not in source,
	       "it reads a tracepoint's id, which differs between machines", [source])
	r = run(program, *busy)
	ours = {m[1]: int(m[0]) for m in re.findall(r"^ +(\d+) (\S+)$", r.stderr.decode(), re.M)}
	near = lambda a, b, far: abs(a - b) <= far
	tap.ok(theirs[event] > 300 and near(ours[event], theirs[event], 10) and
	       near(ours["page-faults"], theirs["page-faults"], 0.2 * theirs["page-faults"]),
	       "it counts what perf stat counts: %s and %s" % (ours, theirs),
	       [r.stderr.decode()])

	base = os.path.join(tmp, "samples")
	record = ["record", "-o", base + ".data", "-c", "1", "-e", event, "--"] + busy
	program = program_of(base, record)
	script = run(PERF, "script", "-i", base + ".data", "-F", "pid").stdout.split()
	r = run(program, *busy)
	printed = r.stdout.decode().count("sample ip=")
	told = re.search(r"(\d+) samples, (\d+) other records, (\d+) lost", r.stderr.decode())
	tap.ok(told and printed == int(told[1]) and near(printed, len(script), 10) and
	       int(told[2]) > 3 and told[3] == "0",
	       "it prints as many samples as perf script: %d and %d" % (printed, len(script)),
	       [r.stderr.decode()])

def wraps(tap, tmp):
	"""
	A ring of one page, written over and over: nothing is damaged, and what has
	come and what was lost, as the events tell it, is together what has happened.
	(A LOST record needs another one after it to be written; it may never come.)
	"""
	base = os.path.join(tmp, "wraps")
	# /usr/bin/dd makes two calls a block, so that there are 40,000 of them
	busy = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=20000"]
	program = program_of(base, ["record", "-m", "1", "-o", base + ".data", "-c", "1", "-e",
				    "raw_syscalls:sys_enter", "--"] + busy,
			     "-fsanitize=address,undefined")
	r = run(program, *busy, env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
	told = re.search(r"(\d+) samples, (\d+) other records, (\d+) lost", r.stderr.decode())
	lost = sum(int(n) for n in re.findall(r"(\d+) of its samples lost", r.stderr.decode()))
	total = told and int(told[1]) + lost
	sizes = r.stdout.decode().splitlines()
	good = [l for l in sizes if re.fullmatch(r"sample ip=0x[0-9a-f]+ pid=\d+ .*period=1", l)]
	tap.ok(told and r.returncode == 0 and len(good) == len(sizes) == int(told[1]) > 200 and
	       0 < int(told[3]) <= lost and 40000 <= total <= 40500,
	       "a ring that wraps loses no record untold: %s of %s" % (told and told[0], total),
	       [r.stderr.decode()[-2000:]])

def one_event(tap, tmp):
	"""--event includes the event's group and the event that has the ring."""
	base = os.path.join(tmp, "event")
	dump(base, PERF, "stat", "-e", "cs,{task-clock,page-faults,dummy},cpu-clock", "true")
	opened = [l for l in objects(base) if l["kind"] == "call" and
		  l["call"] == "perf_event_open"]
	member = next(l["event"] for l in opened if l["event_name"].startswith("page-faults"))
	r = Round(base, base, ["true"], ["--event=%d" % member])
	why = r.with_compiler("gcc") if shutil.which("gcc") else "no gcc"
	again = base + ".gcc.json"
	names = [l["event_name"] for l in objects(again) if l["kind"] == "call" and
		 l["call"] == "perf_event_open"] if os.path.exists(again) else why
	tap.ok([n.split()[0] for n in names] == ["task-clock", "page-faults", "dummy"],
	       "--event takes its group along: %s" % " ".join(names), [why])
	r = codegen("--event=77", base)
	tap.ok(r.returncode == 2 and b"no event 77" in r.stderr and not r.stdout,
	       "an event that is not there is told", [r.stderr.decode()])

# As perf's twatch.py: starts, names and ends of the tasks of a CPU.
TWATCH = r"""
import ctypes, mmap, os, struct
libc = ctypes.CDLL(None, use_errno=True)
attr = struct.pack("IIQQQQQ", 1, 112, 9, 1, 0, 0, 1 << 9 | 1 << 13).ljust(112, bytes(1))
for cpu in range(os.cpu_count()):
    fd = libc.syscall(298, attr, -1, cpu, -1, 8)
    libc.mmap(None, 9 * mmap.PAGESIZE, 3, 1, fd, 0)
os.system("true")
"""

def twatch(tap, tmp):
	"""A program of an event that only watches tasks prints its records."""
	base = os.path.join(tmp, "twatch")
	dump(base, sys.executable, "-c", TWATCH)
	codegen("-o", base + ".c", base)
	cc = next(filter(shutil.which, COMPILERS))
	build(cc, base + ".c", base + ".out")
	out = run(base + ".out", "sh", "-c", "sleep 0.1; true").stdout.decode()
	m = re.search(r"(?m)^comm pid=(\d+) tid=\d+ comm=sleep$", out)
	tap.ok(m and all(re.search(r"(?m)^%s pid=%s ppid=\d+ tid=\d+ ptid=\d+$" % (w, m[1]), out)
			 for w in ("fork", "exit")), "FORK, COMM and EXIT records are printed", [out])

def owners(tap, tmp):
	"""F_SETOWN_EX names a thread, a process or a process group: the program's own."""
	base = os.path.join(tmp, "owners")
	dump(base, sys.executable, "-c", OWNERS)
	r = Round(base, base, [])
	for cc in filter(shutil.which, COMPILERS):
		b = build(cc, r.source, base + "." + cc)
		tap.ok(not b.returncode, "a program with each kind of owner, compiled with " + cc,
		       [b.stderr.decode()])
	with open(r.source, encoding="ascii") as f:
		got = re.findall(r"struct f_owner_ex\)\{ (.*?) \}", f.read())
	tap.ok(got == ["F_OWNER_TID, getpid()", "F_OWNER_PID, getpid()",
		       "F_OWNER_PGRP, getpgrp()"], "owners keep their kind", [got])

def other_process(tap, tmp):
	base = os.path.join(tmp, "pid")
	sleeper = subprocess.Popen(["sleep", "1000"])
	try:
		dump(base, PERF, "stat", "-e", "task-clock,cs", "-p", str(sleeper.pid), "sleep",
		     "0.1")
		Round(base, base, [str(sleeper.pid)] + ["sleep", "0.1"]).all_compilers(
			tap, "perf stat -p, the pid being an argument,")
		for program in (base + ".gcc", base + ".clang"):
			if os.path.exists(program):
				r = run(program, "true", "true")
				tap.ok(r.returncode == 2 and b"invalid PID: 'true'" in r.stderr,
				       "a word is no pid", [r.stderr.decode()])
	finally:
		sleeper.kill()
		sleeper.wait()

def processes(tap, tmp):
	"""Two programs in one dump: one is chosen, with a message; --pid chooses either."""
	base = os.path.join(tmp, "two")
	dump(base, "sh", "-c", "%s stat -e cs true; %s stat -e page-faults,task-clock true; :"
	     % (PERF, PERF))
	r = codegen(base)
	pids = []
	for line in objects(base):
		if line.get("call") == "perf_event_open" and line["pid"] not in pids:
			pids.append(line["pid"])
	tap.ok(r.returncode == 1 and b"1 other process used events" in r.stderr and
	       b"PAGE_FAULTS" in r.stdout and b"CONTEXT_SWITCHES" not in r.stdout,
	       "of two processes the one with more events is taken", [r.stderr.decode()])
	r = codegen("--pid=%d" % pids[0], base)
	tap.ok(len(pids) == 2 and b"CONTEXT_SWITCHES" in r.stdout and
	       b"PAGE_FAULTS" not in r.stdout, "--pid takes the other")
	r = codegen("--pid=1", base)
	tap.ok(r.returncode == 2 and b"process 1 opens no event" in r.stderr and not r.stdout,
	       "a process that is not there is told", [r.stderr.decode()])

def escapes(tap, tmp):
	"""Texts of the target in comments and strings."""
	base = os.path.join(tmp, "nasty")
	with open("/sys/kernel/tracing/events/sched/sched_switch/id", encoding="ascii") as f:
		event = f.read().strip()
	texts = [NASTY, "common_pid != 0", "prev_comm == \"a??/\"", "\udcff\udcfe raw \u202e",
		 "x" * 3000]
	dump(base, sys.executable, "-c", FILTER, event, *texts)
	r = Round(base, base, [])
	r.all_compilers(tap, "a program with nasty texts")
	for cc in COMPILERS:
		if shutil.which(cc):
			b = build(cc, r.source, base + ".tri", "-trigraphs", "-Wcomment")
			tap.ok(b.returncode == 0, "the same with trigraphs, with " + cc,
			       [b.stderr.decode()])
	filters = lambda path: [m["hex"] for l in objects(path)
				if l.get("call") == "ioctl" for m in l["memory"]]
	given = [os.fsencode(t).hex() for t in texts]
	made = filters(getattr(r, "again", base))
	tap.ok(len(made) == len(given) and all(m.startswith(g) for m, g in zip(made, given)),
	       "filters arrive byte by byte", [made])
	with open(r.source, "rb") as f:
		source = f.read()
	tap.ok(all(b in b"\t\n" or 32 <= b < 127 for b in source), "the source is ASCII")

def read_bytes(path):
	with open(path, "rb") as f:
		return f.read()

def damaged(tap, tmp):
	"""Impossible values: any result is accepted except a crash or silence."""
	data = read_bytes(os.path.join(tmp, "round7"))
	# as many bytes, so that lengths stay right
	edits = [(b'"ret":', b'"ret":9'), (b'"raw":["0x', b'"raw":["0xf'),
		 (b'"want":128', b'"want":999'), (b'"at":"enter"', b'"at":"exit"'),
		 (b'"pid":', b'"pid":1'), (b'"hex":"', b'"hex":"ffffffffffffffff')]
	path = os.path.join(tmp, "damaged")
	bad = []
	for old, new in edits:
		for times in (1, 3, -1):
			with open(path, "wb") as f:
				f.write(data.replace(old, new, times))
			r = codegen("--all", path)
			if r.returncode not in (0, 1, 2) or (r.returncode == 2) != (not r.stdout):
				bad.append("%s: %d %s" % (new, r.returncode, r.stderr.decode()))
	for old, new in edits[:3]:
		for at in range(1, 40):
			parts = data.split(old)
			if at >= len(parts):
				break
			with open(path, "wb") as f:
				f.write(old.join(parts[:at]) + new + old.join(parts[at:]))
			r = codegen(path)
			if r.returncode not in (0, 1, 2):
				bad.append("%s at %d: %d" % (new, at, r.returncode))
	tap.ok(not bad, "wrong values end in a program or a message", bad)

def size(tap, tmp):
	"""Programs that a person can read."""
	for base, most, what in (("round0", 90, "counter"), ("round7", 165, "profiler")):
		source = read_bytes(os.path.join(tmp, base + ".c")).decode()
		code = re.sub(r"/\*.*?\*/", "", source, flags=re.S).splitlines()
		code = [l for l in code if l.strip() and not l.startswith("#")]
		# an attr that the header's struct does not hold has three lines more
		most += 3 * source.count("static union {")
		wide = [l for l in source.splitlines() if len(l.expandtabs(8)) > 100]
		tap.ok(len(code) <= most and not wide,
		       "the mini %s has %d lines of code, none too wide" % (what, len(code)),
		       wide)

def main():
	tap = sp.Tap()
	if not any(shutil.which(cc) for cc in COMPILERS):
		sp.skip_all("there is no C compiler here")
	tmp = tempfile.mkdtemp(prefix="pevtrace-codegen.")
	try:
		cases(tap, tmp)
		owners(tap, tmp)
		twatch(tap, tmp)
		if PERF:
			rounds(tap, tmp)
			one_event(tap, tmp)
			other_process(tap, tmp)
			processes(tap, tmp)
			damaged(tap, tmp)
			size(tap, tmp)
		else:
			tap.skip("perf", "there is no perf here")
		if os.geteuid() == 0 and sp.tracefs():
			escapes(tap, tmp)
			if PERF:
				counts(tap, tmp)
				wraps(tap, tmp)
		else:
			tap.skip("tracepoints", "need root and tracefs")
	finally:
		shutil.rmtree(tmp, ignore_errors=True)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
