// SPDX-License-Identifier: LGPL-2.1-or-later
/* The entries of the dictionary: their parts, and how each kind is written. */
#include "core/abi/tables.h"
#include "core/lib/list.h"
#include "explain/lexicon.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/host/sysfile.h"
#include "core/judge/judge.h"
#include "explain/attr_prose.h"

/* Lines of entries ------------------------------------------------------------------- */

enum {
	ENTRY_LABEL = 2, ENTRY_BODY = 4,	/* indentation of labels and of continuation lines */
	NAMES_MAX = 16,		/* listed for a table outside its own entry */
};

static void entry_label(struct prose *p, const char *what)
{
	prose_line(p, ENTRY_LABEL, ENTRY_BODY);
	prose_addf(p, "%s: ", what);
}

__attribute__((format(printf, 3, 4)))
static void entry_text(struct prose *p, const char *what, const char *fmt, ...)
{
	va_list ap;

	entry_label(p, what);
	va_start(ap, fmt);
	buf_vaddf(&p->text, fmt, ap);
	va_end(ap);
}

/* Begin item i of a list on one line, "  WHAT: FIRST, SECOND". */
static void entry_listed(struct prose *p, size_t i, const char *what)
{
	if (i)
		prose_adds(p, ", ");
	else
		entry_label(p, what);
}

/* Begin a line of its own for item i of a list with that label. */
static void entry_line(struct prose *p, size_t i, const char *what)
{
	if (!i)
		entry_label(p, what);
	prose_line(p, ENTRY_BODY, ENTRY_BODY + 2);
}

static void entry_release(struct prose *p, uint32_t since)
{
	prose_adds(p, "Linux ");
	release_text(since, &p->text);
}

static void entry_since(struct prose *p, uint32_t since)
{
	if (!since)
		return;
	entry_label(p, "Since");
	entry_release(p, release_mainline(since));
	if (release_mainline(since) != since) {
		prose_adds(p, ", brought to ");
		entry_release(p, since);
	}
	prose_adds(p, ".");
}

/* Write what users call a layout: its structure, or the constant whose data it is. */
static void entry_layout(struct prose *p, const struct layout *l)
{
	if (l->part)
		prose_addf(p, "%.*s", (int)strcspn(l->part, ","), l->part);
	else
		prose_adds(p, l->name);
}

/* Begin the first line, "NAME: what", and a line "  WHAT: ". */
static void entry_head(struct prose *p, const struct lexicon_entry *e, const char *what)
{
	prose_para(p);
	if (e->kind == LEXICON_MEMBER) {
		entry_layout(p, e->layout);
		prose_adds(p, ".");
	}
	prose_addf(p, "%s: %s", e->name, what);
}

/* Write what terms.in has on the name, and the kernel functions that handle it. */
static void entry_term(struct prose *p, const char *name)
{
	const struct term_desc *t = term_by_name(name);

	if (!t)
		return;
	prose_addf(p, " %s.", t->text);
	if (!*t->steps)
		return;
	entry_label(p, "In the kernel");
	for (const char *s = t->steps; *s;) {
		char step[32];
		size_t n = strcspn(s, ",");
		const struct step_desc *first;

		snprintf(step, sizeof(step), "%.*s", (int)n, s);
		prose_adds(p, s == t->steps ? "" : "; ");
		first = step_by_name(step);
		for (const struct step_desc *d = first; d && d->step && !strcmp(d->step, step); d++)
			prose_addf(p, "%s%s", d == first ? "" : ", ", d->function);
		s += n + (s[n] == ',');
	}
	prose_adds(p, ".");
}

/* Where a table's names are used ---------------------------------------------------- */

/* Write where a table is used, or its names. */
static void entry_users(struct prose *p, const struct xlat *x)
{
	size_t n = 0;

	for (size_t l = 0; layouts[l]; l++)
		for (size_t i = 0; i < layouts[l]->n; i++)
			if (layouts[l]->fields[i].xlat == x) {
				entry_listed(p, n++, "Used in");
				entry_layout(p, layouts[l]);
				prose_addf(p, ".%s", layouts[l]->fields[i].name);
			}
	for (size_t c = 0; c < CALL_COUNT; c++)
		for (unsigned int i = 0; i < call_descs[c].nargs; i++)
			if (call_descs[c].args[i].xlat == x) {
				entry_listed(p, n++, "Used in");
				prose_addf(p, "%s of %s()", call_descs[c].args[i].name,
					   call_descs[c].name);
			}
	if (n)
		prose_adds(p, ".");
}

static void entry_names(struct prose *p, const struct xlat *x)
{
	size_t n = 0;

	entry_label(p, "Names");
	for (size_t i = 0; i < x->n; i++) {
		if (x->entries[i].traits)
			continue;
		if (n++ == NAMES_MAX)
			break;
		prose_addf(p, "%s%s", n > 1 ? ", " : "", x->entries[i].name);
	}
	prose_addf(p, "%s", n > NAMES_MAX ? " and more." : ".");
	if (n > NAMES_MAX && lexicon_table_name(x))
		prose_addf(p, " pevtrace explain %s lists them.", lexicon_table_name(x));
}

