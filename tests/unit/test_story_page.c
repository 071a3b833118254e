// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the page of a story says of calls that this test makes up: ends, waits, side band, rates. */
#include "story_calls.h"

#include <signal.h>

#include "core/abi/siginfo.h"

static void born(pid_t tid, pid_t pid, pid_t parent)
{
	const struct activity a = {
		ACTIVITY_TASK, .task = { .tid = tid, .pid = pid, .parent = parent, .ns = now },
	};

	model_born(m, &a.task);
	story->ops->on[a.kind](story, &a);
}

static void gone(pid_t tid, int status)
{
	const struct activity a = {
		ACTIVITY_GONE, .gone = { .tid = tid, .how = END_EXIT, .status = status, .ns = now },
	};

	story->ops->on[a.kind](story, &a);
}

static void signalled(pid_t tid, int signo, int code, pid_t from)
{
	struct activity a = { ACTIVITY_SIGNAL, .signal = { .tid = tid, .ns = now } };

	a.signal.info.si_signo = signo;
	a.signal.info.si_code = code;
	a.signal.info.si_pid = from;
	story->ops->on[a.kind](story, &a);
}

static void lacks(const char *words)
{
	char *text = told(0, false, false);

	if (strstr(text, words))
		fail_msg("'%s' in:\n%s", words, text);
	free(text);
}

/* How processes ended, and by whose signals; threads are none. */
static void test_how_it_ended(void **state)
{
	uint8_t attr[128] = { 0 };

	(void)state;
	put_type(attr, 1);
	born(50, 50, 0);
	born(101, 100, 100);
	born(200, 200, 100);
	opened(3, attr, 200);
	now = 1000000;
	signalled(50, SIGALRM, SI_TIMER, 0);
	signalled(100, SIGCHLD, CLD_EXITED, 200);
	now = 2000000;
	signalled(100, SIGINT, SI_USER, 50);
	signalled(100, SIGIO, POLL_IN, 0);
	signalled(100, SIGIO, POLL_IN, 0);
	signalled(100, SIGTERM, SI_TKILL, 100);
	tells(false, "task 200 was running when the trace ended");
	now = 3000000;
	gone(101, 0);
	gone(200, SIGKILL);
	now = 4000000;
	gone(100, 0);
	now = 5000000;
	gone(50, 0);
	tells(true, "End: task 50 (1.000 ms) received SIGALRM from a timer; ");
	tells(false, "End: 1 before; task 100 (2.000 ms) received SIGINT from task 50; ");
	tells(false, "; task 100 (2.000 ms) received SIGIO from an event (the first of 2); ");
	tells(false, "; task 100 (2.000 ms) received SIGTERM from itself; ");
	tells(false, "; task 200 (3.000 ms) was killed by SIGKILL; ");
	tells(false, "task 100 (4.000 ms) and task 50 (5.000 ms) exited with status 0.\n");
	lacks("task 101");
	lacks("SIGCHLD");
	tells(true, "task 100 (2.000 ms) received SIGINT from task 50; ");
	tells(true, "task 101 (3.000 ms), a thread created by task 100, exited with status 0; ");
}

static void waited(int fd, int ret, short revents)
{
	const struct pollfd fds = { fd, POLLIN, 0 }, got = { fd, POLLIN, revents };
	struct call c = {
		.desc = call_by_name("poll"), .arch = &arch_x86_64, .tid = 100, .pid = 100,
		.returned = true, .ret = ret < 0 ? EINTR : ret, .failed = ret < 0,
		.args = { 0x3000, 1, (uint64_t)-1 },
	};

	call_add_capture(&c, AT_SYSCALL_ENTER, 0x3000, 8, &fds, 8);
	call_add_capture(&c, AT_SYSCALL_EXIT, 0x3000, 8, &got, 8);
	happens(&c);
}

/* What interrupted a wait, and that poll does not wait for an event without a ring. */
static void test_waits(void **state)
{
	uint8_t attr[128] = { 0 };

	(void)state;
	put_type(attr, 1);
	put(attr, 16, 1000);
	opened(3, attr, 0);
	waited(3, 1, POLLHUP);
	tells(false, "Waits: task 100 waits with poll for fd 3, which had no ring: of such an event the "
		     "kernel reports POLLHUP at once. Its only wait: ended with POLLHUP.\n");
	opened(4, attr, 0);
	mapped(4, 0x700000);
	born(101, 101, 100);
	waited(4, -1, 0);
	tells(false, "for fds 3 and 4, not all of which had a ring: ");
	tells(false, " Its 2 waits: 1 ended with POLLHUP, 1 interrupted by a signal.");
	signalled(100, SIGCHLD, CLD_EXITED, 101);
	tells(false, ", 1 interrupted by SIGCHLD from task 101.");
	waited(4, -1, 0);
	signalled(100, SIGUSR1, SI_USER, 101);
	tells(false, ", 2 interrupted by a signal.");
}

