// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/capture.h"

#include <string.h>

/* Strings are read in pieces: most are short, and unmapped memory may follow. */
#define STRING_STEP 256

size_t capture_bytes(struct call *c, enum call_phase phase, uint64_t addr,
		     uint64_t want, const struct mem *m)
{
	uint32_t n = want < CAPTURE_MAX ? (uint32_t)want : CAPTURE_MAX;
	size_t at = c->pool.len, got = 0;

	if (!addr || c->ncaptures == CALL_MAX_CAPTURES)
		return 0;
	if (n) {
		if (!buf_reserve(&c->pool, n))
			return 0;
		got = m->read(m, addr, c->pool.data + at, n);
	}
	c->pool.len += got;
	c->captures[c->ncaptures++] = (struct capture){
		.addr = addr, .want = n, .len = (uint32_t)got,
		.at = (uint32_t)at, .phase = phase,
	};
	return got;
}

void capture_string(struct call *c, enum call_phase phase, uint64_t addr,
		    const struct mem *m)
{
	char text[CAPTURE_STRING_MAX];
	size_t len = 0;

	if (!addr)
		return;
	while (len < sizeof(text)) {
		size_t got = m->read(m, addr + len, text + len, STRING_STEP);
		const char *nul = memchr(text + len, '\0', got);

		if (nul) {
			len = (size_t)(nul - text) + 1;
			break;
		}
		len += got;
		if (got < STRING_STEP)
			break;
	}
	call_add_capture(c, phase, addr, (uint32_t)len, text, (uint32_t)len);
}
