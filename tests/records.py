#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What --records shows of a ring, compared with programs that read the ring:

  perf report -D, perf script	of the perf.data written in the very run
  perf's Python module		the records that a script got from it
  perf stat -x,			the counts that it printed
  tests/targets/mixedring	which writes known records
"""

import collections
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import ringparse as rp
import straceparse as sp
from straceparse import ParseError

# ---- perf record ---------------------------------------------------------------

def chain_of(theirs):
	"""Return the callchain's entries as numbers, or None."""
	out = None
	for line in theirs.more:
		m = re.match(r"\.\.\. (?:FP|LBR) chain: nr:(\d+)", line)
		if m:
			out = []
			continue
		m = re.match(r"\.\.\.\.\. +\d+: ([0-9a-f]{16})(?: \(\w+\))?$", line)
		if m and out is not None:
			out.append(int(m.group(1), 16))
	return None if out is None else tuple(out)

def regs_of(theirs):
	out = []
	for line in theirs.more:
		m = re.match(r"\.{4} (\w+) +0x([0-9a-f]{16})$", line)
		if m:
			# perf's names are of lower case for 64-bit ARM
			out.append((m.group(1).upper(), int(m.group(2), 16)))
	return tuple(out)

def stack_of(theirs):
	for line in theirs.more:
		m = re.match(r"\.\.\. ustack: size (\d+)", line)
		if m:
			return int(m.group(1))
	return None

CONTEXTS = {"PERF_CONTEXT_HV": -32, "PERF_CONTEXT_KERNEL": -128,
	    "PERF_CONTEXT_USER": -512, "PERF_CONTEXT_USER_DEFERRED": -640}

def our_chain(record):
	val = record.value.get("callchain")
	if val is None:
		return None
	out = []
	for _, ip in val.items:
		n = CONTEXTS.get(ip.text, sp.number(ip))
		if n is None:
			raise ParseError("in a callchain: " + str(ip))
		out.append(n & ((1 << 64) - 1))
	return tuple(out)

def our_regs(record):
	val = record.value.get("regs_user")
	if val is None:
		return ()
	return tuple((k.upper(), sp.number(v)) for k, v in val.items if k != "abi")

def our_stack(record):
	val = record.value.get("stack_user")
	if val is None:
		return None
	# perf shows the number of bytes that were filled as the size
	filled = val.get("dyn_size")
	return sp.number(val.get("size") if filled is None else filled)

def want(pattern, theirs):
	m = re.match(pattern, theirs.text)
	if not m:
		raise ParseError("perf report: %s%s" % (theirs.type, theirs.text))
	return m.groups()

def num(text):
	return int(text, 0)

def theirs_key(t):
	"""Compare a record with perf's line, by its type."""
	what = ()
	if t.type == "SAMPLE":
		pid, tid, ip, period = want(
			r"\(.*?\): (-?\d+)/(-?\d+): (\S+) period: (\d+)", t)
		what = (num(pid), num(tid), num(ip), num(period), chain_of(t),
			regs_of(t), stack_of(t))
	elif t.type == "COMM":
		exec_, comm, pid, tid = want(r"( exec)?: (.*):(-?\d+)/(-?\d+)$", t)
		what = (num(pid), num(tid), comm, bool(exec_))
	elif t.type in ("FORK", "EXIT"):
		what = tuple(num(n) for n in want(
			r"\((-?\d+):(-?\d+)\):\((-?\d+):(-?\d+)\)", t))
	elif t.type in ("MMAP", "MMAP2"):
		what = want(r" (-?\d+)/(-?\d+): \[(\S+)\((\S+)\) @ (\S+)(?: .*?)?\]: "
			    r"\S+ (.*)$", t)
		what = tuple(num(n) for n in what[:5]) + (what[5],)
	elif t.type == "SWITCH":
		way, = want(r" (IN|OUT(?: preempt)?) *$", t)
		what = (way.lower(),)
	elif t.type == "SWITCH_CPU_WIDE":
		way, pid, tid = want(r" (IN|OUT(?: preempt)?) +(?:prev|next) pid/tid: +"
				     r"(-?\d+)/(-?\d+) *$", t)
		what = (way.lower(), num(pid), num(tid))
	elif t.type == "LOST":
		# perf shows the event too
		id, lost = want(r".*?id: ?(\d+)[:,]? +lost: ?(\d+)", t)
		what = (num(id), num(lost))
	return (t.type, None if t.type in rp.LISTENED else t.time, t.size) + what

