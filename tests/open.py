#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace open, compared with other programs:

  syntax   perf stat opens the same attrs for the same words, as a trace of it
           shows: type, config, config1, config2, breakpoint, exclusions
  same     its calls print as a trace of pevtrace open prints them, and pevtrace
           decode prints them out of its dump
  counts   perf stat counts the same on the same process, at the same time;
           tests/targets/counted makes known numbers of faults and writes happen
  rings    samples and lost ones are as many as were counted, forward and back
  command  exit status, signals, SIGINT, progress, what is closed and unmapped
  limits   descriptors, locked memory, an ordinary user
"""

import collections
import errno
import json
import os
import pty
import re
import resource
import shlex
import signal
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import machine
import perf_event as pe
import ringparse as rp
import straceparse as sp

PEVTRACE, PERF = rp.PEVTRACE, rp.PERF

# ---- running ------------------------------------------------------------------

class Opened:
	"""A finished pevtrace open: .lines .figures .out .status"""

	def __init__(self, args, **how):
		full = dict(os.environ, LC_ALL="C")
		r = subprocess.run([PEVTRACE, "open"] + args, env=full, text=True,
				   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
				   stderr=subprocess.PIPE, timeout=300, errors="replace",
				   **how)
		self.status, self.out, self.err = r.returncode, r.stdout, r.stderr
		self.figures, self.lines = split(r.stderr)

FIGURE = re.compile(r"(?=.{20}  ) *(\d+|<not \w+>)  (\S+)(?: /\*|$)")
SECONDS = re.compile(r" *\d+\.\d{9}  seconds$")

def split(text):
	"""Return the counts by name, and the other lines."""
	figures, lines = collections.OrderedDict(), []
	for line in text.split("\n"):
		m = FIGURE.match(line)
		if m:
			n = m.group(1)
			figures[m.group(2)] = int(n) if n.isdigit() else n
		elif line and not SECONDS.match(line):
			lines.append(line)
	return figures, lines

def attrs_of(dump):
	"""Return the attrs that a dump's opens passed, as bytes, with pid and errno."""
	out = []
	for line in open(dump, errors="surrogateescape"):
		o = json.loads(line)
		if o.get("call") != "perf_event_open":
			continue
		raw = [int(a, 16) for a in o["raw"]]
		mem = [m for m in o.get("memory", []) if int(m["addr"], 16) == raw[0]
		       and m["at"] == "enter"]
		if mem:
			pid = struct.unpack("i", struct.pack("I", raw[1] & 0xffffffff))[0]
			group = struct.unpack("i", struct.pack("I", raw[3] & 0xffffffff))[0]
			out.append((bytes.fromhex(mem[0]["hex"]), pid, group,
				    o.get("errno", 0)))
	return out

# Bits of the word at offset 40 that decide where and how an event counts.
BITS = {"pinned": 2, "exclusive": 3, "exclude_user": 4, "exclude_kernel": 5,
	"exclude_hv": 6, "exclude_idle": 7, "precise_ip/1": 15, "precise_ip/2": 16,
	"exclude_host": 19, "exclude_guest": 20}

def meaning(attr):
	"""Return the parts of an attr on which perf and pevtrace must agree."""
	attr = attr.ljust(136, b"\0")
	word = struct.unpack_from("Q", attr, 40)[0]
	out = {name: word >> bit & 1 for name, bit in BITS.items()}
	out["type"], = struct.unpack_from("I", attr, 0)
	out["config"], = struct.unpack_from("Q", attr, 8)
	out["bp_type"], = struct.unpack_from("I", attr, 52)
	out["config1"], out["config2"] = struct.unpack_from("QQ", attr, 56)
	return out

# ---- syntax --------------------------------------------------------------------

WORDS = """cpu-cycles cycles instructions cache-references cache-misses branches
branch-instructions branch-misses bus-cycles stalled-cycles-frontend
idle-cycles-frontend stalled-cycles-backend idle-cycles-backend ref-cycles
cpu-clock task-clock page-faults faults minor-faults major-faults
context-switches cs cpu-migrations migrations alignment-faults emulation-faults
dummy bpf-output cgroup-switches
L1-dcache-loads L1-dcache-load-misses L1-dcache-stores L1-dcache-store-misses
L1-dcache-prefetches L1-icache-loads L1-icache-load-misses LLC-loads
LLC-load-misses LLC-stores LLC-store-misses LLC-prefetch-misses dTLB-loads
dTLB-load-misses dTLB-stores dTLB-store-misses iTLB-loads iTLB-load-misses
branch-loads branch-load-misses node-loads node-load-misses node-stores
node-prefetches L1-dcache LLC dTLB-misses-store LLC-load-refs bpu-access
r1a8 r0 rffffffffffffffff rC0 1:2 1:9
cycles:u cycles:k cycles:h cycles:uk cycles:ku cycles:uh cycles:ukh cycles:G
cycles:H cycles:GH cycles:uG cycles:I cycles:p cycles:pp cycles:ppp cycles:up
cycles:D cycles:e cycles:uDe cpu-clock:u cs:k page-faults:uI instructions:kppp
mem:0x1000 mem:0x1000:r mem:0x1000:w mem:0x1000:rw mem:0x1000:x mem:0x1000:wr
mem:0x1000/8 mem:0x1000/2:w mem:0x1000/1:rw mem:4096:u mem:0x1000:rw:u
mem:0x1000/8:w:k
cycles/period=1000/ cycles/config1=3/ cycles/config1=3,config2=4/u
software/config=3/ software/config=2/u tracepoint/config=370/""".split()

