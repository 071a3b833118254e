#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The BPF engine held against the ptrace engine: pevtrace diff of their dumps finds nothing, their
texts are the same, and each sees as many records as perf says it wrote.  What only it can do: the whole machine,
a cgroup, programs that are traced already, lost messages."""

import difflib
import errno
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from programs import objects as lines, run
import machine
import ringparse as rp
import straceparse as sp

BPF = "--engine=" + os.environ.get("PEVTRACE_ENGINE", "bpf")
SPIN = ["sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"]

def traced(dump, options, command, **more):
	return run(rp.PEVTRACE, *options, "-o", dump + ".txt", "--json=" + dump, *command, **more)

def same(tap, tmp, name, command, tries=3):
	"""Both engines say the same; scheduling may differ from run to run."""
	a, b = os.path.join(tmp, "a"), os.path.join(tmp, "b")
	for _ in range(tries):
		want, got = traced(a, [], command), traced(b, [BPF], command)
		diff = subprocess.run([rp.PEVTRACE, "diff", a, b], stdout=subprocess.PIPE,
				      stderr=subprocess.STDOUT, text=True, check=False)
		calls = [line for line in lines(b) if line["kind"] in ("call", "enter")]
		if not diff.returncode and want.returncode == got.returncode and calls:
			break
	tap.ok(not diff.returncode and want.returncode == got.returncode and calls, "same: " + name,
	       [diff.stdout[:2000], got.stderr, want.returncode, got.returncode])

# What the programs in the kernel decide: which polls and mappings concern an event, and which
# calls are told at their return only.
EDGES = """
import ctypes, mmap, os, select, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
page, nr, memory = mmap.PAGESIZE, int(sys.argv[1]), 3
def event(size, whole=64):
	attr = struct.pack("<IIQ", 1, size, 9).ljust(whole - 1, b"\\0") + bytes([whole != 64])
	return libc.syscall(nr, ctypes.create_string_buffer(attr, whole), 0, -1, -1, 0)
event(0), event(8), event(2048, 2048), event(5000, 5000)
fd = event(64)
def ring():
	return libc.mmap(None, 2 * page, memory, 1, fd, 0)
pipes = [os.pipe()[0] for _ in range(6)]
def poll(fds, ms):
	waits = select.poll()
	for f in fds:
		waits.register(f, select.POLLIN)
	waits.poll(ms)
