#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every line of many dumps is as share/pevtrace/trace.schema.json says, and every key is described in
pevtrace-json(5); a value of another type in any of them is a message with its line."""

import copy
import ctypes
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "lib"))
from dumps import BUILT, FULL, PERF, PEVTRACE, Trouble, decode_bytes, join, main, note, read, \
	target
from programs import objects
import straceparse as sp

PAGE = os.path.join(BUILT, "man", "pevtrace-json.5")

def check_dump(b, schema, name, options, command, least=3, keep=None, **how):
	what = "schema: " + name
	if not b.wanted(what):
		return
	try:
		_, dump = b.trace(options, command, **how)
		lines = objects(dump)
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
		found = [x for x in objects(dump) if x["kind"] == "found"]
		why = schema.why_not(dump)
		if [x["fd"] for x in found] != [fd]:
			why.append("found %s, not descriptor %d" % (found, fd))
		b.kept["found"] = dump
		if any(x["kind"] == "described" for x in objects(dump)):
			b.kept["described"] = dump
	except Trouble as e:
		why = [str(e)]
	finally:
		os.close(fd)
	b.tap.ok(not why, what, why)

def check_lines(b, schema, kind, what, lines):
	"""Lines of a dump that were put together; the dump is kept."""
	dump = b.path(".json")
	with open(dump, "w", encoding="utf-8") as f:
		f.writelines(json.dumps(x) + "\n" for x in lines)
	b.kept[kind] = dump
	b.tap.ok(not schema.why_not(dump), what, schema.why_not(dump))

def check_lost(b, schema):
	"""A line about lost messages, put into another dump: see tests/engines_agree.py for real ones."""
	what = "schema: lost messages"
	if not b.wanted(what) or "found" not in b.kept:
		return
	lines = objects(b.kept["found"])
	lines.insert(-1, {"kind": "lost", "ns": max(x.get("ns", 0) for x in lines), "messages": 3})
	check_lines(b, schema, "lost", what, lines)

def check_aux(b, schema):
	"""A line with AUX data, put into another dump: see tests/perfdata_dump.py."""
	what = "schema: AUX data"
	if not b.wanted(what):
		return
	for path in b.kept.values():
		lines = objects(path)
		at = max([i for i, x in enumerate(lines) if x["kind"] == "look"], default=-1)
		if at >= 0:
			break
	else:
		return b.tap.skip(what, "no dump has a ring")
	lines.insert(at + 1, {"kind": "aux", "tid": lines[at]["tid"], "ns": lines[at]["ns"],
			      "ring": lines[at]["ring"], "position": 4096, "missed": 0,
			      "hex": "0283"})
	check_lines(b, schema, "aux", what, lines)

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
	if not any(x["kind"] == "closed" for x in objects(dump)):
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
		lines = [x for x in objects(dump) if x["kind"] == "program"]
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
		if not any(x["kind"] == "found_ring" for x in objects(dump)):
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
	if not PERF:
		b.tap.skip("schema: every kind of line was seen", "no perf")
	elif not b.words:
		never = [k for k in schema.kinds
			 if not any(kind == k for kind, _ in schema.seen)]
		b.tap.ok(not never, "schema: every kind of line was seen",
			 ["not seen: " + ", ".join(never)])

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

OUTSIDE = [-(1 << 63) - 1, -2, 1 << 31, 1 << 32, 1 << 64]

def numbers(value, path=()):
	"""Return the paths of the numbers in a line, without decoded values; of a list, of the first."""
	if isinstance(value, (int, float)) and not isinstance(value, bool):
		return [path]
	if isinstance(value, list):
		return numbers(value[0], path + (0,)) if value else []
	if isinstance(value, dict):
		return [p for key, v in value.items() if key not in ("args", "results", "attr", "info")
			for p in numbers(v, path + (key,))]
	return []

def changed(line, path, value):
	"""Return a copy of a line with another value at a path."""
	line = copy.deepcopy(line)
	at = line
	for key in path[:-1]:
		at = at[key]
	at[path[-1]] = value
	return line

# lines that the dumps of a machine may lack, between the tasks and the calls of one
MADE = [
	{"kind": "name", "of": "symbol", "name": "x", "pid": 1, "ip": "0x1", "cpumode": 1},
	{"kind": "measured", "ns": 1, "pid": 1, "time": 1, "parent": 0,
	 "threads": [{"tid": 1, "comm": "x"}],
	 "maps": [{"start": "0x1000", "end": "0x2000", "pgoff": "0x0", "major": 1, "minor": 1,
		   "inode": 1, "prot": 5, "flags": 2, "path": "/x"}],
	 "functions": [{"start": "0x1", "size": 1, "name": "f", "program": 1, "tag": "0123456789abcdef"}]},
]

def of_each_form(b):
	"""Return (lines of a dump, an index, that line) for each kind, name and end of a task."""
	out = {}
	dumps = sorted((read(path).splitlines() for path in b.kept.values()), key=len)
	for made in MADE:
		at = next(i for i, line in enumerate(dumps[0]) if b'"kind":"task"' in line) + 1
		dumps.append(dumps[0][:at] + [json.dumps(made).encode()] + dumps[0][at:])
	for lines in dumps:
		for i, line in enumerate(lines):
			o = json.loads(line)
			out.setdefault((o["kind"], o.get("of"), o.get("how"), "errno" in o,
					tuple(k for k in o if k in ("lost", "time", "by"))), (lines, i, o))
	return out.values()

def bounds(b, schema):
	"""A number that decode refuses for its size, the schema refuses, too."""
	why, refused = [], set()
	for lines, at, line in of_each_form(b):
		d = decode_bytes(b, join(lines))
		if d.rc:
			why.append("%s unchanged: %s" % (line, d))
		for path in numbers(line):
			if path == ("ret",): # a descriptor or not, as the call is
				continue
			for value in OUTSIDE:
				bad = changed(line, path, value)
				d = decode_bytes(b, join(lines[:at] + [json.dumps(bad).encode()] +
							 lines[at + 1:]))
				if d.rc != 2 or not d.said(at + 1):
					continue
				refused.add((line["kind"], path))
				if not schema.errors(bad):
					why.append("%s: %s %d: %s" % (line["kind"], path, value, d))
	for path in (("name", ("pid",)), ("measured", ("parent",)),
		     ("measured", ("threads", 0, "tid")), ("measured", ("maps", 0, "prot"))):
		if path not in refused:
			why.append("decode refuses no value of %s %s" % path)
	return why

def check_types(b, schema):
	"""Values of other types than the schema has, in a line of each kind that the dumps above have."""
	if not schema.validator:
		b.tap.skip("bad: wrong types", "no python3-jsonschema")
		return
	if b.kept:
		note(b, "bad: numbers out of range", bounds, b, schema)
	have = by_kind(b, schema)
	for kind in schema.kinds:
		what = "bad: wrong types in %s" % kind
		if kind in have:
			note(b, what, wrong_types, b, schema, kind, *have[kind])
		elif not b.words:
			b.tap.skip(what, "no dump here has such a line")

if __name__ == "__main__":
	sys.exit(main(check_schema, check_types))
