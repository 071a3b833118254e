#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace list --tried against what this script finds by itself: its own calls, the
kernel's BTF, sysfs."""

import errno
import fcntl
import functools
import json
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from checks import check, differ, TAP
import machine
import perf_event as pe
import ringparse as rp
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE")
BTF = "/sys/kernel/btf/vmlinux"
DEVICES = "/sys/bus/event_source/devices"
# members of an event that this user may open
ALLOWED = {"exclude_kernel": 1} if machine.lacks("kernel events") else {}
FAULTS = 2 # PERF_COUNT_SW_PAGE_FAULTS

def run(*args, program=None, **kw):
	"""Run features, again if another process held all breakpoints of the CPUs meanwhile."""
	for _ in range(4):
		r = subprocess.run([program or PEVTRACE, "list", "--tried"] + list(args),
				   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
				   universal_newlines=True, timeout=300, **kw)
		if "all breakpoints are in use" not in r.stdout:
			break
	return r

def objects(*args, **kw):
	r = run("--json", *args, **kw)
	if r.returncode or machine.complaints(r.stderr):
		raise AssertionError("%s: status %d: %s" % (args, r.returncode, r.stderr))
	return [json.loads(l) for l in r.stdout.splitlines()]

@functools.lru_cache(None)
def text():
	"""Return the whole table, of one run."""
	return run().stdout

def named(all_, kind):
	return {o["name"]: o for o in all_ if o["kind"] == kind}

# ---- BTF -----------------------------------------------------------------------

class Btf:
	"""Enumerators and members by the name of their type."""
	EXTRA = {1: 4, 3: 12, 14: 4, 17: 4} # int, array, var, decl_tag
	EACH = {4: 12, 5: 12, 6: 8, 13: 8, 15: 12, 19: 12}

	def __init__(self, data):
		self.data = data
		_, _, _, head, type_off, type_len, str_off, _ = struct.unpack_from("<HBBIIIII", data)
		self.strings = head + str_off
		self.types = [None]
		at, end = head + type_off, head + type_off + type_len
		while at < end:
			name, info, size = struct.unpack_from("<III", data, at)
			kind, n = info >> 24 & 31, info & 0xffff
			self.types.append((kind, name, size, n, at + 12))
			at += 12 + self.EXTRA.get(kind, 0) + self.EACH.get(kind, 0) * n

	def text(self, off):
		end = self.data.index(b"\0", self.strings + off)
		return self.data[self.strings + off:end].decode()

	def find(self, kinds, name):
		for t in self.types[1:]:
			if t[0] in kinds and self.text(t[1]) == name and t[3]:
				return t
		return None

	def enumerators(self, name):
		kind, _, _, n, at = self.find((6, 19), name)
		step = self.EACH[kind]
		return {self.text(struct.unpack_from("<I", self.data, at + i * step)[0]):
			struct.unpack_from("<I", self.data, at + i * step + 4)[0] for i in range(n)}

	def members(self, t):
		"""Names, those of unnamed unions and structs among them."""
		_, _, _, n, at = t
		for i in range(n):
			name, type_, _ = struct.unpack_from("<III", self.data, at + 12 * i)
			if self.text(name):
				yield self.text(name)
			else:
				yield from self.members(self.types[type_])

def test_btf(all_):
	with open(BTF, "rb") as f:
		btf = Btf(f.read())
	why = []
	for kind, enum, end in (("sample_type", "perf_event_sample_format", "PERF_SAMPLE_MAX"),
				("read_format", "perf_event_read_format", "PERF_FORMAT_MAX"),
				("branch_sample_type", "perf_branch_sample_type",
				 "PERF_SAMPLE_BRANCH_MAX"),
				("software", "perf_sw_ids", "PERF_COUNT_SW_MAX")):
		values = btf.enumerators(enum)
		known = {n for n, v in values.items() if v < values[end] and
			 (kind == "software" or v & (v - 1) == 0)}
		got = named(all_, kind)
		for n in known:
			why += differ(got[n]["known"], "yes", n) if n in got else [n + " is missing"]
		for n in set(got) - known:
			why += differ(got[n]["known"], "no", n)
	attr = btf.find((4,), "perf_event_attr")
	members = set(btf.members(attr))
	for name, o in named(all_, "attr").items():
		plain = name.split(" ")[0]
		# events refused earlier, or of a missing PMU, may be undetermined
		want = ("yes", "unclear") if plain in members else ("no",)
		if o["known"] not in want:
			why.append("%s: known %s, BTF: %s" % (name, o["known"], plain in members))
	got = {o["name"].split(" ")[0] for o in all_ if o["kind"] == "attr"}
	for name in members - got:
		if not name.startswith("__reserved") and name not in ("aux_action", "size", "type"):
			why.append("member %s is not listed" % name)
	kernel = [o for o in all_ if o["kind"] == "kernel"][0]
	return why + differ(kernel["attr_size"], attr[2], "size of the attr")

