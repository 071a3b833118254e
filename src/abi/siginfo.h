/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What signals and ends of processes tell, and errors by name. */
#ifndef PEVTRACE_ABI_SIGINFO_H
#define PEVTRACE_ABI_SIGINFO_H

#include <signal.h>

#include "abi/sink.h"
#include "lib/buf.h"

/* "exited with 1", "killed by SIGSEGV (core dumped)"; status as wait(2) gives it. */
void status_text(int status, char *text, size_t size);

/*
 * What came with a signal (sigaction(2)), as an object: si_fd and si_band of an
 * event's wakeup, si_perf_data and si_perf_type of a sigtrap event among it.
 */
void siginfo_emit(const siginfo_t *info, struct sink *s);

/* "-1 ENOENT (No such file or directory)", "? ERESTARTSYS (...)". */
void error_text(int64_t error, struct buf *out);

/* The same without "-1 " or "? ". */
void error_name_text(int64_t error, struct buf *out);

#endif
