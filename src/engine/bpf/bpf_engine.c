// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/bpf/bpf_engine.h"

#include <errno.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "core/lib/map.h"
#include "core/lib/scan_text.h"
#include "engine/bpf/bpf_programs.h"
#include "engine/ptrace/proc.h"

enum { ERRNO_MAX = 4095, LOOK_NS = 200 * 1000 * 1000 };

/* A task that was born to the hooks. */
struct bpf_task {
	pid_t tid, pid;
	struct call call;
	bool in_call;			/* the enter hook returned TRACE_EXIT */
	struct calls_message *held;	/* a beginning whose memory is expected at the end */
};

/*
 * The reader of a BPF ring buffer.  Unlike libbpf's, it maps parts of the buffer when it reaches
 * them, as mapping and unmapping 8 MiB takes longer than a short trace needs.
 *
 * Format: Documentation/bpf/ringbuf.rst.
 */
struct bpf_ring {
	int map;			/* of the caller */
	int epoll;			/* readable once a program woke up its reader */
	size_t size;
	unsigned long *consumed;	/* positions in the stream of all bytes, mapped */
	const unsigned long *produced;
	uint8_t *data;			/* space for the buffer, and for its beginning once more */
	bool *mapped;			/* parts of it */
};

struct bpf_engine {
	const struct bpf_engine_setup *setup;
	struct nr_tables nrs;
	const struct arch *compat;	/* of 32-bit programs, with numbers of its own; or NULL */
	struct bpf_programs *programs;
	struct bpf_ring ring;
	struct map tasks;		/* tid -> struct bpf_task */
	pid_t child;			/* has not run its program yet; 0: none */
	uint64_t looked_ns;		/* when tasks whose end was lost were last looked for */
};

/* The memory of a call: what was copied at its beginning, and at its end. */
struct message_mem {
	struct mem mem;
	const struct calls_message *parts[2]; /* the second may be NULL */
};

/* Ring buffer ----------------------------------------------------------------------------- */

/* Bytes that are mapped at once, more than a message has; and after which writers are told. */
enum { PART = 256 * 1024, TOLD = 32 * 1024 };

static void *ring_page(const struct bpf_ring *r, int protection, size_t number)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, page, protection, MAP_SHARED, r->map, (off_t)(number * page));

	return p == MAP_FAILED ? NULL : p;
}

/* Begin to read a buffer of so many bytes, at least 1 MiB; return false, with errno, on failure. */
static bool ring_open(struct bpf_ring *r, int map, size_t size)
{
	struct epoll_event e = { .events = EPOLLIN };
	uint8_t *data = mmap(NULL, size + PART, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*r = (struct bpf_ring){
		.map = map, .size = size, .data = data == MAP_FAILED ? NULL : data,
		.mapped = xcalloc(size / PART + 1, sizeof(*r->mapped)),
		.epoll = epoll_create1(EPOLL_CLOEXEC),
	};
	r->consumed = ring_page(r, PROT_READ | PROT_WRITE, 0);
	r->produced = ring_page(r, PROT_READ, 1);
	return r->data && r->consumed && r->produced && r->epoll >= 0 &&
	       !epoll_ctl(r->epoll, EPOLL_CTL_ADD, map, &e);
}

static void ring_close(struct bpf_ring *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!r->mapped)
		return;
	if (r->data)
		munmap(r->data, r->size + PART);
	if (r->consumed)
		munmap(r->consumed, page);
	if (r->produced)
		munmap((void *)r->produced, page);
	if (r->epoll >= 0)
		close(r->epoll);
	free(r->mapped);
	memset(r, 0, sizeof(*r));
}

