/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes calls of a named kind and says, on standard output and in its own
 * words, how each of them should be shown.  What it says comes from what it
 * did and from what the kernel answered; it shares no table with the program
 * under test, and constants are given by number.
 *
 * usage: attrs list | attrs CASE...
 *
 * Lines are "PID CALL(ARGUMENTS) = RESULT".  In them
 *	?	at the start: the call may be left out, but if shown, is this
 *	@any	stands for any value
 *	@bytes:FIRST..LAST	stands for bytes that begin and end so
 *	~text	in a comment: text must stand in some comment of the line
 * Members of an attr that are not named are zero.  A line "SKIP why" ends a
 * case that this machine cannot do.
 *
 * Whatever a call reads ends right before an unmapped page.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif

typedef unsigned long word;
typedef unsigned long long u64;

/* perf_event_open(2) by number, as said above. */
enum { HARDWARE, SOFTWARE, TRACEPOINT, HW_CACHE, RAW, BREAKPOINT };
enum { VER0 = 64, VER1 = 72, VER2 = 80, VER3 = 96, VER4 = 104, VER5 = 112,
       VER6 = 120, VER7 = 128, VER8 = 136, VER9 = 144 };
enum { CPU_CLOCK = 0, DUMMY = 9, CLOEXEC = 8, PAGE = 4096 };

/* Requests carry the size of a pointer where their argument is one. */
#define PTR_SIZE ((word)sizeof(void *) << 16)
#define IOC_ENABLE 0x2400
#define IOC_DISABLE 0x2401
#define IOC_REFRESH 0x2402
#define IOC_RESET 0x2403
#define IOC_PERIOD 0x40082404
#define IOC_SET_OUTPUT 0x2405
#define IOC_SET_FILTER (0x40002406 | PTR_SIZE)
#define IOC_ID (0x80002407 | PTR_SIZE)
#define IOC_SET_BPF 0x40042408
#define IOC_PAUSE_OUTPUT 0x40042409
#define IOC_QUERY_BPF (0xc000240a | PTR_SIZE)
#define IOC_MODIFY (0x4000240b | PTR_SIZE)

/* ---- saying what is expected ------------------------------------------- */

static char line[1 << 16];

static void say(const char *fmt, ...)
{
	int len = snprintf(line, sizeof(line), "%ld ", syscall(SYS_gettid));
	va_list ap;

	va_start(ap, fmt);
	len += vsnprintf(line + len, sizeof(line) - len - 1, fmt, ap);
	va_end(ap);
	line[len++] = '\n';
	for (int done = 0; done < len;) {
		ssize_t n = write(1, line + done, len - done);

		if (n <= 0)
			_exit(3);
		done += n;
	}
}

__attribute__((noreturn)) static void skip(const char *why)
{
	dprintf(1, "SKIP %s\n", why);
	_exit(0);
}

/* A result as strace writes it; good for as many as one line may hold. */
static const char *res(long r, const char *fmt)
{
	static char out[4][128];
	static int turn;
	int e = errno;

	turn = (turn + 1) % 4;
	if (r == -1)
		snprintf(out[turn], sizeof(out[0]), "-1 %s (%s)",
			 strerrorname_np(e), strerror(e));
	else
		snprintf(out[turn], sizeof(out[0]), fmt, r);
	return out[turn];
}

/* ---- memory against an unmapped page ------------------------------------ */

/* len bytes that end where the mapped memory ends. */
static void *tail_alloc(size_t len)
{
	size_t room = (len + PAGE - 1) / PAGE * PAGE;
	char *p;

	if (!room)
		room = PAGE;
	p = mmap(NULL, room + PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || mprotect(p + room, PAGE, PROT_NONE))
		_exit(3);
	return p + room - len;
}

static void *tail_copy(const void *from, size_t len)
{
	return memcpy(tail_alloc(len), from, len);
}

static void *tail_string(const char *s)
{
	return tail_copy(s, strlen(s) + 1);
}

/* An address where nothing is. */
static void *nowhere(void)
{
	return (char *)tail_alloc(PAGE) + PAGE;
}

/* Calls of the traced kinds that do not concern perf: none may be shown. */
static void noise(void)
{
	int fd = open("/dev/null", O_RDWR), p[2];
	struct pollfd pfd;
	char c;

	if (fd < 0 || pipe(p))
		_exit(3);
	pfd = (struct pollfd){ .fd = p[0], .events = POLLIN };
	if (read(fd, &c, 1) || poll(&pfd, 1, 0) || fcntl(fd, F_GETFD) < 0 ||
	    munmap(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0), PAGE))
		_exit(3);
	syscall(SYS_ioctl, fd, 0x5401, NULL);
	close(dup(fd));
	close(fd);
	close(p[0]);
	close(p[1]);
}

/* ---- struct perf_event_attr --------------------------------------------- */

struct member {
	const char *name;
	unsigned int off, width, bit, nbits, least;
};

#define M(name, off, width, least) { name, off, width, 0, 0, least }
#define B(name, bit) { name, 40, 8, bit, 1, VER0 }

static const struct member members[] = {
	M("type", 0, 4, VER0), M("size", 4, 4, VER0), M("config", 8, 8, VER0),
	M("sample_period", 16, 8, VER0), M("sample_freq", 16, 8, VER0),
	M("sample_type", 24, 8, VER0), M("read_format", 32, 8, VER0),
	B("disabled", 0), B("inherit", 1), B("pinned", 2), B("exclusive", 3),
	B("exclude_user", 4), B("exclude_kernel", 5), B("exclude_hv", 6),
	B("exclude_idle", 7), B("mmap", 8), B("comm", 9), B("freq", 10),
	B("inherit_stat", 11), B("enable_on_exec", 12), B("task", 13),
	B("watermark", 14), { "precise_ip", 40, 8, 15, 2, VER0 },
	B("mmap_data", 17), B("sample_id_all", 18), B("exclude_host", 19),
	B("exclude_guest", 20), B("exclude_callchain_kernel", 21),
	B("exclude_callchain_user", 22), B("mmap2", 23), B("comm_exec", 24),
	B("use_clockid", 25), B("context_switch", 26),
	B("write_backward", 27), B("namespaces", 28), B("ksymbol", 29),
	B("bpf_event", 30), B("aux_output", 31), B("cgroup", 32),
	B("text_poke", 33), B("build_id", 34), B("inherit_thread", 35),
	B("remove_on_exec", 36), B("sigtrap", 37), B("defer_callchain", 38),
	B("defer_output", 39), { "__reserved_1", 40, 8, 40, 24, VER0 },
	M("wakeup_events", 48, 4, VER0), M("wakeup_watermark", 48, 4, VER0),
	M("bp_type", 52, 4, VER0),
	M("config1", 56, 8, VER0), M("bp_addr", 56, 8, VER0),
	M("kprobe_func", 56, 8, VER0), M("uprobe_path", 56, 8, VER0),
	M("config2", 64, 8, VER1), M("bp_len", 64, 8, VER1),
	M("kprobe_addr", 64, 8, VER1), M("probe_offset", 64, 8, VER1),
	M("branch_sample_type", 72, 8, VER2),
	M("sample_regs_user", 80, 8, VER3),
	M("sample_stack_user", 88, 4, VER3), M("clockid", 92, 4, VER3),
	M("sample_regs_intr", 96, 8, VER4),
	M("aux_watermark", 104, 4, VER5), M("sample_max_stack", 108, 2, VER5),
	M("__reserved_2", 110, 2, VER5),
	M("aux_sample_size", 112, 4, VER6),
	{ "aux_start_paused", 116, 4, 0, 1, VER6 },
	{ "aux_pause", 116, 4, 1, 1, VER6 },
	{ "aux_resume", 116, 4, 2, 1, VER6 },
	{ "__reserved_3", 116, 4, 3, 29, VER6 },
	M("sig_data", 120, 8, VER7), M("config3", 128, 8, VER8),
	M("config4", 136, 8, VER9),
};

enum { NMEMBERS = sizeof(members) / sizeof(members[0]) };

static unsigned char attr[2 * PAGE];
static char *words[NMEMBERS];

static void poke(const struct member *m, u64 v)
{
	u64 all = m->nbits ? (1ULL << m->nbits) - 1 : ~0ULL, old = 0;

	memcpy(&old, attr + m->off, m->width);
	old = (old & ~(all << m->bit)) | (v & all) << m->bit;
	memcpy(attr + m->off, &old, m->width);
}

static u64 peek(const struct member *m)
{
	u64 v = 0;

	memcpy(&v, attr + m->off, m->width);
	return m->nbits ? v >> m->bit & ((1ULL << m->nbits) - 1) : v;
}

static const struct member *member(const char *name)
{
	for (int i = 0; i < NMEMBERS; i++)
		if (!strcmp(members[i].name, name))
			return &members[i];
	fprintf(stderr, "attrs: no member %s\n", name);
	_exit(3);
}

