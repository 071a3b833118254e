#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Dumps that were written to harm who reads them: each text of each kind of line holds control
characters, what reverses the direction of text, and what ends strings and comments of C; no verb
may print that raw, and the C that codegen writes compiles.  And numbers that collide, chains and
crowds: twice the input takes about twice the instructions, counted by valgrind."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "lib"))
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
# the second is a name of a file in the machine's directories as far as characters tell
EVILS = ["a\x1b[31m\u202e\u200e\u2028\u061c\u009b\r\nint x;*//*\"\\??/b", "a\x1b[31m\u202e\u009b\r\nint_x;*%sb"]
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe]")
VERBS = {"decode": ["decode", "-v", "-y", "--records", "--summary"],
	 "explain": ["explain", "--deep"], "diff": ["diff"],
	 "normalize": ["diff", "--normalize"], "report": ["report"],
	 "chrome": ["report", "--format=chrome"], "codegen": ["codegen", "--all"],
	 "codegen here": ["codegen"]}
VALGRIND = shutil.which("valgrind")
CC = shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")

def line(kind, **more):
	return dict({"kind": kind}, **more)

HEAD = line("header", schema=1, pevtrace="0.2", arch="x86_64", page_size=4096, cpus=2, cpus_online=2,
	    real_offset_ns=0, start_ns=0,
	    kernel={"sysname": "Linux", "release": "6.18.0", "version": "#1", "machine": "x86_64",
		    "nodename": "host"}, command=["prog", "argument"], attached=[])

def task(tid, parent=0, pid=None):
	return line("task", tid=tid, ns=tid, pid=pid or tid, parent=parent, attached=False,
		    shares_files=False, shares_memory=False)

def call(name, raw, ret, args, tid=10, **more):
	at = {"enter_ns": 1000, "start_ns": 1001, "exit_ns": 1002}
	return line("call", call=name, tid=tid, pid=tid, arch="x86_64", shown=True, raw=raw, ret=ret,
		    args=args, memory=[], **dict(at, **more))

def attr(kind, config):
	return (kind.to_bytes(4, "little") + (128).to_bytes(4, "little") +
		config.to_bytes(8, "little") + bytes(112))

def opened(fd, number, kind=1, config=3, name="cs"):
	data = attr(kind, config)
	c = call("perf_event_open", ["0x1000", "0x0", hex(2**64 - 1), hex(2**64 - 1), "0x0"], fd, {
		"attr_uptr": {"type": kind, "size": 128, "config": config}, "pid": 0, "cpu": -1,
		"group_fd": -1, "flags": 0}, nr=298, event=number, event_name=name)
	c["memory"] = [{"at": "enter", "addr": "0x1000", "want": 128, "hex": data.hex()}]
	return c

def end(lines):
	return line("end", ns=10**6, calls=len(lines), records=0, missed=0, unseen=0, tasks=1)

def write(path, lines):
	with open(path, "w", encoding="utf-8") as f:
		for l in lines + [end(lines)]:
			f.write(json.dumps(l) + "\n")

# Hostile texts --------------------------------------------------------------------------------

