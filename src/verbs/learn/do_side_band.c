// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/side-band.lesson */
#include <string.h>

#include "verbs/learn/learn.h"
#include "lessons/lessons.h"
#include "xlat/tables.h"

enum { DUMMY = 0, COMM, PID_AT = 8, TYPES = 32 };

#define NAME "teacher"

struct kinds {
	unsigned int records, of[TYPES];
	uint64_t forked;	/* pid of the last FORK */
};

bool learn_side_band_prepare(struct learn *l)
{
	if (!learn_start_child(l, child_live, 1))
		return false;
	strcpy(l->child->names[0], NAME);
	learn_set(l, "name", "%s", NAME);
	learn_set(l, "task", "%d", (int)l->child_pid);
	return true;
}

static bool count_kind(void *ctx, const struct learn_record *r)
{
	struct kinds *k = ctx;

	k->records++;
	if (r->type < TYPES)
		k->of[r->type]++;
	if (r->type == PERF_RECORD_FORK && r->len >= PID_AT + 4)
		k->forked = load_uint(r->bytes + PID_AT, 4);
	return true;
}

static bool run_and_look(struct learn *l, int which, struct kinds *k)
{
	bool worked = learn_run_counted(l, l->fds[which], 0);

	learn_look(l, count_kind, k);
	learn_unmap(l);
	return worked;
}

bool learn_side_band_open(struct learn *l)
{
	return learn_open(l, DUMMY, "dummy:u,disabled,comm,mmap,mmap2,task", l->child_pid, -1,
			  -1) &&
	       learn_map(l, l->fds[DUMMY], 4);
}

bool learn_side_band_run(struct learn *l)
{
	struct kinds k = { 0 };
	struct buf list = { 0 };
	unsigned int kinds = 0;

	if (!run_and_look(l, DUMMY, &k))
		return false;
	for (unsigned int t = 0; t < TYPES; t++) {
		const struct xlat_entry *e = k.of[t] ? xlat_find(&xlat_perf_event_type, t) : NULL;

		if (!k.of[t])
			continue;
		buf_addf(&list, "%s%s", kinds++ ? ", " : "", e ? e->name : "unknown");
	}
	learn_set(l, "records", "%u", k.records);
	learn_set(l, "kinds", "%u", kinds);
	learn_set(l, "list", "%s", buf_str(&list));
	learn_set_number(l, "grandchild", k.forked);
	buf_free(&list);
	return true;
}

bool learn_side_band_open_comm(struct learn *l)
{
	return learn_open(l, COMM, "dummy:u,disabled,comm", l->child_pid, -1, -1) &&
	       learn_map(l, l->fds[COMM], 4);
}

bool learn_side_band_run_comm(struct learn *l)
{
	struct kinds k = { 0 };

	if (!run_and_look(l, COMM, &k))
		return false;
	learn_set(l, "uncalled", "%s", k.of[PERF_RECORD_FORK] ? "yes" : "no");
	return true;
}
