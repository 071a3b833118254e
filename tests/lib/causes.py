# SPDX-License-Identifier: LGPL-2.1-or-later
"""pevtrace why: what it blames, and whether the call that it reports to work opens."""

import ctypes
import json
import os
import shutil
import struct
import subprocess

from checks import differ
import machine
import perf_event as pe
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE")

def run(*args, **kw):
	program = kw.pop("program", PEVTRACE)
	return subprocess.run([program, "why", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
			      universal_newlines=True, check=False, **kw)

def ask(*args, **kw):
	"""Return the last object and the exit status."""
	r = run("--json", *args, **kw)
	assert not machine.complaints(r.stderr), "%s: %s" % (args, r.stderr)
	return json.loads(r.stdout.splitlines()[-1]), r.returncode

def number(v):
	return int(v, 16) if isinstance(v, str) else v

def reopen(works):
	"""Make the call that is reported to open; return the descriptor or -errno."""
	args = works["args"]
	b = bytearray.fromhex(works["attr_bytes"])
	b[40] |= 1 # disabled: it might send a signal
	path = args["attr_uptr"].get("uprobe_path")
	if isinstance(path, str) and not path.startswith("0x"):
		keep = ctypes.create_string_buffer(path.encode())
		struct.pack_into("<Q", b, 56, ctypes.addressof(keep))
	return pe.call(bytes(b), args["pid"], args["cpu"], args["group_fd"],
		       number(args["flags"]))

def blamed(o):
	return [f["blame"] for f in o["faults"]]

def rules(o):
	return [f.get("rule") for f in o["faults"]]

def why(text, blame, rule, args=(), error=None, open_it=True, blocked=None, works=None, **kw):
	"""blame: a member for each fault, or alternatives in a tuple."""
	blame = [blame] if isinstance(blame, (str, tuple)) else blame
	rule = [rule] if isinstance(rule, str) else rule
	if isinstance(text, bytes):
		text = text.hex()
	o, status = ask(*args, text, **kw)
	bad = differ(status, 0, "status") + differ(o["verdict"], "cause", "verdict")
	got = blamed(o)
	good = len(got) == len(blame) and all(
		len(g) == 1 and g[0] in (b if isinstance(b, tuple) else (b,))
		for g, b in zip(got, blame))
	bad += differ(good, True, "blamed %s, for %s" % (got, blame))
	bad += differ(rules(o), rule, "rules")
	if error:
		bad += differ(o["kernel"].get("error"), error, "kernel")
	if blocked is not None:
		bad += differ([b["by"] for b in o["blocked"]], blocked, "blocked")
	for path, v in (works or {}).items():
		bad += differ(number(o["works"]["args"]["attr_uptr"].get(path)), v, path)
	if open_it:
		fd = reopen(o["works"])
		bad += differ(pe.name_of(fd), "opens", "what is said to work")
		if fd >= 0:
			os.close(fd)
	if bad:
		bad.append(json.dumps({k: o.get(k) for k in
			("faults", "changes", "others", "blocked", "verdict")})[:1500])
	return bad

def broken(b, *rest, args=(), raw=(0, -1, -1, 0), **kw):
	"""The same, with a call that this script sees fail."""
	fd = pe.call(b, *raw)
	if fd >= 0:
		os.close(fd)
		return ["it is not broken: " + str(rest)]
	return why(b, *rest, args=args, error=pe.name_of(fd), **kw)

def as_nobody(tmp):
	program = os.path.join(tmp, "pevtrace")
	if not os.path.exists(program):
		shutil.copy(PEVTRACE, program)
		os.chmod(tmp, 0o755)
	return {"program": program, "user": sp.NOBODY, "group": sp.NOBODY, "extra_groups": [],
		"cwd": "/"}
