/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Registers of a task in a ptrace stop, for what the ptrace engine changes: arch/regs.c describes
 * those of each processor; on all others nothing can be changed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/abi/arch.h"

enum { REGS_MAX = 512 };

/* The general registers, as the kernel lays them out. */
struct regs {
	_Alignas(uint64_t) uint8_t bytes[REGS_MAX];
	size_t len;
};

/*
 * Return whether the calls of that ABI can be changed, as call->inject.injected requires; NULL:
 * unknown.
 */
bool regs_known(const struct arch *arch);

/*
 * Return false if the task is gone, or the processor is unknown.  Die if registers cannot be
 * set: the task would go on with those of pevtrace's call.
 */
bool regs_get(pid_t tid, struct regs *r);
bool regs_set(pid_t tid, const struct regs *r);

/* In a syscall-exit-stop: return whether the task executed a native system call instruction. */
bool regs_behind_call(pid_t tid, const struct regs *r);

/* The number and the result of the call that has returned. */
uint64_t regs_number(const struct regs *r);
int64_t regs_result(const struct regs *r);

/*
 * After regs_behind_call(): let the task execute the instruction again, with that call.
 * Return false if it is gone.
 */
bool regs_make_call(pid_t tid, const struct regs *r, long nr, const uint64_t args[6]);

/* In a syscall-enter-stop or seccomp stop: skip the call, which returns that. */
void regs_skip_call(pid_t tid, int64_t result);

/* In the syscall-exit-stop of a skipped call: restore its number in the program's registers. */
void regs_end_skipped(pid_t tid, uint64_t nr);

/* In a syscall-exit-stop: replace the result. */
bool regs_set_result(pid_t tid, int64_t result);

/*
 * In a syscall-enter-stop: replace the first argument; at the exit of the call, or in the child
 * that it created, restore it, where the program would find it changed.
 */
bool regs_set_first(pid_t tid, const struct arch *arch, uint64_t value);
void regs_restore_first(pid_t tid, const struct arch *arch, uint64_t value);
