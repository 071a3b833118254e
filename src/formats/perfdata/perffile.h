/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading a perf.data file at offsets that the file itself states. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct perffile {
	const char *path;
	FILE *copy;		/* all of a pipe, or NULL */
	int fd;
	uint64_t size;
	uint8_t *window;	/* bytes from at on */
	uint64_t at;
	size_t len;
};

/* Open f, which may be a pipe.  Return false after a warn(). */
bool perffile_open(struct perffile *p, FILE *f, const char *path);
void perffile_close(struct perffile *p);

/* Return whether the file contains all of these bytes, for any offset and len. */
bool perffile_has(const struct perffile *p, uint64_t offset, uint64_t len);

/*
 * Return len bytes at offset, at most 1 MiB, valid until the next call; or NULL if the
 * file does not have them all.
 */
const uint8_t *perffile_at(struct perffile *p, uint64_t offset, size_t len);

/* As perffile_at(), for any length; the caller frees the bytes. */
uint8_t *perffile_read(struct perffile *p, uint64_t offset, size_t len);
