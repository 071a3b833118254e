/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finding out what an event does: it measures a task that does some work (experiment/work.h), and
 * its counts and records are examined.  The experimenter, a child process whose child the task
 * is, opens all descriptors.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "core/abi/xlat.h"

enum experiment_whom {
	EXPERIMENT_TASK,	/* the child, on every CPU */
	EXPERIMENT_TASK_CPU,	/* the child, which stays on one CPU */
	EXPERIMENT_CPU,		/* every task of a CPU */
	EXPERIMENT_CGROUP,	/* every task of the root cgroup, on a CPU */
};

/* When an ioctl is called: before the task begins its work, or after it. */
enum experiment_when { EXPERIMENT_BEFORE, EXPERIMENT_AFTER };

struct experiment {
	const uint8_t *attr;
	size_t len;
	enum experiment_whom whom;
	uint64_t flags;
	unsigned int work;	/* WORK_* */
	clockid_t clock;	/* with which the times of samples are compared */
	/*
	 * Open another event first and map its ring buffer, which is then the one to be
	 * examined; grouped: it is group_fd.
	 */
	bool other, grouped;
	const struct ioctl_desc *ioctl;	/* NULL: none */
	enum experiment_when when;
	bool bpf;		/* the ioctl's descriptor argument is a BPF program */
};

enum { OBSERVED_TYPES = 64, OBSERVED_SAMPLE = 256 };

struct observed {
	int error;		/* positive errno of the open, or 0 */
	bool ring;		/* the ring buffer was read: the members from types on are valid */
	uint64_t count;
	size_t read_len;	/* bytes that read(2) returned */
	bool cloexec, woken;	/* woken: poll(2) reported POLLIN */
	uint64_t traps, sig_data;
	uint64_t members;	/* of the group that the other event leads */
	int ioctl_error;	/* positive errno, or 0 */
	int bpf_error;		/* of loading the ioctl's program: it was not called; or 0 */
	bool wrote;		/* the ioctl wrote to what its argument points to */
	bool backward;		/* data_head decreases */
	uint64_t types;		/* bit N: there was a record of type N */
	uint16_t misc[OBSERVED_TYPES];	/* of all records of a type, ORed */
	uint16_t sizes[OBSERVED_TYPES];	/* of the first record of a type */
	uint64_t samples;
	uint8_t sample[OBSERVED_SAMPLE]; /* the bytes of all samples, ORed */
	uint64_t longest;	/* callchain, if sample_type is PERF_SAMPLE_CALLCHAIN alone */
	bool kernel_chain, user_chain;
	bool in_clock;		/* the time of a sample lies within the work, by x->clock */
	int cpu;		/* on which the task worked */
};

/* A child that runs experiments; zeroed: not started. */
struct experimenter {
	pid_t pid;
	int link;		/* socket on which it gets its turn */
	struct experiment_shared *shared;
};

/*
 * Run an experiment, in a child that the first one starts.  The attr is copied; what its members
 * point to, such as uprobe_path, must exist since before the first.  Return false if no child could
 * be created or it did not finish, which takes at most 20 s; the next run starts another.
 */
bool experimenter_run(struct experimenter *e, const struct experiment *x, struct observed *out);

/* End the child, if there is one, and wait for it. */
void experimenter_end(struct experimenter *e);

/* Run one experiment, by an experimenter of its own. */
bool experiment_run(const struct experiment *x, struct observed *out);