def way(record):
	if not record.misc("PERF_RECORD_MISC_SWITCH_OUT"):
		return "in"
	return "out preempt" if record.misc("PERF_RECORD_MISC_SWITCH_OUT_PREEMPT") \
		else "out"

def signed(n):
	return n - (1 << 32) if n is not None and n >= 1 << 31 else n

def stamp(r):
	"""Return a record's time: FORK and EXIT have one besides the trailer's."""
	if r.type in rp.LISTENED:
		return None
	trailer = r.value.get("sample_id")
	n = sp.number(trailer.get("time")) if trailer else None
	return r.n("time") if n is None else n

def our_key(r, period):
	what = ()
	pid, tid = signed(r.n("pid")), signed(r.n("tid"))
	if r.type == "SAMPLE":
		what = (pid, tid, r.n("ip"), r.n("period", period), our_chain(r),
			our_regs(r), our_stack(r))
	elif r.type == "COMM":
		what = (pid, tid, r.text("comm"), r.misc("PERF_RECORD_MISC_COMM_EXEC"))
	elif r.type in ("FORK", "EXIT"):
		what = (pid, tid, signed(r.n("ppid")), signed(r.n("ptid")))
	elif r.type in ("MMAP", "MMAP2"):
		what = (pid, tid, r.n("addr"), r.n("len"), r.n("pgoff"),
			r.text("filename"))
	elif r.type == "SWITCH":
		what = (way(r),)
	elif r.type == "SWITCH_CPU_WIDE":
		what = (way(r), signed(r.n("next_prev_pid")),
			signed(r.n("next_prev_tid")))
	elif r.type == "LOST":
		what = (r.n("id"), r.n("lost"))
	return (r.type, stamp(r), r.size) + what

def short(key):
	return str(key)[:1200]

def by_type(keys):
	out = collections.Counter()
	for key, n in keys.items():
		out[key[0]] += n
	return dict(out)

def compare(tap, name, run, data, period, after=False):
	"""after: the events still run when perf has read for the last time."""
	ids = rp.data_ids(data)
	rings = {r.number: r for r in run.summary.rings.values()
		 if run.summary.events[r.event].id in ids}
	ours_all = [r for r in run.records if r.ring in rings]
	ours = collections.Counter(our_key(r, period) for r in ours_all)
	theirs = collections.Counter(rp_key for rp_key in
				     map(theirs_key, rp.dump(data)))
	why = ["perf.data's rings are not in the summary"] if not rings else []
	missed = sum(run.missed[n] for n in rings)
	absent = theirs - ours
	extra = ours - theirs
	if after and theirs:
		last = max((key[1] for key in theirs if key[1] is not None), default=0)
		extra = collections.Counter({k: n for k, n in extra.items()
					     if k[1] is None or k[1] <= last})
	unseen = sum(key[2] * n for key, n in absent.items())
	if extra:
		why.append("perf does not have %d that we show: %s" %
			   (sum(extra.values()), by_type(extra)))
		why += ["  " + short(k) for k in sorted(extra, key=str)[:5]]
	if unseen > missed if after else unseen != missed:
		why.append("we do not show %d records (%d bytes) of perf's, and say "
			   "that we missed %d bytes" %
			   (sum(absent.values()), unseen, missed))
		why += ["  " + short(k) for k in sorted(absent, key=str)[:5]]
	tap.ok(theirs and not why, "%s: same records as perf report -D (%d of %d)" %
	       (name, sum((theirs & ours).values()), sum(theirs.values())),
	       why or ["perf.data has no record"])
	odd = run.odd()
	tap.ok(not odd, name + ": every record adds up", [o[:300] for o in odd[:5]])
	counted(tap, name, run)
	return theirs, missed

def counted(tap, name, run):
	"""The counts in the summary are those of the records shown."""
	why = []
	shown = collections.Counter((r.event, r.type) for r in run.records)
	told = collections.Counter()
	for e in list(run.summary.events.values()):
		for kind, n in e.records.items():
			told[kind] += n
	types = collections.Counter()
	for (_, kind), n in shown.items():
		types[kind] += n
	if types != told:
		why.append("shown %s, the summary says %s" % (dict(types), dict(told)))
	for ring in run.summary.rings.values():
		n = sum(r.ring == ring.number for r in run.records)
		if n != ring.seen:
			why.append("ring %d: %d shown, %d seen by the summary" %
				   (ring.number, n, ring.seen))
		if run.missed[ring.number] != ring.missed:
			why.append("ring %d: %d bytes missed, %d by the summary" %
				   (ring.number, run.missed[ring.number], ring.missed))
	tap.ok(not why, name + ": the summary counts the same", why)

