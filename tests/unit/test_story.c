// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The story of calls that this test makes up: counts that shared a counter, names
 * and records that mean harm, the timeline.
 */
#include "story_calls.h"

static void test_nothing(void **state)
{
	(void)state;
	tells(false, "nothing to explain");
}

static void test_shared_counter(void **state)
{
	static const uint64_t values[] = { 1000, 2000000, 500000 };
	uint8_t attr[128] = { 0 };
	char *text;

	(void)state;
	put_type(attr, 0);		/* PERF_TYPE_HARDWARE */
	put(attr, 8, 1);		/* instructions */
	put(attr, 32, 3);		/* both times */
	put(attr, 40, bit_field(5, 1, 1));
	opened(3, attr, 0);
	read_of(3, values, 3);
	text = told(0, false, true);
	has(text, "instructions:u: ran 25.0 % of the time: events took turns");
	has(text, "When it was read first, events of the PMU were held by perf[12] "
		  "(cycles and 3 more).");
	has(text, "FD  COUNT  ENABLED   RUNNING  SCALED\n");
	has(text, "3   1000   2.000 ms  25.0 %   4000\n");
	has(text, "perf_mux_hrtimer_handler: ");
	has(text, "x86_pmu_event_init: ");
	free(text);
}

/* Names that are too long keep the end, where they differ; a row of a member names its leader. */
static void test_table(void **state)
{
	uint8_t attr[128] = { 0 };
	char *text;

	(void)state;
	put_type(attr, 5);			/* PERF_TYPE_BREAKPOINT */
	store_uint(attr + 52, 4, 3);
	put(attr, 64, 8);
	put(attr, 40, bit_field(1, 1, 1));	/* inherit */
	for (int i = 0; i < 2; i++) {
		put(attr, 56, 0x563f9e38c0c0 + 8 * (uint64_t)i);
		opened(3 + i, attr, i ? 0 : 200);
	}
	text = told(44, false, false);
	has(text, "mem:..e38c0c0/8:rw  3   ");
	has(text, "mem:..e38c0c8/8:rw  4   ");
	has(text, "TASK+CHILD");
	has(text, "task 100+");
	free(text);
	text = told(0, true, false);
	assert_null(strstr(text, "\n  -\n"));
	free(text);
	memset(attr, 0, sizeof(attr));
	put_type(attr, 1);
	put(attr, 8, 9);			/* dummy */
	for (int i = 0; i < 2; i++) {
		opened(5 + i, attr, 0);
		model_event(m, 100, 5 + i)->id = 39774599 + (uint64_t)i;
	}
	tells(false, "  39774599-600  ");
}

/* Every condition of src/explain/story.in and xlat/flaws.in is one. */
static void condition_is_read(const char *condition)
{
	const struct call_desc *desc = call_by_name("perf_event_open");
	struct text_cursor c = { .at = condition, .end = condition + strlen(condition) };
	struct when *w = when_read(&c, &desc, 1, NULL);

	if (!w)
		fail_msg("%s: %s", condition, c.why);
	when_free(w);
}

static void test_conditions(void **state)
{
	const struct pair_desc *const sets[] = {
		requirement_descs, default_descs, purpose_descs,
	};

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (const struct pair_desc *d = sets[i]; d->name; d++)
			condition_is_read(d->name);
	for (const struct flaw_desc *d = flaw_descs; d->name; d++)
		if (*d->condition)
			condition_is_read(d->condition);
}

/* Two faults: the first check that refuses, and the later one that would. */
static void test_order(void **state)
{
	uint8_t attr[128] = { 0 };
	char *text;

	(void)state;
	put_type(attr, 1);
	put(attr, 8, 77);
	put(attr, 24, 1ULL << 50);
	opened(-22, attr, 0);
	text = told(0, true, false);
	has(text, "Refused by the kernel check sample_type_bits: ");
	has(text, "after it, software_config would refuse, too");
	has(text, " checks come before it and passed (flags_unknown, ");
	free(text);
}

