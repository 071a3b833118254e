/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Task drain-ring of pevtrace learn: read more records than the ring can hold, and lose none. */
#include <err.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 40, FAULTS = 64 };

static size_t page;

/* Read what is new; return the number of records. */
static unsigned int drain(int fd, struct perf_event_mmap_page *meta)
{
	struct pollfd wait_for = { .fd = fd, .events = POLLIN };
	/* a reader of another process's events would sleep here */
	int ready = poll(&wait_for, 1, 0);
	const char *data = (const char *)meta + page;
	/* acquire: read the records after data_head */
	uint64_t head = __atomic_load_n(&meta->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = meta->data_tail;
	unsigned int records = 0;

	if (ready < 0)
		err(1, "poll");
	for (; tail < head; records++) {
		/* headers are aligned to 8 bytes, as is the ring's end */
		const struct perf_event_header *h = (const void *)(data + tail % page);

		tail += h->size;
	}
	/* release: write data_tail after the records were read, as the kernel may overwrite them */
	__atomic_store_n(&meta->data_tail, tail, __ATOMIC_RELEASE);
	return records;
}

int main(void)
{
	struct perf_event_mmap_page *meta;
	struct perf_event_attr attr;
	unsigned int records = 0;
	int fd;

	page = (size_t)sysconf(_SC_PAGESIZE);
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
	attr.exclude_kernel = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		err(1, "perf_event_open");
	meta = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (meta == MAP_FAILED)
		err(1, "mmap");
	for (size_t i = 0; i < ROUNDS * page / 4096; i++) {
		char *fresh = mmap(NULL, FAULTS * page, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (fresh == MAP_FAILED)
			err(1, "mmap");
		madvise(fresh, FAULTS * page, MADV_NOHUGEPAGE);
		for (size_t n = 0; n < FAULTS; n++)
			fresh[n * page] = 1;
		munmap(fresh, FAULTS * page);
		records += drain(fd, meta);
	}
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	records += drain(fd, meta);
	printf("%u records\n", records);
	return 0;
}
