// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls on an event whose arguments point to odd memory, at the same addresses in every run: strings
 * and structures that end with a page or run into one that is not mapped, NULL, addresses of the
 * kernel, and counts that are much too large.
 */
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "verbs.h"

enum { PAGES = 4, IOVECS = 20, STRINGS = 40 };

static const uintptr_t base = 0x20000000; /* PAGES pages; those around are not mapped */
static size_t page;
static char *end;
static long query_bpf;

/* Addresses that no structure can be at. */
static void *bad[] = { NULL, (void *)0x1000, (void *)0x10000000, (void *)(uintptr_t)-4096, (void *)(uintptr_t)-1 };
enum { BAD = sizeof(bad) / sizeof(*bad) };

/* Return where the last n bytes before the end are, with a copy of the beginning of p. */
static void *last(size_t n, const void *p, size_t len)
{
	memset((void *)base, 0, PAGES * page);
	return memcpy(end - n, p, n < len ? n : len);
}

/* Return a string of n letters whose first one is so many bytes before the end; cut there. */
static char *letters(size_t n, size_t before)
{
	char *start = end - before;

	memset((void *)base, 0, PAGES * page);
	for (size_t i = 0; i < n && i < before; i++)
		start[i] = (char)('a' + i % 26);
	return start;
}

static void strings(int fd)
{
	static const size_t lengths[][2] = {
		{ 5, 5 }, { 5, 6 }, { 0, 1 }, { 300, 300 }, { 4095, 4096 }, { 4096, 4097 }, { 4097, 4097 },
		{ 5000, 5001 }, { 9000, 9000 }, { 10, 4101 }, { 20, 4106 },
	};

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		ioctl(fd, PERF_EVENT_IOC_SET_FILTER, letters(lengths[i][0], lengths[i][1]));
		execve(letters(lengths[i][0], lengths[i][1]), (char *[]){ NULL }, NULL);
	}
}

static void integers(int fd)
{
	const uint64_t word = 0x0123456789abcdef;
	const uint32_t ids[] = { 5, 7, 0x11, 0x22, 0x33, 0x44, 0x55 };
	uint32_t many[] = { 0xffffffff, 0x66, 0x77 };

	for (size_t n = 1; n <= 8; n += 3) {
		ioctl(fd, PERF_EVENT_IOC_PERIOD, last(n, &word, sizeof(word)));
		ioctl(fd, PERF_EVENT_IOC_ID, last(n, &word, sizeof(word)));
	}
	for (size_t n = 2; n <= 28; n += 2)
		ioctl(fd, query_bpf, last(n, ids, sizeof(ids)));
	ioctl(fd, query_bpf, last(12, many, sizeof(many)));
	ioctl(fd, query_bpf, last(3 * page, many, sizeof(many)));
}

static void attrs(int fd)
{
	static const uint32_t sizes[] = { 0, 1, 63, 64, 65, 72, 136, 2000, 4096, 4097, 0xffffffff };
	struct perf_event_attr attr = software(PERF_COUNT_SW_DUMMY);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		attr.size = sizes[i];
		for (size_t n = 1; n <= 4100; n += n < 8 ? 3 : n < 140 ? 29 : 1900)
			close(event_open(last(n, &attr, sizeof(attr)), 0, -1));
		ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, last(64, &attr, sizeof(attr)));
	}
}

static void waits(int fd)
{
	struct timeval now = { 0, 0 };
	struct pollfd pfds[] = { { fd, POLLIN, 0 }, { fd, POLLHUP, 0 }, { -1, 0, 0 } };
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = 0x1122334455667788 };
	unsigned long ones[] = { 1UL << fd, 0x10 }, pair[] = { base + 64, 8 };
	const int numbers[] = { 0x7fffffff, -1, 0, 1, 64, 65, 1024, 65536, 70000, 1000000 };
	int ep = epoll_create1(0);

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		for (size_t n = 4; n <= 5000; n *= 3) {
			syscall(SYS_pselect6, numbers[i], last(n, ones, sizeof(ones)), NULL, NULL,
				&(struct timespec){ 0 }, NULL);
			syscall(SYS_pselect6, numbers[i], last(n, ones, sizeof(ones)), end - n, end - n,
				&(struct timespec){ 0 }, NULL);
		}
		for (size_t n = 4; n <= 5000; n *= 3)
			syscall(SYS_ppoll, last(n, pfds, sizeof(pfds)), numbers[i], &(struct timespec){ 0 }, NULL, 8);
		syscall(SYS_epoll_pwait, ep, end - 8, numbers[i], 0, NULL, 8);
	}
	for (size_t n = 4; n <= 16; n += 4) {
		syscall(SYS_ppoll, pfds, 1, last(n, &now, sizeof(now)), NULL, 8);
		syscall(SYS_ppoll, pfds, 1, &now, last(n, ones, sizeof(ones)), 8);
		syscall(SYS_pselect6, 0, NULL, NULL, NULL, last(n, &now, sizeof(now)), NULL);
		syscall(SYS_pselect6, 4, NULL, NULL, NULL, &now, last(n, pair, sizeof(pair)));
		epoll_ctl(ep, EPOLL_CTL_MOD, fd, last(n, &event, sizeof(event)));
		epoll_ctl(ep, EPOLL_CTL_ADD, fd, last(n, &event, sizeof(event)));
		syscall(SYS_epoll_pwait, ep, end - n, 1, 0, NULL, 8);
	}
	close(ep);
}

