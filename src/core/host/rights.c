// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/host/rights.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/host/sysfile.h"
#include "xlat/constants.h"

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

/* The inode of the first user namespace (PROC_USER_INIT_INO of the kernel). */
enum { FIRST_USER_NS = 0xeffffffdu };

/* C libraries have this function, and no header declares it. */
int capget(cap_user_header_t header, cap_user_data_t data);

/* Of glibc since 2.36. */
int pidfd_open(pid_t pid, unsigned int flags) __attribute__((weak));

/* Of linux/pidfd.h, since Linux 6.11: return a descriptor of the process's user namespace. */
#ifndef PIDFD_GET_USER_NAMESPACE
#define PIDFD_GET_USER_NAMESPACE _IO(0xff, 9)
#endif

long rights_sysctl(const char *name, long otherwise)
{
	char path[128];
	int64_t v;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	return sysfile_number(AT_FDCWD, path, &v) ? (long)v : otherwise;
}

/* Return the inode of the user namespace of this process from its pidfd, or 0. */
static ino_t user_ns_of_pidfd(void)
{
	int pidfd = pidfd_open ? pidfd_open(getpid(), 0) : -1;
	int ns = pidfd < 0 ? -1 : ioctl(pidfd, PIDFD_GET_USER_NAMESPACE, 0);
	struct stat st;
	bool known = ns >= 0 && !fstat(ns, &st);

	if (ns >= 0)
		close(ns);
	if (pidfd >= 0)
		close(pidfd);
	return known ? st.st_ino : 0;
}

enum fact rights_user_ns_is_first(void)
{
	struct stat st;

	if (stat("/proc/self/ns/user", &st))
		st.st_ino = user_ns_of_pidfd();
	if (st.st_ino)
		return fact_of(st.st_ino == FIRST_USER_NS);
	/* a kernel without user namespaces has others */
	return stat("/proc/self/ns/mnt", &st) ? FACT_UNKNOWN : FACT_YES;
}

uint64_t rights_effective(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	if (capget(&header, data))
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

bool rights_perfmon(void)
{
	uint64_t wanted = 1ULL << ABI_CAP_PERFMON | 1ULL << ABI_CAP_SYS_ADMIN;

	return rights_effective() & wanted && rights_user_ns_is_first() == FACT_YES;
}