static void test_busy(void **state)
{
	uint8_t attr[128] = { 0 };
	char *text;

	(void)state;
	put_type(attr, 9);		/* a dynamic PMU, which has a name on some machines */
	opened(-EBUSY, attr, 0);
	text = told(0, false, false);
	has(text, "Its only open failed: ");
	has(text, "/0x0/ (EBUSY), which nothing replaced.");
	has(text, "When the first failed, such events were held by agent[13] (intel_pt//).");
	free(text);
	opened(-ENOSPC, attr, 0);
	text = told(0, false, false);
	has(text, "ENOSPC");
	assert_non_null(strstr(text, "/0x0/: ENOSPC"));
	assert_null(strstr(strstr(text, "/0x0/: ENOSPC"), "agent[13]"));
	free(text);
}

static void test_refused(void **state)
{
	uint8_t attr[128] = { 0 };
	char *text;

	(void)state;
	put_type(attr, 1);
	put(attr, 8, 0);
	put(attr, 24, 1ULL << 50);
	opened(-22, attr, 0);
	text = told(0, false, false);
	has(text, "Refused by the kernel check sample_type_bits: ");
	has(text, " {sample_type=0x4000000000000 ");
	free(text);
	tells(true, "Remedy: {sample_type=0}.");
	/* and what no rule explains is not explained */
	put(attr, 24, 0);
	opened(-99, attr, 0);
	tells(false, "EADDRNOTAVAIL");
}

/* What opened is within the limits, and what refuses every caller comes before what may not. */
static void test_refuted(void **state)
{
	uint8_t attr[128] = { 0 };
	char *text;

	(void)state;
	put_type(attr, 1);
	put(attr, 16, 1000);
	put(attr, 40, bit_field(10, 1, 1));	/* freq */
	opened(-22, attr, -1);
	text = told(0, false, false);
	has(text, "Perhaps refused by cpu_range: ");
	has(text, "; or freq_limit: ");
	free(text);
	opened(3, attr, 0);
	text = told(0, false, false);
	has(text, "Refused by the kernel check cpu_range: ");
	has(text, "{cpu=-1, pid=-1}");
	assert_null(strstr(text, "freq_limit"));
	free(text);
	put(attr, 16, 5000000);
	opened(-22, attr, 0);
	tells(false, "Refused by the kernel check freq_limit: ");
	tells(false, " The trace does not have the limit; 1000 opened. Remedy: ");
}

/* A pid may be of no task, or of one that is exiting: a trace shows that it exited, not more. */
static void test_exited(void **state)
{
	const struct activity born = { ACTIVITY_TASK, .task = { .tid = 50, .pid = 50, .parent = 100 } };
	const struct activity gone = { ACTIVITY_GONE, .gone = { .tid = 50, .how = END_EXIT, .ns = 7 } };
	uint8_t attr[128] = { 0 };
	char *text;

	(void)state;
	story->ops->on[born.kind](story, &born);
	put_type(attr, 1);
	opened(-ESRCH, attr, 51);
	text = told(0, false, false);
	has(text, "Perhaps refused by no_task: No task has that pid {pid=51}; or task_exiting: ");
	assert_null(strstr(text, "had exited: "));
	free(text);
	story->ops->on[gone.kind](story, &gone);
	now = 8;
	opened(-ESRCH, attr, 50);
	tells(false, "Refused because task 50 had exited: by the kernel check task_exiting until it is "
		     "reaped, then by no_task {pid=50}.");
}

/* What is required: the ioctls that were called, too, but not for an event that perf can miss. */
static void test_required(void **state)
{
	uint8_t attr[128] = { 0 };
	char *text;

	(void)state;
	put_type(attr, 1);
	opened(3, attr, 0);
	tells(false, "Requires Linux 2.6.32, and");
	called("ioctl", 3, 0x80082407, 0, 0);
	tells(false, "Requires Linux 3.12 (PERF_EVENT_IOC_ID), and");
	model_comm(m, 100, "perf");
	put(attr, 8, 9);			/* dummy */
	put(attr, 40, bit_field(14, 1, 1) | bit_field(18, 1, 1) | bit_field(30, 1, 1));
	opened(4, attr, -1);
	called("ioctl", 4, 0x2400, 0, 0);
	text = told(0, false, false);
	has(text, "Requires Linux 3.12 (PERF_EVENT_IOC_ID), and");
	has(text, " (2 with exclude_kernel=1) for cpu-clock, 0 or below for fd 4 (optional).");
	free(text);
}

