/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What this machine calls things: PMUs with their format/ and events/ (sysfs,
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-*) and tracepoints
 * (tracefs).  Everything is read when first asked for and then kept.
 */
#ifndef PEVTRACE_HOST_HOST_H
#define PEVTRACE_HOST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host;

/*
 * sysfs is where sysfs is mounted ("/sys"), tracefs where tracefs is, or NULL
 * to find that in /proc/mounts.  The strings must outlive the host.
 */
struct host *host_new(const char *sysfs, const char *tracefs);
void host_free(struct host *h);

struct pmu;

/* All PMUs (host/pmu.h), or NULL.  Owned by the host. */
const struct pmu *host_pmus(struct host *h);

/* Whether tracefs tells which tracepoints there are. */
bool host_has_tracepoints(struct host *h);

/* The PMU with that attr.type, or NULL.  Owned by the host. */
const char *host_pmu(struct host *h, uint32_t type);

/* "system:name" of the tracepoint with that id, or NULL.  Owned by the host. */
const char *host_tracepoint(struct host *h, uint64_t id);

/*
 * The text of the tracepoint's events/SYSTEM/NAME/format, or NULL.  Owned by
 * the host, and read once.
 */
const char *host_format(struct host *h, uint64_t id);

/*
 * What the PMU's own words make of config, config1, ...: "msr/tsc/" where an
 * alias of events/ fits, else "cpu/event=0x3c,umask=0x1/"; NULL when the PMU
 * is not known or has no format.  Valid until the next call.
 */
const char *host_terms(struct host *h, uint32_t type, const uint64_t *config,
		       size_t nconfigs);

#endif
