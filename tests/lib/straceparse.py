# SPDX-License-Identifier: LGPL-2.1-or-later
"""A reader of system call lines as strace and pevtrace print them, and a
small evaluator that gives symbolic values their numbers.

The numbers come from the system's headers and from the dictionaries here,
never from the tables that pevtrace is built from.

A value is one of
	Value(kind="atom", text="PERF_SAMPLE_IP|PERF_SAMPLE_TID")
	Value(kind="string", text='the characters between the quotes, escaped')
	Value(kind="struct", items=[(name or None, Value), ...])
	Value(kind="array", items=[(None, Value), ...])
and may carry comments and, where a call changes it, .after.

What cannot be read raises ParseError: a line is never skipped in silence.
"""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios

class ParseError(Exception):
	pass

class Value:
	def __init__(self, kind, text="", items=None):
		self.kind = kind
		self.text = text
		self.items = items or []
		self.comments = []
		self.after = None

	def get(self, name):
		for key, val in self.items:
			if key == name:
				return val
		return None

	def names(self):
		return [key for key, _ in self.items]

	def __str__(self):
		if self.kind == "string":
			s = '"' + self.text + '"'
		elif self.kind == "atom":
			s = self.text
		else:
			inner = ", ".join((k + "=" if k else "") + str(v)
					  for k, v in self.items)
			s = "{" + inner + "}" if self.kind == "struct" \
				else "[" + inner + "]"
		if self.after is not None:
			s += " => " + str(self.after)
		return s

class Call:
	def __init__(self, pid, name, args, result, note, line):
		self.pid = pid
		self.name = name
		self.args = args	# [(name or None, Value)]
		self.result = result	# "5", "-1 ENOENT", "0x7f..", "?"
		self.note = note	# the text after the result
		self.line = line

	def arg(self, n):
		return self.args[n][1]

	@property
	def failed(self):
		return self.result.startswith("-1")

	@property
	def ret(self):
		return int(self.result.split("<")[0].split()[0], 0)

ATOM = re.compile(r"[^\s,(){}\[\]\"=/]|/(?!\*)|=(?!>)")
NAMED = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*)=(?![=>])")

class Reader:
	def __init__(self, text, pos=0):
		self.s = text
		self.i = pos

	def fail(self, why):
		raise ParseError("%s at column %d: %s" %
				 (why, self.i, self.s[max(0, self.i - 30):self.i + 40]))

	def peek(self, lit):
		return self.s.startswith(lit, self.i)

	def take(self, lit):
		if not self.peek(lit):
			return False
		self.i += len(lit)
		return True

	def want(self, lit):
		if not self.take(lit):
			self.fail("expected " + repr(lit))

	def blank(self):
		while self.i < len(self.s) and self.s[self.i] in " \t":
			self.i += 1

	def comments(self, val):
		while True:
			save = self.i
			self.blank()
			if not self.take("/*"):
				self.i = save
				return
			end = self.s.find("*/", self.i)
			if end < 0:
				self.fail("comment without end")
			val.comments.append(self.s[self.i:end].strip())
			self.i = end + 2

	def string(self):
		start = self.i
		while self.i < len(self.s):
			if self.s[self.i] == "\\":
				self.i += 2
			elif self.s[self.i] == '"':
				val = Value("string", self.s[start:self.i])
				self.i += 1
				if self.take("..."):
					val.text += '"...'
				return val
			else:
				self.i += 1
		self.fail("string without end")

	def atom(self):
		"""Read an atom: text without separators; brackets may follow a name."""
		start = self.i
		depth = 0
		while self.i < len(self.s):
			c = self.s[self.i]
			if c == "<" and re.match(r"<[^<>|=]*[a-z/:][^<>]*>",
						 self.s[self.i:]) and self.i > start:
				# a descriptor's name: 5<anon_inode:[perf_event]>
				self.i = self.s.index(">", self.i) + 1
				continue
			if c == "(":
				if self.i == start and depth == 0:
					self.fail("bracket without a name")
				depth += 1
			elif c == ")":
				if depth == 0:
					break
				depth -= 1
			elif depth:
				pass
			elif not ATOM.match(self.s, self.i):
				break
			self.i += 1
		if depth or self.i == start:
			self.fail("no value")
		return Value("atom", self.s[start:self.i])

	def value(self):
		self.blank()
		if self.take("{"):
			val = Value("struct", items=self.members("}"))
		elif self.peek("~["):
			self.i += 2
			val = Value("array", text="~", items=self.members("]"))
		elif self.take("["):
			val = Value("array", items=self.members("]"))
		elif self.take('"'):
			val = self.string()
		else:
			val = self.atom()
		self.comments(val)
		# a comment may stand inside: 0x5 /* ... */<<16|0x7
		while val.kind == "atom" and val.comments and \
				(self.peek("|") or self.peek("<<")):
			val.text += self.atom().text
			self.comments(val)
		save = self.i
		self.blank()
		if self.take("=>"):
			val.after = self.value()
		else:
			self.i = save
		return val

	def members(self, close):
		"""Read comma separated values up to close; blanks separate the signals of a set."""
		out = []
		self.blank()
		if self.take(close):
			return out
		while True:
			self.blank()
			m = NAMED.match(self.s, self.i)
			name = None
			if m:
				name = m.group(1)
				self.i = m.end()
			out.append((name, self.value()))
			self.blank()
			if self.take(close):
				return out
			if self.take(","):
				continue
			if close == "]":
				continue
			self.fail("expected , or " + close)

