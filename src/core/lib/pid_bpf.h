/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ids of tasks in a PID namespace, for BPF programs; included where records have
 * preserve_access_index, after bpf_core_read.h.
 *
 * Kernel: include/linux/pid.h, include/linux/pid_namespace.h.
 */
#pragma once

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

/* Return what the id is at a level of PID namespaces, from 0 on; NULL if it has fewer. */
static __always_inline struct upid *pid_at(struct pid *pid, __u32 level)
{
	if (!pid || BPF_CORE_READ(pid, level) < level)
		return 0;
	return (void *)__builtin_preserve_access_index(&pid->numbers) +
	       level * bpf_core_type_size(struct upid);
}

/* Return the id in a namespace at that level; 0 if it is not visible there. */
static __always_inline __u32 pid_in(struct pid *pid, __u32 level, const struct pid_namespace *ns)
{
	struct upid *at = pid_at(pid, level);

	return at && BPF_CORE_READ(at, ns) == ns ? BPF_CORE_READ(at, nr) : 0;
}
