#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Dumps: their content, what decode prints of them, and the messages about
damaged ones.

  schema   every line of many dumps is as share/pevtrace/trace.schema.json
           says, and every key is described in pevtrace-json(5)
  attr     attrs in a dump are those in the files that perf itself wrote, and
           those in the bytes beside them
  same     pevtrace decode prints what the trace printed, byte for byte, and
           so does a dump of the dump
  bad      cut off, mutilated, enormous: a message with its line, no crash

usage: dump.py [WORD...]	only what has a WORD in its name
"""

import collections
import copy
import ctypes
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "lib"))
import straceparse as sp

try:
	import jsonschema
except ImportError:
	jsonschema = None

TOP = os.path.join(HERE, "..")
SCHEMA = os.path.join(TOP, "share", "pevtrace", "trace.schema.json")
PAGE = os.path.join(TOP, "man", "pevtrace-json.5")
PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
PERF = sp.find_program("perf", ("/usr/lib/linux-tools",))
TARGETS = os.environ.get("PEVTRACE_TARGETS", "")
SEED = int(os.environ.get("SEED", random.SystemRandom().randrange(1 << 30)))

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

def lines_of(path):
	with open(path, encoding="utf-8") as f:
		return [json.loads(line) for line in f]

def target(name):
	path = os.path.join(TARGETS, name)
	return path if os.access(path, os.X_OK) else None

def first_difference(a, b):
	a, b = (x.decode("latin-1").split("\n") for x in (a, b))
	for i, (x, y) in enumerate(zip(a, b), 1):
		if x != y:
			return ["line %d" % i, "  traced:  " + x[:500],
				"  decoded: " + y[:500]]
	return ["%d lines traced, %d decoded" % (len(a), len(b))]

# ---- the schema --------------------------------------------------------------

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
		lines = lines_of(path)
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

def check_dump(b, schema, name, options, command, least=3, keep=None, **how):
	what = "schema: " + name
	if not b.wanted(what):
		return
	try:
		_, dump = b.trace(options, command, **how)
		lines = lines_of(dump)
		why = schema.why_not(dump)
		if len(lines) < least:
			why.append("only %d lines; standard error: %s" %
				   (len(lines), b.err[-300:]))
		if keep:
			b.kept[keep] = dump
	except (Trouble, ValueError, OSError) as e:
		why = [str(e)]
	b.tap.ok(not why, what, why)

PERF_TESTS = ["Breakpoint accounting", "Breakpoint overflow sampling",
	      "Watchpoint", "Software clock events period values",
	      "PERF_RECORD_", "Number of exit events", "mmap interface"]

SCRIPT = """
import perf
evlist = perf.evlist(perf.cpu_map(), perf.thread_map(-1))
evsel = perf.evsel(type=perf.TYPE_SOFTWARE, config=perf.COUNT_SW_CPU_CLOCK,
	freq=0, sample_period=1000000, wakeup_events=1, watermark=1,
	sample_type=perf.SAMPLE_TID | perf.SAMPLE_CPU)
evsel.open(cpus=perf.cpu_map(), threads=perf.thread_map(-1))
evlist.add(evsel)
evlist.mmap()
evlist.poll(timeout=100)
for cpu in perf.cpu_map():
	evlist.read_on_cpu(cpu)
