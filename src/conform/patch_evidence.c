// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/patch_evidence.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform/patch_prose.h"
#include "conform/tables.h"
#include "core/lib/die.h"
#include "formats/text/text_wrap.h"
#include "xlat/tables.h"

enum {
	SHORT = 12,	/* digits of a commit in a message */
	COLUMNS = 72,
};

static bool id_begins(const struct finding *f, const char *kind)
{
	return !strncmp(f->id, kind, strlen(kind));
}

bool patch_is_tried(const struct finding *f)
{
	return id_begins(f, "claim:") || id_begins(f, "unsaid:");
}

/* Facts ---------------------------------------------------------------------------------- */

static const char UNDOCUMENTED[] = "Undocumented: ", NEAR[] = "; probably ";

/* Return the name that a finding is about, or the names of a table. */
static char *finding_names(const struct finding *f)
{
	const char *subject = strchr(f->id, ':') + 1, *dot = strchr(subject, '.');
	const char *names = f->text + strlen(UNDOCUMENTED);
	size_t n;
	struct buf pattern = { 0 };

	if (dot)
		return xstrdup(dot + 1);
	if (!id_begins(f, "page-missing:") || !islower((unsigned char)*subject))
		return xstrdup(subject);
	n = strcspn(names, ";");
	/* other tables may share the prefix with a single name */
	if (memchr(names, ' ', n) && tables_add_names(subject, &pattern))
		return pattern.data;
	return xstrndup(names, n);
}

/* Return the commit that the page or the tables name, or NULL. */
static const char *finding_commit(const struct finding *f)
{
	static const char mark[] = ".\\\" commit ";
	const char *subject = strchr(f->id, ':') + 1, *dot = strchr(subject, '.');

	for (size_t i = 0; i < f->nplaces; i++)
		if (f->places[i].quote && !strncmp(f->places[i].quote, mark, strlen(mark)))
			return f->places[i].quote + strlen(mark);
	return tables_pair(commit_descs, dot ? dot + 1 : subject);
}

bool patch_has_commit(const struct finding *f)
{
	const char *subject = strchr(f->id, ':') + 1;

	return (strchr(subject, '.') || isupper((unsigned char)*subject)) && finding_commit(f);
}

static void add_release(const struct finding *f, struct buf *line)
{
	const char *commit = finding_commit(f);
	char *names = finding_names(f);

	if (id_begins(f, "page-since:"))
		buf_adds(line, f->text);
	else if (f->since)
		buf_addf(line, "%s: Linux %s", names, f->since);
	if (line->len && commit)
		buf_addf(line, " (commit %.*s)", SHORT, commit);
	free(names);
}

void patch_add_fact(const struct finding *f, struct buf *out)
{
	const char *near = strstr(f->text, NEAR);
	struct buf line = { 0 }, text = { 0 }, item = { 0 };

	if (id_begins(f, "page-said:") || id_begins(f, "page-member-old:"))
		buf_adds(&line, f->text);
	else if (id_begins(f, "page-unknown:") && near)
		buf_addf(&line, "%s: the name is %s", strchr(f->id, ':') + 1, near + strlen(NEAR));
	else if (!id_begins(f, "page-errno") && !id_begins(f, "page-call"))
		add_release(f, &line);
	if (line.len) {
		buf_addf(&text, "- %s.", line.data);
		patch_wrap(text.data, 2, &item);
		/* a member is missing in the layout and in the text */
		if (!strstr(buf_str(out), item.data))
			buf_adds(out, item.data);
	}
	buf_free(&line);
	buf_free(&text);
	buf_free(&item);
}

void patch_add_commits(const char *message, struct buf *out)
{
	for (const char *s = message; *s; s++) {
		size_t n = strspn(s, "0123456789abcdef");
		char commit[SHORT + 1] = "";
		const char *title;
		struct buf line = { 0 };

		if (n == SHORT)
			memcpy(commit, s, n);
		title = *commit ? tables_pair(commit_title_descs, commit) : NULL;
		if (title && !strstr(buf_str(out), commit)) {
			buf_addf(&line, "linux.git %s (\"%s\")", commit, title);
			patch_wrap(line.data, 2, out);
		}
		buf_free(&line);
		s += n ? n - 1 : 0;
	}
}

