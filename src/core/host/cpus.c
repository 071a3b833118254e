// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/cpus.h"

#include <fcntl.h>
#include <stdlib.h>

#include "core/host/sysfile.h"
#include "core/lib/die.h"
#include "core/lib/scan_text.h"

bool cpus_have(const struct cpus *c, int cpu)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->of[i] == cpu)
			return true;
	return false;
}

bool cpus_parse(struct cpus *c, const char *text)
{
	uint64_t first, last;

	*c = (struct cpus){ 0 };
	while (scan_range(&text, &first, &last) && last < CPUS_MAX) {
		for (int cpu = (int)first; cpu <= (int)last; cpu++) {
			if (cpus_have(c, cpu))
				continue;
			c->of = xrealloc(c->of, (c->n + 1) * sizeof(*c->of));
			c->of[c->n++] = cpu;
		}
		if (!*text)
			return true;
	}
	cpus_free(c);
	return false;
}

void cpus_online(struct cpus *c)
{
	char text[4096];

	if (!sysfile_read(AT_FDCWD, "/sys/devices/system/cpu/online", text, sizeof(text)) ||
	    !cpus_parse(c, text))
		cpus_parse(c, "0");
}

void cpus_free(struct cpus *c)
{
	free(c->of);
	*c = (struct cpus){ 0 };
}
