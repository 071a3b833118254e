// SPDX-License-Identifier: LGPL-2.1-or-later
/* A header or BTF compared with the tables. */
#include <stdlib.h>
#include <string.h>

#include "conform/compare_internal.h"
#include "conform/member_diff.h"
#include "conform/tables.h"
#include "core/lib/buf.h"
#include "core/lib/die.h"

struct sources {
	struct conform *c;
	const struct api_desc *s;
	const char *kind;	/* "header", "btf" */
	uint32_t release;	/* newest release with a feature in the source */
	const struct api_struct *ours, *theirs; /* in the tables, in the source */
};

static struct finding *source_add(struct sources *x, const char *what, const char *subject,
				  enum finding_severity severity, const char *text)
{
	struct buf kind = { 0 };
	struct finding *f;

	buf_addf(&kind, "%s-%s", x->kind, what);
	f = compare_add(x->c, kind.data, subject, severity, "", "%s", text);
	buf_free(&kind);
	return f;
}

/* Return the release of the newest name or member that both have. */
static uint32_t source_release(const struct conform *c, const struct api_desc *s)
{
	uint32_t newest = 0;

	for (size_t i = 0; i < c->tables.nnames; i++) {
		const struct api_name *n = &c->tables.names[i];

		if (n->since > newest && !n->traits && !n->updated && api_name(s, n->name))
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

/* A limit whose value grows with releases. */
static bool is_growing_limit(const struct api_name *n)
{
	size_t len = strlen(n->name);

	return n->traits & XLAT_NONABI &&
	       ((len > 4 && !strcmp(n->name + len - 4, "_MAX")) || strstr(n->name, "_MAX_SHIFT") ||
		!strncmp(n->name, "NR_", 3));
}

static void add_wrong_value(struct sources *x, const struct api_name *ours,
			    const struct api_name *theirs)
{
	struct buf text = { 0 };
	struct finding *f;

	buf_addf(&text, "%s is 0x%llx in the %s, but 0x%llx in the tables", ours->name,
		 (unsigned long long)theirs->value, x->kind, (unsigned long long)ours->value);
	f = source_add(x, "value", ours->name, FINDING_ERROR, text.data);
	compare_since(f, ours->since);
	place_name(x->c, f, ours->name);
	buf_free(&text);
}

static void add_lacking_name(struct sources *x, const struct api_name *ours)
{
	struct buf text = { 0 };
	struct finding *f;
	char a[16], b[16];

	buf_addf(&text, "The %s lacks %s of Linux %s, but has names of Linux %s", x->kind,
		 ours->name, tables_release(ours->since, a), tables_release(x->release, b));
	f = source_add(x, "missing", ours->name, FINDING_MISSING, text.data);
	compare_since(f, ours->since);
	finding_place(f, x->s->source, x->s->file, 0, NULL);
	place_name(x->c, f, ours->name);
	buf_free(&text);
}

static const char *header_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Return true if the source should have the name: a header, all names of its own release;
 * BTF, all names of enums that it has a part of.
 */
static bool is_expected(const struct sources *x, const struct api_name *n)
{
	if (n->since > x->release || !n->since)
		return false;
	if (x->s->source == FINDING_HEADER) {
		if (!strcmp(header_base_name(n->file), header_base_name(x->s->file)))
			return true;
		for (size_t i = 0; i < x->s->nnames; i++) {
			const char *file = x->s->names[i].file;

			if (file && !strcmp(header_base_name(n->file), header_base_name(file)))
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

		if (!theirs && !(is_expected(x, ours) && !ours->traits))
			continue;
		compare_begin(x->c, x->kind, ours->name);
		if (!theirs)
			add_lacking_name(x, ours);
		else if (theirs->valued && theirs->value != ours->value && !is_growing_limit(ours))
			add_wrong_value(x, ours, theirs);
	}
}

static void compare_new_names(struct sources *x)
{
	for (size_t i = 0; i < x->s->nnames; i++) {
		const struct api_name *n = &x->s->names[i];
		struct buf text = { 0 };
		struct finding *f;

		if (api_name(&x->c->tables, n->name))
			continue;
		compare_begin(x->c, x->kind, n->name);
		buf_addf(&text, "The tables lack %s", n->name);
		f = source_add(x, "unknown", n->name, FINDING_MISSING, text.data);
		place_name(x->c, f, n->name);
		buf_free(&text);
	}
}

/* Structures ---------------------------------------------------------------------------- */

/* Return true if members of st divide the bits of m. */
static bool is_divided(const struct api_struct *st, const struct api_member *m)
{
	for (size_t i = 0; i < st->n; i++) {
		const struct api_member *s = &st->members[i];

		if (s->start >= m->start && s->start + s->bits <= m->start + m->bits &&
		    s->bits < m->bits)
			return true;
	}
	return false;
}

static void source_member_differs(void *ctx, enum member_diff_kind kind,
				  const struct api_member *ours, const struct api_member *theirs)
{
	struct sources *x = ctx;
	static const char *const kinds[] = {
		[MEMBER_MISSING] = "member-missing", [MEMBER_EXTRA] = "member-unknown",
		[MEMBER_WIDTH] = "member-width", [MEMBER_SIGN] = "member-sign",
		[MEMBER_NAME] = "member-name",
		[MEMBER_ORDER] = "member-order", [MEMBER_PLACE] = "member-place",
	};
	static const char *const sign_names[] = {
		[SIGN_UNSIGNED] = "unsigned", [SIGN_SIGNED] = "signed",
	};
	const struct api_member *m = ours ? ours : theirs;
	struct buf subject = { 0 }, text = { 0 };
	struct finding *f;

	/* MEMBER_LEFT_OVER has no member */
	if (!m || kind == MEMBER_WHEN || m->reserved ||
	    (!theirs && m->since > x->release) ||
	    (!ours && (m->array || is_divided(x->ours, m))))
		return;
	buf_addf(&subject, "%s.%s", x->ours->name, m->name);
	if (!theirs)
		buf_addf(&text, "The %s lacks %s of %s", x->kind, m->name, x->ours->name);
	else if (!ours)
		buf_addf(&text, "The tables lack %s of %s", m->name, x->ours->name);
	else if (kind == MEMBER_SIGN)
		buf_addf(&text, "%s of %s is %s, but %s in the tables", m->name, x->ours->name,
			 sign_names[theirs->sign], sign_names[ours->sign]);
	else if (kind == MEMBER_NAME)
		buf_addf(&text, "%s of %s is named %s in the tables", theirs->name,
			 x->ours->name, ours->name);
	else
		buf_addf(&text, "%s of %s has %u bits at bit %u, but %u bits at bit %u in the "
			 "tables", m->name, x->ours->name, theirs->bits, theirs->start,
			 ours->bits, ours->start);
	f = source_add(x, kinds[kind], subject.data,
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
		member_diff(x->ours, x->theirs, source_member_differs, x);
	}
}

/* Age ----------------------------------------------------------------------------------- */

/* Report all names newer than the source as one finding. */
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
		buf_addf(&text, "The newest names of the %s are of Linux %s; %zu names are newer, up to Linux %s",
			 x->kind, tables_release(x->release, a), n,
			 tables_release(x->c->tables.release, b));
		f = source_add(x, "older", a, FINDING_NOTE, text.data);
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
		.c = c, .s = s, .kind = finding_sources[s->source], .release = source_release(c, s),
	};

	compare_names(&x);
	compare_new_names(&x);
	compare_structs(&x);
	compare_age(&x);
}