/* Return len bytes from a position on. */
static const uint8_t *ring_bytes(struct bpf_ring *r, unsigned long pos, size_t len)
{
	size_t at = pos & (r->size - 1);
	size_t data = 2 * (size_t)sysconf(_SC_PAGESIZE); /* behind the pages of the positions */

	for (size_t part = at / PART; part <= (at + len - 1) / PART; part++) {
		if (!r->mapped[part] &&
		    mmap(r->data + part * PART, PART, PROT_READ, MAP_SHARED | MAP_FIXED, r->map,
			 (off_t)(data + part * PART % r->size)) == MAP_FAILED)
			die("cannot map the buffer of BPF programs: %s", strerror(errno));
		r->mapped[part] = true;
	}
	return r->data + at;
}

/* Memory ---------------------------------------------------------------------------------- */

/* Return the next block and its data, from *at on; NULL at the end, or if it is not whole. */
static const uint8_t *message_block(const struct calls_message *m, size_t *at,
				    struct calls_block *b)
{
	size_t from = *at + sizeof(*b);

	if (from > m->used)
		return NULL;
	memcpy(b, m->bytes + *at, sizeof(*b));
	if (b->len > m->used - from)
		return NULL;
	*at = from + (size_t)((b->len + 7) & ~7ULL);
	return m->bytes + from;
}

static size_t message_part(const struct calls_message *m, uint64_t addr, void *dst, size_t len)
{
	struct calls_block b;
	const uint8_t *data;
	size_t at = 0, most = 0;

	while ((data = message_block(m, &at, &b))) {
		uint64_t skip = addr - b.addr;
		size_t n;

		if (addr < b.addr || skip >= b.len)
			continue;
		n = b.len - skip < len ? (size_t)(b.len - skip) : len;
		if (n <= most)
			continue;
		memcpy(dst, data + skip, n);
		most = n;
	}
	return most;
}

static void get_passed(const struct calls_message *m, struct call *c)
{
	struct calls_block b;
	const uint8_t *data;
	size_t at = 0;

	memset(c->passed, 0, sizeof(c->passed));
	while ((data = message_block(m, &at, &b)))
		if (!b.addr && b.len <= sizeof(c->passed))
			memcpy(c->passed, data, (size_t)b.len);
}

static size_t message_read(const struct mem *mem, uint64_t addr, void *dst, size_t len)
{
	const struct message_mem *m = (const struct message_mem *)mem; /* its first member */
	size_t n = message_part(m->parts[0], addr, dst, len);

	/*
	 * What was not resident at the beginning is in the second one.  With E2BIG, an attr there
	 * has the kernel's size, and the program's is not known.
	 */
	return n == len || !m->parts[1] ||
	       (!n && m->parts[1]->ret == -E2BIG &&
		(addr == m->parts[1]->args[0] || addr == m->parts[1]->args[2])) ? n :
	       n + message_part(m->parts[1], addr + n, (uint8_t *)dst + n, len - n);
}

/* Tasks ----------------------------------------------------------------------------------- */

static struct bpf_task *bpf_task_of(const struct bpf_engine *e, uint32_t tid)
{
	return map_get(&e->tasks, tid);
}

static struct bpf_task *bpf_task_new(struct bpf_engine *e, const struct trace_birth *b)
{
	struct bpf_task *t = xcalloc(1, sizeof(*t));

	t->tid = b->tid;
	t->pid = b->pid;
	map_set(&e->tasks, (uint64_t)b->tid, t);
	e->setup->ops->born(e->setup->ctx, b);
	return t;
}

/* Return the task, which is new if its birth was not reported; late: as in struct trace_birth. */
static struct bpf_task *bpf_task_known(struct bpf_engine *e, uint32_t tid, uint32_t pid, bool late,
				   const char *comm)
{
	struct trace_birth b = {
		.tid = (pid_t)tid, .pid = (pid_t)pid, .attached = true, .late = late,
	};
	struct bpf_task *t = bpf_task_of(e, tid);

	if (t)
		return t;
	b.shares_files = b.shares_memory = tid != pid;
	memcpy(b.comm, comm, strnlen(comm, sizeof(b.comm) - 1));
	if (tid != pid)
		bpf_task_known(e, pid, pid, late, comm);
	return bpf_task_new(e, &b);
}

