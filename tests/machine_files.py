#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Machine files: what list --tried --json writes has no names, and --machine judges for what it says
alone; what is missing is unknown.  A call of a log is evidence of its own machine, not of this one."""

import copy
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from checks import check, differ, TAP
import machine
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE")
TMP = tempfile.mkdtemp(prefix="pevtrace-machine-")

# An Arm server whose PMUs have the numbers of others here.
ARM = {
	"kind": "machine", "schema": 1, "pevtrace": "0.2",
	"kernel": {"release": "6.12.9", "version": "#1 SMP"}, "arch": "aarch64",
	"cpus_possible": "0-3", "cpus_online_list": "0-1,3", "page_size": 65536, "virtual": False,
	"cgroups": True, "kprobes": True, "wide_breakpoints": False, "lockdown": False, "selinux": False,
	"sysctls": {"perf_event_paranoid": 2, "perf_event_max_sample_rate": 50000,
		    "perf_event_max_stack": 127, "perf_event_mlock_kb": 516},
	"rights": {"capabilities": "0x0", "bounding": "0x1ffffffffff", "first_user_namespace": True,
		   "seccomp": 0, "seccomp_filters": 0, "no_new_privs": False, "container": False},
	"pmus": [
		{"name": name, "type": number, "format": form, "events": events, "caps": caps,
		 "unread": []}
		for name, number, form, events, caps in (
			("software", 1, {}, {}, {}), ("tracepoint", 2, {}, {}, {}), ("breakpoint", 5, {}, {}, {}),
			("kprobe", 6, {"retprobe": "config:0"}, {}, {}), ("uprobe", 7, {"retprobe": "config:0"}, {}, {}),
			("cs_etm", 8, {"autofdo": "config2:0-31", "cycacc": "config:12"}, {}, {}),
			("armv8_pmuv3_0", 9, {"event": "config:0-15", "threshold": "config1:5-16"},
			 {"cpu_cycles": "event=0x11"}, {"threshold_max": "0x000000ff"}))],
	"pmus_complete": True,
	"tracepoints": {"sched:sched_switch": 549}, "tracepoints_complete": False,
}

def write(name, text):
	path = os.path.join(TMP, name)
	with open(path, "w", encoding="utf-8") as f:
		f.write(text)
	return path

def machine_file(name, without=(), **changes):
	m = {k: v for k, v in copy.deepcopy(ARM).items() if k not in without}
	m.update(changes)
	return write(name, json.dumps(m) + "\n")

def run(*args):
	return subprocess.run([PEVTRACE] + list(args), capture_output=True, text=True, timeout=120,
			      stdin=subprocess.DEVNULL)

def has(r, *texts, lacks=(), rc=None):
	"""The output has these texts, whatever its line breaks, and lacks others."""
	out = " ".join((r.stdout + r.stderr).split())
	return [("lacks %r: " % t) + out[:600] for t in texts if t not in out] + \
		[("has %r: " % t) + out[:600] for t in lacks if t in out] + \
		(differ(r.returncode, rc, "status") if rc is not None else [])

def test_written():
	"""The file names no host, user and program, and is what its own verdicts are judged by."""
	path = os.path.join(TMP, "own.json")
	r = run("list", "--tried", "--json", "-o", path)
	if r.returncode == 2:
		machine.need("kernel events")
	with open(path, encoding="utf-8") as f:
		lines = f.read().splitlines()
	m = json.loads(lines[0])
	host = os.uname().nodename
	names = [w for w in (host, os.environ.get("USER"), os.environ.get("LOGNAME"))
		 if w and len(w) > 4 and w not in m["kernel"]["release"]]
	why = differ(m["kind"], "machine", "the first line") + \
		differ([n for n in names if n in lines[0]], [], "names") + \
		differ(m["kernel"]["release"], os.uname().release, "release")
	if os.path.isdir("/sys/bus/event_source/devices"):
		why += differ(sorted(p["name"] for p in m["pmus"]),
			      sorted(os.listdir("/sys/bus/event_source/devices")), "PMUs")
	for event in ("cpu-clock:k", "cycles:u", "dummy:u,__reserved_2=1", "cpu-clock,sample_freq=90000000"):
		here, there = (run("why", "--rules-only", "--json", "-q", *o, "-e", event)
			       for o in ((), ("--machine=" + path,)))
		said = [json.loads(x.stdout)["predicted"] for x in (here, there)]
		why += differ([p.get("rule") for p in said][1:], [said[0].get("rule")], event)
	return why + differ(json.loads(run("list", "--tried", "--json", "type").stdout.splitlines()[0])["kind"],
			    "type", "of one kind, no machine")

def test_tracepoints():
	"""--tracepoints adds ids, but of none that a user defined."""
	machine.need("tracefs")
	path = os.path.join(TMP, "points.json")
	run("list", "--tried", "--json", "--tracepoints", "-o", path)
	with open(path, encoding="utf-8") as f:
		points = json.loads(f.readline())["tracepoints"]
	with open(os.path.join(sp.TRACEFS, "events/sched/sched_switch/id"), encoding="ascii") as f:
		number = int(f.read())
	return differ(points.get("sched:sched_switch"), number, "sched:sched_switch") + \
		has(run("decode", "--machine=" + path, "sched:sched_switch"), "config=%d /* sched:sched_switch" % number)

def test_judged():
	"""why, explain, decode and report judge for the machine of the file, and say so first."""
	path = machine_file("arm.json")
	first = "For the machine of %s, Linux 6.12.9, aarch64:" % path
	log = write("arm.log", "perf_event_open({type=0x8 /* PERF_TYPE_??? */, size=136, config=0x1000, "
		    "exclude_kernel=1}, 0, -1, -1, 0) = -1 EINVAL (Invalid argument)\n")
	dump = os.path.join(TMP, "dump.json")
	run("-o", dump, "--json", "--", PEVTRACE, "open", "-q", "-e", "cpu-clock,sample_freq=60000000", "--", "true")
	why = []
	for args, texts in (
			(("why", "cs_etm/cycacc/"), ("rule kernel_privilege, EACCES", "perf_event_paranoid is 2")),
			(("why", "cpu-clock:u,sample_freq=60000"), ("{sample_freq=50000}", "rule freq_limit")),
			(("why", "-a", "-C", "3", "cpu-clock:u"), ("(rule cpu_privilege, EACCES)",)),
			(("why", "-p", "0", "-C", "4", "cpu-clock:u"), ("(rule cpu_range, EINVAL)",)),
			(("why", "-e", "{type=9,size=136,config=0x11,config1=0xffe0,exclude_kernel=1}".strip("{}")),
			 ("rule arm_threshold, EINVAL",)),
			(("explain", "-e", "cs_etm/cycacc/"), ("This kernel would refuse it with EACCES",)),
			(("decode", "{type=8,size=128,config=0x1000}"), ("type=8 /* cs_etm */", "cs_etm/cycacc=0x1/")),
			(("decode", "sched:sched_switch"), ("config=549 /* sched:sched_switch */",)),
			(("decode", log), ("type=8 /* cs_etm */",)),
			(("why", log), ("cs_etm/", "EINVAL")),
			(("decode", dump), ("perf_event_open(",)),
			(("explain", dump), ("cpu-clock",))):
		r = run(args[0], "--machine=" + path, *args[1:])
		why += has(r, first, *texts) + differ(r.stdout.startswith("For the machine"), True, args)
	page = run("report", "--machine=" + path, "-o", "-", dump)
	why += has(page, first, "the machine named above")
	said = json.loads(run("why", "--machine=" + path, "--json", "cycles:u").stdout)
	return why + differ((said["machine"], said["not_asked"]), (path, "--machine"), "JSON")

def test_no_call():
	"""No call is made for another machine."""
	path = machine_file("arm.json")
	r = run("-e", "trace=perf_event_open", PEVTRACE, "why", "--machine=" + path, "cpu-clock:k")
	return has(r, "rule kernel_privilege", lacks=["perf_event_open("])

def test_missing():
	"""What the file does not say is unknown, not this machine's, and the verdict names it."""
	why = []
	for without, event, texts in (
			(("sysctls",), "cpu-clock", ("perhaps opens: perf_event_paranoid is not known",)),
			(("pmus", "pmus_complete"), "cycles:u", ("perhaps opens", "no_pmu")),
			(("rights",), "cpu-clock", ("kernel_privilege",))):
		r = run("why", "--machine=" + machine_file("less.json", without), event)
		why += has(r, *texts, lacks=["opens, by the rules"])
	dump = os.path.join(TMP, "d.json")
	run("-o", dump, "--json", "--", "true")
	return why + has(run("why", "--machine=" + dump, "cpu-clock"), "Linux %s" % os.uname().release,
			 "perf_event_paranoid is not known")

