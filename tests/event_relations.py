#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The event graph of --summary: who opened what, groups and redirections, who reads
which ring, how it was started, what was tried before.  Held against

  the calls of the same run	by a second reading of them, done here
  the programs' own words	tests/targets/{passfd,passorder,passunseen,sigtrapbp,reuse}
  perf script, perf evlist	of the perf.data written in the run

and -y's names on descriptors that come to stand for other events.
"""

import collections
import ctypes
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import machine
import ringparse as rp
import straceparse as sp

# ---- the graph, computed from the calls ---------------------------------

class Seen:
	def __init__(self, call, number):
		self.call, self.number = call, number
		self.pid, self.fd = call.pid, call.ret
		self.label = re.search(r"<(.*)>", call.result).group(1)
		self.output = self.leader = None
		self.reads = self.controls = self.maps = 0
		self.start = None

def number_of(val):
	m = re.match(r"(-?\d+)(?:<(.*)>)?$", val.text)
	return (int(m.group(1)), m.group(2)) if m else (None, None)

def redraw(run):
	"""Events, mappings and failed opens as the calls tell them.  Names are
	taken from the descriptors: each event's is its own."""
	events, rings, failed = [], [], 0
	by_label = {}
	for c in run.calls:
		if c.name == "perf_event_open":
			if c.failed:
				failed += 1
				continue
			e = Seen(c, len(events) + 1)
			events.append(e)
			by_label[e.label] = e
			attr = c.arg(0)
			group = number_of(c.arg(3))[1]
			e.leader = by_label[group].number if group else None
			on = lambda name: sp.number(attr.get(name)) == 1
			e.start = "enabled by exec" if on("enable_on_exec") else \
				"never enabled" if on("disabled") else \
				"enabled at open"
			# a dummy event counts nothing, so that it never samples
			e.sampling = str(attr.get("config")) != "PERF_COUNT_SW_DUMMY" and \
				bool(sp.number(attr.get("sample_period")) or
				     sp.number(attr.get("sample_freq")))
		if c.failed or not c.args:
			continue
		place = 4 if c.name == "mmap" else 0
		if len(c.args) <= place or c.arg(place).kind != "atom":
			continue
		e = by_label.get(number_of(c.arg(place))[1])
		if not e:
			continue
		if c.name == "ioctl":
			request = c.arg(1).text
			if request == "PERF_EVENT_IOC_SET_OUTPUT":
				e.output = by_label.get(number_of(c.arg(2))[1])
			elif request == "PERF_EVENT_IOC_ENABLE" and \
					e.start == "never enabled":
				e.start = "enabled by ioctl"
			e.controls += request in (
				"PERF_EVENT_IOC_ENABLE", "PERF_EVENT_IOC_DISABLE",
				"PERF_EVENT_IOC_RESET", "PERF_EVENT_IOC_REFRESH",
				"PERF_EVENT_IOC_SET_OUTPUT",
				"PERF_EVENT_IOC_SET_FILTER")
		elif c.name == "read":
			e.reads += 1
		elif c.name == "mmap":
			e.maps += 1
			rings.append((e, c))
	return events, rings, failed

def same_graph(tap, name, run):
	s = run.summary
	events, rings, failed = redraw(run)
	why = []
	probes = set()
	for e in events:
		it = s.events.get(e.number)
		used = e.reads or e.controls or e.maps or e.output or e.leader or \
			e.start == "enabled by exec" or \
			any(o.leader == e.number or o.output is e for o in events)
		if not used:
			probes.add(e.number)
			if e.number not in s.probes:
				why.append("#%d %s is a probe" % (e.number, e.label))
			continue
		if not it:
			why.append("#%d %s is no probe" % (e.number, e.label))
			continue
		for what, got, want in (
				("name", it.text.startswith(e.label + ": "), True),
				("opener", it.opener, e.pid), ("fd", it.fd, e.fd),
				("group", it.leader, e.leader),
				("sampling", it.sampling, e.sampling),
				("reads", it.reads, e.reads)):
			if got != want:
				why.append("#%d %s: %s is %s, not %s" %
					   (e.number, e.label, what, got, want))
		# a member runs with its leader: either wording is accepted
		if not e.leader and it.start != e.start:
			why.append("#%d %s: %s, not %s" %
				   (e.number, e.label, it.start, e.start))
	if len(s.events) + len(s.probes) != len(events):
		why.append("%d events and %d probes of %d opens" %
			   (len(s.events), len(s.probes), len(events)))
	tap.ok(events and not why, "%s: %d events, %d probes" %
	       (name, len(events) - len(probes), len(probes)),
	       why or ["nothing was opened"])
	why = []
	if len(rings) != len(s.rings):
		why.append("%d mappings, %d rings" % (len(rings), len(s.rings)))
	for (e, call), (_, ring) in zip(rings, sorted(s.rings.items())):
		writers = sorted(o.number for o in events
				 if (o.output or o) is e)
		if (ring.event, sorted(ring.writers)) != (e.number, writers):
			why.append("ring %d of #%d written by %s; mapped was #%d, "
				   "led there are %s" %
				   (ring.number, ring.event, ring.writers,
				    e.number, writers))
		if ring.overwrite != ("PROT_WRITE" not in call.arg(2).text):
			why.append("ring %d: overwritten is %s" %
				   (ring.number, ring.overwrite))
		if ring.pid != call.pid and call.pid not in s.tasks:
			why.append("ring %d is in %d" % (ring.number, ring.pid))
	tap.ok(not why, "%s: %d rings and who writes there" % (name, len(rings)), why)
	times = sum(int(m.group(1)) if m else 1 for m in
		    (re.search(r", (\d+) times;", f) for f in s.failures))
	tap.ok(times == failed, "%s: %d failed opens" % (name, failed),
	       ["%d in the summary" % times] + s.failures)
	readers(tap, name, run, events, rings)