poll(pipes, 0), poll(pipes[:2], 0), poll([fd], 0), poll([fd], 1), poll(pipes + [fd], 0)
start = ring()
other = libc.mmap(None, 4 * page, memory, 34, -1, 0)
libc.mprotect(other, 4 * page, 1), libc.mprotect(start, page, 1), libc.mprotect(start, 2 * page, 1)
libc.munmap(other, 4 * page)
libc.munmap(start, 2 * page)
start = ring()
libc.mmap(start, page, memory, 34 | 16, -1, 0), libc.mmap(start, 2 * page, memory, 34 | 16, -1, 0)
libc.munmap(start - 16 * page, 2 * page)
start = ring()
libc.mremap.restype = ctypes.c_void_p
libc.mremap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
moved = libc.mremap(start, 2 * page, 2 * page, 3, start + (1 << 32))
libc.munmap(moved or start, 2 * page)
pid = os.posix_spawn("/bin/true", ["true"], {})
os.waitpid(pid, 0)
start = ring()
libc.munmap(start, 2 * page)
os.close(fd)
"""

NR_OPEN = sp.NR_OPEN

# For machines that are slow (--core).
CORE = ("edges", "perf stat", "perf record", "demo true", "tree fork", "processes -e thread_exec",
	"event_uses running_group")

def commands(tmp):
	if NR_OPEN:
		yield "edges", ["/usr/bin/python3", "-c", EDGES, str(NR_OPEN)]
	data = os.path.join(tmp, "perf.data")
	yield "perf stat", ["perf", "stat", "-e", "task-clock,{faults,cs}", "true"]
	yield "perf stat -I", ["perf", "stat", "-I", "50", "-e", "task-clock", "sleep", "0.2"]
	yield "perf record", ["perf", "record", "-q", "-g", "-e", "cpu-clock", "-o", data, *SPIN]
	yield "perf record -a", ["perf", "record", "-q", "-a", "-e", "cpu-clock", "-o", data, "sleep", "0.1"]
	yield "perf trace", ["perf", "trace", "-o", "/dev/null", "true"]
	yield "perf trace -e", ["perf", "trace", "-o", "/dev/null", "-e", "nanosleep", "sleep", "0.1"]
	yield "perf's Python module", ["/usr/bin/python3", "-c", "import perf\n"
				       "e = perf.evsel(type=perf.TYPE_SOFTWARE, config=3)\n"
				       "e.open(cpus=perf.cpu_map(), threads=perf.thread_map(-1))"]
	for target, *cases in (("demo", "true"), ("passfd", ""), ("passorder", ""), ("mixedring", ""),
			       ("reuse", ""), ("undisturbed", ""), ("overmapped", ""),
			       ("tree", "fork", "threads 4"), ("tree32", "fork"),
			       ("processes", "-e fork", "-e vfork", "-e thread_exec", "-e leaderless"),
			       ("processes32", "-e thread_exec"),
			       ("event_uses", "running_group", "overflows", "sigtrap", "waits")):
		if not rp.missing(target):
			for case in cases:
				yield "%s %s" % (target, case), [rp.target(target), *case.split()]

# Targets whose text does not depend on timing.  (How many receives passorder shows does; a seccomp
# filter hides errors from ptrace; some show what a stack has.)
TEXTS = ("oddmemory", "demo true", "overmapped", "reuse", "undisturbed", "identities", "mixedring", "passfd",
	 "sigtrapbp", "readsamples", "hostile said", "event_uses waits",
	 "event_uses overflows", "event_uses sigtrap", "tree fork", "tree threads 4", "processes -e fork",
	 "processes -e vfork", "execs thread", "execs leader", "execs orphan")
NOT_IN_TEXT = {"bpf"}	# a case of attrs: the name of a program that is not loaded any more

# what stands before the number of a task, which may be as short as that of anything
PIDS = (r"^((?:clone3?|v?fork)\(.*\) = )", r"(\b(?:si_)?pid=)", r"(\b(?:parent_|child_)?tid=\[)",
	r"^(clone\([^\n]*?, \[)", r"^(perf_event_open\(.*\}(?: /\*.*?\*/)?, )", r"(opened by )", r"(\bpid )")

def text_lines(path):
	"""The lines in order of what they say, each in one piece, without ids, counts, times and addresses."""
	begun, whole = {}, []
	with open(path, encoding="utf-8", errors="surrogateescape") as f:
		for line in f.read().splitlines():
			tid, said = re.match(r"(\d*) *(.*)", line).groups()
			if said.endswith(" <unfinished ...>"):
				begun[tid] = re.sub(",$", ", ", said[:-len(" <unfinished ...>")])
			else:
				whole.append(re.sub(r"^<\.\.\. \w+ resumed>",
						    lambda m, of=tid: begun.pop(of, m[0]), said))
	text = "\n".join(whole + list(begun.values()))
	for pattern, instead in ((r"0x[0-9a-f]{7,}", "ADDRESS"), (r"left \{[^}]*\}", "left"),
				 (r"(value|id|time_\w+)=\d+( /\* \S+( cpu\d+)?( #\d+)? \*/)?", r"\1"),
				 *((where + r"\d+\b", r"\1N") for where in PIDS),
				 (r"-?\b\d{4,}\b", "N"), (r"(si_[us]time)=\d+", r"\1")):
		text = re.sub(pattern, instead, text, flags=re.M)
	return sorted(text.splitlines())

def texts(tap, tmp):
	"""Both engines print the same: with unreadable and odd memory, and whatever else targets do."""
	cases = run(rp.target("attrs"), "list").stdout.split()
	commands_ = [[rp.target(name.split()[0]), *name.split()[1:]] for name in TEXTS] + \
		    [[rp.target("attrs"), *(case for case in cases if case not in NOT_IN_TEXT)]]
	out = os.path.join(tmp, "text")
	for command in commands_:
		name = " ".join([os.path.basename(command[0]), *command[1:3]])
		for options in ([], ["-v", "-s", "9999"]):
			for _ in range(3):
				said, status = [], []
				for engine in ([], [BPF]):
					r = run(rp.PEVTRACE, *engine, *options, "-o", out, *command,
						stdin=subprocess.DEVNULL)
					said.append(text_lines(out))
					status.append(r.returncode)
				if said[0] == said[1]:
					break
			tap.ok(said[0] == said[1] and said[0] and status[0] == status[1],
			       " ".join(["same text: " + name, *options]),
			       [status] + [line[:200] for line in difflib.unified_diff(*said, n=0, lineterm="")])

def written(tap, tmp):
	"""Records: as many samples as perf finds in what it wrote."""
	data, dump = os.path.join(tmp, "perf.data"), os.path.join(tmp, "records")
	traced(dump, [BPF, "--records"], ["perf", "record", "-q", "-e", "cpu-clock", "-o", data,
						     *SPIN])
	got = sum(1 for line in lines(dump) if line["kind"] == "record" and line.get("type") == 9 or
		  '"PERF_RECORD_SAMPLE"' in json.dumps(line) and line["kind"] == "record")
	said = subprocess.run(["perf", "script", "-i", data, "-F", "ip"], stdout=subprocess.PIPE,
			      stderr=subprocess.DEVNULL, text=True, check=False)
	tap.ok(got and got == len(said.stdout.split()), "records: the samples of perf record, no more, no less",
	       [got, len(said.stdout.split())])
	names = {line["comm"] for line in lines(dump) if line["kind"] == "comm"}
	tap.ok("perf" in names and "pevtrace" not in names, "tasks have the names of their programs", [names])

def executed(tap, tmp):
	"""Programs that end, or run another one, before /proc is read: with the same names."""
	script, link, dump = (os.path.join(tmp, name) for name in ("script", "link", "exec"))
	with open(script, "w", encoding="utf-8") as f:
		f.write("#!/usr/bin/env sh\nexec true\n")
	os.chmod(script, 0o755)
	os.symlink(shutil.which("true"), link)
	names = []
	for options in [], [BPF]:
		traced(dump, options, ["sh", "-c", "for i in 1 2 3; do env true; ./link; ./script; done"], cwd=tmp)
		names.append([line.get("exe") for line in lines(dump) if line["kind"] == "exec"])
	tap.ok(names[0] == names[1] and len(names[0]) == 18 and None not in names[0],
	       "programs that end at once are named as by the ptrace engine", names)

TOLD = {
	"ends of an exec in a thread": r"\+\+\+ (?:exited|superseded) .*",
	"environments": r"execve\(.*(/\* \d+ vars \*/)",
}

def told(tap, tmp):
	"""Notes that pevtrace diff does not compare, of a thread that runs another program."""
	if rp.missing("processes"):
		return tap.skip("notes", "no test target")
	texts = []
	for options in [], [BPF]:
		dump = os.path.join(tmp, "told")
		traced(dump, options, [rp.target("processes"), "-e", "thread_exec"])
		with open(dump + ".txt", encoding="utf-8") as f:
			texts.append(f.read())
	for name, pattern in TOLD.items():
		want, got = (sorted(re.sub(r"pid \d+", "pid N", told) for told in re.findall(pattern, text))
			     for text in texts)
		tap.ok(want and want == got, "as told by the ptrace engine: " + name, [want, got, texts[1]])
	by = [re.findall(r"superseded by execve in pid (\d+)", text) for text in texts]
	tap.ok([[re.search(r"^(?:\[pid +)?%s\]? +execve\(.*unfinished" % pid, text, re.M) is not None for pid in pids]
		for pids, text in zip(by, texts)] == [[True], [True]], "the thread whose exec ends the leader", texts)
	return None

# Signals that are ignored and that end processes, in processes that hold an event.
SIGNALS = """
import ctypes, os, signal, struct, sys, threading
libc = ctypes.CDLL(None)
attr = ctypes.create_string_buffer(struct.pack("<IIQ", 1, 64, 9).ljust(64, b"\\0"), 64)
fd = libc.syscall(int(sys.argv[1]), attr, 0, -1, -1, 0)
def child(body):
	if not os.fork():
		body()
		os._exit(3)
	os.wait()
