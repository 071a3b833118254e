#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Help, messages, pages and documents name verbs and options that exist; pevtrace(1) has what verbs use."""

import glob
import os
import re
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "lib"))
from programs import PEVTRACE
import straceparse as sp

ROOT = os.path.dirname(HERE)
# verbs that became options, and names that verbs had before
GONE = {"check", "features", "watch", "run", "describe", "monitor", "top", "stat", "record"}
# options of strace and perf that pages name
OTHERS = {"call-graph", "silent", "tasks", "timestamps", "tips"}

def sh(*args):
	return subprocess.run([PEVTRACE, *args], stdout=subprocess.PIPE, text=True, check=True).stdout

def table():
	"""Return the options of each verb, {"--name" or "-x": whether an argument is required}, and its operands."""
	options, operands = {}, {}
	for line in sh("help", "--list").splitlines():
		row = line.split("\t")
		if row[0] == "verb":
			operands[row[1]] = row[2]
		else:
			for name in row[2:4]:
				if name != "-":
					options.setdefault(row[1], {})[name] = row[4] == "required"
	return options, operands

def roff(text):
	"""Return a page's words as they are read, one line of source each."""
	text = re.sub(r"\\c\n\.[A-Z]+ ", "", text)
	out = []
	for line in text.splitlines():
		macro = re.match(r"\.(B|I|BR|RB|BI|IB|IR|RI)\s+(.*)", line)
		if macro:
			try:
				words = shlex.split(macro.group(2).replace("\\'", ""), posix=True)
			except ValueError:
				words = macro.group(2).split()
			line = (" " if len(macro.group(1)) == 1 else "").join(words)
		out.append(line)
	text = "\n".join(out)
	text = re.sub(r"\\f(\(..|.)", "", text)
	return text.replace("\\-", "-").replace("\\&", "").replace("\\~", " ").replace("\\e", "\\")

def strings(text):
	"""Return the string literals of C, those that follow each other joined."""
	text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
	joined = re.sub(r'"\s*\n?\s*"', "", text)
	return "\n".join(s.replace("\\n", "\n").replace("%s", "X") for s in
			 re.findall(r'"((?:[^"\\]|\\.)*)"', joined))

def texts(options):
	for verb in options:
		yield verb + " --help", sh(verb, "--help")
	for path in sorted(glob.glob(ROOT + "/man/*.[13]") + glob.glob(ROOT + "/man/*.in")):
		yield path, roff(open(path).read())
	for path in sorted(glob.glob(ROOT + "/doc/*.md") + [ROOT + "/README.md"] +
			   glob.glob(ROOT + "/lessons/*.lesson") +
			   [p for p in glob.glob(ROOT + "/src/**/*.txt", recursive=True) +
			    glob.glob(ROOT + "/src/**/*.in", recursive=True)]):
		if os.path.basename(path) not in ("howto.md", "gallery.md"):
			yield path, open(path).read()
	for path in sorted(glob.glob(ROOT + "/src/**/*.c", recursive=True)):
		yield path, strings(open(path).read())

def known(options, verb, word):
	"""Return whether an option of the verb, or an abbreviation, is the word."""
	name = word.split("=")[0].rstrip(".,;:)]")
	if name.startswith("--"):
		return any(o.startswith(name) for o in options[verb])
	return name[:2] in options[verb] or name[1:2].isdigit()

def commands(text):
	"""Return the words behind each "pevtrace" that stands where a command does."""
	for m in re.finditer(r"(?<![\w/.\-])pevtrace((?: +[^\s`'\"|;<>()&]+| +'[^']*')+)", text):
		words = m.group(1).split()
		# a sentence goes on behind a comma
		ends = [i for i, w in enumerate(words) if w[-1] in ",.:" and not w.startswith("'")]
		yield words[:ends[0] + 1] if ends else words

def wrong_in(options, text):
	"""Return what is named of a command and does not exist."""
	for words in commands(text):
		verb, rest = "trace", words
		if words[0] in options:
			verb, rest = words[0], words[1:]
		elif words[0] in GONE:
			yield "pevtrace " + words[0]
			continue
		elif not words[0].startswith("-"):
			continue
		skip = False
		for word in rest:
			if skip or word == "-":
				skip = False
			elif word == "--":
				break
			elif re.match(r"-?-[a-zA-Z]", word):
				if not known(options, verb, word):
					yield "pevtrace %s %s" % (verb, word)
				skip = options[verb].get(word, False)
			elif verb in ("trace", "open"):
				break	# the command

def main():
	options, operands = table()
	everywhere = {name for own in options.values() for name in own}
	texts_of = list(texts(options))
	wrong = ["%s: %s" % (os.path.relpath(name, ROOT) if os.sep in name else name, what)
		 for name, text in texts_of for what in wrong_in(options, text)]
	tap = sp.Tap()
	tap.ok(not wrong, "commands have verbs and options that exist", wrong)
	wrong = []
	for name, text in texts_of:
		if "--help" not in name and not name.endswith(".1"):
			continue
		for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text):
			if not any(o.startswith(option) for o in everywhere) and option[2:] not in OTHERS:
				wrong.append("%s: %s" % (os.path.basename(name), option))
	tap.ok(not wrong, "help and pages name options that exist", sorted(set(wrong)))
	page = roff(open(ROOT + "/man/pevtrace.1").read())
	want = ["%-8s %s" % (verb, kinds.replace("|", " ")) for verb, kinds in operands.items()
		if "DUMP" in kinds.split("|")]
	tap.ok("\n".join(want) in page, "pevtrace(1) has the operands of each verb", want)
	tap.ok(any("decode --nonsense" in w for w in wrong_in(options, "pevtrace decode --nonsense x")) and
	       list(wrong_in(options, "`pevtrace check 00`")) == ["pevtrace check"] and
	       not list(wrong_in(options, "pevtrace -o f perf --nonsense")), "what does not exist is found", [])
	tap.done()

if __name__ == "__main__":
	main()
