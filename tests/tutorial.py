#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""doc/tutorial.md: its commands work, and give lines of the shape that it quotes.

Blocks of lines that are set in by four blanks are sessions: a line that begins with
"$ " is run, all in one directory, and each line below it must be among what comes,
but for numbers, with anything in place of [...].  The functions of the kernel that
the page names must be in the kernel.

doc/answers.md and doc/faq.md quote sentences in place of lines: breaks and blanks may
differ.  In faq.md, "nobody" runs a command as a user without privileges, and "container" under
a seccomp filter that answers perf_event_open as the default profiles of containers do.
"""

import errno
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import machine
import straceparse as sp
from perf_event import forbid

DOC = os.path.join(os.path.dirname(HERE), "doc")
PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
PERF = sp.find_program("perf", ("/usr/lib/linux-tools",))

def sessions(text):
	"""Return (command, lines below it)."""
	out, below = [], None
	for line in text.split("\n"):
		if not line.startswith("    "):
			below = None
		elif line.startswith("    $ "):
			below = []
			out.append((line[6:], below))
		elif below is not None:
			below.append(line[4:])
	return out

def shape(line):
	"""Return the text without what differs from run to run."""
	line = re.sub(r"0x[0-9a-f]+", "N", line)
	return re.sub(r"\d+", "N", line)

def pattern(line):
	parts = shape(line).split("[...]")
	return re.compile(".*".join(re.escape(p) for p in parts) + "$")

def run(command, tmp, env, setup=None):
	"""Run it, again if it is the trace and `true` ended before perf polled its events."""
	for _ in range(20):
		r = subprocess.run(["sh", "-c", command], cwd=tmp, env=env, text=True, preexec_fn=setup,
				   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
				   stderr=subprocess.STDOUT, timeout=300, errors="replace")
		if " -o trace.txt " not in command:
			break
		with open(os.path.join(tmp, "trace.txt"), errors="replace") as f:
			if "revents=POLLHUP" in f.read():
				break
	return r

def test_session(command, below, tmp, env):
	r = run(command, tmp, env)
	got = [shape(line) for line in r.stdout.split("\n")]
	why = []
	for line in below:
		if line == "[...]":
			continue
		want = pattern(line)
		if not any(want.match(g) for g in got):
			why.append("not there: " + line)
	return why + (["it was:\n" + r.stdout] if why else [])

def sentences(below):
	"""Return the quoted lines as patterns; a line that ends in a full stop, or [...], ends one."""
	joined = "\n".join(below)
	return [re.compile(re.escape(shape(" ".join(s.split()))))
		for s in re.split(r"\n\[\.\.\.\]\n|(?<=\.)\n", joined) if s.strip()]

def test_answer(command, below, tmp, env, ran):
	"""ran: the output of each command so far."""
	if command not in ran:
		plain = re.sub("^container ", "", command)
		ran[command] = run(plain, tmp, env, forbid(errno.EPERM) if plain != command else None).stdout
	got = shape(" ".join(ran[command].split()))
	why = ["not there: " + p.pattern for p in sentences(below) if not p.search(got)]
	return why + (["it was:\n" + ran[command]] if why else [])

def test_functions(text):
	"""Return names of kernel functions, in the section about the kernel."""
	part = text.split("## 3.")[1].split("## 4.")[0]
	names = set(re.findall(r"`(perf_[a-z_]+)`", part)) - {"perf_event_paranoid"}
	symbols = set()
	with open("/proc/kallsyms") as f:
		for line in f:
			symbols.add(line.split()[2].split(".")[0])
	# system calls have prefixes there
	symbols |= {re.sub(r"^__(?:do|se|x64|arm64)_sys_", "", s) for s in symbols}
	return ["the kernel has no " + n for n in sorted(names) if n not in symbols] or \
	       ([] if len(names) > 5 else ["only %s are named" % names])

# A command that runs perf, or reads a file that one above it wrote.
OF_PERF = re.compile(r"\bperf (record|stat)\b|\b(trace|branch)\.txt\b|\b\w+\.json\b")

def other_perf():
	"""Return why the commands that concern perf are not run, or None."""
	if not PERF:
		return "perf is not installed"
	version = subprocess.run([PERF, "version"], stdout=subprocess.PIPE, text=True).stdout.strip()
	return None if " 6.1." in version else \
		"the page shows the calls of perf 6.1, and %s is installed" % version

def reason_not_to():
	if os.cpu_count() < 2:
		return "needs two CPUs"
	return machine.lacks("every task of a CPU") or machine.lacks("no hardware counters") or \
	       machine.cannot_trace(PEVTRACE)

NOBODY = "setpriv --reuid=65534 --clear-groups "

def nobody_differs(tmp, env):
	"""Return why an ordinary user here is not the one of doc/faq.md, or None."""
	if os.getuid():
		return "needs root to become another user"
	if run(NOBODY + "pevtrace --version", tmp, env).returncode:
		return "another user cannot run " + PEVTRACE
	if run(NOBODY + "pevtrace open -q -e cpu-clock:u -- true", tmp, env).returncode:
		return "an ordinary user may not open events here"
	try:
		level = machine.setting("paranoid")
	except machine.Lack as e:
		return str(e)
	return None if level == 2 else "the page is of perf_event_paranoid 2, and this is %d" % level

def test_faq(text, tap, tmp, env):
	"""Run the commands of doc/faq.md, which requires the machine, but not perf."""
	reason, ran = machine.lacks("every task of a CPU") or machine.lacks("no hardware counters"), {}
	not_nobody = nobody_differs(tmp, env)
	for command, below in sessions(text):
		why_not = reason or (not_nobody if command.startswith("nobody ") else
				     machine.lacks("breakpoints") if "breakpoints: here" in "".join(below) else None)
		if why_not:
			tap.skip("faq: " + command, why_not)
			continue
		why = test_answer(re.sub("^nobody ", NOBODY, command), below, tmp, env, ran)
		tap.ok(not why, "faq: " + command, why)

def test_readme(tap, tmp, env):
	"""The first example of README.md is what this user and an ordinary one are told, but for the limit."""
	with open(os.path.join(DOC, "..", "README.md"), encoding="utf-8") as f:
		command, below = sessions(f.read())[0]
	limit, not_nobody = str(machine.setting("max_sample_rate")), nobody_differs(tmp, env)
	want = [re.sub(r"(?<==)100000\b", limit, line) for line in below]
	for who, prefix in (("this user", ""), ("an ordinary user", NOBODY)):
		if prefix and not_nobody:
			tap.skip("README: " + who, not_nobody)
			continue
		got = run(prefix + command, tmp, env).stdout.splitlines()
		tap.ok(got == want, "README: " + who, got)

def main():
	if not PEVTRACE:
		sp.skip_all("PEVTRACE is not set")
	text = open(os.path.join(DOC, "tutorial.md")).read()
	answers = open(os.path.join(DOC, "answers.md")).read()
	tap = sp.Tap()
	tmp = tempfile.mkdtemp(prefix="pevtrace-tutorial-")
	path = os.path.dirname(os.path.abspath(PEVTRACE)) + ":" + os.environ.get("PATH", "")
	env = dict(os.environ, LC_ALL="C", PATH=path)
	reason, perf, ran = reason_not_to(), other_perf(), {}
	for title, page in (("", text), ("answers: ", answers)):
		skipped = [command for command, _ in sessions(page)
			   if reason or perf and OF_PERF.search(command)]
		if skipped:
			tap.skip("%s%d commands" % (title, len(skipped)), reason or perf)
		for command, below in sessions(page):
			if command in skipped:
				continue
			if " -k " in command and os.environ.get("LD_PRELOAD"):
				tap.skip(title + command, "a preloaded library may make the calls in place of libc")
				continue
			why = test_answer(command, below, tmp, env, ran) if title else \
				test_session(command, below, tmp, env)
			tap.ok(not why, title + command, why)
	with open(os.path.join(DOC, "faq.md")) as f:
		test_faq(f.read(), tap, tmp, env)
	try:
		test_readme(tap, tmp, env)
	except machine.Lack as e:
		tap.skip("README", e)
	if os.access("/proc/kallsyms", os.R_OK):
		why = test_functions(text)
		tap.ok(not why, "functions of the kernel", why)
	else:
		tap.skip("functions of the kernel", "/proc/kallsyms cannot be read")
	shutil.rmtree(tmp, ignore_errors=True)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