# ---- calls of our own ------------------------------------------------------------

def probe(**fields):
	"""Call perf_event_open; return None on success, otherwise the errno's name."""
	fd = pe.call(pe.attr(**{"sample_period": 1, "config": FAULTS, **ALLOWED, **fields}))
	if fd >= 0:
		os.close(fd)
		return None
	return pe.name_of(fd)

def agree(o, mine, what):
	"""Refused exactly when our own call is refused, with the same error."""
	refused = o["result"] == "no"
	error = {"ENOTSUP": "EOPNOTSUPP"}.get(o.get("error"), o.get("error"))
	if refused != (mine is not None) or (refused and error != mine):
		return ["%s: %s %s, our own call: %s" % (what, o["result"], o.get("error"), mine)]
	return []

def test_bits(all_):
	got, why = named(all_, "attr"), []
	# with the members that each of these requires
	beside = {"inherit_thread": {"inherit": 1}, "sigtrap": {"remove_on_exec": 1},
		  "build_id": {"mmap2": 1}, "freq": {}}
	for bit in pe.BITS:
		if bit == "reserved_1":
			continue
		fields = {bit: 1}
		fields.update(beside.get(bit, {}))
		why += agree(got[bit], probe(**fields), bit)
	for bit, action in (("aux_start_paused", 1), ("aux_pause", 2), ("aux_resume", 4)):
		why += agree(got[bit], probe(aux_action=action), bit)
	for name, at in (("defer_callchain", 38), ("defer_output", 39)):
		b = bytearray(pe.attr(config=FAULTS, sample_type=pe.CALLCHAIN, exclude_kernel=1))
		struct.pack_into("<Q", b, 40, struct.unpack_from("<Q", b, 40)[0] | 1 << at)
		fd = pe.call(bytes(b))
		why += agree(got[name], pe.name_of(fd) if fd < 0 else None, name)
		if fd >= 0:
			os.close(fd)
	return why

def test_samples(all_):
	got, why = named(all_, "sample_type"), []
	need = {11: {"branch_sample_type": 1 | 8}, 12: {"sample_regs_user": 1},
		13: {"sample_stack_user": 64}, 18: {"sample_regs_intr": 1}}
	for i, name in enumerate(n for n in got):
		# the table is sorted by value and has every bit
		why += agree(got[name], probe(sample_type=1 << i, **need.get(i, {})), name)
	for i, name in enumerate(named(all_, "read_format")):
		why += agree(named(all_, "read_format")[name], probe(read_format=1 << i), name)
	for i, name in enumerate(named(all_, "branch_sample_type")):
		both = 1 << i | (8 if i < 3 else 1 | 8 if i not in (3, 11) else 1)
		why += agree(named(all_, "branch_sample_type")[name],
			     probe(sample_type=pe.BRANCH, branch_sample_type=both), name)
	return why

def test_clocks(all_):
	ids = {"CLOCK_REALTIME": 0, "CLOCK_MONOTONIC": 1, "CLOCK_PROCESS_CPUTIME_ID": 2,
	       "CLOCK_THREAD_CPUTIME_ID": 3, "CLOCK_MONOTONIC_RAW": 4, "CLOCK_REALTIME_COARSE": 5,
	       "CLOCK_MONOTONIC_COARSE": 6, "CLOCK_BOOTTIME": 7, "CLOCK_REALTIME_ALARM": 8,
	       "CLOCK_BOOTTIME_ALARM": 9, "CLOCK_TAI": 11}
	got = named(all_, "clockid")
	why = differ(sorted(got), sorted(ids), "clocks")
	for name, v in ids.items():
		mine = probe(use_clockid=1, clockid=v)
		why += differ(got[name]["result"], "no" if mine else "yes", name)
	return why

