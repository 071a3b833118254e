/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why the kernel refused a call on an event or its ring buffer: the checks (core/abi/refusals.h),
 * applied to what the model knows of the event, and the error that was seen.
 */
#pragma once

#include "core/abi/refusals.h"
#include "core/host/facts.h"
#include "core/model/model.h"

struct refused {
	const struct refusal_desc *cause;	/* NULL: no check explains the error */
	bool sure;		/* it refused the call; else it may have */
	struct buf numbers;	/* that decide it, in words; perhaps empty; owned */
	uint64_t pages;		/* of the ring buffer that the event has, for records; 0: none */
	struct refusal_verdict verdict;
};

/* Where a call was made. */
struct refused_where {
	const struct facts *facts;	/* of this machine; NULL: the rest describes another one */
	uint32_t release;		/* KVER(); 0: not known */
	const struct arch *arch;
	const struct names *names;
};

/*
 * Judge the call in the state of the model, in which it is made or has failed with error (0: not
 * known).  The caller frees out->numbers.
 */
void judge_call(const struct model *m, const struct call *c, const struct refused_where *where,
		int error, struct refused *out);

/* Append "perhaps: MEANING: NUMBERS"; without "perhaps: " if it is sure. */
void refused_text(const struct refused *r, struct buf *out);

/* Note why the call, which has failed in the state of the model, was refused, if that is known. */
void judge_note_refused(const struct model *m, const struct call *c,
			const struct refused_where *where, struct sink *sink);
