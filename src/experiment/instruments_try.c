// SPDX-License-Identifier: LGPL-2.1-or-later
/* How the instruments of experiment/instruments.h are tried. */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/abi/tables.h"
#include "core/host/pmu.h"
#include "core/host/proc.h"
#include "core/lib/clock.h"
#include "core/lib/program.h"
#include "engine/rings/bpf.h"
#include "engine/rings/ring.h"
#include "experiment/arch/compat_code.h"
#include "experiment/experiment.h"
#include "experiment/instruments.h"
#include "experiment/trial.h"
#include "experiment/work.h"

enum {
	ATTR_MAX = 256,
	LIMIT_S = 20,			/* seconds after which SIGALRM ends the child */
	ROUNDS = 500000,		/* of a loop, of ... */
	ROUND_LEAST = 1, ROUND_MOST = 16, /* ... so many instructions each */
	SPIN_NS = 1000000,
	AUX_PAGES = 16,
	COMPAT_ADDRESS = 0x400000,
	CYCLES = 100000, NANOSECONDS = 100000,	/* between two samples */
	ABSURD = 1000000,		/* a count that some ms of work cannot reach */
};

struct instrument_result instrument_judge(uint64_t value, uint64_t counted, uint64_t least,
					  uint64_t most)
{
	return (struct instrument_result){
		.verdict = counted >= least && counted <= most ? INSTRUMENT_WORKS :
			   value ? INSTRUMENT_IMPLAUSIBLE : INSTRUMENT_DEAD,
		.counted = counted, .least = least, .most = most,
	};
}

/* Return the result that an event or program cannot be opened. */
static struct instrument_result absent(int error)
{
	return (struct instrument_result){ .verdict = INSTRUMENT_ABSENT, .error = error };
}

const char *instrument_in_use(const uint8_t *attr, size_t len, int error)
{
	return (error == ENOSPC || error == EBUSY) &&
	       layout_get(&layout_perf_event_attr, ATTR_TYPE, attr, len) == PERF_TYPE_BREAKPOINT ?
	       "all breakpoints are in use" : NULL;
}

static void set_attr(uint8_t *attr, uint32_t type, uint64_t config)
{
	attr_put(attr, ATTR_TYPE, type);
	attr_put(attr, ATTR_SIZE, layout_perf_event_attr.size);
	attr_put(attr, ATTR_CONFIG, config);
	attr_put(attr, ATTR_EXCLUDE_KERNEL, 1);
}

/* Children that measure themselves -------------------------------------------------------- */

/* End with pevtrace, and after some seconds. */
static void begin_child(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(LIMIT_S);
}

/*
 * As a child, open an event of the calling task, with what else the attr has.  Return its
 * descriptor, or -1 with the result.
 */
static int instrument_open(uint32_t type, uint64_t config, uint8_t *attr,
			   struct instrument_result *r)
{
	int fd;

	begin_child();
	set_attr(attr, type, config);
	fd = open_event(attr, layout_perf_event_attr.size, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		return fd;
	*r = absent(-fd);
	return -1;
}

/* Use a millisecond of the CPU. */
static void spin(void)
{
	const uint64_t until = clock_ns_of(CLOCK_THREAD_CPUTIME_ID) + SPIN_NS;

	while (clock_ns_of(CLOCK_THREAD_CPUTIME_ID) < until)
		;
}

/* In the order of read(2), with these read_formats. */
struct reading {
	uint64_t count, enabled, running;
};

/*
 * Measure one step.  It says nothing if the event was not on its PMU all the time: another event
 * has the counter, or a hybrid CPU ran the task where the PMU does not count.
 */
static struct instrument_result measure_step(int fd, bool clock)
{
	const struct instrument_result unknown = {
		.why = "its event had no counter all the time",
	};
	struct reading a, b;
	uint64_t start = clock_ns();

	if (read(fd, &a, sizeof(a)) != sizeof(a))
		return unknown;
	if (clock)
		spin();
	else
		for (unsigned int n = ROUNDS; n; n--)
			__asm__ volatile("" : "+r"(n));
	if (read(fd, &b, sizeof(b)) != sizeof(b) || b.running == a.running ||
	    b.running != b.enabled)
		return unknown;
	if (clock)
		return instrument_judge(b.count, b.count - a.count, SPIN_NS / 2,
					2 * (clock_ns() - start));
	return instrument_judge(b.count, b.count - a.count, ROUNDS * ROUND_LEAST,
				ROUNDS * ROUND_MOST);
}

/* As a counter may freeze, two steps must both be counted. */
static void measure_self(const void *ctx, void *out)
{
	bool clock = *(const enum instrument *)ctx == INSTRUMENT_CLOCK;
	struct instrument_result *r = out;
	uint8_t attr[ATTR_MAX] = { 0 };
	int fd;

	attr_put(attr, ATTR_READ_FORMAT,
		 PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING);
	attr_put(attr, ATTR_PINNED, !clock);
	fd = clock ? instrument_open(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, attr, r) :
	     instrument_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, attr, r);
	if (fd < 0)
		return;
	*r = measure_step(fd, clock);
	if (r->verdict == INSTRUMENT_WORKS)
		*r = measure_step(fd, clock);
}

