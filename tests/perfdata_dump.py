#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""perf.data files that report --format=perf-data makes of dumps, and dumps or disks that are bad."""

import collections
import json
import os
import re
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from perfdata import TRIES, WORK, compare, difference, from_dump, header, main, readers, \
	record, text, trace
from programs import run_bytes as run
import ringparse as rp
import straceparse as sp

def test_dump(tap, tmp):
	"""The file of a dump is that of its trace, with the same features and build ids."""
	dump, made = os.path.join(tmp, "dump"), os.path.join(tmp, "made.data")
	event = ["-e", "sched:sched_switch"] if sp.tracefs() else ["-e", "page-faults"]
	own, ours, bad = record(tmp, ["-e", "cpu-clock"] + event + WORK,
				["--records", "--look-every=1", "--json=" + dump])
	r = from_dump(made, dump)
	compare(tap, "a dump", own, made, bad + r.stderr.decode().split("\n")[:-1])
	rp.check_schema(tap, "a dump", dump)
	a, b = (text(rp.PEVTRACE, "decode", "--records", f) for f in (ours, made))
	a, b = collections.Counter(a), collections.Counter(b)
	# these are not the kernel's, and as a dump has the beginnings of calls late, one may be later
	rounds = [sum(n for line, n in lines.items() if "FINISHED_ROUND" in line) for lines in (a, b)]
	a, b = (collections.Counter({line: n for line, n in lines.items() if "FINISHED_ROUND" not in line})
		for lines in (a, b))
	tap.ok(len(a) > 100 and a == b and all(rounds),
	       "the dump's file has the records of the trace's: %d lines" % sum(a.values()),
	       list((a - b) + (b - a)))
	a, b = (header(f) | {"build ids": text(rp.PERF, "buildid-list", "-i", f)}
		for f in (ours, made))
	for lines, n in zip((a, b), rounds):	# each is a header of 8 bytes
		size, = (k for k in lines if k.startswith("# data size"))
		lines[size] = int(lines[size].split(" : ")[1]) - 8 * n
	tap.ok(len(a) > 8 and a == b, "its features and build ids, too: %d lines" %
	       (len(a) - 1 + len(a["build ids"])), [(k, a.get(k), b.get(k)) for k in a | b])

def test_formats(tap, tmp):
	"""Tracepoints in a dump: perf refuses a file that lacks the format of one, also if that has no
	records, or if another one of its system has a format."""
	if not sp.tracefs():
		return tap.skip("formats of tracepoints", "no tracefs")
	dump, own, made = (os.path.join(tmp, name) for name in ("f.json", "f.own", "f.data"))
	events = "sched:sched_process_exec,sched:sched_process_exit,syscalls:sys_enter_reboot"
	r = trace(["--records", "--json=" + dump], [rp.PERF, "record", "-o", own, "-e", events] + WORK)
	bad = [r.stderr] if r.returncode else []
	r = from_dump(made, dump)
	compare(tap, "formats of tracepoints in a dump", own, made, bad + ([r.stderr] if r.stderr else []))
	with open(dump) as f:
		lines = [line for line in f if '"of":"format"' not in line]
	with open(dump, "w") as f:
		f.writelines(lines)
	from_dump(made, dump)
	for who, perf in readers().items():
		a, b = (text(*perf, "script", "-F", "comm,tid,time,event", "-i", f)
			for f in (own, made))
		tap.ok(len(a) > 3 and a == b, "a dump without formats, read by %s: %d lines" %
		       (who, len(a)), difference(a, b))

