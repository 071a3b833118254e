# SPDX-License-Identifier: LGPL-2.1-or-later
"""What pevtrace prints with --records and --summary, as objects; and what perf
report -D prints, to hold beside it.

What cannot be read raises ParseError: a line is never skipped in silence.
"""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import machine
import straceparse as sp
from straceparse import ParseError

try:
	import jsonschema
except ImportError:
	jsonschema = None

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
PERF = sp.find_program("perf", ("/usr/lib/linux-tools",))
TARGETS = os.environ.get("PEVTRACE_TARGETS", "tests/targets")
SKIPPED = 77	# exit status of a target that cannot do its work here

# Some 0.3 to 0.5 s of work, and children.
BUSY = ["sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; "
	"/bin/true; (exit 0)"]

# ---- a run ------------------------------------------------------------------

class Run:
	"""A finished pevtrace: .calls .records .notes .summary, and the target's
	.out .err .status"""

	def __init__(self, options, argv, env=None, stdin=subprocess.DEVNULL):
		fd, self.path = tempfile.mkstemp(prefix="pevtrace-records.")
		os.close(fd)
		try:
			full = dict(os.environ, LC_ALL="C")
			full.update(env or {})
			r = subprocess.run(
				[PEVTRACE, "-y", "-s", "4096", "-o", self.path] +
				options + argv, stdin=stdin, env=full,
				stdout=subprocess.PIPE, stderr=subprocess.PIPE,
				text=True, errors="replace", timeout=300)
			self.out, self.err = r.stdout, r.stderr
			self.status = r.returncode
			with open(self.path, errors="surrogateescape") as f:
				self.read(f.read().split("\n"))
		finally:
			os.unlink(self.path)

	def read(self, lines):
		self.lines = lines
		self.records, self.notes, calls = [], [], []
		at = next((i for i, line in enumerate(lines) if
			   re.match(r"(Events|Probes, .*|Failed opens): \d+$|No event",
				    line)), len(lines))
		for line in lines[:at]:
			m = RING.match(line)
			if not m:
				calls.append(line)
			elif m.group(3).startswith("<"):
				self.records.append(Record(m))
			else:
				self.notes.append((int(m.group(2)), m.group(3)))
		self.calls = sp.parse(calls)
		self.summary = Summary(lines[at:])

	@property
	def missed(self):
		"""Return the number of bytes missed, by ring."""
		out = collections.Counter()
		for ring, text in self.notes:
			m = re.match(r"(\d+) bytes were overwritten", text)
			if m:
				out[ring] += int(m.group(1))
		return out

	def odd(self):
		"""Return invalid records, and remarks other than about misses."""
		return [r.line for r in self.records
			if "that no field accounts for" in r.line or
			("rest=" in r.line and r.type not in LISTENED)] + \
			["ring %d: %s" % n for n in self.notes
			 if "were overwritten" not in n[1]]

# Records that are longer, or not, depending on the other events that listen for them
# (perf_event_bpf_output() in the kernel); perf finds no sample_id in longer ones.
LISTENED = ("KSYMBOL", "BPF_EVENT", "TEXT_POKE")

RING = re.compile(r"(\d+) +ring (\d+): (.*)$")
NAMED = re.compile(r"<(.*?)> (\{type=.*\})$")

class Record:
	def __init__(self, m):
		self.line = m.group(0)
		self.pid, self.ring = int(m.group(1)), int(m.group(2))
		m = NAMED.match(m.group(3))
		if not m:
			raise ParseError("no record: " + self.line[:200])
		self.event = m.group(1)
		rd = sp.Reader(m.group(2))
		self.value = rd.value()
		if rd.i != len(m.group(2)):
			raise ParseError("more behind the record: " + self.line[-80:])
		self.type = self.value.get("type").text
		if not self.type.startswith("PERF_RECORD_"):
			raise ParseError("no type: " + self.line[:200])
		self.type = self.type[len("PERF_RECORD_"):]
		self.size = self.n("size")

	def n(self, name, default=None):
		"""Return a member by name, also of the trailer."""
		val = self.value.get(name)
		if val is None and self.value.get("sample_id"):
			val = self.value.get("sample_id").get(name)
		n = sp.number(val)
		return default if n is None else n

	def text(self, name):
		val = self.value.get(name)
		return None if val is None else val.text

	def misc(self, name):
		return name in self.text("misc").split("|")

	@property
	def id(self):
		return self.n("identifier", self.n("id"))

