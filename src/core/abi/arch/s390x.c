// SPDX-License-Identifier: LGPL-2.1-or-later
/* 64-bit s390 (IBM Z). */
#include <elf.h>
#include <linux/audit.h>

#include "core/abi/arch.h"
#include "xlat/tables.h"

const struct arch arch_s390x = {
	.name = "s390x",
	.audit = AUDIT_ARCH_S390X,
	.word = 8,
	.epoll_size = 16,
	.old_mmap = true,
	.clone_stack_first = true,
	.big_endian = true,
	.regs = &xlat_perf_regs_s390,
};
