// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "experiment/replay_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/abi/call_decode.h"
#include "core/abi/ioctl.h"
#include "core/lib/die.h"
#include "experiment/replay_engine_internal.h"

enum {
	FENCE_SIZE = 64 * 1024,	/* more than a group read (16 KiB) or an attr (a page) needs */
	STRING_MAX = 4096,	/* more than a string in an attr or a filter needs */
};

struct replayed_ring {
	uint64_t at, len;
};

static struct replayed left_out(const char *why)
{
	return (struct replayed){ .left_out = why };
}

static struct replayed replay_made(int64_t result)
{
	return (struct replayed){ .made = true, .result = result };
}

/* Copy what the call had at addr; return the address of the copy. */
static uint64_t own_bytes(struct fence *f, const struct call *c, uint64_t addr, size_t want)
{
	size_t len = 0;
	const uint8_t *p = addr ? call_bytes(c, AT_SYSCALL_ENTER, addr, want, &len) : NULL;

	return addr ? (uintptr_t)fence_put(f, p, p ? len : 0) : 0;
}

static uint64_t own_attr(struct replay_engine *r, const struct call *c, uint64_t addr)
{
	size_t len = 0, at = 0;
	const uint8_t *p = addr ? call_bytes(c, AT_SYSCALL_ENTER, addr, FENCE_SIZE, &len) : NULL;
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
			field_set(f, own_bytes(&r->string, c, string, STRING_MAX), copy);
	}
	return (uintptr_t)copy;
}

/* Return a buffer for the kernel to write to, inaccessible if the call failed with EFAULT. */
static uint64_t out_buffer(struct replay_engine *r, const struct call *c, unsigned int arg)
{
	if (!call_word(c, arg))
		return 0;
	return (uintptr_t)(c->failed && c->ret == EFAULT ? r->memory.end : r->memory.start);
}

/* Return why the attr may do harm on a process that is no stand-in; NULL: it may not. */
static const char *replay_danger(const struct replay_engine *r, const struct call *c)
{
	const struct layout *l = &layout_perf_event_attr;
	size_t len = 0;
	const uint8_t *attr = call_bytes(c, AT_SYSCALL_ENTER, call_word(c, 0), FENCE_SIZE, &len);
	int64_t type = attr ? (int64_t)layout_get(l, ATTR_TYPE, attr, len) : -1;

	if (!attr)
		return NULL;
	if (type == r->uprobe_type)
		return "uprobes on other processes: the dump does not say which build of the "
		       "file they are for";
	if (type == r->kprobe_type && !r->kprobes)
		return "kprobes on other processes, which require --allow=kprobes";
	if (layout_get(l, ATTR_SIGTRAP, attr, len) && !r->sigtraps)
		return "events with sigtrap on other processes, which require --allow=sigtrap";
	return NULL;
}

static struct replayed replay_open(struct replay_engine *r, const struct call *c, int group)
{
	pid_t pid = call_target(c), own;
	const char *why = NULL;
	uint64_t args[CALL_MAX_ARGS] = { 0 };

	if (c->args[4] & PERF_FLAG_PID_CGROUP)
		return left_out("events of cgroups");
	/* pid -1 with cpu -1 fails anyway */
	if (pid == -1 && call_int(c, 2) != -1 && !r->all_cpus)
		return left_out("events of a whole CPU, which require --all-cpus");
	if (pid < 0)
		own = pid;
	else if (!pid || pid == c->tid || pid == c->pid)
		/* a probe or a SIGTRAP on pevtrace would end the replay */
		own = stand_in_for(&r->stand_ins, c->tid);
	else if (c->failed && c->ret == ESRCH)
		own = stand_in_nobody(&r->stand_ins);
	else
		own = r->given ? r->given : stand_in_for(&r->stand_ins, pid);
	if (pid >= 0 && own < 0)
		return (struct replayed){ .trouble = -own };
	if (own < 0 || own == r->given)
		why = replay_danger(r, c);
	if (why)
		return left_out(why);
	args[0] = own_attr(r, c, call_word(c, 0));
	args[1] = (uint64_t)(int64_t)own;
	args[2] = c->args[2];
	args[3] = (uint64_t)(int64_t)group;
	args[4] = c->args[4];
	return replay_made(own_call(r->own_calls, CALL_PERF_EVENT_OPEN, args));
}

