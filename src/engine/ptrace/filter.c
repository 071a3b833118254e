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
#include "core/lib/die.h"
#include "xlat/tables.h"

enum {
	PERF_IOCTL_TYPE = '$' << 8, /* bits 8 to 15 of a request */
	IOCTL_TYPE_MASK = 0xff00,
	SHARED_MASK = MAP_SHARED | MAP_ANONYMOUS,
	FILTER_MEMORY = 1 << 20,	/* more than libseccomp allocates for all filters */
};

/* Values of the first argument, an int, for which a call is watched. */
static const struct {
	enum call_watch watch;
	uint32_t value;
} first_args[] = {
	{ WATCH_PRCTL, PR_TASK_PERF_EVENTS_DISABLE },
	{ WATCH_PRCTL, PR_TASK_PERF_EVENTS_ENABLE },
	{ WATCH_PTRACE, PTRACE_TRACEME },
	{ WATCH_PTRACE, PTRACE_ATTACH },
	{ WATCH_PTRACE, PTRACE_SEIZE },
};

enum { FIRST_ARGS = sizeof(first_args) / sizeof(*first_args) };

static int add_first_arg(scmp_filter_ctx ctx, int nr, uint32_t value)
{
	return seccomp_rule_add(ctx, SCMP_ACT_TRACE(FILTER_DATA), nr, 1,
				SCMP_A0(SCMP_CMP_MASKED_EQ, UINT32_MAX, value));
}

static int add_first_args(scmp_filter_ctx ctx, int nr, enum call_watch watch)
{
	int err = 0;

	for (size_t i = 0; i < FIRST_ARGS && !err; i++)
		if (first_args[i].watch == watch)
			err = add_first_arg(ctx, nr, first_args[i].value);
	for (size_t i = 0; watch == WATCH_BPF && i < xlat_bpf_cmd.n && !err; i++)
		if (bpf_part_of((uint32_t)xlat_bpf_cmd.entries[i].value))
			err = add_first_arg(ctx, nr, (uint32_t)xlat_bpf_cmd.entries[i].value);
	return err;
}

/* The flag by which a call unshares the descriptor table. */
struct unsharing {
	unsigned int arg;
	uint32_t bit;
};

static struct unsharing unsharing(enum call_id id)
{
	return id == CALL_CLOSE_RANGE ? (struct unsharing){ 2, CLOSE_RANGE_UNSHARE }
				      : (struct unsharing){ 0, CLONE_FILES };
}

/* Add the tests of one call. */
static int add_rules(scmp_filter_ctx ctx, int nr, enum call_id id,
		     enum call_watch watch)
{
	uint32_t trace = SCMP_ACT_TRACE(FILTER_DATA);
	struct unsharing u;

	switch (watch) {
	case WATCH_HELD:
	case WATCH_FD:
		return 0;
	case WATCH_ALWAYS:
		return seccomp_rule_add(ctx, trace, nr, 0);
	case WATCH_IOCTL:
		return seccomp_rule_add(ctx, trace, nr, 1,
					SCMP_A1(SCMP_CMP_MASKED_EQ,
						IOCTL_TYPE_MASK,
						PERF_IOCTL_TYPE));
	case WATCH_SHARED:
		return seccomp_rule_add(
			ctx, trace, nr, 1,
			SCMP_A3(SCMP_CMP_MASKED_EQ, SHARED_MASK, MAP_SHARED));
	case WATCH_PRCTL:
	case WATCH_PTRACE:
	case WATCH_BPF:
		return add_first_args(ctx, nr, watch);
	case WATCH_UNSHARE:
		u = unsharing(id);
		return seccomp_rule_add(ctx, trace, nr, 1,
					SCMP_CMP(u.arg, SCMP_CMP_MASKED_EQ, u.bit, u.bit));
	}
	return 0;
}

static bool first_arg_matches(enum call_watch watch, uint32_t value)
{
	for (size_t i = 0; i < FIRST_ARGS; i++)
		if (first_args[i].watch == watch && first_args[i].value == value)
			return true;
	return watch == WATCH_BPF && bpf_part_of(value);
}

bool filter_matches(const struct trace_options *opts, const struct call *call)
{
	enum call_watch watch = opts->watch[call->desc->id];
	struct unsharing u;

	switch (watch) {
	case WATCH_HELD:
	case WATCH_FD:
		return false;
	case WATCH_ALWAYS:
		return true;
	case WATCH_IOCTL:
		return (call->args[1] & IOCTL_TYPE_MASK) == PERF_IOCTL_TYPE;
	case WATCH_SHARED:
		return (call->args[3] & SHARED_MASK) == MAP_SHARED;
	case WATCH_PRCTL:
	case WATCH_PTRACE:
	case WATCH_BPF:
		return first_arg_matches(watch, (uint32_t)call->args[0]);
	case WATCH_UNSHARE:
		u = unsharing(call->desc->id);
		return call->args[u.arg] & u.bit;
	}
	return false;
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
		err = add_rules(ctx, nr, desc->id, watch);
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

static scmp_filter_ctx all_arches(const struct trace_options *opts,
				  const struct nr_tables *nrs)
{
	scmp_filter_ctx all = NULL;

	/* libseccomp 2.5 uses memory that it could not get: end before, with a message */
	free(xmalloc(FILTER_MEMORY));
	for (const struct nr_table *table = nrs->of; table->arch; table++) {
		scmp_filter_ctx one = one_arch(table, opts);

		if (!one)
			continue;
		if (!all)
			all = one;
		else if (seccomp_merge(all, one))
			seccomp_release(one);
	}
	return all;
}

/* Copy the program out of libseccomp. */
static int filter_export(struct filter *f, scmp_filter_ctx ctx, int fd)
{
	struct stat st;
	int err = -seccomp_export_bpf(ctx, fd);
	ssize_t n;

	if (err)
		return err;
	if (fstat(fd, &st))
		return errno;
	f->len = (unsigned short)((size_t)st.st_size / sizeof(*f->insns));
	f->insns = xmalloc((size_t)st.st_size);
	n = pread(fd, f->insns, (size_t)st.st_size, 0);
	if (n == st.st_size)
		return 0;
	filter_free(f);
	return EIO;
}

int filter_build(struct filter *f, const struct trace_options *opts,
		 const struct nr_tables *nrs)
{
	scmp_filter_ctx ctx = all_arches(opts, nrs);
	int fd, err;

	if (!ctx)
		return ENOSYS;
	fd = memfd_create("filter", MFD_CLOEXEC);
	if (fd < 0) {
		err = errno;
	} else {
		err = filter_export(f, ctx, fd);
		close(fd);
	}
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
