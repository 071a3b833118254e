// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/redirect.lesson */
#include <string.h>

#include "verbs/learn/learn.h"
#include "lessons/lessons.h"

enum { FIRST = 0, SECOND, BOUND };

#define NAME "shared"
#define IDS "sample_id_all,sample_type=IDENTIFIER|TID|TIME"

static void touch_and_rename(struct lesson_child *c)
{
	child_touch(c);
	child_rename(c);
}

bool learn_redirect_prepare(struct learn *l)
{
	if (!learn_start_child(l, touch_and_rename, 1))
		return false;
	strcpy(l->child->names[0], NAME);
	learn_set(l, "name", "%s", NAME);
	return learn_run_child(l);
}

bool learn_redirect_open(struct learn *l)
{
	if (!learn_open(l, FIRST, "page-faults:u,sample_period=1," IDS, l->child_pid, -1, -1) ||
	    !learn_open(l, SECOND, "dummy:u,comm," IDS, l->child_pid, -1, -1))
		return false;
	learn_set(l, "first", "%d", l->fds[FIRST]);
	learn_set(l, "second", "%d", l->fds[SECOND]);
	return true;
}

bool learn_redirect_redirect(struct learn *l)
{
	return learn_map(l, l->fds[FIRST], 1) &&
	       (!learn_ioctl(l, l->fds[SECOND], PERF_EVENT_IOC_SET_OUTPUT,
			     (uint64_t)l->fds[FIRST]) ||
		learn_fail(l, "cannot redirect the event"));
}

struct found {
	unsigned int records;
	int fd;			/* of the sample's event */
};

static bool note_writer(void *ctx, const struct learn_record *r)
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

	if (!learn_run_child(l))
		return false;
	learn_look(l, note_writer, &f);
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

	if (!learn_open(l, BOUND, "page-faults:u," IDS, l->child_pid, 0, -1))
		return false;
	got = learn_ioctl(l, l->fds[BOUND], PERF_EVENT_IOC_SET_OUTPUT,
			  (uint64_t)l->fds[FIRST]);
	learn_set_error(l, "refused", got);
	return true;
}

bool learn_redirect_back(struct learn *l)
{
	struct found f = { .fd = -1 };

	learn_ioctl(l, l->fds[SECOND], PERF_EVENT_IOC_SET_OUTPUT, (uint64_t)-1);
	if (!learn_run_child(l))
		return false;
	learn_look(l, note_writer, &f);
	learn_unmap(l);
	learn_set(l, "after", "%u", f.records);
	return true;
}
