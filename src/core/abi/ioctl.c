// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/ioctl.h"

#include <errno.h>

#include "core/abi/attr.h"
#include "core/abi/bpf.h"
#include "core/abi/strings.h"

#define QUERY_BPF_HEAD 8

const struct ioctl_desc *ioctl_of(const struct call *c)
{
	return ioctl_find((uint32_t)c->args[1], c->arch->word);
}

/* The direction is in bits 30 and 31 for most; in bits 29 to 31, one of them set, for some. */
static const struct {
	uint8_t two, three;
	const char *name;
} ioctl_directions[] = {
	{ 0, 1, "_IOC_NONE" },
	{ 1, 4, "_IOC_WRITE" },
	{ 2, 2, "_IOC_READ" },
	{ 3, 6, "_IOC_WRITE|_IOC_READ" },
};

uint32_t ioctl_native(const struct arch *arch, uint32_t request)
{
	if (!arch->ioctl_3bits)
		return request;
	return (request & 0x1fffffff) | (uint32_t)ioctl_directions[request >> 30].three << 29;
}

uint32_t ioctl_generic(const struct arch *arch, uint32_t request)
{
	for (size_t i = 0; i < 4 && arch->ioctl_3bits; i++)
		if (ioctl_directions[i].three == request >> 29)
			return (request & 0x1fffffff) | (uint32_t)ioctl_directions[i].two << 30;
	return request;
}

void ioctl_capture(struct call *c, enum call_phase phase, uint64_t arg,
		   const struct mem *m, const struct names *n)
{
	const struct ioctl_desc *d = ioctl_of(c);
	bool in = phase == AT_SYSCALL_ENTER;
	const uint8_t *head;
	uint64_t ids = 0;
	size_t len;

	if (!d || d->dir == IOCTL_VALUE)
		return;
	if (d->arg == IOCTL_ARG_ATTR) {
		attr_capture(c, phase, arg, m, n);
		return;
	}
	if (!(in ? d->dir != IOCTL_OUT : d->dir != IOCTL_IN))
		return;
	if (d->arg == IOCTL_ARG_STRING) {
		capture_string(c, phase, arg, m);
		return;
	}
	/* with the ids behind the header, whose number comes from the target and is limited */
	if (d->arg == IOCTL_ARG_QUERY_BPF && !in) {
		head = call_bytes(c, AT_SYSCALL_ENTER, arg, QUERY_BPF_HEAD, &len);
		ids = head && len == QUERY_BPF_HEAD ? load_uint(head, 4) : 0;
	}
	capture_bytes(c, phase, arg,
		      8 + 4 * (ids < MEMORY_IDS ? ids : MEMORY_IDS), m);
}

void ioctl_emit_request(const struct call *c, const char *key, struct sink *s)
{
	const struct ioctl_desc *d = ioctl_of(c);
	const struct xlat_entry one = { .value = (uint32_t)c->args[1], .name = d ? d->name : NULL };
	const struct xlat names = { .name = "ioctl", .kind = XLAT_ENUM,
				    .prefix = "", .entries = &one, .n = 1 };

	if (d) {
		sink_enum(s, key, &names, one.value);
		return;
	}
	sink_hex(s, key, one.value);
	if (ioctl_is_perf(one.value))
		sink_notef(s, "ioc", "_IOC(%s, '$', %u, %u)",
			   ioctl_directions[one.value >> 30].name,
			   (unsigned int)one.value & 0xff, (unsigned int)one.value >> 16 & 0x3fff);
}

