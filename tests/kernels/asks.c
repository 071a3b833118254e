// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Asks a kernel what it refuses: perf_event_open(2) with every member, bit and
 * constant of the tables, sizes, flags, tasks, CPUs and groups, and random attrs.
 * Each call is a line: its number, what it was, errno, and attr.size if that was
 * written.  The same calls in the same order wherever it runs; what the machine
 * has not is told as absent.
 */
#include "asks.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

enum { RANDOM = 8000, LEADERS = 8 };

static const struct layout *const l = &layout_perf_event_attr;

/* Calls ------------------------------------------------------------------------ */

static unsigned int calls_made(unsigned int more)
{
	static unsigned int n;

	return n += more;
}

int64_t counted_open(void *attr, int32_t pid, int32_t cpu, int32_t group_fd, uint64_t flags)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);

	calls_made(1);
	return fd < 0 ? -errno : fd;
}

int64_t counted_ioctl(int fd, unsigned long request, uint64_t arg)
{
	int r = ioctl(fd, request, arg);

	calls_made(1);
	return r < 0 ? -errno : r;
}

void tell(const char *label, int64_t result, uint32_t size)
{
	printf("%u\t%s\t%s\t%u\n", calls_made(0), label,
	       result < 0 ? strerrorname_np((int)-result) : "ok", size);
}

void put(uint8_t *attr, unsigned int index, uint64_t v)
{
	field_set(&l->fields[index], v, attr);
}

static uint32_t size_of(const uint8_t *attr)
{
	uint32_t size = (uint32_t)layout_get(l, ATTR_SIZE, attr, ATTR_ROOM);

	return size < PERF_ATTR_SIZE_VER0 ? PERF_ATTR_SIZE_VER0 :
	       size > ATTR_ROOM ? ATTR_ROOM : size;
}

/*
 * Numbers of dynamic PMUs, and ids of tracepoints but the one that a base has, are
 * other things on other machines.
 */
static bool differs_by_machine(const struct base *b, const uint8_t *attr)
{
	uint64_t type = layout_get(l, ATTR_TYPE, attr, ATTR_ROOM);
	uint64_t config = layout_get(l, ATTR_CONFIG, attr, ATTR_ROOM);

	if (type != layout_get(l, ATTR_TYPE, b->attr, ATTR_ROOM))
		return (type >= PERF_TYPE_MAX && type < 32) ||
		       (type == PERF_TYPE_TRACEPOINT && config && config < 1 << 16);
	return type == PERF_TYPE_TRACEPOINT && config && config < 1 << 16 &&
	       config != layout_get(l, ATTR_CONFIG, b->attr, ATTR_ROOM);
}

/* The end of the memory at PLACE, which the compiler does not know. */
static uint8_t *end_of_place(void)
{
	uintptr_t end = PLACE + ATTR_ROOM;

	__asm__("" : "+r"(end));
	return (uint8_t *)end;
}