def kill(sig):
	os.kill(os.getpid(), sig)
def pipe():
	signal.signal(signal.SIGPIPE, signal.SIG_DFL)
	r, w = os.pipe()
	os.close(r)
	os.write(w, b"x")
def blocked():
	signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGHUP, signal.SIGUSR2])
	kill(signal.SIGUSR2), kill(signal.SIGHUP)
	signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR2])
	signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGHUP])
def dumps():
	import resource
	resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
	kill(signal.SIGQUIT)
def threads():
	for i in range(2):
		threading.Thread(target=signal.pause, daemon=True).start()
	kill(signal.SIGALRM)
signal.signal(signal.SIGUSR2, signal.SIG_IGN)
signal.signal(signal.SIGUSR1, lambda *a: None)
kill(signal.SIGUSR2), kill(signal.SIGWINCH), kill(signal.SIGUSR1)
child(pipe), child(blocked), child(dumps), child(threads), child(lambda: kill(signal.SIGKILL))
kill(signal.SIGTERM)
"""

def signal_lines(path):
	"""Lines about signals and ends of tasks, which are numbered as they appear, without CPU times.
	Chance decides which of the threads that SIGALRM ends took it: it counts as taken by the first."""
	with open(path, encoding="utf-8") as f:
		text = re.sub(r"(si_[us]time)=\d+", r"\1", f.read())
	ended = re.findall(r"^(\d+) +\+\+\+ killed by SIGALRM", text, re.M)
	text = re.sub(r"^(\d+)(?= +--- SIGALRM .* si_pid=(\d+))",
		      lambda m: m[2] if m[1] in ended else m[1], text, flags=re.M)
	tasks = list(dict.fromkeys(re.findall(r"^\d+", text, re.M)))
	return sorted(re.sub(r"^\d+|(?<=pid=)\d+", lambda m: "task%d" % (tasks + [m[0]]).index(m[0]), line)
		      for line in text.splitlines() if re.search(r" (---|\+\+\+) ", line))

def signals(tap, tmp):
	"""Signals that the kernel does not deliver as such, as the ptrace engine sees them."""
	texts = []
	for options in [], [BPF]:
		dump = os.path.join(tmp, "signals")
		traced(dump, options, ["/usr/bin/python3", "-c", SIGNALS, str(NR_OPEN)])
		texts.append(signal_lines(dump + ".txt"))
	tap.ok(texts[0] == texts[1] and sum(" --- " in line for line in texts[0]) >= 14,
	       "signals: as the ptrace engine", texts)

def holder():
	"""Start a process that holds events until its input ends."""
	p = subprocess.Popen([rp.target("demo"), "sh", "-c", "echo up; read x"], stdin=subprocess.PIPE,
			     stdout=subprocess.PIPE, text=True)
	while p.stdout.readline() not in ("up\n", ""):
		pass
	return p

def whole_machine(tap, tmp):
	dump = os.path.join(tmp, "all")
	strace = ["strace", "-f", "-o", "/dev/null"] if shutil.which("strace") else []
	r = traced(dump, ["-a"], ["sh", "-c", " ".join(strace) +
				  " sh -c 'echo $$; exec perf stat -e faults true'; sleep 0.1"])
	with open(dump + ".txt", encoding="utf-8") as f:
		text = f.read()
	# other tasks of the machine come in between, and may run perf as well
	perf = r"perf\[%s\]" % (r.stdout.strip() or "none")
	opens = re.findall(r"^%s perf_event_open\(.*PERF_COUNT_SW_PAGE_FAULTS.*(?: = \d+|"
			   r"<unfinished \.\.\.>(?:\n.*)*?\n%s <\.\.\. perf_event_open resumed>\) = \d+)$"
			   % (perf, perf), text, re.M)
	tap.ok(not r.returncode and len(opens) == 1, "-a: a program under strace", [r, text])
	hold = holder()
	r = traced(dump, ["-a"], ["sleep", "0.3"])
	hold.communicate()
	found = [line for line in lines(dump) if line["kind"] == "found" and line["tid"] == hold.pid]
	with open(dump + ".txt", encoding="utf-8") as f:
		text = f.read()
	tap.ok(found and re.search(r"^demo\[%d\] --- \d+<.*> was open: {" % hold.pid, text, re.M),
	       "-a: events from before", [r.stderr, text])
	with open(dump + ".txt", "w", encoding="utf-8"): # or the last trace would be taken for this one
		pass
	tracer = subprocess.Popen([rp.PEVTRACE, "-a", "-q", "-o", dump + ".txt"], stderr=subprocess.PIPE, text=True)
	text, last = "", time.monotonic() + 60
	while "perf_event_open(" not in text and time.monotonic() < last:
		subprocess.run([rp.target("demo"), "true"], stdout=subprocess.DEVNULL,
			       stderr=subprocess.DEVNULL, check=False)
		with open(dump + ".txt", encoding="utf-8") as f:
			text = f.read()
	tracer.send_signal(signal.SIGINT)
	said = tracer.communicate(timeout=300)[1]
	tap.ok("perf_event_open(" in text and tracer.returncode == 0 and not said,
	       "-a: until ^C", [tracer.returncode, said])

def cgroup(tap, tmp):
	group = next((os.path.join(d, "pevtrace-test-%d" % os.getpid())
		      for d in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
		      if os.path.exists(d + "/cgroup.procs") and os.access(d, os.W_OK)), None)
	try:
		os.mkdir(group)
	except (OSError, TypeError) as e:
		return tap.skip("--cgroup", "no cgroup can be made here: %s" % e)
	dump = os.path.join(tmp, "cgroup")
	script = "perf stat -e faults true; echo $$ >%s/cgroup.procs; perf stat -e cs true" % group
	hold = "exec %s sh -c 'echo up; read x'" % rp.target("demo")
	before = [subprocess.Popen(["sh", "-c", enter + hold], text=True, stdin=subprocess.PIPE,
				   stdout=subprocess.PIPE)
		  for enter in ("", "echo $$ >%s/cgroup.procs; " % group)]
	try:
		moved = ["up\n" in iter(p.stdout.readline, "") for p in before][1]
		r = traced(dump, ["-a", "--cgroup=" + group], ["sh", "-c", script])
		with open(dump + ".txt", encoding="utf-8") as f:
			text = f.read()
		found = {line["tid"] for line in lines(dump) if line["kind"] == "found"}
	finally:
		for p in before:
			p.communicate()
		for _ in range(600):
			try:
				os.rmdir(group)
				break
			except OSError:
				time.sleep(0.1)
	if not moved or "No such" in r.stderr or "write error" in r.stderr:
		return tap.skip("--cgroup", "no process can be moved here")
	opens = [line for line in text.splitlines() if " perf_event_open(" in line]
	tap.ok(opens and all("CONTEXT_SWITCHES" in line for line in opens), "--cgroup: only its processes",
	       [r.stderr, text])
	return tap.ok(found == {before[1].pid}, "--cgroup: only its events from before", [found, text])

# Copy a descriptor of process argv[1], use it, and end at once.
BORROW = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
fd = libc.syscall(438, libc.syscall(434, int(sys.argv[1]), 0), int(sys.argv[2]), 0)
libc.ioctl(fd, 0x2400, 0)
os.read(fd, 64)
"""

