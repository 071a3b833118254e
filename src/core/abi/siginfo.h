/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signal information, wait statuses and errors, as text. */
#pragma once

#include <signal.h>

#include "core/abi/sink.h"
#include "core/lib/buf.h"

/* Write "exited with 1" or "killed by SIGSEGV (core dumped)"; status is of wait(2). */
void status_text(int status, char *text, size_t size);

/* Return whether a signal reports the wakeup of a descriptor, si_fd. */
bool siginfo_is_wakeup(const siginfo_t *info);

/*
 * Emit a siginfo_t (sigaction(2)) as an object, with si_fd and si_band of an event's
 * wakeup, si_perf_data and si_perf_type of an event with sigtrap.
 */
void siginfo_emit(const siginfo_t *info, struct sink *s);

/* Append "-1 ENOENT (No such file or directory)" or "? ERESTARTSYS (...)". */
void error_text(int64_t error, struct buf *out);

/* The same without "-1 " or "? ". */
void error_name_text(int64_t error, struct buf *out);
