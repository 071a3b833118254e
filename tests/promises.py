#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every sentence of the parts of documents that tests/promises names has tests, or a reason for none; these
tests exist, and none of them failed where it ran.

Runs alone: it reads the results of the tests before it.
"""

import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from checks import TAP, check, differ
import machine
from programs import PEVTRACE

SOURCE = os.path.dirname(HERE)
RESULTS = os.environ.get("TESTS_LOG") or os.path.join(os.environ.get("builddir", "."), "tests/log")

def squeezed(text):
	return " ".join(text.split())

def plain(roff):
	"""Return the text of a part of a manual page."""
	out = []
	for line in roff.split("\n"):
		if line.startswith((".BR ", ".RB ", ".IR ", ".RI ", ".BI ", ".IB ")):
			line = "".join(a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', line[4:]))
		elif line.startswith((".B ", ".I ")):
			line = line[3:]
		elif line.startswith("."):
			continue
		out.append(re.sub(r"\\f.|\\&", "", line).replace("\\-", "-").replace("\\~", " "))
	return "\n".join(out)

def part_of(path, heading):
	"""Return the text under a heading of a document."""
	with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
		text = f.read()
	mark = r"\.S[HS] " if path.startswith("man/") else r"## "
	m = re.search(r"(?ms)^%s%s\n(.*?)(?=^%s|\Z)" % (mark, re.escape(heading), mark), text)
	if not m:
		raise AssertionError("%s has no part '%s'" % (path, heading))
	return squeezed(plain(m.group(1)) if path.startswith("man/") else re.sub(r"(?m)^- ", "", m.group(1)))

def promises():
	"""Return [(document, heading, [(sentence, [(test, words)])])]."""
	out = []
	with open(os.path.join(HERE, "promises"), encoding="utf-8") as f:
		for line in f.read().splitlines():
			if line.startswith("= "):
				out.append((*line[2:].split(": ", 1), []))
			elif line.startswith("\t"):
				out[-1][2][-1][1].append(tuple(line[1:].split(": ", 1)))
			elif line and not line.startswith("#"):
				out[-1][2].append((line, []))
	return out

def skipping(sentences, sentence):
	"""Return whether others may be before a sentence."""
	before = None
	for s, _ in sentences:
		if s == sentence:
			return before == "..."
		before = s
	return False

def test_sentences():
	why = []
	for path, heading, sentences in promises():
		rest = part_of(path, heading)
		for sentence, tests in sentences:
			if not tests and sentence != "...":
				why.append("no test: " + sentence)
			if sentence == "...":	# what follows in a manual page promises nothing
				continue
			if skipping(sentences, sentence) and sentence in rest:
				rest = rest[rest.index(sentence):]
			if not rest.startswith(sentence):
				why += ["%s, %s: %s" % (path, heading, rest[:100]), "expected: " + sentence]
				break
			rest = rest[len(sentence):].lstrip()
		else:
			if rest and sentences[-1][0] != "...":
				why.append("%s, %s: not in tests/promises: %s" % (path, heading, rest))
	return why

def named():
	return sorted({t for _, _, sentences in promises() for _, tests in sentences
		       for t in tests if t[0] != "-"})

def test_exist():
	why = []
	for test, words in named():
		# names that a program builds are found by their words; a fuzzer's are the driver's
		path = "fuzz/driver.c" if test.startswith("fuzz/") else test
		for p in (test, path):
			if not os.path.exists(os.path.join(HERE, p)):
				return ["there is no tests/" + p]
		with open(os.path.join(HERE, path), encoding="utf-8") as f:
			if words not in f.read():
				why.append("tests/%s has no case '%s'" % (test, words))
	return why

def test_ran():
	"""What ran in the same make check passed, or was skipped with a reason."""
	why, ran = [], 0
	for test, words in named():
		path = os.path.join(RESULTS, re.sub(r"\.c$", "", test).replace("/", "_") + ".tap")
		if test == "promises.py" or not os.path.exists(path):
			continue
		with open(path, encoding="utf-8", errors="replace") as f:
			lines = f.read().splitlines()
		cases = [l for l in lines if words in l and re.match("(not )?ok", l)]
		# what is skipped may have another name, or none
		whole = [l for l in lines if re.search("# SKIP", l)]
		ran += 1
		if not cases and not whole:
			why.append("tests/%s ran no case '%s'" % (test, words))
		why += ["tests/%s: %s" % (test, l) for l in cases if l.startswith("not ok") and "# SKIP" not in l]
	print("# %d of %d cases ran" % (ran, len(named())))
	return why

def test_no_new_privs():
	"""Without CAP_SYS_ADMIN a program has no_new_privs, but for --no-seccomp."""
	def flag(*options):
		r = subprocess.run([PEVTRACE, "-o", "/dev/null", *options, "grep", "NoNewPrivs", "/proc/self/status"],
				   stdout=subprocess.PIPE, text=True, preexec_fn=as_user)
		return r.stdout.split()
	machine.need("another user")
	def as_user():
		os.setgroups([])
		os.setresgid(65534, 65534, 65534)
		os.setresuid(65534, 65534, 65534)
	native = subprocess.run(["grep", "NoNewPrivs", "/proc/self/status"], stdout=subprocess.PIPE,
				text=True, preexec_fn=as_user).stdout.split()
	return differ([flag(), flag("--no-seccomp")], [["NoNewPrivs:", "1"], native], "no_new_privs")

check("every sentence has a test, or a reason for none", test_sentences)
check("these tests exist", test_exist)
check("none of them failed", test_ran)
check("no_new_privs and --no-seccomp", test_no_new_privs)
sys.exit(TAP.done())