static void test_hangup(void **state)
{
	uint8_t attr[128] = { 0 };

	(void)state;
	put_type(attr, 1);
	put(attr, 16, 1000);
	opened(3, attr, 0);
	mapped(3, 0x700000);
	waited(3, 1, POLLHUP);
	tells(false, " Its only wait: ended with POLLHUP (the measured tasks had exited).\n");
}

/* Which breakpoints the task held; a check is certain if it is the only one with the error. */
static void test_slots(void **state)
{
	uint8_t attr[128] = { 0 };

	(void)state;
	put_type(attr, 5);
	store_uint(attr + 52, 4, 3);
	put(attr, 64, 8);
	for (int i = 0; i < 5; i++) {
		put(attr, 56, 0x1000 + 8 * (uint64_t)i);
		opened(3 + i, attr, i == 4 ? 200 : 0);
	}
	closed(4);
	now = 1;
	opened(-ENOSPC, attr, 0);
	tells(false, ": ENOSPC, open 6. Refused by the kernel check breakpoint_slots: All hardware "
		     "breakpoints of the task or CPU are in use. This task held 3: fds 3, 5 and 6. "
		     "Remedy: ");
}

/* A record of that type, of n bytes, in the ring of an event that has one of its own. */
static void came(int fd, uint32_t type, size_t n)
{
	struct event *e = model_event(m, 100, fd);
	uint8_t bytes[64] = { 0 };
	struct ring *const *rings;
	size_t i = model_rings(m, &rings);

	while (i-- && rings[i]->event != e)
		;
	store_uint(bytes, 4, type);
	store_uint(bytes + 4, 2, PERF_RECORD_MISC_USER);
	store_uint(bytes + 6, 2, n);
	rings[i]->looks++;
	model_recorded(rings[i], e, bytes, n);
	recorded(e, bytes, n);
}

/* Which records events ask for besides samples, what for, and which came. */
static void test_side_band(void **state)
{
	uint8_t attr[128] = { 0 };

	(void)state;
	model_comm(m, 100, "perf");
	put_type(attr, 1);
	put(attr, 16, 1000);
	put(attr, 40, bit_field(8, 1, 1) | bit_field(9, 1, 1) | bit_field(13, 1, 1));
	opened(3, attr, 200);
	mapped(3, 0x700000);
	came(3, PERF_RECORD_COMM, 16);
	came(3, PERF_RECORD_EXIT, 16);
	came(3, PERF_RECORD_EXIT, 16);
	came(3, PERF_RECORD_SAMPLE, 16);
	put(attr, 8, 9);
	put(attr, 16, 0);
	put(attr, 40, bit_field(14, 1, 1) | bit_field(18, 1, 1) | bit_field(30, 1, 1));
	opened(4, attr, -1);
	mapped(4, 0x710000);
	tells(false, "Side band: fd 3 asks for mmap, comm, task: 1 COMM, 2 EXIT came; ");
	tells(false, "; dummy fd 4 asks for bpf_event (perf names the code of BPF programs loaded "
		     "meanwhile): none came.\n");
	model_event(m, 100, 4)->ring.missed = 8;
	tells(false, "meanwhile): none seen.\n");
}

static void counted(int fd, uint64_t n, uint64_t ns)
{
	const uint64_t values[] = { n, ns, ns };

	read_of(fd, values, 3);
}

/* Samples of each CPU, if the rates differ, and how many were due. */
static void test_rates(void **state)
{
	uint8_t attr[128] = { 0 };

	(void)state;
	put_type(attr, 1);
	put(attr, 16, 100);
	put(attr, 32, 3);
	put(attr, 40, bit_field(10, 1, 1));	/* freq */
	for (int cpu = 0; cpu < 2; cpu++) {
		opened(3 + cpu, attr, -1);
		model_event(m, 100, 3 + cpu)->cpu = cpu;
		mapped(3 + cpu, 0x700000 + 0x10000 * (uint64_t)cpu);
		for (int i = 0; i < (cpu ? 1 : 10); i++)
			came(3 + cpu, PERF_RECORD_SAMPLE, 16);
		counted(3 + cpu, 100000000, 100000000);
	}
	tells(false, ": 11 samples in 200.000 ms of 2 CPUs (CPU 0: 10, 100 Hz; CPU 1: 1, 10 Hz) of about "
		     "20 due (the trace does not show why), 11 in user and 0 in kernel mode, none lost.");
	came(4, PERF_RECORD_THROTTLE, 32);
	tells(false, " of about 20 due (the kernel throttled it), ");
	for (int i = 0; i < 7; i++)
		came(4, PERF_RECORD_SAMPLE, 16);
	tells(false, ": 18 samples in 200.000 ms of 2 CPUs (90 Hz) of about 20 due, ");
}