def test_events(all_):
	why = []
	for kind, type_ in (("hardware", 0), ("software", 1)):
		for i, (name, o) in enumerate(named(all_, kind).items()):
			fd = pe.call(pe.attr(type_, config=i, **ALLOWED))
			why += agree(o, pe.name_of(fd) if fd < 0 else None, name)
			if fd >= 0:
				os.close(fd)
	for name, o in named(all_, "breakpoint").items():
		lengths = re.match(r"HW_BREAKPOINT_LEN_(\d)", name)
		kinds = {"EMPTY": 0, "R": 1, "W": 2, "RW": 3, "X": 4, "INVALID": 7}
		type_ = 2 if lengths else kinds[name[len("HW_BREAKPOINT_"):]]
		length = int(lengths.group(1)) if lengths else 8 if type_ == 4 else 4
		fd = pe.call(pe.attr(pe.BP, bp_type=type_, bp_len=length, bp_addr=0x1000,
				     exclude_kernel=1))
		why += agree(o, pe.name_of(fd) if fd < 0 else None, name)
		if fd >= 0:
			os.close(fd)
	return why

def test_ioctls(all_):
	"""ENOTTY means that the kernel does not know the ioctl."""
	nr = {"ENABLE": 0, "DISABLE": 1, "REFRESH": 2, "RESET": 3, "PERIOD": 4, "SET_OUTPUT": 5,
	      "SET_FILTER": 6, "ID": 7, "SET_BPF": 8, "PAUSE_OUTPUT": 9, "QUERY_BPF": 10,
	      "MODIFY_ATTRIBUTES": 11}
	way = {4: 0x4008, 6: 0x4008, 7: 0x8008, 8: 0x4004, 9: 0x4004, 10: 0xc008, 11: 0x4008}
	got = {n[len("PERF_EVENT_IOC_"):]: o for n, o in named(all_, "ioctl").items()}
	why = differ(sorted(got), sorted(nr), "ioctls")
	fd = pe.call(pe.attr(config=FAULTS, sample_period=1, exclude_kernel=1))
	try:
		for name, n in nr.items():
			try:
				fcntl.ioctl(fd, way.get(n, 0) << 16 | 0x2400 | n, 0)
				known = True
			except OSError as e:
				known = e.errno != errno.ENOTTY
			why += differ(got[name]["known"], "yes" if known else "no", name)
	finally:
		os.close(fd)
	if machine.lacks("tracefs"):
		why += differ(got["SET_FILTER"]["result"], "untried", "SET_FILTER without tracepoints")
	for name in ("ENABLE", "DISABLE", "REFRESH", "RESET", "PERIOD", "ID", "SET_OUTPUT",
		     "PAUSE_OUTPUT"):
		why += differ(got[name]["result"], "yes", name)
	return why

def test_pmus(all_):
	return differ(sorted(named(all_, "pmu")), sorted(os.listdir(DEVICES)), "PMUs")

def test_perf(all_):
	"""Events that perf counts must be reported as counting."""
	why = []
	for name in ("cpu-clock", "task-clock", "page-faults", "minor-faults"):
		r = subprocess.run(["perf", "stat", "-x,", "-e", name + (":u" if ALLOWED else ""), "true"],
				   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
				   universal_newlines=True)
		counts = r.stderr.split(",")[0]
		own = {"minor-faults": "PAGE_FAULTS_MIN"}.get(name, name.upper().replace("-", "_"))
		o = named(all_, "software")["PERF_COUNT_SW_" + own]
		if re.match(r"[\d.]+$", counts) and float(counts) > 0:
			why += differ(o["result"], "yes", name)
	return why

