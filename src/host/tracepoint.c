// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/tracepoint.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/sysfile.h"
#include "lib/die.h"

static void read_system(int events, const char *system, struct map *ids)
{
	DIR *d = sysfile_dir(events, system);
	char path[300], text[32], full[600];
	const char *name;

	while (d && (name = sysfile_next(d))) {
		unsigned long long id;

		snprintf(path, sizeof(path), "%s/id", name);
		/* "enable" and "filter" are files, not events */
		if (!sysfile_read(dirfd(d), path, text, sizeof(text)))
			continue;
		id = strtoull(text, NULL, 10);
		if (map_get(ids, id))
			continue;
		snprintf(full, sizeof(full), "%s:%s", system, name);
		map_set(ids, id, xstrdup(full));
	}
	if (d)
		closedir(d);
}

void tracepoints_read(const char *tracefs, struct map *ids)
{
	char path[4096];
	const char *system;
	DIR *d;

	snprintf(path, sizeof(path), "%s/events", tracefs);
	d = sysfile_dir(AT_FDCWD, path);
	while (d && (system = sysfile_next(d)))
		read_system(dirfd(d), system, ids);
	if (d)
		closedir(d);
}
