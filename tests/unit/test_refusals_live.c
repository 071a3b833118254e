// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The checks of calls on events and ring buffers against the kernel: random mmaps and ioctls, nearly
 * valid ones, are judged by what the model knows, and then made.  The seed is fixed, or
 * PEVTRACE_SEED; PEVTRACE_ROUNDS makes more, or fewer.
 */
#include "rules_draw.h"

#include <linux/bpf.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "core/judge/refused.h"
#include "engine/rings/own_call.h"
#include "verbs/cli/machine.h"

enum {
	CALLS = 10000,		/* of mmap and the like, and as many ioctls */
	RINGS = 12,
	EVENTS = 24,
};

struct ring_kept {
	uint64_t at, len;
};

struct made {
	struct machine machine;
	struct facts facts;
	struct session session;
	struct view view;
	struct own_calls own;
	uint64_t page;
	int fds[EVENTS];
	size_t nfds;
	int tracepoint, breakpoint; /* indexes in fds, or -1 */
	int programs[4];	/* descriptors of BPF programs, or -1 */
	struct ring_kept rings[RINGS];
	size_t nrings;
	bool parts;		/* the kernel refuses to unmap a part of a ring */
	struct refused said;
	unsigned int calls, certain, wrong, kinds;
	unsigned int agreed[REFUSAL_COUNT];
};

static struct made *made_of(struct view *v)
{
	return (struct made *)((char *)v - offsetof(struct made, view));
}

/* Judge the call that begins, whose result is not known. */
static void judge_first(struct view *v, const struct call *c)
{
	struct made *t = made_of(v);
	const struct refused_where where = { .facts = &t->facts };

	buf_free(&t->said.numbers);
	judge_call(t->session.model, c, &where, 0, &t->said);
}

static const struct view_ops judging = { .enter = judge_first };

/* Compare what was said with the result, a negative errno if the call failed. */
static void compare(struct made *t, int64_t ret, const char *what)
{
	int error = ret < 0 && ret > -4096 ? (int)-ret : 0;
	const struct refusal_desc *d = t->said.verdict.refusal, *cause;
	bool sure = !d;

	t->calls++;
	cause = error ? refusals_cause(&t->said.verdict, error, &sure) : NULL;
	t->certain += sure && (error || !d);
	if (cause && sure)
		t->agreed[cause->id]++;
	if (error ? cause != NULL : !d)
		return;
	if (t->wrong++ > SHOWN)
		return;
	printf("# %s: %s, but the kernel says %s:", what, d ? d->name : "succeeds",
	       error ? strerrorname_np(error) : "success");
	for (size_t i = 0; i < t->own.call.desc->nargs; i++)
		printf(" %s=0x%llx", t->own.call.desc->args[i].name,
		       (unsigned long long)t->own.call.args[i]);
	printf("\n");
}

/* Events ------------------------------------------------------------------------------------- */

/* Return an attr of user mode, in memory that the next call uses again. */
static uint8_t *attr_of(uint64_t type, uint64_t config, uint64_t period)
{
	static uint8_t a[ATTR_ROOM];

	memset(a, 0, sizeof(a));
	put(a, ATTR_TYPE, type);
	put(a, ATTR_SIZE, PERF_ATTR_SIZE_VER5);
	put(a, ATTR_CONFIG, config);
	put(a, ATTR_SAMPLE_PERIOD, period);
	put(a, ATTR_DISABLED, 1);
	put(a, ATTR_EXCLUDE_KERNEL, 1);
	put(a, ATTR_EXCLUDE_HV, 1);
	return a;
}

static int add_event(struct made *t, const uint8_t *attr, pid_t pid, int cpu, int group)
{
	struct attr_text a = { .len = PERF_ATTR_SIZE_VER5 };
	int fd;

	memcpy(a.bytes, attr, a.len);
	fd = own_call_open(&t->own, &a, pid, cpu, group, 0);
	if (fd < 0)
		return -1;
	t->fds[t->nfds] = fd;
	return (int)t->nfds++;
}

static uint32_t tracepoint_id(const char *name)
{
	char path[PATH_MAX];
	uint32_t id = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", name);
	f = fopen(path, "re");
	if (f && fscanf(f, "%u", &id) != 1)
		id = 0;
	if (f)
		fclose(f);
	return id;
}

