// SPDX-License-Identifier: LGPL-2.1-or-later
/* Experiments that steps cannot say. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/abi/strings.h"
#include "core/abi/tables.h"
#include "core/host/rights.h"
#include "core/lib/clock.h"
#include "experiment/work.h"
#include "formats/perfdata/perfdata.h"
#include "lessons/lessons.h"
#include "verbs/cmd.h"
#include "verbs/learn/arch/user_counter.h"

/* lessons/perf-data.lesson --------------------------------------------------------------- */

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

/*
 * Record with perf, or else with pevtrace, and set which.  Return the file that was recorded,
 * without a name in any directory; or NULL.
 */
static struct perfdata *record(struct learn *l)
{
	int fd = memfd_create("perf.data", 0);
	struct perfdata *p = NULL;
	struct stat st;
	char path[32];
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
	FILE *f = NULL;
	bool by_perf;

	if (fd < 0)
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	by_perf = run_silently("perf", perf);
	if (by_perf)
		learn_set(l, "perf", "yes");
	learn_set(l, "recorder", by_perf ? "perf" : "pevtrace");
	if (by_perf || run_silently("/proc/self/exe", own))
		f = fdopen(fd, "r");
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

/* lessons/records.lesson ----------------------------------------------------------------- */

enum { HEADER = 8, TYPE_AT = 0, MISC_AT = 4, SIZE_AT = 6 };

static bool keep_first_sample(void *ctx, const struct learn_record *r)
{
	struct learn *l = ctx;

	if (r->type == PERF_RECORD_SAMPLE && !l->kept.len)
		buf_add(&l->kept, r->bytes, r->len);
	return false;
}

static bool look_for_sample(struct learn *l, const char *name)
{
	buf_reset(&l->kept);
	learn_look(l, steps_event(&l->steps, name), keep_first_sample, l);
	return l->kept.len >= HEADER || learn_fail(l, "no sample in the ring");
}

/* Return a number in the kept bytes; 0 beyond their end. */
static uint64_t kept_at(const struct learn *l, size_t from, size_t width)
{
	const uint8_t *bytes = (const uint8_t *)l->kept.data;

	return from + width <= l->kept.len ? load_uint(bytes + from, width) : 0;
}

bool learn_records_take(struct learn *l)
{
	if (!look_for_sample(l, "a"))
		return false;
	learn_set_number(l, "type", kept_at(l, TYPE_AT, 4));
	learn_set_number(l, "misc", kept_at(l, MISC_AT, 2));
	learn_set_number(l, "size", kept_at(l, SIZE_AT, 2));
	learn_set(l, "size_hex", "0x%x", (unsigned int)kept_at(l, SIZE_AT, 2));
	learn_set(l, "misc_name", "%s", xlat_name(&xlat_perf_record_misc_cpumode,
						  kept_at(l, MISC_AT, 2) &
						  PERF_RECORD_MISC_CPUMODE_MASK) ?: "unknown");
	learn_set(l, "type_name", "%s",
		  xlat_name(&xlat_perf_event_type, kept_at(l, TYPE_AT, 4)) ?: "unknown");
	learn_set_number(l, "pid", kept_at(l, 16, 4));
	learn_set(l, "addr", "0x%llx", (unsigned long long)kept_at(l, 32, 8));
	return true;
}

static void hex_lines(struct learn *l, const char *const *names)
{
	for (size_t from = 0; from + 8 <= l->kept.len; from += 8) {
		struct buf line = { 0 };

		for (size_t i = 0; i < 8; i++)
			buf_addf(&line, " %02x", (unsigned int)kept_at(l, from + i, 1));
		if (names)
			buf_addf(&line, "   %-12s 0x%llx", names[from / 8],
				 (unsigned long long)kept_at(l, from, 8));
		learn_say(l, "%2zu: %s", from, buf_str(&line));
		buf_free(&line);
	}
}

bool learn_records_hex(struct learn *l)
{
	hex_lines(l, NULL);
	return true;
}

bool learn_records_fields(struct learn *l)
{
	static const char *const names[] = {
		"header", "IP", "TID", "TIME", "ADDR", "PERIOD",
	};

	hex_lines(l, l->kept.len <= 8 * sizeof(names) / sizeof(*names) ? names : NULL);
	return true;
}

/* Show the kept bytes as decoded by the event's attr. */
static void show_decoded(struct learn *l, const char *name)
{
	const struct step_event *e = steps_event(&l->steps, name);
	struct record_format format;
	struct buf text = { 0 };
	struct text_sink sink;

	record_format_of(&format, e->attr, sizeof(e->attr), arch_native());
	text_sink_init(&sink, &text);
	text_sink_top(&sink, false, NULL);
	record_emit((const uint8_t *)l->kept.data, l->kept.len, &format, NULL, &sink.sink,
		    NULL);
	/* the sink escapes */
	buf_addf(learn_lines(l), "%s\n", buf_str(&text));
	buf_free(&text);
}

bool learn_records_decoded(struct learn *l)
{
	show_decoded(l, "a");
	return true;
}

/* Show a sample of "c" as what it is, and as another record. */
bool learn_records_mistaken(struct learn *l)
{
	const uint32_t type = PERF_RECORD_MMAP;

	if (!look_for_sample(l, "c"))
		return false;
	show_decoded(l, "c");
	memcpy(l->kept.data, &type, sizeof(type));
	show_decoded(l, "c");
	return true;
}

/* lessons/signals.lesson ----------------------------------------------------------------- */

/* The requested signal, and the one that the kernel sends if its signal queue is full. */
static sigset_t both_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigaddset(&set, SIGIO);
	return set;
}

