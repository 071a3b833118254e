// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/codegen/c_writer.h"

#include "core/lib/die.h"
#include "core/lib/hash.h"

bool c_say(struct writer *w, const char *what, const char *more)
{
	return !map_set(&w->written, hash_text(hash_text(HASH_START, what), more), w);
}

void c_writer_line(struct writer *w, const char *text, const char *meaning)
{
	if (!(w->nlines & (w->nlines - 1))) /* grow in powers of two */
		w->lines = xrealloc(w->lines, (w->nlines ? 2 * w->nlines : 1) *
				    sizeof(*w->lines));
	w->lines[w->nlines++] = (struct line){ xstrdup(text), meaning };
}
