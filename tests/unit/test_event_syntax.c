// SPDX-License-Identifier: LGPL-2.1-or-later
/* The event syntax, on a sysfs and a tracefs that this test makes up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/abi/arch.h"
#include "core/host/event_syntax.h"
#include "core/host/sysfile.h"
#include "core/lib/nearest.h"
#include "tree.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

static char root[TREE_PATH];
static struct host *host;

static void put(const char *path, const char *text)
{
	tree_put(root, path, text);
}

static int setup(void **state)
{
	(void)state;
	tree_new(root, "syntax");
	tree_put_cpu(root);
	put(DEVICES "msr/type", "9\n");
	put(DEVICES "msr/format/event", "config:0-63\n");
	put(DEVICES "msr/events/tsc", "event=0x00\n");
	put(DEVICES "msr/events/smi", "event=0x04\n");
	put(DEVICES "uprobe/type", "8\n");
	put(DEVICES "uprobe/format/retprobe", "config:0\n");
	put("events/sched/sched_switch/id", "372\n");
	put("events/sched/sched_wakeup/id", "374\n");
	put("events/irq/irq_handler_entry/id", "120\n");
	host = host_new(root, root);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	host_free(host);
	return tree_remove(root);
}

/* The list that text is of; it must be one. */
static struct event_list parsed(const char *text)
{
	struct event_list l = { 0 };

	if (!event_list_add(&l, host, text))
		fail_msg("'%s' at %zu: %s", text, l.at, l.why);
	return l;
}

/* The first event has this value there. */
static void has(const char *text, unsigned int member, uint64_t v)
{
	struct event_list l = parsed(text);

	if (event_get(&l.events[0], member) != v)
		fail_msg("'%s': %s is 0x%llx, not 0x%llx", text,
			 layout_perf_event_attr.fields[member].name,
			 (unsigned long long)event_get(&l.events[0], member),
			 (unsigned long long)v);
	event_list_free(&l);
}

static void is(const char *text, uint32_t type, uint64_t config)
{
	has(text, ATTR_TYPE, type);
	has(text, ATTR_CONFIG, config);
}

/* Text is refused at that place, in words that have these among them. */
static void refused(const char *text, size_t at, const char *words)
{
	struct event_list l = { 0 };

	if (event_list_add(&l, host, text))
		fail_msg("'%s' was taken", text);
	if (l.at != at || !strstr(l.why, words))
		fail_msg("'%s': at %zu: %s", text, l.at, l.why);
	assert_int_equal(l.n, 0);
	event_list_free(&l);
}

