/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The oldest kernel that knows all that a perf_event_open(2) asks for. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The newest of the members, bits and values that a call sets. */
struct open_need {
	uint32_t since;		/* KVER() of the release that brought it */
	const char *name;	/* of a member, constant or flag; NULL: all are of 2.6.31 */
};

/* Call hook for each member, bit and value in a call that is newer than 2.6.31. */
void open_need_each(const uint8_t *attr, size_t len, uint64_t flags,
		    void (*hook)(void *ctx, const struct open_need *need), void *ctx);

/*
 * Return what decides, by the releases of xlat/; values that it does not name, and
 * dynamic PMUs, are not considered.
 */
struct open_need open_need(const uint8_t *attr, size_t len, uint64_t flags);
