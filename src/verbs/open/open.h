/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pevtrace open: the events of -e, or with --side-band one of its own. */
#pragma once

#include "core/lib/nearest.h"
#include "verbs/measure/measure.h"

enum { SIDE_BAND_KINDS = 10 };

/* Which kinds of records --side-band shows, by the index of a kind. */
struct side_band {
	bool wanted[SIDE_BAND_KINDS];
	bool named[SIDE_BAND_KINDS];	/* by the user: never dropped */
};

struct opening {
	struct measure m;	/* first member: hooks cast it back */
	struct event_total *totals;
	struct event_texts texts; /* of -e */
	uint64_t lost;		/* records, by PERF_FORMAT_LOST */
	bool user_only;		/* the warning about excluded kernel events was printed */
	bool is_side_band;	/* --side-band: no counts are shown */
	struct side_band side_band;
	const char *chosen;	/* the option that chose kinds of records, or NULL */
};

/* The options that choose kinds of records; they set struct side_band. */
extern const struct verb_option side_band_options[];

/* Choose the kinds that are shown by default. */
void side_band_init(struct side_band *s);

/* Offer the names of the kinds. */
void side_band_offer(struct nearest *n);

/* Add a dummy event, which writes side-band records only. */
void side_band_add_event(struct opening *o, struct host *h);

/* Retry without a kind that requires privilege or a newer kernel, unless the user named it. */
bool side_band_retry(void *ctx, struct event_spec *e, int error);

/* Drop forks and exits if unwanted: the kernel writes them with names and mappings, too. */
bool side_band_wanted(const struct measure *m, uint32_t type);