"""

def check_schema(b, schema):
	if not schema.validator:
		b.tap.skip("schema", "no python3-jsonschema")
		return
	check_refusals(b, schema)
	if PERF:
		data = os.path.join(b.tmp, "data")
		record = [PERF, "record", "-q", "-o", data]
		check_dump(b, schema, "perf record", [],
			   record + ["-e", "cpu-clock", "true"], 10)
		check_dump(b, schema, "perf record, all that there is", FULL,
			   record + ["-e", "cpu-clock", "-g", "true"], 20, "record")
		check_dump(b, schema, "perf stat", ["--summary"],
			   [PERF, "stat", "-o", "/dev/null", "true"], 8)
		if sp.tracefs():
			check_dump(b, schema, "perf trace", ["--records"],
				   [PERF, "trace", "-o", "/dev/null", "true"], 10)
			check_dump(b, schema, "perf record -a sched_switch",
				   ["--records"],
				   record + ["-a", "-e", "sched:sched_switch",
					     "sleep", "0.2"], 20)
		else:
			b.tap.skip("schema: perf trace, sched_switch", "no tracefs")
		for word in PERF_TESTS:
			check_dump(b, schema, "perf test '%s'" % word, ["-y"],
				   [PERF, "test", word])
	else:
		b.tap.skip("schema: perf", "no perf")
	python = "/usr/bin/python3"
	if os.path.exists(python) and not subprocess.run(
			[python, "-c", "import perf"], cwd=b.tmp,
			stderr=subprocess.DEVNULL).returncode:
		check_dump(b, schema, "a Python script with perf's module", FULL,
			   [python, "-B", "-c", SCRIPT], 10)
	else:
		b.tap.skip("schema: Python script", "no perf module for Python")
	if target("demo"):
		check_dump(b, schema, "demo, all that there is", FULL,
			   [target("demo")], 20, "demo")
		check_dump(b, schema, "demo, some of it injected",
			   ["-e", "inject=poll:signal=WINCH:delay=1ms:delay_exit=1ms",
			    "-e", "inject=close:error=EIO:when=1", "--as-kernel=4.4"],
			   [target("demo")], 20)
		check_dump(b, schema, "demo --symbols -v", ["--symbols", "-v"],
			   [target("demo")], 20)
	for name, argv in TASKS:
		if target(argv[0]):
			check_dump(b, schema, name, ["-y", "--records"],
				   [target(argv[0])] + argv[1:], keep=name)
	check_cases(b, schema)
	check_found(b, schema)
	check_lost(b, schema)
	check_aux(b, schema)
	check_found_ring(b, schema)
	check_closed(b, schema)
	check_program(b, schema)
	check_written(b, schema)

TASKS = [
	("tree threads", ["tree", "threads", "4"]),
	("signals die", ["signals", "die", "15"]),
	("execs thread", ["execs", "thread"]),
	("passfd", ["passfd"]),
	("sigtrapbp", ["sigtrapbp"]),
	("mixedring", ["mixedring", "id"]),
]

def check_refusals(b, schema):
	"""The schema refuses invalid lines."""
	good = {"kind": "comm", "tid": 1, "comm": "x"}
	name = {"kind": "name", "of": "fd", "tid": 1, "fd": 3, "name": None}
	gone = {"kind": "gone", "tid": 1, "ns": 1, "how": "exit", "status": 0,
		"exit": 0, "shown": True}
	taken = [good, name, gone,
		 dict(gone, how="detached", status=None)]
	del taken[3]["status"], taken[3]["exit"]
	taken.append(dict(taken[3], how="superseded", by=5))
	refused = [{}, {"kind": "what"}, dict(good, more=1),
		   dict(good, tid="1"), dict(good, tid=-1), dict(good, comm=None),
		   {"kind": "comm", "tid": 1}, dict(name, type=1),
		   dict(name, of="pmu"), dict(gone, how="detached"),
		   dict(gone, signal="SIGTERM", core=False),
		   dict(gone, how="left"), dict(gone, by=5)]
	why = ["refuses %s: %s" % (x, schema.errors(x)) for x in taken
	       if schema.errors(x)]
	why += ["takes %s" % x for x in refused if not schema.errors(x)]
	if b.wanted("schema: refuses"):
		b.tap.ok(not why, "schema: refuses what is no line", why)

def build32(b):
	cc = sp.find_program("i686-linux-gnu-gcc")
	source = os.path.join(HERE, "targets", "attrs.c")
	out = os.path.join(b.tmp, "attrs32")
	if os.uname().machine != "x86_64" or not cc:
		return None, "no i386 compiler"
	r = subprocess.run([cc, "-std=gnu11", "-O1", "-pthread", "-static",
			    "-o", out, source], stdout=subprocess.PIPE,
			   stderr=subprocess.STDOUT, text=True)
	if r.returncode:
		return None, "it does not compile: " + \
			(r.stdout.strip().split("\n") or [""])[-1]
	try:
		subprocess.run([out, "list"], stdout=subprocess.DEVNULL,
			       check=True)
	except (OSError, subprocess.CalledProcessError):
		return None, "this kernel does not run it"
	return out, None

def check_cases(b, schema):
	programs = [("native", target("attrs"), "no target attrs")]
	if b.wanted("schema: i386"):
		programs.append(("i386",) + build32(b))
	for name, program, why in programs:
		if not program:
			b.tap.skip("schema: %s calls of all kinds" % name, why)
			continue
		cases = subprocess.run([program, "list"], text=True, check=True,
				       stdout=subprocess.PIPE).stdout.split()
		for case in cases:
			check_dump(b, schema, "%s attrs %s" % (name, case),
				   ["-y"], [program, case],
				   keep="%s %s" % (name, case))

# perf_event_open(2) by number
OPEN = {"x86_64": 298, "aarch64": 241}

def check_found(b, schema):
	"""An event that was open before the trace began."""
	what = "schema: an event that was there before"
	if not b.wanted(what):
		return
	nr = OPEN.get(os.uname().machine)
	attr = ctypes.create_string_buffer(bytes(
		[1, 0, 0, 0, 64, 0, 0, 0, 9]), 64)
	fd = ctypes.CDLL(None).syscall(nr, attr, 0, -1, -1, 0) if nr else -1
	if fd < 0:
		b.tap.skip(what, "no event can be opened here")
		return
	try:
		os.set_inheritable(fd, True)
		_, dump = b.trace([], ["sh", "-c", "exit 0"], pass_fds=[fd])
		found = [x for x in lines_of(dump) if x["kind"] == "found"]
		why = schema.why_not(dump)
		if [x["fd"] for x in found] != [fd]:
			why.append("found %s, not descriptor %d" % (found, fd))
		b.kept["found"] = dump
		if any(x["kind"] == "described" for x in lines_of(dump)):
			b.kept["described"] = dump
	except Trouble as e:
		why = [str(e)]
	finally:
		os.close(fd)
	b.tap.ok(not why, what, why)

def check_lost(b, schema):
	"""A line about lost messages, put into another dump: see tests/engines_agree.py for real ones."""
	what = "schema: lost messages"
	if not b.wanted(what) or "found" not in b.kept:
		return
	lines = lines_of(b.kept["found"])
	lines.insert(-1, {"kind": "lost", "ns": max(x.get("ns", 0) for x in lines), "messages": 3})
	dump = b.path(".json")
	with open(dump, "w", encoding="utf-8") as f:
		f.writelines(json.dumps(x) + "\n" for x in lines)
	b.kept["lost"] = dump
	b.tap.ok(not schema.why_not(dump), what, schema.why_not(dump))

def check_aux(b, schema):
	"""A line with AUX data, put into another dump: see tests/perfdata_out.py."""
	what = "schema: AUX data"
	if not b.wanted(what):
		return
	for path in b.kept.values():
		lines = lines_of(path)
		at = max([i for i, x in enumerate(lines) if x["kind"] == "look"], default=-1)
		if at >= 0:
			break
	else:
		return b.tap.skip(what, "no dump has a ring")
	lines.insert(at + 1, {"kind": "aux", "tid": lines[at]["tid"], "ns": lines[at]["ns"],
			      "ring": lines[at]["ring"], "position": 4096, "missed": 0,
			      "hex": "0283"})
	dump = b.path(".json")
	with open(dump, "w", encoding="utf-8") as f:
		f.writelines(json.dumps(x) + "\n" for x in lines)
	b.kept["aux"] = dump
	b.tap.ok(not schema.why_not(dump), what, schema.why_not(dump))

def check_closed(b, schema):
	"""An event that an io_uring closes."""
	what = "schema: a close that is not followed"
	if not b.wanted(what):
		return
	dump = b.path(".json")
	r = subprocess.run([PEVTRACE, "-o", b.path(".txt"), "--json=" + dump,
			    target("passunseen") or "false", "close"], stderr=subprocess.PIPE)
	if r.returncode:
		return b.tap.skip(what, "passunseen or io_uring is missing")
	why = schema.why_not(dump)
	if not any(x["kind"] == "closed" for x in lines_of(dump)):
		why.append("no close was noticed")
	b.kept["closed"] = dump
	b.tap.ok(not why, what, why)

def check_program(b, schema):
	"""An event with a BPF program, attached to while it waits."""
	what = "schema: a BPF program that was there before"
	if not b.wanted(what):
		return
	dump = b.path(".json")
	program = subprocess.Popen([target("bpfevent") or "false", "tracepoint", "link", "1",
				    "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
	try:
		if program.stdout.readline() != b"up\n":
			return b.tap.skip(what, "bpfevent cannot run")
		tracer = subprocess.Popen([PEVTRACE, "-o", b.path(".txt"), "--summary",
					   "--json=" + dump, "-p", str(program.pid)],
					  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
		tracer.stderr.readline()
		said = program.communicate(b"x", timeout=300)[0].split()
		tracer.communicate(timeout=300)
		why = schema.why_not(dump)
		lines = [x for x in lines_of(dump) if x["kind"] == "program"]
		if [(x["id"], x["type"], x["name"]) for x in lines] != \
		   [(int(said[0]), 5, "two_insns")]:
			why.append("%s instead of %s" % (lines, said))
		told = b.decode(["--summary"], dump)
		if b", with BPF program %s two_insns" % said[0] not in read(told):
			why.append("the summary does not have it")
		b.kept["program"] = dump
	except (Trouble, OSError, subprocess.TimeoutExpired) as e:
		why = [str(e)]
	finally:
		program.kill()
		program.wait()
	b.tap.ok(not why, what, why)

def check_found_ring(b, schema):
	"""A program with mapped rings, attached to while it waits."""
	what = "schema: a ring that was there before"
	if not b.wanted(what):
		return
	dump = b.path(".json")
	# it maps its rings, starts its command, and polls until that ends
	program = subprocess.Popen([target("demo"), "sh", "-c", "echo up; read x"],
				   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
				   bufsize=0)
	try:
		while program.stdout.readline() not in (b"up\n", b""):
			pass
		tracer = subprocess.Popen([PEVTRACE, "-o", b.path(".txt"),
					   "--json=" + dump, "-p", str(program.pid)],
					  stdin=subprocess.DEVNULL,
					  stderr=subprocess.PIPE)
		tracer.stderr.readline()
		program.communicate(timeout=300)
		tracer.communicate(timeout=300)
		why = schema.why_not(dump)
		if not any(x["kind"] == "found_ring" for x in lines_of(dump)):
			why.append("no ring was found")
		b.kept["found_ring"] = dump
	except (Trouble, OSError, subprocess.TimeoutExpired) as e:
		why = [str(e)]
	finally:
		program.kill()
		program.wait()
	b.tap.ok(not why, what, why)

def documented():
	"""Return {kind: keys} as described in the manual page."""
	with open(PAGE, encoding="utf-8") as f:
		text = f.read()
	out = {}
	for part in re.split(r"(?m)^\.SS ", text)[1:]:
		title, _, body = part.partition("\n")
		body = re.split(r"(?m)^\.SH ", body)[0]
		keys = set()
		for words in re.findall(r"(?m)^\.TP[^\n]*\n\.BR? ([^\n]*)", body):
			keys.update(re.findall(r"[a-z_]+", re.sub(
				r'"[^"]*"|,', " ", words)))
		for kind in re.findall(r"[a-z_]+", title):
			out.setdefault(kind, set()).update(keys)
	return out

def check_written(b, schema):
	what = "schema: every key that there is, is in pevtrace-json(5)"
	if not b.wanted(what):
		return
	page = documented()
	why = ["%s: %s is not described" % (kind, key)
	       for kind, key in sorted(schema.seen)
	       if key not in page.get(kind, ()) and key != "kind"]
	for kind in schema.kinds:
		_, known = schema.keys(kind)
		told = page.get(kind, set())
		why += ["%s: %s is in the schema, not in the page" % (kind, k)
			for k in known if k not in told and k != "kind"]
		why += ["%s: %s is in the page, not in the schema" % (kind, k)
			for k in sorted(told) if k not in known]
	b.tap.ok(not why, what, why)
	if not b.words:
		never = [k for k in schema.kinds
			 if not any(kind == k for kind, _ in schema.seen)]
		b.tap.ok(not never, "schema: every kind of line was seen",
			 ["not seen: " + ", ".join(never)])

# ---- attrs -------------------------------------------------------------------

def number(value):
	if isinstance(value, bool) or value is None:
		return None
	if isinstance(value, int):
		return value
	if isinstance(value, str) and re.match("0x[0-9a-f]+$", value):
		return int(value, 16)
	return None

def member(attr, name):
	for n in sp.SAME_PLACE.get(name, (name,)):
		if n in attr:
			return number(attr[n])
	return None

SHORT = {"sample_max_stack": 2}
LONG = """config sample_period sample_type read_format bp_addr bp_len
branch_sample_type sample_regs_user sample_regs_intr sig_data config3""".split()

def from_bytes(raw, offset, names, bit):
	"""Return a member of the attr's bytes; None if they are too short for it."""
	if offset == 40:
		width = 2 if names[0] == "precise_ip" else 1
		return int.from_bytes(raw[40:48], "little") >> bit & \
			((1 << width) - 1), bit + width
	size = SHORT.get(names[0], 8 if any(n in LONG for n in names) else 4)
	return int.from_bytes(raw[offset:offset + size], "little"), bit

