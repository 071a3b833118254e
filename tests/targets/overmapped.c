// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Ring buffers that end without munmap: other mappings cover them.  Then the event can
 * write into the ring of another one, and have a ring of another size, as long as nobody
 * else has mapped the first one.
 *
 * usage: overmapped ROUNDS fixed|shm|unmap
 *
 * Print how many calls failed.  Exit status 0: none.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FIRST = 3, SECOND = 5 };	/* pages of rings */

static size_t page;
static int shm;

static int open_event(void)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 50000, .sample_type = PERF_SAMPLE_IP, .exclude_kernel = 1,
	};

	return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void *map_ring(int fd, size_t pages)
{
	return mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static int end_ring(void *ring, const char *how)
{
	if (!strcmp(how, "unmap"))
		return munmap(ring, FIRST * page);
	if (!strcmp(how, "shm"))
		return shmat(shm, ring, SHM_REMAP) == (void *)-1;
	return mmap(ring, FIRST * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		    -1, 0) == MAP_FAILED;
}

/* Return how many calls failed. */
static int try_round(int fd, int other, const char *how)
{
	void *ring = map_ring(fd, FIRST), *again;
	int failed = 0;

	if (ring == MAP_FAILED)
		return 1;
	for (volatile int i = 0; i < 20000; i++)
		;
	failed += end_ring(ring, how) != 0;
	failed += ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, other) != 0;
	failed += ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, -1L) != 0;
	again = map_ring(fd, SECOND);
	failed += again == MAP_FAILED;
	if (again != MAP_FAILED)
		munmap(again, SECOND * page);
	if (!strcmp(how, "shm"))
		shmdt(ring);
	else
		munmap(ring, FIRST * page);
	return failed;
}

int main(int argc, char **argv)
{
	int rounds = argc == 3 ? atoi(argv[1]) : 0, fd = open_event(), other = open_event();
	int failed = 0;

	page = (size_t)sysconf(_SC_PAGESIZE);
	shm = shmget(IPC_PRIVATE, FIRST * page, 0600);
	if (fd < 0 || other < 0 || shm < 0 || map_ring(other, FIRST) == MAP_FAILED) {
		perror("overmapped");
		return 2;
	}
	shmat(shm, NULL, 0);	/* lives as long as it is attached */
	shmctl(shm, IPC_RMID, NULL);
	for (int i = 0; i < rounds; i++)
		failed += try_round(fd, other, argv[2]);
	printf("%d rounds, %d failures\n", rounds, failed);
	return failed != 0;
}
