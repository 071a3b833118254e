// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sentences of the page that headers or the kernel's source contradict (%misstatements). */
#include <string.h>

#include "conform/claims.h"
#include "conform/compare_internal.h"
#include "core/lib/die.h"

static bool page_makes(const struct conform *c, const struct misstatement_desc *m,
		       unsigned int line)
{
	const struct buf *prose = &c->page.prose;

	return m->lacks ? !page_word(&c->page, m->name) &&
			  !api_desc_phrase(buf_str(prose), prose->len, m->name, strlen(m->name)) :
			  line > 0;
}

void compare_page_said(struct conform *c)
{
	for (const struct misstatement_desc *m = misstatement_descs; m->name; m++) {
		const struct claim_desc at = { .section = m->section, .place = m->place };
		unsigned int line = claim_line(&at, buf_str(&c->page.source),
					       c->page.source.len);
		struct finding *f;

		compare_begin(c, "page", m->name);
		/* without its sentence, the page may be a translation */
		if (!line || !page_makes(c, m, line))
			continue;
		f = compare_add(c, "page-said", m->name,
				m->lacks ? FINDING_MISSING : FINDING_ERROR, m->section, "%s",
				m->meaning);
		place_page(c, f, line);
	}
}