def against_bytes(call):
	attr, out, bit = call["args"]["attr_uptr"], [], 0
	raw = [m for m in call["memory"]
	       if m["at"] == "enter" and m["addr"] == call["raw"][0]]
	if not raw or not isinstance(attr, dict):
		return ["no bytes of the attr"]
	raw = bytes.fromhex(raw[0]["hex"])
	for offset, least, names in sp.SLOTS:
		have = from_bytes(raw, offset, names, bit)
		bit = have[1]
		got = next((attr[n] for n in names if n in attr), None)
		if least > len(raw) or got is None or number(got) is None:
			continue
		mask = (1 << 64) - 1 if have[0] >> 32 else (1 << 32) - 1
		if number(got) & mask != have[0]:
			out.append("%s is %s, %#x in its bytes" %
				   (names[0], got, have[0]))
	return out

def against_file(path, calls):
	want = {}
	with open(path) as f:
		for line in f:
			m = re.match(r"(\w+)=(-?\d+)\s*$", line)
			if m:
				want[m.group(1)] = int(m.group(2))
	mine = [c for c in calls if c["ret"] == want.get("fd") and
		all(member(c["args"]["attr_uptr"], k) == want.get(k)
		    for k in ("type", "config"))]
	name = os.path.basename(path)
	if not mine:
		return ["no open for " + name], 0
	args, out, n = mine[-1]["args"], [], 0
	for key, val in want.items():
		if key == "fd":
			continue
		if key in ("pid", "cpu", "group_fd", "flags"):
			got = number(args[key])
		else:
			got = member(args["attr_uptr"], key)
		if got is not None and got < 0 <= val:
			got &= (1 << 64) - 1
		n += 1
		if got != val:
			out.append("%s: %s is %d in the file, %s in the dump" %
				   (name, key, val, got))
	return out, n

