// SPDX-License-Identifier: LGPL-2.1-or-later
#include "drive/reissue.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/ioctl.h"
#include "abi/layout.h"
#include "lib/die.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

enum {
	/* More than a read of a group (16 KiB) or an attr (a page) can have. */
	FENCE_SIZE = 64 * 1024,
	STRING_MAX = 4096,
};

/* A descriptor of the dump's, and ours for it. */
struct reissued_fd {
	struct reissued_fd *next;	/* of the same event */
	unsigned int event;
	uint64_t key;
	int own;
	bool closing;			/* its close has begun */
};

struct reissued_ring {
	uint64_t at, len;
};

/* What a call is about, as things stood when it began. */
struct pending {
	bool concerns;
	struct reissued_fd *closing;
};

static const char before[] = "events that were opened before the dump began";
static const char absent[] = "events that are not open here";

static struct reissued left_out(const char *why)
{
	return (struct reissued){ .left_out = why };
}

static struct reissued made(int64_t result)
{
	return (struct reissued){ .made = true, .result = result };
}

/* Memory --------------------------------------------------------------------------- */

static int fence_make(struct fence *f)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = FENCE_SIZE < page ? page : FENCE_SIZE;
	void *p = mmap(NULL, size + page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	f->start = p;
	f->end = f->start + size;
	return mprotect(f->end, page, PROT_NONE) ? -errno : 0;
}

static void fence_free(struct fence *f)
{
	if (f->start)
		munmap(f->start, (size_t)(f->end - f->start) + (size_t)sysconf(_SC_PAGESIZE));
}

/* The bytes right before the fence; none: an address that cannot be read. */
static uint8_t *fence_put(struct fence *f, const void *bytes, size_t len)
{
	if (len > FENCE_SIZE)
		len = FENCE_SIZE;
	if (len)
		memcpy(f->end - len, bytes, len);
	return f->end - len;
}

/* What the call had at addr in memory of ours. */
static uint64_t bytes_again(struct fence *f, const struct call *c, uint64_t addr, size_t want)
{
	size_t len = 0;
	const uint8_t *p = addr ? call_bytes(c, AT_ENTER, addr, want, &len) : NULL;

	return addr ? (uintptr_t)fence_put(f, p, p ? len : 0) : 0;
}

static uint64_t attr_again(struct reissue *r, const struct call *c, uint64_t addr)
{
	size_t len = 0, at = 0;
	const uint8_t *p = addr ? call_bytes(c, AT_ENTER, addr, FENCE_SIZE, &len) : NULL;
	struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = p, .len = len,
		.names = r->names,
	};
	const struct field *f;
	uint8_t *copy;

	if (!addr)
		return 0;
	copy = fence_put(&r->memory, p, p ? len : 0);
	while (p && (f = layout_next(&w, &at))) {
		uint64_t string = f->kind == FIELD_STRING ? field_get(f, p, len) : 0;

		if (string && f->offset + (size_t)f->width <= len)
			field_set(f, bytes_again(&r->string, c, string, STRING_MAX), copy);
	}
	return (uintptr_t)copy;
}

/* Where the kernel is to write; a call that could not have it written fails again. */
static uint64_t room(struct reissue *r, const struct call *c, unsigned int arg)
{
	if (!call_word(c, arg))
		return 0;
	return (uintptr_t)(c->failed && c->ret == EFAULT ? r->memory.end : r->memory.start);
}

/* Descriptors ------------------------------------------------------------------------ */

static uint64_t fd_key(pid_t pid, int fd)
{
	return (uint64_t)(uint32_t)pid << 32 | (uint32_t)fd;
}

static void fd_add(struct reissue *r, const struct call *c, int fd, int own)
{
	struct event *e = model_event(r->model, c->tid, fd);
	struct reissued_fd *h;

	if (!e || own < 0) {
		if (own >= 0)
			issue_close(r->issuer, own);
		return;
	}
	h = xcalloc(1, sizeof(*h));
	h->event = e->number;
	h->key = fd_key(c->pid, fd);
	h->own = own;
	h->next = map_get(&r->by_event, h->event);
	map_set(&r->by_event, h->event, h);
	map_set(&r->by_fd, h->key, h);
}

/* Takes it out of the tables; the descriptor is the caller's to close. */
static void fd_drop(struct reissue *r, struct reissued_fd *h)
{
	struct reissued_fd *first = map_get(&r->by_event, h->event), **at = &first;

	while (*at != h)
		at = &(*at)->next;
	*at = h->next;
	if (first)
		map_set(&r->by_event, h->event, first);
	else
		map_del(&r->by_event, h->event);
	if (map_get(&r->by_fd, h->key) == h)
		map_del(&r->by_fd, h->key);
	free(h);
}

