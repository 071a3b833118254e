#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace why --once and --rules-only against the kernel: every rule that can be provoked here, with
attrs that are packed here and calls that this script makes itself."""

import errno
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from checks import differ, run_all, start
import machine
from machine import complaints
from perf_event import BRANCH, CALLCHAIN, NR, PHYS_ADDR, RAW, READ, REGS_INTR, REGS_USER, \
	STACK_USER, TID, TP, attr, bp, call, forbid, name_of, pmu_type
from programs import wait_for_read
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE")

def run(*args, program=None, verb=("why", "--once"), **kw):
	return subprocess.run([program or PEVTRACE, *verb, *args],
			      stdout=subprocess.PIPE, stderr=subprocess.PIPE,
			      universal_newlines=True, **kw)

def objects(*args, **kw):
	r = run("--json", *args, **kw)
	if complaints(r.stderr):
		raise AssertionError("%s: %s" % (args, complaints(r.stderr)))
	return [json.loads(l) for l in r.stdout.splitlines()], r.returncode

def judge(b, rule, args=(), oracle=None, **kw):
	"""Compare the predicted rule and errno of an attr with those of the kernel."""
	text = b if isinstance(b, str) else b.hex()
	all_, status = objects(*args, text, **kw)
	o = all_[-1]
	said = o["predicted"]
	why = differ(said.get("rule"), rule, "rule")
	why += differ(status, 0 if said["opens"] else 1, "status")
	why += differ(o["verdict"], "opens" if said["opens"] else "refused", "verdict")
	why += differ(said.get("error"), o["kernel"].get("error"), "kernel")
	if oracle is not None:
		why += differ(said.get("error", "opens"), name_of(oracle), "our own call")
	return why and why + [str(o)[-900:]]

def plain(b, rule, **kw):
	"""Check an attr that this script can open too, with default arguments."""
	fd = call(b)
	if fd >= 0:
		os.close(fd)
	return judge(b, rule, oracle=fd, **kw)

# ---- the attr ----------------------------------------------------------------

def test_copy():
	cases = [
		(attr(size=63), "size_range"), (attr(size=4097), "size_range"),
		(attr(size=144, tail=1), "size_tail"), (attr(reserved_1=1), "reserved_bits"),
		(attr(reserved_2=1), "reserved_bits"), (attr(aux_action=8), "reserved_bits"),
		(attr(sample_type=1 << 25), "sample_type_bits"),
		(attr(read_format=1 << 5), "read_format_bits"),
		(attr(sample_type=BRANCH, branch_sample_type=1 << 20), "branch_bits"),
		(attr(sample_type=BRANCH, branch_sample_type=1), "branch_kind"),
		(attr(sample_type=REGS_USER), "user_regs"),
		(attr(sample_type=REGS_USER, sample_regs_user=1 << 12), "user_regs"),
		(attr(sample_type=STACK_USER, sample_stack_user=13), "user_stack_size"),
		(attr(sample_type=STACK_USER, sample_stack_user=65536), "user_stack_size"),
		(attr(sample_type=STACK_USER, sample_stack_user=65528), None),
		(attr(sample_type=REGS_INTR), "intr_regs"),
		(attr(sample_type=1 << 14 | 1 << 24), "weights"),
		(attr(inherit_thread=1), "inherit_thread"),
		(attr(remove_on_exec=1, enable_on_exec=1), "remove_and_enable"),
		(attr(sigtrap=1), "sigtrap_exec"),
		(attr(size=64, config=9), None), (attr(size=0, config=9), None),
		(attr(size=65), None), (attr(size=4096), None),
	]
	if os.uname().machine != "x86_64":
		cases = [c for c in cases if c[1] != "user_regs"]
	return sum((plain(b, rule) for b, rule in cases), [])

def test_fault():
	why = judge("NULL", "attr_head_fault", oracle=call(None))
	why += judge(attr()[:100], "attr_fault")
	o = objects(attr(size=60).hex())[0][0]
	text = run("-v", attr(size=60).hex()).stdout
	if "kernel wrote back size=" not in text:
		why.append("the size that the kernel wrote is not told: " + text)
	return why + differ(o["kernel"]["error"], "E2BIG", "kernel")

def test_limits():
	rate, stack = machine.setting("max_sample_rate"), machine.setting("max_stack")
	return plain(attr(freq=1, sample_freq=rate + 1), "freq_limit") + \
		plain(attr(freq=1, sample_freq=rate, disabled=1), None) + \
		plain(attr(sample_period=1 << 63), "period_sign") + \
		plain(attr(sample_type=CALLCHAIN, sample_max_stack=stack + 1), "max_stack") + \
		plain(attr(sample_max_stack=60000), None)

def test_event():
	cases = [
		(attr(inherit=1, sample_type=READ), "inherit_read_tid"),
		(attr(inherit=1, sample_type=READ | TID), None),
		(attr(99), "no_pmu"), (attr(0, config=6 << 32), "no_pmu"),
		(attr(config=99), "software_config"),
		(attr(sample_type=BRANCH, branch_sample_type=8), "software_branch"),
		(attr(config=9, precise_ip=3), None),
		(attr(TP, config=1 << 40), "tracepoint_id"),
		(attr(TP, config=1 << 40, sample_type=BRANCH, branch_sample_type=8),
		 "tracepoint_branch"),
		(attr(use_clockid=1, clockid=2), "clockid"), (attr(clockid=99), None),
		(attr(use_clockid=1, clockid=0), None),
		(attr(aux_output=1), "aux_output"), (attr(aux_action=6), "aux_pause_resume"),
		(attr(aux_action=1), "aux_start_paused"),
		(attr(aux_action=2), "aux_leader"), (attr(aux_sample_size=8), "aux_leader"),
	]
	if os.uname().machine == "x86_64":
		cases.append((attr(sample_regs_intr=1 << 32), "extended_regs"))
	if not os.path.exists("/sys/bus/event_source/devices/cpu"):
		cases += [(attr(0), "no_pmu"), (attr(3), "no_pmu"), (attr(4), "no_pmu")]
	return sum((plain(b, rule) for b, rule in cases), [])

# ---- breakpoints, tracepoints, other PMUs ---------------------------------------

def test_breakpoints():
	top = 0xffff800000000000
	kernel = "kernel_privilege" if machine.lacks("kernel events") else \
		"breakpoint_kernel_privilege" if machine.lacks("kernel breakpoints") else None
	cases = [
		(bp(), None), (bp(config=77), None), (bp(bp_addr=0), None),
		(bp(sample_type=BRANCH, branch_sample_type=8), "breakpoint_branch"),
		(bp(bp_type=0), "breakpoint_none"), (bp(bp_type=7), "breakpoint_none"),
		(bp(bp_len=0), "breakpoint_wrap"),
		(bp(bp_addr=(1 << 64) - 2), "breakpoint_wrap"),
		(bp(bp_addr=0xfffffe0000000000), "breakpoint_entry"),
		(bp(bp_type=1), "breakpoint_type"), (bp(bp_type=8), "breakpoint_type"),
		(bp(bp_type=4), "breakpoint_exec_len"), (bp(bp_type=4, bp_len=8), None),
		(bp(bp_len=3), "breakpoint_len"), (bp(bp_addr=0x1008, bp_len=16), "breakpoint_range"),
		(bp(bp_addr=0x1001), "breakpoint_align"),
		(bp(bp_addr=top), "breakpoint_kernel"), (bp(bp_addr=top, exclude_kernel=0), kernel),
		(bp(use_clockid=1, clockid=0), "clockid_nmi"),
	]
	with open("/proc/cpuinfo") as f:
		wide = "bpext" in f.read()
	cases.append((bp(bp_len=16), None if wide else "breakpoint_range_cpu"))
	return sum((plain(b, rule) for b, rule in cases), [])

def test_slots():
	"""Open a fifth breakpoint on one task, also an invalid one."""
	fds = []
	try:
		while len(fds) < 20:
			fd = call(bp())
			if fd < 0:
				break
			fds.append(fd)
		me = "-p%d" % os.getpid()
		return differ(name_of(fd), "ENOSPC", "the fifth") + \
			judge(bp(), "breakpoint_slots", [me], oracle=fd) + \
			judge(bp(bp_len=3), "breakpoint_slots", [me], oracle=call(bp(bp_len=3)))
	finally:
		for fd in fds:
			os.close(fd)

def test_list():
	"""Each event of a list is opened after those before it, as in pevtrace open."""
	four = ",".join("mem:0x%x:u" % (0x1000 * i) for i in range(1, 5))
	why = []
	for text, want in ((four + ",mem:0x5000:w:u", [None] * 4 + ["breakpoint_slots"]),
			   ("{%s,mem:0x5000:u}" % four, [None] * 4 + ["breakpoint_slots"]),
			   ("cpu-clock:u,%s,dummy:u,mem:0x5000:x:u,dummy:u" % four,
			    [None] * 6 + ["breakpoint_slots", None]),
			   ("{cpu-clock:u,%s},{dummy:u,mem:0x5000:u}" % four, [None] * 6 + ["breakpoint_slots"]),
			   ("mem:0x1000:w:u,mem:0x2000:u", [None, None])):
		all_, status = objects("-e", text)
		why += differ([o["predicted"].get("rule") for o in all_], want, text)
		why += differ([o["verdict"] for o in all_],
			      ["refused" if w else "opens" for w in want], text)
		why += differ(status, 1 if any(want) else 0, text)
	all_, _ = objects("-e", "{cs,dummy}", "-e", "faults", "-e", "{cs,dummy}")
	why += differ([(o["label"], o["args"]["group_fd"]) for o in all_],
		      [("cs", -1), ("dummy", 3), ("faults", -1), ("cs", -1), ("dummy", 3)], "-e -e")
	# a refused leader refuses its group
	for options in ([], ["--rules-only"]):
		all_, status = objects("-e", "{dummy:u,__reserved_1=1,cs:u}", verb=["why", *(options or ["--once"])])
		why += differ(([(o["verdict"], o["predicted"].get("rule")) for o in all_], status),
			      ([("refused", "reserved_bits"), ("refused", "group_not_event")], 1),
			      "a leader refused %s" % options)
		why += differ(all_[1].get("not_asked"), "--rules-only" if options else
			      "its group leader is refused", "not asked")
	# as many as there are descriptors
	few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))
	all_, _ = objects("-e", ",".join(["dummy:u"] * 30), preexec_fn=few)
	got = [(o["predicted"].get("error"), o["kernel"].get("error")) for o in all_]
	return why + differ((got[0], got[-1], [g for g in got if g[0] != g[1]]),
			    ((None, None), ("EMFILE", "EMFILE"), []), "descriptors")

def test_uprobe(tmp):
	kind = pmu_type("uprobe")
	path = os.path.join(tmp, "probed")
	with open(path, "wb") as f:
		f.write(b"\0" * 4096)
	def up(where, offset=0, config=0):
		return "{type=%d, size=136, config=0x%x, uprobe_path=%s, probe_offset=%d}" % \
			(kind, config, '"%s"' % where if where is not None else "NULL", offset)
	cases = [
		(up(path), None), (up(path, config=1), None), (up(None), "uprobe_no_path"),
		(up(""), "uprobe_path_empty"), (up(tmp + "/none"), "uprobe_open"),
		(up(path + "/x"), "uprobe_open"), (up(tmp), "uprobe_file"),
		(up(path, 5000), "uprobe_offset"), (up(path, config=1 << 32), "uprobe_counter"),
		(up("/proc/version"), "uprobe_pages"), (up("/" + "x" * 3000), "uprobe_open"),
		("{type=%d, size=136, uprobe_path=0x10}" % kind, "uprobe_path_fault"),
		("{type=%d, size=136, sample_type=PERF_SAMPLE_BRANCH_STACK, "
		 "branch_sample_type=PERF_SAMPLE_BRANCH_ANY}" % kind, "probe_branch"),
	]
	return sum((judge(b, rule) for b, rule in cases), [])

def test_msr():
	kind = pmu_type("msr")
	if not kind:
		raise machine.Lack("no msr PMU")
	return plain(attr(kind), None) + plain(attr(kind, sample_period=1), "msr_sampling") + \
		plain(attr(kind, config=77), "msr_config") + \
		plain(attr(kind, exclude_user=1), "no_exclude") + \
		plain(attr(6, config=0), None) + plain(attr(6, config=1), "clock_config")

# ---- the other arguments ----------------------------------------------------------

def test_arguments():
	zombie = subprocess.Popen(["true"])
	os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
	b = attr(disabled=1)
	cases = [
		(["--flags=16"], (0, -1, -1, 16), "flags_unknown"),
		(["--flags=0x80000000"], (0, -1, -1, 1 << 31), "flags_unknown"),
		(["--flags=PERF_FLAG_PID_CGROUP", "-p-1", "-C0"], (-1, 0, -1, 4), "cgroup_target"),
		(["--flags=PERF_FLAG_PID_CGROUP", "-p0"], (0, -1, -1, 4), "cgroup_target"),
		(["--group-fd=-2"], (0, -1, -2, 0), "group_not_event"),
		(["--group-fd=0"], (0, -1, 0, 0), "group_not_event"),
		(["--group-fd=99", "--flags=FD_NO_GROUP"], (0, -1, 99, 1), "group_not_event"),
		(["-p99999999"], (99999999, -1, -1, 0), "no_task"),
		(["-p-2"], (-2, -1, -1, 0), "no_task"),
		(["-p-1"], (-1, -1, -1, 0), "cpu_range"), (["-C9999"], (0, 9999, -1, 0), "cpu_range"),
		(["-C-2"], (0, -2, -1, 0), "cpu_range"),
		(["-p%d" % zombie.pid], (zombie.pid, -1, -1, 0), "task_exiting"),
		(["-p-1", "-C0"], (-1, 0, -1, 0), "cpu_privilege" if machine.lacks("whole CPUs") else None),
		(["-p%d" % os.getpid(), "-C0"], (os.getpid(), 0, -1, 0), None),
	]
	why = []
	for args, raw, rule in cases:
		fd = call(b, *raw)
		if fd >= 0:
			os.close(fd)
		why += judge(b, rule, args, oracle=fd)
	why += judge("NULL", "flags_unknown", ["--flags=16"])
	both = attr(sigtrap=1, remove_on_exec=1)
	why += judge(both, "sigtrap_target", ["-p-1", "-C0"], oracle=call(both, -1, 0))
	zombie.wait()
	return why

def test_order():
	"""Of two errors, the one that the kernel checks first is reported."""
	cases = [
		(attr(99, sample_type=1 << 25), ["-p99999999"], "sample_type_bits"),
		(attr(99), ["-p99999999"], "no_task"), (attr(99), ["-C9999"], "cpu_range"),
		(attr(99), ["--group-fd=-2", "-p99999999"], "group_not_event"),
		(bp(bp_type=0, sample_type=BRANCH, branch_sample_type=8), [], "breakpoint_branch"),
		(attr(99, use_clockid=1, clockid=99), [], "no_pmu"),
		(attr(99), ["--cgroup=/tmp", "-C0"], "no_pmu"),
	]
	return sum((judge(b, rule, args) for b, args, rule in cases), [])

def test_descriptors():
	"""With as many descriptors open as the limit allows."""
	# a program cannot start without descriptors: lower the limit later
	r, w = os.pipe()
	p = subprocess.Popen([PEVTRACE, "why", "--once", "--json", "-"], stdin=r,
			     stdout=subprocess.PIPE, universal_newlines=True)
	os.close(r)
	wait_for_read(p.pid)
	used = [int(fd) for fd in os.listdir("/proc/%d/fd" % p.pid)]
	resource.prlimit(p.pid, resource.RLIMIT_NOFILE, (max(used) + 1, max(used) + 1))
	os.write(w, attr().hex().encode())
	os.close(w)
	o = json.loads(p.communicate()[0])
	return differ(o["predicted"].get("rule"), "no_descriptor", "rule") + \
		differ(o["kernel"].get("error"), "EMFILE", "kernel") + \
		differ(o["verdict"], "refused", "verdict")

def test_cgroup(tmp):
	why = judge(attr(), "cgroup_descriptor", ["--cgroup=" + tmp, "-C0"])
	for line in open("/proc/self/mounts"):
		_, where, kind, options = line.split()[:4]
		if kind == "cgroup":
			perf = "perf_event" in options.split(",")
			why += judge(attr(), None if perf else "cgroup_hierarchy",
				     ["--cgroup=" + where, "-C0"])
		elif kind == "cgroup2":
			o = objects("--cgroup=" + where, "-C0", attr().hex())[0][0]
			why += differ(o["verdict"] in ("opens", "refused"), True, where)
	return why

# ---- groups --------------------------------------------------------------------------

def test_leader():
	a = attr(config=9)
	cases = [
		(a, attr(), None), (a, attr(inherit=1), "group_inherit"),
		(a, attr(use_clockid=1, clockid=1), "group_clock"),
		(a, attr(pinned=1), "group_pinned"), (a, attr(exclusive=1), "group_pinned"),
		(attr(use_clockid=1, clockid=1), attr(use_clockid=1, clockid=4), "group_clock"),
		(a, bp(), None), (attr(pinned=1), attr(), None),
	]
	why = sum((judge(b, rule, ["--leader=" + l.hex()]) for l, b, rule in cases), [])
	# FD_OUTPUT with a leader that nobody has mapped
	return why + judge(attr(), "output_ring", ["--leader=" + a.hex(), "--flags=FD_OUTPUT"]) + \
		judge(attr(write_backward=1), "output_backward",
		      ["--leader=" + a.hex(), "--flags=FD_OUTPUT|FD_NO_GROUP"]) + \
		judge(attr(), None, ["--leader=" + a.hex(), "--flags=FD_NO_GROUP"])

GROUPS = """
import ctypes, mmap, os, struct
c = ctypes.CDLL(None, use_errno=True)
def o(pid=0, cpu=-1, group=-1, flags=0, bits=0, config=9, rf=0, clock=0):
	b = struct.pack("<IIQQQQQIIQQQQIi", 1, 96, config, 0, 0, rf, bits | 0x61, 0, 0, 0, 0, 0, 0,
			0, clock)
	return c.syscall(%d, ctypes.create_string_buffer(b, 96), pid, cpu, group,
			 ctypes.c_ulong(flags))