bool learn_signals_async(struct learn *l)
{
	const sigset_t wanted = both_signals();

	/* sigtimedwait() fetches them later */
	sigprocmask(SIG_BLOCK, &wanted, NULL);
	steps_set_var(&l->steps, "signal", (uint64_t)SIGRTMIN);
	return learn_steps(l, "fcntl a F_SETOWN $pid\nfcntl a F_SETSIG $signal\n"
			   "fcntl a F_SETFL O_RDONLY|O_ASYNC\n");
}

static const char *code_name(int code)
{
	return code == POLL_HUP ? "POLL_HUP" : code == POLL_IN ? "POLL_IN" : "another code";
}

bool learn_signals_refresh(struct learn *l)
{
	const struct timespec timeout = { 1, 0 };
	const sigset_t wanted = both_signals();
	unsigned int signals = 0;
	bool full = false;
	siginfo_t info = { .si_code = 0 };
	char name[32];

	/* POLL_HUP is the last one */
	while (info.si_code != POLL_HUP && sigtimedwait(&wanted, &info, &timeout) > 0) {
		signals++;
		full |= info.si_signo == SIGIO;
		signal_name(info.si_signo, name, sizeof(name));
		learn_say(l, "%s: si_fd=%d, si_code=%s", name, info.si_fd,
			  code_name(info.si_code));
	}
	if (!learn_steps(l, "unmap a\nclose a\n"))
		return false;
	sigprocmask(SIG_UNBLOCK, &wanted, NULL);
	learn_set(l, "signals", "%u", signals);
	learn_set(l, "last", "%s", code_name(info.si_code));
	if (!full)
		learn_set(l, "queued", "yes");
	return true;
}

/* lessons/read-formats.lesson ----------------------------------------------------------- */

bool learn_read_formats_bytes(struct learn *l)
{
	static const char *const names[] = { "value", "time_enabled", "time_running", "id" };
	const struct call *c = &l->own_session.own_calls.call;
	const uint8_t *bytes;
	size_t len;

	bytes = call_bytes(c, AT_SYSCALL_EXIT, c->args[1], (size_t)c->ret, &len);
	for (size_t at = 0; bytes && at + 8 <= len; at += 8) {
		struct buf line = { 0 };

		for (size_t i = 0; i < 8; i++)
			buf_addf(&line, "%02x ", bytes[at + i]);
		learn_say(l, "%2zu: %s  %-13s %llu", at, buf_str(&line), names[at / 8 % 4],
			  (unsigned long long)load_uint(bytes + at, 8));
		buf_free(&line);
	}
	return true;
}

/* lessons/side-band.lesson --------------------------------------------------------------- */

enum { TYPES = 32 };

/* Records of each type. */
struct kinds {
	unsigned int records, of[TYPES];
};

static bool count_kind(void *ctx, const struct learn_record *r)
{
	struct kinds *k = ctx;

	k->records++;
	if (r->type < TYPES)
		k->of[r->type]++;
	return true;
}

bool learn_side_band_run(struct learn *l)
{
	struct kinds k = { 0 };
	struct buf list = { 0 };
	unsigned int kinds = 0;

	learn_look(l, steps_event(&l->steps, "a"), count_kind, &k);
	for (unsigned int t = 0; t < TYPES; t++)
		if (k.of[t])
			buf_addf(&list, "%s%s", kinds++ ? ", " : "",
				 xlat_name(&xlat_perf_event_type, t) ?: "unknown");
	learn_set(l, "records", "%u", k.records);
	learn_set(l, "kinds", "%u", kinds);
	learn_set(l, "list", "%s", buf_str(&list));
	buf_free(&list);
	return learn_steps(l, "unmap a\n");
}

