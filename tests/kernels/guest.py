#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs on a kernel under test, started by init: tries pevtrace, and writes a line of JSON for
each part: its status, its seconds, and its output, compressed."""

import base64
import json
import os
import signal
import subprocess
import sys
import time
import zlib

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = "/build"
ENV = dict(os.environ, NO_COLOR="1", PYTHONUNBUFFERED="1", PEVTRACE="/usr/bin/pevtrace", LC_ALL="C",
	   PEVTRACE_TARGETS=BUILD + "/tests/targets", srcdir="/", builddir=BUILD)
DEMO = BUILD + "/tests/targets/demo"
# More than 2 is a patch of Debian, by which users may do nothing at all.
PARANOID = "/proc/sys/kernel/perf_event_paranoid"

def test(name, *words):
	return [sys.executable, os.path.join(TESTS, name), *words]

def parts(core):
	"""Return {name: command}, in the order in which they run; core: options of the core of a test."""
	return {
		"version": ["uname", "-v"],
		"trace": ["pevtrace", "--records", "--summary", DEMO],
		"open": ["pevtrace", "open", "-e", "{page-faults,dummy}", "-e", "context-switches", DEMO],
		"dump": ["pevtrace", "--json", "-o", "/tmp/demo.json", DEMO],
		"decode": ["pevtrace", "decode", "/tmp/demo.json"],
		"ps": [DEMO, "pevtrace", "ps"],
		"bpf": ["pevtrace", "--engine=bpf", "--records", "--summary", DEMO],
		"all": ["pevtrace", "-a", "--summary", DEMO],
		"as_kernel": ["pevtrace", "--as-kernel", "3.10", DEMO],
		"self": ["pevtrace", "conform", "--self", "--no-headers"],
		"check": ["pevtrace", "why", "--once", "-e", "cpu-clock", "-e", "dummy,sigtrap,remove_on_exec",
			  "-e", "cpu-clock,clockid=7,use_clockid"],
		"features": ["pevtrace", "list", "--tried"],
		"rules": [BUILD + "/tests/unit/test_rules_live"],
		# Debian's kernels have the patch by which this refuses a user everything
		"denied": ["sh", "-c", "echo 3 >%s; %s/tests/unit/test_rules_live --nobody; s=$?; echo 2 >%s; exit $s" %
			   (PARANOID, BUILD, PARANOID)],
		"claims": ["pevtrace", "conform", "--json", "--no-headers", "--no-btf"],
		"transparent": test("transparent.py", *core),
		"engines": test("engines_agree.py", *core),
		"functions": ["env", "PEVTRACE_ENGINE=bpf-functions", *test("engines_agree.py", *core)],
		"asks": [BUILD + "/tests/kernels/asks"],
		"counters": test("kernels/counters.py"),
		"lockdown": test("kernels/lockdown.py"),
		"locked_claims": ["pevtrace", "conform", "--json", "--no-headers", "--no-btf"],
	}

def run(name, limit, argv):
	start = time.monotonic()
	path = "/tmp/output"
	with open(path, "w") as f:
		p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=f, stderr=f, env=ENV, cwd="/tmp",
				     start_new_session=True)
		try:
			status = p.wait(limit)
		except subprocess.TimeoutExpired:
			status = "ended after %d s" % limit
			os.killpg(p.pid, signal.SIGKILL)
			p.wait()
	with open(path, "rb") as f:
		output = base64.b64encode(zlib.compress(f.read())).decode()
	print(json.dumps({"name": name, "status": status, "output": output,
			  "seconds": round(time.monotonic() - start, 1)}), flush=True)

def main():
	with open(PARANOID, "w") as f:
		f.write("2")
	with open("/proc/cmdline") as f:
		words = dict(w.split("=", 1) for w in f.read().split() if "=" in w)
	ENV.update((k, v) for k, v in words.items() if k.isupper())
	for name, argv in parts([] if "LONG" in words else ["--core"]).items():
		if name in words["parts"].split(","):
			run(name, int(words["limit"]), argv)

if __name__ == "__main__":
	main()
