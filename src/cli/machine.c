// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/machine.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/host.h"
#include "host/proc.h"
#include "host/symbols.h"
#include "host/sysfile.h"
#include "xlat/constants.h"

static struct machine *machine_self(const struct names *n)
{
	return (struct machine *)n; /* names is its first member */
}

static struct host *machine_of(const struct names *n)
{
	return machine_self(n)->host;
}

static const char *machine_name_pmu(const struct names *n, uint32_t type)
{
	return host_pmu(machine_of(n), type);
}

static const char *machine_name_tracepoint(const struct names *n, uint64_t id)
{
	return host_tracepoint(machine_of(n), id);
}

static const char *machine_name_terms(const struct names *n, uint32_t type,
				      const uint64_t *config, size_t nconfigs)
{
	return host_terms(machine_of(n), type, config, nconfigs);
}

static const char *machine_name_format(const struct names *n, uint64_t id)
{
	return host_format(machine_of(n), id);
}

static const char *machine_name_fd(const struct names *n, const struct call *c, int64_t fd)
{
	struct machine *m = machine_self(n);

	return proc_fd_link(c->tid, (int)fd, m->link, sizeof(m->link)) ? m->link : NULL;
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

static bool machine_number(const char *path, uint64_t *v)
{
	int64_t n;

	if (!sysfile_number(AT_FDCWD, path, &n))
		return false;
	*v = (uint64_t)n;
	return true;
}

/* A name must be one directory, not a path. */
static bool is_name(const char *name, size_t len)
{
	return len && len < 128 && *name != '.' && !memchr(name, '/', len);
}

bool machine_pmu_type(const char *name, uint64_t *type)
{
	char path[256];

	if (!is_name(name, strlen(name)))
		return false;
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
	return machine_number(path, type);
}

bool machine_tracepoint_id(const char *name, uint64_t *id)
{
	static const char *const tracefs[] = {
		"/sys/kernel/tracing", "/sys/kernel/debug/tracing",
	};
	const char *colon = strchr(name, ':');
	char path[512];

	if (!colon || !is_name(name, (size_t)(colon - name)) ||
	    !is_name(colon + 1, strlen(colon + 1)))
		return false;
	for (size_t i = 0; i < sizeof(tracefs) / sizeof(*tracefs); i++) {
		snprintf(path, sizeof(path), "%s/events/%.*s/%s/id", tracefs[i],
			 (int)(colon - name), name, colon + 1);
		if (machine_number(path, id))
			return true;
	}
	return false;
}
