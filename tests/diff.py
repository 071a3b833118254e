#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace diff: runs that are the same, runs that are not, and bad input.

That two commands differ in some fields, and in no others, is taken from perf
itself: from perf evlist -v on the files that it wrote in the traced runs.  How
often an event was opened comes from the ids in perf report --header-only.
"""

import json
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from programs import dump
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE") or shutil.which("pevtrace")
TARGETS = os.environ.get("PEVTRACE_TARGETS", "tests/targets")
PERF = shutil.which("perf")
RUNS = sp.times(8, 20)
# perf record with these writes a file and, in another run, to a pipe
RECORDS = (
	("cpu-clock", ["-e", "cpu-clock", "true"]),
	("call graph", ["-e", "cpu-clock", "--call-graph", "fp", "--switch-events", "true"]),
	("two events", ["-e", "cpu-clock,task-clock:u", "true"]),
	# the first gets mmap and comm, too; the others are one in the normal form
	("an event three times", ["-e", "cpu-clock", "-e", "cpu-clock", "-e", "cpu-clock",
				  "true"]),
	("a group", ["-e", "{cpu-clock,task-clock,dummy}:S", "true"]),
	("all CPUs", ["-a", "-c", "100000", "-e", "cpu-clock", "true"]),
	("breakpoints", ["-e", "mem:0x1000:rw,mem:0x2000:x", "true"]),
	("tracepoints", ["-e", "sched:sched_switch,sched:sched_wakeup", "true"]),
)

# Four threads that each open, set up and close events at the same time.
THREADS = """
import ctypes, struct, threading, os
libc = ctypes.CDLL(None, use_errno=True)
gate = threading.Barrier(4)
def work(n):
    gate.wait()
    for i in range(5):
        attr = struct.pack("IIQQ", 1, 112, n, 0).ljust(112, bytes(1))
        fd = libc.syscall(298, attr, 0, -1, -1, 8)
        if fd >= 0:
            libc.ioctl(fd, 0x2400, 0)
            os.read(fd, 8)
            libc.ioctl(fd, 0x2401, 0)
            libc.close(fd)
threads = [threading.Thread(target=work, args=(n,)) for n in (0, 1, 2, 9)]
for t in threads: t.start()
for t in threads: t.join()
"""

# Makes five calls, each in the first or second of two threads, as argv[1] says.
MOVED = """
import ctypes, os, struct, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
turn = threading.Condition()
done = 0
def work(me):
    global done
    with turn:
        for i, owner in enumerate(sys.argv[1]):
            turn.wait_for(lambda: done >= i)
            if owner == me:
                attr = struct.pack("IIQQ", 1, 112, i, 0).ljust(112, bytes(1))
                fd = libc.syscall(298, attr, 0, -1, -1, 8)
                libc.ioctl(fd, 0x2400, 0)
                done += 1
                turn.notify_all()
