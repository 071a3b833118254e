/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sets of CPUs, as sysfs and users write them: "0-3,8". */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { CPUS_MAX = 8192 };

struct cpus {
	int *of;	/* in the order written, each once; owned */
	size_t n;
};

/* Parse the whole text; return false if it is no such list. */
bool cpus_parse(struct cpus *c, const char *text);

/* Read which CPUs are online, from sysfs; CPU 0 if that is unreadable. */
void cpus_online(struct cpus *c);
bool cpus_have(const struct cpus *c, int cpu);
void cpus_free(struct cpus *c);
