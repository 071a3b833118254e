// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/program.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "core/lib/scan_text.h"

void program_env(struct program *p, const char *change)
{
	if (!*change || *change == '=')
		die("-E requires VAR=VALUE or VAR, not '%s'", change);
	p->env = xrealloc(p->env, (p->nenv + 1) * sizeof(*p->env));
	p->env[p->nenv++] = change;
}

/* Read UID:GID. */
static bool read_ids(struct program *p, const char *text)
{
	uint64_t uid, gid;

	if (!scan_number(&text, NULL, SCAN_DECIMAL, &uid) || *text != ':')
		return false;
	text++;
	if (!scan_number(&text, NULL, SCAN_DECIMAL, &gid) || *text || uid >= UINT32_MAX ||
	    gid >= UINT32_MAX)
		return false;
	p->uid = (uid_t)uid;
	p->gid = (gid_t)gid;
	return true;
}

void program_user(struct program *p, const char *user)
{
	char *end;
	unsigned long uid = strtoul(user, &end, 10);
	struct passwd *pw = *user && !*end ? getpwuid((uid_t)uid) : getpwnam(user);

	if (geteuid())
		die("-u requires root; run pevtrace as that user instead");
	if (read_ids(p, user)) {
		p->user = xstrdup("");
		return;
	}
	if (!pw)
		die("-u: no such user '%s'; use a name, a number or UID:GID", user);
	p->user = xstrdup(pw->pw_name);
	p->uid = pw->pw_uid;
	p->gid = pw->pw_gid;
}

/* Set, or with no = remove, one variable of env, which has room for one more. */
static void change_env(char **env, const char *change)
{
	size_t len = strcspn(change, "="), i = 0;

	while (env[i] && (strncmp(env[i], change, len) || env[i][len] != '='))
		i++;
	if (change[len]) {
		if (!env[i])
			env[i + 1] = NULL;
		env[i] = (char *)change;
		return;
	}
	for (; env[i]; i++)
		env[i] = env[i + 1];
}

static char **new_env(const struct program *p)
{
	char **env;
	size_t n = 0;

	while (environ[n])
		n++;
	env = xcalloc(n + p->nenv + 1, sizeof(*env));
	memcpy(env, environ, n * sizeof(*env));
	for (size_t i = 0; i < p->nenv; i++)
		change_env(env, p->env[i]);
	return env;
}

static bool become(const struct program *p)
{
	if (!p->user)
		return true;
	return !(*p->user ? initgroups(p->user, p->gid) : setgroups(0, NULL)) &&
	       !setresgid(p->gid, p->gid, p->gid) && !setresuid(p->uid, p->uid, p->uid);
}

int program_exec(const struct program *p, char *const *argv)
{
	char **env = environ, **words;
	size_t n = 0;

	if (!become(p))
		return errno;
	if (p->nenv)
		env = new_env(p);
	while (argv[n])
		n++;
	words = xcalloc(n + 1, sizeof(*words));
	memcpy(words, argv, n * sizeof(*words));
	if (p->argv0)
		words[0] = (char *)p->argv0;
	execvpe(argv[0], words, env);
	return errno;
}

void program_free(struct program *p)
{
	free(p->env);
	free((char *)p->user);
}

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
