// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/call.h"

#include <stddef.h>
#include <string.h>

#include "core/abi/layout.h"
#include "core/lib/list.h"

void call_reset(struct call *c)
{
	struct buf pool = c->pool;

	buf_reset(&pool);
	/* of captures[], none is used before it is set, and clearing them takes time */
	memset(c, 0, offsetof(struct call, captures));
	c->ncaptures = 0;
	c->pool = pool;
}

void call_free(struct call *c)
{
	buf_free(&c->pool);
}

void call_add_capture(struct call *c, enum call_phase phase, uint64_t addr,
		      uint32_t want, const void *bytes, uint32_t len)
{
	if (c->ncaptures == CALL_MAX_CAPTURES || (len && !buf_reserve(&c->pool, len)))
		return;
	c->captures[c->ncaptures++] = (struct capture){
		.addr = addr, .want = want, .len = len,
		.at = (uint32_t)c->pool.len, .phase = phase,
	};
	buf_add(&c->pool, bytes, len);
}

const uint8_t *call_bytes(const struct call *c, enum call_phase phase,
			  uint64_t addr, size_t want, size_t *len)
{
	for_each(k, c->captures, c->ncaptures) {
		uint64_t skip = addr - k->addr;

		if (k->phase != phase || addr < k->addr || skip >= k->len)
			continue;
		*len = k->len - skip < want ? k->len - skip : want;
		return (uint8_t *)c->pool.data + k->at + skip;
	}
	*len = 0;
	return NULL;
}

bool call_set_has(const struct call *c, const uint8_t *bytes, size_t len, size_t fd)
{
	size_t word = c->arch->word, at = fd / (8 * word) * word;

	return at + word <= len && load_uint(bytes + at, word) >> fd % (8 * word) & 1;
}

size_t call_registers(const struct call *c)
{
	size_t n = c->desc->nargs;
	bool pair = n && c->desc->args[n - 1].kind == ARG_LOFF &&
		    c->arch->word == 4 && !c->arch->nr_bit;

	return !pair ? n : n + 1 + (c->arch->pairs_even && n % 2 == 0);
}

/* Strings are read in pieces: most are short, and unmapped memory may follow. */
#define STRING_STEP 256

size_t capture_bytes(struct call *c, enum call_phase phase, uint64_t addr,
		     uint64_t want, const struct mem *m)
{
	uint32_t n = want < MEMORY_RUN ? (uint32_t)want : MEMORY_RUN;
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

size_t capture_string_of(struct call *c, enum call_phase phase, uint64_t addr, size_t most,
			 const struct mem *m)
{
	char text[MEMORY_STRING_BYTES];
	size_t len = 0;

	if (!addr)
		return 0;
	if (most > sizeof(text))
		most = sizeof(text);
	while (len < most) {
		size_t step = most - len < STRING_STEP ? most - len : STRING_STEP;
		size_t got = m->read(m, addr + len, text + len, step);
		const char *nul = memchr(text + len, '\0', got);

		if (nul) {
			len = (size_t)(nul - text) + 1;
			break;
		}
		len += got;
		if (got < step)
			break;
	}
	call_add_capture(c, phase, addr, (uint32_t)len, text, (uint32_t)len);
	return len;
}

void capture_string(struct call *c, enum call_phase phase, uint64_t addr,
		    const struct mem *m)
{
	capture_string_of(c, phase, addr, MEMORY_STRING_BYTES, m);
}
