// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "core/lib/map.h"
#include "core/lib/pager.h"
#include "core/lib/program.h"

const char *create_error(int error)
{
	return error == EMLINK ? "the file exists, is a link or belongs to another user, and is "
				 "in a directory that others may write to" : strerror(error);
}

/*
 * Return whether the file belongs to the caller or, if regular, to the directory's owner.
 * A file with several links may be another name for somebody else's file.
 * Only root can create a device such as /dev/null, whatever its owner in this user namespace.
 */
static bool is_own(const struct stat *s, const struct stat *in)
{
	if (S_ISCHR(s->st_mode) || S_ISDIR(s->st_mode)) /* no directory is opened for writing */
		return true;
	return s->st_nlink == 1 && !S_ISLNK(s->st_mode) &&
	       (s->st_uid == geteuid() || (S_ISREG(s->st_mode) && s->st_uid == in->st_uid));
}

/*
 * Return whether users other than the caller and root may create files there.  /dev belongs
 * to root, even where a user namespace has no uid for its owner.
 */
static bool create_is_shared(const struct stat *dir)
{
	struct stat dev;

	if (dir->st_mode & (S_IWOTH | S_IWGRP))
		return true;
	return dir->st_uid && dir->st_uid != geteuid() &&
	       (stat("/dev", &dev) || dev.st_dev != dir->st_dev || dev.st_ino != dir->st_ino);
}

/*
 * Return whether the file that is open under that link of /proc still has that name.  Its link
 * count was read before: without the name, a count of 1 would be of another one.
 */
static bool has_name(const char *link, const char *name)
{
	char now[PATH_MAX];
	ssize_t n = readlink(link, now, sizeof(now) - 1);
	const char *last;

	now[n > 0 ? n : 0] = '\0';
	last = strrchr(now, '/');
	return last && !strcmp(last + 1, name);
}

/*
 * Open a file of a directory that others may write to.  What is checked is what is opened,
 * even if others exchange it at any moment: it is held by a descriptor, and opened through that.
 */
static int open_own(int dir, const struct stat *in, const char *name, int flags)
{
	int fd = -1, held = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), error;
	char link[32];
	struct stat s;

	if (held < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", held);
	if (fstat(held, &s) || !is_own(&s, in) || !has_name(link, name))
		errno = EMLINK;
	else
		fd = open(link, O_WRONLY | O_CLOEXEC | flags);
	error = errno;
	close(held);
	errno = error;
	return fd;
}

/* Open the directory of a path, and set what it is and the file's name; return -1 on failure. */
static int open_directory(const char *path, struct stat *s, char name[NAME_MAX + 2])
{
	char *copy = xstrdup(path);
	int dir, error;

	snprintf(name, NAME_MAX + 2, "%s", basename(copy));
	strcpy(copy, path);
	dir = open(dirname(copy), O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0 && fstat(dir, s)) {
		close(dir);
		dir = -1;
	}
	error = errno;
	free(copy);
	errno = error;
	return dir;
}

static int create_at(const char *path, int flags, mode_t mode)
{
	int create = O_WRONLY | O_CREAT | O_CLOEXEC | flags, fd, error, dir;
	char name[NAME_MAX + 2];
	struct stat s;

	dir = open_directory(path, &s, name);
	if (dir < 0)
		return -1;
	if (!create_is_shared(&s))
		fd = open(path, create, mode);
	else if ((fd = openat(dir, name, create | O_EXCL, mode)) < 0 && errno == EEXIST)
		fd = open_own(dir, &s, name, flags);
	error = errno;
	close(dir);
	errno = error;
	return fd;
}

int create_file(const char *path, int flags, mode_t mode)
{
	int fd = create_at(path, flags | O_NONBLOCK, mode);
	struct stat s;

	if (fd >= 0) {
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
		return fd;
	}
	if (errno != ENXIO || stat(path, &s) || !S_ISFIFO(s.st_mode))
		return -1;
	warn("waiting for a reader of the pipe '%s'", path);
	return create_at(path, flags, mode);
}

FILE *create_stream(const char *path)
{
	int fd = path ? create_file(path, O_TRUNC, CREATE_PUBLIC) : -1;

	return !path ? stdout : fd < 0 ? NULL : fdopen(fd, "w");
}

/*
 * Who may exchange a file between check and rename may also delete it, and nobody can put
 * a third user's file there.
 */
