# SPDX-License-Identifier: LGPL-2.1-or-later
"""Making dumps, and decoding them: what the tests dump_*.py share.

A test's arguments are words: only what has one of them in its name is run."""

import collections
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from programs import objects
import straceparse as sp

try:
	import jsonschema
except ImportError:
	jsonschema = None

PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
# what the build made of xlat/activities.in
BUILT = os.environ.get("builddir") or os.path.dirname(PEVTRACE)
SCHEMA = os.path.join(BUILT, "share", "pevtrace", "trace.schema.json")
PERF = sp.find_program("perf", ("/usr/lib/linux-tools",))
TARGETS = os.environ.get("PEVTRACE_TARGETS", "")

# What the smallest dump must do without: rings, stacks and names of anything.
FULL = ["--records", "--summary", "-k", "-y"]

class Trouble(Exception):
	pass

class Bench:
	"""Runs commands in a directory for this test."""

	def __init__(self, tap, tmp, words):
		self.tap, self.tmp, self.words = tap, tmp, words
		self.kept = {}		# name to path, for later tests
		self.n = 0

	def wanted(self, name):
		return not self.words or any(w in name for w in self.words)

	def path(self, suffix):
		self.n += 1
		return os.path.join(self.tmp, "%d.%s" % (self.n, suffix))

	def run(self, argv, timeout=300, env=None, stdin=subprocess.DEVNULL,
		**how):
		full = dict(os.environ, LC_ALL="C", **(env or {}))
		p = subprocess.Popen(argv, env=full, stdin=stdin, cwd=self.tmp,
				     stdout=subprocess.PIPE,
				     stderr=subprocess.PIPE,
				     start_new_session=True, **how)
		try:
			out, err = p.communicate(timeout=timeout)
		except subprocess.TimeoutExpired:
			os.killpg(p.pid, signal.SIGKILL)
			p.communicate()
			raise Trouble("does not end: " + " ".join(argv))
		return p.returncode, out, err.decode(errors="replace")

	def trace(self, options, command, timeout=300, **how):
		"""Trace a command; return the paths of text and dump."""
		text, dump = self.path("txt"), self.path("json")
		self.status, _, self.err = self.run(
			[PEVTRACE, "-o", text, "--json=" + dump] + options +
			["--"] + command, timeout, **how)
		if not os.path.exists(dump):
			raise Trouble("no dump of %s: %s" %
				      (" ".join(command), self.err[:300]))
		return text, dump

	def decode(self, options, dump):
		"""Return the path of the decoded text; raise Trouble if decoding fails."""
		text = self.path("txt")
		rc, out, err = self.run([PEVTRACE, "decode", "-o", text] +
					options + [dump])
		if rc or out or err:
			raise Trouble("decode: status %d, %s" %
				      (rc, (err or out.decode(
					      errors="replace"))[:300]))
		return text

def read(path):
	with open(path, "rb") as f:
		return f.read()

def target(name):
	path = os.path.join(TARGETS, name)
	return path if os.access(path, os.X_OK) else None

class Schema:
	def __init__(self):
		with open(SCHEMA, encoding="utf-8") as f:
			self.text = json.load(f)
		self.kinds = self.text["properties"]["kind"]["enum"]
		self.validator = None
		if jsonschema:
			jsonschema.Draft7Validator.check_schema(self.text)
			self.validator = jsonschema.Draft7Validator(self.text)
		self.seen = collections.Counter()	# (kind, key)

	def keys(self, kind):
		d = self.text["definitions"][kind]
		return d["required"], list(d["properties"])

	def errors(self, line):
		return ["%s: %s" % ("/".join(map(str, e.absolute_path)),
				    e.message[:300])
			for e in self.validator.iter_errors(line)]

	def why_not(self, path):
		"""Return the errors of a dump."""
		out = []
		lines = objects(path)
		for n, line in enumerate(lines, 1):
			kind = line.get("kind")
			for key in line:
				self.seen[kind, key] += 1
			out += ["line %d (%s): %s" % (n, kind, e)
				for e in self.errors(line)]
		out += ["line %d: %s where it cannot be" % (n, line.get("kind"))
			for n, line in enumerate(lines, 1)
			if (line.get("kind") == "header") != (n == 1) or
			(line.get("kind") == "end") != (n == len(lines))]
		return out[:12] + order_of(lines)[:12] + totals_of(lines)

def around(lines, at):
	"""Return the kinds of the nearest lines before and after that are not "measured"."""
	return [next((line["kind"] for line in part if line["kind"] != "measured"), None)
		for part in (reversed(lines[:at]), lines[at:])]

