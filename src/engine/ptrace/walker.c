// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/walker.h"

#ifdef HAVE_LIBUNWIND
#include <errno.h>
#include <libunwind-ptrace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "core/lib/helper.h"
#include "core/lib/late.h"
#include "core/lib/map.h"
#include "core/lib/maps.h"

/* /proc/TID/mem of the task: libunwind passes no context to some accessors. */
enum { MEMORY_FD = HELPER_FILE };

/*
 * Cached state of a task.  Each has an address space of its own, because libunwind caches
 * unwind information by address.
 */
struct walked {
	unw_addr_space_t space;
	void *upt;
	struct maps maps;
	bool fresh;				/* maps were read during this walk */
	bool probing;				/* find_proc_info() only notes the address */
	unw_word_t looked_up;			/* by the last find_proc_info() */
	const struct walk_request *request;	/* during a walk */
	unw_cursor_t cursor;			/* here because riscv64's has 40 KB */
};

/* Accessors that read memory and registers without ptrace(2), which only the tracer may use. */
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
	const struct walked *w = ctx;

	(void)space;
	if (write || reg < 0 || reg >= WALK_REGISTERS || !w->request->known[reg])
		return -UNW_EBADREG;
	*word = (unw_word_t)w->request->registers[reg];
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
	struct walked *w = ctx;

	w->looked_up = ip;
	return w->probing ? -UNW_ENOINFO :
	       UNW(_UPT_find_proc_info)(space, ip, info, need_unwind_info, w->upt);
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *ctx)
{
	UNW(_UPT_put_unwind_info)(space, info, ((struct walked *)ctx)->upt);
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
	return UNW(_UPT_get_proc_name)(space, ip, name, size, offset, ((struct walked *)ctx)->upt);
}

/* Tasks ------------------------------------------------------------------------ */

static void walked_free(struct walked *w)
{
	if (!w)
		return;
	maps_free(&w->maps);
	UNW(_UPT_destroy)(w->upt);
	UNW(unw_destroy_addr_space)(w->space);
	free(w);
}

static struct walked *walked_new(pid_t tid)
{
	unw_accessors_t accessors = {
		.find_proc_info = find_proc_info, .put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = no_dyn_info, .access_mem = access_mem,
		.access_reg = access_reg, .access_fpreg = access_fpreg,
		.resume = no_resume, .get_proc_name = get_proc_name,
	};
	struct walked *w = xcalloc(1, sizeof(*w));

	w->space = UNW(unw_create_addr_space)(&accessors, 0);
	w->upt = w->space ? UNW(_UPT_create)(tid) : NULL;
	if (!w->upt) {
		if (w->space)
			UNW(unw_destroy_addr_space)(w->space);
		free(w);
		return NULL;
	}
	UNW(unw_set_caching_policy)(w->space, UNW_CACHE_GLOBAL);
	return w;
}

static void walked_read_maps(struct walked *w)
{
	char path[32];
	FILE *f;

	maps_free(&w->maps);
	UNW(unw_flush_cache)(w->space, 0, 0);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)w->request->tid);
	f = fopen(path, "re");
	if (!f)
		return;
	maps_read(&w->maps, f);
	fclose(f);
}

static const struct mapping *walked_mapping(struct walked *w, uint64_t ip)
{
	const struct mapping *m = maps_find(&w->maps, ip);

	if (m || w->fresh)
		return m;
	w->fresh = true;
	walked_read_maps(w);
	return maps_find(&w->maps, ip);
}

/* Walking ---------------------------------------------------------------------- */

static void walker_answer(const struct walk_answer *a)
{
	if (send(HELPER_SOCKET, a, sizeof(*a), MSG_NOSIGNAL) != sizeof(*a))
		_exit(1);
}

static void walker_answer_frame(struct walked *w, unw_cursor_t *cursor, uint64_t ip,
				bool after_call)
{
	struct walk_answer a = { .end = WALK_GOES_ON, .ip = ip, .after_call = after_call };
	const struct mapping *m = walked_mapping(w, ip);
	unw_word_t offset = 0;
	int err = !w->request->named ? -UNW_ENOINFO :
		  UNW(unw_get_proc_name)(cursor, a.symbol, sizeof(a.symbol), &offset);

	if (err && err != -UNW_ENOMEM)
		a.symbol[0] = '\0';
	if (m) {
		snprintf(a.module, sizeof(a.module), "%s", m->path);
		a.start = m->start;
		a.end_of_map = m->end;
		a.pgoff = m->pgoff;
	}
	if (a.symbol[0])
		a.offset = offset;
	else if (a.module[0])
		a.offset = ip - m->start + m->pgoff;
	walker_answer(&a);
}

/*
 * Return whether a signal interrupted the frame before the instruction at ip.  libunwind looks
 * up such a frame at ip, and a frame that called another at ip - 1.  unw_is_signal_frame() is
 * of no use: depending on processor and version it is true of the interrupted frame, or of the
 * trampoline that the signal handler returns to.
 */
static bool walker_interrupted(struct walked *w, unw_cursor_t *cursor, unw_word_t ip)
{
	unw_proc_info_t info;

	w->looked_up = 0;
	w->probing = true;
	UNW(unw_get_proc_info)(cursor, &info);
	w->probing = false;
	return w->looked_up == ip;
}

static enum walk_end walker_walk(struct walked *w)
{
	unw_cursor_t *cursor = &w->cursor;

	if (UNW(unw_init_remote)(cursor, w->space, w))
		return WALK_NO_REGISTERS;
	for (int i = 0; i < WALK_FRAMES; i++) {
		unw_word_t ip;
		int more;

		if (UNW(unw_get_reg)(cursor, UNW_REG_IP, &ip))
			return WALK_NO_POINTER;
		if (!ip)
			return WALK_WHOLE;
		/* the system call's instruction is before the innermost address */
		walker_answer_frame(w, cursor, ip,
				    !i || !walker_interrupted(w, cursor, ip));
		more = UNW(unw_step)(cursor);
		if (!more)
			return WALK_WHOLE;
		if (more < 0)
			return i ? WALK_CUT_OFF : WALK_NO_INFORMATION;
	}
	return WALK_DEEP;
}

static void walker_serve(struct map *tasks, const struct walk_request *r)
{
	struct walk_answer last = { .end = WALK_NO_LIBUNWIND };
	struct walked *w = map_get(tasks, (uint64_t)r->tid);

	if (r->forget) {
		walked_free(map_del(tasks, (uint64_t)r->tid));
		return;
	}
	helper_limit(WALK_CPU_S, WALK_ALL_S);
	if (!w) {
		w = walked_new(r->tid);
		if (w)
			map_set(tasks, (uint64_t)r->tid, w);
	}
	if (w) {
		w->request = r;
		w->fresh = false;
		last.end = walker_walk(w);
	}
	helper_limit(0, 0);
	walker_answer(&last);
}

/* Receive a request; the descriptor that comes with it becomes MEMORY_FD. */
static bool walker_receive(struct walk_request *r)
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
		n = recvmsg(HELPER_SOCKET, &msg, MSG_CMSG_CLOEXEC);
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

_Noreturn void walker_run(int socket)
{
	struct walk_request r = { 0 };
	struct map tasks = { 0 };

	helper_seclude("pevtrace stacks", socket);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (walker_receive(&r))
		walker_serve(&tasks, &r);
	_exit(0);
}
#endif
