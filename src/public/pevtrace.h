/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libpevtrace: what a struct perf_event_attr, a perf ioctl and the kernel's answers mean.
 *
 * The library makes no perf call, prints nothing, never ends the process and has no state of
 * its own: a function may run in several threads at once, as long as none changes a struct
 * pevtrace_machine that another uses.  Input may be any bytes.
 *
 * Functions that return int or ssize_t return a negative errno on failure; no function sets
 * errno on purpose.  Functions that write text into buf, of n bytes, return its length without
 * the NUL, as snprintf(3) does: if that is n or more, the text was truncated.  buf may be NULL
 * if n is 0.
 *
 * A struct with a member "size" may grow in later versions: set that member to its sizeof, and
 * all others that are not used to 0.
 */
#ifndef PEVTRACE_H
#define PEVTRACE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A release of the kernel as one number that compares as releases do. */
#define PEVTRACE_RELEASE(major, minor, update) \
	(((uint32_t)(major) << 16) | ((uint32_t)(minor) << 8) | (uint32_t)(update))

/* Return the version of the library, such as "0.2". */
const char *pevtrace_version(void);

/* Return the newest release of Linux that the library describes. */
uint32_t pevtrace_newest_release(void);

/* The machine ------------------------------------------------------------------------- */

/*
 * Facts about a machine and a process on it, which decide what the kernel answers, and names.
 * NULL is a machine as pevtrace_machine_new() returns it.
 */
struct pevtrace_machine;

/*
 * Return a machine with the defaults of the newest kernel, for a process without privileges, of
 * which all else is unknown; NULL without memory.  Free it at the end.
 */
struct pevtrace_machine *pevtrace_machine_new(void);
void pevtrace_machine_free(struct pevtrace_machine *m);

/*
 * Read all facts of this machine and this process from /proc and /sys, in place of those that
 * were known.  Whatever cannot be read remains unknown.  For each call that is judged later,
 * the facts about its task, CPU, descriptors and files are read then.
 */
int pevtrace_machine_read(struct pevtrace_machine *m);

enum pevtrace_fact {
	PEVTRACE_FACT_RELEASE = 0,	/* PEVTRACE_RELEASE() */
	PEVTRACE_FACT_ATTR_SIZE = 1,	/* bytes of the kernel's struct perf_event_attr */
	PEVTRACE_FACT_PAGE_SIZE = 2,	/* bytes */
	PEVTRACE_FACT_PARANOID = 3,	/* kernel.perf_event_paranoid, an int64_t */
	PEVTRACE_FACT_CAPABILITIES = 4,	/* effective ones: 1 << CAP_PERFMON, ... */
	PEVTRACE_FACT_MAX_SAMPLE_RATE = 5, /* kernel.perf_event_max_sample_rate, in Hz */
	PEVTRACE_FACT_MAX_STACK = 6,	/* kernel.perf_event_max_stack, in frames */
	PEVTRACE_FACT_CPUS = 7,		/* possible CPUs */
	PEVTRACE_FACT_CGROUPS = 8,	/* built with perf cgroups: 0 or 1, as all below */
	PEVTRACE_FACT_KPROBES = 9,	/* built with kprobes */
	PEVTRACE_FACT_LOCKDOWN = 10,	/* locked down to confidentiality */
	PEVTRACE_FACT_SECURITY = 11,	/* a security module checks perf events */
	PEVTRACE_FACT_PMUS_COMPLETE = 12, /* there are no PMUs but those that were added */
	PEVTRACE_FACT_DENIES_ALL = 13	/* patched: perf_event_paranoid above 2 refuses everything */
};

/* Set a fact; return -EINVAL if there is no such fact, -ERANGE for a value out of its range. */
int pevtrace_machine_set(struct pevtrace_machine *m, enum pevtrace_fact fact, uint64_t value);

/*
 * Read a fact into *value; return -ENODATA if it is unknown, as one is whose file
 * pevtrace_machine_read() could not read.
 */
int pevtrace_machine_get(const struct pevtrace_machine *m, enum pevtrace_fact fact,
			 uint64_t *value);

/*
 * Add a PMU by its attr.type and its name in /sys/bus/event_source/devices, which is copied.
 * Return -EEXIST if the type has one.
 */
int pevtrace_machine_add_pmu(struct pevtrace_machine *m, uint32_t type, const char *name);

/*
 * Names that the caller knows.  Each function may be NULL, and may return NULL if it does not
 * know; its text is used before it is called again in the same thread.
 */
