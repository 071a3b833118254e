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
from checks import differ, run_all
import machine
import perf_event as pe
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

def test_table():
	"""The table in doc/pasted.md has the lines of golden/pasted.test."""
	why = []
	with open(os.path.join(HERE, "golden", "pasted.test"), encoding="utf-8") as f:
		cases = dict(c.split("\n", 1) for c in f.read().split("\n== ")[1:])
	with open(os.path.join(HERE, "..", "doc", "pasted.md"), encoding="utf-8") as f:
		rows = [r.replace("\\|", "\0").strip("| \n").split(" | ") for r in f
			if r.startswith("| ") and not r.startswith("| text")]
	for title, verb, line, answer in rows:
		verb, answer = verb.strip("`"), answer.replace("\0", "|").strip("`")
		out = cases.pop(title).split("EOF\n$ pevtrace ")[1].split("\n")
		if out[0].split()[0] != verb or answer.replace(" ...", "") not in out[int(line)].replace(" */ /* ", "; "):
			why.append("%s, line %s: %s" % (title, line, out[int(line)]))
	return why + ["not in the table: " + t for t in cases] + ([] if len(rows) >= 40 else ["too few"])

BEYOND = """
import ctypes, struct
room = ctypes.create_string_buffer(struct.pack("<IIQQQQQIIQQ", 1, %d, 2, 0, 0, 0, 0, 0, 0, 0, %d), 160)
ctypes.CDLL(None).syscall(%d, room, 0, -1, -1, 0)
"""

def traced(tmp, engine, size, config2):
	"""Return the notes of a trace, and of its dump, on what lies beyond the size."""
	dump = os.path.join(tmp, "dump")
	script = BEYOND % (size, config2, pe.NR)
	r = run("--engine=" + engine, "-qq", "--json=" + dump, "-o", os.path.join(tmp, "out"),
		sys.executable, "-c", script, tmp=tmp)
	with open(os.path.join(tmp, "out"), encoding="utf-8") as f:
		lines = f.read()
	again = run("decode", "-qq", dump, tmp=tmp).stdout
	return [[n for l in text.splitlines() for n in l.split("/* ")[1:] if "kernel" in n and "config2" in n]
		for text in (lines, again)], r.stderr

def test_beyond(tmp, engine):
	beyond = "config2 lies beyond size 64, if the struct is so long: the kernel does not read it */"
	zero = "size is 0: the kernel reads 64 bytes, without config2, if the struct is so long */"
	why = []
	can = subprocess.run([PEVTRACE, "--engine=" + engine, "-o", "/dev/null", "true"],
			     stderr=subprocess.PIPE, text=True)
	if can.returncode or not pe.NR:
		raise machine.Lack(can.stderr.strip() or "the number of perf_event_open is not known")
	for size, config2, want in ((64, 7, beyond), (0, 7, zero), (64, 0, None), (72, 7, None),
				    (64, 1 << 40, None)):
		got, err = traced(tmp, engine, size, config2)
		for text in got:
			why += differ(len(text), 1 if want else 0, "%d: %s %s" % (size, text, err))
			if want and text:
				why += differ(text[0].startswith(want), True, text[0])
	return why

def test_log(tmp):
	"""Of a log that fails in two ways each call has its own cause; a line that is wrong is said."""
	attr = "type=PERF_TYPE_SOFTWARE, size=136, config=%s"
	log = "".join("12 perf_event_open({%s}, 0, -1, -1, 0) = %s\n" % (attr % "PERF_COUNT_SW_DUMMY" + more, ret)
		      for more, ret in ((", sigtrap=1", "-1 EINVAL (Invalid argument)"), ("", "3"),
					(", sample_type=PERF_SAMPLE_NO", "3"),
					(", sample_freq=1, sample_period=2", "3"),
					(", sample_max_stack=9000, sample_type=PERF_SAMPLE_CALLCHAIN",
					 "-1 EOVERFLOW (Value too large for defined data type)")))
	r = run("why", None, text=log, tmp=tmp)
	causes = [l.split("(rule ")[1].split(",")[0] for l in r.stdout.splitlines() if "(rule " in l]
	why = differ(causes, ["sigtrap_exec", "max_stack"], r.stdout)
	why += differ(["line 3" in r.stderr, "line 4" in r.stderr], [True, True], r.stderr)
	r = run("decode", None, text=log, tmp=tmp)
	why += differ([l.count("rule sigtrap_exec") + l.count("rule max_stack") for l in r.stdout.splitlines()],
		      [1, 0, 1], r.stdout)
	r = run("explain", None, text=log, tmp=tmp)
	text = " ".join(r.stdout.split())
	return why + differ(["rule sigtrap_exec:" in text, "rule max_stack:" in text], [True, True], text)

def main():
	if not PEVTRACE:
		sp.skip_all("PEVTRACE is not set")
	tmp = tempfile.mkdtemp(prefix="pevtrace-pasted-")
	tests = [(title, lambda t=text, a=attrs: test_text(tmp, t, a), None)
		 for title, text, attrs in texts()]
	tests += [
		("the table in doc/pasted.md", test_table, None),
		("each failed call of a log has its cause", lambda: test_log(tmp), None),
		("what lies beyond size, by ptrace", lambda: test_beyond(tmp, "ptrace"), None),
		("what lies beyond size, by BPF", lambda: test_beyond(tmp, "bpf"), None),
	]
	return run_all(tests, tmp)

if __name__ == "__main__":
	sys.exit(main())
