// SPDX-License-Identifier: LGPL-2.1-or-later
/* 64-bit RISC-V. */
#include <elf.h>
#include <linux/audit.h>

#include "core/abi/arch.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

static const struct arch_functions functions[] = {
	{ "__riscv_sys_", "" },
	{ NULL, NULL }
};

const struct arch arch_riscv64 = {
	.name = "riscv64",
	.audit = AUDIT_ARCH_RISCV64,
	.word = 8,
	.epoll_size = 16,
	.probe_align = 2,
	.clone_tls_first = true,
	.regs = &xlat_perf_regs_riscv,
	.core_traits = PMU_TRAIT_NO_AUX, /* drivers/perf/riscv_pmu.c sets no capability */
	.functions = functions,
};
