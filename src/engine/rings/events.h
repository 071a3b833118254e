/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every perf event of this machine that somebody refers to: from BPF iterators, which read
 * the kernel's own structures, or else from the descriptors in /proc.
 */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/lib/buf.h"
#include "core/lib/map.h"
#include "engine/rings/events_bpf.h"

/* A descriptor, mapping, BPF link or user in the kernel that keeps an event alive. */
struct events_holder {
	enum events_reference reference;
	uint32_t pid, tid;	/* 0: of a BPF link, of the kernel */
	uint32_t number;	/* the descriptor, or the id of the link */
	uint64_t start, page;	/* of a mapping: its address, and the page of the file there */
	char comm[EVENTS_COMM + 1];
};

struct events_event {
	/* without BPF only id, count and, if timed, the times are known: attr_len is 0 */
	struct events_facts facts;
	bool identified, counted, timed;	/* id, count and times are known */
	bool stale;		/* they are what the kernel last stored: no descriptor could be read */
	bool old_times;		/* only the times are: what was read has none, or nothing was read */
	struct events_holder *holders;
	size_t nholders;
};

struct events {
	struct events_event **list;	/* sorted by id */
	size_t n;
	struct map by_id;
	bool bpf;		/* the list is from BPF iterators */
	bool links;		/* these list BPF links, too (Linux 5.19) */
	struct buf why;		/* why it is not */
	size_t hidden;		/* processes whose descriptors may not be read */
	bool unread;		/* neither BPF nor /proc could list any */
	struct events_programs *programs; /* NULL: not loaded */
};

/* Load the BPF programs if possible; e->why says why not. */
void events_open(struct events *e);

/*
 * Read the list again.  Counts and times of events that may run now are read through
 * borrowed descriptors, which are closed at once (engine/rings/borrow.h).
 */
void events_read(struct events *e);

void events_close(struct events *e);

/*
 * Copy the attr, of at most EVENTS_ATTR_MAX bytes, and return its length: 0 without BPF.  Its
 * type is the one that was passed; the kernel replaces that of generic events.  sample_max_stack,
 * which the kernel sets to a default, is only there with PERF_SAMPLE_CALLCHAIN.
 */
size_t events_attr(const struct events_event *v, uint8_t *out);

/* For events.c only, from events_programs.c. */

/* Load the programs; return NULL and say why in a sentence. */
struct events_programs *events_programs_load(struct buf *why);

/*
 * Call hook for each reference to an event.  Return false if descriptors could not be
 * read; set *links to whether BPF links were read, too.
 */
bool events_programs_run(struct events_programs *p, bool *links,
			 void (*hook)(void *ctx, const struct events_record *r), void *ctx);

void events_programs_free(struct events_programs *p);
