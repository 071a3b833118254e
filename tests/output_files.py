#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files that pevtrace creates: what others put under their names, also while they are opened; their
modes; and what a kill leaves of perf.data."""

import collections
import ctypes
import itertools
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from checks import run_all, start
import machine
from programs import PEVTRACE, run
import straceparse as sp

NOBODY, SOMEBODY = sp.NOBODY, 65533
KEPT = "kept\n"
RENAME_EXCHANGE = 2
AT_FDCWD = -100
DEMO = os.path.join(os.environ.get("PEVTRACE_TARGETS", "tests/targets"), "demo")
LIBC = ctypes.CDLL(None, use_errno=True)

def write(path, text=KEPT, owner=None):
	with open(path, "w") as f:
		f.write(text)
	if owner is not None:
		os.chown(path, owner, owner)

def read(path):
	with open(path) as f:
		return f.read()

def outputs(program, tmp, traced=("true",)):
	"""Return names and commands, where %s is the path of the output."""
	dump = os.path.join(tmp, "dump")
	return [
		("a trace", [program, "-o%s", *traced]),
		("a trace, appended to", [program, "-A", "-o%s", *traced]),
		("a dump", [program, "-o/dev/null", "--json=%s", *traced]),
		("perf.data", [program, "-o/dev/null", "--perf-data=%s", *traced]),
		("decode", [program, "decode", "-o%s", dump]),
		("decode into a dump", [program, "decode", "-o/dev/null", "--json=%s", dump]),
		("a page", [program, "report", "-o%s", dump]),
		("trace events", [program, "report", "--format=chrome", "-o%s", dump]),
		("perf.data of a dump", [program, "report", "--format=perf-data", "-o%s", dump]),
		("a C program", [program, "codegen", "-o%s", dump]),
		("an explanation", [program, "explain", "-o%s", "precise_ip"]),
		("a list", [program, "list", "-o%s", "ioctl"]),
		("an answer", [program, "why", "--rules-only", "-o%s", "{type=1}"]),
		("lessons", [program, "learn", "-o%s"]),
		("a patch", [program, "conform", "--self", "--no-behaviour", "-o%s"]),
	]

def obstacles(shared, victim, own, other):
	"""Put files under names; return the names."""
	at = lambda name: os.path.join(shared, name)
	os.symlink(victim, at("own link"))
	os.symlink(victim, at("other's link"))
	os.symlink(victim + ".new", at("link to nothing"))
	os.symlink(at("own link"), at("link to a link"))
	os.link(at("own link"), at("hard link to a link"), follow_symlinks=False)
	os.link(victim, at("hard link"))
	write(at("other's file"), owner=other)
	os.mkfifo(at("other's pipe"))
	os.chown(at("other's pipe"), other, other)
	os.link(at("other's file"), at("hard link to other's file"))
	for name in os.listdir(shared):
		if "other" not in name:
			os.chown(at(name), own, own, follow_symlinks=False)
	os.chown(at("other's link"), other, other, follow_symlinks=False)
	return sorted(os.listdir(shared))

def prepare(tmp, mode=0o1777):
	"""Return a directory that others may write to, a program that they may run, and a dump there."""
	top = os.path.join(tmp, str(len(os.listdir(tmp))))
	os.mkdir(top)
	os.chmod(tmp, 0o755)
	shared, program = os.path.join(top, "shared"), os.path.join(top, "pevtrace")
	os.mkdir(shared)
	os.chmod(shared, mode)
	shutil.copy(PEVTRACE, program)
	shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden", "stat.json"),
		    os.path.join(top, "dump"))
	return top, shared, program

def test_obstacles(tmp, nobody):
	top, shared, program = prepare(tmp)
	own, other = (NOBODY, 0) if nobody else (0, NOBODY)
	victim = os.path.join(top, "victim")
	write(victim, owner=own)
	os.chown(top, own, own)
	names = obstacles(shared, victim, own, other)
	traced = ("touch", os.path.join(top, "ran"))
	how = {"preexec_fn": sp.as_nobody()} if nobody else {}
	wrong = []
	for (what, command), name in itertools.product(outputs(program, top, traced), names):
		path = os.path.join(shared, name)
		r = run(*[a.replace("%s", path) for a in command], cwd="/", **how)
		if r.returncode != 2 or "link or belongs to another user" not in r.stderr:
			wrong.append("%s to %s: status %d: %s" % (what, name, r.returncode, r.stderr))
		if read(victim) != KEPT or read(os.path.join(shared, "other's file")) != KEPT or \
		   os.path.exists(victim + ".new") or \
		   os.path.exists(traced[1]) or sorted(os.listdir(shared)) != names:
			return wrong + ["%s to %s: something was written to, or the target ran" % (what, name)]
	return wrong

def test_tasks(tmp):
	"""PATH.PID of a task, where a link has that name."""
	top, shared, program = prepare(tmp)
	victim = os.path.join(top, "victim")
	write(victim)
	for _ in range(5):	# tests that choose the next pid may run beside this one
		pid = os.fork()
		if not pid:
			os._exit(0)
		os.waitpid(pid, 0)
		for i in range(pid, pid + 2000):
			path = os.path.join(shared, "t.%d" % i)
			if not os.path.lexists(path):
				os.symlink(victim, path)
		r = run(program, "-ff", "-o", os.path.join(shared, "t"), DEMO)
		if r.stderr:
			break
	return [] if read(victim) == KEPT and "a link or belongs to another user" in r.stderr else \
		["status %d: %s" % (r.returncode, r.stderr), read(victim)]

def test_own(tmp):
	"""One's own files there, links elsewhere, and standard streams."""
	top, shared, program = prepare(tmp)
	at = lambda name: os.path.join(top, name)
	os.symlink(os.path.join(shared, "linked"), at("link"))
	write(os.path.join(shared, "own"))
	write(os.path.join(shared, "long name"[:4] * 63))
	wrong = []
	for what, command in outputs(program, top, (DEMO,)):
		if "--perf-data=%s" in command or "--format=perf-data" in command:
			continue	# its events have no ring buffers
		for path in (os.path.join(shared, "own"), at("link"), os.path.join(shared, "new"),
			     os.path.join(shared, "long" * 63), "/dev/stdout", "/dev/fd/1"):
			r = run(*[a.replace("%s", path) for a in command])
			text = r.stdout if path.startswith("/dev") else read(path)
			if r.returncode == 2 or text == KEPT or not text:
				wrong.append("%s to %s: status %d: %s" % (what, path, r.returncode,
									  r.stderr))
		os.unlink(os.path.join(shared, "new"))
	r = run(program, "list", "-o", os.path.join(shared, "x" * 256), "ioctl")
	if r.returncode != 2 or "File name too long" not in r.stderr:
		wrong.append("256 characters: " + r.stderr)
	r = run(program, "list", "-o", shared, "ioctl")
	if r.returncode != 2 or "Is a directory" not in r.stderr:
		wrong.append("a directory: " + r.stderr)
	return wrong if os.path.islink(at("link")) else wrong + ["the link is gone"]

