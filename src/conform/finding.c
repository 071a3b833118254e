// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/finding.h"

#include <stdlib.h>
#include <string.h>

#include "conform/page.h"
#include "conform/tables.h"
#include "core/lib/die.h"

const char *const finding_severities[] = { "error", "missing", "note" };
const char *const finding_sources[] = { "page", "header", "btf", "xlat", "kernel" };

static const struct {
	const char *name;
	enum finding_severity severity;
} kinds[] = {
#define FINDING_KIND(kind, word, severity) { word, FINDING_##severity },
	FINDING_KINDS(FINDING_KIND)
#undef FINDING_KIND
};

void finding_id(enum finding_source source, enum finding_kind kind, const char *owner,
		const char *name, struct buf *out)
{
	if (source != FINDING_KERNEL)
		buf_addf(out, "%s-", finding_sources[source]);
	buf_addf(out, "%s:%s%s%s", kinds[kind].name, owner ? owner : "", owner ? "." : "", name);
}

struct finding *finding_add(struct findings *fs, enum finding_source source,
			    enum finding_kind kind, const char *owner, const char *name)
{
	struct buf id = { 0 };

	finding_id(source, kind, owner, name, &id);
	fs->all = page_grow(fs->all, fs->n, sizeof(*fs->all));
	fs->all[fs->n] = (struct finding){
		.source = source, .kind = kind, .severity = kinds[kind].severity, .id = id.data,
		.subject = strchr(id.data, ':') + 1, .owner = owner ? xstrdup(owner) : NULL,
		.name = xstrdup(name),
	};
	return &fs->all[fs->n++];
}

void finding_place(struct finding *f, enum finding_source source, const char *file,
		   unsigned int line, const char *quote)
{
	f->places = page_grow(f->places, f->nplaces, sizeof(*f->places));
	f->places[f->nplaces++] = (struct finding_place){
		.source = source, .file = xstrdup(file), .line = line,
		.quote = quote ? xstrdup(quote) : NULL,
	};
}

void finding_since(struct finding *f, uint32_t since)
{
	char text[16];

	if (since)
		f->since = xstrdup(tables_release(since, text));
}

void finding_detail(struct finding *f, struct buf *text)
{
	if (f->detail)
		buf_free(text);
	else
		f->detail = text->data;
	*text = (struct buf){ 0 };
}

unsigned int finding_page_line(const struct finding *f)
{
	for (size_t i = 0; i < f->nplaces; i++)
		if (f->places[i].source == FINDING_PAGE)
			return f->places[i].line;
	return 0;
}

void findings_free(struct findings *fs)
{
	for (size_t i = 0; i < fs->n; i++) {
		struct finding *f = &fs->all[i];

		for (size_t j = 0; j < f->nplaces; j++) {
			free(f->places[j].file);
			free(f->places[j].quote);
		}
		free(f->places);
		free(f->owner);
		free(f->name);
		free(f->instead);
		free(f->id);
		free(f->section);
		free(f->since);
		free(f->text);
		free(f->detail);
	}
	free(fs->all);
	*fs = (struct findings){ 0 };
}
