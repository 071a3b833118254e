/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A child and its parent run in turn: each passes the turn by a byte on a socket. */
#pragma once

#include <stdbool.h>

/* Pass the turn to the other process; return false if it is gone. */
bool turn_pass(int link);

/* Wait for the turn; return false if the other process is gone. */
bool turn_wait(int link);
