#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace open, compared with what programs say of themselves, the kernel's answers and /proc:

  rings    samples and lost ones are as many as were counted, forward and back
  command  exit status, signals, SIGINT, progress, what is closed and unmapped
  limits   descriptors, locked memory, an ordinary user
"""

import collections
import errno
import json
import os
import pty
import re
import resource
import shlex
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import machine
from opened import Opened, PEVTRACE, split
import perf_event as pe
import ringparse as rp
import straceparse as sp

def lost_of(o):
	"""How many records were lost, as the end of the output says."""
	found = re.search(r"^\+\+\+ .*: lost (\d+) (of|record)", o.err, re.M)
	return int(found.group(1)) if found else 0

def test_rings(tap):
	argv = [rp.target("counted"), "2000", "0", "1"]
	o = Opened(["-q", "-e", "page-faults,sample_period=1,sample_type=ADDR", "--mmap", "256",
		    "--"] + argv)
	seen = rp.records(o.lines)
	samples = [r for r in seen if r.type == "SAMPLE"]
	tap.ok(o.status == 0 and len(samples) == o.figures.get("page-faults") > 2000,
	       "a sample for every fault that was counted",
	       [len(samples), o.figures, o.err[-300:]])
	kinds = collections.Counter(r.type for r in seen)
	tap.ok(kinds["COMM"] == 2 and kinds["FORK"] == 1 and kinds["EXIT"] == 2 and
	       kinds["MMAP2"] > 4, "and the records beside them", [kinds])
	o = Opened(["-q", "-e", "page-faults,sample_period=1", "--mmap", "256", "--"] + argv)
	times = [r.n("time") for r in rp.records(o.lines) if r.n("time")]
	tap.ok(len(times) > 2000 and times == sorted(times), "in the order of their times")
	# a ring of one page fills faster than it is read
	o = Opened(["-e", "page-faults,sample_period=1,inherit=0,mmap=0,mmap2=0,comm=0,"
		    "task=0,comm_exec=0,read_format=LOST", "--mmap", "1", "--"] + argv)
	n = sum(r.type == "SAMPLE" for r in rp.records(o.lines))
	lost = sum(int(m.group(1)) for m in re.finditer(r"^read\(.*lost=(\d+)", o.err, re.M))
	if "EINVAL" in o.err:
		tap.skip("a ring that is too small", "no PERF_FORMAT_LOST before 6.0")
	else:
		tap.ok(n > 0 and lost > 0 and n + lost == o.figures["page-faults"],
		       "a ring that is too small: samples and lost ones add up",
		       [n, lost, o.figures])
		tap.ok(lost_of(o) == lost, "the sum is told at the end", [lost, o.err[-300:]])
	o = Opened(["-q", "-e", "page-faults,sample_period=1,inherit=0", "--mmap", "1", "--"] + argv)
	told = sum(r.n("lost") for r in rp.records(o.lines) if r.type == "LOST")
	tap.ok(0 < told <= lost_of(o), "without being asked for, too", [told, o.err[-300:]])
	o = Opened(["-q", "-e", "page-faults,sample_period=1,inherit=0", "--mmap", "256", "--"] + argv)
	tap.ok(o.status == 0 and "lost" not in o.err, "and nothing where nothing was lost",
	       [o.err[-300:]])
	o = Opened(["-q", "-e", "page-faults,sample_period=1,write_backward", "--mmap", "256",
		    "--"] + argv)
	back = [r for r in rp.records(o.lines) if r.type == "SAMPLE"]
	tap.ok(len(back) == o.figures.get("page-faults") > 2000,
	       "a backward ring: a sample for every fault, too",
	       [len(back), o.figures, o.err[-300:]])
	o = Opened(["-q", "-e", "page-faults,sample_period=1,write_backward,inherit=0",
		    "--mmap", "1", "--"] + argv)
	back = sum(r.type == "SAMPLE" for r in rp.records(o.lines))
	missed = sum(int(m.group(1)) for m in
		     re.finditer(r"(\d+) bytes were overwritten", o.err))
	# ip, tid, time, period and the header: 40 bytes each
	tap.ok(back > 0 and missed > 0 and
	       abs(back + missed // 40 - o.figures["page-faults"]) < 40,
	       "a small backward ring has the newest, and says what was overwritten",
	       [back, missed, o.figures])

def test_shared_ring(tap):
	o = Opened(["-q", "-e", "page-faults,sample_period=1", "-e",
		    "cpu-clock,sample_period=100000", "--mmap", "128", "--",
		    rp.target("counted"), "2000", "0", "0"])
	by = collections.Counter(re.split("[: ]", r.event)[0] for r in rp.records(o.lines)
				 if r.type == "SAMPLE")
	tap.ok(by["page-faults"] == o.figures["page-faults"] and by["cpu-clock"] > 0 and
	       "?>" not in o.err, "two events in a ring: each record by its event",
	       [by, o.figures])

def test_command(tap):
	o = Opened(["-q", "-e", "cs", "--", "sh", "-c", "echo hello; exit 7"])
	tap.ok(o.status == 7 and o.out == "hello\n", "the exit status of the command",
	       [o.status, o.out, o.err])
	o = Opened(["-q", "-e", "cs", "--", "sh", "-c", "kill -TERM $$"])
	tap.ok(o.status == -signal.SIGTERM and "cs" in o.figures, "death by its signal",
	       [o.status, o.err])
	o = Opened(["-e", "cs", "/nonexistent/program"])
	tap.ok(o.status == 2 and "cannot run '/nonexistent/program'" in o.err,
	       "a command that does not exist", [o.status, o.err])
	o = Opened(["-q", "-e", "type=77"] + ["sh", "-c", "echo ran"])
	tap.ok(o.status == 2 and o.out == "" and "cannot open" in o.err,
	       "no command is run where nothing could be opened", [o.status, o.out, o.err])
	o = Opened(["-q", "-e", "type=77,config=1,{cs,faults}", "true"])
	tap.ok(o.status == 0 and o.figures.get("type=77") == "<not opened>" and
	       isinstance(o.figures.get("cs"), int), "what can be opened is counted",
	       [o.figures, o.err])

def ran_ns(pid):
	"""Return the CPU time of a process: clock_getcpuclockid(3)."""
	return time.clock_gettime_ns(~pid << 3 | 2)

def test_targets(tap):
	if machine.lacks("whole CPUs"):
		return tap.skip("CPUs and cgroups", machine.lacks("whole CPUs"))
	o = Opened(["-q", "-e", "cpu-clock", "-C", "0", "--for", "0.3"])
	tap.ok(o.status == 0 and 2e8 < o.figures.get("cpu-clock", 0) < 2e9, "-C: one CPU",
	       [o.err])
	o = Opened(["-q", "-e", "cpu-clock", "-a", "--", "sleep", "0.3"])
	n = os.sysconf("SC_NPROCESSORS_ONLN")
	tap.ok(o.status == 0 and 2e8 * n < o.figures.get("cpu-clock", 0) < 2e9 * n,
	       "-a: all of them, as long as the command runs", [o.err])
	o = Opened(["-q", "-e", "task-clock", "--for", "0.1"])
	tap.ok(o.status == 0 and o.figures.get("task-clock", 0) > 0, "itself", [o.err])
	place = rp.cgroup2()
	group = place and os.path.join(place, "pevtrace-open-%d" % os.getpid())
	try:
		os.mkdir(group)
	except (OSError, TypeError):
		return tap.skip("cgroups", "no cgroup2 that can be written to")
	p = subprocess.Popen(["sh", "-c", "while :; do :; done"], preexec_fn=lambda: open(
		group + "/cgroup.procs", "w").write(str(os.getpid())))
	try:
		# interrupts and other guests of the host count as the event's time, not as the task's
		for _ in range(5):
			before = ran_ns(p.pid)
			o = Opened(["-q", "-e", "cpu-clock", "-G", os.path.basename(group),
				    "--for", "0.5"])
			ran = ran_ns(p.pid) - before
			good = o.status == 0 and ran / 10 < o.figures.get("cpu-clock", 0) < ran * 1.05 + 1e7
			if good:
				break
		tap.ok(good, "-G: the tasks of a cgroup", [ran, o.err])
		o = Opened(["-q", "-e", "cs", "-G", os.path.basename(group) + "x", "--for", "0.1"])
		tap.ok(o.status == 2 and o.err.rstrip().endswith("is " + group) and
		       "no cgroup" not in o.err and "below " + place in o.err,
		       "-G: no such cgroup: the mount and the nearest", [o.err])
		for name in ("/", ".", place):
			o = Opened(["-q", "-e", "cs", "-G", name, "--for", "0.05"])
			tap.ok(o.status == 0 and "cs" in o.figures and not o.lines,
			       "-G %s: the root cgroup" % name, [o.err])
		for name, why in (("", "empty name"), ("/tmp", "not a cgroup"),
				  ("../..", "not a cgroup")):
			o = Opened(["-q", "-e", "cs", "-G", name, "--for", "0.05"])
			tap.ok(o.status == 2 and o.err.startswith("pevtrace: -G '%s': %s" % (name, why))
			       and not o.figures, "-G '%s' is none" % name, [o.err])
	finally:
		p.kill()
		p.wait()
		os.rmdir(group)

def test_uprobe(tap):
	"""The memory that an attr points to is readable by the kernel."""
	if machine.lacks("uprobes"):
		return tap.skip("a uprobe", machine.lacks("uprobes"))
	nm = subprocess.run(["nm", rp.target("counted")], stdout=subprocess.PIPE, text=True)
	at = re.search(r"^([0-9a-f]+) T main$", nm.stdout, re.M)
	if not at:
		return tap.skip("a uprobe", "nm finds no main")
	o = Opened(["-y", "-e", "uprobe//,uprobe_path=%s,probe_offset=0x%s,inherit=0" %
		    (rp.target("counted"), at.group(1).lstrip("0")), rp.target("counted"),
		    "0", "0", "3"])
	tap.ok(o.status == 0 and list(o.figures.values()) == [1] and
	       'uprobe_path="' + rp.target("counted")[:10] in o.err,
	       "a uprobe on main is hit once", [o.figures, o.err])

def send_and_wait(p, sig):
	"""Wait until a signal has been delivered, so that the next one is not merged with it."""
	p.send_signal(sig)
	for _ in range(600):
		with open("/proc/%d/status" % p.pid) as f:
			pending = re.search(r"^ShdPnd:\s*(\w+)$", f.read(), re.M)
		if not int(pending.group(1), 16) >> sig - 1 & 1 or p.poll() is not None:
			break
		time.sleep(0.1)

def interrupted(args, send=1):
	"""Send SIGINT to a pevtrace that counts, after its command, if any, has reported it."""
	p = subprocess.Popen([PEVTRACE, "open", "-q"] + args, stderr=subprocess.PIPE, bufsize=0,
			     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
	rp.holds_events(p.pid, 1)
	if "-p" not in args:
		p.stdout.readline()
	for _ in range(send):
		send_and_wait(p, signal.SIGINT)
	try:
		p.wait(300)
		err = p.communicate(timeout=300)[1].decode()
	except subprocess.TimeoutExpired:
		p.kill()
		err = p.communicate()[1].decode() + "(did not end)"
	return p.returncode, split(err)[0], err

def test_signals(tap):
	status, figures, err = interrupted(["-e", "task-clock", "-p", str(os.getpid())])
	tap.ok(status == 0 and isinstance(figures.get("task-clock"), (int, str)) and
	       "seconds" in err, "-p: SIGINT ends with the figures", [status, err])
	status, figures, err = interrupted(["-e", "page-faults", "sh", "-c", "echo go; read x"])
	tap.ok(status == -signal.SIGINT and figures.get("page-faults", 0) >= 1,
	       "a command gets it as well, and the figures come", [status, err])
	status, figures, err = interrupted(
		["-e", "cs", "sh", "-c", "trap '' INT; echo go; read x"], send=2)
	tap.ok(status == -signal.SIGKILL and "cs" in figures,
	       "the second one ends a command that would not", [status, err])
	t = time.monotonic()
	o = Opened(["-q", "-e", "cs", "--for", "0.5"])
	took = time.monotonic() - t
	tap.ok(o.status == 0 and took >= 0.5, "--for counts so long", [took, o.err])

def test_progress(tap):
	text = sp.on_terminal([PEVTRACE, "open", "-q", "-e", "task-clock,cs", "sleep", "4"], 80)
	# one for each second, except those missed on a busy machine
	seconds = [int(n) for n in re.findall(r"\r(\d+) s: task-clock ", text)]
	tap.ok(len(seconds) >= 2 and seconds == sorted(set(seconds)) and 0 < seconds[0] and
	       re.search(r"\r\x1b\[K *\d+  task-clock", text), "progress on a terminal",
	       [repr(text)])

def test_interrupt_key(tap):
	"""A signal from the terminal reaches the command once."""
	pid, main = pty.fork()
	if not pid:
		os.execv(PEVTRACE, [PEVTRACE, "open", "-q", "-e", "cs", "sh", "-c",
				    "trap 'n=x$n; echo got $n' INT; echo ready; sleep 1; "
				    "sleep 1; echo done $n"])
	got = b""
	while True:
		try:
			part = os.read(main, 4096)
		except OSError:
			break
		if not part:
			break
		if b"ready" not in got and b"ready" in got + part:
			os.write(main, b"\x03")
		got += part
	status = os.waitpid(pid, 0)[1]
	os.close(main)
	text = got.decode(errors="replace")
	tap.ok(status == 0 and "done x\r" in text and re.search(r"\d+  cs\r", text),
	       "^C reaches the command once, which may go on, and the figures come",
	       [status, repr(text)])

def test_refusals(tap):
	"""The rule is reported, and the suggested command finds the same."""
	cases = [("cpu-clock,sample_freq=99999999", "freq_limit"),
		 ("{dummy,cs,pinned}", "group_pinned"), ("type=77,config=0x5000", "no_pmu"),
		 ("software/config=2,name=it's/,__reserved_1=1", "reserved_bits"),
		 ("cpu-clock,sample_type=BRANCH_STACK,branch_sample_type=ANY", "software_branch"),
		 ("dummy,clockid=12,use_clockid", "clockid"),
		 ("{cs:u,dummy,sample_type=IDENTIFIER|1<<40}", "sample_type_bits")]
	if os.uname().machine == "x86_64":
		cases += [("mem:0x1001", "breakpoint_align"),
			  ("mem:0x1000,{mem:0x2000,mem:0x3000:w:u},dummy,mem:0x4000,mem:0x5000",
			   "breakpoint_slots")]
	if os.path.exists("/sys/bus/event_source/devices/uprobe"):
		cases += [('uprobe/retprobe/,uprobe_path="/nonexistent/a\\"b,c"',
			   "uprobe_privilege" if machine.lacks("uprobes") else "uprobe_open")]
	for text, rule in cases:
		o = Opened(["-q", "-e", text, "true"])
		if machine.lacks("kernel events"):
			o.err = re.sub("^pevtrace: excluding the kernel: .*\n", "", o.err)
		errors = re.findall(r"cannot open '.*?': (\w+): .*\(rule (\w+)\)", o.err)
		m = re.search(r"find out more with: pevtrace (why .*)", o.err)
		words = shlex.split(m.group(1)) if m else ["why"]
		r = subprocess.run([PEVTRACE, words[0], "--json"] + words[1:], text=True,
				   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
		last = json.loads(r.stdout.splitlines()[-1]) if r.stdout else {}
		got = (last.get("kernel", {}).get("error"), [f.get("rule") for f in
							     last.get("faults", [])][:1])
		tap.ok(len(errors) == 1 and errors[0][1] == rule and
		       got == (errors[0][0], [rule]) and "paranoid" not in o.err,
		       "%s: %s, and pevtrace why finds that" % (text, rule),
		       [o.err, got, r.stderr])
	o = Opened(["-q", "-e", "{dummy,__reserved_1=1,cs}", "true"])
	tap.ok("cannot open 'cs': its group leader was refused" in o.err,
	       "a member goes with its leader", [o.err])

def limited(what, soft):
	return lambda: resource.setrlimit(what, (soft, soft))

def test_limits(tap):
	many = ",".join(["cs"] * 40)
	o = Opened(["-e", many, "true"], preexec_fn=limited(resource.RLIMIT_NOFILE, 32))
	tap.ok(o.status == 2 and "ulimit -n" in o.err and "the limit is 32" in o.err,
	       "more events than descriptors", [o.status, o.err])
	o = Opened(["-e", "cs", "true"], preexec_fn=limited(resource.RLIMIT_NOFILE, 8))
	tap.ok("1 event on 1 target (" in o.err and "ulimit -n" in o.err, "one of each", [o.err])
	for verb in (["open", "-e", "cs"], ["open", "--side-band"], []):
		r = subprocess.run([PEVTRACE] + verb + ["--", "true"], stderr=subprocess.PIPE,
				   stdout=subprocess.PIPE, universal_newlines=True,
				   preexec_fn=limited(resource.RLIMIT_NOFILE, 5))
		tap.ok(r.returncode == 2 and "cannot start 'true'" in r.stderr and
		       "ulimit -n" in r.stderr, "none to start a command with: %s" % verb,
		       [r.returncode, r.stderr])
	for option in (["--mmap", "3"], ["--mmap", "0"], ["--for", "x"], ["-C", "z"],
		       ["-C", "8000"], ["-p", str(1 << 22)], ["-G", "no/such"]):
		o = Opened(["-q", "-e", "cs"] + option +
			   ([] if option[0] != "--mmap" else ["true"]))
		tap.ok(o.status == 2 and len(o.err.strip().split("\n")) == 1,
		       " ".join(option) + " is one line and status 2", [o.status, o.err])

def test_aux(tap):
	"""No PMU here is assumed to write AUX data; software events never do."""
	for option, prot in (("--aux", "PROT_READ|PROT_WRITE"), ("--aux-snapshot", "PROT_READ")):
		o = Opened(["-e", "cs", "--mmap", "2", option, "4", "true"])
		maps = [l for l in o.lines if l.startswith("mmap(") and "AUX" in l]
		page = os.sysconf("SC_PAGE_SIZE")
		tap.ok(o.status == 2 and maps and all(
			"NULL, %d, %s, MAP_SHARED" % (4 * page, prot) in l and
			"%#x) = -1 EOPNOTSUPP" % (3 * page) in l for l in maps) and
		       "cannot map an AUX area: EOPNOTSUPP" in o.err, option + " needs a PMU for it", [o.err])
	for args, words in ((["--aux", "4"], "--mmap"), (["--aux", "3", "--mmap", "2"], "power of")):
		o = Opened(["-e", "cs"] + args + ["true"])
		tap.ok(o.status == 2 and words in o.err, " ".join(args) + " is misuse", [o.err])

# a profile may let the call through for who has the capability
PROFILE = "or add CAP_PERFMON, with which newer default profiles let it through, or CAP_SYS_ADMIN"

def test_filter(tap):
	"""When a seccomp filter fails the call, missing privileges are not the cause."""
	for error in (errno.EPERM, errno.EACCES, errno.ENOSYS):
		for verb, args in (("open", ["-q", "-e", "cs"]), ("open", ["--side-band"])):
			r = subprocess.run([PEVTRACE, verb] + args + ["true"], text=True,
					   stderr=subprocess.PIPE, preexec_fn=pe.forbid(error))
			tap.ok(r.returncode == 2 and errno.errorcode[error] in r.stderr and
			       "allow perf_event_open in its profile" in r.stderr and
			       "paranoid" not in r.stderr and
			       "CAP_" not in r.stderr.replace(PROFILE, "") and
			       len(r.stderr.strip().split("\n")) == 1,
			       "%s under a filter: %s" % (args[0], errno.errorcode[error]), [r.stderr])

def test_nobody(tap):
	machine.need("another user")
	level = machine.setting("paranoid")
	if level != 2 or not os.access(PEVTRACE, os.X_OK):
		return tap.skip("an ordinary user", "perf_event_paranoid is %d, not 2" % level)
	probe = subprocess.run([PEVTRACE, "--version"], preexec_fn=sp.as_nobody(),
			       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	if probe.returncode:
		return tap.skip("an ordinary user", "who may not run this build")
	o = Opened(["-q", "-e", "task-clock,page-faults", "true"], preexec_fn=sp.as_nobody())
	tap.ok(o.status == 0 and o.figures.get("page-faults", 0) > 10 and
	       "excluding the kernel: perf_event_paranoid is 2" in o.err,
	       "an ordinary user counts the user's part, and is told so", [o.err])
	o = Opened(["-q", "-e", "task-clock:u", "true"], preexec_fn=sp.as_nobody())
	tap.ok(o.status == 0 and "excluding" not in o.err, "and is not, who asked for that",
	       [o.err])
	o = Opened(["-q", "-e", "task-clock:k", "true"], preexec_fn=sp.as_nobody())
	tap.ok(o.status == 2 and "CAP_PERFMON" in o.err, "the kernel's part needs more",
	       [o.status, o.err])
	o = Opened(["-q", "-e", "cs", "-a", "--for", "0.1"], preexec_fn=sp.as_nobody())
	tap.ok(o.status == 2 and "it requires perf_event_paranoid 0 or less, or CAP_PERFMON" in o.err,
	       "whole CPUs need more", [o.status, o.err])
	o = Opened(["-q", "-e", "cs:u", "-p", "1", "--for", "0.1"], preexec_fn=sp.as_nobody())
	tap.ok(o.status == 2 and "another user's task" in o.err, "so do processes of others",
	       [o.status, o.err])
	o = Opened(["-q", "-e", "cpu-clock:u", "--mmap", "2048", "true"],
		   preexec_fn=sp.as_nobody(limited(resource.RLIMIT_MEMLOCK, 65536)))
	tap.ok(o.status == 2 and "perf_event_mlock_kb" in o.err and "ulimit -l" in o.err,
	       "large rings need more", [o.status, o.err])

def own_tests(tap, tmp):
	return [("rings", lambda: test_rings(tap)),
		("shared", lambda: test_shared_ring(tap)),
		("command", lambda: test_command(tap)),
		("targets", lambda: test_targets(tap)),
		("uprobe", lambda: test_uprobe(tap)),
		("signals", lambda: test_signals(tap)),
		("key", lambda: test_interrupt_key(tap)),
		("progress", lambda: test_progress(tap)),
		("refusals", lambda: test_refusals(tap)),
		("limits", lambda: test_limits(tap)),
		("filter", lambda: test_filter(tap)),
		("aux", lambda: test_aux(tap)),
		("nobody", lambda: test_nobody(tap))]

if __name__ == "__main__":
	sys.exit(rp.main("pevtrace-open.", "", own_tests, None, ("filter",)))