LOOK = ["--records", "--summary", "--look-every=10"]
CASES = [
	# name, perf record's options, period, needs tracefs, runs on at the end
	("record -F 999", ["-e", "cpu-clock", "-F", "999"], None, False, False),
	("record --call-graph fp",
	 ["-e", "cpu-clock", "-F", "999", "--call-graph", "fp"], None, False, False),
	("record --call-graph dwarf",
	 ["-e", "cpu-clock", "-F", "999", "--call-graph", "dwarf,4096"], None,
	 False, False),
	("record --switch-events",
	 ["-e", "cpu-clock", "-F", "999", "--switch-events"], None, False, False),
	("record -c", ["-e", "cpu-clock", "-c", "3000000"], 3000000, False, False),
	("record -a sched_switch",
	 ["-a", "--switch-events", "-e", "sched:sched_switch"], 1, True, True),
]

# Samples of every task are enough.
SHORT = ["sh", "-c", "sleep 0.05; /bin/true"]

def record(tap, tmp, options, name):
	data = os.path.join(tmp, "perf.data")
	if os.path.exists(data):
		os.unlink(data)
	run = rp.Run(LOOK, [rp.PERF, "record", "-o", data] + options +
		     ["--"] + (SHORT if "-a" in options else rp.BUSY))
	if run.status or not os.path.exists(data):
		tap.skip(name, "perf record does not work here: " +
			 (run.err.strip().split("\n") or [""])[-1][:80])
		return None, data
	return run, data

def against_script(tap, name, run, data):
	"""Return the lines of perf script."""
	r = subprocess.run([rp.PERF, "script", "-i", data, "--ns", "-F",
			    "pid,tid,time,ip"], stdout=subprocess.PIPE,
			   stderr=subprocess.DEVNULL, text=True, timeout=300)
	theirs = []
	for line in r.stdout.split("\n"):
		if not line.strip():
			continue
		m = re.match(r" *(-?\d+)/(-?\d+) +(\d+)\.(\d{9}): +([0-9a-f]+)$", line)
		if not m:
			raise ParseError("perf script: " + line)
		theirs.append((int(m.group(1)), int(m.group(2)),
			       int(m.group(3)) * 10**9 + int(m.group(4)),
			       int(m.group(5), 16)))
	ours = [(r.n("pid"), r.n("tid"), r.n("time"), r.n("ip"))
		for r in run.records if r.type == "SAMPLE"]
	why = []
	if sorted(ours) != sorted(theirs) and not sum(run.missed.values()):
		why = ["perf script has %d samples, we %d" % (len(theirs), len(ours))]
		why += ["  only perf: %s" % (t,) for t in
			sorted(set(theirs) - set(ours))[:3]]
		why += ["  only we: %s" % (t,) for t in
			sorted(set(ours) - set(theirs))[:3]]
	tap.ok(theirs and not why, "%s: same samples as perf script (%d)" %
	       (name, len(theirs)), why or ["perf script printed none"])

def test_record(tap, tmp, tracefs):
	for no, (name, options, period, needs, after) in enumerate(CASES):
		if needs and not tracefs:
			tap.skip(name, "no tracefs")
			continue
		run, data = record(tap, tmp, options, name)
		if not run:
			continue
		compare(tap, name, run, data, period, after)
		if not no:
			against_script(tap, name, run, data)

