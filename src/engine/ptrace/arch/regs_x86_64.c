// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * x86-64, and the i386 and x32 programs that it runs.  -1 as the number of a call makes the
 * kernel skip it and leave the register of the result alone.
 */
#ifdef __x86_64__

#include <string.h>
#include <sys/user.h>

#include "engine/ptrace/proc.h"
#include "engine/ptrace/regs.h"

enum {
	SYSCALL_BYTES = 2,	/* 0f 05 */
	CODE_64BIT = 0x33,	/* code segment selector of 64-bit programs */
};

_Static_assert(sizeof(struct user_regs_struct) <= REGS_MAX, "REGS_MAX");

static struct user_regs_struct regs_user(const struct regs *r)
{
	struct user_regs_struct u;

	memcpy(&u, r->bytes, sizeof(u));
	return u;
}

static bool regs_poke(pid_t tid, size_t at, uint64_t value)
{
	return !ptrace_do(PTRACE_POKEUSR, tid, at, value);
}

bool regs_known(const struct arch *arch)
{
	return arch;
}

bool regs_get(pid_t tid, struct regs *r)
{
	r->len = sizeof(struct user_regs_struct);
	return !ptrace_do(PTRACE_GETREGS, tid, 0, (uintptr_t)r->bytes);
}

bool regs_set(pid_t tid, const struct regs *r)
{
	return ptrace_must(PTRACE_SETREGS, tid, 0, (uintptr_t)r->bytes);
}

bool regs_behind_call(pid_t tid, const struct regs *r)
{
	uint8_t code[SYSCALL_BYTES];

	return regs_user(r).cs == CODE_64BIT &&
	       remote_read(tid, regs_user(r).rip - SYSCALL_BYTES, code, sizeof(code)) ==
		       sizeof(code) &&
	       code[0] == 0x0f && code[1] == 0x05;
}

uint64_t regs_number(const struct regs *r)
{
	return regs_user(r).orig_rax;
}

int64_t regs_result(const struct regs *r)
{
	return (int64_t)regs_user(r).rax;
}

bool regs_make_call(pid_t tid, const struct regs *r, long nr, const uint64_t args[6])
{
	struct user_regs_struct u = regs_user(r);

	u.rip -= SYSCALL_BYTES;
	u.orig_rax = (unsigned long long)-1; /* not in a call: no restart */
	u.rax = (unsigned long long)nr;
	u.rdi = args[0];
	u.rsi = args[1];
	u.rdx = args[2];
	u.r10 = args[3];
	u.r8 = args[4];
	u.r9 = args[5];
	return !ptrace_do(PTRACE_SETREGS, tid, 0, (uintptr_t)&u);
}

void regs_skip_call(pid_t tid, int64_t result)
{
	if (regs_set_result(tid, result))
		regs_poke(tid, offsetof(struct user_regs_struct, orig_rax), (uint64_t)-1);
}

void regs_end_skipped(pid_t tid, uint64_t nr)
{
	(void)tid, (void)nr; /* no register of the program has it */
}

bool regs_set_result(pid_t tid, int64_t result)
{
	return regs_poke(tid, offsetof(struct user_regs_struct, rax), (uint64_t)result);
}

bool regs_set_first(pid_t tid, const struct arch *arch, uint64_t value)
{
	return regs_poke(tid, arch == &arch_x86 ? offsetof(struct user_regs_struct, rbx) :
						  offsetof(struct user_regs_struct, rdi), value);
}

void regs_restore_first(pid_t tid, const struct arch *arch, uint64_t value)
{
	regs_set_first(tid, arch, value);
}

#else
typedef int regs_x86_64_is_not_used;
#endif