HEAD = re.compile(r"(?:\[pid\s+)?(?:(\d+)\]?\s+)?(.*)$")
CALL = re.compile(r"([a-z_0-9]+)\(")
RESUMED = re.compile(r"<\.\.\. ([a-z_0-9]+) resumed>\s?(.*)$")
UNFINISHED = re.compile(r"\s*<unfinished \.\.\.>$")
OTHER = re.compile(r"---.*---$|\+\+\+.*\+\+\+$|strace: |pevtrace: ")
RESULT = re.compile(r"\s*=\s+(-?\d+ [A-Z][A-Z0-9]+|\?(?: [A-Z]+)?|"
		    r"-?(?:0x[0-9a-f]+|\d+)(?:<[^>]*>)?)\s*(.*)$")

def split_pid(line):
	m = HEAD.match(line)
	return (int(m.group(1)) if m.group(1) else None), m.group(2)

def parse_call(text, pid=None, line=None):
	m = CALL.match(text)
	if not m:
		raise ParseError("not a call: " + text[:120])
	rd = Reader(text, m.end())
	args = rd.members(")")
	m2 = RESULT.match(text, rd.i)
	if not m2:
		raise ParseError("no result in: " + text[-120:])
	return Call(pid, m.group(1), args, m2.group(1), m2.group(2),
		    line or text)

def parse(lines):
	"""Return all calls, in the order in which they began."""
	out = []
	open_ = {}
	for no, raw in enumerate(lines, 1):
		line = raw.rstrip("\n")
		if not line.strip():
			continue
		pid, text = split_pid(line)
		if OTHER.match(text):
			continue
		try:
			m = RESUMED.match(text)
			if m:
				if pid not in open_:
					raise ParseError("resumed without a begin")
				slot, begin = open_.pop(pid)
				if not begin.startswith(m.group(1) + "("):
					raise ParseError("resumes another call")
				out[slot] = parse_call(begin + m.group(2), pid,
						       line)
				continue
			m = UNFINISHED.search(text)
			if m:
				open_[pid] = (len(out), text[:m.start()])
				out.append(None)
				continue
			out.append(parse_call(text, pid, line))
		except ParseError as e:
			raise ParseError("line %d: %s\n\t%s" % (no, e, line))
	# a call of a killed process has no result
	return [c for c in out if c is not None]

def parse_file(path):
	with open(path, errors="backslashreplace") as f:
		return parse(f)

# ---- numbers -------------------------------------------------------------

