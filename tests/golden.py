#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Commands and the text that they print: each tests/golden/NAME.test has cases such as

	== the title of a case
	needs events
	$ pevtrace list no-such-event
	pevtrace: no event matches 'no-such-event'...
	[1]

After a command comes its output, standard error included, and its exit status in brackets unless
that is 0.  In a line of output ... stands for any text; a line of ... alone for any lines, or none.
"> NAME" and the lines before a line of EOF write a file.  "needs" asks lib/machine.py.  Lines before
the first case are comments.

Commands run in sh, with pevtrace in PATH, in a directory of the case that has the other files of
tests/golden, such as dumps; $targets is the directory of the programs to trace.

usage: golden.py [--update] [WORD...]
Run the cases whose file or title has one of the words; --update writes what they print now into those
that fail: read the difference before you commit it.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "lib"))
import machine
from programs import PEVTRACE
import straceparse as sp

FOLDER = os.path.join(HERE, "golden")

class Step:
	"""A command, its expected lines and status, and where these are in the file."""
	def __init__(self, command, at):
		self.command, self.at, self.want, self.status = command, at, [], 0

class Case:
	def __init__(self, title):
		self.title, self.needs, self.steps, self.files = title, [], [], {}

def cases(lines):
	"""Return the cases of a file."""
	out, step, file = [], None, None
	for at, line in enumerate(lines):
		if file is not None:
			if line == "EOF":
				file = None
			else:
				file.append(line)
		elif line.startswith("== "):
			out.append(Case(line[3:]))
			step = None
		elif not out:
			continue
		elif line.startswith("$ "):
			step = Step(line[2:], at)
			out[-1].steps.append(step)
		elif step and re.fullmatch(r"\[\d+\]", line):
			step.status = int(line[1:-1])
		elif step:
			step.want.append(line)
		elif line.startswith("> "):
			file = out[-1].files[line[2:]] = []
		elif line.startswith("needs "):
			out[-1].needs.append(line[6:])
		elif line:
			raise AssertionError("line %d: %s" % (at + 1, line))
	for case in out:	# empty lines before the next case are not output
		for step in case.steps[-1:]:
			while step.want and not step.want[-1]:
				step.want.pop()
	return out

def pattern(lines):
	"""Return a regular expression for expected lines."""
	parts = []
	for line in lines:
		text = r"[^\n]*".join(re.escape(part) for part in line.split("..."))
		parts.append(r"(?:[^\n]*\n)*?" if line == "..." else text + r"\n")
	return "".join(parts)

def run(step, env, cwd):
	"""Return the output of a command, and its exit status."""
	r = subprocess.run(["sh", "-c", step.command], env=env, cwd=cwd, stdin=subprocess.DEVNULL,
			   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
	text = r.stdout.decode("utf-8", "backslashreplace")
	return text + "\n" * (text[-1:] not in ("", "\n")), r.returncode

def try_case(case):
	"""Return what differs, and [(step, output, status)] of the commands that differ."""
	why, wrong = [], []
	env = dict(os.environ, targets=os.environ.get("PEVTRACE_TARGETS", "tests/targets"),
		   PATH=os.path.dirname(PEVTRACE) + ":" + os.environ["PATH"], LC_ALL="C")
	with tempfile.TemporaryDirectory(prefix="pevtrace-golden.") as tmp:
		for name in os.listdir(FOLDER):
			if not name.endswith(".test"):
				shutil.copy(os.path.join(FOLDER, name), tmp)
		for name, lines in case.files.items():
			with open(os.path.join(tmp, name), "w", encoding="utf-8") as f:
				f.writelines(line + "\n" for line in lines)
		for step in case.steps:
			text, status = run(step, env, tmp)
			if status == step.status and re.fullmatch(pattern(step.want), text):
				continue
			wrong.append((step, text, status))
			why += ["$ " + step.command] + ["- " + line for line in step.want] + \
				["+ " + line for line in text.splitlines()] + \
				["status %d, expected %d" % (status, step.status)]
	return why, wrong

def update(path, lines, wrong):
	"""Replace the expected lines of commands in the file by their output."""
	for step, text, status in sorted(wrong, key=lambda w: -w[0].at):
		end = step.at + 1 + len(step.want) + bool(step.status)
		lines[step.at + 1:end] = text.splitlines() + (["[%d]" % status] if status else [])
	with open(path, "w", encoding="utf-8") as f:
		f.writelines(line + "\n" for line in lines)

def main():
	if not PEVTRACE:
		sp.skip_all("PEVTRACE is not set")
	words = [w for w in sys.argv[1:] if w != "--update"]
	tap = sp.Tap()
	for name in sorted(n for n in os.listdir(FOLDER) if n.endswith(".test")):
		with open(os.path.join(FOLDER, name), encoding="utf-8") as f:
			lines = f.read().splitlines()
		changed = []
		for case in cases(lines):
			title = "%s: %s" % (name[:-5], case.title)
			lack = next(filter(None, map(machine.lacks, case.needs)), None)
			if words and not any(w in title for w in words):
				continue
			if lack:
				tap.skip(title, lack)
				continue
			why, wrong = try_case(case)
			tap.ok(not why and case.steps, title, why or ["no command"])
			changed += wrong
		if changed and "--update" in sys.argv:
			update(os.path.join(FOLDER, name), lines, changed)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
