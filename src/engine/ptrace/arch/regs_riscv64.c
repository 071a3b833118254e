// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * riscv64.  -1 as the number of a call makes the kernel skip it; the result is what a0 holds.
 * The number is in a7, which a program finds unchanged after its call, so it is restored at the
 * exit.  The kernel takes the first argument from a copy of a0 that only a request of
 * Linux 6.16 can change.  Kernel: arch/riscv/kernel/{ptrace,signal,traps}.c.
 */
#if defined(__riscv) && __riscv_xlen == 64

#include <asm/ptrace.h>
#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>

#include "engine/ptrace/proc.h"
#include "engine/ptrace/regs.h"

enum {
	SYSCALL_BYTES = 4,
	SYSCALL_CODE = 0x73,	/* ecall */
	SET_SYSCALL_INFO = 0x4212, /* PTRACE_SET_SYSCALL_INFO */
};

_Static_assert(sizeof(struct user_regs_struct) <= REGS_MAX, "REGS_MAX");

static struct user_regs_struct regs_user(const struct regs *r)
{
	struct user_regs_struct u;

	memcpy(&u, r->bytes, sizeof(u));
	return u;
}

static bool regs_set_user(pid_t tid, const struct user_regs_struct *u)
{
	struct iovec all = { (void *)u, sizeof(*u) };

	return ptrace_must(PTRACE_SETREGSET, tid, NT_PRSTATUS, (uintptr_t)&all);
}

bool regs_known(const struct arch *arch)
{
	return arch == &arch_riscv64;
}

bool regs_get(pid_t tid, struct regs *r)
{
	struct iovec all = { r->bytes, sizeof(r->bytes) };

	if (ptrace_do(PTRACE_GETREGSET, tid, NT_PRSTATUS, (uintptr_t)&all))
		return false;
	r->len = all.iov_len;
	return r->len == sizeof(struct user_regs_struct); /* shorter: a 32-bit task */
}

bool regs_set(pid_t tid, const struct regs *r)
{
	const struct user_regs_struct u = regs_user(r);

	return regs_set_user(tid, &u);
}

bool regs_behind_call(pid_t tid, const struct regs *r)
{
	uint32_t code;

	return remote_read(tid, regs_user(r).pc - SYSCALL_BYTES, &code, sizeof(code)) ==
		       sizeof(code) &&
	       code == SYSCALL_CODE;
}

uint64_t regs_number(const struct regs *r)
{
	return regs_user(r).a7;
}

int64_t regs_result(const struct regs *r)
{
	return (int64_t)regs_user(r).a0;
}

bool regs_make_call(pid_t tid, const struct regs *r, long nr, const uint64_t args[6])
{
	struct user_regs_struct u = regs_user(r);

	u.pc -= SYSCALL_BYTES;
	u.a7 = (unsigned long)nr;
	u.a0 = args[0];
	u.a1 = args[1];
	u.a2 = args[2];
	u.a3 = args[3];
	u.a4 = args[4];
	u.a5 = args[5];
	return regs_set_user(tid, &u);
}

static bool regs_set_words(pid_t tid, const uint64_t *a0, const uint64_t *a7)
{
	struct user_regs_struct u;
	struct regs r;

	if (!regs_get(tid, &r))
		return false;
	u = regs_user(&r);
	u.a0 = a0 ? *a0 : u.a0;
	u.a7 = a7 ? *a7 : u.a7;
	return regs_set_user(tid, &u);
}

void regs_skip_call(pid_t tid, int64_t result)
{
	const uint64_t a0 = (uint64_t)result, a7 = (uint64_t)-1;

	regs_set_words(tid, &a0, &a7);
}

void regs_end_skipped(pid_t tid, uint64_t nr)
{
	regs_set_words(tid, NULL, &nr);
}

bool regs_set_result(pid_t tid, int64_t result)
{
	const uint64_t a0 = (uint64_t)result;

	return regs_set_words(tid, &a0, NULL);
}

bool regs_set_first(pid_t tid, const struct arch *arch, uint64_t value)
{
	struct ptrace_syscall_info info;

	(void)arch;
	ptrace_syscall_info(tid, &info);
	/* info.seccomp has the arguments at the same offsets */
	info.entry.args[0] = value;
	return info.op != PTRACE_SYSCALL_INFO_NONE &&
	       !ptrace_do(SET_SYSCALL_INFO, tid, sizeof(info), (uintptr_t)&info);
}

void regs_restore_first(pid_t tid, const struct arch *arch, uint64_t value)
{
	(void)tid, (void)arch, (void)value; /* the result has replaced it */
}

#else
typedef int regs_riscv64_is_not_used;
#endif