def exchange(names):
	"""Give the files each other's names, until killed."""
	while True:
		for name in names[1:]:
			LIBC.renameat2(AT_FDCWD, names[0].encode(), AT_FDCWD, name.encode(),
				       RENAME_EXCHANGE)

def attack(tmp, setup, runs):
	"""Create an answer again and again while files are exchanged; return how runs ended."""
	top, shared, program = prepare(tmp, 0o755)
	victim, statuses = os.path.join(top, "victim"), collections.Counter()
	write(victim)
	os.chown(shared, NOBODY, NOBODY)
	names = setup(shared, victim)
	for name in names:
		if "evil" in name:
			os.chown(name, NOBODY, NOBODY, follow_symlinks=False)
	pid = os.fork()
	if not pid:
		exchange(names)
	try:
		for _ in range(runs):
			r = run(program, "list", "-o", names[0], "ioctl")
			statuses[r.returncode] += 1
			if read(victim) != KEPT:
				return ["written to after %s" % statuses]
	finally:
		os.kill(pid, signal.SIGKILL)
		os.waitpid(pid, 0)
	return [] if set(statuses) <= {0, 2} and statuses[2] else ["statuses %s" % statuses]

def test_race_of_links(tmp):
	"""One's own link to a file of one's own, and one of others."""
	def setup(shared, victim):
		at = lambda name: os.path.join(shared, name)
		write(at("mine"))
		os.symlink(at("mine"), at("link"))
		os.symlink(victim, at("evil link"))
		return [at("link"), at("evil link")]
	return attack(tmp, setup, sp.times(60, 1000))

