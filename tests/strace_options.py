#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Options that pevtrace has from strace: the same lines, tables and effects as strace's on the
same program, and every option of strace accepted or answered with a reason."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from checks import check, differ, TAP
from programs import PEVTRACE, run_bytes as run
import straceparse as sp

STRACE = sp.find_program("strace")
DEMO = os.path.join(os.environ.get("PEVTRACE_TARGETS", ""), "demo")
PROCESSES = os.path.join(os.environ.get("PEVTRACE_TARGETS", ""), "processes")

# a child, closes that fail and succeed, and arguments that are not ASCII
SCRIPT = "exec 3</dev/null; exec 3<&-; exec 9<&-; /bin/true plain $'a\\001b\\3779'; :"
COMMAND = ["bash", "-c", SCRIPT]
SET = "trace=close,munmap,dup2,exit_group"

def text(tool, options, tmp, command=COMMAND):
	path = os.path.join(tmp, "out")
	if os.path.exists(path):
		os.unlink(path)
	r = run(tool, *(["-f"] if tool == STRACE else []), "-o", path, *options, *command)
	if r.returncode:
		raise AssertionError("%s %s: status %d, %s" % (tool, options, r.returncode, r.stderr))
	with open(path, errors="replace") as f:
		return f.read()

# What differs from run to run: ids, addresses, times, the child's SIGCHLD times.
CHANGES = (
	(re.compile(r"^\d+ +", re.M), ""),
	(re.compile(r"^\[pid +\d+\] ", re.M), ""),
	(re.compile(r"0x[0-9a-f]{6,}"), "ADDR"),
	(re.compile(r"\[[0-9a-f]{16}\]"), "[ADDR]"),
	(re.compile(r"si_(pid|utime|stime)=\d+( /\*.*?\*/)?"), r"si_\1=N"),
	(re.compile(r"/\* \d+ vars \*/"), "/* N vars */"),
)
DIGITS = re.compile(r"\d")

# time of day and durations; digits and blanks alone count
TIMES = re.compile(r"(\d\d:\d\d:\d\d(\.\d+)?|\(\+ *\d+(\.\d+)?\)|^ *\d+(\.\d+)? |<\d+(\.\d+)?>)", re.M)

def plain(lines):
	for pattern, to in CHANGES:
		lines = pattern.sub(to, lines)
	lines = TIMES.sub(lambda m: DIGITS.sub("N", m[0]).replace(" N", "NN"), lines)
	return lines

def calls_of(lines):
	"""The lines of calls; the order of two tasks may differ."""
	return sorted(l for l in plain(lines).splitlines() if "(" in l and "---" not in l and
		      "resumed" not in l and "unfinished" not in l)

SAME = (
	["-e", SET], ["-e", SET[6:]], ["-e", "t=close"], ["-e", "trace=/^(close|mun)"],
	["-e", "trace=?bogus,close"], ["-e", "trace=%d" % {"x86_64": 3}.get(os.uname().machine, 57)],
	["-e", "trace=?99999,close"], ["-e", "trace=!!close"], ["-e", "trace=?/zz,close"], ["-e", SET, "-z"], ["-e", SET, "-Z"],
	["-e", SET, "-z", "-Z"], ["-e", SET, "-Z", "--successful-only"], ["-e", SET, "-Z", "-e", "status=all"],
	["-e", SET, "--successful-only"], ["-e", SET, "--failed-only"],
	["-e", SET, "-n"], ["-e", SET, "-i"], ["-e", SET, "-n", "-i", "-t"], ["-e", SET, "--syscall-number", "-t"],
	["-e", SET, "-t"], ["-e", SET, "-tt"], ["-e", SET, "-ttt"], ["-e", SET, "-r"],
	["-e", SET, "-r", "-tt"], ["-e", SET, "-T"],
	["-e", SET, "--relative-timestamps=ns"], ["-e", SET, "--relative-timestamps=s"],
	["-e", SET, "--syscall-times=ms"], ["-e", SET, "--syscall-times=ns"],
	["-e", SET, "--absolute-timestamps=format:time,precision:us"],
	["-e", SET, "--absolute-timestamps=unix,ns"], ["-e", SET, "--absolute-timestamps=ms"],
	["-e", SET, "--absolute-timestamps=none"],
	["-e", SET, "--absolute-timestamps=unix", "--absolute-timestamps=us"],
	["-e", SET, "--absolute-timestamps=ns", "--absolute-timestamps"],
	["-e", "trace=exit_group", "-e", "status=unfinished"],
	["-e", SET, "-e", "status=!unfinished"], ["-e", SET, "-e", "status=unavailable,failed"],
	["-e", "trace=execve"], ["-e", "trace=execve", "-x"], ["-e", "trace=execve", "-xx"],
	["-e", "trace=execve", "--strings-in-hex=non-ascii-chars"],
	["-e", "trace=execve", "--strings-in-hex"], ["-e", "trace=execve", "-s", "3", "-xx"],
)

