#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs must not notice that they are traced.

Each target runs by itself and then under pevtrace: with text, --json and
--records, and attached to and let go again in mid-run.  Its output, its exit
status or the signal that it died of, and what it says of what its calls, its
children and its signals did must be the same.  Numbers that differ from run to
run (pids, times, counts) are replaced; where runs without pevtrace differ among
themselves, each of their outcomes will do.

Only PTRACE_TRACEME and its like come out differently; that is said once.
"""

import difflib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import ringparse as rp
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
TARGETS = os.path.realpath(os.environ.get("PEVTRACE_TARGETS", "tests/targets"))
PERF = sp.find_program("perf", ("/usr/lib/linux-tools",))
CANNOT = 77
NATIVES = 6
MODES = {"text": [], "json": ["--json"], "records": ["--records", "--summary", "-v"],
	 "every call stops": ["--no-seccomp", "--records"]}
BPF = ["--engine=bpf", "--records"]
if sp.sanitized():
	BPF += ["--buffer=64"] # the reader is several times slower than the programs it reads from
if sp.has_bpf(PEVTRACE):
	MODES["bpf"] = BPF
# For machines that are slow (--core): both engines, and what most differs between kernels.
# Not event_uses sigtrap: on arm64 its watchpoint traps without end (see experiment/work.h).
CORE_MODES = ["text", "bpf", "attach"]
CORE = ["processes -e fork", "processes thread_exec", "processes trap", "sandboxed filter",
	"event_uses running_group", "event_uses overflows", "a shell's pipes"]
PATIENCE = 240	# seconds, for a busy machine and the sanitizers
RND = random.Random(os.environ.get("SEED", "1"))
ENV = {"PATH": os.environ["PATH"], "HOME": "/", "LC_ALL": "C"}
ENV.update((k, v) for k, v in os.environ.items() if k in ("ASAN_OPTIONS", "UBSAN_OPTIONS"))

PROCESSES = ["fork", "vfork", "thread_exec", "leaderless", "stop", "go_on", "trap", "timer", "interrupt",
	    "interrupt restart", "restart_block", "signalfd", "inherited", "sleepers", "timeouts"]
SANDBOXED = ["filter", "made_up", "strict", "notify", "ids", "set_user_id @suid", "chroot @root",
	    "namespace", "subreaper", "daemon", "untraced"]
EVENT_USES = ["running_group", "refresh", "overflows", "emfile %d" % sp.times(20000, 100000), "lost", "leader",
	    "child_pid", "sigtrap", "waits"]
PERF_TESTS = """Detect openat syscall event
Detect openat syscall event on all cpus
mmap interface tests
Parse sched tracepoints fields
syscalls:sys_enter_openat event fields
Breakpoint overflow signal handler
Breakpoint overflow sampling
Breakpoint accounting
Watchpoint
Software clock events period values
Parse with no sample_id_all bit set
Share thread maps
Track with sched_switch
Thread map
Session topology
Synthesize thread map
Event times
Read backward ring buffer
Event expansion for cgroups
Convert perf time to TSC
Sigtrap""".split("\n")
PYTHON = """
import os, signal, subprocess, sys, threading, time, multiprocessing
print(subprocess.run(["sh", "-c", "exit 3"]).returncode)
print(subprocess.run(["cat"], input=b"piped", stdout=subprocess.PIPE).stdout)
signal.signal(signal.SIGALRM, lambda *a: print("alarm"))
signal.setitimer(signal.ITIMER_REAL, 0.01)
time.sleep(0.05)
t = [threading.Thread(target=time.sleep, args=(0.01,)) for i in range(5)]
[x.start() for x in t]; [x.join() for x in t]
with multiprocessing.Pool(2) as p:
	print(p.map(abs, range(-5, 5)))
try:
	os.execv("/no/such", ["x"])
except OSError as e:
	print(e.errno)