def test_effects(all_):
	"""Accepted is not the same as honoured; facts about software events."""
	got, why = named(all_, "attr"), []
	no_pmu = not os.path.exists(DEVICES + "/cpu")
	for name in ("disabled", "inherit", "exclude_user", "mmap", "comm", "task", "freq",
		     "enable_on_exec", "watermark", "mmap_data", "sample_id_all", "mmap2",
		     "use_clockid", "context_switch", "write_backward", "inherit_thread",
		     "remove_on_exec", "sigtrap", "wakeup_events", "wakeup_watermark", "sig_data",
		     "sample_stack_user", "clockid", "inherit_stat"):
		why += differ(got[name]["result"], "yes", name)
	for name in ("comm_exec", "text_poke") + (("precise_ip", "exclude_hv", "config1", "config3",
						   "aux_watermark") if no_pmu else ()):
		why += differ(got[name]["result"], "accepted", name)
	samples = named(all_, "sample_type")
	for name in "IP TID TIME ADDR READ CALLCHAIN ID CPU PERIOD STREAM_ID REGS_USER STACK_USER " \
		    "IDENTIFIER REGS_INTR CGROUP".split():
		why += differ(samples["PERF_SAMPLE_" + name]["result"], "yes", name)
	for name in "WEIGHT DATA_SRC TRANSACTION WEIGHT_STRUCT AUX".split() if no_pmu else ():
		why += differ(samples["PERF_SAMPLE_" + name]["result"], "accepted", name)
	return why

def test_release(all_):
	o = [o for o in all_ if o["kind"] == "kernel"][0]
	here = [int(n) for n in os.uname().release.split("-")[0].split(".")[:2]]
	number = lambda text: [int(n) for n in text.split(".")[:2]]
	why = differ(o["fits"], True, "fits " + os.uname().release)
	if not number(o["has"]) <= here or ("before" in o and not here < number(o["before"])):
		why.append("%s has %s, before %s" % (os.uname().release, o["has"], o.get("before")))
	for f in all_:
		if "known" in f and f["known"] == "no" and f["name"] not in o["missing"]:
			why.append(f["name"] + " is not among the missing")
	return why

# ---- the form --------------------------------------------------------------------

def test_text(all_):
	"""Text and JSON agree."""
	kind, rows = None, []
	for line in text().splitlines():
		if not line.startswith(" "):
			kind = line.split(":")[0]
			continue
		m = re.match(r"  (\S+(?: \(\w+\))?) +(yes|dead|accepted|no|untried) +([\d.]+|-)(?:  +(.*))?$",
			     line)
		if m and kind not in ("kernel", "here"):
			rows.append((kind,) + m.groups())
	want = [(o["kind"], o["name"], o["result"], o.get("since", "-"))
		for o in all_ if "result" in o]
	why = differ([r[:4] for r in rows], want, "rows")
	by_name = {(r[0], r[1]): r[4] or "" for r in rows}
	for o in all_:
		if "result" not in o:
			continue
		said = by_name.get((o["kind"], o["name"]), "")
		for key in ("error", "on", "rule", "why"):
			word = o.get(key, "")
			if word not in said and {"ENOTSUP": "EOPNOTSUPP"}.get(word, "") not in said:
				why.append("%s: %s '%s' is not in '%s'" % (o["name"], key, o[key], said))
	for o in all_:
		for line in o.get("limits", []):
			if "  " + line not in text().splitlines():
				why.append("not in the text: " + line)
	return why

