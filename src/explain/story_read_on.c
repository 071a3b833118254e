// SPDX-License-Identifier: LGPL-2.1-or-later
/* Where there is more to read, with words of this very session. */
#include <string.h>

#include "abi/layout.h"
#include "explain/story_internal.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

enum { WORDS = 3 };

/* Those that came to the kernel last, which are likely to be the least known. */
struct words {
	const char *name[WORDS];
	uint32_t since[WORDS];
	size_t n;
};

static void offer(struct words *w, const char *name, uint32_t since)
{
	size_t at = 0;

	for (size_t i = 0; i < w->n; i++)
		if (!strcmp(w->name[i], name))
			return;
	while (at < w->n && w->since[at] >= since)
		at++;
	if (at == WORDS)
		return;
	for (size_t i = w->n < WORDS ? w->n++ : WORDS - 1; i > at; i--) {
		w->name[i] = w->name[i - 1];
		w->since[i] = w->since[i - 1];
	}
	w->name[at] = name;
	w->since[at] = since;
}

/* The members that are set, and the ioctls that were made; an attr has always these two. */
static void offer_event(const struct telling *t, const struct event *e, struct words *out)
{
	const struct told_event *told = story_event(t->s, e);
	struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = e->attr, .len = e->attr_len,
		.names = t->s->names,
	};
	const struct field *f;
	size_t at = 0;

	while (event_told(e) && (f = layout_next(&w, &at)))
		if (f != &w.layout->fields[ATTR_TYPE] && f != &w.layout->fields[ATTR_SIZE] &&
		    f->kind != FIELD_RESERVED && field_get(f, e->attr, e->attr_len))
			offer(out, f->name, f->since);
	for (size_t i = 0; told && i < ioctl_ndescs && i < TOLD_IOCTLS; i++)
		if (told->ioctls[i])
			offer(out, ioctl_descs[i].name, ioctl_descs[i].since);
}

/* The error that the last open failed with, of those that are in the dictionary. */
static const char *last_error(const struct telling *t)
{
	const struct attempt *attempts;
	size_t n = model_attempts(t->s->m, &attempts);
	const char *name = NULL;

	while (n-- && !name)
		name = xlat_name(&xlat_perf_open_errno, (uint64_t)attempts[n].error);
	return name;
}

static void list_words(const struct telling *t)
{
	const char *error = last_error(t), *sep = ": ";
	struct words words = { .n = 0 };

	for (size_t i = 0; i < t->nfamilies; i++)
		offer_event(t, t->families[i].events[0], &words);
	if (error && words.n == WORDS)
		words.n--;
	for (size_t i = 0; i < words.n; i++, sep = ", ")
		prose_addf(t->p, "%s%s", sep, words.name[i]);
	if (error)
		prose_addf(t->p, "%s%s", sep, error);
}

void story_read_on(const struct telling *t)
{
	struct prose *p = t->p;

	prose_head(p, "To read on");
	prose_item(p);
	prose_page(p, "perf_event_open(2)", NULL);
	prose_adds(p, " describes the call: Arguments, Reading results, MMAP layout, Overflow "
		      "handling, perf_event ioctl calls, ERRORS.");
	prose_item(p);
	prose_adds(p, "pevtrace explain WORD tells more of any word above");
	list_words(t);
	prose_adds(p, ".");
	if (t->o->level != STORY_DEEP || !t->o->kernel) {
		prose_item(p);
		prose_addf(p, "%s%s%s tells more of this session.",
			   t->o->level != STORY_DEEP ? "--deep" : "",
			   t->o->level != STORY_DEEP && !t->o->kernel ? " or " : "",
			   t->o->kernel ? "" : "--kernel");
	}
	prose_end(p);
}
