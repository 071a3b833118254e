# SPDX-License-Identifier: LGPL-2.1-or-later
"""Running pevtrace and other programs, and reading the dumps that it wrote."""

import json
import os
import shutil
import subprocess

PEVTRACE = os.environ.get("PEVTRACE") or shutil.which("pevtrace")

def run_bytes(*command, **how):
	"""Run a command without input, in the C locale; return its result, with standard output and
	error.  how: as for subprocess.run()."""
	defaults = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 300, "check": False,
		    "env": dict(os.environ, LC_ALL="C")}
	if "input" not in how:
		defaults["stdin"] = subprocess.DEVNULL
	return subprocess.run(command, **{**defaults, **how})

def run(*command, **how):
	"""Run a command as run_bytes() does; its output is text."""
	return run_bytes(*command, text=True, errors="replace", **how)

def dump(path, *command, options=(), **how):
	"""Trace a command into a dump; return the result as run() does."""
	return run(PEVTRACE, "-o", "/dev/null", "--json=" + path, *options, *command, **how)

def objects(path):
	"""Return the objects of a dump, one a line."""
	with open(path, encoding="utf-8", errors="surrogateescape") as f:
		return [json.loads(line) for line in f]

def wait_for_read(pid):
	"""Wait until the process reads its standard input."""
	want = {"x86_64": "0 0x0 ", "aarch64": "63 0x0 "}[os.uname().machine]
	while True:
		with open("/proc/%d/syscall" % pid) as f:
			if f.read().startswith(want):
				return
		os.sched_yield()
