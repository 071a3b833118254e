// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events that have no records in a perf.data file, as no ring buffer was mapped for them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "core/model/event_name.h"
#include "formats/perfdata/perfout_internal.h"

enum { NAMED_MOST = 3 };

/* Events of a kind: whose samples a BPF program gets, whose ring buffer was not seen, that count. */
struct ringless {
	struct map attrs; /* those that were seen: equal attrs share their bytes */
	char *names[NAMED_MOST];
	size_t n, more;
	uint32_t program;
	bool programs; /* and others */
	struct buf text;
};

static void ringless_add(struct ringless *r, const struct perfout_view *v, const struct event *e)
{
	struct buf name = { 0 };
	size_t i = 0;

	r->programs |= r->program && r->program != e->program.id;
	r->program = r->program ? r->program : e->program.id;
	if (map_set(&r->attrs, (uintptr_t)e->attr, r))
		return;
	if (e->probed)
		event_name_probed(e->attr, e->attr_len, v->names, e->probed, &name);
	else
		event_name_perf(e->attr, e->attr_len, v->names, &name);
	while (i < r->n && strcmp(r->names[i], buf_str(&name)))
		i++;
	if (i == NAMED_MOST)
		r->more++;
	else if (i == r->n)
		r->names[r->n++] = xstrdup(buf_str(&name));
	buf_free(&name);
}

/* Return the names, which live until r is freed. */
static const char *ringless_names(struct ringless *r)
{
	for (size_t i = 0; i < r->n; i++)
		buf_addf(&r->text, "%s%s", i ? ", " : "", r->names[i]);
	if (r->more)
		buf_addf(&r->text, " and %zu more", r->more);
	return buf_str(&r->text);
}

static void ringless_free(struct ringless *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->names[i]);
	map_free(&r->attrs);
	buf_free(&r->text);
}

void perfout_tell_ringless(const struct perfout_view *v)
{
	struct ringless kinds[3] = { { .program = 0 } }, *bpf = kinds, *counts = kinds + 1;
	struct ringless *samples = kinds + 2;
	struct event *const *events;
	size_t n = model_events(v->model, &events);
	char program[32] = "a BPF program";

	for (size_t i = 0; i < n; i++)
		if (events[i] && event_attr_known(events[i]) && !event_is_probe(events[i]) &&
		    !map_get(&v->members, events[i]->number))
			ringless_add(events[i]->bpf != BPF_NONE		     ? bpf :
				     event_attr(events[i], ATTR_SAMPLE_PERIOD) ? samples : counts,
				     v, events[i]);
	if (bpf->program)
		snprintf(program, sizeof(program), "BPF program %u", bpf->program);
	if (samples->n)
		warn("the samples of %s are not in the perf.data file: the trace does not have the "
		     "mapping of a ring buffer for them", ringless_names(samples));
	if (counts->n)
		warn("no ring buffer, so not in the perf.data file: %s, which only count; --summary "
		     "shows the counts", ringless_names(counts));
	if (bpf->n)
		warn("no ring buffer, so not in the perf.data file: %s, whose samples %s%s; perf "
		     "record of such events writes them", ringless_names(bpf), program,
		     bpf->programs ? " and others get" : " gets");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		ringless_free(&kinds[i]);
}
