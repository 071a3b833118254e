#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a trace says at its end of lost and unread records, and of events that counted nothing or
not all the time: each fault by a program that has it, and knows its numbers, beside its twin."""

import json
import mmap
import os
import re
import struct
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import machine
import perf_event as pe
import straceparse as sp
from checks import check, differ, run_all, start
from programs import PEVTRACE, objects, run, wait_for_read

PAGE = mmap.PAGESIZE
FAULTS, SWITCHES = 2, 3
ENABLE, DISABLE, TIMES, LOST = 0x2400, 0x2401, 3, 1 << 4
HEAD, TAIL = 1024, 1032

# The programs ------------------------------------------------------------------------

def opened(config=FAULTS, pid=0, **fields):
	fd = pe.call(pe.attr(config=config, exclude_kernel=1, exclude_hv=1, **fields), pid)
	if fd < 0:
		print("this kernel refuses its event: %s" % os.strerror(-fd))
		sys.exit(77)
	return fd

def touch(pages):
	"""Cause as many page faults: the first write to each page."""
	area = mmap.mmap(-1, pages * PAGE)
	for i in range(pages):
		area[i * PAGE] = 1
	area.close()

def ring(fd, prot=mmap.PROT_READ | mmap.PROT_WRITE):
	return mmap.mmap(fd, 2 * PAGE, mmap.MAP_SHARED, prot)

def disable(fd):
	pe.LIBC.ioctl(fd, DISABLE, 0)

def word(page, at):
	return struct.unpack_from("<Q", page, at)[0]

def unread(fault):
	fd = opened(sample_period=1, sample_type=1)
	page = ring(fd)
	touch(8)
	disable(fd)
	print(word(page, HEAD))
	if not fault:
		struct.pack_into("<Q", page, TAIL, word(page, HEAD))
	page.close()

def lost(fault):
	fd = opened(sample_period=1, sample_type=1, read_format=LOST)
	page = ring(fd)
	touch(2 * PAGE // 16 if fault else 8)
	disable(fd)
	print(struct.unpack("<QQ", os.read(fd, 16))[1])
	struct.pack_into("<Q", page, TAIL, word(page, HEAD))
	page.close()

def bursts(fault):
	"""The ring is full once; the record that says so comes when there is room again."""
	fd = opened(sample_period=1, sample_type=1, read_format=LOST)
	page = ring(fd)
	touch(2 * PAGE // 16 if fault else 8)
	disable(fd)
	lost = struct.unpack("<QQ", os.read(fd, 16))[1]
	struct.pack_into("<Q", page, TAIL, word(page, HEAD))
	pe.LIBC.ioctl(fd, ENABLE, 0)
	touch(8)
	disable(fd)
	print(lost, (word(page, HEAD) - 24 * bool(lost)) // 16)
	struct.pack_into("<Q", page, TAIL, word(page, HEAD))
	page.close()

def overwritten(fault):
	fd = opened(sample_period=1, sample_type=1)
	page = ring(fd, mmap.PROT_READ)
	touch(2 * PAGE // 16 if fault else 8)
	disable(fd)
	print(word(page, HEAD) - PAGE)
	page.close()

def never_enabled(fault):
	fd = opened(disabled=1)
	if not fault:
		pe.LIBC.ioctl(fd, ENABLE, 0)
	touch(8)
	os.read(fd, 8)

def task_never_ran(fault):
	"""The child waits for input all the time, or until it may run."""
	gate, far = os.pipe()
	child = os.fork()
	if not child:
		os.close(far)
		os.dup2(gate, 0)
		os.read(0, 1)
		os._exit(0)
	wait_for_read(child)
	fd = opened(pid=child, read_format=TIMES)
	if not fault:
		os.write(far, b"x")
		os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
	os.read(fd, 24) # the child of a fault reads the end of the pipe when this program has ended

def switches_excluded(fault):
	fd = opened(SWITCHES if fault else FAULTS)
	touch(8)
	os.sched_yield()
	os.read(fd, 8)

PROGRAMS = {f.__name__: f for f in (unread, lost, bursts, overwritten, never_enabled, task_never_ran,
				    switches_excluded)}

# What is said of them ------------------------------------------------------------------

SAID = {
	"unread": "page-faults:u: %d bytes of records were left in the ring: data_tail was before "
		  "data_head when the ring was unmapped",
	"lost": "page-faults:u: lost %d of %d records (%.1f %%): ring of %s; try 128 pages (-m 128)",
	"bursts": "page-faults:u: lost %d of %d records (%.1f %%): ring of %s was full 1 time, for up to %d "
		  "records; %d pages (-m %d) have room for these, too",
	"overwritten": "page-faults:u: %d bytes of records were overwritten: a ring that is mapped "
		       "read-only keeps the newest records; whether the program had read them is not known",
	"never_enabled": "page-faults:u: the event counts 0: opened disabled, and nothing enabled it",
	"task_never_ran": "page-faults:u: the event counts 0: its task did not run while it was enabled",
	"switches_excluded": "context-switches:u: the event counts 0: a task is switched and migrated "
			     "in kernel mode, which exclude_kernel=1 excludes",
}

def bytes_text(n):
	return "%d bytes" % n if n < 1024 else "%.*f KiB" % (1 if n % 1024 else 0, n / 1024)

def said(text):
	"""The lines about events at the end of a trace, without their frame."""
	lines = text.split("\n")
	return [l[4:-4] for l in lines if l.startswith("+++ ") and l.endswith(" +++") and ": " in l]

def expected(name, out):
	"""The line about a program, which printed its number."""
	if name == "bursts":
		n, seen = map(int, out.split())
		# what was lost, twice: half of the ring is full when its reader is woken
		pages = 1 << ((PAGE + 2 * 16 * n - 1) // PAGE).bit_length()
		return SAID[name] % (n, n + seen, 100 * n / (n + seen), bytes_text(PAGE), n, pages, pages)
	n = int(out or 0)
	if name == "lost":
		seen = PAGE // 16 - 1 # each record has header and ip; a ring is never quite full
		return SAID[name] % (n, n + seen, 100 * n / (n + seen), bytes_text(PAGE))
	return SAID[name].replace("%d bytes", bytes_text(n))

def trace(name, fault, *options):
	path = os.path.join(TMP, name)
	r = run(PEVTRACE, *options, "-o", path, sys.executable, __file__, name, "1" if fault else "")
	if r.returncode == 77:
		raise machine.Lack(r.stdout.strip())
	if "cannot read ring buffers" in r.stderr:
		raise machine.Lack(r.stderr.strip())
	if r.returncode:
		raise ValueError(r.stderr)
	with open(path) as f:
		return r.stdout.strip(), said(f.read())

def program(name, *options):
	def test():
		out, lines = trace(name, True, *options)
		why = differ(lines, [expected(name, out)], "at the end")
		out, lines = trace(name, False, *options)
		return why + differ(lines, [], "of the twin")
	return test

def edited(edit):
	"""What is said of tests/multiplexed.json with its reads of groups edited, the program's only."""
	path = os.path.join(TMP, "edited.json")
	with open(path, "w") as f:
		for o in objects(os.path.join(HERE, "multiplexed.json")):
			if o["kind"] == "call" and o["call"] == "read":
				edit(o)
			if o["kind"] != "count":
				f.write(json.dumps(o) + "\n")
	return said(run(PEVTRACE, "decode", path).stdout)

