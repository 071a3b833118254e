#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""On a kernel under test with lockdown=confidentiality: what pevtrace says of what lockdown forbids is
held against calls made here.  checks.py compares the claims that conform calls false with those
of the kernel without lockdown."""

import ctypes
import errno
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import machine
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE", "pevtrace")
LOCKDOWN = "/sys/kernel/security/lockdown"
REGS_INTR = 1 << 18
FUNCTION = ctypes.create_string_buffer(b"do_nanosleep")
SAMPLED = "{type=PERF_TYPE_SOFTWARE, size=112, config=PERF_COUNT_SW_DUMMY, " \
	  "sample_type=PERF_SAMPLE_REGS_INTR, sample_regs_intr=1}"
TAP = sp.Tap()

def pevtrace(*args):
	r = subprocess.run([PEVTRACE, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
			   stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
	return r.returncode, r.stdout

def objects(*args):
	return [json.loads(l) for l in pevtrace(*args)[1].splitlines() if l.startswith("{")]

def result(*args, **target):
	"""Return what becomes of an event here: an errno's name, or "opens"."""
	try:
		os.close(machine.event(*args, **target))
	except OSError as e:
		return errno.errorcode[e.errno]
	return "opens"

def as_nobody(*args, **target):
	"""The same for an ordinary user."""
	r, w = os.pipe()
	if not os.fork():
		sp.as_nobody()()
		os.write(w, result(*args, **target).encode())
		os._exit(0)
	os.wait()
	os.close(w)
	with os.fdopen(r) as f:
		return f.read()

def kprobe_type():
	with open(machine.DEVICES + "/kprobe/type") as f:
		return int(f.read())

def test_kernel():
	"""Without these refusals the other tests would show nothing."""
	sampled = result(machine.SOFTWARE, machine.DUMMY, ((24, "Q", REGS_INTR), (96, "Q", 1)))
	probed = result(kprobe_type(), 0, ((40, "Q", 0), (56, "Q", ctypes.addressof(FUNCTION))))
	names = os.listdir(sp.TRACEFS)
	TAP.ok((sampled, probed, names) == ("EPERM", "EPERM", []),
	       "the kernel forbids registers of interrupted code, kprobes and tracefs",
	       [sampled, probed, names])

def test_features():
	found = {o.get("name", o["kind"]): o for o in objects("features", "--json")}
	rules = {"sample_regs_intr": "lockdown", "PERF_SAMPLE_REGS_INTR": "lockdown",
		 "kprobe_func": "kprobe_lockdown", "kprobe": "kprobe_lockdown"}
	wrong = [found[name] for name, rule in rules.items()
		 if (found[name]["result"], found[name].get("rule")) != ("no", rule)]
	wrong += [o for name, o in found.items() if o.get("error") == "EPERM" and
		  o.get("rule") not in rules.values()]
	wrong += [found[name] for name in ("PERF_TYPE_TRACEPOINT", "PERF_EVENT_IOC_SET_FILTER")
		  if found[name]["result"] != "untried"]
	TAP.ok(not wrong, "features names lockdown where it refuses, and nothing else", wrong)
	TAP.ok(any("the kernel is locked down" in l for l in found_limits(found)),
	       "features says that the kernel is locked down", found_limits(found))

def found_limits(found):
	return [l for o in found.values() for l in o.get("limits", ())]

def test_why(text, blame, rule):
	o = objects("why", "--json", text)[-1]
	faults = [(f["blame"], f.get("rule")) for f in o.get("faults", ())]
	TAP.ok(faults == [([blame], rule)], "why blames %s, by rule %s" % (blame, rule), [o])
	said = pevtrace("why", text)[1]
	TAP.ok("blocked by: the kernel is locked down" in said, "and says what blocks it",
	       said.splitlines())
	said = pevtrace("check", text)[1]
	TAP.ok("verdict: refused, as predicted" in said, "check predicts that",
	       said.splitlines())

def test_permissions():
	"""The lesson's answers are those of the same calls made here."""
	user = ((40, "Q", 1 << 5),)
	faults = (machine.SOFTWARE, 2)
	want = ["yes" if as_nobody(*faults, user) == "opens" else "no",
		as_nobody(*faults, (machine.KERNEL_TOO,)),
		as_nobody(*faults, user, pid=-1, cpu=0), as_nobody(*faults, user, pid=1)]
	status, said = pevtrace("learn", "permissions")
	got = re.findall(r"^Answer: (\S+)", said, re.M)[:len(want)]
	TAP.ok((status, got) == (0, want), "learn permissions answers as the kernel does",
	       ["%s, here %s" % (got, want)] + said.splitlines()[-5:])

def main():
	with open(LOCKDOWN) as f:
		if "[confidentiality]" not in f.read():
			sp.skip_all("this kernel was not booted with lockdown=confidentiality")
	test_kernel()
	test_features()
	test_why(SAMPLED, "sample_type", "lockdown")
	test_why("{type=%d, kprobe_func=\"do_nanosleep\"}" % kprobe_type(), "type", "kprobe_lockdown")
	test_permissions()
	return TAP.done()

if __name__ == "__main__":
	sys.exit(main())
