// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lines about activities, whose members are in xlat/activities.in, and their order. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/abi/siginfo.h"
#include "core/abi/strings.h"
#include "core/abi/tables.h"
#include "core/lib/list.h"
#include "formats/dump/dump_view_internal.h"

enum { AUX_PIECE = 1 << 20 }; /* bytes of an AUX area in a line */

/* Members ------------------------------------------------------------------------- */

static bool dump_has_member(const struct dump_field *f, const uint8_t *from)
{
	switch (f->when) {
	case WHEN_NOT_ZERO:
		return f->type == MEMBER_OWN || (f->len ? *(const size_t *)(from + f->len) :
							  load_uint(from + f->at, f->size));
	case WHEN_IF:
	case WHEN_FLAG:
		return load_uint(from + f->cond, f->cond_size);
	case WHEN_HOW:
	case WHEN_HOW_OLD:
		return load_uint(from + f->cond, f->cond_size) == f->how;
	default:
		return true;
	}
}

static void dump_write_members(struct json_text *o, const struct dump_field *fields, size_t n,
			       const void *from, const struct names *names);

static void dump_write_pointer(struct json_text *o, const struct dump_field *f, const void *to,
			       size_t n, const struct names *names)
{
	switch (f->type) {
	case MEMBER_BYTES:
		json_add_bytes(o, f->key, to, n);
		break;
	case MEMBER_WORDS:
		json_add_words(o, f->key, (char *const *)to);
		break;
	case MEMBER_HEXES:
		sink_begin(&o->sink, f->key, SINK_ARRAY);
		for (size_t i = 0; i < n; i++)
			json_add_hex(o, NULL, ((const uint64_t *)to)[i]);
		sink_end(&o->sink);
		break;
	case MEMBER_LIST:
		sink_begin(&o->sink, f->key, SINK_ARRAY);
		for (size_t i = 0; i < n; i++) {
			sink_begin(&o->sink, NULL, SINK_OBJECT);
			dump_write_members(o, f->object->fields, f->object->n,
					   (const uint8_t *)to + i * f->object->size, names);
			sink_end(&o->sink);
		}
		sink_end(&o->sink);
		break;
	case MEMBER_RING:
		json_add_uint(o, f->key, ((const struct ring *)to)->number);
		break;
	case MEMBER_EVENT:
	case MEMBER_EVENT_OR_NULL:
		json_add_uint(o, f->key, to ? ((const struct event *)to)->number : 0);
		break;
	default:
		json_add_string(o, f->key, to);
		break;
	}
}

static void dump_write_member(struct json_text *o, const struct dump_field *f, const uint8_t *from,
			      const struct names *names)
{
	const uint8_t *at = from + f->at;
	const void *to;

	switch (f->type) {
	case MEMBER_INT:
		json_add_int(o, f->key, (int32_t)load_uint(at, f->size));
		break;
	case MEMBER_S64:
		json_add_int(o, f->key, (int64_t)load_uint(at, f->size));
		break;
	case MEMBER_UINT:
		json_add_uint(o, f->key, load_uint(at, f->size));
		break;
	case MEMBER_HEX:
		json_add_hex(o, f->key, load_uint(at, f->size));
		break;
	case MEMBER_BOOL:
		json_add_bool(o, f->key, *(const bool *)at);
		break;
	case MEMBER_CHARS:
		json_add_string(o, f->key, (const char *)at);
		break;
	case MEMBER_ARRAY:
		json_add_bytes(o, f->key, at, f->size);
		break;
	case MEMBER_ENUM:
		json_add_string(o, f->key, f->names[load_uint(at, f->size)]);
		break;
	default:
		memcpy(&to, at, sizeof(to));
		dump_write_pointer(o, f, to, f->len ? *(const size_t *)(from + f->len) : 0, names);
		break;
	}
}

static void dump_write_members(struct json_text *o, const struct dump_field *fields, size_t n,
			       const void *from, const struct names *names)
{
	for (const struct dump_field *f = fields; f < fields + n; f++) {
		if (!dump_has_member(f, from))
			continue;
		if (f->type == MEMBER_OWN)
			f->own(o, from, names);
		else
			dump_write_member(o, f, from, names);
	}
}

/* Members of their own ---------------------------------------------------------------- */

void dump_own_described_attr(struct json_text *o, const struct activity *a, const struct names *n)
{
	const struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = a->described.attr,
		.len = a->described.attr_len, .names = n,
	};

	sink_begin(&o->sink, "attr", SINK_OBJECT);
	layout_emit(&w, &o->sink);
	sink_end(&o->sink);
}