static void bpf_task_end(struct bpf_engine *e, struct bpf_task *t, int status)
{
	map_del(&e->tasks, (uint64_t)t->tid);
	e->setup->ops->gone(e->setup->ctx, t->tid, status, t->in_call ? &t->call : NULL);
	free(t->held);
	call_free(&t->call);
	free(t);
}

/* Calls ----------------------------------------------------------------------------------- */

static bool call_begin(struct bpf_engine *e, struct bpf_task *t, const struct calls_message *m,
		       const struct message_mem *mem)
{
	const struct arch *arch = m->compat ? e->compat : arch_native();
	const struct call_desc *d = arch ? nr_find(&e->nrs, arch, m->nr) : NULL;
	struct call *c = &t->call;

	if (!d)
		return false;
	call_reset(c);
	c->desc = d;
	c->arch = arch;
	c->nr = m->nr;
	for (unsigned int i = 0; i < CALL_MAX_ARGS; i++)
		c->args[i] = m->args[i];
	c->tid = t->tid;
	c->pid = t->pid;
	c->enter_ns = c->start_ns = m->enter_ns;
	c->inside = true;
	c->answered = m->kind == CALLS_ANSWERED && !m->ret;
	c->event = m->event;
	get_passed(m, c);
	t->in_call = e->setup->ops->enter(e->setup->ctx, c, &mem->mem) == TRACE_EXIT;
	return t->in_call;
}

/* A beginning with memory that was not resident waits for the end, unless tasks depend on it. */
static void on_enter(struct bpf_engine *e, struct bpf_task *t, const struct calls_message *m,
		     size_t len)
{
	struct message_mem mem = { .mem.read = message_read, .parts = { m } };
	const struct arch *arch = m->compat ? e->compat : arch_native();
	const struct call_desc *d = arch ? nr_find(&e->nrs, arch, m->nr) : NULL;

	free(t->held);
	t->held = NULL;
	if (d && m->incomplete && d->class != CLASS_PROCESS) {
		t->held = xmalloc(sizeof(*t->held));
		memcpy(t->held, m, len);
		return;
	}
	call_begin(e, t, m, &mem);
}

static void on_exit_of(struct bpf_engine *e, struct bpf_task *t, const struct calls_message *m)
{
	struct message_mem mem = { .mem.read = message_read, .parts = { m } };
	struct message_mem both = { .mem.read = message_read, .parts = { t->held, m } };
	struct call *c = &t->call;

	if (m->kind == CALLS_WHOLE || m->kind == CALLS_ANSWERED)
		call_begin(e, t, m, &mem);
	else if (t->held && t->held->enter_ns == m->enter_ns)
		call_begin(e, t, t->held, &both);
	free(t->held);
	t->held = NULL;
	/* the beginning may have been lost, and an earlier call's end */
	if (!t->in_call || c->nr != m->nr || c->enter_ns != m->enter_ns)
		return;
	t->in_call = false;
	c->exit_ns = m->ns;
	c->returned = true;
	c->failed = m->ret < 0 && m->ret >= -ERRNO_MAX;
	c->ret = c->failed ? -m->ret : m->ret;
	c->event = m->event;
	get_passed(m, c);
	e->setup->ops->exit(e->setup->ctx, c, &mem.mem);
}

/* Messages about tasks -------------------------------------------------------------------- */

static void on_forked(struct bpf_engine *e, const struct calls_message *m)
{
	struct trace_birth b = {
		.tid = (pid_t)m->tid, .pid = (pid_t)m->pid, .parent = (pid_t)m->other,
		.shares_files = m->shares_files, .shares_memory = m->shares_memory,
	};

	if (!bpf_task_of(e, m->other) || bpf_task_of(e, m->tid))
		return; /* unknown tasks are born with their first call */
	memcpy(b.comm, m->comm, strnlen(m->comm, sizeof(b.comm) - 1));
	bpf_task_new(e, &b);
}

