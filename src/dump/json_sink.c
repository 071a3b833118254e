// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dump/json_sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/buf.h"
#include "lib/die.h"
#include "lib/utf8.h"

/* Integers up to here are exact as doubles, which many JSON readers use. */
#define EXACT (1ULL << 53)

static struct json_sink *json_self(struct sink *s)
{
	return (struct json_sink *)s; /* sink is its first member */
}

static const char digits[] = "0123456789abcdef";

struct json_object *json_hex(uint64_t v)
{
	char text[18], *end = text + sizeof(text), *p = end;

	do
		*--p = digits[v & 15];
	while (v >>= 4);
	*--p = 'x';
	*--p = '0';
	return json_new_string_len(p, (size_t)(end - p));
}

struct json_object *json_bytes(const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	char *text = xmalloc(2 * len + 1);
	struct json_object *o;

	for (size_t i = 0; i < len; i++) {
		text[2 * i] = digits[p[i] >> 4];
		text[2 * i + 1] = digits[p[i] & 15];
	}
	o = json_new_string_len(text, (size_t)(2 * len));
	free(text);
	return o;
}

struct json_object *json_text(const char *text, size_t len, bool *clean)
{
	struct buf out = { 0 };
	struct json_object *o;
	size_t n, good = 0;

	while (good < len && (n = utf8_at(text + good, len - good)))
		good += n;
	*clean = good == len;
	if (*clean)
		return json_new_string_len(text, len);
	buf_add(&out, text, good);
	for (size_t i = good; i < len; i += n) {
		n = utf8_at(text + i, len - i);
		if (n) {
			buf_add(&out, text + i, n);
			continue;
		}
		buf_adds(&out, "\xef\xbf\xbd");
		n = 1;
	}
	o = json_new_string_len(buf_str(&out), out.len);
	buf_free(&out);
	return o;
}

/* Add "KEY_SUFFIX" to the object that contains key; do nothing in arrays. */
static void add_beside(struct json_sink *j, const char *key, const char *suffix,
		       struct json_object *value)
{
	unsigned int depth = j->depth;
	char name[128];

	/* an element has no key: add it to the array's own */
	while (depth && json_object_is_type(j->level[depth].object, json_type_array)) {
		key = j->level[depth].key;
		depth--;
	}
	if (key)
		snprintf(name, sizeof(name), "%s_%s", key, suffix);
	else
		snprintf(name, sizeof(name), "%s", suffix);
	json_add(j->level[depth].object, name, value);
}

static void json_put(struct json_sink *j, const char *key, struct json_object *value)
{
	struct json_object *in = j->level[j->depth].object;

	if (json_object_is_type(in, json_type_array))
		json_append(in, value);
	else
		json_add(in, key ? key : "value", value);
	j->last = key;
}

static void json_begin(struct sink *s, const char *key, enum sink_shape shape)
{
	struct json_sink *j = json_self(s);
	struct json_object *o = shape == SINK_OBJECT ? json_new_object() :
						       json_new_array();

	json_put(j, key, o);
	if (j->depth + 1 == JSON_DEPTH) {
		j->beyond++;
		return;
	}
	j->depth++;
	j->level[j->depth].object = o;
	j->level[j->depth].key = key;
	j->last = NULL;
}

static void json_end(struct sink *s)
{
	struct json_sink *j = json_self(s);

	if (j->beyond) {
		j->beyond--;
		return;
	}
	j->last = j->level[j->depth].key;
	if (j->depth)
		j->depth--;
}

/* Configs are masks of fields: write them in hexadecimal. */
static bool is_config(const char *key)
{
	return key && !strncmp(key, "config", 6);
}

static struct json_object *json_number(const char *key, uint64_t v)
{
	return is_config(key) ? json_hex(v) : json_new_uint(v);
}

static void json_put_uint(struct sink *s, const char *key, uint64_t v)
{
	json_put(json_self(s), key, json_number(key, v));
}

