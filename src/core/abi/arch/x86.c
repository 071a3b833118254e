// SPDX-License-Identifier: LGPL-2.1-or-later
/* 32-bit x86; the kernel's register masks are those of x86-64. */
#include <elf.h>
#include <linux/audit.h>

#include "core/abi/arch.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

static const struct arch_breakpoints x86_breakpoints = {
	.types = 1 << HW_BREAKPOINT_X | 1 << HW_BREAKPOINT_W | 1 << HW_BREAKPOINT_RW,
	.ranges = true, .exec_word = true, .exec_kprobes = true, .kernel_task = true,
};

static const uint64_t x86_user_ends[] = { 0xc0000000, 0 };

static const struct arch_functions functions[] = {
	{ "__ia32_sys_", "ia32_" },
	{ "__ia32_compat_sys_", "ia32_" },
	{ NULL, NULL }
};

const struct arch arch_x86 = {
	.name = "x86",
	.audit = AUDIT_ARCH_I386,
	.word = 4,
	.epoll_size = 12,
	.mmap2_shift = 12,
	.old_mmap = true,
	.old_select = true,
	.clone_tls_first = true,
	.kernel = &arch_x86_64,
	.regs = &xlat_perf_regs_x86,
	.regs_extended = PERF_REGS_X86_EXTENDED_MASK,
	/* R8 to R15 */
	.regs_refused = 0xffULL << PERF_REG_X86_R8,
	.breakpoints = &x86_breakpoints,
	.user_ends = x86_user_ends,
	.functions = functions,
};
