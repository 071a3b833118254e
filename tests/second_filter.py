#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The second filter, which a process gets when it opens its first event.

  target   a program that looks whether anything was disturbed finds nothing:
           registers, memory, signals, stops, other threads, filters of its own
  calls    the calls seen are those seen where every call stops the program
  stops    no more of them than are needed
  flat     the tracer needs no memory for events that have ended
  kill     tracer or target killed at any moment: nothing is left over
"""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "lib"))
from programs import run_bytes as run
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
FILTERED = os.path.realpath(os.path.join(
	os.environ.get("PEVTRACE_TARGETS", "tests/targets"), "filtered"))
PERF = sp.find_program("perf", ("/usr/lib/linux-tools",))
CANNOT = 77
KILLS = 40

# verb, the calls on events in every run: None if they vary
VERBS = [
	("registers", True), ("maps", True), ("signals", False), ("stop", False),
	("threads", True), ("vfork", True), ("fork", True), ("filter", True),
	("nobody", True), ("unshare", True), ("close_range", True), ("many 200", True), ("quiet 100", True),
]

def said(r):
	return "status %d, %s" % (r.returncode, (r.stdout + r.stderr).decode("utf-8", "replace"))

def same_calls(tap, name, tmp, command):
	"""The same calls are seen with and without filters."""
	paths = []
	for mode in ([], ["--no-seccomp"]):
		paths.append(os.path.join(tmp, "dump%d" % len(paths)))
		run(PEVTRACE, "-o", "/dev/null", "--json=" + paths[-1], *mode, *command)
	r = run(PEVTRACE, "diff", *paths)
	form = run(PEVTRACE, "diff", "--normalize", paths[0]).stdout
	tap.ok(not r.returncode and b"perf_event_open" in form,
	       name + ": the same calls with filters and without", [said(r)])

def target(tap, tmp, verb, certain):
	command = [FILTERED] + verb.split()
	native = run(*command)
	if native.returncode == CANNOT:
		tap.skip(verb + ": nothing disturbed", "cannot be tried here")
		return
	traced = run(PEVTRACE, "-o", os.path.join(tmp, "text"), *command)
	tap.ok(native.returncode == 0 and said(native) == said(traced),
	       verb + ": nothing disturbed", [said(native), said(traced)])
	if certain:
		same_calls(tap, verb, tmp, command)

def leaves(tap, tmp, verb):
	"""A thread with its own descriptor table: the same number has two meanings."""
	text = os.path.join(tmp, "text")
	dump = os.path.join(tmp, "json")
	run(PEVTRACE, "-o", text, "--json=" + dump, FILTERED, verb)
	with open(text) as f:
		live = f.read()
	calls = re.findall(r"^\d+ +([a-z_]+)\(", live, re.M)
	tap.ok(calls == ["perf_event_open", "read", "close"],
	       verb + " before the first event: whose descriptor it is", [live])
	tap.ok(run(PEVTRACE, "decode", "-o", text + "2", dump).returncode == 0 and
	       open(text + "2").read() == live, verb + ": the same from a dump", [])

def is_gone(pid):
	try:
		with open("/proc/%d/stat" % pid) as f:
			return f.read().rsplit(")", 1)[1].split()[0] == "Z"
	except OSError:
		return True

def wait_gone(pid):
	end = time.monotonic() + 20
	while not is_gone(pid) and time.monotonic() < end:
		time.sleep(0.005)
	return is_gone(pid)

def wait_target(tracer):
	"""Return the pid of the target, once it has called exec."""
	end = time.monotonic() + 20
	while time.monotonic() < end:
		with open("/proc/%d/task/%d/children" % (tracer, tracer)) as f:
			for child in f.read().split():
				if os.readlink("/proc/%s/exe" % child) == FILTERED:
					return int(child)
		time.sleep(0.001)
	raise TimeoutError("no target within 20 s")

def killed(tap, tmp, whom):
	"""Kill tracer or target while filters are added; no process may remain."""
	rnd = random.Random(os.environ.get("SEED", "1"))
	why = []
	for _ in range(KILLS):
		text = os.path.join(tmp, "text")
		tracer = subprocess.Popen([PEVTRACE, "-o", text, FILTERED, "forever"],
					  stdin=subprocess.DEVNULL,
					  stdout=subprocess.DEVNULL,
					  stderr=subprocess.DEVNULL)
		target = wait_target(tracer.pid)
		time.sleep(rnd.uniform(0, 0.05))
		os.kill(tracer.pid if whom == "tracer" else target, signal.SIGKILL)
		try:
			tracer.wait(20)
		except subprocess.TimeoutExpired:
			why.append("the tracer hangs")
			tracer.kill()
			tracer.wait()
			continue
		if tracer.returncode != -signal.SIGKILL:
			why.append("the tracer ended with %d" % tracer.returncode)
		if not wait_gone(target):
			why.append("%d is still there" % target)
	tap.ok(not why, "%s killed %d times: nobody left behind" % (whom, KILLS), why)

def peak(tmp, options, verb):
	"""Return the tracer's peak size in KiB.  (rusage includes the process it was forked from.)"""
	tracer = subprocess.Popen([PEVTRACE, "-o", os.path.join(tmp, "text")] +
				  options + [FILTERED] + verb.split())
	size = 0
	while tracer.poll() is None:
		with open("/proc/%d/status" % tracer.pid) as f:
			found = re.search(r"VmHWM:\s*(\d+)", f.read())
		size = int(found.group(1)) if found else size
		time.sleep(0.01)
	return size if tracer.returncode == 0 else 0

