#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Output on terminals: width, colors, the pager, progress, results as they come."""

import concurrent.futures
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from checks import check, differ, TAP
import machine
from programs import PEVTRACE, run_bytes as run
import straceparse as sp

STRACE = sp.find_program("strace")
DEMO = os.path.join(os.environ.get("PEVTRACE_TARGETS", ""), "demo")

def terminal_lines(argv, columns, **env):
	return sp.on_terminal(argv, columns, **env).splitlines()

# a line of another task between start and end of a call splits it
NAME = re.compile(r"^(?:\[pid +\d+\] )?(?:<\.\.\. )?(\w+)(?:\(| resumed>).* = (-1 E\w+|-?\w+)")

def names(lines):
	return [m.groups() for m in map(NAME.match, lines) if m]

def joined(lines):
	"""The lines, each with what is continued below it."""
	return re.sub("\n    ", " ", "\n".join(lines)).splitlines()

# Opens of which each differs from the one before in one point.
OPENS = """
import ctypes, struct
libc = ctypes.CDLL(None)
def open_event(config, bits, cpu):
	attr = struct.pack("IIQQQQQ", 1, 128, config, 0, 0, 0, bits).ljust(128, b"\\0")
	libc.syscall(%d, attr, 0, cpu, -1, 8)
for args in (0, 1 << 5, -1), (0, 1 << 5, 0), (0, 1 << 5 | 1, 0), (2, 1 << 5 | 1, 0), (2, 1 << 4, 0), (2, 1 << 4 | 2, 0), (0, 1 << 5 | 1, 0):
	open_event(*args)
""" % {"x86_64": 298}.get(os.uname().machine, 241)

