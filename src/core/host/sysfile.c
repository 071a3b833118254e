// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/sysfile.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

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

bool sysfile_number(int dirfd, const char *name, int64_t *v)
{
	char text[32];

	return sysfile_read(dirfd, name, text, sizeof(text)) &&
	       scan_signed(text, SCAN_DECIMAL, INT64_MIN, INT64_MAX, v);
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
