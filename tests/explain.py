#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace explain, compared with other sources:

  record   perf record of a command: opens, probes, fds, rings, threads, period,
           samples and mappings, against the calls of the same run (read here
           from its dump) and perf script of what perf wrote
  stat     the counts, against those that perf stat wrote itself
  groups   members and leaders, against the calls
  output   redirected events of perf trace, against the calls
  python   perf's module, which asks for no mappings: what the rings held
  short    the usual length: rings in pages, reused descriptors, probes' purposes,
           against the calls; the release that an open requires, against what
           --as-kernel refuses; the rights, against the kernel's answer to a user
  failing  calls that fail on purpose: the kernel's errno, the check that
           pevtrace check finds by trying
  nobody   an ordinary user, who is refused
  kernel   the functions: in kallsyms, and by the stacks of a program that makes
           these calls: who is called on behalf of whom
  words    every name of xlat/*.in has an entry that says what the file says;
           letters, prefixes, words that are none; manual pages that are there
  one      one call, by its attr, its event, its line
  attached what is not known of a process that was running before
  shape    width, terminal, links, levels, a dump and the run it is of
  hostile  escapes in names, dumps cut short
"""

import glob
import json
import os
import random
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import machine
import ringparse as rp
import straceparse as sp

PEVTRACE, PERF = rp.PEVTRACE, rp.PERF
XLAT = os.path.join(HERE, "..", "xlat")
LOOP = ["sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; /bin/true"]

def run(args, **how):
	return subprocess.run([PEVTRACE] + args, text=True, stdin=subprocess.DEVNULL,
			      stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300,
			      errors="replace", env=dict(os.environ, LC_ALL="C"), **how)

def explain(args, **how):
	return run(["explain"] + args, **how)

class Story:
	"""The explanation of a dump: .text, with one line for each paragraph or
	item, by its heading in .chapters."""
	def __init__(self, dump, options=("--deep",)):
		self.result = explain(["--width=100000"] + list(options) + [dump])
		self.text = self.result.stdout
		self.chapters = {}
		lines = self.text.split("\n")
		name = ""
		for i, line in enumerate(lines):
			if i + 1 < len(lines) and line and lines[i + 1] == "-" * len(line):
				name = line
				self.chapters[name] = []
			elif name and line and not re.fullmatch("-+", line):
				self.chapters[name].append(line)

	def has(self, chapter, pattern):
		return re.search(pattern, "\n".join(self.chapters.get(chapter, [])), re.M)

class Dump:
	"""Return the calls of a dump, read without pevtrace."""
	def __init__(self, path):
		with open(path) as f:
			self.lines = [json.loads(line) for line in f]
		self.calls, begun = [], {}
		for x in self.lines:
			if x["kind"] == "enter":
				begun[x["tid"]] = x
			elif x["kind"] == "exit":
				args = dict(begun[x["tid"]].get("args", {}), **x.get("args", {}))
				self.calls.append(dict(begun[x["tid"]], **dict(x, args=args)))
			elif x["kind"] == "call":
				self.calls.append(x)

	def named(self, *names):
		return [c for c in self.calls if c["call"] in names]

	def opens(self):
		return [c for c in self.named("perf_event_open") if c["ret"] != -1]

	def failures(self):
		return [c for c in self.named("perf_event_open") if c["ret"] == -1]

	def used(self):
		"""Events by number that anything but a close was done with, or that wait
		for an exec or are in a group."""
		out = {c["event"] for c in self.calls if "event" in c and
		       c["call"] in ("mmap", "read", "ioctl") and
		       c.get("args", {}).get("request_name") != "PERF_EVENT_IOC_ID"}
		for c in self.opens():
			if c["args"]["attr_uptr"]["enable_on_exec"]:
				out.add(c["event"])
		return out

def numbers(text):
	"""Return the descriptors in "fds 3 to 5 and 7"."""
	out = set()
	for a, b in re.findall(r"(\d+)(?: to (\d+))?", text):
		out |= set(range(int(a), int(b or a) + 1))
	return out

def trace(tmp, name, argv, options=(), **how):
	dump = os.path.join(tmp, name + ".json")
	r = run(["--records", "-o", "/dev/null", "--json=" + dump] + list(options) + argv, **how)
	return dump, r

# ---- perf record ------------------------------------------------------------------

def opens_told(tap, story, dump):
	opens, used = dump.opens(), dump.used()
	probes = [c for c in opens if c["event"] not in used]
	short = "\n".join(story.chapters.get("Summary", []))
	m = re.search(r"called perf_event_open (once|twice|(\d+) times): (\d+) events? "
		      r"opened(?:, (\d+) calls? failed)?", short)
	got = m and (int(m.group(3)), int(m.group(4) or 0))
	tap.ok(got == (len(opens), len(dump.failures())),
	       "perf record: as many opens and refusals as were made",
	       [got, len(opens), len(dump.failures()), short])
	m = re.search(r"(\d+) events? w\w+ (?:a )?probe", short)
	tap.ok(int(m.group(1) if m else 0) == len(probes),
	       "as many probes as were never used", [short, len(probes)])
	tap.ok(len(story.chapters.get("What was tried", [])) > 1 or
	       not probes and not dump.failures(), "each is told of", [story.chapters])
	told = set()
	for line in story.chapters.get("Events opened", []):
		if re.match(r"\d+ opens? by ", line):
			for part in re.findall(r"\(fds? ([^)]*)\)", line):
				told |= numbers(part)
	tap.ok(told == {c["ret"] for c in opens if c["event"] in used},
	       "every descriptor that stays has its purpose told", [told])

def rings_told(tap, story, dump):
	maps = [c for c in dump.named("mmap") if "ring" in c]
	sizes = {(c["args"]["length"] - 4096) // 1024 for c in maps}
	back = "How data is read"
	n = sum(int(x) for x in re.findall(r"records are written to (\d+) rings? of %d KiB"
					   % sizes.pop(), "\n".join(story.chapters[back])))
	tap.ok(n == len(maps), "as many rings, of that size, as were mapped", [n, len(maps)])
	read = {c["args"]["fd"] for c in dump.named("read") if "event" in c}
	never = set()
	for line in story.chapters[back]:
		m = re.match(r"  - fds? ([\d, toand]+) (?:is|are) never read", line)
		if m:
			never |= numbers(m.group(1))
	want = {c["args"]["fd"] for c in maps} - read
	# perf reads each of them for a user without the kernel
	tap.ok(never == want and (want or machine.lacks("kernel events")), "the descriptors that nobody reads are named",
	       [never, want])

def threads_told(tap, story, dump):
	polls = {c["tid"] for c in dump.lines if c["kind"] in ("call", "enter") and
		 c.get("call") == "poll"}
	made = {c["ret"]: c["tid"] for c in dump.named("clone3", "clone")}
	back = "\n".join(story.chapters["How data is read"])
	told = {int(x) for x in re.findall(r"\[(\d+)\] waits for records with poll", back)}
	tap.ok(told == polls and polls, "who polls is who was seen to poll", [told, polls, back])
	for tid, parent in made.items():
		if tid in polls:
			tap.ok(re.search(r"Thread perf\[%d\] waits for records with poll[^.]*; perf\[%d\] "
					 r"created it with clone" % (tid, parent), back),
			       "what clone3 and poll were for: a thread that waits for rings",
			       [back])
			break
	else:
		tap.skip("what clone3 was for", "this perf makes no thread")

def samples_told(tap, story, data):
	out = subprocess.run([PERF, "script", "-i", data, "-F", "period"], text=True,
			     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.split()
	m = story.has("When samples are taken",
		      r"timer expires every (\d+) ns")
	tap.ok(m and {m.group(1)} == set(out),
	       "a clock's samples come by a timer, at the period that perf script shows",
	       [m and m.group(0), set(out)])
	m = story.has("When samples are taken", r"(\d+) samples? w\w+ seen")
	tap.ok(m and int(m.group(1)) == len(out), "as many samples as perf wrote",
	       [m and m.group(0), len(out)])
	tap.ok(story.has("When samples are taken", "No kprobe or tracepoint") and
	       story.has("Accuracy", "Samples are an estimate"),
	       "neither kprobes nor exactness is claimed")

def maps_told(tap, story, data):
	out = subprocess.run([PERF, "script", "-i", data, "--show-mmap-events"], text=True,
			     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
	wrote = re.findall(r"PERF_RECORD_MMAP2? (-?\d+)/\d+: .*?\]: \S+ (.*?)\s*$", out, re.M)
	chapter = "\n".join(story.chapters.get("MMAP records", []))
	m = re.search(r"(\d+) MMAP records? w\w+ seen, (?:among others )?for (.*?)\. An",
		      chapter)
	names = re.split(r", | and ", m.group(2)) if m else []
	files = {name for pid, name in wrote}
	tap.ok(m and set(names) <= files, "the mappings that the kernel told of are in perf.data",
	       [names, files])
	# the mappings of the kernel, which not every user may see
	made = 0 if machine.lacks("kernel events") else 1
	tap.ok(m and int(m.group(1)) + made <= len(wrote) and "/proc/PID/maps" in chapter,
	       "perf.data has more: those that perf made itself", [m and m.group(1), len(wrote)])

def test_record(tap, tmp):
	data = os.path.join(tmp, "perf.data")
	path, r = trace(tmp, "record", [PERF, "record", "-o", data, "-e", "cpu-clock", "-F", "999",
					"--"] + LOOP)
	story, dump = Story(path), Dump(path)
	tap.ok(r.returncode == 0 and story.result.returncode == 0 and not story.result.stderr,
	       "perf record is traced and explained", [r.stderr, story.result.stderr])
	opens_told(tap, story, dump)
	rings_told(tap, story, dump)
	threads_told(tap, story, dump)
	samples_told(tap, story, data)
	maps_told(tap, story, data)
	exe = [x.get("exe") for x in dump.lines if x["kind"] == "exec" and x.get("exe")]
	m = story.has("How events are enabled", r"the exec of sh\[\d+\] \((\S+)\)")
	tap.ok(m and m.group(1) in exe, "the exec that starts the events", [m, exe])
	if not any(c["args"].get("request_name") == "PERF_EVENT_IOC_ENABLE" for c in dump.named("ioctl")):
		return tap.skip("what the ioctls did", "this perf makes none")
	tap.ok(story.has("How events are enabled", "disabled=0: enabled at open. "
			 "PERF_EVENT_IOC_ENABLE had no effect") or
	       story.has("How events are enabled", "disabled=1: enabled by PERF_EVENT_IOC_ENABLE"),
	       "what the ioctls did", [story.chapters["How events are enabled"]])

# ---- perf stat ----------------------------------------------------------------------

def test_stat(tap, tmp):
	out = os.path.join(tmp, "stat.csv")
	events = ["task-clock", "page-faults", "context-switches", "cpu-migrations"]
	path, r = trace(tmp, "stat", [PERF, "stat", "-x,", "-o", out, "-e", ",".join(events)] + LOOP)
	story = Story(path)
	with open(out) as f:
		rows = [line.split(",") for line in f if line.count(",") > 3]
	told = dict(re.findall(r"^  - ([^\s:]+)\S* \(fd \d+\) counted (\d+)",
			       "\n".join(story.chapters.get("Final counts", [])), re.M))
	for row in rows:
		value = told.get(row[2].split(":")[0], "-1")
		same = abs(int(value) / 1e6 - float(row[0])) < 0.01 if row[1] == "msec" else \
			value == row[0]
		tap.ok(same, "perf stat: the count of " + row[2], [row, told])
	tap.ok(story.has("Summary", "No ring was mapped") and
	       story.has("When samples are taken", "^Never") and
	       story.has("Accuracy", "time_running equals time_enabled"),
	       "no ring, no samples, exact counts", [story.text])

def test_groups(tap, tmp):
	path, r = trace(tmp, "group", [PERF, "stat", "-x,", "-o", "/dev/null", "-e",
				       "{task-clock,page-faults},cs", "true"])
	story, dump = Story(path), Dump(path)
	opens = dump.opens()
	leaders = {c["args"]["group_fd"] for c in opens} - {-1}
	told = {int(x) for x in re.findall(r"fd (\d+) leads a group", story.text)}
	tap.ok(told == leaders and leaders, "the leader of a group", [told, leaders])
	members = {c["ret"] for c in opens if c["args"]["group_fd"] != -1}
	m = story.has("How events are enabled", r"fds? ([\d, toand]+): disabled=0, in a group")
	tap.ok(m and numbers(m.group(1)) == members, "members wait for their leader",
	       [m and m.group(0), members])

def test_output(tap, tmp, tracefs):
	if not tracefs:
		return tap.skip("redirected events", "no tracefs with sched:sched_switch")
	path, r = trace(tmp, "output", [PERF, "record", "-q", "-o", "/dev/null", "-e",
					"sched:sched_switch", "-e", "sched:sched_wakeup", "true"])
	story, dump = Story(path), Dump(path)
	calls = [c for c in dump.named("ioctl") if
		 c["args"].get("request_name") == "PERF_EVENT_IOC_SET_OUTPUT"]
	m = story.has("How data is read", r"fds? ([\d, toand]+) ha\w+ no rings? of \w+ own: "
		      r"\w+ records go to the rings? of fds? ([\d, toand]+) ")
	tap.ok(m and numbers(m.group(1)) == {c["args"]["fd"] for c in calls} and
	       numbers(m.group(2)) == {c["args"]["arg"] for c in calls},
	       "events that write into others' rings", [m and m.group(0), calls])
	tap.ok(story.has("When samples are taken", "each hit of the tracepoint counts once") and
	       not story.has("When samples are taken", "No kprobe or tracepoint"),
	       "tracepoints sample at their hits", [story.chapters["When samples are taken"]])

# ---- perf's python module --------------------------------------------------------------

TWATCH = """
import perf, subprocess
cpus, threads = perf.cpu_map(), perf.thread_map()
evsel = perf.evsel(type=perf.TYPE_SOFTWARE, config=perf.COUNT_SW_CPU_CLOCK, freq=0,
		   task=1, comm=1, wakeup_events=1, sample_period=20000000, sample_id_all=1,
		   sample_type=perf.SAMPLE_PERIOD | perf.SAMPLE_CPU | perf.SAMPLE_TID)
evsel.open(cpus=cpus, threads=threads)
evlist = perf.evlist(cpus, threads)
evlist.add(evsel)
evlist.mmap()
subprocess.run(["sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"])
evlist.poll(timeout=100)
for i in range(10):
	for cpu in cpus:
		event = evlist.read_on_cpu(cpu)
		if event:
			print(event)
"""

def test_python(tap, tmp):
	python = "/usr/bin/python3"
	if subprocess.run([python, "-c", "import perf"], stderr=subprocess.DEVNULL).returncode:
		return tap.skip("perf's python module", python + " has none")
	path, r = trace(tmp, "python", [python, "-c", TWATCH])
	story, dump = Story(path), Dump(path)
	attrs = [c["args"]["attr_uptr"] for c in dump.opens()]
	types = {x["record"]["type"] for x in dump.lines if x["kind"] == "record"}
	if not attrs:
		return tap.skip("perf's python module", "it opened nothing: " + r.stderr[-200:])
	tap.ok(not any(a["mmap"] or a["mmap_data"] for a in attrs) and not types & {1, 10},
	       "the module asks for no mappings, and the kernel wrote none", [types])
	tap.ok(story.has("MMAP records", "No event asks for mappings .* kernel wrote no MMAP "
			 "records. But .* also takes samples, .* mistakes SAMPLE records for them"),
	       "what the stray mmap records of such a script are", [story.text])
	tap.ok(story.has("Summary", "sample every task, on CPUs? ") and
	       story.has("Events opened",
			 "One event per CPU: an event of every task must be bound to a CPU"),
	       "why there is one open for each CPU", [story.text])

# ---- the usual length ---------------------------------------------------------------------

def test_short(tap, tmp):
	path, r = trace(tmp, "short", [PERF, "record", "-q", "-o", "/dev/null", "-e", "cpu-clock",
				       "true"])
	story, dump = Story(path, []), Dump(path)
	full = Story(path)
	tap.ok(len(story.text.split("\n")) < len(full.text.split("\n")) - 10,
	       "the usual length is shorter than --deep", [story.text])
	pages = {c["args"]["length"] // 4096 - 1 for c in dump.named("mmap") if "ring" in c}
	told = {int(x) for x in re.findall(r"\((\d+) pages and the control page\)", story.text)}
	tap.ok(told == pages and pages, "the pages of a ring", [told, pages])
	used, first, again = dump.used(), set(), set()
	for c in dump.opens():
		if c["event"] in used and c["ret"] in first:
			again.add(c["ret"])
		elif c["event"] not in used:
			first.add(c["ret"])
	told = {int(x) for x in re.findall(r"[Ff]d (\d+) was used again", story.text)}
	tap.ok(told == again, "descriptors that probes had had", [told, again])
	if any(c["args"]["attr_uptr"]["comm_exec"] for c in dump.opens() if c["event"] not in used):
		tap.ok("a test for comm_exec, new in Linux 3.16" in squash(story.text),
		       "what a probe of perf is for", [story.text])
	lost = [v["lost"] for c in dump.named("read") for v in c["args"].get("buf", {}).get("values", [])
		if isinstance(v, dict) and "lost" in v]
	if lost and not sum(lost):
		tap.ok("The kernel reported no lost records (reads with PERF_FORMAT_LOST: 0" in
		       squash(story.text), "records lost: none is told as none", [story.text[:700]])

# What perf stat printed in the run of tests/multiplexed.json: 64-bit ARM, qemu's PMU, Linux 6.1.
STAT = {3: (598514424, 50.15), 4: (299257212, 50.15), 5: (299257212, 50.15), 7: (299257212, 50.15),
	8: (299238190, 49.85), 9: (299238190, 49.85), 10: (299238190, 49.85), 11: (299238190, 49.85)}

def test_multiplexed(tap):
	"""Two groups that need more counters than there are."""
	text = squash(explain([os.path.join(HERE, "multiplexed.json")]).stdout)
	told = {int(fd): (int(scaled), float(share)) for fd, share, scaled in re.findall(
		r"\(fd (\d+)\) counted \d+, on the PMU for ([\d.]+) % of the time it was enabled: "
		r"(\d+) if scaled", text)}
	tap.ok(told.keys() == STAT.keys() and all(
		told[fd][0] == STAT[fd][0] and abs(told[fd][1] - STAT[fd][1]) <= 0.06 for fd in STAT),
	       "scaled counts and shares of the time are those of perf stat", [repr(told), text])
	tap.ok("fds 3 and 8 lead groups with 6 other members" in text and
	       "in groups led by fds 3 and 8" in text and
	       re.search("fds 3 to 5 and 7 for 50.[12] % of the time, "
			 "fds 8 to 11 for 49.[89] % of the time", text),
	       "groups that take turns", [text])
	tap.ok("lost" not in text, "nothing is said of lost records where there is no ring", [text])

# A member that joins a group which runs: it gets both times of its own read.
LATE = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
def event(config, group):
	attr = struct.pack("<IIQQQQQ", 1, 112, config, 0, 0, 3, 0).ljust(112, b"\\0")
	return libc.syscall(%d, ctypes.create_string_buffer(attr, 112), 0, -1, group, ctypes.c_ulong(8))
fd = event(2, event(0, -1))
for i in range(100000): pass
print("times", *struct.unpack("<3Q", os.read(fd, 24))[1:])
"""

def test_late(tap):
	"""Events without a counter take no turns."""
	nr = {"x86_64": 298, "aarch64": 241}.get(os.uname().machine)
	for engine in ("ptrace", "bpf") if nr else ():
		r = run(["--engine=" + engine, "--explain", sys.executable, "-c", LATE % nr])
		text, times = squash(r.stdout + r.stderr), re.search(r"times (\d+) (\d+)", r.stdout)
		if not times or int(times[2]) >= int(times[1]):
			tap.skip("software events, --engine=" + engine, "the member ran at once")
			continue
		tap.ok("1 of them has time_running below time_enabled without need of a counter" in text and
		       not re.search("took turns|multiplex|held by", text),
		       "software events take no turns, --engine=" + engine, [text])

UPROBE = """
import ctypes, os, struct, sys
path = ctypes.create_string_buffer(sys.argv[1].encode())
with open("/sys/bus/event_source/devices/uprobe/type") as f:
	kind = int(f.read())
attr = bytearray(136)
struct.pack_into("<IIQQQQQ", attr, 0, kind, 136, 0, 0, 0, 0, 1)
struct.pack_into("<QQ", attr, 56, ctypes.addressof(path), 0x40)
nr = {"x86_64": 298, "aarch64": 241, "riscv64": 241}[os.uname().machine]
raise SystemExit(ctypes.CDLL(None).syscall(nr, bytes(attr), 0, -1, -1, ctypes.c_ulong(8)) < 0)
"""

def test_uprobe_path(tap, tmp):
	"""The path is told whole, where the attr has a pointer; the event is named after it."""
	path = os.path.join(tmp, "a-directory-of-a-long-name", "probed")
	os.mkdir(os.path.dirname(path))
	with open(path, "wb") as f:
		f.write(b"\0" * 4096)
	machine.need("uprobes")
	dump, r = trace(tmp, "uprobe", [sys.executable, "-c", UPROBE, path])
	text = squash(explain([dump]).stdout)
	tap.ok('uprobe_path="%s"' % path in text and "uprobe:probed+0x40 (fd" in text,
	       "the path of a uprobe", [text])
	r = run(["--summary", sys.executable, "-c", UPROBE, path])
	tap.ok('uprobe_path="%s", ' % path in r.stderr and "uprobe:probed+0x40\n" in r.stderr,
	       "no path is cut in a trace", [r.stderr])

def test_release(tap, tmp):
	for attr, since, before in (("write_backward=1", "4.7", "4.6"),
				    ("context_switch=1", "4.3", "4.2"),
				    ("sample_period=1,sample_type=PERF_SAMPLE_CGROUP", "5.7", "5.6"),
				    ("ksymbol=1", "5.1", "5.0")):
		text = squash(explain(["-e", "cpu-clock:u," + attr]).stdout)
		refused = [run(["--as-kernel", r, "-o", "/dev/null", PEVTRACE, "open", "-e",
				"cpu-clock:u," + attr, "true"]).returncode != 0
			   for r in (since, before)]
		tap.ok("Requires Linux %s, " % since in text and refused == [False, True],
		       "%s requires Linux %s" % (attr, since), [text, refused])

def test_rights(tap, tmp):
	machine.need("another user")
	level = machine.setting("paranoid")
	os.chmod(tmp, 0o755)
	for event, args in (("cpu-clock,exclude_kernel=0", []), ("cpu-clock:u", []), ("dummy:u", []),
			    ("cpu-clock:u", ["-a"]), ("cs,exclude_kernel=0", []),
			    ("cpu-clock:u,namespaces=1", [])):
		path = os.path.join(tmp, "rights.json")
		r = run(["--json=" + path, "-o", "/dev/null", PEVTRACE, "open", "-e", event] + args +
			["true"])
		m = re.search(r"An ordinary user may (not )?open it at (?:any )?perf_event_paranoid"
			      r"(?: (-?\d))?", squash(explain([path]).stdout))
		r = run(["open", "-e", event] + args + ["true"], preexec_fn=sp.as_nobody())
		may = bool(m) and not m.group(1) and level <= int(m.group(2))
		tap.ok(m and may == (r.returncode == 0),
		       "%s: may an ordinary user open it at level %d?" % (" ".join([event] + args),
									  level),
		       [m and m.group(0), r.returncode, r.stderr])

# ---- failures ------------------------------------------------------------------------------

FAILING = """
import ctypes, fcntl, mmap, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
def attr(type=1, config=0, period=0, sample=0, read=0, flags=1 << 5, size=112):
	return (struct.pack("<IIQQQQQ", type, size, config, period, sample, read, flags) +
		bytes(200))
def open_(pid=0, cpu=-1, group=-1, fl=8, **a):
	buf = ctypes.create_string_buffer(attr(**a))
	return libc.syscall(298, buf, pid, cpu, group, fl)
def quiet(f, *a):
	try:
		f(*a)
	except (OSError, ValueError):
		pass
for word in sys.argv[1:]:
	exec(word)
"""

def failing(tmp, name, code, **how):
	return trace(tmp, name, ["/usr/bin/python3", "-c", FAILING, code], **how)

def test_failing(tap, tmp):
	cases = [("bits", "open_(sample=1 << 40)", "EINVAL", "sample_type_bits"),
		 ("config", "open_(config=77)", "ENOENT", "software_config"),
		 ("branch", "open_(config=9, sample=1 << 11, period=1)", "EINVAL", "branch_kind"),
		 ("flags", "open_(fl=1 << 20)", "EINVAL", "flags_unknown"),
		 ("size", "open_(size=8)", "E2BIG", "size_range"),
		 ("nowhere", "open_(pid=-1, cpu=-1)", "EINVAL", "cpu_range"),
		 ("gone", "open_(pid=4194303)", "ESRCH", "no_task"),
		 ("weights", "open_(sample=1 << 14 | 1 << 24)", "EINVAL", "weights")]
	for name, code, error, rule in cases:
		path, r = failing(tmp, name, code)
		story, dump = Story(path), Dump(path)
		chapter = "\n".join(story.chapters.get("Failures and remedies", []))
		tap.ok(dump.failures() and dump.failures()[0]["error"] == error and
		       error in chapter and re.search(r"\b%s:" % rule, chapter) and
		       "Remedy: " in chapter,
		       "%s: %s, by %s" % (code, error, rule), [chapter, dump.failures()[:1]])
	kernel = Story(path, ["--kernel"]).text
	tap.ok("perf_try_init_event: " in kernel and "fd_install: " in kernel and
	       "__perf_event_task_sched_in: " not in kernel,
	       "where all was refused, --kernel tells the way of an open all the same", [kernel])
	tap.ok(story.has("Summary", r"No event was left to measure with"), "and that nothing is measured",
	       [story.text[:600]])
	path, r = failing(tmp, "words", "quiet(lambda: open_(config=77)); open_(period=7)")
	story = Story(path)
	tap.ok(story.has("See also", r"any name above: sample_period, .*ENOENT\.$") and
	       not story.has("See also", "PERF_EVENT_IOC"),
	       "the words to read on with are of this session",
	       [story.chapters.get("See also")])
	others = [("refresh", "fcntl.ioctl(open_(), 0x2402, 1)", "PERF_EVENT_IOC_REFRESH", "EINVAL",
		   "does not sample"),
		  ("pages", "mmap.mmap(open_(period=1 << 30), 4 * 4096)", "mmap", "EINVAL",
		   "power of two"),
		  ("short", "os.read(open_(read=3), 8)", "read", "ENOSPC", "smaller"),
		  ("what", "fcntl.ioctl(open_(), 0x24ff, 0)", "ioctl", "ENOTTY", "request"),
		  ("filter", "fcntl.ioctl(open_(), 0x40082406, b'x == 1' + bytes(8))",
		   "PERF_EVENT_IOC_SET_FILTER", "EINVAL", "does not support filters")]
	for name, code, call, error, says in others:
		path, r = failing(tmp, name, "quiet(lambda: %s)" % code)
		story = Story(path)
		tap.ok(story.has("Failures and remedies",
				 r"%s on .* failed: %s .*%s" % (call, error, says)),
		       "%s fails with %s, and why" % (call, error), [story.text[-600:]])

def test_nobody(tap, tmp):
	machine.need("another user")
	if machine.setting("paranoid") < 2:
		return tap.skip("an ordinary user", "perf_event_paranoid is below 2")
	os.chmod(tmp, 0o755)
	path = os.path.join(tmp, "nobody.json")
	open(path, "w").close()
	os.chmod(path, 0o666)
	r = run(["-o", "/dev/null", "--json=" + path, "/usr/bin/python3", "-c", FAILING,
		 "open_(flags=0)"], preexec_fn=sp.as_nobody())
	if r.returncode:
		return tap.skip("an ordinary user", "who may not run this build")
	story, dump = Story(path), Dump(path)
	tap.ok(dump.failures() and dump.failures()[0]["error"] == "EACCES" and
	       story.has("Failures and remedies",
			 r"EACCES .*kernel_privilege: .*perf_event_paranoid") and
	       story.has("Failures and remedies", "lower kernel.perf_event_paranoid"),
	       "an ordinary user: refused for want of rights, and what to do",
	       [story.text, r.stderr])

# ---- the kernel's functions -----------------------------------------------------------------

OPENS = """
import ctypes, fcntl, mmap, os, select, struct, time
libc = ctypes.CDLL(None, use_errno=True)
buf = ctypes.create_string_buffer(struct.pack("<IIQQQQQ", 1, 64, 0, 250000, 3, 0, 1 << 5) +
				  bytes(16))
end = time.time() + 3
while time.time() < end:
	fd = libc.syscall(298, buf, 0, -1, -1, 8)
	m = mmap.mmap(fd, 8192, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
	fcntl.ioctl(fd, 0x2401, 0)
	fcntl.ioctl(fd, 0x2400, 0)
	os.read(fd, 8)
	select.select([fd], [], [], 0)
	m.close()
	os.close(fd)
"""

# Functions called in a step: one of these is above them in the stack.
ABOVE = {"copy": "perf_event_open", "pmu": "perf_event_open", "rights": "perf_event_open",
	 "init_cpu_clock": "perf_event_open", "init_software": "perf_event_open",
	 "install": "perf_event_open|openat|memfd|pipe|do_sys|x64_sys",
	 "ioctl": "x64_sys_ioctl", "enable": "x64_sys_ioctl", "disable": "x64_sys_ioctl",
	 "mmap": "x64_sys_mmap|ksys_mmap", "munmap": "munmap|exit",
	 "read": "read|perf_release|task_work|close|fput", "close": "fput|close|task_work"}

def steps():
	"""(step, function, kind) of xlat/kernel.in."""
	with open(os.path.join(XLAT, "kernel.in")) as f:
		rows = [re.split("\t+", line.rstrip("\n")) for line in f
			if line[:1] not in "#%\n"]
	return [(r[0], r[1], r[3]) for r in rows]

def test_symbols(tap):
	with open("/proc/kallsyms") as f:
		names = {line.split()[2] for line in f}
	if "perf_poll" not in names:
		return tap.skip("functions of the kernel", "kallsyms has no perf_poll")
	part = lambda n: {n} | {n + s for s in (".constprop.0", ".isra.0", ".part.0", ".cold")}
	x86, arm64 = (os.uname().machine == m for m in ("x86_64", "aarch64"))
	missing = [n for step, n, kind in steps() if not part(n) & names and
		   (kind == "symbol" or kind == "x86" and x86 or kind == "arm64" and arm64)]
	tap.ok(not missing, "the functions of xlat/kernel.in are in this kernel", [missing])
	optional = [n for step, n, kind in steps() if kind == "optional" and not part(n) & names]
	kprobes = os.path.exists("/sys/bus/event_source/devices/kprobe")
	tap.ok(all(("kprobe" in n and not kprobes) for n in optional),
	       "those of optional parts are there, where the part is", [optional])

def test_stacks(tap, tmp):
	data = os.path.join(tmp, "stacks.data")
	subprocess.run([PERF, "record", "-q", "-g", "-e", "cpu-clock", "-F", "10000", "-o", data,
			"/usr/bin/python3", "-c", OPENS], stdout=subprocess.DEVNULL,
		       stderr=subprocess.DEVNULL)
	out = subprocess.run([PERF, "script", "-i", data, "-F", "ip,sym"], text=True,
			     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
	chains = [[line.split()[1] for line in c.split("\n") if len(line.split()) > 1]
		  for c in out.split("\n\n")]
	where = {}
	for step, name, kind in steps():
		if step in ABOVE:
			where.setdefault(name, []).append(ABOVE[step])
	seen, strays = set(), []
	for chain in chains:
		for i, name in enumerate(chain):
			if name not in where:
				continue
			seen.add(name)
			if not re.search("|".join(where[name]), " ".join(chain[i:])):
				strays.append((name, chain[i:]))
	if len(seen) < 5:
		return tap.skip("who calls the kernel's functions",
				"the kernel's stacks are not to be had")
	# some stacks may be incomplete, but not most of them
	tap.ok(len(strays) * 20 < len(chains),
	       "%d functions were seen at work in the calls they are told for" % len(seen),
	       strays[:3])

def test_told(tap, tmp):
	path, r = trace(tmp, "told", [PERF, "record", "-q", "-o", "/dev/null", "-e", "cpu-clock",
				      "true"])
	story = Story(path, ["--kernel"])
	order = [n for step in ("copy", "target", "pmu", "init_cpu_clock", "rights", "install",
				"schedule") for s, n, k in steps() if s == step]
	told = re.findall(r"^    (\w+): ", story.text, re.M)
	at = told.index(order[0]) if order[0] in told else 0
	tap.ok(told[at:at + len(order)] == order, "the steps of perf_event_open, in their order",
	       [told, order])
	for name in ("perf_mmap", "perf_swevent_hrtimer", "perf_event_output_forward",
		     "perf_event_exec", "perf_poll", "perf_release", "perf_event_mmap"):
		tap.ok(name in told, "--kernel tells of " + name)
	tap.ok(not re.findall(r"^    (\w+): ", Story(path).text, re.M),
	       "and without --kernel none is told of")
	stat, r = trace(tmp, "told2", [PERF, "stat", "-x,", "-o", "/dev/null", "-e", "cs", "true"])
	told = re.findall(r"^    (\w+): ", Story(stat, ["--kernel"]).text, re.M)
	tap.ok("perf_read" in told and not {"perf_mmap", "perf_poll", "perf_swevent_hrtimer"} &
	       set(told), "what did not come about is not told of", [told])

# ---- words ------------------------------------------------------------------------------------

# Sections whose rows describe names defined in other sections.
ABOUT_OTHERS = ("%terms", "%refusals", "%takers", "%claims", "%parts", "%cause_words", "%undocumented",
		"%requirements", "%defaults", "%purposes", "%exceptions", "%amendments",
		"%misstatements", "%topics", "%commits", "%commit_titles", "%example_output",
		"%example_events", "%uncheckable")

def names_of_tables():
	"""Return (word to ask for, meaning) of every row of xlat/*.in."""
	out = []
	for path in sorted(glob.glob(XLAT + "/*.in") + glob.glob(XLAT + "/../src/[ce]*/*.in")):
		section, layout = None, None
		with open(path) as f:
			for line in f:
				line = line.rstrip("\n")
				if line.startswith("%"):
					words = line.split()
					section = words[0]
					given = dict(w.split("=", 1) for w in words[2:] if "=" in w)
					# the names of tables and of parts of records are internal
					name = given.get("btf") or given.get("prefix") if section == "%table" else \
						words[1] if section == "%layout" and "part" not in given else None
					layout = given.get("part", words[1] if len(words) > 1 else "").split(",")[0]
					if name:
						out.append((name, ""))
					continue
				if not line or line.startswith("#") or section in ABOUT_OTHERS:
					continue
				row = re.split("\t+", line)
				if section == "%layout":
					out.append((layout + "." + row[0], row[-1]))
				elif section == "%steps":
					out.append((row[1], row[-1]))
				elif section == "%glossary":
					out.append((row[0].split(",")[0], row[-1]))
				else:
					out.append((row[0], row[-1]))
	return out