ATTR_CASES = [
	("record", ["record", "-q", "-o", "@", "-e", "cpu-clock", "true"], False),
	("record, much", ["record", "-q", "-o", "@", "-e",
			  "{cpu-clock,page-faults}:S", "--call-graph", "dwarf",
			  "--switch-events", "-d", "-W", "true"], False),
	("record breakpoint", ["record", "-q", "-o", "@", "-e",
			       "mem:0x7f0000001000/8:rw", "true"], False),
	("stat", ["stat", "-o", "/dev/null", "true"], False),
	("record -a sched_switch", ["record", "-q", "-o", "@", "-a", "-e",
				    "sched:sched_switch", "true"], True),
]

def check_attrs(b):
	for name, argv, needs in ATTR_CASES:
		what = "attr: perf " + name
		if not b.wanted(what):
			continue
		if not PERF or needs and not sp.tracefs():
			b.tap.skip(what, "no tracefs" if PERF else "no perf")
			continue
		notes = b.path("attrs")
		os.mkdir(notes)
		data = os.path.join(b.tmp, "data")
		try:
			_, dump = b.trace([], [PERF] + [data if a == "@" else a
							for a in argv],
					  env={"PERF_TEST_ATTR": notes})
		except Trouble as e:
			b.tap.ok(False, what, [str(e)])
			continue
		opens = [x for x in lines_of(dump)
			 if x.get("call") == "perf_event_open" and "args" in x]
		why = ["open %d: %s" % (n, w) for n, c in enumerate(opens, 1)
		       for w in against_bytes(c)]
		b.tap.ok(opens and not why, what + ": members are what the "
			 "bytes say (%d opens)" % len(opens), why or ["no opens"])
		files = sorted(glob.glob(notes + "/event-*"))
		if not files:
			b.tap.skip(what + ": the files that perf wrote",
				   "perf kept no event")
			continue
		why, total = [], 0
		for path in files:
			wrong, n = against_file(path, [c for c in opens
						       if "errno" not in c])
			why, total = why + wrong, total + n
		b.tap.ok(total and not why, what + ": the files that perf wrote "
			 "(%d members)" % total, why or ["nothing in them"])

# ---- decoded as it was traced --------------------------------------------------

OPTIONS = [
	[], ["-v"], ["-y", "-tt", "-T"], ["-r"], ["-k"], ["--records"],
	["--symbols"], ["--summary"], ["-c"], ["-s", "5"],
	["-e", "status=failed"], ["-e", "trace=%ioctl"], ["-e", "trace=all"],
	["-ttt", "-q"], ["-qq", "--color=always"],
	["-e", "signal=none", "-e", "status=!failed"],
	FULL + ["-v", "-T", "-ttt", "-s", "400"],
]

def same_targets():
	out = []
	for argv in (["demo"], ["tree", "fork"], ["tree", "threads", "4"],
		     ["signals", "kids", "3"], ["signals", "die", "15"],
		     ["execs", "thread"], ["execs", "leader"], ["passfd"],
		     ["reuse"], ["sigtrapbp"], ["mixedring", "id"],
		     ["undisturbed"], ["filtered", "race", "40"]):
		if target(argv[0]):
			out.append((" ".join(argv),
				    [target(argv[0])] + argv[1:]))
	if PERF:
		out += [("perf stat", [PERF, "stat", "-o", "/dev/null", "true"]),
			("perf record", [PERF, "record", "-q", "-o", "@", "-e",
					 "cpu-clock", "true"])]
	return out

