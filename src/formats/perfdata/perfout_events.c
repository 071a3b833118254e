// SPDX-License-Identifier: LGPL-2.1-or-later
/* The events of a perf.data file. */
#include "core/host/event_words.h"
#include "core/lib/scan_text.h"
#include "core/model/event_name.h"
#include "formats/perfdata/perfout_internal.h"

/* Names: those that perf gives them ------------------------------------------ */

/* An event in the options -e of perf. */
struct perfout_word {
	char *name;
	struct event_code code;
	pid_t tid; /* that has it in its command line, or 0 */
	bool modes; /* it says in which CPU modes, or its group does */
	bool used;
};

/* Return whether the modifiers of a word, or of a group, say in which CPU modes events count. */
static bool words_have_modes(const char *modifiers, size_t len)
{
	size_t n = strcspn(modifiers, ",}");

	for (size_t i = 0; i < n && i < len; i++)
		if (strchr("ukh", modifiers[i]))
			return true;
	return false;
}

/* Add a word if it is of a generic event: others are named by their attr. */
static void words_add(struct perfout_view *v, pid_t tid, const char *text, size_t len)
{
	const char *slash = memchr(text, '/', len), *name = text, *at = NULL;
	size_t base = 0, end = len, name_len = len;
	struct event_code code;

	while (end && !strchr("/:", text[end - 1]))
		end--;
	while (base < len && !strchr("/:", text[base]))
		base++;
	if (!event_word_generic(text, base, &code) && !event_word_cache(text, base, &code))
		return;
	/* perf calls it by the value of the term name=, or all of the word */
	if (slash)
		at = memmem(slash, (size_t)(text + len - slash), "name=", 5);
	if (at && (at[-1] == '/' || at[-1] == ',')) {
		name = at + 5;
		name_len = strcspn(name, ",/");
	}
	APPEND(v->words, v->nwords) = (struct perfout_word){
		xstrndup(name, name_len), code, tid,
		end && words_have_modes(text + end, len - end), false
	};
}

/* Split a list of perf's events: {a,b/c=1,d=2/u}:S has a and b/c=1,d=2/u. */
static void words_split(struct perfout_view *v, pid_t tid, const char *list)
{
	size_t group = 0;

	while (*list) {
		size_t len = 0;
		bool terms = false;

		if (*list == '{')
			group = v->nwords;

		for (; list[len] && (terms || !strchr(",{}", list[len])); len++)
			terms ^= list[len] == '/';
		if (len)
			words_add(v, tid, list, len);
		list += len;
		for (size_t i = group; *list == '}' && i < v->nwords; i++)
			v->words[i].modes |= words_have_modes(list + 1, strlen(list + 1));
		list += *list == '}' ? strcspn(list, ",") : *list != '\0';
	}
}

bool perfout_names_perf(const char *exe)
{
	return !strncmp(scan_base_name(exe), "perf", 4);
}

void perfout_note_command(struct perfout_view *v, pid_t tid, char *const *command)
{
	char *const *word = command;

	for (size_t i = 0; tid && i < v->nwords; i++)
		v->words[i].used |= v->words[i].tid == tid; /* of the program before */
	while (word && *word && !perfout_names_perf(*word)) /* env, taskset, ... */
		word++;
	if (!word || !*word)
		return;
	while (*++word && strcmp(*word, "--")) {
		/* what follows one of these letters of perf record is its argument */
		static const char with_argument[] = "eCDFGIScjkmoprtuz";
		const char *option = *word, *list = NULL;

		if (!strncmp(option, "--event", 7) && (!option[7] || option[7] == '=')) {
			list = option + 7 + (option[7] == '=');
		} else if (*option == '-' && option[1] != '-') {
			option += strcspn(option, with_argument);
			list = *option == 'e' ? option + 1 : NULL;
		}
		if (list && !*list && word[1])
			list = *++word;
		if (list)
			words_split(v, tid, list);
	}
}

/* Append the name that the command line has for an event of perf, or return false. */
static bool words_name(struct perfout_view *v, const struct perfout_event *p, pid_t opener,
		       struct buf *out)
{
	pid_t pid = (pid_t)(uintptr_t)map_get(&v->threads, (uint64_t)opener);
	pid_t tid = map_get(&v->commands, (uint64_t)pid) ? pid : 0;

