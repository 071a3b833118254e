/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Predict the result of a call on an event or its ring buffer, and its reason: the kernel's checks
 * in their order (xlat/refusals.in), applied to the call and to what is known of its events, as
 * rules.h does for perf_event_open(2).
 */
#pragma once

#include "core/abi/call.h"
#include "core/abi/rules.h"

/* An event that the call names.  Zero-initialized facts are unknown. */
struct used_event {
	enum fact event;	/* the descriptor is that of one */
	const uint8_t *attr;	/* NULL: this, cpu and the following are not known */
	size_t len;
	int32_t cpu;
	enum fact mapped;	/* it has a mapping of its own */
	enum fact redirected;	/* its records go to the ring of another event */
	int32_t output;		/* descriptor of that one; 0: not known */
	enum fact ring;		/* it or that event has a ring buffer */
	uint64_t pages;		/* of that, for records; 0: none, or not known */
	uint64_t aux_length; /* of its AUX area that is mapped, in bytes; 0: none */
	size_t siblings;	/* members of its group besides the leader */
	enum fact filter, program;	/* it has one */
};

/* The memory that the user's ring buffers may take, in bytes. */
struct rule_memory {
	enum fact known;	/* perf_event_mlock_kb, the CPUs and RLIMIT_MEMLOCK */
	uint64_t free;		/* of the user's processes, for each CPU; 0: not known */
	uint64_t limit;		/* RLIMIT_MEMLOCK of the process; UINT64_MAX: none */
	uint64_t pinned;	/* what the process has of that (VmPin of /proc/PID/status) */
	uint64_t held;		/* by ring buffers that are known of */
	unsigned int rings;	/* number of those */
	const char *holder;	/* the event of the largest of them; NULL: none */
};

struct refusal_facts {
	const struct call *call;
	const struct rule_machine *machine;
	struct used_event event;
	struct used_event other;	/* that of PERF_EVENT_IOC_SET_OUTPUT's argument */
	enum fact same_event, same_task; /* event and other are, or measure, the same */
	enum fact splits;		/* what the call unmaps or changes is a part of a ring buffer */
	enum fact covers;		/* the range has a ring buffer */
	uint64_t covered;		/* bytes from there to the end of that mapping */
	struct rule_memory memory;
	enum fact program;		/* the argument is the descriptor of a BPF program */
	uint32_t program_type;		/* of the table bpf_prog_type, if it is */
	enum fact watched;		/* the epoll instance has the descriptor */
};

struct refusal_verdict {
	const struct refusal_desc *refusal;	/* the first that refuses; NULL: the call succeeds */
	/* the result of each that applies to the call, RULE_*, as if those before it had passed */
	int says[REFUSAL_COUNT];
};

void refusals_judge(const struct refusal_facts *facts, struct refusal_verdict *v);

/*
 * Return the check behind an error of the kernel: the decisive one if it has that error, or the
 * only one that may have refused the call with it, which sets *sure; else the first that may; NULL:
 * none.
 */
const struct refusal_desc *refusals_cause(const struct refusal_verdict *v, int error, bool *sure);

/* Append the numbers that decide the check: "12 pages; 9 and 17 are the nearest lengths". */
void refusal_numbers(const struct refusal_facts *facts, const struct refusal_desc *d,
		     struct buf *out);

/* Return the type of BPF program that the event accepts, and the bytes of a read of it. */
uint32_t refusal_program_wanted(const struct refusal_facts *facts);
uint64_t refusal_read_required(const struct refusal_facts *facts);
