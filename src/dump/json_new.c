// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dump/json_new.h"

#include <json-c/linkhash.h>
#include <string.h>

#include "lib/buf.h"
#include "lib/die.h"
#include "lib/utf8.h"

static struct json_object *json_made(struct json_object *o)
{
	if (!o)
		die("out of memory for JSON");
	return o;
}

struct json_object *json_new_object(void)
{
	return json_made(json_object_new_object());
}

struct json_object *json_new_array(void)
{
	return json_made(json_object_new_array());
}

struct json_object *json_new_string(const char *text)
{
	return json_made(json_object_new_string(text));
}

struct json_object *json_new_string_len(const char *text, size_t len)
{
	return json_made(json_object_new_string_len(text, (int)len));
}

struct json_object *json_new_int(int64_t v)
{
	return json_made(json_object_new_int64(v));
}

struct json_object *json_new_uint(uint64_t v)
{
	return json_made(json_object_new_uint64(v));
}

struct json_object *json_new_bool(bool v)
{
	return json_made(json_object_new_boolean(v));
}

struct json_object *json_new_decimal(const char *text)
{
	return json_made(json_object_new_double_s(0, text));
}

void json_add(struct json_object *o, const char *key, struct json_object *value)
{
	if (json_object_object_add(o, key, value))
		die("out of memory for JSON");
}

void json_append(struct json_object *array, struct json_object *value)
{
	if (json_object_array_add(array, value))
		die("out of memory for JSON");
}

/* Lines ------------------------------------------------------------------------ */

/*
 * Return the length of a character that must be escaped, which *c is, or 0.  JSON allows
 * most of those that a terminal obeys.
 */
static size_t special_at(const char *p, size_t len, uint32_t *c)
{
	size_t n = utf8_at(p, len);

	*c = n ? utf8_code(p, n) : 0xfffd;
	return *c == '"' || *c == '\\' || utf8_obeyed(*c) ? n : 0;
}

static void put_special(struct buf *out, uint32_t c)
{
	static const char plain[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
	const char *known = c && c < 0x80 ? strchr(plain, (int)c) : NULL;

	if (known)
		buf_addf(out, "\\%c", names[known - plain]);
	else if (c > 0xffff) /* a surrogate pair */
		buf_addf(out, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
	else
		buf_addf(out, "\\u%04x", c);
}

static void json_write_string(struct buf *out, const char *text, size_t len)
{
	const char *end = text + len, *at = text;
	uint32_t c;

	buf_addc(out, '"');
	while (at < end) {
		size_t n = special_at(at, (size_t)(end - at), &c);

		if (!n) {
			at++;
			continue;
		}
		buf_add(out, text, (size_t)(at - text));
		put_special(out, c);
		text = at += n;
	}
	buf_add(out, text, (size_t)(end - text));
	buf_addc(out, '"');
}

static void json_write_value(struct buf *out, struct json_object *o);

static void put_members(struct buf *out, struct json_object *o)
{
	const char *between = "{";

	json_object_object_foreach(o, key, value) {
		buf_adds(out, between);
		json_write_string(out, key, strlen(key));
		buf_addc(out, ':');
		json_write_value(out, value);
		between = ",";
	}
	buf_adds(out, *between == '{' ? "{}" : "}");
}

static void put_elements(struct buf *out, struct json_object *o)
{
	size_t n = json_object_array_length(o);

	buf_addc(out, '[');
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_addc(out, ',');
		json_write_value(out, json_object_array_get_idx(o, i));
	}
	buf_addc(out, ']');
}

static void put_int(struct buf *out, struct json_object *o)
{
	int64_t v = json_object_get_int64(o);

	if (v < 0)
		buf_addf(out, "%lld", (long long)v);
	else	/* it may exceed int64_t */
		buf_addu(out, json_object_get_uint64(o));
}

static void json_write_value(struct buf *out, struct json_object *o)
{
	switch (json_object_get_type(o)) {
	case json_type_object:
		put_members(out, o);
		break;
	case json_type_array:
		put_elements(out, o);
		break;
	case json_type_string:
		json_write_string(out, json_object_get_string(o),
				  (size_t)json_object_get_string_len(o));
		break;
	case json_type_int:
		put_int(out, o);
		break;
	case json_type_double:	/* stored with its text */
		buf_adds(out, json_object_get_userdata(o));
		break;
	case json_type_boolean:
		buf_adds(out, json_object_get_boolean(o) ? "true" : "false");
		break;
	case json_type_null:
		buf_adds(out, "null");
		break;
	}
}

/*
 * In place of json-c's writer, which silently omits values if memory is short.  The text is no
 * user data of the object: json-c 0.19 frees that of objects and arrays twice.
 */
void json_line(struct buf *out, struct json_object *o)
{
	json_write_value(out, o);
	json_object_put(o);
}