def test_lost(tap, tmp):
	"""In a ring that is too small the kernel reports lost records."""
	name = "record that loses"
	run, data = record(tap, tmp, ["-e", "cpu-clock", "-F", "10000", "-m", "1",
				      "--call-graph", "dwarf,1024"], name)
	if not run:
		return
	theirs, missed = compare(tap, name, run, data, None)
	by_event = rp.lost_samples(data)
	said = {e.id: e.lost for e in run.summary.events.values() if e.lost}
	what = name + ": as many lost as perf says"
	if by_event:
		if set(by_event) == {(1 << 64) - 1}:	# samples without ids
			by_event = sum(by_event.values())
			said = sum(said.values())
		tap.ok(said == by_event, what + ", by event",
		       ["perf %s, summary %s" % (by_event, said)])
		return
	# per ring, whichever event wrote last
	lost = sum(key[4] * n for key, n in theirs.items() if key[0] == "LOST")
	ours = sum(said.values())
	if not lost:
		tap.skip(what, "nothing was lost")
	else:
		tap.ok(ours == lost if not missed else ours <= lost,
		       "%s (%d)" % (what, lost), ["%d in the summary" % ours])

# ---- perf's Python module --------------------------------------------------------

WATCH = r"""
import os, subprocess, sys
import perf
cpus, threads = perf.cpu_map(), perf.thread_map()
evsel = perf.evsel(type=perf.TYPE_SOFTWARE, config=perf.COUNT_SW_DUMMY,
	task=1, comm=1, freq=0, watermark=1, wakeup_events=1, sample_id_all=1,
	sample_type=perf.SAMPLE_PERIOD | perf.SAMPLE_CPU | perf.SAMPLE_TID)
evsel.open(cpus=cpus, threads=threads)
evlist = perf.evlist(cpus, threads)
evlist.add(evsel)
evlist.mmap()
print("script", os.getpid())
children = []
for argv in (["/bin/true"], ["/bin/sh", "-c", "/bin/ls / >/dev/null; :"],
	     ["/bin/sh", "-c", "/bin/true & wait; exit 3"]):
	child = subprocess.Popen(argv)
	child.wait()
	children.append(child.pid)
left = set(children)
for turn in range(100):
	evlist.poll(timeout=50)
	for cpu in cpus:
		while True:
			event = evlist.read_on_cpu(cpu)
			if not event:
				break
			print(event.sample_cpu, event.sample_pid,
			      event.sample_tid, str(event).strip())
			if event.type == perf.RECORD_EXIT:
				left.discard(event.pid)
	if not left:
		break
"""

KINDS = ("fork", "comm", "exit")

def watched(text):
	"""Return (the script's pid, its forks, names and exits)."""
	script, out = None, []
	for line in text.split("\n"):
		m = re.match(r"script (\d+)$", line)
		if m:
			script = int(m.group(1))
			continue
		if not line or line.startswith("libperf:"):
			continue
		m = re.match(r"(\d+) (\d+) (\d+) \{ type: (\w+), (.*?) ?\}$", line)
		if not m:
			raise ParseError("the script printed: " + line)
		kind = m.group(4)
		if kind not in KINDS:
			continue	# LOST, THROTTLE...
		f = dict(p.split(": ", 1) for p in m.group(5).split(", "))
		key = (kind, int(m.group(1)), int(m.group(2)), int(m.group(3)),
		       int(f["pid"]), int(f["tid"]))
		if kind == "comm":
			key += (f["comm"],)
		else:
			key += (int(f["ppid"]), int(f["ptid"]), int(f["time"]))
		out.append(key)
	return script, out

def family(script, keys):
	"""Return the records of the script's descendants."""
	pids = {script}
	for key in sorted((k for k in keys if k[0] == "fork"), key=lambda k: k[-1]):
		if key[6] in pids:
			pids.add(key[4])
	return collections.Counter(k for k in keys if k[4] in pids - {script})

def test_python(tap):
	name = "Python script with task and comm events"
	python = "/usr/bin/python3"
	if subprocess.run([python, "-c", "import perf"], stdout=subprocess.DEVNULL,
			  stderr=subprocess.DEVNULL).returncode:
		tap.skip(name, "%s has no module perf" % python)
		return
	run = rp.Run(LOOK, [python, "-c", WATCH])
	script, theirs = watched(run.out)
	if run.status or not script:
		tap.skip(name, "the script does not run here: " +
			 (run.err.strip().split("\n") or [""])[-1][:80])
		return
	ours = []
	for r in run.records:
		if r.type.lower() not in KINDS:
			continue
		key = (r.type.lower(), sp.number(r.value.get("sample_id").get("cpu")),
		       sp.number(r.value.get("sample_id").get("pid")),
		       sp.number(r.value.get("sample_id").get("tid")),
		       r.n("pid"), r.n("tid"))
		if r.type == "COMM":
			key += (r.text("comm"),)
		else:
			key += (r.n("ppid"), r.n("ptid"), r.n("time"))
		ours.append(key)
	a, b = family(script, theirs), family(script, ours)
	why = ["only the script: %s" % (k,) for k in a - b] + \
		["only we: %s" % (k,) for k in b - a]
	# other processes too, but the script stops reading before the end
	why += ["only the script: %s" % (k,) for k in
		collections.Counter(theirs) - collections.Counter(ours)
		if not sum(run.missed.values())]
	kinds = collections.Counter(k[0] for k in a)
	tap.ok(not why and kinds["fork"] >= 5 and kinds["exit"] >= 5 and
	       kinds["comm"] >= 5, "%s: the same %s" % (name, dict(kinds)),
	       why[:10] or ["the script saw only %s" % dict(kinds)])
	odd = run.odd()
	tap.ok(not odd, name + ": every record adds up", odd[:5])

