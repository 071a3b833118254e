/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The records that the kernel writes into an event's ring buffer. */
#pragma once

#include "core/abi/call.h"
#include "core/abi/sink.h"

/* The members of an attr that determine the format of its records. */
struct record_format {
	uint64_t sample_type, read_format, branch_sample_type;
	uint64_t sample_regs_user, sample_regs_intr;
	bool sample_id_all;
	/*
	 * Device and inode are in MMAP2, whatever its misc says: Linux leaves the bit of the build
	 * id set when it writes the record for the next event, which may have none.
	 */
	bool no_build_id;
	const struct arch *arch;	/* of the machine (register names); may be NULL */
};

/* Fill in the format from an attr of len bytes, of any size and version. */
void record_format_of(struct record_format *f, const uint8_t *attr, size_t len,
		      const struct arch *arch);

/*
 * Callbacks that name the numbers in a record.  Each may be NULL and may return NULL;
 * strings are valid until the next call of the same one.
 */
struct record_hooks {
	void *ctx;
	/* name of the event with this id; on NULL struct names is asked */
	const char *(*event)(void *ctx, uint64_t id);
	/*
	 * Write the raw data of a sample, field by field, into the object that has
	 * begun.  Return false and write nothing if the format is not known.
	 */
	bool (*raw)(void *ctx, const uint8_t *data, size_t len, struct sink *s);
	/*
	 * Name of the code at ip, or before it if ip is where a call returns to.
	 * pid is -1 and cpumode PERF_RECORD_MISC_CPUMODE_UNKNOWN if the record does
	 * not say; otherwise cpumode is PERF_RECORD_MISC_KERNEL and so on.
	 */
	const char *(*symbol)(void *ctx, int32_t pid, uint64_t ip,
			      unsigned int cpumode, bool after_call);
	/* Convert the raw data of a sample to this machine's byte order (swap_record()). */
	void (*swap_raw)(void *ctx, uint8_t *data, size_t len);
};

/* The identifying values of a record, available without decoding all of it. */
struct record_id {
	uint32_t type;
	uint16_t misc, size;
	bool has_id, has_time, has_cpu, has_tid;
	uint64_t id, time;
	uint32_t cpu;
	int32_t pid, tid;
};

/*
 * Read the identifying values from a sample, or from the sample_id of another record;
 * has_* says which are present.  Return false if len is too short for the header
 * or the size in it, or that size is too short for a header.
 */
bool record_identify(const uint8_t *bytes, size_t len,
		     const struct record_format *f, struct record_id *out);

/*
 * Write the record at bytes to the sink as one object: type, misc and size, then its
 * fields, then the object "sample_id".  n and hooks may be NULL.  Bytes that no
 * field accounts for are written as "rest", those behind the sample_id as "surplus", both
 * with a note "bounds".
 *
 * Return the number of bytes that the fields account for: header.size if all of it
 * was decoded, less if bytes are left over or len is shorter than the record, more if
 * fields require bytes that the record does not have.
 */
size_t record_emit(const uint8_t *bytes, size_t len,
		   const struct record_format *f, const struct names *n,
		   struct sink *s, const struct record_hooks *hooks);

/* Return the layout that follows the header in a record of that type, or NULL. */
const struct layout *record_layout(uint32_t type);

/* Return the flags of misc that are specific to this type of record, or NULL. */
const struct xlat *record_misc_flags(uint32_t type);
