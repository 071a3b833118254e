/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The differences between the ABIs of tasks; arch/ has a file for each ABI. */
#ifndef PEVTRACE_ABI_ARCH_H
#define PEVTRACE_ABI_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/xlat.h"

struct arch {
	const char *name;	/* libseccomp's name: "x86_64", "x86", "aarch64" */
	uint32_t audit;		/* AUDIT_ARCH_*, as in PTRACE_GET_SYSCALL_INFO */
	uint64_t nr_bit;	/* set in every call number (x32), else 0 */
	uint8_t word;		/* bytes of a long and of a pointer */
	uint8_t epoll_size;	/* sizeof(struct epoll_event): 12 or 16 */
	uint8_t mmap2_shift;	/* unit of mmap2's offset, 0 without mmap2 */
	bool old_mmap;		/* mmap and select pass a pointer to their arguments */
	bool pairs_even;	/* a 64-bit argument begins at an even register */
	bool clone_tls_first;	/* clone's tls comes before child_tid */
	const struct xlat *regs; /* bits of sample_regs_user and _intr */
	uint64_t regs_extended;	/* bits that require a PMU with extended registers */
	uint64_t regs_refused;	/* bits of registers that the kernel cannot sample */
};

/* Every ABI that pevtrace decodes; the last is NULL. */
extern const struct arch *const arches[];

/* Return the ABI of an audit architecture and system call number, or NULL. */
const struct arch *arch_find(uint32_t audit, uint64_t nr);
const struct arch *arch_by_name(const char *name);

/* The ABI that pevtrace itself was built for. */
const struct arch *arch_native(void);

extern const struct arch arch_x86_64, arch_x86, arch_x32, arch_aarch64, arch_arm,
	arch_riscv64;

#endif
