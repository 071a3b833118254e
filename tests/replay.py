#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace replay: the kernel gives the same results again; where it
cannot, or a dump was changed, that is told.

  targets  tests/targets/attrs, most of whose opens fail, and pevtrace open
  perf     perf stat, with groups, and perf record
  same     a trace of the replay has the same opens, field by field, and what it
           opens and maps is closed and unmapped
  changed  dumps that say otherwise than the kernel; damaged ones
  harm     uprobes and sigtrap of a dump that is not to be trusted: others live
  limits   whole CPUs, descriptors, locked memory, an ordinary user
"""

import collections
import json
import os
import re
import resource
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import machine
import programs
import ringparse as rp
import straceparse as sp

PEVTRACE, PERF = rp.PEVTRACE, rp.PERF
TARGETS = os.environ.get("PEVTRACE_TARGETS", "")
TALLY = re.compile(r"(\d+) calls? repeated: (\d+) with the same result, (\d+) with another")

def run(args, **how):
	if args.count(PEVTRACE) > 1:	# LeakSanitizer does not work in what is traced
		how["env"] = dict(os.environ, LC_ALL="C", ASAN_OPTIONS="detect_leaks=0")
	return programs.run(*args, **how)

class Replay:
	"""A pevtrace replay that has ended: .status .lines (differences) .made
	.differ .left_out (by reason) .calls (what was printed) .err"""

	def __init__(self, args, trace=(), **how):
		r = run(list(trace) + [PEVTRACE, "replay"] + args, **how)
		self.status, self.err, self.out = r.returncode, r.stderr, r.stdout
		self.calls = [l for l in r.stderr.split("\n") if re.match(r"\w+\(.*\) = ", l)]
		self.lines, self.left_out, self.made, self.differ = [], {}, 0, 0
		for line in r.stdout.split("\n"):
			m, left = TALLY.match(line), re.match(r"(\d+) left out: (.*)", line)
			if m:
				self.made, self.differ = int(m.group(1)), int(m.group(3))
			elif left:
				self.left_out[left.group(2)] = int(left.group(1))
			elif line:
				self.lines.append(line)

def calls_of(dump, name=None):
	"""Return (line number, object) of each call."""
	out = []
	with open(dump, errors="surrogateescape") as f:
		for n, line in enumerate(f, 1):
			o = json.loads(line)
			if o.get("kind") == "call" and name in (None, o["call"]):
				out.append((n, o))
	return out

def record(tmp, name, command):
	"""Write a dump of a command."""
	dump = os.path.join(tmp, name + ".json")
	r = run([PEVTRACE, "--json=" + dump, "-o", "/dev/null"] + command, cwd=tmp)
	return dump, r

def opened(tmp, name, args):
	"""Write a dump of pevtrace open, which does not require perf."""
	dump = os.path.join(tmp, name + ".json")
	r = run([PEVTRACE, "open", "--json=" + dump, "-o", "/dev/null"] + args)
	return dump, r

def edited(dump, changes):
	"""Write a copy with changed lines: {number: {key: value}}."""
	to = dump + ".edited"
	with open(dump, errors="surrogateescape") as f, \
	     open(to, "w", errors="surrogateescape") as out:
		for n, line in enumerate(f, 1):
			if n in changes:
				o = json.loads(line)
				o.update(changes[n])
				line = json.dumps({k: v for k, v in o.items()
						   if v is not None}) + "\n"
			out.write(line)
	return to

def attrs_dump(tmp):
	target = os.path.join(TARGETS, "attrs")
	cases = run([target, "list"]).stdout.split()
	return record(tmp, "attrs", [target] + cases)[0]

def same(tap, dump, what, least, kept=0):
	"""kept: number of event descriptors that the program did not close before its end."""
	r = Replay([dump])
	tap.ok(r.status == 0 and not r.lines and r.differ == 0 and r.made >= least and
	       len(r.calls) == r.made + kept, what + " is answered in the same way",
	       [r.status, r.made, r.left_out] + r.lines[:5] + r.err.split("\n")[-5:])
	return r

# ---- targets ---------------------------------------------------------------------

def attr_of(o):
	"""Return the attr's bytes as passed; None if they could not be read."""
	at = [m for m in o.get("memory", []) if m["at"] == "enter" and m["addr"] == o["raw"][0]]
	return at[0]["hex"] if at else None

