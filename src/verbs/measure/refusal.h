/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages for what the kernel refuses, with what to do about it. */
#pragma once

#include "core/host/rights.h"
#include "core/judge/judge.h"

struct measure;

/* Warn about each event that could not be opened, with the reason if it is known. */
void refusal_tell(const struct measure *m);

/* Warn that rings of so many data pages each could not be mapped. */
void refusal_map(size_t rings, size_t pages, int error);

/* Append what answers every call with that error (trial_gate()), in place of perf, and what to do. */
void refusal_gate_words(struct buf *out, int error);

/* The same, of a process that is confined so. */
void refusal_gate(const struct confinement *c, int error, struct buf *out);

/* Warn that fewer than n descriptors are left, which the verb requires for its trials. */
void refusal_descriptors(const char *verb, size_t n);

/* Warn that an AUX area of so many pages could not be mapped. */
void refusal_aux(size_t pages, int error);

/* Append "-e EVENTS -p PID -C CPU", for a shell; cgroup: instead of pid, or NULL. */
void refusal_add_options(struct buf *out, const char *events, int32_t pid, int32_t cpu,
			 const char *cgroup);

/* Append rights in words: "perf_event_paranoid 1 or less, or CAP_PERFMON". */
void refusal_requires(const struct judge_rights *r, struct buf *out);

/* Append the level of perf_event_paranoid, and the privilege that overrides it. */
void refusal_rights(struct buf *out);
