// SPDX-License-Identifier: LGPL-2.1-or-later
#include "trace/call_functions.h"

#include <stdlib.h>
#include <string.h>

#include "lib/die.h"

enum { FUNCTIONS_MAX = 1024 };

/* How they are named: PREFIX [part] CALL [_time32]; the ABI is NULL: of each. */
static const struct {
	const char *arch, *prefix, *part;
} forms[] = {
	{ "x86_64", "__x64_sys_", "" },
	{ "x86", "__ia32_sys_", "ia32_" },
	{ "x86", "__ia32_compat_sys_", "ia32_" },
	{ "aarch64", "__arm64_sys_", "" },
	{ "arm", "__arm64_sys_", "aarch32_" },
	{ "arm", "__arm64_compat_sys_", "aarch32_" },
	{ "riscv64", "__riscv_sys_", "" },
	{ NULL, "__do_sys_", "" },	/* calls without arguments */
};

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

static const char *function_of(const char *call)
{
	for (size_t i = 0; i < sizeof(renamed) / sizeof(*renamed); i++)
		if (!strcmp(renamed[i].call, call))
			return renamed[i].function;
	return call;
}

/* Return whether text, which may end in _time32, names the call. */
static bool names_call(const char *text, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(text, name, len) && (!text[len] || !strcmp(text + len, "_time32"));
}

/* Mark the calls of a table that begin with the function; return whether one returns. */
static void find_calls(struct search *s, unsigned int table, const char *text, bool *enters,
		       bool *returns)
{
	const struct calls_plan *plans = s->setup->plans + (size_t)table * CALLS_NUMBERS;

	for (uint32_t nr = 0; nr < CALLS_NUMBERS; nr++) {
		const struct call_desc *d = s->tables[table]->desc[nr];

		if (!d || !plans[nr].watch || !names_call(text, function_of(d->name)))
			continue;
		s->found[table * CALLS_NUMBERS + nr] = *enters = true;
		*returns = d->id != CALL_EXIT && d->id != CALL_EXIT_GROUP;
	}
}

static void add_function(void *ctx, const char *name, uint32_t id)
{
	struct search *s = ctx;
	bool enters = false, returns = false;

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		size_t len = strlen(forms[i].prefix), part = strlen(forms[i].part);
		const char *text = name + len;

		if (strncmp(name, forms[i].prefix, len))
			continue;
		text += strncmp(text, forms[i].part, part) ? 0 : part;
		for (unsigned int t = 0; t < 2; t++)
			if (s->tables[t] &&
			    (!forms[i].arch || !strcmp(s->tables[t]->arch->name, forms[i].arch))) {
				s->any[t] |= forms[i].arch != NULL;
				find_calls(s, t, text, &enters, &returns);
			}
	}
	if (enters && s->f->nenter < FUNCTIONS_MAX)
		s->f->enter[s->f->nenter++] = id;
	if (returns && s->f->nexit < FUNCTIONS_MAX)
		s->f->exit[s->f->nexit++] = id;
}

/* Kernels without 32-bit programs have no function of their calls. */
static bool is_complete(const struct search *s)
{
	for (uint32_t i = 0; i < 2 * CALLS_NUMBERS; i++)
		if (s->setup->plans[i].watch && s->any[i / CALLS_NUMBERS] && !s->found[i])
			return false;
	return s->any[0];
}

bool call_functions_find(struct call_functions *f, const struct kernel_types *types,
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
	return is_complete(&s);
}

void call_functions_free(struct call_functions *f)
{
	free(f->enter);
	free(f->exit);
}
