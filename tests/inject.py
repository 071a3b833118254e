#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Injected results: -e inject= and --as-kernel.

  strace   the same calls are hit, with the same results, as by strace's inject=
  attr     conditions on the attr, which strace has not
  event    calls on an event, chosen by what it is
  time     delays are kept, others run on meanwhile, and ^C ends them
  kernel   what an older kernel would have refused, E2BIG with its size
  perf     perf falls back as on such a kernel
  shown    text, dump and summary say what was injected
  blame    nothing that is made of a dump holds the kernel for what was injected
  believed descriptors and rings are what they really are, live and decoded
  before   of an event that was opened before we came, nothing is taken for known
  reused   a task's calls are not counted for another one with its number
"""

import json
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "lib"))
import machine
from programs import run
import ringparse as rp
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
PERF = sp.find_program("perf", ("/usr/lib/linux-tools",))
STRACE = shutil.which("strace")

# The target: makes the calls named by its arguments, and prints what it got.
TARGET = r"""
import ctypes, fcntl, os, signal, struct, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
NR = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
got = []
signal.signal(signal.SIGUSR1, lambda *_: got.append(1))
def attr(type=1, config=0, size=136, **at):
	b = bytearray(size)
	struct.pack_into("IIQ", b, 0, type, size, config)
	at["_40"] = at.get("_40", 0) | 1 << 5 | 1 << 6	# exclude_kernel, exclude_hv
	for where, v in at.items():
		struct.pack_into("Q", b, int(where[1:]), v)
	return b
def call(nr, *args):
	ctypes.set_errno(0)
	r = libc.syscall(nr, *args)
	return r, ctypes.get_errno()
def open_(b, pid=0, cpu=-1, group=-1, flags=0):
	c = (ctypes.c_char * len(b)).from_buffer(b)
	return call(NR, c, pid, cpu, group, ctypes.c_ulong(flags))
def show(r):
	print(r[0] if r[0] < 0 else "ok", r[1])
"""

def said(r):
	return "status %d, %s%s" % (r.returncode, r.stdout, r.stderr)

def script(body):
	return [sys.executable, "-c", TARGET + body]

def traced(tmp, options, body):
	"""Return what the target printed, and the lines of the trace."""
	text = os.path.join(tmp, "text")
	r = run(PEVTRACE, "-o", text, *options, *script(body))
	with open(text) as f:
		return r, f.read().splitlines()

NUMBERS = r"""
libc.syscall.restype = long = ctypes.c_long
nr = dict(zip(("read", "close", "mmap", "munmap", "ppoll", "ioctl", "dup", "clone", "fcntl"),
	  {"x86_64": (0, 3, 9, 11, 271, 16, 32, 56, 72),
	   "aarch64": (63, 57, 222, 215, 73, 29, 23, 220, 25)}[os.uname().machine]))
"""

# Calls on an event, four times each, with their results.
ON_EVENTS = NUMBERS + r"""
buf = ctypes.create_string_buffer(64)
fd = open_(attr(config=2))[0]
for i in range(4):
	print("read", call(nr["read"], fd, buf, long(64)))
	r = call(nr["mmap"], long(0), long(8192), 3, 1, fd, long(0))
	print("mmap", "there" if r[0] > 9 else r[0], r[1])
	print("dup", call(nr["dup"], fd))
	print("ioctl", call(nr["ioctl"], fd, 0x2400, 0), call(nr["ioctl"], fd, 0x2403, 0))
	print("fcntl", call(nr["fcntl"], fd, 1, 0))
	p = ctypes.create_string_buffer(struct.pack("ihh", fd, 1, 0))
	print("ppoll", call(nr["ppoll"], p, 1, (long * 2)(), None, 8), p.raw)
for i in range(3):
	print("close", call(nr["close"], fd))