def record(tmp):
	"""A dump of a program with tracepoints, filters and records, as far as this machine has them."""
	path = os.path.join(tmp, "real.jsonl")
	perf = sp.find_program("perf", ("/usr/lib/linux-tools",))
	argv = [perf, "record", "-o", os.path.join(tmp, "data"), "-e", "cpu-clock:u", "true"] if perf \
		else [PEVTRACE, "open", "-e", "cpu-clock:u", "--", "true"]
	subprocess.run([PEVTRACE, "--json=" + path, "--records", "--summary", "--symbols", "-k", "-o",
			os.devnull] + argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	with open(path, encoding="utf-8") as f:
		lines = [json.loads(l) for l in f]
	return lines if len(lines) > 2 else None

def made():
	"""Names of each kind that a dump can have, and events that need them."""
	lines = [HEAD, task(10), line("comm", tid=10, comm="prog"),
		line("name", of="pmu", name="some_pmu", type=77),
		line("name", of="tracepoint", name="sched:sched_switch", id=345),
		line("name", of="tracepoint", name="a:b_c", id=346),
		line("name", of="tracepoint", name="a_b:c", id=347),
		opened(3, 1), opened(4, 2, 77, 5, "some_pmu"), opened(5, 3, 2, 345, "sched:sched_switch"),
		opened(6, 4, 2, 346, "a:b_c"), opened(7, 5, 2, 347, "a_b:c"),
		line("exec", tid=10, ns=2000, former=10, exe="/bin/prog", shown=True),
		line("gone", tid=10, ns=3000, how="exit", status=0, exit=0, shown=True)]
	return lines + [end(lines)]

# texts whose words the reader of a dump knows: it refuses others
FIXED = {"kind", "call", "arch", "of", "how", "at"}

def texts(value, path=()):
	"""Give the path of each text of a line, as keys (lists count as one)."""
	if isinstance(value, dict):
		for key, v in value.items():
			yield from texts(v, path + (key,))
	elif isinstance(value, list):
		for v in value:
			yield from texts(v, path + ("[]",))
	elif isinstance(value, str) and not re.fullmatch("(0x)?[0-9a-f]+", value):
		yield path

def spoilt(value, path, evil, at=()):
	"""Return the value with the texts at the path made hostile."""
	if isinstance(value, dict):
		return {k: spoilt(v, path, evil, at + (k,)) for k, v in value.items()}
	if isinstance(value, list):
		return [spoilt(v, path, evil, at + ("[]",)) for v in value]
	if not isinstance(value, str) or at != path:
		return value
	head, colon, rest = value.partition(":")
	return head + evil + colon + rest + (evil if colon else "")

def compile_c(path):
	r = subprocess.run([CC, "-xc", "-Wall", "-Werror", "-Wno-unused", "-fsyntax-only", path],
			   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
	return r.stderr if r.returncode else ""

def read_with(verb, path, tmp):
	"""Return what is wrong with what the verb prints."""
	argv = [PEVTRACE, *VERBS[verb], path] + ([path] if verb == "diff" else [])
	r = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
	text = (r.stdout + r.stderr).decode("utf-8", "replace")
	why = ["%s: raw %r" % (verb, text[max(0, m.start() - 30):m.end() + 10])
	       for m in list(RAW.finditer(text))[:2]]
	if r.returncode not in (0, 1, 2):
		why.append("%s ends with %d" % (verb, r.returncode))
	if verb.startswith("codegen") and r.stdout and CC:
		source = os.path.join(tmp, "source.c")
		with open(source, "wb") as f:
			f.write(r.stdout)
		wrong = compile_c(source)
		why += ["%s: %s" % (verb, wrong[:300])] if wrong else []
	return why

def harmless(path):
	"""The control: how the verbs end with a dump that nobody spoilt."""
	return ["%s ends with %d: %s" % (verb, r.returncode, r.stderr.decode()) for verb, r in
		((v, subprocess.run([PEVTRACE, *VERBS[v], path] + ([path] if v == "diff" else []),
				    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)) for v in VERBS)
		if r.returncode > 1]

def hostile_texts(tap, tmp, name, lines):
	path = os.path.join(tmp, "evil.jsonl")
	with open(path, "w", encoding="utf-8") as f:
		f.writelines(json.dumps(l) + "\n" for l in lines)
	tap.ok(not harmless(path), name + ": each verb reads it as it is", harmless(path))
	places = sorted({(l["kind"],) + p for l in lines for p in texts(l) if p[-1] not in FIXED})
	why = []
	for place, evil in ((p, e) for p in places for e in EVILS):
		with open(path, "w", encoding="utf-8") as f:
			for l in lines:
				hit = place and l["kind"] == place[0]
				f.write(json.dumps(spoilt(l, place[1:], evil) if hit else l) + "\n")
		for verb in VERBS:
			why += ["%s: %s" % (".".join(place), w) for w in read_with(verb, path, tmp)]
	tap.ok(len(places) > 4 and not why, "%s: %d kinds of hostile texts through %d verbs" %
	       (name, len(places), len(VERBS)), why[:12])

# Growth ---------------------------------------------------------------------------------------

def collide(n):
	"""Numbers that a hash by multiplication alone, the one that pevtrace had, puts into one place."""
	inverse = pow(0x9e3779b97f4a7c15, -1, 1 << 64)
	return [((j % 256) << 56 | j // 256) * inverse % (1 << 64) for j in range(n)]

# how many, and a dump of that size
SHAPES = {
	"colliding ids": (3000, lambda n: [HEAD, task(10)] + [
		line("name", of="tracepoint", name="a:b%d" % j, id=k) for j, k in enumerate(collide(n))]),
	"a chain of tasks": (1200, lambda n: [HEAD] + [task(10 + i, 9 + i if i else 0) for i in range(n)]),
	"a crowd of tasks": (1000, lambda n: [HEAD, task(10)] + [task(11 + i, 10) for i in range(n)]),
	"threads": (1000, lambda n: [HEAD, task(10)] + [task(11 + i, 10, 10) for i in range(n)]),
	"many events": (500, lambda n: [HEAD, task(10)] + [opened(3 + i, 1 + i) for i in range(n)]),
	"names of a task": (1000, lambda n: [HEAD, task(10)] + [
		line("comm", tid=10, comm="c%d" % i) for i in range(n)]),
	"attrs that differ": (500, lambda n: [HEAD, task(10)] + [
		opened(3 + i, 1 + i, 2, 1000 + i, "a:b%d" % i) for i in range(n)]),
}
# what grows by more than this does so by the square of the input; sorting adds a little to 2
LIMIT = 2.7

def instructions(verb, path):
	argv = [VALGRIND, "--tool=callgrind", "--callgrind-out-file=/dev/null", PEVTRACE, *VERBS[verb],
		path] + ([path] if verb == "diff" else [])
	r = subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
			   timeout=600)
	m = re.search(r"Collected : (\d+)", r.stderr)
	return int(m.group(1)) if m else None

def growth(tap, tmp, name):
	few, shape = SHAPES[name]
	paths = [os.path.join(tmp, "%d.jsonl" % i) for i in range(3)]
	for i, path in enumerate(paths):
		write(path, shape((1, few, 2 * few)[i]))
	why = [w for w in harmless(paths[1]) if "nothing to generate" not in w]
	for verb in (v for v in VERBS if v != "codegen here"):
		n = [instructions(verb, p) for p in paths]
		if None in n:
			why.append("%s: no count of instructions" % verb)
		elif n[1] - n[0] > 10**6 and n[2] - n[0] > LIMIT * (n[1] - n[0]):
			why.append("%s: %s instructions for 1, %d and %d" % (verb, n, few, 2 * few))
	tap.ok(not why, "%s: twice the input takes about twice the instructions" % name, why)

def main():
	tap = sp.Tap()
	with tempfile.TemporaryDirectory() as tmp:
		hostile_texts(tap, tmp, "a dump with all kinds of names", made())
		lines = record(tmp)
		if lines:
			hostile_texts(tap, tmp, "a dump of this machine", lines)
		else:
			tap.skip("a dump of this machine", "no event can be opened here")
		for name in SHAPES:
			if sp.sanitized() or not VALGRIND:
				tap.skip(name, "built with sanitizers" if VALGRIND else
					 "valgrind is not installed")
			else:
				growth(tap, tmp, name)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
