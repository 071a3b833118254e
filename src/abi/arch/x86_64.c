// SPDX-License-Identifier: LGPL-2.1-or-later
/* 64-bit x86; its struct epoll_event is packed. */
#include <elf.h>
#include <linux/audit.h>

#include "abi/arch.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

const struct arch arch_x86_64 = {
	.name = "x86_64",
	.audit = AUDIT_ARCH_X86_64,
	.word = 8,
	.epoll_size = 12,
	.regs = &xlat_perf_regs_x86,
	.regs_extended = PERF_REGS_X86_EXTENDED_MASK,
	.regs_refused = 1 << PERF_REG_X86_DS | 1 << PERF_REG_X86_ES |
			1 << PERF_REG_X86_FS | 1 << PERF_REG_X86_GS,
};