"""

SEVEN = "for i in range(7): show(open_(attr(config=2)))"

def strace(tap, tmp):
	if not STRACE:
		tap.skip("the same calls as strace's", "no strace")
		return
	for what in ("error=ENOSPC", "error=ENOSPC:when=2", "error=17:when=3+",
		     "error=EBUSY:when=2+3", "error=EPERM:when=2..4", "retval=77:when=1..7+2",
		     "retval=-5:when=7"):
		expr = "inject=perf_event_open:" + what
		theirs = run(STRACE, "-f", "-o", os.path.join(tmp, "s"), "-e",
			     "trace=perf_event_open", "-e", expr, *script(SEVEN))
		ours, lines = traced(tmp, ["-e", expr], SEVEN)
		with open(os.path.join(tmp, "s")) as f:
			marked = [" (INJECTED)" in l for l in f if "perf_event_open(" in l]
		mine = [" (INJECTED)" in l for l in lines if "perf_event_open(" in l]
		tap.ok(theirs.returncode == 0 and ours.stdout == theirs.stdout and
		       mine == marked and any(mine), "%s: as strace does" % what,
		       [said(theirs), said(ours), repr(marked), repr(mine)])

	for what in ("read:error=EIO:when=2", "read:retval=3:when=2+2", "mmap:error=ENOMEM:when=1",
		     "mmap:retval=5", "dup:retval=900", "dup:error=EMFILE:when=3",
		     "ioctl:error=EINVAL:when=3+", "ioctl:retval=7", "fcntl:error=EBADF",
		     "close:error=EINTR:when=1", "close:retval=0:when=1", "ppoll:retval=1:when=2..3",
		     "ppoll:error=4095"):
		expr = "inject=" + what
		theirs = run(STRACE, "-f", "-o", os.path.join(tmp, "s"), "-e",
			     "trace=read,mmap,dup,ioctl,fcntl,close,ppoll", "-P",
			     "anon_inode:[perf_event]", "-e", expr, *script(ON_EVENTS))
		ours, lines = traced(tmp, ["-e", expr], ON_EVENTS)
		tap.ok(theirs.returncode == 0 and ours.stdout == theirs.stdout and
		       any("(INJECTED)" in l for l in lines), what + ": as strace does",
		       [said(theirs), said(ours)] + lines)

	# whatever is not named
	r, lines = traced(tmp, ["-e", "inject=!%open,close,exit_group:error=EIO"], ON_EVENTS)
	tap.ok("open" not in r.stdout and sum("(INJECTED)" in l for l in lines) == 28 and
	       not any("INJECTED" in l for l in lines if "close(" in l or "_open(" in l),
	       "a set may be turned round by !", [said(r)] + lines)

	# each name has its own count
	body = SEVEN.replace("show(", "got.append(") + "\nfor i in range(7): os.getppid(); " \
	       "show(call({'x86_64': 16, 'aarch64': 29}[os.uname().machine], got[0][0], 0x2400, 0))"
	expr = "inject=perf_event_open,ioctl:error=EPERM:when=3..4"
	theirs = run(STRACE, "-f", "-o", os.path.join(tmp, "s"), "-e",
		     "trace=perf_event_open,ioctl", "-P", "anon_inode:[perf_event]", "-e", expr,
		     *script(body))
	ours, lines = traced(tmp, ["-e", expr], body)
	tap.ok(theirs.stdout.count("-1 1") == 2 and ours.stdout == theirs.stdout,
	       "each call is counted by itself: as strace does", [said(theirs), said(ours)])

def attr_conditions(tap, tmp):
	body = """
show(open_(attr(config=2)))
show(open_(attr(config=2, _40=2 << 15)))
show(open_(attr(config=3, _40=1 << 15)))
show(open_(attr(config=2), cpu=0, pid=-1))
show(open_(attr(config=2, _24=1)))
"""
	for when, hit in (("precise_ip>0", [1, 2]), ("precise_ip==2 || cpu==0", [1, 3]),
			  ("config==PERF_COUNT_SW_CONTEXT_SWITCHES", [2]),
			  ("sample_type&PERF_SAMPLE_IP", [4]), ("!precise_ip && cpu<0", [0, 4]),
			  ("type==PERF_TYPE_HARDWARE", []),
			  ("precise_ip>0:when=2", [2])):
		r, lines = traced(tmp, ["-e", "inject=perf_event_open:error=EOPNOTSUPP:when=" + when],
				  body)
		want = ["ok 0"] * 3 + ["-1 13" if machine.lacks("whole CPUs") else "ok 0", "ok 0"]
		want = ["-1 95" if i in hit else said for i, said in enumerate(want)]
		tap.ok(r.stdout.split("\n")[:5] == want, "when=%s hits %s" % (when, hit), [said(r)])

def several(tap, tmp):
	"""The first matching option injects into a call, and all matching ones count it."""
	r, lines = traced(tmp, ["-e", "inject=perf_event_open:error=EPERM:when=2", "-e",
				"inject=perf_event_open:error=EBUSY:when=1+2"], SEVEN)
	tap.ok(r.stdout.split("\n")[:6] == ["-1 16", "-1 1", "-1 16", "ok 0", "-1 16", "ok 0"],
	       "two options on one call", [said(r)])
	body = """
lead = open_(attr(config=2, _32=4))[0]
show(open_(attr(config=3), group=lead))
show(open_(attr(config=2, _40=2)))
if not os.fork():
	libc.syscall.restype = ctypes.c_long
	nr = {"x86_64": 0, "aarch64": 63}[os.uname().machine]
	show(call(nr, lead, ctypes.create_string_buffer(64), ctypes.c_long(64)))
	sys.stdout.flush(); os._exit(0)
os.wait()
"""
	for when, want in (("group_fd>=0", ["-1 5", "ok 0", "ok 0"]),
			   ("inherit", ["ok 0", "-1 5", "ok 0"]),
			   ("read_format==PERF_FORMAT_ID && !inherit", ["ok 0", "ok 0", "-1 5"]),
			   ("count==64 || group_fd==-1 && inherit==1", ["ok 0", "-1 5", "-1 5"])):
		r, lines = traced(tmp, ["-e", "inject=perf_event_open,read:error=EIO:when=%s%s" %
					("count==64 && " if "read" in when else "", when)], body)
		tap.ok(sorted(r.stdout.split("\n")[:3]) == sorted(want), "when=" + when, [said(r)] + lines)

def event_conditions(tap, tmp):
	body = """
