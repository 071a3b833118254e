#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Completion: the candidates, and TAB pressed in bash, zsh and fish in tmux."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import straceparse as sp

PEVTRACE = os.path.realpath(os.environ.get("PEVTRACE") or sp.find_program("pevtrace"))
COMPLETION = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "completion")
PATIENCE = 300

def candidates(*words):
	"""Return the words that pevtrace offers for the last one."""
	out = subprocess.run([PEVTRACE, "help", "--complete", "--", *words], stdout=subprocess.PIPE,
			     stderr=subprocess.STDOUT, text=True, check=True).stdout
	return [line.split("\t")[0] for line in out.splitlines()]

def listed():
	"""Return the rows of pevtrace help --list."""
	out = subprocess.run([PEVTRACE, "help", "--list"], stdout=subprocess.PIPE, text=True,
			     check=True).stdout
	return [line.split("\t") for line in out.splitlines()]

def check_options():
	"""Every verb and every option of the list is offered, and nothing else."""
	rows = listed()
	verbs = [row[1] for row in rows if row[0] == "verb"]
	found = [w for w in candidates("") if not w.startswith(":")]
	yield "verbs", found == verbs, found
	for verb in verbs:
		want = {row[3] + "=" * (row[4] == "required") if row[3] != "-" else row[2]
			for row in rows if row[0] == "option" and row[1] == verb}
		got = candidates(verb, "-")
		yield "options of " + verb, set(got) == want and len(got) == len(want), got

# words, and what is among the candidates and what is not
CASES = [
	(["-e", "trace=%o,re"], ["trace=%o,read", "trace=%o,readv"], ["trace=%o,mmap"]),
	(["-e", "trace="], ["trace=%open", "trace=perf_event_open", "trace=none"], ["trace=status="]),
	(["-e", "quiet=attach,ex"], ["quiet=attach,exit"], []),
	(["-e", "fault=ioctl:"], ["fault=ioctl:error=", "fault=ioctl:when="], ["fault=ioctl:retval="]),
	(["-e", ""], ["inject=", "trace=", "quiet=", "perf_event_open"], ["columns="]),
	(["decode", "-e", ""], ["trace=", "signal="], ["inject="]),
	(["-e", "decode-fds="], ["decode-fds=path"], []),
	(["--inject=%open:ret"], ["--inject=%open:retval="], []),
	(["-e", "status=successful,un"], ["status=successful,unfinished"], []),
	(["-e", "inject=perf_event_open:error=EB"], ["inject=perf_event_open:error=EBUSY"], []),
	(["-einject=%open:wh"], ["-einject=%open:when="], [":command 0"]),
	(["--trace=!%p"], ["--trace=!%poll", "--trace=!%pass"], [":command 0"]),
	(["--color=a"], ["--color=always", "--color=auto"], ["--color=never"]),
	(["--as-kernel", "3.1"], ["3.12", "3.19"], ["4.1"]),
	(["open", "-e", "cpu-cl"], ["cpu-clock"], ["task-clock"]),
	(["open", "-e", "cpu-clock,sample_f"], ["cpu-clock,sample_freq="], []),
	(["open", "-e", "cpu-clock,sample_type=IP|TI"],
	 ["cpu-clock,sample_type=IP|TIME", "cpu-clock,sample_type=IP|TID"], []),
	(["open", "-e", "{cpu-clock,pa"], ["{cpu-clock,page-faults"], []),
	(["open", "-ecpu-clock,exclude_k"], ["-ecpu-clock,exclude_kernel"], [":command 1"]),
	(["open", "-q", "-e", "cpu-clock", "--", "ls"], [":command 5"], []),
	(["-o", "trace.txt", "sort", "-"], [":command 2"], ["--records"]),
	(["-o", ""], [":file"], [":command 1"]),
	(["--json="], [":file"], []),
	(["--cgroup", ""], [":directory"], []),
	(["decode", "--errno", "EOPN"], ["EOPNOTSUPP"], []),
	(["decode", "--ioctl", "PERF_EVENT_IOC_EN"], ["PERF_EVENT_IOC_ENABLE"], []),
	(["decode", ""], [":file"], []),
	(["why", "--flags", "PERF_FLAG_FD_CLOEXEC|PERF_FLAG_P"],
	 ["PERF_FLAG_FD_CLOEXEC|PERF_FLAG_PID_CGROUP"], []),
	(["open", "--side-band", "--only", "comm,ex"], ["comm,exec", "comm,exit"], ["comm,fork"]),
	(["diff", "--ignore", "ioctl,sample_p"], ["ioctl,sample_period"], []),
	(["learn", "re"], ["records", "redirect", "read-formats", "read-group"], ["counting"]),
	(["learn", "--check", "co"], ["count-loop"], ["counting"]),
	(["learn", "--check=s"], ["--check=sample-1000hz", "--check=scale-times"], ["--check=sampling"]),
	(["learn", "--check", "count-loop", "ls", "-"], [":command 3"], []),
	(["learn", "--check", "count-loop", ""], [":command 3"], ["counting"]),
	(["explain", "precise"], ["precise_ip", ":file"], []),
	(["explain", "sample_c"], ["sample_cgroup"], []),
	(["decode", "--attr=@lo"], [":file"], []),
	(["decode", "--record", "@"], [":file"], []),
	(["list", "--tried", "sample_t"], ["sample_type"], []),
	(["why", "--", "ls", "-"], [":command 2"], []),
	(["codegen", "--", ""], [":command 2"], []),
	(["report", "-o", "f", "--", "ls", ""], [":command 4"], []),
	(["diff", "a.json", "--", ""], [":command 3"], []),
	(["explain", "--", ""], [":command 2"], []),
	(["codegen", "cpu-cl"], ["cpu-clock", ":file"], []),
	(["codegen", ""], [":file"], ["cpu-clock"]),
	(["decode", "page-f"], ["page-faults", ":file"], []),
	(["why", "task-cl"], ["task-clock"], []),
	(["--engine=e"], [], ["--engine=ebpf"]),
	(["why", "-e", "cpu-clock", "--", ""], [":command 4"], []),
	(["list", "page-f"], ["page-faults"], []),
	(["list", "soft"], ["software"], ["hardware"]),
	(["-u", "roo"], ["root"], []),
	(["--env=PAT"], ["--env=PATH"], []),
	(["-e", "trace=!close,?du"], ["trace=!close,?dup", "trace=!close,?dup2"], []),
	(["help", "co"], ["codegen", "conform"], ["check"]),
	(["-p", str(os.getpid())], [str(os.getpid())], []),
	(["-qq", "-p"], ["-p"], []),
	(["--nonsense", "--rec"], ["--records"], []),
	(["-e"], ["-e"], []),
	([], ["trace", "why"], [":command 0"]),
	([""], ["trace", "why"], [":command 0"]),
	(["l"], ["list", ":command 0"], []),
]

