/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For the experiments of claims only: a process that does one experiment's steps
 * (xlat/README.md says what steps there are) and what it knows meanwhile.
 */
#ifndef PEVTRACE_CONFORM_CLAIM_H
#define PEVTRACE_CONFORM_CLAIM_H

#include <signal.h>

#include "conform/claims.h"
#include "drive/own_call.h"
#include "host/host.h"
#include "lib/buf.h"

/* How a step ended, and so the experiment if it did not go on. */
enum step_end { STEP_GOES_ON, STEP_FALSE, STEP_UNTRIED };

/* What the process tells, in memory that its parent has, too. */
struct claim_told {
	bool done;
	enum claim_verdict verdict;
	char reason[256], expected[256], seen[256];
	char calls[32768];
};

/* LAB_MEMORY: more than a page, so that an attr of any stated size can be passed. */
enum {
	CLAIM_MEMORY = 12288, CLAIM_NAME = 24, CLAIM_EVENTS = 24, CLAIM_VARS = 32, CLAIM_WORDS = 16,
	CLAIM_ATTR = 256,
};

struct claim_event {
	char name[CLAIM_NAME];
	int fd;
	uint8_t attr[CLAIM_ATTR];
	uint64_t words[512];	/* of the last read */
	uint8_t *ring;		/* what of its ring is mapped */
	size_t ring_len;
	bool backward, overwrite;
	uint64_t found;		/* records of the last find */
	struct buf record;	/* the first of these: "\nFIELD=VALUE" for each */
};

struct claim_trace;

struct claim_run {
	struct claim_told *told;
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
	int64_t ret;		/* of the last call; a negative errno */
	uint64_t size;		/* attr.size behind the last open */
	uint64_t out;		/* what the last ioctl pointed to */
	uint32_t query[16];	/* what the last query wrote */
	uint8_t memory[CLAIM_MEMORY] __attribute__((aligned(8))); /* what ioctls point to */
	pid_t task;		/* 0: none */
	int link;		/* to it */
	const char *step;	/* as it is written */
	char *words[CLAIM_WORDS];	/* of it, without the expectation */
	size_t nwords;
	const char *wanted;	/* what stands behind "->", or NULL */
};

/* Signals that came, counted by the handler. */
struct claim_signals {
	uint64_t count, first_code, code, signo, fd, addr, data, type;
};
extern volatile struct claim_signals claim_signals;

/* Does the experiment, tells, and ends the process. */
_Noreturn void claim_run(const struct claim_desc *c, bool nobody, struct claim_told *told);

/* Ends of steps, with a sentence for who asked. */
enum step_end claim_untried(struct claim_run *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
enum step_end claim_false(struct claim_run *l, const char *expected, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The claim itself is written wrongly. */
enum step_end claim_bad(struct claim_run *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Holds a call's result against what is wanted; without that it must succeed. */
enum step_end claim_judge(struct claim_run *l, int64_t result);

/* The event of that name; NULL: there is none. */
struct claim_event *claim_event(struct claim_run *l, const char *name);

/* The value of an expression; false after it said why in the told reason. */
bool claim_value(struct claim_run *l, const char *text, uint64_t *v);
bool claim_compare(uint64_t a, const char *op, uint64_t b, bool *holds);
void claim_set(struct claim_run *l, const char *name, uint64_t v);

/* Steps that make calls; those that look into rings; those that work. */
enum step_end claim_open(struct claim_run *l);
enum step_end claim_close(struct claim_run *l);
enum step_end claim_read(struct claim_run *l);
enum step_end claim_ioctl(struct claim_run *l);
enum step_end claim_map(struct claim_run *l);
enum step_end claim_unmap(struct claim_run *l);
enum step_end claim_poke(struct claim_run *l);
enum step_end claim_protect(struct claim_run *l);
enum step_end claim_poll(struct claim_run *l);
enum step_end claim_prctl(struct claim_run *l);
enum step_end claim_fcntl(struct claim_run *l);
enum step_end claim_find(struct claim_run *l);
enum step_end claim_work(struct claim_run *l);
enum step_end claim_task(struct claim_run *l);
enum step_end claim_shell(struct claim_run *l);
enum step_end claim_catch(struct claim_run *l);

/* The other process, made when it is first needed; 0: could not be made. */
pid_t claim_task_pid(struct claim_run *l);
void claim_task_end(struct claim_run *l);

/* The text of the calls that are made. */
struct claim_trace *claim_trace_new(struct claim_run *l);
/* Calls are not shown for a while, which the text says. */
void claim_trace_mute(struct claim_trace *t, bool muted);
void claim_trace_note(struct claim_trace *t, const char *text);
void claim_trace_end(struct claim_trace *t, char *text, size_t size);

#endif