import errno
a = open_(attr(config=2))[0]; b = open_(attr(config=3))[0]
for fd in (a, b):
	for op in (0x2400, 0x2401):
		show(call({"x86_64": 16, "aarch64": 29}[os.uname().machine], fd, op, 0))
for fd in (a, b):
	try:
		print(len(os.read(fd, 8)))
	except OSError as e:
		print(e.errno)
"""
	r, lines = traced(tmp, ["-e", "inject=ioctl:error=EIO:when=config==3 && "
				"request==PERF_EVENT_IOC_DISABLE",
				"-e", "inject=read:error=EAGAIN:when=config==2"], body)
	tap.ok(r.stdout.split("\n")[:6] == ["ok 0", "ok 0", "ok 0", "-1 5", "11", "8"],
	       "calls are chosen by the event that they are on", [said(r)])

def timing(tap, tmp):
	body = """
t = time.monotonic()
show(open_(attr(config=2)))
print(time.monotonic() - t)
"""
	for what in ("delay_enter=300ms", "delay_exit=300000", "delay=0.3s"):
		r, lines = traced(tmp, ["-e", "inject=perf_event_open:" + what], body)
		out = r.stdout.split()
		tap.ok(len(out) == 3 and out[:2] == ["ok", "0"] and float(out[2]) >= 0.3 and
		       any(l.endswith(" (DELAYED)") for l in lines), what + " is kept", [said(r)] + lines)
	# another thread runs while one is delayed
	body = """
t = threading.Thread(target=lambda: open_(attr(config=2)))
t.start()
n = 0
while t.is_alive():
	os.getppid(); n += 1; time.sleep(0.001)
print(n)
"""
	r, lines = traced(tmp, ["-e", "inject=perf_event_open:delay_enter=500ms"], body)
	tap.ok(r.stdout.strip().isdigit() and int(r.stdout) > 3,
	       "other threads run on while one is held", [said(r)])
	r, lines = traced(tmp, ["-e", "inject=perf_event_open:signal=USR1:when=2"],
			  SEVEN + "\nprint('signals', len(got))")
	tap.ok("signals 1\n" in r.stdout and r.stdout.count("ok 0") == 7,
	       "a signal is sent, and the call made", [said(r)])

def killed_while_held(tap, tmp):
	body = """
pid = os.fork()
if not pid:
	open_(attr(config=2))
	os._exit(0)
stopped = 0
while stopped < 10:
	with open("/proc/%d/stat" % pid) as f:
		stopped = stopped + 1 if f.read().split()[2] == "t" else 0
	time.sleep(0.02)
os.kill(pid, 9)
print(os.waitpid(pid, 0)[1])
"""
	r, lines = traced(tmp, ["-e", "inject=perf_event_open:delay_enter=60s"], body)
	tap.ok(r.stdout == "9\n" and r.returncode == 0, "one that is held can be killed", [said(r)])

def interrupted(tap, tmp):
	"""^C, which the terminal sends to both, ends a long delay."""
	for part in ("delay_enter", "delay_exit"):
		both = subprocess.Popen([PEVTRACE, "-o", os.path.join(tmp, "c"), "-e",
					 "inject=perf_event_open:%s=900000s" % part,
					 *script("print(os.getpid(), flush=True)\n"
						 "open_(attr(config=2))")],
					stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
					start_new_session=True, text=True)
		path = "/proc/%s/stat" % both.stdout.readline().strip()
		stopped = 0
		while stopped < 10:
			with open(path) as f:
				stopped = stopped + 1 if f.read().split()[2] == "t" else 0
			time.sleep(0.05)
		os.killpg(both.pid, signal.SIGINT)
		try:
			status = both.wait(300)
		except subprocess.TimeoutExpired:
			status = None
			os.killpg(both.pid, signal.SIGKILL)
		tap.ok(status == -signal.SIGINT or status == 130, part + ": ^C ends it", [repr(status)])

def kernel(tap, tmp):
	body = """
