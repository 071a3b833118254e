#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""doc/gallery.py: the README shows the pictures that it makes, and it makes them.

The pictures of terminals are made again; they are XML, and show the same command as those
in the tree, with lines of the same kind below it.
"""

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import machine
import straceparse as sp

DOC = os.path.join(os.path.dirname(HERE), "doc")
PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
PERF = sp.find_program("perf", ("/usr/lib/linux-tools",))
TEXTS = {"trace": "perf_event_open(", "explain": "Failed: ", "ps": "HELD BY"}


def lines(path):
	"""The lines of a picture of a terminal."""
	root = xml.etree.ElementTree.parse(path).getroot()
	return ["".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")]


def main():
	"""Compare README, tree and what is made."""
	tap = sp.Tap()
	with open(os.path.join(os.path.dirname(DOC), "README.md"), encoding="utf-8") as f:
		shown = sorted(re.findall(r"\]\(doc/gallery/([\w.]+)\)", f.read()))
	there = sorted(os.listdir(os.path.join(DOC, "gallery")))
	tap.ok(shown == there, "the README shows each picture of the gallery", (shown, there))
	why = machine.lacks("every task of a CPU") or machine.cannot_trace(PEVTRACE) or \
	      (None if PERF else "perf is not installed")
	with tempfile.TemporaryDirectory() as tmp:
		for name, text in TEXTS.items():
			if why:
				tap.skip(name, why)
				continue
			env = {**os.environ, "PATH": os.path.dirname(PEVTRACE) + ":" + os.environ["PATH"]}
			r = subprocess.run([sys.executable, "-B", os.path.join(DOC, "gallery.py"), "-o", tmp, name],
					   env=env, capture_output=True, text=True, check=False)
			if r.returncode and name == "ps" and "BPF" in r.stderr:
				tap.skip(name, r.stderr.strip())
				continue
			old = lines(os.path.join(DOC, "gallery", name + ".svg"))
			new = lines(os.path.join(tmp, name + ".svg")) if not r.returncode else []
			tap.ok(new and new[0] == old[0] and any(text in l for l in new) and
			       any(text in l for l in old), f"{name}.svg is made", (r.stderr, old, new))
	return tap.done()


if __name__ == "__main__":
	sys.exit(main())
