#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace explain of calls, compared with other sources:

  failing  calls that fail on purpose: the kernel's errno, the check that
           pevtrace why --once finds by trying
  nobody   an ordinary user, who is refused
  rights   the release that an open requires, against what --as-kernel refuses;
           the rights, against the kernel's answer to a user
  kernel   the functions: in kallsyms, and by the stacks of a program that makes
           these calls: who is called on behalf of whom
  nothing_more  what a call does not do is not said
  one      one call, by its attr, its event, its line
  instead  what opened in place of what failed
  clocks   how many samples per second and in which mode, of CPUs that differ
  not_sampled  what took no samples, or needs no ring
  regressions  what kernels of some releases do wrongly
  attached what is not known of a process that was running before
"""

import os
import random
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import machine
import perf_event as pe
from programs import run
import ringparse as rp
from stories import Dump, FAILING, PERF, PEVTRACE, Story, XLAT, explain, failing, squash, \
	trace
import straceparse as sp

UPROBE = """
import ctypes, os, struct, sys
path = ctypes.create_string_buffer(sys.argv[1].encode())
with open("/sys/bus/event_source/devices/uprobe/type") as f:
	kind = int(f.read())
attr = bytearray(136)
struct.pack_into("<IIQQQQQ", attr, 0, kind, 136, 0, 0, 0, 0, 1)
struct.pack_into("<QQ", attr, 56, ctypes.addressof(path), 0x40)
nr = {"x86_64": 298, "aarch64": 241, "riscv64": 241}[os.uname().machine]
raise SystemExit(ctypes.CDLL(None).syscall(nr, bytes(attr), 0, -1, -1, ctypes.c_ulong(8)) < 0)
"""

def test_uprobe_path(tap, tmp):
	"""The path is told whole, where the attr has a pointer; the event is named after it."""
	path = os.path.join(tmp, "a-directory-of-a-long-name", "probed")
	os.mkdir(os.path.dirname(path))
	with open(path, "wb") as f:
		f.write(b"\0" * 4096)
	machine.need("uprobes")
	dump, r = trace(tmp, "uprobe", [sys.executable, "-c", UPROBE, path])
	text = squash(explain(["--deep", dump]).stdout)
	tap.ok('uprobe_path="%s"' % path in text and "uprobe:probed+0x40 (fd" in text,
	       "the path of a uprobe", [text])
	r = run(PEVTRACE, "--summary", sys.executable, "-c", UPROBE, path)
	tap.ok('uprobe_path="%s", ' % path in r.stderr and "uprobe:probed+0x40: " in r.stderr,
	       "no path is cut in a trace", [r.stderr])

def test_release(tap, tmp):
	for attr, since, before in (("write_backward=1", "4.7", "4.6"),
				    ("context_switch=1", "4.3", "4.2"),
				    ("sample_period=1,sample_type=PERF_SAMPLE_CGROUP", "5.7", "5.6"),
				    ("inherit=1,read_format=PERF_FORMAT_GROUP", "4.13", "4.12"),
				    ("ksymbol=1", "5.1", "5.0")):
		text = squash(explain(["-e", "cpu-clock:u," + attr]).stdout)
		refused = [run(PEVTRACE, "--as-kernel", r, "-o", "/dev/null", PEVTRACE, "open", "-e",
				"cpu-clock:u," + attr, "true").returncode != 0
			   for r in (since, before)]
		tap.ok(re.search(r"Requires Linux %s[ ,]" % since, text) and refused == [False, True],
		       "%s requires Linux %s" % (attr, since), [text, refused])

OPENER = """
import sys
sys.path.insert(0, sys.argv[1])
import perf_event as pe
import os
for line in sys.stdin:
	fd = pe.call(bytes.fromhex(line))
	print(fd if fd < 0 else 0)
	if fd >= 0:
		os.close(fd)
