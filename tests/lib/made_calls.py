# SPDX-License-Identifier: LGPL-2.1-or-later
"""Inputs of fuzz_calls that are calls of programs: of each kind of argument, memory on both sides of what it
is bounded by, for 64-bit x86, 32-bit x86 and ARM.  corpus_text.py has the text of each."""

import os
import struct

XLAT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../xlat/calls.in")
with open(XLAT, encoding="utf-8") as calls_in:
	CALLS = [line.split("\t")[0] for line in calls_in if line.strip() and line[0] not in "#%"]

B = 0x10000	# FUZZ_MEMORY of fuzz_call.h, where the memory begins
INJECTED = 1 << 20
# of the processors, by their places in fuzz_calls.c: bytes of a word, and of an epoll_event
KINDS = {0: (8, 12), 1: (4, 12), 3: (4, 16)}

def u64(*values):
	return b"".join(struct.pack("<Q", v & (1 << 64) - 1) for v in values)

def i32(*values):
	return b"".join(struct.pack("<i", v) for v in values)

def place(*parts):
	"""Return memory with (offset, bytes) in it."""
	memory = bytearray(max(at + len(b) for at, b in parts))
	for at, b in parts:
		memory[at:at + len(b)] = b
	return bytes(memory)

class Made:
	def __init__(self, directory, kind):
		self.directory, self.kind = directory, kind
		self.word, self.epoll = KINDS[kind]

	def words(self, *values):
		return b"".join(struct.pack("<Q" if self.word == 8 else "<I", v & (1 << 8 * self.word) - 1)
				for v in values)

	def call(self, title, name, args, ret, memory=b""):
		data = bytes([CALLS.index(name) + len(CALLS) * self.kind])
		data += u64(*(list(args) + [0] * 6)[:6]) + struct.pack("<q", ret) + memory
		with open(os.path.join(self.directory, "%s %s of %d" % (name, title, self.kind)), "wb") as f:
			f.write(data)

COUNTS = u64(2, 1000, 900, 77, 21, 3, 88, 22, 4)

def reads(m):
	def iov(*pairs):
		return m.words(*[x for p in pairs for x in p])
	one = place((0, iov((B + 256, 72))), (256, COUNTS))
	split = place((0, iov((B + 256, 24), (B + 512, 40), (B + 768, 64))), (256, COUNTS[:24]),
		      (512, COUNTS[24:64]), (768, COUNTS[64:] + bytes(8)))
	for fd in (4, 5, 6, 9):
		m.call("one fd %d" % fd, "readv", (fd, B, 1), 72, one)
		m.call("split fd %d" % fd, "readv", (fd, B, 3), 72, split)
		m.call("injected fd %d" % fd, "readv", (fd, B, 1), 72 | INJECTED, one)
		m.call("fd %d" % fd, "read", (fd, B + 256, 72), 72, one)
		m.call("odd fd %d" % fd, "read", (fd, B + 256, 71), 70, one)
	m.call("hole", "readv", (5, B, 3), 72, place((0, iov((B + 256, 24), (0x999000, 40), (B + 768, 64))),
						    (256, COUNTS[:24]), (768, COUNTS[24:] + bytes(16))))
	for n in (15, 16, 17, 20, 40):
		m.call("failed %d" % n, "readv", (5, B, n), -22,
		       place((0, iov(*[(B + 256 + i, i) for i in range(n)]))))
		m.call("cut %d" % n, "readv", (5, B, n), -22, iov(*[(B + 256 + i, i) for i in range(n - 1)]))
	m.call("none", "readv", (5, B, 0), 0, iov((B, 8)))
	m.call("zero", "readv", (5, B, 2), 0, iov((B, 8), (B, 8)))
	for n in (62, 63, 64, 65):
		m.call("%d" % n, "readv", (9, B, n), n * 8, place(
			(0, iov(*[(B + 2048 + 8 * i, 8) for i in range(n)])), (2048, u64(*range(n)))))
	for n in (1023, 1024, 1025, 1030):
		m.call("many %d" % n, "readv", (9, B, n), -11, iov(*[(B + i, 1) for i in range(n)]))
	for ret in (1, 8, 9, 16, 17, 24):
		m.call("short %d" % ret, "readv", (9, B, 3), ret, place(
			(0, iov((B + 256, 8), (B + 512, 8), (B + 768, 8))), (256, u64(1)), (512, u64(2)), (768, u64(3))))
	m.call("4096", "readv", (9, B, 3), 6000, place((0, iov((B + 100, 3000), (B + 3100, 3000), (B, 8))),
						      (100, bytes(range(1, 251)) * 24)))
	m.call("flags", "preadv2", (5, B, 1, 0x123456789, 7, 3), 72, one)
	m.call("offset", "preadv", (5, B, 1, 0x89abcdef01234567, 0x1122334455667788), 72, one)
	m.call("offset", "pread64", (5, B, 72, 0x123456789a, 0x55), 72, COUNTS)