os.kill(os.getpid(), signal.SIGTERM)
"""

class Case:
	def __init__(self, name, argv, normal=None, attaches=2, attempts=1):
		self.name, self.argv, self.normal = name, argv, normal or (lambda s: s)
		self.attaches = attaches	# how often to attach, each time at another moment
		self.attempts = attempts	# more than 1 if it may fail on a busy machine

def numbers(text):
	"""Return a text without numbers and their padding."""
	text = re.sub(r"(0x)?[0-9][0-9a-f]*([.,][0-9]+)*", "N", text)
	return re.sub(r"[ \t]+", " ", re.sub(r"[KMG]/sec", "/sec", text))

def calls_only(text):
	"""Return the names of the calls in a perf trace."""
	return "\n".join(sorted(set(re.findall(r"\b([a-z_0-9]+)\(", text))))

def inheritance(text):
	"""Return the environment, sorted, without the variables that a shell adds."""
	return "\n".join(sorted(s for s in text.split("\n")
				if not re.match(r"environment: (PWD|OLDPWD|SHLVL)=", s)))

def semaphores(text):
	"""Return a text without the random names of multiprocessing's semaphores."""
	return re.sub(r"'/mp-\w+'", "'/mp-'", text)

def finished(text):
	"""Return what perf test says without its progress."""
	return "\n".join(l for l in text.split("\n") if "Running (" not in l)

def samples(text):
	return "\n".join(sorted(set(numbers(text).split("\n"))))

def outcome(case, status, out):
	return status, case.normal(out.decode("utf-8", "replace"))

def run(argv, cwd):
	try:
		r = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd=cwd,
				   stderr=subprocess.STDOUT, env=ENV, timeout=PATIENCE)
	except subprocess.TimeoutExpired as e:
		return None, (e.stdout or b"") + b"\nran for more than %d seconds" % PATIENCE
	return r.returncode, r.stdout

def differences(mode, want, got):
	return ["%s: status %s, not %s" % (mode, got[0], want[0])] + list(difflib.unified_diff(
		want[1].split("\n"), got[1].split("\n"), "alone", "traced", n=1, lineterm=""))

