/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A system call, traced or made by pevtrace: raw arguments, result, and copies of the
 * memory that they point to.  Decoding uses only the copies.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/abi/arch.h"
#include "core/abi/memory_bpf.h"
#include "core/abi/sink.h"
#include "core/abi/xlat.h"
#include "core/lib/buf.h"

enum call_phase { AT_SYSCALL_ENTER, AT_SYSCALL_EXIT };

/* Bytes copied from the target: pool.data[at .. at + len). */
struct capture {
	uint64_t addr;
	uint32_t want;		/* bytes requested */
	uint32_t len;		/* bytes read */
	uint32_t at;
	enum call_phase phase;
};

enum { CALL_MAX_CAPTURES = 64, CALL_PASSED_IDS = 8 };

/*
 * The fault injected into a call: requested at syscall-enter, and at syscall-exit a
 * record of what was done.
 */
struct inject {
	bool injected;		/* the kernel does not execute the call; the task gets ret */
	int64_t ret;		/* a negative errno for a failure */
	uint64_t enter_delay_ns, exit_delay_ns;
	int signal;		/* sent to the task at syscall-enter; 0: none */
	uint32_t attr_size;	/* written into attr.size, as with E2BIG; 0: not */
	char because[160];	/* one line for the user, or "" */
};

struct call {
	const struct call_desc *desc;	/* NULL: not decoded */
	const struct arch *arch;
	uint64_t nr;
	uint64_t args[CALL_MAX_ARGS];
	pid_t tid, pid;			/* as the tracer sees them */
	/* of an open whose task has another PID namespace: the task to measure, as the tracer sees it */
	pid_t target;
	/*
	 * CLOCK_MONOTONIC: at the syscall-enter-stop, on resuming from it, and at the
	 * syscall-exit-stop.
	 */
	uint64_t enter_ns, start_ns, exit_ns;
	uint64_t ip;			/* behind the instruction of the call; 0: unknown */
	bool returned;			/* false: the task died or exec'd inside */
	bool failed;
	int64_t ret;			/* result; a positive errno when failed */
	bool no_event;			/* an open or receive that got no descriptor of an event */
	bool genuine;			/* no filter of the program can have faked the result */
	bool answered;			/* a success that a filter of the program seems to have made up */
	bool shown;			/* set by the tracer: the call is printed */
	bool inside;			/* reported by the kernel itself: event is valid */
	uint64_t event;			/* id of the event behind its descriptor, or that it opened */
	uint64_t passed[CALL_PASSED_IDS]; /* ids of the events behind the first descriptors of a message */
	const struct call *before;	/* the call that this one modifies, or NULL */
	struct inject inject;
	struct capture captures[CALL_MAX_CAPTURES];
	size_t ncaptures;
	struct buf pool;
};

/* Return whether something else than the kernel gave the call its result, as far as is known. */
static inline bool call_is_fake(const struct call *c)
{
	return c->inject.injected || c->answered;
}

/* Return the pid argument of an open, as the tracer sees that task. */
static inline pid_t call_target(const struct call *c)
{
	return c->target ? c->target : (pid_t)c->args[1];
}

/* The memory of a task.  read copies up to len bytes and returns how many. */
struct mem {
	size_t (*read)(const struct mem *m, uint64_t addr, void *dst, size_t len);
};

/* A BPF program, as BPF_OBJ_GET_INFO_BY_FD describes it. */
struct bpf_program {
	uint32_t id;		/* 0: unknown, and so is the rest */
	uint32_t type;		/* of the table bpf_prog_type */
	char name[16];		/* may be "" */
};

/* No event, or one whose read_format is not known: opened before attach. */
enum names_formats { NAMES_NO_EVENT = -1, NAMES_NO_FORMAT = -2 };

/*
 * Names of PMUs, tracepoints and symbols of this machine, or of the dump's.  Each
 * function may be NULL and may return NULL; strings are valid until its next call.
 */
