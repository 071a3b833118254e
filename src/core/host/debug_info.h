/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Symbols and source lines of an ELF file, by libdw.  libdw crashes and loops over
 * some malformed files: use it in a helper (core/lib/helper.h) only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/host/code.h"

struct debug_info;

/*
 * Read the symbols of the ELF file that fd is open on, from the file itself or from
 * separate debug information of the same build ID.  path is where the file was found.
 * Takes fd over.  Never NULL.
 */
struct debug_info *debug_info_new(int fd, const char *path);
void debug_info_free(struct debug_info *d);

/*
 * Find the symbol and source lines at byte offset of the file.  after_call: offset is the
 * return address of a call; use the byte before it.
 */
void debug_info_find(struct debug_info *d, uint64_t offset, bool after_call, struct code *c);
