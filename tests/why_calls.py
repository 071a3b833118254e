#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Calls on events and rings that fail: each has its own cause in why, trace, explain and report."""

import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from causes import as_nobody, PEVTRACE, run
from checks import differ, run_all, start
import machine
import perf_event as pe

PROGRAM = """
import ctypes, mmap, os, struct, sys
c = ctypes.CDLL(None, use_errno=True)
c.mmap.restype = ctypes.c_void_p
c.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
c.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p]
page = mmap.PAGESIZE
def event(period=1 << 40, bits=0x61, cpu=-1, config=3, read=0):
	attr = struct.pack("<IIQQQQQIIQQ", 1, 72, config, period, 0, read, bits, 0, 0, 0, 0)
	return c.syscall(%d, ctypes.create_string_buffer(attr, 72), 0, cpu, -1, ctypes.c_ulong(0))
def ring(fd, pages, prot=3, flags=1, offset=0):
	return c.mmap(None, pages * page, prot, flags, fd, offset * page)
def memory(name, at, *more):
	return getattr(c, name)(ctypes.c_void_p(at), *[ctypes.c_size_t(x) for x in more])
a = event()
%s
"""

# A call, its error, the check that refuses it, numbers that are named, and what works for an mmap.
CASES = [
	("ring(a, 4)", "EINVAL", "mmap_pages", "4 pages; 3 (1+2) or 5 (1+4) would do", "5 PAGES, RW, MAP_SHARED"),
	("ring(a, 3, flags=2)", "EINVAL", "mmap_private", "", "3 PAGES, RW, MAP_SHARED"),
	("ring(a, 3, flags=0)", "EINVAL", "mmap_kind", "", "3 PAGES, RW, MAP_SHARED"),
	("ring(event(bits=0x63), 3)", "EINVAL", "mmap_inherit", "", "each CPU"),
	("ring(a, 3), ring(a, 5)", "EINVAL", "mmap_size", "1+2 pages, 5 were", "3 PAGES, RW, MAP_SHARED"),
	("ring(a, 9), ring(a, 4)", "EINVAL", "mmap_pages", "1+8 pages, 4 were requested", "9 PAGES, RW, MAP_SHARED"),
	("b = event(); ring(a, 9), c.ioctl(b, 0x2405, a), ring(b, 4)", "EINVAL", "mmap_pages",
	 "1+8 pages, 4 were requested; it needs no mapping of its own: read the ring of fd ", None),
	("b = event(); ring(a, 9), c.ioctl(b, 0x2405, a), ring(b, 5)", "EINVAL", "mmap_size",
	 "; it needs no mapping of its own: read the ring of fd ", None),
	("ring(a, 4, offset=3)", "EINVAL", "mmap_aux_first", "", None),
	("ring(a, 3), ring(a, 4, offset=3)", "EINVAL", "mmap_aux_page", "end at", None),
	("at = ring(a, 3); (ctypes.c_uint64 * 2).from_address(at + 1072)[:] = [3 * page, 4 * page]; "
	 "ring(a, 4, offset=3)", "EOPNOTSUPP", "mmap_aux_none", "", None),
	("memory('mremap', ring(a, 3), 3 * page, 5 * page, 1)", "EFAULT", "mremap_grow", "", None),
	("c.ioctl(a, 0x2405, a)", "EINVAL", "output_self", "", None),
	("c.ioctl(a, 0x2405, event(cpu=0))", "EINVAL", "output_other_cpu", "-1 and 0", None),
	("c.ioctl(a, 0x2405, event())", "EINVAL", "output_no_ring", "", None),
	("ring(a, 3), c.ioctl(a, 0x2405, event())", "EINVAL", "output_mapped", "", None),
	("c.ioctl(a, 0x2405, 999)", "EBADF", "output_closed", "", None),
	("c.ioctl(event(period=0), 0x2402, 1)", "EINVAL", "refresh_sampling", "", None),
	("c.ioctl(event(bits=0x63), 0x2402, 1)", "EINVAL", "refresh_inherit", "", None),
	("c.ioctl(a, 0x40082404, ctypes.byref(ctypes.c_uint64(0)))", "EINVAL", "period_zero", "", None),
	("c.ioctl(a, 0x40082404, ctypes.byref(ctypes.c_uint64(1 << 63)))", "EINVAL", "period_sign", "", None),
	("c.ioctl(event(period=9, bits=0x461), 0x40082404, ctypes.byref(ctypes.c_uint64(1 << 40)))", "EINVAL",
	 "period_freq", "1099511627776, the limit is", None),
	("c.ioctl(a, 0x40042409, 1)", "EINVAL", "pause_ring", "", None),
	("c.ioctl(a, 0x40082406, b'x == 1')", "EINVAL", "filter_event", "", None),
	("c.ioctl(a, 0x24ff, 0)", "ENOTTY", "ioctl_unknown", "", None),
	("os.read(event(read=3), 16)", "ENOSPC", "read_space", "16 bytes, and 24 are required", None),
]

