// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/late.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"

bool late_load(const char *libraries)
{
	char *names = xstrdup(libraries), *name;
	bool ok = true;

	/* the last first: libunwind-ptrace uses functions of others without naming these */
	while (ok && *names) {
		name = strrchr(names, ' ');
		name = name ? name + 1 : names;
		ok = dlopen(name, RTLD_LAZY | RTLD_GLOBAL);
		if (!ok)
			warn("cannot load a library: %s; install the package that contains it",
			     dlerror());
		name[name > names ? -1 : 0] = '\0';
	}
	free(names);
	return ok;
}

void *late_symbol(const char *libraries, const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	if (!found && !late_load(libraries))
		exit(EXIT_TROUBLE);
	if (!found)
		found = dlsym(RTLD_DEFAULT, name);
	if (!found)
		die("cannot use %s: %s; install the release that pevtrace was built with",
		    libraries, dlerror());
	return found;
}