/* That very descriptor, not another of the same event, nor one that is being closed. */
static struct reissued_fd *fd_exact(const struct reissue *r, const struct call *c, int fd)
{
	struct event *e = model_event(r->model, c->tid, fd);
	struct reissued_fd *h = e ? map_get(&r->by_fd, fd_key(c->pid, fd)) : NULL;

	return h && h->event == e->number && !h->closing ? h : NULL;
}

/* A number that is no descriptor of ours: the same, if it can be. */
static int no_fd(int fd)
{
	return fd < 0 || fcntl(fd, F_GETFD) < 0 ? fd : INT_MAX;
}

/* Ours for the call's, or -1 with *why.  What was none there is none here. */
static int fd_again(const struct reissue *r, const struct call *c, int fd, const char **why)
{
	struct event *e = model_event(r->model, c->tid, fd);
	struct reissued_fd *h = fd_exact(r, c, fd);

	*why = NULL;
	if (!h && e)
		h = map_get(&r->by_event, e->number); /* a copy that fork made */
	if (h)
		return h->own;
	if (e)
		*why = e->found ? before : absent;
	else if (fd >= 0 && !(c->failed && (c->ret == EBADF || c->desc->class == CLASS_OPEN)))
		*why = "descriptors that are no events";
	else
		return no_fd(fd);
	return -1;
}

/* The calls -------------------------------------------------------------------------- */

static pid_t pid_again(struct reissue *r, const struct call *c)
{
	pid_t pid = call_int(c, 1);

	if (pid <= 0)
		return pid;
	if (pid == c->tid || pid == c->pid)
		return getpid();
	if (c->failed && c->ret == ESRCH)
		return standin_nobody(&r->standins);
	return r->given ? r->given : standin_for(&r->standins, pid);
}

static struct reissued again_open(struct reissue *r, const struct call *c)
{
	const char *why;
	int group = fd_again(r, c, call_int(c, 3), &why);
	pid_t pid = call_int(c, 1), own;

	if (why)
		return left_out(why);
	if (c->args[4] & PERF_FLAG_PID_CGROUP)
		return left_out("events of cgroups");
	/* of any task on any CPU there are none: that fails */
	if (pid == -1 && call_int(c, 2) != -1 && !r->all_cpus)
		return left_out("events of a whole CPU, which take --all-cpus");
	own = pid_again(r, c);
	if (pid > 0 && own < 0)
		return (struct reissued){ .trouble = -own };
	return made(issue(r->issuer, CALL_PERF_EVENT_OPEN, (const uint64_t[CALL_MAX_ARGS]){
		attr_again(r, c, call_word(c, 0)), (uint64_t)(int64_t)own,
		c->args[2], (uint64_t)(int64_t)group, c->args[4],
	}));
}

static struct reissued again_ioctl(struct reissue *r, const struct call *c)
{
	const struct ioctl_desc *d = ioctl_of(c);
	uint64_t arg = c->args[2];
	const char *why;
	int fd = fd_again(r, c, call_int(c, 0), &why);

	if (why)
		return left_out(why);
	if (!d)
		return left_out("ioctls that are not perf's");
	if (d->request == PERF_EVENT_IOC_SET_BPF || d->request == PERF_EVENT_IOC_QUERY_BPF)
		return left_out("BPF programs");
	if (d->arg == IOCTL_ARG_FD) {
		arg = (uint64_t)(int64_t)fd_again(r, c, call_int(c, 2), &why);
		if (why)
			return left_out(why);
	} else if (d->arg == IOCTL_ARG_ATTR) {
		arg = attr_again(r, c, call_word(c, 2));
	} else if (d->dir == IOCTL_OUT) {
		arg = room(r, c, 2);
	} else if (d->dir != IOCTL_VALUE) {
		arg = bytes_again(&r->memory, c, call_word(c, 2),
				  d->arg == IOCTL_ARG_STRING ? STRING_MAX : 8);
	}
	return made(issue_ioctl(r->issuer, fd, ioctl_find(d->request, 8) == d &&
				sizeof(long) == 8 ? d->request : d->compat, arg));
}

static struct reissued again_mmap(struct reissue *r, const struct call *c)
{
	const char *why;
	int fd = fd_again(r, c, call_int(c, 4), &why);

	if (why)
		return left_out(why);
	if (call_word(c, 5))
		return left_out("AUX areas, whose place the dump does not tell");
	if (c->args[3] & MAP_ANONYMOUS)
		return left_out("mappings of no file");
	/* never over something of ours */
	return made(issue_mmap(r->issuer, fd, call_word(c, 1), (int)c->args[2],
			       (int)c->args[3] & ~(MAP_FIXED | MAP_FIXED_NOREPLACE)));
}

