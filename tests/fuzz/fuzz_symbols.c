// SPDX-License-Identifier: LGPL-2.1-or-later
/* Symbols of a file that the target has mapped. */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "host/symtab.h"

static void look_up(const struct symtab *t, uint64_t offset)
{
	const struct symtab_entry *e;
	uint64_t addr;

	if (!symtab_addr_of(t, offset, &addr))
		return;
	e = symtab_find(t, addr);
	if (e && (!*symtab_name(t, e) || symtab_module(t, e)))
		fuzz_wrong("no name, or a module", "a symbol");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	int fd = memfd_create("elf", 0);
	struct symtab t = { 0 };

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	symtab_read_elf(&t, fd);
	for (size_t i = 0; i < t.nsegments; i++)
		look_up(&t, t.segments[i].offset + len % 64);
	for (size_t i = 0; i < t.n; i++)
		if (!symtab_find(&t, t.entries[i].addr))
			fuzz_wrong("not found", symtab_name(&t, &t.entries[i]));
	symtab_free(&t);
	close(fd);
	return 0;
}
