// SPDX-License-Identifier: LGPL-2.1-or-later
/* The entries of the dictionary: how each kind is written, and all of them. */
#include "explain/lexicon.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/host/sysfile.h"
#include "explain/attr_prose.h"
#include "explain/lexicon_internal.h"
#include "xlat/tables.h"

/* Write the first line, the meaning and, unless term is NULL, what terms.in has on that name. */
static void entry_begin(struct prose *p, const struct lexicon_entry *e, const char *what,
			const char *meaning, const char *term)
{
	entry_head(p, e, what);
	prose_line(p, ENTRY_LABEL, ENTRY_LABEL);
	prose_addf(p, "%s.", meaning);
	if (term)
		entry_term(p, term);
}

static void write_value(struct prose *p, const struct lexicon_entry *e)
{
	const struct xlat *x = e->table;
	const char *kind = x->kind == XLAT_ENUM ? "a value" :
			   x->kind == XLAT_FLAGS ? "a flag" : "the number of a bit";
	uint64_t v = e->constant->value;

	entry_label(p, "Value");
	if (x->kind == XLAT_FLAGS)
		prose_addf(p, "0x%llx", (unsigned long long)v);
	else
		prose_addf(p, "%lld", (long long)v);
	if (x->kind == XLAT_FLAGS && v && !(v & (v - 1)))
		prose_addf(p, ", bit %d", __builtin_ctzll(v));
	if (x->kind == XLAT_FLAGS && e->constant->mask != v)
		prose_addf(p, ", of the bits 0x%llx", (unsigned long long)e->constant->mask);
	if (x->btf)
		prose_addf(p, "; %s of enum %s", kind, x->btf);
	else if (*x->prefix)
		prose_addf(p, "; %s among %s*", kind, x->prefix);
	else
		prose_addf(p, "; %s", kind);
	if (e->constant->traits & XLAT_NONABI)
		prose_adds(p, "; not a value that programs pass");
	if (e->constant->traits & XLAT_ALIAS)
		prose_adds(p, "; an alias of another name there");
	prose_adds(p, ".");
}

/* Suggest to try an open with that value of a member. */
static void example_open(struct prose *p, const char *member, const char *value)
{
	entry_label(p, "Example");
	prose_addf(p, "pevtrace why --once -e cpu-clock,%s=%s shows whether this machine's "
		      "kernel accepts it.", member, value);
}

static void write_constant(struct prose *p, const struct lexicon_entry *e)
{
	bool error = e->table == &xlat_perf_open_errno;
	bool record = e->table == &xlat_perf_event_type;
	const struct layout *l = &layout_perf_event_attr;
	const struct field *f = NULL;

	entry_begin(p, e, error ? "an error" : "a constant", e->constant->meaning, e->name);
	write_value(p, e);
	entry_users(p, e->table);
	entry_members(p, e->name);
	entry_since(p, e->constant->since);
	if (error)
		entry_checks_with_error(p, (int)e->constant->value);
	if (e->table == &xlat_bpf_cmd)
		entry_refusals_of(p, "bpf", e->name);
	entry_rules_of_value(p, e->table, e->constant);
	entry_manual_of_table(p, e->table);
	for (size_t i = 0; i < l->n && !f; i++)
		if (l->fields[i].xlat == e->table && l->fields[i].kind == FIELD_FLAGS)
			f = &l->fields[i];
	if (e->constant->traits)
		return;
	if (f)
		example_open(p, f->name, e->name);
	else if (record || error)
		entry_label(p, "Example");
	if (!f && record)
		prose_adds(p, "pevtrace --records COMMAND shows the records of a command.");
	else if (!f && error)
		prose_adds(p, "pevtrace why -- COMMAND finds why a command's events are refused.");
}