def test_rounds(tap, tmp):
	"""Rings that were empty at first: what one look at all rings found is in one round.  perf
	copes with less; Hotspot sorts the records of each round."""
	dump, made = os.path.join(tmp, "rounds.json"), os.path.join(tmp, "rounds.data")
	trace(["--records", "--json=" + dump],
	      [rp.PEVTRACE, "open", "-q", "-o", "/dev/null", "--mmap=8", "-e", "page-faults"] + WORK)
	with open(dump) as f:
		lines = [json.loads(line) for line in f]
	looks = {line["ring"]: line for line in lines if line["kind"] == "look"}
	if len(looks) < 2:
		return tap.skip("rounds", "one CPU has one ring")
	records = [line for line in lines if line["kind"] == "record"]
	lines = [line for line in lines if line["kind"] not in ("look", "record")]
	at = [line.get("call") for line in lines].index("munmap")
	lines[at:at] = list(looks.values()) * 2
	at += 2 * len(looks)
	for ring, look in looks.items():
		found = [r | {"ring": ring} for r in records]
		lines[at:at] = found + [look]
		at += len(found) + 1
	with open(dump, "w") as f:
		f.writelines(json.dumps(line) + "\n" for line in lines)
	r = from_dump(made, dump)
	types = re.findall(r"PERF_RECORD_(SAMPLE|FINISHED_ROUND)", "".join(
		text(rp.PEVTRACE, "decode", "--records", made)))
	order = [t for i, t in enumerate(types) if t != types[i - 1]]
	tap.ok(types.count("SAMPLE") > 9 and order == ["SAMPLE", "FINISHED_ROUND"],
	       "rounds: %d samples of %d rings in one" % (types.count("SAMPLE"), len(looks)),
	       [r.stderr, order])

def test_late_ring(tap, tmp):
	"""The BPF engine reports the mapping of a ring late, after reads of others for earlier calls:
	its records are not older than what perf has sorted by then."""
	dump, made = os.path.join(tmp, "late.json"), os.path.join(tmp, "late.data")
	trace(["--records", "--json=" + dump],
	      [rp.PEVTRACE, "open", "-q", "-o", "/dev/null", "--mmap=8", "-e", "page-faults"] + WORK)
	with open(dump) as f:
		lines = [json.loads(line) for line in f]
	looks = [line for line in lines if line["kind"] == "look"]
	maps = [line for line in lines if line.get("call") == "mmap" and "ring" in line]
	calls = [line for line in lines if line.get("call") == "ioctl" and "event" in line]
	records = sorted((line for line in lines if line["kind"] == "record" and
			  line["record"]["type"] == 9), key=lambda line: line["record"]["time"])
	if len(maps) < 2:
		return tap.skip("a ring that is reported late", "one CPU has one ring")
	first, late = maps[0]["ring"], maps[-1]["ring"]
	at = lines.index(maps[-1])
	head = [line for line in lines[:at] if line.get("ring") in (None, first)]
	tail = [line for line in lines[at + 1:] if line["kind"] == "end"]
	look = {n: next(line for line in looks if line["ring"] == n) for n in (first, late)}
	end = max(r["ns"] for r in records)
	for i in range(3, 9): # reads at a later time, each for a call before the late ring's mapping
		head += [calls[0] | {key: maps[-1]["enter_ns"] for key in ("enter_ns", "exit_ns")},
			 records[-1] | {"ring": first, "ns": end + i}, look[first] | {"ns": end + i}]
	head += [maps[-1], records[0] | {"ring": late, "ns": end + 9}]
	for i in range(9, 15):
		head += [look[n] | {"ns": end + i} for n in (first, late)]
	with open(dump, "w") as f:
		f.writelines(json.dumps(line) + "\n" for line in head + tail)
	r = from_dump(made, dump)
	p = run(rp.PERF, "script", "-i", made)
	n = p.stdout.count(b"page-faults")
	tap.ok(n == 7 and b"out of order" not in p.stderr, "a ring that is reported late: %d samples" % n,
	       [r.stderr, p.stderr])

