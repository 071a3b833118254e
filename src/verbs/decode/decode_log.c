// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/decode/decode_log.h"

#include "core/abi/attr.h"
#include "core/abi/call_decode.h"
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
	static const char unreadable[] = " /* unreadable */)";
	struct call c = { .arch = arch, .desc = call_by_name("ioctl"), .returned = true };

	c.args[0] = (uint64_t)(int64_t)i->fd;
	c.args[1] = i->request;
	c.args[2] = i->arg;
	if (i->pointed) {
		c.args[2] = 0x1000;
		for (int phase = AT_SYSCALL_ENTER; phase <= AT_SYSCALL_EXIT; phase++)
			call_add_capture(&c, (enum call_phase)phase, c.args[2], 8, &i->arg, 8);
	}
	showing_begin(out, true);
	if (out->json) {
		sink_begin(out->sink, "ioctl", SINK_OBJECT);
		for (int phase = AT_SYSCALL_ENTER; phase <= AT_SYSCALL_EXIT; phase++)
			call_args(&c, (enum call_phase)phase, n, out->sink);
		sink_end(out->sink);
	} else {
		call_text_rest(&c, call_text_begin(&c, n, &out->text), n, &out->text);
		/* memory behind a pointer is not in the log, whether it was readable or not */
		if (out->line.len > strlen(unreadable) &&
		    !strcmp(buf_str(&out->line) + out->line.len - strlen(unreadable), unreadable)) {
			out->line.len -= strlen(unreadable);
			buf_addc(&out->line, ')');
		}
		add_result(&i->result, out);
	}
	showing_end(out);
	call_free(&c);
}
