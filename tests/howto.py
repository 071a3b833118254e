#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""doc/howto.md: each recipe, followed in a scratch copy, gives what it promises.

A recipe is made of these forms, each followed by an indented block:

  In `FILE`, after the line that begins with `TEXT`, add:
  Create `FILE`:
  Build and run:          lines with "$ " are commands, those below must be printed

All recipes are followed in one copy, which is built once.  Only in the long tier.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
PAGE = os.path.join(TOP, "doc", "howto.md")
AFTER = re.compile(r"In `([^`]+)`, after the (last )?line that begins\s+with\s+`([^`]+)`, add:$")
MAN_PAGE = glob.glob("/usr/share/man/man2/perf_event_open.2*")
CREATE = re.compile(r"Create `([^`]+)`:$")


def recipes(text):
	"""[(title, [(kind, arguments, block)])] in the order of the page."""
	out = []
	for section in re.split(r"^## ", text, flags=re.M)[1:]:
		title, body = section.split("\n", 1)
		steps = []
		# a block may have empty lines inside; its end is a line that is not indented
		for said, block in re.findall(r"((?:^(?!    ).+\n)+)\n((?:^    .*\n|^\n(?=    ))+)", body, flags=re.M):
			said = " ".join(said.split())
			block = re.sub(r"^    ", "", block, flags=re.M)
			m = AFTER.search(said)
			if m:
				steps.append(("after", m.groups(), block))
				continue
			m = CREATE.search(said)
			if m:
				steps.append(("create", m.groups(), block))
			elif said.endswith("Build and run:"):
				steps.append(("run", (), block))
		if steps:
			out.append((title, steps))
	return out


def follow(copy, kind, args, block):
	path = os.path.join(copy, args[0])
	if kind == "create":
		if os.path.exists(path):
			raise ValueError(f"{args[0]} exists already")
		with open(path, "w", encoding="utf-8") as f:
			f.write(block)
		return
	with open(path, encoding="utf-8") as f:
		lines = f.read().splitlines(True)
	at = [i for i, line in enumerate(lines) if line.lstrip().startswith(args[2])]
	if not at or len(at) > 1 and not args[1]:
		raise ValueError(f"{args[0]}: {len(at)} lines begin with {args[2]}")
	lines.insert(at[-1] + 1, block)
	with open(path, "w", encoding="utf-8") as f:
		f.writelines(lines)


def run_block(block, build):
	"""What is missing of the output that the block promises."""
	env = dict(os.environ, PATH=build + ":" + os.environ["PATH"], LC_ALL="C")
	missing, got, command = [], "", ""
	for line in block.splitlines():
		if line.startswith("$ "):
			command = line[2:]
			r = subprocess.run(["sh", "-c", command], cwd=build, env=env, timeout=300,
					   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
					   stderr=subprocess.STDOUT, text=True, errors="replace")
			got = r.stdout
		elif line and line != "[...]" and not re.search(
				".*".join(re.escape(p) for p in line.split("[...]")), got):
			missing += [f"not printed: {line}", f"by: {command}"] + got.splitlines()[:20]
	return missing


def main():
	if not os.environ.get("LONG"):
		print("1..0 # SKIP only in make check-long")
		return 0
	with open(PAGE, encoding="utf-8") as f:
		steps = recipes(f.read())
	with tempfile.TemporaryDirectory() as tmp:
		copy, build = os.path.join(tmp, "copy"), os.path.join(tmp, "copy", "build")
		os.mkdir(copy)
		subprocess.run(["sh", "-c", "tar -C \"$1\" --exclude=./.git --exclude='./build*' "
				"-cf - . | tar -C \"$2\" -xf -", "sh", TOP, copy], check=True)
		print(f"1..{len(steps) + 1}")
		wrong = {}
		for title, parts in steps:
			for kind, args, block in parts:
				if kind != "run":
					try:
						follow(copy, kind, args, block)
					except (OSError, ValueError) as e:
						wrong.setdefault(title, []).append(str(e))
		os.mkdir(build)
		made = subprocess.run("(cd .. && ./autogen.sh) && ../configure CFLAGS=-O0 && "
				      "make -j$(nproc) all", shell=True, cwd=build,
				      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
				      stderr=subprocess.STDOUT, text=True, errors="replace")
		print("not ok" if made.returncode else "ok", "1 - the copy with all recipes builds")
		if made.returncode:
			for line in made.stdout.splitlines()[-30:]:
				print("#  ", line)
		for n, (title, parts) in enumerate(steps, 2):
			bad = wrong.get(title, []) + (["it was not built"] if made.returncode else [])
			if not bad and not MAN_PAGE and any("pevtrace conform" in b for _, _, b in parts):
				print("ok", n, "-", title, "# SKIP perf_event_open(2) is not installed")
				continue
			if not bad:
				for kind, _, block in parts:
					bad += run_block(block, build) if kind == "run" else []
			print("not ok" if bad else "ok", n, "-", title)
			for line in bad:
				print("#  ", line)
			wrong[title] = bad
	return any(wrong.values()) or made.returncode


if __name__ == "__main__":
	sys.exit(main())
