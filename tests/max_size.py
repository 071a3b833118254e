#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A trace in several files (--max-size): each is complete in itself, and together they have what one
file has."""

import glob
import itertools
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from checks import differ, run_all, start
import dumps
import machine
from programs import PEVTRACE, objects, run, wait_for_read
import straceparse as sp

SIZE = 4096
HELD = 3
HEAD = {"task", "found", "described", "found_ring", "name", "comm", "id", "program"}

# Events that are held, two in a group, one with a ring; a child and a thread use them, too.
USER = """
import ctypes, fcntl, mmap, os, sys, threading
sys.path.insert(0, %r)
import perf_event as pe
held = [pe.call(pe.attr(config=1, exclude_kernel=1, sample_type=1, sample_period=10 ** 8))]
held.append(pe.call(pe.attr(config=2, exclude_kernel=1), group_fd=held[0]))
held.append(pe.call(pe.attr(config=9, exclude_kernel=1)))
pe.LIBC.close(pe.call(pe.attr(config=0, exclude_kernel=1)))
ring = mmap.mmap(held[0], 2 * mmap.PAGESIZE)
if "wait" in sys.argv:
	sys.stdin.read(1)
def use(n):
	for i in range(n):
		for fd in held:
			os.read(fd, 64)
			fcntl.ioctl(fd, 0x2400, 0)
def between(n):
	use(n)
	pe.LIBC.close(pe.call(pe.attr(config=4, exclude_kernel=1)))
thread = threading.Thread(target=between, args=(20,))
between(20)
thread.start()
thread.join()
if not os.fork():
	between(20)
	os._exit(0)
os.wait()
between(20)
""" % os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")

# Threads and children open and close events all the time.
CLOSES = """
import os, sys, threading
sys.path.insert(0, %r)
import perf_event as pe
def work():
	for i in range(150):
		pe.LIBC.close(pe.call(pe.attr(config=4, exclude_kernel=1)))
threads = [threading.Thread(target=work) for i in range(4)]
for t in threads:
	t.start()
for i in range(2):
	if not os.fork():
		work()
		os._exit(0)
for t in threads:
	t.join()
os.wait()
os.wait()
""" % os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")

# The descriptor that the open returned is closed; its copies are held, in a child by another number.
COPIES = """
import mmap, os, sys
sys.path.insert(0, %r)
import perf_event as pe
first = pe.call(pe.attr(config=9, exclude_kernel=1))
group = [os.dup(first), pe.call(pe.attr(config=9, exclude_kernel=1), group_fd=first)]
pe.LIBC.close(first)
ringed = pe.call(pe.attr(config=2, exclude_kernel=1, sample_type=1, sample_period=10 ** 8))
ring = pe.LIBC.mmap(None, 2 * mmap.PAGESIZE, 3, 1, ringed, 0)
pe.LIBC.close(ringed)
ready = os.pipe()
if not os.fork():
	os.dup2(group[0], 40)
	os.close(group[0])
	group[0] = 40
	os.write(ready[1], b"x")
else:
	os.read(ready[0], 1)
for i in range(60):
	for fd in group:
		os.read(fd, 64)
if group[0] != 40:
	os.wait()
""" % os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")

# Threads use numbers of descriptors again that others close, for an older event and for new ones.
REUSES = """
import os, sys, threading
sys.path.insert(0, %r)
import perf_event as pe
old = pe.call(pe.attr(config=9, exclude_kernel=1))
def work(new):
	for i in range(150):
		fd = pe.call(pe.attr(config=4, exclude_kernel=1)) if new else pe.LIBC.dup(old)
		pe.LIBC.read(fd, bytes(64), 64)
		pe.LIBC.close(fd)
threads = [threading.Thread(target=work, args=(i %% 2,)) for i in range(4)]
for t in threads:
	t.start()
for t in threads:
	t.join()
