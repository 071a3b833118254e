/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the instruments of experiment/instruments.h are tried. */
#pragma once

#include "experiment/instruments.h"

/*
 * Judge what was counted while something happened from least to most times.  value: that of the
 * counter in the end; one that is not 0, but does not advance, is frozen, which is implausible.
 */
struct instrument_result instrument_judge(uint64_t value, uint64_t counted, uint64_t least,
					  uint64_t most);

/* Try an instrument once.  These measure the work of a child (instruments_work.c) ... */
void instrument_try_event(struct host *host, enum instrument i, struct instrument_result *r);

/* ... and these measure themselves, in a child: i is INSTRUMENT_HARDWARE or INSTRUMENT_CLOCK. */
void instrument_try_self(enum instrument i, struct instrument_result *r);
void instrument_try_bpf(struct instrument_result *r);
void instrument_try_compat(struct instrument_result *r);

/*
 * For children: end with pevtrace, and after some seconds; open an event of the calling task, with
 * what else the attr has; use a millisecond of the CPU.
 */
void instrument_begin_child(void);
int instrument_open(uint32_t type, uint64_t config, uint8_t *attr);
void instrument_spin(void);

/* Return the result that an event or program cannot be opened. */
struct instrument_result instrument_absent(int error);

/* Try the PMUs of this machine until one has filled an AUX area. */
void instrument_try_aux(struct host *host, struct instrument_result *r);
