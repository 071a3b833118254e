#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace conform: what is found in the installed page against mandoc's rendering
of it, headers as text, and the kernel's BTF; and edits of page and header, each of
which must be told."""

import concurrent.futures
import difflib
import errno
import fnmatch
import gzip
import lzma
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import machine
import straceparse as sp
from checks import check, TAP
from perf_event import forbid
import conform_edits
import conform_patches
from findings import findings, KNOWN_KERNEL, LACKS, objects, PAGE, PAGE_ALONE, PEVTRACE, run, \
	source, TRACING, write

FRENCH = "/usr/share/man/fr/man2/perf_event_open.2.gz"
HEADER = "/usr/include/linux/perf_event.h"
BTF = "/sys/kernel/btf/vmlinux"
KNOWN_TITLE = "Linux man-pages 6.03"
HANDICAPS = os.path.join(os.path.dirname(os.path.realpath(os.environ.get(
	"PEVTRACE_TARGETS", "tests/targets"))), "handicap")
DEAD = os.path.join(HANDICAPS, "dead.so")

def key(f):
	return f["id"], f["text"], f.get("detail"), \
	       tuple(p.get("quote") for p in f["places"] if p["source"] == "page")

# ---- what is found ----------------------------------------------------------------

def test_known(all_):
	"""Errors found by reading the page, before the tool existed."""
	ids = {f["id"] for f in all_}
	return [i for i in conform_edits.READ_BY_HAND if i not in ids]

def rows(path):
	with open(path) as f:
		for line in f:
			if line.strip() and not line.startswith("#"):
				yield line.rstrip("\n").split("\t")

def test_sample(all_):
	"""Every finding in the page has been verified by hand, and there are no others."""
	sample = {i: verdict for i, verdict, _ in rows(os.path.join(HERE, "conform.sample"))}
	page = {f["id"] for f in all_ if f["id"].startswith("page-")}
	why = ["not judged: " + i for i in sorted(page - set(sample))]
	why += ["judged, and not found: " + i for i in sorted(set(sample) - page)]
	why += ["a false alarm: " + i for i, v in sample.items() if v != "true"]
	return why + (["only %d" % len(sample)] if len(sample) < 50 else [])


def untried(all_):
	"""Return the claims that the machine does not let us try."""
	return {o["what"].replace("kernel: ", "") for o in all_
		if o["kind"] == "untried" and LACKS.match(o["reason"])}

def test_behaviour():
	"""False claims found with other programs are reported."""
	all_ = objects("--man", PAGE, "--no-headers", "--no-btf")
	ids = {f["id"] for f in all_ if f["kind"] == "finding"}
	return [i for i in conform_edits.BEHAVIOUR_BY_HAND if i not in ids and
		i.split(":")[1] not in untried(all_)]

def test_unsaid(tmp):
	"""An undocumented fact counts as documented once its own paragraph has the word."""
	text, claim, why = source(PAGE), "ioctl_set_filter_again", []
	for tag, want in (("PERF_EVENT_IOC_SET_FILTER", []), ("PERF_EVENT_IOC_ID", ["unsaid:" + claim])):
		edited = re.sub(r"(\.BR %s .*?\n\.\\\" commit.*?\n)" % tag,
				r"\1The second time it fails with\n.BR EEXIST .\n", text, count=1)
		assert edited != text
		path = write(os.path.join(tmp, "unsaid.2"), edited)
		got = [f["id"] for f in findings("--man", path, "--claim", claim, "--no-headers",
						 "--no-btf") if f["id"].startswith("unsaid:")]
		if got != want:
			why.append("%s: %s" % (tag, got))
	return why

def rendered(path):
	r = subprocess.run(["mandoc", "-T", "utf8", "-O", "width=400", "/dev/stdin"],
			   input=source(path).encode(), stdout=subprocess.PIPE, timeout=300)
	return re.sub(r".\x08", "", r.stdout.decode())

def words(text):
	return set(re.findall(r"[A-Za-z_]\w*", text))

def header_words():
	text = open(HEADER).read() + open(HEADER.replace("perf_event", "hw_breakpoint")).read()
	return words(re.sub(r"/\*.*?\*/", "", text, flags=re.S))

def test_oracles(all_):
	"""Missing names are not on the page as mandoc shows it; wrong names are, and not
	in the header."""
	page, header, why = words(rendered(PAGE)), header_words(), []
	btf = words(open(BTF, "rb").read().decode("latin-1")) if os.path.exists(BTF) else set()
	for f in all_:
		kind, name = f["id"].split(":")
		if kind == "page-missing" and name.isupper():
			if name in page:
				why.append("%s is on the page" % name)
			since = tuple(map(int, f["since"].split(".")))
			if name not in header | btf and since <= (6, 1):
				why.append("nobody has %s" % name)
		if kind == "page-unknown" and " " not in name:
			if name not in page or name in header:
				why.append("%s is right" % name)
		if kind == "page-undescribed" and "." not in name and name not in page:
			why.append("%s is not on the page" % name)
	return why

def test_every_name(all_):
	"""Every constant of the header that mandoc does not show is reported."""
	page, told, why = words(rendered(PAGE)), "", []
	for f in findings("--man", PAGE, "--no-behaviour", "--excepted") + \
		 findings("--man", PAGE, "--no-behaviour", "--excepted", kind="excepted"):
		told += " %s %s %s" % (f["id"], f["text"], f.get("detail", ""))
	ids = objects("--man", PAGE, "--no-behaviour")
	for name in header_words():
		if re.match(r"(PERF|HW_BREAKPOINT)_[A-Z0-9_]+$", name) and name not in page and \
		   not re.search(r"_MAX(_SHIFT)?$|_MASK$|ABORT|^PERF_MEM_S?$|_CONTEXTS_", name) and \
		   not re.search(r"\b%s\b" % name, told):
			why.append(name)
	# constants of sets excepted as a whole are not listed one by one
	return [n for n in why if not re.match(
		r"PERF_(SAMPLE_BRANCH_\w+_SHIFT|BR_ARM64_\w+|RECORD_MISC_FORK_EXEC|SAMPLE_WEIGHT_TYPE|MAX_STACK_DEPTH)$", n)
		and ids]

def test_lines(all_):
	"""Each quotation is the line of the page whose number it gives."""
	lines = source(PAGE).split("\n")
	return ["%s: %s" % (f["id"], p) for f in all_ for p in f["places"]
		if p["source"] == "page" and lines[p["line"] - 1].strip() != p["quote"]]

def record_page():
	"""A page whose structures are those of the header and its comments."""
	text = open(HEADER).read()
	page = '.TH perf_event_open 2 today "made of a header"\n.SH DESCRIPTION\n'
	attr = re.search(r"\nstruct perf_event_attr \{.*?\n\};", text, re.S).group(0)
	attr = re.sub(r"/\*.*?\*/", "", attr, flags=re.S)
	page += ".EX\nstruct perf_event_header {\n__u32 type;\n__u16 misc;\n__u16 size;\n};%s\n.EE\n" \
		% attr.replace("\\", "\\e")
	enum = re.search(r"enum perf_event_type \{.*?\n\};", text, re.S).group(0)
	for comment, name in re.findall(r"/\*((?:(?!\*/).)*)\*/\s*(PERF_RECORD_\w+)\s*=", enum, re.S):
		body = re.search(r"struct \{.*?\n\t \* \};?", comment, re.S)
		if not body:
			continue
		lines = [re.sub(r"^\s*\*", "", l) for l in body.group(0).split("\n")]
		lines = [l for l in lines if not re.match(r"\s*#", l)]
		code = "\n".join(lines)
		code = re.sub(r"(\}(?: \w+\[\w+\])?)\s*&&\s*(PERF_\w+)( \|\| (PERF_\w+))?",
			      r"\1 /* if \2 \3 */", code)
		# what the kernel wrote for readers only
		page += ".TP\n.B %s\n.EX\n%s\n.EE\n" % (name, code.replace("\\", "\\e"))
	return page

def test_records(tmp):
	"""The structures of records agree with the kernel's comments."""
	path = write(os.path.join(tmp, "records.2"), record_page())
	got = [f for f in findings("--man", path, *PAGE_ALONE)
	       if re.match(r"page-(member|bits|layout)", f["id"])]
	had = sum(1 for o in objects("--man", path, *PAGE_ALONE) if "page-layout" in o.get("id", ""))
	return [f["id"] + ": " + f["text"] for f in got
		if not fnmatch.fnmatch(f["id"], "page-member-missing:perf_event_attr.*")
		and f["id"] not in conform_edits.COMMENT_DIFFERS] + (["no layouts"] if had > 3 else [])

