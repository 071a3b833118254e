// SPDX-License-Identifier: LGPL-2.1-or-later
#include "trace/conceal.h"

#include <errno.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/user.h>

#include "trace/ptrace.h"
#include "trace/remote.h"
#include "trace/remote_read_timeout.h"
#include "trace/task.h"
#include "xlat/constants.h"

#ifdef __x86_64__

enum {
	NR_AT = offsetof(struct user_regs_struct, orig_rax),
	RESULT_AT = offsetof(struct user_regs_struct, rax),
};

/* Return the offset of the register that holds the first argument. */
static size_t first_arg_at(const struct arch *arch)
{
	return arch == &arch_x86 ? offsetof(struct user_regs_struct, rbx)
				 : offsetof(struct user_regs_struct, rdi);
}

static void conceal_change(struct task *task, int what, uintptr_t at, unsigned long was,
			   unsigned long now)
{
	unsigned int request = what == CONCEAL_MEMORY ? PTRACE_POKEDATA : PTRACE_POKEUSR;

	if (ptrace_do(request, task->tid, at, now))
		return;
	task->conceal.what = what;
	task->conceal.addr = at;
	task->conceal.word = was;
}

/* Clear CLONE_UNTRACED; return whether it was set and is cleared. */
static bool clear_untraced(struct task *task, const struct arch *arch, enum call_id id,
			   const uint64_t *args)
{
	unsigned long flags = args[0];
	uintptr_t at = first_arg_at(arch);
	int what = CONCEAL_REGISTER;

	if (id == CALL_CLONE3) {
		what = CONCEAL_MEMORY;
		at = args[0];
		if (remote_read_timeout(task->tid, at, &flags, sizeof(flags)) != sizeof(flags))
			return false;
	}
	if (!(flags & CLONE_UNTRACED))
		return false;
	conceal_change(task, what, at, flags, flags & ~(unsigned long)CLONE_UNTRACED);
	return task->conceal.what != CONCEAL_NOTHING;
}

static bool asks_for_strict(const struct nr_table *table, const struct call_desc *desc,
			    uint64_t nr, const uint64_t *args)
{
	if (desc && desc->id == CALL_PRCTL)
		return (int)args[0] == PR_SET_SECCOMP && args[1] == SECCOMP_MODE_STRICT;
	return (int64_t)nr == table->seccomp && (int)args[0] == SECCOMP_SET_MODE_STRICT &&
	       !(unsigned int)args[1] && !args[2];
}

/* Skip the call and let it return 0. */
static bool enter_strict(struct task *task)
{
	if (!second_filter_is_alone(task))
		return false;
	ptrace_must(PTRACE_POKEUSR, task->tid, NR_AT, (uintptr_t)-1);
	ptrace_must(PTRACE_POKEUSR, task->tid, RESULT_AT, 0);
	return task->conceal.strict = true;
}

/* Kill the process at any other call; the kernel would kill the thread only. */
static void enforce_strict(const struct task *task, const struct arch *arch, uint64_t nr)
{
	static const uint16_t allowed[][4] = {
		{ 0, 1, 60, 15 },	/* read, write, exit, rt_sigreturn */
		{ 3, 4, 1, 119 },	/* i386: read, write, exit, sigreturn */
	};

	for (size_t i = 0; i < 4; i++)
		if (nr == allowed[arch == &arch_x86][i])
			return;
	kill(task->pid, SIGKILL);
}

bool conceal_enter(struct tracer *t, struct task *task, const struct ptrace_syscall_info *info)
{
	/* info.seccomp has the number and the arguments at the same offsets */
	const uint64_t nr = info->entry.nr;
	const uint64_t *args = (const uint64_t *)info->entry.args;
	const struct arch *arch = arch_find(info->arch, nr);
	const struct nr_table *table = arch ? nr_table(&t->nrs, arch) : NULL;
	const struct call_desc *desc = table ? nr_find(&t->nrs, arch, nr) : NULL;

	if (task->conceal.strict)
		enforce_strict(task, arch, nr);
	else if (!table)
		return false;
	else if (desc && (desc->id == CALL_CLONE || desc->id == CALL_CLONE3))
		return clear_untraced(task, arch, desc->id, args);
	else if (asks_for_strict(table, desc, nr, args))
		return enter_strict(task);
	return false;
}

void conceal_refuse(const struct tracer *t, const struct task *task,
		    const struct ptrace_syscall_info *info)
{
	/* the register of the result already holds -ENOSYS */
	if (!task->filtered || info->seccomp.ret_data != t->mark)
		ptrace_must(PTRACE_POKEUSR, task->tid, NR_AT, (uintptr_t)-1);
}

bool conceal_restart(struct tracer *t, const struct task *task, uint32_t audit)
{
	struct user_regs_struct regs;
	const struct arch *arch;
	long nr;

	if (!task->interrupted || ptrace_do(PTRACE_GETREGS, task->tid, 0, (uintptr_t)&regs))
		return false;
	arch = arch_find(audit, regs.orig_rax);
	if ((int)regs.rax != -EINTR || !arch)
		return false;
	nr = (long)(regs.orig_rax & ~arch->nr_bit);
	return (nr_is_interruptible(&t->nrs, arch, nr) || nr_may_time_out(&t->nrs, arch, nr)) &&
	       !ptrace_do(PTRACE_POKEUSR, task->tid, RESULT_AT, (uintptr_t)-(int64_t)ABI_ERESTARTNOHAND);
}

#else

bool conceal_restart(struct tracer *t, const struct task *task, uint32_t audit)
{
	(void)t;
	(void)task;
	(void)audit;
	return false;
}

bool conceal_enter(struct tracer *t, struct task *task, const struct ptrace_syscall_info *info)
{
	(void)t;
	(void)task;
	(void)info;
	return false;
}

void conceal_refuse(const struct tracer *t, const struct task *task,
		    const struct ptrace_syscall_info *info)
{
	(void)t;
	(void)task;
	(void)info;
}

#endif

void conceal_undo(struct task *task)
{
	if (task->conceal.what == CONCEAL_NOTHING)
		return;
	if (task->conceal.what == CONCEAL_MEMORY) /* perhaps unmapped by now */
		ptrace_do(PTRACE_POKEDATA, task->tid, task->conceal.addr, task->conceal.word);
	else
		ptrace_must(PTRACE_POKEUSR, task->tid, task->conceal.addr, task->conceal.word);
	task->conceal.what = CONCEAL_NOTHING;
}

void conceal_fork(struct task *parent, struct task *child)
{
	bool memory = parent->conceal.what == CONCEAL_MEMORY;
	struct conceal conceal = parent->conceal;
	unsigned long word;

	conceal_undo(parent);
	/* memory that is restored already is shared with the parent */
	if (!memory || remote_read(child->tid, conceal.addr, &word, sizeof(word)) != sizeof(word) ||
	    word != conceal.word)
		child->conceal = conceal;
}
