#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace learn: each lesson

  runs through, as root and as an ordinary user, no line wider than 80 columns
  says what does not work here, and asks nothing that this would have to answer
  tells of the calls that strace sees it make: members, arguments, results
  takes right answers and wrong ones, and ^D, ^C and quit, through a terminal
  is a document with --markdown
  leaves nothing behind in tracefs, and no child
  names only constants, members, lessons and verbs that there are
"""

import collections
import errno
import glob
import os
import pty
import re
import resource
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import machine
import programs
import straceparse as sp

ROOT = os.path.dirname(HERE)
PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
STRACE = sp.find_program("strace")
TARGETS = os.environ.get("PEVTRACE_TARGETS", os.path.join(HERE, "targets"))
DEAD = os.path.join(os.path.dirname(os.path.abspath(TARGETS)), "handicap", "dead.so")
DEVICES = "/sys/bus/event_source/devices"
WIDTH = 80
PATIENCE = 300

def run(*args, user=None, **how):
	how.setdefault("timeout", PATIENCE)
	if user is not None:
		how.update(user=user, group=user, extra_groups=[])
	return programs.run(PEVTRACE, "learn", *args, **how)

def lessons():
	return [os.path.splitext(os.path.basename(p))[0]
		for p in glob.glob(os.path.join(ROOT, "lessons", "*.lesson"))]

def text_of(name):
	return open(os.path.join(ROOT, "lessons", name + ".lesson")).read()

# ---- running through ------------------------------------------------------------

def trouble_in(name, r):
	why = []
	if r.returncode:
		why.append("exit status %d" % r.returncode)
	if machine.complaints(r.stderr):
		why.append("said on standard error: " + r.stderr)
	wide = [l for l in r.stdout.split("\n") if len(l.expandtabs()) > WIDTH]
	why += ["wider than %d: %s" % (WIDTH, l) for l in wide]
	if not re.search(r"^Read more: ", r.stdout, re.M):
		why.append("does not come to its end")
	questions = r.stdout.count("\nQuestion: ")
	if not questions or questions != r.stdout.count("\nAnswer: "):
		why.append("%d questions" % questions)
	if re.search(r"\{[a-z_]+\}", r.stdout.replace("{a,b}", "")):
		why.append("a value is missing")
	if "\x1b" in r.stdout:
		why.append("colors in a pipe")
	# numbers of steps that this machine cannot do are left out
	steps = [int(n) for n, _ in re.findall(r"^Step (\d+) of (\d+): ", r.stdout, re.M)]
	of = {int(n) for _, n in re.findall(r"^Step (\d+) of (\d+): ", r.stdout, re.M)}
	if steps != sorted(set(steps)) or not steps or steps[0] != 1 or \
	   of != {text_of(name).count("\n%step ")} or steps[-1] > max(of):
		why.append("steps are %s of %s" % (steps, of))
	return why

def test_through(name):
	return trouble_in(name, run(name, "--no-input"))

def test_through_nobody(name):
	return trouble_in(name, run(name, "--no-input", user=sp.NOBODY))

# ---- strace ---------------------------------------------------------------------

def unwrap(text):
	"""Return the lines of calls in a lesson, continuation lines joined."""
	lines, out = text.split("\n"), []
	for line in lines:
		if line.startswith(" " * 8) and out and out[-1] is not None:
			rest = line[8:]
			if out[-1].endswith("\\"):
				out[-1] = out[-1][:-1] + rest
			else:
				out[-1] += ("" if out[-1].endswith("|") else " ") + rest
		elif re.match(r"    (\d+ +)?(perf_event_open|ioctl)\(", line):
			out.append(line[4:])
		else:
			out.append(None)
	return [o for o in out if o]

def is_ours(call):
	return call.name == "perf_event_open" or \
	       (call.name == "ioctl" and "PERF_EVENT_IOC" in str(call.arg(1)))

def differ_attr(a, b):
	"""Compare strace's complete attr with the lesson's, without members that are zero."""
	why = []
	if a.kind != "struct" or b.kind != "struct":
		return [] if a.kind == b.kind else ["attr: strace %s, lesson %s" % (a, b)]
	for name, want in a.items:
		shown, got = sp.field(b, name)
		x, y = sp.number(want), sp.number(got)
		if got is None:
			if x:
				why.append("%s=%s is not shown" % (name, want))
		elif name == "bp_addr" and machine.lacks("breakpoints"):
			# tests/handicap/dead.c moves it to another page
			if (x ^ y) % 4096:
				why.append("%s: strace %s, lesson %s" % (shown, want, got))
		elif got.kind == "atom" and x != y:
			# strace shows a pointer's text, the lesson its address
			why.append("%s: strace %s, lesson %s" % (shown, want, got))
	return why

def differ(theirs, ours):
	"""Return the differences between two lines of a call."""
	if theirs.name != ours.name:
		return ["%s is %s" % (theirs.name, ours.name)]
	why = [] if theirs.result == ours.result else \
	      ["result: strace %s, lesson %s" % (theirs.result, ours.result)]
	if ours.name == "ioctl":
		for i in (0, 1):
			if str(theirs.arg(i)) != str(ours.arg(i)):
				why.append("argument %d: strace %s, lesson %s" %
					   (i, theirs.arg(i), ours.arg(i)))
		return why
	why += differ_attr(theirs.arg(0), ours.arg(0))
	for i, what in ((1, "pid"), (2, "cpu"), (3, "group_fd"), (4, "flags")):
		if sp.number(theirs.arg(i)) != sp.number(ours.arg(i)):
			why.append("%s: strace %s, lesson %s" %
				   (what, theirs.arg(i), ours.arg(i)))
	return why

def asks_other_verbs(name):
	with open(os.path.join(ROOT, "src/verbs/learn/experiments.c")) as f:
		of_lesson = f.read().partition("/* lessons/%s.lesson ---" % name)[2].partition("/* lessons/")[0]
	return "\n\tverb " in text_of(name) or "learn_run_verb(" in of_lesson

def test_strace(name, tmp):
	path = os.path.join(tmp, name)
	r = subprocess.run([STRACE, "-f", "-v", "-o", path,
			    "-e", "trace=perf_event_open,ioctl,memfd_create", PEVTRACE, "learn", name,
			    "--no-input"], stdin=subprocess.DEVNULL, text=True,
			   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
			   timeout=PATIENCE, env=dict(os.environ, LC_ALL="C"))
	if r.returncode:
		return ["exit status %d under strace: %s" % (r.returncode, r.stderr)]
	theirs = sp.parse_file(path)
	# before it has a place for its calls, a lesson tries what it needs
	start = [i for i, c in enumerate(theirs) if c.name == "memfd_create" and '"trace"' in c.line]
	theirs = [c for c in theirs[start[0]:] if is_ours(c)]
	ours = sp.parse(unwrap(r.stdout))
	ours = [c for c in ours if is_ours(c)]
	if not ours:
		return ["no call is told"]
	if asks_other_verbs(name):
		# check and why make more calls than they show
		at = 0
		for c in ours:
			while at < len(theirs) and differ(theirs[at], c):
				at += 1
			if at == len(theirs):
				return ["strace has not seen " + c.line]
			at += 1
		return []
	why = []
	if len(theirs) != len(ours):
		why.append("strace saw %d calls, the lesson tells of %d" %
			   (len(theirs), len(ours)))
	for a, b in zip(theirs, ours):
		why += differ(a, b)
	return why

# ---- answers --------------------------------------------------------------------

class Reader:
	"""A lesson at a terminal."""

	def __init__(self, *args):
		self.pid, self.fd = pty.fork()
		if not self.pid:
			os.execve(PEVTRACE, [PEVTRACE, "learn"] + list(args),
				  dict(os.environ, LC_ALL="C", NO_COLOR="1"))
		self.text = ""
		self.seen = 0

	def until(self, what):
		"""Read until the text appears, with None until the end; return False if it does not."""
		end = time.monotonic() + PATIENCE
		while time.monotonic() < end:
			if what:
				at = self.text.find(what, self.seen)
				if at >= 0:
					self.before = self.text[self.seen:at]
					self.seen = at + len(what)
					return True
			if not select.select([self.fd], [], [], 1)[0]:
				continue
			try:
				more = os.read(self.fd, 65536)
			except OSError as e:
				if e.errno != errno.EIO:
					raise
				more = b""
			if not more:
				return what is None
			self.text += more.decode().replace("\r\n", "\n")
		return False

	def say(self, text):
		os.write(self.fd, text.encode())

	def status(self):
		self.until(None)
		_, status = os.waitpid(self.pid, 0)
		os.close(self.fd)
		return os.waitstatus_to_exitcode(status)

PROMPT = "\n(q leaves) > "

def test_right():
	"""Give right answers in several spellings, to questions with fixed answers."""
	r = Reader("counting")
	for answer in ("zero", " 8 bytes", None, "einval"):
		if not r.until(PROMPT):
			return ["no question: " + r.text[-300:]]
		if answer is None:
			count = int(re.findall(r"value=(\d+)", r.text)[-1])
			answer = "0x%x" % (2 * count)
		r.say(answer + "\n")
	status = r.status()
	why = [] if status == 0 else ["exit status %d" % status]
	if r.text.count("\nYes: ") != 4 or "Not quite" in r.text:
		why.append("answers were not taken: " + r.text)
	return why

def test_second_chance():
	r = Reader("read-formats")
	r.until(PROMPT)
	r.say("31\n")
	if not r.until("Not quite: "):
		return ["no hint for a wrong answer"]
	r.until(PROMPT)
	r.say("32\n")
	if not r.until("\nYes: 32\n"):
		return ["the second answer does not count"]
	for answer in ("running", "40"):
		r.until(PROMPT)
		r.say(answer + "\n")
	r.until(PROMPT)
	r.say(re.findall(r"PERF_EVENT_IOC_ID, \[(\d+)\]", r.text)[-1] + "\n")
	r.until(PROMPT)
	r.say("enospc\n")
	status = r.status()
	return [] if status == 0 else ["exit status %d: %s" % (status, r.text[-500:])]

def test_wrong(name):
	"""Give two wrong answers to each question: a hint follows, then the right answer."""
	r = Reader(name)
	asked = 0
	while r.until(PROMPT):
		r.say("no such thing\n")
		asked += 1
	status = r.status()
	why = [] if status == 1 else ["exit status %d" % status]
	answers, hints = r.text.count("\nAnswer: "), r.text.count("\nNot quite: ")
	if not answers or asked != 2 * answers or hints != answers:
		why.append("%d times asked, %d hints, %d answers" % (asked, hints, answers))
	if not re.search(r"^Read more: ", r.text, re.M):
		why.append("does not come to its end")
	return why

def test_leaving():
	why = []
	for what, keys in (("^D", "\x04"), ("^C", "\x03"), ("quit", "quit\n"), ("q", "q\n")):
		r = Reader("counting")
		r.until(PROMPT)
		if "\nQuestions wait for an answer at '>'. To leave: q, ^D or ^C.\n" not in r.text:
			why.append("it does not say how to leave")
		r.say(keys)
		status = r.status()
		if status != 1 or "Lesson ended" not in r.text:
			why.append("%s: exit status %d, %s" % (what, status, r.text[-200:]))
		if "\nAnswer" in r.text:
			why.append("%s tells the answer" % what)
	return why

def test_no_terminal():
	"""Without a terminal no question is asked."""
	r = run("counting", input="8\n")
	return [] if r.returncode == 0 and PROMPT not in r.stdout else ["it waits for answers"]

# ---- what it looks like ------------------------------------------------------------

def test_markdown():
	r = run("--all", "--markdown")
	why = [] if r.returncode == 0 else ["exit status %d" % r.returncode]
	inside, titles, steps = False, 0, 0
	for line in r.stdout.split("\n"):
		if line == "```":
			inside = not inside
		elif not inside:
			titles += line.startswith("# ")
			steps += bool(re.match(r"## \d+\. ", line))
			if line.startswith("    "):
				why.append("indented: " + line)
	if inside:
		why.append("a block is not closed")
	if titles != len(lessons()):
		why.append("%d titles" % titles)
	if steps < 5 * len(lessons()):
		why.append("%d steps" % steps)
	return why

def test_list():
	r = run()
	why = [] if r.returncode == 0 else ["exit status %d" % r.returncode]
	named = re.findall(r"^([a-z-]+)  ", r.stdout.partition("\nTasks")[0], re.M)
	if sorted(named) != sorted(lessons()):
		why.append("lists %s" % named)
	why += ["too wide: " + l for l in r.stdout.split("\n") if len(l) > WIDTH]
	if ("hardware counters: not here" in r.stdout) == bool(glob.glob(DEVICES + "/cpu*")):
		why.append("is wrong about hardware counters: " + r.stdout)
	if ("hardware breakpoints: here" in r.stdout) == bool(machine.lacks("breakpoints")):
		why.append("is wrong about breakpoints: " + r.stdout)
	return why

def test_list_nobody():
	return ["is wrong about what a user has"] if "tracepoints: here" in run(user=sp.NOBODY).stdout else []

# ---- what does not work ---------------------------------------------------------------

def steps(text):
	"""Return {title: text with single blanks} of the steps; "" for a step that is not there."""
	parts = re.split(r"^Step \d+ of \d+: (.*)$", text, flags=re.M)[1:]
	return collections.defaultdict(str, {title: " ".join(body.split())
					     for title, body in zip(parts[::2], parts[1::2])})

def test_dead_breakpoints():
	"""Breakpoints that never fire are named, and their counts are no answers."""
	env = dict(os.environ, LC_ALL="C", LD_PRELOAD=DEAD)
	r = run("breakpoints", env=env)
	why, step = trouble_in("breakpoints", r), steps(r.stdout)
	if "hardware breakpoints do not fire" not in step["Count"]:
		why.append("does not say what is missing")
	why += ["a question in " + s for s in ("Count", "Sample") if "Question" in step[s]]
	why += ["no %s in %s" % (error, s) for s, error in (("Length and alignment", "EINVAL"),
							     ("How many", "ENOSPC")) if error not in step[s]]
	for _ in range(4):	# a page that the kernel reclaims meanwhile is one more fault
		r = run("signals", env=env)
		step = steps(r.stdout)
		if "Answer: 3 " in step["sigtrap"]:
			break
	why += trouble_in("signals", r)
	for s, words in (("sigtrap", "hardware breakpoints do not fire"),
			 ("sigtrap", "How many SIGTRAPs did it get? Answer: 3 "),
			 ("Data of the signal", "Answer: 0x1234 ")):
		if words not in step[s]:
			why.append("'%s' is not in %s: %s" % (words, s, step[s]))
	if "hardware breakpoints: dead here" not in run(env=env).stdout:
		why.append("the list does not say so")
	return why

# whose answer is 0 where everything works
NOTHING_COUNTED = (("counting", "Open"), ("bpf", "On a tracepoint"))

def test_dead_faults():
	"""Page faults that are not counted are named, and nothing that comes of them is an answer."""
	env, why = dict(os.environ, LC_ALL="C", LD_PRELOAD=DEAD, DEAD="breakpoints software"), []
	for name in ("bpf", "counting", "perf-data", "records", "redirect", "sampling", "signals"):
		r = run(name, env=env)
		if r.returncode or r.stderr:
			why.append("%s: status %d: %s" % (name, r.returncode, r.stderr))
		if "page faults are not counted" not in " ".join(r.stdout.split()):
			why.append(name + " does not say what is missing")
		why += ["%s: %s: %s" % (name, title, text) for title, text in steps(r.stdout).items()
			if re.search(r"Answer: (0|-1|another code) ", text) and (name, title) not in NOTHING_COUNTED]
	return why

def test_late_samples():
	"""A sample that comes late is waited for."""
	step = steps(run("sampling", env=dict(os.environ, LC_ALL="C", LD_PRELOAD=DEAD, DEAD="late")).stdout)["A frequency"]
	return [] if "PERF_RECORD_SAMPLE" in step or "This needs" in step else ["no sample in: " + step]

def test_no_perf(tmp):
	"""Without perf, pevtrace records the file; the bytes are those of its own lesson's attr."""
	os.symlink(shutil.which("true"), os.path.join(tmp, "true"))
	r = run("perf-data", env=dict(os.environ, LC_ALL="C", PATH=tmp))
	return trouble_in("perf-data", r) + \
	       ([] if "pevtrace recorded two events" in r.stdout else ["it was recorded by another: " + r.stdout])