static struct reissued again_munmap(struct reissue *r, const struct call *c)
{
	uint64_t start = call_word(c, 0), len = call_word(c, 1);
	struct ring *ring = model_ring_at(r->model, c->tid, start, start + len);
	struct reissued_ring *own = ring ? map_get(&r->rings, ring->number) : NULL;
	int64_t result;

	if (!own || ring->start != start || own->len != len)
		return left_out(own ? "mappings undone in part" : "mappings that are not here");
	result = issue_unmap(r->issuer, (void *)(uintptr_t)own->at, len);
	if (!result)
		free(map_del(&r->rings, ring->number));
	return made(result);
}

static struct reissued again_read(struct reissue *r, const struct call *c)
{
	const char *why;
	int fd = fd_again(r, c, call_int(c, 0), &why);

	if (why)
		return left_out(why);
	if (c->desc->id != CALL_READ && c->desc->id != CALL_PREAD64)
		return left_out("reads into several buffers");
	/* the kernel writes no more than a group needs, whatever room there is */
	return made(issue(r->issuer, c->desc->id, (const uint64_t[CALL_MAX_ARGS]){
		(uint64_t)(int64_t)fd, room(r, c, 1), call_word(c, 2), c->args[3], c->args[4],
	}));
}

/* dup2 and dup3: onto ours for what is an event there, else onto one that is free. */
static struct reissued again_dup_to(struct reissue *r, const struct call *c, int fd)
{
	struct reissued_fd *over = fd_exact(r, c, call_int(c, 1));
	bool same = call_int(c, 0) == call_int(c, 1);
	int to = same ? fd : over ? over->own : call_int(c, 1) < 0 ? -1 :
		 fcntl(fd, F_DUPFD_CLOEXEC, 0);
	int64_t result;

	if (!same && !over && to >= 0)
		close(to);
	result = issue(r->issuer, c->desc->id, (const uint64_t[CALL_MAX_ARGS]){
		(uint64_t)(int64_t)fd, (uint64_t)(int64_t)to, c->args[2],
	});
	if (result >= 0 && over && !same)
		fd_drop(r, over);
	return made(result);
}

static struct reissued again_desc(struct reissue *r, const struct call *c,
				  const struct pending *p)
{
	const char *why;
	int fd;

	if (c->desc->id == CALL_CLOSE) {
		struct reissued_fd *h = p->closing;

		if (!h)
			return left_out("descriptors that fork copied, or of events that are "
					"not open here");
		fd = h->own;
		fd_drop(r, h);
		return made(issue_close(r->issuer, fd));
	}
	if (c->desc->id == CALL_CLOSE_RANGE)
		return left_out("close_range: what it closes is closed one by one");
	fd = fd_again(r, c, call_int(c, 0), &why);
	if (why)
		return left_out(why);
	if (c->desc->id == CALL_DUP2 || c->desc->id == CALL_DUP3)
		return again_dup_to(r, c, fd);
	if (c->desc->id != CALL_DUP) {
		int cmd = call_int(c, 1);

		/* no signals to us, no locks, no owners */
		if (cmd != F_DUPFD && cmd != F_DUPFD_CLOEXEC && cmd != F_GETFD &&
		    cmd != F_SETFD && cmd != F_GETFL &&
		    !(cmd == F_SETFL && !(c->args[2] & O_ASYNC)))
			return left_out("signals and owners of descriptors");
	}
	return made(issue(r->issuer, c->desc->id, (const uint64_t[CALL_MAX_ARGS]){
		(uint64_t)(int64_t)fd, c->args[1], c->args[2],
	}));
}

static struct reissued again(struct reissue *r, const struct call *c, const struct pending *p)
{
	switch (c->desc->class) {
	case CLASS_OPEN:
		return again_open(r, c);
	case CLASS_IOCTL:
		return again_ioctl(r, c);
	case CLASS_MEMORY:
		if (c->desc->id == CALL_MREMAP)
			return left_out("mappings moved");
		return c->desc->id == CALL_MUNMAP ? again_munmap(r, c) : again_mmap(r, c);
	case CLASS_READ:
		return again_read(r, c);
	case CLASS_DESC:
		return again_desc(r, c, p);
	case CLASS_POLL:
		return left_out("waits");
	case CLASS_PASS:
		return left_out("messages with descriptors");
	case CLASS_PROCESS:
		return left_out(c->desc->id == CALL_PRCTL ? "prctl" :
				"what processes do: clone, exec, exit");
	}
	return left_out("other calls");
}