# ---- edits ------------------------------------------------------------------------

def told(before, after, expected):
	"""Return the findings that an edit adds, and whether one is expected."""
	old = {key(f) for f in before}
	return [f for f in after if key(f) not in old and
		any(fnmatch.fnmatch(f["id"], e) for e in expected.split())]

def test_edits(tmp, edits, text, args, least):
	path = os.path.join(tmp, "perf_event.h")
	args = [path if a is None else a for a in args]
	before, why, done = [], [], 0
	write(path, text)
	before = findings(*args)
	for what, pattern, by, expected in edits:
		edited, n = re.subn(pattern, by, text, count=1, flags=re.S | re.M)
		if not n or edited == text:
			why.append("%s: nothing there to edit" % what)
			continue
		write(path, edited)
		done += 1
		after = findings(*args)
		if not told(before, after, expected):
			why.append("%s: not told; new: %s" % (what, [
				f["id"] for f in after if key(f) not in {key(b) for b in before}]))
		if any(told(before, before, expected)):
			why.append("%s: told unedited" % what)
	if done < least:
		why.append("only %d edits" % done)
	return why

def test_page_edits(tmp):
	return test_edits(tmp, conform_edits.PAGE_EDITS, source(PAGE),
			  ["--man", None] + PAGE_ALONE, 60)