def test_log():
	"""The result of a call in a log is its own, and so are its numbers; this machine's are a guess."""
	attr = "perf_event_open({type=%s, size=136, config=%s, %s}, %s, -1, -1, 0) = %s\n"
	line = lambda kind, config, rest, result, pid=0: write("a.log", attr % (kind, config, rest, pid, result))
	here = [(p, int(open("/sys/bus/event_source/devices/%s/type" % p, encoding="ascii").read()))
		for p in (os.listdir("/sys/bus/event_source/devices")
			  if os.path.isdir("/sys/bus/event_source/devices") else [])]
	unknown = "For an unknown machine, as a log does not say which"
	why = []
	for name, number in here:
		if number < 6:
			continue
		log = line(number, "0x10", "exclude_kernel=1", "5")
		guess = "on this machine, type %d is %s" % (number, name)
		with open(log, encoding="ascii") as f:
			why += has(run("why", f.read()), unknown, "it opened in the log", "guess: " + guess,
				   lacks=["cause", "refused", "ENOENT"])
		why += has(run("why", log), "no perf_event_open failed", lacks=["cause", "refused"])
		why += has(run("explain", log), unknown, "The call succeeded", "A guess: " + guess,
			   lacks=["PMU " + name])
		why += has(run("decode", log), "type=%d, " % number, guess, lacks=["/* %s */" % name])
	log = line("PERF_TYPE_SOFTWARE", "PERF_COUNT_SW_CPU_CLOCK", "sample_freq=1000000, freq=1, exclude_kernel=1",
		   "-1 EINVAL (Invalid argument)")
	why += has(run("why", log), unknown, "{sample_freq=1000000}: ", "rule freq_limit, EINVAL")
	log = line("PERF_TYPE_HARDWARE", "0", "sample_type=PERF_SAMPLE_REGS_USER, sample_regs_user=0xff00f000, "
		   "exclude_kernel=1", "-1 EINVAL (Invalid argument)")
	why += has(run("why", log), "{sample_regs_user=0xff00f000}: perhaps: ", "rule user_regs",
		   lacks=["/* DS|"])
	log = line("PERF_TYPE_SOFTWARE", "0", "exclude_kernel=1", "-1 EIO (I/O error)")
	why += has(run("why", log), "no known rule explains it (EIO)", lacks=["opens"])
	log = line("PERF_TYPE_SOFTWARE", "0", "exclude_kernel=1", "-1 EACCES (Permission denied)", 4711)
	why += has(run("why", log), "EACCES", lacks=["no task 4711 is here"])
	machine.need("kernel events")
	log = line("PERF_TYPE_SOFTWARE", "PERF_COUNT_SW_DUMMY", "exclude_kernel=1", "-1 EACCES (Permission denied)")
	return why + has(run("why", "--machine=here", log), "the call opens here", lacks=[unknown])