# With the requirement of each.
HERE_ONLY = [
	("msr", ["msr/tsc/", "msr/tsc/u", "msr/event=0/", "msr/config=0/", "tsc",
		 "msr/config=0x4,name=mine/", "msr/event=0x10,config1=2/k"]),
	("uprobe", ["uprobe/retprobe,config1=0x1000/", "uprobe/config=1/",
		    "uprobe/ref_ctr_offset=0x1234,retprobe/"]),
	("breakpoint", ["breakpoint/config=1/"]),
	("cpu", ["cpu/event=0x3c/", "cpu/event=0x3c,umask=1/u", "cpu/cpu-cycles/"]),
]
POINTS = ["sched:sched_switch", "sched:sched_switch:u", "sched:sched_wakeup:k",
	  "signal:signal_generate", "irq:irq_handler_entry", "sched:sched_process_*"]
GROUPS = ["{cpu-clock,page-faults}", "{cpu-clock,page-faults:k}:u",
	  "{cycles:u,instructions}:D", "cs,{cpu-clock,faults},dummy",
	  "{cpu-clock,cs},{faults,dummy}:k"]

def first_attempts(attrs, n):
	"""Return the first open of each event: later ones with the same type and config
	are retries or other threads."""
	out, last = [], None
	for attr, pid, group, errno in attrs:
		key = attr[:4] + attr[8:16] + attr[52:72]
		retried = last is not None and last[0] == key and last[1]
		last = (key, errno)
		if pid > 0 and not retried:
			out.append((attr, group))
	return out[:n]

def opens_of(tmp, args, n):
	dump = os.path.join(tmp, "syntax.json")
	subprocess.run(args(dump), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
		       stderr=subprocess.DEVNULL, timeout=300)
	got = first_attempts(attrs_of(dump), n)
	os.unlink(dump)
	return got

def compare_syntax(tmp, text, n, guests):
	"""Return the differences between perf's attrs and ours, as lines; or None if perf
	does not accept the text. guests: perf, as 7.2, measures virtual machines, too, unless
	it is told not to."""
	theirs = opens_of(tmp, lambda d: [PEVTRACE, "--json=" + d, "-o", "/dev/null", PERF,
					  "stat", "-e", text, "true"], n)
	ours = opens_of(tmp, lambda d: [PEVTRACE, "open", "--json=" + d, "-o", "/dev/null",
					"-e", text, "true"], n)
	if not theirs:
		return None
	wrong = [] if len(ours) == len(theirs) else \
		["%d opens, perf has %d" % (len(ours), len(theirs))]
	for i, ((a, agroup), (b, bgroup)) in enumerate(zip(theirs, ours)):
		a, b = meaning(a), meaning(b)
		if guests and not re.search(":[a-z]*[GH]", text):
			a["exclude_guest"] = b["exclude_guest"]
		wrong += ["event %d: %s: perf 0x%x, pevtrace 0x%x" % (i, k, a[k], b[k])
			  for k in a if a[k] != b[k]]
		if (agroup < 0) != (bgroup < 0):
			wrong.append("event %d: group_fd: perf %d, pevtrace %d" %
				     (i, agroup, bgroup))
	return wrong

def members_of(text):
	return len([w for w in re.split(r"[{},]", re.sub(r"/.*?/", "", text))
		    if w and not w.startswith(":")])

def test_syntax(tap, tmp, tracefs):
	texts = [(w, 1) for w in WORDS] + [(g, members_of(g)) for g in GROUPS]
	for pmu, words in HERE_ONLY:
		if os.path.exists("/sys/bus/event_source/devices/" + pmu):
			texts += [(w, 1) for w in words]
	if tracefs:
		texts += [(w, 1 if "*" not in w else 99) for w in POINTS]
	wrong, untaken = [], []
	guests = bool(compare_syntax(tmp, "cpu-clock", 1, False))
	for text, n in texts:
		why = compare_syntax(tmp, text, n, guests)
		if why is None:
			untaken.append(text)
		else:
			wrong += ["%s: %s" % (text, w) for w in why]
	tap.ok(not wrong, "%d event strings: the attrs that perf opens for them" %
	       (len(texts) - len(untaken)), wrong)
	# perf may refuse few of them, or nothing is compared
	tap.ok(len(untaken) <= 3, "perf takes them, too", untaken)

SAMPLE_READ, SAMPLE_ID, SAMPLE_IDENTIFIER, SAMPLE_CPU = 1 << 4, 1 << 6, 1 << 16, 1 << 7
FORMAT_ID, FORMAT_GROUP = 4, 8

def leader_sampling(attr):
	"""What :S decides: who samples, and which counts are in the samples.  perf asks
	for ids in another place, and for the CPU of one event where it opens on each."""
	config, freq, sample_type, read_format, word = struct.unpack_from("QQQQQ", attr, 8)
	return {"type": struct.unpack_from("I", attr)[0], "config": config,
		"sample_freq": freq, "freq": word >> 10 & 1, "inherit": word >> 1 & 1,
		"sample_type": sample_type & ~(SAMPLE_ID | SAMPLE_IDENTIFIER | SAMPLE_CPU),
		"read_format": read_format & (FORMAT_ID | FORMAT_GROUP)}

def opened_once(args, dump):
	"""Return the attrs opened for a task, each type and config once."""
	subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
		       stderr=subprocess.DEVNULL, timeout=300)
	out = collections.OrderedDict()
	for attr, pid, group, errno in attrs_of(dump):
		if not errno and pid > 0:
			out.setdefault(attr[:4] + attr[8:16], leader_sampling(attr))
	os.unlink(dump)
	return list(out.values())

