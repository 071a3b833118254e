# SPDX-License-Identifier: LGPL-2.1-or-later
"""What tests/why.py asks of pevtrace why -- COMMAND and of a line of a dump."""

import ctypes
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from causes import as_nobody, ask, blamed, PEVTRACE, rules, run
from checks import differ
import machine
import perf_event as pe

PR_SET_CHILD_SUBREAPER = 36

PROGRAM = """
import ctypes, os, struct, sys
c = ctypes.CDLL(None, use_errno=True)
def o(bits=0, config=9, type=1, period=0, pid=0, cpu=-1, group=-1, flags=0, st=0):
	b = struct.pack("<IIQQQQQIIQQ", type, 72, config, period, st, 0, bits | 0x61, 0, 0, 0, 0)
	return c.syscall(%d, ctypes.create_string_buffer(b, 72), pid, cpu, group,
			 ctypes.c_ulong(flags))
print("out")
print("err", file=sys.stderr)
lead = o()
# a probe: with a bit of tomorrow, then without
o(bits=1 << 63, config=3)
o(config=3)
o(bits=1 << 37)			# sigtrap, three times
o(bits=1 << 37)
o(bits=1 << 37)
o(bits=4, group=lead)		# pinned in a group
o(config=55)
o(group=99)
sys.exit(7)
"""

def test_command(tmp):
	script = os.path.join(tmp, "program.py")
	with open(script, "w") as f:
		f.write(PROGRAM % pe.NR)
	out = os.path.join(tmp, "why.json")
	r = run("--json", "-o", out, "--", sys.executable, script)
	objects = [json.loads(l) for l in open(out)]
	got = [(sum(blamed(o), []), o["command"]["times"], "probe" in o) for o in objects]
	want = [(["__reserved_1"], 1, True), (["remove_on_exec"], 3, False), (["pinned"], 1, False),
		(["config"], 1, False), (["group_fd"], 1, False)]
	bad = differ((r.stdout, machine.complaints(r.stderr), r.returncode), ("out\n", ["err"], 0), "its own output")
	bad += differ(got, want, "what failed")
	bad += differ([o["command"]["error"] == o["kernel"]["error"] for o in objects],
			 [True] * 5, "errors there and here")
	bad += differ(objects[0]["probe"]["differs"], "__reserved_1", "the probe")
	r = run("--", sys.executable, "-c", "pass")
	bad += differ((r.stdout, r.returncode, "no perf_event_open failed" in r.stderr),
			 ("", 1, True), "nothing failed")
	r = run("--", "/nonexistent")
	return bad + differ((r.returncode, "cannot run" in r.stderr), (2, True), "no program")

ORPHAN = """
import ctypes, os, struct
c = ctypes.CDLL(None, use_errno=True)
ready, go = os.pipe()
child = os.fork()
if not child:
	os.close(go)
	os.read(ready, 1)
	os._exit(0)
b = struct.pack("<IIQQQQQIIQQ", 1, 72, 55, 0, 0, 0, 0x61, 0, 0, 0, 0)
c.syscall(%d, ctypes.create_string_buffer(b, 72), child, -1, -1, ctypes.c_ulong(0))
"""

def test_orphan():
	"""A child of the command that nobody has waited for is no second cause."""
	ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	r = run("--json", "--", sys.executable, "-c", ORPHAN % pe.NR)
	ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	status = os.waitpid(-1, 0)[1]
	o = json.loads(r.stdout)
	return differ((blamed(o), status, r.returncode), ([["config"]], 0, 0), r.stderr)

def test_perf(tmp):
	"""why explains what perf stat reports as not supported."""
	if os.path.exists("/sys/bus/event_source/devices/cpu"):
		raise machine.Lack("there is a cycle counter")
	out = os.path.join(tmp, "perf.json")
	r = run("--json", "-o", out, "--", "perf", "stat", "-x,", "-e",
		"cycles,task-clock,instructions", "true")
	unsupported = r.stderr.count("<not supported>")
	objects = [json.loads(l) for l in open(out)]
	return differ(([rules(o) for o in objects if "probe" not in o], r.returncode),
			 ([["no_pmu"]] * unsupported, 0), r.stderr) + \
		differ(unsupported, 2, "events that perf could not have") + same_cause()

