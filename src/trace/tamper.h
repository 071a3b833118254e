/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Doing to a call of a traced task what the enter hook asked for (call->tamper). */
#ifndef PEVTRACE_TRACE_TAMPER_H
#define PEVTRACE_TRACE_TAMPER_H

#include "abi/call.h"

/*
 * In the stop at the beginning of the call: answers it and sends the signal.
 * Where it cannot be answered, call->tamper.injected becomes false.  Delays are
 * the engine's.
 */
void tamper_begin(struct call *call);

/* Can calls of this ABI be answered in the kernel's place, on this machine? */
bool tamper_possible(const struct arch *arch);

#endif