def example_findings(path, **kw):
	"""Return the findings about the example of a page, and why it was not tried, or None."""
	got = objects("--man", path, "--examples", "--no-headers", "--no-btf", "--claim=flag_cloexec",
		      **kw)
	untried = [o["reason"] for o in got if o["kind"] == "untried" and
		   o["what"] == "example: perf_event_open.c"]
	return [o for o in got if o.get("id") == "page-example:perf_event_open.c"], \
	       untried[0] if untried else None

def test_example(tmp):
	"""The example runs, with another event where the machine lacks its own."""
	path = os.path.join(tmp, "example.2")
	got, untried = example_findings(PAGE)
	why = [f["text"] for f in got]
	if untried and "runs as described" not in untried:
		why.append("untried: " + untried)
	for what, pattern, by, expected in conform_edits.EXAMPLE_EDITS:
		text, n = re.subn(pattern, by, source(PAGE), count=1, flags=re.M)
		write(path, text)
		got, untried = example_findings(path)
		if not n or len(got) != 1 or expected not in got[0]["text"]:
			why.append("%s: %s %s" % (what, [f["text"] for f in got], untried))
	# a page that may come from anywhere is not run unasked
	mark = os.path.join(tmp, "ran")
	text, n = re.subn(r"^    close\(fd\);", '    system("touch %s");' % mark, source(PAGE), flags=re.M)
	write(path, text)
	reasons = [o["reason"] for o in objects("--man", path, "--claim=flag_cloexec")
		   if o["kind"] == "untried"]
	if os.path.exists(mark) or not any("--examples" in r for r in reasons):
		why.append("run unasked: %s" % reasons)
	example_findings(path)
	if not os.path.exists(mark):
		why.append("the program did not run")
	env = dict(os.environ, CC="false", PATH="/nonexistent")
	got, untried = example_findings(PAGE, env=env)
	if got or "no C compiler" not in (untried or ""):
		why.append("without a compiler: %s %s" % (got, untried))
	return why

def test_header_edits(tmp):
	return test_edits(tmp, conform_edits.HEADER_EDITS, open(HEADER).read(),
			  ["--self", "--no-btf", "--header", None], 15)

def test_all_entries(tmp):
	"""Each constant's entry in turn loses a letter of its name."""
	text, path, why = source(PAGE), os.path.join(tmp, "perf_event.h"), []
	write(path, text)
	before = findings("--man", path, *PAGE_ALONE)
	entries = re.findall(r"^\.BR? (PERF_[A-Z0-9_]+)", text, re.M)
	for name in sorted(set(entries))[::5]:
		wrong = name[:-2] + name[-1]
		write(path, re.sub(r"\b%s\b" % name, wrong, text))
		new = told(before, findings("--man", path, *PAGE_ALONE),
			   "page-unknown:%s page-missing:%s page-undescribed:%s" % (wrong, name, name))
		if not new:
			why.append(name)
	return why

# ---- a new kernel ------------------------------------------------------------------

def test_news(tmp):
	"""Additions in a newer kernel's header and types are reported, and nothing else."""
	text = open(HEADER).read()
	text = text.replace("PERF_COUNT_SW_CGROUP_SWITCHES\t\t= 11,",
			    "PERF_COUNT_SW_CGROUP_SWITCHES\t\t= 11,\n\tPERF_COUNT_SW_NOVEL = 12,")
	# behind the last member, which depends on the header's release
	text = re.sub(r"(\n\t__u64\t(?:sig_data|config3|config4);[^\n]*)(\n\};)",
		      r"\1\n\t__u32\tnovel_member;\n\t__u32\t__reserved_9;\2", text, count=1)
	path = write(os.path.join(tmp, "perf_event.h"), text)
	want = {"unknown:PERF_COUNT_SW_NOVEL", "member-unknown:perf_event_attr.novel_member"}
	got = {f["id"].replace("header-", "") for f in findings("--self", "--no-btf", "--header", path)
	       if f["severity"] != "note"}
	obj = os.path.join(tmp, "new.o")
	subprocess.run(["gcc", "-gbtf", "-fno-eliminate-unused-debug-types", "-c", "-o", obj,
			"-x", "c", path], check=True, timeout=300)
	btf = {f["id"].replace("btf-", "") for f in findings("--self", "--no-headers", "--btf", obj)
	       if f["severity"] != "note"}
	return [] if got == want and btf == want else [str(got), str(btf)]

