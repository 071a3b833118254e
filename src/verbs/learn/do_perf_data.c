// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/perf-data.lesson */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/lib/child.h"
#include "formats/perfdata/perfdata.h"
#include "lessons/lessons.h"
#include "verbs/cmd.h"
#include "verbs/learn/learn.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Run a program in silence; return false if it fails. */
static bool run_silently(const char *program, const char *const *argv)
{
	pid_t pid = fork();

	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		for (int fd = 0; fd < 3; fd++)
			dup2(null, fd);
		execvp(program, (char *const *)argv);
		_exit(127);
	}
	return !child_wait(pid);
}

/* Record with perf, or else with pevtrace, into path; set which.  Return false if both fail. */
static bool run_recorder(struct learn *l, const char *path)
{
	const char *const perf[] = {
		"perf", "record", "-o", path, "-e",
		"page-faults:u,context-switches/call-graph=fp/u", "-c", "1", "true", NULL,
	};
	const char *const own[] = {
		"pevtrace", "open", "--mmap=4", "--perf-data", path, "-e",
		"page-faults:u,sample_period=1", "-e",
		"context-switches:u,sample_period=1,sample_type=IP|CALLCHAIN", "true",
		NULL,
	};

	if (run_silently("perf", perf)) {
		learn_set(l, "perf", "yes");
		learn_set(l, "recorder", "perf");
		return true;
	}
	learn_set(l, "recorder", "pevtrace");
	return run_silently("/proc/self/exe", own);
}

/* Return the file that was recorded, without a name in any directory; or NULL. */
static struct perfdata *record(struct learn *l)
{
	int fd = memfd_create("perf.data", 0);
	struct perfdata *p = NULL;
	struct stat st;
	char path[32];
	FILE *f;

	if (fd < 0)
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	f = run_recorder(l, path) ? fdopen(fd, "r") : NULL;
	if (f && !fstat(fd, &st) && st.st_size) {
		learn_set_number(l, "bytes", (uint64_t)st.st_size);
		p = perfdata_open(f, "perf.data", NULL);
	}
	if (f)
		fclose(f);
	else
		close(fd);
	return p;
}

static void count_sample(void *ctx, const struct perfdata_record *r)
{
	*(uint64_t *)ctx += r->type == PERF_RECORD_SAMPLE;
}

bool learn_perf_data_record(struct learn *l)
{
	struct perfdata *p = record(l);
	const struct perfdata_event *first;
	uint64_t samples = 0, type;

	if (!p)
		return true;
	if (perfdata_nevents(p) && perfdata_records(p, count_sample, &samples)) {
		first = perfdata_event(p, 0);
		type = layout_get(&layout_perf_event_attr, ATTR_SAMPLE_TYPE, first->attr,
				  first->attr_len);
		learn_set(l, "file", "yes");
		learn_set(l, "attrs", "%zu", perfdata_nevents(p));
		learn_set_number(l, "samples", samples);
		learn_set_number(l, "least", PERF_RECORD_HEADER_ATTR);
		learn_set(l, "ids", "%zu", first->nids);
		learn_set(l, "place", "%s", type & PERF_SAMPLE_IDENTIFIER ? "IDENTIFIER" : "ID");
		learn_set(l, "bit", "PERF_SAMPLE_%s", learn_get(l, "place"));
		buf_add(&l->kept, first->attr, first->attr_len);
	}
	perfdata_close(p);
	return true;
}

bool learn_perf_data_attr(struct learn *l)
{
	struct buf hex = { 0 };
	bool ok;

	for (size_t i = 0; i < l->kept.len; i++)
		buf_addf(&hex, "%02x", (uint8_t)l->kept.data[i]);
	ok = learn_run_verb(l, &decode_verb, (const char *const[]){
		"decode", "--attr", buf_str(&hex), NULL });
	buf_free(&hex);
	return ok;
}
