// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/confine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Return the value of a line "Name:\tvalue", or NULL. */
static const char *value_of(const char *line, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(line, name, len) && line[len] == ':' ? line + len + 1 : NULL;
}

static void read_status(struct confinement *c)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	const char *v;

	while (f && fgets(line, sizeof(line), f)) {
		if ((v = value_of(line, "Seccomp")))
			c->seccomp = (int)strtol(v, NULL, 10);
		else if ((v = value_of(line, "Seccomp_filters")))
			c->filters = (int)strtol(v, NULL, 10);
		else if ((v = value_of(line, "NoNewPrivs")))
			c->no_new_privs = strtol(v, NULL, 10);
		else if ((v = value_of(line, "CapBnd")))
			c->bounding = strtoull(v, NULL, 16);
	}
	if (f) {
		fclose(f);
		return;
	}
	/* some filters refuse this call, so it is made without /proc only */
	c->seccomp = prctl(PR_GET_SECCOMP) > 0 ? 2 : 0;
	c->no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0L, 0L, 0L, 0L) > 0;
}

/* Return whether a line of the file has the word. */
static bool line_has(const char *path, const char *word)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;
	bool found = false;

	while (f && !found && getline(&line, &cap, f) > 0)
		found = strstr(line, word);
	free(line);
	if (f)
		fclose(f);
	return found;
}

bool confine_virtual(void)
{
	static const struct {
		const char *path, *word;
	} signs[] = {
		{ "/proc/cpuinfo", " hypervisor" },			/* x86: a flag */
		{ "/sys/hypervisor/type", "" },				/* Xen */
		{ "/proc/device-tree/hypervisor/compatible", "" },	/* arm64, ppc64le */
		{ "/proc/device-tree/compatible", "virt" },		/* QEMU's "virt" machines */
		{ "/proc/device-tree/model", "qemu" },			/* its pseries */
		{ "/sys/class/dmi/id/sys_vendor", "QEMU" },
		{ "/proc/sysinfo", "VM00" },				/* s390x */
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (line_has(signs[i].path, signs[i].word))
			return true;
	return false;
}

void confinement_read(struct confinement *c)
{
	static const char *const signs[] = { "/run/.containerenv", "/.dockerenv" };

	*c = (struct confinement){ .bounding = ~0ULL };
	read_status(c);
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs) && !c->container; i++)
		if (!access(signs[i], F_OK))
			c->container = signs[i];
	c->virtual = confine_virtual();
}