def test_older_kernel():
	"""On Linux 5.10, which has neither PERF_FORMAT_LOST nor sigtrap, lessons do without."""
	why, step = [], collections.defaultdict(str)
	for name in ("sampling", "signals"):
		r = subprocess.run([PEVTRACE, "--as-kernel=5.10", "-o", "/dev/null", PEVTRACE, "learn", name],
				   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
				   text=True, env=dict(os.environ, LC_ALL="C"), timeout=PATIENCE)
		why += trouble_in(name, r)
		step.update(steps(r.stdout))
	words = re.search(r"(\d+) faults should write a sample, and (\d+) of them had room\. How many samples are lost\? "
			  r"Answer: (\d+) ", step["Lost samples"])
	return why + \
	       ([] if words and int(words[1]) == int(words[2]) + int(words[3]) else ["lost: " + step["Lost samples"]]) + \
	       ([] if "sigtrap requires Linux 5.13" in step["sigtrap"] and "Question" not in step["Exec"] else
		["sigtrap: %s %s" % (step["sigtrap"], step["Exec"])])

def test_nobody_lacks():
	"""What an ordinary user may not open is named, and the steps that need it say so."""
	r = run("uprobes", user=sp.NOBODY)
	step = steps(r.stdout)
	return ([] if "This needs uprobes. The kernel refuses one here: EACCES" in step["A dynamic PMU"] and
		"This, too, needs uprobes." in step["Returns"] else ["it says: " + r.stdout])

