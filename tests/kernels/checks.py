# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the parts of guest.py said on one kernel, judged; and features of several kernels."""

import json
import os
import re

from boot import Part
import compare

COLUMNS = ("types", "verbs", "rules root", "rules user", "as-kernel", "features", "claims",
	   "counters", "transparent", "engines", "functions", "lockdown")
NONE = Part("absent", 0, "")

class Verdict:
	"""Tests of one boot, and its row of the table."""
	def __init__(self, name):
		self.name = name
		self.tests = []		# (good, what, why), or a line to print
		self.row = {}

	def ok(self, good, what, why=()):
		self.tests.append((bool(good), "%s: %s" % (self.name, what), list(why)))
		return good

	def note(self, line):
		self.tests.append("# %s: %s" % (self.name, line))

	def failed(self):
		return sum(not t[0] for t in self.tests if not isinstance(t, str))

	def write(self, n):
		"""Print the tests, numbered from n on; return the next number."""
		for t in self.tests:
			if isinstance(t, str):
				print(t)
				continue
			print("%s %d - %s" % ("ok" if t[0] else "not ok", n, t[1]))
			for line in () if t[0] else t[2][-40:]:
				print("#   " + line)
			n += 1
		return n

def number(release):
	return tuple(int(d) for d in (release + ".0.0").split(".")[:3])

# ---- the verbs ---------------------------------------------------------------------------

VERBS = ("trace", "open", "dump", "decode", "ps", "bpf", "all", "as_kernel", "check")

def verbs(v, parts, release):
	def has(name, words, status=0):
		p = parts.get(name, NONE)
		v.ok(p.status == status and all(w in p.text for w in words), "pevtrace " + name,
		     p.lines + ["status %s" % p.status])
	before = v.failed()
	has("trace", ["perf_event_open({type=PERF_TYPE_SOFTWARE", "PERF_RECORD_SAMPLE",
		      "PERF_RECORD_MMAP2", " samples, "])
	has("open", ["page-faults", "context-switches"])
	has("dump", [" samples, "])
	has("decode", ["perf_event_open({type=PERF_TYPE_SOFTWARE", "PERF_EVENT_IOC_SET_OUTPUT"])
	# BPF programs of tracepoints may store data of tasks since 5.11
	modern = number(release) >= (5, 11)
	has("ps", [" demo["] + modern * ["cpu-clock"])
	if modern:
		has("bpf", ["perf_event_open({type=PERF_TYPE_SOFTWARE", "PERF_RECORD_SAMPLE",
			    "PERF_RECORD_MMAP2", " samples, "])
		has("all", ["] perf_event_open({type=PERF_TYPE_SOFTWARE", " samples, "])
	else:
		has("bpf", ["--engine=bpf: cannot load BPF programs"], 2)
	has("as_kernel", ["(INJECTED) /* Linux 3.10: ", "PERF_FLAG_FD_CLOEXEC (3.14)"], 1)
	check = parts.get("check", NONE)
	# 1: sigtrap is refused before 5.13
	v.ok(sum("as predicted" in l for l in check.lines) == 3 and
	     check.status == (number(release) < (5, 13, 0)), "pevtrace why --once", check.lines)
	return "ok" if v.failed() == before else "%d wrong" % (v.failed() - before)

def types(v, parts):
	p = parts.get("self", NONE)
	good = v.ok(p.status == 0 and ": 0 errors, 0 missing" in p.text,
		    "the tables have everything that the types of the kernel have", p.lines)
	return "ok" if good else "differ"

# ---- features ------------------------------------------------------------------------------

def feature_lines(part):
	"""Yield name, answer, release and line of each feature."""
	for line in part.lines:
		m = re.match(r"  (\S.*?) +(yes|dead|accepted|no|-) +(\d+\.\d+(?:\.\d+)?)(?: |$)", line)
		if m:
			yield m.group(1), m.group(2), m.group(3), line

def features(v, parts, release):
	"""Is anything known too early, or not known?"""
	p = parts.get("features", NONE)
	found = list(feature_lines(p))
	wrong = []
	for _, answer, since, line in found:
		newer = number(since) > number(release)
		if newer if answer != "no" else not newer and "this kernel does not know it" in line:
			wrong.append(line)
	v.ok(len(found) > 100 and not wrong, "features are there from the releases of the tables on",
	     wrong or p.lines[-3:])
	return "%d" % sum(f[1] != "no" for f in found) if not wrong else "%d wrong" % len(wrong)

def between(v, older, newer):
	"""Between two kernels of a processor only what the newer one brought may differ.  Each is
	(release, parts); what else differs is reported with the reasons that features gives."""
	a, b = ({f[0]: f for f in feature_lines(parts.get("features", NONE))} for _, parts in
		(older, newer))
	wrong, brought = [], 0
	for name in sorted(set(a) & set(b)):
		if (a[name][1] == "no") == (b[name][1] == "no"):
			continue
		since = number(a[name][2])
		if number(older[0]) < since <= number(newer[0]):
			brought += 1
		elif "by rule pmu_own:" in a[name][3] + b[name][3]:
			# its configuration may decide: Debian's 6.12 of riscv64, which is without
			# KPROBES_ON_FTRACE, refuses a kprobe at the start of a function
			v.note("%s differs by checks of the PMU, which no table has" % name)
		else:
			wrong += [older[0] + ": " + a[name][3], newer[0] + ": " + b[name][3]]
	v.ok(a and b and not wrong, "the %d features more of %s are those that the releases of the "
	     "tables predict" % (brought, newer[0]), wrong)

