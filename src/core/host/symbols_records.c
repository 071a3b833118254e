// SPDX-License-Identifier: LGPL-2.1-or-later
/* Records about mappings of code. */
#include <string.h>

#include "core/abi/layout.h"
#include "core/host/symbols.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

static void symbols_record_mmap(struct symbols *y, const uint8_t *bytes, size_t len, size_t name_at)
{
	const struct layout *l = &layout_perf_record_mmap;

	/* ignore a record whose name has no end */
	if (len <= name_at || !memchr(bytes + name_at, '\0', len - name_at))
		return;
	symbols_map(y, (pid_t)layout_get(l, PERF_RECORD_MMAP_PID, bytes, len),
		    layout_get(l, PERF_RECORD_MMAP_ADDR, bytes, len),
		    layout_get(l, PERF_RECORD_MMAP_LEN, bytes, len),
		    layout_get(l, PERF_RECORD_MMAP_PGOFF, bytes, len),
		    (const char *)bytes + name_at);
}

void symbols_record(struct symbols *y, const uint8_t *bytes, size_t len)
{
	uint32_t type = len >= 8 ? (uint32_t)load_uint(bytes, 4) : 0;
	uint16_t misc = len >= 8 ? (uint16_t)load_uint(bytes + 4, 2) : 0;
	uint32_t pid = len >= 16 ? (uint32_t)load_uint(bytes + 8, 4) : 0;
	uint32_t second = len >= 16 ? (uint32_t)load_uint(bytes + 12, 4) : 0;

	switch (type) {
	case PERF_RECORD_MMAP:
		symbols_record_mmap(y, bytes, len, layout_perf_record_mmap.size);
		break;
	case PERF_RECORD_MMAP2: /* begins like MMAP */
		symbols_record_mmap(y, bytes, len, layout_perf_record_mmap2.size);
		break;
	case PERF_RECORD_FORK: /* of a process, if the pids differ */
		if (pid != second)
			symbols_fork(y, (pid_t)second, (pid_t)pid);
		break;
	case PERF_RECORD_COMM: /* records of the new program's mappings follow */
		if (misc & PERF_RECORD_MISC_COMM_EXEC)
			symbols_forget(y, (pid_t)pid);
		break;
	}
}