def borrowed(tap, tmp):
	"""A descriptor of an event that a process which is not traced opened."""
	hold = subprocess.Popen([rp.target("demo"), "sh", "-c", "echo up; read x"], stdin=subprocess.PIPE,
				stdout=subprocess.PIPE, text=True)
	while hold.stdout.readline() not in ("up\n", ""):
		pass
	fds = [fd for fd in os.listdir("/proc/%d/fd" % hold.pid)
	       if "perf_event" in os.readlink("/proc/%d/fd/%s" % (hold.pid, fd))]
	dump = os.path.join(tmp, "borrowed")
	for options in ([BPF], []):
		traced(dump, options, [sys.executable, "-c", BORROW, str(hold.pid), fds[0]])
		got = lines(dump)
		found = [line["event"] for line in got if line["kind"] == "found"]
		known = [line["event"] for line in got if line["kind"] == "described"]
		reads = [line for line in got if line.get("call") == "read" and line["kind"] == "call"]
		tap.ok(found and known == found and reads,
		       " ".join(options + ["an event of a process that is not traced"]), [found, known, reads])
	hold.communicate()

# An event that a child gets by sendmmsg and recvmmsg, which are not traced.
MESSAGES = """
import array, ctypes, os, socket, struct, sys
libc = ctypes.CDLL(None)
class Iovec(ctypes.Structure):
	_fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]
class Message(ctypes.Structure):
	_fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint), ("iov", ctypes.c_void_p),
		    ("iovlen", ctypes.c_size_t), ("control", ctypes.c_void_p),
		    ("controllen", ctypes.c_size_t), ("flags", ctypes.c_int), ("len", ctypes.c_uint)]
def message(control):
	data = ctypes.create_string_buffer(b"x")
	iov = Iovec(ctypes.addressof(data), 1)
	m = Message(None, 0, ctypes.addressof(iov), 1, ctypes.addressof(control), 24, 0, 0)
	m.keep = data, iov
	return m
a, b = socket.socketpair()
child = os.fork()
control = ctypes.create_string_buffer(24)
m = message(control)
if child:
	attr = ctypes.create_string_buffer(struct.pack("<IIQ", 1, 64, 9).ljust(64, b"\\0"), 64)
	fd = libc.syscall(int(sys.argv[1]), attr, 0, -1, -1, 0)
	struct.pack_into("<QiiQ", control, 0, 20, 1, 1, fd)
	libc.sendmmsg(a.fileno(), ctypes.byref(m), 1, 0)
	os.waitpid(child, 0)
else:
	libc.recvmmsg(b.fileno(), ctypes.byref(m), 1, 0, None)
	fd = struct.unpack_from("<i", control, 16)[0]
	libc.ioctl(fd, 0x2400, 0)
	os.read(fd, 64)
"""

