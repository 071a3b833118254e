#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""One answer to one call: why --rules-only, why, explain, report, replay and the library name the same
rule for a call that the kernel refused.

A traced program makes random calls, some of them in groups of its own: led by an event of its task, of
a CPU, of a child, or by a member.  Each refused one becomes a dump of its own, with the opens of the
leaders before it.  An ordinary user does the same.  As a dump does not have the caller's rights,
explain and report may have to name several rules, of which the others name one."""

import ctypes
import errno
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from checks import TAP
import machine
from perf_event import BRANCH, NR, READ, REGS_USER, STACK_USER, attr as attr_of, call
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE")
BUILDDIR = os.environ.get("builddir", ".")
CASES, ENOUGH, ENOUGH_OF_USER = 400, 120, 40
# the opens of leaders, then one call for each line: ATTR PID CPU GROUP FLAGS
PROGRAM = """
import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def call(attr, pid, cpu, fd, flags):
	return libc.syscall(%d, bytes(attr), pid, cpu, fd, ctypes.c_ulong(flags))
child = os.fork()
if not child:
	time.sleep(60)
	os._exit(0)
plain = bytes.fromhex(sys.argv[1])
task = call(plain, 0, -1, -1, 0)
fds = {"none": -1, "task": task, "cpu": call(plain, -1, 0, -1, 0), "child": call(plain, child, -1, -1, 0),
       "member": call(plain, 0, -1, task, 0), "file": 0, "closed": 77}
for line in sys.stdin:
	attr, pid, cpu, group, flags = line.split()
	fd = call(bytes.fromhex(attr), child if pid == "child" else int(pid), int(cpu), fds[group], int(flags))
	if fd >= 0:
		os.close(fd)
