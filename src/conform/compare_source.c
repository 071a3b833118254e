// SPDX-License-Identifier: LGPL-2.1-or-later
/* A header or a kernel's types against our tables. */
#include <stdlib.h>
#include <string.h>

#include "conform/compare.h"
#include "conform/member_diff.h"
#include "conform/tables.h"
#include "lib/buf.h"
#include "lib/die.h"

struct sources {
	struct conform *c;
	const struct api_desc *s;
	const char *kind;	/* "header", "btf" */
	uint32_t release;	/* newest that it knows something of */
	const struct api_struct *ours, *theirs;
};

static struct finding *find(struct sources *x, const char *what, const char *subject,
			    enum finding_severity severity, const char *text)
{
	struct buf kind = { 0 };
	struct finding *f;

	buf_addf(&kind, "%s-%s", x->kind, what);
	f = compare_find(x->c, kind.data, subject, severity, "", "%s", text);
	buf_free(&kind);
	return f;
}

/* The newest name or member that both have tells how old the source is. */
static uint32_t release_of(const struct conform *c, const struct api_desc *s)
{
	uint32_t newest = 0;

	for (size_t i = 0; i < c->tables.nnames; i++) {
		const struct api_name *n = &c->tables.names[i];

		if (n->since > newest && !n->traits && api_name(s, n->name))
			newest = n->since;
	}
	for (size_t i = 0; i < c->tables.nstructs; i++) {
		const struct api_struct *a = &c->tables.structs[i];
		const struct api_struct *b = api_struct(s, a->name);

		for (size_t j = 0; b && j < a->n; j++)
			if (a->members[j].since > newest && api_member(b, a->members[j].name))
				newest = a->members[j].since;
	}
	return newest;
}

/* Names --------------------------------------------------------------------------------- */

/* Limits grow with releases. */
static bool is_limit(const struct api_name *n)
{
	size_t len = strlen(n->name);

	return n->traits & XLAT_NONABI &&
	       ((len > 4 && !strcmp(n->name + len - 4, "_MAX")) || strstr(n->name, "_MAX_SHIFT") ||
		!strncmp(n->name, "NR_", 3));
}

static void wrong_value(struct sources *x, const struct api_name *ours,
			const struct api_name *theirs)
{
	struct buf text = { 0 };
	struct finding *f;

	buf_addf(&text, "%s is 0x%llx in the %s, and 0x%llx in the tables", ours->name,
		 (unsigned long long)theirs->value, x->kind, (unsigned long long)ours->value);
	f = find(x, "value", ours->name, FINDING_ERROR, text.data);
	compare_since(f, ours->since);
	place_name(x->c, f, ours->name);
	buf_free(&text);
}

static void lacks_name(struct sources *x, const struct api_name *ours)
{
	struct buf text = { 0 };
	struct finding *f;
	char a[16], b[16];

	buf_addf(&text, "%s of Linux %s is missing, though it has names of %s", ours->name,
		 tables_release(ours->since, a), tables_release(x->release, b));
	f = find(x, "missing", ours->name, FINDING_MISSING, text.data);
	compare_since(f, ours->since);
	finding_place(f, x->s->source, x->s->file, 0, NULL);
	place_name(x->c, f, ours->name);
	buf_free(&text);
}

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Whether the source should have it: a header what its namesake has; BTF the
 * enums that it has a part of.
 */
static bool expected(const struct sources *x, const struct api_name *n)
{
	if (n->since > x->release || !n->since)
		return false;
	if (x->s->source == FINDING_HEADER) {
		if (!strcmp(base(n->file), base(x->s->file)))
			return true;
		for (size_t i = 0; i < x->s->nnames; i++) {
			const char *file = x->s->names[i].file;

			if (file && !strcmp(base(n->file), base(file)))
				return true;
		}
		return false;
	}
	for (size_t i = 0; i < x->c->tables.nnames; i++) {
		const struct api_name *other = &x->c->tables.names[i];

		if (!strcmp(other->set, n->set) && api_name(x->s, other->name))
			return true;
	}
	return false;
}

static void compare_names(struct sources *x)
{
	for (size_t i = 0; i < x->c->tables.nnames; i++) {
		const struct api_name *ours = &x->c->tables.names[i];
		const struct api_name *theirs = api_name(x->s, ours->name);

		if (!theirs && !(expected(x, ours) && !ours->traits))
			continue;
		compare_begin(x->c, x->kind, ours->name);
		if (!theirs)
			lacks_name(x, ours);
		else if (theirs->valued && theirs->value != ours->value && !is_limit(ours))
			wrong_value(x, ours, theirs);
	}
}

