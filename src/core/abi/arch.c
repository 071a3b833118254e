// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/arch.h"

#include <string.h>

#include "core/lib/nearest.h"

const struct arch *const arches[] = {
	/* x32 before x86_64: both have one audit number, and x32 has a bit more */
	&arch_x32, &arch_x86_64, &arch_x86, &arch_aarch64, &arch_arm, &arch_riscv64,
	&arch_ppc64le, &arch_s390x, &arch_unknown, NULL,
};

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
