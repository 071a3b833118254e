// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lines about activities: their members are in xlat/activities.in. */
#include "core/abi/bpf.h"
#include "core/abi/swap.h"
#include "core/abi/tables.h"
#include "core/host/proc_image.h"
#include "formats/dump/reader_internal.h"

/* Calls that have begun --------------------------------------------------------------- */

struct call *reader_call_of(struct reader *r, pid_t tid)
{
	return map_get(&r->begun, (uint64_t)tid);
}

void reader_free_call(struct call *c)
{
	if (!c)
		return;
	call_free(c);
	free(c);
}

void reader_drop_call(struct reader *r, pid_t tid)
{
	reader_free_call(map_del(&r->begun, (uint64_t)tid));
}

/* Members ------------------------------------------------------------------------- */

/* Return n elements, and one of zeros behind them, until the line has been fed. */
static void *reader_alloc(struct line *l, size_t n, size_t size)
{
	struct line_memory *m = xcalloc(1, sizeof(*m) + (n + 1) * size);

	m->next = l->memory;
	l->memory = m;
	return m->elements;
}

static void line_get_fields(struct line *l, const struct dump_field *fields, size_t n,
			    struct json_value *o, uint8_t *to);

/* Read an array: words, numbers in hexadecimal, or objects. */
static bool line_get_array(struct line *l, const struct dump_field *f, struct json_value *o,
			   uint8_t *to)
{
	struct json_value *list = dump_get_array(o, f->key), *element;
	size_t size = f->type == MEMBER_WORDS ? sizeof(char *) :
		      f->type == MEMBER_HEXES ? sizeof(uint64_t) : f->object->size;
	const char *wrong = l->wrong;
	uint8_t *elements, *at;

	if (!list || (f->type == MEMBER_HEXES && (!list->len || list->len > READER_CONFIGS)))
		return false;
	elements = at = reader_alloc(l, list->len, size);
	memcpy(to + f->at, &elements, sizeof(elements));
	l->wrong = NULL;
	json_for_each(element, list) {
		bool good = true;

		if (f->type == MEMBER_WORDS) {
			memcpy(at, &element->text, sizeof(element->text)); /* text of the line */
			good = element->type == JSON_STRING;
		} else if (f->type == MEMBER_HEXES) {
			good = dump_hex(element, (uint64_t *)at);
		} else if ((good = element->type == JSON_OBJECT)) {
			line_get_fields(l, f->object->fields, f->object->n, element, at);
		}
		if (!good)
			l->wrong = f->key;
		at += size;
	}
	if (f->len)
		*(size_t *)(to + f->len) = list->len;
	l->wrong = l->wrong ? f->key : wrong;
	return true;
}

void reader_number(struct line *l, const char *key, unsigned int number)
{
	struct map *m = !strcmp(key, "ring") ? &l->r->rings : &l->r->events;
	uint64_t named;

	if (!dump_get_uint(l->o, key, &named))
		return;
	l->r->renumbered |= named != number;
	map_set(m, named, (void *)(uintptr_t)number);
}

/* Return the number in the model of what the dump gives that number, or 0. */
static unsigned int reader_number_of(const struct reader *r, const struct map *m, uint64_t number)
{
	uintptr_t known = (uintptr_t)map_get(m, number);

	return known ? (unsigned int)known : r->renumbered ? 0 : (unsigned int)number;
}

/* Read an event or ring by its number; the line is skipped if one that it needs is not known. */
static bool line_get_number(struct line *l, const struct dump_field *f, struct json_value *o,
			    void *at)
{
	const struct model *m = l->r->session->model;
	void *found = NULL;
	uint64_t number;

	if (!dump_get_uint(o, f->key, &number))
		return false;
	if (number > UINT32_MAX)
		l->wrong = f->key;
	else if (f->type == MEMBER_RING)
		found = model_ring(m, reader_number_of(l->r, &l->r->rings, number));
	else
		found = model_event_number(m, reader_number_of(l->r, &l->r->events, number));
	l->skipped |= !found && f->type != MEMBER_EVENT_OR_NULL;
	memcpy(at, &found, sizeof(found));
	return true;
}

static bool line_get_uint(struct line *l, const struct dump_field *f, struct json_value *o,
			  void *at)
{
	uint64_t v;

	if (!(f->type == MEMBER_HEX ? dump_get_hex : dump_get_uint)(o, f->key, &v))
		return false;
	if (f->max && v > (uint64_t)f->max)
		l->wrong = f->key;
	if (f->size == 4)
		*(uint32_t *)at = (uint32_t)v;
	else
		*(uint64_t *)at = v;
	return true;
}

