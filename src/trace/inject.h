/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Doing to a call of a traced task what the enter hook asked for (call->inject). */
#ifndef PEVTRACE_TRACE_INJECT_H
#define PEVTRACE_TRACE_INJECT_H

#include "abi/call.h"

/*
 * In the stop at the beginning of the call: answers it and sends the signal.
 * Delays are the engine's.
 */
void inject_begin(const struct call *call);

/*
 * Can calls of this ABI be answered in the kernel's place, on this machine?  To
 * be asked before call->inject.injected is set.
 */
bool inject_possible(const struct arch *arch);

#endif
