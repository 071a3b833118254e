/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Passes addresses, ids and pids wherever a call that sets up events has room for them: two runs
 * differ in all of these, and in nothing else.
 *
 * usage: identities
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int perf_open(uint64_t data, int group)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1000000, .exclude_kernel = 1, .exclude_hv = 1, .remove_on_exec = 1, .sigtrap = 1,
		.disabled = 1,
		.sig_data = data,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, group, PERF_FLAG_FD_CLOEXEC);

	attr.sig_data = data + 8;
	ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr);
	return fd;
}

static void poll_by(int fd, uint64_t data)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = data };
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e);
	e.data.u64 = ~data;
	epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &e);
	e.data.fd = fd; /* the other half stays */
	epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &e);
	e.data.u64 = 3;
	epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &e);
	close(epoll);
}

/* Owners, locks, and commands that are none. */
static void control(int fd, char *memory)
{
	struct f_owner_ex owner = { F_OWNER_TID, (pid_t)syscall(SYS_gettid) };

	fcntl(fd, F_SETOWN, getpid());
	fcntl(fd, F_GETOWN);
	fcntl(fd, F_SETOWN, -getpgrp());
	fcntl(fd, F_SETOWN_EX, &owner);
	fcntl(fd, F_GETOWN_EX, memory);
	fcntl(fd, F_GETLK, memory);
	fcntl(fd, 1999, memory);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, memory);
	ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, memory);
	ioctl(fd, PERF_EVENT_IOC_SET_FILTER, memory);
	ioctl(fd, 0x5401, memory);
	ioctl(fd, 0x2499, memory);
	prctl(PR_TASK_PERF_EVENTS_DISABLE, memory, memory + 8, ~(uintptr_t)memory, owner.pid);
}

static void map(int fd, char *memory, size_t page)
{
	int id = shmget(IPC_PRIVATE, 2 * page, IPC_CREAT | 0600);
	char *ring = mmap(memory, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (ring != MAP_FAILED) {
		mremap(ring, 2 * page, 2 * page, MREMAP_MAYMOVE | MREMAP_FIXED, memory);
		shmat(id, memory, SHM_REMAP);
		shmat(id, ring, SHM_REMAP);
		munmap(ring, 2 * page);
	}
	shmctl(id, IPC_RMID, NULL);
}

static void pass(int fd, char *memory)
{
	struct ucred me = { getpid(), geteuid(), getegid() };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(me))];
	} control = { .room = "" };
	struct iovec iov = { memory, 1 };
	struct msghdr msg = {
		.msg_name = NULL, .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int pair[2], on = 1;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return;
	setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	setsockopt(pair[1], SOL_SOCKET, SO_TIMESTAMP, &on, sizeof(on));
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	c = CMSG_NXTHDR(&msg, c);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_CREDENTIALS;
	c->cmsg_len = CMSG_LEN(sizeof(me));
	memcpy(CMSG_DATA(c), &me, sizeof(me));
	sendmsg(pair[0], &msg, 0);
	recvmsg(pair[1], &msg, MSG_CMSG_CLOEXEC);
}

static void attach(int fd, char *memory)
{
	union bpf_attr link = {
		.link_create = { .prog_fd = 99, .target_fd = (uint32_t)fd, .attach_type = BPF_PERF_EVENT,
				 .perf_event.bpf_cookie = (uintptr_t)memory },
	};
	union bpf_attr query = {
		.task_fd_query = { .pid = (uint32_t)getpid(), .fd = (uint32_t)fd, .buf_len = 64,
				   .buf = (uintptr_t)memory },
	};

	syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof(link));
	syscall(SYS_bpf, BPF_TASK_FD_QUERY, &query, sizeof(query));
}

int main(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = perf_open((uintptr_t)memory, -1);

	if (memory == MAP_FAILED || fd < 0)
		return 77;
	perf_open(~(uintptr_t)malloc(1), fd);
	perf_open(7, fd);
	poll_by(fd, (uintptr_t)memory);
	control(fd, memory);
	map(fd, memory, page);
	pass(fd, memory);
	attach(fd, memory);
	return 0;
}