CLOCK = 1 << 25
lead = o()
member = o(group=lead)
o(group=member)			# not a leader
o(group=lead, bits=CLOCK, clock=1)
o(cpu=0, group=lead)
o(pid=os.getppid(), group=lead)
o(group=lead, bits=4)		# pinned
o(group=lead, bits=2)		# inherit
wide = o(pid=-1, cpu=0)
o(group=wide)
o(pid=-1, cpu=0, group=wide)
o(group=lead, flags=2)		# output without a ring
m = mmap.mmap(lead, 8192)
o(group=lead, flags=2)
o(group=lead, flags=3, cpu=0)
o(group=lead, flags=3, bits=1 << 27)
os.close(member)
o(group=member)			# closed
big = o(rf=0x1f)
while o(group=big, rf=0x1f) >= 0:
	pass
"""

ELSEWHERE = """
import ctypes, struct
c = ctypes.CDLL(None, use_errno=True)
def o(pid, cpu, flags, type, path=0):
	b = struct.pack("<IIQQQQQIIQ", type, 64, 0, 0, 0, 0, 0x61, 0, 0, path)
	c.syscall(%d, ctypes.create_string_buffer(b, 64), pid, cpu, -1, ctypes.c_ulong(flags))
o(900, 0, 4, 1)
path = ctypes.create_string_buffer(b"/proc/self/exe")
o(0, -1, 0, %d, ctypes.addressof(path))
"""

def test_elsewhere(tmp):
	"""A cgroup's descriptor and a path in /proc were those of the traced process."""
	machine.need("tracing")
	dump = os.path.join(tmp, "elsewhere")
	uprobe = pmu_type("uprobe")
	subprocess.run([PEVTRACE, "--json", "-o", dump, "-e", "trace=perf", sys.executable, "-c",
			ELSEWHERE % (NR, uprobe)], check=True)
	cgroup, path = [i for i, l in enumerate(open(dump), 1) if '"perf_event_open"' in l]
	(got,), status = objects("%s:%d" % (dump, cgroup))
	why = differ((got["dump"].get("error"), got["verdict"], got.get("perhaps"), status),
		     ("EBADF", "unforeseen", "cgroup_descriptor", 1), "a cgroup that is not here")
	(got,), _ = objects("%s:%d" % (dump, path))
	return why + differ("traced process" in got.get("not_asked", ""), True, got)

