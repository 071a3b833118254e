#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Dumps of what fails on many machines, and the questions in examples/fleet: DuckDB answers them
on dumps of two hosts and two weeks as a program that reads the lines one by one does.

DuckDB: @duckdb/node-api (DUCKDB, or node/ in the build directory)
"""

import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from checks import differ, run_all, start
import machine
from programs import PEVTRACE, objects, run

FLEET = os.path.join(HERE, "..", "examples", "fleet")
SCHEMA = os.path.join("share", "pevtrace", "trace.schema.json")

# Refusals, one with a fallback; an event that is left open; a ring that loses records.
CLIENT = """
import ctypes, mmap, os, struct, sys
sys.path.insert(0, %r)
import perf_event as pe
pe.call(pe.attr(config=10 ** 6))
for fd in pe.call(pe.attr(config=0, sample_type=1 << 40)), pe.call(pe.attr(config=0)):
	if fd >= 0:
		os.close(fd)
pe.call(pe.attr(config=2))
if "rare" in sys.argv:
	os.close(pe.call(pe.attr(config=8, read_format=3)))
fd = pe.call(pe.attr(config=2, sample_period=1, sample_type=1, exclude_kernel=1))
ring = mmap.mmap(fd, 2 * mmap.PAGESIZE)
def faults():
	m = mmap.mmap(-1, 1 << 22)
	m.madvise(15)
	m[::4096] = bytes(len(m) // 4096)
faults()
ring[1032:1040] = ring[1024:1032]
faults()
ring.close()
os.close(fd)
""" % os.path.join(HERE, "lib")

def duckdb():
	for place in os.environ.get("DUCKDB", ""), "node/node_modules/@duckdb/node-api":
		if place and os.path.isdir(place):
			return os.path.abspath(place)
	return None

def why_not():
	if not shutil.which("node"):
		return "node not found"
	return None if duckdb() else "DuckDB is not there: npm install --no-save --prefix " \
		"node @duckdb/node-api, in the build directory"

def redate(path, day, change=str):
	"""Let the dump begin on that day of January 2020."""
	with open(path, encoding="utf-8") as f:
		header, *lines = f
	header = re.sub(r'"started":"....-..-..', '"started":"2020-01-%02d' % day, header)
	with open(path, "w", encoding="utf-8") as f:
		f.writelines([header, *map(change, lines)])

def make_dumps(tmp):
	"""Dumps of host a, last week and this week, and of b, which has one more attr."""
	for host, name, words in ("a", "old", []), ("a", "new", []), ("b", "new", ["rare"]):
		path = os.path.join(tmp, host, name + ".jsonl")
		os.makedirs(os.path.dirname(path), exist_ok=True)
		r = run(PEVTRACE, "-o", "/dev/null", "--records", "--json=" + path,
			sys.executable, "-c", CLIENT, *words)
		assert r.returncode == 0, r.stderr
		redate(path, 10 if name == "old" else 15,
		       lambda l: l.replace('"EINVAL"', '"EBUSY"') if name == "old" else l)
		with open(os.path.join(tmp, host, "machine.json"), "w", encoding="utf-8") as f:
			print(json.dumps({"kind": "here", "paranoid": ord(host)}), file=f)

# ---- the same questions, asked line by line ---------------------------------------------

class Open:
	"""An open, from its line, or from the lines of its beginning and its return."""
	def __init__(self, path, lines, at, began, comms):
		o = lines[at]
		attr = (began or o)["args"].get("attr_uptr")
		attr = attr if isinstance(attr, dict) else {}
		self.file, self.host, self.at = path, path.split(os.sep)[-2], at
		self.release = lines[0]["kernel"]["release"]
		self.week = "this" if "-15T" in lines[0]["started"] else "last"
		self.tid, self.event, self.error = o["tid"], o.get("event"), o.get("error")
		self.program = comms.get(o["tid"], "?")
		self.attr = json.dumps(attr)
		self.name = attr.get("config_name") or \
			re.sub("( cpu[0-9]+)?( #[0-9]+)?$", "", o["event_name"]) \
			if "config_name" in attr or "event_name" in o else \
			"%s/%s" % (attr["type"], attr["config"])
		self.pmu = attr.get("type_name") or str(attr["type"])

def read_opens(path):
	lines = objects(path)
	comms = {o["tid"]: o["comm"] for o in lines if o["kind"] == "comm"}
	began = {}
	for at, o in enumerate(lines):
		if o.get("call") != "perf_event_open":
			continue
		if o["kind"] == "enter":
			began[o["tid"]] = o
		elif o["kind"] in ("call", "exit"):
			yield Open(path, lines, at, began.pop(o["tid"], None), comms)

def tally(opens, key):
	"""Return how many opens have a key, and on how many hosts."""
	groups = collections.defaultdict(list)
	for o in opens:
		groups[key(o)].append(o)
	return {k: (len(v), len({o.host for o in v})) for k, v in groups.items()}

def refused(opens):
	return [o for o in opens if o.error]

def fallbacks(opens):
	last, pairs = {}, []
	for o in opens:
		was = last.get((o.file, o.tid))
		if was and was.error and not o.error:
			was.then = o.name
			pairs.append(was)
		last[o.file, o.tid] = o
	return tally(pairs, lambda o: (o.program, o.name, o.error, o.then))

def lost_records(paths):
	lost = collections.Counter()
	for path in paths:
		for o in objects(path):
			record = o.get("record", {})
			if record.get("type_name", "").startswith("PERF_RECORD_LOST"):
				lost[path.split(os.sep)[-2]] += record["lost"]
	return lost

def left_open(paths, opens):
	closed = {(p, o["event"]) for p in paths for o in objects(p)
		  if o.get("call") == "close" and "event" in o}
	return tally([o for o in opens if o.event and (o.file, o.event) not in closed],
		     lambda o: (o.program, o.name))

def one_host(opens):
	hosts = collections.defaultdict(set)
	for o in opens:
		hosts[o.attr].add(o.host)
	return {(o.host, o.name) for o in opens if len(hosts[o.attr]) == 1}

def changes(opens):
	weeks = collections.defaultdict(set)
	for o in opens:
		weeks[o.program, o.name, o.error or "opened"].add(o.week)
	return {k for k, v in weeks.items() if len(v) == 1}

# ---- what DuckDB answers ----------------------------------------------------------------

def ask(tmp):
	"""Return the rows of each question, by its number."""
	tables = os.path.join(tmp, "tables.sql")
	with open(tables, "w", encoding="utf-8") as f:
		subprocess.run([sys.executable, os.path.join(FLEET, "columns.py"), SCHEMA,
				tmp + "/*/*.jsonl", tmp + "/*/machine.json"], stdout=f, check=True)
	files = sorted(glob.glob(os.path.join(FLEET, "[0-9]*.sql")))
	r = subprocess.run(["node", os.path.join(HERE, "duckdb.mjs"), duckdb(), tables,
			    os.path.join(FLEET, "views.sql")] + files,
			   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
	assert r.returncode == 0, r.stderr
	rows = [json.loads(l) for l in r.stdout.splitlines()[2:]]
	return {int(os.path.basename(f)[0]): a for f, a in zip(files, rows)}

def rows(answer, *names):
	"""Return the rows as a map from those columns to the two counts that follow them."""
	out = {}
	for row in answer:
		values = list(row.values())
		at = len(names)
		assert list(row)[:at] == list(names), list(row)
		out[tuple(values[:at])] = tuple(int(v) for v in values[at:at + 2])
	return out

def test_questions(tmp):
	if why_not():
		raise machine.Lack(why_not())
	make_dumps(tmp)
	paths = sorted(glob.glob(tmp + "/*/*.jsonl"))
	opens = [o for p in paths for o in read_opens(p)]
	assert refused(opens) and fallbacks(opens) and left_open(paths, opens) and \
		one_host(opens) and changes(opens) and lost_records(paths), "a question has no answer here"
	got = ask(tmp)
	differ(rows(got[1], "release", "paranoid", "pmu", "error"),
	       tally(refused(opens), lambda o: (o.release, str(ord(o.host)), o.pmu, o.error)),
	       "refusals by kernel")
	differ(rows(got[2], "program", "name", "error"),
	       tally(refused(opens), lambda o: (o.program, o.name, o.error)),
	       "refusals by program")
	worked = [o for o in opens if not o.error]
	differ({k: v[0] for k, v in rows(got[3], "program").items()},
	       {k: v[0] for k, v in tally(worked, lambda o: (o.program,)).items()}, "most events")
	differ(rows(got[4], "program", "refused", "error", "opened"), fallbacks(opens),
	       "fallbacks")
	lost = collections.Counter()
	for row in got[5]:
		lost[row["host"]] += int(row["lost"])
	differ(lost, lost_records(paths), "lost records")
	differ(rows(got[6], "program", "name"), left_open(paths, opens), "left open")
	differ({(r["host"], r["name"]) for r in got[7]}, one_host(opens), "only one host")
	differ({(r["program"], r["name"], r["result"]) for r in got[8]}, changes(opens),
	       "two weeks")

# ---- the table for ClickHouse -----------------------------------------------------------

def test_table(tmp):
	"""Each member of each line of a dump is a column of the table, of a type that holds it."""
	r = run(sys.executable, os.path.join(FLEET, "columns.py"), SCHEMA)
	types = dict(re.findall(r"^\t(\w+) (\w+)", r.stdout, re.M))
	path = os.path.join(tmp, "table.json")
	assert run(PEVTRACE, "-o", "/dev/null", "--records", "--json=" + path, sys.executable,
		   "-c", CLIENT).returncode == 0
	of = {str: {"String"}, bool: {"Bool"}, int: {"UInt64", "Int64", "String"},
	      dict: {"String"}, list: {"String"}, type(None): set(types.values())}
	wrong = {(k, types.get(k)) for o in objects(path) for k, v in o.items()
		 if types.get(k) not in of[type(v)]}
	differ(wrong, set(), "columns")

# ---- dumps of what fails ----------------------------------------------------------------

READS = """
import os, sys
sys.path.insert(0, %r)
import perf_event as pe
fd = pe.call(pe.attr(config=2))
for size in 8, 1, 8:
	try:
		os.read(fd, size)
	except OSError:
		pass
""" % os.path.join(HERE, "lib")

def test_failed(tmp):
	"""-e status=failed leaves out what succeeded, but the open of the event that failed."""
	lines = {}
	for name, options in ("all", []), ("failed", ["-e", "status=failed"]):
		path = os.path.join(tmp, name + ".json")
		assert run(PEVTRACE, "-o", "/dev/null", "--json=" + path, *options,
			   sys.executable, "-c", READS).returncode == 0
		lines[name] = [(o["call"], o.get("error")) for o in objects(path)
			       if o["kind"] in ("call", "exit")]
		decoded = run(PEVTRACE, "decode", path).stdout
		assert "COUNT_SW_PAGE_FAULTS" in decoded and "ENOSPC" in decoded, decoded
	opened, failed = ("perf_event_open", None), ("read", "ENOSPC")
	differ([l for l in lines["all"] if l[0] != "close"][-4:],
	       [opened, ("read", None), failed, ("read", None)], "all")
	differ([l for l in lines["failed"] if l[0] != "close"][-2:], [opened, failed], "failed")

# ---- another machine --------------------------------------------------------------------

def test_would_break(tmp):
	"""On this machine what opened opens; on Linux 3.2 a flag of the call is not known."""
	here, old, path = (os.path.join(tmp, n) for n in ("here.json", "old.json", "opens.json"))
	r = run(PEVTRACE, "list", "--tried", "--json")
	with open(here, "w", encoding="utf-8") as f:
		f.write(r.stdout)
	with open(old, "w", encoding="utf-8") as f:
		f.write(re.sub(r'"release":"[^"]*"', '"release":"3.2.0"', r.stdout, count=1))
	assert run(PEVTRACE, "-o", "/dev/null", "--json=" + path, sys.executable, "-c",
		   READS.replace("config=2)", "config=2), flags=8")).returncode == 0
	env = {**os.environ, "PEVTRACE": PEVTRACE}
	script = os.path.join(FLEET, "would-break")
	r = run(sys.executable, script, old, path, env=env)
	assert r.returncode == 1 and ": EINVAL by flags_unknown (1 opens like this)" in r.stdout, r
	r = run(sys.executable, script, here, path, env=env)
	assert "flags_unknown" not in r.stdout, r

def main():
	tmp = start("pevtrace-fleet.")
	return run_all([
		("DuckDB answers what the lines say", lambda: test_questions(tmp), None),
		("a dump of calls that failed", lambda: test_failed(tmp), None),
		("what would break on another machine", lambda: test_would_break(tmp), None),
		("a column for each member", lambda: test_table(tmp), None),
	], tmp)

if __name__ == "__main__":
	sys.exit(main())
