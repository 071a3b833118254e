#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Without a source of facts, nothing false is said: each file and directory of /proc, sysfs and
tracefs that the facts are read from (strace lists them) is taken away, in a mount namespace, and
random calls are judged by the library and as pevtrace why --once judges them, as root and as a user.
No verdict that is called certain may differ from the kernel's.  Then the verbs without /proc,
sysfs and tracefs.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
LIVE = os.path.join(os.path.realpath(os.environ.get("builddir", ".")), "tests", "unit", "test_rules_live")
TAP = sp.Tap()
CALLS, MANY_CALLS = sp.times(300, 1500), sp.times(1000, 4000)
MARK = '"/facts are read now"'
PATHS = "openat,open,access,faccessat,faccessat2,readlink,readlinkat,statfs,newfstatat,stat"


def live(calls, paths, *before):
	"""Judge so many calls without each path; return the lines of results, and all."""
	r = subprocess.run([*before, LIVE, "--without", str(calls), *paths], capture_output=True, text=True)
	return [l.split("\t") for l in r.stdout.splitlines() if "\t" in l], r


def read_paths(log, pids):
	"""The files that a process of strace's log looked at while it read facts and judged calls."""
	names = dict(zip(pids.split(), ("@self", "@child", "@zombie", "@foreign")))
	begun, paths = False, set()
	with open(log, encoding="utf-8", errors="replace") as f:
		for line in f:
			begun |= MARK in line
			m = re.match(r"\w+\((?:AT_FDCWD(?:<[^>]*>)?, |\d+<([^>]*)>, )?\"([^\"]*)\"", line)
			if begun and m:
				path = os.path.normpath(os.path.join(m[1] or "/", m[2]))
				paths.add(re.sub(r"^/proc/(\d+)(?=/|$)", lambda p: "/proc/" + names.get(p[1], p[1]), path))
	return {p for p in paths if re.match(r"/(proc|sys)(/|$)", p)}


def sources():
	"""The paths that facts are read from, and the directories above them."""
	found = set()
	with tempfile.TemporaryDirectory() as tmp:
		lines, r = live(CALLS, ["-"], "strace", "-ff", "-y", "-qq", "-e", "trace=" + PATHS,
				"-o", os.path.join(tmp, "log"))
		if len(lines) != 2:
			return None, r
		for line in lines:
			found |= read_paths(os.path.join(tmp, "log." + line[-1].split()[0]), line[-1])
	for path in list(found):
		while path.count("/") > 1:
			path = os.path.dirname(path)
			found.add(path)
	# not of a process that has ended
	found = {p for p in found if not re.match(r"/proc/\d+", p)}
	return found, r


def test_without(chosen, what, count=CALLS):
	"""No certain verdict is wrong without each of the paths."""
	lines, r = live(count, chosen)
	results = [l for l in lines if len(l) == 7]
	calls, certain, wrong, disagreed = (sum(int(l[i]) for l in results) for i in range(2, 6))
	print(f"# without {what}: {calls} calls, {certain} verdicts certain; {len(chosen)} paths, "
	      f"{len(lines) - len(results)} times impossible to take away")
	TAP.ok(r.returncode == 0 and calls and not wrong and not disagreed,
	       f"no certain verdict is wrong without {what}",
	       [l for l in r.stdout.splitlines() if re.match("# (certain|rule)", l)][:9] +
	       [l for l in results if l[4:6] != ["0", "0"]][:9] + [r.stderr])


def run_without(hide, *args, user=False):
	"""Run pevtrace after the commands of a shell that hide something; return the result."""
	who = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if user else []
	return subprocess.run(["unshare", "-m", "sh", "-c", hide + '; exec "$@"', "sh", *who, PEVTRACE, *args],
			      capture_output=True, text=True, stdin=subprocess.DEVNULL)


NO_PROC = "mount -t tmpfs none /proc"
NO_SYS = "mount -t tmpfs none /sys"
NO_TRACEFS = "for d in /sys/kernel/debug/tracing /sys/kernel/tracing; do test ! -d $d || mount -t tmpfs none $d; done"
PROC_SAYS = "pevtrace: /proc is not mounted; as root run 'mount -t proc proc /proc'\n"
SYS_SAYS = "pevtrace: /sys is not mounted; as root run 'mount -t sysfs sysfs /sys'\n"


