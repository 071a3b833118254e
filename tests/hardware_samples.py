#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Samples as PEBS, LBR and SPE write them, which no emulator does: random ones in a perf.data
file that perf(1) and pevtrace decode.  What perf script says of branches, weights and memory
accesses must be what pevtrace says."""

import os
import random
import re
import struct
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
from programs import run
import straceparse as sp

PEVTRACE = os.environ.get("PEVTRACE") or sp.find_program("pevtrace")
PERF = sp.find_program("perf", ("/usr/lib/linux-tools",))
RND = random.Random(int(os.environ.get("SEED", "1")))
SAMPLES = 400

IP, TID, TIME, ADDR, CPU, PERIOD = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 7, 1 << 8
BRANCHES, DATA_SRC, PHYS_ADDR, WEIGHT_STRUCT = 1 << 11, 1 << 15, 1 << 19, 1 << 24
SAMPLE_TYPE = IP | TID | TIME | ADDR | CPU | PERIOD | BRANCHES | DATA_SRC | PHYS_ADDR | WEIGHT_STRUCT
USER, ANY, TYPE_SAVE, HW_INDEX = 1 << 0, 1 << 3, 1 << 16, 1 << 17
SAMPLE_ID_ALL = 1 << 18
# A large PEBS sample: all registers that it may have, among them 32 halves of XMM
WEIGHT, TRANSACTION, REGS_INTR, DATA_PAGE, CODE_PAGE = 1 << 14, 1 << 17, 1 << 18, 1 << 22, 1 << 23
LARGE_TYPE = IP | TID | TIME | WEIGHT | TRANSACTION | REGS_INTR | DATA_PAGE | CODE_PAGE
REGISTERS = 0xffffffff00ff01ff
ATTR_BYTES, HEADER_BYTES = 112, 104

# Parts of data_src as perf words them: the first bit, and a pattern for each bit in order.
PARTS = {
	"mem_op": (0, ["N/A", "LOAD", "STORE", "PFETCH", "EXEC"]),
	"mem_lvl": (5, ["N/A", "hit", "miss", "L1", r"LFB(?:/MAB)?", "L2", "L3", r"(?:Local )RAM",
			r"Remote RAM \(1 hop\)", r"Remote RAM \(2 hops\)", r"Remote Cache \(1 hop\)",
			r"Remote Cache \(2 hops\)", "I/O", "Uncached"]),
	"mem_snoop": (19, ["N/A", "None", "Hit", "Miss", "HitM"]),
	"mem_dtlb": (26, ["N/A", "hit", "miss", "L1", "L2", "Walker", "Fault"]),
}
HEADS = {"mem_op": "OP", "mem_lvl": "LVL", "mem_snoop": "SNP", "mem_dtlb": "TLB"}
NAMES = {"mem_op": "NA LOAD STORE PFETCH EXEC",
	 "mem_lvl": "NA HIT MISS L1 LFB L2 L3 LOC_RAM REM_RAM1 REM_RAM2 REM_CCE1 REM_CCE2 IO UNC",
	 "mem_snoop": "NA NONE HIT MISS HITM",
	 "mem_dtlb": "NA HIT MISS L1 L2 WK OS"}

def record(kind, misc, body):
	return struct.pack("<IHH", kind, misc, 8 + len(body)) + body

def data_src():
	"""Return a word with an operation, and at random levels, snooping and TLB."""
	word = 1 << RND.randrange(1, 5)
	for part in ("mem_lvl", "mem_snoop", "mem_dtlb"):
		first, words = PARTS[part]
		at = RND.randrange(1, len(words)) if part == "mem_snoop" else RND.randrange(3, len(words))
		word |= 1 << first + at
		if part != "mem_snoop":
			word |= RND.choice((2, 4)) << first
	return word | RND.choice((0, 2)) << 24

def sample(n):
	body = struct.pack("<QIIQQIIQ", 0x401000 + n, 10, 10, 1000 + n, RND.getrandbits(47), 0, 0, n + 1)
	branches = RND.randrange(0, 33)		# as many as an LBR has
	body += struct.pack("<QQ", branches, RND.randrange(32))
	for _ in range(branches):
		# mispredicted or not, in_tx, abort, cycles, type (0 to 12)
		flags = RND.choice((1, 2)) | RND.getrandbits(2) << 2 | RND.getrandbits(16) << 4 | \
			RND.randrange(13) << 20
		body += struct.pack("<QQQ", RND.getrandbits(47), RND.getrandbits(47), flags)
	body += struct.pack("<IHH", RND.getrandbits(31), RND.getrandbits(15), RND.getrandbits(15))
	return record(9, 2, body + struct.pack("<QQ", data_src(), RND.getrandbits(46)))

def large_sample(n):
	values = [RND.getrandbits(64) for _ in range(bin(REGISTERS).count("1"))]
	return record(9, 0x4002, struct.pack(
		"<QIIQQQQ%dQQQ" % len(values), 0x401000 + n, 10, 10, 1000 + n, RND.getrandbits(64),
		RND.getrandbits(32) << 32 | RND.getrandbits(8), 2, *values,
		1 << RND.choice((12, 21, 30)), 1 << RND.choice((12, 21))))

def perf_data(sample_type, one):
	attr = struct.pack("<IIQQQQQ", 4, ATTR_BYTES, 0x1cd, 1000, sample_type, 0, SAMPLE_ID_ALL)
	attr += struct.pack("<IIQQQ", 1, 0, 0, 0,
			    USER | ANY | TYPE_SAVE | HW_INDEX if sample_type & BRANCHES else 0)
	attr = attr.ljust(96, b"\0") + struct.pack("<Q", REGISTERS if sample_type & REGS_INTR else 0)
	attr = attr.ljust(ATTR_BYTES, b"\0") + struct.pack("<QQ", 0, 0)
	ids = struct.pack("<IIQ", 10, 10, 1) + (struct.pack("<II", 0, 0) if sample_type & CPU else b"")
	data = record(3, 0, struct.pack("<II8s", 10, 10, b"pebs") + ids)
	data += b"".join(one(n) for n in range(SAMPLES))
	head = b"PERFILE2" + struct.pack("<QQQQQQQQ", HEADER_BYTES, len(attr), HEADER_BYTES, len(attr),
					 HEADER_BYTES + len(attr), len(data), 0, 0)
	return head.ljust(HEADER_BYTES, b"\0") + attr + data

def ours(path):
	for line in run(PEVTRACE, "decode", "--records", "-s", "4096", path).stdout.splitlines():
		at = line.find("{type=PERF_RECORD_SAMPLE")
		if at >= 0:
			yield sp.Reader(line[at:]).value()

def branches(val):
	"""Return the branches of a sample in the words of perf script."""
	out = []
	for entry in [e for _, e in val.get("branch_stack").get("entries").items]:
		n = lambda name, e=entry: sp.number(e.get(name)) if e.get(name) else 0
		out.append("0x%x/0x%x/%s/%s/%s/%d/%s" % (
			n("from"), n("to"), "M" if n("mispred") else "P" if n("predicted") else "-",
			"X" if n("in_tx") else "-", "A" if n("abort") else "-", n("cycles"),
			entry.get("type").text.replace("PERF_BR_", "") if entry.get("type") else ""))
	return out

def flags_of(val, part):
	member = val.get("data_src").get(part)
	return set(re.findall(r"PERF_MEM_[A-Z]+_(\w+)", str(member))) if member else set()

def words_of(text, part):
	"""Return the flags whose words perf's text for that part has."""
	m = re.search(r"\|%s (.*?) *(?:\||$)" % HEADS[part], text)
	rest, found = m.group(1) if m else "", set()
	# longer words first: "L1 miss" has no "miss" of its own
	both = sorted(zip(NAMES[part].split(), PARTS[part][1]), key=lambda p: -len(p[1]))
	for name, word in both:
		rest, n = re.subn(r"(?:^|(?<= ))%s(?= |$)" % word, "", rest)
		if n:
			found.add(name)
	return found

