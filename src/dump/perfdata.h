/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perf.data files: the events that perf asked for, and the records that it
 * stored (tools/perf/Documentation/perf.data-file-format.txt).
 */
#ifndef PEVTRACE_DUMP_PERFDATA_H
#define PEVTRACE_DUMP_PERFDATA_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "abi/record.h"

struct perfdata;

struct perfdata_event {
	uint8_t *attr;
	size_t attr_len;
	char *name;		/* NULL: the file does not tell */
	uint64_t *ids;
	size_t nids;
	struct record_format format;
};

/* Whether the file begins as one of perf's; nothing of it is taken. */
bool perfdata_is(FILE *f);

/*
 * Reads all but the records.  host: what this machine calls things, asked only
 * where the file was made on it; may be NULL.  NULL after a warn().
 */
struct perfdata *perfdata_open(FILE *f, const char *path, const struct names *host);
void perfdata_close(struct perfdata *p);

/* Whether there was nothing wrong with what was read; else that was said. */
bool perfdata_whole(const struct perfdata *p);

size_t perfdata_nevents(const struct perfdata *p);
const struct perfdata_event *perfdata_event(const struct perfdata *p, size_t i);

/* What the file's machine called things.  Lives as long as p. */
const struct names *perfdata_names(const struct perfdata *p);

/* One record: kernel's or, from 64 on, perf's own. */
struct perfdata_record {
	uint64_t offset;	/* in the file */
	uint32_t type;
	const uint8_t *bytes;
	size_t len;
	const struct perfdata_event *event; /* NULL: perf's own, or none fits */
	uint64_t behind;	/* bytes that follow the record as its payload */
};

/* Hands over all records in the file's order; false after a warn(). */
bool perfdata_records(struct perfdata *p,
		      void (*record)(void *ctx, const struct perfdata_record *r),
		      void *ctx);

#endif
