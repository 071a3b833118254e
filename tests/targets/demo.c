/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A profiler small enough to read in one sitting.  It makes the calls that
 * "perf record -e cpu-clock CMD" makes, in the same order and for the same
 * reasons, so that a trace of it can be learnt from:
 *
 *	1. ask the kernel what it can do, by trying
 *	2. start the command, but hold it just before exec
 *	3. open one sampling event for each CPU; they begin to run by the exec
 *	4. map a ring for each, and lead a side-band event into the same ring
 *	5. let the command go; a thread sleeps in poll and empties the rings
 *
 * usage: demo [COMMAND [ARGUMENT...]]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CPUS = 64, DATA_PAGES = 8 };	/* a ring is 1 + 2^n pages */

struct ring {
	int fd;			/* the sampling event */
	int side;		/* the side-band event that writes here too */
	uint64_t id;		/* what the kernel calls the sampling event */
	struct perf_event_mmap_page *page;
};

static struct ring rings[MAX_CPUS];
static int nrings;
static size_t page_size;
static atomic_bool finished;

/* What came out of the rings. */
static unsigned long samples, maps, comms, tasks, lost, others, wakeups;

static int event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

/* 1: there is no list of features; one opens an event and sees. */
static bool probe(const char *what, struct perf_event_attr *attr)
{
	int fd = event_open(attr, 0, -1);

	printf("  %-34s %s\n", what, fd >= 0 ? "yes" : strerror(errno));
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static bool probe_all(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.exclude_kernel = 1,
	};
	bool works, kernel;

	printf("asking the kernel:\n");
	/* size 0 stands for the oldest form; every kernel takes it */
	works = probe("sampling clock", &attr);
	attr.size = sizeof(attr);
	attr.comm_exec = 1;
	probe("can tell exec from rename", &attr);
	attr.comm_exec = 0;

	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	probe("hardware cycle counter", &attr);

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_CPU_CLOCK;
	attr.exclude_kernel = 0;
	kernel = probe("kernel side too", &attr);
	if (!works) {
		fprintf(stderr, "demo: perf_event_open is not permitted here\n");
		exit(1);
	}
	return kernel;
}

/* 2: the child waits for a byte, so that events are there before its exec. */
static pid_t hold_command(char **argv, int *go)
{
	int cork[2];
	pid_t pid;

	fflush(stdout);
	if (pipe(cork) || (pid = fork()) < 0) {
		perror("demo: starting the command");
		exit(1);
	}
	if (!pid) {
		char c;

		close(cork[1]);
		if (read(cork[0], &c, 1) != 1)
			_exit(1);
		close(cork[0]);
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	close(cork[0]);
	*go = cork[1];
	return pid;
}

/* 3 and 4: a task event that inherits needs its own ring on every CPU. */
static void open_events(pid_t pid, bool kernel)
{
	struct perf_event_attr sampling = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(sampling),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = 4000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER,
		.read_format = PERF_FORMAT_ID,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.exclude_kernel = !kernel,
		.sample_id_all = 1,
	};
	struct perf_event_attr side = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(side),
		.config = PERF_COUNT_SW_DUMMY,	/* counts nothing */
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_IDENTIFIER,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.exclude_kernel = 1,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.watermark = 1,
		.wakeup_watermark = 4096,
	};
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	for (int cpu = 0; cpu < cpus && nrings < MAX_CPUS; cpu++) {
		struct ring *r = &rings[nrings];

		r->fd = event_open(&sampling, pid, cpu);
		if (r->fd < 0 && errno == ENODEV)
			continue;	/* a CPU that is switched off */
		if (r->fd < 0)
			goto fail;
		r->page = mmap(NULL, (1 + DATA_PAGES) * page_size,
			       PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
		if (r->page == MAP_FAILED)
			goto fail;
		r->side = event_open(&side, pid, cpu);
		if (r->side < 0 ||
		    ioctl(r->side, PERF_EVENT_IOC_SET_OUTPUT, r->fd) ||
		    ioctl(r->fd, PERF_EVENT_IOC_ID, &r->id))
			goto fail;
		nrings++;
	}
	return;
fail:
	perror("demo: opening events");
	exit(1);
}

