#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace why on calls with deliberate errors: it must name each error,
and this script opens the calls that it reports as working."""

import ctypes
import errno
import json
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from causes import as_nobody, ask, blamed, broken, reopen, rules, run, why
from checks import differ, run_all, start
import machine
import perf_event as pe
from perf_event import attr, bp, BP, SW, TP
from programs import wait_for_read
import straceparse as sp
import why_fixes
import why_programs
import why_rules as ck

PEVTRACE = os.environ.get("PEVTRACE")
BRANCH_ANY = 8

# ---- one thing is wrong --------------------------------------------------------

def attr_cases():
	rate, stack = machine.setting("max_sample_rate"), machine.setting("max_stack")
	branch = dict(sample_type=pe.BRANCH)
	return [
		("a reserved bit", attr(reserved_1=1), "__reserved_1", "reserved_bits", {}),
		("a reserved member", attr(reserved_2=1), "__reserved_2", "reserved_bits", {}),
		("a reserved action", attr(aux_action=8), "__reserved_3", "reserved_bits", {}),
		("a size too small", attr(size=60), "size", "size_range", {"size": 64}),
		("a size above a page", attr(size=4097), "size", "size_range", {}),
		("a dirty tail", attr(size=144, tail=1), "size", "size_tail", {}),
		("a dirty tail beyond what anybody knows", attr(size=200)[:190] + b"\1" * 10, "size",
		 "size_tail", {}),
		("an unknown sample_type", attr(sample_type=1 << 25 | 7), "sample_type",
		 "sample_type_bits", {"sample_type": 7}),
		("an unknown read_format", attr(read_format=1 << 5 | 1), "read_format",
		 "read_format_bits", {"read_format": 1}),
		("no register at all", attr(sample_type=pe.REGS_USER), "sample_regs_user",
		 "user_regs", {}),
		("a register that is never there", attr(sample_type=pe.REGS_USER,
		 sample_regs_user=1 << 12 | 1), "sample_regs_user", "user_regs",
		 {"sample_regs_user": 1}),
		("a stack of an odd size", attr(sample_type=pe.STACK_USER, sample_stack_user=13),
		 "sample_stack_user", "user_stack_size", {"sample_stack_user": 8}),
		("a stack too large", attr(sample_type=pe.STACK_USER, sample_stack_user=1 << 20),
		 "sample_stack_user", "user_stack_size", {"sample_stack_user": 65528}),
		("no interrupted register", attr(sample_type=pe.REGS_INTR), "sample_regs_intr",
		 "intr_regs", {}),
		("two kinds of weight", attr(sample_type=1 << 14 | 1 << 24 | 1), "sample_type",
		 "weights", {}),
		("inherit_thread without inherit", attr(inherit_thread=1),
		 ("inherit", "inherit_thread"), "inherit_thread", {}),
		("remove_on_exec and enable_on_exec", attr(remove_on_exec=1, enable_on_exec=1),
		 ("remove_on_exec", "enable_on_exec"), "remove_and_enable", {}),
		("sigtrap without remove_on_exec", attr(sigtrap=1), ("remove_on_exec", "sigtrap"),
		 "sigtrap_exec", {}),
		("inherit with SAMPLE_READ but no TID", attr(inherit=1, sample_type=pe.READ),
		 ("sample_type", "inherit"), "inherit_read_tid", {"inherit": 1}),
		("a freq too high", attr(freq=1, sample_freq=rate + 1), "sample_freq",
		 "freq_limit", {"sample_freq": rate}),
		("a negative period", attr(sample_period=1 << 63), "sample_period", "period_sign", {}),
		("a sample_max_stack too large", attr(sample_type=pe.CALLCHAIN,
		 sample_max_stack=stack + 1), "sample_max_stack", "max_stack",
		 {"sample_max_stack": stack}),
		("a type that nobody has", attr(99), "type", "no_pmu", {}),
		("a software event that is none", attr(config=99), "config", "software_config", {}),
		("branches of a software event", attr(branch_sample_type=BRANCH_ANY, **branch),
		 "sample_type", "software_branch", {}),
		("a clock that is not for events", attr(use_clockid=1, clockid=2), "clockid",
		 "clockid", {"clockid": 1}),
		("a tracepoint that is none", attr(TP, config=1 << 40), "config", "tracepoint_id", {}),
		("an aux_output without AUX", attr(aux_output=1), "aux_output", "aux_output", {}),
		("an AUX sample without AUX", attr(aux_sample_size=8), "aux_sample_size",
		 "aux_leader", {}),
		("an AUX event that is to start paused", attr(aux_action=1), "aux_start_paused",
		 "aux_start_paused", {}),
	]

def test_attr():
	bad = []
	for name, b, blame, rule, works in attr_cases():
		bad += [name + ": " + w for w in broken(b, blame, rule, works=works)]
	return bad

def test_machine():
	"""Errors that depend on the architecture and the hardware."""
	bad = []
	if os.uname().machine == "x86_64":
		bad += broken(attr(sample_regs_intr=1 << 32 | 1), "sample_regs_intr", "extended_regs",
			      works={"sample_regs_intr": 1})
	if not os.path.exists("/sys/bus/event_source/devices/cpu"):
		bad += broken(attr(0), "type", "no_pmu", blocked=["pmu"])
		bad += broken(attr(4, config=0x1a8), "type", "no_pmu", blocked=["pmu"])
	# a member that this kernel does not have yet is the cause by its name
	if tuple(int(n) for n in re.findall(r"\d+", os.uname().release)[:2]) < (6, 19):
		late = bytearray(attr())
		late[44] |= 1 << 6
		late = bytes(late)
		bad += broken(late, "defer_callchain", "reserved_bits",
			      works={"defer_callchain": 0})
		(o,), _ = ck.objects(late.hex())
		bad += differ(o["predicted"]["fields"], {"defer_callchain": 1}, "check")
	msr = pe.pmu_type("msr")
	if msr:
		bad += broken(attr(msr, sample_period=1), "sample_period", "msr_sampling")
		bad += broken(attr(msr, config=77), "config", "msr_config")
		if not machine.lacks("kernel events"):
			bad += broken(attr(msr, exclude_user=1), "exclude_user", "no_exclude")
	return bad

def tracepoint(name):
	with open("/sys/kernel/tracing/events/%s/id" % name) as f:
		return int(f.read())

def test_clock():
	"""CLOCK_REALTIME is for software events only."""
	bad = broken(bp(use_clockid=1, clockid=0), "clockid", "clockid_nmi", works={"clockid": 1})
	try:
		at = tracepoint("sched/sched_switch")
	except OSError:
		return bad
	return bad + broken(attr(TP, config=at, use_clockid=1, clockid=0), "clockid", "clockid_nmi",
			    works={"clockid": 1, "config": at})

def test_breakpoints():
	top = 0xffff800000000000
	cases = [
		(bp(bp_type=0), "bp_type", "breakpoint_none", {}),
		(bp(bp_type=1), "bp_type", "breakpoint_type", {"bp_type": 3}),
		(bp(bp_type=4), "bp_len", "breakpoint_exec_len", {"bp_len": 8}),
		(bp(bp_len=3), "bp_len", "breakpoint_len", {}),
		(bp(bp_addr=0x1001), ("bp_addr", "bp_len"), "breakpoint_align", {"bp_addr": 0x1000}),
		(bp(bp_addr=top), ("bp_addr", "exclude_kernel"), "breakpoint_kernel", {}),
		(bp(bp_len=0), "bp_len", "breakpoint_wrap", {}),
		(bp(sample_type=pe.BRANCH, branch_sample_type=BRANCH_ANY), "sample_type",
		 "breakpoint_branch", {}),
	]
	return sum((broken(b, blame, rule, works=works) for b, blame, rule, works in cases), [])

def test_fifth():
	"""All breakpoints of this task are in use."""
	fds = []
	try:
		while len(fds) < 20:
			fd = pe.call(bp())
			if fd < 0:
				break
			fds.append(fd)
		me = os.getpid()
		bad = broken(bp(), "pid", "breakpoint_slots", args=["-p%d" % me], raw=(me, -1, -1, 0),
			     blocked=["breakpoints"], open_it=False)
		text = run("-p%d" % me, bp().hex()).stdout
		ps = subprocess.run([PEVTRACE, "ps"], stdout=subprocess.PIPE,
				    stderr=subprocess.PIPE, text=True)
		if "ids and counts of descriptors" not in ps.stderr:
			held = r"held by %s\[%d\] \(mem:\S+ and %d more\)" % (
				re.escape(open("/proc/self/comm").read().strip()), me, len(fds) - 1)
			bad += differ(bool(re.search(held, text)), True, text)
		# a command opens it for this task, which outlives the command
		text = run("--", sys.executable, "-c", "import ctypes; b = ctypes.create_string_buffer("
			   "bytes.fromhex('%s')); ctypes.CDLL(None).syscall(%d, b, %d, -1, -1, 0)" %
			   (bp().hex(), pe.NR, me)).stdout
		bad += differ("no breakpoint is free" in text, True, text)
		# the additional one has another error
		both = bp(bp_len=3)
		bad += broken(both, ["pid", "bp_len"], ["breakpoint_slots", "breakpoint_len"],
			      args=["-p%d" % me], raw=(me, -1, -1, 0), open_it=False)
		return bad
	finally:
		for fd in fds:
			os.close(fd)

def test_list():
	"""The fifth breakpoint of a list fails."""
	r = run("--json", "-e", ",".join("mem:0x%x:u" % (0x1000 * i) for i in range(1, 6)))
	all_ = [json.loads(l) for l in r.stdout.splitlines()]
	last = all_[-1]
	return differ(([o["verdict"] for o in all_], r.returncode),
			 (["opens"] * 4 + ["cause"], 0), "verdicts") + \
		differ((rules(last), [b["by"] for b in last["blocked"]]),
			  (["breakpoint_slots"], ["breakpoints"]), "the fifth") + \
		differ("4 events before it" in last["blocked"][0]["words"], True, last["blocked"])

# ---- uprobes ---------------------------------------------------------------------

def test_uprobe(tmp):
	kind = pe.pmu_type("uprobe")
	path = os.path.join(tmp, "probed")
	with open(path, "wb") as f:
		f.write(b"\0" * 4096)
	def up(where, offset=0, config=0):
		return '{type=%d, size=136, config=0x%x, uprobe_path="%s", probe_offset=%d}' % \
			(kind, config, where, offset)
	bad = why(up(tmp + "/none"), "uprobe_path", "uprobe_open", blocked=["file"], error="ENOENT")
	bad += why(up(tmp), "uprobe_path", "uprobe_file", error="EINVAL")
	bad += why(up(path, 5000), "probe_offset", "uprobe_offset", works={"probe_offset": 0})
	bad += why(up(path, config=1 << 32), "config", "uprobe_counter")
	return bad + why(up(tmp + "/none", config=1 << 32), ["uprobe_path", "config"],
			 ["uprobe_open", "uprobe_counter"])

def test_instruction(tmp):
	"""Where a task has mapped the file, the kernel looks at the instruction."""
	kind = pe.pmu_type("uprobe")
	path = os.path.join(tmp, "mapped")
	shutil.copy("/bin/sleep", path)
	text = ctypes.create_string_buffer(path.encode())
	with subprocess.Popen([path, "100"]) as p:
		try:
			while os.readlink("/proc/%d/exe" % p.pid) != path:
				pass
			for offset in range(64, 16384):
				b = bytearray(pe.attr(kind, disabled=1))
				struct.pack_into("<QQ", b, 56, ctypes.addressof(text), offset)
				fd = pe.call(bytes(b), p.pid)
				if fd == -524:
					break
				if fd >= 0:
					os.close(fd)
			else:
				return ["no offset is refused"]
			to = ["-p", str(p.pid)]
			body = '{type=%d, size=136, disabled=1, uprobe_path="%s", probe_offset=%d}' % (
				kind, path, offset)
			r = ck.run("-v", *to, body)
			bad = differ(all(w in r.stdout for w in ("-1 ENOTSUPP (", "not known: uprobe_conflict (",
				     ", uprobe_instruction (")), True, "check: " + r.stdout)
			r = run(*to, body)
			bad += differ("was another" in r.stdout, False, "an unchanged path: " + r.stdout)
			return bad + why(body, "probe_offset", "uprobe_instruction", args=to,
					 error="ENOTSUPP", open_it=False)
		finally:
			p.kill()

def test_smallest():
	"""Of several faults, the fewest changes that open, of the same type of event."""
	return why("{type=5, size=136, config=1, bp_type=3, bp_addr=0x1001, bp_len=3, "
		   "sample_type=PERF_SAMPLE_REGS_INTR, sample_regs_intr=0xffffffffffffffff, "
		   "aux_output=1, clockid=99, use_clockid=1, exclude_kernel=1}",
		   ["sample_regs_intr", "bp_len", "aux_output", ("clockid", "use_clockid")],
		   ["intr_regs", "breakpoint_len", "aux_output", "clockid"])

# ---- the other arguments -----------------------------------------------------------

def test_arguments():
	b = attr(disabled=1)
	cases = [
		("cpu and pid both -1", ["-p-1"], (-1, -1, -1, 0), ("pid", "cpu"), "cpu_range"),
		("no such CPU", ["-C9999"], (0, 9999, -1, 0), "cpu", "cpu_range"),
		("CPU -2", ["-C-2"], (0, -2, -1, 0), "cpu", "cpu_range"),
		("no such task", ["-p99999999"], (99999999, -1, -1, 0), "pid", "no_task"),
		("group_fd is standard input", ["--group-fd=0"], (0, -1, 0, 0), "group_fd",
		 "group_not_event"),
		("group_fd is closed", ["--group-fd=77"], (0, -1, 77, 0), "group_fd",
		 "group_not_event"),
		("an unknown flag", ["--flags=16"], (0, -1, -1, 16), "flags", "flags_unknown"),
		("a cgroup that is none", ["--flags=PID_CGROUP"], (0, -1, -1, 4), ["cpu", "flags"],
		 ["cgroup_target", "cgroup_descriptor"]),
	]
	bad = []
	for name, args, raw, blame, rule in cases:
		bad += [name + ": " + w for w in broken(b, blame, rule, args=args, raw=raw)]
	bad += broken(attr(sigtrap=1, remove_on_exec=1), ("sigtrap", "pid"), "sigtrap_target",
		      args=["-p-1", "-C0"], raw=(-1, 0, -1, 0))
	# without the flag, the number of the directory's descriptor is a pid
	bad += why(b, "flags", "cgroup_descriptor", ["--cgroup=/tmp", "-C0"], error="EBADF")
	o, _ = ask("--cgroup=/tmp", "-C0", b.hex())
	bad += differ(o["works"]["args"]["pid"], 0, "whose event it is then")
	bad += why("NULL", "attr_uptr", "attr_head_fault", error="EFAULT")
	return bad + why(attr()[:100], ("attr_uptr", "size"), "attr_fault", error="EFAULT")

def test_group():
	a = attr(config=9)
	cases = [
		(a, attr(inherit=1), "inherit", "group_inherit"),
		(a, attr(pinned=1), "pinned", "group_pinned"),
		(a, attr(exclusive=1), "exclusive", "group_pinned"),
		(a, attr(use_clockid=1, clockid=1), "use_clockid", "group_clock"),
		(attr(use_clockid=1, clockid=1), attr(use_clockid=1, clockid=4), "clockid",
		 "group_clock"),
	]
	# only pevtrace opens the leader: this script cannot try the working call
	bad = sum((why(b, blame, rule, ["--leader=" + l.hex()], open_it=False)
		   for l, b, blame, rule in cases), [])
	for l, b, blame, rule in cases:
		o, _ = ask("--leader=" + l.hex(), b.hex())
		lead = pe.call(l)
		works = o["works"]
		works["args"]["group_fd"] = lead
		fd = reopen(works)
		bad += differ(pe.name_of(fd), "opens", "%s in a group of ours" % blame)
		if fd >= 0:
			os.close(fd)
		os.close(lead)
	o, _ = ask("--leader=" + attr(sigtrap=1).hex(), a.hex())
	return bad + differ(rules(o), ["sigtrap_exec"], "a leader that is broken itself")

# ---- more than one thing -------------------------------------------------------------

def test_two():
	rate = machine.setting("max_sample_rate")
	cases = [
		(attr(freq=1, sample_freq=rate + 1, use_clockid=1, clockid=2),
		 ["sample_freq", "clockid"], ["freq_limit", "clockid"]),
		# both are refused by one errno, and one change removes both
		(attr(sample_type=0x1006000, sample_stack_user=3),
		 ["sample_stack_user", "sample_type"], ["user_stack_size", "weights"]),
		(attr(reserved_1=1, config=99), ["__reserved_1", "config"],
		 ["reserved_bits", "software_config"]),
		(attr(sigtrap=1, inherit=1, sample_type=pe.READ),
		 [("remove_on_exec", "sigtrap"), ("sample_type", "inherit")],
		 ["sigtrap_exec", "inherit_read_tid"]),
		(attr(aux_action=6), [("aux_pause", "aux_resume")] * 2,
		 ["aux_pause_resume", "aux_leader"]),
		(attr(sample_type=1 << 25, freq=1, sample_freq=rate + 1, use_clockid=1, clockid=2),
		 ["sample_type", "sample_freq", "clockid"],
		 ["sample_type_bits", "freq_limit", "clockid"]),
		(attr(reserved_1=1, reserved_2=1, read_format=1 << 9, config=99),
		 ["__reserved_1", "__reserved_2", "read_format", "config"],
		 ["reserved_bits", "reserved_bits", "read_format_bits", "software_config"]),
	]
	bad = sum((broken(b, blame, rule) for b, blame, rule in cases[:6]), [])
	# two reserved members are one rule: one or two errors may be reported
	b = cases[6][0]
	o, status = ask(b.hex())
	bad += differ(sorted(sum(blamed(o), [])), sorted(cases[6][1]), "four")
	fd = reopen(o["works"])
	bad += differ((pe.name_of(fd), status), ("opens", 0), "four, mended")
	if fd >= 0:
		os.close(fd)
	if machine.lacks("whole CPUs"):
		return bad
	return bad + broken(attr(freq=1, sample_freq=rate + 1), ["sample_freq", ("pid", "cpu")],
			    ["freq_limit", "cpu_range"], args=["-p-1"], raw=(-1, -1, -1, 0))

def test_random():
	"""Random combinations of errors: all are named, and the working call works."""
	rate = machine.setting("max_sample_rate")
	flaws = [
		({"reserved_1": 1}, {"__reserved_1"}), ({"reserved_2": 3}, {"__reserved_2"}),
		({"read_format": 1 << 40}, {"read_format"}), ({"config": 77}, {"config"}),
		({"use_clockid": 1, "clockid": 3}, {"clockid", "use_clockid"}),
		({"freq": 1, "sample_freq": rate * 2}, {"sample_freq", "freq"}),
		({"sigtrap": 1}, {"sigtrap", "remove_on_exec"}),
		({"inherit_thread": 1}, {"inherit", "inherit_thread"}),
		({"aux_output": 1}, {"aux_output"}), ({"aux_sample_size": 64}, {"aux_sample_size"}),
		({"sample_type": 1 << 13 | 7, "sample_stack_user": 99},
		 {"sample_stack_user", "sample_type"}),
	]
	order, bad = random.Random(7), []
	for i in range(40):
		chosen = order.sample(flaws, order.choice((1, 2, 2, 3, 4)))
		fields = {}
		for f, _ in chosen:
			fields.update(f)
		b = attr(**fields)
		if pe.call(b) >= 0:
			return ["%s opens" % fields]
		o, status = ask(b.hex())
		named = set(sum(blamed(o), []))
		fd = reopen(o["works"]) if "works" in o else -errno.ENODATA
		if status or fd < 0 or not all(names & named for _, names in chosen) or \
		   len(o["changes"]) > len(chosen):
			bad.append("%d %s: %s %s %s" % (i, fields, pe.name_of(fd), blamed(o),
							o.get("changes")))
		if fd >= 0:
			os.close(fd)
	return bad

# ---- as an ordinary user ----------------------------------------------------------------


def reopen_as_nobody(works):
	"""Run a test in a child that becomes another user."""
	pid = os.fork()
	if not pid:
		sp.as_nobody()()
		os._exit(0 if reopen(works) >= 0 else 1)
	return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0

def test_nobody(tmp):
	machine.need("restricted users")
	kw = as_nobody(tmp)
	ek = {"exclude_kernel": 1, "exclude_hv": 1}
	branch = {"sample_type": pe.BRANCH, "branch_sample_type": BRANCH_ANY}
	cases = [
		("paranoid", attr(), [], "exclude_kernel", "kernel_privilege",
		 ["paranoid", "capability"]),
		("namespaces", attr(namespaces=1, **ek), [], "namespaces", "namespaces_privilege",
		 ["capability"]),
		("physical addresses", attr(sample_type=pe.PHYS_ADDR | 1, **ek), [], "sample_type",
		 "phys_addr_privilege", ["paranoid", "capability"]),
		("all tasks of a CPU", attr(**ek), ["-p-1", "-C0"], "pid", "cpu_privilege",
		 ["paranoid", "capability"]),
		("somebody else's task", attr(**ek), ["-p%d" % os.getpid()], "pid",
		 "task_privilege", ["capability"]),
		("a branch stack refused only for exclude_hv",
		 attr(exclude_kernel=1, **branch), [], ["exclude_hv", "sample_type"],
		 ["branch_privilege", "software_branch"], ["paranoid", "capability"]),
		("two at once", attr(99), [], ["exclude_kernel", "type"],
		 ["kernel_privilege", "no_pmu"], ["paranoid", "capability", "pmu"]),
	]
	if pe.pmu_type("uprobe"):
		cases.append(("a uprobe", attr(pe.pmu_type("uprobe"), **ek), [], "type",
			      "uprobe_privilege", ["capability"]))
	bad = []
	for name, b, args, blame, rule, blocked in cases:
		bad += [name + ": " + w for w in
			why(b, blame, rule, args, error="EACCES", open_it=False, blocked=blocked, **kw)]
		o, _ = ask(*args, b.hex(), **kw)
		bad += differ(reopen_as_nobody(o["works"]), True, name + ", mended")
	# a change of everything would include the kernel, and be refused for that
	o, _ = ask(attr(reserved_1=1, reserved_2=1, aux_sample_size=8, **ek).hex(), **kw)
	bad += differ(sorted(o["changes"]), ["__reserved_1", "__reserved_2", "aux_sample_size"],
			 "two members of one rule")
	# only root can read whether there is a tracepoint of that id
	o, _ = ask(attr(TP, sample_type=pe.REGS_USER, inherit_thread=1, **ek).hex(), **kw)
	bad += differ("works" in o and reopen_as_nobody(o["works"]), True, "not known to the rules")
	return bad

def test_caps():
	"""Root without capabilities, as in a container."""
	machine.need("CAP_PERFMON")
	pre = ["--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"]
	r = subprocess.run(["setpriv"] + pre + [PEVTRACE, "why", "--json", attr(namespaces=1,
			   exclude_kernel=1).hex()], stdout=subprocess.PIPE, universal_newlines=True)
	o = json.loads(r.stdout)
	words = [b["words"] for b in o["blocked"] if b["by"] == "capability"]
	return differ((r.returncode, blamed(o)), (0, [["namespaces"]]), "blamed") + \
		differ("no CAP_PERFMON" in words[0] and "bounding set" in words[0], True, words)

def test_userns():
	"""Root of a user namespace of its own."""
	r = subprocess.run(["unshare", "-Ur", PEVTRACE, "why", "--json",
			    attr(namespaces=1, exclude_kernel=1).hex()],
			   stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
	if "unshare" in r.stderr:
		raise machine.Lack(r.stderr.strip())
	o = json.loads(r.stdout)
	words = [b["words"] for b in o["blocked"] if b["by"] == "capability"]
	return differ((r.returncode, blamed(o)), (0, [["namespaces"]]), "blamed") + \
		differ("user namespace" in words[0], True, words)

# ---- errors that no attr can fix ------------------------------------------------------------------

def test_seccomp():
	bad = []
	for error in (errno.EPERM, errno.ENOSYS, errno.EACCES, errno.EINVAL, errno.E2BIG, errno.ENOENT,
		      errno.EIO, errno.ESRCH):
		for b in (attr(), attr(sigtrap=1), attr(0)):
			o, status = ask(b.hex(), preexec_fn=pe.forbid(error))
			bad += differ((o["verdict"], [x["by"] for x in o["blocked"]], status),
					 ("blocked", ["seccomp"], 0), os.strerror(error))
			bad += differ("Seccomp is 2" in o["blocked"][0]["words"], True, "words")
			bad += differ(o["experiments"] < 5, True, "experiments in vain")
	text = run(attr().hex(), preexec_fn=pe.forbid(errno.EPERM)).stdout
	return bad + differ("blocked by: every call fails before it reaches perf" in text, True, text)

def test_descriptors():
	r, w = os.pipe()
	# looking for leaks uses a descriptor, too
	p = subprocess.Popen([PEVTRACE, "why", "--json", "-"], stdin=r, stdout=subprocess.PIPE,
			     universal_newlines=True,
			     env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
	os.close(r)
	wait_for_read(p.pid)
	used = [int(fd) for fd in os.listdir("/proc/%d/fd" % p.pid)]
	resource.prlimit(p.pid, resource.RLIMIT_NOFILE, (max(used) + 1, max(used) + 1))
	os.write(w, attr().hex().encode())
	os.close(w)
	o = json.loads(p.communicate()[0])
	return differ((o["kernel"].get("error"), o["verdict"], [b["by"] for b in o["blocked"]],
			  p.returncode), ("EMFILE", "blocked", ["descriptors"], 0), "EMFILE")

def test_no_descriptors():
	"""With too few descriptors no experiments are made."""
	r = run("-e", "{cpu-clock,cs}", preexec_fn=lambda: resource.setrlimit(
		resource.RLIMIT_NOFILE, (5, 5)))
	return differ((r.returncode, r.stdout, "EMFILE" in r.stderr and "ulimit -n" in r.stderr),
			 (2, "", True), r.stderr)

def test_opens():
	o, status = ask(attr().hex())
	text = run(attr().hex())
	# what others require, of a process that has the capability
	all_cpus = run("-a", "cpu-clock").stdout.strip()
	others = os.geteuid() == 0 and "opens here" in all_cpus and machine.setting("paranoid") > 0
	return differ(all_cpus.endswith("; an ordinary user requires perf_event_paranoid 0 or less, or CAP_PERFMON"),
		      others, all_cpus) + \
		differ((o["verdict"], o["faults"], status, o["experiments"]), ("opens", [], 1, 1),
			 "json") + \
		differ(": the call opens here" in text.stdout and text.returncode == 1, True,
			  text.stdout)

# ---- the verb ---------------------------------------------------------------------------------

def test_agreement():
	"""The reported cause is the subject of the rule."""
	r = random.Random(5)
	bad, n = [], 0
	while n < 40:
		fields = {}
		for _ in range(r.choice((1, 2, 3))):
			k = r.choice(sorted(pe.BITS) + ["bp_type", "sample_type", "branch_sample_type",
							"sample_regs_intr", "read_format"])
			fields[k] = 1 if k in pe.BITS else 1 << r.choice((3, 11, 12, 13, 18, 25))
		b = attr(r.choice((SW, SW, TP, BP, 9, 99)), **fields)
		fd = pe.call(b)
		if fd >= 0:
			os.close(fd)
			continue
		n += 1
		for f in ask(b.hex())[0]["faults"]:
			if f.get("sure") and f["fields"] and not set(f["blame"]) & set(f["fields"]):
				bad.append("%s: %s blamed by %s" % (fields, f["blame"], f["rule"]))
	text = run("-e", "cpu-clock,sample_type=BRANCH_STACK,branch_sample_type=1<<43").stdout
	first = re.search(": cause: (.*)", text).group(1)
	bad += differ("{branch_sample_type=0x80000000000" in first, True, first)
	lines = run(attr()[:100].hex()).stdout.splitlines()
	return bad + differ(("100 bytes of it can be read" in lines[0],
				"136 bytes can be read" in lines[1] and "fix:" in lines[1]),
			       (True, True), lines)

def test_text():
	freq = attr(exclude_kernel=1, freq=1, sample_freq=10 ** 9).hex()
	lines, limit = run(freq).stdout.splitlines(), machine.setting("max_sample_rate")
	bad = differ(lines, ["cpu-clock:u: cause: {sample_freq=1000000000}: sample_freq is above "
			     "perf_event_max_sample_rate (rule freq_limit, EINVAL)",
			     "  fix: {sample_freq=%d}" % limit, "  works: +sample_freq=%d" % limit],
		     "cause, fix, what opens")
	text = run("-v", freq).stdout
	for word in ("asked: perf_event_open({type=", "since Linux 2.6.31", "/* was 1000000000 */", "= fd",
		     "experiments: "):
		bad += [] if word in text else ["'%s' is not in %s" % (word, text)]
	works = [l for l in text.splitlines() if "opens: " in l][0]
	bad += differ(len(re.findall(r"/\* was ", works)), 1, "marked: " + works)
	# the output is accepted as input
	again = run(re.search(r"\{.*\}", works).group(0))
	return bad + differ("the call opens" in again.stdout, True, again.stdout + again.stderr)

def test_quiet(tmp):
	"""why leaves nothing open and enables nothing, as a trace of it shows."""
	path = os.path.join(tmp, "trace")
	subprocess.run([PEVTRACE, "-e", "trace=perf_event_open", "-o", path, PEVTRACE, "why",
			attr(sigtrap=1, config=2).hex()], stdout=subprocess.DEVNULL)
	with open(path) as f:
		trace = f.read()
	opens = [l for l in trace.splitlines() if "perf_event_open(" in l]
	# the call that asks for the kernel's attr size is refused for its own
	opens = [l for l in opens if "too small" not in l]
	whole = [l for l in opens if re.search(r"size=(PERF_ATTR_SIZE_VER|\d{2,})", l)]
	on = [l for l in whole if "disabled=1" not in l and "type=PERF_TYPE_BREAKPOINT" not in l]
	# but for one: the event that works measures a task of pevtrace's own
	tried = [l for l in on if not re.search(r"\}, \d+, -1 /", l) or "}, 0" in l]
	return differ(len(whole) > 10, True, trace[:500]) + differ((tried, len(on)), ([], 1), "enabled: %s" % on) + \
		differ(len(whole) < 1000, True, "bounded")

def test_container():
	"""Under a filter that refuses perf_event_open, the calls of a program are seen all the same."""
	program = [sys.executable, "-B", "-c", "import sys; sys.path.insert(0, %r); import perf_event; "
		   "perf_event.call(perf_event.attr(config=9, exclude_kernel=1))" % os.path.join(HERE, "lib")]
	r = subprocess.run([PEVTRACE, *program], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
			   text=True, preexec_fn=pe.forbid(errno.EPERM))
	why = [] if re.search(r"^perf_event_open\(.*= -1 EPERM", r.stderr, re.M) and \
		"answers perf_event_open in place of the kernel" in r.stderr else [r.stderr]
	r = subprocess.run([PEVTRACE, "why", "--", *program], stdout=subprocess.PIPE,
			   stderr=subprocess.PIPE, text=True, preexec_fn=pe.forbid(errno.EPERM))
	why += [] if "blocked by: every call fails before it reaches perf" in r.stdout else \
		[r.stdout + r.stderr]
	# a filter that lets it through is no reason to stop the program at every call
	r = subprocess.run([PEVTRACE, *program], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
			   text=True, preexec_fn=pe.forbid(errno.EPERM, 16, 12345))
	return why + ([] if re.search(r"^perf_event_open\(.*= \d+$", r.stderr, re.M) and
		      "in place of" not in r.stderr else [r.stderr])

def main():
	tmp = start("pevtrace-why-")
	x86 = os.uname().machine == "x86_64"
	tests = [
		("one member is wrong", test_attr, None), ("this machine", test_machine, None),
		("clocks", test_clock, None), ("breakpoints", test_breakpoints if x86 else None, None),
		("a fifth breakpoint", test_fifth if x86 else None, None),
		("a fifth of a list", test_list if x86 else None, None),
		("an instruction that cannot be probed", lambda: test_instruction(tmp), "uprobes"),
		("the smallest set of changes", test_smallest, None),
		("uprobes", lambda: test_uprobe(tmp), "uprobes"),
		("the other arguments", test_arguments, None), ("groups", test_group, None),
		("more than one thing is wrong", test_two, None),
		("flaws thrown together", test_random, None),
		("an ordinary user", lambda: test_nobody(tmp), "another user"),
		("root without capabilities", test_caps if shutil.which("setpriv") else None, None),
		("root of a user namespace", test_userns if shutil.which("unshare") else None, "another user"),
		("a seccomp filter", test_seccomp, None),
		("a program in a container", test_container, None), ("no descriptor left", test_descriptors, None),
		("too few descriptors", test_no_descriptors, None),
		("a call that opens", test_opens, None), ("a command", lambda: why_programs.test_command(tmp), None),
		("a command that leaves a zombie", why_programs.test_orphan, None),
		("perf", (lambda: why_programs.test_perf(tmp)) if shutil.which("perf") else None, "kernel events"),
		("perf as an ordinary user", (lambda: why_programs.test_perf_nobody(tmp))
		 if shutil.which("perf") else None, "another user"),
		("a command that is killed", why_programs.test_killed, None),
		("what a program does after a refusal", lambda: why_programs.test_fallbacks(tmp), None),
		("numbers of a trace", lambda: why_programs.test_told(tmp), None),
		("probes", lambda: why_programs.test_probes(tmp), None),
		("what a command itself holds", lambda: why_programs.test_own(tmp), None),
		("a line of a dump", lambda: why_programs.test_dump(tmp), None), ("blame and rule agree", test_agreement, None), ("text", test_text, None),
		*why_fixes.tests(tmp),
		("nothing is left behind", lambda: test_quiet(tmp), None),
	]
	return run_all(tests, tmp)

if __name__ == "__main__":
	sys.exit(main())