def test_leader_sampling(tap, tmp):
	dump, data = os.path.join(tmp, "s.json"), os.path.join(tmp, "s.data")
	wrong = []
	for text in ("{cpu-clock,page-faults}:S", "{cpu-clock:u,page-faults,cs}:S", "cpu-clock:S",
		     "{task-clock,cs:u}:Su"):
		theirs = opened_once([PEVTRACE, "--json=" + dump, "-o", "/dev/null", PERF,
				      "record", "-o", data, "-e", text, "true"], dump)
		ours = opened_once([PEVTRACE, "open", "--json=" + dump, "-o", "/dev/null",
				    "--mmap", "16", "-e", text, "true"], dump)
		for a, b in zip(theirs, ours):
			b["inherit"] |= a["inherit"]	# perf 7.2 inherits where Linux 6.13 can
		if not ours or theirs != ours:
			wrong.append("%s: perf %s, pevtrace %s" % (text, theirs, ours))
		theirs = opened_once([PEVTRACE, "--json=" + dump, "-o", "/dev/null", PERF, "stat",
				      "-e", text, "true"], dump)
		ours = opened_once([PEVTRACE, "open", "--json=" + dump, "-o", "/dev/null",
				    "-e", text, "true"], dump)
		# perf stat asks for no id of an event without a group
		strip = lambda l: [{k: v for k, v in a.items() if k != "sample_type" and
				    (k != "read_format" or len(l) > 1)} for a in l]
		if not ours or strip(theirs) != strip(ours):
			wrong.append("stat %s: perf %s, pevtrace %s" % (text, theirs, ours))
	if os.path.exists(data):
		os.unlink(data)
	tap.ok(not wrong, "events with :S are opened as perf record and perf stat open them", wrong)

def test_group_samples(tap):
	o = Opened(["-e", "{page-faults,sample_period=50,sample_type=IP|TID|TIME,minor-faults}:S", "--mmap",
		    "64", "--", rp.target("counted"), "2000", "0", "0"])
	# with PERF_SAMPLE_PERIOD the kernel writes a sample for each fault
	values = [[int(v) for v in re.findall(r"\{value=(\d+)", l)] for l in o.lines
		  if "PERF_RECORD_SAMPLE" in l]
	tap.ok(o.status == 0 and len(values) >= 40 and all(len(v) == 2 for v in values) and
	       [v[0] for v in values] == list(range(50, 50 * len(values) + 1, 50)) and
	       values[-1][1] <= o.figures["minor-faults"],
	       "the leader's samples have the counts of the group", [values[:3], o.err[-500:]])
	reads = re.findall(r"^read\(.*nr=2.*$", o.err, re.M)
	tap.ok(len(reads) == 1 and len(re.findall(r"^read\(", o.err, re.M)) == 1,
	       "and one read has the figures of all", [reads])
	for args in (["-e", "cpu-clock,sample_type=READ"], ["-e", "cpu-clock:S"],
		     ["-e", "{cpu-clock,cs,sample_type=READ}"],
		     ["-e", "cpu-clock,sample_type=READ", "--mmap", "4"]):
		o = Opened(args + ["true"])
		tap.ok(o.status == 0 and "EINVAL" not in o.err, "%s opens" % " ".join(args),
		       [o.err[-400:]])

def test_members(tap, tmp):
	dump = os.path.join(tmp, "members.json")
	o = Opened(["--json=" + dump, "-o", "/dev/null", "-e",
		    "cpu-clock,sample_freq=999,sample_type=IP|TID,exclude_kernel,"
		    "read_format=ID,inherit=0,size=112", "true"])
	attr = attrs_of(dump)[0][0]
	word, = struct.unpack_from("Q", attr, 40)
	got = struct.unpack_from("IIQQQQ", attr, 0)
	tap.ok(o.status == 0 and got == (1, 112, 0, 999, 3, 4) and word >> 5 & 1 and
	       word >> 10 & 1 and not word >> 1 & 1,
	       "members are given as written, and defaults give way",
	       [got, hex(word), o.err])
	for text, at, words in (
		("cpu-clok", 1, "did you mean cpu-clock?"),
		("dummy,sampl_type=IP", 7, "did you mean sample_type?"),
		("dummy,sample_type=IPP", 19, "did you mean IP?"),
		("{dummy", 1, "expected }"),
		("nosuchpmu/x/", 1, "unknown PMU or event"),
		("", 1, "expected an event")):
		o = Opened(["-e", text, "true"])
		lines = o.err.strip("\n").split("\n")
		tap.ok(o.status == 2 and len(lines) == 1 and words in lines[0] and
		       "at character %d:" % at in lines[0],
		       "'%s' is refused where it is wrong" % text, lines)

# ---- the same ---------------------------------------------------------------------

OURS = re.compile(r"(?:\d+ +|\[pid +\d+\] )?((perf_event_open|ioctl|mmap|munmap|read|close)\(.*)")
# After EACCES or EPERM pevtrace open calls with an unknown flag, to learn whether the kernel or a
# filter refuses.  That opens no event, and its output does not list the call.
TRIAL = re.compile(r", 0x40000000 /\* PERF_FLAG_\?\?\? \*/\)")

