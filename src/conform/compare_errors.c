// SPDX-License-Identifier: LGPL-2.1-or-later
/* The page's list of errors against the kernel's checks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conform/compare.h"
#include "conform/tables.h"
#include "lib/buf.h"
#include "xlat/tables.h"

/* Words of an entry --------------------------------------------------------------------- */

static bool has_word(const struct conform *c, size_t entry, const char *word, size_t len)
{
	for (size_t i = 0; i < c->page.nwords; i++) {
		const struct page_word *w = &c->page.words[i];

		if (w->entry == entry && strlen(w->name) == len && !memcmp(w->name, word, len))
			return true;
	}
	return false;
}

/* Whether a list has that word. */
static bool lists(const char *fields, const char *word, size_t len)
{
	for (const char *s = fields; *s; s += strcspn(s, ","), s += *s == ',')
		if (strcspn(s, ",") == len && !memcmp(s, word, len))
			return true;
	return false;
}

static bool told_by(const struct conform *c, const struct page_entry *e, const char *words)
{
	for (const char *s = words; *s; s += strcspn(s, ","), s += *s == ',') {
		size_t len = strcspn(s, ",");

		if (has_word(c, (size_t)(e - c->page.entries), s, len) ||
		    api_desc_phrase(buf_str(&c->page.prose) + e->text, e->text_len, s, len))
			return true;
	}
	return false;
}

/* Words of a language, not of C: none that the rule is about, and no "_" in them. */
static bool has_prose(const char *words, const struct rule_desc *rule)
{
	for (const char *s = words; *s; s += strcspn(s, ","), s += *s == ',') {
		size_t len = strcspn(s, ",");

		if (!memchr(s, '_', len) && !lists(rule->fields, s, len))
			return true;
	}
	return false;
}

static bool told(const struct conform *c, const struct page_entry *e,
		 const struct rule_desc *rule)
{
	const char *words = tables_pair(told_descs, rule->name);

	/* what an English word would tell, a translation may tell by any */
	if (words && strcmp(page_section(&c->page, e->section), "ERRORS") &&
	    has_prose(words, rule))
		return true;
	return told_by(c, e, words ? words : rule->fields);
}

/* Rules --------------------------------------------------------------------------------- */

static bool is_current(const struct rule_desc *rule)
{
	return !rule->until && rule->error;
}

static void add_rule(struct finding *f, struct buf *detail, const struct rule_desc *rule)
{
	char since[16];

	buf_addf(detail, "%s%s (since %s): %s", detail->len ? "\n" : "", rule->name,
		 tables_release(rule->since, since), rule->meaning);
	if (f->nplaces < 8)
		finding_place(f, FINDING_XLAT, rule->name, 0, rule->meaning);
}

static void set_detail(struct finding *f, struct buf *detail)
{
	if (f->detail)
		buf_free(detail);
	else
		f->detail = detail->data;
}

static const char *errors_section(const struct conform *c)
{
	for (size_t i = 0; i < c->page.nentries; i++)
		if (page_is_errno(c->page.entries[i].name))
			return page_section(&c->page, c->page.entries[i].section);
	return "ERRORS";
}

static void error_missing(struct conform *c, const struct xlat_entry *error)
{
	struct buf detail = { 0 };
	struct finding *f;

	f = compare_find(c, "page-errno-missing", error->name, FINDING_MISSING,
			 errors_section(c), "%s is not in the list of errors", error->name);
	for (size_t i = 0; i < RULE_COUNT; i++)
		if (rule_descs[i].error == (int)error->value && is_current(&rule_descs[i]))
			add_rule(f, &detail, &rule_descs[i]);
	if (!detail.len)
		buf_adds(&detail, error->meaning);
	set_detail(f, &detail);
}

/* Cases that its entry does not tell of. */
static void error_cases(struct conform *c, const struct xlat_entry *error,
			const struct page_entry *e)
{
	struct buf detail = { 0 };
	struct finding *f = NULL;
	size_t n = 0;

	for (size_t i = 0; i < RULE_COUNT; i++) {
		const struct rule_desc *rule = &rule_descs[i];

		if (rule->error != (int)error->value || !is_current(rule) || told(c, e, rule))
			continue;
		if (!f) {
			f = compare_find(c, "page-errno-cases", error->name, FINDING_MISSING,
					 page_section(&c->page, e->section),
					 "The entry of %s does not tell all its cases",
					 error->name);
			place_page(c, f, e->line);
		}
		add_rule(f, &detail, rule);
		n++;
	}
	if (n)
		set_detail(f, &detail);
}

/* A member that rules of other errors are about, and none of this one. */
static void error_member(struct conform *c, const struct xlat_entry *error,
			 const struct page_word *w)
{
	struct buf detail = { 0 }, subject = { 0 };
	struct finding *f;
	size_t others = 0;

	for (size_t i = 0; i < RULE_COUNT; i++) {
		if (!lists(rule_descs[i].fields, w->name, strlen(w->name)))
			continue;
		others++;
		if (rule_descs[i].error == (int)error->value || !rule_descs[i].error)
			return;
	}
	if (!others)
		return;
	buf_addf(&subject, "%s.%s", error->name, w->name);
	f = compare_find(c, "page-errno-wrong", subject.data, FINDING_ERROR,
			 page_section(&c->page, w->section),
			 "No check of %s ends in %s", w->name, error->name);
	place_page(c, f, w->line);
	for (size_t i = 0; i < RULE_COUNT; i++)
		if (lists(rule_descs[i].fields, w->name, strlen(w->name)))
			buf_addf(&detail, "%s%s: %s: %s", detail.len ? "\n" : "",
				 rule_descs[i].name, strerrorname_np(rule_descs[i].error),
				 rule_descs[i].meaning);
	set_detail(f, &detail);
	buf_free(&subject);
}

