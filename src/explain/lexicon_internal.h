/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts that entries of the dictionary have in common. */
#ifndef PEVTRACE_EXPLAIN_LEXICON_INTERNAL_H
#define PEVTRACE_EXPLAIN_LEXICON_INTERNAL_H

#include "explain/lexicon.h"

/* Columns before a label, and before what runs on behind it. */
enum { ENTRY_LABEL = 2, ENTRY_BODY = 4 };

/* The first line, and a line that begins "  WHAT: ". */
void entry_head(struct prose *p, const struct lexicon_entry *e, const char *what);
void entry_label(struct prose *p, const char *what);

void entry_meaning(struct prose *p, const char *meaning);
void entry_release(struct prose *p, uint32_t since);
void entry_since(struct prose *p, uint32_t since);

/* What terms.in has on the name, and where the kernel deals with it. */
void entry_term(struct prose *p, const char *name);

/* Where a table is used; its names. */
void entry_users(struct prose *p, const struct xlat *x);
void entry_names(struct prose *p, const struct xlat *x);

void entry_manual(struct prose *p, const char *page, const char *part);
void entry_manual_of_layout(struct prose *p, const struct layout *l);
void entry_manual_of_table(struct prose *p, const struct xlat *x);

/* Checks of perf_event_open: about a field, that end with an error, that a value brings. */
void entry_rules_of_field(struct prose *p, const char *field);
void entry_rules_of_error(struct prose *p, int error);
void entry_rules_of_value(struct prose *p, const struct xlat *x, const struct xlat_entry *c);

/* Other calls: that fail with an error; errors of a call, and of an ioctl's request. */
void entry_refusals_of_error(struct prose *p, int error);
void entry_refusals_of(struct prose *p, const char *call, const char *request);

#endif
