/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tests of rings share: the control page, and what a look handed on. */
#pragma once

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

/* Older headers do not have it; the place in the page is what counts. */
typedef struct perf_event_mmap_page user_page;

enum { MANY = 8192 };

struct got {
	uint32_t seq[MANY];	/* number of the record */
	size_t n;
	uint64_t bytes;
	unsigned int bad;	/* not as written */
};