static void error_members(struct conform *c, const struct xlat_entry *error,
			  const struct page_entry *e)
{
	size_t entry = (size_t)(e - c->page.entries);

	for (size_t i = 0; i < c->page.nwords; i++) {
		const struct page_word *w = &c->page.words[i];

		if (w->entry == entry && !w->constant && !w->code)
			error_member(c, error, w);
	}
}

/* The release that first gave it, as a rule tells; 0: none does. */
static uint32_t first_release(int error)
{
	uint32_t first = 0;

	for (size_t i = 0; i < RULE_COUNT; i++)
		if (rule_descs[i].error == error &&
		    (!first || rule_descs[i].since < first))
			first = rule_descs[i].since;
	return first;
}

static void error_since(struct conform *c, const struct xlat_entry *error,
			const struct page_entry *e)
{
	uint32_t first = first_release((int)error->value);
	char a[16], b[16];
	struct finding *f;

	if (!e->since || !first || e->since == first)
		return;
	f = compare_find(c, "page-since", error->name, FINDING_ERROR,
			 page_section(&c->page, e->section),
			 "%s came with Linux %s, not with %s", error->name,
			 tables_release(first, a), tables_release(e->since, b));
	compare_since(f, first);
	place_page(c, f, e->line);
}

static void compare_error(struct conform *c, const struct xlat_entry *error)
{
	const struct page_entry *e = page_entry(&c->page, error->name);

	compare_begin(c, "page", error->name);
	if (!e) {
		error_missing(c, error);
		return;
	}
	error_cases(c, error, e);
	error_members(c, error, e);
	error_since(c, error, e);
}

/* Other calls --------------------------------------------------------------------------- */

/* An ioctl's entry tells its errors; those of other calls may stand anywhere else. */
static bool tells_refusal(const struct conform *c, const struct page_entry *entry,
			  const struct refusal_desc *r)
{
	const char *prose = buf_str(&c->page.prose);
	size_t n = strlen(r->errno_name), at = 0;

	if (entry)
		return api_desc_phrase(prose + entry->text, entry->text_len, r->errno_name, n);
	for (size_t i = 0; i < c->page.nentries; i++) {
		const struct page_entry *e = &c->page.entries[i];

		if (!page_is_errno(e->name))
			continue;
		if (e->text > at && api_desc_phrase(prose + at, e->text - at, r->errno_name, n))
			return true;
		at = e->text + e->text_len;
	}
	return api_desc_phrase(prose + at, c->page.prose.len - at, r->errno_name, n);
}

/* Rows from first on that are about the same call; returns how many. */
static size_t compare_call(struct conform *c, const struct refusal_desc *first)
{
	const char *name = first->request ? first->request : first->call;
	const struct page_entry *e = first->request ? page_entry(&c->page, name) : NULL;
	const struct refusal_desc *r = first;
	struct buf detail = { 0 };
	struct finding *f;

	for (; r->call && !strcmp(r->call, first->call) &&
	       (first->request ? r->request && !strcmp(r->request, name) : !r->request); r++)
		if ((e || !first->request) && !tells_refusal(c, e, r))
			buf_addf(&detail, "%s%s: %s", detail.len ? "\n" : "", r->errno_name,
				 r->meaning);
	if (e || !first->request)
		compare_begin(c, "page", name);
	if (detail.len) {
		f = compare_find(c, "page-call-errors", name, FINDING_MISSING,
				 e ? page_section(&c->page, e->section) : "", e ?
				 "The entry of %s does not tell all its errors" :
				 "Some errors of %s(2) are told nowhere", name);
		if (e)
			place_page(c, f, e->line);
		set_detail(f, &detail);
	}
	return (size_t)(r - first);
}

/* In the list, and nothing that perf_event_open returns. */
static void unknown_error(struct conform *c, const struct page_entry *e)
{
	struct finding *f;

	compare_begin(c, "page", e->name);
	f = compare_find(c, "page-errno-unknown", e->name, FINDING_ERROR,
			 page_section(&c->page, e->section),
			 "No check that is known ends in %s", e->name);
	place_page(c, f, e->line);
}

void compare_page_errors(struct conform *c)
{
	const struct xlat *errors = &xlat_perf_open_errno;

	for (size_t i = 0; i < errors->n; i++)
		compare_error(c, &errors->entries[i]);
	for (size_t i = 0; i < c->page.nentries; i++) {
		const struct page_entry *e = &c->page.entries[i];

		if (page_is_errno(e->name) && !xlat_by_name(errors, e->name))
			unknown_error(c, e);
	}
	for (const struct refusal_desc *r = refusal_descs; r->call;)
		r += compare_call(c, r);
}
