// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/filter.h"

#include <errno.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/abi/bpf.h"
#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "engine/ptrace/proc.h"
#include "engine/ptrace/task.h"
#include "xlat/tables.h"

/* A test of a call's arguments: the masked bits of one of them have a value. */
struct test {
	unsigned int arg;
	uint32_t mask, value;	/* mask: 0 ends the list */
};

/* Of each enum call_watch: a call is watched if one of the tests is true. */
static const struct test tests[][4] = {
	[WATCH_IOCTL] = { { 1, 0xff00, '$' << 8 } }, /* the type of the request */
	[WATCH_SHARED] = { { 3, MAP_SHARED | MAP_ANONYMOUS, MAP_SHARED } },
	[WATCH_PRCTL] = {
		{ 0, UINT32_MAX, PR_TASK_PERF_EVENTS_DISABLE },
		{ 0, UINT32_MAX, PR_TASK_PERF_EVENTS_ENABLE },
	},
	[WATCH_PTRACE] = {
		{ 0, UINT32_MAX, PTRACE_TRACEME }, { 0, UINT32_MAX, PTRACE_ATTACH },
		{ 0, UINT32_MAX, PTRACE_SEIZE },
	},
	[WATCH_UNSHARE] = { { 0, CLONE_FILES, CLONE_FILES } },
};

static const struct test *tests_of(enum call_watch watch, enum call_id id)
{
	static const struct test range[] = {
		{ 2, CLOSE_RANGE_UNSHARE, CLOSE_RANGE_UNSHARE }, { 0, 0, 0 },
	};

	if (watch == WATCH_UNSHARE && id == CALL_CLOSE_RANGE)
		return range;
	/* others than the listed have no test */
	return (size_t)watch < sizeof(tests) / sizeof(*tests) ? tests[watch] : &range[1];
}

bool filter_matches(const struct trace_options *opts, const struct call *call)
{
	enum call_watch watch = opts->watch[call->desc->id];

	for (const struct test *t = tests_of(watch, call->desc->id); t->mask; t++)
		if ((call->args[t->arg] & t->mask) == t->value)
			return true;
	return watch == WATCH_ALWAYS ||
	       (watch == WATCH_BPF && bpf_part_of((uint32_t)call->args[0]));
}

static int seccomp_filter(const struct filter *f, unsigned int flags)
{
	struct sock_fprog prog = { f->len, f->insns };

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog)
		       ? errno
		       : 0;
}

int filter_install(const struct filter *f)
{
	/* Without this flag some kernels disable speculative store bypass in the program. */
	unsigned int flags = SECCOMP_FILTER_FLAG_SPEC_ALLOW;
	int err = seccomp_filter(f, flags);

	if (err == EINVAL)
		err = seccomp_filter(f, flags = 0);
	if (err != EACCES)
		return err;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return errno;
	return seccomp_filter(f, flags);
}

void filter_set_data(struct filter *f, uint16_t data)
{
	for (size_t i = 0; i < f->len; i++)
		if (f->insns[i].code == (BPF_RET | BPF_K) &&
		    f->insns[i].k == (SECCOMP_RET_TRACE | FILTER_DATA))
			f->insns[i].k = SECCOMP_RET_TRACE | data;
}

void filter_free(struct filter *f)
{
	free(f->insns);
	*f = (struct filter){ 0 };
}

/*
 * Both filters are assembled here: libseccomp hangs or crashes when memory runs out, and needs
 * 0.7 ms for one.  The tracee waits for the second.
 */

/*
 * While a filter is assembled, jump_to_arg + N stands in a jump to the test of argument N, until
 * its offset is known.
 */
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

/* Skip what follows if the call is of another architecture; return the place for end_arch(). */
static size_t begin_arch(struct buf *b, const struct nr_table *table)
{
	/* of a processor without a file only libseccomp knows the number, which is its token */
	const uint32_t audit = table->arch->audit ? table->arch->audit : table->token;

	emit_load(b, offsetof(struct seccomp_data, arch));
	emit(b, BPF_JMP | BPF_JEQ | BPF_K, audit, 1, 0);
	emit(b, BPF_JMP | BPF_JA, 0, 0, 0);
	emit_load(b, offsetof(struct seccomp_data, nr));
	return emit_length(b) - 2;
}

static void end_arch(struct buf *b, size_t over)
{
	((struct sock_filter *)b->data)[over].k = (uint32_t)(emit_length(b) - over - 1);
}

/* Return the offset of the low half of an argument. */
static uint32_t low_half(const struct nr_tables *nrs, int arg)
{
	return (uint32_t)offsetof(struct seccomp_data, args[arg]) +
	       (nrs->of->arch && nrs->of->arch->big_endian ? 4 : 0);
}

/* Stop a call whose argument passes the test. */
static void emit_test(struct buf *b, const struct nr_tables *nrs, struct test t)
{
	emit_load(b, low_half(nrs, (int)t.arg));
	if (t.mask != UINT32_MAX)
		emit(b, BPF_ALU | BPF_AND | BPF_K, t.mask, 0, 0);
	emit(b, BPF_JMP | BPF_JEQ | BPF_K, t.value, 0, 1);
	emit_return(b, SECCOMP_RET_TRACE | FILTER_DATA);
}

