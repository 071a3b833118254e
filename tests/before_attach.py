#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Events that were opened before pevtrace was attached, held against a trace of the same
program from its start: attr, target, group, ring, and the records that follow."""

import html
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from programs import dump, objects as lines
import ringparse as rp
import straceparse as sp

# What the kernel changes in the attr of an open event.
CHANGED = {"freq", "sample_freq", "sample_period", "enable_on_exec", "sample_max_stack", "size"}

def from_start(path, command):
	"""The events that are open in the end, by descriptor: attr, pid, cpu, leader, output."""
	dump(path, *command)
	events, rings = {}, 0
	for line in lines(path):
		call, a = line.get("call"), line.get("args", {})
		if call in ("poll", "read"):
			break
		if line["kind"] != "call" or line.get("errno"):
			continue
		if call == "perf_event_open":
			fd = line["ret"]
			events[fd] = {"attr": a["attr_uptr"], "cpu": a["cpu"], "any": a["pid"] == -1,
				      "leader": a["group_fd"] if a["group_fd"] >= 0 else fd, "output": fd}
		elif call == "close":
			events.pop(a["fd"], None)
		elif call == "mmap" and a.get("fd") in events:
			rings += 1
		elif call == "ioctl" and a.get("request_name") == "PERF_EVENT_IOC_SET_OUTPUT":
			events[a["fd"]]["output"] = a["arg"]
	return events, rings

def await_(condition, what):
	"""Wait until it holds: a busy machine may take long."""
	for _ in range(6000):
		if condition():
			return
		time.sleep(0.05)
	raise AssertionError("waited in vain: " + what)

def is_recording(pid, nevents, rings):
	"""Return whether perf has opened its events, mapped its rings, and sleeps."""
	proc = "/proc/%d/" % pid
	with open(proc + "maps", encoding="utf-8") as f:
		mapped = f.read().count("anon_inode:[perf_event]")
	with open(proc + "stat", encoding="utf-8") as f:
		asleep = f.read().rpartition(")")[2].split()[0] == "S"
	try:
		fds = [os.readlink(proc + "fd/" + fd) for fd in os.listdir(proc + "fd")]
	except FileNotFoundError: # closed meanwhile
		return False
	return asleep and mapped == rings and fds.count("anon_inode:[perf_event]") == nevents

def kinds(path):
	"""Return the kinds of the lines of a dump that is being written."""
	try:
		with open(path, encoding="utf-8") as f:
			return re.findall('"kind":"([a-z_]+)"', f.read())
	except FileNotFoundError:
		return []

def at_attach(path, command, nevents, rings):
	"""The same of an attached process, and the lines of its dump, until it has all that is
	compared."""
	target = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
				  start_new_session=True)
	await_(lambda: is_recording(target.pid, nevents, rings), "%d events of %s" % (nevents, command))
	tracer = subprocess.Popen([rp.PEVTRACE, "--records", "--look-every=100", "-o", "/dev/null",
				   "--json=" + path, "-p", str(target.pid)], stderr=subprocess.PIPE)
	await_(lambda: kinds(path).count("described") >= nevents and
	       kinds(path).count("found_ring") >= rings and (not rings or "record" in kinds(path)),
	       "events, rings and records of %s" % command)
	tracer.send_signal(signal.SIGINT)
	tracer.communicate(timeout=300)
	os.killpg(target.pid, signal.SIGINT)
	target.wait(300)
	dump = lines(path)
	fds = {line["event"]: line["fd"] for line in dump if line["kind"] == "found"}
	return {fds[line["event"]]: {"attr": line["attr"], "cpu": line["cpu"], "any": line["pid"] == -1,
				     "leader": fds[line["leader"]], "output": fds[line["output"]]}
		for line in dump if line["kind"] == "described"}, dump

def bare(event):
	attr = event["attr"]
	return {**event, "attr": {k: v for k, v in attr.items() if k.split("_name")[0] not in CHANGED
				  and v not in (0, "0x0", [])}}

def compare(tap, tmp, name, perf, command):
	"""command: what perf runs until it is interrupted."""
	path = os.path.join(tmp, "dump")
	want, rings = from_start(path, perf + ["sleep", "0.1"])
	os.unlink(path)
	got, dump = at_attach(path, perf + command, len(want), rings)
	why = ["%s: %s, traced from the start %s" % (fd, bare(got[fd]) if fd in got else None, bare(e))
	       for fd, e in want.items() if fd not in got or bare(got[fd]) != bare(e)]
	tap.ok(want and not why and set(got) == set(want), name + ": the events that it has", why)
	found = [line for line in dump if line["kind"] == "found_ring"]
	tap.ok(len(found) == rings and all("event" in line for line in found),
	       name + ": its rings", [rings, found])
	records = {line["ring"] for line in dump if line["kind"] == "record"}
	tap.ok(not rings or records, name + ": records of its rings", [records])

# A group whose leader has a ring, which another event writes to, and a second descriptor; then
# calls on them.  A program of BPF_PROG_TYPE_PERF_EVENT returns 0.
HOLDER = r"""
import ctypes, mmap, os, struct, sys, time
libc = ctypes.CDLL(None)
OPEN, BPF = {"x86_64": (298, 321), "aarch64": (241, 280)}[os.uname().machine]
def event(config, period, kind, group):
	attr = bytearray(128)
	struct.pack_into("IIQQQQQ", attr, 0, 1, 128, config, period, kind, 15, 1 << 5 | 1 << 6)
	fd = libc.syscall(OPEN, (ctypes.c_char * 128).from_buffer(attr), 0, -1, group, ctypes.c_ulong(8))
	if fd < 0:
		sys.exit("perf_event_open")
	return fd
