/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A child and its parent take turns: a byte on a socket between them says so. */
#ifndef PEVTRACE_DRIVE_TURNS_H
#define PEVTRACE_DRIVE_TURNS_H

#include <stdbool.h>

/* It is the other's turn; false: there is nobody there any more. */
bool turn_pass(int link);

/* Waits for ours; false: the other has gone. */
bool turn_wait(int link);

#endif
