#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Dumps and perf.data files of the other byte order.

They are made of those of this machine by a converter that knows the layouts from the kernel's
header only, and decode to the same text.  perf, which reads both byte orders, reads the converted
file as well."""

import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE")
TARGETS = os.environ.get("PEVTRACE_TARGETS", "tests/targets")
PERF = sp.find_program("perf", ("/usr/lib/linux-tools",))
TAP = sp.Tap()

# ---- The converter ---------------------------------------------------------------------
#
# A shape is a list of parts: the width of an integer, ("raw", N) bytes that stay, or
# ("bits", [WIDTH...]), bit-fields of one integer that a big-endian compiler places from its
# highest bit on.

FROM, TO = ("little", "big") if sys.byteorder == "little" else ("big", "little")

def load(b, at, width):
	return int.from_bytes(b[at:at + width], FROM)

def convert(b, shape):
	"""Return the bytes in the other byte order; those beyond the shape stay."""
	out, at = bytearray(b), 0
	for part in shape:
		if isinstance(part, int):
			width = part
			if at + width <= len(b):
				out[at:at + width] = b[at:at + width][::-1]
		elif part[0] == "raw":
			width = part[1]
		else:
			width = sum(part[1]) // 8
			if at + width <= len(b):
				out[at:at + width] = bits(load(b, at, width), part[1])
		at += width
	return bytes(out)

def bits(value, widths):
	"""Move bit-fields: the first is at the lowest bit with one order, at the highest with the other."""
	total, low, result = sum(widths), 0, 0
	for w in widths:
		high = total - low - w
		here, there = (low, high) if FROM == "little" else (high, low)
		result |= (value >> here & ((1 << w) - 1)) << there
		low += w
	return result.to_bytes(total // 8, TO)

FLAGS = ("bits", [1] * 15 + [2] + [1] * 47)
ATTR = [4, 4, 8, 8, 8, 8, FLAGS, 4, 4, 8, 8, 8, 8, 4, 4, 8, 4, 2, 2, 4, ("bits", [1] * 32), 8, 8, 8]
BRANCH = [8, 8, ("bits", [1, 1, 1, 1, 16, 4, 2, 4, 3] + [1] * 31)]

class Attr:
	"""The members of an attr that shape its records."""
	def __init__(self, b):
		b = b.ljust(144, b"\0")
		self.type, self.config = load(b, 0, 4), load(b, 8, 8)
		self.sample_type, self.read_format = load(b, 24, 8), load(b, 32, 8)
		flags = load(b, 40, 8)
		self.sample_id_all = flags >> (18 if FROM == "little" else 45) & 1
		self.branches, self.user = load(b, 72, 8), load(b, 80, 8)
		self.intr = load(b, 96, 8)

def counts(b, at, a):
	each = 1 + bool(a.read_format & 4) + bool(a.read_format & 16)
	times = bool(a.read_format & 1) + bool(a.read_format & 2)
	n = load(b, at, 8) * each + 1 if a.read_format & 8 else each
	return [8] * (n + times)

def regs(b, at, mask):
	return [8] * (1 + (bin(mask).count("1") if load(b, at, 8) else 0))

def width_of(shape):
	return sum(p if isinstance(p, int) else p[1] if p[0] == "raw" else sum(p[1]) // 8
		   for p in shape)

def sample(b, a, raw):
	shape = []
	at = lambda: 8 + width_of(shape)
	for bit, parts in ((1 << 16, [8]), (1, [8]), (2, [4, 4]), (4, [8]), (8, [8]), (64, [8]),
			   (512, [8]), (128, [4, 4]), (256, [8])):
		if a.sample_type & bit:
			shape += parts
	if a.sample_type & 16:
		shape += counts(b, at(), a)
	if a.sample_type & 32:
		shape += [8] * (1 + load(b, at(), 8))
	if a.sample_type & 1024:
		n = load(b, at(), 4)
		data = b[at() + 4:at() + 4 + n]
		shape += [4] + (raw(data, a) or [("raw", n)])
	if a.sample_type & 2048:
		n = load(b, at(), 8)
		shape += [8] + ([8] if a.branches & 1 << 17 else []) + BRANCH * n
		shape += [8] * n if a.branches & 1 << 19 else []
	if a.sample_type & 4096:
		shape += regs(b, at(), a.user)
	if a.sample_type & 8192:
		n = load(b, at(), 8)
		shape += [8, ("raw", n), 8] if n else [8]
	for bit in (1 << 14 | 1 << 24, 1 << 15, 1 << 17):
		shape += [8] if a.sample_type & bit else []
	if a.sample_type & 1 << 18:
		shape += regs(b, at(), a.intr)
	for bit in (19, 21, 22, 23):
		shape += [8] if a.sample_type & 1 << bit else []
	if a.sample_type & 1 << 20:
		shape += [8, ("raw", load(b, at(), 8))]
	return shape

def trailer(a):
	shape = []
	for bit, parts in ((2, [4, 4]), (4, [8]), (64, [8]), (512, [8]), (128, [4, 4]), (1 << 16, [8])):
		shape += parts if a.sample_type & bit and a.sample_id_all else []
	return shape

def convert_record(b, a, raw=lambda data, a: None):
	kind, misc = load(b, 0, 4), load(b, 4, 2)
	if kind == 9:
		return convert(b, [4, 2, 2] + sample(b, a, raw))
	fixed = {1: [4, 4, 8, 8, 8], 2: [8, 8], 3: [4, 4], 4: [4] * 4 + [8], 5: [8, 8, 8],
		 6: [8, 8, 8], 7: [4] * 4 + [8], 8: [4, 4], 11: [8, 8, 8], 12: [4, 4], 13: [8],
		 14: [], 15: [4, 4], 16: [4, 4, 8], 17: [8, 4, 2, 2], 18: [2, 2, 4], 19: [8],
		 20: [8, 2, 2], 21: [8], 22: [8, 8],
		 73: [8] + [8, ("raw", 16)] * (load(b, 8, 8) if kind == 73 else 0),
		 69: [8] * ((len(b) - 8) // 8)}.get(kind, [])
	if kind == 10:
		fixed = [4, 4, 8, 8, 8] + ([("raw", 2), 2, ("raw", 20)] if misc & 1 << 14 else [4, 4, 8, 8]) + [4, 4]
	elif kind == 8:
		fixed += counts(b, 16, a)
	elif kind == 16:
		fixed += [8] * (2 * load(b, 16, 8))
	elif kind == 22:
		fixed += [8] * load(b, 16, 8)
	elif kind == 74: # a CPU map: a list, a mask, or a range
		fixed = [2] + {0: [2] * 8, 1: [2, 2, 4, 8], 2: [("raw", 2), 2, 2]}[load(b, 8, 2)]
		while width_of(fixed) > len(b) - 8:
			fixed.pop()
	end = trailer(a) if kind < 64 else []
	middle = len(b) - 8 - width_of(fixed) - width_of(end)
	return convert(b, [4, 2, 2] + fixed + [("raw", middle)] + end)

# ---- perf.data -----------------------------------------------------------------------------

HEADER = 104
# features whose sections are converted; the others are left out
HOSTNAME, OSRELEASE, ARCH, NRCPUS, EVENT_DESC, SAMPLE_TIME = 3, 4, 6, 7, 12, 21

def section_shape(bit, b, attr_size):
	if bit in (HOSTNAME, OSRELEASE, ARCH):
		return [4]
	if bit == NRCPUS:
		return [4, 4]
	if bit == SAMPLE_TIME:
		return [8, 8]
	shape, at = [4, 4], 8
	for _ in range(load(b, 0, 4)):
		nids, text = load(b, at + attr_size, 4), load(b, at + attr_size + 4, 4)
		shape += ATTR[:-1] + [("raw", attr_size - 136)] if attr_size > 136 else attr_shape(attr_size)
		shape += [4, 4, ("raw", text)] + [8] * nids
		at += attr_size + 8 + text + 8 * nids
	return shape

def attr_shape(size):
	shape = []
	for part in ATTR:
		if width_of(shape + [part]) > size:
			break
		shape.append(part)
	return shape + [("raw", size - width_of(shape))]

def convert_file(b, same=False):
	"""Return the file in the other byte order; same: only without the features left out."""
	out = bytearray(b)
	put = (lambda at, n, shape: None) if same else (
		lambda at, n, shape: out.__setitem__(slice(at, at + n), convert(b[at:at + n], shape)))
	size, attrs, nattrs, data, ndata = struct.unpack_from("=5Q", b, 16)
	attr_size = size - 16
	formats = []
	for at in range(attrs, attrs + nattrs, size):
		formats.append(Attr(b[at:at + attr_size]))
		ids, nids = struct.unpack_from("=2Q", b, at + attr_size)
		put(at, size, attr_shape(attr_size) + [8, 8])
		put(ids, nids, [8] * (nids // 8))
	at = data
	while at < data + ndata:
		n = load(b, at + 6, 2)
		if not same:
			# the converter is for files whose events have one format
			out[at:at + n] = convert_record(b[at:at + n], formats[0])
		at += n
	features, kept, at = struct.unpack_from("=4Q", b, 72), [0] * 4, data + ndata
	tables = []
	for bit in range(256):
		if not features[bit // 64] >> bit % 64 & 1:
			continue
		where, n = struct.unpack_from("=2Q", b, at)
		at += 16
		if bit not in (HOSTNAME, OSRELEASE, ARCH, NRCPUS, EVENT_DESC, SAMPLE_TIME):
			continue
		kept[bit // 64] |= 1 << bit % 64
		tables.append((where, n))
		put(where, n, section_shape(bit, b[where:where + n], attr_size))
	struct.pack_into("=4Q", out, 72, *kept)
	for i, (where, n) in enumerate(tables):
		struct.pack_into("=2Q", out, data + ndata + 16 * i, where, n)
	if not same:
		whole = bytes(out)
		out[:HEADER] = convert(whole[:HEADER], [8] * 13)
		end = data + ndata + 16 * len(tables)
		out[data + ndata:end] = convert(whole[data + ndata:end], [8] * (2 * len(tables)))
	return bytes(out)

def write(path, b):
	with open(path, "wb") as f:
		f.write(b)
	return path

def pevtrace(*args, rc=0):
	r = subprocess.run([PEVTRACE, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
	if r.returncode != rc:
		return "%s: status %d: %s" % (" ".join(args), r.returncode,
					      r.stderr.decode(errors="replace"))
	return r.stdout.decode(errors="replace")

def first_difference(a, b):
	for x, y in zip(a.splitlines(), b.splitlines()):
		if x != y:
			return ["here:  " + x[:1500], "other: " + y[:1500]]
	return [] if a == b else ["%d and %d characters" % (len(a), len(b))]

def test_perfdata(tmp, name, args, fields):
	path = os.path.join(tmp, "perf.data")
	r = subprocess.run([PERF, "record", "-o", path, *args, "sh", "-c",
			    "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done; ls / >/dev/null"],
			   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
	if r.returncode:
		TAP.skip(name, "perf record: " + r.stderr.decode(errors="replace").splitlines()[-1])
		return
	with open(path, "rb") as f:
		b = f.read()
	here = write(os.path.join(tmp, "here"), convert_file(b, True))
	other = write(os.path.join(tmp, "other"), convert_file(b))
	for how in (["decode", "--records"], ["decode", "-v", "--records", "--json"]):
		a, b = pevtrace(*how, here), pevtrace(*how, other)
		TAP.ok(a == b and a.count("\n") > 10, "%s: %s" % (name, " ".join(how)),
		       first_difference(a, b))
	out = pevtrace("diff", here, other)
	TAP.ok("status" not in out, name + ": diff finds no difference", [out])
	lines = []
	for p in (here, other):
		r = subprocess.run([PERF, "script", "-F", "comm,pid,tid,time,event,period," + fields,
				    "--show-task-events", "--show-mmap-events", "-i", p],
				   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
		# perf 6.1 leaves prot of MMAP2 in the byte order of the file
		lines.append(re.sub(r": [r-][w-][x-][ps] ", ": ", r.stdout.decode(errors="replace")))
	TAP.ok(lines[0] == lines[1] and lines[0], name + ": perf reads what the converter wrote",
	       first_difference(*lines))

# ---- Records with every part ---------------------------------------------------------------

def random_record(rnd, a):
	"""Return a record in this byte order for the attr."""
	q = lambda: struct.pack("=Q", rnd.getrandbits(64))
	text = lambda: rnd.choice([b"a\0\0\0\0\0\0\0", b"/usr/lib/x.so\0\0\0"])
	kind, misc = rnd.choice([9] * 12 + list(range(1, 23))), rnd.getrandbits(16)
	n = rnd.randrange(4)
	if kind == 9:
		body = b""
		for bit in (16, 0, 1, 2, 3, 6, 9, 7, 8):
			body += q() if a.sample_type & 1 << bit else b""
		body += random_counts(rnd, a) if a.sample_type & 16 else b""
		if a.sample_type & 32:
			body += struct.pack("=Q", n) + b"".join(q() for _ in range(n))
		if a.sample_type & 1024:
			body += struct.pack("=I", 8 * n + 4) + rnd.randbytes(8 * n + 4)
		if a.sample_type & 2048:
			body += struct.pack("=Q", n) + (q() if a.branches & 1 << 17 else b"")
			body += b"".join(q() + q() + q() for _ in range(n))
			body += b"".join(q() for _ in range(n)) if a.branches & 1 << 19 else b""
		body += random_regs(rnd, a.user) if a.sample_type & 4096 else b""
		if a.sample_type & 8192:
			body += struct.pack("=Q", 16) + rnd.randbytes(16) + struct.pack("=Q", 12)
		for bit in (1 << 14 | 1 << 24, 1 << 15, 1 << 17):
			body += q() if a.sample_type & bit else b""
		body += random_regs(rnd, a.intr) if a.sample_type & 1 << 18 else b""
		for bit in (19, 21, 22, 23):
			body += q() if a.sample_type & 1 << bit else b""
		if a.sample_type & 1 << 20:
			body += struct.pack("=Q", 8 * n) + rnd.randbytes(8 * n)
	else:
		body = {1: 32, 2: 16, 3: 8, 4: 24, 5: 24, 6: 24, 7: 24, 8: 8, 10: 64, 11: 24, 12: 8,
			13: 8, 14: 0, 15: 8, 17: 16, 18: 16, 19: 8, 21: 8}.get(kind)
		body = rnd.randbytes(body) if body is not None else b""
		if kind == 8:
			body += random_counts(rnd, a)
		elif kind == 16:
			body = q() + struct.pack("=Q", n) + b"".join(q() + q() for _ in range(n))
		elif kind == 20:
			body = q() + struct.pack("=HH", 5, 7) + rnd.randbytes(12)
		elif kind == 22:
			body = q() + struct.pack("=Q", n) + b"".join(q() for _ in range(n))
		body += text() if kind in (1, 3, 10, 17, 19) else b""
		body += rnd.randbytes(width_of(trailer(a)))
	return struct.pack("=IHH", kind, misc, 8 + len(body)) + body

def random_counts(rnd, a):
	times = bool(a.read_format & 1) + bool(a.read_format & 2)
	each = 1 + bool(a.read_format & 4) + bool(a.read_format & 16)
	if not a.read_format & 8:
		return rnd.randbytes(8 * (each + times))
	n = rnd.randrange(4)
	return struct.pack("=Q", n) + rnd.randbytes(8 * (times + n * each))

def random_regs(rnd, mask):
	abi = rnd.choice([0, 1, 2])
	return struct.pack("=Q", abi) + (rnd.randbytes(8 * bin(mask).count("1")) if abi else b"")

def random_attr(rnd):
	b = bytearray(rnd.randbytes(144))
	struct.pack_into("=II", b, 0, rnd.choice([0, 1, 2, 4, 5, 9]), 144)
	kinds = rnd.getrandbits(25) & rnd.getrandbits(25) | 1 << 16
	if kinds & 1 << 14:
		kinds &= ~(1 << 24)
	struct.pack_into("=QQ", b, 24, kinds, rnd.getrandbits(5))
	struct.pack_into("=Q", b, 72, rnd.choice([0, 1 << 17, 1 << 19, rnd.getrandbits(20)]))
	return bytes(b)

def header(size, attrs, nattrs, data, ndata):
	return struct.pack("=13Q", 0x32454c4946524550, HEADER, size, attrs, nattrs, data, ndata,
			   0, 0, 0, 0, 0, 0)

def make_file(rnd):
	"""Return a file with an event of random members and records of every type."""
	attr = random_attr(rnd)
	records = b"".join(random_record(rnd, Attr(attr)) for _ in range(60))
	at = HEADER + 160
	ids = struct.pack("=2Q", 17, 18)
	return header(160, HEADER, 160, at + len(ids), len(records)) + attr + \
		struct.pack("=2Q", at, len(ids)) + ids + records

def test_random(tmp):
	why = []
	for seed in range(sp.times(60, 1500)):
		b = make_file(random.Random(seed))
		here = write(os.path.join(tmp, "here"), b)
		other = write(os.path.join(tmp, "other"), convert_file(b))
		texts = [pevtrace("decode", "-v", "--records", p) for p in (here, other)]
		if texts[0] != texts[1] or texts[0].count("\n") < 61:
			why += ["seed %d" % seed] + first_difference(*texts)
			break
	TAP.ok(not why, "records of every type and part", why)

# ---- Dumps ---------------------------------------------------------------------------------

WORD = 8
CAPTURES = {
	# call: {index of the argument: shape, or the width of integers that fill it}
	"perf_event_open": {0: ATTR}, "poll": {0: [4, 2, 2] * 64},
	"ppoll": {0: [4, 2, 2] * 64, 2: 8, 3: 8}, "select": {1: 8, 2: 8, 3: 8, 4: 8},
	"pselect6": {1: 8, 2: 8, 3: 8, 4: 8, 5: 8},
	"epoll_ctl": {3: [4, 8]}, "epoll_wait": {1: [4, 8] * 64}, "epoll_pwait": {1: [4, 8] * 64, 4: 8},
	"clone3": {0: 8}, "execve": {1: 8, 2: 8}, "execveat": {2: 8, 3: 8}, "fcntl": {2: 4},
	"readv": {1: 8}, "preadv": {1: 8}, "preadv2": {1: 8},
}
IOCTLS = {0x40042408: 8, 0x40082404: 8, 0x80082407: 8, 0xc008240a: 4}

def repeated(shape, n):
	return [shape] * (n // shape) if isinstance(shape, int) else shape

def convert_memory(o, m):
	raw = [int(x, 16) for x in o["raw"]]
	addr, b, call = int(m["addr"], 16), bytes.fromhex(m["hex"]), o["call"]
	if call == "perf_event_open" and m["at"] == "exit" and addr == raw[0] + 4:
		return convert(b, [4])
	for i, shape in CAPTURES.get(call, {}).items():
		if i < len(raw) and addr == raw[i]:
			return convert(b, repeated(shape, len(b)))
	if call == "read":
		return convert(b, [8] * (len(b) // 8)) if isinstance(o["args"].get("buf"), dict) else b
	if call == "pselect6":
		return convert(b, [8] * (len(b) // 8))
	if call == "ioctl" and addr == raw[2]:
		request = raw[1] & 0xffffffff
		if request & 0xffff == 0x240b: # PERF_EVENT_IOC_MODIFY_ATTRIBUTES
			return convert(b, ATTR)
		return convert(b, repeated(IOCTLS[request], len(b))) if request in IOCTLS else b
	if call in ("sendmsg", "recvmsg"):
		return convert(b, [8] * 7 if addr == raw[1] else [8, 4, 4] + [4] * 64)
	return b

def convert_vectors(o, memory):
	"""Convert what the call read from an event, as one run of counts."""
	parts = [m for m in memory if m["at"] == "exit"]
	shown = o.get("args", {}).get("iov")
	if isinstance(shown, list) and not isinstance(shown[0]["iov_base"], dict):
		return
	b = bytes.fromhex("".join(m["hex"] for m in parts))
	h = convert(b, [8] * (len(b) // 8)).hex()
	for m in parts:
		m["hex"], h = h[:len(m["hex"])], h[len(m["hex"]):]

def convert_signal(b):
	number, _, code = struct.unpack_from("=3i", b)
	if code <= 0:
		rest = [4, 4, 8]
	elif number == 17:
		rest = [4, 4, 4, ("raw", 4), 8, 8]
	elif number == 5 and code == 6:
		rest = [8, 8, 4, 4]
	elif number in (4, 5, 7, 8, 11):
		rest = [8]
	else:
		rest = [8, 4]
	return convert(b, [4, 4, 4, ("raw", 4)] + rest)

PAGE = [4, 4, 4, 4] + [8] * 3 + [("bits", [1] * 64)] + [2, 2, 4] + [8, 8] + [4, 4] + [8, 8] + \
	[("raw", 1024 - 112)] + [8] * 8

def convert_dump(text):
	events, formats, begun, out = {}, {}, {}, []
	for line in text.splitlines():
		o = json.loads(line)
		kind = o["kind"]
		if kind == "header":
			o["byte_order"] = TO
		elif kind in ("enter", "call", "exit"):
			whole = o if kind != "exit" else {**begun[o["tid"]], **o}
			begun[o["tid"]] = whole
			if "event" in whole and whole["call"] == "perf_event_open" and kind != "exit":
				events[o["tid"]] = bytes.fromhex(o["memory"][0]["hex"])
			if "event" in whole and whole["call"] == "perf_event_open" and kind != "enter":
				formats[whole["event"]] = Attr(events[o["tid"]])
			for m in o["memory"]:
				m["hex"] = convert_memory(whole, m).hex()
			if whole["call"] in ("readv", "preadv", "preadv2"):
				convert_vectors(whole, o["memory"])
		elif kind == "name" and o["of"] == "format":
			formats["raw", o["id"]] = o["name"]
		elif kind == "described":
			b = bytes.fromhex(o["bytes"])
			formats[o["event"]] = Attr(b)
			o["bytes"] = convert(b, ATTR).hex()
		elif kind == "record":
			b = bytes.fromhex(o["hex"])
			o["hex"] = convert_record(b, formats[o["event"]],
						  lambda d, a: raw_shape(d, a, formats)).hex()
		elif kind == "look":
			o["page"] = convert(bytes.fromhex(o["page"]), PAGE).hex()
		elif kind == "signal":
			o["hex"] = convert_signal(bytes.fromhex(o["hex"])).hex()
		out.append(json.dumps(o, separators=(",", ":")))
	return "\n".join(out) + "\n"

def raw_shape(data, a, formats):
	"""The fields of a tracepoint's format file; strings and structures stay."""
	text = formats.get(("raw", a.config)) if a.type == 2 else None
	if not text:
		return None
	shape, at = [], 0
	for f in re.finditer(r"field:([^;]+);\s*offset:(\d+);\s*size:(\d+);", text):
		offset, size = int(f.group(2)), int(f.group(3))
		if offset > at:
			shape.append(("raw", offset - at))
		plain = size in (1, 2, 4, 8) and "[" not in f.group(1)
		shape.append(size if plain or "__data_loc" in f.group(1) else ("raw", size))
		at = offset + size
	return shape + [("raw", len(data) - at)]

