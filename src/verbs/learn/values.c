// SPDX-License-Identifier: LGPL-2.1-or-later
/* The values that texts show and %when tests. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/abi/strings.h"
#include "core/lib/die.h"
#include "verbs/learn/learn.h"

/* Values ------------------------------------------------------------------------------- */

static struct learn_value *find_value(const struct learn *l, const char *name)
{
	for (size_t i = 0; i < l->nvalues; i++)
		if (!strcmp(l->values[i].name, name))
			return &l->values[i];
	return NULL;
}

const char *learn_get(const struct learn *l, const char *name)
{
	const struct learn_value *v = find_value(l, name);

	return v ? v->text : NULL;
}

void learn_set(struct learn *l, const char *name, const char *fmt, ...)
{
	struct learn_value *v = find_value(l, name);
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	if (!v) {
		l->values = xrealloc(l->values, (l->nvalues + 1) * sizeof(*l->values));
		v = &l->values[l->nvalues++];
		*v = (struct learn_value){ .name = xstrdup(name) };
	}
	free(v->text);
	v->text = xstrdup(buf_str(&text));
	buf_free(&text);
}

const char *learn_error(int64_t result)
{
	const char *name = error_name((int)-result);

	return name ? name : "an error";
}

void learn_set_number(struct learn *l, const char *name, uint64_t v)
{
	learn_set(l, name, "%llu", (unsigned long long)v);
}

void learn_set_hex(struct learn *l, const char *name, uint64_t v)
{
	learn_set(l, name, "0x%llx", (unsigned long long)v);
}

void learn_set_error(struct learn *l, const char *name, int64_t result)
{
	learn_set(l, name, "%s", result < 0 ? learn_error(result) : "none");
}

/* The machine -------------------------------------------------------------------------- */

void learn_set_machine(struct learn *l)
{
	const char *words = l->lesson->needs ? l->lesson->needs : "";
	const struct learn_need *need;

	while ((need = learn_need_next(&words))) {
		struct buf why = { 0 };
		char lack[64];
		bool works;

		snprintf(lack, sizeof(lack), "%s_lack", need->name);
		works = learn_need_works(l->instruments, need, &why);
		steps_set_var(&l->steps, need->name, works);
		if (works)
			learn_set(l, need->name, "yes");
		else
			learn_set(l, lack, "%s", buf_str(&why));
		buf_free(&why);
	}
	learn_set(l, "page", "%ld", sysconf(_SC_PAGESIZE));
}