def test_stale_bit(tap, tmp):
	"""MMAP2 of an event without build_id, in which the kernel left the bit that it set for
	another event: perf aborted on what it took for a build id."""
	dump, made = os.path.join(tmp, "stale.json"), os.path.join(tmp, "stale.data")
	trace(["--records", "--json=" + dump],
	      [rp.PEVTRACE, "open", "-q", "-o", "/dev/null", "--mmap=8", "-e", "page-faults"] + WORK)
	want, n = None, 0
	for bit in (0, 0x40):
		with open(dump) as f:
			lines = [json.loads(line) for line in f]
		for line in lines:
			data = bytearray.fromhex(line.get("hex", ""))
			if line["kind"] == "record" and data[0] == 10:	# MMAP2
				data[5] |= bit
				line["hex"], n = data.hex(), n + 1
		with open(dump, "w") as f:
			f.writelines(json.dumps(line) + "\n" for line in lines)
		from_dump(made, dump)
		lines = text(rp.PERF, "script", "--show-mmap-events", "-i", made)
		want = want or lines
	tap.ok(n and len(lines) > 9 and lines == want, "a stale bit of MMAP2: %d lines" % len(lines),
	       [n] + difference(want, lines))
	shown = text(rp.PEVTRACE, "decode", "--records", dump)
	tap.ok(any("MMAP_BUILD_ID" in line and ", ino=" in line for line in shown) and
	       not any("build_id_size" in line for line in shown),
	       "decode shows device and inode", [line for line in shown if "MMAP2" in line])

# AUX data in the formats of their PMUs, and what perf -D prints of them: Intel 64 and IA-32
# Architectures Software Developer's Manual, volume 3, "Trace Packets and Data Types"; Arm
# Architecture Reference Manual, "The Statistical Profiling Extension Sample Record Specification".
PT = (b"\x02\x82" * 8 +			# PSB
      b"\x19\x11\x22\x33\x44\x55\x66\x77" +	# TSC
      b"\x02\x03\x1c\x00" +			# CBR
      b"\x02\x23")				# PSBEND
PT_TEXT = ["PSB", "TSC 0x77665544332211", "CBR 0x1c", "PSBEND"]
SPE = (b"\xb0" + (0x123458).to_bytes(7, "little") + b"\xc0" +	# PC, at EL2
       b"\x49\x01" +				# operation: store
       b"\x71" + (0x1122334455).to_bytes(8, "little"))	# time, which ends the record
SPE_TEXT = ["PC 0x123458 el2 ns=1", "ST GP-REG", "TS 73588229205"]

def aux_dump(tmp, pmu, pieces):
	"""Return the dump of a profiler, with its event changed to one of that PMU, and AUX data:
	pieces of position, bytes missed before it, and bytes."""
	dump = os.path.join(tmp, "aux.json")
	trace(["--records", "--json=" + dump], [rp.target("drain"), "50"])
	with open(dump) as f:
		lines = [json.loads(line) for line in f]
	for line in lines:
		if line.get("of") == "pmu":
			line["name"], line["type"] = pmu, 4095
		if line.get("call") == "perf_event_open":
			attr = line["memory"][0]
			attr["hex"] = "ff0f0000" + attr["hex"][8:]
	at = max(i for i, line in enumerate(lines) if line["kind"] == "look")
	lines[at + 1:at + 1] = [
		{"kind": "aux", "tid": lines[at]["tid"], "ns": lines[at]["ns"], "ring": 1,
		 "position": position, "missed": missed, "hex": data.hex()}
		for position, missed, data in pieces]
	with open(dump, "w") as f:
		f.writelines(json.dumps(line) + "\n" for line in lines)
	return dump

