// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Members and bit-fields of the header's types as the compiler of this processor places them,
 * and as the tables describe them: tests/cross.bats runs it on machines of both byte orders.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "core/abi/layout.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

static int failed;

static void compare(const char *name, const struct layout *l, unsigned int index,
		    const uint8_t *bytes, size_t len, uint64_t want)
{
	uint64_t got = layout_get(l, index, bytes, len);
	uint8_t copy[sizeof(struct perf_event_attr)] = { 0 };

	if (!l->fields[index].word)
		field_set(&l->fields[index], want, copy);
	if (got == want && (l->fields[index].word || !memcmp(bytes, copy, len)))
		return;
	printf("%s is 0x%llx, not 0x%llx\n", name, (unsigned long long)got,
	       (unsigned long long)want);
	failed = 1;
}

/* Bytes of the kernel's type from one offset on against the layout. */
#define COMPARE_IN(type, from, layout, member, index, v) do { \
	type a_ = { 0 }; \
	a_.member = (v); \
	compare(#member, &layout, index, (const uint8_t *)&a_ + (from), sizeof(a_) - (from), (v)); \
} while (0)
#define COMPARE(member, index, v) \
	COMPARE_IN(struct perf_event_attr, 0, layout_perf_event_attr, member, index, v)
#define BRANCH(member, index, v) \
	COMPARE_IN(struct perf_branch_entry, 16, layout_perf_branch_entry_flags, member, \
		   PERF_BRANCH_ENTRY_FLAGS_##index, v)
#define DATA(member, index, v) \
	COMPARE_IN(union perf_mem_data_src, 0, layout_perf_mem_data_src, member, \
		   PERF_MEM_DATA_SRC_##index, v)
#define WEIGHT(member, index, v) \
	COMPARE_IN(union perf_sample_weight, 0, layout_perf_sample_weight, member, \
		   PERF_SAMPLE_WEIGHT_##index, v)

static void attrs(void)
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
}

static void samples(void)
{
	BRANCH(mispred, MISPRED, 1);
	BRANCH(predicted, PREDICTED, 1);
	BRANCH(in_tx, IN_TX, 1);
	BRANCH(abort, ABORT, 1);
	BRANCH(cycles, CYCLES, 0x1234);
	BRANCH(type, TYPE, 0xd);
	BRANCH(spec, SPEC, 1);
	BRANCH(spec, SPEC, 2);
	BRANCH(new_type, NEW_TYPE, 0xb);
	BRANCH(priv, PRIV, 5);
	DATA(mem_op, MEM_OP, 0x12);
	DATA(mem_lvl, MEM_LVL, 0x2345);
	DATA(mem_snoop, MEM_SNOOP, 0x12);
	DATA(mem_lock, MEM_LOCK, 2);
	DATA(mem_dtlb, MEM_DTLB, 0x45);
	DATA(mem_lvl_num, MEM_LVL_NUM, 0xb);
	DATA(mem_remote, MEM_REMOTE, 1);
	DATA(mem_snoopx, MEM_SNOOPX, 2);
	DATA(mem_blk, MEM_BLK, 5);
	DATA(mem_hops, MEM_HOPS, 3);
	WEIGHT(var1_dw, VAR1_DW, 0x12345678);
	WEIGHT(var2_w, VAR2_W, 0x1234);
	WEIGHT(var3_w, VAR3_W, 0x5678);
}

int main(void)
{
	attrs();
	samples();
	return failed;
}
