#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Events of pevtrace open, compared with other programs:

  syntax   perf stat opens the same attrs for the same words, as a trace of it
           shows: type, config, config1, config2, breakpoint, exclusions
  same     its calls print as a trace of pevtrace open prints them, and pevtrace
           decode prints them out of its dump
  counts   perf stat counts the same on the same process, at the same time;
           tests/targets/counted makes known numbers of faults and writes happen
"""

import collections
import errno
import json
import os
import re
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import machine
from opened import Opened, PERF, PEVTRACE, split
import ringparse as rp

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

OURS = re.compile(r"(?:\d+ +|\[pid +\d+\] )?((perf_event_open|ioctl|mmap|munmap|read|close)\(.*)")
# After EACCES or EPERM pevtrace open calls with an unknown flag, to learn whether the kernel or a
# filter refuses.  That opens no event, and its output does not list the call.
TRIAL = re.compile(r", 0x40000000 /\* PERF_FLAG_\?\?\? \*/\)|, size=1 /")

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
		attr = o.get("args", {}).get("attr_uptr")
		trial = o.get("raw", [])[4:5] == ["0x40000000"] or \
			isinstance(attr, dict) and attr.get("size") == 1
		if o["kind"] == "call" and o["call"] in CALLS and not trial:
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

def own_tests(tap, tmp):
	return [("members", lambda: test_members(tap, tmp)),
		("same", lambda: test_same(tap, tmp)),
		("group samples", lambda: test_group_samples(tap))]

def perf_tests(tap, tmp, tracefs):
	return [("syntax", lambda: test_syntax(tap, tmp, tracefs)),
		("leader", lambda: test_leader_sampling(tap, tmp)),
		("counts", lambda: test_counts(tap, tmp, tracefs)),
		("commands", lambda: test_command_counts(tap, tracefs))]

if __name__ == "__main__":
	sys.exit(rp.main("pevtrace-open.", "perf's syntax and counts", own_tests, perf_tests))
