// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dump/json_new.h"

#include "lib/die.h"

static struct json_object *made(struct json_object *o)
{
	if (!o)
		die("out of memory for JSON");
	return o;
}

struct json_object *json_new_object(void)
{
	return made(json_object_new_object());
}

struct json_object *json_new_array(void)
{
	return made(json_object_new_array());
}

struct json_object *json_new_string(const char *text)
{
	return made(json_object_new_string(text));
}

struct json_object *json_new_string_len(const char *text, size_t len)
{
	return made(json_object_new_string_len(text, (int)len));
}

struct json_object *json_new_int(int64_t v)
{
	return made(json_object_new_int64(v));
}

struct json_object *json_new_uint(uint64_t v)
{
	return made(json_object_new_uint64(v));
}

struct json_object *json_new_bool(bool v)
{
	return made(json_object_new_boolean(v));
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

void json_add_literal(struct json_object *o, const char *key, struct json_object *value)
{
	if (json_object_object_add_ex(o, key, value, JSON_C_OBJECT_KEY_IS_CONSTANT))
		die("out of memory for JSON");
}
