/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The types of the tables that xlat/gen.awk generates from the .in files: constant
 * data that hold all names and meanings.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A kernel release as one number that compares as releases do. */
#define KVER(a, b, c) (((uint32_t)(a) << 16) | ((uint32_t)(b) << 8) | (uint32_t)(c))

struct buf;
struct nearest;

/*
 * Read a release such as "6.18.44-fc" or "2.6.31" and move *at behind its numbers.
 * Return KVER() of it, with 255 for a higher update as the kernel has it, or 0.
 */
uint32_t release_read(const char **at);

/* Append a release, KVER(), in the usual notation: "6.18", "2.6.31". */
void release_text(uint32_t v, struct buf *out);

/* Return the series that began with what an update brought to the one before it: 6.13 of 6.12.24. */
uint32_t release_mainline(uint32_t since);

/* Append the release of mainline, release_mainline(), as text. */
void release_since_text(uint32_t since, struct buf *out);

enum xlat_kind {
	XLAT_ENUM,	/* one value, one name */
	XLAT_FLAGS,	/* a set of masks; an entry may be a value under a mask */
	XLAT_BITS,	/* entry values are bit numbers of a mask */
};

enum xlat_traits {
	XLAT_NONABI = 1 << 0,	/* *_MAX and the like: never printed for a value */
	XLAT_ALIAS = 1 << 1,	/* a second name; the first one is printed */
};

struct xlat_entry {
	uint64_t value;
	uint64_t mask;		/* flags: matches when (v & mask) == value */
	const char *name;
	const char *meaning;	/* one line, no full stop */
	uint32_t since;		/* KVER() of the first release, 0 unknown */
	uint32_t traits;
	uint32_t update;	/* KVER() of an update that brought it to an older series, or 0 */
};

struct xlat {
	const char *name;	/* the table's, as .in files refer to it */
	enum xlat_kind kind;
	bool is_signed;		/* values are sign-extended to 64 bits */
	const char *prefix;	/* what all names start with, "" if nothing */
	const char *header;	/* system header that may know them, or NULL */
	const char *btf;	/* enum of the same values in kernel BTF, or NULL */
	const struct xlat_entry *entries; /* sorted by value */
	size_t n;
};

/* All tables, in the order of their files; the last is NULL. */
extern const struct xlat *const xlat_tables[];
extern const uint32_t xlat_release; /* KVER() of the newest that they were compared with */

/* Return the release that brought e to the series of release: e->update or e->since. */
uint32_t xlat_since(const struct xlat_entry *e, uint32_t release);

/*
 * Return the entry whose value (for XLAT_BITS: bit number) is exactly this one, or
 * NULL.  Non-ABI names and aliases are never returned.
 */
const struct xlat_entry *xlat_find(const struct xlat *x, uint64_t value);

/* Return whether it is a negative number. */
static inline bool xlat_negative(const struct xlat *x, uint64_t value)
{
	return x->is_signed && value >> 63;
}

/* Return the name of value, or NULL. */
const char *xlat_name(const struct xlat *x, uint64_t value);

/* Return the entry of that name, with or without the prefix, or NULL. */
const struct xlat_entry *xlat_by_name(const struct xlat *x, const char *name);

/* Offer the names of x with their prefix, and if short_names without it, to n. */
void xlat_offer(const struct xlat *x, bool short_names, struct nearest *n);

/*
 * Iterate over the names in a mask: start with *rest = the value and *at = 0.  Each
 * call returns an entry of the mask and clears its bits in *rest, or returns NULL
 * when only bits without a name are left.
 */
const struct xlat_entry *xlat_next_flag(const struct xlat *x, uint64_t *rest,
					size_t *at);