""" % os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")

def user(*args):
	return ["/usr/bin/python3", "-c", USER, *args]

def files(path):
	"""Return the files of a trace in their order."""
	more = glob.glob(glob.escape(path) + ".*")
	return [path] + sorted(more, key=lambda p: int(p.rsplit(".", 1)[1]))

def lines_of(text):
	"""Return the lines of calls in a text, without pids, times and what heads repeat."""
	lines = [re.sub(r"^(\[pid +\d+\]|\d+) +", "", l) for l in text.splitlines()]
	return [l for l in lines if " was open: " not in l]

def unknown_events(got):
	"""Return the numbers of events in a file of a dump that no line before introduces."""
	numbers, unknown = set(), set()
	for o in got:
		if o["kind"] in ("found", "call", "exit") and (o["kind"] == "found" or
							   o["call"] == "perf_event_open"):
			numbers.add(o.get("event"))
		elif o.get("event"):
			unknown |= {o["event"]} - numbers
	return unknown

def judge(path, head, own=True):
	"""Return what is wrong with one file of a dump.  own: of the program above only, as others may
	have events without a descriptor."""
	name = os.path.basename(path)
	wrong = []
	got = objects(path)
	if [got[0]["kind"], got[-1]["kind"]] != ["header", "end"]:
		wrong.append("%s: from %s to %s" % (name, got[0]["kind"], got[-1]["kind"]))
	unknown = unknown_events(got)
	if unknown and own:
		wrong.append("%s: events are not introduced: %s" % (name, unknown))
	if head and len({o["event"] for o in got if o["kind"] == "described"}) < HELD:
		wrong.append("%s: not all events are described" % name)
	if head and not any(o["kind"] == "found_ring" and o.get("event") for o in got):
		wrong.append("%s: no ring" % name)
	for verb in ["decode", path], ["explain", path], ["diff", path, path]:
		r = run(PEVTRACE, *verb)
		if r.returncode or r.stderr:
			wrong.append("%s %s: %s, %s" % (verb[0], name, r.returncode, r.stderr))
	# a call that began before is later than the head
	for o in itertools.takewhile(lambda o: o["kind"] in HEAD, got[1:]):
		o.pop("ns", None)
	order = dumps.order_of(got) if own else []
	return wrong + ["%s: %s" % (name, w) for w in order + dumps.totals_of(got)]

def test_dump(tmp):
	"""The files of a dump show what the text, which is one file, shows."""
	dump = os.path.join(tmp, "dump")
	r = run(PEVTRACE, "--json=" + dump, "--max-size=%d" % SIZE, "--records", *user())
	wrong = [r.stderr] if r.returncode else []
	whole = lines_of(r.stderr)
	parts = []
	for i, path in enumerate(files(dump)):
		wrong += judge(path, 3 < i < len(files(dump)) - 3)
		parts += lines_of(run(PEVTRACE, "decode", path).stdout)
	if len(files(dump)) < 10:
		wrong.append("%d files" % len(files(dump)))
	# a call that one file has unfinished is whole in another
	calls = lambda lines: sorted(l for l in lines if l.startswith(("ioctl(", "read(", "perf_event_open("))
				     and "unfinished" not in l)
	return wrong + differ(calls(parts), calls(whole), "calls")

def test_text(tmp):
	"""Each descriptor of an event in a file of text was introduced in it."""
	text = os.path.join(tmp, "text")
	run(PEVTRACE, "-y", "-o", text, "--max-size=4K", *user())
	wrong = [] if len(files(text)) > 4 else ["%d files" % len(files(text))]
	for path in files(text):
		known = set()
		with open(path) as f:
			content = f.read()
		if not content.endswith("\n"):
			wrong.append("%s ends in a line" % path)
		for line in content.splitlines():
			known |= set(re.findall(r"(?:--- |\) = )(\d+<[a-z:-]+>)", line))
			used = re.findall(r"^\d+ +(?:read|ioctl)\((\d+<[a-z:-]+>)", line)
			wrong += ["%s: %s" % (path, line) for u in used if u not in known]
	sizes = [os.path.getsize(p) for p in files(text)]
	return wrong + ["%s bytes" % s for s in sizes[:-1] if s < SIZE or s > 3 * SIZE]

def test_closes(tmp):
	"""A close that is in progress at a cut names an event that the next file introduces."""
	dump = os.path.join(tmp, "closes")
	run(PEVTRACE, "-o", "/dev/null", "--json=" + dump, "--max-size=4K", "/usr/bin/python3", "-c", CLOSES)
	wrong = [] if len(files(dump)) > 20 else ["%d files" % len(files(dump))]
	for path in files(dump):
		unknown = unknown_events(objects(path))
		if unknown:
			wrong.append("%s: events are not introduced: %s" % (path, unknown))
	return wrong

def test_reuses(tmp):
	"""A number that another event got while its close was in progress is that event's in the next file."""
	text, dump = os.path.join(tmp, "whole"), os.path.join(tmp, "reuses")
	run(PEVTRACE, "-o", "/dev/null", "--json=" + dump, "--max-size=4K", "/usr/bin/python3", "-c", REUSES)
	wrong, named = [] if len(files(dump)) > 20 else ["%d files" % len(files(dump))], set()
	for path in files(dump):
		got = run(PEVTRACE, "decode", "-y", "-o", text, path)
		said = [o for o in objects(path) if o.get("args", {}).get("fd_label")]
		with open(text, encoding="utf-8") as f:
			shown = re.findall(r"(read|close)\((\d+)(?:<([a-z-]+)[^>]*>)?", f.read())
		want = {(o["call"], str(o["args"]["fd"]), re.match("[a-z-]*", o["args"]["fd_label"])[0]) for o in said
			if "fd" in o["args"]}
		wrong += ["%s: %s, %s" % (path, s, got.stderr) for s in sorted(set(shown) - want)]
		named |= {(o["event"], o["args"]["fd_label"].startswith("dummy")) for o in said if o.get("event")}
	if len({n for n, _ in named}) != len(named):
		wrong.append("numbers and labels: %s" % named)
	return wrong