def test_hidden():
	"""Without a PMU for a hardware event, what one would refuse is said, too."""
	path = machine_file("nopmu.json", arch="x86_64", pmus=ARM["pmus"][:5],
			    rights=dict(ARM["rights"], capabilities="0x1ffffffffff"))
	hidden = "with a PMU: also refused by clockid_nmi"
	said = json.loads(run("why", "--machine=" + path, "--json", "-e", "cycles:u,use_clockid,clockid=0").stdout)
	return has(run("why", "--machine=" + path, "cycles:u,use_clockid,clockid=0"), "rule no_pmu", hidden) + \
		has(run("why", "--machine=" + path, "cycles:u"), "rule no_pmu", lacks=["with a PMU"]) + \
		has(run("why", "--machine=" + path, "cpu-clock:u,use_clockid,clockid=77"), "rule clockid",
		    lacks=["with a PMU"]) + differ(said.get("with_pmu"), ["clockid_nmi"], "JSON")

def test_outside():
	"""Causes outside perf are named with what to do: containers, user namespaces, lockdown."""
	why = []
	for changes, event, said in (
			({"container": True}, "cpu-clock", "on the host: only there can it be changed"),
			({"first_user_namespace": False, "capabilities": "0x1ffffffffff"}, "cpu-clock",
			 "as of uid 0 in a rootless container"),
			({"bounding": "0x0"}, "cpu-clock", "start it with them (--cap-add=PERFMON)")):
		path = machine_file("outside.json", rights=dict(ARM["rights"], **changes))
		why += has(run("why", "--machine=" + path, event), "rule kernel_privilege", said)
	path = machine_file("locked.json", lockdown=True)
	return why + has(run("why", "--machine=" + path, "-e", "cpu-clock:u,sample_period=9,sample_type=REGS_INTR,"
			     "sample_regs_intr=1"), "rule lockdown", "boot with lockdown=integrity")