def test_hidden_level():
	"""A perf_event_paranoid that cannot be read has no value."""
	r = subprocess.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs none /proc/sys && exec \"$0\" learn permissions",
			    PEVTRACE], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
			   text=True, env=dict(os.environ, LC_ALL="C"), timeout=PATIENCE)
	unsure = "Perhaps rule" if not machine.lacks("restricted users") else ""
	return trouble_in("permissions", r) + \
	       ([] if "cannot be read" in r.stdout and unsure in r.stdout and
		"Rule `paranoid_all`" not in r.stdout and not re.search(r"level -?\d+:", r.stdout) else
		["it says: " + r.stdout])

def test_hidden_sysfs():
	"""That sysfs is missing is said once, not in each lesson."""
	r = subprocess.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs none /sys && exec \"$0\" learn --all",
			    PEVTRACE], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
			   stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
	return [] if r.stderr.count("/sys is not mounted") == 1 else ["it says: " + r.stderr]

def test_misuse():
	why = []
	for args, words in ((["countin"], "did you mean counting"),
			    (["xyzzy"], "lists them"), (["--frob"], "unknown option"),
			    (["--all", "counting"], "cannot be combined"),
			    (["-o"], "requires an argument"),
			    (["counting", "-o", "/nonexistent/x"], "cannot write"),
			    (["--color=pink", "counting"], "always, never or auto")):
		r = run(*args)
		if r.returncode != 2 or words not in r.stderr or r.stdout:
			why.append("%s: exit status %d, %s" % (args, r.returncode, r.stderr))
	r = run("counting", "-o", "/dev/full")
	if r.returncode != 2:
		why.append("/dev/full: exit status %d" % r.returncode)
	return why

