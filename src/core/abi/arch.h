/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The differences between the ABIs of tasks; arch/arch.c has a row for each. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/abi/xlat.h"

/* The hardware breakpoints that the kernel grants, as its arch/.../hw_breakpoint.c checks them. */
struct arch_breakpoints {
	uint8_t types;		/* 1 << HW_BREAKPOINT_... of each kind that exists */
	bool any_length;	/* of 1 to 8 bytes, at any address; else powers of two, aligned */
	bool ranges;		/* of more than 8 bytes, if the CPU can */
	bool exec_word;		/* bp_len of an execution breakpoint must be sizeof(long) */
	bool exec_kprobes;	/* in kernel code only where kprobes are allowed */
	bool kernel_task;	/* a task's may be at a kernel address */
	bool wraps;		/* a range may wrap around the end of memory */
	bool one_unit;		/* a range may not leave 8 aligned bytes, since Linux 6.12 or before */
	uint64_t entry, entry_end; /* kernel memory that none may touch */
};

/* Names of the kernel's functions of system calls: prefix [part] CALL. */
struct arch_functions {
	const char *prefix, *part;
};

struct arch {
	const char *name;	/* libseccomp's name: "x86_64", "x86", "aarch64" */
	uint32_t audit;		/* AUDIT_ARCH_*, as in PTRACE_GET_SYSCALL_INFO */
	uint64_t nr_bit;	/* set in every call number (x32), else 0 */
	uint8_t word;		/* bytes of a long and of a pointer */
	uint8_t epoll_size;	/* sizeof(struct epoll_event): 12 or 16 */
	uint8_t probe_align;	/* of the offset of a uprobe; 0: any is allowed */
	uint8_t mmap2_shift;	/* unit of mmap2's offset, 0 without mmap2 */
	bool old_mmap;		/* mmap passes a pointer to its arguments */
	bool old_select;	/* select does */
	bool pairs_even;	/* a 64-bit argument begins at an even register */
	bool clone_tls_first;	/* clone's tls comes before child_tid */
	bool clone_stack_first;	/* clone's stack comes before flags; not so in struct call */
	bool big_endian;
	bool ioctl_3bits;	/* ioctl requests have 3 bits for the direction; not so in struct call */
	const struct arch *kernel; /* the ABI of kernels that run it; NULL: this one */
	const struct xlat *regs; /* bits of sample_regs_user and _intr */
	uint64_t regs_extended;	/* bits that require a PMU with extended registers */
	uint64_t regs_refused;	/* bits of registers that the kernel cannot sample */
	uint64_t core_traits;	/* PMU_TRAIT_* of the CPU's PMU, beside those of its name */
	const struct arch_breakpoints *breakpoints; /* NULL: not described */
	const struct arch_functions *functions; /* ends with prefix NULL; or NULL */
	const uint64_t *user_ends; /* possible ends of user addresses, the last is 0; or NULL */
};

struct nearest;

/* Every ABI that pevtrace decodes; the last is NULL. */
extern const struct arch *const arches[];

/* Return the ABI of an audit architecture and system call number, or NULL. */
const struct arch *arch_find(uint32_t audit, uint64_t nr);
const struct arch *arch_by_name(const char *name);

/* Offer the names of all ABIs but arch_unknown. */
void arch_offer(struct nearest *n);

/*
 * The ABI that pevtrace itself was built for; arch_unknown if it is none of the others.  Its calls
 * are found by libseccomp's numbers; its registers have no names.
 */
const struct arch *arch_native(void);

/* Return whether one kernel can run programs of both. */
bool arch_same_kernel(const struct arch *a, const struct arch *b);

extern const struct arch arch_aarch64, arch_arm, arch_ppc64le, arch_riscv64, arch_s390x;
extern const struct arch arch_x32, arch_x86, arch_x86_64, arch_unknown;
