/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Children, signals, and how a program is run: its environment, its user, and the name that it is given. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

/*
 * Wait until a child ends; return its wait status, or -1 if pid is no child, such as the
 * result of a fork(2) that failed.
 */
int child_wait(pid_t pid);

/*
 * Run body() in a child and wait until it ends.  out: size bytes, filled in with what body()
 * writes to its zeroed argument.  Return the wait status, or -1 if there could be no
 * child.
 */
int child_run(void (*body)(const void *ctx, void *out), const void *ctx, void *out, size_t size);

/* Return whether this process ignores the signal, as a shell or nohup(1) may have left it. */
bool signal_is_ignored(int sig);

/* The descriptors that helper_seclude() leaves open. */
enum { HELPER_SOCKET, HELPER_FILE, HELPER_DESCRIPTORS };

/*
 * Seclude the calling process: a session and a name of its own, no signals but those
 * of helper_limit(), no core dump, bounded memory, and no descriptors but socket as
 * HELPER_SOCKET and HELPER_FILE, which is for the helper's use.  Exit on failure.
 */
void helper_seclude(const char *name, int socket);

/*
 * Let SIGPROF end the process after cpu seconds of processor time, SIGALRM after
 * all seconds.  0 lifts a limit.
 */
void helper_limit(time_t cpu, time_t all);

struct program {
	const char *argv0;	/* NULL: the word that names the file */
	const char **env;	/* VAR=VALUE to set, VAR to remove, in this order; owned */
	size_t nenv;
	const char *user;	/* NULL: the caller's; "": uid and gid, without groups */
	uid_t uid;
	gid_t gid;
};

/* Add VAR=VALUE or VAR, which must outlive p. */
void program_env(struct program *p, const char *change);

/* Set the user, a name, a number or UID:GID.  Die if it is unknown or the caller is not root. */
void program_user(struct program *p, const char *user);

/*
 * Return 0 if execvp() would find the file, in PATH if its name has no slash; or ENOENT; or
 * EACCES, if a directory of its path may not be searched.
 */
int program_find(const char *file);

/* Return whether a word names a program: in PATH, or as a file that may be run. */
bool program_is(const char *word);

/* Warn that the file of a command cannot be run, with what to do; return err. */
int program_warn(const char *file, int err);

/* Run argv[0], found in the PATH of the caller, in place of this process; return an errno. */
int program_exec(const struct program *p, char *const *argv);

void program_free(struct program *p);
