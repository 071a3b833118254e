// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/decode/decode_log.h"

#include "core/abi/attr.h"
#include "core/abi/ioctl.h"
#include "core/abi/siginfo.h"
#include "core/abi/tables.h"
#include "core/judge/judge.h"
#include "formats/text/text_view.h"

void decode_log_begin(const struct attr_text *a, struct call *c, uint64_t at,
		      const struct names *n, struct showing *out)
{
	const struct attr_text_call *call = &a->call;

	c->args[0] = at;
	if (!call->given || out->json) {
		attr_emit(c, AT_SYSCALL_ENTER, "attr", at, n, out->sink);
		return;
	}
	c->desc = call_by_name("perf_event_open");
	c->args[1] = (uint64_t)(int64_t)call->pid;
	c->args[2] = (uint64_t)(int64_t)call->cpu;
	c->args[3] = (uint64_t)(int64_t)call->group_fd;
	c->args[4] = call->flags;
	call_text_rest(c, call_text_begin(c, n, &out->text), n, &out->text);
}

/* Add the result of a call: a descriptor, an errno, or nothing that the log says. */
static void add_result(const struct attr_text_call *r, struct showing *out)
{
	struct buf error = { 0 };

	if (r->error)
		error_text(r->error, &error);
	else if (r->returned)
		buf_addf(&error, "%d", r->fd);
	else
		return;
	buf_adds(&out->line, " = ");
	text_colored(&out->line, r->error && out->text.color, COLOR_ERROR, buf_str(&error));
	buf_free(&error);
}

/* Note the rule that gives the error which the log has, on whatever machine it was. */
static void note_cause(const struct log_calls *l, const struct attr_text *a, const struct call *c,
		       const struct names *n, struct sink *s)
{
	static const struct names none;
	struct attempt attempt = log_calls_attempt(l, a);
	struct judgement j;

	judge_attempt(&attempt, 0, c->arch, n ?: &none, &j);
	if (j.rule)
		sink_notef(s, "cause", "%s: %s (rule %s)", !j.sure || a->elided ? "perhaps" : "cause",
			   j.rule->meaning, j.rule->name);
}

void decode_log_end(struct log_calls *l, const struct attr_text *a, const struct call *c,
		    const struct names *n, struct showing *out)
{
	const struct attr_text_call *call = &a->call;
	struct sink *s = out->sink;

	if (call->given && !out->json) {
		add_result(call, out);
	} else if (call->given) {
		sink_begin(s, "call", SINK_OBJECT);
		sink_sint(s, "pid", call->pid);
		sink_sint(s, "cpu", call->cpu);
		sink_sint(s, "group_fd", call->group_fd);
		sink_flags(s, "flags", &xlat_perf_event_open_flags, call->flags);
		if (call->returned)
			sink_sint(s, "errno", call->error);
		sink_end(s);
	}
	if (call->error)
		note_cause(l, a, c, n, s);
	log_calls_add(l, a);
	if (a->elided)
		sink_note(s, "elided", "members missing from the text are taken as zero");
	if (*a->left_out)
		sink_notef(s, "left_out", "left out: %s", a->left_out);
	if (a->given > a->len)
		sink_notef(s, "left_over", "%zu bytes beyond its size are ignored",
			   a->given - a->len);
	if (out->json)
		json_add_bytes(&out->object, "attr_bytes", a->bytes, a->len);
}

void decode_log_ioctl(const struct attr_text_ioctl *i, const struct arch *arch,
		      const struct names *n, struct showing *out)
{
	struct call c = {
		.arch = arch, .desc = call_by_name("ioctl"), .returned = true,
		.args = { (uint64_t)(int64_t)i->fd, i->request, i->arg },
	};

	const struct ioctl_desc *d = ioctl_of(&c);
	struct sink *s;

	showing_begin(out, true);
	s = out->sink;
	if (out->json) {
		sink_begin(s, "ioctl", SINK_OBJECT);
	} else {
		buf_adds(&out->line, "ioctl(");
		text_sink_top(&out->text, false, c.desc);
	}
	sink_sint(s, "fd", i->fd);
	ioctl_emit_request(&c, "request", s);
	/* memory behind a pointer is not in the log */
	if (d && d->dir != IOCTL_VALUE)
		sink_addr(s, "arg", i->arg);
	else
		ioctl_emit_arg(&c, "arg", i->arg, n, s);
	if (out->json) {
		sink_end(s);
	} else {
		buf_addc(&out->line, ')');
		add_result(&i->result, out);
	}
	showing_end(out);
}