	for (size_t i = 0; p->opened_by_perf && i < v->nwords; i++) {
		struct perfout_word *w = &v->words[i];
		const char *mode = "";

		if (w->used || w->tid != tid || w->code.type != perfout_attr_of(p, ATTR_TYPE) ||
		    w->code.config != perfout_attr_of(p, ATTR_CONFIG))
			continue;
		w->used = true;
		/* an unprivileged user may only have it in user mode (evsel__fallback()) */
		if (!w->modes && perfout_attr_of(p, ATTR_EXCLUDE_KERNEL) &&
		    perfout_attr_of(p, ATTR_EXCLUDE_HV) && !perfout_attr_of(p, ATTR_EXCLUDE_USER))
			mode = strpbrk(w->name, "/:") ? "u" : ":u";
		buf_addf(out, "%s%s", w->name, mode);
		return true;
	}
	return false;
}

/* Set the name of an event that the task opened. */
static void perfout_name_event(struct perfout_view *v, struct perfout_event *p, pid_t opener)
{
	struct buf own = { 0 };
	bool named = words_name(v, p, opener, &own);

	if (!named)
		event_name_perf(p->attr, p->len, v->names, &own);
	/* the dummy event says that it is of guests, too */
	if (!named && perfout_attr_of(p, ATTR_TYPE) == PERF_TYPE_SOFTWARE &&
	    perfout_attr_of(p, ATTR_CONFIG) == PERF_COUNT_SW_DUMMY &&
	    !perfout_attr_of(p, ATTR_EXCLUDE_GUEST) && !strchr(buf_str(&own), ':'))
		buf_adds(&own, ":HG");
	p->name = xstrdup(buf_str(&own));
	buf_free(&own);
}

/* Collecting --------------------------------------------------------------- */

/* Return what distinguishes the events of one attr: who is measured, and where. */
static uint64_t perfout_target_of(const struct event *e)
{
	pid_t pid = e->pid ? e->pid : e->opener;

	return (uint64_t)(uint32_t)pid << 32 | (uint32_t)e->cpu;
}

/*
 * Return whether e is one more of these events.  An open one on the same target makes it
 * another: perf can have two events with the same attr.
 */
static bool perfout_belongs(const struct perfout_view *v, const struct perfout_event *p,
			    const struct event *e, const struct perfout_event *leader)
{
	const struct perfout_member *m;
	const struct event *other;

	if (p->leader != leader || p->len != e->attr_len || memcmp(p->attr, e->attr, p->len))
		return false;
	m = map_get(&p->targets, perfout_target_of(e));
	other = m ? model_event_number(v->model, m->number) : NULL;
	return !other || other->closed;
}

bool perfout_is_tracepoint(const struct perfout_event *e)
{
	return strchr(e->name, ':') && perfout_attr_of(e, ATTR_TYPE) == PERF_TYPE_TRACEPOINT;
}

void perfout_read_format(const struct perfout_view *v, struct perfout_event *e)
{
	const char *text = NULL;

	if (e->format_text || !perfout_is_tracepoint(e))
		return;
	if (v->names->format)
		text = v->names->format(v->names, perfout_attr_of(e, ATTR_CONFIG));
	if (text)
		e->format_text = xstrdup(text);
}

static struct perfout_event *perfout_new_event(struct perfout_view *v, const struct event *e,
					       struct perfout_event *leader)
{
	struct perfout_event *p = xcalloc(1, sizeof(*p));

	p->attr = xmalloc(e->attr_len ? e->attr_len : 1);
	memcpy(p->attr, e->attr, e->attr_len);
	p->len = e->attr_len;
	p->number = e->number;
	p->leader = leader;
	p->lacks_task_and_time = p->left_out = event_is_bare(e);
	p->opened_by_perf = map_get(&v->perf_tasks, (uint64_t)e->opener);
	record_format_of(&p->format, p->attr, p->len, v->facts.arch);
	/* if it measures one task only */
	p->adds_tid = !p->left_out && !(p->format.sample_type & PERF_SAMPLE_TID) &&
		      event_single_task(e) > 0;
	if (p->adds_tid)
		p->format.sample_type |= PERF_SAMPLE_TID;
	perfout_name_event(v, p, e->opener);
	if (v->live) /* in a dump, the format follows */
		perfout_read_format(v, p);
	v->events = xrealloc(v->events, (v->nevents + 1) * sizeof(*v->events));
	p->index = v->nevents;
	v->events[v->nevents++] = p;
	return p;
}

void perfout_add_id(struct perfout_view *v, struct perfout_event *e, uint64_t id)
{
	if (!id || map_get(&v->by_id, id))
		return;
	map_set(&v->by_id, id, e);
	if (!(e->nids & (e->nids - 1)))
		e->ids = xrealloc(e->ids, (e->nids ? 2 * e->nids : 1) * sizeof(*e->ids));
	e->ids[e->nids++] = id;
}

struct perfout_member *perfout_member(struct perfout_view *v, const struct event *e)
{
	struct perfout_member *m = map_get(&v->members, e->number);
	const struct perfout_member *first = NULL; /* of its group */
	struct perfout_event *leader, *p = NULL;

