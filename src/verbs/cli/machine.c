// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/cli/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/abi/layout.h"
#include "core/abi/tables.h"
#include "core/host/proc.h"
#include "core/host/symbols.h"
#include "core/lib/die.h"
#include "engine/rings/bpf.h"
#include "formats/dump/machine_file.h"
#include "xlat/constants.h"

static struct machine *machine_self(const struct names *n)
{
	return (struct machine *)n; /* names is its first member */
}

static const char *machine_name_pmu(const struct names *n, uint32_t type)
{
	return host_pmu(machine_self(n)->host, type);
}

static const char *machine_name_tracepoint(const struct names *n, uint64_t id)
{
	return host_tracepoint(machine_self(n)->host, id);
}

static const char *machine_name_terms(const struct names *n, uint32_t type,
				      const uint64_t *config, size_t nconfigs)
{
	return host_terms(machine_self(n)->host, type, config, nconfigs);
}

static const char *machine_name_format(const struct names *n, uint64_t id)
{
	return host_format(machine_self(n)->host, id);
}

static const char *machine_name_fd(const struct names *n, const struct call *c, int64_t fd)
{
	struct machine *m = machine_self(n);

	return proc_fd_link(c->tid, (int)fd, m->link, sizeof(m->link)) ? m->link : NULL;
}

static const struct bpf_program *machine_name_program(const struct names *n, const struct call *c,
						       int64_t fd)
{
	struct machine *m = machine_self(n);

	return bpf_program_of(c->pid, c->tid, (int)fd, &m->program) ? &m->program : NULL;
}

static const char *machine_name_symbol(const struct names *n, int32_t pid, uint64_t ip,
				       unsigned int cpumode, bool after_call)
{
	bool kernel = cpumode == PERF_RECORD_MISC_KERNEL;

	/* if the record does not say: the upper half is the kernel's */
	if (cpumode == PERF_RECORD_MISC_CPUMODE_UNKNOWN)
		kernel = (int64_t)ip < 0;
	return symbols_name(machine_self(n)->symbols, pid, ip, kernel, after_call);
}

void machine_open(struct machine *m)
{
	*m = (struct machine){
		.names = {
			.pmu = machine_name_pmu, .tracepoint = machine_name_tracepoint,
			.terms = machine_name_terms, .format = machine_name_format,
			.page_size = (uint32_t)sysconf(_SC_PAGESIZE),
		},
		.host = host_new("/sys", NULL),
	};
}

void machine_open_file(struct machine *m, const char *path)
{
	FILE *f;
	bool read;

	machine_open(m);
	if (!path || !strcmp(path, MACHINE_HERE))
		return;
	f = fopen(path, "re");
	if (!f)
		die("cannot read '%s' for --machine: %s", path, strerror(errno));
	read = machine_file_read(f, path, &m->facts);
	fclose(f);
	if (!read)
		exit(EXIT_TROUBLE);
	host_free(m->host);
	m->names.machine = m->host = m->facts.host;
	m->path = path;
	m->names.page_size = m->facts.rules.machine.page_size;
	m->names.arch = m->facts.rules.machine.arch;
}

bool machine_leave_here(struct machine *m, const char *given)
{
	if (given || m->facts.host)
		return false;
	machine_close(m);
	*m = (struct machine){ .facts = facts_unknown() };
	m->facts.rules.machine.arch = m->names.arch = &arch_unknown;
	m->facts.rules.machine.page_size = m->names.page_size = (uint32_t)sysconf(_SC_PAGESIZE);
	m->facts.host = m->host = host_new_elsewhere(&m->facts, NULL, false, false);
	facts_derive(&m->facts);
	facts_add_pmus(&m->facts);
	return true;
}

bool machine_add_guess(const struct machine *m, const uint8_t *attr, size_t len, struct buf *out)
{
	uint64_t type = layout_get(&layout_perf_event_attr, ATTR_TYPE, attr, len);
	uint64_t id = layout_get(&layout_perf_event_attr, ATTR_CONFIG, attr, len);
	struct host *h = m->facts.host && !m->path ? host_new("/sys", NULL) : NULL;
	const char *name = !h ? NULL : type == PERF_TYPE_TRACEPOINT ? host_tracepoint(h, id) :
			   type >= PERF_TYPE_MAX ? host_pmu(h, (uint32_t)type) : NULL;

	if (name)
		buf_addf(out, "on this machine, %s %llu is %s",
			 type == PERF_TYPE_TRACEPOINT ? "tracepoint" : "type",
			 (unsigned long long)(type == PERF_TYPE_TRACEPOINT ? id : type), name);
	host_free(h);
	return out->len;
}

void machine_add_words(const struct machine *m, struct buf *out)
{
	const struct facts *f = &m->facts;

	if (m->path) {
		buf_addf(out, "For the machine of %s, Linux ", m->path);
		text_escaped(out, *f->release ? f->release : "of an unknown release");
		buf_addf(out, ", %s:", f->rules.machine.arch->name);
	} else if (f->host) {
		buf_adds(out, "For an unknown machine, as a log does not say which (--machine=FILE does, "
			      "--machine=" MACHINE_HERE " if it is this one):");
	}
}

void machine_show(const struct machine *m, struct showing *s)
{
	if (s->json || !m->facts.host)
		return;
	showing_begin(s, true);
	machine_add_words(m, &s->line);
	showing_end(s);
}

void machine_live(struct machine *m, bool symbols)
{
	machine_open(m);
	m->names.fd = machine_name_fd;
	m->names.program = machine_name_program;
	if (!symbols)
		return;
	m->symbols = symbols_new(NULL);
	m->names.symbol = machine_name_symbol;
}

void machine_close(struct machine *m)
{
	if (m->facts.host)
		machine_file_free(&m->facts);
	else
		host_free(m->host);
	symbols_free(m->symbols);
}