def order_of(lines):
	"""Return violations of the order of lines in pevtrace-json(5)."""
	begun, tasks, out = {}, set(), []
	last = 0
	for n, line in enumerate(lines, 1):
		kind, tid = line["kind"], line.get("tid")
		if kind == "task":
			tasks.add(tid)
		elif kind not in ("name", "id", "count", "program", "lost", "header", "end", "exec",
				  "measured", "build_id") and \
				tid not in tasks:
			out.append("line %d: %s of task %s, which no line "
				   "introduced" % (n, kind, tid))
		if kind == "enter":
			if tid in begun:
				out.append("line %d: a call in a call" % n)
			begun[tid] = line["call"]
		elif kind in ("exit", "abandoned"):
			if begun.pop(tid, None) != line["call"]:
				out.append("line %d: %s of no call" % (n, kind))
		elif kind in ("call", "gone") and tid in begun:
			out.append("line %d: %s inside a call" % (n, kind))
		elif kind == "exec":
			if line["former"] in begun:
				begun[tid] = begun.pop(line["former"])
			tasks.add(tid)
		if kind == "gone":
			tasks.discard(tid)
		now = line.get("enter_ns", line.get("exit_ns", line.get("ns")))
		# rings are read when a call has begun, and written before the call; so are the
		# mappings that a record makes pevtrace read
		if kind in ("end", "header", "record", "look", "aux") or \
		   kind == "measured" and "record" in around(lines, n - 1):
			continue
		if now is not None and now < last:
			out.append("line %d: %s at %d, the line before at %d" %
				   (n, kind, now, last))
		last = now if now is not None else last
		if "exit_ns" in line and not (line.get("enter_ns", 0) <=
					      line["start_ns"] <=
					      line["exit_ns"]):
			out.append("line %d: returned before it began" % n)
	return out

def totals_of(lines):
	kinds = collections.Counter(line["kind"] for line in lines)
	want = {"calls": kinds["call"] + kinds["exit"],
		"records": kinds["record"], "tasks": kinds["task"],
		"missed": sum(line["missed"] for line in lines
			      if line["kind"] == "look")}
	end = lines[-1]
	return ["the last line says %s=%s, there are %d" % (k, end.get(k), v)
		for k, v in want.items() if end.get(k) != v]

class Decoded:
	def __init__(self, rc, out, err, usage):
		self.rc, self.out, self.err, self.rss = rc, out, err, usage.ru_maxrss
		self.cpu = usage.ru_utime + usage.ru_stime

	def said(self, n):
		return re.search(r"(?m)^pevtrace: .*:%d: \S" % n, self.err)

	def __str__(self):
		return "status %d, %s" % (self.rc, self.err[:400] or "no message")

def decode_bytes(b, data, options=(), timeout=300):
	"""Decode bytes; raise Trouble after a crash, a sanitizer's report or a hang."""
	path = os.path.join(b.tmp, "bad.json")
	with open(path, "wb") as f:
		f.write(data)
	return decode_file(b, path, options, timeout)

def decode_file(b, path, options=(), timeout=300, **how):
	argv = [PEVTRACE, "decode"] + list(options) + [path]
	with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
		p = subprocess.Popen(argv, stdout=out, stderr=err, cwd=b.tmp,
				     stdin=subprocess.DEVNULL, **how)
		old = signal.signal(signal.SIGALRM, lambda *_: p.kill())
		signal.alarm(timeout)
		_, status, usage = os.wait4(p.pid, 0)
		signal.alarm(0)
		signal.signal(signal.SIGALRM, old)
		p.returncode = os.waitstatus_to_exitcode(status)
		out.seek(0)
		err.seek(0)
		d = Decoded(p.returncode, out.read(),
			    err.read().decode(errors="replace"),
			    usage)
	if d.rc not in (0, 2) or "Sanitizer" in d.err or \
			"runtime error" in d.err:
		raise Trouble("%s: %s" % (" ".join(argv), d))
	return d

def join(lines):
	return b"".join(line + b"\n" for line in lines)

def note(b, what, check, *args):
	"""Print one result: check returns what is wrong."""
	if not b.wanted(what):
		return
	try:
		why = check(*args)
	except Trouble as e:
		why = [str(e)]
	b.tap.ok(not why, what, why[:20])

def main(*checks):
	if not PEVTRACE:
		sp.skip_all("PEVTRACE is not set")
	tap = sp.Tap()
	tmp = tempfile.mkdtemp(prefix="pevtrace-dump.")
	try:
		b = Bench(tap, tmp, sys.argv[1:])
		schema = Schema()
		for check in checks:
			check(b, schema)
	finally:
		shutil.rmtree(tmp, ignore_errors=True)
	return tap.done()