KNOWN = {
	"NULL": 0,
	# attr sizes and bits that are not in Debian 12's header
	"PERF_ATTR_SIZE_VER0": 64, "PERF_ATTR_SIZE_VER1": 72,
	"PERF_ATTR_SIZE_VER2": 80, "PERF_ATTR_SIZE_VER3": 96,
	"PERF_ATTR_SIZE_VER4": 104, "PERF_ATTR_SIZE_VER5": 112,
	"PERF_ATTR_SIZE_VER6": 120, "PERF_ATTR_SIZE_VER7": 128,
	"PERF_ATTR_SIZE_VER8": 136, "PERF_ATTR_SIZE_VER9": 144,
	"PERF_SAMPLE_BRANCH_COUNTERS": 1 << 19,
	"PERF_FLAG_FD_NO_GROUP": 1, "PERF_FLAG_FD_OUTPUT": 2,
	"PERF_FLAG_PID_CGROUP": 4, "PERF_FLAG_FD_CLOEXEC": 8,
	"PERF_IOC_FLAG_GROUP": 1,
	"O_RDONLY": 0, "O_RDWR": 2, "O_NONBLOCK": 0o4000, "O_ASYNC": 0o20000,
	"FASYNC": 0o20000, "O_CLOEXEC": 0o2000000, "O_LARGEFILE": 0o100000,
	"HW_BREAKPOINT_EMPTY": 0, "HW_BREAKPOINT_R": 1, "HW_BREAKPOINT_W": 2,
	"HW_BREAKPOINT_RW": 3, "HW_BREAKPOINT_X": 4, "HW_BREAKPOINT_INVALID": 7,
	"CLOCK_REALTIME": 0, "CLOCK_MONOTONIC": 1,
	"CLOCK_PROCESS_CPUTIME_ID": 2, "CLOCK_THREAD_CPUTIME_ID": 3,
	"CLOCK_MONOTONIC_RAW": 4, "CLOCK_REALTIME_COARSE": 5,
	"CLOCK_MONOTONIC_COARSE": 6, "CLOCK_BOOTTIME": 7,
	"CLOCK_REALTIME_ALARM": 8, "CLOCK_BOOTTIME_ALARM": 9, "CLOCK_TAI": 11,
}
for _n in range(1, 9):
	KNOWN["HW_BREAKPOINT_LEN_%d" % _n] = _n

EXPR = re.compile(r"[0-9a-fA-FxX|<>+\-()~&\s]+$")
WORD = re.compile(r"\b(?!0[xX])[A-Za-z_]\w*")

