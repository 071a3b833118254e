/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The executable mappings of one process, kept in order of address. */
#ifndef PEVTRACE_LIB_MAPS_H
#define PEVTRACE_LIB_MAPS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct mapping {
	uint64_t start, end;
	uint64_t pgoff;		/* byte of the file that is at start */
	uint64_t file;		/* for the owner's use; 0 when added */
	char *path;
};

/* Zero-initialised is empty. */
struct maps {
	struct mapping *list;
	size_t n, cap;
};

/*
 * Adds a mapping in place of what it covers; of a mapping covered in part, the
 * rest stays.  Not when it is empty, or when there are more than a process can
 * have.
 */
void maps_add(struct maps *m, uint64_t start, uint64_t end, uint64_t pgoff,
	      const char *path);

/* The mapping that addr is in, or NULL.  Valid until the next change. */
struct mapping *maps_find(const struct maps *m, uint64_t addr);

/* Adds the executable mappings that f, a file like /proc/PID/maps, lists. */
void maps_read(struct maps *m, FILE *f);

/* Adds all of another's. */
void maps_copy(struct maps *to, const struct maps *from);

void maps_free(struct maps *m);

#endif
