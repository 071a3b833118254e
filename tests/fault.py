#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace when its own calls fail, one at a time.

tests/fault/fault.c, preloaded, makes the Nth call of a function fail in pevtrace
and in no other program.  Whatever fails, there is a result, or a message and
status 2; never a signal or a hang.  A program that we started ends as it would
without us, or is killed, and that is said; one that we attached to always ends as
it would.  No process and no file is left behind.

A sample is tried, chosen by FAULT_SEED; all with FAULT_ALL=1, which takes half an
hour.  FAULT_ONLY="CASE FUNCTION N" tries one and shows it.
"""

import collections
import ctypes
import errno
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "lib"))
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
TARGETS = os.path.realpath(os.environ.get("PEVTRACE_TARGETS", "tests/targets"))
LIBRARY = os.path.join(os.path.dirname(TARGETS), "fault.so")
ALL = os.environ.get("FAULT_ALL") == "1"
SEED = int(os.environ.get("FAULT_SEED", "1"))
ONLY = os.environ.get("FAULT_ONLY", "").split()
SAMPLE = 32		# calls tried for each case
ALLOCATIONS = 150	# tried of one launch, at least
PATIENCE = 60		# seconds, for a busy machine
PR_SET_CHILD_SUBREAPER = 36

def function_names():
	with open(os.path.join(HERE, "fault", "fault.c")) as f:
		return re.findall(r"\bf\((\w+), ", f.read()) + ["ptrace", "syscall"]

FUNCTIONS = function_names()

# The errno of a failing call; EIO otherwise.
ERRORS = {
	"malloc": "ENOMEM", "calloc": "ENOMEM", "realloc": "ENOMEM", "mmap": "ENOMEM",
	"open": "EMFILE", "openat": "EMFILE", "fopen": "EMFILE", "fdopen": "ENOMEM",
	"opendir": "EMFILE", "pipe2": "EMFILE", "socketpair": "EMFILE", "fork": "EAGAIN",
	"write": "ENOSPC", "fflush": "ENOSPC", "fclose": "ENOSPC", "ftruncate": "ENOSPC",
	"memfd_create": "EMFILE", "tmpfile": "EMFILE", "process_vm_readv": "EFAULT",
	"timer_create": "EAGAIN", "execve": "EACCES", "prctl": "EPERM",
	"syscall": "EPERM", "signalfd": "EMFILE",
}

# The outcome of one run.
Result = collections.namedtuple("Result", "status out err target left")

class Case:
	"""A command of pevtrace; {tmp} is replaced by a directory created for it."""
	def __init__(self, name, *args, exact=False, attach=None, may=()):
		self.name, self.args, self.exact, self.attach = name, args, exact, attach
		self.may = may		# other statuses: what failed is the answer

def cases(dump, data):
	demo = [os.path.join(TARGETS, "demo"), "true"]
	return [
		Case("text", "-o", "{tmp}/text", *demo),
		Case("memory", "-o", "{tmp}/text", *demo),
		Case("json", "-o", "/dev/null", "--json={tmp}/json", *demo),
		Case("records", "-o", "{tmp}/text", "--records", "--summary", "-k", *demo),
		Case("attach", "-o", "{tmp}/text", "--records", "-p", "{pid}",
		     attach=[os.path.join(TARGETS, "reuse"), "hold"]),
		Case("decode", "decode", "-v", "--summary", dump, exact=True),
		Case("diff", "diff", "--normalize", dump, exact=True),
		Case("diff2", "diff", dump, dump, exact=True),
		Case("codegen", "codegen", dump, exact=True),
		Case("explain", "explain", dump, exact=True),
		Case("report", "report", dump, exact=True),
		Case("chrome", "report", "--format=chrome", dump, exact=True),
		Case("conform", "conform", "--self", "--no-behaviour", exact=True),
		Case("learn", "learn", "--no-input", "counting"),
		Case("tried", "list", "--tried", "PERF_FORMAT_ID"),
		Case("open", "open", "-e", "{{cpu-clock,page-faults}}", "--", "true"),
		Case("side-band", "open", "--side-band", "-o", "{tmp}/text", "--", "true"),
		Case("why once", "why", "--once", "-e", "cpu-clock:u", may=(1,)),
		Case("why", "why", "-e", "page-faults,exclude_user,sample_freq=999999999",
		     may=(1,)),
		Case("replay", "replay", dump, may=(1,)),
	] + ([Case("perfdata", "decode", data, exact=True)] if data else [])

def children():
	"""Return our children, also those inherited from processes that ended."""
	with open("/proc/self/task/%d/children" % os.getpid()) as f:
		return [int(pid) for pid in f.read().split()]

def reap_strays():
	"""Return the processes of a run that have not ended."""
	left = []
	for pid in children():
		try:
			got, _ = os.waitpid(pid, os.WNOHANG)
			if not got:
				left.append(pid)
				os.kill(pid, 9)
				os.waitpid(pid, 0)
		except ChildProcessError:
			pass
	return left

class Runner:
	def __init__(self, tmp):
		self.tmp, self.page = tmp, os.path.join(tmp, "page")
		self.work = os.path.join(tmp, "work")

	def start(self, case, fault, pid):
		with open(self.page, "wb") as f:
			f.truncate(4096)
		shutil.rmtree(self.work, ignore_errors=True)
		os.mkdir(self.work)
		env = dict(os.environ, FAULT=fault, FAULT_PAGE=self.page, LD_PRELOAD=LIBRARY,
			   TMPDIR=self.work)
		args = [a.format(tmp=self.work, pid=pid) for a in case.args]
		return subprocess.Popen([PEVTRACE, *args], stdin=subprocess.DEVNULL, text=True,
					stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
					errors="replace", cwd=self.work)

	def counts(self):
		with open(self.page, "rb") as f:
			return dict(zip(FUNCTIONS, struct.unpack_from("%dQ" % len(FUNCTIONS),
								      f.read())))

	def attached(self, case, fault):
		"""Let the target continue when it is traced, or when tracing has failed."""
		path = os.path.join(self.tmp, "said")
		with open(path, "w") as out:
			target = subprocess.Popen(case.attach, stdin=subprocess.PIPE, stdout=out,
						  stderr=out)
		while "ready" not in self.said(path):
			time.sleep(0.001)
		ours = self.start(case, fault, target.pid)
		while ours.poll() is None and not self.traced(target.pid):
			time.sleep(0.001)
		hung = ""
		try:
			target.communicate(b"x", timeout=PATIENCE)
		except subprocess.TimeoutExpired:
			hung = "hung"
			ours.kill()
			target.communicate(timeout=PATIENCE)
		said = re.sub(r"^\d+ +|ready \d+", "", hung + self.said(path), flags=re.M)
		return ours, (target.returncode, sorted(said.split("\n")))

	@staticmethod
	def said(path):
		with open(path, errors="replace") as f:
			return f.read()

	@staticmethod
	def traced(pid):
		with open("/proc/%d/status" % pid) as f:
			return not re.search(r"^TracerPid:\t0$", f.read(), re.M)

	def run(self, case, fault):
		target = None
		if case.attach:
			ours, target = self.attached(case, fault)
		else:
			ours = self.start(case, fault, 0)
		try:
			out, err = ours.communicate(timeout=PATIENCE)
			status = ours.returncode
		except subprocess.TimeoutExpired:
			ours.kill()
			out, err = ours.communicate()
			status = "hung"
		time.sleep(0)
		return Result(status, out, err, target, self.left())

	def left(self):
		end = time.monotonic() + PATIENCE / 2
		left = []
		while children() and time.monotonic() < end:
			time.sleep(0.01)
			for pid in children():
				try:
					os.waitpid(pid, os.WNOHANG)
				except ChildProcessError:
					pass
		return reap_strays() + [f for f in os.listdir(self.work)
					if f not in ("text", "json")]

def told(err):
	"""Return the lines printed by pevtrace."""
	return [l for l in err.splitlines() if l.startswith("pevtrace: ")]

def judge(case, base, got):
	"""Return what is wrong with the result of a run with a failing call, or None."""
	mine = told(got.err)
	if got.status == "hung":
		return "hung"
	if got.status < 0:
		return "killed by signal %d" % -got.status
	if got.status not in (base.status, 2, 127, *case.may):
		return "status %d" % got.status
	if got.left:
		return "left behind: %s" % got.left
	if case.attach and got.target != base.target:
		return "the target was harmed: %r, not %r" % (got.target, base.target)
	if got.status not in (base.status, *case.may) and not mine:
		return "status %d without a message" % got.status
	if len(mine) > len(told(base.err)) + 4:
		return "%d lines of messages" % len(mine)
	if got.status == base.status and len(mine) <= len(told(base.err)) and case.exact \
	   and got.out != base.out:
		return "another result, and nothing is said"
	return None

def places(base):
	"""Return (function, N) of all calls in a run."""
	return [(f, n) for f, count in base.items() for n in range(1, count + 1)]

def sample(rng, counts):
	"""Return the first call of each function, and a random sample of the others."""
	first = [(f, 1) for f, count in counts.items() if count]
	rest = [(f, rng.randint(1, count)) for f, count in counts.items() if count > 1]
	rng.shuffle(rest)
	more = rng.sample(first, min(len(first), SAMPLE // 2))
	return more + rest[:SAMPLE - len(more)]

def spread(counts):
	"""Return every call, of frequently called functions a fraction."""
	most = int(os.environ.get("FAULT_MOST", "400"))
	chosen = []
	for f, count in counts.items():
		step = max(1, count // most)
		chosen += [(f, n) for n in range(1, count + 1, step)]
	return chosen

def fault_of(function, n):
	return "%s:%d:%d" % (function, n, getattr(errno, ERRORS.get(function, "EIO")))

def allocations(counts):
	"""Return the allocations of a launch in equal steps: signals are blocked during most."""
	found = [(f, n) for f in ("malloc", "calloc", "realloc") for n in range(1, counts[f] + 1)]
	return found[::max(1, len(found) // ALLOCATIONS)]

def try_case(tap, runner, case, rng):
	base = runner.run(case, "none:0:0")
	counts = runner.counts()
	if base.left or (base.target and base.target[0]):
		tap.ok(False, case.name + ": without a fault", [repr(base)])
		return 0
	chosen = spread(counts) if ALL else sample(rng, counts)
	if case.name == "memory":
		chosen = allocations(counts)
	if ONLY[1:]:
		chosen = [(ONLY[1], int(ONLY[2]))]
	wrong = []
	for function, n in chosen:
		got = runner.run(case, fault_of(function, n))
		why = judge(case, base, got)
		if why or ONLY[1:]:
			wrong.append("%s %s %d: %s; status %s, %s" %
				     (case.name, function, n, why, got.status, got.err[:400]))
	tap.ok(not wrong, "%s: %d of %d calls failed, one at a time" %
	       (case.name, len(chosen), sum(counts.values())), wrong[:40])
	return len(chosen)

def make_inputs(tmp):
	dump, data = os.path.join(tmp, "dump"), os.path.join(tmp, "perf.data")
	subprocess.run([PEVTRACE, "-o", "/dev/null", "--records", "--json=" + dump,
			os.path.join(TARGETS, "demo"), "true"], stdout=subprocess.DEVNULL,
		       stderr=subprocess.DEVNULL, check=True, timeout=120)
	perf = sp.find_program("perf", ("/usr/lib/linux-tools",))
	if not perf or subprocess.run([perf, "record", "-q", "-e", "cpu-clock", "-o", data, "true"],
				      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
				      check=False, timeout=120).returncode:
		data = None
	return dump, data

def main():
	tap = sp.Tap()
	if not os.path.exists(LIBRARY):
		tap.skip("faults", "tests/fault.so was not built: the sanitizers and it both "
			 "replace malloc")
		return tap.done()
	ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	rng = random.Random(SEED)
	tried = 0
	with tempfile.TemporaryDirectory() as tmp:
		for case in cases(*make_inputs(tmp)):
			if not ONLY or case.name == ONLY[0]:
				tried += try_case(tap, Runner(tmp), case, rng)
	print("# %d faults" % tried)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
