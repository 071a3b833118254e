# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace explain: what it says of a dump, and what the dump has."""

import json
import os
import re

from programs import run
import ringparse as rp

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PEVTRACE, PERF = rp.PEVTRACE, rp.PERF
XLAT = os.path.join(HERE, "..", "xlat")

def explain(args, **how):
	return run(PEVTRACE, "explain", *args, **how)

class Story:
	"""The explanation of a dump: .text, with one line for each paragraph or
	item, by its heading in .chapters; what comes before the first is "Page"."""
	def __init__(self, dump, options=("--deep",)):
		self.result = explain(["--width=100000"] + list(options) + [dump])
		self.text = self.result.stdout
		self.chapters = {"Page": []}
		lines = self.text.split("\n")
		name = "Page"
		for i, line in enumerate(lines):
			if i + 1 < len(lines) and line and lines[i + 1] == "-" * len(line):
				name = line
				self.chapters[name] = []
			elif name and line and not re.fullmatch("-+", line):
				self.chapters[name].append(line)

	def table(self):
		"""Return the rows of the table of events, as {heading: cell}."""
		page, rows = self.chapters["Page"], []
		at = [i for i, line in enumerate(page) if line.startswith("EVENT ")]
		columns = [(m.start(), m[0]) for m in re.finditer(r"\S+", page[at[0]])] if at else []
		for line in page[at[0] + 1:] if at else []:
			if re.match(r" *\d+\.\d{3} ms |Samples|Counts|The time of ", line):
				break
			rows.append({name: line[start:columns[i + 1][0] if i + 1 < len(columns) else None].strip()
				     for i, (start, name) in enumerate(columns)})
		return rows

	def has(self, chapter, pattern):
		return re.search(pattern, "\n".join(self.chapters.get(chapter, [])), re.M)

class Dump:
	"""Return the calls of a dump, read without pevtrace."""
	def __init__(self, path):
		with open(path) as f:
			self.lines = [json.loads(line) for line in f]
		self.calls, begun = [], {}
		for x in self.lines:
			if x["kind"] == "enter":
				begun[x["tid"]] = x
			elif x["kind"] == "exit":
				args = dict(begun[x["tid"]].get("args", {}), **x.get("args", {}))
				self.calls.append(dict(begun[x["tid"]], **dict(x, args=args)))
			elif x["kind"] == "call":
				self.calls.append(x)

	def named(self, *names):
		return [c for c in self.calls if c["call"] in names]

	def opens(self):
		return [c for c in self.named("perf_event_open") if c["ret"] != -1]

	def failures(self):
		return [c for c in self.named("perf_event_open") if c["ret"] == -1]

	def used(self):
		"""Events by number that anything but a close was done with, or that wait
		for an exec or are in a group."""
		out = {c["event"] for c in self.calls if "event" in c and
		       c["call"] in ("mmap", "read", "ioctl") and
		       c.get("args", {}).get("request_name") != "PERF_EVENT_IOC_ID"}
		for c in self.opens():
			if c["args"]["attr_uptr"]["enable_on_exec"]:
				out.add(c["event"])
		return out

def trace(tmp, name, argv, options=(), **how):
	dump = os.path.join(tmp, name + ".json")
	r = run(PEVTRACE, "--records", "-o", "/dev/null", "--json=" + dump, *list(options), *argv, **how)
	return dump, r

FAILING = """
import ctypes, fcntl, mmap, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
def attr(type=1, config=0, period=0, sample=0, read=0, flags=1 << 5, size=112):
	return (struct.pack("<IIQQQQQ", type, size, config, period, sample, read, flags) +
		bytes(200))
def open_(pid=0, cpu=-1, group=-1, fl=8, **a):
	buf = ctypes.create_string_buffer(attr(**a))
	return libc.syscall(298, buf, pid, cpu, group, fl)
def quiet(f, *a):
	try:
		f(*a)
	except (OSError, ValueError):
		pass
for word in sys.argv[1:]:
	exec(word)
"""

def failing(tmp, name, code, **how):
	return trace(tmp, name, ["/usr/bin/python3", "-c", FAILING, code], **how)

def squash(text):
	return re.sub(r"\s+", " ", text)
