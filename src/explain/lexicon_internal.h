/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of entries of the dictionary. */
#pragma once

#include "explain/lexicon.h"

/* Indentation of labels and of continuation lines. */
enum { ENTRY_LABEL = 2, ENTRY_BODY = 4 };

/* Begin the first line, "NAME: what", and a line "  WHAT: ". */
void entry_head(struct prose *p, const struct lexicon_entry *e, const char *what);
void entry_label(struct prose *p, const char *what);

/* Begin item i of a list on one line, "  WHAT: FIRST, SECOND". */
void entry_listed(struct prose *p, size_t i, const char *what);

/* Write what users call a layout: its structure, or the constant whose data it is. */
void entry_layout(struct prose *p, const struct layout *l);

/* Write the members of the data that a constant names, such as those of a record. */
void entry_members(struct prose *p, const char *constant);

void entry_release(struct prose *p, uint32_t since);
void entry_since(struct prose *p, uint32_t since);

/* Write what terms.in has on the name, and the kernel functions that handle it. */
void entry_term(struct prose *p, const char *name);

/* Write where a table is used, or its names. */
void entry_users(struct prose *p, const struct xlat *x);
void entry_names(struct prose *p, const struct xlat *x);

/* Write a manual page and perhaps a section of it, as prose_page() does. */
void entry_manual(struct prose *p, const char *page);
void entry_manual_of_layout(struct prose *p, const struct layout *l);
void entry_manual_of_table(struct prose *p, const struct xlat *x);

/* Write the checks of perf_event_open about a field or a value. */
void entry_rules_of_field(struct prose *p, const char *field);
void entry_rules_of_value(struct prose *p, const struct xlat *x, const struct xlat_entry *c);

/* Write the checks and the other calls that fail with an error. */
void entry_checks_with_error(struct prose *p, int error);

/* Write the errors of a call, or of a request of it. */
void entry_refusals_of(struct prose *p, const char *call, const char *request);