/* ASKS_EVERY=N: one in N of the calls, the same ones wherever it runs. */
static bool is_left_out(const char *label)
{
	const char *every = getenv("ASKS_EVERY");
	uint32_t hash = 2166136261u;

	for (const char *c = label; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 16777619u;
	return every && atoi(every) > 1 && hash % (uint32_t)atoi(every);
}

void ask(const struct asked *a)
{
	/* ends where memory ends */
	uint8_t *copy = end_of_place() - size_of(a->attr);
	uint32_t size = (uint32_t)layout_get(l, ATTR_SIZE, a->attr, ATTR_ROOM), now;
	int64_t fd;

	if (is_left_out(a->label))
		return;
	memcpy(copy, a->attr, size_of(a->attr));
	fd = counted_open(a->pointer ? (void *)(uintptr_t)a->pointer : copy, a->pid, a->cpu,
			  a->group_fd, a->flags);
	now = (uint32_t)layout_get(l, ATTR_SIZE, copy, size_of(a->attr));
	tell(a->label, fd, now == size ? 0 : now);
	if (fd >= 0)
		close((int)fd);
}

static struct asked asked_of(const uint8_t *attr, int32_t pid)
{
	return (struct asked){ .attr = attr, .pid = pid, .cpu = -1, .group_fd = -1 };
}

/* Members ---------------------------------------------------------------------- */

/* What the kernel looks at the member for, and what it is chosen by. */
static void open_gate(const struct cond *c, uint8_t *attr)
{
	if (c->op == COND_EQ || c->op == COND_MASK)
		put(attr, c->field, c->value);
}

static void ask_value(const struct base *b, int32_t pid, size_t i, uint64_t v)
{
	const struct field *f = &l->fields[i];
	uint8_t attr[ATTR_ROOM];
	struct asked a = asked_of(attr, pid);

	if (f->offset + f->width > ASK_SIZE)
		return;
	for (int gates = 0; gates < 2; gates++) {
		memcpy(attr, b->attr, sizeof(attr));
		if (gates) {
			if (f->needs.op == COND_NONE && f->when.op == COND_NONE)
				return;
			open_gate(&f->when, attr);
			open_gate(&f->needs, attr);
		}
		field_set(f, v, attr);
		snprintf(a.label, sizeof(a.label), "%s %s=0x%" PRIx64 "%s", b->name, f->name, v,
			 gates ? " +gate" : "");
		if (!differs_by_machine(b, attr))
			ask(&a);
	}
}

static void ask_member(const struct base *b, int32_t pid, size_t i)
{
	const struct field *f = &l->fields[i];
	unsigned int bits = f->nbits ? f->nbits : 8u * f->width;

	/* a pointer to a path, and the number of another PMU, are not for trying */
	if (i == ATTR_SIZE || (b->slow && (f->offset == 56 || i == ATTR_TYPE)))
		return;
	for (unsigned int bit = 0; bit < bits; bit++)
		if (!b->slow || f->nbits == 1 || bit % 8 == 3)
			ask_value(b, pid, i, 1ULL << bit);
	if (bits > 1)
		ask_value(b, pid, i, bits == 64 ? ~0ULL : (1ULL << bits) - 1);
	for (size_t k = 0; f->xlat && k < f->xlat->n; k++)
		if (f->xlat->entries[k].value & (f->xlat->entries[k].value - 1))
			ask_value(b, pid, i, f->xlat->entries[k].value);
}

/* Two bits at once: what excludes what. */
static void ask_pairs(const struct base *b, int32_t pid)
{
	struct { size_t field; unsigned int bit; } bits[200] = { { 0, 0 } };
	uint8_t attr[ATTR_ROOM];
	struct asked a = asked_of(attr, pid);
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct field *f = &l->fields[i];

		if (f->nbits == 1)
			bits[n++].field = i;
		for (unsigned int bit = 0; f->kind == FIELD_FLAGS && bit < 28; bit++) {
			bits[n].field = i;
			bits[n++].bit = bit;
		}
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++) {
			const struct field *f = &l->fields[bits[i].field];
			const struct field *g = &l->fields[bits[k].field];

			memcpy(attr, b->attr, sizeof(attr));
			field_set(g, field_get(g, attr, ATTR_ROOM) ^ 1ULL << bits[k].bit, attr);
			field_set(f, field_get(f, attr, ATTR_ROOM) ^ 1ULL << bits[i].bit, attr);
			snprintf(a.label, sizeof(a.label), "%s %s:%u %s:%u", b->name, g->name,
				 bits[k].bit, f->name, bits[i].bit);
			ask(&a);
		}
}

/* Size and memory -------------------------------------------------------------- */

static void ask_sizes(const struct base *b, int32_t pid)
{
	static const uint32_t large[] = { 4088, 4095, 4096, 4097, 8192, 1 << 16, 1u << 31, ~0u };
	uint8_t attr[ATTR_ROOM];
	struct asked a = asked_of(attr, pid);

	for (uint32_t size = 0; size < ASK_SIZE + COUNT(large); size++) {
		memcpy(attr, b->attr, sizeof(attr));
		put(attr, ATTR_SIZE, size < ASK_SIZE ? size : large[size - ASK_SIZE]);
		snprintf(a.label, sizeof(a.label), "%s size=%u", b->name,
			 (unsigned int)layout_get(l, ATTR_SIZE, attr, ATTR_ROOM));
		ask(&a);
		/* and with a byte at its end, where no older member is */
		if (size <= PERF_ATTR_SIZE_VER0 || size >= ASK_SIZE + 3)
			continue;
		attr[layout_get(l, ATTR_SIZE, attr, ATTR_ROOM) - 1] = 1;
		snprintf(a.label + strlen(a.label), 20, " last=1");
		ask(&a);
	}
	for (uint32_t at = 40; at < ASK_SIZE; at++) {
		memcpy(attr, b->attr, sizeof(attr));
		attr[at] |= 0x80;
		snprintf(a.label, sizeof(a.label), "%s byte %u", b->name, at);
		ask(&a);
	}
	memcpy(attr, b->attr, sizeof(attr));
	for (uint64_t p = 8; p < 1ULL << 63; p <<= 5) {
		a.pointer = p < 4096 ? p : PLACE + ATTR_ROOM - (p >> 12) % 200 * 8;
		snprintf(a.label, sizeof(a.label), "%s attr at 0x%" PRIx64, b->name, a.pointer);
		ask(&a);
	}
}