/* Sets a member; fmt is how it should read, NULL for a plain number. */
static void set(const char *name, u64 v, const char *fmt, ...)
{
	const struct member *m = member(name);
	char **text = &words[m - members];
	va_list ap;

	poke(m, v);
	free(*text);
	*text = NULL;
	if (!fmt)
		fmt = "%llu";
	va_start(ap, fmt);
	if (!strcmp(fmt, "%llu"))
		*text = NULL;
	if (!strcmp(name, "clockid") && !strcmp(fmt, "%llu")) {
		if (asprintf(text, "%d", (int)peek(m)) < 0)
			_exit(3);
	} else if (!strcmp(fmt, "%llu") ? asprintf(text, fmt, peek(m)) < 0 :
				   vasprintf(text, fmt, ap) < 0)
		_exit(3);
	va_end(ap);
}

static void set_size(unsigned int size)
{
	if (size >= VER0 && size <= VER9 && size % 8 == 0 && size != 88)
		set("size", size, "PERF_ATTR_SIZE_VER%d",
		    size < VER3 ? (int)(size - VER0) / 8 : (int)(size - VER3) / 8 + 3);
	else
		set("size", size, NULL);
}

/* An attr that is all zero but for what it is. */
static void fresh(unsigned int size, unsigned int type, u64 config,
		  const char *name)
{
	static const char *const types[] = {
		"PERF_TYPE_HARDWARE", "PERF_TYPE_SOFTWARE",
		"PERF_TYPE_TRACEPOINT", "PERF_TYPE_HW_CACHE",
		"PERF_TYPE_RAW", "PERF_TYPE_BREAKPOINT",
	};

	memset(attr, 0, sizeof(attr));
	for (int i = 0; i < NMEMBERS; i++) {
		free(words[i]);
		words[i] = NULL;
	}
	set_size(size);
	if (type < 6)
		set("type", type, "%s", types[type]);
	else
		set("type", type, NULL);
	set("config", config, name ? "%s" : "%llu", name);
}

static void fresh_dummy(unsigned int size)
{
	fresh(size, SOFTWARE, DUMMY, "PERF_COUNT_SW_DUMMY");
	if (size > 40)
		set("exclude_kernel", 1, NULL);
}

/* The attr in words, as far as size bytes reach. */
static const char *attr_words(size_t size)
{
	static char out[8192];
	size_t len = 1;

	strcpy(out, "{");
	for (int i = 0; i < NMEMBERS; i++)
		if (words[i] && members[i].off < size)
			len += snprintf(out + len, sizeof(out) - len, "%s%s=%s",
					len > 1 ? ", " : "", members[i].name,
					words[i]);
	strcpy(out + len, "}");
	return out;
}

static size_t attr_size(void)
{
	uint32_t size;

	memcpy(&size, attr + 4, 4);
	return size ? size : VER0;
}

static const char *flag_words(word flags)
{
	static const char *const names[] = {
		"PERF_FLAG_FD_NO_GROUP", "PERF_FLAG_FD_OUTPUT",
		"PERF_FLAG_PID_CGROUP", "PERF_FLAG_FD_CLOEXEC",
	};
	static char out[256];
	size_t len = 0;

	strcpy(out, flags ? "" : "0");
	for (int i = 0; i < 4; i++)
		if (flags & 1UL << i)
			len += sprintf(out + len, "%s%s", len ? "|" : "", names[i]);
	if (flags >> 4)
		sprintf(out + len, "%s0x%lx", len ? "|" : "", flags & ~15UL);
	return out;
}

/* Opens what stands at p, which text describes. */
static int open_raw(void *p, const char *text, int pid, int cpu, int group,
		    word flags)
{
	long fd = syscall(SYS_perf_event_open, p, pid, cpu, group, flags);

	say("perf_event_open(%s, %d, %d, %d, %s) = %s", text, pid, cpu, group,
	    flag_words(flags), res(fd, "%ld"));
	return (int)fd;
}

/*
 * Opens the attr, of which len bytes are in memory.  A kernel that refuses
 * its size says which one it knows, in the attr itself.
 */
static int open_len(size_t len, int pid, int cpu, int group, word flags)
{
	void *p = tail_copy(attr, len);
	long fd = syscall(SYS_perf_event_open, p, pid, cpu, group, flags);
	char wrote[64] = "";
	uint32_t was, now;
	int e = errno;

	memcpy(&was, attr + 4, 4);
	memcpy(&now, (char *)p + 4, 4);
	if (now != was)
		sprintf(wrote, " /* ~size=%u */", now);
	errno = e;
	say("perf_event_open(%s, %d, %d, %d, %s) = %s%s", attr_words(len), pid,
	    cpu, group, flag_words(flags), res(fd, "%ld"), wrote);
	return (int)fd;
}

static int event(int pid, int cpu, int group, word flags)
{
	return open_len(attr_size(), pid, cpu, group, flags);
}

static int own_event(void)
{
	int fd = event(0, -1, -1, CLOEXEC);

	if (fd < 0)
		skip("events cannot be opened here");
	return fd;
}

static void shut(int fd)
{
	long r;

	if (fd < 0)
		return;
	r = syscall(SYS_close, fd);
	say("close(%d) = %s", fd, res(r, "%ld"));
}

/* Opens it and throws it away. */
static void once(void)
{
	shut(event(0, -1, -1, CLOEXEC));
}

/* ---- sizes and addresses ------------------------------------------------ */

static void refused(size_t len)
{
	shut(open_len(len, 0, -1, -1, CLOEXEC));
}

static void case_size0(void)
{
	fresh_dummy(0);
	set("size", 0, "0 /* ~PERF_ATTR_SIZE_VER0 */");
	once();
}

static void case_size_small(void)
{
	static const unsigned int sizes[] = { 1, 7, 8, 40, 63 };

	for (int i = 0; i < 5; i++) {
		fresh_dummy(sizes[i]);
		if (sizes[i] > 8)
			refused(sizes[i]);
		else
			refused(8);
	}
}

static void case_size_odd(void)
{
	static const unsigned int sizes[] = { 65, 71, 76, 88, 94, 110, 143 };

	for (int i = 0; i < 7; i++) {
		fresh_dummy(sizes[i]);
		once();
	}
}

static void case_size_beyond(void)
{
	static const unsigned int sizes[] = { PAGE + 1, 65536, 0x80000000, 4294967295u };

	for (int i = 0; i < 4; i++) {
		fresh_dummy(sizes[i]);
		refused(2 * PAGE);
	}
}

static void case_big_zero(void)
{
	static const unsigned int sizes[] = { 145, 152, 256, 4095, PAGE };

	for (int i = 0; i < 5; i++) {
		fresh_dummy(sizes[i]);
		once();
	}
}

static void case_big_dirty(void)
{
	static const unsigned int sizes[] = { 152, 256, PAGE };

	for (int i = 0; i < 3; i++) {
		fresh_dummy(sizes[i]);
		attr[VER9] = 0x5a;
		attr[sizes[i] - 1] = 0xa5;
		/* the member has no name; it must hold these very bytes */
		set("config4", 0, "0, unknown=@bytes:5a..a5");
		refused(sizes[i]);
	}
}

static void case_unreadable(void)
{
	void *p = nowhere();
	char text[64];

	sprintf(text, "%#lx", (word)p);
	open_raw(p, text, 0, -1, -1, 0);
	open_raw(NULL, "NULL", 0, -1, -1, CLOEXEC);
	open_raw((void *)1, "0x1", 0, -1, -1, CLOEXEC);
	/* flags are looked at first */
	open_raw(NULL, "NULL", 0, -1, -1, 0x10);
}

static void case_edge(void)
{
	static const unsigned int sizes[] = { VER0, VER1, VER2, VER3, VER4,
					      VER5, VER6, VER7, VER8, VER9 };

	for (int i = 0; i < 10; i++) {
		fresh_dummy(sizes[i]);
		set("sample_period", 1000 + i, NULL);
		set("sample_type", 3, "PERF_SAMPLE_IP|PERF_SAMPLE_TID");
		once();
	}
}

/*
 * Only the first len bytes are mapped.  Its address is enough; if more is
 * shown, it is what there is, and that there is no more is said.
 */
static void case_half(void)
{
	static const unsigned int lens[] = { 4, 8, 16, 63, 64, 80, 100, 127 };

	for (int i = 0; i < 8; i++) {
		char text[512];
		void *p;

		fresh_dummy(VER7);
		set("sample_type", 2, "PERF_SAMPLE_TID");
		set("branch_sample_type", 8, "PERF_SAMPLE_BRANCH_ANY");
		set("sample_regs_intr", 1, "0x1");
		p = tail_copy(attr, lens[i]);
		sprintf(text, "%#lx => %s /* ~unreadable */", (word)p,
			attr_words(lens[i]));
		open_raw(p, text, 0, -1, -1, 0);
	}
}

/* ---- every member, every name ------------------------------------------- */

