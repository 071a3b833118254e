// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/diff/diff_print.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "formats/json/json_text.h"
#include "formats/text/text_wrap.h"

#define NORMAL_VERSION 1

#define RED "\033[31m"
#define GREEN "\033[32m"
#define BOLD "\033[1m"
#define PLAIN "\033[m"

static const char *paint(const struct diff_print *p, const char *color)
{
	return p->color ? color : "";
}

/* JSON ------------------------------------------------------------------------- */

static void add_text(struct json_text *o, const char *key, const char *text)
{
	if (text)
		sink_symbol(&o->sink, key, text);
}

/* Add the words of " one two" as an array. */
static void add_words(struct json_text *o, const char *key, const char *words)
{
	sink_begin(&o->sink, key, SINK_ARRAY);
	for (size_t n; *words; words += n) {
		words++;
		n = strcspn(words, " ");
		sink_string(&o->sink, NULL, words, n, false);
	}
	sink_end(&o->sink);
}

static void write_json(struct json_text *o)
{
	struct buf line = json_text_end(o);

	buf_addc(&line, '\n');
	fwrite(line.data, 1, line.len, stdout);
	buf_free(&line);
}

static void json_difference(const struct difference *d)
{
	static const char *const kinds[] = {
		[DIFF_CHANGED] = "changed", [DIFF_REMOVED] = "removed",
		[DIFF_ADDED] = "added", [DIFF_ORDER] = "order",
	};
	struct json_text o;
	struct buf added = { 0 }, removed = { 0 };

	json_text_begin(&o);
	add_text(&o, "kind", kinds[d->kind]);
	add_text(&o, "task", d->task);
	add_text(&o, "call", d->call);
	add_text(&o, "request", d->request);
	add_text(&o, "event", d->what);
	if (d->kind == DIFF_CHANGED) {
		add_text(&o, "field", d->field);
		add_text(&o, "a", d->a ? d->a : "0");
		add_text(&o, "b", d->b ? d->b : "0");
		if (compare_flags(d->field, d->a, d->b, &added, &removed)) {
			add_words(&o, "bits_added", buf_str(&added));
			add_words(&o, "bits_removed", buf_str(&removed));
		}
	} else {
		add_text(&o, "line", d->line);
		add_text(&o, "with", d->followers);
	}
	write_json(&o);
	buf_free(&added);
	buf_free(&removed);
}

/* Text -------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3)))
static void diff_printf(const struct diff_print *p, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	if (p->width)
		text_wrap(&text, p->width);
	fputs(buf_str(&text), stdout);
	buf_free(&text);
}

static void block_free(struct diff_block *b)
{
	free(b->head);
	free(b->line);
	buf_free(&b->what);
	buf_free(&b->body);
	*b = (struct diff_block){ 0 };
}

static void block_write(struct diff_print *p, struct diff_block *b)
{
	if (b->head)
		diff_printf(p, "  %s%s%s%s%s\n%s", paint(p, BOLD), b->head, b->what.len ? " " : "",
		       buf_str(&b->what), paint(p, PLAIN), buf_str(&b->body));
	block_free(b);
}

/* End a block; join it to the one before if the differences are equal (one event, many CPUs). */
static void block_end(struct diff_print *p)
{
	struct diff_block *now = &p->now, *before = &p->before;

	if (!now->head)
		return;
	if (before->head && !strcmp(now->head, before->head) && now->what.len &&
	    before->what.len && !strcmp(buf_str(&now->body), buf_str(&before->body))) {
		buf_addf(&before->what, ", %s", now->what.data);
		block_free(now);
		return;
	}
	block_write(p, before);
	*before = *now;
	*now = (struct diff_block){ 0 };
}

static void diff_print_begin(struct diff_print *p, const char *a, const char *b)
{
	if (p->begun)
		return;
	p->begun = true;
	diff_printf(p, "%s--- %s%s\n%s+++ %s%s\n", paint(p, RED), a, paint(p, PLAIN),
	       paint(p, GREEN), b, paint(p, PLAIN));
}

