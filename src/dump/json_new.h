/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * json-c's objects: made, put together, and written.  json-c returns NULL or -1 when
 * memory is out, and NULL is also its null: these die instead.
 */
#ifndef PEVTRACE_DUMP_JSON_NEW_H
#define PEVTRACE_DUMP_JSON_NEW_H

#include <json-c/json_object.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* New objects, the caller's to put. */
struct json_object *json_new_object(void);
struct json_object *json_new_array(void);
struct json_object *json_new_string(const char *text);
struct json_object *json_new_string_len(const char *text, size_t len);
struct json_object *json_new_int(int64_t v);
struct json_object *json_new_uint(uint64_t v);
struct json_object *json_new_bool(bool v);

/* A number that is written as the text says. */
struct json_object *json_new_decimal(const char *text);

/* The object or array takes the value over; NULL is null. */
void json_add(struct json_object *o, const char *key, struct json_object *value);
void json_append(struct json_object *array, struct json_object *value);

/*
 * The whole of an object on one line, for writing, with all control characters
 * escaped; owned by the object.
 */
const char *json_line(struct json_object *o, size_t *len);

#endif
