#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is made of each input in tests/fuzz/corpus is what fuzz/text/NAME says.

Of every value that a fuzzer shows, that file has the short text; a last line sums up that of -v, the other
forms and JSON.  A corpus reaches nearly every line of the decoders, so a change of their output is seen here.
--update writes the files: read the difference before you commit it.

usage: corpus_text.py [--update] [WORD...]
"""

import os
import subprocess
import sys
import zlib

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from checks import TAP, check
import machine

BUILT = os.environ.get("builddir", ".")
# those whose text is that of this processor's registers and of its byte order
NAMES = "attr calls dump ioctl read_format record when".split()
# lines of one value: short, -v, raw, both, JSON
FORMS = {"attr": 5, "calls": 5, "ioctl": 5, "read_format": 5, "record": 5}
LONG = 400

def shown(name):
	"""Return the lines that a fuzzer prints of its corpus, folded as in the files."""
	r = subprocess.run([os.path.join(BUILT, "tests/fuzz/fuzz_" + name),
			    os.path.join(HERE, "fuzz/corpus", name)], env={**os.environ, "FUZZ_TEXT": "1"},
			   stdout=subprocess.PIPE, check=True)
	out, forms = [], FORMS.get(name, 1)
	for part in r.stdout.decode("utf-8", "backslashreplace").split("== ")[1:]:
		title, *lines = part.split("\n")
		lines = [line for line in lines if not line.startswith("ok ") and line != "1..2"]
		out.append("== " + title)
		out += [line[:LONG] for line in lines[::forms] if line]
		out.append("# %08x" % zlib.crc32("\n".join(lines).encode()))
	return out

def compare(name):
	if machine.os.uname().machine != "x86_64":
		raise machine.Lack("the texts are those of x86_64")
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
