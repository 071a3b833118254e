/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file systems by which the kernel tells facts, and what to do where one is missing. */
#pragma once

/* Return why /proc cannot be used, and what to do; NULL if it can.  A constant string. */
const char *mounts_proc_missing(void);

/* Return the same of sysfs in /sys. */
const char *mounts_sys_missing(void);

/* Warn about each of the two that is missing. */
void mounts_warn(void);

/* Warn of that, and of a /proc without /proc/sys, which judging calls requires. */
void mounts_warn_facts(void);
