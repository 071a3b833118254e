/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Use one struct pevtrace_machine in four threads at once, for tests/library.py, which looks for
 * races; all must say the same.  It reads the tracepoints when the first one is named.
 */
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <pevtrace.h>

enum { THREADS = 4, ATTRS = 8, ROUNDS = 3 };

static struct pevtrace_machine *machine;
static char names[THREADS][ATTRS][256], texts[THREADS][ATTRS][1024];
static int errors[THREADS][ATTRS];

static void ask(int thread, int k, unsigned int how)
{
	struct perf_event_attr attr;
	struct pevtrace_open call = {
		.size = sizeof(call), .attr = &attr, .attr_len = sizeof(attr),
		.cpu = -1, .group_fd = -1,
	};
	struct pevtrace_verdict verdict = { .size = sizeof(verdict) };

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = k % 2 ? PERF_TYPE_TRACEPOINT : PERF_TYPE_MAX + (unsigned int)k;
	attr.config = (uint64_t)k * 50;
	attr.sample_period = 1;
	pevtrace_judge(machine, &call, &verdict);
	errors[thread][k] = verdict.error;
	pevtrace_event_name(machine, &attr, sizeof(attr), names[thread][k], sizeof(names[0][0]));
	pevtrace_attr_print(machine, &attr, sizeof(attr), how, texts[thread][k],
			    sizeof(texts[0][0]));
}

static void *work(void *arg)
{
	for (unsigned int round = 0; round < ROUNDS; round++)
		for (int k = 0; k < ATTRS; k++)
			ask(*(int *)arg, k, round % 3);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int numbers[THREADS], differ = 0;

	machine = pevtrace_machine_new();
	if (!machine || pevtrace_machine_read(machine))
		return 1;
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, work, &numbers[i]))
			return 1;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 1; i < THREADS; i++)
		differ |= memcmp(names[0], names[i], sizeof(names[0])) ||
			  memcmp(texts[0], texts[i], sizeof(texts[0])) ||
			  memcmp(errors[0], errors[i], sizeof(errors[0]));
	puts(names[0][1]);
	pevtrace_machine_free(machine);
	return differ;
}