b = attr(config=2, _128=1); r = open_(b); print(r[1], struct.unpack_from("I", b, 4)[0])
b = attr(config=2, _104=1); r = open_(b); print(r[1], struct.unpack_from("I", b, 4)[0])
show(open_(attr(config=2)))
show(open_(attr(config=10)))
show(open_(attr(config=2), flags=8))
show(open_(attr(config=2), pid=-1, cpu=-1))
show(open_(attr(config=10), pid=2 ** 22 + 1))
show(open_(attr(config=10), group=-2))
"""
	modern = ["0 136", "ok 0", "ok 0", "ok 0", "-1 22", "-1 3", "-1 9"]
	for old, want, injected in (("5.12", ["7 120"] + modern, 1), ("5.4", ["7 112"] + modern, 1),
				    ("4.4", ["7 112"] + modern, 1),
				    ("3.2", ["7 72", "7 72", "ok 0", "-1 2", "-1 22", "-1 22", "-1 3", "-1 9"], 4),
				    ("2.6.36", ["7 72", "7 72", "ok 0", "-1 22", "-1 22", "-1 3", "-1 3",
						"-1 9"], 5)):
		r, lines = traced(tmp, ["--as-kernel", old], body)
		tap.ok(r.stdout.splitlines() == want,
		       "--as-kernel %s: errors and sizes" % old, [said(r)])
		# the last ones are refused by any kernel, so nothing is injected
		tap.ok(sum("(INJECTED) /* Linux %s: " % old in l for l in lines) == injected,
		       "--as-kernel %s: what it did is marked with why" % old, lines)
		if injected > 1: # 2.6.36 and 3.2 have different checks
			tap.ok(any(": PERF_COUNT_SW_BPF_OUTPUT (4.4) */" in l for l in lines),
			       "--as-kernel %s: an event that came later is named" % old, lines)

def gives_up(lines):
	"""Return whether perf has no way back.

	Newer perf, as 7.2, looks for what the kernel lacks, the newest first, up to the first that
	it has. Linux before 4.13 opens an inherited event that samples PERF_SAMPLE_READ, which
	Linux 4.13 to 6.12 refuse, so that this perf takes all the older ones for granted.
	"""
	return any("|PERF_SAMPLE_READ, disabled=1, inherit=1}" in l and re.search(r"\) = \d+", l)
		   for l in lines)

def perf(tap, tmp):
	if not PERF:
		tap.skip("perf falls back", "no perf")
		return
	data = os.path.join(tmp, "perf.data")
	text = os.path.join(tmp, "perf.txt")
	r = run(PEVTRACE, "-o", text, "--as-kernel", "4.4", PERF, "stat", "-e",
		"{task-clock,page-faults}", "true")
	with open(text) as f:
		lines = [l for l in f if "perf_event_open(" in l and "INJECTED" not in l]
	grouped = any("PERF_FORMAT_GROUP" in l for l in lines)
	tap.ok(r.returncode != 0 if gives_up(lines) else r.returncode == 0 and lines and not grouped,
	       "perf stat of a group reads its events one by one, or gives up", [said(r)] + lines)
	for old, gone, kept in (("5.15", ("PERF_FORMAT_LOST",), "mmap2=1"),
				("5.0", ("ksymbol=1", "bpf_event=1", "PERF_FORMAT_LOST"), "mmap2=1"),
				("4.13", ("ksymbol=1", "bpf_event=1", "PERF_FORMAT_LOST"), "mmap2=1"),
				("4.4", ("ksymbol=1", "bpf_event=1", "PERF_FORMAT_LOST"), "mmap2=1"),
				("3.10", ("mmap2=1", "comm_exec=1", "PERF_FLAG_FD_CLOEXEC"), "mmap=1"),
				("2.6.39", ("exclude_guest=1", "mmap2=1"), "mmap=1")):
		r = run(PEVTRACE, "-o", text, "--as-kernel", old, PERF, "record", "-e", "cpu-clock",
			"-o", data, "true")
		with open(text) as f:
			lines = f.read().splitlines()
		opened = [l for l in lines if "perf_event_open(" in l and "sample_freq=" in l and
			  re.search(r"\) = \d+", l)]
		if gives_up(lines):
			tap.ok(old in ("4.4", "3.10", "2.6.39") and r.returncode and not opened,
			       "perf record under --as-kernel %s gives up" % old, [said(r)] + lines)
			continue
		tap.ok(r.returncode == 0 and opened and kept in opened[0] and
		       not any(g in l for g in gone for l in opened),
		       "perf record under --as-kernel %s asks for less until it works" % old,
		       [said(r)] + lines)
		script_ = run(PERF, "script", "-i", data)
		tap.ok(script_.returncode == 0, "... and its data can be read", [said(script_)])

def shown(tap, tmp):
	dump = os.path.join(tmp, "dump")
	text = os.path.join(tmp, "shown")
	options = ["--as-kernel", "5.4", "-e", "inject=read:error=EIO:delay_exit=10ms:when=1"]
	body = "open_(attr(config=2, _128=1)); fd = open_(attr(config=2))[0]\n" \
	       "for i in range(2):\n\ttry: os.read(fd, 8)\n\texcept OSError: pass\n"
	r = run(PEVTRACE, "-o", text, "--summary", "--json=" + dump, *options, *script(body))
	with open(text) as f:
		live = f.read()
	again = run(PEVTRACE, "decode", "--summary", dump)
	tap.ok(live.count("(INJECTED)") == 2 and "(DELAYED)" in live and
	       again.stdout.count("(INJECTED)") == 2 and
	       lines_of(live) == lines_of(again.stdout),
	       "the dump tells the same", [live, again.stdout + again.stderr])
	tap.ok("E2BIG (Argument list too long), injected;" in live, "the summary names it", [live])
	with open(dump) as f:
		calls = [o for o in map(json.loads, f) if o.get("injected")]
	tap.ok(len(calls) == 2 and calls[0]["because"].startswith("Linux 5.4: ") and
	       calls[1]["exit_delay_ns"] == 10000000 and calls[1]["error"] == "EIO",
	       "the dump has it in members of its own", [repr(calls)])

def lines_of(text):
	"""Return the lines of a trace without the task's number, if there is one."""
	return sorted(re.sub(r"^\d+ +|^\[pid +\d+\] ", "", l) for l in text.splitlines())