	if (!m && !event_attr_known(e))
		return NULL;
	if (!m) {
		/* a leader leads itself */
		if (e->leader && e->leader != e &&
		    (!e->leader->leader || e->leader->leader == e->leader))
			first = perfout_member(v, e->leader);
		leader = first ? first->event : NULL;
		for (size_t i = 0; i < v->nevents && !p; i++)
			if (perfout_belongs(v, v->events[i], e, leader))
				p = v->events[i];
		m = xcalloc(1, sizeof(*m));
		m->event = p ? p : perfout_new_event(v, e, leader);
		m->number = e->number;
		map_set(&v->members, e->number, m);
		map_set(&m->event->targets, perfout_target_of(e), m);
	}
	m->id = m->id ? m->id : e->id;
	perfout_add_id(v, m->event, e->id);
	return m;
}

uint64_t perfout_id(struct perfout_view *v, struct perfout_member *m)
{
	if (!m->id) {
		m->id = 1ULL << 63 | m->number;
		perfout_add_id(v, m->event, m->id);
	}
	return m->id;
}

void perfout_free_events(struct perfout_view *v)
{
	for (size_t i = 0; i < v->nevents; i++) {
		free(v->events[i]->attr);
		free(v->events[i]->name);
		free(v->events[i]->format_text);
		free(v->events[i]->ids);
		map_free(&v->events[i]->targets);
		free(v->events[i]);
	}
	free(v->events);
	for (size_t i = 0; i < v->nwords; i++)
		free(v->words[i].name);
	free(v->words);
	map_free_values(&v->members);
	map_free(&v->perf_tasks);
	map_free(&v->commands);
	map_free(&v->threads);
	map_free(&v->by_id);
	map_free(&v->ids_in_pipe);
	map_free(&v->late_events);
}

/* Formats ------------------------------------------------------------------ */

/* The places of an id, in words: in a sample, and from the end of other records; or -1. */
struct places {
	int sample, other;
};

static struct places places_of(uint64_t type)
{
	static const uint64_t before =
		PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
	static const uint64_t after = PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU;

	if (type & PERF_SAMPLE_IDENTIFIER)
		return (struct places){ 0, 1 };
	if (!(type & PERF_SAMPLE_ID))
		return (struct places){ -1, -1 };
	return (struct places){ __builtin_popcountll(type & before),
				1 + __builtin_popcountll(type & after) };
}

/* Return whether perf finds the event of each record of both. */
static bool agree(const struct perfout_event *a, const struct perfout_event *b)
{
	struct places x = places_of(a->format.sample_type), y = places_of(b->format.sample_type);

	return x.sample >= 0 && x.sample == y.sample && x.other == y.other &&
	       a->format.sample_id_all == b->format.sample_id_all;
}

static int by_number(const void *a, const void *b)
{
	const struct perfout_event *x = *(struct perfout_event *const *)a;
	const struct perfout_event *y = *(struct perfout_event *const *)b;

	return x->number < y->number ? -1 : x->number > y->number;
}

const struct perfout_event *perfout_first_event(const struct perfout_view *v)
{
	for (size_t i = 0; i < v->nevents; i++)
		if (!v->events[i]->left_out)
			return v->events[i];
	return NULL;
}

void perfout_decide(struct perfout_view *v)
{
	const struct perfout_event *first;
	size_t index = 0, shown = 0;

	qsort(v->events, v->nevents, sizeof(*v->events), by_number);
	for (size_t i = 0; i < v->nevents; i++)
		shown += !v->events[i]->left_out;
	/* leave out the events that perf could not show, if others are left */
	for (size_t i = 0; i < v->nevents; i++)
		v->events[i]->left_out &= shown > 0;
	first = perfout_first_event(v);
	for (size_t i = 0; i < v->nevents; i++) {
		struct perfout_event *e = v->events[i];

		e->index = e->left_out ? 0 : index++;
		v->with_ids |= !e->left_out && e != first && !agree(first, e);
	}
	v->ids_decided = true;
}

bool perfout_fits(const struct perfout_view *v, const struct perfout_event *e)
{
	const struct perfout_event *first = perfout_first_event(v);

	return e == first || v->with_ids || agree(first, e);
}

bool perfout_is_written(const struct perfout_view *v, const struct perfout_event *e)
{
	return !e->left_out && perfout_fits(v, e);
}

bool perfout_adds_read_ids(const struct perfout_event *e)
{
	return e->format.sample_type & PERF_SAMPLE_READ && !(e->format.read_format & PERF_FORMAT_ID);
}

struct record_format perfout_format(const struct perfout_view *v, const struct perfout_event *e)
{
	struct record_format f = e->format;

