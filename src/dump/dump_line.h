/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Putting the lines of a dump together. */
#ifndef PEVTRACE_DUMP_DUMP_LINE_H
#define PEVTRACE_DUMP_DUMP_LINE_H

#include <json-c/json_object.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A new object of that kind, the caller's to put. */
struct json_object *dump_line(const char *kind);

/* The same, about a task at a time. */
struct json_object *dump_task_line(const char *kind, pid_t tid, uint64_t ns);

/*
 * These add to the object.  The key is not copied: it is a literal.  A value
 * that is an object is taken over.
 */
void dump_add(struct json_object *o, const char *key, struct json_object *v);
void dump_add_int(struct json_object *o, const char *key, int64_t v);
void dump_add_uint(struct json_object *o, const char *key, uint64_t v);
void dump_add_bool(struct json_object *o, const char *key, bool v);

/* A string, with its bytes in KEY_hex where it is not UTF-8; null: none. */
void dump_add_string(struct json_object *o, const char *key, const char *v);

#endif