def signalled(tap, tmp):
	"""Calls with an injected signal are marked, whether they returned or not."""
	dump = os.path.join(tmp, "dump")
	end = "signal.signal(signal.SIGUSR2, signal.SIG_DFL)\nopen_(attr(config=3))"
	r, lines = traced(tmp, ["--json=" + dump, "-e", "inject=perf_event_open:signal=USR1:when=2",
				"-e", "inject=perf_event_open:signal=SIGRT_5:error=EPERM:when=config==1",
				"-e", "inject=perf_event_open:signal=12:delay=1ms:when=config==3"],
			  "signal.signal(37, lambda *_: 0)\n" + SEVEN + "\nopen_(attr(config=1))\n" + end)
	again = run(PEVTRACE, "decode", dump)
	marked = [re.sub(r".* = ", "", l) for l in lines if "INJECTED" in l]
	tap.ok(len(marked) == 3 and re.fullmatch(r"\d+ \(INJECTED: SIGUSR1\)", marked[0]) and
	       marked[1].endswith(") (INJECTED) (INJECTED: SIGRT_5)") and
	       re.search(r"\(INJECTED: SIGUSR2\) \(DELAYED\)$", marked[2]),
	       "a signal is marked, by its name", [said(r)] + lines)
	tap.ok(lines_of("\n".join(lines)) == lines_of(again.stdout), "... and decoded as it was",
	       lines + [said(again)])
	with open(dump) as f:
		sent = [(o["kind"], o["injected_signal"]) for o in map(json.loads, f)
			if "injected_signal" in o]
	tap.ok([name for _, name in sent] == ["SIGUSR1", "SIGRT_5", "SIGUSR2"],
	       "... and told in the dump", [repr(sent)])

BELIEVED = NUMBERS + r"""
fd = open_(attr(config=2))[0]
at = call(nr["mmap"], long(0), long(8192), 3, 1, fd, long(0))[0]
if at != -1:
	call(nr["munmap"], long(at), long(8192))
call(nr["read"], fd, ctypes.create_string_buffer(b"" * 64), long(64))
t = (long * 2)()
call(nr["ppoll"], ctypes.create_string_buffer(struct.pack("ihh", ctypes.c_int(fd).value, 1, 0)), 1, t,
     None, 8)
call(nr["ioctl"], fd, 0x2400, 0)
call(nr["fcntl"], fd, 0, 50)
got = call(nr["dup"], fd)[0]
r = call(nr["clone"], 17, long(0), long(0), long(0), long(0))[0]
if r == 0: os._exit(0)
call(nr["close"], fd)
call(nr["read"], fd, ctypes.create_string_buffer(64), long(64))
call(nr["read"], got, ctypes.create_string_buffer(64), long(64))
"""

def believed(tap, tmp):
	"""Injected results change nothing in the kernel, nor in the model."""
	dump, decoded = os.path.join(tmp, "dump"), os.path.join(tmp, "decoded")
	for what, there, absent in (
			("close:error=EIO", [r"read\(\d<page-faults:u>, \{value=\d+\}, 64\) = 8$"] , []),
			("close:retval=0", [r"read\(\d<page-faults:u>, \{value=\d+\}, 64\) = 8$"], []),
			("munmap:error=EINVAL", [r"munmap\(.* EINVAL .*\(INJECTED\)$"], []),
			("munmap:retval=0", [r"munmap\(.* = 0 \(INJECTED\)$"], []),
			("mmap:error=EPERM", [r"mmap\(.* EPERM .*\(INJECTED\)$"], ["munmap", "^Rings: "]),
			("mmap:retval=0x10000", [r"mmap\(.* = 0x10000 \(INJECTED\)$"], ["munmap", "^Rings: "]),
			("read:retval=8", [r"read\(\d<page-faults:u>, \{value=\d+\} /\* not written by the "
					   r"kernel \*/, 64\) = 8 \(INJECTED\)$"], [r"\d reads?; count"]),
			("ppoll:retval=1", [r"ppoll\(.* = 1 \(INJECTED\) \(\[\] /\* not written by the "
					    r"kernel \*/, left .*\)$"], ["revents"]),
			("ioctl:retval=0", [r"ioctl\(.* = 0 \(INJECTED\)$"], []),
			("dup,fcntl:retval=77", [r"dup\(.* = 77 \(INJECTED\)$"], ["77<"]),
			("dup:retval=3", [r"dup\(.* = 3 \(INJECTED\)$"], []),
			("clone:error=EAGAIN", [r"clone\(.* EAGAIN .*\(INJECTED\)$"], []),
			("clone:retval=99", [r"clone\(.* = 99 \(INJECTED\)$"], []),
			("perf_event_open:retval=77", [r"perf_event_open\(.* = 77 \(INJECTED\)$",
						       "No event was opened"], ["another tracer"]),
			("perf_event_open:retval=5000000000", [r" = 5000000000 \(INJECTED\)$"], [])):
		for how in ([], ["--no-seccomp"], ["--records"]):
			r, lines = traced(tmp, ["-q", "-y", "--summary", "--json=" + dump, "-e",
						"inject=" + what, *how], BELIEVED)
			d = run(PEVTRACE, "decode", "-q", "-y", "--summary", "-o", decoded, *how[-1:]
				if how == ["--records"] else [], dump)
			with open(decoded) as f:
				same = f.read().splitlines() == lines
			live = "\n".join(lines)
			tap.ok(r.returncode == 0 and same and
			       all(re.search(p, live, re.M) for p in there) and
			       not any(re.search(p, live, re.M) for p in absent),
			       " ".join([what, *how]) + ": nothing came of it, live and decoded",
			       [said(r), said(d), "same: %s" % same] + lines)