def test_multiplexed():
	return differ(edited(lambda o: None), [
		"instructions #4 and 7 more: ran 49.8 % of the time: events took turns, as there are more "
		"than counters"], "of two groups")

def test_error_state():
	def edit(o):
		o["ret"], o["memory"] = 0, []
	return differ(edited(edit), [
		"cpu-cycles and 1 more: the event counts nothing until it is enabled again: read returned 0 "
		"bytes, as of a pinned event that got no counter"], "of reads of 0 bytes")

def test_never_scheduled():
	def edit(o):
		raw = bytearray.fromhex(o["memory"][0]["hex"])
		raw[16:24] = bytes(8) # time_running
		o["memory"][0]["hex"] = raw.hex()
	return differ(edited(edit), [
		"cpu-cycles and 7 more: the event counts 0: enabled, but it never got a counter"],
		"of a group without a counter")

def test_throttled():
	"""A record says that the kernel stopped the event; all its samples are taken for such here."""
	trace("unread", False, "--records", "--json=" + os.path.join(TMP, "samples.json"))
	path = os.path.join(TMP, "throttled.json")
	n = 0
	with open(path, "w") as f:
		for o in objects(os.path.join(TMP, "samples.json")):
			if o["kind"] == "record":
				o["hex"] = "05" + o["hex"][2:]
				n += 1
			f.write(json.dumps(o) + "\n")
	return differ(said(run(PEVTRACE, "decode", path).stdout), [
		"page-faults:u: throttled %d times: it sampled more often in a tick than "
		"perf_event_max_sample_rate allows, so the kernel stopped it until the next one" % n],
		"of THROTTLE records")