def without_breakpoints(error, when):
	"""Try features of breakpoints where an error takes the place of the kernel's answer."""
	r = subprocess.run([PEVTRACE, "-f", "-o", "/dev/null", "-e", "inject=perf_event_open:error=%s:%s"
			    "when=type==PERF_TYPE_BREAKPOINT" % (error, when), PEVTRACE, "list", "--tried", "--json",
			    "bp_type", "bp_addr", "bp_len", "breakpoint", "PERF_TYPE_BREAKPOINT"],
			   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	return r, [json.loads(l) for l in r.stdout.splitlines()]

def test_busy():
	"""Breakpoints of which others have all are not refused by the kernel."""
	why = []
	for error in ("ENOSPC", "EBUSY"):
		r, got = without_breakpoints(error, "")
		why += differ({(o["kind"] == "instrument", o.get("result", o.get("verdict")), o.get("why"))
			       for o in got}, {(False, "untried", "all breakpoints are in use")},
			      error + r.stderr)
	return why

def test_nothing_to_try(tmp):
	"""Without /proc and tracefs, uprobes and tracepoints are not said to be refused, and the table of
	instruments has the reasons."""
	r = subprocess.run(["unshare", "-m", "sh", "-c", "for d in /proc /sys/kernel/tracing /sys/kernel/debug; do "
			    "mount -t tmpfs none $d; done; exec \"$0\" list --tried", PEVTRACE],
			   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	lines = [l.split(None, 3) for l in r.stdout.splitlines() if l.startswith("  ")]
	said = {l[0]: (l[1], l[-1]) for l in lines if len(l) > 3}
	probe, number = "/proc/self/exe cannot be found", "tracefs cannot be read, which has the numbers"
	want = [("PERF_TYPE_TRACEPOINT", "untried", number), ("tracepoint", "unknown", number)]
	if os.path.exists(DEVICES + "/uprobe"):
		want += [("uprobe_path", "untried", probe), ("uprobe", "unknown", probe)]
	if said["aux"][0] == "absent" and not re.search(": E[A-Z]+$", said["aux"][1]):
		want += [("aux", "absent", "no PMU here has AUX areas")]
	return [str((n, said.get(n))) for n, verdict, words in want
		if n not in said or said[n][0] != verdict or words not in said[n][1]]

def test_busy_for_a_moment(all_):
	"""A breakpoint that is refused once, as others have all, opens when it is tried again."""
	r, got = without_breakpoints("ENOSPC", "when=1:")
	results = lambda objects: {(o["name"], o["result"]) for o in objects if "result" in o}
	return differ(sorted(results(got) - results(all_)), [], "results") + differ(r.returncode, 0, r.stderr) + \
		differ(len(got) > 10, True, "features")

def test_stable():
	"""Beside busy processes, whose turns come between any two steps, nothing changes."""
	busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
		for _ in range(max(8, 2 * os.cpu_count()) if sp.LONG else 2 * os.cpu_count())]
	try:
		two = run().stdout
	finally:
		for p in busy:
			p.kill()
			p.wait()
	return [] if text() == two else \
		[a + " | " + b for a, b in zip(text().splitlines(), two.splitlines()) if a != b]

def test_words():
	why = differ({o["kind"] for o in objects("read_format")}, {"read_format"}, "a kind")
	for word, name in (("precise_ip", "precise_ip"), ("IDENTIFIER", "PERF_SAMPLE_IDENTIFIER"),
			   ("SAMPLE_IP", "PERF_SAMPLE_IP"),
			   ("perf_format_lost", "PERF_FORMAT_LOST")):
		why += differ([o["name"] for o in objects(word)], [name], word)
	kinds = {o["kind"] for o in objects("ioctl", "size")} - {"instrument"}
	return why + differ(sorted(kinds), ["ioctl", "size"], "two kinds")

def test_misuse(tmp):
	why = []
	for args, word in ((["bogus"], "no such kind or feature"), (["-@"], "unknown option"),
			   (["-o"], "requires an argument"), (["--color=pink"], "always, never or auto"),
			   (["-o", "/nonexistent/x", "size"], "cannot write")):
		r = run(*args)
		why += differ((r.returncode, word in r.stderr, r.stdout), (2, True, ""), str(args))
	r = run("size", stdin=subprocess.DEVNULL)
	out = os.path.join(tmp, "out")
	why += differ((run("-o", out, "size").stdout, open(out).read()), ("", r.stdout), "-o")
	why += differ("\033[" in run("--color", "size").stdout, True, "--color")
	with open("/dev/full", "w") as full:
		p = subprocess.run([PEVTRACE, "list", "--tried", "size"], stdout=full,
				   stderr=subprocess.PIPE)
	why += differ(p.returncode, 2, "a full disk")
	return why + differ(run("--help").returncode, 0, "--help")

# ---- rights ----------------------------------------------------------------------

def for_all(tmp):
	os.chmod(tmp, 0o755)
	return shutil.copy(PEVTRACE, os.path.join(tmp, "pevtrace"))

def test_nobody(tmp):
	got = objects(program=for_all(tmp), preexec_fn=sp.as_nobody())
	here = got[-1]
	attr = named(got, "attr")
	why = differ(here["capabilities"], "0x0", "capabilities")
	for name, rule in (("namespaces", "namespaces_privilege"),
			   ("uprobe_path", "uprobe_privilege")):
		if attr[name]["result"] != "untried":
			why += differ((attr[name]["result"], attr[name].get("error"),
				       attr[name].get("rule")), ("no", "EACCES", rule), name)
		if name == "namespaces":
			why += differ(any("more privilege" in l and name in l for l in here["limits"]),
				      True, "limits: %s" % here["limits"])
	if machine.setting("paranoid") == 2:
		o = named(got, "sample_type")["PERF_SAMPLE_PHYS_ADDR"]
		why += differ((o["result"], o.get("error")), ("no", "EACCES"), "PHYS_ADDR")
		why += differ(any("paranoid is 2" in l for l in here["limits"]), True, "paranoid")
	for name in ("comm", "mmap", "sigtrap", "inherit"):
		why += differ(attr[name]["result"], "yes", name)
	kernel = got[-2]
	return why + differ((kernel["kind"], kernel["fits"]), ("kernel", True), "release")

def test_hidden_level(tmp):
	"""A rule that rests on a perf_event_paranoid that cannot be read is named as perhaps the reason."""
	hide = ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /proc/sys && exec setpriv --reuid=65534 "
		"--clear-groups \"$@\"", "sh", for_all(tmp), "list", "--tried"]
	got = [subprocess.run(hide + more + ["PERF_SAMPLE_PHYS_ADDR"], stdout=subprocess.PIPE,
			      universal_newlines=True, timeout=300).stdout for more in ([], ["--json"])]
	return differ("perhaps by rule" in got[0], True, got[0]) + \
	       differ(json.loads(got[1].splitlines()[0]).get("sure"), False, got[1])

