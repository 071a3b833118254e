// SPDX-License-Identifier: LGPL-2.1-or-later
/* Types as BTF, raw or in an object file, against our tables. */
#include <sys/mman.h>
#include <unistd.h>

#include "conform/api_desc.h"
#include "conform/compare.h"
#include "fuzz.h"
#include "core/lib/die.h"

const unsigned long fuzz_inputs = 2000;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct conform c = { .nchecks = 0 };
	int fd = memfd_create("btf", 0);
	struct api_desc all = { 0 };
	char path[32];

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	tables_read(&c.tables);
	c.header.source = FINDING_HEADER;
	c.btf.source = FINDING_BTF;
	c.btf.file = xstrdup(path);
	if (btf_read(path, &c.tables, &c.btf))
		compare_source(&c, &c.btf);
	btf_read(path, NULL, &all);
	api_desc_free(&all);
	conform_free(&c);
	close(fd);
	return 0;
}
