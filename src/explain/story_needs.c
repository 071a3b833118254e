// SPDX-License-Identifier: LGPL-2.1-or-later
/* What an open requires, what it leaves to the kernel, and what it may be for. */
#include <string.h>

#include "core/abi/need.h"
#include "core/abi/when.h"
#include "explain/story_internal.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

/* Conditions of src/explain/story.in ------------------------------------------------------------ */

static bool need_holds(const char *condition, const struct story_open *o)
{
	const struct call_desc *desc = call_by_name("perf_event_open");
	struct text_cursor c = { .at = condition, .end = condition + strlen(condition) };
	struct call call = {
		.desc = desc,
		.args = { 0, (uint64_t)o->pid, (uint64_t)o->cpu, 0, o->flags },
	};
	struct when *w = when_read(&c, &desc, 1);
	bool holds = w && when_holds(w, &call, o->attr, o->len);

	when_free(w);
	return holds;
}

/* Return the first row that applies, from *at on, which then is behind it; NULL: none. */
static const char *need_text(const struct pair_desc *rows, const struct story_open *o, size_t *at)
{
	while (rows[*at].name) {
		const struct pair_desc *row = &rows[(*at)++];

		if (need_holds(row->name, o))
			return row->text;
	}
	return NULL;
}

struct story_open story_open_of(const struct event *e)
{
	return (struct story_open){
		.attr = e->attr, .len = e->attr_len, .pid = e->pid, .cpu = e->cpu,
		.flags = e->flags,
	};
}

const char *story_purpose(const struct story_open *o)
{
	size_t at = 0;

	return need_text(purpose_descs, o, &at);
}

void story_defaults(const struct story_open *o, struct prose *p)
{
	const char *text;
	size_t at = 0, n = 0;

	while ((text = need_text(default_descs, o, &at)))
		prose_addf(p, "%s%s", n++ ? "; " : "", text);
	prose_adds(p, n ? "." : "");
}

/* Requirements --------------------------------------------------------------------------- */

static void need_kernel(const struct story_open *o, struct prose *p)
{
	struct open_need n = open_need(o->attr, o->len, o->flags);

	prose_adds(p, "Requires Linux ");
	release_since_text(n.name ? n.since : KVER(2, 6, 31), &p->text);
	if (n.name)
		prose_addf(p, ", which brought %s (older kernels refuse it)", n.name);
}

size_t story_hardware(const struct story_open *o, struct prose *p)
{
	const char *text;
	size_t at = 0, n = 0;

	for (; (text = need_text(requirement_descs, o, &at)); n++)
		if (p)
			prose_addf(p, "%s%s", n ? ", " : "", text);
	return n;
}

static void need_hardware(const struct story_open *o, struct prose *p)
{
	prose_adds(p, ", and ");
	prose_adds(p, story_hardware(o, p) ? "." : "no hardware.");
}

/* Return the privilege check that refuses an ordinary user at that level; NULL: none. */
static const struct rule_desc *refuser_at(const struct story *s, const struct story_open *o,
					  int32_t paranoid)
{
	struct judge_machine m;
	const struct judge_case user = {
		.ask = {
			.attr = o->attr, .len = o->len, .pid = o->pid, .cpu = o->cpu,
			.group_fd = -1, .flags = o->flags, .facts = &m.facts,
		},
		.seen = JUDGE_NOT_SEEN,
	};
	struct judgement j;

	judge_elsewhere(&m, s->release, s->arch, s->names, o->attr, o->len);
	m.facts.machine.paranoid = paranoid;
	m.facts.machine.max_sample_rate = m.facts.machine.max_stack = UINT64_MAX;
	m.facts.machine.cpus = INT32_MAX;
	m.facts.target.task.attachable = m.facts.target.task.readable = FACT_YES;
	judge_open(&user, &j);
	for (size_t i = 0; i < RULE_COUNT; i++)
		if (rule_descs[i].by & (RULE_BY_PARANOID | RULE_BY_CAPS) &&
		    j.rules.says[i] == RULE_REFUSES)
			return &rule_descs[i];
	return NULL;
}

static void need_rights(const struct story *s, const struct story_open *o, struct prose *p)
{
	const struct rule_desc *above = NULL, *refuser;
	int32_t level = 2;

	while (level >= -1 && (refuser = refuser_at(s, o, level))) {
		above = refuser;
		level--;
	}
	if (level == 2)
		prose_adds(p, " An ordinary user may open it at perf_event_paranoid 2, too.");
	else if (level >= -1)
		prose_addf(p, " An ordinary user may open it at perf_event_paranoid %d or below "
			      "(check %s).", (int)level, above->name);
	else
		prose_addf(p, " An ordinary user may not open it at any perf_event_paranoid "
			      "(check %s).", above->name);
}

void story_needs(const struct story *s, const struct story_open *o, struct prose *p)
{
	need_kernel(o, p);
	need_hardware(o, p);
	need_rights(s, o, p);
}

void story_call_needs(const struct open_attr *a, const struct call *c, struct prose *p)
{
	const struct story s = { .names = a->names, .arch = a->arch };
	const struct story_open o = {
		.attr = a->attr, .len = a->len, .pid = call_int(c, 1), .cpu = call_int(c, 2),
		.flags = c->args[4],
	};

	story_needs(&s, &o, p);
}
