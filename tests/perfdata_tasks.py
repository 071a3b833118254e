#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names, programs and mappings of tasks in perf.data files, where tasks begin, execute programs, end
or change their names around the samples."""

import collections
import json
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from perfdata import from_dump, main, readers, text, trace
from programs import run_bytes as run
import ringparse as rp
import straceparse as sp

THREAD = """
import ctypes, mmap, os, signal, struct, threading, time
nr = {"x86_64": 298}.get(os.uname().machine, 241)
attr = struct.pack("<IIQQQQQ", 1, 64, 1, 1000000, 7, 0, 0).ljust(64, b"\\0")
perf_event_open, rings = ctypes.CDLL(None).syscall, []
def open_ring(): rings.append(mmap.mmap(perf_event_open(nr, attr, os.getpid(), -1, -1, 8),
					65 * mmap.PAGESIZE))
thread = threading.Thread(target=open_ring)
os.kill(os.getppid(), signal.SIGSTOP)
thread.start()
thread.join()
while len(os.listdir("/proc/self/task")) > 1: pass
os.kill(os.getppid(), signal.SIGCONT)
end = time.process_time() + 0.5
while time.process_time() < end: pass
os._exit(0)
"""

def test_thread(tap, tmp):
	"""A ring that was mapped by a thread which has ended when the BPF engine learns of it."""
	if os.getuid() or not sp.has_bpf(rp.PEVTRACE):
		return tap.skip("a thread opens an event and ends", "BPF programs cannot be loaded")
	ours = os.path.join(tmp, "thread.data")
	r = trace(["--perf-data=" + ours, "--engine=bpf"], ["/usr/bin/python3", "-c", THREAD])
	n = len(text(rp.PERF, "script", "-i", ours)) - 1
	tap.ok(n > 100, "a thread opens an event and ends: %d samples" % n, [r.stderr])

def test_drained_dump(tap, tmp):
	"""A dump of a ring whose records were all overwritten has a reason, and one only."""
	dump, made = os.path.join(tmp, "dr.json"), os.path.join(tmp, "dr.data")
	r = trace(["--records", "--json=" + dump], [rp.target("drain"), "20000"])
	with open(dump) as f:
		kept = [line for line in f if '"kind":"record"' not in line]
	with open(dump, "w") as f:
		f.writelines(kept)
	m = from_dump(made, dump)
	tap.ok(m.stderr.count(b"\n") == 1 and b"--look-every" in m.stderr,
	       "a dump of a ring that is consumed silently names --look-every", [r.stderr, m.stderr])

def test_taskless(tap, tmp):
	"""Samples without PERF_SAMPLE_TID: those of one task get it, so perf knows process and
	function; of others, which may be of child processes, a message says that it is missing."""
	dump, ours, made = (os.path.join(tmp, name) for name in ("t.json", "t.data", "tm.data"))
	cpu = str(min(os.sched_getaffinity(0)))
	on_cpu = ["taskset", "-c", cpu] if shutil.which("taskset") else None
	for bits, name in ((0x1, "IP"), (0x10001, "IP, IDENTIFIER"), (0x45, "IP, TIME, ID"),
			   (0x1, "IP, inherited")):
		inherited = "inherited" in name
		if inherited and not on_cpu:
			tap.skip("samples with " + name, "no taskset")
			continue
		r = trace(["--records", "--json=" + dump, "--perf-data=" + ours],
			  (on_cpu if inherited else []) + [rp.target("drain"), "300", "128",
			   hex(bits)] + ([cpu] if inherited else []))
		m = from_dump(made, dump)
		n = int(r.stdout.split()[0]) if r.stdout.strip() else 0
		for who, perf in readers().items():
			fields = "event,ip" if inherited else "comm,pid,tid,event,ip,sym"
			a, b = (text(*perf, "script", "-F", fields, "-i", f)
				for f in (ours, made))
			known = [line for line in a if re.match(r" *drain +(\d+)/\1 .* main$", line)]
			tap.ok(n >= 300 and a == b and len(a) - 1 >= n and
			       (not known if inherited else len(known) >= 300) and
			       [b"samples of page-faults:uh have no PERF_SAMPLE_TID" in p.stderr
				for p in (r, m)] == [inherited] * 2,
			       "samples with %s, read by %s: %d, of which %d have their function" %
			       (name, who, len(a) - 1, len(known)), [n, r.stderr, m.stderr] + a[:3])

CLOCKS = """
import ctypes, mmap, os, struct, sys, time
nr, rings = {"x86_64": 298}.get(os.uname().machine, 241), []
for config, clock in enumerate(sys.argv[1:]):
	attr = struct.pack("<IIQQQQQ44xi", 1, 96, config, 1000000, 0x10007, 0,
			   0 if clock == "-" else 1 << 25, int(clock.strip("-") or 0)).ljust(96, b"\\0")
	rings.append(mmap.mmap(ctypes.CDLL(None).syscall(nr, attr, 0, -1, -1, 8), 65 * mmap.PAGESIZE))