static void count_record(const struct perf_event_header *h)
{
	switch (h->type) {
	case PERF_RECORD_SAMPLE: samples++; break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2: maps++; break;
	case PERF_RECORD_COMM: comms++; break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT: tasks++; break;
	case PERF_RECORD_LOST: lost++; break;
	default: others++; break;
	}
}

/*
 * The kernel moves data_head, we move data_tail; both only ever grow, and the
 * place in the ring is what is left of them.  The acquire load keeps us from
 * reading records before they are there, the release store keeps the kernel
 * from writing over what we still read.
 */
static void drain(struct ring *r)
{
	const char *data = (char *)r->page + page_size;
	const uint64_t size = DATA_PAGES * page_size;
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = r->page->data_tail;

	while (tail < head) {
		/* records are 8-aligned, so a header never wraps; bodies may */
		struct perf_event_header h;

		memcpy(&h, data + tail % size, sizeof(h));
		count_record(&h);
		tail += h.size;
	}
	__atomic_store_n(&r->page->data_tail, tail, __ATOMIC_RELEASE);
}

/* 5: sleep until some ring has something; the event hangs up at the end. */
static void *reader(void *unused)
{
	struct pollfd pfd[MAX_CPUS];
	bool last;

	(void)unused;
	for (int i = 0; i < nrings; i++)
		pfd[i] = (struct pollfd){ .fd = rings[i].fd, .events = POLLIN };
	do {
		last = atomic_load(&finished);
		if (!last && poll(pfd, nrings, 50) > 0)
			wakeups++;
		for (int i = 0; i < nrings; i++) {
			if (pfd[i].revents & (POLLHUP | POLLERR))
				pfd[i].fd = -1;
			drain(&rings[i]);
		}
	} while (!last);
	return NULL;
}

/* The command when none is given: 50 ms of work. */
static int work(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 20;

	while (clock() < end)
		for (volatile int i = 0; i < 100000; i++)
			;
	return 0;
}

int main(int argc, char **argv)
{
	char *self[] = { "/proc/self/exe", "--work", NULL };
	int go, status = 0;
	uint64_t total = 0;
	pthread_t thread;
	bool kernel;
	pid_t pid;

	if (argc == 2 && !strcmp(argv[1], "--work"))
		return work();
	page_size = (size_t)sysconf(_SC_PAGESIZE);

	kernel = probe_all();
	pid = hold_command(argc > 1 ? argv + 1 : self, &go);
	open_events(pid, kernel);
	if (pthread_create(&thread, NULL, reader, NULL)) {
		fprintf(stderr, "demo: no thread\n");
		return 1;
	}
	if (write(go, "x", 1) != 1)
		perror("demo: letting the command go");
	close(go);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	atomic_store(&finished, true);
	pthread_join(thread, NULL);

	for (int i = 0; i < nrings; i++) {
		uint64_t count[2];	/* the value, then the id */

		if (read(rings[i].fd, count, sizeof(count)) == sizeof(count) &&
		    count[1] == rings[i].id)
			total += count[0];
		ioctl(rings[i].fd, PERF_EVENT_IOC_DISABLE, 0);
		munmap(rings[i].page, (1 + DATA_PAGES) * page_size);
		close(rings[i].side);
		close(rings[i].fd);
	}
	printf("demo: %lu samples, %lu maps, %lu names, %lu forks and exits, "
	       "%lu lost, %lu other; %d CPUs, %lu wakeups, %.1f ms of CPU\n",
	       samples, maps, comms, tasks, lost, others, nrings, wakeups,
	       (double)total / 1e6);
	return 0;
}
