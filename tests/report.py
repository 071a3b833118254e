#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace report: a dump as a page, and as trace events for Perfetto.

  page     counts against the dump and -c, the policy's hashes against hashlib,
           tags against html.parser, the data for scripts against the tables
  loss     tiles against the end of the trace
  terminal where the page goes when standard output is a terminal
  unread   a group whose leader has an attr that could not be read
  hostile  names, paths, attr strings, filters and errors that are markup
  chrome   the rules of the Trace Event Format, counts against the dump
  damaged  dumps that are cut off, or none
  browser  tests/report.mjs in Chromium, if there are that, node, and
           playwright-core (PLAYWRIGHT_CORE, or node/ in the build directory)
"""

import base64
import collections
import hashlib
import html
import html.parser
import json
import os
import re
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from programs import objects, run_bytes as run
import machine
import ringparse as rp
import straceparse as sp

PEVTRACE, PERF = rp.PEVTRACE, rp.PERF
MARKUP = "</script><script>hit=1</script><img src=x onerror=hit=1>"
# line ends and changes of direction, an escape, and invalid UTF-8
CONTROLS = "\u2028\u202e\x1b[31m\x01".encode() + b"\xff\xfe"
VOID = {"meta", "link", "input", "br", "wbr", "img", "path", "rect", "circle"}

def record(tmp, name, command, *options):
	dump = os.path.join(tmp, name + ".json")
	r = run(PEVTRACE, "-o", "/dev/null", "--json=" + dump, *options, *command, cwd=tmp)
	return dump, r

def report(dump, *options):
	"""Return exit status, page or events as bytes, messages."""
	r = run(PEVTRACE, "report", *options, dump)
	return r.returncode, r.stdout, r.stderr.decode(errors="replace")

def calls_of(lines):
	"""Return the calls that are shown: completed ones, once each."""
	began = {}
	out = []
	for o in lines:
		if o["kind"] == "enter":
			began[o["tid"]] = o
		elif o["kind"] == "call" and o["shown"]:
			out.append(o)
		elif o["kind"] == "exit" and began.get(o["tid"], {}).get("shown"):
			out.append(o)
	return out

# ---- the page, parsed again ---------------------------------------------------

class Page(html.parser.HTMLParser):
	"""Collects tags, attributes, text by element, and whether tags nest."""

	def __init__(self, text):
		super().__init__(convert_charrefs=True)
		self.stack, self.trouble, self.ids = [], [], []
		self.tags = collections.Counter()
		self.attributes, self.rows, self.cells = [], collections.defaultdict(list), None
		self.section = self.policy = None
		self.raw = {}
		self.feed(text)
		self.close()
		self.trouble += ["%s is not closed" % tag for tag in self.stack]

	def handle_starttag(self, tag, attrs):
		at = dict(attrs)
		self.tags[tag] += 1
		self.attributes += attrs
		if "id" in at:
			self.ids.append(at["id"])
		if at.get("http-equiv") == "Content-Security-Policy":
			self.policy = at["content"]
		if tag == "section":
			self.section = at["id"]
		if tag == "tr" and (not self.stack or self.stack.count("table") == 1):
			self.rows[self.section].append([])
		if tag in ("th", "td") and self.stack.count("table") == 1:
			self.rows[self.section][-1].append("")
		if tag in ("script", "style"):
			self.raw_key = at.get("type", tag)
		if tag not in VOID:
			self.stack.append(tag)

	def handle_endtag(self, tag):
		if tag in VOID:
			return
		if not self.stack or self.stack.pop() != tag:
			self.trouble.append("</%s> at %s" % (tag, self.getpos()))

	def handle_startendtag(self, tag, attrs):
		self.handle_starttag(tag, attrs)
		if tag not in VOID:
			self.stack.pop()

	def handle_data(self, data):
		if self.stack and self.stack[-1] in ("script", "style"):
			self.raw[self.raw_key] = self.raw.get(self.raw_key, "") + data
		elif self.stack.count("table") == 1 and self.rows[self.section] and \
				self.rows[self.section][-1] and ("td" in self.stack or "th" in self.stack):
			self.rows[self.section][-1][-1] += data

def sha(text):
	return "'sha256-%s'" % base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

def test_frame(tap, name, text):
	"""Check what is true for the page of any dump."""
	p = Page(text.decode("ascii", "replace"))
	bad = set(re.findall(rb"[^\t\n -~]", text))
	tap.ok(not bad, name + ": nothing but printable ASCII", [bad])
	tap.ok(not p.trouble, name + ": elements nest and end", p.trouble[:5])
	twice = [i for i, n in collections.Counter(p.ids).items() if n > 1]
	tap.ok(not twice, name + ": ids are unique", twice)
	tap.ok(p.tags["script"] == 2 and p.tags["style"] == 1 and not p.tags["img"] and
	       not p.tags["iframe"] and not [a for a, _ in p.attributes if a.startswith("on")],
	       name + ": no script but its own", [p.tags])
	tap.ok(sha(p.raw["script"]) in p.policy and sha(p.raw["style"]) in p.policy and
	       "default-src 'none'" in p.policy and "unsafe" not in p.policy,
	       name + ": the policy allows these and nothing else", [p.policy])
	outward = [v for a, v in p.attributes if a in ("src", "href") and
		   not re.match(r"#[\w-]+$|data:,$", v)]
	tap.ok(not outward, name + ": leads to nothing outside", outward[:3])
	lost = {v[1:] for a, v in p.attributes if a == "href" and v[0] == "#"} - set(p.ids)
	tap.ok(not lost, name + ": every link leads somewhere", lost)
	return p, json.loads(p.raw["application/json"])

def test_counts(tap, name, dump, p, data):
	"""Compare the page's numbers with those of the dump and of -c."""
	lines = objects(dump)
	calls = calls_of(lines)
	want = collections.Counter(o["call"] for o in calls)
	errors = collections.Counter(o["call"] for o in calls if "errno" in o)
	got = {r[0]: (int(r[2]), int(r[3])) for r in p.rows["counts"][1:-1]}
	tap.ok(got == {k: (n, errors[k]) for k, n in want.items()},
	       name + ": counts are those of the dump", [got, want, errors])
	out = run(PEVTRACE, "decode", "-c", dump).stdout.decode()
	said = {m[2]: (int(m[0]), int(m[1] or 0)) for m in re.findall(
		r"^ *\d+\.\d+ +[\d.]+ +\d+ +(\d+) +(?:(\d+) )? *(\w+)$", out, re.M)}
	said.pop("total", None)
	tap.ok(got == said, name + ": and those of -c", [got, said])
	kinds = [data["kinds"][k][0] for k in data["rows"]["kind"]]
	tap.ok(not want - collections.Counter(kinds),
	       name + ": the data has a row for each call", [want, collections.Counter(kinds)])
	opens = [o for o in calls if o["call"] == "perf_event_open" and "errno" not in o]
	tap.ok(len(data["events"]) == len(opens) == len(p.rows["events"]) - 1,
	       name + ": as many events as opens that went well", [len(opens)])
	tap.ok(sum(len(r["at"]) for r in data["records"]) == data["recordsSeen"] ==
	       sum(o["kind"] == "record" for o in lines), name + ": as many records as the dump")
	failed = sum(1 for o in calls if o["call"] == "perf_event_open" and "errno" in o)
	times = sum(int((re.search(r"(\d+) times", r[0]) or [0, 1])[1])
		    for r in p.rows["failures"][1:])
	tap.ok(failed == times, name + ": as many failures", [failed, times])
	ends = {(o["tid"], o["exit_ns"]): o for o in calls}
	start = lines[0]["start_ns"]
	at, wrong = 0, []
	for i, step in enumerate(data["rows"]["at"]):
		at += step
		o = ends.get((data["tasks"][data["rows"]["task"][i]]["tid"],
			      start + at + data["rows"]["for"][i]))
		if data["rows"]["result"][i] and kinds[i] in want and \
				data["texts"][data["rows"]["result"][i]].startswith("= ") and \
				(not o or o["call"] != kinds[i] or
				 o.get("errno", 0) != data["rows"]["error"][i]):
			wrong.append((kinds[i], at))
	tap.ok(not wrong, name + ": each where the dump has it", wrong[:3])

