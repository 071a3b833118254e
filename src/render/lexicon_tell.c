// SPDX-License-Identifier: LGPL-2.1-or-later
/* An entry of the dictionary: what it is, means, and belongs to. */
#include <stdio.h>
#include <string.h>

#include "render/lexicon.h"
#include "render/text.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

enum { LABEL = 2, BODY = 4, NAMES_MAX = 16 };

/* "  Since: " and what follows, on lines of its own. */
static void label(struct prose *p, const char *what)
{
	prose_line(p, LABEL, BODY);
	prose_addf(p, "%s: ", what);
}

static void release(struct prose *p, uint32_t since)
{
	struct buf text = { 0 };

	release_text(since, &text);
	prose_addf(p, "Linux %s", buf_str(&text));
	buf_free(&text);
}

static void tell_since(struct prose *p, uint32_t since)
{
	if (!since)
		return;
	label(p, "Since");
	release(p, since);
	prose_adds(p, ".");
}

static void head(struct prose *p, const struct lexicon_entry *e, const char *what)
{
	prose_para(p);
	if (e->kind == LEXICON_MEMBER)
		prose_addf(p, "%s.", e->layout->name);
	prose_addf(p, "%s: %s", e->name, what);
}

static void tell_meaning(struct prose *p, const char *meaning)
{
	prose_line(p, LABEL, LABEL);
	prose_addf(p, "%s.", meaning);
}

/* More text, and where the kernel deals with it. */
static void tell_term(struct prose *p, const char *name)
{
	const struct term_desc *t = term_by_name(name);

	if (!t)
		return;
	prose_addf(p, " %s.", t->text);
	if (!*t->steps)
		return;
	label(p, "In the kernel");
	for (const char *s = t->steps; *s;) {
		char step[32];
		size_t n = strcspn(s, ",");
		bool first = true;

		snprintf(step, sizeof(step), "%.*s", (int)n, s);
		prose_adds(p, s == t->steps ? "" : "; ");
		for (const struct step_desc *d = step_by_name(step);
		     d && d->step && !strcmp(d->step, step); d++) {
			prose_addf(p, "%s%s", first ? "" : ", ", d->function);
			first = false;
		}
		s += n + (s[n] == ',');
	}
	prose_adds(p, ".");
}

/* Where a table's names are used ---------------------------------------------------- */

static void tell_users(struct prose *p, const struct xlat *x)
{
	size_t n = 0;

	for (size_t l = 0; layouts[l]; l++)
		for (size_t i = 0; i < layouts[l]->n; i++)
			if (layouts[l]->fields[i].xlat == x) {
				if (!n++)
					label(p, "Used in");
				else
					prose_adds(p, ", ");
				prose_addf(p, "%s.%s", layouts[l]->name,
					   layouts[l]->fields[i].name);
			}
	for (size_t c = 0; c < CALL_COUNT; c++)
		for (unsigned int i = 0; i < call_descs[c].nargs; i++)
			if (call_descs[c].args[i].xlat == x) {
				if (!n++)
					label(p, "Used in");
				else
					prose_adds(p, ", ");
				prose_addf(p, "%s of %s()", call_descs[c].args[i].name,
					   call_descs[c].name);
			}
	if (n)
		prose_adds(p, ".");
}

static const char *kind_words(const struct xlat *x)
{
	return x->kind == XLAT_ENUM ? "a value" : x->kind == XLAT_FLAGS ? "a flag" :
								       "the number of a bit";
}

static void tell_names(struct prose *p, const struct xlat *x)
{
	size_t n = 0;

	label(p, "Names");
	for (size_t i = 0; i < x->n; i++) {
		if (x->entries[i].traits)
			continue;
		if (n++ == NAMES_MAX)
			break;
		prose_addf(p, "%s%s", n > 1 ? ", " : "", x->entries[i].name);
	}
	prose_addf(p, "%s", n > NAMES_MAX ? " and more." : ".");
	if (n > NAMES_MAX)
		prose_addf(p, " pevtrace explain %s lists them.", x->name);
}

/* The manual ------------------------------------------------------------------------ */

static void tell_manual(struct prose *p, const char *page, const char *part)
{
	label(p, "Manual");
	prose_page(p, page, part);
	prose_adds(p, ".");
}

