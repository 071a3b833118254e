// SPDX-License-Identifier: LGPL-2.1-or-later
/* The seccomp program, run by hand: it must agree with filter_matches(). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "engine/ptrace/filter.h"
#include "engine/ptrace/nr.h"

enum { OURS = SECCOMP_RET_TRACE | FILTER_DATA };

static uint32_t load(const struct seccomp_data *data, uint32_t offset)
{
	uint32_t word;

	assert_true(offset + sizeof(word) <= sizeof(*data));
	memcpy(&word, (const char *)data + offset, sizeof(word));
	return word;
}

static bool holds(const struct sock_filter *i, uint32_t acc)
{
	switch (BPF_OP(i->code)) {
	case BPF_JEQ:
		return acc == i->k;
	case BPF_JGT:
		return acc > i->k;
	case BPF_JGE:
		return acc >= i->k;
	case BPF_JSET:
		return acc & i->k;
	}
	fail_msg("jump 0x%x", i->code);
	return false;
}

/* What the kernel would do with the call. */
static uint32_t run(const struct filter *f, const struct seccomp_data *data)
{
	uint32_t acc = 0;

	for (size_t at = 0; at < f->len; at++) {
		const struct sock_filter *i = &f->insns[at];

		switch (BPF_CLASS(i->code)) {
		case BPF_LD:
			assert_int_equal(i->code, BPF_LD | BPF_W | BPF_ABS);
			acc = load(data, i->k);
			break;
		case BPF_ALU:
			assert_int_equal(i->code, BPF_ALU | BPF_AND | BPF_K);
			acc &= i->k;
			break;
		case BPF_JMP:
			if (BPF_OP(i->code) == BPF_JA)
				at += i->k;
			else
				at += holds(i, acc) ? i->jt : i->jf;
			break;
		case BPF_RET:
			return i->k;
		default:
			fail_msg("instruction 0x%x", i->code);
		}
	}
	fail_msg("ran off the end");
	return 0;
}

static struct trace_options options(void)
{
	struct trace_options opts = { .no_seccomp = false };

	for (size_t i = 0; i < CALL_COUNT; i++)
		opts.watch[i] = call_descs[i].watch;
	return opts;
}

/* Values that meet, just miss and hide (high bits) the conditions. */
static const uint64_t values[] = {
	0,
	1,
	2,
	3,
	5,
	6,
	28,
	0x70000001c,
	31,
	32,
	33,
	0x21,
	0x20,
	0x22,
	0x8001,
	0x2400,
	0x2401,
	0x5401,
	0x12400,
	0xc0082407,
	0x40042408,
	0x25ff,
	0x2300,
	0xffffffff00000001,
	0xdeadbeef0000001f,
	0x100000020,
	0xffffffff,
	0xabcd000000002402,
	UINT64_MAX,
};
enum { NVALUES = sizeof(values) / sizeof(*values) };

/* Return whether conceal.h changes the call. */
static bool is_concealed(enum call_id id, uint64_t first)
{
	switch (id) {
	case CALL_CLONE:
		return first & CLONE_UNTRACED;
	case CALL_CLONE3:
		return true;
	case CALL_PRCTL:
		return (uint32_t)first == PR_SET_SECCOMP;
	default:
		return false;
	}
}

static void try_call(const struct filter *f, const struct trace_options *opts,
		     const struct arch *arch, const struct call_desc *desc,
		     uint64_t nr)
{
	for (size_t i = 0; i < 4 * NVALUES; i++) {
		struct call call = { .arch = arch, .desc = desc };
		struct seccomp_data data = { .arch = arch->audit,
					     .nr = (int)nr };
		bool want;

		call.args[i / NVALUES] = values[i % NVALUES];
		if (arch->word == 4)
			call.args[i / NVALUES] &= UINT32_MAX;
		memcpy(data.args, call.args, sizeof(data.args));
		want = filter_matches(opts, &call) && !opts->unwanted[desc->id];
		if (arch->old_mmap && desc->id == CALL_MMAP)
			want = true;
		want |= is_concealed(desc->id, call.args[0]);
		if (run(f, &data) != (want ? OURS : SECCOMP_RET_ALLOW))
			fail_msg("%s %s: argument %zu is 0x%llx, wanted %d",
				 arch->name, desc->name, i / NVALUES,
				 (unsigned long long)values[i % NVALUES], want);
	}
}

/* Return whether it is the ABI of a kernel whose filter can be run here. */
static bool is_kernel(const struct arch *a)
{
	return !a->kernel && a != &arch_unknown && a->big_endian == arch_native()->big_endian;
}