def internal_names():
	"""Return the names in xlat/*.in that no header of the kernel or of perf has."""
	out = set()
	for path in glob.glob(XLAT + "/*.in") + glob.glob(XLAT + "/../src/[ce]*/*.in"):
		with open(path) as f:
			for line in f:
				words = line.split()
				if line.startswith("%table") and "btf=" not in line:
					out.add(words[1])
				elif line.startswith("%layout") and "part=" in line:
					out.add(words[1])
	return out

def squash(text):
	return re.sub(r"\s+", " ", text)

def test_words(tap):
	names, bad, pages = names_of_tables(), [], set()
	for i in range(0, len(names), 200):
		some = names[i:i + 200]
		r = explain(["--width=100000"] + [w for w, m in some])
		text = squash(r.stdout)
		if r.returncode:
			bad.append(r.stderr[:300])
		for word, meaning in some:
			at = text.find(word + ": ")
			if at < 0 or meaning not in text or len(text) < at + len(word) + 20:
				bad.append((word, meaning))
		pages |= set(re.findall(r"Manual: ([\w-]+\(\d\))", r.stdout))
	everything = explain(["--width=100000"] + [w for w, m in names]).stdout
	known = internal_names() - {n for n, m in names} - {"precise_ip", "si_code", "si_perf_flags", "capability"}
	shown = {n for n in known if re.search(r"(?<![\w./-])%s\b(?!\()" % n, everything)}
	tap.ok(len(known) > 60 and not shown, "names that only xlat/ has are not shown", sorted(shown))
	tap.ok(len(names) > 800 and not bad, "each of %d names of the tables has an entry" %
	       len(names), bad[:5])
	page = lambda p: "/usr/share/man/man%s/%s.%s*" % (p[-2], p[:-3], p[-2])
	ours = lambda p: os.path.exists(os.path.join(HERE, "..", "man", p[:-3] + "." + p[-2]))
	if not glob.glob(page("perf_event_open(2)")):
		return tap.skip("manual pages", "manpages-dev is not installed")
	lost = [p for p in pages if not ours(p) and not glob.glob(page(p))]
	tap.ok(len(pages) > 10 and not lost, "the manual pages are there", [lost])

