/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of code addresses: the kernel's from /proc/kallsyms, those of programs
 * from their mappings and the symbol tables of the ELF files mapped there.
 */
#ifndef PEVTRACE_HOST_SYMBOLS_H
#define PEVTRACE_HOST_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct symbols;

/*
 * proc is where proc is mounted, NULL for "/proc"; the string must outlive
 * this.  Nothing is read before the first question.  Never NULL.
 */
struct symbols *symbols_new(const char *proc);
void symbols_free(struct symbols *y);

/*
 * What is at address ip of the process pid, or of the kernel: "main+0x12
 * (demo)", "schedule+0x4 (kernel)", "ext4_sync_fs+0x8 (ext4)".  Where no symbol
 * covers it, or libelf is not built in, "demo+0x1140": the offset in the file.
 * NULL when nothing is known.  Bytes that a terminal might obey are \ooo.
 * Valid until the next call.
 *
 * A process is looked up in /proc when it is first asked for, and again (once
 * a second at most) when it has nothing at ip.
 */
const char *symbols_name(struct symbols *y, pid_t pid, uint64_t ip, bool kernel);

/*
 * Reads the mappings of a running process now: for one that will not be there
 * any more when its addresses turn up.
 */
void symbols_look(struct symbols *y, pid_t pid);

/*
 * The process has mapped code: len bytes at start, from byte pgoff of path on
 * (PERF_RECORD_MMAP, PERF_RECORD_MMAP2).  Replaces what was there.  Records
 * with pid -1 are the kernel's own and are ignored.
 */
void symbols_map(struct symbols *y, pid_t pid, uint64_t start, uint64_t len,
		 uint64_t pgoff, const char *path);

/* child starts with the mappings that parent has (PERF_RECORD_FORK). */
void symbols_fork(struct symbols *y, pid_t parent, pid_t child);

/*
 * Forgets the mappings: the process has called execve, or its pid is free for
 * another.  Until then they answer for a process that has exited, too.
 */
void symbols_forget(struct symbols *y, pid_t pid);

/*
 * Takes what a ring-buffer record tells of mappings (MMAP, MMAP2, FORK, COMM on
 * exec); others are passed over.  len is that of the record.
 */
void symbols_record(struct symbols *y, const uint8_t *bytes, size_t len);

#endif
