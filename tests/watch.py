#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace open --side-band, compared with other programs:

  process  perf record on the same process, at the same time: the same forks,
           exits, names and mappings (perf script)
  command  what a command is known to do; its exit status
  words    each line says what a record of the dump says; at 80 columns, and of hostile names
  system   cgroups, BPF programs and namespaces that the test makes
  json     a dump that decodes to the same lines, and is as the schema says
  kinds    --only, --also, and words that are none
  nobody   an ordinary user sees what that user may
"""

import collections
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import machine
import ringparse as rp
import straceparse as sp

PEVTRACE, PERF = rp.PEVTRACE, rp.PERF

def watch(args, **how):
	return subprocess.run([PEVTRACE, "open", "--side-band"] + args, text=True,
			      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
			      stderr=subprocess.PIPE, timeout=300, errors="surrogateescape",
			      env=dict(os.environ, LC_ALL="C"), **how)

def records(dump):
	"""Return the records of a dump."""
	r = subprocess.run([PEVTRACE, "decode", "--records", "-s", "4096", dump], stdout=subprocess.PIPE,
			   text=True, errors="surrogateescape", timeout=300, check=False)
	return rp.records(r.stdout.split("\n"))

def seen(args):
	"""Watch; return the finished process with its records, and what its lines say."""
	with tempfile.NamedTemporaryFile(prefix="pevtrace-watch.") as dump:
		r = watch(["--json=" + dump.name] + args)
		r.records = records(dump.name)
	r.said = said(r.stderr)
	return r

LINE = re.compile(r"\d\d:\d\d:\d\d\.\d (.*)$")

def said(text):
	"""Return what the lines say, without the time of day."""
	return [m.group(1) for m in map(LINE.match, text.split("\n")) if m]

# ---- a process ------------------------------------------------------------------

def our_key(r):
	if r.type == "COMM":
		return ("COMM", r.n("pid"), r.n("tid"), r.text("comm"))
	if r.type in ("FORK", "EXIT"):
		return (r.type, r.n("pid"), r.n("tid"), r.n("ppid"), r.n("ptid"))
	if r.type == "MMAP2":
		return ("MMAP2", r.n("pid"), r.n("addr"), r.n("len"), r.n("pgoff"),
			r.text("filename"))
	return None

def their_keys(text):
	out = []
	for line in text.split("\n"):
		m = re.search(r"PERF_RECORD_COMM(?: exec)?: (.*):(\d+)/(\d+)\s*$", line)
		if m:
			out.append(("COMM", int(m.group(2)), int(m.group(3)), m.group(1)))
		m = re.search(r"PERF_RECORD_(FORK|EXIT)\((\d+):(\d+)\):\((\d+):(\d+)\)", line)
		if m:
			pid, tid, ppid, ptid = map(int, m.groups()[1:])
			out.append((m.group(1), pid, tid, ppid, ptid))
		m = re.search(r"PERF_RECORD_MMAP2 (\d+)/\d+: \[(\S+)\((\S+)\) @ (\S+)"
			      r"(?: [^\]]*)?\]: \S+ (.*?)\s*$", line)
		if m:
			out.append(("MMAP2", int(m.group(1)), int(m.group(2), 16),
				    int(m.group(3), 16), int(m.group(4), 0), m.group(5)))
	return out

def test_process(tap, tmp):
	t = subprocess.Popen([rp.target("counted"), "10", "0", "4"], text=True,
			     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
	pid = t.stdout.readline().split()[0]
	data = os.path.join(tmp, "perf.data")
	perf = subprocess.Popen([PERF, "record", "-q", "-e", "dummy:u", "-o", data, "-p", pid],
				stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	dump = os.path.join(tmp, "process")
	ours = subprocess.Popen([PEVTRACE, "open", "--side-band", "-p", pid, "--json=" + dump],
				stderr=subprocess.PIPE, text=True)
	ready = rp.holds_events(perf.pid, 1) and rp.holds_events(ours.pid, 1)
	t.stdin.write("x")
	t.stdin.flush()
	t.wait(300)
	lines = said(ours.communicate(timeout=300)[1])
	perf.wait(300)
	script = subprocess.run([PERF, "script", "-i", data, "--show-task-events",
				 "--show-mmap-events"], stdout=subprocess.PIPE,
				stderr=subprocess.DEVNULL, text=True, timeout=300).stdout
	# perf takes earlier mappings from /proc
	theirs = collections.Counter(k for k in their_keys(script))
	got = records(dump)
	ours = collections.Counter(filter(None, map(our_key, got)))
	before = {k for k in theirs if k[0] in ("COMM", "MMAP2") and k[1] == int(pid)}
	for k in before:
		if k not in ours:
			del theirs[k]
	kernel = [k for k in theirs if k[0] == "MMAP2" and k[1] > 1 << 31]
	for k in kernel:
		del theirs[k]
	tap.ok(ready and ours == theirs and sum(k[0] == "FORK" for k in ours) == 4,
	       "-p: the records that perf record got beside it",
	       ["only ours   %s" % (k,) for k in ours - theirs] +
	       ["only perf's %s" % (k,) for k in theirs - ours] +
	       ["%d and %d" % (sum(ours.values()), sum(theirs.values()))])
	forks = ["counted[%s] fork %d" % (pid, k[1]) for k in ours if k[0] == "FORK" and k[1] != k[3]]
	tap.ok(set(forks) <= set(lines), "the words name a process that was there before", [forks, lines])
	times = [r.n("time") for r in got]
	tap.ok(len(times) > 20 and times == sorted(times), "in the order of time")

# ---- a command ---------------------------------------------------------------------

def test_command(tap):
	work = ["--", "sh", "-c", "/bin/true; /bin/true; exit 5"]
	r = seen(work)
	comms = collections.Counter(x.text("comm") for x in r.records if x.type == "COMM")
	kinds = collections.Counter(x.type for x in r.records)
	tap.ok(r.returncode == 5 and comms == {"sh": 1, "true": 2} and
	       kinds["FORK"] == 2 and kinds["EXIT"] == 3,
	       "a command: its programs, forks and exits, and its status",
	       [r.returncode, comms, kinds])
	files = [x.text("filename") for x in r.records if x.type == "MMAP2"]
	tap.ok(any(f.endswith("/true") for f in files), "and what it mapped", files)
	lines = r.stderr.strip().split("\n")
	if machine.lacks("CAP_PERFMON"):
		lines = [l for l in lines if not l.startswith("pevtrace: omitting namespaces records")]
	tap.ok(len(lines) == len(r.said), "a line each, and no calls", lines[:3])
	r = watch(["--trace=perf", "true"])
	tap.ok("perf_event_open(" in r.stderr and "munmap(" in r.stderr,
	       "--trace=perf shows the calls", [r.stderr[:300]])
	r = watch([])
	tap.ok(r.returncode == 2 and "nothing to watch" in r.stderr,
	       "nothing system-wide unless asked for", [r.stderr])

# ---- words --------------------------------------------------------------------------------

def escaped(text):
	text = re.sub(r"\\(\d+|[\\\"ntrvf])", lambda m: chr(int(m[1], 8)) if m[1][0].isdigit() else
		      {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "f": "\f"}.get(m[1], m[1]), text or "")
	return "".join(c if " " <= c < "\x7f" else "".join("\\%03o" % b for b in c.encode(
		"latin-1")) for c in text.replace("*/", "*\\/"))

def in_words(got, mappings, named=True, files=True):
	"""Return what the lines must say of these records; whether they have names, files of programs."""
	names, spaces, waiting, out = {}, {}, {}, []
	task = lambda tid: "%s[%d]" % (escaped(names.get(tid)) if named else "", tid)

	def ran(tid, file=""):
		if waiting.pop(tid, False):
			out.append(task(tid) + " exec" + (" " + escaped(file) if file else ""))
	for r in got:
		tid, file = r.n("tid"), r.text("filename")
		if r.type == "COMM":
			ran(tid)
			waiting[tid] = r.misc("PERF_RECORD_MISC_COMM_EXEC")
			if not waiting[tid]:
				out.append("%s renamed %s" % (task(tid), escaped(r.text("comm"))))
			names[tid] = r.text("comm")
			if not files:
				ran(tid)
		elif r.type == "MMAP2":
			if file.startswith("/") and not file.startswith("//"):
				ran(tid, file)
			prot = "".join(c if "PROT_" + word in r.text("prot") else "-" for c, word in
				       (("r", "READ"), ("w", "WRITE"), ("x", "EXEC")))
			if mappings:
				out.append("%s mmap %s %s %#x bytes at %#x" %
					   (task(tid), escaped(file), prot, r.n("len"), r.n("addr")))
		elif r.type == "FORK":
			ran(r.n("ptid"))
			out.append("%s %s %d" % (task(r.n("ptid")), "new thread" if r.n("pid") == r.n("ppid")
						 else "fork", tid))
			names[tid], spaces[tid] = names.get(r.n("ptid")), spaces.get(r.n("ptid"))
		elif r.type == "EXIT":
			ran(tid)
			out.append(task(tid) + " exit" + ("" if r.n("pid") == tid else
							  " of a thread of %d" % r.n("pid")))
		elif r.type == "NAMESPACES":
			now = [(i.get("index").text[:-len("_NS_INDEX")].lower(), sp.number(i.get("ino")))
			       for _, i in r.value.get("namespaces").items]
			new = ["%s:[%d]" % n for n, old in zip(now, spaces.get(tid) or now) if n != old]
			if new:
				out.append("%s namespaces %s" % (task(tid), " ".join(new)))
			spaces[tid] = now
		else:
			out.append(r.type)
	return out

# A program with a thread, and a name that would clear the screen.
WORK = ["--", sys.executable, "-c", r"""
import ctypes, os, sys, threading
t = threading.Thread(target=lambda: None)
t.start()
t.join()
ctypes.CDLL(None).prctl(15, b"a\x1b[2J\n*/\xff")
if not os.fork():
	try:
		ctypes.CDLL(None).unshare(0x04000000)
	finally:
		os.execv("/bin/sh", ["/bin/sh", "-c", "/bin/true; exit 0"])
