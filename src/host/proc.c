// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/proc.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/sysfile.h"

static bool read_link(int dirfd, const char *name, char *text, size_t size)
{
	ssize_t n = readlinkat(dirfd, name, text, size - 1);

	if (n < 0)
		return false;
	text[n] = '\0';
	return true;
}

static FILE *open_proc(pid_t tid, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, name);
	return fopen(path, "re");
}

static bool is_cloexec(pid_t tid, const char *fd)
{
	char name[64], line[256];
	unsigned int flags = 0;
	FILE *f;

	snprintf(name, sizeof(name), "fdinfo/%s", fd);
	f = open_proc(tid, name);
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "flags: %o", &flags) == 1)
			break;
	fclose(f);
	return flags & O_CLOEXEC;
}

void proc_each_fd(pid_t tid,
		  void (*hook)(void *ctx, int fd, bool cloexec, const char *link),
		  void *ctx)
{
	char path[64], link[4096];
	const char *name;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)tid);
	d = sysfile_dir(AT_FDCWD, path);
	while (d && (name = sysfile_next(d)))
		if (read_link(dirfd(d), name, link, sizeof(link)))
			hook(ctx, atoi(name), is_cloexec(tid, name), link);
	if (d)
		closedir(d);
}

void proc_each_watched(pid_t tid, int epfd, void (*hook)(void *ctx, int fd),
		       void *ctx)
{
	char name[64], line[256];
	FILE *f;
	int fd;

	snprintf(name, sizeof(name), "fdinfo/%d", epfd);
	f = open_proc(tid, name);
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "tfd: %d", &fd) == 1)
			hook(ctx, fd);
	if (f)
		fclose(f);
}

void proc_each_map(pid_t tid, const char *path,
		   void (*hook)(void *ctx, uint64_t start, uint64_t end),
		   void *ctx)
{
	FILE *f = open_proc(tid, "maps");
	char *line = NULL;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0) {
		uint64_t start, end;
		int at = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n",
			   &start, &end, &at) == 2 && at && !strcmp(line + at, path))
			hook(ctx, start, end);
	}
	free(line);
	if (f)
		fclose(f);
}

bool proc_fd_link(pid_t tid, int fd, char *text, size_t size)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)tid, fd);
	return read_link(AT_FDCWD, path, text, size);
}

bool proc_file_mapped(pid_t pid, uint64_t start, uint64_t end)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char path[96];

	end = (end + page - 1) & ~(page - 1);
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid,
		 (unsigned long long)start, (unsigned long long)end);
	if (!faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/map_files", (int)pid);
	return access(path, X_OK) != 0;
}

bool proc_comm(pid_t tid, char *text, size_t size)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)tid);
	return sysfile_read(AT_FDCWD, path, text, size);
}

bool proc_exe(pid_t tid, char *text, size_t size)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)tid);
	return read_link(AT_FDCWD, path, text, size);
}
