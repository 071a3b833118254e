// SPDX-License-Identifier: LGPL-2.1-or-later
/* Uses of events that are known to come out differently under tracers. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/uio.h>

#include "verbs.h"

static void touch(size_t pages)
{
	size_t size = pages * 4096;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	madvise(p, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += 4096)
		p[i] = 1;
	munmap(p, size);
}

static uint64_t count_of(int fd)
{
	uint64_t count = 0;

	CHECK(read(fd, &count, sizeof(count)) == sizeof(count));
	return count;
}

static int faults_open(pid_t pid, int group, unsigned int inherit)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS);

	attr.inherit = inherit;
	return event_open(&attr, pid, group);
}

/*
 * Opened into a group that counts already, and then inherited by children.  (Not
 * the other way round: contexts of children change places with the parent's, and
 * then the kernel itself answers EINVAL or ENODEV now and then.)
 */
static int running_group(const char *arg)
{
	int fds[8], leader = clock_open(), total = 0;

	(void)arg;
	CHECK(leader >= 0);
	for (int i = 0; i < 8; i++) {
		fds[i] = faults_open(0, leader, 1);
		CHECK(fds[i] >= 0);
		touch(20);
	}
	for (int i = 0; i < 8; i++) {
		pid_t pid = fork_clean();

		if (!pid) {
			touch(50);
			_exit(0);
		}
		finish("child", pid);
	}
	for (int i = 0; i < 8; i++) {
		/* some of the children's may go to the wrong one, for the same reason */
		total += count_of(fds[i]) >= 20 * (uint64_t)(8 - i);
		close(fds[i]);
	}
	printf("running group: %d of 8 counted all, clock %s\n", total,
	       count_of(leader) ? "ran" : "stood");
	close(leader);
	return 0;
}

static volatile sig_atomic_t signalled, hups, others;

static void on_io(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	signalled++;
	if (info->si_code == POLL_HUP)
		hups++;
	else if (info->si_code != POLL_IN)
		others++;
}

static void signal_me(int fd)
{
	const struct sigaction action = { .sa_sigaction = on_io,
					  .sa_flags = SA_SIGINFO | SA_RESTART };
	const struct f_owner_ex owner = { F_OWNER_TID, (pid_t)syscall(SYS_gettid) };

	CHECK(!sigaction(SIGRTMIN, &action, NULL));
	CHECK(!fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC));
	CHECK(!fcntl(fd, F_SETSIG, SIGRTMIN) && !fcntl(fd, F_SETOWN_EX, &owner));
}

static int sampling(uint64_t period, int group)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS);

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	attr.wakeup_events = 1;
	attr.disabled = group < 0;
	return event_open(&attr, 0, group);
}

/* REFRESH n lets n overflows through and stops; 0 and negative as the kernel has it. */
static int refresh(const char *arg)
{
	static const int by[] = { 1, 3, 0, 2, -1, 5 };

	(void)arg;
	for (size_t i = 0; i < sizeof(by) / sizeof(*by); i++) {
		int fd = sampling(4, -1), ret;
		void *ring = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		CHECK(fd >= 0 && ring != MAP_FAILED);
		signal_me(fd);
		signalled = hups = others = 0;
		ret = ioctl(fd, PERF_EVENT_IOC_REFRESH, by[i]);
		touch(by[i] > 0 ? 100 : 20);
		if (by[i] <= 0)
			ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		printf("refresh %d: %d, signals %s, hang-ups %d\n", by[i], ret,
		       by[i] > 0 ? (signalled == by[i] ? "as many" : "another number") :
				   (signalled ? "some" : "none"),
		       hups);
		munmap(ring, 3 * 4096);
		close(fd);
	}
	return 0;
}