static void on_execed(struct bpf_engine *e, const struct calls_message *m)
{
	struct bpf_task *t = bpf_task_of(e, m->other), *leader = bpf_task_of(e, m->tid);
	char comm[sizeof(m->comm) + 1] = "";
	const struct trace_exec exec = {
		.tid = (pid_t)m->tid, .former = (pid_t)m->other, .comm = comm,
		.path = m->used && !m->bytes[m->used - 1] ? (const char *)m->bytes : "",
		.inode = (uint64_t)m->ret,
	};

	if ((pid_t)m->tid == e->child) {
		e->child = 0;
		return;
	}
	if (!t)
		return;
	if (leader && leader != t)
		bpf_task_end(e, leader, trace_superseded(t->tid));
	map_del(&e->tasks, m->other);
	t->tid = t->pid = (pid_t)m->tid;
	t->call.tid = t->tid;
	map_set(&e->tasks, m->tid, t);
	memcpy(comm, m->comm, sizeof(m->comm));
	e->setup->ops->execed(e->setup->ctx, &exec);
}

static void on_message(struct bpf_engine *e, const struct calls_message *m, size_t len)
{
	const size_t head = offsetof(struct calls_message, bytes);
	struct bpf_task *t;
	siginfo_t info;
	pid_t by;

	if (len < head || m->used > len - head)
		return;
	/* what pevtrace's child does before it runs the program is none of its calls */
	if (e->child && (pid_t)m->tid == e->child && m->kind != CALLS_EXECED && m->kind != CALLS_GONE)
		return;
	switch (m->kind) {
	case CALLS_ENTER:
		on_enter(e, bpf_task_known(e, m->tid, m->pid, true, m->comm), m, len);
		break;
	case CALLS_EXIT:
	case CALLS_WHOLE:
	case CALLS_ANSWERED:
		on_exit_of(e, bpf_task_known(e, m->tid, m->pid, true, m->comm), m);
		break;
	case CALLS_FORKED:
		on_forked(e, m);
		break;
	case CALLS_EXECED:
		on_execed(e, m);
		break;
	case CALLS_GONE:
		if ((pid_t)m->tid == e->child)
			e->child = 0;
		t = bpf_task_of(e, m->tid);
		by = (pid_t)m->other;
		if (t)
			bpf_task_end(e, t, by ? trace_superseded(by) : (int)m->ret);
		break;
	case CALLS_SIGNALLED:
		memset(&info, 0, sizeof(info));
		memcpy(&info, m->bytes, m->used < sizeof(info) ? m->used : sizeof(info));
		info.si_signo = (int)m->nr;
		if (bpf_task_of(e, m->tid))
			e->setup->ops->signalled(e->setup->ctx, (pid_t)m->tid, &info);
		break;
	}
}

/* Act on the messages that are in the buffer. */
static void ring_read(struct bpf_ring *r, struct bpf_engine *e)
{
	unsigned long at = *r->consumed, told = at;

	while (at != __atomic_load_n(r->produced, __ATOMIC_ACQUIRE)) {
		const uint8_t *bytes = ring_bytes(r, at, BPF_RINGBUF_HDR_SZ);
		uint32_t head = __atomic_load_n((const uint32_t *)bytes, __ATOMIC_ACQUIRE);
		uint32_t len = head & ~BPF_RINGBUF_DISCARD_BIT;

		if (head & BPF_RINGBUF_BUSY_BIT)
			break;
		bytes = ring_bytes(r, at, BPF_RINGBUF_HDR_SZ + len) + BPF_RINGBUF_HDR_SZ;
		if (!(head & BPF_RINGBUF_DISCARD_BIT))
			on_message(e, (const struct calls_message *)bytes, len); /* aligned to 8 */
		at += (BPF_RINGBUF_HDR_SZ + len + 7) & ~7UL;
		if (at - told < TOLD)
			continue;
		__atomic_store_n(r->consumed, at, __ATOMIC_RELEASE);
		told = at;
	}
	__atomic_store_n(r->consumed, at, __ATOMIC_RELEASE);
}

