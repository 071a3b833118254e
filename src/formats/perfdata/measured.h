/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The processes that events measure, as they are when a ring buffer of these events is mapped:
 * records tell only what is mapped later.  perf record reads the same from /proc.
 */
#pragma once

#include "core/session/session.h"

struct measured;

/*
 * Report to the session, which must outlive it.  kernel_now: read the addresses of the kernel, which
 * takes some ten milliseconds, at once, not when the first ring buffer fills already.
 */
struct measured *measured_new(struct session *s, bool kernel_now);
void measured_free(struct measured *m);

/*
 * Report the processes of the events that write to the ring buffers that the call, which has
 * returned, mapped or redirected events to; or of all that the task has mapped.  Each process is
 * reported once.
 */
void measured_call(struct measured *m, const struct call *c);
void measured_task(struct measured *m, pid_t tid);

/*
 * Report what is new of the process of a sample, if no event of the ring buffer records mappings or
 * names: when the sample or its call chain has code that was not mapped, or its thread was not there,
 * and from time to time.  ns: when it was read.
 */
void measured_record(struct measured *m, uint64_t ns, const struct activity_record *r);

/*
 * A task was created: what of its parent must be read is read of it, too.  comm: its name, or "", for
 * a process that has ended since.
 */
void measured_born(struct measured *m, const struct activity_task *b, const char *comm);

/*
 * A process runs another program.  measured_leave() returns whether records that are still unread may
 * be of the program before: they are to be read next, and do not cause its mappings to be
 * read.  Then measured_execed() reports what it has mapped now.
 */
bool measured_leave(struct measured *m, pid_t pid);
void measured_execed(struct measured *m, pid_t pid, const char *comm);

/* A task has ended: it gets the name of its last birth or exec, unless it was read since. */
void measured_gone(struct measured *m, pid_t tid);

/*
 * Return a view of the files whose code is mapped in measured processes.  It reports their build
 * ids to the session, which must outlive it, when the session is idle.
 */
struct view *mapped_files_new(struct session *s);

/* Report the files that were not reported, before the session ends. */
void mapped_files_report(struct view *v);