def test_copies(tmp):
	"""Heads name the descriptors that are held, of each process, no others, and a ring alone."""
	text, dump = os.path.join(tmp, "copies"), os.path.join(tmp, "dumped")
	run(PEVTRACE, "-y", "-o", text, "--json=" + dump, "--max-size=4K", "/usr/bin/python3", "-c", COPIES)
	wrong = [] if len(files(dump)) > 3 else ["%d files" % len(files(dump))]
	used, heads = set(), set()
	for path in files(text)[1:]:
		known = set()
		with open(path) as f:
			for line in f:
				is_head = re.match(r"(\d+) +--- (\d+)<", line)
				read = re.match(r"(\d+) +read\((\d+)<dummy", line)
				if is_head:
					known.add(is_head.groups())
				elif read:
					used.add(read.groups())
					wrong += [] if read.groups() in known else [path + ": " + line]
				leader = re.search(r"in the group of (\d*)<", line)
				if leader and (is_head[1], leader[1]) not in known:
					wrong.append(path + ": " + line)
		heads |= known
	if heads - used:
		wrong.append("not held: %s" % (heads - used))
	alone = 0
	for path in files(dump)[1:]:
		got = objects(path)
		kept = {o["event"] for o in got if o["kind"] == "found" and o["fd"] == -2}
		rings = {o["event"] for o in got if o["kind"] == "found_ring"}
		described = {o["event"] for o in got if o["kind"] == "described"}
		alone += bool(kept)
		if kept != rings or kept - described:
			wrong.append("%s: a ring alone: %s of %s" % (path, rings, kept))
		wrong += judge(path, False)
	return wrong + ([] if alone > 4 else ["%d files repeat the ring" % alone])

def test_attached(tmp):
	"""Events opened before attach are those of each file."""
	dump = os.path.join(tmp, "attached")
	target = subprocess.Popen(user("wait"), stdin=subprocess.PIPE)
	wait_for_read(target.pid)
	ours = subprocess.Popen([PEVTRACE, "-p", str(target.pid), "-o", "/dev/null", "--json=" + dump,
				 "--max-size=4K"], stderr=subprocess.PIPE, text=True)
	for line in ours.stderr:
		if "attached to" in line:
			break
	target.communicate(b"x")
	ours.communicate()
	wrong = [] if len(files(dump)) > 9 else ["%d files" % len(files(dump))]
	for path in files(dump):
		wrong += judge(path, False)
		if len({o["event"] for o in objects(path) if o["kind"] == "found"}) < HELD:
			wrong.append("%s: not three events" % path)
	return wrong