def test_race_of_files(tmp):
	"""A file that one would write to, and other names for a file that one would not."""
	def setup(shared, victim):
		at = lambda name: os.path.join(shared, name)
		write(at("mine"))
		os.symlink(victim, at("evil link"))
		os.link(victim, at("hard"))
		return [at("mine"), at("evil link"), at("hard")]
	return attack(tmp, setup, sp.times(60, 1000))

def link_and_unlink(path, victim):
	while True:
		for call in (os.link, lambda _, path: os.unlink(path)):
			try:
				call(victim, path)
			except OSError:
				pass

def test_race_of_counts(tmp):
	"""Another name for a file, which is gone when names are counted."""
	top, shared, program = prepare(tmp, 0o755)
	victim, path = os.path.join(top, "victim"), os.path.join(shared, "evil")
	write(victim)
	os.chown(shared, NOBODY, NOBODY)
	pid = os.fork()
	if not pid:
		link_and_unlink(path, victim)
	try:
		for i in range(sp.times(60, 2000)):
			run(program, "list", "-o", path, "ioctl")
			if read(victim) != KEPT:
				return ["written to after %d runs" % i]
			try:
				os.unlink(path)
			except OSError:
				pass
	finally:
		os.kill(pid, signal.SIGKILL)
		os.waitpid(pid, 0)
	return []

def test_backup(tmp):
	"""A perf.data that is there becomes PATH.old, if both are one's own or in one's own directory."""
	_, shared, program = prepare(tmp)
	path, wrong = os.path.join(shared, "perf.data"), []
	for mode, mine, old, moved in ((0o1777, NOBODY, None, False), (0o1777, NOBODY, SOMEBODY, False),
				       (0o1777, NOBODY, 0, False), (0o1777, 0, SOMEBODY, False),
				       (0o1777, 0, 0, True), (0o1777, 0, None, True),
				       (0o755, NOBODY, SOMEBODY, True)):
		os.chmod(shared, mode)
		write(path, "new\n", mine)
		if old is not None:
			write(path + ".old", "old\n", old)
		r = run(program, "-o/dev/null", "--perf-data=" + path, "true")
		got = (r.returncode == 0, read(path) != "new\n",
		       os.path.exists(path + ".old") and read(path + ".old") == "new\n",
		       old is None or moved or read(path + ".old") == "old\n")
		if got != (moved, moved, moved, True):
			wrong.append("owners %s and %s: %s %s" % (mine, old, got, r.stderr))
		for name in os.listdir(shared):
			os.unlink(os.path.join(shared, name))
	os.chmod(shared, 0o1777)
	write(path, "new\n")
	os.symlink(path, path + ".old")
	r = run(program, "-o/dev/null", "--perf-data=" + path, "true")
	if r.returncode != 2 or "cannot rename" not in r.stderr or not os.path.islink(path + ".old"):
		wrong.append("a link: " + r.stderr)
	return wrong

