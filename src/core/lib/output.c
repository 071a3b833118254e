// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/lib/buf.h"
#include "core/lib/child.h"
#include "core/lib/create.h"
#include "core/lib/die.h"
#include "core/lib/map.h"
#include "core/lib/pager.h"

enum {
	ROOM = 64 << 10,
	PULSES = 5, /* interruptions of a write after which its reader counts as slow */
};

/* A descriptor to write to, and the text not yet written to it. */
struct stream {
	int fd;
	struct buf pending;
};

struct output {
	const char *path;
	bool separate;
	bool buffered;
	bool failed;
	mode_t mode;		/* of files that are created */
	struct stream one;	/* without separate */
	int command;		/* pidfd of the command that reads it, or -1 */
	struct map streams;	/* separate: tid to stream */
	struct map begun;	/* separate: tids whose file pevtrace has created */
};

static int open_file(const char *path, int flags, mode_t mode)
{
	int fd = create_file(path, flags, mode);

	if (fd < 0)
		warn("cannot write '%s': %s; name another file", path,
		     create_error(errno));
	return fd;
}

/* Check, before the target runs, that files can be created in the directory; else warn. */
static bool can_create_files(const char *path)
{
	char *copy = xstrdup(path);
	bool ok = !access(dirname(copy), W_OK | X_OK);

	if (!ok)
		warn("cannot write '%s.PID': %s; name another file", path,
		     strerror(errno));
	free(copy);
	return ok;
}

/*
 * Run a command for the shell with in as its standard input.  At ^C the target may go on, and so
 * does the command: it would lose the rest of the trace.
 */
static _Noreturn void run_command(const char *command, int in)
{
	signal(SIGINT, SIG_IGN);
	dup2(in, STDIN_FILENO);
	execl("/bin/sh", "sh", "-c", command, NULL);
	_exit(127);
}

/*
 * Start a command that reads the output; return the descriptor to write to, or -1.  It is a
 * grandchild, as the engine waits for every child.
 */
static int open_command(struct output *o, const char *command)
{
	int in[2], ids[2];
	pid_t child, pid = -1;

	if (pipe2(in, O_CLOEXEC))
		return -1;
	if (pipe2(ids, O_CLOEXEC)) {
		close(in[0]);
		close(in[1]);
		return -1;
	}
	child = fork();
	if (!child) {
		pid = fork();
		if (!pid)
			run_command(command, in[0]);
		_exit(write(ids[1], &pid, sizeof(pid)) != (ssize_t)sizeof(pid));
	}
	close(ids[1]);
	close(in[0]);
	if (child < 0 || read(ids[0], &pid, sizeof(pid)) != (ssize_t)sizeof(pid) || pid < 0) {
		close(in[1]);
		in[1] = -1;
	} else {
		o->command = (int)syscall(SYS_pidfd_open, pid, 0);
	}
	child_wait(child);
	close(ids[0]);
	return in[1];
}

static int open_path(struct output *o, const char *path, int flags)
{
	int fd;

	if (!output_is_command(path))
		return open_file(path, flags, o->mode);
	fd = open_command(o, path + 1);
	if (fd < 0)
		warn("cannot run '%s': %s%s", path + 1, strerror(errno), error_advice(errno));
	return fd;
}

/* Let the command see the end of its input, and wait for its end. */
static void end_command(struct output *o)
{
	while (poll(&(struct pollfd){ .fd = o->command, .events = POLLIN }, 1, -1) < 0 &&
	       errno == EINTR)
		;
	close(o->command);
}

struct output *output_open(const char *path, int standard, enum output_kind kind, mode_t mode)
{
	struct output *o = xcalloc(1, sizeof(*o));

	if (path && !strcmp(path, "-")) {
		path = NULL;
		standard = STDOUT_FILENO;
	}
	o->path = path;
	o->mode = mode;
	o->separate = path && kind == OUTPUT_SEPARATE;
	o->command = -1;
	o->buffered = path || standard == STDOUT_FILENO;
	if (o->separate)
		o->failed = !can_create_files(path);
	else
		o->one.fd = path ? open_path(o, path, kind == OUTPUT_APPEND ? O_APPEND : O_TRUNC) :
				   standard;
	if (!o->failed && o->one.fd >= 0)
		return o;
	free(o);
	return NULL;
}

