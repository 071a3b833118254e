// SPDX-License-Identifier: LGPL-2.1-or-later
/* The page's list of errors, compared with the kernel's checks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/strings.h"
#include "conform/compare_internal.h"
#include "conform/tables.h"
#include "core/lib/buf.h"
#include "xlat/tables.h"

/* Words of an entry --------------------------------------------------------------------- */

static bool entry_has_word(const struct conform *c, size_t entry, const char *word, size_t len)
{
	for (size_t i = 0; i < c->page.nwords; i++) {
		const struct page_word *w = &c->page.words[i];

		if (w->entry == entry && strlen(w->name) == len && !memcmp(w->name, word, len))
			return true;
	}
	return false;
}

/* Search a list of words that are separated by commas. */
static bool list_has_word(const char *fields, const char *word, size_t len)
{
	for (const char *s = fields; *s; s += strcspn(s, ","), s += *s == ',')
		if (strcspn(s, ",") == len && !memcmp(s, word, len))
			return true;
	return false;
}

static bool entry_has_any(const struct conform *c, const struct page_entry *e, const char *words)
{
	for (const char *s = words; *s; s += strcspn(s, ","), s += *s == ',') {
		size_t len = strcspn(s, ",");

		if (entry_has_word(c, (size_t)(e - c->page.entries), s, len) ||
		    api_desc_phrase(buf_str(&c->page.prose) + e->text, e->text_len, s, len))
			return true;
	}
	return false;
}

/* Return true if one of the words is English: no "_" in it, and no field of the rule. */
static bool has_prose(const char *words, const struct rule_desc *rule)
{
	for (const char *s = words; *s; s += strcspn(s, ","), s += *s == ',') {
		size_t len = strcspn(s, ",");

		if (!memchr(s, '_', len) && !list_has_word(rule->fields, s, len))
			return true;
	}
	return false;
}

static bool entry_covers(const struct conform *c, const struct page_entry *e,
			 const struct rule_desc *rule)
{
	const char *words = tables_pair(cause_word_descs, rule->name);

	/* a translation of an English word is not recognized: assume it is there */
	if (words && strcmp(page_section(&c->page, e->section), "ERRORS") &&
	    has_prose(words, rule))
		return true;
	return entry_has_any(c, e, words ? words : rule->fields);
}

/* Rules --------------------------------------------------------------------------------- */

static bool is_current(const struct rule_desc *rule)
{
	return !rule->until && rule->error;
}

static void add_error_rule(struct finding *f, struct buf *detail, const struct rule_desc *rule)
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

static void missing_error(struct conform *c, const struct xlat_entry *error)
{
	struct buf detail = { 0 };
	struct finding *f;

	f = compare_add(c, "page-errno-missing", error->name, FINDING_MISSING,
			errors_section(c), "The list of errors lacks %s", error->name);
	for (size_t i = 0; i < RULE_COUNT; i++)
		if (rule_descs[i].error == (int)error->value && is_current(&rule_descs[i]))
			add_error_rule(f, &detail, &rule_descs[i]);
	if (!detail.len)
		buf_adds(&detail, error->meaning);
	set_detail(f, &detail);
}

/* Report the rules of an error that its entry does not mention. */
static void missing_causes(struct conform *c, const struct xlat_entry *error,
			   const struct page_entry *e)
{
	struct buf detail = { 0 };
	struct finding *f = NULL;
	size_t n = 0;

	for (size_t i = 0; i < RULE_COUNT; i++) {
		const struct rule_desc *rule = &rule_descs[i];

		if (rule->error != (int)error->value || !is_current(rule) ||
		    entry_covers(c, e, rule))
			continue;
		if (!f) {
			f = compare_add(c, "page-errno-cases", error->name, FINDING_MISSING,
					page_section(&c->page, e->section),
					"The entry of %s omits causes of the error",
					error->name);
			place_page(c, f, e->line);
		}
		add_error_rule(f, &detail, rule);
		n++;
	}
	if (n)
		set_detail(f, &detail);
}

