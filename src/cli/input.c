// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/input.h"

#include <errno.h>
#include <string.h>

#include "dump/perfdata.h"
#include "lib/die.h"

FILE *input_open(const char *path, const char **name)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;

	if (!f)
		die("cannot read '%s': %s", path, strerror(errno));
	*name = f == stdin ? "standard input" : path;
	return f;
}

void input_close(FILE *f)
{
	if (f != stdin)
		fclose(f);
}

bool input_has_calls(FILE *f, const char *name)
{
	if (!perfdata_is(f))
		return true;
	warn("%s is a perf.data file, which has no calls; pevtrace --json=DUMP records them",
	     name);
	return false;
}
