/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The records that the kernel writes into an event's ring buffer. */
#ifndef PEVTRACE_ABI_RECORD_H
#define PEVTRACE_ABI_RECORD_H

#include "abi/call.h"
#include "abi/sink.h"

/* How one event writes its records: what its attr says. */
struct record_format {
	uint64_t sample_type, read_format, branch_sample_type;
	uint64_t sample_regs_user, sample_regs_intr;
	bool sample_id_all;
	const struct arch *arch;	/* of the machine (register names); may be NULL */
};

/* Takes the format from an attr of len bytes, of any size and age. */
void record_format_of(struct record_format *f, const uint8_t *attr, size_t len,
		      const struct arch *arch);

/*
 * What the caller knows about the numbers in a record.  Every hook may be NULL
 * and may return NULL; strings live until the next call of the same hook.
 */
struct record_hooks {
	void *ctx;
	/* name of the event with this id; when NULL, struct names has its say */
	const char *(*event)(void *ctx, uint64_t id);
	/*
	 * Hands the raw data of a sample to the sink, field by field, into an
	 * object that has begun; false, and nothing handed over: not known.
	 */
	bool (*raw)(void *ctx, const uint8_t *data, size_t len, struct sink *s);
	/*
	 * Name of the code at ip, or before it if ip is where a call returns to.
	 * pid is -1 and cpumode PERF_RECORD_MISC_CPUMODE_UNKNOWN if the record does
	 * not say; otherwise cpumode is PERF_RECORD_MISC_KERNEL and so on.
	 */
	const char *(*symbol)(void *ctx, int32_t pid, uint64_t ip,
			      unsigned int cpumode, bool after_call);
};

/* What a record says of itself without being decoded in full. */
struct record_id {
	uint32_t type;
	uint16_t misc, size;
	bool has_id, has_time, has_cpu, has_tid;
	uint64_t id, time;
	uint32_t cpu;
	int32_t pid, tid;
};

/*
 * Fills in what the sample, or the sample_id behind another record, tells;
 * has_* is false for what it does not.  False: len is too short for a header
 * or for the size it states, or that size is too short for a header.
 */
bool record_identify(const uint8_t *bytes, size_t len,
		     const struct record_format *f, struct record_id *out);

/*
 * Hands the record at bytes to the sink as one object: type, misc and size,
 * then its fields, then those of "sample_id" as an object.  n and hooks may be
 * NULL.  Bytes that no field accounts for are handed on as "rest", with a note
 * "size".
 *
 * Returns the bytes that the fields account for.  They are header.size when
 * all of it was understood, less when something was left over or len did not
 * hold the whole record, more when fields ask for bytes that it does not have.
 */
size_t record_emit(const uint8_t *bytes, size_t len,
		   const struct record_format *f, const struct names *n,
		   struct sink *s, const struct record_hooks *hooks);

/* The layout that a record of that type begins with, behind its header; NULL: none. */
const struct layout *record_layout(uint32_t type);

#endif