end = time.process_time() + 0.1
while time.process_time() < end: pass
"""

def test_clocks(tap, tmp):
	"""A message names events whose times are of different clocks."""
	ours = os.path.join(tmp, "clocks.data")
	for clocks, said in ((["-", "-"], b""), (["1", "1"], b""),
			     (["-", "1"], b"cpu-clock are of perf's own clock, but those of "
			      b"task-clock of CLOCK_MONOTONIC: "),
			     (["0", "11"], b"of CLOCK_REALTIME, but those of task-clock of "
			      b"CLOCK_TAI: ")):
		r = trace(["--perf-data=" + ours], ["/usr/bin/python3", "-c", CLOCKS] + clocks)
		n = len(text(rp.PERF, "script", "-i", ours)) - 1
		tap.ok(n > 50 and said in r.stderr and r.stderr.count(b"\n") == (said > b""),
		       "clocks %s: %d samples" % (" and ".join(clocks), n), [r.stderr])

LOADED = """
import _ctypes, ctypes, mmap, os, struct, sys, time
nr = {"x86_64": 298}.get(os.uname().machine, 241)
attr = struct.pack("<IIQQQQQ", 1, 64, 2, 1, 1, 0, 1 << 5).ljust(64, b"\\0")
ring = mmap.mmap(ctypes.CDLL(None).syscall(nr, attr, 0, -1, -1, 8), 65 * mmap.PAGESIZE)
time.sleep(0.1)
def work(path):
	library, size = ctypes.CDLL(path), ctypes.c_uint(1 << 20)
	end = time.monotonic() + 0.5
	while time.monotonic() < end:
		if os.path.exists(path) and time.monotonic() > end - 0.25: os.unlink(path)
		library.BZ2_bzBuffToBuffCompress(ctypes.create_string_buffer(size.value),
			ctypes.byref(size), bytes(300000), 300000, 9, 0, 0)
	_ctypes.dlclose(library._handle)
for path in sys.argv[1:]: work(path)
"""

def test_loaded(tap, tmp):
	"""Samples without PERF_SAMPLE_TID, by an event that records no mappings, in libraries that
	were loaded after it was opened, the second where the first had been, and which are
	deleted while they run."""
	ours = os.path.join(tmp, "l.data")
	libraries = [os.path.join(tmp, name) for name in ("one.so", "other.so")]
	maps = text("/usr/bin/python3", "-c", 'import bz2; print(open("/proc/self/maps").read())')
	found = re.search(r"/\S*/libbz2\.so\S*", "\n".join(maps))
	if not found:
		return tap.skip("samples in libraries that were loaded later", "no libbz2")
	for path in libraries:
		shutil.copy(found.group(), path)
	r = trace(["--perf-data=" + ours], ["/usr/bin/python3", "-c", LOADED] + libraries)
	lines = text(rp.PERF, "script", "-F", "comm,ip,sym,dso", "-i", ours)
	n = [len([line for line in lines if "(" + path in line]) for path in libraries]
	tap.ok(min(n) > 50 and not [line for line in lines if "deleted" in line], "samples in libraries that were loaded later: %d, %d" % tuple(n),
	       [r.stderr] + lines[-5:])

EXECS = """
import ctypes, mmap, os, struct, sys, time
nr = {"x86_64": 298}.get(os.uname().machine, 241)
go, started = os.pipe()
pid = os.fork()
if not pid:
	os.read(go, 1)
	os.execv(sys.argv[2], [sys.argv[2], "-c"] + sys.argv[3:])
