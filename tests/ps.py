#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace ps, held against what a program says of the events that it opened:
their ids, counts, descriptors, groups, rings; and against /proc and the BPF program's id."""

import ctypes
import errno
import fcntl
import json
import mmap
import os
import pty
import re
import resource
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import machine
import programs
import ringparse as rp
import straceparse as sp

LIBC = ctypes.CDLL(None, use_errno=True)
ARCH_CALLS = {"x86_64": 298, "aarch64": 241}
NR = ARCH_CALLS.get(os.uname().machine)
ID, ENABLE, DISABLE, SET_OUTPUT = 0x80082407, 0x2400, 0x2401, 0x2405
SIZE = 112

def opened(type=1, config=9, bits=0, period=0, pid=0, cpu=-1, group=-1, format=0, addr=(0, 0),
	   flags=8):
	"""Open an event; return its descriptor."""
	attr = struct.pack("<IIQQQQQIIQQ", type, SIZE, config, period, 0, format, bits, 0,
			   3 if type == 5 else 0, *addr).ljust(SIZE, b"\0")
	fd = LIBC.syscall(NR, ctypes.create_string_buffer(attr, SIZE), pid, cpu, group,
			  ctypes.c_ulong(flags))
	if fd < 0:
		raise OSError(ctypes.get_errno(), "perf_event_open")
	return fd

def ioctl(fd, request, arg=0):
	return LIBC.ioctl(fd, ctypes.c_ulong(request), ctypes.c_ulong(arg))

def id_of(fd):
	out = ctypes.c_uint64()
	LIBC.ioctl(fd, ctypes.c_ulong(ID), ctypes.byref(out))
	return out.value

def run(*args, **more):
	return programs.run(rp.PEVTRACE, "ps", *args, **more)

def at_80(*args, columns=80):
	"""Return the lines on a terminal of 80 columns."""
	return sp.on_terminal([rp.PEVTRACE, "ps", "--no-pager", "--color=never", *args], columns).splitlines()

def listed(*args, **more):
	r = run("-j", *args, **more)
	return {o["id"]: o for o in map(json.loads, r.stdout.splitlines()) if "id" in o}, r

def descriptors(event, pid):
	return sorted(h["fd"] for h in event["holders"] if h["by"] == "descriptor" and h["pid"] == pid)

def own_descriptors(number):
	"""Descriptors of this process for the event of that id; mmap.mmap() makes one, too."""
	return sorted(fd for fd in map(int, os.listdir("/proc/self/fd"))
		      if id_of(fd) == number)

