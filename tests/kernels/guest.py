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

# Name, seconds (of the guest's clock) after which it is ended, command.
PARTS = (
	("version", 9, ["uname", "-v"]),
	("trace", 60, ["pevtrace", "--records", "--summary", DEMO]),
	("open", 60, ["pevtrace", "open", "-e", "{page-faults,dummy}", "-e", "context-switches", DEMO]),
	("dump", 60, ["pevtrace", "--json", "-o", "/tmp/demo.json", DEMO]),
	("decode", 60, ["pevtrace", "decode", "/tmp/demo.json"]),
	("ps", 60, [DEMO, "pevtrace", "ps"]),
	("bpf", 60, ["pevtrace", "--engine=bpf", "--records", "--summary", DEMO]),
	("all", 60, ["pevtrace", "-a", "--summary", DEMO]),
	("as_kernel", 60, ["pevtrace", "--as-kernel", "3.10", DEMO]),
	("self", 60, ["pevtrace", "conform", "--self", "--no-headers"]),
	("check", 60, ["pevtrace", "check", "-e", "cpu-clock", "-e", "dummy,sigtrap,remove_on_exec",
		       "-e", "cpu-clock,clockid=7,use_clockid"]),
	("features", 240, ["pevtrace", "features"]),
	("rules", 300, [BUILD + "/tests/unit/test_rules_live"]),
	("counters", 300, test("kernels/counters.py")),
	("asks", 600, [BUILD + "/tests/kernels/asks"]),
	("engines", 120, test("engines.py")),
	("functions", 120, ["env", "PEVTRACE_ENGINE=bpf-functions", *test("engines.py")]),
	("transparent", 300, test("transparent.py", "everyday fork", "everyday vfork",
				  "everyday thread_exec", "confined filter", "eventful")),
	("claims", 300, ["pevtrace", "conform", "--json", "--no-headers", "--no-btf"]),
)

# Too slow for every boot of a machine whose clock counts instructions, without LONG=1.
SLOW = ("engines", "functions", "transparent", "claims")
CPUS = int(os.environ.get("CPUS", "1"))

def run(name, limit, argv):
	start = time.monotonic()
	path = "/tmp/output"
	with open(path, "w") as f:
		p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=f, stderr=f, env=ENV, cwd="/tmp",
				     start_new_session=True)
		try:
			status = p.wait(limit * CPUS)
		except subprocess.TimeoutExpired:
			status = "ended after %d s" % (limit * CPUS)
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
	wanted = words.get("parts", "").split(",")
	usual = [name for name, *_ in PARTS if name not in SLOW or "LONG" in words or
		 os.uname().machine == "x86_64"]
	for name, limit, argv in PARTS:
		if name == "version" or name in (usual if wanted == [""] else wanted):
			run(name, limit, argv)

if __name__ == "__main__":
	main()
