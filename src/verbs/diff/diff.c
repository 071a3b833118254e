// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevtrace diff: compare two dumps or perf.data files, or a dump with an expectation. */
#include <stdlib.h>

#include "core/abi/attr_member.h"
#include "core/lib/die.h"
#include "formats/diff/compare.h"
#include "formats/diff/expect.h"
#include "formats/perfdata/perfdata.h"
#include "formats/text/flaw_text.h"
#include "formats/text/text_fit.h"
#include "verbs/cli/input.h"
#include "verbs/cli/machine.h"
#include "verbs/cli/showing.h"
#include "verbs/cmd.h"

#define RED "\033[31m"
#define GREEN "\033[32m"
#define BOLD "\033[1m"
#define PLAIN "\033[m"

/* The differences of one call, or of equal ones in a row, before they are written. */
struct diff_block {
	char *head;		/* "task1 perf_event_open" */
	const struct normal_item *item; /* the call; NULL: none */
	struct buf what;	/* names of the events with these differences */
	struct buf body;
};

struct diff_print {
	struct showing out;
	const char *a, *b;	/* names of the files, for the first lines */
	bool begun;		/* these lines were written */
	unsigned long number;	/* of the expected line that was written last, 0: none */
	struct diff_block now, before;
};

static const char *paint(const struct diff_print *p, const char *color)
{
	return p->out.text.color ? color : "";
}

/* JSON ------------------------------------------------------------------------- */

/* Add the words of " one two" as an array. */
static void add_words(struct sink *k, const char *key, const char *words)
{
	sink_begin(k, key, SINK_ARRAY);
	for (size_t n; *words; words += n) {
		words++;
		n = strcspn(words, " ");
		sink_string(k, NULL, words, n, false);
	}
	sink_end(k);
}

static void json_difference(struct showing *out, const struct difference *d)
{
	static const char *const kinds[] = {
		[DIFF_CHANGED] = "changed", [DIFF_REMOVED] = "removed",
		[DIFF_ADDED] = "added", [DIFF_ORDER] = "order",
	};
	struct buf added = { 0 }, removed = { 0 };

	showing_begin(out, false);
	showing_add(out, "kind", kinds[d->kind]);
	showing_add(out, "task", d->task);
	showing_add(out, "call", d->call);
	showing_add(out, "request", d->request);
	showing_add(out, "event", d->what);
	if (d->kind == DIFF_CHANGED) {
		showing_add(out, "field", d->field);
		showing_add(out, "a", d->a ?: "0");
		showing_add(out, "b", d->b ?: "0");
		if (compare_flags(d->field, d->a, d->b, &added, &removed)) {
			add_words(out->sink, "bits_added", buf_str(&added));
			add_words(out->sink, "bits_removed", buf_str(&removed));
		}
	} else {
		showing_add(out, "line", d->line);
		showing_add(out, "with", d->followers);
	}
	showing_end(out);
	buf_free(&added);
	buf_free(&removed);
}

/* Text -------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3)))
static void diff_printf(struct diff_print *p, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	if (p->out.width)
		text_wrap(&text, p->out.width);
	showing_write(&p->out, &text);
	buf_free(&text);
}

static void block_free(struct diff_block *b)
{
	free(b->head);
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

static void diff_print_end(struct diff_print *p)
{
	block_end(p);
	block_write(p, &p->before);
}

static void diff_print_begin(struct diff_print *p)
{
	if (p->begun)
		return;
	p->begun = true;
	diff_printf(p, "%s--- %s%s\n%s+++ %s%s\n", paint(p, RED), p->a, paint(p, PLAIN),
		    paint(p, GREEN), p->b, paint(p, PLAIN));
}

/*
 * Write what is not compared if one of the two is a perf.data file.  left_out: number of
 * opens in the dump that such a file cannot contain.
 */
