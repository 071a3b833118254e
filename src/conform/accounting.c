// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/accounting.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "conform/claims.h"
#include "conform/compare_internal.h"
#include "conform/patch_place.h"
#include "lib/die.h"
#include "xlat/tables.h"

const char *const account_names[] = {
	"matched", "false", "missing", "excepted", "names only", "untried", "unchecked",
};

typedef void account_fn(void *ctx, const char *kind, enum account account, unsigned int line,
			const char *text, const char *why);

struct accounts {
	const struct conform *c;
	account_fn *hook;
	void *ctx;
	/* the claim of each line of the page, as index of claim_descs + 1; 0: none */
	size_t *claims;
	size_t nlines;
};

/* Rows ----------------------------------------------------------------------------------- */

static const struct finding *finding_about(const struct findings *fs, const char *subject)
{
	for (size_t i = 0; i < fs->n; i++) {
		const char *colon = strchr(fs->all[i].id, ':');

		if (colon && !strcmp(colon + 1, subject) && strncmp(fs->all[i].id, "header", 6) &&
		    strncmp(fs->all[i].id, "btf", 3))
			return &fs->all[i];
	}
	return NULL;
}

static const struct conform_check *check_of(const struct conform *c, const char *source,
					    const char *name)
{
	size_t n = strlen(source);

	for (size_t i = 0; i < c->nchecks; i++)
		if (!strncmp(c->checks[i].what, source, n) &&
		    !strcmp(c->checks[i].what + n, name))
			return &c->checks[i];
	return NULL;
}

static enum account account_of(const struct finding *f)
{
	return f->severity == FINDING_ERROR ? ACCOUNT_FALSE : ACCOUNT_MISSING;
}

/* Account for a name, or the table (set) that it is part of. */
static void account_name(struct accounts *a, const char *kind, const char *name, const char *set,
			 const char *unchecked)
{
	const struct conform *c = a->c;
	const struct finding *f = finding_about(&c->found, name);
	const struct finding *e = finding_about(&c->excepted, name);

	f = f ? f : finding_about(&c->found, set);
	e = e ? e : finding_about(&c->excepted, set);
	if (f)
		a->hook(a->ctx, kind, account_of(f), 0, name, "");
	else if (e)
		a->hook(a->ctx, kind, ACCOUNT_EXCEPTED, 0, name, e->detail);
	else if (check_of(c, "page: ", name))
		a->hook(a->ctx, kind, ACCOUNT_MATCHED, 0, name, "");
	else
		a->hook(a->ctx, kind, ACCOUNT_UNCHECKED, 0, name, unchecked);
}

static void account_tables(struct accounts *a)
{
	const struct api_desc *t = &a->c->tables;

	for (size_t i = 0; i < t->nnames; i++)
		account_name(a, "constant", t->names[i].name, t->names[i].set,
			     "a limit or a mask, or internal to the kernel");
	for (size_t i = 0; i < t->nstructs; i++)
		for (size_t j = 0; j < t->structs[i].n; j++) {
			const struct api_member *m = &t->structs[i].members[j];
			struct buf name = { 0 };

			buf_addf(&name, "%s.%s", t->structs[i].name, m->name);
			account_name(a, "member", name.data, "", m->reserved ? "reserved" :
				     "the page does not describe the structure");
			buf_free(&name);
		}
}

/* Return true if a finding lists the row in its details. */
static bool is_listed(const struct conform *c, const char *subject, const char *row)
{
	for (size_t i = 0; i < c->found.n; i++) {
		const struct finding *f = &c->found.all[i];
		const char *colon = strchr(f->id, ':');

		if (colon && !strcmp(colon + 1, subject) && f->detail && strstr(f->detail, row))
			return true;
	}
	return false;
}

static void account_rules(struct accounts *a)
{
	for (size_t i = 0; i < RULE_COUNT; i++) {
		const struct rule_desc *r = &rule_descs[i];
		const struct xlat_entry *e = xlat_find(&xlat_perf_open_errno,
						       (uint64_t)r->error);
		struct buf row = { 0 };
		bool current = !r->until && e;

		buf_addf(&row, "%s (since ", r->name);
		if (!current)
			a->hook(a->ctx, "rule", ACCOUNT_UNCHECKED, 0, r->name,
				"refuses nothing, or only in older kernels");
		else
			a->hook(a->ctx, "rule", is_listed(a->c, e->name, row.data) ?
				ACCOUNT_MISSING : ACCOUNT_MATCHED, 0, r->name, "");
		buf_free(&row);
	}
	for (const struct refusal_desc *r = refusal_descs; r->call; r++) {
		const char *of = r->request ? r->request : r->call;
		struct buf row = { 0 };

		buf_addf(&row, "%s %s", of, r->errno_name);
		if (is_listed(a->c, of, r->meaning))
			a->hook(a->ctx, "refusal", ACCOUNT_MISSING, 0, row.data, "");
		else if (check_of(a->c, "page: ", of))
			a->hook(a->ctx, "refusal", ACCOUNT_MATCHED, 0, row.data, "");
		else
			a->hook(a->ctx, "refusal", ACCOUNT_UNCHECKED, 0, row.data,
				"the page has no entry of the call");
		buf_free(&row);
	}
}

/* Claims --------------------------------------------------------------------------------- */

/* Return the result of a claim; why is the reason of an untried one, or "". */
static enum account claim_account(const struct conform *c, const char *name, const char **why)
{
	const struct conform_check *check = check_of(c, "kernel: ", name);
	const struct finding *f = finding_about(&c->found, name);
	const struct finding *e = finding_about(&c->excepted, name);

