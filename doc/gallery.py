#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Make the pictures of the README: what commands print, as SVG, and the page of a report, as PNG.

usage: gallery.py [-o DIRECTORY] [NAME]...

Each command of PICTURES runs in an empty directory, as root, with pevtrace from PATH.  Colours
are those of pevtrace --color.  The page requires chromium.  Made again, a picture differs in
numbers only: ids, times, addresses.
"""

import argparse
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS, LINES = 100, 36
CELL, LINE = 7.2, 16		# pixels of a character of 12 pixels, and of a line
STYLES = {"1": "b", "2": "n", "31": "e", "32": "s", "33": "w"}
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}">
<title>{title}</title>
<style>text {{ font: 12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #d8dee9;
white-space: pre }} .p {{ fill: #88c0d0 }} .b {{ font-weight: bold; fill: #eceff4 }} .n {{ fill: #8f98a9 }}
.e {{ fill: #e08088 }} .s {{ fill: #a3be8c }} .w {{ fill: #ebcb8b }}</style>
<rect width="{w}" height="{h}" rx="6" fill="#2b303b"/>
"""

# name: (the command that is shown, the command that runs)
PICTURES = {
	"trace": ("pevtrace -y --records perf record -e cpu-clock sh -c '...'",
		  f"pevtrace --color=always --width={COLUMNS} -y --records -o out perf record -e cpu-clock "
		  "-o /dev/null sh -c 'i=0; while [ $i -lt 9000 ]; do i=$((i+1)); done' >/dev/null 2>&1; cat out"),
	"explain": ("pevtrace --explain perf stat -e cpu-clock,cycles true",
		    f"COLUMNS={COLUMNS} pevtrace --color=always --explain -o out perf stat -e cpu-clock,cycles "
		    "true >/dev/null 2>&1; cat out"),
	"ps": ("pevtrace ps",
	       "pevtrace open -q -e '{cpu-clock,page-faults}' -o /dev/null -- perf stat -a -e "
	       "cpu-clock,context-switches -- pevtrace ps --color=always 2>/dev/null"),
}


def wrapped(text):
	"""Lines of at most COLUMNS characters; escape sequences have no width."""
	for line in text.split("\n"):
		width, start = 0, 0
		for m in re.finditer(r"\x1b\[[\d;]*m|\x1b\]8;[^\x1b]*\x1b\\|.", line):
			width += not m[0].startswith("\x1b")
			if width > COLUMNS:
				yield line[start:m.start()]
				start, width = m.start(), 1
		yield line[start:]


def spans(line, style):
	"""A line as text with <tspan>, and the style at its end."""
	out = ""
	for part in re.findall(r"\x1b\[[\d;]*m|\x1b\]8;[^\x1b]*\x1b\\|[^\x1b]+", line):
		if part.startswith("\x1b["):
			style = STYLES.get(part[2:-1], "")
		elif not part.startswith("\x1b"):
			part = html.escape(part.expandtabs(), quote=False)
			out += f'<tspan class="{style}">{part}</tspan>' if style else part
	return out, style


def svg(shown, text):
	"""The picture of a terminal: the command, and the lines below it."""
	lines = list(wrapped(text.rstrip("\n")))
	if len(lines) > LINES:
		lines = lines[:LINES - 1] + ["..."]
	w, h = int(COLUMNS * CELL) + 24, (len(lines) + 1) * LINE + 24
	out = HEAD.format(w=w, h=h, title=html.escape(shown))
	out += f'<text x="12" y="24" class="p">$ {html.escape(shown, quote=False)}</text>\n'
	style = ""
	for n, line in enumerate(lines, 1):
		part, style = spans(line, style)
		out += f'<text x="12" y="{24 + n * LINE}">{part}</text>\n'
	return out + "</svg>\n"


def page(target):
	"""The page of pevtrace report, by a browser."""
	chromium = shutil.which("chromium") or shutil.which("chromium-browser")
	if not chromium:
		sys.exit("gallery.py: chromium is not installed")
	with tempfile.TemporaryDirectory() as tmp:
		run = lambda command: subprocess.run(command, shell=True, cwd=tmp, check=True,
						     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		run("pevtrace --records --json=dump.jsonl -o trace perf record -e cpu-clock -o /dev/null "
		    "sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; sleep 0.1'")
		# the release without what the builder of this kernel added
		run("""sed -i 's/"release":"\\([0-9.]*\\)[^"]*"/"release":"\\1"/' dump.jsonl""")
		run("pevtrace report -o page.html dump.jsonl")
		run(f"{chromium} --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1100,960 "
		    f"--user-data-dir={tmp}/user --screenshot={tmp}/page.png --virtual-time-budget=4000 "
		    f"file://{tmp}/page.html")
		shutil.copyfile(os.path.join(tmp, "page.png"), target)


def main():
	"""Make the pictures that are named, or all."""
	args = argparse.ArgumentParser(usage="gallery.py [-o DIRECTORY] [NAME]...")
	args.add_argument("-o", dest="directory", default=os.path.join(HERE, "gallery"))
	args.add_argument("names", nargs="*", metavar="NAME")
	args = args.parse_args()
	for name in args.names or [*PICTURES, "report"]:
		os.makedirs(args.directory, exist_ok=True)
		if name == "report":
			page(os.path.join(args.directory, "report.png"))
			continue
		shown, command = PICTURES[name]
		with tempfile.TemporaryDirectory() as tmp:
			r = subprocess.run(command, shell=True, cwd=tmp, text=True, capture_output=True,
					   env={**os.environ, "LC_ALL": "C"}, errors="replace")
		if r.returncode or not r.stdout:
			sys.exit(f"gallery.py: {command}: status {r.returncode}: {r.stderr}")
		with open(os.path.join(args.directory, name + ".svg"), "w", encoding="utf-8") as f:
			f.write(svg(shown, r.stdout))


if __name__ == "__main__":
	main()