def test_articles(tap):
	"""The words of articles about perf events, each with two sentences and their source."""
	with open(os.path.join(HERE, "article-words")) as f:
		words = [line.strip() for line in f if line[:1] not in "#\n"]
	bad = []
	for word in words:
		r = explain(["--width=100000", "--", word])
		first = r.stdout.lstrip("\n").split("\n\n")[0]
		short = len(re.findall(r"[.;](?:\s|$)", first)) < 2
		if r.returncode or short or not re.search(r"Manual: |Source: |Since: |Example: ", r.stdout):
			bad.append((word, r.stderr.strip() or r.stdout[:200]))
	tap.ok(len(words) > 250 and not bad, "each of %d words of articles is explained" % len(words),
	       [len(bad)] + bad[:5])
	value = open("/proc/sys/kernel/perf_event_paranoid").read().strip()
	r = explain(["--width=1000", "perf_event_paranoid"])
	tap.ok(f"now {value} on this machine" in r.stdout, "a sysctl has its value", [r.stdout])

def test_spelling(tap):
	def entries(word):
		r = explain(["--width=100000", word])
		return r.returncode, re.findall(r"^(\S+): an? ", r.stdout, re.M), r.stderr
	for word in ("cpu_clock", "sw_cpu_clock", "CPU_CLOCK", "PERF_COUNT_SW_CPU_CLOCK",
		     "cpu-clock", "Count_Sw_Cpu_Clock"):
		status, found, err = entries(word)
		tap.ok(status == 0 and "PERF_COUNT_SW_CPU_CLOCK" in found, word, [found, err])
	status, found, err = entries("type")
	tap.ok(status == 0 and {"perf_event_attr.type", "perf_event_header.type"} <= set(found),
	       "a word of several meanings has all", [found])
	status, found, err = entries("clock")
	tap.ok(status == 1 and not found, "a part of a word is none", [found])
	status, found, err = entries("presice_ip")
	tap.ok(status == 1 and "did you mean precise_ip?" in err, "the nearest word", [err])
	status, found, err = entries("PERF_SAMPLE_IPP")
	tap.ok(status == 1 and "did you mean PERF_SAMPLE_IP?" in err, "the nearest in that case", [err])
	status, found, err = entries("\033[31mwhat")
	tap.ok(status == 1 and "\033" not in err, "a hostile word is escaped", [err])
	r = explain(["EOPNOTSUPP"])
	rules = set()
	with open(os.path.join(XLAT, "rules.in")) as f:
		for line in f:
			row = re.split("\t+", line.rstrip("\n"))
			if len(row) == 6 and row[1] == "EOPNOTSUPP":
				rules.add(row[0])
	tap.ok(rules and all("    %s: " % x in r.stdout for x in rules),
	       "an error comes with all checks that end so", [r.stdout])