def same_cause():
	"""Calls refused for one cause are told once; another event is not called what works."""
	text = run("--", "perf", "stat", "-x,", "-e", "cycles,instructions", "true").stdout
	return differ([text.count(words) for words in (
		"cpu-cycles and 1 more: cause: {type=PERF_TYPE_HARDWARE}: No PMU ", "  alike: instructions\n",
		"another event opens: cpu-clock\n", "works:", "fix: requires a PMU with such events: ",
		"perf: measured nothing\n")],
		[1, 1, 1, 0, 1, 1], text) + \
		differ("PERF_COUNT_SW_CPU_CLOCK /* was PERF_COUNT_HW_BRANCH_MISSES */" in
			  run("-v", "-e", "branch-misses").stdout, True, "the old event has its name") + sampled()

def sampled():
	"""perf record falls back to a clock, having lowered precise_ip."""
	text = run("--", "perf", "record", "-o", "/dev/null", "true").stdout
	measured = re.search("^perf: measured (.*)", text, re.M)
	fell = re.search("^  fell back: (.*)", text, re.M)
	return differ((measured and measured.group(1).startswith("cpu-clock"), fell and bool(re.match(
		r"cpu-clock\S*, another event.* precise_ip lowered from 3 to 0.*, in place of cpu-cycles:ppp",
		fell.group(1)))), (True, True), text)

def test_perf_nobody(tmp):
	"""perf retries with exclude_kernel, which succeeds."""
	machine.need("restricted users")
	kw = as_nobody(tmp)
	r = run("--json", "--", "perf", "stat", "-x,", "-e", "task-clock", "true", **kw)
	objects = [json.loads(l) for l in r.stdout.splitlines()]
	return differ([(rules(o), blamed(o), "exclude_kernel" in o["probe"]["differs"])
			  for o in objects], [(["kernel_privilege"], [["exclude_kernel"]], True)],
			 r.stderr) + differ(r.returncode, 0, "status") + \
		differ("task-clock:u" in r.stderr, True, r.stderr) + told_nobody(kw)

def told_nobody(kw):
	text = run("--", "perf", "stat", "-x,", "-e", "task-clock,cs", "true", **kw).stdout
	return differ(text.splitlines()[-2:], [
		"perf: measured task-clock:u, context-switches:u (the event counts 0: flaw switches_excluded)",
		"  fell back: exclude_kernel=1 (was 0) as :u does: the kernel is not measured, exclude_hv=1 (was 0), "
		"in place of task-clock, context-switches"], text)

def test_killed():
	r = run("--", "sh", "-c", "kill -9 $$")
	return differ((r.returncode, "'sh' was killed by SIGKILL\n" in r.stderr), (1, True), r.stderr)

FALLS_BACK = PROGRAM.split("print(")[0] + """
o(bits=3 << 15 | 1 << 20 | 1 << 37, config=9, period=7)
os.read(o(bits=0, config=9, period=7), 8)
"""

