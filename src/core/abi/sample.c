// SPDX-License-Identifier: LGPL-2.1-or-later
/* The order of parts in a sample, and in the sample_id of other records. */
#include "core/abi/layout.h"
#include "core/abi/record_walk.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

#define FIXED(bit, name) \
	{ .bits = PERF_SAMPLE_##bit, .layout = &layout_perf_sample_##name }
#define VARYING(bit, name, part, how) \
	{ .bits = PERF_SAMPLE_##bit, .key = #name, .need = part##_need, \
	  .emit = part##_emit, .swap = how }
/* eight bytes that are more than one member */
#define WORD(bit, name) \
	{ .bits = PERF_SAMPLE_##bit, .key = #name, .need = word_need, \
	  .emit = name##_emit }

const struct slot sample_slots[] = {
	FIXED(IDENTIFIER, identifier),
	FIXED(IP, ip),
	FIXED(TID, tid),
	FIXED(TIME, time),
	FIXED(ADDR, addr),
	FIXED(ID, id),
	FIXED(STREAM_ID, stream_id),
	FIXED(CPU, cpu),
	FIXED(PERIOD, period),
	VARYING(READ, read, read, NULL),
	VARYING(CALLCHAIN, callchain, callchain, NULL),
	VARYING(RAW, raw, raw, raw_swap),
	VARYING(BRANCH_STACK, branch_stack, branches, branches_swap),
	VARYING(REGS_USER, regs_user, regs_user, NULL),
	VARYING(STACK_USER, stack_user, stack, stack_swap),
	WORD(WEIGHT_TYPE, weight),
	WORD(DATA_SRC, data_src),
	WORD(TRANSACTION, transaction),
	VARYING(REGS_INTR, regs_intr, regs_intr, NULL),
	FIXED(PHYS_ADDR, phys_addr),
	FIXED(CGROUP, cgroup),
	FIXED(DATA_PAGE_SIZE, data_page_size),
	FIXED(CODE_PAGE_SIZE, code_page_size),
	VARYING(AUX, aux, aux, aux_swap),
	{ .bits = 0 },
};

const struct slot sample_id_slots[] = {
	FIXED(TID, tid),
	FIXED(TIME, time),
	FIXED(ID, id),
	FIXED(STREAM_ID, stream_id),
	FIXED(CPU, cpu),
	FIXED(IDENTIFIER, identifier),
	{ .bits = 0 },
};
