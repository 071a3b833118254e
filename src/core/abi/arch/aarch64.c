// SPDX-License-Identifier: LGPL-2.1-or-later
/* 64-bit ARM. */
#include <elf.h>
#include <linux/audit.h>

#include "core/abi/arch.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

static const struct arch_breakpoints aarch64_breakpoints = {
	.types = 1 << HW_BREAKPOINT_X | 1 << HW_BREAKPOINT_R | 1 << HW_BREAKPOINT_W |
		 1 << HW_BREAKPOINT_RW,
	.any_length = true, .wraps = true, .one_unit = true,
};

/* 52 to 36 bits, by page size and levels of page tables. */
static const uint64_t aarch64_user_ends[] = {
	1ULL << 52, 1ULL << 48, 1ULL << 47, 1ULL << 42, 1ULL << 39, 1ULL << 36, 0,
};

static const struct arch_functions functions[] = {
	{ "__arm64_sys_", "" },
	{ NULL, NULL }
};

const struct arch arch_aarch64 = {
	.name = "aarch64",
	.audit = AUDIT_ARCH_AARCH64,
	.word = 8,
	.epoll_size = 16,
	.probe_align = 4,
	.clone_tls_first = true,
	.regs = &xlat_perf_regs_arm64,
	.regs_extended = PERF_REGS_ARM64_EXTENDED_MASK,
	.breakpoints = &aarch64_breakpoints,
	.user_ends = aarch64_user_ends,
	.functions = functions,
};