def test_options(tmp):
	why = []
	path = os.path.join(tmp, "out")
	r = run("counting", "--no-input", "-o", path)
	if r.returncode or r.stdout or "Read more" not in open(path).read():
		why.append("-o does not write there")
	if "\x1b[1m" not in run("counting", "--color=always", "--no-input").stdout:
		why.append("--color=always has no colors")
	both = run("counting", "errors", "--no-input").stdout
	if both.count("\nRead more: ") != 2:
		why.append("two names are not two lessons")
	return why

# ---- what is in the texts ------------------------------------------------------------

def described():
	"""Return all names in xlat/: constants and members."""
	names, fields, errors = set(), set(), set()
	for path in glob.glob(ROOT + "/xlat/*.in") + glob.glob(ROOT + "/src/[ce]*/*.in"):
		kind = ""
		for line in open(path):
			if line.startswith("%"):
				kind = line.split()[0]
			elif line.strip() and not line.startswith("#") and \
					kind not in ("%activity", "%object"):
				word = line.split("\t")[0]
				(fields if kind == "%layout" else names).add(word)
				if os.path.basename(path) == "errno.in":
					errors.add(word)
	return names, fields, errors

def test_names():
	names, fields, errors = described()
	why = []
	for lesson in lessons():
		text = text_of(lesson)
		body = "\n".join(l for l in text.split("\n") if not l.startswith("#"))
		for word in re.findall(r"\b(?:PERF|HW)_[A-Z0-9_]+\b", body):
			if word not in names and word != "PERF_":
				why.append("%s: there is no %s" % (lesson, word))
		for word in re.findall(r"\bE[A-Z0-9]{2,}\b", body):
			if word not in errors and not hasattr(errno, word):
				if word not in ("ERRORS", "EVENTS", "EXIT", "ENABLE"):
					why.append("%s: there is no %s" % (lesson, word))
		for word in re.findall(r"`([a-z][a-z0-9_]*)=[^`]*`", body):
			if word not in fields:
				why.append("%s: no member is called %s" % (lesson, word))
		for word in re.findall(r"\b((?:exclude|sample|wakeup|inherit|enable|remove|bp|"
				       r"cap_user|time|data)_[a-z0-9_]+)\b", body):
			if word not in fields and word not in names:
				why.append("%s: no member is called %s" % (lesson, word))
	return why

