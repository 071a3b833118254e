/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The executable mappings of one process, kept in order of address. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct mapping {
	uint64_t start, end;
	uint64_t pgoff;		/* offset in the file, in bytes */
	uint64_t file;		/* for the caller's use; 0 when added */
	char *path;
};

/* Zero-initialised is empty. */
struct maps {
	struct mapping *list;
	size_t n, cap;
};

/*
 * Add a mapping and remove the parts of others that it covers.  Ignore an empty one, and any
 * beyond the number of mappings that a process can have.
 */
void maps_add(struct maps *m, uint64_t start, uint64_t end, uint64_t pgoff,
	      const char *path);

/* Return the mapping that contains addr, or NULL.  Valid until the next change. */
struct mapping *maps_find(const struct maps *m, uint64_t addr);

/* Add the executable mappings that f, in the format of /proc/PID/maps, lists. */
void maps_read(struct maps *m, FILE *f);

/* Add every mapping of from. */
void maps_copy(struct maps *to, const struct maps *from);

void maps_free(struct maps *m);