def test_self():
	r = run("--self")
	return [r.stdout.decode()[-2000:] + r.stderr.decode()] if r.returncode else []

# ---- pages that are none ------------------------------------------------------------

def survives(path, *args):
	r = run("--man", path, *PAGE_ALONE, *args)
	return r.returncode in (0, 1, 2) and b"\x1b" not in r.stdout + r.stderr, r.returncode

def test_hostile(tmp):
	text, path, why = gzip.open(PAGE).read(), os.path.join(tmp, "bad.2"), []
	rnd = random.Random(8)
	pages = [text[:n] for n in range(0, len(text), 9973)]
	pages += [bytes(rnd.randrange(256) for _ in range(5000)) for _ in range(5)]
	for _ in range(15):
		bad = bytearray(text)
		for _ in range(300):
			bad[rnd.randrange(len(bad))] = rnd.choice(b"\\.\"\n{};:[]/*\0\xff\x1bfB(")
		pages.append(bytes(bad))
	block = b".EX\nstruct perf_event_attr {\n%s};\n.EE\n.TP\n.B PERF_SAMPLE_IP\nx\n"
	pages += [block % (b"struct {" * 50000), block % (b"u64 a[" * 50000),
		  block % (b"u64 a : 99999999999999;\n" * 5000), block % (b"u64 a[99999999];\n" * 99),
		  block % b"/* if PERF_SAMPLE_IP" + b"A" * 100000,
		  b".TP\n.BR " + b"\"a\" " * 100000 + block % b"u64 a;",
		  b".de XX\n" * 1000 + block % b"u64 a;", b".TP\n.B PERF_" + b"X" * 1000000 +
		  b"\n" + block % b"u64 a;", b"\\\n" * 100000,
		  block % b"u64 \x1b[31m;" + b".SS \x1b[2J\xc2\x9b31m\n.TP\n.B PERF_SAMPLE_NEIN\x1b\nx\n"]
	for i, page in enumerate(pages):
		ok, status = survives(write(path, page), *(["-v"] if i % 2 else []))
		if not ok:
			why.append("page %d of %d bytes: %s" % (i, len(page), status))
	return why

def test_packed(tmp):
	text = gzip.open(PAGE).read()
	plain = write(os.path.join(tmp, "page.2"), text)
	gz = write(os.path.join(tmp, "page.gz"), gzip.compress(text))
	xz = write(os.path.join(tmp, "page.xz"), lzma.compress(text))
	got = [[(f["id"], f["text"]) for f in findings("--man", p, *PAGE_ALONE)]
	       for p in (plain, gz, xz)]
	why = [] if got[0] == got[1] == got[2] and got[0] else ["packed pages differ"]
	r = run("--man", write(os.path.join(tmp, "dos.2"), text.replace(b"\n", b"\r\n")), *PAGE_ALONE)
	if r.returncode != 2 or b"CR LF" not in r.stderr:
		why.append("lines that end with CR LF: %s" % r.stderr)
	for name, data in (("cut.gz", gzip.compress(text)[:-3000]), ("cut.xz", lzma.compress(text)[:-3000]),
			   ("bomb.gz", gzip.compress(b"a" * (64 << 20)))):
		r = run("--man", write(os.path.join(tmp, name), data), *PAGE_ALONE)
		if r.returncode != 2 or not r.stderr:
			why.append("%s: status %d" % (name, r.returncode))
	return why

# ---- instruments ----------------------------------------------------------------------

# Claims that can be tried only where breakpoints fire, and those that need some that open.
FIRE = {"type_breakpoint_rw", "type_breakpoint_x", "bp_w", "bp_rw", "bp_x", "ioctl_modify"}
OPEN = FIRE | {"bp_empty", "bp_r", "bp_rx", "bp_len_options", "bp_len_others", "bp_len_x",
	       "clockid_all_events", "enospc_breakpoints", "eperm_kernel_breakpoint", "ioctl_modify_fields",
	       "ioctl_modify_size", "ioctl_set_bpf_overflow", "multiple_pmus", "precise_not_hardware"}