/* A table of names: those of bits, from the first on. */
static void each_bit(const char *what, const char *prefix,
		     const char *const *names, unsigned int size)
{
	char all[2048] = "", name[64];
	u64 mask = 0;
	int n;

	for (n = 0; names[n]; n++) {
		fresh_dummy(size);
		snprintf(name, sizeof(name), "%s%s", prefix, names[n]);
		set(what, 1ULL << n, "%s", name);
		strcat(strcat(all, name), "|");
		mask |= 1ULL << n;
		once();
	}
	fresh_dummy(size);
	all[strlen(all) - 1] = '\0';
	set(what, mask, "%s", all);
	once();
	set(what, mask | 1ULL << 62, "%s|0x4000000000000000", all);
	once();
	set(what, 1ULL << 62, "0x4000000000000000");
	once();
}

static void case_sample_type(void)
{
	static const char *const names[] = {
		"IP", "TID", "TIME", "ADDR", "READ", "CALLCHAIN", "ID", "CPU",
		"PERIOD", "STREAM_ID", "RAW", "BRANCH_STACK", "REGS_USER",
		"STACK_USER", "WEIGHT", "DATA_SRC", "IDENTIFIER",
		"TRANSACTION", "REGS_INTR", "PHYS_ADDR", "AUX", "CGROUP",
		"DATA_PAGE_SIZE", "CODE_PAGE_SIZE", "WEIGHT_STRUCT", NULL
	};

	each_bit("sample_type", "PERF_SAMPLE_", names, VER7);
}

static void case_read_format(void)
{
	static const char *const names[] = {
		"TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID", "GROUP",
		"LOST", NULL
	};

	each_bit("read_format", "PERF_FORMAT_", names, VER0);
}

static void case_branch(void)
{
	static const char *const names[] = {
		"USER", "KERNEL", "HV", "ANY", "ANY_CALL", "ANY_RETURN",
		"IND_CALL", "ABORT_TX", "IN_TX", "NO_TX", "COND",
		"CALL_STACK", "IND_JUMP", "CALL", "NO_FLAGS", "NO_CYCLES",
		"TYPE_SAVE", "HW_INDEX", "PRIV_SAVE", "COUNTERS", NULL
	};

	each_bit("branch_sample_type", "PERF_SAMPLE_BRANCH_", names, VER2);
	fresh_dummy(VER7);
	set("sample_type", 0x800, "PERF_SAMPLE_BRANCH_STACK");
	set("branch_sample_type", 0x10009,
	    "PERF_SAMPLE_BRANCH_USER|PERF_SAMPLE_BRANCH_ANY|PERF_SAMPLE_BRANCH_TYPE_SAVE");
	once();
}

/* Each member alone, with a value that no other has. */
static void case_fields(void)
{
	for (int i = 0; i < NMEMBERS; i++) {
		const struct member *m = &members[i];
		u64 v = 0xf1e2d3c4b5a60000ULL + 0x101 * (unsigned int)(i + 1);

		/* those that have a case of their own */
		if (m->off < 16 || m->off == 24 || m->off == 32 ||
		    !strcmp(m->name, "sample_freq") ||
		    !strcmp(m->name, "wakeup_watermark") ||
		    !strcmp(m->name, "branch_sample_type") ||
		    (m->off == 56 && strcmp(m->name, "config1")) ||
		    (m->off == 64 && strcmp(m->name, "config2")))
			continue;
		fresh_dummy(VER9);
		if (m->nbits == 1 && m->off == 40) {
			set(m->name, 1, NULL);
			/* these two are read as another name's switch */
			if (!strcmp(m->name, "freq"))
				set("sample_freq", 0, NULL);
			if (!strcmp(m->name, "watermark"))
				set("wakeup_watermark", 0, NULL);
		} else if (m->nbits == 1) {
			set(m->name, 1, NULL);
		} else {
			if (m->nbits == 2)
				v = 2;
			set(m->name, v, NULL);
		}
		once();
		/* and with the smallest size that holds it */
		set_size(m->least);
		once();
	}
}

/* Everything at once: no member may hide another. */
static void case_all(void)
{
	fresh_dummy(VER9);
	for (int i = 7; i < NMEMBERS; i++) {
		const struct member *m = &members[i];

		if (!strcmp(m->name, "wakeup_events") ||
		    (m->off == 56 && strcmp(m->name, "config1")) ||
		    (m->off == 64 && strcmp(m->name, "config2")) ||
		    m->off == 72)
			continue;
		set(m->name, 0x0102030405060708ULL * (i | 1) | 1, NULL);
	}
	set("sample_freq", 99, NULL);
	once();
}

static void case_unions(void)
{
	fresh_dummy(VER7);
	set("sample_period", 12345, NULL);
	set("wakeup_events", 7, NULL);
	once();
	fresh_dummy(VER7);
	set("freq", 1, NULL);
	set("sample_freq", 99, NULL);
	set("watermark", 1, NULL);
	set("wakeup_watermark", 4096, NULL);
	once();
	fresh(VER7, RAW, 0x1234, NULL);
	set("config1", 0x5678, NULL);
	set("config2", 0x9abc, NULL);
	once();
}

static void case_precise(void)
{
	static const char *const said[] = {
		"arbitrary skid", "constant skid", "0 skid", "0 skid",
	};

	for (int i = 0; i < 4; i++) {
		fresh_dummy(VER7);
		set("precise_ip", i, i ? "%d /* ~%s */" : "%d", i, said[i]);
		once();
	}
}

static void case_clockid(void)
{
	static const struct { int id; const char *name; } ids[] = {
		{ 0, "CLOCK_REALTIME" }, { 1, "CLOCK_MONOTONIC" },
		{ 2, "CLOCK_PROCESS_CPUTIME_ID" }, { 4, "CLOCK_MONOTONIC_RAW" },
		{ 7, "CLOCK_BOOTTIME" }, { 11, "CLOCK_TAI" },
	};

	for (int i = 0; i < 6; i++) {
		fresh_dummy(VER7);
		set("use_clockid", 1, NULL);
		set("clockid", ids[i].id, "%s", ids[i].name);
		once();
	}
	set("clockid", 99, NULL);
	once();
	set("clockid", -1, "-1");
	once();
}

static void case_regs(void)
{
#ifdef __i386__
	static const char all[] = "AX|BX|CX|DX|SI|DI|BP|SP|IP|FLAGS|CS|SS|DS|ES|FS|GS";
	const u64 mask = 0xffff;
#elif defined(__x86_64__)
	static const char all[] =
		"AX|BX|CX|DX|SI|DI|BP|SP|IP|FLAGS|CS|SS|R8|R9|R10|R11|R12|R13|R14|R15";
	const u64 mask = 0xff0fff;
#else
	skip("registers of this architecture are not in the test");
	const char *all = "";
	const u64 mask = 0;
#endif
	fresh_dummy(VER7);
	set("sample_type", 0x1000, "PERF_SAMPLE_REGS_USER");
	set("sample_regs_user", mask, "%#llx /* ~%s */", mask, all);
	once();
	set("sample_regs_user", 0x101, "%#x /* ~AX|IP */", 0x101);
	once();
	fresh_dummy(VER7);
	set("sample_type", 0x40000, "PERF_SAMPLE_REGS_INTR");
	set("sample_regs_intr", mask, "%#llx /* ~%s */", mask, all);
	once();
	set("sample_regs_intr", 3ULL << 32, "0x300000000 /* ~XMM0 */");
	once();
}

/* ---- type and config ----------------------------------------------------- */

static void case_hw(void)
{
	static const char *const names[] = {
		"CPU_CYCLES", "INSTRUCTIONS", "CACHE_REFERENCES",
		"CACHE_MISSES", "BRANCH_INSTRUCTIONS", "BRANCH_MISSES",
		"BUS_CYCLES", "STALLED_CYCLES_FRONTEND",
		"STALLED_CYCLES_BACKEND", "REF_CPU_CYCLES",
	};
	char name[64];

	for (int i = 0; i < 10; i++) {
		sprintf(name, "PERF_COUNT_HW_%s", names[i]);
		fresh(VER7, HARDWARE, i, name);
		once();
	}
	fresh(VER7, HARDWARE, 10, NULL);
	once();
	fresh(VER7, HARDWARE, 0xfedcba98, NULL);
	once();
	fresh(VER7, HARDWARE, 4ULL << 32 | 1, "4<<32|PERF_COUNT_HW_INSTRUCTIONS");
	once();
	fresh(VER7, HARDWARE, 77ULL << 32, "77<<32|PERF_COUNT_HW_CPU_CYCLES");
	once();
}

static void case_sw(void)
{
	static const char *const names[] = {
		"CPU_CLOCK", "TASK_CLOCK", "PAGE_FAULTS", "CONTEXT_SWITCHES",
		"CPU_MIGRATIONS", "PAGE_FAULTS_MIN", "PAGE_FAULTS_MAJ",
		"ALIGNMENT_FAULTS", "EMULATION_FAULTS", "DUMMY", "BPF_OUTPUT",
		"CGROUP_SWITCHES",
	};
	char name[64];

	for (int i = 0; i < 12; i++) {
		sprintf(name, "PERF_COUNT_SW_%s", names[i]);
		fresh(VER7, SOFTWARE, i, name);
		once();
	}
	fresh(VER7, SOFTWARE, 12, NULL);
	once();
	fresh(VER7, SOFTWARE, 1ULL << 63 | 1, NULL);
	once();
}