static void write_table(struct prose *p, const struct lexicon_entry *e)
{
	entry_head(p, e, "a table of constants");
	entry_users(p, e->table);
	for (size_t i = 0; i < e->table->n; i++) {
		const struct xlat_entry *c = &e->table->entries[i];

		prose_line(p, ENTRY_LABEL, ENTRY_BODY);
		prose_addf(p, "%s: %s.", c->name, c->meaning);
	}
	entry_manual_of_table(p, e->table);
}

static void write_place(struct prose *p, const struct lexicon_entry *e)
{
	const struct field *f = e->member;

	entry_label(p, "Where");
	if (f->nbits == 1)
		prose_addf(p, "bit %u of the %u bytes", f->bit, f->width);
	else if (f->nbits)
		prose_addf(p, "bits %u to %u of the %u bytes", f->bit, f->bit + f->nbits - 1,
			   f->width);
	else
		prose_addf(p, "%u byte%s", f->width, f->width == 1 ? "" : "s");
	if (e->layout->part && !f->offset)
		prose_adds(p, " in the data of ");
	else
		prose_addf(p, " at offset %u of ", f->offset);
	entry_layout(p, e->layout);
	if (f->size)
		prose_addf(p, ", in structures of at least %u bytes", (unsigned int)f->size);
	prose_adds(p, ".");
	if (f->when.op != COND_NONE) {
		entry_label(p, "Shares its bytes");
		prose_adds(p, "used if ");
		attr_prose_condition(e->layout, &f->when, p);
		prose_adds(p, ".");
	}
	if (f->needs.op != COND_NONE) {
		entry_label(p, "Has effect only if");
		attr_prose_condition(e->layout, &f->needs, p);
		prose_adds(p, ".");
	}
}

static void write_member(struct prose *p, const struct lexicon_entry *e)
{
	char name[96];
	bool attr = !strcmp(e->layout->name, "perf_event_attr");
	const struct field *f = e->member;
	const char *value = NULL;
	size_t n = 0;

	snprintf(name, sizeof(name), "%s.%s", e->layout->name, e->name);
	entry_begin(p, e, attr ? "a field of the attr" : "a member", e->member->meaning, name);
	if (e->member->xlat)
		entry_names(p, e->member->xlat);
	write_place(p, e);
	/* the members that depend on this one */
	for (size_t i = 0; i < e->layout->n; i++) {
		const struct field *other = &e->layout->fields[i];
		bool needs = other->needs.op != COND_NONE && other->needs.op != COND_PMU &&
			     !strcmp(e->layout->fields[other->needs.field].name, e->name);
		bool when = other->when.op != COND_NONE && other->when.op != COND_PMU &&
			    !strcmp(e->layout->fields[other->when.field].name, e->name);

		if (!needs && !when)
			continue;
		entry_listed(p, n++, "Controls");
		prose_adds(p, other->name);
	}
	if (n)
		prose_adds(p, ".");
	entry_since(p, e->member->since);
	if (attr)
		entry_rules_of_field(p, e->name);
	entry_manual_of_layout(p, e->layout);
	if (!attr)
		return;
	entry_label(p, "Default");
	prose_adds(p, "0.");
	for (size_t i = 0; f->xlat && i < f->xlat->n; i++)
		if (!f->xlat->entries[i].traits && (!value || f->kind != FIELD_FLAGS))
			value = f->xlat->entries[i].name;
	/* those that can be set with -e */
	if (f->kind == FIELD_BOOL || f->kind == FIELD_UINT || f->kind == FIELD_FLAGS ||
	    f->kind == FIELD_ENUM || f->kind == FIELD_WORDS)
		example_open(p, f->name, value ? value : "1");
}

static void write_layout(struct prose *p, const struct lexicon_entry *e)
{
	entry_head(p, e, "a structure");
	prose_addf(p, " of %u bytes in the newest known release.", (unsigned int)e->layout->size);
	for (size_t i = 0; i < e->layout->n; i++) {
		prose_line(p, ENTRY_LABEL, ENTRY_BODY);
		prose_addf(p, "%s: %s.", e->layout->fields[i].name,
			   e->layout->fields[i].meaning);
	}
	entry_manual_of_layout(p, e->layout);
}

