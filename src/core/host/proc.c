// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/host/sysfile.h"
#include "core/lib/die.h"
#include "core/lib/hash.h"

enum { MOST = 256 };

static bool are_free(size_t n)
{
	int fds[MOST];
	size_t got = 0;

	if (n > MOST)
		n = MOST;
	while (got < n && (fds[got] = open("/", O_PATH | O_CLOEXEC)) >= 0)
		got++;
	for (size_t i = 0; i < got; i++)
		close(fds[i]);
	return got == n;
}

bool descriptors_want(size_t n)
{
	struct rlimit limit;

	if (are_free(n))
		return true;
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
		return false;
	limit.rlim_cur = limit.rlim_max;
	return !setrlimit(RLIMIT_NOFILE, &limit) && are_free(n);
}

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

bool proc_has(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

bool proc_is_ours(void)
{
	char link[16];

	return proc_has("/proc") && read_link(AT_FDCWD, "/proc/self", link, sizeof(link)) &&
	       atoi(link) == getpid();
}

bool proc_fd_cloexec(pid_t tid, int fd)
{
	char name[64], line[256];
	unsigned int flags = 0;
	FILE *f;

	snprintf(name, sizeof(name), "fdinfo/%d", fd);
	f = open_proc(tid, name);
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "flags: %o", &flags) == 1)
			break;
	fclose(f);
	return flags & O_CLOEXEC;
}

void proc_each_fd(pid_t tid, void (*hook)(void *ctx, int fd, const char *link), void *ctx)
{
	char path[64], link[4096];
	const char *name;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)tid);
	d = sysfile_dir(AT_FDCWD, path);
	while (d && (name = sysfile_next(d)))
		if (read_link(dirfd(d), name, link, sizeof(link)))
			hook(ctx, atoi(name), link);
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

bool proc_each_map(pid_t tid, const char *path,
		   void (*hook)(void *ctx, uint64_t start, uint64_t end),
		   void *ctx)
{
	FILE *f = open_proc(tid, "maps");
	char *line = NULL;
	bool read = false;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0) {
		uint64_t start, end;
		int at = 0;

		read = true;
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n",
			   &start, &end, &at) == 2 && at && !strcmp(line + at, path))
			hook(ctx, start, end);
	}
	free(line);
	if (f)
		fclose(f);
	return read;
}

uint64_t proc_program(pid_t tid)
{
	struct stat st;
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)tid);
	return stat(path, &st) ? 0 : hash_bytes(hash_bytes(HASH_START, &st.st_dev, sizeof(st.st_dev)),
						&st.st_ino, sizeof(st.st_ino)) | 1;
}

bool proc_fd_link(pid_t tid, int fd, char *text, size_t size)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)tid, fd);
	return read_link(AT_FDCWD, path, text, size);
}

int proc_fd_is(pid_t tid, int fd, const char *link)
{
	char text[64];

	return proc_fd_link(tid, fd, text, sizeof(text)) ? !strcmp(text, link) : -1;
}

bool proc_file_mapped(pid_t pid, uint64_t start, uint64_t end)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct stat st;
	char path[96];

	end = (end + page - 1) & ~(page - 1);
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", (int)pid,
		 (unsigned long long)start, (unsigned long long)end);
	/* access(2) would judge by the capabilities of the real user */
	if (!lstat(path, &st) || errno != ENOENT)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/map_files", (int)pid);
	return lstat(path, &st) != 0;
}

/* PID namespaces --------------------------------------------------------------------- */

enum { DEEPEST = 33 };	/* MAX_PID_NS_LEVEL of the kernel, and ours */

/* Read the ids of a task, from ours to its own namespace's; return how many. */
static size_t ids_of(pid_t task, int *ids)
{
	FILE *f = open_proc(task, "status");
	char line[512];
	size_t n = 0;

	while (f && fgets(line, sizeof(line), f)) {
		const char *at = line + 6;
		int used;

		if (strncmp(line, "NSpid:", 6))
			continue;
		while (n < DEEPEST && sscanf(at, "%d%n", &ids[n], &used) == 1) {
			at += used;
			n++;
		}
		break;
	}
	if (f)
		fclose(f);
	return n;
}

/* Return the inode of the PID namespace that is up levels above that of the task; 0: unknown. */
static ino_t namespace_of(pid_t task, size_t up)
{
	char path[64];
	struct stat st;
	int fd, parent;
	bool known;

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)task);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (; fd >= 0 && up; up--) {
		parent = ioctl(fd, NS_GET_PARENT);
		close(fd);
		fd = parent;
	}
	known = fd >= 0 && !fstat(fd, &st);
	if (fd >= 0)
		close(fd);
	return known ? st.st_ino : 0;
}

struct pidns proc_pidns(pid_t tid)
{
	struct pidns ns = { 0 };
	int ids[DEEPEST];
	size_t n = ids_of(tid, ids);

	if (n > 1)
		ns.inode = namespace_of(tid, 0);
	ns.level = ns.inode ? n - 1 : 0;
	return ns;
}

pid_t proc_pid_in(const struct pidns *ns, pid_t tid)
{
	int ids[DEEPEST];
	size_t n;

	if (!ns->level)
		return tid;
	n = ids_of(tid, ids);
	return n > ns->level && namespace_of(tid, n - 1 - ns->level) == ns->inode ?
	       ids[ns->level] : 0;
}

static pid_t find_by_nspid(const struct pidns *ns, pid_t nspid)
{
	DIR *processes = sysfile_dir(AT_FDCWD, "/proc"), *tasks;
	char path[32];
	const char *name;
	pid_t process, task, found = 0;

	while (processes && !found && (name = sysfile_next(processes))) {
		process = atoi(name);
		if (process <= 0)
			continue;
		if (proc_pid_in(ns, process) == nspid)
			found = process;
		snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
		tasks = found ? NULL : sysfile_dir(AT_FDCWD, path);
		while (tasks && !found && (name = sysfile_next(tasks))) {
			task = atoi(name);
			if (proc_pid_in(ns, task) == nspid)
				found = task;
		}
		if (tasks)
			closedir(tasks);
	}
	if (processes)
		closedir(processes);
	return found;
}

pid_t proc_pid_from(const struct pidns *ns, pid_t nspid, pid_t guess)
{
	if (!ns->level)
		return nspid;
	return guess && proc_pid_in(ns, guess) == nspid ? guess : find_by_nspid(ns, nspid);
}

pid_t proc_pid_here(pid_t tid, pid_t nspid, pid_t guess)
{
	struct pidns ns = proc_pidns(tid);

	return ns.level && proc_pid_in(&ns, tid) == nspid ? tid : proc_pid_from(&ns, nspid, guess);
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

char **proc_command(pid_t tid, size_t most)
{
	char **words = xcalloc(1, sizeof(*words)), *word = NULL;
	size_t size = 0, n = 0, read = 0;
	FILE *f = open_proc(tid, "cmdline");

	while (f && read < most && getdelim(&word, &size, '\0', f) > 0) {
		read += strlen(word) + 1;
		words = xrealloc(words, (n + 2) * sizeof(*words));
		words[n++] = xstrndup(word, strnlen(word, most));
		words[n] = NULL;
	}
	if (f)
		fclose(f);
	free(word);
	return words;
}

void proc_command_free(char **words)
{
	for (size_t i = 0; words[i]; i++)
		free(words[i]);
	free(words);
}
