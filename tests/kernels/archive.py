# SPDX-License-Identifier: LGPL-2.1-or-later
"""Archives of files as the kernel unpacks them at boot ("newc" of cpio)."""

import os
import re

# The archive of a root of packages, in that root.
KEPT_AS = "archive"

# Files of a root of packages that no test in the guest needs.
LEFT_OUT = re.compile(
	KEPT_AS + r"(\..*)?|boot|dev|proc|sys|run|tmp|(usr/)?lib/(modules|firmware|udev)|"
	r"usr/(include|games|share|src)|"
	r"var/(lib|cache|log)|usr/lib/(apt|dpkg|gcc\S*|systemd|debug|llvm\S*)|"
	r"usr/lib/[^/]*/(perl\S*|gconv|security)|usr/lib/python3[^/]*/(test|lib2to3|idlelib|ensurepip)|"
	r".*\.(a|pyc)")
# What LEFT_OUT covers, and conform reads.
KEPT = ("usr/share/man/man2/perf_event_open.2.gz",)

class Archive:
	def __init__(self):
		self.parts, self.names = [], set()

	def add(self, name, mode, data=b""):
		"""Add a file, and its directories, unless one of that name is there."""
		if name in self.names:
			return
		self.names.add(name)
		parent = os.path.dirname(name)
		if parent:
			self.add(parent, 0o40755)
		head = b"070701" + b"".join(b"%08X" % v for v in (
			len(self.names), mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0,
			len(name.encode()) + 1, 0))
		for part in (head + name.encode() + b"\0", data):
			self.parts += [part, b"\0" * (-len(part) % 4)]

	def file(self, path, name):
		"""Add the file or the symbolic link at path."""
		if os.path.islink(path):
			self.add(name, 0o120777, os.readlink(path).encode())
		else:
			with open(path, "rb") as f:
				self.add(name, 0o100000 | os.stat(path).st_mode & 0o7777, f.read())

	def tree(self, top, at="", leave=lambda name: False):
		"""Add the files below top, in the directory at, but those that leave() is true of."""
		for here, dirs, files in os.walk(top):
			inside = os.path.relpath(here, top)
			place = lambda n: os.path.normpath(os.path.join(inside, n))
			links = [d for d in dirs if os.path.islink(os.path.join(here, d))]
			dirs[:] = sorted(d for d in dirs if d not in links and not leave(place(d)))
			for name in dirs:
				self.add(os.path.join(at, place(name)), 0o40755)
			for name in sorted(files + links):
				path = os.path.join(here, name)
				if not leave(place(name)) and (os.path.islink(path) or os.path.isfile(path)):
					self.file(path, os.path.join(at, place(name)))

	def write(self, path):
		self.add("TRAILER!!!", 0)
		with open(path, "wb") as f:
			f.write(b"".join(self.parts))
			f.write(b"\0" * (-f.tell() % 512))

def packages(root):
	"""The archive of a root that mmdebstrap made."""
	a = Archive()
	for name in ("dev", "proc", "sys", "run", "tmp", "var/lib"):
		a.add(name, 0o40755)
	a.tree(root, leave=lambda name: bool(LEFT_OUT.fullmatch(name)))
	for name in KEPT:
		if os.path.exists(os.path.join(root, name)):
			a.file(os.path.join(root, name), name)
	return a