def test_dump(tmp):
	"""Groups in a dump: each call has the result that it has in the dump."""
	machine.need("tracing")
	soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
	if min(hard, 1 << 20) < 1000 and hard != resource.RLIM_INFINITY:
		raise machine.Lack("needs 1000 descriptors")
	dump = os.path.join(tmp, "dump")
	script = os.path.join(tmp, "groups.py")
	with open(script, "w") as f:
		f.write(GROUPS % NR)
	subprocess.run([PEVTRACE, "--json", "-o", dump, "-e", "trace=perf", sys.executable, script],
		       check=True, preexec_fn=lambda:
		       resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard)))
	why, rules, n = [], set(), 0
	lines = list(enumerate(open(dump), 1))
	opens = [(i, o) for i, o in ((i, json.loads(l)) for i, l in lines)
		 if o.get("call") == "perf_event_open"]
	for i, o in opens:
		if o["raw"][3] != "0xffffffffffffffff" and 0 <= o["ret"] and i > opens[25][0]:
			continue # the many members of the large group
		(got,), _ = objects("%s:%d" % (dump, i))
		n += 1
		rules.add(got["predicted"].get("rule"))
		why += differ(got["predicted"].get("error"), o.get("error"), "line %d" % i)
		why += differ(got["dump"].get("error"), o.get("error"), "line %d, dump" % i)
		if "kernel" in got and got["predicted"].get("rule") != "group_size":
			why += differ(got["kernel"].get("error"), o.get("error"),
				      "line %d, kernel" % i)
	want = {None, "group_member", "group_clock", "group_cpu", "group_task", "group_pinned",
		"group_inherit", "output_ring", "output_cpu", "output_backward",
		"group_not_event", "group_size"}
	why += differ(sorted(map(str, rules)), sorted(map(str, want)), "rules")
	why += differ(n > 15, True, "calls")
	r = run("%s:1" % dump)
	return why + differ((r.returncode, "the nearest is" in r.stderr), (2, True), "line 1")

