// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/second_filter.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "engine/ptrace/proc.h"
#include "engine/ptrace/task.h"

static const char filters_key[] = "Seccomp_filters";

struct second_filter *second_filter_new(void)
{
	struct second_filter *f = xcalloc(1, sizeof(*f));
	long inherited = proc_status(getpid(), filters_key);

	*f = (struct second_filter){
		.refs = 1, .filters = inherited + 1, .refused = inherited < 0
	};
	return f;
}

struct second_filter *second_filter_share(struct second_filter *f)
{
	if (f)
		f->refs++;
	return f;
}

struct second_filter *second_filter_inherit(const struct second_filter *f, pid_t tid,
					    pid_t parent)
{
	struct second_filter *copy;
	long filters;

	if (!f)
		return NULL;
	copy = xmalloc(sizeof(*copy));
	*copy = *f;
	copy->refs = 1;
	if (!f->held)
		return copy;
	/* Another thread of the parent may have installed filters after the fork. */
	filters = proc_status(tid, filters_key);
	if (filters != proc_status(parent, filters_key)) {
		copy->filters = filters;
		copy->held = false;
		copy->ranges = 0;
	}
	return copy;
}

void second_filter_free(struct second_filter *f)
{
	if (f && !--f->refs)
		free(f);
}

bool second_filter_covers(const struct tracer *t, const struct task *task)
{
	const struct second_filter *f = task->second_filter;

	return f && f->held && f->ranges == t->nranges;
}

bool second_filter_is_alone(const struct task *task)
{
	const struct second_filter *f = task->second_filter;

	return f && proc_status(task->tid, filters_key) == f->filters;
}
