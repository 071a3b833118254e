// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which entry a word names; parts of entries: heading, release, users of a table, manual. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/abi/layout.h"
#include "core/judge/judge.h"
#include "explain/lexicon_internal.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Words ---------------------------------------------------------------------------- */

static bool same_letter(char a, char b)
{
	return (a == '-' || a == ' ' ? '_' : tolower((unsigned char)a)) ==
	       (b == '-' || b == ' ' ? '_' : tolower((unsigned char)b));
}

/* Compare up to n letters of two words. */
static bool same_word(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!same_letter(a[i], b[i]))
			return false;
		if (!a[i])
			return true;
	}
	return true;
}

static const char *prefix_of(const struct lexicon_entry *e)
{
	return e->kind == LEXICON_CONSTANT ? e->table->prefix :
	       e->kind == LEXICON_IOCTL ? "PERF_EVENT_IOC_" : "";
}

/* Return whether a comma-separated list of names has the word of len bytes. */
static bool listed(const char *names, const char *word, size_t len)
{
	for (size_t n; *names; names += n + (names[n] == ',')) {
		n = strcspn(names, ",");
		if (len == n && same_word(names, word, n))
			return true;
	}
	return false;
}

static bool names_have(const char *names, const char *word)
{
	return listed(names, word, strlen(word));
}

bool lexicon_means(const struct lexicon_entry *e, const char *word)
{
	const char *dot = strchr(word, '.');
	size_t cut = strlen(prefix_of(e));

	if (e->kind == LEXICON_MEMBER && dot)
		return listed(e->layout->part ? e->layout->part : e->layout->name, word,
			      (size_t)(dot - word)) &&
		       same_word(e->member->name, dot + 1, SIZE_MAX);
	if ((e->kind == LEXICON_LAYOUT || e->kind == LEXICON_WORD) &&
	    !strncmp(word, "struct ", 7))
		word += 7;
	if (e->kind == LEXICON_WORD && names_have(e->word->also, word))
		return true;
	/* the name without some or all words of its prefix */
	for (size_t i = 0; i <= cut; i++)
		if ((!i || e->name[i - 1] == '_' || i == cut) && e->name[i] &&
		    same_word(e->name + i, word, SIZE_MAX))
			return true;
	return false;
}

void lexicon_offer(const struct lexicon_entry *e, struct nearest *n)
{
	nearest_try(n, e->name);
	nearest_try(n, e->name + strlen(prefix_of(e)));
}

const char *lexicon_table_name(const struct xlat *x)
{
	return x->btf ? x->btf : *x->prefix ? x->prefix : NULL;
}

/* Lines of entries ------------------------------------------------------------------- */

enum { NAMES_MAX = 16 };	/* listed for a table outside its own entry */

void entry_label(struct prose *p, const char *what)
{
	prose_line(p, ENTRY_LABEL, ENTRY_BODY);
	prose_addf(p, "%s: ", what);
}

void entry_listed(struct prose *p, size_t i, const char *what)
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

void entry_release(struct prose *p, uint32_t since)
{
	prose_adds(p, "Linux ");
	release_text(since, &p->text);
}

void entry_since(struct prose *p, uint32_t since)
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

void entry_layout(struct prose *p, const struct layout *l)
{
	if (l->part)
		prose_addf(p, "%.*s", (int)strcspn(l->part, ","), l->part);
	else
		prose_adds(p, l->name);
}

void entry_head(struct prose *p, const struct lexicon_entry *e, const char *what)
{
	prose_para(p);
	if (e->kind == LEXICON_MEMBER) {
		entry_layout(p, e->layout);
		prose_adds(p, ".");
	}
	prose_addf(p, "%s: %s", e->name, what);
}

void entry_term(struct prose *p, const char *name)
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

void entry_users(struct prose *p, const struct xlat *x)
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

void entry_names(struct prose *p, const struct xlat *x)
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