def first_exec(lines):
	"""strace shows the execve of its own, which pevtrace does not make under trace."""
	return [l for l in lines if "execve(" not in l or "true" in l or "\\x74\\x72\\x75\\x65" in l]

def test_lines(options, tmp):
	# strace aligns at column 40 by default
	theirs = first_exec(calls_of(text(STRACE, ["-a0"] + options, tmp)))
	ours = first_exec(calls_of(text(PEVTRACE, options, tmp)))
	theirs = [l for l in theirs if "/bin/bash" not in l and "bash\"" not in l]
	return differ(ours, theirs, " ".join(options)) or differ(bool(ours) or "-Z" in options, True,
								  "any line")

def test_align(tmp):
	why = []
	for ours, theirs in ((["-a60"], ["-a", "60"]), (["--columns=50"], ["--columns=50"]),
			     (["--columns", "20"], ["-a", "20"])):
		why += differ(calls_of(text(PEVTRACE, ["-e", SET] + ours, tmp)),
			      calls_of(text(STRACE, ["-e", SET] + theirs, tmp)), str(ours))
	for words in (["-a", "40"], ["-a", "-1"], ["-a", "x"], ["-a", ""], ["-a-1"], ["-a99999999999"]):
		said = "invalid -a argument: '%s'" % (words[-1] if len(words) > 1 else words[0][2:])
		r, theirs = (run(tool, *words, "true") for tool in (PEVTRACE, STRACE))
		# -a alone is another option, whose command is the next word
		why += differ((r.returncode, said in r.stderr.decode(), b"-aN" in r.stderr), (2, True, True), str(words))
		if words[-1] != "40":
			why += differ(said in theirs.stderr.decode(), True, "strace %s" % words)
	return why

def table(tool, options, tmp):
	lines = [l.rstrip() for l in text(tool, options, tmp).splitlines()]
	heads = [i for i, l in enumerate(lines) if l.startswith("syscall ")]
	return lines[heads[-1]:] if heads else []

def test_classes(tmp):
	"""A class of strace's has the same calls, of those that pevtrace decodes."""
	why = []
	decoded = set(re.findall(r"\w+", run(PEVTRACE, "help", "--complete", "--", "--trace", "").stdout.decode()))
	for name in ("%desc", "%memory", "memory"):
		both = []
		for tool in (PEVTRACE, STRACE):
			calls = re.findall(r"(\w+)\(", text(tool, ["-e", "trace=" + name], tmp))
			both.append({c for c in calls if c in decoded})
		why += differ(both[0], both[1], name) + differ(len(both[0]) > 1, True, name)
	for tool in (PEVTRACE, STRACE): # pevtrace's are those that concern perf
		delayed = re.findall(r"(\w+)\(.*DELAYED", text(tool, ["-e", "inject=%desc:delay_enter=1:when=1"], tmp,
								   [DEMO, "true"]))
		why += differ("perf_event_open" in delayed, True, "inject=%%desc: %s" % delayed)
	return why

def test_table(tmp):
	why = []
	for sort in ("name", "calls", "errors"):
		for how in ("-c", "-C"):
			o = [how, "-w", "-S", sort, "-U", "name,calls,errors", "-e", "trace=close,dup2"]
			ours, theirs = table(PEVTRACE, o, tmp), table(STRACE, o, tmp)
			why += differ(ours, theirs, " ".join(o)) + differ(len(ours) > 4, True, "rows")
	for columns in ("calls", "errors,calls", "calls,name,errors", "syscall_name,count", "error"):
		o = ["-c", "-S", "name", "-U", columns, "-e", "trace=close,dup2"]
		ours, theirs = ([l.split() for l in text(t, o, tmp).splitlines() if re.search("close|syscall", l)]
				for t in (PEVTRACE, STRACE))
		why += differ(ours, theirs, columns) + differ(len(ours), 2, "rows")
	o = ["-c", "-U", "time-percent,total-time,min-time,max-time,avg-time,calls,errors,name",
	     "-e", "trace=close"]
	digits = [DIGITS.sub("N", text(t, o, tmp).replace("  seconds", "wall secs"))
		  for t in (PEVTRACE, STRACE)]
	widths = [[len(w) for w in d[d.index("% time"):].splitlines()[1].split()] for d in digits]
	return why + differ(widths[0], widths[1], "widths of all columns")