struct pevtrace_names {
	size_t size;
	void *context;		/* passed to the functions */
	/* the event with the id of PERF_EVENT_IOC_ID, PERF_SAMPLE_ID, ... */
	const char *(*event)(void *context, uint64_t id);
	/* the tracepoint "system:name" with that attr.config */
	const char *(*tracepoint)(void *context, uint64_t id);
	/*
	 * The code at address; pid is -1 if the record does not say.  cpumode is
	 * PERF_RECORD_MISC_KERNEL and so on.  after_call: address is where a call returns to.
	 */
	const char *(*symbol)(void *context, int32_t pid, uint64_t address,
			      unsigned int cpumode, int after_call);
};

/* Copy the names for later use; the functions are called by those that print and visit. */
int pevtrace_machine_set_names(struct pevtrace_machine *m, const struct pevtrace_names *names);

/* Values ------------------------------------------------------------------------------ */

enum pevtrace_kind {
	PEVTRACE_OBJECT = 0,	/* items up to its PEVTRACE_END have keys */
	PEVTRACE_ARRAY = 1,	/* items up to its PEVTRACE_END have none */
	PEVTRACE_END = 2,
	PEVTRACE_UNSIGNED = 3,
	PEVTRACE_SIGNED = 4,	/* number is an int64_t */
	PEVTRACE_MASK = 5,	/* a number that reads best in hexadecimal */
	PEVTRACE_ADDRESS = 6,	/* 0 is the null pointer */
	PEVTRACE_CONSTANT = 7,	/* text is its name, NULL for one that is unknown */
	PEVTRACE_FLAGS = 8,	/* see pevtrace_item_flag() */
	PEVTRACE_PACKED = 9,	/* parts in one word: config of a cache event, ... */
	PEVTRACE_WORD = 10,	/* text without a number, such as the name of a signal */
	PEVTRACE_STRING = 11,	/* length bytes of text, which may be any */
	PEVTRACE_BYTES = 12,	/* length bytes of unknown structure */
	PEVTRACE_FD = 13,	/* a descriptor, an int64_t; text is its name or NULL */
	PEVTRACE_NOTE = 14	/* a comment on the item before; key is its kind */
};

/*
 * One value.  It is valid only during the call of the function that receives it.  Later
 * versions may pass further kinds and members.
 */
struct pevtrace_item {
	size_t size;		/* of the library's struct */
	enum pevtrace_kind kind;
	int truncated;		/* text is not complete */
	const char *key;	/* name of the member, or NULL */
	uint64_t number;
	const char *text;	/* or NULL */
	size_t length;		/* bytes of text, without a NUL */
	const void *reserved[2];
};

/* Receive a value; return 0, or another number to end the visit, which then returns it. */
typedef int pevtrace_visit_fn(void *context, const struct pevtrace_item *item);

/*
 * Return the name of the next flag in a PEVTRACE_FLAGS item; begin with *at = 0 and
 * *rest = item->number.  At the end, return NULL; *rest is what has no name.
 */
const char *pevtrace_item_flag(const struct pevtrace_item *item, size_t *at, uint64_t *rest);

/* Write the value as pevtrace prints it, without its key: "PERF_SAMPLE_IP|PERF_SAMPLE_TID". */
ssize_t pevtrace_item_text(const struct pevtrace_item *item, char *buf, size_t n);

/* Printing and visiting --------------------------------------------------------------- */

/* How to print or visit: one of the forms (for printing), and others added. */
enum {
	PEVTRACE_TEXT = 0,	/* as pevtrace and strace print it */
	PEVTRACE_JSON = 1,	/* one object on one line; pevtrace-json(5) */
	PEVTRACE_C = 2,		/* statements of C; of an attr only */
	PEVTRACE_ALL = 0x100,	/* with members that are 0 */
	/*
	 * Pointers in an attr, and the argument of an ioctl, are read from the memory of this
	 * process, by process_vm_readv(2), if it is readable.
	 */
	PEVTRACE_FOLLOW = 0x200
};

/* Print the attr in len bytes; its own size member may say more or less. */
ssize_t pevtrace_attr_print(const struct pevtrace_machine *m, const void *attr, size_t len,
			    unsigned int how, char *buf, size_t n);
int pevtrace_attr_visit(const struct pevtrace_machine *m, const void *attr, size_t len,
			unsigned int how, pevtrace_visit_fn *visit, void *context);

