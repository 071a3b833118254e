#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs that try to harm their tracer.

Names with control bytes, sizes that lie, memory and descriptors that change
between two looks, storms of signals, forks without end, tasks that end while
they are attached to.  The program's own output and end stay what they are; the
tracer neither crashes nor hangs, needs no more memory than for others, and never
prints a control character, nor one of the C1 set, but newlines.
"""

import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
TARGETS = os.path.realpath(os.environ.get("PEVTRACE_TARGETS", "tests/targets"))
HOSTILE = os.path.join(TARGETS, "hostile")
CGROUPS = "/sys/fs/cgroup"
SEED = os.environ.get("SEED", "1")
ATTACHES = 40
CANNOT = 77
LIMIT = 32 * 1024	# KiB; a quiet target needs about 6 MiB
TIMEOUT = 300
EVIL = b"\033[31m\033]0;x\007\r\n\x9b1m\xc2\x9b2J\x7f\xff"
# all of C0 but newline, DEL, and C1, as a byte that is no part of a character or as one
CONTROL = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
ENV = dict(os.environ, NO_COLOR="1", LC_ALL="C")
VERBS = ["names @", "sizes", "races", "made_up", "storm", "forks", "mayflies 300", "throng", "lazy"]
# message allowed for races: another event has replaced the ring meanwhile
BLIND = re.compile(rb"pevtrace: cannot read the ring buffer of hostile\[\d+\]: "
		   rb"Invalid argument; its records are not shown\n")
MODES = {
	"text": [],
	"verbose": ["-v", "-y", "-s", "4096", "--trace=all"],
	"json": ["--json"],
	"records": ["--records", "--symbols", "-v", "-y", "-s", "4096"],
	"summary": ["--summary", "--look-every=3"],
	"stacks": ["-k", "--trace=perf_event_open"],
	"no-seccomp": ["--no-seccomp"],
}

def controls(data):
	"""Return control characters and invalid UTF-8 in the output."""
	found = ["%r at %d" % (data[max(0, m.start() - 20):m.end() + 20], m.start())
		 for m in CONTROL.finditer(data)][:3]
	try:
		data.decode("utf-8")
	except UnicodeDecodeError as e:
		found.append(str(e))
	return found

def lines_of_json(data):
	for line in data.split(b"\n"):
		try:
			if line:
				json.loads(line)
		except ValueError as e:
			return ["%s in %r" % (e, line[:100])]
	return []

def peak_of(pid):
	try:
		with open("/proc/%d/status" % pid) as f:
			return int(re.search(r"VmHWM:\s*(\d+)", f.read()).group(1))
	except (OSError, AttributeError):
		return 0

def watch(argv, tmp):
	"""Run pevtrace; return exit status, the target's output, and peak size in KiB."""
	with tempfile.TemporaryFile() as out:
		tracer = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out,
					  stderr=subprocess.STDOUT, cwd=tmp, env=ENV)
		size, end = 0, time.monotonic() + TIMEOUT
		while tracer.poll() is None:
			size = max(size, peak_of(tracer.pid))
			if time.monotonic() > end:
				tracer.kill()
			time.sleep(0.003)
		out.seek(0)
		return tracer.returncode, out.read(), size

