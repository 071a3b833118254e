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

	bool found = false;

	for (size_t i = 0; !found && i < sizeof(signs) / sizeof(*signs); i++) {
		struct lines l = lines_of(signs[i].path);

		while (!found && lines_next(&l))
			found = strstr(l.text, signs[i].word);
		lines_end(&l);
	}
	return found;
}

void confinement_read(struct confinement *c)
{
	static const char *const signs[] = { "/run/.containerenv", "/.dockerenv" };
	struct lines l = lines_of("/proc/self/status");
	bool known = l.file;
	const char *v;

	*c = (struct confinement){ .bounding = ~0ULL };
	while (lines_next(&l)) {
		if ((v = value_of(l.text, "Seccomp")))
			c->seccomp = (int)strtol(v, NULL, 10);
		else if ((v = value_of(l.text, "Seccomp_filters")))
			c->filters = (int)strtol(v, NULL, 10);
		else if ((v = value_of(l.text, "NoNewPrivs")))
			c->no_new_privs = strtol(v, NULL, 10);
		else if ((v = value_of(l.text, "CapBnd")))
			c->bounding = strtoull(v, NULL, 16);
	}
	if (!known) {
		/* some filters refuse this call, so it is made without /proc only */
		c->seccomp = prctl(PR_GET_SECCOMP) > 0 ? 2 : 0;
		c->no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0L, 0L, 0L, 0L) > 0;
	}
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

enum fact rights_user_ns_is_first(void)
{
	struct stat st;
	bool known = !stat("/proc/self/ns/user", &st);
	int pidfd = !known && pidfd_open ? pidfd_open(getpid(), 0) : -1;
	int ns = pidfd < 0 ? -1 : ioctl(pidfd, PIDFD_GET_USER_NAMESPACE, 0);

	known |= ns >= 0 && !fstat(ns, &st);
	if (ns >= 0)
		close(ns);
	if (pidfd >= 0)
		close(pidfd);
	if (known)
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
