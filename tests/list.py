#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace list against perf list, tracefs and sysfs, and what pevtrace open makes of the names."""

import ctypes
import errno
import glob
import json
import os
import re
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from checks import check, differ, TAP
import machine
import ringparse as rp
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE")

def listed(*args, rc=0):
	r = subprocess.run([PEVTRACE, "list"] + list(args), stdout=subprocess.PIPE,
			   stderr=subprocess.PIPE, timeout=300)
	if r.returncode != rc:
		raise AssertionError("%s: status %d, %s" % (args, r.returncode, r.stderr))
	return r.stdout.decode()

def objects(*args):
	return [json.loads(l) for l in listed("--json", *args).splitlines()]

def names(kind):
	return {n for o in objects(kind) for n in (o.get("event"), o.get("also")) if n}

def perf_names(kind, mark):
	"""The names of perf list, those after OR included."""
	out = subprocess.run(["perf", "list", "--no-desc", kind], stdout=subprocess.PIPE,
			     stderr=subprocess.DEVNULL).stdout.decode()
	found = set()
	for line in out.splitlines():
		m = re.match(r"  (\S.*?) +\[(.*)\]$", line)
		if m and m[2] == mark:
			found |= set(m[1].split(" OR "))
	return found

def test_perf(kind, mark):
	if kind == "tracepoint":
		machine.need("tracefs")
	theirs = perf_names(kind, mark)
	# newer releases list all of ftrace, of which perf_event_open accepts one
	theirs = {name for name in theirs
		  if not name.startswith("ftrace:") or name == "ftrace:function"}
	# our PMUs' events include those of the CPU's PMU that generic names cover in perf list
	return differ(sorted(theirs - names(kind)), [], "in perf list only")

def test_tracepoints():
	root = sp.TRACEFS
	if machine.lacks("tracefs"):
		return differ(listed("tracepoint", rc=1), "", "without tracefs")
	there = {":".join(p.split("/")[-3:-1]) for p in glob.glob(root + "/events/*/*/id")}
	return differ(names("tracepoint"), there, "tracepoints") + \
		differ([int(o["attr"]["config"], 16) for o in objects("sched:sched_switch")],
		       [int(open(root + "/events/sched/sched_switch/id").read())], "config")

def test_pmus():
	there = {"/".join((p.split("/")[-3], p.split("/")[-1], ""))
		 for p in glob.glob("/sys/bus/event_source/devices/*/events/*")
		 if not p.endswith((".scale", ".unit", ".per-pkg", ".snapshot"))}
	return differ(names("pmu"), there, "events of PMUs")

def test_pfm():
	"""libpfm4 encodes each of its names as the attr that list shows."""
	events = [o for o in objects() if o["kind"] == "pfm"]
	try:
		lib = ctypes.CDLL("libpfm.so.4")
	except OSError:
		return differ(events, [], "without libpfm4")
	lib.pfm_initialize()
	why = []
	for o in events:
		attr = ctypes.create_string_buffer(4096)
		# 9: PFM_PLM0 | PFM_PLM3
		rc = lib.pfm_get_perf_event_encoding(o["event"].encode(), 9, attr, None, None)
		got = struct.unpack_from("I", attr.raw)[0], struct.unpack_from("Q", attr.raw, 8)[0]
		want = o["attr"]["type"], int(o["attr"]["config"], 16)
		why += differ((rc,) + got, (0,) + want, o["event"])
	return why

def test_attrs():
	"""What list shows of a name is what open passes."""
	why = []
	written = ["cpu-clock:u", "r1a8", "mem:0x1000:rw", "cycles:pp", "type=1,config=2", "cpu-clock,sample_freq=9"]
	if os.path.isdir("/sys/bus/event_source/devices/uprobe"):
		written += ['uprobe/path="/bin/sh",offset=0x1/']
	if sp.tracefs():
		written += ["sched:sched_switch:k"]
	listed_as = [(o, {o["event"], o.get("also") or o["event"]})
		     for o in objects("software", "pmu") + objects("cache")[:3] + objects("hardware")[:2]]
	for o, wanted in listed_as + [(o, {text}) for text in written for o in objects(text)]:
		for name in wanted:
			r = subprocess.run([PEVTRACE, "open", "--json", "-o", "/dev/stdout", "-e", name,
					    "--for", "0.001", "-p", "1"], stdout=subprocess.PIPE,
					   stderr=subprocess.DEVNULL)
			calls = [json.loads(l) for l in r.stdout.splitlines()]
			attrs = [c["args"]["attr_uptr"] for c in calls if c.get("call") == "perf_event_open"]
			if not attrs:
				why.append("%s: no open: %r" % (name, r.stdout[:200]))
				continue
			for member, value in o["attr"].items():
				if member != "size":
					why += differ(attrs[0].get(member), value, "%s: %s" % (name, member))
	return why

