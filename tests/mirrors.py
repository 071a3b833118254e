#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tools/mirrors finds what differs in the languages that it reads, and nothing in what agrees: small
files in the style of each, made from xlat/ or wrong by intention."""

import os
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from checks import TAP, check, differ
from programs import run

MIRRORS = os.path.join(os.path.dirname(HERE), "tools", "mirrors")
READ = {"TOTAL_TIME_ENABLED": 1, "TOTAL_TIME_RUNNING": 2, "ID": 4, "GROUP": 8, "LOST": 16}
# The first 64 bytes, of which bits 40 to 63 of the flags are reserved.
BITS = ("disabled inherit pinned exclusive exclude_user exclude_kernel exclude_hv exclude_idle mmap comm freq "
	"inherit_stat enable_on_exec task watermark precise_ip mmap_data sample_id_all exclude_host exclude_guest "
	"exclude_callchain_kernel exclude_callchain_user mmap2 comm_exec use_clockid context_switch write_backward "
	"namespaces ksymbol bpf_event aux_output cgroup text_poke build_id inherit_thread remove_on_exec sigtrap "
	"defer_callchain defer_output").split()
TAIL = [("branch_sample_type", 64), ("sample_regs_user", 64), ("sample_stack_user", 32), ("clockid", 32),
	("sample_regs_intr", 64), ("aux_watermark", 32), ("sample_max_stack", 16), ("__reserved_2", 16),
	("aux_sample_size", 32)]
AUX = ("aux_start_paused", "aux_pause", "aux_resume")
END = [("sig_data", 64), ("config3", 64), ("config4", 64)]

def struct(line, bit, unions=True):
	"""Members in one language: line(name, width) and bit(name, width of the word, bits)."""
	rows = [line("type", 32), line("size", 32), line("config", 64), line("sample_period", 64),
		line("sample_type", 64), line("read_format", 64)]
	rows += [bit(b, 64, 2 if b == "precise_ip" else 1) for b in BITS] + [bit("__reserved_1", 64, 24)]
	rows += [line("wakeup_events", 32), line("bp_type", 32), line("config1", 64), line("config2", 64)]
	rows += [line(*m) for m in TAIL] + [bit(b, 32, 1) for b in AUX] + [bit("__reserved_3", 32, 29)]
	return "\n".join(rows + [line(*m) for m in END])

def c_struct(without=()):
	text = struct(lambda n, w: "\t__u%d %s;" % (w, n), lambda n, w, b: "\t__u%d %s : %d;" % (w, n, b))
	return "struct perf_event_attr {\n%s\n};\n" % "\n".join(
		l for l in text.split("\n") if not any(w in l for w in without))

def said(**files):
	"""What it says of files of these names and texts: status, and lines without the path."""
	with tempfile.TemporaryDirectory() as tmp:
		for name, text in files.items():
			with open(os.path.join(tmp, name.replace("__", ".", 1).replace("_dot_", ".")), "w",
				  encoding="ascii") as f:
				f.write(text)
		r = run(MIRRORS, tmp)
		return r.returncode, [l.split(": ", 1)[1] for l in r.stdout.splitlines()], r.stderr

def agrees(**files):
	status, lines, stderr = said(**files)
	return differ((status, lines, stderr), (0, [], ""), "what agrees")

def finds(want, **files):
	status, lines, stderr = said(**files)
	return differ((status, lines, stderr), (1, want, ""), "what differs")

def values(form, **other):
	return "\n".join(form % ("PERF_FORMAT_" + n, v) for n, v in {**READ, **other}.items())

LACKS = "perf_event_read_format: lacks PERF_FORMAT_LOST (6.0,5.10.204)"

def few(form):
	return values(form).rsplit("\n", 1)[0] + "\n"

def test_c():
	enum = "enum perf_event_read_format {\n%s\n};\n" % values("\t%s = 1U << 0 | %d,").replace("1U << 0 | ", "")
	return agrees(perf__h=c_struct() + enum) + \
		agrees(perf__h=c_struct().replace("\t__u64 disabled : 1;\n\t__u64 inherit : 1;",
						  "\t__u64 disabled : 1,\n\t      inherit : 1;")) + \
		finds(["PERF_FORMAT_ID: 0x5, in xlat/ 0x4", LACKS], perf__h="enum {\n%s};\n" %
		      few("\t%s = %d,").replace("ID = 4", "ID = 5")) + \
		finds(["perf_event_attr: lacks sigtrap (5.13)"], perf__h=c_struct().replace(
			"\t__u64 sigtrap : 1;", "\t__u64 __unused : 1;")) + \
		finds(["perf_event_attr: lacks config4 (6.19)", "perf_event_attr: 136 bytes, in xlat/ 144"],
		      perf__h=c_struct(without=["config4"])) + \
		finds(["PERF_FORMAT_NEW: not in xlat/"], perf__h=values("#define %s %#x") +
		      "\n#define PERF_FORMAT_NEW (1U << 9)\n")

def test_strace():
	return agrees(perf_event_read_format__in="#value_indexed\n" + values("%s\t%d") + "\n") + \
		finds([LACKS], perf_event_read_format__in=few("%s\t%d"))

def test_syzkaller():
	text = struct(lambda n, w: "\t%s\tint%d" % (n, w), lambda n, w, b: "\t%s\tint%d:%d" % (n, w, b))
	one = "perf_read_format = %s\n\nperf_event_attr {\n%s\n}\n"
	names = ", ".join("PERF_FORMAT_" + n for n in READ)
	return agrees(perf__txt=one % (names, text), perf_dot_txt__const=values("%s = %d")) + \
		finds([LACKS, "perf_event_attr: lacks config4 (6.19)", "perf_event_attr: 136 bytes, in xlat/ 144"],
		      perf__txt=one % (names.replace(", PERF_FORMAT_LOST", ""), text.rsplit("\n", 1)[0])) + \
		finds(["PERF_FORMAT_ID: 0x5, in xlat/ 0x4"], auto__txt=one % (names, text),
		      auto_dot_txt__const=values("%s = %d", ID=5))

def test_go():
	members = "\n".join("\t%s uint%d" % m for m in [
		("Type", 32), ("Size", 32), ("Config", 64), ("Sample", 64), ("Sample_type", 64), ("Read_format", 64),
		("Bits", 64), ("Wakeup", 32), ("Bp_type", 32), ("Ext1", 64), ("Ext2", 64)] +
		[(n.capitalize() if n[0] != "_" else "_", w) for n, w in TAIL] +
		[("_", 32)] + [(n.capitalize(), w) for n, w in END])
	text = "type PerfEventAttr struct {\n%s\n}\n\nconst (\n%s\n)\n"
	got = said(ztypes_linux__go=text % (members, values("\t%s = %#x")))
	return differ(got[:2], (1, ["perf_event_attr: lacks aux_start_paused (6.12.24), aux_pause (6.12.24), "
				    "aux_resume (6.12.24)"]), "Go") + \
		agrees(zerrors_linux_mips__go="const (\n\tPERF_EVENT_IOC_ENABLE = 0x20002400\n)\n") + \
		finds(["PERF_EVENT_IOC_ENABLE: 0x20002409, in xlat/ 0x2400"],
		      zerrors_linux_mips__go="const (\n\tPERF_EVENT_IOC_ENABLE = 0x20002409\n)\n") + \
		finds(["PERF_FORMAT_GROUP: 0x9, in xlat/ 0x8", LACKS],
		      zerrors_linux__go="const (\n" + few("\t%s = %#x").replace("0x8", "0x9") + ")\n")

def test_rust():
	form = "pub const perf_event_read_format_%s: perf_event_read_format = %d;"
	patch = "--- original\n+++ modified\n@@ -1,2 +1,3 @@\n+pub const PERF_FORMAT_LOST: u32 = 16;\n"
	getter = "    pub fn %s(&self) -> __u64 {\n        unsafe { transmute(self._bitfield_1.get(%dusize, %du8)) }\n    }\n"
	at, bits = 0, ""
	for name in BITS:	# sigtrap is one too far
		bits += getter % (name, at + (name == "sigtrap"), 1 + (name == "precise_ip"))
		at += 1 + (name == "precise_ip")
	lines = said(a__rs=values(form) + "\nimpl perf_event_attr {\n%s}\n" % bits)[1]
	return agrees(bindings__rs=values(form) + "\n") + \
		finds([LACKS], bindings__rs=few(form)) + \
		differ([l for l in lines if "sigtrap" in l], ["perf_event_attr.sigtrap: bit 358, 1 bits; in xlat/ bit 357, "
							      "1 bits"], "a bit") + \
		finds(["PERF_FORMAT_LOST: since 6.1, in xlat/ 6.0,5.10.204"], **{"linux-6_dot_1__rs_dot_patch": patch})

def test_julia():
	members = "\n".join("    %s::UInt%d" % m for m in [
		("typ", 32), ("size", 32), ("config", 64), ("sample_period_or_freq", 64), ("sample_type", 64),
		("read_format", 64), ("flags", 64), ("wakeup_events_or_watermark", 32), ("bp_type", 32),
		("bp_addr_or_config1", 64), ("bp_len_or_config2", 64)])
	return finds([LACKS, "perf_event_attr: lacks branch_sample_type (3.4), sample_regs_user (3.7), "
		      "sample_stack_user (3.7), clockid (4.1), sample_regs_intr (3.19), aux_watermark (4.1), "
		      "sample_max_stack (4.8), aux_sample_size (5.5), aux_start_paused (6.12.24), aux_pause (6.12.24), "
		      "aux_resume (6.12.24), sig_data (5.13), config3 (6.3), config4 (6.19)",
		      "perf_event_attr: 72 bytes, in xlat/ 144"],
		     LinuxPerf__jl="mutable struct perf_event_attr\n%s\n\nend\n%s" % (members, few("const %s = UInt64(%d)")))

def test_misuse():
	return differ(run(MIRRORS).returncode, 2, "no argument") + \
		differ(run(MIRRORS, "/nonexistent").returncode, 2, "no such directory") + \
		differ(said(notes__h="int x;\n")[::2], (2, "tools/mirrors: nothing there describes the interface\n"),
		       "another header")

for name, test in (("headers in C, as libpfm4's", test_c), ("strace", test_strace), ("syzkaller", test_syzkaller),
		   ("Go", test_go), ("Rust, and releases", test_rust), ("Julia", test_julia), ("misuse", test_misuse)):
	check(name, test)
sys.exit(TAP.done())