def test_width(tmp):
	trace = [PEVTRACE, "-e", "trace=%open,close,read", "--color=never"]
	program = [DEMO, "true"]
	# the program's own lines are not ours
	program = ["sh", "-c", 'exec "$@" >/dev/null 2>&1', "sh"] + program
	why = []
	for columns in (80, 132):
		lines = terminal_lines(trace + program, columns)
		why += differ([l for l in lines if len(l) > columns], [], "wider than %d" % columns)
		whole = names(terminal_lines(trace + ["--width=full"] + program, columns))
		opens = [[r for n, r in l if n == "perf_event_open"] for l in (names(joined(lines)), whole)]
		why += differ(opens[0], opens[1], "results of opens")
		why += differ(sum("config=" in l for l in lines), sum(n == "perf_event_open" for n, _ in whole),
			      "opens with their config")
	for columns in (24, 30, 40, 60, 80, 100):
		lines = terminal_lines(trace + program, columns)
		calls = joined(lines)
		why += differ([l for l in lines if len(l) > columns], [], "wider than %d" % columns)
		if columns > 40: # a single member can be longer
			why += differ([l for l in calls if re.search(r"\w\.\.\.|\.\.\.\w|,\.\.\.", l)], [],
				      "members cut at %d" % columns)
			why += differ([l for l in calls if any(l.count(a) != l.count(b)
				       for a, b in ("{}", "()", "[]")) and "unfinished" not in l and
				       "resumed" not in l], [], "brackets at %d" % columns)
	color = [re.sub("\033\\[[0-9]*m", "", l)
		 for l in terminal_lines(trace[:-1] + ["--color"] + program, 80)]
	plain80 = terminal_lines(trace + program, 80)
	why += differ([re.findall(r"\w+=\w+", l) for l in color if "_open(" in l],
		      [re.findall(r"\w+=\w+", l) for l in plain80 if "_open(" in l],
		      "colors change what is omitted")
	full = terminal_lines(trace + ["--width=full"] + program, 80)
	why += differ(max(len(l) for l in full) > 200, True, "--width=full")
	why += differ(([l for l in plain80 if "--width=full" in l], [l for l in full if "--width=full" in l]),
		      (["+++ members were left out to fit the terminal: --width=full shows them +++"], []), "the hint")
	every = terminal_lines(trace + ["-v"] + program, 80)
	why += differ([l for l in every if "_open(" in l and ", disabled=" not in l], [], "-v shows every member")
	# the columns are those of the terminal that shows the lines, at that moment
	lines = terminal_lines(["sh", "-c", 'exec "$@" 2>/dev/null', "sh"] + trace + ["-o", "-"] + program, 132)
	why += differ(80 < max(len(l) for l in lines) <= 132, True, "standard output of 132 columns: %s" % lines)
	lines = terminal_lines(trace + ["sh", "-c", '"$@"; stty cols 132; "$@"', "sh"] + program, 80)
	opens = [len(l) for l in lines if "perf_event_open(" in l]
	half = len(opens) // 2
	why += differ((half > 3, max(opens[:half]) <= 80, 80 < max(opens[half:]) <= 132), (True, True, True),
		      "resized: %s" % lines)
	path = os.path.join(tmp, "file")
	run(*trace, "-o", path, *program)
	with open(path) as f:
		why += differ(max(len(l) for l in f) > 200, True, "long lines in a file")
	run(*trace, "-o", path, "--width=60", *program)
	with open(path) as f:
		why += differ(max(len(l) for l in f) <= 61, True, "--width=60 in a file")
	# what is written before a call returns leaves room for the rest
	run(PEVTRACE, "-o", path, "--width=80", "perf", "record", "-q", "-o", "/dev/null", "-e",
	    "{cpu-clock,page-faults}", "sh", "-c", "sleep 0.1; sleep 0.1")
	with open(path) as f:
		why += differ([l for l in f if len(l) > 81], [], "--width=80 of calls that wait")
	# of two opens that differ, something that differs is shown
	run(PEVTRACE, "-o", path, "--width=80", "--engine=ptrace", sys.executable, "-c", OPENS)
	with open(path) as f:
		opens = [l.split(" = ")[0].split(" ", 1)[1].strip() for l in joined(f.read().splitlines())
			 if "perf_event_open(" in l]
	why += differ((len(opens), len(set(opens))), (7, 6), "opens that differ: %s" % opens)
	why += differ(opens[6], opens[2], "the same open behind others")
	why += differ([", 0, -1, " in opens[0], ", 0, 0, " in opens[1]], [True, True], "their CPUs: %s" % opens)
	# the file of a mapping and the name of a task are shown, whatever else is omitted
	for width in (70, 80):
		run(PEVTRACE, "-o", path, "--records", "--width=%d" % width, PEVTRACE, "open", "-q",
		    "-e", "dummy,mmap,mmap2,comm,disabled,enable_on_exec", "--mmap", "8", "ls", "/none")
		with open(path) as f:
			lines = f.read().replace("\n    ", " ")
		records = [l for l in lines.splitlines() if "{type=MMAP2" in l or "{type=COMM" in l]
		why += differ((len(records) > 2, [l for l in records if not re.search('(filename|comm)="[^"]*"[,}]', l)]),
			      (True, []), "names in records at %d" % width)
	# an escape sequence is omitted with its comment, or not at all
	shown = run(PEVTRACE, "--width=60", "--color=always", "-e", "trace=mmap", *program).stderr.decode()
	why += differ(re.findall("\033(?!\\[[0-9]*m).*", shown), [], "broken colors")
	dumps = [os.path.join(tmp, name) for name in ("a.json", "b.json")]
	run(PEVTRACE, "-q", "-o", "/dev/null", "--json=" + dumps[0], *program)
	run(PEVTRACE, "-q", "-o", "/dev/null", "--json=" + dumps[1], "true")
	for verb in (["--summary"] + program, ["why", "--once", "-e", "cycles"], ["-k"] + program,
		     ["why", "--"] + program, ["list", "--tried", "attr"], ["list", "hw", "hwcache"], ["diff"] + dumps):
		argv = [PEVTRACE] + verb
		whole = run(*argv)
		whole = whole.stdout.decode() + whole.stderr.decode()
		lines = [re.sub("\033\\[[0-9]*m", "", l)
			 for l in terminal_lines(argv, 80, PEVTRACE_PAGER="cat")]
		# a path can be longer
		why += differ([l for l in lines if len(l) > 80 and " " in l[4:]], [],
			      verb[0] + " at 80 columns")
		why += differ(any(len(l) > 80 for l in whole.splitlines()), True,
			      "long lines of %s in a pipe" % verb[0])
	return why

# An open that every kernel refuses, twice, and equal waits for an event, then another one.
REPEATS = """
import ctypes, os, select, struct, sys, time
libc = ctypes.CDLL(None)
def open_event(flags):
	attr = struct.pack("IIQQQQQ", 1, 128, 9, 0, 0, 0, 1 << 5).ljust(128, b"\\0")
	return libc.syscall(%d, attr, 0, -1, -1, flags)
for flags in 8 | 1 << 20, 8 | 1 << 20, 8:
	fd = open_event(flags)
waits = select.poll()
waits.register(fd, select.POLLIN)
end, n = time.monotonic() + 2.5, 0
while time.monotonic() < end:
	waits.poll(10)
	n += 1
waits.register(0, select.POLLIN)
waits.poll(0)
with open(sys.argv[1], "w") as f:
	f.write(str(n))
""" % {"x86_64": 298}.get(os.uname().machine, 241)