def test_diff():
	"""pevtrace diff says a loss that one run has, and the other has not, before all else."""
	path = {k: os.path.join(TMP, "diff-" + k) for k in ("none", "lost", "unread", "less")}
	_, none = trace("lost", False, "--records", "--json=" + path["none"])
	_, (lost,) = trace("lost", True, "--records", "--json=" + path["lost"])
	_, (unread,) = trace("unread", True, "--records", "--json=" + path["unread"])
	diff = lambda *args: run(PEVTRACE, "diff", *args)
	head = "--- %s\n+++ %s\n"
	r = diff(path["none"], path["lost"])
	why = differ((r.returncode, r.stdout), (1, head % (path["none"], path["lost"]) + "+ %s\n" % lost),
		     "one lost some")
	r = diff(path["lost"], path["unread"])
	why += differ(r.stdout.split("\n")[2:4], ["- " + lost, "+ " + unread], "different losses, first")
	r = diff("-j", path["lost"], path["none"])
	why += differ(json.loads(r.stdout), {"kind": "removed", "call": "records_lost", "line": lost}, "in JSON")
	for option in ("--ignore=loss", "--ignore=records_lost", "--only=config", "--only=records_unread"):
		r = diff(option, path["none"], path["lost"])
		why += differ((r.returncode, r.stdout), (0, ""), option)
	for factor, status in ((1.5, 0), (3, 1)):
		with open(path["less"], "w") as f:
			for o in objects(path["lost"]):
				if o["kind"] == "call" and o["call"] == "read":
					raw = bytearray.fromhex(o["memory"][0]["hex"])
					n = struct.unpack_from("<Q", raw, 8)[0]
					struct.pack_into("<Q", raw, 8, int(n / factor))
					o["memory"][0]["hex"] = raw.hex()
				elif o["kind"] == "count" and "lost" in o: # as pevtrace read it itself
					o["lost"] = int(o["lost"] / factor)
				f.write(json.dumps(o) + "\n")
		why += differ(diff(path["less"], path["lost"]).returncode, status, "%.1f times" % factor)
	return why

def test_same():
	"""The dump of a trace says the same, also below a table of calls; -qq leaves it out."""
	path, text = os.path.join(TMP, "same.json"), os.path.join(TMP, "same")
	r = run(PEVTRACE, "--records", "-o", text, "--json=" + path, sys.executable, __file__, "unread", "1")
	if "cannot read ring buffers" in r.stderr:
		raise machine.Lack(r.stderr.strip())
	with open(text) as f:
		whole = f.read()
	why = differ(said(run(PEVTRACE, "decode", "--records", path).stdout), said(whole), "decoded")
	why += differ(said(run(PEVTRACE, "decode", "-qq", path).stdout), [], "with -qq")
	counts = run(PEVTRACE, "decode", "-c", path).stdout.split("\n")[-2]
	return why + differ(counts, said(whole)[0], "with -c")

def test_colours():
	"""What is lost or dead is red and what may be wrong yellow, on terminals, without NO_COLOR."""
	path = os.path.join(TMP, "colours.json")
	run(PEVTRACE, "--json=" + path, "-o", "/dev/null", sys.executable, "-c", "import sys; "
	    "sys.path.insert(0, sys.argv[1]); import perf_event as pe, os; pe.call(pe.attr(config=99)); "
	    "os.read(pe.call(pe.attr(config=2, disabled=1, exclude_kernel=1)), 8)",
	    os.path.join(HERE, "lib"))
	why = []
	for options, red in (([], r"\x1b\[31m\+\+\+ page-faults:u: "), (["-c"], r"\x1b\[31m +\d+\x1b\[0m total"),
			     (["-c"], r"\x1b\[31mpage-faults:u: ")):
		shown = sp.on_terminal([PEVTRACE, "decode", *options, path], 200, PEVTRACE_PAGER="cat")
		plain = sp.on_terminal([PEVTRACE, "decode", *options, path], 200, NO_COLOR="1",
				       PEVTRACE_PAGER="cat")
		why += differ((bool(re.search(red, shown)), "\x1b" in plain), (True, False), shown[-400:])
	shown = sp.on_terminal([PEVTRACE, "list", "hardware"], 200, PEVTRACE_PAGER="cat")
	if "no PMU of" in shown and "\x1b[31m (no PMU of" not in shown:
		why.append("list: " + shown[:200])
	return why

def main():
	if len(sys.argv) == 3 and sys.argv[1] in PROGRAMS:
		PROGRAMS[sys.argv[1]](bool(sys.argv[2]))
		return 0
	global TMP
	TMP = start("pevtrace-loss-")
	machine.lacks("tracing") and sp.skip_all(machine.lacks("tracing"))
	plain = ("never_enabled", "task_never_ran", "switches_excluded")
	tests = [("%s, and its twin" % n, program(n, "--records"), None) for n in PROGRAMS]
	tests += [("%s, and its twin, in a plain trace" % n, program(n), None) for n in plain]
	return run_all(tests + [
		("multiplexed", test_multiplexed, None),
		("error state", test_error_state, None),
		("never scheduled", test_never_scheduled, None),
		("throttled", test_throttled, None),
		("diff", test_diff, None),
		("the dump says the same", test_same, None),
		("colours", test_colours, None),
	], TMP)

sys.exit(main())
