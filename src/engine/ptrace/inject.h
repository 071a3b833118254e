/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fault injection: what the enter hook asks for in task->call->inject. */
#pragma once

#include "core/abi/arch.h"

struct task;

/* In the syscall-enter-stop: skip the call and set its result, send the signal. */
void inject_enter(struct task *task);

/* Return whether calls of this ABI can be skipped: call->inject.injected requires it. */
bool inject_possible(const struct arch *arch);
