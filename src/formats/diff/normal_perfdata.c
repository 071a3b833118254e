// SPDX-License-Identifier: LGPL-2.1-or-later
/* The normal form of a perf.data file: the attrs of its events. */
#include <stdlib.h>
#include <string.h>

#include "core/abi/attr_text.h"
#include "core/abi/bytes_text.h"
#include "core/abi/tables.h"
#include "core/lib/die.h"
#include "formats/diff/normal.h"
#include "formats/perfdata/perfdata.h"

/* The address of the attr, the task and the first descriptor of made-up calls. */
enum { AT = 0x100000, TASK = 1, FIRST_FD = 3 };

static const struct activity_task task = { .tid = TASK, .pid = TASK };

/* Opens -------------------------------------------------------------------------- */

/* Feed one open for all the CPUs and threads of the event. */
static void normal_open(struct session *s, const struct perfdata_event *e, size_t i)
{
	/* attrs are the same in every ABI */
	const struct arch *arch = e->format.arch ? e->format.arch : &arch_x86_64;
	struct call c = {
		.desc = &call_descs[CALL_PERF_EVENT_OPEN], .arch = arch,
		.tid = TASK, .pid = TASK,
		.args = { AT, 0, UINT64_MAX, UINT64_MAX, 0 },
	};
	struct text_cursor why = { .why = "" };
	struct attr_text attr;

	attr_text_bytes(&why, e->attr, e->attr_len, &attr);
	attr_text_capture(&attr, &c, AT);
	session_enter(s, &c);
	c.returned = true;
	c.ret = (int64_t)(FIRST_FD + i);
	session_exit(s, &c);
	call_free(&c);
}

struct normal *normal_read_perfdata(FILE *f, const char *path, struct normal_forms *forms,
				    const struct names *host, bool keep_going, bool *whole,
				    bool *ids)
{
	struct perfdata *p = perfdata_open(f, path, host);
	const struct session_facts facts = { .arch = &arch_x86_64 };
	struct normal *n = NULL;
	struct session s;
	uint64_t none;

	*whole = p && perfdata_whole(p);
	*ids = true;
	if (*whole || (p && keep_going)) {
		session_start(&s, &(struct session_setup){ .source = perfdata_names(p) }, &facts);
		n = normal_new(forms);
		normal_watch(n, &s);
		session_feed(&s, &(struct activity){ ACTIVITY_TASK, .task = task });
		for (size_t i = 0; i < perfdata_nevents(p); i++) {
			normal_open(&s, perfdata_event(p, i), i);
			normal_event_at(n, n->nevents - 1)->opens = perfdata_event(p, i)->nids;
			*ids &= perfdata_event(p, i)->nids > 0;
		}
		normal_seal(n);
		session_end(&s);
		n = normal_attrs(n, false, &none);
	}
	if (p)
		perfdata_close(p);
	return n;
}

/* Attrs that perf would have stored ---------------------------------------------------- */

/* Make a draft of a form's fields but for its arguments and result: those of the attr. */
static void draft_attr(const struct normal_form *f, struct normal_draft *d)
{
	draft_begin(d, f->desc);
	for (size_t k = 0; k < f->nfields; k++) {
		const char *key = f->fields[k].key;
		bool argument = !strcmp(key, "result");

		for (size_t i = 0; i < f->desc->nargs; i++)
			argument |= !strcmp(f->desc->args[i].name, key);
		if (!argument)
			draft_add(d, key, f->fields[k].value);
	}
}

/* The opens of each attr. */
struct attrs {
	struct normal *normal;
	struct normal_draft *draft;
	struct map by_form;	/* number of the attr's form + 1 to its event */
	const struct normal_form **forms; /* of normal's events */
};

/* Count the open of an event, which has that form. */
static void add_open(struct attrs *list, const struct normal_event *e,
		     const struct normal_form *f)
{
	struct normal *n = list->normal;
	struct normal_event *all;
	const uint32_t *refs;

	draft_attr(f, list->draft);
	f = normal_form_of(n->forms, list->draft, 0, &refs);
	all = map_get(&list->by_form, f->number + 1ULL);
	if (all) {
		all->opens = all->opens && e->opens ? all->opens + e->opens : 0;
		return;
	}
	GROW(list->forms, n->nevents);
	list->forms[n->nevents] = f;
	all = normal_event_new(n, n->tasks[0], e->base);
	all->opens = e->opens;
	map_set(&list->by_form, f->number + 1ULL, all);
}

struct normal *normal_attrs(struct normal *n, bool ids_known, uint64_t *left_out)
{
	struct normal_draft *d = xcalloc(1, sizeof(*d));
	struct attrs list = { .normal = normal_new(n->forms), .draft = d };
	struct normal *new = list.normal;

	*left_out = 0;
	normal_task_new(new, &task);
	for (size_t t = 0; t < n->ntasks; t++) {
		for_each(x, n->tasks[t]->items, n->tasks[t]->nitems) {
			const struct normal_event *e = normal_subject(n, x);

			if (!e || !normal_is_open(n, x) || (!e->used && e->closed)) /* a probe */
				continue;
			if (ids_known && !e->id_known)
				++*left_out;
			else
				add_open(&list, e, normal_form(n, x));
		}
	}
	for (size_t i = 0; i < new->nevents; i++) {
		struct normal_event *e = normal_event_at(new, i);

		draft_attr(list.forms[i], d);
		d->subject = e;
		e->opened = true;
		if (e->opens) {
			buf_reset(&d->scratch);
			buf_addu(&d->scratch, e->opens);
			draft_add(d, "opens", buf_str(&d->scratch));
		}
		normal_item_add(new, new->tasks[0], d);
	}
	normal_seal(new);
	new->attrs_only = true;
	draft_free(d);
	map_free(&list.by_form);
	free(list.forms);
	normal_free(n);
	return new;
}