insns = ctypes.create_string_buffer(struct.pack("<Q", 0xb7) + struct.pack("<Q", 0x95))
license = ctypes.create_string_buffer(b"GPL")
program = libc.syscall(BPF, 5, struct.pack("<IIQQ", 7, 2, ctypes.addressof(insns),
					   ctypes.addressof(license)).ljust(128, b"\0"), 128)
leader = event(0, 1000000, 7, -1)
member = event(2, 0, 0, leader)
writer = event(0, 2000000, 3, -1)
ring = mmap.mmap(leader, 9 * mmap.PAGESIZE) # duplicates the descriptor
libc.ioctl(writer, ctypes.c_ulong(0x2405), ctypes.c_ulong(leader))
print(leader, member, writer, flush=True)
while True:
	libc.read(leader, ctypes.create_string_buffer(256), ctypes.c_ulong(256))
	libc.ioctl(member, ctypes.c_ulong(0x2403), ctypes.c_ulong(0))
	libc.ioctl(writer, ctypes.c_ulong(0x40042408), ctypes.c_ulong(program))
	time.sleep(0.05)
"""

def watched(pid, path, *options):
	"""Attach until there are some calls; return the trace."""
	tracer = subprocess.Popen([rp.PEVTRACE, "-o", path, *options, "-p", str(pid)],
				  stderr=subprocess.DEVNULL)
	def text():
		with open(path, encoding="utf-8") as f:
			return f.read()
	await_(lambda: os.path.exists(path) and text().count("SET_BPF") > 2, "calls of the holder")
	tracer.send_signal(signal.SIGINT)
	tracer.wait(300)
	return text()

def told(*args):
	r = subprocess.run([rp.PEVTRACE, *args], stdout=subprocess.PIPE, text=True, check=False)
	text = re.sub(r"<script.*?</script>|<style.*?</style>|<[^>]*>", " ", r.stdout, flags=re.S)
	return " ".join(html.unescape(text).split())

def views(tap, tmp):
	"""What the kernel says of events from before is in every view, and conditions see it."""
	path, dump = os.path.join(tmp, "text"), os.path.join(tmp, "views")
	with subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE,
			      text=True) as target:
		leader, member, writer = target.stdout.readline().split()
		text = watched(target.pid, path, "--records", "--json=" + dump)
		injected = watched(target.pid, path + "1", "-e", "inject=ioctl:error=EIO:when=config==2")
		older = watched(target.pid, path + "2", "--as-kernel=4.8")
		target.kill()
	open_ = re.findall(r"--- (\d+)<.*?> was open: (.*) ---", text)
	tap.ok([fd for fd, _ in open_] == [leader, member, writer] and
	       "in the group of %s<" % leader in open_[1][1] and
	       "output to %s<" % leader in open_[2][1],
	       "trace: each event once, with attr, group and ring", [text[:2000]])
	text = told("decode", "--summary-only", dump)
	tap.ok(re.search(r"#2 page-faults:u: \S+, counting, in the group of #1 fd %s, " % member, text) and
	       re.search(r"1 of #1 cpu-clock:u: 3[26] KiB, in process \d+; written by #1, #3", text),
	       "summary: target, group and ring", [text])
	text = told("explain", dump)
	tap.ok(re.search(r" %s leader .* fd %s's .* fd %s's" % (leader, leader, leader), text),
	       "explain: group and ring", [text])
	text = told("report", dump)
	tap.ok("Events with this attr: #2" in text and "in the group of #1" in text and
	       "#1 cpu-clock:u #1 , #3" in text, "report: attrs, group and ring", [text])
	tap.ok(re.search(r"ioctl\(%s, \w+RESET, 0\) = -1 EIO .*INJECTED" % member, injected) and
	       not re.search(r"ioctl\(%s, .*INJECTED" % writer, injected),
	       "when= judges the attr", [injected])
	tap.ok(re.search(r"ioctl\(%s, \w+SET_BPF, .*INJECTED.*Linux 4.8: Only tracepoints" % writer, older) and
	       not re.search(r"RESET.*INJECTED", older), "--as-kernel judges the attr", [older])

def main():
	tap = sp.Tap()
	if not sp.has_bpf(rp.PEVTRACE):
		sp.skip_all("BPF programs cannot be used here")
	with tempfile.TemporaryDirectory() as tmp:
		data = os.path.join(tmp, "perf.data")
		sleep = ["sleep", "1000"]
		compare(tap, tmp, "perf record", ["perf", "record", "-q", "-F99", "-g", "-e",
						  "cpu-clock,page-faults", "-o", data],
			["sh", "-c", "while :; do :; done"])
		compare(tap, tmp, "perf record -a", ["perf", "record", "-q", "-a", "-e",
						     "{cpu-clock,context-switches:u}", "-o", data], sleep)
		views(tap, tmp)
		compare(tap, tmp, "perf stat", ["perf", "stat", "-e", "{task-clock,faults},cs:u"], sleep)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
