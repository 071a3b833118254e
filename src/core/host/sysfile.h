/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small files of sysfs and tracefs. */
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "core/lib/buf.h"

/*
 * Read the file name below dirfd into text, NUL-terminated, without the final newline,
 * and truncated to fit.  Return false on failure.
 */
bool sysfile_read(int dirfd, const char *name, char *text, size_t size);

/*
 * Read a file of procfs, sysfs or securityfs, as sysfile_read(); return false if it is of another
 * file system, as those are that lxcfs or a bind mount puts in their place.
 */
bool sysfile_read_kernel(const char *path, char *text, size_t size);

/*
 * Return whether the directory, which was a mount point of the file system with that number
 * (statfs(2), f_type), is gone or of another file system, which was mounted over it.
 */
bool sysfile_hidden(const char *dir, unsigned long magic);

/* Read a file that is one decimal number; return false where it is not. */
bool sysfile_number(int dirfd, const char *name, int64_t *v);

/*
 * The lines of a text file:
 *	for (struct lines l = lines_of(path); lines_next(&l);)
 *		use(l.text);
 */
struct lines {
	FILE *file;		/* NULL: it cannot be opened */
	char *text;		/* the current line, without its newline */
	size_t size;
};

struct lines lines_of(const char *path);

/* Read the next line; at the end, lines_end() and return false. */
bool lines_next(struct lines *l);

/* Close the file, before its end or after. */
void lines_end(struct lines *l);

/* Open a directory below dirfd for reading its entries; return NULL on failure. */
DIR *sysfile_dir(int dirfd, const char *name);

/* Return the next entry that does not begin with a dot, or NULL. */
const char *sysfile_next(DIR *d);

/* Return a descriptor of path if it is a regular file, else -1. */
int mapped_file_open_regular(const char *path);

/*
 * Open a regular file by its absolute path in the root directory of a process, which may be in a
 * container, or in ours if that has ended or is not accessible.  proc: "/proc".  Return -1 if there
 * is no such file; set name to the path that was tried.
 */
int mapped_file_open(const char *proc, pid_t pid, const char *path, struct buf *name);

enum { CPUS_MAX = 8192 };

struct cpus {
	int *of;	/* in the order written, each once; owned */
	size_t n;
};

/* Parse the whole text; return false if it is no such list. */
bool cpus_parse(struct cpus *c, const char *text);

/* Read which CPUs are online, from sysfs; CPU 0 if that is unreadable. */
void cpus_online(struct cpus *c);
bool cpus_have(const struct cpus *c, int cpu);
void cpus_free(struct cpus *c);
