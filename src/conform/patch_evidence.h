/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The evidence for a change of the page, in the message of its commit. */
#pragma once

#include <stdbool.h>

#include "conform/finding.h"
#include "core/lib/buf.h"

/* Return true if the finding comes from an experiment: a false claim, or what the page omits. */
bool patch_is_tried(const struct finding *f);

/* Append what shows a difference between descriptions: the release, the commit, the source. */
void patch_add_fact(const struct finding *f, struct buf *out);

/* Return true if the finding is about one name, and the commit that added it is known. */
bool patch_has_commit(const struct finding *f);

/* Append the commits of Linux that a message names, with their titles, as man-pages wants them. */
void patch_add_commits(const char *message, struct buf *out);

/*
 * Append the experiment of a claim, if it was made on this kernel: its calls, without what
 * differs from run to run.
 */
void patch_add_experiment(const char *kernel, const struct finding *f, struct buf *out);
