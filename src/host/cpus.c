// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/cpus.h"

#include <fcntl.h>
#include <stdlib.h>

#include "host/sysfile.h"
#include "lib/die.h"

bool cpus_have(const struct cpus *c, int cpu)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->of[i] == cpu)
			return true;
	return false;
}

static bool take_number(const char **p, int *v)
{
	const char *from = *p;

	for (*v = 0; **p >= '0' && **p <= '9' && *v < CPUS_MAX; ++*p)
		*v = *v * 10 + (**p - '0');
	return *p > from && *v < CPUS_MAX;
}

bool cpus_parse(struct cpus *c, const char *text)
{
	*c = (struct cpus){ 0 };
	do {
		int first, last;

		if (!take_number(&text, &first))
			break;
		last = first;
		if (*text == '-' && (text++, !take_number(&text, &last)))
			break;
		if (last < first)
			break;
		for (int cpu = first; cpu <= last; cpu++) {
			if (cpus_have(c, cpu))
				continue;
			c->of = xrealloc(c->of, (c->n + 1) * sizeof(*c->of));
			c->of[c->n++] = cpu;
		}
		if (!*text)
			return true;
	} while (*text++ == ',');
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
