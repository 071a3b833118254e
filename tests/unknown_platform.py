#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace built otherwise.

A kernel newer than the tables: built from tables without their newest rows, where this kernel
has what they lack.  Traces and dumps show it as numbers and bytes, and nothing is dropped;
conform --self lists what is missing, and nothing else.  The code knows some of what is hidden by
name: those names get values that no kernel has.

An unknown processor: files in folders named arch are compiled as for another one.  Every system
call stops; what is traced is the same.
"""

import glob
import json
import os
import re
import shlex
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

MAKE = ["make", "-j%d" % os.cpu_count()]
BTF = "/sys/kernel/btf/vmlinux"

# Rows of the tables: {name: value for the code, or None if it does not know the name}
CONSTANTS = {
	"PERF_ATTR_SIZE_VER8": None, "PERF_ATTR_SIZE_VER9": None,
	"PERF_COUNT_SW_CGROUP_SWITCHES": None,
	"PERF_SAMPLE_WEIGHT_TYPE": "PERF_SAMPLE_WEIGHT",
	"PERF_SAMPLE_WEIGHT_STRUCT": "(1ULL << 62)",
	"PERF_FORMAT_LOST": "(1ULL << 62)",
	"PERF_RECORD_SWITCH_CPU_WIDE": "63",
	"PERF_EVENT_IOC_MODIFY_ATTRIBUTES": "0x7fff0002",
}
MEMBERS = ["config3", "config4", "aux_start_paused", "aux_pause", "aux_resume"]
MEMBERS_OF_KERNEL = ["aux_action", *MEMBERS]	# with the integer of the bits

# Calls and records of what is hidden: bytes with a value of their own
PROGRAM = r"""
import ctypes, mmap, os, struct, time
libc = ctypes.CDLL(None)

def event(config, pid=0, cpu=-1, period=0, sample=0, read=0, flags=0, aux=0, config3=0):
	attr = struct.pack("<IIQQQQQIIQQ40xIIQQ", 1, 136, config, period, sample, read, flags, 0, 0,
			   0, 0, 0, aux, 0, config3)
	return libc.syscall(%d, attr, pid, cpu, -1, 8), attr

