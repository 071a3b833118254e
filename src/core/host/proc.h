/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What /proc shows of a process, see proc(5), and what to do where it or /sys is missing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/host/sysfile.h"

/* Read memory of this process, up to the first page that is not mapped; return how much. */
size_t own_memory_read(uint64_t addr, void *dst, size_t len);

/*
 * Return whether n more descriptors can be open at once, by opening as many, up to 256.
 * If not, raise the soft limit (RLIMIT_NOFILE) to the hard one, which children inherit.
 */
bool descriptors_want(size_t n);

/* Return the lines of a file of the task's directory. */
struct lines proc_lines(pid_t tid, const char *name);

/* What /proc/PID/fd shows for a perf event, /proc/PID/maps for its ring. */
#define PROC_EVENT_LINK "anon_inode:[perf_event]"
#define PROC_EPOLL_LINK "anon_inode:[eventpoll]"

/* Call hook for each descriptor of the task, with the target of its link. */
void proc_each_fd(pid_t tid, void (*hook)(void *ctx, int fd, const char *link), void *ctx);

/* Return whether a descriptor of the task is closed by exec; false if that cannot be read. */
bool proc_fd_cloexec(pid_t tid, int fd);

/* Set *fd to the next descriptor in the fdinfo of an epoll instance; return false at the end. */
bool proc_next_watched(struct lines *fdinfo, int *fd);

/*
 * Return whether /proc is mounted and shows the tasks of our own PID namespace, by the ids that
 * system calls return here.
 */
bool proc_is_ours(void);

/* Return whether the path is a file of procfs, and not one that is mounted in its place. */
bool proc_has(const char *path);

/*
 * Call hook for each mapping of the task with the given path; return false if its mappings cannot
 * be read.
 */
bool proc_each_map(pid_t tid, const char *path,
		   void (*hook)(void *ctx, uint64_t start, uint64_t end),
		   void *ctx);

/* Return what identifies the program that the task runs, 0 if that is not known. */
uint64_t proc_program(pid_t tid);

/* Read the link of a descriptor into text; return false on failure. */
bool proc_fd_link(pid_t tid, int fd, char *text, size_t size);

/* Return 1 if that is the link of a descriptor, 0 if another one is, -1 if it cannot be read. */
int proc_fd_is(pid_t tid, int fd, const char *link);

/*
 * Return whether the process has a mapping of a file at just these addresses, the end rounded
 * up to a page (proc(5), map_files); true if that cannot be known.
 */
bool proc_file_mapped(pid_t pid, uint64_t start, uint64_t end);

/* A PID namespace (pid_namespaces(7)): ours, which has level 0, or one below. */
struct pidns {
	ino_t inode;		/* 0: ours */
	size_t level;
};

/* Return the PID namespace of a task, ours if it is not known. */
struct pidns proc_pidns(pid_t tid);

/* Return the id of a task in a namespace, 0 if it is not in that. */
pid_t proc_pid_in(const struct pidns *ns, pid_t tid);

/* Return the task whose id in the namespace is nspid, or 0.  The task guess is tried first. */
pid_t proc_pid_from(const struct pidns *ns, pid_t nspid, pid_t guess);

/*
 * Return the id of the task that tid calls nspid, as its PID namespace counts (pid_namespaces(7)):
 * nspid itself if that is our namespace too or cannot be told, 0 if there is no such task.
 * The task guess is looked at first.
 */
pid_t proc_pid_here(pid_t tid, pid_t nspid, pid_t guess);

/* Read the task's name (comm) into text; return false on failure. */
bool proc_comm(pid_t tid, char *text, size_t size);

/* Read the path of the program that the task runs into text; return false on failure. */
bool proc_exe(pid_t tid, char *text, size_t size);

/*
 * Return the words of the task's command line, at most that many bytes of it, and NULL behind them;
 * none if it cannot be read.  Free them with proc_command_free().
 */
char **proc_command(pid_t tid, size_t most);
void proc_command_free(char **words);

/* The file systems by which the kernel tells facts. */

/* Return why /proc cannot be used, and what to do; NULL if it can.  A constant string. */
const char *mounts_proc_missing(void);

/* Return the same of sysfs in /sys. */
const char *mounts_sys_missing(void);

/*
 * Return the same of the directories of sysfs that list the PMUs: whether something is mounted over
 * one, or they are empty, which they are in no kernel that has perf events.
 */
const char *mounts_pmus_missing(void);

/* Warn about each of the two that is missing. */
void mounts_warn(void);

/* Warn of that, and of a /proc without /proc/sys, which judging calls requires. */
void mounts_warn_facts(void);
