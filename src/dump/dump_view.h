/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace as a dump: JSON Lines, see pevtrace-json(5). */
#ifndef PEVTRACE_DUMP_DUMP_VIEW_H
#define PEVTRACE_DUMP_DUMP_VIEW_H

#include "session/view.h"
#include "text/output.h"

/* What the first line tells.  Strings must live during dump_view_new() only. */
struct dump_header {
	const char *pevtrace;		/* version that traced */
	const char *sysname, *release, *version, *machine; /* of the kernel */
	const char *arch;
	uint32_t page_size;
	char *const *command;		/* NULL-terminated, or NULL */
	const pid_t *pids;		/* attached */
	size_t npids;
	int64_t real_offset;		/* CLOCK_REALTIME minus CLOCK_MONOTONIC, ns */
	uint64_t start_ns;		/* CLOCK_MONOTONIC */
};

/* m, names and out must outlive the view. */
struct view *dump_view_new(const struct dump_header *h, const struct model *m,
			   const struct names *names, struct output *out);

#endif
