// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/json/json_scan.h"

#include <json-c/json_tokener.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/lib/die.h"
#include "core/lib/scan_text.h"

struct json_scan {
	struct json_value *values;
	size_t n, room;
	uint32_t *slots;		/* of one object: see same_names() */
	size_t slots_room;
	uint32_t secret;
	struct json_tokener *strings;	/* decodes strings with escapes */
	unsigned int nesting;
	char *start, *at, *end;		/* *end is NUL, which ends every loop */
	char error[160];
};

struct json_scan *json_scan_new(unsigned int nesting)
{
	struct json_scan *s = xcalloc(1, sizeof(*s));

	s->nesting = nesting;
	s->strings = json_tokener_new();
	if (!s->strings)
		die("out of memory for reading JSON");
	/* a random secret prevents names chosen to collide, which would slow reading down */
	if (getrandom(&s->secret, sizeof(s->secret), GRND_NONBLOCK) < 0)
		s->secret = 0x12345677;
	s->secret = s->secret >> 3 | 1 << 28;
	return s;
}

void json_scan_free(struct json_scan *s)
{
	if (!s)
		return;
	json_tokener_free(s->strings);
	free(s->values);
	free(s->slots);
	free(s);
}

const char *json_scan_error(const struct json_scan *s)
{
	return s->error;
}

struct json_value *json_scan_member(struct json_value *object, const char *key)
{
	size_t len = strlen(key);
	struct json_value *v;

	json_for_each(v, object)
		if (v->key_len == len && !memcmp(v->key, key, len))
			return v;
	return NULL;
}

/* Set the error at p; return false. */
static bool __attribute__((format(printf, 3, 4)))
wrong(struct json_scan *s, const char *p, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (p == s->end) {
		snprintf(s->error, sizeof(s->error), "%s",
			 p == s->start ? "an empty line" : "JSON that is cut off");
		return false;
	}
	n = snprintf(s->error, sizeof(s->error), "column %zu: ", (size_t)(p - s->start) + 1);
	va_start(ap, fmt);
	vsnprintf(s->error + n, sizeof(s->error) - (size_t)n, fmt, ap);
	va_end(ap);
	return false;
}

/* Duplicate names -------------------------------------------------------------------- */

/*
 * Return a hash: a polynomial at a secret point, modulo 2^31 - 1, so that nobody can choose
 * names that collide.  secret < 2^29 keeps h below 2^32.
 */
static uint32_t hash(const struct json_scan *s, const struct json_value *v)
{
	uint64_t h = v->key_len;

	for (size_t i = 0; i < v->key_len; i++) {
		h = h * s->secret + (unsigned char)v->key[i];
		h = (h & 0x7fffffff) + (h >> 31);
	}
	return (uint32_t)h;
}

/* Return the number of bytes of a name to show, in whole characters. */
static int some(const struct json_value *v)
{
	size_t n = 0, next;

	while (n < v->key_len && n < 60) {
		next = utf8_at(v->key + n, v->key_len - n);
		n += next ? next : 1;
	}
	return (int)n;
}

/* Return whether two members have the same name, and set the error. */
static bool same_names(struct json_scan *s, struct json_value *object)
{
	size_t slots = 4;
	struct json_value *v;

	if (object->len < 2)
		return false;
	while (slots < 2 * (size_t)object->len)
		slots *= 2;
	if (slots > s->slots_room) {
		free(s->slots);
		s->slots = xmalloc(slots * sizeof(*s->slots));
		s->slots_room = slots;
	}
	memset(s->slots, 0, slots * sizeof(*s->slots));
	json_for_each(v, object) {
		size_t i = hash(s, v) & (slots - 1);

		for (; s->slots[i]; i = (i + 1) & (slots - 1)) {
			const struct json_value *w = object + s->slots[i];

			if (w->key_len == v->key_len && !memcmp(w->key, v->key, v->key_len))
				return !wrong(s, v->key - 1, "duplicate name \"%.*s\"", some(v),
					      v->key);
		}
		s->slots[i] = (uint32_t)(v - object);
	}
	return false;
}

/* Values ------------------------------------------------------------------------------ */

static bool json_scan_any(struct json_scan *s, unsigned int depth, char *key, uint32_t key_len);