static void json_put_sint(struct sink *s, const char *key, int64_t v)
{
	json_put(json_self(s), key, json_new_int(v));
}

static void json_put_hex(struct sink *s, const char *key, uint64_t v)
{
	json_put(json_self(s), key, json_hex(v));
}

static void json_put_enum(struct sink *s, const char *key, const struct xlat *x, uint64_t v)
{
	struct json_sink *j = json_self(s);
	const char *name = xlat_name(x, v);

	if (xlat_negative(x, v))
		json_put_sint(s, key, (int64_t)v);
	else
		json_put(j, key, v < EXACT ? json_number(key, v) : json_hex(v));
	if (name)
		add_beside(j, key, "name", json_new_string(name));
}

static void json_put_flags(struct sink *s, const char *key, const struct xlat *x, uint64_t v)
{
	struct json_object *names = json_new_array();
	struct json_sink *j = json_self(s);
	const struct xlat_entry *e;
	uint64_t rest = v;
	size_t at = 0;

	while ((e = xlat_next_flag(x, &rest, &at)))
		json_append(names, json_new_string(e->name));
	json_put(j, key, json_hex(v));
	add_beside(j, key, "names", names);
	if (rest)
		add_beside(j, key, "unknown", json_hex(rest));
}

static void json_put_packed(struct sink *s, const char *key, uint64_t raw,
			    const struct sink_part *parts, size_t n)
{
	struct json_object *names = json_new_array();
	struct json_sink *j = json_self(s);

	for (size_t i = 0; i < n; i++) {
		const char *name = parts[i].xlat ?
			xlat_name(parts[i].xlat, parts[i].value) : NULL;

		if (name)
			json_append(names, json_new_string(name));
	}
	json_put(j, key, json_hex(raw));
	add_beside(j, key, "names", names);
}

static void json_put_symbol(struct sink *s, const char *key, const char *word)
{
	json_put(json_self(s), key, json_new_string(word));
}

static void json_put_string(struct sink *s, const char *key, const char *bytes,
			    size_t len, bool cut)
{
	struct json_sink *j = json_self(s);
	bool clean;

	json_put(j, key, json_text(bytes, len, &clean));
	if (!clean)
		add_beside(j, key, "hex", json_bytes(bytes, len));
	if (cut)
		add_beside(j, key, "cut", json_new_bool(1));
}

static void json_put_bytes(struct sink *s, const char *key, const void *bytes,
			   size_t len, bool cut)
{
	struct json_sink *j = json_self(s);

	json_put(j, key, json_bytes(bytes, len));
	if (cut)
		add_beside(j, key, "cut", json_new_bool(1));
}

static void json_put_fd(struct sink *s, const char *key, int64_t fd, const char *label)
{
	struct json_sink *j = json_self(s);
	bool clean;

	json_put(j, key, json_new_int(fd));
	if (label)
		add_beside(j, key, "label", json_text(label, strlen(label), &clean));
}

static void json_put_note(struct sink *s, const char *key, const char *text)
{
	struct json_sink *j = json_self(s);
	bool clean;

	add_beside(j, j->last, key, json_text(text, strlen(text), &clean));
}

static const struct sink_ops json_ops = {
	.begin = json_begin,
	.end = json_end,
	.uint = json_put_uint,
	.sint = json_put_sint,
	.hex = json_put_hex,
	.addr = json_put_hex,
	.enumeration = json_put_enum,
	.flags = json_put_flags,
	.packed = json_put_packed,
	.symbol = json_put_symbol,
	.string = json_put_string,
	.bytes = json_put_bytes,
	.fd = json_put_fd,
	.note = json_put_note,
};

void json_sink_init(struct json_sink *j, struct json_object *top)
{
	*j = (struct json_sink){
		.sink = { .ops = &json_ops, .full = true, .max_string = 65536 },
		.level = { { top, NULL } },
	};
}
