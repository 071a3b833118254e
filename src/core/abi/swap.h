/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory and records of a machine of the other byte order, converted to that of this one before
 * they are decoded.  What has no description stays as it is.
 */
#pragma once

#include <signal.h>

#include "core/abi/call.h"
#include "core/abi/record.h"

/* Return an integer of 1, 2, 4 or 8 bytes of the other byte order. */
uint64_t swap_load(const void *bytes, size_t width);

/* Convert all whole integers of width bytes in len bytes. */
void swap_words(uint8_t *bytes, size_t len, size_t width);

/*
 * Convert the members of a struct that are whole in the len bytes, of which the first is the
 * struct's byte from.  Bit-fields get their places in this byte order.
 */
void swap_layout(const struct layout *l, uint8_t *bytes, size_t from, size_t len);

/* Convert the memory of a call that was captured in that phase, by the kinds of arguments. */
void swap_call(struct call *c, enum call_phase phase, const struct names *n);

/*
 * Convert a record of len bytes; hooks->swap_raw its raw data.  hooks may be NULL.
 */
void swap_record(uint8_t *bytes, size_t len, const struct record_format *f,
		 const struct record_hooks *hooks);

/* Convert the siginfo_t of a 64-bit machine. */
void swap_siginfo(siginfo_t *i);
