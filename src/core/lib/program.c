// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/program.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
