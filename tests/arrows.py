#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Dependencies between files, as the linker sees them, and names of functions.

A room may need only the rooms below it, by the table in doc/architecture.md, and no
files need each other in a circle.  What a file needs is read from the symbols of the
objects: an unused include does not count, and a declaration without a header does.
No two files define functions of one name, so that a name found in a backtrace or by
grep is one function.
"""

import collections
import glob
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
SRCDIR = os.environ.get("srcdir", ".")
BUILDDIR = os.environ.get("builddir", ".")


def rooms():
	"""{room: the rooms that it may need}, from the table in the design."""
	may, below = {}, {}
	with open(os.path.join(SRCDIR, "doc/architecture.md"), encoding="utf-8") as f:
		for line in f:
			m = re.match(r"\| `src/([\w/]+)/` \|.*\|([\w/, ]*)\|$", line)
			if m:
				below[m[1]] = re.findall(r"[\w/]+", m[2])

	def all_below(room):
		if room not in may:
			may[room] = {room}
			for r in below[room]:
				may[room] |= all_below(r)
		return may[room]
	for room in below:
		all_below(room)
	return may


def objects():
	"""{source file below src/: (symbols defined, symbols needed)}."""
	src = os.path.join(BUILDDIR, "src")
	paths = {}
	for top, _, files in os.walk(src):
		for name in files:
			if not name.endswith(".o"):
				continue
			path = os.path.join(top, name)
			source = os.path.relpath(path, src)[:-2] + ".c"
			if os.path.exists(os.path.join(SRCDIR, "src", source)):
				paths[path] = source
	found = {source: (set(), set()) for source in paths.values()}
	out = subprocess.run(["nm", "-A", *paths], check=True, capture_output=True, text=True).stdout
	for line in out.splitlines():
		path, rest = line.split(":", 1)
		kind, symbol = rest.split()[-2:]
		defined, needed = found[paths[path]]
		(needed if kind == "U" else defined if kind.isupper() else set()).add(symbol)
	return found


def circles(needs):
	"""Sets of files that need each other, by Tarjan's algorithm."""
	index, low, stack, out = {}, {}, [], []

	def visit(v):
		index[v] = low[v] = len(index)
		stack.append(v)
		for w in needs[v]:
			if w not in index:
				visit(w)
			if w in stack:
				low[v] = min(low[v], low[w])
		if low[v] == index[v]:
			circle = []
			while not circle or circle[-1] != v:
				circle.append(stack.pop())
			if len(circle) > 1:
				out.append(sorted(circle))
	for v in needs:
		if v not in index:
			visit(v)
	return out


def same_names():
	"""Names that functions of several files have, static ones included.

	Those in a folder arch/, one for each processor, are one file of which one is compiled."""
	files = collections.defaultdict(set)
	for path in glob.glob(os.path.join(SRCDIR, "src/**/*.c"), recursive=True):
		with open(path, encoding="utf-8") as f:
			for name in re.findall(r"^[A-Za-z_][\w \t*]*?[ *](\w+)\([^;{}]*?\)\n\{", f.read(), re.M):
				files[name].add(re.sub(r"(/arch/[a-z]+)_\w+\.c$", r"\1", os.path.relpath(path, SRCDIR)))
	return sorted(f"{name}: {' '.join(sorted(where))}" for name, where in files.items() if len(where) > 1)


def room_of(source, known):
	"""The innermost folder of a file that the table has, or its own folder."""
	folder = os.path.dirname(source)
	room = folder
	while room and room not in known:
		room = os.path.dirname(room)
	return room or folder


def main():
	sys.setrecursionlimit(10000)
	found, may = objects(), rooms()
	home = {s: f for f, (defined, _) in found.items() for s in defined}
	needs = {f: {home[s] for s in needed if s in home} - {f} for f, (_, needed) in found.items()}
	wrong = sorted(f"{f} needs {g}" for f in needs for g in needs[f]
		       if "/" in f and "/" in g and room_of(g, may) not in may.get(room_of(f, may), {room_of(g, may)}))
	missing = sorted({room_of(f, may) for f in found if "/" in f} - set(may))
	circular = [" ".join(c) for c in circles(needs)]
	same = same_names()
	print("1..4")
	for n, (title, bad) in enumerate((
			("every room is in the table of doc/architecture.md", missing),
			("a room needs only those below it", wrong),
			("no files need each other in a circle", circular),
			("no files define functions of one name", same)), 1):
		print("not ok" if bad or not found else "ok", n, "-", title)
		for line in bad:
			print("#  ", line)
	return any((missing, wrong, circular, same)) or not found


if __name__ == "__main__":
	sys.exit(main())
