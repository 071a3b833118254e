/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Facts and names as the files of the library use them. */
#pragma once

#include "core/abi/call.h"
#include "core/host/facts.h"
#include "public/pevtrace.h"

/* Names for one call of the library. */
struct machine_lookup {
	struct names names;	/* its functions are passed a pointer to this */
	const struct pevtrace_machine *machine;
	struct buf terms;	/* for names.terms; owned */
};

/* Initialise names that ask m, which may be NULL. */
void machine_lookup_init(struct machine_lookup *l, const struct pevtrace_machine *m);
void machine_lookup_free(struct machine_lookup *l);

/*
 * Fill in the facts for one call: those of m (NULL: the defaults), and those about the objects that
 * the call refers to, if m is this machine.  They are valid as long as m is.
 */
void machine_facts(const struct pevtrace_machine *m, const struct rule_ask *ask,
		   struct rule_facts *out);

/* Return the names that the caller of the library gave; its functions may be NULL. */
const struct pevtrace_names *machine_names(const struct pevtrace_machine *m);
