// SPDX-License-Identifier: LGPL-2.1-or-later
/* The result of a step compared with the one that is expected. */
#include <stdio.h>
#include <string.h>

#include "core/abi/strings.h"
#include "conform/claim.h"

static bool is_error(int64_t result)
{
	return result < 0 && result > -4096;
}

static int errno_by_name(const char *name, size_t len)
{
	const char *known;

	for (int e = 1; e < 4096; e++) {
		known = error_name(e);
		if (known && strlen(known) == len && !memcmp(known, name, len))
			return e;
	}
	return 0;
}

/* Set *good for "ok", "error", a number, or errno names separated by '|'. */
static bool is_wanted(struct claim_run *run, int64_t result, bool *good)
{
	const char *at = run->wanted;
	uint64_t v;

	if (!strcmp(at, "ok") || !strcmp(at, "error")) {
		*good = (*at == 'o') == (result >= 0);
		return true;
	}
	*good = false;
	while (*at == 'E') {
		size_t n = strcspn(at, "|");
		int error = errno_by_name(at, n);

		if (!error)
			break;
		*good |= result == -error;
		at += n;
		if (!*at++)
			return true;
	}
	if (!claim_value(run, run->wanted, &v))
		return false;
	*good = result == (int64_t)v;
	return true;
}

enum step_result claim_check_result(struct claim_run *run, int64_t result)
{
	char seen[64];
	bool good;

	run->ret = result;
	if (is_error(result))
		snprintf(seen, sizeof(seen), "%s", error_name((int)-result) ?: "an error");
	else
		snprintf(seen, sizeof(seen), "%lld", (long long)result);
	if (!run->wanted)
		return result >= 0 ? STEP_OK : claim_untried(run, "%s: %s", run->step, seen);
	if (!is_wanted(run, result, &good))
		return STEP_UNTRIED;
	return good ? STEP_OK : claim_false(run, run->step, "%s", seen);
}
