// SPDX-License-Identifier: LGPL-2.1-or-later
/* Arguments of the calls that read and change descriptors. */
#include <errno.h>
#include <string.h>

#include "core/abi/args.h"
#include "core/abi/bpf.h"
#include "core/abi/read_format.h"
#include "core/abi/strings.h"
#include "core/abi/tables.h"

enum { SHORT_IOV = 16 };	/* shown without -v of a read that failed */

static void emit_content(const struct arg *a, const char *key,
			 const uint8_t *p, size_t len, struct sink *s)
{
	const struct names *n = a->names;
	int64_t format = n && n->read_format ?
		n->read_format(n, a->call, call_int(a->call, 0)) : NAMES_NO_EVENT;
	bool cut = len > s->max_string;

	if (format >= 0) {
		read_format_emit(p, len, (uint64_t)format, key, a->names, s);
	} else if (format == NAMES_NO_FORMAT) {
		sink_begin(s, key, SINK_ARRAY);
		for (size_t i = 0; i + 8 <= len; i += 8)
			sink_uint(s, NULL, load_uint(p + i, 8));
		sink_end(s);
		sink_note(s, "format", "read_format not known: opened before attach");
	} else {
		sink_bytes(s, key, p, cut ? s->max_string : len, cut);
	}
	call_note_unwritten(a->call, s);
}

void arg_emit_read_buf(const struct arg *a, struct sink *s)
{
	size_t len;
	const uint8_t *p = call_bytes(a->call, AT_SYSCALL_EXIT, arg_word(a), SIZE_MAX, &len);

	if (p)
		emit_content(a, arg_name(a), p, len, s);
	else
		sink_addr(s, arg_name(a), arg_word(a));
}

static uint64_t iov_count(const struct arg *a)
{
	uint64_t n = (uint32_t)a->call->args[a->i + 1];

	return n < MEMORY_IOVECS ? n : MEMORY_IOVECS;
}

/* Read the i-th iovec; return false if it was not readable. */
static bool iov_at(const struct arg *a, uint64_t i, uint64_t *base, uint64_t *len)
{
	size_t got, word = a->call->arch->word;
	const uint8_t *p = call_bytes(a->call, AT_SYSCALL_ENTER,
				      arg_word(a) + i * 2 * word, 2 * word, &got);

	if (!p || got < 2 * word)
		return false;
	*base = load_uint(p, word);
	*len = load_uint(p + word, word);
	return true;
}

void arg_capture_read_iov(const struct arg *a, struct call *c,
			  enum call_phase phase, const struct mem *m)
{
	uint64_t base, len, left = call_gave(c) ? (uint64_t)c->ret : 0, n = iov_count(a);

	if (phase == AT_SYSCALL_ENTER) {
		capture_bytes(c, phase, arg_word(a),
			      n * 2 * c->arch->word, m);
		return;
	}
	if (left > MEMORY_IOVECS_BYTES)
		left = MEMORY_IOVECS_BYTES;
	if (n > MEMORY_IOVECS_READ)
		n = MEMORY_IOVECS_READ;
	for (uint64_t i = 0; left && i < n && iov_at(a, i, &base, &len); i++) {
		if (len > left)
			len = left;
		capture_bytes(c, phase, base, len, m);
		left -= len;
	}
}

/* Join the buffers before decoding, as counts may be spread over them. */
static void iov_emit_joined(const struct arg *a, struct sink *s)
{
	uint8_t joined[4096];
	size_t n = 0;
	uint64_t base, len;

	for (uint64_t i = 0; i < iov_count(a) && iov_at(a, i, &base, &len); i++) {
		size_t got;
		const uint8_t *p = call_bytes(a->call, AT_SYSCALL_EXIT, base, len, &got);

		if (!p)
			continue;
		if (got > sizeof(joined) - n)
			got = sizeof(joined) - n;
		memcpy(joined + n, p, got);
		n += got;
	}
	emit_content(a, arg_name(a), joined, n, s);
	sink_notef(s, "vectors", "from %u buffers", (uint32_t)a->call->args[a->i + 1]);
}

