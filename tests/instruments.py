#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether pevtrace knows what works on this machine: against what lib/machine.py finds by itself, and
where breakpoints are made not to fire (tests/handicap/dead.c)."""

import json
import mmap
import os
import re
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import machine
import programs
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE")
TARGETS = os.environ.get("PEVTRACE_TARGETS", "tests/targets")
DEAD = os.path.join(os.path.dirname(TARGETS), "handicap/dead.so")
# where nothing runs: it counts 0 everywhere
WATCHED = "mem:0x1000:w"
SENTENCE = "opens, but does not count on this machine: hardware breakpoints do not fire"
LIVE = {"preload": None}
WITHOUT = {"preload": DEAD}

def run(*argv, preload, **how):
	"""Run pevtrace; wide lines."""
	env = dict(os.environ, COLUMNS="500")
	if preload:
		env["LD_PRELOAD"] = preload
	return programs.run(PEVTRACE, *argv, env=env, **how)

def says(tap, what, text, want):
	"""text has the sentence exactly if that is wanted."""
	tap.ok((SENTENCE in " ".join(text.split())) == want,
	       "%s: %s" % (what, "says that breakpoints do not fire" if want else "no complaint"), [text])

def features(*names, preload):
	out = run("list", "--tried", "--json", *names, preload=preload).stdout
	return [json.loads(line) for line in out.splitlines()]

def instruments(*names, preload):
	"""Return {instrument: object}, of those that are tried for these features; all without."""
	return {o["name"]: o for o in features(*names, preload=preload) if o["kind"] == "instrument"}

def test_features(tap, fires):
	"""A breakpoint that does not fire is dead; what does not need one is as before."""
	names = ("bp_type", "bp_addr", "bp_len", "PERF_TYPE_BREAKPOINT", "HW_BREAKPOINT_W",
		 "HW_BREAKPOINT_X", "HW_BREAKPOINT_LEN_4", "PERF_COUNT_SW_PAGE_FAULTS")
	for how, want in ((LIVE, "yes" if fires else "dead"), (WITHOUT, "dead")):
		got = {o["name"]: o for o in features(*names, **how) if "result" in o}
		results = [got[n]["result"] for n in names]
		tap.ok(results == [want] * 7 + ["yes"], "features: breakpoints are %s" % want, [got])
		tap.ok(all((SENTENCE in o.get("why", "")) == (o["result"] == "dead")
			   for o in got.values()), "features: why they are %s" % want, [got])
	found = instruments("breakpoint", **WITHOUT)
	dead = {n for n, o in found.items() if o["verdict"] == "dead"}
	tap.ok(dead == {"breakpoint.data", "breakpoint.code"} and
	       all(found[n][k] == v for n in dead for k, v in (("counted", 0), ("least", 3))),
	       "list --tried --json: instruments that breakpoints need are dead", [found])
	text = run("list", "--tried", "HW_BREAKPOINT_W", preload=DEAD).stdout
	tap.ok(re.search(r"^  HW_BREAKPOINT_W +dead +2\.6\.33 +opens, but", text, re.M),
	       "features: the word dead, with the reason", [text])

def test_found(tap, fires):
	"""Verdicts are those of events, and of a program of 32 bits, that this test tries."""
	found = instruments(**LIVE)
	tap.ok(len(found) == 13 and all(o["verdict"] in ("works", "absent", "unknown", "dead",
							 "implausible") for o in found.values()),
	       "list --tried shows all instruments", [found])
	want = "works" if fires else "dead"
	tap.ok(found["breakpoint.data"]["verdict"] == want, "breakpoints: " + want, [found])
	fresh = mmap.mmap(-1, 64 * mmap.PAGESIZE)
	got = machine.count(machine.event(1, 2), lambda: fresh.write(b"1" * len(fresh)))
	tap.ok((found["page-faults"]["verdict"] == "works") == (got > 0), "page faults: %d" % got,
	       [found])
	program = os.path.join(TARGETS, "processes32")
	if not os.path.exists(program):
		tap.skip("32-bit programs", "processes32 is not built")
	else:
		runs = machine.cannot_run(program) is None
		tap.ok((found["compat"]["verdict"] == "works") == runs,
		       "32-bit programs: " + found["compat"]["verdict"], [found])

def test_judges(tap, fires):
	for verb in ("why --once", "why"):
		says(tap, verb, run(*verb.split(), "-e", WATCHED, **LIVE).stdout, not fires)
		says(tap, verb, run(*verb.split(), "-e", WATCHED, **WITHOUT).stdout, True)
		says(tap, verb + ", another event", run(*verb.split(), "-e", "page-faults", **WITHOUT).stdout, False)
		o = json.loads(run(*verb.split(), "--json", "-e", WATCHED, **WITHOUT).stdout)["instrument"]
		tap.ok(o["name"] == "breakpoint.data" and o["verdict"] == "dead" and
		       o["words"].startswith(SENTENCE), verb + " --json", [o])
	says(tap, "why --rules-only", run("why", "--rules-only", "-e", WATCHED, **WITHOUT).stdout, False)
	says(tap, "why, after its remedy",
	     run("why", "-e", WATCHED + ",remove_on_exec,enable_on_exec", **WITHOUT).stdout, True)
	says(tap, "explain -e", run("explain", "-e", WATCHED, **WITHOUT).stdout, True)
	says(tap, "explain -e", run("explain", "-e", WATCHED, **LIVE).stdout, not fires)

def test_blocked(tap, fires):
	"""A SIGTRAP that whoever started pevtrace has blocked is no breakpoint that does not fire."""
	r = run("why", "--once", "-e", WATCHED + ",sigtrap,remove_on_exec,sample_period=1", **LIVE,
		preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTRAP]))
	says(tap, "check with SIGTRAP blocked", r.stdout, not fires)

def test_open(tap, fires):
	command = ("open", "-q", "-e", WATCHED, "-e", "page-faults", "true")
	r = run(*command, **WITHOUT)
	says(tap, "open", r.stderr, True)
	tap.ok(r.stderr.count("pevtrace: ") == 1, "open: of one event", [r.stderr])
	says(tap, "open", run(*command, **LIVE).stderr, not fires)

def test_trace(tap, fires):
	"""The program that is traced need not be one that the library changes."""
	program = [sys.executable, "-c", "import sys; sys.path.insert(0, %r); import machine; "
		   "machine.event(5, more=((52, 'I', 2), (56, 'Q', 0x1000), (64, 'Q', 4)))" % os.path.join(HERE, "lib")]
	for option in ("--explain", "--summary"):
		says(tap, option, run(option, *program, **WITHOUT).stderr, True)
		says(tap, option, run(option, *program, **LIVE).stderr, not fires)
	with tempfile.NamedTemporaryFile() as dump:
		run("--json", "-o", dump.name, *program, **LIVE)
		says(tap, "explain of a dump, which is of another machine",
		     run("explain", dump.name, **WITHOUT).stdout, False)

def test_ps(tap, fires):
	try:
		fd = machine.event(5, more=((52, "I", 2), (56, "Q", 0x1000), (64, "Q", 4)))
	except OSError as e:
		tap.skip("ps", "breakpoints cannot be opened on this machine: " + e.strerror)
		return
	command = ("ps", "-p", str(os.getpid()), "mem:0x1000")
	if os.getuid() or not sp.has_bpf(PEVTRACE):
		tap.skip("ps", "requires root and the BPF programs")
	else:
		for how, want in ((WITHOUT, True), (LIVE, not fires)):
			row = run(*command, **how).stdout
			tap.ok(bool(re.search(r"% !", row)) == want, "ps: %s mark" % ("a" if want else "no"),
			       [row])
			says(tap, "ps -v", run(*command, "-v", **how).stdout, want)
		o = json.loads(run(*command, "--json", **WITHOUT).stdout)
		tap.ok(o["instrument"]["verdict"] == "dead", "ps --json", [o])
	os.close(fd)

def test_admin(tap):
	"""CAP_PERFMON suffices neither for uprobes nor for breakpoints in the kernel."""
	PR_CAPBSET_DROP, CAP_SYS_ADMIN = 24, 21
	for need in ("uprobes", "kernel breakpoints"):
		if machine.lacks(need):
			tap.skip(need + " without CAP_SYS_ADMIN", machine.lacks(need))
			continue
		r = subprocess.run([sys.executable, os.path.join(HERE, "lib/machine.py"), need], text=True, check=False,
				   preexec_fn=lambda: machine.LIBC.prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0),
				   stdout=subprocess.PIPE)
		tap.ok(r.returncode == 1 and "CAP_SYS_ADMIN" in r.stdout, need + " without CAP_SYS_ADMIN", [r.stdout])

def main():
	tap = sp.Tap()
	if not os.path.exists(DEAD):
		sp.skip_all("no library that keeps breakpoints from firing for this processor")
	why = machine.lacks("breakpoints")
	if why and "opened" in why:
		sp.skip_all(why)
	for test in (test_features, test_found, test_judges, test_blocked, test_open, test_trace, test_ps):
		test(tap, not why)
	test_admin(tap)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
