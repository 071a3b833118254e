#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The perf.data files of --perf-data and report --format=perf-data.

A trace of perf record has the records that perf itself stores: perf script, perf evlist -v and
perf report --stdio must print the same of both files.  Other profilers have no file to compare
with: what perf prints is held against what they say, or against the lines of the trace.

With PERF_ROOT=DIR, the perf of another release reads the files as well: DIR is a root directory
with its packages, such as
	mmdebstrap --variant=extract --include=linux-perf trixie DIR
"""

import collections
import json
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import machine
import ringparse as rp
import straceparse as sp

ROOT = os.environ.get("PERF_ROOT")
TRIES = 4	# a ring may be overwritten before a busy machine reads it
# perf puts its own directory into PATH, where PERF_ROOT has programs of another release
WORK = ["/bin/sh", "-c", "PATH=/usr/bin:/bin; i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done; "
	"ls / >/dev/null; cat /proc/self/maps | wc -l >/dev/null"]

def readers():
	"""Return the commands of perf by name."""
	out = {"perf": [rp.PERF]}
	if ROOT:
		libs = os.path.join(ROOT, "usr/lib/%s-linux-gnu" % os.uname().machine)
		loader = os.path.join(libs, "ld-linux-%s.so.2" %
				      os.uname().machine.replace("_", "-"))
		out["PERF_ROOT's perf"] = [loader, "--library-path", libs,
					   os.path.join(ROOT, "usr/bin/perf")]
	return out

def run(argv, **how):
	how.setdefault("stdin", subprocess.DEVNULL)
	return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300,
			      **how)

def text(argv, **how):
	"""Return the lines of standard output; perf's tips are chosen at random."""
	r = run(argv, **how)
	lines = r.stdout.decode(errors="replace").split("\n")
	return [line for line in lines if not line.startswith("# (Tip:")]

def trace(options, argv, **how):
	return run([rp.PEVTRACE, "-q", "-o", "/dev/null"] + options + argv, **how)

def record(tmp, args, options=(), perf=rp.PERF):
	"""Trace perf record; return both files, perf's first, and what went wrong."""
	own, ours = os.path.join(tmp, "own.data"), os.path.join(tmp, "ours.data")
	for _ in range(TRIES):
		r = trace(list(options) + ["--perf-data=" + ours],
			  [perf, "record", "-o", own] + args)
		if b"overwritten" not in r.stderr:
			break
	err = r.stderr.decode(errors="replace")
	bad = [line for line in err.split("\n") if line.startswith("pevtrace:")]
	return own, ours, bad + ([] if not r.returncode else [err])

# What perf prints of a file.  Call chains are in the output of script; their tree in that of
# report has branches of equal weight in an order that depends on the files' layout.
PRINTS = {
	"script": ["script", "-i"],
	"evlist -v": ["evlist", "-v", "-i"],
	"report": ["report", "--stdio", "-g", "none", "-i"],
}

# The same without files and symbols, for tasks of another root directory than ours: perf names and
# reads their files as these tasks do while they live, and then as we do.
PRINTS_OF_OTHERS = {
	"script": ["script", "-F", "-sym,-symoff,-dso", "-i"],
	"evlist -v": PRINTS["evlist -v"],
	"report": ["report", "--stdio", "-g", "none", "--sort", "comm", "-i"],
}

WHOLE_MACHINE = re.compile("the whole machine| -ae? ")

def others_measured(name):
	"""Return whether this set measures programs of another root directory."""
	def is_another(pid):
		try:	# a kernel thread has no program
			return os.readlink("/proc/%s/exe" % pid) and \
				not os.path.samefile("/proc/%s/root/" % pid, "/")
		except FileNotFoundError:	# or it has ended
			return False
		except PermissionError:
			return True
	return WHOLE_MACHINE.search(name) and any(is_another(pid) for pid in os.listdir("/proc")
						  if pid.isdigit())

def difference(a, b):
	"""Return the first lines that differ."""
	for i, (x, y) in enumerate(zip(a, b)):
		if x != y:
			return ["line %d" % (i + 1), "perf's: " + x, "ours:   " + y]
	return ["%d and %d lines" % (len(a), len(b))] if len(a) != len(b) else []

def differences(perf, prints, own, ours):
	"""Return what differs in the output of this perf, and the numbers of lines."""
	why, lines = [], []
	for what in prints:
		# kworkers change their names also between perf's look and ours
		a, b = ([line for line in text(perf + prints[what] + [f]) if "kworker/" not in line]
			for f in (own, ours))
		if len(a) < 2:
			why.append("%s prints nothing" % what)
		why += [what + ": " + w for w in difference(a, b)]
		lines.append("%s %d" % (what, len(a)))
	return why, lines

def compare(tap, name, own, ours, bad, by=None, again=None):
	"""again: record once more, where the whole machine is measured: other programs may exec between
	perf's look at them and ours."""
	for _ in range(TRIES):
		prints = PRINTS_OF_OTHERS if others_measured(name) else PRINTS
		found = {who: differences(perf, prints, own, ours)
			 for who, perf in (by or readers()).items()}
		if not (again and WHOLE_MACHINE.search(name)) or not any(why for why, _ in found.values()):
			break
		own, ours, bad = again()
	for who, (why, lines) in found.items():
		why = bad + why
		tap.ok(not why, "%s, read by %s: equal lines: %s" %
		       (name, who, ", ".join(lines)), why[:8])

def record_and_compare(tap, name, tmp, args, perf=rp.PERF, by=None):
	again = lambda: record(tmp, args, perf=perf)
	compare(tap, name, *again(), by, again)

# ---- perf record ----------------------------------------------------------------

def sets(tmp):
	"""Event sets: name, options, command."""
	out = [
		("one event", "-e cpu-clock"),
		("a period, without inheritance", "-i -c 250000 -e task-clock"),
		("user code", "-e cpu-clock:u"),
		("two events", "-e cpu-clock -e page-faults"),
		("three events at a rate", "-F 999 -e task-clock,page-faults,context-switches"),
		("frame pointers", "-g -e cpu-clock"),
		("copies of stacks", "--call-graph dwarf -F 200 -e cpu-clock"),
		("addresses and CPUs", "-d --sample-cpu -P -W -e cpu-clock"),
		("a group", "-e {cpu-clock,page-faults}"),
		("counts of a group in samples", "-e {cpu-clock,page-faults}:S"),
		("the whole machine", "-a -e cpu-clock"),
		("context switches", "--switch-events -e cpu-clock"),
		("namespaces", "--namespaces -e cpu-clock"),
		("build ids in records", "--buildid-mmap -e cpu-clock"),
		("another clock", "-k CLOCK_MONOTONIC -e cpu-clock"),
		("a ring for each thread", "--per-thread -e cpu-clock"),
		("registers", "--user-regs=ip,sp -e cpu-clock:u"),
		("rings written backward", "--overwrite -e cpu-clock"),
	]
	if sp.tracefs():
		out += [("tracepoints", "-e sched:sched_switch -e syscalls:sys_enter_openat"),
			("chains of tracepoints and samples",
			 "-g -e cpu-clock -e sched:sched_switch")]
	return out

def test_sets(tap, tmp):
	for name, options in sets(tmp):
		record_and_compare(tap, name, tmp, shlex.split(options) + WORK)

def test_other_recorder(tap, tmp):
	"""The other release records, and reads: perf 6.1 refuses larger attrs than its own."""
	by = {who: perf for who, perf in readers().items() if perf[0] != rp.PERF}
	if not by:
		return tap.skip("another release of perf records", "PERF_ROOT is not set")
	wrapper = os.path.join(tmp, "perf")	# the name tells that attrs are perf's
	with open(wrapper, "w") as f:
		f.write('#!/bin/sh\nexec %s "$@"\n' % shlex.join(*by.values()))
	os.chmod(wrapper, 0o755)
	for name, options in sets(tmp):
		record_and_compare(tap, "another release of perf records: " + name, tmp,
				   shlex.split(options) + WORK, wrapper, by)

def test_users(tap, tmp):
	"""An ordinary user, whose perf excludes the kernel and says so in the event's name; and one
	with CAP_PERFMON, of whom access(2) takes no capability into account."""
	by = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
	home = os.path.join(tmp, "user")
	os.mkdir(home)
	os.chmod(tmp, 0o711)
	for name, more, args in (
			("an ordinary user", [], "-e cpu-clock"),
			("an ordinary user, two events", [], "-e {cpu-clock,faults/name=f/}"),
			("a user with CAP_PERFMON", ["--inh-caps=+perfmon", "--ambient-caps=+perfmon"],
			 "-g -e cpu-clock")):
		if os.getuid() or run(by + more + [rp.PEVTRACE, "--version"]).returncode:
			tap.skip(name, "needs root, setpriv and a program that all may run")
			continue
		os.chown(home, 65534, 65534)
		own, ours = os.path.join(home, "own.data"), os.path.join(home, "ours.data")
		r = run(by + more + [rp.PEVTRACE, "-q", "-o", "/dev/null", "--perf-data=" + ours,
				     rp.PERF, "record", "-o", own] + args.split() + WORK)
		for f in (own, ours):
			os.chown(f, os.getuid(), -1)
		compare(tap, name, own, ours, [] if not r.returncode else [r.stderr])

def test_names(tap, tmp):
	"""Names that only the command line has, in both of perf's files."""
	for args in ("-e cs,cpu-clock/period=100000/ -e page-faults:uk",
		     "--event={cs:k,faults}:u -ecpu-clock -a -e task-clock/name=mine,freq=99/u",
		     "-ae cs -e cs:u -e dummy,cpu-clock", "-e {cs,faults}:S --event minor-faults",
		     "-iecs -Te faults -c1"):
		record_and_compare(tap, "names in " + args, tmp, args.split() + ["perl", "-e", "1"])
	dump, own, made = (os.path.join(tmp, name) for name in ("n.json", "n.data", "m.data"))
	r = trace(["--records", "--json=" + dump],
		  ["env", "-i", rp.PERF, "record", "-e", "cs,faults", "-o", own, "/bin/true"])
	r = run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
	compare(tap, "names in a dump of env perf", own, made, [r.stderr] if r.returncode else [])
	ours = os.path.join(tmp, "script.data")
	r = trace(["--records", "--json=" + dump, "--perf-data=" + ours],
		  ["sh", "-c", 'for e in cs,faults cs/name=mine/u; do "$0" record -q -e $e -o "$1" '
		   "perl -e 1; done", rp.PERF, own])
	run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
	rp.check_schema(tap, "names in scripts that run perf", dump)
	found = [text([rp.PERF, "evlist", "-i", f])[:4] for f in (ours, made)]
	tap.ok(found == 2 * [["cs", "faults", "mine", ""]], "names in scripts that run perf",
	       found + [r.stderr])

def test_replaced(tap, tmp):
	"""Two programs of one path, one after the other: perf takes the build id of the last."""
	prog = os.path.join(tmp, "prog")
	script = 'cp "$1" "$0"; "$0"; sleep 0.3; cp "$2" "$0.new"; mv "$0.new" "$0"; "$0"; :'
	own, ours, bad = record(tmp, ["-c", "1", "-e", "page-faults:u", "sh", "-c", script, prog,
				      *(os.path.realpath(shutil.which(w)) for w in ("true", "false"))])
	ids = [[line for line in text([rp.PERF, "buildid-list", "-i", f]) if line.endswith(" " + prog)]
	       for f in (own, ours)]
	tap.ok(not bad and len(ids[0]) == 1 and ids[0] == ids[1], "a program that is replaced by another",
	       bad + ids)

