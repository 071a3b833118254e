#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""--perf-data of programs other than perf record, which write no file to compare with: what perf prints
is held against what they say, or against the lines of the trace.  And of a pevtrace that is killed."""

import collections
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from perfdata import TRIES, WORK, from_dump, header, main, readers, record, text, trace
from programs import run_bytes as run
import ringparse as rp
import straceparse as sp

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
					rp.PERF, "script", "-F", "time", "-i", ours) if t]
				if times and end - times[-1] < 0.2:
					break
			for who, perf in readers().items():
				r = run(*perf, "script", "-F", "time", "-i", ours)
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
			r = run(rp.PERF, "script", "-i", ours)
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
			r = run(*perf, "script", "-i", ours)
			lines = r.stdout.count(b"\n")
			tap.ok(lines >= n > 0 and not r.stderr and not r.returncode,
			       "%s engine, killed: %s reads %d lines" % (engine, who, lines),
			       [grown, r.stderr])
		r = run(rp.PEVTRACE, "decode", "--records", ours)
		tap.ok(not r.returncode, "%s engine, killed: pevtrace decode reads it" % engine,
		       [r.stderr])

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
	if run("/usr/bin/python3", "-c", "import perf").returncode:
		return tap.skip("a profiler in Python", "python3 has no module perf")
	r = trace(["--perf-data=" + ours], ["/usr/bin/python3", "-c", PYTHON])
	said = int(r.stdout.split()[-1]) if r.stdout.strip() else 0
	for who, perf in readers().items():
		lines = text(*perf, "report", "--stdio", "-i", ours)
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
	if run("/usr/bin/python3", "-c", "import perf").returncode:
		return tap.skip("an event opened later", "python3 has no module perf")
	r = trace(["--perf-data=" + ours], ["/usr/bin/python3", "-c", LATER])
	said = int(r.stdout.split()[0]) if r.stdout.strip() else 0
	for who, perf in readers().items():
		p = run(*perf, "script", "-F", "event,time,sym", "-i", ours)
		got = collections.Counter(re.findall(r": +([a-z-]+):", p.stdout.decode()))
		tap.ok(said > 10 and got["context-switches"] >= said and got["page-faults"] and
		       not p.stderr, "an event opened later, read by %s: %s" % (who, dict(got)),
		       [said, got, r.stderr, p.stderr, p.stdout[:300]])
	r = run(rp.PEVTRACE, "decode", "--records", ours)
	tap.ok(not r.returncode, "an event opened later: pevtrace decode reads it", [r.stderr])

def test_later_piped(tap, tmp):
	"""In a pipe, ids of events that are opened later: they are no further events for perf.  Of
	tracepoints that are, it has the formats of the first one only, or aborts."""
	piped = os.path.join(tmp, "later.pipe")
	if run("/usr/bin/python3", "-c", "import perf").returncode or not sp.tracefs():
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
		p = run(*through, "script", "-F", "event", "-i", "-")
		lines = collections.Counter(p.stdout.decode().replace(":", " ").split())
		counts = re.findall(r"Samples: (\S+) +of event '(.*)'",
				    "\n".join(text(*through, "report", "--stdio", "-i", "-")))
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
	n = len(text(rp.PERF, "script", "-i", ours)) - 1
	known = len([line for line in text(rp.PERF, "script", "-i", ours)
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
		n = len([line for line in text(rp.PERF, "script", "-F", "event", "-i", ours)
			 if "page-faults" in line])
		# faults after the last time that it looks are in the ring only
		tap.ok(20000 <= said <= n < said + 100, "%s engine, a ring that is consumed "
		       "silently: %d samples, of which it read %d" % (engine, n, said),
		       [r.stderr])

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
		from_dump(made, dump)
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
		lines = text(*perf, "script", "-F", "event", "-i", ours)
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
	for line in text(*perf, "script", "-F", "event,period", "-i", f):
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
		from_dump(made, dump)
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
	shown = text(rp.PEVTRACE, "decode", "--records", ours)
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
		from_dump(made, dump)
		for who, perf in readers().items():
			said = [re.findall(r"(# Total Lost Samples: \d+|LOST_SAMPLES ?: ?lost.*)",
					   "\n".join(text(*perf, "report", "--stdio", "-i", f) +
						     text(*perf, "report", "-D", "-i", f)))
				for f in (own, ours, made)]
			tap.ok(said[0] and said[0] == said[1] == said[2],
			       "lost samples, %s, read by %s: %s" % (name, who, said[0]), bad + said)

def test_open(tap, tmp):
	"""perf prints a sample for each that the lines of pevtrace open show."""
	ours, lines = os.path.join(tmp, "open.data"), os.path.join(tmp, "open.txt")
	for name, args in (("open", ["-e", "cpu-clock,page-faults"]),
			   ("open, one event", ["-e", "cpu-clock"])):
		r = run(rp.PEVTRACE, "open", "-q", "-o", lines, "--perf-data=" + ours,
			"--mmap=64", *args, "--", *WORK)
		with open(lines) as f:
			said = f.read().count("{type=PERF_RECORD_SAMPLE,")
		for who, perf in readers().items():
			out = text(*perf, "script", "-i", ours)
			tap.ok(said > 20 and len(out) - 1 == said,
			       "%s, read by %s: %d samples" % (name, who, said),
			       [r.stderr, len(out)] + out[:3])
	r = run(rp.PEVTRACE, "open", "--side-band", "-q", "-o", lines, "--perf-data=" + ours, *WORK)
	with open(lines) as f:
		said = f.read().count("] exec /")
	out = text(rp.PERF, "script", "--show-task-events", "-i", ours)
	n = len([line for line in out if "PERF_RECORD_COMM exec" in line])
	tap.ok(said and n == said and not r.stderr, "watch: %d names" % said, [r.stderr] + out[:5])
	if not os.getuid():
		run(rp.PEVTRACE, "open", "-q", "-o", lines, "--perf-data=" + ours, "--mmap=64", "-a",
		    "--for=0.3", "-e", "cpu-clock")
		out = text(rp.PERF, "script", "-F", "cpu,event", "-i", ours)
		known = [line for line in out if re.match(r"\[\d+\] +cpu-clock", line.strip())]
		said = header(ours).get("# cmdline", "")
		tap.ok(len(known) == len(out) - 1 > 20 and "pevtrace open -q" in said,
		       "open -a: the CPUs of %d samples, and the command line" % len(known),
		       out[:3] + [said])
	r = run(rp.PEVTRACE, "open", "--perf-data=" + ours, "-e", "cpu-clock", "true")
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
	r = run(rp.PEVTRACE, "decode", "--perf-data=" + ours, "x")
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
		r = from_dump(ours, dump)
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
	n = len([line for line in text(rp.PERF, "report", "-D", "-i", ours)
		 if line.startswith(".") and "qzx" in line])
	tap.ok(0 < r.stdout.count(b"qzx") <= n and
	       re.search(rb"file: cpu-clock, whose samples BPF program \d+ and others get; ", r.stderr) and
	       b"samples of bpf-output are data of BPF programs" in r.stderr and
	       r.stderr.count(b"pevtrace: ") == 2,
	       "the output of bpftrace's programs: %d samples" % n, [r.stdout, r.stderr])

if __name__ == "__main__":
	sys.exit(main(globals()))
