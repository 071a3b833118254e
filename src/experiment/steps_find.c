// SPDX-License-Identifier: LGPL-2.1-or-later
/* The step "find": records in rings, by the values of their fields. */
#include "experiment/steps_internal.h"

#include "core/abi/arch.h"
#include "core/abi/record.h"
#include "engine/rings/ring.h"
#include "xlat/constants.h"

/* A sink that stores each value with its path ------------------------------------------- */

enum { DEPTH = 8 };

#define ANY UINT64_MAX	/* a type of record */

struct fields_sink {
	struct sink sink;
	struct record_values *out;
	struct {
		char key[40];
		bool array;
		unsigned int n;
	} level[DEPTH];
	unsigned int depth;
};

static void fields_value(struct sink *s, const char *key, const struct value *v)
{
	struct fields_sink *to = sink_self(s);
	struct record_values *out = to->out;
	struct record_value *f;
	struct buf path = { 0 };

	for (unsigned int i = 1; i <= to->depth && i < DEPTH; i++)
		if (*to->level[i].key)
			buf_addf(&path, "%s.", to->level[i].key);
	if (to->depth && to->depth < DEPTH && to->level[to->depth].array)
		buf_addu(&path, to->level[to->depth].n++);
	else
		buf_adds(&path, key ? key : "");
	out->list = xgrow(out->list, out->n, sizeof(*out->list));
	f = &out->list[out->n++];
	*f = (struct record_value){ .path = xstrdup(buf_str(&path)) };
	buf_free(&path);
	if (v->kind == VALUE_SYMBOL || v->kind == VALUE_STRING)
		f->text = xstrndup(v->text, strnlen(v->text, v->len));
	else
		f->number = v->kind == VALUE_BYTES ? v->len : v->number;
}

static void fields_note(struct sink *s, const char *key, const char *text)
{
	(void)s;
	(void)key;
	(void)text;
}

static void fields_begin(struct sink *s, const char *key, enum sink_shape shape)
{
	struct fields_sink *f = sink_self(s);
	char place[40] = "";

	if (key)
		snprintf(place, sizeof(place), "%s", key);
	else if (f->depth && f->depth < DEPTH && f->level[f->depth].array)
		snprintf(place, sizeof(place), "%u", f->level[f->depth].n++);
	if (++f->depth >= DEPTH)
		return;
	snprintf(f->level[f->depth].key, sizeof(f->level[0].key), "%s", place);
	f->level[f->depth].array = shape == SINK_ARRAY;
	f->level[f->depth].n = 0;
}

/* The value of an array is its length. */
static void fields_end(struct sink *s)
{
	struct fields_sink *f = sink_self(s);
	bool array = f->depth < DEPTH && f->level[f->depth].array;
	unsigned int n = array ? f->level[f->depth].n : 0;
	char key[40] = "";

	if (f->depth < DEPTH)
		snprintf(key, sizeof(key), "%s", f->level[f->depth].key);
	f->depth--;
	if (array && !(f->depth < DEPTH && f->level[f->depth].array))
		sink_uint(s, key, n);
}

static const struct sink_ops fields_ops = {
	.begin = fields_begin, .end = fields_end, .value = fields_value, .note = fields_note,
};

/* Finding ---------------------------------------------------------------------------- */

struct search {
	struct steps *run;
	struct step_event *e;
	struct record_format format;
	uint64_t type, found, all; /* all: of the type */
	size_t first;		/* index of the first condition in the words */
	struct record_values fields; /* of the current record */
	bool malformed;
};

/* Evaluate FIELD==EXPRESSION, FIELD&EXPRESSION, ..., FIELD="TEXT" or FIELD="TEXT*". */
static bool condition_holds(struct search *s, const char *word)
{
	size_t n = strcspn(word, "=!<>&");
	size_t width = strspn(word + n, "=!<>&");
	const struct record_value *f;
	char path[64], op[4];
	uint64_t v;
	bool yes = false;

	snprintf(path, sizeof(path), "%.*s", (int)n, word);
	snprintf(op, sizeof(op), "%.*s", (int)width, word + n);
	f = record_values_find(&s->fields, path);
	if (!f)
		return false;
	if (!strcmp(op, "=")) {
		const char *text = word + n + 2;
		size_t len = strcspn(text, "*");

		/* "TEXT*" matches a prefix */
		return f->text && !strncmp(f->text, text, len) &&
		       (text[len] == '*' || !f->text[len]);
	}
	if (!steps_value(s->run, word + n + width, &v) ||
	    !steps_compare(f->number, op, v, &yes))
		s->malformed = true;
	return yes;
}