def test_mode(tap, tmp):
	"""Records have registers and stacks: as perf's, files with them are for their user alone."""
	umask = os.umask(0)
	dump, plain, made = (os.path.join(tmp, name) for name in ("m.json", "plain.json", "m.data"))
	own, ours, bad = record(tmp, ["-e", "cpu-clock"] + WORK, ["--records", "--json=" + dump])
	trace(["--json=" + plain], ["true"])
	run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
	os.umask(umask)
	modes = ["%o" % (os.stat(f).st_mode & 0o7777) for f in (own, ours, made, dump, plain)]
	tap.ok(modes == modes[:1] * 4 + ["666"] and not bad, "modes: that of perf's file, " + modes[0],
	       modes + bad)

def tree(f):
	"""Return the parents of the processes that perf synthesized records of."""
	found = re.findall(r"^0 0 .*PERF_RECORD_FORK\((\d+):(\d+)\):\((\d+):", "\n".join(
		text([rp.PERF, "report", "-D", "-i", f])), re.M)
	return {pid: parent for pid, tid, parent in found if pid == tid}

def test_tree(tap, tmp):
	"""The processes that existed before: with -a, perf record describes their tree, else not."""
	dump, made = os.path.join(tmp, "t.json"), os.path.join(tmp, "t.data")
	for args in (["-a", "-e", "cpu-clock"], ["-e", "cpu-clock"]):
		for _ in range(TRIES):
			own, ours, bad = record(tmp, args + WORK, ["--records", "--json=" + dump])
			run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
			want, got, again = (tree(f) for f in (own, ours, made))
			# others may start, end or lose their parent between perf's look and ours
			both = {pid for pid in want if pid in got}
			if all(want[pid] == got[pid] for pid in both):
				break
		tap.ok((len(both) > len(want) * 0.8 if args[0] == "-a" else not want and not got) and
		       all(want[pid] == got[pid] for pid in both) and got == again,
		       "parents of processes, %s: %d of perf's %d, %d with the dump" %
		       (" ".join(args), len(both), len(want), len(again)),
		       bad + [(pid, want[pid], got.get(pid)) for pid in want
			      if want[pid] != got.get(pid)][:8])

def cgroup_mount():
	"""Return where the hierarchy of perf events is mounted, or None."""
	with open("/proc/self/mounts") as f:
		mounts = [line.split() for line in f]
	v1 = [m[1] for m in mounts if m[2] == "cgroup" and "perf_event" in m[3].split(",")]
	with open("/proc/self/cgroup") as f:
		if not v1 and any("perf_event" in line.split(":")[1].split(",") for line in f):
			return None	# of version 1, and not mounted
	return (v1 + [m[1] for m in mounts if m[2] == "cgroup2"] + [None])[0]