/* Warn once.  The target continues; output_close() reports the failure. */
static void fail(struct output *o)
{
	if (!o->failed)
		warn("cannot write the trace to %s: %s; the rest of it is lost",
		     o->path ? o->path : o->one.fd == STDOUT_FILENO ? "standard output" :
		     "standard error", strerror(errno));
	o->failed = true;
}

/*
 * Let a pending stop signal stop pevtrace.  engine/ptrace/signal_forward.c blocks these signals until
 * the program stops, but the program waits for pevtrace, and pevtrace for a reader that may
 * itself have been stopped by the same signal.
 */
static void take_stop_signals(void)
{
	sigset_t stops, before;

	sigemptyset(&stops);
	sigaddset(&stops, SIGTSTP);
	sigaddset(&stops, SIGTTIN);
	sigaddset(&stops, SIGTTOU);
	sigprocmask(SIG_UNBLOCK, &stops, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Write what is pending, and drop what cannot be written.  Timer signals interrupt writes. */
static void drain(struct output *o, struct stream *s)
{
	size_t done = 0;
	int waits = 0;

	while (done < s->pending.len) {
		ssize_t n = write(s->fd, s->pending.data + done, s->pending.len - done);

		if (n >= 0) {
			done += (size_t)n;
			waits = 0;
			continue;
		}
		if (errno == EAGAIN)
			poll(&(struct pollfd){ .fd = s->fd, .events = POLLOUT }, 1, -1);
		else if (errno != EINTR)
			break;
		if (++waits >= PULSES)
			take_stop_signals();
	}
	if (done < s->pending.len)
		fail(o);
	buf_reset(&s->pending);
}

static void output_finish(struct output *o, struct stream *s)
{
	drain(o, s);
	if (close(s->fd))
		fail(o);
	buf_free(&s->pending);
	free(s);
}

/* Close all files to free their descriptors; they are reopened to append. */
static void finish_all(struct output *o)
{
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&o->streams, &at)))
		output_finish(o, slot->value);
	map_free(&o->streams);
}

static struct stream *stream_of(struct output *o, pid_t tid)
{
	char path[4096];
	struct stream *s;
	int fd, flags;

	if (!o->separate)
		return &o->one;
	s = map_get(&o->streams, (uint64_t)tid);
	if (s)
		return s;
	snprintf(path, sizeof(path), "%s.%d", o->path, (int)tid);
	/* append to the file of an earlier task with this tid, or one closed by finish_all() */
	flags = map_set(&o->begun, (uint64_t)tid, o) ? O_APPEND : O_TRUNC;
	fd = create_file(path, flags, o->mode);
	if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
		finish_all(o);
		fd = create_file(path, flags, o->mode);
	}
	if (fd < 0) {
		fail(o);
		return NULL;
	}
	s = xcalloc(1, sizeof(*s));
	s->fd = fd;
	map_set(&o->streams, (uint64_t)tid, s);
	return s;
}

void output_done(struct output *o, pid_t tid)
{
	struct stream *s = o->separate ? map_del(&o->streams, (uint64_t)tid) : NULL;

	if (s)
		output_finish(o, s);
}

void output_write(struct output *o, pid_t tid, const char *text, size_t len)
{
	struct stream *s;

	if (o->failed || !len)
		return;
	s = stream_of(o, tid);
	if (!s)
		return;
	buf_add(&s->pending, text, len);
	if (!o->buffered || s->pending.len >= ROOM)
		drain(o, s);
}

void output_flush(struct output *o)
{
	struct map_slot *slot;
	size_t at = 0;

	drain(o, &o->one);
	while ((slot = map_next(&o->streams, &at)))
		drain(o, slot->value);
}

bool output_is_terminal(const struct output *o)
{
	return !o->separate && pager_is_terminal(o->one.fd);
}

unsigned int output_columns(const struct output *o)
{
	return output_is_terminal(o) ? terminal_columns(o->one.fd) : 0;
}

bool output_has_failed(const struct output *o)
{
	return o->failed;
}

bool output_close(struct output *o)
{
	bool ok;

	finish_all(o);
	map_free(&o->begun);
	drain(o, &o->one);
	buf_free(&o->one.pending);
	/* leave the standard streams open */
	if (o->path && !o->separate && close(o->one.fd))
		fail(o);
	if (o->command >= 0)
		end_command(o);
	ok = !o->failed;
	free(o);
	return ok;
}
