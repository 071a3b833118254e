#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Traces of a real perf, compared with three other sources:

  strace -v           every attr member that it decodes, open by open
  PERF_TEST_ATTR=DIR  the files in which perf notes each event it opened,
                      written in the very run that pevtrace traces
  perf evlist -v      the attrs in the perf.data that came out of that run

Members are compared by number, whatever way they are written.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import programs
import straceparse as sp

RECORD = ["perf", "record", "-o", "@data"]
CASES = [
	# name, command, needs tracefs, leaves a perf.data
	("record cpu-clock", RECORD + ["-e", "cpu-clock", "true"], False),
	("stat", ["perf", "stat", "-o", "@stat", "true"], False),
	("trace", ["perf", "trace", "-o", "@trace", "true"], True),
	("record -a sched_switch",
	 RECORD + ["-a", "-e", "sched:sched_switch", "true"], True),
	("record branch filter",
	 RECORD + ["--branch-filter", "any,save_type,u", "true"], False),
	("record dwarf callchain",
	 RECORD + ["-e", "cpu-clock", "--call-graph", "dwarf", "true"], False),
	("record switch events",
	 RECORD + ["-e", "cpu-clock", "--switch-events", "true"], False),
	("record group with intr-regs and clockid",
	 RECORD + ["-e", "{cpu-clock,page-faults}:S", "--intr-regs=ax,ip",
		   "-k", "monotonic", "-W", "-d", "true"], False),
	("record breakpoint",
	 RECORD + ["-e", "mem:0x7f0000001000/8:rw", "true"], False),
	("record execute breakpoint",
	 RECORD + ["-e", "mem:0x7f0000001000:x", "true"], False),
	("stat cache events",
	 ["perf", "stat", "-o", "@stat", "-e",
	  "L1-dcache-load-misses,iTLB-loads,branch-loads,r1a8,cycles:pp",
	  "true"], False),
	("stat msr", ["perf", "stat", "-o", "@stat", "-e", "msr/tsc/", "true"],
	 False),
]

STRACE = sp.find_program("strace")
PERF = sp.find_program("perf", ("/usr/lib/linux-tools",))
PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")

def run(argv, tmp, env=None):
	"""Run a command in which @name is a file in tmp."""
	argv = [os.path.join(tmp, a[1:]) if a.startswith("@") else a
		for a in argv]
	full = dict(os.environ, LC_ALL="C", **(env or {}))
	return programs.run(*argv, env=full, stderr=subprocess.STDOUT)

def opens(path):
	return [c for c in sp.parse_file(path) if c.name == "perf_event_open"]

def sign(val):
	"""Return 'some' for a pid or a descriptor, and -1 unchanged."""
	n = sp.number(val)
	return n if n is None or n <= 0 else "some"

def outcome(call):
	return call.result if call.failed else "ok"

def compare_open(no, theirs, ours):
	"""Return the differences between two lines of one perf_event_open."""
	out = []
	a, b = theirs.arg(0), ours.arg(0)
	if a.kind != "struct" or b.kind != "struct":
		if a.kind != b.kind:
			out.append("attr is a %s, strace has a %s" %
				   (b.kind, a.kind))
	else:
		for name, want in a.items:
			shown, got = sp.field(b, name)
			x, y = sp.number(want), sp.number(got)
			if x is None and want.kind == "atom":
				out.append("strace's %s=%s cannot be resolved" %
					   (name, want))
			elif got is None:
				out.append("%s=%s is not shown" % (name, want))
			elif got.kind == "string" and want.kind == "atom":
				pass	# a string in memory
			elif y is None or x != y:
				out.append("%s: strace %s, pevtrace %s" %
					   (shown, want, got))
		out += ["-v does not show " + n for n in sp.missing_fields(b)]
		out += [n + " is not what this member is called here"
			for n in sp.misnamed(b)]
	for n, what in ((1, "pid"), (3, "group_fd")):
		if sign(theirs.arg(n)) != sign(ours.arg(n)):
			out.append("%s: strace %s, pevtrace %s" %
				   (what, theirs.arg(n), ours.arg(n)))
	# perf's first probe has size 0 and opens on the current CPU
	probe = a.kind == "struct" and sp.number(a.get("size")) == 0
	for n, what in ((2, "cpu"), (4, "flags")):
		x, y = sp.number(theirs.arg(n)), sp.number(ours.arg(n))
		if what == "cpu" and probe:
			same = y is not None and (x < 0) == (y < 0)
		else:
			same = x is not None and x == y
		if not same:
			out.append("%s: strace %s, pevtrace %s" %
				   (what, theirs.arg(n), ours.arg(n)))
	if outcome(theirs) != outcome(ours):
		out.append("result: strace %s, pevtrace %s" %
			   (theirs.result, ours.result))
	return [(no, x) for x in out]