def test_text(tap, name, dump, data):
	"""Each call has the text that decode writes."""
	out = run(PEVTRACE, "decode", "-y", "-s", "200", "-o", "/dev/stdout", dump)
	decoded = collections.Counter(
		re.sub(r"^(\[pid +\d+\] |\d+ +)", "", l)
		for l in out.stdout.decode().split("\n") if "<unfinished" not in l and
		"resumed>" not in l and not re.search(r"(\+\+\+|---)", l))
	texts = data["texts"]
	shown = collections.Counter(texts[t] + " " + texts[r] for t, r in
				    zip(data["rows"]["text"], data["rows"]["result"]))
	missing = decoded - shown
	missing.pop("", None)
	# what a check says of a refused call follows the text that decode writes
	explained = collections.Counter(l.rsplit(" /* ", 1)[0] for l in (shown - decoded).elements())
	missing -= explained
	tap.ok(sum(decoded.values()) > 3 and not missing,
	       name + ": calls read as decode writes them", list(missing)[:2])

def page_of(tap, name, dump):
	status, text, err = report(dump)
	tap.ok(status == 0 and not err, name + ": is written", [status, err])
	p, data = test_frame(tap, name, text)
	test_counts(tap, name, dump, p, data)
	test_text(tap, name, dump, data)
	return p, data