	*why = "";
	if (f)
		return account_of(f);
	if (e) {
		*why = e->detail;
		return ACCOUNT_EXCEPTED;
	}
	if (check && !check->untried)
		return ACCOUNT_MATCHED;
	*why = check ? check->untried : "not chosen";
	return ACCOUNT_UNTRIED;
}

static void account_claims(struct accounts *a)
{
	const struct buf *source = &a->c->page.source;

	for (size_t i = 0; i < claim_ndescs; i++) {
		unsigned int line = claim_line(&claim_descs[i], buf_str(source), source->len);
		const char *why;
		enum account account = claim_account(a->c, claim_descs[i].name, &why);

		a->hook(a->ctx, "claim", account, line, claim_descs[i].name, why);
		/* of several claims of a sentence, one that is not true counts */
		if (line && line <= a->nlines && (!a->claims[line] || account != ACCOUNT_MATCHED))
			a->claims[line] = i + 1;
	}
}

/* Sentences ------------------------------------------------------------------------------ */

/* Return true for prose: text, or the arguments of a font macro. */
static bool is_prose(const char *text)
{
	return *text != '.' || (strspn(text + 1, "BIR") && text[1 + strspn(text + 1, "BIR")] == ' ');
}

/* Return true if a line has a digit, but not in a reference such as read(2). */
static bool has_number(const char *text)
{
	for (size_t i = 0; text[i]; i++)
		if (isdigit((unsigned char)text[i]) && !(i && text[i - 1] == '('))
			return true;
	return false;
}

/* Return true if the lines have a digit, a constant, an errno, or a member. */
static bool is_checkable(const struct accounts *a, const struct patch_doc *d,
			   struct patch_span s)
{
	const struct page *p = &a->c->page;

	for (size_t i = 0; i < p->nwords; i++)
		if (p->words[i].line >= s.first && p->words[i].line < s.first + s.count &&
		    !p->words[i].code)
			return true;
	for (size_t i = s.first; i < s.first + s.count; i++)
		if (is_prose(d->lines[i - 1].text) && has_number(d->lines[i - 1].text))
			return true;
	return false;
}

static const struct finding *finding_on(const struct conform *c, struct patch_span s)
{
	const struct finding *found = NULL;

	for (size_t i = 0; i < c->found.n; i++)
		for (size_t j = 0; j < c->found.all[i].nplaces; j++) {
			const struct finding_place *p = &c->found.all[i].places[j];

			if (p->source == FINDING_PAGE && p->line >= s.first &&
			    p->line < s.first + s.count &&
			    (!found || c->found.all[i].severity < found->severity))
				found = &c->found.all[i];
		}
	return found;
}

/* Return true if the lines have a word, all of which were compared as names. */
static bool has_names(const struct conform *c, struct patch_span s)
{
	for (size_t i = 0; i < c->page.nwords; i++)
		if (c->page.words[i].line >= s.first &&
		    c->page.words[i].line < s.first + s.count)
			return true;
	return false;
}

static void sentence_text(const struct patch_doc *d, struct patch_span s, struct buf *out)
{
	for (size_t i = s.first; i < s.first + s.count; i++) {
		const char *text = d->lines[i - 1].text;

		if (!strncmp(text, ".\\\"", 3))
			continue;
		if (*text == '.')
			text += strcspn(text, " ");
		text += strspn(text, " ");
		buf_addf(out, "%s%s", out->len ? " " : "", text);
	}
}

static void account_sentence(struct accounts *a, const struct patch_doc *d, struct patch_span s)
{
	const struct finding *f = finding_on(a->c, s);
	enum account account = ACCOUNT_UNCHECKED;
	const char *why = "no claim";
	struct buf text = { 0 };
	size_t claim = 0;

	for (size_t i = s.first; i < s.first + s.count; i++)
		claim = a->claims[i] ? a->claims[i] : claim;
	if (f && f->severity == FINDING_ERROR)
		account = ACCOUNT_FALSE, why = f->id;
	else if (claim)
		account = claim_account(a->c, claim_descs[claim - 1].name, &why);
	else if (has_names(a->c, s))
		account = ACCOUNT_NAMES;
	sentence_text(d, s, &text);
	a->hook(a->ctx, "sentence", account, (unsigned int)s.first, buf_str(&text), why);
	buf_free(&text);
}

static void account_sentences(struct accounts *a, const struct patch_doc *d)
{
	bool code = false;

	for (size_t line = 1; line <= d->n;) {
		const char *text = d->lines[line - 1].text;
		struct patch_span s = { line, 1 };

		if (!strncmp(text, ".EX", 3) || !strncmp(text, ".nf", 3))
			code = true;
		else if (!strncmp(text, ".EE", 3) || !strncmp(text, ".fi", 3))
			code = false;
		else if (!code && is_prose(text)) {
			s = patch_sentence(d, line);
			s.count += s.first - line;
			s.first = line;
			if (!s.count)
				s.count = 1;
			if (is_checkable(a, d, s))
				account_sentence(a, d, s);
		}
		line += s.count;
	}
}

void accounting(const struct conform *c, account_fn *hook, void *ctx)
{
	struct accounts a = { .c = c, .hook = hook, .ctx = ctx };
	struct patch_doc d;

	patch_doc_open(&d, buf_str(&c->page.source), c->page.source.len);
	a.nlines = d.n;
	a.claims = xcalloc(d.n + 1, sizeof(*a.claims));
	account_tables(&a);
	account_rules(&a);
	account_claims(&a);
	account_sentences(&a, &d);
	free(a.claims);
	patch_doc_free(&d);
}
