/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the files measured*.c only. */
#pragma once

#include "core/host/proc.h"
#include "core/host/proc_image.h"
#include "core/lib/map.h"
#include "formats/perfdata/measured.h"

/* Tasks as events see them that were opened in one PID namespace: these ids are in records. */
struct measured_space {
	struct pidns ns;
	struct map known;	/* our ids of tasks that were reported */
	struct map tasks;	/* process -> struct measured_task; or a thread, if samples have none */
	size_t swept;		/* as many were left when those that ended were last forgotten */
	bool all;		/* all processes were reported */
	bool used;		/* records have its ids */
};

struct measured {
	struct session *session;
	struct measured_space **spaces; /* the first is ours */
	size_t nspaces;
	struct map openers;	/* task -> struct measured_space */
	struct proc_image kernel; /* read at the start */
	bool kernel_read, kernel_reported;
	bool namespaces;	/* an event records them */
	bool cgroups;		/* they were reported */
	bool again;		/* all processes are to be read again before the events run */
};

/* Return the tasks as they are in that namespace. */
struct measured_space *measured_space_of(struct measured *m, const struct pidns *ns);

/* Return whose ids the records of an event have, or get (perfout_insert_tid()). */
struct measured_space *measured_space_of_event(struct measured *m, const struct event *e);

/* Report a process that was read at ns, in pieces that fit into a line of a dump. */
void measured_report(struct measured *m, uint64_t ns, const struct proc_image *p);

/*
 * Note that e measures the process, a task of which is here, and report it, or its names only, at the
 * first time.  Return false, and do nothing, if mappings and names are recorded.
 */
bool measured_note(struct measured *m, struct measured_space *space, const struct event *e,
		   pid_t here, bool only_names);

void measured_free_tasks(struct measured_space *space);