# ---- dumps ------------------------------------------------------------------------

def demo(tmp):
	return record(tmp, "demo", [rp.target("demo"), "sh", "-c", "ls / >/dev/null"],
		      "--records", "--summary")[0]

def test_demo(tap, tmp):
	if rp.missing("demo"):
		return tap.skip("demo", rp.missing("demo"))
	dump = demo(tmp)
	p, data = page_of(tap, "demo", dump)
	_, text, _ = report(dump)
	lead = html.unescape(re.search(r'<p class="lead">(.*?)</p>', text.decode()).group(1))
	said = run(PEVTRACE, "explain", "--width=100000", dump).stdout.decode()
	tap.ok(len(lead) > 40 and lead in said, "demo: begins as explain does", [lead, said[:400]])
	why = [r[2] for r in p.rows["failures"][1:]]
	tap.ok(why and all(len(w) > 10 for w in why), "demo: each failure has a reason", why)
	tap.ok(any(e["enabled"] for e in data["events"]), "demo: when events were enabled")
	tap.ok("PERF_TYPE_SOFTWARE" in data["words"] and "ioctl" in data["words"],
	       "demo: words have meanings")
	status, text, _ = report(dump, "--calls=5")
	few = json.loads(Page(text.decode()).raw["application/json"])
	tap.ok(status == 0 and few["rows"]["n"] == 5 and b"--calls=" in text,
	       "--calls: that many, and how to get all")
	path = os.path.join(tmp, "demo.html")
	r = run(PEVTRACE, "report", "-o", path, dump)
	with open(path, "rb") as f:
		tap.ok(r.returncode == 0 and not r.stdout and f.read() == report(dump)[1],
		       "-o: the same in a file")

def test_loss(tap, tmp):
	"""A tile for what was wrong, in the words of the trace; the lane of a dead event is marked."""
	for need in ("events", "tracing"):
		if machine.lacks(need):
			return tap.skip("loss", machine.lacks(need))
	for fault, mark in (("never_enabled", "dead"), ("lost", "lost")):
		dump, r = record(tmp, "loss", [sys.executable, os.path.join(HERE, "loss.py"), fault, "1"], "--records")
		if r.returncode or b"cannot read ring buffers" in r.stderr:
			tap.skip("loss: " + fault, (r.stdout or r.stderr).decode().strip())
			continue
		_, text, _ = report(dump)
		end = run(PEVTRACE, "decode", dump).stdout.decode().split("\n")[-2]
		page = Page(text.decode())
		event = [e for e in json.loads(page.raw["application/json"])["events"] if not e["probe"]][0]
		tiles = re.findall(r'<li class="error"><a href="#event-(\d+)">.*?class="more">(.*?)</span>', text.decode())
		tap.ok([(int(n), "+++ %s +++" % html.unescape(more)) for n, more in tiles] == [(event["number"], end)],
		       "loss: a tile says " + end, tiles)
		tap.ok(event[mark] and all(f in end for f in event["flaws"]), "loss: and the lane of the event", event)