def test_try():
	"""The commands at the end name existing verbs, lessons and options."""
	why = []
	table = subprocess.run([PEVTRACE, "help", "--list"], stdout=subprocess.PIPE, text=True).stdout
	verbs = set(re.findall(r"^verb\t(\w+)", table, re.M))
	for lesson in lessons():
		part = text_of(lesson).split("%try")[1]
		commands = [l.strip() for l in part.split("\n") if l.startswith("\t")]
		if not any(c.startswith("pevtrace ") for c in commands):
			why.append(lesson + " tries nothing")
		for c in commands:
			words = re.split(r"\s{2,}", c)[0].split()
			if words[0] != "pevtrace" or words[1].startswith("-"):
				continue
			if words[1] not in verbs and words[1] != "perf" and not shutil.which(words[1]):
				why.append("%s: %s is no verb" % (lesson, words[1]))
			if words[1] == "learn" and len(words) > 2 and words[2] not in lessons():
				why.append("%s: there is no lesson %s" % (lesson, words[2]))
	return why

def generate(awk, tmp, *files):
	"""Return (exit status, C, messages)."""
	out = tempfile.mkdtemp(dir=tmp)
	r = subprocess.run(awk + ["-v", "out=" + out, "-f", "lessons/gen.awk"] + list(files),
			   cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
			   env=dict(os.environ, LC_ALL="C"))
	made = [open(p).read() for p in sorted(glob.glob(os.path.join(out, "*")))]
	return r.returncode, made, r.stderr