POLLS = ("poll", "ppoll", "epoll_wait", "epoll_pwait", "epoll_pwait2", "select",
	 "pselect6")

def readers(tap, name, run, events, rings):
	"""Return which task waits for which ring, and how often it reads."""
	first = {}	# label -> ring number
	for no, (e, _) in enumerate(rings, 1):
		first.setdefault(e.label, no)
	labels = {e.label for e in events}
	waits = collections.defaultdict(set)
	reads = collections.Counter()
	for c in run.calls:
		# also where a signal or its end cut the wait short: "= ? ..."
		if c.name in ("poll", "ppoll") and c.arg(0).kind == "array":
			for _, p in c.arg(0).items:
				label = number_of(p.get("fd"))[1]
				if label in first:
					waits[c.pid].add(first[label])
		if c.name == "read" and not c.failed and \
				not c.result.startswith("?") and \
				number_of(c.arg(0))[1] in labels:
			reads[c.pid] += 1
	why = []
	for tid in set(waits) | set(reads):
		it = run.summary.tasks.get(tid)
		if not it:
			why.append("task %d is missing" % tid)
			continue
		if set(it.rings) != waits[tid]:
			why.append("task %d waits for %s, not %s" %
				   (tid, it.rings, sorted(waits[tid])))
		if it.reads != reads[tid]:
			why.append("task %d read %d times, not %d" %
				   (tid, it.reads, reads[tid]))
		waited = sum(c.pid == tid and c.name in POLLS for c in run.calls)
		if it.waits != waited:
			why.append("task %d waited %d times, not %d" %
				   (tid, it.waits, waited))
	for tid, it in run.summary.tasks.items():
		if it.rings and tid not in waits:
			why.append("task %d waits for %s" % (tid, it.rings))
	tap.ok(not why, name + ": who waits and reads", why)

# ---- perf -----------------------------------------------------------------------

CASES = [
	# name, command (@ stands for the temporary directory), needs tracefs
	("record", ["perf", "record", "-o", "@/data", "-e", "cpu-clock"], False),
	("record -a sched_switch",
	 ["perf", "record", "-o", "@/data", "-a", "--switch-events", "-e",
	  "sched:sched_switch"], True),
	("record --overwrite",
	 ["perf", "record", "-o", "@/data", "--overwrite", "-m", "1", "-e",
	  "page-faults:u", "-c", "1"], False),
	("record of a group",
	 ["perf", "record", "-o", "@/data", "-e",
	  "{cpu-clock,page-faults,context-switches}:S"], False),
	("trace", ["perf", "trace", "-o", "@/trace"], True),
	("stat -I", ["perf", "stat", "-I", "100", "-o", "@/stat", "-e",
		     "{page-faults,context-switches},task-clock"], False),
]

# Touches pages without a call in between: a ring is overwritten before it can be read.
FAULTS = ["/usr/bin/python3", "-c", """
import mmap
m = mmap.mmap(-1, 64 << 20)
m.madvise(15)	# MADV_NOHUGEPAGE
m[::4096] = bytes(len(m) // 4096)
"""]