/* A clock that excludes a mode takes no samples there, so nothing is due. */
static void test_not_due(void **state)
{
	uint8_t attr[128] = { 0 };

	(void)state;
	put_type(attr, 1);
	put(attr, 16, 1000000);
	put(attr, 32, 3);
	put(attr, 40, bit_field(5, 1, 1));	/* exclude_kernel */
	opened(3, attr, 0);
	mapped(3, 0x700000);
	came(3, PERF_RECORD_SAMPLE, 16);
	counted(3, 100000000, 100000000);
	tells(false, ": 1 sample in 100.000 ms, 1 in user and 0 in kernel mode, none lost.");
}

/* Of how long a task slept, where its exec and its exit are known. */
static void test_slept(void **state)
{
	struct activity exec = { ACTIVITY_EXEC, .exec = { .tid = 200, .former = 200, .exe = "/bin/x" } };
	uint8_t attr[128] = { 0 };

	(void)state;
	born(200, 200, 100);
	put_type(attr, 1);
	put(attr, 8, 1);
	put(attr, 32, 3);
	put(attr, 40, bit_field(0, 1, 1) | bit_field(12, 1, 1));
	opened(3, attr, 200);
	now = exec.exec.ns = 10000000;
	model_execed(m, 200, 200);
	story->ops->on[exec.kind](story, &exec);
	now = 110000000;
	counted(3, 3000000, 3000000);
	lacks("slept");
	gone(200, 0);
	tells(false, "only while the task is on a CPU: 3.000 of the 100.000 ms from exec to exit, else it "
		     "slept or waited.\n");
	counted(3, 60000000, 60000000);
	tells(false, "only while the task is on a CPU.\n");
}

/* Members without effect; what differs in the event that opened instead; equal rights once. */
static void test_words(void **state)
{
	uint8_t attr[128] = { 0 };

	(void)state;
	put_type(attr, 1);
	put(attr, 40, bit_field(0, 1, 1) | bit_field(15, 2, 2));	/* disabled, precise_ip */
	opened(3, attr, 0);
	tells(false, "No effect: precise_ip=2 of cpu-clock:pp.\n");
	tells(false, "perf_event_paranoid 1 or below (2 with exclude_kernel=1).\n");
	put(attr, 8, 3);			/* context-switches */
	put(attr, 40, bit_field(0, 1, 1));
	opened(4, attr, 0);
	tells(false, "1 or below (2 with exclude_kernel=1) for cpu-clock:pp, 1 or below for "
		     "context-switches.\n");
	opened_in(-EBADF, attr, 0, 99);
	opened(5, attr, 0);
	tells(false, ": context-switches (EBADF). Later, context-switches opened as fd 5, which differs "
		     "in group_fd");
	opened(-EINVAL, attr, 12345);
	opened(6, attr, 0);
	tells(false, ". Later, context-switches opened as fd 5 with other arguments");
}

/* Why pevtrace refused a call; several that failed alike have one name. */
static void test_injected(void **state)
{
	uint8_t attr[128] = { 0 };

	(void)state;
	put_type(attr, 1);
	for (int i = 0; i < 2; i++) {
		struct call c = {
			.desc = call_by_name("perf_event_open"), .arch = &arch_x86_64, .tid = 100,
			.pid = 100, .returned = true, .ret = EINVAL, .failed = true,
			.args = { 0x1000, 0, (uint64_t)-1, (uint64_t)-1, 0 },
			.inject = { .injected = true, .because = "Linux 4.12: no such bit" },
		};

		put(attr, 32, (uint64_t)i);
		call_add_capture(&c, AT_SYSCALL_ENTER, 0x1000, 128, attr, 128);
		happens(&c);
	}
	tells(false, "Failed: cpu-clock: EINVAL, open 1 and 1 more. pevtrace injected this error (Linux "
		     "4.12: no such bit): the kernel did not see the call.\n");
}