void diff_print_scope(struct diff_print *p, uint64_t left_out)
{
	struct json_text o;
	struct buf text = { 0 };

	buf_adds(&text, "only the attrs of events that were opened and used are compared: a "
		 "perf.data file has no pid, CPU, group or flags of an open, and no other calls");
	if (left_out)
		buf_addf(&text, "; %llu opens of the dump are left out: their ids were "
			 "never read, but the file has the ids of all its events",
			 (unsigned long long)left_out);
	if (p->json) {
		json_text_begin(&o);
		add_text(&o, "kind", "scope");
		add_text(&o, "text", buf_str(&text));
		write_json(&o);
	} else {
		diff_print_begin(p, p->a, p->b);
		diff_printf(p, "# %s\n", buf_str(&text));
	}
	buf_free(&text);
}

static void block_begin(struct diff_print *p, const struct difference *d)
{
	struct diff_block *now = &p->now;
	struct buf head = { 0 };

	if (now->line && !strcmp(now->line, d->line) &&
	    !strncmp(now->head, d->task, strlen(d->task)))
		return;
	block_end(p);
	buf_addf(&head, "%s %s%s%s", d->task, d->call, d->request ? " " : "",
		 d->request ? d->request : "");
	now->head = head.data;
	now->line = xstrdup(d->line);
	if (d->what)
		buf_adds(&now->what, d->what);
}

/* Append " +NAME" for each word of " NAME NAME". */
static void add_bits(struct diff_print *p, struct buf *out, const char *words, char sign)
{
	for (size_t n; *words; words += n) {
		words++;
		n = strcspn(words, " ");
		buf_addf(out, " %s%c%.*s%s", paint(p, sign == '+' ? GREEN : RED), sign,
			 (int)n, words, paint(p, PLAIN));
	}
}

static void text_changed(struct diff_print *p, const struct difference *d)
{
	struct buf added = { 0 }, removed = { 0 };
	struct buf *out = &p->now.body;

	block_begin(p, d);
	buf_addf(out, "      %s:", d->field);
	if (compare_flags(d->field, d->a, d->b, &added, &removed)) {
		add_bits(p, out, buf_str(&removed), '-');
		add_bits(p, out, buf_str(&added), '+');
		buf_addc(out, '\n');
	} else {
		buf_addf(out, " %s%s%s -> %s%s%s\n", paint(p, RED), d->a ? d->a : "0",
			 paint(p, PLAIN), paint(p, GREEN), d->b ? d->b : "0",
			 paint(p, PLAIN));
	}
	buf_free(&added);
	buf_free(&removed);
}

static void text_alone(struct diff_print *p, const struct difference *d)
{
	bool added = d->kind == DIFF_ADDED;

	diff_print_end(p);
	diff_printf(p, "%s%c %s %s%s\n", paint(p, added ? GREEN : RED), added ? '+' : '-', d->task,
	       d->line, paint(p, PLAIN));
	if (d->followers)
		diff_printf(p, "      with it: %s\n", d->followers);
}

void diff_print_difference(void *ctx, const struct difference *d)
{
	struct diff_print *p = ctx;

	if (p->json) {
		json_difference(d);
		return;
	}
	diff_print_begin(p, p->a, p->b);
	if (d->kind == DIFF_CHANGED) {
		text_changed(p, d);
	} else if (d->kind == DIFF_ORDER) {
		block_begin(p, d);
		buf_adds(&p->now.body, "      order: differs\n");
	} else {
		text_alone(p, d);
	}
}

void diff_print_end(struct diff_print *p)
{
	block_end(p);
	block_write(p, &p->before);
}

void diff_print_free(struct diff_print *p)
{
	block_free(&p->now);
	block_free(&p->before);
}

