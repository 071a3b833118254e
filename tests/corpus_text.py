#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is made of each input in tests/fuzz/corpus, and of those of lib/made_calls.py, is what fuzz/text/NAME says.

Of every value that a fuzzer shows, that file has the short text; a last line sums up that of -v, the other
forms and JSON.  A corpus reaches nearly every line of the decoders, so a change of their output is seen here.
The last lines of a file sum up what CHANGED inputs become that the fuzzer makes of these, always the
same ones: they see values at which something ends.

--update writes the files: read the difference before you commit it.  Where sums differ alone,
--against=DIRECTORY prints what a build of the former source makes of the inputs otherwise.

usage: corpus_text.py [--update] [--against=DIRECTORY] [WORD...]
"""

import os
import re
import subprocess
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from checks import TAP, check
import machine
import made_calls

BUILT = os.environ.get("builddir", ".")
# those whose text is that of this processor's registers and of its byte order
NAMES = "attr calls change dump ioctl read_format record refusals when".split()
# lines of a value: short, -v, raw, both, JSON; or one of each input
FORMS = {"attr": 6, "calls": 1000000, "change": 1000000, "dump": 4, "ioctl": 1000000, "read_format": 5, "record": 7, "refusals": 1000000}
LONG = 240

# changed inputs of each, and how many of them a sum is of
CHANGED, EACH = {"dump": 500, "change": 300}, 500

def parts(name, built):
	"""Return (title, lines) of each input."""
	env = {**os.environ, "FUZZ_TEXT": "1", "FUZZ_INPUTS": str(CHANGED.get(name, 10000)), "FUZZ_SEED": "1"}
	with tempfile.TemporaryDirectory(prefix="pevtrace-made.") as made:
		if name == "calls":
			made_calls.make(made)
		r = subprocess.run([os.path.join(built, "tests/fuzz/fuzz_" + name),
				    os.path.join(HERE, "fuzz/corpus", name), made], stdout=subprocess.PIPE,
				   check=True, env=env)
	out = []
	text = re.sub('"pevtrace":"[^"]*"', "", r.stdout.decode("utf-8", "backslashreplace"))
	for part in text.split("== ")[1:]:
		title, *lines = part.split("\n")
		out.append((title, [line for line in lines if not line.startswith("ok ") and line != "1..2"]))
	return out

def shown(name):
	"""Return what a fuzzer prints, folded as in the files."""
	out, forms, sums = [], FORMS.get(name, 1), []
	for title, lines in parts(name, BUILT):
		text = "\n".join(lines).encode()
		if title.startswith("changed "):
			sums.append(text)
			continue
		out.append("== " + title)
		out += [line[:LONG] for line in lines[::forms] if line]
		out.append("# %08x" % zlib.crc32(text))
	for i in range(0, len(sums), EACH):
		out += ["== changed %d to %d" % (i, i + EACH - 1), "# %08x" % zlib.crc32(b"\0".join(sums[i:i + EACH]))]
	return out

def against(name, former):
	for (title, now), (_, then) in zip(parts(name, BUILT), parts(name, former)):
		for a, b in zip(then, now):
			if a != b:
				print("# %s %s\n# - %s\n# + %s" % (name, title, a, b))

def compare(name):
	if machine.os.uname().machine != "x86_64":
		raise machine.Lack("the texts are those of x86_64")
	for former in [w.split("=", 1)[1] for w in sys.argv if w.startswith("--against=")]:
		against(name, former)
	path = os.path.join(HERE, "fuzz/text", name)
	got = shown(name)
	if "--update" in sys.argv:
		with open(path, "w", encoding="utf-8") as f:
			f.writelines(line + "\n" for line in got)
	with open(path, encoding="utf-8") as f:
		want = f.read().splitlines()
	title, why = "", []
	for a, b in zip(want, got):
		title = a if a.startswith("== ") else title
		if a != b:
			why += [title, "- " + a, "+ " + b]
	return why or ([] if len(want) == len(got) else ["%d lines, not %d" % (len(got), len(want))])

words = [w for w in sys.argv[1:] if not w.startswith("--")]
for fuzzer in NAMES:
	if not words or any(w in fuzzer for w in words):
		check("the text of the corpus of " + fuzzer, lambda name=fuzzer: compare(name))
sys.exit(TAP.done())