/* A call that made a descriptor or a ring here is worth it only if it did there. */
static void keep(struct reissue *r, const struct call *c, const struct reissued *a)
{
	enum call_result kind = call_result_kind(c);
	struct ring *ring;

	if (!a->made || a->result < 0 || (kind != RESULT_FD && kind != RESULT_ADDR))
		return;
	if (kind == RESULT_FD) {
		/* dup2 of one onto itself makes none */
		if (!(c->desc->id == CALL_DUP2 && call_int(c, 0) == call_int(c, 1)))
			fd_add(r, c, c->failed ? -1 : (int)c->ret, (int)a->result);
		return;
	}
	ring = c->failed ? NULL : model_ring_at(r->model, c->tid, (uint64_t)c->ret,
						(uint64_t)c->ret + call_word(c, 1));
	if (!ring) {
		issue_unmap(r->issuer, (void *)(uintptr_t)a->result, call_word(c, 1));
	} else {
		struct reissued_ring *own = xcalloc(1, sizeof(*own)), *was;

		*own = (struct reissued_ring){ (uint64_t)a->result, call_word(c, 1) };
		was = map_set(&r->rings, ring->number, own);
		if (was) /* the dump has it mapped twice at one address */
			issue_unmap(r->issuer, (void *)(uintptr_t)was->at, was->len);
		free(was);
	}
}

void reissue_enter(struct reissue *r, const struct call *c)
{
	struct pending *p = xcalloc(1, sizeof(*p));

	p->concerns = model_concerns(r->model, c);
	if (c->desc->id == CALL_CLOSE && !c->tamper.injected) {
		p->closing = fd_exact(r, c, call_int(c, 0));
		if (p->closing)
			p->closing->closing = true;
	}
	free(map_set(&r->pending, (uint64_t)c->tid, p));
	model_enter(r->model, c);
}

struct reissued reissue_exit(struct reissue *r, const struct call *c)
{
	struct pending *p = map_del(&r->pending, (uint64_t)c->tid);
	struct reissued a = { 0 };

	if (p && p->concerns && c->returned)
		a = c->tamper.injected ? left_out("injected, so that the kernel got none") :
					 again(r, c, p);
	else if (p && p->closing)
		p->closing->closing = false;
	model_exit(r->model, c);
	keep(r, c, &a);
	if (c->desc->id == CALL_CLOSE_RANGE || c->desc->id == CALL_MUNMAP ||
	    c->desc->id == CALL_DUP2 || c->desc->id == CALL_DUP3)
		reissue_settle(r);
	free(p);
	return a;
}

void reissue_abandon(struct reissue *r, pid_t tid)
{
	struct pending *p = map_del(&r->pending, (uint64_t)tid);

	if (p && p->closing)
		p->closing->closing = false;
	free(p);
}

/* Letting go ------------------------------------------------------------------------- */

/* All of them, or those that the dump's model has not any more. */
static void let_go_rings(struct reissue *r, bool all)
{
	uint64_t *ended = xcalloc(r->rings.len + 1, sizeof(*ended));
	struct map_slot *slot;
	size_t at = 0, n = 0;

	while ((slot = map_next(&r->rings, &at))) {
		struct ring *ring = model_ring(r->model, (unsigned int)slot->key);

		if (all || !ring || ring->unmapped)
			ended[n++] = slot->key;
	}
	for (size_t i = 0; i < n; i++) {
		struct reissued_ring *own = map_del(&r->rings, ended[i]);

		issue_unmap(r->issuer, (void *)(uintptr_t)own->at, own->len);
		free(own);
	}
	free(ended);
}

static void let_go_fds(struct reissue *r, bool all)
{
	uint64_t *ended = xcalloc(r->by_event.len + 1, sizeof(*ended));
	struct map_slot *slot;
	size_t at = 0, n = 0;

	while ((slot = map_next(&r->by_event, &at))) {
		struct event *e = model_event_number(r->model, (unsigned int)slot->key);
		struct reissued_fd *h = slot->value;

		if (all || ((!e || e->closed) && !h->closing))
			ended[n++] = slot->key;
	}
	for (size_t i = 0; i < n; i++) {
		struct reissued_fd *h;

		while ((h = map_get(&r->by_event, ended[i])) && (all || !h->closing)) {
			issue_close(r->issuer, h->own);
			fd_drop(r, h);
		}
	}
	free(ended);
}

void reissue_settle(struct reissue *r)
{
	let_go_rings(r, false);
	let_go_fds(r, false);
}

int reissue_init(struct reissue *r)
{
	int error = fence_make(&r->memory);

	return error ? error : fence_make(&r->string);
}

void reissue_free(struct reissue *r)
{
	struct map_slot *slot;
	size_t at = 0;

	let_go_rings(r, true);
	let_go_fds(r, true);
	standins_end(&r->standins);
	while ((slot = map_next(&r->pending, &at)))
		free(slot->value);
	map_free(&r->pending);
	map_free(&r->by_fd);
	map_free(&r->by_event);
	map_free(&r->rings);
	fence_free(&r->memory);
	fence_free(&r->string);
}
