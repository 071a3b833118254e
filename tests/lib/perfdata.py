# SPDX-License-Identifier: LGPL-2.1-or-later
"""The perf.data files of --perf-data and report --format=perf-data, held against those of perf.

A trace of perf record has the records that perf itself stores: perf script, perf evlist -v and
perf report --stdio must print the same of both files.

With PERF_ROOT=DIR, the perf of another release reads the files as well: DIR is a root directory
with its packages, such as
	mmdebstrap --variant=extract --include=linux-perf trixie DIR
"""

import os
import re

from programs import run_bytes as run
import ringparse as rp

ROOT = os.environ.get("PERF_ROOT")
TRIES = 4	# a ring may be overwritten before a busy machine reads it
# perf puts its own directory into PATH, where PERF_ROOT has programs of another release
WORK = ["/bin/sh", "-c", "PATH=/usr/bin:/bin; i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done; "
	"ls / >/dev/null; cat /proc/self/maps | wc -l >/dev/null"]

def readers():
	"""Return the commands of perf by name."""
	out = {"perf": [rp.PERF]}
	if ROOT:
		libs = os.path.join(ROOT, "usr/lib/%s-linux-gnu" % os.uname().machine)
		loader = os.path.join(libs, "ld-linux-%s.so.2" %
				      os.uname().machine.replace("_", "-"))
		out["PERF_ROOT's perf"] = [loader, "--library-path", libs,
					   os.path.join(ROOT, "usr/bin/perf")]
	return out

def text(*argv, **how):
	"""Return the lines of standard output; perf's tips are chosen at random."""
	r = run(*argv, **how)
	lines = r.stdout.decode(errors="replace").split("\n")
	return [line for line in lines if not line.startswith("# (Tip:")]

def trace(options, argv, **how):
	return run(rp.PEVTRACE, "-q", "-o", "/dev/null", *options, *argv, **how)

def from_dump(path, dump):
	"""Write the perf.data file of a dump."""
	return run(rp.PEVTRACE, "report", "--format=perf-data", "-o", path, dump)

def record(tmp, args, options=(), perf=rp.PERF):
	"""Trace perf record; return both files, perf's first, and what went wrong."""
	own, ours = os.path.join(tmp, "own.data"), os.path.join(tmp, "ours.data")
	for _ in range(TRIES):
		r = trace(list(options) + ["--perf-data=" + ours],
			  [perf, "record", "-o", own] + args)
		if b"overwritten" not in r.stderr:
			break
	err = r.stderr.decode(errors="replace")
	bad = [line for line in err.split("\n") if line.startswith("pevtrace:")]
	return own, ours, bad + ([] if not r.returncode else [err])

# What perf prints of a file.  Call chains are in the output of script; their tree in that of
# report has branches of equal weight in an order that depends on the files' layout.
PRINTS = {
	"script": ["script", "-i"],
	"evlist -v": ["evlist", "-v", "-i"],
	"report": ["report", "--stdio", "-g", "none", "-i"],
}

# The same without files and symbols, for tasks of another root directory than ours: perf names and
# reads their files as these tasks do while they live, and then as we do.
PRINTS_OF_OTHERS = {
	"script": ["script", "-F", "-sym,-symoff,-dso", "-i"],
	"evlist -v": PRINTS["evlist -v"],
	"report": ["report", "--stdio", "-g", "none", "--sort", "comm", "-i"],
}

WHOLE_MACHINE = re.compile("the whole machine| -ae? ")

def others_measured(name):
	"""Return whether this set measures programs of another root directory."""
	def is_another(pid):
		try:	# a kernel thread has no program
			return os.readlink("/proc/%s/exe" % pid) and \
				not os.path.samefile("/proc/%s/root/" % pid, "/")
		except FileNotFoundError:	# or it has ended
			return False
		except PermissionError:
			return True
	return WHOLE_MACHINE.search(name) and any(is_another(pid) for pid in os.listdir("/proc")
						  if pid.isdigit())

def difference(a, b):
	"""Return the first lines that differ."""
	for i, (x, y) in enumerate(zip(a, b)):
		if x != y:
			return ["line %d" % (i + 1), "perf's: " + x, "ours:   " + y]
	return ["%d and %d lines" % (len(a), len(b))] if len(a) != len(b) else []

def differences(perf, prints, own, ours):
	"""Return what differs in the output of this perf, and the numbers of lines."""
	why, lines = [], []
	for what in prints:
		# kworkers change their names also between perf's look and ours
		a, b = ([line for line in text(*perf, *prints[what], f) if "kworker/" not in line]
			for f in (own, ours))
		if len(a) < 2:
			why.append("%s prints nothing" % what)
		why += [what + ": " + w for w in difference(a, b)]
		lines.append("%s %d" % (what, len(a)))
	return why, lines

def compare(tap, name, own, ours, bad, by=None, again=None):
	"""again: record once more, where the whole machine is measured: other programs may exec between
	perf's look at them and ours."""
	for _ in range(TRIES):
		prints = PRINTS_OF_OTHERS if others_measured(name) else PRINTS
		found = {who: differences(perf, prints, own, ours)
			 for who, perf in (by or readers()).items()}
		if not (again and WHOLE_MACHINE.search(name)) or not any(why for why, _ in found.values()):
			break
		own, ours, bad = again()
	for who, (why, lines) in found.items():
		why = bad + why
		tap.ok(not why, "%s, read by %s: equal lines: %s" %
		       (name, who, ", ".join(lines)), why[:8])

def header(f):
	"""Return the features that perf prints of a file, without where it has its data, and when."""
	lines = text(rp.PERF, "report", "--header-only", "-i", f)
	heads = {line.split(" : ")[0]: line for line in lines if " : " in line}
	return {k: v for k, v in heads.items() if "offset" not in k and "captured" not in k}

def main(names):
	"""Run the tests of a file: the functions of its names that begin with test_."""
	return rp.main("pevtrace-perfdata.", "perf reads the files", lambda *_: [],
		       lambda tap, tmp, _: [(name[5:], lambda t=test: t(tap, tmp)) for name, test in names.items()
					    if name.startswith("test_")])