/* The kind of a struct member. */
enum field_kind {
	FIELD_UINT,	/* unsigned decimal */
	FIELD_SINT,	/* signed decimal */
	FIELD_HEX,	/* unsigned hexadecimal */
	FIELD_BOOL,	/* one bit: 0 or 1 */
	FIELD_ENUM,	/* one of xlat */
	FIELD_FLAGS,	/* a set out of xlat */
	FIELD_WORDS,	/* a number whose meaning xlat gives in words */
	FIELD_ADDR,	/* an address in the target */
	FIELD_STRING,	/* an address of a string in the target */
	FIELD_REGS,	/* a mask of the architecture's perf registers */
	FIELD_CONFIG,	/* perf_event_attr.config, which depends on type */
	FIELD_CONFIGX,	/* config1 and up: PMU format terms */
	FIELD_PMU,	/* perf_event_attr.type: xlat, else a dynamic PMU */
	FIELD_SIZE,	/* perf_event_attr.size */
	FIELD_RESERVED,	/* must be zero; shown in hex when it is not */
	FIELD_FD,	/* a file descriptor of the caller */
	FIELD_PID,	/* a pid as the caller sees it */
	FIELD_SIGNAL,	/* a signal's number */
	FIELD_PROGRAM,	/* a descriptor of a BPF program */
	FIELD_PIDS,	/* an address of pids, as many as the next member says */
};

enum cond_op {
	COND_NONE,	/* always */
	COND_EQ,	/* the field has this value */
	COND_NE,
	COND_MASK,	/* the field has one of these bits */
	COND_PMU,	/* type is the dynamic PMU of this name */
};

/* A test on another member of the same struct. */
struct cond {
	enum cond_op op;
	uint16_t field;		/* index into the struct's fields */
	uint64_t value;
	const char *pmu;	/* COND_PMU */
};

struct field {
	const char *name;
	const char *meaning;
	const struct xlat *xlat;
	uint16_t offset;	/* bytes from the start of the struct */
	uint8_t width;		/* bytes of the integer that holds it */
	uint8_t bit, nbits;	/* within that integer; nbits 0: all of it */
	enum field_kind kind;
	uint32_t size;		/* the smallest struct size that holds it, 0: any */
	uint32_t since;		/* KVER(), 0 unknown */
	bool always;		/* shown in short form even when zero */
	bool word;		/* part of one 64-bit integer, counted from its lowest bit */
	struct cond when;	/* selects between members of a union */
	struct cond needs;	/* the kernel reads the member only if this holds */
};

struct layout {
	const char *name;	/* "perf_event_attr" */
	const char *btf;	/* struct of the same layout in BTF, or NULL */
	const char *part;	/* no structure, but data that these constants, separated by
				   commas, name: "PERF_SAMPLE_TID"; or NULL */
	const struct field *fields; /* by offset, bit, then union order */
	size_t n;
	uint32_t size;		/* bytes up to the last known field's end */
};

extern const struct layout *const layouts[]; /* the last is NULL */

/* Return the layout of that name, or NULL. */
const struct layout *layout_by_name(const char *name);

/* The direction of an ioctl's argument. */
enum ioctl_dir {
	IOCTL_VALUE,	/* the argument is the value itself */
	IOCTL_IN,	/* pointer, read by the kernel */
	IOCTL_OUT,	/* pointer, written by the kernel */
	IOCTL_INOUT,
};

enum ioctl_arg {
	IOCTL_ARG_UINT,
	IOCTL_ARG_SINT,
	IOCTL_ARG_FLAGS,	/* of xlat */
	IOCTL_ARG_FD,
	IOCTL_ARG_U64,
	IOCTL_ARG_STRING,
	IOCTL_ARG_ATTR,
	IOCTL_ARG_QUERY_BPF,
};

struct ioctl_desc {
	const char *name;
	uint32_t request;	/* as a 64-bit program passes it */
	uint32_t compat;	/* as a 32-bit program passes it */
	enum ioctl_dir dir;
	enum ioctl_arg arg;
	const struct xlat *xlat;
	uint32_t since;
	const char *meaning;
};

extern const struct ioctl_desc ioctl_descs[];
extern const size_t ioctl_ndescs;