# ---- the summary ------------------------------------------------------------

class Event:
	def __init__(self, number, text):
		self.number = number
		self.text = text	# "name: target, mode[, in the group of #N]"
		self.leader = self.id = self.count = self.lost = None
		self.opener = self.fd = self.start = None
		self.reads, self.closed, self.records = 0, None, {}
		m = re.search(r", in the group of #(\d+)$", text)
		if m:
			self.leader = int(m.group(1))
		self.sampling = ", sampling " in text

	def detail(self, line):
		m = re.match(r"opened by (.*) as fd (\d+); (.*?)"
			     r"(?:; requires [^;]*)?(?:; id (\d+))?(?:; filter (\".*\"))?; (closed|open to the end)$",
			     line)
		if m:
			self.opener, self.fd = task(m.group(1)), int(m.group(2))
			self.start = m.group(3)
			self.id = int(m.group(4)) if m.group(4) else None
			self.closed = m.group(6) == "closed"
			return
		m = re.match(r"fd (\d+)(?:; id (\d+))?; (closed|open to the end)$", line)
		if m:
			self.fd = int(m.group(1))
			self.id = int(m.group(2)) if m.group(2) else None
			self.closed = m.group(3) == "closed"
			return
		m = re.match(r"(?:read (\d+) times?)?(?:; )?(?:count (\d+).*)?$", line)
		if m and m.group(0):
			self.reads = int(m.group(1) or 0)
			self.count = int(m.group(2)) if m.group(2) else None
			return
		if not line.startswith("records: "):
			raise ParseError("in the summary: " + line)
		for item in line[len("records: "):].split(", "):
			n, what = item.split(" ", 1)
			if what == "lost":
				self.lost = int(n)
			else:
				self.records[what] = int(n)

class Ring:
	def __init__(self, m):
		self.number, self.event = int(m.group(1)), int(m.group(2))
		self.text = m.group(3)
		m = re.search(r", in process (\d+)(?:; written by (.*))?$", self.text)
		if not m:
			raise ParseError("in the summary: " + self.text)
		self.pid = int(m.group(1))
		self.writers = [int(w) for w in
				re.findall(r"#(\d+)", m.group(2) or "")]
		self.overwrite = ", overwritten when full" in self.text
		self.looks = self.seen = self.missed = self.blind = 0
		self.why_blind = None

	def detail(self, line):
		m = re.match(r"(\d+) looks? failed \((.*)\): contents unknown$", line)
		if m:
			self.blind, self.why_blind = int(m.group(1)), m.group(2)
			return
		m = re.match(r"(\d+) looks?, (\d+) records? seen, (\d+) bytes missed$",
			     line)
		if not m:
			raise ParseError("in the summary: " + line)
		self.looks, self.seen, self.missed = (int(g) for g in m.groups())

class Task:
	def __init__(self, m):
		self.tid = task(m.group(1))
		self.opens, self.failed, self.reads, self.waits = \
			(int(g or 0) for g in m.groups()[1:5])
		self.rings = [int(r) for r in re.findall(r"\d+", m.group(6) or "")]

def task(text):
	m = re.match(r"(?:.*\[(\d+)\]|task (\d+))$", text)
	if not m:
		raise ParseError("no task: " + text)
	return int(m.group(1) or m.group(2))