def ring(fd):
	return mmap.mmap(fd, 9 * 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
fd, attr = event(11, read=0x14, config3=0x1122334455667788)
os.read(fd, 64)
libc.ioctl(fd, ctypes.c_ulong(0x4008240b), ctypes.c_void_p(0x10))
event(9, aux=1)
samples = ring(event(2, period=1, sample=0x1000001, flags=1 << 5)[0])
mmap.mmap(-1, 8 * 4096).write(bytes(8 * 4096))
switches = ring(event(9, pid=-1, cpu=min(os.sched_getaffinity(0)), flags=1 << 26)[0])
time.sleep(0.01)
"""
# What the trace must have, as patterns
SHOWN = [
	r"size=136 /\* larger than any known version \*/, config=0xb /\* PERF_COUNT_SW_\?\?\? \*/.*"
	r"read_format=PERF_FORMAT_ID\|0x10,.*unknown=\[\{offset=128, bytes=0x8877665544332211\}\]",
	r"\bread\(\d+, \{value=0, id=\d+.*, rest=\"(\\0){8}\"\}, 64\) += 24",
	r"ioctl\(\d+, 0x4008240b /\* _IOC\(_IOC_WRITE, '\$', 11, 8\) \*/, 0x10\) += -1",
	r"__reserved_3=0x1,",
	r"sample_type=PERF_SAMPLE_IP\|0x1000000,",
	r"\{type=PERF_RECORD_SAMPLE, misc=\S*, size=24, ip=0x\w+, rest=\"\S+\" "
	r"/\* 8 bytes that no field accounts for \*/\}",
	r"\{type=0xf /\* PERF_RECORD_\?\?\? \*/, misc=0x2000, size=16, rest=\"",
]
# For the files that know processors: as on another one, whose programs have another number
UNKNOWN = """
#include <elf.h>
#include <linux/audit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#undef __x86_64__
#undef __aarch64__
#undef __riscv
#undef AUDIT_ARCH_X86_64
#undef AUDIT_ARCH_AARCH64
#undef AUDIT_ARCH_RISCV64
#define AUDIT_ARCH_X86_64 0x7fff0001
#define AUDIT_ARCH_AARCH64 0x7fff0002
#define AUDIT_ARCH_RISCV64 0x7fff0003
"""
NUMBERS = {"x86_64": 298, "aarch64": 241, "riscv64": 241}


def hide(folder):
	"""Remove the rows from a copy of the tables, and the names from lists of the rest."""
	names = set(CONSTANTS) | set(MEMBERS)
	for name in os.listdir(folder):
		if not name.endswith(".in"):
			continue
		with open(os.path.join(folder, name), encoding="utf-8") as f:
			lines = f.read().splitlines()
		kept = []
		for line in lines:
			columns = line.split("\t")
			if names.intersection(columns[:2]) and len(columns) > 2:
				continue
			if columns[0] == "__reserved_3":	# as before the bits had names
				columns[1] = "116/4:0-31"
			if name == "rules.in" and len(columns) == 6:
				fields = [w for w in columns[4].split(",") if w not in MEMBERS]
				columns[4] = ",".join(fields) or "-"
			# the code has functions for the checks of a hidden ioctl: they stay, as of another one
			if name == "refusals.in" and names.intersection(columns[2:3]):
				columns[2] = "PERF_EVENT_IOC_QUERY_BPF"
			kept.append("\t".join(columns))
		with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
			f.write("\n".join(kept) + "\n")


def run(there, *command):
	"""Run a command of the build."""
	env = dict(os.environ, MAKEFLAGS="", srcdir="", builddir="")
	subprocess.run(command, cwd=there, env=env, check=True, text=True, stdout=subprocess.PIPE,
		       stderr=subprocess.STDOUT)


def name_for_code(folder):
	"""Define the names that the code needs: values of no kernel, and a member that is zero."""
	with open(os.path.join(folder, "constants.h"), "a") as f:
		f.writelines("#define %s %s\n" % d for d in CONSTANTS.items() if d[1])
	with open(os.path.join(folder, "layouts.h"), "a") as f:
		f.writelines("#define ATTR_%s ATTR_RESERVED_2\n" % m.upper() for m in MEMBERS)


def build(tmp):
	"""Build pevtrace from such tables; return its path, or None and why not."""
	source, there = os.path.join(tmp, "source"), os.path.join(tmp, "build")
	os.mkdir(source)
	os.mkdir(there)
	for name in os.listdir(SRCDIR):
		if name not in ("src", "xlat") and os.path.join(SRCDIR, name) != BUILDDIR:
			os.symlink(os.path.join(SRCDIR, name), os.path.join(source, name))
	for name in "src", "xlat":
		shutil.copytree(os.path.join(SRCDIR, name), os.path.join(source, name))
	for name in "xlat", "src/conform", "src/explain":
		hide(os.path.join(source, name))
	config = subprocess.run([BUILDDIR + "/config.status", "--config"], check=True, text=True,
				stdout=subprocess.PIPE).stdout
	try:
		# functions of the rules that are hidden have no prototype
		run(there, source + "/configure", "-q", *shlex.split(config), "--disable-werror",
		    "CFLAGS=-O0")
		run(there, *MAKE, "xlat/stamp")
		name_for_code(os.path.join(there, "xlat"))
		run(there, *MAKE, "pevtrace")
	except subprocess.CalledProcessError as error:
		return None, error.stdout[-3000:]
	return os.path.join(there, "pevtrace"), ""


def build_for_unknown(pevtrace, tmp):
	"""Compile the files that know processors again; return what a compiler said against it."""
	header, there = os.path.join(tmp, "unknown.h"), os.path.dirname(pevtrace)
	with open(header, "w") as f:
		f.write(UNKNOWN)
	objects = [os.path.relpath(o, there) for o in glob.glob(there + "/src/**/arch/*.o", recursive=True)]
	for o in objects:
		os.remove(os.path.join(there, o))
	try:
		run(there, *MAKE, *objects, "CPPFLAGS=-include " + header)
		run(there, *MAKE, "pevtrace")
	except subprocess.CalledProcessError as error:
		return error.stdout[-3000:]
	return "" if objects else "no files in folders named arch"


def test_shown(old, tmp):
	"""Return what is missing in a trace by a pevtrace that knows less, and in its dump."""
	paths = [os.path.join(tmp, n) for n in ("text", "dump", "again", "new")]
	subprocess.run([old, "-v", "--records", "-o", paths[0], "--json=" + paths[1], sys.executable,
			"-c", PROGRAM % NUMBERS[os.uname().machine]], check=True, timeout=300)
	subprocess.run([old, "decode", "-v", "--records", "-o", paths[2], paths[1]], check=True)
	subprocess.run([os.environ["PEVTRACE"], "decode", "-v", "--records", "-o", paths[3], paths[1]],
		       check=True)
	text, again, new = (open(paths[i], encoding="utf-8").read() for i in (0, 2, 3))
	why = ["no " + p for p in SHOWN if not re.search(p, text, re.M)]
	if text != again:
		why.append("decode prints other text")
	if len(text.splitlines()) != len(new.splitlines()) or "???" in new:
		why.append("with all rows the dump has other lines")
	return why


def test_self(old):
	"""Return how what conform --self lists differs from what the kernel's types have."""
	with open(BTF, "rb") as f:
		names = set(f.read().split(b"\0"))
	want = {n for n in CONSTANTS if n.encode() in names} | {
		"perf_event_attr." + m for m in MEMBERS_OF_KERNEL if m.encode() in names}
	done = subprocess.run([old, "conform", "--self", "--no-headers", "--json"], check=False,
			      stdout=subprocess.PIPE, text=True)
	got = {o["id"].split(":")[1] for o in map(json.loads, done.stdout.splitlines())
	       if o.get("kind") == "finding" and o["severity"] != "note"}
	return [] if got == want and want else ["%s is not %s" % (sorted(got), sorted(want))]


def calls_of(pevtrace, path):
	"""Return the calls of a program that makes all kinds of opens, and their results."""
	attrs = os.path.join(os.environ.get("PEVTRACE_TARGETS", "tests/targets"), "attrs")
	cases = subprocess.run([attrs, "list"], check=True, stdout=subprocess.PIPE, text=True)
	subprocess.run([pevtrace, "-o", path, attrs, *cases.stdout.split()], check=True,
		       stdout=subprocess.DEVNULL, timeout=300)
	with open(path, encoding="utf-8") as f:
		return re.findall(r"^\d+ +(\w+)\(.* = (-?\d+(?: E\w+)?)", f.read(), re.M)


def test_unknown(pevtrace, tmp):
	"""Return how a trace on a processor without a file differs from the usual one."""
	path = os.path.join(tmp, "calls")
	want, got = calls_of(os.environ["PEVTRACE"], path), calls_of(pevtrace, path)
	why = [] if got == want and len(want) > 100 else ["%d calls, not %d" % (len(got), len(want))]
	done = subprocess.run([pevtrace, "-e", "inject=read:error=EIO", "true"], check=False,
			      stderr=subprocess.PIPE, text=True)
	if done.returncode != 2 or "not supported on this architecture" not in done.stderr:
		why.append("-e inject=: %d %s" % (done.returncode, done.stderr))
	return why


def main():
	if not sp.LONG:
		sp.skip_all("only in make check-long")
	if os.getuid() or os.uname().machine not in NUMBERS:
		sp.skip_all("requires root, and a machine whose system call numbers are known")
	if not os.path.exists(BUILDDIR + "/config.status"):
		sp.skip_all("configure was not run here")
	tap = sp.Tap()
	with tempfile.TemporaryDirectory() as tmp:
		old, why = build(tmp)
		if tap.ok(old, "pevtrace builds from tables without their newest rows", [why]):
			why = test_shown(old, tmp)
			tap.ok(not why, "what the tables lack is shown as numbers and bytes", why)
			if os.path.exists(BTF):
				why = test_self(old)
				tap.ok(not why, "conform --self lists what the tables lack", why)
			else:
				tap.skip("conform --self lists what the tables lack", "no " + BTF)
			why = build_for_unknown(old, tmp)
			if tap.ok(not why, "pevtrace builds for an unknown processor", [why]):
				why = test_unknown(old, tmp)
				tap.ok(not why, "calls are traced on an unknown processor", why)
	return tap.done()


if __name__ == "__main__":
	sys.exit(main())
