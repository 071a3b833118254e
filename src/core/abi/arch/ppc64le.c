// SPDX-License-Identifier: LGPL-2.1-or-later
/* 64-bit little-endian POWER. */
#include <elf.h>
#include <linux/audit.h>

#include "core/abi/arch.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

const struct arch arch_ppc64le = {
	.name = "ppc64le",
	.audit = AUDIT_ARCH_PPC64LE,
	.word = 8,
	.epoll_size = 16,
	.clone_tls_first = true,
	.ioctl_3bits = true,
	.regs = &xlat_perf_regs_powerpc,
	.regs_extended = PERF_REGS_POWERPC_EXTENDED_MASK,
};