void arg_emit_read_iov(const struct arg *a, struct sink *s)
{
	bool filled = !a->call->failed && a->call->returned && a->call->ret > 0;
	uint64_t base, len, n = (uint32_t)a->call->args[a->i + 1], i;
	uint64_t shown = s->full || iov_count(a) < SHORT_IOV ? iov_count(a) : SHORT_IOV;

	if (n && !iov_at(a, 0, &base, &len)) {
		call_emit_unreadable(arg_name(a), arg_word(a), s);
		return;
	}
	if (filled && n != 1) {
		iov_emit_joined(a, s);
		return;
	}
	sink_begin(s, arg_name(a), SINK_ARRAY);
	for (i = 0; i < shown && iov_at(a, i, &base, &len); i++) {
		size_t got;
		const uint8_t *p = filled ? call_bytes(a->call, AT_SYSCALL_EXIT, base, len, &got) :
					    NULL;

		sink_begin(s, NULL, SINK_OBJECT);
		/* of a single buffer, the usual case, the data in place of its address */
		if (p)
			emit_content(a, "iov_base", p, got, s);
		else
			sink_addr(s, "iov_base", base);
		sink_uint(s, "iov_len", len);
		sink_end(s);
	}
	if (i < shown)
		sink_notef(s, "unreadable", "unreadable from entry %llu on", (unsigned long long)i);
	else if (i < n)
		sink_notef(s, "more", "%llu more", (unsigned long long)(n - i));
	sink_end(s);
}

/* fcntl --------------------------------------------------------------- */

void arg_capture_fcntl_arg(const struct arg *a, struct call *c,
			   enum call_phase phase, const struct mem *m)
{
	if (call_int(c, 1) == (phase == AT_SYSCALL_ENTER ? ABI_F_SETOWN_EX : ABI_F_GETOWN_EX))
		capture_bytes(c, phase, arg_word(a), 8, m);
}

static void emit_owner(const struct arg *a, enum call_phase phase, struct sink *s)
{
	const uint8_t *p = call_bytes_or_note(a->call, phase, arg_name(a), arg_word(a), 8, s);

	if (!p)
		return;
	sink_begin(s, arg_name(a), SINK_OBJECT);
	sink_enum(s, "type", &xlat_f_owner_type, load_uint(p, 4));
	sink_sint(s, "pid", (int32_t)load_uint(p + 4, 4));
	sink_end(s);
	if (phase == AT_SYSCALL_EXIT)
		call_note_unwritten(a->call, s);
}

void arg_emit_fcntl_arg(const struct arg *a, struct sink *s)
{
	int cmd = call_int(a->call, 1);

	switch (cmd) {
	case ABI_F_GETFD:
	case ABI_F_GETFL:
	case ABI_F_GETOWN:
	case ABI_F_GETSIG:
		break; /* these ignore the argument */
	case ABI_F_SETFL:
		sink_flags(s, arg_name(a), &xlat_open_status_flags, (uint32_t)arg_value(a));
		break;
	case ABI_F_SETFD:
		sink_flags(s, arg_name(a), &xlat_fd_flags, (uint32_t)arg_value(a));
		break;
	case ABI_F_DUPFD:
	case ABI_F_DUPFD_CLOEXEC:
	case ABI_F_SETOWN:
		sink_sint(s, arg_name(a), call_int(a->call, a->i));
		break;
	case ABI_F_SETSIG:
		emit_signal(arg_name(a), call_int(a->call, a->i), s);
		if (!call_int(a->call, a->i))
			sink_note(s, "signal", "SIGIO");
		break;
	case ABI_F_SETOWN_EX:
	case ABI_F_GETOWN_EX:
		emit_owner(a, cmd == ABI_F_SETOWN_EX ? AT_SYSCALL_ENTER : AT_SYSCALL_EXIT, s);
		break;
	default:
		sink_hex(s, arg_name(a), arg_word(a));
	}
}

void arg_result_fcntl_arg(const struct arg *a, struct sink *s)
{
	const struct xlat *x = call_int(a->call, 1) == ABI_F_GETFD ? &xlat_fd_flags :
		call_int(a->call, 1) == ABI_F_GETFL ? &xlat_open_status_flags : NULL;

	if (x && (a->call->ret || x == &xlat_open_status_flags))
		sink_flags(s, "flags", x, (uint64_t)a->call->ret);
}

/* Find the control buffer of a struct msghdr, whose members are words of the ABI. */
static bool locate(const struct call *c, enum call_phase phase, uint64_t *control, uint64_t *size)
{
	size_t word = c->arch->word, len;
	const uint8_t *p = call_bytes(c, phase, call_word(c, 1), 7 * word, &len);

	if (!p || len < 6 * word)
		return false;
	/* name, namelen, iov, iovlen, control, controllen, flags */
	*control = load_uint(p + 4 * word, word);
	*size = load_uint(p + 5 * word, word);
	return *control;
}

void arg_capture_msghdr(const struct arg *a, struct call *c,
			enum call_phase phase, const struct mem *m)
{
	uint64_t control, size;

	if (phase == AT_SYSCALL_EXIT && c->failed)
		return;
	capture_bytes(c, phase, call_word(c, a->i), 7u * c->arch->word, m);
	if (locate(c, phase, &control, &size) && size)
		capture_bytes(c, phase, control, size < MEMORY_CONTROL_BYTES ? size :
			      MEMORY_CONTROL_BYTES, m);
}