def test_start(tmp):
	"""-E, -u: what the program sees."""
	show = ["sh", "-c", 'id -un; id -G; echo "$A|$HOME|$0"']
	why = []
	for o in (["-E", "A=b"], ["--env=A=b", "-E", "HOME"], ["-E", "A=1", "-E", "A=2", "-E", "HOME=x"]) + \
		 ((["-u", "nobody"], ["--user=nobody", "-E", "A=c"]) if not os.geteuid() else ()):
		outs = [run(tool, "-o", "/dev/null", *o, *show).stdout for tool in (PEVTRACE, STRACE)]
		why += differ(outs[0], outs[1], str(o))
	if not os.geteuid():
		r = run(PEVTRACE, "-o", "/dev/null", "-u", "65534:12", "sh", "-c", "id -u; id -G")
		why += differ(r.stdout, b"65534\n12\n", "-u UID:GID: %s" % r.stderr)
	r = run(PEVTRACE, "-o", "/dev/null", "--argv0=other", "sh", "-c", "cat /proc/$$/cmdline")
	return why + differ(r.stdout.split(b"\0")[0], b"other", "--argv0")

def test_output(tmp):
	path = os.path.join(tmp, "piped")
	why = []
	for mark in "|!":
		run(PEVTRACE, "-o", mark + "sed 's/^/> /' >" + path, "-e", "trace=close", "true")
		with open(path) as f:
			lines = f.read().splitlines()
		why += differ((len(lines) > 1, {l[:2] for l in lines}), (True, {"> "}), mark)
	# ^C, at which the program goes on, leaves the command to read the rest
	interrupted = os.path.join(tmp, "interrupted")
	r = run(PEVTRACE, "-o", "|cat >" + interrupted, "-e", "trace=close", "sh", "-c",
		"trap '' INT; kill -INT 0; exec true", start_new_session=True)
	with open(interrupted) as f:
		why += differ((r.returncode, "exited with 0" in f.read()), (0, True), "^C: %s" % r.stderr)
	run(PEVTRACE, "-o", path, "-A", "-e", "trace=close", "true")
	with open(path) as f:
		again = f.read().splitlines()
	why += differ((again[:len(lines)], len(again)), (lines, 2 * len(lines)), "-A")
	run(PEVTRACE, "--follow-forks", "--follow-forks", "-o", path, "-e", "trace=close", "true")
	why += differ([n for n in os.listdir(tmp) if n.startswith("piped")], ["piped"], "--follow-forks twice")
	r = run(PEVTRACE, "-D", "-o", "!cat", "true")
	why += differ((r.returncode, b"cannot be combined" in r.stderr), (2, True), "-D -o '!COMMAND'")
	r = run(PEVTRACE, "-ff", "-e", "trace=close", "true")
	return why + differ((r.returncode, b"no effect" in r.stderr, b"close(" in r.stderr),
			    (0, True, True), "-ff without -o")

def test_thread_exec(tmp):
	"""The exec of a thread, whose id the leader's becomes."""
	why = []
	if not os.path.exists(PROCESSES):
		return why
	for tool in (PEVTRACE, STRACE):
		lines = text(tool, ["-e", "trace=execve"], tmp, [PROCESSES, "-e", "thread_exec"])
		ids = re.findall(r"^(\d+) +execve\(.*unfinished", lines, re.M)
		leader = re.findall(r"^(\d+) +\+\+\+ superseded by execve in pid (\d+) \+\+\+", lines, re.M)
		why += differ([by for _, by in leader], ids, "%s: %s" % (tool, lines)) + differ(len(ids), 1, tool)
	path = os.path.join(tmp, "apart")
	os.mkdir(path)
	run(PEVTRACE, "-ff", "-o", path + "/f", PROCESSES, "-e", "thread_exec")
	said = {}
	for name in os.listdir(path):
		with open(os.path.join(path, name)) as f:
			said[name] = f.read()
	to = [(name, m[1]) for name, t in said.items() for m in re.finditer(r"pid changed to (\d+) \+\+\+\n\Z", t)]
	return why + differ([("superseded by execve in pid " + name[2:]) in said.get("f." + pid, "") for name, pid in to],
			    [True], "-ff: %s" % said)

