/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Structures as manuals write them: nearly C, with conditions in comments. */
#ifndef PEVTRACE_CONFORM_PSEUDO_H
#define PEVTRACE_CONFORM_PSEUDO_H

#include "conform/api_desc.h"

/*
 * Reads every structure in the text, the first line of which is line, and adds
 * them to out.  Members of structures and unions inside are the outer one's
 * own, each in its place as the C ABI of x86-64 has it.  A member depends on
 * the constants in a comment "if A || B" behind it or behind its braces.
 *
 * What C does not allow, but pages have: several names with "/" between them
 * for one member, missing semicolons, a group in braces without a type.
 */
void pseudo_structs(const char *text, unsigned int line, struct api_desc *out);

/* Reads members, without "struct" and braces around them. */
void pseudo_members(const char *text, unsigned int line, struct api_struct *out);

#endif