def gather(diffs):
	"""Return one line for each difference, with the opens that have it."""
	at = {}
	for no, text in diffs:
		at.setdefault(text, []).append(str(no))
	return ["open %s: %s" % (",".join(nos), text)
		for text, nos in at.items()]

def against_strace(tap, name, argv, tmp):
	"""Compare two runs of a command; return False if there is nothing to compare."""
	for attempt in range(3):
		# files of the first run must not influence the second
		shutil.rmtree(tmp)
		os.mkdir(tmp)
		r1 = run([STRACE, "-f", "-v", "-e", "trace=perf_event_open",
			  "-o", "@strace"] + argv, tmp)
		r2 = run([PEVTRACE, "-v", "-o", "@pevtrace"] + argv, tmp)
		theirs = opens(tmp + "/strace")
		ours = opens(tmp + "/pevtrace")
		# the state of the machine may differ between the runs
		if len(theirs) == len(ours):
			break
	what = "%s: same opens as strace -v" % name
	if not theirs:
		tap.skip(what, "perf opened nothing here: " +
			 (r1.stdout.strip().split("\n") or [""])[-1][:60])
		return
	why = []
	if len(theirs) != len(ours):
		why.append("strace saw %d opens, pevtrace %d" %
			   (len(theirs), len(ours)))
		for side, calls in (("strace", theirs), ("pevtrace", ours)):
			why += ["%s: type %s config %s cpu %s = %s" %
				(side, c.arg(0).get("type"),
				 c.arg(0).get("config"), c.arg(2), c.result)
				for c in calls if c.arg(0).kind == "struct"]
	else:
		diffs = []
		for no, (a, b) in enumerate(zip(theirs, ours), 1):
			diffs += compare_open(no, a, b)
		why += gather(diffs)
	if r1.returncode != r2.returncode:
		why.append("exit status %d under strace, %d under pevtrace" %
			   (r1.returncode, r2.returncode))
		why += r2.stdout.strip().split("\n")[-4:]
	tap.ok(not why, "%s (%d)" % (what, len(theirs)), why)

ARGS = {"pid": 1, "cpu": 2, "group_fd": 3, "flags": 4}

def against_files(tap, name, files, calls):
	"""Each event-TYPE-CONFIG-FD file corresponds to one open."""
	what = "%s: same as the files perf wrote" % name
	why = []
	unread = 0
	for path in sorted(files):
		want = {}
		with open(path) as f:
			for line in f:
				line = line.strip()
				if not line or line.startswith("["):
					continue
				m = re.match(r"(\w+)=(-?\d+)$", line)
				if not m:
					why.append("%s: cannot read %r" %
						   (os.path.basename(path), line))
					continue
				want[m.group(1)] = int(m.group(2))
		unread += "fd" not in want
		mine = [c for c in calls if not c.failed and
			c.ret == want.get("fd") and
			sp.number(c.arg(0).get("type")) == want.get("type") and
			sp.number(c.arg(0).get("config")) == want.get("config")]
		if not mine:
			why.append("no open for " + os.path.basename(path))
			continue
		# a later open of the same kind on the same fd has overwritten the file
		call = mine[-1]
		for key, val in want.items():
			if key == "fd":
				continue
			got = call.arg(ARGS[key]) if key in ARGS \
				else sp.field(call.arg(0), key)[1]
			n = sp.number(got)
			if n is None and got is not None and got.kind == "string":
				continue
			if n is not None and n < 0 and val >= 0:
				n &= (1 << 64) - 1
			if n != val:
				why.append("%s: %s is %d in the file, %s here" %
					   (os.path.basename(path), key, val, got))
	tap.ok(not why and not unread, "%s (%d)" % (what, len(files)), why)

PREFIX = {
	"sample_type": "PERF_SAMPLE_",
	"read_format": "PERF_FORMAT_",
	"branch_sample_type": "PERF_SAMPLE_BRANCH_",
}