/* Experiments ---------------------------------------------------------------------------- */

/* Numbers of events and programs, which differ from run to run, in order of appearance. */
struct numbers {
	char **all;
	size_t n;
};

/* Return the length of the decimal or hexadecimal number at s. */
static size_t number_length(const char *s)
{
	if (!strncmp(s, "0x", 2))
		return 2 + strspn(s + 2, "0123456789abcdef");
	return strspn(s, "0123456789");
}

static size_t number_index(struct numbers *n, const char *s, size_t len, bool add)
{
	size_t i = 0;

	while (i < n->n && (strlen(n->all[i]) != len || strncmp(n->all[i], s, len)))
		i++;
	if (i == n->n && add) {
		n->all = xrealloc(n->all, (n->n + 1) * sizeof(*n->all));
		n->all[n->n++] = xstrndup(s, len);
	}
	return i;
}

/* Return the length of one of the words before an id at s, or 0. */
static size_t id_mark(const char *s)
{
	static const char *const marks[] = { "id=", "ids=[", "_IOC_ID, [" };

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (!strncmp(s, marks[i], strlen(marks[i])))
			return strlen(marks[i]);
	return 0;
}

static void collect_ids(const char *text, struct numbers *n)
{
	for (const char *s = text; *s; s++) {
		size_t mark = id_mark(s), len = mark ? number_length(s + mark) : 0;

		/* smaller ones are process ids and the like of an experiment's own */
		if (len >= 4 && strncmp(s + mark, "0x", 2))
			number_index(n, s + mark, len, true);
	}
}

static bool follows(const char *text, const char *s, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(s - text) >= n && !strncmp(s - n, word, n);
}

/* Append what stands for a number, and return its length, or 0 for a number that stays. */
static size_t replace_number(const char *text, const char *s, struct numbers *n, struct buf *out)
{
	size_t len = number_length(s), i;

	if (!len || (s > text && (isalnum((unsigned char)s[-1]) || s[-1] == '_')))
		return 0;
	i = number_index(n, s, len, false);
	if (i < n->n)
		buf_addf(out, "ID%zu", i + 1);
	else if (!strncmp(s, "0x", 2) && len == 2 + 12)
		buf_adds(out, "ADDRESS");
	else if (follows(text, s, "F_SETOWN, ") ||
		 (follows(text, s, "}, ") && len > 1 && s[len] == ','))
		buf_adds(out, "PID");
	else
		return 0;
	return len;
}

/* Append what stands for a name that differs, and return its length, or 0 without one. */
static size_t replace_name(const char *text, const char *s, struct buf *out)
{
	static const char path[] = "uprobe_path=\"", offset[] = "probe_offset=";

	if (!strncmp(s, path, strlen(path))) {
		buf_addf(out, "%sFILE", path);
		return strlen(path) + strcspn(s + strlen(path), "\"\n");
	}
	if (!strncmp(s, offset, strlen(offset))) {
		buf_addf(out, "%sOFFSET", offset);
		return strlen(offset) + number_length(s + strlen(offset));
	}
	/* the label of a descriptor */
	if (*s == '<' && s > text && isdigit((unsigned char)s[-1])) {
		size_t n = strcspn(s, ">\n");

		return n + (s[n] == '>');
	}
	return 0;
}

/* Return the length of a comment about an argument or id with the blank before it, or 0. */
static size_t argument_comment(const char *s, int depth, const struct buf *out)
{
	const char *end = strncmp(s, " /* ", 4) ? NULL : strstr(s, " */");
	bool id = out->len > 2 && isdigit((unsigned char)out->data[out->len - 1]) &&
		  out->data[out->len - 2] == 'D';

	/* one in hexadecimal has the value that matters */
	return end && (!depth || id) && strncmp(s + 4, "0x", 2) ? (size_t)(end - s) + 3 : 0;
}

/*
 * Copy calls without what differs from run to run: addresses, ids, and labels of descriptors;
 * and without comments about arguments.
 */