def evaluate(text, names):
	"""The number an expression of names, | and << stands for, or None."""
	missing = []

	def number(m):
		if m.group(0) in names:
			return str(names[m.group(0)])
		missing.append(m.group(0))
		return "0"

	text = re.sub(r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b", r"\1", text)
	text = WORD.sub(number, text)
	if missing or not EXPR.match(text):
		return None
	try:
		return eval(text, {"__builtins__": {}}, {})
	except (SyntaxError, TypeError, ValueError):
		return None

def header_names():
	"""Return the enumerators of the system's perf_event.h, if it is installed."""
	names = dict(KNOWN)
	try:
		with open("/usr/include/linux/perf_event.h") as f:
			text = f.read()
	except OSError:
		return names
	text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
	for body in re.findall(r"\benum\s*\w*\s*\{(.*?)\}", text, flags=re.S):
		nxt = 0
		for item in re.sub(r"^\s*#.*$", "", body, flags=re.M).split(","):
			item = item.strip()
			if not item:
				continue
			name, _, expr = item.partition("=")
			val = evaluate(expr.strip(), names) if expr else nxt
			if val is None:
				nxt = None
				continue
			name = name.strip()
			if KNOWN.get(name, val) != val:
				raise AssertionError("%s: header says %d" % (name, val))
			names[name] = val
			nxt = val + 1
	return names

NAMES = header_names()

def number(val):
	"""Return the number of an atom (pointers and symbols too), or None."""
	if val is None or val.kind != "atom":
		return None
	return evaluate(re.sub(r"<[^<>=|]*[a-z/:][^<>]*>", "", val.text), NAMES)

# ---- struct perf_event_attr ------------------------------------------------

# offset, the struct size that first includes it, the names at this offset
SLOTS = [
	(0, 64, ("type",)),
	(4, 64, ("size",)),
	(8, 64, ("config",)),
	(16, 64, ("sample_period", "sample_freq")),
	(24, 64, ("sample_type",)),
	(32, 64, ("read_format",)),
] + [(40, 64, (_n,)) for _n in """
	disabled inherit pinned exclusive exclude_user exclude_kernel exclude_hv
	exclude_idle mmap comm freq inherit_stat enable_on_exec task watermark
	precise_ip mmap_data sample_id_all exclude_host exclude_guest
	exclude_callchain_kernel exclude_callchain_user mmap2 comm_exec
	use_clockid context_switch write_backward namespaces ksymbol bpf_event
	aux_output cgroup text_poke build_id inherit_thread remove_on_exec
	sigtrap defer_callchain defer_output""".split()] + [
	(48, 64, ("wakeup_events", "wakeup_watermark")),
	(52, 64, ("bp_type",)),
	(56, 64, ("config1", "bp_addr", "kprobe_func", "uprobe_path")),
	(64, 72, ("config2", "bp_len", "kprobe_addr", "probe_offset")),
	(72, 80, ("branch_sample_type",)),
	(80, 96, ("sample_regs_user",)),
	(88, 96, ("sample_stack_user",)),
	(92, 96, ("clockid",)),
	(96, 104, ("sample_regs_intr",)),
	(104, 112, ("aux_watermark",)),
	(108, 112, ("sample_max_stack",)),
	(112, 120, ("aux_sample_size",)),
	(116, 120, ("aux_start_paused",)),
	(116, 120, ("aux_pause",)),
	(116, 120, ("aux_resume",)),
	(120, 128, ("sig_data",)),
	(128, 136, ("config3",)),
	(136, 144, ("config4",)),
]

SAME_PLACE = {n: names for _, _, names in SLOTS for n in names}

def field(attr, name):
	"""Return the value of a member, by whichever of its names."""
	for n in SAME_PLACE.get(name, (name,)):
		val = attr.get(n)
		if val is not None:
			return n, val
	return name, None

def missing_fields(attr):
	"""Return members that a full form of this attr should show and does not."""
	size = number(attr.get("size"))
	if size is None:
		return ["size"]
	size = size or 64
	return ["/".join(names) for _, least, names in SLOTS
		if size >= least and not any(attr.get(n) for n in names)]

def misnamed(attr):
	"""Return members shown under a wrong name of their union."""
	kind = number(attr.get("type"))
	probe = kind is not None and kind > 5
	freq = number(attr.get("freq")) == 1
	watermark = number(attr.get("watermark")) == 1
	right = {
		"sample_period": not freq, "sample_freq": freq,
		"wakeup_events": not watermark, "wakeup_watermark": watermark,
		"config1": kind != 5, "config2": kind != 5,
		"bp_addr": kind == 5, "bp_len": kind == 5,
		"kprobe_func": probe, "uprobe_path": probe,
		"kprobe_addr": probe, "probe_offset": probe,
	}
	return [n for n in attr.names() if not right.get(n, True)]

def find_program(name, extra=()):
	for d in list(extra) + os.environ.get("PATH", "").split(":"):
		p = os.path.join(d, name)
		if d and os.access(p, os.X_OK) and not os.path.isdir(p):
			return p
	return None

def sanitized():
	"""Return whether pevtrace was built with sanitizers."""
	with open(os.environ["PEVTRACE"], "rb") as f:
		return b"__asan_init" in f.read()

# tests/run mounts it, if permitted.
TRACEFS = "/sys/kernel/tracing"

def tracefs():
	"""Return whether tracepoints are available."""
	return os.path.exists(TRACEFS + "/events/sched/sched_switch/id")

def tracefs_lines():
	"""Return the probes defined in tracefs, and the tasks selected there."""
	out = set()
	for name in ("kprobe_events", "uprobe_events", "dynamic_events", "set_event_pid"):
		try:
			with open(os.path.join(TRACEFS, name)) as f:
				out |= {name + ": " + line for line in f.read().splitlines()}
		except OSError:
			pass
	return out

PERF_PROBE = re.compile(r"\w+: [pr]\d*:probe(_\w*)?/")

def tracefs_changes(before):
	"""Return which of these lines were added or removed since.  Another user may run perf probe
	meanwhile, which no test does: its probes count only if they are in our programs."""
	ours = "pevtrace", os.path.realpath(os.environ.get("PEVTRACE_TARGETS", "tests/targets"))
	return sorted(line for line in before ^ tracefs_lines()
		      if not PERF_PROBE.match(line) or any(o in line for o in ours))

# ---- how much to try ------------------------------------------------------

LONG = os.environ.get("LONG", "0") not in ("", "0")

def sample(items, share, turn=0):
	"""Return every share-th of the items, or all of them with LONG=1.  Callers that pass
	turn=0, 1, 2... get different items each time, and so try all of them together."""
	items = list(items)
	return items if LONG else items[turn % share::share]

def times(sampled, full):
	"""Return how often to repeat something: full times with LONG=1, otherwise fewer."""
	return full if LONG else sampled

# ---- a terminal ------------------------------------------------------------

def on_terminal(argv, columns, stderr=True, **env):
	"""Return what a command writes to a terminal of that width.  Our copy of its descriptor stays
	open until the command has ended: what was written just before the last one is closed can be
	missed by a reader, as n_tty_read() looks for input first and at the other end afterwards."""
	master, slave = pty.openpty()
	fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
	p = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave if stderr else None,
			     env=dict(os.environ, **{"TERM": "xterm", **env}))
	ended = os.pidfd_open(p.pid)
	out = b""
	over = False
	while True:
		if select.select([master], [], [], 0)[0]:
			out += os.read(master, 65536)
		elif over:
			break
		else:
			over = ended in select.select([master, ended], [], [])[0]
	for fd in master, slave, ended:
		os.close(fd)
	if p.wait() < 0:
		raise AssertionError("%s was ended by signal %d after %r" % (argv, -p.returncode, out))
	return out.decode(errors="replace").replace("\r\n", "\n")