static void add_events(struct made *t, pid_t child)
{
	const uint64_t soft = PERF_TYPE_SOFTWARE, faults = PERF_COUNT_SW_PAGE_FAULTS, often = 100000000;
	uint32_t id = tracepoint_id("syscalls/sys_enter_sync");
	uint8_t *a;
	int leader;

	for (int cpu = -1; cpu < 2; cpu++) {
		a = attr_of(soft, PERF_COUNT_SW_CPU_CLOCK, often);
		add_event(t, a, 0, cpu, -1);
		put(a, ATTR_INHERIT, 1);
		add_event(t, a, 0, cpu, -1);
		a = attr_of(soft, faults, often);
		add_event(t, a, 0, cpu, -1);
		add_event(t, a, child, cpu, -1);
	}
	a = attr_of(soft, PERF_COUNT_SW_DUMMY, often);
	put(a, ATTR_WRITE_BACKWARD, 1);
	add_event(t, a, 0, -1, -1);
	put(a, ATTR_WRITE_BACKWARD, 0);
	put(a, ATTR_USE_CLOCKID, 1);
	put(a, ATTR_CLOCKID, CLOCK_MONOTONIC);
	add_event(t, a, 0, -1, -1);
	for (uint64_t config = PERF_COUNT_SW_CPU_CLOCK; config <= faults; config += faults) {
		a = attr_of(soft, config, 10);
		put(a, ATTR_FREQ, 1);
		add_event(t, a, 0, -1, -1);
	}
	a = attr_of(soft, faults, 0);
	put(a, ATTR_READ_FORMAT, PERF_FORMAT_GROUP | PERF_FORMAT_ID);
	leader = add_event(t, a, 0, -1, -1);
	if (leader >= 0)
		add_event(t, a, 0, -1, t->fds[leader]);
	a = attr_of(PERF_TYPE_BREAKPOINT, 0, 1);
	put(a, ATTR_BP_TYPE, HW_BREAKPOINT_W);
	put(a, ATTR_BP_ADDR, (uintptr_t)&seed & ~7ULL);
	put(a, ATTR_BP_LEN, 8);
	t->breakpoint = add_event(t, a, child, -1, -1);
	t->tracepoint = id ? add_event(t, attr_of(PERF_TYPE_TRACEPOINT, id, 1), 0, -1, -1) : -1;
}

/* Load a program that returns 0; return its descriptor or -1. */
static int program(uint32_t type)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K }, { .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = type, .insn_cnt = COUNT(code), .insns = (uintptr_t)code,
		.license = (uintptr_t)"GPL",
	};

	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

/* mmap and the like ------------------------------------------------------------------------------ */

static int any_event(const struct made *t)
{
	return t->fds[any() % t->nfds];
}

static uint64_t any_length(const struct made *t)
{
	uint64_t pages = chance(3) ? any() % 40 : 1 + (1ULL << any() % 6);

	if (chance(40))
		return UINT64_MAX - any() % 9000;
	if (chance(40))
		return 1ULL << 52;
	if (chance(12))
		pages = 1;
	if (chance(20)) /* beyond what an ordinary user may lock */
		pages = 1 + (1ULL << (10 + any() % 4));
	return pages * t->page - (chance(12) ? any() % t->page : 0);
}

static void unmap(struct made *t, size_t i)
{
	struct ring_kept *r = &t->rings[i];
	int64_t ret;

	ret = own_call_unmap(&t->own, (void *)(uintptr_t)r->at, r->len);
	compare(t, ret, "munmap of a whole");
	if (!ret)
		*r = t->rings[--t->nrings];
}

static void one_mmap(struct made *t)
{
	uint64_t len = any_length(t), flags = MAP_SHARED, offset = 0, prot = PROT_READ, addr = 0;
	struct ring_kept *r = t->nrings ? &t->rings[any() % t->nrings] : NULL;
	bool fixed = r && chance(6) && t->parts;
	unsigned char resident;
	int64_t ret;

	if (chance(8))
		flags = any() % 6;
	if (chance(3))
		prot = any() % 8;
	if (chance(20))
		flags |= MAP_HUGETLB;
	if (chance(20))
		flags |= MAP_GROWSDOWN;
	if (chance(10))
		offset = chance(3) ? any() : (any() % 80) * t->page;
	if (fixed) {
		flags |= chance(4) ? MAP_FIXED_NOREPLACE : MAP_FIXED;
		addr = r->at + (chance(3) ? any() % (r->len / t->page) * t->page : 0);
		if (len > r->at + r->len - addr || chance(2))
			len = r->at + r->len - addr; /* nothing else may be replaced */
	}
	if (!fixed && t->nrings == RINGS)
		unmap(t, any() % t->nrings);
	ret = own_call(&t->own, CALL_MMAP, (const uint64_t[CALL_MAX_ARGS]){
		addr, len, prot, flags & ~(uint64_t)MAP_ANONYMOUS, (uint64_t)any_event(t), offset,
	});
	compare(t, ret, "mmap");
	/* a mapping that the event refuses has unmapped what was there */
	if (fixed && ret < 0 && ret > -4096 &&
	    mincore((void *)(uintptr_t)r->at, t->page, &resident) && errno == ENOMEM)
		unmap(t, (size_t)(r - t->rings));
	if (ret < 0 && ret > -4096)
		return;
	len = (len + t->page - 1) / t->page * t->page;
	if (fixed)
		*r = (struct ring_kept){ (uint64_t)ret, len };
	else
		t->rings[t->nrings++] = (struct ring_kept){ (uint64_t)ret, len };
}

