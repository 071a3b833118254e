// SPDX-License-Identifier: LGPL-2.1-or-later
/* Memory in which page faults are exact: only writes to the variable fault. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/abi/tables.h"
#include "experiment/work.h"

/* since Linux 5.14 and glibc 2.35 */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

enum {
	PAGE_MAX = 65536,	/* the largest page of any architecture */
	HEAP = 1 << 20,		/* what an experiment may allocate */
	MAPPING_MAX = 1 << 26,	/* larger mappings are those of sanitizers */
};

static uint8_t room[2 * PAGE_MAX];
static bool is_exact;	/* work_memory_ready() was called */

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

uintptr_t work_watched(void)
{
	uintptr_t page = page_size();

	return ((uintptr_t)room + page - 1) & ~(page - 1);
}

void work_memory_populate(void *at, size_t len, bool written)
{
	madvise(at, len, written ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
}

void work_memory_ready(void)
{
	unsigned long start, end;
	struct timespec t;
	void *volatile p;
	char *line = NULL, may[5];
	size_t cap = 0;
	FILE *f;
	int fd;

	is_exact = true;
	/* give the variable a page of a file of its own: the kernel finds an address for it */
	fd = memfd_create("watched", MFD_CLOEXEC);
	if (fd >= 0 && !ftruncate(fd, (off_t)page_size()))
		mmap((void *)work_watched(), page_size(), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_FIXED, fd, 0);
	if (fd >= 0)
		close(fd);
	/* let malloc(3) keep memory, so that later calls of it get no new page */
#ifdef M_TRIM_THRESHOLD
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	mallopt(M_MMAP_THRESHOLD, HEAP);
	mallopt(M_TOP_PAD, HEAP);
#endif
	p = malloc(HEAP / 2);
	free(p);
	/* the pages of vvar cannot be populated; reading the clocks maps them */
	clock_gettime(CLOCK_MONOTONIC, &t);
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	f = fopen("/proc/self/maps", "re");
	while (f && getline(&line, &cap, f) > 0)
		if (sscanf(line, "%lx-%lx %4s", &start, &end, may) == 3 && *may == 'r' &&
		    end - start <= MAPPING_MAX)
			work_memory_populate((void *)start, end - start, may[1] == 'w');
	if (f)
		fclose(f);
	free(line);
}

void work_memory_ring(uint8_t *ring, size_t len, bool written)
{
	int fd = written ? open("/dev/zero", O_RDONLY | O_CLOEXEC) : -1;

	work_memory_populate(ring, len, false);
	if (fd < 0)
		return;
	if (read(fd, ring + layout_perf_event_mmap_page.fields[
			PERF_EVENT_MMAP_PAGE_DATA_TAIL].offset, sizeof(uint64_t)) < 0)
		errno = 0;
	close(fd);
}

void work_memory_unwrite(void)
{
	void *page = (void *)work_watched();

	if (!is_exact)
		return;
	madvise(page, page_size(), MADV_DONTNEED);
	work_memory_populate(page, page_size(), false);
}