UNREAD = GROUPS[:GROUPS.index("lead = o()")] + """
lead = o(bits=CLOCK, clock=1)
o(group=lead, bits=CLOCK, clock=1)
"""

def test_unread(tmp):
	"""A leader whose attr is not in the dump: its members are unknown, not 0."""
	machine.need("tracing")
	dump, script = os.path.join(tmp, "unread"), os.path.join(tmp, "unread.py")
	with open(script, "w") as f:
		f.write(UNREAD % NR)
	subprocess.run([PEVTRACE, "--json", "-o", dump, "-e", "trace=perf", sys.executable, script],
		       check=True)
	with open(dump) as f:
		lines = [json.loads(l) for l in f]
	(lead, at), (member, line) = [(o, i) for i, o in enumerate(lines, 1)
				      if o.get("call") == "perf_event_open"]
	why = differ((lead["ret"] >= 0, member["ret"] >= 0), (True, True), "both opened")
	lead["memory"] = []
	with open(dump, "w") as f:
		f.writelines(json.dumps(o) + "\n" for o in lines)
	(got,), _ = objects("%s:%d" % (dump, line))
	return why + differ(got["predicted"], {"opens": True}, "predicted") + \
		differ("kernel" in got, False, "asked") + \
		differ("could not be read" in json.dumps(got), True, "why not")

