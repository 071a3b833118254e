// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lines about activities: their members are in xlat/activities.in. */
#include <string.h>
#include <sys/wait.h>

#include "core/abi/layout_emit.h"
#include "core/abi/siginfo.h"
#include "core/abi/strings.h"
#include "formats/dump/dump_view_internal.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

enum { AUX_PIECE = 1 << 20 }; /* bytes of an AUX area in a line */

/* Members ------------------------------------------------------------------------- */

uint64_t dump_load(const void *member, size_t size)
{
	uint64_t whole;
	uint32_t half;

	if (size == 1)
		return *(const uint8_t *)member;
	if (size == 4) {
		memcpy(&half, member, sizeof(half));
		return half;
	}
	memcpy(&whole, member, sizeof(whole));
	return whole;
}

static bool dump_has_member(const struct dump_field *f, const uint8_t *from)
{
	switch (f->when) {
	case WHEN_NOT_ZERO:
		return f->type == MEMBER_OWN || (f->len ? *(const size_t *)(from + f->len) :
							  dump_load(from + f->at, f->size));
	case WHEN_IF:
	case WHEN_FLAG:
		return dump_load(from + f->cond, f->cond_size);
	case WHEN_HOW:
	case WHEN_HOW_OLD:
		return dump_load(from + f->cond, f->cond_size) == f->how;
	default:
		return true;
	}
}

static void dump_write_hexes(struct json_text *o, const char *key, const uint64_t *values, size_t n)
{
	sink_begin(&o->sink, key, SINK_ARRAY);
	for (size_t i = 0; i < n; i++)
		json_add_hex(o, NULL, values[i]);
	sink_end(&o->sink);
}

static void dump_write_members(struct json_text *o, const struct dump_field *fields, size_t n,
			       const void *from, const struct names *names);

static void dump_write_list(struct json_text *o, const struct dump_field *f, const uint8_t *list,
			    size_t n, const struct names *names)
{

	sink_begin(&o->sink, f->key, SINK_ARRAY);
	for (size_t i = 0; i < n; i++) {
		sink_begin(&o->sink, NULL, SINK_OBJECT);
		dump_write_members(o, f->object->fields, f->object->n, list + i * f->object->size,
				   names);
		sink_end(&o->sink);
	}
	sink_end(&o->sink);
}

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
		dump_write_hexes(o, f->key, to, n);
		break;
	case MEMBER_LIST:
		dump_write_list(o, f, to, n, names);
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
		json_add_int(o, f->key, (int32_t)dump_load(at, f->size));
		break;
	case MEMBER_S64:
		json_add_int(o, f->key, (int64_t)dump_load(at, f->size));
		break;
	case MEMBER_UINT:
		json_add_uint(o, f->key, dump_load(at, f->size));
		break;
	case MEMBER_HEX:
		json_add_hex(o, f->key, dump_load(at, f->size));
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
		json_add_string(o, f->key, f->names[dump_load(at, f->size)]);
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

/* Lines ------------------------------------------------------------------------------- */

/* Return the task whose line it is, which -ff sorts by; 0: of none. */
static pid_t dump_tid_of(const struct activity *a)
{
	uint16_t at = dump_kinds[a->kind].tid;

	return at ? *(const pid_t *)((const uint8_t *)a + at) :
	       a->kind == ACTIVITY_ID ? a->id.event->opener :
	       a->kind == ACTIVITY_COUNT ? a->count.event->opener : 0;
}

static void dump_write_line(struct dump_view *d, const struct activity *a)
{
	const struct dump_kind *k = &dump_kinds[a->kind];
	pid_t tid = dump_tid_of(a);
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

static void dump_write_exec(struct dump_view *d, const struct activity *a)
{
	pid_t former = a->exec.former;

	dump_split_own(d, former); /* the execve, which has not returned yet */
	dump_before(d, a->exec.ns, former);
	begun_free((struct begun *)inflight_rename(&d->begun, former, a->exec.tid));
	dump_write_line(d, a);
}

static void dump_write_abandoned(struct dump_view *d, const struct activity *a)
{
	const struct call *c = a->abandoned.call;
	struct begun *b = (struct begun *)inflight_take(&d->begun, c->tid);

	if (!b)
		return;
	if (!b->in.split) {
		dump_before(d, c->enter_ns, c->tid);
		dump_write_enter(d, &b->in);
	}
	dump_before(d, a->abandoned.ns, c->tid);
	dump_write_line(d, a);
	begun_free(b);
}

void dump_on_activity(struct view *v, const struct activity *a)
{
	struct dump_view *d = dump_self(v);

	if (a->kind == ACTIVITY_AUX)
		dump_write_aux(d, a);
	else if (a->kind == ACTIVITY_EXEC)
		dump_write_exec(d, a);
	else if (a->kind == ACTIVITY_ABANDONED)
		dump_write_abandoned(d, a);
	else
		dump_write_line(d, a);
	d->tasks += a->kind == ACTIVITY_TASK;
	d->records += a->kind == ACTIVITY_RECORD;
	if (a->kind == ACTIVITY_LOOK) {
		d->missed += a->look.missed;
		d->unseen += !!a->look.error;
	}
}
