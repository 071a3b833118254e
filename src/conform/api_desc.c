// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/api_desc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "core/lib/scan_text.h"

struct api_name *api_desc_add_name(struct api_desc *s, const char *name, const char *set)
{
	s->names = xgrow(s->names, s->nnames, sizeof(*s->names));
	s->names[s->nnames] = (struct api_name){
		.name = xstrdup(name), .set = xstrdup(set ? set : ""),
	};
	return &s->names[s->nnames++];
}

struct api_struct *api_desc_add_struct(struct api_desc *s, const char *name)
{
	s->structs = xgrow(s->structs, s->nstructs, sizeof(*s->structs));
	s->structs[s->nstructs] = (struct api_struct){ .name = xstrdup(name) };
	return &s->structs[s->nstructs++];
}

struct api_member *api_desc_add_member(struct api_struct *st, const char *name)
{
	st->members = xgrow(st->members, st->n, sizeof(*st->members));
	st->members[st->n] = (struct api_member){
		.name = xstrdup(name),
		/* "__reserved_1", "res", "cap_____res" */
		.reserved = !strncmp(name, "__reserved", 10) || !strcmp(name, "reserved") ||
			    !strcmp(name, "res") || strstr(name, "__res") ||
			    strstr(name, "_rsvd"),
	};
	return &st->members[st->n++];
}

const struct api_name *api_name(const struct api_desc *s, const char *name)
{
	for (size_t i = 0; i < s->nnames; i++)
		if (!strcmp(s->names[i].name, name))
			return &s->names[i];
	return NULL;
}

const struct api_struct *api_struct(const struct api_desc *s, const char *name)
{
	for (size_t i = 0; i < s->nstructs; i++)
		if (!strcmp(s->structs[i].name, name))
			return &s->structs[i];
	return NULL;
}

const struct api_member *api_member(const struct api_struct *st, const char *name)
{
	for (size_t i = 0; st && i < st->n; i++)
		if (!strcmp(st->members[i].name, name))
			return &st->members[i];
	return NULL;
}

bool api_desc_has_member(const struct api_desc *s, const char *name)
{
	for (size_t i = 0; i < s->nstructs; i++)
		if (api_member(&s->structs[i], name))
			return true;
	return false;
}

bool api_desc_phrase(const char *text, size_t len, const char *phrase, size_t n)
{
	for (size_t i = 0; n && i + n <= len; i++) {
		size_t same = 0;

		if (i && scan_is_word(text[i - 1]))
			continue;
		while (same < n && (tolower((unsigned char)text[i + same]) ==
				    tolower((unsigned char)phrase[same]) ||
				    (phrase[same] == ' ' && text[i + same] == '\n')))
			same++;
		if (same == n && (i + n == len || !scan_is_word(text[i + n])))
			return true;
	}
	return false;
}

const char *text_item(const char **list, char by, size_t *len)
{
	const char *item = *list;

	if (!*item)
		return NULL;
	*len = (size_t)(strchrnul(item, by) - item);
	*list += *len + (item[*len] == by);
	return item;
}

bool text_has_item(const char *list, char by, const char *word, size_t len)
{
	size_t n;

	for (const char *s; (s = text_item(&list, by, &n));)
		if (n == len && !memcmp(s, word, len))
			return true;
	return false;
}

bool api_desc_any(const char *text, size_t len, const char *words)
{
	size_t n;

	for (const char *s; (s = text_item(&words, ',', &n));)
		if (api_desc_phrase(text, len, s, n))
			return true;
	return false;
}

void api_desc_struct_free(struct api_struct *st)
{
	for (size_t i = 0; i < st->n; i++) {
		free(st->members[i].name);
		free(st->members[i].type);
		free(st->members[i].array);
		free(st->members[i].when);
	}
	free(st->members);
	free(st->name);
}

void api_desc_free(struct api_desc *s)
{
	for (size_t i = 0; i < s->nnames; i++) {
		free(s->names[i].name);
		free(s->names[i].set);
		free(s->names[i].file);
	}
	for (size_t i = 0; i < s->nstructs; i++)
		api_desc_struct_free(&s->structs[i]);
	free(s->names);
	free(s->structs);
	free(s->file);
	*s = (struct api_desc){ .source = s->source };
}
