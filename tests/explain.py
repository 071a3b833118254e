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
           against the calls
  shape    width, terminal, links, levels, a dump and the run it is of
  hostile  escapes in names, dumps cut short
"""

import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "lib"))
import machine
from programs import run
import ringparse as rp
from stories import Dump, FAILING, PERF, PEVTRACE, Story, explain, failing, squash, trace
import straceparse as sp

LOOP = ["sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; /bin/true"]

def numbers(text):
	"""Return the descriptors in "fds 3 to 5 and 7"."""
	out = set()
	for a, b in re.findall(r"(\d+)(?: to (\d+))?", text):
		out |= set(range(int(a), int(b or a) + 1))
	return out

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
	out = subprocess.run([PEVTRACE, PERF, "script", "-i", data, "-F", "period"], text=True,
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
	out = subprocess.run([PEVTRACE, PERF, "script", "-i", data, "--show-mmap-events"], text=True,
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
subprocess.run([PEVTRACE, "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"])
evlist.poll(timeout=100)
for i in range(10):
	for cpu in cpus:
		event = evlist.read_on_cpu(cpu)
		if event:
			print(event)
"""

def test_python(tap, tmp):
	python = "/usr/bin/python3"
	if subprocess.run([PEVTRACE, python, "-c", "import perf"], stderr=subprocess.DEVNULL).returncode:
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
		r = run(PEVTRACE, "--engine=" + engine, "--explain", sys.executable, "-c", LATE % nr)
		text, times = squash(r.stdout + r.stderr), re.search(r"times (\d+) (\d+)", r.stdout)
		if not times or int(times[2]) >= int(times[1]):
			tap.skip("software events, --engine=" + engine, "the member ran at once")
			continue
		tap.ok("1 of them has time_running below time_enabled without need of a counter" in text and
		       not re.search("took turns|multiplex|held by", text),
		       "software events take no turns, --engine=" + engine, [text])

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
	run(PEVTRACE, "--explain", "-o", told, "--json=" + dump, "/usr/bin/python3", "-c", FAILING,
	    "os.read(open_(), 8)")
	with open(told) as f:
		live = f.read()
	tap.ok(live.startswith("Summary\n") and live == explain([dump]).stdout,
	       "--explain tells live what explain tells of the dump", [live[:300]])
	r = run(PEVTRACE, "--explain=loud", "true")
	tap.ok(r.returncode == 2 and "brief" in r.stderr, "--explain takes words of its own")
	r = run(PEVTRACE, "--explain", "-o", told, "true")
	with open(told) as f:
		tap.ok(r.returncode == 0 and "nothing to explain" in squash(f.read()),
		       "a program without events")

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

def own_tests(tap, tmp):
	return [("late", lambda: test_late(tap)),
		("shape", lambda: test_shape(tap, tmp)),
		("hostile", lambda: test_hostile(tap, tmp)),
		("python", lambda: test_python(tap, tmp))]

def perf_tests(tap, tmp, tracefs):
	return [("record", lambda: test_record(tap, tmp)),
		("short", lambda: test_short(tap, tmp)),
		("multiplexed", lambda: test_multiplexed(tap)),
		("stat", lambda: test_stat(tap, tmp)),
		("groups", lambda: test_groups(tap, tmp)),
		("output", lambda: test_output(tap, tmp, tracefs))]

if __name__ == "__main__":
	sys.exit(rp.main("pevtrace-explain.", "perf record, perf stat and perf script", own_tests, perf_tests))
