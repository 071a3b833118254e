// SPDX-License-Identifier: LGPL-2.1-or-later
/* Repeating one call of a dump, or the reason why it is left out. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/abi/ioctl.h"
#include "core/abi/layout.h"
#include "experiment/replay_engine_internal.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* More than a string in an attr or a filter needs. */
enum { STRING_MAX = 4096 };

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

static pid_t measured_pid(struct replay_engine *r, const struct call *c)
{
	pid_t pid = call_target(c);

	if (pid < 0)
		return pid;
	/* a probe or a SIGTRAP on pevtrace would end the replay */
	if (!pid || pid == c->tid || pid == c->pid)
		return stand_in_for(&r->stand_ins, c->tid);
	if (c->failed && c->ret == ESRCH)
		return stand_in_nobody(&r->stand_ins);
	return r->given ? r->given : stand_in_for(&r->stand_ins, pid);
}

static int64_t open_copy(struct replay_engine *r, const struct call *c, pid_t pid, int group)
{
	const uint64_t args[CALL_MAX_ARGS] = {
		own_attr(r, c, call_word(c, 0)), (uint64_t)(int64_t)pid,
		c->args[2], (uint64_t)(int64_t)group, c->args[4],
	};

	return own_call(r->own_calls, CALL_PERF_EVENT_OPEN, args);
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

static struct replayed replay_open(struct replay_engine *r, const struct call *c)
{
	const char *why;
	int group = replay_engine_own_fd(r, c, call_int(c, 3), &why);
	pid_t pid = call_target(c), own;

	if (why)
		return left_out(why);
	if (c->args[4] & PERF_FLAG_PID_CGROUP)
		return left_out("events of cgroups");
	/* pid -1 with cpu -1 fails anyway */
	if (pid == -1 && call_int(c, 2) != -1 && !r->all_cpus)
		return left_out("events of a whole CPU, which require --all-cpus");
	own = measured_pid(r, c);
	if (pid >= 0 && own < 0)
		return (struct replayed){ .trouble = -own };
	if (own < 0 || own == r->given)
		why = replay_danger(r, c);
	if (why)
		return left_out(why);
	return replay_made(open_copy(r, c, own, group));
}

static struct replayed replay_ioctl(struct replay_engine *r, const struct call *c)
{
	const struct ioctl_desc *d = ioctl_of(c);
	uint64_t arg = c->args[2];
	const char *why;
	int fd = replay_engine_own_fd(r, c, call_int(c, 0), &why);

	if (why)
		return left_out(why);
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

/* Return the bytes of all ring buffers that are mapped now. */
static uint64_t rings_size(const struct replay_engine *r)
{
	const struct map_slot *slot;
	uint64_t sum = 0;
	size_t at = 0;

	while ((slot = map_next(&r->rings, &at)))
		sum += ((const struct replayed_ring *)slot->value)->len;
	return sum;
}

static struct replayed replay_mmap(struct replay_engine *r, const struct call *c)
{
	const char *why;
	int fd = replay_engine_own_fd(r, c, call_int(c, 4), &why);

	if (why)
		return left_out(why);
	if (call_word(c, 5))
		return left_out("AUX areas, whose offset is not in the dump");
	if (c->args[3] & MAP_ANONYMOUS)
		return left_out("anonymous mappings");
	if (call_word(c, 1) > r->ring_limit - rings_size(r))
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

static struct replayed replay_read(struct replay_engine *r, const struct call *c)
{
	const char *why;
	int fd = replay_engine_own_fd(r, c, call_int(c, 0), &why);

	if (why)
		return left_out(why);
	if (c->desc->id != CALL_READ && c->desc->id != CALL_PREAD64)
		return left_out("reads into several buffers");
	/* the kernel writes no more than a group read, whatever the size */
	return replay_made(own_call(r->own_calls, c->desc->id, (const uint64_t[CALL_MAX_ARGS]){
		(uint64_t)(int64_t)fd, out_buffer(r, c, 1), call_word(c, 2), c->args[3], c->args[4],
	}));
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

struct replayed replay_engine_call(struct replay_engine *r, const struct call *c,
				   struct replayed_fd *closing)
{
	if (c->inject.injected)
		return left_out("injected calls, which never reached the kernel");
	switch (c->desc->class) {
	case CLASS_OPEN:
		return replay_open(r, c);
	case CLASS_IOCTL:
		return replay_ioctl(r, c);
	case CLASS_BPF:
		return left_out("BPF programs");
	case CLASS_MEMORY:
		if (c->desc->id == CALL_MREMAP)
			return left_out("mremap");
		if (c->desc->id == CALL_SHMAT)
			return left_out("shmat");
		return c->desc->id == CALL_MUNMAP ? replay_munmap(r, c) : replay_mmap(r, c);
	case CLASS_READ:
		return replay_read(r, c);
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