# ---- perf stat -------------------------------------------------------------------

def stat(tmp, options):
	"""Return (run, [(event, value, run time)] as perf printed them)."""
	out = os.path.join(tmp, "stat")
	run = rp.Run(["--summary"], [rp.PERF, "stat", "-x,", "-o", out] + options +
		     ["--"] + rp.BUSY)
	rows = []
	if not os.path.exists(out):
		return run, rows
	with open(out) as f:
		for line in f:
			p = line.strip().split(",")
			if len(p) > 4 and not line.startswith("#"):
				# ":u" where the kernel may not be measured
				rows.append((p[2].split(":")[0], p[0], p[3]))
	return run, rows

def reads(run):
	return [c for c in run.calls if c.name == "read" and
		c.arg(1).kind == "struct"]

def same_value(row, value):
	"""Compare counts: perf prints clocks in ms with two digits."""
	event, text, _ = row
	if event.endswith("-clock"):
		return "%.2f" % (value / 1e6) == text
	return text == str(value)

def test_stat(tap, tmp):
	name = "stat"
	events = ["task-clock", "context-switches", "page-faults"]
	run, rows = stat(tmp, ["-e", ",".join(events)])
	if run.status or [r[0] for r in rows] != events:
		tap.skip(name, "perf stat does not work here")
		return
	got = {}
	for c in reads(run):
		m = re.match(r"\d+<(.*)>$", c.arg(0).text)
		got.setdefault(m.group(1).split(":")[0], []).append(c.arg(1))
	why = []
	for row in rows:
		event = row[0]
		vals = got.get(event, [])
		if len(vals) != 1:
			why.append("%d reads of %s" % (len(vals), event))
			continue
		n = sp.number(vals[0].get("value"))
		if not same_value(row, n):
			why.append("%s: perf printed %s, the read shows %s" %
				   (event, row[1], n))
		if str(sp.number(vals[0].get("time_running"))) != row[2]:
			why.append("%s: perf printed %s ns of running, the read "
				   "shows %s" % (event, row[2],
						 vals[0].get("time_running")))
	tap.ok(not why, "stat: the reads show what perf printed", why)
	why = []
	for row in rows:
		e = run.summary.named(row[0])
		if len(e) != 1:
			why.append("%d events called %s" % (len(e), row[0]))
		elif e[0].count is None or not same_value(row, e[0].count):
			why.append("%s: perf printed %s, the summary says %s" %
				   (row[0], row[1], e[0].count))
		elif e[0].reads != 1 or e[0].start != "enabled by exec":
			why.append("%s: read %d times, %s" %
				   (row[0], e[0].reads, e[0].start))
	tap.ok(not why, "stat: the summary counts what perf printed", why)

