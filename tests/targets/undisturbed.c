/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Does what fails or comes out differently as soon as somebody else holds an
 * event, maps its ring, reads from it or eats its wake-ups; and prints what
 * came out.  The same must be printed whoever looks on.
 *
 * usage: undisturbed
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 4, ROUNDS = 20, SKIP = 77 };

static volatile long watched[SLOTS] __attribute__((aligned(64)));
static size_t page_size;

static int event_open(struct perf_event_attr *attr)
{
	return (int)syscall(SYS_perf_event_open, attr, 0, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

static void *map_ring(int fd, size_t pages, int prot)
{
	void *p = mmap(NULL, (1 + pages) * page_size, prot, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

/* The processor has four breakpoints: after close, all are free again. */
static bool slots(void)
{
	struct perf_event_mmap_page *page[SLOTS];
	int fd[SLOTS], full = 0, records = 0, again = 0;

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < SLOTS; i++) {
			struct perf_event_attr attr = {
				.type = PERF_TYPE_BREAKPOINT,
				.size = sizeof(attr),
				.bp_type = HW_BREAKPOINT_W,
				.bp_addr = (uintptr_t)&watched[i],
				.bp_len = sizeof(watched[i]),
				.sample_period = 1,
				.sample_type = PERF_SAMPLE_IP,
				.exclude_kernel = 1,
			};

			fd[i] = event_open(&attr);
			if (fd[i] < 0 && !round && !i)
				return false;
			full += fd[i] >= 0;
			page[i] = fd[i] < 0 ? NULL :
				  map_ring(fd[i], 1, PROT_READ | PROT_WRITE);
			watched[i]++;
		}
		if (round % 4 == 0)
			pause_ms(15);
		for (int i = 0; i < SLOTS; i++) {
			if (page[i]) {
				records += page[i]->data_head / 16;
				munmap(page[i], 2 * page_size);
			}
			close(fd[i]);
		}
		again++;
	}
	printf("slots: %d of %d opened, %d records, %d rounds\n", full,
	       SLOTS * ROUNDS, records, again);
	return true;
}

static int open_names(uint32_t watermark)
{
	int fd = event_open(&(struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_DUMMY,
		.comm = 1,
		.watermark = 1,
		.wakeup_watermark = watermark,
		.exclude_kernel = 1,
	});

	if (fd < 0) {
		perror("undisturbed: perf_event_open");
		exit(SKIP);
	}
	return fd;
}

static void rename_me(int n)
{
	for (int i = 0; i < n; i++)
		prctl(PR_SET_NAME, i % 2 ? "odd" : "even");
}

/* While a ring is mapped, a mapping of another size is refused. */
static void remap(void)
{
	int fd = open_names(1), worked = 0;

	for (size_t pages = 1; pages <= 64; pages *= 2) {
		void *p = map_ring(fd, pages, PROT_READ | PROT_WRITE);

		if (!p) {
			printf("remap: %zu pages: %s\n", pages,
			       strerror(errno));
			continue;
		}
		worked++;
		rename_me(3);
		pause_ms(8);
		munmap(p, (1 + pages) * page_size);
	}
	printf("remap: %d sizes worked\n", worked);
	close(fd);
}

/* Nobody but us moves data_tail: a full ring stays full, and then loses. */
static void tail(void)
{
	const int prot = PROT_READ | PROT_WRITE;
	int fd = open_names(1);
	struct perf_event_mmap_page *page = map_ring(fd, 1, prot);
	unsigned long moved = 0, over = 0;

	if (!page) {
		perror("undisturbed: mmap");
		exit(1);
	}
	for (int i = 0; i < ROUNDS; i++) {
		rename_me(20);
		pause_ms(2);
		moved += page->data_tail != 0;
		over += page->data_head > page_size;
	}
	printf("tail: moved %lu times, head beyond the ring %lu times, %s\n",
	       moved, over,
	       page->data_head > page_size - 64 ? "full" : "not full");
	munmap(page, 2 * page_size);
	close(fd);
}

/* Each record wakes once: poll and an edge-triggered epoll see every one. */
static void wakeups(void)
{
	int fd = open_names(1), ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event want = { .events = EPOLLIN | EPOLLET }, got;
	int polled = 0, waited = 0, idle = 0;

	if (!map_ring(fd, 8, PROT_READ | PROT_WRITE))
		exit(1);
	for (int i = 0; i < ROUNDS; i++) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };

		rename_me(1);
		if (i % 5 == 0)
			pause_ms(12);
		polled += poll(&pfd, 1, 1000) == 1 && pfd.revents == POLLIN;
		idle += poll(&pfd, 1, 0);
	}
	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &want);
	for (int i = 0; i < ROUNDS; i++) {
		rename_me(1);
		if (i % 5 == 0)
			pause_ms(12);
		waited += epoll_wait(ep, &got, 1, 1000) == 1;
		idle += epoll_wait(ep, &got, 1, 0);
	}
	printf("wakeups: %d polled, %d waited, %d for nothing\n", polled,
	       waited, idle);
	close(ep);
	close(fd);	/* the ring stays mapped until the end */
}

/* A ring that is written over, backward: what is in it at the end is ours. */
static void overwrite(void)
{
	int fd = event_open(&(struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_DUMMY,
		.comm = 1,
		.write_backward = 1,
		.exclude_kernel = 1,
	});
	struct perf_event_mmap_page *page = map_ring(fd, 1, PROT_READ);
	const struct perf_event_header *h;
	int names = 0;
	uint64_t at;

	if (!page) {
		perror("undisturbed: mmap of a backward ring");
		exit(1);
	}
	for (int i = 0; i < ROUNDS; i++) {
		rename_me(31);
		pause_ms(2);
	}
	ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	rename_me(5);
	at = page->data_head;
	for (uint64_t used = 0; used < page_size; used += h->size, names++) {
		h = (void *)((char *)page + page_size +
			     ((at + used) & (page_size - 1)));
		if (!h->size || h->size > page_size - used)
			break;
	}
	printf("overwrite: %d names left, head %lld\n", names,
	       -(long long)page->data_head);
	munmap(page, 2 * page_size);
	close(fd);
}

/* Counts that reset and REFRESH act on, and a read that moves nothing. */
static void counts(void)
{
	int fd = event_open(&(struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.read_format = PERF_FORMAT_LOST,
		.exclude_kernel = 1,
		.disabled = 1,
	});
	uint64_t value[2] = { 0 };
	size_t size = 16 * page_size;
	volatile char *p;

	if (fd < 0) {
		printf("counts: %s\n", strerror(errno));
		return;
	}
	p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise((void *)p, size, MADV_NOHUGEPAGE);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (size_t i = 0; i < 16; i++) {
		p[i * page_size] = 1;
		pause_ms(1);
	}
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	if (read(fd, value, sizeof(value)) != sizeof(value))
		perror("undisturbed: read");
	printf("counts: %llu faults, %llu lost\n", (unsigned long long)value[0],
	       (unsigned long long)value[1]);
	munmap((void *)p, size);
	close(fd);
}

int main(void)
{
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!slots())
		printf("slots: no breakpoints here\n");
	remap();
	tail();
	wakeups();
	overwrite();
	counts();
	return 0;
}