static struct replayed replay_ioctl(struct replay_engine *r, const struct call *c, int fd)
{
	const struct ioctl_desc *d = ioctl_of(c);
	uint64_t arg = c->args[2];
	const char *why;

	if (!d)
		return left_out("ioctls that are not perf's");
	if (d->request == PERF_EVENT_IOC_SET_BPF || d->request == PERF_EVENT_IOC_QUERY_BPF)
		return left_out("BPF programs");
	if (d->arg == IOCTL_ARG_FD) {
		arg = (uint64_t)(int64_t)replay_engine_own_fd(r, c, call_int(c, 2), &why);
		if (why)
			return left_out(why);
	} else if (d->arg == IOCTL_ARG_ATTR) {
		arg = own_attr(r, c, call_word(c, 2));
	} else if (d->dir == IOCTL_OUT) {
		arg = out_buffer(r, c, 2);
	} else if (d->dir != IOCTL_VALUE) {
		arg = own_bytes(&r->memory, c, call_word(c, 2),
				  d->arg == IOCTL_ARG_STRING ? STRING_MAX : 8);
	}
	return replay_made(own_call_ioctl(r->own_calls, fd, ioctl_find(d->request, 8) == d &&
				sizeof(long) == 8 ? d->request : d->compat, arg));
}

static struct replayed replay_mmap(struct replay_engine *r, const struct call *c, int fd)
{
	uint64_t mapped = 0;

	if (call_word(c, 5))
		return left_out("AUX areas, whose offset is not in the dump");
	if (c->args[3] & MAP_ANONYMOUS)
		return left_out("anonymous mappings");
	map_each(slot, &r->rings)
		mapped += ((const struct replayed_ring *)slot->value)->len;
	if (call_word(c, 1) > r->ring_limit - mapped)
		return left_out("ring buffers beyond --ring-limit");
	/* never replace a mapping of pevtrace */
	return replay_made(own_call_mmap(r->own_calls, fd, call_word(c, 1), 0, (int)c->args[2],
			       (int)c->args[3] & ~(MAP_FIXED | MAP_FIXED_NOREPLACE)));
}

static struct replayed replay_munmap(struct replay_engine *r, const struct call *c)
{
	uint64_t start = call_word(c, 0), len = call_word(c, 1);
	struct ring *ring = model_mapping_at(r->model, c->tid, start, start + len);
	struct replayed_ring *own = ring ? map_get(&r->rings, ring->number) : NULL;
	int64_t result;

	if (!own || ring->start != start || own->len != len)
		return left_out(own ? "partial unmapping" : "mappings that were not made here");
	result = own_call_unmap(r->own_calls, (void *)(uintptr_t)own->at, len);
	if (!result)
		free(map_del(&r->rings, ring->number));
	return replay_made(result);
}

/* dup2, dup3: duplicate onto the counterpart of an event, or else onto a free number. */
static struct replayed replay_dup_to(struct replay_engine *r, const struct call *c, int fd)
{
	struct replayed_fd *over = replay_engine_fd_exact(r, c, call_int(c, 1));
	bool same = call_int(c, 0) == call_int(c, 1);
	int to = same ? fd : over ? over->own : call_int(c, 1) < 0 ? -1 :
		 fcntl(fd, F_DUPFD_CLOEXEC, 0);
	int64_t result;

	if (!same && !over && to >= 0)
		close(to);
	result = own_call(r->own_calls, c->desc->id, (const uint64_t[CALL_MAX_ARGS]){
		(uint64_t)(int64_t)fd, (uint64_t)(int64_t)to, c->args[2],
	});
	if (result >= 0 && over && !same)
		replay_engine_fd_drop(r, over);
	return replay_made(result);
}

static struct replayed replay_desc(struct replay_engine *r, const struct call *c,
				    struct replayed_fd *closing)
{
	const char *why;
	int fd;

