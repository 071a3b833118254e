/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names on this machine: PMUs, tracepoints, descriptors, functions. */
#pragma once

#include "core/abi/call.h"

struct machine {
	struct names names;	/* must be first: hooks cast it back */
	struct host *host;
	struct symbols *symbols;	/* NULL unless asked for */
	char link[4096];	/* what names.fd returned last */
	struct bpf_program program;	/* what names.program returned last */
};

/* Provide names of PMUs and tracepoints, for decoding without a session. */
void machine_open(struct machine *m);

/* Provide names of descriptors, too, and of functions if symbols is set. */
void machine_live(struct machine *m, bool symbols);

/* Free what either allocated. */
void machine_close(struct machine *m);