static void manual_of_layout(struct prose *p, const struct layout *l)
{
	static const struct {
		const char *layout, *page, *part;
	} pages[] = {
		{ "perf_event_attr", "perf_event_open(2)", "Arguments" },
		{ "perf_event_query_bpf", "perf_event_open(2)", "perf_event ioctl calls" },
		{ "pollfd", "poll(2)", NULL }, { "clone_args", "clone(2)", NULL },
		{ "f_owner_ex", "fcntl(2)", NULL },
		{ "perf_file_header", "pevtrace-decode(1)", NULL },
		{ "perf_file_section", "pevtrace-decode(1)", NULL },
	};

	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++)
		if (!strcmp(l->name, pages[i].layout)) {
			tell_manual(p, pages[i].page, pages[i].part);
			return;
		}
	tell_manual(p, "perf_event_open(2)", "MMAP layout");
}

/* The first structure that has a member of that table. */
static const struct layout *user_of(const struct xlat *x)
{
	for (size_t l = 0; layouts[l]; l++)
		for (size_t i = 0; i < layouts[l]->n; i++)
			if (layouts[l]->fields[i].xlat == x)
				return layouts[l];
	return NULL;
}

static void manual_of_table(struct prose *p, const struct xlat *x)
{
	static const struct {
		const char *header, *page;
	} pages[] = {
		{ "sys/mman.h", "mmap(2)" }, { "poll.h", "poll(2)" },
		{ "sys/epoll.h", "epoll_ctl(2)" }, { "sched.h", "clone(2)" },
		{ "fcntl.h", "fcntl(2)" }, { "sys/prctl.h", "prctl(2)" },
		{ "linux/fs.h", "readv(2)" }, { "signal.h", "sigaction(2)" },
		{ "sys/ptrace.h", "ptrace(2)" }, { "time.h", "clock_getres(2)" },
		{ "linux/close_range.h", "close_range(2)" },
	};

	for (size_t i = 0; x->header && i < sizeof(pages) / sizeof(*pages); i++)
		if (!strcmp(x->header, pages[i].header)) {
			tell_manual(p, pages[i].page, NULL);
			return;
		}
	if (x == &xlat_perf_open_errno)
		tell_manual(p, "perf_event_open(2)", "ERRORS");
	else if (user_of(x))
		manual_of_layout(p, user_of(x));
	else if (x->header)
		tell_manual(p, "perf_event_open(2)", NULL);
	else if (x == &xlat_rule_by || x == &xlat_pmu_trait)
		tell_manual(p, "pevtrace-check(1)", NULL);
	else
		tell_manual(p, "pevtrace-decode(1)", NULL);
}

/* Rules and refusals ------------------------------------------------------------------ */

/* Whether a list with commas has the word. */
static bool listed(const char *list, const char *word)
{
	size_t len = strlen(word), n;

	for (; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (n == len && !memcmp(list, word, n))
			return true;
	}
	return false;
}

static void one_rule(struct prose *p, const struct rule_desc *d, bool error)
{
	const char *name = xlat_name(&xlat_perf_open_errno, (uint64_t)d->error);

	prose_line(p, BODY, BODY + 2);
	if (error)
		prose_addf(p, "%s, by the check %s: %s.", name ? name : "An error", d->name,
			   d->meaning);
	else
		prose_addf(p, "%s: %s.", d->name, d->meaning);
}

static void rules_of_field(struct prose *p, const char *field)
{
	bool any = false;

	for (size_t i = 0; i < RULE_COUNT; i++) {
		if (!listed(rule_descs[i].fields, field))
			continue;
		if (!any)
			label(p, "The kernel may refuse it");
		any = true;
		one_rule(p, &rule_descs[i], true);
	}
}

static void rules_of_error(struct prose *p, int error)
{
	bool any = false;

	for (size_t i = 0; i < RULE_COUNT; i++) {
		if (rule_descs[i].error != error)
			continue;
		if (!any)
			label(p, "Checks of perf_event_open that say so");
		any = true;
		one_rule(p, &rule_descs[i], false);
	}
}

static void refusal(struct prose *p, const struct refusal_desc *d, bool named)
{
	prose_line(p, BODY, BODY + 2);
	if (named)
		prose_addf(p, "%s: %s.", d->errno_name, d->meaning);
	else
		prose_addf(p, "%s: %s.", d->request ? d->request : d->call, d->meaning);
}

static void refusals_of_error(struct prose *p, int error)
{
	bool any = false;

	for (const struct refusal_desc *d = refusal_descs; d->call; d++) {
		if (d->error != error)
			continue;
		if (!any)
			label(p, "Other calls on events that say so");
		any = true;
		refusal(p, d, false);
	}
}