def test_group(tap, tmp):
	name = "stat of a group"
	events = ["page-faults", "context-switches"]
	run, rows = stat(tmp, ["-e", "{%s}" % ",".join(events)])
	if run.status or [r[0] for r in rows] != events:
		tap.skip(name, "perf stat does not work here")
		return
	why = []
	groups = [c.arg(1) for c in reads(run) if c.arg(1).get("values")]
	tap.ok(groups, name + ": it is read as a group", ["no read of a group"])
	for group in groups[-1:]:
		members = [v for _, v in group.get("values").items]
		if sp.number(group.get("nr")) != len(rows) or len(members) != len(rows):
			why.append("nr=%s, %d members shown" %
				   (group.get("nr"), len(members)))
		for row, member in zip(rows, members):
			called = [t.split(":")[0] for t in
				  member.get("id").comments]
			if called != [row[0]]:
				why.append("id of %s is called %s" %
					   (row[0], member.get("id").comments))
			n = sp.number(member.get("value"))
			if not same_value(row, n):
				why.append("%s: perf printed %s, the read shows %s" %
					   (row[0], row[1], n))
			e = run.summary.by_id(sp.number(member.get("id")))
			if not e or not e.text.startswith(row[0] + ":"):
				why.append("the summary has no %s with id %s" %
					   (row[0], member.get("id")))
			elif e.count != n:
				why.append("%s: the summary says %s, not %s" %
					   (row[0], e.count, n))
	tap.ok(not why, name + ": members by name, values as printed", why)
	a, b = (run.summary.named(e) for e in events)
	good = len(a) == len(b) == 1 and a[0].leader is None and \
		b[0].leader == a[0].number
	tap.ok(good, name + ": the summary has leader and member",
	       run.summary.lines)
	tap.ok(good and a[0].start == "enabled by exec" and
	       b[0].start != "enabled at open",
	       name + ": a member does not run before its leader",
	       run.summary.lines)

# ---- several events in one ring -----------------------------------------------------

def test_mixed(tap, how):
	name = "one ring, several sample types (%s)" % how
	why_not = rp.missing("mixedring")
	if why_not:
		tap.skip(name, why_not)
		return
	run = rp.Run(["--records", "--summary"], [rp.target("mixedring"), how])
	known = {}	# address or "comm" -> (id, number)
	size = 0
	for line in run.out.strip().split("\n"):
		p = line.split()
		if p[0] == "event":
			known[int(p[2], 16)] = (int(p[1]), int(p[3]))
		elif p[0] == "comm":
			known["comm"] = (int(p[1]), int(p[2]))
		else:
			size = int(p[1])
	tap.ok(len(known) == 4 and sum(r.size for r in run.records) == size,
	       name + ": all of the ring is shown",
	       ["%d of %d bytes" % (sum(r.size for r in run.records), size),
		run.err])
	labels = {}	# id -> the name in the summary
	for e in run.summary.events.values():
		labels[e.id] = e.text.rsplit(": ", 1)[0]
	wrong, seen = [], collections.Counter()
	for r in run.records:
		who = "comm" if r.type == "COMM" else r.n("addr")
		seen[who] += 1
		if who not in known:
			wrong.append("nobody's: " + r.line)
			continue
		id, _ = known[who]
		# a missing name is not an error; a wrong one is
		if r.event != labels.get(id) and (how != "none" or
						  r.event in labels.values()):
			wrong.append("not %s's: %s" % (labels.get(id), r.line[:200]))
		if how != "none" and r.id != id:
			wrong.append("id is not %d: %s" % (id, r.line[:200]))
	tap.ok(not wrong, name + ": each record by its event",
	       ["%d of %d wrong" % (len(wrong), len(run.records))] + wrong[:3])
	wrong = ["%s: %d, not %d" % (who, seen[who], n)
		 for who, (_, n) in known.items() if seen[who] != n]
	tap.ok(not wrong, name + ": as many as were made", wrong)
	wrong = []
	for who, (id, n) in known.items():
		e = run.summary.by_id(id)
		kind = "COMM" if who == "comm" else "SAMPLE"
		got = e.records if e else None
		if got != {kind: n} and (how != "none" or got):
			wrong.append("event with id %d: %s, not %s" %
				     (id, got, {kind: n}))
	tap.ok(not wrong, name + ": the summary counts them where they belong", wrong)
	if how != "none":
		odd = run.odd()
		tap.ok(not odd, name + ": every record adds up", odd[:5])

def own_tests(tap, tmp):
	return [("mixed", lambda: [test_mixed(tap, how) for how in
				   ("identifier", "id", "none")])]

def perf_tests(tap, tmp, tracefs):
	return [("record", lambda: test_record(tap, tmp, tracefs)),
		("lost", lambda: test_lost(tap, tmp)),
		("python", lambda: test_python(tap)),
		("stat", lambda: test_stat(tap, tmp)),
		("group", lambda: test_group(tap, tmp))]

if __name__ == "__main__":
	sys.exit(rp.main("pevtrace-records.", "perf record, perf stat",
			 own_tests, perf_tests))
