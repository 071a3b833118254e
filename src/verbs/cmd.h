/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All verbs except learn, for main(). */
#pragma once

#include "verbs/cli/verb.h"

extern const struct verb codegen_verb, conform_verb, decode_verb, diff_verb,
	explain_verb, help_verb, list_verb, open_verb, ps_verb, replay_verb, report_verb,
	trace_verb, why_verb;