/* Write the kernel's answer, or of a failed call only what the caller passed. */
static void emit_query(const struct call *c, const char *key, uint64_t arg, struct sink *s)
{
	/* with ENOSPC the kernel has written as many ids as there is space for */
	bool answered = c->returned && (!c->failed || (c->ret == ENOSPC && !c->inject.injected));
	const uint8_t *p = NULL;
	uint64_t count;
	size_t len = 0;

	if (answered)
		p = call_bytes(c, AT_SYSCALL_EXIT, arg, SIZE_MAX, &len);
	if (len < QUERY_BPF_HEAD)
		p = call_bytes(c, AT_SYSCALL_ENTER, arg, SIZE_MAX, &len);
	if (len < QUERY_BPF_HEAD) {
		call_emit_unreadable(key, arg, s);
		return;
	}
	sink_begin(s, key, SINK_OBJECT);
	sink_uint(s, "ids_len", load_uint(p, 4));
	if (answered) {
		count = load_uint(p + 4, 4);
		sink_uint(s, "prog_cnt", count);
		if (count > (len - QUERY_BPF_HEAD) / 4)
			count = (len - QUERY_BPF_HEAD) / 4;
		sink_begin(s, "ids", SINK_ARRAY);
		for (uint64_t i = 0; i < count; i++)
			sink_uint(s, NULL, load_uint(p + QUERY_BPF_HEAD + 4 * i, 4));
		sink_end(s);
	}
	sink_end(s);
	call_note_unwritten(c, s);
}

static void emit_by_value(const struct call *c, const struct ioctl_desc *d,
			  const char *key, uint64_t arg, const struct names *n,
			  struct sink *s)
{
	/* the kernel reads 32 bits of a 32-bit program's argument */
	uint64_t v = c->arch->word == 4 ? (uint32_t)arg : arg;
	const char *label = NULL;

	switch (d->arg) {
	case IOCTL_ARG_FLAGS: /* _perf_ioctl() reads 32 bits */
		sink_flags(s, key, d->xlat, (uint32_t)arg);
		break;
	case IOCTL_ARG_SINT:
		sink_sint(s, key, (int32_t)arg);
		break;
	case IOCTL_ARG_FD:
		if (n && n->fd)
			label = n->fd(n, c, (int32_t)arg);
		sink_fd(s, key, (int32_t)arg, label);
		if (d->request == PERF_EVENT_IOC_SET_BPF)
			bpf_note_program(c, n, (int32_t)arg, s);
		/* SET_OUTPUT compares the whole word with -1 */
		if (d->request == PERF_EVENT_IOC_SET_OUTPUT &&
		    c->arch->word == 8 && v == UINT32_MAX)
			sink_note(s, "words",
				  "0xffffffff, not -1: pass -1L to detach");
		break;
	default:
		sink_uint(s, key, v);
	}
}

void ioctl_emit_arg(const struct call *c, const char *key, uint64_t arg,
		    const struct names *n, struct sink *s)
{
	const struct ioctl_desc *d = ioctl_of(c);
	const uint8_t *p;

	if (!d) {
		sink_hex(s, key, arg);
		return;
	}
	if (d->dir == IOCTL_VALUE) {
		emit_by_value(c, d, key, arg, n, s);
		return;
	}
	switch (d->arg) {
	case IOCTL_ARG_STRING:
		call_emit_string(c, AT_SYSCALL_ENTER, key, arg, s);
		break;
	case IOCTL_ARG_ATTR:
		attr_emit(c, AT_SYSCALL_ENTER, key, arg, n, s);
		break;
	case IOCTL_ARG_QUERY_BPF:
		emit_query(c, key, arg, s);
		break;
	default:
		if (d->dir == IOCTL_OUT && c->failed) {
			sink_addr(s, key, arg);
			break;
		}
		p = call_bytes_or_note(c, d->dir == IOCTL_OUT ? AT_SYSCALL_EXIT : AT_SYSCALL_ENTER,
				       key, arg, 8, s);
		if (!p)
			break;
		/* a pointer to a u64 is the value in brackets, as strace does */
		sink_begin(s, key, SINK_ARRAY);
		sink_uint(s, NULL, load_uint(p, 8));
		sink_end(s);
		if (d->dir == IOCTL_OUT)
			call_note_unwritten(c, s);
	}
}

void ioctl_result_notes(const struct call *c, struct sink *s)
{
	const struct ioctl_desc *d = ioctl_of(c);

	if (d && d->arg == IOCTL_ARG_ATTR)
		attr_note_size(c, c->args[2], s);
}