static void diff_print_scope(struct diff_print *p, uint64_t left_out)
{
	struct buf text = { 0 };

	buf_adds(&text, "only the attrs of events that were opened and used are compared: a "
		 "perf.data file has no pid, CPU, group or flags of an open, and no other calls");
	if (left_out)
		buf_addf(&text, "; %llu opens of the dump are left out: their ids were "
			 "never read, but the file has the ids of all its events",
			 (unsigned long long)left_out);
	if (p->out.json) {
		showing_begin(&p->out, false);
		showing_add(&p->out, "kind", "scope");
		showing_add(&p->out, "text", buf_str(&text));
		showing_end(&p->out);
	} else {
		diff_print_begin(p);
		diff_printf(p, "# %s\n", buf_str(&text));
	}
	buf_free(&text);
}

static void block_begin(struct diff_print *p, const struct difference *d)
{
	struct diff_block *now = &p->now;
	struct buf head = { 0 };

	if (now->item == d->item)
		return;
	block_end(p);
	buf_addf(&head, "%s %s%s%s", d->task, d->call, d->request ? " " : "",
		 d->request ? d->request : "");
	now->head = head.data;
	now->item = d->item;
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

static void diff_print_difference(void *ctx, const struct difference *d)
{
	struct diff_print *p = ctx;

	if (p->out.json) {
		json_difference(&p->out, d);
		return;
	}
	diff_print_begin(p);
	if (d->kind == DIFF_CHANGED) {
		text_changed(p, d);
	} else if (d->kind == DIFF_ORDER) {
		block_begin(p, d);
		buf_adds(&p->now.body, "      order: differs\n");
	} else {
		bool added = d->kind == DIFF_ADDED;

		diff_print_end(p);
		diff_printf(p, "%s%c %s%s%s%s\n", paint(p, added ? GREEN : RED), added ? '+' : '-',
			    d->task ?: "", d->task ? " " : "", d->line, paint(p, PLAIN));
		if (d->followers)
			diff_printf(p, "      with it: %s\n", d->followers);
	}
}

/* Expectations -------------------------------------------------------------------- */

static void json_mismatch(struct showing *out, const struct mismatch *m)
{
	static const char *const kinds[] = {
		[EXPECT_FIELD] = "field", [EXPECT_MISSING] = "missing",
		[EXPECT_SURPLUS] = "unexpected",
	};

	showing_begin(out, false);
	showing_add(out, "kind", kinds[m->kind]);
	if (m->number)
		json_add_uint(&out->object, "line", m->number);
	if (m->kind == EXPECT_FIELD) {
		showing_add(out, "field", m->field);
		showing_add(out, "expected", m->wanted ?: "0");
		showing_add(out, "is", m->is ?: "0");
	}
	showing_add(out, m->kind == EXPECT_SURPLUS ? "is_line" : "expected_line", m->line);
	showing_end(out);
}

static void diff_print_mismatch(void *ctx, const struct mismatch *m)
{
	struct diff_print *p = ctx;

	if (p->out.json) {
		json_mismatch(&p->out, m);
		return;
	}
	diff_print_begin(p);
	switch (m->kind) {
	case EXPECT_FIELD:
		/* the expected line, before its first field that differs */
		if (p->number != m->number)
			diff_printf(p, "  %s:%lu: %s%s%s\n", p->a, m->number, paint(p, BOLD),
				    m->line, paint(p, PLAIN));
		p->number = m->number;
		diff_printf(p, "      %s: expected %s%s%s, is %s%s%s\n", m->field, paint(p, RED),
		       m->wanted ?: "0", paint(p, PLAIN), paint(p, GREEN), m->is ?: "0",
		       paint(p, PLAIN));
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

static void json_item(struct showing *out, const struct normal *n, const struct normal_task *t,
		      const struct normal_item *i, const struct normal_choice *choice)
{
	const struct normal_form *f = normal_form(n, i);
	struct buf value = { 0 };

	showing_begin(out, false);
	showing_add(out, "task", t->name);
	showing_add(out, "call", f->desc->name);
	sink_begin(out->sink, "fields", SINK_OBJECT);
	for (size_t k = 0; k < f->nfields; k++) {
		if (!normal_chosen(choice, f->desc->name, f->fields[k].key))
			continue;
		buf_reset(&value);
		normal_value(n, t, i, f->fields[k].value, &value);
		showing_add(out, f->fields[k].key, buf_str(&value));
	}
	sink_end(out->sink);
	showing_end(out);
	buf_free(&value);
}

/* The verb -------------------------------------------------------------------- */

struct diffing {
	struct options options;
	struct normal_choice choice;
	char **words;		/* owned; names in choice point into them */
	size_t nwords;
	struct diff_print print;
	bool normalize;
	enum choice merge;	/* whether the threads of a process are compared as one task */
	struct normal_reading how;
	const char *expect;
	bool trouble;
	struct normal_forms *forms;
};

/* One of the compared sessions. */
struct side {
	FILE *file;
	const char *name;
	struct normal *normal;	/* NULL after a warn() */
	bool ids;		/* a perf.data file, with the ids of every event */
};

/* Options -------------------------------------------------------------------- */

static void offer_fields(struct nearest *n)
{
	for (size_t i = 0; i < CALL_COUNT; i++)
		nearest_try(n, call_descs[i].name);
	nearest_try(n, "loss");
	attr_member_offer(n);
}

static void set_fields(void *to, const char *arg, const struct verb_option *o)
{
	struct diffing *d = to;
	bool only = !strcmp(o->name, "only");
	const char ***list = only ? &d->choice.only : &d->choice.ignore;
	size_t *n = only ? &d->choice.nonly : &d->choice.nignore;
	char *copy = xstrdup(arg), *save, *word;
	struct nearest near;

	APPEND(d->words, d->nwords) = copy;
	for (word = strtok_r(copy, ", ", &save); word; word = strtok_r(NULL, ", ", &save)) {
		if (!normal_known(word) && strcmp(word, "added") &&
		    strcmp(word, "removed") && strcmp(word, "order")) {
			nearest_start(&near, word, strlen(word));
			offer_fields(&near);
			if (*near.best)
				die("%s: no such field or call '%s'; did you mean %s?", o->typed,
				    word, near.best);
			die("%s: no such field or call '%s'; pevtrace diff --normalize shows their "
			    "names", o->typed, word);
		}
		APPEND(*list, *n) = word;
	}
}

#define AT(member) offsetof(struct diffing, member)

static const struct verb_option options[] = {
	{ .name = "normalize", .set = verb_set_true, .at = AT(normalize),
	  .help = "write the dump in normal form, one call per line" },
	{ .name = "expect", .arg = "FILE", .set = verb_set_text, .at = AT(expect),
	  .help = "compare with FILE: a normal form with * and a|b" },
	{ .name = "ignore", .arg = "FIELD", .set = set_fields,
	  .help = "ignore a field, a call, CALL.FIELD, errno, added, removed or order; "
		  "repeatable" },
	{ .name = "only", .arg = "FIELD", .set = set_fields,
	  .help = "compare only that; repeatable" },
	{ .name = "no-probes", .set = verb_set_true, .at = AT(how.no_probes),
	  .help = "ignore opens that failed, and events that were opened and closed without "
		  "being used" },
	{ .name = "merge-threads", .arg = "WHEN", .optional = true, .words = "always never auto",
	  .help = "compare the threads of a process as one task; auto, without it: if they are "
		  "equal then", .set = options_set_choice, .at = AT(merge) },
	{ 0 },
};

static const struct verb_group groups[] = {
	{ "Options", options, 0, 0 },
	{ NULL, options_keep_going, AT(options), 0 },
	{ NULL, options_json, AT(options), 0 },
	{ NULL, options_plain + 1, AT(options), 0 }, /* without -o */
	{ 0 },
};

/* Work ------------------------------------------------------------------------ */

static void read_side(struct diffing *d, struct side *s)
{
	struct machine machine;
	bool whole = false;

	if (perfdata_is(s->file)) {
		machine_open(&machine);
		s->normal = normal_read_perfdata(s->file, s->name, d->forms, &machine.names,
						 d->how.keep_going, &whole, &s->ids);
		machine_close(&machine);
	} else {
		s->normal = normal_read(s->file, s->name, d->forms, &d->how, &whole);
	}
	d->trouble |= !whole;
}

static int normalize(struct diffing *d, struct side *s)
{
	struct showing *out = &d->print.out;
	struct buf line = { 0 };
	struct normal *n;

	read_side(d, s);
	n = s->normal;
	if (n && !out->json)
		buf_adds(&line, "# pevtrace normal form 1\n");
	for (size_t t = 0; n && t < n->ntasks; t++) {
		for_each(item, n->tasks[t]->items, n->tasks[t]->nitems) {
			if (out->json) {
				json_item(out, n, n->tasks[t], item, &d->choice);
				continue;
			}
			normal_line(n, n->tasks[t], item, &d->choice, &line);
			buf_addc(&line, '\n');
			showing_write(out, &line);
			buf_reset(&line);
		}
	}
	showing_write(out, &line);
	buf_free(&line);
	return EXIT_YES;
}

static int expect(struct diffing *d, struct side *s)
{
	struct expectation *x = NULL;
	FILE *f = input_open(d->expect, &d->print.a);
	int ok = -1;

	if (perfdata_is(f))
		warn("%s is a perf.data file; --expect requires what pevtrace diff --normalize "
		     "writes of it", d->print.a);
	else
		x = expect_read(f, d->print.a, &d->choice);
	input_close(f);
	d->print.b = s->name;
	if (x)
		read_side(d, s);
	if (s->normal)
		ok = expect_check(x, s->normal, &d->choice, diff_print_mismatch, &d->print);
	expect_free(x);
	return ok < 0 ? EXIT_TROUBLE : ok ? EXIT_YES : EXIT_NO;
}

static bool same_calls(struct diffing *d, struct side side[2])
{
	return normal_compare(side[0].normal, side[1].normal, &d->choice, NULL, NULL);
}

static bool read_two(struct diffing *d, struct side side[2])
{
	read_side(d, &side[0]);
	if (side[0].normal)
		read_side(d, &side[1]);
	return side[1].normal;
}

static void free_two(struct side side[2])
{
	normal_free(side[0].normal);
	normal_free(side[1].normal);
}

/*
 * Replace the dumps that were read by the same with merged threads, if they are equal only then:
 * the calls of a Go program move between its threads.
 */
static void try_merged(struct diffing *d, struct side side[2])
{
	struct side merged[2] = { side[0], side[1] };

	if (d->trouble || !side[0].normal->threads || !side[1].normal->threads ||
	    side[0].file == stdin || side[1].file == stdin || same_calls(d, side))
		return;
	d->how.merge_threads = true;
	rewind(merged[0].file);
	rewind(merged[1].file);
	merged[0].normal = merged[1].normal = NULL;
	if (!read_two(d, merged) || !same_calls(d, merged)) {
		free_two(merged);
		return;
	}
	warn("equal only if the threads of a process are compared as one task: calls moved "
	     "between threads; see --merge-threads");
	free_two(side);
	memcpy(side, merged, sizeof(merged));
}

/* Write which records and samples one session lost, and the other did not, or much less. */
static bool same_loss(struct diffing *d, const struct side side[2])
{
	const struct normal *a = side[0].normal, *b = side[1].normal;
	bool same = true;

	for (unsigned int i = 0; i < 2 * FLAW_COUNT && !a->attrs_only && !b->attrs_only; i++) {
		const struct flaw *f = &side[i % 2].normal->flaws.of[i / 2];
		struct buf text = { 0 };

		if (!flaw_loss_differs(i / 2, &a->flaws, &b->flaws) ||
		    !normal_chosen(&d->choice, "loss", flaw_descs[i / 2].name))
			continue;
		same = false;
		flaw_line(i / 2, f, &text);
		if (f->events)
			diff_print_difference(&d->print, &(struct difference){
				.kind = i % 2 ? DIFF_ADDED : DIFF_REMOVED,
				.call = flaw_descs[i / 2].name, .line = buf_str(&text),
			});
		buf_free(&text);
	}
	return same;
}

static int two(struct diffing *d, struct side side[2])
{
	struct side *dump;
	uint64_t left_out;
	bool same = true;

	d->print.a = side[0].name;
	d->print.b = side[1].name;
	if (read_two(d, side)) {
		if (d->merge == CHOICE_AUTO)
			try_merged(d, side);
		/* if only one side is a perf.data file, reduce the dump to attrs, too */
		if (side[0].normal->attrs_only != side[1].normal->attrs_only) {
			dump = &side[side[0].normal->attrs_only];
			dump->normal = normal_attrs(dump->normal, side[dump == side].ids,
						    &left_out);
			diff_print_scope(&d->print, left_out);
		}
		same = same_loss(d, side);
		same &= normal_compare(side[0].normal, side[1].normal, &d->choice,
				       diff_print_difference, &d->print);
		diff_print_end(&d->print);
	}
	return same ? EXIT_YES : EXIT_NO;
}

static int diff_run(void *state, const struct verb_args *args)
{
	struct diffing *d = state;
	struct side side[2] = { { .normal = NULL } };
	size_t wanted = d->normalize || d->expect ? 1 : 2;
	int status;

	if (d->normalize && d->expect)
		die("--normalize and --expect are mutually exclusive");
	verb_want(args, wanted);
	if (args->n == 2 && !strcmp(args->words[0], "-") && !strcmp(args->words[1], "-"))
		die("only one of the files can be standard input");
	for (size_t i = 0; i < args->n; i++)
		d->options.no_pager |= input_is_terminal(args->words[i]);
	for (size_t i = 0; i < wanted; i++)
		side[i].file = input_session(args, i, false, true, &side[i].name);
	d->forms = normal_forms_new();
	d->how.merge_threads = d->merge == CHOICE_ALWAYS;
	d->how.keep_going = d->options.keep_going;
	showing_open(&d->print.out, &d->options);
	status = d->normalize ? normalize(d, side) : d->expect ? expect(d, side) : two(d, side);
	free_two(side);
	for (size_t i = 0; i < wanted; i++)
		input_close(side[i].file);
	d->trouble |= !showing_close(&d->print.out);
	normal_forms_free(d->forms);
	block_free(&d->print.now);
	block_free(&d->print.before);
	for (size_t i = 0; i < d->nwords; i++)
		free(d->words[i]);
	free(d->words);
	free(d->choice.ignore);
	free(d->choice.only);
	return d->trouble ? EXIT_TROUBLE : status;
}

const struct verb diff_verb = {
	.name = "diff",
	.own = "FIELD",
	.offer = offer_fields,
	.summary = "Compare two dumps, or a dump and an expectation",
	.usage =
"diff [OPTION]... DUMP DUMP\n"
"diff [OPTION]... DUMP -- COMMAND [ARG]...\n"
"diff --normalize [OPTION]... DUMP | -- COMMAND [ARG]...\n"
"diff --expect=FILE [OPTION]... DUMP | -- COMMAND [ARG]...",
	.about =
"Show how two runs differ that pevtrace --json=DUMP recorded. A DUMP may also be a "
"perf.data file, of which the attrs of events are compared, or an EVENT; a COMMAND is traced.\n"
"\n"
"Events are matched by their attrs. Pids, descriptors, ids, addresses, times, counts, waits "
"and reads are ignored; lost records are compared.",
	.notes =
"A DUMP of - is standard input. The exit status is 0 if nothing differs, 1 if something "
"does, 2 on misuse and trouble.",
	.examples =
"pevtrace diff --ignore=sample_freq old.jsonl new.jsonl\n"
"pevtrace diff cycles:p cycles:pp\n"
"pevtrace diff --normalize good.jsonl >expected\n"
"pevtrace diff --expect=expected -- ./profiler",
	.operand = "DUMP|PERF.DATA|EVENT|COMMAND",
	.groups = groups,
	.size = sizeof(struct diffing),
	.init = options_init,
	.run = diff_run,
};
