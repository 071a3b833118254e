/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plain English as man(7) source. */
#pragma once

#include "conform/compare.h"
#include "core/lib/buf.h"

/*
 * Append sentences as man(7) source: constants and errors bold, members italic, references
 * as in "ioctl(2)", a new line at the end of a sentence and after clauses of long ones.
 */
void patch_prose(const struct conform *c, const char *text, struct buf *out);

/* Append a tag: "" or " (since Linux X)" after the name, in that font ('B' or 'I'). */
void patch_tag(char font, const char *name, uint32_t since, struct buf *out);

/* Append the lines of a text in at most 72 columns; all but the first have hang before them. */
void patch_wrap(const char *text, size_t hang, struct buf *out);
