// SPDX-License-Identifier: LGPL-2.1-or-later
/* The state of an experiment: its outcome, events and variables. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform/claim.h"

volatile struct claim_signals claim_signals;

enum step_result claim_untried(struct claim_run *run, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(run->outcome->reason, sizeof(run->outcome->reason), fmt, ap);
	va_end(ap);
	return STEP_UNTRIED;
}

enum step_result claim_malformed(struct claim_run *run)
{
	if (*run->outcome->reason)
		return STEP_UNTRIED;
	return claim_untried(run, "malformed step: %s", run->step);
}

enum step_result claim_false(struct claim_run *run, const char *expected, const char *fmt, ...)
{
	va_list ap;

	snprintf(run->outcome->expected, sizeof(run->outcome->expected), "%s", expected);
	va_start(ap, fmt);
	vsnprintf(run->outcome->seen, sizeof(run->outcome->seen), fmt, ap);
	va_end(ap);
	return STEP_FALSE;
}

struct claim_event *claim_find_event(struct claim_run *run, const char *name)
{
	for (size_t i = 0; i < run->nevents; i++)
		if (!strcmp(run->events[i].name, name))
			return &run->events[i];
	return NULL;
}

void claim_set_var(struct claim_run *run, const char *name, uint64_t v)
{
	size_t i = 0;

	while (i < run->nvars && strcmp(run->vars[i].name, name))
		i++;
	if (i == CLAIM_VARS)
		return;
	if (i == run->nvars)
		run->nvars++;
	snprintf(run->vars[i].name, CLAIM_NAME, "%s", name);
	run->vars[i].value = v;
}

const struct claim_field *claim_fields_find(const struct claim_fields *f, const char *path)
{
	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->list[i].path, path))
			return &f->list[i];
	return NULL;
}

void claim_fields_free(struct claim_fields *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->list[i].path);
		free(f->list[i].text);
	}
	free(f->list);
	*f = (struct claim_fields){ 0 };
}
