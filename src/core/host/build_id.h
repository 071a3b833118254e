/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Build ids: the note NT_GNU_BUILD_ID of ELF files and of the running kernel. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { BUILD_ID_BYTES = 20 };	/* the most that perf keeps */

/* perf's names for the kernel and its code in processes, which have build ids, too. */
#define BUILD_ID_KERNEL "[kernel.kallsyms]"
#define BUILD_ID_VDSO "[vdso]"

/*
 * Read the build id of an ELF file, of this machine's byte order, by its path in the root directory
 * of a process, or in our own if that has ended; return its size, or 0.
 */
size_t build_id_of_file(pid_t pid, const char *path, uint8_t id[BUILD_ID_BYTES]);

/* Read that of the code that the kernel maps into processes like this one (vdso(7)). */
size_t build_id_of_vdso(uint8_t id[BUILD_ID_BYTES]);

/* Read the build id of the running kernel; return its size, or 0. */
size_t build_id_of_kernel(uint8_t id[BUILD_ID_BYTES]);