/* Emit what the first filter does with a call whose number is known, if it may stop it. */
static void emit_watch(struct buf *b, const struct nr_tables *nrs, const struct nr_table *table,
		       const struct trace_options *opts, const struct call_desc *desc)
{
	enum call_watch watch = opts->watch[desc->id];

	/* conceal_enter() changes some calls, watched or not */
	if (desc->id == CALL_CLONE)
		emit_test(b, nrs, (struct test){ 0, CLONE_UNTRACED, CLONE_UNTRACED });
	else if (desc->id == CALL_PRCTL)
		emit_test(b, nrs, (struct test){ 0, UINT32_MAX, PR_SET_SECCOMP });
	else if (desc->id == CALL_CLONE3)
		watch = WATCH_ALWAYS;
	if (opts->unwanted[desc->id] && desc->id != CALL_CLONE3)
		return;
	for (const struct test *t = tests_of(watch, desc->id); t->mask; t++)
		emit_test(b, nrs, *t);
	for (size_t i = 0; watch == WATCH_BPF && i < xlat_bpf_cmd.n; i++) {
		uint32_t command = (uint32_t)xlat_bpf_cmd.entries[i].value;

		if (bpf_part_of(command))
			emit_test(b, nrs, (struct test){ 0, UINT32_MAX, command });
	}
	/* a filter cannot see the arguments: i386's old mmap passes a pointer to them */
	if (watch == WATCH_ALWAYS ||
	    (watch == WATCH_SHARED && table->arch->old_mmap && desc->id == CALL_MMAP))
		emit_return(b, SECCOMP_RET_TRACE | FILTER_DATA);
}

void filter_build(struct filter *f, const struct trace_options *opts,
		  const struct nr_tables *nrs)
{
	struct buf b = { 0 };

	for (const struct nr_table *table = nrs->of; table->arch; table++) {
		size_t over = begin_arch(&b, table);

		for (size_t i = 0; i < NR_CALLS; i++) {
			uint32_t nr = (uint32_t)(i | table->arch->nr_bit);
			size_t at = emit_length(&b);

			emit(&b, BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 0);
			if (table->desc[i])
				emit_watch(&b, nrs, table, opts, table->desc[i]);
			else if ((int)nr == table->seccomp) /* SECCOMP_SET_MODE_... */
				emit_test(&b, nrs, (struct test){ 0, UINT32_MAX - 1, 0 });
			if (emit_length(&b) == at + 1) {
				b.len = at * sizeof(struct sock_filter);
				continue;
			}
			emit_return(&b, SECCOMP_RET_ALLOW);
			((struct sock_filter *)b.data)[at].jf = (uint8_t)(emit_length(&b) - at - 1);
		}
		end_arch(&b, over);
	}
	/* programs of unknown architectures run untraced */
	emit_return(&b, SECCOMP_RET_ALLOW);
	*f = (struct filter){ (struct sock_filter *)b.data, (unsigned short)emit_length(&b) };
}

/* Test the call number if the call is of this architecture. */
static void test_calls(struct buf *b, const struct nr_table *table,
		       const struct trace_options *opts, bool held)
{
	const struct arch *arch = table->arch;
	size_t over = begin_arch(b, table);

	for (size_t nr = 0; nr < NR_CALLS; nr++) {
		const struct call_desc *desc = table->desc[nr];
		enum call_watch watch;
		int arg;	/* the descriptor to test */

		if (!desc || opts->unwanted[desc->id])
			continue;
		watch = opts->watch[desc->id];
		arg = watch == WATCH_FD || watch == WATCH_IOCTL ? 0 :
		      watch == WATCH_SHARED ? 4 : -1;
		if (arg < 0 && !(held && (watch == WATCH_HELD || watch == WATCH_UNSHARE)))
			continue;
		emit(b, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(nr | arch->nr_bit), 0, 1);
		if (arg < 0)
			emit_return(b, SECCOMP_RET_TRACE | FILTER_DATA);
		else
			emit(b, BPF_JMP | BPF_JA, jump_to_arg + (uint32_t)arg, 0, 0);
	}
	end_arch(b, over);
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

/* Stop the call if the argument is a descriptor in one of the ranges. */
static void test_ranges(struct buf *b, const struct nr_tables *nrs, int arg,
			const struct fd_range *ranges, size_t n)
{
	emit_load(b, low_half(nrs, arg));
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
	struct buf b = { 0 };

	for (const struct nr_table *table = nrs->of; table->arch; table++)
		test_calls(&b, table, opts, held);
	emit_return(&b, SECCOMP_RET_ALLOW);
	emit_land(&b, 0);
	test_ranges(&b, nrs, 0, ranges, nranges);
	emit_land(&b, 4);
	if (held) {
		/* stop the call if it replaces mappings */
		emit_test(&b, nrs, (struct test){ 3, MAP_FIXED, MAP_FIXED });
	}
	test_ranges(&b, nrs, 4, ranges, nranges);
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

bool second_filter_is_hidden(const struct task *task)
{
	return task->second_filter && task->second_filter->own;
}

bool second_filter_is_alone(const struct task *task)
{
	const struct second_filter *f = task->second_filter;

	return f && proc_status(task->tid, filters_key) == f->filters;
}
