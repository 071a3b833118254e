#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Events that were opened before pevtrace was attached, held against a trace of the same
program from its start: attr, target, group, ring, and the records that follow."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import ringparse as rp
import straceparse as sp

# What the kernel changes in the attr of an open event.
CHANGED = {"freq", "sample_freq", "sample_period", "enable_on_exec", "sample_max_stack", "size"}

def lines(path):
	with open(path, encoding="utf-8") as f:
		return [json.loads(line) for line in f]

def from_start(path, command):
	"""The events that are open in the end, by descriptor: attr, pid, cpu, leader, output."""
	subprocess.run([rp.PEVTRACE, "-o", "/dev/null", "--json=" + path, *command],
		       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
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

def at_attach(path, command, seconds):
	"""The same of an attached process, and the lines of its dump."""
	target = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	time.sleep(1.5)
	tracer = subprocess.Popen([rp.PEVTRACE, "--records", "--look-every=100", "-o", "/dev/null",
				   "--json=" + path, "-p", str(target.pid)], stderr=subprocess.PIPE)
	time.sleep(seconds)
	tracer.send_signal(signal.SIGINT)
	tracer.communicate(timeout=60)
	target.send_signal(signal.SIGINT)
	target.wait(60)
	dump = lines(path)
	fds = {line["event"]: line["fd"] for line in dump if line["kind"] == "found"}
	return {fds[line["event"]]: {"attr": line["attr"], "cpu": line["cpu"], "any": line["pid"] == -1,
				     "leader": fds[line["leader"]], "output": fds[line["output"]]}
		for line in dump if line["kind"] == "described"}, dump

def bare(event):
	attr = event["attr"]
	return {**event, "attr": {k: v for k, v in attr.items() if k.split("_name")[0] not in CHANGED
				  and v not in (0, "0x0", [])}}

def compare(tap, tmp, name, command):
	path = os.path.join(tmp, "dump")
	want, rings = from_start(path, command)
	got, dump = at_attach(path, command, 1.5)
	why = ["%s: %s, traced from the start %s" % (fd, bare(got[fd]) if fd in got else None, bare(e))
	       for fd, e in want.items() if fd not in got or bare(got[fd]) != bare(e)]
	tap.ok(want and not why and set(got) == set(want), name + ": the events that it has", why)
	found = [line for line in dump if line["kind"] == "found_ring"]
	tap.ok(len(found) == rings and all("event" in line for line in found),
	       name + ": its rings", [rings, found])
	records = {line["ring"] for line in dump if line["kind"] == "record"}
	tap.ok(not rings or records, name + ": records of its rings", [records])

def main():
	tap = sp.Tap()
	if not sp.has_bpf(rp.PEVTRACE):
		sp.skip_all("BPF programs cannot be used here")
	with tempfile.TemporaryDirectory() as tmp:
		data = os.path.join(tmp, "perf.data")
		spin = ["sh", "-c", "i=0; while [ $i -lt 1500000 ]; do i=$((i+1)); done; sleep 3"]
		compare(tap, tmp, "perf record", ["perf", "record", "-q", "-F99", "-g", "-e",
						  "cpu-clock,page-faults", "-o", data, *spin])
		compare(tap, tmp, "perf record -a", ["perf", "record", "-q", "-a", "-e",
						     "{cpu-clock,context-switches:u}", "-o", data, "sleep", "5"])
		compare(tap, tmp, "perf stat", ["perf", "stat", "-e", "{task-clock,faults},cs:u", "sleep", "5"])
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