def meaning(o):
	"""Return the identity of an open without pid and descriptor, and whether it succeeded."""
	attr = attr_of(o)
	path = (o["args"].get("attr_uptr") or {}) if attr else {}
	path = path.get("uprobe_path", path.get("kprobe_func"))
	if path is not None:	# addresses differ, the strings there do not
		attr = attr[:112] + attr[128:] + str(path if "0x" not in str(path) else "bad")
	return (attr, o["raw"][2], int(o["raw"][3], 16) & 0xffffffff == 0xffffffff,
		o["raw"][4], o.get("errno", 0))

def test_targets(tap, tmp):
	dump = attrs_dump(tmp)
	there = [o for _, o in calls_of(dump, "perf_event_open")]
	failed = sum("errno" in o for o in there)
	r = same(tap, dump, "tests/targets/attrs", len(there))
	tap.ok(failed > 50 and sum(" = -1 E" in c for c in r.calls) == failed,
	       "its %d failures of %d opens are failures again" % (failed, len(there)))
	dump, r = opened(tmp, "sampled", ["-e", "{cpu-clock,page-faults}", "-e", "cs:u",
					  "--mmap", "2", "--", "true"])
	r = same(tap, dump, "pevtrace open with rings and a group", 10)
	tap.ok(any(c.startswith("mmap(") for c in r.calls) and
	       any(c.startswith("ioctl(") for c in r.calls) and
	       any(c.startswith("read(") for c in r.calls), "with mmap, ioctl, read",
	       r.calls)
	r = Replay(["-q", dump])
	tap.ok((r.status, r.out, r.err) == (0, "", ""), "-q: nothing differs, nothing is said",
	       [r.status, r.out, r.err])
	r = Replay(["-j", dump])
	tap.ok(r.status == 0 and all(json.loads(l) for l in r.out.split("\n") if l) and
	       "repeated" in r.err, "-j: a dump alone on standard output", [r.err])
	with open(dump) as f:
		r = subprocess.run([PEVTRACE, "replay", "-q", "-"], stdin=f, timeout=300)
	tap.ok(r.returncode == 0, "a dump on standard input")

