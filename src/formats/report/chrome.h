/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace in the Trace Event Format of Chrome, for Perfetto; written in constant memory. */
#pragma once

#include "core/lib/output.h"
#include "core/session/view.h"
#include "formats/dump/reader.h"

/* names, facts and out must outlive the view; freeing it ends the file. */
struct view *chrome_view_new(const struct names *names, const struct session_facts *facts,
			     struct output *out);
