// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "core/lib/program.h"

static int find_in_path(const char *file)
{
	const char *path = getenv("PATH");
	char *dirs = xstrdup(path ? path : "/bin:/usr/bin"), *rest = dirs, *dir;
	struct buf name = { 0 };
	int err = ENOENT;

	while (err && (dir = strsep(&rest, ":"))) {
		buf_reset(&name);
		buf_addf(&name, "%s%s%s", dir, *dir ? "/" : "", file);
		/* a directory that may not be searched has no file that may be executed */
		if (!access(buf_str(&name), F_OK) || (errno != ENOENT && errno != EACCES))
			err = 0;
	}
	buf_free(&name);
	free(dirs);
	return err;
}

int program_find(const char *file)
{
	if (!strchr(file, '/'))
		return find_in_path(file);
	return access(file, F_OK) && (errno == ENOENT || errno == EACCES) ? errno : 0;
}

/* Return what to do where the file cannot be executed. */
static const char *exec_advice(const char *file, int err)
{
	switch (err) {
	case ENOENT:
		if (!access(file, F_OK))
			return "; install the interpreter or loader that the file names";
		return "; check the path";
	case EACCES:
		return "; check that it is an executable file that you may run";
	case ENOEXEC:
		return "; use a program for this machine";
	case E2BIG:
		return "; shorten the arguments or the environment";
	}
	return "";
}

int program_warn(const char *file, int err)
{
	if (err == ENOENT && !strchr(file, '/'))
		warn("cannot run '%s': not found in PATH", file);
	else
		warn("cannot run '%s': %s%s", file, strerror(err), exec_advice(file, err));
	return err;
}
