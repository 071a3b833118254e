// SPDX-License-Identifier: LGPL-2.1-or-later
/* Conditions on calls, and what an older kernel would have refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>

#include "core/abi/as_kernel.h"
#include "core/abi/layout.h"
#include "core/abi/when.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

struct opened {
	uint8_t attr[PERF_ATTR_SIZE_VER7];
	struct call call;
	struct rule_target target;
};

static void set(struct opened *o, unsigned int member, uint64_t v)
{
	field_set(&layout_perf_event_attr.fields[member], v, o->attr);
}

/* A sampled cpu-clock of pid 0 on every CPU. */
static void begin(struct opened *o)
{
	memset(o, 0, sizeof(*o));
	o->call.desc = call_by_name("perf_event_open");
	o->call.arch = &arch_x86_64;
	o->call.args[2] = o->call.args[3] = (uint64_t)-1;
	set(o, ATTR_TYPE, PERF_TYPE_SOFTWARE);
	set(o, ATTR_SIZE, sizeof(o->attr));
	set(o, ATTR_SAMPLE_TYPE, PERF_SAMPLE_IP | PERF_SAMPLE_TID);
	set(o, ATTR_PRECISE_IP, 2);
}

static struct when *read_text(const char *text, char why[200])
{
	const struct call_desc *calls[] = { call_by_name("perf_event_open"),
					    call_by_name("ioctl") };
	/* against an unmapped byte, as it were: exactly as long as it is */
	size_t len = strlen(text);
	char *copy = malloc(len ? len : 1);
	struct text_cursor c;
	struct when *w;

	memcpy(copy, text, len);
	c = (struct text_cursor){ .at = copy, .end = copy + len };
	w = when_read(&c, calls, 2, NULL);
	memcpy(why, c.why, sizeof(c.why));
	free(copy);
	return w;
}

static bool holds(const struct opened *o, const char *text)
{
	char why[200];
	struct when *w = read_text(text, why);
	bool yes;

	if (!w)
		fail_msg("%s: %s", text, why);
	yes = when_holds(w, &o->call, o->attr, sizeof(o->attr));
	when_free(w);
	return yes;
}

/* Values of the caller's own are those at the time of the question; members of the attr come first. */
static void test_own_values(void **state)
{
	static const char text[] = "(samples>2 || !samples) && precise_ip==2 && type==1";
	const struct call_desc *desc = call_by_name("perf_event_open");
	struct when_value values[] = { { "samples", 3 }, { "type", 7 }, { NULL, 0 } };
	struct text_cursor c = { .at = text, .end = text + strlen(text) };
	struct when *w = when_read(&c, &desc, 1, values);
	struct opened o;

	(void)state;
	begin(&o);
	assert_non_null(w);
	assert_true(when_holds(w, &o.call, o.attr, sizeof(o.attr)));
	values[0].value = 2;
	assert_false(when_holds(w, &o.call, o.attr, sizeof(o.attr)));
	values[0].value = 0;
	assert_true(when_holds(w, &o.call, o.attr, sizeof(o.attr)));
	when_free(w);
	c = (struct text_cursor){ .at = text, .end = text + strlen(text) };
	assert_null(when_read(&c, &desc, 1, NULL));
	assert_non_null(strstr(c.why, "'samples' is neither"));
}

static void test_true(void **state)
{
	static const char *const texts[] = {
		"precise_ip>0", "precise_ip", "!inherit", "precise_ip==2", "precise_ip = 2",
		"type==PERF_TYPE_SOFTWARE", "type == SOFTWARE", "type==1", "type!=HARDWARE",
		"sample_type&PERF_SAMPLE_TID", "sample_type & TID|TIME", "sample_type==IP|TID",
		"precise_ip>=2 && precise_ip<=2", "inherit || precise_ip<3",
		"!(inherit || freq)", "!inherit && !freq", "cpu==-1", "cpu<0", "pid>=0",
		"flags==0", "inherit && freq || precise_ip", "(precise_ip)",
		"precise_ip && (cpu == -1 || cpu == 3)", " precise_ip ",
	};
	struct opened o;

	(void)state;
	begin(&o);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (!holds(&o, texts[i]))
			fail_msg("%s does not hold", texts[i]);
}

static void test_false(void **state)
{
	static const char *const texts[] = {
		"precise_ip>2", "!precise_ip", "inherit", "precise_ip!=2", "type==HARDWARE",
		"sample_type&PERF_SAMPLE_TIME", "sample_type==IP", "precise_ip<2",
		"inherit && precise_ip || freq", "cpu>=0", "cpu==0", "pid", "!!inherit",
		"request==PERF_EVENT_IOC_ID", /* an argument of another call */
	};
	struct opened o;

	(void)state;
	begin(&o);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (holds(&o, texts[i]))
			fail_msg("%s holds", texts[i]);
}

