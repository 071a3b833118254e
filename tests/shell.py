#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A shell with job control on a terminal: alone, under pevtrace, attached to.

What is typed and what comes back must be the same, and the terminal's modes and
foreground group, too.  So must what becomes of a program when its pid is signalled,
which is pevtrace's, or its group.
"""

import ctypes
import fcntl
import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import machine
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
TARGETS = os.path.realpath(os.environ.get("PEVTRACE_TARGETS", "tests/targets"))
BASH = sp.find_program("bash")
PROMPT = b"@>"
PATIENCE = 300
PROCESSES = os.path.join(TARGETS, "processes")
STOPPED = b"until jobs -s | grep -q .; do sleep 0.1; done"
# what is typed; after "...": when the foreground job sleeps, otherwise after the prompt
SCRIPT = [
	b"sleep 1000 & jobs\n",
	b"fg\n", b"...\x1a",
	b"bg; jobs -r | wc -l\n",
	b"kill -STOP %1; " + STOPPED + b"; jobs\n",
	b"kill -CONT %1; kill %1; wait; jobs\n",
	b"cat\n", b"...\x1a",
	b"fg\n", b"...\x04",
	b"sleep 1000 | cat\n", b"...\x03",
	b"echo $? ${PIPESTATUS[@]}\n",
	b"sh -c 'kill -TSTP $$; echo went on; exit 6'\n",
	b"fg; echo $?\n",
	b"stty -echo; stty -a | grep -c -- -echo; stty echo\n",
	b"trap 'echo winch' WINCH; kill -WINCH $$; trap - WINCH\n",
	b"(sleep 1; kill -INT $$) & wait; echo $?; wait\n",
	PROCESSES.encode() + b" -e said here; echo $?\n",
	b"read -t 0.2 x; echo $?\n",
	b"(exit 5); echo $?\n",
	b"exit 7\n",
]

# what to wait for, and what is typed then; $T is pevtrace or empty
SCREEN = [
	(PROMPT, b"$T " + os.path.join(TARGETS, "screen").encode() + b"\n"),
	(b"<ready>", b"a"), (b"<key a>", b"\x1a"),
	(PROMPT, b"stty -a | grep -o -- '-*icanon'; jobs\n"),
	(PROMPT, b"fg\n"), (b"<resumed>", b"b"), (b"<key b>", b"\x1a"),
	(PROMPT, b"kill -CONT %1; sleep 0.5; fg\n"), (b"<resumed>", b"c"), (b"<key c>", b"q"),
	(PROMPT, b"echo $?; stty -a | grep -o -- '-*icanon'\n"),
	(PROMPT, b"$T sh -c 'read x; exit 3'\n"), (b"\n", b"...\x1a"),
	(PROMPT, b"fg\n"), (b"read x", b"...y\n"),
	(PROMPT, b"echo $?\n"),
	(PROMPT, b"$T sh -c 'read x; exit 3' & " + STOPPED + b"; jobs\n"),
	(PROMPT, b"fg\n"), (b"read x", b"...y\n"),
	(PROMPT, b"exit $?\n"),
]

def status_of(pid):
	"""Return state, parent, group and so on from /proc/PID/stat."""
	with open("/proc/%d/stat" % pid, errors="replace") as f:
		return f.read().rpartition(")")[2].split()

def asleep(group):
	"""Return the pids of a group if all of its processes sleep."""
	pids = []
	for pid in filter(str.isdigit, os.listdir("/proc")):
		try:
			state, _, its = status_of(int(pid))[:3]
		except OSError:
			continue
		if its == str(group) and state not in "SZ":
			return []
		if its == str(group):
			pids.append(pid)
	return pids

class Terminal:
	def __init__(self, argv, words=""):
		self.pid, self.fd = pty.fork()
		if not self.pid:
			os.execve(argv[0], argv, {"PATH": os.environ["PATH"], "PS1": PROMPT.decode(),
						  "TERM": "dumb", "HOME": "/", "LC_ALL": "C",
						  "T": words})
		self.said = b""
		self.seen = 0

	def read(self, seconds):
		if not select.select([self.fd], [], [], seconds)[0]:
			return False
		try:
			more = os.read(self.fd, 4096)
		except OSError:
			return False
		self.said += more
		return bool(more)

	def expect(self, what):
		"""Read until the text appears."""
		end = time.monotonic() + PATIENCE
		while what not in self.said[self.seen:]:
			if not self.read(1) and time.monotonic() > end:
				raise TimeoutError("%r did not come" % what)
		self.seen = self.said.index(what, self.seen) + len(what)

	def foreground(self, shell):
		"""Wait until a job has the terminal, and both it and the shell sleep."""
		end = time.monotonic() + PATIENCE
		seen = before = None
		while not seen or seen != before:
			before = seen
			self.read(0.05)
			job = os.tcgetpgrp(self.fd)
			both = asleep(shell), asleep(job)
			seen = job != shell and all(both) and both
			if time.monotonic() > end:
				raise TimeoutError("no job in the foreground")

	def type(self, text, shell):
		if text.startswith(b"..."):
			self.foreground(shell)
			os.write(self.fd, text[3:])
			return
		self.expect(PROMPT)
		os.write(self.fd, text)

	def end(self):
		while self.read(PATIENCE):
			pass
		_, status = os.waitpid(self.pid, 0)
		os.close(self.fd)
		return status

def normal(said):
	"""Return the text without pids, and without what the shell prints at random moments."""
	text = said.replace(b"\r", b"").decode("utf-8", "replace")
	text = re.sub(r"\b\d{3,}\b", "N", text)
	return re.sub(r"^\[\d\]. +(Terminated|Done).*\n", "", text, flags=re.M)

def session(before, attach, tmp):
	"""Run a session; return the screen, whether the modes are unchanged, and the status."""
	term = Terminal(before + [BASH, "--norc", "--noprofile", "--noediting", "-i"])
	tracer = None
	try:
		term.expect(PROMPT)
		term.seen -= len(PROMPT)
		shell = os.tcgetpgrp(term.fd)
		modes = termios.tcgetattr(term.fd)
		for n, text in enumerate(SCRIPT):
			if attach and n == 2:
				tracer = subprocess.Popen([PEVTRACE, "-o", os.path.join(tmp, "trace"),
							   "-p", str(term.pid)], stdin=subprocess.DEVNULL,
							  stderr=subprocess.PIPE)
				tracer.stderr.readline()
			if attach and n == 14:
				tracer.send_signal(signal.SIGINT)
				tracer.communicate(timeout=PATIENCE)
			term.type(text, shell)
			if n == len(SCRIPT) - 2:
				term.expect(PROMPT)
				term.seen -= len(PROMPT)
				same = termios.tcgetattr(term.fd) == modes
		status = term.end()
	except TimeoutError as e:
		os.kill(term.pid, signal.SIGKILL)
		if tracer:
			tracer.kill()
		term.end()
		return "%s\n%s" % (normal(term.said), e), False, None
	return normal(term.said), same, status

def untraced_shell(words, script):
	"""Run a script in an untraced shell; return the screen and the exit status."""
	term = Terminal([BASH, "--norc", "--noprofile", "--noediting", "-i"], words)
	try:
		term.expect(PROMPT)
		term.seen -= len(PROMPT)
		shell = os.tcgetpgrp(term.fd)
		for what, text in script:
			term.expect(what)
			if text.startswith(b"..."):
				term.foreground(shell)
				text = text[3:]
			os.write(term.fd, text)
		return normal(term.said), term.end()
	except TimeoutError as e:
		os.kill(term.pid, signal.SIGKILL)
		term.end()
		return normal(term.said), repr(e)

def to_pid(sig):
	return lambda p: os.kill(p.pid, sig)

def queued(sig, times):
	"""Queue each signal after the one before was handled, so that none are merged."""
	def send(p):
		said = b""
		for n in range(times):
			ctypes.CDLL(None).sigqueue(p.pid, sig, ctypes.c_void_p(n))
			said += p.stdout.readline()
		return said
	return send

def to_group(sig):
	return lambda p: os.killpg(p.pid, sig)

def to_group_again(sig, times):
	def send(p):
		for _ in range(times):
			os.killpg(p.pid, sig)
			time.sleep(0.03)
	return send

def handlers(*signals):
	return "".join("trap 'echo %s' %s; " % (s, s) for s in signals)

# runs until the file $DONE exists
ROUNDS = "echo go; until [ -e $DONE ]; do sleep 0.05; done; exit 6"
# neither a shell nor Python's handlers count signals
COUNTED = "exec '%s' -c '%s'" % (sys.executable, """
import os, signal, time
def wait(seconds, n):
	end = time.monotonic() + seconds
	got = 0
	while time.monotonic() < end and got < n:
		time.sleep(0.005)
		try:
			got += len(os.read(out, 99))
		except BlockingIOError:
			pass
	return got
