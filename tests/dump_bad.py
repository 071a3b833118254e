#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Dumps that are cut off, mutilated or enormous: a message with its line, and no crash."""

import json
import os
import random
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from dumps import FULL, decode_bytes, decode_file, join, main, note, read, target
import straceparse as sp

SEED = int(os.environ.get("SEED", random.SystemRandom().randrange(1 << 30)))

def cut_lines(b, lines, whole):
	why, shown = [], 0
	for n in sp.sample(range(len(lines)), 2, len(lines) - 1):
		d = decode_bytes(b, join(lines[:n]))
		# in an empty file, the first line is missing
		if d.rc != 2 or not d.said(max(n, 1)) or len(d.err.split("\n")) != 2:
			why.append("after line %d: %s" % (n, d))
		if not whole.startswith(d.out):
			why.append("after line %d: other text" % n)
		if len(d.out) < shown:
			why.append("after line %d: less text" % n)
		shown = len(d.out)
	if shown < len(whole) // 2:
		why.append("but for the last line, little is shown")
	return why

def cut_bytes(b, data, whole):
	why, pick = [], random.Random(SEED)
	for at in sorted(pick.sample(range(1, len(data) - 1), sp.times(25, 100))):
		d = decode_bytes(b, data[:at])
		n = data[:at].count(b"\n") + (data[at - 1:at] != b"\n")
		if d.rc != 2 or not d.said(n):
			why.append("at byte %d: %s" % (at, d))
		k = decode_bytes(b, data[:at], ["--keep-going"])
		if not whole.startswith(k.out) or not k.out.startswith(d.out):
			why.append("at byte %d: other text: %r" %
				   (at, k.out[-200:]))
		if at == len(data) or k.rc != (2 if n > 0 else 0):
			why.append("at byte %d with --keep-going: %s" % (at, k))
	return why

GARBAGE = [b"", b"garbage", b"{", b"}", b"[]", b"null", b"1", b'"x"', b"{}",
	   b'{"kind":1}', b'{"kind":"comm"', b'{"kind":"comm"} x', b"\x00" * 10,
	   b'{"kind":"comm","tid":1,"comm":"\xff\xfe"}',
	   b'{"kind":"nothing that we know"}', b"{'kind':'comm'}",
	   b'{"kind":"comm","tid":1,"comm":"x",}',
	   b'{"kind":"comm","tid":1e400,"comm":"x"}',
	   b'{"kind":"comm","tid":NaN,"comm":"x"}', b"\xef\xbb\xbf{}",
	   b'{"kind":"header","schema":1}', b"[" * 100000,
	   b'{"a":' * 1000 + b"1" + b"}" * 1000, b'{"kind":"\\ud800"}']

