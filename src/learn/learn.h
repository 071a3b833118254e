/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One lesson that is being given, and what experiments are made of. */
#ifndef PEVTRACE_LEARN_LEARN_H
#define PEVTRACE_LEARN_LEARN_H

#include <stdint.h>
#include <sys/types.h>

#include "drive/stream.h"
#include "host/host.h"
#include "learn/lesson.h"
#include "learn/lesson_child.h"
#include "learn/tell.h"
#include "measure/own_session.h"
#include "xlat/constants.h"

/* pevtrace learn [OPTION]... [LESSON]... */
int cmd_learn(int argc, char **argv);

/* What texts have in braces, and what %when looks at. */
struct learn_value {
	char *name, *text;
};

/* A record that was found, whose bytes are valid during the call. */
struct learn_record {
	const struct event *event;	/* that wrote it */
	const struct record_format *format;
	const uint8_t *bytes;
	size_t len;
	uint32_t type;
};

/* True: it is to be shown. */
typedef bool learn_record_fn(void *ctx, const struct learn_record *r);

enum { LEARN_FDS = 16 };

struct learn {
	const struct lesson *lesson;
	struct tell tell;
	bool ask;		/* there is somebody to answer */
	/* what experiments use */
	struct own_session own_session;
	struct stream stream;	/* our rings */
	struct learn_value *values;
	size_t nvalues;
	int trace;		/* a file that the session writes lines into */
	char path[32];		/* of it */
	off_t told;		/* how much of it was taken */
	struct buf lines;	/* to be shown */
	struct buf why;		/* of learn_fail() */
	struct buf kept;	/* bytes that an experiment keeps for the next */
	pid_t task;		/* of learn_worker(), 0: there is none */
	int link;
	struct child_task *chore;
	int fds[LEARN_FDS];	/* kept from one experiment to the next */
	learn_record_fn *each;	/* of the look under way */
	void *each_ctx;
	unsigned int missed;	/* answers that had to be told */
};

/* Starts and ends what lesson l->lesson needs; false after a warn(). */
bool learn_start(struct learn *l);
bool learn_end(struct learn *l);

/* Values ---------------------------------------------------------------------------- */

void learn_set(struct learn *l, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
const char *learn_get(const struct learn *l, const char *name); /* NULL: not set */

/* What this machine has, for the list of lessons and for %when. */
struct learn_need {
	const char *name, *meaning;
	bool (*here)(struct host *h);
};
extern const struct learn_need learn_needs[];
extern const size_t nlearn_needs;

/* Sets each need that is here, and some numbers that texts want. */
void learn_set_machine(struct learn *l);

/* What is shown ----------------------------------------------------------------------- */

/* A line of ours among those of the calls; without a newline. */
void learn_say(struct learn *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The lesson cannot go on; false, always. */
bool learn_fail(struct learn *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* All lines since it was last asked; emptied by the caller. */
struct buf *learn_lines(struct learn *l);

/* Another verb, as if called with these words, with its output. */
bool learn_verb(struct learn *l, int (*verb)(int, char **), const char *const *words);

/* Making calls ------------------------------------------------------------------------- */

/* A descriptor or a negative errno; event is in the syntax of pevtrace open. */
int learn_try_open(struct learn *l, const char *event, pid_t pid, int cpu, int group);

/* The same, but when it fails learn_fail() is called. */
int learn_open(struct learn *l, const char *event, pid_t pid, int cpu, int group);

/* The first member of what read(2) gives for the event; learn_fail() when it fails. */
bool learn_read(struct learn *l, int fd, uint64_t *count);

int64_t learn_ioctl(struct learn *l, int fd, uint32_t request, uint64_t arg);
void learn_close(struct learn *l, int fd);

/* Maps a ring of that many data pages, writable, and looks into it from then on. */
bool learn_map(struct learn *l, int fd, size_t pages);

/* Takes what is new out of all rings; shows what each says, all if it is NULL. */
void learn_look(struct learn *l, learn_record_fn *each, void *ctx);

/* For that: the first *left records are shown, and the others counted down below 0. */
bool learn_first(void *left, const struct learn_record *r);

/* Nothing is shown; *n counts. */
bool learn_count(void *n, const struct learn_record *r);
void learn_unmap(struct learn *l);

/* Shows these members of the page in front of a ring. */
void learn_page(struct learn *l, const struct stream_ring *r, const unsigned int *members,
		size_t n);

/* The name of the errno. */
const char *learn_error(int64_t result);

/* A task of our own -------------------------------------------------------------------- */

/*
 * Starts a child of ours that does its chore each time that it is told to, and
 * does it twice at first, so that what it touches is there.  The chore is in
 * memory of both; NULL after learn_fail().
 */
struct child_task *learn_worker(struct learn *l, void (*work)(struct child_task *c),
			   unsigned int times);

/* Lets it work once, and waits until it is done. */
bool learn_work(struct learn *l);

/* The same between enabling and disabling an event; flags: of both ioctls. */
bool learn_work_counted(struct learn *l, int fd, uint64_t flags);
void learn_end_worker(struct learn *l);

/* Does fn in a child of ours, which shows its own calls; what it sets is lost. */
bool learn_apart(struct learn *l, bool (*fn)(struct learn *l));

#endif
