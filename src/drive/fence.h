/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that ends where nothing can be read, as a caller's may. */
#ifndef PEVTRACE_DRIVE_FENCE_H
#define PEVTRACE_DRIVE_FENCE_H

#include <stddef.h>
#include <stdint.h>

struct fence {
	uint8_t *start, *end;	/* NULL: none */
};

/* At least size bytes before the fence; a negative errno, or 0.  Free it in any case. */
int fence_make(struct fence *f, size_t size);
void fence_free(struct fence *f);

/*
 * Puts the bytes right before the fence, as many as there is room for, and returns
 * where they begin; of none, an address that cannot be read.
 */
uint8_t *fence_put(struct fence *f, const void *bytes, size_t len);

#endif
