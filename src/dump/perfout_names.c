// SPDX-License-Identifier: LGPL-2.1-or-later
/* The names of events in a perf.data file: those that perf gives them. */
#include <stdlib.h>
#include <string.h>

#include "dump/perfout_internal.h"
#include "host/event_words.h"
#include "lib/die.h"
#include "model/event_name.h"
#include "xlat/tables.h"

/* An event in the options -e of perf. */
struct perfout_word {
	char *name;
	struct event_code code;
	bool used;
};

/* Return what perf calls the event: the value of the term name=, or all of the word. */
static char *word_name(const char *text, size_t len)
{
	static const char term[] = "name=";
	const char *slash = memchr(text, '/', len), *at = NULL;

	if (slash)
		at = memmem(slash, (size_t)(text + len - slash), term, strlen(term));
	if (at && (at[-1] == '/' || at[-1] == ',')) {
		text = at + strlen(term);
		len = strcspn(text, ",/");
	}
	return xstrndup(text, len);
}

/* Add a word if it is of a generic event: others are named by their attr. */
static void words_add(struct perfout_view *v, const char *text, size_t len)
{
	size_t base = 0;
	struct event_code code;

	while (base < len && !strchr("/:", text[base]))
		base++;
	if (!event_word_generic(text, base, &code) && !event_word_cache(text, base, &code))
		return;
	v->words = xrealloc(v->words, (v->nwords + 1) * sizeof(*v->words));
	v->words[v->nwords++] = (struct perfout_word){ word_name(text, len), code, false };
}

/* Split a list of perf's events: {a,b/c=1,d=2/u}:S has a and b/c=1,d=2/u. */
static void words_split(struct perfout_view *v, const char *list)
{
	while (*list) {
		size_t len = 0;
		bool terms = false;

		for (; list[len] && (terms || !strchr(",{}", list[len])); len++)
			terms ^= list[len] == '/';
		if (len)
			words_add(v, list, len);
		list += len;
		list += *list == '}' ? strcspn(list, ",") : *list != '\0';
	}
}

bool perfout_names_perf(const char *exe)
{
	const char *slash = strrchr(exe, '/');

	return !strncmp(slash ? slash + 1 : exe, "perf", 4);
}

void perfout_know_command(struct perfout_view *v)
{
	char *const *word = v->facts.command;

	if (!word || !*word || !perfout_names_perf(*word))
		return;
	while (*++word && strcmp(*word, "--")) {
		size_t len = strlen(*word);

		if (!strncmp(*word, "--event=", 8))
			words_split(v, *word + 8);
		else if (!strncmp(*word, "-e", 2) && len > 2)
			words_split(v, *word + 2);
		else if ((!strcmp(*word, "--event") ||
			  (**word == '-' && (*word)[1] != '-' && (*word)[len - 1] == 'e')) &&
			 word[1])
			words_split(v, *++word);
	}
}

/* Return the name that the command line has for an event of perf, or NULL. */
static const char *words_name(struct perfout_view *v, const struct perfout_event *p)
{
	for (size_t i = 0; p->of_perf && i < v->nwords; i++) {
		struct perfout_word *w = &v->words[i];

		if (w->used || w->code.type != perfout_attr_of(p, ATTR_TYPE) ||
		    w->code.config != perfout_attr_of(p, ATTR_CONFIG))
			continue;
		w->used = true;
		return w->name;
	}
	return NULL;
}

void perfout_name_event(struct perfout_view *v, struct perfout_event *p)
{
	const char *name = words_name(v, p);
	struct buf own = { 0 };

	if (name) {
		p->name = xstrdup(name);
		return;
	}
	event_name_perf(p->attr, p->len, v->names, &own);
	/* the dummy event says that it is of guests, too */
	if (perfout_attr_of(p, ATTR_TYPE) == PERF_TYPE_SOFTWARE &&
	    perfout_attr_of(p, ATTR_CONFIG) == PERF_COUNT_SW_DUMMY &&
	    !perfout_attr_of(p, ATTR_EXCLUDE_GUEST) && !strchr(buf_str(&own), ':'))
		buf_adds(&own, ":HG");
	p->name = xstrdup(buf_str(&own));
	buf_free(&own);
}

void perfout_free_words(struct perfout_view *v)
{
	for (size_t i = 0; i < v->nwords; i++)
		free(v->words[i].name);
	free(v->words);
}