def messages(tap, tmp):
	"""A descriptor that came unseen is that of the event that the parent opened."""
	dump = os.path.join(tmp, "messages")
	traced(dump, [BPF], ["/usr/bin/python3", "-c", MESSAGES, str(NR_OPEN)])
	got = [line for line in lines(dump) if line["kind"] == "call" and "event" in line]
	used = [line for line in got if line["call"] in ("ioctl", "read")]
	opened = [line for line in got if line["call"] == "perf_event_open"]
	tap.ok([line["call"] for line in used] == ["ioctl", "read"] and len(opened) == 1 and
	       all(line["event"] == opened[0]["event"] and line["tid"] != opened[0]["tid"] for line in used),
	       "an event that came by sendmmsg and recvmmsg", [got])

def filtered(tap, tmp):
	"""Errors that seccomp filters return, with both engines."""
	if rp.missing("sandboxed"):
		return tap.skip("refusals of seccomp filters", "no test target")
	for engine in [BPF], []:
		dump = os.path.join(tmp, "filtered")
		traced(dump, engine, [rp.target("sandboxed"), "filter"])
		got = sorted(line["errno"] for line in lines(dump)
			     if line.get("call") == "perf_event_open" and "errno" in line)
		tap.ok(got == [errno.EXDEV] + 3 * [errno.ENOSYS],
		       "refusals of seccomp filters: %s" % " ".join(engine), [got])
	made = [line for line in lines(dump) if line.get("call") == "perf_event_open" and
		line.get("ret") == NR_OPEN]
	tap.ok(all("no_event" in line for line in made), "a SIGSYS is no descriptor", made)

def answered(tap, tmp):
	"""Successes that a filter of the program makes up: both engines show them, and say so."""
	if rp.missing("sandboxed") or machine.lacks("kernel events"):
		return tap.skip("answers of seccomp filters", rp.missing("sandboxed") or machine.lacks("kernel events"))
	for engine in [BPF], []:
		dump = os.path.join(tmp, "answered")
		traced(dump, engine, [rp.target("sandboxed"), "answers"])
		got = [l for l in lines(dump) if l.get("call") in ("ioctl", "read", "mmap") and "event" in l]
		tap.ok([(l["call"], l.get("answered", False)) for l in got] ==
		       [("ioctl", False), ("read", False), ("ioctl", True), ("read", True), ("mmap", True)] and
		       "_unwritten" in str(got[2]) and "_unwritten" not in str(got[0]) and
		       not any(w in str(got[2:]) for w in ("error state", "'ring")),
		       "answers of seccomp filters: %s" % " ".join(engine), [str(got)])
		with open(dump + ".txt", encoding="utf-8") as f:
			text = re.sub("(?m)^[0-9]+ +", "", f.read())
		tap.ok(run(rp.PEVTRACE, "decode", dump).stdout == text and text.count("perhaps the answer") == 3,
		       "their dump gives the same text: %s" % " ".join(engine), [text])

# An attr of a size that the kernel does not know, in a page that nobody has touched.
UNTOUCHED = """
import ctypes, struct, sys, tempfile
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
with tempfile.TemporaryFile() as f:
	f.write(struct.pack("<IIQ", 1, 999, 9).ljust(998, b"\\0") + b"\\1")
	f.flush()
	attr = libc.mmap(None, ctypes.c_size_t(4096), 3, 2, f.fileno(), ctypes.c_long(0))
libc.syscall(int(sys.argv[1]), ctypes.c_void_p(attr), 0, -1, -1, 0)
"""

