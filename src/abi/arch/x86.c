// SPDX-License-Identifier: LGPL-2.1-or-later
/* 32-bit x86; the kernel's register masks are those of x86-64. */
#include <elf.h>
#include <linux/audit.h>

#include "abi/arch.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

const struct arch arch_x86 = {
	.name = "x86",
	.audit = AUDIT_ARCH_I386,
	.word = 4,
	.epoll_size = 12,
	.mmap2_shift = 12,
	.old_mmap = true,
	.clone_tls_first = true,
	.regs = &xlat_perf_regs_x86,
	.regs_extended = PERF_REGS_X86_EXTENDED_MASK,
	/* R8 to R15 */
	.regs_refused = 0xffULL << PERF_REG_X86_R8,
};
