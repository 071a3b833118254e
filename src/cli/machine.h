/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What this machine calls things. */
#ifndef PEVTRACE_CLI_MACHINE_H
#define PEVTRACE_CLI_MACHINE_H

#include "abi/call.h"

struct machine {
	struct names names;	/* first: the hooks get it back */
	struct host *host;
	struct symbols *symbols;	/* NULL unless asked for */
	char link[4096];	/* what names.fd returned last */
};

/* Names of PMUs and tracepoints: for what is decoded without a session. */
void machine_open(struct machine *m);

/* Those of descriptors, too, and of functions where symbols says so. */
void machine_live(struct machine *m, bool symbols);

/* Frees either. */
void machine_close(struct machine *m);

/* The number of a PMU of sysfs; false when there is none of that name. */
bool machine_pmu_type(const char *name, uint64_t *type);

/* The id of "system:name"; false when tracefs does not tell. */
bool machine_tracepoint_id(const char *name, uint64_t *id);

#endif
