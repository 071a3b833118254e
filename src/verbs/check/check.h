/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "verbs/judge/judge.h"

/* Show the call, what the rules predict, and what the kernel answered. */
void check_show(struct judge *k, const struct judge_call *c, const struct judge_result *r);