/* perf falls back to a clock to sample; an event that it counts was wanted for its own sake. */
static void test_fallback(void **state)
{
	uint8_t attr[128] = { 0 };

	(void)state;
	model_comm(m, 100, "perf");
	for (int samples = 0; samples < 2; samples++) {
		put_type(attr, 0);
		put(attr, 16, samples ? 4000 : 0);
		put(attr, 40, bit_field(10, 1, (uint64_t)samples) | bit_field(1, 1, 1) |
			      bit_field(20, 1, 1));
		opened(-ENOENT, attr, 0);
		put_type(attr, 1);
		opened(3 + samples, attr, 0);
		called("read", (uint64_t)(3 + samples), 0x2000, 8, 0);
		tells(false, samples ? "; cpu-cycles (ENOENT, open 3), in place of which perf opened cpu-clock (fd "
				       "4), which counts time" :
				       ": cpu-cycles (ENOENT), which nothing replaced.");
	}
}

/* Rings of a program that neither waits nor unmaps are not seen. */
static void test_not_seen(void **state)
{
	uint8_t attr[128] = { 0 };

	(void)state;
	put_type(attr, 1);
	put(attr, 16, 1000);
	opened(3, attr, 0);
	mapped(3, 0x700000);
	tells(false, ": what the rings held was not seen: it is with --records, at waits and unmappings.");
}

/* On a full page the wait for the ring of a dummy is a part of a sentence. */
static void test_brief_wait(void **state)
{
	uint8_t attr[128] = { 0 };
	bool brief = false;

	(void)state;
	put_type(attr, 1);
	put(attr, 8, 9);
	opened(3, attr, -1);
	mapped(3, 0x700000);
	waited(3, 0, 0);
	tells(false, " for the ring of fd 3, until half a ring is full. Its only wait: timed out.\n");
	for (uint64_t i = 0; i < 6; i++) {	/* more and more lines are left out */
		char *text;

		put(attr, 8, i);
		put(attr, 16, 1000);
		opened(-EINVAL - (int)i, attr, 12345);
		opened(4 + (int)i, attr, 0);
		text = told(80, false, false);
		brief |= strstr(text, "waits with poll for fd 3: timed out.") != NULL;
		free(text);
	}
	assert_true(brief);
}

/* What pevtrace read at close is not what the program read; what decides scheduling is named. */
static void test_read_later(void **state)
{
	uint8_t attr[128] = { 0 };

	(void)state;
	put_type(attr, 1);
	put(attr, 8, 3);
	put(attr, 32, 3);
	put(attr, 40, bit_field(2, 1, 1));
	opened(3, attr, 0);
	tells(false, "counted context-switches (pinned=1) for itself.");
	counted(3, 5, 120000);
	lacks("pevtrace read later");
	model_event(m, 100, 3)->count.enabled = 152000;
	tells(false, "COUNT of fd 3 is what pevtrace read later; the program last read 5 in 0.120 ms.\n");
	put(attr, 40, bit_field(3, 1, 1));
	opened(4, attr, 0);
	tells(false, "and counted context-switches (exclusive=1) for itself.");
}

/* The records that were missed are estimated by the bytes of those that were seen. */
static void test_missed(void **state)
{
	uint8_t attr[128] = { 0 };
	struct ring *const *rings;

	(void)state;
	put_type(attr, 1);
	put(attr, 16, 1000);
	opened(3, attr, 0);
	mapped(3, 0x700000);
	came(3, PERF_RECORD_SAMPLE, 32);
	came(3, PERF_RECORD_LOST, 24);
	model_rings(m, &rings);
	model_looked(&(struct activity_look){ .ring = rings[0], .missed = 31712 });
	tells(false, " 1 sample (pevtrace missed 31712 bytes, about 991 records)");
}

/* A table of many columns leaves out ids rather than names. */
static void test_wide(void **state)
{
	const uint64_t values[] = { 1, 1646516409, 1646516409, 4711 };
	uint8_t attr[128] = { 0 };
	char *text;

	(void)state;
	put_type(attr, 1);
	put(attr, 8, 3);
	put(attr, 32, 15);
	put(attr, 40, bit_field(1, 1, 1));
	opened(3, attr, 0);
	opened_in(4, attr, 0, 3);
	put(attr, 32, 7);
	opened(5, attr, 200);
	mapped(5, 0x700000);
	model_event(m, 100, 5)->id = 15634907;
	read_of(5, values, 3);
	text = told(80, false, false);
	has(text, "context-switches  3   ");
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 80);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_how_it_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waits, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hangup, setup, teardown),
		cmocka_unit_test_setup_teardown(test_slots, setup, teardown),
		cmocka_unit_test_setup_teardown(test_side_band, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rates, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_due, setup, teardown),
		cmocka_unit_test_setup_teardown(test_slept, setup, teardown),
		cmocka_unit_test_setup_teardown(test_words, setup, teardown),
		cmocka_unit_test_setup_teardown(test_injected, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fallback, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_seen, setup, teardown),
		cmocka_unit_test_setup_teardown(test_brief_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(test_read_later, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wide, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
