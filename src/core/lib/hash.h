/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* FNV-1a hashes. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_START 0xcbf29ce484222325ULL

/* Extend the hash h, which starts as HASH_START. */
static inline uint64_t hash_bytes(uint64_t h, const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len--)
		h = (h ^ *p++) * 0x100000001b3ULL;
	return h;
}

static inline uint64_t hash_text(uint64_t h, const char *text)
{
	return hash_bytes(h, text, strlen(text) + 1);
}

/* Extend the hash by a 64-bit word in one step. */
static inline uint64_t hash_word(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x100000001b3ULL;
	return h ^ h >> 32;
}
