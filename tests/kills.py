#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""kill -9 of the tracer or of a tracee, at any moment.

Programs that pevtrace started with ptrace die with it; those that it attached to,
or started with a BPF engine, or saw with -a, run on and come out as if nothing had been.  Whoever was
killed: no task stays behind, stopped or not, no zombie; no program, map or link of BPF, no temporary file;
the terminal is as it was, and tracefs, too.

KILLS=N: so many in place of 60 (200 with LONG=1), in five parts; SEED=N: other moments.
"""

import ctypes
import os
import pty
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
TARGETS = os.path.realpath(os.environ.get("PEVTRACE_TARGETS", "tests/targets"))
PERF = sp.find_program("perf", ("/usr/lib/linux-tools",))
KILLS = int(os.environ.get("KILLS", sp.times(60, 200)))
SEED = os.environ.get("SEED", "1")
PATIENCE = 300
PR_SET_CHILD_SUBREAPER = 36
OPTIONS = [[], ["--json"], ["--records"], ["-k"], ["--no-seccomp"], ["--summary"],
	   ["--records", "--look-every=5"], ["--trace=all"]]
LASTING = ["processes -e -n 40 fork", "processes -n 40 vfork", "processes -e -n 40 thread_exec",
	   "processes -e -n 20 leaderless", "processes -e -n 8 stop", "processes -e -n 10 timer",
	   "processes -n 6 restart_block", "processes -e signalfd", "sandboxed -e -n 4 filter",
	   "sandboxed -n 20 untraced", "sandboxed -n 10 namespace", "sandboxed -n 10 daemon",
	   "sandboxed -n 20 subreaper", "sandboxed -n 10 strict", "event_uses -n 20 running_group",
	   "event_uses -n 20 overflows", "event_uses emfile 20000", "event_uses -n 9 waits",
	   "filtered race 1000", "filtered threads", "filtered stop", "execs", "crowd"]
PERFS = ["record -o @data -F 4000 -e cpu-clock -g seq 3000000", "stat -a -e cpu-clock sleep 0.5",
	 "trace -o @out true", "record -o @data -a -e sched:sched_switch sleep 0.3"]
# What they print does not depend on time, and none waits for one signal: what is on
# its way to a task when its tracer is killed, the kernel throws away.
QUIET = ["processes -n 30 vfork", "processes -e -n 30 thread_exec",
	 "processes -e -n 20 leaderless", "sandboxed -n 20 untraced",
	 "sandboxed -n 10 subreaper", "sandboxed -n 10 strict", "event_uses -n 20 overflows",
	 "event_uses -n 4 leader", "event_uses emfile 20000"]

def stat_of(pid):
	"""Return parent, state and process group; None if the process has ended."""
	try:
		with open("/proc/%d/stat" % pid, errors="replace") as f:
			fields = f.read().rsplit(")", 1)[1].split()
		return int(fields[1]), fields[0], int(fields[2])
	except (OSError, IndexError):
		return None

def below(root):
	"""Return all descendants of a process, with their states."""
	known = {int(p): stat_of(int(p)) for p in os.listdir("/proc") if p.isdigit()}
	found, new = {}, {root}
	while new:
		new = {p for p, s in known.items() if s and s[0] in new}
		found.update((p, known[p][1]) for p in new)
	return found

def reap(but):
	"""Reap orphans, except the one that a caller waits for."""
	for pid, state in below(os.getpid()).items():
		status = stat_of(pid)
		if state == "Z" and pid != but and status and status[0] == os.getpid():
			os.waitpid(pid, os.WNOHANG)

def left(but=0):
	reap(but)
	return below(os.getpid())

def wait_left(seconds, but=0):
	"""Wait for processes to end; return those that have not when the time is up."""
	end = time.monotonic() + seconds
	while True:
		rest = {p: s for p, s in left(but).items() if p != but}
		if not rest or time.monotonic() > end:
			return rest
		time.sleep(0.005)

def describe(pids):
	out = []
	for pid, state in pids.items():
		try:
			with open("/proc/%d/cmdline" % pid, "rb") as f:
				name = f.read().replace(b"\0", b" ").decode("utf-8", "replace")
			with open("/proc/%d/wchan" % pid) as f:
				name += " in " + f.read()
		except OSError:
			name = "gone by now"
		out.append("%d %s %s" % (pid, state, name))
	return out

class Rounds:
	def __init__(self, tmp):
		self.tmp = tmp
		self.rnd = random.Random(SEED)
		self.why = []
		self.kills = 0
		self.master, self.slave = pty.openpty()
		self.mode = termios.tcgetattr(self.slave)

	def command(self, names):
		words = self.rnd.choice(names).split()
		words = [os.path.join(self.tmp, w[1:]) if w[0] == "@" else w for w in words]
		if words[0] in ("record", "stat", "trace"):
			return [PERF] + words
		return [os.path.join(TARGETS, words[0])] + words[1:]

	def bad(self, what):
		self.why.append("kill %d: %s" % (self.kills, what))

	def start(self, argv, out):
		return subprocess.Popen(argv, stdin=self.slave, stdout=out, stderr=subprocess.DEVNULL,
					cwd=self.tmp, start_new_session=False)

	def moment(self, seconds):
		"""Sleep a random time, more often short than long: most happens at the start."""
		time.sleep(self.rnd.random() ** 2 * seconds)

	def victim(self, whom, tracer):
		if whom == "tracer":
			return tracer.pid
		for _ in range(100):
			some = sorted(below(tracer.pid))
			if some or tracer.poll() is not None:
				break
			time.sleep(0.002)
		return self.rnd.choice(some) if some else 0

	def after(self, whom, tracer, argv):
		"""Return what is still wrong after some time."""
		if whom == "tracee":
			# a process left behind may wait for ever, traced or not
			for pid in wait_left(2, tracer.pid):
				self.kill(pid)
		try:
			tracer.wait(PATIENCE)
		except subprocess.TimeoutExpired:
			self.bad("pevtrace hangs: %s, %s" % (argv, describe(left(tracer.pid))))
			tracer.kill()
			tracer.wait()
		rest = wait_left(PATIENCE if whom == "tracer" else 2)
		if whom == "tracer" and rest:
			self.bad("left behind by %s: %s" % (argv, describe(rest)))
		for pid in rest:
			self.kill(pid)
		if wait_left(PATIENCE):
			self.bad("cannot be killed: %s" % describe(left()))
		if termios.tcgetattr(self.slave) != self.mode:
			self.bad("the terminal has another mode")
			termios.tcsetattr(self.slave, termios.TCSANOW, self.mode)

	@staticmethod
	def kill(pid):
		try:
			os.kill(pid, signal.SIGKILL)
		except ProcessLookupError:
			pass

	def launched(self, whom):
		names = LASTING + (PERFS if PERF else [])
		argv = [PEVTRACE, "-o", os.path.join(self.tmp, "trace")] + \
		       self.rnd.choice(OPTIONS) + self.command(names)
		tracer = self.start(argv, subprocess.DEVNULL)
		self.moment(0.3)
		self.kills += 1
		pid = self.victim(whom, tracer)
		if pid:
			self.kill(pid)
		self.after(whom, tracer, argv)

	def attached(self, natives, bpf=False):
		"""A process that is traced by ptrace (-p) or with all others (bpf, -a) notices nothing."""
		argv = self.command(QUIET)
		key = " ".join(argv)
		if key not in natives:
			r = subprocess.run(argv, stdin=self.slave, stdout=subprocess.PIPE,
					   stderr=subprocess.DEVNULL, timeout=300)
			natives[key] = (r.returncode, r.stdout)
		target = self.start(argv, subprocess.PIPE)
		self.moment(0.03)
		whom = ["-a"] + self.rnd.choice(OPTIONS[:3]) if bpf else \
			["-p", str(target.pid)] + self.rnd.choice(OPTIONS)
		tracer = self.start([PEVTRACE, "-q", "-o", os.path.join(self.tmp, "trace")] + whom,
				    subprocess.DEVNULL)
		self.moment(0.1)
		self.kills += 1
		self.kill(tracer.pid)
		tracer.wait()
		try:
			out, _ = target.communicate(timeout=PATIENCE)
			if (target.returncode, out) != natives[key]:
				self.bad("%s came out as %d: %r" % (key, target.returncode, out))
		except subprocess.TimeoutExpired:
			self.bad("%s hangs: %s" % (key, describe(left())))
			for pid in left():
				self.kill(pid)
			target.wait()
		if wait_left(PATIENCE):
			self.bad("left behind by %s: %s" % (key, describe(left())))

	def with_bpf(self, natives):
		"""A program that a BPF engine started has not begun, or does all that it does alone."""
		engine = self.rnd.choice(["bpf", "bpf-functions", "bpf-tracepoints"])
		words = ["sh", "-c", " ".join(self.command(QUIET)) + "; echo $?"]
		if words[2] not in natives:
			natives[words[2]] = subprocess.run(words, stdin=self.slave, stdout=subprocess.PIPE,
							   stderr=subprocess.DEVNULL, timeout=300).stdout
		tracer = self.start([PEVTRACE, "-q", "--engine=" + engine, "-o",
				     os.path.join(self.tmp, "trace")] + self.rnd.choice(OPTIONS[:3]) + words,
				    subprocess.PIPE)
		self.moment(0.2)
		self.kills += 1
		self.kill(tracer.pid)
		try:
			out, _ = tracer.communicate(timeout=PATIENCE)	# until nobody can write any more
			if out not in (b"", natives[words[2]]):
				self.bad("%s came out as %r" % (words[2], out))
		except subprocess.TimeoutExpired:
			self.bad("%s hangs: %s" % (words[2], describe(left())))
			for pid in left():
				self.kill(pid)
		if wait_left(PATIENCE):
			self.bad("left behind by %s: %s" % (words[2], describe(left())))

def bpf_objects():
	"""Return programs, maps and links of BPF in the kernel by their ids, which needs root."""
	libc, found = ctypes.CDLL(None, use_errno=True), set()
	for what, command in ("program", 11), ("map", 12), ("link", 31):	# BPF_..._GET_NEXT_ID
		attr = (ctypes.c_uint32 * 32)()
		while not libc.syscall(321 if os.uname().machine == "x86_64" else 280, command, attr, 128):
			found.add((what, attr[1]))
			attr[0] = attr[1]
	return found

def files_left(tmp):
	"""Return what is in the directory of temporary files."""
	return sorted(os.listdir(os.path.join(tmp, "temporary")))

def main():
	tap = sp.Tap()
	tmp = tempfile.mkdtemp()
	os.mkdir(os.path.join(tmp, "temporary"))
	os.environ["TMPDIR"] = os.path.join(tmp, "temporary")
	before = sp.tracefs_lines()
	# become the parent of orphans, to find them
	ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	try:
		rounds = Rounds(tmp)
		natives, outputs = {}, {}
		for name, one in (("of the tracer", lambda: rounds.launched("tracer")),
				  ("of a tracee", lambda: rounds.launched("tracee")),
				  ("of the tracer of a process that was there before it",
				   lambda: rounds.attached(natives)),
				  ("of a BPF engine", lambda: rounds.with_bpf(outputs)),
				  ("of a BPF engine that sees all", lambda: rounds.attached(natives, True))):
			if "BPF" in name and not sp.has_bpf(PEVTRACE):
				tap.skip("kills " + name, "no BPF engine here")
				continue
			objects = bpf_objects()
			rounds.why, start = [], rounds.kills
			for _ in range(KILLS // 5 + (name == "of the tracer") * (KILLS % 5)):
				one()
			rest, end = bpf_objects() - objects, time.monotonic() + 30
			while rest and time.monotonic() < end:	# the kernel frees them later
				time.sleep(0.1)
				rest &= bpf_objects()
			if "BPF" in name and rest:
				rounds.bad("left in the kernel: %s" % sorted(rest))
			if files_left(tmp):
				rounds.bad("temporary files: %s" % files_left(tmp))
			tap.ok(not rounds.why, "%d kills %s: nobody left, nothing changed" %
			       (rounds.kills - start, name), rounds.why)
		if os.geteuid() == 0 and sp.tracefs():
			changes = sp.tracefs_changes(before)
			tap.ok(not changes, "tracefs is as it was", changes)
		else:
			tap.skip("tracefs is as it was", "needs root and tracefs")
	finally:
		shutil.rmtree(tmp)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