static void test_wrong(void **state)
{
	static const char *const texts[] = {
		"", " ", "nonsense>0", "precise_ip>", "precise_ip>nobody", "(precise_ip",
		"precise_ip)", "precise_ip &&", "&& precise_ip", "!", "precise_ip precise_ip",
		"precise_ip>0 ||", "precise_ip==1+", "type=PERF_TYPE_", "((((", "precise_ip>>1",
		"precise_ip ? 1", "=", ">", "precise_ip===",
	};
	char deep[2000], why[200];

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct when *w = read_text(texts[i], why);

		if (w || !why[0])
			fail_msg("'%s' is taken, or refused without a word", texts[i]);
	}
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	assert_null(read_text(deep, why));
	memset(deep, '!', sizeof(deep) - 1);
	assert_null(read_text(deep, why));
}

/* Whatever is read: it ends, and what is taken can be asked. */
static void test_random(void **state)
{
	static const char *const words[] = {
		"precise_ip", "type", "cpu", "&&", "||", "(", ")", "!", "==", ">", "&", "|", "1",
		"0x", "PERF_TYPE_RAW", "-", " ", "\xff", "request", "sizeof",
	};
	struct opened o;
	unsigned int taken = 0;

	(void)state;
	begin(&o);
	srand(7);
	for (int i = 0; i < 50000; i++) {
		char text[200] = "", why[200];
		struct when *w;

		for (int n = rand() % 8; n >= 0; n--)
			strcat(text, words[(size_t)rand() % (sizeof(words) / sizeof(*words))]);
		w = read_text(text, why);
		taken += w && (when_holds(w, &o.call, o.attr, sizeof(o.attr)) || true);
		when_free(w);
	}
	assert_true(taken > 100);
}

/* Without an attr, comparisons with its members are false. */
static void test_without_attr(void **state)
{
	struct opened o;
	struct when *w;
	char why[200];

	(void)state;
	begin(&o);
	w = read_text("precise_ip==0", why);
	assert_false(when_holds(w, &o.call, NULL, 0));
	when_free(w);
}

/* Older kernels ---------------------------------------------------------------- */

static const struct rule_pmu pmus[] = {
	{ .type = PERF_TYPE_SOFTWARE, .name = "software" }, { .type = 9, .name = "uprobe" },
	{ .type = PERF_TYPE_BREAKPOINT, .name = "breakpoint" }, { .type = 10, .name = "msr" },
};
enum { NPMUS = sizeof(pmus) / sizeof(*pmus) };

static struct as_refusal ask(const struct opened *o, uint32_t release)
{
	struct rule_pmu known[NPMUS];
	const struct rule_machine here = {
		.release = KVER(6, 18, 0), .attr_size = 136, .page_size = 4096,
		.max_sample_rate = 100000, .max_stack = 127,
		.arch = &arch_x86_64, .paranoid = 4, .cpus = 4, .pmus = known, .npmus = NPMUS,
		.pmus_known = FACT_YES,
	};
	struct as_kernel k;
	struct as_refusal r;

	for (size_t i = 0; i < NPMUS; i++) {
		known[i] = pmus[i];
		known[i].desc = pmu_desc_by_name(pmus[i].name);
	}
	as_kernel_init(&k, release, &here);
	r = as_kernel_refuses(&k, &o->call, o->attr, sizeof(o->attr), &o->target);
	as_kernel_free(&k);
	return r;
}

/*
 * What came when is told by the kernel's history: the members of struct
 * perf_event_attr, with its sizes, and the flags, as perf_event_open(2) has them.
 */
