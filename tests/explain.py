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
  short    the usual length: probes' purposes, lost records, against the calls
  page     sessions of many kinds: at most 40 lines of 80 columns
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
	page = "\n".join(story.chapters["Page"])
	m = re.search(r"Of (\d+) opens, (\d+) failed", page)
	got = m and (int(m.group(1)), int(m.group(2)))
	tap.ok(got == (len(opens) + len(dump.failures()), len(dump.failures())) or
	       not m and not dump.failures(),
	       "perf record: as many opens and refusals as were made",
	       [got, len(opens), len(dump.failures()), page])
	m = re.search(r"(\d+) events? w\w+ (?:a )?probes?, closed unused", page)
	tap.ok(int(m.group(1) if m else 0) == len(probes),
	       "as many probes as were never used", [page, len(probes)])
	told = re.findall(r"^Failed: .*: E[A-Z]+[^.]*, open \d+(?: and (\d+) more)?\.", page, re.M)
	tap.ok(sum(1 + int(n or 0) for n in told) == len(dump.failures()), "each refusal is told of",
	       [told, page])
	told = set()
	for line in story.chapters.get("Events opened", []):
		if re.match(r"\d+ opens? by ", line):
			for part in re.findall(r"\(fds? ([^)]*)\)", line):
				told |= numbers(part)
	want = {c["ret"] for c in opens if c["event"] in used}
	tap.ok(told == want, "every descriptor that stays has its purpose told", [told])
	tap.ok({int(row["FD"]) for row in story.table()} == want, "and a row in the table", [page])

