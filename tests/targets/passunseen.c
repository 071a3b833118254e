/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Gives an event to a child by a call that pevtrace does not follow:
 *
 *	passunseen mmsg|getfd|uring ioctl|mmap
 *
 * sendmmsg(2) and recvmmsg(2); pidfd_getfd(2); sendmsg(2) and IORING_OP_RECVMSG.  The child
 * uses it by an ioctl first, or by mapping it: it reads its id, enables, maps, reads and closes
 * it.  Prints
 *
 *	child PID FD ID
 *
 *	passunseen close
 *
 * closes an event by IORING_OP_CLOSE, opens /dev/zero, which gets its number, and reads from it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIP = 77, SYS_OPEN_PIDFD = 434, SYS_GETFD = 438 };

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* A message of one byte, with space for one descriptor. */
struct parcel {
	struct iovec iov;
	struct mmsghdr msg;
	char byte;
	union control control;
};

static _Noreturn void fail(const char *what)
{
	int error = errno;

	perror(what);
	/* ENOMEM: io_uring_setup() with more rings of this user than RLIMIT_MEMLOCK allows */
	exit(error == EACCES || error == EPERM || error == ENOSYS || error == ENOMEM ? SKIP : 1);
}

static void wrap(struct parcel *p)
{
	memset(p, 0, sizeof(*p));
	p->iov = (struct iovec){ &p->byte, 1 };
	p->msg.msg_hdr = (struct msghdr){
		.msg_iov = &p->iov, .msg_iovlen = 1, .msg_control = p->control.bytes,
		.msg_controllen = sizeof(p->control.bytes),
	};
}

static void give(int sock, int fd, bool many)
{
	struct parcel p;
	struct cmsghdr *c;

	wrap(&p);
	c = CMSG_FIRSTHDR(&p.msg.msg_hdr);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	if (many ? sendmmsg(sock, &p.msg, 1, 0) != 1 : sendmsg(sock, &p.msg.msg_hdr, 0) != 1)
		fail("passunseen: send");
}

static int unwrap(struct parcel *p)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(&p->msg.msg_hdr);
	int fd;

	if (!c)
		fail("passunseen: no descriptor came");
	memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd;
}

static void *ring_part(int ring, size_t len, off_t what)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, ring, what);

	if (p == MAP_FAILED)
		fail("passunseen: mmap of an io_uring");
	return p;
}

/* Let an io_uring do one thing, and wait for it. */
static void do_by_ring(const struct io_uring_sqe *what)
{
	struct io_uring_params params = { 0 };
	int ring = (int)syscall(SYS_io_uring_setup, 4, &params);
	struct io_uring_sqe *sqe;
	unsigned int *array;
	char *sq;

	if (ring < 0)
		fail("passunseen: io_uring_setup");
	sq = ring_part(ring, params.sq_off.array + params.sq_entries * sizeof(*array),
		       IORING_OFF_SQ_RING);
	sqe = ring_part(ring, params.sq_entries * sizeof(*sqe), IORING_OFF_SQES);
	*sqe = *what;
	array = (void *)(sq + params.sq_off.array);
	array[0] = 0;
	__atomic_store_n((unsigned int *)(void *)(sq + params.sq_off.tail), 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		fail("passunseen: io_uring_enter");
	close(ring);
}

/* Return the event's descriptor, which has the number its_fd in the parent. */
static int take(const char *how, int sock, int its_fd)
{
	struct parcel p;
	int fd;

	wrap(&p);
	if (!strcmp(how, "getfd")) {
		fd = (int)syscall(SYS_OPEN_PIDFD, getppid(), 0);
		if (fd < 0 || (fd = (int)syscall(SYS_GETFD, fd, its_fd, 0)) < 0)
			fail("passunseen: pidfd_getfd");
		return fd;
	}
	if (!strcmp(how, "uring"))
		do_by_ring(&(struct io_uring_sqe){
			.opcode = IORING_OP_RECVMSG, .fd = sock, .len = 1,
			.addr = (uintptr_t)&p.msg.msg_hdr,
		});
	else if (recvmmsg(sock, &p.msg, 1, 0, NULL) != 1)
		fail("passunseen: recvmmsg");
	return unwrap(&p);
}

static int child(const char *how, bool map_first, int sock, int its_fd)
{
	size_t len = 2 * (size_t)sysconf(_SC_PAGESIZE);
	uint64_t id, count;
	char byte;
	void *p;
	int fd;

	if (read(sock, &byte, 1) != 1)
		fail("passunseen: read");
	fd = take(how, sock, its_fd);
	p = map_first ? mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : NULL;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		fail("passunseen: ioctl");
	if (!map_first)
		p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED || read(fd, &count, sizeof(count)) != sizeof(count))
		fail("passunseen: use");
	printf("child %d %d %" PRIu64 "\n", (int)getpid(), fd, id);
	fflush(stdout);
	munmap(p, len);
	close(fd);
	return 0;
}

static int event_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .disabled = 1,
		.config = PERF_COUNT_SW_PAGE_FAULTS, .exclude_kernel = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0)
		fail("passunseen: perf_event_open");
	return fd;
}

static int close_by_ring(void)
{
	int fd = event_open();
	uint64_t count;

	do_by_ring(&(struct io_uring_sqe){ .opcode = IORING_OP_CLOSE, .fd = fd });
	if (open("/dev/zero", O_RDONLY) != fd || read(fd, &count, sizeof(count)) != sizeof(count))
		fail("passunseen: /dev/zero");
	return 0;
}

int main(int argc, char **argv)
{
	int sock[2], fd, status;
	pid_t pid;

	if (argc > 1 && !strcmp(argv[1], "close"))
		return close_by_ring();
	if (argc < 3)
		return 2;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock))
		fail("passunseen: socketpair");
	pid = fork();
	if (pid < 0)
		fail("passunseen: fork");
	/* opened after the fork, at the first number that is free here and there */
	if (!pid)
		_exit(child(argv[1], !strcmp(argv[2], "mmap"), sock[1], sock[1] + 1));
	fd = event_open();
	if (fd != sock[1] + 1)
		return SKIP;
	if (write(sock[0], "g", 1) != 1)
		fail("passunseen: write");
	if (strcmp(argv[1], "getfd"))
		give(sock[0], fd, !strcmp(argv[1], "mmsg"));
	if (waitpid(pid, &status, 0) != pid)
		fail("passunseen: waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