def test_aux(tap, tmp):
	"""AUX data of a dump: perf prints its packets.  No PMU here has an AUX area."""
	made = os.path.join(tmp, "aux.data")
	for pmu, data, want in (("intel_pt", PT, PT_TEXT), ("arm_spe_0", SPE, SPE_TEXT)):
		dump = aux_dump(tmp, pmu, [(0x1000, 0, data * 3), (0x1000 + 3 * len(data), 0, data)])
		rp.check_schema(tap, "AUX data of " + pmu, dump)
		for form in ("file", "pipe"):
			with open(made, "wb") as f:
				r = subprocess.run([rp.PEVTRACE, "report", "--format=perf-data", dump] +
						   (["-o", made] if form == "file" else []),
						   stdout=f, stderr=subprocess.PIPE, timeout=300)
			for who, perf in readers().items():
				# perf 6.1 seeks in standard input, unless that is a pipe
				lines = text(*perf, "report", "-D", "-i", made) \
					if form == "file" else \
					text("sh", "-c", 'cat "$0" | "$@"', made, *perf,
					     "report", "-D", "-i", "-")
				found = [sum(line.rstrip().endswith(w) for line in lines) for w in want]
				pieces = [line for line in lines if re.search(
					r"PERF_RECORD_AUXTRACE size: 0x%x +offset: 0x1000 .*idx: 0 +"
					r"tid: \d+ +cpu: -1" % ((3 * len(data) + 7) & ~7), line)]
				tap.ok(not r.returncode and len(pieces) == 1 and
				       all(n == 4 for n in found),
				       "AUX data of %s, %s, read by %s: %d packets" %
				       (pmu, form, who, sum(found)),
				       [r.stderr, list(zip(want, found))] +
				       [line for line in lines if "AUXTRACE" in line])
			r = run(rp.PEVTRACE, "decode", "--records", made)
			tap.ok(not r.returncode and r.stdout.count(b"PERF_RECORD_AUXTRACE,") == 2,
			       "AUX data of %s, %s: pevtrace decode reads it" % (pmu, form),
			       [r.stderr])
	dump = aux_dump(tmp, "intel_pt", [(0, 4711, b"")])
	r = from_dump(made, dump)
	tap.ok(b"lacks 4711 bytes of AUX areas" in r.stderr, "AUX data that were missed", [r.stderr])

def test_same_file(tap, tmp):
	"""perf record writes to the same file: it renames ours, as it does with a file of its own.
	The dump that is read is not overwritten; a file that is there is renamed."""
	path = os.path.join(tmp, "perf.data")
	r = trace(["--perf-data=perf.data"], [rp.PERF, "record", "-o", path, "-e", "cpu-clock"] + WORK,
		  cwd=tmp)
	a, b = (text(rp.PERF, "script", "-i", f) for f in (path, path + ".old"))
	tap.ok(len(a) > 10 and a == b and b"the records are in " in r.stderr and
	       b"perf.data.old" in r.stderr,
	       "one name for both files: %d and %d equal lines" % (len(a), len(b)), [r.stderr])
	dump = os.path.join(tmp, "same.json")
	trace(["--records", "--json=" + dump], ["true"])
	with open(dump) as f:
		before = f.read()
	for form in ("perf-data", "html", "chrome"):
		r = run(rp.PEVTRACE, "report", "--format=" + form, "-o", dump, dump)
		with open(dump) as f:
			tap.ok(r.returncode == 2 and b"is the dump" in r.stderr and f.read() == before,
			       "report --format=%s does not overwrite its dump" % form, [r.stderr])
	os.chmod(path, 0o644)
	size = os.path.getsize(path)
	trace(["--perf-data=" + path], ["true"])
	tap.ok(os.stat(path).st_mode & 0o777 == 0o600 and os.path.getsize(path + ".old") == size,
	       "a file that is there is renamed")

def test_unread(tap, tmp):
	"""The BPF engine does not stop programs: a ring that is unmapped at once is not read, which a
	message says."""
	if os.getuid() or not sp.has_bpf(rp.PEVTRACE):
		return tap.skip("rings that are not read", "BPF programs cannot be loaded")
	ours = os.path.join(tmp, "unread.data")
	for _ in range(TRIES):
		r = trace(["--engine=bpf", "--perf-data=" + ours], [rp.target("drain"), "1"])
		n = len(text(rp.PERF, "script", "-i", ours)) - 1
		if not n:
			break
	tap.ok(n > 0 or b"lacks the records of 1 ring buffers" in r.stderr,
	       "a ring that is unmapped at once: %d records" % n, [r.stderr])

def test_trouble(tap, tmp):
	r = trace(["--perf-data=" + os.path.join(tmp, "none", "x")], ["true"])
	tap.ok(r.returncode == 2 and b"cannot create" in r.stderr, "no such directory", [r.stderr])
	for args in (["--json", "--perf-data=-"], ["--json=x", "--perf-data=x"]):
		r = run(rp.PEVTRACE, *args, "true", cwd=tmp)
		tap.ok(r.returncode == 2 and b"cannot both go to" in r.stderr,
		       "two outputs to one place: " + " ".join(args), [r.stderr])
	if os.path.exists("/dev/full"):
		r = trace(["--perf-data=/dev/full"],
			  [rp.PERF, "record", "-o", os.path.join(tmp, "x"), "-e", "cpu-clock"] +
			  WORK)
		tap.ok(r.returncode == 2 and r.stderr.count(b"cannot write") == 1, "a full disk",
		       [r.returncode, r.stderr])