/* What did not occur is not told: <not counted>. */
static void test_not_counted(void **state)
{
	uint64_t values[] = { 5, 1000000, 1000000 };
	uint8_t attr[128] = { 0 };
	char *text;

	(void)state;
	model_comm(m, 100, "perf");
	put_type(attr, 1);
	put(attr, 32, 3);
	opened(3, attr, 0);
	read_of(3, values, 3);
	text = told(0, false, false);
	assert_null(strstr(text, "<not counted>"));
	free(text);
	memset(values, 0, sizeof(values));
	read_of(3, values, 3);
	called("read", 3, 0x2000, 16, ENOSPC);
	text = told(0, false, false);
	has(text, "perf prints <not counted> if time_running is 0");
	has(text, "The buffer is smaller than read_format requires: 16 bytes, and 24 are required; "
		  "the count is not lost.");
	free(text);
}

/* Any attr, any level, any width: no crash, nothing that a terminal would obey. */
static void test_any_attr(void **state)
{
	uint8_t attr[128];
	char *text;

	(void)state;
	srandom(1);
	for (int i = 0; i < 300; i++) {
		for (size_t k = 0; k < sizeof(attr); k++)
			attr[k] = (uint8_t)(random() & random() & (i & 1 ? 0xff : random()));
		if (i & 2)
			put_type(attr, (uint32_t)(i / 4 % 10));
		opened(i % 3 ? 3 + i : -(1 + i % 40), attr, i % 5 ? 0 : -1);
	}
	for (int i = 0; i < 6; i++) {
		text = told(20U * (unsigned int)i, i % 3 == 2, i & 1);
		for (const char *c = text; *c; c++)
			assert_true(*c == '\n' || (*c >= ' ' && *c <= '~'));
		free(text);
	}
}

/* Records are bytes of the kernel's, of any length; names of programs have any bytes. */
static void test_hostile_records(void **state)
{
	const struct activity exec = { ACTIVITY_EXEC, .exec = {
		.tid = 100, .former = 100, .exe = "/tmp/\033]0;x\007\nfile" } };
	uint8_t attr[128] = { 0 }, bytes[200] = { 0 };
	char *text;

	(void)state;
	put_type(attr, 1);
	put(attr, 8, 9);
	put(attr, 40, bit_field(5, 1, 1) | bit_field(8, 1, 1) | bit_field(23, 1, 1));
	opened(3, attr, 0);
	happens(&(struct call){
		.desc = call_by_name("mmap"), .arch = &arch_x86_64, .tid = 100, .pid = 100,
		.returned = true, .ret = 0x7000000,
		.args = { 0, 3 * 4096, 3, 1, 3, 0 },
	});
	store_uint(bytes, 4, PERF_RECORD_MMAP2);
	recorded(model_event(m, 100, 3), bytes, sizeof(bytes));
	memset(bytes + 72, 'x', sizeof(bytes) - 72);
	for (size_t len = 0; len <= sizeof(bytes); len++)
		recorded(model_event(m, 100, 3), bytes, len);
	story->ops->on[exec.kind](story, &exec);
	text = told(0, true, false);
	has(text, "/tmp/\\033]0;x\\007\\012file");
	assert_null(strchr(text, '\033'));
	has(text, "dummy:u  3   8 KiB\n");
	free(text);
}

/* The timeline ---------------------------------------------------------------------- */

