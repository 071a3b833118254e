# SPDX-License-Identifier: LGPL-2.1-or-later
"""What tests/why.py asks of the fixes of pevtrace why: that they open as pasted, and measure."""

import os
import pty
import random
import re
import shlex
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from causes import as_nobody, ask, PEVTRACE, run
from checks import differ
import machine
import perf_event as pe
from perf_event import attr

def said(r, line):
	"""Return what follows the heading of a line, or None."""
	found = re.search("^  %s: (.*)" % line, r.stdout, re.M)
	return found and found.group(1)

# ---- what works, as pasted --------------------------------------------------------

EVENTS = ("cpu-clock:u", "task-clock:u", "page-faults:u", "dummy:u", "cs:u", "mem:0x1000:w:u",
	  "type=1,config=2,exclude_kernel")
WRONG = ("sample_freq=1000000000", "sample_type=STACK_USER|IP,sample_stack_user=13", "sigtrap",
	 "use_clockid,clockid=2", "inherit_thread", "__reserved_2=5", "read_format=1<<9|ID",
	 "sample_type=CALLCHAIN|TID,sample_max_stack=60000", "remove_on_exec,enable_on_exec",
	 "sample_type=REGS_USER|TID,sample_regs_user=1<<60|1", "aux_output", "aux_sample_size=8")

def test_pasted(tmp):
	"""The options after works: open, by why and by open, with what was asked for but for the cause."""
	order, bad, asked = random.Random(33), [], 0
	for _ in range(400):
		event = ",".join([order.choice(EVENTS)] + order.sample(WRONG, order.choice((1, 1, 2))))
		r = run("-e", event)
		works = said(r, "works")
		if r.returncode or not works:
			continue
		asked += 1
		again = run("--once", *shlex.split(works))
		bad += differ(": opens" in again.stdout, True, "%s: %s: %s" % (event, works, again.stdout +
									       again.stderr))
		opened = subprocess.run([PEVTRACE, "open", "-q", *shlex.split(works), "--", "true"],
					capture_output=True, text=True) if asked % 10 == 0 and "remove_on_exec" not in works else None
		bad += opened and differ("cannot open" in opened.stderr, False, works + opened.stderr) or []
		if asked == 100:
			break
	bad += differ(asked, 100, "refused events with a fix")
	machine.need("whole CPUs")
	r = run("-a", "-C", "0", "-e", "cpu-clock,sample_freq=1000000000")
	return bad + differ(said(r, "works"), "-e cpu-clock,sample_freq=%d -a -C 0" % machine.setting(
		"max_sample_rate"), r.stdout)

def test_difference(tmp):
	"""The difference for an attr is part of an event's text, with commas."""
	for b, event in ((attr(sigtrap=1, exclude_kernel=1), "cpu-clock:u,sigtrap"),
			 (attr(config=2, aux_output=1, exclude_kernel=1), "page-faults:u,aux_output")):
		works = said(run(b.hex()), "works")
		r = run("--once", "-e", event + works.replace(" +", ",").replace("+", ",", 1))
		if works[0] != "+" or ": opens" not in r.stdout:
			return ["%s: %s" % (works, r.stdout + r.stderr)]
	return []

# ---- what it measures -----------------------------------------------------------------

def counted(b, do):
	"""Return what an event counts while that is done."""
	fd = pe.call(b)
	do()
	n = struct.unpack("=Q", os.read(fd, 8))[0]
	os.close(fd)
	return n

