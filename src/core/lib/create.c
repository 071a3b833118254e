// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/create.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/lib/die.h"

const char *create_error(int error)
{
	return error == EPERM ? "the file exists, belongs to another user, and is "
				"in a directory that others may write to" : strerror(error);
}

static bool create_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/*
 * Return whether the file belongs to the caller or, if regular, to the directory's owner.
 * A regular file with several links may be another name for somebody else's file.
 * Only root can create a device such as /dev/null, whatever its owner in this user namespace.
 */
static bool is_own(const struct stat *s, const struct stat *in)
{
	if (S_ISCHR(s->st_mode))
		return true;
	return (s->st_uid == geteuid() || (S_ISREG(s->st_mode) && s->st_uid == in->st_uid)) &&
	       (!S_ISREG(s->st_mode) || s->st_nlink == 1);
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
	       (stat("/dev", &dev) || !create_same_file(dir, &dev));
}

/* Check the opened file again, as the directory may have changed meanwhile. */
static int open_own(int dir, const struct stat *in, const char *name, int flags, mode_t mode)
{
	struct stat seen, got;
	int fd;

	if (fstatat(dir, name, &seen, AT_SYMLINK_NOFOLLOW))
		return -1;
	if (!is_own(&seen, in)) {
		errno = EPERM;
		return -1;
	}
	/* follow the caller's own symbolic links */
	if (S_ISLNK(seen.st_mode))
		return openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC | flags, mode);
	fd = openat(dir, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | (flags & (O_APPEND | O_NONBLOCK)));
	if (fd < 0)
		return -1;
	if (fstat(fd, &got) || !create_same_file(&seen, &got)) {
		close(fd);
		errno = EPERM;
		return -1;
	}
	if (flags & O_TRUNC && S_ISREG(got.st_mode) && ftruncate(fd, 0)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int create_in(int dir, const struct stat *in, const char *name, int flags, mode_t mode)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | flags, mode);

	return fd >= 0 || errno != EEXIST ? fd : open_own(dir, in, name, flags, mode);
}

static int create_at(const char *path, int flags, mode_t mode)
{
	char *copy = xstrdup(path), *base = xstrdup(path);
	int fd = -1, dir = open(dirname(copy), O_PATH | O_DIRECTORY | O_CLOEXEC), error;
	struct stat s;

	if (dir >= 0 && !fstat(dir, &s)) {
		fd = create_is_shared(&s) ? create_in(dir, &s, basename(base), flags, mode) :
				     open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, mode);
	}
	error = errno;
	if (dir >= 0)
		close(dir);
	free(copy);
	free(base);
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
