/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace as a dump: JSON Lines, see pevtrace-json(5). */
#pragma once

#include "core/lib/output.h"
#include "core/session/session.h"

/*
 * Return a view that writes lines to out.  facts are for the first line, and used
 * here only; m, names and out must outlive the view.  Calls that ended in another way than
 * status (a set of enum call_status) are left out, unless others cannot be understood without
 * them: opens, mappings, closes, ioctls.
 */
struct view *dump_view_new(const struct session_facts *facts, const struct model *m,
			   const struct names *names, struct output *out, unsigned int status);
