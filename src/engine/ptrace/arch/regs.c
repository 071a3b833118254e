// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Registers of the processors that pevtrace knows; on others, programs are traced, but not
 * changed.  -1 as the number of a call makes each kernel skip it, with the result that the
 * register of the result holds.
 */
#include "engine/ptrace/regs.h"

#include <elf.h>
#include <string.h>
#include <sys/uio.h>
#if defined(__x86_64__) || defined(__aarch64__)
#include <sys/user.h>
#elif defined(__riscv)
#include <asm/ptrace.h>
#endif

#include "engine/ptrace/proc.h"

enum { SET_SYSCALL_INFO = 0x4212 };	/* PTRACE_SET_SYSCALL_INFO, Linux 6.16 */

/* Which of its registers a processor uses in calls, by their index as words. */
struct use {
	size_t bytes;			/* of all registers of a native program; 0: not known */
	uint8_t pc, result, args[6];
	uint8_t number, next_number;	/* of the last call, and of one that is made */
	uint8_t number_32, first_32;	/* number and first argument of 32-bit programs */
	uint8_t segment, segment_64;	/* the code segment, and its selector in 64-bit programs */
	struct {
		size_t bytes;
		uint32_t value, mask;
	} insn;				/* of a call */
	unsigned int number_set;	/* the register set that has the number alone; 0: none */
	bool keeps_first, keeps_number;	/* a program finds them in their registers after its call */
	bool copies_first;		/* the kernel has a copy of the first argument */
};

#define AT(member) (offsetof(struct user_regs_struct, member) / sizeof(uint64_t))

#if defined(__x86_64__)
/* x86-64, and the i386 and x32 programs that it runs, whose registers have the same layout. */
static const struct use use = {
	.bytes = sizeof(struct user_regs_struct), .pc = AT(rip), .result = AT(rax),
	.args = { AT(rdi), AT(rsi), AT(rdx), AT(r10), AT(r8), AT(r9) },
	.number = AT(orig_rax), .next_number = AT(rax), .number_32 = AT(orig_rax),
	.first_32 = AT(rbx), .segment = AT(cs), .segment_64 = 0x33,
	.insn = { 2, 0x050f, 0xffff }, .keeps_first = true,
};
#elif defined(__aarch64__)
/*
 * arm64, and the 32-bit ARM programs that it runs, whose registers have another layout.
 * Kernel: arch/arm64/kernel/{ptrace,syscall,signal}.c.
 */
static const struct use use = {
	.bytes = sizeof(struct user_regs_struct), .pc = AT(pc), .args = { 0, 1, 2, 3, 4, 5 },
	.number = 8, .next_number = 8, .number_32 = 7,
	.insn = { 4, 0xd4000001, 0xffe0001f },	/* svc, with any number in it */
	.number_set = 0x404,			/* NT_ARM_SYSTEM_CALL */
};
#elif defined(__riscv) && __riscv_xlen == 64
/* riscv64.  Kernel: arch/riscv/kernel/{ptrace,signal,traps}.c. */
static const struct use use = {
	.bytes = sizeof(struct user_regs_struct), .pc = AT(pc), .result = AT(a0),
	.args = { AT(a0), AT(a1), AT(a2), AT(a3), AT(a4), AT(a5) },
	.number = AT(a7), .next_number = AT(a7), .insn = { 4, 0x73, ~0U }, /* ecall */
	.keeps_number = true, .copies_first = true,
};
#else
static const struct use use;
#endif

static bool is_native(const struct regs *r)
{
	return r->len == use.bytes;
}

static uint64_t get_word(const struct regs *r, size_t i)
{
	uint64_t word = 0;
	size_t size = is_native(r) ? 8 : 4;

	memcpy(&word, r->bytes + i * size, size);
	return word;
}

static void set_word(struct regs *r, size_t i, uint64_t value)
{
	size_t size = is_native(r) ? 8 : 4;

	memcpy(r->bytes + i * size, &value, size);
}

bool regs_known(const struct arch *arch)
{
	return use.bytes && arch;
}

#ifdef __x86_64__
_Static_assert(sizeof(struct user_regs_struct) <= REGS_MAX, "REGS_MAX");