/* Return how many calls were tried. */
static size_t try_filter(const struct trace_options *opts, const struct nr_tables *nrs)
{
	struct filter f = { 0 };
	size_t calls = 0;

	filter_build(&f, opts, nrs);
	assert_true(f.len >= 1 && f.len <= BPF_MAXINSNS);
	for (const struct nr_table *t = nrs->of; t->arch; t++)
		for (uint64_t nr = 0; nr < NR_CALLS; nr++) {
			struct seccomp_data data = {
				.arch = t->arch->audit,
				.nr = (int)(nr | t->arch->nr_bit),
			};

			if (t->desc[nr]) {
				calls++;
				try_call(&f, opts, t->arch, t->desc[nr],
					 nr | t->arch->nr_bit);
			} else {
				uint32_t mode = data.nr == t->seccomp ? OURS : SECCOMP_RET_ALLOW;

				assert_int_equal(SECCOMP_SET_MODE_STRICT, 0);
				assert_int_equal(run(&f, &data), mode);
				data.args[0] = SECCOMP_SET_MODE_FILTER;
				assert_int_equal(run(&f, &data), mode);
				data.args[0] = SECCOMP_GET_ACTION_AVAIL;
				assert_int_equal(run(&f, &data), SECCOMP_RET_ALLOW);
			}
		}
	/* An architecture that we know nothing of runs freely. */
	assert_int_equal(run(&f, &(struct seccomp_data){ .arch = 0x1234 }),
			 SECCOMP_RET_ALLOW);
	filter_free(&f);
	return calls;
}

static void try_all(const struct trace_options *opts)
{
	for (const struct arch *const *a = arches; *a; a++) {
		struct nr_tables nrs;

		if (!is_kernel(*a))
			continue;
		nr_build(&nrs, *a);
		assert_true(try_filter(opts, &nrs) > 30);
		nr_free(&nrs);
	}
}

static bool in_ranges(uint64_t fd, const struct fd_range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((uint32_t)fd >= ranges[i].first && (uint32_t)fd <= ranges[i].last)
			return true;
	return false;
}

/* The second program, at every call with every value as each argument. */
static void try_close_on(const struct arch *native, bool held, const struct fd_range *ranges,
			 size_t nranges)
{
	struct trace_options opts = options();
	struct filter f = { 0 };
	struct nr_tables nrs;

	opts.unwanted[CALL_DUP] = true;
	nr_build(&nrs, native);
	assert_true(second_filter_build(&f, &opts, &nrs, ranges, nranges, held));
	for (const struct nr_table *t = nrs.of; t->arch; t++)
		for (size_t at = 0; at < NR_CALLS * 6 * NVALUES; at++) {
			size_t nr = at / (6 * NVALUES), arg = at / NVALUES % 6;
			const struct call_desc *desc = t->desc[nr];
			struct seccomp_data data = {
				.arch = t->arch->audit,
				.nr = (int)(nr | t->arch->nr_bit),
			};
			bool want = false;

			data.args[arg] = values[at % NVALUES];
			if (desc && !opts.unwanted[desc->id])
				switch (opts.watch[desc->id]) {
				case WATCH_HELD:
				case WATCH_UNSHARE:
					want = held;
					break;
				case WATCH_FD:
				case WATCH_IOCTL:
					want = in_ranges(data.args[0], ranges, nranges);
					break;
				case WATCH_SHARED:
					want = in_ranges(data.args[4], ranges, nranges) ||
					       (held && data.args[3] & MAP_FIXED);
					break;
				default:
					break;
				}
			assert_int_equal(run(&f, &data), want ? OURS : SECCOMP_RET_ALLOW);
		}
	assert_int_equal(run(&f, &(struct seccomp_data){ .arch = 0x1234 }),
			 SECCOMP_RET_ALLOW);
	filter_free(&f);
	nr_free(&nrs);
}

static void try_close(bool held, const struct fd_range *ranges, size_t nranges)
{
	for (const struct arch *const *a = arches; *a; a++)
		if (is_kernel(*a))
			try_close_on(*a, held, ranges, nranges);
}

static void test_close(void **state)
{
	static const struct fd_range ranges[] = { { 3, 3 }, { 31, 32 }, { 0x8001, 0x8100 } };

	(void)state;
	try_close(true, ranges, 3);
	try_close(false, ranges + 1, 1);
	try_close(true, NULL, 0);
}

