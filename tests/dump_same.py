#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Attrs in a dump are those in the files that perf itself wrote, and those in the bytes beside them;
pevtrace decode prints what the trace printed, byte for byte, and so does a dump of the dump."""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time
import unicodedata

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from dumps import FULL, PERF, PEVTRACE, Trouble, main, read, target
from programs import objects
import straceparse as sp

def first_difference(a, b):
	a, b = (x.decode("latin-1").split("\n") for x in (a, b))
	for i, (x, y) in enumerate(zip(a, b), 1):
		if x != y:
			return ["line %d" % i, "  traced:  " + x[:500],
				"  decoded: " + y[:500]]
	return ["%d lines traced, %d decoded" % (len(a), len(b))]

def number(value):
	if isinstance(value, bool) or value is None:
		return None
	if isinstance(value, int):
		return value
	if isinstance(value, str) and re.match("0x[0-9a-f]+$", value):
		return int(value, 16)
	return None

def member(attr, name):
	for n in sp.SAME_PLACE.get(name, (name,)):
		if n in attr:
			return number(attr[n])
	return None

SHORT = {"sample_max_stack": 2}
LONG = """config sample_period sample_type read_format bp_addr bp_len
branch_sample_type sample_regs_user sample_regs_intr sig_data config3""".split()

def from_bytes(raw, offset, names, bit):
	"""Return a member of the attr's bytes; None if they are too short for it."""
	if offset == 40:
		width = 2 if names[0] == "precise_ip" else 1
		return int.from_bytes(raw[40:48], "little") >> bit & \
			((1 << width) - 1), bit + width
	size = SHORT.get(names[0], 8 if any(n in LONG for n in names) else 4)
	return int.from_bytes(raw[offset:offset + size], "little"), bit

def against_bytes(call):
	attr, out, bit = call["args"]["attr_uptr"], [], 0
	raw = [m for m in call["memory"]
	       if m["at"] == "enter" and m["addr"] == call["raw"][0]]
	if not raw or not isinstance(attr, dict):
		return ["no bytes of the attr"]
	raw = bytes.fromhex(raw[0]["hex"])
	for offset, least, names in sp.SLOTS:
		have = from_bytes(raw, offset, names, bit)
		bit = have[1]
		got = next((attr[n] for n in names if n in attr), None)
		if least > len(raw) or got is None or number(got) is None:
			continue
		mask = (1 << 64) - 1 if have[0] >> 32 else (1 << 32) - 1
		if number(got) & mask != have[0]:
			out.append("%s is %s, %#x in its bytes" %
				   (names[0], got, have[0]))
	return out

def against_file(path, calls):
	want = {}
	with open(path) as f:
		for line in f:
			m = re.match(r"(\w+)=(-?\d+)\s*$", line)
			if m:
				want[m.group(1)] = int(m.group(2))
	mine = [c for c in calls if c["ret"] == want.get("fd") and
		all(member(c["args"]["attr_uptr"], k) == want.get(k)
		    for k in ("type", "config"))]
	name = os.path.basename(path)
	if not mine:
		return ["no open for " + name], 0
	args, out, n = mine[-1]["args"], [], 0
	for key, val in want.items():
		if key == "fd":
			continue
		if key in ("pid", "cpu", "group_fd", "flags"):
			got = number(args[key])
		else:
			got = member(args["attr_uptr"], key)
		if got is not None and got < 0 <= val:
			got &= (1 << 64) - 1
		n += 1
		if got != val:
			out.append("%s: %s is %d in the file, %s in the dump" %
				   (name, key, val, got))
	return out, n

ATTR_CASES = [
	("record", ["record", "-q", "-o", "@", "-e", "cpu-clock", "true"], False),
	("record, much", ["record", "-q", "-o", "@", "-e",
			  "{cpu-clock,page-faults}:S", "--call-graph", "dwarf",
			  "--switch-events", "-d", "-W", "true"], False),
	("record breakpoint", ["record", "-q", "-o", "@", "-e",
			       "mem:0x7f0000001000/8:rw", "true"], False),
	("stat", ["stat", "-o", "/dev/null", "true"], False),
	("record -a sched_switch", ["record", "-q", "-o", "@", "-a", "-e",
				    "sched:sched_switch", "true"], True),
]

def check_attrs(b, _):
	for name, argv, needs in ATTR_CASES:
		what = "attr: perf " + name
		if not b.wanted(what):
			continue
		if not PERF or needs and not sp.tracefs():
			b.tap.skip(what, "no tracefs" if PERF else "no perf")
			continue
		notes = b.path("attrs")
		os.mkdir(notes)
		data = os.path.join(b.tmp, "data")
		try:
			_, dump = b.trace([], [PERF] + [data if a == "@" else a
							for a in argv],
					  env={"PERF_TEST_ATTR": notes})
		except Trouble as e:
			b.tap.ok(False, what, [str(e)])
			continue
		opens = [x for x in objects(dump)
			 if x.get("call") == "perf_event_open" and "args" in x]
		why = ["open %d: %s" % (n, w) for n, c in enumerate(opens, 1)
		       for w in against_bytes(c)]
		b.tap.ok(opens and not why, what + ": members are what the "
			 "bytes say (%d opens)" % len(opens), why or ["no opens"])
		files = sorted(glob.glob(notes + "/event-*"))
		if not files:
			b.tap.skip(what + ": the files that perf wrote",
				   "perf kept no event")
			continue
		why, total = [], 0
		for path in files:
			wrong, n = against_file(path, [c for c in opens
						       if "errno" not in c])
			why, total = why + wrong, total + n
		b.tap.ok(total and not why, what + ": the files that perf wrote "
			 "(%d members)" % total, why or ["nothing in them"])

