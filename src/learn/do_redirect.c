// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/redirect.lesson */
#include <string.h>

#include "learn/learn.h"
#include "lessons/lessons.h"

enum { FIRST = 0, SECOND, BOUND };

#define NAME "shared"
#define IDS "sample_id_all,sample_type=IDENTIFIER|TID|TIME"

/* A page and a name. */
static void both(struct child_task *c)
{
	child_touch(c);
	child_rename(c);
}

bool learn_redirect_prepare(struct learn *l)
{
	if (!learn_worker(l, both, 1))
		return false;
	strcpy(l->chore->names[0], NAME);
	learn_set(l, "name", "%s", NAME);
	return learn_work(l);
}

bool learn_redirect_open(struct learn *l)
{
	l->fds[FIRST] = learn_open(l, "page-faults:u,sample_period=1," IDS, l->task, -1, -1);
	l->fds[SECOND] = l->fds[FIRST] < 0 ? -1 :
			 learn_open(l, "dummy:u,comm," IDS, l->task, -1, -1);
	learn_set(l, "first", "%d", l->fds[FIRST]);
	learn_set(l, "second", "%d", l->fds[SECOND]);
	return l->fds[SECOND] >= 0;
}

bool learn_redirect_redirect(struct learn *l)
{
	return learn_map(l, l->fds[FIRST], 1) &&
	       (!learn_ioctl(l, l->fds[SECOND], PERF_EVENT_IOC_SET_OUTPUT,
			     (uint64_t)l->fds[FIRST]) ||
		learn_fail(l, "the kernel does not redirect"));
}

struct found {
	unsigned int records;
	int fd;			/* of the sample's event */
};

static bool take(void *ctx, const struct learn_record *r)
{
	struct found *f = ctx;

	f->records++;
	if (r->type == PERF_RECORD_SAMPLE)
		f->fd = r->event->fd;
	return true;
}

bool learn_redirect_run(struct learn *l)
{
	struct found f = { .fd = -1 };

	if (!learn_work(l))
		return false;
	learn_look(l, take, &f);
	learn_set(l, "records", "%u", f.records);
	learn_set(l, "writer", "%d", f.fd);
	return true;
}

bool learn_redirect_ids(struct learn *l)
{
	uint64_t id;

	learn_ioctl(l, l->fds[FIRST], PERF_EVENT_IOC_ID, (uintptr_t)&id);
	learn_ioctl(l, l->fds[SECOND], PERF_EVENT_IOC_ID, (uintptr_t)&id);
	return true;
}

bool learn_redirect_refuse(struct learn *l)
{
	int64_t got;

	l->fds[BOUND] = learn_open(l, "page-faults:u," IDS, l->task, 0, -1);
	if (l->fds[BOUND] < 0)
		return false;
	got = learn_ioctl(l, l->fds[BOUND], PERF_EVENT_IOC_SET_OUTPUT,
			  (uint64_t)l->fds[FIRST]);
	learn_set(l, "refused", "%s", got < 0 ? learn_error(got) : "none");
	return true;
}

bool learn_redirect_back(struct learn *l)
{
	struct found f = { .fd = -1 };

	learn_ioctl(l, l->fds[SECOND], PERF_EVENT_IOC_SET_OUTPUT, (uint64_t)-1);
	if (!learn_work(l))
		return false;
	learn_look(l, take, &f);
	learn_unmap(l);
	learn_set(l, "after", "%u", f.records);
	return true;
}
