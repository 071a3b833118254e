/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What json-c makes of a text, against what dump/scan makes of it.
 *
 * json-c's strict mode takes more than RFC 8259 and pevtrace-json(5) allow:
 * duplicate names or in single quotes; control bytes in strings; overlong
 * UTF-8, surrogates and what is beyond U+10FFFF; NaN and Infinity; numbers like
 * -01 and "1.".  json-c 0.18 and later refuse integers beyond 64 bits, and 0.18 refuses
 * strings that are not ASCII.  Beyond these, it and the scanner must agree.
 */
#ifndef PEVTRACE_TESTS_SCAN_ORACLE_H
#define PEVTRACE_TESTS_SCAN_ORACLE_H

#include <errno.h>
#include <json-c/json_c_version.h>
#include <json-c/json_tokener.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/scan_text.h"
#include "formats/json/json_scan.h"

enum { ORACLE_NESTING = 32 };

/* Whether that mistake is in json-c (issue 892 of the project). */
static inline bool oracle_ascii_only(void)
{
	return json_c_version_num() == ((0 << 16) | (18 << 8));
}

static inline int oracle_flags(void)
{
	return JSON_TOKENER_VALIDATE_UTF8 | (oracle_ascii_only() ? 0 : JSON_TOKENER_STRICT);
}

/* NULL and *good for null. */
static inline struct json_object *oracle_parse(const char *text, size_t len, bool *good)
{
	struct json_tokener *tok = json_tokener_new_ex(ORACLE_NESTING);
	char *copy = malloc(len + 1);
	struct json_object *o;

	/* blanks at the end: json-c takes some of them behind some values */
	while (len && strchr(" \t\r\n", text[len - 1]) && text[len - 1])
		len--;
	memcpy(copy, text, len);
	copy[len] = '\0';	/* ends a number that is all there is */
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	o = json_tokener_parse_ex(tok, copy, (int)len + 1);
	*good = json_tokener_get_error(tok) == json_tokener_success &&
		json_tokener_get_parse_end(tok) >= len && !memchr(copy, '\0', len);
	if (!*good) {
		json_object_put(o);
		o = NULL;
	}
	json_tokener_free(tok);
	free(copy);
	return o;
}

/* Members in a text that is JSON: colons outside of strings. */
static inline size_t oracle_members(const char *text, size_t len)
{
	bool in_string = false;
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (in_string && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			in_string = !in_string;
		else if (text[i] == ':')
			n += !in_string;
	}
	return n;
}

static inline bool oracle_same(struct json_value *v, struct json_object *o);

static inline bool oracle_same_members(struct json_value *v, struct json_object *o)
{
	struct json_value *m;
	bool cut = false;

	/* json-c's names end at a NUL: such a member may take the place of any other */
	json_for_each(m, v) {
		if (!m->key || m->key[m->key_len])
			return false;
		cut |= memchr(m->key, '\0', m->key_len) != NULL;
	}
	json_for_each(m, v) {
		struct json_object *other;

		if (!memchr(m->key, '\0', m->key_len) &&
		    (!json_object_object_get_ex(o, m->key, &other) ||
		     (!oracle_same(m, other) && !cut)))
			return false;
	}
	return cut || (size_t)json_object_object_length(o) == v->len;
}

static inline bool oracle_same(struct json_value *v, struct json_object *o)
{
	struct json_value *m;
	char number[400];
	size_t i = 0;
	long long n;

	switch (v->type) {
	case JSON_NULL:
		return !o;
	case JSON_FALSE:
	case JSON_TRUE:
		return json_object_is_type(o, json_type_boolean) &&
			json_object_get_boolean(o) == (v->type == JSON_TRUE);
	case JSON_INT:
		snprintf(number, sizeof(number), "%.*s", (int)v->len, v->text);
		errno = 0;
		n = strtoll(number, NULL, 10);
		return json_object_is_type(o, json_type_int) &&
			(errno || json_object_get_int64(o) == n);
	case JSON_REAL:
		return json_object_is_type(o, json_type_double);
	case JSON_STRING:
		return json_object_is_type(o, json_type_string) && !v->text[v->len] &&
			(size_t)json_object_get_string_len(o) == v->len &&
			!memcmp(json_object_get_string(o), v->text, v->len);
	case JSON_ARRAY:
		if (!json_object_is_type(o, json_type_array) ||
		    json_object_array_length(o) != v->len)
			return false;
		json_for_each(m, v)
			if (!oracle_same(m, json_object_array_get_idx(o, i++)))
				return false;
		return i == v->len;
	case JSON_OBJECT:
		return json_object_is_type(o, json_type_object) && oracle_same_members(v, o);
	default:
		return false;
	}
}