def same_again(b, schema, options, text, dump, perf=True):
	"""Decode a dump into text and another dump, decode that; return the differences."""
	live = read(text)
	if not live and perf and "-e" not in options and "-q" not in options:
		return ["nothing was traced"]
	again = b.path("json")
	out = b.decode(options + ["--json=" + again], dump)
	if read(out) != live:
		return ["decoded:"] + first_difference(live, read(out))
	out2 = b.decode(options, again)
	if read(out2) != live:
		return ["decoded and dumped, and that decoded:"] + \
			first_difference(live, read(out2))
	why = []
	if schema.validator:
		why = schema.why_not(again)
	first, second = lines_of(dump), lines_of(again)
	for kind in schema.kinds:
		n = [sum(x["kind"] == kind for x in y) for y in (first, second)]
		if kind != "name" and n[0] != n[1]:
			why.append("%d lines of %s, in the second dump %d" %
				   (n[0], kind, n[1]))
	os.unlink(out)
	os.unlink(out2)
	os.unlink(again)
	return why

def check_same(b, schema):
	data = os.path.join(b.tmp, "data")
	for n, (name, argv) in enumerate(same_targets()):
		argv = [data if a == "@" else a for a in argv]
		for options in sp.sample(OPTIONS, 4, n):
			what = "same: %s, %s" % (name, " ".join(options) or
						 "no options")
			if not b.wanted(what):
				continue
			try:
				text, dump = b.trace(options, argv)
				# signal targets open no events
				why = same_again(b, schema, options, text, dump,
						 not name.startswith("signals"))
			except (Trouble, ValueError) as e:
				why = [str(e)]
			b.tap.ok(not why, what, why)
	if target("attrs"):
		for case in subprocess.run([target("attrs"), "list"], text=True,
					   stdout=subprocess.PIPE,
					   check=True).stdout.split():
			what = "same: attrs %s, -y -v" % case
			if not b.wanted(what):
				continue
			try:
				options = ["-y", "-v", "-s", "100"]
				text, dump = b.trace(options,
						     [target("attrs"), case])
				why = same_again(b, schema, options, text, dump) \
					if read(text) else []
			except (Trouble, ValueError) as e:
				why = [str(e)]
			b.tap.ok(not why, what, why)
	check_places(b)
	check_header(b)
	check_alien(b, schema)

def check_places(b):
	"""The same with standard output, standard input and -ff."""
	if not target("demo") or not b.wanted("same: to standard output"):
		return
	dump = b.path("json")
	_, _, live = b.run([PEVTRACE, "--json=" + dump, target("demo")])
	rc, out, err = b.run([PEVTRACE, "decode", dump])
	why = [] if rc == 0 and not err else ["status %d, %s" % (rc, err)]
	if out.decode() != live:
		why += first_difference(live.encode(), out)
	b.tap.ok(not why, "same: to standard output what went to standard error",
		 why)
	with open(dump, "rb") as f:
		rc, out2, err = b.run([PEVTRACE, "decode", "-"], stdin=f)
	b.tap.ok(rc == 0 and out2 == out and not err,
		 "same: a dump on standard input", [err])
	rc, dumped, err = b.run([PEVTRACE, "-j", "true"])
	kinds = [json.loads(x)["kind"] for x in dumped.splitlines()]
	b.tap.ok(rc == 0 and kinds[:1] == ["header"] and kinds[-1:] == ["end"],
		 "same: -j alone writes to standard output",
		 [str(kinds), err])
	text = b.path("ff")
	dump = text + ".json"
	b.run([PEVTRACE, "-ff", "-o", text, "--json=" + dump, target("demo")])
	mine = {p[len(text):]: read(p) for p in glob.glob(text + ".[0-9]*")}
	again = b.path("ff")
	rc, _, err = b.run([PEVTRACE, "decode", "-ff", "-o", again, dump])
	theirs = {p[len(again):]: read(p) for p in glob.glob(again + ".[0-9]*")}
	b.tap.ok(rc == 0 and mine and mine == theirs,
		 "same: -ff, a file for each task",
		 [err] + ["%s: %s bytes traced, %s decoded" %
			  (k, len(mine[k]) if k in mine else "no",
			   len(theirs[k]) if k in theirs else "no")
			  for k in sorted(set(mine) | set(theirs))
			  if mine.get(k) != theirs.get(k)])

def check_header(b):
	"""A dump of a dump keeps the description of machine and run."""
	what = "same: the header of a dump of a dump"
	if not b.wanted(what):
		return
	again = b.path("json")
	try:
		_, dump = b.trace([], ["true"])
		b.decode(["--json=" + again], dump)
	except Trouble as e:
		b.tap.ok(False, what, [str(e)])
		return
	first, second = lines_of(dump)[0], lines_of(again)[0]
	why = ["%s was %s, is %s" % (k, first[k], second.get(k))
	       for k in first if first[k] != second.get(k)]
	b.tap.ok(not why, what, why)
	what = "same: the header of a dump of a dump, attached"
	sleeper = subprocess.Popen(["sleep", "1000"])
	try:
		dump = b.path("json")
		p = subprocess.Popen([PEVTRACE, "-q", "-o", dump, "-j", "-p",
				      str(sleeper.pid)], stderr=subprocess.PIPE)
		for _ in range(6000):
			if os.path.exists(dump) and read(dump).count(b"\n") > 1:
				break
			time.sleep(0.05)
		p.terminate()
		_, err = p.communicate(timeout=300)
		first = lines_of(dump)[0]
		why = [] if first["attached"] == [sleeper.pid] else \
			["attached: %s, %s" % (first["attached"], err)]
		b.decode(["--json=" + again], dump)
		second = lines_of(again)[0]
		why += ["%s was %s, is %s" % (k, first[k], second.get(k))
			for k in first if first[k] != second.get(k)]
	except (Trouble, OSError, ValueError, IndexError,
		subprocess.TimeoutExpired) as e:
		why = ["%s: %s" % (type(e).__name__, e)]
	finally:
		sleeper.kill()
		sleeper.wait()
	b.tap.ok(not why, what, why)