/* Return the ioctl with the request number that a task of that word size (4 or 8) passes. */
const struct ioctl_desc *ioctl_find(uint32_t request, unsigned int word);

/* Return the ioctl of that name, or NULL. */
const struct ioctl_desc *ioctl_by_name(const char *name, size_t len);

/* Offer the names of all ioctls to n. */
void ioctl_offer(struct nearest *n);

/* Events that accept a request only since a release later than the request's own. */
struct taker_desc {
	uint32_t request;	/* as a 64-bit program passes it */
	struct cond events;	/* on their attr */
	uint32_t since;		/* earlier kernels refuse it with EINVAL */
	const char *meaning;	/* why, one line, no full stop */
};

extern const struct taker_desc taker_descs[]; /* the last has no meaning */

/* When the tracer must stop for a call; see engine/ptrace/filter.h. */
enum call_watch {
	WATCH_ALWAYS,	/* from the start */
	WATCH_IOCTL,	/* from the start where the command's type is '$' */
	WATCH_BPF,	/* from the start for commands that may concern an event */
	WATCH_SHARED,	/* from the start where it maps a file shared */
	WATCH_PRCTL,	/* from the start for PR_TASK_PERF_EVENTS_* */
	WATCH_PTRACE,	/* from the start where it starts tracing */
	WATCH_UNSHARE,	/* from the start where it unshares descriptors */
	WATCH_HELD,	/* only in processes that have an event or a ring buffer */
	WATCH_FD,	/* the same, if the first argument is a descriptor of an event */
};

/* Which -e trace= word besides its own name selects a call. */
enum call_class {
	CLASS_OPEN,	/* %open: perf_event_open */
	CLASS_IOCTL,	/* %ioctl */
	CLASS_BPF,	/* %bpf */
	CLASS_MEMORY,	/* %memory */
	CLASS_POLL,	/* %poll */
	CLASS_READ,	/* %read */
	CLASS_DESC,	/* close, dup, fcntl: %desc has more */
	CLASS_PASS,	/* %pass: sendmsg, recvmsg */
	CLASS_PROCESS,	/* %process */
};

/* The kind of a call's argument; core/abi/args.c has a row for each. */
enum arg_kind {
	/* 32 bits, which are all that the kernel reads of the argument */
	ARG_UINT, ARG_SINT, ARG_HEX32, ARG_ENUM, ARG_FLAGS32,
	/* an unsigned long */
	ARG_HEX, ARG_ADDR, ARG_FLAGS,
	ARG_LOFF,		/* loff_t: two arguments of 32-bit calls */
	ARG_DIRFD,		/* a directory's descriptor, or AT_FDCWD */
	ARG_FD, ARG_PID, ARG_CPU, ARG_SIZE, ARG_STRING, ARG_ARGV, ARG_ENVP,
	ARG_ATTR,		/* struct perf_event_attr * */
	ARG_EVENT_PID,		/* pid, or a cgroup fd by the flags argument */
	ARG_GROUP_FD,
	ARG_IOCTL_REQUEST, ARG_IOCTL_ARG,
	ARG_BPF_ATTR,		/* union bpf_attr *, by the command */
	ARG_MMAP_OFFSET,	/* bytes, or pages where the call says so */
	ARG_POLLFDS,		/* struct pollfd[next argument] */
	ARG_FDSET,		/* fd_set * of (argument 0) descriptors, in and out */
	ARG_TIMESPEC, ARG_TIMESPEC64, ARG_TIMEVAL, ARG_MSEC,
	ARG_SIGSET,
	ARG_SIGSET_PAIR,	/* pselect6's: struct of sigset * and size */
	ARG_EPOLL_EVENT,	/* one, in */
	ARG_EPOLL_EVENTS,	/* as many as the call returned, out */
	ARG_READ_BUF,		/* what the call read, out */
	ARG_READ_IOV,		/* struct iovec[next argument], out */
	ARG_FCNTL_CMD, ARG_FCNTL_ARG,
	ARG_CLONE_ARGS,		/* struct clone_args * */
	ARG_CLONE_FLAGS,	/* of xlat, with the exit signal in the low byte */
	ARG_STATUS,		/* exit status */
	ARG_OPEN_FLAGS,		/* of xlat; 0 is no access mode here */
	ARG_POS_HIGH,		/* upper half of an offset; 64-bit calls have none */
	ARG_MSGHDR,		/* struct msghdr *, for the descriptors in it */
	ARG_MREMAP_ADDR,	/* used only with MREMAP_FIXED */
	ARG_PRCTL_ARG,		/* of a prctl with arguments besides its number */
};

