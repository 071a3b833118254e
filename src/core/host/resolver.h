/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Symbols and source lines of addresses in mapped files, by a helper process: when a file
 * makes it crash or run too long, only the names of that file are lost.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/host/code.h"
#include "core/lib/maps.h"

struct resolver;

/*
 * Create a resolver; it starts the helper when it is first asked.  proc is where proc
 * is mounted, and must outlive the resolver.
 */
struct resolver *resolver_new(const char *proc);
void resolver_free(struct resolver *r);

/*
 * Return what is at byte offset of the file that process pid has mapped as m, or NULL
 * if the file cannot be read or libdw is not built in.  after_call: see
 * debug_info_find().  Sets m->file.  Valid until the next call.
 */
const struct code *resolver_find(struct resolver *r, pid_t pid, struct mapping *m,
				 uint64_t offset, bool after_call);
