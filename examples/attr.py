#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Describe a struct perf_event_attr given in hexadecimal: the event, its members, the
releases that it requires, and what an old kernel answers.

usage: attr.py HEX [RELEASE]
"""

import ctypes
import errno
import sys

lib = ctypes.CDLL("libpevtrace.so.1")
TEXT, JSON, C = 0, 1, 2			# of pevtrace.h
FACT_RELEASE = 0


class Open(ctypes.Structure):
	"""struct pevtrace_open"""
	_fields_ = [("size", ctypes.c_size_t), ("attr", ctypes.c_char_p),
		    ("attr_len", ctypes.c_size_t), ("pid", ctypes.c_int32),
		    ("cpu", ctypes.c_int32), ("group_fd", ctypes.c_int32),
		    ("flags", ctypes.c_uint64), ("leader", ctypes.c_char_p),
		    ("leader_len", ctypes.c_size_t)]


class Verdict(ctypes.Structure):
	"""struct pevtrace_verdict"""
	_fields_ = [("size", ctypes.c_size_t), ("error", ctypes.c_int), ("certain", ctypes.c_int),
		    ("rule", ctypes.c_char_p), ("meaning", ctypes.c_char_p),
		    ("members", ctypes.c_char_p), ("since", ctypes.c_uint32)]


class Need(ctypes.Structure):
	"""struct pevtrace_need"""
	_fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p),
		    ("since", ctypes.c_uint32)]


NEED_FN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Need))
lib.pevtrace_machine_new.restype = ctypes.c_void_p
lib.pevtrace_machine_free.argtypes = [ctypes.c_void_p]
lib.pevtrace_machine_set.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64]
lib.pevtrace_judge.argtypes = [ctypes.c_void_p, ctypes.POINTER(Open), ctypes.POINTER(Verdict)]
lib.pevtrace_needs.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64, NEED_FN,
			       ctypes.c_void_p]
lib.pevtrace_event_name.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t,
				    ctypes.c_char_p, ctypes.c_size_t]
lib.pevtrace_attr_print.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t,
				    ctypes.c_uint, ctypes.c_char_p, ctypes.c_size_t]
for name in ("pevtrace_event_name", "pevtrace_attr_print"):
	getattr(lib, name).restype = ctypes.c_ssize_t


def text(function, *args):
	"""Call a function that writes text, with a buffer that is large enough."""
	size = function(*args, None, 0)
	if size < 0:
		raise OSError(-size, errno.errorcode[-size])
	buf = ctypes.create_string_buffer(size + 1)
	function(*args, buf, size + 1)
	return buf.value.decode()


def release(number):
	"""6.1, 2.6.31"""
	parts = [number >> 16, number >> 8 & 255, number & 255]
	return ".".join(map(str, parts if parts[2] else parts[:2]))


def judge(attr, number):
	"""What a kernel of that release answers to an open on the calling thread."""
	machine = lib.pevtrace_machine_new()
	lib.pevtrace_machine_set(machine, FACT_RELEASE, number)
	call = Open(ctypes.sizeof(Open), attr, len(attr), 0, -1, -1, 0, None, 0)
	verdict = Verdict(ctypes.sizeof(Verdict))
	result = lib.pevtrace_judge(machine, ctypes.byref(call), ctypes.byref(verdict))
	lib.pevtrace_machine_free(machine)
	if result:
		raise OSError(-result, errno.errorcode[-result])
	if not verdict.error:
		return "opens"
	return f"{errno.errorcode[verdict.error]}: {verdict.meaning.decode()} ({verdict.members.decode()})"


def main():
	"""Print all of it."""
	attr = bytes.fromhex(sys.argv[1])
	print(text(lib.pevtrace_event_name, None, attr, len(attr)))
	print(text(lib.pevtrace_attr_print, None, attr, len(attr), TEXT))

	@NEED_FN
	def need(_, item):
		print(f"  {item[0].name.decode()} requires Linux {release(item[0].since)}")
		return 0
	lib.pevtrace_needs(attr, len(attr), 0, need, None)
	if len(sys.argv) > 2:
		major, minor = map(int, sys.argv[2].split("."))
		print(f"Linux {sys.argv[2]}:", judge(attr, major << 16 | minor << 8))


if __name__ == "__main__":
	try:
		main()
	except (IndexError, ValueError):
		sys.exit(__doc__)
