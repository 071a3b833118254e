/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What /proc tells of a running process (proc(5)). */
#ifndef PEVTRACE_HOST_PROC_H
#define PEVTRACE_HOST_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What /proc/PID/fd shows for a perf event, /proc/PID/maps for its ring. */
#define PROC_EVENT_LINK "anon_inode:[perf_event]"
#define PROC_EPOLL_LINK "anon_inode:[eventpoll]"

/* Calls hook for each descriptor of the task with what its link says. */
void proc_each_fd(pid_t tid,
		  void (*hook)(void *ctx, int fd, bool cloexec, const char *link),
		  void *ctx);

/* Calls hook for each perf event that an epoll instance of the task watches. */
void proc_each_watched(pid_t tid, int epfd, void (*hook)(void *ctx, int fd),
		       void *ctx);

/* Calls hook for each mapping of the task with the given path. */
void proc_each_map(pid_t tid, const char *path,
		   void (*hook)(void *ctx, uint64_t start, uint64_t end),
		   void *ctx);

/* What the descriptor is, into text; false when that cannot be known. */
bool proc_fd_link(pid_t tid, int fd, char *text, size_t size);

/* The task's name, into text; false when it cannot be known. */
bool proc_comm(pid_t tid, char *text, size_t size);

/* The program that the task runs, into text; false when it cannot be known. */
bool proc_exe(pid_t tid, char *text, size_t size);

#endif
