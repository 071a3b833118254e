// SPDX-License-Identifier: LGPL-2.1-or-later
/* Where to read more, with words of the session. */
#include <string.h>

#include "core/abi/layout.h"
#include "explain/attr_prose.h"
#include "explain/story_internal.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

enum { READ_ON_WORDS = 3 };

/* The newest names of the interface, which are likely to be the least known. */
struct read_on_words {
	const char *name[READ_ON_WORDS];
	uint32_t since[READ_ON_WORDS];
	size_t n;
};

static void read_on_offer(struct read_on_words *w, const char *name, uint32_t since)
{
	size_t at = 0;

	for (size_t i = 0; i < w->n; i++)
		if (!strcmp(w->name[i], name))
			return;
	while (at < w->n && w->since[at] >= since)
		at++;
	if (at == READ_ON_WORDS)
		return;
	for (size_t i = w->n < READ_ON_WORDS ? w->n++ : READ_ON_WORDS - 1; i > at; i--) {
		w->name[i] = w->name[i - 1];
		w->since[i] = w->since[i - 1];
	}
	w->name[at] = name;
	w->since[at] = since;
}

/* Offer the members that are set, except type and size, and successful ioctls. */
static void read_on_offer_event(const struct story_text *t, const struct event *e,
				struct read_on_words *out)
{
	const struct seen_event *seen = story_event(t->s, e);
	struct open_attr a = story_attr(t->s, e);
	struct walk w = attr_prose_walk(&a);
	const struct field *f;
	size_t at = 0;

	while (event_attr_known(e) && (f = layout_next(&w, &at)))
		if (f != &w.layout->fields[ATTR_TYPE] && f != &w.layout->fields[ATTR_SIZE] &&
		    f->kind != FIELD_RESERVED && field_get(f, e->attr, e->attr_len))
			read_on_offer(out, f->name, f->since);
	for (size_t i = 0; seen && i < ioctl_ndescs && i < STORY_IOCTLS; i++)
		if (seen->ioctls[i])
			read_on_offer(out, ioctl_descs[i].name, ioctl_descs[i].since);
}

/* Return the name of the last error of an open that the dictionary has; or NULL. */
static const char *read_on_error(const struct story_text *t)
{
	const struct attempt *attempts;
	size_t n = model_attempts(t->s->m, &attempts);
	const char *name = NULL;

	while (n-- && !name)
		name = xlat_name(&xlat_perf_open_errno, (uint64_t)attempts[n].error);
	return name;
}

static void read_on_list(const struct story_text *t)
{
	const char *error = read_on_error(t), *sep = ": ";
	struct read_on_words words = { .n = 0 };

	for (size_t i = 0; i < t->nfamilies; i++)
		read_on_offer_event(t, t->families[i].events[0], &words);
	if (error && words.n == READ_ON_WORDS)
		words.n--;
	for (size_t i = 0; i < words.n; i++, sep = ", ")
		prose_addf(t->p, "%s%s", sep, words.name[i]);
	if (error)
		prose_addf(t->p, "%s%s", sep, error);
}

void story_read_on(const struct story_text *t)
{
	struct prose *p = t->p;

	if (!t->full) {
		prose_para(p);
		prose_adds(p, "See also: ");
		prose_page(p, "perf_event_open(2)", NULL);
		prose_adds(p, "; pevtrace explain TERM, for any name above");
		read_on_list(t);
		prose_adds(p, "; pevtrace why, for a call that fails; --deep and "
			      "--kernel, for each member and function.");
		prose_end(p);
		return;
	}
	prose_head(p, "See also");
	prose_item(p);
	prose_page(p, "perf_event_open(2)", NULL);
	prose_adds(p, ": Arguments, Reading results, MMAP layout, Overflow handling, perf_event "
		      "ioctl calls, ERRORS.");
	prose_item(p);
	prose_adds(p, "pevtrace explain TERM explains any name above");
	read_on_list(t);
	prose_adds(p, ".");
	if (t->o->level != STORY_DEEP || !t->o->kernel) {
		prose_item(p);
		prose_addf(p, "%s%s%s shows more.", t->o->level != STORY_DEEP ? "--deep" : "",
			   t->o->level != STORY_DEEP && !t->o->kernel ? " or " : "",
			   t->o->kernel ? "" : "--kernel");
	}
	prose_end(p);
}