static void case_cache(void)
{
	static const char *const ids[] = { "L1D", "L1I", "LL", "DTLB", "ITLB",
					   "BPU", "NODE" };
	static const char *const ops[] = { "READ", "WRITE", "PREFETCH" };
	static const char *const results[] = { "ACCESS", "MISS" };
	char name[160];

	for (int i = 0; i < 7; i++)
		for (int o = 0; o < 3; o++)
			for (int r = 0; r < 2; r++) {
				sprintf(name, "PERF_COUNT_HW_CACHE_RESULT_%s<<16|"
					"PERF_COUNT_HW_CACHE_OP_%s<<8|"
					"PERF_COUNT_HW_CACHE_%s",
					results[r], ops[o], ids[i]);
				fresh(VER7, HW_CACHE, i | o << 8 | r << 16, name);
				once();
			}
	fresh(VER7, HW_CACHE, 0x00010209ULL,
	      "PERF_COUNT_HW_CACHE_RESULT_MISS<<16|PERF_COUNT_HW_CACHE_OP_PREFETCH<<8|0x9");
	once();
	fresh(VER7, HW_CACHE, 0x00050704ULL, "0x5<<16|0x7<<8|PERF_COUNT_HW_CACHE_ITLB");
	once();
	fresh(VER7, HW_CACHE, 4ULL << 32, "4<<32|PERF_COUNT_HW_CACHE_RESULT_ACCESS<<16|"
	      "PERF_COUNT_HW_CACHE_OP_READ<<8|PERF_COUNT_HW_CACHE_L1D");
	once();
}

static void case_types(void)
{
	static const unsigned int types[] = { 6, 7, 12345, 4294967295u };

	fresh(VER7, RAW, 0x1a8, NULL);
	once();
	for (int i = 0; i < 4; i++) {
		fresh(VER7, types[i], 0x10, NULL);
		once();
	}
}

/* A small number in a file, or -1. */
static int number_in(const char *fmt, const char *name)
{
	char path[256], text[32] = "";
	int fd, n = -1;

	snprintf(path, sizeof(path), fmt, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (read(fd, text, sizeof(text) - 1) > 0)
			n = atoi(text);
		close(fd);
	}
	return n;
}

static int pmu(const char *name)
{
	return number_in("/sys/bus/event_source/devices/%s/type", name);
}

static int tracepoint(const char *name)
{
	int id = number_in("/sys/kernel/tracing/events/%s/id", name);

	if (id < 0)
		id = number_in("/sys/kernel/debug/tracing/events/%s/id", name);
	if (id < 0)
		skip("no tracefs");
	return id;
}

static void case_pmus(void)
{
	static const char *const names[] = { "msr", "cpu", "power", "intel_pt",
					     "i915", "cstate_core" };
	bool any = false;

	for (int i = 0; i < 6; i++) {
		int type = pmu(names[i]);

		if (type < 6)
			continue;
		fresh(VER7, type, 0, NULL);
		set("type", type, "%d /* ~%s */", type, names[i]);
		once();
		any = true;
	}
	if (!any)
		skip("no dynamic PMU that the test knows");
}

/* The offset of the program's first instruction in its file, as linkers lay it out. */
static word entry_offset(void)
{
	return getauxval(AT_ENTRY) - (getauxval(AT_PHDR) - sizeof(ElfW(Ehdr)));
}

static void case_uprobe(void)
{
	int type = pmu("uprobe");
	char self[256];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	void *bad = nowhere();

	if (type < 0 || n < 0)
		skip("no uprobe PMU");
	self[n] = '\0';
	fresh(VER7, type, 1, NULL);
	set("type", type, "%d /* ~uprobe */", type);
	set("uprobe_path", (word)tail_string(self), "\"%s\"", self);
	set("probe_offset", entry_offset(), "%llu", (unsigned long long)entry_offset());
	once();
	set("config", 0x500000000ULL, NULL);
	set("uprobe_path", (word)tail_string("/no \"such\" file\n"),
	    "\"/no \\\"such\\\" file\\n\"");
	once();
	set("uprobe_path", (word)tail_string(""), "\"\"");
	once();
	set("uprobe_path", (word)bad, "%#lx", (word)bad);
	once();
	set("uprobe_path", 0, "NULL");
	once();
}

static void case_kprobe(void)
{
	int type = pmu("kprobe");

	if (type < 0)
		skip("no kprobe PMU");
	fresh(VER7, type, 0, NULL);
	set("type", type, "%d /* ~kprobe */", type);
	set("kprobe_func", (word)tail_string("do_nanosleep"), "\"do_nanosleep\"");
	set("probe_offset", 4, NULL);
	once();
	fresh(VER7, type, 0, NULL);
	set("type", type, "%d /* ~kprobe */", type);
	set("kprobe_addr", 0xffffffff81000000ULL, NULL);
	once();
}

static void case_breakpoint(void)
{
	static const struct { int type, len; const char *tname, *lname; } bps[] = {
		{ 1, 1, "HW_BREAKPOINT_R", "HW_BREAKPOINT_LEN_1" },
		{ 2, 2, "HW_BREAKPOINT_W", "HW_BREAKPOINT_LEN_2" },
		{ 3, 4, "HW_BREAKPOINT_RW", "HW_BREAKPOINT_LEN_4" },
		{ 3, 8, "HW_BREAKPOINT_RW", "HW_BREAKPOINT_LEN_8" },
		{ 4, sizeof(long), "HW_BREAKPOINT_X", NULL },
		{ 0, 3, "HW_BREAKPOINT_EMPTY", "HW_BREAKPOINT_LEN_3" },
		{ 7, 1, "HW_BREAKPOINT_INVALID", "HW_BREAKPOINT_LEN_1" },
		{ 8, 64, NULL, NULL },
	};
	static u64 watched;

	for (unsigned int i = 0; i < sizeof(bps) / sizeof(bps[0]); i++) {
		fresh(VER7, BREAKPOINT, 0, NULL);
		set("exclude_kernel", 1, NULL);
		set("bp_type", bps[i].type, bps[i].tname ? "%s" : NULL, bps[i].tname);
		set("bp_addr", (word)&watched, "%#lx", (word)&watched);
		set("bp_len", bps[i].len, "%d", bps[i].len);
		once();
	}
	fresh(VER7, BREAKPOINT, 0, NULL);
	set("exclude_kernel", 1, NULL);
	set("bp_type", 2, "HW_BREAKPOINT_W");
	set("bp_addr", (word)&watched, "%#lx", (word)&watched);
	set("bp_len", 8, "8");
	set("remove_on_exec", 1, NULL);
	set("sigtrap", 1, NULL);
	set("sig_data", 0xfeedface, NULL);
	once();
}

static int open_tracepoint(const char *sub, const char *name)
{
	char path[128];
	int id;

	snprintf(path, sizeof(path), "%s/%s", sub, name);
	id = tracepoint(path);
	fresh(VER7, TRACEPOINT, id, NULL);
	set("config", id, "%d /* ~%s:%s */", id, sub, name);
	set("sample_period", 1, NULL);
	set("disabled", 1, NULL);
	return event(0, -1, -1, CLOEXEC);
}

/* ---- the other arguments ------------------------------------------------ */

static void case_target(void)
{
	int gone = fork();

	if (!gone)
		_exit(0);
	if (gone < 0 || waitpid(gone, NULL, 0) != gone)
		_exit(3);
	fresh_dummy(VER7);
	shut(event(getpid(), -1, -1, 0));
	shut(event(0, 0, -1, 0));
	shut(event(-1, 0, -1, 0));
	shut(event(-1, -1, -1, 0));
	shut(event(0, 9999, -1, 0));
	shut(event(0, -2, -1, 0));
	shut(event(gone, -1, -1, 0));
	shut(event(-2, -1, -1, 0));
	shut(event(getppid(), -1, -1, 0));
}

static void case_flags(void)
{
	int lead;

	fresh_dummy(VER7);
	lead = event(0, -1, -1, 0);
	for (word f = 0; f < 16; f++)
		shut(event(0, -1, -1, f));
	shut(event(0, -1, lead, 1));
	shut(event(0, -1, lead, 2));
	shut(event(0, -1, lead, 1 | 2 | 8));
	shut(event(0, -1, -1, 0x10));
	shut(event(0, -1, -1, 0x80000008UL));
#if __LP64__
	shut(event(0, -1, -1, 0x100000008UL));
#endif
	shut(lead);
}

static void case_group(void)
{
	int lead, fds[3];

	fresh_dummy(VER7);
	lead = event(0, -1, -1, CLOEXEC);
	for (int i = 0; i < 3; i++) {
		fresh(VER7, SOFTWARE, i + 1, i == 0 ? "PERF_COUNT_SW_TASK_CLOCK" :
		      i == 1 ? "PERF_COUNT_SW_PAGE_FAULTS" :
			       "PERF_COUNT_SW_CONTEXT_SWITCHES");
		set("exclude_kernel", 1, NULL);
		fds[i] = event(0, -1, lead, CLOEXEC);
	}
	shut(event(0, -1, fds[0], CLOEXEC));	/* not a leader */
	shut(event(0, -1, 0, CLOEXEC));		/* not an event */
	shut(event(0, -1, 999, CLOEXEC));	/* not open */
	shut(event(0, -1, -2, CLOEXEC));
	for (int i = 0; i < 3; i++)
		shut(fds[i]);
	shut(lead);
}

