// SPDX-License-Identifier: LGPL-2.1-or-later
#include "trace/walker.h"

#ifdef HAVE_LIBUNWIND
#include <errno.h>
#include <fcntl.h>
#include <libunwind-ptrace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/die.h"
#include "lib/map.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* Nothing else is open here.  libunwind hands no context to some accessors. */
enum { SOCKET_FD, MEMORY_FD, FIRST_UNUSED_FD };

struct mapping {
	uint64_t start, end, offset;
	char *path;
};

/*
 * One address space for each task: libunwind caches unwind information by
 * address, which means something else in another process or after exec.
 */
struct known {
	unw_addr_space_t space;
	void *upt;
	struct mapping *maps;
	size_t nmaps;
	const struct walk_request *request;	/* while it is walked */
};

/* Its memory and registers: ptrace(2) is its tracer's alone. */
static int access_mem(unw_addr_space_t space, unw_word_t addr, unw_word_t *word, int write,
		      void *ctx)
{
	(void)space;
	(void)ctx;
	if (write || pread(MEMORY_FD, word, sizeof(*word), (off_t)addr) != sizeof(*word))
		return -UNW_EINVAL;
	return 0;
}

static int access_reg(unw_addr_space_t space, unw_regnum_t reg, unw_word_t *word, int write,
		      void *ctx)
{
	const struct known *k = ctx;

	(void)space;
	if (write || reg < 0 || reg >= WALK_REGISTERS || !k->request->known[reg])
		return -UNW_EBADREG;
	*word = (unw_word_t)k->request->registers[reg];
	return 0;
}

static int access_fpreg(unw_addr_space_t space, unw_regnum_t reg, unw_fpreg_t *value, int write,
			void *ctx)
{
	(void)space;
	(void)reg;
	(void)value;
	(void)write;
	(void)ctx;
	return -UNW_EBADREG;
}

static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *info,
			  int need_unwind_info, void *ctx)
{
	return _UPT_find_proc_info(space, ip, info, need_unwind_info,
				   ((struct known *)ctx)->upt);
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *ctx)
{
	_UPT_put_unwind_info(space, info, ((struct known *)ctx)->upt);
}

static int no_dyn_info(unw_addr_space_t space, unw_word_t *list, void *ctx)
{
	(void)space;
	(void)list;
	(void)ctx;
	return -UNW_ENOINFO;
}

static int no_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *ctx)
{
	(void)space;
	(void)cursor;
	(void)ctx;
	return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t space, unw_word_t ip, char *name, size_t size,
			 unw_word_t *offset, void *ctx)
{
	return _UPT_get_proc_name(space, ip, name, size, offset, ((struct known *)ctx)->upt);
}

/* What is known of tasks ----------------------------------------------------- */

static void free_maps(struct known *k)
{
	for (size_t i = 0; i < k->nmaps; i++)
		free(k->maps[i].path);
	free(k->maps);
	k->maps = NULL;
	k->nmaps = 0;
}

static void forget(struct known *k)
{
	if (!k)
		return;
	free_maps(k);
	_UPT_destroy(k->upt);
	unw_destroy_addr_space(k->space);
	free(k);
}

static struct known *make_known(pid_t tid)
{
	unw_accessors_t accessors = {
		.find_proc_info = find_proc_info, .put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = no_dyn_info, .access_mem = access_mem,
		.access_reg = access_reg, .access_fpreg = access_fpreg,
		.resume = no_resume, .get_proc_name = get_proc_name,
	};
	struct known *k = xcalloc(1, sizeof(*k));

	k->space = unw_create_addr_space(&accessors, 0);
	k->upt = k->space ? _UPT_create(tid) : NULL;
	if (!k->upt) {
		if (k->space)
			unw_destroy_addr_space(k->space);
		free(k);
		return NULL;
	}
	unw_set_caching_policy(k->space, UNW_CACHE_GLOBAL);
	return k;
}

/* Executable mappings only: frames are nowhere else. */
static void read_maps(struct known *k, pid_t tid)
{
	char path[32], line[4400];
	size_t cap = 0;
	FILE *f;

	free_maps(k);
	unw_flush_cache(k->space, 0, 0);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tid);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		unsigned long long start, end, offset;
		char x;
		int name = 0;

		if (sscanf(line, "%llx-%llx %*c%*c%c%*c %llx %*s %*s %n",
			   &start, &end, &x, &offset, &name) != 4 ||
		    x != 'x' || !name)
			continue;
		line[strcspn(line, "\n")] = '\0';
		if (k->nmaps == cap) {
			cap = cap ? 2 * cap : 16;
			k->maps = xrealloc(k->maps, cap * sizeof(*k->maps));
		}
		k->maps[k->nmaps++] = (struct mapping){ start, end, offset,
							xstrdup(line + name) };
	}
	fclose(f);
}