os.wait()
"""]

def test_words(tap):
	for more in ([], ["-v"]):
		r = seen(more + WORK)
		want = in_words(r.records, bool(more))
		tap.ok(not r.returncode and r.said == want and len(want) >= 12 and
		       "a\\033[2J\\012*\\/\\377[" in r.stderr and "\x1b" not in r.stderr,
		       "the words of all records%s, and of a hostile name" % "".join(more),
		       ["%s\n%s" % p for p in zip(want, r.said) if p[0] != p[1]][:3] +
		       [len(want), len(r.said), r.stderr[-500:]])
		kinds = {w.split()[1] for w in r.said}
		tap.ok({"exec", "fork", "new", "renamed", "exit"} <= kinds and ("mmap" in kinds) == bool(more),
		       "a thread, a name, %s mappings" % ("with" if more else "no"), [kinds])
	name = "n" * 60
	with tempfile.TemporaryDirectory() as d:
		path = os.path.realpath(os.path.join(d, name))
		shutil.copy(shutil.which("true"), path)
		lines = sp.on_terminal([PEVTRACE, "open", "--side-band", "--only=mmap,exec,exit", "--color=never", "-p",
					str(os.getpid()), "--", path], 80).splitlines()
		lines = sp.on_terminal([PEVTRACE, "open", "--side-band", "--only=mmap,exec,exit", "--color=never", "--",
					path], 80).splitlines()
	execs = [i for i, l in enumerate(lines) if " exec" in l]
	tap.ok(any(path in "".join((l, n.strip())) for l in lines for n in [""]) or
	       any(path in l for l in lines), "a terminal of 80 columns has the file", lines)
	short = [l for l in lines if path not in l]
	tap.ok(execs and all(len(l) <= 80 for l in short), "and details as far as there is room", short)
	for option, form in (("-r", r" +\d+\.\d{6} "), ("-tt", r"\d\d:\d\d:\d\d\.\d{6} "),
			     ("-ttt", r"\d{10}\.\d{6} "), ("-t", r"\d\d:\d\d:\d\d ")):
		r = watch(["--only=exec", option, "true"])
		tap.ok(re.match(form + r"true\[\d+\] exec /\S+/true\n", r.stderr), option, [r.stderr])
	r = watch(["--only=exec", "true"])
	now = [time.strftime("%H:%M:%S", time.localtime(time.time() - n)) for n in range(120)]
	tap.ok(r.stderr[:8] in now, "the local time of day", [r.stderr, now[0]])

def test_lost(tap):
	"""A ring of a page is full while the reader is stopped."""
	for _ in range(5): # a LOST record requires that another one follows
		r = watch(["--mmap=1", "--color=always", "sh", "-c", "kill -STOP $PPID; i=0; while [ $i -lt 300 ]; "
			   "do i=$((i+1)); (:); done; kill -CONT $PPID; (:)"])
		lost = [int(n) for n in re.findall(
			r"\x1b\[31mLOST\x1b\[0m (\d+) records?: the ring was full\n", r.stderr)]
		n = re.search(r"\+\+\+ dummy:u cpu\d+(?: and \d more)?: lost (\d+) of \d+ records \(", r.stderr)
		if lost:
			break
	tap.ok(lost and n and int(n.group(1)) >= sum(lost), "lost records are in red, and in the last line",
	       [lost, r.stderr[-300:]])

# ---- the system ----------------------------------------------------------------------

def in_background(args, work, *words):
	"""Wait until it has printed these words, then end it."""
	dump = tempfile.NamedTemporaryFile(prefix="pevtrace-watch.")
	p = subprocess.Popen([PEVTRACE, "open", "--side-band", "--json=" + dump.name] + args, bufsize=0,
			     stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
	ready = rp.holds_events(p.pid, os.sysconf("SC_NPROCESSORS_ONLN"))
	work()
	text, end = b"", time.monotonic() + 10
	while not all(w in text for w in words) and time.monotonic() < end:
		if select.select([p.stderr], [], [], 0.1)[0]:
			text += p.stderr.read(65536)
	p.send_signal(signal.SIGINT)
	text += p.communicate(timeout=300)[1]
	with dump:
		return ready, text.decode("utf-8", "surrogateescape"), p.returncode, records(dump.name)

def test_system(tap):
	machine.need("whole CPUs")
	machine.need("CAP_PERFMON")
	name = "pevtrace-watch-%d" % os.getpid()
	place = rp.cgroup2()

	def work():
		subprocess.run(["unshare", "-u", "true"], stderr=subprocess.DEVNULL)
		if place:
			os.mkdir(os.path.join(place, name))
			os.rmdir(os.path.join(place, name))
	ready, err, status, got = in_background(["-a"], work, b" namespaces uts:[",
						name.encode() if place else b"")
	tap.ok(ready and status == 0, "-a until SIGINT, which is no failure",
	       [status, err[-300:]])
	spaces = [r for r in got if r.type == "NAMESPACES"]
	tap.ok(any(len(r.value.get("namespaces").items) == 7 for r in spaces) and
	       re.search(r"unshare\[\d+\] namespaces uts:\[\d+\]$", err, re.M),
	       "namespaces, and the one that is new", [len(spaces), err[-500:]])
	if not place:
		return tap.skip("cgroups", "no cgroup2 that can be written to")
	paths = [r.text("path") for r in got if r.type == "CGROUP"]
	tap.ok("/" + name in paths and "[%d] cgroup created: /%s\n" % (os.getpid(), name) in err,
	       "a new cgroup", [paths, err[-500:]])

def test_bpf(tap):
	"""A socket filter is a BPF program, too, and has a symbol."""
	machine.need("whole CPUs")
	code = """