# Calls of each kind that can be made again, right ones and wrong ones; run under
# pevtrace.  64 bits, as numbers of calls and requests tell.
CALLS = r"""
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = libc.mmap.restype = ctypes.c_long
libc.mmap.argtypes = [ctypes.c_long] * 6
W, BAD = ctypes.c_long, 4096
def call(nr, *args):
	return libc.syscall(W(nr), *[W(a) for a in args])
def opened(config=9, group=-1, pid=0, period=0, flags=8, read_format=0, size=128):
	attr = struct.pack("IIQQQQQ", 1, size, config, period, 7, read_format, 1 | 1 << 5)
	attr = ctypes.create_string_buffer(attr.ljust(128, bytes(1)), 128)
	return call(298, ctypes.addressof(attr), pid, -1, group, flags)
def ioctl(fd, request, arg=0):
	return call(16, fd, request, arg)
def u64(n):
	u64.kept = ctypes.c_uint64(n)
	return ctypes.addressof(u64.kept)
room = ctypes.create_string_buffer(4096)
at = ctypes.addressof(room)
a, b = opened(0, period=1000, read_format=15), opened(9, period=5)
c, d = opened(1, group=a, read_format=15), opened(3, group=a, flags=0)
opened(group=999), opened(group=1), opened(group=-7), opened(pid=-5), opened(pid=0x7ffffff0)
opened(size=72), opened(size=5000), opened(77), opened(flags=1 << 20), opened(pid=os.getpid())
ring = libc.mmap(0, 3 * 4096, 3, 1, a, 0)
other = libc.mmap(0, 3 * 4096, 3, 1, b, 0)
for size, prot, flags in ((4 * 4096, 3, 1), (4096, 3, 2), (0, 3, 1), (100, 1, 2)):
	libc.mmap(0, size, prot, flags, b, 0)
for fd in (a, b, 999, 1):
	for request, arg in ((0x2400, 0), (0x2401, 1), (0x2403, 0), (0x2402, 3), (0x2402, -1),
			     (0x40082404, u64(7)), (0x40082404, u64(0)), (0x40082404, BAD),
			     (0x80082407, at), (0x80082407, BAD), (0x2405, a), (0x2405, -1),
			     (0x2405, 999), (0x40082406, ctypes.addressof(
					ctypes.create_string_buffer(b"id > 3"))),
			     (0x40082406, BAD), (0x40042409, 1), (0x40042409, 0)):
		ioctl(fd, request, arg)
for fd, to, n in ((a, at, 4096), (a, at, 24), (a, at, 8), (b, at, 8), (b, at, 7), (b, BAD, 8),
		  (c, at, 1024), (a, at, 0)):
	call(0, fd, to, n)
call(17, b, at, 8, 0)
e = call(32, b)
f = call(33, b, 100)
call(33, b, b), call(292, b, b, 0), call(292, b, 101, 0o2000000), call(292, b, 102, 77)
call(33, a, 101), call(33, b, -1)
g = call(72, b, 0, 50)
call(72, b, 1030, 60), call(72, b, 1), call(72, b, 2, 1), call(72, b, 3), call(72, b, 4, 0o4000)
for fd in (b, e, 101, g):
	call(0, fd, at, 8), call(3, fd), call(0, fd, at, 8)
call(11, ring, 3 * 4096), call(11, other, 3 * 4096)
call(3, d), call(3, a), ioctl(c, 0x2403), call(3, c)
"""

def test_calls(tap, tmp):
	if os.uname().machine != "x86_64":
		return tap.skip("calls of each kind", "has the numbers of x86-64")
	dump, ran = record(tmp, "calls", [sys.executable, "-c", CALLS])
	held = set()
	for _, o in calls_of(dump):
		if "errno" not in o and (o["call"] in ("perf_event_open", "dup", "dup2", "dup3") or
					 o["call"] == "fcntl" and o["raw"][1] in ("0x0", "0x406")):
			held.add(o["ret"])
		elif "errno" not in o and o["call"] == "close":
			held.discard(int(o["raw"][0], 16))
	r = same(tap, dump, "each kind of call", 100, kept=len(held))
	names = collections.Counter(c.split("(")[0] for c in r.calls)
	there = collections.Counter(o["call"] for _, o in calls_of(dump) if o["shown"])
	want = {"perf_event_open": 14, "read": 12, "dup": 1, "dup2": 4, "dup3": 3, "mmap": 6,
		"munmap": 2}
	tap.ok(ran.returncode == 0 and all(names[n] >= k for n, k in want.items()),
	       "and each is made", [ran.returncode, ran.stderr[-500:], names, there, r.left_out])
	failed = collections.Counter(re.findall(r" = -1 (E\w+)", "\n".join(r.calls)))
	tap.ok({"EINVAL", "EBADF", "EFAULT", "ESRCH", "E2BIG", "ENOSPC"} <= set(failed),
	       "with the errors that they had", [failed])

def test_whom(tap, tmp):
	dump, _ = opened(tmp, "whom", ["-e", "cpu-clock:u", "--", "true"])
	sleeper = subprocess.Popen(["sleep", "1000"])
	try:
		r = Replay(["-p", str(sleeper.pid), dump])
		tap.ok(r.status == 0 and ("}, %d, -1 " % sleeper.pid) in r.calls[0],
		       "-p: that process takes the place of the one measured", r.calls)
	finally:
		sleeper.kill()
		sleeper.wait()
	r = Replay(["-p", str(sleeper.pid), dump])
	tap.ok(r.status == 2 and "no such process" in r.err, "which has to be there", [r.err])

