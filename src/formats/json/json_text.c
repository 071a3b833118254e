// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/json/json_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/lib/scan_text.h"

/* Integers up to here are exact as doubles, which many JSON readers use. */
#define EXACT (1ULL << 53)

/* Texts of values ------------------------------------------------------------------ */

/*
 * Append a JSON string with control characters escaped.  Replace bytes that are not UTF-8 by
 * U+FFFD, and return false if there were any.
 */
static bool jt_add_string(struct buf *out, const char *text, size_t len)
{
	static const char plain[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
	const char *end = text + len, *known;
	bool clean = true;

	buf_addc(out, '"');
	for (const char *at = text; at < end;) {
		size_t n = utf8_at(at, (size_t)(end - at));
		uint32_t c = n ? utf8_code(at, n) : 0;

		if (n && c != '"' && c != '\\' && !utf8_obeyed(c)) {
			at += n;
			continue;
		}
		buf_add(out, text, (size_t)(at - text));
		known = c && c < 0x80 ? strchr(plain, (int)c) : NULL;
		if (known)
			buf_addf(out, "\\%c", names[known - plain]);
		else if (!n)
			buf_adds(out, "\xef\xbf\xbd");
		else if (c > 0xffff) /* a surrogate pair */
			buf_addf(out, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
		else
			buf_addf(out, "\\u%04x", c);
		clean &= n > 0;
		text = at += n ? n : 1;
	}
	buf_add(out, text, (size_t)(end - text));
	buf_addc(out, '"');
	return clean;
}

static void jt_add_hex(struct buf *out, uint64_t v)
{
	buf_addc(out, '"');
	buf_addx(out, v);
	buf_addc(out, '"');
}

static void jt_add_bytes(struct buf *out, const uint8_t *p, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	buf_addc(out, '"');
	for (size_t i = 0; i < len; i++) {
		buf_addc(out, digits[p[i] >> 4]);
		buf_addc(out, digits[p[i] & 15]);
	}
	buf_addc(out, '"');
}

/* Members -------------------------------------------------------------------------- */

/* Write the members beside the last value of this level, which is an object. */
static void jt_flush_beside(struct json_text *j)
{
	size_t from = j->level[j->depth].beside;

	if (j->beside.failed)
		return;
	for (size_t at = from; at < j->beside.len;) {
		const char *name = j->beside.data + at, *text = name + strlen(name) + 1;

		buf_adds(&j->text, j->level[j->depth].any ? ",\"" : "\"");
		j->level[j->depth].any = true;
		buf_adds(&j->text, name);
		buf_adds(&j->text, "\":");
		buf_adds(&j->text, text);
		at = (size_t)(text + strlen(text) + 1 - j->beside.data);
	}
	if (j->beside.len > from)
		j->beside.data[j->beside.len = from] = '\0';
}

/*
 * Begin the member "KEY_SUFFIX" beside the value of that key, in place of an earlier one; in an
 * array, beside the array.  The caller appends its text to the result, and a NUL.
 */
static struct buf *jt_begin_beside(struct json_text *j, const char *key, const char *suffix)
{
	unsigned int depth = j->depth;
	struct buf *b = &j->beside;
	char name[128];

	while (depth && j->level[depth].shape == SINK_ARRAY)
		key = j->level[depth--].key;
	if (!key && !depth)
		key = j->unnamed;
	snprintf(name, sizeof(name), "%s%s%s", key ? key : "", key ? "_" : "", suffix);
	for (size_t at = j->level[depth].beside, next; !b->failed && at < b->len; at = next) {
		size_t n = strlen(b->data + at) + 1;

		next = at + n + strlen(b->data + at + n) + 1;
		if (strcmp(b->data + at, name))
			continue;
		memmove(b->data + at, b->data + next, b->len - next);
		b->len -= next - at;
		break;
	}
	buf_add(b, name, strlen(name) + 1);
	return b;
}

static void jt_string_beside(struct json_text *j, const char *key, const char *suffix,
			  const char *text)
{
	struct buf *out = jt_begin_beside(j, key, suffix);

	jt_add_string(out, text, strlen(text));
	buf_addc(out, '\0');
}

/* Write what precedes a value; the caller appends the value. */
static struct buf *jt_lead(struct json_text *j, const char *key)
{
	bool object = j->level[j->depth].shape == SINK_OBJECT;

	if (object)
		jt_flush_beside(j);
	if (j->level[j->depth].any)
		buf_addc(&j->text, ',');
	j->level[j->depth].any = true;
	if (object) {
		buf_addc(&j->text, '"');
		buf_adds(&j->text, key ? key : j->unnamed ? j->unnamed : "value");
		buf_adds(&j->text, "\":");
	}
	j->last = key;
	return &j->text;
}

/* The sink ------------------------------------------------------------------------- */

static void jt_begin(struct sink *s, const char *key, enum sink_shape shape)
{
	struct json_text *j = sink_self(s);
	struct buf *out = jt_lead(j, key);

	if (j->depth + 1 == JSON_TEXT_DEPTH) {
		buf_adds(out, shape == SINK_OBJECT ? "{}" : "[]");
		j->beyond++;
		return;
	}
	buf_addc(out, shape == SINK_OBJECT ? '{' : '[');
	j->level[++j->depth] = (struct json_text_level){
		.shape = shape, .key = key, .beside = j->beside.len,
	};
	j->last = NULL;
}

static void jt_end(struct sink *s)
{
	struct json_text *j = sink_self(s);

	if (j->beyond) {
		j->beyond--;
		return;
	}
	if (j->level[j->depth].shape == SINK_OBJECT)
		jt_flush_beside(j);
	buf_addc(&j->text, j->level[j->depth].shape == SINK_OBJECT ? '}' : ']');
	j->last = j->level[j->depth].key;
	if (j->depth)
		j->depth--;
}

static void jt_number(struct json_text *j, const char *key, const struct value *v)
{
	const struct xlat *x = v->kind == VALUE_ENUM ? v->xlat : NULL;
	const char *name = x ? xlat_name(x, v->number) : NULL;
	bool config = key && !strncmp(key, "config", 6); /* a mask of fields */

	if (x && xlat_negative(x, v->number))
		json_add_int(j, key, (int64_t)v->number);
	else if (config || (x && v->number >= EXACT))
		json_add_hex(j, key, v->number);
	else
		json_add_uint(j, key, v->number);
	if (name)
		jt_string_beside(j, key, "name", name);
}

/* Write flags or packed values, with their names and the bits that have none. */
static void jt_names(struct json_text *j, const char *key, const struct value *v)
{
	uint64_t rest = v->kind == VALUE_FLAGS ? v->number : 0;
	const struct xlat_entry *e;
	const char *sep = "[\"";
	struct buf *out;
	size_t at = 0;

	json_add_hex(j, key, v->number);
	out = jt_begin_beside(j, key, "names");
	for (; v->kind == VALUE_FLAGS && (e = xlat_next_flag(v->xlat, &rest, &at)); sep = "\",\"") {
		buf_adds(out, sep);
		buf_adds(out, e->name);
	}
	for (size_t i = 0; v->kind == VALUE_PACKED && i < v->len; i++) {
		const struct sink_part *p = &v->parts[i];
		const char *name = p->xlat ? xlat_name(p->xlat, p->value) : NULL;

		if (!name)
			continue;
		buf_adds(out, sep);
		buf_adds(out, name);
		sep = "\",\"";
	}
	buf_adds(out, *sep == '[' ? "[]" : "\"]");
	buf_addc(out, '\0');
	if (!rest)
		return;
	jt_add_hex(jt_begin_beside(j, key, "unknown"), rest);
	buf_addc(out, '\0');
}

static void jt_string(struct json_text *j, const char *key, const char *bytes, size_t len)
{
	if (jt_add_string(jt_lead(j, key), bytes, len))
		return;
	jt_add_bytes(jt_begin_beside(j, key, "hex"), (const uint8_t *)bytes, len);
	buf_addc(&j->beside, '\0');
}

static void jt_value(struct sink *s, const char *key, const struct value *v)
{
	struct json_text *j = sink_self(s);

	switch (v->kind) {
	case VALUE_UINT:
	case VALUE_ENUM:
		jt_number(j, key, v);
		break;
	case VALUE_SINT:
	case VALUE_FD:
		json_add_int(j, key, (int64_t)v->number);
		if (v->text)
			jt_string_beside(j, key, "label", v->text);
		break;
	case VALUE_HEX:
	case VALUE_ADDR:
		json_add_hex(j, key, v->number);
		break;
	case VALUE_FLAGS:
	case VALUE_PACKED:
		jt_names(j, key, v);
		break;
	case VALUE_SYMBOL:
		jt_add_string(jt_lead(j, key), v->text, v->len);
		break;
	case VALUE_STRING:
		jt_string(j, key, v->text, v->len);
		break;
	case VALUE_BYTES:
		jt_add_bytes(jt_lead(j, key), (const uint8_t *)v->text, v->len);
		break;
	}
	if (v->cut) {
		buf_adds(jt_begin_beside(j, key, "cut"), "true");
		buf_addc(&j->beside, '\0');
	}
}

static void jt_note(struct sink *s, const char *key, const char *text)
{
	struct json_text *j = sink_self(s);

	jt_string_beside(j, j->last, key, text);
}

static const struct sink_ops json_text_ops = {
	.begin = jt_begin, .end = jt_end, .value = jt_value, .note = jt_note,
};

void json_text_begin(struct json_text *j)
{
	*j = (struct json_text){
		.sink = { .ops = &json_text_ops, .full = true, .max_string = 65536 },
	};
	buf_addc(&j->text, '{');
}

struct buf json_text_end(struct json_text *j)
{
	struct buf text;

	jt_flush_beside(j);
	buf_addc(&j->text, '}');
	j->text.failed |= j->beside.failed;
	buf_free(&j->beside);
	text = j->text;
	j->text = (struct buf){ 0 };
	return text;
}

/* Members without a meaning of the interface ----------------------------------------- */

void json_add_uint(struct json_text *j, const char *key, uint64_t v)
{
	buf_addu(jt_lead(j, key), v);
}

void json_add_int(struct json_text *j, const char *key, int64_t v)
{
	buf_addf(jt_lead(j, key), "%" PRId64, v);
}

void json_add_hex(struct json_text *j, const char *key, uint64_t v)
{
	jt_add_hex(jt_lead(j, key), v);
}

void json_add_bool(struct json_text *j, const char *key, bool v)
{
	json_add_raw(j, key, v ? "true" : "false");
}

void json_add_string(struct json_text *j, const char *key, const char *text)
{
	if (text)
		jt_string(j, key, text, strlen(text));
	else
		json_add_raw(j, key, "null");
}

void json_add_words(struct json_text *j, const char *key, char *const *words)
{
	sink_begin(&j->sink, key, SINK_ARRAY);
	for (size_t i = 0; words && words[i]; i++)
		sink_symbol(&j->sink, NULL, words[i]);
	sink_end(&j->sink);
}

void json_add_bytes(struct json_text *j, const char *key, const void *bytes, size_t len)
{
	jt_add_bytes(jt_lead(j, key), bytes, len);
}

void json_add_raw(struct json_text *j, const char *key, const char *text)
{
	buf_adds(jt_lead(j, key), text);
}

void json_add_object(struct json_text *j, const char *key, struct json_text *object)
{
	struct buf text = json_text_end(object);

	json_add_raw(j, key, buf_str(&text));
	buf_free(&text);
}

void json_add_members(struct json_text *j, struct json_text *object)
{
	struct buf text = json_text_end(object);

	if (text.len > 2) {
		jt_flush_beside(j);
		if (j->level[j->depth].any)
			buf_addc(&j->text, ',');
		j->level[j->depth].any = true;
		buf_add(&j->text, text.data + 1, text.len - 2);
		j->last = NULL;
	}
	buf_free(&text);
}

bool json_text_empty(const struct json_text *j)
{
	return !j->level[0].any && !j->beside.len;
}

void json_text_drop(struct json_text *j)
{
	buf_free(&j->text);
	buf_free(&j->beside);
}
