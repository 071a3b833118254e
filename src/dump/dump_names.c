// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lines with names of the machine: PMUs, tracepoints, formats, symbols, descriptors. */
#include "dump/dump_view_internal.h"

static struct json_object *name_line(const char *of, const char *name)
{
	struct json_object *o = dump_line(KIND_NAME);

	dump_add_string(o, "of", of);
	dump_add_string(o, "name", name);
	return o;
}

void dump_on_name_pmu(struct view *v, uint32_t type, const char *name)
{
	struct json_object *o = name_line("pmu", name);

	dump_add_uint(o, "type", type);
	dump_write(dump_self(v), 0, o);
}

void dump_on_name_tracepoint(struct view *v, uint64_t id, const char *name)
{
	struct json_object *o = name_line("tracepoint", name);

	dump_add_uint(o, "id", id);
	dump_write(dump_self(v), 0, o);
}

void dump_on_name_format(struct view *v, uint64_t id, const char *text)
{
	struct json_object *o = name_line("format", text);

	dump_add_uint(o, "id", id);
	dump_write(dump_self(v), 0, o);
}

void dump_on_name_symbol(struct view *v, int32_t pid, uint64_t ip,
			 unsigned int cpumode, bool after_call, const char *name)
{
	struct json_object *o = name_line("symbol", name);

	dump_add_int(o, "pid", pid);
	dump_add(o, "ip", json_hex(ip));
	dump_add_uint(o, "cpumode", cpumode);
	if (after_call)
		dump_add_bool(o, "after_call", true);
	dump_write(dump_self(v), 0, o);
}

void dump_on_name_terms(struct view *v, uint32_t type, const uint64_t *config,
			size_t nconfigs, const char *name)
{
	struct json_object *o = name_line("terms", name);
	struct json_object *list = json_new_array();

	dump_add_uint(o, "type", type);
	for (size_t i = 0; i < nconfigs; i++)
		json_append(list, json_hex(config[i]));
	dump_add(o, "config", list);
	dump_write(dump_self(v), 0, o);
}

void dump_on_name_fd(struct view *v, pid_t tid, int64_t fd, const char *name)
{
	struct json_object *o = name_line("fd", name);

	dump_split_own(dump_self(v), (pid_t)tid);	/* precedes the new name */
	dump_add_int(o, "tid", tid);
	dump_add_int(o, "fd", fd);
	dump_write(dump_self(v), tid, o);
}

void dump_on_name_program(struct view *v, pid_t tid, int64_t fd, const struct bpf_program *p)
{
	struct json_object *o = name_line("program", p ? p->name : NULL);

	dump_split_own(dump_self(v), tid);	/* precedes the new name */
	dump_add_int(o, "tid", tid);
	dump_add_int(o, "fd", fd);
	if (p) {
		dump_add_uint(o, "id", p->id);
		dump_add_uint(o, "type", p->type);
	}
	dump_write(dump_self(v), tid, o);
}