size_t call_passed_fds(const struct call *c, enum call_phase phase,
		       int fds[CALL_MAX_PASSED])
{
	size_t word = c->arch->word, left, n = 0;
	uint64_t control, size;
	const uint8_t *p;

	if (!locate(c, phase, &control, &size))
		return 0;
	p = call_bytes(c, phase, control, size, &left);
	while (p && left >= word + 8) {
		uint64_t len = load_uint(p, word), step;

		if (len < word + 8 || len > left)
			break;
		if (load_uint(p + word, 4) == ABI_SOL_SOCKET &&
		    load_uint(p + word + 4, 4) == ABI_SCM_RIGHTS)
			for (size_t at_fd = word + 8; at_fd + 4 <= len && n < CALL_MAX_PASSED; at_fd += 4)
				fds[n++] = (int)load_uint(p + at_fd, 4);
		step = (len + word - 1) / word * word;
		if (step >= left)
			break;
		p += step;
		left -= step;
	}
	return n;
}

/* Write only the descriptors of a message. */
void arg_emit_msghdr(const struct arg *a, struct sink *s)
{
	enum call_phase phase = a->call->desc->id == CALL_RECVMSG ? AT_SYSCALL_EXIT : AT_SYSCALL_ENTER;
	int fds[CALL_MAX_PASSED];
	size_t n = call_passed_fds(a->call, phase, fds);

	if (!n) {
		sink_addr(s, arg_name(a), call_word(a->call, a->i));
		return;
	}
	sink_begin(s, arg_name(a), SINK_OBJECT);
	sink_begin(s, "SCM_RIGHTS", SINK_ARRAY);
	for (size_t i = 0; i < n; i++)
		sink_fd(s, NULL, fds[i], arg_fd_label(a, fds[i]));
	sink_end(s);
	sink_end(s);
	if (phase == AT_SYSCALL_EXIT)
		call_note_unwritten(a->call, s);
}

/* Return whether its memory has an answer: with the kernel's ENOSPC all but the end of the name. */
static bool answered(const struct call *c)
{
	return c->returned && (!c->failed || (c->ret == ENOSPC && !c->inject.injected)) &&
	       (uint32_t)c->args[0] == ABI_BPF_TASK_FD_QUERY;
}

void arg_capture_bpf_attr(const struct arg *a, struct call *c, enum call_phase phase,
			  const struct mem *m)
{
	const struct bpf_part *part = bpf_part_of((uint32_t)c->args[0]);
	uint32_t size = (uint32_t)c->args[a->i + 1];
	const uint8_t *p;
	size_t len;

	if (!part || (phase == AT_SYSCALL_EXIT && !answered(c)))
		return;
	capture_bytes(c, phase, arg_word(a), size < MEMORY_STRUCT_BYTES ? size : MEMORY_STRUCT_BYTES, m);
	p = call_bytes(c, phase, arg_word(a), MEMORY_STRUCT_BYTES, &len);
	if (p && part->cmd == ABI_BPF_OBJ_PIN && phase == AT_SYSCALL_ENTER)
		capture_string(c, phase, layout_get(part->layout, BPF_OBJ_PIN_PATHNAME, p, len), m);
	if (p && phase == AT_SYSCALL_EXIT)
		capture_string(c, phase, layout_get(part->layout, BPF_TASK_FD_QUERY_BUF, p, len), m);
}

void arg_emit_bpf_attr(const struct arg *a, struct sink *s)
{
	const struct bpf_part *part = bpf_part_of((uint32_t)a->call->args[0]);
	struct walk w = {
		.layout = part ? part->layout : NULL, .call = a->call, .arch = a->call->arch,
		.names = a->names, .phase = answered(a->call) ? AT_SYSCALL_EXIT : AT_SYSCALL_ENTER,
	};

	if (!part) {
		sink_addr(s, arg_name(a), arg_word(a));
		return;
	}
	w.bytes = call_bytes(a->call, w.phase, arg_word(a), MEMORY_STRUCT_BYTES, &w.len);
	if (!w.bytes) {
		call_emit_unreadable(arg_name(a), arg_word(a), s);
		return;
	}
	/* what the caller's memory has in place of an answer means nothing */
	if (part->cmd == ABI_BPF_TASK_FD_QUERY && !answered(a->call) &&
	    w.len > part->layout->fields[BPF_TASK_FD_QUERY_BUF].offset)
		w.len = part->layout->fields[BPF_TASK_FD_QUERY_BUF].offset;
	sink_begin(s, arg_name(a), SINK_OBJECT);
	if (part->key)
		sink_begin(s, part->key, SINK_OBJECT);
	layout_emit(&w, s);
	if (part->key)
		sink_end(s);
	layout_emit_tail(&w, s);
	sink_end(s);
	if (w.phase == AT_SYSCALL_EXIT)
		call_note_unwritten(a->call, s);
}
