/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Libraries that few runs use: each is loaded at the first call of one of its functions, as
 * loading all of them takes a quarter of a short trace.
 */
#pragma once

#include <stdbool.h>

/*
 * Load libraries, names for dlopen(3) separated by blanks, of which the first may need the
 * others.  Return false after a warn() if one is missing.
 */
bool late_load(const char *libraries);

/* Return the address of a function or object of libraries; die if it is missing. */
void *late_symbol(const char *libraries, const char *name);

/* f of libraries; looked up once at each place that uses it. */
#define LATE_SYMBOL(libraries, f) ({ \
	static __typeof__(&(f)) late_address; \
	if (!late_address) \
		late_address = (__typeof__(&(f)))late_symbol(libraries, #f); \
	late_address; })

/*
 * DW(dwarf_tag)(die): call a function of a library of configure's.
 * LATE_LOAD(LIBDW): late_load() it; required before a fork to helpers, which cannot warn.
 * With --disable-late-loading, the linker has done both.
 */
#if defined LATE_LOADING && !defined LINK_LATE
#define LATE(library, f) LATE_SYMBOL(LATE_##library, f)
#define LATE_LOAD(library) late_load(LATE_##library)
#else
#define LATE(library, f) (&(f))
#define LATE_LOAD(library) true
#endif

#define BPF(f) LATE(LIBBPF, f)
#define DW(f) LATE(LIBDW, f)
#define LZMA(f) LATE(LZMA, f)
#define UNW(f) LATE(UNWIND, f)
#define ZLIB(f) LATE(ZLIB, f)
