#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""--perf-data of perf record, whose own file must print the same; its options, and the file itself."""

import collections
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import machine
from perfdata import TRIES, WORK, compare, difference, from_dump, header, main, readers, \
	record, text, trace
from programs import run_bytes as run
import ringparse as rp
import straceparse as sp

def record_and_compare(tap, name, tmp, args, perf=rp.PERF, by=None):
	again = lambda: record(tmp, args, perf=perf)
	compare(tap, name, *again(), by, again)

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
		if os.getuid() or run(*by, *more, rp.PEVTRACE, "--version").returncode:
			tap.skip(name, "needs root, setpriv and a program that all may run")
			continue
		os.chown(home, 65534, 65534)
		own, ours = os.path.join(home, "own.data"), os.path.join(home, "ours.data")
		r = run(*by, *more, rp.PEVTRACE, "-q", "-o", "/dev/null", "--perf-data=" + ours,
				    rp.PERF, "record", "-o", own, *args.split(), *WORK)
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
	r = from_dump(made, dump)
	compare(tap, "names in a dump of env perf", own, made, [r.stderr] if r.returncode else [])
	ours = os.path.join(tmp, "script.data")
	r = trace(["--records", "--json=" + dump, "--perf-data=" + ours],
		  ["sh", "-c", 'for e in cs,faults cs/name=mine/u; do "$0" record -q -e $e -o "$1" '
		   "perl -e 1; done", rp.PERF, own])
	from_dump(made, dump)
	rp.check_schema(tap, "names in scripts that run perf", dump)
	found = [text(rp.PERF, "evlist", "-i", f)[:4] for f in (ours, made)]
	tap.ok(found == 2 * [["cs", "faults", "mine", ""]], "names in scripts that run perf",
	       found + [r.stderr])

def test_replaced(tap, tmp):
	"""Two programs of one path, one after the other: perf takes the build id of the last."""
	prog = os.path.join(tmp, "prog")
	script = 'cp "$1" "$0"; "$0"; sleep 0.3; cp "$2" "$0.new"; mv "$0.new" "$0"; "$0"; :'
	own, ours, bad = record(tmp, ["-c", "1", "-e", "page-faults:u", "sh", "-c", script, prog,
				      *(os.path.realpath(shutil.which(w)) for w in ("true", "false"))])
	ids = [[line for line in text(rp.PERF, "buildid-list", "-i", f) if line.endswith(" " + prog)]
	       for f in (own, ours)]
	tap.ok(not bad and len(ids[0]) == 1 and ids[0] == ids[1], "a program that is replaced by another",
	       bad + ids)

def test_mode(tap, tmp):
	"""Records have registers and stacks: as perf's, files with them are for their user alone."""
	umask = os.umask(0)
	dump, plain, made = (os.path.join(tmp, name) for name in ("m.json", "plain.json", "m.data"))
	own, ours, bad = record(tmp, ["-e", "cpu-clock"] + WORK, ["--records", "--json=" + dump])
	trace(["--json=" + plain], ["true"])
	from_dump(made, dump)
	os.umask(umask)
	modes = ["%o" % (os.stat(f).st_mode & 0o7777) for f in (own, ours, made, dump, plain)]
	tap.ok(modes == modes[:1] * 4 + ["666"] and not bad, "modes: that of perf's file, " + modes[0],
	       modes + bad)

def tree(f):
	"""Return the parents of the processes that perf synthesized records of."""
	found = re.findall(r"^0 0 .*PERF_RECORD_FORK\((\d+):(\d+)\):\((\d+):", "\n".join(
		text(rp.PERF, "report", "-D", "-i", f)), re.M)
	return {pid: parent for pid, tid, parent in found if pid == tid}

def test_tree(tap, tmp):
	"""The processes that existed before: with -a, perf record describes their tree, else not."""
	dump, made = os.path.join(tmp, "t.json"), os.path.join(tmp, "t.data")
	for args in (["-a", "-e", "cpu-clock"], ["-e", "cpu-clock"]):
		for _ in range(TRIES):
			own, ours, bad = record(tmp, args + WORK, ["--records", "--json=" + dump])
			from_dump(made, dump)
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
	from_dump(made, dump)
	rp.check_schema(tap, "namespaces and cgroups", dump)
	for who, perf in readers().items():
		lists, reports = [], []
		for f in (own, ours, made):
			out = "\n".join(text(*perf, "report", "-D", "-i", f))
			lists.append(sorted(re.findall(
				r"PERF_RECORD_CGROUP.*|PERF_RECORD_NAMESPACES [^\]]*\]", out)))
			reports.append(text(*perf, "report", "--stdio", "--sort", "cgroup,sym", "-i", f))
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
	if not sp.find_program("cc") or run("cc", "-no-pie", "-o", prog, source).returncode:
		return tap.skip("a breakpoint", "no C compiler")
	at = [line.split()[0] for line in text("nm", prog) if line.endswith(" x")]
	own, ours, bad = record(tmp, ["-e", "mem:%#x:rw" % int(at[0], 16), prog])
	compare(tap, "a breakpoint", own, ours, bad)

