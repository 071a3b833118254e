#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace learn --check: examples/tasks has a solution of each task, which passes, as root and as an
ordinary user.  For each thing that a task wants, its solution is changed so that this is missing:
the answer names it, with a hint.

The program's output is its own; what it exits with is said; a machine that cannot do a task says so.
"""

import os
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from checks import TAP, check, differ
from programs import PEVTRACE, run
import machine
import straceparse as sp

ROOT = os.path.dirname(HERE)
TARGETS = os.path.abspath(os.environ.get("PEVTRACE_TARGETS", os.path.join(HERE, "targets")))
TESTS = os.path.dirname(TARGETS)
DEAD = os.path.join(TESTS, "handicap", "dead.so")
CC = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

def rows(section):
	"""Return the cells of the rows of a section of tasks.in."""
	with open(os.path.join(ROOT, "src/verbs/learn/tasks.in"), encoding="utf-8") as f:
		text = f.read().partition("%" + section + "\n")[2].partition("\n%")[0]
	return [l.split("\t") for l in text.splitlines() if l and l[0] != "#"]

TASKS = [r[0] for r in rows("tasks")]

READ = ("if (read(", "if (0 && read(")	# the call is not made
STORE = ("\t__atomic_store_n(&meta->data_tail, tail, __ATOMIC_RELEASE);\n", "")
ANONYMOUS = ("MAP_SHARED, fd, 0)", "MAP_SHARED | MAP_ANONYMOUS, -1, 0)")

# For each row of %wants: changes (text, text in place of it) after which that is what is missing,
# and words of the answer.
WRONG = {
	"count-loop": [
		([("\tattr.disabled = 1;\n", "")], "No event was opened with disabled=1"),
		([("\tioctl(fd, PERF_EVENT_IOC_ENABLE, 0);\n", "")], "No PERF_EVENT_IOC_ENABLE enabled the event"),
		([("\tioctl(fd, PERF_EVENT_IOC_DISABLE, 0);\n", "")], "No PERF_EVENT_IOC_DISABLE followed"),
		([READ], "no count above 0 was read"),
	],
	"read-group": [
		([("\tattr.read_format = PERF_FORMAT_GROUP;\n", "")], "No leader was opened with PERF_FORMAT_GROUP"),
		([("PAGE_FAULTS, leader)", "PAGE_FAULTS, -1)")], "No other event was opened in its group"),
		([READ], "No read of the leader, with a count above 0"),
	],
	"scale-times": [
		([(" | PERF_FORMAT_TOTAL_TIME_RUNNING", "")], "No event was opened with both times"),
		([READ], "No read returned a count above 0 and the time"),
	],
	"exec-child": [
		([("&attr, child,", "&attr, 0,")], "No event was opened on another process"),
		([("\tattr.enable_on_exec = 1;\n", "")], "does not have both disabled=1 and enable_on_exec=1"),
		([('\t\texeclp("true", "true", (char *)NULL);\n', "")], "executed no program after the open"),
		([("if (read(fd,", "if (0 && read(fd,")], "After the exec, no count above 0 was read"),
	],
	"inherit-threads": [
		([("\tattr.inherit = 1;\n", "")], "No event was opened with inherit=1"),
		([("i < 2", "i < 1")], "Threads created after the event was opened: 1; two or more"),
		([READ], "After the threads were created, no count above 0 was read"),
	],
	"sample-1000hz": [
		([("sample_freq = 1000;", "sample_freq = 100;")], "No event was opened with a frequency of 1000 Hz"),
		([("PERF_SAMPLE_IP;", "PERF_SAMPLE_TID;")], "do not have the instruction pointer"),
		([ANONYMOUS], "ring was not mapped"),
		([("CLOCKS_PER_SEC / 5", "CLOCKS_PER_SEC / 500")], r"Samples seen in the ring: \d+; 20 or more"),
		([STORE], r"Bytes of the ring that are unread at the end: \d+;"),
	],
	"drain-ring": [
		([("2 * page, PROT_READ | PROT_WRITE", "2 * page, PROT_READ"), STORE],
		 "No ring was mapped with PROT_WRITE"),
		([STORE], "data_tail is 0 at the end"),
		([("ROUNDS = 40", "ROUNDS = 1")], "No more was written than the ring can hold"),
		([("poll(&wait_for, 1, 0)", "wait_for.fd < 0 ? -1 : 0")], r"Bytes that were read without a poll before: \d+,"),
		([("FAULTS = 64", "FAULTS = 600")], r"Records lost: \d+, as the ring was full"),
		([("\tioctl(fd, PERF_EVENT_IOC_DISABLE, 0);\n\trecords += drain(fd, meta);\n",
		   "\tstatic volatile char more[1 << 18];\n\n\tfor (size_t i = 0; i < sizeof(more); i += 4096)\n"
		   "\t\tmore[i] = 1;\n")], r"Bytes of the ring that are unread at the end: \d+;"),
	],
	"child-names": [
		([("\tattr.task = 1;\n", "")], "No event was opened with comm=1, mmap=1 or mmap2=1, and task=1"),
		([ANONYMOUS], "ring was not mapped"),
		([("&attr, child,", "&attr, 0,")], r"0 COMM, \d+ MMAP or MMAP2, 0 EXIT; one of each"),
		([STORE], r"Bytes of the ring that are unread at the end: \d+;"),
	],
	"overflow-signal": [
		([("\tattr.sample_period = 1;\n", "")], "No event was opened with a sample_period"),
		([("\tfcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC);\n", "")], "O_ASYNC was not set"),
		([("\tfcntl(fd, F_SETSIG, SIGRTMIN);", "\t")], "No signal was chosen"),
		([("\tfcntl(fd, F_SETOWN_EX, &owner);\n", "")], "Nobody was set who gets the signal"),
		([("PERF_EVENT_IOC_REFRESH, 3", "PERF_EVENT_IOC_ENABLE, 0")], "not enabled by PERF_EVENT_IOC_REFRESH"),
		([("REFRESH, 3);\n", "REFRESH, 3);\n\tioctl(fd, PERF_EVENT_IOC_DISABLE, 0);\n")],
		 "Signals of the event: 0; three or more"),
	],
	"overwrite-ring": [
		([("\tattr.write_backward = 1;", "\t")], "No event was opened with write_backward=1"),
		([("2 * page, PROT_READ,", "2 * page, PROT_READ | PROT_WRITE,")],
		 "No ring of the event was mapped read-only"),
		([("n = page / 8", "n = page / 32")], "than the ring can hold: nothing was overwritten"),
		([("\tioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);\n", "")], "The event was not paused"),
	],
}

def learn(*args, **how):
	return run(PEVTRACE, "learn", *args, **how)

def checked(task, program, *args, **how):
	"""Have a program checked; skip if the machine cannot do the task."""
	r = learn("--check", task, program, *args, **how)
	impossible = re.search(r"^Not possible here: (.*)", r.stdout, re.M)
	if r.returncode == 2 and impossible:
		raise machine.Lack(impossible[1])
	return r

def solution(task):
	return os.path.join(TESTS, "tasks", task)

def test_solution(task, **how):
	r = checked(task, solution(task), **how)
	why = differ(r.returncode, 0, "exit status") + machine.complaints(r.stderr)
	wants = sum(w[0] == task for w in rows("wants"))
	if len(re.findall(r"^    \+ ", r.stdout, re.M)) != wants or "\nPassed: " not in r.stdout:
		why.append("%d things are wanted, it says: %s" % (wants, r.stdout))
	return why

def build(tmp, task, changes):
	"""Compile a solution with changes; return the program."""
	source, program = os.path.join(tmp, "wrong.c"), os.path.join(tmp, "wrong")
	with open(os.path.join(ROOT, "examples/tasks", task + ".c"), encoding="utf-8") as f:
		text = f.read()
	for old, new in changes:
		assert old in text, "%s.c has no '%s'" % (task, old)
		text = text.replace(old, new)
	with open(source, "w", encoding="utf-8") as f:
		f.write(text)
	r = run(CC, "-D_GNU_SOURCE=", "-O1", "-w", "-pthread", "-o", program, source)
	assert not r.returncode, r.stderr
	return program

def test_wrong(tmp, task, number):
	changes, words = WRONG[task][number]
	r = checked(task, build(tmp, task, changes))
	said = " ".join(r.stdout.split())
	why = differ(r.returncode, 1, "exit status") + re.findall("^pevtrace: .*", r.stderr, re.M)
	missing = re.search(r" - (.*?)(?= \? \d| perf_event_open\(| ioctl\(| read\(| mmap\(| fcntl\(| Hint: )", said)
	if not missing or not re.search(words, missing[1]):
		why.append("not '%s': %s" % (words, said))
	hint = [w[6] for w in rows("wants") if w[0] == task][number]
	for text in ("Not passed: ", "Hint: %s. " % hint, "examples/tasks/%s.c" % task):
		if text not in said:
			why.append("no '%s': %s" % (text, said))
	if len(re.findall(r"^    \+ ", r.stdout, re.M)) != number:
		why.append("not %d things are seen: %s" % (number, said))
	why += ["wide: " + l for l in r.stdout.splitlines() if len(l) > 80 and "examples/tasks/" not in l]
	return why

def test_complete():
	"""Each task has a solution and a text, each thing that it wants a wrong program."""
	why = []
	for task in TASKS:
		why += differ(len(WRONG[task]), sum(w[0] == task for w in rows("wants")), task)
		r = learn(task)
		if r.returncode or "examples/tasks/%s.c" % task not in r.stdout or \
		   "learn --check %s ./program" % task not in r.stdout:
			why.append("%s is told as: %s%s" % (task, r.stdout, r.stderr))
	return why

def test_list():
	listed = re.findall(r"^([a-z][a-z0-9-]+) +[A-Z]", learn().stdout.partition("Tasks")[2], re.M)
	return differ(listed, TASKS, "listed")

def test_own():
	"""The program's output, options and exit status are its own."""
	r = checked("count-loop", "sh", "-c", 'echo "out $0 $*"; echo err >&2; exit 3', "--all", "-o")
	return differ(r.stdout.splitlines()[0], "out --all -o", "output") + \
	       differ(machine.complaints(r.stderr), ["err"], "standard error") + \
	       ([] if "Note: the program exited with 3." in r.stdout and
		"Missing: the program opened no event." in r.stdout and r.returncode == 1 else [r.stdout])