# Calls that would write memory, which holds something.
OUTPUTS = """
fd = open_(attr(config=2))[0]
words = (ctypes.c_uint32 * 6)(3, 9, 21, 22, 23, 24)
libc.ioctl(fd, 0x80082407, ctypes.byref(words))
libc.ioctl(fd, 0xc008240a, words)
libc.ioctl(fd, 0x40082404, words)
libc.ioctl(fd, 0x80082407, ctypes.c_void_p(8))
"""
QUERY = {"ids_len": 3, "prog_cnt": 9, "ids": [21, 22, 23]}
KEPT = "not written by the kernel"

def outputs(tap, tmp):
	"""What memory holds is shown where an injected success wrote nothing, and is marked as such."""
	dump = os.path.join(tmp, "dump")
	r, lines = traced(tmp, ["-q", "--json=" + dump, "-e", "inject=ioctl:retval=0"], OUTPUTS)
	want = ["PERF_EVENT_IOC_ID, [38654705667] /* %s */) = 0 (INJECTED)" % KEPT,
		"PERF_EVENT_IOC_QUERY_BPF, {ids_len=3, prog_cnt=9, ids=[21, 22, 23]} /* %s */) = 0 (INJECTED)" % KEPT,
		"PERF_EVENT_IOC_PERIOD, [38654705667]) = 0 (INJECTED)",
		"PERF_EVENT_IOC_ID, 0x8 /* unreadable */) = 0 (INJECTED)"]
	got = [line.split(", ", 1)[1] for line in lines if "ioctl(" in line]
	with open(dump, encoding="utf-8") as f:
		args = [o["args"] for o in map(json.loads, f) if o.get("call") == "ioctl"]
	tap.ok(got == want and [a.get("arg_unwritten") for a in args] == [KEPT, KEPT, None, None] and
	       args[1]["arg"] == QUERY, "memory that an injected success did not write", [r] + got + args)
	# an injected failure is no answer, either
	_, lines = traced(tmp, ["-q", "-e", "inject=ioctl:error=ENOSPC"], OUTPUTS)
	tap.ok(any("QUERY_BPF, {ids_len=3}) = -1 ENOSPC " in line for line in lines),
	       "an injected ENOSPC", lines)

def differ(tap, tmp):
	"""Results injected into one of two runs are differences."""
	plain, dump = os.path.join(tmp, "plain"), os.path.join(tmp, "dump")
	body = "fd = open_(attr(config=2))[0]\nopen_(attr(config=3))\n" \
	       "call({'x86_64': 16, 'aarch64': 29}[os.uname().machine], fd, 0x2403, 0)"
	traced(tmp, ["--json=" + plain], body)
	for what in ("perf_event_open:error=EACCES:when=2", "perf_event_open:retval=88:when=2",
		     "ioctl:retval=0"):
		traced(tmp, ["--json=" + dump, "-e", "inject=" + what], body)
		for options in [], ["--no-probes"]:
			r = run(PEVTRACE, "diff", *options, plain, dump)
			tap.ok(r.returncode == 1 and "injected: 0 -> 1" in r.stdout,
			       " ".join(["diff"] + options) + " tells of " + what, [said(r)])
		r = run(PEVTRACE, "diff", dump, dump)
		tap.ok(r.returncode == 0, "... and of nothing between one and the same", [said(r)])
	r = run(PEVTRACE, "diff", "--ignore=injected", plain, dump)
	tap.ok(r.returncode == 0, "... unless it is to leave that out", [said(r)])

def reused(tap, tmp):
	"""A new task with the tid of one that ended starts counting at 1."""
	body = """
def child():
	pid = os.fork()
	if not pid:
		os._exit(open_(attr(config=2))[1])
	return pid, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
for i in range(200):
	first = child()
	with open("/proc/sys/kernel/ns_last_pid", "w") as f:
		f.write(str(first[0] - 1))
	second = child()
	if first[0] == second[0]:
		print(first[1], second[1])
		break
else:
	print("none")
"""
	if machine.lacks("next pid"):
		tap.skip("a number that comes again", machine.lacks("next pid"))
		return
	r, lines = traced(tmp, ["-e", "inject=perf_event_open:error=EXDEV:when=2"], body)
	if r.stdout == "none\n":
		tap.skip("a number that comes again", "too many tasks are born here")
		return
	tap.ok(r.stdout == "0 0\n", "calls are not counted for the next task of a number", [said(r)])
	# exec does not end a task, whichever thread calls it
	again = "TARGET = %r\n" % TARGET + """
def run_again():
	open_(attr(config=2))
	os.execv(sys.executable, [sys.executable, "-c", TARGET + "show(open_(attr(config=2)))"])
"""
	for how in ("run_again()", "threading.Thread(target=run_again).start(); time.sleep(60)"):
		r, lines = traced(tmp, ["-e", "inject=perf_event_open:error=EXDEV:when=2"], again + how)
		tap.ok(r.stdout == "-1 18\n", "a task's count goes on over its exec: " + how[:9],
		       [said(r)] + lines)