os.kill(child, 9)
"""
MEMBERS = {
	"sample_period": (1, 0, 1 << 63), "sample_type": (READ, BRANCH, REGS_USER, STACK_USER, 1 << 40),
	"read_format": (4, 8, 12, 1 << 20), "branch_sample_type": (1, 1 << 30), "sample_stack_user": (13, 64),
	"clockid": (77,), "sample_max_stack": (9999,), "reserved_2": (1,), "aux_sample_size": (4096,),
}
BITS = ("inherit", "pinned", "exclusive", "freq", "use_clockid", "write_backward", "sigtrap", "inherit_thread",
	"remove_on_exec", "aux_output", "reserved_1", "enable_on_exec")


def cases(rnd):
	"""Random calls, half of them in a group."""
	for i in range(CASES):
		fields = {rnd.choice(BITS): 1 for _ in range(rnd.randrange(3))}
		for name in rnd.sample(sorted(MEMBERS), rnd.randrange(3)):
			fields[name] = rnd.choice(MEMBERS[name])
		attr = attr_of(rnd.choice((1, 1, 1, 1, 5, 99)), config=9 if rnd.random() < .9 else 300,
			       size=rnd.choice((64, 128, 136, 136, 136, 144, 5000)), exclude_kernel=1, disabled=1, **fields)
		group = rnd.choice(("task", "cpu", "child", "member", "file", "closed")) if i % 2 else "none"
		pid = rnd.choice(("0", "0", "0", "-1", "child"))
		yield attr.hex(), pid, rnd.choice(("-1", "-1", "0", "9999")), group, rnd.choice(("0",) * 6 + ("2", "8", "512"))


def run(*args, **kw):
	return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **kw)


def record(tmp, pevtrace, **kw):
	"""The lines before the calls, and those of each refused call, each once."""
	dump = os.path.join(tmp, "all%d" % len(kw))
	plain = attr_of(config=9, exclude_kernel=1, disabled=1)
	given = "".join(" ".join(c) + "\n" for c in cases(random.Random(1)))
	run(pevtrace, "-f", "-j", "-o", dump, "/usr/bin/python3", "-S", "-E", "-c", PROGRAM % NR, plain.hex(),
	    input=given, **kw)
	with open(dump, encoding="utf-8") as f:
		lines = f.read().splitlines(keepends=True)
	opens = [i for i, l in enumerate(lines) if '"perf_event_open"' in l and '"kind":"call"' in l]
	leaders = 4
	first, refused, seen = opens[leaders], [], set()
	for i in opens[leaders:]:
		o = json.loads(lines[i])
		key = re.sub(r'"(ns|end_ns|enter_ns|exit_ns|uptr|addr)":[^,}]*', "", lines[i])
		if o.get("errno") or o.get("failed") or o.get("error"):
			if key not in seen:
				refused.append(lines[i])
			seen.add(key)
	return [l for l in lines[:first] if '"errno":' not in l], refused


def error_of(o):
	return 0 if o["opens"] else o["errno"]


def by_rules(o):
	"""The rule of why --rules-only, or that of a call that cannot be judged here."""
	if error_of(o["predicted"]) == error_of(o["dump"]):
		return o["predicted"].get("rule")
	return o.get("perhaps")


def by_trial(o):
	if o["faults"] and error_of(o.get("kernel", o["faults"][0])) == error_of(o["dump"]):
		return o["faults"][0].get("rule")
	return o.get("perhaps")


def by_story(text):
	"""The rules that explain names, and whether it is certain of the first."""
	text = " ".join(text.split())
	m = re.search(r"(Refused|Perhaps refused) by (?:the kernel check )?(.*?)( Remedy: | EVENT | See also: )", text)
	if not m:
		return [], False
	return re.findall(r"(?:^|; or )(\w+)[:; .]", m[2]), m[1] == "Refused"


def remedy(text, heading):
	"""The members in a remedy, or None: the values may be limits of this machine."""
	m = re.search(r"%s: {(.*?)}" % heading, " ".join(text.split()))
	return m and sorted(re.findall(r"(\w+)=", m[1]))


def by_page(path):
	"""The rule in the table of failures of a report, and whether it is certain."""
	with open(path, encoding="utf-8") as f:
		failures = re.search('<section id="failures".*?</section>', f.read(), re.S)[0]
	m = re.search(r"rule (\w+)</span>", failures)
	return m and m[1], "Perhaps: " not in failures


class Open(ctypes.Structure):
	_fields_ = [("size", ctypes.c_size_t), ("attr", ctypes.c_char_p), ("attr_len", ctypes.c_size_t),
		    ("pid", ctypes.c_int32), ("cpu", ctypes.c_int32), ("group_fd", ctypes.c_int32),
		    ("flags", ctypes.c_uint64), ("leader", ctypes.c_char_p), ("leader_len", ctypes.c_size_t)]


class Verdict(ctypes.Structure):
	_fields_ = [("size", ctypes.c_size_t), ("error", ctypes.c_int), ("certain", ctypes.c_int),
		    ("rule", ctypes.c_char_p), ("meaning", ctypes.c_char_p), ("members", ctypes.c_char_p),
		    ("since", ctypes.c_uint32)]


class Library:
	"""libpevtrace in the build directory, on this machine."""
	def __init__(self):
		path = os.path.join(BUILDDIR, ".libs", "libpevtrace.so")
		try:
			self.so = ctypes.CDLL(path)
		except OSError as e: # not built, or with sanitizers, which a program without them cannot load
			self.so = TAP.skip("the library", str(e))
			return
		self.so.pevtrace_machine_new.restype = ctypes.c_void_p
		self.here = ctypes.c_void_p(self.so.pevtrace_machine_new())
		self.so.pevtrace_machine_read(self.here)
		self.event = call(attr_of(config=9, exclude_kernel=1, disabled=1))

	def cause(self, o, error):
		"""The rule that the library finds, and whether it is certain."""
		attr = bytes.fromhex(o["attr_bytes"])
		args = o["args"]
		group = args["group_fd"]
		# an event here in place of one of the dump
		opened = Open(ctypes.sizeof(Open), attr, len(attr), args["pid"], args["cpu"],
			    group if group in (-1, 0x7fffffff) else self.event, int(str(args["flags"]), 0), None, 0)
		v = Verdict(ctypes.sizeof(Verdict))
		found = self.so.pevtrace_find_cause(self.here, ctypes.byref(opened), error, ctypes.byref(v))
		return (v.rule.decode(), v.certain) if not found else (None, 0)


def differences(dump, line, out, pevtrace, library, **kw):
	"""What the verbs say differently of the last call of a dump."""
	where = "%s:%d" % (dump, line)
	r = run(pevtrace, "why", "--rules-only", "--json", where, **kw)
	o = json.loads(r.stdout)
	error, rule = error_of(o["dump"]), by_rules(o)
	tried = json.loads(run(pevtrace, "why", "--json", where, **kw).stdout)
	run(pevtrace, "report", "-o", out, dump)
	shown, sure = by_page(out)
	text = run(pevtrace, "explain", dump).stdout
	story, certain = by_story(text)
	fixes = remedy(run(pevtrace, "why", "--rules-only", where, **kw).stdout, "fix"), remedy(text, "Remedy")
	again = run(pevtrace, "replay", "-q", "-a", dump, **kw)
	wrong = []
	if rule is None:
		wrong.append("why --rules-only knows no rule: %s" % o["verdict"])
	if by_trial(tried) != rule:
		wrong.append("why says %s" % by_trial(tried))
	if rule not in story or (certain and story != [rule]):
		wrong.append("explain says %s (certain: %s)" % (story, certain))
	if (shown, sure) != (story[0] if story else None, certain):
		wrong.append("report says %s (certain: %s), explain %s" % (shown, sure, story))
	# why knows how many CPUs there are here
	if None not in fixes and (set(fixes[0]) ^ set(fixes[1])) - {"cpu"}:
		wrong.append("fixes of why and explain: %s, %s" % fixes)
	if library and library.so:
		said, certain = library.cause(o, error)
		if said != rule and (certain or o["args"]["group_fd"] == -1) and "perhaps" not in o:
			wrong.append("the library says %s (certain: %s)" % (said, certain))
	if "perf_event_open" in again.stdout and " here" in again.stdout:
		wrong.append("replay expects another result: %s" % again.stdout)
	return rule, ["%s: %s, line %d: %s" % (rule, errno.errorcode[error], line, w) for w in wrong]


def compare(tmp, whose, enough, pevtrace, library, **kw):
	"""Compare what is said of that many calls; return the rules."""
	before, refused = record(tmp, pevtrace, **kw)
	TAP.ok(len(refused) >= enough, "enough different calls %s are refused" % whose, [len(refused)])
	rules, wrong = set(), []
	for i, line in enumerate(refused[:enough]):
		dump = os.path.join(tmp, "dump%d" % i)
		with open(dump, "w", encoding="utf-8") as f:
			f.writelines(before + [line])
		rule, why = differences(dump, len(before) + 1, os.path.join(tmp, "page"), pevtrace, library, **kw)
		rules.add(rule)
		wrong += why
	TAP.ok(not wrong, "%d calls %s, %d rules: all verbs name the same rule" % (len(refused[:enough]), whose, len(rules)),
	       wrong)
	return rules


def refused_again(tmp, pevtrace, **kw):
	"""What replay says of a call that root's program made, and that a user may not make."""
	dump = os.path.join(tmp, "counts")
	program = "import ctypes; ctypes.CDLL(None).syscall(%d, bytes.fromhex('%s'), 0, -1, -1, 0)" % \
		(NR, attr_of(config=9).hex())
	run(pevtrace, "-j", "-o", dump, "/usr/bin/python3", "-S", "-E", "-c", program)
	r = run(pevtrace, "replay", "-q", dump, **kw)
	TAP.ok("(rule kernel_privilege)" in r.stderr and "EACCES here" in r.stdout, "replay: the rule that refuses it here",
	       [r.stdout, r.stderr])