# ---- same ------------------------------------------------------------------------

def test_same(tap, tmp):
	rings, _ = opened(tmp, "rings", ["-e", "{cpu-clock,cs}:u", "--mmap", "1", "--", "true"])
	twice = rings + ".twice"
	with open(rings) as f, open(twice, "w") as out:
		for line in f:
			out.write(line * (1 + ('"call":"mmap"' in line)))
	for name, dump in (("attrs", attrs_dump(tmp)), ("rings", rings),
			   ("rings twice at one address", twice)):
		trace = os.path.join(tmp, "replayed.json")
		r = Replay(["-q", dump], trace=[PEVTRACE, "--json=" + trace, "-o",
						os.path.join(tmp, "trace")])
		a = [meaning(o) for _, o in calls_of(dump, "perf_event_open")]
		b = [meaning(o) for _, o in calls_of(trace, "perf_event_open")]
		differ = [(x, y) for x, y in zip(a, b) if x != y]
		tap.ok(r.status == 0 and a and len(a) == len(b) and not differ,
		       "%s: %d opens are traced as they are in the dump" % (name, len(a)),
		       [r.status, len(b)] + differ[:3] + [r.err])
		fds, rings = set(), {}
		for _, o in calls_of(trace):
			if "errno" in o or "ret" not in o:
				continue
			ret = o["ret"]
			if o["call"] == "perf_event_open":
				fds.add(ret)
			elif o["call"] == "close":
				fds.discard(int(o["raw"][0], 16))
			elif o["call"] == "mmap":
				rings[int(ret, 16) if isinstance(ret, str) else ret] = o
			elif o["call"] == "munmap":
				rings.pop(int(o["raw"][0], 16), None)
		tap.ok(not fds and not rings, name + ": all that it opened and mapped is let go",
		       [fds, rings.keys()])
		with open(trace) as f:
			lines = [json.loads(l) for l in f]
		born = {o["tid"] for o in lines if o["kind"] == "task"}
		gone = {o["tid"] for o in lines if o["kind"] == "gone"}
		tap.ok(len(born) > (name != "attrs") and born == gone, name + ": no process is left", [born ^ gone])

# ---- changed ---------------------------------------------------------------------

def test_changed(tap, tmp):
	dump = attrs_dump(tmp)
	opens = calls_of(dump, "perf_event_open")
	bad = [n for n, o in opens if o.get("errno") == 22][0]
	good = [n for n, o in opens if "errno" not in o][0]
	r = Replay([edited(dump, {bad: {"errno": 13, "error": "EACCES"}})])
	want = r"%s:%d: perf_event_open.*: EACCES there, EINVAL here$" % \
		(re.escape(dump + ".edited"), bad)
	tap.ok(r.status == 1 and r.differ == 1 and len(r.lines) == 1 and
	       re.match(want, r.lines[0]), "another errno is told by call and line",
	       [r.status, want] + r.lines)
	r = Replay(["-q", edited(dump, {good: {"ret": -1, "errno": 2, "error": "ENOENT"}})])
	tap.ok(r.status == 1 and len(r.lines) == 1 and
	       re.search(r":%d: perf_event_open .*: ENOENT there, success here$" % good,
			 r.lines[0]), "so is success for what was a failure", [r.status] + r.lines)
	dump, _ = opened(tmp, "read", ["-e", "cs:u", "--", "true"])
	read = calls_of(dump, "read")[0][0]
	r = Replay(["-q", edited(dump, {read: {"ret": 16}})])
	tap.ok(r.status == 1 and len(r.lines) == 1 and
	       re.search(r":%d: read context-switches.*: 16 bytes there, 24 bytes here$"
			 % read, r.lines[0]), "so is another length of a read",
	       [r.status] + r.lines)

