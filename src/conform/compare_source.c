// SPDX-License-Identifier: LGPL-2.1-or-later
/* A header or BTF compared with the tables. */
#include <string.h>

#include "conform/compare.h"
#include "core/lib/list.h"
#include "core/lib/scan_text.h"

struct sources {
	struct conform *c;
	const struct api_desc *s;
	const char *kind;	/* "header", "btf" */
	uint32_t release;	/* newest release with a feature in the source */
	const struct api_struct *ours;	/* structure of the tables that is being compared */
};

/* Return the release of the newest name or member that both have. */
static uint32_t source_release(const struct conform *c, const struct api_desc *s)
{
	uint32_t newest = 0;

	for_each(n, c->tables.names, c->tables.nnames)
		if (n->since > newest && !n->traits && !n->updated && api_name(s, n->name))
			newest = n->since;
	for_each(a, c->tables.structs, c->tables.nstructs) {
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

/*
 * Return true if the source should have the name: a header, all names of its own release;
 * BTF, all names of enums that it has a part of.
 */
static bool is_expected(const struct sources *x, const struct api_name *n)
{
	if (n->since > x->release || !n->since)
		return false;
	if (x->s->source == FINDING_HEADER) {
		if (!strcmp(scan_base_name(n->file), scan_base_name(x->s->file)))
			return true;
		for (size_t i = 0; i < x->s->nnames; i++) {
			const char *file = x->s->names[i].file;

			if (file && !strcmp(scan_base_name(n->file), scan_base_name(file)))
				return true;
		}
		return false;
	}
	for_each(other, x->c->tables.names, x->c->tables.nnames)
		if (!strcmp(other->set, n->set) && api_name(x->s, other->name))
			return true;
	return false;
}

static void compare_names(struct sources *x)
{
	for_each(ours, x->c->tables.names, x->c->tables.nnames) {
		const struct api_name *theirs = api_name(x->s, ours->name);
		struct finding *f = NULL;

		if (!theirs && (!is_expected(x, ours) || ours->traits))
			continue;
		compare_begin(x->c, "%s: %s", x->kind, ours->name);
		if (!theirs) {
			f = compare_add(x->c, x->s->source, FINDING_LACKING, NULL, ours->name, "",
					"The %s lacks %s of Linux %s, but has names of Linux %s",
					x->kind, ours->name, tables_release(ours->since).text,
					tables_release(x->release).text);
			finding_place(f, x->s->source, x->s->file, 0, NULL);
		} else if (theirs->valued && theirs->value != ours->value &&
			   !is_growing_limit(ours)) {
			f = compare_add(x->c, x->s->source, FINDING_VALUE, NULL, ours->name, "",
					"%s is 0x%llx in the %s, but 0x%llx in the tables",
					ours->name, (unsigned long long)theirs->value, x->kind,
					(unsigned long long)ours->value);
		}
		if (!f)
			continue;
		finding_since(f, ours->since);
		place_name(x->c, f, ours->name);
	}
	for_each(n, x->s->names, x->s->nnames) {
		struct finding *f;

		if (api_name(&x->c->tables, n->name))
			continue;
		compare_begin(x->c, "%s: %s", x->kind, n->name);
		f = compare_add(x->c, x->s->source, FINDING_UNKNOWN, NULL, n->name, "",
				"The tables lack %s", n->name);
		f->severity = FINDING_MISSING;
		place_name(x->c, f, n->name);
	}
}

/* Structures ---------------------------------------------------------------------------- */

/* Return true if members of st divide the bits of m. */
static bool is_divided(const struct api_struct *st, const struct api_member *m)
{
	for_each(s, st->members, st->n)
		if (s->start >= m->start && s->start + s->bits <= m->start + m->bits &&
		    s->bits < m->bits)
			return true;
	return false;
}

static void source_member_differs(void *ctx, enum finding_kind kind,
				  const struct api_member *ours, const struct api_member *theirs)
{
	static const char *const sign_names[] = {
		[SIGN_UNSIGNED] = "unsigned", [SIGN_SIGNED] = "signed",
	};
	struct sources *x = ctx;
	const struct api_member *m = ours ? ours : theirs;
	const char *of = x->ours->name;
	struct buf text = { 0 };
	struct finding *f;

	/* FINDING_BITS has no member */
	if (!m || kind == FINDING_MEMBER_WHEN || m->reserved ||
	    (!theirs && m->since > x->release) ||
	    (!ours && (m->array || is_divided(x->ours, m))))
		return;
	if (!theirs)
		buf_addf(&text, "The %s lacks %s of %s", x->kind, m->name, of);
	else if (!ours)
		buf_addf(&text, "The tables lack %s of %s", m->name, of);
	else if (kind == FINDING_MEMBER_SIGN)
		buf_addf(&text, "%s of %s is %s, but %s in the tables", m->name, of,
			 sign_names[theirs->sign], sign_names[ours->sign]);
	else if (kind == FINDING_MEMBER_NAME)
		buf_addf(&text, "%s of %s is named %s in the tables", theirs->name, of, ours->name);
	else
		buf_addf(&text, "%s of %s has %u bits at bit %u, but %u bits at bit %u in the "
			 "tables", m->name, of, theirs->bits, theirs->start, ours->bits,
			 ours->start);
	f = compare_add(x->c, x->s->source, ours ? kind : FINDING_MEMBER_UNKNOWN, of, m->name, "",
			"%s", text.data);
	finding_since(f, m->since);
	place_member(x->c, f, of, m->name);
	if (theirs && ours && strcmp(theirs->name, ours->name))
		place_member(x->c, f, of, theirs->name);
	buf_free(&text);
}

void compare_source(struct conform *c, const struct api_desc *s)
{
	struct sources x = {
		.c = c, .s = s, .kind = finding_sources[s->source], .release = source_release(c, s),
	};
	const struct api_struct *theirs;
	struct release_text newest;
	struct buf names = { 0 };
	struct finding *f;
	size_t n = 0;

	compare_names(&x);
	for (size_t i = 0; i < c->tables.nstructs; i++) {
		x.ours = &c->tables.structs[i];
		theirs = api_struct(s, x.ours->name);
		if (!theirs)
			continue;
		compare_begin(c, "%s: %s", x.kind, x.ours->name);
		member_diff(x.ours, theirs, source_member_differs, &x);
	}
	/* report all names newer than the source as one finding */
	for_each(m, c->tables.names, c->tables.nnames)
		if (m->since > x.release && !m->traits && !api_name(s, m->name))
			buf_addf(&names, "%s%s, since %s", n++ ? "\n" : "", m->name,
				 tables_release(m->since).text);
	compare_begin(c, "%s: age", x.kind);
	if (!n)
		return;
	newest = tables_release(x.release);
	f = compare_add(c, s->source, FINDING_OLDER, NULL, newest.text, "",
			"The newest names of the %s are of Linux %s; %zu names are newer, "
			"up to Linux %s", x.kind, newest.text, n,
			tables_release(c->tables.release).text);
	finding_place(f, s->source, s->file, 0, NULL);
	finding_detail(f, &names);
}