	if (c->desc->id == CALL_CLOSE) {
		if (!closing)
			return left_out("copies of descriptors by fork, or events that are not "
					"open here");
		fd = closing->own;
		replay_engine_fd_drop(r, closing);
		return replay_made(own_call_close(r->own_calls, fd));
	}
	if (c->desc->id == CALL_CLOSE_RANGE)
		return left_out("close_range: the descriptors are closed one by one");
	fd = replay_engine_own_fd(r, c, call_int(c, 0), &why);
	if (why)
		return left_out(why);
	if (c->desc->id == CALL_DUP2 || c->desc->id == CALL_DUP3)
		return replay_dup_to(r, c, fd);
	if (c->desc->id != CALL_DUP) {
		int cmd = call_int(c, 1);

		/* the others could signal or lock pevtrace, or change the owner */
		if (cmd != F_DUPFD && cmd != F_DUPFD_CLOEXEC && cmd != F_GETFD &&
		    cmd != F_SETFD && cmd != F_GETFL &&
		    !(cmd == F_SETFL && !(c->args[2] & O_ASYNC)))
			return left_out("signals and owners of descriptors");
	}
	return replay_made(own_call(r->own_calls, c->desc->id, (const uint64_t[CALL_MAX_ARGS]){
		(uint64_t)(int64_t)fd, c->args[1], c->args[2],
	}));
}

/* Repeat the call.  closing: the descriptor that a close closes, or NULL. */
static struct replayed replay_engine_call(struct replay_engine *r, const struct call *c,
				   struct replayed_fd *closing)
{
	const char *why;
	int fd;

	if (c->inject.injected)
		return left_out("injected calls, which never reached the kernel");
	switch (c->desc->class) {
	case CLASS_OPEN:
		fd = replay_engine_own_fd(r, c, call_int(c, 3), &why);
		return why ? left_out(why) : replay_open(r, c, fd);
	case CLASS_IOCTL:
		fd = replay_engine_own_fd(r, c, call_int(c, 0), &why);
		return why ? left_out(why) : replay_ioctl(r, c, fd);
	case CLASS_BPF:
		return left_out("BPF programs");
	case CLASS_MEMORY:
		if (c->desc->id == CALL_MREMAP)
			return left_out("mremap");
		if (c->desc->id == CALL_SHMAT)
			return left_out("shmat");
		if (c->desc->id == CALL_MUNMAP)
			return replay_munmap(r, c);
		fd = replay_engine_own_fd(r, c, call_int(c, 4), &why);
		return why ? left_out(why) : replay_mmap(r, c, fd);
	case CLASS_READ:
		fd = replay_engine_own_fd(r, c, call_int(c, 0), &why);
		if (why)
			return left_out(why);
		if (c->desc->id != CALL_READ && c->desc->id != CALL_PREAD64)
			return left_out("reads into several buffers");
		/* the kernel writes no more than a group read, whatever the size */
		return replay_made(own_call(r->own_calls, c->desc->id, (const uint64_t[CALL_MAX_ARGS]){
			(uint64_t)(int64_t)fd, out_buffer(r, c, 1), call_word(c, 2), c->args[3],
			c->args[4],
		}));
	case CLASS_DESC:
		return replay_desc(r, c, closing);
	case CLASS_POLL:
		return left_out("waits");
	case CLASS_PASS:
		return left_out("messages with descriptors");
	case CLASS_PROCESS:
		return left_out(c->desc->id == CALL_PRCTL ? "prctl" :
				"clone, exec and exit");
	}
	return left_out("other calls");
}

/* State of a call from its enter to its exit. */
struct pending {
	bool concerns;
	struct replayed_fd *closing;
};

/* Unmap all rings, or those that are unmapped in the dump. */
static void unmap_rings(struct replay_engine *r, bool all)
{
	uint64_t *ended = xcalloc(r->rings.len + 1, sizeof(*ended));
	size_t n = 0;

	map_each(slot, &r->rings) {
		struct ring *ring = model_ring(r->model, (unsigned int)slot->key);

		if (all || !ring || ring->unmapped)
			ended[n++] = slot->key;
	}
	for (size_t i = 0; i < n; i++) {
		struct replayed_ring *own = map_del(&r->rings, ended[i]);

		own_call_unmap(r->own_calls, (void *)(uintptr_t)own->at, own->len);
		free(own);
	}
	free(ended);
}

