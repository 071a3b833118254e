// SPDX-License-Identifier: LGPL-2.1-or-later
/* What names of addresses are read from: answers of the helper, maps and kallsyms. */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "core/host/symtab.h"
#include "core/lib/maps.h"

static void check_lines(const struct code *c)
{
	struct code_line list[CODE_LINES];
	size_t n = code_get_lines(c, list);

	for (size_t i = 0; i < n; i++)
		if (list[i].file + strlen(list[i].file) >= c->text + c->len)
			fuzz_wrong("a name is longer than the packet", c->text);
	if (code_symbol(c) && !*code_symbol(c))
		fuzz_wrong("no name", "a symbol");
}

static void receive(const uint8_t *data, size_t len)
{
	struct code c;

	memset(&c, 'x', sizeof(c));
	memcpy(&c, data, len < sizeof(c) ? len : sizeof(c));
	if (code_valid(&c, len))
		check_lines(&c);
}

static void build(const uint8_t *data, size_t len)
{
	char name[64];
	struct code c;

	code_start(&c);
	fuzz_take(&data, &len, name, sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	code_set_symbol(&c, name, len);
	do {
		fuzz_take(&data, &len, name, sizeof(name) - 1);
	} while (code_add_line(&c, name, name + 31, (uint32_t)len) && len);
	if (!code_valid(&c, code_size(&c)))
		fuzz_wrong("not a struct code", name);
	check_lines(&c);
}

static void read_maps(const uint8_t *data, size_t len)
{
	FILE *f = len ? fmemopen((void *)data, len, "r") : NULL;
	struct maps m = { 0 };

	if (!f)
		return;
	maps_read(&m, f);
	fclose(f);
	for (size_t i = 0; i < m.n; i++)
		if (m.list[i].start >= m.list[i].end ||
		    (i && m.list[i].start < m.list[i - 1].end) ||
		    maps_find(&m, m.list[i].start) != &m.list[i])
			fuzz_wrong("out of order", m.list[i].path);
	maps_free(&m);
}

static void read_kallsyms(const uint8_t *data, size_t len)
{
	int fd = memfd_create("kallsyms", 0);
	struct symtab t = { 0 };
	char path[64];

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	symtab_read_kallsyms(&t, path);
	for (size_t i = 0; i < t.n; i++)
		if (!symtab_find(&t, t.entries[i].addr))
			fuzz_wrong("not found", symtab_name(&t, &t.entries[i]));
	symtab_free(&t);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	receive(data, len);
	build(data, len);
	read_maps(data, len);
	read_kallsyms(data, len);
	return 0;
}