static void test_order_of_calls(void **state)
{
	uint8_t attr[128] = { 0 };

	(void)state;
	put_type(attr, 1);
	put(attr, 40, bit_field(0, 1, 1));	/* disabled */
	opened(3, attr, 0);
	now += 1000;
	opened(-2, attr, 0);
	opened(4, attr, 0);			/* a probe */
	closed(4);
	now += 1000;
	put(attr, 40, 0);
	opened(4, attr, 0);
	now += 1000;
	controlled(3, PERF_EVENT_IOC_ENABLE, 0);
	controlled(4, PERF_EVENT_IOC_ENABLE, 0);
	now += 50000000;
	controlled(3, PERF_EVENT_IOC_ENABLE, 0);
	tells(true, "    0.000 ms task 100 opened fd 3\n"
		    "    0.001 ms task 100 probes and failed opens: 2 calls\n"
		    "    0.002 ms task 100 opened fd 4, enabled at open\n"
		    "    0.003 ms task 100 enabled fd 3; fd 4, already enabled\n"
		    "   50.003 ms task 100 enabled fd 3, already enabled\n");
}

/* An event that is used for its records tests nothing where it is refused. */
static void test_no_probe(void **state)
{
	uint8_t attr[128] = { 0 };
	char *text;

	(void)state;
	put_type(attr, 1);
	put(attr, 8, 9);			/* dummy */
	put(attr, 40, bit_field(14, 1, 1) | bit_field(30, 1, 1)); /* watermark, bpf_event */
	opened(-13, attr, -1);
	for (int deep = 0; deep < 2; deep++) {
		text = told(0, deep, false);
		has(text, "dummy");
		assert_null(strstr(text, "test for"));
		assert_null(strstr(text, "Probes test"));
		free(text);
	}
}