def test_inherited():
	"""An inherited event: check reports what it cannot know."""
	child = subprocess.Popen(["sleep", "100"])
	lead = call(attr(config=9, disabled=1), child.pid)
	os.set_inheritable(lead, True)
	args = ["--group-fd=%d" % lead, "-p%d" % child.pid]
	(o,), status = objects(*args, attr(disabled=1).hex(), close_fds=False)
	why = differ((o["verdict"], status), ("opens", 0), "living")
	why += differ("group_task" in o["unknown"], True, "unknown")
	child.kill()
	child.wait()
	(o,), status = objects(*args, attr(disabled=1).hex(), close_fds=False)
	if o["kernel"].get("error") == "ENODEV":
		# the leader's task has ended, which no file shows
		why += differ(o["predicted"].get("rule"), "no_task", "dead")
		why += differ((o["verdict"], o.get("perhaps"), status),
			      ("unforeseen", "group_gone", 1), "dead")
	os.close(lead)
	return why

# ---- as an ordinary user ---------------------------------------------------------------

def test_nobody(tmp):
	program = os.path.join(tmp, "pevtrace")
	shutil.copy(PEVTRACE, program)
	os.chmod(tmp, 0o755)
	kw = {"program": program, "user": sp.NOBODY, "group": sp.NOBODY, "extra_groups": [],
	      "cwd": "/"}
	level = machine.setting("paranoid")
	def at(least, rule):
		return rule if level >= least else None
	ek = {"exclude_kernel": 1, "exclude_hv": 1}
	uprobe = pmu_type("uprobe")
	cases = [
		(attr(**ek), [], None), (attr(), [], at(2, "kernel_privilege")),
		(attr(namespaces=1, **ek), [], "namespaces_privilege"),
		(attr(sample_type=PHYS_ADDR, **ek), [], at(2, "phys_addr_privilege")),
		(attr(sample_type=CALLCHAIN, **ek), [], None),
		(attr(ksymbol=1, bpf_event=1, text_poke=1, cgroup=1, context_switch=1, **ek), [], None),
		(attr(sample_type=BRANCH, branch_sample_type=8, exclude_kernel=1), [],
		 at(2, "branch_privilege") or "software_branch"),
		(attr(sample_type=BRANCH, branch_sample_type=8, **ek), [], "software_branch"),
		(attr(**ek), ["-p-1", "-C0"], at(1, "cpu_privilege")),
		(attr(99, **ek), ["-p-1", "-C0"], "no_pmu"),
		(attr(99), [], at(2, "kernel_privilege") or "no_pmu"),
		(attr(**ek), ["-p%d" % os.getpid()], "task_privilege"),
		(attr(sigtrap=1, remove_on_exec=1, **ek), ["-p%d" % os.getpid()], "task_privilege"),
		(attr(sample_type=1 << 25), [], "sample_type_bits"),
		(bp(bp_addr=0xffff800000000000), [], "breakpoint_kernel"),
	]
	if level < 2:
		cases.append((bp(bp_addr=0xffff800000000000, exclude_kernel=0), [],
			      "breakpoint_kernel_privilege"))
	if uprobe:
		cases.append((attr(uprobe, **ek), [], "uprobe_privilege"))
	why = []
	# CAP_KILL is mentioned only if the event sends a signal
	for signal in (0, 1):
		b = attr(sigtrap=signal, remove_on_exec=signal, **ek)
		o = objects("-p%d" % os.getpid(), b.hex(), **kw)[0][0]
		why += differ("CAP_KILL" in " ".join(o["predicted"]["here"]), bool(signal),
			      "sigtrap=%d: %s" % (signal, o["predicted"]))
	return why + sum((judge(b, rule, args, **kw) for b, args, rule in cases), [])