def test_damaged(tap, tmp):
	dump, _ = opened(tmp, "whole", ["-e", "{cpu-clock,cs}:u", "--", "true"])
	with open(dump) as f:
		lines = f.readlines()
	at = calls_of(dump, "perf_event_open")[1][0]
	for what, text, where in (
			("a line cut short", lines[:at - 1] + [lines[at - 1][:99] + "\n"] +
			 lines[at:], ":%d: " % at),
			("no last line", lines[:-1], ":%d: " % (len(lines) - 1)),
			("no dump", ["hello\n"], ":1: "), ("nothing", [], "")):
		path = os.path.join(tmp, "damaged.json")
		with open(path, "w") as f:
			f.writelines(text)
		r = Replay(["-q", path])
		tap.ok(r.status == 2 and r.err.startswith("pevtrace: ") and path in r.err and
		       where in r.err, what + ": said, and status 2",
		       [r.status, r.err])
	for cut in range(0, len(lines[at - 1]), 97):	# no crash, whatever the result
		with open(path, "w") as f:
			f.write("".join(lines[:at - 1]) + lines[at - 1][:cut])
		r = Replay(["-q", path])
		if r.status != 2:
			break
	tap.ok(r.status == 2, "cut anywhere: status 2", [cut, r.status, r.err])
	for args in ([], [dump, dump], ["--bogus", dump], ["-p", "0", dump],
		     ["/nonexistent/dump"]):
		r = Replay(args)
		tap.ok(r.status == 2 and len(r.err.strip().split("\n")) == 1,
		       "replay %s: one line and status 2" % " ".join(args), [r.status, r.err])

# ---- limits ----------------------------------------------------------------------

def limited(what, n):
	return lambda: resource.setrlimit(what, (n, n))

def test_limits(tap, tmp):
	dump, r = opened(tmp, "cpus", ["-a", "-e", "cpu-clock", "--for", "0.1"])
	if r.returncode:
		tap.skip("events of whole CPUs", "may not be opened here")
	else:
		r = Replay([dump])
		tap.ok(r.status == 2 and r.made == 0 and
		       any("--all-cpus" in w for w in r.left_out),
		       "events of whole CPUs are left out, and said to be", [r.out])
		r = Replay(["-q", dump])
		tap.ok(r.status == 2 and not r.out and "--all-cpus" in r.err and
		       len(r.err.strip().split("\n")) == 1,
		       "with -q, too: nothing repeated is not all the same", [r.out, r.err])
		r = Replay(["-a", dump])
		tap.ok(r.status == 0 and r.made > 2 and not r.left_out, "but with --all-cpus",
		       [r.out, r.err])
	dump, _ = opened(tmp, "many", [a for _ in range(40) for a in ("-e", "cs:u")] +
			 ["--", "true"])
	r = Replay(["-q", dump], preexec_fn=limited(resource.RLIMIT_NOFILE, 24))
	tap.ok(r.status == 2 and "ulimit -n" in r.err and len(r.err.strip().split("\n")) == 1,
	       "out of descriptors: said, and status 2", [r.status, r.err])
	r = Replay(["-q", dump], preexec_fn=limited(resource.RLIMIT_NOFILE, 5))
	tap.ok(r.status == 2 and "ulimit -n" in r.err and len(r.err.strip().split("\n")) == 1,
	       "none left for a stand-in: said, and status 2", [r.status, r.err])

