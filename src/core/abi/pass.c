// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/pass.h"

#include <string.h>

#include "core/abi/capture.h"
#include "core/abi/layout.h"
#include "core/abi/strings.h"
#include "xlat/constants.h"

enum { CONTROL_MAX = 4096 };

/* The control buffer of a struct msghdr, whose members are words of the ABI. */
struct message_at {
	uint64_t control;	/* address */
	uint64_t len;
};

static bool locate(const struct call *c, enum call_phase phase, struct message_at *at)
{
	size_t word = c->arch->word, len;
	const uint8_t *p = call_bytes(c, phase, call_word(c, 1), 7 * word, &len);

	if (!p || len < 6 * word)
		return false;
	/* name, namelen, iov, iovlen, control, controllen, flags */
	at->control = load_uint(p + 4 * word, word);
	at->len = load_uint(p + 5 * word, word);
	return at->control;
}

void arg_capture_msghdr(const struct arg *a, struct call *c,
			enum call_phase phase, const struct mem *m)
{
	struct message_at at;

	if (phase == AT_SYSCALL_EXIT && c->failed)
		return;
	capture_bytes(c, phase, call_word(c, a->i), 7u * c->arch->word, m);
	if (locate(c, phase, &at) && at.len)
		capture_bytes(c, phase, at.control,
			      at.len < CONTROL_MAX ? at.len : CONTROL_MAX, m);
}

size_t call_passed_fds(const struct call *c, enum call_phase phase,
		       int fds[CALL_MAX_PASSED])
{
	size_t word = c->arch->word, left, n = 0;
	struct message_at at;
	const uint8_t *p;

	if (!locate(c, phase, &at))
		return 0;
	p = call_bytes(c, phase, at.control, at.len, &left);
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
		s->ops->addr(s, arg_name(a), call_word(a->call, a->i));
		return;
	}
	s->ops->begin(s, arg_name(a), SINK_OBJECT);
	s->ops->begin(s, "SCM_RIGHTS", SINK_ARRAY);
	for (size_t i = 0; i < n; i++)
		s->ops->fd(s, NULL, fds[i], arg_fd_label(a, fds[i]));
	s->ops->end(s);
	s->ops->end(s);
}
