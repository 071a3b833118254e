// SPDX-License-Identifier: LGPL-2.1-or-later
#include "abi/arch.h"

#include <string.h>

const struct arch *const arches[] = {
	/* x32 before x86_64: both have one audit number, and x32 has a bit more */
	&arch_x32, &arch_x86_64, &arch_x86, &arch_aarch64, &arch_arm, &arch_riscv64, NULL,
};

const struct arch *arch_find(uint32_t audit, uint64_t nr)
{
	for (size_t i = 0; arches[i]; i++)
		if (arches[i]->audit == audit &&
		    (nr & arches[i]->nr_bit) == arches[i]->nr_bit)
			return arches[i];
	return NULL;
}

const struct arch *arch_by_name(const char *name)
{
	for (size_t i = 0; arches[i]; i++)
		if (!strcmp(arches[i]->name, name))
			return arches[i];
	return NULL;
}

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
#else
#error "pevtrace does not know this architecture yet: add a file to src/abi/arch/"
#endif
}
