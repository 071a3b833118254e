/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a program is run: its environment, its user, and the name that it is given. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

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

/* Warn that the file of a command cannot be run, with what to do; return err. */
int program_warn(const char *file, int err);

/* Run argv[0], found in the PATH of the caller, in place of this process; return an errno. */
int program_exec(const struct program *p, char *const *argv);

void program_free(struct program *p);