"""

def test_as_kernel(tap):
	"""explain --as-kernel=X -- COMMAND is pevtrace --as-kernel=X --explain COMMAND."""
	r = explain(["--as-kernel=5.4", "--", PEVTRACE, "open", "-q", "-e", "cpu-clock,read_format=16", "true"])
	tap.ok("failed: cpu-clock" in squash(r.stdout) and "injected this error" in squash(r.stdout),
	       "explain --as-kernel of a command", [r.stdout, r.stderr])
	r = explain(["--as-kernel=5.4", "cpu-clock"])
	tap.ok(r.returncode == 2 and "requires -- COMMAND" in r.stderr, "and of nothing else", [r.stderr])

def opened(attrs, *as_kernel):
	"""Return the results of these opens: 0 or -errno."""
	r = run(PEVTRACE, *as_kernel, "-o", "/dev/null", sys.executable, "-c", OPENER,
		os.path.dirname(pe.__file__), input="".join(a.hex() + "\n" for a in attrs))
	return [int(line) for line in r.stdout.split()]

def random_attr(rng):
	"""An attr of an event that needs no hardware, with members and bits of all releases."""
	bits = ["inherit", "pinned", "exclude_user", "exclude_hv", "exclude_idle", "mmap", "comm",
		"task", "mmap_data", "sample_id_all", "exclude_guest", "mmap2", "comm_exec", "use_clockid",
		"context_switch", "write_backward", "namespaces", "ksymbol", "bpf_event", "cgroup", "build_id",
		"inherit_thread", "remove_on_exec", "exclude_callchain_user", "enable_on_exec", "inherit_stat"]
	kw = {b: 1 for b in rng.sample(bits, rng.randrange(5))}
	kw["read_format"] = rng.choice([0, 0, 1, 3, 4, 8, 12, 16, 24])
	if rng.random() < .6:
		kw["sample_period"] = 1000000
		kw["sample_type"] = sum(1 << b for b in rng.sample([*range(11), 14, *range(16, 26)], 3))
	if kw.get("use_clockid"):
		kw["clockid"] = rng.choice([0, 1, 4, 7, 11])
	return pe.attr(rng.choice([pe.SW, pe.SW, pe.BP]), config=rng.randrange(12), size=136, disabled=1,
		       bp_type=3, bp_addr=0x1000, bp_len=4, **kw)

def test_oldest(tap, _tmp):
	"""The release that a call requires is the oldest as which --as-kernel lets it pass."""
	rng = random.Random(41)
	attrs = [random_attr(rng) for _ in range(400)]
	attrs = [a for a, r in zip(attrs, opened(attrs)) if not r][:120]
	groups = {}
	for a in attrs:
		text = squash(explain(["--attr=" + a.hex()]).stdout)
		m = re.search(r"Requires Linux (\d+)\.(\d+)(?:\.(\d+))?", text)
		groups.setdefault(tuple(int(n or 0) for n in m.groups()), []).append(a)
	def before(major, minor, sub):
		if major == 2:
			return "2.6.%d" % (sub - 1)
		return "%d.%d" % (major, minor - 1) if minor else {3: "2.6.39", 4: "3.19", 5: "4.20", 6: "5.19",
								       7: "6.19"}[major]
	wrong = []
	for release, members in groups.items():
		name = "2.6.%d" % release[2] if release[0] == 2 else "%d.%d" % release[:2]
		if any(opened(members, "--as-kernel=" + name)):
			wrong.append(("refused as of " + name, opened(members, "--as-kernel=" + name),
				      [a.hex() for a in members]))
		if name != "2.6.32" and not all(opened(members, "--as-kernel=" + before(*release))):
			wrong.append(("passes as of " + before(*release), [a.hex() for a in members]))
	tap.ok(len(groups) > 8 and not wrong, "%d random opens: the oldest release" % len(attrs),
	       [sorted((k, len(v)) for k, v in groups.items())] + wrong)

def test_rights(tap, tmp):
	machine.need("another user")
	level = machine.setting("paranoid")
	os.chmod(tmp, 0o755)
	for event, args in (("cpu-clock,exclude_kernel=0", []), ("cpu-clock:u", []), ("dummy:u", []),
			    ("cpu-clock:u", ["-a"]), ("cs,exclude_kernel=0", []),
			    ("cpu-clock:u,namespaces=1", [])):
		path = os.path.join(tmp, "rights.json")
		r = run(PEVTRACE, "--json=" + path, "-o", "/dev/null", PEVTRACE, "open", "-e", event, *args,
			"true")
		m = re.search(r"An ordinary user needs (?:CAP_PERFMON, or perf_event_paranoid (-?\d) or below(?: \(2 with "
			      r"([^)]*)\))?|a capability \(check \w+\))(?: for |\.)", squash(explain([path]).stdout))
		r = run(PEVTRACE, "open", "-e", event, *args, "true", preexec_fn=sp.as_nobody())
		may = bool(m and m.group(1)) and level <= int(m.group(1))
		if m and m.group(2) == "exclude_kernel=1" and level <= 2:
			tap.ok(run(PEVTRACE, "open", "-e", event + ",exclude_kernel=1", *args, "true",
				   preexec_fn=sp.as_nobody()).returncode == 0,
			       "%s: with the change that is named" % event, [m.group(0)])
		tap.ok(m and may == (r.returncode == 0),
		       "%s: may an ordinary user open it at level %d?" % (" ".join([event] + args),
									  level),
		       [m and m.group(0), r.returncode, r.stderr])

def test_failing(tap, tmp):
	cases = [("bits", "open_(sample=1 << 40)", "EINVAL", "sample_type_bits"),
		 ("config", "open_(config=77)", "ENOENT", "software_config"),
		 ("branch", "open_(config=9, sample=1 << 11, period=1)", "EINVAL", "branch_kind"),
		 ("flags", "open_(fl=1 << 20)", "EINVAL", "flags_unknown"),
		 ("size", "open_(size=8)", "E2BIG", "size_range"),
		 ("nowhere", "open_(pid=-1, cpu=-1)", "EINVAL", "cpu_range"),
		 ("gone", "open_(pid=4194303)", "ESRCH", "no_task"),
		 ("weights", "open_(sample=1 << 14 | 1 << 24)", "EINVAL", "weights")]
	for name, code, error, rule in cases:
		path, r = failing(tmp, name, code)
		story, dump = Story(path), Dump(path)
		chapter = "\n".join(story.chapters.get("Page", []))
		tap.ok(dump.failures() and dump.failures()[0]["error"] == error and
		       error in chapter and re.search(r"\b%s:" % rule, chapter) and
		       "Remedy: " in chapter,
		       "%s: %s, by %s" % (code, error, rule), [chapter, dump.failures()[:1]])
	# a dump names the PMUs of its machine, if it has records
	path, r = failing(tmp, "type", "open_(type=99)")
	unsure = Story(path)
	listed = "HEADER_PMU_MAPPINGS" in Dump(path).lines[0].get("features", {})
	tap.ok(unsure.has("Page", "Refused by the kernel check no_pmu: ") if listed else
	       unsure.has("Page", "Perhaps refused by no_pmu: "), "that no PMU has a type", [unsure.text[-900:]])
	with open(path) as f:
		lines = f.read().replace('"HEADER_PMU_MAPPINGS"', '"HEADER_OTHER"')
	with open(path, "w") as f:
		f.write(lines)
	unsure = Story(path)
	tap.ok(unsure.has("Page", r"Perhaps refused by (the kernel check )?no_pmu: "),
	       "a check that may have refused it is called so", [unsure.text[-900:]])
	path, r = failing(tmp, *cases[-1][:2])
	kernel = Story(path, ["--kernel"]).text
	tap.ok("perf_try_init_event: " in kernel and "fd_install: " in kernel and
	       "__perf_event_task_sched_in: " not in kernel,
	       "where all was refused, --kernel tells the way of an open all the same", [kernel])
	tap.ok(story.has("Page", r"measured nothing. Its only open failed: "), "and that nothing is measured",
	       [story.text[:600]])
	others = [("refresh", "fcntl.ioctl(open_(), 0x2402, 1)", "PERF_EVENT_IOC_REFRESH", "EINVAL",
		   "does not sample"),
		  ("pages", "mmap.mmap(open_(period=1 << 30), 4 * 4096)", "mmap", "EINVAL",
		   "power of two"),
		  ("short", "os.read(open_(read=3), 8)", "read", "ENOSPC", "smaller"),
		  ("what", "fcntl.ioctl(open_(), 0x24ff, 0)", "ioctl", "ENOTTY", "request"),
		  ("filter", "fcntl.ioctl(open_(), 0x40082406, b'x == 1' + bytes(8))",
		   "PERF_EVENT_IOC_SET_FILTER", "EINVAL", "does not support filters")]
	for name, code, call, error, says in others:
		path, r = failing(tmp, name, "quiet(lambda: %s)" % code)
		story = Story(path)
		tap.ok(story.has("Page",
				 r"Failed: %s on .*: %s .*%s" % (call, error, says)),
		       "%s fails with %s, and why" % (call, error), [story.text[-600:]])

def test_nobody(tap, tmp):
	machine.need("another user")
	if machine.setting("paranoid") < 2:
		return tap.skip("an ordinary user", "perf_event_paranoid is below 2")
	os.chmod(tmp, 0o755)
	path = os.path.join(tmp, "nobody.json")
	open(path, "w").close()
	os.chmod(path, 0o666)
	r = run(PEVTRACE, "-o", "/dev/null", "--json=" + path, "/usr/bin/python3", "-c", FAILING,
		"open_(flags=0)", preexec_fn=sp.as_nobody())
	if r.returncode:
		return tap.skip("an ordinary user", "who may not run this build")
	story, dump = Story(path), Dump(path)
	tap.ok(dump.failures() and dump.failures()[0]["error"] == "EACCES" and
	       story.has("Page",
			 r"EACCES .*kernel_privilege: .*perf_event_paranoid") and
	       story.has("Page", "lower kernel.perf_event_paranoid"),
	       "an ordinary user: refused for want of rights, and what to do",
	       [story.text, r.stderr])

OPENS = """
import ctypes, fcntl, mmap, os, select, struct, time
libc = ctypes.CDLL(None, use_errno=True)
buf = ctypes.create_string_buffer(struct.pack("<IIQQQQQ", 1, 64, 0, 250000, 3, 0, 1 << 5) +
				  bytes(16))
