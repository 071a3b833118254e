/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of this machine: PMUs with their format/ and events/ (sysfs,
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-*) and tracepoints
 * (tracefs).  Each is read when it is first asked for, and kept.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/lib/map.h"

struct facts;
struct host;
struct pmu;

/*
 * Create a host; NULL only in libpevtrace, without memory.  sysfs is where sysfs is mounted
 * ("/sys"), tracefs where tracefs is, or NULL to find that in /proc/self/mounts or where it
 * usually is.  The strings must outlive the host.
 */
struct host *host_new(const char *sysfs, const char *tracefs);
void host_free(struct host *h);

/*
 * Create the host of another machine, which reads nothing of this one; NULL as of host_new().  The
 * facts must outlive it; it owns the PMUs, which are all if all_pmus is set, as are the tracepoints that
 * are added if all_tracepoints is.
 */
struct host *host_new_elsewhere(const struct facts *f, struct pmu *pmus, bool all_pmus,
				bool all_tracepoints);

/* Return the facts of that machine, or NULL: the host is this machine. */
const struct facts *host_elsewhere(const struct host *h);

/* Add a tracepoint to another machine; false as of host_new(). */
bool host_add_tracepoint(struct host *h, uint64_t id, const char *name);

/* Return whether tracefs lists the tracepoints, and all were read. */
bool host_has_tracepoints(struct host *h);

/* Return whether a user has defined that tracepoint, as a kprobe, for one. */
bool host_tracepoint_is_dynamic(struct host *h, const char *name);

/* Return the name of the PMU with that attr.type, or NULL.  Owned by the host. */
const char *host_pmu(struct host *h, uint32_t type);

/* Return where sysfs is mounted, as host_new() was told. */
const char *host_sysfs(const struct host *h);

/* Return the list of PMUs (core/host/pmu.h), or NULL if sysfs has none.  Owned by the host. */
const struct pmu *host_pmus(struct host *h);

/* Return whether that list has every PMU. */
bool host_has_pmus(struct host *h);

/* Return the attr.type of the PMU with that name, or -1. */
int64_t host_pmu_type(struct host *h, const char *name);

/*
 * Read the id of the tracepoint "system:name"; return 0 or a negative errno, -ENODEV if
 * tracefs is not mounted.
 */
int host_tracepoint_id(struct host *h, const char *name, uint64_t *id);

/*
 * Iterate over the tracepoints, in no order: start with *at = 0.  Return the name and set *id; NULL
 * at the end.
 */
const char *host_next_tracepoint(struct host *h, size_t *at, uint64_t *id);

/* Return "system:name" of the tracepoint with that id, or NULL.  Owned by the host. */
const char *host_tracepoint(struct host *h, uint64_t id);

/*
 * Return the text of the tracepoint's events/SYSTEM/NAME/format, or NULL.  Owned by the
 * host, and read once.
 */
const char *host_format(struct host *h, uint64_t id);

/*
 * Return config, config1, ... in the PMU's own terms: "msr/tsc/" if an alias of events/
 * matches, else "cpu/event=0x3c,umask=0x1/"; NULL if the PMU is unknown or has no
 * format.  Valid until the next call.
 */
const char *host_terms(struct host *h, uint32_t type, const uint64_t *config,
		       size_t nconfigs);
