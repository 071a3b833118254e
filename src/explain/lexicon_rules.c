// SPDX-License-Identifier: LGPL-2.1-or-later
/* Why the kernel refuses a field, value or call. */
#include <string.h>

#include "core/abi/layout.h"
#include "core/abi/rules.h"
#include "explain/lexicon_internal.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Return whether a comma-separated list has the word. */
static bool list_has(const char *list, const char *word)
{
	size_t len = strlen(word), n;

	for (; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (n == len && !memcmp(list, word, n))
			return true;
	}
	return false;
}

static void rule_line(struct prose *p, const struct rule_desc *d, bool error)
{
	const char *name = xlat_name(&xlat_perf_open_errno, (uint64_t)d->error);

	prose_line(p, ENTRY_BODY, ENTRY_BODY + 2);
	if (error)
		prose_addf(p, "%s, %s: %s.", name ? name : "Error", d->name, d->meaning);
	else
		prose_addf(p, "%s: %s.", d->name, d->meaning);
}

void entry_rules_of_field(struct prose *p, const char *field)
{
	bool any = false;

	for (size_t i = 0; i < RULE_COUNT; i++) {
		if (!list_has(rule_descs[i].fields, field))
			continue;
		if (!any)
			entry_label(p, "Checks");
		any = true;
		rule_line(p, &rule_descs[i], true);
	}
}

void entry_rules_of_error(struct prose *p, int error)
{
	bool any = false;

	for (size_t i = 0; i < RULE_COUNT; i++) {
		if (rule_descs[i].error != error)
			continue;
		if (!any)
			entry_label(p, "Checks of perf_event_open with this error");
		any = true;
		rule_line(p, &rule_descs[i], false);
	}
}

static void refusal_line(struct prose *p, const struct refusal_desc *d, bool named)
{
	prose_line(p, ENTRY_BODY, ENTRY_BODY + 2);
	if (named)
		prose_addf(p, "%s: %s.", d->errno_name, d->meaning);
	else
		prose_addf(p, "%s: %s.", d->request ? d->request : d->call, d->meaning);
}

void entry_refusals_of_error(struct prose *p, int error)
{
	bool any = false;

	for (const struct refusal_desc *d = refusal_descs; d->call; d++) {
		if (d->error != error)
			continue;
		if (!any)
			entry_label(p, "Other calls with this error");
		any = true;
		refusal_line(p, d, false);
	}
}

void entry_refusals_of(struct prose *p, const char *call, const char *request)
{
	bool any = false;

	for (const struct refusal_desc *d = refusal_descs; d->call; d++) {
		if (strcmp(d->call, call) ||
		    (request && d->request && strcmp(d->request, request)) ||
		    (!request && d->request))
			continue;
		if (!any)
			entry_label(p, "Errors");
		any = true;
		refusal_line(p, d, true);
	}
}

/* Values ---------------------------------------------------------------------------- */

/* Judge an attr for an unprivileged caller on an unknown machine. */
static void judge_value(const uint8_t *attr, size_t len, struct rule_verdict *v)
{
	static const struct rule_pmu pmus[] = {
		{ .type = PERF_TYPE_SOFTWARE, .name = "software" },
		{ .type = PERF_TYPE_TRACEPOINT, .name = "tracepoint" },
		{ .type = PERF_TYPE_BREAKPOINT, .name = "breakpoint" },
	};
	struct rule_facts facts = {
		.machine = { .page_size = 4096, .arch = arch_native(), .paranoid = 2,
			     .max_sample_rate = UINT64_MAX, .max_stack = UINT64_MAX,
			     .cpus = 1, .pmus = pmus, .npmus = sizeof(pmus) / sizeof(*pmus) },
	};
	struct rule_ask ask = {
		.attr = attr, .len = len, .cpu = -1, .group_fd = -1, .facts = &facts,
	};

	rules_judge(&ask, v);
}

static bool rule_applies(const struct rule_verdict *v, size_t i)
{
	return v->says[i] == RULE_REFUSES || v->says[i] > 0 || v->says[i] == RULE_UNKNOWN;
}

/* Mark the rules that apply to an attr of that type only with the value. */
static void mark_rules(uint32_t type, const struct field *f, uint64_t value, bool *out)
{
	const struct layout *l = &layout_perf_event_attr;
	uint8_t attr[256] = { 0 };
	struct rule_verdict before, with;

	field_set(&l->fields[ATTR_TYPE], type, attr);
	field_set(&l->fields[ATTR_SIZE], l->size, attr);
	field_set(&l->fields[ATTR_CONFIG], type == PERF_TYPE_SOFTWARE ? PERF_COUNT_SW_DUMMY : 1,
		  attr);
	field_set(&l->fields[ATTR_EXCLUDE_KERNEL], 1, attr);
	judge_value(attr, l->size, &before);
	field_set(f, value, attr);
	judge_value(attr, l->size, &with);
	for (size_t i = 0; i < RULE_COUNT; i++)
		out[i] |= rule_applies(&with, i) && !rule_applies(&before, i);
}

void entry_rules_of_value(struct prose *p, const struct xlat *x, const struct xlat_entry *c)
{
	static const uint32_t types[] = { PERF_TYPE_SOFTWARE, PERF_TYPE_TRACEPOINT,
					  PERF_TYPE_BREAKPOINT };
	const struct layout *l = &layout_perf_event_attr;
	bool found[RULE_COUNT] = { false }, any = false;

	for (size_t i = 0; i < l->n && !c->traits; i++)
		for (size_t k = 0; k < 3 && l->fields[i].xlat == x &&
				   l->fields[i].kind == FIELD_FLAGS; k++)
			mark_rules(types[k], &l->fields[i], c->value, found);
	for (size_t i = 0; i < RULE_COUNT; i++) {
		if (!found[i])
			continue;
		if (!any)
			entry_label(p, "Checks");
		any = true;
		rule_line(p, &rule_descs[i], true);
	}
}