static void write_ioctl(struct prose *p, const struct lexicon_entry *e)
{
	static const char *const args[] = {
		[IOCTL_ARG_UINT] = "a number", [IOCTL_ARG_SINT] = "a number",
		[IOCTL_ARG_FLAGS] = "flags", [IOCTL_ARG_FD] = "a descriptor",
		[IOCTL_ARG_U64] = "64 bits", [IOCTL_ARG_STRING] = "a string",
		[IOCTL_ARG_ATTR] = "a struct perf_event_attr",
		[IOCTL_ARG_QUERY_BPF] = "a struct perf_event_query_bpf",
	};
	const struct ioctl_desc *d = e->ioctl;

	entry_begin(p, e, "an ioctl of event descriptors", d->meaning, e->name);
	entry_label(p, "Request");
	prose_addf(p, "0x%x", d->request);
	if (d->compat != d->request)
		prose_addf(p, ", and 0x%x from 32-bit programs", d->compat);
	prose_adds(p, ".");
	entry_label(p, "Argument");
	prose_addf(p, "%s%s", d->dir == IOCTL_VALUE ? "" : "a pointer to ", args[d->arg]);
	prose_addf(p, "%s.", d->dir == IOCTL_OUT ? ", written by the kernel" :
			     d->dir == IOCTL_INOUT ? ", read and written by the kernel" : "");
	if (d->xlat)
		entry_names(p, d->xlat);
	entry_since(p, d->since);
	for (const struct taker_desc *t = taker_descs; t->meaning; t++) {
		/* rows of one request and release are adjacent: use the last */
		if (t->request != d->request ||
		    (t[1].meaning && t[1].request == t->request && t[1].since == t->since))
			continue;
		entry_label(p, "Before");
		entry_release(p, t->since);
		prose_addf(p, ": %s.", t->meaning);
	}
	entry_refusals_of(p, "ioctl", e->name);
	entry_manual(p, "perf_event_open(2), perf_event ioctl calls");
	entry_label(p, "Example");
	prose_addf(p, "pevtrace -e trace=ioctl COMMAND shows a program's ioctls.");
}

static void write_call(struct prose *p, const struct lexicon_entry *e)
{
	char page[64];
	size_t len;

	entry_begin(p, e, "a system call", e->call->meaning, e->name);
	if (e->call->nargs)
		entry_label(p, "Arguments");
	for (unsigned int i = 0; i < e->call->nargs; i++)
		prose_addf(p, "%s%s", i ? ", " : "", e->call->args[i].name);
	prose_adds(p, e->call->nargs ? "." : "");
	entry_since(p, e->call->since);
	entry_refusals_of(p, e->name, NULL);
	/* the 32-bit variant has no page of its own */
	len = strstr(e->name, "_time64") ? strlen(e->name) - strlen("_time64") : strlen(e->name);
	snprintf(page, sizeof(page), "%.*s(2)", (int)len, e->name);
	entry_manual(p, page);
}

static void write_argument(struct prose *p, const struct lexicon_entry *e)
{
	char name[96];

	snprintf(name, sizeof(name), "%s.%s", e->call->name, e->name);
	entry_head(p, e, "an argument of perf_event_open");
	prose_line(p, ENTRY_LABEL, ENTRY_LABEL);
	entry_term(p, name);
	if (e->call->args[e->argument].xlat)
		entry_names(p, e->call->args[e->argument].xlat);
	entry_rules_of_field(p, e->name);
	entry_manual(p, "perf_event_open(2), Arguments");
}

static void write_flaw(struct prose *p, const struct lexicon_entry *e)
{
	entry_begin(p, e, "a flaw of an event that opens", e->flaw->meaning, NULL);
	entry_label(p, "Consequence");
	prose_addf(p, "%s.", e->flaw->consequence);
	entry_label(p, "Condition");
	prose_adds(p, e->flaw->condition);
	prose_adds(p, ".");
}

