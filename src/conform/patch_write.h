/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of a manual page, written from the tables. */
#pragma once

#include "conform/compare.h"
#include "core/lib/buf.h"

/*
 * Append the entry of a constant, an ioctl, or a member ("perf_event_attr.config3"), with the
 * constants that a member may have.  Return false if the tables do not have the name.
 */
bool patch_write_entry(const struct conform *c, const char *name, struct buf *out);

/* Append the causes of an error, or errors of a call, that a finding lists line by line. */
void patch_write_errors(const struct conform *c, const char *detail, struct buf *out);

/* Append an entry of the list of errors with such causes. */
void patch_write_errno(const struct conform *c, const char *name, const char *detail,
		       struct buf *out);

/* Append the line of a member in the layout of a structure, in the form of a line there. */
void patch_write_member(const char *structure, const struct api_member *m, const char *like,
			struct buf *out);
