#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The main paths under valgrind: no bad access, nothing used before it is set,
nothing lost.  Programs that are traced run as they are.  A build with sanitizers
looks for what is lost by itself: there the same is run without valgrind."""

import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "lib"))
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
DEMO = [os.path.join(os.environ.get("PEVTRACE_TARGETS", "tests/targets"), "demo"), "true"]
VALGRIND = shutil.which("valgrind")
# valgrind does not know what bpf(2) writes.
SUPPRESSIONS = "".join("{\n%s\nMemcheck:%s\n%sobj:*/libbpf.so*\n}\n" % (kind, kind, called)
		       for kind in ("Cond", "Value8") for called in ("", "fun:strcmp\n"))
FOUND = 99
# ends by die(), which frees nothing that its callers hold
DIES = ["open of nothing"]

def main():
	before = []
	if not sp.sanitized() and not VALGRIND:
		sp.skip_all("valgrind is not installed")
	tap = sp.Tap()
	with tempfile.TemporaryDirectory() as tmp:
		text, dump, log, suppressions = (os.path.join(tmp, n) for n in
						 ("text", "dump", "log", "suppressions"))
		with open(suppressions, "w", encoding="ascii") as f:
			f.write(SUPPRESSIONS)
		if not sp.sanitized():
			before = [VALGRIND, "-q", "--log-file=" + log, "--leak-check=full",
				  "--errors-for-leak-kinds=definite", "--error-exitcode=%d" % FOUND,
				  "--suppressions=" + suppressions]
		nowhere = os.path.join(tmp, "no", "such", "file")
		for name, expected, args in (
			("trace as text", [0], ["-o", text, *DEMO]),
			("trace with records and a dump", [0],
			 ["-o", text, "--json=" + dump, "--records", "--summary", *DEMO]),
			("stacks and symbols", [0], ["-o", text, "-k", "--symbols", *DEMO]),
			("trace that is tampered with", [0],
			 ["-o", text, "-e", "inject=poll:error=EINTR:when=1", "-e",
			  "inject=close:delay=1ms:signal=WINCH:when=fd>3 && type==1", *DEMO]),
			("trace that cannot begin", [2], ["-o", nowhere, "true"]),
			("trace of what is not there", [2], ["-o", text, nowhere]),
			("decode", [0], ["decode", "-v", "--records", "--summary", dump]),
			("diff", [0], ["diff", dump, dump]),
			("explain", [0], ["explain", "--deep", dump]),
			("report", [0], ["report", "-o", text, dump]),
			("codegen", [0, 1], ["codegen", "-o", text, dump]),
			("replay", [0, 1], ["replay", "-q", dump]),
			("open", [0], ["open", "-e", "{cpu-clock,page-faults}", "--", "true"]),
			("open of nothing", [2], ["open", "-e", "no-such-event", "--", "true"]),
			("side-band", [0], ["open", "--side-band", "-o", text, "--", "true"]),
			("why --once", [0], ["why", "--once", "-e", "cpu-clock:u"]),
			("why that cannot be written", [2],
			 ["why", "--once", "-o", nowhere, "-e", "cpu-clock:u"]),
			("why", [0, 1], ["why", "-e", "cycles", "-e", "cpu-clock", "--cpu=999"]),
			("tried", [0], ["list", "--tried", "ioctl"]),
			("decode of no dump", [2], ["decode", PEVTRACE]),
			("why of a command", [0, 1], ["why", "--", "true"]),
			("explain of nothing", [1, 2], ["explain", "no-such-term-at-all"]),
			("conform of another page", [2], ["conform", "--man=/etc/passwd"]),
		):
			env = dict(os.environ, ASAN_OPTIONS="detect_leaks=%d:exitcode=%d" %
				   (name not in DIES, FOUND))
			r = subprocess.run(before + [PEVTRACE, *args], stdin=subprocess.DEVNULL,
					   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
					   errors="replace", check=False, timeout=600, env=env)
			said = ""
			if before:
				with open(log, errors="replace") as f:
					said = f.read()
			found = any(w in r.stdout for w in ("runtime error: ", "LeakSanitizer: "))
			tap.ok(r.returncode in expected and not found, name,
			       ["status %d" % r.returncode, said[:4000], r.stdout[-3000:]])
	return tap.done()

sys.exit(main())
