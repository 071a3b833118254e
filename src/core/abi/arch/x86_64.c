// SPDX-License-Identifier: LGPL-2.1-or-later
/* 64-bit x86; its struct epoll_event is packed. */
#include <elf.h>
#include <linux/audit.h>

#include "core/abi/arch.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

static const struct arch_breakpoints x86_64_breakpoints = {
	.types = 1 << HW_BREAKPOINT_X | 1 << HW_BREAKPOINT_W | 1 << HW_BREAKPOINT_RW,
	.ranges = true, .exec_word = true, .exec_kprobes = true, .kernel_task = true,
	/* the CPU entry area, 512 GiB */
	.entry = 0xfffffe0000000000, .entry_end = 0xfffffe0000000000 + (1ULL << 39),
};

/* With five and four levels of page tables; the last page is not used. */
static const uint64_t x86_64_user_ends[] = { (1ULL << 56) - 4096, (1ULL << 47) - 4096, 0 };

static const struct arch_functions functions[] = {
	{ "__x64_sys_", "" },
	{ NULL, NULL }
};

const struct arch arch_x86_64 = {
	.name = "x86_64",
	.audit = AUDIT_ARCH_X86_64,
	.word = 8,
	.epoll_size = 12,
	.regs = &xlat_perf_regs_x86,
	.regs_extended = PERF_REGS_X86_EXTENDED_MASK,
	.regs_refused = 1 << PERF_REG_X86_DS | 1 << PERF_REG_X86_ES |
			1 << PERF_REG_X86_FS | 1 << PERF_REG_X86_GS,
	.breakpoints = &x86_64_breakpoints,
	.user_ends = x86_64_user_ends,
	.functions = functions,
};