static void make_stable(const char *text, struct buf *out)
{
	struct numbers n = { 0 };
	int depth = 0;	/* of braces */

	collect_ids(text, &n);
	for (const char *s = text; *s;) {
		size_t len = replace_number(text, s, &n, out);

		len = len ? len : replace_name(text, s, out);
		len = len ? len : argument_comment(s, depth, out);
		if (!len) {
			depth = *s == '\n' ? 0 : depth + (*s == '{') - (*s == '}');
			buf_addc(out, *s);
		}
		s += len ? len : 1;
	}
	for (size_t i = 0; i < n.n; i++)
		free(n.all[i]);
	free(n.all);
}

/* Append the lines of an experiment as a block; what was expected is in the claim's words. */
static void add_experiment_calls(const char *text, struct buf *out)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		char *line = xstrndup(text, n);

		if (strncmp(line, "expected: ", 10) && strncmp(line, "seen: ", 6)) {
			buf_adds(out, "    ");
			text_fill(out, line, n, 4, 8, COLUMNS);
			buf_addc(out, '\n');
		}
		free(line);
		text += n + (text[n] == '\n');
	}
}

static bool was_observed(const struct finding *f)
{
	for (size_t i = 0; i < f->nplaces; i++)
		if (f->places[i].source == FINDING_KERNEL)
			return true;
	return false;
}

static bool claim_names_constant(const char *name)
{
	bool known = ioctl_by_name(name, strlen(name));

	for (size_t i = 0; !known && xlat_tables[i]; i++)
		known = xlat_by_name(xlat_tables[i], name);
	return known;
}

/* Append a word of a claim, which has constants without their prefix. */
static void add_claim_word(const char *word, size_t n, bool records, struct buf *out)
{
	static const char *const prefixes[] = {
		"PERF_", "PERF_EVENT_IOC_", "PERF_FLAG_", "PERF_TXN_", "PERF_RECORD_",
	};
	size_t i = 0, count = sizeof(prefixes) / sizeof(*prefixes) - !records;
	char name[80];

	for (; n > 2 && i < count; i++) {
		snprintf(name, sizeof(name), "%s%.*s", prefixes[i], (int)n, word);
		if (claim_names_constant(name))
			break;
	}
	buf_addf(out, "%s%.*s", n > 2 && i < count ? prefixes[i] : "", (int)n, word);
}

/* Append a claim with the full names of constants. */
static void add_claim(const char *claim, size_t len, struct buf *out)
{
	static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	bool records = strstr(claim, "record") || strstr(claim, "MISC_");

	while (len) {
		size_t n = strspn(claim, capitals);

		n = n ? n : strcspn(claim, capitals);
		n = n < len ? n : len;
		if (isupper((unsigned char)*claim) && !islower((unsigned char)claim[n]))
			add_claim_word(claim, n, records, out);
		else
			buf_add(out, claim, n);
		claim += n;
		len -= n;
	}
}

void patch_add_experiment(const char *kernel, const struct finding *f, struct buf *out)
{
	static const char claims[] = "The page claims: ", FALSE_HERE[] = ". False here";
	bool unsaid = id_begins(f, "unsaid:");
	const char *claim = f->text + (unsaid ? strlen(UNDOCUMENTED) : strlen(claims));
	size_t n = strlen(claim) - (unsaid ? 0 : strlen(FALSE_HERE));
	struct buf line = { 0 }, calls = { 0 }, block = { 0 };

	if (!f->detail || !was_observed(f))
		return;
	make_stable(f->detail, &calls);
	add_experiment_calls(buf_str(&calls), &block);
	buf_adds(&line, unsaid ? "" : claims);
	add_claim(claim, n, &line);
	buf_addf(&line, ".  %s Linux %s:", unsaid ? "On" : "Not so on", kernel);
	/* a computation without a call shows nothing, and two claims may share an experiment */
	if (strchr(buf_str(&block), '(') && !strstr(buf_str(out), block.data)) {
		if (out->len)
			buf_addc(out, '\n');
		patch_wrap(line.data, 0, out);
		buf_addf(out, "\n%s", block.data);
	}
	buf_free(&line);
	buf_free(&calls);
	buf_free(&block);
}