static const struct mapping *find_in(const struct known *k, uint64_t ip)
{
	for (size_t i = 0; i < k->nmaps; i++)
		if (k->maps[i].start <= ip && ip < k->maps[i].end)
			return &k->maps[i];
	return NULL;
}

/* *fresh: the maps were read in this walk, and need not be again. */
static const struct mapping *find_mapping(struct known *k, uint64_t ip, bool *fresh)
{
	const struct mapping *m = find_in(k, ip);

	if (m || *fresh)
		return m;
	*fresh = true;
	read_maps(k, k->request->tid);
	return find_in(k, ip);
}

/* Walking --------------------------------------------------------------------- */

static void answer(const struct walk_answer *a)
{
	if (send(SOCKET_FD, a, sizeof(*a), MSG_NOSIGNAL) != sizeof(*a))
		_exit(1);
}

static void tell_frame(struct known *k, unw_cursor_t *cursor, uint64_t ip, bool *fresh)
{
	struct walk_answer a = { .end = WALK_GOES_ON, .ip = ip };
	const struct mapping *m = find_mapping(k, ip, fresh);
	unw_word_t offset = 0;
	int err = unw_get_proc_name(cursor, a.symbol, sizeof(a.symbol), &offset);

	if (err && err != -UNW_ENOMEM)
		a.symbol[0] = '\0';
	if (m)
		snprintf(a.module, sizeof(a.module), "%s", m->path);
	if (a.symbol[0])
		a.offset = offset;
	else if (a.module[0])
		a.offset = ip - m->start + m->offset;
	answer(&a);
}

static enum walk_end walk(struct known *k)
{
	unw_cursor_t cursor;
	bool fresh = false;

	if (unw_init_remote(&cursor, k->space, k))
		return WALK_NO_REGISTERS;
	for (int i = 0; i < WALK_FRAMES; i++) {
		unw_word_t ip;
		int more;

		if (unw_get_reg(&cursor, UNW_REG_IP, &ip))
			return WALK_NO_POINTER;
		if (!ip)
			return WALK_WHOLE;
		tell_frame(k, &cursor, ip, &fresh);
		more = unw_step(&cursor);
		if (!more)
			return WALK_WHOLE;
		if (more < 0)
			return i ? WALK_CUT_OFF : WALK_NO_INFORMATION;
	}
	return WALK_DEEP;
}

/* The signals that these send are the only ones that we heed; 0: no limit. */
static void limit(time_t cpu, time_t all)
{
	setitimer(ITIMER_PROF, &(struct itimerval){ .it_value.tv_sec = cpu }, NULL);
	setitimer(ITIMER_REAL, &(struct itimerval){ .it_value.tv_sec = all }, NULL);
}

static void serve(struct map *tasks, const struct walk_request *r)
{
	struct walk_answer last = { .end = WALK_NO_LIBUNWIND };
	struct known *k = map_get(tasks, (uint64_t)r->tid);

	if (r->forget) {
		forget(map_del(tasks, (uint64_t)r->tid));
		return;
	}
	limit(WALK_CPU_S, WALK_ALL_S);
	if (!k) {
		k = make_known(r->tid);
		if (k)
			map_set(tasks, (uint64_t)r->tid, k);
	}
	if (k) {
		k->request = r;
		last.end = walk(k);
	}
	limit(0, 0);
	answer(&last);
}

/* The memory that comes with a request becomes MEMORY_FD. */
static bool receive(struct walk_request *r)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { r, sizeof(*r) };
	struct msghdr msg = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	const struct cmsghdr *c;
	ssize_t n;
	int fd;

	do
		n = recvmsg(SOCKET_FD, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(*r))
		return false;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS) {
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
		dup2(fd, MEMORY_FD);
		if (fd != MEMORY_FD)
			close(fd);
	}
	return true;
}

/* Out of reach of what is sent to our group, and with nothing of the tracer's. */
static void seclude(int socket)
{
	sigset_t all;

	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "pevtrace stacks");
	prctl(PR_SET_DUMPABLE, 0);	/* no core when it crashes */
	signal(SIGALRM, SIG_DFL);
	signal(SIGPROF, SIG_DFL);
	sigfillset(&all);
	sigdelset(&all, SIGALRM);
	sigdelset(&all, SIGPROF);
	sigprocmask(SIG_SETMASK, &all, NULL);
	if (dup2(socket, SOCKET_FD) < 0 || dup2(SOCKET_FD, MEMORY_FD) < 0)
		_exit(1);
	syscall(SYS_close_range, FIRST_UNUSED_FD, ~0U, 0);
}

_Noreturn void walker_run(int socket)
{
	struct walk_request r = { 0 };
	struct map tasks = { 0 };

	seclude(socket);
	while (receive(&r))
		serve(&tasks, &r);
	_exit(0);
}
#endif