def test_damaged(tap, tmp):
	"""A damaged dump: one message, which names an option of the verb."""
	dump = os.path.join(tmp, "bad.json")
	trace(["--json=" + dump], [rp.PERF, "record", "-o", os.path.join(tmp, "x"), "-e", "cpu-clock",
				   "true"])
	with open(dump) as f:
		lines = f.readlines()
	with open(dump, "w") as f:
		f.writelines(lines[:1] + ["{]\n"] + lines[1:])
	args = [rp.PEVTRACE, "report", "--format=perf-data", "-o", os.path.join(tmp, "bad.data")]
	r = run(*args, dump)
	tap.ok(r.returncode == 2 and r.stderr.count(b"\n") == 1 and
	       b"bad.json:2: " in r.stderr and b"; --keep-going of " in r.stderr,
	       "a damaged dump has one message", [r.stderr])
	r = run(*args, "--keep-going", dump)
	tap.ok(r.returncode == 2 and b"bad.json:2: " in r.stderr and b"--records" in r.stderr,
	       "with --keep-going, what the rest lacks is said", [r.stderr])

	trace(["--records", "--json=" + dump], [rp.PERF, "record", "-o", os.path.join(tmp, "x"), "-e",
						"cpu-clock", "true"])
	with open(dump) as f:
		lines = [json.loads(line) for line in f]
	for line in lines:
		if line["kind"] == "measured":	# an attr, which no task has
			line["records"] = struct.pack("<IHHII", 64, 0, 24, 1, 17) + bytes(8)
			line["records"] = line["records"].hex()
	with open(dump, "w") as f:
		f.writelines(json.dumps(line) + "\n" for line in lines)
	with open(os.path.join(tmp, "bad.pipe"), "wb") as f:
		r = subprocess.run([rp.PEVTRACE, "report", "--format=perf-data", dump], stdout=f,
				   stderr=subprocess.PIPE, timeout=300)
	p = run(rp.PEVTRACE, "decode", f.name)
	tap.ok(not r.returncode and not p.returncode and p.stdout.count(b"\n") == 1,
	       "records of tasks in a dump that are none are left out", [r.stderr, p.stderr, p.stdout])

def test_full(tap, tmp):
	"""A disk that becomes full in the middle: perf reads the records that found room."""
	dump, whole, part = (os.path.join(tmp, name) for name in ("full.json", "whole", "part"))
	trace(["--records", "--json=" + dump], [rp.PERF, "record", "-o", os.path.join(tmp, "x"),
						"-c", "1", "-e", "page-faults"] + WORK)
	from_dump(whole, dump)
	disk = os.path.join(tmp, "disk")
	os.mkdir(disk)
	r = run("unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size="$1" tmpfs "$2" || exit 77\n'
		'"$3" report --format=perf-data -o "$2/p" "$4"\ns=$?\ncp "$2/p" "$5"\nexit $s', "sh",
		"%dk" % (os.path.getsize(whole) // 4096 * 3 // 4 * 4), disk, rp.PEVTRACE, dump, part)
	if r.returncode in (1, 77):
		return tap.skip("a disk that becomes full", "no file system can be mounted here")
	a, b = (collections.Counter(text(rp.PERF, "script", "-F", "tid,time,event,ip", "-i", f))
		for f in (whole, part))
	tap.ok(r.returncode == 2 and r.stderr.count(b"cannot write") == 1 and
	       5 < b.total() < a.total() and b <= a,
	       "a disk that becomes full: %d of %d samples" % (b.total(), a.total()),
	       [r.returncode, r.stderr] + list(b - a))

if __name__ == "__main__":
	sys.exit(main(globals()))