def test_same(tap, tmp):
	trace, text = os.path.join(tmp, "trace"), os.path.join(tmp, "text")
	dump, of_trace = os.path.join(tmp, "dump"), os.path.join(tmp, "dump-of-trace")
	for name, args in (
		("counting", ["-e", "{cpu-clock,page-faults},cs:u", "true"]),
		("sampling", ["-e", "page-faults,dummy", "--mmap", "4", "true"]),
		("failing", ["-e", "dummy,type=77", "-e", "dummy"])):
		subprocess.run([PEVTRACE, "-o", trace, "--json=" + of_trace, PEVTRACE,
				"open", "-o", text,
				"--json=" + dump] + args, stderr=subprocess.DEVNULL,
			       stdin=subprocess.DEVNULL, timeout=300)
		all_lines = split(open(text).read())[1]
		own = [m.group(1) for m in map(OURS.match, all_lines) if m]
		seen = [m.group(1) for m in map(OURS.match, open(trace)) if m and not TRIAL.search(m[1])]
		tap.ok(len(own) > 3 and own == seen, name + ": calls print as a trace has them",
		       ["%d and %d lines" % (len(own), len(seen))] +
		       ["own  %s\ntrace %s" % p for p in zip(own, seen) if p[0] != p[1]][:3])
		compare_dumps(tap, name, dump, of_trace)
		r = subprocess.run([PEVTRACE, "decode"] +
				   (["--records"] if name == "sampling" else []) + [dump],
				   stdout=subprocess.PIPE, text=True, timeout=300)
		again = [l for l in r.stdout.split("\n") if l]
		plain = [re.sub(r"^\d+ +", "", l) for l in all_lines]
		tap.ok(r.returncode == 0 and again == plain,
		       name + ": decode prints them out of the dump",
		       ["own    %s\ndecode %s" % p for p in zip(plain, again)
			if p[0] != p[1]][:3] + [len(plain), len(again)])
		opened, closed = set(), set()
		maps = 0
		for line in own:
			m = re.match(r"perf_event_open\(.* = (\d+)", line)
			if m:
				opened.add(m.group(1))
			m = re.match(r"close\((\d+)\) = 0", line)
			if m:
				closed.add(m.group(1))
			maps += line.startswith("mmap") - line.startswith("munmap")
		tap.ok(opened and opened == closed and maps == 0,
		       name + ": every descriptor and mapping is freed", own)
		rp.check_schema(tap, name, dump)

CALLS = ("perf_event_open", "ioctl", "mmap", "munmap", "read", "close")

def calls_of(dump):
	"""Return the calls of a dump without what differs from run to run."""
	out = []
	for line in open(dump, errors="surrogateescape"):
		o = json.loads(line)
		if o["kind"] == "call" and o["call"] in CALLS and o["raw"][4:5] != ["0x40000000"]:
			for key in [k for k in o if k.endswith("_ns")] + ["event"]:
				o.pop(key, None)
			out.append(o)
	return out

def compare_dumps(tap, name, ours, traced):
	"""Compare arguments, raw and decoded, memory and results."""
	a, b = calls_of(ours), calls_of(traced)
	tap.ok(len(a) > 3 and a == b, name + ": and a dump has them as a dump of that trace",
	       ["%d and %d calls" % (len(a), len(b))] +
	       ["own   %s\ntrace %s" % p for p in zip(a, b) if p[0] != p[1]][:2])

# ---- counts ------------------------------------------------------------------------

class Counted:
	"""tests/targets/counted, which waits for go()."""

	def __init__(self, pages, writes, children):
		self.p = subprocess.Popen([rp.target("counted"), str(pages), str(writes),
					   str(children)], stdin=subprocess.PIPE,
					  stdout=subprocess.PIPE, text=True)
		self.pid, self.addr = self.p.stdout.readline().split()

	def go(self):
		self.p.stdin.write("x")
		self.p.stdin.flush()
		self.p.wait(300)

def perf_counts(text, words):
	"""Return the counts of perf stat -x, of these events, in their order."""
	lines = [line.split(",") for line in text.split("\n")]
	counts = [float(p[0]) for p in lines
		  if len(p) > 3 and re.match(r"[\d.]+$", p[0])]
	return dict(zip(words, counts)) if len(counts) == len(words) else {}

def test_counts(tap, tmp, tracefs):
	pages, writes = 1500, 777
	t = Counted(pages, writes, 3)
	watched = "mem:%s/8:w" % t.addr
	words = ["page-faults", "minor-faults", "context-switches", watched, "task-clock"]
	if tracefs:
		words += ["sched:sched_process_fork", "sched:sched_process_exec",
			  "sched:sched_switch"]
	theirs = os.path.join(tmp, "perf.csv")
	perf = subprocess.Popen([PERF, "stat", "-x,", "-o", theirs, "-e", ",".join(words),
				 "-p", t.pid], stderr=subprocess.DEVNULL)
	ours = subprocess.Popen([PEVTRACE, "open", "-q", "-e", ",".join(words), "-p", t.pid],
				stderr=subprocess.PIPE, text=True)
	ready = rp.holds_events(perf.pid, len(words)) and rp.holds_events(ours.pid, len(words))
	t.go()
	err = ours.communicate(timeout=300)[1]
	perf.wait(300)
	got, want = split(err)[0], perf_counts(open(theirs).read(), words)
	wrong = []
	for word in words:
		if word == "task-clock":
			# perf has it in ms
			a, b = got.get(word, 0) / 1e6, want.get(word, 0)
			if not 0 < a or abs(a - b) > 0.1 * b + 1:
				wrong.append("%s: %s ms, perf %s" % (word, a, b))
		elif word not in got or got[word] != want.get(word):
			wrong.append("%s: %s, perf %s" % (word, got.get(word),
							  want.get(word)))
	tap.ok(ready and not wrong, "-p: the counts of a perf stat that ran beside it",
	       wrong + [err])
	if machine.lacks("breakpoints"):
		tap.skip("a breakpoint counts every write", machine.lacks("breakpoints"))
	else:
		tap.ok(got.get(watched) == writes, "a breakpoint counts every write",
		       [got.get(watched), writes])
	tap.ok(pages <= got.get("page-faults", 0) < pages + 1500,
	       "every page that was touched was counted", [got.get("page-faults")])
	if tracefs:
		tap.ok(got.get("sched:sched_process_fork") == 3 and
		       got.get("sched:sched_process_exec") == 3,
		       "children are counted, too", [got])

def test_command_counts(tap, tracefs):
	"""Run once under each: frequent events may differ by a few."""
	words = "page-faults,minor-faults" + (",sched:sched_process_exec" if tracefs else "")
	argv = [rp.target("counted"), "3000", "0", "2"]
	r = subprocess.run([PERF, "stat", "-x,", "-e", words] + argv, text=True,
			   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
			   stderr=subprocess.PIPE, timeout=300)
	want = perf_counts(r.stderr, words.split(","))
	got = Opened(["-q", "-e", words, "--"] + argv).figures
	wrong = ["%s: %s, perf %s" % (k, got.get(k), v) for k, v in want.items()
		 if abs(got.get(k, 0) - v) > (0 if "sched" in k else 15)]
	tap.ok(len(want) >= 2 and not wrong, "a command: what perf stat counts for it", wrong)

