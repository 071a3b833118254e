/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Event formats by libtraceevent, the parser that perf and trace-cmd share.  In
 * pevtrace it has no place: a format that is made to harm brings it down (1.7.1).
 */
#ifndef PEVTRACE_TESTS_TEP_ORACLE_H
#define PEVTRACE_TESTS_TEP_ORACLE_H

#include <event-parse.h>
#include <stdlib.h>
#include <string.h>

#include "core/host/rawdata.h"
#include "core/lib/buf.h"
#include "core/lib/die.h"

/* The library leaves the brackets in the type: "unsigned long[6]". */
static inline void tep_add_field(struct raw_format *f, const struct tep_format_field *t)
{
	struct raw_field field = {
		.name = xstrdup(t->name),
		.offset = (uint32_t)t->offset,
		.size = (uint32_t)t->size,
		.is_signed = t->flags & TEP_FIELD_IS_SIGNED,
		.array = (t->flags & TEP_FIELD_IS_ARRAY) &&
			 !(t->flags & TEP_FIELD_IS_DYNAMIC),
	};
	char *type = xstrdup(t->type), *bracket = strrchr(type, '[');

	if (bracket)
		*bracket = '\0';
	raw_format_add(f, field, type, field.array ? t->arraylen : 0);
	free(type);
}

static inline bool tep_add_fields(struct raw_format *f, const struct tep_format_field *t)
{
	for (; t; t = t->next) {
		if (t->offset < 0 || t->size < 0)
			return false;
		tep_add_field(f, t);
	}
	return true;
}

/* As raw_format_parse(). */
static inline bool tep_parse(struct raw_format *f, const char *text, size_t len)
{
	static const char print[] = "\nprint fmt: ";
	const char *end = memmem(text, len, print, sizeof(print) - 1);
	struct tep_handle *tep = tep_alloc();
	struct buf fields = { 0 };
	struct tep_event *e;

	*f = (struct raw_format){ 0 };
	if (!tep)
		return false;
	/*
	 * Of what the kernel prints the library gets nothing to see: what it
	 * does not understand of it (1.7.1) it warns of, and leaks.
	 */
	buf_add(&fields, text, end ? (size_t)(end - text) : len);
	buf_adds(&fields, "\nprint fmt: \"\"\n");
	tep_set_loglevel(TEP_LOG_NONE);
	/* one that failed half-way is there, too */
	tep_parse_event(tep, fields.data, fields.len, "event");
	e = tep_get_first_event(tep);
	buf_free(&fields);
	if (e && (e->flags & TEP_EVENT_FL_FAILED))
		e = NULL;
	if (e && !(tep_add_fields(f, e->format.common_fields) &&
		   tep_add_fields(f, e->format.fields)))
		raw_format_free(f);
	tep_free(tep);
	return f->nfields;
}

#endif