def evlist(data):
	"""Return [(event name, {member: number})] of a perf.data file."""
	r = subprocess.run([PERF, "evlist", "-v", "-i", data],
			   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
			   text=True, errors="replace")
	out = []
	for line in r.stdout.strip().split("\n"):
		if not line or line.startswith("#"):
			continue
		m = re.match(r"(.*?): ((?:type: \d+[^,]*, )?size: .*)$", line)
		if not m:
			raise sp.ParseError("evlist: " + line)
		want = {}
		text = re.sub(r"\{ (\w+), \w+ \}", r"\1", m.group(2))
		for item in re.split(r", (?=\w+: )", text):
			key, _, val = item.partition(": ")
			# since perf 6.7 a name follows the number
			val = re.sub(r"^(\w+) \(.*\)$", r"\1", val)
			pre = PREFIX.get(key, "")
			n = sp.evaluate("|".join(
				v if re.match(r"-?\d", v) else pre + v
				for v in val.split("|")), sp.NAMES)
			if n is None:
				raise sp.ParseError("evlist: %s in %s" %
						    (item, line))
			want[key] = n
		out.append((m.group(1), want))
	return out

def against_evlist(tap, name, data, calls):
	"""Each event of perf.data agrees with a traced open in every member."""
	what = "%s: same as perf evlist -v" % name
	events = evlist(data)
	why = []
	for event, want in events:
		best = None
		for call in calls:
			attr = call.arg(0)
			if call.failed or attr.kind != "struct":
				continue
			diff = []
			for _, _, names in sp.SLOTS:
				shown, got = sp.field(attr, names[0])
				n = sp.number(got) if got is not None else 0
				w = next((want[k] for k in names if k in want), 0)
				if n is not None and n < 0:
					n &= (1 << 64) - 1
				if n is not None and n != w:
					diff.append("%s is %d in perf.data, %s here"
						    % (shown, w, got))
			for key in want:
				if key not in sp.SAME_PLACE:
					diff.append("unknown member " + key)
			if best is None or len(diff) < len(best):
				best = diff
		if best is None:
			why.append(event + ": no successful open at all")
		else:
			why += [event + ": " + d for d in best]
	tap.ok(events and not why, "%s (%d)" % (what, len(events)),
	       why or ["perf.data lists no event"])

def check(tap, name, argv, tmp):
	if STRACE:
		against_strace(tap, name, argv, tmp)
	else:
		tap.skip(name + ": same opens as strace -v", "no strace")

	shutil.rmtree(tmp)
	os.mkdir(tmp)
	notes = os.path.join(tmp, "attrs")
	os.mkdir(notes)
	r = run([PEVTRACE, "-v", "-o", "@pevtrace"] + argv, tmp,
		{"PERF_TEST_ATTR": notes})
	calls = opens(tmp + "/pevtrace")
	files = glob.glob(notes + "/event-*")
	if files:
		against_files(tap, name, files, calls)
	else:
		good = [c for c in calls if not c.failed]
		tap.skip(name + ": same as the files perf wrote",
			 "perf kept no event of its %d opens here" % len(calls)
			 if good or calls else "perf opened nothing")
	data = tmp + "/data"
	if "record" in argv and os.path.exists(data) and \
			os.path.getsize(data) and r.returncode == 0:
		against_evlist(tap, name, data, calls)

def main():
	if not PEVTRACE:
		sp.skip_all("PEVTRACE is not set")
	if not PERF:
		sp.skip_all("no perf on this machine")
	probe = subprocess.run([PERF, "--version"], stdout=subprocess.PIPE,
			       stderr=subprocess.STDOUT)
	if probe.returncode:
		sp.skip_all("perf does not run here")
	tap = sp.Tap()
	top = tempfile.mkdtemp(prefix="pevtrace-oracle.")
	tmp = os.path.join(top, "run")
	only = sys.argv[1:]
	try:
		for name, argv, needs in CASES:
			if only and not any(o in name for o in only):
				continue
			if needs and not sp.tracefs():
				tap.skip(name, "no tracefs")
				continue
			os.makedirs(tmp, exist_ok=True)
			argv = [PERF] + argv[1:]
			try:
				check(tap, name, argv, tmp)
			except (sp.ParseError, OSError, IndexError,
				subprocess.TimeoutExpired) as e:
				tap.ok(False, name + ": could be read",
				       [type(e).__name__ + ": " + str(e)])
	finally:
		shutil.rmtree(top, ignore_errors=True)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
