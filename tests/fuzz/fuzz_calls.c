// SPDX-License-Identifier: LGPL-2.1-or-later
/* Every call that is decoded, of each kind of processor: perf_event_open, read, poll, sendmsg, ... */
#include "fuzz_call.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct arch *const kinds[] = {
		arch_native(), &arch_x86, &arch_aarch64, &arch_arm, &arch_x32, &arch_ppc64le,
	};
	uint8_t which;

	fuzz_take(&data, &len, &which, 1);
	fuzz_call(&call_descs[which % CALL_COUNT],
		  kinds[which / CALL_COUNT % (sizeof(kinds) / sizeof(*kinds))], data, len);
	return 0;
}
