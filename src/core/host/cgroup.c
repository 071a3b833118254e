// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/host/sysfile.h"
#include "core/lib/nearest.h"

/* Find the mount of the hierarchy of perf events, or of version 2. */
static bool find_mount(bool perf, char *path, size_t size)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	const struct mntent *e;
	bool found = false;

	while (f && (e = getmntent(f))) {
		bool v1 = perf && !strcmp(e->mnt_type, "cgroup") && hasmntopt(e, "perf_event");

		if ((!v1 && strcmp(e->mnt_type, "cgroup2")) ||
		    sysfile_hidden(e->mnt_dir, v1 ? CGROUP_SUPER_MAGIC : CGROUP2_SUPER_MAGIC))
			continue;
		if ((size_t)snprintf(path, size, "%s", e->mnt_dir) < size)
			found = true;
		if (v1) /* version 2 then has no perf events */
			break;
	}
	if (f)
		endmntent(f);
	return found;
}

bool cgroup_mount(char *path, size_t size)
{
	return find_mount(true, path, size);
}

int cgroup2_open(const char *path, struct buf *why)
{
	char mount[PATH_MAX];
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct statfs fs;

	if (fd >= 0 && !fstatfs(fd, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC)
		return fd;
	buf_adds(why, fd < 0 ? strerror(errno) : "not a directory of cgroup2");
	if (find_mount(false, mount, sizeof(mount)))
		buf_addf(why, "; name one in %s", mount);
	else
		buf_adds(why, "; no cgroup2 is mounted");
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Open a directory of the hierarchy; return -1 and errno, ENODEV if it is outside. */
static int open_within(const char *mount, const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat top, at;

	if (fd < 0)
		return -1;
	if (!stat(mount, &top) && !fstat(fd, &at) && top.st_dev == at.st_dev)
		return fd;
	close(fd);
	errno = ENODEV;
	return -1;
}

/* Append the part of the path that exists and the directory there with the nearest name. */
static void add_nearest(const char *mount, char *path, struct buf *why)
{
	char *slash = path + strlen(path);
	struct nearest n;
	const struct dirent *e;
	DIR *d = NULL;

	while (!d && (slash = memrchr(path, '/', (size_t)(slash - path))) &&
	       slash >= path + strlen(mount)) {
		*slash = '\0';
		d = opendir(path);
		if (!d)
			*slash = '/';
	}
	if (!d)
		return;
	nearest_start(&n, slash + 1, strcspn(slash + 1, "/"));
	while ((e = readdir(d)))
		if (e->d_type == DT_DIR && *e->d_name != '.')
			nearest_try(&n, e->d_name);
	closedir(d);
	buf_addf(why, "; the nearest that exists is %s%s%s", path, *n.best ? "/" : "", n.best);
}

int cgroup_open(const char *name, struct buf *why)
{
	char mount[PATH_MAX / 2], path[PATH_MAX];
	int fd = -1, error;

	if (!*name) {
		buf_adds(why, "empty name; use / for the root cgroup");
		return -1;
	}
	if (!cgroup_mount(mount, sizeof(mount))) {
		buf_adds(why, "no cgroup hierarchy for perf events is mounted; mount cgroup2, or "
			      "cgroup with perf_event");
		return -1;
	}
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", mount, name) >= sizeof(path))
		errno = ENAMETOOLONG;
	else
		fd = open_within(mount, path);
	error = errno;
	if (fd < 0 && error == ENOENT && *name == '/')
		fd = open_within(mount, name);
	if (fd >= 0)
		return fd;
	if (error == ENOENT && *name == '/' && errno != ENOENT)
		error = errno;
	buf_addf(why, "%s; cgroups for perf events are below %s",
		 error == ENODEV ? "not a cgroup" :
		 error == ENOENT ? "no such cgroup" : strerror(error), mount);
	if (error == ENOENT)
		add_nearest(mount, path, why);
	return -1;
}

bool cgroup_has(int dir, pid_t pid)
{
	char name[32], whole[PATH_MAX] = "", text[2 * PATH_MAX], *path = whole;
	struct stat within, st;
	bool found = false;
	const char *at;
	size_t len;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", dir);
	if (readlink(name, whole, sizeof(whole) - 1) <= 0 || fstat(dir, &within))
		return false;
	/* the mount is the first directory that is of the same file system */
	while (!found && *path++) {
		char c = *path;

		if (c && c != '/')
			continue;
		*path = '\0';
		found = !stat(whole, &st) && st.st_dev == within.st_dev;
		*path = c;
	}
	snprintf(name, sizeof(name), "/proc/%d/cgroup", (int)pid);
	if (!found || !sysfile_read(AT_FDCWD, name, text, sizeof(text)))
		return false;
	/* the cgroup of the directory, from the mount on; that of the mount itself is "" */
	len = strlen(path);
	at = strncmp(text, "0::", 3) ? strstr(text, "\n0::") : text;
	if (!at)
		return false;
	at = strchr(at, '/');
	return at && !strncmp(at, path, len) && (!len || !at[len] || at[len] == '/' || at[len] == '\n');
}