def main():
	if not PEVTRACE:
		sp.skip_all("PEVTRACE is not set")
	for need in ("events", "tracing"):
		if machine.lacks(need):
			sp.skip_all(machine.lacks(need))
	tmp = tempfile.mkdtemp(prefix="pevtrace-verdicts-")
	rules = compare(tmp, "of this user", ENOUGH, PEVTRACE, Library())
	TAP.ok({"group_cpu", "group_task", "group_member", "group_not_event"} <= rules, "rules about groups are among them",
	       sorted(map(str, rules)))
	if os.geteuid():
		TAP.skip("an ordinary user", "this is one")
	else:
		os.chmod(tmp, 0o777)
		program = shutil.copy(PEVTRACE, tmp)
		kw = {"user": sp.NOBODY, "group": sp.NOBODY, "extra_groups": [], "cwd": "/"}
		compare(tmp, "of an ordinary user", ENOUGH_OF_USER, program, None, **kw)
		if machine.setting("paranoid") < 2 or machine.lacks("kernel events"):
			TAP.skip("replay: the rule that refuses it here", "a user may count the kernel, or root may not")
		else:
			refused_again(tmp, program, **kw)
	shutil.rmtree(tmp, ignore_errors=True)
	return TAP.done()


if __name__ == "__main__":
	sys.exit(main())