def test_repeats(tmp):
	"""A refused open ends in its reason; calls equal to the line before are counted, each second at least."""
	machine.need("events")
	said, plain = os.path.join(tmp, "said"), os.path.join(tmp, "plain")
	program = [sys.executable, "-c", REPEATS, said]
	shown = joined(terminal_lines([PEVTRACE, "--color=never"] + program, 80))
	refused = [l for l in shown if " = -1 EINVAL" in l]
	why = differ([l.split(", ")[-1] for l in refused],
		     ["FD_CLOEXEC|0x100000) = -1 EINVAL /* flags has a bit that the kernel does not know */"], "refused")
	why += differ(len([l for l in shown if re.match(r"perf_event_open \.\.\. 1 more, \d\.\d\d s$", l)]), 1, "twice")
	with open(said) as f:
		waited = int(f.read())
	waits = [l for l in shown if "poll(" in l]
	more = [re.match(r"poll \.\.\. (\d+) more, (\d)\.\d\d s$", l) for l in shown]
	more = [(int(m[1]), int(m[2])) for m in more if m]
	why += differ((len(waits), len(more) > 2, 1 + sum(n for n, _ in more), max(more)[1] < 2),
		      (2, True, waited, True), "waits: %s, %s" % (waits, more))
	# a file has each call, whole, and no reasons
	run(PEVTRACE, "-o", plain, *program)
	with open(said) as f, open(plain) as g:
		calls, text = int(f.read()), g.read()
	why += differ((len(re.findall(r"poll\(.*\) = ", text)), text.count(" = -1 EINVAL (Invalid argument)\n"),
		       "/* flags" in text, " more, " in text), (calls + 1, 2, False, False), "a file")
	return why

def test_messages():
	"""Messages are broken at blanks on a terminal, and nowhere else."""
	argv = [PEVTRACE, "-a", "--engine=ptrace", "true"]
	whole = run(*argv).stderr.decode()
	why = differ((whole.count("\n"), len(whole) > 70), (1, True), "a pipe: %r" % whole)
	for columns in (30, 40, 60):
		lines = terminal_lines(argv, columns)
		why += differ((max(len(l) for l in lines) <= columns, [l[:4] for l in lines[1:]], " ".join("\n".join(lines).split())),
			      (True, ["    "] * (len(lines) - 1), whole.strip()), "%d columns: %s" % (columns, lines))
	return why

def test_samples():
	"""A sample has its instruction pointer and the name of the function at 80 columns."""
	machine.need("events")
	loop = "i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done"
	argv = [PEVTRACE, "open", "-q", "--color=never", "--symbols", "-e", "cpu-clock:u,sample_freq=2000", "--mmap", "16", "sh", "-c"]
	samples = [l for l in joined(terminal_lines(argv + [loop], 80)) if "{type=SAMPLE" in l]
	return differ((len(samples) > 0, [l for l in samples if not re.search(r"\bip=0x\w+( /\* .* \*/)?[,}]", l)],
		       any(re.search(r"ip=0x\w+ /\* \w+", l) for l in samples)), (True, [], True), "samples: %s" % samples[:3])

def test_narrow():
	"""At 60 columns help is filled to them, and the column of attrs leaves room for these."""
	shown = terminal_lines([PEVTRACE, "list", "software"], 60, PEVTRACE_PAGER="cat", NO_COLOR="1")
	why = differ([l for l in shown if re.match(r"  (bpf-output|context-switches or cs)\b", l) and l[-1] != "}"], [],
		     "attrs that would fit")
	for verb, columns in (("list", 60), ("trace", 60), ("open", 60), ("trace", 40)):
		whole = run(PEVTRACE, "help", verb).stdout.decode()
		shown = terminal_lines([PEVTRACE, "help", verb], columns, PEVTRACE_PAGER="cat")
		long = [l for l in shown if len(l) > columns and not l.startswith("  pevtrace ")] # examples are whole
		why += differ((long, " ".join(shown).split()), ([], whole.split()), "help %s" % verb)
	return why