attr = struct.pack("<IIQQQQQ", 1, 64, 1, 1000000, 7, 0, int(sys.argv[1], 0)).ljust(64, b"\\0")
ring = mmap.mmap(ctypes.CDLL(None).syscall(nr, attr, pid, -1, -1, 8), 65 * mmap.PAGESIZE)
os.write(started, b"x")
os.waitpid(pid, 0)
"""
LATE = """
import ctypes, mmap, os, struct, time
nr = {"x86_64": 298}.get(os.uname().machine, 241)
attr = struct.pack("<IIQQQQQ", 1, 64, 1, 1000000, 7, 0, 0).ljust(64, b"\\0")
ring = mmap.mmap(ctypes.CDLL(None).syscall(nr, attr, 0, -1, -1, 8), 65 * mmap.PAGESIZE)
end = time.process_time() + 0.2
while time.process_time() < end: pass
"""

def test_late_exec(tap, tmp):
	"""A process that is described for the first time after its exec, which the BPF engine
	reports when samples of others are newer than its own first ones."""
	dump, made = os.path.join(tmp, "le.json"), os.path.join(tmp, "le.data")
	trace(["--records", "--json=" + dump],
	      ["sh", "-c", '"$@"; "$@"; true', "sh", "/usr/bin/python3", "-c", LATE])
	with open(dump) as f:
		lines = [json.loads(line) for line in f]
	records = [line for line in lines if line["kind"] == "record"]
	child = records[-1]["record"]["pid"]
	at = [line["kind"] == "exec" and line["tid"] == child for line in lines].index(True)
	last = max(i for i in range(at) if lines[i]["kind"] == "record")
	late = bytes.fromhex(lines[last]["hex"])
	lines[last]["hex"] = late[:24].hex() + bytes.fromhex(records[-1]["hex"])[24:].hex()
	with open(dump, "w") as f:
		f.writelines(json.dumps(line) + "\n" for line in lines)
	r = from_dump(made, dump)
	names = collections.Counter(line.strip() for line in
				    text(rp.PERF, "script", "-F", "comm", "-i", made))
	tap.ok(names.pop("", 1) and set(names) == {"python3"} and names["python3"] == len(records),
	       "an exec that is reported late: %s" % dict(names), [r.stderr])

BUSY = """
import posix, sys, time
def work():
	end = time.process_time() + 0.5
	while time.process_time() < end: pass
work()
with open("/proc/self/comm", "w") as f: f.write("then-" + sys.orig_argv[0][-3:])
work()
if len(sys.argv) > 1: posix.execv(sys.argv[1], [sys.argv[1], "-c", sys.orig_argv[2]])
"""

THREADS = """
import ctypes, mmap, os, struct, threading, time
nr = {"x86_64": 298}.get(os.uname().machine, 241)
attr = struct.pack("<IIQQQQQ", 1, 64, 1, 1000000, 7, 0, 0x42122).ljust(64, b"\\0")
rings = [mmap.mmap(ctypes.CDLL(None).syscall(nr, attr, 0, cpu, -1, 8), 65 * mmap.PAGESIZE)
	 for cpu in os.sched_getaffinity(0)]
def work(name):
	with open("/proc/self/task/%d/comm" % threading.get_native_id(), "w") as f: f.write(name)
	end = time.thread_time() + 0.3
	while time.thread_time() < end: pass
for name in ("one", "two", "three"): threading.Thread(target=work, args=(name,)).start()
"""

def test_threads(tap, tmp):
	"""Threads that name themselves, with records of their creation but none of names."""
	dump, ours, made = (os.path.join(tmp, name) for name in ("th.json", "th.data", "thm.data"))
	r = trace(["--records", "--json=" + dump, "--perf-data=" + ours],
		  ["/usr/bin/python3", "-c", THREADS])
	m = from_dump(made, dump)
	for path in ours, made:
		found = collections.Counter(text(rp.PERF, "script", "-F", "comm", "-i", path))
		n = [found[key] for key in found if key.strip() in ("one", "two", "three")]
		tap.ok(len(n) == 3 and min(n) > 10 and sum(n) > 0.5 * found.total(),
		       "names of threads, %s: %s" % (os.path.basename(path), dict(found)),
		       [r.stderr, m.stderr])

REUSED = """
import os, signal, subprocess, sys, time
def busy(name, pid):
	with open("/proc/sys/kernel/ns_last_pid", "w") as f: f.write(str(pid - 1))
	child = os.fork()
	if not child: os.execv(name, [name, "-c", "while True: pass"])
	assert child == pid
	subprocess.run(sys.argv[3:] + ["-p", str(child), "sleep", "0.3"])
	os.kill(child, signal.SIGKILL)
	os.waitpid(child, 0)
