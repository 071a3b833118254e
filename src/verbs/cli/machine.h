/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names on this machine, or the one of a file: PMUs, tracepoints, descriptors, functions. */
#pragma once

#include "core/abi/call.h"
#include "core/host/facts.h"
#include "verbs/cli/showing.h"

struct machine {
	struct names names;	/* must be first: hooks cast it back */
	struct host *host;
	struct symbols *symbols;	/* NULL unless asked for */
	struct facts facts;	/* of another machine, or unused */
	const char *path;	/* of the machine file, or NULL: this machine, or an unknown one */
	char link[4096];	/* what names.fd returned last */
	struct bpf_program program;	/* what names.program returned last */
};

/* Provide names of PMUs and tracepoints, for decoding without a session. */
void machine_open(struct machine *m);

/* The --machine that means this machine. */
#define MACHINE_HERE "here"

/*
 * The same of a machine file, or the header of a dump; path: NULL or MACHINE_HERE: this machine.  Die if
 * it is none.
 */
void machine_open_file(struct machine *m, const char *path);

/*
 * Know nothing of the machine from now on, as that of a pasted log, unless --machine was given.  Return
 * false if it is not this machine's already.
 */
bool machine_leave_here(struct machine *m, const char *given);

/*
 * If m is not known, append what this machine has by the number in an attr, as a guess by name only: "on
 * this machine, type 8 is uprobe".  Return false if there is nothing to say.
 */
bool machine_add_guess(const struct machine *m, const uint8_t *attr, size_t len, struct buf *out);

/* Append, or show, "For the machine of FILE, Linux 6.1.0, x86_64:", unless it is this machine. */
void machine_add_words(const struct machine *m, struct buf *out);
void machine_show(const struct machine *m, struct showing *s);

/* Provide names of descriptors, too, and of functions if symbols is set. */
void machine_live(struct machine *m, bool symbols);

/* Free what either allocated. */
void machine_close(struct machine *m);