def test_dump(tmp, name, argv, wants):
	here, other = os.path.join(tmp, "here.json"), os.path.join(tmp, "other.json")
	r = subprocess.run([PEVTRACE, "--records", "--json=" + here, "-o", os.path.join(tmp, "text"),
			    *argv], cwd=tmp, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
	with open(here) as f:
		text = f.read()
	if not wants(text):
		TAP.skip(name, "nothing to convert here: " + r.stderr.decode(errors="replace")[-200:])
		return
	# features of the other byte order are not read
	header, rest = text.split("\n", 1)
	header = json.loads(header)
	header.pop("features", None)
	text = json.dumps(header, separators=(",", ":")) + "\n" + rest
	with open(here, "w") as f:
		f.write(text)
	with open(other, "w") as f:
		f.write(convert_dump(text))
	for how in (["decode", "--records"], ["decode", "-v", "--summary"], ["explain"], ["codegen"],
		    ["report", "--format=chrome", "-o", "-"]):
		a, b = pevtrace(*how, here), pevtrace(*how, other)
		a, b = (t.replace(p, "DUMP") for t, p in ((a, here), (b, other)))
		TAP.ok(a == b and a, "%s: %s" % (name, " ".join(how)),
		       first_difference(a, b))
	out = pevtrace("diff", here, other)
	TAP.ok("status" not in out, name + ": diff finds no difference", [out])
	# a dump that is written again has the byte order of this machine
	again = os.path.join(tmp, "again.json")
	pevtrace("decode", "--records", "--json=" + again, "-o", os.path.join(tmp, "null"), other)
	TAP.ok(memory_of(again) == memory_of(here), name + ": the memory in a dump written again")

def memory_of(path):
	keys = ("memory", "hex", "page", "bytes")
	with open(path) as f:
		return [[o.get(k) for k in keys] for o in map(json.loads, f)]

def test_arch(tmp):
	"""The byte order of a header without byte_order is that of its processor."""
	with open(os.path.join(tmp, "here.json")) as f:
		text = f.read()
	converted = convert_dump(text).replace(',"byte_order":"%s"' % TO, "")
	paths = []
	for arch, t in (("riscv64", text), ("s390x", converted)):
		path = os.path.join(tmp, arch)
		with open(path, "w") as f:
			f.write(t.replace('"arch":"%s"' % os.uname().machine, '"arch":"%s"' % arch))
		paths.append(path)
	a, b = (pevtrace("decode", "--records", p) for p in paths)
	TAP.ok(a == b and a, "a dump of s390x", first_difference(a, b))
	path = os.path.join(tmp, "vax")
	with open(path, "w") as f:
		f.write(text.replace('"arch":"%s"' % os.uname().machine, '"arch":"vax"'))
	r = subprocess.run([PEVTRACE, "decode", path], stderr=subprocess.PIPE, text=True)
	TAP.ok(r.returncode == 2 and "arch 'vax'" in r.stderr, "a dump of an unknown processor says so",
	       [r.stderr])

# ---- Single things --------------------------------------------------------------------------

def test_things(tmp):
	"""--arch: bytes of an s390x program show what the same values show here."""
	there = "--arch=" + ("s390x" if TO == "big" else "x86_64")
	rnd, why = random.Random(1), []
	for _ in range(sp.times(40, 1000)):
		attr = random_attr(rnd)
		a = Attr(attr)
		# registers have other names there, PMUs are those of this machine
		attr = bytearray(attr)
		attr[0:4] = struct.pack("=I", 1)
		attr[24:32] = struct.pack("=Q", a.sample_type & ~(1 << 12 | 1 << 18))
		attr[80:88], attr[96:104] = bytes(8), bytes(8)
		# build_id: without it, the bit of MMAP2 records says nothing
		attr[40:48] = (load(attr, 40, 8) | 1 << (34 if FROM == "little" else 29)).to_bytes(8, FROM)
		attr, a = bytes(attr), Attr(attr)
		other = convert(attr, ATTR)
		records = [random_record(rnd, a) for _ in range(5)]
		for name, b in (("attr", attr), ("other", other), ("records", b"".join(records)),
				("swapped", b"".join(convert_record(r, a) for r in records))):
			write(os.path.join(tmp, name), b)
		at = lambda name: "@" + os.path.join(tmp, name)
		for here, far in (
			(["--attr=" + at("attr")], ["--attr=" + at("other")]),
			(["--attr=" + attr.hex()], ["--attr=" + other.hex()]),
			(["--attr=" + at("attr"), "--c-source"], ["--attr=" + at("other"), "--c-source"]),
			(["--attr=" + at("attr"), "--record=" + at("records")],
			 ["--attr=" + at("other"), "--record=" + at("swapped")]),
			(["--ioctl=MODIFY_ATTRIBUTES", at("attr")], ["--ioctl=MODIFY_ATTRIBUTES", at("other")]),
			(["--ioctl=QUERY_BPF", struct.pack("=4I", 2, 2, 5, 10).hex()],
			 ["--ioctl=QUERY_BPF", convert(struct.pack("=4I", 2, 2, 5, 10), [4] * 4).hex()])):
			here, far = pevtrace("decode", "-v", *here), pevtrace("decode", "-v", there, *far)
			if here != far or not here:
				why = why or first_difference(here, far)
	TAP.ok(not why, "decode --arch: attrs, records, ioctls of the other byte order", why)
	regs = struct.pack("=IIQQQQQIIQQQQ", 1, 136, 0, 1, 1 << 12, 0, 0, 0, 0, 0, 0, 0, 3).ljust(136, b"\0")
	record = struct.pack("=IHHQQQ", 9, 2, 32, 2, 17, 18)
	out = pevtrace("decode", there, "--attr=" + convert(regs, ATTR).hex(),
		       "--record=" + convert(record, [4, 2, 2, 8, 8, 8]).hex())
	TAP.ok(("R0=0x11, R1=0x12" if TO == "big" else "AX=0x11, BX=0x12") in out,
	       "decode --arch: registers have the names of that processor", [out])
	r = subprocess.run([PEVTRACE, "decode", "--attr=" + convert(regs, ATTR).hex()],
			   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	TAP.ok("size 136 in the other byte order" in r.stderr and "--arch" in r.stderr,
	       "decode: an attr of the other byte order gets a warning", [r.stderr])
	r = subprocess.run([PEVTRACE, "decode", "--record=" + convert(record, [4, 2, 2, 8, 8, 8]).hex()],
			   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	TAP.ok("size 32 in the other byte order" in r.stderr and "--arch" in r.stderr,
	       "decode: a record of the other byte order gets a warning", [r.stderr])
	# powerpc's headers have _IOW() with another bit for the direction
	out = pevtrace("decode", "--arch=ppc64le", "--ioctl=0x80082404", "4")
	TAP.ok(out.startswith("PERF_EVENT_IOC_PERIOD") and "request64 0x80082404" in out,
	       "decode --arch: requests of ioctls as powerpc numbers them", [out])
	r = subprocess.run([PEVTRACE, "decode", "--arch=vax", "--attr=00"],
			   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	TAP.ok(r.returncode == 2 and "unknown ABI 'vax'" in r.stderr and "s390x" in r.stderr,
	       "decode --arch: an unknown name lists those known", [r.stderr])

def main():
	tmp = tempfile.mkdtemp()
	try:
		test_random(tmp)
		test_things(tmp)
		if PERF:
			test_perfdata(tmp, "cpu-clock", ["-e", "cpu-clock"], "ip,sym")
			test_perfdata(tmp, "callchains, stacks, registers",
				      ["-e", "cpu-clock", "--call-graph", "dwarf,512", "-d", "--intr-regs=ip,ax"],
				      "addr")
			test_dump(tmp, "perf record", [PERF, "record", "-g", "-e", "cpu-clock", "-o", "d",
						       "sh", "-c", "ls / >/dev/null"],
				  lambda t: '"kind":"record"' in t)
			test_dump(tmp, "perf stat", [PERF, "stat", "-e", "task-clock,{page-faults,cs}",
						     "true"], lambda t: '"call":"read"' in t)
			test_dump(tmp, "tracepoints", [PERF, "record", "-e", "sched:sched_switch",
						       "-e", "sched:sched_process_exec", "-o", "d",
						       "sh", "-c", "ls / >/dev/null; sleep 0.01"],
				  lambda t: '"of":"format"' in t)
		else:
			TAP.skip("perf.data", "no perf")
		for command in ("event_uses waits", "event_uses sigtrap", "event_uses overflows",
				"event_uses leader", "event_uses refresh", "attrs ioctl", "attrs read",
				"passfd", "sigtrapbp", "demo"):
			name, *rest = command.split()
			test_dump(tmp, command, [os.path.join(TARGETS, name), *rest],
				  lambda t: '"memory":[{' in t)
		test_arch(tmp)
	finally:
		shutil.rmtree(tmp)
	return TAP.done()

if __name__ == "__main__":
	sys.exit(main())
