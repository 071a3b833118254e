/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names that a dump gives, as they come. */
#ifndef PEVTRACE_DUMP_REPLAY_NAMES_H
#define PEVTRACE_DUMP_REPLAY_NAMES_H

#include "abi/call.h"
#include "dump/scan.h"

struct replay_names;

struct replay_names *replay_names_new(uint32_t page_size);
void replay_names_free(struct replay_names *n);

/* Takes a line of kind "name"; false when it is not as it should be. */
bool replay_names_add(struct replay_names *n, struct scan_value *o);

const struct names *replay_names_hooks(const struct replay_names *n);

#endif
