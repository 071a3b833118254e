// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A target for libFuzzer: a manual page out of any bytes, and all comparisons with
 * it.  CONTRIBUTING.md tells how to run it.
 */
#include "conform/compare.h"
#include "conform/tables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct conform c = { .nchecks = 0 };

	tables_read(&c.tables);
	c.header.source = FINDING_HEADER;
	c.btf.source = FINDING_BTF;
	page_parse((const char *)data, len, "page", &c.page);
	compare_page(&c);
	conform_free(&c);
	return 0;
}
