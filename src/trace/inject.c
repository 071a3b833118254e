// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * In a syscall-enter-stop, -1 as the number of the call makes the kernel skip it and
 * leave the register of the result alone, on the architectures below.  So
 * nothing remains to be done at the exit, or if the tracer dies.
 */
#include "trace/inject.h"

#include <elf.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include "trace/ptrace.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

#if defined(__x86_64__)

static void skip_call(const struct call *c)
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

static void skip_call(const struct call *c)
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

/* 32-bit ARM tasks have other registers. */
bool inject_possible(const struct arch *arch)
{
	return arch == arch_native();
}

#else

static void skip_call(const struct call *c)
{
	(void)c;
}

bool inject_possible(const struct arch *arch)
{
	(void)arch;
	return false;
}

#endif

/* Write attr.size, as the kernel does with E2BIG; ignore failures, as it does. */
static void write_attr_size(const struct call *c)
{
	const struct field *size = &layout_perf_event_attr.fields[ATTR_SIZE];
	uint32_t value = c->inject.attr_size;
	struct iovec from = { &value, sizeof(value) };
	struct iovec to = { (void *)(uintptr_t)(c->args[0] + size->offset), sizeof(value) };

	(void)!process_vm_writev(c->tid, &from, 1, &to, 1, 0);
}

void inject_enter(const struct call *c)
{
	const struct inject *i = &c->inject;

	if (i->injected)
		skip_call(c);
	if (i->injected && i->attr_size)
		write_attr_size(c);
	if (i->signal)
		syscall(SYS_tkill, (long)c->tid, (long)i->signal);
}
