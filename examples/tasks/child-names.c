/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Task child-names of pevtrace learn: records of a program's name, mappings and end. */
#include <err.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 16 };	/* of the ring, a power of two */

int main(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned int names = 0, mappings = 0, exits = 0;
	struct perf_event_mmap_page *meta;
	struct perf_event_attr attr;
	uint64_t head, tail = 0;
	const char *data;
	int go[2], fd;
	pid_t child;
	char byte;

	if (pipe(go))
		err(1, "pipe");
	child = fork();
	if (child < 0)
		err(1, "fork");
	if (!child) {
		/* wait for the event */
		if (read(go[0], &byte, 1) != 1)
			_exit(127);
		execlp("true", "true", (char *)NULL);
		_exit(127);
	}
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.comm = 1;
	attr.mmap = attr.mmap2 = 1;
	attr.task = 1;
	attr.exclude_kernel = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, child, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		err(1, "perf_event_open");
	meta = mmap(NULL, (1 + PAGES) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (meta == MAP_FAILED)
		err(1, "mmap");
	if (write(go[1], "", 1) != 1)
		err(1, "write");
	waitpid(child, NULL, 0);
	data = (const char *)meta + page;
	head = __atomic_load_n(&meta->data_head, __ATOMIC_ACQUIRE);
	while (tail < head) {
		/* headers are aligned to 8 bytes, as is the ring's end */
		const struct perf_event_header *h = (const void *)(data + tail % (PAGES * page));

		names += h->type == PERF_RECORD_COMM;
		mappings += h->type == PERF_RECORD_MMAP2;
		exits += h->type == PERF_RECORD_EXIT;
		tail += h->size;
	}
	__atomic_store_n(&meta->data_tail, tail, __ATOMIC_RELEASE);
	printf("%u names, %u mappings, %u exits\n", names, mappings, exits);
	return 0;
}