static void write_rule(struct prose *p, const struct lexicon_entry *e)
{
	const struct xlat *x = &xlat_rule_by;
	const char *error = xlat_name(&xlat_perf_open_errno, (uint64_t)e->rule->error);
	const char *sep = "";

	entry_begin(p, e, "a kernel check in perf_event_open", e->rule->meaning, NULL);
	entry_label(p, "Error");
	prose_adds(p, error ? error : "depends on the case");
	prose_adds(p, ".");
	if (*e->rule->fields) {
		entry_label(p, "Fields");
		prose_addf(p, "%s.", e->rule->fields);
	}
	entry_label(p, "Decided by");
	for (size_t i = 0; i < x->n; i++)
		if (e->rule->by & x->entries[i].value) {
			prose_addf(p, "%s%s", sep, x->entries[i].meaning);
			sep = ", ";
		}
	prose_adds(p, ".");
	entry_since(p, e->rule->since);
	if (e->rule->until) {
		entry_label(p, "Until");
		entry_release(p, e->rule->until);
		prose_adds(p, ".");
	}
	entry_manual(p, "pevtrace-why(1)");
}

static void write_pmu(struct prose *p, const struct lexicon_entry *e)
{
	uint64_t rest = e->pmu->traits;
	const struct xlat_entry *c;
	size_t at = 0;

	entry_begin(p, e, "a PMU", e->pmu->meaning, NULL);
	while ((c = xlat_next_flag(&xlat_pmu_trait, &rest, &at)))
		prose_addf(p, " %s.", c->meaning);
	entry_since(p, e->pmu->since);
	entry_label(p, "Example");
	prose_adds(p, "pevtrace list --tried pmu lists the PMUs of this machine.");
}

static void write_step(struct prose *p, const struct lexicon_entry *e)
{
	entry_head(p, e, "a kernel function");
	for (const struct step_desc *d = step_descs; d->step; d++) {
		bool first = d == step_descs || strcmp(d[-1].step, d->step);
		bool last = !d[1].step || strcmp(d[1].step, d->step);

		if (strcmp(d->function, e->name))
			continue;
		prose_line(p, ENTRY_LABEL, ENTRY_BODY);
		prose_addf(p, "It %s.", d->meaning);
		prose_addf(p, " It is %s of the step %s",
			   first && last ? "the function" : first ? "the first function" :
			   last ? "the last function" : "a function", d->step);
		if (!first)
			prose_addf(p, ", after %s", d[-1].function);
		if (!last)
			prose_addf(p, "%s before %s", first ? "," : " and", d[1].function);
		prose_adds(p, ".");
	}
	entry_since(p, e->step->since);
	entry_label(p, "Source");
	prose_addf(p, "%s, as of Linux 6.18.", e->step->file);
	entry_label(p, "Example");
	prose_adds(p, "pevtrace explain --kernel DUMP lists the steps in order.");
}

static void write_glossary(struct prose *p, const struct lexicon_entry *e)
{
	const struct word_desc *w = e->word;
	char value[64];

	entry_begin(p, e, w->what, w->text, NULL);
	if (w->path) {
		entry_label(p, "File");
		prose_adds(p, w->path);
	}
	if (w->path && sysfile_read(AT_FDCWD, w->path, value, sizeof(value))) {
		prose_adds(p, ", now ");
		prose_name(p, value);
		prose_adds(p, " on this machine.");
	} else if (w->path) {
		prose_adds(p, ", not readable on this machine.");
	}
	if (w->show) {
		entry_label(p, "Shown by");
		prose_addf(p, "%s.", w->show);
	}
	entry_label(p, strchr(w->source, '(') ? "Manual" : "Source");
	if (strchr(w->source, '('))
		prose_page(p, w->source);
	else
		prose_adds(p, w->source);
	prose_adds(p, ".");
}