/* Expectations -------------------------------------------------------------------- */

static void json_mismatch(const struct mismatch *m)
{
	static const char *const kinds[] = {
		[EXPECT_FIELD] = "field", [EXPECT_MISSING] = "missing",
		[EXPECT_SURPLUS] = "unexpected",
	};
	struct json_text o;

	json_text_begin(&o);
	add_text(&o, "kind", kinds[m->kind]);
	if (m->number)
		json_add_uint(&o, "line", m->number);
	if (m->kind == EXPECT_FIELD) {
		add_text(&o, "field", m->field);
		add_text(&o, "expected", m->wanted ? m->wanted : "0");
		add_text(&o, "is", m->is ? m->is : "0");
	}
	add_text(&o, m->kind == EXPECT_SURPLUS ? "is_line" : "expected_line", m->line);
	write_json(&o);
}

/* Write the expected line before its first mismatching field. */
static void line_of_field(struct diff_print *p, const struct mismatch *m)
{
	if (p->now.line && p->now.line[0] && !strcmp(p->now.line, m->line))
		return;
	free(p->now.line);
	p->now.line = xstrdup(m->line);
	diff_printf(p, "  %s:%lu: %s%s%s\n", p->a, m->number, paint(p, BOLD), m->line,
	       paint(p, PLAIN));
}

void diff_print_mismatch(void *ctx, const struct mismatch *m)
{
	struct diff_print *p = ctx;

	if (p->json) {
		json_mismatch(m);
		return;
	}
	diff_print_begin(p, p->a, p->b);
	switch (m->kind) {
	case EXPECT_FIELD:
		line_of_field(p, m);
		diff_printf(p, "      %s: expected %s%s%s, is %s%s%s\n", m->field, paint(p, RED),
		       m->wanted ? m->wanted : "0", paint(p, PLAIN), paint(p, GREEN),
		       m->is ? m->is : "0", paint(p, PLAIN));
		break;
	case EXPECT_MISSING:
		diff_printf(p, "%s- %s:%lu: %s%s\n", paint(p, RED), p->a, m->number, m->line,
		       paint(p, PLAIN));
		break;
	case EXPECT_SURPLUS:
		diff_printf(p, "%s+ %s%s\n", paint(p, GREEN), m->line, paint(p, PLAIN));
		break;
	}
}

/* The normal form ------------------------------------------------------------------- */

static void json_item(const struct normal *n, const struct normal_task *t,
		      const struct normal_item *i, const struct normal_choice *choice)
{
	struct json_text o;
	const struct normal_form *f = normal_form(n, i);
	struct buf value = { 0 };

	json_text_begin(&o);
	add_text(&o, "task", t->name);
	add_text(&o, "call", f->desc->name);
	sink_begin(&o.sink, "fields", SINK_OBJECT);
	for (size_t k = 0; k < f->nfields; k++) {
		if (!normal_chosen(choice, f->desc->name, f->fields[k].key))
			continue;
		buf_reset(&value);
		normal_value(n, t, i, f->fields[k].value, &value);
		add_text(&o, f->fields[k].key, buf_str(&value));
	}
	sink_end(&o.sink);
	write_json(&o);
	buf_free(&value);
}

void diff_print_normal(struct diff_print *p, const struct normal *n,
		       const struct normal_choice *choice)
{
	struct buf line = { 0 };

	if (!p->json)
		printf("# pevtrace normal form %d\n", NORMAL_VERSION);
	for (size_t t = 0; t < n->ntasks; t++) {
		for (size_t i = 0; i < n->tasks[t]->nitems; i++) {
			const struct normal_item *item = &n->tasks[t]->items[i];

			if (p->json) {
				json_item(n, n->tasks[t], item, choice);
				continue;
			}
			buf_reset(&line);
			normal_line(n, n->tasks[t], item, choice, &line);
			puts(buf_str(&line));
		}
	}
	buf_free(&line);
}