/* Report a member in an error's entry if only other errors have rules about it. */
static void wrong_member(struct conform *c, const struct xlat_entry *error,
			 const struct page_word *w)
{
	struct buf detail = { 0 }, subject = { 0 };
	struct finding *f;
	size_t others = 0;

	for (size_t i = 0; i < RULE_COUNT; i++) {
		if (!list_has_word(rule_descs[i].fields, w->name, strlen(w->name)))
			continue;
		others++;
		if (rule_descs[i].error == (int)error->value || !rule_descs[i].error)
			return;
	}
	if (!others)
		return;
	buf_addf(&subject, "%s.%s", error->name, w->name);
	f = compare_add(c, "page-errno-wrong", subject.data, FINDING_ERROR,
			page_section(&c->page, w->section),
			"%s never causes %s", w->name, error->name);
	place_page(c, f, w->line);
	for (size_t i = 0; i < RULE_COUNT; i++)
		if (list_has_word(rule_descs[i].fields, w->name, strlen(w->name)))
			buf_addf(&detail, "%s%s: %s: %s", detail.len ? "\n" : "",
				 rule_descs[i].name, error_name(rule_descs[i].error),
				 rule_descs[i].meaning);
	set_detail(f, &detail);
	buf_free(&subject);
}

static void wrong_members(struct conform *c, const struct xlat_entry *error,
			  const struct page_entry *e)
{
	size_t entry = (size_t)(e - c->page.entries);

	for (size_t i = 0; i < c->page.nwords; i++) {
		const struct page_word *w = &c->page.words[i];

		if (w->entry == entry && !w->constant && !w->code)
			wrong_member(c, error, w);
	}
}

/* Return the first release with a rule of that error, or 0. */
static uint32_t error_release(int error)
{
	uint32_t first = 0;

	for (size_t i = 0; i < RULE_COUNT; i++)
		if (rule_descs[i].error == error &&
		    (!first || rule_descs[i].since < first))
			first = rule_descs[i].since;
	return first;
}

static void wrong_error_since(struct conform *c, const struct xlat_entry *error,
			      const struct page_entry *e)
{
	uint32_t first = error_release((int)error->value);
	char a[16], b[16];
	struct finding *f;

	if (!e->since || !first || e->since == first)
		return;
	f = compare_add(c, "page-since", error->name, FINDING_ERROR,
			page_section(&c->page, e->section),
			"%s was added in Linux %s, not %s", error->name,
			tables_release(first, a), tables_release(e->since, b));
	compare_since(f, first);
	place_page(c, f, e->line);
}

static void compare_error(struct conform *c, const struct xlat_entry *error)
{
	const struct page_entry *e = page_entry(&c->page, error->name);

	compare_begin(c, "page", error->name);
	if (!e) {
		missing_error(c, error);
		return;
	}
	missing_causes(c, error, e);
	wrong_members(c, error, e);
	wrong_error_since(c, error, e);
}

/* Other calls --------------------------------------------------------------------------- */

/*
 * Return true if the page documents the refusal: an ioctl's in its entry, another call's
 * anywhere but in the list of errors.
 */
static bool page_has_refusal(const struct conform *c, const struct page_entry *entry,
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

/* Compare the refusals of the call that first belongs to; return their number. */
static size_t compare_call(struct conform *c, const struct refusal_desc *first)
{
	const char *name = first->request ? first->request : first->call;
	const struct page_entry *e = first->request ? page_entry(&c->page, name) : NULL;
	const struct refusal_desc *r = first;
	struct buf detail = { 0 };
	struct finding *f;

	for (; r->call && !strcmp(r->call, first->call) &&
	     (first->request ? r->request && !strcmp(r->request, name) : !r->request); r++)
		if ((e || !first->request) && !page_has_refusal(c, e, r))
			buf_addf(&detail, "%s%s: %s", detail.len ? "\n" : "", r->errno_name,
				 r->meaning);
	if (e || !first->request)
		compare_begin(c, "page", name);
	if (detail.len) {
		f = compare_add(c, "page-call-errors", name, FINDING_MISSING,
				e ? page_section(&c->page, e->section) : "", e ?
				"The entry of %s omits errors" :
				"Undocumented: errors of %s(2)", name);
		if (e)
			place_page(c, f, e->line);
		set_detail(f, &detail);
	}
	return (size_t)(r - first);
}

/* Report an entry of the list that no check of perf_event_open fails with. */
static void unknown_error(struct conform *c, const struct page_entry *e)
{
	struct finding *f;

	compare_begin(c, "page", e->name);
	f = compare_add(c, "page-errno-unknown", e->name, FINDING_ERROR,
			page_section(&c->page, e->section),
			"No known check fails with %s", e->name);
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