/* Unmap, protect or move a ring, or a part of it. */
static void one_change(struct made *t)
{
	size_t i = t->nrings ? any() % t->nrings : 0;
	struct ring_kept *r = &t->rings[i];
	uint64_t at, len, new, flags = any() % 8;
	int64_t ret;

	if (!t->nrings)
		return;
	if (!t->parts || chance(8)) {
		unmap(t, i);
		return;
	}
	at = r->at + (chance(2) ? any() % (r->len / t->page) * t->page : 0) + (chance(8) ? 8 : 0);
	len = chance(3) ? r->at + r->len - at : any() % (r->len + 1);
	if (len > r->at + r->len - at)
		len = r->at + r->len - at;
	switch (any() % 3) {
	case 0:
		if (at == r->at && len > r->len - t->page)
			break;
		ret = own_call_unmap(&t->own, (void *)(uintptr_t)at, len);
		compare(t, ret, "munmap");
		break;
	case 1:
		ret = own_call(&t->own, CALL_MPROTECT, (const uint64_t[CALL_MAX_ARGS]){
			at, len, any() % 8,
		});
		compare(t, ret, "mprotect");
		break;
	default:
		new = chance(2) ? len : any() % (2 * r->len);
		/* never to a fixed place, where something else may be */
		ret = own_call(&t->own, CALL_MREMAP, (const uint64_t[CALL_MAX_ARGS]){
			at, len, new, flags & ~(uint64_t)MREMAP_FIXED, 0,
		});
		compare(t, ret, "mremap");
		if ((ret >= 0 || ret < -4096) && (uint64_t)ret != at)
			r->at = (uint64_t)ret;
	}
}

/* ioctls --------------------------------------------------------------------------------------------- */

/* Return an argument of a request, which may point to *room. */
static uint64_t any_argument(struct made *t, uint32_t request, uint64_t room[32])
{
	static char *const filters[] = { "common_pid == 1", "nr", "((", "", "common_pid > 0 &&" };

	room[0] = chance(4) ? any() : any() % 200000;
	room[1] = any() % 4;
	if (chance(16))
		return chance(2) ? 8 : any();
	switch (request) {
	case PERF_EVENT_IOC_SET_OUTPUT:
		return chance(6) ? UINT64_MAX : chance(8) ? 1000 : (uint64_t)any_event(t);
	case PERF_EVENT_IOC_SET_FILTER:
		return (uintptr_t)filters[any() % COUNT(filters)];
	case PERF_EVENT_IOC_SET_BPF:
		return (uint64_t)t->programs[any() % COUNT(t->programs)];
	case PERF_EVENT_IOC_QUERY_BPF:
		room[0] = chance(4) ? any() % 100 : any() % 30;
		return (uintptr_t)room;
	case PERF_EVENT_IOC_MODIFY_ATTRIBUTES:
		memset(room, 0, 32 * sizeof(*room));
		memcpy(room, model_event(t->session.model, gettid(), any_event(t))->attr,
		       PERF_ATTR_SIZE_VER5);
		if (chance(3))
			((uint8_t *)room)[any() % 112] ^= (uint8_t)(1 << any() % 8);
		return (uintptr_t)room;
	case PERF_EVENT_IOC_PERIOD:
		room[0] = chance(6) ? 0 : room[0];
		return (uintptr_t)room;
	case PERF_EVENT_IOC_ID:
		return (uintptr_t)room;
	default:
		return any() % 4;
	}
}

static void one_ioctl(struct made *t)
{
	static const uint32_t often[] = {
		PERF_EVENT_IOC_SET_OUTPUT, PERF_EVENT_IOC_SET_OUTPUT, PERF_EVENT_IOC_PERIOD,
		PERF_EVENT_IOC_SET_BPF,
	};
	uint32_t request = chance(2) ? often[any() % COUNT(often)] :
			   ioctl_descs[any() % ioctl_ndescs].request;
	uint64_t room[32], arg = any_argument(t, request, room);
	int fd = any_event(t);

	/* a breakpoint that hits this process would end it */
	if (request == PERF_EVENT_IOC_REFRESH && t->breakpoint >= 0 && fd == t->fds[t->breakpoint])
		return;
	if (chance(30))
		request ^= 1U << any() % 32;
	compare(t, own_call_ioctl(&t->own, fd, request, arg), "ioctl");
}