/* Look for tasks whose end was not reported. */
static void find_ended(struct bpf_engine *e)
{
	map_each(slot, &e->tasks) {
		struct bpf_task *t = slot->value;

		if (proc_status(t->tid, "Tgid") > 0 && !proc_is_zombie(t->tid))
			continue;
		bpf_task_end(e, t, 0);
	}
}

/* The engine ------------------------------------------------------------------------------ */

struct bpf_engine *bpf_engine_new(const struct bpf_engine_setup *setup, struct buf *why)
{
	struct bpf_engine *e = xcalloc(1, sizeof(*e));

	e->setup = setup;
	nr_build(&e->nrs, arch_native());
	for (const struct arch *const *a = arches; *a && !e->compat; a++)
		if ((*a)->kernel == arch_native() && !(*a)->nr_bit)
			e->compat = *a;
	e->programs = bpf_programs_new(setup, &e->nrs, e->compat, why);
	if (e->programs &&
	    ring_open(&e->ring, bpf_programs_buffer(e->programs), setup->buffer))
		return e;
	if (e->programs)
		buf_addf(why, "cannot map the buffer of BPF programs: %s", strerror(errno));
	bpf_engine_free(e);
	return NULL;
}

void bpf_engine_follow_child(struct bpf_engine *e, pid_t pid, const char *file)
{
	struct trace_birth b = { .tid = pid, .pid = pid };

	snprintf(b.comm, sizeof(b.comm), "%s", scan_base_name(file));
	if (e->setup->everything)
		return; /* tasks are born with their first call, named after the program that makes it */
	e->child = pid;
	bpf_programs_follow(e->programs, pid);
	bpf_task_new(e, &b);
}

int bpf_engine_attach(struct bpf_engine *e, pid_t pid)
{
	size_t n;
	pid_t tid;
	DIR *dir;

	errno = ENOENT;
	if (pid <= 0 || proc_status(pid, "Tgid") < 0) {
		int err = errno == ENOENT ? ESRCH : errno;

		warn("cannot attach to process %d: %s%s", (int)pid,
		     err == ESRCH ? "no such process" : strerror(err), error_advice(err));
		return err;
	}
	/* until none is new */
	do {
		dir = proc_threads(pid);
		n = 0;
		while ((tid = proc_next_thread(dir))) {
			if (bpf_task_of(e, (uint32_t)tid))
				continue;
			bpf_programs_follow(e->programs, tid);
			bpf_task_known(e, (uint32_t)tid, (uint32_t)pid, false, "");
			n++;
		}
		if (dir)
			closedir(dir);
	} while (n);
	find_ended(e); /* before they were followed */
	return 0;
}

void bpf_engine_holds(struct bpf_engine *e, pid_t pid)
{
	bpf_programs_holds(e->programs, pid);
}

size_t bpf_engine_read(struct bpf_engine *e)
{
	struct bpf_lost lost;

	ring_read(&e->ring, e);
	lost = bpf_engine_lost(e);
	if (bpf_lost_sum(&lost) && clock_ns() - e->looked_ns > LOOK_NS) {
		find_ended(e);
		e->looked_ns = clock_ns();
	}
	return e->tasks.len;
}

int bpf_engine_fd(const struct bpf_engine *e)
{
	return e->ring.epoll;
}

struct bpf_lost bpf_engine_lost(const struct bpf_engine *e)
{
	return bpf_programs_lost(e->programs);
}

void bpf_engine_free(struct bpf_engine *e)
{
	if (!e)
		return;
	bpf_programs_free(e->programs);
	ring_close(&e->ring);
	map_each(slot, &e->tasks) {
		bpf_task_end(e, slot->value, TRACE_DETACHED);
	}
	map_free(&e->tasks);
	nr_free(&e->nrs);
	free(e);
}
