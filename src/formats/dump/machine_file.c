// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/dump/machine_file.h"

#include <stdlib.h>
#include <string.h>

#include "core/host/perf_features.h"
#include "core/host/pmu.h"
#include "core/lib/die.h"
#include "core/lib/list.h"
#include "formats/dump/dump_activity.h"
#include "formats/dump/dump_read.h"

/* Members that are numbers and facts: in which object, and where struct facts has them. */
static const struct machine_member {
	const char *object, *key;	/* object: NULL: of the line itself */
	size_t at;
	enum { FORM_32, FORM_64, FORM_HEX, FORM_BOOL, FORM_FACT, FORM_TEXT } form; /* 32, 64: bits of a number */
	int64_t least, most;		/* of numbers; most: of a text, the size of its array */
	unsigned int unread;		/* UNREAD_ bit of one that is missing, or 0 */
} machine_members[] = {
#define AT(member) offsetof(struct facts, member)
#define RULES(member) AT(rules.machine.member)
	{ "kernel", "release", AT(release), FORM_TEXT, 0, sizeof(((struct facts *)0)->release), 0 },
	{ "kernel", "version", AT(version), FORM_TEXT, 0, sizeof(((struct facts *)0)->version), 0 },
	{ NULL, "cpus_possible", AT(possible), FORM_TEXT, 0, sizeof(((struct facts *)0)->possible), 0 },
	{ NULL, "cpus_online_list", AT(online), FORM_TEXT, 0, sizeof(((struct facts *)0)->online), 0 },
	{ NULL, "attr_size", RULES(attr_size), FORM_32, 0, 4096, 0 },
	{ NULL, "page_size", RULES(page_size), FORM_32, 4096, 1 << 20, 0 },
	{ NULL, "user_end", RULES(user_end), FORM_HEX, 0, 0, 0 },
	{ NULL, "virtual", AT(confined.virtual), FORM_BOOL, 0, 0, 0 },
	{ NULL, "cgroups", RULES(cgroups), FORM_FACT, 0, 0, 0 },
	{ NULL, "kprobes", RULES(kprobes), FORM_FACT, 0, 0, 0 },
	{ NULL, "wide_breakpoints", RULES(wide_breakpoints), FORM_FACT, 0, 0, 0 },
	{ NULL, "denies_all", RULES(denies_all), FORM_FACT, 0, 0, 0 },
	{ NULL, "lockdown", RULES(lockdown), FORM_FACT, 0, 0, 0 },
	{ NULL, "selinux", RULES(security), FORM_FACT, 0, 0, 0 },
	{ "sysctls", "perf_event_paranoid", RULES(paranoid), FORM_32, INT32_MIN, INT32_MAX,
	  UNREAD_PARANOID },
	{ "sysctls", "perf_event_max_sample_rate", RULES(max_sample_rate), FORM_64, 0, INT64_MAX,
	  UNREAD_SAMPLE_RATE },
	{ "sysctls", "perf_event_max_stack", RULES(max_stack), FORM_64, 0, INT64_MAX, UNREAD_STACK },
	{ "sysctls", "perf_event_mlock_kb", AT(mlock_kb), FORM_64, 0, INT64_MAX, 0 },
	{ "rights", "capabilities", AT(own_caps), FORM_HEX, 0, 0, 0 },
	{ "rights", "bounding", AT(confined.bounding), FORM_HEX, 0, 0, 0 },
	{ "rights", "first_user_namespace", AT(first_user_ns), FORM_FACT, 0, 0, 0 },
	{ "rights", "seccomp", AT(confined.seccomp), FORM_32, 0, 2, 0 },
	{ "rights", "seccomp_filters", AT(confined.filters), FORM_32, 0, INT32_MAX, 0 },
	{ "rights", "no_new_privs", AT(confined.no_new_privs), FORM_BOOL, 0, 0, 0 },
#undef AT
#undef RULES
};

/* Writing ------------------------------------------------------------------------------ */

static void machine_add_member(struct json_text *o, const struct facts *f,
			       const struct machine_member *m)
{
	const void *at = (const char *)f + m->at;
	int64_t v = m->form == FORM_64 || m->form == FORM_HEX ? *(const int64_t *)at :
		    m->form == FORM_BOOL ? *(const bool *)at :
		    m->form == FORM_TEXT ? 0 : *(const int32_t *)at;

	if (m->unread & f->rules.machine.unread)
		return;
	if (m->form == FORM_TEXT && *(const char *)at)
		json_add_string(o, m->key, at);
	else if (m->form == FORM_HEX)
		json_add_hex(o, m->key, (uint64_t)v);
	else if (m->form == FORM_BOOL || (m->form == FORM_FACT && v != FACT_UNKNOWN))
		json_add_bool(o, m->key, v == (m->form == FORM_BOOL ? true : FACT_YES));
	else if (m->form <= FORM_64 && v >= m->least)
		json_add_int(o, m->key, v);
}