/* The other arguments ----------------------------------------------------------- */

struct word {
	int64_t value;
	const char *text;
};

struct arguments {
	struct word pids[10], cpus[8], groups[LEADERS + 8];
	size_t npids, ncpus, ngroups;
};

static const char cgroup[] = "cgroup";

static int32_t ended_child(void)
{
	int32_t pid = fork();
	siginfo_t info;

	if (!pid)
		_exit(0);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	return pid;
}

static void add(struct word *words, size_t *n, int64_t value, const char *text)
{
	words[(*n)++] = (struct word){ value, text };
}

static int leader(struct arguments *g, int32_t pid, int32_t cpu, int group_fd,
		  unsigned int member, const char *text)
{
	uint8_t attr[ASK_SIZE] = { 0 };
	int64_t fd;

	put(attr, ATTR_TYPE, PERF_TYPE_SOFTWARE);
	put(attr, ATTR_SIZE, ASK_SIZE);
	put(attr, ATTR_CONFIG, PERF_COUNT_SW_PAGE_FAULTS);
	put(attr, ATTR_DISABLED, 1);
	put(attr, member, 1);
	if (member == ATTR_CLOCKID)
		put(attr, ATTR_USE_CLOCKID, 1);
	fd = counted_open(attr, pid, cpu, group_fd, 0);
	add(g->groups, &g->ngroups, fd < 0 ? -7 : fd, text);
	return (int)fd;
}

