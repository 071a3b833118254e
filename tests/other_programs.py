#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs of others that use perf events, under pevtrace and under strace.

Each has the same exit status under both, and opens as many events of each type, with the
same results.  Those that are not installed are skipped by name; make check-long.
"""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE") or shutil.which("pevtrace")
STRACE = sp.find_program("strace")

# What does not end by itself is ended.
PROGRAMS = (
	("bpftrace, a software event", "bpftrace", "-e",
	 "software:cpu-clock:1000000 { @ = count(); } interval:ms:500 { exit(); }"),
	("bpftrace, a tracepoint", "bpftrace", "-e", "tracepoint:sched:sched_switch { exit(); }"),
	("bpftrace, a uprobe", "bpftrace", "-e",
	 "uprobe:/bin/true:main {} interval:ms:200 { exit(); }"),
	("bpftrace, a profile", "bpftrace", "-e", "profile:hz:50 { exit(); }"),
	("bcc, system calls", "syscount-bpfcc", "-d", "1"),
	("bcc, a profile", "profile-bpfcc", "-F", "49", "1"),
	("stress-ng", "stress-ng", "--cpu", "1", "--timeout", "1", "--perf"),
	("PAPI", "papi_avail"),
	("PAPI, components", "papi_component_avail"),
	("sysprof", "sysprof-cli", "--force", "--no-memory", "-c", "true", "capture"),
	("node-exporter", "timeout", "-s", "INT", "2", "prometheus-node-exporter",
	 "--collector.disable-defaults", "--collector.perf", "--web.listen-address=127.0.0.1:0"),
	("perf test, attrs", "perf", "test", "-v", "17"),
	("perf test, breakpoints", "perf", "test", "-v", "20", "21", "22", "23"),
	("perf test, rings", "perf", "test", "-v", "4", "24", "25", "28", "51"),
	("perf's Python module", "/usr/bin/python3", "-c",
	 "import perf; e = perf.evsel(type=1, config=9); "
	 "e.open(cpus=perf.cpu_map(), threads=perf.thread_map(-1))"),
)

OPEN = re.compile(r"perf_event_open\(\{.*?type=([^,} ]+).*?\) += (\d+|-1 (\w+))")

def opens(path):
	"""{(type, errno or "fd"): times}; a type without a name is a number."""
	found = collections.Counter()
	with open(path, errors="replace") as f:
		for line in f:
			m = OPEN.search(line)
			if m:
				kind = m[1] if m[1][0] == "P" else int(m[1], 0)
				found[kind, m[3] or "fd"] += 1
	return found

def under(tracer, argv, tmp, name):
	path = os.path.join(tmp, name)
	r = subprocess.run(tracer + ["-f", "-e", "trace=perf_event_open", "-o", path] + argv,
			   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
			   stderr=subprocess.STDOUT, cwd=tmp, timeout=120)
	return r.returncode, opens(path), r.stdout[-300:]

def main():
	tap = sp.Tap()
	if not sp.LONG:
		sp.skip_all("takes long: make check-long")
	if not STRACE:
		sp.skip_all("there is no strace here")
	tmp = tempfile.mkdtemp(prefix="pevtrace-programs.")
	try:
		for name, *argv in PROGRAMS:
			program = argv[4] if argv[0] == "timeout" else argv[0]
			path = sp.find_program(program, ("/usr/sbin",))
			if not path:
				tap.skip(name, program + " is not installed")
				continue
			argv[argv.index(program)] = path
			theirs = under([STRACE, "-qq"], argv, tmp, "theirs")
			ours = under([PEVTRACE], argv, tmp, "ours")
			if not theirs[1] and not ours[1] and ours[0] == theirs[0]:
				tap.skip(name, "it opened no events here, with status %d" % ours[0])
				continue
			tap.ok(ours[:2] == theirs[:2], "%s: %d opens" % (name, sum(theirs[1].values())),
			       [ours, theirs])
	finally:
		shutil.rmtree(tmp, ignore_errors=True)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
