// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/second_filter_install.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "engine/ptrace/remote_call.h"
#include "engine/ptrace/second_filter.h"
#include "engine/ptrace/task.h"

static bool copy_out(pid_t tid, uint64_t addr, const void *data, size_t len)
{
	struct iovec local = { (void *)data, len };
	struct iovec remote = { (void *)(uintptr_t)addr, len };

	return process_vm_writev(tid, &local, 1, &remote, 1, 0) == (ssize_t)len;
}

static bool install_at(struct remote_call *r, uint64_t page, const struct filter *f)
{
	const uint64_t flags = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
	const uint64_t args[6] = { SECCOMP_SET_MODE_FILTER, flags, page };
	const struct sock_fprog prog = {
		f->len, (struct sock_filter *)(uintptr_t)(page + sizeof(prog)),
	};
	int64_t ret;

	return copy_out(r->tid, page, &prog, sizeof(prog)) &&
	       copy_out(r->tid, page + sizeof(prog), f->insns, f->len * sizeof(*f->insns)) &&
	       remote_call(r, SYS_seccomp, args, &ret) && !ret;
}

/*
 * Install the filter from a new mapping: the memory below a small stack may hold
 * another thread's data.
 */
/* Where only mmap2 exists, its offset of 0 is the same. */
#ifdef SYS_mmap2
enum { NR_MMAP = SYS_mmap2 };
#else
enum { NR_MMAP = SYS_mmap };
#endif

static bool install(struct remote_call *r, const struct filter *f)
{
	const uint64_t size = sizeof(struct sock_fprog) + f->len * sizeof(*f->insns);
	const uint64_t map[6] = {
		0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1,
	};
	int64_t page, ret;
	bool ok;

	if (!remote_call(r, NR_MMAP, map, &page) || (page < 0 && page > -4096))
		return false;
	ok = install_at(r, (uint64_t)page, f);
	if (!r->gone)
		remote_call(r, SYS_munmap, (uint64_t[6]){ (uint64_t)page, size }, &ret);
	return ok;
}

/* Return whether remote_call_begin() is possible: no restart, and no signal mask to restore. */
static bool call_is_over(const struct call *c)
{
	return !c->failed && c->arch == arch_native() && c->desc->class != CLASS_POLL &&
	       c->desc->class != CLASS_PROCESS;
}

bool second_filter_extend(struct tracer *t, struct task *task)
{
	struct second_filter *state = task->second_filter;
	struct filter f = { 0 };
	struct remote_call r;

	if (!state || state->refused || !call_is_over(task->call) ||
	    second_filter_covers(t, task) ||
	    t->ops->close_watch(t->ctx, task->tid) != TRACE_CLOSE)
		return true;
	/* The program's own filters might kill it for calls that it never makes itself. */
	state->refused = !second_filter_is_alone(task) ||
			 !second_filter_build(&f, t->opts, &t->nrs, t->ranges + state->ranges,
					      t->nranges - state->ranges, !state->held) ||
			 !remote_call_begin(&r, task->tid);
	if (state->refused) {
		filter_free(&f);
		return true;
	}
	filter_set_data(&f, t->mark);
	state->refused = !install(&r, &f);
	remote_call_end(&r);
	if (r.stop.si_signo)
		t->ops->signalled(t->ctx, task->tid, &r.stop);
	filter_free(&f);
	if (!state->refused) {
		state->filters++;
		state->held = true;
		state->ranges = t->nranges;
	}
	if (r.ended)
		task_gone(t, task, r.status);
	return !r.gone;
}