static void test_generic(void **state)
{
	(void)state;
	is("cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	is("cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	is("ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES);
	is("branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	is("branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES);
	is("cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
	is("minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN);
	is("PERF_COUNT_SW_DUMMY", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	is("r1a8", PERF_TYPE_RAW, 0x1a8);
	is("r0x1A8", PERF_TYPE_RAW, 0x1a8);
	is("rffffffffffffffff", PERF_TYPE_RAW, UINT64_MAX);
	is("1:0x9", 1, 9);
	is("99:7:u", 99, 7);
	has("cycles", ATTR_SIZE, layout_perf_event_attr.size);
	refused("rZZ", 0, "up to 16 hexadecimal digits");
	refused("r12345678901234567", 0, "up to 16 hexadecimal digits");
}

/* Names of libpfm4, where it is there. */
static void test_pfm(void **state)
{
	(void)state;
#ifdef HAVE_LIBPFM4
	if (access("/proc/sys/kernel/perf_event_paranoid", R_OK)) {
		print_message("libpfm4 wants to read perf_event_paranoid\n");
		skip();
	}
	is("perf::PERF_COUNT_SW_PAGE_FAULTS", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	is("perf::PERF_COUNT_SW_CPU_CLOCK:u,sample_period=3", PERF_TYPE_SOFTWARE, 0);
	has("perf::PERF_COUNT_SW_CPU_CLOCK:u,sample_period=3", ATTR_EXCLUDE_KERNEL, 1);
	has("perf::PERF_COUNT_SW_CPU_CLOCK:u,sample_period=3", ATTR_SAMPLE_PERIOD, 3);
	has("perf::PERF_COUNT_SW_CPU_CLOCK", ATTR_SIZE, layout_perf_event_attr.size);
	refused("perf::NO_SUCH_EVENT", 0, "unknown event or tracepoint");
#else
	refused("perf::PERF_COUNT_SW_PAGE_FAULTS", 0, "unknown event or tracepoint");
#endif
}

static void test_cache(void **state)
{
	(void)state;
	is("L1-dcache-load-misses", PERF_TYPE_HW_CACHE, 0x10000);
	is("LLC-loads", PERF_TYPE_HW_CACHE, 0x2);
	is("LLC", PERF_TYPE_HW_CACHE, 0x2);
	is("dTLB-misses-store", PERF_TYPE_HW_CACHE, 0x10103);
	is("iTLB-speculative-read-miss", PERF_TYPE_HW_CACHE, 0x10204);
	is("branch-loads", PERF_TYPE_HW_CACHE, 0x5);
	is("node-prefetches", PERF_TYPE_HW_CACHE, 0x206);
	/* as pevtrace names them itself */
	is("L1D:READ:MISS", PERF_TYPE_HW_CACHE, 0x10000);
	has("L1D:WRITE:ACCESS:u", ATTR_EXCLUDE_KERNEL, 1);
	has("LLC-loads:k", ATTR_EXCLUDE_USER, 1);
	refused("LLC-loads-loads", 0, "unknown event");
	refused("loads", 0, "unknown event");
}

static void test_modifiers(void **state)
{
	(void)state;
	has("cycles:u", ATTR_EXCLUDE_USER, 0);
	has("cycles:u", ATTR_EXCLUDE_KERNEL, 1);
	has("cycles:u", ATTR_EXCLUDE_HV, 1);
	has("cycles:uk", ATTR_EXCLUDE_KERNEL, 0);
	has("cycles:uk", ATTR_EXCLUDE_HV, 1);
	has("cycles", ATTR_EXCLUDE_HV, 0);
	has("cycles:G", ATTR_EXCLUDE_HOST, 1);
	has("cycles:G", ATTR_EXCLUDE_GUEST, 0);
	has("cycles:H", ATTR_EXCLUDE_GUEST, 1);
	has("cycles:GH", ATTR_EXCLUDE_GUEST, 0);
	has("cycles:ppp", ATTR_PRECISE_IP, 3);
	has("cycles:IDe", ATTR_EXCLUDE_IDLE, 1);
	has("cycles:IDe", ATTR_PINNED, 1);
	has("cycles:IDe", ATTR_EXCLUSIVE, 1);
	has("{cycles:k,cs}:u", ATTR_EXCLUDE_USER, 0);
	has("{cycles:k,cs}:u", ATTR_EXCLUDE_KERNEL, 0);
	has("{cycles:k,cs}:u", ATTR_EXCLUDE_HV, 1);
	has("cycles:S", ATTR_SAMPLE_TYPE, PERF_SAMPLE_READ);
	has("cycles:S", ATTR_READ_FORMAT, PERF_FORMAT_ID);
	has("{cycles,cs}:S", ATTR_READ_FORMAT, PERF_FORMAT_ID | PERF_FORMAT_GROUP);
	has("{cycles,cs}:S,read_format=LOST", ATTR_READ_FORMAT, PERF_FORMAT_LOST);
	refused("cycles:pppp", 10, "at most 3");
	refused("cycles:q", 7, "unknown modifier");
	refused("cycles:W", 7, "leave it out");
	refused("cycles:", 7, "expected a modifier");
}

static void test_pmus(void **state)
{
	(void)state;
	is("msr/tsc/", 9, 0);
	is("msr/smi/u", 9, 4);
	is("smi", 9, 4);
	has("msr/tsc/k", ATTR_EXCLUDE_USER, 1);
	is("cpu/event=0x3c,umask=1/", 4, 0x13c);
	is("cpu/event=0x312/", 4, 0x300000012);
	is("cpu/edge/", 4, 1 << 18);
	is("cpu/mem-loads/", 4, 0x1cd);
	has("cpu/mem-loads/", ATTR_CONFIG1, 3);
	has("cpu/mem-loads,ldlat=30/", ATTR_CONFIG1, 30);
	is("cpu/config=0x77,period=100/", 4, 0x77);
	has("cpu/config=0x77,period=100/", ATTR_SAMPLE_PERIOD, 100);
	has("cycles/freq=5/", ATTR_FREQ, 1);
	is("cycles/config1=3/u", PERF_TYPE_HARDWARE, 0);
	has("cycles/config1=3/u", ATTR_CONFIG1, 3);
	is("uprobe/retprobe/,uprobe_path=/bin/ls,probe_offset=0x10", 8, 1);
	refused("cpu/umask=0x100/", 10, "at most 0xff");
	refused("cpu/umusk=1/", 4, "did you mean umask");
	refused("cpu/umask=1", 3, "expected a second /");
	refused("cpx/umask=1/", 0, "did you mean cpu");
	refused("kprobe/retprobe/", 0, "no PMU 'kprobe' (Probes in the kernel)");
	refused("kprobe", 0, "no PMU 'kprobe'");
	refused("uprobe,uprobe_path=/x", 0, "uprobe/config=1/");
}

/* Terms of probes that no format directory has. */
static void test_probes(void **state)
{
	struct event_list l;

	(void)state;
	put(DEVICES "kprobe/type", "6\n");
	put(DEVICES "kprobe/format/retprobe", "config:0\n");
	host_free(host);
	host = host_new(root, root);
	l = parsed("kprobe/func=do_exit,offset=4/");
	assert_string_equal((const char *)l.events[0].attr.pool, "do_exit");
	assert_int_equal(event_get(&l.events[0], ATTR_TYPE), 6);
	assert_int_equal(event_get(&l.events[0], ATTR_KPROBE_FUNC),
			 l.events[0].attr.strings[0].addr);
	assert_int_equal(event_get(&l.events[0], ATTR_PROBE_OFFSET), 4);
	event_list_free(&l);
	is("kprobe/retprobe,addr=0xffffffff81000000/", 6, 1);
	has("kprobe/retprobe,addr=0xffffffff81000000/", ATTR_KPROBE_ADDR, 0xffffffff81000000);
	l = parsed("uprobe/retprobe,path=\"/bin/ls\",offset=0x10/");
	assert_string_equal((const char *)l.events[0].attr.pool, "/bin/ls");
	assert_int_equal(event_get(&l.events[0], ATTR_PROBE_OFFSET), 0x10);
	event_list_free(&l);
	refused("uprobe/func=main/", 7, "func");
	refused("kprobe/func=/", 12, "kprobe_func");
}

static void test_strings(void **state)
{
	struct event_list l;

	(void)state;
	l = parsed("uprobe/retprobe/,uprobe_path=\"/a,b\\\"c\"");
	assert_int_equal(l.events[0].attr.nstrings, 1);
	assert_string_equal((const char *)l.events[0].attr.pool, "/a,b\"c");
	assert_int_equal(event_get(&l.events[0], ATTR_UPROBE_PATH),
			 l.events[0].attr.strings[0].addr);
	event_list_free(&l);
	l = parsed("type=uprobe,uprobe_path=/x\\y");
	assert_string_equal((const char *)l.events[0].attr.pool, "/x\\y");
	assert_int_equal(event_get(&l.events[0], ATTR_TYPE), 8);
	event_list_free(&l);
}

static void test_breakpoints(void **state)
{
	(void)state;
	is("mem:0x1000", PERF_TYPE_BREAKPOINT, 0);
	has("mem:0x1000", ATTR_BP_ADDR, 0x1000);
	has("mem:0x1000", ATTR_BP_TYPE, HW_BREAKPOINT_RW);
	has("mem:0x1000", ATTR_BP_LEN, 4);
	has("mem:0x1000/8:w", ATTR_BP_LEN, 8);
	has("mem:0x1000/8:w", ATTR_BP_TYPE, HW_BREAKPOINT_W);
	has("mem:0x1000:x", ATTR_BP_LEN, sizeof(long));
	has("mem:0x1000:rw:u", ATTR_EXCLUDE_KERNEL, 1);
	has("mem:0x1000:u", ATTR_EXCLUDE_KERNEL, 1);
	has("mem:0x1000:u", ATTR_BP_TYPE, HW_BREAKPOINT_RW);
	refused("mem:", 4, "bp_addr is missing");
	refused("mem:zz", 4, "bp_addr");
	refused("mem:0x1000/:r", 11, "bp_len is missing");
	refused("mem:0x1000:rr", 11, "not a modifier");
}

static void test_tracepoints(void **state)
{
	struct event_list l;

	(void)state;
	is("sched:sched_switch", PERF_TYPE_TRACEPOINT, 372);
	has("sched:sched_switch:u", ATTR_EXCLUDE_KERNEL, 1);
	l = parsed("sched:*,sample_period=1");
	assert_int_equal(l.n, 2);
	assert_int_equal(event_get(&l.events[0], ATTR_CONFIG), 372);
	assert_int_equal(event_get(&l.events[1], ATTR_CONFIG), 374);
	assert_int_equal(event_get(&l.events[1], ATTR_SAMPLE_PERIOD), 1);
	assert_string_equal(l.events[1].attr.label, "sched:sched_wakeup");
	event_list_free(&l);
	refused("sched:sched_swich", 0, "did you mean sched:sched_switch");
	refused("sched_switch", 0, "did you mean sched:sched_switch");
	refused("nosuch:*", 0, "unknown event or tracepoint");
	refused("sched:nope", 0, "did you mean sched:sched_");
	refused("sched:*nope", 0, "did you mean sched:sched_");
	refused("nosuch:nope", 0, "available_events");
	refused("../x:y", 0, "");
}

/* Registers have names where the processor is known. */
static void test_registers(void **state)
{
	static const struct {
		const struct arch *arch;
		const char *text;
	} rows[] = {
		{ &arch_x86_64, "dummy,sample_regs_user=AX|BX" },
		{ &arch_x86, "dummy,sample_regs_user=AX|BX" },
		{ &arch_aarch64, "dummy,sample_regs_user=X0|X1" },
		{ &arch_arm, "dummy,sample_regs_user=X0|X1" }, /* of a 64-bit kernel */
		{ &arch_riscv64, "dummy,sample_regs_user=PC|RA" },
		{ &arch_ppc64le, "dummy,sample_regs_user=R0|R1" },
		{ &arch_s390x, "dummy,sample_regs_user=R0|R1" },
	};

	(void)state;
	has("dummy,sample_regs_user=3", ATTR_SAMPLE_REGS_USER, 3);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (arch_native() == rows[i].arch)
			has(rows[i].text, ATTR_SAMPLE_REGS_USER, 3);
}

static void test_members(void **state)
{
	struct event_list l;

	(void)state;
	l = parsed("cpu-clock,sample_freq=999,sample_type=IP|TID,exclude_kernel");
	assert_int_equal(l.n, 1);
	assert_int_equal(event_get(&l.events[0], ATTR_FREQ), 1);
	assert_int_equal(event_get(&l.events[0], ATTR_SAMPLE_FREQ), 999);
	assert_int_equal(event_get(&l.events[0], ATTR_SAMPLE_TYPE), 3);
	assert_int_equal(event_get(&l.events[0], ATTR_EXCLUDE_KERNEL), 1);
	assert_true(l.events[0].given[ATTR_SAMPLE_FREQ]);
	assert_false(l.events[0].given[ATTR_FREQ]);
	event_default(&l.events[0], ATTR_SAMPLE_PERIOD, 5); /* its place is taken */
	assert_int_equal(event_get(&l.events[0], ATTR_SAMPLE_FREQ), 999);
	event_list_free(&l);
	has("cpu-clock,sample_freq=9,sample_period=7", ATTR_FREQ, 0);
	has("cpu-clock,sample_freq=9,freq=0", ATTR_FREQ, 0);
	has("cpu-clock:u,exclude_kernel=0", ATTR_EXCLUDE_KERNEL, 0);
	has("dummy,wakeup_watermark=1", ATTR_WATERMARK, 1);
	has("dummy,clockid=-1", ATTR_CLOCKID, UINT32_MAX);
	has("dummy,clockid=MONOTONIC", ATTR_CLOCKID, 1);
	has("dummy,read_format=PERF_FORMAT_ID|0x10", ATTR_READ_FORMAT, 0x14);
	has("dummy , sample_period = 3", ATTR_SAMPLE_PERIOD, 3);
	is("type=SOFTWARE,config=CPU_CLOCK", PERF_TYPE_SOFTWARE, 0);
	is("type=msr,config=4", 9, 4);
	has("dummy,size=64", ATTR_SIZE, 64);
	has("dummy,__reserved_1=1", ATTR_RESERVED_1, 1);
	refused("sample_period", 0, "expected an event before it");
	refused("dummy,sample_typ=IP", 6, "did you mean sample_type");
	refused("dummy,sample_type=IPP", 18, "did you mean IP");
	refused("dummy,sample_type", 6, "requires a value");
	refused("dummy,freq=99", 11, "did you mean sample_freq=99");
	refused("dummy,period=99", 6, "did you mean sample_period");
	refused("user_time", 0, "perf stat itself");
	refused("dummy,precise_ip=4", 17, "has 2 bits");
	refused("dummy,exclude_idle=2", 19, "has 1 bit;");
	refused("dummy,clockid=0x100000000", 14, "has 32 bits");
	refused("dummy,clockid=-2147483649", 14, "has 32 bits");
	refused("dummy,sample_period=", 20, "expected a number or a name");
}

static void test_groups(void **state)
{
	struct event_list l;

	(void)state;
	l = parsed("dummy,{cycles:u,cs,sample_period=3}:I,pinned,faults");
	assert_int_equal(l.n, 4);
	assert_int_equal(l.events[0].leader, 0);
	assert_int_equal(l.events[1].leader, 1);
	assert_int_equal(l.events[2].leader, 1);
	assert_int_equal(l.events[3].leader, 3);
	assert_int_equal(event_get(&l.events[1], ATTR_SAMPLE_PERIOD), 0);
	assert_int_equal(event_get(&l.events[2], ATTR_SAMPLE_PERIOD), 3);
	for (size_t i = 0; i < 4; i++) {
		bool in = i == 1 || i == 2;

		assert_int_equal(event_get(&l.events[i], ATTR_PINNED), in);
		assert_int_equal(event_get(&l.events[i], ATTR_EXCLUDE_IDLE), in);
	}
	assert_string_equal(l.events[1].attr.label, "cycles:u");
	/* a second text begins anew */
	assert_true(event_list_add(&l, host, "{cs,cs}"));
	assert_int_equal(l.n, 6);
	assert_int_equal(l.events[5].leader, 4);
	assert_false(event_list_add(&l, host, "dummy,nosuch"));
	assert_int_equal(l.n, 6);
	event_list_free(&l);
	refused("{cycles", 0, "expected }");
	refused("{cycles,{cs}}", 8, "cannot be nested");
	refused("{}", 1, "expected an event");
	refused("cycles}", 6, "unexpected");
	refused("cycles,", 7, "expected an event");
	refused("", 0, "expected an event");
	refused(",", 0, "expected an event");
	refused("/x/", 0, "cannot begin");
}

static void test_far_too_many(void **state)
{
	size_t n = 3 * (EVENT_LIST_MAX + 1);
	char *text = malloc(n);

	(void)state;
	for (size_t i = 0; i < n; i += 3)
		memcpy(text + i, "cs,", 3);
	text[n - 1] = '\0';
	refused(text, n - 3, "more than");
	free(text);
}

/* Whatever is written, it is taken or refused at a place within it. */
static void test_hostile(void **state)
{
	static const char *const seeds[] = {
		"cpu-clock,sample_freq=999,sample_type=IP|TID,exclude_kernel",
		"{cycles:u,sched:sched_switch}:I,cpu/event=0x3c,umask=1/u",
		"mem:0x1000/8:rw:u,r1a8,L1-dcache-load-misses,L1D:READ:MISS",
		"uprobe/retprobe/,uprobe_path=\"/bin/l\\\"s\",probe_offset=(1<<3)|~0",
		"type=msr,config=-1,sample_regs_user=AX|BX,1:2,sched:*",
	};
	static const char bytes[] = ",:/={}\"\\|()<~-0x1 u*?[\n\x01\xff";
	unsigned int seed = 4711;

	(void)state;
	for (unsigned int i = 0; i < 60000; i++) {
		char text[128];
		struct event_list l = { 0 };
		size_t len, changes = 1 + (unsigned int)rand_r(&seed) % 4;

		snprintf(text, sizeof(text), "%s", seeds[i % 5]);
		len = strlen(text);
		while (changes--) {
			size_t at = (unsigned int)rand_r(&seed) % len;

			if (rand_r(&seed) % 8 == 0)
				text[len = at + 1] = '\0';
			else
				text[at] = bytes[(unsigned int)rand_r(&seed) %
						 (sizeof(bytes) - 1)];
		}
		if (!event_list_add(&l, host, text)) {
			assert_true(l.at <= len);
			assert_true(*l.why);
			assert_int_equal(l.n, 0);
		}
		event_list_free(&l);
	}
}

static void test_nearest(void **state)
{
	struct nearest n;

	(void)state;
	nearest_start(&n, "page-fualts", 11);
	nearest_try(&n, "cpu-clock");
	assert_string_equal(n.best, "");
	nearest_try(&n, "page-faults");
	assert_string_equal(n.best, "page-faults");
	nearest_try(&n, "page_faults_min");
	assert_string_equal(n.best, "page-faults");
	nearest_start(&n, "x", 1);
	nearest_try(&n, "y");
	assert_string_equal(n.best, "");
}

static void test_cpus(void **state)
{
	struct cpus c;

	(void)state;
	assert_true(cpus_parse(&c, "0-2,8,1"));
	assert_int_equal(c.n, 4);
	assert_int_equal(c.of[3], 8);
	assert_true(cpus_have(&c, 2));
	assert_false(cpus_have(&c, 3));
	cpus_free(&c);
	for (const char *const *bad = (const char *const[]){ "", "a", "1-", "3-1", "1,,2",
		"-1", "99999999999", "0-99999999", "1 ", NULL }; *bad; bad++)
		if (cpus_parse(&c, *bad))
			fail_msg("'%s' was taken", *bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generic),
		cmocka_unit_test(test_pfm),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_modifiers),
		cmocka_unit_test(test_pmus),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_probes),
		cmocka_unit_test(test_breakpoints),
		cmocka_unit_test(test_tracepoints),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_far_too_many),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_cpus),
	};

	return cmocka_run_group_tests_name("event_syntax", tests, setup, teardown);
}
