// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/permissions.lesson */
#include <grp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/abi/rules.h"
#include "core/host/rights.h"
#include "verbs/learn/judge.h"
#include "lessons/lessons.h"

enum { NOBODY = 65534, INIT = 1, UNREADABLE = -1000 };

bool learn_permissions_prepare(struct learn *l)
{
	long level = rights_sysctl("perf_event_paranoid", UNREADABLE);

	learn_set(l, "nobody", "%d", NOBODY);
	learn_set(l, "level", "this level");
	if (level != UNREADABLE) {
		learn_set(l, "paranoid", "%ld", level);
		learn_set(l, "level", "level %ld", level);
	}
	/* root of another user namespace has no privileges for perf events to give up */
	if (!geteuid() && rights_user_ns_is_first() == FACT_YES)
		learn_set(l, "root", "yes");
	return true;
}

/* Become an ordinary user, in a process forked for it. */
static bool drop_root(struct learn *l)
{
	if (!learn_get(l, "root"))
		return true;
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		return learn_fail(l, "cannot become another user");
	prctl(PR_SET_DUMPABLE, 1); /* so that it may measure itself */
	return true;
}

static bool try_own(struct learn *l)
{
	if (!drop_root(l))
		return false;
	learn_refused(l, "own", "page-faults:u", 0, -1);
	learn_set(l, "own_may", "%s", learn_get(l, "own_failed") ? "no" : "yes");
	return true;
}

static bool try_kernel(struct learn *l)
{
	if (!drop_root(l))
		return false;
	learn_refused(l, "kernel", "page-faults", 0, -1);
	return true;
}

static bool try_system(struct learn *l)
{
	if (!drop_root(l))
		return false;
	learn_refused(l, "system", "page-faults:u", -1, 0);
	return true;
}

static bool try_other(struct learn *l)
{
	if (!drop_root(l))
		return false;
	learn_refused(l, "other", "page-faults:u", INIT, -1);
	return true;
}

bool learn_permissions_own(struct learn *l)
{
	return learn_in_process(l, try_own);
}

bool learn_permissions_kernel(struct learn *l)
{
	return learn_in_process(l, try_kernel);
}

bool learn_permissions_system(struct learn *l)
{
	return learn_in_process(l, try_system);
}

bool learn_permissions_other(struct learn *l)
{
	return learn_in_process(l, try_other);
}

/* Show which capabilities are in our effective set. */
bool learn_permissions_caps(struct learn *l)
{
	static const struct {
		int bit;
		const char *name;
	} caps[] = {
		{ ABI_CAP_PERFMON, "CAP_PERFMON" }, { ABI_CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
		{ ABI_CAP_SYS_PTRACE, "CAP_SYS_PTRACE" },
	};
	unsigned long long effective = rights_effective();

	learn_say(l, "effective capabilities, by capget(2): %016llx", effective);
	for (size_t i = 0; i < sizeof(caps) / sizeof(*caps); i++)
		learn_say(l, "%-14s (bit %d): %s", caps[i].name, caps[i].bit,
			  effective >> caps[i].bit & 1 ? "here" : "not here");
	return true;
}
