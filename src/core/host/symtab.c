// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/symtab.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/host/sysfile.h"
#include "core/lib/die.h"

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

enum {
	MAX_ENTRIES = 1 << 20,
	MAX_TEXT = 128 << 20,
	MAX_NAME = 4096,
	/* how many symbols before an address are tried */
	MAX_BACK = 32,
};

/* Limit of the code that a symbol without a size covers. */
static const uint64_t max_unsized = 1 << 20;

static uint32_t symtab_keep(struct symtab *t, const char *s, size_t max)
{
	uint32_t at;

	if (!t->text.len)
		buf_addc(&t->text, '\0');	/* offset 0 is no name */
	at = (uint32_t)t->text.len;
	buf_add(&t->text, s, strnlen(s, max));
	buf_addc(&t->text, '\0');
	return at;
}

void symtab_add(struct symtab *t, uint64_t addr, uint64_t size, bool global,
		const char *name, const char *module)
{
	struct symtab_entry *e;

	if (t->n >= MAX_ENTRIES || t->text.len >= MAX_TEXT)
		return;
	if (t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 256;
		t->entries = xrealloc(t->entries, t->cap * sizeof(*e));
	}
	e = &t->entries[t->n++];
	*e = (struct symtab_entry){ .addr = addr, .size = size, .global = global };
	while (name[e->underscores] == '_' && e->underscores < UINT8_MAX)
		e->underscores++;
	e->name = symtab_keep(t, name, MAX_NAME);
	e->len = (uint16_t)(t->text.len - e->name - 1);
	/* kallsyms lists the symbols of a module together */
	if (module && (!t->module_at || strcmp(t->module, module))) {
		snprintf(t->module, sizeof(t->module), "%s", module);
		t->module_at = symtab_keep(t, t->module, sizeof(t->module));
	}
	e->module = module ? t->module_at : 0;
}

/*
 * Sort the best of several names for an address last: ioctl, which is weak, after __ioctl, and
 * __libc_start_main after __libc_start_main_impl.  The names themselves are not compared: that
 * would take minutes for a file with a million long ones.
 */
static int symtab_compare(const void *left, const void *right)
{
	const struct symtab_entry *a = left, *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (!a->size != !b->size)
		return a->size ? 1 : -1;
	if (a->global != b->global)
		return a->global ? 1 : -1;
	if (a->underscores != b->underscores)
		return a->underscores < b->underscores ? 1 : -1;
	if (a->len != b->len)
		return a->len < b->len ? 1 : -1;
	return a->name < b->name ? 1 : -1;
}

void symtab_sort(struct symtab *t)
{
	if (t->n)
		qsort(t->entries, t->n, sizeof(*t->entries), symtab_compare);
}

const struct symtab_entry *symtab_find(const struct symtab *t, uint64_t addr)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->entries[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t back = 0; back < MAX_BACK && back < low; back++) {
		const struct symtab_entry *e = &t->entries[low - 1 - back];

		if (addr - e->addr < (e->size ? e->size : max_unsized))
			return e;
	}
	return NULL;
}

void symtab_free(struct symtab *t)
{
	free(t->entries);
	buf_free(&t->text);
	*t = (struct symtab){ 0 };
}

void symtab_read_kallsyms(struct symtab *t, const char *path)
{
	for (struct lines l = lines_of(path); lines_next(&l);) {
		/* "ffffffffc0001000 t ext4_sync_fs	[ext4]" */
		char *name, *module, *end;
		uint64_t addr = strtoull(l.text, &end, 16);

		if (end == l.text || *end != ' ' || !end[1] || end[2] != ' ' || !addr ||
		    !strchr("tTwW", end[1])) /* no code */
			continue;
		name = end + 3;
		module = strchr(name, '\t');
		if (module) {
			*module++ = '\0';
			module += *module == '[';
			module[strcspn(module, "]")] = '\0';
		}
		symtab_add(t, addr, 0, isupper((unsigned char)end[1]), name, module);
	}
	symtab_sort(t);
}