def numbers(tap, path, samples):
	lines = run(PERF, "script", "-i", path, "-F", "addr,weight,ins_lat,phys_addr,period").stdout
	theirs = [line.split() for line in lines.splitlines()]
	mine = []
	for v in samples:
		n = lambda name, v=v: sp.number(v.get(name))
		w = v.get("weight")
		part = lambda name, w=w: sp.number(w.get(name)) if w.get(name) else 0
		mine.append(["%d" % n("period"), "%x" % n("addr"), "%d" % part("var1_dw"),
			     "%d" % part("var2_w"), "%x" % n("phys_addr")])
	wrong = [(a, b) for a, b in zip(theirs, mine) if sorted(a) != sorted(b)]
	tap.ok(len(theirs) == len(mine) == SAMPLES and not wrong,
	       "addresses, weights and periods as perf script has them", wrong[:3] or [len(theirs)])

def stacks(tap, path, samples):
	lines = run(PERF, "script", "-i", path, "-F", "time,brstack").stdout.splitlines()
	mine = [branches(v) for v in samples]
	# newer releases of perf add parts
	theirs = [["/".join(b.split("/")[:7]) for b in line.split()[1:]] for line in lines]
	wrong = [(a, b) for x, y in zip(theirs, mine) for a, b in zip(x, y) if a != b]
	tap.ok([len(x) for x in theirs] == [len(y) for y in mine] and sum(map(len, mine)) > 1000 and
	       not wrong, "%d branches with flags, cycles and kinds as perf script has them" %
	       sum(map(len, mine)), wrong[:5] or [len(theirs), len(mine)])

