/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A machine as an object of JSON: the first line of pevtrace list --tried --json, which has no names of
 * hosts, users and programs.  The header of a dump has some of the same members.
 */
#pragma once

#include <stdio.h>

#include "core/host/facts.h"
#include "formats/json/json_text.h"

/* Add the members to the object.  tracepoints: with the ids of those that the kernel was built with. */
void machine_file_add(struct json_text *o, const struct facts *f, bool tracepoints);

/*
 * Read a machine file, or the header of a dump; what it does not have is unknown.  Return false after a
 * warn().  f->host is of that machine, so *f must remain where it is.  path is for messages.
 */
bool machine_file_read(FILE *file, const char *path, struct facts *f);
void machine_file_free(struct facts *f);
