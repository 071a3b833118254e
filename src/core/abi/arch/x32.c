// SPDX-License-Identifier: LGPL-2.1-or-later
/* x32: 64-bit registers, 32-bit pointers, calls marked by a bit in their number. */
#include <elf.h>
#include <linux/audit.h>

#include "core/abi/arch.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

const struct arch arch_x32 = {
	.name = "x32",
	.audit = AUDIT_ARCH_X86_64,
	.nr_bit = 0x40000000,
	.word = 4,
	.epoll_size = 12,
	.kernel = &arch_x86_64,
	.regs = &xlat_perf_regs_x86,
	.regs_extended = PERF_REGS_X86_EXTENDED_MASK,
	.regs_refused = 1 << PERF_REG_X86_DS | 1 << PERF_REG_X86_ES |
			1 << PERF_REG_X86_FS | 1 << PERF_REG_X86_GS,
};