def changes(m):
	for cmd, arg, ret in ((1, 0, 1), (1, 0, 0), (2, 1, 0), (2, 0x13, 0), (3, 0, 0x8802), (3, 0, 0),
			      (4, 0x2800, 0), (0, 7, 7), (1030, 9, 9), (8, -77, 0), (9, 5, 77), (10, 0, 0),
			      (10, 10, 0), (10, 34, 0), (10, 99, 0), (11, 3, 10), (99, 0x1234567890, 0), (1031, B, 0)):
		m.call("%d %x %x" % (cmd, arg & 0xffff, ret), "fcntl", (5, cmd, arg), ret)
	for cmd in (15, 16):
		for kind in (0, 1, 2, 7):
			m.call("owner %d %d" % (cmd, kind), "fcntl", (5, cmd, B), 0, i32(kind, -3 - kind))
		m.call("owner %d cut" % cmd, "fcntl", (5, cmd, B), 0, i32(1) + b"xyz")
		m.call("owner %d injected" % cmd, "fcntl", (5, cmd, B), INJECTED, i32(1, 8))
		m.call("owner %d failed" % cmd, "fcntl", (5, cmd, B), -22, i32(1, 8))
	for ret in (0, 3, -11, -4, -512, -513, -514, -516):
		m.call("%d" % -ret, "close", (5,), ret)
	m.call("all", "close_range", (3, 0xffffffff, 6), 0)
	m.call("flag", "dup3", (5, 9, 0x80000), 9)

def messages(m):
	def control(fds, level=1, kind=1, extra=0):
		b = m.words(m.word + 8 + 4 * len(fds) + extra) + i32(level, kind, *fds)
		return b + bytes(-len(b) % m.word)
	least = m.words(m.word + 8) + i32(1, 1)
	parts = {
		"one": control([5]), "three": control([5, 6, 9]), "two parts": control([5]) + control([7, 8]),
		"other": control([5], 2) + control([9], 1, 2) + control([4]), "253": control(list(range(253))),
		"254": control(list(range(254))), "300": control(list(range(300))),
		"long": control([5, 6], extra=4), "longer": control([5], extra=100),
		"short": m.words(m.word + 7) + bytes(12), "least": least, "cut": least[:-1],
		"least and one": least + control([5]), "empty": b"",
	}
	for title, part in parts.items():
		header = m.words(B + 99, 9, B + 99, 1, B + 128, len(part), 0)
		for name, ret in (("sendmsg", 4), ("recvmsg", 4), ("recvmsg", -11), ("recvmsg", 4 | INJECTED)):
			m.call("%s %d" % (title, ret), name, (3, B, 0x40), ret,
			       place((0, header), (128, part or b"x")))
	header = m.words(1, 2, 3, 4, B, 8)
	m.call("header cut", "sendmsg", (3, B, 0), 2, header[:-1])
	m.call("header of six", "sendmsg", (3, B, 0), 2, header)
	m.call("4096", "sendmsg", (3, B, 0), 2, place((0, m.words(1, 2, 3, 4, B + 128, 6000, 0)),
						     (128, control(list(range(5))))))