/* Overflow signals of all members of a group at once. */
static int overflows(const char *arg)
{
	enum { MEMBERS = 5 };
	int fds[MEMBERS];
	void *rings[MEMBERS];

	(void)arg;
	signalled = hups = others = 0;
	for (int i = 0; i < MEMBERS; i++) {
		fds[i] = sampling(1, i ? fds[0] : -1);
		CHECK(fds[i] >= 0);
		rings[i] = mmap(NULL, 9 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fds[i], 0);
		CHECK(rings[i] != MAP_FAILED);
		signal_me(fds[i]);
	}
	CHECK(!ioctl(fds[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP));
	CHECK(!ioctl(fds[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP));
	touch(150);
	CHECK(!ioctl(fds[0], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP));
	for (int i = 1; i < MEMBERS; i++)
		CHECK(count_of(fds[i]) == count_of(fds[0]));
	printf("overflows: %s, %d hang-ups, %d others\n",
	       signalled >= 150 ? "all signals" : "few signals", hups, others);
	for (int i = 0; i < MEMBERS; i++) {
		munmap(rings[i], 9 * 4096);
		close(fds[i]);
	}
	return 0;
}

/* Opens until there are no more descriptors, ARG times in all. */
static int emfile(const char *arg)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_DUMMY);
	struct rlimit limit = { 200, 200 };
	long n = arg ? atol(arg) : 1000, opened = 0, refused = 0, other = 0;

	CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
	for (long i = 0; i < n; i++) {
		int fd = event_open(&attr, 0, -1);

		opened += fd >= 0;
		refused += fd < 0 && errno == EMFILE;
		other += fd < 0 && errno != EMFILE;
	}
	printf("%ld opened, %ld EMFILE, %ld others\n", opened, refused, other);
	for (int fd = 3; fd < 200; fd++)
		close(fd);
	printf("and again: %s\n", event_open(&attr, 0, -1) >= 0 ? "opened" : "refused");
	return 0;
}

/* Records that find no place are counted, and told of by LOST. */
static int lost(const char *arg)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_DUMMY);
	struct perf_event_mmap_page *page;
	struct perf_event_header header;
	uint64_t told = 0, records = 0, tail = 0;
	char *data;
	int fd;

	(void)arg;
	attr.comm = 1;
	fd = event_open(&attr, 0, -1);
	page = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(page != MAP_FAILED);
	data = (char *)page + 4096;
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 300; i++)
			prctl(PR_SET_NAME, i % 2 ? "odd" : "even");
		for (uint64_t head = page->data_head; tail < head; tail += header.size) {
			for (size_t i = 0; i < sizeof(header); i++)
				((char *)&header)[i] = data[(tail + i) % 4096];
			records++;
			for (size_t i = 0; header.type == PERF_RECORD_LOST && i < 8; i++)
				told += (uint64_t)(uint8_t)data[(tail + 16 + i) % 4096] << 8 * i;
		}
		page->data_tail = tail;
		prctl(PR_SET_NAME, "last");
		printf("lost: %llu of %llu\n", (unsigned long long)told,
		       (unsigned long long)records);
	}
	munmap(page, 2 * 4096);
	close(fd);
	return 0;
}

/* A software event leads a group that is started, stopped and reset by it. */
static int leader(const char *arg)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS);
	uint64_t values[8] = { 0 };
	int lead, member;

	(void)arg;
	attr.disabled = 1;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	lead = event_open(&attr, 0, -1);
	attr.disabled = 0;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS_MIN;
	member = event_open(&attr, 0, lead);
	CHECK(lead >= 0 && member >= 0);
	for (int i = 0; i < 3; i++) {
		CHECK(!ioctl(lead, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP));
		touch(30);
		CHECK(read(lead, values, sizeof(values)) == 40);
		printf("before: %llu %llu\n", (unsigned long long)values[1],
		       (unsigned long long)values[3]);
		CHECK(!ioctl(lead, PERF_EVENT_IOC_ENABLE, 0));
		touch(30);
		CHECK(!ioctl(lead, PERF_EVENT_IOC_DISABLE, 0));
		CHECK(read(lead, values, sizeof(values)) == 40 && values[0] == 2);
		printf("%s\n", values[1] >= 30 && values[3] >= 30 && values[1] == values[3] ?
			       "both counted the same" : "not the same");
	}
	close(member);
	close(lead);
	return 0;
}

