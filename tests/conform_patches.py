# SPDX-License-Identifier: LGPL-2.1-or-later
"""What tests/conform.py asks of conform --patch: the patched page is right and as clean as the old one."""

import difflib
import glob
import os
import random
import re
import shutil
import subprocess

from findings import findings, KNOWN_KERNEL, LACKS, PAGE, PAGE_ALONE, PEVTRACE, run, source, \
	TRACING, write

HERE = os.path.dirname(os.path.abspath(__file__))

LEFT = 10	# findings that may be left as missing

def tool(*args, **kw):
	return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
			      **kw)

def complaints(path):
	"""Return the numbers of complaints of mandoc and man about a page, and their text."""
	lint = tool("mandoc", "-Tlint", path).stdout.decode().splitlines()
	groff = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", path],
			       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=300,
			       env=dict(os.environ, LC_ALL="C.UTF-8", MANWIDTH="80"))
	groff = groff.stderr.decode().splitlines()
	return len(lint), len(groff), lint + groff

def wide_lines(path):
	"""Return the lines of a page in 80 columns that are longer."""
	r = subprocess.run(["man", "-l", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
			   env=dict(os.environ, LC_ALL="C.UTF-8", MANWIDTH="80", MANPAGER="cat"), timeout=300)
	text = re.sub(r".\b|\x1b\[[0-9;]*m", "", r.stdout.decode())
	return [line for line in text.split("\n") if len(line) > 80]

def unexpected(stderr):
	"""Return whether there is another message than that of claims that the machine does not let us try."""
	m = re.match("pevtrace: claims that could not be tried are not corrected: (.*)\n$", stderr.decode())
	reasons = re.findall(r"\w+ \((.*?)\)(?:, |$)", m.group(1)) if m else []
	return stderr and not (reasons and all(map(LACKS.match, reasons)))

def patched(tmp, page, *args):
	"""Write the patch of a page and apply it; return the path of the result, and why not."""
	old, new = os.path.join(tmp, "old.2"), os.path.join(tmp, "patched.2")
	for path in (old, new):
		write(path, source(page) if page.endswith(".gz") else open(page).read())
	r = run("--patch", "--man", page, *args)
	if r.returncode != 1 or unexpected(r.stderr):
		return old, new, ["status %d: %s" % (r.returncode, r.stderr)]
	r = tool("patch", new, input=r.stdout)
	told = r.stdout.decode()
	return old, new, [told] if r.returncode or "fuzz" in told or "offset" in told else []

def left(page, *args):
	"""Return the errors of a page, and how many things it lacks."""
	all_ = findings("--man", page, *args)
	return [f["id"] for f in all_ if f["severity"] == "error"], \
	       len([f for f in all_ if f["severity"] == "missing"])

def tags(text):
	"""Return the names of a text's entries, in order."""
	return re.findall(r"^\.T[PQ].*\n\.[BI]R? ([\w]+)", text, re.M)

def unnamed_files(path):
	"""Return the files of this kernel that every PMU has, and those of sysctl, without a word."""
	text = open(path).read().replace("\\-", "-")
	files = glob.glob("/proc/sys/kernel/perf_*") + \
		glob.glob("/sys/bus/event_source/devices/software/*")
	of_any_device = ("power", "subsystem", "uevent")
	return ["no word of " + f for f in files if os.path.basename(f) not in of_any_device and
		not re.search(r"\b%s\b" % re.escape(os.path.basename(f)), text)]

def misplaced(old, new):
	"""Return the new entries that are not where the layout or the alphabet has them."""
	was, page, why = open(old).read(), open(new).read(), []
	for begin, end in (("\nstruct perf_event_attr {", "\n.SS Reading results"),
			   ("\nstruct perf_event_mmap_page {", "\nstruct perf_event_header {")):
		if begin not in page:
			return [begin + " is not there"]
		layout, rest = page.split(begin)[1].split(end)[0].split("\n.EE", 1)
		members = list(dict.fromkeys(re.findall(r"(\w+) *(?=[:;\[])", layout)))
		listed = [t for t in tags(rest) if t in members]
		for before, t, after in zip([None] + listed, listed, listed[1:] + [None]):
			places = [members.index(x) for x in (before, t, after) if x]
			if places != sorted(places) and t not in tags(was):
				why.append("%s is between %s and %s" % (t, before, after))
	errors = [t for t in tags(page.split("\n.SH ERRORS")[1].split("\n.SH")[0]) if t[0] == "E"]
	return why + ["%s is before %s" % (a, b) for a, b in zip(errors, errors[1:]) if a > b]

def test_patch(tmp, page):
	"""The patched page is as clean as the old one, and conform finds no error in it."""
	args = [] if KNOWN_KERNEL else ["--no-behaviour"]
	old, new, why = patched(tmp, page, *args)
	if shutil.which("mandoc") and shutil.which("man"):
		before, after = complaints(old), complaints(new)
		if after[0] > before[0] or after[1] > before[1]:
			why += after[2]
		why += wide_lines(new)
	# other tests' cgroups and breakpoints disturb single experiments
	for _ in range(3):
		errors, missing = left(new, *args)
		if not errors:
			break
	why += errors
	why += misplaced(old, new) + unnamed_files(new)
	for said in (r"since Linux [3-9]\.\d+\.\d",
		     r"fails? with\n\.BR? EEXIST(?s:(?!\n\.TP).)*fails? with\n\.BR? EEXIST",
		     r"file descriptors:\nAll of them"):
		why += ["says " + m.group(0) for m in re.finditer(said, open(new).read())]
	if missing > LEFT:
		why.append("%d are missing" % missing)
	if left(old, *args)[0] == []:
		why.append("the old page has no errors")
	# groff prints a "^" as an accent
	if open(new).read().count("^") > open(old).read().count("^"):
		why.append("a ^ that is not \\[ha]")
	return why

def test_patch_lines(tmp, page):
	"""The patch has no blanks at the end of lines, no entry twice, and the page's path."""
	old, new, why = patched(tmp, page, "--no-behaviour")
	diff = list(difflib.unified_diff(open(old).read().split("\n"), open(new).read().split("\n"),
					 lineterm="", n=0))[2:]
	if any(re.match(r"\+.*[ \t]$", line) for line in diff):
		why.append("blanks at the end of lines")
	added = [line for line in diff if re.match(r"\+\.IR? \S+ \"? ?\(since", line)]
	why += ["two entries: " + entry for entry in set(added) if added.count(entry) > 1]
	for title, path in (('"Linux" "Linux Programmer\'s Manual"', "man2"),
			    ('"Linux man-pages 6.9"', "man2"), ('"Linux man-pages 6.10"', "man/man2"),
			    ('"Linux man-pages (unreleased)"', "man/man2")):
		titled = write(os.path.join(tmp, "titled.2"), re.sub(r'"Linux man-pages.*?"', lambda m: title,
			       source(PAGE), count=1))
		r = run("--patch", "--man", titled, *PAGE_ALONE)
		if not r.stdout.startswith(b"--- a/%s/perf_event_open.2\n" % path.encode()):
			why.append("of %s: %s" % (title, r.stdout[:60]))
	return why + uncommented(new)

def uncommented(path):
	"""Return new tags with a release whose commit is in the tables, but not in the page."""
	rows = open(os.path.join(HERE, "../src/conform/amend.in")).read().split("\n%commits\n")[1]
	names = dict(line.split("\t") for line in rows.split("\n") if line and line[0] != "#")
	if any(not re.fullmatch("[0-9a-f]{12}|[0-9a-f]{40}", c) for c in names.values()):
		return ["a commit is none"]
	tags_ = re.findall(r'^\.[BI]R (\w+) " \(since Linux.*\n(.*)', open(path).read(), re.M)
	return ["%s has no commit" % name for name, after in tags_ if name in names and
		not after.startswith((".\\\" commit", ".TQ"))]

def test_patch_text(tmp):
	"""The patch has the sentences that were agreed on."""
	text = run("--patch", "--man", PAGE).stdout.decode()
	want = ["+.BR PERF_SAMPLE_PHYS_ADDR \" (since Linux 4.14)\"",
		# commit da97e18458fb, in the notes on Linux 5.5 of the maintainer of SELinux
		"+A security module may refuse any event with this error\n+(since Linux 5.5)",
		"+if the value is 0 or has its highest bit set,",
		"+(from Linux 4.13 to Linux 6.12, even with it).",
		"+is set, only together with\n+.BR CAP_KILL .",
		"+The breakpoint requires\n+.B CAP_SYS_ADMIN\n+with any paranoid setting.",
		"+bit, kprobes, uprobes, and breakpoints on kernel addresses",
		"+.I bp_len\n+(except for execution).",
		"+if the event already has a program,\n+or another event of the tracepoint has this one;",
		"+how often the events of the group that have this bit\n",
		"+The size of this structure up to the reserved part before\n",
		"+can also fail with the other errors that\n+.BR path_resolution (7)\n",
		"+If the architecture supports it,\n", "+(as\n+.B PERF_TYPE_SOFTWARE\n+does for",
		"+(since Linux 6.19, and in updates of older series)",
		"+below), or (since Linux 6.16, and in updates of older series) if\n",
		"+From Linux 5.8 until Linux 6.16 (and updates of older series),\n",
		"+.P\n+On machines with several core PMUs",
		"+.I /sys/bus/event_source/devices/*/caps/\n"]
	if KNOWN_KERNEL:
		want += ["+A signal is sent at every overflow, whatever",
			 "+Software events and breakpoints accept any value,",
			 "+the number of events that the sample stands for.\n",
			 "+and the counts in a sample are those of the sampled task alone.",
			 "+(since Linux 4.9) and to other sampling events, such as breakpoints\n+(since Linux 4.13).",
			 "+of \\-1, or those of a cgroup;",
			 "+Both group leaders and the other members of groups are enabled and disabled.",
			 "+From Linux 4.13 to Linux 6.12,\n"]
	why = [w for w in want if w not in text]
	if KNOWN_KERNEL and run("--patch", "--man", PAGE).stdout.decode() != text:
		why.append("another run differs")
	return why

def test_patch_older(tmp):
	"""Members that a page of an older release lacks come in the layout's order."""
	text = source(PAGE)
	for lost in ("    __u32 aux_sample_size;.*\n", "    __u32 __reserved_3;.*\n", "    __u64 sig_data;.*\n",
		     "          sigtrap        :.*\n.*\n"):
		text, n = re.subn(lost, "", text)
		if n != 1:
			return ["%s: %d times" % (lost, n)]
	page = write(os.path.join(tmp, "older.2"), text.replace("__reserved_1   : 26;", "__reserved_1   : 27;"))
	_, new, why = patched(tmp, page, *PAGE_ALONE)
	layout = open(new).read().split("\nstruct perf_event_attr {")[1].split("\n.EE")[0]
	members = re.findall(r"(\w+) *(?=[:;\[])", re.sub(r"(?s)/\*.*?\*/", "", layout))
	for want in ("remove_on_exec sigtrap defer_callchain defer_output __reserved_1",
		     "sample_max_stack __reserved_2 aux_sample_size sig_data config3 config4"):
		if want not in " ".join(members):
			why.append("not %s: %s" % (want, members))
	return why

def test_patch_untried():
	"""Claims that cannot be tried here are named, as the patch leaves them."""
	hide = "".join("mount -t tmpfs none %s && " % place for place in TRACING) + 'exec "$@"'
	r = tool("unshare", "-m", "sh", "-c", hide, "sh", PEVTRACE, "conform", "--patch", "--man", PAGE,
		 "--claim=ioctl_query_bpf_ids_len")
	return [] if b"are not corrected: ioctl_query_bpf_ids_len (" in r.stdout else [str(r)]

def test_patch_hostile(tmp):
	"""A patch of a damaged page applies to it, if the page can be read at all."""
	text, rnd, why = source(PAGE).split("\n"), random.Random(21), []
	for i in range(6):
		bad = list(text)
		for _ in range(200):
			at = rnd.randrange(len(bad))
			bad[at:at + rnd.randrange(3)] = [rnd.choice([".RE", ".TP", ".RS", ".EE", "", "x",
				".SS MMAP layout", ".B EINVAL", "struct {", "\\"]) for _ in range(rnd.randrange(2))]
		path = write(os.path.join(tmp, "damaged.2"), "\n".join(bad))
		r = run("--patch", "--man", path, *PAGE_ALONE)
		if r.returncode == 2 and b"perf_event_attr" in r.stderr:
			continue
		told = tool("patch", path, input=r.stdout).stdout.decode() if r.stdout else ""
		if r.returncode not in (0, 1) or r.stderr or "fuzz" in told or "FAILED" in told:
			why.append("page %d: %d %s %s" % (i, r.returncode, r.stderr, told))
	return why