def blame(tap, tmp):
	dump = os.path.join(tmp, "blame")
	body = "fd = open_(attr(config=2))[0]\nopen_(attr(config=2))\n" \
	       "try: os.read(fd, 8)\nexcept OSError: pass\n" \
	       "call({'x86_64': 3, 'aarch64': 57}[os.uname().machine], fd)\nos.read(fd, 8)"
	r = run(PEVTRACE, "-o", os.path.join(tmp, "text"), "--json=" + dump, "-e",
		"inject=perf_event_open:error=EACCES:when=2", "-e", "inject=close:error=EINTR",
		"-e", "inject=read:error=EIO:when=1", *script(body))
	with open(dump) as f:
		lines = [n for n, l in enumerate(f, 1) if '"injected":true' in l]
	tap.ok(r.returncode == 0 and len(lines) == 3, "an open, a read and a close are injected",
	       [said(r), repr(lines)])
	where = "%s:%d" % (dump, min(lines, default=1))
	for verb in ("why", "why --once", "explain"):
		r = run(PEVTRACE, *verb.split(), where)
		tap.ok(r.returncode != 2 and "injected" in r.stdout and
		       ("did not see the call" if verb == "explain" else "injected") in r.stdout and
		       "by rule" not in r.stdout,
		       verb + ": the kernel was not asked", [said(r)])
	r = run(PEVTRACE, "explain", dump)
	tap.ok(" ".join(r.stdout.split()).count("pevtrace injected this error") == 2 and "refused" not in r.stdout,
	       "explain: no check is suspected", [said(r)])
	r = run(PEVTRACE, "codegen", "--all", dump)
	tap.ok(r.returncode == 0 and "Left out: injected calls" in r.stdout and "EACCES" not in r.stdout and
	       r.stdout.count("close(fd") <= 1, "codegen: the program does without", [said(r)])
	r = run(PEVTRACE, "report", dump)
	tap.ok("Injected by pevtrace" in r.stdout and "rule kernel_privilege" not in r.stdout,
	       "report: it is among the failures, without a rule", [r.stderr])
	r = run(PEVTRACE, "replay", "-q", dump)
	tap.ok(r.returncode == 0, "replay: it is not made", [said(r)])

def attached(tap, tmp):
	"""A delayed task of an attached process is detached unharmed."""
	body = "print('up', flush=True)\nsys.stdin.readline()\n" \
	       "show(open_(attr(config=2)))\nprint('done')"
	target = subprocess.Popen(script(body), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
				  bufsize=0)
	target.stdout.readline()
	tracer = subprocess.Popen([PEVTRACE, "-o", os.path.join(tmp, "a"), "-p",
				   str(target.pid), "-e",
				   "inject=perf_event_open:error=EIO:delay_enter=100s"],
				  stderr=subprocess.PIPE)
	try:
		tracer.stderr.readline()
		os.write(target.stdin.fileno(), b"\n")
		# wait until the call is delayed
		path = "/proc/%d/syscall" % target.pid
		for _ in range(600):
			with open(path) as f:
				if f.read().split()[0] in ("298", "241", "-1"):
					break
			subprocess.run(["sleep", "0.1"])
		tracer.terminate()
		tracer.wait(300)
		out = target.communicate(timeout=300)[0]
	finally:
		tracer.kill()
		target.kill()
	tap.ok(out in (b"-1 5\ndone\n", b"ok 0\ndone\n") and target.returncode == 0,
	       "an attached process that is held goes on when let go", [repr(out)])

BEFORE = """
which = int(sys.argv[1])
b = attr(type=2 if which else 1, config=which or 3)
fd = open_(b)[0]
print(fd, flush=True)
sys.stdin.readline()
nr = {"x86_64": 16, "aarch64": 29}[os.uname().machine]
show(call(nr, fd, 0x40082406, ctypes.c_char_p(b"common_pid == 0")))
show(call(nr, fd, 0x2400, 0))
"""