def test_refused(tap, tmp):
	"""What perf could not open: no file of perf, and its exit status."""
	ours = os.path.join(tmp, "refused.data")
	args = [rp.PERF, "record", "-o", os.path.join(tmp, "x"), "-b", "-e", "cpu-clock", "true"]
	r = trace(["--perf-data=" + ours], args)
	tap.ok(r.returncode == run(*args).returncode and b"has no events" in r.stderr,
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
		a = text(*perf, "script", "-i", own)
		with open(ours, "rb") as f:
			b = text(*perf, "script", "-i", "-", stdin=f)
		c = text(*perf, "script", "-i", ours)
		tap.ok(len(a) > 1 and a == b == c, "a pipe, read by %s: %d lines" % (who, len(a)),
		       difference(a, b) + difference(a, c))
	r = run(rp.PEVTRACE, "decode", "--records", ours)
	tap.ok(not r.returncode, "pevtrace decode reads the pipe", [r.stderr])

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
	ids = [set(text(rp.PERF, "buildid-list", "-i", f)) for f in (own, ours)]
	left = sorted(ids[0] - ids[1])
	tap.ok(len(ids[0]) > 2 and not left,
	       "build ids: the %d that perf stored are there" % (len(ids[0]) - 1), left)

def header_of(perf, f):
	"""Return the lines of perf report --header-only on CPUs, memory and PMUs, for comparison."""
	found = re.findall(r"^# ((?:cpudesc|cpuid|total memory|sibling|node\d+ cpu|clockid) .*|"
			   r"CPU \d.*|memory nodes.*|  +\d+ \[.*|node\d+ meminfo.*total = \d+|pmu mappings: .*)", "\n".join(
			   text(*perf, "report", "--header-only", "-I", "-i", f)), re.M)
	return [", ".join(sorted(line.split(": ")[1].split(", "))) if "mappings" in line else line
		for line in found]

def test_machine(tap, tmp):
	"""What perf stores of the machine and of the clock that attrs name: also perf data convert
	--to-json requires it, and the time of day is computed from it."""
	dump, made = os.path.join(tmp, "m.json"), os.path.join(tmp, "m.data")
	own, ours, bad = record(tmp, ["-k", "CLOCK_MONOTONIC", "-e", "cpu-clock"] + WORK,
				["--records", "--json=" + dump])
	from_dump(made, dump)
	rp.check_schema(tap, "the machine", dump)
	for who, perf in readers().items():
		said = [header_of(perf, f) for f in (own, ours, made)]
		tap.ok(len(said[0]) > 6 and said[0] == said[1] == said[2], "the machine, read by %s: "
		       "%d equal lines" % (who, len(said[0])), bad + said)
		days = [[float(t) for t in re.findall(r"^[-\d]+ \d+:\d+:([\d.]+) ", "\n".join(
			 text(*perf, "script", "-F", "tod,event", "-i", f)), re.M)]
			for f in (own, ours, made)]
		tap.ok(len(days[0]) > 9 and [len(d) for d in days] == [len(days[0])] * 3 and
		       all(abs(a - b) % 59.9 < 0.1 for d in days[1:] for a, b in zip(days[0], d)),
		       "the time of day, read by %s: of %d samples" % (who, len(days[0])),
		       [d[:3] for d in days])
		out = os.path.join(tmp, "out.json")
		samples = []
		for f in (own, ours, made):
			r = run(*perf, "data", "convert", "--force", "--to-json=" + out, "-i", f)
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
	a, b = (text(rp.PERF, "script", "-i", f) for f in (own, ours))
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
				    text(rp.PERF, "script", "-F", "comm", "-i", ours))
	tasks = text(rp.PERF, "script", "--show-task-events", "-F", "comm,tid", "-i", ours)
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
		if text(rp.PERF, "script", "-i", ours):
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
	from_dump(made, dump)
	said = []
	for f in (own, ours, made):
		lines = text(rp.PERF, "script", "--show-bpf-events", "-i", f)
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
	a, b = ([line for line in text(rp.PERF, "buildid-list", "-i", f) if path in line]
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
	m = from_dump(made, dump)
	a, b, c = (text(rp.PERF, "script", "-F", "comm,pid,tid,time,ip,sym,dso", "-i", f)
		   for f in (own, ours, made))
	known = len([line for line in a if re.match(r" *sh +2/2 .*\(/.*\)$", line)])
	tap.ok(known > 10 and a == b == c, "another PID namespace: %d lines, %d with their program" %
	       (len(a), known), [r.stderr, m.stderr] + a[:2] + b[:2] + c[:2])

if __name__ == "__main__":
	sys.exit(main(globals()))
