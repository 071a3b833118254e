# SPDX-License-Identifier: LGPL-2.1-or-later
"""Print the names of C files, in comments and READMEs of src, of which there is no file.

A file is named by its name, or with as much of its path as one likes.  Those of others are told by
their directory, or are below."""

import os
import re

# of the kernel, of perf and libbpf, of the build, and of nobody
OTHERS = {"arm-spe.h", "bpf_core_read.h", "bpf_helpers.h", "do_NAME.c", "foo.c", "hw_breakpoint.c",
	  "intel-pt.c", "perf_event.h", "perf_event_open.c", "time.h", "vmlinux.h"}
ELSEWHERE = re.compile(r"/?(arch/|drivers/|include/|kernel/|linux/|mm/|tools/perf/|xlat/|src/verbs/learn/do_NAME)")
NAME = re.compile(r"(?<![\w./*<>{}$-])/?[\w./-]*\w\.[chS]\b(?![\w(*/])")
TEXT = re.compile(r"""'(?:\\.|[^'\\\n])'|"(?:\\.|[^"\\\n])*"|/\*.*?\*/|//[^\n]*""", re.S)

def main():
	paths = [os.path.join(at, name) for top in ("src", "xlat", "tests", "tools", "bench")
		 for at, _, names in os.walk(top) for name in names]
	known = {path[start:] for path in paths
		 for start in [0] + [m.end() for m in re.finditer("/", path)]}
	for path in sorted(p for p in paths if re.match(r"src/.*(\.[ch]|/README\.md)$", p)):
		with open(path, encoding="utf-8") as f:
			text = f.read()
		parts = [(0, text)] if path.endswith(".md") else \
			[(m.start(), m[0]) for m in TEXT.finditer(text) if m[0][0] == "/"]
		for start, part in parts:
			for m in NAME.finditer(part):
				name = m[0].lstrip("./")
				if name not in known | OTHERS and not ELSEWHERE.match(name):
					print("%s:%d: %s" % (path, text.count("\n", 0, start + m.start()) + 1,
							     name))

if __name__ == "__main__":
	main()
