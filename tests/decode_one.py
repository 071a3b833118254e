#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace decode of single things and of perf.data files, against bytes that
are packed here and against what perf and strace say of the same events."""

import errno
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from checks import check, differ, TAP
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE")

def decode(*args, stdin=b"", rc=0):
	r = subprocess.run([PEVTRACE, "decode"] + list(args), input=stdin,
			   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
	if rc is not None and r.returncode != rc:
		raise AssertionError("%s: status %d, %s" % (args, r.returncode,
				     r.stderr.decode(errors="replace")))
	return r.stdout.decode(errors="replace"), r.stderr.decode(errors="replace")

def objects(*args, **kw):
	return [json.loads(l) for l in decode("--json", *args, **kw)[0].splitlines()]

def attr_bytes(*args, **kw):
	return [o["attr_bytes"] for o in objects(*args, **kw)]

# bit numbers of the flags, as the kernel's header has them
BITS = ("disabled inherit pinned exclusive exclude_user exclude_kernel exclude_hv "
	"exclude_idle mmap comm freq inherit_stat enable_on_exec task watermark "
	"precise_ip - mmap_data sample_id_all exclude_host exclude_guest "
	"exclude_callchain_kernel exclude_callchain_user mmap2 comm_exec use_clockid "
	"context_switch write_backward namespaces").split()

def pack(type_=1, size=128, config=0, period=0, sample_type=0, read_format=0, flags=0,
	 wakeup=0, bp_type=0, config1=0, config2=0, rest=b""):
	b = struct.pack("<IIQQQQQIIQQ", type_, size, config, period, sample_type,
			read_format, flags, wakeup, bp_type, config1, config2) + rest
	return b.ljust(max(size, 64), b"\0")[:max(size, 64)]

# ---- attrs -----------------------------------------------------------------

def test_round_trip():
	rnd = random.Random(5)
	why = []
	for _ in range(60):
		size = rnd.choice([64, 72, 96, 112, 128, 136, 144])
		b = bytearray(rnd.getrandbits(8) & rnd.choice([0, 1, 0xff])
			      for _ in range(size))
		b[0:8] = struct.pack("<II", rnd.choice([0, 1, 2, 3, 4, 5, 99]), size)
		h = b.hex()
		for form in (h, "0x" + h, " ".join("%02x" % x for x in b),
			     "".join("\\x%02x" % x for x in b),
			     "{ " + ", ".join(str(x) for x in b) + " }"):
			why += differ(attr_bytes("--attr", form), [h], form[:40])
		text = decode("-v", "--attr", h)[0]
		why += differ(attr_bytes("--attr", "-", stdin=text.encode()), [h], text)
		if len(why) > 10:
			break
	return why

def test_binary(tmp):
	path = os.path.join(tmp, "attr")
	b = pack(sample_type=7, flags=1)
	with open(path, "wb") as f:
		f.write(b)
	return differ(attr_bytes("--attr", "@" + path), [b.hex()], "file") + \
		differ(attr_bytes("--attr=-", stdin=b), [b.hex()], "standard input")

def test_strace(tmp):
	"""Attrs of known bytes, as strace -v prints them."""
	if not sp.find_program("strace"):
		return None
	rnd = random.Random(7)
	attrs = []
	for i in range(40):
		flags = rnd.getrandbits(64) & ~(1 << 25) # strace hides an unused clockid
		a = pack(type_=rnd.choice([0, 1, 2, 3]), config=rnd.randrange(0, 3),
			 period=rnd.getrandbits(40), sample_type=rnd.getrandbits(24),
			 read_format=rnd.getrandbits(4), flags=flags,
			 wakeup=rnd.getrandbits(20))
		attrs.append(a)
	src = os.path.join(tmp, "open.py")
	with open(src, "w") as f:
		f.write("import ctypes\nc = ctypes.CDLL(None)\nfor h in %r:\n"
			"\tb = ctypes.create_string_buffer(bytes.fromhex(h))\n"
			"\tc.syscall(%d, b, -5, -5, -1, 0)\n" %
			([a.hex() for a in attrs], NR))
	out = os.path.join(tmp, "strace")
	r = subprocess.run(["strace", "-v", "-e", "trace=perf_event_open", "-o", out,
			    sys.executable, src], stderr=subprocess.PIPE)
	if r.returncode:
		return None
	got = attr_bytes("--attr", "@" + out)
	why = differ(len(got), len(attrs), "number of attrs")
	for g, a in zip(got, attrs):
		why += differ(g, a.hex(), "attr")
	return why

NR = {"x86_64": 298, "aarch64": 241}.get(os.uname().machine)

# ---- perf ------------------------------------------------------------------

def perf(*args, **kw):
	return subprocess.run(["perf"] + list(args), stdout=subprocess.PIPE,
			      stderr=subprocess.STDOUT, **kw)

def stored(path):
	"""[(attr, ids)] of a perf.data file, read here."""
	with open(path, "rb") as f:
		data = f.read()
	assert data[:8] == b"PERFILE2"
	attr_size, at, size = struct.unpack_from("<QQQ", data, 16)
	out = []
	for off in range(at, at + size, attr_size):
		ids_at, ids_size = struct.unpack_from("<QQ", data, off + attr_size - 16)
		out.append((data[off:off + attr_size - 16].hex(), list(
			struct.unpack_from("<%dQ" % (ids_size // 8), data, ids_at))))
	return out

EVENTS = ["-e", "cpu-clock,page-faults:u,context-switches", "-e", "task-clock"]

def test_file(path):
	got = objects(path)
	want = stored(path)
	why = differ([o["attr_bytes"] for o in got], [a for a, _ in want], "attrs")
	why += differ([o["ids"] for o in got], [i for _, i in want], "ids")
	names = perf("evlist", "-i", path).stdout.decode().split("\n")
	names = [n for n in names if n and not n.startswith("#")]
	return why + differ([o["name"] for o in got], names, "names")

def test_evlist(path):
	text = subprocess.run(["perf", "evlist", "-v", "-i", path], stdout=subprocess.PIPE,
			      stderr=subprocess.DEVNULL).stdout
	return differ(attr_bytes("--attr", "-", stdin=text), [a for a, _ in stored(path)],
		      text.decode())

def test_names(path):
	"""The names of events in a file without names, as perf evlist finds them."""
	def flags(words):
		return sum(1 << BITS.index(w) for w in words.split())
	attrs = [pack(0, config=i) for i in range(10)] + [pack(1, config=i) for i in range(10)]
	attrs += [pack(3, config=i | op << 8 | result << 16)
		  for i in range(7) for op in range(3) for result in range(2)]
	attrs += [pack(5, bp_type=i, config1=0x1000, config2=4) for i in range(1, 5)]
	attrs += [pack(1, flags=flags(words)) for words in (
		"exclude_user", "exclude_kernel", "exclude_hv", "exclude_user exclude_hv",
		"exclude_kernel exclude_hv", "exclude_user exclude_kernel",
		"exclude_user exclude_kernel exclude_hv", "exclude_host", "precise_ip",
		"precise_ip exclude_guest", "exclude_kernel exclude_guest",
		"exclude_kernel exclude_hv exclude_guest", "exclude_kernel exclude_host")]
	attrs += [pack(1, flags=i << BITS.index("precise_ip")) for i in (2, 3)]
	table = b"".join(a[:24] + struct.pack("<Q", 1 << 16) +	# PERF_SAMPLE_IDENTIFIER
			 a[32:40] + struct.pack("<Q", struct.unpack_from("<Q", a, 40)[0] |
					      flags("sample_id_all")) + a[48:] + bytes(16)
			 for a in attrs)
	record = struct.pack("<IHH", 68, 0, 8)	# PERF_RECORD_FINISHED_ROUND
	with open(path, "wb") as f:
		f.write(b"PERFILE2" + struct.pack("<8Q", 104, 144, 104, len(table),
						  104 + len(table), len(record), 0, 0) +
			bytes(32) + table + record)
	# perf 6.1 adds :HG where nothing is excluded, others do not; perf record leaves out that
	# guests are excluded
	want = [re.sub(":HG$|(?<=[a-z])H$", "", line) for line in
		perf("evlist", "-i", path).stdout.decode().split("\n")
		if line and not line.startswith("#")]
	got = [o["name"] for o in objects(path)]
	# perf says so of what no processor has
	got = [w if w == "invalid-cache" else g for g, w in zip(got, want)] + got[len(want):]
	return differ(got, want, "names")

def test_vv(path, log):
	got = attr_bytes("--attr", "-", stdin=log)
	return ["not among what perf -vv asked for: " + a for a, _ in stored(path)
		if a not in got] or ([] if got else ["nothing was read"])

def test_test_attr(tmp):
	d = os.path.join(tmp, "attrs")
	os.mkdir(d)
	r = perf("record", "-o", os.path.join(tmp, "t.data"), *EVENTS, "true",
		 env=dict(os.environ, PERF_TEST_ATTR=d))
	files = sorted(os.listdir(d))
	if not files:
		return ["perf wrote none: " + r.stdout.decode()[-200:]]
	why = []
	for name in files:
		with open(os.path.join(d, name)) as f:
			text = f.read()
		want = dict(l.split("=", 1) for l in text.split("\n") if "=" in l)
		o, = objects("--attr", "@" + os.path.join(d, name))
		why += differ(o["label"], name, "label")
		b = bytes.fromhex(o["attr_bytes"])
		flags, = struct.unpack_from("<Q", b, 40)
		head = struct.unpack_from("<IIQQQQ", b)
		for key, v in zip("type size config sample_period sample_type "
				  "read_format".split(), head):
			why += differ(v, int(want[key]), name + " " + key)
		for bit, key in enumerate(BITS):
			if key in want:
				v = flags >> bit & (3 if key == "precise_ip" else 1)
				why += differ(v, int(want[key]), name + " " + key)
	return why

def count(text):
	return len(re.findall(r"PERF_RECORD_[A-Z]", text))

def by_type(lines):
	out = {}
	for l in lines:
		m = re.search(r"PERF_RECORD_([A-Z0-9_]+)", l)
		if m:
			out[m.group(1)] = out.get(m.group(1), 0) + 1
	return out

def test_records(path):
	dump = subprocess.run(["perf", "report", "-D", "-i", path], stdout=subprocess.PIPE,
			      stderr=subprocess.DEVNULL).stdout.decode(errors="replace")
	want = by_type(l for l in dump.split("\n") if re.search(r"\]: PERF_RECORD_", l))
	# perf report -D shortens the names of what came through a pipe
	for short in ("ATTR", "FEATURE", "TRACING_DATA", "BUILD_ID"):
		if short in want:
			want["HEADER_" + short] = want.pop(short)
	got = by_type(decode("--records", path)[0].split("\n"))
	return differ(got, want, "records")

def test_damaged(path, tmp):
	with open(path, "rb") as f:
		data = f.read()
	rnd = random.Random(3)
	bad = os.path.join(tmp, "bad")
	why = []
	for i in range(150):
		b = bytearray(data)
		if i % 2:
			b = b[:rnd.randrange(8, len(b))]
		else:
			for _ in range(3):
				at = rnd.randrange(8, 900)
				b[at:at + 8] = rnd.choice([b"\xff" * 8, bytes(8),
							   struct.pack("<Q", len(b))])
		with open(bad, "wb") as f:
			f.write(b[:len(data)])
		out, err = decode("--records", bad, rc=None)
		r = subprocess.run([PEVTRACE, "decode", "--records", bad],
				   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		if r.returncode not in (0, 2):
			why.append("status %d" % r.returncode)
		if (r.returncode == 2) != (err.count("\n") == 1):
			why.append("status %d with: %s" % (r.returncode, err))
		if i % 2 and r.returncode != 2:
			why.append("cut to %d bytes: status %d" % (len(b), r.returncode))
	with open(bad, "wb") as f:
		f.write(b"2ELIFREP" + data[8:])
	decode("--records", bad, rc=2)
	return why

def with_perf(tmp):
	path = os.path.join(tmp, "perf.data")
	r = perf("record", "-vv", "-o", path, *EVENTS, "true")
	if r.returncode or not os.path.exists(path):
		TAP.skip("perf", "perf record does not work here")
		return
	check("perf.data: attrs, ids, names", lambda: test_file(path))
	check("names of events without names",
	      lambda: test_names(os.path.join(tmp, "names.data")))
	check("perf evlist -v is read back", lambda: test_evlist(path))
	check("perf record -vv is read back", lambda: test_vv(path, r.stdout))
	check("PERF_TEST_ATTR files", lambda: test_test_attr(tmp))
	check("records as perf report -D has them", lambda: test_records(path))
	check("damaged files", lambda: test_damaged(path, tmp))
	pipe = os.path.join(tmp, "pipe.data")
	with open(pipe, "wb") as f:
		subprocess.run(["perf", "record", "-o", "-"] + EVENTS + ["true"], stdout=f,
			       stderr=subprocess.DEVNULL)
	check("a pipe's records", lambda: test_records(pipe))
	def piped():
		with open(pipe, "rb") as f:
			data = f.read()
		got = objects("-", stdin=data)
		return differ(objects(pipe), got, "from a pipe") + \
			differ([o["name"].split(":")[0] for o in got],
			       ["cpu-clock", "page-faults", "context-switches",
				"task-clock"], "names")
	check("a pipe's events", piped)

# ---- the others --------------------------------------------------------------

def test_errno():
	why = []
	for n, name in errno.errorcode.items():
		if name in ("ENOTSUP", "EDEADLOCK", "EWOULDBLOCK"):
			continue
		o, = objects("--errno", str(n))
		p, = objects("--errno", name)
		why += differ((o["name"], o["errno"], o["errno_text"]),
			      (name, n, os.strerror(n)), str(n)) + differ(p, o, name)
	return why

def main():
	if not PEVTRACE:
		sp.skip_all("PEVTRACE is not set")
	tmp = tempfile.mkdtemp(prefix="pevtrace-one.")
	try:
		check("attrs to text and back", test_round_trip)
		check("attrs in binary", lambda: test_binary(tmp))
		if NR and sp.find_program("strace"):
			check("attrs that strace prints", lambda: test_strace(tmp))
		else:
			TAP.skip("attrs that strace prints", "no strace")
		check("errors", test_errno)
		if sp.find_program("perf"):
			with_perf(tmp)
		else:
			TAP.skip("perf", "no perf")
	finally:
		shutil.rmtree(tmp, ignore_errors=True)
	return TAP.done()

if __name__ == "__main__":
	sys.exit(main())