/* lessons/permissions.lesson -------------------------------------------------------------- */

enum { NOBODY = 65534, UNREADABLE = -1000 };

bool learn_permissions_prepare(struct learn *l)
{
	long level = rights_sysctl("perf_event_paranoid", UNREADABLE);

	learn_set(l, "nobody", "%d", NOBODY);
	learn_set(l, "level", "this level");
	if (level != UNREADABLE) {
		learn_set(l, "paranoid", "%ld", level);
		learn_set(l, "level", "level %ld", level);
	}
	/* root of another user namespace has no privileges for perf events to give up */
	if (!geteuid() && rights_user_ns_is_first() == FACT_YES)
		learn_set(l, "root", "yes");
	steps_set_var(&l->steps, "root", !!learn_get(l, "root"));
	return true;
}

/* Show which capabilities are in our effective set. */
bool learn_permissions_caps(struct learn *l)
{
	static const struct {
		int bit;
		const char *name;
	} caps[] = {
		{ ABI_CAP_PERFMON, "CAP_PERFMON" }, { ABI_CAP_SYS_ADMIN, "CAP_SYS_ADMIN" },
		{ ABI_CAP_SYS_PTRACE, "CAP_SYS_PTRACE" },
	};
	unsigned long long effective = rights_effective();

	learn_say(l, "effective capabilities, by capget(2): %016llx", effective);
	for (size_t i = 0; i < sizeof(caps) / sizeof(*caps); i++)
		learn_say(l, "%-14s (bit %d): %s", caps[i].name, caps[i].bit,
			  effective >> caps[i].bit & 1 ? "here" : "not here");
	return true;
}

/* lessons/uprobes.lesson ------------------------------------------------------------------ */

/* Show the line of our own maps with the function. */
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
		/* one blank before the path */
		for (char *blank; (blank = strstr(line, "  "));)
			memmove(blank, blank + 1, strlen(blank));
		learn_say(l, "%s", line);
		learn_set(l, "mapped", "yes");
	}
	free(line);
	if (f)
		fclose(f);
	return true;
}

/* lessons/rdpmc.lesson ------------------------------------------------------------------- */

enum { READS = 10000, TIME_AT = 8 };

/* A consistent copy of the page. */
struct page_copy {
	uint8_t bytes[RING_PAGE_BYTES];
	unsigned int looks;	/* attempts until lock was unchanged */
};

static uint64_t page_member(const struct page_copy *c, unsigned int index)
{
	return layout_get(&layout_perf_event_mmap_page, index, c->bytes, sizeof(c->bytes));
}

static struct page_copy copy_event_page(struct learn *l, const char *event)
{
	const uint8_t *page = steps_event(&l->steps, event)->ring;
	const uint32_t *lock = (const uint32_t *)(page +
		layout_perf_event_mmap_page.fields[PERF_EVENT_MMAP_PAGE_LOCK].offset);
	struct page_copy c = { .looks = 0 };
	uint32_t before;

