// SPDX-License-Identifier: LGPL-2.1-or-later
/* What experiments find in rings: records, taken apart into named numbers. */
#include "conform/claim.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/arch.h"
#include "abi/layout.h"
#include "abi/record.h"
#include "drive/ring.h"
#include "xlat/constants.h"

/* The sink: a line "PATH=VALUE" for each value ---------------------------------------- */

enum { DEPTH = 8 };

struct fields {
	struct sink sink;
	struct buf *out;
	struct {
		char key[40];
		bool array;
		unsigned int n;
	} level[DEPTH];
	unsigned int depth;
};

static void add_key(struct fields *f, const char *key)
{
	buf_addc(f->out, '\n');
	for (unsigned int i = 1; i <= f->depth && i < DEPTH; i++)
		if (*f->level[i].key)
			buf_addf(f->out, "%s.", f->level[i].key);
	if (f->depth && f->depth < DEPTH && f->level[f->depth].array)
		buf_addu(f->out, f->level[f->depth].n++);
	else
		buf_adds(f->out, key ? key : "");
	buf_addc(f->out, '=');
}

static struct fields *of(struct sink *s)
{
	return (struct fields *)s;
}

static void put_uint(struct sink *s, const char *key, uint64_t v)
{
	add_key(of(s), key);
	buf_addu(of(s)->out, v);
}

static void put_sint(struct sink *s, const char *key, int64_t v)
{
	put_uint(s, key, (uint64_t)v);
}

static void put_named(struct sink *s, const char *key, const struct xlat *x, uint64_t v)
{
	(void)x;
	put_uint(s, key, v);
}

static void put_packed(struct sink *s, const char *key, uint64_t raw,
		       const struct sink_part *parts, size_t n)
{
	(void)parts;
	(void)n;
	put_uint(s, key, raw);
}

static void put_symbol(struct sink *s, const char *key, const char *word)
{
	add_key(of(s), key);
	buf_addf(of(s)->out, "\"%s", word);
}

static void put_string(struct sink *s, const char *key, const char *bytes, size_t len,
		       bool cut)
{
	(void)cut;
	add_key(of(s), key);
	buf_addc(of(s)->out, '"');
	for (size_t i = 0; i < len && bytes[i]; i++)
		buf_addc(of(s)->out, bytes[i] == '\n' ? ' ' : bytes[i]);
}

/* Of bytes it is told how many they are. */
static void put_bytes(struct sink *s, const char *key, const void *bytes, size_t len, bool cut)
{
	(void)bytes;
	(void)cut;
	put_uint(s, key, len);
}

static void put_fd(struct sink *s, const char *key, int64_t fd, const char *label)
{
	(void)label;
	put_uint(s, key, (uint64_t)fd);
}

static void put_note(struct sink *s, const char *key, const char *text)
{
	(void)s;
	(void)key;
	(void)text;
}

