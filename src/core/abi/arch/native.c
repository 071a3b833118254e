// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/arch.h"

/* A processor without a file here: calls are traced, registers of samples are numbers. */
const struct arch arch_unknown = {
	.name = "unknown",
	.word = sizeof(long),
	.epoll_size = 16,
	.big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
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
