# SPDX-License-Identifier: LGPL-2.1-or-later
"""Debian's kernels and headers, from apt's own lists or those of its archive."""

import os
import re
import shutil
import subprocess
import sys
import time

# Releases of Debian in which kernels are looked for.
SUITES = ("bullseye", "bookworm", "trixie", "trixie-backports", "sid")
SOURCE = "deb [arch=%s signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] " \
	 "http://deb.debian.org/debian %s main\n"

# Names of packages that hold an image, by preference.
IMAGES = ("linux-binary-%s", "linux-binary-unsigned-%s", "linux-image-%s-unsigned", "linux-image-%s")

def die(text):
	print("check-kernels: " + text, file=sys.stderr)
	sys.exit(2)

def keep(path, made_of, make):
	"""Call make(path), unless path is there and was made of the same: a file beside it tells."""
	stamp = path + ".made-of"
	if os.path.exists(path) and os.path.exists(stamp):
		with open(stamp) as f:
			if f.read() == made_of:
				return
		print("# %s is of another source directory, compiler or package list: made again" %
		      os.path.basename(path), flush=True)
	for old in (stamp, path):
		if os.path.isdir(old):
			shutil.rmtree(old)
		elif os.path.exists(old):
			os.unlink(old)
	make(path)
	with open(stamp, "w") as f:
		f.write(made_of)

def numbers(text):
	return [int(d) for d in re.findall(r"\d+", text)]

class Packages:
	"""The packages of SUITES for one architecture, apart from those that apt knows here."""
	def __init__(self, top, arch):
		self.top, self.arch = top, arch
		root = os.path.join(top, "apt-" + arch)
		for name in ("state/lists/partial", "cache/archives/partial"):
			os.makedirs(os.path.join(root, name), exist_ok=True)
		with open(os.path.join(root, "sources.list"), "w") as f:
			f.write("".join(SOURCE % (arch, s) for s in SUITES))
		settings = ("Dir::Etc::SourceList=%s/sources.list", "Dir::Etc::SourceParts=/dev/null",
			    "Dir::State=%s/state", "Dir::State::Lists=%s/state/lists",
			    "Dir::Cache=%s/cache", "Dir::State::Status=/dev/null",
			    "APT::Sandbox::User=root", "Acquire::Languages=none",
			    "APT::Architecture=" + arch, "APT::Architectures=" + arch)
		self.options = [o for s in settings for o in ("-o", s.replace("%s", root))]
		self.update(os.path.join(root, "updated"))

	def update(self, stamp):
		"""Fetch the lists, unless that was done within a day."""
		if os.path.exists(stamp) and time.time() - os.path.getmtime(stamp) < 86400:
			return
		print("# lists of packages for " + self.arch, flush=True)
		if subprocess.run(["apt-get", "-q", *self.options, "update"], check=False,
				  stdout=subprocess.DEVNULL).returncode:
			print("# apt-get update failed: using the lists of last time", flush=True)
		else:
			with open(stamp, "w"):
				pass

	def cache(self, *words):
		return subprocess.run(["apt-cache", *self.options, *words], stdout=subprocess.PIPE,
				      text=True, check=False).stdout

	def fetch(self, name, to):
		"""Unpack the package into a new directory, unless that exists."""
		if os.path.isdir(to):
			return
		part = to + ".part"
		shutil.rmtree(part, ignore_errors=True)
		os.makedirs(part)
		print("# fetching " + name, flush=True)
		if subprocess.run(["apt-get", "-q", *self.options, "download", name], cwd=part,
				  check=False, stdout=subprocess.DEVNULL).returncode:
			die("apt-get download %s failed" % name)
		for deb in os.listdir(part):
			subprocess.run(["dpkg-deb", "-x", deb, "."], cwd=part, check=True)
			os.unlink(os.path.join(part, deb))
		os.rename(part, to)

	def newest_image(self, release, flavours):
		"""Return the name of the newest image of that release ("": of any), and its release."""
		best = None
		for name in self.cache("pkgnames", "linux-").split():
			for rank, image in enumerate(IMAGES):
				for flavour in flavours:
					m = re.fullmatch(image % (r"(\d[\d.]*\d)(\S*)-" + flavour), name)
					if m and "rt" not in m.group(2) and \
					   (m.group(1) + ".").startswith(release and release + "."):
						key = (numbers(name), -rank, -flavours.index(flavour))
						best = max(best or (key, name, ""), (key, name, m.group(1)))
		return best[1:] if best else (None, None)

	def newest_header(self):
		"""Return the directory of the newest headers of the archive, and their version."""
		versions = [l.split("|")[1].strip() for l in self.cache("madison", "linux-libc-dev")
			    .splitlines() if l.count("|") == 2]
		if not versions:
			die("linux-libc-dev is not in the archive")
		newest = max(versions, key=numbers)
		have = os.path.join(self.top, "header-" + newest)
		self.fetch("linux-libc-dev=" + newest, have)
		return os.path.join(have, "usr/include/linux/perf_event.h"), newest
