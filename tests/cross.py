#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Unit tests built for other processors, in user-mode emulation (qemu-user), which has neither
ptrace nor perf_event_open: tests that need them skip.

Those of the rooms that need only the C library are linked with that of the cross compiler, and
tests/cross/cmocka.h: for s390x (big-endian) and i386, and with LONG=1 for all processors.

All unit tests, with LONG=1, for each processor of which the directory CROSS_ROOTS has a root with
the libraries, as mmdebstrap makes it (README.md).
"""

import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "lib"))
import straceparse as sp

SRCDIR = os.path.abspath(os.environ.get("srcdir") or os.path.join(HERE, ".."))
BUILDDIR = os.path.abspath(os.environ.get("builddir") or ".")
# (name of the root, triplet of the compiler, processor of qemu-user or None: runs here)
PROCESSORS = [
	("s390x", "s390x-linux-gnu", "s390x"),
	("i386", "i686-linux-gnu", None if os.uname().machine == "x86_64" else "i386"),
	("ppc64el", "powerpc64le-linux-gnu", "ppc64le"),
	("armhf", "arm-linux-gnueabihf", "arm"),
]
# What they include: "explain" may use all of the others.
LIBC_ROOMS = ("core", "explain", "formats/text")
# Minutes in emulation
SLOW = {"test_event_syntax", "test_attr_text"}
HAS = ["MALLINFO2", "ON_EXIT", "SEM_CLOCKWAIT", "SIGABBREV_NP", "STRERRORNAME_NP"]


def run(command, **more):
	return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
			      errors="replace", stdin=subprocess.DEVNULL, check=False, **more)


def emulator(machine):
	"""The command that runs programs of the processor, [] if none is needed, None if missing."""
	if not machine:
		return []
	found = shutil.which("qemu-%s-static" % machine) or shutil.which("qemu-" + machine)
	return [found] if found else None


def missing(triplet, machine):
	"""Why programs for the processor cannot be built or run here, or None."""
	cc = triplet + "-gcc"
	if not shutil.which(cc):
		return "no " + cc
	if emulator(machine) is None:
		return "no qemu-" + machine
	with tempfile.TemporaryDirectory() as tmp:
		with open(tmp + "/try.c", "w") as f:
			f.write("#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n")
		if run([cc, "-static", "-o", tmp + "/try", tmp + "/try.c"]).returncode:
			return cc + " has no C library"
		try:
			failed = run([*emulator(machine), tmp + "/try"]).returncode
		except OSError as e:
			failed = e.errno
		if failed:
			return "programs for %s do not run" % triplet
	return None


def run_tests(tap, name, programs, command):
	"""Run each program; what it skips, it says itself."""
	env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", srcdir=SRCDIR, builddir=BUILDDIR)
	for program in sorted(programs):
		try:
			done = run([*command, program], env=env, timeout=600)
			status, said = done.returncode, done.stdout
		except subprocess.TimeoutExpired:
			status, said = "still running after 600 s", ""
		skipped = re.match(r"1\.\.0 # SKIP (.*)", said)
		title = "%s: %s" % (name, os.path.basename(program))
		if skipped:
			tap.skip(title, skipped[1])
		else:
			tap.ok(status == 0, title, ["status %s" % status] + [
				line for line in said.splitlines() if not line.startswith("ok")][-40:])


def libc_config(cc, tmp):
	"""Write what configure and make find out of a C library, as glibc has it."""
	os.makedirs(tmp + "/xlat")
	with open(tmp + "/config.h", "w") as f:
		f.write('#define PACKAGE_STRING "pevtrace"\n#define PACKAGE_VERSION "0"\n'
			"#define _FILE_OFFSET_BITS 64\n")
		f.writelines("#define HAVE_%s 1\n" % h for h in HAS)
	macros = subprocess.run([cc, "-D_GNU_SOURCE=", "-E", "-dM", "-"], check=True,
				input=b"#include <errno.h>\n#include <signal.h>\n",
				stdout=subprocess.PIPE).stdout
	with open(tmp + "/xlat/libc_names.inc", "wb") as f:
		f.write(subprocess.run(["awk", "-f", SRCDIR + "/src/core/lib/libc_names.awk"],
				       input=macros, check=True, stdout=subprocess.PIPE).stdout)


def needs_only_libc(cc, flags, source):
	"""Whether a file's dependencies are there, and of those rooms."""
	done = run([cc, *flags, "-M", source])
	text = done.stdout.replace(BUILDDIR, "").replace(SRCDIR, "")
	return not done.returncode and "trace_run.h" not in text and all(
		path.startswith(LIBC_ROOMS) for path in re.findall(r"/src/(\S+/)", text))