def check_cases():
	for words, some, none in CASES:
		got = candidates(*words)
		yield " ".join(words), not set(some) - set(got) and not set(none) & set(got), got

def check_machine():
	"""PMUs and their terms, and tracepoints, against sysfs and tracefs."""
	pmus = "/sys/bus/event_source/devices"
	for pmu in sorted(os.listdir(pmus)) if os.path.isdir(pmus) else []:
		terms = os.path.join(pmus, pmu, "format")
		if os.path.isdir(terms):
			got = candidates("open", "-e", pmu[:-1])
			yield pmu, pmu + "/" in got, got
			got = candidates("open", "-e", pmu + "/")
			want = {pmu + "/" + term for term in os.listdir(terms)}
			yield pmu + "/", want <= {c.rstrip("=") for c in got}, got
	try:
		with open("/sys/kernel/tracing/available_events") as f:
			events = f.read().split()
	except OSError:
		return
	want = {e for e in events if e.startswith("sched:sched_p")}
	if want:
		got = candidates("open", "-e", "sched:sched_p")
		yield "tracepoints", want <= set(got), got
		got = candidates("open", "-e", "cpu-clock,sched")
		yield "systems", "cpu-clock,sched:" in got, got

# In shells: what is typed before TAB, and what the line is then.
TYPED = [
	("pevtrace codeg", "pevtrace codegen "),
	("pevtrace --relat", "pevtrace --relative-timestamps "),
	("pevtrace open -e cpu-clock,exclude_ho", "pevtrace open -e cpu-clock,exclude_host "),
	("pevtrace -e inject=perf_event_open:del", "pevtrace -e inject=perf_event_open:delay_e"),
	("pevtrace -e inject=perf_event_open:error=EOPNO",
	 "pevtrace -e inject=perf_event_open:error=EOPNOTSUPP "),
	("pevtrace --as-kernel=2.6.32", "pevtrace --as-kernel=2.6.32 "),
	("pevtrace open --color=nev", "pevtrace open --color=never "),
	("pevtrace learn counti", "pevtrace learn counting "),
	("pevtrace explain cgroup_ou", "pevtrace explain cgroup_ou"),
	("pevtrace decode a.du", "pevtrace decode a.dump "),
	("pevtrace --json=a.du", "pevtrace --json=a.dump "),
	("pevtrace decode c\\ d/e", "pevtrace decode c\\ d/e.dump "),
	("pevtrace open -e '{cpu-clock,page-f", "pevtrace open -e '{cpu-clock,page-faults"),
	("pevtrace -o out sort a.du", "pevtrace -o out sort a.dump "),
	("pevtrace -q quite-a-pro", "pevtrace -q quite-a-program "),
]

