// SPDX-License-Identifier: LGPL-2.1-or-later
/* Deciding which calls concern perf. */
#include <limits.h>

#include "core/abi/bpf.h"
#include "core/abi/call_decode.h"
#include "core/abi/ioctl.h"
#include "core/model/calls.h"
#include "xlat/constants.h"

/* Return whether the list cannot be read, which the kernel refuses, in a task with events. */
static bool unreadable_list(const struct task *t, const struct call *c, unsigned int i)
{
	size_t len;

	return call_word(c, i) && !call_bytes(c, AT_SYSCALL_ENTER, call_word(c, i), 1, &len) &&
	       fdtab_event_in_range(t->files, 0, UINT_MAX);
}

static bool concerns_event(const struct task *t, const struct call *c, unsigned int i)
{
	return fdtab_event(t->files, call_int(c, i)) || fdtab_linked(t->files, call_int(c, i));
}

bool model_covers(const struct call *c, unsigned int i, uint64_t *start, uint64_t *end)
{
	unsigned int addr = 0, len = 1;
	bool covers = true;

	switch (c->desc->id) {
	case CALL_MUNMAP:
		break;
	case CALL_MREMAP:
		addr = i ? 4 : 0;
		len = i ? 2 : 1;
		if (i == 1 && c->args[3] & ABI_MREMAP_FIXED)
			i = 0;
		break;
	case CALL_MMAP:
	case CALL_MMAP2:
		covers = c->args[3] & ABI_MAP_FIXED;
		break;
	case CALL_SHMAT:
		addr = 1;
		covers = c->args[2] & ABI_SHM_REMAP;
		break;
	default:
		return false;
	}
	*start = call_word(c, addr);
	*end = *start + (c->desc->id == CALL_SHMAT ? 1 : call_word(c, len));
	return covers && i == 0;
}

bool model_touches(const struct call *c, unsigned int i, uint64_t *start, uint64_t *end)
{
	if (c->desc->id != CALL_MPROTECT && c->desc->id != CALL_PKEY_MPROTECT)
		return model_covers(c, i, start, end);
	*start = call_word(c, 0);
	*end = *start + call_word(c, 1);
	return i == 0;
}

static bool concerns_desc(const struct task *t, const struct call *c)
{
	switch (c->desc->id) {
	case CALL_CLOSE_RANGE:
		return (c->args[2] & ABI_CLOSE_RANGE_UNSHARE && t->files->events) ||
		       fdtab_event_in_range(t->files, (uint32_t)c->args[0],
					    (uint32_t)c->args[1]);
	case CALL_DUP2:
	case CALL_DUP3:
		return concerns_event(t, c, 0) || concerns_event(t, c, 1);
	default:
		return concerns_event(t, c, 0);
	}
}

static bool concerns_poll(const struct task *t, const struct call *c)
{
	size_t at = 0;

	switch (c->desc->id) {
	case CALL_POLL:
	case CALL_PPOLL:
	case CALL_PPOLL_TIME64:
		return waited_next(t, c, 0, &at) || (call_int(c, 1) && unreadable_list(t, c, 0));
	case CALL_EPOLL_CREATE:
	case CALL_EPOLL_CREATE1:
		return false;
	case CALL_EPOLL_CTL:
		return concerns_event(t, c, 2);
	case CALL_EPOLL_WAIT:
	case CALL_EPOLL_PWAIT:
	case CALL_EPOLL_PWAIT2:
		return waited_next(t, c, 0, &at);
	default:
		for (unsigned int set = READ_SET; set <= EXCEPT_SET; set++, at = 0)
			if (waited_next(t, c, set, &at) ||
			    (call_int(c, 0) > 0 && unreadable_list(t, c, set)))
				return true;
		return false;
	}
}

static bool concerns_memory(const struct task *t, const struct call *c)
{
	uint64_t start, end;

	for (unsigned int i = 0; model_touches(c, i, &start, &end); i++)
		if (space_find(t->space, start, end))
			return true;
	return (c->desc->id == CALL_MMAP || c->desc->id == CALL_MMAP2) &&
	       !(c->args[3] & ABI_MAP_ANONYMOUS) && concerns_event(t, c, 4);
}

/*
 * Return whether a message concerns perf: a sent one if it passes an event, a received one
 * while events are in transit.
 */
static bool passes_event(const struct model *m, const struct task *t,
			 const struct call *c)
{
	int fds[CALL_MAX_PASSED];
	size_t n;

	if (c->desc->id == CALL_RECVMSG)
		return m->passing;
	n = call_passed_fds(c, AT_SYSCALL_ENTER, fds);
	for (size_t i = 0; i < n; i++)
		if (fdtab_event(t->files, fds[i]))
			return true;
	return false;
}

static bool concerns_process(const struct model *m, const struct call *c)
{
	switch (c->desc->id) {
	case CALL_PRCTL:
		return call_int(c, 0) == ABI_PR_TASK_PERF_EVENTS_DISABLE ||
		       call_int(c, 0) == ABI_PR_TASK_PERF_EVENTS_ENABLE;
	case CALL_PTRACE:
		return false;
	case CALL_UNSHARE: /* only the descriptor table matters */
		return c->args[0] & ABI_CLONE_FILES && model_holds(m, c->tid);
	default:
		return model_holds(m, c->tid);
	}
}

static bool concerns_bpf(const struct model *m, const struct task *t, const struct call *c)
{
	struct bpf_command b;

	if (!bpf_command(c, &b))
		return false;
	if (b.pid)
		t = model_task(m, b.pid);
	return b.attach_type == ABI_BPF_PERF_EVENT ||
	       (t && (fdtab_event(t->files, b.fd) || fdtab_linked(t->files, b.fd)));
}

bool model_concerns(struct model *m, const struct call *c)
{
	const struct task *t = model_task(m, c->tid);

	model_forget_messages(m, c->enter_ns);
	if (!t)
		return c->desc->class == CLASS_OPEN;
	switch (c->desc->class) {
	case CLASS_OPEN:
		return true;
	case CLASS_IOCTL:
		return ioctl_is_perf(c->args[1]) || concerns_event(t, c, 0);
	case CLASS_BPF:
		return concerns_bpf(m, t, c);
	case CLASS_MEMORY:
		return concerns_memory(t, c);
	case CLASS_POLL:
		return concerns_poll(t, c);
	case CLASS_READ:
		return concerns_event(t, c, 0);
	case CLASS_DESC:
		return concerns_desc(t, c);
	case CLASS_PASS:
		return passes_event(m, t, c);
	case CLASS_PROCESS:
		return concerns_process(m, c);
	}
	return true;
}

bool model_learns(const struct model *m, const struct call *c)
{
	const struct task *t = model_task(m, c->tid);

	if (!t || t->files->refs == 1)
		return false;
	return c->desc->id == CALL_CLOSE_RANGE ? c->args[2] & ABI_CLOSE_RANGE_UNSHARE :
	       c->desc->id == CALL_UNSHARE && c->args[0] & ABI_CLONE_FILES;
}

bool model_needs(enum call_id id)
{
	switch (call_descs[id].class) {
	case CLASS_OPEN:
	case CLASS_MEMORY:
	case CLASS_DESC:
	case CLASS_IOCTL:
	case CLASS_BPF:
	case CLASS_PASS:
		return true;
	default:
		return id == CALL_EPOLL_CTL || id == CALL_UNSHARE;
	}
}

