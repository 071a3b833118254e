# SPDX-License-Identifier: LGPL-2.1-or-later
"""What this machine can do, found by trying it.  A test that needs something asks lacks(NEED), which
returns the reason to skip it, or None; or it calls need(NEED), which raises Lack with the reason, and
whoever runs the tests skips this one."""

import ctypes
import errno
import functools
import os
import struct
import subprocess
import sys

import straceparse as sp

class Lack(Exception):
	"""Why a test is to be skipped."""

NR_OPEN = {"x86_64": 298, "aarch64": 241, "riscv64": 241}.get(os.uname().machine)
LIBC = ctypes.CDLL(None, use_errno=True)
SOFTWARE, DUMMY = 1, 9
BREAKPOINT, WRITES = 5, 2
DEVICES = "/sys/bus/event_source/devices"
NAMESPACES, KERNEL_TOO = (40, "Q", 1 << 28 | 1 << 5), (40, "Q", 0)
TRIES = 3

def event(kind, config=0, more=(), period=0, pid=0, cpu=-1):
	"""Open an event of this process that user space counts; return the descriptor or raise OSError.
	more: (offset, format, value) of further members, which may replace those above."""
	attr = bytearray(128)
	struct.pack_into("=IIQQ", attr, 0, kind, len(attr), config, period)
	struct.pack_into("=Q", attr, 40, 1 << 5)	# exclude_kernel
	for at, fmt, value in more:
		struct.pack_into("=" + fmt, attr, at, value)
	if NR_OPEN is None:
		raise OSError(errno.ENOSYS, "perf_event_open has no known number here")
	fd = LIBC.syscall(NR_OPEN, bytes(attr), pid, cpu, -1, 8)
	if fd < 0:
		raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
	return fd

def count(fd, work):
	"""Return what an event counts while work() runs."""
	before, = struct.unpack("=Q", os.read(fd, 8))
	work()
	after, = struct.unpack("=Q", os.read(fd, 8))
	os.close(fd)
	return after - before

def breakpoints():
	"""Breakpoints may open and never fire, where a hypervisor does not deliver them."""
	variable = ctypes.c_uint32(0)

	def write():
		for i in range(3):
			variable.value = i
	for _ in range(TRIES):
		try:
			fd = event(BREAKPOINT, more=((52, "I", WRITES), (56, "Q", ctypes.addressof(variable)),
						     (64, "Q", 4)))
		except OSError as e:
			return "breakpoints cannot be opened on this machine: " + e.strerror
		if count(fd, write) == 3:
			return None
	return "breakpoints do not fire on this machine"

def sysctls():
	setting("paranoid")

def restricted():
	level = setting("paranoid")
	return None if level > 1 else "perf_event_paranoid is %d: users may count the kernel" % level

def no_counters():
	"""Pages may show what a machine without hardware counters says."""
	try:
		names = os.listdir(DEVICES)
	except OSError as e:
		return "%s cannot be read: %s" % (DEVICES, e.strerror)
	return "this machine has hardware counters, the page's had none" if \
	       any(d.startswith("cpu") and not d.endswith("_clock") for d in names) else None

def opens(reason, *more, **target):
	"""Return a function that says why a software event with these members does not open."""
	def tried():
		try:
			os.close(event(SOFTWARE, DUMMY, more, **target))
		except OSError as e:
			return "%s: %s" % (reason, e.strerror)
		return None
	return tried

def uprobes():
	"""They need CAP_SYS_ADMIN, which the kernel examines before the path, of which there is none."""
	try:
		with open(DEVICES + "/uprobe/type", encoding="ascii") as f:
			kind = int(f.read())
	except OSError:
		return "no uprobe PMU"
	try:
		os.close(event(kind))
	except OSError as e:
		return {errno.EINVAL: None, errno.EACCES: "uprobes need CAP_SYS_ADMIN"}.get(
			e.errno, "uprobes cannot be opened here: " + e.strerror)
	return None

def next_pid():
	try:
		with open("/proc/sys/kernel/ns_last_pid", "r+") as f:
			f.write(f.read())
	except OSError as e:
		return "the next pid cannot be chosen: " + e.strerror
	return None

def runs(reason, argv, **how):
	"""Return a function that says whether a command fails."""
	def tried():
		try:
			subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
				       stderr=subprocess.DEVNULL, timeout=60, check=True, **how)
		except (OSError, subprocess.SubprocessError):
			return reason
		return None
	return tried

NEEDS = {
	"breakpoints": breakpoints, "restricted users": restricted, "uprobes": uprobes,
	"next pid": next_pid, "sysctls": sysctls,
	"events": opens("no perf event can be opened here"),
	"kernel events": opens("this user may not count the kernel", KERNEL_TOO),
	"whole CPUs": opens("this user may not count whole CPUs", pid=-1,
			    cpu=min(os.sched_getaffinity(0))),
	"every task of a CPU": opens("every task of a CPU cannot be measured", KERNEL_TOO, pid=-1,
				     cpu=min(os.sched_getaffinity(0))),
	"no hardware counters": no_counters,
	"kernel breakpoints": opens("breakpoints in the kernel need CAP_SYS_ADMIN", KERNEL_TOO, (0, "I", BREAKPOINT),
				    (52, "I", WRITES), (56, "Q", 0xffff800000000000), (64, "Q", 4)),
	"CAP_PERFMON": opens("needs CAP_PERFMON", NAMESPACES),
	"tracefs": lambda: None if sp.tracefs() else "tracefs is not mounted, or may not be read",
	"another user": runs("needs root, to become another user", ["true"], preexec_fn=sp.as_nobody()),
	"PID namespaces": runs("needs root, to make a PID namespace", ["unshare", "--pid", "--fork", "true"]),
	"tracing": lambda: cannot_trace(os.environ["PEVTRACE"]),
	"mounts": runs("needs root, to mount", ["unshare", "-m", "true"]),
}

@functools.lru_cache(None)
def lacks(need):
	"""Return why a test with that need cannot run here, or None."""
	try:
		return NEEDS[need]()
	except Lack as e:
		return str(e)

def need(what):
	if lacks(what):
		raise Lack(lacks(what))

def complaints(stderr):
	"""Return the lines of standard error but the one that says what every verb lacks here."""
	return [l for l in stderr.splitlines() if "/proc/sys is hidden" not in l]

def setting(name):
	"""Return the sysctl kernel.perf_event_NAME."""
	path = "/proc/sys/kernel/perf_event_" + name
	try:
		with open(path) as f:
			return int(f.read())
	except OSError as e:
		raise Lack("%s cannot be read" % path) from e

@functools.lru_cache(None)
def cannot_run(program):
	"""Return why the kernel does not execute a program, such as one of 32 bits, or None."""
	try:
		subprocess.run([program], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
			       stderr=subprocess.DEVNULL, timeout=60, check=False)
	except OSError as e:
		if e.errno == errno.ENOEXEC:
			return "%s: this kernel does not run 32-bit programs" % os.path.basename(program)
		return "%s: %s" % (program, e.strerror)
	return None

@functools.lru_cache(None)
def cannot_trace(pevtrace):
	"""Return why pevtrace cannot trace a program, or None."""
	r = subprocess.run([pevtrace, "-o", "/dev/null", "true"], stdin=subprocess.DEVNULL,
			   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
	return "programs cannot be traced here: " + r.stderr.split(";")[0].strip() if r.returncode else None

def main():
	"""For tests in shell: print why a need is not met, and fail."""
	why = lacks(sys.argv[1])
	if why:
		print(why)
	return 1 if why else 0

if __name__ == "__main__":
	sys.exit(main())