def test_terminal(tap, tmp):
	"""On a terminal the page goes beside the dump, unless a file is there that is no page."""
	dump = demo(tmp) if not rp.missing("demo") else None
	if not dump:
		return tap.skip("on a terminal", rp.missing("demo"))
	page = dump + ".html"
	for text in (None, b"old", b"page"):
		if text == b"old":
			with open(page, "wb") as f:
				f.write(text)
		elif text:
			shutil.copy(whole, page)
			with open(page, "ab") as f:
				f.write(text)
		said = sp.on_terminal([PEVTRACE, "report", dump], 200)
		with open(page, "rb") as f:
			now = f.read()
		if text == b"old":
			tap.ok(now == text and "was not written by pevtrace" in said and "-o" in said,
			       "on a terminal: another file is kept", [said])
			continue
		tap.ok(now == report(dump)[1] and "wrote '%s'" % page in said,
		       "on a terminal: written beside the dump, and over its own page", [said])
		whole = os.path.join(tmp, "whole.html")
		shutil.copy(page, whole)
	said = sp.on_terminal([PEVTRACE, "report", "-"], 200)
	tap.ok("-o" in said and "<html" not in said, "on a terminal: not the page itself", [said[:200]])

def test_attrs(tap, tmp):
	if rp.missing("attrs"):
		return tap.skip("attrs", rp.missing("attrs"))
	for case in ("attr", "ioctl"):
		dump, r = record(tmp, "attrs", [rp.target("attrs"), case])
		if r.returncode == 0 and len(calls_of(objects(dump))) > 3:
			page_of(tap, "attrs " + case, dump)

# A program whose every name is markup.
HOSTILE = r"""
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
markup, controls = sys.argv[1].encode(), b"\xe2\x80\xa8\xe2\x80\xae\x1b[31m\x01\xff\xfe"
libc.prctl(15, b"<script>" + b"\xe2\x80\xae\x1b\xff", 0, 0, 0)	# PR_SET_NAME
def number(path):
	try:
		return int(open(path).read())
	except OSError:
		return 0
def open_event(type, config=0, text=None):
	attr = bytearray(136)
	struct.pack_into("IIQ", attr, 0, type, len(attr), config)
	keep = ctypes.create_string_buffer(text) if text else None
	if text:	# config1: uprobe_path
		struct.pack_into("Q", attr, 56, ctypes.addressof(keep))
	struct.pack_into("Q", attr, 40, 1)
	buf = (ctypes.c_char * len(attr)).from_buffer(attr)
	return libc.syscall(298, buf, 0, -1, -1, 8)
open_event(number("/sys/bus/event_source/devices/uprobe/type"), 0, markup + controls)
sched = number("/sys/kernel/tracing/events/sched/sched_switch/id")
fd = open_event(2, sched) if sched else open_event(1, 9)
libc.ioctl(fd, ctypes.c_ulong(0x40082406), b'comm == "' + markup + controls + b'"')	# SET_FILTER
libc.ioctl(fd, ctypes.c_ulong(0x2400), 0)
os.execv(sys.argv[2], ["run", sys.argv[1], "-c"])
"""

def hostile_dump(tmp):
	program = os.path.join(tmp, "<img src=x onerror=hit=1>\u202e.sh".encode("utf-8", "ignore").decode("utf-8"))
	shutil.copy("/bin/true", program)
	script = os.path.join(tmp, "hostile.py")
	with open(script, "w") as f:
		f.write(HOSTILE)
	return record(tmp, "hostile", [sys.executable, script, MARKUP, program], "--summary")[0]