def untouched(tap, tmp):
	"""The size that the kernel writes into an attr is not shown as the program's."""
	for engine, want in ([BPF], r"\(0x[0-9a-f]+ /\* unreadable"), ([], r"\(\{type=PERF_TYPE_SOFTWARE, size=999"):
		traced(os.path.join(tmp, "untouched"), engine,
		       ["/usr/bin/python3", "-c", UNTOUCHED, str(NR_OPEN)])
		with open(os.path.join(tmp, "untouched.txt"), encoding="utf-8") as f:
			text = f.read()
		tap.ok(re.search("perf_event_open" + want, text) and "E2BIG" in text and "size=PERF" not in text,
		       "an attr that was not resident: %s" % " ".join(engine), [text])

def few_descriptors(tap, tmp):
	"""Too few descriptors for the engine, or to attach: that is said, and nothing else."""
	wrong = []
	for n in range(6, 36):
		limited = lambda n=n: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n))
		for args in ["true"], ["-p", str(os.getppid())]:
			p = subprocess.Popen([rp.PEVTRACE, BPF, "-o", os.path.join(tmp, "few")] + args,
					     stderr=subprocess.PIPE, text=True, preexec_fn=limited)
			try:
				err = p.communicate(timeout=2 if args[0] == "-p" else 60)[1]
			except subprocess.TimeoutExpired:
				p.terminate()
				err = p.communicate()[1]
			if p.returncode and "attached" not in err and \
			   ("ulimit -n" not in err or "Linux 5.15" in err):
				wrong.append("%d %s: %s" % (n, args[0], err))
	return tap.ok(not wrong, "few descriptors", wrong)

FLOOD = """
import ctypes, struct
libc = ctypes.CDLL(None)
attr = ctypes.create_string_buffer(struct.pack("<IIQ", 1, 64, 9).ljust(64, b"\\0"), 64)
fd = libc.syscall(%d, attr, 0, -1, -1, 0)
buf = ctypes.create_string_buffer(4096)
for n in range(60000):
	libc.ioctl(fd, 0x40082406, b"x" * 4000)
"""

# Programs whose processes share a CPU, and that wait for all of them.
ON_ONE_CPU = """
import ctypes, os, struct
libc = ctypes.CDLL(None)
os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])
attr = ctypes.create_string_buffer(struct.pack("<IIQ", 1, 64, 9).ljust(64, b"\\0"), 64)
"""
REAP = """while True:
	try:
		os.wait()
	except ChildProcessError:
		break
"""

# Processes that create others, which open and close an event.
FORKS = ON_ONE_CPU + """
for parent in range(%d):
	if not os.fork():
		for n in range(%d):
			if not os.fork():
				os.close(libc.syscall(%d, attr, 0, -1, -1, 0))
				os._exit(0)
		while n >= 0:
			os.wait()
			n -= 1
		os._exit(0)
""" + REAP

STORM = ON_ONE_CPU + """
for child in range(%d):
	if not os.fork():
		for n in range(%d):
			os.close(libc.syscall(%d, attr, 0, -1, -1, 0))
		os._exit(0)
""" + REAP

def storm(tap, tmp):
	"""Tasks that take turns on a CPU: none loses calls, children or ends because another one is in a
	program, except at functions, where that is told."""
	tasks, each = 8, 500
	dump = os.path.join(tmp, "storm")
	traced(dump, [BPF], ["/usr/bin/python3", "-c", STORM % (tasks, each, NR_OPEN)])
	seen = sum(line.get("call") == "perf_event_open" for line in lines(dump))
	told = sum(line["messages"] for line in lines(dump) if line["kind"] == "lost")
	at_functions = BPF == "--engine=bpf-functions"
	tap.ok(seen + told >= tasks * each if at_functions else seen == tasks * each and not told,
	       "tasks that take turns on a CPU", [seen, told])
	if at_functions:
		return tap.skip("processes that take turns on a CPU", "at functions, programs are skipped")
	tasks, each = 8, 40
	traced(dump, [BPF], ["/usr/bin/python3", "-c", FORKS % (tasks, each, NR_OPEN)])
	seen = sum(line.get("call") == "perf_event_open" for line in lines(dump))
	ended = sum(line["kind"] == "gone" for line in lines(dump))
	told = sum(line["messages"] for line in lines(dump) if line["kind"] == "lost")
	return tap.ok((seen, ended, told) == (tasks * each, tasks * (each + 1) + 1, 0),
		      "processes that take turns on a CPU", [seen, ended, told])

def lost(tap, tmp):
	"""A buffer that is too small: what is lost is said everywhere."""
	dump = os.path.join(tmp, "lost")
	r = traced(dump, [BPF, "--buffer=1", "--summary"], [sys.executable, "-c", FLOOD % NR_OPEN])
	told = sum(line["messages"] for line in lines(dump) if line["kind"] == "lost")
	seen = sum(1 for line in lines(dump) if line.get("call") == "ioctl")
	with open(dump + ".txt", encoding="utf-8") as f:
		text = f.read()
	if not told:
		return tap.skip("lost messages", "none were lost here")
	line = r"^\+\+\+ lost \d+ messages of the kernel, so calls are missing \+\+\+$"
	tap.ok(told + seen >= 60000 and re.search(line, text, re.M) and
	       "Incomplete: " in text and r.stderr.count("\n") == 1 and
	       "%d messages" % told in r.stderr and "full; use a larger --buffer" in r.stderr,
	       "lost messages are counted and told", [told, seen, r.stderr])
	enough = re.search(r"larger --buffer: (\d+) would have sufficed$", r.stderr.strip())
	# a message has at least the 4000 bytes of its string
	small = enough and int(enough[1]) << 20 < (1 << 20) + told * 4000
	r = enough and traced(dump, [BPF, "--buffer=" + enough[1]],
			      [sys.executable, "-c", FLOOD % NR_OPEN])
	return tap.ok(enough and not small and not r.stderr, "the buffer that would have sufficed", [enough, r])

