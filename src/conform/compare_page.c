// SPDX-License-Identifier: LGPL-2.1-or-later
/* The page compared with all other sources: the parts in their order; errors, false sentences. */
#include <errno.h>
#include <string.h>

#include "conform/compare.h"
#include "core/abi/strings.h"
#include "core/lib/list.h"
#include "xlat/tables.h"

enum { RULE_PLACES = 8 };	/* rules among the places of a finding */

/* Words of an entry --------------------------------------------------------------------- */

static bool entry_has_any(const struct conform *c, const struct page_entry *e, const char *words)
{
	size_t len;

	for (const char *s; (s = text_item(&words, ',', &len));) {
		if (api_desc_phrase(buf_str(&c->page.prose) + e->text, e->text_len, s, len))
			return true;
		for_each(w, c->page.words, c->page.nwords)
			if (w->entry == (size_t)(e - c->page.entries) && strlen(w->name) == len &&
			    !memcmp(w->name, s, len))
				return true;
	}
	return false;
}

/* Return true for a present rule of an error that its entry (NULL: none) does not mention. */
static bool is_uncovered(const struct conform *c, const struct xlat_entry *error,
			 const struct page_entry *e, const struct rule_desc *rule)
{
	const char *words = tables_pair(cause_word_descs, rule->name), *rest = words;
	size_t len;

	if (rule->error != (int)error->value || !rule->error || rule->until)
		return false;
	/*
	 * A translation of an English word (no "_" in it, and no field of the rule) is not
	 * recognized: assume it is there.
	 */
	if (e && words && strcmp(page_section(&c->page, e->section), "ERRORS"))
		for (const char *s; (s = text_item(&rest, ',', &len));)
			if (!memchr(s, '_', len) && !text_has_item(rule->fields, ',', s, len))
				return false;
	return !e || !entry_has_any(c, e, words ? words : rule->fields);
}

/* Rules --------------------------------------------------------------------------------- */

/* Add the present rules of an error, but those that its entry, if there is one, covers. */
static void add_error_rules(struct conform *c, struct finding *f, const struct xlat_entry *error,
			    const struct page_entry *e)
{
	struct buf detail = { 0 };

	for_each(rule, rule_descs, RULE_COUNT) {
		if (!is_uncovered(c, error, e, rule))
			continue;
		buf_addf(&detail, "%s%s (since %s): %s", detail.len ? "\n" : "", rule->name,
			 tables_release(rule->since).text, rule->meaning);
		if (f->nplaces < RULE_PLACES)
			finding_place(f, FINDING_XLAT, rule->name, 0, rule->meaning);
	}
	if (!detail.len)
		buf_adds(&detail, error->meaning);
	finding_detail(f, &detail);
}

/* Report a member in an error's entry if only other errors have present rules about it. */
static void wrong_member(struct conform *c, const struct xlat_entry *error,
			 const struct page_word *w)
{
	struct buf detail = { 0 };

	for_each(rule, rule_descs, RULE_COUNT) {
		if (!text_has_item(rule->fields, ',', w->name, strlen(w->name)))
			continue;
		if ((rule->error == (int)error->value && !rule->until) || !rule->error) {
			buf_free(&detail);
			return;
		}
		buf_addf(&detail, "%s%s: %s: %s", detail.len ? "\n" : "", rule->name,
			 error_name(rule->error), rule->meaning);
	}
	if (detail.len)
		finding_detail(compare_add_page(c, FINDING_ERRNO_WRONG, error->name, w->name,
						w->section, w->line, "%s never causes %s", w->name,
						error->name), &detail);
}

