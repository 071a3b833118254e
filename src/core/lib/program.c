// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/lib/program.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "core/lib/scan_text.h"

bool signal_is_ignored(int sig)
{
	struct sigaction action;

	return !sigaction(sig, NULL, &action) && action.sa_handler == SIG_IGN;
}

int child_wait(pid_t pid)
{
	int status = -1;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int child_run(void (*body)(const void *ctx, void *out), const void *ctx, void *out, size_t size)
{
	void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	memset(out, 0, size);
	if (shared == MAP_FAILED)
		return -1;
	pid = fork();
	if (!pid) {
		body(ctx, shared);
		_exit(0);
	}
	status = child_wait(pid);
	memcpy(out, shared, size);
	munmap(shared, size);
	return status;
}

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/*
 * Bytes of data: above what the debug information of the largest programs requires, but
 * below the shadow memory of the sanitizers.
 */
#ifdef SANITIZED
static const rlim_t max_memory = RLIM_INFINITY;
#else
static const rlim_t max_memory = (rlim_t)3 << 30;
#endif

void helper_seclude(const char *name, int socket)
{
	sigset_t all;

	setsid();
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_DUMPABLE, 0);
	signal(SIGALRM, SIG_DFL);
	signal(SIGPROF, SIG_DFL);
	sigfillset(&all);
	sigdelset(&all, SIGALRM);
	sigdelset(&all, SIGPROF);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setrlimit(RLIMIT_DATA, &(struct rlimit){ max_memory, max_memory });
	if (dup2(socket, HELPER_SOCKET) < 0 || dup2(HELPER_SOCKET, HELPER_FILE) < 0)
		_exit(1);
	syscall(SYS_close_range, HELPER_DESCRIPTORS, ~0U, 0);
}

void helper_limit(time_t cpu, time_t all)
{
	setitimer(ITIMER_PROF, &(struct itimerval){ .it_value.tv_sec = cpu }, NULL);
	setitimer(ITIMER_REAL, &(struct itimerval){ .it_value.tv_sec = all }, NULL);
}

void program_env(struct program *p, const char *change)
{
	if (!*change || *change == '=')
		die("-E requires VAR=VALUE or VAR, not '%s'", change);
	APPEND(p->env, p->nenv) = change;
}

void program_user(struct program *p, const char *user)
{
	char *end;
	unsigned long number = strtoul(user, &end, 10);
	struct passwd *pw = *user && !*end ? getpwuid((uid_t)number) : getpwnam(user);
	const char *at = user;
	uint64_t uid, gid;

	if (geteuid())
		die("-u requires root; run pevtrace as that user instead");
	if (scan_number(&at, NULL, SCAN_DECIMAL, &uid) && *at++ == ':' &&
	    scan_number(&at, NULL, SCAN_DECIMAL, &gid) && !*at && uid < UINT32_MAX &&
	    gid < UINT32_MAX) {
		p->user = xstrdup("");
		p->uid = (uid_t)uid;
		p->gid = (gid_t)gid;
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

/* Return a copy of a list that NULL ends, with room for so many more. */
static char **copy_words(char *const *list, size_t more)
{
	char **copy;
	size_t n = 0;

	while (list[n])
		n++;
	copy = xcalloc(n + more + 1, sizeof(*copy));
	memcpy(copy, list, n * sizeof(*copy));
	return copy;
}

int program_exec(const struct program *p, char *const *argv)
{
	char **env, **words;

	if (p->user && ((*p->user ? initgroups(p->user, p->gid) : setgroups(0, NULL)) ||
			setresgid(p->gid, p->gid, p->gid) || setresuid(p->uid, p->uid, p->uid)))
		return errno;
	env = copy_words(environ, p->nenv);
	for (size_t i = 0; i < p->nenv; i++)
		change_env(env, p->env[i]);
	words = copy_words(argv, 0);
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

int program_find(const char *file)
{
	const char *path = getenv("PATH");
	char *dirs, *rest, *dir;
	struct buf name = { 0 };
	int err = ENOENT;

	if (strchr(file, '/'))
		return access(file, F_OK) && (errno == ENOENT || errno == EACCES) ? errno : 0;
	dirs = rest = xstrdup(path ? path : "/bin:/usr/bin");
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

bool program_is(const char *word)
{
	struct stat st;

	return strchr(word, '/') ? !stat(word, &st) && S_ISREG(st.st_mode) && !access(word, X_OK) :
				   !program_find(word);
}

int program_warn(const char *file, int err)
{
	const char *advice =
		err == ENOENT && access(file, F_OK) ? "; check the path" :
		err == ENOENT ? "; install the interpreter or loader that the file names" :
		err == EACCES ? "; check that it is an executable file that you may run" :
		err == ENOEXEC ? "; use a program for this machine" :
		err == E2BIG ? "; shorten the arguments or the environment" : "";

	if (err == ENOENT && !strchr(file, '/'))
		warn("cannot run '%s': not found in PATH", file);
	else
		warn("cannot run '%s': %s%s", file, strerror(err), advice);
	return err;
}