/* Not by PTRACE_GETREGSET, which has another layout for i386 programs. */
bool regs_get(pid_t tid, struct regs *r)
{
	r->len = use.bytes;
	return !ptrace_do(PTRACE_GETREGS, tid, 0, (uintptr_t)r->bytes);
}

bool regs_set(pid_t tid, const struct regs *r)
{
	return ptrace_must(PTRACE_SETREGS, tid, 0, (uintptr_t)r->bytes);
}

static bool poke_word(pid_t tid, size_t i, uint64_t value)
{
	return !ptrace_do(PTRACE_POKEUSR, tid, i * sizeof(value), value);
}
#else
bool regs_get(pid_t tid, struct regs *r)
{
	struct iovec all = { r->bytes, sizeof(r->bytes) };

	if (!use.bytes || ptrace_do(PTRACE_GETREGSET, tid, NT_PRSTATUS, (uintptr_t)&all))
		return false;
	r->len = all.iov_len;
	return is_native(r) || use.number_32;
}

bool regs_set(pid_t tid, const struct regs *r)
{
	struct iovec all = { (void *)r->bytes, r->len };

	return ptrace_must(PTRACE_SETREGSET, tid, NT_PRSTATUS, (uintptr_t)&all);
}

static bool poke_word(pid_t tid, size_t i, uint64_t value)
{
	struct regs r;

	if (!regs_get(tid, &r))
		return false;
	set_word(&r, i, value);
	return regs_set(tid, &r);
}
#endif

/* Let the kernel see no call, or another one than it has begun. */
static bool leave_call(pid_t tid)
{
	int none = -1;
	struct iovec all = { &none, sizeof(none) };

	if (!use.number_set)
		return poke_word(tid, use.number, (uint64_t)-1);
	return !ptrace_do(PTRACE_SETREGSET, tid, use.number_set, (uintptr_t)&all);
}

bool regs_behind_call(pid_t tid, const struct regs *r)
{
	uint32_t code = 0;

	return is_native(r) && (!use.segment_64 || get_word(r, use.segment) == use.segment_64) &&
	       remote_read(tid, get_word(r, use.pc) - use.insn.bytes, &code, use.insn.bytes) ==
		       use.insn.bytes &&
	       (code & use.insn.mask) == use.insn.value;
}

uint64_t regs_number(const struct regs *r)
{
	return get_word(r, is_native(r) ? use.number : use.number_32);
}

int64_t regs_result(const struct regs *r)
{
	uint64_t word = get_word(r, use.result);

	return is_native(r) ? (int64_t)word : (int32_t)word;
}

bool regs_make_call(pid_t tid, const struct regs *r, long nr, const uint64_t args[6])
{
	struct regs changed = *r;

	set_word(&changed, use.pc, get_word(r, use.pc) - use.insn.bytes);
	set_word(&changed, use.number, (uint64_t)-1); /* not in a call: no restart */
	set_word(&changed, use.next_number, (uint64_t)nr);
	for (size_t i = 0; i < 6; i++)
		set_word(&changed, use.args[i], args[i]);
	return (!use.number_set || leave_call(tid)) && regs_set(tid, &changed);
}

void regs_skip_call(pid_t tid, int64_t result)
{
	if (regs_set_result(tid, result))
		leave_call(tid);
}

void regs_end_skipped(pid_t tid, uint64_t nr)
{
	if (use.keeps_number)
		poke_word(tid, use.number, nr);
}

bool regs_set_result(pid_t tid, int64_t result)
{
	return poke_word(tid, use.result, (uint64_t)result);
}

bool regs_set_first(pid_t tid, const struct arch *arch, uint64_t value)
{
	struct ptrace_syscall_info info;

	if (!use.copies_first)
		return poke_word(tid, arch == &arch_x86 ? use.first_32 : use.args[0], value);
	ptrace_syscall_info(tid, &info);
	/* info.seccomp has the arguments at the same offsets */
	info.entry.args[0] = value;
	return info.op != PTRACE_SYSCALL_INFO_NONE &&
	       !ptrace_do(SET_SYSCALL_INFO, tid, sizeof(info), (uintptr_t)&info);
}

void regs_restore_first(pid_t tid, const struct arch *arch, uint64_t value)
{
	if (use.keeps_first)
		regs_set_first(tid, arch, value);
}