static void test_group_calls(void **state)
{
	static const uint64_t both[] = { 2, 10, 20 }, alone[] = { 1, 20 };
	uint8_t attr[128] = { 0 };

	(void)state;
	put_type(attr, 1);
	put(attr, 32, 8);			/* PERF_FORMAT_GROUP */
	put(attr, 40, bit_field(0, 1, 1));
	opened(3, attr, 0);
	opened_in(4, attr, 0, 3);
	put(attr, 40, 0);
	opened_in(5, attr, 0, 3);
	controlled(3, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	controlled(3, PERF_EVENT_IOC_ENABLE, 0);
	now += 1000;
	read_of(3, both, 3);
	read_of(5, both, 3);
	closed(3);
	now += 1000;
	read_of(5, alone, 2);
	tells(true, "opened fds 3 and 4; fd 5, which counts while its leader does\n");
	tells(true, "reset fd 3 and its group (PERF_IOC_FLAG_GROUP)\n");
	tells(true, "enabled fd 3 without PERF_IOC_FLAG_GROUP: fd 4 stayed off\n");
	tells(true, "    0.001 ms task 100 read fds 3 and 5: 2 members each\n"
		    "    0.001 ms task 100 closed fd 3\n"
		    "    0.002 ms task 100 read fd 5: 1 member: the leader was closed, and it counts alone\n");
}

/* Loops are a line for each kind, calls without a pattern are bounded. */
static void test_loops(void **state)
{
	static const uint64_t value = 7;
	static const uint32_t requests[] = {
		PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_RESET,
		PERF_EVENT_IOC_REFRESH, PERF_EVENT_IOC_PAUSE_OUTPUT,
	};
	uint8_t attr[128] = { 0 };
	char *text;

	(void)state;
	put_type(attr, 1);
	put(attr, 40, bit_field(0, 1, 1));
	opened(3, attr, 0);
	for (int i = 0; i < 1000; i++, now += 1000000) {
		controlled(3, PERF_EVENT_IOC_ENABLE, 0);
		read_of(3, &value, 1);
		controlled(3, PERF_EVENT_IOC_DISABLE, 0);
	}
	text = told(0, true, false);
	has(text, "    0.000 ms task 100 enabled fd 3, 1000 times, the last at 999.000\n");
	has(text, "    0.000 ms task 100 read fd 3, 1000 times, the last at 999.000\n");
	has(text, "    0.000 ms task 100 disabled fd 3, 1000 times, the last at 999.000\n");
	free(text);
	srandom(2);
	for (int i = 0; i < 20000; i++, now += 1000)
		controlled(3, requests[random() % 5], random() & 1);
	text = told(0, true, false);
	assert_true(strlen(text) < 4000);
	free(text);
}

/* Samples have a time of their own, and are not those of before the ring was paused. */
static void test_when_taken(void **state)
{
	uint8_t attr[128] = { 0 }, bytes[16] = { 0 };

	(void)state;
	put_type(attr, 1);
	put(attr, 16, 1000);
	put(attr, 24, PERF_SAMPLE_TIME);
	opened(3, attr, 0);
	store_uint(bytes, 4, PERF_RECORD_SAMPLE);
	store_uint(bytes + 6, 2, sizeof(bytes));
	for (int i = 0; i < 6; i++) {
		put(bytes, 8, 9000000000 + 1500000 * (uint64_t)i);
		now += 1000;
		if (i == 4)
			controlled(3, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
		recorded(model_event(m, 100, 3), bytes, sizeof(bytes));
	}
	tells(true, "    0.001 ms pevtrace saw 4 SAMPLE records of fd 3, taken in 4.500 ms\n");
	tells(true, "    0.005 ms pevtrace saw 2 SAMPLE records of fd 3, taken in 1.500 ms\n");
}

/* What lasts is told with its end, of calls that do not the last. */
static void test_ends(void **state)
{
	uint8_t attr[128] = { 0 }, bytes[16] = { 0 };

	(void)state;
	put_type(attr, 1);
	put(attr, 16, 1000);
	put(attr, 24, PERF_SAMPLE_TIME);
	put(attr, 40, bit_field(0, 1, 1));
	lasts = 40000000;
	for (int fd = 3; fd < 6; fd++)
		opened(fd, attr, 0);
	mapped(3, 0x700000);
	mapped(4, 0x710000);
	store_uint(bytes, 4, PERF_RECORD_SAMPLE);
	store_uint(bytes + 6, 2, sizeof(bytes));
	lasts = 100000000;
	for (int i = 0; i < 3; i++) {
		put(bytes, 8, 9000000000 + 90000000 * (uint64_t)i);
		polled(i == 1, 100, NULL);
		recorded(model_event(m, 100, 3), bytes, sizeof(bytes));
	}
	for (int fd = 3; fd < 6; fd++)
		closed(fd);	/* of which 5 was a probe */
	tells(false, "   40.000 ms task 100 opened fds 3 and 4, the last at 80.000\n"
		     "  120.000 ms task 100 probes and failed opens: 1 call\n"
		     "  160.000 ms task 100 mapped the rings of fds 3 and 4, the last at 200.000\n"
		     "  300.000 ms pevtrace saw 3 SAMPLE records of fd 3, until 500.000\n"
		     "  600.000 ms task 100 closed fds 3 and 4, the last at 800.000\n");
	tells(false, "waits with poll (100 ms at most) for the ring of fd 3, until half a ring is full");
	tells(false, " Its 3 waits: 1 woken by records, 2 timed out.");
	tells(true, "of fd 3, until 500.000, taken in 180.000 ms\n");
	opened(3, attr, 0);
	mapped(3, 0x720000);
	polled(0, 200, NULL);
	put(bytes, 8, 11000000000);
	recorded(model_event(m, 100, 3), bytes, sizeof(bytes));
	tells(false, ", until 1100.000, taken in 2000.000 ms\n");	/* longer than looks tell */
	tells(false, " 3 timed out.");
	tells(false, "waits with poll for the ring");	/* of different timeouts */
}

/* A wait that the exit of its task ended, and the time of ppoll. */
static void test_last_wait(void **state)
{
	static const uint64_t second[] = { 1, 5000000 };
	struct activity gone = { ACTIVITY_GONE, .gone = { .tid = 100, .how = END_EXIT } };
	uint8_t attr[128] = { 0 };

	(void)state;
	put_type(attr, 1);
	put(attr, 16, 1000);
	opened(3, attr, 0);
	mapped(3, 0x700000);
	lasts = 1005000000;
	polled(0, 0, second);
	polled(-1, 100, NULL);
	gone.gone.ns = now + 500000000;
	story->ops->on[gone.kind](story, &gone);
	tells(false, "End: task 100 (1505.000 ms) exited with status 0.\n");
	tells(false, " Its 2 waits: 1 timed out, 1 did not finish.");
}

/* Who inherits events: threads, or other processes, whose programs are told where there is room. */
static void test_heirs(void **state)
{
	struct activity born = { ACTIVITY_TASK, .task = { .tid = 101, .pid = 100, .parent = 100 } };
	struct activity exec = { ACTIVITY_EXEC, .exec = { .exe = "/bin/child" } };
	uint8_t attr[128] = { 0 };
	char *text;

	(void)state;
	put_type(attr, 1);
	put(attr, 8, 1);			/* task-clock */
	put(attr, 32, 3);
	opened(4, attr, 0);
	put(attr, 40, bit_field(1, 1, 1));	/* inherit */
	opened(3, attr, 0);
	for (int i = 0; i < 3; i++) {
		static const uint64_t values[] = { 1000, 2000, 2000 };

		text = told(0, false, false);
		has(text, i ? "task-clock for itself alone, and" : "task-clock for itself, and");
		has(text, i == 1 ? "for itself and its threads" : "for itself and its children");
		has(text, i == 1 ? "TASK+THREAD" : "TASK+CHILD");
		free(text);
		read_of(3, values, 3);
		story->ops->on[born.kind](story, &born);
		born.task.parent = born.task.tid;	/* a process of the thread, and its child */
		born.task.pid = ++born.task.tid;
	}
	for (int i = 0; i < 3; i++) {
		exec.exec.tid = exec.exec.former = 101 + i;
		story->ops->on[exec.kind](story, &exec);
		text = told(0, false, false);
		if (i)
			has(text, i == 1 ? "task 102 executed" : "task 103 executed /bin/child\n");
		has(text, "Counts and times of a task and its children are sums over all of them.");
		free(text);
	}
	/* those of many have no room */
	for (int i = 0; i < 64; i++) {
		born.task.tid = born.task.pid = 200 + i;
		story->ops->on[born.kind](story, &born);
	}
	text = told(0, false, false);
	assert_null(strstr(text, "103 executed"));
	free(text);
}

/* Enabling an event after the exit of its task; the exec of a child of who opened events. */
static void test_tasks(void **state)
{
	const struct activity born = { ACTIVITY_TASK, .task = { .tid = 200, .pid = 200, .parent = 100 } };
	const struct activity exec = {
		ACTIVITY_EXEC, .exec = { .tid = 200, .former = 200, .exe = "/bin/child" },
	};
	const struct activity gone = { ACTIVITY_GONE, .gone = { .tid = 300, .how = END_EXIT } };
	struct activity other = born;
	uint8_t attr[128] = { 0 };

	(void)state;
	other.task.tid = other.task.pid = 300;
	model_born(m, &born.task);
	model_born(m, &other.task);
	story->ops->on[born.kind](story, &born);
	story->ops->on[other.kind](story, &other);
	put_type(attr, 1);
	put(attr, 40, bit_field(0, 1, 1));
	opened(3, attr, 300);
	story->ops->on[exec.kind](story, &exec);
	model_gone(m, 300, false);
	story->ops->on[gone.kind](story, &gone);
	controlled(3, PERF_EVENT_IOC_ENABLE, 0);
	tells(false, "task 200 executed /bin/child\n");
	tells(false, "enabled fd 3, without effect: its task had exited\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_shared_counter, setup, teardown),
		cmocka_unit_test_setup_teardown(test_table, setup, teardown),
		cmocka_unit_test_setup_teardown(test_conditions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_busy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refuted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_exited, setup, teardown),
		cmocka_unit_test_setup_teardown(test_required, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_any_attr, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_records, setup, teardown),
		cmocka_unit_test_setup_teardown(test_order_of_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_probe, setup, teardown),
		cmocka_unit_test_setup_teardown(test_group_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(test_loops, setup, teardown),
		cmocka_unit_test_setup_teardown(test_when_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(test_last_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(test_heirs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tasks, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
