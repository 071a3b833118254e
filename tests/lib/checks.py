# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that are functions: each returns a list of what is wrong, which is empty if all is well, or
raises an exception, of which machine.Lack means that it is to be skipped."""

import os
import shutil
import struct
import subprocess
import sys
import tempfile

import machine
import straceparse as sp

TAP = sp.Tap()

def check(name, fn):
	"""Run a test, and print its result."""
	try:
		why = fn() or []
	except machine.Lack as e:
		TAP.skip(name, e)
		return
	except (AssertionError, OSError, ValueError, KeyError, IndexError,
		struct.error, subprocess.SubprocessError) as e:
		why = ["%s: %s" % (type(e).__name__, e)]
	TAP.ok(not why, name, why[:20])

def differ(got, want, what):
	"""Return what to say if two values, which are those of what, are not the same."""
	return [] if got == want else ["%s: %s" % (what, got), "expected: %s" % (want,)]

def run_all(tests, tmp):
	"""(name, function or None, what it needs or None): all, or those that arguments have a word of."""
	words = sys.argv[1:]
	for name, fn, needed in tests:
		if words and not any(w in name for w in words):
			continue
		why = needed and machine.lacks(needed)
		if fn is None or why:
			TAP.skip(name, why or "not on this machine")
		else:
			check(name, fn)
	shutil.rmtree(tmp, ignore_errors=True)
	return TAP.done()

def start(prefix):
	"""Return a directory for the tests; skip them all where the call fails."""
	if not os.environ.get("PEVTRACE"):
		sp.skip_all("PEVTRACE is not set")
	if machine.lacks("events"):
		sp.skip_all(machine.lacks("events"))
	return tempfile.mkdtemp(prefix=prefix)
