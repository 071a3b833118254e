/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One process opens events and gives them away over a socket; another one,
 * which opened nothing, enables, maps, polls, reads and closes them.  The first
 * closes its own descriptors before the second does anything.
 *
 * usage: passfd
 *
 * Prints, in the receiver's own words:
 *
 *	opener PID FD FD
 *	receiver PID FD FD
 *	ids ID ID
 *	counts VALUE VALUE
 *	ring BYTES TAIL
 *	wakeups N
 *
 * The first of each pair is a counter of page faults of the receiver, the
 * second a dummy event with the receiver's names in its ring.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EVENTS = 2, DATA_PAGES = 2, TOUCHED = 10, SKIP = 77 };

static _Noreturn void fail(const char *what)
{
	int error = errno;

	perror(what);
	exit(error == EACCES || error == EPERM ? SKIP : 1);
}

static int event_open(struct perf_event_attr *attr, pid_t pid)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, -1, -1,
			      PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		fail("passfd: perf_event_open");
	return fd;
}

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(EVENTS * sizeof(int))];
};

static void send_events(int sock, const int *fds)
{
	union control control = { 0 };
	struct iovec iov = { .iov_base = (char[]){ "e" }, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(EVENTS * sizeof(int));
	memcpy(CMSG_DATA(c), fds, EVENTS * sizeof(int));
	if (sendmsg(sock, &msg, 0) != 1)
		fail("passfd: sendmsg");
}

static void receive_events(int sock, int *fds)
{
	union control control;
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *c;

	if (recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) != 1)
		fail("passfd: recvmsg");
	c = CMSG_FIRSTHDR(&msg);
	if (!c || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len != CMSG_LEN(EVENTS * sizeof(int))) {
		fprintf(stderr, "passfd: no descriptors came\n");
		exit(1);
	}
	memcpy(fds, CMSG_DATA(c), EVENTS * sizeof(int));
}

static void touch_pages(size_t page_size)
{
	volatile char *p = mmap(NULL, TOUCHED * page_size,
				PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail("passfd: mmap of memory");
	for (int i = 0; i < TOUCHED; i++)
		p[(size_t)i * page_size] = 1;
	munmap((void *)p, TOUCHED * page_size);
}

static int receive(int sock)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = (1 + DATA_PAGES) * page_size;
	struct perf_event_mmap_page *page;
	uint64_t ids[EVENTS], counts[EVENTS];
	int fds[EVENTS], wakeups = 0;
	struct pollfd pfd;
	char byte;

	/* numbers that differ from those of the sender */
	dup2(sock, 40);
	close(sock);
	receive_events(40, fds);
	/* until the other side has closed its own */
	if (read(40, &byte, 1) != 1)
		fail("passfd: read");
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fds[1], 0);
	if (page == MAP_FAILED)
		fail("passfd: mmap");
	for (int i = 0; i < EVENTS; i++)
		if (ioctl(fds[i], PERF_EVENT_IOC_ENABLE, 0) ||
		    ioctl(fds[i], PERF_EVENT_IOC_ID, &ids[i]))
			fail("passfd: ioctl");
	touch_pages(page_size);
	for (int i = 0; i < 3; i++) {
		prctl(PR_SET_NAME, i % 2 ? "receives" : "received");
		pfd = (struct pollfd){ .fd = fds[1], .events = POLLIN };
		wakeups += poll(&pfd, 1, 1000) == 1 && pfd.revents & POLLIN;
	}
	for (int i = 0; i < EVENTS; i++)
		if (ioctl(fds[i], PERF_EVENT_IOC_DISABLE, 0) ||
		    read(fds[i], &counts[i], sizeof(counts[i])) < 0)
			fail("passfd: read of a count");
	printf("receiver %d %d %d\n", (int)getpid(), fds[0], fds[1]);
	printf("ids %" PRIu64 " %" PRIu64 "\n", ids[0], ids[1]);
	printf("counts %" PRIu64 " %" PRIu64 "\n", counts[0], counts[1]);
	printf("ring %llu %llu\n", (unsigned long long)page->data_head,
	       (unsigned long long)page->data_tail);
	printf("wakeups %d\n", wakeups);
	munmap(page, size);
	close(fds[0]);
	close(fds[1]);
	fflush(stdout);
	return 0;
}

int main(void)
{
	struct perf_event_attr faults = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(faults),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.disabled = 1,
		.exclude_kernel = 1,
	};
	struct perf_event_attr names = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(names),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.comm = 1,
		.disabled = 1,
		.watermark = 1,
		.wakeup_watermark = 1,
		.exclude_kernel = 1,
	};
	int socks[2], fds[EVENTS], status;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, socks))
		fail("passfd: socketpair");
	pid = fork();
	if (pid < 0)
		fail("passfd: fork");
	if (!pid) {
		close(socks[0]);
		_exit(receive(socks[1]));
	}
	close(socks[1]);
	fds[0] = event_open(&faults, pid);
	fds[1] = event_open(&names, pid);
	printf("opener %d %d %d\n", (int)getpid(), fds[0], fds[1]);
	fflush(stdout);
	send_events(socks[0], fds);
	close(fds[0]);
	close(fds[1]);
	if (write(socks[0], "c", 1) != 1)
		fail("passfd: write");
	if (waitpid(pid, &status, 0) != pid)
		fail("passfd: waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
