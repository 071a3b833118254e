#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A shell with job control, on a terminal: by itself, under pevtrace, attached to.

What is typed and what comes back must be the same, and the terminal's modes and
foreground group, too.
"""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
TARGETS = os.path.realpath(os.environ.get("PEVTRACE_TARGETS", "tests/targets"))
BASH = sp.find_program("bash")
PROMPT = b"@>"
PATIENCE = 60
EVERYDAY = os.path.join(TARGETS, "everyday")
# what is typed; None before it: wait for the prompt first
SCRIPT = [
	b"sleep 1000 & jobs\n",
	b"fg\n", b"...\x1a",
	b"bg; jobs -r | wc -l\n",
	b"kill -STOP %1; sleep 0.3; jobs\n",
	b"kill -CONT %1; kill %1; wait; jobs\n",
	b"cat\n", b"...\x1a",
	b"fg\n", b"...\x04",
	b"sleep 1000 | cat\n", b"...\x03",
	b"echo $? ${PIPESTATUS[@]}\n",
	b"sh -c 'kill -TSTP $$; echo went on; exit 6'\n",
	b"fg; echo $?\n",
	b"stty -echo; stty -a | grep -c -- -echo; stty echo\n",
	b"trap 'echo winch' WINCH; kill -WINCH $$; trap - WINCH\n",
	b"(sleep 0.1; kill -INT $$) & wait; echo $?; wait\n",
	EVERYDAY.encode() + b" -e said here; echo $?\n",
	b"read -t 0.2 x; echo $?\n",
	b"(exit 5); echo $?\n",
	b"exit 7\n",
]

class Terminal:
	def __init__(self, argv):
		self.pid, self.fd = pty.fork()
		if not self.pid:
			os.execve(argv[0], argv, {"PATH": os.environ["PATH"], "PS1": PROMPT.decode(),
						  "TERM": "dumb", "HOME": "/", "LC_ALL": "C"})
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
		"""Reads on until it comes."""
		end = time.monotonic() + PATIENCE
		while what not in self.said[self.seen:]:
			if not self.read(1) and time.monotonic() > end:
				raise TimeoutError("%r did not come" % what)
		self.seen = self.said.index(what, self.seen) + len(what)

	def foreground(self, other):
		"""Waits until somebody else than that group has the terminal."""
		end = time.monotonic() + PATIENCE
		while os.tcgetpgrp(self.fd) == other:
			self.read(0.01)
			if time.monotonic() > end:
				raise TimeoutError("no job in the foreground")

	def type(self, text, shell):
		if text.startswith(b"..."):
			self.foreground(shell)
			time.sleep(0.2)	# for it to sleep, as a user would see it do
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
	"""Without pids, and without what the shell tells sooner or later."""
	text = said.replace(b"\r", b"").decode("utf-8", "replace")
	text = re.sub(r"\b\d{3,}\b", "N", text)
	return re.sub(r"^\[\d\]. +(Terminated|Done).*\n", "", text, flags=re.M)

def session(before, attach, tmp):
	"""What is on the screen, the modes at the end, and how the shell ended."""
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
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
