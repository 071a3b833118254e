/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A view of the files whose code is mapped in measured processes: it reports their build ids. */
#pragma once

#include "core/session/session.h"

/* Report to the session, which must outlive it, when the session is idle. */
struct view *mapped_files_new(struct session *s);

/* Report the files that were not reported, before the session ends. */
void mapped_files_report(struct view *v);
