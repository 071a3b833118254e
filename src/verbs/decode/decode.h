/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decoding a dump through a session, as a traced program; or one thing, with no dump around it. */
#pragma once

#include <stdio.h>

#include "core/host/event_syntax.h"
#include "verbs/cli/machine.h"
#include "verbs/cli/showing.h"

/* Show what the options select of a dump; return the exit status.  path is for messages. */
int decode_dump(FILE *f, const char *path, struct options *options);

/* What to decode: one thing, a record with its attr, or the attrs of a log or of events. */
struct decode_one {
	struct options options;
	const char *attr, *ioctl, *record, *error;
	const char *log;	/* a file with attrs, or NULL */
	struct event_list events;
	const char *operand;	/* ARG of --ioctl */
	const struct arch *arch; /* that the bytes are of */
	bool c_source;
	const char *of_dumps;	/* name of an option that applies to dumps only, or NULL */
	struct machine machine;
	struct showing out;
};

extern const struct verb_option decode_one_options[];

/* Return whether an option has a single thing to decode. */
bool decode_one_wanted(const struct decode_one *d);

/* Decode it; return the exit status. */
int decode_one(struct decode_one *d, const struct verb_args *args);
