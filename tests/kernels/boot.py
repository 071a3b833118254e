# SPDX-License-Identifier: LGPL-2.1-or-later
"""Booting a kernel in a virtual machine, and what the tests there said."""

import base64
import json
import os
import subprocess
import time
import zlib

import archive
from packages import keep

PROGRAMS = ("tests/handicap/counters.so", "tests/kernels/asks", "tests/kernels/pmu", "tests/unit/test_rules_live",
	    "tests/targets/attrs", "tests/targets/sandboxed", "tests/targets/counted",
	    "tests/targets/overmapped", "tests/targets/demo", "tests/targets/event_uses",
	    "tests/targets/processes", "tests/targets/mixedring", "tests/targets/passfd",
	    "tests/targets/passorder", "tests/targets/reuse", "tests/targets/tree",
	    "tests/targets/undisturbed")

def files(path, root, build, source):
	"""Write the first files of the machine: packages, pevtrace, tests."""
	packages = os.path.join(root, archive.KEPT_AS)
	keep(packages, archive.LEFT_OUT.pattern, lambda path: archive.packages(root).write(path))
	a = archive.Archive()
	a.file(os.path.join(build, "tests/kernels/init"), "init")
	# not in /bin, which may be a link
	a.file(os.path.join(build, "pevtrace"), "usr/bin/pevtrace")
	for program in PROGRAMS:
		a.file(os.path.join(build, program), os.path.join("build", program))
	a.tree(os.path.join(source, "tests"), "tests",
	       lambda name: name in ("fuzz", "unit", "targets") or name.endswith("__pycache__"))
	a.add("commands", 0o100644, b"exec python3 /tests/kernels/guest.py\n")
	a.write(path)
	with open(packages, "rb") as f:
		first = f.read()
	with open(path, "rb+") as f:
		second = f.read()
		f.seek(0)
		f.write(first + second)

def image(have):
	"""Return the path of the kernel's image in an unpacked package."""
	for top, _, names in os.walk(have):
		for name in names:
			# of riscv64 it is vmlinux-RELEASE
			if name.startswith(("vmlinuz", "vmlinux-")):
				return os.path.join(top, name)
	return None

class Part:
	def __init__(self, status, seconds, output):
		self.status, self.seconds = status, seconds
		self.text = output
		self.lines = output.splitlines()

class Boot:
	"""What the parts of guest.py said: .parts; .why, if it did not end well; .seconds."""
	def __init__(self, guest, kernel, initrd, base, limit):
		self.guest, self.kernel, self.initrd, self.limit = guest, kernel, initrd, limit
		self.base, self.parts, self.why, self.seconds = base, {}, None, 0

	def run(self, parts, words, options=()):
		"""Boot, and run these parts, which are added to .parts."""
		base = "%s-%s" % (self.base, parts[0]) if self.parts else self.base
		console, results = base + ".console", base + ".results"
		for path in (console, results):
			with open(path, "w"):
				pass
		start = time.monotonic()
		why = None
		command = self.guest.command(self.kernel, self.initrd, console, results,
					     ["parts=" + ",".join(parts), *words], options)
		try:
			r = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
					   stdout=subprocess.DEVNULL, text=True, timeout=self.limit,
					   check=False)
			if r.returncode:
				why = "the emulator ended with status %d: %s" % (
					r.returncode, r.stderr.strip())
		except subprocess.TimeoutExpired:
			why = "still running after %d s" % self.limit
		self.seconds += time.monotonic() - start
		with open(results, errors="replace") as f:
			for line in f:
				self.add(line)
		lacks = [p for p in parts if p not in self.parts]
		if why or lacks:
			self.why = "%s: no results of %s; see %s" % (why or "ended", " ".join(lacks), console)

	def add(self, line):
		try:
			o = json.loads(line)
			text = zlib.decompress(base64.b64decode(o["output"])).decode("utf-8", "replace")
		except (ValueError, KeyError, zlib.error):
			if line.strip() and not self.why:
				self.why = "not a result: " + line[:200].strip()
			return
		self.parts[o["name"]] = Part(o["status"], o["seconds"], text)
