/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * json-c's objects: creating, composing and writing them.  Where json-c returns NULL or -1
 * for lack of memory, these die.
 */
#ifndef PEVTRACE_DUMP_JSON_NEW_H
#define PEVTRACE_DUMP_JSON_NEW_H

#include <json-c/json_object.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"

/* Return new objects, which the caller releases with json_object_put(). */
struct json_object *json_new_object(void);
struct json_object *json_new_array(void);
struct json_object *json_new_string(const char *text);
struct json_object *json_new_string_len(const char *text, size_t len);
struct json_object *json_new_int(int64_t v);
struct json_object *json_new_uint(uint64_t v);
struct json_object *json_new_bool(bool v);

/* Return a number that is written as this text. */
struct json_object *json_new_decimal(const char *text);

/* Add a value, which the object or array takes over; NULL is null. */
void json_add(struct json_object *o, const char *key, struct json_object *value);
void json_append(struct json_object *array, struct json_object *value);

/*
 * Append the object as one line of JSON, without a newline and with all control characters
 * escaped, and release it.
 */
void json_line(struct buf *out, struct json_object *o);

#endif
