#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The words of pevtrace explain: every name of xlat/*.in has an entry that says what the file says;
letters, prefixes, words that are none; manual pages that are there; articles and spelling."""

import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "lib"))
from programs import run
from stories import PEVTRACE, XLAT, explain, squash
import straceparse as sp

# Sections whose rows describe names defined in other sections.
ABOUT_OTHERS = ("%terms", "%refusals", "%takers", "%claims", "%parts", "%cause_words", "%undocumented",
		"%requirements", "%defaults", "%purposes", "%exceptions", "%amendments",
		"%misstatements", "%commits", "%example_output",
		"%example_events", "%uncheckable", "%manuals", "%activity", "%object")

def names_of_tables():
	"""Return (word to ask for, meaning) of every row of xlat/*.in."""
	out = []
	for path in sorted(glob.glob(XLAT + "/*.in") + glob.glob(XLAT + "/../src/[ce]*/*.in")):
		section, layout = None, None
		with open(path) as f:
			for line in f:
				line = line.rstrip("\n")
				if line.startswith("%"):
					words = line.split()
					section = words[0]
					given = dict(w.split("=", 1) for w in words[2:] if "=" in w)
					# the names of tables and of parts of records are internal
					name = given.get("btf") or given.get("prefix") if section == "%table" else \
						words[1] if section == "%layout" and "part" not in given else None
					layout = given.get("part", words[1] if len(words) > 1 else "").split(",")[0]
					if name:
						out.append((name, ""))
					continue
				if not line or line.startswith("#") or section in ABOUT_OTHERS:
					continue
				row = re.split("\t+", line)
				if section == "%layout":
					out.append((layout + "." + row[0], row[-1]))
				elif section == "%steps":
					out.append((row[1], row[-1]))
				elif section == "%glossary":
					out.append((row[0].split(",")[0], row[-1]))
				else:
					out.append((row[0], row[-1]))
	return out

def internal_names():
	"""Return the names in xlat/*.in that no header of the kernel or of perf has."""
	out = set()
	for path in glob.glob(XLAT + "/*.in") + glob.glob(XLAT + "/../src/[ce]*/*.in"):
		with open(path) as f:
			for line in f:
				words = line.split()
				if line.startswith("%table") and "btf=" not in line:
					out.add(words[1])
				elif line.startswith("%layout") and "part=" in line:
					out.add(words[1])
	return out

def test_words(tap):
	names, bad, pages = names_of_tables(), [], set()
	for i in range(0, len(names), 200):
		some = names[i:i + 200]
		r = explain(["--width=100000"] + [w for w, m in some])
		text = squash(r.stdout)
		if r.returncode:
			bad.append(r.stderr[:300])
		for word, meaning in some:
			at = text.find(word + ": ")
			if at < 0 or meaning not in text or len(text) < at + len(word) + 20:
				bad.append((word, meaning))
		pages |= set(re.findall(r"Manual: ([\w-]+\(\d\))", r.stdout))
	everything = explain(["--width=100000"] + [w for w, m in names]).stdout
	known = internal_names() - {n for n, m in names} - {"precise_ip", "si_code", "si_perf_flags", "capability"}
	shown = {n for n in known if re.search(r"(?<![\w./-])%s\b(?!\()" % n, everything)}
	tap.ok(len(known) > 60 and not shown, "names that only xlat/ has are not shown", sorted(shown))
	tap.ok(len(names) > 800 and not bad, "each of %d names of the tables has an entry" %
	       len(names), bad[:5])
	page = lambda p: "/usr/share/man/man%s/%s.%s*" % (p[-2], p[:-3], p[-2])
	ours = lambda p: os.path.exists(os.path.join(HERE, "..", "man", p[:-3] + "." + p[-2]))
	if not glob.glob(page("perf_event_open(2)")):
		return tap.skip("manual pages", "manpages-dev is not installed")
	lost = [p for p in pages if not ours(p) and not glob.glob(page(p))]
	tap.ok(len(pages) > 10 and not lost, "the manual pages are there", [lost])

def test_articles(tap):
	"""The words of articles about perf events, each with two sentences and their source."""
	with open(os.path.join(HERE, "article-words")) as f:
		words = [line.strip() for line in f if line[:1] not in "#\n"]
	bad = []
	for word in words:
		r = explain(["--width=100000", word])
		first = r.stdout.lstrip("\n").split("\n\n")[0]
		short = len(re.findall(r"[.;](?:\s|$)", first)) < 2
		if r.returncode or short or not re.search(r"Manual: |Source: |Since: |Example: ", r.stdout):
			bad.append((word, r.stderr.strip() or r.stdout[:200]))
	tap.ok(len(words) > 250 and not bad, "each of %d words of articles is explained" % len(words),
	       [len(bad)] + bad[:5])
	value = open("/proc/sys/kernel/perf_event_paranoid").read().strip()
	r = explain(["--width=1000", "perf_event_paranoid"])
	tap.ok(f"now {value} on this machine" in r.stdout, "a sysctl has its value", [r.stdout])

def test_spelling(tap):
	def entries(word):
		r = explain(["--width=100000", word])
		return r.returncode, re.findall(r"^(\S+): an? ", r.stdout, re.M), r.stderr
	for word in ("cpu_clock", "sw_cpu_clock", "CPU_CLOCK", "PERF_COUNT_SW_CPU_CLOCK",
		     "cpu-clock", "Count_Sw_Cpu_Clock"):
		status, found, err = entries(word)
		tap.ok(status == 0 and "PERF_COUNT_SW_CPU_CLOCK" in found, word, [found, err])
	status, found, err = entries("type")
	tap.ok(status == 0 and {"perf_event_attr.type", "perf_event_header.type"} <= set(found),
	       "a word of several meanings has all", [found])
	status, found, err = entries("clock")
	tap.ok(status == 1 and not found, "a part of a word is none", [found])
	status, found, err = entries("presice_ip")
	tap.ok(status == 1 and "did you mean precise_ip?" in err, "the nearest word", [err])
	status, found, err = entries("PERF_SAMPLE_IPP")
	tap.ok(status == 1 and "did you mean PERF_SAMPLE_IP?" in err, "the nearest in that case", [err])
	status, found, err = entries("\033[31mwhat")
	tap.ok(status == 1 and "\033" not in err, "a hostile word is escaped", [err])
	r = explain(["EOPNOTSUPP"])
	rules = set()
	with open(os.path.join(XLAT, "rules.in")) as f:
		for line in f:
			row = re.split("\t+", line.rstrip("\n"))
			if len(row) == 6 and row[1] == "EOPNOTSUPP":
				rules.add(row[0])
	tap.ok(rules and all("    %s: " % x in r.stdout for x in rules),
	       "an error comes with all checks that end so", [r.stdout])

def test_commands(tap):
	"""The commands that remedies name are accepted; what they find here is not the question."""
	with open(os.path.join(XLAT, "..", "src", "explain", "terms.in")) as f:
		named = set(re.findall(r"^RULE_BY_\w+\t.*?: pevtrace ([^:;]*?)(?= shows| lists|$)", f.read(), re.M))
	wrong = [(c, r.stderr) for c in named for r in [run(PEVTRACE, *c.split())] if r.returncode == 2]
	tap.ok(named and not wrong, "commands of remedies are right: %s" % sorted(named), wrong)

def main():
	tap = sp.Tap()
	test_words(tap)
	test_articles(tap)
	test_spelling(tap)
	test_commands(tap)
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
