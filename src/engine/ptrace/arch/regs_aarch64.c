// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * arm64, and the 32-bit ARM programs that it runs, whose registers have another layout.  -1 as
 * the number of a call makes the kernel skip it; the result is what the register holds.
 * Kernel: arch/arm64/kernel/{ptrace,syscall,signal}.c.
 */
#ifdef __aarch64__

#include <elf.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "engine/ptrace/proc.h"
#include "engine/ptrace/regs.h"

#ifndef NT_ARM_SYSTEM_CALL
#define NT_ARM_SYSTEM_CALL 0x404
#endif

enum {
	SYSCALL_BYTES = 4,
	REGS_NR = 8,		/* register of the number: x8; in 32-bit programs r7 */
	REGS_NR_32 = 7,
	REGS_PC = 32,		/* after x0 to x30 and sp */
};

_Static_assert(sizeof(struct user_regs_struct) <= REGS_MAX, "REGS_MAX");

static bool regs_native(const struct regs *r)
{
	return r->len == sizeof(struct user_regs_struct);
}

static uint64_t regs_word(const struct regs *r, unsigned int i)
{
	uint64_t word = 0;
	size_t size = regs_native(r) ? 8 : 4;

	memcpy(&word, r->bytes + i * size, size);
	return word;
}

static void regs_set_word(struct regs *r, unsigned int i, uint64_t value)
{
	size_t size = regs_native(r) ? 8 : 4;

	memcpy(r->bytes + i * size, &value, size);
}

static bool regs_set_number(pid_t tid, int nr)
{
	struct iovec all = { &nr, sizeof(nr) };

	return !ptrace_do(PTRACE_SETREGSET, tid, NT_ARM_SYSTEM_CALL, (uintptr_t)&all);
}

bool regs_known(const struct arch *arch)
{
	return arch == &arch_aarch64 || arch == &arch_arm;
}

bool regs_get(pid_t tid, struct regs *r)
{
	struct iovec all = { r->bytes, sizeof(r->bytes) };

	if (ptrace_do(PTRACE_GETREGSET, tid, NT_PRSTATUS, (uintptr_t)&all))
		return false;
	r->len = all.iov_len;
	return true;
}

bool regs_set(pid_t tid, const struct regs *r)
{
	struct iovec all = { (void *)r->bytes, r->len };

	return ptrace_must(PTRACE_SETREGSET, tid, NT_PRSTATUS, (uintptr_t)&all);
}

bool regs_behind_call(pid_t tid, const struct regs *r)
{
	uint32_t code;

	/* svc, with any number in it */
	return regs_native(r) &&
	       remote_read(tid, regs_word(r, REGS_PC) - SYSCALL_BYTES, &code, sizeof(code)) ==
		       sizeof(code) &&
	       (code & 0xffe0001f) == 0xd4000001;
}

uint64_t regs_number(const struct regs *r)
{
	return regs_word(r, regs_native(r) ? REGS_NR : REGS_NR_32);
}

int64_t regs_result(const struct regs *r)
{
	uint64_t word = regs_word(r, 0);

	return regs_native(r) ? (int64_t)word : (int32_t)word;
}

bool regs_make_call(pid_t tid, const struct regs *r, long nr, const uint64_t args[6])
{
	struct regs changed = *r;

	regs_set_word(&changed, REGS_PC, regs_word(r, REGS_PC) - SYSCALL_BYTES);
	regs_set_word(&changed, REGS_NR, (uint64_t)nr);
	for (unsigned int i = 0; i < 6; i++)
		regs_set_word(&changed, i, args[i]);
	/* not in a call: no restart */
	return regs_set_number(tid, -1) && regs_set(tid, &changed);
}

void regs_skip_call(pid_t tid, int64_t result)
{
	if (regs_set_result(tid, result))
		regs_set_number(tid, -1);
}

void regs_end_skipped(pid_t tid, uint64_t nr)
{
	(void)tid, (void)nr; /* x8 has kept it */
}

bool regs_set_result(pid_t tid, int64_t result)
{
	struct regs r;

	if (!regs_get(tid, &r))
		return false;
	regs_set_word(&r, 0, (uint64_t)result);
	return regs_set(tid, &r);
}

bool regs_set_first(pid_t tid, const struct arch *arch, uint64_t value)
{
	(void)arch;
	return regs_set_result(tid, (int64_t)value); /* the same register */
}

void regs_restore_first(pid_t tid, const struct arch *arch, uint64_t value)
{
	(void)tid, (void)arch, (void)value; /* the result has replaced it */
}

#else
typedef int regs_aarch64_is_not_used;
#endif