/* Write the members of the data that a constant names, such as those of a record. */
static void entry_members(struct prose *p, const char *constant)
{
	size_t n = 0;

	for (size_t l = 0; layouts[l]; l++)
		for (size_t i = 0; i < layouts[l]->n; i++) {
			if (!layouts[l]->part || !lexicon_listed(layouts[l]->part, constant))
				continue;
			if (!n++)
				entry_label(p, "Members");
			prose_line(p, ENTRY_BODY, ENTRY_BODY);
			prose_addf(p, "%s: %s.", layouts[l]->fields[i].name,
				   layouts[l]->fields[i].meaning);
		}
}

/* The manual ------------------------------------------------------------------------ */

/* Write a manual page and perhaps a section of it, as prose_page() does. */
static void entry_manual(struct prose *p, const char *page)
{
	entry_label(p, "Manual");
	prose_page(p, page);
	prose_adds(p, ".");
}

/* Return where src/explain/terms.in says that a structure or header is described; NULL: nowhere. */
static const char *manual_of(const char *name)
{
	for (const struct pair_desc *d = manual_descs; name && d->name; d++)
		if (!strcmp(d->name, name))
			return d->text;
	return NULL;
}

static void entry_manual_of_layout(struct prose *p, const struct layout *l)
{
	entry_manual(p, manual_of(l->name) ?: "perf_event_open(2), MMAP layout");
}

/* Return the first structure with a member of the table. */
static const struct layout *user_of(const struct xlat *x)
{
	for (size_t l = 0; layouts[l]; l++)
		for (size_t i = 0; i < layouts[l]->n; i++)
			if (layouts[l]->fields[i].xlat == x)
				return layouts[l];
	return NULL;
}

static void entry_manual_of_table(struct prose *p, const struct xlat *x)
{
	const char *page = manual_of(x->header);

	if (!page && x == &xlat_perf_open_errno)
		page = "perf_event_open(2), ERRORS";
	if (!page && user_of(x))
		entry_manual_of_layout(p, user_of(x));
	else if (page || x->header)
		entry_manual(p, page ?: "perf_event_open(2)");
	else
		entry_manual(p, x == &xlat_rule_by || x == &xlat_pmu_trait ?
			     "pevtrace-why(1)" : "pevtrace-decode(1)");
}

/* Write a check, item i of a list with that label. */
static void rule_line(struct prose *p, size_t i, const char *label, const struct rule_desc *d)
{
	const char *error = xlat_name(&xlat_perf_open_errno, (uint64_t)d->error);

	entry_line(p, i, label);
	prose_addf(p, "%s, %s: %s.", error ? error : "Error", d->name, d->meaning);
}

/* Write the checks of perf_event_open about a field or a value. */
static void entry_rules_of_field(struct prose *p, const char *field)
{
	size_t n = 0;

	for (size_t i = 0; i < RULE_COUNT; i++)
		if (lexicon_listed(rule_descs[i].fields, field))
			rule_line(p, n++, "Checks", &rule_descs[i]);
}

/* Write the checks and the other calls that fail with an error. */
static void entry_checks_with_error(struct prose *p, int error)
{
	size_t n = 0;

	for (size_t i = 0; i < RULE_COUNT; i++)
		if (rule_descs[i].error == error) {
			entry_line(p, n++, "Checks of perf_event_open with this error");
			prose_addf(p, "%s: %s.", rule_descs[i].name, rule_descs[i].meaning);
		}
	n = 0;
	for (const struct refusal_desc *d = refusal_descs; d->call; d++)
		if (d->error == error) {
			entry_line(p, n++, "Other calls with this error");
			prose_addf(p, "%s: %s.", d->request ? d->request : d->call, d->meaning);
		}
}

/* Write the errors of a call, or of a request of it. */
static void entry_refusals_of(struct prose *p, const char *call, const char *request)
{
	size_t n = 0;

	for (const struct refusal_desc *d = refusal_descs; d->call; d++) {
		if (strcmp(d->call, call) ||
		    (request && d->request && strcmp(d->request, request)) ||
		    (!request && d->request))
			continue;
		entry_line(p, n++, "Errors");
		prose_addf(p, "%s: %s.", d->errno_name, d->meaning);
	}
}

/* Judge an attr for an unprivileged caller on an unknown machine; set the rules that apply. */
static void judge_value(const uint8_t *attr, size_t len, bool applies[RULE_COUNT])
{
	const struct names none = { .page_size = 4096 };
	struct judge_machine m;
	struct rule_ask ask = {
		.attr = attr, .len = len, .cpu = -1, .group_fd = -1, .facts = &m.facts,
	};
	struct rule_verdict v;

	judge_unlimited(&m, 0, arch_native(), &none, attr, len);
	m.facts.machine.paranoid = 2;
	rules_judge(&ask, &v);
	for (size_t i = 0; i < RULE_COUNT; i++)
		applies[i] = judge_refuses(&v, i) || v.says[i] == RULE_UNKNOWN;
}