/* Close and unmap the events and rings that are closed and unmapped in the dump. */
static void replay_settle(struct replay_engine *r)
{
	r->unsettled = false;
	unmap_rings(r, false);
	replay_engine_close_fds(r, false);
}

void replay_engine_enter(struct replay_engine *r, const struct call *c)
{
	struct pending *p = xcalloc(1, sizeof(*p));

	if (r->unsettled)
		replay_settle(r);
	p->concerns = model_concerns(r->model, c);
	if (c->desc->id == CALL_CLOSE && !c->inject.injected) {
		p->closing = replay_engine_fd_exact(r, c, call_int(c, 0));
		if (p->closing)
			p->closing->closing = true;
	}
	free(map_set(&r->pending, (uint64_t)c->tid, p));
}

struct replayed replay_engine_before_exit(struct replay_engine *r, const struct call *c)
{
	struct pending *p = map_del(&r->pending, (uint64_t)c->tid);
	struct replayed a = { 0 };

	if (r->unsettled)
		replay_settle(r);
	if (p && p->concerns && c->returned)
		a = replay_engine_call(r, c, p->closing);
	else if (p && p->closing)
		p->closing->closing = false;
	free(p);
	return a;
}

/* Keep the new ring only if the call created one in the dump, too. */
static void replay_keep_ring(struct replay_engine *r, const struct call *c, uint64_t at)
{
	uint64_t len = call_word(c, 1);
	struct ring *ring = c->failed ? NULL : model_mapping_at(r->model, c->tid, (uint64_t)c->ret,
								(uint64_t)c->ret + len);
	struct replayed_ring *own, *was;

	if (!ring) {
		own_call_unmap(r->own_calls, (void *)(uintptr_t)at, len);
		return;
	}
	own = xcalloc(1, sizeof(*own));
	*own = (struct replayed_ring){ at, len };
	was = map_set(&r->rings, ring->number, own);
	if (was) /* the dump maps it twice at one address */
		own_call_unmap(r->own_calls, (void *)(uintptr_t)was->at, was->len);
	free(was);
}

void replay_engine_exit(struct replay_engine *r, const struct call *c,
			const struct replayed *a)
{
	enum call_result kind = call_result_kind(c);

	if (a->made && a->result >= 0 && kind == RESULT_ADDR)
		replay_keep_ring(r, c, (uint64_t)a->result);
	/* dup2 onto itself creates no descriptor */
	if (a->made && a->result >= 0 && kind == RESULT_FD &&
	    !(c->desc->id == CALL_DUP2 && call_int(c, 0) == call_int(c, 1)))
		replay_engine_fd_add(r, c, c->failed ? -1 : (int)c->ret, (int)a->result);
	if (c->desc->id == CALL_CLOSE_RANGE || c->desc->id == CALL_MUNMAP ||
	    c->desc->id == CALL_DUP2 || c->desc->id == CALL_DUP3)
		replay_settle(r);
}

/* The model learns of an exec, and of the end of a task, after the views. */
void replay_engine_execed(struct replay_engine *r)
{
	r->unsettled = true;
}

void replay_engine_gone(struct replay_engine *r, pid_t tid)
{
	struct pending *p = map_del(&r->pending, (uint64_t)tid);

	if (p && p->closing)
		p->closing->closing = false;
	free(p);
	r->unsettled = true;
}

int replay_engine_init(struct replay_engine *r)
{
	int error = fence_make(&r->memory, FENCE_SIZE);

	return error ? error : fence_make(&r->string, FENCE_SIZE);
}

void replay_engine_free(struct replay_engine *r)
{
	unmap_rings(r, true);
	replay_engine_close_fds(r, true);
	stand_ins_end(&r->stand_ins);
	map_free_values(&r->pending);
	map_free(&r->by_fd);
	map_free(&r->by_event);
	map_free(&r->rings);
	fence_free(&r->memory);
	fence_free(&r->string);
}
