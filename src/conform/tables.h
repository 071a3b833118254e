/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What our own tables say of the interface, in the shape that the other sources have. */
#ifndef PEVTRACE_CONFORM_TABLES_H
#define PEVTRACE_CONFORM_TABLES_H

#include "conform/api_desc.h"

/*
 * Constants of perf's headers, ioctls, and the structures that headers have.
 * Names have their table as set and the header that defines them as file.
 */
void tables_read(struct api_desc *out);

/* A record of that type with its header, as "struct" without a name. */
void tables_record(uint32_t type, struct api_struct *out);

/* What records other than samples end with. */
void tables_sample_id(struct api_struct *out);

/* What a read returns, with all that read_format can ask for. */
void tables_read_format(bool group, struct api_struct *out);

/* The text of a row of a list, by its name; NULL: there is none. */
const char *tables_pair(const struct pair_desc *list, const char *name);

/* The release that is newest of all in the tables, KVER(). */
uint32_t tables_newest(void);

/* "6.1" for KVER(6, 1, 0), in a buffer of the caller's of at least 16 bytes. */
const char *tables_release(uint32_t since, char *text);

#endif
