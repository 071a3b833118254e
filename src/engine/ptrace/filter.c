// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/filter.h"

#include <errno.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/abi/bpf.h"
#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "engine/ptrace/proc.h"
#include "engine/ptrace/task.h"
#include "xlat/tables.h"

enum { FILTER_MEMORY = 1 << 20 };	/* more than libseccomp allocates for all filters */

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

static int add_test(scmp_filter_ctx ctx, int nr, const struct test *t)
{
	return seccomp_rule_add(ctx, SCMP_ACT_TRACE(FILTER_DATA), nr, 1,
				SCMP_CMP(t->arg, SCMP_CMP_MASKED_EQ, t->mask, t->value));
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

static int add_calls(scmp_filter_ctx ctx, const struct nr_table *table,
		     const struct trace_options *opts)
{
	for (size_t i = 0; i < NR_CALLS; i++) {
		const struct call_desc *desc = table->desc[i];
		enum call_watch watch;
		int nr, err;

		if (!desc || opts->unwanted[desc->id])
			continue;
		watch = opts->watch[desc->id];
		/* a filter cannot see the arguments: i386's old mmap passes a pointer to them */
		if (watch == WATCH_SHARED && table->arch->old_mmap && desc->id == CALL_MMAP)
			watch = WATCH_ALWAYS;
		/* Rules take native numbers; libseccomp has negative ones for foreign calls. */
		nr = seccomp_syscall_resolve_name(desc->name);
		if (nr == __NR_SCMP_ERROR)
			continue;
		err = watch != WATCH_ALWAYS ? 0 :
		      seccomp_rule_add(ctx, SCMP_ACT_TRACE(FILTER_DATA), nr, 0);
		for (const struct test *t = tests_of(watch, desc->id); t->mask && !err; t++)
			err = add_test(ctx, nr, t);
		for (size_t k = 0; watch == WATCH_BPF && k < xlat_bpf_cmd.n && !err; k++) {
			uint32_t command = (uint32_t)xlat_bpf_cmd.entries[k].value;

			if (bpf_part_of(command))
				err = add_test(ctx, nr, &(struct test){ 0, UINT32_MAX, command });
		}
		if (err)
			return err;
	}
	return 0;
}

/* Add the calls that conceal_enter() changes, watched or not. */
static int add_concealed(scmp_filter_ctx ctx)
{
	static const struct {
		const char *name;
		struct scmp_arg_cmp test;
		unsigned int tests;
	} rules[] = {
		{ "clone", SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_UNTRACED, CLONE_UNTRACED), 1 },
		{ "clone3", { 0 }, 0 },
		{ "prctl", SCMP_A0(SCMP_CMP_MASKED_EQ, UINT32_MAX, PR_SET_SECCOMP), 1 },
		{ "seccomp", SCMP_A0(SCMP_CMP_MASKED_EQ, UINT32_MAX, SECCOMP_SET_MODE_STRICT), 1 },
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules) && !err; i++) {
		int nr = seccomp_syscall_resolve_name(rules[i].name);

		err = seccomp_rule_add_array(ctx, SCMP_ACT_TRACE(FILTER_DATA), nr, rules[i].tests,
					     &rules[i].test);
		if (err == -EEXIST)
			err = 0; /* already watched */
	}
	return err;
}

/* Build the filter of one architecture: each has rules of its own. */
static scmp_filter_ctx one_arch(const struct nr_table *table,
				const struct trace_options *opts)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
	int err;

	if (!ctx)
		return NULL;
	/* Programs of unknown architectures run untraced. */
	err = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ALLOW);
	if (!err && table->token != seccomp_arch_native()) {
		err = seccomp_arch_remove(ctx, SCMP_ARCH_NATIVE);
		if (!err)
			err = seccomp_arch_add(ctx, table->token);
	}
	if (!err)
		err = add_calls(ctx, table, opts);
	if (!err)
		err = add_concealed(ctx);
	if (!err)
		return ctx;
	seccomp_release(ctx);
	return NULL;
}

int filter_build(struct filter *f, const struct trace_options *opts,
		 const struct nr_tables *nrs)
{
	scmp_filter_ctx ctx = NULL;
	struct stat st;
	int fd, err;

	/* libseccomp 2.5 uses memory that it could not get: end before, with a message */
	free(xmalloc(FILTER_MEMORY));
	for (const struct nr_table *table = nrs->of; table->arch; table++) {
		scmp_filter_ctx one = one_arch(table, opts);

		if (!ctx)
			ctx = one;
		else if (one && seccomp_merge(ctx, one))
			seccomp_release(one);
	}
	if (!ctx)
		return ENOSYS;
	/* copy the program out of libseccomp */
	fd = memfd_create("filter", MFD_CLOEXEC);
	err = fd < 0 ? errno : -seccomp_export_bpf(ctx, fd);
	if (!err && fstat(fd, &st))
		err = errno;
	if (!err) {
		f->len = (unsigned short)((size_t)st.st_size / sizeof(*f->insns));
		f->insns = xmalloc((size_t)st.st_size);
		if (pread(fd, f->insns, (size_t)st.st_size, 0) != st.st_size) {
			filter_free(f);
			err = EIO;
		}
	}
	if (fd >= 0)
		close(fd);
	seccomp_release(ctx);
	return err;
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
 * The program is assembled by hand because the tracee waits for it, several times if
 * it opens many events: libseccomp needs 0.7 ms for a similar one, this code
 * a few microseconds.
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

/*
 * Stop the call if the argument is a descriptor in one of the ranges.  low: offset of the low half
 * of an argument.
 */
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
	if (held) {
		/* stop the call if it replaces mappings */
		emit_load(&b, (uint32_t)offsetof(struct seccomp_data, args[3]) + low);
		emit(&b, BPF_JMP | BPF_JSET | BPF_K, MAP_FIXED, 0, 1);
		emit_return(&b, SECCOMP_RET_TRACE | FILTER_DATA);
	}
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
