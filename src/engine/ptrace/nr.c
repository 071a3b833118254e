// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/ptrace/nr.h"

#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"

static size_t nr_add(struct nr_tables *n, size_t at, const struct arch *arch)
{
	struct nr_table *table = &n->of[at];
	uint32_t token = arch != &arch_unknown ? seccomp_arch_resolve_name(arch->name) :
			 arch_native() == arch ? seccomp_arch_native() : 0;

	if (!token || at == NR_ARCHES - 1)
		return at;
	table->token = token;
	table->arch = arch;
	table->seccomp = seccomp_syscall_resolve_name_arch(token, "seccomp");
	for_each(desc, call_descs, CALL_COUNT) {
		int nr = seccomp_syscall_resolve_name_arch(token, desc->name);
		uint64_t index = (uint64_t)nr & ~arch->nr_bit;

		/* A negative number means that the architecture lacks the call. */
		if (nr >= 0 && index < NR_CALLS)
			table->desc[index] = desc;
	}
	return at + 1;
}

void nr_build(struct nr_tables *n, const struct arch *native)
{
	size_t at = 0;

	n->of = xcalloc(NR_ARCHES, sizeof(*n->of));
	at = nr_add(n, at, native);
	for (const struct arch *const *a = arches; *a; a++)
		if (*a != native && arch_same_kernel(*a, native))
			at = nr_add(n, at, *a);
}

void nr_free(struct nr_tables *n)
{
	free(n->of);
	n->of = NULL;
}

const struct nr_table *nr_table(const struct nr_tables *n, const struct arch *arch)
{
	for (const struct nr_table *table = n->of; table->arch; table++)
		if (table->arch == arch)
			return table;
	return NULL;
}

const struct call_desc *nr_find(const struct nr_tables *n,
				const struct arch *arch, uint64_t nr)
{
	uint64_t index = nr & ~arch->nr_bit;
	const struct nr_table *table;

	if (index >= NR_CALLS)
		return NULL;
	table = nr_table(n, arch);
	return table ? table->desc[index] : NULL;
}

bool nr_is_call(const char *name)
{
	return seccomp_syscall_resolve_name(name) != __NR_SCMP_ERROR;
}

bool nr_name(int nr, char *name, size_t size)
{
	char *found = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr);

	if (!found)
		return false;
	snprintf(name, size, "%s", found);
	free(found);
	return true;
}

static bool nr_is_named(const struct nr_tables *n, const struct arch *arch, long nr,
		      const char *const *names)
{
	const struct nr_table *table = nr_table(n, arch);
	bool is = false;
	char *name;

	if (nr < 0 || !table)
		return false;
	name = seccomp_syscall_resolve_num_arch(table->token, (int)nr);
	for (; name && *names && !is; names++)
		is = !strcmp(name, *names);
	free(name);
	return is;
}

bool nr_is_interruptible(const struct nr_tables *n, const struct arch *arch, long nr)
{
	static const char *const names[] = {
		"epoll_wait", "epoll_pwait", "epoll_pwait2", "rt_sigtimedwait",
		"rt_sigtimedwait_time64", "semop", "semtimedop",
		"semtimedop_time64", "msgrcv", "msgsnd", "io_getevents",
		"io_pgetevents", "io_pgetevents_time64", "io_uring_enter", "ipc", NULL,
	};

	return nr_is_named(n, arch, nr, names);
}

bool nr_may_time_out(const struct nr_tables *n, const struct arch *arch, long nr)
{
	static const char *const names[] = {
		"read", "readv", "recv", "recvfrom", "recvmsg", "recvmmsg",
		"recvmmsg_time64", "write", "writev", "send", "sendto", "sendmsg",
		"sendmmsg", "accept", "accept4", "connect", "socketcall", NULL,
	};

	return nr_is_named(n, arch, nr, names);
}
