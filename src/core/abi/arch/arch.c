// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/arch.h"

#include <elf.h>
#include <linux/audit.h>
#include <string.h>

#include "core/abi/tables.h"
#include "core/lib/nearest.h"

/* The ABIs ------------------------------------------------------------------------------- */

/* 64-bit x86; its struct epoll_event is packed. */
const struct arch arch_x86_64 = {
	.name = "x86_64",
	.audit = AUDIT_ARCH_X86_64,
	.word = 8,
	.epoll_size = 12,
	.regs = &xlat_perf_regs_x86,
	.regs_extended = PERF_REGS_X86_EXTENDED_MASK,
	.regs_refused = 1 << PERF_REG_X86_DS | 1 << PERF_REG_X86_ES |
			1 << PERF_REG_X86_FS | 1 << PERF_REG_X86_GS,
	.breakpoints = &(const struct arch_breakpoints){
		.types = 1 << HW_BREAKPOINT_X | 1 << HW_BREAKPOINT_W | 1 << HW_BREAKPOINT_RW,
		.ranges = true, .exec_word = true, .exec_kprobes = true, .kernel_task = true,
		/* the CPU entry area, 512 GiB */
		.entry = 0xfffffe0000000000, .entry_end = 0xfffffe0000000000 + (1ULL << 39),
	},
	/* with five and four levels of page tables; the last page is not used */
	.user_ends = (const uint64_t[]){ (1ULL << 56) - 4096, (1ULL << 47) - 4096, 0 },
	.functions = (const struct arch_functions[]){ { "__x64_sys_", "" }, { NULL, NULL } },
};

/* 32-bit x86; the kernel's register masks are those of x86-64. */
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
	.breakpoints = &(const struct arch_breakpoints){
		.types = 1 << HW_BREAKPOINT_X | 1 << HW_BREAKPOINT_W | 1 << HW_BREAKPOINT_RW,
		.ranges = true, .exec_word = true, .exec_kprobes = true, .kernel_task = true,
	},
	.user_ends = (const uint64_t[]){ 0xc0000000, 0 },
	.functions = (const struct arch_functions[]){
		{ "__ia32_sys_", "ia32_" }, { "__ia32_compat_sys_", "ia32_" }, { NULL, NULL }
	},
};

/* x32: 64-bit registers, 32-bit pointers, calls marked by a bit in their number. */
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

/* 64-bit ARM. */
const struct arch arch_aarch64 = {
	.name = "aarch64",
	.audit = AUDIT_ARCH_AARCH64,
	.word = 8,
	.epoll_size = 16,
	.probe_align = 4,
	.clone_tls_first = true,
	.regs = &xlat_perf_regs_arm64,
	.regs_extended = PERF_REGS_ARM64_EXTENDED_MASK,
	.breakpoints = &(const struct arch_breakpoints){
		.types = 1 << HW_BREAKPOINT_X | 1 << HW_BREAKPOINT_R | 1 << HW_BREAKPOINT_W |
			 1 << HW_BREAKPOINT_RW,
		.any_length = true, .wraps = true, .one_unit = true,
	},
	/* 52 to 36 bits, by page size and levels of page tables */
	.user_ends = (const uint64_t[]){
		1ULL << 52, 1ULL << 48, 1ULL << 47, 1ULL << 42, 1ULL << 39, 1ULL << 36, 0,
	},
	.functions = (const struct arch_functions[]){ { "__arm64_sys_", "" }, { NULL, NULL } },
};

/* 32-bit ARM under a 64-bit kernel, whose register masks it uses. */
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
	.functions = (const struct arch_functions[]){
		{ "__arm64_sys_", "aarch32_" }, { "__arm64_compat_sys_", "aarch32_" },
		{ NULL, NULL }
	},
};

/* 64-bit RISC-V. */
const struct arch arch_riscv64 = {
	.name = "riscv64",
	.audit = AUDIT_ARCH_RISCV64,
	.word = 8,
	.epoll_size = 16,
	.probe_align = 2,
	.clone_tls_first = true,
	.regs = &xlat_perf_regs_riscv,
	/* drivers/perf/riscv_pmu.c sets no capability */
	.core_traits = PMU_TRAIT_NO_AUX | PMU_TRAIT_NO_BRANCHES,
	.functions = (const struct arch_functions[]){ { "__riscv_sys_", "" }, { NULL, NULL } },
};

/* 64-bit little-endian POWER. */
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

/* 64-bit s390 (IBM Z). */
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

/* Any other processor: calls are traced, registers of samples are numbers. */
const struct arch arch_unknown = {
	.name = "unknown",
	.word = sizeof(long),
	.epoll_size = 16,
	.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
};

const struct arch *const arches[] = {
	/* x32 before x86_64: both have one audit number, and x32 has a bit more */
	&arch_x32, &arch_x86_64, &arch_x86, &arch_aarch64, &arch_arm, &arch_riscv64,
	&arch_ppc64le, &arch_s390x, &arch_unknown, NULL,
};

const struct arch *arch_native(void)
{
#if defined(__x86_64__) && defined(__ILP32__)
	return &arch_x32;
#elif defined(__x86_64__)
	return &arch_x86_64;
#elif defined(__i386__)
	return &arch_x86;
#elif defined(__aarch64__)
	return &arch_aarch64;
#elif defined(__arm__)
	return &arch_arm;
#elif defined(__riscv) && __riscv_xlen == 64
	return &arch_riscv64;
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return &arch_ppc64le;
#elif defined(__s390x__)
	return &arch_s390x;
#else
	return &arch_unknown;
#endif
}

/* Finding one ----------------------------------------------------------------------------- */

const struct arch *arch_find(uint32_t audit, uint64_t nr)
{
	for (size_t i = 0; arches[i]; i++)
		if (arches[i]->audit == audit &&
		    (nr & arches[i]->nr_bit) == arches[i]->nr_bit)
			return arches[i];
	return arch_native() == &arch_unknown ? &arch_unknown : NULL;
}

const struct arch *arch_by_name(const char *name)
{
	for (size_t i = 0; arches[i]; i++)
		if (!strcmp(arches[i]->name, name))
			return arches[i];
	return NULL;
}

void arch_offer(struct nearest *n)
{
	for (size_t i = 0; arches[i] != &arch_unknown; i++)
		nearest_try(n, arches[i]->name);
}

bool arch_same_kernel(const struct arch *a, const struct arch *b)
{
	return (a->kernel ? a->kernel : a) == (b->kernel ? b->kernel : b);
}