# Calls an event 20,000 times a second, for a second.
STEADY = """
import ctypes, struct, time
libc = ctypes.CDLL(None)
attr = ctypes.create_string_buffer(struct.pack("<IIQ", 1, 64, 9).ljust(64, b"\\0"), 64)
fd, start, n = libc.syscall(%d, attr, 0, -1, -1, 0), time.monotonic(), 0
while n < 20000:
	while n < 20000 and n < 20000 * (time.monotonic() - start):
		libc.ioctl(fd, 0x2403, 0)
		n += 1
	time.sleep(0.001)
"""

def steady(tap, tmp):
	"""20,000 calls a second are not too many for the default buffer."""
	dump = os.path.join(tmp, "steady")
	r = traced(dump, [BPF], [sys.executable, "-c", STEADY % NR_OPEN])
	seen = sum(1 for line in lines(dump) if line.get("call") == "ioctl")
	tap.ok(seen == 20000 and not r.stderr, "20,000 calls a second: nothing is lost", [seen, r.stderr])

# Opens events of its own until there are as many, and then reads one so often.
MANY = """
import ctypes, resource, struct
libc = ctypes.CDLL(None)
resource.setrlimit(resource.RLIMIT_NOFILE, (%d + 50, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
attr = ctypes.create_string_buffer(struct.pack("<IIQQQQQ", 1, 64, 9, 0, 0, 0, 1), 64)
value = ctypes.create_string_buffer(8)
fds = [libc.syscall(%d, attr, 0, -1, -1, 0) for _ in range(%d)]
for _ in range(%d):
	libc.read(fds[0], value, 8)
print(fds[-1] >= 0)
"""

def slow_stops(tap, tmp):
	"""Where many events meet many stops, ptrace names the engine that does without: once, at the end."""
	command = lambda events, reads: [sys.executable, "-c", MANY % (events, NR_OPEN, events, reads)]
	if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 2500:
		return tap.skip("many events and many stops", "RLIMIT_NOFILE is below 2500")
	output = ["-o", os.path.join(tmp, "many")]
	said = [run(rp.PEVTRACE, *options, *output, *command(*n)).stderr for options, n in (
		([], (2400, 4000)), (["-q"], (2400, 4000)), (["-e", "inject=prctl:error=EPERM"], (2400, 4000)),
		([], (500, 4000)), ([], (2400, 20)))]
	return tap.ok(re.fullmatch(r"pevtrace: a task had 2\d\d\d events, all of which the kernel goes through at "
				   r"each stop; --engine=bpf stops no task\n", said[0]) and not any(said[1:]),
		      "many events and many stops: the other engine is named", said)