def one(tap, tmp, verb):
	evil = os.path.join(tmp, "dir")
	argv = [HOSTILE] + verb.replace("@", evil).split()
	trace = os.path.join(tmp, "trace")
	native = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
				stderr=subprocess.STDOUT, timeout=TIMEOUT)
	if native.returncode == CANNOT:
		tap.skip(verb, "cannot be tried here")
		return
	why = []
	for name, options in MODES.items():
		status, out, size = watch([PEVTRACE, "-o", trace] + options + argv, tmp)
		with open(trace, "rb") as f:
			seen = f.read()
		bad = controls(seen)
		if verb == "races":
			out = BLIND.sub(b"", out, count=1)
		if (status, out) != (native.returncode, native.stdout):
			bad.append("ended with %d: %r" % (status, out))
		if b"perf_event_open" not in seen and verb != "forks":
			bad.append("the trace is empty")
		if size >= LIMIT and not sp.sanitized():	# sanitizers keep freed memory
			bad.append("%d KiB" % size)
		if name == "json":
			bad += lines_of_json(seen)
			r = subprocess.run([PEVTRACE, "decode", "-v", trace], stdout=subprocess.PIPE,
					   stderr=subprocess.STDOUT, timeout=TIMEOUT)
			bad += controls(r.stdout) + [r.returncode] * (r.returncode != 0)
		why += ["%s: %s" % (name, b) for b in bad]
	tap.ok(not why, "%s: %d modes, nothing but what is true and harmless" %
	       (verb.split()[0], len(MODES)), why)

def spoil(path, field, value):
	"""Set a field in the header of each symbol table of a 64-bit ELF file."""
	with open(path, "r+b") as f:
		data = bytearray(f.read())
		at, = struct.unpack_from("<Q", data, 0x28)
		n, = struct.unpack_from("<H", data, 0x3c)
		for header in range(at, at + 64 * n, 64):
			if struct.unpack_from("<I", data, header + 4)[0] == 2:
				struct.pack_into("<Q", data, header + field, value)
		f.seek(0)
		f.write(data)

def symbols(tap, tmp):
	"""Programs with invalid symbol tables: a stack may be missing, nothing worse."""
	for name, field, value in (("a size beyond all files", 32, 1 << 40),
				   ("entries of no size", 56, 0),
				   ("a place beyond all files", 24, 1 << 63)):
		path, trace = os.path.join(tmp, "liar"), os.path.join(tmp, "trace")
		shutil.copy(HOSTILE, path)
		spoil(path, field, value)
		argv = [path, "sizes"]
		native = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
		status, out, size = watch([PEVTRACE, "-k", "--trace=perf_event_open", "-o", trace] +
					  argv, tmp)
		with open(trace) as f:
			seen = f.read()
		tap.ok((status, out) == (native.returncode, native.stdout) and " > " in seen and
		       (size < LIMIT or sp.sanitized()), "-k and a symbol table with " + name,
		       [status, out, size, seen[:1000]])

def cgroup(tap, tmp):
	"""A cgroup whose name has control characters."""
	path = os.path.join(CGROUPS.encode(), b"pevtrace%d" % os.getpid() +
			    EVIL.replace(b"\n", b""))
	name = "a cgroup's name with escapes"
	try:
		os.mkdir(path)
	except OSError as e:
		tap.skip(name, "cannot make a cgroup: %s" % e.strerror)
		return
	try:
		out = subprocess.run([PEVTRACE, "open", "-e", "page-faults", "-v", "-G", path, "--for=0.05"],
				     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, env=ENV)
		tap.ok(not controls(out.stdout), name, controls(out.stdout))
	finally:
		os.rmdir(path)

