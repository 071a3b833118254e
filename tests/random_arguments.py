#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each argument of each traced call with 64 random bits: both engines show the value that strace
does.  The kernel takes 32 of them for an int, all for an unsigned long, and strace follows it."""

import ctypes
import mmap
import os
import platform
import random
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
STRACE = sp.find_program("strace")
ROUNDS = 24
# x86-64's numbers, and arguments that do no harm whatever one of them is replaced by; E is an
# event, P readable memory of zeros, "-" an argument that stays, as with it the call would succeed
CALLS = {
	"perf_event_open": (298, "P 0 -1 -1 0"), "ioctl": (16, "E 0x2405 0"),
	"mmap": (9, "0 4096 1 -1 E 0"), "munmap": (11, "1 4096"), "mremap": (25, "1 4096 4096 0 0"),
	"poll": (7, "P -0 -0"), "ppoll": (271, "P -0 -P 0 8"), "select": (23, "0 0 0 0 -P"),
	"pselect6": (270, "0 0 0 0 -P 0"), "epoll_create1": (291, "0"),
	"epoll_ctl": (233, "-1 1 E P"), "epoll_wait": (232, "-1 P 1 0"),
	"epoll_pwait": (281, "-1 P 1 0 0 8"), "read": (0, "E P 8"), "readv": (19, "E P 0"),
	"pread64": (17, "E P 8 0"), "preadv": (295, "E P 0 0 -0"), "preadv2": (327, "E P 0 0 -0 0"),
	"close_range": (436, "-5000 -4000 0"), "dup2": (33, "E -1"), "dup3": (292, "E -1 0"),
	"fcntl": (72, "E 0 -1"), "sendmsg": (46, "-1 P 0"), "recvmsg": (47, "-1 P 0"),
	"prctl": (157, "0x7fff 0 0 0 0"), "ptrace": (101, "16 -1 0 0"), "unshare": (272, "-1"),
	"clone3": (435, "0 0"), "execve": (59, "1 0 0"), "execveat": (322, "-1 1 0 0 0"),
	"bpf": (321, "0x7fff P 0"),
}
PLACE = 0x200000000000	# of that memory, the same in each run
FIRST, LAST = 77777, 77778	# what marks the calls that count, as the third argument of a read

def make_calls():
	"""The target: each call with each of its arguments replaced."""
	libc = ctypes.CDLL(None, use_errno=True)
	libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
	libc.mmap.restype = ctypes.c_void_p
	where = libc.mmap(PLACE, 65536, mmap.PROT_READ | mmap.PROT_WRITE,
			  mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x10, -1, 0)
	attr = (ctypes.c_char * 128)()
	attr[0:16] = (1 | 128 << 32).to_bytes(8, "little") + (9).to_bytes(8, "little")
	attr[40:41] = b"\x20"	# exclude_kernel: for everybody
	call = lambda *a: libc.syscall(*[ctypes.c_ulong(x & (1 << 64) - 1) for x in a])
	event = call(298, ctypes.addressof(attr), 0, -1, -1, 0)
	if event < 0:
		raise SystemExit(77)
	value = lambda word: event if word == "E" else where if word.strip("-") == "P" else \
		int(word[1:] if len(word) > 1 and word[0] == "-" and word not in ("-1",) else word, 0)
	draw = random.Random(1)
	call(0, event, where, FIRST)
	for _ in range(ROUNDS):
		for number, words in CALLS.values():
			words = words.split()
			for i, word in enumerate(words):
				if word[0] == "-" and word != "-1":
					continue
				args = [value(w) for w in words]
				args[i] = draw.getrandbits(32) << 32 | args[i] & 0xffffffff \
					if word in ("E", "-1") else draw.getrandbits(64)
				call(number, *args)
	call(0, event, where, LAST)

def shown(argv, path):
	"""Return the calls between the marks."""
	r = subprocess.run(argv + [sys.executable, os.path.abspath(__file__), "calls"],
			   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
	if r.returncode:
		return r.returncode, r.stderr
	calls, inside = [], False
	with open(path, errors="backslashreplace") as f:
		for text in f:
			text = re.sub(r"^(\[pid +\d+\] |\d+ +)", "", text.rstrip("\n"))
			mark = re.match(r"read\(.*, (\d+)\) += ", text)
			if mark and int(mark.group(1)) in (FIRST, LAST):
				inside = int(mark.group(1)) == FIRST
			elif inside and re.match(r"\w+\(", text):
				calls.append(sp.parse_call(text))
	return 0, calls

def same(theirs, ours, call, i):
	"""Signed or not; fcntl's third argument is an int for F_DUPFD, strace 6.1 shows a long."""
	bits = 32 if (call, i) == ("fcntl", 2) or max(abs(theirs), abs(ours)) < 1 << 32 else 64
	return (theirs - ours) % (1 << bits) == 0

def main():
	if not STRACE or platform.machine() != "x86_64":
		sp.skip_all("strace is not installed" if not STRACE else "the numbers are x86-64's")
	tap = sp.Tap()
	engines = {"ptrace": []}
	if sp.has_bpf(PEVTRACE):
		engines["bpf"] = ["--engine=bpf"]
	with tempfile.TemporaryDirectory() as tmp:
		path = os.path.join(tmp, "out")
		names = ",".join(CALLS)
		status, want = shown([STRACE, "-X", "raw", "-o", path, "-e", "trace=" + names], path)
		if status:
			sp.skip_all("no event of one's own can be opened here" if status == 77 else
				    "strace cannot trace here: " + want.strip())
		for engine, options in engines.items():
			status, got = shown([PEVTRACE, *options, "-o", path, "-e", "trace=" + names],
					    path)
			if status:
				tap.ok(False, engine, [status, got])
				continue
			why, values, compared, at = [], 0, 0, 0
			for call in got:
				while at < len(want) and want[at].name != call.name:
					at += 1		# a call that concerns no event
				if at == len(want):
					why.append("no such call of strace: " + call.line)
					break
				theirs, at = want[at], at + 1
				for i in range(min(len(theirs.args), len(call.args))):
					x, y = sp.number(theirs.arg(i)), sp.number(call.arg(i))
					# one may show what is at the address, or a name
					compared += x is not None and y is not None
					values += 1
					if x is not None and y is not None and not same(x, y, call.name, i):
						why.append("argument %d: %s: strace %s" % (i, call.line[:300], theirs.line[:300]))
			tap.ok(len(got) > 50 * ROUNDS and compared > 0.7 * values and not why,
			       "%s: %d calls, %d arguments as strace shows them" % (engine, len(got), compared), [values,"%d of %d calls" % (len(got), len(want))] + why[:30])
	return tap.done()

if sys.argv[1:] == ["calls"]:
	make_calls()
else:
	sys.exit(main())