threads = [threading.Thread(target=work, args=(me,)) for me in "ab"]
for t in threads: t.start()
for t in threads: t.join()
"""

def diff(*args, data=None):
	return subprocess.run([PEVTRACE, "diff"] + list(args), input=data,
			      stdout=subprocess.PIPE, stderr=subprocess.PIPE,
			      timeout=300)

def normal(path, *args):
	return diff("--normalize", path, *args).stdout

def same_runs(tap, name, tmp, command):
	"""Compare one run with RUNS others: no difference, and the same normal form."""
	def run(i):
		path = os.path.join(tmp, "run%d" % i)
		dump(path, *[w.replace("@", path + ".") for w in command])
		return path

	# several at a time, so that they interfere
	with ThreadPoolExecutor(4) as pool:
		first, *others = pool.map(run, range(RUNS + 1))
	bad = []
	form = normal(first)
	for other in others:
		r = diff(first, other)
		if r.returncode or r.stdout or r.stderr:
			bad.append(r.stdout.decode() + r.stderr.decode())
		elif normal(other) != form:
			bad.append("another normal form")
	tap.ok(not bad and b"perf_event_open" in form,
	       "%d of %d runs of %s are the same" % (RUNS - len(bad), RUNS, name),
	       ["\n".join(bad)])

def record(base, args, pipe=False):
	"""Trace perf record, which writes BASE.data; return its exit status."""
	with open(base + ".data" if pipe else os.devnull, "wb") as f:
		return subprocess.run([PEVTRACE, "--json=" + base, "-o", "/dev/null", PERF,
				       "record", "-o", "-" if pipe else base + ".data"]
				      + args, stdin=subprocess.DEVNULL, stdout=f,
				      stderr=subprocess.DEVNULL, timeout=300,
				      check=False).returncode

def evlist(path):
	"""Return the attr of the event cpu-clock, as perf evlist shows it."""
	r = subprocess.run([PERF, "evlist", "-v", "-i", path], stdout=subprocess.PIPE,
			   stderr=subprocess.DEVNULL, text=True, timeout=300)
	line = next(l for l in r.stdout.splitlines() if l.startswith("cpu-clock"))
	return dict(re.findall(r"(\w+)(?: \})?: ([^,{}]+)", line.split(": ", 1)[1]))

def no_probes(tap, tmp):
	"""--no-probes leaves out probes, and nothing else."""
	path = os.path.join(tmp, "probes")
	dump(path, PERF, "record", "-o", path + ".data", "-e", "cpu-clock", "true")
	everything = normal(path).splitlines()
	used = normal(path, "--no-probes").splitlines()
	tried = [l for l in everything if b"/probe" in l or
		 (b" perf_event_open " in l and re.search(rb"result=E[A-Z0-9_]+$", l))]
	tap.ok(tried and used == [l for l in everything if l not in tried] and
	       any(b" perf_event_open " in l for l in used),
	       "--no-probes leaves out %d of %d calls, those of probes"
	       % (len(tried), len(everything) - 1), used)

def names_fields(tap, tmp):
	"""The fields that differ are those that perf says differ."""
	plain, more = os.path.join(tmp, "plain"), os.path.join(tmp, "more")
	record = [PERF, "record", "-e", "cpu-clock", "-o"]
	dump(plain, *record, plain + ".data", "true")
	dump(more, *record, more + ".data", "--call-graph", "fp",
	     "--switch-events", "true")
	a, b = evlist(plain + ".data"), evlist(more + ".data")
	theirs = {k: (a.get(k, "0"), b.get(k, "0")) for k in set(a) | set(b)
		  if a.get(k, "0") != b.get(k, "0")}
	files = diff("--json", plain + ".data", more + ".data")
	mixed = diff("--json", plain, more + ".data")
	r = diff("--json", plain, more)
	lines = [json.loads(l) for l in r.stdout.splitlines()]
	changed = [l for l in lines if l["kind"] == "changed"]
	short = lambda v: v.replace("PERF_SAMPLE_", "").replace("+", "|")
	ours = {l["field"]: (short(l["a"]), short(l["b"])) for l in changed}
	order = lambda d: {k: [set(v.split("|")) for v in p] for k, p in d.items()}
	tap.ok(r.returncode == 1 and theirs and order(theirs) == order(ours),
	       "the fields that differ are those of perf evlist: "
		  + " ".join(sorted(theirs)), ["%s\n%s" % (theirs, ours)])
	for name, other in ("two perf.data files", files), ("a dump and a perf.data", mixed):
		found = [json.loads(l) for l in other.stdout.splitlines()]
		ours = {l["field"]: (short(l["a"]), short(l["b"])) for l in found
			if l["kind"] == "changed"}
		kinds = {l["kind"] for l in found} - {"changed"}
		tap.ok(other.returncode == 1 and order(theirs) == order(ours)
			  and kinds == (set() if other is files else {"scope"}),
		       "the same of " + name, [other.stdout.decode()])
	tap.ok(all(l["bits_added"] == ["PERF_SAMPLE_CALLCHAIN"]
		      and not l["bits_removed"] for l in changed
		      if l["field"] == "sample_type"),
	       "a set of flags is told by its bits", [changed])
	tap.ok(all(l["kind"] == "changed" or (l["kind"] == "added"
		      and "cpu=some" in l["line"]) for l in lines),
	       "what was added are probes only", [lines])
	r = diff("--ignore", "sample_type,context_switch", "--ignore=added", plain, more)
	tap.ok(r.returncode == 0 and not r.stdout, "--ignore: nothing is left",
	       [r.stdout.decode()])
	r = diff("--only", "context_switch", plain, more, "--color=never")
	tap.ok(r.returncode == 1 and
		  b"context_switch: 0 -> 1" in r.stdout and
		  b"sample_type" not in r.stdout, "--only: one field",
	       [r.stdout.decode()])
	r = diff(more, plain, "--color=never")
	tap.ok(b"-PERF_SAMPLE_CALLCHAIN" in r.stdout
		  and b"\n- task1 perf_event_open" in r.stdout,
	       "the other way round, bits go", [r.stdout.decode()])

def ids_of(path):
	"""Return the number of ids of each event, as perf report shows it."""
	r = subprocess.run([PERF, "report", "--header-only", "-i", path],
			   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
			   timeout=300)
	return [len(ids.split(",")) for ids in
		re.findall(r"# event : name = .*? id = \{([^}]*)\}", r.stdout)]

def data_files(tap, tmp):
	"""Compare what perf asked for with what it stored, and two files of one command."""
	for i, (name, args) in enumerate(RECORDS):
		if name == "tracepoints" and (os.geteuid() or not sp.tracefs()):
			tap.skip("perf.data: " + name, "needs root and tracefs")
			continue
		path, again, pipe = (os.path.join(tmp, "%s%d" % (n, i)) for n in
				     ("file", "again", "pipe"))
		if record(path, args) or record(again, args) or record(pipe, args, pipe=True):
			tap.skip("perf.data: " + name, "perf record cannot do that here")
			continue
		for what, a, b in (("its dump", path, path + ".data"),
				   ("its dump, the other way", path + ".data", path),
				   ("its dump, through a pipe", pipe, pipe + ".data")):
			r = diff(a, b, "--color=never")
			out = r.stdout.decode().splitlines()
			tap.ok(r.returncode == 0 and not r.stderr and len(out) == 3
				  and out[2].startswith("# only the attrs"),
			       "perf.data: %s, against %s" % (name, what),
			       [r.stdout.decode() + r.stderr.decode()])
		r = diff(path + ".data", again + ".data")
		tap.ok(r.returncode == 0 and not r.stdout + r.stderr,
		       "perf.data: %s, two runs" % name, [r.stdout.decode()])
		objects = [json.loads(l)["fields"] for l in
			   normal(path + ".data", "--json").splitlines()]
		ours = [int(o["opens"]) for o in objects]
		theirs = ids_of(path + ".data")
		if "three times" in name:
			theirs[1:] = [sum(theirs[1:])]
		tap.ok(theirs and theirs == ours,
		       "perf.data: %s, opens are perf's ids: %s" % (name, theirs), [ours])
		tap.ok(not any({"pid", "cpu", "flags", "group_fd", "result"} & set(o)
			       for o in objects),
		       "perf.data: %s, no arguments" % name, [objects])

def data_edges(tap, tmp):
	path, alone = os.path.join(tmp, "edges"), os.path.join(tmp, "alone")
	record(path, ["-e", "cpu-clock,task-clock", "true"])
	record(alone, ["-e", "cpu-clock", "true"])
	with open(path + ".data", "rb") as f:
		content = f.read()
	bad = os.path.join(tmp, "bad.data")

	def write(data):
		with open(bad, "wb") as f:
			f.write(data)

	# the header has the offset of the first attr, where wakeup_events is at 48
	at = int.from_bytes(content[24:32], "little") + 48
	write(content[:at] + b"\7" + content[at + 1:])
	for a, b, values in (path, bad, "0 -> 7"), (bad, path + ".data", "7 -> 0"):
		r = diff(a, b, "--color=never")
		out = [l for l in r.stdout.decode().splitlines() if l[0] not in "#-+"]
		tap.ok(r.returncode == 1 and out == ["  task1 perf_event_open cpu-clock",
						     "      wakeup_events: " + values],
		       "perf.data: a member that is not what was asked for", out)
	write(content.replace(platform.machine().encode() + b"\0", b"riscv64\0"[:len(
		platform.machine()) + 1]))
	r = diff(path + ".data", bad)
	tap.ok(r.returncode == 0 and not r.stdout,
	       "perf.data: of a machine that we do not know", [r.returncode, r.stderr])
	r = diff("-", path, data=content)
	tap.ok(r.returncode == 0, "perf.data: on a pipe to standard input", [r.stderr])
	r = diff(path + ".data", alone + ".data", "--color=never")
	tap.ok(r.returncode == 1 and
		  b"\n- task1 perf_event_open type=PERF_TYPE_SOFTWARE size=" in r.stdout,
	       "perf.data: an event is gone", [r.stdout.decode()])
	r = diff(path + ".data", alone + ".data", "--ignore=sample_type,removed")
	tap.ok(r.returncode == 0 and not r.stdout, "perf.data: --ignore", [r.stdout.decode()])
	r = diff(path + ".data", alone + ".data", "--only=config,removed")
	tap.ok(r.returncode == 1 and b"config=PERF_COUNT_SW_TASK_CLOCK\n" in r.stdout
		  and b"sample_type" not in r.stdout, "perf.data: --only", [r.stdout.decode()])

	# each attr is followed by offset and size of its ids
	attrs, size = (int.from_bytes(content[n:n + 8], "little") for n in (24, 16))
	none = bytes(8)
	write(content[:attrs + size - 8] + none + content[attrs + size:])
	form = normal(bad).splitlines()
	tap.ok(b"opens=" not in form[1] and b"opens=" in form[2],
	       "perf.data: no ids, no number of opens", form)
	r = diff(path + ".data", bad)
	tap.ok(r.returncode == 0 and not r.stdout, "perf.data: and no difference in it",
	       [r.stdout.decode()])
	r = diff(path, bad, "--color=never")
	tap.ok(b"opens:" not in r.stdout and b"left out" not in r.stdout,
	       "perf.data: without ids, no open is left out", [r.stdout.decode()])
	form = normal(path + ".data")
	golden = os.path.join(tmp, "golden.data")
	for text, status in (form, 0), (form.replace(b"opens=", b"opens=9"), 1):
		with open(golden, "wb") as f:
			f.write(text)
		r = diff("--expect", golden, path + ".data")
		tap.ok(r.returncode == status and not r.stderr,
		       "perf.data: --expect, %d" % status, [r.stdout.decode()])
	r = diff("--expect", path + ".data", path)
	tap.ok(r.returncode == 2 and b"--normalize" in r.stderr,
	       "perf.data is no expectation", [r.stderr])

	wrong = []
	for cut in list(range(8, 1024, 13)) + [len(content) - 1]:
		write(content[:cut])
		r = diff(path + ".data", bad)
		if r.returncode != 2 or r.stdout or r.stderr.count(b"\n") != 1 \
		   or bad.encode() not in r.stderr:
			wrong.append((cut, r.returncode, r.stderr))
	tap.ok(not wrong, "perf.data: cut off anywhere", wrong)
	r = diff("--keep-going", path + ".data", bad)
	tap.ok(r.returncode == 2 and r.stderr.count(b"\n") == 1 and not r.stdout,
	       "perf.data: --keep-going compares what there is", [r.stdout, r.stderr])
	for at in range(0, 700, 3):
		write(content[:at] + bytes([content[at] ^ 0xff]) + content[at + 1:])
		r = diff("--keep-going", path, bad)
		if r.returncode not in (0, 1, 2) or (r.returncode == 2) != bool(r.stderr):
			wrong.append((at, r.returncode, r.stderr))
	tap.ok(not wrong, "perf.data: any byte is wrong", wrong)

def loop(path, seed, calls):
	"""Write a dump of that many calls, which enable and disable an event in turn."""
	def line(kind, word=""):
		return next(i for i, l in enumerate(seed) if '"kind":"%s"' % kind in l
			    and word in l)
	turns = [seed[line("call", "IOC_ENABLE")], seed[line("call", "IOC_DISABLE")]]
	last = max(i for i, l in enumerate(seed) if '"kind":"call"' in l)
	with open(path, "w", encoding="utf-8") as f:
		f.writelines(seed[:line("call", '"ioctl"')])
		f.writelines(turns[i] for i in calls)
		f.writelines(seed[last + 1:])

def confined(*args):
	"""Run diff with a limit of 16 MB of data."""
	limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (16 << 20, 16 << 20))
	return subprocess.run([PEVTRACE, "diff", *args], stdout=subprocess.PIPE,
			      stderr=subprocess.STDOUT, timeout=300, preexec_fn=limit,
			      check=False)

def loops(tap, tmp):
	"""Compare long loops of calls."""
	seed, few, many = (os.path.join(tmp, n) for n in ("seed", "few", "many"))
	dump(seed, os.path.join(TARGETS, "attrs"), "ioctl")
	with open(seed, encoding="utf-8") as f:
		lines = f.readlines()
	turns = [0, 1] * 500
	loop(few, lines, turns)
	for name, calls, wanted in (
		("in the midst", turns[:500] + [0] + turns[500:], ["ENABLE"]),
		("at both ends", [1] + turns + [0], ["DISABLE", "ENABLE"])):
		loop(many, lines, calls)
		r = diff(few, many, "--json")
		found = [json.loads(l) for l in r.stdout.splitlines()]
		tap.ok(r.returncode == 1 and [(l["kind"], l["request"]) for l in found] ==
		       [("added", "PERF_EVENT_IOC_" + w) for w in wanted],
		       "one more among 1000 like calls, " + name, [r.stdout.decode()])
	if sp.sanitized():
		return tap.skip("a loop of 60000 ioctls in 16 MB", "the sanitizers take more")
	loop(many, lines, turns * 60)
	r = confined(many, many)
	tap.ok(r.returncode == 0 and not r.stdout, "a loop of 60000 ioctls in 16 MB",
	       [r.stdout.decode()])

def moved(tap, tmp):
	"""Calls that move between the threads of a process, as those of a Go program do."""
	paths = [os.path.join(tmp, "moved-" + owners) for owners in ("aabba", "babab")]
	for path in paths:
		dump(path, sys.executable, "-c", MOVED, path[-5:])
	other = os.path.join(tmp, "moved-less")
	dump(other, sys.executable, "-c", MOVED, "abab")
	auto, never = diff(*paths), diff("--merge-threads=never", *paths)
	tap.ok(auto.returncode == 0 and not auto.stdout and b"--merge-threads" in auto.stderr and
	       never.returncode == 1 and b"- task1.t1 perf_event_open" in never.stdout,
	       "calls that moved between threads are no difference, and a message says so",
	       [auto.stdout, auto.stderr, never.stdout])
	auto = diff(paths[0], other)
	always = diff("--merge-threads", paths[0], other)
	one = [l for l in always.stdout.decode().splitlines() if l.startswith(("- ", "+ "))]
	tap.ok(auto.returncode == always.returncode == 1 and
	       b"task1.t1" in auto.stdout and not auto.stderr and
	       len(one) == 1 and one[0].startswith("- task1 perf_event_open") and
	       diff(paths[0], paths[0]).stderr == b"",
	       "a call less is a difference, with merged threads, too",
	       [auto.stdout, auto.stderr, always.stdout])

# Every program of tests/targets whose calls do not depend on time.
SAME = ("identities", "attrs list", "bpfevent uprobe link 1", "bpfevent tracepoint ioctl 1",
	"bpfevent clock link 1", "counted 10 0 4", "drain 50", "event_uses running_group", "event_uses sigtrap",
	"execs", "mirror", "mixedring", "overmapped", "passfd", "passorder", "passorder later",
	"passunseen close", "processes -e thread_exec", "processes32 -e thread_exec",
	"readsamples group 3", "reuse", "sandboxed filter", "sandboxed32 filter", "sigtrapbp 9",
	"tree fork", "tree threads 4", "tree32 fork", "undisturbed")

def two_runs(tap, tmp):
	"""Two runs of a program differ in nothing."""
	for case in SAME:
		program, *args = case.split()
		path = os.path.join(TARGETS, program)
		if not os.path.exists(path):
			tap.skip("two runs: " + case, "not built")
			continue
		names = [os.path.join(tmp, "run%d" % i) for i in (1, 2)]
		runs = [dump(name, path, *args) for name in names]
		if runs[0].returncode == 77:
			tap.skip("two runs: " + case, "it cannot run here")
			continue
		r = diff(*names)
		tap.ok(r.returncode == 0 and not r.stdout, "two runs: " + case, [r.stdout.decode(), r.stderr, runs])

def idempotent(tap, tmp, path):
	"""The normal form is stable, without descriptors, pids, addresses and times."""
	form = normal(path)
	tap.ok(form and form == normal(path), "--normalize writes the same twice")
	tap.ok(not re.search(rb"=0x7f[0-9a-f]{6}| fd=\d", form),
	       "no address and no descriptor is left", [form.decode()])
	objects = [json.loads(l) for l in normal(path, "--json").splitlines()]
	text = ["%s %s %s" % (o["task"], o["call"],
		" ".join("%s=%s" % f for f in o["fields"].items())) for o in objects]
	tap.ok(text == form.decode().splitlines()[1:], "--json says what the text says")

def main():
	tap = sp.Tap()
	tmp = tempfile.mkdtemp(prefix="pevtrace-diff.")
	demo = os.path.join(TARGETS, "demo")
	try:
		path = os.path.join(tmp, "demo")
		dump(path, demo, "true")
		if b'"ret":-1' in normal(path) or b" mmap " not in normal(path):
			sp.skip_all("no events can be opened here")
		same_runs(tap, "demo", tmp, [demo, "true"])
		if os.uname().machine == "x86_64":
			same_runs(tap, "four threads at once", tmp,
				  [sys.executable, "-c", THREADS])
			moved(tap, tmp)
		two_runs(tap, tmp)
		idempotent(tap, tmp, path)
		loops(tap, tmp)
		if PERF:
			for name, command in (
				("perf stat", ["stat", "-o", "@s", "true"]),
				("perf record", ["record", "-o", "@d", "-e",
						 "cpu-clock", "true"]),
				("perf record -a", ["record", "-a", "-o", "@d", "-e",
						    "cpu-clock", "true"])):
				same_runs(tap, name, tmp, [PERF] + command)
			if os.geteuid() == 0 and sp.tracefs():
				same_runs(tap, "perf trace", tmp,
					  [PERF, "trace", "-o", "@t", "true"])
			else:
				tap.skip("perf trace", "needs root and tracefs")
			no_probes(tap, tmp)
			names_fields(tap, tmp)
			data_files(tap, tmp)
			data_edges(tap, tmp)
		else:
			tap.skip("perf", "there is no perf here")
	finally:
		shutil.rmtree(tmp, ignore_errors=True)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
