/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A dump's lines as what happened, for a session to be told again. */
#ifndef PEVTRACE_DUMP_READER_H
#define PEVTRACE_DUMP_READER_H

#include <signal.h>
#include <stdio.h>

#include "abi/call.h"
#include "model/model.h"
#include "session/view.h"

/* What the first line said.  Strings belong to the replay. */
struct dump_facts {
	const char *pevtrace, *sysname, *release, *version, *machine;
	pid_t *pids;		/* attached to */
	size_t npids;
	const struct arch *arch;
	uint32_t page_size;
	int64_t real_offset;
	uint64_t start_ns;
	char **command;		/* NULL-terminated, as it was run */
};

/*
 * Where the lines go; the meaning of each is that of the function of the same
 * name in cmd/session.h.  Calls live until exit or gone.  Those that only tell
 * more (found_ring, comm, stack, record, looked, learnt_id, count, signalled) may be NULL.
 */
struct reader_ops {
	void (*born)(void *ctx, const struct birth *b, uint64_t ns);
	void (*found)(void *ctx, pid_t tid, int fd, bool cloexec);
	void (*found_ring)(void *ctx, pid_t tid, uint64_t start, uint64_t end);
	void (*comm)(void *ctx, pid_t tid, const char *comm);
	void (*enter)(void *ctx, struct call *c);
	void (*exit)(void *ctx, struct call *c);
	void (*stack)(void *ctx, pid_t tid, const struct view_frame *frames, size_t n,
		      const char *why);
	void (*record)(void *ctx, pid_t tid, uint64_t ns, unsigned int ring,
		       unsigned int event, bool sure, const uint8_t *bytes, size_t len);
	void (*looked)(void *ctx, pid_t tid, uint64_t ns, unsigned int ring,
		       uint64_t missed, bool torn, const uint8_t *page, size_t len, int error);
	void (*learnt_id)(void *ctx, unsigned int event, uint64_t id);
	/* read_format: of an event that was there before, or NULL */
	void (*count)(void *ctx, unsigned int event, uint64_t id,
		      const struct event_count *count, const uint64_t *read_format);
	void (*signalled)(void *ctx, pid_t tid, uint64_t ns, const siginfo_t *info);
	void (*execed)(void *ctx, pid_t tid, pid_t former, uint64_t ns, const char *exe);
	/* c: the call it was in, or NULL */
	void (*gone)(void *ctx, pid_t tid, uint64_t ns, enum view_end how, int status,
		     struct call *c);
};

struct reader;

/*
 * Reads the header; NULL after a warn() that names the file and line when it
 * is not a dump that this version can read.  path is for messages.  keep_going:
 * bad lines are reported and passed over.
 */
struct reader *reader_open(FILE *f, const char *path, bool keep_going);
void reader_close(struct reader *r);

const struct dump_facts *reader_facts(const struct reader *r);

/* What the dump calls things; the hooks of struct names but read_format, event. */
const struct names *reader_names(const struct reader *r);

/* The number of the line that is being told, from 1 on. */
unsigned long reader_line(const struct reader *r);

/*
 * Tells everything.  True when the dump was whole: no bad line, and a last
 * line that says it is the last.  What was wrong has been warned of.
 */
bool reader_run(struct reader *r, const struct reader_ops *ops, void *ctx);

#endif
