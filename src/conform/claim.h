/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One run of a claim's experiment, in a process of its own: the steps of src/conform/claims.in
 * (described in xlat/README.md) and the state that they share.  For src/conform only.
 */
#pragma once

#include <signal.h>

#include "conform/claims.h"
#include "experiment/instruments.h"
#include "engine/rings/own_call.h"
#include "core/host/host.h"
#include "core/lib/buf.h"

/* Result of a step.  The run continues after STEP_OK only. */
enum step_result { STEP_OK, STEP_FALSE, STEP_UNTRIED };

/* The event behind $exact, which counts each write of the variable, and nothing else. */
enum claim_exact {
	EXACT_BREAKPOINT,
	EXACT_FAULTS,	/* page faults, in memory where only these writes fault */
	EXACTS
};

/* Outcome of a run, in memory shared with the parent process. */
struct claim_outcome {
	bool done;		/* the run reached its end; verdict is valid */
	enum claim_verdict verdict;
	uint32_t instruments;	/* that its events need; 1 << enum instrument */
	bool exact;		/* it used $exact */
	bool measured;		/* a workload ran while it had an event */
	char reason[256], expected[256], seen[256];
	char calls[32768];	/* text of the calls */
};

/* CLAIM_MEMORY is more than a page: an attr of any size that the kernel accepts fits. */
enum {
	CLAIM_MEMORY = 12288, CLAIM_NAME = 24, CLAIM_EVENTS = 24, CLAIM_VARS = 32,
	CLAIM_WORDS = 16, CLAIM_ATTR = 256,
};

/*
 * A claim is false, and a control failed, only if each of several runs contradicts it: other users
 * of breakpoints and rings, and the scheduler, disturb single runs.
 */
enum { CLAIM_TRIES = 4 };

/* A value in a decoded record. */
struct claim_field {
	char *path;		/* "ip", "sample_id.pid", "callchain.0" */
	char *text;		/* of a string; NULL: a number */
	uint64_t number;	/* length of bytes and arrays */
};

struct claim_fields {
	struct claim_field *list;
	size_t n, cap;
};

struct claim_event {
	char name[CLAIM_NAME];	/* in the steps */
	int fd;
	uint8_t attr[CLAIM_ATTR];
	uint64_t words[512];	/* buffer of the last read */
	uint8_t *ring;		/* first mapping at offset 0; NULL: not mapped */
	size_t ring_len;
	bool backward, overwrite;
	uint64_t found;		/* records that matched in the last "find" */
	struct claim_fields record; /* the first of them */
};

struct claim_trace;

struct claim_run {
	struct claim_outcome *outcome;
	enum claim_exact exact;
	struct host *host;
	struct claim_trace *trace;
	struct own_calls own_calls;
	struct claim_event events[CLAIM_EVENTS];
	size_t nevents;
	struct {
		char name[CLAIM_NAME];
		uint64_t value;
	} vars[CLAIM_VARS];
	size_t nvars;
	int64_t ret;		/* result of the last call; a negative errno */
	uint64_t size;		/* attr.size after the last open */
	uint64_t out;		/* first 8 bytes of memory after the last ioctl */
	uint32_t query[16];	/* struct perf_event_query_bpf after the last ioctl */
	uint8_t memory[CLAIM_MEMORY] __attribute__((aligned(8))); /* argument of ioctls */
	pid_t task;		/* second process; 0: not started, -1: ended */
	int task_link;		/* socket to it */
	const char *step;	/* its text */
	char *words[CLAIM_WORDS]; /* of the step, up to "->" */
	size_t nwords;
	const char *wanted;	/* expected result, after "->"; NULL: success */
};

/* Signals received, updated by the handler of "catch". */
struct claim_signals {
	uint64_t count, first_code, code, signo, fd, addr, data, type;
};
extern volatile struct claim_signals claim_signals;

/* Where the claims are tried. */
struct claim_lab {
	bool nobody;		/* as an ordinary user */
	int gate;		/* errno that something returns in place of the kernel, or 0 */
	bool chosen;		/* exact was chosen */
	enum claim_exact exact;
	struct instruments known;
	struct claim_outcome *control; /* of the last control experiment; shared memory */
};

/* Run the experiment once, in a child process. */
void claim_try(const struct claim_desc *c, const struct claim_lab *lab,
	       struct claim_outcome *outcome);

