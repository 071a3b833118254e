/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface in pevtrace's own tables, as a struct api_desc. */
#pragma once

#include "conform/api_desc.h"

/*
 * Read the constants of perf's headers, ioctls and structures.  The set of a name is its
 * table, its file the header that defines it.
 */
void tables_read(struct api_desc *out);

/* Describe a record of that type with its header, as a structure without name. */
void tables_record(uint32_t type, struct api_struct *out);

/* Describe the sample_id at the end of records other than samples. */
void tables_sample_id(struct api_struct *out);

/* Describe what a read returns with every bit of read_format. */
void tables_read_format(bool group, struct api_struct *out);

/* Return the text of the row with that name, or NULL. */
const char *tables_pair(const struct pair_desc *list, const char *name);

/*
 * Write "6.1" for KVER(6, 1, 0) to text, of at least 16 bytes, and return it: the release of
 * Linus Torvalds' tree, also of what an update brought to the series before.
 */
const char *tables_release(uint32_t since, char *text);
