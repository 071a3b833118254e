/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Single words of the event syntax: their meaning, and the nearest ones. */
#pragma once

#include "core/host/event_syntax.h"
#include "core/lib/nearest.h"

/* type and config of an event with a name. */
struct event_code {
	uint32_t type;
	uint64_t config;
};

/* Look up a generic event: "cpu-cycles", "cs", "PERF_COUNT_SW_DUMMY". */
bool event_word_generic(const char *word, size_t len, struct event_code *out);

/* Look up a cache event: "LLC-load-misses", "L1D:READ:MISS". */
bool event_word_cache(const char *word, size_t len, struct event_code *out);

/*
 * Call hook for each name of a generic event and for a name of each cache event; the first
 * name of an event comes before its others.
 */
void event_words_each(void (*hook)(void *ctx, const struct event_code *code, const char *name),
		      void *ctx);

/* Try the names of all generic events in n. */
void event_words_near(struct nearest *n);

/*
 * Fill in the first bytes of an attr by libpfm4; return false if the name is unknown to it or
 * pevtrace was built without it.
 */
bool event_word_pfm(const char *name, uint8_t *attr, size_t size);

/*
 * Call hook for each event that libpfm4 names for the PMUs of this machine and makes an attr of:
 * "icl::EVENT", or "icl::EVENT:MASK" for each of its masks.  Its names of the kernel's generic
 * events are left out.
 */
void event_words_pfm_each(void (*hook)(void *ctx, const char *name), void *ctx);
