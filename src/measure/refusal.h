/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages for what the kernel refuses, with what to do about it. */
#ifndef PEVTRACE_MEASURE_REFUSAL_H
#define PEVTRACE_MEASURE_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

#include "host/confine.h"
#include "lib/buf.h"

struct reason;

/* An event could not be opened, for that reason; system: of whatever runs on a CPU. */
void refusal_open(const char *event, int error, bool system, const struct reason *r);

/* Rings of pages data pages each could not be mapped. */
void refusal_map(size_t rings, size_t pages, int error);

/* Whether the error is nobody's rights, but that no call comes to the kernel (trial_gate()). */
bool refusal_is_gate(int error);

/* Of an error that is so: what answers. */
void refusal_gate_words(struct buf *out, int error);

/* Both: true where it is so, and then says so. */
bool refusal_add_gate(struct buf *out, int error);

/* Something answers in the kernel's place (trial_gate()): what that may be. */
void refusal_gate(const struct confinement *c, struct buf *out);

/* Less than n descriptors are left, which verb needs to try things. */
void refusal_descriptors(const char *verb, size_t n);

/* No AUX area of pages pages could be mapped. */
void refusal_aux(size_t pages, int error);

/* "perf_event_paranoid is 2 here" and what it takes to get round that. */
void refusal_rights(struct buf *out);

#endif