def test_denied(error):
	"""When a filter fails every call, nothing is reported as refused by the kernel."""
	got = objects(preexec_fn=pe.forbid(error))
	why = differ({(o["result"], errno.errorcode[error] in o["why"]) for o in got
		      if "result" in o}, {("untried", True)}, "results")
	for o in got:
		if o.get("known") == "no":
			why.append("%s is said to be unknown to the kernel" % o["name"])
	why += differ(any("allow perf_event_open in its profile" in l for l in got[-1]["limits"]), True,
		      "seccomp")
	return why + differ("has" in got[-2], False, "release")

def test_few_descriptors():
	"""Descriptors left open would exhaust the limit."""
	def few():
		resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
	return differ(run(preexec_fn=few).stdout, text(), "with 16 descriptors")

def test_no_descriptors():
	"""With too few descriptors an error is reported, unless the hard limit allows more."""
	why = []
	for n in (4, 5, 8):
		r = run(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (n, n)))
		why += differ((r.returncode, r.stdout, "EMFILE" in r.stderr and
			       "ulimit -n" in r.stderr), (2, "", True), "%d: %s" % (n, r.stderr))
	r = run("size", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (5, 64)))
	return why + differ((r.returncode, r.stdout), (0, run("size").stdout), "5, and 64 hard")

def test_no_processes(tmp):
	"""If no child can be created, nothing is reported about the kernel."""
	program = for_all(tmp)
	why = []
	for n in (1, 2):
		def few():
			sp.as_nobody()()
			resource.setrlimit(resource.RLIMIT_NPROC, (n, n))
		r = run("attr", program=program, preexec_fn=few)
		why += differ((r.returncode, r.stdout, "ulimit -u" in r.stderr), (2, "", True),
			      "%d: %s" % (n, r.stderr))
	return why

def test_leaves_nothing():
	"""The process has no event but that which keeps a tracepoint, and no child remains."""
	pe.LIBC.prctl(36, 1, 0, 0, 0) # become the parent of orphans
	p = subprocess.Popen([PEVTRACE, "list", "--tried", "attr", "ioctl"], stdout=subprocess.DEVNULL)
	why, most, folder = [], 0, "/proc/%d/fd" % p.pid
	while p.poll() is None:
		try:
			links = [os.readlink(os.path.join(folder, fd)) for fd in os.listdir(folder)]
		except OSError:
			continue
		most = max(most, len(links))
		# not a sysctl such as perf_event_paranoid
		if sum("[perf_event]" in l for l in links) > 1:
			why.append("events are open in pevtrace itself")
			break
		time.sleep(0.002)
	p.wait()
	try:
		why.append("a child is left: %s" % (os.waitpid(-1, os.WNOHANG),))
	except ChildProcessError:
		pass
	pe.LIBC.prctl(36, 0, 0, 0, 0)
	return why + ([] if most < 12 else ["%d descriptors were open" % most])

