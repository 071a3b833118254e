// SPDX-License-Identifier: LGPL-2.1-or-later
/* 32-bit ARM under a 64-bit kernel, whose register masks it uses. */
#include <elf.h>
#include <linux/audit.h>

#include "core/abi/arch.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

static const struct arch_functions functions[] = {
	{ "__arm64_sys_", "aarch32_" },
	{ "__arm64_compat_sys_", "aarch32_" },
	{ NULL, NULL }
};

const struct arch arch_arm = {
	.name = "arm",
	.audit = AUDIT_ARCH_ARM,
	.word = 4,
	.epoll_size = 16,
	.mmap2_shift = 12,
	.clone_tls_first = true,
	.pairs_even = true,
	.kernel = &arch_aarch64,
	.regs = &xlat_perf_regs_arm64,
	.regs_extended = PERF_REGS_ARM64_EXTENDED_MASK,
	.functions = functions,
};