# ---- another user ---------------------------------------------------------

NOBODY = 65534

# Run a command that may not use BPF programs, and so knows less of earlier events.
WITHOUT_BPF = ["setpriv", "--bounding-set=-bpf,-sys_admin"]

# The number of perf_event_open(2); None: not known.
NR_OPEN = {"x86_64": 298, "aarch64": 241, "riscv64": 241}.get(os.uname().machine)

def has_bpf(pevtrace):
	"""Whether pevtrace's BPF programs work here."""
	said = subprocess.run([pevtrace, "ps"], capture_output=True, check=False).stderr
	return not os.getuid() and b"cannot " not in said and b"without BPF programs" not in said

def as_nobody(more=None):
	"""Return a preexec_fn that becomes an ordinary user, after calling more."""
	def become():
		if more:
			more()
		os.setgroups([])
		os.setresgid(NOBODY, NOBODY, NOBODY)
		os.setresuid(NOBODY, NOBODY, NOBODY)
	return become

# ---- TAP -----------------------------------------------------------------

class Tap:
	def __init__(self):
		self.n = 0
		self.bad = 0

	def ok(self, good, name, why=()):
		self.n += 1
		self.bad += not good
		print("%sok %d - %s" % ("" if good else "not ", self.n, name))
		if not good:
			for line in why:
				for part in str(line).split("\n"):
					print("#   " + part)
		return good

	def skip(self, name, why):
		self.n += 1
		print("ok %d - %s # SKIP %s" % (self.n, name, why))

	def done(self):
		print("1..%d" % self.n, flush=True)
		return 1 if self.bad else 0

def skip_all(why):
	print("1..0 # SKIP " + why, flush=True)
	raise SystemExit(0)