	do {
		c.looks++;
		before = __atomic_load_n(lock, __ATOMIC_ACQUIRE);
		memcpy(c.bytes, page, sizeof(c.bytes));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while ((before & 1) || __atomic_load_n(lock, __ATOMIC_ACQUIRE) != before);
	return c;
}

bool learn_rdpmc_open(struct learn *l)
{
	char step[128];

	learn_set(l, "instruction", "%s", user_counter.instruction);
	learn_set(l, "clock", "%s", user_counter.clock_instruction);
	learn_set(l, "permission", "%s", user_counter.permission);
	snprintf(step, sizeof(step), "open a %s\n", learn_get(l, "hardware") ? user_counter.event :
		 "task-clock:u");
	return learn_steps(l, step);
}

bool learn_rdpmc_reads(struct learn *l)
{
	int fd = steps_event(&l->steps, "a")->fd;
	uint64_t from = clock_ns(), count;

	for (int i = 0; i < READS; i++)
		if (read(fd, &count, sizeof(count)) != sizeof(count))
			return learn_fail(l, "cannot read the event");
	learn_say(l, "%d reads: %.0f ns each", READS, (double)(clock_ns() - from) / READS);
	return true;
}

bool learn_rdpmc_page(struct learn *l)
{
	struct page_copy c = copy_event_page(l, "a");
	uint64_t index = page_member(&c, PERF_EVENT_MMAP_PAGE_INDEX);
	bool rdpmc = page_member(&c, PERF_EVENT_MMAP_PAGE_CAP_USER_RDPMC);

	learn_set_number(l, "index", index);
	learn_set(l, "may", "%s", index && rdpmc ? "yes" : "no");
	learn_set(l, "reason", "%s", index ? "the event has a register now" :
		  !learn_get(l, "hardware") ? "software events have no register" :
		  "the kernel gives this event no register that programs may read");
	if (user_counter.clock && page_member(&c, PERF_EVENT_MMAP_PAGE_CAP_USER_TIME) &&
	    page_member(&c, PERF_EVENT_MMAP_PAGE_CAP_USER_TIME_ZERO) &&
	    page_member(&c, PERF_EVENT_MMAP_PAGE_TIME_SHIFT) < 64)
		learn_set(l, "usertime", "yes");
	return true;
}

/* Show the count by the instruction and by read(). */
bool learn_rdpmc_counter(struct learn *l)
{
	struct page_copy c = copy_event_page(l, "a");
	uint32_t index = (uint32_t)page_member(&c, PERF_EVENT_MMAP_PAGE_INDEX);
	unsigned int width = (unsigned int)page_member(&c, PERF_EVENT_MMAP_PAGE_PMC_WIDTH);

	if (user_counter.read && index && width && width <= 64 &&
	    page_member(&c, PERF_EVENT_MMAP_PAGE_CAP_USER_RDPMC))
		learn_say(l, "%s: %llu", user_counter.instruction, (unsigned long long)
			  user_count(page_member(&c, PERF_EVENT_MMAP_PAGE_OFFSET),
				     user_counter.read(index - 1), width));
	return learn_steps(l, "read a\n");
}

bool learn_rdpmc_lock(struct learn *l)
{
	struct page_copy before = copy_event_page(l, "a"), after;

	if (!learn_steps(l, "ioctl a DISABLE\nioctl a ENABLE\n"))
		return false;
	after = copy_event_page(l, "a");
	learn_set_number(l, "lock", page_member(&before, PERF_EVENT_MMAP_PAGE_LOCK));
	learn_set_number(l, "lock_after", page_member(&after, PERF_EVENT_MMAP_PAGE_LOCK));
	learn_set(l, "looks", "%u", before.looks + after.looks);
	learn_set(l, "again", "%u", before.looks + after.looks - 2);
	return true;
}

/* Return the time of samples from the page alone; in parts, as the product overflows. */
static uint64_t page_time_now(const struct page_copy *c)
{
	uint64_t mult = page_member(c, PERF_EVENT_MMAP_PAGE_TIME_MULT);
	uint64_t shift = page_member(c, PERF_EVENT_MMAP_PAGE_TIME_SHIFT);
	uint64_t cycles = user_counter.clock(), rest = cycles & ((1ULL << shift) - 1);

	return page_member(c, PERF_EVENT_MMAP_PAGE_TIME_ZERO) + (cycles >> shift) * mult +
	       (rest * mult >> shift);
}

static bool keep_sample_time(void *ctx, const struct learn_record *r)
{
	if (r->type == PERF_RECORD_SAMPLE && r->len >= TIME_AT + 8)
		*(uint64_t *)ctx = load_uint(r->bytes + TIME_AT, 8);
	return true;
}

bool learn_rdpmc_time(struct learn *l)
{
	struct page_copy c = copy_event_page(l, "b");
	uint64_t mult = page_member(&c, PERF_EVENT_MMAP_PAGE_TIME_MULT);
	uint64_t shift = page_member(&c, PERF_EVENT_MMAP_PAGE_TIME_SHIFT);
	uint64_t before = page_time_now(&c), sample = 0, after;

	if (!learn_steps(l, "task fault 1\n"))
		return false;
	after = page_time_now(&c);
	learn_say(l, "before: %llu ns", (unsigned long long)before);
	learn_look(l, steps_event(&l->steps, "b"), keep_sample_time, &sample);
	learn_say(l, "after:  %llu ns", (unsigned long long)after);
	learn_set(l, "between", "%s", before <= sample && sample <= after ? "yes" : "no");
	learn_set_number(l, "mult", mult);
	learn_set_number(l, "shift", shift);
	learn_set(l, "mhz", "%.0f", 1000 / ((double)mult / (double)(1ULL << shift)));
	return true;
}
