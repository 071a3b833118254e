// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/mapped_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

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
