// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Bit-fields of perf_event_attr, as the compiler of this processor places them and as the tables
 * describe them: tests/cross.bats runs it on machines of both byte orders.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "abi/layout.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

static int failed;

static void compare(const char *name, unsigned int index, const struct perf_event_attr *a,
		    uint64_t want)
{
	uint64_t got = layout_get(&layout_perf_event_attr, index, a, sizeof(*a));
	struct perf_event_attr b = { 0 };

	field_set(&layout_perf_event_attr.fields[index], want, (uint8_t *)&b);
	if (got == want && !memcmp(a, &b, sizeof(b)))
		return;
	printf("%s is 0x%llx, not 0x%llx\n", name, (unsigned long long)got,
	       (unsigned long long)want);
	failed = 1;
}

#define COMPARE(member, index, v) do { \
	struct perf_event_attr a_ = { 0 }; \
	a_.member = (v); \
	compare(#member, index, &a_, (v)); \
} while (0)

int main(void)
{
	COMPARE(type, ATTR_TYPE, 0x1234567);
	COMPARE(config, ATTR_CONFIG, 0x123456789abcdef0);
	COMPARE(disabled, ATTR_DISABLED, 1);
	COMPARE(inherit, ATTR_INHERIT, 1);
	COMPARE(exclude_kernel, ATTR_EXCLUDE_KERNEL, 1);
	COMPARE(freq, ATTR_FREQ, 1);
	COMPARE(precise_ip, ATTR_PRECISE_IP, 1);
	COMPARE(precise_ip, ATTR_PRECISE_IP, 2);
	COMPARE(mmap2, ATTR_MMAP2, 1);
	COMPARE(write_backward, ATTR_WRITE_BACKWARD, 1);
	COMPARE(cgroup, ATTR_CGROUP, 1);
	COMPARE(sigtrap, ATTR_SIGTRAP, 1);
	COMPARE(bp_type, ATTR_BP_TYPE, 3);
	COMPARE(sample_max_stack, ATTR_SAMPLE_MAX_STACK, 0x1234);
	return failed;
}