# ---- rings -----------------------------------------------------------------------------

def test_rings(tap):
	argv = [rp.target("counted"), "2000", "0", "1"]
	o = Opened(["-q", "-e", "page-faults,sample_period=1,sample_type=ADDR", "--mmap", "256",
		    "--"] + argv)
	seen = rp.records(o.lines)
	samples = [r for r in seen if r.type == "SAMPLE"]
	tap.ok(o.status == 0 and len(samples) == o.figures.get("page-faults") > 2000,
	       "a sample for every fault that was counted",
	       [len(samples), o.figures, o.err[-300:]])
	kinds = collections.Counter(r.type for r in seen)
	tap.ok(kinds["COMM"] == 2 and kinds["FORK"] == 1 and kinds["EXIT"] == 2 and
	       kinds["MMAP2"] > 4, "and the records beside them", [kinds])
	o = Opened(["-q", "-e", "page-faults,sample_period=1", "--mmap", "256", "--"] + argv)
	times = [r.n("time") for r in rp.records(o.lines) if r.n("time")]
	tap.ok(len(times) > 2000 and times == sorted(times), "in the order of their times")
	# a ring of one page fills faster than it is read
	o = Opened(["-e", "page-faults,sample_period=1,inherit=0,mmap=0,mmap2=0,comm=0,"
		    "task=0,comm_exec=0,read_format=LOST", "--mmap", "1", "--"] + argv)
	n = sum(r.type == "SAMPLE" for r in rp.records(o.lines))
	lost = sum(int(m.group(1)) for m in re.finditer(r"^read\(.*lost=(\d+)", o.err, re.M))
	if "EINVAL" in o.err:
		tap.skip("a ring that is too small", "no PERF_FORMAT_LOST before 6.0")
	else:
		tap.ok(n > 0 and lost > 0 and n + lost == o.figures["page-faults"],
		       "a ring that is too small: samples and lost ones add up",
		       [n, lost, o.figures])
		tap.ok(o.figures.get("lost") == lost and " lost /* records" in o.err,
		       "the sum is told", [lost, o.figures])
	o = Opened(["-q", "-e", "page-faults,sample_period=1,inherit=0", "--mmap", "1", "--"] + argv)
	told = sum(r.n("lost") for r in rp.records(o.lines) if r.type == "LOST")
	tap.ok(0 < told <= o.figures.get("lost", 0), "without being asked for, too",
	       [told, o.figures])
	o = Opened(["-q", "-e", "page-faults,sample_period=1,inherit=0", "--mmap", "256", "--"] + argv)
	tap.ok(o.status == 0 and "lost" not in o.figures, "and nothing where nothing was lost",
	       [o.figures])
	o = Opened(["-q", "-e", "page-faults,sample_period=1,write_backward", "--mmap", "256",
		    "--"] + argv)
	back = [r for r in rp.records(o.lines) if r.type == "SAMPLE"]
	tap.ok(len(back) == o.figures.get("page-faults") > 2000,
	       "a backward ring: a sample for every fault, too",
	       [len(back), o.figures, o.err[-300:]])
	o = Opened(["-q", "-e", "page-faults,sample_period=1,write_backward,inherit=0",
		    "--mmap", "1", "--"] + argv)
	back = sum(r.type == "SAMPLE" for r in rp.records(o.lines))
	missed = sum(int(m.group(1)) for m in
		     re.finditer(r"(\d+) bytes were overwritten", o.err))
	# ip, tid, time, period and the header: 40 bytes each
	tap.ok(back > 0 and missed > 0 and
	       abs(back + missed // 40 - o.figures["page-faults"]) < 40,
	       "a small backward ring has the newest, and says what was overwritten",
	       [back, missed, o.figures])

def test_shared_ring(tap):
	o = Opened(["-q", "-e", "page-faults,sample_period=1", "-e",
		    "cpu-clock,sample_period=100000", "--mmap", "128", "--",
		    rp.target("counted"), "2000", "0", "0"])
	by = collections.Counter(re.split("[: ]", r.event)[0] for r in rp.records(o.lines)
				 if r.type == "SAMPLE")
	tap.ok(by["page-faults"] == o.figures["page-faults"] and by["cpu-clock"] > 0 and
	       "?>" not in o.err, "two events in a ring: each record by its event",
	       [by, o.figures])

# ---- the command -------------------------------------------------------------------------

def test_command(tap):
	o = Opened(["-q", "-e", "cs", "--", "sh", "-c", "echo hello; exit 7"])
	tap.ok(o.status == 7 and o.out == "hello\n", "the exit status of the command",
	       [o.status, o.out, o.err])
	o = Opened(["-q", "-e", "cs", "--", "sh", "-c", "kill -TERM $$"])
	tap.ok(o.status == -signal.SIGTERM and "cs" in o.figures, "death by its signal",
	       [o.status, o.err])
	o = Opened(["-e", "cs", "/nonexistent/program"])
	tap.ok(o.status == 2 and "cannot run '/nonexistent/program'" in o.err,
	       "a command that does not exist", [o.status, o.err])
	o = Opened(["-q", "-e", "type=77"] + ["sh", "-c", "echo ran"])
	tap.ok(o.status == 2 and o.out == "" and "cannot open" in o.err,
	       "no command is run where nothing could be opened", [o.status, o.out, o.err])
	o = Opened(["-q", "-e", "type=77,config=1,{cs,faults}", "true"])
	tap.ok(o.status == 0 and o.figures.get("type=77") == "<not opened>" and
	       isinstance(o.figures.get("cs"), int), "what can be opened is counted",
	       [o.figures, o.err])

def ran_ns(pid):
	"""Return the CPU time of a process: clock_getcpuclockid(3)."""
	return time.clock_gettime_ns(~pid << 3 | 2)

def test_targets(tap):
	if machine.lacks("whole CPUs"):
		return tap.skip("CPUs and cgroups", machine.lacks("whole CPUs"))
	o = Opened(["-q", "-e", "cpu-clock", "-C", "0", "--for", "0.3"])
	tap.ok(o.status == 0 and 2e8 < o.figures.get("cpu-clock", 0) < 2e9, "-C: one CPU",
	       [o.err])
	o = Opened(["-q", "-e", "cpu-clock", "-a", "--", "sleep", "0.3"])
	n = os.sysconf("SC_NPROCESSORS_ONLN")
	tap.ok(o.status == 0 and 2e8 * n < o.figures.get("cpu-clock", 0) < 2e9 * n,
	       "-a: all of them, as long as the command runs", [o.err])
	o = Opened(["-q", "-e", "task-clock", "--for", "0.1"])
	tap.ok(o.status == 0 and o.figures.get("task-clock", 0) > 0, "itself", [o.err])
	place = rp.cgroup2()
	group = place and os.path.join(place, "pevtrace-open-%d" % os.getpid())
	try:
		os.mkdir(group)
	except (OSError, TypeError):
		return tap.skip("cgroups", "no cgroup2 that can be written to")
	p = subprocess.Popen(["sh", "-c", "while :; do :; done"], preexec_fn=lambda: open(
		group + "/cgroup.procs", "w").write(str(os.getpid())))
	try:
		# interrupts and other guests of the host count as the event's time, not as the task's
		for _ in range(5):
			before = ran_ns(p.pid)
			o = Opened(["-q", "-e", "cpu-clock", "-G", os.path.basename(group),
				    "--for", "0.5"])
			ran = ran_ns(p.pid) - before
			good = o.status == 0 and ran / 10 < o.figures.get("cpu-clock", 0) < ran * 1.05 + 1e7
			if good:
				break
		tap.ok(good, "-G: the tasks of a cgroup", [ran, o.err])
		o = Opened(["-q", "-e", "cs", "-G", os.path.basename(group) + "x", "--for", "0.1"])
		tap.ok(o.status == 2 and o.err.rstrip().endswith("is " + group) and
		       "no cgroup" not in o.err and "below " + place in o.err,
		       "-G: no such cgroup: the mount and the nearest", [o.err])
		for name in ("/", ".", place):
			o = Opened(["-q", "-e", "cs", "-G", name, "--for", "0.05"])
			tap.ok(o.status == 0 and "cs" in o.figures and not o.lines,
			       "-G %s: the root cgroup" % name, [o.err])
		for name, why in (("", "empty name"), ("/tmp", "not a cgroup"),
				  ("../..", "not a cgroup")):
			o = Opened(["-q", "-e", "cs", "-G", name, "--for", "0.05"])
			tap.ok(o.status == 2 and o.err.startswith("pevtrace: -G '%s': %s" % (name, why))
			       and not o.figures, "-G '%s' is none" % name, [o.err])
	finally:
		p.kill()
		p.wait()
		os.rmdir(group)

def test_uprobe(tap):
	"""The memory that an attr points to is readable by the kernel."""
	if machine.lacks("uprobes"):
		return tap.skip("a uprobe", machine.lacks("uprobes"))
	nm = subprocess.run(["nm", rp.target("counted")], stdout=subprocess.PIPE, text=True)
	at = re.search(r"^([0-9a-f]+) T main$", nm.stdout, re.M)
	if not at:
		return tap.skip("a uprobe", "nm finds no main")
	o = Opened(["-y", "-e", "uprobe//,uprobe_path=%s,probe_offset=0x%s,inherit=0" %
		    (rp.target("counted"), at.group(1).lstrip("0")), rp.target("counted"),
		    "0", "0", "3"])
	tap.ok(o.status == 0 and list(o.figures.values()) == [1] and
	       'uprobe_path="' + rp.target("counted")[:10] in o.err,
	       "a uprobe on main is hit once", [o.figures, o.err])

def send_and_wait(p, sig):
	"""Wait until a signal has been delivered, so that the next one is not merged with it."""
	p.send_signal(sig)
	for _ in range(600):
		with open("/proc/%d/status" % p.pid) as f:
			pending = re.search(r"^ShdPnd:\s*(\w+)$", f.read(), re.M)
		if not int(pending.group(1), 16) >> sig - 1 & 1 or p.poll() is not None:
			break
		time.sleep(0.1)

def interrupted(args, send=1):
	"""Send SIGINT to a pevtrace that counts, after its command, if any, has reported it."""
	p = subprocess.Popen([PEVTRACE, "open", "-q"] + args, stderr=subprocess.PIPE, bufsize=0,
			     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
	rp.holds_events(p.pid, 1)
	if "-p" not in args:
		p.stdout.readline()
	for _ in range(send):
		send_and_wait(p, signal.SIGINT)
	try:
		p.wait(300)
		err = p.communicate(timeout=300)[1].decode()
	except subprocess.TimeoutExpired:
		p.kill()
		err = p.communicate()[1].decode() + "(did not end)"
	return p.returncode, split(err)[0], err

def test_signals(tap):
	status, figures, err = interrupted(["-e", "task-clock", "-p", str(os.getpid())])
	tap.ok(status == 0 and isinstance(figures.get("task-clock"), (int, str)) and
	       "seconds" in err, "-p: SIGINT ends with the figures", [status, err])
	status, figures, err = interrupted(["-e", "page-faults", "sh", "-c", "echo go; read x"])
	tap.ok(status == -signal.SIGINT and figures.get("page-faults", 0) >= 1,
	       "a command gets it as well, and the figures come", [status, err])
	status, figures, err = interrupted(
		["-e", "cs", "sh", "-c", "trap '' INT; echo go; read x"], send=2)
	tap.ok(status == -signal.SIGKILL and "cs" in figures,
	       "the second one ends a command that would not", [status, err])
	t = time.monotonic()
	o = Opened(["-q", "-e", "cs", "--for", "0.5"])
	took = time.monotonic() - t
	tap.ok(o.status == 0 and took >= 0.5, "--for counts so long", [took, o.err])

def test_progress(tap):
	text = sp.on_terminal([PEVTRACE, "open", "-q", "-e", "task-clock,cs", "sleep", "4"], 80)
	# one for each second, except those missed on a busy machine
	seconds = [int(n) for n in re.findall(r"\r(\d+) s: task-clock ", text)]
	tap.ok(len(seconds) >= 2 and seconds == sorted(set(seconds)) and 0 < seconds[0] and
	       re.search(r"\r\x1b\[K *\d+  task-clock", text), "progress on a terminal",
	       [repr(text)])

def test_interrupt_key(tap):
	"""A signal from the terminal reaches the command once."""
	pid, main = pty.fork()
	if not pid:
		os.execv(PEVTRACE, [PEVTRACE, "open", "-q", "-e", "cs", "sh", "-c",
				    "trap 'n=x$n; echo got $n' INT; echo ready; sleep 1; "
				    "sleep 1; echo done $n"])
	got = b""
	while True:
		try:
			part = os.read(main, 4096)
		except OSError:
			break
		if not part:
			break
		if b"ready" not in got and b"ready" in got + part:
			os.write(main, b"\x03")
		got += part
	status = os.waitpid(pid, 0)[1]
	os.close(main)
	text = got.decode(errors="replace")
	tap.ok(status == 0 and "done x\r" in text and re.search(r"\d+  cs\r", text),
	       "^C reaches the command once, which may go on, and the figures come",
	       [status, repr(text)])

# ---- refusals ---------------------------------------------------------------------------

def test_refusals(tap):
	"""The rule is reported, and the suggested command finds the same."""
	cases = [("cpu-clock,sample_freq=99999999", "freq_limit"),
		 ("{dummy,cs,pinned}", "group_pinned"), ("type=77,config=0x5000", "no_pmu"),
		 ("software/config=2,name=it's/,__reserved_1=1", "reserved_bits"),
		 ("cpu-clock,sample_type=BRANCH_STACK,branch_sample_type=ANY", "software_branch"),
		 ("dummy,clockid=12,use_clockid", "clockid"),
		 ("{cs:u,dummy,sample_type=IDENTIFIER|1<<40}", "sample_type_bits")]
	if os.uname().machine == "x86_64":
		cases += [("mem:0x1001", "breakpoint_align"),
			  ("mem:0x1000,{mem:0x2000,mem:0x3000:w:u},dummy,mem:0x4000,mem:0x5000",
			   "breakpoint_slots")]
	if os.path.exists("/sys/bus/event_source/devices/uprobe"):
		cases += [('uprobe/retprobe/,uprobe_path="/nonexistent/a\\"b,c"',
			   "uprobe_privilege" if machine.lacks("uprobes") else "uprobe_open")]
	for text, rule in cases:
		o = Opened(["-q", "-e", text, "true"])
		if machine.lacks("kernel events"):
			o.err = re.sub("^pevtrace: excluding the kernel: .*\n", "", o.err)
		errors = re.findall(r"cannot open '.*?': (\w+): .*\(rule (\w+)\)", o.err)
		m = re.search(r"find out more with: pevtrace (why .*)", o.err)
		words = shlex.split(m.group(1)) if m else ["why"]
		r = subprocess.run([PEVTRACE, words[0], "--json"] + words[1:], text=True,
				   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
		last = json.loads(r.stdout.splitlines()[-1]) if r.stdout else {}
		got = (last.get("kernel", {}).get("error"), [f.get("rule") for f in
							     last.get("faults", [])][:1])
		tap.ok(len(errors) == 1 and errors[0][1] == rule and
		       got == (errors[0][0], [rule]) and "paranoid" not in o.err,
		       "%s: %s, and pevtrace why finds that" % (text, rule),
		       [o.err, got, r.stderr])
	o = Opened(["-q", "-e", "{dummy,__reserved_1=1,cs}", "true"])
	tap.ok("cannot open 'cs': its group leader was refused" in o.err,
	       "a member goes with its leader", [o.err])

# ---- limits ---------------------------------------------------------------------------------

def limited(what, soft):
	return lambda: resource.setrlimit(what, (soft, soft))

def test_limits(tap):
	many = ",".join(["cs"] * 40)
	o = Opened(["-e", many, "true"], preexec_fn=limited(resource.RLIMIT_NOFILE, 32))
	tap.ok(o.status == 2 and "ulimit -n" in o.err and "the limit is 32" in o.err,
	       "more events than descriptors", [o.status, o.err])
	o = Opened(["-e", "cs", "true"], preexec_fn=limited(resource.RLIMIT_NOFILE, 8))
	tap.ok("1 event on 1 target (" in o.err and "ulimit -n" in o.err, "one of each", [o.err])
	for verb in (["open", "-e", "cs"], ["open", "--side-band"], []):
		r = subprocess.run([PEVTRACE] + verb + ["--", "true"], stderr=subprocess.PIPE,
				   stdout=subprocess.PIPE, universal_newlines=True,
				   preexec_fn=limited(resource.RLIMIT_NOFILE, 5))
		tap.ok(r.returncode == 2 and "cannot start 'true'" in r.stderr and
		       "ulimit -n" in r.stderr, "none to start a command with: %s" % verb,
		       [r.returncode, r.stderr])
	for option in (["--mmap", "3"], ["--mmap", "0"], ["--for", "x"], ["-C", "z"],
		       ["-C", "8000"], ["-p", str(1 << 22)], ["-G", "no/such"]):
		o = Opened(["-q", "-e", "cs"] + option +
			   ([] if option[0] != "--mmap" else ["true"]))
		tap.ok(o.status == 2 and len(o.err.strip().split("\n")) == 1,
		       " ".join(option) + " is one line and status 2", [o.status, o.err])

def test_aux(tap):
	"""No PMU here is assumed to write AUX data; software events never do."""
	for option, prot in (("--aux", "PROT_READ|PROT_WRITE"), ("--aux-snapshot", "PROT_READ")):
		o = Opened(["-e", "cs", "--mmap", "2", option, "4", "true"])
		maps = [l for l in o.lines if l.startswith("mmap(") and "AUX" in l]
		page = os.sysconf("SC_PAGE_SIZE")
		tap.ok(o.status == 2 and maps and all(
			"NULL, %d, %s, MAP_SHARED" % (4 * page, prot) in l and
			"%#x) = -1 EOPNOTSUPP" % (3 * page) in l for l in maps) and
		       "cannot map an AUX area: EOPNOTSUPP" in o.err, option + " needs a PMU for it", [o.err])
	for args, words in ((["--aux", "4"], "--mmap"), (["--aux", "3", "--mmap", "2"], "power of")):
		o = Opened(["-e", "cs"] + args + ["true"])
		tap.ok(o.status == 2 and words in o.err, " ".join(args) + " is misuse", [o.err])

def test_filter(tap):
	"""When a seccomp filter fails the call, missing privileges are not the cause."""
	for error in (errno.EPERM, errno.EACCES, errno.ENOSYS):
		for verb, args in (("open", ["-q", "-e", "cs"]), ("open", ["--side-band"])):
			r = subprocess.run([PEVTRACE, verb] + args + ["true"], text=True,
					   stderr=subprocess.PIPE, preexec_fn=pe.forbid(error))
			tap.ok(r.returncode == 2 and errno.errorcode[error] in r.stderr and
			       "allow perf_event_open in its profile" in r.stderr and
			       "paranoid" not in r.stderr and "CAP_" not in r.stderr and
			       len(r.stderr.strip().split("\n")) == 1,
			       "%s under a filter: %s" % (args[0], errno.errorcode[error]), [r.stderr])

def test_nobody(tap):
	machine.need("another user")
	level = machine.setting("paranoid")
	if level != 2 or not os.access(PEVTRACE, os.X_OK):
		return tap.skip("an ordinary user", "perf_event_paranoid is %d, not 2" % level)
	probe = subprocess.run([PEVTRACE, "--version"], preexec_fn=sp.as_nobody(),
			       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	if probe.returncode:
		return tap.skip("an ordinary user", "who may not run this build")
	o = Opened(["-q", "-e", "task-clock,page-faults", "true"], preexec_fn=sp.as_nobody())
	tap.ok(o.status == 0 and o.figures.get("page-faults", 0) > 10 and
	       "excluding the kernel: perf_event_paranoid is 2" in o.err,
	       "an ordinary user counts the user's part, and is told so", [o.err])
	o = Opened(["-q", "-e", "task-clock:u", "true"], preexec_fn=sp.as_nobody())
	tap.ok(o.status == 0 and "excluding" not in o.err, "and is not, who asked for that",
	       [o.err])
	o = Opened(["-q", "-e", "task-clock:k", "true"], preexec_fn=sp.as_nobody())
	tap.ok(o.status == 2 and "CAP_PERFMON" in o.err, "the kernel's part needs more",
	       [o.status, o.err])
	o = Opened(["-q", "-e", "cs", "-a", "--for", "0.1"], preexec_fn=sp.as_nobody())
	tap.ok(o.status == 2 and "events of a whole CPU require 0 or less" in o.err,
	       "whole CPUs need more", [o.status, o.err])
	o = Opened(["-q", "-e", "cs:u", "-p", "1", "--for", "0.1"], preexec_fn=sp.as_nobody())
	tap.ok(o.status == 2 and "other users" in o.err, "so do processes of others",
	       [o.status, o.err])
	o = Opened(["-q", "-e", "cpu-clock:u", "--mmap", "2048", "true"],
		   preexec_fn=sp.as_nobody(limited(resource.RLIMIT_MEMLOCK, 65536)))
	tap.ok(o.status == 2 and "perf_event_mlock_kb" in o.err and "ulimit -l" in o.err,
	       "large rings need more", [o.status, o.err])

# ---------------------------------------------------------------------------------------------

def own_tests(tap, tmp):
	return [("members", lambda: test_members(tap, tmp)),
		("same", lambda: test_same(tap, tmp)),
		("rings", lambda: test_rings(tap)),
		("group samples", lambda: test_group_samples(tap)),
		("shared", lambda: test_shared_ring(tap)),
		("command", lambda: test_command(tap)),
		("targets", lambda: test_targets(tap)),
		("uprobe", lambda: test_uprobe(tap)),
		("signals", lambda: test_signals(tap)),
		("key", lambda: test_interrupt_key(tap)),
		("progress", lambda: test_progress(tap)),
		("refusals", lambda: test_refusals(tap)),
		("limits", lambda: test_limits(tap)),
		("filter", lambda: test_filter(tap)),
		("aux", lambda: test_aux(tap)),
		("nobody", lambda: test_nobody(tap))]

def perf_tests(tap, tmp, tracefs):
	return [("syntax", lambda: test_syntax(tap, tmp, tracefs)),
		("leader", lambda: test_leader_sampling(tap, tmp)),
		("counts", lambda: test_counts(tap, tmp, tracefs)),
		("commands", lambda: test_command_counts(tap, tracefs))]

if __name__ == "__main__":
	sys.exit(rp.main("pevtrace-open.", "perf's syntax and counts",
			 own_tests, perf_tests, ("filter",)))
