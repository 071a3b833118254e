/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names that a dump gives, as they come. */
#ifndef PEVTRACE_DUMP_READER_NAMES_H
#define PEVTRACE_DUMP_READER_NAMES_H

#include "abi/call.h"
#include "dump/scan.h"

struct reader_names;

struct reader_names *reader_names_new(uint32_t page_size);
void reader_names_free(struct reader_names *n);

/* Takes a line of kind "name"; false when it is not as it should be. */
bool reader_names_add(struct reader_names *n, struct scan_value *o);

const struct names *reader_names_hooks(const struct reader_names *n);

#endif
