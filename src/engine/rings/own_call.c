// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "engine/rings/own_call.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/abi/call_decode.h"
#include "core/abi/ioctl.h"
#include "core/lib/clock.h"

enum { ERRORS = 4095 };	/* a result from -ERRORS to -1 is an error */

/* Read memory of pevtrace, where an address may be invalid on purpose. */
static size_t read_own(const struct mem *m, uint64_t addr, void *dst, size_t len)
{
	struct iovec to = { dst, len }, from = { (void *)(uintptr_t)addr, len };
	ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
	int fd;

	(void)m;
	if (n < 0 && (errno == EPERM || errno == ENOSYS)) { /* refused by a container's filter */
		fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return 0;
		n = pread(fd, dst, len, (off_t)addr);
		close(fd);
	}
	return n < 0 ? 0 : (size_t)n;
}

static const struct mem own = { .read = read_own };

void own_calls_init(struct own_calls *o, struct session *session)
{
	*o = (struct own_calls){ .session = session };
}

void own_calls_free(struct own_calls *o)
{
	call_free(&o->call);
}

/* Make the call; as in a trace, its arguments are in the order and form of most ABIs. */
static long own_call_make(const struct call *c)
{
	const struct arch *arch = c->arch;
	long a[CALL_MAX_ARGS];

	for (size_t i = 0; i < CALL_MAX_ARGS; i++)
		a[i] = (long)c->args[i];
	if (arch->old_mmap && c->desc->id == CALL_MMAP)
		return syscall((long)c->nr, a);
	if (c->desc->id == CALL_IOCTL)
		a[1] = (long)ioctl_native(arch, (uint32_t)a[1]);
	return syscall((long)c->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Return what the call would return if it succeeded, without making it. */
static long imagine_call(struct own_calls *o, const struct call *c)
{
	switch (c->desc->id) {
	case CALL_PERF_EVENT_OPEN:
		return o->imagined++;
	case CALL_MMAP:
	case CALL_MMAP2:
		return (long)o->imagined << 24;
	case CALL_READ:
		return (long)c->args[2];
	default:
		return 0;
	}
}

int64_t own_call(struct own_calls *o, enum call_id id, const uint64_t args[CALL_MAX_ARGS])
{
	struct session *s = o->session;
	struct call *c = &o->call;
	const struct call_desc *d = &call_descs[id];
	int nr = seccomp_syscall_resolve_name(d->name);
	long ret;

	if (nr < 0)
		return -ENOSYS;
	call_reset(c);
	c->desc = d;
	c->arch = arch_native();
	c->nr = (uint64_t)nr;
	/* truncate them to the width of registers */
	for (size_t a = 0; a < CALL_MAX_ARGS; a++)
		c->args[a] = (unsigned long)args[a];
	c->tid = gettid();
	c->pid = getpid();
	c->enter_ns = clock_ns();
	if (s) {
		c->shown = session_shows(s, c);
		call_capture(c, AT_SYSCALL_ENTER, &own, &s->names);
		session_enter(s, c);
	}
	c->start_ns = clock_ns();
	ret = o->imagined ? imagine_call(o, c) : own_call_make(c);
	c->exit_ns = clock_ns();
	c->returned = true;
	c->failed = ret == -1;
	c->ret = c->failed ? errno : call_result_kind(c) == RESULT_ADDR ?
		 (int64_t)(unsigned long)ret : ret;
	ret = c->failed ? -errno : ret;
	if (s) {
		call_capture(c, AT_SYSCALL_EXIT, &own, &s->names);
		session_exit(s, c);
	}
	return ret;
}

void own_call_place_strings(const struct attr_text *a, uint8_t *bytes)
{
	const struct layout *l = &layout_perf_event_attr;

	for (size_t f = 0; f < l->n; f++) {
		if (l->fields[f].kind != FIELD_STRING)
			continue;
		for (size_t s = 0; s < a->nstrings; s++)
			if (layout_get(l, (unsigned int)f, a->bytes, a->len) ==
			    a->strings[s].addr) {
				field_set(&l->fields[f],
					  (uintptr_t)(a->pool + a->strings[s].at), bytes);
				return; /* the other strings share its offset */
			}
	}
}

int own_call_open(struct own_calls *o, const struct attr_text *attr, pid_t pid, int cpu,
	       int group_fd, uint64_t flags)
{
	uint8_t bytes[ATTR_TEXT_MAX] __attribute__((aligned(8))) = { 0 };

	memcpy(bytes, attr->bytes, attr->len);
	own_call_place_strings(attr, bytes);
	return (int)own_call(o, CALL_PERF_EVENT_OPEN, (const uint64_t[CALL_MAX_ARGS]){
		(uintptr_t)bytes, (uint64_t)(int64_t)pid, (uint64_t)(int64_t)cpu,
		(uint64_t)(int64_t)group_fd, flags,
	});
}

int64_t own_call_ioctl(struct own_calls *o, int fd, uint32_t request, uint64_t arg)
{
	return own_call(o, CALL_IOCTL, (const uint64_t[CALL_MAX_ARGS]){
		(uint64_t)fd, request, arg,
	});
}

int64_t own_call_mmap(struct own_calls *o, int fd, uint64_t length, uint64_t offset, int prot,
		      int flags)
{
	int nr = seccomp_syscall_resolve_name("mmap2");
	unsigned int shift = nr >= 0 ? arch_native()->mmap2_shift : 0;

	return own_call(o, shift ? CALL_MMAP2 : CALL_MMAP, (const uint64_t[CALL_MAX_ARGS]){
		0, length, (uint64_t)prot, (uint64_t)flags, (uint64_t)fd, offset >> shift,
	});
}

void *own_call_map_at(struct own_calls *o, int fd, size_t length, uint64_t offset, bool write,
		   int *error)
{
	int prot = write ? PROT_READ | PROT_WRITE : PROT_READ;
	int64_t at = own_call_mmap(o, fd, length, offset, prot, MAP_SHARED);

	if (at < 0 && at >= -ERRORS) {
		*error = (int)-at;
		return NULL;
	}
	return (void *)(uintptr_t)at;
}

int64_t own_call_unmap(struct own_calls *o, void *at, size_t length)
{
	return own_call(o, CALL_MUNMAP, (const uint64_t[CALL_MAX_ARGS]){
		(uintptr_t)at, length,
	});
}

ssize_t own_call_read(struct own_calls *o, int fd, void *buf, size_t size)
{
	return (ssize_t)own_call(o, CALL_READ, (const uint64_t[CALL_MAX_ARGS]){
		(uint64_t)fd, (uintptr_t)buf, size,
	});
}

int own_call_close(struct own_calls *o, int fd)
{
	return (int)own_call(o, CALL_CLOSE, (const uint64_t[CALL_MAX_ARGS]){
		(uint64_t)fd,
	});
}
