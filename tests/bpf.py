#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""BPF programs on events: tests/targets/bpfevent attaches one by an ioctl or a link.

Held against the target's own words (id and runs of the program, descriptors, the count of a
second event), strace's lines, and what explain says that the program does.
"""

import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import ringparse as rp
import straceparse as sp

HITS = 10	# of bpfevent
TYPES = {"uprobe": "KPROBE", "tracepoint": "TRACEPOINT", "clock": "PERF_EVENT"}
STRACE = sp.find_program("strace")

class Said:
	def __init__(self, out):
		self.id, self.event, self.program, self.link, self.count, self.runs = \
			[int(w) for w in out.split()]

def run(tap, name, options, *args):
	r = rp.Run(["--summary"] + options, [rp.target("bpfevent")] + list(args))
	if r.status:
		if r.status == rp.SKIPPED:
			tap.skip(name, (r.err.strip() or "bpfevent cannot run").split("\n")[-1])
		else:
			tap.ok(False, name, [r.out, r.err])
		return None
	r.said = Said(r.out)
	return r

def comments(call):
	return re.findall(r"/\* (.*?) \*/", call.line)

def test_attached(tap):
	"""The program is named at its attachment, and its event's summary has it."""
	for args in sp.sample([(k, h, s) for k in TYPES for h in ("ioctl", "link", "hold")
			       for s in ([], ["--no-seccomp"])], 5):
		kind, how, options = args
		name = " ".join([kind, how] + options)
		r = run(tap, name, options, kind, how, "1")
		if not r:
			continue
		s = r.said
		text = "BPF program %d two_insns (BPF_PROG_TYPE_%s)" % (s.id, TYPES[kind])
		bpf = [c for c in r.calls if c.name == "bpf"]
		attach = [c for c in r.calls if c.name == "ioctl" and "SET_BPF" in c.line] \
			if how == "ioctl" else [c for c in bpf if "LINK_CREATE" in c.line]
		event = r.summary.events[1]
		label = event.text.split(": ")[0]
		why = []
		if not attach or text not in comments(attach[0]) or attach[0].failed:
			why.append("not attached with '%s'" % text)
		if ", with " + text not in event.text:
			why.append("the event has no program")
		if ("until its link was closed" in event.text) != (how == "link"):
			why.append("the link ends with '%s'" % event.text)
		if "with BPF" in r.summary.events[2].text:
			why.append("the second event has the program, too")
		if how != "ioctl":
			if attach and attach[0].ret != s.link:
				why.append("the link is not %d" % s.link)
			ends = [c for c in r.calls if c.name == "close" and
				comments(c) == ["link of a BPF program to " + label]]
			if len(ends) != 1 or not ends[0].line.count("close(%d<" % s.link):
				why.append("the end of the link is not shown")
		ask = [c for c in bpf if "TASK_FD_QUERY" in c.line]
		if len(ask) != 1 or kind != "clock" and "prog_id=%d," % s.id not in ask[0].line:
			why.append("the query does not show the program")
		if len(bpf) != len(ask) + (4 if how != "ioctl" else 0):
			why.append("other commands of bpf are shown, or some are not")
		tap.ok(not why, name, why + [c.line for c in r.calls] + r.summary.lines)

def members(line):
	"""Return the members that strace and pevtrace name alike."""
	line = re.sub(r" /\*.*?\*/", "", line)
	line = re.sub(r"\d+ => (\d+)", r"\1", line)	# strace: before and after
	line = line.replace('"...', '"')		# strace: after the whole name
	line = line.replace("BPF_F_ALLOW_OVERRIDE", "0x1")	# strace 7: a flag of cgroups
	return re.findall(r"\b((?:prog|target|link|new_prog)_fd|attach_type|flags|bpf_cookie|fd|buf|"
			  r"buf_len|prog_id|fd_type|probe_offset|probe_addr)=([^,{}]+)", line), \
		re.search(r"= (-1 E\w+|\d+)", line[line.rindex(")"):] if " = " not in line
			  else line).group(1)