def test_own(tap):
	"""Events of this process, of each kind."""
	me = os.getpid()
	hold = opened(bits=1)
	lead = opened(config=2, bits=1)
	member = opened(config=3, group=lead)
	wide = opened(config=0, pid=-1, cpu=0, period=1000000)
	again = os.dup(wide)
	fds = {"off": hold, "leader": lead, "member": member, "cpu": wide}
	if os.uname().machine == "x86_64":
		place = ctypes.c_uint64()
		fds["breakpoint"] = opened(5, 0, addr=(ctypes.addressof(place), 8))
	ring = mmap.mmap(wide, 5 * mmap.PAGESIZE)
	ioctl(lead, ENABLE)
	ids = {name: id_of(fd) for name, fd in fds.items()}
	got, r = listed("-p", str(me))
	count = struct.unpack("<Q", os.read(lead, 8))[0]
	why = ["%s: not listed" % n for n, i in ids.items() if i not in got]
	if why:
		return tap.ok(False, "own events", why + [r.stderr])
	at = lambda name: got[ids[name]]
	want = lambda name, **members: why.extend(
		"%s: %s is %s, not %s" % (name, k, at(name).get(k), v)
		for k, v in members.items() if at(name).get(k) != v)
	want("off", event="dummy", state="off", ring_pages=0, count=0, lost=0)
	want("leader", event="page-faults", leader=ids["leader"])
	want("member", event="context-switches", leader=ids["leader"])
	want("cpu", event="cpu-clock", state="active", on_cpu=0, ring_pages=4,
	     target={"cpu": 0})
	for name in fds:
		held = descriptors(at(name), me)
		if held != own_descriptors(ids[name]):
			why.append("%s: descriptors %s" % (name, held))
		if name != "cpu" and (at(name)["target"].get("tid"), at(name)["target"]["cpu"]) != (me, -1):
			why.append("%s: target %s" % (name, at(name)["target"]))
		if at(name)["attr"]["size"] != SIZE or at(name)["attr"]["type"] != (
				5 if name == "breakpoint" else 1):
			why.append("%s: attr %s" % (name, at(name)["attr"]))
	if not [h for h in at("cpu")["holders"] if h["by"] == "mapping" and h["pid"] == me]:
		why.append("the mapping is missing")
	if not at("leader")["count"] <= count:
		why.append("count %d, later %d" % (at("leader")["count"], count))
	tap.ok(not why, "events of this process", why)
	text = run("-v", "-p", str(me)).stdout
	# two in the group
	tap.ok(text.count("\n  leader: %d\n" % ids["leader"]) == 2 and text.count("\n  leader: ") == 2 and
	       "\n  ring_pages: 4\n" in text and "\n  attr: {type=PERF_TYPE_SOFTWARE, size=" in text and
	       all("\n  id: %d\n" % i in text for i in ids.values()) and
	       "{by=descriptor, pid=%d, tid=%d, comm=\"" % (me, me) in text, "-v", [text])
	rows = [l for l in at_80() if not l.startswith("pevtrace: ")] # others' events may have old counts
	tap.ok(len(rows) > len(fds) and all(len(l) <= 80 for l in rows) and rows[0].startswith("HELD BY"),
	       "a list of 80 columns", rows)
	for what in (["switches"], ["context-sw*"], ["-e", "cs"], ["-e", "cs", "no-such"]):
		only, _ = listed("-p", str(me), *what)
		tap.ok(list(only) == [ids["member"]], " ".join(what), [only])
	only, _ = listed("-p", str(me), "-e", "cs,sample_period=5")
	tap.ok(not only, "-e with a member that no event has", [only])
	r = run("-e", "no-such")
	tap.ok(r.returncode == 2 and r.stderr.startswith("pevtrace: -e 'no-such': at character 1: "),
	       "-e of an unknown event", [r.stderr])
	ring.close()
	for fd in list(fds.values()) + [again]:
		os.close(fd)
	r = run("-p", str(me))
	tap.ok(r.returncode == 1 and not r.stdout and "no perf event matches" in r.stderr, "none",
	       [r.stdout, r.stderr])
	beyond = 1 << 22	# the highest pid_max that the kernel takes
	r = run("-p", str(beyond))
	tap.ok(r.returncode == 1 and not r.stdout and
	       machine.complaints(r.stderr) == ["pevtrace: no process %d" % beyond],
	       "no process", [r.stdout, r.stderr])