class Summary:
	def __init__(self, lines):
		self.lines = lines
		self.events, self.probes, self.rings, self.tasks = {}, {}, {}, {}
		self.failures = []	# lines
		self.names = {}		# event number -> name
		part, last = None, None
		said = {}
		for line in lines:
			if not line:
				continue
			if line.startswith("% time"):
				break	# -c: the table of calls
			m = re.match(r"([A-Z].*?):(?: (\d+))?$", line)
			if m:
				part = m.group(1).split(",")[0]
				said[part] = m.group(2)
			elif line.startswith("       "):
				last.detail(line.strip())
			elif line.startswith("  ") and part:
				last = self.line(part, line[2:])
			elif line != "No event was opened." and \
					" opens, but does not count on this machine: " not in line:
				raise ParseError("in the summary: " + line)
		for part, got in (("Events", self.events), ("Probes", self.probes),
				  ("Rings", self.rings)):
			if int(said.get(part) or 0) != len(got):
				raise ParseError("%s: %s, but %d are listed" %
						 (part, said.get(part), len(got)))

	def line(self, part, line):
		if part in ("Events", "Probes"):
			m = re.match(r"#(\d+) +(.*)$", line)
			if not m:
				raise ParseError("in the summary: " + line)
			e = Event(int(m.group(1)), m.group(2))
			(self.events if part == "Events" else self.probes)[e.number] = e
			return e
		if part == "Failed opens":
			self.failures.append(line)
			return None
		if part == "Rings":
			r = Ring(re.match(r"(\d+) of #(\d+) (.*)$", line))
			self.rings[r.number] = r
			return r
		m = re.match(r"(.*): (\d+) opens?(?:, (\d+) failed)?, (\d+) reads?, "
			     r"(\d+) waits?(?:; waits for ring (.*))?$", line)
		if part != "Tasks that use events" or not m:
			raise ParseError("in the summary: " + line)
		t = Task(m)
		self.tasks[t.tid] = t
		return t

	def by_id(self, id):
		return next((e for e in self.events.values() if e.id == id), None)

	def named(self, name):
		"""Return events whose name begins so, numbered or not."""
		return [e for e in self.events.values() if
			re.match(re.escape(name) + r"(:[ukhGH]+)?( cpu\d+)?( #\d+)?:",
				 e.text)]

# ---- perf report -D -----------------------------------------------------

Theirs = collections.namedtuple("Theirs", "type time size text more")

DUMPED = re.compile(r"((?:-?\d+ )*)0x[0-9a-f]+ (?:\[\S*\] )?\[(0x[0-9a-f]+)\]: "
		    r"PERF_RECORD_([A-Z0-9_]+)(.*)$")

def perf_dump(path):
	return subprocess.run([PERF, "report", "-D", "-i", path], stdout=subprocess.PIPE,
			      stderr=subprocess.DEVNULL, text=True, errors="replace",
			      timeout=300).stdout

def dump(path):
	"""Return the kernel's records of perf report -D.  perf itself adds
	records: those have no time, or a type that no kernel writes."""
	out = []
	for line in perf_dump(path).split("\n"):
		m = DUMPED.match(line)
		if m:
			t = m.group(1).split()
			out.append(Theirs(m.group(3), int(t[-1]) if t else 0,
					  int(m.group(2), 0), m.group(4), []))
		elif out and re.match(r"\.{2,5} ", line):
			out[-1].more.append(line)
	return [t for t in out if t.time not in (0, -1, (1 << 64) - 1)
		and t.type not in ("FINISHED_ROUND", "FINISHED_INIT")]

def lost_samples(path):
	"""Return what each event lost, by id, as perf read it from the event at the end;
	empty if kernel or perf are too old."""
	out = collections.Counter()
	for id, n in re.findall(r"PERF_RECORD_LOST_SAMPLES: id:(\d+): "
				r"lost samples :(\d+)", perf_dump(path)):
		out[int(id)] += int(n)
	return dict(out)