def test_killed():
	r = checked("count-loop", "sh", "-c", "kill -TERM $$")
	return [] if "Note: the program was killed by SIGTERM." in r.stdout and r.returncode == 1 else [r.stdout]

def test_refused(tmp):
	"""A program whose event is refused gets the error, and the verb that explains it."""
	r = checked("sample-1000hz", build(tmp, "sample-1000hz", [("sample_freq = 1000;", "sample_freq = 1000000000;")]))
	return [] if "perf_event_open failed with EINVAL." in r.stdout and "pevtrace why -- " in r.stdout else [r.stdout]

def test_impossible(tmp):
	"""Where page faults are not counted, tasks about them are not possible, and nothing runs."""
	file = os.path.join(tmp, "ran")
	r = learn("--check", "drain-ring", "touch", file,
		  env=dict(os.environ, LC_ALL="C", LD_PRELOAD=DEAD, DEAD="software"))
	return differ(r.returncode, 2, "exit status") + differ(os.path.exists(file), False, "it ran") + \
	       ([] if "Not possible here: This needs page-fault events." in r.stdout else [r.stdout])

def test_output(tmp):
	"""-o FILE has the answer, and standard output what the program writes."""
	path = os.path.join(tmp, "answer")
	r = learn("-o", path, "--check", "count-loop", "echo", "hello")
	with open(path, encoding="utf-8") as f:
		answer = f.read()
	return differ(r.stdout, "hello\n", "standard output") + \
	       ([] if "Not passed: " in answer or "Not possible" in answer else [answer])