def check_alien(b, schema):
	"""Names that are not UTF-8, or that JSON escapes."""
	if not b.wanted("same: names"):
		return
	for word in (b"caf\xe9", b'q"u\\o\te', b"line\nfeed\x7f\x01",
		     "\u20ac\U0001f41d".encode()):
		where = os.path.join(b.tmp.encode(), b"dir." + word)
		os.makedirs(where, exist_ok=True)
		program = os.path.join(where, b"true." + word)
		shutil.copy("/bin/true", program)
		# the shell holds a descriptor, so that all of its calls are shown
		script = 'exec 7<"$1"; "$1"; exec "$1" "$1"'
		what = "same: names with %r" % word
		options = ["-y", "-e", "trace=all", "--summary", "-s", "400"]
		try:
			text, dump = b.trace(options, ["sh", "-c", script, "sh",
						       program])
			why = same_again(b, schema, options, text, dump)
			if schema.validator:
				why += schema.why_not(dump)
			if b"true." not in read(text):
				why.append("the name is not in the text")
		except (Trouble, ValueError) as e:
			why = [str(e)]
		b.tap.ok(not why, what, why)

def check_obeyed(b):
	"""No character that a terminal obeys or hides is in a dump, but what it says is."""
	if not b.wanted("same: obeyed"):
		return
	all_ = [chr(c) for c in range(1, 0x110000)
		if unicodedata.category(chr(c)) in ("Cc", "Cf", "Zl", "Zp")]
	word = "a" + "".join(all_) + "\u20ac\U0001f41d"
	dump = os.path.join(b.tmp, "obeyed.json")
	subprocess.run([PEVTRACE, "-o", "/dev/null", "--json=" + dump, "true", word])
	with open(dump, encoding="utf-8") as f:
		text = f.read()
	left = [hex(ord(c)) for c in all_ if c != "\n" and c in text]
	said = json.loads(text.split("\n")[0])["command"]
	b.tap.ok(not left and said == ["true", word] and "\u20ac" in text,
		 "same: the %d characters of no width or of direction are escaped" % len(all_),
		 [left, said])

# ---- bad input -----------------------------------------------------------------

# Members that decode requires in each kind of line.  The others are
# for other readers.
NEEDED = {
	"header": "kind schema arch page_size real_offset_ns start_ns",
	"task": "kind tid ns pid parent attached shares_files shares_memory",
	"found": "kind tid fd cloexec",
	"closed": "kind tid fd", "program": "kind event id type name",
	"lost": "kind ns messages",
	"described": "kind tid ns event pid cpu cgroup enabled leader output bytes",
	"found_ring": "kind tid start end",
	"measured": "kind ns pid parent threads maps",
	"build_id": "kind path id",
	"comm": "kind tid comm",
	"command": "kind tid command",
	"name": "kind of type id config tid fd",
	"call": "kind call tid pid arch nr raw enter_ns shown start_ns exit_ns "
		"ret memory",
	"enter": "kind call tid pid arch nr raw enter_ns shown memory",
	"exit": "kind tid start_ns exit_ns ret memory",
	"abandoned": "kind tid",
	"record": "kind tid ns ring event sure hex",
	"look": "kind tid ns ring missed torn page",
	"aux": "kind tid ns ring position missed hex",
	"id": "kind event id",
	"count": "kind event id count",
	"signal": "kind tid ns hex",
	"exec": "kind tid ns former",
	"gone": "kind tid ns how status",
	"end": "kind",
}
# Optional members that change what decode prints.
USED = {
	"header": "pevtrace kernel command", "name": "name", "exec": "exe",
	"call": "errno stack", "found": "event", "enter": "stack", "exit": "errno",
	"count": "read_format time_enabled time_running", "found_ring": "event aux",
	"measured": "functions",
}
ABSENT = object()
WRONG = [ABSENT, None, True, -2, 1.5, 1 << 64, "", "zz", "0x", "0x1g", [], {},
	 [None], [[]], [{}], ["0x1", 5]]

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

def cut_lines(b, lines, whole):
	why, shown = [], 0
	for n in sp.sample(range(len(lines)), 2, len(lines) - 1):
		d = decode_bytes(b, join(lines[:n]))
		# in an empty file, the first line is missing
		if d.rc != 2 or not d.said(max(n, 1)) or len(d.err.split("\n")) != 2:
			why.append("after line %d: %s" % (n, d))
		if not whole.startswith(d.out):
			why.append("after line %d: other text" % n)
		if len(d.out) < shown:
			why.append("after line %d: less text" % n)
		shown = len(d.out)
	if shown < len(whole) // 2:
		why.append("but for the last line, little is shown")
	return why

def cut_bytes(b, data, whole):
	why, pick = [], random.Random(SEED)
	for at in sorted(pick.sample(range(1, len(data) - 1), sp.times(25, 100))):
		d = decode_bytes(b, data[:at])
		n = data[:at].count(b"\n") + (data[at - 1:at] != b"\n")
		if d.rc != 2 or not d.said(n):
			why.append("at byte %d: %s" % (at, d))
		k = decode_bytes(b, data[:at], ["--keep-going"])
		if not whole.startswith(k.out) or not k.out.startswith(d.out):
			why.append("at byte %d: other text: %r" %
				   (at, k.out[-200:]))
		if at == len(data) or k.rc != (2 if n > 0 else 0):
			why.append("at byte %d with --keep-going: %s" % (at, k))
	return why

GARBAGE = [b"", b"garbage", b"{", b"}", b"[]", b"null", b"1", b'"x"', b"{}",
	   b'{"kind":1}', b'{"kind":"comm"', b'{"kind":"comm"} x', b"\x00" * 10,
	   b'{"kind":"comm","tid":1,"comm":"\xff\xfe"}',
	   b'{"kind":"nothing that we know"}', b"{'kind':'comm'}",
	   b'{"kind":"comm","tid":1,"comm":"x",}',
	   b'{"kind":"comm","tid":1e400,"comm":"x"}',
	   b'{"kind":"comm","tid":NaN,"comm":"x"}', b"\xef\xbb\xbf{}",
	   b'{"kind":"header","schema":1}', b"[" * 100000,
	   b'{"a":' * 1000 + b"1" + b"}" * 1000, b'{"kind":"\\ud800"}']