def waits(m):
	fds = struct.pack("<ihhihh", 5, 1, 1, 9, 0x2041, 0x10)
	args = {
		"poll": (B, 2, 1500), "ppoll": (B, 2, B + 128, B + 200, 8), "ppoll_time64": (B, 2, B + 128, B + 200, 8),
		"select": (9, B + 256, B + 264, 0, B + 128),
		"pselect6": (9, B + 256, B + 264, 0, B + 128, B + 300),
		"pselect6_time64": (9, B + 256, B + 264, 0, B + 128, B + 300),
		"epoll_pwait": (4, B + 400, 2, -1, B + 200, 8), "epoll_pwait2": (4, B + 400, 2, B + 128, B + 200, 8),
	}
	for name, a in args.items():
		time = u64(3, 500000001) if name in ("ppoll_time64", "pselect6_time64", "epoll_pwait2") else \
			m.words(3, 500000001)
		for ret in (2, 0, 2 | INJECTED):
			m.call("all %d" % ret, name, a, ret, place(
				(0, fds), (128, time), (200, u64(0x8001)), (256, u64(0x120)), (264, u64(1)),
				(300, m.words(B + 200, 8)), (400, bytes(range(1, 49)))))
	one = struct.pack("<ihh", 5, 1, 0)
	m.call("before 1970", "ppoll", (B, 1, B + 128, 0), 0, place((0, one), (128, m.words(-5, -7))))
	m.call("time cut", "ppoll", (B, 1, B + 128, 0), 0, place((0, one), (128, m.words(5, 7)[:-1])))
	m.call("pair cut", "pselect6", (9, B, 0, 0, 0, B + 16), 0,
	       place((0, u64(0x1ff)), (16, m.words(B, 8)[:-1])))
	for i, mask in enumerate((0, 1, 0xffffffff, 0x1ffffffff, -1, ~0x101, 0x5555555555555555, 1 << 63)):
		m.call("mask %d" % i, "ppoll", (B, 1, 0, B + 8, 8), 0, one + u64(mask))
	for n in (-1, 0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 100, 128, 129, 1024, 65536, 70000, 2147483647):
		m.call("%d" % n, "select", (n, B, B + 16, B + 24, 0), 1, u64(0x8000000180000301, 5, 0x80000000, 0))
		m.call("%d hole" % n, "pselect6", (n, 0x555000, B, 0, 0, 0), 1, u64(-1))
	for n in (0, 1, 3, 15, 16, 17, 31, 32, 33, 40):
		some = b"".join(struct.pack("<ihh", i - 1, 1 + i, i % 3) for i in range(n))
		m.call("%d" % n, "poll", (B, n, -1), 2 if n else 0, some + b"x")
		m.call("%d cut" % n, "poll", (B, n + 2, 0), 2, some + b"xyz")
		m.call("%d many" % n, "poll", (B, 5000, 0), 0, some)
	m.call("null", "poll", (0, 0, 0), 0)
	for n in range(4):
		events = bytes(range(1, 1 + m.epoll * 3))
		m.call("%d" % n, "epoll_wait", (4, B, 3, -1), n, events)
		m.call("%d injected" % n, "epoll_wait", (4, B, 3, -1), n | INJECTED, events[:m.epoll * n])
	m.call("cut", "epoll_wait", (4, B, 3, -1), 3, bytes(range(1, m.epoll * 2)))
	for op in (1, 2, 3, 4):
		m.call("%d" % op, "epoll_ctl", (4, op, 5, B), 0, bytes(range(1, m.epoll + 1)))
		m.call("%d cut" % op, "epoll_ctl", (4, op, 5, B), 0, bytes(range(1, m.epoll)))