def test_hostile(tap, tmp):
	dump = hostile_dump(tmp)
	p, data = page_of(tap, "hostile", dump)
	tap.ok("<script>" in json.dumps(data["tasks"]) or "<img" in json.dumps(data["tasks"]),
	       "hostile: names of tasks are there, as text")
	status, text, _ = report(dump)
	inside = text.split(b'id="trace-data">')[1].split(b"</script>")[0]
	tap.ok(not re.search(rb"[<>&]", inside), "hostile: nothing in the data ends it")
	test_chrome_of(tap, "hostile", dump)
	# values that no kernel would give
	lines = objects(dump)
	for o in lines:
		for key in ("comm", "name", "exe", "release", "version"):
			if key in o and isinstance(o[key], str):
				o[key] = MARKUP + "\u2028\u202e\x01"
		if o["kind"] == "header":
			o["kernel"]["release"] = o["kernel"]["sysname"] = MARKUP
			o["pevtrace"] = MARKUP
			o["command"] = [MARKUP + "'\"\u2028"]
	forged = os.path.join(tmp, "forged.json")
	with open(forged, "w") as f:
		f.writelines(json.dumps(o) + "\n" for o in lines)
	status, text, err = report(forged)
	tap.ok(status == 0, "forged: is written", [err])
	test_frame(tap, "forged", text)

# A pinned event joins a group with the same clock, which is not the default.
GROUP = r"""
import ctypes, struct
libc = ctypes.CDLL(None, use_errno=True)
def open_event(group, bits):
	attr = struct.pack("IIQ24xQ44xi", 1, 96, 9, 1 << 25 | 1 | bits, 1)
	buf = ctypes.create_string_buffer(attr, 96)
	return libc.syscall(298, buf, 0, -1, group, ctypes.c_ulong(0))
open_event(open_event(-1, 0), 4)
"""

NO_PMU = """
import ctypes, struct
attr = struct.pack("<II120x", 0x7ffffff0, 128)
ctypes.CDLL(None).syscall(298, attr, 0, -1, -1, 0)
"""

def test_no_pmu(tap, tmp):
	"""Rights that the caller may lack do not hide the rule of another error."""
	dump, _ = record(tmp, "no_pmu", [sys.executable, "-c", NO_PMU])
	call, = calls_of(objects(dump))
	p = Page(report(dump)[1].decode())
	tap.ok(call.get("error") == "ENOENT" and "rule no_pmu" in p.rows["failures"][1][2],
	       "ENOENT of an unknown type: its rule", [call.get("error"), p.rows["failures"]])

def test_unread(tap, tmp):
	"""A leader whose attr the dump has not: no member of it is taken for 0."""
	dump, _ = record(tmp, "unread", [sys.executable, "-c", GROUP])
	lines = objects(dump)
	leader, member = calls_of(lines)
	tap.ok(leader["ret"] >= 0 and member.get("error") == "EINVAL",
	       "leader unread: its member is refused", [leader, member])
	for name in "read", "unread":
		status, text, err = report(dump)
		p = Page(text.decode())
		tap.ok("rule group_pinned" in p.rows["failures"][1][2],
		       "leader %s: by the rule that refused it" % name, p.rows["failures"])
		leader["memory"] = []
		with open(dump, "w") as f:
			f.writelines(json.dumps(o) + "\n" for o in lines)

# ---- trace events -----------------------------------------------------------------

def unique(pairs):
	keys = [k for k, _ in pairs]
	assert len(keys) == len(set(keys)), keys
	return dict(pairs)

def number(v):
	return isinstance(v, (int, float)) and not isinstance(v, bool)

def rule(e):
	"""Return violations of the Trace Event Format for an event of that phase."""
	if not isinstance(e.get("name"), str) or not isinstance(e.get("pid"), int) or \
			not isinstance(e.get("tid"), int) or not number(e.get("ts")):
		return False
	return {"X": lambda: number(e.get("dur")) and e["dur"] >= 0 and
			     isinstance(e["args"], dict) and isinstance(e["cat"], str),
		"i": lambda: e.get("s") in ("g", "p", "t") and isinstance(e["cat"], str),
		"C": lambda: all(number(v) for v in e["args"].values()),
		"M": lambda: e["name"] in ("process_name", "thread_name") and
			     isinstance(e["args"]["name"], str)}[e["ph"]]()

