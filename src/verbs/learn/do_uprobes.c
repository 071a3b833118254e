// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/uprobes.lesson */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/work.h"
#include "core/host/host.h"
#include "verbs/learn/judge.h"
#include "lessons/lessons.h"

enum { TIMES = 5, COUNTER = 0, RETURNS, SAMPLER, IP_AT = 8 };

/* Return the probe in the syntax of pevtrace open, with more members; owned by the caller. */
static char *probe_event(const struct learn *l, const char *more)
{
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe));
	struct buf event = { 0 };

	buf_addf(&event, "type=%s,uprobe_path=\"", learn_get(l, "type"));
	for (ssize_t i = 0; i < n; i++)
		buf_addf(&event, strchr("\"\\", exe[i]) ? "\\%c" : "%c", exe[i]);
	buf_addf(&event, "\",probe_offset=0x%llx%s",
		 (unsigned long long)work_called_offset(), more);
	return event.data;
}

static int open_probe(struct learn *l, const char *more)
{
	char *event = probe_event(l, more);
	int fd = learn_try_open(l, event, l->child_pid, -1, -1);

	free(event);
	return fd;
}

bool learn_uprobes_prepare(struct learn *l)
{
	int64_t type;

	if (!learn_start_child(l, child_call, TIMES))
		return false;
	type = host_pmu_type(l->own_session.machine.host, "uprobe");
	learn_set_number(l, "type", type < 0 ? INT32_MAX : (uint64_t)type);
	learn_set(l, "times", "%d", TIMES);
	learn_set_hex(l, "address", work_called());
	learn_set_hex(l, "offset", work_called_offset());
	return true;
}

bool learn_uprobes_refused(struct learn *l)
{
	char *event = probe_event(l, ",exclude_kernel,exclude_hv");

	learn_refused(l, "refused", event, l->child_pid, -1);
	free(event);
	return true;
}

/* Show the line of our own maps with the function. */
bool learn_uprobes_maps(struct learn *l)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long start, end, at = work_called();
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	while (f && (n = getline(&line, &size, f)) > 0) {
		if (sscanf(line, "%lx-%lx", &start, &end) != 2 || at < start || at >= end)
			continue;
		line[n - 1] = '\0';
		/* one blank before the path */
		for (char *blank; (blank = strstr(line, "  "));)
			memmove(blank, blank + 1, strlen(blank));
		learn_say(l, "%s", line);
		learn_set(l, "mapped", "yes");
	}
	free(line);
	if (f)
		fclose(f);
	return true;
}

static bool count_hits(struct learn *l, int which, const char *more, const char *name)
{
	uint64_t count;

	l->fds[which] = open_probe(l, more);
	if (l->fds[which] < 0)
		return learn_fail(l, "cannot open the probe: %s",
				  learn_error(l->fds[which]));
	if (!learn_run_child(l) || !learn_read(l, l->fds[which], &count))
		return false;
	learn_set_number(l, name, count);
	learn_close_slot(l, which);
	return true;
}

bool learn_uprobes_run(struct learn *l)
{
	return count_hits(l, COUNTER, "", "count");
}

bool learn_uprobes_returns(struct learn *l)
{
	return count_hits(l, RETURNS, ",config=1", "returns");
}

/* Compare the first sample's ip with the function; show that sample only. */
static bool compare_ip(void *ctx, const struct learn_record *r)
{
	int *same = ctx;

	if (*same >= 0)
		return false;
	*same = r->len >= IP_AT + 8 && load_uint(r->bytes + IP_AT, 8) == work_called();
	return true;
}

bool learn_uprobes_sample(struct learn *l)
{
	int same = -1;

	l->fds[SAMPLER] = open_probe(l, ",sample_period=1,sample_type=IP|TID");
	if (l->fds[SAMPLER] < 0 || !learn_map(l, l->fds[SAMPLER], 1) || !learn_run_child(l))
		return learn_fail(l, "no samples of the probe");
	learn_look(l, compare_ip, &same);
	learn_unmap(l);
	learn_set(l, "same", "%s", same > 0 ? "yes" : "no");
	return true;
}
