// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dump/dump_line.h"

#include <stdio.h>
#include <string.h>

#include "dump/json_sink.h"
#include "lib/die.h"

struct json_object *dump_line(const char *kind)
{
	struct json_object *o = json_new_object();

	dump_add(o, "kind", json_new_string(kind));
	return o;
}

void dump_add(struct json_object *o, const char *key, struct json_object *v)
{
	if (json_object_object_add_ex(o, key, v, JSON_C_OBJECT_KEY_IS_CONSTANT))
		die("out of memory for JSON");
}

void dump_add_int(struct json_object *o, const char *key, int64_t v)
{
	dump_add(o, key, json_new_int(v));
}

void dump_add_uint(struct json_object *o, const char *key, uint64_t v)
{
	dump_add(o, key, json_new_uint(v));
}

void dump_add_bool(struct json_object *o, const char *key, bool v)
{
	dump_add(o, key, json_new_bool(v));
}

/* Add a string or null, and its bytes if it is not UTF-8. */
void dump_add_string(struct json_object *o, const char *key, const char *v)
{
	bool clean = true;
	char hex[64];

	dump_add(o, key, v ? json_text(v, strlen(v), &clean) : NULL);
	if (clean)
		return;
	snprintf(hex, sizeof(hex), "%s_hex", key);
	json_add(o, hex, json_bytes(v, strlen(v)));
}

struct json_object *dump_task_line(const char *kind, pid_t tid, uint64_t ns)
{
	struct json_object *o = dump_line(kind);

	dump_add_int(o, "tid", tid);
	dump_add_uint(o, "ns", ns);
	return o;
}
