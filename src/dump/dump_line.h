/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Composing the lines of a dump. */
#ifndef PEVTRACE_DUMP_DUMP_LINE_H
#define PEVTRACE_DUMP_DUMP_LINE_H

#include <json-c/json_object.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Return a new object of that kind, which the caller releases. */
struct json_object *dump_line(const char *kind);

/* As dump_line(), with a task and a time. */
struct json_object *dump_task_line(const char *kind, pid_t tid, uint64_t ns);

/*
 * Add a member to the object.  The key is not copied: it must be a literal.  dump_add()
 * takes the value over.
 */
void dump_add(struct json_object *o, const char *key, struct json_object *v);
void dump_add_int(struct json_object *o, const char *key, int64_t v);
void dump_add_uint(struct json_object *o, const char *key, uint64_t v);
void dump_add_bool(struct json_object *o, const char *key, bool v);

/* Add a string, or null for NULL; if it is not UTF-8, its bytes in KEY_hex, too. */
void dump_add_string(struct json_object *o, const char *key, const char *v);

#endif