def test_perf(tap, tmp, tracefs):
	for name, argv, needs in CASES:
		if needs and not tracefs:
			tap.skip(name, "no tracefs")
			continue
		argv = [rp.PERF] + [a.replace("@", tmp, 1) for a in argv[1:]] + \
			(FAULTS if "--overwrite" in argv else
			 ["sh", "-c", "sleep 0.05; /bin/true"] if "-a" in argv
			 else rp.BUSY)
		run = rp.Run(["--records", "--summary"], argv)
		if run.status:
			tap.skip(name, "it does not run here: " +
				 (run.err.strip().split("\n") or [""])[-1][:80])
			continue
		same_graph(tap, name, run)
		if name == "record --overwrite":
			overwritten(tap, name, run, tmp + "/data")

def overwritten(tap, name, run, data):
	"""Check what remains of an overwritable ring."""
	theirs = collections.Counter((t.type, t.time, t.size) for t in rp.dump(data))
	ids = rp.data_ids(data)
	rings = [r.number for r in run.summary.rings.values()
		 if run.summary.events[r.event].id in ids]
	def when(r):
		at = r.value.get("sample_id")
		return sp.number(at.get("time")) if at else r.n("time")
	ours = collections.Counter((r.type, when(r), r.size) for r in run.records
				   if r.ring in rings)
	absent = theirs - ours
	tap.ok(theirs and not absent,
	       "%s: what perf found in the ring, we show (%d of our %d)" %
	       (name, sum(theirs.values()), sum(ours.values())),
	       ["perf has, and we have not: %s" % (k,) for k in list(absent)[:5]] or
	       ["perf found nothing"])
	n = sum(r.n("size") for r in run.records if r.ring in rings)
	heads = sum(run.missed[n] for n in rings)
	tap.ok(heads > 0 and n > 0, "%s: says that the rest was overwritten (%d bytes)"
	       % (name, heads), ["%d bytes shown, %d missed" % (n, heads)])

def test_fallback(tap, tmp):
	"""Without a cycle counter perf falls back to a clock, which the graph shows."""
	name = "fallback from cycles"
	run = rp.Run(["--summary"], [rp.PERF, "record", "-o", tmp + "/data", "/bin/true"])
	opens = [c for c in run.calls if c.name == "perf_event_open"]
	refused = [c for c in opens if c.failed and c.arg(0).kind == "struct" and
		   sp.number(c.arg(0).get("type")) == 0 and
		   sp.number(c.arg(0).get("sample_freq"))]
	if not refused or run.status:
		tap.skip(name, "there is a cycle counter" if not run.status
			 else "perf record does not work here")
		return
	# perf changes type and config, and nothing else; what it opens to learn about the kernel
	# has another target
	good = [f for f in run.summary.failures if re.match(r"cpu-cycles", f) and
		re.search(r"then #\d+ (cpu|task)-clock\S* .*differs in (.*)", f) and
		not re.search(r"differs in .*\bpid\b", f)]
	fields = [set(re.search(r"differs in (.*)", f).group(1).split(", "))
		  for f in good]
	tap.ok(good and all("type" in f and f <= {"type", "config", "exclude_kernel",
		"exclude_hv", "precise_ip", "sample_freq", "sample_type", "read_format"} for f in fields),
	       name + ": named by the members that differ", run.summary.lines)
	numbers = [int(re.search(r"then #(\d+)", f).group(1)) for f in good]
	known = set(run.summary.events) | set(run.summary.probes)
	tap.ok(good and set(numbers) <= known,
	       name + ": what worked instead is in the list", run.summary.failures)

# ---- targets that print what they do --------------------------------------

def usable(tap, name, run):
	if run.status == rp.SKIPPED:
		tap.skip(name, run.err.strip().split("\n")[-1][:80] or "not possible")
		return False
	if run.status:
		tap.ok(False, name + ": the program works",
		       run.err.split("\n") + run.out.split("\n"))
		return False
	return True

def words(text):
	return {line.split()[0]: line.split()[1:] for line in
		text.strip().split("\n")}