/* Write the checks that apply to an attr of some type only with the value. */
static void entry_rules_of_value(struct prose *p, const struct xlat *x, const struct xlat_entry *c)
{
	static const uint32_t types[] = { PERF_TYPE_SOFTWARE, PERF_TYPE_TRACEPOINT,
					  PERF_TYPE_BREAKPOINT };
	const struct layout *l = &layout_perf_event_attr;
	bool before[RULE_COUNT], with[RULE_COUNT], found[RULE_COUNT] = { false };
	size_t n = 0;

	for (size_t i = 0; i < 3 * l->n; i++) {
		const struct field *f = &l->fields[i / 3];
		uint32_t type = types[i % 3];
		uint8_t attr[256] = { 0 };

		if (c->traits || f->xlat != x || f->kind != FIELD_FLAGS)
			continue;
		field_set(&l->fields[ATTR_TYPE], type, attr);
		field_set(&l->fields[ATTR_SIZE], l->size, attr);
		field_set(&l->fields[ATTR_CONFIG],
			  type == PERF_TYPE_SOFTWARE ? PERF_COUNT_SW_DUMMY : 1, attr);
		field_set(&l->fields[ATTR_EXCLUDE_KERNEL], 1, attr);
		judge_value(attr, l->size, before);
		field_set(f, c->value, attr);
		judge_value(attr, l->size, with);
		for (size_t k = 0; k < RULE_COUNT; k++)
			found[k] |= with[k] && !before[k];
	}
	for (size_t i = 0; i < RULE_COUNT; i++)
		if (found[i])
			rule_line(p, n++, "Checks", &rule_descs[i]);
}

/* Entries ------------------------------------------------------------------------------ */

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
	entry_text(p, "Example", "pevtrace why --once -e cpu-clock,%s=%s shows whether this "
		   "machine's kernel accepts it.", member, value);
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
	else if (record)
		entry_text(p, "Example", "pevtrace --records COMMAND shows its records.");
	else if (error)
		entry_text(p, "Example", "pevtrace why -- COMMAND finds why events are refused.");
}

static void write_table(struct prose *p, const struct lexicon_entry *e)
{
	entry_head(p, e, "a table of constants");
	entry_users(p, e->table);
	for_each(c, e->table->entries, e->table->n) {
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
		entry_text(p, "Shares its bytes", "used if ");
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
	for_each(other, e->layout->fields, e->layout->n) {
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
	entry_text(p, "Default", "0.");
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
	entry_text(p, "Request", "0x%x", d->request);
	if (d->compat != d->request)
		prose_addf(p, ", and 0x%x from 32-bit programs", d->compat);
	prose_adds(p, ".");
	entry_text(p, "Argument", "%s%s%s.", d->dir == IOCTL_VALUE ? "" : "a pointer to ",
		   args[d->arg], d->dir == IOCTL_OUT ? ", written by the kernel" :
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
	entry_text(p, "Example", "pevtrace -e trace=ioctl COMMAND shows a program's ioctls.");
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
	entry_text(p, "Consequence", "%s.", e->flaw->consequence);
	if (*e->flaw->condition)
		entry_text(p, "Condition", "%s.", e->flaw->condition);
	if (e->flaw->until) {
		entry_label(p, "Kernels");
		entry_release(p, e->flaw->since);
		prose_adds(p, " and newer, before ");
		entry_release(p, e->flaw->until);
		prose_adds(p, ".");
	}
}

static void write_rule(struct prose *p, const struct lexicon_entry *e)
{
	const struct xlat *x = &xlat_rule_by;
	const char *error = xlat_name(&xlat_perf_open_errno, (uint64_t)e->rule->error);
	const char *sep = "";

	entry_begin(p, e, "a kernel check in perf_event_open", e->rule->meaning, NULL);
	entry_text(p, "Error", "%s.", error ? error : "depends on the case");
	if (*e->rule->fields)
		entry_text(p, "Fields", "%s.", e->rule->fields);
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
	entry_text(p, "Example", "pevtrace list --tried pmu lists the PMUs of this machine.");
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
	entry_text(p, "Source", "%s, as of Linux 6.18.", e->step->file);
	entry_text(p, "Example", "pevtrace explain --kernel DUMP lists the steps in order.");
}

static void write_glossary(struct prose *p, const struct lexicon_entry *e)
{
	const struct word_desc *w = e->word;
	char value[64];

	entry_begin(p, e, w->what, w->text, NULL);
	if (w->path)
		entry_text(p, "File", "%s", w->path);
	if (w->path && sysfile_read(AT_FDCWD, w->path, value, sizeof(value))) {
		prose_adds(p, ", now ");
		prose_name(p, value);
		prose_adds(p, " on this machine.");
	} else if (w->path) {
		prose_adds(p, ", not readable on this machine.");
	}
	if (w->show)
		entry_text(p, "Shown by", "%s.", w->show);
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
		[LEXICON_FLAW] = write_flaw, [LEXICON_PMU] = write_pmu,
		[LEXICON_TABLE] = write_table, [LEXICON_LAYOUT] = write_layout,
		[LEXICON_STEP] = write_step, [LEXICON_WORD] = write_glossary,
	};

	write[e->kind](p, e);
	prose_end(p);
}
