/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the BPF programs of events.bpf.c write for each reference to a perf event; both sides
 * include this, after types of Linux (__u32).
 */
#pragma once

enum { EVENTS_ATTR_MAX = 256, EVENTS_COMM = 16, EVENTS_CGROUP = 64 };

/* Kinds of references to an event. */
enum events_reference {
	EVENTS_DESCRIPTOR, EVENTS_MAPPING, EVENTS_LINK,
	EVENTS_PTRACE,		/* the tracer of its target set it, as a breakpoint; it has no file */
	EVENTS_KERNEL,		/* the kernel opened it otherwise; it has no file */
};

/* struct perf_event of the kernel, as far as it is shown.  Ids of tasks are those of the reader's namespace. */
struct events_facts {
	__u64 id, leader;		/* ids; the leader is the event itself outside of groups */
	__u64 count, enabled_ns, running_ns, lost;
	__u64 ring;			/* identifies the ring buffer; 0: none */
	__u64 cgroup;			/* id; 0: none */
	__s32 state, oncpu, cpu;	/* -1: on no CPU, on any */
	__u32 siblings;			/* of the leader */
	__u32 target, target_process;	/* thread and process; 0: none */
	__u32 opener;			/* process that opened it; 0: it ended, or a kernel event */
	__u32 type;			/* attr.type as it was passed */
	__u32 pmu;			/* number of the PMU that it led to */
	__u32 pages, aux_pages;		/* of the ring */
	__u32 program;			/* id of the BPF program; 0: none */
	__u32 attr_len;
	char target_comm[EVENTS_COMM], program_name[EVENTS_COMM];
	char cgroup_name[EVENTS_CGROUP];
	__u8 attr[EVENTS_ATTR_MAX];
};

struct events_record {
	__u32 reference;	/* enum events_reference */
	__u32 pid, tid;		/* the process and thread, of a descriptor, mapping or tracer */
	__u32 number;		/* the descriptor, or the id of the BPF link */
	__u64 start, page;	/* of a mapping: its address, and the page of the file there */
	char comm[EVENTS_COMM];
	struct events_facts facts;
};
