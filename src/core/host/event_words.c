// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "core/host/event_words.h"
#include "core/lib/list.h"

#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 64 };

/* The tables of generic events, and their types. */
static const struct {
	uint32_t type;
	const struct xlat *names;
} tables[] = {
	{ PERF_TYPE_HARDWARE, &xlat_perf_hw_id },
	{ PERF_TYPE_HARDWARE, &xlat_event_hw_word },
	{ PERF_TYPE_SOFTWARE, &xlat_perf_sw_ids },
	{ PERF_TYPE_SOFTWARE, &xlat_event_sw_word },
};

/* Convert a word to the form of the tables, CPU_CLOCK; return false if it is too long. */
static bool table_form(const char *word, size_t len, char *out)
{
	if (!len || len >= WORD_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = word[i];

		out[i] = (char)(c == '-' ? '_' : c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
	}
	out[len] = '\0';
	return true;
}

/* Convert a table's name to the form that users write, cpu-clock. */
static void people_form(const struct xlat *x, const struct xlat_entry *e, char *out)
{
	const char *name = e->name + strlen(x->prefix);
	size_t i;

	for (i = 0; i < WORD_MAX - 1 && name[i]; i++)
		out[i] = (char)(name[i] == '_' ? '-' : name[i] >= 'A' && name[i] <= 'Z' ?
				name[i] - 'A' + 'a' : name[i]);
	out[i] = '\0';
}

bool event_word_generic(const char *word, size_t len, struct event_code *out)
{
	char name[WORD_MAX];

	if (!table_form(word, len, name))
		return false;
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		const struct xlat_entry *e = xlat_by_name(tables[i].names, name);

		if (!e || e->traits & XLAT_NONABI)
			continue;
		*out = (struct event_code){ tables[i].type, e->value };
		return true;
	}
	return false;
}

/* Parts of a cache event: the cache, an operation, a result. */
enum { CACHE_ID, CACHE_OP, CACHE_RESULT, CACHE_PARTS };

static const struct {
	const struct xlat *words, *names;
	unsigned int shift;
} parts[CACHE_PARTS] = {
	[CACHE_ID] = { &xlat_event_cache_word, &xlat_perf_hw_cache_id, 0 },
	[CACHE_OP] = { &xlat_event_cache_op_word, &xlat_perf_hw_cache_op_id, 8 },
	[CACHE_RESULT] = { &xlat_event_cache_result_word,
			   &xlat_perf_hw_cache_op_result_id, 16 },
};

/*
 * Parse the words of a cache event, the longest first: the cache, then an operation and a
 * result in any order, each at most once.
 */
static bool cache_parts(const char *text, unsigned int seen, uint64_t *config)
{
	size_t len = strlen(text);
	const struct xlat_entry *e;
	char name[WORD_MAX];

	for (size_t n = len; n; n--) {
		if (n < len && text[n] != '_')
			continue;
		memcpy(name, text, n);
		name[n] = '\0';
		for (unsigned int i = 0; i < CACHE_PARTS; i++) {
			uint64_t with = *config;

			if (seen & 1u << i || (i != CACHE_ID) != (seen & 1))
				continue;
			e = xlat_by_name(parts[i].words, name);
			if (!e)
				e = xlat_by_name(parts[i].names, name);
			if (!e || e->traits & XLAT_NONABI)
				continue;
			with |= e->value << parts[i].shift;
			if (n < len && !cache_parts(text + n + 1, seen | 1u << i, &with))
				continue;
			*config = with;
			return true;
		}
	}
	return false;
}

bool event_word_cache(const char *word, size_t len, struct event_code *out)
{
	char name[WORD_MAX], *colon;

	*out = (struct event_code){ .type = PERF_TYPE_HW_CACHE };
	if (!table_form(word, len, name))
		return false;
	while ((colon = strchr(name, ':')))
		*colon = '_';
	return cache_parts(name, 0, &out->config);
}

void event_words_each(void (*hook)(void *ctx, const struct event_code *code, const char *name),
		      void *ctx)
{
	char words[CACHE_PARTS][WORD_MAX], name[3 * WORD_MAX];
	const struct xlat *const *x = (const struct xlat *const[]){
		parts[CACHE_ID].words, parts[CACHE_OP].words, parts[CACHE_RESULT].words,
	};
	size_t at[CACHE_PARTS], all = x[0]->n * x[1]->n * x[2]->n;

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		const struct xlat *generic = tables[i].names;

		for_each(e, generic->entries, generic->n) {
			const struct event_code code = { tables[i].type, e->value };

			if (e->traits & XLAT_NONABI)
				continue;
			people_form(generic, e, name);
			hook(ctx, &code, name);
		}
	}
	for (size_t i = 0; i < all; i++) {
		struct event_code code = { .type = PERF_TYPE_HW_CACHE };
		bool alias = false;

		at[CACHE_RESULT] = i % x[2]->n;
		at[CACHE_OP] = i / x[2]->n % x[1]->n;
		at[CACHE_ID] = i / x[2]->n / x[1]->n;
		for (unsigned int k = 0; k < CACHE_PARTS; k++) {
			const struct xlat_entry *e = &x[k]->entries[at[k]];

			alias |= (e->traits & (XLAT_ALIAS | XLAT_NONABI)) != 0;
			code.config |= e->value << parts[k].shift;
			people_form(x[k], e, words[k]);
		}
		snprintf(name, sizeof(name), "%s-%s-%s", words[0], words[1], words[2]);
		if (!alias)
			hook(ctx, &code, name);
	}
}

static void event_near(void *ctx, const struct event_code *code, const char *name)
{
	if (code->type != PERF_TYPE_HW_CACHE)
		nearest_try(ctx, name);
}

void event_words_near(struct nearest *n)
{
	event_words_each(event_near, n);
}