struct arg_desc {
	const char *name;
	enum arg_kind kind;
	const struct xlat *xlat;
};

enum { CALL_MAX_ARGS = 6 };

enum call_id {
#include "xlat/call_ids.h"
	CALL_COUNT
};

struct call_desc {
	const char *name;
	enum call_id id;
	enum call_class class;
	enum call_watch watch;
	uint8_t nargs;
	uint8_t in_args;	/* how many can be shown before the call returns */
	struct arg_desc args[CALL_MAX_ARGS];
	uint32_t since;
	const char *meaning;
};

extern const struct call_desc call_descs[CALL_COUNT];

/* Return the call of that name, or NULL. */
const struct call_desc *call_by_name(const char *name);

/* Return the word of a class in -e trace=%WORD, "open" or "ioctl"; NULL if it is none. */
const char *call_class_name(enum call_class class);

/* Properties of a kind of PMU that sysfs does not show. */
struct pmu_desc {
	const char *name;	/* in sysfs; a * at the end matches any rest */
	uint64_t traits;	/* PMU_TRAIT_* */
	uint32_t since;
	const char *meaning;
};

extern const struct pmu_desc pmu_descs[]; /* the last has no name */

/* Return the description of the PMU of that name, or NULL. */
const struct pmu_desc *pmu_desc_by_name(const char *name);

enum rule_id {
#define RULE(id, name) RULE_##id,
#define RULE_CHANCE(id, name) RULE_##id,
#include "xlat/rule_ids.h"
#undef RULE
#undef RULE_CHANCE
	RULE_COUNT
};

/* One of the kernel's checks of perf_event_open(2); see core/abi/rules.h. */
struct rule_desc {
	const char *name;
	enum rule_id id;
	int error;		/* positive errno; 0: varies */
	uint32_t since;		/* KVER() of the first release that has it */
	uint32_t until;		/* KVER() of the first without it, 0: none */
	uint64_t by;		/* RULE_BY_*: what decides it */
	const char *fields;	/* members and arguments, "sample_type,pid" */
	const char *meaning;	/* why the call is refused, one line, no full stop */
};

extern const struct rule_desc rule_descs[RULE_COUNT]; /* as the kernel checks */

/* A row that is a name and a text; the last of each list has no name. */
struct pair_desc {
	const char *name;
	const char *text;
};

/* See %parts to %example_events in xlat/README.md. */
extern const struct pair_desc part_descs[], cause_word_descs[], undocumented_descs[],
			      exception_descs[], uncheckable_descs[], commit_descs[],
			      example_output_descs[], example_event_descs[];

/* What holds of opens; the names are conditions of core/abi/when.h (src/explain/story.in). */
extern const struct pair_desc requirement_descs[], default_descs[], purpose_descs[];

/* A statement of perf_event_open(2), and the experiment that tests it. */
struct claim_desc {
	const char *name;
	const char *section;	/* its heading in the page */
	uint32_t since;		/* KVER() of the first release that it is about, 0: all */
	uint32_t until;		/* KVER() of the first that it is no longer about, 0: none */
	const char *place;	/* words of the page that occur once in the section */
	const char *meaning;	/* the claim, one line, no full stop */
	const char *steps;	/* the experiment, a step a line; see xlat/README.md */
	const char *correction;	/* man(7) source that makes the page true, or NULL */
};