def before(tap, tmp):
	"""Type and config of an event opened before attach are known by BPF programs only."""
	options = [["--as-kernel=4.4"], ["-e", "inject=ioctl:error=EIO:when=config==0"],
		   ["-e", "inject=ioctl:error=EIO:when=type<3 || type>=3"]]
	modes = [(sp.WITHOUT_BPF if not os.getuid() else [], False)] + sp.has_bpf(PEVTRACE) * [([], True)]
	kinds = [("an event", "0", "-1 22")]
	if sp.tracefs():
		with open(sp.TRACEFS + "/events/sched/sched_switch/id", encoding="ascii") as f:
			kinds.append(("a tracepoint", f.read().strip(), "ok 0"))
	else:
		tap.skip("a tracepoint opened before takes its filter", "no tracefs")
	text = os.path.join(tmp, "before")
	for what, which, filtered in kinds:
		for option, (how, known) in itertools.product(options, modes):
			target = subprocess.Popen(script(BEFORE) + [which], stdin=subprocess.PIPE,
						  stdout=subprocess.PIPE, text=True)
			opened = target.stdout.readline()
			tracer = subprocess.Popen([*how, PEVTRACE, "-o", text, "-p", str(target.pid),
						   *option], stderr=subprocess.PIPE, text=True)
			tracer.stderr.readline()
			out = target.communicate("\n", timeout=300)[0]
			said_ = tracer.communicate(timeout=300)[1]
			with open(text, encoding="utf-8") as f:
				lines = f.read()
			injected = known * (option == options[2] and 2 or
					    option == options[0] and which == "0")
			want = "-1 5\n-1 5\n" if injected == 2 else filtered + "\nok 0\n"
			tap.ok(int(opened) >= 0 and out == want and lines.count("ioctl(") == 2 and
			       lines.count("INJECTED") == injected,
			       "%s opened before, %s: %s" % (what, ["unknown", "known"][known], option[-1]),
			       [opened, out, said_, lines])

def attached_abis(tap, tmp):
	"""An attached program has no seccomp filter and may have another ABI: same results."""
	for name in ("processes", "processes32"):
		program = rp.target(name)
		if rp.missing(name):
			tap.skip("attached: " + name, rp.missing(name))
			continue
		for expr, want in (("perf_event_open:error=EACCES", 77), ("perf_event_open:retval=1000", 4),
				   ("ioctl:error=EIO", 4)):
			target = subprocess.Popen(["sh", "-c", 'read -r go; exec "$0" -e said it', program],
						  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
			text = os.path.join(tmp, "abi")
			tracer = subprocess.Popen([PEVTRACE, "-o", text, "-p", str(target.pid), "-e",
						   "inject=" + expr], stderr=subprocess.PIPE)
			tracer.stderr.readline()
			out = target.communicate(b"\n", timeout=300)[0]
			said_ = tracer.communicate(timeout=300)[1]
			with open(text) as f:
				lines = f.read()
			tap.ok(target.returncode == want and tracer.returncode == 0 and
			       ("(INJECTED)" in lines) == ("perf" in expr),
			       "attached: %s, %s" % (name, expr), [repr(out), repr(said_), lines])

def misuse(tap):
	for expr, word in (("inject=", "requires calls"), ("inject=nothing:error=EIO", "unknown call"),
			   ("inject=read", "has no effect"), ("inject=read:error=ENOTHING", "ENOTHING"),
			   ("inject=read:error=EIO:retval=1", "given twice"),
			   ("inject=read:error=EIO:when=0", "no count"),
			   ("inject=read:error=EIO:when=99999999999999999999", "no count"),
			   ("inject=read:error=EIO:when=1:when=2", "two counts"),
			   ("inject=read:error=EIO:when=fd==1:when=fd==2", "two conditions"),
			   ("inject=read:error=EIO:when=", "expected a member"),
			   ("inject=read:error", "unknown error ''"),
			   ("inject=read:signal=USR1:signal=USR2", "given twice"),
			   ("inject=read:delay=1:delay_enter=2", "given twice"),
			   ("inject=!nothing:error=EIO", "'nothing'"),
			   ("inject=read:error=EIO:when=sample_nothing", "sample_nothing"),
			   ("inject=read:delay=1h", "1h"), ("inject=read:signal=99", "99"),
			   ("inject=read:poke=1", "poke")):
		r = run(PEVTRACE, "-e", expr, "true")
		tap.ok(r.returncode == 2 and word in r.stderr and r.stderr.count("\n") == 1,
		       "-e %s is refused with a reason" % expr, [said(r)])
	for old in ("x", "5", "1.0", "99.0", "5.4.3.2"):
		r = run(PEVTRACE, "--as-kernel", old, "true")
		tap.ok(r.returncode == 2 and r.stderr.count("\n") == 1,
		       "--as-kernel %s is refused" % old, [said(r)])

def main():
	tap = sp.Tap()
	with tempfile.TemporaryDirectory() as tmp:
		strace(tap, tmp)
		attr_conditions(tap, tmp)
		several(tap, tmp)
		event_conditions(tap, tmp)
		timing(tap, tmp)
		killed_while_held(tap, tmp)
		interrupted(tap, tmp)
		kernel(tap, tmp)
		perf(tap, tmp)
		shown(tap, tmp)
		signalled(tap, tmp)
		believed(tap, tmp)
		outputs(tap, tmp)
		differ(tap, tmp)
		reused(tap, tmp)
		blame(tap, tmp)
		attached(tap, tmp)
		before(tap, tmp)
		attached_abis(tap, tmp)
		misuse(tap)
	return tap.done()

sys.exit(main())