static void skip_blanks(struct json_scan *s)
{
	while (*s->at == ' ' || *s->at == '\t' || *s->at == '\r' || *s->at == '\n')
		s->at++;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Move past a backslash and its escape. */
static bool skip_escape(struct json_scan *s, char **p)
{
	char c = (*p)[1];

	if (c != 'u') {
		if (!c || !strchr("\"\\/bfnrt", c))
			return wrong(s, *p + 1, "invalid escape");
		*p += 2;
		return true;
	}
	*p += 2;
	for (unsigned int i = 0; i < 4; i++, ++*p)
		if (!is_digit(**p) && !((**p | 0x20) >= 'a' && (**p | 0x20) <= 'f'))
			return wrong(s, *p, "\\u without four hexadecimal digits");
	return true;
}

/* Decode a string with escapes by json-c; they are rare, and never become longer. */
static bool json_scan_decode(struct json_scan *s, char *text, uint32_t *len)
{
	struct json_object *o;

	json_tokener_reset(s->strings);
	o = json_tokener_parse_ex(s->strings, text - 1, (int)*len + 2);
	if (!json_object_is_type(o, json_type_string) ||
	    (uint32_t)json_object_get_string_len(o) > *len) {
		json_object_put(o);
		return wrong(s, text - 1, "invalid string");
	}
	*len = (uint32_t)json_object_get_string_len(o);
	memcpy(text, json_object_get_string(o), *len);
	json_object_put(o);
	return true;
}

/* Bytes that end a run of ordinary characters in a string. */
static const bool special[256] = {
	[0 ... 0x1f] = true, ['"'] = true, ['\\'] = true, [0x80 ... 0xff] = true,
};

static bool json_scan_string(struct json_scan *s, char **text, uint32_t *len)
{
	char *start = ++s->at, *p = start;
	bool escapes = false;
	size_t n;

	for (;;) {
		while (!special[(unsigned char)*p])
			p++;
		if (*p == '"')
			break;
		if (*p == '\\') {
			escapes = true;
			if (!skip_escape(s, &p))
				return false;
			continue;
		}
		if ((unsigned char)*p < ' ')
			return wrong(s, p, "a control byte in a string");
		n = utf8_at(p, (size_t)(s->end - p));
		if (!n)
			return wrong(s, p, "not UTF-8");
		p += n;
	}
	s->at = p + 1;
	*text = start;
	*len = (uint32_t)(p - start);
	if (escapes && !json_scan_decode(s, start, len))
		return false;
	start[*len] = '\0';
	return true;
}

static bool skip_digits(struct json_scan *s)
{
	if (!is_digit(*s->at))
		return wrong(s, s->at, "expected a digit");
	while (is_digit(*s->at))
		s->at++;
	return true;
}

static bool json_scan_number(struct json_scan *s, struct json_value *v)
{
	char *start = s->at;

	v->type = JSON_INT;
	s->at += *s->at == '-';
	if (*s->at == '0')
		s->at++;	/* without a digit after it */
	else if (!skip_digits(s))
		return false;
	if (*s->at == '.') {
		v->type = JSON_REAL;
		s->at++;
		if (!skip_digits(s))
			return false;
	}
	if (*s->at == 'e' || *s->at == 'E') {
		v->type = JSON_REAL;
		s->at++;
		s->at += *s->at == '+' || *s->at == '-';
		if (!skip_digits(s))
			return false;
	}
	v->text = start;
	v->len = (uint32_t)(s->at - start);
	return true;
}

static bool json_scan_word(struct json_scan *s, struct json_value *v)
{
	static const struct { const char *word; enum json_value_type type; } words[] = {
		{ "true", JSON_TRUE }, { "false", JSON_FALSE }, { "null", JSON_NULL },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const char *w = words[i].word;

		if (*w != *s->at)
			continue;
		for (; *w && *w == *s->at; w++)
			s->at++;
		v->type = words[i].type;
		return !*w || wrong(s, s->at, "expected true, false or null");
	}
	return wrong(s, s->at, "expected a value");
}

/* Scan the members of an object, or the elements of an array; count them in the value at self. */
static bool json_scan_members(struct json_scan *s, unsigned int depth, size_t self)
{
	bool object = *s->at++ == '{', ended;
	char end = object ? '}' : ']';

	skip_blanks(s);
	ended = *s->at == end;
	s->at += ended;
	while (!ended) {
		uint32_t len = 0;
		char *key = NULL;

		if (object) {
			skip_blanks(s);
			if (*s->at != '"')
				return wrong(s, s->at, "expected a name in quotes");
			if (!json_scan_string(s, &key, &len))
				return false;
			skip_blanks(s);
			if (*s->at != ':')
				return wrong(s, s->at, "expected ':'");
			s->at++;
		}
		if (!json_scan_any(s, depth + 1, key, len))
			return false;
		skip_blanks(s);
		ended = *s->at == end;
		if (!ended && *s->at != ',')
			return wrong(s, s->at, "expected ',' or '%c'", end);
		s->at++;
		s->values[self].len++;
	}
	return true;
}

static bool json_scan_any(struct json_scan *s, unsigned int depth, char *key, uint32_t key_len)
{
	size_t self = s->n;
	struct json_value *v;
	bool good;

	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 256;
		s->values = xrealloc(s->values, s->room * sizeof(*s->values));
	}
	v = &s->values[s->n++];
	*v = (struct json_value){ .key = key, .key_len = key_len, .size = 1 };
	skip_blanks(s);
	if (depth == s->nesting)
		return wrong(s, s->at, "nested deeper than %u", s->nesting);
	if (*s->at == '"') {
		v->type = JSON_STRING;
		return json_scan_string(s, &v->text, &v->len);
	}
	if (*s->at == '-' || is_digit(*s->at))
		return json_scan_number(s, v);
	if (*s->at != '{' && *s->at != '[')
		return json_scan_word(s, v);
	v->type = *s->at == '{' ? JSON_OBJECT : JSON_ARRAY;
	good = json_scan_members(s, depth, self);
	v = &s->values[self];	/* realloc() may have moved it */
	v->size = (uint32_t)(s->n - self);
	return good && !(v->type == JSON_OBJECT && same_names(s, v));
}

struct json_value *json_scan_text(struct json_scan *s, char *text, size_t len)
{
	bool good;

	s->n = 0;
	s->start = s->at = text;
	s->end = text + len;
	*s->end = '\0';
	good = len > INT32_MAX ? wrong(s, text, "longer than 2 GiB") : json_scan_any(s, 0, NULL, 0);
	if (good)
		skip_blanks(s);
	if (good && s->at != s->end)
		good = wrong(s, s->at, "more than one value");
	return good ? s->values : NULL;
}