extern const struct claim_desc claim_descs[]; /* the last has no name */
extern const size_t claim_ndescs;

/* A sentence of perf_event_open(2) that the kernel's source or headers contradict. */
struct misstatement_desc {
	const char *name;	/* of the mistake; of the constant that the page lacks */
	bool lacks;		/* the page lacks the name; else, it has the words of place */
	const char *section, *place; /* as in struct claim_desc */
	const char *meaning;	/* why it is wrong, with the source; no full stop */
	const char *text;	/* man(7) source in place of the sentence */
};

extern const struct misstatement_desc misstatement_descs[]; /* the last has no name */

/* Where a text of %amendments goes. */
enum amendment_how {
	AMEND_SENTENCE,	/* in place of the sentence with the words */
	AMEND_AFTER,	/* after that sentence */
	AMEND_ENTRY,	/* after the entry whose tag has the words */
	AMEND_BEFORE,	/* before that entry */
	AMEND_LINE,	/* after the line with the words */
	AMEND_OVER,	/* in place of that line */
};

/* A text that removes a difference between perf_event_open(2) and the tables. */
struct amendment_desc {
	const char *finding;	/* fnmatch(3) pattern of its id */
	enum amendment_how how;
	const char *section;	/* heading of the page */
	const char *place;	/* words that occur once in the section */
	const char *text;	/* man(7) source; "": written from the tables */
};

extern const struct amendment_desc amendment_descs[]; /* the last has no finding */

/* Whether a function of the kernel is in its symbol table. */
enum step_kind {
	STEP_SYMBOL,	/* yes, in every kernel since */
	STEP_INLINED,	/* compilers may fold it into its only caller */
	STEP_OPTIONAL,	/* where the kernel is built with that part */
	STEP_X86,	/* on x86; other architectures have their own function */
	STEP_ARM64,	/* on arm64, likewise */
};

/* A function of the kernel that a step calls, in the order of the calls. */
struct step_desc {
	const char *step;	/* "open", "mmap", ...: rows of one step are adjacent */
	const char *function;
	uint32_t since;		/* KVER() of the first release, 0 unknown */
	enum step_kind kind;
	const char *file;	/* of the kernel's source */
	const char *meaning;	/* what it does, no full stop */
};

extern const struct step_desc step_descs[]; /* the last has no step */

/* More about a name of the tables than its meaning says. */
struct term_desc {
	const char *name;	/* of a constant, ioctl or call, or "layout.member" */
	const char *steps;	/* where the kernel uses it, separated by commas */
	const char *text;	/* sentences, without the last full stop */
};

extern const struct term_desc term_descs[]; /* the last has no name */

/* A word of the kernel, of perf or of hardware that names nothing in the other tables. */
struct word_desc {
	const char *name;
	const char *also;	/* other names of it, separated by commas */
	const char *what;	/* its kind: "a file", "a kernel structure" */
	const char *path;	/* the file with its value on a machine, or NULL */
	const char *show;	/* a command that shows it, or NULL */
	const char *source;	/* a manual page or a file of the kernel's source */
	const char *text;	/* two or more sentences, without the last full stop */
};

extern const struct word_desc word_descs[]; /* the last has no name */

/* Why calls other than perf_event_open fail. */
struct refusal_desc {
	const char *call;
	const char *request;	/* of an ioctl, or command of bpf(2); NULL: any, or none */
	int error;		/* positive errno */
	const char *errno_name;
	const char *meaning;	/* no full stop */
};

extern const struct refusal_desc refusal_descs[]; /* the last has no call */

/* Return the row of that full name, or NULL. */
const struct term_desc *term_by_name(const char *name);

/* Return the first row of a step, which the others follow; NULL: no such step. */
const struct step_desc *step_by_name(const char *step);

/* Return the reason for that error of a call (of an ioctl: of its request), or NULL. */
const struct refusal_desc *refusal_find(const char *call, const char *request, int error);