def rings_told(tap, story, dump):
	maps = [c for c in dump.named("mmap") if "ring" in c]
	rows = story.table()
	want = {(c["args"]["fd"], "%d KiB" % ((c["args"]["length"] - 4096) // 1024)) for c in maps}
	tap.ok({(int(r["FD"]), r["RING"]) for r in rows} == want, "the rings that were mapped, and their sizes",
	       [rows, want])
	told = story.has("Page", r"(\d+) rings? pins? (\d+) KiB(?:, which|:) perf_event_mlock_kb allows")
	sizes = [c["args"]["length"] // 1024 for c in maps]
	tap.ok(told and (int(told[1]), int(told[2])) == (len(maps), sum(sizes)),
	       "the memory that they pin", [told and told[0], sizes])
	read = {c["args"]["fd"] for c in dump.named("read") if "event" in c}
	counted = {int(r["FD"]) for r in rows if r["COUNT"]}
	# perf reads each of them for a user without the kernel; a dummy counts nothing
	tap.ok(counted <= read, "only what was read has a count", [counted, read])

def threads_told(tap, story, dump):
	polls = {c["tid"] for c in dump.lines if c["kind"] in ("call", "enter") and
		 c.get("call") == "poll"}
	made = {c["ret"]: c["tid"] for c in dump.named("clone3", "clone")}
	page = "\n".join(story.chapters["Page"])
	told = {int(x) for x in re.findall(r"\[(\d+)\] waits with poll (?:\(\d+ ms at most\) )?for", page)}
	tap.ok(told == polls and polls, "who polls is who was seen to poll", [told, polls, page])
	for tid, parent in made.items():
		if tid in polls:
			tap.ok("Thread perf[%d] waits with poll " % tid in page and
			       re.search(r"perf\[%d\] \([\d.]+ ms\), a thread created by perf\[%d\] with clone"
					 % (tid, parent), page),
			       "what clone3 and poll were for: a thread that waits for rings", [page])
			break
	else:
		tap.skip("what clone3 was for", "this perf makes no thread")

def samples_told(tap, story, dump, data):
	out = subprocess.run([PEVTRACE, PERF, "script", "-i", data, "-F", "period"], text=True,
			     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.split()
	m = story.has("Page", r"high-resolution timer of (\d+) ns takes the sample")
	tap.ok(m and {m.group(1)} == set(out),
	       "a clock's samples come by a timer, at the period that perf script shows",
	       [m and m.group(0), set(out)])
	m = story.has("Page", r": (\d+) samples? in ([\d.]+) ms")
	tap.ok(m and int(m.group(1)) == len(out), "as many samples as perf wrote",
	       [m and m.group(0), len(out)])
	rate = story.has("Page", r"cpu-clock\S*, at 999 Hz: .* ms \((\d+) Hz\)")
	tap.ok(story.has("Page", ": at least ") or rate and m and
	       abs(int(rate[1]) - 1000 * int(m.group(1)) / float(m.group(2))) < 1,
	       "the rate that came, beside that which was asked for", [m and m[0], rate and rate[0]])
	room = story.has("Page", r"That of fd (\d+) holds about (\d+) records, ([\d.]+) (m?s) of samples\.")
	sizes = [x["record"]["size"] for x in dump.lines if x["kind"] == "record" and x["record"]["type"] != 2]
	tap.ok(room and abs(int(room[2]) * sum(sizes) / len(sizes) / (512 << 10) - 1) < 0.5,
	       "how many records a ring has room for", [room and room[0], len(sizes), sum(sizes)])
	rows = story.table()
	ns = sum(int(r["COUNT"].split()[0]) for r in rows if r["COUNT"])
	tap.ok(m and abs(ns / 1e6 - float(m.group(2))) < 0.001 and
	       sum(int(r["RECORDS"]) for r in rows) >= len(out), "and in what time of a CPU", [rows])
	tap.ok(story.has("Page", "no kprobe or tracepoint is involved") and
	       story.has("Page", "They are an estimate"),
	       "neither kprobes nor exactness is claimed")

def maps_told(tap, story, dump, data):
	out = subprocess.run([PEVTRACE, PERF, "script", "-i", data, "--show-mmap-events"], text=True,
			     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
	wrote = re.findall(r"PERF_RECORD_MMAP2? (-?\d+)/\d+: .*?\]: \S+ (.*?)\s*$", out, re.M)
	m = story.has("Page", r"^Side band: .* ask for mmap, mmap2, comm, task.*?: .*?(\d+) MMAP2? came")
	seen = [x for x in dump.lines if x["kind"] == "record" and x["record"]["type"] in (1, 10)]
	tap.ok(m and int(m[1]) == len(seen), "the mappings that the kernel told of", [m and m[0], len(seen)])
	# the mappings of the kernel, which not every user may see
	made = 0 if machine.lacks("kernel events") else 1
	tap.ok(m and int(m[1]) + made <= len(wrote) and "/proc/PID/maps" in story.text,
	       "perf.data has more: those that perf made itself", [m and m[1], len(wrote)])

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
	samples_told(tap, story, dump, data)
	maps_told(tap, story, dump, data)
	exe = [x for x in dump.lines if x["kind"] == "exec" and x.get("exe")]
	m = story.has("Page", r"([\d.]+) ms sh\[\d+\] executed (\S+), which enabled fds? ([\d, toand]+)$")
	tap.ok(m and m.group(2) in [x["exe"] for x in exe], "the exec that starts the events", [m, exe])
	start = dump.lines[0]["start_ns"]
	tap.ok(m and any(abs((x["ns"] - start) / 1e6 - float(m.group(1))) < 20 for x in exe),
	       "and when it was", [m, start, exe])
	if not any(c["args"].get("request_name") == "PERF_EVENT_IOC_ENABLE" for c in dump.named("ioctl")):
		return tap.skip("what the ioctls did", "this perf makes none")
	tap.ok(story.has("Page", r"perf\[\d+\] enabled fds? "), "what the ioctls did",
	       [story.chapters["Page"]])

def test_stat(tap, tmp):
	out = os.path.join(tmp, "stat.csv")
	events = ["task-clock", "page-faults", "context-switches", "cpu-migrations"]
	path, r = trace(tmp, "stat", [PERF, "stat", "-x,", "-o", out, "-e", ",".join(events)] + LOOP)
	story = Story(path)
	with open(out) as f:
		rows = [line.split(",") for line in f if line.count(",") > 3]
	told = {r["EVENT"].split(":")[0]: r for r in story.table()}
	for row in rows:
		value = told.get(row[2].split(":")[0], {}).get("COUNT", "-1").split()[0]
		same = abs(int(value) / 1e6 - float(row[0])) < 0.01 if row[1] == "msec" else \
			value == row[0]
		tap.ok(same, "perf stat: the count of " + row[2], [row, told])
	tap.ok(not story.has("Page", "Samples|Rings|lost") and
	       all(r["RUNNING"] == "100 %" for r in told.values()) and
	       not story.has("Page", "not counted"),
	       "no ring, no samples, exact counts", [story.text])

def test_groups(tap, tmp):
	path, r = trace(tmp, "group", [PERF, "stat", "-x,", "-o", "/dev/null", "-e",
				       "{task-clock,page-faults},cs", "true"])
	story, dump = Story(path), Dump(path)
	opens = dump.opens()
	leaders = {c["args"]["group_fd"] for c in opens} - {-1}
	told = {int(r["FD"]) for r in story.table() if r["GROUP"] == "leader"}
	tap.ok(told == leaders and leaders, "the leader of a group", [told, leaders])
	members = {c["ret"]: c["args"]["group_fd"] for c in opens if c["args"]["group_fd"] != -1}
	told = {int(r["FD"]): int(r["GROUP"][3:-2]) for r in story.table() if r["GROUP"].endswith("'s")}
	m = story.has("Page", r"opened fds? .*; fds? ([\d, toand]+), which counts? while (?:its|their) leader does$")
	tap.ok(m and numbers(m.group(1)) == set(members) and told == members, "members wait for their leader",
	       [m and m.group(0), told, members])

def test_output(tap, tmp, tracefs):
	if not tracefs:
		return tap.skip("redirected events", "no tracefs with sched:sched_switch")
	path, r = trace(tmp, "output", [PERF, "record", "-q", "-o", "/dev/null", "-e",
					"sched:sched_switch", "-e", "sched:sched_wakeup", "true"])
	story, dump = Story(path), Dump(path)
	calls = [c for c in dump.named("ioctl") if
		 c["args"].get("request_name") == "PERF_EVENT_IOC_SET_OUTPUT"]
	told = {(int(r["FD"]), int(r["RING"][3:-2])) for r in story.table() if r["RING"].endswith("'s")}
	tap.ok(told == {(c["args"]["fd"], c["args"]["arg"]) for c in calls} and told,
	       "events that write into others' rings", [told, calls])
	tap.ok(story.has("Page", "each hit of the tracepoint counts once") and
	       not story.has("Page", "no kprobe or tracepoint"),
	       "tracepoints sample at their hits", [story.chapters["Page"]])

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
	tap.ok(story.has("Page", r"^Side band: fds [^;]* ask for comm, task: [^;]* came\.$") and
	       not story.has("Page", "mmap2?,| MMAP2? came"), "which records there are", [story.text])
	tap.ok(story.has("Page", "sampled every task with cpu-clock") and
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
	if any(c["args"]["attr_uptr"]["comm_exec"] for c in dump.opens() if c["event"] not in dump.used()):
		tap.ok(all(re.search(r"^Probes test .*comm_exec \(Linux 3\.16\)\.$", s.text, re.M)
			   for s in (story, full)), "what a probe of perf is for", [story.text])
	lost = [v["lost"] for c in dump.named("read") for v in c["args"].get("buf", {}).get("values", [])
		if isinstance(v, dict) and "lost" in v]
	if lost and not sum(lost):
		tap.ok(re.search(r"^[^.]* samples? in [\d.]+ ms.*, none lost\.", squash(story.text)),
		       "records lost: none is told as none", [story.text[:700]])

# Sessions whose explanation fits a page.
RING = """
fd = open_(period=100000, sample=3, flags=1 << 5 | 1 << 27)
m = mmap.mmap(fd, 3 * 4096, prot=mmap.PROT_READ)
for i in range(300000): pass
for i in (1, 0): fcntl.ioctl(fd, 0x40042409, i)
m.close()
"""
GROUP = """
fd = open_(config=1, read=15, flags=33)
for i in range(3): open_(config=2 + i, read=15, group=fd)
fcntl.ioctl(fd, 0x2400, 0)
os.read(fd, 200)
"""
REFUSED = """
open_(config=77); open_(cpu=7777); open_(pid=-1); open_(group=99); open_(fl=64)
open_(flags=1 << 60); open_(period=1 << 63); open_(sample=1 << 50); open_(read=1 << 40)
"""
INHERIT = """
fd = open_(config=1, read=3, flags=34)
if not os.fork(): os._exit(0)
os.wait(); os.read(fd, 24)
"""

def page_fits(tap, name, path):
	r = explain(["--width=80", path])
	lines = r.stdout.split("\n")[:-1]
	tap.ok(not r.returncode and 4 < len(lines) <= 40 and max(map(len, lines)) <= 80,
	       "%s: explained in %d lines of 80 columns" % (name, len(lines)), [r.stdout, r.stderr])
	return squash(r.stdout)

def test_page(tap, tmp):
	for name, code in (("group", GROUP), ("failing opens", REFUSED), ("inherit", INHERIT)):
		page_fits(tap, name, failing(tmp, name.split()[0], code)[0])
	machine.need("restricted users")
	path = failing(tmp, "ring", RING)[0]
	text = page_fits(tap, "overwritten ring", path)
	tap.ok(re.search(r"[\d.]+ ms python3\[\d+\] paused output of fd \d+ .*[\d.]+ ms python3\[\d+\] "
			 r"resumed output of fd", text), "who paused a ring, and when", [text])
	seen = [int(n) for n in re.findall(r"pevtrace saw (\d+) SAMPLE records? of ", text)]
	tap.ok(sum(seen) == sum(x["record"]["type"] == 9 for x in Dump(path).lines if x["kind"] == "record"),
	       "the samples that were seen before and after", [seen, text])

def test_page_perf(tap, tmp, tracefs):
	data = os.path.join(tmp, "page.data")
	record = [PERF, "record", "-q", "-o", data, "-e", "cpu-clock"]
	for name, argv in (("stat", [PERF, "stat", "-o", "/dev/null", "true"]),
			   ("record", record + ["true"]), ("record -g", record + ["-g", "true"]),
			   ("record -a", record + ["-a", "true"]),
			   ("lost records", record + ["-m", "1", "-c", "10000"] + LOOP),
			   ("record of cycles", [PERF, "record", "-q", "-o", data, "true"]),
			   ("trace", [PERF, "trace", "-o", "/dev/null", "true"] if tracefs else
			    [PERF, "record", "-q", "-o", data, "-e", "cpu-clock,page-faults,cs", "true"])):
		path, r = trace(tmp, "page", argv)
		if r.returncode and not Dump(path).opens():
			tap.skip("%s: explained in a page" % name, "perf fails: " + r.stderr[-200:])
			continue
		text = page_fits(tap, name, path)
		if name == "lost records":
			lost = sum(x["record"]["lost"] for x in Dump(path).lines if x["kind"] == "record" and
				   x["record"]["type"] == 2)
			# reads tell of more than the records that were seen
			m = re.match(r"[^:]*: [^:]*\. cpu-clock\S* cpu\d+(?: and \d+ more)?: lost (\d+) .*?: "
				     r"ring of 4 KiB(?:; try | was full \d+ times?, for up to \d+ records?; )", text)
			tap.ok(not lost or m and int(m[1]) >= lost,
			       "what was lost is the second sentence", [lost, text])

# What perf stat printed in the run of tests/multiplexed.json: 64-bit ARM, qemu's PMU, Linux 6.1.
STAT = {3: (598514424, 50.15), 4: (299257212, 50.15), 5: (299257212, 50.15), 7: (299257212, 50.15),
	8: (299238190, 49.85), 9: (299238190, 49.85), 10: (299238190, 49.85), 11: (299238190, 49.85)}

def test_multiplexed(tap):
	"""Two groups that need more counters than there are."""
	text = squash(explain([os.path.join(HERE, "multiplexed.json")]).stdout)
	rows = Story(os.path.join(HERE, "multiplexed.json"), []).table()
	told = {int(r["FD"]): (int(r["SCALED"]), float(r["RUNNING"].split()[0])) for r in rows}
	tap.ok(told.keys() == STAT.keys() and all(
		told[fd][0] == STAT[fd][0] and abs(told[fd][1] - STAT[fd][1]) <= 0.06 for fd in STAT),
	       "scaled counts and shares of the time are those of perf stat", [repr(told), text])
	tap.ok([r["GROUP"] for r in rows] == ["leader", "leader"] + ["fd 3's"] * 3 + ["fd 8's"] * 3 and
	       re.search(r"and 7 more: ran 49\.8 % of the time: events took turns", text),
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
		tap.ok("COUNT" in text and not re.search("took turns|multiplex|held by|SCALED", text),
		       "software events take no turns, --engine=" + engine, [text])

def too_long(text, width):
	"""Return lines that are too long although they could be broken."""
	return [x for x in text.split("\n") if len(x) > width and " " in x.strip()[2:]]

def test_shape(tap, tmp):
	path, r = failing(tmp, "shape", "os.read(open_(), 8); open_(config=77)")
	usual, deep = (explain(a + [path]).stdout for a in ([], ["--deep"]))
	tap.ok(len(usual) < len(deep), "--deep is longer", [len(usual), len(deep)])
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
	tap.ok(re.match(r"python3\S* counted cpu-clock", live) and live == explain([dump]).stdout,
	       "--explain tells live what explain tells of the dump", [live[:300]])
	r = run(PEVTRACE, "--explain=loud", "true")
	tap.ok(r.returncode == 2 and "deep" in r.stderr, "--explain takes words of its own")
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
	       "EVENT" in r.stdout, "escapes in names stay escaped", [r.stdout[:400], r.stderr])
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
		("page", lambda: test_page(tap, tmp)),
		("python", lambda: test_python(tap, tmp))]

def perf_tests(tap, tmp, tracefs):
	return [("record", lambda: test_record(tap, tmp)),
		("short", lambda: test_short(tap, tmp)),
		("multiplexed", lambda: test_multiplexed(tap)),
		("stat", lambda: test_stat(tap, tmp)),
		("groups", lambda: test_groups(tap, tmp)),
		("pages", lambda: test_page_perf(tap, tmp, tracefs)),
		("output", lambda: test_output(tap, tmp, tracefs))]

if __name__ == "__main__":
	sys.exit(rp.main("pevtrace-explain.", "perf record, perf stat and perf script", own_tests, perf_tests))