static void refusals_of(struct prose *p, const char *call, const char *request)
{
	bool any = false;

	for (const struct refusal_desc *d = refusal_descs; d->call; d++) {
		if (strcmp(d->call, call) ||
		    (request && d->request && strcmp(d->request, request)) ||
		    (!request && d->request))
			continue;
		if (!any)
			label(p, "It may fail");
		any = true;
		refusal(p, d, true);
	}
}

/* Entries --------------------------------------------------------------------------- */

static void tell_value(struct prose *p, const struct lexicon_entry *e)
{
	const struct xlat *x = e->table;
	uint64_t v = e->constant->value;

	label(p, "Value");
	if (x->kind == XLAT_FLAGS)
		prose_addf(p, "0x%llx", (unsigned long long)v);
	else
		prose_addf(p, "%lld", (long long)v);
	if (x->kind == XLAT_FLAGS && v && !(v & (v - 1)))
		prose_addf(p, ", bit %d", __builtin_ctzll(v));
	if (x->kind == XLAT_FLAGS && e->constant->mask != v)
		prose_addf(p, ", of the bits 0x%llx", (unsigned long long)e->constant->mask);
	prose_addf(p, "; %s of the table %s", kind_words(x), x->name);
	if (e->constant->traits & XLAT_NONABI)
		prose_adds(p, ", which stands for no value that a program passes");
	if (e->constant->traits & XLAT_ALIAS)
		prose_adds(p, ", where it is another name of one that stands there too");
	prose_adds(p, ".");
}

static void tell_constant(struct prose *p, const struct lexicon_entry *e)
{
	bool error = e->table == &xlat_perf_open_errno;

	head(p, e, error ? "an error" : "a constant");
	tell_meaning(p, e->constant->meaning);
	tell_term(p, e->name);
	tell_value(p, e);
	tell_users(p, e->table);
	tell_since(p, e->constant->since);
	if (error) {
		rules_of_error(p, (int)e->constant->value);
		refusals_of_error(p, (int)e->constant->value);
	}
	manual_of_table(p, e->table);
	if (error) {
		label(p, "Example");
		prose_adds(p, "pevtrace why -- COMMAND finds what a command is refused for.");
	}
}

static void tell_table(struct prose *p, const struct lexicon_entry *e)
{
	head(p, e, "a table of constants");
	tell_users(p, e->table);
	for (size_t i = 0; i < e->table->n; i++) {
		const struct xlat_entry *c = &e->table->entries[i];

		prose_line(p, LABEL, BODY);
		prose_addf(p, "%s: %s.", c->name, c->meaning);
	}
	manual_of_table(p, e->table);
}

static const char *condition_op(const struct cond *c)
{
	return c->op == COND_EQ ? "=" : c->op == COND_NE ? "!=" : "&";
}

static void add_condition(struct prose *p, const struct layout *l, const struct cond *c)
{
	const struct field *f = &l->fields[c->field];
	const char *name = f->xlat ? xlat_name(f->xlat, c->value) : NULL;

	if (c->op == COND_PMU)
		prose_addf(p, "the type is that of the PMU %s", c->pmu);
	else if (name)
		prose_addf(p, "%s%s%s", f->name, condition_op(c), name);
	else
		prose_addf(p, "%s%s%llu", f->name, condition_op(c),
			   (unsigned long long)c->value);
}

static void tell_place(struct prose *p, const struct lexicon_entry *e)
{
	const struct field *f = e->member;

	label(p, "Where");
	if (f->nbits == 1)
		prose_addf(p, "bit %u of the %u bytes", f->bit, f->width);
	else if (f->nbits)
		prose_addf(p, "bits %u to %u of the %u bytes", f->bit, f->bit + f->nbits - 1,
			   f->width);
	else
		prose_addf(p, "%u byte%s", f->width, f->width == 1 ? "" : "s");
	prose_addf(p, " at offset %u of %s", f->offset, e->layout->name);
	if (f->size)
		prose_addf(p, ", in structures of at least %u bytes", (unsigned int)f->size);
	prose_adds(p, ".");
	if (f->when.op != COND_NONE) {
		label(p, "Shares its place");
		prose_adds(p, "it is the one there if ");
		add_condition(p, e->layout, &f->when);
		prose_adds(p, ".");
	}
	if (f->needs.op != COND_NONE) {
		label(p, "Acts only if");
		add_condition(p, e->layout, &f->needs);
		prose_adds(p, ".");
	}
}

