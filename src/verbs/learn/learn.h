/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lesson under way, and the calls that experiments (do_*.c) consist of. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "experiment/stream.h"
#include "core/host/host.h"
#include "verbs/learn/lesson.h"
#include "verbs/learn/lesson_child.h"
#include "verbs/learn/lesson_text.h"
#include "verbs/learn/needs.h"
#include "verbs/measure/own_session.h"
#include "xlat/constants.h"

extern const struct verb learn_verb;

/* A value that replaces {name} in texts and is tested by %when. */
struct learn_value {
	char *name, *text;
};

/* A record from a ring; bytes are valid during the call only. */
struct learn_record {
	const struct event *event;	/* that wrote it */
	const struct record_format *format;
	const uint8_t *bytes;
	size_t len;
	uint32_t type;
};

/* Return true to show the record. */
typedef bool learn_record_fn(void *ctx, const struct learn_record *r);

enum { LEARN_FDS = 16 };

struct learn {
	const struct lesson *lesson;
	struct instruments *instruments; /* borrowed; those of the whole run */
	struct lesson_text text;
	bool ask;		/* read answers from the terminal */
	unsigned int missed;	/* questions answered wrongly to the end */
	/* for experiments */
	struct own_session own_session;
	struct stream stream;	/* our rings */
	struct learn_value *values;
	size_t nvalues;
	int trace;		/* memfd that the session writes lines to */
	char path[32];		/* of trace */
	off_t taken;		/* bytes of trace that are in lines */
	struct buf lines;	/* to be shown */
	struct buf why;		/* set by learn_fail() */
	struct buf kept;	/* a record kept for a later experiment */
	pid_t child_pid;	/* of learn_start_child(); 0: none */
	int child_link;
	struct lesson_child *child;
	int fds[LEARN_FDS];	/* descriptors kept for later experiments, or -1 */
	learn_record_fn *each;	/* of the learn_look() under way */
	void *each_ctx;
};

/* Values ---------------------------------------------------------------------------- */

void learn_set(struct learn *l, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void learn_set_number(struct learn *l, const char *name, uint64_t v);
void learn_set_hex(struct learn *l, const char *name, uint64_t v);
/* Set name to the errno of a failed result, else to "none". */
void learn_set_error(struct learn *l, const char *name, int64_t result);
const char *learn_get(const struct learn *l, const char *name); /* NULL: not set */

/*
 * Set a value of the name of each need of the lesson that works on this machine, NAME_lack to
 * the sentences of learn_need_works() for the others, and the page size.
 */
void learn_set_machine(struct learn *l);

/* Output ---------------------------------------------------------------------------- */

/* Add a line to those of the calls; fmt has no newline. */
void learn_say(struct learn *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* End the lesson with a reason.  Return false. */
bool learn_fail(struct learn *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Return the lines since the caller last emptied the buffer. */
struct buf *learn_lines(struct learn *l);

/* Run another verb with these words and add its output to the lines. */
bool learn_run_verb(struct learn *l, const struct verb *v, const char *const *words);

/* Calls ----------------------------------------------------------------------------- */

/* Open an event in the syntax of pevtrace open.  Return a descriptor or a negative errno. */
int learn_try_open(struct learn *l, const char *event, pid_t pid, int cpu, int group);

/* Open an event into l->fds[slot].  Return false after learn_fail(). */
bool learn_open(struct learn *l, unsigned int slot, const char *event, pid_t pid, int cpu,
		int group);

/* Open an event, set name to the error or "none", and close it. */
void learn_set_open_error(struct learn *l, const char *name, const char *event, pid_t pid,
			  int cpu, int group);

/* Read the event's first word.  Return false after learn_fail(). */
bool learn_read(struct learn *l, int fd, uint64_t *count);

/* Return the result of the last call that an experiment made. */
int64_t learn_last_result(const struct learn *l);

int64_t learn_ioctl(struct learn *l, int fd, uint32_t request, uint64_t arg);
void learn_close(struct learn *l, int fd);
void learn_close_slot(struct learn *l, unsigned int slot);

/* Map a writable ring of that many data pages and add it to the stream. */
bool learn_map(struct learn *l, int fd, size_t pages);

/* Read new records of all rings.  Show those that each accepts, or all if it is NULL. */
void learn_look(struct learn *l, learn_record_fn *each, void *ctx);

/* Accept the first *left records; *left becomes negative by the number of the others. */
bool learn_first(void *left, const struct learn_record *r);

/* Count records in *n and accept none. */
bool learn_count(void *n, const struct learn_record *r);
void learn_unmap(struct learn *l);

/* Show members of a ring's struct perf_event_mmap_page. */
void learn_page(struct learn *l, const struct stream_ring *r, const unsigned int *members,
		size_t n);

/* Return the name of the errno of a failed result. */
const char *learn_error(int64_t result);

/* Children -------------------------------------------------------------------------- */

/*
 * Fork the child that the lesson measures, and run work in it twice, so that later runs
 * cause no first-time faults.  Return its shared memory, or NULL after learn_fail().
 */
struct lesson_child *learn_start_child(struct learn *l, void (*work)(struct lesson_child *c),
				       unsigned int times);

/* Run its work once and wait for it.  Return false after learn_fail(). */
bool learn_run_child(struct learn *l);

/* The same between ENABLE and DISABLE of an event; flags is the argument of both ioctls. */
bool learn_run_counted(struct learn *l, int fd, uint64_t flags);
void learn_end_child(struct learn *l);

/*
 * Run fn in a forked process, which prints its own calls.  The values that it sets come
 * back; other changes are lost.
 */
bool learn_in_process(struct learn *l, bool (*fn)(struct learn *l));
