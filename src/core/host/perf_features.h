/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a perf.data file says of the machine: its CPUs, memory and PMUs, in the form of the
 * sections that it has (tools/perf/util/header.c, and
 * tools/perf/Documentation/perf.data-file-format.txt).
 */
#pragma once

#include "core/lib/buf.h"

enum { PERF_FEATURES = 32 };

/* The sections, by their numbers (HEADER_CPUDESC, ...); empty ones are not known. */
struct perf_features {
	struct buf sections[PERF_FEATURES];
};

/* Append a length and a string of that length, as perf pads it. */
void perf_features_string(struct buf *b, const char *text);

enum { PERF_CPU_TEXT = 256 };

/* Read the model and the identifier of the first CPU, as perf has them. */
void perf_features_cpu(char desc[PERF_CPU_TEXT], char id[PERF_CPU_TEXT]);

/* Read what /proc and /sys say of this machine, and the command line of this process. */
void perf_features_read(struct perf_features *f);
void perf_features_free(struct perf_features *f);
