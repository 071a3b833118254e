// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * perf_event_open(2) as a man page's source: man(7) markup, what it says, and all
 * comparisons with that.
 */
#include "conform/api_desc.h"
#include "conform/compare.h"
#include "conform/roff.h"
#include "fuzz.h"

const unsigned long fuzz_inputs = 2000;

static void take_line(void *ctx, const struct roff_line *l)
{
	unsigned int *last = ctx;

	if (strlen(l->text) != l->len || strspn(l->fonts, "RBI") != l->len)
		fuzz_wrong("text and fonts do not fit", l->text);
	if (l->line < *last)
		fuzz_wrong("a line before the one before it", l->text);
	*last = l->line;
}

static void check_page(const struct page *p)
{
	struct buf quoted = { 0 };

	for (size_t i = 0; i < p->nentries; i++) {
		const struct page_entry *e = &p->entries[i];

		page_quote(p, e->line, &quoted);
		if (e->text + e->text_len > p->prose.len)
			fuzz_wrong("text beyond the end", e->name);
		if (!page_entry(p, e->name))
			fuzz_wrong("not found again", e->name);
	}
	for (size_t i = 0; i < p->nwords; i++)
		if (!page_word(p, p->words[i].name))
			fuzz_wrong("not found again", p->words[i].name);
	buf_free(&quoted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct conform c = { .nchecks = 0 };
	unsigned int last = 0;

	roff_read((const char *)data, len, take_line, &last);
	tables_read(&c.tables);
	c.header.source = FINDING_HEADER;
	c.btf.source = FINDING_BTF;
	page_parse((const char *)data, len, "page", &c.page);
	check_page(&c.page);
	compare_page(&c);
	conform_free(&c);
	return 0;
}
