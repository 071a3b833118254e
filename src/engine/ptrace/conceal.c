// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "engine/ptrace/conceal.h"

#include <errno.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine/ptrace/proc.h"
#include "engine/ptrace/regs.h"
#include "engine/ptrace/task.h"

/* Clear CLONE_UNTRACED; return whether it was set and is cleared. */
static bool clear_untraced(struct task *task, const struct arch *arch, enum call_id id,
			   const uint64_t *args)
{
	bool memory = id == CALL_CLONE3;
	unsigned long flags = args[0], cleared;

	if (memory && remote_read_timeout(task->tid, args[0], &flags, sizeof(flags)) != sizeof(flags))
		return false;
	if (!(flags & CLONE_UNTRACED))
		return false;
	cleared = flags & ~(unsigned long)CLONE_UNTRACED;
	if (memory ? ptrace_do(PTRACE_POKEDATA, task->tid, args[0], cleared) :
		     !regs_set_first(task->tid, arch, cleared))
		return false;
	task->conceal.what = memory ? CONCEAL_MEMORY : CONCEAL_REGISTER;
	task->conceal.arch = arch;
	task->conceal.addr = args[0];
	task->conceal.word = flags;
	return true;
}

/* At the begin of a call: skip it, and let it return that. */
static void conceal_skip(struct task *task, uint64_t nr, int64_t result)
{
	regs_skip_call(task->tid, result);
	task->conceal.skipped = true;
	task->conceal.nr = nr;
	task->entered = true; /* its exit must stop, too */
}

bool conceal_enter(struct tracer *t, struct task *task, const struct ptrace_syscall_info *info)
{
	static const char *const allowed[] = {
		"read", "write", "exit", "rt_sigreturn", "sigreturn",
	};
	/* info.seccomp has the number and the arguments at the same offsets */
	const uint64_t nr = info->entry.nr;
	const uint64_t *args = (const uint64_t *)info->entry.args;
	const struct arch *arch = arch_find(info->arch, nr);
	const struct nr_table *table = arch ? nr_table(&t->nrs, arch) : NULL;
	const struct call_desc *desc = table ? nr_find(&t->nrs, arch, nr) : NULL;
	bool native = table && arch->word == sizeof(long), strict, prctl;

	if (task->conceal.strict) {
		for (size_t i = 0; table && i < sizeof(allowed) / sizeof(*allowed); i++)
			if (i != (native ? 4 : 3) && (int64_t)nr ==
			    seccomp_syscall_resolve_name_arch(table->token, allowed[i]))
				return false;
		/* the process; the kernel would kill the thread only */
		kill(task->pid, SIGKILL);
		return false;
	}
	if (!table)
		return false;
	if (desc && (desc->id == CALL_CLONE || desc->id == CALL_CLONE3))
		return clear_untraced(task, arch, desc->id, args);
	prctl = desc && desc->id == CALL_PRCTL;
	if (task->second_filter &&
	    (prctl ? (int)args[0] == PR_SET_SECCOMP && args[1] == SECCOMP_MODE_FILTER :
		     (int64_t)nr == table->seccomp && (int)args[0] == SECCOMP_SET_MODE_FILTER)) {
		task->second_filter->own = task->every_call = true;
		trace_recheck(t); /* other threads may get it, too */
	}
	strict = prctl ? (int)args[0] == PR_SET_SECCOMP && args[1] == SECCOMP_MODE_STRICT :
		 (int64_t)nr == table->seccomp && (int)args[0] == SECCOMP_SET_MODE_STRICT &&
		 !(unsigned int)args[1] && !args[2];
	if (!strict || !second_filter_is_alone(task))
		return false;
	conceal_skip(task, nr, 0);
	return task->conceal.strict = true;
}

void conceal_refuse(const struct tracer *t, struct task *task,
		    const struct ptrace_syscall_info *info)
{
	if (!task->filtered || info->seccomp.ret_data != t->mark)
		conceal_skip(task, info->entry.nr, -ENOSYS);
}

bool conceal_restart(struct tracer *t, const struct task *task, uint32_t audit)
{
	const struct arch *arch;
	struct regs regs;
	long nr;

	if (!task->interrupted || !regs_get(task->tid, &regs))
		return false;
	arch = arch_find(audit, regs_number(&regs));
	if ((int)regs_result(&regs) != -EINTR || !arch)
		return false;
	nr = (long)(regs_number(&regs) & ~arch->nr_bit);
	return (nr_is_interruptible(&t->nrs, arch, nr) || nr_may_time_out(&t->nrs, arch, nr)) &&
	       regs_set_result(task->tid, -(int64_t)ABI_ERESTARTNOHAND);
}

void conceal_undo(struct task *task)
{
	if (task->conceal.skipped)
		regs_end_skipped(task->tid, task->conceal.nr);
	task->conceal.skipped = false;
	if (task->conceal.what == CONCEAL_NOTHING)
		return;
	if (task->conceal.what == CONCEAL_MEMORY) /* perhaps unmapped by now */
		ptrace_do(PTRACE_POKEDATA, task->tid, task->conceal.addr, task->conceal.word);
	else
		regs_restore_first(task->tid, task->conceal.arch, task->conceal.word);
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

void inject_enter(struct task *task)
{
	const struct call *c = task->call;
	const struct inject *i = &c->inject;
	const struct field *size = &layout_perf_event_attr.fields[ATTR_SIZE];
	uint32_t value = i->attr_size;
	struct iovec from = { &value, sizeof(value) };
	struct iovec to = { (void *)(uintptr_t)(c->args[0] + size->offset), sizeof(value) };

	if (i->injected)
		conceal_skip(task, c->nr, i->ret);
	/* write attr.size, as the kernel does with E2BIG; ignore failures, as it does */
	if (i->injected && value)
		(void)!process_vm_writev(c->tid, &from, 1, &to, 1, 0);
	if (i->signal)
		syscall(SYS_tkill, (long)c->tid, (long)i->signal);
}
