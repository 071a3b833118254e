// SPDX-License-Identifier: LGPL-2.1-or-later
#include "trace/second_filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/die.h"
#include "trace/proc.h"
#include "trace/remote_call.h"
#include "trace/task.h"

/* What a process has; its threads share it, as the kernel sees to (TSYNC). */
struct second_filter {
	unsigned int refs;
	long filters;	/* seccomp filters in all that we know of */
	size_t ranges;	/* of the tracer's, so many are in them */
	bool held;	/* WATCH_HELD calls are in them */
	bool refused;	/* it cannot be had */
};

static const char filters_key[] = "Seccomp_filters";

struct second_filter *second_filter_new(void)
{
	struct second_filter *g = xcalloc(1, sizeof(*g));
	long ours = proc_status(getpid(), filters_key);

	*g = (struct second_filter){ .refs = 1, .filters = ours + 1, .refused = ours < 0 };
	return g;
}

struct second_filter *second_filter_share(struct second_filter *g)
{
	if (g)
		g->refs++;
	return g;
}

struct second_filter *second_filter_inherit(const struct second_filter *g, pid_t tid, pid_t parent)
{
	struct second_filter *copy;
	long filters;

	if (!g)
		return NULL;
	copy = xmalloc(sizeof(*copy));
	*copy = *g;
	copy->refs = 1;
	if (!g->held)
		return copy;
	/* another thread may have got filters for all while this one made a child */
	filters = proc_status(tid, filters_key);
	if (filters != proc_status(parent, filters_key)) {
		copy->filters = filters;
		copy->held = false;
		copy->ranges = 0;
	}
	return copy;
}

void second_filter_free(struct second_filter *g)
{
	if (g && !--g->refs)
		free(g);
}

bool second_filter_covers(const struct tracer *t, const struct task *task)
{
	const struct second_filter *g = task->guard;

	return g && g->held && g->ranges == t->nranges;
}

/*
 * A filter of the target's own might kill it for the calls that we would have
 * it make.
 */
static bool has_own_filters(const struct second_filter *g, pid_t tid)
{
	return proc_status(tid, filters_key) != g->filters;
}

bool second_filter_is_alone(const struct task *task)
{
	return task->guard && !has_own_filters(task->guard, task->tid);
}

static bool copy_out(pid_t tid, uint64_t addr, const void *data, size_t len)
{
	struct iovec local = { (void *)data, len };
	struct iovec remote = { (void *)(uintptr_t)addr, len };

	return process_vm_writev(tid, &local, 1, &remote, 1, 0) == (ssize_t)len;
}

/*
 * In a page of its own: what lies below a stack pointer may be somebody's data
 * where stacks are small.
 */
static bool install_at(struct remote_call *in, uint64_t page, const struct filter *f)
{
	const uint64_t flags = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
	const uint64_t args[6] = { SECCOMP_SET_MODE_FILTER, flags, page };
	const struct sock_fprog prog = {
		f->len, (struct sock_filter *)(uintptr_t)(page + sizeof(prog)),
	};
	int64_t ret;

	return copy_out(in->tid, page, &prog, sizeof(prog)) &&
	       copy_out(in->tid, page + sizeof(prog), f->insns, f->len * sizeof(*f->insns)) &&
	       remote_call(in, SYS_seccomp, args, &ret) && !ret;
}

static bool install(struct remote_call *in, const struct filter *f)
{
	const uint64_t size = sizeof(struct sock_fprog) + f->len * sizeof(*f->insns);
	const uint64_t map[6] = {
		0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1,
	};
	int64_t page, ret;
	bool ok;

	if (!remote_call(in, SYS_mmap, map, &page) || (page < 0 && page > -4096))
		return false;
	ok = install_at(in, (uint64_t)page, f);
	if (!in->gone)
		remote_call(in, SYS_munmap, (uint64_t[6]){ (uint64_t)page, size }, &ret);
	return ok;
}

/* A call after which the task can be made to do others: it is over for good. */
static bool is_quiet(const struct call *c)
{
	return !c->failed && c->arch == arch_native() && c->desc->class != CLASS_POLL &&
	       c->desc->class != CLASS_PROCESS;
}

bool second_filter_extend(struct tracer *t, struct task *task)
{
	struct second_filter *g = task->guard;
	struct filter f = { 0 };
	struct remote_call in;

	if (!g || g->refused || !is_quiet(task->call) || second_filter_covers(t, task) ||
	    t->ops->close_watch(t->ctx, task->tid) != TRACE_CLOSE)
		return true;
	g->refused = has_own_filters(g, task->tid) ||
		     !filter_build_close(&f, t->opts, &t->nrs, t->ranges + g->ranges,
					 t->nranges - g->ranges, !g->held) ||
		     !remote_call_begin(&in, task->tid);
	if (g->refused) {
		filter_free(&f);
		return true;
	}
	filter_mark(&f, t->mark);
	g->refused = !install(&in, &f);
	remote_call_end(&in);
	if (in.stop.si_signo)
		t->ops->signalled(t->ctx, task->tid, &in.stop);
	filter_free(&f);
	if (!g->refused) {
		g->filters++;
		g->held = true;
		g->ranges = t->nranges;
	}
	if (in.ended)
		stop_handle(t, in.tid, in.status);
	return !in.gone;
}