def flat(tap, tmp):
	"""Closed events use no memory.  If kept, 7,000 events would be over 5 MiB."""
	for options in ([], ["--json"], ["--records"]):
		name = "no more memory for events that have ended, " + (" ".join(options) or "text")
		if sp.sanitized():
			tap.skip(name, "the sanitizers keep what was freed")
			continue
		few, many = (peak(tmp, options, "turns %d" % n) for n in (1000, 8000))
		tap.ok(few and 0 < many < few + 1024, name, ["%d KiB, %d KiB" % (few, many)])

# Opens and reads events of its own, and prints how many, and how often the kernel switched away.
OPENS = """
import ctypes, resource, struct
libc = ctypes.CDLL(None)
attr = ctypes.create_string_buffer(struct.pack("<IIQ", 1, 64, 9).ljust(64, b"\\0"), 64)
value = ctypes.create_string_buffer(8)
switches = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
before, n = switches(), 0
for _ in range(600):
	fd = libc.syscall(%d, attr, 0, -1, -1, 0)
	n += fd >= 0 and libc.read(fd, value, 8) == 8
print(n, switches() - before)
"""

def stops(tap, tmp):
	"""No more stops than the two of each call, and those that add filters: 6 each, logarithmically."""
	if not sp.NR_OPEN:
		return tap.skip("stops of opens and reads", "the call's number is not known here")
	r = run(PEVTRACE, "-o", os.path.join(tmp, "text"), sys.executable, "-c", OPENS % sp.NR_OPEN)
	n, switches = (int(word) for word in r.stdout.split())
	return tap.ok(n >= 100 and 4 * n <= switches <= 4 * n + 300, "two stops for each call, and few others",
		      [n, switches])

def perf(tap, tmp):
	for name, command in [
			("perf stat", [PERF, "stat", "-e", "task-clock,page-faults", "true"]),
			("perf stat -a", [PERF, "stat", "-a", "-e", "cpu-clock", "sleep", "0.05"]),
			("perf record", [PERF, "record", "-o", os.path.join(tmp, "data"),
					 "-e", "cpu-clock", "true"])]:
		if PERF and run(*command).returncode == 0:
			same_calls(tap, name, tmp, command)
		else:
			tap.skip(name, "does not run here")

def main():
	tap = sp.Tap()
	tmp = tempfile.mkdtemp()
	try:
		for verb, certain in VERBS:
			target(tap, tmp, verb, certain)
		for verb in ("unshare", "close_range"):
			leaves(tap, tmp, verb)
		stops(tap, tmp)
		flat(tap, tmp)
		perf(tap, tmp)
		for whom in ("tracer", "target"):
			killed(tap, tmp, whom)
	finally:
		shutil.rmtree(tmp)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