def traced(code, *args):
	"""Make the calls; python's own errors are of no interest."""
	program = PROGRAM % (pe.NR, "try:\n\t%s\nexcept OSError:\n\tpass" % code)
	return run(*args, "--", sys.executable, "-c", program)

def test_case(code, error, check, numbers, works):
	r = traced(code, "--json")
	got = [json.loads(line) for line in r.stdout.splitlines()]
	wanted = re.sub(r"(\d+) PAGES", lambda m: str(int(m.group(1)) * os.sysconf("SC_PAGESIZE")),
			works or "").replace("RW", "PROT_READ|PROT_WRITE")
	bad = differ([(o["error"], o.get("check"), o["sure"], "works" in o) for o in got],
		     [(error, check, True, works is not None)], r.stdout + r.stderr)
	if not bad:
		bad += differ((numbers in got[0]["cause"], wanted in got[0].get("works", ""), r.returncode),
			      (True, True, 0), r.stdout)
	return bad

def test_each(tmp):
	"""Three mmaps with three causes are three answers, as text, and in a trace, a story and a page."""
	code = "ring(a, 4), ring(a, 3, flags=2), ring(event(bits=0x63), 3), ring(a, 4)"
	r = traced(code)
	causes = re.findall(r"^mmap\(NULL, .* = -1 EINVAL(, 2 times)?\n  cause: .*\(check (\w+)\)$", r.stdout, re.M)
	bad = differ(causes, [(", 2 times", "mmap_pages"), ("", "mmap_private"), ("", "mmap_inherit")],
		     r.stdout + r.stderr)
	dump, page = os.path.join(tmp, "dump"), os.path.join(tmp, "page.html")
	subprocess.run([PEVTRACE, "-o", "/dev/null", "--json=" + dump, sys.executable, "-c",
			PROGRAM % (pe.NR, code)], check=False)
	story, lines = [subprocess.run([PEVTRACE, *args, dump], stdout=subprocess.PIPE, text=True, check=False).stdout
			for args in (("explain",), ("decode", "--width=200"))]
	subprocess.run([PEVTRACE, "report", "-o", page, dump], check=False)
	with open(page) as f:
		html = f.read()
	says = ("power of two of pages long: 4 pages", "A ring buffer requires MAP_SHARED", "open it once for each CPU")
	story = " ".join(story.split())
	bad += differ([(s in story, s in html) for s in says], [(True, True)] * 3, "story and page: " + story)
	return bad + differ(says[1] in lines, True, "a trace as on a terminal: " + lines)

def test_parts():
	"""Since 6.17 and some updates, a ring cannot be divided."""
	code = "at = ring(a, 3); sys.exit(0 if memory('munmap', at + page, page) else 9)"
	if subprocess.run([sys.executable, "-c", PROGRAM % (pe.NR, code)], check=False).returncode:
		raise machine.Lack("this kernel divides rings")
	r = traced("at = ring(a, 3); memory('munmap', at, page), memory('mprotect', at, page, 1), "
		   "memory('mremap', at, 3 * page, page, 0), c.mmap(at, page, 3, 0x32, -1, 0)", "--json")
	got = [json.loads(line)["check"] for line in r.stdout.splitlines()]
	return differ(got, ["munmap_part", "mprotect_part", "mremap_part", "mmap_part"], r.stdout + r.stderr)

def test_memory(tmp):
	"""What an ordinary user may not lock, with the numbers, and what he may."""
	r = run("--json", "--", sys.executable, "-c", PROGRAM % (pe.NR, "ring(a, 1 + (1 << 15)) and ring(a, 2)"),
		**as_nobody(tmp))
	got = [json.loads(line) for line in r.stdout.splitlines()]
	if not got:
		raise machine.Lack("everybody may map large rings here, or nobody may trace")
	bad = differ([(o["error"], o.get("check")) for o in got], [("EPERM", "mmap_memlock")], r.stdout + r.stderr)
	return bad or differ([w in got[0]["cause"] for w in (" KiB requested", " KiB for all rings of the user")] +
			     ["mmap(NULL, " in got[0].get("works", "")], [True] * 3, r.stdout)

def tests(tmp):
	cases = [("%s of %s: %s" % (c[2], c[0][:40], c[1]), lambda c=c: test_case(*c), None) for c in CASES]
	return cases + [
		("three causes, three answers", lambda: test_each(tmp), None),
		("a part of a ring", test_parts, None),
		("locked memory", lambda: test_memory(tmp), "another user"),
	]

if __name__ == "__main__":
	TMP = start("pevtrace-why-calls.")
	sys.exit(run_all(tests(TMP), TMP))