bool create_backup(const char *path)
{
	char name[NAME_MAX + 2], old[NAME_MAX + 8];
	struct stat in, now, there;
	int dir = open_directory(path, &in, name);
	bool shared = dir >= 0 && create_is_shared(&in), ok = true;

	snprintf(old, sizeof(old), "%s.old", name);
	if (dir >= 0 && !fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) && S_ISREG(now.st_mode) &&
	    now.st_size && (!shared || is_own(&now, &in))) {
		ok = !shared || fstatat(dir, old, &there, AT_SYMLINK_NOFOLLOW) ||
		     is_own(&there, &in);
		if (ok)
			renameat(dir, name, dir, old);
	}
	if (dir >= 0)
		close(dir);
	errno = EMLINK;
	return ok;
}

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
	size_t max, head, size;	/* of that: where it is cut, or 0; bytes written, first the head */
	bool ends;		/* with a whole line */
	unsigned int number;	/* of the file, where it was cut before */
	int command;		/* pidfd of the command that reads it, or -1 */
	struct map streams;	/* separate: tid to stream */
	struct map begun;	/* separate: tids whose file pevtrace has created */
};

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
		if (!pid) {
			/* at ^C the target may go on: without the command its trace is lost */
			signal(SIGINT, SIG_IGN);
			dup2(in[0], STDIN_FILENO);
			execl("/bin/sh", "sh", "-c", command, NULL);
			_exit(127);
		}
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
	bool command = output_is_command(path);
	int fd = command ? open_command(o, path + 1) : create_file(path, flags, o->mode);

	if (fd < 0 && command)
		warn("cannot run '%s': %s%s", path + 1, strerror(errno), error_advice(errno));
	else if (fd < 0)
		warn("cannot write '%s': %s; name another file", path, create_error(errno));
	return fd;
}

struct output *output_open(const char *path, int standard, enum output_kind kind, mode_t mode)
{
	struct output *o = xcalloc(1, sizeof(*o));
	char *copy;

	if (path && !strcmp(path, "-")) {
		path = NULL;
		standard = STDOUT_FILENO;
	}
	o->path = path;
	o->mode = mode;
	o->separate = path && kind == OUTPUT_SEPARATE;
	o->command = -1;
	o->buffered = path || standard == STDOUT_FILENO;
	if (o->separate) {
		/* before the target runs */
		copy = xstrdup(path);
		o->failed = access(dirname(copy), W_OK | X_OK);
		if (o->failed)
			warn("cannot write '%s.PID': %s; name another file", path, strerror(errno));
		free(copy);
	} else {
		o->one.fd = path ? open_path(o, path, kind == OUTPUT_APPEND ? O_APPEND : O_TRUNC) :
				   standard;
	}
	if (!o->failed && o->one.fd >= 0)
		return o;
	free(o);
	return NULL;
}

/* Warn once.  The target continues; output_close() reports the failure. */
static void fail(struct output *o)
{
	if (!o->failed)
		warn("cannot write the trace to %s%s: %s; the rest of it is lost",
		     o->path ? o->path : o->one.fd == STDOUT_FILENO ? "standard output" :
		     "standard error", o->separate ? ".PID" : "", create_error(errno));
	o->failed = true;
}

/* Write what is pending, and drop what cannot be written.  Timer signals interrupt writes. */
static void drain(struct output *o, struct stream *s)
{
	sigset_t stops, before;
	size_t done = 0;
	int waits = 0;

	sigemptyset(&stops);
	sigaddset(&stops, SIGTSTP);
	sigaddset(&stops, SIGTTIN);
	sigaddset(&stops, SIGTTOU);
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
		if (++waits < PULSES)
			continue;
		/*
		 * Let a pending stop signal stop pevtrace.  engine/ptrace/signal_forward.c blocks
		 * these until the program stops, but the program waits for pevtrace, and pevtrace
		 * for a reader that may itself have been stopped by the same signal.
		 */
		sigprocmask(SIG_UNBLOCK, &stops, &before);
		sigprocmask(SIG_SETMASK, &before, NULL);
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
	map_each(slot, &o->streams)
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
	o->size += len;
	o->ends = text[len - 1] == '\n';
	buf_add(&s->pending, text, len);
	if (!o->buffered || s->pending.len >= ROOM)
		drain(o, s);
}

void output_limit(struct output *o, size_t max)
{
	struct stat s;

	if (o->path && !o->separate && !fstat(o->one.fd, &s) && S_ISREG(s.st_mode))
		o->max = max;
}

bool output_is_full(const struct output *o)
{
	return o->max && o->size >= o->max && o->size >= o->head && o->ends && !o->failed;
}

void output_next(struct output *o)
{
	char path[PATH_MAX];

	drain(o, &o->one);
	if (close(o->one.fd))
		fail(o);
	o->size = 0;
	snprintf(path, sizeof(path), "%s.%u", o->path, ++o->number);
	o->one.fd = open_path(o, path, O_TRUNC);
	o->failed |= o->one.fd < 0;
}

void output_end_head(struct output *o)
{
	o->head = o->size;
	o->size = 0;
}

void output_flush(struct output *o)
{
	drain(o, &o->one);
	map_each(slot, &o->streams)
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
	if (o->command >= 0) {
		/* it has seen the end of its input */
		while (poll(&(struct pollfd){ .fd = o->command, .events = POLLIN }, 1, -1) < 0 &&
		       errno == EINTR)
			;
		close(o->command);
	}
	ok = !o->failed;
	free(o);
	return ok;
}
