/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What C headers say of the interface, as a compiler understands them. */
#ifndef PEVTRACE_CONFORM_HEADER_H
#define PEVTRACE_CONFORM_HEADER_H

#include "conform/api_desc.h"

/*
 * Compiles the headers, each a path, or "<name>" to have the compiler look for
 * it, and adds what they themselves (not what they include) define: macros and
 * enumerators with values, structures with the places of their members.
 * out->file is set to the path of the first.  False after a warn(): there is
 * no compiler that writes BTF ($CC, cc or gcc), a header does not compile, or
 * we were built without libbpf.
 */
bool header_read(const char *const *headers, size_t n, struct api_desc *out);

#endif