# ---- rules ---------------------------------------------------------------------------------

def rules(v, parts, place):
	"""99.9 % of random attrs as predicted, as root and as a user."""
	p = parts.get("rules", NONE)
	with open(os.path.join(place, v.name.replace(" ", "-") + ".rules"), "w") as f:
		f.write(p.text)
	cells = []
	found = re.findall(r"# uid (\d+): (\d+) attrs, .*?, (\d+) not as predicted, (\d+) of them", p.text)
	for who, row in (("root", 0), ("a user", 1)):
		attrs, wrong = (int(n) for n in found[row][1:3]) if row < len(found) else (0, 0)
		by = [l for l in p.lines if "not as predicted by" in l]
		share = 100 * (attrs - wrong) / attrs if attrs else 0
		v.ok(p.status == 0 and attrs >= 4000 and wrong * 1000 <= attrs,
		     "the rules predict the answers to %d random attrs of %s: %.2f %%" %
		     (attrs, who, share), by + p.lines[-20:])
		cells.append("%.2f %%" % share)
	certain(v, p, "of root and a user", 2)
	return cells

def certain(v, p, what, runs):
	"""No verdict of the library that it calls certain is wrong, and most are certain."""
	found = [[int(n) for n in f] for f in re.findall(
		r"attrs, .*\n# the library was certain of (\d+), (\d+) of them wrongly", p.text)]
	asked = [int(n) for n in re.findall(r"# uid \d+: (\d+) attrs", p.text)]
	v.ok(p.status == 0 and len(found) == runs == len(asked) and not sum(f[1] for f in found) and
	     sum(f[0] for f in found) > 0.7 * sum(asked),
	     "random attrs %s: the library is certain of %d of %d, none wrongly" % (
		     what, sum(f[0] for f in found), sum(asked)), p.lines[-20:])

# ---- claims --------------------------------------------------------------------------------

def found(part):
	"""Return the ids of what conform found."""
	ids = []
	for line in part.lines:
		try:
			o = json.loads(line)
		except ValueError:
			continue
		if o.get("kind") == "finding":
			ids.append(o["id"])
	return ids

def claims(v, parts):
	"""conform's experiments with the claims of the manual page end, and each has a result."""
	p = parts.get("claims", NONE)
	findings = found(p)
	v.ok(p.status in (0, 1) and findings, "the claims of the manual page are tried",
	     p.lines[-5:] + ["status %s" % p.status])
	return "%d" % len(findings) if p.status in (0, 1) else str(p.status)

def locked_claims(v, parts):
	"""Lockdown contradicts no claim: it can only be untried."""
	more = set(found(parts.get("locked_claims", NONE))) - set(found(parts.get("claims", NONE)))
	v.ok(found(parts.get("locked_claims", NONE)) and not more,
	     "no claim is false because the kernel is locked down", sorted(more))

# ---- tests in the guest --------------------------------------------------------------------

def tap(v, parts, name, what):
	p = parts.get(name, NONE)
	plan = re.findall(r"^1\.\.(\d+)(?: # SKIP (.*))?$", p.text, re.M)
	good = re.findall(r"^ok \d+ - (?!.* # SKIP)", p.text, re.M)
	bad = re.findall(r"^not ok (?:\d+ - )?.*(?:\n# .*)*", p.text, re.M)
	if plan and plan[0][0] == "0":
		v.note("%s: %s" % (what, plan[0][1]))
		return "-"
	v.ok(plan and not bad and p.status == 0, "%s: %d tests" % (what, len(good)),
	     "\n".join(bad or p.lines[-10:]).split("\n") + ["status %s" % p.status])
	return "%d" % len(good) if plan and not bad else "%d of %d" % (len(good), len(good) + len(bad))

# ---- all of them ---------------------------------------------------------------------------

def everything(v, boot, release, wanted, place, build):
	"""Judge the parts that were wanted."""
	parts, row = boot.parts, v.row
	has = lambda *names: set(names) <= set(wanted)
	if has("self"):
		row["types"] = types(v, parts)
	if has(*VERBS):
		row["verbs"] = verbs(v, parts, release)
	if has("rules"):
		row["rules root"], row["rules user"] = rules(v, parts, place)
	if has("denied"):
		certain(v, parts.get("denied", NONE), "of a user at perf_event_paranoid 3", 1)
	if has("features"):
		row["features"] = features(v, parts, release)
	if has("claims"):
		row["claims"] = claims(v, parts)
	if has("claims", "locked_claims"):
		locked_claims(v, parts)
	for name, what in (("counters", "hardware counters"), ("transparent", "transparency"),
			   ("engines", "the BPF engine against ptrace"),
			   ("functions", "the BPF engine at functions against ptrace"),
			   ("lockdown", "a kernel that is locked down")):
		if has(name):
			row[name] = tap(v, parts, name, what)
	if has("asks"):
		p = parts.get("asks", NONE)
		if v.ok(p.status == 0, "asks ends", p.lines[-3:] + ["status %s" % p.status]):
			row["as-kernel"] = compare.compare(v, place, build, p.lines, release)
	v.note("seconds there: " + ", ".join("%s %.0f" % (n, p.seconds) for n, p in parts.items()
					     if p.seconds >= 1))