def test_modes(tmp):
	"""What is made of a dump or perf.data is not more open than that."""
	top, _, program = prepare(tmp, 0o755)
	dump, out, wrong = os.path.join(top, "dump"), os.path.join(top, "out"), []
	with open(dump) as f:
		line = next(i for i, l in enumerate(f, 1) if '"perf_event_open"' in l)
	with open(os.path.join(top, "perf.data"), "wb") as f:
		f.write(subprocess.run([program, "report", "--format=perf-data", dump], check=True,
				       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
	log = os.path.join(top, "log")
	with open(log, "w") as f:
		f.write("perf_event_open({type=PERF_TYPE_SOFTWARE, size=0x88, config=PERF_COUNT_SW_DUMMY, "
			"sample_freq=1, freq=1}, 0, -1, -1, 0) = -1 EINVAL (Invalid argument)\n")
	commands = outputs(program, top)[4:10] + [
		("the input -", [program, "decode", "-o%s", "-"]),
		("a line explained", [program, "explain", "-o%s", "%s:%d" % (dump, line)]),
		("a dump explained", [program, "explain", "-o%s", dump]),
		("a line answered", [program, "why", "--rules-only", "-o%s", "%s:%d" % (dump, line)]),
		("a dump answered", [program, "why", "--rules-only", "-o%s", dump]),
	] + [("%s of a log" % verb, [program, verb, "-o%s", log])
	     for verb in ("decode", "explain", "why")] + [
		("tasks", [program, "decode", "-ff", "-o%s", dump]),
	]
	for mode, (what, command) in itertools.product((0o600, 0o640, 0o444, 0o666), commands):
		os.chmod(dump, mode)
		os.chmod(log, mode)
		shutil.rmtree(os.path.join(top, "shared"))
		os.mkdir(os.path.join(top, "shared"))
		out = os.path.join(top, "shared", "out")
		with open(dump) as f:
			r = run(*[a.replace("%s", out) for a in command], stdin=f, umask=0)
		want = (mode | 0o600) & (0o600 if "--format=perf-data" in command else 0o666)
		modes = {n: stat.S_IMODE(os.stat(os.path.join(top, "shared", n)).st_mode)
			 for n in os.listdir(os.path.join(top, "shared"))}
		if set(modes.values()) != {want}:
			wrong.append("%s, mode %o: %s %s" % (what, mode, modes, r.stderr))
	return wrong

def test_group(tmp):
	"""The group of what is made has no rights that were another group's."""
	top, shared, program = prepare(tmp, 0o755)
	dump, out, wrong = os.path.join(top, "dump"), os.path.join(shared, "out"), []
	for group, mode, want in ((0, 0o640, 0o640), (NOBODY, 0o640, 0o600), (NOBODY, 0o664, 0o644)):
		os.chown(dump, 0, group)
		os.chmod(dump, mode)
		run(program, "decode", "-o", out, dump, umask=0)
		got = stat.S_IMODE(os.stat(out).st_mode)
		os.unlink(out)
		if got != want:
			wrong.append("group %d, mode %o: %o" % (group, mode, got))
	return wrong

def test_kills(tmp):
	"""A kill at any moment leaves a perf.data that perf reads."""
	path, wrong, seen = os.path.join(tmp, "killed.data"), [], collections.Counter()
	perf = shutil.which("perf")
	for _ in range(sp.times(40, 400)):
		p = subprocess.Popen([PEVTRACE, "-o/dev/null", "--perf-data=" + path, perf, "record", "-o",
				      os.path.join(tmp, "perf.data"), "-e", "cpu-clock:u", "true"],
				     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		time.sleep(random.uniform(0, 0.2))
		p.kill()
		p.wait()
		if not os.path.exists(path) or not os.path.getsize(path):
			seen["nothing"] += 1
			continue
		seen["events" if run(PEVTRACE, "decode", path).returncode == 0 else "empty"] += 1
		for verb in ("evlist", "script"):
			r = run(perf, verb, "-i", path)
			if r.returncode or "WARNING" in r.stderr:
				wrong.append("%s of %d bytes: %s" % (verb, os.path.getsize(path), r.stderr))
		os.unlink(path)
	return wrong if seen["empty"] + seen["events"] else ["killed too early: %s" % seen]

def main():
	tmp = start("pevtrace-output")
	return run_all([
		("what root finds where others may write", lambda: test_obstacles(tmp, False), "another user"),
		("what nobody finds there", lambda: test_obstacles(tmp, True), "another user"),
		("files of tasks", lambda: test_tasks(tmp), None),
		("one's own", lambda: test_own(tmp), None),
		("links are exchanged", lambda: test_race_of_links(tmp), "another user"),
		("files are exchanged", lambda: test_race_of_files(tmp), "another user"),
		("names come and go", lambda: test_race_of_counts(tmp), "another user"),
		("PATH.old", lambda: test_backup(tmp), "another user"),
		("modes", lambda: test_modes(tmp), None),
		("groups", lambda: test_group(tmp), "another user"),
		("kills", (lambda: test_kills(tmp)) if shutil.which("perf") else None, None),
	], tmp)

if __name__ == "__main__":
	sys.exit(main())
