/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The members of an attr in English. */
#pragma once

#include "core/abi/layout.h"
#include "explain/prose.h"
#include "formats/text/open_attr.h"

/* Return a walk over the attr's members. */
struct walk attr_prose_walk(const struct open_attr *a);

/* Write a member as a trace shows it: "sample_freq=999". */
void attr_prose_member(const struct open_attr *a, unsigned int index, struct prose *p);

/* Begin an item about n members: "- freq=1, sample_freq=999: ". */
void attr_prose_begin(const struct open_attr *a, struct prose *p, const unsigned int *list,
		      size_t n);

/*
 * Write the meanings of a mask's flags: "instruction pointer, CPU number and time".
 * verbs: the meanings begin with a verb, which is left out.
 */
void attr_prose_flags(const struct xlat *x, uint64_t v, bool verbs, struct prose *p);

/* Skip the verb of a meaning: "Adds the id of each event". */
const char *attr_prose_skip_verb(const char *meaning);

/* Write what the event measures as a clause: "page faults, minor and major". */
void attr_prose_what(const struct open_attr *a, struct prose *p);

/* Write an item that identifies the event: type and config. */
void attr_prose_event(const struct open_attr *a, struct prose *p);
