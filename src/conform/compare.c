// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/compare.h"

#include <stdlib.h>

#include "conform/compare_internal.h"

void compare_page(struct conform *c)
{
	compare_page_names(c);
	compare_page_structs(c);
	compare_page_records(c);
	compare_page_errors(c);
	compare_page_said(c);
	compare_page_examples(c);
}

void conform_free(struct conform *c)
{
	for (size_t i = 0; i < c->nchecks; i++) {
		free(c->checks[i].what);
		free(c->checks[i].untried);
	}
	free(c->checks);
	findings_free(&c->found);
	findings_free(&c->excepted);
	api_desc_free(&c->tables);
	api_desc_free(&c->header);
	api_desc_free(&c->btf);
	page_free(&c->page);
}