# dead.so has no clocks in their place
NO_CLOCKS = {"ioctl_modify_clock", "ioctl_period_clock"}

def verdicts(*args, dead=None, tracer=()):
	"""Return the verdict and reason of each claim, by its name, where events of a kind are dead."""
	env = dict(os.environ, LD_PRELOAD=DEAD, DEAD=dead) if dead else None
	r = subprocess.run(list(tracer) + [PEVTRACE, "conform", "--accounting", "-v", "--no-headers",
			   "--no-btf", "--man", PAGE] + list(args), stdout=subprocess.PIPE, timeout=300, env=env)
	# behaviour that the page should state is "missing", which is neither true nor false
	return {name: (verdict, reason) for verdict, name, reason in re.findall(
		r"^claim +(\w+) +\S+  (\w+)(?:: (.*))?$", r.stdout.decode(), re.M)}

def differ_in(before, after):
	return {name for name in before if before[name][0] != after[name][0]}

def undisturbed(compare, *args):
	"""Compare up to three times: other tests' breakpoints and cgroups disturb single experiments."""
	for _ in range(3):
		why = compare(*args)
		if not why:
			break
	return why

def compare_dead_breakpoints(*args):
	"""Where breakpoints do not fire, other instruments give the same verdicts and the same patch."""
	before, after = verdicts(*args), verdicts(*args, dead="breakpoints")
	changed = differ_in(before, after)
	why = ["%s: %s, then %s: %s" % (name, before[name][0], *after[name]) for name in changed
	       if name not in FIRE or after[name] != ("untried", "breakpoints do not fire on this machine")]
	if not machine.lacks("breakpoints") and changed != FIRE:
		why.append("not untried: %s" % (FIRE - changed))
	if len(before) < 300:
		why.append("only %d claims" % len(before))
	if not args:
		patches = [run("--patch", "--man", PAGE, "--no-headers", "--no-btf", env=env).stdout for env in
			   (os.environ, dict(os.environ, LD_PRELOAD=DEAD))]
		why += difflib.unified_diff(*[p.decode().split("\n") for p in patches], lineterm="", n=0)
	return why

def compare_no_breakpoints():
	"""Where breakpoints cannot be opened, only claims that open some differ."""
	when = "inject=perf_event_open:error=ENOENT:when=type==PERF_TYPE_BREAKPOINT"
	before = verdicts()
	after = verdicts(tracer=[PEVTRACE, "-o", "/dev/null", "-e", "trace=none", "-e", when])
	return ["%s: %s, then %s: %s" % (name, before[name][0], *after[name])
		for name in differ_in(before, after) if name not in OPEN or after[name][0] != "untried"]