def build_decoders(cc, tmp):
	"""Build those unit tests; return the programs, and what the compiler said."""
	flags = ["-std=gnu11", "-D_GNU_SOURCE=", "-O1", "-Wall", "-Wextra", "-ffunction-sections",
		 "-fdata-sections", "-include", tmp + "/config.h", "-I" + tmp,
		 "-I" + SRCDIR + "/src", "-I" + BUILDDIR, "-I" + SRCDIR + "/tests/unit",
		 "-I" + SRCDIR + "/tests/cross"]
	tests = [t for t in glob.glob(SRCDIR + "/tests/unit/test_*.c") if needs_only_libc(cc, flags, t)]
	sources = tests + [BUILDDIR + "/xlat/tables.c"]
	for room in LIBC_ROOMS:
		sources += glob.glob("%s/src/%s/**/*.c" % (SRCDIR, room), recursive=True)
	sources = [s for s in sources if not s.endswith(".bpf.c")]

	def compile_one(source):
		out = "%s/%s.o" % (tmp, os.path.relpath(source, SRCDIR).replace("/", "@")[:-2])
		return source, out, run([cc, *flags, "-c", "-o", out, source]).stdout
	with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
		compiled = list(pool.map(compile_one, sources))
	said = "".join(c[2] for c in compiled)
	objects = [c[1] for c in compiled if c[0] not in tests]
	run(["ar", "rcs", tmp + "/lib.a", *objects])
	programs = []
	for source, out, _ in compiled:
		if source in tests:
			programs.append(tmp + "/" + os.path.basename(source)[:-2])
			said += run([cc, "-static", "-Wl,--gc-sections", "-o", programs[-1], out,
				     tmp + "/lib.a"]).stdout
	return programs, said


def decoders(tap, name, triplet, machine):
	cc = triplet + "-gcc"
	with tempfile.TemporaryDirectory() as tmp:
		libc_config(cc, tmp)
		programs, said = build_decoders(cc, tmp)
		tap.ok(programs and not said, name + ": the decoders build without warnings", [said])
		run_tests(tap, name, [p for p in programs if sp.LONG or not machine or
				      os.path.basename(p) not in SLOW], emulator(machine))


def whole(tap, name, triplet, machine, root):
	"""All unit tests, with the libraries of the root."""
	env = dict(os.environ, PKG_CONFIG_SYSROOT_DIR=root,
		   PKG_CONFIG_LIBDIR=":".join(glob.glob(root + "/usr/lib/*/pkgconfig")),
		   srcdir="", builddir="", MAKEFLAGS="")
	names = [os.path.basename(t)[:-2] for t in glob.glob(SRCDIR + "/tests/unit/test_*.c")]
	with tempfile.TemporaryDirectory() as tmp:
		# the libraries only: an emulator would look for each file in there first
		os.mkdir(tmp + "/usr")
		for lib in ("/lib", "/usr/lib"):
			os.symlink(root + lib, tmp + lib)
		build = tmp + "/build"
		os.mkdir(build)
		done = run([SRCDIR + "/configure", "-q", "--host=" + triplet, "--enable-werror",
			    "CC=%s-gcc --sysroot=%s" % (triplet, root)], cwd=build, env=env)
		if not tap.ok(not done.returncode, name + ": configure", [done.stdout[-2000:]]):
			return
		make = ["make", "-s", "-j%d" % os.cpu_count()]
		done = run([*make, "all"], cwd=build, env=env)
		if not done.returncode:
			done = run([*make, *("tests/unit/" + n for n in names)], cwd=build, env=env)
		if tap.ok(not done.returncode, name + ": builds without warnings",
			  [done.stdout[-2000:]]):
			run_tests(tap, name + " with its libraries",
				  [build + "/tests/unit/" + n for n in names],
				  [*emulator(machine or "i386"), "-L", tmp])


def main():
	tap = sp.Tap()
	roots = os.environ.get("CROSS_ROOTS")
	for name, triplet, machine in PROCESSORS:
		why = missing(triplet, machine)
		if why:
			tap.skip(name, why)
			continue
		if sp.LONG or name in ("s390x", "i386"):
			decoders(tap, name, triplet, machine)
		root = os.path.join(os.path.abspath(roots), name) if roots else None
		if root and os.path.isdir(root):
			whole(tap, name, triplet, machine, root)
		elif sp.LONG:
			tap.skip(name + " with its libraries", "CROSS_ROOTS has no root of it")
	return tap.done()


if __name__ == "__main__":
	sys.exit(main())
