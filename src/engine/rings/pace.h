/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How often to read ring buffers whose owner may consume them at any time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialise it. */
struct pace {
	unsigned int ms;	/* between two reads; 0: not chosen yet */
	bool read;		/* a ring was read since the last choice */
	bool filling, nearly_empty; /* one had much, all had little that was new */
};

/* Begin with a short interval: there is a ring that was never read. */
void pace_reset(struct pace *p);

/* Tell that new bytes were found in a ring of size bytes. */
void pace_note(struct pace *p, uint64_t new_bytes, uint64_t size);

/* Choose the interval until the next read, in milliseconds. */
unsigned int pace_next(struct pace *p);