def attach_to_the_dying(tap, tmp):
	"""Attach at a random moment to short-lived programs: both end well."""
	rnd = random.Random(SEED)
	why = []
	for n in range(ATTACHES):
		target = subprocess.Popen([HOSTILE, "mayflies", "0"] if n % 2 else ["true"],
					  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
		time.sleep(rnd.uniform(0, 0.006))
		tracer = subprocess.Popen([PEVTRACE, "-o", os.path.join(tmp, "trace"), "-p",
					   str(target.pid)], stdin=subprocess.DEVNULL,
					  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
		said = tracer.communicate(timeout=300)[0].decode()
		out = target.communicate(timeout=300)[0]
		if target.returncode or (n % 2 and out != b"mayflies: over\n"):
			why.append("the target ended with %d: %r" % (target.returncode, out))
		# a zombie or a process that has ended is reported
		if tracer.returncode not in (0, 2) or (tracer.returncode == 2) != ("cannot attach" in said):
			why.append("pevtrace ended with %d: %s" % (tracer.returncode, said))
	tap.ok(not why, "attached %d times to what was about to end" % ATTACHES, why)

def cpu_time(tmp, sleepers, calls):
	"""Return the seconds that tracer and tracee take of a CPU, however busy it is."""
	cpu = min(os.sched_getaffinity(0)) # on two CPUs, tracer and tracee would wait for each other
	p = subprocess.Popen([PEVTRACE, "--no-seccomp", "-o", os.path.join(tmp, "trace"),
			      HOSTILE, "sleepers", "%d,%d" % (sleepers, calls)], stdin=subprocess.DEVNULL,
			     preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
	used = os.wait4(p.pid, 0)[2]
	return used.ru_utime + used.ru_stime

def busy_among_sleepers(tap, tmp):
	"""Calls of running tasks take no more work where others sleep."""
	alone, both, idle = [], [], []
	for _ in range(3): # the slowdown is likely, not certain
		alone.append(cpu_time(tmp, 0, 5000) - cpu_time(tmp, 0, 0))
		idle.append(cpu_time(tmp, 2000, 0))
		both.append(cpu_time(tmp, 2000, 5000))
	tap.ok(max(both) - min(idle) < 8 * max(alone) + 0.1,
	       "thousands that sleep do not slow down the others", [repr((alone, idle, both))])

def attach_to_a_crowd(tap, tmp):
	"""Attach and detach while threads and processes start and end."""
	rnd = random.Random(SEED)
	why = []
	target = subprocess.Popen([HOSTILE, "mayflies", "600000"])
	for _ in range(ATTACHES):
		tracer = subprocess.Popen([PEVTRACE, "-o", os.path.join(tmp, "trace"), "-p",
					   str(target.pid)], stdin=subprocess.DEVNULL,
					  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
		said = tracer.stderr.readline()
		time.sleep(rnd.uniform(0, 0.03))
		tracer.send_signal(signal.SIGINT)
		try:
			said += tracer.communicate(timeout=300)[1]
		except subprocess.TimeoutExpired:
			why.append("pevtrace does not let go")
			tracer.kill()
			tracer.wait()
			break
		if tracer.returncode:
			why.append("pevtrace ended with %d: %r" % (tracer.returncode, said))
	if target.poll() is not None:
		why.append("the target ended with %d" % target.returncode)
	target.kill()
	target.wait()
	tap.ok(not why, "attached %d times to what starts and ends threads all the time" % ATTACHES,
	       why)

def held_by_evil(tap, tmp):
	"""The name of another tracer with control characters, in a message."""
	evil = os.path.join(tmp.encode(), EVIL[:12].replace(b"/", b""))
	os.symlink(PEVTRACE, evil)
	target = subprocess.Popen(["sleep", "1000"])
	first = subprocess.Popen([evil, "-o", os.path.join(tmp, "trace"), "-p", str(target.pid)],
				 stderr=subprocess.PIPE)
	first.stderr.readline()
	r = subprocess.run([PEVTRACE, "-p", str(target.pid)], stdin=subprocess.DEVNULL,
			   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
	first.send_signal(signal.SIGINT)
	first.communicate(timeout=300)
	target.kill()
	target.wait()
	tap.ok(r.returncode == 2 and b"already traced by process" in r.stdout and not controls(r.stdout),
	       "an evil name in a message", [r.stdout])

def main():
	tap = sp.Tap()
	tmp = tempfile.mkdtemp()
	os.chmod(tmp, 0o755)
	os.mkdir(os.path.join(tmp, "dir"))
	try:
		for verb in VERBS:
			one(tap, tmp, verb)
		symbols(tap, tmp)
		cgroup(tap, tmp)
		held_by_evil(tap, tmp)
		attach_to_the_dying(tap, tmp)
		attach_to_a_crowd(tap, tmp)
		busy_among_sleepers(tap, tmp)
	finally:
		shutil.rmtree(tmp)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
