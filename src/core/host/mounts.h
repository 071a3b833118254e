/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file systems by which the kernel tells facts, and what to do where one is missing. */
#pragma once

/* Return why /proc cannot be used, and what to do; NULL if it can.  A constant string. */
const char *mounts_proc_missing(void);

/* Return the same of sysfs in /sys. */
const char *mounts_sys_missing(void);

/*
 * Return the same of the directories of sysfs that list the PMUs: whether something is mounted over
 * one, or they are empty, which they are in no kernel that has perf events.
 */
const char *mounts_pmus_missing(void);

/* Warn about each of the two that is missing. */
void mounts_warn(void);

/* Warn of that, and of a /proc without /proc/sys, which judging calls requires. */
void mounts_warn_facts(void);