def test_quiet(tmp):
	why = []
	for o, exits in ((["-qq"], False), (["-qqq"], False), (["--quiet=all"], False), (["-q"], True),
			 (["--quiet=attach,personality"], True), (["-e", "quiet=exit"], False),
			 (["-e", "q=!exit"], True), (["--quiet", "--quiet"], True)):
		both = ["exited with" in text(t, ["-e", "trace=close"] + o, tmp) for t in (PEVTRACE, STRACE)]
		why += differ(both, [exits, exits], str(o))
	return why

def test_fault(tmp):
	why = []
	for o in (["-e", "fault=perf_event_open"], ["--fault=perf_event_open:error=EPERM"],
		  ["--inject=perf_event_open:error=EPERM:when=2+"],
		  ["-e", "fault=perf_event_open:error=EPERM", "-e", "fault=perf_event_open:error=EIO"],
		  ["-e", "inject=perf_event_open:delay_enter=0"]):
		lines = []
		for t in (PEVTRACE, STRACE):
			path = os.path.join(tmp, "fault")
			run(t, *(["-f"] if t == STRACE else []),
			    "-o", path, "-e", "trace=perf_event_open", *o, DEMO, "true")
			with open(path) as f:
				lines.append([re.sub(r".*\) += (-1|\d+)", "", l) for l in f
					      if "INJECTED" in l or "DELAYED" in l])
		why += differ(lines[0], lines[1], str(o)) + differ(bool(lines[0]), True, "any")
	return why

def test_limit(tmp):
	path = os.path.join(tmp, "limit")
	p = subprocess.Popen(["sleep", "600"])
	r = run(PEVTRACE, "-o", path, "-e", "trace=close", "--syscall-limit=3", "-p", str(p.pid),
		"sh", "-c", "/bin/true; /bin/true; echo ran")
	with open(path) as f:
		n = sum(") = " in l for l in f)
	run(PEVTRACE, "-o", path, "-e", "trace=close", "-Z", "--syscall-limit=2", "bash", "-c",
	    "exec 3</dev/null; exec 3<&-; exec 7<&-; exec 8<&-; exec 9<&-")
	with open(path) as f:
		why = differ(len([l for l in f if "EBADF" in l]), 2, "calls that failed")
	p.send_signal(signal.SIGTERM)
	return why + differ((n, r.returncode, p.wait()), (3, 0, -signal.SIGTERM), "calls, status, sleep")

def runs(pid):
	"""Return whether a process has not ended; init may take seconds to collect one that has."""
	try:
		with open("/proc/%d/stat" % pid) as f:
			return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
	except FileNotFoundError:
		return False