def test_chrome_of(tap, name, dump):
	status, text, err = report(dump, "--format=chrome")
	try:
		trace = json.loads(text, object_pairs_hook=unique)
	except (ValueError, AssertionError) as e:
		return tap.ok(False, name + ": trace events are JSON", [e, text[-200:]])
	events = trace["traceEvents"]
	bad = [e for e in events if not rule(e)]
	tap.ok(status == 0 and events and not bad, name + ": events are as the format has them",
	       [err] + bad[:2])
	lines = objects(dump)
	calls = calls_of(lines)
	# by name, task and microsecond
	spans = collections.Counter((e["name"], e["tid"], round(e["ts"]), e["args"].get("error"))
				    for e in events if e["ph"] == "X" and "ret" in e["args"])
	want = collections.Counter((o["call"], o["tid"], round(o["start_ns"] / 1000), o.get("error"))
				   for o in calls)
	tap.ok(spans == want, name + ": a span for each call",
	       [list((want - spans).items())[:2], list((spans - want).items())[:2]])
	for kind, cat in (("record", "record"), ("signal", "signal")):
		got = sum(e.get("cat") == cat for e in events)
		tap.ok(got == sum(o["kind"] == kind for o in lines),
		       "%s: an instant for each %s" % (name, kind), [got])
	opens = [e for e in events if e["ph"] == "X" and e["name"] == "perf_event_open"]
	tap.ok(all(e["args"]["attr_uptr"] for e in opens), name + ": arguments are decoded")
	return events

def test_chrome(tap, tmp):
	if rp.missing("demo"):
		return tap.skip("chrome", rp.missing("demo"))
	events = test_chrome_of(tap, "chrome", demo(tmp)) or []
	tap.ok(any(e["ph"] == "C" for e in events), "chrome: counters of what waits in rings")
	tap.ok({"process_name", "thread_name"} <= {e["name"] for e in events if e["ph"] == "M"},
	       "chrome: tasks have names")

# ---- invalid dumps, and misuse ---------------------------------------------------------