struct names {
	/* PMU with this type number, as in /sys/bus/event_source/devices */
	const char *(*pmu)(const struct names *n, uint32_t type);
	/* tracepoint "system:name" with this id */
	const char *(*tracepoint)(const struct names *n, uint64_t id);
	/* a PMU's format/ terms for these configs: "event=0x3c,umask=0x1" */
	const char *(*terms)(const struct names *n, uint32_t type,
			     const uint64_t *config, size_t nconfigs);
	/* the event of a caller's descriptor: "cpu-clock cpu0" */
	const char *(*fd)(const struct names *n, const struct call *call,
			  int64_t fd);
	/* read_format of the event behind fd, or one of names_formats */
	int64_t (*read_format)(const struct names *n, const struct call *call,
			       int64_t fd);
	/* the BPF program behind fd */
	const struct bpf_program *(*program)(const struct names *n, const struct call *call,
					     int64_t fd);
	/* name of the event that a program is attached to by the link behind fd */
	const char *(*link)(const struct names *n, const struct call *call, int64_t fd);
	/* name of the event with that kernel id */
	const char *(*event)(const struct names *n, uint64_t id);
	/* tracefs' format file of the tracepoint with this id */
	const char *(*format)(const struct names *n, uint64_t id);
	/* the code at ip, see struct record_hooks */
	const char *(*symbol)(const struct names *n, int32_t pid, uint64_t ip,
			      unsigned int cpumode, bool after_call);
	uint32_t page_size;	/* of the machine that was traced, in bytes */
	uint32_t cpus;		/* that it has; 0: not known */
	uint32_t release;	/* KVER() of its kernel; 0: not known */
	/* its PMUs, as perf.data has them (HEADER_PMU_MAPPINGS); NULL: not known */
	const uint8_t *pmus;
	size_t pmus_len;
	const struct arch *arch; /* of its kernel; NULL: not known */
	struct host *machine;	/* for which calls are judged, as --machine says; NULL: as far as known */
};

/* Clear the call for reuse; keep its memory. */
void call_reset(struct call *c);
void call_free(struct call *c);

/* Add a copy of memory. */
void call_add_capture(struct call *c, enum call_phase phase, uint64_t addr,
		      uint32_t want, const void *bytes, uint32_t len);

/*
 * Return the bytes at addr captured in that phase, and in *len their number, at most
 * want; NULL if there are none.
 */
const uint8_t *call_bytes(const struct call *c, enum call_phase phase,
			  uint64_t addr, size_t want, size_t *len);

/* Return whether the fd_set in these bytes, which consists of longs of the call's ABI, has fd. */
bool call_set_has(const struct call *c, const uint8_t *bytes, size_t len, size_t fd);

/* Return how many argument registers hold the call's arguments; loff_t may have two or three. */
size_t call_registers(const struct call *c);

/* Return argument i as the int that the kernel converts it to. */
static inline int32_t call_int(const struct call *c, unsigned int i)
{
	return (int32_t)c->args[i];
}

/* Return argument i as a pointer or unsigned long of the caller's ABI. */
static inline uint64_t call_word(const struct call *c, unsigned int i)
{
	return c->arch->word == 4 ? (uint32_t)c->args[i] : c->args[i];
}

/*
 * Return whether the call sets something up.  Waits and reads do not, whose number depends on
 * timing, nor do calls about processes other than prctl: their number is the program's own.
 */
static inline bool call_sets_up(const struct call *c)
{
	return c->desc->class == CLASS_POLL ? c->desc->id == CALL_EPOLL_CTL :
	       c->desc->class == CLASS_PROCESS ? c->desc->id == CALL_PRCTL :
	       c->desc->class != CLASS_READ;
}

/* Copy want bytes (at most MEMORY_RUN) from addr; return how many were readable. */
size_t capture_bytes(struct call *c, enum call_phase phase, uint64_t addr,
		     uint64_t want, const struct mem *m);

/* Copy the string at addr with its NUL, at most MEMORY_STRING_BYTES. */
void capture_string(struct call *c, enum call_phase phase, uint64_t addr,
		    const struct mem *m);

/* The same with at most that many bytes; return how many were copied. */
size_t capture_string_of(struct call *c, enum call_phase phase, uint64_t addr, size_t most,
			 const struct mem *m);
