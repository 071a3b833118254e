/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One thing a line, as text or as a JSON object, through one sink. */
#ifndef PEVTRACE_CLI_SHOWING_H
#define PEVTRACE_CLI_SHOWING_H

#include <stdio.h>

#include "cli/options.h"
#include "dump/json_sink.h"
#include "text/text.h"

struct showing {
	FILE *out;
	const char *path;	/* NULL: standard output */
	bool json, failed;
	struct sink *sink;	/* of the line that has begun */
	struct buf line;
	struct text_sink text;
	struct json_sink object;
};

/* Dies where it cannot be written to. */
void showing_open(struct showing *s, const struct options *o);

/*
 * Begins a line.  Values at the top have their keys before them unless plain
 * says that the first of them speaks for itself.
 */
void showing_begin(struct showing *s, bool plain);
void showing_end(struct showing *s);

/* True when everything could be written; else that was said. */
bool showing_close(struct showing *s);

#endif
