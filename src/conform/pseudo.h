/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Structures in manual pages: C with deviations, and conditions in comments. */
#pragma once

#include "conform/api_desc.h"

/*
 * Read all structures of a text that begins on that line, and add them to out.  Members of
 * inner structures and unions become members of the outer one, with their offsets in the C
 * ABI of x86-64.  A comment "if A || B" after a member or a block makes it depend on these
 * constants.
 *
 * Pages may have what C does not allow: several names of one member separated by "/",
 * missing semicolons, and blocks without "struct".
 */
void pseudo_structs(const char *text, unsigned int line, struct api_desc *out);

/* Read members, without "struct" and braces around them. */
void pseudo_members(const char *text, unsigned int line, struct api_struct *out);