# ---- one call ------------------------------------------------------------------------------------

def test_one(tap, tmp):
	r = explain(["--attr", "{type=PERF_TYPE_SOFTWARE, size=136, config=PERF_COUNT_SW_DUMMY, "
		     "comm=1, comm_exec=1, sample_stack_user=64}"])
	text = squash(r.stdout)
	tap.ok(r.returncode == 0 and "counts nothing" in text and "a COMM record when" in text and
	       "sample_stack_user=64: no effect: requires "
	       "sample_type&PERF_SAMPLE_STACK_USER" in text, "an attr", [r.stdout, r.stderr])
	r = explain(["-e", "page-faults:u,sample_period=1000"])
	text = squash(r.stdout)
	tap.ok(r.returncode == 0 and "one sample every 1000 counts" in text and
	       "excludes kernel mode" in text, "an event", [r.stdout, r.stderr])
	tap.ok("would refuse" not in text, "and not that it is refused, as it opens", [text])
	for args, how in ((["-e", "cpu-clock:u,read_format=0x8000"],
			   "pevtrace why -e 'cpu-clock:u,read_format=0x8000' finds"),
			  (["--attr", "{type=1, size=136, exclude_kernel=1, read_format=0x8000}"],
			   "pevtrace why, given this attr, finds")):
		r = explain(args)
		text = squash(r.stdout)
		tap.ok(r.returncode == 0 and "would refuse it with EINVAL (Invalid argument), by rule "
		       "read_format_bits: " in text and how in text,
		       "what would be refused, by which rule: %s" % args[1], [r.stdout, r.stderr])
	path, r = failing(tmp, "one", "open_(pid=4194303)")
	with open(path) as f:
		line = next(i for i, x in enumerate(f, 1) if '"perf_event_open"' in x)
	r = explain(["%s:%d" % (path, line)])
	tap.ok(r.returncode == 0 and "task 4194303" in r.stdout and "ESRCH" in r.stdout,
	       "a line of a dump", [r.stdout, r.stderr])
	for args in ([], ["-e", "no-such-event"], ["--attr", "{nothing"], ["--attr=1", "-e", "cs"],
		     [path + ":1"], ["--width=1", "type"], ["--nothing"]):
		r = explain(args)
		tap.ok(r.returncode == 2 and r.stderr.startswith("pevtrace: "),
		       "misuse: %s" % args[:2], [r.returncode, r.stderr])