def test_nobody(tap, tmp):
	machine.need("another user")
	if run([PEVTRACE, "--version"], preexec_fn=sp.as_nobody()).returncode:
		return tap.skip("an ordinary user", "who may not run this build")
	if machine.setting("paranoid") != 2:
		return tap.skip("an ordinary user", "perf_event_paranoid is not 2")
	os.chmod(tmp, 0o755)
	dump, _ = opened(tmp, "root", ["-e", "cs", "-e", "cpu-clock:u", "--", "true"])
	os.chmod(dump, 0o644)
	r = Replay([dump], preexec_fn=sp.as_nobody())
	tap.ok(r.status == 1 and len(r.lines) == 1 and
	       r.lines[0].endswith(": success there, EACCES here") and "CAP_PERFMON" in r.err,
	       "what an ordinary user may not have is told as a difference",
	       [r.status, r.err] + r.lines)
	dump, _ = opened(tmp, "large", ["-e", "cpu-clock:u", "--mmap", "2048", "--", "true"])
	os.chmod(dump, 0o644)
	def both():
		resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))
	r = Replay([dump])
	tap.ok(r.left_out.get("ring buffers beyond --ring-limit", 0) > 0,
	       "a ring larger than a user may have is left out", [r.left_out])
	r = Replay(["--ring-limit=100000", "-q", dump], preexec_fn=sp.as_nobody(both))
	tap.ok(r.status == 1 and any(": mmap " in l and l.endswith("success there, EPERM here")
				     for l in r.lines) and "ulimit -l" in r.err,
	       "so is a ring that is too large", [r.status, r.err] + r.lines)

# ---- dumps that would do harm ------------------------------------------------------

# Calls getppid() until stdin ends; a probe between two of its instructions kills it.
VICTIM = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(7)), daemon=True).start()
while True:
	os.getppid()
"""

# Open a uprobe inside the first instruction of the file's entry point that is longer
# than one byte, on the caller (0) or on every process (-1).
PROBING = """
import ctypes, struct, sys
path, offset, pid, cpu, kind = sys.argv[1].encode(), *map(int, sys.argv[2:6])
libc = ctypes.CDLL(None, use_errno=True)
name = ctypes.create_string_buffer(path)
attr = ctypes.create_string_buffer(
	struct.pack("<II5Q2I4Q", kind, 128, 0, 0, 0, 0, 1, 0, 0, ctypes.addressof(name),
		    offset, 0, 0) + bytes(32))
libc.syscall(298, attr, pid, cpu, -1, 8)
"""

def pmu_type(name):
	try:
		with open("/sys/bus/event_source/devices/%s/type" % name) as f:
			return int(f.read())
	except OSError:
		return None

def victim():
	return subprocess.Popen(["/usr/bin/python3", "-c", VICTIM], stdin=subprocess.PIPE)

def spared(p):
	"""Return whether the victim is alive, and end it."""
	alive = p.poll() is None
	p.communicate()
	return alive and p.returncode == 7

def code_of(path):
	"""Return the offset in the file of the byte behind its entry point's first one."""
	import struct
	with open(path, "rb") as f:
		b = f.read(4096)
	entry, phoff = struct.unpack_from("<QQ", b, 24)
	for i in range(struct.unpack_from("<H", b, 56)[0]):
		kind, flags, off, addr, _, size = struct.unpack_from("<IIQQQQ", b, phoff + 56 * i)
		if kind == 1 and addr <= entry < addr + size:
			return off + entry - addr + 1
	return None

def test_probes(tap, tmp):
	kind = pmu_type("uprobe")
	machine.need("uprobes")
	if os.uname().machine != "x86_64":
		return tap.skip("a dump's uprobes", "needs x86-64")
	offset = code_of(PEVTRACE)
	for pid, cpu, args in ((0, -1, []), (-1, 0, ["-a"]), (0, -1, ["-a"])):
		dump, r = record(tmp, "probe", ["/usr/bin/python3", "-c", PROBING, "/bin/true",
						str(code_of("/bin/true")), str(pid), str(cpu), str(kind)])
		opens = calls_of(dump, "perf_event_open")
		if r.returncode or not opens or "errno" in opens[0][1]:
			return tap.skip("a dump's uprobes", "this kernel probes no such offset")
		with open(dump) as f:
			text = f.read().replace("/bin/true".encode().hex(), PEVTRACE.encode().hex())
		evil = os.path.join(tmp, "evil.json")
		with open(evil, "w") as f:
			f.write(text)
		for path in (dump, evil):
			r = Replay(args + [path])
			alone = subprocess.run(["/bin/true"]).returncode
			tap.ok(r.status in (0, 1, 2) and alone == 0 and
			       bool(r.left_out) == (pid == -1),
			       "a uprobe inside an instruction, pid %d, %s: nobody dies" %
			       (pid, " ".join(args) or "no option"),
			       [r.status, alone, r.left_out, r.lines, r.err])
		r = run([PEVTRACE, "why", "--once", "%s:%d" % (dump, opens[0][0])])
		tap.ok(r.returncode in (0, 1) and
		       ("tried on no other process" in r.stdout + r.stderr) == (pid == -1),
		       "why tries no such probe on others (pid %d)" % pid, [r.stdout, r.stderr])
	child = victim()
	r = Replay(["-p", str(child.pid), record(tmp, "onpid", ["/usr/bin/python3", "-c", PROBING,
		    "/bin/true", str(code_of("/bin/true")), "1", "-1", str(kind)])[0]])
	tap.ok(spared(child) and any("uprobes on other" in w for w in r.left_out),
	       "-p: a uprobe is left out", [r.status, r.left_out])

