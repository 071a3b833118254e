// SPDX-License-Identifier: LGPL-2.1-or-later
/* The page compared with all other sources: the parts in their order, and its false sentences. */
#include "conform/compare.h"

#include <string.h>

#include "xlat/tables.h"

/* Report sentences that headers or the kernel's source contradict, or that the page lacks. */
static void compare_page_said(struct conform *c)
{
	const struct buf *prose = &c->page.prose;

	for (const struct misstatement_desc *m = misstatement_descs; m->name; m++) {
		unsigned int line = page_find(&c->page, m->section, m->place);
		struct finding *f;

		compare_begin(c, "page: %s", m->name);
		/* without its sentence, the page may be a translation */
		if (!line || (m->lacks && (page_word(&c->page, m->name) ||
					   api_desc_phrase(buf_str(prose), prose->len, m->name,
							   strlen(m->name)))))
			continue;
		f = compare_add(c, FINDING_PAGE, FINDING_SAID, NULL, m->name, m->section, "%s",
				m->meaning);
		f->severity = m->lacks ? FINDING_MISSING : FINDING_ERROR;
		place_page(c, f, line);
	}
}

void compare_page(struct conform *c)
{
	compare_page_names(c);
	compare_page_structs(c);
	compare_page_records(c);
	compare_page_errors(c);
	compare_page_said(c);
	compare_page_examples(c);
}
