/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The steps of an experiment, a line of text each (README.md), run one after the other by this
 * process.  Claims (src/conform/claims.in) and lessons (lessons/NAME.lesson) consist of them.
 */
#pragma once

#include "core/host/host.h"
#include "core/lib/buf.h"
#include "engine/rings/own_call.h"
#include "engine/rings/ring.h"

/* Result of a step.  The next one runs after STEP_OK only. */
enum step_result { STEP_OK, STEP_FALSE, STEP_UNTRIED };

/* The event behind $exact, which counts each write of the variable, and nothing else. */
enum steps_exact {
	EXACT_BREAKPOINT,
	EXACT_FAULTS,	/* page faults, in memory where only these writes fault */
	EXACTS
};

/* STEPS_MEMORY is more than a page: an attr of any size that the kernel accepts fits. */
enum {
	STEPS_MEMORY = 12288, STEPS_NAME = 24, STEPS_EVENTS = 24, STEPS_VARS = 48,
	STEPS_WORDS = 16, STEPS_ATTR = 256,
};

/* What the steps used, and why the last one ended them. */
struct steps_outcome {
	uint32_t instruments;	/* that its events need; 1 << enum instrument */
	bool exact;		/* it used $exact */
	bool measured;		/* a workload ran while it had an event */
	char reason[256];	/* of STEP_UNTRIED */
	char expected[256], seen[256]; /* of STEP_FALSE */
};

/* A value in a decoded record. */
struct record_value {
	char *path;		/* "ip", "sample_id.pid", "callchain.0" */
	char *text;		/* of a string; NULL: a number */
	uint64_t number;	/* length of bytes and arrays */
};

struct record_values {
	struct record_value *list;
	size_t n;
};

struct step_event {
	char name[STEPS_NAME];	/* in the steps */
	int fd;
	pid_t pid;
	int cpu;
	uint8_t attr[STEPS_ATTR];
	uint64_t words[512];	/* buffer of the last read */
	uint8_t *ring;		/* first mapping at offset 0; NULL: not mapped */
	size_t ring_len;
	bool backward, overwrite;
	struct ring_seen shown;	/* where the next "find" begins; set by the caller's steps */
	uint64_t found;		/* records that matched in the last "find" */
	struct record_values record; /* the first of them */
};

struct steps;

/* A step by its first word. */
struct step_word {
	const char *name;
	enum step_result (*run)(struct steps *run);
};

/* The caller sets the members up to ctx, and zeroes the others. */
struct steps {
	struct host *host;
	struct own_calls *own_calls;
	struct steps_outcome *outcome;
	enum steps_exact exact;
	uint64_t flags;		/* PERF_FLAG_* of opens that state none */
	size_t read_bytes;	/* of reads that state none; 0: as many as an event may have */
	bool fit_attr;		/* state the kernel's size of the attr where that is enough */
	const struct step_word *more; /* steps of the caller, up to one without a name; or NULL */
	/* Show in words what cannot be seen in the calls; leave calls out; NULL: do not. */
	void (*note)(struct steps *run, const char *text);
	void (*mute)(struct steps *run, bool muted);
	void *ctx;

	struct step_event events[STEPS_EVENTS];
	size_t nevents;
	struct {
		char name[STEPS_NAME];
		uint64_t value;
	} vars[STEPS_VARS];
	size_t nvars;
	int64_t ret;		/* result of the last call; a negative errno */
	uint64_t size;		/* attr.size after the last open */
	uint64_t out;		/* first 8 bytes of memory after the last ioctl */
	uint32_t query[16];	/* struct perf_event_query_bpf after the last ioctl */
	uint8_t memory[STEPS_MEMORY] __attribute__((aligned(8))); /* argument of ioctls */
	pid_t task;		/* second process; 0: not started, -1: ended */
	int task_link;		/* socket to it */
	const char *step;	/* its text */
	struct buf text;	/* the same with values in place of $NAME */
	char *words[STEPS_WORDS]; /* of text, up to "->" */
	size_t nwords;
	const char *wanted;	/* expected result, after "->"; NULL: success */
};

/* Run lines of steps, each with '\n' at its end, until one is not STEP_OK; return its result. */
enum step_result steps_run(struct steps *run, const char *lines);

/* Become an ordinary user.  Return STEP_UNTRIED, with the reason stored, if that fails. */
enum step_result steps_become_user(struct steps *run);

/* End the second process, if there is one. */
void steps_task_end(struct steps *run);

/* End the second process, close the events and free all memory, without steps. */
void steps_free(struct steps *run);

/* For steps of the caller --------------------------------------------------------------- */

/* End a step with the reason or the contradiction. */
enum step_result steps_untried(struct steps *run, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
enum step_result steps_false(struct steps *run, const char *expected, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* End a step that cannot be understood, unless an earlier reason is stored. */
enum step_result steps_malformed(struct steps *run);

/* The step "open", for steps that continue it. */
enum step_result step_open(struct steps *run);

/* Return the event with that name, or NULL. */
struct step_event *steps_event(struct steps *run, const char *name);

/* Evaluate an expression.  Return false, with the outcome's reason set, if it is malformed. */
bool steps_value(struct steps *run, const char *text, uint64_t *v);

/* Set the variable of that name. */
void steps_set_var(struct steps *run, const char *name, uint64_t v);