def test_existing(tap, tmp):
	"""Namespaces of processes and cgroups that existed before, if attrs request such records."""
	mount = cgroup_mount()
	upper = os.path.join(mount or "/none", "pevtrace.%d" % os.getpid())
	lower = os.path.join(upper, "a name")
	try:
		os.mkdir(upper)
		os.mkdir(lower)
	except OSError:
		return tap.skip("namespaces and cgroups", "no cgroup can be made here")
	dump, made = os.path.join(tmp, "e.json"), os.path.join(tmp, "e.data")
	target = subprocess.Popen(["sh", "-c", "read x; exec " + shlex.join(WORK)],
				  stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
	try:
		with open(os.path.join(lower, "cgroup.procs"), "w") as f:
			f.write(str(target.pid))
		own, ours, bad = record(tmp, ["--namespaces", "--all-cgroups", "-e", "cpu-clock", "-p",
					      str(target.pid), "sh", "-c",
					      "echo >/proc/%d/fd/0; sleep 1" % target.pid],
					["--records", "--json=" + dump])
	finally:
		target.communicate(b"\n")
		os.rmdir(lower)
		os.rmdir(upper)
	run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
	rp.check_schema(tap, "namespaces and cgroups", dump)
	for who, perf in readers().items():
		lists, reports = [], []
		for f in (own, ours, made):
			out = "\n".join(text(perf + ["report", "-D", "-i", f]))
			lists.append(sorted(re.findall(
				r"PERF_RECORD_CGROUP.*|PERF_RECORD_NAMESPACES [^\]]*\]", out)))
			reports.append(text(perf + ["report", "--stdio", "--sort", "cgroup,sym", "-i", f]))
		n = sum("a name" in line for line in reports[0])
		# perf also describes its own command, which is not measured
		more = collections.Counter(lists[0]) - collections.Counter(lists[1])
		tap.ok(len(lists[0]) > 3 and len(lists[0]) - len(lists[1]) == more.total() <= 1 and
		       lists[1] == lists[2] and n and
		       reports[0] == reports[1] == reports[2] and
		       not any("pevtrace:" in line for line in bad),
		       "namespaces and cgroups, read by %s: %d equal records, %d lines" %
		       (who, len(lists[1]), n), [bad] + difference(*lists[:2]) +
		       difference(*lists[1:]) + difference(*reports[:2]))

def test_breakpoint(tap, tmp):
	if machine.lacks("breakpoints"):
		return tap.skip("a breakpoint", machine.lacks("breakpoints"))
	source = os.path.join(tmp, "bp.c")
	with open(source, "w") as f:
		f.write("volatile int x;\nint main(void)\n{\n\tfor (int i = 0; i < 100; i++)\n"
			"\t\tx++;\n\treturn 0;\n}\n")
	prog = os.path.join(tmp, "bp")
	if not sp.find_program("cc") or run(["cc", "-no-pie", "-o", prog, source]).returncode:
		return tap.skip("a breakpoint", "no C compiler")
	at = [line.split()[0] for line in text(["nm", prog]) if line.endswith(" x")]
	own, ours, bad = record(tmp, ["-e", "mem:%#x:rw" % int(at[0], 16), prog])
	compare(tap, "a breakpoint", own, ours, bad)

def test_refused(tap, tmp):
	"""What perf could not open: no file of perf, and its exit status."""
	ours = os.path.join(tmp, "refused.data")
	args = [rp.PERF, "record", "-o", os.path.join(tmp, "x"), "-b", "-e", "cpu-clock", "true"]
	r = trace(["--perf-data=" + ours], args)
	tap.ok(r.returncode == run(args).returncode and b"has no events" in r.stderr,
	       "branches, which are refused: no events, perf's exit status", [r.stderr])

def test_pipe(tap, tmp):
	own, ours = os.path.join(tmp, "own.data"), os.path.join(tmp, "pipe.data")
	event = ["-e", "sched:sched_switch"] if sp.tracefs() else ["-e", "page-faults"]
	with open(ours, "wb") as f:
		subprocess.run([rp.PEVTRACE, "-q", "-o", "/dev/null", "--perf-data=-", rp.PERF,
				"record", "-o", own, "-e", "cpu-clock"] + event + WORK, stdout=f,
			       stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=300,
			       check=True)
	for who, perf in readers().items():
		a = text(perf + ["script", "-i", own])
		with open(ours, "rb") as f:
			b = text(perf + ["script", "-i", "-"], stdin=f)
		c = text(perf + ["script", "-i", ours])
		tap.ok(len(a) > 1 and a == b == c, "a pipe, read by %s: %d lines" % (who, len(a)),
		       difference(a, b) + difference(a, c))
	r = run([rp.PEVTRACE, "decode", "--records", ours])
	tap.ok(not r.returncode, "pevtrace decode reads the pipe", [r.stderr])

def test_dump(tap, tmp):
	"""The file of a dump is that of its trace, with the same features and build ids."""
	dump, made = os.path.join(tmp, "dump"), os.path.join(tmp, "made.data")
	event = ["-e", "sched:sched_switch"] if sp.tracefs() else ["-e", "page-faults"]
	own, ours, bad = record(tmp, ["-e", "cpu-clock"] + event + WORK,
				["--records", "--look-every=1", "--json=" + dump])
	r = run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
	compare(tap, "a dump", own, made, bad + r.stderr.decode().split("\n")[:-1])
	rp.check_schema(tap, "a dump", dump)
	a, b = (text([rp.PEVTRACE, "decode", "--records", f]) for f in (ours, made))
	a, b = collections.Counter(a), collections.Counter(b)
	# these are not the kernel's, and as a dump has the beginnings of calls late, one may be later
	rounds = [sum(n for line, n in lines.items() if "FINISHED_ROUND" in line) for lines in (a, b)]
	a, b = (collections.Counter({line: n for line, n in lines.items() if "FINISHED_ROUND" not in line})
		for lines in (a, b))
	tap.ok(len(a) > 100 and a == b and all(rounds),
	       "the dump's file has the records of the trace's: %d lines" % sum(a.values()),
	       list((a - b) + (b - a)))
	a, b = (header(f) | {"build ids": text([rp.PERF, "buildid-list", "-i", f])}
		for f in (ours, made))
	for lines, n in zip((a, b), rounds):	# each is a header of 8 bytes
		size, = (k for k in lines if k.startswith("# data size"))
		lines[size] = int(lines[size].split(" : ")[1]) - 8 * n
	tap.ok(len(a) > 8 and a == b, "its features and build ids, too: %d lines" %
	       (len(a) - 1 + len(a["build ids"])), [(k, a.get(k), b.get(k)) for k in a | b])

def test_formats(tap, tmp):
	"""Tracepoints in a dump: perf refuses a file that lacks the format of one, also if that has no
	records, or if another one of its system has a format."""
	if not sp.tracefs():
		return tap.skip("formats of tracepoints", "no tracefs")
	dump, own, made = (os.path.join(tmp, name) for name in ("f.json", "f.own", "f.data"))
	events = "sched:sched_process_exec,sched:sched_process_exit,syscalls:sys_enter_reboot"
	r = trace(["--records", "--json=" + dump], [rp.PERF, "record", "-o", own, "-e", events] + WORK)
	bad = [r.stderr] if r.returncode else []
	r = run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
	compare(tap, "formats of tracepoints in a dump", own, made, bad + ([r.stderr] if r.stderr else []))
	with open(dump) as f:
		lines = [line for line in f if '"of":"format"' not in line]
	with open(dump, "w") as f:
		f.writelines(lines)
	run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
	for who, perf in readers().items():
		a, b = (text(perf + ["script", "-F", "comm,tid,time,event", "-i", f])
			for f in (own, made))
		tap.ok(len(a) > 3 and a == b, "a dump without formats, read by %s: %d lines" %
		       (who, len(a)), difference(a, b))

def test_rounds(tap, tmp):
	"""Rings that were empty at first: what one look at all rings found is in one round.  perf
	copes with less; Hotspot sorts the records of each round."""
	dump, made = os.path.join(tmp, "rounds.json"), os.path.join(tmp, "rounds.data")
	trace(["--records", "--json=" + dump],
	      [rp.PEVTRACE, "open", "-q", "-o", "/dev/null", "--mmap=8", "-e", "page-faults"] + WORK)
	with open(dump) as f:
		lines = [json.loads(line) for line in f]
	looks = {line["ring"]: line for line in lines if line["kind"] == "look"}
	if len(looks) < 2:
		return tap.skip("rounds", "one CPU has one ring")
	records = [line for line in lines if line["kind"] == "record"]
	lines = [line for line in lines if line["kind"] not in ("look", "record")]
	at = [line.get("call") for line in lines].index("munmap")
	lines[at:at] = list(looks.values()) * 2
	at += 2 * len(looks)
	for ring, look in looks.items():
		found = [r | {"ring": ring} for r in records]
		lines[at:at] = found + [look]
		at += len(found) + 1
	with open(dump, "w") as f:
		f.writelines(json.dumps(line) + "\n" for line in lines)
	r = run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
	types = re.findall(r"PERF_RECORD_(SAMPLE|FINISHED_ROUND)", "".join(
		text([rp.PEVTRACE, "decode", "--records", made])))
	order = [t for i, t in enumerate(types) if t != types[i - 1]]
	tap.ok(types.count("SAMPLE") > 9 and order == ["SAMPLE", "FINISHED_ROUND"],
	       "rounds: %d samples of %d rings in one" % (types.count("SAMPLE"), len(looks)),
	       [r.stderr, order])

def test_late_ring(tap, tmp):
	"""The BPF engine reports the mapping of a ring late, after reads of others for earlier calls:
	its records are not older than what perf has sorted by then."""
	dump, made = os.path.join(tmp, "late.json"), os.path.join(tmp, "late.data")
	trace(["--records", "--json=" + dump],
	      [rp.PEVTRACE, "open", "-q", "-o", "/dev/null", "--mmap=8", "-e", "page-faults"] + WORK)
	with open(dump) as f:
		lines = [json.loads(line) for line in f]
	looks = [line for line in lines if line["kind"] == "look"]
	maps = [line for line in lines if line.get("call") == "mmap" and "ring" in line]
	calls = [line for line in lines if line.get("call") == "ioctl" and "event" in line]
	records = sorted((line for line in lines if line["kind"] == "record" and
			  line["record"]["type"] == 9), key=lambda line: line["record"]["time"])
	if len(maps) < 2:
		return tap.skip("a ring that is reported late", "one CPU has one ring")
	first, late = maps[0]["ring"], maps[-1]["ring"]
	at = lines.index(maps[-1])
	head = [line for line in lines[:at] if line.get("ring") in (None, first)]
	tail = [line for line in lines[at + 1:] if line["kind"] == "end"]
	look = {n: next(line for line in looks if line["ring"] == n) for n in (first, late)}
	end = max(r["ns"] for r in records)
	for i in range(3, 9): # reads at a later time, each for a call before the late ring's mapping
		head += [calls[0] | {key: maps[-1]["enter_ns"] for key in ("enter_ns", "exit_ns")},
			 records[-1] | {"ring": first, "ns": end + i}, look[first] | {"ns": end + i}]
	head += [maps[-1], records[0] | {"ring": late, "ns": end + 9}]
	for i in range(9, 15):
		head += [look[n] | {"ns": end + i} for n in (first, late)]
	with open(dump, "w") as f:
		f.writelines(json.dumps(line) + "\n" for line in head + tail)
	r = run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
	p = run([rp.PERF, "script", "-i", made])
	n = p.stdout.count(b"page-faults")
	tap.ok(n == 7 and b"out of order" not in p.stderr, "a ring that is reported late: %d samples" % n,
	       [r.stderr, p.stderr])

def test_stale_bit(tap, tmp):
	"""MMAP2 of an event without build_id, in which the kernel left the bit that it set for
	another event: perf aborted on what it took for a build id."""
	dump, made = os.path.join(tmp, "stale.json"), os.path.join(tmp, "stale.data")
	trace(["--records", "--json=" + dump],
	      [rp.PEVTRACE, "open", "-q", "-o", "/dev/null", "--mmap=8", "-e", "page-faults"] + WORK)
	want, n = None, 0
	for bit in (0, 0x40):
		with open(dump) as f:
			lines = [json.loads(line) for line in f]
		for line in lines:
			data = bytearray.fromhex(line.get("hex", ""))
			if line["kind"] == "record" and data[0] == 10:	# MMAP2
				data[5] |= bit
				line["hex"], n = data.hex(), n + 1
		with open(dump, "w") as f:
			f.writelines(json.dumps(line) + "\n" for line in lines)
		run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
		lines = text([rp.PERF, "script", "--show-mmap-events", "-i", made])
		want = want or lines
	tap.ok(n and len(lines) > 9 and lines == want, "a stale bit of MMAP2: %d lines" % len(lines),
	       [n] + difference(want, lines))
	shown = text([rp.PEVTRACE, "decode", "--records", dump])
	tap.ok(any("MMAP_BUILD_ID" in line and ", ino=" in line for line in shown) and
	       not any("build_id_size" in line for line in shown),
	       "decode shows device and inode", [line for line in shown if "MMAP2" in line])

def header(f):
	"""Return the features that perf prints of a file, without where it has its data, and when."""
	lines = text([rp.PERF, "report", "--header-only", "-i", f])
	heads = {line.split(" : ")[0]: line for line in lines if " : " in line}
	return {k: v for k, v in heads.items() if "offset" not in k and "captured" not in k}

# AUX data in the formats of their PMUs, and what perf -D prints of them: Intel 64 and IA-32
# Architectures Software Developer's Manual, volume 3, "Trace Packets and Data Types"; Arm
# Architecture Reference Manual, "The Statistical Profiling Extension Sample Record Specification".
PT = (b"\x02\x82" * 8 +			# PSB
      b"\x19\x11\x22\x33\x44\x55\x66\x77" +	# TSC
      b"\x02\x03\x1c\x00" +			# CBR
      b"\x02\x23")				# PSBEND
PT_TEXT = ["PSB", "TSC 0x77665544332211", "CBR 0x1c", "PSBEND"]
SPE = (b"\xb0" + (0x123458).to_bytes(7, "little") + b"\xc0" +	# PC, at EL2
       b"\x49\x01" +				# operation: store
       b"\x71" + (0x1122334455).to_bytes(8, "little"))	# time, which ends the record
SPE_TEXT = ["PC 0x123458 el2 ns=1", "ST GP-REG", "TS 73588229205"]

def aux_dump(tmp, pmu, pieces):
	"""Return the dump of a profiler, with its event changed to one of that PMU, and AUX data:
	pieces of position, bytes missed before it, and bytes."""
	dump = os.path.join(tmp, "aux.json")
	trace(["--records", "--json=" + dump], [rp.target("drain"), "50"])
	with open(dump) as f:
		lines = [json.loads(line) for line in f]
	for line in lines:
		if line.get("of") == "pmu":
			line["name"], line["type"] = pmu, 4095
		if line.get("call") == "perf_event_open":
			attr = line["memory"][0]
			attr["hex"] = "ff0f0000" + attr["hex"][8:]
	at = max(i for i, line in enumerate(lines) if line["kind"] == "look")
	lines[at + 1:at + 1] = [
		{"kind": "aux", "tid": lines[at]["tid"], "ns": lines[at]["ns"], "ring": 1,
		 "position": position, "missed": missed, "hex": data.hex()}
		for position, missed, data in pieces]
	with open(dump, "w") as f:
		f.writelines(json.dumps(line) + "\n" for line in lines)
	return dump

def test_aux(tap, tmp):
	"""AUX data of a dump: perf prints its packets.  No PMU here has an AUX area."""
	made = os.path.join(tmp, "aux.data")
	for pmu, data, want in (("intel_pt", PT, PT_TEXT), ("arm_spe_0", SPE, SPE_TEXT)):
		dump = aux_dump(tmp, pmu, [(0x1000, 0, data * 3), (0x1000 + 3 * len(data), 0, data)])
		rp.check_schema(tap, "AUX data of " + pmu, dump)
		for form in ("file", "pipe"):
			with open(made, "wb") as f:
				r = subprocess.run([rp.PEVTRACE, "report", "--format=perf-data", dump] +
						   (["-o", made] if form == "file" else []),
						   stdout=f, stderr=subprocess.PIPE, timeout=300)
			for who, perf in readers().items():
				# perf 6.1 seeks in standard input, unless that is a pipe
				lines = text(perf + ["report", "-D", "-i", made]) \
					if form == "file" else \
					text(["sh", "-c", 'cat "$0" | "$@"', made] + perf +
					     ["report", "-D", "-i", "-"])
				found = [sum(line.rstrip().endswith(w) for line in lines) for w in want]
				pieces = [line for line in lines if re.search(
					r"PERF_RECORD_AUXTRACE size: 0x%x +offset: 0x1000 .*idx: 0 +"
					r"tid: \d+ +cpu: -1" % ((3 * len(data) + 7) & ~7), line)]
				tap.ok(not r.returncode and len(pieces) == 1 and
				       all(n == 4 for n in found),
				       "AUX data of %s, %s, read by %s: %d packets" %
				       (pmu, form, who, sum(found)),
				       [r.stderr, list(zip(want, found))] +
				       [line for line in lines if "AUXTRACE" in line])
			r = run([rp.PEVTRACE, "decode", "--records", made])
			tap.ok(not r.returncode and r.stdout.count(b"PERF_RECORD_AUXTRACE,") == 2,
			       "AUX data of %s, %s: pevtrace decode reads it" % (pmu, form),
			       [r.stderr])
	dump = aux_dump(tmp, "intel_pt", [(0, 4711, b"")])
	r = run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
	tap.ok(b"lacks 4711 bytes of AUX areas" in r.stderr, "AUX data that were missed", [r.stderr])

def test_header(tap, tmp):
	own, ours, _ = record(tmp, ["-e", "cpu-clock"] + WORK)
	heads = [header(own), header(ours)]
	same = ["# hostname", "# os release", "# arch", "# nrcpus online", "# nrcpus avail",
		"# time of first sample", "# time of last sample", "# event"]
	why = ["%s: perf has '%s', we '%s'" % (k, heads[0].get(k), heads[1].get(k))
	       for k in same if not heads[0].get(k) or heads[0][k] != heads[1].get(k)]
	if "perf record" not in heads[1].get("# cmdline", ""):
		why.append("no cmdline")
	tap.ok(not why, "features: name and release of the machine, CPUs, events, times", why)
	ids = [set(text([rp.PERF, "buildid-list", "-i", f])) for f in (own, ours)]
	left = sorted(ids[0] - ids[1])
	tap.ok(len(ids[0]) > 2 and not left,
	       "build ids: the %d that perf stored are there" % (len(ids[0]) - 1), left)

def header_of(perf, f):
	"""Return the lines of perf report --header-only on CPUs, memory and PMUs, for comparison."""
	found = re.findall(r"^# ((?:cpudesc|cpuid|total memory|sibling|node\d+ cpu|clockid) .*|"
			   r"CPU \d.*|memory nodes.*|  +\d+ \[.*|node\d+ meminfo.*total = \d+|pmu mappings: .*)", "\n".join(
			   text(perf + ["report", "--header-only", "-I", "-i", f])), re.M)
	return [", ".join(sorted(line.split(": ")[1].split(", "))) if "mappings" in line else line
		for line in found]

def test_machine(tap, tmp):
	"""What perf stores of the machine and of the clock that attrs name: also perf data convert
	--to-json requires it, and the time of day is computed from it."""
	dump, made = os.path.join(tmp, "m.json"), os.path.join(tmp, "m.data")
	own, ours, bad = record(tmp, ["-k", "CLOCK_MONOTONIC", "-e", "cpu-clock"] + WORK,
				["--records", "--json=" + dump])
	run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
	rp.check_schema(tap, "the machine", dump)
	for who, perf in readers().items():
		said = [header_of(perf, f) for f in (own, ours, made)]
		tap.ok(len(said[0]) > 6 and said[0] == said[1] == said[2], "the machine, read by %s: "
		       "%d equal lines" % (who, len(said[0])), bad + said)
		days = [[float(t) for t in re.findall(r"^[-\d]+ \d+:\d+:([\d.]+) ", "\n".join(
			 text(perf + ["script", "-F", "tod,event", "-i", f])), re.M)]
			for f in (own, ours, made)]
		tap.ok(len(days[0]) > 9 and [len(d) for d in days] == [len(days[0])] * 3 and
		       all(abs(a - b) % 59.9 < 0.1 for d in days[1:] for a, b in zip(days[0], d)),
		       "the time of day, read by %s: of %d samples" % (who, len(days[0])),
		       [d[:3] for d in days])
		out = os.path.join(tmp, "out.json")
		samples = []
		for f in (own, ours, made):
			r = run(perf + ["data", "convert", "--force", "--to-json=" + out, "-i", f])
			with open(out) as j:
				samples.append([r.returncode] + json.load(j)["samples"])
		tap.ok(len(samples[0]) > 9 and samples[0] == samples[1] == samples[2],
		       "perf data convert --to-json, by %s: %d equal samples" %
		       (who, len(samples[0]) - 1), [s[:2] for s in samples])

def test_attached(tap, tmp):
	"""perf record runs already: what it stores after the attachment is the end of its file."""
	own, ours = os.path.join(tmp, "own.data"), os.path.join(tmp, "ours.data")
	if os.getuid() or not sp.has_bpf(rp.PEVTRACE):
		return tap.skip("attached", "earlier events are only known with BPF programs")
	perf = subprocess.Popen([rp.PERF, "record", "-o", own, "-e", "cpu-clock/name=mine/", "sh",
				 "-c", "i=0; while [ $i -lt 900000 ]; do i=$((i+1)); done"],
				stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	while not rp.holds_events(perf.pid, 1) and perf.poll() is None:
		time.sleep(0.01)
	r = trace(["--perf-data=" + ours, "-p", str(perf.pid)], [])
	perf.wait()
	a, b = (text([rp.PERF, "script", "-i", f]) for f in (own, ours))
	tap.ok(len(b) > 100 and a[-len(b):] == b,
	       "attached: the last %d of perf's %d lines" % (len(b), len(a)),
	       [r.stderr] + difference(a[-len(b):], b))

ENDED = """
import ctypes, mmap, os, struct, threading, time
nr = {"x86_64": 298}.get(os.uname().machine, 241)
attr = struct.pack("<IIQQQQQ", 1, 64, 1, 1000000, 7, 0, 0).ljust(64, b"\\0")
perf_event_open, rings = ctypes.CDLL(None).syscall, []
def work():
	rings.append(mmap.mmap(perf_event_open(nr, attr, 0, -1, -1, 8), 65 * mmap.PAGESIZE))
	end = time.thread_time() + 0.1
	while time.thread_time() < end: pass
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("up", flush=True)
while "TracerPid:\\t0\\n" in open("/proc/self/status").read(): time.sleep(0.01)
time.sleep(0.3)
os._exit(0)
"""

def test_ended(tap, tmp):
	"""Threads that opened events and ended before the attachment: their samples have the name of
	their process, and their events do not measure the whole machine."""
	if os.getuid() or not sp.has_bpf(rp.PEVTRACE):
		return tap.skip("threads that ended", "earlier events are only known with BPF programs")
	ours = os.path.join(tmp, "ended.data")
	with subprocess.Popen(["/usr/bin/python3", "-c", ENDED], stdout=subprocess.PIPE) as program:
		program.stdout.readline()
		r = trace(["--perf-data=" + ours, "-p", str(program.pid)], [])
	names = collections.Counter(line.strip() for line in
				    text([rp.PERF, "script", "-F", "comm", "-i", ours]))
	tasks = text([rp.PERF, "script", "--show-task-events", "-F", "comm,tid", "-i", ours])
	tap.ok(names.pop("", 1) and len(names) == 1 and names["python3"] > 100 and
	       not [line for line in tasks if re.search(r"FORK\(1:1\)|COMM: .*:1/1$", line)],
	       "threads that ended: %s" % dict(names), [r.stderr] + tasks[:4])

def test_bpf(tap, tmp):
	if os.getuid() or not sp.has_bpf(rp.PEVTRACE):
		return tap.skip("the BPF engine", "BPF programs cannot be loaded")
	# nothing waits for the engine: on a loaded machine perf may end before its ring is mapped
	for _ in range(TRIES):
		own, ours, bad = record(tmp, ["-e", "cpu-clock:u", "-e", "page-faults:u"] + WORK,
					["--engine=bpf"])
		if text([rp.PERF, "script", "-i", ours]):
			break
	compare(tap, "the BPF engine", own, ours, bad)

def bpf_symbols():
	with open("/proc/kallsyms") as f:
		return {line.split()[0] for line in f if "\t[bpf]" in line}

def test_bpf_loaded(tap, tmp):
	"""BPF programs that were loaded before: perf describes each function and program to its
	readers, and so do we, also from a dump."""
	if os.getuid() or not sp.has_bpf(rp.PEVTRACE):
		return tap.skip("functions of BPF programs", "BPF programs cannot be loaded")
	before = bpf_symbols()
	holder = subprocess.Popen([rp.PEVTRACE, "-q", "-o", "/dev/null", "--engine=bpf", "sh", "-c",
				   "echo up; read x"], stdin=subprocess.PIPE,
				  stdout=subprocess.PIPE)
	holder.stdout.readline()
	dump, made = os.path.join(tmp, "bpf.json"), os.path.join(tmp, "made.data")
	loaded = bpf_symbols() - before
	# with :u, perf 7.2 describes nothing of the kernel
	own, ours, bad = record(tmp, ["-e", "cpu-clock"] + WORK, ["--records", "--json=" + dump])
	loaded &= bpf_symbols()	# other tests load and unload programs, too
	holder.communicate(b"\n")
	run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
	said = []
	for f in (own, ours, made):
		lines = text([rp.PERF, "script", "--show-bpf-events", "-i", f])
		said.append([line for line in lines if "PERF_RECORD_KSYMBOL addr " in line and
			     line.split("addr ")[1].split()[0] in loaded])
		said[-1].append(sum("PERF_RECORD_BPF_EVENT" in line for line in lines) > 0)
	tap.ok(len(said[0]) > 3 and said[0] == said[1] == said[2] and not bad,
	       "functions of BPF programs: %d" % (len(said[0]) - 1), [bad] + said)
	rp.check_schema(tap, "functions of BPF programs", dump)

def test_other_root(tap, tmp):
	"""The build id of a file that another one covers in the mount namespace of its process."""
	own, ours, path = (os.path.join(tmp, name) for name in ("own.data", "ours.data", "covered"))
	shutil.copy(shutil.which("ls"), path)
	r = trace(["--perf-data=" + ours],
		  ["unshare", "-rm", "sh", "-c", 'mount --bind "$2" "$3" || exit 77\n'
		   'exec "$0" record -o "$1" -c 1 -e page-faults:u "$3" 1', rp.PERF, own,
		   os.path.realpath(shutil.which("sleep")), path])
	if r.returncode in (1, 77):
		return tap.skip("a file of another mount namespace", "nothing can be mounted here")
	a, b = ([line for line in text([rp.PERF, "buildid-list", "-i", f]) if path in line]
		for f in (own, ours))
	tap.ok(a and a == b, "a file of another mount namespace has the build id that perf gives it",
	       [r.stderr, a, b])

def test_pid_namespace(tap, tmp):
	"""Events that are opened in another PID namespace: records have the ids of that, and so has
	what is read from /proc."""
	dump, own, ours, made = (os.path.join(tmp, name) for name in
				 ("n.json", "nown.data", "nours.data", "nmade.data"))
	r = trace(["--records", "--json=" + dump, "--perf-data=" + ours],
		  ["unshare", "-rpf", "--mount-proc", "sh", "-c", "while :; do :; done &\n"
		   'exec "$0" record -o "$1" -e cpu-clock:u -p $! sleep 0.2', rp.PERF, own])
	if b"unshare" in r.stderr:
		return tap.skip("another PID namespace", "none can be made here")
	m = run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
	a, b, c = (text([rp.PERF, "script", "-F", "comm,pid,tid,time,ip,sym,dso", "-i", f])
		   for f in (own, ours, made))
	known = len([line for line in a if re.match(r" *sh +2/2 .*\(/.*\)$", line)])
	tap.ok(known > 10 and a == b == c, "another PID namespace: %d lines, %d with their program" %
	       (len(a), known), [r.stderr, m.stderr] + a[:2] + b[:2] + c[:2])

# ---- kills -----------------------------------------------------------------------

def killed(tmp, perf, engine, seconds):
	"""Trace perf record, kill pevtrace some time after the workload began to run; return that
	time, the moment of the kill and the file."""
	ours = os.path.join(tmp, "young.data")
	p = subprocess.Popen([rp.PEVTRACE, "-q", "-o", "/dev/null", "--engine=" + engine,
			      "--perf-data=" + ours, perf, "record", "-k", "CLOCK_MONOTONIC", "-o",
			      os.path.join(tmp, "x"), "-e", "cpu-clock", "sh", "-c",
			      "echo x; while :; do :; done"], stdout=subprocess.PIPE,
			     stderr=subprocess.DEVNULL, start_new_session=True)
	p.stdout.readline()
	start = time.monotonic()
	time.sleep(seconds)
	end = time.monotonic()
	p.kill()
	p.wait()
	p.stdout.close()
	try:
		os.killpg(p.pid, signal.SIGKILL)
	except ProcessLookupError:
		pass
	return start, end, ours

def test_killed_young(tap, tmp):
	"""Killed in its first second: perf reads all but the last samples."""
	for engine in ["ptrace"] + (["bpf"] if not os.getuid() and sp.has_bpf(rp.PEVTRACE) else []):
		for seconds in (0.2, 0.5, 1):
			for _ in range(TRIES):	# pevtrace may have to wait for a CPU
				start, end, ours = killed(tmp, rp.PERF, engine, seconds)
				times = [float(t.strip(" :")) for t in text(
					[rp.PERF, "script", "-F", "time", "-i", ours]) if t]
				if times and end - times[-1] < 0.2:
					break
			for who, perf in readers().items():
				r = run(perf + ["script", "-F", "time", "-i", ours])
				lost = end - times[-1] if times else end - start
				tap.ok(r.stdout.count(b"\n") == len(times) > 20 and lost < 0.2 and
				       times[0] - start < 0.1 and not r.stderr and not r.returncode,
				       "%s engine, killed after %.1f s: %s reads %d samples, up to "
				       "%.2f s before the kill" % (engine, end - start, who,
								   len(times), lost),
				       [r.stderr])

def test_killed(tap, tmp):
	"""A killed pevtrace leaves what it had written, which perf reads without a complaint."""
	ours = os.path.join(tmp, "killed.data")
	for engine in ["ptrace"] + (["bpf"] if not os.getuid() and sp.has_bpf(rp.PEVTRACE) else []):
		p = subprocess.Popen([rp.PEVTRACE, "-q", "-o", "/dev/null", "--engine=" + engine,
				      "--look-every=20", "--perf-data=" + ours, rp.PERF, "record",
				      "-o", os.path.join(tmp, "x"), "-e", "cpu-clock", "sh", "-c",
				      "while :; do :; done"], stdout=subprocess.DEVNULL,
				     stderr=subprocess.DEVNULL, start_new_session=True)
		n, grown = 0, []
		while len(grown) < 3 and p.poll() is None:
			time.sleep(0.1)
			r = run([rp.PERF, "script", "-i", ours])
			if r.stdout.count(b"\n") > n:
				n = r.stdout.count(b"\n")
				grown.append(n)
		p.kill()
		p.wait()
		try:
			os.killpg(p.pid, signal.SIGKILL)
		except ProcessLookupError:
			pass
		for who, perf in readers().items():
			r = run(perf + ["script", "-i", ours])
			lines = r.stdout.count(b"\n")
			tap.ok(lines >= n > 0 and not r.stderr and not r.returncode,
			       "%s engine, killed: %s reads %d lines" % (engine, who, lines),
			       [grown, r.stderr])
		r = run([rp.PEVTRACE, "decode", "--records", ours])
		tap.ok(not r.returncode, "%s engine, killed: pevtrace decode reads it" % engine,
		       [r.stderr])

# ---- other profilers ----------------------------------------------------------------

PYTHON = """
import os, perf, signal, time
go = os.pipe()
child = os.fork()
if not child:
	os.read(go[0], 1)
	os.execv("/usr/bin/python3", ["python3", "-c",
		"while True: [str(i) for i in range(1000)]"])
cpus, threads = perf.cpu_map(), perf.thread_map(child)
event = perf.evsel(type=perf.TYPE_SOFTWARE, config=perf.COUNT_SW_CPU_CLOCK, freq=0,
	sample_period=1000000,
	sample_type=perf.SAMPLE_IP | perf.SAMPLE_TID | perf.SAMPLE_TIME | perf.SAMPLE_CPU)
event.open(cpus=cpus, threads=threads)
events = perf.evlist(cpus, threads)
events.add(event)
events.mmap()
os.write(go[1], b"x")
n, end = 0, time.time() + 60
while n < 400 and time.time() < end:
	events.poll(timeout=50)
	for cpu in cpus:
		while events.read_on_cpu(cpu):
			n += 1
os.kill(child, signal.SIGKILL)
print(n)
"""

def test_python(tap, tmp):
	"""perf's Python module: samples of Python, with the names of functions.  The program is run
	when the ring is mapped, and there are no records of mappings."""
	ours = os.path.join(tmp, "python.data")
	if run(["/usr/bin/python3", "-c", "import perf"]).returncode:
		return tap.skip("a profiler in Python", "python3 has no module perf")
	r = trace(["--perf-data=" + ours], ["/usr/bin/python3", "-c", PYTHON])
	said = int(r.stdout.split()[-1]) if r.stdout.strip() else 0
	for who, perf in readers().items():
		lines = text(perf + ["report", "--stdio", "-i", ours])
		m = re.search(r"Samples: (\d+) +of event 'cpu-clock'", "\n".join(lines))
		known = [line for line in lines if re.search(r"python3\.\d+ +\[\.\] [_A-Z]", line)]
		n = int(m.group(1)) if m else 0
		tap.ok(n >= said > 100 and len(known) > 2,
		       "a profiler in Python, read by %s: %d samples, of which it read %d" %
		       (who, n, said), [r.stderr] + lines[:20])

SAMPLER = """
import os, perf, subprocess, sys, time
cpus, threads = perf.cpu_map(), perf.thread_map(os.getpid())
opened = []
def sample(config, more, type=perf.TYPE_SOFTWARE, threads=threads):
	event = perf.evsel(type=type, config=config, freq=0, sample_period=1,
			   sample_type=perf.SAMPLE_IP | perf.SAMPLE_TID | perf.SAMPLE_TIME | more)
	event.open(cpus=cpus, threads=threads)
	events = perf.evlist(cpus, threads)
	events.add(event)
	events.mmap()
	opened.append((event, events))
	n, end = 0, time.time() + 1
	while time.time() < end:
		bytearray(100000)
		os.sched_yield()
		events.poll(timeout=20)
		for cpu in cpus:
			while events.read_on_cpu(cpu):
				n += 1
	return n
"""

LATER = SAMPLER + """
print(sample(perf.COUNT_SW_CONTEXT_SWITCHES, 0),
      sample(perf.COUNT_SW_PAGE_FAULTS, perf.SAMPLE_CPU | perf.SAMPLE_PERIOD) >= 0)
"""

def test_later(tap, tmp):
	"""An event of another format, opened after the records of the first were written."""
	ours = os.path.join(tmp, "later.data")
	if run(["/usr/bin/python3", "-c", "import perf"]).returncode:
		return tap.skip("an event opened later", "python3 has no module perf")
	r = trace(["--perf-data=" + ours], ["/usr/bin/python3", "-c", LATER])
	said = int(r.stdout.split()[0]) if r.stdout.strip() else 0
	for who, perf in readers().items():
		p = run(perf + ["script", "-F", "event,time,sym", "-i", ours])
		got = collections.Counter(re.findall(r": +([a-z-]+):", p.stdout.decode()))
		tap.ok(said > 10 and got["context-switches"] >= said and got["page-faults"] and
		       not p.stderr, "an event opened later, read by %s: %s" % (who, dict(got)),
		       [said, got, r.stderr, p.stderr, p.stdout[:300]])
	r = run([rp.PEVTRACE, "decode", "--records", ours])
	tap.ok(not r.returncode, "an event opened later: pevtrace decode reads it", [r.stderr])

def test_later_piped(tap, tmp):
	"""In a pipe, ids of events that are opened later: they are no further events for perf.  Of
	tracepoints that are, it has the formats of the first one only, or aborts."""
	piped = os.path.join(tmp, "later.pipe")
	if run(["/usr/bin/python3", "-c", "import perf"]).returncode or not sp.tracefs():
		return tap.skip("events opened later, piped", "python3 has no module perf, or no tracefs")
	ids = [int(open("%s/events/%s/id" % (sp.TRACEFS, name), encoding="ascii").read())
	       for name in ("sched/sched_switch", "syscalls/sys_enter_sched_yield")]
	program = SAMPLER + "\n".join(
		["switches = perf.COUNT_SW_CONTEXT_SWITCHES, perf.SAMPLE_ID"] +
		["n = sample(*switches)",
		 "child = subprocess.Popen(['sh', '-c', 'while sleep 0.01; do :; done'])",
		 "n += sample(*switches, threads=perf.thread_map(child.pid))", "child.kill()"] +
		["sample(%d, perf.SAMPLE_ID | perf.SAMPLE_RAW, 2)" % i for i in ids] +
		["sys.stderr.write('%d\\n' % n)"])
	with open(piped, "wb") as f:
		r = subprocess.run([rp.PEVTRACE, "-q", "-o", "/dev/null", "--perf-data=-",
				    "/usr/bin/python3", "-c", program], stdout=f,
				   stderr=subprocess.PIPE, timeout=300)
	m = re.search(rb"^(\d+)$", r.stderr, re.M)
	said = int(m.group(1)) if m else 0
	for who, perf in readers().items():
		through = ["sh", "-c", 'cat "$0" | "$@"', piped] + perf
		p = run(through + ["script", "-F", "event", "-i", "-"])
		lines = collections.Counter(p.stdout.decode().replace(":", " ").split())
		counts = re.findall(r"Samples: (\S+) +of event '(.*)'",
				    "\n".join(text(through + ["report", "--stdio", "-i", "-"])))
		tap.ok(not p.returncode and said > 10 and lines["context-switches"] >= said and
		       lines["sched_switch"] and
		       len([name for n, name in counts if name == "context-switches"]) == 1 and
		       not any("unknown" in name for n, name in counts) and
		       (lines["sys_enter_sched_yield"] or
			r.stderr.count(b"the records of syscalls:sys_enter_sched_yield are left out") == 1),
		       "events opened later, piped, read by %s: %s" % (who, counts),
		       [said, p.returncode, lines, r.stderr, p.stderr])

def test_demo(tap, tmp):
	"""A profiler in C says how many records it got."""
	ours = os.path.join(tmp, "demo.data")
	r = trace(["--perf-data=" + ours], [rp.target("demo")] + WORK)
	said = [int(n) for n in re.findall(r"(\d+) samples", (r.stdout + r.stderr).decode())]
	n = len(text([rp.PERF, "script", "-i", ours])) - 1
	known = len([line for line in text([rp.PERF, "script", "-i", ours])
		     if "(" in line and "([unknown])" not in line])
	tap.ok(said and n == said[0] and known > n * 0.95,
	       "a profiler in C: %d samples, the code of %d is known" % (n, known),
	       [said, n, r.stderr])

def test_drain(tap, tmp):
	"""A profiler that consumes its records without a call at which its ring could be read, 20
	times as many as the ring holds."""
	ours = os.path.join(tmp, "drain.data")
	engines = ["ptrace"] + (["bpf"] if not os.getuid() and sp.has_bpf(rp.PEVTRACE) else [])
	for engine in engines:
		for _ in range(TRIES):
			r = trace(["--perf-data=" + ours, "--engine=" + engine],
				  [rp.target("drain"), "20000"])
			if b"overwritten" not in r.stderr:
				break
		said = int(r.stdout.split()[0]) if r.stdout.strip() else 0
		n = len([line for line in text([rp.PERF, "script", "-F", "event", "-i", ours])
			 if "page-faults" in line])
		# faults after the last time that it looks are in the ring only
		tap.ok(20000 <= said <= n < said + 100, "%s engine, a ring that is consumed "
		       "silently: %d samples, of which it read %d" % (engine, n, said),
		       [r.stderr])

THREAD = """
import ctypes, mmap, os, signal, struct, threading, time
nr = {"x86_64": 298}.get(os.uname().machine, 241)
attr = struct.pack("<IIQQQQQ", 1, 64, 1, 1000000, 7, 0, 0).ljust(64, b"\\0")
perf_event_open, rings = ctypes.CDLL(None).syscall, []
def open_ring(): rings.append(mmap.mmap(perf_event_open(nr, attr, os.getpid(), -1, -1, 8),
					65 * mmap.PAGESIZE))
thread = threading.Thread(target=open_ring)
os.kill(os.getppid(), signal.SIGSTOP)
thread.start()
thread.join()
while len(os.listdir("/proc/self/task")) > 1: pass
os.kill(os.getppid(), signal.SIGCONT)
end = time.process_time() + 0.5
while time.process_time() < end: pass
os._exit(0)
"""

def test_thread(tap, tmp):
	"""A ring that was mapped by a thread which has ended when the BPF engine learns of it."""
	if os.getuid() or not sp.has_bpf(rp.PEVTRACE):
		return tap.skip("a thread opens an event and ends", "BPF programs cannot be loaded")
	ours = os.path.join(tmp, "thread.data")
	r = trace(["--perf-data=" + ours, "--engine=bpf"], ["/usr/bin/python3", "-c", THREAD])
	n = len(text([rp.PERF, "script", "-i", ours])) - 1
	tap.ok(n > 100, "a thread opens an event and ends: %d samples" % n, [r.stderr])

def test_drained_dump(tap, tmp):
	"""A dump of a ring whose records were all overwritten has a reason, and one only."""
	dump, made = os.path.join(tmp, "dr.json"), os.path.join(tmp, "dr.data")
	r = trace(["--records", "--json=" + dump], [rp.target("drain"), "20000"])
	with open(dump) as f:
		kept = [line for line in f if '"kind":"record"' not in line]
	with open(dump, "w") as f:
		f.writelines(kept)
	m = run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
	tap.ok(m.stderr.count(b"\n") == 1 and b"--look-every" in m.stderr,
	       "a dump of a ring that is consumed silently names --look-every", [r.stderr, m.stderr])

def test_taskless(tap, tmp):
	"""Samples without PERF_SAMPLE_TID: those of one task get it, so perf knows process and
	function; of others, which may be of child processes, a message says that it is missing."""
	dump, ours, made = (os.path.join(tmp, name) for name in ("t.json", "t.data", "tm.data"))
	cpu = str(min(os.sched_getaffinity(0)))
	on_cpu = ["taskset", "-c", cpu] if shutil.which("taskset") else None
	for bits, name in ((0x1, "IP"), (0x10001, "IP, IDENTIFIER"), (0x45, "IP, TIME, ID"),
			   (0x1, "IP, inherited")):
		inherited = "inherited" in name
		if inherited and not on_cpu:
			tap.skip("samples with " + name, "no taskset")
			continue
		r = trace(["--records", "--json=" + dump, "--perf-data=" + ours],
			  (on_cpu if inherited else []) + [rp.target("drain"), "300", "128",
			   hex(bits)] + ([cpu] if inherited else []))
		m = run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
		n = int(r.stdout.split()[0]) if r.stdout.strip() else 0
		for who, perf in readers().items():
			fields = "event,ip" if inherited else "comm,pid,tid,event,ip,sym"
			a, b = (text(perf + ["script", "-F", fields, "-i", f])
				for f in (ours, made))
			known = [line for line in a if re.match(r" *drain +(\d+)/\1 .* main$", line)]
			tap.ok(n >= 300 and a == b and len(a) - 1 >= n and
			       (not known if inherited else len(known) >= 300) and
			       [b"samples of page-faults:uh have no PERF_SAMPLE_TID" in p.stderr
				for p in (r, m)] == [inherited] * 2,
			       "samples with %s, read by %s: %d, of which %d have their function" %
			       (name, who, len(a) - 1, len(known)), [n, r.stderr, m.stderr] + a[:3])

CLOCKS = """
import ctypes, mmap, os, struct, sys, time
nr, rings = {"x86_64": 298}.get(os.uname().machine, 241), []
for config, clock in enumerate(sys.argv[1:]):
	attr = struct.pack("<IIQQQQQ44xi", 1, 96, config, 1000000, 0x10007, 0,
			   0 if clock == "-" else 1 << 25, int(clock.strip("-") or 0)).ljust(96, b"\\0")
	rings.append(mmap.mmap(ctypes.CDLL(None).syscall(nr, attr, 0, -1, -1, 8), 65 * mmap.PAGESIZE))
end = time.process_time() + 0.1
while time.process_time() < end: pass
"""

def test_clocks(tap, tmp):
	"""A message names events whose times are of different clocks."""
	ours = os.path.join(tmp, "clocks.data")
	for clocks, said in ((["-", "-"], b""), (["1", "1"], b""),
			     (["-", "1"], b"cpu-clock are of perf's own clock, but those of "
			      b"task-clock of CLOCK_MONOTONIC: "),
			     (["0", "11"], b"of CLOCK_REALTIME, but those of task-clock of "
			      b"CLOCK_TAI: ")):
		r = trace(["--perf-data=" + ours], ["/usr/bin/python3", "-c", CLOCKS] + clocks)
		n = len(text([rp.PERF, "script", "-i", ours])) - 1
		tap.ok(n > 50 and said in r.stderr and r.stderr.count(b"\n") == (said > b""),
		       "clocks %s: %d samples" % (" and ".join(clocks), n), [r.stderr])

LOADED = """
import _ctypes, ctypes, mmap, os, struct, sys, time
nr = {"x86_64": 298}.get(os.uname().machine, 241)
attr = struct.pack("<IIQQQQQ", 1, 64, 2, 1, 1, 0, 1 << 5).ljust(64, b"\\0")
ring = mmap.mmap(ctypes.CDLL(None).syscall(nr, attr, 0, -1, -1, 8), 65 * mmap.PAGESIZE)
time.sleep(0.1)
def work(path):
	library, size = ctypes.CDLL(path), ctypes.c_uint(1 << 20)
	end = time.monotonic() + 0.5
	while time.monotonic() < end:
		if os.path.exists(path) and time.monotonic() > end - 0.25: os.unlink(path)
		library.BZ2_bzBuffToBuffCompress(ctypes.create_string_buffer(size.value),
			ctypes.byref(size), bytes(300000), 300000, 9, 0, 0)
	_ctypes.dlclose(library._handle)
for path in sys.argv[1:]: work(path)
"""

def test_loaded(tap, tmp):
	"""Samples without PERF_SAMPLE_TID, by an event that records no mappings, in libraries that
	were loaded after it was opened, the second where the first had been, and which are
	deleted while they run."""
	ours = os.path.join(tmp, "l.data")
	libraries = [os.path.join(tmp, name) for name in ("one.so", "other.so")]
	maps = text(["/usr/bin/python3", "-c", 'import bz2; print(open("/proc/self/maps").read())'])
	found = re.search(r"/\S*/libbz2\.so\S*", "\n".join(maps))
	if not found:
		return tap.skip("samples in libraries that were loaded later", "no libbz2")
	for path in libraries:
		shutil.copy(found.group(), path)
	r = trace(["--perf-data=" + ours], ["/usr/bin/python3", "-c", LOADED] + libraries)
	lines = text([rp.PERF, "script", "-F", "comm,ip,sym,dso", "-i", ours])
	n = [len([line for line in lines if "(" + path in line]) for path in libraries]
	tap.ok(min(n) > 50 and not [line for line in lines if "deleted" in line], "samples in libraries that were loaded later: %d, %d" % tuple(n),
	       [r.stderr] + lines[-5:])

EXECS = """
import ctypes, mmap, os, struct, sys, time
nr = {"x86_64": 298}.get(os.uname().machine, 241)
go, started = os.pipe()
pid = os.fork()
if not pid:
	os.read(go, 1)
	os.execv(sys.argv[2], [sys.argv[2], "-c"] + sys.argv[3:])
attr = struct.pack("<IIQQQQQ", 1, 64, 1, 1000000, 7, 0, int(sys.argv[1], 0)).ljust(64, b"\\0")
ring = mmap.mmap(ctypes.CDLL(None).syscall(nr, attr, pid, -1, -1, 8), 65 * mmap.PAGESIZE)
os.write(started, b"x")
os.waitpid(pid, 0)
"""
LATE = """
import ctypes, mmap, os, struct, time
nr = {"x86_64": 298}.get(os.uname().machine, 241)
attr = struct.pack("<IIQQQQQ", 1, 64, 1, 1000000, 7, 0, 0).ljust(64, b"\\0")
ring = mmap.mmap(ctypes.CDLL(None).syscall(nr, attr, 0, -1, -1, 8), 65 * mmap.PAGESIZE)
end = time.process_time() + 0.2
while time.process_time() < end: pass
"""

def test_late_exec(tap, tmp):
	"""A process that is described for the first time after its exec, which the BPF engine
	reports when samples of others are newer than its own first ones."""
	dump, made = os.path.join(tmp, "le.json"), os.path.join(tmp, "le.data")
	trace(["--records", "--json=" + dump],
	      ["sh", "-c", '"$@"; "$@"; true', "sh", "/usr/bin/python3", "-c", LATE])
	with open(dump) as f:
		lines = [json.loads(line) for line in f]
	records = [line for line in lines if line["kind"] == "record"]
	child = records[-1]["record"]["pid"]
	at = [line["kind"] == "exec" and line["tid"] == child for line in lines].index(True)
	last = max(i for i in range(at) if lines[i]["kind"] == "record")
	late = bytes.fromhex(lines[last]["hex"])
	lines[last]["hex"] = late[:24].hex() + bytes.fromhex(records[-1]["hex"])[24:].hex()
	with open(dump, "w") as f:
		f.writelines(json.dumps(line) + "\n" for line in lines)
	r = run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
	names = collections.Counter(line.strip() for line in
				    text([rp.PERF, "script", "-F", "comm", "-i", made]))
	tap.ok(names.pop("", 1) and set(names) == {"python3"} and names["python3"] == len(records),
	       "an exec that is reported late: %s" % dict(names), [r.stderr])

BUSY = """
import posix, sys, time
def work():
	end = time.process_time() + 0.5
	while time.process_time() < end: pass
work()
with open("/proc/self/comm", "w") as f: f.write("then-" + sys.orig_argv[0][-3:])
work()
if len(sys.argv) > 1: posix.execv(sys.argv[1], [sys.argv[1], "-c", sys.orig_argv[2]])
"""

THREADS = """
import ctypes, mmap, os, struct, threading, time
nr = {"x86_64": 298}.get(os.uname().machine, 241)
attr = struct.pack("<IIQQQQQ", 1, 64, 1, 1000000, 7, 0, 0x42122).ljust(64, b"\\0")
rings = [mmap.mmap(ctypes.CDLL(None).syscall(nr, attr, 0, cpu, -1, 8), 65 * mmap.PAGESIZE)
	 for cpu in os.sched_getaffinity(0)]
def work(name):
	with open("/proc/self/task/%d/comm" % threading.get_native_id(), "w") as f: f.write(name)
	end = time.thread_time() + 0.3
	while time.thread_time() < end: pass
for name in ("one", "two", "three"): threading.Thread(target=work, args=(name,)).start()
"""

def test_threads(tap, tmp):
	"""Threads that name themselves, with records of their creation but none of names."""
	dump, ours, made = (os.path.join(tmp, name) for name in ("th.json", "th.data", "thm.data"))
	r = trace(["--records", "--json=" + dump, "--perf-data=" + ours],
		  ["/usr/bin/python3", "-c", THREADS])
	m = run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
	for path in ours, made:
		found = collections.Counter(text([rp.PERF, "script", "-F", "comm", "-i", path]))
		n = [found[key] for key in found if key.strip() in ("one", "two", "three")]
		tap.ok(len(n) == 3 and min(n) > 10 and sum(n) > 0.5 * found.total(),
		       "names of threads, %s: %s" % (os.path.basename(path), dict(found)),
		       [r.stderr, m.stderr])

REUSED = """
import os, signal, subprocess, sys, time
def busy(name, pid):
	with open("/proc/sys/kernel/ns_last_pid", "w") as f: f.write(str(pid - 1))
	child = os.fork()
	if not child: os.execv(name, [name, "-c", "while True: pass"])
	assert child == pid
	subprocess.run(sys.argv[3:] + ["-p", str(child), "sleep", "0.3"])
	os.kill(child, signal.SIGKILL)
	os.waitpid(child, 0)
for name in sys.argv[1:3]: busy(name, 100)
"""

def test_reused(tap, tmp):
	"""Two processes with one id, one after the other: each has its own program."""
	ours = os.path.join(tmp, "reused.data")
	programs = [os.path.join(tmp, name) for name in ("earlier", "later")]
	for path in programs:
		shutil.copy(os.path.realpath("/usr/bin/python3"), path)
	r = trace(["--perf-data=" + ours], ["unshare", "-rpf", "--mount-proc", "/usr/bin/python3", "-c",
					     REUSED] + programs + [rp.PERF, "record", "-q", "-o",
					     "/dev/null", "-e", "cpu-clock:u"])
	if b"unshare" in r.stderr or b"Error" in r.stderr:
		return tap.skip("an id that is used again", "ids cannot be chosen here")
	found = collections.Counter(re.findall(r"^ *(\S+) +100 .*\(%s/([a-z]+)\)$" % re.escape(tmp),
			"\n".join(text([rp.PERF, "script", "-F", "comm,pid,ip,sym,dso", "-i", ours])), re.M))
	tap.ok(set(found) == {("earlier", "earlier"), ("later", "later")} and min(found.values()) > 10,
	       "an id that is used again: %s" % dict(found), [r.stderr])

def test_execs(tap, tmp):
	"""One program after another in a process, at the same addresses unless they are position
	independent, each with two names, and an event that records neither, or mappings only."""
	dump, ours, made = (os.path.join(tmp, name) for name in ("e.json", "e.data", "em.data"))
	programs = [os.path.join(tmp, name) for name in ("first", "second")]
	for path in programs:
		shutil.copy(os.path.realpath("/usr/bin/python3"), path)
	want = {("first", "first"), ("then-rst", "first"), ("second", "second"), ("then-ond", "second")}
	for flags, name in (("0x1021", "without"), ("0x41021", "with"), ("0x41121", "mmap, with")):
		r = trace(["--records", "--json=" + dump, "--perf-data=" + ours],
			  ["/usr/bin/python3", "-c", EXECS, flags, programs[0], BUSY, programs[1]])
		m = run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
		for path in ours, made:
			p = run([rp.PERF, "script", "-F", "comm,ip,sym,dso", "-i", path])
			lines = p.stdout.decode(errors="replace").split("\n")
			found = collections.Counter(re.findall(r"^ *(\S+) .*\(%s/([a-z]+)\)$" %
					re.escape(tmp), "\n".join(lines), re.M))
			tap.ok(set(found) == want and min(found.values()) > 10 and
			       not p.stderr,
			       "execs, %s sample_id_all, %s: %s" %
			       (name, os.path.basename(path), dict(found)),
			       [r.stderr, m.stderr, p.stderr] + lines[:5])

SHORT = """
import ctypes, mmap, os, struct, subprocess
nr = {"x86_64": 298}.get(os.uname().machine, 241)
attr = struct.pack("<IIQQQQQ", 1, 64, 2, 20, 7, 0, 2).ljust(64, b"\\0")	# inherit
rings = [mmap.mmap(ctypes.CDLL(None).syscall(nr, attr, 0, cpu, -1, 8), 65 * mmap.PAGESIZE)
	 for cpu in os.sched_getaffinity(0)]
subprocess.call(["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do perl -e 1; done"])
"""

def test_short(tap, tmp):
	"""Programs that end before the BPF engine tells of their exec: it tells their names."""
	ours = os.path.join(tmp, "short.data")
	if os.getuid() or not sp.has_bpf(rp.PEVTRACE):
		return tap.skip("names of short programs", "BPF programs cannot be loaded")
	r = trace(["--engine=bpf", "--perf-data=" + ours], ["/usr/bin/python3", "-c", SHORT])
	p = run([rp.PERF, "script", "-F", "comm", "-i", ours])
	names = collections.Counter(p.stdout.decode().split())
	# the time of an exec is not known, so samples of perl may have the name before, sh
	tap.ok(not p.stderr and sum(names.values()) > 50 and names.keys() <= {"python3", "sh", "perl"},
	       "names of short programs: %s" % dict(names), [r.stderr, p.stderr])

def attr_size(path):
	with open(path, "rb") as f:
		head = f.read(24)
	return struct.unpack_from("<Q", head, 16)[0] - 16	# and a place in the file

def test_wrapped(tap, tmp):
	"""perf stores attrs as large as it passes them, however it was called; for others, they are
	not larger than they must be: perf refuses those that are larger than its own."""
	perf, link, other = (os.path.join(tmp, name) for name in ("perf", "link", "other"))
	for path in (perf, other):
		shutil.copy(rp.target("drain"), path)
	os.symlink(perf, link)
	dump, live, made = (os.path.join(tmp, name) for name in ("w.json", "live", "made"))
	exec_ = ["sh", "-c", 'exec "$@"', "sh"]
	child = ["sh", "-c", '"$@"; true', "sh"]
	for argv, want in (([perf], 160), ([link], 160), (exec_ + [perf], 160),
			   (child + [perf], 160), (["env", perf], 160), (exec_ + [link], 160),
			   ([other], 128), (exec_ + [other], 128)):
		r = trace(["--records", "--json=" + dump, "--perf-data=" + live],
			  argv + ["10", "160"])
		run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
		got = [attr_size(live), attr_size(made)]
		tap.ok(got == [want, want],
		       "attrs of %s: %d bytes, as passed or as few as possible" %
		       (" ".join(argv).replace(tmp + "/", ""), want), [got, r.stderr])

def mixed(tap, tmp, how):
	"""Events whose records have their ids at different places, or none: as many of each as the
	program made."""
	ours = os.path.join(tmp, "mixed.data")
	r = trace(["--perf-data=" + ours], [rp.target("mixedring"), how])
	name = "events of different formats (%s)" % how
	made = {}
	for line in r.stdout.decode().split("\n"):
		word = line.split()
		if word and word[0] == "event":
			made[word[5]] = int(word[3])
	for who, perf in readers().items():
		lines = text(perf + ["script", "-F", "event", "-i", ours])
		got = collections.Counter(line.strip().rstrip(":") for line in lines if line)
		if how == "none": # who wrote a record is not known: at least the number is right
			got, want = sum(got.values()), sum(made.values())
		else:
			want = made
		tap.ok(made and got == want, "%s, read by %s: %s" % (name, who, want),
		       ["got %s" % got, r.stderr])

def test_mixedrings(tap, tmp):
	for how in ("identifier", "id", "none"):
		mixed(tap, tmp, how)

def counts_of(perf, f):
	"""Return samples and sum of periods by event, as perf script prints them."""
	out = collections.defaultdict(lambda: (0, 0))
	for line in text(perf + ["script", "-F", "event,period", "-i", f]):
		m = re.match(r" *(\d+) +([a-z-]+):", line)
		if m:
			n, total = out[m.group(2)]
			out[m.group(2)] = n + 1, total + int(m.group(1))
	return dict(out)

def is_written(path):
	"""Return whether the file has records that are no draft: behind its header."""
	if not os.path.exists(path):
		return False
	with open(path, "rb") as f:
		head = f.read(48)
	return len(head) == 48 and struct.unpack_from("<Q", head, 40)[0] < 4096

def test_reads(tap, tmp):
	"""Samples with counts (PERF_SAMPLE_READ) without ids, which perf refuses: it shows each, with
	the counts that the program found in them, also those of events without a ring, and those of
	another event; in the files of a trace and of its dump."""
	dump, ours, made = (os.path.join(tmp, name) for name in ("r.json", "r.data", "m.data"))
	for words in ("single 0", "single 3 beside", "single 0x10", "group 0", "group 3 beside",
		      "group 0x13", "group 4"):
		r = trace(["--records", "--json=" + dump, "--perf-data=" + ours],
			  [rp.target("readsamples")] + words.split())
		run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
		said = [line.split() for line in r.stdout.decode().split("\n") if line]
		# perf has no sample of a count that did not change
		want = {name: (int(count) if name == "minor-faults" else int(n), int(count))
			for name, n, count in said}
		for who, perf in readers().items():
			got = [counts_of(perf, f) for f in (ours, made)]
			# but for the event that was closed before
			more = re.sub(rb".*: alignment-faults:uh, which only count.*\n", b"",
				      r.stderr)
			tap.ok(want and got == [want, want] and not more,
			       "counts in samples, %s, read by %s: %s" % (words, who, want),
			       got + [r.stderr])
	shown = text([rp.PEVTRACE, "decode", "--records", ours])
	tap.ok(len([line for line in shown if re.search("values=.{value=[0-9]+, id=", line)]) > 40,
	       "pevtrace decode shows the ids", shown[:5])
	# the program goes on when records are in the file; nothing else waits for the BPF engine
	engines = ["ptrace"] + (["bpf"] if not os.getuid() and sp.has_bpf(rp.PEVTRACE) else [])
	for engine in engines:
		os.remove(ours)
		p = subprocess.Popen([rp.PEVTRACE, "-q", "-o", "/dev/null", "--engine=" + engine,
				      "--perf-data=" + ours, rp.target("readsamples"), "group", "3",
				      "beside", "later"], stdin=subprocess.PIPE,
				     stdout=subprocess.PIPE)
		while p.poll() is None and not is_written(ours):
			time.sleep(0.01)
		p.stdin.write(b"x")
		p.stdin.flush()
		while engine == "bpf" and p.poll() is None and \
		      "minor-faults" not in counts_of([rp.PERF], ours):
			time.sleep(0.01)
		out = p.communicate()[0].decode().split("\n")
		want = {line.split()[0]: int(line.split()[2]) for line in out if line}
		for who, perf in readers().items():
			got = {name: total for name, (n, total) in counts_of(perf, ours).items()}
			tap.ok(len(want) == 3 and want == got, "counts in samples, %s engine, opened "
			       "later, read by %s: %s" % (engine, who, want), [got])

def test_lost(tap, tmp):
	"""perf record tells how many samples its events lost as it reads late; so does our file, and
	that of a dump."""
	dump, made = os.path.join(tmp, "l.json"), os.path.join(tmp, "l.data")
	for name, event in (("one event", "page-faults"), ("two events", "page-faults,minor-faults"),
			    ("a group", "{page-faults,minor-faults}:S")):
		own, ours, bad = record(tmp, ["-m", "1", "-c", "1", "-e", event, "perl", "-e",
					      "my $x = 'x' x 5000000"],
					["-e", "inject=poll:delay_enter=20000", "--records",
					 "--json=" + dump])
		run([rp.PEVTRACE, "report", "--format=perf-data", "-o", made, dump])
		for who, perf in readers().items():
			said = [re.findall(r"(# Total Lost Samples: \d+|LOST_SAMPLES ?: ?lost.*)",
					   "\n".join(text(perf + ["report", "--stdio", "-i", f]) +
						     text(perf + ["report", "-D", "-i", f])))
				for f in (own, ours, made)]
			tap.ok(said[0] and said[0] == said[1] == said[2],
			       "lost samples, %s, read by %s: %s" % (name, who, said[0]), bad + said)

def test_open(tap, tmp):
	"""perf prints a sample for each that the lines of pevtrace open show."""
	ours, lines = os.path.join(tmp, "open.data"), os.path.join(tmp, "open.txt")
	for name, args in (("open", ["-e", "cpu-clock,page-faults"]),
			   ("open, one event", ["-e", "cpu-clock"])):
		r = run([rp.PEVTRACE, "open", "-q", "-o", lines, "--perf-data=" + ours,
			 "--mmap=64"] + args + ["--"] + WORK)
		with open(lines) as f:
			said = f.read().count("{type=PERF_RECORD_SAMPLE,")
		for who, perf in readers().items():
			out = text(perf + ["script", "-i", ours])
			tap.ok(said > 20 and len(out) - 1 == said,
			       "%s, read by %s: %d samples" % (name, who, said),
			       [r.stderr, len(out)] + out[:3])
	r = run([rp.PEVTRACE, "open", "--side-band", "-q", "-o", lines, "--perf-data=" + ours] + WORK)
	with open(lines) as f:
		said = f.read().count("{type=PERF_RECORD_COMM,")
	out = text([rp.PERF, "script", "--show-task-events", "-i", ours])
	n = len([line for line in out if "PERF_RECORD_COMM exec" in line])
	tap.ok(said and n == said and not r.stderr, "watch: %d names" % said, [r.stderr] + out[:5])
	if not os.getuid():
		run([rp.PEVTRACE, "open", "-q", "-o", lines, "--perf-data=" + ours, "--mmap=64", "-a",
		     "--for=0.3", "-e", "cpu-clock"])
		out = text([rp.PERF, "script", "-F", "cpu,event", "-i", ours])
		known = [line for line in out if re.match(r"\[\d+\] +cpu-clock", line.strip())]
		said = header(ours).get("# cmdline", "")
		tap.ok(len(known) == len(out) - 1 > 20 and "pevtrace open -q" in said,
		       "open -a: the CPUs of %d samples, and the command line" % len(known),
		       out[:3] + [said])
	r = run([rp.PEVTRACE, "open", "--perf-data=" + ours, "-e", "cpu-clock", "true"])
	tap.ok(r.returncode == 2 and b"requires --mmap" in r.stderr,
	       "open without rings is refused", [r.stderr])

def test_ringless(tap, tmp):
	"""Events without a ring: which, who has their samples, and what to do."""
	ours, dump = os.path.join(tmp, "x.data"), os.path.join(tmp, "x.json")
	r = trace(["--perf-data=" + ours], [rp.PERF, "stat", "-e", "cs,cs:u,faults,minor-faults,"
					    "major-faults", "true"])
	tap.ok(b"no ring buffer, so not in the perf.data file: context-switches, context-switches:u, "
	       b"page-faults and 2 more, which only count" in r.stderr,
	       "events that only count are named", [r.stderr])
	r = trace(["--perf-data=" + ours, "-e", "inject=mmap:error=ENOMEM"],
		  [rp.PERF, "record", "-o", os.path.join(tmp, "y"), "-e", "cpu-clock", "true"])
	tap.ok(b"samples of cpu-clock" in r.stderr and b"only count" not in r.stderr,
	       "events whose ring was not seen are named", [r.stderr])
	r = run([rp.PEVTRACE, "decode", "--perf-data=" + ours, "x"])
	tap.ok(b"pevtrace report --format=perf-data" in r.stderr, "decode names report", [r.stderr])
	for kind, name in (("clock", "task-clock"), ("uprobe", "uprobe:bpfevent.0x[0-9a-f]+")):
		r = trace(["--perf-data=" + ours, "--records", "--json=" + dump],
			  [rp.target("bpfevent"), kind, "link", "1"])
		if r.returncode == rp.SKIPPED:
			tap.skip("a BPF program gets the samples", "bpfevent cannot run")
			continue
		tap.ok(re.search("not in the perf.data file: %s, whose samples BPF program %d gets" %
				 (name, int(r.stdout.split()[0])), r.stderr.decode()),
		       "a BPF program gets the samples of a " + kind, [r.stdout, r.stderr])
		with open(dump) as f:
			lines = [line for line in f if '"of":"program"' not in line]
		with open(dump, "w") as f:
			f.writelines(lines)
		r = run([rp.PEVTRACE, "report", "--format=perf-data", "-o", ours, dump])
		tap.ok(re.search("not in the perf.data file: %s, whose samples a BPF program gets" % name,
				 r.stderr.decode()), "a program whose id is unknown", [r.stderr])

def test_bpftrace(tap, tmp):
	"""BPF programs get the samples of bpftrace's events: the file has what they send to it."""
	ours = os.path.join(tmp, "bpftrace.data")
	if not shutil.which("bpftrace") or os.getuid():
		return tap.skip("the output of bpftrace's programs", "bpftrace cannot run")
	r = trace(["--perf-data=" + ours], ["bpftrace", "-e", 'profile:hz:99 { printf("%s", "qzx"); } '
		  "software:cpu-clock:1000000 { @ = count(); } interval:s:1 { exit(); }"])
	if r.returncode:
		return tap.skip("the output of bpftrace's programs", "bpftrace fails")
	n = len([line for line in text([rp.PERF, "report", "-D", "-i", ours])
		 if line.startswith(".") and "qzx" in line])
	tap.ok(0 < r.stdout.count(b"qzx") <= n and
	       re.search(rb"file: cpu-clock, whose samples BPF program \d+ and others get; ", r.stderr) and
	       b"samples of bpf-output are data of BPF programs" in r.stderr and
	       r.stderr.count(b"pevtrace: ") == 2,
	       "the output of bpftrace's programs: %d samples" % n, [r.stdout, r.stderr])

def test_same_file(tap, tmp):
	"""perf record writes to the same file: it renames ours, as it does with a file of its own.
	The dump that is read is not overwritten; a file that is there is renamed."""
	path = os.path.join(tmp, "perf.data")
	r = trace(["--perf-data=perf.data"], [rp.PERF, "record", "-o", path, "-e", "cpu-clock"] + WORK,
		  cwd=tmp)
	a, b = (text([rp.PERF, "script", "-i", f]) for f in (path, path + ".old"))
	tap.ok(len(a) > 10 and a == b and b"the records are in " in r.stderr and
	       b"perf.data.old" in r.stderr,
	       "one name for both files: %d and %d equal lines" % (len(a), len(b)), [r.stderr])
	dump = os.path.join(tmp, "same.json")
	trace(["--records", "--json=" + dump], ["true"])
	with open(dump) as f:
		before = f.read()
	for form in ("perf-data", "html", "chrome"):
		r = run([rp.PEVTRACE, "report", "--format=" + form, "-o", dump, dump])
		with open(dump) as f:
			tap.ok(r.returncode == 2 and b"is the dump" in r.stderr and f.read() == before,
			       "report --format=%s does not overwrite its dump" % form, [r.stderr])
	os.chmod(path, 0o644)
	size = os.path.getsize(path)
	trace(["--perf-data=" + path], ["true"])
	tap.ok(os.stat(path).st_mode & 0o777 == 0o600 and os.path.getsize(path + ".old") == size,
	       "a file that is there is renamed")

def test_unread(tap, tmp):
	"""The BPF engine does not stop programs: a ring that is unmapped at once is not read, which a
	message says."""
	if os.getuid() or not sp.has_bpf(rp.PEVTRACE):
		return tap.skip("rings that are not read", "BPF programs cannot be loaded")
	ours = os.path.join(tmp, "unread.data")
	for _ in range(TRIES):
		r = trace(["--engine=bpf", "--perf-data=" + ours], [rp.target("drain"), "1"])
		n = len(text([rp.PERF, "script", "-i", ours])) - 1
		if not n:
			break
	tap.ok(n > 0 or b"lacks the records of 1 ring buffers" in r.stderr,
	       "a ring that is unmapped at once: %d records" % n, [r.stderr])

def test_trouble(tap, tmp):
	r = trace(["--perf-data=" + os.path.join(tmp, "none", "x")], ["true"])
	tap.ok(r.returncode == 2 and b"cannot create" in r.stderr, "no such directory", [r.stderr])
	for args in (["--json", "--perf-data=-"], ["--json=x", "--perf-data=x"]):
		r = run([rp.PEVTRACE] + args + ["true"], cwd=tmp)
		tap.ok(r.returncode == 2 and b"cannot both go to" in r.stderr,
		       "two outputs to one place: " + " ".join(args), [r.stderr])
	if os.path.exists("/dev/full"):
		r = trace(["--perf-data=/dev/full"],
			  [rp.PERF, "record", "-o", os.path.join(tmp, "x"), "-e", "cpu-clock"] +
			  WORK)
		tap.ok(r.returncode == 2 and r.stderr.count(b"cannot write") == 1, "a full disk",
		       [r.returncode, r.stderr])

def test_damaged(tap, tmp):
	"""A damaged dump: one message, which names an option of the verb."""
	dump = os.path.join(tmp, "bad.json")
	trace(["--json=" + dump], [rp.PERF, "record", "-o", os.path.join(tmp, "x"), "-e", "cpu-clock",
				   "true"])
	with open(dump) as f:
		lines = f.readlines()
	with open(dump, "w") as f:
		f.writelines(lines[:1] + ["{]\n"] + lines[1:])
	args = [rp.PEVTRACE, "report", "--format=perf-data", "-o", os.path.join(tmp, "bad.data")]
	r = run(args + [dump])
	tap.ok(r.returncode == 2 and r.stderr.count(b"\n") == 1 and
	       b"bad.json:2: " in r.stderr and b"; --keep-going of " in r.stderr,
	       "a damaged dump has one message", [r.stderr])
	r = run(args + ["--keep-going", dump])
	tap.ok(r.returncode == 2 and b"bad.json:2: " in r.stderr and b"--records" in r.stderr,
	       "with --keep-going, what the rest lacks is said", [r.stderr])

	trace(["--records", "--json=" + dump], [rp.PERF, "record", "-o", os.path.join(tmp, "x"), "-e",
						"cpu-clock", "true"])
	with open(dump) as f:
		lines = [json.loads(line) for line in f]
	for line in lines:
		if line["kind"] == "measured":	# an attr, which no task has
			line["records"] = struct.pack("<IHHII", 64, 0, 24, 1, 17) + bytes(8)
			line["records"] = line["records"].hex()
	with open(dump, "w") as f:
		f.writelines(json.dumps(line) + "\n" for line in lines)
	with open(os.path.join(tmp, "bad.pipe"), "wb") as f:
		r = subprocess.run([rp.PEVTRACE, "report", "--format=perf-data", dump], stdout=f,
				   stderr=subprocess.PIPE, timeout=300)
	p = run([rp.PEVTRACE, "decode", f.name])
	tap.ok(not r.returncode and not p.returncode and p.stdout.count(b"\n") == 1,
	       "records of tasks in a dump that are none are left out", [r.stderr, p.stderr, p.stdout])

def test_full(tap, tmp):
	"""A disk that becomes full in the middle: perf reads the records that found room."""
	dump, whole, part = (os.path.join(tmp, name) for name in ("full.json", "whole", "part"))
	trace(["--records", "--json=" + dump], [rp.PERF, "record", "-o", os.path.join(tmp, "x"),
						"-c", "1", "-e", "page-faults"] + WORK)
	run([rp.PEVTRACE, "report", "--format=perf-data", "-o", whole, dump])
	disk = os.path.join(tmp, "disk")
	os.mkdir(disk)
	r = run(["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size="$1" tmpfs "$2" || exit 77\n'
		 '"$3" report --format=perf-data -o "$2/p" "$4"\ns=$?\ncp "$2/p" "$5"\nexit $s', "sh",
		 "%dk" % (os.path.getsize(whole) // 4096 * 3 // 4 * 4), disk, rp.PEVTRACE, dump, part])
	if r.returncode in (1, 77):
		return tap.skip("a disk that becomes full", "no file system can be mounted here")
	a, b = (collections.Counter(text([rp.PERF, "script", "-F", "tid,time,event,ip", "-i", f]))
		for f in (whole, part))
	tap.ok(r.returncode == 2 and r.stderr.count(b"cannot write") == 1 and
	       5 < b.total() < a.total() and b <= a,
	       "a disk that becomes full: %d of %d samples" % (b.total(), a.total()),
	       [r.returncode, r.stderr] + list(b - a))

def own_tests(tap, tmp):
	return []

def perf_tests(tap, tmp, tracefs):
	return [(name[5:], lambda t=test: t(tap, tmp)) for name, test in globals().items()
		if name.startswith("test_")]

if __name__ == "__main__":
	sys.exit(rp.main("pevtrace-perfdata.", "perf reads the files", own_tests, perf_tests))