ATTACHED = FAILING.replace("for word in", """
fd = open_(period=10000000)
ring = mmap.mmap(fd, 8192, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
print(os.getpid(), flush=True)
sys.stdin.readline()
fcntl.ioctl(fd, 0x2401, 0)
os.read(open_(config=2), 8)
for word in""")

def test_attached(tap, tmp):
	t = subprocess.Popen(["/usr/bin/python3", "-c", ATTACHED], text=True,
			     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
	path = os.path.join(tmp, "attached.json")
	p = subprocess.Popen(sp.WITHOUT_BPF * (not os.getuid()) +
			     [PEVTRACE, "-o", "/dev/null", "--json=" + path, "-p",
			      t.stdout.readline().strip()], text=True, stderr=subprocess.PIPE)
	p.stderr.readline()	# "attached to process"
	t.stdin.write("go\n")
	t.stdin.close()
	t.wait()
	p.communicate()
	story = Story(path)
	tap.ok(story.has("Summary", r"fds? .*: (an )?events? opened before the trace began") and
	       story.has("When samples are taken", "^No event opened during the trace") and
	       "Never: " not in story.text and "so no records" not in story.text,
	       "of an event that was there before, nothing is claimed", [story.text])

# ---- shape -----------------------------------------------------------------------------------------

def too_long(text, width):
	"""Return lines that are too long although they could be broken."""
	return [x for x in text.split("\n") if len(x) > width and " " in x.strip()[2:]]

def test_shape(tap, tmp):
	path, r = failing(tmp, "shape", "os.read(open_(), 8); open_(config=77)")
	usual, brief, deep = (explain(a + [path]).stdout for a in ([], ["--brief"], ["--deep"]))
	tap.ok(len(brief) < len(usual) < len(deep), "--brief is shorter, --deep is longer",
	       [len(brief), len(usual), len(deep)])
	tap.ok(not too_long(usual, 80) and not too_long(explain(["--width=50", path]).stdout, 50),
	       "lines end at 80 columns, or at --width")
	tap.ok("\033" not in usual, "no escapes into a pipe")
	text = sp.on_terminal([PEVTRACE, "explain", path], 60, stderr=False, NO_COLOR="")
	links = re.findall(r"\033\]8;;(https://man7\.org/[^\033]*)\033\\([^\033]*)\033\]8;;\033\\", text)
	tap.ok(links and all(page.split("(")[0] in url for url, page in links),
	       "on a terminal, manual pages are links", [text[:500]])
	plain = re.sub(r"\033\]8;;[^\033]*\033\\|\033\[[0-9;]*m|\r", "", text)
	tap.ok(not too_long(plain, 60) and max(map(len, plain.split("\n"))) > 50,
	       "and lines fill its columns", [x for x in plain.split("\n") if len(x) > 60])
	told, dump = os.path.join(tmp, "told.txt"), os.path.join(tmp, "live.json")
	run(["--explain", "-o", told, "--json=" + dump, "/usr/bin/python3", "-c", FAILING,
	     "os.read(open_(), 8)"])
	with open(told) as f:
		live = f.read()
	tap.ok(live.startswith("Summary\n") and live == explain([dump]).stdout,
	       "--explain tells live what explain tells of the dump", [live[:300]])
	r = run(["--explain=loud", "true"])
	tap.ok(r.returncode == 2 and "brief" in r.stderr, "--explain takes words of its own")
	r = run(["--explain", "-o", told, "true"])
	with open(told) as f:
		tap.ok(r.returncode == 0 and "nothing to explain" in squash(f.read()),
		       "a program without events")

# ---- hostile dumps ---------------------------------------------------------------------------------

def test_hostile(tap, tmp):
	path, r = failing(tmp, "hostile", "os.read(open_(), 8); open_(config=77)")
	with open(path) as f:
		text = f.read()
	evil = os.path.join(tmp, "evil.json")
	with open(evil, "w") as f:
		f.write(re.sub(r'("(?:comm|exe|event_name|fd_label)":")[^"]*"',
			       r'\1a\\u001b]0;x\\u0007\\u001b[2J\\n<script>"', text))
	r = explain([evil])
	tap.ok("\033" not in r.stdout + r.stderr and "\a" not in r.stdout and
	       "Summary" in r.stdout, "escapes in names stay escaped", [r.stdout[:400], r.stderr])
	bad = []
	for i in range(40):
		with open(evil, "w") as f:
			f.write(text[:len(text) * i // 40])
		r = explain([evil])
		if r.returncode != 2 or not r.stderr.startswith("pevtrace: "):
			bad.append((i, r.returncode, r.stderr[:200]))
	tap.ok(not bad, "a dump cut short is told as far as it goes, with status 2", bad[:3])
	rng, bad = random.Random(9), []
	for i in range(30):
		lines = text.split("\n")
		for j in range(rng.randint(1, 6)):
			at = rng.randrange(1, len(lines))
			if rng.random() < 0.5:
				lines[at] = lines[rng.randrange(1, len(lines))]
			elif lines[at]:
				n = rng.randrange(len(lines[at]))
				lines[at] = lines[at][:n] + rng.choice("0179ae") + lines[at][n + 1:]
		with open(evil, "w") as f:
			f.write("\n".join(lines))
		r = explain(["--deep", "--kernel", evil])
		if r.returncode not in (0, 2):
			bad.append((r.returncode, r.stderr[:500]))
	tap.ok(not bad, "a dump with lines and digits changed is told or refused", bad[:2])
	r = explain([PEVTRACE])
	tap.ok(r.returncode == 2, "what is no dump is refused", [r.returncode, r.stderr])
	with open(evil, "wb") as f:
		f.write(b"PERFILE2" + bytes(200))
	r = explain([evil])
	tap.ok(r.returncode == 2 and "is a perf.data file" in r.stderr and not r.stdout,
	       "... and so is perf.data", [r.returncode, r.stdout, r.stderr])

# ------------------------------------------------------------------------------------------------------

def own_tests(tap, tmp):
	return [("failing", lambda: test_failing(tap, tmp)),
		("nobody", lambda: test_nobody(tap, tmp)),
		("short", lambda: (test_release(tap, tmp), test_rights(tap, tmp))),
		("kernel", lambda: test_symbols(tap)),
		("late", lambda: test_late(tap)),
		("words", lambda: (test_words(tap), test_articles(tap), test_spelling(tap))),
		("one", lambda: test_one(tap, tmp)),
		("attached", lambda: test_attached(tap, tmp)),
		("shape", lambda: test_shape(tap, tmp)),
		("hostile", lambda: test_hostile(tap, tmp)),
		("python", lambda: test_python(tap, tmp))]

def perf_tests(tap, tmp, tracefs):
	return [("record", lambda: test_record(tap, tmp)),
		("short", lambda: test_short(tap, tmp)),
		("uprobe", lambda: test_uprobe_path(tap, tmp)),
		("multiplexed", lambda: test_multiplexed(tap)),
		("stat", lambda: test_stat(tap, tmp)),
		("groups", lambda: test_groups(tap, tmp)),
		("output", lambda: test_output(tap, tmp, tracefs)),
		("kernel", lambda: (test_stacks(tap, tmp), test_told(tap, tmp)))]

if __name__ == "__main__":
	sys.exit(rp.main("pevtrace-explain.", "perf record, perf stat and perf script",
			 own_tests, perf_tests, ("words",)))
