// SPDX-License-Identifier: LGPL-2.1-or-later
/* What injection does to a call that begins. */
#include "engine/ptrace/inject.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine/ptrace/regs.h"
#include "engine/ptrace/task.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

bool inject_possible(const struct arch *arch)
{
	return regs_known(arch);
}

/* Write attr.size, as the kernel does with E2BIG; ignore failures, as it does. */
static void write_attr_size(const struct call *c)
{
	const struct field *size = &layout_perf_event_attr.fields[ATTR_SIZE];
	uint32_t value = c->inject.attr_size;
	struct iovec from = { &value, sizeof(value) };
	struct iovec to = { (void *)(uintptr_t)(c->args[0] + size->offset), sizeof(value) };

	(void)!process_vm_writev(c->tid, &from, 1, &to, 1, 0);
}

void inject_enter(struct task *task)
{
	const struct call *c = task->call;
	const struct inject *i = &c->inject;

	if (i->injected)
		conceal_skip(task, c->nr, i->ret);
	if (i->injected && i->attr_size)
		write_attr_size(c);
	if (i->signal)
		syscall(SYS_tkill, (long)c->tid, (long)i->signal);
}
