/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sends two events on two sockets, and /dev/zero on the second one before; a child that waits
 * already, or begins when both are sent, receives from the second socket first.
 *
 * usage: passorder waits|later
 *
 * A third event is sent on a third socket and never received.  Prints the
 * child's descriptors, of which the first is /dev/zero, and the ids of the other two:
 *
 *	child PID FD FD FD ID ID
 *
 * The first event counts page faults, the second context switches.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SKIP = 77 };

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static _Noreturn void fail(const char *what)
{
	int error = errno;

	perror(what);
	exit(error == EACCES || error == EPERM ? SKIP : 1);
}

static int event_open(uint64_t config)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = config,
		.disabled = 1, .exclude_kernel = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0)
		fail("passorder: perf_event_open");
	return fd;
}

static void give(int sock, int fd)
{
	union control control = { 0 };
	struct iovec iov = { .iov_base = (char[]){ "e" }, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	if (sendmsg(sock, &msg, 0) != 1)
		fail("passorder: sendmsg");
}

static int take(int sock)
{
	union control control;
	char byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	int fd;

	if (recvmsg(sock, &msg, 0) != 1 || !CMSG_FIRSTHDR(&msg))
		fail("passorder: recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
	return fd;
}

static int receive(int go, int first, int second)
{
	uint64_t ids[2], zero;
	char byte;
	int fds[3];

	if (go >= 0 && read(go, &byte, 1) != 1)
		fail("passorder: read");
	fds[0] = take(second);
	fds[1] = take(second);
	fds[2] = take(first);
	if (read(fds[0], &zero, sizeof(zero)) != sizeof(zero) ||
	    ioctl(fds[1], PERF_EVENT_IOC_ID, &ids[0]) ||
	    ioctl(fds[2], PERF_EVENT_IOC_ID, &ids[1]) ||
	    ioctl(fds[1], PERF_EVENT_IOC_ENABLE, 0) || ioctl(fds[2], PERF_EVENT_IOC_ENABLE, 0))
		fail("passorder: use");
	printf("child %d %d %d %d %" PRIu64 " %" PRIu64 "\n", (int)getpid(), fds[0], fds[1],
	       fds[2], ids[0], ids[1]);
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	int a[2], b[2], lost[2], go[2], faults, switches, status;
	bool later = argc > 1 && !strcmp(argv[1], "later");
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, a) || socketpair(AF_UNIX, SOCK_STREAM, 0, b) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, lost) || pipe(go))
		fail("passorder: socketpair");
	pid = fork();
	if (pid < 0)
		fail("passorder: fork");
	if (!pid)
		_exit(receive(later ? go[0] : -1, a[1], b[1]));
	faults = event_open(PERF_COUNT_SW_PAGE_FAULTS);
	switches = event_open(PERF_COUNT_SW_CONTEXT_SWITCHES);
	give(lost[0], event_open(PERF_COUNT_SW_CPU_MIGRATIONS));
	give(b[0], open("/dev/zero", O_RDONLY));
	give(a[0], faults);
	give(b[0], switches);
	if (write(go[1], "g", 1) != 1 || waitpid(pid, &status, 0) != pid)
		fail("passorder: waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
