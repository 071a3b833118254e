#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace open --side-band, compared with other programs:

  process  perf record on the same process, at the same time: the same forks,
           exits, names and mappings (perf script)
  command  what a command is known to do; its exit status
  system   cgroups, BPF programs and namespaces that the test makes
  json     a dump that decodes to the same lines, and is as the schema says
  kinds    --only, --also, and words that are none
  nobody   an ordinary user sees what that user may
"""

import collections
import os
import re
import select
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import machine
import ringparse as rp
import straceparse as sp

PEVTRACE, PERF = rp.PEVTRACE, rp.PERF

def watch(args, **how):
	return subprocess.run([PEVTRACE, "open", "--side-band", "-s", "4096"] + args, text=True,
			      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
			      stderr=subprocess.PIPE, timeout=300, errors="replace",
			      env=dict(os.environ, LC_ALL="C"), **how)

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
	ours = subprocess.Popen([PEVTRACE, "open", "--side-band", "-s", "4096", "-p", pid],
				stderr=subprocess.PIPE, text=True)
	ready = rp.holds_events(perf.pid, 1) and rp.holds_events(ours.pid, 1)
	t.stdin.write("x")
	t.stdin.flush()
	t.wait(300)
	err = ours.communicate(timeout=300)[1]
	perf.wait(300)
	script = subprocess.run([PERF, "script", "-i", data, "--show-task-events",
				 "--show-mmap-events"], stdout=subprocess.PIPE,
				stderr=subprocess.DEVNULL, text=True, timeout=300).stdout
	# perf takes earlier mappings from /proc
	theirs = collections.Counter(k for k in their_keys(script))
	seen = rp.records(err.split("\n"))
	ours = collections.Counter(filter(None, map(our_key, seen)))
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
	times = [r.n("time") for r in seen]
	tap.ok(len(times) > 20 and times == sorted(times), "in the order of time")

# ---- a command ---------------------------------------------------------------------

def test_command(tap):
	r = watch(["--", "sh", "-c", "/bin/true; /bin/true; exit 5"])
	seen = rp.records(r.stderr.split("\n"))
	comms = collections.Counter(x.text("comm") for x in seen if x.type == "COMM")
	kinds = collections.Counter(x.type for x in seen)
	tap.ok(r.returncode == 5 and comms == {"sh": 1, "true": 2} and
	       kinds["FORK"] == 2 and kinds["EXIT"] == 3,
	       "a command: its programs, forks and exits, and its status",
	       [r.returncode, comms, kinds])
	files = [x.text("filename") for x in seen if x.type == "MMAP2"]
	tap.ok(any(f.endswith("/true") for f in files), "and what it mapped", files)
	lines = r.stderr.strip().split("\n")
	if machine.lacks("CAP_PERFMON"):
		lines = [l for l in lines if not l.startswith("pevtrace: omitting namespaces records")]
	tap.ok(all(l.startswith("ring ") for l in lines),
	       "a line each, and no calls", r.stderr.split("\n")[:3])
	r = watch(["--trace=perf", "true"])
	tap.ok("perf_event_open(" in r.stderr and "munmap(" in r.stderr,
	       "--trace=perf shows the calls", [r.stderr[:300]])
	r = watch([])
	tap.ok(r.returncode == 2 and "nothing to watch" in r.stderr,
	       "nothing system-wide unless asked for", [r.stderr])

# ---- the system ----------------------------------------------------------------------

def in_background(args, work, *words):
	"""Wait until it has printed these words, then end it."""
	p = subprocess.Popen([PEVTRACE, "open", "--side-band", "-s", "4096"] + args, bufsize=0,
			     stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
	ready = rp.holds_events(p.pid, os.sysconf("SC_NPROCESSORS_ONLN"))
	work()
	said, end = b"", time.monotonic() + 10
	while not all(w in said for w in words) and time.monotonic() < end:
		if select.select([p.stderr], [], [], 0.1)[0]:
			said += p.stderr.read(65536)
	p.send_signal(signal.SIGINT)
	said += p.communicate(timeout=300)[1]
	return ready, said.decode(), p.returncode

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
	ready, err, status = in_background(["-a"], work, b"PERF_RECORD_NAMESPACES",
					   name.encode() if place else b"")
	seen = rp.records(err.split("\n"))
	tap.ok(ready and status == 0, "-a until SIGINT, which is no failure",
	       [status, err[-300:]])
	spaces = [r for r in seen if r.type == "NAMESPACES"]
	tap.ok(any(len(r.value.get("namespaces").items) == 7 for r in spaces),
	       "namespaces", [len(spaces)])
	if not place:
		return tap.skip("cgroups", "no cgroup2 that can be written to")
	paths = [r.text("path") for r in seen if r.type == "CGROUP"]
	tap.ok("/" + name in paths, "a new cgroup", paths)

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
	ready, err, _ = in_background(["-a", "--only=bpf_event,ksymbol"], lambda:
				      subprocess.run([sys.executable, "-c", code]),
				      b"PERF_BPF_EVENT_PROG_LOAD", b"PERF_BPF_EVENT_PROG_UNLOAD")
	seen = rp.records(err.split("\n"))
	kinds = collections.Counter(r.type for r in seen)
	tap.ok(ready and kinds["BPF_EVENT"] >= 2, "a BPF program is loaded and unloaded",
	       [kinds, err[-300:]])
	with open("/proc/sys/net/core/bpf_jit_enable") as f:
		if f.read().strip() == "0":
			return tap.skip("its symbol", "bpf_jit_enable is 0")
	names = [r.text("name") for r in seen if r.type == "KSYMBOL"]
	tap.ok(any("pevtrace_test" in (n or "") for n in names), "and has a symbol", names)

# ---- json ------------------------------------------------------------------------------

def test_json(tap, tmp):
	dump, text = os.path.join(tmp, "dump"), os.path.join(tmp, "text")
	r = watch(["--json=" + dump, "-o", text, "sh", "-c", "/bin/true; exit 0"])
	again = subprocess.run([PEVTRACE, "decode", "--records", "-s", "4096", dump],
			       stdout=subprocess.PIPE, text=True, timeout=300)
	plain = [re.sub(r"^\d+ +", "", l) for l in open(text).read().split("\n") if l]
	decoded = [l for l in again.stdout.split("\n") if l]
	tap.ok(r.returncode == 0 and again.returncode == 0 and decoded == plain and
	       len(plain) > 8, "decode prints the lines out of the dump",
	       [len(plain), len(decoded), again.stderr] +
	       ["own    %s\ndecode %s" % p for p in zip(plain, decoded) if p[0] != p[1]][:3])
	rp.check_schema(tap, "watch", dump)

# ---- kinds -------------------------------------------------------------------------------

def test_kinds(tap):
	work = ["--", "sh", "-c", "/bin/true; exit 0"]
	for only, want in (("task", {"FORK", "EXIT"}), ("comm", {"COMM"}), ("mmap", {"MMAP2"}),
			   ("task,comm", {"FORK", "EXIT", "COMM"})):
		r = watch(["--only=" + only] + work)
		got = {x.type for x in rp.records(r.stderr.split("\n"))}
		tap.ok(r.returncode == 0 and got == want, "--only=" + only, [got, r.stderr[:300]])
	r = watch(["--also=context_switch,mmap_data"] + work)
	seen = rp.records(r.stderr.split("\n"))
	got = {x.type for x in seen}
	tap.ok({"SWITCH", "FORK", "MMAP2"} <= got and
	       any("PROT_WRITE" in str(x.value.get("prot")) for x in seen if x.type == "MMAP2"),
	       "--also=context_switch,mmap_data", [got])
	r = watch(["--only=exit,Exec"] + work)
	got = {x.type for x in rp.records(r.stderr.split("\n"))}
	tap.ok(r.returncode == 0 and got == {"FORK", "EXIT", "COMM"}, "other words for kinds",
	       [got, r.stderr[:300]])
	r = watch(["--only=sdfghjk", "true"])
	tap.ok(r.returncode == 2 and "valid are: task comm mmap" in r.stderr, "a word like none",
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
	got = collections.Counter(x.type for x in rp.records(r.stderr.split("\n")))
	tap.ok(r.returncode == 0 and got["FORK"] == 1 and got["COMM"] == 2 and
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