/* Choose what $exact is, by experiments, if this was not done yet. */
void claim_choose_exact(struct claim_lab *lab);

/*
 * Leave a claim untried, with the reason, if it measured something with an instrument that does not
 * work; for a false claim, the instrument is tried again now.
 */
void claim_check_control(struct claim_lab *lab, struct claim_outcome *o);

/* End a step with the reason or the contradiction, for the report. */
enum step_result claim_untried(struct claim_run *run, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
enum step_result claim_false(struct claim_run *run, const char *expected, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* End a step that src/conform/claims.in states wrongly, unless an earlier reason is stored. */
enum step_result claim_malformed(struct claim_run *run);

/* Store result and compare it with what the step expects. */
enum step_result claim_check_result(struct claim_run *run, int64_t result);

/* Return the event with that name, or NULL. */
struct claim_event *claim_find_event(struct claim_run *run, const char *name);

/* Return the first field with that path, or NULL. */
const struct claim_field *claim_fields_find(const struct claim_fields *f, const char *path);
void claim_fields_free(struct claim_fields *f);

/* Evaluate an expression.  Return false, with the outcome's reason set, if it is malformed. */
bool claim_value(struct claim_run *run, const char *text, uint64_t *v);
/* Evaluate "a OP b" as signed numbers.  Return false if op is unknown. */
bool claim_compare(uint64_t a, const char *op, uint64_t b, bool *holds);
void claim_set_var(struct claim_run *run, const char *name, uint64_t v);

/* Steps: calls, rings, workloads. */
enum step_result claim_step_open(struct claim_run *run);
enum step_result claim_step_close(struct claim_run *run);
enum step_result claim_step_read(struct claim_run *run);
enum step_result claim_step_ioctl(struct claim_run *run);
enum step_result claim_step_map(struct claim_run *run);
enum step_result claim_step_unmap(struct claim_run *run);
enum step_result claim_step_poke(struct claim_run *run);
enum step_result claim_step_protect(struct claim_run *run);
enum step_result claim_step_poll(struct claim_run *run);
enum step_result claim_step_prctl(struct claim_run *run);
enum step_result claim_step_fcntl(struct claim_run *run);
enum step_result claim_step_find(struct claim_run *run);
enum step_result claim_step_work(struct claim_run *run);
enum step_result claim_step_task(struct claim_run *run);
enum step_result claim_step_shell(struct claim_run *run);
enum step_result claim_step_catch(struct claim_run *run);

/* Return the address of the variable (4 bytes), which has a page of its own. */
uintptr_t claim_watched(void);

/*
 * Prepare the memory of this process for EXACT_FAULTS: no page fault happens in user mode any more
 * but by writes to the variable.  After a fork(2) both processes need it anew.  Where the kernel
 * lacks MADV_POPULATE_WRITE, before Linux 5.14, it has no effect.
 */
void claim_memory_ready(void);

/* Map the pages without page faults; written: for writing. */
void claim_memory_populate(void *at, size_t len, bool written);

/* Do it for a ring; written: its owner will write to its first page, which has no data yet. */
void claim_memory_ring(uint8_t *ring, size_t len, bool written);

/* Make the next write to the variable fault, on a page that can be read. */
void claim_memory_unwrite(void);

/* A program that every user may map and execute. */
#define CLAIM_PROGRAM "/bin/sh"

/* Run the workload of that name in this process.  Return false if it is unknown. */
bool claim_workload(const char *name, uint64_t n);

/* Append what that workload does, in words. */
void claim_workload_note(const char *name, uint64_t n, struct buf *out);

/*
 * Return the pid of the second process, which is started by the first call; 0: it cannot
 * be started or has ended.
 */
pid_t claim_task_pid(struct claim_run *run);
/*
 * Run a workload in the second process and wait for its end.  "exec" and "exit" end the
 * process.
 */
enum step_result claim_task_work(struct claim_run *run, const char *name, uint64_t n);
void claim_task_end(struct claim_run *run);

/* Create the text of the calls, as a trace shows them.  Return NULL if out of memory. */
struct claim_trace *claim_trace_new(struct claim_run *run);
/* Leave calls out of the text until unmuted; a comment says so. */
void claim_trace_mute(struct claim_trace *t, bool muted);
void claim_trace_note(struct claim_trace *t, const char *text);
void claim_trace_end(struct claim_trace *t, char *text, size_t size);