OPTIONS = [
	[], ["-v"], ["-y", "-tt", "-T"], ["-r"], ["-k"], ["--records"],
	["--symbols"], ["--summary"], ["-c"], ["-s", "5"],
	["-e", "status=failed"], ["-e", "trace=%ioctl"], ["-e", "trace=all"],
	["-ttt", "-q"], ["-qq", "--color=always"],
	["-e", "signal=none", "-e", "status=!failed"],
	FULL + ["-v", "-T", "-ttt", "-s", "400"],
]

def same_targets():
	out = []
	for argv in (["demo"], ["tree", "fork"], ["tree", "threads", "4"],
		     ["signals", "kids", "3"], ["signals", "die", "15"],
		     ["execs", "thread"], ["execs", "leader"], ["passfd"],
		     ["reuse"], ["sigtrapbp"], ["mixedring", "id"],
		     ["undisturbed"], ["filtered", "race", "40"]):
		if target(argv[0]):
			out.append((" ".join(argv),
				    [target(argv[0])] + argv[1:]))
	if PERF:
		out += [("perf stat", [PERF, "stat", "-o", "/dev/null", "true"]),
			("perf record", [PERF, "record", "-q", "-o", "@", "-e",
					 "cpu-clock", "true"])]
	return out

def same_again(b, schema, options, text, dump, perf=True):
	"""Decode a dump into text and another dump, decode that; return the differences."""
	live = read(text)
	if not live and perf and "-e" not in options and "-q" not in options:
		return ["nothing was traced"]
	again = b.path("json")
	out = b.decode(options + ["--json=" + again], dump)
	if read(out) != live:
		return ["decoded:"] + first_difference(live, read(out))
	out2 = b.decode(options, again)
	if read(out2) != live:
		return ["decoded and dumped, and that decoded:"] + \
			first_difference(live, read(out2))
	why = []
	if schema.validator:
		why = schema.why_not(again)
	first, second = objects(dump), objects(again)
	for kind in schema.kinds:
		n = [sum(x["kind"] == kind for x in y) for y in (first, second)]
		if kind != "name" and n[0] != n[1]:
			why.append("%d lines of %s, in the second dump %d" %
				   (n[0], kind, n[1]))
	os.unlink(out)
	os.unlink(out2)
	os.unlink(again)
	return why

def check_same(b, schema):
	data = os.path.join(b.tmp, "data")
	for n, (name, argv) in enumerate(same_targets()):
		argv = [data if a == "@" else a for a in argv]
		for options in sp.sample(OPTIONS, 4, n):
			what = "same: %s, %s" % (name, " ".join(options) or
						 "no options")
			if not b.wanted(what):
				continue
			try:
				text, dump = b.trace(options, argv)
				# signal targets open no events
				why = same_again(b, schema, options, text, dump,
						 not name.startswith("signals"))
			except (Trouble, ValueError) as e:
				why = [str(e)]
			b.tap.ok(not why, what, why)
	if target("attrs"):
		for case in subprocess.run([target("attrs"), "list"], text=True,
					   stdout=subprocess.PIPE,
					   check=True).stdout.split():
			what = "same: attrs %s, -y -v" % case
			if not b.wanted(what):
				continue
			try:
				options = ["-y", "-v", "-s", "100"]
				text, dump = b.trace(options,
						     [target("attrs"), case])
				why = same_again(b, schema, options, text, dump) \
					if read(text) else []
			except (Trouble, ValueError) as e:
				why = [str(e)]
			b.tap.ok(not why, what, why)
	check_places(b)
	check_header(b)
	check_alien(b, schema)

