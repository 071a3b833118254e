/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The interface in C headers, as a compiler reads it. */
#pragma once

#include "conform/api_desc.h"

/*
 * Compile headers, each a path or "<name>", and add what they define themselves, without
 * what they include: macros and enumerators with values, structures with offsets.  Set
 * out->file to the path of the first.  Return false after a warn(): no compiler writes BTF
 * ($CC, cc, gcc), a header does not compile, or this build lacks libbpf.
 */
bool header_read(const char *const *headers, size_t n, struct api_desc *out);
