// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/call.h"

#include <stddef.h>
#include <string.h>

#include "core/abi/layout.h"

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
	for (size_t i = 0; i < c->ncaptures; i++) {
		const struct capture *k = &c->captures[i];
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
