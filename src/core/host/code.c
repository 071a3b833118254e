// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/code.h"

#include <string.h>

static void code_add_text(struct code *c, const char *s)
{
	size_t len = strlen(s);

	if (len > CODE_NAME - 1)
		len = CODE_NAME - 1;
	memcpy(c->text + c->len, s, len);
	c->len += (uint32_t)len;
	c->text[c->len++] = '\0';
}

void code_start(struct code *c)
{
	c->offset = c->nlines = c->len = 0;
	memset(c->line, 0, sizeof(c->line));
	code_add_text(c, "");
}

void code_set_symbol(struct code *c, const char *name, uint64_t offset)
{
	c->len = 0;
	c->offset = offset;
	code_add_text(c, name);
}

bool code_add_line(struct code *c, const char *function, const char *file, uint32_t line)
{
	if (c->nlines == CODE_LINES)
		return false;
	code_add_text(c, function);
	code_add_text(c, file);
	c->line[c->nlines++] = line;
	return true;
}

size_t code_size(const struct code *c)
{
	return offsetof(struct code, text) + c->len;
}

bool code_valid(const struct code *c, size_t size)
{
	size_t texts = 0;

	if (size < offsetof(struct code, text) || c->nlines > CODE_LINES ||
	    c->len > sizeof(c->text) || size != code_size(c))
		return false;
	for (size_t i = 0; i < c->len; i++)
		texts += !c->text[i];
	return texts == 1 + 2 * (size_t)c->nlines && !c->text[c->len - 1];
}

const char *code_symbol(const struct code *c)
{
	return c->text[0] ? c->text : NULL;
}

size_t code_get_lines(const struct code *c, struct code_line list[CODE_LINES])
{
	const char *at = c->text + strlen(c->text) + 1;

	for (size_t i = 0; i < c->nlines; i++) {
		list[i].function = at;
		list[i].file = at + strlen(at) + 1;
		list[i].line = c->line[i];
		at = list[i].file + strlen(list[i].file) + 1;
	}
	return c->nlines;
}