def test_awks(tmp):
	"""Every awk generates the same C from the lessons."""
	files = ["lessons/%s.lesson" % n for n in sorted(lessons())]
	first, why = None, []
	for awk in (["mawk"], ["gawk", "--posix"], ["busybox", "awk"], ["original-awk"]):
		if not shutil.which(awk[0]):
			continue
		status, made, said = generate(awk, tmp, *files)
		if status or said:
			why.append("%s: exit status %d: %s" % (awk, status, said))
		elif first and made != first:
			why.append("%s makes something else" % awk)
		first = first or made
	return why if first else why + ["there is no awk"]

def test_mistakes(tmp):
	"""Errors in a lesson are reported with file and line."""
	why = []
	for line, words in (("%frob", "unknown %frob"), ("%do No-Such", "not the name"),
			    ("%hint x", "belongs to an %ask"),
			    ("%ask What?\n\n%step Next", "needs %answer"),
			    ("%step First\n%needs uprobe", "not among the %needs")):
		path = os.path.join(tmp, "bad.lesson")
		with open(path, "w") as f:
			f.write("%lesson bad\n" + line + "\n")
		status, _, said = generate(["awk"], tmp, path)
		if not status or words not in said or path + ":" not in said:
			why.append("%s: exit status %d: %s" % (line, status, said))
	return why

# ---- nothing is left behind -----------------------------------------------------------------

def test_leaves_nothing():
	before = sp.tracefs_lines()
	r = run("tracepoints", "uprobes", "--no-input")
	return ([] if r.returncode == 0 else ["exit status %d" % r.returncode]) + \
	       sp.tracefs_changes(before)

def test_full_queue():
	"""If no signal can be queued, SIGIO arrives, and must not end the lesson."""
	def limit():
		resource.setrlimit(resource.RLIMIT_SIGPENDING, (0, 0))
	r = run("signals", "--no-input", preexec_fn=limit)
	return trouble_in("signals", r) + \
	       ([] if "SIGIO" in r.stdout else ["no SIGIO came: " + r.stdout])