def processes(m):
	for n in (0, 1, 3, 31, 32, 33):
		m.call("%d" % n, "execve", (B + 1024, B, B + 600), 0, place(
			(0, m.words(*[B + 1100 + 6 * i for i in range(n)], 0)), (600, m.words(*[B] * (n % 5), 0)),
			(1024, b"/bin/x\0"), (1100, b"".join(b"arg%02d\0" % i for i in range(n)) + b"z")))
	for n in (4094, 4095, 4096, 5000):
		m.call("long %d" % n, "execve", (B + 8, B + 16, 0), 0, place(
			(8, b"/x\0"), (16, m.words(*[B + 128] * 5, 0)), (128, b"a" * n + b"\0")))
	for n in (1, 2, 1023, 1024, 1025, 1030):
		m.call("vars %d" % n, "execve", (B, 0, B + 8), 0, place((0, b"/x\0"), (8, m.words(*[B] * n, 0))))
	m.call("cut", "execveat", (-100, B, B + 8, B + 64, 0x1000), -2,
	       place((0, b"x\0"), (8, m.words(B, 0)), (64, m.words(B))))
	for signal in (0, 17, 10, 34, 64, 99, 255):
		m.call("signal %d" % signal, "clone", (0x100 | signal, 1, 2, 3, 4), 7)
		m.call("plain %d" % signal, "clone", (signal,), 7)
	for n in (0, 1, 2, 31, 32, 33, 40):
		m.call("%d" % n, "clone3", (B, 88), 9, place(
			(0, u64(0x100000100, 1, 2, 3, 17, 5, 6, 7, B + 128, n, 8)), (128, i32(*range(40)))))
	for size in (0, 7, 64, 80, 87, 88, 89, 96, 144, 255, 256, 257, 300):
		m.call("size %d" % size, "clone3", (B, size), 9, bytes([1] * 8) + bytes(72) + bytes(range(1, 240)))
		m.call("size %d" % size, "bpf", (28, B, size), 5, bytes(range(1, 255)) + bytes(60))
	for cmd in range(38):
		m.call("%d" % cmd, "bpf", (cmd, B, 144), 3, place(
			(0, i32(5, 6, 41, 0) + u64(B + 200, 16, 0, 0, 0)), (200, b"/sys/fs/bpf/x\0")))
	for ret in (0, -28, -2, INJECTED):
		query = i32(77, 5, 0, 20) + u64(B + 200) + i32(9, 3) + u64(0x1234, 0x9999)
		for size in (20, 48):
			m.call("query %d %d" % (ret, size), "bpf", (20, B, size), ret,
			       place((0, query[:size + 4]), (200, b"name_of_it\0")))
	for op in (31, 32, 1, 4, 15):
		m.call("%d" % op, "prctl", (op, B, 1, 2, 3), 0, b"name\0")
	for name, *args in (("ptrace", 0x4206, 9, 1, 2), ("exit", 0x1ff), ("exit_group", 77), ("unshare", 0x400)):
		m.call("plain", name, args, 0)

def mappings(m):
	for flags in (0, 1, 2, 3, 4, 5, 7):
		m.call("%d" % flags, "mremap", (B, 4096, 8192, flags, 0x7000), B)
	for name in ("mmap", "mmap2"):
		for length in (0, 4096, 8192, 12288, 36864, 36865, 4096 * 1025):
			offset = 3 << 12 if length == 8192 else 0
			m.call("%d" % length, name, (0, length, 3, 1, 5, offset), 0x7000)
		m.call("failed", name, (0, 8192, 3, 1, 5, 0), -22)
	m.call("flags", "shmat", (-1, B, 0x5000), 0x7000)
	m.call("all", "perf_event_open", (B, 0, -1, -1, 8), 5,
	       i32(0, 136) + u64(0, 4000, 7, 15, 3) + bytes(88))

def make(directory):
	"""Write an input into each file of the directory."""
	os.makedirs(directory, exist_ok=True)
	for kind in KINDS:
		m = Made(directory, kind)
		for part in (reads, changes, messages, waits, processes, mappings):
			part(m)