def test_passed(tap):
	name = "descriptors sent through a socket"
	if rp.missing("passfd"):
		tap.skip(name, rp.missing("passfd"))
		return
	run = rp.Run(["--records", "--summary", "--look-every=5"],
		     [rp.target("passfd")])
	if not usable(tap, name, run):
		return
	said = words(run.out)
	opener, receiver = int(said["opener"][0]), int(said["receiver"][0])
	ids = [int(n) for n in said["ids"]]
	events = [run.summary.by_id(n) for n in ids]
	why = []
	for i, e in enumerate(events):
		if not e:
			why.append("no event with id %d" % ids[i])
			continue
		for what, got, want in (
				("opener", e.opener, opener),
				("fd", e.fd, int(said["opener"][1 + i])),
				("start", e.start, "enabled by ioctl"),
				("reads", e.reads, 1), ("closed", e.closed, True),
				("count", e.count, int(said["counts"][i]))):
			if got != want:
				why.append("id %d: %s is %s, not %s" %
					   (ids[i], what, got, want))
	tap.ok(not why, name + ": events of one, read and closed by another",
	       why + run.summary.lines if why else why)
	rings = list(run.summary.rings.values())
	good = len(rings) == 1 and events[1] and rings[0].pid == receiver and \
		rings[0].event == events[1].number and \
		run.summary.tasks[receiver].rings == [1] and \
		run.summary.tasks[receiver].reads == 2 and \
		run.summary.tasks[opener].opens == 2 and \
		not run.summary.tasks[opener].reads
	tap.ok(good, name + ": the ring is the receiver's", run.summary.lines)
	labels = set()
	for c in run.calls:
		if c.pid == receiver and c.name in ("ioctl", "read"):
			labels.add(number_of(c.arg(0)))
	fds = [int(n) for n in said["receiver"][1:]]
	tap.ok(labels == set(zip(fds, ("page-faults:u", "dummy:u"))),
	       name + ": named in the receiver", sorted(map(str, labels)))
	size = sum(r.size for r in run.records)
	tap.ok(size == int(said["ring"][0]) and said["ring"][1] == "0" and
	       said["wakeups"] == ["3"] and
	       all(r.type == "COMM" and r.event == "dummy:u" for r in run.records),
	       name + ": its records are shown, its tail and wake-ups untouched",
	       [run.out] + [r.line for r in run.records])

def test_passed_order(tap):
	"""The child's own ids tell which event each of its descriptors is."""
	if rp.missing("passorder"):
		tap.skip("descriptors in another order", rp.missing("passorder"))
		return
	for when in "waits", "later":
		for options in [], ["--no-seccomp"]:
			name = " ".join(["descriptors in another order, receiver " + when] + options)
			why = []
			for _ in range(sp.times(5, 200)):
				run = rp.Run(["--summary"] + options,
					     [rp.target("passorder"), when])
				if not usable(tap, name, run):
					return
				ids = [int(n) for n in words(run.out)["child"][4:]]
				for id, want in zip(ids, ("context-switches", "page-faults")):
					e = run.summary.by_id(id)
					if not e or not e.text.startswith(want) or e.reads or \
					   e.start != "enabled by ioctl":
						why += ["id %d is not %s" % (id, want)] + \
						       run.summary.lines
			tap.ok(not why, name + ": each is the event that came", why)

def test_passed_unseen(tap, tmp):
	"""An event that came by a call that is not followed is known at its first use."""
	if rp.missing("passunseen"):
		tap.skip("descriptors that came unseen", rp.missing("passunseen"))
		return
	for how, first, options in sp.sample([(h, f, o) for h in ("mmsg", "getfd", "uring")
					      for f in ("ioctl", "mmap")
					      for o in ([], ["--no-seccomp"])], 3):
		name = " ".join(["an event came by", how + ",", "first used by", first] + options)
		dump = os.path.join(tmp, "unseen.json")
		run = rp.Run(["--summary", "--json=" + dump] + options,
			     [rp.target("passunseen"), how, first])
		if not usable(tap, name, run):
			continue
		receiver, fd, id = [int(w) for w in words(run.out)["child"]]
		e = run.summary.by_id(id)
		rings = list(run.summary.rings.values())
		named = [c for c in run.calls if c.pid == receiver and
			 c.name in ("ioctl", "read", "close") and
			 number_of(c.arg(0)) == (fd, "page-faults:u")]
		tap.ok(e and e.opener != receiver and e.start == "enabled by ioctl" and
		       e.reads == 1 and e.closed and len(run.summary.events) == 1 and
		       [(r.event, r.pid) for r in rings] == [(e.number, receiver)] and
		       len(named) == 4, name, [c.line for c in run.calls] + run.summary.lines)
		told = subprocess.run([rp.PEVTRACE, "decode", "-y", "-s", "4096", "--summary", dump],
				      text=True, stdout=subprocess.PIPE).stdout
		tap.ok("\n".join(run.summary.lines).strip() in told and
		       "read(%d<page-faults:u>" % fd in told, name + ": so does a dump tell", [told])