def test_everything(tmp):
	"""The whole machine: other tasks may hold anything."""
	dump = os.path.join(tmp, "everything")
	r = run(PEVTRACE, "-a", "-o", "/dev/null", "--json=" + dump, "--max-size=64K", *user())
	some = files(dump)[:8]
	wrong = [r.stderr] if r.returncode or len(some) < 2 else []
	for path in some:
		wrong += judge(path, False, False)
	return wrong

def test_waits(tmp):
	"""A call that waits when a file ends is whole in the next one, with its beginning."""
	dump = os.path.join(tmp, "waits")
	script = USER.replace("thread.start()", "import select\nthread.start()\n"
			      "p = select.poll()\np.register(held[0])\np.poll(300)")
	run(PEVTRACE, "-o", "/dev/null", "--json=" + dump, "--max-size=4K", "/usr/bin/python3", "-c", script)
	last = [p for p in files(dump) if any(o.get("call") == "poll" and "ret" in o for o in objects(p))]
	if len(last) != 1:
		return ["poll returns in %s" % last]
	text = run(PEVTRACE, "decode", last[0]).stdout
	return [] if re.search(r"poll\(\[\{fd=\d", text) else [text]

def test_not_cut(tmp):
	"""What is no regular file is not cut; files of tasks and others are refused."""
	wrong = []
	pipe = run(PEVTRACE, "-o", "/dev/stdout", "--max-size=1K", *user())
	if " was open" in pipe.stdout or not pipe.stdout:
		wrong.append("a pipe is cut: " + pipe.stdout[:200])
	if os.path.exists("/dev/stdout.1"):
		wrong.append("/dev/stdout.1")
	out = os.path.join(tmp, "refused")
	for args, says in ((["-ff", "-o", out], "-ff"), (["-A", "-o", out], "-A"), ([], "-o FILE")):
		r = run(PEVTRACE, "--max-size=1M", *args, "true")
		if r.returncode != 2 or says not in r.stderr:
			wrong.append("%s: %s" % (args, r.stderr))
	for size in "", "0", "K", "1T", "-1", "1.5M":
		r = run(PEVTRACE, "--max-size=" + size, "-o", out, "true")
		if r.returncode != 2 or "bytes" not in r.stderr and size:
			wrong.append("%r: %s" % (size, r.stderr))
	return wrong

def test_next_fails(tmp):
	"""The next file cannot be created: that is said, and the program goes on."""
	text = os.path.join(tmp, "next")
	os.mkdir(text + ".1")
	r = run(PEVTRACE, "-o", text, "--max-size=4K", *user())
	good = "next.1'" in r.stderr and r.returncode == 2
	wrong = [] if good and os.path.getsize(text) < 2 * SIZE else [r.stderr, r.returncode]
	# others may have put a link there
	shared = os.path.join(tmp, "shared")
	os.mkdir(shared)
	os.chmod(shared, 0o1777)
	text = os.path.join(shared, "next")
	os.symlink(os.path.join(tmp, "victim"), text + ".1")
	r = run(PEVTRACE, "-o", text, "--max-size=4K", *user())
	if "is a link" not in r.stderr or os.path.exists(os.path.join(tmp, "victim")):
		wrong += ["a link", r.stderr]
	return wrong

def test_modes(tmp):
	text = os.path.join(tmp, "modes")
	run(PEVTRACE, "--records", "-o", text, "--max-size=4K", *user())
	return ["%s: %o" % (p, os.stat(p).st_mode) for p in files(text) if os.stat(p).st_mode & 0o77]

def main():
	tmp = start("pevtrace-max-size.")
	return run_all([
		("a dump", lambda: test_dump(tmp), None),
		("text", lambda: test_text(tmp), None),
		("closes in progress", lambda: test_closes(tmp), None),
		("numbers used again", lambda: test_reuses(tmp), None),
		("copies of descriptors", lambda: test_copies(tmp), None),
		("attached", lambda: test_attached(tmp), None),
		("all tasks", lambda: test_everything(tmp) if sp.has_bpf(PEVTRACE) else
		 (_ for _ in ()).throw(machine.Lack("no BPF engine")), None),
		("a call that waits", lambda: test_waits(tmp), None),
		("what is not cut", lambda: test_not_cut(tmp), None),
		("the next file fails", lambda: test_next_fails(tmp), None),
		("modes", lambda: test_modes(tmp), None),
	], tmp)

if __name__ == "__main__":
	sys.exit(main())