static void machine_add_pmu(struct json_text *o, const struct pmu *p)
{
	struct buf text = { 0 };
	const char *name;

	sink_begin(&o->sink, NULL, SINK_OBJECT);
	json_add_string(o, "name", p->name);
	json_add_uint(o, "type", p->type);
	for (enum pmu_folder folder = 0; folder < PMU_FOLDERS; folder++) {
		sink_begin(&o->sink, pmu_folders[folder], SINK_OBJECT);
		for (size_t i = 0; (name = pmu_file(p, folder, i, &text)); i++)
			json_add_string(o, name, buf_str(&text));
		sink_end(&o->sink);
	}
	if (p->cpumask)
		json_add_string(o, "cpumask", p->cpumask);
	sink_begin(&o->sink, "unread", SINK_ARRAY);
	for (enum pmu_folder folder = 0; folder < PMU_FOLDERS; folder++)
		if (p->unread >> folder & 1)
			json_add_string(o, NULL, pmu_folders[folder]);
	sink_end(&o->sink);
	sink_end(&o->sink);
	buf_free(&text);
}

static void machine_add_tracepoints(struct json_text *o, struct host *h)
{
	const char *name;
	size_t at = 0;
	uint64_t id;

	sink_begin(&o->sink, "tracepoints", SINK_OBJECT);
	while ((name = host_next_tracepoint(h, &at, &id)))
		/* users may have named theirs after their programs */
		if (!host_tracepoint_is_dynamic(h, name))
			json_add_uint(o, name, id);
	sink_end(&o->sink);
	json_add_bool(o, "tracepoints_complete", host_has_tracepoints(h));
}

void machine_file_add(struct json_text *o, const struct facts *f, bool tracepoints)
{
	char cpu[PERF_CPU_TEXT], id[PERF_CPU_TEXT];
	const char *object = NULL;

	json_add_int(o, "schema", DUMP_SCHEMA);
	json_add_string(o, "pevtrace", PACKAGE_VERSION);
	json_add_string(o, "arch", f->rules.machine.arch->name);
	perf_features_cpu(cpu, id);
	json_add_string(o, "processor", cpu);
	json_add_string(o, "processor_id", id);
	for_each(m, machine_members, sizeof(machine_members) / sizeof(*machine_members)) {
		if (m->object != object && object)
			sink_end(&o->sink);
		if (m->object != object && m->object)
			sink_begin(&o->sink, m->object, SINK_OBJECT);
		object = m->object;
		machine_add_member(o, f, m);
	}
	json_add_bool(o, "container", f->confined.container);
	sink_end(&o->sink);
	sink_begin(&o->sink, "pmus", SINK_ARRAY);
	for (const struct pmu *p = host_pmus(f->host); p; p = p->next)
		machine_add_pmu(o, p);
	sink_end(&o->sink);
	json_add_bool(o, "pmus_complete", host_has_pmus(f->host));
	if (tracepoints)
		machine_add_tracepoints(o, f->host);
}

/* Reading ------------------------------------------------------------------------------ */

/* Read a member; return false if it makes no sense. */
static bool machine_read_member(struct json_value *o, struct facts *f, const struct machine_member *m)
{
	struct json_value *in = m->object ? dump_get_object(o, m->object) : o;
	void *at = (char *)f + m->at;
	int64_t v = 0;
	bool yes;

	if (!in || !json_scan_member(in, m->key))
		return true;
	if (m->form == FORM_TEXT) {
		if (dump_get_string(in, m->key))
			snprintf(at, (size_t)m->most, "%s", dump_get_string(in, m->key));
		return true;
	}
	if (m->form == FORM_HEX)
		return dump_get_hex(in, m->key, at);
	if (m->form == FORM_BOOL)
		return dump_get_bool(in, m->key, at);
	if (m->form == FORM_FACT) {
		if (!dump_get_bool(in, m->key, &yes))
			return false;
		*(enum fact *)at = fact_of(yes);
		return true;
	}
	if (!dump_get_int(in, m->key, &v) || v < m->least || v > m->most)
		return false;
	if (m->form == FORM_32)
		*(int32_t *)at = (int32_t)v;
	else
		*(int64_t *)at = v;
	f->rules.machine.unread &= ~m->unread;
	return true;
}

