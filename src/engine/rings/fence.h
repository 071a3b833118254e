/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory followed by an inaccessible page, so that reads beyond its end fail. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fence {
	uint8_t *start, *end;	/* NULL: not mapped */
};

/* Map at least size bytes; return 0 or a negative errno.  Call fence_free() in any case. */
int fence_make(struct fence *f, size_t size);
void fence_free(struct fence *f);

/*
 * Copy bytes to the end of the memory, as many as fit, and return their address; if len
 * is 0, that of the inaccessible page.
 */
uint8_t *fence_put(struct fence *f, const void *bytes, size_t len);