def test_damaged(tap, tmp):
	dump = hostile_dump(tmp) if rp.missing("demo") else demo(tmp)
	with open(dump, "rb") as f:
		whole = f.read()
	path = os.path.join(tmp, "damaged")
	bad = []
	# without its last newline only, a dump is whole
	for cut in list(range(0, len(whole) - 1, max(1, len(whole) // 23)))[1:]:
		with open(path, "wb") as f:
			f.write(whole[:cut])
		status, text, err = report(path)
		if status != 2 or not err or (text and (Page(text.decode()).trouble or
							b">incomplete: " not in text)):
			bad.append((cut, status, err[:100]))
		status, text, err = report(path, "--format=chrome")
		if status != 2 or (text and not json.loads(text)["traceEvents"] is not None):
			bad.append((cut, "chrome", status))
	tap.ok(not bad, "a dump that is cut off: status 2, and a whole page of what there is",
	       bad[:3])
	broken = whole.replace(b'"kind":"task"', b'"kind":"nothing"', 1)
	with open(path, "wb") as f:
		f.write(broken)
	status, text, err = report(path, "--keep-going")
	tap.ok(text.endswith(b"</html>\n") and err, "--keep-going passes over what cannot be read",
	       [status, err])
	for args, want in (([], "missing DUMP"), ([dump, dump], "unexpected argument"),
			   (["--format=pdf", dump], "html, chrome or perf-data"),
			   (["--calls=0", dump], "--calls"), (["--nonsense"], "unknown option"),
			   ([os.path.join(tmp, "none")], "cannot read"),
			   (["-o", tmp + "/no/such", dump], "no/such"), ([HERE + "/README.md"], ":1")):
		r = run(PEVTRACE, "report", *args)
		tap.ok(r.returncode == 2 and want in r.stderr.decode() and not r.stdout,
		       "misuse: %s" % want, [args, r.returncode, r.stderr])
	r = run(PEVTRACE, "report", "--help")
	tap.ok(r.returncode == 0 and b"--format" in r.stdout, "--help")

# ---- in a browser --------------------------------------------------------------------------

def playwright():
	for place in (os.environ.get("PLAYWRIGHT_CORE", ""), "node/node_modules/playwright-core"):
		path = os.path.join(place, "index.mjs")
		if place and os.path.exists(path):
			return os.path.abspath(path)
	return None

def why_no_browser(chromium):
	if not shutil.which("node"):
		return "node is not installed"
	if not chromium:
		return "chromium is not installed"
	if not playwright():
		return "playwright-core is not there: npm install --no-save --prefix node " \
			"playwright-core, in the build directory"
	return rp.missing("demo")

def drive(args, tmp):
	"""Run report.mjs; end it and its browsers in any case."""
	p = subprocess.Popen(["node", os.path.join(HERE, "report.mjs")] + args, text=True,
			     env=dict(os.environ, TMPDIR=tmp), stdin=subprocess.DEVNULL,
			     stdout=subprocess.PIPE, stderr=subprocess.PIPE, errors="replace",
			     start_new_session=True)
	try:
		return p.communicate(timeout=400)
	except subprocess.TimeoutExpired:
		return "not ok ends in time", ""
	finally:
		try:
			os.killpg(p.pid, signal.SIGKILL)
		except ProcessLookupError:
			pass
		p.wait()

def test_browser(tap, tmp):
	chromium = shutil.which("chromium") or shutil.which("chromium-browser")
	why = why_no_browser(chromium)
	if why:
		return tap.skip("in a browser", why)
	pages = []
	for dump in (demo(tmp), hostile_dump(tmp)):
		pages.append(dump[:-5] + ".html")
		run(PEVTRACE, "report", "-o", pages[-1], dump)
	out, err = drive([playwright(), chromium] + pages, tmp)
	results, told = [], []
	for line in out.split("\n"):
		m = re.match(r"(not )?ok (.*)", line)
		if m:
			told = []
			results.append((not m.group(1), m.group(2), told))
		elif line:
			told.append(line)
	for good, text, why in results:
		tap.ok(good, "browser: " + text, why)
	tap.ok(len(results) > 30, "browser: all of it was tried", [err[-500:]])

# ---- perf ------------------------------------------------------------------------------------

def test_perf(tap, tmp, tracefs):
	for name, command in (
			("record", ["record", "-q", "-e", "cpu-clock", "-o", "p.data", "ls", "/"]),
			("stat", ["stat", "-d", "-x,", "true"]),
			("group", ["stat", "-e", "{cpu-clock,page-faults,cs}", "true"])) + \
			((("trace", ["trace", "-e", "openat", "true"]),) if tracefs else ()):
		dump, _ = record(tmp, "perf-" + name, [PERF] + command, "--records", "--summary")
		p, data = page_of(tap, "perf " + name, dump)
		test_chrome_of(tap, "perf " + name, dump)
		if name == "group":
			leaders = {e["leader"] for e in data["events"]} - {0}
			tap.ok(len(leaders) == 1 and p.tags["rect"] > 3, "perf group: one leader, drawn")
	r = run(PEVTRACE, "report", os.path.join(tmp, "p.data"))
	tap.ok(r.returncode == 2 and b"perf.data" in r.stderr, "a perf.data file has no calls")

def own_tests(tap, tmp):
	return [("demo", lambda: test_demo(tap, tmp)),
		("loss", lambda: test_loss(tap, tmp)),
		("terminal", lambda: test_terminal(tap, tmp)),
		("attrs", lambda: test_attrs(tap, tmp)),
		("no PMU", lambda: test_no_pmu(tap, tmp)),
		("unread", lambda: test_unread(tap, tmp)),
		("hostile", lambda: test_hostile(tap, tmp)),
		("chrome", lambda: test_chrome(tap, tmp)),
		("damaged", lambda: test_damaged(tap, tmp)),
		("browser", lambda: test_browser(tap, tmp))]

def perf_tests(tap, tmp, tracefs):
	return [("perf", lambda: test_perf(tap, tmp, tracefs))]

if __name__ == "__main__":
	sys.exit(rp.main("pevtrace-report.", "perf's calls as a page", own_tests, perf_tests))