def test_pager(tmp):
	mark = "sed s/^/PAGED:/"
	why = []
	dump = os.path.join(tmp, "dump")
	run(PEVTRACE, "-q", "-o", "/dev/null", "--json=" + dump, DEMO, "true")
	for verb in (["list", "software"], ["explain", "precise_ip"], ["decode", "--errno=2"],
		     ["why", "--rules-only", "-e", "cpu-clock"], ["diff", "--normalize", dump]):
		argv = [PEVTRACE] + verb
		want = run(*argv, "--color=never").stdout.decode().splitlines()
		plain_lines = terminal_lines(argv + ["--color=never", "--no-pager"], 400, PEVTRACE_PAGER=mark)
		why += differ("PAGED:" in "".join(plain_lines), False, "%s --no-pager" % verb)
		for env in ({"PEVTRACE_PAGER": mark}, {"PAGER": mark}):
			if "PAGER" in env:
				os.environ.pop("PEVTRACE_PAGER", None)
			paged = terminal_lines(argv + ["--color=never"], 400, **env)
			why += differ(paged, ["PAGED:" + l for l in plain_lines], "%s, %s" % (verb, env))
		why += differ(len(want) > 0, True, "output")
		why += differ(terminal_lines(argv + ["--color=never"], 400, PEVTRACE_PAGER="cat"), plain_lines,
			      "cat is no pager")
	for words in (["--help"], ["help", "list"], ["help", "--list"]):
		want = run(PEVTRACE, *words).stdout.decode().splitlines()
		why += differ(terminal_lines([PEVTRACE] + words, 80, PEVTRACE_PAGER=mark), ["PAGED:" + l for l in want],
			      str(words))
	os.environ.pop("PAGER", None)
	for env in ({"PEVTRACE_PAGER": "no-such-pager -R"}, {"PATH": "/var/empty"}):
		why += differ(terminal_lines([PEVTRACE, "list", "software", "--color=never"], 400, **env),
			      run(PEVTRACE, "list", "software").stdout.decode().splitlines(),
			      "the pager is not there, %s" % env)
	r = run(PEVTRACE, "list", "software", env=dict(os.environ, PEVTRACE_PAGER=mark))
	why += differ(b"PAGED" in r.stdout, False, "a pipe")
	return why

def pager_left(tmp):
	"""When the user leaves the pager, pevtrace ends, although it has nothing to write."""
	dump = os.path.join(tmp, "dump")
	run(PEVTRACE, "-q", "-o", "/dev/null", "--json=" + dump, DEMO, "true")
	master, slave = pty.openpty()
	p = subprocess.Popen([PEVTRACE, "decode", "-"], stdin=subprocess.PIPE, stdout=slave, stderr=slave,
			     env=dict(os.environ, TERM="xterm", PEVTRACE_PAGER="head -n 1"))
	with open(dump, "rb") as f:
		p.stdin.writelines(f.readlines()[:-5])
	p.stdin.flush()
	try:
		return differ(p.wait(300), -signal.SIGPIPE, "a pager that was left")
	except subprocess.TimeoutExpired:
		p.kill()
		return ["waits although the pager was left"]
	finally:
		os.close(master)
		os.close(slave)

def test_pager_signals(tmp):
	"""A signal ends pevtrace after its pager, which has the terminal that the shell would read."""
	said, says = os.pipe()
	waits, leave = os.pipe()
	master, slave = pty.openpty()
	pager = "(read line; echo begun >&%d; cat >/dev/null; echo end >&%d; read line <&%d)" % (says, says, waits)
	p = subprocess.Popen([PEVTRACE, "list", "--tried"], stdout=slave, stderr=subprocess.PIPE, pass_fds=(says, waits),
			     env=dict(os.environ, TERM="xterm", PEVTRACE_PAGER=pager))
	states = []
	for _ in range(2):
		if select.select([said], [], [], 60)[0]:
			states.append((os.read(said, 99), p.poll()))
		p.terminate()
	for fd in leave, said, says, waits, master, slave:
		os.close(fd)
	why = pager_left(tmp)
	return why + differ((states, p.wait(), p.stderr.read()), ([(b"begun\n", None), (b"end\n", None)], -signal.SIGTERM, b""),
		      "SIGTERM")