/* Of bpf(2), the commands stop that may concern an event; programs load maps without stops. */
static void test_bpf(void **state)
{
	static const struct {
		uint64_t cmd;
		bool stops;
	} commands[] = {
		{ 0, false }, { 1, false }, { 2, false }, { 5, false }, { 6, true },
		{ 7, false }, { 15, false }, { 20, true }, { 28, true }, { 29, true },
		{ 30, false }, { 34, true }, { 99, false },
	};
	struct trace_options opts = options();
	struct filter f = { 0 };
	struct nr_tables nrs;

	(void)state;
	nr_build(&nrs, arch_native());
	filter_build(&f, &opts, &nrs);
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		struct seccomp_data data = {
			.arch = arch_native()->audit, .nr = SYS_bpf, .args = { commands[i].cmd },
		};

		assert_int_equal(run(&f, &data),
				 commands[i].stops ? OURS : SECCOMP_RET_ALLOW);
	}
	filter_free(&f);
	nr_free(&nrs);
}

/* A program that the kernel would refuse is not made. */
static void test_close_too_long(void **state)
{
	struct trace_options opts = options();
	struct fd_range *ranges = calloc(BPF_MAXINSNS, sizeof(*ranges));
	struct filter f = { 0 };
	struct nr_tables nrs;

	(void)state;
	nr_build(&nrs, arch_native());
	assert_false(second_filter_build(&f, &opts, &nrs, ranges, BPF_MAXINSNS, true));
	assert_null(f.insns);
	nr_free(&nrs);
	free(ranges);
}

static void test_agrees(void **state)
{
	struct trace_options opts = options();

	(void)state;
	try_all(&opts);
}

static void test_unwanted(void **state)
{
	struct trace_options opts = options();

	(void)state;
	opts.unwanted[CALL_IOCTL] = true;
	opts.unwanted[CALL_PERF_EVENT_OPEN] = true;
	try_all(&opts);
}

static void test_all_watched(void **state)
{
	struct trace_options opts = options();

	(void)state;
	for (size_t i = 0; i < CALL_COUNT; i++)
		if (opts.watch[i] == WATCH_HELD)
			opts.watch[i] = WATCH_ALWAYS;
	try_all(&opts);
}

/* Numbers that are the kernel's own, whatever libseccomp says. */
static void test_numbers(void **state)
{
	static const struct {
		const struct arch *arch;
		uint64_t nr;
		enum call_id id;
	} known[] = {
		{ &arch_x86_64, 298, CALL_PERF_EVENT_OPEN },
		{ &arch_x86_64, 16, CALL_IOCTL },
		{ &arch_x86_64, 9, CALL_MMAP },
		{ &arch_x32, 0x40000000 + 298, CALL_PERF_EVENT_OPEN },
		{ &arch_x32, 0x40000000 + 514, CALL_IOCTL },
		{ &arch_x86, 336, CALL_PERF_EVENT_OPEN },
		{ &arch_x86, 90, CALL_MMAP },
		{ &arch_x86, 192, CALL_MMAP2 },
		{ &arch_x86, 82, CALL_SELECT },
		{ &arch_aarch64, 241, CALL_PERF_EVENT_OPEN },
		{ &arch_aarch64, 29, CALL_IOCTL },
		{ &arch_arm, 364, CALL_PERF_EVENT_OPEN },
		{ &arch_arm, 192, CALL_MMAP2 },
		{ &arch_riscv64, 241, CALL_PERF_EVENT_OPEN },
		{ &arch_riscv64, 222, CALL_MMAP },
		{ &arch_ppc64le, 319, CALL_PERF_EVENT_OPEN },
		{ &arch_s390x, 331, CALL_PERF_EVENT_OPEN },
		{ &arch_s390x, 90, CALL_MMAP },
	};
	struct nr_tables nrs;

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		const struct arch *arch = known[i].arch;
		const struct call_desc *desc;

		nr_build(&nrs, arch->kernel ? arch->kernel : arch);
		desc = nr_find(&nrs, arch, known[i].nr);
		assert_non_null(desc);
		assert_int_equal(desc->id, known[i].id);
		nr_free(&nrs);
	}
	nr_build(&nrs, &arch_x86_64);
	assert_null(nr_find(&nrs, &arch_x86_64, 39));
	assert_null(nr_find(&nrs, &arch_x86_64, 1 << 20));
	nr_free(&nrs);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_agrees),
		cmocka_unit_test(test_bpf),
		cmocka_unit_test(test_unwanted),
		cmocka_unit_test(test_all_watched),
		cmocka_unit_test(test_close),
		cmocka_unit_test(test_close_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
