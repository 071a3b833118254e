/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The machine code of BPF programs, as perf describes it in records for its readers.  Only root may
 * know it.
 */
#pragma once

#include "core/host/proc_image.h"

/* Read the functions of BPF programs in place of those in p, if other programs are loaded now. */
void proc_image_update_functions(struct proc_image *p);

/*
 * Add code of the kernel for BPF programs, if any are loaded.  That takes a tenth of a second, as
 * it is in /proc/kallsyms only.
 */
void proc_image_add_trampolines(struct proc_image *p);
