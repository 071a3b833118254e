// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/uprobes.lesson */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drive/work.h"
#include "learn/judge.h"
#include "lessons/lessons.h"

enum { TIMES = 5, COUNTER = 0, RETURNS, SAMPLER, IP_AT = 8 };

/* The probe as an event, with more members; to be freed. */
static char *event_of(const struct learn *l, const char *more)
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

static int probe(struct learn *l, const char *more)
{
	char *event = event_of(l, more);
	int fd = learn_try_open(l, event, l->task, -1, -1);

	free(event);
	return fd;
}

bool learn_uprobes_prepare(struct learn *l)
{
	uint64_t type = 0;

	if (!learn_worker(l, child_call, TIMES))
		return false;
	if (!machine_pmu_type("uprobe", &type))
		type = PERF_TYPE_MAX;
	learn_set(l, "type", "%llu", (unsigned long long)type);
	learn_set(l, "times", "%d", TIMES);
	learn_set(l, "address", "0x%llx", (unsigned long long)work_called());
	learn_set(l, "offset", "0x%llx", (unsigned long long)work_called_offset());
	return true;
}

bool learn_uprobes_refused(struct learn *l)
{
	char *event = event_of(l, ",exclude_kernel,exclude_hv");

	learn_refused(l, "refused", event, l->task, -1);
	free(event);
	return true;
}

/* The line of our own maps that the function is in. */
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
		/* of the run of blanks before the path, one will do */
		for (char *blank; (blank = strstr(line, "  "));)
			memmove(blank, blank + 1, strlen(blank));
		learn_say(l, "%s", line);
	}
	free(line);
	if (f)
		fclose(f);
	return true;
}

static bool run(struct learn *l, int which, const char *more, const char *name)
{
	uint64_t count;

	l->fds[which] = probe(l, more);
	if (l->fds[which] < 0)
		return learn_fail(l, "the kernel does not open the probe (%s)",
				  learn_error(l->fds[which]));
	if (!learn_work(l) || !learn_read(l, l->fds[which], &count))
		return false;
	learn_set(l, name, "%llu", (unsigned long long)count);
	learn_close(l, l->fds[which]);
	l->fds[which] = -1;
	return true;
}

bool learn_uprobes_run(struct learn *l)
{
	return run(l, COUNTER, "", "count");
}

bool learn_uprobes_returns(struct learn *l)
{
	return run(l, RETURNS, ",config=1", "returns");
}

static bool compare(void *ctx, const struct learn_record *r)
{
	int *first = ctx;
	bool same = r->len >= IP_AT + 8 && load_uint(r->bytes + IP_AT, 8) == work_called();

	if (*first < 0)
		*first = same;
	else
		return false;
	return true;
}

bool learn_uprobes_sample(struct learn *l)
{
	int same = -1;

	l->fds[SAMPLER] = probe(l, ",sample_period=1,sample_type=IP|TID");
	if (l->fds[SAMPLER] < 0 || !learn_map(l, l->fds[SAMPLER], 1) || !learn_work(l))
		return learn_fail(l, "the probe gives no samples");
	learn_look(l, compare, &same);
	learn_unmap(l);
	learn_set(l, "same", "%s", same > 0 ? "yes" : "no");
	return true;
}
