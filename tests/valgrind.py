#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The main paths under valgrind: no bad access, nothing used before it is set,
nothing lost.  Programs that are traced run as they are."""

import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
DEMO = [os.path.join(os.environ.get("PEVTRACE_TARGETS", "tests/targets"), "demo"), "true"]
VALGRIND = shutil.which("valgrind")
FOUND = 99

def main():
	if not VALGRIND:
		sp.skip_all("valgrind is not installed")
	if sp.sanitized():
		sp.skip_all("the sanitizers look after this build")
	tap = sp.Tap()
	with tempfile.TemporaryDirectory() as tmp:
		text, dump, log = (os.path.join(tmp, n) for n in ("text", "dump", "log"))
		for name, expected, args in (
			("trace as text", 0, ["-o", text, *DEMO]),
			("trace with records and a dump", 0,
			 ["-o", text, "--json=" + dump, "--records", "--summary", *DEMO]),
			("decode", 0, ["decode", "-v", "--records", "--summary", dump]),
			("diff", 0, ["diff", dump, dump]),
			("open", 0, ["open", "-e", "{cpu-clock,page-faults}", "--", "true"]),
			("watch", 0, ["watch", "-o", text, "--", "true"]),
			("check", 0, ["check", "-e", "cpu-clock:u"]),
			("decode of no dump", 2, ["decode", PEVTRACE]),
		):
			r = subprocess.run(
				[VALGRIND, "-q", "--log-file=" + log, "--leak-check=full",
				 "--errors-for-leak-kinds=definite", "--error-exitcode=%d" % FOUND,
				 PEVTRACE, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
				stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
				timeout=300)
			with open(log, errors="replace") as f:
				said = f.read()
			tap.ok(r.returncode == expected, name,
			       ["status %d" % r.returncode, said[:4000], r.stdout[-500:]])
	return tap.done()

sys.exit(main())
