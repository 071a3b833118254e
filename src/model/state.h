/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of the model, shared by its own files only. */
#ifndef PEVTRACE_MODEL_STATE_H
#define PEVTRACE_MODEL_STATE_H

#include "lib/map.h"
#include "model/fdtab.h"
#include "model/model.h"

/* A mapped ring (or AUX area): addresses in the task. */
struct ring {
	uint64_t start, end;
};

/* An address space, as far as rings go. */
struct space {
	unsigned int refs;
	struct ring *rings;
	size_t nrings;
};

struct task {
	pid_t pid;
	bool measured;		/* some event counts it, or its parent */
	struct fdtab *files;
	struct space *space;
};

struct model {
	const struct names *names;
	struct map tasks;	/* tid to struct task */
	unsigned int events;	/* numbers given out */
	struct map name_counts;	/* hash of an event's name to how often it came */
};

struct task *model_task(const struct model *m, pid_t tid);

/* Gives the task a descriptor table of its own (exec, unshare). */
void task_own_files(struct task *t);

struct space *space_new(void);
void space_add(struct space *s, uint64_t start, uint64_t end);
void space_remove(struct space *s, uint64_t start, uint64_t end);
bool space_touches(const struct space *s, uint64_t start, uint64_t end);

#endif