def test_raw():
	"""Raw data of tracepoints without privilege; only root knows their names."""
	ids = {}
	for name in ("sched/sched_switch", "raw_syscalls/sys_enter"):
		try:
			with open("/sys/kernel/tracing/events/%s/id" % name) as f:
				ids[name] = int(f.read())
		except OSError:
			raise machine.Lack("no tracepoint " + name)
	# capabilities given up, but still the owner of tracefs
	pre = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"]
	why = []
	privilege = "raw_privilege" if machine.setting("paranoid") > -1 else None
	for name, want in (("sched/sched_switch", privilege), ("raw_syscalls/sys_enter", None)):
		b = attr(TP, config=ids[name], sample_type=RAW, exclude_kernel=1, disabled=1)
		r = subprocess.run(pre + [PEVTRACE, "why", "--once", "--json", b.hex()],
				   stdout=subprocess.PIPE, universal_newlines=True)
		o = json.loads(r.stdout)
		why += differ(o["predicted"].get("rule"), want, name)
		why += differ(o["kernel"].get("error"), "EPERM" if want else None, name)
	return why

# ---- the verb ----------------------------------------------------------------------------

def test_rules_only():
	"""With --rules-only pevtrace opens no event, as a trace of it shows."""
	machine.need("tracing")
	trace = [PEVTRACE, "-e", "trace=perf_event_open", "-o", "/dev/stdout", PEVTRACE, "why"]
	quiet = subprocess.run(trace + ["--rules-only", bp().hex()], stdout=subprocess.PIPE,
			       universal_newlines=True).stdout
	loud = subprocess.run(trace + ["--once", bp().hex()], stdout=subprocess.PIPE,
			      universal_newlines=True).stdout
	made = [l for l in quiet.splitlines() if "perf_event_open(" in l and l[0].isdigit()]
	rules_only = ["why", "--rules-only"]
	(o,), status = objects(attr(sigtrap=1).hex(), verb=rules_only)
	opens, status_opens = objects(attr().hex(), verb=rules_only)
	text = run(bp().hex(), verb=rules_only)
	return differ(made, [], "calls") + \
		differ("= -1 E2BIG" in loud, True, "calls without --rules-only") + \
		differ((o["verdict"], status, "kernel" in o), ("refused", 1, False), "refused") + \
		differ(status_opens, 0, "opens") + \
		differ(opens[0]["sure"], not opens[0]["unknown"], "sure unless a rule is not known") + \
		differ((text.returncode, ": perhaps opens: " in text.stdout), (0, True), "a breakpoint that may not be free")