	if (v->with_ids) {
		f.sample_type |= PERF_SAMPLE_IDENTIFIER;
		f.sample_id_all = true;
	}
	if (perfout_adds_read_ids(e))
		f.read_format |= PERF_FORMAT_ID;
	return f;
}

/* Tables ------------------------------------------------------------------- */

/*
 * Return the smallest size that holds the members of an attr that are not zero, but not less than
 * perf of Debian 12 has: perf refuses attrs that are larger than its own.
 */
static size_t least_size(const struct perfout_event *e)
{
	size_t len = e->len;

	while (len > PERF_ATTR_SIZE_VER7 && !e->attr[len - 1])
		len--;
	return len <= PERF_ATTR_SIZE_VER7 ? len : (e->len + 7) & ~(size_t)7;
}

size_t perfout_attr_size(const struct perfout_view *v)
{
	size_t most = PERF_ATTR_SIZE_VER0;

	for (size_t i = 0; i < v->nevents; i++) {
		const struct perfout_event *e = v->events[i];
		uint64_t passed = perfout_attr_of(e, ATTR_SIZE);
		size_t size = !e->opened_by_perf ? least_size(e) :
			      /* the kernel describes earlier events in its own size */
			      passed && passed < e->len ? passed : e->len;

		if (!e->left_out && size > most)
			most = size;
	}
	return (most + 7) & ~(size_t)7;
}

void perfout_attr(const struct perfout_view *v, const struct perfout_event *e, size_t size,
		  struct buf *out)
{
	const struct layout *l = &layout_perf_event_attr;
	struct record_format f = perfout_format(v, e);
	uint8_t *attr;

	buf_reserve(out, size);
	attr = (uint8_t *)out->data + out->len;
	memset(attr, 0, size);
	memcpy(attr, e->attr, e->len < size ? e->len : size);
	field_set(&l->fields[ATTR_SIZE], size, attr);
	field_set(&l->fields[ATTR_SAMPLE_TYPE], f.sample_type, attr);
	field_set(&l->fields[ATTR_READ_FORMAT], f.read_format, attr);
	field_set(&l->fields[ATTR_SAMPLE_ID_ALL], f.sample_id_all, attr);
	out->len += size;
}

bool perfout_pipe_event(struct perfout_view *v, struct perfout_event *e)
{
	/* perf of Debian 12 expects attrs of its own size in a pipe */
	size_t least = least_size(e);
	size_t size = least < PERF_ATTR_SIZE_VER7 ? PERF_ATTR_SIZE_VER7 : least;
	size_t most = (RECORD_MOST - RECORD_HEAD - size) / sizeof(*e->ids);
	/*
	 * Written again, it is another event for perf: only to find the events of counts by their
	 * ids, and no tracepoint, whose format perf reads once.
	 */
	bool again = e->format.sample_type & PERF_SAMPLE_READ && !perfout_is_tracepoint(e);
	struct buf b = { 0 };
	bool written = false;

	while (!e->left_out && (!e->in_pipe || (e->nids_in_pipe < e->nids &&
						(!e->nids_in_pipe || again)))) {
		const uint64_t *ids = e->ids ? e->ids + e->nids_in_pipe : NULL;
		size_t n = e->nids - e->nids_in_pipe < most ? e->nids - e->nids_in_pipe : most;

		perfout_begin_record(&b, PERF_RECORD_HEADER_ATTR, 0, RECORD_HEAD);
		perfout_attr(v, e, size, &b);
		if (n)
			buf_add(&b, ids, n * sizeof(*ids));
		perfout_end_record(&b);
		buf_add(&v->out->pending, b.data, b.len);
		if (n) {
			perfout_begin_record(&b, PERF_RECORD_EVENT_UPDATE, 0, RECORD_HEAD);
			buf_add_u64(&b, PERF_EVENT_UPDATE__NAME);
			buf_add_u64(&b, ids[0]);
			buf_add(&b, e->name, strlen(e->name) + 1);
			perfout_end_record(&b);
			buf_add(&v->out->pending, b.data, b.len);
		}
		for (size_t i = 0; i < n; i++)
			map_set(&v->ids_in_pipe, ids[i], e);
		e->nids_in_pipe += n;
		written = e->in_pipe = true;
	}
	buf_free(&b);
	return written;
}

size_t perfout_id_at(const struct perfout_event *e, bool sample, size_t len)
{
	struct places p = places_of(e->format.sample_type);

	if (p.sample < 0 || (!sample && !e->format.sample_id_all) ||
	    len < RECORD_HEAD + 8 * (size_t)(sample ? p.sample + 1 : p.other))
		return 0;
	return sample ? RECORD_HEAD + 8 * (size_t)p.sample : len - 8 * (size_t)p.other;
}