void dump_own_measured_here(struct json_text *o, const struct activity *a, const struct names *n)
{
	(void)n;
	if (a->measured.image.here != a->measured.image.pid)
		json_add_int(o, "here", a->measured.image.here);
}

void dump_own_abandoned_call(struct json_text *o, const struct activity *a, const struct names *n)
{
	(void)n;
	json_add_string(o, "call", a->abandoned.call->desc->name);
}

void dump_own_record_record(struct json_text *o, const struct activity *a, const struct names *n)
{
	const struct activity_record *r = &a->record;

	o->unnamed = "record";
	record_emit(r->bytes, r->len, r->format, n, &o->sink, r->hooks);
}

void dump_own_signal_signal(struct json_text *o, const struct activity *a, const struct names *n)
{
	char name[32];

	(void)n;
	signal_name(a->signal.info.si_signo, name, sizeof(name));
	json_add_string(o, "signal", name);
}

void dump_own_signal_info(struct json_text *o, const struct activity *a, const struct names *n)
{
	(void)n;
	o->unnamed = "info";
	siginfo_emit(&a->signal.info, &o->sink);
}

void dump_own_signal_hex(struct json_text *o, const struct activity *a, const struct names *n)
{
	(void)n;
	json_add_bytes(o, "hex", &a->signal.info, sizeof(a->signal.info));
}

/* Add what the status of a task that ended says: "exit", or "signal" and "core". */
void dump_own_gone_exit(struct json_text *o, const struct activity *a, const struct names *n)
{
	int status = a->gone.status;
	char name[32];

	(void)n;
	if (a->gone.how != END_EXIT)
		return;
	if (WIFEXITED(status)) {
		json_add_int(o, "exit", WEXITSTATUS(status));
		return;
	}
	signal_name(WTERMSIG(status), name, sizeof(name));
	json_add_string(o, "signal", name);
	json_add_bool(o, "core", WCOREDUMP(status));
}

/* Beginnings of calls ------------------------------------------------------------------- */

void dump_call_add_memory(struct json_text *o, const struct call *c, bool enter, bool exit)
{
	sink_begin(&o->sink, "memory", SINK_ARRAY);
	for_each(k, c->captures, c->ncaptures) {
		if (k->phase == AT_SYSCALL_ENTER ? !enter : !exit)
			continue;
		sink_begin(&o->sink, NULL, SINK_OBJECT);
		json_add_string(o, "at", k->phase == AT_SYSCALL_ENTER ? "enter" : "exit");
		json_add_hex(o, "addr", k->addr);
		json_add_uint(o, "want", k->want);
		json_add_bytes(o, "hex", buf_str(&c->pool) + k->at, k->len);
		sink_end(&o->sink);
	}
	sink_end(&o->sink);
}

void dump_call_beginning(struct json_text *o, const struct call *c, struct json_text *stack)
{
	const struct inject *t = &c->inject;
	char signal[32];

	json_add_string(o, "call", c->desc->name);
	json_add_int(o, "tid", c->tid);
	json_add_int(o, "pid", c->pid);
	if (c->target)
		json_add_int(o, "target", c->target);
	json_add_string(o, "arch", c->arch->name);
	json_add_uint(o, "nr", c->nr);
	sink_begin(&o->sink, "raw", SINK_ARRAY);
	for (size_t i = 0; i < call_registers(c); i++)
		json_add_hex(o, NULL, c->args[i]);
	sink_end(&o->sink);
	json_add_uint(o, "enter_ns", c->enter_ns);
	json_add_bool(o, "shown", c->shown);
	if (t->injected)
		json_add_bool(o, "injected", true);
	if (t->because[0])
		json_add_string(o, "because", t->because);
	if (t->signal) {
		signal_name(t->signal, signal, sizeof(signal));
		json_add_string(o, "injected_signal", signal);
	}
	if (t->enter_delay_ns)
		json_add_uint(o, "enter_delay_ns", t->enter_delay_ns);
	if (t->exit_delay_ns)
		json_add_uint(o, "exit_delay_ns", t->exit_delay_ns);
	json_add_members(o, stack);
}

/* Order of lines --------------------------------------------------------------------- */

/*
 * Lines are in the order of time: a call is split into two lines, "enter" and "exit", if other
 * lines come in between.
 */