def test_schema(all_):
	with open(os.path.join(HERE, "..", "share", "pevtrace", "list.schema.json"), encoding="utf-8") as f:
		validator = rp.jsonschema.Draft7Validator(json.load(f))
	return [str(e)[:200] for o in all_ for e in validator.iter_errors(o)]

def test_all_cpus():
	quiet = named(objects("call"), "call")
	loud = named(objects("--all-cpus", "call"), "call")
	why = differ(quiet["pid=-1"]["result"], "untried", "without the option")
	return why + differ(loud["pid=-1"]["result"], "yes", "--all-cpus") + \
		differ(named(objects("-a", "call"), "call")["pid=-1"]["result"], "yes", "-a")

def main():
	if not PEVTRACE:
		sp.skip_all("PEVTRACE is not set")
	here = pe.call(pe.attr(config=9, exclude_kernel=1)) if pe.NR else -1
	if here < 0:
		sp.skip_all("perf_event_open does not work here")
	os.close(here)
	tmp = tempfile.mkdtemp(prefix="pevtrace-features-")
	all_ = objects()
	x86 = None if os.uname().machine == "x86_64" else "written for x86-64"
	another = machine.lacks("another user")
	tests = [
		("the kernel's BTF", lambda: test_btf(all_),
		 None if os.access(BTF, os.R_OK) else BTF + " cannot be read"),
		("--json is as its schema says", lambda: test_schema(all_),
		 None if rp.jsonschema else "python3-jsonschema is not installed"),
		("bits of the attr", lambda: test_bits(all_), None),
		("bits of masks", lambda: test_samples(all_), None),
		("clocks", lambda: test_clocks(all_), None),
		("events", lambda: test_events(all_), x86),
		("ioctls", lambda: test_ioctls(all_), None),
		("PMUs", lambda: test_pmus(all_), None if os.path.isdir(DEVICES) else "no " + DEVICES),
		("perf", lambda: test_perf(all_), None if shutil.which("perf") else "perf is not installed"),
		("what was seen", lambda: test_effects(all_), x86),
		("the release", lambda: test_release(all_), None),
		("text and JSON", lambda: test_text(all_), None),
		("breakpoints in use", test_busy, None),
		("nothing to try it on", lambda: test_nothing_to_try(tmp), machine.lacks("mounts")),
		("breakpoints in use for a moment", lambda: test_busy_for_a_moment(all_), x86),
		("a busy machine", test_stable, None), ("words", test_words, None),
		("misuse", lambda: test_misuse(tmp), None),
		("an ordinary user", lambda: test_nobody(tmp), another),
		("a hidden perf_event_paranoid", lambda: test_hidden_level(tmp),
		 another or machine.lacks("mounts") or machine.lacks("restricted users")),
		("a seccomp filter: EPERM", lambda: test_denied(errno.EPERM), None),
		("a seccomp filter: EACCES", lambda: test_denied(errno.EACCES), None),
		("a seccomp filter: ENOSYS", lambda: test_denied(errno.ENOSYS), None),
		("few descriptors", test_few_descriptors, None),
		("too few descriptors", test_no_descriptors, None),
		("no processes", lambda: test_no_processes(tmp), another),
		("nothing is left", test_leaves_nothing, None),
		("--all-cpus", test_all_cpus, machine.lacks("whole CPUs")),
	]
	words = sys.argv[1:]
	for name, fn, lacks in tests:
		if words and not any(w in name for w in words):
			continue
		if lacks:
			TAP.skip(name, lacks)
		else:
			check(name, fn)
	shutil.rmtree(tmp, ignore_errors=True)
	return TAP.done()

if __name__ == "__main__":
	sys.exit(main())