def test_fallbacks(tmp):
	"""What a program dropped after a refusal, with the values; and an error that differs here."""
	script = os.path.join(tmp, "falls.py")
	with open(script, "w") as f:
		f.write(FALLS_BACK % pe.NR)
	r = run("--", sys.executable, script)
	bad = differ(r.stdout.splitlines()[-2:], [
		"%s: measured dummy:u" % os.path.basename(sys.executable),
		"  fell back: precise_ip lowered from 3 to 0, exclude_guest=0 (was 1), sigtrap=0 (was 1), "
		"in place of dummy:uppp"], r.stdout + r.stderr)
	bad += differ("in the command" in r.stdout, False, r.stdout)
	dump = os.path.join(tmp, "other.dump")
	subprocess.run([PEVTRACE, "--json", "-o", dump, "-e", "fault=perf_event_open:error=EBUSY:when=1",
			sys.executable, script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	line = [i for i, l in enumerate(open(dump), 1) if '"error":"EBUSY"' in l][0]
	text = run("%s:%d" % (dump, line)).stdout
	return bad + differ("  in the dump: -1 EBUSY (Device or resource busy) (injected" in text, True, text)

TOLD = """
lead = o()
os.close(lead)
o(group=lead)
o(group=99)
o(pid=99999999)
o(flags=4, pid=lead)		# of a cgroup, on any CPU
c.syscall(%d, ctypes.c_void_p(8), 0, -1, -1, ctypes.c_ulong(0))
""" % pe.NR

def test_told(tmp):
	"""Descriptors and tasks that were none have the trace's numbers; what is not tried has a fix."""
	script, dump = os.path.join(tmp, "told.py"), os.path.join(tmp, "told")
	with open(script, "w") as f:
		f.write(PROGRAM.split("print(")[0] % pe.NR + TOLD)
	subprocess.run([PEVTRACE, "--json", "-o", dump, sys.executable, script],
		       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	text = run(dump).stdout
	explained = " ".join(subprocess.run([PEVTRACE, "explain", dump], capture_output=True, text=True).stdout.split())
	bad = []
	for cause, fix in ((r"group_fd=\d", "{group_fd=-1}"),
			   ("pid=99999999", "use a running task of the same user: no such task"),
			   ("cpu=-1", "{cpu=0}, and so on: one event for each CPU")):
		if not re.search(r"cause: {%s}: .*\n(?:  and then: .*\n)?  fix: %s" % (cause, re.escape(fix)), text):
			bad.append("%s, %s: %s" % (cause, fix, text))
		if fix[0] == "{" and "Remedy: %s." % fix not in explained:
			bad.append("explain says another remedy than %s: %s" % (fix, explained))
	if "{attr_uptr=0x8 " not in explained or "cause: {attr_uptr=0x8 " not in text or "+attr_uptr" in text:
		bad.append("the address of an attr: %s, %s" % (explained, text))
	failed = [i for i, l in enumerate(open(dump), 1) if "perf_event_open" in l and '"ESRCH"' in l]
	r = run("--rules-only", "%s:%d" % (dump, failed[0]))
	return bad + differ(": cause: {pid=99999999}: " in r.stdout, True, r.stdout)

MEASURES = """
c.syscall.restype = ctypes.c_long
os.close(o(config=0))		# a probe of the same name
o(bits=1 << 63, config=0, type=1)	# refused, then replaced by a probe
os.close(o(config=0))
fd = o(config=0)
os.read(fd, 8)
o(config=2)			# open until the end
"""

def test_probes(tmp):
	"""What was measured, although a probe had its name; probes are in one line, -v explains them."""
	script = os.path.join(tmp, "measures.py")
	with open(script, "w") as f:
		f.write(PROGRAM.split("print(")[0] % pe.NR + MEASURES)
	text = run("--", sys.executable, script).stdout
	full = run("-v", "--", sys.executable, script).stdout
	name = os.path.basename(sys.executable)
	return differ((text, "rule reserved_bits" in full), (
		"%s: measured cpu-clock:u, page-faults:u\n"
		"  probes: cpu-clock:u: refused in tests of what opens; see -v\n" % name, True), full)

OWN = """
import resource
c.syscall.restype = ctypes.c_long
resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))
while o(config=2) >= 0:
	pass
"""

def test_own(tmp):
	"""What the program itself holds of what it lacks: descriptors."""
	script = os.path.join(tmp, "own.py")
	with open(script, "w") as f:
		f.write(PROGRAM.split("print(")[0] % pe.NR + OWN)
	r = run("--", sys.executable, script)
	bad = differ("\n  fix: raise the limit with ulimit -n, or close one of the command's own events first: "
		     "fds 3-" in r.stdout, True, r.stdout)
	return bad

def test_dump(tmp):
	"""A line of a dump with its group, and a call that failed only there."""
	script, dump = os.path.join(tmp, "program.py"), os.path.join(tmp, "dump")
	with open(script, "w") as f:
		f.write(PROGRAM % pe.NR)
	subprocess.run([PEVTRACE, "--json", "-o", dump, sys.executable, script],
		       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	lines = [(i, json.loads(l)) for i, l in enumerate(open(dump), 1)]
	failed = [i for i, o in lines if o.get("call") == "perf_event_open" and "error" in o]
	bad = differ(len(failed), 7, "failed")
	o, status = ask("%s:%d" % (dump, failed[4]))
	bad += differ((rules(o), blamed(o), o["dump"]["error"], status),
			 (["group_pinned"], [["pinned"]], "EINVAL", 0), "the group")
	if os.uname().machine != "x86_64":
		return bad
	with open(script, "w") as f:
		f.write(PROGRAM.split("print(")[0] % pe.NR + """
b = struct.pack("<IIQQQQQIIQQ", 5, 72, 0, 0, 0, 0, 33, 0, 3, 4096, 4)
while c.syscall(%d, ctypes.create_string_buffer(b, 72), 0, -1, -1, ctypes.c_ulong(0)) >= 0:
	pass
""" % pe.NR)
	out = os.path.join(tmp, "why.json")
	run("--json", "-o", out, "--", sys.executable, script)
	o = json.loads(open(out).read())
	text = run("--", sys.executable, script).stdout
	bad += differ("  in the command: -1 ENOSPC (No space left on device)\n" in text, True, text)
	bad += differ(bool(re.search("\n  fix: close one of the command's own events first: fds 3", text)), True,
		      text)
	return bad + differ((o["command"]["error"], o["verdict"], o.get("perhaps")),
			       ("ENOSPC", "opens", "breakpoint_slots"), "a fifth breakpoint there")
