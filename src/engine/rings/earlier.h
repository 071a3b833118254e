/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Events that a task had before it was followed: what the kernel tells of them, from the list
 * of all events of the machine (engine/rings/events.h).
 */
#pragma once

#include "core/session/session.h"

struct earlier;

/* The session must outlive it. */
struct earlier *earlier_new(struct session *s);
void earlier_free(struct earlier *l);

/*
 * Identify the events of tid's descriptors that the model does not know yet, and describe them
 * to the session if BPF iterators can be used (ACTIVITY_DESCRIBED).
 */
void earlier_describe(struct earlier *l, pid_t pid, pid_t tid);

/* Call hook for each process that holds an event. */
void earlier_each_holder(struct earlier *l, void (*hook)(void *ctx, pid_t pid), void *ctx);

/* Report the rings that tid's process has mapped, after earlier_describe(). */
void earlier_rings(struct earlier *l, pid_t tid);
