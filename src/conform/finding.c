// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/finding.h"

#include <stdlib.h>
#include <string.h>

#include "core/lib/buf.h"
#include "core/lib/die.h"

const char *const finding_severities[] = { "error", "missing", "note" };
const char *const finding_sources[] = { "page", "header", "btf", "xlat", "kernel" };

struct finding *finding_add(struct findings *fs, const char *id, enum finding_severity severity,
			    const char *section, const char *text, ...)
{
	struct buf b = { 0 };
	struct finding *f;
	va_list ap;

	if (fs->n == fs->cap) {
		fs->cap = fs->cap ? 2 * fs->cap : 64;
		fs->all = xrealloc(fs->all, fs->cap * sizeof(*fs->all));
	}
	va_start(ap, text);
	buf_vaddf(&b, text, ap);
	va_end(ap);
	f = &fs->all[fs->n++];
	*f = (struct finding){
		.id = xstrdup(id), .section = xstrdup(section), .severity = severity,
		.text = xstrdup(buf_str(&b)),
	};
	buf_free(&b);
	return f;
}

void finding_place(struct finding *f, enum finding_source source, const char *file,
		   unsigned int line, const char *quote)
{
	f->places = xrealloc(f->places, (f->nplaces + 1) * sizeof(*f->places));
	f->places[f->nplaces++] = (struct finding_place){
		.source = source, .file = xstrdup(file), .line = line,
		.quote = quote ? xstrdup(quote) : NULL,
	};
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
		free(f->id);
		free(f->section);
		free(f->since);
		free(f->text);
		free(f->detail);
	}
	free(fs->all);
	*fs = (struct findings){ 0 };
}