def compare_no_sysctls():
	"""A sysctl that cannot be read contradicts no claim, nor proves one."""
	before = verdicts()
	after = verdicts(tracer=["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc/sys && exec "$@"', "sh"])
	changed = differ_in(before, after)
	return ["%s: %s, then %s: %s" % (name, before[name][0], *after[name]) for name in changed
		if after[name][0] != "untried"] + ([] if changed else ["none is untried"])

CGROUPS, PMUS = {"cgroup_bit", "record_cgroup"}, {"sysfs_pmus", "sysfs_pmus_several", "sysfs_uevent", "sysfs_format"}
HIDDEN = (("/sys", CGROUPS | PMUS, "/sys is not mounted"),
	  ("/sys/fs/cgroup", CGROUPS, "no cgroup hierarchy for perf events is mounted, or it is hidden"),
	  ("/sys/bus/event_source", PMUS, "/sys/bus/event_source is hidden"),
	  ("/sys/devices", PMUS, "/sys/devices is hidden"))

def compare_hidden():
	"""What sysfs and cgroupfs would show contradicts no claim where something is mounted over them."""
	before, why, untried = verdicts(), [], set()
	for folder, claims, reason in HIDDEN:
		if not os.path.isdir(folder):
			continue
		after = verdicts(tracer=["unshare", "-m", "sh", "-c",
					 'mount -t tmpfs none %s && exec "$@"' % folder, "sh"])
		changed = differ_in(before, after)
		untried |= changed & claims
		why += ["without %s %s: %s, then %s: %s" % (folder, name, before[name][0], *after[name])
			for name in changed if after[name][0] != "untried" or
			name in claims and not after[name][1].startswith(reason)]
	return why + (["not untried: %s" % untried] if not untried & PMUS else [])

def compare_dead_software():
	"""No claim is said to be the opposite because nothing counts: it is untried."""
	before = verdicts()
	after = verdicts(dead="breakpoints software")
	changed = differ_in(before, after)
	why = ["%s: %s, then %s: %s" % (name, before[name][0], *after[name]) for name in changed
	       if after[name][0] != "untried" and name not in NO_CLOCKS]
	return why + (["only %d are untried" % len(changed)] if len(changed) < 100 else [])

# ---- accounting -----------------------------------------------------------------------

def table_rows(path, section):
	"""Return the names of a section of a table."""
	names, inside = [], False
	for line in open(os.path.join(HERE, "..", path)):
		if line.startswith("%"):
			inside = line.split()[0] == section
		elif inside and line.strip() and line[0] not in "#\t":
			names.append(line.split("\t")[0])
	return names

def test_accounting(all_):
	"""Each claim and rule is accounted for once, each sentence with a reason if it was not
	checked, and each error in the page is false."""
	text = run("--accounting", "-v", "--man", PAGE, "--no-behaviour").stdout.decode()
	kinds, why = {}, []
	for line in text.splitlines():
		m = re.match(r"(\w+) +(matched|false|missing|excepted|names only|untried|unchecked) "
			     r"+(\S+)  (.*)", line)
		if m:
			kinds.setdefault(m.group(1), []).append(m.groups()[1:])
	for kind, path, section in (("claim", "src/conform/claims.in", "%claims"),
				   ("rule", "xlat/rules.in", "%rules")):
		got = [text.split(":")[0] for _, _, text in kinds[kind]]
		if sorted(got) != sorted(table_rows(path, section)):
			why.append("%s: %d of %d" % (kind, len(got), len(table_rows(path, section))))
	for kind, rows in kinds.items():
		total = re.search(r"^total %s: (.*)" % kind, text, re.M).group(1)
		if sum(map(int, re.findall(r"(\d+) ", total))) != len(rows):
			why.append("%s: %d lines, %s" % (kind, len(rows), total))
		why += ["no reason: " + t for account, _, t in rows
			if account in ("unchecked", "untried", "excepted") and ": " not in t]
	why += ["no claim: " + t for account, _, t in kinds["sentence"] if t.endswith(": no claim")
		and account == "unchecked"]
	at = [int(line) for account, line, _ in kinds["sentence"]]
	if at != sorted(set(at)) or len(at) < 500:
		why.append("sentences are not in the order of the page")
	wrong = [int(line) for account, line, _ in kinds["sentence"] if account == "false"]
	prose = [p["line"] for f in all_ if f["id"].startswith(("page-since:", "page-said:"))
		 and f["severity"] == "error" for p in f["places"] if p["source"] == "page"]
	why += ["line %d has an error, and no false sentence" % n for n in prose
		if not any(w <= n < w + 12 for w in wrong)]
	return why

# ---- output ---------------------------------------------------------------------------

def test_formats(all_):
	tap = run("--no-behaviour", "--tap").stdout.decode().splitlines()
	points = [l for l in tap if re.match(r"(not )?ok \d+ - ", l)]
	summary = objects("--no-behaviour")[-1]
	bad = sum(1 for l in points if l.startswith("not"))
	why = []
	if tap[0] != "1..%d" % len(points) or len(points) != summary["compared"]:
		why.append("the plan is %s, and there are %d" % (tap[0], len(points)))
	if [int(re.search(r"ok (\d+)", l).group(1)) for l in points] != list(range(1, len(points) + 1)):
		why.append("the numbers are not in order")
	if not 0 < bad <= summary["errors"] + summary["missing"]:
		why.append("%d are not ok" % bad)
	text = run("--no-behaviour").stdout.decode()
	missing = [f["text"] for f in all_ if f["text"] not in text]
	markdown = run("--no-behaviour", "--markdown").stdout.decode()
	missing += [f["text"] for f in all_ if f["text"] not in markdown.replace("`", "")]
	return why + missing[:5]

def test_selection(all_):
	why = []
	got = {f["id"] for f in findings("--no-behaviour", "--since=5.13")}
	want = {f["id"] for f in all_ if "since" in f and
		tuple(map(int, f["since"].split("."))) >= (5, 13)}
	if got != want or not got:
		why.append("--since: %s" % sorted(got ^ want))
	got = {f["section"] for f in findings("--no-behaviour", "--section=errors")}
	if got != {"ERRORS"}:
		why.append("--section: %s" % got)
	for args, status in ((["--section=no such"], 2), (["--section=ERORS"], 2),
			     (["--section=errors"], 1), ([], 1)):
		r = run("--no-behaviour", *args)
		if r.returncode != status:
			why.append("%s: status %d" % (args, r.returncode))
	return why

def test_misuse(tmp):
	empty = write(os.path.join(tmp, "empty.2"), "")
	bad_h = write(os.path.join(tmp, "bad.h"), "enum {")
	why = []
	for args in (["--man", empty], ["--man", tmp], ["--man", tmp + "/none"], ["x"], ["--since=new"],
		     ["--claim=nosuchclaim"],
		     ["--since=5.1x"], ["--self", "--man", PAGE], ["--tap", "--json"], ["--nonsense"],
		     ["--header", bad_h], ["--header", tmp + "/none"], ["--btf", empty],
		     ["--self", "--no-headers", "--no-btf"], ["--header", bad_h, "--no-headers"],
		     ["--patch", "--json"], ["--accounting", "--tap"], ["--patch", "--self"], ["--patch", "--section=ERRORS"],
		     ["--patch=" + tmp, "--no-behaviour"],
		     ["-o", tmp + "/none/x", "--no-behaviour"], ["--no-behaviour", "--nobody"],
		     ["--no-behaviour", "--examples"]):
		r = run(*args)
		if r.returncode != 2 or not r.stderr.startswith(b"pevtrace: "):
			why.append("%s: status %d: %s" % (args, r.returncode, r.stderr))
	r = run("--self", "--no-btf", env=dict(os.environ, CC="false", PATH="/nonexistent"))
	if r.returncode != 2 or b"no C compiler" not in r.stderr:
		why.append("without a compiler: %d %s" % (r.returncode, r.stderr))
	mute = write(os.path.join(tmp, "mute"), '#!/bin/sh\n'
		     '[ "$1" != -E ] || exec true >"$4"\nexec gcc "$@"\n')
	os.chmod(mute, 0o755)
	r = run("--self", "--no-btf", env=dict(os.environ, CC=mute))
	if r.returncode != 2 or b"does not name it" not in r.stderr:
		why.append("with one that preprocesses to nothing: %d %s" % (r.returncode, r.stderr))
	return why

def test_french():
	"""The translation has the same errors, and others of its own."""
	ids = {f["id"] for f in findings("--man", FRENCH, "--no-behaviour")}
	return [i for i in conform_edits.FRENCH_ALONE + ["page-since:PERF_SAMPLE_PHYS_ADDR"]
		if i not in ids]

def test_filter():
	"""A seccomp filter answers every call: it contradicts no claim about the kernel."""
	r = run("--no-headers", "--no-btf", "--claim=fd_for_calls", preexec_fn=forbid(errno.EPERM))
	return [] if b"of 1 claims 0 true, 0 false, 1 untried" in r.stdout and r.returncode == 1 else [
		str(r)]

def test_offline(tmp):
	r = subprocess.run(["unshare", "-n", PEVTRACE, "conform", "--no-behaviour"],
			   stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
	return [] if r.returncode == 1 and not r.stderr else [str(r)]

# ---- tests ----------------------------------------------------------------------------

def runs(*args):
	try:
		return subprocess.run(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
				      timeout=100).returncode == 0
	except OSError:
		return False

def other_page(path, title):
	"""Return why a page is not the one of that title, or None."""
	if not os.path.exists(path):
		return path + " is not installed"
	found = re.search(r'(?m)^\.TH .*?"(Linux[^"]*)"', source(path))
	return None if title in source(path) else "%s is of %s, and the test knows %s" % \
		(path, found[1] if found else "an unknown release", title)

def cannot_mount():
	"""Return why tracefs cannot be hidden, or None: in a chroot that is no mount point, unshare -m
	fails."""
	for place in TRACING:
		r = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", place],
				   stderr=subprocess.PIPE, text=True, check=False)
		if r.returncode:
			return "nothing can be mounted: " + r.stderr.strip()
	return None

# why what a test may need is not there, or None
NEEDS = {
	"page": other_page(PAGE, KNOWN_TITLE),
	"french": other_page(FRENCH, KNOWN_TITLE.replace("Linux man-pages", "Linux")),
	"PAGE": None if "PAGE" in os.environ else "PAGE is not set",
	"root": "requires root" if os.getuid() else None,
	"events": machine.lacks("events"), "nobody": machine.lacks("another user"),
	"sysctls": machine.lacks("sysctls"),
	"kernel": None if KNOWN_KERNEL else "requires CAP_PERFMON, /proc/sys and Linux 6.18 on x86_64, and this is %s %s" %
		  (os.uname().machine, os.uname().release),
	"mounts": cannot_mount(),
	"network": None if runs("unshare", "-n", "true") else "unshare -n is not permitted",
	"preload": None if os.path.exists(DEAD) and not sp.sanitized() else
		   "tests/handicap/*.so are not built, or do not bear the sanitizers",
	"long": None if sp.LONG else "only with LONG=1",
}
NEEDS.update((tool_, None if shutil.which(tool_) else tool_ + " is not installed")
	     for tool_ in ("gcc", "mandoc", "patch"))

def all_tests(all_):
	"""Return the tests: name, function of a directory, needs.  Those that try claims need "try"."""
	page = os.environ.get("PAGE", PAGE)
	return [
		("what a reader found", lambda tmp: test_known(all_), "page"),
		("every finding, judged by hand", lambda tmp: test_sample(all_), "page gcc"),
		("what a reader tried", lambda tmp: test_behaviour(), "try page kernel"),
		("what the page does not tell", test_unsaid, "try page"),
		("mandoc, header and BTF", lambda tmp: test_oracles(all_), "page mandoc"),
		("every name that mandoc does not show", lambda tmp: test_every_name(all_), "page mandoc"),
		("lines that are quoted", lambda tmp: test_lines(all_), "page"),
		("records of the header's comments", test_records, ""),
		("edits of the page", test_page_edits, "page"),
		("the example", test_example, "try page gcc events"),
		("edits of the header", test_header_edits, "gcc"),
		("letters lost", test_all_entries, "page"),
		("a new kernel", test_news, "gcc"),
		("the tables", lambda tmp: test_self(), "gcc"),
		("bad pages", test_hostile, "page"),
		("packed pages", test_packed, "page"),
		("a patch", lambda tmp: conform_patches.test_patch(tmp, PAGE), "try page gcc patch"),
		("a patch of PAGE", lambda tmp: conform_patches.test_patch(tmp, page), "try PAGE gcc patch"),
		("lines of a patch", lambda tmp: conform_patches.test_patch_lines(tmp, page), "page gcc patch"),
		("sentences of a patch", conform_patches.test_patch_text, "try page gcc"),
		("a patch of an older page", conform_patches.test_patch_older, "page patch"),
		("what could not be tried", lambda tmp: conform_patches.test_patch_untried(), "try page root mounts"),
		("patches of bad pages", conform_patches.test_patch_hostile, "page patch"),
		("dead breakpoints", lambda tmp: undisturbed(compare_dead_breakpoints), "try page preload"),
		("the same as an ordinary user", lambda tmp: undisturbed(compare_dead_breakpoints, "--nobody"),
		 "try page preload nobody"),
		("no breakpoints", lambda tmp: undisturbed(compare_no_breakpoints), "try page long"),
		("no /proc/sys", lambda tmp: undisturbed(compare_no_sysctls), "try page mounts events sysctls"),
		("no sysfs, no cgroupfs", lambda tmp: undisturbed(compare_hidden), "try page mounts"),
		("nothing counts", lambda tmp: undisturbed(compare_dead_software), "try page preload events"),
		("a filter for all calls", lambda tmp: test_filter(), "page"),
		("accounting", lambda tmp: test_accounting(all_), "page gcc"),
		("formats", lambda tmp: test_formats(all_), "page gcc"),
		("selection", lambda tmp: test_selection(all_), "page gcc"),
		("misuse", test_misuse, "page gcc"),
		("a translation", lambda tmp: test_french(), "french gcc"),
		("without a network", test_offline, "page network"),
	]

def lacks(needs):
	"""Return why a test with these needs cannot run here, or None."""
	return "; ".join(NEEDS[need] for need in needs.split() if need != "try" and NEEDS[need]) or None

def main():
	tmp = tempfile.mkdtemp(prefix="pevtrace-conform-")
	env_tmp = os.path.join(tmp, "tmp")
	os.mkdir(env_tmp)
	os.environ["TMPDIR"] = env_tmp
	all_ = findings("--no-behaviour", "--man", PAGE) if not NEEDS["page"] else []
	only = sys.argv[1:]
	tests = [t for t in all_tests(all_) if not only or any(w in t[0] for w in only)]
	# experiments disturb each other: there are four breakpoints
	trying, reading = [concurrent.futures.ThreadPoolExecutor(1) for _ in range(2)]
	begun = [None if lacks(needs) else (trying if "try" in needs.split() else reading).submit(
		 fn, tempfile.mkdtemp(dir=tmp)) for _, fn, needs in tests]
	for (name, _, needs), result in zip(tests, begun):
		if result:
			check(name, result.result)
		else:
			TAP.skip(name, lacks(needs))
	check("nothing is left", lambda: os.listdir(env_tmp))
	shutil.rmtree(tmp, ignore_errors=True)
	return TAP.done()

if __name__ == "__main__":
	sys.exit(main())