for name in sys.argv[1:3]: busy(name, 100)
"""

def test_reused(tap, tmp):
	"""Two processes with one id, one after the other: each has its own program."""
	ours = os.path.join(tmp, "reused.data")
	programs = [os.path.join(tmp, name) for name in ("earlier", "later")]
	for path in programs:
		shutil.copy(os.path.realpath("/usr/bin/python3"), path)
	r = trace(["--perf-data=" + ours], ["unshare", "-rpf", "--mount-proc", "/usr/bin/python3", "-c",
					     REUSED] + programs + [rp.PERF, "record", "-q", "-o",
					     "/dev/null", "-e", "cpu-clock:u"])
	if b"unshare" in r.stderr or b"Error" in r.stderr:
		return tap.skip("an id that is used again", "ids cannot be chosen here")
	found = collections.Counter(re.findall(r"^ *(\S+) +100 .*\(%s/([a-z]+)\)$" % re.escape(tmp),
			"\n".join(text(rp.PERF, "script", "-F", "comm,pid,ip,sym,dso", "-i", ours)), re.M))
	tap.ok(set(found) == {("earlier", "earlier"), ("later", "later")} and min(found.values()) > 10,
	       "an id that is used again: %s" % dict(found), [r.stderr])

def test_execs(tap, tmp):
	"""One program after another in a process, at the same addresses unless they are position
	independent, each with two names, and an event that records neither, or mappings only."""
	dump, ours, made = (os.path.join(tmp, name) for name in ("e.json", "e.data", "em.data"))
	programs = [os.path.join(tmp, name) for name in ("first", "second")]
	for path in programs:
		shutil.copy(os.path.realpath("/usr/bin/python3"), path)
	want = {("first", "first"), ("then-rst", "first"), ("second", "second"), ("then-ond", "second")}
	for flags, name in (("0x1021", "without"), ("0x41021", "with"), ("0x41121", "mmap, with")):
		r = trace(["--records", "--json=" + dump, "--perf-data=" + ours],
			  ["/usr/bin/python3", "-c", EXECS, flags, programs[0], BUSY, programs[1]])
		m = from_dump(made, dump)
		for path in ours, made:
			p = run(rp.PERF, "script", "-F", "comm,ip,sym,dso", "-i", path)
			lines = p.stdout.decode(errors="replace").split("\n")
			found = collections.Counter(re.findall(r"^ *(\S+) .*\(%s/([a-z]+)\)$" %
					re.escape(tmp), "\n".join(lines), re.M))
			tap.ok(set(found) == want and min(found.values()) > 10 and
			       not p.stderr,
			       "execs, %s sample_id_all, %s: %s" %
			       (name, os.path.basename(path), dict(found)),
			       [r.stderr, m.stderr, p.stderr] + lines[:5])

SHORT = """
import ctypes, mmap, os, struct, subprocess
nr = {"x86_64": 298}.get(os.uname().machine, 241)
attr = struct.pack("<IIQQQQQ", 1, 64, 2, 20, 7, 0, 2).ljust(64, b"\\0")	# inherit
rings = [mmap.mmap(ctypes.CDLL(None).syscall(nr, attr, 0, cpu, -1, 8), 65 * mmap.PAGESIZE)
	 for cpu in os.sched_getaffinity(0)]
subprocess.call(["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do perl -e 1; done"])
"""

def test_short(tap, tmp):
	"""Programs that end before the BPF engine tells of their exec: it tells their names."""
	ours = os.path.join(tmp, "short.data")
	if os.getuid() or not sp.has_bpf(rp.PEVTRACE):
		return tap.skip("names of short programs", "BPF programs cannot be loaded")
	r = trace(["--engine=bpf", "--perf-data=" + ours], ["/usr/bin/python3", "-c", SHORT])
	p = run(rp.PERF, "script", "-F", "comm", "-i", ours)
	names = collections.Counter(p.stdout.decode().split())
	# the time of an exec is not known, so samples of perl may have the name before, sh
	tap.ok(not p.stderr and sum(names.values()) > 50 and names.keys() <= {"python3", "sh", "perl"},
	       "names of short programs: %s" % dict(names), [r.stderr, p.stderr])

if __name__ == "__main__":
	sys.exit(main(globals()))