def test_bad():
	"""A file that is none is named, with its line."""
	why = has(run("why", "--machine=/nonexistent", "cycles"), "cannot read '/nonexistent' for --machine", rc=2)
	why += has(run("why", "--once", "--machine=x", "cycles"), "mutually exclusive", rc=2)
	why += has(run("list", "--tracepoints"), "--tracepoints requires --tried --json", rc=2)
	for name, text, said in (
			("empty", "", "the file is empty"), ("text", "cycles\n", ":1: "),
			("other", '{"kind":"call"}\n', "no machine file"),
			("schema", json.dumps(dict(ARM, schema=2)), "schema"),
			("arch", json.dumps(dict(ARM, arch="vax")), "arch"),
			("sysctl", json.dumps(dict(ARM, sysctls={"perf_event_paranoid": "2"})),
			 "perf_event_paranoid"),
			("page", json.dumps(dict(ARM, page_size=3)), "page_size")):
		why += has(run("why", "--machine=" + write(name, text), "cycles:u"), said, rc=2)
	for pmus in ([], [{}], [1], [{"name": "x"}], [{"name": "x", "type": -1}],
		     [{"name": "cpu", "type": 4, "format": {"event": "config9:0-99", "a": 1}, "events": {"b": "?"}}] * 3):
		r = run("why", "--machine=" + write("pmus", json.dumps(dict(ARM, pmus=pmus)) + "\n"), "cpu-clock:k")
		why += has(r, "rule kernel_privilege")
	return why

def main():
	if not PEVTRACE:
		sp.skip_all("PEVTRACE is not set")
	check("the file that list --tried writes", test_written)
	check("ids of tracepoints", test_tracepoints)
	check("verdicts for another machine", test_judged)
	check("another machine is not asked", test_no_call)
	check("what a file does not say", test_missing)
	check("a log is evidence of its own machine", test_log)
	check("what no_pmu hides", test_hidden)
	check("causes outside perf", test_outside)
	check("what is no machine file", test_bad)
	subprocess.run(["rm", "-r", TMP], check=False)
	return TAP.done()

if __name__ == "__main__":
	sys.exit(main())
