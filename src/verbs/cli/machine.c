// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/cli/machine.h"

#include <unistd.h>

#include "core/host/host.h"
#include "core/host/proc.h"
#include "core/host/symbols.h"
#include "engine/rings/bpf.h"
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
	host_free(m->host);
	symbols_free(m->symbols);
}
