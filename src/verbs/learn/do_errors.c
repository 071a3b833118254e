// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/errors.lesson */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verbs/cmd.h"
#include "experiment/trial.h"
#include "verbs/learn/judge.h"
#include "lessons/lessons.h"
#include "core/lib/child.h"

enum { MORE = 64, NO_PMU = 9999 };

#define INVALID "page-faults:u,sigtrap,sample_period=1"
#define WHY "page-faults:u,comm,inherit_thread"

bool learn_errors_prepare(struct learn *l)
{
	uint32_t size = trial_attr_size();

	learn_set(l, "size", "%u", size);
	learn_set(l, "longer", "%u", size + MORE);
	learn_set(l, "no_pmu", "%d", NO_PMU);
	return size || learn_fail(l, "cannot find the size of the kernel's attr");
}

static uint32_t stated_size(const uint8_t *attr)
{
	return (uint32_t)layout_get(&layout_perf_event_attr, ATTR_SIZE, attr, 8);
}

bool learn_errors_big(struct learn *l)
{
	uint32_t size = trial_attr_size() + MORE;
	uint8_t attr[4096] __attribute__((aligned(8))) = { 0 };
	int64_t got;

	if (size > sizeof(attr))
		return learn_fail(l, "the kernel's attr is larger than any known one");
	field_set(&layout_perf_event_attr.fields[ATTR_TYPE], PERF_TYPE_SOFTWARE, attr);
	field_set(&layout_perf_event_attr.fields[ATTR_SIZE], size, attr);
	attr[size - 1] = 1;
	got = own_call(&l->own_session.own_calls, CALL_PERF_EVENT_OPEN,
		       (const uint64_t[CALL_MAX_ARGS]){
		(uintptr_t)attr, 0, (uint64_t)-1, (uint64_t)-1, PERF_FLAG_FD_CLOEXEC,
	});
	learn_set_error(l, "big", got);
	learn_set(l, "wrote", "%u", stated_size(attr));
	return true;
}

bool learn_errors_missing(struct learn *l)
{
	char event[64];

	snprintf(event, sizeof(event), "type=%d,exclude_kernel,exclude_hv", NO_PMU);
	learn_refused(l, "missing", event, 0, -1);
	return true;
}

bool learn_errors_task(struct learn *l)
{
	pid_t gone = fork();

	if (!gone)
		_exit(0);
	child_wait(gone);
	learn_refused(l, "task", "page-faults:u", gone, -1);
	return true;
}

bool learn_errors_group(struct learn *l)
{
	learn_set_open_error(l, "group", "page-faults:u", 0, -1, STDERR_FILENO);
	return true;
}

bool learn_errors_invalid(struct learn *l)
{
	struct learn_verdict v;

	learn_judge(l, INVALID, 0, -1, EINVAL, &v);
	if (v.sure) {
		learn_set(l, "invalid_rule", "%s", v.rule);
		learn_set(l, "invalid_why", "%s", v.meaning);
	}
	learn_say(l, "$ pevtrace check -e " INVALID);
	return learn_run_verb(l, &check_verb, (const char *const[]){
		"check", "-e", INVALID, NULL,
	});
}

bool learn_errors_why(struct learn *l)
{
	learn_set_cause(l, "helps", WHY);
	learn_say(l, "$ pevtrace why -e " WHY);
	return learn_run_verb(l, &why_verb, (const char *const[]){ "why", "-e", WHY, NULL });
}
