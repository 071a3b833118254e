// SPDX-License-Identifier: LGPL-2.1-or-later
/* Every call that is decoded: perf_event_open, read, poll, sendmsg, ... */
#include "fuzz_call.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t which;

	fuzz_take(&data, &len, &which, 1);
	fuzz_call(&call_descs[which % CALL_COUNT], data, len);
	return 0;
}