static void begin(struct sink *s, const char *key, enum sink_shape shape)
{
	struct fields *f = of(s);
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

/* Of an array it is told how long it is. */
static void end(struct sink *s)
{
	struct fields *f = of(s);
	bool array = f->depth < DEPTH && f->level[f->depth].array;
	unsigned int n = array ? f->level[f->depth].n : 0;
	char key[40] = "";

	if (f->depth < DEPTH)
		snprintf(key, sizeof(key), "%s", f->level[f->depth].key);
	f->depth--;
	if (array && !(f->depth < DEPTH && f->level[f->depth].array))
		put_uint(s, key, n);
}

static const struct sink_ops ops = {
	.begin = begin, .end = end, .uint = put_uint, .sint = put_sint, .hex = put_uint,
	.addr = put_uint, .enumeration = put_named, .flags = put_named, .packed = put_packed,
	.symbol = put_symbol, .string = put_string, .bytes = put_bytes, .fd = put_fd,
	.note = put_note,
};

static void take_apart(const uint8_t *bytes, size_t len, const struct record_format *format,
		       struct buf *out)
{
	struct fields f = { .sink = { .ops = &ops, .full = true, .max_string = 4096 },
			    .out = out };

	put_uint(&f.sink, "header.type", load_uint(bytes, 4));
	put_uint(&f.sink, "header.misc", load_uint(bytes + 4, 2));
	put_uint(&f.sink, "header.size", load_uint(bytes + 6, 2));
	record_emit(bytes, len, format, NULL, &f.sink, NULL);
	buf_addc(out, '\n');
}

/* Finding ---------------------------------------------------------------------------- */

struct search {
	struct claim_run *l;
	struct claim_event *e;
	struct record_format format;
	uint64_t type, found;
	size_t first;		/* the word with the first condition */
	struct buf one;
	bool bad;
};

/* Whether a line has the text, or with a * behind it begins so. */
static bool is_text(const char *line, const char *text)
{
	size_t n = strcspn(text, "*");

	return *line == '"' && !strncmp(line + 1, text, n) &&
	       (text[n] == '*' || line[1 + n] == '\n');
}

/* FIELD==EXPRESSION, FIELD&EXPRESSION, ..., FIELD="TEXT", FIELD="TEXT*" */
static bool holds(struct search *s, const char *word)
{
	size_t n = strcspn(word, "=!<>&");
	size_t width = strspn(word + n, "=!<>&");
	char key[64], op[4];
	const char *at;
	uint64_t v;
	bool yes = false;

	snprintf(key, sizeof(key), "\n%.*s=", (int)n, word);
	snprintf(op, sizeof(op), "%.*s", (int)width, word + n);
	at = strstr(buf_str(&s->one), key);
	if (!at)
		return false;
	at += strlen(key);
	if (!strcmp(op, "="))
		return is_text(at, word + n + 2);
	if (!claim_value(s->l, word + n + width, &v) ||
	    !claim_compare(strtoull(at, NULL, 10), op, v, &yes))
		s->bad = true;
	return yes;
}

static void look(void *ctx, const uint8_t *bytes, size_t len)
{
	struct search *s = ctx;
	bool all = true;

	if (load_uint(bytes, 4) != s->type)
		return;
	buf_reset(&s->one);
	take_apart(bytes, len, &s->format, &s->one);
	for (size_t i = s->first; i < s->l->nwords && all; i++)
		all = holds(s, s->l->words[i]);
	if (!all)
		return;
	if (!s->found++) {
		buf_reset(&s->e->record);
		buf_add(&s->e->record, buf_str(&s->one), s->one.len);
	}
}

static enum step_end judge(struct search *s)
{
	struct claim_run *l = s->l;
	uint64_t want;
	bool good = s->found > 0;

	if (s->bad)
		return *l->told->reason ? STEP_UNTRIED : claim_bad(l, "%s", l->step);
	if (l->wanted && !strcmp(l->wanted, "none"))
		good = !s->found;
	else if (l->wanted && strcmp(l->wanted, "some")) {
		if (!claim_value(l, l->wanted, &want))
			return STEP_UNTRIED;
		good = s->found == want;
	}
	return good ? STEP_GOES_ON :
	       claim_false(l, l->step, "%llu such records", (unsigned long long)s->found);
}

/* find NAME [by=EVENT] TYPE [CONDITION...]: records that are in NAME's ring */
enum step_end claim_find(struct claim_run *l)
{
	struct claim_event *e = l->nwords > 2 ? claim_event(l, l->words[1]) : NULL, *by = e;
	struct search s = { .l = l, .e = e, .first = 3 };
	struct ring_seen seen = { .started = false };
	struct ring_result result;
	struct ring_image image;
	char type[40];
	int error;

	if (e && !strncmp(l->words[2], "by=", 3)) {
		by = claim_event(l, l->words[2] + 3);
		s.first = 4;
	}
	if (!e || !by || !e->ring || s.first > l->nwords)
		return claim_bad(l, "%s", l->step);
	snprintf(type, sizeof(type), "PERF_RECORD_%s", l->words[s.first - 1]);
	if (!claim_value(l, type, &s.type))
		return STEP_UNTRIED;
	record_format_of(&s.format, by->attr, sizeof(by->attr), arch_native());
	image = (struct ring_image){
		.bytes = e->ring, .length = e->ring_len, .backward = e->backward,
		.overwrite = e->overwrite, .settle = ring_settle,
	};
	error = ring_walk(&image, &seen, &result, look, &s);
	buf_free(&s.one);
	if (error)
		return claim_untried(l, "the ring cannot be read: %d", error);
	e->found = s.found;
	return judge(&s);
}