def test_verbs():
	"""The verbs say that a file system is missing, and nothing false."""
	wrong = []
	verbs = (("why", "--once", "-e", "page-faults"), ("why", "-e", "page-faults"), ("list", "software"), ("ps",),
		 ("open", "-e", "page-faults:u", "--", "true"), ("open", "--side-band", "--", "true"), ("true",),
		 ("learn", "permissions"), ("list", "--tried", "clockid"))
	# an event that ps must not deny
	holder = subprocess.Popen([PEVTRACE, "open", "-e", "dummy:u", "-p", str(os.getpid())],
				  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
	end = time.monotonic() + 60
	while subprocess.run([PEVTRACE, "ps", "-p", str(holder.pid)], capture_output=True, check=False).returncode and \
	      time.monotonic() < end:
		time.sleep(0.01)
	for user in (False, True):
		for args in verbs:
			for hide, says in ((NO_PROC, PROC_SAYS), (NO_SYS, SYS_SAYS)):
				r = run_without(hide, *args, user=user)
				out = r.stdout + r.stderr
				if says.split("pevtrace: ")[1] not in r.stderr or "DISAGREEMENT" in out or \
				   "nobody holds" in out or re.search(r"paranoid is -?\d", out) and hide == NO_PROC:
					wrong.append((args, user, hide, out))
	holder.kill()
	holder.wait()
	TAP.ok(not wrong, "each verb says that /proc or /sys is missing, and nothing false", wrong[:3])


def ended(r, status):
	"""Return whether a command ended so; sanitizers, which require /proc, end it otherwise."""
	return r.returncode == status or sp.sanitized()

def test_words():
	"""What they say in detail."""
	r = run_without(NO_PROC, "why", "--once", "-e", "page-faults")
	TAP.ok(ended(r, 0) and ": opens, as predicted" in r.stdout and "not known" not in r.stdout,
	       "without /proc, capabilities are known: capget(2)", (r.stdout, r.stderr))
	r = run_without(NO_PROC, "why", "--once", "-e", "page-faults", user=True)
	TAP.ok("not known: " in r.stdout and "kernel_privilege" in r.stdout and "as predicted" not in r.stdout,
	       "without /proc, it is not known what a user may measure", (r.stdout, r.stderr))
	for hide in (NO_PROC, "mount -t tmpfs none /proc/sys"):
		r = run_without(hide, "why", "--rules-only", "-e", "page-faults:k", user=True)
		j = run_without(hide, "why", "--rules-only", "-j", "-e", "page-faults:k", user=True)
		TAP.ok(ended(r, 2) and ": perhaps opens: perf_event_paranoid is not known\n" in r.stdout and
		       '"verdict":"opens","sure":false' in j.stdout,
		       "nor do the rules alone, which say so: " + hide, (r.stdout, r.stderr, j.stdout[-200:]))
	r = run_without(NO_PROC, "ps", user=True)
	TAP.ok(ended(r, 2) and "pevtrace: the holders of perf events cannot be listed\n" in r.stderr,
	       "without /proc, ps of a user lists nothing", (r.stdout, r.stderr))
	r = run_without(NO_PROC, "ps", "-p", str(os.getpid()))
	TAP.ok("no process" not in r.stderr, "without /proc, ps -p knows a process that exists", (r.stderr,))
	r = run_without(NO_PROC, "learn", "permissions")
	TAP.ok(ended(r, 2) and not r.stdout and "a lesson cannot be given: /proc is not mounted; as root" in r.stderr,
	       "without /proc, a lesson cannot be given", (r.stdout, r.stderr))
	r = run_without(NO_SYS, "why", "-v", "-e", "cycles")
	TAP.ok("PMUs are" not in r.stdout.replace("the PMUs are not known", "") and
	       "here: the PMUs are not known" in r.stdout,
	       "without sysfs, why does not say which PMUs there are", (r.stdout,))
	if ": perhaps: " not in r.stdout:
		TAP.skip("without sysfs, why is not sure of a cause", "this machine counts cycles")
	else:
		j = run_without(NO_SYS, "why", "-j", "-e", "cycles")
		tried = re.search(r"experiments: (\d+)", r.stdout)
		TAP.ok("verdict: perhaps the cause was found\n" in r.stdout and '"verdict":"cause","sure":false' in j.stdout,
		       "without sysfs, why is not sure of a cause", (r.stdout, j.stdout[-300:]))
		TAP.ok(int(tried[1]) < 100, "and does not try what cannot help", (tried[0],))
		r = run_without(NO_SYS, "--explain", "-o", "/dev/stdout", PEVTRACE, "why", "--once", "-e", "cycles")
		said = " ".join(r.stdout.split())
		TAP.ok("Perhaps refused by no_pmu: " in said or "Failed: " not in said,
		       "nor is an explanation", (r.stdout[-2000:], r.stderr))
	r = run_without(NO_SYS, "list", "hardware")
	TAP.ok("(whether a PMU has them cannot be read)" in r.stdout, "nor list that they lack events", (r.stdout,))
	r = run_without("mount -o bind,ro /dev/null /proc/sys/kernel/perf_event_paranoid", "why", "--once", "-e", "page-faults",
			user=True)
	TAP.ok(not re.search(r"perf_event_paranoid is -?\d", r.stdout) and "kernel_privilege" in r.stdout,
	       "nor is perf_event_paranoid read from another file in its place", (r.stdout,))
	r = run_without("umount /sys/kernel/tracing 2>/dev/null", "why", "--once", "-e", "sched:sched_switch")
	TAP.ok("tracefs is not mounted; as root run" in r.stderr, "without tracefs, check says so", (r.stderr,))
	wrong = []
	for hide, what in ((NO_SYS, "/sys is"), (NO_TRACEFS, "tracefs is")):
		for args in (("why", "-e"), ("open", "-e"), ("list",)):
			for name in ("sched:sched_switch", "sched:sched_*"):
				r = run_without(hide, *args, name)
				if "tracepoints cannot be listed: " + what not in r.stderr:
					wrong.append((hide, args, name, r.stderr))
	TAP.ok(not wrong, "nor with something mounted over tracefs is a tracepoint unknown", wrong)
	wrong = []
	for place in ("/sys", "/sys/bus/event_source", "/sys/devices"):
		for verb in ("why", "open"):
			r = run_without("mount -t tmpfs none " + place, verb, "-e", "uprobe//")
			if "on this machine" in r.stderr or "cannot be found: " + place + " is " not in r.stderr:
				wrong.append((place, verb, r.stderr))
	r = run_without(NO_SYS, "why", "-e", "event_of_a_pmu")
	if "unknown event 'event_of_a_pmu'; /sys is not mounted" not in r.stderr:
		wrong.append(r.stderr)
	TAP.ok(not wrong, "nor is there no PMU where sysfs is hidden", wrong)
	r = run_without(NO_SYS, "list", "--tried", "uprobe_path")
	TAP.ok("no such PMU" not in r.stdout and re.search(r"uprobe_path +untried .* /sys is not mounted", r.stdout),
	       "and list --tried says so", (r.stdout, r.stderr))
	r = run_without(NO_PROC, "list", "--tried", "enable_on_exec", "mmap2", "build_id", "remove_on_exec")
	TAP.ok("no observable effect" not in r.stdout and
	       re.search(r"enable_on_exec +untried .* /proc/self/exe cannot be found", r.stdout),
	       "without /proc, a program that cannot be executed shows no effect of exec", (r.stdout, r.stderr))
	r = run_without(NO_SYS, "ps")
	TAP.ok("No such process" not in r.stderr and
	       ("cannot load BPF" not in r.stderr or "/sys/kernel/btf/vmlinux cannot be read" in r.stderr),
	       "without sysfs, ps names the file that BPF programs require", (r.stderr,))
	r = run_without("exec unshare -pf " + PEVTRACE + " why --once -e page-faults -p 1")
	TAP.ok("pevtrace: /proc is that of another PID namespace; as root run" in r.stderr and
	       "DISAGREEMENT" not in r.stdout, "nor is /proc of another PID namespace believed", (r.stdout, r.stderr))
	r = run_without("mount -t proc -o subset=pid proc /proc", "why", "--once", "-e", "page-faults", user=True)
	if "wrong fs type" in r.stderr:
		TAP.skip("/proc with subset=pid", "this kernel has no such option")
	else:
		TAP.ok("pevtrace: /proc/sys is hidden" in r.stderr, "nor what /proc with subset=pid lacks", (r.stderr,))


def main():
	"""Run all of it."""
	missing = [p for p in ("strace", "unshare", "setpriv", "mount") if not shutil.which(p)]
	if missing:
		sp.skip_all("not installed: " + " ".join(missing))
	if os.getuid() or subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"],
					 stderr=subprocess.DEVNULL, check=False).returncode:
		sp.skip_all("only root can mount something on files, in a namespace of its own")
	with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
		if int(f.read()) > 2:
			sp.skip_all("perf_event_paranoid is above 2, which a patch may take for all or nothing, and no file tells")
	paths, r = sources()
	TAP.ok(paths is not None and {"/proc", "/proc/sys/kernel/perf_event_paranoid", "/proc/@child/stat",
				      "/sys/bus/event_source/devices", "/sys/devices/system/cpu/online"} <= paths,
	       "strace lists the files that facts are read from", (paths, r.stdout[-2000:], r.stderr[-2000:]))
	paths = sorted(paths or ())
	events = [p for p in paths if "/tracing/events/" in p]
	test_without(["-"], "anything missing", MANY_CALLS)
	test_without(["/proc", "/sys", "/sys/kernel/tracing"], "one of the file systems", MANY_CALLS)
	test_without(sp.sample([p for p in paths if p.startswith("/proc/")], 3), "a file of /proc")
	test_without(sp.sample([p for p in paths if p.startswith("/sys/") and p not in events], 3), "a file of sysfs")
	# one of each hundred, as there are some thousand
	test_without(sp.sample(events[::100], 6) + [p for p in events if p.endswith("/ftrace/function/id")],
		     "a file of tracefs")
	test_verbs()
	test_words()
	return TAP.done()


if __name__ == "__main__":
	sys.exit(main())