static void one_read(struct made *t)
{
	uint64_t room[64];

	compare(t, own_call_read(&t->own, any_event(t), chance(8) ? (void *)8 : room,
				 any() % 12 * 8), "read");
}

/* Runs --------------------------------------------------------------------------------------------------- */

static void session_begin(struct made *t)
{
	struct session_setup setup = { .source = &t->machine.names };
	struct session_facts facts = { .arch = arch_native(), .page_size = (uint32_t)t->page };

	t->view.ops = &judging;
	session_start(&t->session, &setup, &facts);
	session_add_view(&t->session, &t->view);
	own_calls_init(&t->own, &t->session);
	session_feed(&t->session, &(struct activity){
		ACTIVITY_TASK, .task = { .tid = gettid(), .pid = getpid(), .attached = true },
	});
}

static void begin(struct made *t)
{
	static const uint32_t types[] = {
		BPF_PROG_TYPE_KPROBE, BPF_PROG_TYPE_TRACEPOINT, BPF_PROG_TYPE_PERF_EVENT,
	};
	void *at;
	int fd;

	seed = SEED;
	if (getenv("PEVTRACE_SEED"))
		seed = strtoull(getenv("PEVTRACE_SEED"), NULL, 0) | 1;
	memset(t, 0, sizeof(*t));
	t->page = (uint64_t)sysconf(_SC_PAGESIZE);
	machine_live(&t->machine, false);
	facts_open(&t->facts, t->machine.host);
	for (size_t i = 0; i < COUNT(types); i++)
		t->programs[i] = program(types[i]);
	t->programs[3] = STDIN_FILENO;
	session_begin(t);
	fd = open_event(attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 0), PERF_ATTR_SIZE_VER5, 0,
			-1, -1, 0);
	at = mmap(NULL, 2 * t->page, PROT_READ, MAP_SHARED, fd, 0);
	t->parts = at != MAP_FAILED && munmap(at, t->page);
	munmap(at, 2 * t->page);
	close(fd);
}

static unsigned int rounds_of(unsigned int n)
{
	const char *factor = getenv("PEVTRACE_ROUNDS");

	return factor ? (unsigned int)(n * strtod(factor, NULL)) : n;
}

/* Return whether nothing was said wrongly, and most of it with certainty. */
static bool run(struct made *t, unsigned int rounds, unsigned int kinds)
{
	pid_t pid = child(false);

	add_events(t, pid);
	assert_true(t->nfds > 10);
	for (unsigned int i = 0; i < rounds_of(rounds); i++) {
		if (chance(3))
			one_change(t);
		else
			one_mmap(t);
		one_ioctl(t);
		if (chance(8))
			one_read(t);
	}
	for (size_t i = 0; i < REFUSAL_COUNT; i++)
		t->kinds += t->agreed[i] > 0;
	printf("# uid %d: %u calls, %u judged with certainty, %u wrongly; %u checks refused:",
	       getuid(), t->calls, t->certain, t->wrong, t->kinds);
	for (size_t i = 0; i < REFUSAL_COUNT; i++)
		if (t->agreed[i])
			printf(" %s %u", refusal_descs[i].name, t->agreed[i]);
	printf("\n");
	fflush(stdout);
	end_child(pid);
	return !t->wrong && t->certain * 10 > t->calls * 8 && t->kinds >= kinds;
}

static void finish(struct made *t)
{
	for (size_t i = 0; i < t->nfds; i++)
		close(t->fds[i]);
	own_calls_free(&t->own);
	buf_free(&t->said.numbers);
	session_end(&t->session);
	facts_close(&t->facts);
	machine_close(&t->machine);
}

static void test_as_ourselves(void **state)
{
	static struct made t;
	bool good;

	(void)state;
	if (!trial_attr_size()) {
		print_message("# perf_event_open is not there, or a filter hides it\n");
		skip();
	}
	begin(&t);
	good = run(&t, CALLS, 20);
	finish(&t);
	assert_true(good);
}

static void test_as_nobody(void **state)
{
	static struct made t;
	int status;
	pid_t pid;

	(void)state;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ 1 << 20, 1 << 20 });
		begin(&t);
		if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
		    setresuid(NOBODY, NOBODY, NOBODY) || prctl(PR_SET_DUMPABLE, 1) ||
		    !trial_attr_size() || t.facts.rules.machine.paranoid > 2)
			_exit(SKIPPED);
		facts_refresh(&t.facts);
		_exit(!run(&t, CALLS, 20));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED) {
		print_message("# needs root, to become another user, and perf_event_paranoid 2\n");
		skip();
	}
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_ourselves),
		cmocka_unit_test(test_as_nobody),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
