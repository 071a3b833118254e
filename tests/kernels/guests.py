# SPDX-License-Identifier: LGPL-2.1-or-later
"""The virtual machines, one for each processor: how it is emulated, which packages of
Debian it has, and how pevtrace is built for it."""

import os
import shutil
import subprocess

from packages import SOURCE, die, keep

# base-files: /lib and its like, which are links from Debian 13 on
INCLUDE = ("base-files libc6-dev libseccomp-dev libjson-c-dev libunwind-dev libelf-dev libdw-dev "
	   "libbpf-dev zlib1g-dev liblzma-dev libpfm4-dev libcmocka-dev linux-perf strace dash coreutils "
	   "util-linux python3 manpages-dev").split()

class Guest:
	def __init__(self, name, arch, suite, triplet, qemu, console, flavours, counting=()):
		self.name = name		# of the processor, as uname -m has it
		self.arch = arch		# as Debian calls it
		self.suite = suite		# Debian's release of programs and libraries
		self.triplet = triplet
		self.qemu = qemu
		self.console = console		# of the kernel; and the port of a PCI card:
		self.results = "/dev/ttyS" + ("0" if console.startswith("ttyAMA") else "1")
		self.flavours = flavours	# of Debian's kernels, by preference
		self.counting = counting	# what emulates counters, at a third of the speed

	def command(self, kernel, initrd, console, results, words, options=()):
		"""Return the emulator's command; words are added to the kernel's command line."""
		return [*self.qemu, *options, "-smp", os.environ.get("CPUS", "1"), "-m", "1536",
			"-nic", "none", "-display", "none",
			"-monitor", "none", "-no-reboot", "-kernel", kernel, "-initrd", initrd,
			"-append", " ".join(["console=" + self.console, "panic=-1",
					     "results=" + self.results,
					     # RISC-V's default is 0
					     "sysctl.net.core.bpf_jit_enable=1", *words]),
			"-serial", "file:" + console, "-chardev", "file,id=results,path=" + results,
			"-device", "pci-serial,chardev=results"]

	def native(self):
		return os.uname().machine == self.name

	def compiler(self):
		return "gcc" if self.native() else self.triplet + "-gcc"

	def missing(self):
		"""The packages of Debian 12 that this guest lacks on this machine."""
		lacks = []
		if not shutil.which(self.qemu[0]):
			lacks.append("qemu-system-" + {"amd64": "x86", "arm64": "arm"}.get(self.arch, "misc"))
		if not shutil.which(self.compiler()):
			lacks.append("gcc-" + self.triplet)
		return lacks

	def packages(self, path):
		"""Return the command that makes a directory of its packages.  The release alone: a
		mirror may have lists of its updates that do not fit."""
		return ["mmdebstrap", "--quiet", "--variant=extract", "--mode=root",
			"--arch=" + self.arch, "--include=" + ",".join(INCLUDE), self.suite, path,
			SOURCE % (self.arch, self.suite)]

	def root(self, top):
		"""The directory with its packages.  No program of theirs is run."""
		def make(path):
			print("# packages of %s for %s" % (self.suite, self.arch), flush=True)
			if subprocess.run(self.packages(path), check=False).returncode:
				die("mmdebstrap failed for %s" % self.arch)
		path = os.path.join(top, self.arch)
		keep(path, " ".join(self.packages(path)), make)
		return path

	def build(self, top, source, root, targets):
		"""Build pevtrace for the guest against its packages; return the directory."""
		build = os.path.join(top, "build-" + self.arch)
		log = build + ".log"
		ccache = "ccache " if shutil.which("ccache") else ""
		env = dict(os.environ, PKG_CONFIG_SYSROOT_DIR=root,
			   PKG_CONFIG_LIBDIR="%s/usr/lib/%s/pkgconfig:%s/usr/share/pkgconfig" % (
				root, self.triplet, root))
		# those of the make that runs this
		for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CC", "CFLAGS", "LDFLAGS"):
			env.pop(name, None)
		configure = [os.path.join(source, "configure"), "CC=%s%s --sysroot=%s" % (
			     ccache, self.compiler(), root)]
		if not self.native():
			configure.append("--host=" + self.triplet)
		def step(command):
			with open(log, "a") as f:
				if subprocess.run(command, cwd=build, env=env, stdout=f, stderr=f,
						  stdin=subprocess.DEVNULL, check=False).returncode:
					die("building for %s failed; see %s" % (self.arch, log))
		def make(path):
			print("# building for %s" % self.arch, flush=True)
			os.mkdir(path)
			step(configure)
		with open(log, "w"):
			pass
		keep(build, " ".join(configure + self.packages(root)), make)
		step(["make", "-j", str(os.cpu_count()), *targets])
		return build

# With -icount a virtual clock counts instructions: for counters, and costs that do not depend on
# the load here.
GUESTS = {
	"x86-64": Guest("x86_64", "amd64", "bookworm", "x86_64-linux-gnu",
		# la57: kernels of 5.10 with five levels of page tables are slow to start
		["qemu-system-x86_64", "-accel", "tcg", "-cpu", "max,la57=off"],
		"ttyS0", ("cloud-amd64",)),
	"arm64": Guest("aarch64", "arm64", "bookworm", "aarch64-linux-gnu",
		["qemu-system-aarch64", "-M", "virt", "-cpu", "max,pauth-impdef=on"],
		"ttyAMA0", ("cloud-arm64", "arm64"), ("-icount", "shift=1,sleep=off")),
	"riscv64": Guest("riscv64", "riscv64", "trixie", "riscv64-linux-gnu",
		["qemu-system-riscv64", "-M", "virt", "-cpu", "rv64,sscofpmf=on"],
		"ttyS0", ("riscv64",), ("-icount", "shift=0,sleep=off")),	# counts nanoseconds
}