/* Count the bytes that are not 0: an area that only has zeros was not written. */
static void count_bytes(void *ctx, const uint8_t *bytes, size_t len, uint64_t position)
{
	uint64_t *counted = ctx;

	(void)position;
	for (size_t i = 0; i < len; i++)
		*counted += bytes[i] != 0;
}

static void measure_aux(const void *ctx, void *out)
{
	const struct pmu *p = ctx;
	struct instrument_result *r = out;
	static const char *const wanted[] = { "pt", "branch" };
	uint64_t config[ATTR_CONFIGS] = { 0 };
	uint8_t attr[ATTR_MAX] = { 0 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct aux_area aux;
	struct aux_result seen;
	struct own_calls calls;
	uint64_t counted = 0;
	int fd, error;
	void *ring;

	/* trace branches, if the PMU has terms for that */
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		const struct pmu_term *t = pmu_term(p, wanted[i], strlen(wanted[i]));

		if (t)
			pmu_term_set(t, 1, config);
	}
	fd = instrument_open(p->type, config[0], attr, r);
	if (fd < 0)
		return;
	ring = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED) {
		r->why = "no ring could be mapped";
		return;
	}
	own_calls_init(&calls, NULL);
	error = aux_map(&aux, &calls, fd, ring, 2 * page, AUX_PAGES * page, false);
	if (error) {
		*r = absent(error);
		return;
	}
	spin();
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	aux_look(&aux, &seen, count_bytes, &counted);
	*r = instrument_judge(seen.bytes, counted, 1, AUX_PAGES * page);
}

/* The PMUs that rules.in describes have none. */
static void try_aux(struct host *host, struct instrument_result *r)
{
	struct instrument_result found;

	*r = (struct instrument_result){ .why = "the PMUs cannot be read from sysfs" };
	if (!host || !host_has_pmus(host))
		return;
	*r = (struct instrument_result){
		.verdict = INSTRUMENT_ABSENT, .why = "no PMU here has AUX areas",
	};
	for (const struct pmu *p = host_pmus(host); p; p = p->next) {
		if (pmu_desc_by_name(p->name))
			continue;
		child_run(measure_aux, p, &found, sizeof(found));
		if (found.verdict > r->verdict || r->why)
			*r = found;
	}
}

/* Whether 32-bit programs run: a child becomes one, which is in memory only. */
#ifdef COMPAT_MACHINE
struct compat_program {
	Elf32_Ehdr head;
	Elf32_Phdr segment;
	uint8_t code[sizeof(compat_code)];
};

/* MFD_EXEC is of Linux 6.3: since then sysctl vm.memfd_noexec may require it. */
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

/* Become the program, or return why not. */
static void run_compat(const void *ctx, void *out)
{
	struct compat_program p = {
		.head = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_EXEC, .e_machine = COMPAT_MACHINE, .e_version = EV_CURRENT,
			.e_entry = COMPAT_ADDRESS + offsetof(struct compat_program, code),
			.e_phoff = offsetof(struct compat_program, segment),
			.e_flags = COMPAT_FLAGS, .e_ehsize = sizeof(p.head),
			.e_phentsize = sizeof(p.segment), .e_phnum = 1,
		},
		.segment = {
			.p_type = PT_LOAD, .p_vaddr = COMPAT_ADDRESS, .p_filesz = sizeof(p),
			.p_memsz = sizeof(p), .p_flags = PF_R | PF_X, .p_align = 0x10000,
		},
	};
	char *argv[] = { (char *)"compat", NULL }, *envp[] = { NULL };
	int fd, *error = out;

	(void)ctx;
	begin_child();
	memcpy(p.code, compat_code, sizeof(compat_code));
	fd = memfd_create("compat", MFD_CLOEXEC | MFD_EXEC);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("compat", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, &p, sizeof(p)) == sizeof(p)) {
		fexecve(fd, argv, envp);
		*error = errno;
	} else {
		*error = EIO; /* which says nothing of 32-bit programs */
	}
}

static void try_compat(struct instrument_result *r)
{
	int error, status = child_run(run_compat, NULL, &error, sizeof(error));

	if (error == ENOEXEC)
		*r = absent(error);
	else if (error)
		r->why = "no program in memory can be executed";
	else if (status >= 0)
		r->verdict = WIFEXITED(status) && WEXITSTATUS(status) == COMPAT_STATUS ?
			     INSTRUMENT_WORKS : INSTRUMENT_DEAD;
}
#else
static void try_compat(struct instrument_result *r)
{
	r->why = "pevtrace has no 32-bit program for this processor";
}
#endif

/* Events that measure the work of an experiment, in which everything is done once or more --- */

enum quantity { QUANTITY_COUNT, QUANTITY_SAMPLES, QUANTITY_TRAPS };

/* An event, and what it should count. */
struct instrument_event {
	uint8_t attr[ATTR_MAX];
	unsigned int work;
	enum quantity quantity;
	uint64_t least, most;
};