static void arguments_make(struct arguments *g, int32_t child)
{
	int dir = open("/sys/fs/cgroup/unified", O_RDONLY), fd;

	*g = (struct arguments){ .npids = 0 };
	if (dir < 0)
		dir = open("/sys/fs/cgroup", O_RDONLY);
	add(g->pids, &g->npids, child, "child");
	add(g->pids, &g->npids, 0, "0");
	add(g->pids, &g->npids, -1, "-1");
	add(g->pids, &g->npids, -2, "-2");
	add(g->pids, &g->npids, ended_child(), "zombie");
	add(g->pids, &g->npids, 1, "1");
	add(g->pids, &g->npids, INT_MAX, "INT_MAX");
	add(g->pids, &g->npids, dir, cgroup);
	add(g->cpus, &g->ncpus, -1, "-1");
	add(g->cpus, &g->ncpus, 0, "0");
	add(g->cpus, &g->ncpus, -2, "-2");
	add(g->cpus, &g->ncpus, 9999, "9999");
	add(g->cpus, &g->ncpus, INT_MAX, "INT_MAX");
	add(g->groups, &g->ngroups, -1, "-1");
	add(g->groups, &g->ngroups, -2, "-2");
	add(g->groups, &g->ngroups, 0, "stdin");
	add(g->groups, &g->ngroups, 900, "900");
	fd = leader(g, child, -1, -1, ATTR_DISABLED, "leader");
	leader(g, child, -1, fd, ATTR_DISABLED, "member");
	leader(g, child, -1, -1, ATTR_INHERIT, "inheriting");
	leader(g, child, -1, -1, ATTR_CLOCKID, "clockid");
	leader(g, -1, 0, -1, ATTR_DISABLED, "cpu0");
	fd = leader(g, child, -1, -1, ATTR_WATERMARK, "mapped");
	mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static void ask_arguments(const struct base *b, const struct arguments *g)
{
	static const uint64_t flags[] = { 0, 1, 2, 3, 4, 8, 16 };
	struct asked a = { .attr = b->attr };

	for (size_t p = 0; p < g->npids; p++)
		for (size_t c = 0; c < g->ncpus; c++)
			for (size_t o = 0; o < g->ngroups; o++)
				for (size_t f = 0; f < COUNT(flags); f++) {
					a.pid = (int32_t)g->pids[p].value;
					a.cpu = (int32_t)g->cpus[c].value;
					a.group_fd = (int32_t)g->groups[o].value;
					a.flags = flags[f];
					snprintf(a.label, sizeof(a.label),
						 "%s pid=%s cpu=%s group=%s flags=%" PRIu64,
						 b->name, g->pids[p].text, g->cpus[c].text,
						 g->groups[o].text, a.flags);
					/* as a task's number it could be anybody's */
					if (a.flags & PERF_FLAG_PID_CGROUP ||
					    g->pids[p].text != cgroup)
						ask(&a);
				}
	a = asked_of(b->attr, (int32_t)g->pids[0].value);
	for (unsigned int bit = 0; bit < 64; bit++) {
		a.flags = 1ULL << bit;
		snprintf(a.label, sizeof(a.label), "%s flags=1<<%u", b->name, bit);
		ask(&a);
	}
}

/* What fails for reasons of its own, so that the order of checks shows. */
static void ask_orders(const struct base *plain, const struct arguments *g)
{
	static const struct {
		const char *name;
		unsigned int member;
		uint64_t value;
	} faults[] = {
		{ "plain", ATTR_DISABLED, 1 }, { "newbit", ATTR_DEFER_OUTPUT, 1 },
		{ "newtype", ATTR_TYPE, 1000 }, { "newconfig", ATTR_CONFIG, 1000 },
		{ "longer", ATTR_CONFIG3, 1 }, { "inherit", ATTR_INHERIT, 1 },
		{ "sigtrap", ATTR_SIGTRAP, 1 }, { "aux", ATTR_AUX_START_PAUSED, 1 },
		{ "clockid", ATTR_USE_CLOCKID, 1 },
	};

	for (size_t i = 0; i < COUNT(faults); i++) {
		struct base b = *plain;

		snprintf(b.name, sizeof(b.name), "%s", faults[i].name);
		put(b.attr, faults[i].member, faults[i].value);
		if (faults[i].member == ATTR_SIGTRAP)
			put(b.attr, ATTR_REMOVE_ON_EXEC, 1);
		ask_arguments(&b, g);
	}
}

/* Random ----------------------------------------------------------------------- */

static uint64_t any(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void mutate(uint8_t *attr, uint64_t *seed, char *text, size_t room)
{
	size_t i = any(seed) % l->n;
	const struct field *f = &l->fields[i];
	unsigned int bits = f->nbits ? f->nbits : 8u * f->width;
	uint64_t v = 1ULL << any(seed) % bits, how = any(seed);

	/* rather a value that has a name than one that has not */
	if (f->xlat && how % 2)
		v = f->xlat->entries[how / 2 % f->xlat->n].value;
	else if (how % 7 == 2)
		v = any(seed);
	if (f->kind == FIELD_FLAGS)
		v |= field_get(f, attr, ATTR_ROOM);
	if (f->offset + f->width > ASK_SIZE || f->offset == 56)
		return;
	if (how % 3) {
		open_gate(&f->when, attr);
		open_gate(&f->needs, attr);
	}
	field_set(f, v, attr);
	snprintf(text, room, " %s=0x%" PRIx64, f->name, field_get(f, attr, ATTR_ROOM));
}

static void ask_random(const struct base *bases, size_t n, const struct arguments *g)
{
	uint64_t seed = 20261122;

	for (unsigned int round = 0; round < RANDOM; round++) {
		const struct base *b = &bases[any(&seed) % n];
		uint8_t attr[ATTR_ROOM];
		struct asked a = asked_of(attr, (int32_t)g->pids[0].value);

		memcpy(attr, b->attr, sizeof(attr));
		snprintf(a.label, sizeof(a.label), "random %u %s", round, b->name);
		for (uint64_t k = 1 + any(&seed) % 4; k; k--) {
			size_t len = strlen(a.label);

			mutate(attr, &seed, a.label + len, sizeof(a.label) - len);
		}
		a.group_fd = any(&seed) % 6 ? -1 : (int32_t)g->groups[4].value;
		if (!b->absent && !differs_by_machine(b, attr))
			ask(&a);
	}
}

/* ------------------------------------------------------------------------------- */

int32_t stopped_child(void)
{
	int32_t pid = fork();
	siginfo_t info;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		raise(SIGSTOP);
		_exit(0);
	}
	waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOWAIT);
	return pid;
}

int main(void)
{
	static struct arguments args;
	int32_t child = stopped_child();
	struct base *bases;
	size_t n;

	if (mmap((void *)(uintptr_t)PLACE, ATTR_ROOM, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		return 2;
	bases = bases_make(&n);
	arguments_make(&args, child);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < l->n && !bases[i].absent; k++)
			ask_member(&bases[i], child, k);
	ask_pairs(&bases[0], child);
	ask_sizes(&bases[0], child);
	ask_orders(&bases[0], &args);
	ask_random(bases, n, &args);
	ask_ioctls(bases, n, child);
	kill(child, SIGKILL);
	puts("end");
	return 0;
}