import ctypes, os, struct
libc = ctypes.CDLL(None, use_errno=True)
insns = struct.pack("<BBhi", 0xb7, 0, 0, 0) + struct.pack("<BBhi", 0x95, 0, 0, 0)
buf = ctypes.create_string_buffer(insns)
lic = ctypes.create_string_buffer(b"GPL")
attr = ctypes.create_string_buffer(struct.pack("<IIQQIIQII16s", 1, 2, ctypes.addressof(buf),
	ctypes.addressof(lic), 0, 0, 0, 0, 0, b"pevtrace_test") + bytes(64))
fd = libc.syscall(321, 5, attr, 128)
raise SystemExit(0 if fd >= 0 else 1)
"""
	if subprocess.run([sys.executable, "-c", code]).returncode:
		return tap.skip("BPF programs", "bpf(2) does not load one here")
	ready, err, _, got = in_background(["-a", "--only=bpf_event,ksymbol"], lambda:
					   subprocess.run([sys.executable, "-c", code]), b" loaded", b" unloaded")
	kinds = collections.Counter(r.type for r in got)
	changed = [(r.n("id"), "UNLOAD" in r.text("bpf_type")) for r in got if r.type == "BPF_EVENT"]
	tap.ok(ready and kinds["BPF_EVENT"] >= 2 and
	       [(int(n), un == "un") for n, un in re.findall(r"\] BPF program (\d+) (un)?loaded$", err, re.M)] ==
	       changed, "a BPF program is loaded and unloaded", [kinds, changed, err[-300:]])
	with open("/proc/sys/net/core/bpf_jit_enable") as f:
		if f.read().strip() == "0":
			return tap.skip("its symbol", "bpf_jit_enable is 0")
	names = [r.text("name") for r in got if r.type == "KSYMBOL"]
	tap.ok(any("pevtrace_test" in (n or "") for n in names) and
	       all(re.search(r"\] kernel symbol %s: \S*pevtrace_test at 0x" % what, err)
		   for what in ("added", "removed")), "and has a symbol", names + [err[-500:]])

# ---- json ------------------------------------------------------------------------------

def test_json(tap, tmp):
	dump = os.path.join(tmp, "dump")
	r = watch(["--json", "-o", dump, "sh", "-c", "/bin/true; exit 0"])
	got = records(dump)
	tap.ok(r.returncode == 0 and not said(r.stderr) and
	       {"COMM", "FORK", "EXIT", "MMAP2"} <= {x.type for x in got},
	       "--json alone: a dump with mappings, no words", [len(got), r.stderr])
	rp.check_schema(tap, "watch", dump)

# ---- kinds -------------------------------------------------------------------------------

def test_kinds(tap):
	work = ["--", "sh", "-c", "/bin/true; exit 0"]
	for only, want in (("task", {"FORK", "EXIT"}), ("comm", {"COMM"}), ("mmap", {"MMAP2"}),
			   ("task,comm", {"FORK", "EXIT", "COMM"}), ("exit,Exec", {"FORK", "EXIT", "COMM"})):
		r = seen(["--only=" + only] + work)
		got = {x.type for x in r.records}
		words = in_words(r.records, only == "mmap", "COMM" in want, "MMAP2" in want)
		tap.ok(r.returncode == 0 and got == want and r.said == words,
		       "--only=" + only, [got, r.stderr[:300]])
	r = watch(["--only=exec"] + work)
	tap.ok(len(said(r.stderr)) == 2 and re.search(r"true\[\d+\] exec /\S+/true$", said(r.stderr)[1]),
	       "without a dump, --only=exec knows the file", [r.stderr])
	r = watch(["--only=task"] + work)
	tap.ok([re.sub(r"\d+", "N", w) for w in said(r.stderr)] ==
	       ["sh[N] fork N", "true[N] exit", "sh[N] exit"], "and --only=task the names", [r.stderr])
	r = seen(["--also=context_switch,mmap_data"] + work)
	got = {x.type for x in r.records}
	tap.ok({"SWITCH", "FORK", "MMAP2"} <= got and
	       any("PROT_WRITE" in str(x.value.get("prot")) for x in r.records if x.type == "MMAP2"),
	       "--also=context_switch,mmap_data", [got])
	switches = [(x.n("tid"), "off" if x.misc("PERF_RECORD_MISC_SWITCH_OUT") else "on", x.n("cpu"),
		     ", preempted" if "PREEMPT" in x.text("misc") else "")
		    for x in r.records if x.type == "SWITCH"]
	tap.ok([(int(t), how, int(cpu), more) for t, how, cpu, more in
		re.findall(r"\[(\d+)\] (off|on) cpu(\d+)(.*)$", "\n".join(r.said), re.M)] == switches and
	       any(" mmap /" in w and " rw- " in w for w in r.said), "in words", [switches[:5], r.said[:9]])
	r = watch(["--only=sdfghjk", "true"])
	tap.ok(r.returncode == 2 and "--only requires task, comm, mmap, " in r.stderr, "a word like none",
	       [r.stderr])
	r = watch(["--only=taks", "true"])
	tap.ok(r.returncode == 2 and "did you mean task" in r.stderr, "a word that is none",
	       [r.stderr])

# ---- an ordinary user ------------------------------------------------------------------------

def test_nobody(tap):
	machine.need("another user")
	if subprocess.run([PEVTRACE, "--version"], preexec_fn=sp.as_nobody(),
			  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
		return tap.skip("an ordinary user", "who may not run this build")
	if not 1 <= machine.setting("paranoid") <= 2:
		return tap.skip("an ordinary user", "perf_event_paranoid is not 1 or 2")
	r = watch(["sh", "-c", "/bin/true; exit 0"], preexec_fn=sp.as_nobody())
	got = collections.Counter(w.split()[1] for w in said(r.stderr))
	tap.ok(r.returncode == 0 and got == {"fork": 1, "exec": 2, "exit": 2} and
	       "omitting namespaces records" in r.stderr,
	       "an ordinary user sees all but namespaces, and is told so",
	       [r.returncode, got, r.stderr[:300]])
	r = watch(["--only=namespaces", "true"], preexec_fn=sp.as_nobody())
	tap.ok(r.returncode == 2 and "CAP_PERFMON" in r.stderr,
	       "what was asked for by name is not left out", [r.returncode, r.stderr])
	r = watch(["-a"], preexec_fn=sp.as_nobody())
	tap.ok(r.returncode == 2 and "it requires perf_event_paranoid 0 or less, or CAP_PERFMON" in r.stderr,
	       "the system needs more", [r.returncode, r.stderr])

# ------------------------------------------------------------------------------------------------

def test_empty(tap):
	for option in ("--only=", "--only=, ", "--also="):
		r = watch([option, "true"])
		tap.ok(r.returncode == 2 and "requires kinds of records" in r.stderr, option + " is misuse",
		       [r.returncode, r.stderr])

def own_tests(tap, tmp):
	return [("command", lambda: test_command(tap)),
		("words", lambda: test_words(tap)),
		("lost", lambda: test_lost(tap)),
		("system", lambda: test_system(tap)),
		("bpf", lambda: test_bpf(tap)),
		("json", lambda: test_json(tap, tmp)),
		("kinds", lambda: test_kinds(tap)),
		("empty", lambda: test_empty(tap)),
		("nobody", lambda: test_nobody(tap))]

def perf_tests(tap, tmp, tracefs):
	return [("process", lambda: test_process(tap, tmp))]

if __name__ == "__main__":
	sys.exit(rp.main("pevtrace-watch.", "perf record and perf script",
			 own_tests, perf_tests, ("empty",)))
