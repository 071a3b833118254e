// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lines with names of the machine: PMUs, tracepoints, formats, symbols, descriptors. */
#include "formats/dump/dump_view_internal.h"

static struct json_text *name_line(struct json_text *o, const char *of, const char *name)
{
	dump_line(o, KIND_NAME);
	json_add_string(o, "of", of);
	json_add_string(o, "name", name);
	return o;
}

void dump_on_name_pmu(struct view *v, uint32_t type, const char *name)
{
	struct json_text line, *o = name_line(&line, "pmu", name);

	json_add_uint(o, "type", type);
	dump_write(dump_self(v), 0, o);
}

void dump_on_name_tracepoint(struct view *v, uint64_t id, const char *name)
{
	struct json_text line, *o = name_line(&line, "tracepoint", name);

	json_add_uint(o, "id", id);
	dump_write(dump_self(v), 0, o);
}

void dump_on_name_format(struct view *v, uint64_t id, const char *text)
{
	struct json_text line, *o = name_line(&line, "format", text);

	json_add_uint(o, "id", id);
	dump_write(dump_self(v), 0, o);
}

void dump_on_name_symbol(struct view *v, int32_t pid, uint64_t ip,
			 unsigned int cpumode, bool after_call, const char *name)
{
	struct json_text line, *o = name_line(&line, "symbol", name);

	json_add_int(o, "pid", pid);
	json_add_hex(o, "ip", ip);
	json_add_uint(o, "cpumode", cpumode);
	if (after_call)
		json_add_bool(o, "after_call", true);
	dump_write(dump_self(v), 0, o);
}

void dump_on_name_terms(struct view *v, uint32_t type, const uint64_t *config,
			size_t nconfigs, const char *name)
{
	struct json_text line, *o = name_line(&line, "terms", name);

	json_add_uint(o, "type", type);
	o->sink.ops->begin(&o->sink, "config", SINK_ARRAY);
	for (size_t i = 0; i < nconfigs; i++)
		json_add_hex(o, NULL, config[i]);
	o->sink.ops->end(&o->sink);
	dump_write(dump_self(v), 0, o);
}

void dump_on_name_fd(struct view *v, pid_t tid, int64_t fd, const char *name)
{
	struct json_text line, *o = name_line(&line, "fd", name);

	dump_split_own(dump_self(v), (pid_t)tid);	/* precedes the new name */
	json_add_int(o, "tid", tid);
	json_add_int(o, "fd", fd);
	dump_write(dump_self(v), tid, o);
}

void dump_on_name_program(struct view *v, pid_t tid, int64_t fd, const struct bpf_program *p)
{
	struct json_text line, *o = name_line(&line, "program", p ? p->name : NULL);

	dump_split_own(dump_self(v), tid);	/* precedes the new name */
	json_add_int(o, "tid", tid);
	json_add_int(o, "fd", fd);
	if (p) {
		json_add_uint(o, "id", p->id);
		json_add_uint(o, "type", p->type);
	}
	dump_write(dump_self(v), tid, o);
}
