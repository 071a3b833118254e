/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* pevtrace decode --attr and its like: one thing, with no dump around it. */
#pragma once

#include <stdbool.h>

#include "verbs/cli/machine.h"
#include "verbs/cli/showing.h"

/* What to decode: one thing, or a record with its attr. */
struct decode_one {
	struct options options;
	const char *attr, *ioctl, *record, *config, *error;
	const char *operand;	/* ARG of --ioctl */
	const struct arch *arch; /* that the bytes are of */
	bool c_source;
	const char *of_dumps;	/* name of an option that applies to dumps only, or NULL */
	struct machine machine;
	struct showing out;
};

extern const struct verb_option decode_one_options[];

/* Return whether there is a single thing to decode, not a dump. */
bool decode_one_wanted(const struct decode_one *d);

/* Decode it; return the exit status. */
int decode_one(struct decode_one *d, const struct verb_args *args);

/* Decode one kind of thing; return false after a warn(). */
bool decode_one_attr(struct decode_one *d);
bool decode_one_ioctl(struct decode_one *d);
bool decode_one_record(struct decode_one *d);
bool decode_one_config(struct decode_one *d);
bool decode_one_error(struct decode_one *d);
