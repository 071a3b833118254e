/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Task overwrite-ring of pevtrace learn: a ring that keeps the newest records. */
#include <err.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = page / 8, read_bytes = 0;
	struct perf_event_mmap_page *meta;
	struct perf_event_attr attr;
	unsigned int records = 0;
	const char *data;
	uint64_t head;
	char *fresh;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_ADDR;
	attr.write_backward = 1;	/* data_head, which decreases, is at the newest record */
	attr.exclude_kernel = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		err(1, "perf_event_open");
	/* without PROT_WRITE there is no data_tail: the kernel overwrites the oldest records */
	meta = mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, 0);
	fresh = mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (meta == MAP_FAILED || fresh == MAP_FAILED)
		err(1, "mmap");
	madvise(fresh, n * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i++)
		fresh[i * page] = 1;
	/* nothing is written while the ring is read */
	ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	data = (const char *)meta + page;
	head = __atomic_load_n(&meta->data_head, __ATOMIC_ACQUIRE);
	while (read_bytes < page) {
		/* headers are aligned to 8 bytes, as is the ring's end */
		const struct perf_event_header *h = (const void *)(data + (head + read_bytes) % page);

		if (!h->size || read_bytes + h->size > page)
			break;	/* the oldest record is overwritten in part */
		read_bytes += h->size;
		records++;
	}
	ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
	printf("the newest %u of %llu bytes are in %u records\n", (unsigned int)read_bytes,
	       (unsigned long long)-head, records);
	return 0;
}