def test_pager_input(tmp):
	"""The pager gets messages, too, and starts after what is typed at the same terminal was read."""
	mark = "sed s/^/PAGED:/"
	dump = os.path.join(tmp, "dump")
	run(PEVTRACE, "-q", "-o", "/dev/null", "--json=" + dump, DEMO, "true")
	with open(dump, "r+") as f:
		f.truncate(len(f.read().splitlines(True)[0]))
	why = differ(["cut off" in l for l in terminal_lines([PEVTRACE, "decode", dump], 200, PEVTRACE_PAGER=mark)
		      if l.startswith("PAGED:pevtrace: ")], [True], "a message in the pager")
	for option in ("--attr=-", "--record=-"):
		master, slave = pty.openpty()
		p = subprocess.Popen([PEVTRACE, "decode", option], start_new_session=True, stdin=slave, stdout=slave, stderr=slave,
				     env=dict(os.environ, TERM="xterm", PEVTRACE_PAGER="(read line <&2; cat)"))
		os.close(slave)
		os.write(master, b"{type=PERF_TYPE_SOFTWARE}\n\4q\n")
		try:
			why += differ(p.wait(20), 0 if option == "--attr=-" else 2, option)
		except subprocess.TimeoutExpired:
			p.kill()
			why.append("%s: waits" % option)
		os.close(master)
	return why

def at_once(functions):
	"""Call functions that wait at the same time; return their results."""
	with concurrent.futures.ThreadPoolExecutor(len(functions)) as pool:
		return [f.result() for f in [pool.submit(f) for f in functions]]