static void compare_news(struct sources *x)
{
	for (size_t i = 0; i < x->s->nnames; i++) {
		const struct api_name *n = &x->s->names[i];
		struct buf text = { 0 };
		struct finding *f;

		if (api_name(&x->c->tables, n->name))
			continue;
		compare_begin(x->c, x->kind, n->name);
		buf_addf(&text, "The tables do not have %s", n->name);
		f = find(x, "unknown", n->name, FINDING_MISSING, text.data);
		place_name(x->c, f, n->name);
		buf_free(&text);
	}
}

/* Structures ---------------------------------------------------------------------------- */

/* A word of theirs that is taken apart in ours, or the other way round. */
static bool taken_apart(const struct api_struct *st, const struct api_member *m)
{
	for (size_t i = 0; i < st->n; i++) {
		const struct api_member *s = &st->members[i];

		if (s->start >= m->start && s->start + s->bits <= m->start + m->bits &&
		    s->bits < m->bits)
			return true;
	}
	return false;
}

static void member_differs(void *ctx, enum member_diff_kind kind,
			   const struct api_member *ours, const struct api_member *theirs)
{
	struct sources *x = ctx;
	static const char *const kinds[] = {
		[MEMBER_MISSING] = "member-missing", [MEMBER_EXTRA] = "member-unknown",
		[MEMBER_WIDTH] = "member-width", [MEMBER_NAME] = "member-name",
		[MEMBER_ORDER] = "member-order", [MEMBER_PLACE] = "member-place",
	};
	const struct api_member *m = ours ? ours : theirs;
	struct buf subject = { 0 }, text = { 0 };
	struct finding *f;

	/* bits that are left over have no member */
	if (!m || kind == MEMBER_WHEN || m->reserved ||
	    (!theirs && m->since > x->release) ||
	    (!ours && (m->array || taken_apart(x->ours, m))))
		return;
	buf_addf(&subject, "%s.%s", x->ours->name, m->name);
	if (!theirs)
		buf_addf(&text, "%s of %s is missing", m->name, x->ours->name);
	else if (!ours)
		buf_addf(&text, "The tables do not have %s of %s", m->name, x->ours->name);
	else if (kind == MEMBER_NAME)
		buf_addf(&text, "%s of %s is called %s in the tables", theirs->name,
			 x->ours->name, ours->name);
	else
		buf_addf(&text, "%s of %s is %u bits from bit %u on, and %u from %u on in the "
			 "tables", m->name, x->ours->name, theirs->bits, theirs->start,
			 ours->bits, ours->start);
	f = find(x, kinds[kind], subject.data,
		 ours && theirs ? FINDING_ERROR : FINDING_MISSING, text.data);
	compare_since(f, m->since);
	place_member(x->c, f, x->ours->name, m->name);
	if (theirs && ours && strcmp(theirs->name, ours->name))
		place_member(x->c, f, x->ours->name, theirs->name);
	buf_free(&subject);
	buf_free(&text);
}

static void compare_structs(struct sources *x)
{
	for (size_t i = 0; i < x->c->tables.nstructs; i++) {
		x->ours = &x->c->tables.structs[i];
		x->theirs = api_struct(x->s, x->ours->name);
		if (!x->theirs)
			continue;
		compare_begin(x->c, x->kind, x->ours->name);
		member_diff(x->ours, x->theirs, member_differs, x);
	}
}

/* Age ----------------------------------------------------------------------------------- */

/* All that is newer than the source is one finding. */
static void compare_age(struct sources *x)
{
	struct buf names = { 0 }, text = { 0 };
	struct finding *f;
	char a[16], b[16];
	size_t n = 0;

	for (size_t i = 0; i < x->c->tables.nnames; i++) {
		const struct api_name *m = &x->c->tables.names[i];

		if (m->since <= x->release || m->traits || api_name(x->s, m->name))
			continue;
		buf_addf(&names, "%s%s, since %s", n++ ? "\n" : "", m->name,
			 tables_release(m->since, a));
	}
	compare_begin(x->c, x->kind, "age");
	if (n) {
		buf_addf(&text, "The newest that the %s has came with Linux %s; %zu names came "
			 "after it, up to %s", x->kind, tables_release(x->release, a), n,
			 tables_release(x->c->tables.release, b));
		f = find(x, "older", a, FINDING_NOTE, text.data);
		finding_place(f, x->s->source, x->s->file, 0, NULL);
		if (!f->detail)
			f->detail = xstrdup(buf_str(&names));
	}
	buf_free(&names);
	buf_free(&text);
}

void compare_source(struct conform *c, const struct api_desc *s)
{
	struct sources x = {
		.c = c, .s = s, .kind = finding_sources[s->source], .release = release_of(c, s),
	};

	compare_names(&x);
	compare_news(&x);
	compare_structs(&x);
	compare_age(&x);
}