def test_no_children():
	"""Processes that a lesson starts end with it."""
	import ctypes
	libc = ctypes.CDLL(None)
	libc.prctl(36, 1, 0, 0, 0)	# PR_SET_CHILD_SUBREAPER
	why = []
	r = Reader("sampling")
	r.until(PROMPT)
	r.say("\x03")
	r.status()
	run("--all", "--no-input")
	try:
		left = os.waitpid(-1, os.WNOHANG)
		why.append("a child is left: %s" % (left,))
	except ChildProcessError:
		pass
	libc.prctl(36, 0, 0, 0, 0)
	return why

def nobody_cannot():
	"""Return why an ordinary user cannot count events with pevtrace, or None."""
	if os.getuid():
		return "needs root to become another user"
	try:
		r = run("counting", "--no-input", user=sp.NOBODY)
	except PermissionError:
		return "another user cannot run " + PEVTRACE
	return "an ordinary user may not open events here" if r.returncode == 2 else None

def tracepoints_for_all():
	"""Return why an ordinary user's list may have tracepoints, or None."""
	try:
		return "any user may use tracepoints here" if machine.setting("paranoid") < 0 else None
	except machine.Lack as e:
		return str(e)

def cannot_hide():
	"""Return why /proc/sys cannot be hidden from a process, or None."""
	r = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/proc/sys"], stderr=subprocess.PIPE,
			   text=True)
	return "cannot mount in a mount namespace: " + r.stderr.strip() if r.returncode else None

def main():
	if not PEVTRACE:
		sp.skip_all("PEVTRACE is not set")
	if run("counting", "--no-input").returncode == 2:
		sp.skip_all("no event can be opened here")
	tmp = tempfile.mkdtemp(prefix="pevtrace-learn-")
	tap = sp.Tap()
	no_dead = None if os.path.exists(DEAD) and not sp.sanitized() else \
		  "dead.so was not built, or pevtrace has sanitizers"
	root, not_nobody = os.getuid() == 0, nobody_cannot()
	names = sorted(lessons())
	tests = [("%s runs through" % n, lambda n=n: test_through(n), None) for n in names]
	tests += [("%s as an ordinary user" % n, lambda n=n: test_through_nobody(n),
		   not_nobody) for n in names]
	tests += [("%s against strace" % n, lambda n=n: test_strace(n, tmp),
		   None if STRACE else "strace is not installed") for n in names]
	tests += [("%s with wrong answers" % n, lambda n=n: test_wrong(n), None)
		  for n in names]
	tests += [("right answers", test_right, None),
		  ("a second chance", test_second_chance, None),
		  ("leaving", test_leaving, None),
		  ("no terminal", test_no_terminal, None),
		  ("documents", test_markdown, None), ("the list", test_list, None),
		  ("the list for an ordinary user", test_list_nobody,
		   not_nobody or tracepoints_for_all()),
		  ("dead breakpoints", test_dead_breakpoints, no_dead),
		  ("dead page faults", test_dead_faults, no_dead),
		  ("late samples", test_late_samples, no_dead),
		  ("without perf", lambda: test_no_perf(tmp), None),
		  ("an older kernel", test_older_kernel, machine.cannot_trace(PEVTRACE)),
		  ("what an ordinary user lacks", test_nobody_lacks,
		   not_nobody or (None if os.path.exists(DEVICES + "/uprobe") else "no uprobe PMU in sysfs")),
		  ("a hidden perf_event_paranoid", test_hidden_level, cannot_hide()),
		  ("a hidden sysfs", test_hidden_sysfs, cannot_hide()),
		  ("misuse", test_misuse, None), ("options", lambda: test_options(tmp), None),
		  ("names in the texts", test_names, None),
		  ("commands to try", test_try, None),
		  ("awks", lambda: test_awks(tmp), None),
		  ("mistakes in a lesson", lambda: test_mistakes(tmp), None),
		  ("nothing is left in tracefs", test_leaves_nothing,
		   None if root and sp.tracefs() else "needs root and tracefs"),
		  ("a full queue of signals", test_full_queue, None),
		  ("no child is left", test_no_children, None)]
	words = sys.argv[1:]
	for name, fn, reason in tests:
		if words and not any(w in name for w in words):
			continue
		if reason:
			tap.skip(name, reason)
			continue
		why = fn()
		tap.ok(not why, name, why)
	shutil.rmtree(tmp, ignore_errors=True)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
