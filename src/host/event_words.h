/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What single words of the event syntax mean, and which one was meant. */
#ifndef PEVTRACE_HOST_EVENT_WORDS_H
#define PEVTRACE_HOST_EVENT_WORDS_H

#include "host/event_syntax.h"
#include "lib/nearest.h"

/* type and config of an event that has a name of its own. */
struct event_code {
	uint32_t type;
	uint64_t config;
};

/* "cpu-cycles", "cs", "PERF_COUNT_SW_DUMMY": a generic event. */
bool event_word_generic(const char *word, size_t len, struct event_code *out);

/* "LLC-load-misses", "L1D:READ:MISS": a cache, and what is done there. */
bool event_word_cache(const char *word, size_t len, struct event_code *out);

/* Offers every name of a generic event to n. */
void event_words_near(struct nearest *n);

/*
 * What libpfm4 makes of the name, into the first bytes of an attr; false where
 * it does not know it or is not built in.
 */
bool event_word_pfm(const char *name, uint8_t *attr, size_t size);

#endif