def test_measures(tmp):
	"""A change after which the event counts nothing is no fix: so say the flaws, and the kernel."""
	for need in ("kernel events", "restricted users"):
		machine.need(need)
	def sleeps():
		for _ in range(20):
			time.sleep(.001)
	switches = dict(config=3, exclude_hv=1)
	bad = differ((counted(attr(exclude_kernel=1, **switches), sleeps),
		      counted(attr(exclude_kernel=0, **switches), sleeps) >= 20), (0, True), "the kernel")
	r = run(attr(exclude_kernel=0, **switches).hex(), **as_nobody(tmp))
	bad += differ((": cause: {exclude_kernel=0}: " in r.stdout,
		       bool(re.match(r"requires perf_event_paranoid 1 or less, or CAP_PERFMON: ", said(r, "fix"))),
		       said(r, "opens instead").startswith("+exclude_kernel=1, but the event counts 0: "),
		       said(r, "works")), (True, True, True, None), r.stdout + r.stderr)
	opens = run(attr(exclude_kernel=1, **switches).hex()).stdout
	bad += differ(("the call opens here" in opens, "  but: the event counts 0: " in opens), (True, True), opens)
	for both, counts in ((dict(config=0), True), (dict(config=2), False)):
		bad += differ(counted(attr(exclude_kernel=1, exclude_user=1, **both), lambda: bytearray(1 << 22)) > 0,
			      counts, "user and kernel excluded: %s" % both)
		text = run(attr(exclude_kernel=1, exclude_user=1, **both).hex()).stdout
		bad += differ("(flaw all_excluded)" in text, not counts, text)
	garbage = run("-v", (b"\xaa" * 136).hex()).stdout
	bad += differ(("memset(&attr, 0, sizeof(attr))" in garbage.splitlines()[1], "experiments: 1\n" in garbage),
		      (True, True), garbage)
	r = run("-v", "-e", "cpu-clock", **as_nobody(tmp))
	bad += differ((said(r, "works"), bool(re.search(r"what opens counted [1-9]\d+ in a trial", r.stdout))),
		      ("-e cpu-clock,exclude_kernel", True), "a clock: " + r.stdout)
	return bad + differ(said(r, "unchanged")[:40], "requires perf_event_paranoid 1 or less, ", r.stdout)

def test_another(tmp):
	"""Another event, task or CPU is no fix; nor is a period in place of a frequency."""
	bad = []
	cpus = "CPUs have numbers up to N"
	for args, fix, instead in (
		(("-e", "cpu-clock:u,config=99"), "no change of the call makes it measure this here",
		 ("another event opens", "cgroup-switches:u")),
		(("-p", "99999999", "-e", "cpu-clock:u"), "use a running task of the same user: no such task",
		 ("opens instead", "-e cpu-clock:u, which measures the calling task")),
		(("-C", "9999", "-e", "cpu-clock:u"), "use a CPU that is online: " + cpus,
		 ("opens instead", "-e cpu-clock:u, which measures on any CPU"))):
		r = run(*args)
		bad += differ((re.sub(r"up to \d+", "up to N", said(r, "fix")), said(r, "works"), said(r, instead[0])),
			      (fix, None, instead[1]), r.stdout)
	o, _ = ask("-e", "cpu-clock:u,sample_freq=1000000000")
	bad += differ((o["others"], o["measures"]), ([], True), "a frequency")
	o, _ = ask("-C", "9999", "-e", "cpu-clock:u")
	return bad + differ((o["measures"], o["instead"]), (False, "which measures on any CPU"), "a CPU")

def test_rights(tmp):
	"""Where only rights are missing, they are named, with the change that is required besides."""
	machine.need("restricted users")
	nobody, bad = as_nobody(tmp), []
	for args, fix, line, instead in (
		(("-a", "-e", "cpu-clock:u"), "requires perf_event_paranoid 0 or less, or CAP_PERFMON: ",
		 "opens instead", "-e cpu-clock:u -C 0, which measures the calling task"),
		(("-e", "cpu-clock:u,namespaces"), "{namespaces=0}", "unchanged", "requires CAP_PERFMON: "),
		(("-e", "mem:0xffffffff81000000:w:u"), "{exclude_kernel=0}, which requires CAP_SYS_ADMIN: ",
		 "another event opens", "mem:0x1000/4:w:u")):
		if args[1].startswith("mem:") and os.uname().machine != "x86_64":
			continue
		r = run(*args, **nobody)
		bad += differ((said(r, "fix")[:len(fix)], (said(r, line) or "")[:len(instead)], "blocked by" in r.stdout),
			      (fix, instead, False), r.stdout)
	r = run("-e", "cs,task-clock", **nobody)
	return bad + differ(r.stdout.count("perf_event_paranoid is "), 1, "the machine, once: " + r.stdout)

