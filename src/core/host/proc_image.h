/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A running process as perf records need it: the names of its threads, its executable mappings; and
 * build ids: the note NT_GNU_BUILD_ID of ELF files and of the running kernel.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/host/proc.h"
#include "core/lib/buf.h"

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

enum { PROC_IMAGE_TAG = 8 };	/* bytes that identify the code of a BPF program */

struct proc_image_thread {
	pid_t tid;
	pid_t here;		/* in pevtrace's PID namespace; 0 if it is not read from /proc */
	char comm[16];
};

/* An executable mapping, as in PERF_RECORD_MMAP2. */
struct proc_image_map {
	uint64_t start, end, pgoff;
	uint64_t inode;
	uint32_t major, minor;	/* of its device */
	uint32_t prot, flags;	/* as of mmap(2) */
	char *path;		/* "//anon" if it is of no file */
};

/* A function of a BPF program, or code of the kernel for BPF programs, such as a trampoline. */
struct proc_image_function {
	uint64_t start;
	uint32_t size;		/* bytes */
	uint32_t program;	/* id; 0: none */
	uint8_t tag[PROC_IMAGE_TAG]; /* of the program */
	char *name;
};

/* Zero-initialised is empty. */
struct proc_image {
	pid_t pid, parent;	/* as records have them; pid -1: the kernel, which has no threads */
	pid_t here;		/* the process in our PID namespace */
	uint64_t time_ns;	/* of the sample that it is read for, if it is other than before; else 0 */
	struct proc_image_thread *threads; /* the first one is the leader */
	size_t nthreads;
	struct proc_image_map *maps;
	size_t nmaps;
	struct proc_image_function *functions; /* of the kernel; those of a program together */
	size_t nfunctions;
	struct buf records;	/* NAMESPACES and CGROUP records, without a sample_id */
};

enum { PROC_IMAGE_MAPS = 1 << 16 }; /* the kernel's default limit, vm.max_map_count */

/* Return the process of a task, and its parent unless that is NULL; 0 if it has ended. */
pid_t proc_group_of(pid_t tid, pid_t *parent);

/*
 * Read the process from /proc, with or without its mappings.  Its ids are those in the namespace ns.
 * Return false, with nothing to free, if it has ended or is not in that.
 */
bool proc_image_read(pid_t pid, bool maps, const struct pidns *ns, struct proc_image *p);

/*
 * Read the addresses of the kernel and its modules from /proc/kallsyms and /proc/modules; return
 * false if they are concealed (kptr_restrict).
 */
bool proc_image_read_kernel(struct proc_image *p);

/*
 * Append a NAMESPACES record of each thread; a CGROUP record of each cgroup in the hierarchy of perf
 * events.
 */
void proc_image_add_namespaces(struct proc_image *p);
void proc_image_add_cgroups(struct proc_image *p);

void proc_image_free(struct proc_image *p);

/*
 * The machine code of BPF programs, as perf describes it in records for its readers.  Only root may
 * know it.
 */

/* Read the functions of BPF programs in place of those in p, if other programs are loaded now. */
void proc_image_update_functions(struct proc_image *p);

/*
 * Add code of the kernel for BPF programs, if any are loaded.  That takes a tenth of a second, as
 * it is in /proc/kallsyms only.
 */
void proc_image_add_trampolines(struct proc_image *p);