def test_closed_unseen(tap, tmp):
	"""io_uring closes an event, and /dev/zero gets its number: a read of it is none of the
	event."""
	if rp.missing("passunseen"):
		tap.skip("a close by io_uring", rp.missing("passunseen"))
		return
	for options in [], ["--no-seccomp"]:
		name = " ".join(["a close by io_uring"] + options)
		dump = os.path.join(tmp, "closed.json")
		run = rp.Run(["--summary", "--json=" + dump] + options,
			     [rp.target("passunseen"), "close"])
		if not usable(tap, name, run):
			continue
		kinds = [json.loads(line)["kind"] for line in open(dump)]
		told = subprocess.run([rp.PEVTRACE, "decode", "--summary", dump], text=True,
				      stdout=subprocess.PIPE).stdout
		tap.ok(not [c for c in run.calls if c.name == "read"] and
		       not [e for e in run.summary.events.values() if e.reads] and
		       kinds.count("closed") == 1 and
		       "\n".join(run.summary.lines).strip() in told and "read(" not in told, name,
		       [c.line for c in run.calls] + run.summary.lines + [told])
		rp.check_schema(tap, name, dump)

# Load the call's number; if it is pidfd_getfd's, fail with EPERM, else allow.
NO_GETFD = struct.pack("HBBIHBBIHBBIHBBI", 0x20, 0, 0, 0, 0x15, 0, 1, 438,
		       6, 0, 0, 0x50001, 6, 0, 0, 0x7fff0000)