/* Events on a child by its pid: running, stopped, about to run, and ended. */
static int child_pid(const char *arg)
{
	int p[2], back[2], fd, ended;
	char byte;
	pid_t pid;

	(void)arg;
	CHECK(!pipe(p) && !pipe(back));
	pid = fork_clean();
	if (!pid) {
		CHECK(read(p[0], &byte, 1) == 1);
		touch(80);
		CHECK(write(back[1], "x", 1) == 1 && read(p[0], &byte, 1) == 1);
		_exit(0);
	}
	fd = faults_open(pid, -1, 0);
	CHECK(fd >= 0);
	CHECK(write(p[1], "x", 1) == 1 && read(back[0], &byte, 1) == 1);
	printf("child: %s\n", count_of(fd) >= 80 ? "counted" : "not counted");
	CHECK(!kill(pid, SIGSTOP));
	CHECK(waitpid(pid, NULL, WUNTRACED) == pid);
	ended = faults_open(pid, -1, 0);
	printf("of a stopped one: %s\n", ended >= 0 ? "opened" : strerrorname_np(errno));
	close(ended);
	CHECK(!kill(pid, SIGCONT) && write(p[1], "x", 1) == 1);
	finish("child", pid);
	ended = faults_open(pid, -1, 0);
	printf("of an ended one: %s\n", ended >= 0 ? "opened" : strerrorname_np(errno));
	printf("after its end: %s\n", count_of(fd) >= 80 ? "kept" : "lost");
	for (int i = 0; i < 2; i++) {
		close(p[i]);
		close(back[i]);
	}
	close(fd);
	return 0;
}

/* sigtrap: each hit is a SIGTRAP of the program's own, in step with its code. */
static volatile long watched;
static volatile sig_atomic_t traps, bad;

static void on_trap(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	traps++;
	bad += info->si_code != 6 /* TRAP_PERF */;
}

static int sigtrap(const char *arg)
{
	const struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT, .size = sizeof(attr), .bp_type = 2,
		.bp_addr = (uintptr_t)&watched, .bp_len = sizeof(watched),
		.sample_period = 1, .exclude_kernel = 1, .remove_on_exec = 1, .sigtrap = 1,
		.sig_data = 0x1234,
	};
	int fd;

	(void)arg;
	CHECK(!sigaction(SIGTRAP, &action, NULL));
	traps = bad = 0;
	fd = event_open(&attr, 0, -1);
	if (fd < 0)
		return CANNOT;
	for (int i = 0; i < 100; i++) {
		int before = traps;

		watched = i;
		CHECK(traps == before + 1);
	}
	printf("sigtrap: %d, %d of another kind\n", traps, bad);
	close(fd);
	return 0;
}

/* A wait for a ring, a read into pieces, and a mapping that is torn down. */
static int waits(const char *arg)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_DUMMY);
	uint64_t value[2];
	struct iovec iov[2] = { { value, 8 }, { value + 1, 8 } };
	struct pollfd pfd = { -1, POLLIN, 0 };
	pid_t parent = getpid(), pid;
	int p[2], ready;
	char byte;

	(void)arg;
	CHECK(!pipe(p));
	attr.comm = attr.watermark = attr.wakeup_watermark = 1;
	attr.inherit = 0;
	pid = fork_clean();
	if (!pid) {
		close(p[1]);
		await_sleep(parent);
		prctl(PR_SET_NAME, "renamed");
		CHECK(read(p[0], &byte, 1) == 0); /* to live until the parent has looked */
		_exit(0);
	}
	close(p[0]);
	pfd.fd = event_open(&attr, pid, -1);
	CHECK(pfd.fd >= 0);
	CHECK(mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, pfd.fd, 0) != MAP_FAILED);
	ready = poll(&pfd, 1, 10000);
	printf("poll: %d %x\n", ready, pfd.revents);
	printf("readv: %zd\n", readv(pfd.fd, iov, 2));
	close(p[1]);
	finish("child", pid);
	printf("after its end: %d\n", poll(&pfd, 1, 10000));
	close(pfd.fd);
	return 0;
}

static const struct verb verbs[] = {
	{ "running_group", running_group }, { "refresh", refresh },
	{ "overflows", overflows }, { "emfile", emfile }, { "lost", lost },
	{ "leader", leader }, { "child_pid", child_pid }, { "sigtrap", sigtrap },
	{ "waits", waits }, { NULL, NULL },
};

int main(int argc, char **argv)
{
	return run_verb(argc, argv, verbs);
}