static void case_cgroup(void)
{
	/* of its own in version 1, anywhere in version 2 */
	int fd = open("/sys/fs/cgroup/perf_event", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fd = open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		skip("no cgroup file system");
	fresh_dummy(VER7);
	shut(event(fd, 0, -1, 4 | CLOEXEC));
	shut(event(fd, -1, -1, 4));
	shut(event(998, 0, -1, 4));
	close(fd);
}

/* ---- ioctl ---------------------------------------------------------------- */

/* An ioctl whose argument reads as text. */
static long control(int fd, word request, const char *name, word arg,
		    const char *text)
{
	long r = syscall(SYS_ioctl, fd, request, arg);

	say("ioctl(%d, %s, %s) = %s", fd, name, text, res(r, "%ld"));
	return r;
}

static const char *num(long long n)
{
	static char out[4][32];
	static int turn;

	turn = (turn + 1) % 4;
	sprintf(out[turn], "%lld", n);
	return out[turn];
}

static const char *hex(word n)
{
	static char out[4][32];
	static int turn;

	turn = (turn + 1) % 4;
	sprintf(out[turn], n ? "%#lx" : "NULL", n);
	return out[turn];
}

#define CONTROL(fd, name, arg, text) \
	control(fd, IOC_##name, "PERF_EVENT_IOC_" #name, (word)(arg), text)

static int sampler(void)
{
	fresh(VER7, SOFTWARE, CPU_CLOCK, "PERF_COUNT_SW_CPU_CLOCK");
	set("sample_period", 1000000, NULL);
	set("sample_type", 1, "PERF_SAMPLE_IP");
	set("disabled", 1, NULL);
	set("exclude_kernel", 1, NULL);
	set("wakeup_events", 1, NULL);
	return own_event();
}

static void case_ioctl(void)
{
	int fd = sampler(), other;
	u64 *cell = tail_alloc(8);
	char text[64];
	long r;

	fresh_dummy(VER7);
	other = own_event();
	CONTROL(fd, ENABLE, 0, "0");
	CONTROL(fd, DISABLE, 1, "PERF_IOC_FLAG_GROUP");
	CONTROL(fd, ENABLE, 1, "PERF_IOC_FLAG_GROUP");
	CONTROL(fd, DISABLE, 0, "0");
	CONTROL(fd, ENABLE, 6, "0x6");
	CONTROL(fd, DISABLE, 3, "PERF_IOC_FLAG_GROUP|0x2");
	CONTROL(fd, RESET, 0, "0");
	CONTROL(fd, RESET, 1, "PERF_IOC_FLAG_GROUP");
	CONTROL(fd, REFRESH, 3, "3");
	CONTROL(fd, REFRESH, 0, "0");
	CONTROL(fd, REFRESH, -1, "-1");
	CONTROL(fd, DISABLE, 0, "0");
	CONTROL(other, REFRESH, 1, "1");	/* does not sample */
	*cell = 123456789012ULL;
	CONTROL(fd, PERIOD, cell, "[123456789012]");
	*cell = 0;
	CONTROL(fd, PERIOD, cell, "[0]");
	*cell = ~0ULL;
	CONTROL(fd, PERIOD, cell, "[18446744073709551615]");
	r = syscall(SYS_ioctl, fd, IOC_ID, cell);
	sprintf(text, "[%llu]", *cell);
	say("ioctl(%d, PERF_EVENT_IOC_ID, %s) = %s", fd, text, res(r, "%ld"));
	CONTROL(other, SET_OUTPUT, fd, num(fd));
	CONTROL(fd, SET_OUTPUT, -1L, "-1");
	CONTROL(fd, SET_OUTPUT, 0, "0");
	CONTROL(fd, SET_OUTPUT, 999, "999");
	CONTROL(fd, PAUSE_OUTPUT, 1, "1");	/* no ring yet */
	CONTROL(fd, SET_BPF, 0, "0");
	CONTROL(fd, SET_FILTER, tail_string("pid == 1"), "\"pid == 1\"");
	noise();
	shut(fd);
	shut(other);
}

static void case_ioctl_bad(void)
{
	int fd = sampler();
	void *bad = nowhere();
	uint32_t *query = tail_alloc(8);

	CONTROL(fd, PERIOD, bad, hex((word)bad));
	CONTROL(fd, PERIOD, 0, "NULL");
	CONTROL(fd, ID, bad, hex((word)bad));
	CONTROL(fd, ID, 0, "NULL");
	CONTROL(fd, SET_FILTER, bad, hex((word)bad));
	CONTROL(fd, QUERY_BPF, bad, hex((word)bad));
	query[0] = 100000;
	query[1] = 0;
	CONTROL(fd, QUERY_BPF, query, "{ids_len=100000}");
	control(fd, IOC_MODIFY, "PERF_EVENT_IOC_MODIFY_ATTRIBUTES", (word)bad,
		hex((word)bad));
	/* no such number, and a right number with a wrong size */
	control(fd, 0x2404, "0x2404", 0, "0");
	control(fd, 0x24ff, "0x24ff", 0x55, "0x55");
	control(fd, 0xc0ff2407, "0xc0ff2407", (word)query, hex((word)query));
	shut(fd);
	/* the right request on what is no event, and on nothing */
	control(999, IOC_ENABLE, "PERF_EVENT_IOC_ENABLE", 0, "0");
}

static void case_filter(void)
{
	int fd = open_tracepoint("sched", "sched_switch");
	static char longer[2000], quoted[2002];

	if (fd < 0)
		skip("tracepoints cannot be opened here");
	CONTROL(fd, SET_FILTER, tail_string("prev_pid == 1"), "\"prev_pid == 1\"");
	CONTROL(fd, SET_FILTER, tail_string("prev_comm ~ \"a\tb\""),
		"\"prev_comm ~ \\\"a\\tb\\\"\"");
	CONTROL(fd, SET_FILTER, tail_string("x == 1"), "\"x == 1\"");
	CONTROL(fd, SET_FILTER, tail_string("prev_pid == \xff\x01"),
		"\"prev_pid == \\377\\1\"");
	CONTROL(fd, SET_FILTER, tail_string(""), "\"\"");
	memset(longer, 'a', sizeof(longer) - 1);
	sprintf(quoted, "\"%s\"", longer);
	CONTROL(fd, SET_FILTER, tail_string(longer), quoted);
	shut(fd);
}

static void case_bpf(void)
{
	/* r0 = 0; exit */
	static const u64 insns[] = { 0x00000000000000b7ULL, 0x95 };
	struct {
		uint32_t type, count;
		u64 insns, license;
		char rest[96];
	} load = { .type = 5, .count = 2, .insns = (word)insns,
		   .license = (word)"GPL" };
	struct { uint32_t fd, len; u64 info; } info;
	uint32_t about[64] = { 0 }, *query;
	int fd = open_tracepoint("sched", "sched_switch"), prog;

	if (fd < 0)
		skip("tracepoints cannot be opened here");
	query = tail_alloc(8 + 4 * 4);
	memset(query, 0, 24);
	query[0] = 4;
	CONTROL(fd, QUERY_BPF, query, "{ids_len=4, prog_cnt=0, ids=[]}");
	prog = (int)syscall(SYS_bpf, 5, &load, sizeof(load));
	if (prog < 0) {
		shut(fd);
		skip("no BPF here");
	}
	CONTROL(fd, SET_BPF, prog, num(prog));
	info.fd = prog;
	info.len = sizeof(about);
	info.info = (word)about;
	if (!syscall(SYS_bpf, 15, &info, sizeof(info))) {
		char text[64];

		sprintf(text, "{ids_len=4, prog_cnt=1, ids=[%u]}", about[1]);
		CONTROL(fd, QUERY_BPF, query, text);
		query = tail_alloc(8);
		query[0] = 0;
		CONTROL(fd, QUERY_BPF, query, "{ids_len=0, prog_cnt=1, ids=[]}");
	}
	close(prog);
	shut(fd);
}

static void case_modify(void)
{
	static u64 watched;
	uint32_t now;
	void *p;
	int fd, e;
	long r;

	fresh(VER7, BREAKPOINT, 0, NULL);
	set("exclude_kernel", 1, NULL);
	set("disabled", 1, NULL);
	set("bp_type", 2, "HW_BREAKPOINT_W");
	set("bp_addr", (word)&watched, "%#lx", (word)&watched);
	set("bp_len", 4, "4");
	fd = event(0, -1, -1, CLOEXEC);
	if (fd < 0)
		skip("no breakpoints here");
	set("bp_type", 3, "HW_BREAKPOINT_RW");
	control(fd, IOC_MODIFY, "PERF_EVENT_IOC_MODIFY_ATTRIBUTES",
		(word)tail_copy(attr, VER7), attr_words(VER7));
	set("type", RAW, "PERF_TYPE_RAW");
	memset(attr + 52, 0, 20);
	fresh(VER7, RAW, 7, NULL);
	control(fd, IOC_MODIFY, "PERF_EVENT_IOC_MODIFY_ATTRIBUTES",
		(word)tail_copy(attr, VER7), attr_words(VER7));
	fresh_dummy(32);
	p = tail_copy(attr, 32);
	r = syscall(SYS_ioctl, fd, IOC_MODIFY, p);
	e = errno;
	memcpy(&now, (char *)p + 4, 4);
	errno = e;
	say("ioctl(%d, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, %s) = %s /* ~size=%u */",
	    fd, attr_words(32), res(r, "%ld"), now);
	shut(fd);
}

static void case_prctl(void)
{
	int fd = sampler();
	long r = syscall(SYS_prctl, 31, 0, 0, 0, 0);

	say("prctl(PR_TASK_PERF_EVENTS_DISABLE) = %s", res(r, "%ld"));
	r = syscall(SYS_prctl, 32, 0, 0, 0, 0);
	say("prctl(PR_TASK_PERF_EVENTS_ENABLE) = %s", res(r, "%ld"));
	/* any other is not ours */
	prctl(PR_GET_DUMPABLE);
	shut(fd);
}

/* ---- rings ---------------------------------------------------------------- */

#ifdef __i386__
#define MMAP SYS_mmap2, "mmap2"
#define OFFSET(pages) (pages)
#define SELECT SYS__newselect, "_newselect"
#define FCNTL SYS_fcntl64, "fcntl64"
#elif defined(SYS_select)
#define MMAP SYS_mmap, "mmap"
#define OFFSET(pages) ((pages) * PAGE)
#define SELECT SYS_select, "select"
#define FCNTL SYS_fcntl, "fcntl"
#else
#define MMAP SYS_mmap, "mmap"
#define OFFSET(pages) ((pages) * PAGE)
#define SELECT -1, "select"
#define FCNTL SYS_fcntl, "fcntl"
#endif

static void *map_with(long nr, const char *name, word len, int prot,
		      const char *protname, int flags, const char *flagname,
		      int fd, word pages)
{
	long r = syscall(nr, NULL, len, prot, flags, fd, OFFSET(pages));

	say(pages ? "%s(NULL, %lu, %s, %s, %d, %#lx) = %s" :
		    "%s(NULL, %lu, %s, %s, %d, %lu) = %s",
	    name, len, protname, flagname, fd, pages * PAGE, res(r, "%#lx"));
	return (void *)r;
}

static void *map(int fd, word len)
{
	return map_with(MMAP, len, PROT_READ | PROT_WRITE,
			"PROT_READ|PROT_WRITE", MAP_SHARED, "MAP_SHARED", fd, 0);
}

static void unmap(void *p, word len)
{
	long r = syscall(SYS_munmap, p, len);

	say("munmap(%#lx, %lu) = %s", (word)p, len, res(r, "%ld"));
}

static void case_mmap(void)
{
	int fd = sampler(), other;
	void *p;

	map(fd, 4 * PAGE);		/* not 1 + 2^n */
	map_with(MMAP, 2 * PAGE, PROT_READ, "PROT_READ", MAP_PRIVATE,
		 "MAP_PRIVATE", fd, 0);
	p = map(fd, 2 * PAGE);
	if (p == (void *)-1)
		skip("rings cannot be mapped here");
	map_with(MMAP, PAGE, PROT_READ | PROT_WRITE, "PROT_READ|PROT_WRITE",
		 MAP_SHARED, "MAP_SHARED", fd, 2);	/* no AUX area */
	CONTROL(fd, PAUSE_OUTPUT, 1, "1");
	CONTROL(fd, PAUSE_OUTPUT, 0, "0");
	fresh_dummy(VER7);
	other = own_event();
	CONTROL(other, SET_OUTPUT, fd, num(fd));
	noise();
	unmap(p, 2 * PAGE);
	p = map_with(MMAP, PAGE, PROT_READ, "PROT_READ", MAP_SHARED,
		     "MAP_SHARED", fd, 0);
	if (p != (void *)-1)
		unmap(p, PAGE);
	shut(other);
	shut(fd);
}

static void case_mremap(void)
{
	int fd = sampler();
	void *p = map(fd, 2 * PAGE), *to = tail_alloc(2 * PAGE);
	long r;

	if (p == (void *)-1)
		skip("rings cannot be mapped here");
	r = syscall(SYS_mremap, p, 2 * PAGE, 3 * PAGE, MREMAP_MAYMOVE, 0);
	say("mremap(%#lx, 8192, 12288, MREMAP_MAYMOVE) = %s", (word)p,
	    res(r, "%#lx"));
	r = syscall(SYS_mremap, p, 2 * PAGE, 2 * PAGE,
		    MREMAP_MAYMOVE | MREMAP_FIXED, to);
	say("mremap(%#lx, 8192, 8192, MREMAP_MAYMOVE|MREMAP_FIXED, %#lx) = %s",
	    (word)p, (word)to, res(r, "%#lx"));
	if (r != -1)
		p = to;
	unmap(p, 2 * PAGE);
	shut(fd);
}

/* Burns time until something is in the ring; not for ever. */
static void burn(const void *ring)
{
	const volatile u64 *head = (const u64 *)((const char *)ring + 1024);

	for (int i = 0; i < 2000 && !*head; i++)
		for (volatile int k = 0; k < 1000000; k++)
			;
}

static const char *revents(int r)
{
	static char out[64];

	*out = '\0';
	if (r & POLLIN)
		strcat(out, "|POLLIN");
	if (r & POLLERR)
		strcat(out, "|POLLERR");
	if (r & POLLHUP)
		strcat(out, "|POLLHUP");
	return *out ? out + 1 : "0";
}

/* poll or ppoll of one event and one pipe. */
static void wait_poll(int fd, int pipefd, bool p)
{
	struct pollfd pfd[2] = { { .fd = fd, .events = POLLIN },
				 { .fd = pipefd, .events = POLLIN | POLLOUT } };
	struct pollfd *at = tail_copy(pfd, sizeof(pfd));
	long *ts = tail_alloc(2 * sizeof(long));
	char more[128] = "";
	long r;

	ts[0] = ts[1] = 0;
	r = p ? syscall(SYS_ppoll, at, 2, ts, NULL, 8) :
#ifdef SYS_poll
		syscall(SYS_poll, at, 2, 0);
#else
		-1;
#endif
	if (r == 0)
		strcpy(more, " (Timeout)");
	else if (r == 1)
		sprintf(more, " ([{fd=%d, revents=%s}]%s)", fd,
			revents(at[0].revents),
			p ? ", left {tv_sec=0, tv_nsec=0}" : "");
	say("%s([{fd=%d, events=POLLIN}, {fd=%d, events=POLLIN|POLLOUT}], 2, %s = %s%s",
	    p ? "ppoll" : "poll", fd, pipefd,
	    p ? "{tv_sec=0, tv_nsec=0}, NULL, 8)" : "0)", res(r, "%ld"), more);
}

static void case_poll(void)
{
	int fd = sampler(), p[2];
	void *ring;

	if (pipe(p))
		_exit(3);
	wait_poll(fd, p[0], false);	/* no ring: hung up */
	ring = map(fd, 2 * PAGE);
	wait_poll(fd, p[0], false);	/* nothing in it */
	wait_poll(fd, p[0], true);
	if (ring != (void *)-1)
		unmap(ring, 2 * PAGE);
	wait_poll(fd, p[0], true);
	shut(fd);
	/* no event in it: not shown */
	fd = poll((struct pollfd[]){ { .fd = p[0] } }, 1, 0);
	close(p[0]);
	close(p[1]);
}

static void case_select(void)
{
	int fd = sampler();
	fd_set *in = tail_alloc(sizeof(fd_set)), *out = tail_alloc(sizeof(fd_set));
	long *t = tail_alloc(2 * sizeof(long));
	void *ring = map(fd, 2 * PAGE);
	char more[128];
	long r;

	if (ring == (void *)-1)
		skip("rings cannot be mapped here");
	for (int round = 0; round < 2; round++) {
		FD_ZERO(in);
		FD_ZERO(out);
		FD_SET(fd, in);
		t[0] = t[1] = 0;
		if (round) {
			r = syscall(SYS_pselect6, fd + 1, in, NULL, NULL, t, NULL);
			sprintf(more, r > 0 ? " (in [%d], left {tv_sec=0, tv_nsec=0})" :
				" (Timeout)", fd);
			say("pselect6(%d, [%d], NULL, NULL, {tv_sec=0, tv_nsec=0}, NULL) = %s%s",
			    fd + 1, fd, res(r, "%ld"), more);
		} else {
			const struct { long nr; const char *name; } s = { SELECT };

			r = syscall(s.nr, fd + 1, in, out, NULL, t);
			sprintf(more, r > 0 ? " (in [%d], left {tv_sec=0, tv_usec=0})" :
				" (Timeout)", fd);
			say("%s(%d, [%d], [], NULL, {tv_sec=0, tv_usec=0}) = %s%s",
			    s.name, fd + 1, fd, res(r, "%ld"), more);
		}
	}
	unmap(ring, 2 * PAGE);
	FD_ZERO(in);
	FD_SET(fd, in);
	r = syscall(SYS_pselect6, fd + 1, in, NULL, NULL, t, NULL);
	sprintf(more, r > 0 ? " (in [%d], left {tv_sec=0, tv_nsec=0})" :
		" (Timeout)", fd);
	say("pselect6(%d, [%d], NULL, NULL, {tv_sec=0, tv_nsec=0}, NULL) = %s%s",
	    fd + 1, fd, res(r, "%ld"), more);
	/* that the set cannot be read may concern the event */
	r = syscall(SYS_pselect6, fd + 1, 8, NULL, NULL, t, NULL);
	say("pselect6(%d, 0x8 /* unreadable */, NULL, NULL, {tv_sec=0, tv_nsec=0}, NULL) = %s",
	    fd + 1, res(r, "%ld"));
	shut(fd);
}

struct __attribute__((packed)) epoll_rec { uint32_t events; u64 data; };

static void case_epoll(void)
{
	int fd = sampler();
	long ep = syscall(SYS_epoll_create1, 0x80000), r;
	struct epoll_rec *ev = tail_alloc(sizeof(*ev)), *got = tail_alloc(2 * sizeof(*ev));
	char data[64], got_text[128];

	say("?epoll_create1(EPOLL_CLOEXEC) = %s", res(ep, "%ld"));
	*ev = (struct epoll_rec){ 1, fd };
	r = syscall(SYS_epoll_ctl, ep, 1, fd, ev);
	sprintf(data, "data={u32=%d, u64=%d}", fd, fd);
	say("epoll_ctl(%ld, EPOLL_CTL_ADD, %d, {events=EPOLLIN, %s}) = %s",
	    ep, fd, data, res(r, "%ld"));
#ifdef SYS_epoll_wait
	r = syscall(SYS_epoll_wait, ep, got, 2, 0);
	sprintf(got_text, r == 1 ? "[{events=EPOLLHUP, %s}]" : "[]", data);
	say("epoll_wait(%ld, %s, 2, 0) = %s", ep, got_text, res(r, "%ld"));
#endif
	r = syscall(SYS_epoll_pwait, ep, got, 2, 0, NULL, 8);
	sprintf(got_text, r == 1 ? "[{events=EPOLLHUP, %s}]" : "[]", data);
	say("epoll_pwait(%ld, %s, 2, 0, NULL, 8) = %s", ep, got_text, res(r, "%ld"));
	r = syscall(SYS_epoll_ctl, ep, 2, fd, NULL);
	say("epoll_ctl(%ld, EPOLL_CTL_DEL, %d, NULL) = %s", ep, fd, res(r, "%ld"));
	r = syscall(SYS_close, ep);
	say("?close(%ld) = %s", ep, res(r, "%ld"));
	shut(fd);
}

/* ---- reading counts ------------------------------------------------------ */

/* What a buffer of counts holds, from its format. */
static const char *counts(const u64 *v, long bytes, unsigned int format)
{
	static char out[512];
	long n = bytes / 8, i = 0;
	int len;

	if (bytes <= 0)
		return "@any";
	if (!(format & 8)) {
		len = sprintf(out, "{value=%llu", v[i++]);
		if (format & 1 && i < n)
			len += sprintf(out + len, ", time_enabled=%llu", v[i++]);
		if (format & 2 && i < n)
			len += sprintf(out + len, ", time_running=%llu", v[i++]);
		if (format & 4 && i < n)
			len += sprintf(out + len, ", id=%llu", v[i++]);
		if (format & 16 && i < n)
			len += sprintf(out + len, ", lost=%llu", v[i++]);
		strcpy(out + len, "}");
		return out;
	}
	len = sprintf(out, "{nr=%llu", v[i++]);
	if (format & 1)
		len += sprintf(out + len, ", time_enabled=%llu", v[i++]);
	if (format & 2)
		len += sprintf(out + len, ", time_running=%llu", v[i++]);
	len += sprintf(out + len, ", values=[");
	for (bool first = true; i < n; first = false) {
		len += sprintf(out + len, "%s{value=%llu", first ? "" : ", ", v[i++]);
		if (format & 4)
			len += sprintf(out + len, ", id=%llu", v[i++]);
		if (format & 16)
			len += sprintf(out + len, ", lost=%llu", v[i++]);
		len += sprintf(out + len, "}");
	}
	strcpy(out + len, "]}");
	return out;
}

static const char *format_words(unsigned int format)
{
	static const char *const names[] = {
		"TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID", "GROUP", "LOST",
	};
	static char out[256];

	*out = '\0';
	for (int i = 0; i < 5; i++)
		if (format & 1 << i)
			strcat(strcat(strcat(out, *out ? "|" : ""), "PERF_FORMAT_"),
			       names[i]);
	return *out ? out : "0";
}

/* Every way to read; what readv fills may be shown without the vector. */
static void read_all(int fd, unsigned int format)
{
	u64 *buf = tail_alloc(128);
	struct iovec iov = { buf, 128 };
	void *bad = nowhere();
	long r = syscall(SYS_read, fd, buf, 128);

	say("read(%d, %s, 128) = %s", fd, counts(buf, r, format), res(r, "%ld"));
	r = syscall(SYS_read, fd, buf, 4);
	say("read(%d, %s, 4) = %s", fd, r == -1 ? hex((word)buf) : "@any",
	    res(r, "%ld"));
	r = syscall(SYS_read, fd, bad, 128);
	say("read(%d, %#lx, 128) = %s", fd, (word)bad, res(r, "%ld"));
	r = syscall(SYS_readv, fd, tail_copy(&iov, sizeof(iov)), 1);
	say("readv(%d, [{iov_base=%s, iov_len=128}], 1) = %s", fd,
	    r > 0 ? counts(buf, r, format) : "@any", res(r, "%ld"));
	r = syscall(SYS_pread64, fd, buf, 128, 0, 0);
	say("pread64(%d, %s, 128, 0) = %s", fd,
	    r > 0 ? counts(buf, r, format) : hex((word)buf), res(r, "%ld"));
}

static void case_read(void)
{
	for (unsigned int format = 0; format < 32; format++) {
		int fd, two, three;

		fresh_dummy(VER7);
		set("read_format", format, "%s", format_words(format));
		fd = event(0, -1, -1, CLOEXEC);
		if (fd < 0)
			continue;
		fresh(VER7, SOFTWARE, 2, "PERF_COUNT_SW_PAGE_FAULTS");
		set("exclude_kernel", 1, NULL);
		set("read_format", format, "%s", format_words(format));
		two = event(0, -1, fd, CLOEXEC);
		three = event(0, -1, fd, CLOEXEC);
		read_all(fd, format);
		noise();
		shut(three);
		shut(two);
		shut(fd);
	}
}

/* ---- descriptors ---------------------------------------------------------- */

static void case_dup(void)
{
	int fd = sampler();
	long a, b, c;

	a = syscall(SYS_dup, fd);
	say("dup(%d) = %s", fd, res(a, "%ld"));
#ifdef SYS_dup2
	b = syscall(SYS_dup2, fd, 50);
	say("dup2(%d, 50) = %s", fd, res(b, "%ld"));
#else
	b = dup2(fd, 50);
#endif
	c = syscall(SYS_dup3, fd, 51, O_CLOEXEC);
	say("dup3(%d, 51, O_CLOEXEC) = %s", fd, res(c, "%ld"));
	c = syscall(SYS_dup3, fd, fd, 0);
	say("dup3(%d, %d, 0) = %s", fd, fd, res(c, "%ld"));
	shut(fd);
	/* the others still are the event */
	CONTROL(a, ENABLE, 0, "0");
	CONTROL(b, DISABLE, 0, "0");
	CONTROL(51, RESET, 0, "0");
	/* something else takes a number that was an event's */
	c = syscall(SYS_dup3, 1, 51, O_CLOEXEC);
	say("dup3(1, 51, O_CLOEXEC) = %s", res(c, "%ld"));
	close(51);
	shut((int)a);
	shut(50);
	noise();
}

static long control_fd(int fd, int cmd, const char *name, word arg,
		       const char *text, const char *result)
{
	const struct { long nr; const char *name; } f = { FCNTL };
	long r = syscall(f.nr, fd, cmd, arg);

	if (r == -1)
		result = "%ld";
	say("%s(%d, %s%s%s) = %s", f.name, fd, name, *text ? ", " : "", text,
	    res(r, result));
	return r;
}

static void case_fcntl(void)
{
	int fd = sampler();
	struct { int type, pid; } owner = { 0, getpid() };
	char text[64];
	long r;

	control_fd(fd, F_GETFD, "F_GETFD", 0, "", "%#lx (flags FD_CLOEXEC)");
	control_fd(fd, F_SETFD, "F_SETFD", 0, "0", "%ld");
	control_fd(fd, F_SETFD, "F_SETFD", 1, "FD_CLOEXEC", "%ld");
	control_fd(fd, F_GETFL, "F_GETFL", 0, "", "%#lx (flags O_RDWR)");
	control_fd(fd, F_SETFL, "F_SETFL", 02 | 04000 | 020000,
		   "O_RDWR|O_NONBLOCK|O_ASYNC", "%ld");
	control_fd(fd, F_SETFL, "F_SETFL", 020000, "O_RDONLY|O_ASYNC", "%ld");
	control_fd(fd, 10, "F_SETSIG", SIGUSR1, "SIGUSR1", "%ld");
	control_fd(fd, 10, "F_SETSIG", 0, "@any", "%ld");
	control_fd(fd, 8, "F_SETOWN", getpid(), num(getpid()), "%ld");
	control_fd(fd, 8, "F_SETOWN", -getpid(), num(-getpid()), "%ld");
	sprintf(text, "{type=F_OWNER_TID, pid=%d}", owner.pid);
	control_fd(fd, 15, "F_SETOWN_EX", (word)tail_copy(&owner, 8), text, "%ld");
	r = control_fd(fd, 0, "F_DUPFD", 60, "60", "%ld");
	CONTROL(r, ENABLE, 0, "0");
	shut((int)r);
	r = control_fd(fd, 1030, "F_DUPFD_CLOEXEC", 60, "60", "%ld");
	CONTROL(r, DISABLE, 0, "0");
	shut((int)r);
	shut(fd);
}

static void case_close_range(void)
{
	int a = sampler(), b = sampler(), c = sampler();
	long r = syscall(SYS_close_range, a, b, 0);

	if (r == -1 && errno == ENOSYS)
		skip("no close_range");
	say("close_range(%d, %d, 0) = %s", a, b, res(r, "%ld"));
	CONTROL(c, ENABLE, 0, "0");
	r = syscall(SYS_close_range, c, c, 4);
	say("close_range(%d, %d, CLOSE_RANGE_CLOEXEC) = %s", c, c, res(r, "%ld"));
	CONTROL(c, DISABLE, 0, "0");
	shut(c);
	/* their numbers are anyone's now */
	noise();
}

/* ---- processes ------------------------------------------------------------ */

static void reap(long pid)
{
	int status;

	if (pid < 0 || waitpid((pid_t)pid, &status, 0) < 0 || status)
		_exit(3);
}

/* In a child that has the descriptor from its parent. */
static void use_inherited(int fd)
{
	u64 *buf = tail_alloc(8);
	long r;

	CONTROL(fd, ENABLE, 0, "0");
	r = syscall(SYS_read, fd, buf, 8);
	say("read(%d, {value=%llu}, 8) = %s", fd, *buf, res(r, "%ld"));
	shut(fd);
	noise();
	_exit(0);
}

static void case_fork(void)
{
	int fd = sampler();
	long pid;

#ifdef SYS_fork
	pid = syscall(SYS_fork);
	if (!pid)
		use_inherited(fd);
	say("?fork() = %s", res(pid, "%ld"));
	reap(pid);
#endif
	pid = fork();
	if (!pid)
		use_inherited(fd);
	reap(pid);
	/* the parent's is still open */
	CONTROL(fd, DISABLE, 0, "0");
	shut(fd);
}

static void case_clone3(void)
{
	int fd = sampler();
	u64 *args = tail_alloc(64);
	long pid;

	memset(args, 0, 64);
	args[4] = SIGCHLD;
	pid = syscall(SYS_clone3, args, 64);
	if (pid == -1 && errno == ENOSYS)
		skip("no clone3");
	if (!pid)
		use_inherited(fd);
	say("?clone3(@any, 64) = %s", res(pid, "%ld @any"));
	reap(pid);
	CONTROL(fd, DISABLE, 0, "0");
	shut(fd);
}

static void *thread_main(void *arg)
{
	int fd = *(int *)arg;

	CONTROL(fd, ENABLE, 0, "0");
	*(int *)arg = sampler();	/* one table for all threads */
	shut(fd);
	return NULL;
}

static void case_thread(void)
{
	int fd = sampler();
	pthread_t t;

	if (pthread_create(&t, NULL, thread_main, &fd))
		_exit(3);
	pthread_join(t, NULL);
	CONTROL(fd, DISABLE, 0, "0");
	shut(fd);
}

static char *self_path;

static void run_self(int keep, int gone, bool v)
{
	char a[16], b[16];
	char *argv[] = { self_path, "exec-child", a, b, NULL };
	pid_t pid;

	sprintf(a, "%d", keep);
	sprintf(b, "%d", gone);
	pid = v ? vfork() : fork();
	if (!pid) {
		say("?execve(\"/proc/self/exe\", [\"%s\", \"exec-child\", \"%s\", \"%s\"], @any) = 0",
		    self_path, a, b);
		execv("/proc/self/exe", argv);
		_exit(3);
	}
	if (v)
		say("?vfork() = %d", pid);
	reap(pid);
}

/* After an exec: one descriptor stayed, one closed itself. */
static void exec_child(int keep, int gone)
{
	CONTROL(keep, ENABLE, 0, "0");
	noise();
	/* the kernel says it is closed; it is no event's any more */
	if (fcntl(gone, F_GETFD) != -1)
		_exit(3);
	shut(keep);
}

static void exec_with(bool v)
{
	int gone = sampler(), keep;

	keep = event(0, -1, -1, 0);
	run_self(keep, gone, v);
	CONTROL(keep, DISABLE, 0, "0");
	shut(keep);
	shut(gone);
}

static void case_exec(void)
{
	exec_with(false);
}

static void case_vfork(void)
{
	exec_with(true);
}

/* Data arrives: POLLIN, once. */
static void case_wakeup(void)
{
	int fd = sampler(), p[2];
	void *ring = map(fd, 2 * PAGE);

	if (ring == (void *)-1 || pipe(p))
		skip("rings cannot be mapped here");
	CONTROL(fd, ENABLE, 0, "0");
	burn(ring);
	CONTROL(fd, DISABLE, 0, "0");
	wait_poll(fd, p[0], false);
	wait_poll(fd, p[0], false);
	unmap(ring, 2 * PAGE);
	shut(fd);
}

static const struct { const char *name; void (*run)(void); } cases[] = {
	{ "size0", case_size0 }, { "size-small", case_size_small },
	{ "size-odd", case_size_odd }, { "size-beyond", case_size_beyond },
	{ "big-zero", case_big_zero }, { "big-dirty", case_big_dirty },
	{ "unreadable", case_unreadable }, { "edge", case_edge },
	{ "half", case_half }, { "sample-type", case_sample_type },
	{ "read-format", case_read_format }, { "branch", case_branch },
	{ "fields", case_fields }, { "all", case_all },
	{ "unions", case_unions }, { "precise", case_precise },
	{ "clockid", case_clockid }, { "regs", case_regs },
	{ "hw", case_hw }, { "sw", case_sw }, { "cache", case_cache },
	{ "types", case_types }, { "pmus", case_pmus },
	{ "uprobe", case_uprobe }, { "kprobe", case_kprobe },
	{ "breakpoint", case_breakpoint }, { "target", case_target },
	{ "flags", case_flags }, { "group", case_group },
	{ "cgroup", case_cgroup }, { "ioctl", case_ioctl },
	{ "ioctl-bad", case_ioctl_bad }, { "filter", case_filter },
	{ "bpf", case_bpf }, { "modify", case_modify },
	{ "prctl", case_prctl }, { "mmap", case_mmap },
	{ "mremap", case_mremap }, { "poll", case_poll },
	{ "wakeup", case_wakeup }, { "select", case_select },
	{ "epoll", case_epoll }, { "read", case_read }, { "dup", case_dup },
	{ "fcntl", case_fcntl }, { "close-range", case_close_range },
	{ "fork", case_fork }, { "clone3", case_clone3 },
	{ "thread", case_thread }, { "exec", case_exec },
	{ "vfork", case_vfork },
};

enum { NCASES = sizeof(cases) / sizeof(cases[0]) };

static int run_case(const char *name)
{
	for (int i = 0; i < NCASES; i++)
		if (!strcmp(cases[i].name, name)) {
			cases[i].run();
			return 0;
		}
	fprintf(stderr, "attrs: no case %s\n", name);
	return 2;
}

int main(int argc, char **argv)
{
	int bad = 0;

	self_path = argv[0];
	if (argc == 2 && !strcmp(argv[1], "list")) {
		for (int i = 0; i < NCASES; i++)
			puts(cases[i].name);
		return 0;
	}
	if (argc == 4 && !strcmp(argv[1], "exec-child")) {
		exec_child(atoi(argv[2]), atoi(argv[3]));
		return 0;
	}
	if (argc < 2) {
		fprintf(stderr, "usage: attrs list | attrs CASE...\n");
		return 2;
	}
	for (int i = 1; i < argc; i++)
		bad |= run_case(argv[i]);
	return bad;
}