def test_cgroup(tmp):
	"""Without the flag another would be measured: what is right is an event for each CPU."""
	r = run("--cgroup", tmp, "-e", "cpu-clock:u")
	if "cgroup_descriptor" in r.stdout:
		below = (said(r, "fix") or "").startswith("open the cgroup's directory and pass that descriptor")
		if not below or ": cause: {cpu=-1}: " not in r.stdout:
			return [r.stdout]
	for place in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/perf_event"):
		r = run("--cgroup", place, "-e", "cpu-clock")
		if "(rule cgroup_target, EINVAL)" not in r.stdout or "-C 0" not in r.stdout:
			continue
		bad = differ((said(r, "fix"), said(r, "works")), ("{cpu=0}, and so on: one event for each CPU",
			     "-e cpu-clock --cgroup=%s -C 0" % place), r.stdout)
		if not machine.lacks("restricted users"):
			r = run("--cgroup", place, "-e", "cpu-clock:u", **as_nobody(tmp))
			bad += differ((said(r, "fix") or "")[:60],
				      "{cpu=0}, and so on: one event for each CPU, which requires p", r.stdout)
		return bad
	raise machine.Lack("no cgroup can be measured")

# ---- the form ---------------------------------------------------------------------------

def test_alike(tmp):
	"""What fails alike is one paragraph, with its number, also where others come between."""
	r = run("-e", "cpu-clock:u,sigtrap,page-faults:u,dummy:u,sigtrap,task-clock:u,sigtrap")
	lines = [l for l in r.stdout.splitlines() if not l.startswith("  ")]
	return differ((len(lines), lines[0].startswith("cpu-clock:u and 2 more: cause: "), said(r, "alike"),
		       lines[1:]), (2, True, "dummy:u, task-clock:u", ["page-faults:u: the call opens here"]), r.stdout)

def test_samples(tmp):
	"""A clock that samples neither mode never does: no fix leads there, and what leads there says it."""
	flaw = "the event never samples: user mode and kernel mode are both excluded, in which the clock samples " \
	       "(flaw clock_excluded)"
	r = run("-e", "cpu-clock:u,exclude_user,sample_freq=1000000000")
	bad = differ(said(r, "but"), flaw, r.stdout)
	r = run("-e", "cpu-clock:u,exclude_user,sample_period=1000")
	bad += differ((said(r, "but"), said(run("-e", "cpu-clock:u,exclude_user"), "but")), (flaw, None), r.stdout)
	if machine.lacks("another user") or machine.lacks("restricted users"):
		return bad
	r = run("-e", "cpu-clock:k,sample_freq=100", **as_nobody(tmp))
	return bad + differ((said(r, "fix")[:45], (said(r, "opens instead") or "").endswith("but " + flaw)),
			    ("requires perf_event_paranoid 1 or less, or CA", True), r.stdout)

def test_size(tmp):
	"""A size that is too small hides no member: it is named, and what else is refused changes with it."""
	bad = []
	if not machine.lacks("kernel events"):
		r = run("-e", "cpu-clock,size=1")
		bad = differ((": cause: {size=1 " in r.stdout, said(r, "works")), (True, "-e cpu-clock,size=64"), r.stdout)
	big = attr(exclude_kernel=1) + b"\1" * 200
	big = big[:4] + struct.pack("=I", len(big)) + big[8:]
	fixes = [said(run(*how, big.hex()), "fix") for how in ((), ("--rules-only",))]
	bad += differ(fixes[0], fixes[1], "the kernel's size")
	if machine.lacks("another user") or machine.lacks("restricted users"):
		return bad
	r = run("-e", "cpu-clock,size=1", **as_nobody(tmp))
	return bad + differ(said(r, "works"), "-e cpu-clock,size=64,exclude_kernel", r.stdout)

def test_bits(tmp):
	"""Of a mask, the bits that are wrong; what passes is kept."""
	r = run("-e", "cpu-clock:u,sample_type=0xfffffffffffe")
	works = said(r, "works")
	bad = differ((re.search(r"cause: ({.*?}): ", r.stdout).group(1), works.startswith("-e 'cpu-clock:u,sample_type=TID|")),
		     ("{sample_type=0xfffffe000000 /* PERF_SAMPLE_??? */ /* bits of 0xfffffffffffe */}", True), r.stdout)
	r = run("--rules-only", "-e", "cpu-clock:u,read_format=1<<9|ID")
	return bad + differ("cause: {read_format=0x200 /* PERF_FORMAT_??? */ /* bits of 0x204 */}: " in r.stdout, True,
			    r.stdout)

