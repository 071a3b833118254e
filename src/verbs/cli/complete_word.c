// SPDX-License-Identifier: LGPL-2.1-or-later
/* The word under the cursor, and the candidates for it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs/cli/complete_internal.h"
#include "core/lib/die.h"

void complete_with(struct completion *c, const char *name, const char *help)
{
	if (strncmp(name, c->typed, strlen(c->typed)))
		return;
	printf("%s%s%s%s\n", buf_str(&c->head), name, help ? "\t" : "", help ? help : "");
}

static void complete_offered(void *ctx, const char *name)
{
	complete_with(ctx, name, NULL);
}

void complete_skip(struct completion *c, const char *separators)
{
	const char *last = NULL;

	for (const char *p = c->typed; *p; p++)
		if (strchr(separators, *p))
			last = p + 1;
	if (!last)
		return;
	buf_add(&c->head, c->typed, (size_t)(last - c->typed));
	c->typed = last;
}

bool complete_key(struct completion *c, const char *key)
{
	size_t len = strlen(key);

	if (strncmp(c->typed, key, len))
		return false;
	buf_adds(&c->head, key);
	c->typed += len;
	return true;
}

void complete_list(struct completion *c, const char *list)
{
	char *words = verb_words(list), *save;

	complete_skip(c, "!,");
	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
		complete_with(c, w, NULL);
	free(words);
}

void complete_start(struct completion *c, const char *word)
{
	*c = (struct completion){ .typed = word };
	nearest_start_list(&c->offers, complete_offered, c);
}
