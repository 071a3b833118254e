/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A view that writes the records in the ring buffers of a session as a perf.data file
 * (tools/perf/Documentation/perf.data-file-format.txt), for the perf tool and other readers.
 */
#pragma once

#include "core/session/session.h"

struct perfout;

/*
 * Create the file, or write to standard output if path is "-".  What cannot be rewound is
 * written as perf writes to a pipe.  Return NULL after a warn().
 */
struct perfout *perfout_open(const char *path);

/* Return whether the file name of a program is that of perf. */
bool perfout_names_perf(const char *exe);

/* Note that the rest of the session is not known, nor what the file lacks for that. */
void perfout_cut_short(struct perfout *o);

/* Write what is left; return false after a warn() if anything could not be written. */
bool perfout_close(struct perfout *o);

/*
 * Return a view that writes to o.  m, names and facts->command must outlive it.  live: this
 * machine was traced, now; then files are read for their build ids, and records are written as
 * they come.
 */
struct view *perfout_view_new(struct perfout *o, const struct session_facts *facts, struct model *m,
			      const struct names *names, bool live);
