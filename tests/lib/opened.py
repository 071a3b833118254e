# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace open: running it, and what it printed."""

import collections
import os
import re
import subprocess

import ringparse as rp

PEVTRACE, PERF = rp.PEVTRACE, rp.PERF

class Opened:
	"""A finished pevtrace open: .lines .figures .out .status"""

	def __init__(self, args, **how):
		full = dict(os.environ, LC_ALL="C")
		r = subprocess.run([PEVTRACE, "open"] + args, env=full, text=True,
				   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
				   stderr=subprocess.PIPE, timeout=300, errors="replace",
				   **how)
		self.status, self.out, self.err = r.returncode, r.stdout, r.stderr
		self.figures, self.lines = split(r.stderr)

FIGURE = re.compile(r"(?=.{20}  ) *(\d+|<not \w+>)  (\S+)(?: /\*|$)")
SECONDS = re.compile(r" *\d+\.\d{9}  seconds$")

def split(text):
	"""Return the counts by name, and the other lines."""
	figures, lines = collections.OrderedDict(), []
	for line in text.split("\n"):
		m = FIGURE.match(line)
		if m:
			n = m.group(1)
			figures[m.group(2)] = int(n) if n.isdigit() else n
		elif line and not SECONDS.match(line):
			lines.append(line)
	return figures, lines
