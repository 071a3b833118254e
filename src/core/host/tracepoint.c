// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/tracepoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/host/sysfile.h"
#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "core/lib/scan_text.h"

/* More than the longest format of Linux, which is a few pages. */
enum { MAX_FORMAT = 1 << 20 };

/* Add the tracepoint, if name is one; return false if its id cannot be read or kept. */
static bool read_event(int system_dir, const char *system, const char *name, struct map *ids)
{
	char path[300], full[600], *copy;
	int64_t id;

	snprintf(path, sizeof(path), "%s/id", name);
	errno = 0;
	if (!sysfile_number(system_dir, path, &id)) {
		/* "enable" and "filter" are files; events that perf cannot have lack an id */
		snprintf(path, sizeof(path), "%s/format", name);
		return errno == ENOTDIR ||
		       (errno == ENOENT && !faccessat(system_dir, path, F_OK, 0));
	}
	if (map_get(ids, (uint64_t)id))
		return true;
	snprintf(full, sizeof(full), "%s:%s", system, name);
	copy = xstrdup(full);
	if (copy && !map_set(ids, (uint64_t)id, copy))
		return true;
	free(copy);
	return false;
}

static bool read_system(int events, const char *system, struct map *ids)
{
	DIR *d = sysfile_dir(events, system);
	bool good = d || errno == ENOTDIR;
	const char *name;
	size_t n = 0;

	for (; d && (name = sysfile_next(d)); n++)
		good &= read_event(dirfd(d), system, name, ids);
	if (d)
		closedir(d);
	/* none is empty unless another directory is mounted on it */
	return good && (n || !d);
}

bool tracepoints_read(const char *tracefs, struct map *ids)
{
	char path[4096];
	const char *system;
	bool good = true;
	DIR *d;

	snprintf(path, sizeof(path), "%s/events", tracefs);
	d = sysfile_dir(AT_FDCWD, path);
	while (d && (system = sysfile_next(d)))
		good &= read_system(dirfd(d), system, ids);
	if (d)
		closedir(d);
	return good;
}

int tracepoint_id(const char *tracefs, const char *name, uint64_t *id)
{
	const char *colon = strchr(name, ':');
	char path[4096], text[32];

	/* reject names with more than one directory, and ".." */
	if (!colon || colon == name || !colon[1] || *name == '.' || colon[1] == '.' ||
	    strchr(name, '/'))
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/events/%.*s/%s/id", tracefs, (int)(colon - name),
		 name, colon + 1);
	errno = EIO;
	if (!sysfile_read(AT_FDCWD, path, text, sizeof(text)))
		return -errno;
	return scan_whole(text, SCAN_DECIMAL, 0, UINT64_MAX, id) ? 0 : -EIO;
}

char *tracepoint_format(const char *tracefs, const char *name)
{
	const char *colon = strchr(name, ':');
	struct buf text = { 0 };
	char path[4096], part[4096];
	ssize_t n;
	int fd;

	if (!colon)
		return NULL;
	snprintf(path, sizeof(path), "%s/events/%.*s/%s/format", tracefs,
		 (int)(colon - name), name, colon + 1);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	while (text.len < MAX_FORMAT && (n = read(fd, part, sizeof(part))) > 0)
		buf_add(&text, part, (size_t)n);
	close(fd);
	return text.data;
}
