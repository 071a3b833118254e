// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/second_filter.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "engine/ptrace/proc.h"
#include "engine/ptrace/task.h"

/*
 * The program is assembled by hand because the tracee waits for it, several times if
 * it opens many events: libseccomp needs 0.7 ms for a similar one, this code
 * a few microseconds.
 */

/* Return which argument is the descriptor to test, or -1. */
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

/* jump_to_arg + N: placeholder for the jump offset to the test of argument N. */
static const uint32_t jump_to_arg = UINT32_MAX - CALL_MAX_ARGS;

static void emit(struct buf *b, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	const struct sock_filter insn = { code, jt, jf, k };

	buf_add(b, &insn, sizeof(insn));
}

static void emit_load(struct buf *b, uint32_t offset)
{
	emit(b, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

static void emit_return(struct buf *b, uint32_t action)
{
	emit(b, BPF_RET | BPF_K, action, 0, 0);
}

static size_t emit_length(const struct buf *b)
{
	return b->len / sizeof(struct sock_filter);
}

static void test_call(struct buf *b, uint32_t nr, enum call_watch watch, bool held)
{
	int arg = fd_arg(watch);

	if (arg < 0 && !(held && (watch == WATCH_HELD || watch == WATCH_UNSHARE)))
		return;
	emit(b, BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1);
	if (arg < 0)
		emit_return(b, SECCOMP_RET_TRACE | FILTER_DATA);
	else
		emit(b, BPF_JMP | BPF_JA, jump_to_arg + (uint32_t)arg, 0, 0);
}

/* Test the call number if the call is of this architecture; skip the tests otherwise. */
static void test_calls(struct buf *b, const struct nr_table *table,
		       const struct trace_options *opts, bool held)
{
	const struct arch *arch = table->arch;
	size_t over;

	emit_load(b, offsetof(struct seccomp_data, arch));
	emit(b, BPF_JMP | BPF_JEQ | BPF_K, arch->audit, 1, 0);
	over = emit_length(b);
	emit(b, BPF_JMP | BPF_JA, 0, 0, 0);
	emit_load(b, offsetof(struct seccomp_data, nr));
	for (size_t nr = 0; nr < NR_CALLS; nr++) {
		const struct call_desc *desc = table->desc[nr];

		if (desc && !opts->unwanted[desc->id])
			test_call(b, (uint32_t)(nr | arch->nr_bit), opts->watch[desc->id],
				  held);
	}
	((struct sock_filter *)b->data)[over].k = (uint32_t)(emit_length(b) - over - 1);
}

/* Resolve the jumps to the test of this argument: it begins at the end of the program. */
static void emit_land(struct buf *b, int arg)
{
	struct sock_filter *insns = (struct sock_filter *)b->data;
	size_t here = emit_length(b);

	for (size_t i = 0; i < here; i++)
		if (insns[i].code == (BPF_JMP | BPF_JA) &&
		    insns[i].k == jump_to_arg + (uint32_t)arg)
			insns[i].k = (uint32_t)(here - i - 1);
}

/* Stop the call if it replaces mappings.  low: offset of the low half of an argument. */
static void test_fixed(struct buf *b, uint32_t low)
{
	emit_load(b, (uint32_t)offsetof(struct seccomp_data, args[3]) + low);
	emit(b, BPF_JMP | BPF_JSET | BPF_K, MAP_FIXED, 0, 1);
	emit_return(b, SECCOMP_RET_TRACE | FILTER_DATA);
}

/* Stop the call if the argument is a descriptor in one of the ranges. */
static void test_ranges(struct buf *b, uint32_t low, int arg, const struct fd_range *ranges,
			size_t n)
{
	emit_load(b, (uint32_t)offsetof(struct seccomp_data, args[arg]) + low);
	for (size_t i = 0; i < n; i++) {
		emit(b, BPF_JMP | BPF_JGE | BPF_K, ranges[i].first, 0, 2);
		emit(b, BPF_JMP | BPF_JGT | BPF_K, ranges[i].last, 1, 0);
		emit_return(b, SECCOMP_RET_TRACE | FILTER_DATA);
	}
	emit_return(b, SECCOMP_RET_ALLOW);
}

bool second_filter_build(struct filter *f, const struct trace_options *opts,
			 const struct nr_tables *nrs, const struct fd_range *ranges,
			 size_t nranges, bool held)
{
	const uint32_t low = nrs->of->arch && nrs->of->arch->big_endian ? 4 : 0;
	struct buf b = { 0 };

	for (const struct nr_table *table = nrs->of; table->arch; table++)
		test_calls(&b, table, opts, held);
	emit_return(&b, SECCOMP_RET_ALLOW);
	emit_land(&b, 0);
	test_ranges(&b, low, 0, ranges, nranges);
	emit_land(&b, 4);
	if (held)
		test_fixed(&b, low);
	test_ranges(&b, low, 4, ranges, nranges);
	if (emit_length(&b) > BPF_MAXINSNS) {
		buf_free(&b);
		return false;
	}
	*f = (struct filter){ (struct sock_filter *)b.data, (unsigned short)emit_length(&b) };
	return true;
}

static const char filters_key[] = "Seccomp_filters";

struct second_filter *second_filter_new(void)
{
	struct second_filter *f = xcalloc(1, sizeof(*f));
	long inherited = proc_status(getpid(), filters_key);

	*f = (struct second_filter){
		.refs = 1, .filters = inherited + 1, .refused = inherited < 0
	};
	return f;
}

struct second_filter *second_filter_share(struct second_filter *f)
{
	if (f)
		f->refs++;
	return f;
}

struct second_filter *second_filter_inherit(const struct second_filter *f, pid_t tid,
					    pid_t parent)
{
	struct second_filter *copy;
	long filters;

	if (!f)
		return NULL;
	copy = xmalloc(sizeof(*copy));
	*copy = *f;
	copy->refs = 1;
	if (!f->held)
		return copy;
	/* Another thread of the parent may have installed filters after the fork. */
	filters = proc_status(tid, filters_key);
	if (filters != proc_status(parent, filters_key)) {
		copy->filters = filters;
		copy->held = false;
		copy->ranges = 0;
	}
	return copy;
}

void second_filter_free(struct second_filter *f)
{
	if (f && !--f->refs)
		free(f);
}

bool second_filter_covers(const struct tracer *t, const struct task *task)
{
	const struct second_filter *f = task->second_filter;

	return f && f->held && f->ranges == t->nranges;
}

bool second_filter_is_alone(const struct task *task)
{
	const struct second_filter *f = task->second_filter;

	return f && proc_status(task->tid, filters_key) == f->filters;
}
