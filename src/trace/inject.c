// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A task that stands at the beginning of a call gets -1 for the call's number,
 * which makes the kernel pass it over, and the result in the register that has
 * it at the return: that is true of the architectures below.  So nothing is left
 * to be done at the return, and a tracer that goes away does no harm.
 */
#include "trace/inject.h"

#include <elf.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include "trace/task.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

#if defined(__x86_64__)

/* One that was killed needs no answer. */
static void answer(const struct call *c)
{
	ptrace_must(PTRACE_POKEUSR, c->tid, offsetof(struct user_regs_struct, rax),
		    (uintptr_t)c->inject.ret);
	ptrace_must(PTRACE_POKEUSR, c->tid, offsetof(struct user_regs_struct, orig_rax),
		    (uintptr_t)-1);
}

bool inject_possible(const struct arch *arch)
{
	return arch;
}

#elif defined(__aarch64__)

#ifndef NT_ARM_SYSTEM_CALL
#define NT_ARM_SYSTEM_CALL 0x404
#endif

static void answer(const struct call *c)
{
	struct user_regs_struct regs;
	struct iovec all = { &regs, sizeof(regs) };
	int none = -1;
	struct iovec nr = { &none, sizeof(none) };

	if (!ptrace_must(PTRACE_GETREGSET, c->tid, NT_PRSTATUS, (uintptr_t)&all))
		return;
	regs.regs[0] = (unsigned long long)c->inject.ret;
	ptrace_must(PTRACE_SETREGSET, c->tid, NT_PRSTATUS, (uintptr_t)&all);
	ptrace_must(PTRACE_SETREGSET, c->tid, NT_ARM_SYSTEM_CALL, (uintptr_t)&nr);
}

/* A 32-bit ARM task has other registers. */
bool inject_possible(const struct arch *arch)
{
	return arch == arch_native();
}

#else

static void answer(const struct call *c)
{
	(void)c;
}

bool inject_possible(const struct arch *arch)
{
	(void)arch;
	return false;
}

#endif

/* As the kernel does with E2BIG: what cannot be written is left. */
static void write_size(const struct call *c)
{
	const struct field *size = &layout_perf_event_attr.fields[ATTR_SIZE];
	uint32_t value = c->inject.attr_size;
	struct iovec from = { &value, sizeof(value) };
	struct iovec to = { (void *)(uintptr_t)(c->args[0] + size->offset), sizeof(value) };

	(void)!process_vm_writev(c->tid, &from, 1, &to, 1, 0);
}

void inject_begin(const struct call *c)
{
	const struct inject *t = &c->inject;

	if (t->injected)
		answer(c);
	if (t->injected && t->attr_size)
		write_size(c);
	if (t->signal)
		syscall(SYS_tkill, (long)c->tid, (long)t->signal);
}