def test_patterns():
	every = objects()
	why = []
	for pattern, want in (
		("page-faults", lambda o: "page-faults" in (o.get("event") or o["form"]) or
		 "page-faults" in o.get("also", "")),
		("PAGE-FAULTS*", lambda o: (o.get("event") or o["form"]).startswith("page-faults") or
		 o.get("also", "").startswith("page-faults")),
		("software:*cs*", lambda o: o["kind"] == "software" and
		 ("cs" in o["event"] or "cs" in o.get("also", ""))),
		("s:*cs*", lambda o: o["kind"] == "software" and
		 ("cs" in o["event"] or "cs" in o.get("also", ""))),
		("t:sched:*", lambda o: o.get("event", "").startswith("sched:")),
		("sw", lambda o: o["kind"] == "software"), ("hw", lambda o: o["kind"] == "hardware"),
		("sched:sched_w*", lambda o: o.get("event", "").startswith("sched:sched_w")),
	):
		want = [o for o in every if want(o)]
		got = objects(pattern) if want else []
		why += differ(got, want, pattern)
	why += differ(objects("sw", "cache"), [o for o in every if o["kind"] in ("software", "cache")],
		      "two patterns")
	return why

def test_no_tracefs():
	"""Without tracefs, only what may be a tracepoint is answered with that."""
	machine.need("mounts")
	why = []
	for patterns, said in (([], True), (["software"], False), (["cpu*", "h:*"], False), (["*"], True),
			       (["software", "sched:*"], True), (["tracepoint"], True), (["t:sched:*"], True)):
		r = subprocess.run(["unshare", "-m", "sh", "-c", "umount /sys/kernel/tracing 2>/dev/null; exec \"$@\"",
				    "sh", PEVTRACE, "list"] + patterns, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
		why += differ((b"cannot read tracepoints: " in r.stderr, b"a PMU" in r.stderr), (said, False),
			      "%s: %s" % (patterns, r.stderr))
	return why

def opens(attr):
	"""Return the errno of an open of that type and config."""
	buf = bytearray(128)
	struct.pack_into("IIQ", buf, 0, attr["type"], 128, int(attr["config"], 16))
	buf[40] = 1 | 1 << 5	# disabled, exclude_kernel
	libc = ctypes.CDLL(None, use_errno=True)
	fd = libc.syscall({"x86_64": 298}.get(os.uname().machine, 241), (ctypes.c_char * 128).from_buffer(buf),
			  0, -1, -1, 8)
	if fd >= 0:
		os.close(fd)
	return 0 if fd >= 0 else ctypes.get_errno()

def test_unsupported():
	"""What this machine lacks is marked, one by one or in the heading."""
	machine.need("events")
	why = []
	for kind in ("hardware", "cache"):
		every = objects(kind)
		for o in every:
			error = opens(o["attr"])
			why += differ(o.get("unsupported"), errno.errorcode[error] if error else None, o["event"])
		lacking = [o for o in every if "unsupported" in o]
		text = listed(kind)
		all_ = len(lacking) == len(every)
		why += differ(("no PMU of this machine has them" in text.splitlines()[0],
			       text.count("/* not on this machine: ")),
			      (all_, 0 if all_ else len(lacking)), kind)
	return why + differ([o for o in objects("software") if "unsupported" in o], [], "software")

def test_text():
	"""Text has the same events, and each is on its line with its attr."""
	lines = [l.strip() for l in listed().splitlines() if l.startswith("  ")]
	every = [o.get("event") or o["form"] for o in objects()]
	return differ([l.split(" ")[0] for l in lines], every, "names") + \
		differ([l for l in lines if "{type=" not in l], [], "lines without an attr")

def test_schema():
	path = os.path.join(HERE, "..", "share", "pevtrace", "list.schema.json")
	with open(path) as f:
		validator = rp.jsonschema.Draft7Validator(json.load(f))
	return [str(e)[:200] for o in objects() for e in validator.iter_errors(o)]

def main():
	if not PEVTRACE:
		sp.skip_all("PEVTRACE is not set")
	if sp.find_program("perf"):
		for kind, mark in (("sw", "Software event"), ("hw", "Hardware event"),
				   ("pmu", "Kernel PMU event"), ("tracepoint", "Tracepoint event")):
			check("perf list " + kind, lambda: test_perf(kind, mark))
	else:
		TAP.skip("perf list", "no perf")
	check("tracepoints of tracefs", test_tracepoints)
	check("no tracefs", test_no_tracefs)
	check("events of PMUs in sysfs", test_pmus)
	check("events of libpfm4", test_pfm)
	check("an event's attr is what open passes", test_attrs)
	check("patterns", test_patterns)
	check("events that the machine lacks", test_unsupported)
	check("text", test_text)
	if rp.jsonschema:
		check("--json is as its schema says", test_schema)
	else:
		TAP.skip("--json is as its schema says", "python3-jsonschema is not installed")
	return TAP.done()

if __name__ == "__main__":
	sys.exit(main())