end = time.time() + 3
while time.time() < end:
	fd = libc.syscall(298, buf, 0, -1, -1, 8)
	m = mmap.mmap(fd, 8192, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
	fcntl.ioctl(fd, 0x2401, 0)
	fcntl.ioctl(fd, 0x2400, 0)
	os.read(fd, 8)
	select.select([fd], [], [], 0)
	m.close()
	os.close(fd)
"""

# Functions called in a step: one of these is above them in the stack.
ABOVE = {"copy": "perf_event_open", "pmu": "perf_event_open", "rights": "perf_event_open",
	 "init_cpu_clock": "perf_event_open", "init_software": "perf_event_open",
	 "install": "perf_event_open|openat|memfd|pipe|do_sys|x64_sys",
	 "ioctl": "x64_sys_ioctl", "enable": "x64_sys_ioctl", "disable": "x64_sys_ioctl",
	 "mmap": "x64_sys_mmap|ksys_mmap", "munmap": "munmap|exit",
	 "read": "read|perf_release|task_work|close|fput", "close": "fput|close|task_work"}

def steps():
	"""(step, function, kind) of xlat/kernel.in."""
	with open(os.path.join(XLAT, "kernel.in")) as f:
		rows = [re.split("\t+", line.rstrip("\n")) for line in f
			if line[:1] not in "#%\n"]
	return [(r[0], r[1], r[3]) for r in rows]

def test_symbols(tap):
	with open("/proc/kallsyms") as f:
		names = {line.split()[2] for line in f}
	if "perf_poll" not in names:
		return tap.skip("functions of the kernel", "kallsyms has no perf_poll")
	part = lambda n: {n} | {n + s for s in (".constprop.0", ".isra.0", ".part.0", ".cold")}
	x86, arm64 = (os.uname().machine == m for m in ("x86_64", "aarch64"))
	missing = [n for step, n, kind in steps() if not part(n) & names and
		   (kind == "symbol" or kind == "x86" and x86 or kind == "arm64" and arm64)]
	tap.ok(not missing, "the functions of xlat/kernel.in are in this kernel", [missing])
	optional = [n for step, n, kind in steps() if kind == "optional" and not part(n) & names]
	kprobes = os.path.exists("/sys/bus/event_source/devices/kprobe")
	tap.ok(all(("kprobe" in n and not kprobes) for n in optional),
	       "those of optional parts are there, where the part is", [optional])

def test_stacks(tap, tmp):
	data = os.path.join(tmp, "stacks.data")
	subprocess.run([PEVTRACE, PERF, "record", "-q", "-g", "-e", "cpu-clock", "-F", "10000", "-o", data,
			"/usr/bin/python3", "-c", OPENS], stdout=subprocess.DEVNULL,
		       stderr=subprocess.DEVNULL)
	out = subprocess.run([PEVTRACE, PERF, "script", "-i", data, "-F", "ip,sym"], text=True,
			     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
	chains = [[line.split()[1] for line in c.split("\n") if len(line.split()) > 1]
		  for c in out.split("\n\n")]
	where = {}
	for step, name, kind in steps():
		if step in ABOVE:
			where.setdefault(name, []).append(ABOVE[step])
	seen, strays = set(), []
	for chain in chains:
		for i, name in enumerate(chain):
			if name not in where:
				continue
			seen.add(name)
			if not re.search("|".join(where[name]), " ".join(chain[i:])):
				strays.append((name, chain[i:]))
	if len(seen) < 5:
		return tap.skip("who calls the kernel's functions",
				"the kernel's stacks are not to be had")
	# some stacks may be incomplete, but not most of them
	tap.ok(len(strays) * 20 < len(chains),
	       "%d functions were seen at work in the calls they are told for" % len(seen),
	       strays[:3])

def test_told(tap, tmp):
	# perf does not poll if its command has ended by then, as on a busy machine
	for seconds in ("0", "1", "10"):
		path, r = trace(tmp, "told", [PERF, "record", "-q", "-o", "/dev/null", "-e", "cpu-clock",
					      "sleep", seconds])
		story = Story(path, ["--kernel"])
		if "perf_poll: " in story.text:
			break
	order = [n for step in ("copy", "target", "pmu", "init_cpu_clock", "rights", "install",
				"schedule") for s, n, k in steps() if s == step]
	told = re.findall(r"^    (\w+): ", story.text, re.M)
	at = told.index(order[0]) if order[0] in told else 0
	tap.ok(told[at:at + len(order)] == order, "the steps of perf_event_open, in their order",
	       [told, order])
	for name in ("perf_mmap", "perf_swevent_hrtimer", "perf_event_output_forward",
		     "perf_event_exec", "perf_poll", "perf_release", "perf_event_mmap"):
		tap.ok(name in told, "--kernel tells of " + name)
	tap.ok(not re.findall(r"^    (\w+): ", Story(path).text, re.M),
	       "and without --kernel none is told of")
	stat, r = trace(tmp, "told2", [PERF, "stat", "-x,", "-o", "/dev/null", "-e", "cs", "true"])
	told = re.findall(r"^    (\w+): ", Story(stat, ["--kernel"]).text, re.M)
	tap.ok("perf_read" in told and not {"perf_mmap", "perf_poll", "perf_swevent_hrtimer"} &
	       set(told), "what did not come about is not told of", [told])

READ_ONLY_RING = """
import select
fd = open_(period=1000000, sample=0, flags=1 << 5 | 1 << 6 | 1 << 8 | 1 << 18 | 1 << 20)
m = mmap.mmap(fd, 3 * mmap.PAGESIZE, mmap.MAP_SHARED, mmap.PROT_READ)
fcntl.ioctl(fd, 0x40042409, 1)
fcntl.ioctl(fd, 0x40042409, 1)
p = select.poll()
p.register(fd, select.POLLERR | select.POLLHUP)
p.poll(1)
"""

def test_nothing_more(tap, tmp):
	"""Nothing is said of a call that it does not do."""
	text = Story(failing(tmp, "ring", READ_ONLY_RING)[0]).text
	for what, said, unsaid in (
			("a poll for errors and ends", "waits with poll (1 ms at most) for errors or the end of fd 3. ",
			 "half full or"),
			("a ring that was paused only", "paused output of fd 3, twice", "resumed"),
			("an overwritten ring", "new records overwrite the oldest", "none lost"),
			("exclude_ bits", "excludes kernel mode; on such an event exclude_hv and exclude_guest "
			 "have no effect", "kernel mode and"),
			("sample_id_all", "sample_id_all=1: no effect: sample_type selects nothing that it adds",
			 None),
			("skid of a clock", "where interrupts were disabled, that is the one that enables them "
			 "again", "without skid")):
		tap.ok(said in text and (unsaid is None or unsaid not in text), what, [said, unsaid, text])
	text = Story(failing(tmp, "gave_up", "open_(config=77); open_(pid=4194303, read=16)")[0]).text
	tap.ok(": ESRCH (No such process), open 2. " in text and "Probes test" not in text,
	       "a refusal that ended it all was no test", [text])
	perf_data = os.path.join(tmp, "any.data")
	with open(perf_data, "wb") as f:
		f.write(b"PERFILE2" + bytes(96))
	for args in (["explain", "--attr=@" + perf_data], ["decode", "--attr=@" + perf_data],
		     ["decode", "--record=@" + perf_data], ["why", "@" + perf_data]):
		r = run(PEVTRACE, *args)
		tap.ok((r.returncode, r.stdout) == (2, "") and "is a perf.data file; pevtrace decode FILE" in
		       r.stderr, "%s of a perf.data file" % args[0], [r.stdout, r.stderr])

def test_one(tap, tmp):
	r = explain(["--attr", "{type=PERF_TYPE_SOFTWARE, size=136, config=PERF_COUNT_SW_DUMMY, "
		     "comm=1, comm_exec=1, sample_stack_user=64}"])
	text = squash(r.stdout)
	tap.ok(r.returncode == 0 and "counts nothing" in text and "a COMM record when" in text and
	       "sample_stack_user=64: no effect: requires "
	       "sample_type&PERF_SAMPLE_STACK_USER" in text, "an attr", [r.stdout, r.stderr])
	r = explain(["-e", "page-faults:u,sample_period=1000"])
	text = squash(r.stdout)
	tap.ok(r.returncode == 0 and "one sample every 1000 counts" in text and
	       "excludes kernel mode" in text, "an event", [r.stdout, r.stderr])
	tap.ok("would refuse" not in text, "and not that it is refused, as it opens", [text])
	for args, how in ((["-e", "cpu-clock:u,read_format=0x8000"],
			   "pevtrace why -e 'cpu-clock:u,read_format=0x8000' finds"),
			  (["--attr", "{type=1, size=136, exclude_kernel=1, read_format=0x8000}"],
			   "pevtrace why, given this attr, finds")):
		r = explain(args)
		text = squash(r.stdout)
		tap.ok(r.returncode == 0 and "would refuse it with EINVAL (Invalid argument), by rule "
		       "read_format_bits: " in text and how in text,
		       "what would be refused, by which rule: %s" % args[1], [r.stdout, r.stderr])
	path, r = failing(tmp, "one", "open_(pid=4194303)")
	with open(path) as f:
		line = next(i for i, x in enumerate(f, 1) if '"perf_event_open"' in x)
	r = explain(["%s:%d" % (path, line)])
	tap.ok(r.returncode == 0 and "task 4194303" in r.stdout and "ESRCH" in r.stdout,
	       "a line of a dump", [r.stdout, r.stderr])
	for args in ([], ["-e", "no-such-event"], ["--attr", "{nothing"], ["--attr=1", "-e", "cs"],
		     [path + ":1"], ["--width=1", "type"], ["--nothing"]):
		r = explain(args)
		tap.ok(r.returncode == 2 and r.stderr.startswith("pevtrace: "),
		       "misuse: %s" % args[:2], [r.returncode, r.stderr])

CHILD = """
def child(seconds):
	pid = os.fork()
	if not pid:
		__import__("time").sleep(seconds)
		os._exit(0)
	return pid
"""

def test_instead(tap, tmp):
	"""What opened later, and which of the opens that failed alike."""
	machine.need("events")
	path, r = failing(tmp, "instead", "a = dict(period=2000000, sample=1); open_(group=99, **a); "
			  "os.close(open_(period=1000000, sample=1)); open_(pid=-1, **a); open_(fl=64, **a); "
			  "open_(fl=64, period=1, sample=1 << 40, config=3); "
			  "fcntl.ioctl(open_(**a), 0x2400, 0)")
	text = squash(Story(path, []).text)
	tap.ok("cpu-clock:u (EBADF), cpu-clock:u (EINVAL, open 3, 4). Later, cpu-clock:u opened as fd 3"
	       in text and "context-switches:u (EINVAL), which nothing replaced" in text,
	       "a failed open of another group, CPU or flag is replaced; a probe in between is not what did it",
	       [text])
	path, r = failing(tmp, "other_task", CHILD + "a = child(0); os.waitpid(a, 0); open_(pid=a); b = child(9); "
			  "os.read(open_(pid=b), 8); os.kill(b, 9)")
	text = squash(Story(path, []).text)
	tap.ok("failed: cpu-clock:u (ESRCH), which nothing replaced" in text and "Later" not in text,
	       "an event of another task replaces nothing", [text])

CLOCKS = """
c = min(os.sched_getaffinity(0))
os.sched_setaffinity(0, {c})
fds = [open_(pid=-1, cpu=c, period=p, sample=3, flags=0) for p in (1000000, 10000000)]
rings = [mmap.mmap(fd, 9 * os.sysconf("SC_PAGESIZE"), mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
	 for fd in fds]
end = __import__("time").monotonic() + .2
while __import__("time").monotonic() < end:
	os.getpid()
for fd in fds:
	fcntl.ioctl(fd, 0x2401, 0)
	os.read(fd, 8)
"""

def test_clocks(tap, tmp):
	machine.need("every task of a CPU")
	path, r = failing(tmp, "clocks", CLOCKS)
	records = [x["record"] for x in Dump(path).lines if x["kind"] == "record" and x["record"]["type"] == 9]
	modes = [sum(int(x["misc"], 16) & 7 == mode for x in records) for mode in (2, 1)]
	story = Story(path, [])
	tap.ok(story.has("Page", ", %d in user and %d in kernel mode" % tuple(modes)),
	       "how many samples are of user mode", [modes, story.text[:600]])
	idle = sum(x["tid"] == 0 for x in records)
	m = story.has("Page", r"kernel mode(?:, (\d+) of the idle task)?[,.]")
	tap.ok(m and int(m[1] or 0) == idle, "and how many of the idle task", [idle, m and m[0]])
	rates = [1e9 * int(row["RECORDS"]) / int(row["COUNT"].split()[0]) for row in story.table()]
	m = re.findall(r"[(;] ?CPU \d+: (\d+), (\d+) Hz", "\n".join(story.chapters["Page"]))
	tap.ok([(int(row["RECORDS"]), round(x)) for row, x in zip(story.table(), rates)] ==
	       [(int(n), int(hz)) for n, hz in m],
	       "rates that differ are told apart", [m and m[0], rates, story.text[:600]])

def test_not_sampled(tap, tmp):
	machine.need("events")
	text = squash(Story(failing(tmp, "never", "open_(period=2000000, flags=1 | 1 << 5)")[0], []).text)
	tap.ok("Samples: none, as the event was never enabled. Requires" in text,
	       "what was never enabled took no samples", [text])
	text = squash(Story(failing(tmp, "second", "a = open_(period=1 << 40); b = open_(period=1 << 40); "
				    "p = os.sysconf('SC_PAGESIZE'); r = mmap.mmap(a, 3 * p); fcntl.ioctl(b, 0x2405, a); "
				    "quiet(mmap.mmap, b, 4 * p)")[0], []).text)
	tap.ok(re.search(r"Failed: mmap on \S+ \(fd 4\): .*; it needs no mapping of its own: read the ring of fd 3\.",
			 text), "a redirected event needs no ring", [text])
	r = run(PEVTRACE, "codegen", "cpu-clock")
	tap.ok("generated by pevtrace codegen (Linux" in r.stdout, "codegen of an event knows of no session",
	       [r.stdout[:300], r.stderr])

ATTACHED = FAILING.replace("for word in", """
fd = open_(period=10000000)
ring = mmap.mmap(fd, 8192, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
print(os.getpid(), flush=True)
sys.stdin.readline()
fcntl.ioctl(fd, 0x2401, 0)
os.read(open_(config=2), 8)
for word in""")

def test_attached(tap, tmp):
	t = subprocess.Popen(["/usr/bin/python3", "-c", ATTACHED], text=True,
			     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
	path = os.path.join(tmp, "attached.json")
	p = subprocess.Popen(sp.WITHOUT_BPF * (not os.getuid()) +
			     [PEVTRACE, "-o", "/dev/null", "--json=" + path, "-p",
			      t.stdout.readline().strip()], text=True, stderr=subprocess.PIPE)
	p.stderr.readline()	# "attached to process"
	t.stdin.write("go\n")
	t.stdin.close()
	t.wait()
	p.communicate()
	story = Story(path)
	tap.ok(story.has("Page", r"fds? .*: (an )?events? opened before the trace began") and
	       "Samples: " not in story.text and "so no records" not in story.text,
	       "of an event that was there before, nothing is claimed", [story.text])

REFRESHED = """
import fcntl, mmap, sys
sys.path.insert(0, sys.argv[1])
import perf_event as pe
fd = pe.call(pe.attr(1, config=1, sample_period=1 << 40, disabled=1, inherit=int(sys.argv[2]), inherit_stat=1,
		     exclude_kernel=1), cpu=0)
ring = len(sys.argv) > 3 or mmap.mmap(fd, 3 * mmap.PAGESIZE)
fcntl.ioctl(fd, 0x2402 if sys.argv[2] == "0" else 0x2400, 1)
"""

def test_regressions(tap, tmp):
	"""What kernels of the dump's release do wrongly is told, and of others not."""
	hangs, missing = "PERF_EVENT_IOC_REFRESH can hang the machine", "READ records may be missing"
	for inherit, release, want in (("0", "6.17.3", hangs), ("0", "6.17.8", None), ("0", "6.16.8-x", hangs),
				       ("1", "6.17.3", missing), ("1", "6.19.0", None), ("1", "5.12.0", None),
				       ("1 without a ring", "6.17.3", None)):
		path, _ = trace(tmp, "refreshed", [sys.executable, "-c", REFRESHED, os.path.dirname(pe.__file__)] +
				inherit.split(" ", 1))
		with open(path, encoding="utf-8") as f:
			text = re.sub(r'"release":"[^"]*"', '"release":"%s"' % release, f.read(), count=1)
		with open(path, "w", encoding="utf-8") as f:
			f.write(text)
		text = squash(explain([path]).stdout)
		said = [w for w in (hangs, missing) if w in text]
		tap.ok(said == [want] * (want is not None), "regressions of %s: %s" % (release, want), [text[-900:]])

def own_tests(tap, tmp):
	return [("failing", lambda: test_failing(tap, tmp)),
		("nobody", lambda: test_nobody(tap, tmp)),
		("rights", lambda: (test_as_kernel(tap), test_release(tap, tmp), test_oldest(tap, tmp), test_rights(tap, tmp))),
		("kernel", lambda: test_symbols(tap)),
		("nothing_more", lambda: test_nothing_more(tap, tmp)),
		("one", lambda: test_one(tap, tmp)),
		("instead", lambda: test_instead(tap, tmp)),
		("clocks", lambda: test_clocks(tap, tmp)),
		("not_sampled", lambda: test_not_sampled(tap, tmp)),
		("attached", lambda: test_attached(tap, tmp)),
		("regressions", lambda: test_regressions(tap, tmp))]

def perf_tests(tap, tmp, tracefs):
	return [("uprobe", lambda: test_uprobe_path(tap, tmp)),
		("kernel", lambda: (test_stacks(tap, tmp), test_told(tap, tmp)))]

if __name__ == "__main__":
	sys.exit(rp.main("pevtrace-explain.", "perf record", own_tests, perf_tests))
