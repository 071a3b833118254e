// SPDX-License-Identifier: LGPL-2.1-or-later
#include "trace/conceal.h"

#include <errno.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/user.h>

#include "trace/remote.h"
#include "trace/task.h"

#ifdef __x86_64__

enum {
	NR_AT = offsetof(struct user_regs_struct, orig_rax),
	RESULT_AT = offsetof(struct user_regs_struct, rax),
};

/* Where the first argument of a call is. */
static size_t first_arg_at(const struct arch *arch)
{
	return arch == &arch_x86 ? offsetof(struct user_regs_struct, rbx)
				 : offsetof(struct user_regs_struct, rdi);
}

static void change(struct task *task, int what, uintptr_t at, unsigned long was,
		   unsigned long now)
{
	unsigned int request = what == VEIL_MEMORY ? PTRACE_POKEDATA : PTRACE_POKEUSR;

	if (ptrace_do(request, task->tid, at, now))
		return;
	task->veil.what = what;
	task->veil.addr = at;
	task->veil.word = was;
}

/* The child gets a tracer all the same: it has the filter, too. */
static bool make_traced(struct task *task, const struct arch *arch, enum call_id id,
			const uint64_t *args)
{
	unsigned long flags = args[0];
	uintptr_t at = first_arg_at(arch);
	int what = VEIL_REGISTER;

	if (id == CALL_CLONE3) {
		what = VEIL_MEMORY;
		at = args[0];
		if (remote_read_warily(task->tid, at, &flags, sizeof(flags)) != sizeof(flags))
			return false;
	}
	if (!(flags & CLONE_UNTRACED))
		return false;
	change(task, what, at, flags, flags & ~(unsigned long)CLONE_UNTRACED);
	return task->veil.what != VEIL_NOTHING;
}

static bool asks_for_strict(const struct nr_table *table, const struct call_desc *desc,
			    uint64_t nr, const uint64_t *args)
{
	if (desc && desc->id == CALL_PRCTL)
		return (int)args[0] == PR_SET_SECCOMP && args[1] == SECCOMP_MODE_STRICT;
	return (int64_t)nr == table->seccomp && (int)args[0] == SECCOMP_SET_MODE_STRICT &&
	       !(unsigned int)args[1] && !args[2];
}

/* The call is not made, and returns 0. */
static bool enter_strict(struct task *task)
{
	if (!second_filter_is_alone(task))
		return false;
	ptrace_must(PTRACE_POKEUSR, task->tid, NR_AT, (uintptr_t)-1);
	ptrace_must(PTRACE_POKEUSR, task->tid, RESULT_AT, 0);
	return task->veil.strict = true;
}

/* As the kernel does; it kills the thread alone, though. */
static void enforce_strict(const struct task *task, const struct arch *arch, uint64_t nr)
{
	static const uint16_t allowed[][4] = {
		{ 0, 1, 60, 15 },	/* read, write, exit, rt_sigreturn */
		{ 3, 4, 1, 119 },	/* those of i386, with sigreturn */
	};

	for (size_t i = 0; i < 4; i++)
		if (nr == allowed[arch == &arch_x86][i])
			return;
	kill(task->pid, SIGKILL);
}

bool conceal_enter(struct tracer *t, struct task *task, const struct ptrace_syscall_info *info)
{
	/* both kinds of stops have number and arguments in the same place */
	const uint64_t nr = info->entry.nr;
	const uint64_t *args = (const uint64_t *)info->entry.args;
	const struct arch *arch = arch_find(info->arch, nr);
	const struct nr_table *table = arch ? nr_table(&t->nrs, arch) : NULL;
	const struct call_desc *desc = table ? nr_find(&t->nrs, arch, nr) : NULL;

	if (task->veil.strict)
		enforce_strict(task, arch, nr);
	else if (!table)
		return false;
	else if (desc && (desc->id == CALL_CLONE || desc->id == CALL_CLONE3))
		return make_traced(task, arch, desc->id, args);
	else if (asks_for_strict(table, desc, nr, args))
		return enter_strict(task);
	return false;
}

void conceal_refuse(const struct tracer *t, const struct task *task,
		 const struct ptrace_syscall_info *info)
{
	/* what it returns is ENOSYS then, already */
	if (!task->filtered || info->seccomp.ret_data != t->mark)
		ptrace_must(PTRACE_POKEUSR, task->tid, NR_AT, (uintptr_t)-1);
}

bool conceal_restart(struct tracer *t, const struct task *task, uint32_t audit)
{
	enum { ERESTARTNOHAND = 514 }; /* what the kernel has where no handler ran */
	struct user_regs_struct regs;
	const struct arch *arch;
	long nr;

	if (!task->asked || ptrace_do(PTRACE_GETREGS, task->tid, 0, (uintptr_t)&regs))
		return false;
	arch = arch_find(audit, regs.orig_rax);
	if ((int)regs.rax != -EINTR || !arch)
		return false;
	nr = (long)(regs.orig_rax & ~arch->nr_bit);
	return (nr_is_fragile(&t->nrs, arch, nr) || nr_may_time_out(&t->nrs, arch, nr)) &&
	       !ptrace_do(PTRACE_POKEUSR, task->tid, RESULT_AT, (uintptr_t)-ERESTARTNOHAND);
}

#else /* elsewhere these differences stay */

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

void conceal_lift(struct task *task)
{
	if (task->veil.what == VEIL_NOTHING)
		return;
	if (task->veil.what == VEIL_MEMORY) /* which may be gone by now */
		ptrace_do(PTRACE_POKEDATA, task->tid, task->veil.addr, task->veil.word);
	else
		ptrace_must(PTRACE_POKEUSR, task->tid, task->veil.addr, task->veil.word);
	task->veil.what = VEIL_NOTHING;
}

void conceal_pass_on(struct task *parent, struct task *child)
{
	bool memory = parent->veil.what == VEIL_MEMORY;
	struct conceal veil = parent->veil;
	unsigned long word;

	conceal_lift(parent);
	/* what is put back already was the parent's as well */
	if (!memory || remote_read(child->tid, veil.addr, &word, sizeof(word)) != sizeof(word) ||
	    word != veil.word)
		child->veil = veil;
}
