// SPDX-License-Identifier: LGPL-2.1-or-later
/* Processors whose registers pevtrace does not know: programs are traced, but not changed. */
#if !defined(__x86_64__) && !defined(__aarch64__) && \
	!(defined(__riscv) && __riscv_xlen == 64)

#include "engine/ptrace/regs.h"

bool regs_known(const struct arch *arch)
{
	(void)arch;
	return false;
}

bool regs_get(pid_t tid, struct regs *r)
{
	(void)tid;
	r->len = 0;
	return false;
}

bool regs_set(pid_t tid, const struct regs *r)
{
	(void)tid, (void)r;
	return false;
}

bool regs_behind_call(pid_t tid, const struct regs *r)
{
	(void)tid, (void)r;
	return false;
}

uint64_t regs_number(const struct regs *r)
{
	(void)r;
	return (uint64_t)-1;
}

int64_t regs_result(const struct regs *r)
{
	(void)r;
	return 0;
}

bool regs_make_call(pid_t tid, const struct regs *r, long nr, const uint64_t args[6])
{
	(void)tid, (void)r, (void)nr, (void)args;
	return false;
}

void regs_skip_call(pid_t tid, int64_t result)
{
	(void)tid, (void)result;
}

void regs_end_skipped(pid_t tid, uint64_t nr)
{
	(void)tid, (void)nr;
}

bool regs_set_result(pid_t tid, int64_t result)
{
	(void)tid, (void)result;
	return false;
}

bool regs_set_first(pid_t tid, const struct arch *arch, uint64_t value)
{
	(void)tid, (void)arch, (void)value;
	return false;
}

void regs_restore_first(pid_t tid, const struct arch *arch, uint64_t value)
{
	(void)tid, (void)arch, (void)value;
}

#else
typedef int regs_other_is_not_used;
#endif
