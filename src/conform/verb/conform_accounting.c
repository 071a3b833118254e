// SPDX-License-Identifier: LGPL-2.1-or-later
/* What was and what was not compared: rows of the tables, and sentences of the page. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform/patch.h"
#include "conform/verb/conform.h"
#include "core/lib/die.h"
#include "xlat/tables.h"

enum { ACCOUNT_KINDS = 8 };

enum account {
	ACCOUNT_MATCHED,	/* page and table, or page and kernel, agree */
	ACCOUNT_FALSE,		/* a finding of severity error */
	ACCOUNT_MISSING,	/* a finding of severity missing or note */
	ACCOUNT_EXCEPTED,	/* by src/conform/conform.in */
	ACCOUNT_NAMES,		/* of a sentence only the names were compared */
	ACCOUNT_UNTRIED,	/* its experiment needs what is not here */
	ACCOUNT_UNCHECKED,	/* nothing compares it */
	ACCOUNTS,
};

static const char *const account_names[] = {
	"matched", "false", "missing", "excepted", "names only", "untried", "unchecked",
};

struct accounts {
	struct conform_cmd *cmd;
	const struct conform *c;
	const char *kinds[ACCOUNT_KINDS];	/* in the order of their first line */
	size_t counts[ACCOUNT_KINDS][ACCOUNTS];
	/* the claim of each line of the page, as index of claim_descs + 1; 0: none */
	size_t *claims;
	const char **reasons;	/* why the sentence on a line cannot be checked; or NULL */
	size_t nlines;
};

/*
 * Count a row or sentence, and write it unless it matches; with --verbose, also then.  line is that
 * of the page, 0: none; why is the reason of ACCOUNT_EXCEPTED, _UNTRIED and _UNCHECKED, or "".
 */
static void account_line(struct accounts *a, const char *kind, enum account account,
			 unsigned int line, const char *text, const char *why)
{
	char number[16] = "-";
	size_t i = 0;

	while (i < ACCOUNT_KINDS && a->kinds[i] && strcmp(a->kinds[i], kind))
		i++;
	if (i < ACCOUNT_KINDS) {
		a->kinds[i] = kind;
		a->counts[i][account]++;
	}
	if (!a->cmd->verbose && (account == ACCOUNT_MATCHED || account == ACCOUNT_NAMES))
		return;
	if (line)
		snprintf(number, sizeof(number), "%u", line);
	conform_line(a->cmd, "%-9s %-10s %5s  %s%s%s", kind, account_names[account], number, text,
		     *why ? ": " : "", why);
}

/* Rows ----------------------------------------------------------------------------------- */

