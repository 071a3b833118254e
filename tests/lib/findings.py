# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace conform: its findings, as objects, and the page that the tests compare."""

import gzip
import json
import os
import re
import subprocess

import machine

PEVTRACE = os.environ.get("PEVTRACE")
PAGE = "/usr/share/man/man2/perf_event_open.2.gz"
PAGE_ALONE = ["--no-behaviour", "--no-headers", "--no-btf"]
TRACING = ["/sys/kernel/tracing", "/sys/kernel/debug"]
# Reasons of machines for which a claim may be left untried, even if it is known to be false.
LACKS = re.compile("tracefs is not readable|breakpoints (do not fire|cannot)|this machine has no PMU|"
		   "it requires (CAP_|sys|pmu)")
KNOWN_KERNEL = not machine.lacks("CAP_PERFMON") and not machine.lacks("sysctls") and \
	       os.uname().machine == "x86_64" and os.uname().release.startswith("6.18.")

def run(*args, **kw):
	return subprocess.run([PEVTRACE, "conform"] + list(args), stdout=subprocess.PIPE,
			      stderr=subprocess.PIPE, timeout=600, **kw)

def objects(*args, status=(0, 1), **kw):
	r = run("--json", *args, **kw)
	if r.returncode not in status:
		raise AssertionError("%s: status %d: %s" % (args, r.returncode, r.stderr))
	return [json.loads(l) for l in r.stdout.decode().splitlines()]

def findings(*args, kind="finding", **kw):
	return [o for o in objects(*args, **kw) if o["kind"] == kind]

def source(path):
	return gzip.open(path).read().decode()

def write(path, text):
	with open(path, "wb") as f:
		f.write(text if isinstance(text, bytes) else text.encode())
	return path