static void test_old(void **state)
{
	static const struct {
		unsigned int member;
		uint64_t value;
		uint32_t before, since;	/* refused by the former, not by the latter */
		int error;
		uint32_t size;
	} rows[] = {
		{ ATTR_USE_CLOCKID, 1, KVER(4, 0, 0), KVER(4, 1, 0), EINVAL, 0 },
		{ ATTR_AUX_WATERMARK, 1, KVER(4, 0, 0), KVER(4, 1, 0), E2BIG, 104 },
		{ ATTR_SIG_DATA, 1, KVER(5, 12, 0), KVER(5, 13, 0), E2BIG, 120 },
		{ ATTR_KSYMBOL, 1, KVER(5, 0, 0), KVER(5, 1, 0), EINVAL, 0 },
		{ ATTR_CONFIG, PERF_COUNT_SW_BPF_OUTPUT, KVER(4, 3, 0), KVER(4, 4, 0), ENOENT, 0 },
		{ ATTR_READ_FORMAT, PERF_FORMAT_LOST, KVER(5, 19, 0), KVER(6, 0, 0), EINVAL, 0 },
		{ ATTR_READ_FORMAT, PERF_FORMAT_LOST, KVER(5, 10, 203), KVER(5, 10, 223),
		  EINVAL, 0 },
		{ ATTR_SAMPLE_TYPE, PERF_SAMPLE_CGROUP, KVER(5, 6, 0), KVER(5, 7, 0), EINVAL, 0 },
		{ ATTR_TYPE, 9, KVER(4, 16, 0), KVER(4, 17, 0), ENOENT, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *name = layout_perf_event_attr.fields[rows[i].member].name;
		struct as_refusal r;
		struct opened o;

		begin(&o);
		set(&o, rows[i].member, rows[i].value);
		r = ask(&o, rows[i].before);
		if (r.error != rows[i].error || r.attr_size != rows[i].size || !r.because[0])
			fail_msg("%s: error %d size %u because '%s'", name, r.error,
				 r.attr_size, r.because);
		r = ask(&o, rows[i].since);
		if (r.error && rows[i].member != ATTR_SAMPLE_TYPE)
			fail_msg("%s: error %d once it is there: %s", name, r.error, r.because);
	}
}

/* What every kernel refuses is for the one that runs; rights, too. */
static void test_left_alone(void **state)
{
	struct opened o;

	(void)state;
	begin(&o);
	assert_int_equal(ask(&o, KVER(4, 4, 0)).error, 0);
	o.call.args[1] = o.call.args[2] = (uint64_t)-1;
	assert_int_equal(ask(&o, KVER(4, 4, 0)).error, 0);
	begin(&o);
	o.call.args[4] = 1 << 30;
	assert_int_equal(ask(&o, KVER(4, 4, 0)).error, 0);
	/* limits, too, which are checked before config */
	begin(&o);
	set(&o, ATTR_CONFIG, PERF_COUNT_SW_CGROUP_SWITCHES);
	set(&o, ATTR_FREQ, 1);
	set(&o, ATTR_SAMPLE_FREQ, 100000);
	assert_int_equal(ask(&o, KVER(5, 10, 0)).error, ENOENT);
	set(&o, ATTR_SAMPLE_FREQ, 100001);
	assert_int_equal(ask(&o, KVER(5, 10, 0)).error, 0);
}

static void test_old_calls(void **state)
{
	struct opened o;

	(void)state;
	begin(&o);
	o.call.args[4] = PERF_FLAG_FD_CLOEXEC;
	assert_int_equal(ask(&o, KVER(3, 13, 0)).error, EINVAL);
	assert_int_equal(ask(&o, KVER(3, 14, 0)).error, 0);
	o.call.desc = call_by_name("ioctl");
	o.call.args[1] = PERF_EVENT_IOC_PAUSE_OUTPUT;
	assert_int_equal(ask(&o, KVER(4, 6, 0)).error, ENOTTY);
	assert_int_equal(ask(&o, KVER(4, 7, 0)).error, 0);
	o.call.args[1] = PERF_EVENT_IOC_ENABLE;
	assert_int_equal(ask(&o, KVER(2, 6, 32)).error, 0);
	o.call.args[1] = 0x5401; /* a terminal's */
	assert_int_equal(ask(&o, KVER(2, 6, 32)).error, 0);
}

/* As the kernels' sources have it, where there is no older one to be asked. */
static void test_first(void **state)
{
	struct opened o;

	(void)state;
	begin(&o);
	set(&o, ATTR_PRECISE_IP, 0);
	o.call.args[4] = PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT;
	assert_int_equal(ask(&o, KVER(2, 6, 32)).error, 0);
	o.call.args[4] = PERF_FLAG_PID_CGROUP;
	assert_int_equal(ask(&o, KVER(2, 6, 38)).error, EINVAL);
	/* a task number -1 there is none; today's kernel has an error of its own for it */
	begin(&o);
	set(&o, ATTR_PRECISE_IP, 0);
	o.call.args[1] = (uint64_t)-1;
	assert_int_equal(ask(&o, KVER(2, 6, 36)).error, ESRCH);
	assert_int_equal(ask(&o, KVER(2, 6, 37)).error, 0);
	/* dynamic PMUs came with 2.6.38: type 9 is one here, 1000 nowhere */
	begin(&o);
	set(&o, ATTR_PRECISE_IP, 0);
	set(&o, ATTR_TYPE, 9);
	assert_int_equal(ask(&o, KVER(2, 6, 37)).error, EINVAL);
	assert_int_equal(ask(&o, KVER(2, 6, 38)).error, ENOENT);
	set(&o, ATTR_TYPE, 1000);
	assert_int_equal(ask(&o, KVER(2, 6, 37)).error, EINVAL);
	assert_int_equal(ask(&o, KVER(2, 6, 38)).error, 0);
	set(&o, ATTR_TYPE, PERF_TYPE_BREAKPOINT);
	set(&o, ATTR_BP_TYPE, HW_BREAKPOINT_RW);
	assert_int_equal(ask(&o, KVER(2, 6, 32)).error, EINVAL);
	set(&o, ATTR_BP_LEN, 4);
	assert_int_equal(ask(&o, KVER(2, 6, 32)).error, E2BIG);
	assert_int_equal(ask(&o, KVER(2, 6, 33)).error, 0);
	/* and the software events' own one with 2.6.37 */
	set(&o, ATTR_TYPE, PERF_TYPE_SOFTWARE);
	set(&o, ATTR_CONFIG, PERF_COUNT_SW_DUMMY);
	assert_int_equal(ask(&o, KVER(2, 6, 36)).error, EINVAL);
	assert_int_equal(ask(&o, KVER(2, 6, 37)).error, ENOENT);
}

/* What is found before what came later is found by both, and left to this one. */
static void test_found_before(void **state)
{
	struct opened o;

	(void)state;
	begin(&o);
	set(&o, ATTR_CONFIG, PERF_COUNT_SW_BPF_OUTPUT);
	assert_int_equal(ask(&o, KVER(4, 3, 0)).error, ENOENT);
	o.target.task.exists = FACT_NO;
	assert_int_equal(ask(&o, KVER(4, 3, 0)).error, 0);
	o.target.task.exists = FACT_YES;
	o.call.args[3] = (uint64_t)-2;
	o.target.group.event = FACT_NO;
	assert_int_equal(ask(&o, KVER(4, 3, 0)).error, 0);
	/* but not before a bit of the attr */
	set(&o, ATTR_USE_CLOCKID, 1);
	assert_int_equal(ask(&o, KVER(4, 0, 0)).error, EINVAL);
}

/* Who takes a filter or a program depends on the release. */
static void test_takers(void **state)
{
	static const struct {
		uint64_t type, request;
		uint32_t before, since;
	} rows[] = {
		{ PERF_TYPE_SOFTWARE, PERF_EVENT_IOC_SET_BPF, KVER(4, 8, 0), KVER(4, 9, 0) },
		{ PERF_TYPE_HARDWARE, PERF_EVENT_IOC_SET_BPF, KVER(4, 8, 0), KVER(4, 9, 0) },
		{ PERF_TYPE_RAW, PERF_EVENT_IOC_SET_BPF, KVER(4, 12, 0), KVER(4, 13, 0) },
		{ PERF_TYPE_BREAKPOINT, PERF_EVENT_IOC_SET_BPF, KVER(4, 12, 0), KVER(4, 13, 0) },
		{ PERF_TYPE_RAW, PERF_EVENT_IOC_SET_FILTER, KVER(4, 6, 0), KVER(4, 7, 0) },
	};
	struct opened o;

	(void)state;
	begin(&o);
	o.call.desc = call_by_name("ioctl");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		o.call.args[1] = rows[i].request;
		set(&o, ATTR_TYPE, rows[i].type);
		assert_int_equal(ask(&o, rows[i].before).error, EINVAL);
		assert_int_equal(ask(&o, rows[i].since).error, 0);
		set(&o, ATTR_TYPE, PERF_TYPE_TRACEPOINT);
		assert_int_equal(ask(&o, rows[i].before).error, 0);
	}
	o.call.args[1] = PERF_EVENT_IOC_SET_BPF;
	assert_int_equal(ask(&o, KVER(4, 0, 0)).error, ENOTTY);
}

/*
 * Two refusals at once: once the later one's error was kept.  Linux 6.1 said EINVAL
 * to this; 6.12.117 and 6.18 say EOPNOTSUPP.
 */
static void test_order(void **state)
{
	struct opened o;

	(void)state;
	begin(&o);
	set(&o, ATTR_PRECISE_IP, 0);
	set(&o, ATTR_TYPE, 10);
	set(&o, ATTR_EXCLUDE_USER, 1);
	set(&o, ATTR_SAMPLE_REGS_USER, 1ULL << 50);
	assert_int_equal(ask(&o, KVER(6, 1, 0)).error, EINVAL);
	assert_int_equal(ask(&o, KVER(6, 12, 117)).error, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_values),
		cmocka_unit_test(test_true),
		cmocka_unit_test(test_false),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_without_attr),
		cmocka_unit_test(test_old),
		cmocka_unit_test(test_left_alone),
		cmocka_unit_test(test_old_calls),
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_found_before),
		cmocka_unit_test(test_takers),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
