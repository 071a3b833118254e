/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What targets share that do one thing, named by a verb, and print what they
 * saw of it, the same at every run:
 *
 *	target [-e] [-n N] VERB [ARG]
 *
 * -e holds an event meanwhile, that all children inherit; -n does it N times.
 * Exit status 77: cannot be tried here.
 */
#ifndef PEVTRACE_TARGETS_VERBS_H
#define PEVTRACE_TARGETS_VERBS_H

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CANNOT = 77 };

#define CHECK(what)                                                               \
	do {                                                                      \
		if (!(what)) {                                                    \
			fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #what,    \
				strerror(errno));                                 \
			_exit(1);                                                 \
		}                                                                 \
	} while (0)

struct verb {
	const char *name;
	int (*run)(const char *arg);
};

static const char *own_path; /* of the program, to run it again */

static inline struct perf_event_attr software(uint64_t config)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE, .size = PERF_ATTR_SIZE_VER5,
		.config = config, .exclude_kernel = 1, .exclude_hv = 1,
	};
}

static inline int event_open(struct perf_event_attr *attr, pid_t pid, int group)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, -1, group, 0);
}

static inline int clock_open(void)
{
	struct perf_event_attr attr = software(PERF_COUNT_SW_TASK_CLOCK);

	attr.inherit = 1;
	return event_open(&attr, 0, -1);
}

static inline void pause_us(long us)
{
	struct timespec left = { us / 1000000, us % 1000000 * 1000 };

	while (nanosleep(&left, &left))
		;
}

/* Waits until it sleeps in the kernel, by itself and not for a tracer; 10 s at most. */
static inline void await_sleep(pid_t pid)
{
	char path[32], line[128], *end;
	int seen = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	for (int i = 0; i < 10000 && seen < 2; i++) {
		FILE *f = fopen(path, "re");

		CHECK(f && fgets(line, sizeof(line), f));
		fclose(f);
		end = strrchr(line, ')');
		seen = end && end[1] == ' ' && end[2] == 'S' ? seen + 1 : 0;
		pause_us(1000);
	}
}

static inline void show_status(const char *whose, int status)
{
	if (WIFEXITED(status))
		printf("%s: exited with %d\n", whose, WEXITSTATUS(status));
	else if (WIFSIGNALED(status))
		printf("%s: killed by %s\n", whose, strsignal(WTERMSIG(status)));
	else if (WIFSTOPPED(status))
		printf("%s: stopped by %s%s\n", whose, strsignal(WSTOPSIG(status)),
		       status >> 16 ? " and an event" : "");
	else
		printf("%s: continued\n", whose);
}

/* Waits for that child's end and shows it. */
static inline void finish(const char *whose, pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		CHECK(errno == EINTR);
	show_status(whose, status);
}

/* A fork that does not print twice what is still in stdio's buffer. */
static inline pid_t fork_clean(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	CHECK(pid >= 0);
	return pid;
}

static inline _Noreturn void leave(int status)
{
	fflush(stdout);
	_exit(status);
}

static inline int run_verb(int argc, char **argv, const struct verb *verbs)
{
	int opt, n = 1, ret = 0;

	own_path = argv[0];
	setvbuf(stdout, NULL, _IOLBF, 0);
	while ((opt = getopt(argc, argv, "en:")) != -1) {
		if (opt == 'e' && clock_open() < 0)
			return CANNOT;
		if (opt == 'n')
			n = atoi(optarg);
	}
	for (; optind < argc && verbs->name; verbs++) {
		if (strcmp(verbs->name, argv[optind]))
			continue;
		while (n-- > 0 && !ret)
			ret = verbs->run(argv[optind + 1]);
		return ret;
	}
	fputs("usage: [-e] [-n N] VERB [ARG]\n", stderr);
	return 2;
}

#endif