def daemon_ids(tool, options, path):
	"""Return how a detached tracer and its command are related to the caller, and the status."""
	p = subprocess.Popen([tool] + options + ["-o", path, "-e", "trace=close", "sh", "-c",
			     "sed -n 's/TracerPid:.//p' /proc/$$/status; echo $$ $PPID; read x; exit 7"],
			     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
	tracer = int(p.stdout.readline())
	pid, parent = map(int, p.stdout.readline().split())
	ids = (pid == p.pid, parent == os.getpid(), os.getpgid(tracer) == os.getpgid(pid),
	       os.getpgid(tracer) == tracer, os.getsid(tracer) == tracer)
	p.communicate(b"\n", timeout=300)
	while runs(tracer):
		time.sleep(0.01)
	with open(path) as f:
		return ids, p.returncode, "exited with 7" in f.read()

def test_daemon(tmp):
	"""-D: the command is the process that was started, its tracer is elsewhere."""
	path = os.path.join(tmp, "daemon")
	why = []
	for options in (["-D"], ["-DD"], ["-DDD"], ["-D", "-D"], ["--daemonize"],
			["--daemonize", "--daemonize"], ["--daemonize=grandchild"], ["--daemonize=pgroup"], ["--daemonize=session"]):
		why += differ(daemon_ids(PEVTRACE, options, path), daemon_ids(STRACE, options, path),
			      str(options))
	r = run(PEVTRACE, "-D", "-o", path, DEMO, "true")
	with open(path) as f:
		why += differ((r.returncode, "perf_event_open(" in f.read()), (0, True), "a trace")
	# what attaches is not the process that becomes the command
	opener = subprocess.Popen(["sh", "-c", "read x; exec %s true" % DEMO], stdin=subprocess.PIPE,
				  stdout=subprocess.DEVNULL)
	status = subprocess.call([PEVTRACE, "-D", "-q", "-o", path, "-p", str(opener.pid), "sh", "-c",
		"until grep -q 'TracerPid:.[1-9]' /proc/%d/status; do sleep 0.01; done" % opener.pid])
	tracer = tracer_of(opener.pid)
	opener.communicate(b"\n", timeout=300)
	while runs(tracer):
		time.sleep(0.01)
	with open(path) as f:
		why += differ((status, tracer != 0, "perf_event_open(" in f.read()), (0, True, True),
			      "-p beside a command")
	r = run(PEVTRACE, "-D", "-o", path, os.path.join(tmp, "none"))
	return why + differ((r.returncode, b"No such file" in r.stderr), (2, True), "no command")

def tracer_of(pid):
	with open("/proc/%d/status" % pid) as f:
		return int(re.search(r"^TracerPid:\t(\d+)", f.read(), re.M)[1])

def wait_attached(tracer, target):
	"""Wait until the target is traced."""
	for _ in range(30000):
		if tracer_of(target) == tracer:
			return
		time.sleep(0.01)
	raise AssertionError("%d is not traced" % target)

def test_attach(tmp):
	"""A list in quotes, and a command besides; --kill-on-exit."""
	path = os.path.join(tmp, "attach")
	why = []
	for kill in (False, True):
		ps = [subprocess.Popen(["sleep", "600"]) for _ in range(2)]
		t = subprocess.Popen([PEVTRACE, "-o", path, "-e", "trace=close"] +
				     (["--kill-on-exit"] if kill else []) +
				     ["-p", "%d\n%d" % (ps[0].pid, ps[1].pid), "true"],
				     stderr=subprocess.DEVNULL)
		for p in ps:
			wait_attached(t.pid, p.pid)
		while not os.path.exists(path) or "exited with 0" not in open(path).read():
			time.sleep(0.01)
		t.send_signal(signal.SIGINT)
		why += differ(t.wait(timeout=300), 0, "status of the command")
		for p in ps:
			if not kill:
				p.send_signal(signal.SIGTERM)
			why += differ(p.wait(timeout=300), -signal.SIGKILL if kill else -signal.SIGTERM,
				      "end of a process, --kill-on-exit %s" % kill)
		os.unlink(path)
	# one that is not there leaves the others, and a command, traced
	for engine in ["ptrace"] + ["bpf"] * sp.has_bpf(PEVTRACE):
		p = subprocess.Popen([sys.executable, "-c", "import threading, time\n"
			"t = threading.Thread(target=time.sleep, args=(600,))\nt.start()\nprint(t.native_id, flush=True)"],
			stdout=subprocess.PIPE, text=True)
		thread = int(p.stdout.readline())
		gone = subprocess.Popen(["true"])
		gone.wait()
		t = subprocess.Popen([PEVTRACE, "--engine=" + engine, "-o", path, "-p",
				      "%d,%d" % (gone.pid, thread), "-p", str(p.pid)], stderr=subprocess.PIPE, text=True)
		said = [t.stderr.readline() for _ in range(3)]
		why += differ(["no such process" in said[0], "%d is a thread of process %d:" % (thread, p.pid) in said[1],
			       "attached to process %d\n" % p.pid in said[2]], [True, True, True], "%s: %s" % (engine, said))
		t.send_signal(signal.SIGINT)
		why += differ(t.stderr.read(), "pevtrace: detached from process %d\n" % p.pid,
			      engine + ": a process that is named twice")
		why += differ(t.wait(timeout=300), 0, engine)
		t.stderr.close()
		p.stdout.close()
		p.kill()
		p.wait()
		# the end of the reader is the end of the trace, where no command is waited for
		opener = subprocess.Popen([sys.executable, "-c", "import os\nwhile True: os.system('exec %s true')" % DEMO],
					  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		t = subprocess.Popen([PEVTRACE, "--engine=" + engine, "-p", str(opener.pid)], stderr=subprocess.PIPE)
		t.stderr.readline()
		t.stderr.readline()
		t.stderr.close()
		why += differ(t.wait(timeout=300) in (2, -signal.SIGPIPE), True, "status after the reader, " + engine)
		opener.kill()
		opener.wait()
		for command, status in (([], 2), (["sh", "-c", "exit 7"], 7)):
			r = run(PEVTRACE, "--engine=" + engine, "-o", path, "-p", str(gone.pid), *command)
			why += differ((r.returncode, b"no such process" in r.stderr), (status, True),
				      "%s, a command %s" % (engine, command))
	return why

# Arguments for options that require one.
ARGUMENTS = {
	"-e": "trace=close", "-E": "A=b", "-u": "root", "-o": "/dev/null", "-s": "3", "-a": "40",
	"--output": "/dev/null",
	"-S": "name", "-U": "calls", "-b": "execve", "--expr": "trace=close", "-I": "1", "-O": "1",
	"-P": "/", "-X": "raw", "-p": None,
}

# A program with an event that runs machine code, or makes a call that its own filter traps.
FAULTS = """
import ctypes, mmap, os, struct, sys
libc = ctypes.CDLL(None)
attr = struct.pack("IIQQQQQ", 1, 64, 9, 0, 0, 0, 1 << 5).ljust(64, b"\\0")
libc.syscall(298, attr, 0, -1, -1, 0)
if sys.argv[1] == "filter":
	insns = ((0x20, 0, 0, 0), (0x15, 0, 1, %d), (6, 0, 0, 0x30000), (6, 0, 0, 0x7fff0000))
	code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *i) for i in insns))
	prog = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(code)))
	libc.prctl(38, 1, 0, 0, 0)
	libc.prctl(22, 2, prog, 0, 0)
	os.getpriority(os.PRIO_PROCESS, 0)
m = mmap.mmap(-1, 4096, prot=7)
m.write(bytes.fromhex(sys.argv[1]))
ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()
""" % 140 # getpriority

def test_faults(tmp):
	"""What the kernel says of a fault: a division by zero, two opcodes, two addresses, a filter."""
	why = []
	for how in ("31c9f7f1", "0f0b", "f4", "8a042500000000", "cc", "filter"):
		lines = []
		for tool in (PEVTRACE, STRACE):
			path = os.path.join(tmp, "faults")
			run(tool, "-e", "trace=none", "-o", path, sys.executable, "-c", FAULTS, how)
			with open(path) as f:
				lines.append(plain(re.sub(r" /\*.*?\*/", "", "".join(l for l in f if "--- " in l))))
		# numbers where strace has names
		lines[1] = lines[1].replace("__NR_getpriority", "140").replace("AUDIT_ARCH_X86_64", "ADDR") \
			.replace("NULL", "0")
		lines[0] = lines[0].replace("NULL", "0")
		why += differ(lines[0], lines[1], how) or ([] if "--- SIG" in lines[0] else [how + ": none"])
	return why

def test_every_option():
	"""Each option that strace --help lists is accepted, or answered with a reason."""
	found = set(re.findall(r"^  (-\w|--[a-z][a-z-]+)", run(STRACE, "--help").stdout.decode(), re.M))
	found |= set(re.findall(r", (--[a-z][a-z-]+)", run(STRACE, "--help").stdout.decode()))
	why = differ(len(found) > 60, True, "options of strace")
	for option in sorted(found):
		r = run(PEVTRACE, option, ARGUMENTS.get(option) or "1", "true")
		message = r.stderr.decode(errors="replace")
		if "unknown option" in message:
			why.append("%s: %s" % (option, message))
	return why

def test_synonyms():
	"""What strace(1) gives another name as well has it here, too."""
	why = []
	for words in (["-F"], ["--silent=exit"], ["--silence=exit"], ["-e", "silent=exit"],
		      ["-e", "silence=exit"], ["-e", "signals=INT"], ["-e", "decode-fd=path"],
		      ["--timestamps=unix,ms"], ["--failing-only"], ["-cS", "time-percent"],
		      ["-cS", "time-total"], ["-cS", "total-time"], ["-cS", "shortest"],
		      ["-cS", "time-min"], ["-cS", "longest"], ["-cS", "time-max"],
		      ["-cS", "time-avg"], ["-cS", "count"], ["-cS", "error"], ["-cS", "syscall"],
		      ["-cS", "syscall-name"], ["-cS", "none"],
		      ["-cU", "time,time-total,time-min,time-max,time-avg,count,error,syscall"],
		      ["-cU", "time_percent,total_time,min_time,max_time,avg_time,syscall_name"],
		      ["-e", "quiet=superseded"], ["-fF"], ["--signals=INT"], ["--timestamp=unix,ms"],
		      ["--daemonise"], ["--daemonized=pgroup"]):
		for program in ([PEVTRACE], [STRACE]):
			r = run(*program, *words, "true")
			why += differ(r.returncode, 0, "%s: %s" % (program + words, r.stderr))
	return why

# opens an event, as pevtrace shows the signals of tasks that use perf only
SIGNALLED = """import ctypes, os, signal, sys
attr = (ctypes.c_uint32 * 32)(1, 128, 9, 0)
attr[10] = 1 << 5 # exclude_kernel
fd = ctypes.CDLL(None).syscall(%d, attr, 0, -1, -1, 0)
for s in signal.SIGIO, signal.SIGPIPE, signal.SIGSYS, 35, 32, signal.SIGCHLD:
	# the C library keeps 32 for itself, and it ends the program only if it is not ignored
	act = (ctypes.c_uint64 * 4)(1)
	ctypes.CDLL(None).syscall(%d, s, ctypes.byref(act), None, 8)
	os.kill(os.getpid(), s)
""" % ((298, 13) if os.uname().machine == "x86_64" else (241, 134))

def test_signals():
	"""Signals have strace's names, and are selected by them."""
	why = []
	for name in ("SIGIO", "IO", "SIGPIPE", "SIGSYS", "RT_3", "SIGRTMIN", "SIGCHLD", "CHLD", "29"):
		both = [run(tool, "-qq", "-o", "/dev/stdout", "-e", "trace=none", "-e", "signal=" + name,
			    sys.executable, "-c", SIGNALLED).stdout.decode() for tool in (PEVTRACE, STRACE)]
		both = [re.sub(r"^\d+ +|, si_pid.*", "", t, flags=re.M).splitlines() for t in both]
		why += differ(both[0], both[1], name) + differ(len(both[0]), 1, "lines of " + name)
	for name in ("SIGPOLL", "SIGCLD", "SIGIOT", "sigio"):
		why += differ(run(PEVTRACE, "-e", "signal=" + name, "true").returncode, 0, name)
	return why

def test_newer():
	"""What strace has since 6.1."""
	why = []
	for words in (["--stack-trace=symbol"], ["-cU", "total-wall,min-wall,max-wall,avg-wall"],
		      ["-e", "quiet=exits"]):
		r = run(PEVTRACE, *words, "true")
		why += differ(r.returncode, 0, "%s: %s" % (words, r.stderr))
	return why

def test_answers():
	"""Wrong lines of other verbs: what is wrong, and what to do."""
	why = []
	for words, said in ((["conform", "--btf=/etc/passwd", "--no-behaviour"], "it has no BTF; name raw BTF"),
			    (["conform", "/etc/passwd"], "is not the man(7) source"),
			    (["conform", "--man=/x", "/y"], "two pages"),
			    (["list", "-e", "cycles"], "is an argument: pevtrace list cycles"),
			    (["list", "--tried", "-e", "cycles"], "pevtrace list --tried hardware"),
			    (["list", "--tried", "-v"], "-j shows all"),
			    (["list", "--tried", "-C", "0"], "pevtrace why -C CPU -e EVENT"),
			    (["list", "--tried", "-p", "1"], "pevtrace why -p PID -e EVENT"),
			    (["open", "cpu-clock", "true"], "such as -e cpu-clock"),
			    (["open", "-e", "cpu-clock", "-F", "99", "true"], "sample_freq=99"),
			    (["open", "-e", "cpu-clock", "-c", "9", "true"], "sample_period="),
			    (["open", "-e", "cpu-clock", "-g", "true"], "CALLCHAIN"),
			    (["open", "-e", "nonsense", "true"], "pevtrace list shows"),
			    (["why", "--", "no-such-program"], "not found in PATH"),
			    (["open", "--side-band", "/etc/passwd"], "check that it is an executable"),
			    (["open", "-q", "-e", "cpu-clock", "./no-such-file"], "check the path"),
			    (["--json=/none/x", "true"], "'/none/x': No such file or directory; name another file")):
		r = run(PEVTRACE, *words)
		m = r.stderr.decode()
		why += differ((r.returncode, m.count("\n"), said in m, "-o" in m.split()), (2, 1, True, False),
			      "%s: %s" % (words, m))
	return why

# Options that exclude each other, need another one, or have no effect beside it.
TOGETHER = (
	["-c", "-C"], ["-C", "-c"], ["-cC"], ["--summary-only", "-C"], ["-ff", "-c"], ["-ff", "-C", "-o", "/dev/null"],
	["-ff", "-o", "|cat"], ["-w"], ["-U", "name"], ["-S", "name"], ["-A"], ["-A", "-o", "|cat"], ["-ff"],
	["-c", "-t"], ["-c", "-r"], ["-c", "-T"], ["-c", "-i"], ["-c", "-n"], ["-c", "-k"], ["-c", "-y"],
	["-t", "--absolute-timestamps=unix"], ["--absolute-timestamps", "-t"], ["-x", "--strings-in-hex=none"],
	["-q", "--quiet=all"], ["--quiet=exit", "-q"], ["-y", "--decode-fds=none"], ["-q", "--quiet"],
	["-q", "-e", "quiet=attach"], ["-e", "silent=exit", "-q"], ["-e", "decode-fd=path", "-y"],
	["-ff", "--output-separately", "-o", "/dev/null"], ["-f", "--output-separately"],
	["--daemonize=pgrp"], ["--quiet", "--quiet=exit"], ["-D", "--daemonize"],
	["-f", "--follow-forks"], ["-z", "-Z"], ["-r", "--relative-timestamps=s"], ["-T", "--syscall-times=s"],
	["-o", "/dev/null", "-o", "/dev/stderr"], ["-a1", "-a2"], ["-f", "-f", "-f"], ["-c", "-v"], ["-c", "-q"],
)

def test_together():
	"""What strace refuses is refused, and what it warns of is warned of."""
	why = []
	for words in TOGETHER:
		ours, theirs = (run(tool, *words, "true") for tool in (PEVTRACE, STRACE))
		why += differ(bool(ours.returncode), bool(theirs.returncode), "%s: %s" % (words, ours.stderr))
		for said in ("has no effect", "mutually exclusive", "must be given with", "nly the last of"):
			if said in theirs.stderr.decode():
				why += differ(bool(re.search(said + "|cannot be combined", ours.stderr.decode())), True,
					      "%s: %s" % (words, ours.stderr))
	return why

def test_hidden():
	"""Calls that pevtrace never shows may be hidden."""
	want = run(PEVTRACE, DEMO, "true").stderr.count(b"perf_event_open(")
	why = differ(want > 3, True, "lines")
	for words in ("!openat", "!%file", "!write,futex", "!file,%net", "!/^openat$", "!?bogus"):
		r = run(PEVTRACE, "-e", "trace=" + words, DEMO, "true")
		why += differ((r.returncode, r.stderr.count(b"perf_event_open(")), (0, want), words)
	r = run(PEVTRACE, "-e", "trace=!opneat", "true")
	return why + differ((r.returncode, b"unknown call" in r.stderr), (2, True), "a misspelt one")

def test_foreign():
	"""Calls and words of strace that pevtrace has not are answered with strace."""
	why = []
	for words in (["-e", "trace=openat"], ["-e", "file"], ["--secontext=full"], ["--always-show-pid"],
		      ["-e", "%file"], ["-e", "trace=/^openat$"], ["-P", "x"], ["-e", "raw=all"],
		      ["-e", "trace=%d" % {"x86_64": 1}.get(os.uname().machine, 64)],
		      ["-e", "kvm=vcpu"], ["-D", "-p", "1"], ["-I", "2"], ["--pidns-translation"],
		      ["--decode-fds=socket"], ["--decode-fds=eventfd"], ["-e", "fd=3"], ["--namespace=new"],
		      ["-e", "namespace=new"], ["-e", "decode-pids=comm"], ["-e", "secontext=full"], ["-Y"],
		      ["--decode-pid=comm"], ["--pidns"], ["-e", "inject=close:syscall=getpid:error=1"],
		      ["-e", "inject=close:poke_exit=@arg1=00:error=1"]):
		r = run(PEVTRACE, *words, *([] if "-p" in words else ["true"]))
		m = r.stderr.decode()
		why += differ((r.returncode, m.count("\n"), "unknown" in m), (2, 1, False), "%s: %s" % (words, m))
	return why

def main():
	if not STRACE:
		sp.skip_all("no strace")
	with tempfile.TemporaryDirectory() as tmp:
		for options in SAME:
			check("as strace: " + " ".join(options), lambda: test_lines(options, tmp))
		for name, test in (("results are aligned", test_align), ("the table of calls", test_table),
				   ("classes of calls", test_classes),
				   ("-E, -u, --argv0", test_start), ("-o '|COMMAND', -A, -ff", test_output),
				   ("the exec of a thread", test_thread_exec), ("-q, --quiet=", test_quiet), ("-e fault=, --inject=", test_fault),
				   ("-D, -DD, -DDD", test_daemon),
				   *((("faults", test_faults),) if os.uname().machine == "x86_64" else ()),
				   ("--syscall-limit", test_limit), ("-p with a list and a command", test_attach)):
			check(name, lambda: test(tmp))
	check("every option of strace is known", test_every_option)
	check("other names of strace's options", test_synonyms)
	check("options of newer strace", test_newer)
	check("hidden calls", test_hidden)
	check("options that do not go together", test_together)
	check("answers to wrong lines", test_answers)
	check("names of signals", lambda: test_signals())
	check("what is strace's alone is answered with a reason", test_foreign)
	return TAP.done()

if __name__ == "__main__":
	sys.exit(main())
