# SPDX-License-Identifier: LGPL-2.1-or-later
"""The answers of another kernel against those of this one under --as-kernel."""

import os
import re
import subprocess

from packages import die

# Differences that --as-kernel is not to mend: the call, both answers (patterns), why.
EXPLAINED = (
	(r"ioctl \S+( mapped)? SET_FILTER itself", "EPERM|EINVAL|ENOENT|ESRCH",
	 "EPERM|EINVAL|ENOENT|ESRCH",
	 "for a text without a field's name the parser of filters returns any of four errors, "
	 "on one kernel, too"),
	(r"msr config=0x[0-9a-f]+( \+gate)?", "EINVAL|ok", "EINVAL|ok",
	 "the emulated CPU and this one have different registers"),
)

def answers(lines):
	"""{(what was asked, for the nth time): (errno, size, number of the call)}."""
	found, times = {}, {}
	for line in lines:
		f = line.split("\t")
		if len(f) == 4:
			times[f[1]] = times.get(f[1], 0) + 1
			found[f[1], times[f[1]]] = (f[2], f[3], int(f[0]))
	return found

def here(place, build, release):
	"""Return what asks gets here as on that kernel, and the path of the trace."""
	trace = os.path.join(place, release + ".trace")
	r = subprocess.run([os.path.join(build, "pevtrace"), "-q", "-o", trace, "--as-kernel", release,
			    os.path.join(build, "tests/kernels/asks")], stdin=subprocess.DEVNULL,
			   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
	if r.returncode or not r.stdout.endswith("\nend\n"):
		die("asks under --as-kernel %s: status %d. %s" % (release, r.returncode, r.stderr))
	return answers(r.stdout.splitlines()), trace

def reason(call, theirs, ours):
	for pattern, a, b, why in EXPLAINED:
		if re.fullmatch(pattern, call) and re.fullmatch(a, theirs[0]) and \
		   re.fullmatch(b, ours[0]):
			return why
	return None

def compare(v, place, build, lines, release):
	"""Hold what a kernel answered against --as-kernel here; return a cell of the table."""
	theirs = answers(lines)
	ours, trace = here(place, build, release)
	both = [k for k in theirs if k in ours]
	differ = [k for k in both if theirs[k][:2] != ours[k][:2]]
	groups, whys = {}, {}
	for k in differ:
		why = reason(k[0], theirs[k], ours[k])
		if why:
			whys[why] = whys.get(why, 0) + 1
		else:
			groups.setdefault((theirs[k][:2], ours[k][:2]), []).append(k)
	v.note("%d calls there, %d here, %d in both: %d alike, %d differ" % (
		len(theirs), len(ours), len(both), len(both) - len(differ), len(differ)))
	for what, had, other in (("here", theirs, ours), ("there", ours, theirs)):
		only = {}
		for call, nth in had:
			if (call, nth) not in other and not call.startswith("random"):
				only.setdefault(call.replace("ioctl ", "").split()[0], call)
		for base, call in sorted(only.items()):
			v.note("nothing to compare with %s: %s, such as: %s" % (what, base, call))
	for why, n in whys.items():
		v.note("explained, %d: %s" % (n, why))
	told = []
	for (a, b), keys in sorted(groups.items(), key=lambda g: -len(g[1])):
		told.append("%d calls: %s (size %s) there, %s (size %s) here" %
			    (len(keys), *a, *b))
		told += ["    %s; call %d in %s" % (k[0], ours[k][2], trace) for k in keys[:4]]
	share = int(os.environ.get("ASKS_EVERY", "1"))
	v.ok(len(both) > 50000 / share and not groups,
	     "--as-kernel refuses what it refuses", told)
	return "%d" % len(both) if not groups else "%d of %d wrong" % (
		sum(len(k) for k in groups.values()), len(both))