struct json_text *dump_line(struct json_text *o, const char *kind)
{
	json_text_begin(o);
	json_add_string(o, "kind", kind);
	return o;
}

void dump_write(struct dump_view *d, pid_t tid, struct json_text *o)
{
	struct buf line = json_text_end(o);

	buf_addc(&line, '\n');
	output_write(d->out, tid, line.data, line.len);
	buf_free(&line);
}

void dump_write_enter(void *ctx, struct inflight *in)
{
	struct begun *b = (struct begun *)in;
	struct json_text line, *o = dump_line(&line, KIND_ENTER);

	dump_call_beginning(o, b->call, &b->stack);
	json_add_object(o, "args", &b->args);
	dump_call_add_memory(o, b->call, true, false);
	dump_write(ctx, in->tid, o);
}

void dump_before(struct dump_view *d, uint64_t ns, pid_t tid)
{
	inflight_split(&d->begun, ns, tid, dump_write_enter, d);
	d->last_ns = ns;
}

void begun_free(struct begun *b)
{
	if (!b)
		return;
	json_text_drop(&b->args);
	json_text_drop(&b->about.event);
	json_text_drop(&b->stack);
	free(b);
}

void dump_split_own(struct dump_view *d, pid_t tid)
{
	struct inflight *in = inflight_get(&d->begun, tid);

	if (!in || in->split || d->begun.held)
		return;
	dump_before(d, in->enter_ns, tid);
	dump_write_enter(d, in);
	in->split = true;
}

/* Lines ------------------------------------------------------------------------------- */

static void dump_write_line(struct dump_view *d, const struct activity *a)
{
	const struct dump_kind *k = &dump_kinds[a->kind];
	/* the task whose line it is, which -ff sorts by; 0: of none */
	pid_t tid = k->tid ? *(const pid_t *)((const uint8_t *)a + k->tid) :
		    a->kind == ACTIVITY_ID ? a->id.event->opener :
		    a->kind == ACTIVITY_COUNT ? a->count.event->opener : 0;
	struct json_text line, *o;

	if (k->order == ORDER_TIME)
		dump_before(d, *(const uint64_t *)((const uint8_t *)a + k->ns), tid);
	else if (k->order == ORDER_SPLITS)
		dump_split_own(d, tid);
	o = dump_line(&line, k->line);
	if (k->of)
		json_add_string(o, "of", k->of);
	dump_write_members(o, k->fields, k->n, a, d->names);
	dump_write(d, tid, o);
}

/* Write the bytes of an AUX area in pieces. */
static void dump_write_aux(struct dump_view *d, const struct activity *a)
{
	struct activity piece = *a;
	size_t at = 0;

	do {
		piece.aux.position = a->aux.position + at;
		piece.aux.missed = at ? 0 : a->aux.missed;
		piece.aux.len = a->aux.len - at < AUX_PIECE ? a->aux.len - at : AUX_PIECE;
		piece.aux.bytes = piece.aux.len ? a->aux.bytes + at : NULL;
		dump_write_line(d, &piece);
		at += piece.aux.len;
	} while (at < a->aux.len);
}

void dump_on_activity(struct view *v, const struct activity *a)
{
	const struct call *c = a->kind == ACTIVITY_ABANDONED ? a->abandoned.call : NULL;
	struct dump_view *d = view_self(v);
	struct begun *b = c ? (struct begun *)inflight_take(&d->begun, c->tid) : NULL;

	if (c && !b)
		return;
	if (b && !b->in.split) {
		dump_before(d, c->enter_ns, c->tid);
		dump_write_enter(d, &b->in);
	}
	if (b)
		dump_before(d, a->abandoned.ns, c->tid);
	if (a->kind == ACTIVITY_EXEC) {
		dump_split_own(d, a->exec.former); /* the execve, which has not returned yet */
		dump_before(d, a->exec.ns, a->exec.former);
		begun_free((struct begun *)inflight_rename(&d->begun, a->exec.former, a->exec.tid));
	}
	if (a->kind == ACTIVITY_AUX)
		dump_write_aux(d, a);
	else
		dump_write_line(d, a);
	begun_free(b);
	d->tasks += a->kind == ACTIVITY_TASK;
	d->records += a->kind == ACTIVITY_RECORD;
	if (a->kind == ACTIVITY_LOOK) {
		d->missed += a->look.missed;
		d->unseen += !!a->look.error;
	}
}