/* Return a PMU, or NULL if the value describes none. */
static struct pmu *machine_read_pmu(struct json_value *v)
{
	const char *name = v->type == JSON_OBJECT ? dump_get_string(v, "name") : NULL;
	const char *cpumask = name ? dump_get_string(v, "cpumask") : NULL;
	struct json_value *unread = name ? dump_get_array(v, "unread") : NULL, *in, *one;
	struct pmu *p;
	uint64_t type;

	if (!name || !*name || !dump_get_uint(v, "type", &type) || type > UINT32_MAX)
		return NULL;
	p = pmu_new(name, (uint32_t)type);
	p->cpumask = cpumask ? xstrdup(cpumask) : NULL;
	for (enum pmu_folder folder = 0; folder < PMU_FOLDERS; folder++) {
		in = dump_get_object(v, pmu_folders[folder]);
		p->unread |= (unsigned int)(!in || !unread) << folder;
		if (in)
			json_for_each(one, in)
				if (one->type == JSON_STRING)
					pmu_add_file(p, folder, one->key, one->text);
		if (unread)
			json_for_each(one, unread)
				if (one->type == JSON_STRING && !strcmp(one->text, pmu_folders[folder]))
					p->unread |= 1U << folder;
	}
	pmu_sort(p);
	return p;
}

static void machine_read_host(struct json_value *o, struct facts *f)
{
	struct json_value *pmus = dump_get_array(o, "pmus"), *points, *v;
	struct pmu *list = NULL, *p;
	bool all = false, whole = false;
	struct host *h;

	dump_get_bool(o, "pmus_complete", &all);
	if (pmus)
		json_for_each(v, pmus) {
			p = machine_read_pmu(v);
			all &= p != NULL;
			if (!p)
				continue;
			p->next = list;
			list = p;
		}
	points = dump_get_object(o, "tracepoints");
	dump_get_bool(o, "tracepoints_complete", &whole);
	f->host = h = host_new_elsewhere(f, list, all && list, whole);
	if (points)
		json_for_each(v, points) {
			int64_t id;

			if (dump_int(v, &id) && id >= 0)
				host_add_tracepoint(h, (uint64_t)id, v->key);
		}
	facts_add_pmus(f);
}

/* Read the line; return what is wrong with it, or NULL. */
static const char *machine_read_line(struct json_value *o, struct facts *f)
{
	const char *kind = dump_get_string(o, "kind"), *arch = dump_get_string(o, "arch");
	struct json_value *rights = dump_get_object(o, "rights");
	int64_t schema;
	bool in = false;

	if (!kind || (strcmp(kind, KIND_HEADER) && strcmp(kind, KIND_MACHINE)))
		return "no machine file, nor a dump: the first line is neither a machine nor a header";
	if (!dump_get_int(o, "schema", &schema) || schema != DUMP_SCHEMA)
		return "not of the schema that this version reads";
	*f = facts_unknown();
	f->rules.machine.arch = arch ? arch_by_name(arch) : NULL;
	if (!f->rules.machine.arch)
		return "its arch is missing, or not known to this version";
	for_each(m, machine_members, sizeof(machine_members) / sizeof(*machine_members))
		if (!machine_read_member(o, f, m))
			return m->key;
	if (rights && dump_get_bool(rights, "container", &in) && in)
		f->confined.container = "as its machine file says";
	if (!f->rules.machine.page_size)
		f->rules.machine.page_size = 4096;
	facts_derive(f);
	return NULL;
}

bool machine_file_read(FILE *file, const char *path, struct facts *f)
{
	struct dump_reader *r;
	struct json_value *o;
	enum dump_line got;
	const char *wrong;

	ungetc(getc(file), file); /* from now on it has a buffer, which the reader uses */
	r = dump_reader_new(file);
	got = dump_next(r, &o);
	wrong = got == DUMP_EOF ? "the file is empty" :
			    got == DUMP_BAD ? dump_error(r) : machine_read_line(o, f);

	if (wrong)
		warn("%s:1: %s", path, wrong);
	else
		machine_read_host(o, f);
	dump_reader_free(r);
	return !wrong;
}

void machine_file_free(struct facts *f)
{
	host_free(f->host);
	facts_close(f);
}
