// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The second seccomp program.  It is written by hand because it is made while
 * the target waits, several times for a target with many events: libseccomp
 * takes two thirds of a millisecond for one like it, this a few microseconds.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>

#include "lib/buf.h"
#include "trace/conceal.h"
#include "trace/filter.h"

/* Which argument is the descriptor that matters, or -1: none. */
static int fd_arg(enum call_watch watch)
{
	switch (watch) {
	case WATCH_FD:
	case WATCH_IOCTL:
		return 0;
	case WATCH_SHARED:
		return 4;
	default:
		return -1;
	}
}

/* Where jumps to the test of an argument go while that has no place yet. */
static const uint32_t to_arg = UINT32_MAX - CALL_MAX_ARGS;

static void add(struct buf *b, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	const struct sock_filter insn = { code, jt, jf, k };

	buf_add(b, &insn, sizeof(insn));
}

static void load(struct buf *b, uint32_t offset)
{
	add(b, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

static void answer(struct buf *b, uint32_t action)
{
	add(b, BPF_RET | BPF_K, action, 0, 0);
}

static size_t length(const struct buf *b)
{
	return b->len / sizeof(struct sock_filter);
}

static void test_call(struct buf *b, uint32_t nr, enum call_watch watch, bool held)
{
	int arg = fd_arg(watch);

	if (arg < 0 && !(held && (watch == WATCH_HELD || watch == WATCH_UNSHARE)))
		return;
	add(b, BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1);
	if (arg < 0)
		answer(b, SECCOMP_RET_TRACE | VEIL_DATA);
	else
		add(b, BPF_JMP | BPF_JA, to_arg + (uint32_t)arg, 0, 0);
}

/* The calls of one ABI; of another one nothing. */
static void test_calls(struct buf *b, const struct nr_table *table,
		       const struct trace_options *opts, bool held)
{
	const struct arch *arch = table->arch;
	size_t over;

	load(b, offsetof(struct seccomp_data, arch));
	add(b, BPF_JMP | BPF_JEQ | BPF_K, arch->audit, 1, 0);
	over = length(b);
	add(b, BPF_JMP | BPF_JA, 0, 0, 0);
	load(b, offsetof(struct seccomp_data, nr));
	for (size_t nr = 0; nr < NR_CALLS; nr++) {
		const struct call_desc *desc = table->desc[nr];

		if (desc && !opts->unwanted[desc->id])
			test_call(b, (uint32_t)(nr | arch->nr_bit), opts->watch[desc->id],
				  held);
	}
	((struct sock_filter *)b->data)[over].k = (uint32_t)(length(b) - over - 1);
}

/* All jumps to the test of that argument lead here. */
static void land(struct buf *b, int arg)
{
	struct sock_filter *insns = (struct sock_filter *)b->data;
	size_t here = length(b);

	for (size_t i = 0; i < here; i++)
		if (insns[i].code == (BPF_JMP | BPF_JA) &&
		    insns[i].k == to_arg + (uint32_t)arg)
			insns[i].k = (uint32_t)(here - i - 1);
}

/* With a descriptor in one of the ranges a call is reported. */
static void test_ranges(struct buf *b, int arg, const struct fd_range *ranges, size_t n)
{
	const uint32_t low = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0;

	land(b, arg);
	load(b, (uint32_t)offsetof(struct seccomp_data, args[arg]) + low);
	for (size_t i = 0; i < n; i++) {
		add(b, BPF_JMP | BPF_JGE | BPF_K, ranges[i].first, 0, 2);
		add(b, BPF_JMP | BPF_JGT | BPF_K, ranges[i].last, 1, 0);
		answer(b, SECCOMP_RET_TRACE | VEIL_DATA);
	}
	answer(b, SECCOMP_RET_ALLOW);
}

bool filter_build_close(struct filter *f, const struct trace_options *opts,
			const struct nr_tables *nrs, const struct fd_range *ranges,
			size_t nranges, bool held)
{
	struct buf b = { 0 };

	for (const struct nr_table *table = nrs->of; table->arch; table++)
		test_calls(&b, table, opts, held);
	answer(&b, SECCOMP_RET_ALLOW);
	test_ranges(&b, 0, ranges, nranges);
	test_ranges(&b, 4, ranges, nranges);
	if (length(&b) > BPF_MAXINSNS) {
		buf_free(&b);
		return false;
	}
	*f = (struct filter){ (struct sock_filter *)b.data, (unsigned short)length(&b) };
	return true;
}
