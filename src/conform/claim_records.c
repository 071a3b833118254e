// SPDX-License-Identifier: LGPL-2.1-or-later
/* The step "find": records in rings, by the values of their fields. */
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

/* A sink that writes a line "PATH=VALUE" for each value -------------------------------- */

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

static void fields_add_key(struct fields *f, const char *key)
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

static struct fields *to_fields(struct sink *s)
{
	return (struct fields *)s;
}

static void fields_uint(struct sink *s, const char *key, uint64_t v)
{
	fields_add_key(to_fields(s), key);
	buf_addu(to_fields(s)->out, v);
}

static void fields_sint(struct sink *s, const char *key, int64_t v)
{
	fields_uint(s, key, (uint64_t)v);
}

static void fields_named(struct sink *s, const char *key, const struct xlat *x, uint64_t v)
{
	(void)x;
	fields_uint(s, key, v);
}

static void fields_packed(struct sink *s, const char *key, uint64_t raw,
			  const struct sink_part *parts, size_t n)
{
	(void)parts;
	(void)n;
	fields_uint(s, key, raw);
}

static void fields_symbol(struct sink *s, const char *key, const char *word)
{
	fields_add_key(to_fields(s), key);
	buf_addf(to_fields(s)->out, "\"%s", word);
}

static void fields_string(struct sink *s, const char *key, const char *bytes, size_t len,
			  bool cut)
{
	(void)cut;
	fields_add_key(to_fields(s), key);
	buf_addc(to_fields(s)->out, '"');
	for (size_t i = 0; i < len && bytes[i]; i++)
		buf_addc(to_fields(s)->out, bytes[i] == '\n' ? ' ' : bytes[i]);
}

/* The value of bytes is their number. */
static void fields_bytes(struct sink *s, const char *key, const void *bytes, size_t len, bool cut)
{
	(void)bytes;
	(void)cut;
	fields_uint(s, key, len);
}

static void fields_fd(struct sink *s, const char *key, int64_t fd, const char *label)
{
	(void)label;
	fields_uint(s, key, (uint64_t)fd);
}

static void fields_note(struct sink *s, const char *key, const char *text)
{
	(void)s;
	(void)key;
	(void)text;
}

static void fields_begin(struct sink *s, const char *key, enum sink_shape shape)
{
	struct fields *f = to_fields(s);
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
	struct fields *f = to_fields(s);
	bool array = f->depth < DEPTH && f->level[f->depth].array;
	unsigned int n = array ? f->level[f->depth].n : 0;
	char key[40] = "";

	if (f->depth < DEPTH)
		snprintf(key, sizeof(key), "%s", f->level[f->depth].key);
	f->depth--;
	if (array && !(f->depth < DEPTH && f->level[f->depth].array))
		fields_uint(s, key, n);
}

static const struct sink_ops fields_ops = {
	.begin = fields_begin, .end = fields_end, .uint = fields_uint, .sint = fields_sint,
	.hex = fields_uint, .addr = fields_uint, .enumeration = fields_named,
	.flags = fields_named, .packed = fields_packed, .symbol = fields_symbol,
	.string = fields_string, .bytes = fields_bytes, .fd = fields_fd, .note = fields_note,
};

static void record_to_text(const uint8_t *bytes, size_t len, const struct record_format *format,
			   struct buf *out)
{
	struct fields f = { .sink = { .ops = &fields_ops, .full = true, .max_string = 4096 },
			    .out = out };

	fields_uint(&f.sink, "header.type", load_uint(bytes, 4));
	fields_uint(&f.sink, "header.misc", load_uint(bytes + 4, 2));
	fields_uint(&f.sink, "header.size", load_uint(bytes + 6, 2));
	record_emit(bytes, len, format, NULL, &f.sink, NULL);
	buf_addc(out, '\n');
}

/* Finding ---------------------------------------------------------------------------- */

struct search {
	struct claim_run *run;
	struct claim_event *e;
	struct record_format format;
	uint64_t type, found;
	size_t first;		/* index of the first condition in the words */
	struct buf one;
	bool malformed;
};

/* Compare the string value at line with text; "TEXT*" matches a prefix. */
static bool text_matches(const char *line, const char *text)
{
	size_t n = strcspn(text, "*");

	return *line == '"' && !strncmp(line + 1, text, n) &&
	       (text[n] == '*' || line[1 + n] == '\n');
}

/* Evaluate FIELD==EXPRESSION, FIELD&EXPRESSION, ..., FIELD="TEXT" or FIELD="TEXT*". */
static bool condition_holds(struct search *s, const char *word)
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
		return text_matches(at, word + n + 2);
	if (!claim_value(s->run, word + n + width, &v) ||
	    !claim_compare(strtoull(at, NULL, 10), op, v, &yes))
		s->malformed = true;
	return yes;
}

static void match_record(void *ctx, const uint8_t *bytes, size_t len)
{
	struct search *s = ctx;
	bool all = true;

	if (load_uint(bytes, 4) != s->type)
		return;
	buf_reset(&s->one);
	record_to_text(bytes, len, &s->format, &s->one);
	for (size_t i = s->first; i < s->run->nwords && all; i++)
		all = condition_holds(s, s->run->words[i]);
	if (!all)
		return;
	if (!s->found++) {
		buf_reset(&s->e->record);
		buf_add(&s->e->record, buf_str(&s->one), s->one.len);
	}
}

static enum step_result find_result(struct search *s)
{
	struct claim_run *run = s->run;
	uint64_t want;
	bool good = s->found > 0;

	if (s->malformed)
		return claim_malformed(run);
	if (run->wanted && !strcmp(run->wanted, "none"))
		good = !s->found;
	else if (run->wanted && strcmp(run->wanted, "some")) {
		if (!claim_value(run, run->wanted, &want))
			return STEP_UNTRIED;
		good = s->found == want;
	}
	return good ? STEP_OK :
	       claim_false(run, run->step, "%llu matching records", (unsigned long long)s->found);
}

/* find NAME [by=EVENT] TYPE [CONDITION...] [-> none|some|N]: records in NAME's ring */
enum step_result claim_step_find(struct claim_run *run)
{
	struct claim_event *e = run->nwords > 2 ? claim_find_event(run, run->words[1]) : NULL;
	struct claim_event *by = e;
	struct search s = { .run = run, .e = e, .first = 3 };
	struct ring_seen seen = { .started = false };
	struct ring_result result;
	struct ring_image image;
	char type[40];
	int error;

	if (e && !strncmp(run->words[2], "by=", 3)) {
		by = claim_find_event(run, run->words[2] + 3);
		s.first = 4;
	}
	if (!e || !by || !e->ring || s.first > run->nwords)
		return claim_malformed(run);
	snprintf(type, sizeof(type), "PERF_RECORD_%s", run->words[s.first - 1]);
	if (!claim_value(run, type, &s.type))
		return STEP_UNTRIED;
	record_format_of(&s.format, by->attr, sizeof(by->attr), arch_native());
	image = (struct ring_image){
		.bytes = e->ring, .length = e->ring_len, .backward = e->backward,
		.overwrite = e->overwrite, .settle = ring_settle,
	};
	error = ring_walk(&image, &seen, &result, match_record, &s);
	buf_free(&s.one);
	if (error)
		return claim_untried(run, "cannot read the ring: %s", strerror(-error));
	e->found = s.found;
	return find_result(&s);
}