out, to = os.pipe()
os.set_blocking(out, False)
os.set_blocking(to, False)
signal.signal(36, lambda *_: 0)
signal.set_wakeup_fd(to)
signal.pthread_sigmask(signal.SIG_BLOCK, {36})
print("go", flush=True)
time.sleep(%s)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {36})
print(wait(30, 5), wait(1, 99))
""")
# a script for bash, and what is sent when it has printed "go"
SENT = {
	"SIGUSR1 to the pid": (handlers("USR1") + ROUNDS, to_pid(signal.SIGUSR1)),
	"SIGUSR1 that kills": (ROUNDS, to_pid(signal.SIGUSR1)),
	"SIGALRM to the pid": (handlers("ALRM") + ROUNDS, to_pid(signal.SIGALRM)),
	"SIGWINCH to the pid": (handlers("WINCH") + ROUNDS, to_pid(signal.SIGWINCH)),
	"SIGCONT to the pid": (handlers("CONT") + ROUNDS, to_pid(signal.SIGCONT)),
	"a real-time signal to the pid": (handlers("36") + ROUNDS, to_pid(36)),
	"signals queued to the pid": (handlers("USR1") + ROUNDS, queued(signal.SIGUSR1, 3)),
	"SIGXFSZ to the pid": (handlers("XFSZ") + ROUNDS, to_pid(signal.SIGXFSZ)),
	"SIGPIPE to the pid": (handlers("PIPE") + ROUNDS, to_pid(signal.SIGPIPE)),
	"SIGTERM to the group": (handlers("TERM") + ROUNDS, to_group(signal.SIGTERM)),
	"SIGUSR2 to the group": (handlers("USR2") + ROUNDS, to_group(signal.SIGUSR2)),
	"real-time signals to the group": (COUNTED % 0, to_group_again(36, 5)),
	"real-time signals to the group, pending": (COUNTED % 0.8, to_group_again(36, 5)),
	"SIGUSR2 ignored by the group": ("trap '' USR2; " + ROUNDS, to_group(signal.SIGUSR2)),
	"SIGTERM from within": (handlers("TERM") + "echo go; kill -TERM 0; sleep 0.5; exit 5", None),
	"SIGTERM from a child that ends": (handlers("TERM") + "echo go; sh -c 'kill -TERM 0'; sleep 0.5; "
					   "exit 5", None),
	"SIGUSR1 from within": ("trap '' USR1; echo go; kill -USR1 0; sleep 0.3; exit 5", None),
	"SIGTERM from within that kills": ("echo go; kill -TERM 0; sleep 1", None),
	"signal 32": ("echo go; kill -32 $$", None),
	"SIGSYS": ("echo go; kill -SYS $$", None),
}

def sent(before, script, send):
	"""Send a signal to a program; return what it prints and how it ends."""
	done = tempfile.mktemp(prefix="pevtrace-shell.")
	p = subprocess.Popen(before + [BASH, "-c", script], stdin=subprocess.DEVNULL,
			     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
			     env=dict(os.environ, DONE=done),
			     bufsize=0) # communicate() does not see what readline() has read ahead
	try:
		said = p.stdout.readline()
		if send:
			time.sleep(0.2)
			said += send(p) or b""
			# its handler prints, or it ends; a second delivery would be soon after
			select.select([p.stdout], [], [], 1)
			time.sleep(0.2)
		with open(done, "w", encoding="ascii"):
			rest, _ = p.communicate(timeout=PATIENCE)
		return said + rest, p.returncode
	except subprocess.TimeoutExpired:
		p.kill()
		return b"hangs", p.wait()
	finally:
		if os.path.exists(done):
			os.unlink(done)

def with_alarm(before):
	"""Run a program with an alarm set before exec."""
	return sent([sys.executable, "-c", "import os, signal, sys; signal.alarm(3); "
		     "os.execvp(sys.argv[1], sys.argv[1:])"] + before,
		    "trap 'echo alarm; exit 7' ALRM; echo go; while :; do sleep 0.1; done", None)

def limited(tap, out):
	"""When the trace reaches the file size limit, the program continues."""
	opens = [os.path.join(TARGETS, "event_uses"), "-n", "50", "overflows"]
	r = subprocess.run([PEVTRACE, "--json", "-o", out, "sh", "-c", "%s >/dev/null; echo went on" %
			    " ".join(opens)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
			   stderr=subprocess.PIPE, timeout=PATIENCE, preexec_fn=lambda:
			   resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
	tap.ok(r.returncode == 2 and r.stdout == b"went on\n" and
	       b"File too large" in r.stderr and os.path.getsize(out) == 8192,
	       "a limit on the size of files ends the trace alone", [repr(r)])

def written_from_background(tap):
	"""A terminal that stops those who write from the background does not stop pevtrace."""
	script = [(PROMPT, b"stty tostop\n"),
		  (PROMPT, b"$T " + os.path.join(TARGETS, "demo").encode() +
		   b" true </dev/null >/dev/null 2>&1 & wait $!; echo over: $?\n"),
		  (PROMPT, b"exit 3\n")]
	said, status = untraced_shell(PEVTRACE + " -o /dev/tty", script)
	tap.ok("over: 0\n" in said and "perf_event_open" in said and "Stopped" not in said and
	       status == 3 << 8, "the trace is written from the background", [said, status])

def waiting(pipe):
	"""Return the number of unread bytes."""
	n = bytearray(4)
	fcntl.ioctl(pipe, termios.FIONREAD, n)
	return int.from_bytes(n, sys.byteorder)

def stops(p):
	"""Return whether SIGTSTP stops the tracer: a job that does not stop keeps the terminal."""
	os.killpg(p.pid, signal.SIGTSTP)
	end = time.monotonic() + PATIENCE
	while status_of(p.pid)[0] != "T" and time.monotonic() < end:
		time.sleep(0.05)
	stopped = status_of(p.pid)[0] == "T"
	os.killpg(p.pid, signal.SIGCONT)
	return stopped

def stopped_without_the_program(tap, out):
	"""pevtrace can be stopped when its program has ended or waits for pevtrace."""
	def start(*argv, **kwargs):
		return subprocess.Popen([PEVTRACE, *argv], stdin=subprocess.DEVNULL,
					preexec_fn=lambda: os.setpgid(0, 0), **kwargs)

	read, write = os.pipe()
	p = start("-o", out, "sh", "-c", "read x <&%d & echo" % read, pass_fds=[read],
		  stdout=subprocess.PIPE)
	p.stdout.readline()
	time.sleep(0.5)
	tap.ok(stops(p), "stopped where the program has left others behind", [status_of(p.pid)[0]])
	os.close(write)
	p.wait(PATIENCE)
	os.close(read)
	p = start("-e", "all", "sh", "-c", "while :; do read x </dev/null; done",
		  stderr=subprocess.PIPE)
	held = 0
	while p.poll() is None and (held < 4096 or held != waiting(p.stderr)):
		held = waiting(p.stderr) # wait until the pipe is full
		time.sleep(1)
	tap.ok(stops(p), "stopped where nobody reads the trace", [status_of(p.pid)[0]])
	p.kill()
	p.communicate()

def ended_where_ignored(tap, out):
	"""A command in the background of a script ignores SIGINT, and ends a trace by it as by SIGTERM."""
	sleeper = subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL)
	modes = [("-p", [PEVTRACE, "-p", str(sleeper.pid)])]
	if sp.has_bpf(PEVTRACE):
		modes.append(("-a", [PEVTRACE, "-a"]))
	for name, argv in modes:
		for sig in (signal.SIGINT, signal.SIGTERM):
			p = subprocess.Popen(argv + ["-o", out, "--json=" + out + ".json"], stderr=subprocess.PIPE,
					     preexec_fn=lambda s=sig: signal.signal(s, signal.SIG_IGN))
			end = time.monotonic() + PATIENCE
			while not (os.path.exists(out + ".json") and os.path.getsize(out + ".json")) and \
			      p.poll() is None and time.monotonic() < end:
				time.sleep(0.1)
			time.sleep(0.5)
			p.send_signal(sig)
			try:
				said = p.communicate(timeout=30)[1]
			except subprocess.TimeoutExpired:
				p.kill()
				said = p.communicate()[1] + b" goes on"
			tap.ok(not p.returncode and sleeper.poll() is None, "%s: ended by %s, which it ignored" %
			       (name, sig.name), [p.returncode, said])
			os.unlink(out + ".json")
	sleeper.kill()
	sleeper.wait()

def verbs_ended_where_ignored(tap):
	"""So it does to each verb that runs until it is interrupted; nohup's SIGHUP and a command's do nothing."""
	me = str(os.getpid())
	count = [PEVTRACE, "open", "-e", "cpu-clock:u"]
	modes = [("ps --watch", [PEVTRACE, "ps", "--watch=1"], "", (-2, -15))]
	if not machine.lacks("kernel events"):
		modes += [("open -p", count + ["-p", me], "perf_event", (0, 0)),
			  ("open --side-band", [PEVTRACE, "open", "--side-band", "-p", me], "perf_event", (0, 0))]
	for name, argv, sign, ends in modes:
		for sig, end in zip((signal.SIGINT, signal.SIGTERM), ends):
			p = ignoring(argv, sign)
			p.send_signal(signal.SIGHUP)
			p.send_signal(sig)
			tap.ok(ended(p) == end, "%s: ended by %s, which it ignored" % (name, sig.name), [p.returncode])
	if machine.lacks("kernel events"):
		tap.skip("a command goes on", machine.lacks("kernel events"))
		return
	p = ignoring(count + ["sh", "-c", "read x; exit 7"], "perf_event")
	for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) * 2:
		p.send_signal(sig)
	tap.ok(ended(p, b"\n") == 7, "open: a command that ignores them goes on, and so does pevtrace", [p.returncode])

def holds(pid, what):
	"""Return whether the process has a descriptor of a file with that in its name."""
	links = []
	for fd in os.listdir("/proc/%d/fd" % pid):
		try:
			links.append(os.readlink("/proc/%d/fd/%s" % (pid, fd)))
		except OSError:
			pass # it is closed by now
	return any(what in l for l in links)

def ignoring(argv, sign):
	"""Start a program that ignores what ends a command; wait until it prints, or has such a descriptor."""
	p = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
			     preexec_fn=lambda: [signal.signal(s, signal.SIG_IGN) for s in
						 (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)])
	end = time.monotonic() + PATIENCE
	while p.poll() is None and time.monotonic() < end:
		if holds(p.pid, sign) if sign else select.select([p.stdout], [], [], 0)[0]:
			break
		time.sleep(0.02)
	return p

def ended(p, typed=None):
	"""Wait for its end and return its status; None: it goes on."""
	try:
		p.communicate(typed, timeout=30)
		return p.returncode
	except subprocess.TimeoutExpired:
		p.kill()
		p.communicate()
		return None

def as_the_program(tap, tmp):
	"""Signals sent to pevtrace have the effect that they have on the program."""
	out = os.path.join(tmp, "trace")
	words = "%s -o %s" % (PEVTRACE, out)
	alone = untraced_shell("", SCREEN)
	tap.ok(alone[1] == 3 << 8, "a program that takes the screen", alone)
	for name, more in (("text", ""), ("every call stops", " --no-seccomp")):
		got = untraced_shell(words + more, SCREEN)
		tap.ok(got == alone, "a program with the screen, stopped and continued: " + name,
		       ["alone:", *alone, "traced:", *got])
	for name, (script, send) in SENT.items():
		alone = sent([], script, send)
		got = sent([PEVTRACE, "-o", out], script, send)
		tap.ok(alone == got and b"go" in alone[0], name + " comes out the same", [alone, got])
	alone, got = with_alarm([]), with_alarm([PEVTRACE, "-o", out])
	tap.ok(alone == got and got[1] == 7, "an alarm set before the exec", [alone, got])
	limited(tap, out)
	written_from_background(tap)
	stopped_without_the_program(tap, out)
	ended_where_ignored(tap, out)
	verbs_ended_where_ignored(tap)

def main():
	if not BASH:
		sp.skip_all("bash is not installed")
	tap = sp.Tap()
	with tempfile.TemporaryDirectory() as tmp:
		out = os.path.join(tmp, "trace")
		alone = session([], False, tmp)
		tap.ok(alone[2] is not None and os.WEXITSTATUS(alone[2]) == 7,
		       "the shell by itself", [alone])
		for name, before, attach in (
				("text", [PEVTRACE, "-o", out], False),
				("JSON", [PEVTRACE, "--json", "-o", out], False),
				("records", [PEVTRACE, "--records", "-o", out], False),
				("every call stops", [PEVTRACE, "--no-seccomp", "-o", out], False),
				("attached to and let go", [], True)):
			got = session(before, attach, tmp)
			tap.ok(got == alone, "the same on the terminal: " + name,
			       ["alone:"] + list(alone) + ["traced:"] + list(got))
		as_the_program(tap, tmp)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