def garbage(b, lines, whole):
	why = []
	for n in (2, len(lines) // 2, len(lines)):
		for junk in sp.sample(GARBAGE, 3, n):
			data = join(lines[:n - 1] + [junk] + lines[n - 1:])
			d = decode_bytes(b, data)
			if d.rc != 2 or not d.said(n):
				why.append("%r as line %d: %s" % (junk[:60], n, d))
			k = decode_bytes(b, data, ["--keep-going"])
			if k.rc != 2 or not k.said(n):
				why.append("%r as line %d with --keep-going: %s" %
					   (junk[:60], n, k))
			if k.out != whole:
				why.append("%r as line %d changes what is shown "
					   "of the others" % (junk[:60], n))
	return why

def first_line(b, lines):
	why, header = [], json.loads(lines[0])
	for change in ({"schema": 2}, {"schema": 0}, {"schema": "1"},
		       {"kind": "comm"}, {"arch": "pdp11"}, {"page_size": 0},
		       {"byte_order": "middle"},
		       {"page_size": 1 << 40}, {"start_ns": -1}):
		data = join([json.dumps(dict(header, **change)).encode()] +
			    lines[1:])
		for options in ((), ("--keep-going",)):
			d = decode_bytes(b, data, options)
			if d.rc != 2 or not d.said(1) or d.out:
				why.append("%s: %s" % (change, d))
	for data in (b"", b"\n", b"\n\n\n", b"PERFILE9" + bytes(range(256)),
		     b"\x7fELF" + bytes(4096), join(lines[1:])):
		d = decode_bytes(b, data)
		if d.rc != 2 or not d.said(1) or d.out or \
				(data and "not a dump of pevtrace" not in d.err and
				 " of a dump" not in d.err):
			why.append("%r: %s" % (data[:20], d))
	d = decode_bytes(b, b"")
	if "empty" not in d.err:
		why.append("an empty file: %s" % d)
	return why

def by_kind(b, schema):
	"""Return {kind: (lines of a dump, index of a line of that kind)}."""
	out = {}
	for path in b.kept.values():
		lines = read(path).splitlines()
		for i, line in enumerate(lines):
			o = json.loads(line)
			if o["kind"] in out or "errno" in o:
				continue
			if o["kind"] == "gone" and o["how"] != "exit":
				continue
			out[o["kind"]] = lines, i
	return out

def wrong_types(b, schema, kind, lines, at):
	why = []
	needed = NEEDED[kind].split()
	used = USED.get(kind, "").split()
	whole = decode_bytes(b, join(lines), FULL)
	if whole.rc:
		return ["the dump itself: %s" % whole]
	line = json.loads(lines[at])
	for n, key in enumerate(line):
		for value in sp.sample(WRONG, 4, at + n):
			bad = copy.deepcopy(line)
			if value is ABSENT:
				del bad[key]
			else:
				bad[key] = value
			text = "without %s" % key if value is ABSENT else \
				"%s: %s" % (key, json.dumps(value))
			data = join(lines[:at] + [json.dumps(bad).encode()] +
				    lines[at + 1:])
			d = decode_bytes(b, data, FULL)
			about = [e for e in schema.errors(bad)
				 if value is ABSENT or
				 e.startswith((key + ":", key + "/"))]
			if key in used:
				pass
			elif key not in needed:
				if d.rc or d.out != whole.out:
					why.append("%s should not matter: %s" %
						   (text, d))
			elif about and (d.rc != 2 or not d.said(at + 1)):
				why.append("%s: %s" % (text, d))
			k = decode_bytes(b, data, FULL + ["--keep-going"])
			if kind != "header" and not k.out:
				why.append("%s: --keep-going shows nothing: %s" %
					   (text, k))
	return why

MOST_MB = 256

def twice_named(b, lines, whole):
	"""A key that occurs twice in an object is an error: json.loads() and json-c
	would use the last."""
	why = []
	at = next(i for i, line in enumerate(lines)
		  if b'"memory":[{' in line and b'"args":{' in line)
	good = lines[at]
	def change(old, new):
		return good.replace(old, new, 1)
	for key, bad in (
			("kind", b'{"kind":"comm",' + good[1:]),
			("kind", good[:-1] + b',"kind":"call"}'),
			("tid", good[:-1] + b',"\\u0074id":1}'),
			("more", change(b'"args":{', b'"args":{"more":1,"more":1,')),
			("at", change(b'"memory":[{', b'"memory":[{"at":"exit",')),
			("\\033[2Jx", change(b'{', b'{"\\u001b[2Jx":1,"\\u001b[2Jx":1,'))):
		data = join(lines[:at] + [bad] + lines[at + 1:])
		d = decode_bytes(b, data)
		text = 'duplicate name "%s"' % key
		if d.rc != 2 or not d.said(at + 1) or text not in d.err or \
				not re.search(r":%d: .*column \d+: " % (at + 1), d.err):
			why.append("%s: %s" % (text, d))
		k = decode_bytes(b, data, ["--keep-going"])
		if k.rc != 2 or text not in k.err or not k.out or \
				len(k.out) >= len(whole):
			why.append("%s with --keep-going: %s" % (text, k))
	# the same key in different objects is correct
	fine = good[:-1] + b',"more":[{"kind":1,"tid":{"tid":2}},{"kind":1}]}'
	d = decode_bytes(b, join(lines[:at] + [fine] + lines[at + 1:]))
	if d.rc or d.out != whole:
		why.append("in other objects: %s" % d)
	# not quadratic: comparing each key with all others would take minutes
	many = b",".join(b'"%d":0' % n for n in range(300000))
	d = decode_bytes(b, join(lines[:at] + [good[:-1] + b"," + many + b"}"] +
				 lines[at + 1:]))
	if d.rc or d.out != whole or d.cpu > 20:
		why.append("a line with 300000 names: %.1f s, %s" % (d.cpu, d))
	return why

def enormous(b, lines):
	"""Memory is bounded, however long a line is."""
	why = []
	path = os.path.join(b.tmp, "enormous.json")
	for what, start, piece, times, end in (
			("100 MB of text", b'{"kind":"comm","tid":1,"comm":"',
			 b"x" * (1 << 20), 100, b'"}'),
			("100 MB of zeros", b"", bytes(1 << 20), 100, b""),
			("16 MB of small things", b'{"kind":"x","a":[',
			 b"[]," * (1 << 18), 21, b"1]}"),
			# the longest that is read at all
			("4 MB of small things", b'{"kind":"x","a":[',
			 b"{}," * 1024, 1360, b"1]}")):
		# written in pieces: memory held here would count as the child's
		with open(path, "wb") as f:
			f.write(join(lines[:5]) + start)
			for _ in range(times):
				f.write(piece)
			f.write(end + b"\n" + join(lines[5:]))
		d = decode_file(b, path, ["--keep-going"], 120)
		if d.rc != 2 or not d.said(6):
			why.append("%s: %s" % (what, d))
		if d.rss > MOST_MB << 10:
			why.append("%s takes %d MB of memory" % (what, d.rss >> 10))
	os.unlink(path)
	return why

def mutated(b, data):
	"""Changed bytes cause no crash, and a message for each line not shown."""
	pick, why = random.Random(SEED), []
	for _ in range(sp.times(40, 150)):
		bad = bytearray(data)
		for _ in range(pick.choice((1, 2, 10))):
			at, how = pick.randrange(len(bad)), pick.randrange(4)
			if how == 0:
				bad[at] = pick.randrange(256)
			elif how == 1:
				del bad[at:at + pick.choice((1, 5, 500))]
			elif how == 2:
				end = at + pick.choice((1, 50, 3000))
				bad[at:at] = bad[at:end]
			else:
				bad[at] ^= 1 << pick.randrange(8)
		d = decode_bytes(b, bytes(bad), FULL + ["--keep-going", "-v"])
		if d.rc == 2 and not re.search(r":\d+: ", d.err):
			why.append("no line number: %s" % d)
		if d.rc == 0 and d.err:
			why.append("a message and status 0: %s" % d)
	return why

def no_file(b):
	why = []
	for path in ("/nonexistent/dump.json", b.tmp):
		d = decode_file(b, path)
		if d.rc != 2 or path not in d.err or len(d.err.split("\n")) != 2:
			why.append("%s: %s" % (path, d))
		if path == b.tmp and "directory" not in d.err:
			why.append("a directory: %s" % d)
	path = os.path.join(b.tmp, "secret.json")
	with open(path, "w"):
		os.chmod(path, 0)
	os.chmod(b.tmp, 0o755)
	if os.geteuid() == 0:
		probe = decode_file(b, path)	# root may read it: it is empty
		if "empty" not in probe.err:
			why.append("an empty file: %s" % probe)
		try:
			d = decode_file(b, path, user=sp.NOBODY)
		except PermissionError:
			return why	# the build directory is closed to others
	else:
		d = decode_file(b, path)
	if d.rc != 2 or "Permission denied" not in d.err:
		why.append("no right to read: %s" % d)
	return why

def twice(b, lines, whole):
	"""Two dumps in one file: lines after the end are an error."""
	why = []
	d = decode_bytes(b, join(lines + lines))
	if d.rc != 2 or not d.said(len(lines) + 1) or d.out != whole:
		why.append("%s" % d)
	return why

def check_bad(b, schema):
	if "demo" not in b.kept:
		if not target("demo"):
			b.tap.skip("bad", "no target demo")
			return
		b.kept["demo"] = b.trace(FULL, [target("demo")])[1]
	print("# SEED=%d" % SEED)
	data = read(b.kept["demo"])
	# without records, of which there are many
	lines = [x for x in data.splitlines()
		 if json.loads(x)["kind"] not in ("record", "look")]
	small = join(lines)
	whole = decode_bytes(b, small).out
	note(b, "bad: cut off behind every line", cut_lines, b, lines, whole)
	note(b, "bad: cut off anywhere", cut_bytes, b, small, whole)
	note(b, "bad: a line of garbage", garbage, b, lines, whole)
	note(b, "bad: the first line", first_line, b, lines)
	note(b, "bad: a name that stands twice", twice_named, b, lines, whole)
	note(b, "bad: a line of 100 MB", enormous, b, lines)
	note(b, "bad: random changes", mutated, b, data)
	note(b, "bad: two dumps in one file", twice, b, lines, whole)
	note(b, "bad: files that are not there", no_file, b)
	if not schema.validator:
		b.tap.skip("bad: wrong types", "no python3-jsonschema")
		return
	have = by_kind(b, schema)
	for kind in schema.kinds:
		what = "bad: wrong types in %s" % kind
		if kind in have:
			note(b, what, wrong_types, b, schema, kind, *have[kind])
		elif not b.words:
			b.tap.skip(what, "no dump here has such a line")

def main():
	if not PEVTRACE:
		sp.skip_all("PEVTRACE is not set")
	tap = sp.Tap()
	tmp = tempfile.mkdtemp(prefix="pevtrace-dump.")
	try:
		b = Bench(tap, tmp, sys.argv[1:])
		schema = Schema()
		check_schema(b, schema)
		check_attrs(b)
		check_same(b, schema)
		check_obeyed(b)
		check_bad(b, schema)
	finally:
		shutil.rmtree(tmp, ignore_errors=True)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
