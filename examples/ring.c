/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Run a command and print the records of its tasks, mappings and samples, one line each;
 * with -j as JSON.
 *
 * cc ring.c -o ring $(pkg-config --cflags --libs libpevtrace)
 * ./ring [-j] COMMAND [ARGUMENT]...
 */
#include <err.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pevtrace.h>

enum { PAGES = 16 };	/* of the ring buffer, a power of two */

static unsigned char ring_bytes[1 << 16];	/* header.size has 16 bits */
static char text[1 << 18];

/* Copy a record out of the ring, where it may wrap around. */
static void copy_record(const unsigned char *data, size_t ring, uint64_t at, size_t len)
{
	size_t start = at & (ring - 1), first = ring - start < len ? ring - start : len;

	memcpy(ring_bytes, data + start, first);
	memcpy(ring_bytes + first, data, len - first);
}

/* Print all records that the kernel has written so far. */
static void drain(struct perf_event_mmap_page *meta, const struct perf_event_attr *attr,
		  const struct pevtrace_machine *machine, unsigned int how)
{
	const unsigned char *data = (const unsigned char *)meta + meta->data_offset;
	uint64_t head = __atomic_load_n(&meta->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = meta->data_tail;

	while (tail < head) {
		struct perf_event_header header;
		ssize_t len;

		copy_record(data, meta->data_size, tail, sizeof(header));
		memcpy(&header, ring_bytes, sizeof(header));
		if (header.size < sizeof(header))
			errx(1, "a record of %u bytes", header.size);
		copy_record(data, meta->data_size, tail, header.size);
		len = pevtrace_record_print(machine, attr, sizeof(*attr), ring_bytes, header.size,
					    how, text, sizeof(text));
		if (len < 0)
			errx(1, "cannot decode a record: %s", strerror((int)-len));
		puts(text);
		tail += header.size;
	}
	__atomic_store_n(&meta->data_tail, tail, __ATOMIC_RELEASE);
}

/* Start the command, which waits for a byte from the returned descriptor; store its pid. */
static int start(char **argv, pid_t *pid)
{
	int go[2];
	char byte;

	if (pipe(go))
		err(1, "pipe");
	*pid = fork();
	if (*pid < 0)
		err(1, "fork");
	if (!*pid) {
		close(go[1]);
		if (read(go[0], &byte, 1) != 1)
			_exit(127);
		close(go[0]);
		execvp(*argv, argv);
		err(127, "%s", *argv);
	}
	close(go[0]);
	return go[1];
}

int main(int argc, char **argv)
{
	int json = argc > 1 && !strcmp(argv[1], "-j");
	struct pevtrace_machine *machine = pevtrace_machine_new();
	size_t size = (PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *meta;
	struct perf_event_attr attr;
	struct pollfd wait_for;
	int fd, go, status;
	pid_t pid;

	if (argc < 2 + json)
		errx(2, "usage: ring [-j] COMMAND [ARGUMENT]...");
	if (!machine || pevtrace_machine_read(machine))
		errx(1, "out of memory");
	go = start(argv + 1 + json, &pid);

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = 10000000;	/* ns */
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr.disabled = attr.enable_on_exec = attr.exclude_kernel = 1;
	attr.comm = attr.mmap = attr.mmap2 = attr.task = attr.sample_id_all = 1;
	attr.watermark = 1;
	attr.wakeup_watermark = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		struct pevtrace_open call = {
			.size = sizeof(call), .attr = &attr, .attr_len = sizeof(attr), .pid = pid,
			.cpu = -1, .group_fd = -1, .flags = PERF_FLAG_FD_CLOEXEC,
		};

		pevtrace_explain(&call, errno, text, sizeof(text));
		errx(1, "perf_event_open: %s", text);
	}
	meta = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (meta == MAP_FAILED)
		err(1, "mmap");

	if (write(go, "", 1) != 1)
		err(1, "write");
	wait_for = (struct pollfd){ .fd = fd, .events = POLLIN };
	do {
		if (poll(&wait_for, 1, -1) < 0 && errno != EINTR)
			err(1, "poll");
		drain(meta, &attr, machine, json ? PEVTRACE_JSON : PEVTRACE_TEXT);
	} while (!(wait_for.revents & POLLHUP));
	waitpid(pid, &status, 0);
	pevtrace_machine_free(machine);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
