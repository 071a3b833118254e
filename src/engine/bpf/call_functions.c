// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/bpf/bpf_programs.h"

#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"

enum { FUNCTIONS_MAX = 1024 };

/* Of each processor: calls without arguments. */
static const struct arch_functions without_arguments = { "__do_sys_", "" };

/* Calls whose functions have another name. */
static const struct {
	const char *call, *function;
} renamed[] = {
	{ "mmap2", "mmap_pgoff" },
	{ "_newselect", "select" },
};

struct search {
	struct call_functions *f;
	const struct calls_setup *setup;
	const struct nr_table *tables[2];	/* as the plans; the second may be NULL */
	bool found[2 * CALLS_NUMBERS], any[2];
};

/*
 * If a function has that form, mark the calls of a table that begin with it, and set whether there
 * are such and one of them returns.  Return whether it has the form.
 */
static bool find_form(struct search *s, unsigned int table, const struct arch_functions *form,
		      const char *text, bool *enters, bool *returns)
{
	const struct calls_plan *plans = s->setup->plans + (size_t)table * CALLS_NUMBERS;
	size_t prefix = strlen(form->prefix), part = strlen(form->part);

	if (strncmp(text, form->prefix, prefix))
		return false;
	text += prefix;
	text += strncmp(text, form->part, part) ? 0 : part;
	for (uint32_t nr = 0; nr < CALLS_NUMBERS; nr++) {
		const struct call_desc *d = s->tables[table]->desc[nr];
		const char *name = d && plans[nr].watch ? d->name : NULL;
		size_t len;

		for (size_t i = 0; name && i < sizeof(renamed) / sizeof(*renamed); i++)
			if (!strcmp(renamed[i].call, d->name))
				name = renamed[i].function;
		len = name ? strlen(name) : 0;
		/* text may end in _time32 */
		if (!name || strncmp(text, name, len) ||
		    (text[len] && strcmp(text + len, "_time32")))
			continue;
		s->found[table * CALLS_NUMBERS + nr] = *enters = true;
		*returns = d->id != CALL_EXIT && d->id != CALL_EXIT_GROUP;
	}
	return true;
}

static void add_function(void *ctx, const char *name, uint32_t id)
{
	struct search *s = ctx;
	bool enters = false, returns = false;

	for (unsigned int t = 0; t < 2 && s->tables[t]; t++) {
		const struct arch_functions *form = s->tables[t]->arch->functions;

		for (; form && form->prefix; form++)
			s->any[t] |= find_form(s, t, form, name, &enters, &returns);
		find_form(s, t, &without_arguments, name, &enters, &returns);
	}
	if (enters && s->f->nenter < FUNCTIONS_MAX)
		s->f->enter[s->f->nenter++] = id;
	if (returns && s->f->nexit < FUNCTIONS_MAX)
		s->f->exit[s->f->nexit++] = id;
}

bool call_functions_find(struct call_functions *f, struct kernel_types *types,
			 const struct calls_setup *setup, const struct nr_tables *nrs,
			 const struct arch *compat)
{
	struct search s = {
		.f = f, .setup = setup,
		.tables = { nr_table(nrs, arch_native()), compat ? nr_table(nrs, compat) : NULL },
	};

	f->enter = xcalloc(FUNCTIONS_MAX, sizeof(*f->enter));
	f->exit = xcalloc(FUNCTIONS_MAX, sizeof(*f->exit));
	kernel_types_functions(types, "pt_regs", add_function, &s);
	f->refusal = kernel_types_function(types, "__seccomp_filter", &f->refusal_size);
	/* kernels without 32-bit programs have no function of their calls */
	for (uint32_t i = 0; i < 2 * CALLS_NUMBERS; i++)
		if (setup->plans[i].watch && s.any[i / CALLS_NUMBERS] && !s.found[i])
			return false;
	return s.any[0];
}

void call_functions_free(struct call_functions *f)
{
	free(f->enter);
	free(f->exit);
}