/* What is looked at only with this one. */
static void tell_dependants(struct prose *p, const struct lexicon_entry *e)
{
	size_t n = 0;

	for (size_t i = 0; i < e->layout->n; i++) {
		const struct field *f = &e->layout->fields[i];
		bool needs = f->needs.op != COND_NONE && f->needs.op != COND_PMU &&
			     !strcmp(e->layout->fields[f->needs.field].name, e->name);
		bool when = f->when.op != COND_NONE && f->when.op != COND_PMU &&
			    !strcmp(e->layout->fields[f->when.field].name, e->name);

		if (!needs && !when)
			continue;
		if (!n++)
			label(p, "It decides about");
		else
			prose_adds(p, ", ");
		prose_adds(p, f->name);
	}
	if (n)
		prose_adds(p, ".");
}

/* A value to show the member with, if it is one that can be given to an event. */
static void tell_example(struct prose *p, const struct lexicon_entry *e)
{
	const struct field *f = e->member;
	const char *name = NULL;

	for (size_t i = 0; f->xlat && i < f->xlat->n; i++)
		if (!f->xlat->entries[i].traits && (!name || f->kind != FIELD_FLAGS))
			name = f->xlat->entries[i].name;
	if (strcmp(e->layout->name, "perf_event_attr"))
		return;
	label(p, "Default");
	prose_adds(p, "0, as of all members that a program does not set.");
	if (f->kind != FIELD_BOOL && f->kind != FIELD_UINT && f->kind != FIELD_FLAGS &&
	    f->kind != FIELD_ENUM && f->kind != FIELD_WORDS)
		return;
	label(p, "Example");
	prose_addf(p, "pevtrace check -e cpu-clock,%s=%s shows what this machine's kernel says "
		      "to it.", e->name, name ? name : "1");
}

static void tell_member(struct prose *p, const struct lexicon_entry *e)
{
	char name[96];
	bool attr = !strcmp(e->layout->name, "perf_event_attr");

	snprintf(name, sizeof(name), "%s.%s", e->layout->name, e->name);
	head(p, e, attr ? "a field of the attr" : "a member");
	tell_meaning(p, e->member->meaning);
	tell_term(p, name);
	if (e->member->xlat)
		tell_names(p, e->member->xlat);
	tell_place(p, e);
	tell_dependants(p, e);
	tell_since(p, e->member->since);
	if (attr)
		rules_of_field(p, e->name);
	manual_of_layout(p, e->layout);
	tell_example(p, e);
}

static void tell_layout(struct prose *p, const struct lexicon_entry *e)
{
	head(p, e, "a structure");
	prose_addf(p, " of %u bytes, as far as it is known here.", (unsigned int)e->layout->size);
	for (size_t i = 0; i < e->layout->n; i++) {
		prose_line(p, LABEL, BODY);
		prose_addf(p, "%s: %s.", e->layout->fields[i].name,
			   e->layout->fields[i].meaning);
	}
	manual_of_layout(p, e->layout);
}

static void tell_ioctl(struct prose *p, const struct lexicon_entry *e)
{
	static const char *const args[] = {
		[IOCTL_ARG_UINT] = "a number", [IOCTL_ARG_SINT] = "a number",
		[IOCTL_ARG_FLAGS] = "flags", [IOCTL_ARG_FD] = "a descriptor",
		[IOCTL_ARG_U64] = "64 bits", [IOCTL_ARG_STRING] = "a string",
		[IOCTL_ARG_ATTR] = "a struct perf_event_attr",
		[IOCTL_ARG_QUERY_BPF] = "a struct perf_event_query_bpf",
	};
	const struct ioctl_desc *d = e->ioctl;

	head(p, e, "an ioctl of an event's descriptor");
	tell_meaning(p, d->meaning);
	tell_term(p, e->name);
	label(p, "Request");
	prose_addf(p, "0x%x", d->request);
	if (d->compat != d->request)
		prose_addf(p, ", and 0x%x from 32-bit programs", d->compat);
	prose_adds(p, ".");
	label(p, "Argument");
	prose_addf(p, "%s%s", d->dir == IOCTL_VALUE ? "" : "a pointer to ", args[d->arg]);
	prose_addf(p, "%s.", d->dir == IOCTL_OUT ? ", written by the kernel" :
			     d->dir == IOCTL_INOUT ? ", read and written by the kernel" : "");
	if (d->xlat)
		tell_names(p, d->xlat);
	tell_since(p, d->since);
	refusals_of(p, "ioctl", e->name);
	tell_manual(p, "perf_event_open(2)", "perf_event ioctl calls");
	label(p, "Example");
	prose_addf(p, "pevtrace -e trace=ioctl COMMAND shows where a program makes it.");
}