class Harness:
	def __init__(self, tap, tmp, core):
		self.tap, self.tmp, self.core = tap, tmp, core
		self.targets = self.compared = 0

	def native(self, case):
		return outcome(case, *run(case.argv, self.tmp))

	def traced(self, case, mode):
		out = os.path.join(self.tmp, "trace")
		return outcome(case, *run([PEVTRACE, "-o", out] + MODES[mode] + case.argv, self.tmp))

	def attached(self, case, seconds):
		"""Start a target, attach to it, and detach at a random moment."""
		target = subprocess.Popen(["sh", "-c", 'read -r go; exec "$@" </dev/null', "sh"] +
					  case.argv, stdin=subprocess.PIPE, cwd=self.tmp, env=ENV,
					  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
		late = RND.random() < 0.5
		if late:
			os.write(target.stdin.fileno(), b"\n")
			time.sleep(RND.uniform(0, seconds / 2))
		options = RND.choice(([], ["--json"], ["--records", "--summary"], ["-k"]) +
				     ("bpf" in MODES) * (BPF,))
		tracer = subprocess.Popen([PEVTRACE, "-o", os.path.join(self.tmp, "trace"), *options,
					   "-p", str(target.pid)], stdin=subprocess.DEVNULL,
					  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
		said = tracer.stderr.readline()
		if not late:
			os.write(target.stdin.fileno(), b"\n")
		try:
			out, _ = target.communicate(timeout=RND.uniform(0, seconds))
		except subprocess.TimeoutExpired:
			tracer.send_signal(signal.SIGINT)
			out, _ = target.communicate(timeout=PATIENCE)
		rest = tracer.communicate(timeout=PATIENCE)[1]
		if tracer.returncode and not late:
			raise RuntimeError("pevtrace -p ended with %d: %r" %
					   (tracer.returncode, said + rest))
		return outcome(case, target.returncode, out)

	def may_be(self, case, natives, got):
		"""Return whether the outcome also occurs without pevtrace, in several attempts."""
		while got not in natives and len(natives) < NATIVES:
			natives.append(self.native(case))
		return got in natives

	def compare(self, case):
		began = time.monotonic()
		natives = [self.native(case)]
		seconds = time.monotonic() - began
		if natives[0][0] == CANNOT:
			self.tap.skip(case.name, "cannot be tried here")
			return
		why, modes = [], 0
		for mode in [m for m in CORE_MODES if m in MODES or m == "attach"] if self.core else \
		    sp.sample(list(MODES) + ["attach"] * case.attaches, 3, self.targets):
			modes += 1
			for attempt in range(case.attempts):
				got = self.traced(case, mode) if mode in MODES else \
				      self.attached(case, seconds)
				if self.may_be(case, natives, got):
					break
			else:
				why += differences(mode, natives[0], got)
		self.targets += 1
		self.compared += modes
		self.tap.ok(not why, "%s: the same in %d modes" % (case.name, modes), why)

def verbs(program, names, options, tmp):
	path = os.path.join(TARGETS, program)
	for verb in names:
		for option in options:
			argv = [path] + option + [os.path.join(tmp, a[1:]) if a[0] == "@" else a
						  for a in verb.split()]
			yield Case(" ".join([program] + option + [verb]), argv,
				   inheritance if verb == "inherited" else None)

def perf_cases():
	# perf does not wait for a child that ends early: hence sleep
	yield Case("perf stat", [PERF, "stat", "-e", "task-clock,page-faults,cs", "sh", "-c",
				 "sleep 0.3; exit 4"], numbers)
	yield Case("perf stat -a -I", [PERF, "stat", "-a", "-e", "cpu-clock", "sleep", "0.1"],
		   numbers)
	yield Case("perf stat, killed", [PERF, "stat", "-e", "cs", "sh", "-c", "sleep 0.3; kill -9 $$"],
		   numbers)
	yield Case("perf record", ["sh", "-c", PERF + " record -o d.$$ -e page-faults -c 1 -g "
				   "sh -c 'true; exit 5'; r=$?; " + PERF +
				   " script -i d.$$ -F comm,event; rm d.$$; exit $r"], samples)
	yield Case("perf record -a", ["sh", "-c", PERF + " record -o d.$$ -a -e sched:sched_switch "
				      "sleep 0.1 >/dev/null 2>&1; r=$?; " + PERF + " script -i d.$$ "
				      "-F event | sort -u; rm d.$$; exit $r"], samples, attempts=3)
	yield Case("perf trace", [PERF, "trace", "true"], calls_only)
	yield Case("perf script report", ["sh", "-c", PERF + " record -o d.$$ -e cs:u true; " +
					  PERF + " report -i d.$$ --stdio >/dev/null; r=$?; rm d.$$; exit $r"],
		   samples)
	for name in PERF_TESTS:
		argv = perf_test(name)
		if argv:
			yield Case("perf test %s (%s)" % (argv[2], name), argv, finished, attaches=0,
				   attempts=3)

def perf_test(name):
	"""Return the command of a test of perf, whose number varies; or an empty list."""
	listed = run([PERF, "test", "list"], "/")[1].decode() if PERF else ""
	found = re.search(r"^ *(\d+): %s$" % re.escape(name), listed, re.M)
	return [PERF, "test", found.group(1)] if found else []

def cases(tmp):
	yield from verbs("processes", PROCESSES, ([], ["-e"]), tmp)
	yield from verbs("sandboxed", SANDBOXED, ([], ["-e"]), tmp)
	yield from verbs("event_uses", EVENT_USES, ([],), tmp)
	if not rp.missing("processes32"):
		yield from verbs("processes32", PROCESSES, (["-e"],), tmp)
		yield from verbs("sandboxed32", [v for v in SANDBOXED if "suid" not in v], (["-e"],), tmp)
	yield Case("python", [sys.executable, "-c", PYTHON], semaphores)
	yield Case("a shell's pipes", ["sh", "-c", "seq 1000 | sort -n | tail -1; (exit 3); echo $?; "
				       "trap 'echo trapped' USR1; kill -USR1 $$; wait; exit 9"])
	if PERF:
		yield from perf_cases()

def said_once(harness, tap, tmp):
	"""Programs that use ptrace cannot be traced, which is reported once; by BPF they can."""
	for name, argv in (("traceme", [os.path.join(TARGETS, "sandboxed"), "traceme"]),
			   ("perf test", perf_test("x86 bp modify")),
			   ("strace", ["strace", "-f", "-o", "/dev/null", "true"]),
			   ("gdb", ["gdb", "-nx", "-batch", "-ex", "run", "true"])):
		if not argv or not shutil.which(argv[0]):
			tap.skip(name + " as a target", "is not there")
			continue
		if "bpf" in MODES:
			case = Case(name, argv, numbers)
			natives = [harness.native(case)]
			got = harness.traced(case, "bpf")
			tap.ok(harness.may_be(case, natives, got),
			       name + ": the same under the BPF engine", differences("bpf", natives[0], got))
		out = run([PEVTRACE, "-o", os.path.join(tmp, "trace")] + argv, tmp)[1].decode()
		tap.ok(len(re.findall("pevtrace: .*one tracer", out)) == 1,
		       name + " as a target: told once that it cannot trace", [out])

def slowly_stopped(tap, tmp):
	"""A slow tracer does not reverse the order of SIGSTOP and SIGCONT."""
	if not shutil.which("strace"):
		tap.skip("SIGCONT is not undone", "no strace")
		return
	status, out = run(["strace", "-o", "/dev/null", "-e", "inject=ptrace:delay_exit=2000",
			   PEVTRACE, "-o", os.path.join(tmp, "trace"),
			   os.path.join(TARGETS, "processes"), "go_on"], tmp)
	tap.ok(status == 0 and out.count(b"child: exited with 0\n") == 24,
	       "SIGCONT is not undone by a slow tracer", [repr(status), out.decode()])

def written_to_the_end(tap, tmp):
	"""A signal that arrives when the tracee has ended does not lose the trace."""
	command = 'read -r go; exec "$0" child_pid'
	path = os.path.join(tmp, "fifo")
	os.mkfifo(path)
	for sig in (signal.SIGINT, signal.SIGTERM):
		target = subprocess.Popen(["sh", "-c", command, os.path.join(TARGETS, "event_uses")],
					  stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=tmp)
		end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
		full = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
		try:
			while os.write(full, b"." * 4096):
				pass
		except BlockingIOError:
			pass
		os.close(full)
		tracer = subprocess.Popen([PEVTRACE, "-o", path, "-p", str(target.pid)],
					  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
		tracer.stderr.readline()
		target.communicate(b"\n", timeout=300)
		# the tracee has ended, and the trace is not read
		for _ in range(600):
			with open("/proc/%d/status" % tracer.pid) as f:
				if not re.search(r"^SigBlk:.*[1-9a-f]", f.read(), re.M):
					break
			time.sleep(0.1)
		tracer.send_signal(sig)
		time.sleep(0.2)
		said = b""
		os.set_blocking(end, True)
		while more := os.read(end, 65536):
			said += more
		os.close(end)
		tracer.wait(300)
		tap.ok(tracer.returncode == 0 and b"perf_event_open(" in said and
		       said.endswith(b"+++ exited with 0 +++\n"),
		       "%s at the end: the trace is whole" % sig.name,
		       [repr(tracer.returncode), repr(said.lstrip(b".")[-800:])])

def covered_rings(tap, tmp):
	"""A look at a ring that another mapping has replaced does not make a new ring."""
	rounds = 1000 if os.environ.get("LONG") else 60
	for how in ("fixed", "shm", "unmap"):
		for options in ([], ["--look-every=1"], ["--look-every=1", "--no-seccomp"]):
			status, out = run([PEVTRACE, "--records", "-o", os.path.join(tmp, "trace")] +
					  options + [os.path.join(TARGETS, "overmapped"), str(rounds), how],
					  tmp)
			tap.ok(status == 0 and out == b"%d rounds, 0 failures\n" % rounds,
			       " ".join([how] + options) + ": rings end where mappings replace them",
			       [repr(status), out.decode()])

def set_up(tmp):
	os.mkdir(os.path.join(tmp, "root"))
	os.chmod(tmp, 0o755)
	suid = os.path.join(tmp, "suid")
	shutil.copy(os.path.join(TARGETS, "sandboxed"), suid)
	os.chmod(suid, 0o4755)

def main():
	tap = sp.Tap()
	tmp = tempfile.mkdtemp()
	core = sys.argv[1:] == ["--core"]
	words = CORE if core else sys.argv[1:]
	try:
		set_up(tmp)
		harness = Harness(tap, tmp, core)
		for case in cases(tmp):
			if not words or any(w in case.name for w in words):
				harness.compare(case)
		if not core and rp.missing("processes32"):
			tap.skip("processes32", rp.missing("processes32"))
		if not core:
			said_once(harness, tap, tmp)
			slowly_stopped(tap, tmp)
			written_to_the_end(tap, tmp)
		if not words or "overmapped" in words:
			covered_rings(tap, tmp)
		print("# %d targets, %d comparisons" % (harness.targets, harness.compared))
	finally:
		shutil.rmtree(tmp)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