class Shell:
	"""A shell in a terminal of tmux, in a directory of its own."""

	def __init__(self, name, home):
		self.tmux = ["tmux", "-S", os.path.join(home, "socket"), "-f", "/dev/null"]
		start = {
			"bash": ["bash", "--noprofile", "--rcfile", os.path.join(home, "bashrc"), "-i"],
			"zsh": ["zsh", "-f", "-i"],
			"fish": ["fish", "--no-config", "-i"],
		}[name]
		env = dict(os.environ, HOME=home, XDG_CONFIG_HOME=home, XDG_DATA_HOME=home,
			   XDG_CACHE_HOME=home, LC_ALL="C.UTF-8", TERM="screen",
			   PATH="%s/bin:%s" % (home, os.environ["PATH"]))
		env.pop("TMUX", None)
		subprocess.run(self.tmux + ["new-session", "-d", "-x", "120", "-y", "50", *start],
			       env=env, cwd=home, check=True)

	def type(self, *keys):
		subprocess.run(self.tmux + ["send-keys", *keys], check=True)

	def type_text(self, text):
		subprocess.run(self.tmux + ["send-keys", "-l", "--", text], check=True)

	def screen(self):
		return subprocess.run(self.tmux + ["capture-pane", "-p", "-J"], text=True, check=True,
				      stdout=subprocess.PIPE).stdout

	def wait_for(self, pattern):
		"""Return whether the screen comes to match the pattern."""
		end = time.monotonic() + PATIENCE
		while time.monotonic() < end:
			if re.search(pattern, self.screen(), re.MULTILINE):
				return True
			time.sleep(0.02)
		return False

	def end(self):
		subprocess.run(self.tmux + ["kill-server"], check=False)

SETUP = {
	"bash": "PS1='@> '; . %s/pevtrace.bash" % COMPLETION,
	"zsh": "fpath=(%s $fpath); autoload -Uz compinit; compinit -u -D; PROMPT='@> '" % COMPLETION,
	"fish": "function fish_prompt; echo '@> '; end; set -g fish_autosuggestion_enabled 0; "
		"set fish_greeting; source %s/pevtrace.fish" % COMPLETION,
}

def check_shell(name):
	# a shell may write its history while it ends
	with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
		os.mkdir(os.path.join(home, "bin"))
		os.symlink(PEVTRACE, os.path.join(home, "bin", "pevtrace"))
		os.symlink("/bin/true", os.path.join(home, "bin", "quite-a-program"))
		os.mkdir(os.path.join(home, "c d"))
		for file in ("a.dump", "bashrc", "c d/e.dump"):
			open(os.path.join(home, file), "w").close()
		shell = Shell(name, home)
		try:
			shell.type_text(SETUP[name] + "; clear")
			shell.type("Enter")
			yield "prompt", shell.wait_for(r"\A@> ?$"), shell.screen()
			for typed, want in TYPED:
				shell.type_text(typed)
				shell.wait_for("@> " + re.escape(typed))
				# the x shows where the cursor is
				shell.type("Tab")
				shell.type_text("x")
				ok = shell.wait_for("^@> " + re.escape(want) + "x")
				screen = shell.screen()
				# nor may the shell complain of the completion
				yield typed, ok and "_pevtrace:" not in screen, screen
				# not ^C, at which a terminal drops what is typed ahead
				shell.type("C-u")
				shell.type_text(" clear")
				shell.type("Enter")
				shell.wait_for(r"\A@> ?$")
			if name == "bash":
				# an empty word
				shell.type_text("pevtrace ")
				shell.type("Tab", "Tab")
				listed = shell.wait_for(r"\bcodegen\b") and shell.wait_for(r"\bwhy\b")
				yield "an empty word", listed, shell.screen()
		finally:
			shell.end()

def report(number, name, results):
	"""Print one line of TAP for a list of (case, passed, details)."""
	failed = [(case, got) for case, ok, got in results if not ok]
	print("%sok %d - %s" % ("not " * bool(failed), number, name))
	for case, got in failed:
		print("# %s: %s" % (case, str(got).rstrip().replace("\n", "\n# ")))
	sys.stdout.flush()
	return not failed

def main():
	checks = [("every verb and option is offered", check_options),
		  ("arguments of every kind", check_cases),
		  ("PMUs and tracepoints of this machine", check_machine)]
	shells = ["bash", "zsh", "fish"]
	print("1..%d" % (len(checks) + len(shells)))
	good = True
	for i, (name, check) in enumerate(checks, 1):
		good &= report(i, name, check())
	for i, name in enumerate(shells, len(checks) + 1):
		missing = [p for p in ("tmux", name) if not shutil.which(p)]
		if missing:
			print("ok %d - %s # SKIP %s is not installed" % (i, name, missing[0]))
		else:
			good &= report(i, "TAB in " + name, check_shell(name))
	sys.exit(not good)

if __name__ == "__main__":
	main()