def accesses(tap, path, samples):
	theirs = run(PERF, "script", "-i", path, "-F", "data_src").stdout.splitlines()
	wrong = []
	for text, v in zip(theirs, samples):
		for part in PARTS:
			a, b = words_of(text, part), flags_of(v, part)
			if a != b:
				wrong.append((part, a, b, text.strip()))
		locked = bool(re.search(r"\|LCK Yes", text))
		if locked != ("LOCKED" in flags_of(v, "mem_lock")):
			wrong.append(("mem_lock", text.strip(), str(v.get("data_src"))))
	tap.ok(len(theirs) == SAMPLES and not wrong, "memory accesses in the words of perf script",
	       wrong[:5])

def large(tap, path, samples):
	"""What perf prints of each sample's registers and words, in the order of the record."""
	theirs = run(PERF, "report", "-D", "-i", path).stdout.split("PERF_RECORD_SAMPLE(")[1:]
	sizes = {"4K": 1 << 12, "2M": 1 << 21, "1024M": 1 << 30, "1G": 1 << 30}
	wrong = []
	for text, v in zip(theirs, samples):
		def word(name, digits, text=text):
			return re.search(r"^ ?\.+ %s: (%s)" % (name, digits), text, re.M)[1]
		n = lambda name, v=v: sp.number(v.get(name))
		txn = v.get("transaction")
		a = [(k, int(x, 16)) for k, x in re.findall(r"^\.{4} (\w+) +0x(\w+)$", text, re.M)]
		b = [(k[:-3] if k.endswith("_HI") else k, sp.number(x))
		     for k, x in v.get("regs_intr").items if k != "abi"]
		a += [int(word("weight", r"\d+")), sizes[word("data page size", r"\w+")],
		      sizes[word("code page size", r"\w+")], int(word("transaction", r"\w+"), 16) >> 32]
		b += [n("weight"), n("data_page_size"), n("code_page_size"),
		      sp.number(txn.get("abort_code")) if txn.get("abort_code") else 0]
		if a != b:
			wrong.append((a, b))
	tap.ok(len(theirs) == len(samples) == SAMPLES and not wrong,
	       "registers, weights, transactions and page sizes as perf report has them",
	       wrong[:2] or [len(theirs), len(samples)])

def main():
	if not PERF:
		sp.skip_all("no perf")
	tap = sp.Tap()
	with tempfile.TemporaryDirectory() as tmp:
		path = os.path.join(tmp, "perf.data")
		with open(path, "wb") as f:
			f.write(perf_data(SAMPLE_TYPE, sample))
		samples = list(ours(path))
		tap.ok(len(samples) == SAMPLES, "every sample is decoded", [len(samples)])
		numbers(tap, path, samples)
		stacks(tap, path, samples)
		accesses(tap, path, samples)
		if os.uname().machine == "x86_64":	# perf has the registers of its own machine
			with open(path, "wb") as f:
				f.write(perf_data(LARGE_TYPE, large_sample))
			large(tap, path, list(ours(path)))
		else:
			tap.skip("registers as perf report has them", "they are x86-64's")
	return tap.done()

if __name__ == "__main__":
	sys.exit(main())
