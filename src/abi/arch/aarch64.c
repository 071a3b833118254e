// SPDX-License-Identifier: LGPL-2.1-or-later
/* 64-bit ARM. */
#include <elf.h>
#include <linux/audit.h>

#include "abi/arch.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

const struct arch arch_aarch64 = {
	.name = "aarch64",
	.audit = AUDIT_ARCH_AARCH64,
	.word = 8,
	.epoll_size = 16,
	.clone_tls_first = true,
	.regs = &xlat_perf_regs_arm64,
	.regs_extended = PERF_REGS_ARM64_EXTENDED_MASK,
};