def check_places(b):
	"""The same with standard output, standard input and -ff."""
	if not target("demo") or not b.wanted("same: to standard output"):
		return
	dump = b.path("json")
	_, _, live = b.run([PEVTRACE, "--json=" + dump, target("demo")])
	rc, out, err = b.run([PEVTRACE, "decode", dump])
	why = [] if rc == 0 and not err else ["status %d, %s" % (rc, err)]
	if out.decode() != live:
		why += first_difference(live.encode(), out)
	b.tap.ok(not why, "same: to standard output what went to standard error",
		 why)
	with open(dump, "rb") as f:
		rc, out2, err = b.run([PEVTRACE, "decode", "-"], stdin=f)
	b.tap.ok(rc == 0 and out2 == out and not err,
		 "same: a dump on standard input", [err])
	rc, dumped, err = b.run([PEVTRACE, "-j", "true"])
	kinds = [json.loads(x)["kind"] for x in dumped.splitlines()]
	b.tap.ok(rc == 0 and kinds[:1] == ["header"] and kinds[-1:] == ["end"],
		 "same: -j alone writes to standard output",
		 [str(kinds), err])
	text = b.path("ff")
	dump = text + ".json"
	b.run([PEVTRACE, "-ff", "-o", text, "--json=" + dump, target("demo")])
	mine = {p[len(text):]: read(p) for p in glob.glob(text + ".[0-9]*")}
	again = b.path("ff")
	rc, _, err = b.run([PEVTRACE, "decode", "-ff", "-o", again, dump])
	theirs = {p[len(again):]: read(p) for p in glob.glob(again + ".[0-9]*")}
	b.tap.ok(rc == 0 and mine and mine == theirs,
		 "same: -ff, a file for each task",
		 [err] + ["%s: %s bytes traced, %s decoded" %
			  (k, len(mine[k]) if k in mine else "no",
			   len(theirs[k]) if k in theirs else "no")
			  for k in sorted(set(mine) | set(theirs))
			  if mine.get(k) != theirs.get(k)])

def check_header(b):
	"""A dump of a dump keeps the description of machine and run."""
	what = "same: the header of a dump of a dump"
	if not b.wanted(what):
		return
	again = b.path("json")
	try:
		_, dump = b.trace([], ["true"])
		b.decode(["--json=" + again], dump)
	except Trouble as e:
		b.tap.ok(False, what, [str(e)])
		return
	first, second = objects(dump)[0], objects(again)[0]
	why = ["%s was %s, is %s" % (k, first[k], second.get(k))
	       for k in first if first[k] != second.get(k)]
	b.tap.ok(not why, what, why)
	what = "same: the header of a dump of a dump, attached"
	sleeper = subprocess.Popen(["sleep", "1000"])
	try:
		dump = b.path("json")
		p = subprocess.Popen([PEVTRACE, "-q", "-o", dump, "-j", "-p",
				      str(sleeper.pid)], stderr=subprocess.PIPE)
		for _ in range(6000):
			if os.path.exists(dump) and read(dump).count(b"\n") > 1:
				break
			time.sleep(0.05)
		p.terminate()
		_, err = p.communicate(timeout=300)
		first = objects(dump)[0]
		why = [] if first["attached"] == [sleeper.pid] else \
			["attached: %s, %s" % (first["attached"], err)]
		b.decode(["--json=" + again], dump)
		second = objects(again)[0]
		why += ["%s was %s, is %s" % (k, first[k], second.get(k))
			for k in first if first[k] != second.get(k)]
	except (Trouble, OSError, ValueError, IndexError,
		subprocess.TimeoutExpired) as e:
		why = ["%s: %s" % (type(e).__name__, e)]
	finally:
		sleeper.kill()
		sleeper.wait()
	b.tap.ok(not why, what, why)

def check_alien(b, schema):
	"""Names that are not UTF-8, or that JSON escapes."""
	if not b.wanted("same: names"):
		return
	for word in (b"caf\xe9", b'q"u\\o\te', b"line\nfeed\x7f\x01",
		     "\u20ac\U0001f41d".encode()):
		where = os.path.join(b.tmp.encode(), b"dir." + word)
		os.makedirs(where, exist_ok=True)
		program = os.path.join(where, b"true." + word)
		shutil.copy("/bin/true", program)
		# the shell holds a descriptor, so that all of its calls are shown
		script = 'exec 7<"$1"; "$1"; exec "$1" "$1"'
		what = "same: names with %r" % word
		options = ["-y", "-e", "trace=all", "--summary", "-s", "400"]
		try:
			text, dump = b.trace(options, ["sh", "-c", script, "sh",
						       program])
			why = same_again(b, schema, options, text, dump)
			if schema.validator:
				why += schema.why_not(dump)
			if b"true." not in read(text):
				why.append("the name is not in the text")
		except (Trouble, ValueError) as e:
			why = [str(e)]
		b.tap.ok(not why, what, why)

def check_obeyed(b, _):
	"""No character that a terminal obeys or hides is in a dump, but what it says is."""
	if not b.wanted("same: obeyed"):
		return
	all_ = [chr(c) for c in range(1, 0x110000)
		if unicodedata.category(chr(c)) in ("Cc", "Cf", "Zl", "Zp")]
	word = "a" + "".join(all_) + "\u20ac\U0001f41d"
	dump = os.path.join(b.tmp, "obeyed.json")
	subprocess.run([PEVTRACE, "-o", "/dev/null", "--json=" + dump, "true", word])
	with open(dump, encoding="utf-8") as f:
		text = f.read()
	left = [hex(ord(c)) for c in all_ if c != "\n" and c in text]
	said = json.loads(text.split("\n")[0])["command"]
	b.tap.ok(not left and said == ["true", word] and "\u20ac" in text,
		 "same: the %d characters of no width or of direction are escaped" % len(all_),
		 [left, said])

if __name__ == "__main__":
	sys.exit(main(check_attrs, check_same, check_obeyed))
