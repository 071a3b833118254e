/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Call every function of libpevtrace and print what it says, for tests/library.py, which
 * lets each allocation fail.  Ends with status 3 as soon as one returns -ENOMEM.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pevtrace.h>

static char text[1 << 16];

/* Print what a function wrote, or end. */
static void show(const char *what, ssize_t len)
{
	if (len == -ENOMEM)
		exit(3);
	if (len < 0)
		printf("%s: %s\n", what, strerror((int)-len));
	else
		printf("%s: %s\n", what, text);
}

static void must(const char *what, int result)
{
	if (result == -ENOMEM)
		exit(3);
	if (result)
		printf("%s: %d\n", what, result);
}

static int item(void *context, const struct pevtrace_item *i)
{
	const char *name;
	uint64_t rest = i->number;
	size_t at = 0;
	ssize_t len;

	(void)context;
	while ((name = pevtrace_item_flag(i, &at, &rest)))
		printf("  flag %s\n", name);
	len = pevtrace_item_text(i, text, sizeof(text));
	if (len < 0)
		return (int)len;
	printf("  %d %s=%s\n", i->kind, i->key ? i->key : "", text);
	return 0;
}

static int need(void *context, const struct pevtrace_need *n)
{
	(void)context;
	printf("  needs %s %#x\n", n->name, n->since);
	return 0;
}

static const char *symbol(void *context, int32_t pid, uint64_t address, unsigned int cpumode,
			  int after_call)
{
	(void)context, (void)pid, (void)address, (void)cpumode, (void)after_call;
	return "main+0x10";
}

static const char *event(void *context, uint64_t id)
{
	(void)context, (void)id;
	return "the event";
}

static const char *tracepoint(void *context, uint64_t id)
{
	(void)context, (void)id;
	return "sched:sched\033[1m_switch";
}

static void print_each(const struct pevtrace_machine *m, const struct perf_event_attr *attr,
		       unsigned int how)
{
	const struct { struct perf_event_header h; uint64_t ip, id, nr, ips[3]; } record = {
		{ PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(record) }, 0x1000, 7, 3,
		{ (uint64_t)-512, 0x2000, 0x3000 },
	};
	const uint64_t counts[] = { 5, 1000, 500, 7 };
	uint64_t period = 100;
	struct pevtrace_ioctl call = {
		.size = sizeof(call), .request = PERF_EVENT_IOC_PERIOD,
		.argument = (uintptr_t)&period, .before = &period, .before_len = sizeof(period),
	};

	show("attr", pevtrace_attr_print(m, attr, sizeof(*attr), how, text, sizeof(text)));
	show("record", pevtrace_record_print(m, attr, sizeof(*attr), &record, sizeof(record), how,
					     text, sizeof(text)));
	show("counts", pevtrace_counts_print(m, attr, sizeof(*attr), counts, sizeof(counts), how,
					     text, sizeof(text)));
	call.argument = 0x1000;
	show("ioctl", pevtrace_ioctl_print(m, &call, how, text, sizeof(text)));
	must("visit attr", pevtrace_attr_visit(m, attr, sizeof(*attr), how, item, NULL));
	must("visit record", pevtrace_record_visit(m, attr, sizeof(*attr), &record,
						   sizeof(record), how, item, NULL));
	must("visit counts", pevtrace_counts_visit(m, attr, sizeof(*attr), counts, sizeof(counts),
						   how, item, NULL));
	must("visit ioctl", pevtrace_ioctl_visit(m, &call, how, item, NULL));
}

/* Judge a member of a group by what the library is told of the leader: error, certain, rule. */
static void group(const struct pevtrace_machine *m, struct pevtrace_open call,
		  struct perf_event_attr attr, int cpu, int group_fd)
{
	struct pevtrace_verdict v = { .size = sizeof(v) };

	attr.type = PERF_TYPE_SOFTWARE;
	attr.freq = attr.precise_ip = 0;
	attr.sample_freq = 0;
	attr.exclude_kernel = attr.exclude_hv = 1;
	call.leader = call.attr = &attr;
	call.leader_len = sizeof(attr);
	call.group_fd = 1;
	call.leader_known = 1;
	call.leader_cpu = cpu;
	call.leader_group_fd = group_fd;
	must("judge", pevtrace_judge(m, &call, &v));
	printf("group: %d %d %s\n", v.error, v.certain, v.rule ? v.rule : "-");
	/* an old caller's struct ends before */
	call.size = offsetof(struct pevtrace_open, leader_known);
	must("judge", pevtrace_judge(m, &call, &v));
	printf("old group: %d %d %s\n", v.error, v.certain, v.rule ? v.rule : "-");
}

int main(void)
{
	const struct pevtrace_names names = { sizeof(names), NULL, event, tracepoint, symbol };
	struct pevtrace_machine *m = pevtrace_machine_new(), *here = pevtrace_machine_new();
	struct pevtrace_verdict verdict = { .size = sizeof(verdict) };
	struct perf_event_attr attr;
	struct pevtrace_open call = {
		.size = sizeof(call), .attr = &attr, .attr_len = sizeof(attr),
		.cpu = -1, .group_fd = -1,
	};
	uint64_t release;

	if (!m || !here)
		return 3;
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = 12;
	attr.config = 1;
	attr.sample_freq = 1000000000;
	attr.freq = attr.precise_ip = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CALLCHAIN;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
			   PERF_FORMAT_ID;
	must("set", pevtrace_machine_set(m, PEVTRACE_FACT_RELEASE, PEVTRACE_RELEASE(4, 19, 0)));
	must("get", pevtrace_machine_get(m, PEVTRACE_FACT_RELEASE, &release));
	must("add", pevtrace_machine_add_pmu(m, 12, "msr"));
	must("names", pevtrace_machine_set_names(m, &names));
	printf("%s %#x %d\n", pevtrace_version(), pevtrace_newest_release(),
	       release == PEVTRACE_RELEASE(4, 19, 0));
	print_each(m, &attr, PEVTRACE_TEXT);
	print_each(m, &attr, PEVTRACE_JSON | PEVTRACE_ALL);
	print_each(NULL, &attr, PEVTRACE_C);
	show("name", pevtrace_event_name(m, &attr, sizeof(attr), text, sizeof(text)));
	attr.type = PERF_TYPE_TRACEPOINT;
	show("name", pevtrace_event_name(m, &attr, sizeof(attr), text, sizeof(text)));
	must("judge", pevtrace_judge(m, &call, &verdict));
	printf("%d %s %s\n", verdict.error, verdict.rule, verdict.meaning);
	must("cause", pevtrace_find_cause(m, &call, verdict.error, &verdict));
	must("needs", pevtrace_needs(&attr, sizeof(attr), 8, need, NULL));
	group(m, call, attr, -1, -1);
	group(m, call, attr, 1, -1);
	group(m, call, attr, -1, 7);
	must("read", pevtrace_machine_read(here));
	must("judge here", pevtrace_judge(here, &call, &verdict));
	call.size = 1;
	if (pevtrace_explain(&call, EINVAL, text, sizeof(text)) == -ENOMEM)
		return 3;
	call.size = sizeof(call);
	if (pevtrace_explain(&call, EINVAL, text, sizeof(text)) == -ENOMEM)
		return 3;
	pevtrace_machine_free(m);
	pevtrace_machine_free(here);
	return 0;
}
