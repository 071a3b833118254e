/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A system call that was seen or issued: raw arguments, result, and copies of
 * the memory it pointed to.  Decoding works on the copies, now or years later.
 */
#ifndef PEVTRACE_ABI_CALL_H
#define PEVTRACE_ABI_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/arch.h"
#include "abi/sink.h"
#include "abi/xlat.h"
#include "lib/buf.h"

enum call_phase { AT_SYSCALL_ENTER, AT_SYSCALL_EXIT };

/* Bytes copied from the target: pool.data[at .. at + len). */
struct capture {
	uint64_t addr;
	uint32_t want;		/* how many were asked for */
	uint32_t len;		/* how many could be read */
	uint32_t at;
	enum call_phase phase;
};

enum { CALL_MAX_CAPTURES = 64 };

/*
 * What is done to a call on its way.  Who is told of its beginning asks for it;
 * at its return it says what was done.
 */
struct inject {
	bool injected;		/* the kernel is not asked, and the task gets ret */
	int64_t ret;		/* a negative errno for a failure */
	uint64_t enter_delay_ns, exit_delay_ns;
	int signal;		/* sent to the task as the call begins; 0: none */
	uint32_t attr_size;	/* written into attr.size, as with E2BIG; 0: not */
	char because[160];	/* one line for the reader, or "" */
};

struct call {
	const struct call_desc *desc;	/* NULL: not a call we decode */
	const struct arch *arch;
	uint64_t nr;
	uint64_t args[CALL_MAX_ARGS];
	pid_t tid, pid;			/* as the tracer sees them */
	/*
	 * CLOCK_MONOTONIC: when it was stopped at its beginning, let go into
	 * the kernel, and stopped at its return.
	 */
	uint64_t enter_ns, start_ns, exit_ns;
	bool returned;			/* false: the task died or exec'd inside */
	bool failed;
	int64_t ret;			/* result; a positive errno when failed */
	bool no_event;			/* an open that returned the number of none */
	bool shown;			/* for the one who drives: it is printed */
	const struct call *before;	/* of which this is a changed form; NULL: none */
	struct inject inject;
	struct capture captures[CALL_MAX_CAPTURES];
	size_t ncaptures;
	struct buf pool;
};

/* Someone's memory.  read returns how many bytes from addr on could be had. */
struct mem {
	size_t (*read)(const struct mem *m, uint64_t addr, void *dst, size_t len);
};

/* No event, or one whose read_format is not known: it was opened before us. */
enum names_formats { NAMES_NO_EVENT = -1, NAMES_NO_FORMAT = -2 };

/*
 * What this machine, or the dump's, calls things.  Every hook may be NULL and
 * may return NULL; strings live until the next call of the same hook.
 */
struct names {
	/* PMU with this type number, as in /sys/bus/event_source/devices */
	const char *(*pmu)(const struct names *n, uint32_t type);
	/* tracepoint "system:name" with this id */
	const char *(*tracepoint)(const struct names *n, uint64_t id);
	/* a PMU's format/ terms for these configs: "event=0x3c,umask=0x1" */
	const char *(*terms)(const struct names *n, uint32_t type,
			     const uint64_t *config, size_t nconfigs);
	/* what a caller's descriptor is: "cpu-clock cpu0" */
	const char *(*fd)(const struct names *n, const struct call *call,
			  int64_t fd);
	/* read_format of the event behind fd, or one of names_formats */
	int64_t (*read_format)(const struct names *n, const struct call *call,
			       int64_t fd);
	/* name of the event with that kernel id */
	const char *(*event)(const struct names *n, uint64_t id);
	/* tracefs' format file of the tracepoint with this id */
	const char *(*format)(const struct names *n, uint64_t id);
	/* the code at ip, see struct record_hooks */
	const char *(*symbol)(const struct names *n, int32_t pid, uint64_t ip,
			      unsigned int cpumode, bool after_call);
	uint32_t page_size;	/* of the machine that was traced, in bytes */
};

/* Empties the call for reuse; keeps its memory. */
void call_reset(struct call *c);
void call_free(struct call *c);

/* Adds one copy by hand (dump readers, tests). */
void call_add_capture(struct call *c, enum call_phase phase, uint64_t addr,
		      uint32_t want, const void *bytes, uint32_t len);

/*
 * The captured bytes at addr: pointer, with *len how many follow (at most
 * want); NULL when there are none.  Looks in that phase only.
 */
const uint8_t *call_bytes(const struct call *c, enum call_phase phase,
			  uint64_t addr, size_t want, size_t *len);

/* Argument i as the int or unsigned int that the kernel takes it for. */
static inline int32_t call_int(const struct call *c, unsigned int i)
{
	return (int32_t)c->args[i];
}

/* Argument i as a pointer or unsigned long of the caller's ABI. */
static inline uint64_t call_word(const struct call *c, unsigned int i)
{
	return c->arch->word == 4 ? (uint32_t)c->args[i] : c->args[i];
}

#endif