def test_blocked():
	"""With a seccomp filter that fails every call, no rule is reported as the cause."""
	why = []
	for error in (errno.ENOSYS, errno.EPERM, errno.EACCES, errno.EINVAL):
		name, forbidden = errno.errorcode[error], forbid(error)
		r = run(attr().hex(), preexec_fn=forbidden)
		(o,), status = objects(attr().hex(), preexec_fn=forbidden)
		why += differ((o["verdict"], o["kernel"].get("error"), status,
			       "seccomp" in o.get("blocked", "")), ("blocked", name, 1, True), name)
		why += differ(("  verdict: blocked\n" in r.stdout, "DISAGREEMENT" in r.stdout,
			       "allow perf_event_open in its profile" in r.stdout, r.returncode),
			      (True, False, True, 1), r.stdout)
	refused = attr(sigtrap=1).hex()
	(o,), status = objects(refused, preexec_fn=forbid(errno.EPERM))
	return why + differ((o["verdict"], o["predicted"].get("rule"), status),
			    ("blocked", "sigtrap_exec", 1), "refused anyway")

def test_disagreement():
	"""A filter unknown to the rules fails this one call: flags are 0."""
	forbidden = forbid(errno.EPERM, at=48, value=0)
	r = run(attr().hex(), preexec_fn=forbidden)
	(o,), status = objects(attr().hex(), preexec_fn=forbidden)
	return differ((o["verdict"], o["kernel"].get("error"), status),
		      ("disagreement", "EPERM", 1), "json") + \
		differ("DISAGREEMENT" in r.stdout and r.returncode == 1, True, r.stdout)

def test_no_descriptors():
	"""With too few descriptors for a group the kernel would seem to disagree."""
	why = []
	group = ("-e", "{cpu-clock:u,cs:u}")
	for n in (4, 5):
		r = run(*group, preexec_fn=lambda: resource.setrlimit(
			resource.RLIMIT_NOFILE, (n, n)))
		why += differ((r.returncode, r.stdout, "EMFILE" in r.stderr and
			       "ulimit -n" in r.stderr), (2, "", True), "%d: %s" % (n, r.stderr))
	r = run(*group, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (5, 64)))
	return why + differ((r.returncode, r.stdout), (0, run(*group).stdout), "5, and 64 hard")

def test_sigtrap():
	"""An event that signals its task harms no other: the task is check's child."""
	b = attr(config=0, sample_period=1, sigtrap=1, remove_on_exec=1)
	return judge(b, None)

