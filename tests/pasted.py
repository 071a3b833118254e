#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Attrs and logs as tools wrote them: tests/pasted/TOOL.txt has texts of tools of the versions named
in their first lines, "==== TOOL VERSION: HOW", each with the bytes that were passed, "---- bytes"."""

import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "lib"))
from checks import check, differ, run_all, TAP
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE")

def texts():
	for path in sorted(glob.glob(os.path.join(HERE, "pasted", "*.txt"))):
		with open(path, encoding="utf-8", errors="surrogateescape") as f:
			for case in f.read().split("==== ")[1:]:
				title, rest = case.split("\n", 1)
				text, attrs = rest.split("---- bytes\n")
				yield title, text, attrs.split()

def run(*args, text=None, tmp=None):
	path = os.path.join(tmp, "pasted.txt")
	if text is not None:
		with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
			f.write(text)
	return subprocess.run([PEVTRACE] + [path if a is None else a for a in args],
			      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

def decoded(tmp, text):
	r = run("decode", "--json", None, text=text, tmp=tmp)
	attrs = [o for o in map(json.loads, r.stdout.splitlines()) if "attr" in o]
	return [o["attr_bytes"] for o in attrs], r.stderr

def test_text(tmp, text, attrs):
	got, err = decoded(tmp, text)
	# dumps may go on behind the attr
	got = [g[:2 * max(64, int.from_bytes(bytes.fromhex(g[8:16]), "little"))] for g in got]
	return differ(got, attrs, err)

def main():
	if not PEVTRACE:
		sp.skip_all("PEVTRACE is not set")
	tmp = tempfile.mkdtemp(prefix="pevtrace-pasted-")
	tests = [(title, lambda t=text, a=attrs: test_text(tmp, t, a), None)
		 for title, text, attrs in texts()]
	return run_all(tests, tmp)

if __name__ == "__main__":
	sys.exit(main())