# Open cpu-clock with sigtrap and remove_on_exec on a child.
TRAPPING = """
import ctypes, struct, subprocess
libc = ctypes.CDLL(None, use_errno=True)
child = subprocess.Popen(["sleep", "1000"])
attr = ctypes.create_string_buffer(struct.pack("<II5Q", 1, 136, 0, 100000, 0, 0,
					       1 << 37 | 1 << 36 | 1 << 5) + bytes(100))
libc.syscall(298, attr, child.pid, -1, -1, 8)
child.kill()
"""

def test_sigtraps(tap, tmp):
	dump, r = record(tmp, "trap", ["/usr/bin/python3", "-c", TRAPPING])
	opens = [o for _, o in calls_of(dump, "perf_event_open")]
	if not any("errno" not in o and o["args"]["attr_uptr"].get("sigtrap") for o in opens):
		return tap.skip("a dump's sigtrap", "no such event was opened: " + r.stderr[-300:])
	child = victim()
	r = Replay(["-p", str(child.pid), dump])
	tap.ok(any("--allow=sigtrap" in w for w in r.left_out) and spared(child),
	       "-p: an event with sigtrap is left out, and the process lives",
	       [r.status, r.left_out, r.err])
	child = victim()
	r = Replay(["--allow=sigtrap", "-p", str(child.pid), dump])
	child.stdin.close()
	ended = child.wait()
	tap.ok(ended != -5 or r.status == 2 and "ended during the replay" in r.err,
	       "--allow=sigtrap: a process that dies of it is told of", [ended, r.status, r.err])

# ---- perf --------------------------------------------------------------------------

def test_perf(tap, tmp):
	for name, command, least in (
			("stat", ["stat", "-e", "task-clock,page-faults", "true"], 4),
			("group", ["stat", "-e", "{cpu-clock,page-faults,cs}", "true"], 6),
			("record", ["record", "-e", "cpu-clock", "-o", "p.data", "true"], 8)):
		dump, _ = record(tmp, "perf-" + name, [PERF] + command)
		same(tap, dump, "perf " + name, least)
	r = Replay([os.path.join(tmp, "p.data")])
	tap.ok(r.status == 2 and "perf.data" in r.err, "a perf.data file is none to replay",
	       [r.status, r.err])

def own_tests(tap, tmp):
	return [("targets", lambda: test_targets(tap, tmp)),
		("calls", lambda: test_calls(tap, tmp)),
		("whom", lambda: test_whom(tap, tmp)),
		("same", lambda: test_same(tap, tmp)),
		("changed", lambda: test_changed(tap, tmp)),
		("damaged", lambda: test_damaged(tap, tmp)),
		("harm", lambda: (test_probes(tap, tmp), test_sigtraps(tap, tmp))),
		("limits", lambda: test_limits(tap, tmp)),
		("nobody", lambda: test_nobody(tap, tmp))]

def perf_tests(tap, tmp, tracefs):
	return [("perf", lambda: test_perf(tap, tmp))]

if __name__ == "__main__":
	sys.exit(rp.main("pevtrace-replay.", "perf's calls repeated", own_tests, perf_tests))