void lexicon_write(const struct lexicon_entry *e, struct prose *p)
{
	static void (*const write[])(struct prose *p, const struct lexicon_entry *e) = {
		[LEXICON_CONSTANT] = write_constant, [LEXICON_MEMBER] = write_member,
		[LEXICON_IOCTL] = write_ioctl, [LEXICON_CALL] = write_call,
		[LEXICON_ARGUMENT] = write_argument, [LEXICON_RULE] = write_rule,
		[LEXICON_FLAW] = write_flaw,
		[LEXICON_PMU] = write_pmu, [LEXICON_TABLE] = write_table,
		[LEXICON_LAYOUT] = write_layout, [LEXICON_STEP] = write_step,
		[LEXICON_WORD] = write_glossary,
	};

	write[e->kind](p, e);
	prose_end(p);
}

/* All of them ---------------------------------------------------------------------- */

/* The hook to call for each entry. */
struct visitor {
	void (*hook)(void *ctx, const struct lexicon_entry *e);
	void *ctx;
};

static void visit(const struct visitor *v, struct lexicon_entry *e, enum lexicon_kind kind,
		 const char *name)
{
	e->kind = kind;
	e->name = name;
	v->hook(v->ctx, e);
}

static void each_other(const struct visitor *v)
{
	struct lexicon_entry rule = { 0 }, flaw = { 0 }, pmu = { 0 }, step = { 0 }, word = { 0 };

	for (size_t i = 0; i < RULE_COUNT; i++) {
		rule.rule = &rule_descs[i];
		visit(v, &rule, LEXICON_RULE, rule.rule->name);
	}
	for (flaw.flaw = flaw_descs; flaw.flaw->name; flaw.flaw++)
		visit(v, &flaw, LEXICON_FLAW, flaw.flaw->name);
	for (pmu.pmu = pmu_descs; pmu.pmu->name; pmu.pmu++)
		visit(v, &pmu, LEXICON_PMU, pmu.pmu->name);
	for (step.step = step_descs; step.step->step; step.step++) {
		const struct step_desc *first = step_descs;

		/* a function of several steps is one entry */
		while (strcmp(first->function, step.step->function))
			first++;
		if (first == step.step)
			visit(v, &step, LEXICON_STEP, first->function);
	}
	for (word.word = word_descs; word.word->name; word.word++)
		visit(v, &word, LEXICON_WORD, word.word->name);
}

void lexicon_each(void (*hook)(void *ctx, const struct lexicon_entry *e), void *ctx)
{
	const struct visitor v = { hook, ctx };

	for (size_t l = 0; layouts[l]; l++) {
		struct lexicon_entry e = { .layout = layouts[l] };

		if (!e.layout->part)
			visit(&v, &e, LEXICON_LAYOUT, e.layout->name);
		for (size_t i = 0; i < e.layout->n; i++) {
			e.member = &e.layout->fields[i];
			visit(&v, &e, LEXICON_MEMBER, e.member->name);
		}
	}
	for (size_t x = 0; xlat_tables[x]; x++) {
		struct lexicon_entry e = { .table = xlat_tables[x] };

		if (lexicon_table_name(e.table))
			visit(&v, &e, LEXICON_TABLE, lexicon_table_name(e.table));
		for (size_t i = 0; i < e.table->n; i++) {
			e.constant = &e.table->entries[i];
			visit(&v, &e, LEXICON_CONSTANT, e.constant->name);
		}
	}
	for (size_t c = 0; c < CALL_COUNT; c++) {
		struct lexicon_entry e = { .call = &call_descs[c] };

		visit(&v, &e, LEXICON_CALL, e.call->name);
		if (e.call->class != CLASS_OPEN)
			continue;
		for (e.argument = 0; e.argument < e.call->nargs; e.argument++)
			visit(&v, &e, LEXICON_ARGUMENT, e.call->args[e.argument].name);
	}
	for (size_t i = 0; i < ioctl_ndescs; i++) {
		struct lexicon_entry e = { .ioctl = &ioctl_descs[i] };

		visit(&v, &e, LEXICON_IOCTL, e.ioctl->name);
	}
	each_other(&v);
}