def test_forms(tmp):
	"""Every form of attr that decode --attr accepts."""
	b = attr(sample_type=1 << 25)
	path = os.path.join(tmp, "attr")
	with open(path, "wb") as f:
		f.write(b)
	why = []
	for form in (b.hex(), "@" + path,
		     "{type=PERF_TYPE_SOFTWARE, size=136, sample_type=1<<25}",
		     "attr.type = PERF_TYPE_SOFTWARE; attr.size = 136; attr.sample_type = 1 << 25;",
		     "cpu-clock: type: 1, size: 136, config: 0, sample_type: 0x2000000", path):
		why += judge(form, "sample_type_bits")
	why += differ(run("-e", "cpu-clock:u").returncode, 0, "-e cpu-clock:u")
	group = run("--json", "-e", "{cpu-clock:u,task-clock:u,clockid=3,use_clockid}")
	got = [(o["label"], o["verdict"], o["predicted"].get("rule"))
	       for o in map(json.loads, group.stdout.splitlines())]
	why += differ((got, group.returncode),
		      ([("cpu-clock:u", "opens", None),
			("task-clock:u", "refused", "clockid")], 1), "-e {a,b}")
	bad = run("-e", "cpuclock")
	why += differ((bad.returncode, "did you mean cpu-clock" in bad.stderr), (2, True),
		      "-e cpuclock")
	bad = run(path + ".no")
	why += differ((bad.returncode, "is a file" in bad.stderr), (2, False), "no file")
	bad = run("-e", "mem:0x1000:rw8")
	why += differ((bad.returncode, "mem:ADDR[/LENGTH][:ACCESS]" in bad.stderr), (2, True),
		      "mem:0x1000:rw8")
	for text, want in (("sample_freq=abc", "neither a number nor a constant"),
			   ("sample_type=IP+TID", "'+TID' is left over; values are joined by |\n")):
		bad = run("-e", "cpu-clock," + text)
		why += differ((bad.returncode, want in bad.stderr), (2, True), bad.stderr)
	why += differ(run("cpu-clock").stdout, run("-e", "cpu-clock").stdout, "an event without -e")
	two = run("--json", "{type=1, size=136, exclude_kernel=1}\n"
			    "{type=1, size=136, exclude_kernel=1, sigtrap=1}\n")
	got = [json.loads(l)["verdict"] for l in two.stdout.splitlines()]
	why += differ((got, two.returncode), (["opens", "refused"], 1), "two attrs")
	text = run("-v", b.hex()).stdout
	for word in ("perf_event_open({type=PERF_TYPE_SOFTWARE", ") = -1 EINVAL (Invalid argument)",
		     "rule sample_type_bits", "since Linux 2.6.31; decided by the attr",
		     "verdict: refused, as predicted"):
		why += [] if word in text else ["'%s' is not in %s" % (word, text)]
	return why

def test_output():
	why = []
	whole, few = (run("-v", *quiet, attr(sigtrap=1).hex()).stdout for quiet in ([], ["-q"]))
	why += differ(("checked: " in whole, "verdict: " in few, "checked: " in few), (True, True, False), "-q")
	(o,), _ = objects("-a", attr(sigtrap=1).hex())
	why += differ((o["args"]["pid"], o["args"]["cpu"]), (-1, 0), "-a")
	# "-" is standard output, not a file
	with tempfile.TemporaryDirectory() as d:
		for args in (["why", "--once", "-e", "dummy"], ["open", "-e", "dummy", "true"], ["open", "--side-band", "true"]):
			r = subprocess.run([PEVTRACE, args[0], "-o", "-"] + args[1:], cwd=d,
					   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
			if args[0] == "why" or not machine.lacks("CAP_PERFMON"):
				why += differ((bool(r.stdout), complaints(r.stderr), os.listdir(d)), (True, [], []),
					      args[0] + " -o -")
	if not machine.lacks("tracefs"):
		text = run("-v", attr(TP, config=1 << 40).hex()).stdout
		why += differ("no tracepoint has that id" in text, True, text)
	return why

def main():
	tmp = start("pevtrace-rules-")
	x86 = os.uname().machine == "x86_64"
	tests = [
		("copying the attr", test_copy, None), ("attrs that cannot be read", test_fault, None),
		("limits", test_limits, None), ("events and their PMUs", test_event, None),
		("breakpoints", test_breakpoints if x86 else None, None),
		("breakpoints in use", test_slots if x86 else None, None),
		("events of a list", test_list if x86 else None, None),
		("uprobes", lambda: test_uprobe(tmp), "uprobes"), ("msr and the clocks", test_msr, "kernel events"),
		("the other arguments", test_arguments, None), ("the order", test_order, None),
		("no descriptor left", test_descriptors, None),
		("cgroups", lambda: test_cgroup(tmp), None), ("--leader", test_leader, None),
		("what was the traced process's", lambda: test_elsewhere(tmp), "uprobes"),
		("groups in a dump", lambda: test_dump(tmp), "whole CPUs"),
		("a leader that could not be read", lambda: test_unread(tmp), None),
		("--group-fd", test_inherited, None),
		("an ordinary user", lambda: test_nobody(tmp), "another user"),
		("raw data of tracepoints", test_raw if shutil.which("setpriv") else None, "tracefs"),
		("--rules-only", test_rules_only, None), ("a filter for all calls", test_blocked, None),
		("a disagreement is shown", test_disagreement, None),
		("too few descriptors", test_no_descriptors, None),
		("an event that signals", test_sigtrap, None), ("forms of attrs", lambda: test_forms(tmp), None),
		("output", test_output, None),
	]
	return run_all(tests, tmp)

if __name__ == "__main__":
	sys.exit(main())