def garbage(b, lines, whole):
	why = []
	for n in (2, len(lines) // 2, len(lines)):
		for junk in sp.sample(GARBAGE, 3, n):
			data = join(lines[:n - 1] + [junk] + lines[n - 1:])
			d = decode_bytes(b, data)
			if d.rc != 2 or not d.said(n):
				why.append("%r as line %d: %s" % (junk[:60], n, d))
			k = decode_bytes(b, data, ["--keep-going"])
			if k.rc != 2 or not k.said(n):
				why.append("%r as line %d with --keep-going: %s" %
					   (junk[:60], n, k))
			if k.out != whole:
				why.append("%r as line %d changes what is shown "
					   "of the others" % (junk[:60], n))
	return why

def first_line(b, lines):
	why, header = [], json.loads(lines[0])
	for change in ({"schema": 2}, {"schema": 0}, {"schema": "1"},
		       {"kind": "comm"}, {"arch": "pdp11"}, {"page_size": 0},
		       {"byte_order": "middle"},
		       {"page_size": 1 << 40}, {"start_ns": -1}):
		data = join([json.dumps(dict(header, **change)).encode()] +
			    lines[1:])
		for options in ((), ("--keep-going",)):
			d = decode_bytes(b, data, options)
			if d.rc != 2 or not d.said(1) or d.out:
				why.append("%s: %s" % (change, d))
	for data in (b"", b"\n", b"\n\n\n", b"PERFILE9" + bytes(range(256)),
		     b"\x7fELF" + bytes(4096), join(lines[1:])):
		d = decode_bytes(b, data)
		if d.rc != 2 or not d.said(1) or d.out or \
				(data and "not a dump of pevtrace" not in d.err and
				 " of a dump" not in d.err):
			why.append("%r: %s" % (data[:20], d))
	d = decode_bytes(b, b"")
	if "empty" not in d.err:
		why.append("an empty file: %s" % d)
	return why

MOST_MB = 256

def twice_named(b, lines, whole):
	"""A key that occurs twice in an object is an error: json.loads() and json-c
	would use the last."""
	why = []
	at = next(i for i, line in enumerate(lines)
		  if b'"memory":[{' in line and b'"args":{' in line)
	good = lines[at]
	def change(old, new):
		return good.replace(old, new, 1)
	for key, bad in (
			("kind", b'{"kind":"comm",' + good[1:]),
			("kind", good[:-1] + b',"kind":"call"}'),
			("tid", good[:-1] + b',"\\u0074id":1}'),
			("more", change(b'"args":{', b'"args":{"more":1,"more":1,')),
			("at", change(b'"memory":[{', b'"memory":[{"at":"exit",')),
			("\\033[2Jx", change(b'{', b'{"\\u001b[2Jx":1,"\\u001b[2Jx":1,'))):
		data = join(lines[:at] + [bad] + lines[at + 1:])
		d = decode_bytes(b, data)
		text = 'duplicate name "%s"' % key
		if d.rc != 2 or not d.said(at + 1) or text not in d.err or \
				not re.search(r":%d: .*column \d+: " % (at + 1), d.err):
			why.append("%s: %s" % (text, d))
		k = decode_bytes(b, data, ["--keep-going"])
		if k.rc != 2 or text not in k.err or not k.out or \
				len(k.out) >= len(whole):
			why.append("%s with --keep-going: %s" % (text, k))
	# the same key in different objects is correct
	fine = good[:-1] + b',"more":[{"kind":1,"tid":{"tid":2}},{"kind":1}]}'
	d = decode_bytes(b, join(lines[:at] + [fine] + lines[at + 1:]))
	if d.rc or d.out != whole:
		why.append("in other objects: %s" % d)
	# not quadratic: comparing each key with all others would take minutes
	many = b",".join(b'"%d":0' % n for n in range(300000))
	d = decode_bytes(b, join(lines[:at] + [good[:-1] + b"," + many + b"}"] +
				 lines[at + 1:]))
	if d.rc or d.out != whole or d.cpu > 20:
		why.append("a line with 300000 names: %.1f s, %s" % (d.cpu, d))
	return why

def enormous(b, lines):
	"""Memory is bounded, however long a line is."""
	why = []
	path = os.path.join(b.tmp, "enormous.json")
	for what, start, piece, times, end in (
			("100 MB of text", b'{"kind":"comm","tid":1,"comm":"',
			 b"x" * (1 << 20), 100, b'"}'),
			("100 MB of zeros", b"", bytes(1 << 20), 100, b""),
			("16 MB of small things", b'{"kind":"x","a":[',
			 b"[]," * (1 << 18), 21, b"1]}"),
			# the longest that is read at all
			("4 MB of small things", b'{"kind":"x","a":[',
			 b"{}," * 1024, 1360, b"1]}")):
		# written in pieces: memory held here would count as the child's
		with open(path, "wb") as f:
			f.write(join(lines[:5]) + start)
			for _ in range(times):
				f.write(piece)
			f.write(end + b"\n" + join(lines[5:]))
		d = decode_file(b, path, ["--keep-going"], 120)
		if d.rc != 2 or not d.said(6):
			why.append("%s: %s" % (what, d))
		if d.rss > MOST_MB << 10:
			why.append("%s takes %d MB of memory" % (what, d.rss >> 10))
	os.unlink(path)
	return why

def mutated(b, data):
	"""Changed bytes cause no crash, and a message for each line not shown."""
	pick, why = random.Random(SEED), []
	for _ in range(sp.times(40, 150)):
		bad = bytearray(data)
		for _ in range(pick.choice((1, 2, 10))):
			at, how = pick.randrange(len(bad)), pick.randrange(4)
			if how == 0:
				bad[at] = pick.randrange(256)
			elif how == 1:
				del bad[at:at + pick.choice((1, 5, 500))]
			elif how == 2:
				end = at + pick.choice((1, 50, 3000))
				bad[at:at] = bad[at:end]
			else:
				bad[at] ^= 1 << pick.randrange(8)
		d = decode_bytes(b, bytes(bad), FULL + ["--keep-going", "-v"])
		if d.rc == 2 and not re.search(r":\d+: ", d.err):
			why.append("no line number: %s" % d)
		if d.rc == 0 and d.err:
			why.append("a message and status 0: %s" % d)
	return why

def no_file(b):
	why = []
	for path in ("/nonexistent/dump.json", b.tmp):
		d = decode_file(b, path)
		if d.rc != 2 or path not in d.err or len(d.err.split("\n")) != 2:
			why.append("%s: %s" % (path, d))
		if path == b.tmp and "directory" not in d.err:
			why.append("a directory: %s" % d)
	path = os.path.join(b.tmp, "secret.json")
	with open(path, "w"):
		os.chmod(path, 0)
	os.chmod(b.tmp, 0o755)
	if os.geteuid() == 0:
		probe = decode_file(b, path)	# root may read it: it is empty
		if "empty" not in probe.err:
			why.append("an empty file: %s" % probe)
		try:
			d = decode_file(b, path, user=sp.NOBODY)
		except PermissionError:
			return why	# the build directory is closed to others
	else:
		d = decode_file(b, path)
	if d.rc != 2 or "Permission denied" not in d.err:
		why.append("no right to read: %s" % d)
	return why

def twice(b, lines, whole):
	"""Two dumps in one file: lines after the end are an error."""
	why = []
	d = decode_bytes(b, join(lines + lines))
	if d.rc != 2 or not d.said(len(lines) + 1) or d.out != whole:
		why.append("%s" % d)
	return why

def check_bad(b, schema):
	if "demo" not in b.kept:
		if not target("demo"):
			b.tap.skip("bad", "no target demo")
			return
		b.kept["demo"] = b.trace(FULL, [target("demo")])[1]
	print("# SEED=%d" % SEED)
	data = read(b.kept["demo"])
	# without records, of which there are many
	lines = [x for x in data.splitlines()
		 if json.loads(x)["kind"] not in ("record", "look")]
	small = join(lines)
	whole = decode_bytes(b, small).out
	note(b, "bad: cut off behind every line", cut_lines, b, lines, whole)
	note(b, "bad: cut off anywhere", cut_bytes, b, small, whole)
	note(b, "bad: a line of garbage", garbage, b, lines, whole)
	note(b, "bad: the first line", first_line, b, lines)
	note(b, "bad: a name that stands twice", twice_named, b, lines, whole)
	note(b, "bad: a line of 100 MB", enormous, b, lines)
	note(b, "bad: random changes", mutated, b, data)
	note(b, "bad: two dumps in one file", twice, b, lines, whole)
	note(b, "bad: files that are not there", no_file, b)

if __name__ == "__main__":
	sys.exit(main(check_bad))