def test_groups(tap):
	"""A read of any member returns the whole group; each has its own count."""
	without = ["setpriv", "--bounding-set=-bpf,-sys_admin,-perfmon", rp.PEVTRACE, "ps", "-j"]
	for format, bpf in ((15, True), (11, True), (12, True), (15, False), (11, False)):
		lead = opened(config=1, bits=1 | 1 << 1, format=format)
		fds = [lead] + [opened(config=c, bits=1 << 1, group=lead, format=format) for c in (2, 3)]
		ioctl(lead, ENABLE, 1)
		subprocess.run(["true"], check=True)
		ioctl(lead, DISABLE, 1)
		if bpf:
			got, r = listed("-p", str(os.getpid()))
		else:
			r = subprocess.run(without, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
			got = {o["id"]: o for o in map(json.loads, r.stdout.splitlines()) if "id" in o}
		words = struct.unpack("<%dQ" % ((1 + 2 * (format & 1) + 3 * (1 + (format >> 2 & 1)))),
				      os.read(fds[1], 4096))
		counts = list(words[1 + 2 * (format & 1)::1 + (format >> 2 & 1)])
		shown = [got.get(id_of(fd), {}).get("count") for fd in fds]
		known = bpf or format & 4	# else whose count is which cannot be told
		for fd in fds:
			os.close(fd)
		if machine.lacks("tracing"):	# counts come from borrowed descriptors
			tap.skip("members of a group", machine.lacks("tracing"))
			continue
		tap.ok(len(set(counts)) == 3 and shown == (counts if known else [None] * 3),
		       "members of a group, read_format %d%s" % (format, "" if bpf else ", without BPF"),
		       [counts, shown, r.stderr])

def test_others(tap):
	"""An event on another task, held by two processes; none is left changed."""
	child = subprocess.Popen(["sleep", "1000"])
	fd = opened(config=1, pid=child.pid, bits=1, format=3)
	holder = subprocess.Popen(["sleep", "1000"], pass_fds=[fd])
	number = id_of(fd)
	before = os.read(fd, 24)
	got, r = listed("-p", str(child.pid))
	e = got.get(number, {"holders": []})
	pids = sorted(h["pid"] for h in e["holders"])
	tap.ok(pids == sorted([os.getpid(), holder.pid]) and
	       e["target"] == {"cpu": -1, "pid": child.pid, "tid": child.pid, "comm": "sleep"},
	       "an event of another task, in two processes", [e, r.stderr])
	tap.ok(os.read(fd, 24) == before, "its count and times are as before")
	os.close(fd)
	holder.kill()
	holder.wait()
	got, _ = listed("-p", str(child.pid))
	tap.ok(number not in got, "it is gone with its holders")
	child.kill()
	child.wait()

def test_cgroups(tap):
	"""Cgroups, the root among them, by their names and the numbers of their directories."""
	mount = rp.cgroup2()
	if not mount:
		return tap.skip("cgroups", "no cgroup2 is mounted and writable")
	made = tempfile.mkdtemp(dir=mount, prefix="pevtrace-ps.a-long-name-")
	places = {os.path.basename(made): made}
	if not os.path.exists(os.path.join(mount, "cgroup.type")): # else not the root, in a namespace
		places["/"] = mount
	dirs = [os.open(p, os.O_RDONLY) for p in places.values()]
	fds = []
	try:
		fds = [opened(pid=d, cpu=0, flags=8 | 4) for d in dirs]
		got = listed("-p", str(os.getpid()))[0]
		text = run("-v", "-p", str(os.getpid())).stdout
		targets = [got.get(id_of(fd), {}).get("target") for fd in fds]
		want = {name: os.stat(p).st_ino for name, p in places.items()}
	except OSError as e:
		return tap.skip("cgroups", str(e))
	finally:
		for fd in fds + dirs:
			os.close(fd)
		os.rmdir(made)
	return tap.ok(targets == [{"cpu": 0, "cgroup_id": n, "cgroup": name} for name, n in want.items()] and
		      all("\n  target: {cpu=0, cgroup_id=%d, cgroup=\"%s\"}\n" % (n, name) in text
			  for name, n in want.items()) and
		      ("/" not in want or re.search(r" / cpu0 +\w", text)) and
		      re.search(r" pevt\S+ cpu0 +\w", text), "cgroups by name", [targets, text])

def test_program(tap):
	"""The BPF program of an event that is held."""
	r = subprocess.Popen([rp.target("bpfevent"), "clock", "ioctl", "1", "wait"], stdin=subprocess.PIPE,
			     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	up, held = r.stdout.readline(), listed()[0]
	out, err = r.communicate()
	if r.returncode:
		return tap.skip("a BPF program", (err.strip() or "bpfevent cannot run").split("\n")[-1])
	own = int(out.split()[0])
	# other tests may have programs at the same time
	named = [[e["program"] for e in events.values() if e.get("program_id") == own]
		 for events in (held, listed()[0])]
	tap.ok(up == "up\n" and named == [["two_insns"], []], "a BPF program, until its event is closed",
	       [named])

def test_nobody(tap):
	"""Without privilege: what the own descriptors tell."""
	r = run(preexec_fn=sp.as_nobody())
	limits = [line for line in r.stderr.splitlines() if "no perf event" not in line]
	tap.ok(r.returncode in (0, 1) and len(limits) == 1 and
	       all(words in limits[0] for words in ("root, or CAP_BPF", "not what and whom events count",
						     "processes that may not be read")),
	       "an ordinary user is told in one line what root would see", [r.stdout, r.stderr])

def test_names(tap):
	"""A long name of a process is shortened, not its number."""
	with open("/proc/self/comm", "r+") as f:
		before = f.read().rstrip()
		f.seek(0)
		f.write("fifteen letters")
		f.flush()
		fd = opened()
		other = os.dup(fd)
		line = at_80("-p", str(os.getpid()), columns=60)[1]
		whole = run("-p", str(os.getpid())).stdout.splitlines()[-2]
		os.close(other)
		os.close(fd)
		f.seek(0)
		f.write(before)
	me = "~[%d]" % os.getpid()
	tap.ok(len(line) <= 60 and line.count(me) == 2 and re.search(r"%s +%d-%d " % (re.escape(me), fd, other), line),
	       "processes with long names have their number", [line])
	full = "fifteen letters[%d]" % os.getpid()
	tap.ok(whole.count(full) == 2 and "~" not in whole, "a pipe has the names in full", [whole])

def test_cut(tap):
	"""Names that are cut still differ if they differed, wherever that is."""
	if machine.lacks("breakpoints"):
		tap.skip("names that are cut still differ", machine.lacks("breakpoints"))
		return
	fds = [opened(type=5, config=0, bits=1 << 5 | 1 << 6, addr=(0x7f0000001000 + i * 0x10000, 8))
	       for i in range(3)]
	shown = {w: [l.split() for l in at_80("-p", str(os.getpid()), columns=w)[1:4]] for w in (80, 64, 56, 200)}
	for fd in fds:
		os.close(fd)
	bad = [l for l in shown.values() if len({row[2] for row in l}) != 3]
	whole = ["mem:0x7f00000%d1000/8:rw:u" % i for i in range(3)]
	tap.ok(not bad and [row[2] for row in shown[200]] == whole, "names that are cut still differ", [shown])

# A child that stops for its tracer, whose debug registers then hold breakpoints.
TRACED = r"""
import ctypes, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 4
TRACEME, POKEUSER, REGISTERS = 0, 6, 848
pid = os.fork()
if not pid:
	libc.ptrace(TRACEME, 0, 0, 0)
	os.kill(os.getpid(), signal.SIGSTOP)
	os._exit(0)
os.waitpid(pid, os.WUNTRACED)
control = 0
for i in range(4): # 8 bytes each, written (1) or accessed (3)
	control |= 1 << 2 * i | ((2 << 2 | (3 if i % 2 else 1)) << 16 + 4 * i)
	if libc.ptrace(POKEUSER, pid, REGISTERS + 8 * i, 0x600000 + 8 * i):
		sys.exit("PTRACE_POKEUSER: " + os.strerror(ctypes.get_errno()))
if libc.ptrace(POKEUSER, pid, REGISTERS + 8 * 7, control):
	sys.exit("PTRACE_POKEUSER: " + os.strerror(ctypes.get_errno()))
print(pid, flush=True)
sys.stdin.read()
os.kill(pid, signal.SIGKILL)
"""

def test_ptrace(tap):
	"""Breakpoints that a debugger sets have no descriptor."""
	if os.uname().machine != "x86_64":
		return tap.skip("breakpoints of ptrace", "made for x86-64")
	with subprocess.Popen([sys.executable, "-c", TRACED], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
			      stderr=subprocess.PIPE, text=True) as r:
		pid = r.stdout.readline().strip()
		if not pid:
			return tap.skip("breakpoints of ptrace", r.stderr.read().strip())
		found = listed("-p", pid)[0].values()
		text = run("-p", pid).stdout
		why = subprocess.run([rp.PEVTRACE, "why", "-e", "mem:0x700000:rw", "-p", pid],
				     stdout=subprocess.PIPE, text=True, check=False).stdout
		r.stdin.close()
	tap.ok([(e["attr"]["bp_addr"], e["attr"]["bp_type"], e["target"]["tid"]) for e in found] ==
	       [("0x%x" % (0x600000 + 8 * i), 3 if i % 2 else 2, int(pid)) for i in range(4)],
	       "breakpoints of ptrace: four of the child", [text])
	tap.ok(all([(h["by"], h["pid"]) for h in e["holders"]] == [("ptrace", r.pid)] for e in found) and
	       len(re.findall(r"\[%d\] +ptrace " % r.pid, text)) == 4, "they are held by its tracer", [text])
	# Programs beside this one may hold breakpoints of a CPU, and are named, too.
	return tap.ok(re.search(r"held by (\S.*, )?\S+\[%d\] \(mem:\S+ and 3 more\)" % r.pid, why),
		      "why names the tracer", [why])

def test_stale(tap):
	"""Without CAP_SYS_PTRACE, as in many containers, no descriptor can be copied: the count is marked as old."""
	PR_CAPBSET_DROP, CAP_SYS_PTRACE = 24, 19
	fd = opened(config=0, pid=-1, cpu=0)
	confined = {"preexec_fn": lambda: LIBC.prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE, 0, 0, 0)}
	mine = ("-p", str(os.getpid()), "-e", "cpu-clock")
	text = [run(*mine, **how) for how in ({}, confined)]
	stale = [listed(*mine, **how)[0][id_of(fd)].get("stale") for how in ({}, confined)]
	os.close(fd)
	if machine.lacks("tracing"):
		return tap.skip("a count of which no descriptor can be read", machine.lacks("tracing"))
	return tap.ok([bool(re.search(r" active +[\d.]+[kMGT]?\? ", r.stdout)) for r in text] == [False, True] and
		      [r.stderr.count("a count with ? is what the kernel last stored") for r in text] == [0, 1] and
		      stale == [None, True], "a count of which no descriptor can be read",
		      [stale] + [r.stdout + r.stderr for r in text])

def test_times(tap):
	"""The times of enabled events are those that a read returns, or are left out."""
	cpus = sorted(os.sched_getaffinity(0))
	if len(cpus) < 2:
		return tap.skip("times of a task's event on another CPU", "one CPU")
	os.sched_setaffinity(0, cpus[:1])
	timed, bare = (opened(config=0, cpu=cpus[1], format=f) for f in (3, 0))
	before, after = [], []
	while not before or before[1] < 50000000: # the task runs elsewhere that long
		before = struct.unpack("<QQQ", os.read(timed, 24))
	got, r = listed("-p", str(os.getpid()), "-e", "cpu-clock")
	after = struct.unpack("<QQQ", os.read(timed, 24))
	os.sched_setaffinity(0, cpus)
	timed_id, bare_id = id_of(timed), id_of(bare)
	os.close(timed), os.close(bare)
	if machine.lacks("tracing"):
		return tap.skip("times of a task's event on another CPU", machine.lacks("tracing"))
	one, other = got.get(timed_id, {}), got.get(bare_id, {})
	return tap.ok(before[1] <= one.get("enabled_ns", 0) <= after[1] and one.get("running_ns") == 0 and
		      other.get("count") == 0 and "enabled_ns" not in other and "running_ns" not in other and
		      "stale" not in one and "stale" not in other,
		      "times of a task's event on another CPU", [before, one, after, other, r.stderr])

def test_watch(tap):
	"""--watch: rates from the second list on."""
	if machine.lacks("tracing"):	# the count of an event that runs comes from a borrowed descriptor
		return tap.skip("--watch: a clock counts a second in a second", machine.lacks("tracing"))
	fd = opened(config=0, pid=-1, cpu=0)
	r = subprocess.Popen([rp.PEVTRACE, "ps", "--watch=1", "-p", str(os.getpid())], text=True,
			     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
	lines = [r.stdout.readline() for _ in range(6)] # head, row, total
	r.kill()
	r.communicate()
	os.close(fd)
	rate = re.search(r" ([\d.]+)([MG])/s ", lines[4])
	rate = rate and float(rate[1]) * {"M": 1e6, "G": 1e9}[rate[2]]
	tap.ok(lines[0] == lines[3] and rate and 0.9e9 <= rate <= 1.1e9,
	       "--watch: a clock counts a second in a second", lines)

def test_terminal(tap, rows, columns):
	"""--watch on a terminal: in place, no more lines than it has, and none too long."""
	fds = [opened() for _ in range(20)]
	main, end = pty.openpty()
	fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
	r = subprocess.Popen([rp.PEVTRACE, "ps", "--watch=1", "--unfold", str(os.getpid())], stdout=end, stderr=end,
			     env={**os.environ, "TERM": "xterm"})
	text = b""
	while text.count(b"\x1b[H\x1b[J") < 2:
		text += os.read(main, 4096)
	r.kill()
	r.wait()
	for fd in (*fds, main, end):
		os.close(fd)
	screen = re.sub(r"\x1b\[[\d;]*m", "", text.decode().split("\x1b[H\x1b[J")[1]).splitlines()
	shown = rows - 3
	tap.ok(len(screen) == rows - 1 and screen[0].startswith("HELD BY") and
	       all(len(line) <= columns for line in screen) and
	       ("%d more; select with -e or -p; total: events 20, " % (20 - shown)).startswith(screen[-1][:40]),
	       "--watch: what fits on a terminal of %d columns" % columns, screen)

def test_rows(tap):
	"""By holder; dummy events and those that differ by their CPU only in one row; the total."""
	cpus = sorted(os.sched_getaffinity(0))
	fds = [opened(config=2, pid=-1, cpu=c, bits=1) for c in cpus]
	fds += [opened(bits=1), opened(bits=1 | 1 << 1), opened(config=3, bits=1)]
	fds += [opened(config=0, pid=-1, cpu=c) for c in cpus]
	fds.append(opened(config=0, pid=-1, cpu=cpus[0], period=1000000, bits=1))
	holder = subprocess.Popen(["sleep", "1000"], pass_fds=fds[-1:])
	ring = mmap.mmap(fds[-1], 5 * mmap.PAGESIZE)
	me = str(os.getpid())
	names = ["page-faults", "dummy", "context-switches", "cpu-clock", "cpu-clock"]
	counts = [len(cpus), 2, 1, len(cpus), 1]
	folded, each = run(me), run("--unfold", "-p", me)
	on_cpus = re.compile(r" page-faults(?: x\d+)? +cpu%d%s +off +\d" %
			     (cpus[0], r"[-,\d]*%d" % cpus[-1] if cpus[1:] else ""))
	rows = [l.split() for l in folded.stdout.splitlines()]
	shown = [(r[[i for i, w in enumerate(r) if w in names][0]:]) for r in rows[1:-1]]
	total = "total: events %d, processes 2, descriptors %d, rings 1, pinned %d KiB" % (
		len(fds), len(fds) + 2, 5 * mmap.PAGESIZE // 1024) # mmap.mmap() has a descriptor
	tap.ok([s[0] for s in shown] == names and
	       [int(s[1][1:]) if s[1][:1] == "x" else 1 for s in shown] == counts and
	       all("[%s]" % me in l for l in folded.stdout.splitlines()[1:-1]) and
	       on_cpus.search(folded.stdout) and folded.stdout.splitlines()[-1] == total,
	       "rows: the CPUs of an event, and all dummies", [folded.stdout, total])
	tap.ok("[%s] +1 " % me in folded.stdout.splitlines()[-2], "another process that holds the event",
	       [folded.stdout])
	tap.ok(len(each.stdout.splitlines()) == len(fds) + 2 and " x2 " not in each.stdout and
	       [l.split()[1] for l in each.stdout.splitlines()[1:-2]] == [str(f) for f in fds[:-1]] and
	       each.stdout.splitlines()[-1] == total, "--unfold: a row for each", [each.stdout])
	other = run(str(holder.pid)).stdout.splitlines()
	tap.ok(len(other) == 3 and "sleep[%d] +1 " % holder.pid in other[1],
	       "with -p, below that process", other)
	tap.ok(len(listed(me)[0]) == len(fds), "--json has them all", [folded.stdout])
	ring.close()
	for fd in fds:
		os.close(fd)
	holder.kill()
	holder.wait()

def test_ended(tap):
	"""An event of a task that has ended shares no row with others, and is red."""
	child = subprocess.Popen(["sleep", "1000"])
	fds = [opened(pid=child.pid), opened(bits=1), opened(bits=1)]
	child.kill()
	child.wait()
	text = run("--color=always", str(os.getpid())).stdout.splitlines()
	red = [l for l in text if "\x1b[31m" in l]
	tap.ok(len(text) == 4 and len(red) == 1 and re.search(r" dummy .*\x1b\[31m(exited|dead)\x1b\[0m", red[0]) and
	       "dummy x2" in text[1] + text[2], "an event of a task that ended", text)
	for fd in fds:
		os.close(fd)

def test_many(tap):
	"""Thousands of events in a moment, as a row and as many."""
	soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
	n = 10000 if sp.LONG else 2000
	if hard < n + 100:
		return tap.skip("thousands of events", "no more than %d descriptors" % hard)
	resource.setrlimit(resource.RLIMIT_NOFILE, (n + 100, hard))
	fds = [opened(bits=1, period=i % 2 * i) for i in range(n)]
	start = time.monotonic()
	r = [run(*args, str(os.getpid())) for args in ((), ("--unfold",))]
	took = time.monotonic() - start
	for fd in fds:
		os.close(fd)
	resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
	return tap.ok([len(x.stdout.splitlines()) for x in r] == [3, n + 2] and took < 60 and
		      " dummy x%d " % n in r[0].stdout and
		      r[0].stdout.splitlines()[-1].startswith("total: events %d, " % n),
		      "%d events in %.1f seconds" % (n, took), [r[0].stdout[:500], r[1].stdout[:500]])

def test_unlisted(tap):
	"""What the list lacks is said."""
	with tempfile.NamedTemporaryFile("w") as f:
		f.write("1\n")
		f.flush()
		watchdog = "/proc/sys/kernel/nmi_watchdog"
		r = subprocess.run(["unshare", "-m", "sh", "-c", "mount --bind %s %s && exec %s ps" %
				    (f.name, watchdog, rp.PEVTRACE)], stdout=subprocess.DEVNULL,
				   stderr=subprocess.PIPE, text=True, check=False)
	if not os.path.exists(watchdog) or "mount:" in r.stderr or "unshare:" in r.stderr:
		tap.skip("the watchdog", r.stderr.strip() or "none here")
	else:
		tap.ok("the watchdog for hard lockups" in r.stderr, "the watchdog", [r.stderr])
	r = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", rp.PEVTRACE, "ps"],
			   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
	if "unshare" in r.stderr:
		tap.skip("a PID namespace", r.stderr.strip())
	else:
		tap.ok("of this PID namespace" in r.stderr, "a PID namespace", [r.stderr])

def breakpoints(pid):
	"""Open as many as there are; return their descriptors, and why there are no more."""
	fds = []
	while True:
		try:
			fds.append(opened(type=5, config=0, bits=1 | 1 << 5 | 1 << 6, pid=pid,
					  addr=(0x600000 + 8 * len(fds), 8)))
		except OSError as e:
			return fds, e

def elsewhere():
	"""A process that has all breakpoints of its own; closing the pipe ends it."""
	(told, tell), (wait, end) = os.pipe(), os.pipe()
	pid = os.fork()
	if not pid:
		os.close(end)
		breakpoints(0)
		os.write(tell, b".")
		os.read(wait, 1)
		os._exit(0)
	os.read(told, 1)
	for fd in (told, tell, wait):
		os.close(fd)
	return pid, end

def test_named(tap):
	"""An open that found all breakpoints in use: --explain and why name who has them."""
	other, end = elsewhere()
	target = subprocess.Popen(["sleep", "1000"])
	fds, why = breakpoints(target.pid)
	command = [rp.PEVTRACE, "open", "-q", "-e", "mem:0x600000/8:rw:u", "-p", str(target.pid),
		   "--", "true"]
	for engine in ("ptrace", "bpf")[bool(machine.lacks("tracing")):] if fds and why.errno == errno.ENOSPC else ():
		r = subprocess.run([rp.PEVTRACE, "--engine=" + engine, "--explain", "--width=2000", *command],
				   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
		tap.ok(re.search(r"were held by \S+\[%d\] \(mem:0x600000/8:rw:u and %d more\)"
				 % (os.getpid(), len(fds) - 1), r.stdout) and "[%d]" % other not in r.stdout,
		       "holders of breakpoints, --engine=" + engine, [r.stdout])
	if fds and why.errno == errno.ENOSPC:
		named = lambda *of: re.findall(r"\[(\d+)\] \(mem:", subprocess.run(
			[rp.PEVTRACE, "why", "-e", "mem:0x700000/8:rw:u", *of],
			stdout=subprocess.PIPE, text=True, check=False).stdout)
		both = {str(os.getpid()), str(other)}	# other programs may have some for a CPU
		found = [both & set(named(*of)) for of in (["-p", str(target.pid)], ["-p", str(other)],
							   ["-p", "-1", "-C", "0"])]
		tap.ok(found == [{str(os.getpid())}, {str(other)}, both],
		       "why: of the same task; of all for a CPU", [found])
	if not fds or why.errno != errno.ENOSPC:
		tap.skip("holders of breakpoints", str(why))
	for fd in fds:
		os.close(fd)
	os.close(end)
	os.waitpid(other, 0)
	target.kill()
	target.wait()

def schema(tap):
	if not rp.jsonschema:
		return tap.skip("schema", "python3-jsonschema is not installed")
	with open(os.path.join(rp.HERE, "..", "share", "pevtrace", "ps.schema.json")) as f:
		check = rp.jsonschema.Draft7Validator(json.load(f))
	fds = [opened(bits=1), opened(config=0, pid=-1, cpu=0)]
	bad = [e.message[:200] for o in listed()[0].values() for e in check.iter_errors(o)]
	tap.ok(not bad, "--json is as its schema says", bad[:3])
	for fd in fds:
		os.close(fd)

def main():
	tap = sp.Tap()
	if not NR:
		sp.skip_all("needs x86-64 or arm64")
	for what in ("CAP_PERFMON", "another user"):
		if machine.lacks(what):
			sp.skip_all(machine.lacks(what))
	fd = opened()
	got, r = listed("-p", str(os.getpid()))
	os.close(fd)
	if "without BPF programs" in r.stderr or "cannot " in r.stderr:
		sp.skip_all(r.stderr.strip())
	test_own(tap)
	test_groups(tap)
	test_others(tap)
	test_cgroups(tap)
	test_program(tap)
	test_nobody(tap)
	test_names(tap)
	test_cut(tap)
	test_ptrace(tap)
	test_stale(tap)
	test_times(tap)
	test_watch(tap)
	for size in (12, 80), (8, 60), (8, 20):
		test_terminal(tap, *size)
	test_rows(tap)
	test_ended(tap)
	test_many(tap)
	test_unlisted(tap)
	test_named(tap)
	schema(tap)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