static const struct finding *finding_about(const struct findings *fs, const char *subject)
{
	for_each(f, fs->all, fs->n)
		if ((f->source == FINDING_PAGE || f->source == FINDING_KERNEL) &&
		    !strcmp(f->subject, subject))
			return f;
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

/* Account for a name, or the table (set) that it is part of; "": none. */
static void account_name(struct accounts *a, const char *kind, const char *name, const char *set,
			 const char *unchecked)
{
	const struct conform *c = a->c;
	const struct finding *f = finding_about(&c->found, name) ?: finding_about(&c->found, set);
	const struct finding *e = finding_about(&c->excepted, name) ?:
				  finding_about(&c->excepted, set);
	bool checked = check_of(c, "page: ", name);

	account_line(a, kind, f ? account_of(f) : e ? ACCOUNT_EXCEPTED : checked ? ACCOUNT_MATCHED :
		ACCOUNT_UNCHECKED, 0, name, f ? "" : e ? e->detail : checked ? "" : unchecked);
}

/*
 * Account for a member: by its own name, or by the layout that has it.  Parts of samples have
 * no structure in the page, but are in the layout of the record.
 */
static void account_member(struct accounts *a, const char *structure, const struct api_member *m)
{
	const struct api_desc *page = &a->c->page.desc;
	const struct api_struct *stated = api_struct(page, structure);
	bool shown = stated ? api_member(stated, m->name) != NULL :
		     !strncmp(structure, "perf_sample_", 12) && api_desc_has_member(page, m->name);
	const char *unchecked = m->reserved ? "reserved" :
				!strncmp(structure, "perf_sample_", 12) ?
				"the page's layout has another name for it" :
				"the page does not describe the structure";
	struct buf name = { 0 };

	buf_addf(&name, "%s.%s", structure, m->name);
	if (shown && !finding_about(&a->c->found, name.data) && !m->reserved)
		account_line(a, "member", ACCOUNT_MATCHED, 0, name.data, "");
	else
		account_name(a, "member", name.data, "", unchecked);
	buf_free(&name);
}

/* Return true if a finding lists the row in its details. */
static bool is_listed(const struct conform *c, const char *subject, const char *row)
{
	for_each(f, c->found.all, c->found.n)
		if (!strcmp(f->subject, subject) && f->detail && strstr(f->detail, row))
			return true;
	return false;
}

static void account_rules(struct accounts *a)
{
	for_each(r, rule_descs, RULE_COUNT) {
		const struct xlat_entry *e = xlat_find(&xlat_perf_open_errno,
						       (uint64_t)r->error);
		const char *unchecked = r->until ? "present kernels do not refuse it" :
					!e ? "it has no error of its own" : "";
		struct buf row = { 0 };

		buf_addf(&row, "%s (since ", r->name);
		account_line(a, "rule", *unchecked ? ACCOUNT_UNCHECKED :
			is_listed(a->c, e->name, row.data) ? ACCOUNT_MISSING : ACCOUNT_MATCHED, 0,
			r->name, unchecked);
		buf_free(&row);
	}
	for (const struct refusal_desc *r = refusal_descs; r->call; r++) {
		const char *of = r->request ? r->request : r->call;
		enum account account = is_listed(a->c, of, r->meaning) ? ACCOUNT_MISSING :
				       check_of(a->c, "page: ", of) ? ACCOUNT_MATCHED :
				       ACCOUNT_UNCHECKED;
		struct buf row = { 0 };

		buf_addf(&row, "%s %s (%s)", of, r->errno_name, r->name);
		account_line(a, "refusal", account, 0, row.data, account == ACCOUNT_UNCHECKED ?
			"the page has no entry of the call" : "");
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

/* Account for the example programs. */
static void account_examples(struct accounts *a)
{
	for_each(e, a->c->page.examples, a->c->page.nexamples) {
		const struct conform_check *check = check_of(a->c, "example: ", e->name);
		const struct finding *f = finding_about(&a->c->found, e->name);
		enum account account = f ? account_of(f) : !check ? ACCOUNT_UNCHECKED :
				       check->untried ? ACCOUNT_UNTRIED : ACCOUNT_MATCHED;

		account_line(a, "example", account, e->line, e->name, f ? f->id :
			!check ? "not run, by --no-behaviour" :
			check->untried ? check->untried : "");
	}
}

static void account_claims(struct accounts *a)
{
	for (size_t i = 0; i < claim_ndescs; i++) {
		unsigned int line = page_find(&a->c->page, claim_descs[i].section,
					      claim_descs[i].place);
		const char *why;
		enum account account = claim_account(a->c, claim_descs[i].name, &why);

		account_line(a, "claim", account, line, claim_descs[i].name, why);
		/* of several claims of a sentence, one that is not true counts */
		if (line && line <= a->nlines && (!a->claims[line] || account != ACCOUNT_MATCHED))
			a->claims[line] = i + 1;
	}
}

/* Sentences ------------------------------------------------------------------------------ */

/* Return true for prose: text, or the arguments of a font macro. */
static bool is_prose(const char *text)
{
	size_t n = strspn(text + (*text == '.'), "BIR");

	return *text != '.' || (n && text[1 + n] == ' ');
}

/*
 * Return the first number from s on that is no part of a name or of read(2), or NULL.  text: the
 * start of the line.
 */
static const char *next_number(const char *text, const char *s)
{
	for (; *s; s++)
		if (isdigit((unsigned char)*s) &&
		    (s == text || (s[-1] != '(' && s[-1] != '_' && !isalnum((unsigned char)s[-1]))))
			return s;
	return NULL;
}

static bool in_span(struct patch_span s, size_t line)
{
	return line >= s.first && line < s.first + s.count;
}

/* Return true if the lines have a constant, an errno or a member, compared as a name. */
static bool has_names(const struct conform *c, const struct patch_doc *d, struct patch_span s)
{
	const struct page *p = &c->page;
	char name[64];
	size_t n;

	for (size_t i = 0; i < p->nwords; i++)
		if (in_span(s, p->words[i].line) && !p->words[i].code)
			return true;
	for (size_t i = 0; i < p->nentries; i++)
		if (in_span(s, p->entries[i].line))
			return true;
	/* italic, and begins with the name of a member */
	for (size_t i = s.first; i < s.first + s.count; i++) {
		const char *text = d->lines[i - 1].text;

		if (strncmp(text, ".I", 2))
			continue;
		text += strcspn(text, " ");
		text += strspn(text, " ");
		n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
		snprintf(name, sizeof(name), "%.*s", (int)n, text);
		if (n && n < sizeof(name) && compare_knows_member(c, name))
			return true;
	}
	return false;
}

static const struct finding *finding_on(const struct conform *c, struct patch_span s)
{
	const struct finding *found = NULL;

	for (size_t i = 0; i < c->found.n; i++)
		for_each(p, c->found.all[i].places, c->found.all[i].nplaces)
			if (p->source == FINDING_PAGE && in_span(s, p->line) &&
			    (!found || c->found.all[i].severity < found->severity))
				found = &c->found.all[i];
	return found;
}

/* Return true for a tag that is no name: "0", "pid > 0 and cpu >= 0". */
static bool is_value_tag(const struct conform *c, const struct patch_doc *d, size_t line)
{
	for (size_t i = 0; i < c->page.nentries; i++)
		if (c->page.entries[i].line == line)
			return false;
	return line > 1 && (!strncmp(d->lines[line - 2].text, ".TP", 3) ||
			    !strncmp(d->lines[line - 2].text, ".TQ", 3)) &&
	       next_number(d->lines[line - 1].text, d->lines[line - 1].text);
}

/* Return true if a value in the lines, or the widths that they give, were compared. */
static bool has_compared_number(const struct accounts *a, struct patch_span s, const char *text)
{
	const struct page *p = &a->c->page;
	const struct page_entry *e = NULL;

	for (size_t i = 0; i < p->nclaims; i++)
		if (in_span(s, p->claims[i].line))
			return true;
	if (!strstr(text, "-bit "))
		return false;
	for (size_t i = 0; i < p->nentries; i++)
		if (p->entries[i].line < s.first && (!e || p->entries[i].text > e->text))
			e = &p->entries[i];
	return e && check_of(a->c, "bits: ", e->name);
}

/*
 * Return true if all numbers of a sentence are digits of its constant, that of the last tag
 * before it: level 1, ..._L1.
 */
static bool is_numbered(const struct conform *c, size_t line, const char *text)
{
	const struct page_entry *e = NULL;
	bool any = false;

	for (size_t i = 0; i < c->page.nentries; i++)
		if (c->page.entries[i].line < line && (!e || c->page.entries[i].line > e->line))
			e = &c->page.entries[i];
	for (const char *s = text; e && (s = next_number(text, s)); s++) {
		if (!strchr(e->name, *s) || isdigit((unsigned char)s[1]))
			return false;
		any = true;
	}
	return any;
}

/* Return true for a sentence about kernels before a release. */
static bool is_about_older(const char *text)
{
	static const char *const words[] = {
		"rior to Linux", "efore Linux", "until Linux", "from Linux", "between Linux",
		"introduced in Linux", "renamed in Linux", "was changed to",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcasestr(text, words[i]))
			return true;
	return false;
}

static void account_sentence(struct accounts *a, const struct patch_doc *d, struct patch_span s)
{
	const struct finding *f = finding_on(a->c, s);
	enum account account = ACCOUNT_UNCHECKED;
	const char *why = "", *reason = NULL;
	struct buf text = { 0 };
	size_t claim = 0;

	for (size_t i = s.first; i < s.first + s.count; i++) {
		const char *line = d->lines[i - 1].text;

		claim = a->claims[i] ? a->claims[i] : claim;
		reason = reason ? reason : a->reasons[i];
		if (!strncmp(line, ".\\\"", 3))
			continue;
		if (*line == '.')
			line += strcspn(line, " ");
		buf_addf(&text, "%s%s", text.len ? " " : "", line + strspn(line, " "));
	}
	if (f && f->severity == FINDING_ERROR)
		account = ACCOUNT_FALSE, why = f->id;
	else if (claim)
		account = claim_account(a->c, claim_descs[claim - 1].name, &why);
	else if (has_compared_number(a, s, buf_str(&text)))
		account = ACCOUNT_MATCHED;
	else if (has_names(a->c, d, s))
		account = ACCOUNT_NAMES;
	else if (is_numbered(a->c, s.first, buf_str(&text)))
		account = ACCOUNT_MATCHED;
	else
		why = reason ? reason : is_about_older(buf_str(&text)) ?
		      "about older kernels, which are not run here" : "no claim";
	account_line(a, "sentence", account, (unsigned int)s.first, buf_str(&text), why);
	buf_free(&text);
}

static void account_sentences(struct accounts *a, const struct patch_doc *d)
{
	bool code = false;

	for (size_t line = 1; line <= d->n;) {
		const char *text = d->lines[line - 1].text;
		struct patch_span s = { line, 1 };
		bool checkable = false;

		if (!strncmp(text, ".EX", 3) || !strncmp(text, ".nf", 3))
			code = true;
		else if (!strncmp(text, ".EE", 3) || !strncmp(text, ".fi", 3))
			code = false;
		else if (!code && is_prose(text)) {
			s = patch_sentence(d, line);
			/* a value and what it means are one statement */
			if (s.count == 1 && is_value_tag(a->c, d, line) && line < d->n)
				s.count += patch_sentence(d, line + 1).count;
			s.count += s.first - line;
			s.first = line;
			if (!s.count)
				s.count = 1;
			/* it has a digit, a constant, an errno, or a member */
			for (size_t i = line; i < line + s.count && !checkable; i++)
				checkable = is_prose(d->lines[i - 1].text) &&
					    next_number(d->lines[i - 1].text, d->lines[i - 1].text);
			if (checkable || has_names(a->c, d, s) || finding_on(a->c, s))
				account_sentence(a, d, s);
		}
		line += s.count;
	}
}

void conform_accounting(struct conform_cmd *cmd)
{
	const struct conform *c = &cmd->c;
	struct accounts a = { .cmd = cmd, .c = c };
	struct patch_doc d;

	patch_doc_open(&d, buf_str(&c->page.source), c->page.source.len);
	a.nlines = d.n;
	a.claims = xcalloc(d.n + 1, sizeof(*a.claims));
	a.reasons = xcalloc(d.n + 1, sizeof(*a.reasons));
	for (const struct pair_desc *u = uncheckable_descs; u->name; u++) {
		unsigned int line = page_find(&c->page, "", u->name);

		if (line && line <= a.nlines)
			a.reasons[line] = u->text;
	}
	for (size_t i = 0; i < c->tables.nnames; i++)
		account_name(&a, "constant", c->tables.names[i].name, c->tables.names[i].set,
			     "a limit or a mask, or internal to the kernel");
	for (size_t i = 0; i < c->tables.nstructs; i++)
		for (size_t j = 0; j < c->tables.structs[i].n; j++)
			account_member(&a, c->tables.structs[i].name,
				       &c->tables.structs[i].members[j]);
	account_rules(&a);
	account_claims(&a);
	account_examples(&a);
	account_sentences(&a, &d);
	for (size_t i = 0; i < ACCOUNT_KINDS && a.kinds[i]; i++) {
		struct buf b = { 0 };

		for (int j = 0; j < ACCOUNTS; j++)
			if (a.counts[i][j])
				buf_addf(&b, "%s%zu %s", b.len ? ", " : "", a.counts[i][j],
					 account_names[j]);
		conform_line(cmd, "total %s: %s", a.kinds[i], buf_str(&b));
		buf_free(&b);
	}
	free(a.claims);
	free(a.reasons);
	patch_doc_free(&d);
}
