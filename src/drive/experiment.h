/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an event does, and not only whether it opens: it measures a child of ours
 * that does some work (drive/work.h), and what it counted and wrote is looked at.
 * All that is opened belongs to another child, and ends with it.
 */
#ifndef PEVTRACE_DRIVE_EXPERIMENT_H
#define PEVTRACE_DRIVE_EXPERIMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "abi/xlat.h"

enum experiment_whom {
	EXPERIMENT_TASK,	/* the child, on every CPU */
	EXPERIMENT_TASK_CPU,	/* the child, which stays on one CPU */
	EXPERIMENT_CPU,		/* every task of a CPU */
	EXPERIMENT_CGROUP,	/* every task of the uppermost cgroup, on a CPU */
};

/* When an ioctl is made: while the task waits to begin, or after its work. */
enum experiment_when { EXPERIMENT_BEFORE, EXPERIMENT_AFTER };

struct experiment {
	const uint8_t *attr;
	size_t len;
	enum experiment_whom whom;
	uint64_t flags;
	unsigned int work;	/* WORK_* */
	clockid_t clock;	/* that its samples' times are held against */
	/*
	 * Another event, with a ring, goes before; it is group_fd where grouped
	 * says so, and its ring is the one that is looked into.
	 */
	bool other, grouped;
	const struct ioctl_desc *ioctl;	/* NULL: none */
	enum experiment_when when;
	bool bpf;		/* a descriptor that it takes is a BPF program */
};

enum { OBSERVED_TYPES = 64, OBSERVED_SAMPLE = 256 };

struct observed {
	int error;		/* positive errno of opening it; 0 */
	bool ring;		/* what follows from records is known */
	uint64_t count;
	size_t read_len;	/* bytes of a read */
	bool cloexec, woken;	/* woken: poll told of records */
	uint64_t traps, sig_data;
	uint64_t members;	/* of the other's group */
	int ioctl_error;	/* positive errno; 0 */
	bool wrote;		/* the ioctl changed what its argument points to */
	bool backward;		/* data_head goes down */
	uint64_t types;		/* bit N: a record of type N was there */
	uint16_t misc[OBSERVED_TYPES];	/* all of that type's, together */
	uint16_t sizes[OBSERVED_TYPES];	/* of the first of that type */
	uint64_t samples;
	uint8_t sample[OBSERVED_SAMPLE]; /* the bytes of all, each ORed over the others */
	uint64_t longest;	/* callchain; where that is all that samples hold */
	bool kernel_chain, user_chain;
	bool in_clock;		/* one of them was during the work, by the clock */
	int cpu;		/* where it was */
};

/* False: there could be no child, or it came to no end. */
bool experiment_run(const struct experiment *x, struct observed *out);

#endif
