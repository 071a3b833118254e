# SPDX-License-Identifier: LGPL-2.1-or-later
"""perf_event_open(2), called by the tests themselves: attrs that are packed here, and errors that a
seccomp filter gives."""

import ctypes
import errno
import os
import struct

import machine

NR = {"x86_64": 298, "aarch64": 241}.get(os.uname().machine)
LIBC = ctypes.CDLL(None, use_errno=True)
SW, TP, BP = 1, 2, 5

# offset and struct code of members, as the kernel's header has them
FIELDS = {
	"type": (0, "I"), "size": (4, "I"), "config": (8, "Q"),
	"sample_period": (16, "Q"), "sample_freq": (16, "Q"), "sample_type": (24, "Q"),
	"read_format": (32, "Q"), "bp_type": (52, "I"), "bp_addr": (56, "Q"),
	"bp_len": (64, "Q"), "branch_sample_type": (72, "Q"), "sample_regs_user": (80, "Q"),
	"sample_stack_user": (88, "I"), "clockid": (92, "i"), "sample_regs_intr": (96, "Q"),
	"sample_max_stack": (108, "H"), "reserved_2": (110, "H"),
	"aux_sample_size": (112, "I"), "aux_action": (116, "I"), "config3": (128, "Q"),
	"tail": (136, "Q"),
}
BITS = {name: bit for bit, name in enumerate(
	"disabled inherit pinned exclusive exclude_user exclude_kernel exclude_hv exclude_idle "
	"mmap comm freq inherit_stat enable_on_exec task watermark precise_ip - mmap_data "
	"sample_id_all exclude_host exclude_guest exclude_callchain_kernel "
	"exclude_callchain_user mmap2 comm_exec use_clockid context_switch write_backward "
	"namespaces ksymbol bpf_event aux_output cgroup text_poke build_id inherit_thread "
	"remove_on_exec sigtrap".split()) if name != "-"}
BITS["reserved_1"] = 63

READ, TID, CALLCHAIN, RAW, BRANCH, REGS_USER, STACK_USER = 1 << 4, 2, 1 << 5, 1 << 10, \
	1 << 11, 1 << 12, 1 << 13
REGS_INTR, PHYS_ADDR = 1 << 18, 1 << 19

def attr(type_=SW, size=136, **fields):
	"""Return the attr's bytes, with exclude_kernel for a user who may not count the kernel."""
	b = bytearray(max(size, 144))
	if machine.lacks("kernel events"):
		fields = {"exclude_kernel": 1, "exclude_hv": 1, **fields}
	struct.pack_into("<II", b, 0, type_, size)
	for name, v in fields.items():
		if name in BITS:
			old, = struct.unpack_from("<Q", b, 40)
			struct.pack_into("<Q", b, 40, old | v << BITS[name])
		else:
			struct.pack_into("<" + FIELDS[name][1], b, FIELDS[name][0], v)
	return bytes(b[:size if 64 <= size <= 4096 else 64])

def bp(bp_type=3, bp_addr=0x1000, bp_len=4, exclude_kernel=1, **kw):
	return attr(BP, bp_type=bp_type, bp_addr=bp_addr, bp_len=bp_len,
		    exclude_kernel=exclude_kernel, disabled=1, **kw)

def call(b, pid=0, cpu=-1, group_fd=-1, flags=0):
	"""Call perf_event_open; return the descriptor or -errno."""
	buf = ctypes.create_string_buffer(b, len(b)) if b is not None else None
	fd = LIBC.syscall(NR, buf, pid, cpu, group_fd, ctypes.c_ulong(flags))
	return fd if fd >= 0 else -ctypes.get_errno()

def name_of(result):
	names = {errno.EOPNOTSUPP: "EOPNOTSUPP"} # Python knows it as ENOTSUP
	return "opens" if result >= 0 else names.get(-result, errno.errorcode[-result])

def pmu_type(name):
	try:
		with open("/sys/bus/event_source/devices/%s/type" % name) as f:
			return int(f.read())
	except OSError:
		return None

def forbid(error, at=0, value=NR):
	"""A seccomp filter for this process: perf_event_open fails with that error, or only
	where the word at that place of struct seccomp_data has the value."""
	def install():
		prog = struct.pack("<HBBI", 0x20, 0, 0, 0) + \
			struct.pack("<HBBI", 0x15, 0, 3, NR) + \
			struct.pack("<HBBI", 0x20, 0, 0, at) + \
			struct.pack("<HBBI", 0x15, 0, 1, value) + \
			struct.pack("<HBBI", 0x06, 0, 0, 0x00050000 | error) + \
			struct.pack("<HBBI", 0x06, 0, 0, 0x7fff0000)
		code = ctypes.create_string_buffer(prog, len(prog))
		fprog = struct.pack("<HxxxxxxQ", 6, ctypes.addressof(code))
		LIBC.prctl(38, 1, 0, 0, 0)
		if LIBC.prctl(22, 2, ctypes.create_string_buffer(fprog, len(fprog)), 0, 0):
			os._exit(99)
	return install
