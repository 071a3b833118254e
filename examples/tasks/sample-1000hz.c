/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Task sample-1000hz of pevtrace learn: sample a function 1000 times a second. */
#include <err.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 16 };	/* of the ring, a power of two */

/* A sample of PERF_SAMPLE_IP alone: 16 bytes, which no end of the ring divides. */
struct sample {
	struct perf_event_header header;
	uint64_t ip;
};

/* Use the CPU for a fifth of a second. */
static void work(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 5;

	while (clock() < end)
		for (volatile int i = 0; i < 100000; i++)
			;
}

int main(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *meta;
	struct perf_event_attr attr;
	unsigned int samples = 0;
	uint64_t head, tail = 0;
	const char *data;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.freq = 1;
	attr.sample_freq = 1000;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		err(1, "perf_event_open");
	meta = mmap(NULL, (1 + PAGES) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (meta == MAP_FAILED)
		err(1, "mmap");
	data = (const char *)meta + page;
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	work();
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	head = __atomic_load_n(&meta->data_head, __ATOMIC_ACQUIRE);
	while (tail < head) {
		const struct sample *s = (const void *)(data + tail % (PAGES * page));

		samples += s->header.type == PERF_RECORD_SAMPLE;
		tail += s->header.size;
	}
	__atomic_store_n(&meta->data_tail, tail, __ATOMIC_RELEASE);
	printf("%u samples\n", samples);
	return 0;
}
