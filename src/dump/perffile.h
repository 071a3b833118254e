/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The bytes of a perf.data file, from places that the file itself names. */
#ifndef PEVTRACE_DUMP_PERFFILE_H
#define PEVTRACE_DUMP_PERFFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct perffile {
	const char *path;
	FILE *copy;		/* of what cannot be read twice, or NULL */
	int fd;
	uint64_t size;
	uint8_t *window;	/* bytes from at on */
	uint64_t at;
	size_t len;
};

/* f may be a pipe.  False after a warn(). */
bool perffile_open(struct perffile *p, FILE *f, const char *path);
void perffile_close(struct perffile *p);

/* Whether the file has all of these bytes; hostile numbers do not wrap. */
bool perffile_has(const struct perffile *p, uint64_t offset, uint64_t len);

/*
 * The bytes at offset, at most 1 MiB; valid until the next call.  NULL when the
 * file does not have them all.
 */
const uint8_t *perffile_at(struct perffile *p, uint64_t offset, size_t len);

/* Like perffile_at(), of any length that the file has; to be freed. */
uint8_t *perffile_read(struct perffile *p, uint64_t offset, size_t len);

#endif
