// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lines about activities: their members are in xlat/activities.in. */
#include <stdlib.h>
#include <string.h>

#include "core/abi/bpf.h"
#include "core/abi/swap.h"
#include "core/host/build_id.h"
#include "core/lib/die.h"
#include "formats/dump/reader_internal.h"
#include "xlat/tables.h"

/* Members ------------------------------------------------------------------------- */

/* Return n elements, and one of zeros behind them, until the line has been fed. */
static void *reader_alloc(struct line *l, size_t n, size_t size)
{
	struct line_memory *m = xcalloc(1, sizeof(*m) + (n + 1) * size);

	m->next = l->memory;
	l->memory = m;
	return m->elements;
}

static bool line_get_words(struct line *l, const char *key, void *at)
{
	struct json_value *list = dump_get_array(l->o, key), *word;
	char **words;
	size_t n = 0;

	if (!list)
		return false;
	words = reader_alloc(l, list->len, sizeof(*words));
	memcpy(at, &words, sizeof(words));
	json_for_each(word, list) {
		words[n++] = word->text; /* text of the line */
		if (word->type != JSON_STRING)
			l->wrong = key;
	}
	return true;
}

static bool line_get_hexes(struct line *l, const char *key, void *at, size_t *len)
{
	struct json_value *list = dump_get_array(l->o, key), *word;
	uint64_t *values;

	if (!list || !list->len || list->len > READER_CONFIGS)
		return false;
	values = reader_alloc(l, list->len, sizeof(*values));
	memcpy(at, &values, sizeof(values));
	json_for_each(word, list)
		if (!dump_hex(word, &values[(*len)++]))
			l->wrong = key;
	return true;
}

static void line_get_fields(struct line *l, const struct dump_field *fields, size_t n,
			    struct json_value *o, uint8_t *to);

static bool line_get_list(struct line *l, const struct dump_field *f, struct json_value *o,
			  void *at, size_t *len)
{
	struct json_value *list = dump_get_array(o, f->key), *element;
	const char *wrong = l->wrong;
	uint8_t *elements;

	if (!list)
		return false;
	elements = reader_alloc(l, list->len, f->object->size);
	memcpy(at, &elements, sizeof(elements));
	l->wrong = NULL;
	json_for_each(element, list) {
		if (element->type != JSON_OBJECT)
			l->wrong = f->key;
		else
			line_get_fields(l, f->object->fields, f->object->n, element,
					elements + (*len)++ * f->object->size);
	}
	l->wrong = l->wrong ? f->key : wrong;
	return true;
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
		found = model_ring(m, (unsigned int)number);
	else
		found = model_event_number(m, (unsigned int)number);
	l->skipped |= !found && f->type != MEMBER_EVENT_OR_NULL;
	memcpy(at, &found, sizeof(found));
	return true;
}

static bool line_get_int(struct line *l, const struct dump_field *f, struct json_value *o, void *at)
{
	int64_t v;

	if (!dump_get_int(o, f->key, &v))
		return false;
	if (v < f->min || v > f->max)
		l->wrong = f->key;
	*(int32_t *)at = (int32_t)v;
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
	size_t *len = (size_t *)(to + f->len);
	void *at = to + f->at;

	switch (f->type) {
	case MEMBER_INT:
		return line_get_int(l, f, o, at);
	case MEMBER_S64:
		return dump_get_int(o, f->key, at);
	case MEMBER_UINT:
	case MEMBER_HEX:
		return line_get_uint(l, f, o, at);
	case MEMBER_BOOL:
		return dump_get_bool(o, f->key, at);
	case MEMBER_BYTES:
	case MEMBER_ARRAY:
		return line_get_bytes(f, o, at, len);
	case MEMBER_WORDS:
		return line_get_words(l, f->key, at);
	case MEMBER_HEXES:
		return line_get_hexes(l, f->key, at, len);
	case MEMBER_EVENT:
	case MEMBER_EVENT_OR_NULL:
	case MEMBER_RING:
		return line_get_number(l, f, o, at);
	case MEMBER_ENUM:
		return line_get_enum(f, o, at);
	case MEMBER_LIST:
		return line_get_list(l, f, o, at, len);
	default:
		return line_get_text(l, f, o, at);
	}
}

/* Read a member that others of the same condition are with: all of them, or none. */
static void line_get_flagged(struct line *l, const struct dump_field *f, struct json_value *o,
			     uint8_t *to, bool first)
{
	bool *flag = (bool *)(to + f->cond), read = line_get_value(l, f, o, to);

	if (first)
		*flag = read;
	else if (read != *flag)
		l->wrong = f->key;
}

static bool reader_requires(const struct dump_field *f, const uint8_t *to)
{
	switch (f->when) {
	case WHEN_ALWAYS:
		return true;
	case WHEN_IF:
		return dump_load(to + f->cond, f->cond_size);
	case WHEN_HOW:
		return dump_load(to + f->cond, f->cond_size) == f->how;
	default:
		return false;
	}
}

static bool reader_takes(const struct dump_field *f, const uint8_t *to)
{
	return f->when == WHEN_NOT_ZERO || f->when == WHEN_OLD || reader_requires(f, to) ||
	       (f->when == WHEN_HOW_OLD && dump_load(to + f->cond, f->cond_size) == f->how);
}

static void line_get_fields(struct line *l, const struct dump_field *fields, size_t n,
			    struct json_value *o, uint8_t *to)
{
	for (const struct dump_field *f = fields; f < fields + n; f++) {
		if (f->type == MEMBER_OWN)
			continue;
		if (f->when == WHEN_FLAG)
			line_get_flagged(l, f, o, to, f == fields || f[-1].when != WHEN_FLAG ||
						      f[-1].cond != f->cond);
		else if (reader_takes(f, to) && !line_get_value(l, f, o, to) &&
			 reader_requires(f, to))
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

/* Feed an exec; the call that the task is in goes on in the thread that remains. */
static void reader_feed_exec(struct line *l, struct activity *a)
{
	pid_t tid = a->exec.tid, former = a->exec.former;
	struct call *before = NULL, *c = NULL;

	if (former != tid)
		c = map_del(&l->r->begun, (uint64_t)former);
	if (c) {
		c->tid = tid;
		before = map_set(&l->r->begun, (uint64_t)tid, c);
	}
	session_feed(l->r->session, a);
	reader_free_call(before);
}

static void reader_feed_name(struct line *l, const struct activity *a)
{
	const struct names *names = &l->r->session->names;

	if (!reader_names_add(l->r->names, a))
		l->wrong = "name";
	else if (a->kind == ACTIVITY_NAME_FORMAT)
		names->format(names, a->name_format.id); /* nothing decoded may require it */
}

static void reader_feed(struct line *l, struct activity *a)
{
	if (dump_kinds[a->kind].of) {
		reader_feed_name(l, a);
	} else if (a->kind == ACTIVITY_EXEC) {
		reader_feed_exec(l, a);
	} else {
		session_feed(l->r->session, a);
		if (a->kind == ACTIVITY_GONE)
			reader_drop_call(l->r, a->gone.tid);
	}
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
