#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""libpevtrace as its users have it: installed, linked, called from C, C++ and Python.

What it prints is compared with pevtrace decode, and what it explains with pevtrace why --once;
its symbols with the map and the header, and its binary interface with the stored
description (libabigail).  Every allocation fails once.
"""

import ctypes
import json
import os
import random
import re
import shutil
import struct
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from programs import run
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
SRCDIR = os.path.dirname(HERE)
BUILDDIR = os.path.realpath(os.environ.get("builddir", "."))
FAULT = os.path.join(BUILDDIR, "tests", "fault.so")
PUBLIC = os.path.join(SRCDIR, "src", "public")
TAP = sp.Tap()
TEXT, JSON, C, ALL = 0, 1, 2, 0x100


def must(*args, **kw):
	"""Run a command that must succeed; return its output."""
	r = run(*args, **kw)
	assert r.returncode == 0, f"{args}: status {r.returncode}: {r.stdout}{r.stderr}"
	return r.stdout


class Installed:
	"""The library below a directory, as make install puts it there."""
	def __init__(self, top):
		must("make", "-C", BUILDDIR, "-s", f"DESTDIR={top}", "install-libLTLIBRARIES",
		     "install-includeHEADERS", "install-nodist_pkgconfigDATA",
		     env={**os.environ, "MAKEFLAGS": "", "MFLAGS": ""})
		pc = must("find", top, "-name", "libpevtrace.pc").strip()
		self.env = {**os.environ, "PKG_CONFIG_SYSROOT_DIR": top,
			    "PKG_CONFIG_PATH": os.path.dirname(pc)}
		self.libdir = os.path.dirname(os.path.dirname(pc))
		self.env["LD_LIBRARY_PATH"] = self.libdir
		self.flags = must("pkg-config", "--cflags", "--libs", "libpevtrace", env=self.env).split()
		self.so = os.path.join(self.libdir, "libpevtrace.so.1")
		self.header = must("find", top, "-name", "pevtrace.h").strip()

	def build(self, source, program, *options):
		"""Compile a program as a user would, without warnings."""
		must(*options, "-Wall", "-Wextra", "-pedantic", "-Werror", source, "-o", program, *self.flags)
		return program


def compilers(*names):
	"""Those of the compilers that are installed."""
	return [n for n in names if shutil.which(n)]


def test_header(lib, tmp):
	"""The header compiles alone, as C11 and C++11."""
	for name, text in (("a.c", "int main(void) { return !pevtrace_version(); }"),
			   ("a.cc", "int main() { pevtrace_open o{}; return !o.size && !pevtrace_version(); }")):
		with open(os.path.join(tmp, name), "w", encoding="ascii") as f:
			f.write("#include <pevtrace.h>\n" + text + "\n")
	tried = 0
	for cc in compilers("gcc", "clang"):
		lib.build(os.path.join(tmp, "a.c"), os.path.join(tmp, "a"), cc, "-std=c11")
		tried += 1
	for cc in compilers("g++", "clang++"):
		lib.build(os.path.join(tmp, "a.cc"), os.path.join(tmp, "a"), cc, "-std=c++11")
		tried += 1
	TAP.ok(tried, f"the header compiles without a warning by {tried} compilers")


def test_symbols(lib):
	"""The exported symbols are those of the map, and of the header."""
	with open(os.path.join(PUBLIC, "libpevtrace.map"), encoding="ascii") as f:
		mapped = sorted(re.findall(r"^\t(pevtrace_\w+);", f.read(), re.M))
	with open(lib.header, encoding="ascii") as f:
		declared = sorted(re.findall(r"^(?!typedef)[a-z][\w \t*]*?[ *](pevtrace_\w+)\(", f.read(), re.M))
	out = must("nm", "-D", "--defined-only", lib.so)
	exported = sorted(re.findall(r" T (\w+)@@PEVTRACE_1$", out, re.M))
	others = [l for l in out.splitlines() if "@@PEVTRACE_1" not in l and not l.endswith(" A PEVTRACE_1")]
	TAP.ok(exported == mapped and not others, "exported symbols are those of the map", (others or exported,))
	TAP.ok(exported == declared, "exported symbols are those of the header",
	       sorted(set(exported) ^ set(declared)))
	out = must("readelf", "-d", lib.so)
	needed = re.findall(r"NEEDED.*\[(.*)\]", out)
	TAP.ok(all(re.match(r"libc\.so|ld-linux", n) for n in needed), "it needs the C library only", needed)
	TAP.ok("[libpevtrace.so.1]" in out, "its soname is libpevtrace.so.1", (out,))
	imported = set(re.findall(r" U (\w+)", must("nm", "-D", "--undefined-only", lib.so)))
	bad = imported & {"ptrace", "exit", "_exit", "abort", "syscall", "write", "printf", "puts", "stdout",
			  "stderr", "fork", "dlopen", "__assert_fail"}
	TAP.ok(not bad, "it cannot trace, print or end the process", bad)
	sizes = dict(re.findall(r"^(\.(?:data|bss))\s+(\d+)", must("size", "-A", lib.so), re.M))
	TAP.ok(all(int(n) <= 16 for n in sizes.values()), "it has no variables", (sizes,))


def test_abi(lib, tmp):
	"""The binary interface is that of the stored description."""
	stored = os.path.join(HERE, "library", "libpevtrace.abi")
	if not shutil.which("abidiff") or os.uname().machine != "x86_64":
		TAP.skip("the binary interface", "abidiff is not installed, or this is not x86-64")
		return
	opaque = os.path.join(tmp, "opaque")
	with open(opaque, "w", encoding="ascii") as f:
		f.write("[suppress_type]\n  name = pevtrace_machine\n")
	r = run("abidiff", "--exported-interfaces-only", "--suppressions", opaque, stored, lib.so)
	TAP.ok(r.returncode == 0, "the binary interface is the stored one (abidiff)", (r.stdout[:4000],))


def load(lib):
	"""The library by ctypes."""
	so = ctypes.CDLL(lib.so)
	for name in ("attr_print", "record_print", "event_name", "explain"):
		getattr(so, f"pevtrace_{name}").restype = ctypes.c_ssize_t
	return so


def printed(function, *args):
	"""What a function writes, asked for its length first."""
	n = function(*args, None, ctypes.c_size_t(0))
	assert n >= 0, n
	buf = ctypes.create_string_buffer(n + 1)
	assert function(*args, buf, ctypes.c_size_t(n + 1)) == n
	return buf.value.decode()


def attrs(random_numbers, count):
	"""Attrs with some members set, of all known sizes."""
	for _ in range(count):
		size = random_numbers.choice((64, 72, 80, 96, 104, 112, 120, 128, 136))
		attr = bytearray(size)
		struct.pack_into("<IIQQQQQ", attr, 0, random_numbers.choice((0, 1, 2, 3, 4, 5)), size,
				 random_numbers.choice((0, 1, 3, 0x10302, 9)), random_numbers.getrandbits(20),
				 random_numbers.getrandbits(26), random_numbers.getrandbits(6),
				 random_numbers.getrandbits(40))
		for at in range(48, size, 4):
			if random_numbers.random() < 0.3:
				struct.pack_into("<I", attr, at, random_numbers.getrandbits(12))
		yield bytes(attr)


def test_decode(lib):
	"""Attrs and records are printed as by pevtrace decode."""
	so, rnd = load(lib), random.Random(1)
	differ = []
	so.pevtrace_machine_new.restype = ctypes.c_void_p
	here = ctypes.c_void_p(so.pevtrace_machine_new())
	assert not so.pevtrace_machine_read(here)
	for n, attr in enumerate(attrs(rnd, 60)):
		text = printed(so.pevtrace_attr_print, here, attr, ctypes.c_size_t(len(attr)), TEXT)
		want = must(PEVTRACE, "decode", "-s", "4096", "--attr", attr.hex()).strip()
		if text != want:
			differ.append(f"{attr.hex()}\n {text}\n {want}")
		text = printed(so.pevtrace_attr_print, here, attr, ctypes.c_size_t(len(attr)), JSON | ALL)
		want = json.loads(must(PEVTRACE, "decode", "-j", "--attr", attr.hex()))
		del want["attr_bytes"]
		if json.loads(text) != want:
			differ.append(f"{attr.hex()}\n {text}\n {want}")
		kind = rnd.choice((1, 2, 3, 5, 9, 9, 9, 10, 16, 18, 21))
		record = struct.pack("<IHH", kind, 2, 8 + 8 * (n % 24)) + rnd.randbytes(8 * (n % 24))
		args = (attr, ctypes.c_size_t(len(attr)), record, ctypes.c_size_t(len(record)))
		text = printed(so.pevtrace_record_print, here, *args, JSON | ALL)
		want = must(PEVTRACE, "decode", "-j", "--attr", attr.hex(), "--record", record.hex())
		if json.loads(text) != json.loads(want):
			differ.append(f"{record.hex()}\n {text}\n {want}")
	so.pevtrace_machine_free(here)
	TAP.ok(not differ, "60 attrs and records are printed as by pevtrace decode", differ[:9])


def test_c(lib, tmp):
	"""An attr printed as C is, compiled, the same bytes."""
	so, wrong = load(lib), []
	several = list(attrs(random.Random(2), 20))
	lines = ["#include <linux/hw_breakpoint.h>", "#include <linux/perf_event.h>", "#include <stdint.h>",
		 "#include <stdio.h>", "#include <string.h>", "#include <time.h>", "int main(void)", "{"]
	for attr in several:
		c = printed(so.pevtrace_attr_print, None, attr, ctypes.c_size_t(len(attr)), C)
		c = re.sub(r"struct perf_event_attr attr = \{", "static struct perf_event_attr attr[4] = { {", c)
		c = c.replace("};\n", "} };\n", 1).replace("(uint64_t *)&attr)", "(uint64_t *)attr)")
		lines += ["{", c, "for (size_t i = 0; i < 136; i++)",
			  'printf("%02x", ((unsigned char *)attr)[i]);', "puts(\"\");", "}"]
	with open(os.path.join(tmp, "c.c"), "w", encoding="ascii") as f:
		f.write("\n".join(lines + ["return 0;", "}"]))
	must("gcc", "-std=gnu11", "-w", "-fno-strict-aliasing", os.path.join(tmp, "c.c"), "-o", os.path.join(tmp, "c"))
	for attr, line in zip(several, must(os.path.join(tmp, "c")).split()):
		if bytes.fromhex(line)[:len(attr)] != attr:
			wrong.append(f"{attr.hex()}\n {line}")
	path = '{type=%s, size=136, uprobe_path="/bin/true", probe_offset=16}'
	try:
		with open("/sys/bus/event_source/devices/uprobe/type", encoding="ascii") as f:
			path %= f.read().strip()
		out = must(PEVTRACE, "decode", "--c-source", "--attr", path)
		if '\nattr.uprobe_path = (uintptr_t)"/bin/true";\n' not in out:
			wrong.append(out)
	except FileNotFoundError:
		pass
	TAP.ok(not wrong, "20 attrs printed as C are the same when compiled", wrong[:9])


def test_examples(lib, tmp):
	"""The examples, compiled and run."""
	for cc in compilers("gcc", "clang"):
		for name in ("explain", "ring"):
			lib.build(os.path.join(SRCDIR, "examples", name + ".c"), os.path.join(tmp, name), cc, "-std=gnu11")
	r = run(os.path.join(tmp, "explain"), env=lib.env)
	rule = json.loads(run(PEVTRACE, "why", "--once", "-j", "{type=PERF_TYPE_SOFTWARE, size=128, sample_freq=100000000, "
			      "freq=1}").stdout).get("predicted", {}).get("rule")
	TAP.ok(r.returncode == 1 and rule and f"(rule {rule})" in r.stderr and
	       "{sample_freq=100000000}" in r.stderr, "explain.c names the check that pevtrace why names",
	       (r.stderr, rule))
	r = run(os.path.join(tmp, "ring"), "true", env=lib.env)
	types = re.findall(r"^\{type=(PERF_RECORD_\w+)", r.stdout, re.M)
	TAP.ok(r.returncode == 0 and types[0] == "PERF_RECORD_COMM" and types[-1] == "PERF_RECORD_EXIT" and
	       "PERF_RECORD_MMAP2" in types and 'comm="true"' in r.stdout,
	       "ring.c prints the records of a command", (r.stdout, r.stderr))
	r = run(os.path.join(tmp, "ring"), "-j", "true", env=lib.env)
	TAP.ok(r.returncode == 0 and [json.loads(l)["value"]["type_name"] for l in r.stdout.splitlines()][0] ==
	       "PERF_RECORD_COMM", "ring.c prints them as JSON", (r.stdout, r.stderr))
	attr = bytearray(136)
	struct.pack_into("<IIQQQQQ", attr, 0, 1, 136, 0, 1000000, 7, 0, 1 << 26 | 1)
	out = must(sys.executable, os.path.join(SRCDIR, "examples", "attr.py"), attr.hex(), "4.2", env=lib.env)
	want = ["cpu-clock", must(PEVTRACE, "decode", "--attr", attr.hex()).strip(),
		"  context_switch requires Linux 4.3"]
	TAP.ok(out.splitlines()[:3] == want and re.search(r"^Linux 4\.2: E\w+: ", out, re.M),
	       "attr.py prints an attr as pevtrace decode, and what Linux 4.2 answers", (out,))


def test_threads(lib, tmp):
	"""Threads share a machine; helgrind finds no race."""
	program = lib.build(os.path.join(HERE, "library", "threads.c"), os.path.join(tmp, "threads"),
			    "gcc", "-std=gnu11", "-pthread")
	r = run(program, env=lib.env)
	TAP.ok(r.returncode == 0, "threads that share a machine get the same", (r.stdout, r.stderr))
	if not shutil.which("valgrind"):
		TAP.skip("races", "valgrind is not installed")
		return
	r = run("valgrind", "-q", "--tool=helgrind", "--error-exitcode=9", program, env=lib.env)
	TAP.ok(r.returncode == 0, "no races between them (helgrind)", (r.stderr[-3000:],))


def test_memory(lib, tmp):
	"""Each allocation fails once: the call says so, or nothing is missing."""
	program = os.path.join(tmp, "pevtrace")	# the name that fault.so looks for
	lib.build(os.path.join(HERE, "library", "every.c"), program, "gcc", "-std=gnu11")
	whole = must(program, env=lib.env)
	TAP.ok(whole.count("\n") > 50, "a program that calls every function ends well", (whole,))
	said = re.findall(r"^(?:old )?group: .*", whole, re.M)
	TAP.ok([l.split(" ")[-3::2] for l in said] == [["0", "-"], ["0", "-"], ["22", "group_cpu"], ["0", "-"],
	       ["22", "group_member"], ["0", "-"]], "the leader's CPU and group decide; an old caller's struct "
	       "ends before them", (said,))
	TAP.ok("name: " in whole and not re.search(r"[^\n\t -~]", whole) and r"sched:sched\033[1m_switch" in whole,
	       "control characters of the caller's names are escaped", (whole,))
	used = set(re.findall(r"pevtrace_\w+(?=\()", open(os.path.join(HERE, "library", "every.c"), encoding="ascii").read()))
	all_of_them = set(re.findall(r" T (\w+)@@", must("nm", "-D", "--defined-only", lib.so)))
	TAP.ok(used >= all_of_them, "it does call every function", all_of_them - used)
	if not os.path.exists(FAULT):
		TAP.skip("failures of memory", "tests/fault.so was not built")
		return
	page, wrong, failed = os.path.join(tmp, "page"), [], 0
	for index, name in enumerate(("malloc", "calloc", "realloc")):
		n, calls = 1, 1
		while n <= calls:
			with open(page, "wb") as f:
				f.write(bytes(4096))
			r = run(program, env={**lib.env, "LD_PRELOAD": FAULT, "FAULT": f"{name}:{n}:12", "FAULT_PAGE": page})
			failed += r.returncode == 3
			if r.returncode not in (0, 3) or not whole.startswith(r.stdout) or \
			   (r.returncode == 0 and r.stdout != whole):
				wrong.append(f"{name} {n}: status {r.returncode}: {r.stderr[-200:]} {r.stdout[-300:]}")
			with open(page, "rb") as f:
				calls = struct.unpack("<512Q", f.read())[index]
			n += 1 if n < 60 or os.environ.get("LONG") else 17
	TAP.ok(not wrong and failed, f"{failed} failures of memory are returned, and none is lost", wrong[:5])


def main():
	"""Run all of it."""
	missing = [p for p in ("gcc", "pkg-config", "nm", "readelf") if not shutil.which(p)]
	if missing:
		sp.skip_all("not installed: " + " ".join(missing))
	with open(os.path.join(BUILDDIR, "config.h"), encoding="ascii") as f:
		if "#define SANITIZED 1" in f.read():
			sp.skip_all("programs without sanitizers cannot use this build; fuzz_library does")
	with tempfile.TemporaryDirectory() as tmp:
		lib = Installed(os.path.join(tmp, "root"))
		test_header(lib, tmp)
		test_symbols(lib)
		test_abi(lib, tmp)
		test_decode(lib)
		test_c(lib, tmp)
		test_examples(lib, tmp)
		test_threads(lib, tmp)
		test_memory(lib, tmp)
	return TAP.done()


if __name__ == "__main__":
	sys.exit(main())