static void set_event(struct instrument_event *e, uint32_t type, uint64_t config, uint64_t period)
{
	set_attr(e->attr, type, config);
	attr_put(e->attr, ATTR_SAMPLE_PERIOD, period);
	e->least = 1;
	e->most = ABSURD;
}

static void set_breakpoint(enum instrument i, struct instrument_event *e)
{
	bool code = i == INSTRUMENT_BREAKPOINT_CODE;

	set_event(e, PERF_TYPE_BREAKPOINT, 0, 1);
	attr_put(e->attr, ATTR_BP_TYPE, code ? HW_BREAKPOINT_X : HW_BREAKPOINT_W);
	attr_put(e->attr, ATTR_BP_ADDR, code ? work_called() : work_watched());
	attr_put(e->attr, ATTR_BP_LEN, code ? sizeof(long) : HW_BREAKPOINT_LEN_4);
	if (i == INSTRUMENT_BREAKPOINT_SIGNAL) {
		attr_put(e->attr, ATTR_SIGTRAP, 1);
		attr_put(e->attr, ATTR_REMOVE_ON_EXEC, 1);
		e->quantity = QUANTITY_TRAPS;
	}
	e->least = e->most = WORK_TIMES;
}

/* Fill in a zeroed e; return why the event cannot be named here, or NULL. */
static const char *set_instrument(struct host *host, enum instrument i, struct instrument_event *e)
{
	int64_t type = host ? host_pmu_type(host, "uprobe") : -1;
	uint64_t id;

	switch (i) {
	case INSTRUMENT_UPROBE:
		if (type < 0)
			return mounts_pmus_missing() ?: "no uprobe PMU in sysfs";
		if (work_lacks_probe())
			return work_lacks_probe();
		set_event(e, (uint32_t)type, 0, 1);
		attr_put(e->attr, ATTR_UPROBE_PATH, (uintptr_t)WORK_FILE);
		attr_put(e->attr, ATTR_PROBE_OFFSET, work_called_offset());
		e->least = e->most = WORK_TIMES;
		return NULL;
	case INSTRUMENT_TRACEPOINT:
		if (!host || (host_tracepoint_id(host, "raw_syscalls:sys_enter", &id) &&
			      host_tracepoint_id(host, "sched:sched_switch", &id)))
			return "tracefs cannot be read, which has the numbers of tracepoints";
		set_event(e, PERF_TYPE_TRACEPOINT, id, 1);
		/* the CPU is in the kernel when it meets a tracepoint */
		attr_put(e->attr, ATTR_EXCLUDE_KERNEL, 0);
		return NULL;
	case INSTRUMENT_PAGE_FAULTS:
		set_event(e, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1);
		return NULL;
	case INSTRUMENT_HARDWARE_SAMPLES:
	case INSTRUMENT_CLOCK_SAMPLES:
		if (i == INSTRUMENT_HARDWARE_SAMPLES)
			set_event(e, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, CYCLES);
		else
			set_event(e, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, NANOSECONDS);
		e->work = WORK_SPIN;
		e->quantity = QUANTITY_SAMPLES;
		return NULL;
	default:
		set_breakpoint(i, e);
		return NULL;
	}
}

static void try_event(struct host *host, enum instrument i, struct instrument_result *r)
{
	struct instrument_event e = { .work = 0 };
	struct experiment x = {
		.attr = e.attr, .len = layout_perf_event_attr.size, .whom = EXPERIMENT_TASK,
	};
	struct observed o;
	uint64_t counted;

	*r = (struct instrument_result){ .why = set_instrument(host, i, &e) };
	if (r->why)
		return;
	x.work = e.work;
	if (!experiment_run(&x, &o))
		return;
	counted = e.quantity == QUANTITY_TRAPS ? o.traps :
		  e.quantity == QUANTITY_SAMPLES ? o.samples : o.count;
	if (o.error)
		*r = (struct instrument_result){
			.verdict = INSTRUMENT_ABSENT, .error = o.error,
			.why = instrument_in_use(x.attr, x.len, o.error),
		};
	else if (e.quantity != QUANTITY_SAMPLES || o.ring)
		*r = instrument_judge(counted, counted, e.least, e.most);
	else
		r->why = "no ring could be mapped";
}

void instrument_try(struct host *host, enum instrument i, struct instrument_result *r)
{
	int fd;

	switch (i) {
	case INSTRUMENT_HARDWARE:
	case INSTRUMENT_CLOCK:
		child_run(measure_self, &i, r, sizeof(*r));
		break;
	case INSTRUMENT_BPF:
		fd = bpf_load(BPF_PROG_TYPE_PERF_EVENT, 0);
		if (fd >= 0)
			close(fd);
		*r = absent(-fd);
		if (fd >= 0)
			*r = (struct instrument_result){ .verdict = INSTRUMENT_WORKS };
		break;
	case INSTRUMENT_COMPAT:
		try_compat(r);
		break;
	case INSTRUMENT_AUX:
		try_aux(host, r);
		break;
	default:
		try_event(host, i, r);
		break;
	}
}
