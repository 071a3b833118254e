/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perf.data files: the events that perf asked for, and the records that it
 * stored (tools/perf/Documentation/perf.data-file-format.txt).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/abi/record.h"

struct perfdata;

struct perfdata_event {
	uint8_t *attr;
	size_t attr_len;
	char *name;		/* or NULL */
	uint64_t *ids;
	size_t nids;
	struct record_format format;
};

/* Return whether the file begins like a perf.data file, without consuming it. */
bool perfdata_is(FILE *f);

/*
 * Read everything but the records.  host: the names of this machine, used only if the
 * file is of this machine and kernel; may be NULL.  Return NULL after a warn().
 */
struct perfdata *perfdata_open(FILE *f, const char *path, const struct names *host);
void perfdata_close(struct perfdata *p);

/* Return whether no damage was found; damage was reported by warn(). */
bool perfdata_whole(const struct perfdata *p);

size_t perfdata_nevents(const struct perfdata *p);
const struct perfdata_event *perfdata_event(const struct perfdata *p, size_t i);

/* Return the names in the file, which live as long as p. */
const struct names *perfdata_names(const struct perfdata *p);

/* A record of the kernel, or (from 64 on) of perf. */
struct perfdata_record {
	uint64_t offset;	/* in the file */
	uint32_t type;
	const uint8_t *bytes;
	size_t len;
	const struct perfdata_event *event; /* NULL: of perf, or no event matches */
	uint64_t payload;	/* bytes that follow the record as its payload */
};

/* Call record() for each record in the file's order; return false after a warn(). */
bool perfdata_records(struct perfdata *p,
		      void (*record)(void *ctx, const struct perfdata_record *r),
		      void *ctx);