def data_ids(path):
	"""Return the kernel's ids of the events that perf wrote."""
	ids = set()
	for line in perf_dump(path).split("\n"):
		m = re.match(r" *\.\.\. id: +(\d+) +idx:", line)
		if m:
			ids.add(int(m.group(1)))
	return ids

# ---- programs that print such lines ---------------------------------------------------

def records(lines):
	"""Return the records among the lines of pevtrace open or watch, without -o."""
	out = []
	for line in lines:
		m = RING.match("0 " + line)
		if m and m.group(3).startswith("<"):
			out.append(Record(m))
	return out

def holds_events(pid, n):
	"""Wait until the process has n events open, and then sleeps, as it does once they are enabled."""
	until, asleep = time.monotonic() + 300, 0
	while time.monotonic() < until:
		links = 0
		try:
			with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
				state = f.read().rpartition(")")[2].split()[0]
			for fd in os.listdir("/proc/%d/fd" % pid):
				try:
					links += "[perf_event]" in os.readlink(
						"/proc/%d/fd/%s" % (pid, fd))
				except OSError:
					pass
		except OSError:
			return False
		asleep += links >= n and state == "S"
		if asleep == 10:
			return True
		time.sleep(0.02)
	return False

def check_schema(tap, name, dump):
	"""Test that every line of the dump is valid against the schema."""
	if not jsonschema:
		return tap.skip(name + ": schema", "python3-jsonschema is not installed")
	built = os.environ.get("builddir") or os.path.dirname(PEVTRACE)
	with open(os.path.join(built, "share", "pevtrace", "trace.schema.json")) as f:
		check = jsonschema.Draft7Validator(json.load(f))
	bad = []
	for line in open(dump):
		bad += ["%s: %s" % (e.message[:200], line[:100])
			for e in check.iter_errors(json.loads(line))]
	tap.ok(not bad, name + ": the dump is as the schema says", bad[:3])

# ---- the machine --------------------------------------------------------------

def cgroup2():
	"""Return where cgroup2 is mounted and writable, or None."""
	for line in open("/proc/self/mounts"):
		p = line.split()
		if p[2] == "cgroup2" and os.access(p[1], os.W_OK):
			return p[1]
	return None

def target(name):
	return os.path.join(TARGETS, name)

def missing(name):
	"""Return why the target cannot be used here, or None."""
	if not os.access(target(name), os.X_OK):
		return "tests/targets/%s is not built" % name + \
			(": it requires i686-linux-gnu-gcc" if name.endswith("32") else "")
	return machine.cannot_run(target(name)) if name.endswith("32") else None

# ---- a script of such tests -------------------------------------------------

def main(prefix, what, own, with_perf, without_events=()):
	"""The exit status of a script: runs the tests of own(tap, tmp) and, where
	a perf runs, of with_perf(tap, tmp, tracefs), which are lists of (name,
	function); all of them, or those that the arguments name. what is skipped
	without perf. with_perf may be None. without_events: the tests that need no event to be opened."""
	if not PEVTRACE:
		sp.skip_all("PEVTRACE is not set")
	tap = sp.Tap()
	only = sys.argv[1:]
	tmp = tempfile.mkdtemp(prefix=prefix)
	tests = own(tap, tmp)
	if not with_perf:
		pass
	elif PERF and not subprocess.run([PERF, "--version"], stdout=subprocess.DEVNULL,
				       stderr=subprocess.DEVNULL).returncode:
		tests += with_perf(tap, tmp, sp.tracefs())
	else:
		tap.skip(what, "no perf that runs on this machine")
	try:
		for name, test in tests:
			if not only or name in only:
				try:
					if name not in without_events:
						machine.need("events")
					test()
				except machine.Lack as e:
					tap.skip(name, e)
	finally:
		shutil.rmtree(tmp, ignore_errors=True)
	return tap.done()