static bool line_get_text(struct line *l, const struct dump_field *f, struct json_value *o,
			  void *at)
{
	const char *text = dump_get_text(o, f->key);

	if (f->type == MEMBER_CHARS) {
		if (text)
			snprintf(at, f->size, "%s", text);
		return text;
	}
	if (text && (int64_t)strlen(text) < f->min)
		l->wrong = f->key;
	memcpy(at, &text, sizeof(text));
	return text || f->type == MEMBER_TEXT_OR_NULL;
}

static bool line_get_enum(const struct dump_field *f, struct json_value *o, void *at)
{
	const char *word = dump_get_string(o, f->key);

	for (unsigned int i = 0; word && f->names[i]; i++) {
		*(unsigned int *)at = i;
		if (!strcmp(word, f->names[i]))
			return true;
	}
	return false;
}

static bool line_get_bytes(const struct dump_field *f, struct json_value *o, void *at, size_t *len)
{
	uint8_t *bytes;
	size_t n;

	if (!dump_get_bytes(o, f->key, &bytes, &n) || (f->type == MEMBER_ARRAY && n != f->size))
		return false;
	if (f->type == MEMBER_ARRAY) {
		memcpy(at, bytes, n);
		return true;
	}
	memcpy(at, &bytes, sizeof(bytes));
	*len = n;
	return true;
}

/* Read the member of o that f describes; return false if it is missing or of another type. */
static bool line_get_value(struct line *l, const struct dump_field *f, struct json_value *o,
			   uint8_t *to)
{
	void *at = to + f->at;
	int64_t v;

	switch (f->type) {
	case MEMBER_INT:
		if (!dump_get_int(o, f->key, &v))
			return false;
		if (v < f->min || v > f->max)
			l->wrong = f->key;
		*(int32_t *)at = (int32_t)v;
		return true;
	case MEMBER_S64:
		return dump_get_int(o, f->key, at);
	case MEMBER_UINT:
	case MEMBER_HEX:
		return line_get_uint(l, f, o, at);
	case MEMBER_BOOL:
		return dump_get_bool(o, f->key, at);
	case MEMBER_BYTES:
	case MEMBER_ARRAY:
		return line_get_bytes(f, o, at, (size_t *)(to + f->len));
	case MEMBER_WORDS:
	case MEMBER_HEXES:
	case MEMBER_LIST:
		return line_get_array(l, f, o, to);
	case MEMBER_EVENT:
	case MEMBER_EVENT_OR_NULL:
	case MEMBER_RING:
		return line_get_number(l, f, o, at);
	case MEMBER_ENUM:
		return line_get_enum(f, o, at);
	default:
		return line_get_text(l, f, o, at);
	}
}

/* Return whether the member is read, and set *required. */
static bool reader_takes(const struct dump_field *f, const uint8_t *to, bool *required)
{
	*required = f->when == WHEN_ALWAYS || f->when == WHEN_IF || f->when == WHEN_HOW;
	switch (f->when) {
	case WHEN_IF:
		return load_uint(to + f->cond, f->cond_size);
	case WHEN_HOW:
	case WHEN_HOW_OLD:
		return load_uint(to + f->cond, f->cond_size) == f->how;
	default:
		return f->when != WHEN_WRITTEN;
	}
}

static void line_get_fields(struct line *l, const struct dump_field *fields, size_t n,
			    struct json_value *o, uint8_t *to)
{
	for (const struct dump_field *f = fields; f < fields + n; f++) {
		bool *flag = (bool *)(to + f->cond), required, read;

		if (f->type == MEMBER_OWN || !reader_takes(f, to, &required))
			continue;
		read = line_get_value(l, f, o, to);
		if (!read && required)
			l->wrong = f->key;
		if (f->when != WHEN_FLAG)
			continue;
		/* of those of one condition, all are there, or none */
		if (f == fields || f[-1].when != WHEN_FLAG || f[-1].cond != f->cond)
			*flag = read;
		else if (read != *flag)
			l->wrong = f->key;
	}
}

/* What no table describes ------------------------------------------------------------- */

/* Check the mappings: perf aborts where code is of a directory. */
static void reader_adjust_measured(struct line *l, struct proc_image *p)
{
	int64_t here = p->pid;

	if (dump_get_int(l->o, "here", &here) && (here < 1 || here > INT32_MAX))
		l->wrong = "here";
	p->here = (pid_t)here;
	for (size_t i = 0; i < p->nmaps && !l->wrong; i++) {
		const struct proc_image_map *m = &p->maps[i];

		if (m->start >= m->end || (*m->path == '/' && m->path[strlen(m->path) - 1] == '/'))
			l->wrong = "maps";
	}
	if (l->r->swapped)
		p->records.len = 0;
}

static void reader_adjust_signal(struct line *l, siginfo_t *info)
{
	uint8_t *bytes;
	size_t len;

	if (!dump_get_bytes(l->o, "hex", &bytes, &len)) {
		l->wrong = "hex";
		return;
	}
	memcpy(info, bytes, len < sizeof(*info) ? len : sizeof(*info));
	if (l->r->swapped)
		swap_siginfo(info);
}