static void tell_call(struct prose *p, const struct lexicon_entry *e)
{
	char page[64];
	size_t len;

	head(p, e, "a system call");
	tell_meaning(p, e->call->meaning);
	tell_term(p, e->name);
	if (e->call->nargs)
		label(p, "Arguments");
	for (unsigned int i = 0; i < e->call->nargs; i++)
		prose_addf(p, "%s%s", i ? ", " : "", e->call->args[i].name);
	prose_adds(p, e->call->nargs ? "." : "");
	tell_since(p, e->call->since);
	refusals_of(p, e->name, NULL);
	/* on 32-bit machines, another form of the same call */
	len = strstr(e->name, "_time64") ? strlen(e->name) - strlen("_time64") : strlen(e->name);
	snprintf(page, sizeof(page), "%.*s(2)", (int)len, e->name);
	tell_manual(p, page, NULL);
}

static void tell_argument(struct prose *p, const struct lexicon_entry *e)
{
	char name[96];

	snprintf(name, sizeof(name), "%s.%s", e->call->name, e->name);
	head(p, e, "an argument of perf_event_open");
	prose_line(p, LABEL, LABEL);
	tell_term(p, name);
	if (e->call->args[e->argument].xlat)
		tell_names(p, e->call->args[e->argument].xlat);
	rules_of_field(p, e->name);
	tell_manual(p, "perf_event_open(2)", "Arguments");
}

static void tell_rule(struct prose *p, const struct lexicon_entry *e)
{
	const struct xlat *x = &xlat_rule_by;
	const char *error = xlat_name(&xlat_perf_open_errno, (uint64_t)e->rule->error);
	const char *sep = "";

	head(p, e, "a check that the kernel makes in perf_event_open");
	tell_meaning(p, e->rule->meaning);
	label(p, "Error");
	prose_adds(p, error ? error : "it depends");
	prose_adds(p, ".");
	if (*e->rule->fields) {
		label(p, "About");
		prose_addf(p, "%s.", e->rule->fields);
	}
	label(p, "Decided by");
	for (size_t i = 0; i < x->n; i++)
		if (e->rule->by & x->entries[i].value) {
			prose_addf(p, "%s%s", sep, x->entries[i].meaning);
			sep = ", ";
		}
	prose_adds(p, ".");
	tell_since(p, e->rule->since);
	if (e->rule->until) {
		label(p, "Until");
		release(p, e->rule->until);
		prose_adds(p, ".");
	}
	tell_manual(p, "pevtrace-check(1)", NULL);
}

static void tell_pmu(struct prose *p, const struct lexicon_entry *e)
{
	uint64_t rest = e->pmu->traits;
	const struct xlat_entry *c;
	size_t at = 0;

	head(p, e, "a PMU: what counts events");
	tell_meaning(p, e->pmu->meaning);
	while ((c = xlat_next_flag(&xlat_pmu_trait, &rest, &at)))
		prose_addf(p, " %s.", c->meaning);
	tell_since(p, e->pmu->since);
	label(p, "Example");
	prose_adds(p, "pevtrace features events lists the PMUs of this machine.");
}

static void tell_step(struct prose *p, const struct lexicon_entry *e)
{
	head(p, e, "a function of the kernel");
	for (const struct step_desc *d = step_descs; d->step; d++) {
		if (strcmp(d->function, e->name))
			continue;
		prose_line(p, LABEL, BODY);
		prose_addf(p, "In the step %s it %s.", d->step, d->meaning);
	}
	tell_since(p, e->step->since);
	label(p, "Example");
	prose_adds(p, "pevtrace explain --kernel DUMP shows the steps in their order.");
}

void lexicon_tell(const struct lexicon_entry *e, struct prose *p)
{
	static void (*const tell[])(struct prose *p, const struct lexicon_entry *e) = {
		[LEXICON_CONSTANT] = tell_constant, [LEXICON_MEMBER] = tell_member,
		[LEXICON_IOCTL] = tell_ioctl, [LEXICON_CALL] = tell_call,
		[LEXICON_ARGUMENT] = tell_argument, [LEXICON_RULE] = tell_rule,
		[LEXICON_PMU] = tell_pmu, [LEXICON_TABLE] = tell_table,
		[LEXICON_LAYOUT] = tell_layout, [LEXICON_STEP] = tell_step,
	};

	tell[e->kind](p, e);
	prose_end(p);
}
