/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of code addresses: the kernel's from /proc/kallsyms, those of programs from the
 * symbols and debug information of the ELF files that they have mapped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/host/symtab.h"

struct symbols;

/* Return whether this program can read the symbols of files: libdw is built in. */
bool symbols_of_files(void);

/*
 * Create an empty table.  proc is where proc is mounted, NULL for "/proc"; the string
 * must outlive the table.  Never NULL.
 */
struct symbols *symbols_new(const char *proc);
void symbols_free(struct symbols *y);

/*
 * Return what is at address ip of the process pid, or of the kernel: "schedule+0x4
 * (kernel)", "ext4_sync_fs+0x8 (ext4)", "main+0x12 (demo) demo.c:42 (inner inlined at
 * demo.c:57)".  The source line is there if the file has debug information.  An address
 * that no symbol covers is an offset in its file, "demo+0x1140", as is every one without
 * libdw.  NULL if nothing is mapped there.  Bytes that a terminal might interpret are
 * \ooo.  Valid until the next call.
 *
 * after_call: ip is where a call returns to, so the name is that of the call.
 *
 * /proc/PID/maps is read when a process is first asked for, and again (at most once a
 * second) when nothing is known to be mapped at ip.
 */
const char *symbols_name(struct symbols *y, pid_t pid, uint64_t ip, bool kernel,
			 bool after_call);

/*
 * Return the symbol and source lines at address ip of the process pid, or NULL if its
 * file cannot be read or libdw is not built in.  Valid until the next call.
 */
const struct code *symbols_code(struct symbols *y, pid_t pid, uint64_t ip, bool after_call);

/*
 * Add a mapping of code: len bytes at start, from byte pgoff of path on.  Replaces what
 * was mapped there.  A pid below 1 is ignored: records of the kernel's code have -1.
 */
void symbols_map(struct symbols *y, pid_t pid, uint64_t start, uint64_t len,
		 uint64_t pgoff, const char *path);

/* Give child the mappings that parent has. */
void symbols_fork(struct symbols *y, pid_t parent, pid_t child);

/*
 * Forget the mappings of a process that has called execve, or whose pid may be reused.
 * Until then those of an exited process remain.
 */
void symbols_forget(struct symbols *y, pid_t pid);

/*
 * Update the mappings from a record of len bytes: PERF_RECORD_MMAP, MMAP2, FORK, and COMM
 * on exec.  Others are ignored.
 */
void symbols_record(struct symbols *y, const uint8_t *bytes, size_t len);