static void compare_error(struct conform *c, const struct xlat_entry *error)
{
	const struct page_entry *e = page_entry(&c->page, error->name);
	const char *section = "ERRORS";
	bool uncovered = false;
	uint32_t first = 0;	/* release with a rule of the error */

	compare_begin(c, "page: %s", error->name);
	for (size_t i = c->page.nentries; !e && i-- > 0;)
		if (page_is_errno(c->page.entries[i].name))
			section = page_section(&c->page, c->page.entries[i].section);
	if (!e) {
		add_error_rules(c, compare_add(c, FINDING_PAGE, FINDING_ERRNO_MISSING, NULL,
					       error->name, section, "The list of errors lacks %s",
					       error->name), error, NULL);
		return;
	}
	for (size_t i = 0; i < RULE_COUNT && !uncovered; i++)
		uncovered = is_uncovered(c, error, e, &rule_descs[i]);
	if (uncovered)
		add_error_rules(c, compare_add_page(c, FINDING_ERRNO_CASES, NULL, error->name,
						    e->section, e->line,
						    "The entry of %s omits causes of the error",
						    error->name), error, e);
	for_each(w, c->page.words, c->page.nwords)
		if (w->entry == (size_t)(e - c->page.entries) && !w->constant && !w->code)
			wrong_member(c, error, w);
	for (size_t i = 0; i < RULE_COUNT; i++)
		if (rule_descs[i].error == (int)error->value &&
		    (!first || rule_descs[i].since < first))
			first = rule_descs[i].since;
	if (e->since && first && e->since != first)
		finding_since(compare_add_page(c, FINDING_SINCE, NULL, error->name, e->section,
					       e->line, "%s was added in Linux %s, not %s",
					       error->name, tables_release(first).text,
					       tables_release(e->since).text), first);
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
	for_each(e, c->page.entries, c->page.nentries) {
		if (!page_is_errno(e->name))
			continue;
		if (e->text > at && api_desc_phrase(prose + at, e->text - at, r->errno_name, n))
			return true;
		at = e->text + e->text_len;
	}
	return api_desc_phrase(prose + at, c->page.prose.len - at, r->errno_name, n);
}

/* Return whether the page is about the call: others have pages of their own, with their errors. */
static bool page_is_about(const struct refusal_desc *r)
{
	const struct call_desc *d = call_by_name(r->call);

	return r->request || d->class == CLASS_IOCTL || d->class == CLASS_READ || d->id == CALL_MMAP;
}

/* Compare the refusals of the call that first belongs to; return their number. */
static size_t compare_call(struct conform *c, const struct refusal_desc *first)
{
	const char *name = first->request ? first->request : first->call;
	const struct page_entry *e = first->request ? page_entry(&c->page, name) : NULL;
	const struct refusal_desc *r = first;
	struct buf detail = { 0 };

	for (; r->call && !strcmp(r->call, first->call) &&
	     (first->request ? r->request && !strcmp(r->request, name) : !r->request); r++)
		if ((e || !first->request) && page_is_about(r) && !page_has_refusal(c, e, r))
			buf_addf(&detail, "%s%s: %s", detail.len ? "\n" : "", r->errno_name,
				 r->meaning);
	if (e || (!first->request && page_is_about(first)))
		compare_begin(c, "page: %s", name);
	if (detail.len)
		finding_detail(compare_add_page(c, FINDING_CALL_ERRORS, NULL, name,
						e ? e->section : SIZE_MAX, e ? e->line : 0,
						e ? "The entry of %s omits errors" :
						"Undocumented: errors of %s(2)", name), &detail);
	return (size_t)(r - first);
}

void compare_page(struct conform *c)
{
	const struct xlat *errors = &xlat_perf_open_errno;
	const struct buf *prose = &c->page.prose;

	compare_page_names(c);
	compare_page_structs(c);
	compare_page_records(c);
	for (size_t i = 0; i < errors->n; i++)
		compare_error(c, &errors->entries[i]);
	for_each(e, c->page.entries, c->page.nentries) {
		if (!page_is_errno(e->name) || xlat_by_name(errors, e->name))
			continue;
		compare_begin(c, "page: %s", e->name);
		compare_add_page(c, FINDING_ERRNO_UNKNOWN, NULL, e->name, e->section, e->line,
				 "No known check fails with %s", e->name);
	}
	for (const struct refusal_desc *r = refusal_descs; r->call;)
		r += compare_call(c, r);
	/* sentences that headers or the kernel's source contradict, or that the page lacks */
	for (const struct misstatement_desc *m = misstatement_descs; m->name; m++) {
		unsigned int line = page_find(&c->page, m->section, m->place);
		struct finding *f;

		compare_begin(c, "page: %s", m->name);
		/* without its sentence, the page may be a translation */
		if (!line || (m->lacks && (page_word(&c->page, m->name) ||
					   api_desc_phrase(buf_str(prose), prose->len, m->name,
							   strlen(m->name)))))
			continue;
		f = compare_add(c, FINDING_PAGE, FINDING_SAID, NULL, m->name, m->section, "%s",
				m->meaning);
		f->severity = m->lacks ? FINDING_MISSING : FINDING_ERROR;
		place_page(c, f, line);
	}
	compare_page_examples(c);
}
