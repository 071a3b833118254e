// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/sysfile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "core/lib/scan_text.h"

bool sysfile_read(int dirfd, const char *name, char *text, size_t size)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	if (n < 0)
		return false;
	if (n && text[n - 1] == '\n')
		n--;
	text[n] = '\0';
	return true;
}

bool sysfile_read_kernel(const char *path, char *text, size_t size)
{
	struct statfs fs;

	return !statfs(path, &fs) && (fs.f_type == PROC_SUPER_MAGIC || fs.f_type == SYSFS_MAGIC ||
				      fs.f_type == SECURITYFS_MAGIC) &&
	       sysfile_read(AT_FDCWD, path, text, size);
}

bool sysfile_hidden(const char *dir, unsigned long magic)
{
	struct statfs fs;

	/* who may not look is not told what is there */
	return statfs(dir, &fs) ? errno != EACCES : (unsigned long)fs.f_type != magic;
}

bool sysfile_number(int dirfd, const char *name, int64_t *v)
{
	char text[32];

	return sysfile_read(dirfd, name, text, sizeof(text)) &&
	       scan_signed(text, SCAN_DECIMAL, INT64_MIN, INT64_MAX, v);
}

struct lines lines_of(const char *path)
{
	return (struct lines){ .file = fopen(path, "re") };
}

bool lines_next(struct lines *l)
{
	ssize_t n = l->file ? getline(&l->text, &l->size, l->file) : -1;

	if (n <= 0) {
		lines_end(l);
		return false;
	}
	if (l->text[n - 1] == '\n')
		l->text[n - 1] = '\0';
	return true;
}

void lines_end(struct lines *l)
{
	free(l->text);
	if (l->file)
		fclose(l->file);
	*l = (struct lines){ 0 };
}

DIR *sysfile_dir(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !d)
		close(fd);
	return d;
}

const char *sysfile_next(DIR *d)
{
	const struct dirent *e;

	while ((e = readdir(d)))
		if (e->d_name[0] != '.')
			return e->d_name;
	return NULL;
}

/* Check the type first: opening a FIFO can block, opening a device can change its state. */
int mapped_file_open_regular(const char *path)
{
	int fd = -1, place = open(path, O_PATH | O_CLOEXEC);
	char link[64];
	struct stat st;

	if (place < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", place);
	if (!fstat(place, &st) && S_ISREG(st.st_mode))
		fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	close(place);
	return fd;
}

int mapped_file_open(const char *proc, pid_t pid, const char *path, struct buf *name)
{
	buf_reset(name);
	buf_addf(name, "%s/%d/root", proc, (int)pid);
	if (access(buf_str(name), F_OK))
		buf_reset(name);
	buf_adds(name, path);
	return mapped_file_open_regular(buf_str(name));
}

bool cpus_have(const struct cpus *c, int cpu)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->of[i] == cpu)
			return true;
	return false;
}

bool cpus_parse(struct cpus *c, const char *text)
{
	uint64_t first, last;

	*c = (struct cpus){ 0 };
	while (scan_range(&text, &first, &last) && last < CPUS_MAX) {
		for (int cpu = (int)first; cpu <= (int)last; cpu++) {
			if (cpus_have(c, cpu))
				continue;
			c->of = xrealloc(c->of, (c->n + 1) * sizeof(*c->of));
			c->of[c->n++] = cpu;
		}
		if (!*text)
			return true;
	}
	cpus_free(c);
	return false;
}

void cpus_online(struct cpus *c)
{
	char text[4096];

	if (!sysfile_read(AT_FDCWD, "/sys/devices/system/cpu/online", text, sizeof(text)) ||
	    !cpus_parse(c, text))
		cpus_parse(c, "0");
}

void cpus_free(struct cpus *c)
{
	free(c->of);
	*c = (struct cpus){ 0 };
}