static inline bool oracle_utf8(const char *text, size_t len)
{
	size_t n;

	for (size_t i = 0; i < len; i += n)
		if (!(n = utf8_at(text + i, len - i)))
			return false;
	return true;
}

/* Whether the text has a word at or around that place that is no number of JSON. */
static inline bool oracle_odd_number(const char *text, size_t len, size_t at)
{
	const char *const part = "+-.0123456789eEINaifnty";
	size_t from = at, to = at;
	regmatch_t all;
	char word[80];
	regex_t re;
	bool odd;

	while (from && text[from - 1] && strchr(part, text[from - 1]))
		from--;
	while (to < len && text[to] && strchr(part, text[to]))
		to++;
	if (to == from)
		return false;
	snprintf(word, sizeof(word), "%.*s", (int)(to - from), text + from);
	if (regcomp(&re, "^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?$", REG_EXTENDED))
		abort();
	odd = regexec(&re, word, 1, &all, 0) && strpbrk(word, "0123456789IN");
	regfree(&re);
	return odd;
}

/* Whether json-c may take what the scanner refuses with that message. */
static inline bool oracle_lax(const char *why, const char *text, size_t len,
			      struct json_object *o)
{
	size_t column = 0, had, has;
	const char *plain;

	if (strstr(why, "cut off"))	/* as the number 1. is, at the end */
		return len && oracle_odd_number(text, len, len - 1);
	if (sscanf(why, "column %zu: ", &column) != 1 || !column || column > len)
		return false;
	if (strstr(why, "control byte"))
		return (unsigned char)text[column - 1] < ' ';
	if (strstr(why, "a name in quotes"))
		return text[column - 1] == '\'';
	if (strstr(why, "not UTF-8"))
		return !oracle_utf8(text, len);
	if (strstr(why, "duplicate name")) {
		plain = json_object_to_json_string_length(o, JSON_C_TO_STRING_PLAIN, &has);
		had = oracle_members(text, len);
		return text[column - 1] == '"' && had > oracle_members(plain, has);
	}
	return oracle_odd_number(text, len, column - 1);
}

/* Whether v has an integer beyond 64 bits. */
static inline bool oracle_big(struct json_value *v)
{
	struct json_value *m;
	char number[400];

	if (v->type == JSON_ARRAY || v->type == JSON_OBJECT) {
		json_for_each(m, v)
			if (oracle_big(m))
				return true;
		return false;
	}
	if (v->type != JSON_INT)
		return false;
	snprintf(number, sizeof(number), "%.*s", (int)v->len, v->text);
	errno = 0;
	if (*number == '-')
		strtoll(number, NULL, 10);
	else
		strtoull(number, NULL, 10);
	return errno == ERANGE;
}

/* Whether json-c may refuse what the scanner takes, which made v of it. */
static inline bool oracle_refuses(struct json_value *v, const char *text, size_t len)
{
	if (oracle_ascii_only())
		for (size_t i = 0; i < len; i++)
			if ((unsigned char)text[i] >= 0x80)
				return true;
	return oracle_big(v);
}

/* NULL: they agree.  Otherwise in what they do not. */
static inline const char *oracle_disagrees(struct json_scan *s, const char *text, size_t len)
{
	char *copy = malloc(len + 1);	/* exact, for the address sanitizer */
	const char *wrong = NULL, *plain;
	struct json_value *v;
	struct json_object *o;
	size_t n;
	bool good;

	memcpy(copy, text, len);
	v = json_scan_text(s, copy, len);
	o = oracle_parse(text, len, &good);
	if (v && !good && oracle_refuses(v, text, len))
		goto done;
	if (v && !good)
		wrong = "taken, but not by json-c";
	else if (v && !oracle_same(v, o))
		wrong = "other values";
	else if (v && !oracle_utf8(text, len))
		wrong = "taken, but not UTF-8";
	else if (!v && good && !oracle_lax(json_scan_error(s), text, len, o))
		wrong = json_scan_error(s);
	if (v && !wrong && !memmem(text, len, "\\u0000", 6)) {
		plain = json_object_to_json_string_length(o, JSON_C_TO_STRING_PLAIN, &n);
		if (oracle_members(text, len) != oracle_members(plain, n))
			wrong = "a duplicate name is accepted";
	}
done:
	json_object_put(o);
	free(copy);
	return wrong;
}

#endif
