// SPDX-License-Identifier: LGPL-2.1-or-later
/* The names of events in a perf.data file: those that perf gives them. */
#include <stdlib.h>
#include <string.h>

#include "core/host/event_words.h"
#include "core/lib/die.h"
#include "core/model/event_name.h"
#include "formats/perfdata/perfout_internal.h"

/* An event in the options -e of perf. */
struct perfout_word {
	char *name;
	struct event_code code;
	pid_t tid; /* that has it in its command line, or 0 */
	bool modes; /* it says in which CPU modes, or its group does */
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

/* Return whether the modifiers of a word, or of a group, say in which CPU modes events count. */
static bool words_have_modes(const char *modifiers, size_t len)
{
	size_t n = strcspn(modifiers, ",}");

	for (size_t i = 0; i < n && i < len; i++)
		if (strchr("ukh", modifiers[i]))
			return true;
	return false;
}

/* Add a word if it is of a generic event: others are named by their attr. */
static void words_add(struct perfout_view *v, pid_t tid, const char *text, size_t len)
{
	size_t base = 0, end = len;
	struct event_code code;

	while (end && !strchr("/:", text[end - 1]))
		end--;
	while (base < len && !strchr("/:", text[base]))
		base++;
	if (!event_word_generic(text, base, &code) && !event_word_cache(text, base, &code))
		return;
	v->words = xrealloc(v->words, (v->nwords + 1) * sizeof(*v->words));
	v->words[v->nwords++] = (struct perfout_word){
		word_name(text, len), code, tid, end && words_have_modes(text + end, len - end),
		false
	};
}

/* Split a list of perf's events: {a,b/c=1,d=2/u}:S has a and b/c=1,d=2/u. */
static void words_split(struct perfout_view *v, pid_t tid, const char *list)
{
	size_t group = 0;

	while (*list) {
		size_t len = 0;
		bool terms = false;

		if (*list == '{')
			group = v->nwords;

		for (; list[len] && (terms || !strchr(",{}", list[len])); len++)
			terms ^= list[len] == '/';
		if (len)
			words_add(v, tid, list, len);
		list += len;
		for (size_t i = group; *list == '}' && i < v->nwords; i++)
			v->words[i].modes |= words_have_modes(list + 1, strlen(list + 1));
		list += *list == '}' ? strcspn(list, ",") : *list != '\0';
	}
}

bool perfout_names_perf(const char *exe)
{
	const char *slash = strrchr(exe, '/');

	return !strncmp(slash ? slash + 1 : exe, "perf", 4);
}

/*
 * Return the list of events in an option of perf, which is the next word if it is empty; NULL if
 * the option has none.
 */
static const char *words_of_option(const char *word)
{
	/* what follows one of these letters of perf record is its argument */
	static const char with_argument[] = "eCDFGIScjkmoprtuz";

	if (!strncmp(word, "--event", 7) && (!word[7] || word[7] == '='))
		return word + 7 + (word[7] == '=');
	if (*word != '-' || word[1] == '-')
		return NULL;
	word += strcspn(word, with_argument);
	return *word == 'e' ? word + 1 : NULL;
}

void perfout_note_command(struct perfout_view *v, pid_t tid, char *const *command)
{
	char *const *word = command;

	for (size_t i = 0; tid && i < v->nwords; i++)
		v->words[i].used |= v->words[i].tid == tid; /* of the program before */
	while (word && *word && !perfout_names_perf(*word)) /* env, taskset, ... */
		word++;
	if (!word || !*word)
		return;
	while (*++word && strcmp(*word, "--")) {
		const char *list = words_of_option(*word);

		if (list && !*list && word[1])
			list = *++word;
		if (list)
			words_split(v, tid, list);
	}
}

/* Append the name that the command line has for an event of perf, or return false. */
static bool words_name(struct perfout_view *v, const struct perfout_event *p, pid_t opener,
		       struct buf *out)
{
	pid_t pid = (pid_t)(uintptr_t)map_get(&v->threads, (uint64_t)opener);
	pid_t tid = map_get(&v->commands, (uint64_t)pid) ? pid : 0;

	for (size_t i = 0; p->opened_by_perf && i < v->nwords; i++) {
		struct perfout_word *w = &v->words[i];
		const char *mode = "";

		if (w->used || w->tid != tid || w->code.type != perfout_attr_of(p, ATTR_TYPE) ||
		    w->code.config != perfout_attr_of(p, ATTR_CONFIG))
			continue;
		w->used = true;
		/* an unprivileged user may only have it in user mode (evsel__fallback()) */
		if (!w->modes && perfout_attr_of(p, ATTR_EXCLUDE_KERNEL) &&
		    perfout_attr_of(p, ATTR_EXCLUDE_HV) && !perfout_attr_of(p, ATTR_EXCLUDE_USER))
			mode = strpbrk(w->name, "/:") ? "u" : ":u";
		buf_addf(out, "%s%s", w->name, mode);
		return true;
	}
	return false;
}

void perfout_name_event(struct perfout_view *v, struct perfout_event *p, pid_t opener)
{
	struct buf own = { 0 };
	bool named = words_name(v, p, opener, &own);

	if (!named)
		event_name_perf(p->attr, p->len, v->names, &own);
	/* the dummy event says that it is of guests, too */
	if (!named && perfout_attr_of(p, ATTR_TYPE) == PERF_TYPE_SOFTWARE &&
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