def namespace(tap, tmp):
	"""pevtrace in a PID namespace: ids are those of the namespace, other tasks are not followed."""
	inside = ["unshare", "--pid", "--fork", "--mount-proc"]
	if subprocess.run([*inside, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
		return tap.skip("in a PID namespace", "none can be made")
	a, b = os.path.join(tmp, "a"), os.path.join(tmp, "b")
	command = [rp.target("processes"), "-e", "thread_exec"] if not rp.missing("processes") else ["true"]
	got = [subprocess.run([*inside, rp.PEVTRACE, *engine, "-q", "--json", "-o", dump, "sh", "-c",
			       "perf stat -e faults true; exec " + " ".join(command)], stderr=subprocess.PIPE,
			      stdout=subprocess.PIPE, text=True, check=False)
	       for engine, dump in (([], a), ([BPF], b))]
	diff = subprocess.run([rp.PEVTRACE, "diff", a, b], stdout=subprocess.PIPE, text=True, check=False)
	pids = {line["pid"] for line in lines(b) if line["kind"] == "call"}
	tap.ok(not diff.returncode and pids and max(pids) < 100, "in a PID namespace: as the ptrace engine",
	       [diff.stdout[:2000], pids, got])
	script = "%s -a -q -o %s perf stat -e faults true" % (rp.PEVTRACE, b)
	subprocess.run([*inside, "sh", "-c", script], stderr=subprocess.PIPE, check=False)
	with open(b, encoding="utf-8") as f:
		text = f.read()
	tap.ok(re.search(r"^perf\[\d\d?\] perf_event_open", text, re.M) and
	       not re.search(r"^\S+\[\d{3,}\]", text, re.M), "in a PID namespace: -a, its tasks", [text])
	r = subprocess.run([*inside, "sh", "-c", rp.target("demo") + " sh -c '%s ps -j; true'" % rp.PEVTRACE],
			   stdout=subprocess.PIPE, text=True, check=False)
	held = [h for line in r.stdout.splitlines() if line.startswith("{")
		for h in json.loads(line).get("holders", [])]
	return tap.ok(held and all(0 < h["pid"] < 100 for h in held if "pid" in h),
		      "in a PID namespace: ps", [r.stdout])

def many_cpus(tap, tmp):
	"""Where the kernel may get 1024 CPUs, as sysfs says: the programs have room for each."""
	possible, a, b = (os.path.join(tmp, name) for name in ("possible", "a", "b"))
	with open(possible, "w", encoding="ascii") as f:
		f.write("0-1023\n")
	script = "mount --bind %s /sys/devices/system/cpu/possible && " % possible + " && ".join(
		"%s %s -q --json -o %s perf stat -a -e faults true" % (rp.PEVTRACE, engine, dump)
		for engine, dump in (("", a), ("--engine=bpf", b)))
	r = subprocess.run(["unshare", "-m", "sh", "-c", script], stdout=subprocess.PIPE,
			   stderr=subprocess.STDOUT, text=True, check=False)
	if "mount" in r.stdout or "unshare" in r.stdout:
		return tap.skip("1024 CPUs", r.stdout.splitlines()[0])
	diff = subprocess.run([rp.PEVTRACE, "diff", a, b], stdout=subprocess.PIPE, text=True, check=False)
	return tap.ok(not r.returncode and not diff.returncode and any(
		line["kind"] == "call" for line in lines(b)), "1024 CPUs: as the ptrace engine",
		[r.stdout, diff.stdout[:2000]])

def refused(tap):
	with open("/proc/self/mounts", encoding="utf-8") as f:
		mounts = [line.split()[1] for line in f if line.split()[2] == "cgroup2"]
	where = "name one in " + mounts[-1] if mounts else "no cgroup2 is mounted"
	for options, word in ((["-e", "inject=ioctl:error=EIO"], "does not stop tasks"),
			      (["--as-kernel=4.4"], "does not stop tasks"), (["-k"], "does not stop tasks"),
			      (["-b", "execve"], "does not stop tasks"), (["--buffer=3"], "power of two"),
			      (["--cgroup=/sys/fs/cgroup"], "requires -a"),
			      (["-a", "--cgroup=/proc"], "/proc: not a directory of cgroup2; " + where),
			      (["-a", "--cgroup=/proc/none"], "No such file or directory; " + where),
			      (["-a", "--engine=ptrace"], "requires the BPF engine"),
			      (["--engine=gdb"], "gdb")):
		r = subprocess.run([rp.PEVTRACE, BPF, *options, "true"], stderr=subprocess.PIPE,
				   text=True, check=False)
		tap.ok(r.returncode == 2 and word in r.stderr and r.stderr.count("\n") == 1,
		       "refused: " + " ".join(options), [r])
	r = subprocess.run([rp.PEVTRACE, "--engine=bpf-functions", "-o", "/dev/null", "true"],
			   stderr=subprocess.PIPE, text=True, check=False)
	if not r.returncode:
		tap.skip("refused: functions", "this kernel attaches programs to them")
	else:
		tap.ok(r.returncode == 2 and "--engine=bpf-functions: " in r.stderr and
		       "Linux 7.3" in r.stderr and "5.15" not in r.stderr,
		       "refused: functions, with what to do", [r])
	r = subprocess.run([*sp.WITHOUT_BPF, rp.PEVTRACE, BPF, "true"], stderr=subprocess.PIPE,
			   text=True, check=False)
	tap.ok(r.returncode == 2 and "CAP_BPF" in r.stderr, "refused: without the rights", [r])

def with_perf(tap, test, tmp):
	if shutil.which("perf"):
		test(tap, tmp)
	else:
		tap.skip(test.__name__, "perf is not installed")

def main():
	tap = sp.Tap()
	if not sp.has_bpf(rp.PEVTRACE):
		sp.skip_all("BPF programs cannot be used here")
	r = subprocess.run([rp.PEVTRACE, BPF, "-q", "-o", "/dev/null", "true"], stderr=subprocess.PIPE,
			   text=True, check=False)
	if r.returncode and BPF == "--engine=bpf-functions":
		sp.skip_all(r.stderr.strip())
	core = sys.argv[1:] == ["--core"]
	with tempfile.TemporaryDirectory() as tmp:
		for name, command in commands(tmp):
			if core and name not in CORE:
				continue
			if not shutil.which(command[0]):
				tap.skip("same: " + name, command[0] + " is not installed")
			else:
				same(tap, tmp, name, command)
		texts(tap, tmp)
		with_perf(tap, written, tmp)
		executed(tap, tmp)
		told(tap, tmp)
		if NR_OPEN:
			signals(tap, tmp)
			storm(tap, tmp)
		if core:
			return tap.done()
		for target in ("tree32", "processes32"):
			if rp.missing(target):
				tap.skip(target, rp.missing(target))
		with_perf(tap, whole_machine, tmp)
		with_perf(tap, cgroup, tmp)
		borrowed(tap, tmp)
		if NR_OPEN:
			messages(tap, tmp)
		filtered(tap, tmp)
		answered(tap, tmp)
		untouched(tap, tmp)
		few_descriptors(tap, tmp)
		lost(tap, tmp)
		if NR_OPEN:
			steady(tap, tmp)
			slow_stops(tap, tmp)
		if shutil.which("unshare"):
			with_perf(tap, namespace, tmp)
			with_perf(tap, many_cpus, tmp)
		else:
			tap.skip("namespaces", "no unshare(1)")
	refused(tap)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