void entry_members(struct prose *p, const char *constant)
{
	size_t n = 0;

	for (size_t l = 0; layouts[l]; l++)
		for (size_t i = 0; i < layouts[l]->n; i++) {
			if (!layouts[l]->part || !names_have(layouts[l]->part, constant))
				continue;
			if (!n++)
				entry_label(p, "Members");
			prose_line(p, ENTRY_BODY, ENTRY_BODY);
			prose_addf(p, "%s: %s.", layouts[l]->fields[i].name,
				   layouts[l]->fields[i].meaning);
		}
}

/* The manual ------------------------------------------------------------------------ */

void entry_manual(struct prose *p, const char *page)
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

void entry_manual_of_layout(struct prose *p, const struct layout *l)
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

void entry_manual_of_table(struct prose *p, const struct xlat *x)
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

void entry_rules_of_field(struct prose *p, const char *field)
{
	size_t n = 0;

	for (size_t i = 0; i < RULE_COUNT; i++)
		if (names_have(rule_descs[i].fields, field))
			rule_line(p, n++, "Checks", &rule_descs[i]);
}

void entry_checks_with_error(struct prose *p, int error)
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

void entry_refusals_of(struct prose *p, const char *call, const char *request)
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

/* Values ---------------------------------------------------------------------------- */

/* Judge an attr for an unprivileged caller on an unknown machine; set the rules that apply. */
static void judge_value(const uint8_t *attr, size_t len, bool applies[RULE_COUNT])
{
	static const struct rule_pmu pmus[] = {
		{ .type = PERF_TYPE_SOFTWARE, .name = "software" },
		{ .type = PERF_TYPE_TRACEPOINT, .name = "tracepoint" },
		{ .type = PERF_TYPE_BREAKPOINT, .name = "breakpoint" },
	};
	struct rule_facts facts = {
		.machine = { .page_size = 4096, .arch = arch_native(), .paranoid = 2,
			     .max_sample_rate = UINT64_MAX, .max_stack = UINT64_MAX,
			     .cpus = 1, .pmus = pmus, .npmus = sizeof(pmus) / sizeof(*pmus) },
	};
	struct rule_ask ask = {
		.attr = attr, .len = len, .cpu = -1, .group_fd = -1, .facts = &facts,
	};
	struct rule_verdict v;

	rules_judge(&ask, &v);
	for (size_t i = 0; i < RULE_COUNT; i++)
		applies[i] = judge_refuses(&v, i) || v.says[i] == RULE_UNKNOWN;
}

/* Mark the rules that apply to an attr of that type only with the value. */
static void mark_rules(uint32_t type, const struct field *f, uint64_t value, bool *out)
{
	const struct layout *l = &layout_perf_event_attr;
	uint8_t attr[256] = { 0 };
	bool before[RULE_COUNT], with[RULE_COUNT];

	field_set(&l->fields[ATTR_TYPE], type, attr);
	field_set(&l->fields[ATTR_SIZE], l->size, attr);
	field_set(&l->fields[ATTR_CONFIG], type == PERF_TYPE_SOFTWARE ? PERF_COUNT_SW_DUMMY : 1,
		  attr);
	field_set(&l->fields[ATTR_EXCLUDE_KERNEL], 1, attr);
	judge_value(attr, l->size, before);
	field_set(f, value, attr);
	judge_value(attr, l->size, with);
	for (size_t i = 0; i < RULE_COUNT; i++)
		out[i] |= with[i] && !before[i];
}

void entry_rules_of_value(struct prose *p, const struct xlat *x, const struct xlat_entry *c)
{
	static const uint32_t types[] = { PERF_TYPE_SOFTWARE, PERF_TYPE_TRACEPOINT,
					  PERF_TYPE_BREAKPOINT };
	const struct layout *l = &layout_perf_event_attr;
	bool found[RULE_COUNT] = { false };
	size_t n = 0;

	for (size_t i = 0; i < l->n && !c->traits; i++)
		for (size_t k = 0; k < 3 && l->fields[i].xlat == x &&
				   l->fields[i].kind == FIELD_FLAGS; k++)
			mark_rules(types[k], &l->fields[i], c->value, found);
	for (size_t i = 0; i < RULE_COUNT; i++)
		if (found[i])
			rule_line(p, n++, "Checks", &rule_descs[i]);
}