def test_raw(tmp):
	"""The rule that is blamed is about what helps, and rights that it may require are named."""
	for need in ("kernel events", "restricted users", "tracefs"):
		machine.need(need)
	# that of the scheduler, not of a system call
	with open("/sys/kernel/tracing/events/sched/sched_switch/id") as f:
		at = int(f.read())
	r = run(attr(2, config=at, sample_type=pe.RAW, sample_period=1).hex(), **as_nobody(tmp))
	if machine.setting("paranoid") != 2:
		raise machine.Lack("another perf_event_paranoid")
	return differ(("(rule raw_privilege, EPERM)" in r.stdout, (said(r, "fix") or "").split(", or ")[0]),
		      (True, "requires perf_event_paranoid -1 (perhaps 1 does)"), r.stdout)

def test_log(tmp):
	"""A task that a log names and that is not here is named once, below."""
	path = os.path.join(tmp, "log")
	with open(path, "w") as f:
		f.write("perf_event_open({type=PERF_TYPE_SOFTWARE, size=136, config=PERF_COUNT_SW_DUMMY, "
			"exclude_kernel=1}, 99999999, -1, -1, 0)\n" * 3)
	r = run("--machine=here", path)
	return differ(r.stderr.count("no task 99999999 is here"), 1, r.stderr)

def test_once(tmp):
	"""The rules alone answer in the same form, and make no call."""
	fixes, limit = {}, machine.setting("max_sample_rate")
	for option in ("--once", "--rules-only"):
		r = run(option, "-e", "cpu-clock:u,sample_freq=1000000000")
		lines = r.stdout.splitlines()
		fixes[option] = (": cause: {sample_freq=1000000000}: " in lines[0], lines[1:3], lines[3][:18])
	trace = subprocess.run([PEVTRACE, "-e", "trace=perf_event_open", PEVTRACE, "why", "--rules-only", "-e",
				"cpu-clock:u,sample_freq=1000000000"], capture_output=True, text=True)
	want = (True, ["  fix: {sample_freq=%d}" % limit,
		       "  would work: -e cpu-clock:u,sample_freq=%d" % limit], "  verdict: refused")
	return differ(fixes, {"--once": want, "--rules-only": want}, "the form") + \
		differ("perf_event_open(" in trace.stderr, False, trace.stderr)

def test_progress(tmp):
	"""A long search shows how far it is on a terminal, in place, and leaves nothing there."""
	script, log = os.path.join(tmp, "slow.py"), b""
	hard = ",".join(["cpu-clock:u,__reserved_2=5,aux_output,sigtrap,inherit_thread,sample_type=1<<40,"
			 "use_clockid,clockid=77,read_format=1<<40,aux_sample_size=8"] * 12)
	with open(script, "w") as f:
		f.write("import subprocess, sys\nsys.exit(subprocess.run(%r, stdout=open(%r, 'w')).returncode)\n" %
			([PEVTRACE, "why", "-e", hard], os.path.join(tmp, "slow.out")))
	pid, fd = pty.fork()
	if not pid:
		os.environ["TERM"] = "xterm"
		os.execv(sys.executable, [sys.executable, script])
	try:
		while True:
			log += os.read(fd, 4096)
	except OSError:
		pass
	os.waitpid(pid, 0)
	os.close(fd)
	if not log:
		raise machine.Lack("the search took less than a second")
	return differ((bool(re.match(rb"\r\d+ of 1000 experiments at most", log)),
		       log.endswith(b"\r\033[K"), b"\n" in log), (True, True, False), log)

def tests(tmp):
	return [
		("what works, pasted", lambda: test_pasted(tmp), None),
		("a difference, pasted", lambda: test_difference(tmp), None),
		("a fix measures something", lambda: test_measures(tmp), "another user"),
		("another event, task or CPU is no fix", lambda: test_another(tmp), None),
		("rights that are missing", lambda: test_rights(tmp), "another user"),
		("a cgroup", lambda: test_cgroup(tmp), "whole CPUs"),
		("calls that fail alike", lambda: test_alike(tmp), None),
		("a clock that never samples", lambda: test_samples(tmp), None),
		("a size that is too small", lambda: test_size(tmp), None),
		("the wrong bits", lambda: test_bits(tmp), None),
		("the raw data of a tracepoint", lambda: test_raw(tmp), "another user"),
		("a log of tasks that ended", lambda: test_log(tmp), None),
		("the rules in the same form", lambda: test_once(tmp), None),
		("progress", lambda: test_progress(tmp), None),
	]
