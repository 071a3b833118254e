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
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "core/lib/hash.h"

size_t own_memory_read(uint64_t addr, void *dst, size_t len)
{
	const size_t page = 4096; /* the least of all machines */
	size_t done = 0;

	/* a call of the system reads whole iovecs only */
	while (done < len) {
		size_t left = page - (size_t)((addr + done) % page);
		size_t n = left < len - done ? left : len - done;
		struct iovec to = { (uint8_t *)dst + done, n };
		struct iovec from = { (void *)(uintptr_t)(addr + done), n };

		if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)n)
			break;
		done += n;
	}
	return done;
}

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

struct lines proc_lines(pid_t tid, const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, name);
	return lines_of(path);
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
	char name[64];
	unsigned int flags = 0;
	struct lines l;

	snprintf(name, sizeof(name), "fdinfo/%d", fd);
	l = proc_lines(tid, name);
	while (lines_next(&l) && sscanf(l.text, "flags: %o", &flags) != 1)
		;
	lines_end(&l);
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

bool proc_next_watched(struct lines *fdinfo, int *fd)
{
	while (lines_next(fdinfo))
		if (sscanf(fdinfo->text, "tfd: %d", fd) == 1)
			return true;
	return false;
}

bool proc_each_map(pid_t tid, const char *path,
		   void (*hook)(void *ctx, uint64_t start, uint64_t end),
		   void *ctx)
{
	bool read = false;

	for (struct lines l = proc_lines(tid, "maps"); lines_next(&l);) {
		uint64_t start, end;
		int at = 0;

		read = true;
		if (sscanf(l.text, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n",
			   &start, &end, &at) == 2 && at && !strcmp(l.text + at, path))
			hook(ctx, start, end);
	}
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
	struct lines l = proc_lines(task, "status");
	const char *at;
	size_t n = 0;
	int used;

	while (lines_next(&l)) {
		if (strncmp(l.text, "NSpid:", 6))
			continue;
		at = l.text + 6;
		for (; n < DEEPEST && sscanf(at, "%d%n", &ids[n], &used) == 1; at += used)
			n++;
	}
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

pid_t proc_pid_from(const struct pidns *ns, pid_t nspid, pid_t guess)
{
	DIR *processes, *tasks;
	char path[32];
	const char *name;
	pid_t process, task, found = 0;

	if (!ns->level)
		return nspid;
	if (guess && proc_pid_in(ns, guess) == nspid)
		return guess;
	processes = sysfile_dir(AT_FDCWD, "/proc");
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
	char **words = xcalloc(1, sizeof(*words));
	struct lines l = proc_lines(tid, "cmdline");
	size_t n = 0, read = 0;

	while (l.file && read < most && getdelim(&l.text, &l.size, '\0', l.file) > 0) {
		read += strlen(l.text) + 1;
		words = xrealloc(words, (n + 2) * sizeof(*words));
		words[n++] = xstrndup(l.text, strnlen(l.text, most));
		words[n] = NULL;
	}
	lines_end(&l);
	return words;
}

void proc_command_free(char **words)
{
	for (size_t i = 0; words[i]; i++)
		free(words[i]);
	free(words);
}

#define MOUNT_PROC "; as root run 'mount -t proc proc /proc'"

const char *mounts_proc_missing(void)
{
	if (!proc_has("/proc"))
		return "/proc is not mounted" MOUNT_PROC;
	if (!proc_is_ours())
		return "/proc is that of another PID namespace" MOUNT_PROC;
	return NULL;
}

const char *mounts_sys_missing(void)
{
	struct statfs fs;

	return !statfs("/sys", &fs) && fs.f_type == SYSFS_MAGIC ? NULL :
	       "/sys is not mounted; as root run 'mount -t sysfs sysfs /sys'";
}

#define PMUS "/sys/bus/event_source/devices"
#define HIDDEN(dir) { dir, dir " is hidden by another file system; as root run 'umount " dir "'" }

const char *mounts_pmus_missing(void)
{
	static const struct { const char *name, *hidden; } dirs[] = {
		HIDDEN("/sys/bus"), HIDDEN("/sys/bus/event_source"), HIDDEN(PMUS),
		HIDDEN("/sys/devices"), HIDDEN(PMUS "/software"),
	};
	const char *why = mounts_sys_missing();
	bool empty;
	DIR *d;

	for (size_t i = 0; !why && i < sizeof(dirs) / sizeof(*dirs); i++)
		if (!access(dirs[i].name, F_OK) && sysfile_hidden(dirs[i].name, SYSFS_MAGIC))
			why = dirs[i].hidden;
	if (why)
		return why;
	d = sysfile_dir(AT_FDCWD, PMUS);
	empty = !d || !sysfile_next(d);
	if (d)
		closedir(d);
	return empty ? PMUS ", which lists the PMUs, is missing or empty" : NULL;
}

void mounts_warn(void)
{
	const char *const missing[] = { mounts_proc_missing(), mounts_sys_missing() };

	for (size_t i = 0; i < sizeof(missing) / sizeof(*missing); i++)
		if (missing[i])
			warn("%s", missing[i]);
}

void mounts_warn_facts(void)
{
	mounts_warn();
	if (!mounts_proc_missing() && access("/proc/sys/kernel", F_OK))
		warn("/proc/sys is hidden, as by the option subset=pid" MOUNT_PROC);
}