def test_misuse():
	why = []
	for args, words in ((["--check"], "requires an argument"), (["--check", "count-loop"], "requires a program"),
			    (["--check", "count-lop", "true"], "did you mean count-loop?"),
			    (["--check", "counting", "true"], "'counting' is a lesson"),
			    (["--all", "--check", "count-loop", "true"], "cannot be combined"),
			    (["--check", "count-loop", "/nonexistent"], "/nonexistent")):
		r = learn(*args)
		impossible = "Not possible here" in r.stdout and "/nonexistent" in args
		if r.returncode != 2 or (words not in r.stderr and not impossible):
			why.append("%s: exit status %d, %s" % (args, r.returncode, r.stderr))
	return why

def main():
	if not os.environ.get("PEVTRACE"):
		sp.skip_all("PEVTRACE is not set")
	machine_lacks = machine.lacks("tracing")
	if machine_lacks:
		sp.skip_all(machine_lacks)
	# programs in /tmp may not be executable
	tmp = tempfile.mkdtemp(prefix="wrong-tasks", dir=TESTS if os.access(TESTS, os.W_OK) else None)
	for task in TASKS:
		check("%s: its solution" % task, lambda: test_solution(task))
		if machine.lacks("another user"):
			TAP.skip("%s: the same by an ordinary user" % task, machine.lacks("another user"))
		else:
			check("%s: the same by an ordinary user" % task, lambda: test_solution(
				task, user=sp.NOBODY, group=sp.NOBODY, extra_groups=[]))
		for number in range(len(WRONG[task])):
			name = "%s, wrong: %s" % (task, WRONG[task][number][1])
			if CC:
				check(name, lambda: test_wrong(tmp, task, number))
			else:
				TAP.skip(name, "no C compiler")
	check("each task is complete", test_complete)
	check("the list of tasks", test_list)
	check("what is the program's own", test_own)
	check("a program that is killed", test_killed)
	if CC:
		check("a program whose event is refused", lambda: test_refused(tmp))
	else:
		TAP.skip("a program whose event is refused", "no C compiler")
	if os.path.exists(DEAD) and not sp.sanitized():
		check("a machine that cannot do a task", lambda: test_impossible(tmp))
	else:
		TAP.skip("a machine that cannot do a task", "dead.so was not built, or pevtrace has sanitizers")
	check("-o", lambda: test_output(tmp))
	check("misuse", test_misuse)
	shutil.rmtree(tmp)
	return TAP.done()

if __name__ == "__main__":
	sys.exit(main())