static void reads(int fd)
{
	struct iovec v[IOVECS] = { { 0 } };
	const size_t numbers[] = { 0, 1, 9, IOVECS, 1024, 1025, 0x7fffffff };

	for (size_t i = 0; i < IOVECS; i++)
		v[i] = (struct iovec){ end - 3 * page + 64 * i, i % 3 };
	for (size_t n = 4; n <= 16; n += 4) {
		syscall(SYS_read, fd, end - n, 64);
		syscall(SYS_read, fd, end - n, -1L);
		fcntl(fd, F_SETOWN_EX, last(n, v, sizeof(v)));
		fcntl(fd, F_GETOWN_EX, end - n);
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		for (size_t n = 8; n <= sizeof(v); n += 104)
			syscall(SYS_readv, fd, last(n, v, sizeof(v)), numbers[i]);
}

static void structures(int fd)
{
	uint64_t words[16] = { 0 };
	char *argv[STRINGS + 1];
	struct msghdr m = { .msg_control = end - 20, .msg_controllen = 4000 };
	int pair[2];

	words[0] = (uint64_t)fd << 32 | 99;
	for (size_t n = 4; n <= 128; n += 12)
		for (long cmd = 0; cmd < 40; cmd += 7) {
			syscall(SYS_bpf, cmd, last(n, words, sizeof(words)), 128);
			syscall(SYS_bpf, cmd, last(n, words, sizeof(words)), 0x7fffffff);
		}
	memset(words, 0xff, sizeof(words));
	for (size_t n = 4; n <= 128; n += 12) {
		syscall(SYS_clone3, last(n, words, sizeof(words)), 88);
		syscall(SYS_clone3, last(n, words, sizeof(words)), 0x7fffffff);
	}
	for (size_t i = 0; i < STRINGS; i++)
		argv[i] = (char *)base + i;
	argv[STRINGS] = NULL;
	for (size_t n = 4; n <= sizeof(argv); n += 60)
		execve("/none", last(n, argv, sizeof(argv)), (char **)(end - n));
	for (size_t i = 0; i < STRINGS; i++)
		argv[i] = end - 3000;
	letters(4000, 4000);
	execve("/none", argv, (char **)argv);
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	for (size_t n = 4; n <= sizeof(m); n += 8)
		sendmsg(pair[0], last(n, &m, sizeof(m)), 0);
	sendmsg(pair[0], &m, 0);
	close(pair[0]);
	close(pair[1]);
}

static void addresses(int fd)
{
	for (size_t i = 0; i < BAD; i++) {
		void *p = bad[i];

		ioctl(fd, PERF_EVENT_IOC_SET_FILTER, p);
		ioctl(fd, PERF_EVENT_IOC_PERIOD, p);
		ioctl(fd, PERF_EVENT_IOC_ID, p);
		ioctl(fd, query_bpf, p);
		ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, p);
		event_open(p, 0, -1);
		syscall(SYS_pselect6, 64, p, p, p, &(struct timespec){ 0 }, p);
		syscall(SYS_ppoll, p, 2, p, p, 8);
		syscall(SYS_read, fd, p, 64);
		syscall(SYS_readv, fd, p, 3);
		syscall(SYS_readv, fd, &(struct iovec){ p, 64 }, 1);
		fcntl(fd, F_SETOWN_EX, p);
		fcntl(fd, F_GETOWN_EX, p);
		syscall(SYS_bpf, 28, p, 64);
		syscall(SYS_clone3, p, 88);
		execve(p, p, p);
	}
}

int main(void)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_DUMMY);
	int fd;

	page = (size_t)sysconf(_SC_PAGESIZE);
	query_bpf = (long)PERF_EVENT_IOC_QUERY_BPF;
	end = mmap((void *)base, PAGES * page, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	CHECK(end == (void *)base);
	end += PAGES * page;
	fd = event_open(&attr, 0, -1);
	if (fd < 0)
		return CANNOT;
	strings(fd);
	integers(fd);
	attrs(fd);
	waits(fd);
	reads(fd);
	structures(fd);
	addresses(fd);
	close(fd);
	return 0;
}
