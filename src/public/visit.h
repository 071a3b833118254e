/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sink that passes values to a function of the library's caller. */
#pragma once

#include "core/abi/sink.h"
#include "public/pevtrace.h"

struct visit_sink {
	struct sink sink;
	pevtrace_visit_fn *visit;
	void *context;
	int ended;	/* what visit returned to end; 0: it goes on */
};

void visit_sink_init(struct visit_sink *v, pevtrace_visit_fn *visit, void *context);
