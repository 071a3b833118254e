#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Decoding, against what the calling program says that it did.

targets/attrs makes calls and prints, in its own words, how each should be
shown.  Every case runs under pevtrace in full and in short form, as a native
and as an i386 program, and all lines have to agree: no call missing, none too
much, each argument, result and comment.

A value agrees when it has the same number, and by names where names are
expected.
"""

import difflib
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
import straceparse as sp

# What is said once where a seccomp filter answers all calls.
FILTERED = re.compile("pevtrace: a seccomp filter, as of a container, answers .*\n")

PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")

# A process's beginning and end may be shown without being announced.
PROCESS = {"execve", "execveat", "exit", "exit_group", "clone", "clone3",
	   "fork", "vfork"}

# Members that the short form may show when zero.
ALWAYS = {"type", "size", "config", "sample_period", "sample_freq",
	  "sample_type", "read_format", "precise_ip"}

RESERVED = {"__reserved_1", "__reserved_2", "__reserved_3"}

class Expected:
	"""A line that the target printed: the call that it expects to be shown."""

	def __init__(self, line):
		self.line = line
		pid, _, text = line.partition(" ")
		self.pid = int(pid)
		self.optional = text.startswith("?")
		text = text.lstrip("?")
		# comments behind the result belong to the whole line
		m = re.search(r"((?:\s*/\*[^*]*\*/)*)$", text)
		self.call = sp.parse_call(text[:m.start()], self.pid)
		self.wanted = re.findall(r"/\* ~(.*?) \*/", text)

def comments_of(text):
	return [c.strip() for c in re.findall(r"/\*(.*?)\*/", text, re.S)]

def is_any(val):
	return val.kind == "atom" and val.text == "@any"

def symbols(text):
	return set(re.findall(r"\b(?!0[xX])[A-Za-z_]\w*", text))

def same_atom(want, got):
	if want.text == got.text:
		return True
	a, b = sp.number(want), sp.number(got)
	if a is not None and b is not None:
		# a name is accepted for a number, but no number for a name
		if symbols(want.text) and not symbols(got.text):
			return False
		if any(n.endswith("_MAX") for n in symbols(got.text)):
			return False
		return a == b or (a < 0 and b in (a & 0xffffffff,
						  a & 0xffffffffffffffff))
	# names without a number here: the same set of them
	return set(want.text.split("|")) == set(got.text.split("|"))

def plain_name_ok(want, got):
	"""Where a plain number is expected, a name is accepted only for zero."""
	return sp.number(want) == 0 and sp.number(got) == 0

def is_attr(val):
	return val.kind == "struct" and "type" in val.names() and \
		"size" in val.names()

def compare_attr(want, got, full, where):
	"""full: all members (True), those not zero (False), or either (None)."""
	out = []
	names = got.names()
	if len(names) != len(set(names)):
		out.append("%s: a member is shown twice" % where)
	for name, val in want.items:
		have = got.get(name)
		if have is None:
			# zero members are left out in short form
			if sp.number(val) == 0 and not full:
				continue
			if sp.number(val) == 0 and name in RESERVED:
				continue
			out.append("%s: %s=%s is not shown" % (where, name, val))
			continue
		out += compare(val, have, full, where + "." + name)
	for name, val in got.items:
		if name in want.names():
			continue
		if name not in sp.SAME_PLACE and name not in RESERVED:
			out.append("%s: unexpected %s=%s" % (where, name, val))
			continue
		if sp.number(val) != 0:
			out.append("%s: %s=%s, should be zero" % (where, name, val))
		elif full is False and name not in ALWAYS:
			out.append("%s: short form shows %s=%s" %
				   (where, name, val))
	out += ["%s: %s is not what this member is called here" % (where, m)
		for m in sp.misnamed(got)]
	size = sp.number(want.get("size"))
	if full and size is not None and (size == 0 or size >= 64):
		out += ["%s: -v does not show %s" % (where, m)
			for m in sp.missing_fields(got)]
	return out

def nonzero_bytes(runs):
	have = {}
	if runs.kind != "array":
		return have
	for _, run in runs.items:
		offset = int(run.get("offset").text)
		digits = run.get("bytes").text[2:]
		for i in range(0, len(digits), 2):
			if digits[i:i + 2] != "00":
				have[offset + i // 2] = digits[i:i + 2]
	return have

def compare(want, got, full, where):
	if is_any(want):
		return []
	if want.kind == "atom" and want.text.startswith("@bytes:"):
		# exactly the bytes that are not zero, at their offsets
		have = nonzero_bytes(got)
		expected = want.text[7:].split("..")
		return [] if [have[at] for at in sorted(have)] == expected \
			else ["%s: expected bytes %s, shown %s" %
			      (where, want.text[7:], got)]
	if is_attr(want) and is_attr(got):
		return compare_attr(want, got, full, where)
	if want.kind == "array" and got.kind == "struct" and \
			len(want.items) == 1 and \
			want.items[0][1].get("iov_base"):
		return compare(want.items[0][1].get("iov_base"), got, full, where)
	if want.kind != got.kind:
		if want.kind == got.kind == "atom" and plain_name_ok(want, got):
			return []
		return ["%s: expected %s, shown %s" % (where, want, got)]
	if want.kind == "atom":
		ok = same_atom(want, got) or plain_name_ok(want, got)
	elif want.kind == "string":
		ok = want.text == got.text
	else:
		ok = len(want.items) == len(got.items) and \
			(want.kind == "array" or want.names() == got.names())
		if ok:
			out = []
			for (key, a), (_, b) in zip(want.items, got.items):
				out += compare(a, b, full, where + "." +
					       (key or "[]"))
			return out
	return [] if ok else ["%s: expected %s, shown %s" % (where, want, got)]

def note_text(note):
	return re.sub(r"\s*/\*.*?\*/", "", note, flags=re.S).strip()

def compare_call(exp, got, full):
	want = exp.call
	out = []
	if len(want.args) != len(got.args):
		out.append("%d arguments, shown with %d" %
			   (len(want.args), len(got.args)))
	wanted = exp.wanted
	for i, ((_, a), (_, b)) in enumerate(zip(want.args, got.args)):
		where = "argument %d" % (i + 1)
		if a.after is None:
			out += compare(a, b, full, where)
		elif b.kind == "struct":
			# memory that ends early: the readable part
			out += compare(a.after, b, None, where)
		else:
			# or its address, without comment
			out += compare(a, b, full, where)
			wanted = []
	if want.result.split("<")[0] != got.result.split("<")[0]:
		out.append("result: expected %s, shown %s" %
			   (want.result, got.result))
	elif want.note != "@any" and note_text(want.note) != note_text(got.note):
		out.append("behind the result: expected %s, shown %s" %
			   (want.note, note_text(got.note)))
	have = comments_of(got.line)
	if any("wrote back" in c for c in have) and \
			not any(t.startswith("size=") for t in wanted):
		out.append("says that the kernel wrote a size, which it did not")
	for text in wanted:
		if not any(text in c for c in have):
			out.append("no comment has %r" % text)
	return out

def by_pid(items, key):
	out = {}
	for it in items:
		out.setdefault(key(it), []).append(it)
	return out

def key(call):
	first = sp.number(call.arg(0)) if call.args else None
	return call.name, call.result.split("<")[0], first

def pair(expected, shown):
	"""[(expected or None, shown or None)] in order, told by name and result."""
	out = []
	match = difflib.SequenceMatcher(None, [key(e.call) for e in expected],
					[key(c) for c in shown],
					autojunk=False)
	for op, i1, i2, j1, j2 in match.get_opcodes():
		left, right = expected[i1:i2], shown[j1:j2]
		# a wrong result does not make it a different call
		while left and right:
			if left[0].call.name == right[0].name:
				out.append((left.pop(0), right.pop(0)))
			elif any(e.call.name == right[0].name for e in left):
				out.append((left.pop(0), None))
			else:
				out.append((None, right.pop(0)))
		out += [(e, None) for e in left] + [(None, c) for c in right]
	return out

def compare_runs(expected, shown, full):
	"""Differences between the lines of a target and those of pevtrace."""
	why = []
	mine = by_pid(expected, lambda e: e.pid)
	pids = {c.pid for c in shown}
	if pids == {None} and len(mine) == 1:
		theirs = {next(iter(mine)): shown}
	else:
		theirs = by_pid(shown, lambda c: c.pid)
	for pid in sorted(set(mine) | set(theirs), key=str):
		exp, got = mine.get(pid, []), theirs.get(pid, [])
		for e, c in pair(exp, got):
			if c is None:
				if not e.optional:
					why.append("not shown: " + e.line[:400])
			elif e is None:
				if c.name not in PROCESS:
					why.append("not expected: " + c.line[:400])
			else:
				diff = compare_call(e, c, full)
				if diff:
					why += diff + [
						"  expected " + e.line[:600],
						"  shown    " + c.line[:600]]
	return why

def run_case(tap, name, program, case, tmp):
	for full in (True, False):
		what = "%s %s, %s form" % (name, case, "full" if full else "short")
		trace = os.path.join(tmp, "trace")
		if os.path.exists(trace):
			os.unlink(trace)
		argv = [PEVTRACE] + (["-v"] if full else []) + \
			["-s", "4096", "-o", trace, program, case]
		try:
			r = subprocess.run(argv, stdout=subprocess.PIPE,
					   stderr=subprocess.PIPE, timeout=300,
					   stdin=subprocess.DEVNULL,
					   cwd=tmp, text=True,
					   errors="backslashreplace")
		except subprocess.TimeoutExpired:
			tap.ok(False, what, ["does not end"])
			continue
		lines = r.stdout.split("\n")
		skip = [l for l in lines if l.startswith("SKIP ")]
		if skip:
			tap.skip(what, skip[0][5:])
			if not full:
				return
			continue
		why = []
		if r.returncode:
			why += ["exit status %d" % r.returncode] + \
				r.stderr.split("\n")[-4:]
		elif r.stderr.strip() and not (machine.lacks("events") and FILTERED.fullmatch(r.stderr)):
			why.append("on standard error: " + r.stderr.strip())
		try:
			expected = [Expected(l) for l in lines if l]
			shown = sp.parse_file(trace)
			if not expected:
				why.append("the target made no call")
			why += compare_runs(expected, shown, full)
		except (sp.ParseError, OSError, ValueError) as e:
			why.append("%s: %s" % (type(e).__name__, e))
		if len(why) > 40:
			why = why[:40] + ["and %d lines more" % (len(why) - 40)]
		tap.ok(not why, what, why)

def source():
	top = os.environ.get("srcdir", "")
	for d in (HERE, os.path.join(top, "tests"), top):
		path = os.path.join(d, "targets", "attrs.c")
		if os.path.exists(path):
			return path
	return None

def build(cc, flags, out):
	"""Builds the target; -> None, or why not."""
	cc = sp.find_program(cc)
	if not cc:
		return "no compiler for it"
	r = subprocess.run([cc, "-std=gnu11", "-O1", "-pthread"] + flags +
			   ["-o", out, source()], stdout=subprocess.PIPE,
			   stderr=subprocess.STDOUT, text=True,
			   errors="replace")
	if r.returncode:
		return "it does not compile: " + r.stdout.strip().split("\n")[-1]
	try:
		r = subprocess.run([out, "list"], stdout=subprocess.PIPE)
	except OSError as e:
		return "this kernel does not run it: " + e.strerror
	return None if r.returncode == 0 else "it does not run here"

def programs(tmp):
	"""[(what it is, path or None, why not)]"""
	out = []
	native = os.path.join(os.environ.get("PEVTRACE_TARGETS", ""), "attrs")
	why = None
	if not os.access(native, os.X_OK):
		native = os.path.join(tmp, "attrs")
		why = build("gcc", [], native) if source() else "no source"
	out.append(("native", native, why))
	if os.uname().machine == "x86_64":
		path = os.path.join(tmp, "attrs32")
		why = build("i686-linux-gnu-gcc", ["-static"], path) \
			if source() else "no source"
		out.append(("i386", path, why))
	return out

def main():
	if not PEVTRACE:
		sp.skip_all("PEVTRACE is not set")
	tap = sp.Tap()
	tmp = tempfile.mkdtemp(prefix="pevtrace-decode.")
	try:
		for name, program, why in programs(tmp):
			if why:
				tap.skip(name, why)
				continue
			r = subprocess.run([program, "list"], check=True,
					   stdout=subprocess.PIPE, text=True)
			for case in r.stdout.split():
				if len(sys.argv) > 1 and case not in sys.argv[1:]:
					continue
				run_case(tap, name, program, case, tmp)
	finally:
		shutil.rmtree(tmp, ignore_errors=True)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
