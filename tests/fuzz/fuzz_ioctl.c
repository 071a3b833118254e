// SPDX-License-Identifier: LGPL-2.1-or-later
/* ioctls on events: their arguments and what these point to. */
#include "fuzz_call.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t which;
	uint8_t *known;

	fuzz_take(&data, &len, &which, 1);
	fuzz_call(call_by_name("ioctl"), arch_native(), data, len);
	if (len < 16)
		return 0;
	/* and as a request that there is */
	known = malloc(len);
	memcpy(known, data, len);
	memcpy(known + 8, &(uint64_t){ ioctl_descs[which % ioctl_ndescs].request }, 8);
	fuzz_call(call_by_name("ioctl"), which & 1 ? &arch_arm : arch_native(), known, len);
	free(known);
	return 0;
}