def refuse_getfd():
	"""Install that filter (PR_SET_SECCOMP, SECCOMP_MODE_FILTER)."""
	libc = ctypes.CDLL(None)
	code = ctypes.create_string_buffer(NO_GETFD, len(NO_GETFD))
	prog = ctypes.create_string_buffer(
		struct.pack("HxxxxxxP", len(NO_GETFD) // 8, ctypes.addressof(code)))
	if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, prog, 0, 0):
		os._exit(77)

def test_passed_no_copy(tap):
	"""Where no descriptor can be borrowed, an event that is never received labels no other
	descriptor: /dev/zero, which passorder receives first and reads."""
	name = "descriptors in another order, without pidfd_getfd"
	if rp.missing("passorder"):
		tap.skip(name, rp.missing("passorder"))
		return
	for options in [], ["--no-seccomp"]:
		r = subprocess.run([rp.PEVTRACE, "-y", "--summary"] + options +
				   [rp.target("passorder"), "later"], text=True,
				   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
				   preexec_fn=refuse_getfd)
		if r.returncode == 77:
			tap.skip(name, "no seccomp filter, or no event")
			continue
		said = r.stdout.split()
		tap.ok(r.returncode == 0 and "\n       read " not in r.stderr and
		       "read(%s" % said[2] not in r.stderr and
		       "ioctl(%s<" % said[3] in r.stderr, " ".join([name] + options),
		       [r.stdout] + r.stderr.split("\n"))

def test_clock(tap):
	"""The period of a clock is a time."""
	for event, words in (("cpu-clock:u,sample_period=3000000", "every 3000000 ns"),
			     ("task-clock:u,sample_period=1", "every 1 ns"),
			     ("page-faults:u,sample_period=3000000", "every 3000000 events"),
			     ("page-faults:u,sample_period=1", "every event"),
			     ("cpu-clock:u,sample_freq=99", "about 99 times a second")):
		run = rp.Run(["--summary"], [rp.PEVTRACE, "open", "-q", "-e", event, "true"])
		e = run.summary.events.get(1)
		tap.ok(e and e.text.endswith(", sampling " + words), "%s: %s" % (event, words),
		       run.summary.lines + run.err.split("\n"))

def test_sigtrap(tap):
	name = "breakpoint with sigtrap"
	why = rp.missing("sigtrapbp") or machine.lacks("breakpoints")
	if why:
		tap.skip(name, why)
		return
	run = rp.Run(["--records", "--summary", "--look-every=5"],
		     [rp.target("sigtrapbp"), "9"])
	if not usable(tap, name, run):
		return
	m = re.match(r"hits 9 of 9, data right 9, address (0x[0-9a-f]+), count 9$",
		     run.out.strip())
	tap.ok(m, name + ": the program gets its signals", [run.out])
	same_graph(tap, name, run)
	e = run.summary.events.get(1)
	tap.ok(m and e and m.group(1) in e.text and e.count == 9 and e.sampling and
	       e.start == "enabled by ioctl" and e.reads == 1 and e.closed,
	       name + ": one event, nine hits", run.summary.lines)
	traps = [line for line in run.lines if "--- SIGTRAP " in line]
	tap.ok(m and len(traps) == 9 and all(
		"TRAP_PERF" in t and "si_addr=" + m.group(1) in t and
		"si_perf_data=0x5eed1234abcd0042" in t for t in traps),
	       name + ": nine signals with their data", traps or run.lines)

# ---- one number, several events --------------------------------------------------------

def truth(out):
	"""[(pid, fd, kind)] in the order of the program's lines."""
	return [(int(m.group(1)), int(m.group(2)), m.group(3)) for m in
		re.finditer(r"^(\d+) (\d+) (\S+)$", out, re.M)]

def resets(run):
	out = []
	for c in run.calls:
		if c.name != "ioctl" or c.arg(1).text != "PERF_EVENT_IOC_RESET":
			continue
		fd, label = number_of(c.arg(0))
		if label is None or not re.match(r"(task-clock|page-faults|"
				r"context-switches|cpu-migrations)\b", label):
			kind = "none"
		else:
			kind = re.match(r"[\w-]+", label).group(0)
		out.append((c.pid, fd, kind))
	return out

def by_task(calls):
	out = collections.defaultdict(list)
	for pid, fd, kind in calls:
		out[pid].append((fd, kind))
	return dict(out)

def test_reuse(tap):
	name = "descriptors used again"
	if rp.missing("reuse"):
		tap.skip(name, rp.missing("reuse"))
		return
	for options in ([], ["--no-seccomp"]):
		what = " ".join([name] + options)
		run = rp.Run(["--summary"] + options + ["-e", "trace=perf,ioctl"],
			     [rp.target("reuse")])
		if not usable(tap, what, run):
			continue
		said, seen = by_task(truth(run.out)), by_task(resets(run))
		why = []
		for pid in set(said) | set(seen):
			if said.get(pid) != seen.get(pid):
				why += ["task %d" % pid, "  did  %s" % said.get(pid),
					"  seen %s" % seen.get(pid)]
		tap.ok(len(said) == 3 and not why, what + ": each by its name", why)
		s = run.summary
		opens = collections.Counter(
			(c.pid, c.ret) for c in run.calls
			if c.name == "perf_event_open" and not c.failed)
		listed = collections.Counter((e.opener, e.fd) for e in
					     list(s.events.values()) +
					     list(s.probes.values()))
		tap.ok(opens == listed and len(s.events) == 6,
		       what + ": six events", s.lines)
		# by close, exec, exit, and by dup2 over the last descriptor
		tap.ok(all(e.closed and e.count is not None and e.id
			   for e in s.events.values()),
		       what + ": each has its last count and its end", s.lines)

def test_attach(tap, tmp):
	name = "attached to afterwards"
	if rp.missing("reuse"):
		tap.skip(name, rp.missing("reuse"))
		return
	out = os.path.join(tmp, "attached")
	target = subprocess.Popen([rp.target("reuse"), "hold"],
				  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
				  stderr=subprocess.PIPE, text=True)
	before = ""
	for line in target.stdout:
		before += line
		if line.startswith("ready") or not line:
			break
	if "ready" not in before:
		target.communicate()
		tap.skip(name, "the program does not run here")
		return
	tracer = subprocess.Popen([*sp.WITHOUT_BPF * (not os.getuid()),
				   rp.PEVTRACE, "-y", "-o", out, "-p",
				   str(target.pid), "--records", "--summary",
				   "-e", "trace=perf,ioctl"],
				  stdin=subprocess.DEVNULL,
				  stderr=subprocess.PIPE, text=True)
	said = tracer.stderr.readline()
	rest, _ = target.communicate("x")
	tracer.communicate()
	if "attached" not in said:
		tap.ok(False, name + ": attaches", [said])
		return
	run = object.__new__(rp.Run)
	with open(out) as f:
		run.read(f.read().split("\n"))
	os.unlink(out)
	tap.ok(target.returncode == 0, name + ": the program works", [rest])
	# inherited events have no kind; those opened during the trace have
	found = collections.Counter()
	why = []
	did = by_task(truth(rest))
	seen = collections.defaultdict(list)
	for c in run.calls:
		if c.name == "ioctl" and c.arg(1).text == "PERF_EVENT_IOC_RESET":
			seen[c.pid].append(number_of(c.arg(0)))
	names = {}	# kind -> the name of an event found
	for pid, uses in did.items():
		if len(uses) != len(seen[pid]):
			why.append("task %d: %d uses, %d seen" %
				   (pid, len(uses), len(seen[pid])))
			continue
		for (fd, kind), (got, label) in zip(uses, seen[pid]):
			m = re.match(r"event (\d+), opened before attach$", label or "")
			if fd != got:
				why.append("fd %d, not %d" % (got, fd))
			elif kind == "none":
				if label and (m or re.search(r"task-clock|context", label)):
					why.append("%d is none, not %s" % (fd, label))
			elif m:
				found[kind] += 1
				if names.setdefault(kind, label) != label:
					why.append("%s is %s and %s" %
						   (kind, names[kind], label))
			elif not (label or "").startswith(kind):
				why.append("%d is %s, not %s" % (fd, kind, label))
	if len(set(names.values())) != len(names):
		why.append("one name for several events: %s" % names)
	tap.ok(set(found) == {"context-switches", "cpu-migrations"} and not why,
	       name + ": events from before are told apart",
	       why or [str(found)])
	old = [e for e in run.summary.events.values() if e.opener is None]
	tap.ok(len(old) == 2 and all(e.id for e in old),
	       name + ": and have their ids", run.summary.lines)

# ---- what cannot be read ------------------------------------------------------

def test_undumpable(tap, tmp):
	"""Memory and descriptors of the process are inaccessible: this is reported, and nothing
	is made up."""
	name = "not dumpable"
	if rp.missing("sandboxed"):
		tap.skip(name, rp.missing("sandboxed"))
		return
	place = tempfile.mkdtemp(dir=tmp)
	for path in (tmp, place):
		os.chmod(path, 0o755)
	user = {}
	if not os.getuid():
		machine.need("another user")
		os.chown(place, sp.NOBODY, sp.NOBODY)
		user = {"user": sp.NOBODY, "group": sp.NOBODY, "extra_groups": []}
	copies = []
	for program in (rp.PEVTRACE, rp.target("sandboxed")):
		copies.append(shutil.copy(program, place))
	def run(*argv):
		return subprocess.run(argv, cwd=place, stdin=subprocess.DEVNULL, text=True,
				      stdout=subprocess.PIPE, stderr=subprocess.PIPE,
				      env=dict(os.environ, LC_ALL="C"), timeout=300, **user)
	argv = [copies[1], "undumpable"]
	native = run(*argv)
	if native.returncode:
		tap.skip(name, native.stderr.strip())
		return
	r = run(copies[0], "--records", "--summary", "-o", "text", *argv)
	with open(os.path.join(place, "text")) as f:
		text = f.read()
	summary = text[text.find("\nEvents: "):]
	tap.ok((r.returncode, r.stdout) == (0, native.stdout), name + ": runs as alone",
	       [r.returncode, r.stdout, r.stderr])
	tap.ok(r.stderr.count("cannot read the ring buffer") == 1,
	       name + ": a warning, once", r.stderr.split("\n"))
	tap.ok(re.search(r"^\d+ +ring 1: could not be looked into: Operation not permitted$", text,
			 re.M), name + ": each look that failed has a line", text.split("\n"))
	tap.ok("event with an unreadable attr" in summary and "; unknown when enabled" in
	       summary and "event with an unreadable attr: E2BIG" in
	       summary.replace("EINVAL", "E2BIG") and
	       not re.search("cycles|counting|enabled at open|no similar", summary),
	       name + ": no attr, no guess", summary.split("\n"))
	tap.ok(re.search(r"\n +[1-9]\d* looks? failed \(Operation not permitted\)", summary),
	       name + ": the summary tells what was not seen", summary.split("\n"))
	r = run(copies[0], "--records", "--json", "-o", "json", *argv)
	with open(os.path.join(place, "json")) as f:
		lines = [json.loads(line) for line in f]
	looks = [line for line in lines if line["kind"] == "look"]
	tap.ok(looks and all(line.get("error") == 1 for line in looks) and
	       lines[-1]["unseen"] == len(looks), name + ": so does a dump", looks + lines[-1:])
	told = run(copies[0], "decode", "--records", "--summary", "json").stdout
	tap.ok("%d look" % len(looks) in told and "failed (Operation not permitted)" in told,
	       name + ": and its decoding", told.split("\n"))
	told = run(copies[0], "report", "json").stdout
	tap.ok("%d look%s failed (Operation not permitted)" % (len(looks), "s"[:len(looks) != 1])
	       in told, name + ": and the report's table of rings", re.findall(r"<tr id=.ring.*", told))
	told = run(copies[0], "explain", "json").stdout
	tap.ok("attr could not be read" in told and "failed to read rings %d time" % len(looks) in
	       " ".join(told.split()) and not re.search("counts, for|no samples|CPU_CYCLES|cpu-cycles", told),
	       name + ": and explain", told.split("\n"))

# ---- tracing is not noticed ------------------------------------------------------------------

NAMESPACE = """
import ctypes, os, struct
def event(pid):
	attr = ctypes.create_string_buffer(struct.pack("<IIQQQQQ", 1, 64, 0, 0, 0, 0, 0x61), 64)
	nr = {"x86_64": 298, "aarch64": 241, "riscv64": 241}[os.uname().machine]
	return ctypes.CDLL(None).syscall(nr, attr, pid, -1, -1, ctypes.c_ulong(8))
r, w = os.pipe()
end, hold = os.pipe()
outer = int(os.readlink("/proc/self")) # of the mount, which counts in the namespace of the test
child = os.fork()
if not child:
	os.write(w, os.readlink("/proc/self").encode())
	os.close(hold)
	os.read(end, 1)
	os._exit(0)
inner = int(os.read(r, 20))
print(os.getpid(), outer, child, inner, event(os.getpid()) >= 0, event(child) >= 0)
"""

def test_namespace(tap, tmp):
	"""Opens in a PID namespace name the task that has the id there."""
	machine.need("PID namespaces")
	dump = os.path.join(tmp, "namespace")
	for how in ([], ["--no-seccomp"]):
		r = subprocess.run([rp.PEVTRACE, "-o", dump + ".txt", "--json=" + dump] + how +
				   ["unshare", "--pid", "--fork", sys.executable, "-c", NAMESPACE],
				   stdout=subprocess.PIPE, universal_newlines=True)
		me, outer, child, inner, *opened = r.stdout.split()
		with open(dump) as f:
			calls = [c for c in map(json.loads, f) if c.get("call") == "perf_event_open" and c["kind"] != "exit"]
		got = [(str(c["args"]["pid"]), str(c.get("target"))) for c in calls]
		tap.ok(opened == ["True", "True"] and got == [(me, outer), (child, inner)],
		       "pids of another namespace" + " ".join([""] + how), [r.stdout, repr(got)])
		with open(dump + ".txt") as f:
			text = f.read()
		tap.ok(", %s /* task %s, as pevtrace sees it */, " % (child, inner) in text,
		       "the id here is a comment" + " ".join([""] + how), [text])

def test_undisturbed(tap):
	name = "undisturbed"
	if rp.missing("undisturbed"):
		tap.skip(name, rp.missing("undisturbed"))
		return
	def alone():
		return subprocess.run([rp.target("undisturbed")],
				      stdout=subprocess.PIPE,
				      stderr=subprocess.PIPE, text=True, timeout=300)
	first = alone()
	if first.returncode == rp.SKIPPED:
		tap.skip(name, first.stderr.strip())
		return
	expected = first.stdout.split("\n")
	tap.ok(first.returncode == 0 and len(expected) == 7,
	       name + ": the program works alone", [first.stdout, first.stderr])
	for options in (["--look-every=5"], ["--look-every=1"],
			["--no-seccomp", "--look-every=5"], ["-c"]):
		# a machine that takes pages back may cause a fault more, in either run
		for _ in range(3):
			run = rp.Run(["--records", "--summary"] + options,
				     [rp.target("undisturbed")])
			got = run.out.split("\n")
			if got == expected:
				break
			expected = alone().stdout.split("\n")
		why = ["alone:  %s\n traced: %s" % (a, b)
		       for a, b in zip(expected, got) if a != b]
		if len(got) != len(expected):
			why.append("%d lines, not %d" % (len(got), len(expected)))
		tap.ok(not why, "%s: the same with %s" % (name, " ".join(options)),
		       why + run.err.split("\n"))
		looks = sum(r.looks for r in run.summary.rings.values())
		tap.ok(looks > 100, "%s: we did look with %s (%d times)" %
		       (name, " ".join(options), looks), run.summary.lines[-5:])

def own_tests(tap, tmp):
	return [("passed", lambda: test_passed(tap)),
		("passorder", lambda: test_passed_order(tap)),
		("passunseen", lambda: test_passed_unseen(tap, tmp)),
		("closed", lambda: test_closed_unseen(tap, tmp)),
		("nocopy", lambda: test_passed_no_copy(tap)),
		("clock", lambda: test_clock(tap)),
		("sigtrap", lambda: test_sigtrap(tap)),
		("reuse", lambda: test_reuse(tap)),
		("attach", lambda: test_attach(tap, tmp)),
		("namespace", lambda: test_namespace(tap, tmp)),
		("undumpable", lambda: test_undumpable(tap, tmp)),
		("undisturbed", lambda: test_undisturbed(tap))]

def perf_tests(tap, tmp, tracefs):
	return [("perf", lambda: test_perf(tap, tmp, tracefs)),
		("fallback", lambda: test_fallback(tap, tmp))]

if __name__ == "__main__":
	sys.exit(rp.main("pevtrace-graph.", "graphs of perf's commands",
			 own_tests, perf_tests))
