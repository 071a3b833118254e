/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * For the experiments of claims only: a process that does one experiment's steps
 * (xlat/README.md says what steps there are) and what it knows meanwhile.
 */
#ifndef PEVTRACE_CONFORM_LAB_H
#define PEVTRACE_CONFORM_LAB_H

#include <signal.h>

#include "conform/claims.h"
#include "drive/issue.h"
#include "host/host.h"
#include "lib/buf.h"

/* How a step ended, and so the experiment if it did not go on. */
enum lab_end { LAB_GOES_ON, LAB_FALSE, LAB_UNTRIED };

/* What the process tells, in memory that its parent has, too. */
struct lab_told {
	bool done;
	enum claim_verdict verdict;
	char reason[256], expected[256], seen[256];
	char calls[32768];
};

/* LAB_MEMORY: more than a page, so that an attr of any stated size can be passed. */
enum {
	LAB_MEMORY = 12288, LAB_NAME = 24, LAB_EVENTS = 24, LAB_VARS = 32, LAB_WORDS = 16,
	LAB_ATTR = 256,
};

struct lab_event {
	char name[LAB_NAME];
	int fd;
	uint8_t attr[LAB_ATTR];
	uint64_t words[512];	/* of the last read */
	uint8_t *ring;		/* what of its ring is mapped */
	size_t ring_len;
	bool backward, overwrite;
	uint64_t found;		/* records of the last find */
	struct buf record;	/* the first of these: "\nFIELD=VALUE" for each */
};

struct lab_trace;

struct lab {
	struct lab_told *told;
	struct host *host;
	struct lab_trace *trace;
	struct issuer issuer;
	struct lab_event events[LAB_EVENTS];
	size_t nevents;
	struct {
		char name[LAB_NAME];
		uint64_t value;
	} vars[LAB_VARS];
	size_t nvars;
	int64_t ret;		/* of the last call; a negative errno */
	uint64_t size;		/* attr.size behind the last open */
	uint64_t out;		/* what the last ioctl pointed to */
	uint32_t query[16];	/* what the last query wrote */
	uint8_t memory[LAB_MEMORY] __attribute__((aligned(8))); /* what ioctls point to */
	pid_t task;		/* 0: none */
	int link;		/* to it */
	const char *step;	/* as it is written */
	char *words[LAB_WORDS];	/* of it, without the expectation */
	size_t nwords;
	const char *wanted;	/* what stands behind "->", or NULL */
};

/* Signals that came, counted by the handler. */
struct lab_signals {
	uint64_t count, first_code, code, signo, fd, addr, data, type;
};
extern volatile struct lab_signals lab_signals;

/* Does the experiment, tells, and ends the process. */
_Noreturn void lab_run(const struct claim_desc *c, bool nobody, struct lab_told *told);

/* Ends of steps, with a sentence for who asked. */
enum lab_end lab_untried(struct lab *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
enum lab_end lab_false(struct lab *l, const char *expected, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The claim itself is written wrongly. */
enum lab_end lab_bad(struct lab *l, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Holds a call's result against what is wanted; without that it must succeed. */
enum lab_end lab_judge(struct lab *l, int64_t result);

/* The event of that name; NULL: there is none. */
struct lab_event *lab_event(struct lab *l, const char *name);

/* The value of an expression; false after it said why in the told reason. */
bool lab_value(struct lab *l, const char *text, uint64_t *v);
bool lab_compare(uint64_t a, const char *op, uint64_t b, bool *holds);
void lab_set(struct lab *l, const char *name, uint64_t v);

/* Steps that make calls; those that look into rings; those that work. */
enum lab_end lab_open(struct lab *l);
enum lab_end lab_close(struct lab *l);
enum lab_end lab_read(struct lab *l);
enum lab_end lab_ioctl(struct lab *l);
enum lab_end lab_map(struct lab *l);
enum lab_end lab_unmap(struct lab *l);
enum lab_end lab_poke(struct lab *l);
enum lab_end lab_protect(struct lab *l);
enum lab_end lab_poll(struct lab *l);
enum lab_end lab_prctl(struct lab *l);
enum lab_end lab_fcntl(struct lab *l);
enum lab_end lab_find(struct lab *l);
enum lab_end lab_work(struct lab *l);
enum lab_end lab_task(struct lab *l);
enum lab_end lab_shell(struct lab *l);
enum lab_end lab_catch(struct lab *l);

/* The other process, made when it is first needed; 0: could not be made. */
pid_t lab_task_pid(struct lab *l);
void lab_task_end(struct lab *l);

/* The text of the calls that are made. */
struct lab_trace *lab_trace_new(struct lab *l);
/* Calls are not shown for a while, which the text says. */
void lab_trace_mute(struct lab_trace *t, bool muted);
void lab_trace_note(struct lab_trace *t, const char *text);
void lab_trace_end(struct lab_trace *t, char *text, size_t size);

#endif