static void match_record(void *ctx, const uint8_t *bytes, size_t len)
{
	struct search *s = ctx;
	struct fields_sink f = {
		.sink = { .ops = &fields_ops, .full = true, .max_string = 4096 },
		.out = &s->fields,
	};
	bool all = true;

	if (s->type != ANY && load_uint(bytes, 4) != s->type)
		return;
	s->all++;
	record_values_free(&s->fields);
	sink_uint(&f.sink, "header.type", load_uint(bytes, 4));
	sink_uint(&f.sink, "header.misc", load_uint(bytes + 4, 2));
	sink_uint(&f.sink, "header.size", load_uint(bytes + 6, 2));
	record_emit(bytes, len, &s->format, NULL, &f.sink, NULL);
	for (size_t i = s->first; i < s->run->nwords && all; i++)
		all = condition_holds(s, s->run->words[i]);
	if (!all)
		return;
	if (!s->found++) {
		record_values_free(&s->e->record);
		s->e->record = s->fields;
		s->fields = (struct record_values){ 0 };
	}
}

static enum step_result find_result(struct search *s)
{
	struct steps *run = s->run;
	struct buf note = { 0 };
	uint64_t want;
	bool good = s->found > 0;

	if (s->malformed)
		return steps_malformed(run);
	/* note how many records were found, and of how many if there are conditions */
	buf_addf(&note, "PERF_RECORD_%s", run->words[s->first - 1]);
	for (size_t i = s->first; i < run->nwords; i++)
		buf_addf(&note, "%s %s", i == s->first ? " with" : ",", run->words[i]);
	buf_addf(&note, ": %llu", (unsigned long long)s->found);
	if (s->first < run->nwords)
		buf_addf(&note, " of %llu", (unsigned long long)s->all);
	steps_note(run, note.data);
	buf_free(&note);
	if (run->wanted && !strcmp(run->wanted, "any"))
		good = true;
	else if (run->wanted && !strcmp(run->wanted, "none"))
		good = !s->found;
	else if (run->wanted && strcmp(run->wanted, "some")) {
		if (!steps_value(run, run->wanted, &want))
			return STEP_UNTRIED;
		good = s->found == want;
	}
	return good ? STEP_OK :
	       steps_false(run, run->step, "%llu matching records", (unsigned long long)s->found);
}

/*
 * find NAME [by=EVENT] TYPE|any [CONDITION...] [-> none|some|any|N]: records in NAME's ring that
 * were not shown
 */
enum step_result step_find(struct steps *run)
{
	struct step_event *e = run->nwords > 2 ? steps_event(run, run->words[1]) : NULL;
	struct step_event *by = e;
	struct search s = { .run = run, .e = e, .first = 3 };
	struct ring_seen seen;
	struct ring_result result;
	struct ring_image image;
	char type[40];
	int error;

	if (e && !strncmp(run->words[2], "by=", 3)) {
		by = steps_event(run, run->words[2] + 3);
		s.first = 4;
	}
	if (!e || !by || !e->ring || s.first > run->nwords)
		return steps_malformed(run);
	snprintf(type, sizeof(type), "PERF_RECORD_%s", run->words[s.first - 1]);
	if (!strcmp(run->words[s.first - 1], "any"))
		s.type = ANY;
	else if (!steps_value(run, type, &s.type))
		return STEP_UNTRIED;
	seen = e->shown;
	record_format_of(&s.format, by->attr, sizeof(by->attr), arch_native());
	image = (struct ring_image){
		.bytes = e->ring, .length = e->ring_len, .backward = e->backward,
		.overwrite = e->overwrite, .settle = ring_settle,
	};
	error = ring_walk(&image, &seen, &result, match_record, &s);
	record_values_free(&s.fields);
	if (error)
		return steps_untried(run, "cannot read the ring: %s", strerror(-error));
	e->found = s.found;
	return find_result(&s);
}