def test_strace(tap):
	"""The same calls with the same members as under strace."""
	if not STRACE:
		return tap.skip("strace's lines", "strace is not installed")
	argv = [rp.target("bpfevent"), "uprobe", "link", "1"]
	theirs = subprocess.run([STRACE, "-s", "4096", "-e", "trace=bpf"] + argv, text=True,
				stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
	if theirs.returncode:
		return tap.skip("strace's lines", "bpfevent cannot run under strace")
	ours = subprocess.run([rp.PEVTRACE, "-s", "4096", "-e", "trace=bpf"] + argv, text=True,
			      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
	shape = r"bpf\(BPF_(LINK_CREATE|LINK_UPDATE|TASK_FD_QUERY|LINK_DETACH|OBJ_PIN)"
	lines = [[l for l in t.stderr.split("\n") if re.match(shape, l)] for t in (theirs, ours)]
	why = []
	for a, b in zip(*lines):
		got = [members(re.sub(r"\(\w[^()]*\)$", "", re.sub(r"prog_id=\d+", "prog_id=N", l)))
		       for l in (a, b)]
		if got[0] != got[1] and "LINK_DETACH" not in a:	# strace 6.1: a pointer for 4 bytes
			why += [a, b, str(got)]
	tap.ok(not why and len(lines[0]) == len(lines[1]) == 5, "strace's lines", why + sum(lines, []))

SAYS = {
	"tracepoint": "no event on this tracepoint counts or samples the hit",
	"uprobe": "the event neither counts nor samples the hit",
	"clock": "no sample is written; the count remains the same",
}

def test_explained(tap, tmp):
	"""What explain says of the program is what the kernel does."""
	for kind in TYPES:
		for result in "01":
			name = "%s returns %s" % (kind, result)
			dump = os.path.join(tmp, "dump.json")
			r = run(tap, name, ["--json=" + dump], kind, "link", result)
			if not r:
				continue
			text = subprocess.run([rp.PEVTRACE, "explain", "--width=10000", dump],
					      text=True, stdout=subprocess.PIPE).stdout
			s, why = r.said, []
			if "given BPF program %d two_insns" % s.id not in text or \
			   SAYS[kind] not in text:
				why.append("explain does not say so")
			# the event is on another CPU, where there is one
			if 0 <= s.runs < (HITS if kind != "clock" else 1):
				why.append("the program ran %d times" % s.runs)
			if (s.count == 0) != (kind == "tracepoint" and result == "0"):
				why.append("the second event counted %d" % s.count)
			if ("ran BPF programs at the hits of" in text) != (kind != "clock"):
				why.append("the summary does not say that the program runs")
			if "every event only counts" in text:
				why.append("'only counts'")
			tap.ok(not why, name, why + text.split("\n"))

def test_dump(tap, tmp):
	"""The dump has the program; decode shows the live lines; nobody attaches it again."""
	dump, live = (os.path.join(tmp, n) for n in ("dump.json", "live"))
	argv = [rp.PEVTRACE, "--json=" + dump, "-o", live, "--summary", rp.target("bpfevent"),
		"uprobe", "link", "1"]
	r = subprocess.run(argv, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
	if r.returncode:
		return tap.skip("dump", (r.stderr.strip() or "bpfevent cannot run").split("\n")[-1])
	id = Said(r.stdout).id
	verb = lambda *a: subprocess.run([rp.PEVTRACE] + list(a), text=True,
					 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
	line = '"of":"program","name":"two_insns"'
	tap.ok([l for l in open(dump) if line in l and '"id":%d,' % id in l],
	       "the dump names the program")
	rp.check_schema(tap, "program", dump)
	text = re.sub(r"(?m)^ *\d+ +", "", open(live).read())
	got = verb("decode", "--summary", dump).stdout
	tap.ok(re.sub(r"(?m)^ *\d+ +", "", got).split("\nEvents:")[0] ==
	       text.split("\nEvents:")[0] and "two_insns" in got, "decode shows the live lines",
	       [text, got])
	other = os.path.join(tmp, "other.json")
	subprocess.run([w.replace(dump, other) for w in argv], stdout=subprocess.DEVNULL)
	same = verb("diff", dump, other)
	tap.ok(same.returncode == 0, "diff with another run", [same.stdout])
	c = verb("codegen", dump)
	tap.ok("bpf(2) requires the BPF program" in c.stdout, "codegen leaves it out", [c.stdout])
	again = verb("replay", dump)
	tap.ok("left out: BPF programs" in again.stdout and "bpf(" not in again.stdout,
	       "replay leaves it out", [again.stdout])

def libc_path():
	"""The path of the C library, as this process has mapped it."""
	return next((l.split()[-1] for l in open("/proc/self/maps") if "/libc.so" in l or
		     "/libc-" in l), "libc")

def test_tools(tap):
	"""Programs of libbpf-tools: as many links as under strace, each on an event."""
	for argv in (["syscount", "-d", "1"], ["funclatency", "-d", "1", libc_path() + ":getpid"]):
		name = argv[0] + " of libbpf-tools"
		tool = sp.find_program(argv[0], ("/usr/sbin",))
		missing = [what for what, there in (("%s (libbpf-tools)" % argv[0], tool), ("strace", STRACE))
			   if not there]
		if missing:
			tap.skip(name, " and ".join(missing) + " not found")
			continue
		theirs = subprocess.run([STRACE, "-f", "-e", "trace=bpf", tool] + argv[1:], text=True,
					stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
		if theirs.returncode:
			tap.skip(name, "it cannot run here")
			continue
		run = rp.Run(["--summary"], [tool] + argv[1:])
		links = re.findall(r"(?m)^bpf\(BPF_LINK_CREATE, .*BPF_PERF_EVENT.*= (\d+)$",
				   theirs.stderr)
		linked = [e for e in run.summary.events.values() if ", with BPF program " in e.text]
		tap.ok(run.status == 0 and links and len(linked) == len(links) and
		       [c.ret for c in run.calls if c.name == "bpf" and not c.failed and
			"LINK_CREATE" in c.line] == [int(n) for n in links],
		       name, [run.err, theirs.stderr] + run.summary.lines)

def test_pinned(tap, tmp):
	"""A pinned link keeps program and event when its descriptor is closed."""
	script = "mount -t bpf bpf /sys/fs/bpf && exec \"$@\""
	out = os.path.join(tmp, "out")
	r = subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", rp.PEVTRACE, "-o", out,
			    "--summary", rp.target("bpfevent"), "uprobe", "pin", "1"], text=True,
			   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
	if r.returncode:
		return tap.skip("pinned", (r.stderr.strip() or "no BPF file system").split("\n")[-1])
	lines = open(out).read()
	first = lines.split("\n  #1")[-1].split("\n  #2")[0]
	tap.ok("; open to the end" in first and "until its link" not in first and
	       'pathname="/sys/fs/bpf/pevtrace-bpfevent"' in lines, "pinned", [lines])

def own_tests(tap, tmp):
	if rp.missing("bpfevent"):
		sp.skip_all(rp.missing("bpfevent"))
	return [("attached", lambda: test_attached(tap)),
		("strace", lambda: test_strace(tap)),
		("explained", lambda: test_explained(tap, tmp)),
		("dump", lambda: test_dump(tap, tmp)),
		("tools", lambda: test_tools(tap)),
		("pinned", lambda: test_pinned(tap, tmp))]

if __name__ == "__main__":
	sys.exit(rp.main("pevtrace-bpf.", "perf's programs", own_tests, lambda *a: []))
