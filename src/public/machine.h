/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the library share: facts and names, and handing text to a caller. */
#pragma once

#include <errno.h>
#include <string.h>
#include <sys/types.h>

#include "core/abi/call.h"
#include "core/host/facts.h"
#include "core/lib/buf.h"
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

/*
 * Copy the text to buf, of n bytes, truncated if it does not fit, and free it; return its length,
 * or -ENOMEM if it is not complete.
 */
static inline ssize_t copy_out(struct buf *text, char *buf, size_t n)
{
	ssize_t len = text->failed ? -ENOMEM : (ssize_t)text->len;
	size_t some = text->failed ? 0 : text->len;

	if (n) {
		some = some < n ? some : n - 1;
		memcpy(buf, buf_str(text), some);
		buf[some] = '\0';
	}
	buf_free(text);
	return len;
}
