// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/text/call_text.h"

#include "core/abi/call_decode.h"
#include "core/abi/siginfo.h"
#include "core/abi/strings.h"

bool call_text_begin(const struct call *c, const struct names *n, struct text_sink *t)
{
	text_colored(t->out, t->color, COLOR_CALL, c->desc->name);
	buf_addc(t->out, '(');
	text_sink_top(t, false, c->desc);
	call_args(c, AT_SYSCALL_ENTER, n, &t->sink);
	return t->level[0].any;
}

void call_text_rest(const struct call *c, bool any, const struct names *n,
		    struct text_sink *t)
{
	text_sink_top(t, false, c->desc);
	t->level[0].any = any;
	call_args(c, AT_SYSCALL_EXIT, n, &t->sink);
	buf_addc(t->out, ')');
}

static void result_value(const struct call *c, const struct names *n, struct text_sink *t)
{
	struct buf error = { 0 };

	if (!c->returned) {
		buf_addc(t->out, '?');
		return;
	}
	text_sink_top(t, true, NULL);
	if (c->failed) {
		error_text(c->ret, &error);
		text_colored(t->out, t->color, COLOR_ERROR, buf_str(&error));
		buf_free(&error);
		return;
	}
	switch (call_result_kind(c)) {
	case RESULT_FD:
		sink_fd(&t->sink, NULL, c->ret,
			t->labels && n->fd ? n->fd(n, c, c->ret) : NULL);
		break;
	case RESULT_ADDR:
	case RESULT_FLAGS:
		sink_hex(&t->sink, NULL, (uint64_t)c->ret);
		break;
	case RESULT_NUMBER:
		sink_sint(&t->sink, NULL, c->ret);
		break;
	}
}

/* Append what injection did to the call, as strace does. */
static void result_injection(const struct call *c, struct buf *out)
{
	char name[32];

	if (c->inject.injected)
		buf_adds(out, " (INJECTED)");
	if (c->inject.signal) {
		signal_name(c->inject.signal, name, sizeof(name));
		buf_addf(out, " (INJECTED: %s)", name);
	}
	if (c->inject.enter_delay_ns || c->inject.exit_delay_ns)
		buf_adds(out, " (DELAYED)");
}

/* Append " (in [5], left {...})" if the kernel wrote more than the result. */
static void result_memory(const struct call *c, const struct names *n, struct text_sink *t)
{
	size_t start = t->out->len;

	buf_adds(t->out, " (");
	text_sink_top(t, true, c->desc);
	call_results(c, n, &t->sink);
	if (t->level[0].any) {
		buf_addc(t->out, ')');
		return;
	}
	t->out->len = start;
	t->out->data[start] = '\0';
}

void call_text_result(const struct call *c, const struct names *n, struct text_sink *t)
{
	buf_adds(t->out, "= ");
	result_value(c, n, t);
	result_injection(c, t->out);
	result_memory(c, n, t);
	call_result_notes(c, n, &t->sink);
}