def dump_progress(tmp):
	"""What reads a dump for more than a second shows how much, and erases that before a message."""
	path = os.path.join(tmp, "large")
	run(PEVTRACE, "-q", "-o", "/dev/null", "--json=" + path, DEMO, "true")
	with open(path) as f:
		lines = f.readlines()
	calls = "".join([l for l in lines if '"call":"close"' in l][:1])
	with open(path, "w") as f:
		f.write("".join(lines[:5]) + calls * (3000000 // len(calls)))
	if not STRACE:
		raise machine.Lack("no strace")
	# as if from a slow disk
	slow = [STRACE, "-qq", "-o", "/dev/null", "-e", "trace=read", "-e", "inject=read:delay_enter=50000", PEVTRACE]
	verbs = (["codegen", "-o", "/dev/null"], ["report", "-o", "/dev/null"], ["decode", "-o", "/dev/null"],
		 ["diff", "--normalize"])
	why = []
	for verb, shown in zip(verbs, at_once([lambda v=verb: sp.on_terminal(slow + v + [path], 80, PEVTRACE_PAGER="cat >&2")
					       for verb in verbs])):
		why += differ((bool(re.search(r"\r\d+ of \d+ MiB read \(\d+%\)\033\[K", shown)),
			       bool(re.search(r"\r\033\[Kpevtrace: [^\r]*the dump is cut off", shown))),
			      (True, True), "progress of %s: %r" % (verb, shown))
	return why

def test_progress(tmp):
	lines = terminal_lines([PEVTRACE, "list", "--tried", "--no-pager"], 80)
	tried = [l for l in lines if "features tried (" in l]
	why = differ(any("precise_ip" in l for l in lines), True, "the features")
	# a member that an update brought has the release of mainline, but in that series
	aux = [l.split()[2] for l in lines if l.startswith("  aux_pause ")]
	why += differ(aux, ["6.12.24" if os.uname().release.startswith("6.12.") else "6.13"], "since")
	# a machine that is fast enough shows none
	why += [l for l in tried if not re.search(r"\d+ of \d+ features tried \(\d+%\)", l)]
	# a measurement shows its counts after a second, and erases them before its next line
	argv = [PEVTRACE, "open", "-e", "{cpu-clock,task-clock,page-faults}", "sleep", "1.1"]
	# what reads a pipe may write to the same terminal
	piped = ["sh", "-c", '"$@" | cat', "sh"] + argv
	whole, dumb, err, beside = at_once([lambda: sp.on_terminal(argv, 40), lambda: sp.on_terminal(argv, 40, TERM="dumb"),
					    lambda: run(*argv).stderr, lambda: sp.on_terminal(piped, 40)])
	shown = re.findall("\r([^\r\n]*)\033\\[K", whole)
	why += differ((len(shown) > 1, max(len(s) for s in shown) < 40, shown[-1]), (True, True, ""), repr(whole))
	why += differ(bool(re.search("\033\\[K(\033\\[1m)?ioctl\\b", whole)), True, repr(whole))
	why += differ("\033[K" in dumb, False, "progress on a dumb terminal")
	why += differ(b"\r" in err, False, "progress without a terminal")
	why += differ("\r" in beside, False, "progress beside a pipe")
	return why + dump_progress(tmp)

def test_dumb():
	"""A terminal that shows escape sequences as text gets none."""
	why = []
	for verb in ([DEMO, "true"], ["explain", "precise_ip"], ["why", "--rules-only", "-e", "cycles"], ["--help"]):
		for term in ("dumb", ""):
			shown = sp.on_terminal([PEVTRACE] + verb, 80, TERM=term)
			why += differ(("\033" in shown, len(shown) > 100), (False, True), "TERM=%s %s" % (term, verb))
		why += differ("\033" in sp.on_terminal([PEVTRACE, "--color", DEMO, "true"], 80, TERM="dumb"), True,
			      "--color")
	return why

def test_first_results(tmp):
	"""features, conform and decode write results before they have the last."""
	verbs = (["list", "--tried"], ["list", "--tried", "--json"], ["conform", "--no-headers"],
		 ["conform", "--no-headers", "--json"])

	def first_line(verb):
		"""Return after which parts of the time a verb wrote its first line, in up to three runs."""
		times = []
		while len(times) < 3 and min(times, default=1) > 0.6: # other load may delay the first
			begin = time.monotonic()
			p = subprocess.Popen([PEVTRACE] + verb, stdout=subprocess.PIPE,
					     stderr=subprocess.DEVNULL)
			p.stdout.readline()
			first = time.monotonic() - begin
			p.communicate()
			times.append(first / (time.monotonic() - begin))
		return times
	why = ["%s: first line after %s of the time" % (verb, times) for verb, times in
	       zip(verbs, at_once([lambda v=verb: first_line(v) for verb in verbs])) if min(times) > 0.6]
	return why + decode_grows(tmp)

def decode_grows(tmp):
	"""A dump that is still written is shown up to there."""
	path = os.path.join(tmp, "grows")
	run(PEVTRACE, "-q", "-o", "/dev/null", "--json=" + path, DEMO, "true")
	with open(path, "rb") as f:
		lines = f.readlines()
	half = len(lines) // 2
	whole = run(PEVTRACE, "decode", path).stdout
	p = subprocess.Popen([PEVTRACE, "decode", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
	shown = b""
	for i, line in enumerate(lines):
		p.stdin.write(line)
		p.stdin.flush()
		# while the last call of the first half is missing
		while i == half and not shown.endswith(b"\n") and select.select([p.stdout], [], [], 60)[0]:
			shown += os.read(p.stdout.fileno(), 65536)
	p.stdin.close()
	shown, rest = len(shown), shown + p.stdout.read()
	return differ((shown > 100, rest, p.wait()), (True, whole, 0), "a dump that grows")

def test_typed(tmp):
	"""What reads a dump from a terminal starts no pager, which would read it as well."""
	path = os.path.join(tmp, "empty")
	open(path, "w").close()
	why = []
	for verb in (["decode", "-"], ["diff", path, "-"]):
		master, slave = pty.openpty()
		p = subprocess.Popen([PEVTRACE] + verb, stdin=slave, stdout=slave, stderr=slave,
				     env=dict(os.environ, TERM="xterm", PEVTRACE_PAGER="sleep 600 #"))
		os.write(master, 8 * b"\4") # each read ends at one
		os.close(slave)
		why += differ(p.wait(timeout=300) >= 0, True, str(verb))
		os.close(master)
	return why

def main():
	with tempfile.TemporaryDirectory() as tmp:
		for name, test in (("lines fit a terminal, and only that", test_width),
				   ("narrow terminals", lambda _: test_narrow()),
				   ("refused opens end in their reason, equal calls are counted", test_repeats),
				   ("messages are broken at blanks", lambda _: test_messages()),
				   ("records have ip and symbol at 80 columns", lambda _: test_samples()),
				   ("long output goes through a pager", test_pager),
				   ("the pager and what is typed", test_pager_input),
				   ("the pager outlives signals", test_pager_signals),
				   ("progress is shown", test_progress),
				   ("dumps that are typed", test_typed), ("dumb terminals", lambda _: test_dumb()),
				   ("results are written as they come", test_first_results)):
			check(name, lambda: test(tmp))
	return TAP.done()

if __name__ == "__main__":
	sys.exit(main())
