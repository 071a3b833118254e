/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The calls of an experiment as trace lines. */
#pragma once

#include "experiment/steps.h"

struct claim_trace;

/*
 * Give the steps a session for their calls, which writes their text with the notes.  Return NULL if
 * out of memory.
 */
struct claim_trace *claim_trace_new(struct steps *run);

/* Copy the text, and free all. */
void claim_trace_end(struct claim_trace *t, char *text, size_t size);