/* Write a short name of the attr's event: "cpu-clock:u", "sched:sched_switch", "msr/tsc/". */
ssize_t pevtrace_event_name(const struct pevtrace_machine *m, const void *attr, size_t len,
			    char *buf, size_t n);

/* A call of ioctl(2) for an event. */
struct pevtrace_ioctl {
	size_t size;
	uint64_t request;
	uint64_t argument;
	/* bytes at argument before the call and after it; NULL: not known */
	const void *before, *after;
	size_t before_len, after_len;
	int returned;		/* the call has returned */
	int error;		/* then: a positive errno, or 0 */
};

/* Print the ioctl's request and argument. */
ssize_t pevtrace_ioctl_print(const struct pevtrace_machine *m, const struct pevtrace_ioctl *call,
			     unsigned int how, char *buf, size_t n);
int pevtrace_ioctl_visit(const struct pevtrace_machine *m, const struct pevtrace_ioctl *call,
			 unsigned int how, pevtrace_visit_fn *visit, void *context);

/*
 * Print the record at record, whose len bytes may be more than it has; attr is that of its
 * event.  If its fields and its header disagree, a note says so.
 */
ssize_t pevtrace_record_print(const struct pevtrace_machine *m, const void *attr,
			      size_t attr_len, const void *record, size_t len,
			      unsigned int how, char *buf, size_t n);
int pevtrace_record_visit(const struct pevtrace_machine *m, const void *attr, size_t attr_len,
			  const void *record, size_t len, unsigned int how,
			  pevtrace_visit_fn *visit, void *context);

/* Print what read(2) of an event of that attr stored. */
ssize_t pevtrace_counts_print(const struct pevtrace_machine *m, const void *attr,
			      size_t attr_len, const void *counts, size_t len,
			      unsigned int how, char *buf, size_t n);
int pevtrace_counts_visit(const struct pevtrace_machine *m, const void *attr, size_t attr_len,
			  const void *counts, size_t len, unsigned int how,
			  pevtrace_visit_fn *visit, void *context);

/* What the kernel answers -------------------------------------------------------------- */

/* A call of perf_event_open(2), and the attr of group_fd's event. */
struct pevtrace_open {
	size_t size;
	const void *attr;
	size_t attr_len;	/* bytes of it that can be read */
	int32_t pid, cpu, group_fd;
	uint64_t flags;
	const void *leader;	/* NULL: not known */
	size_t leader_len;
	/* not 0: the arguments with which group_fd's event was opened follow; pid 0: by this task */
	int leader_known;
	int32_t leader_pid, leader_cpu, leader_group_fd;
	uint64_t leader_flags;
};

/* The answer by the kernel's checks; the texts are constant. */
struct pevtrace_verdict {
	size_t size;
	int error;		/* positive errno; 0: it opens */
	int certain;		/* no check up to the decisive one depends on an unknown fact */
	const char *rule;	/* name of the check that refuses; NULL: none */
	const char *meaning;	/* why, one line, no full stop; or NULL */
	const char *members;	/* of the attr, and arguments: "sample_freq,freq"; or NULL */
	uint32_t since;		/* release that brought the check */
};

/* Judge the call without making it. */
int pevtrace_judge(const struct pevtrace_machine *m, const struct pevtrace_open *call,
		   struct pevtrace_verdict *verdict);

/*
 * Find the check that explains an error (a positive errno) that the kernel returned for the
 * call.  Return -ENOENT if there is none.
 */
int pevtrace_find_cause(const struct pevtrace_machine *m, const struct pevtrace_open *call,
			int error, struct pevtrace_verdict *cause);

/*
 * Write one line that explains the error of a call made just now by this process; it reads
 * the facts of this machine itself.
 */
ssize_t pevtrace_explain(const struct pevtrace_open *call, int error, char *buf, size_t n);

/* A member, constant, bit or flag that a call uses, and the release that brought it. */
struct pevtrace_need {
	size_t size;		/* of the library's struct */
	const char *name;	/* constant text */
	uint32_t since;		/* PEVTRACE_RELEASE() */
};

/* Receive a need; return 0, or another number to end, which pevtrace_needs() then returns. */
typedef int pevtrace_need_fn(void *context, const struct pevtrace_need *need);

/*
 * Call need for all that is set in the attr and in the flags of the call and is newer than
 * Linux 2.6.32, the first release with the system call.
 */
int pevtrace_needs(const void *attr, size_t len, uint64_t flags, pevtrace_need_fn *need,
		   void *context);

#ifdef __cplusplus
}
#endif

#endif