static void reader_adjust_record(struct line *l, struct activity_record *r)
{
	struct session *s = l->r->session;

	record_format_of(&l->format, r->event->attr, r->event->attr_len, s->arch);
	r->format = &l->format;
	if (l->r->swapped) /* the bytes are of the line */
		session_swap_record(s, r->event, &l->format, (uint8_t *)r->bytes, r->len);
}

/* Check and complete what was read; set l->wrong or l->skipped if it is not to be fed. */
static void reader_adjust(struct line *l, struct activity *a)
{
	switch (a->kind) {
	case ACTIVITY_DESCRIBED:
		if (l->r->swapped)
			swap_layout(&layout_perf_event_attr, (uint8_t *)a->described.attr, 0,
				    a->described.attr_len);
		l->skipped = event_known(a->described.event);
		break;
	case ACTIVITY_FOUND_RING:
		if (a->found_ring.start >= a->found_ring.end)
			l->wrong = "start or end";
		break;
	case ACTIVITY_MEASURED:
		reader_adjust_measured(l, &a->measured.image);
		break;
	case ACTIVITY_BUILD_ID:
		if (a->build_id.size > BUILD_ID_BYTES)
			l->wrong = "id";
		break;
	case ACTIVITY_PROGRAM:
		if (!bpf_program_name_valid(a->program.name))
			l->wrong = "name";
		break;
	case ACTIVITY_ABANDONED: /* the line of the task's end follows, and ends the call */
		l->skipped = true;
		if (!reader_call_of(l->r, a->abandoned.tid))
			l->wrong = "tid (its task is in no call)";
		break;
	case ACTIVITY_RECORD:
		reader_adjust_record(l, &a->record);
		break;
	case ACTIVITY_LOOK:
		if (l->r->swapped)
			swap_layout(&layout_perf_event_mmap_page, (uint8_t *)a->look.page, 0,
				    a->look.page_len);
		break;
	case ACTIVITY_SIGNAL:
		reader_adjust_signal(l, &a->signal.info);
		break;
	case ACTIVITY_GONE:
		a->gone.call = reader_call_of(l->r, a->gone.tid);
		break;
	default:
		break;
	}
}

static void reader_feed(struct line *l, struct activity *a)
{
	const struct names *names = &l->r->session->names;
	struct call *before = NULL, *c = NULL;

	if (dump_kinds[a->kind].of) {
		if (!reader_names_add(&l->r->names, a))
			l->wrong = "name";
		else if (a->kind == ACTIVITY_NAME_FORMAT)
			names->format(names, a->name_format.id); /* nothing else may need it */
		return;
	}
	/* the call that the task is in goes on in the thread that remains */
	if (a->kind == ACTIVITY_EXEC && a->exec.former != a->exec.tid)
		c = map_del(&l->r->begun, (uint64_t)a->exec.former);
	if (c) {
		c->tid = a->exec.tid;
		before = map_set(&l->r->begun, (uint64_t)a->exec.tid, c);
	}
	session_feed(l->r->session, a);
	if (a->kind == ACTIVITY_FOUND && a->found.event)
		reader_number(l, "event", a->found.event->number);
	else if (a->kind == ACTIVITY_FOUND_RING && a->found_ring.ring)
		reader_number(l, "ring", a->found_ring.ring->number);
	reader_free_call(before);
	if (a->kind == ACTIVITY_GONE)
		reader_drop_call(l->r, a->gone.tid);
}

/* Return the kind of a line, which is mostly that of the last one that is no name, or NULL. */
static const struct dump_kind *reader_kind(struct line *l, const char *kind)
{
	const struct dump_kind *k = l->r->last_kind;
	const char *of;

	if (k && !strcmp(k->line, kind))
		return k;
	of = strcmp(kind, KIND_NAME) ? NULL : dump_get_string(l->o, "of");
	for (k = dump_kinds; k < dump_kinds + ACTIVITY_KINDS; k++) {
		if (of && k->of && !strcmp(k->of, of))
			return k;
		if (!of && !k->of && !strcmp(k->line, kind))
			return l->r->last_kind = k;
	}
	return NULL;
}

bool reader_feed_activity(struct line *l, const char *kind)
{
	const struct dump_kind *k = reader_kind(l, kind);
	struct activity a;

	if (!k) {
		l->wrong = "of";
		return !strcmp(kind, KIND_NAME);
	}
	memset(&a, 0, sizeof(a));
	a.kind = (enum activity_kind)(k - dump_kinds);
	line_get_fields(l, k->fields, k->n, l->o, (uint8_t *)&a);
	if (!l->wrong && !l->skipped)
		reader_adjust(l, &a);
	if (!l->wrong && !l->skipped)
		reader_feed(l, &a);
	for (struct line_memory *m = l->memory, *next; m; m = next) {
		next = m->next;
		free(m);
	}
	return true;
}
