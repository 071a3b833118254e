// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dump/gather.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "abi/attr.h"
#include "abi/ioctl.h"
#include "abi/layout.h"
#include "lib/die.h"
#include "lib/map.h"
#include "model/event_name.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* libc keeps these to itself or to _GNU_SOURCE, by other names on 32 bits. */
#define CMD_SETSIG 10
#define CMD_SETOWN_EX 15

/* Numbers for dup2() that are out of the way of the program's own descriptors. */
enum { NEW_FDS = 500 };

/* A mapping of a ring. */
struct mapped {
	uint64_t start, length;
	int ring;
};

/* A process of the dump. */
struct process {
	pid_t pid;
	struct c_program program;
	struct map fds;			/* descriptor to index of its event, + 1 */
	struct map tids;		/* threads that made calls */
	struct mapped *mapped;
	size_t nmapped;
};

struct gather {
	const struct names *names;
	struct model *model;
	struct process **processes;
	size_t nprocesses;
	struct map by_pid;
	uint32_t page_size;
	/* of the call at hand */
	struct process *p;
	const struct call *call;
	int event, other;		/* that it is about; -1: none */
	bool strange;			/* a descriptor that the process did not open */
};

static struct process *process_of(struct gather *g, pid_t pid)
{
	struct process *p = map_get(&g->by_pid, (uint64_t)pid);

	if (p)
		return p;
	p = xcalloc(1, sizeof(*p));
	p->pid = pid;
	map_set(&g->by_pid, (uint64_t)pid, p);
	g->processes = xrealloc(g->processes, (g->nprocesses + 1) * sizeof(*g->processes));
	return g->processes[g->nprocesses++] = p;
}

static struct c_step *add_step(struct gather *g, enum c_step_kind kind, const char *text,
			       const char *meaning)
{
	struct c_program *o = &g->p->program;
	struct c_step *s;

	if (!(o->nsteps & (o->nsteps - 1))) /* room is made in powers of two */
		o->steps = xrealloc(o->steps, (o->nsteps ? 2 * o->nsteps : 1) *
				    sizeof(*o->steps));
	s = &o->steps[o->nsteps++];
	*s = (struct c_step){
		.kind = kind, .text = text ? xstrdup(text) : NULL, .meaning = meaning,
		.ns = kind == STEP_EXEC || kind == STEP_GONE ? 0 : g->call->enter_ns,
		.events = { g->event, g->other }, .child = -1, .ring = -1,
	};
	return s;
}

/* A call that cannot be put into C, or not quite as it was. */
static void add_note(struct gather *g, const char *why)
{
	struct buf text = { 0 };

	buf_adds(&text, "/* left out: ");
	buf_adds(&text, g->call->desc->name);
	buf_adds(&text, "(), ");
	c_comment(&text, why, strlen(why));
	buf_adds(&text, " */");
	add_step(g, STEP_NOTE, text.data, NULL);
	buf_free(&text);
}

/* Events ------------------------------------------------------------------------- */

static int event_at(const struct process *p, int64_t fd)
{
	return fd < 0 ? -1 : (int)(uintptr_t)map_get(&p->fds, (uint64_t)fd) - 1;
}

static void use(struct gather *g, int event)
{
	if (event < 0)
		return;
	g->p->program.events[event].used = true;
	if (g->event < 0)
		g->event = event;
	else if (g->event != event)
		g->other = event;
}

static int add_event(struct process *p, const struct c_event *e)
{
	struct c_program *o = &p->program;

	if (!(o->nevents & (o->nevents - 1)))
		o->events = xrealloc(o->events, (o->nevents ? 2 * o->nevents : 1) *
				     sizeof(*o->events));
	o->events[o->nevents] = *e;
	return (int)o->nevents++;
}

static void name_fd(void *ctx, const char *key, int64_t fd, struct buf *out)
{
	struct gather *g = ctx;
	int event = event_at(g->p, fd);

	if (key && !strcmp(key, "epfd")) {
		g->p->program.epoll = true;
		buf_adds(out, "epoll");
		return;
	}
	/* a number that is to be free, or to be no descriptor */
	if (event < 0 && fd >= 0 && ((key && !strcmp(key, "newfd")) ||
				     (g->call->failed && g->call->ret == EBADF))) {
		buf_addf(out, "%d", (int)(NEW_FDS + fd % NEW_FDS));
		return;
	}
	if (event < 0) {
		g->strange |= fd >= 0;
		buf_addf(out, "%lld", (long long)fd);
		return;
	}
	use(g, event);
	buf_adds(out, "fd[");
	c_mark(out, MARK_EVENT, event);
	buf_addc(out, ']');
}

static struct c_child *child_of(const struct process *p, pid_t pid)
{
	for (size_t i = 0; i < p->program.nchildren; i++)
		if (p->program.children[i].pid == pid)
			return &p->program.children[i];
	return NULL;
}

static void add_other(struct c_program *o, pid_t pid, struct buf *out)
{
	size_t i = 0;

	while (i < o->nothers && o->others[i] != pid)
		i++;
	if (i == o->nothers) {
		o->others = xrealloc(o->others, (o->nothers + 1) * sizeof(*o->others));
		o->others[o->nothers++] = pid;
	}
	buf_adds(out, "other[");
	c_mark(out, MARK_NUMBER, (long)i);
	buf_addc(out, ']');
}

/* Whom an event measures. */
static void add_target(struct gather *g, pid_t pid, struct buf *out)
{
	struct c_program *o = &g->p->program;
	struct c_child *child = child_of(g->p, pid);

	if (pid <= 0) {
		o->self |= !pid;
		c_mark(out, MARK_NUMBER, pid);
	} else if (child) {
		child->target = true;
		c_mark(out, MARK_CHILD, child - o->children);
	} else if (pid == g->p->pid) {
		o->self = true;
		buf_adds(out, "getpid()");
	} else if (g->call->failed) {
		c_mark(out, MARK_NUMBER, pid); /* perhaps nobody's */
	} else {
		add_other(o, pid, out);
	}
}

/* A cgroup is told by a descriptor of its directory. */
static void add_cgroup(struct gather *g, int fd, struct buf *out)
{
	const char *path = g->names->fd ? g->names->fd(g->names, g->call, fd) : NULL;

	if (!path || *path != '/') {
		buf_addf(out, "%d", fd);
		g->p->program.inexact += !g->call->failed;
		return;
	}
	c_need_header(&g->p->program.needs, "fcntl.h");
	buf_adds(out, "open(");
	c_string(out, path, strlen(path));
	buf_adds(out, ", O_RDONLY | O_CLOEXEC)");
}

/* The attr that the call passed, by its index; -1 where it could not be read. */
static int attr_of(struct gather *g, uint64_t addr)
{
	struct c_program *o = &g->p->program;
	const struct call *c = g->call;
	size_t len, n;
	const uint8_t *bytes = call_bytes(c, AT_ENTER, addr, SIZE_MAX, &len);
	struct c_program_attr *a;
	struct c_attr source;
	struct buf name = { 0 };

	/* what was not readable then cannot be made unreadable in the same place */
	if (bytes && (len < 8 || len < attr_wanted((uint32_t)load_uint(bytes + 4, 4))))
		o->inexact++;
	if (!bytes || !c_attr_make(&source, c, addr, g->names, &o->needs))
		return -1;
	for (n = 0; n < o->nattrs; n++) {
		a = &o->attrs[n];
		if (a->len == len && !memcmp(a->bytes, bytes, len) &&
		    !strcmp(buf_str(&a->source.string_value[0]),
			    buf_str(&source.string_value[0]))) {
			c_attr_free(&source);
			return (int)n;
		}
	}
	o->attrs = xrealloc(o->attrs, (o->nattrs + 1) * sizeof(*o->attrs));
	a = &o->attrs[o->nattrs++];
	*a = (struct c_program_attr){ .source = source, .len = len };
	a->bytes = xmalloc(len);
	memcpy(a->bytes, bytes, len);
	event_name(bytes, len, g->names, &name);
	a->about = name.data ? name.data : xstrdup("event");
	return (int)n;
}

static uint64_t member(const struct c_program_attr *a, unsigned int index)
{
	return layout_get(&layout_perf_event_attr, index, a->bytes, a->len);
}

static char *name_of_event(const struct c_program *o, int attr, int cpu)
{
	struct buf name = { 0 };

	buf_adds(&name, attr < 0 ? "event" : o->attrs[attr].about);
	if (cpu >= 0)
		buf_addf(&name, " cpu%d", cpu);
	return name.data;
}

/* Whether the call did now what it did then is asked of those that succeeded. */
static void add_checked(struct buf *out, const char *text, const struct call *c)
{
	const char *error = c->failed ? strerrorname_np((int)c->ret) : NULL;

	if (!c->failed)
		buf_addf(out, "MUST(%s);", text);
	else
		buf_addf(out, "FAILS(%s); /* then %s */", text, error ? error : "an error");
}

static void add_attr_ref(struct buf *out, int attr, uint64_t addr)
{
	if (attr >= 0) {
		buf_addc(out, '&');
		c_mark(out, MARK_ATTR, attr);
	} else if (addr) {
		buf_addf(out, "(void *)0x%llx", (unsigned long long)addr);
	} else {
		buf_adds(out, "NULL");
	}
}

/* The event that the call made, or was to make. */
static struct c_event new_event(struct gather *g, int attr)
{
	const struct call *c = g->call;
	const struct c_program *o = &g->p->program;
	const struct event *made = c->failed ? NULL :
		model_event(g->model, c->tid, (int)c->ret);
	struct c_event e = {
		.number = made ? made->number : 0, .name = name_of_event(o, attr, call_int(c, 2)),
		.attr = attr, .leader = event_at(g->p, call_int(c, 3)), .output = -1,
		.failed = c->failed,
	};

	if (attr >= 0) {
		const struct c_program_attr *a = &o->attrs[attr];

		e.read_format = member(a, ATTR_READ_FORMAT);
		e.sample_type = member(a, ATTR_SAMPLE_TYPE);
		e.sample_period = member(a, ATTR_SAMPLE_PERIOD);
		e.backward = member(a, ATTR_WRITE_BACKWARD);
		e.sigtrap = member(a, ATTR_SIGTRAP);
	}
	if (c->args[4] & PERF_FLAG_FD_OUTPUT)
		e.output = e.leader;
	if (c->args[4] & PERF_FLAG_FD_NO_GROUP)
		e.leader = -1;
	e.used = e.leader >= 0 && !c->failed;
	return e;
}

static void on_open(struct gather *g)
{
	const struct call *c = g->call;
	struct c_program *o = &g->p->program;
	int attr = attr_of(g, c->args[0]), index;
	struct c_event e = new_event(g, attr);
	struct c_args args = { .needs = &o->needs, .fd = name_fd, .ctx = g };
	struct buf call = { 0 }, text = { 0 };

	c_args_make(&args, c, g->names); /* group_fd and flags are of use */
	g->strange = g->strange && !c->failed && call_int(c, 3) >= 0 &&
		event_at(g->p, call_int(c, 3)) < 0;
	buf_adds(&call, "open_event(");
	add_attr_ref(&call, attr, c->args[0]);
	buf_adds(&call, ", ");
	if (c->args[4] & PERF_FLAG_PID_CGROUP)
		add_cgroup(g, call_int(c, 1), &call);
	else
		add_target(g, call_int(c, 1), &call);
	buf_adds(&call, ", ");
	c_mark(&call, MARK_NUMBER, call_int(c, 2));
	buf_addf(&call, ", %s, %s)", buf_str(&args.text[3]), buf_str(&args.text[4]));
	c_args_free(&args);
	index = add_event(g->p, &e);
	if (!c->failed) {
		map_set(&g->p->fds, (uint64_t)c->ret, (void *)(uintptr_t)(index + 1));
		buf_adds(&text, "fd[");
		c_mark(&text, MARK_EVENT, index);
		buf_adds(&text, "] = ");
		o->opens++;
	}
	add_checked(&text, buf_str(&call), c);
	if (c->failed && c->ret == E2BIG && attr >= 0) {
		buf_adds(&text, "\n\t");
		c_mark(&text, MARK_MEMBERS, attr);
		buf_addf(&text, ".size = %u; /* where the kernel wrote the size that it knows */",
			 (unsigned int)member(&o->attrs[attr], ATTR_SIZE));
	}
	g->other = g->event;
	g->event = index;
	if (g->strange)
		o->inexact++;
	add_step(g, STEP_OPEN, text.data, c->desc->meaning);
	buf_free(&call);
	buf_free(&text);
}

/* Other calls ---------------------------------------------------------------------- */

static struct mapped *mapping_at(struct process *p, uint64_t start)
{
	for (size_t i = 0; i < p->nmapped; i++)
		if (p->mapped[i].start == start)
			return &p->mapped[i];
	return NULL;
}

static void on_mmap(struct gather *g)
{
	const struct call *c = g->call;
	struct process *p = g->p;
	struct c_program *o = &p->program;
	struct c_args args = { .needs = &o->needs, .fd = name_fd, .ctx = g };
	struct buf text = { 0 };
	bool aux = c->args[5];

	c_args_make(&args, c, g->names);
	if (c->failed) {
		buf_addf(&text, "(void)mmap(NULL, %s, %s, %s, %s, %s); /* failed then, too */",
			 buf_str(&args.text[1]), buf_str(&args.text[2]),
			 buf_str(&args.text[3]), buf_str(&args.text[4]),
			 buf_str(&args.text[5]));
		c_need_header(&o->needs, "sys/mman.h");
	} else if (g->event < 0) {
		add_note(g, "of an event that the process had not opened");
	} else {
		if (!(o->nrings & (o->nrings - 1)))
			o->rings = xrealloc(o->rings, (o->nrings ? 2 * o->nrings : 1) *
					    sizeof(*o->rings));
		o->rings[o->nrings] = (struct c_ring){
			.event = g->event, .aux = aux,
			.data = !aux && c->args[1] > g->page_size,
			.overwrite = !(c->args[2] & PROT_WRITE),
		};
		p->mapped = xrealloc(p->mapped, (p->nmapped + 1) * sizeof(*p->mapped));
		p->mapped[p->nmapped++] = (struct mapped){
			(uint64_t)c->ret, c->args[1], (int)o->nrings,
		};
		buf_adds(&text, aux ? "map_aux(" : "map_ring(");
		c_mark(&text, MARK_RING, (long)o->nrings++);
		buf_addf(&text, ", %s, %s, %s, %s", buf_str(&args.text[4]),
			 buf_str(&args.text[1]), buf_str(&args.text[2]),
			 buf_str(&args.text[3]));
		if (aux)
			buf_addf(&text, ", %s", buf_str(&args.text[5]));
		buf_adds(&text, ");");
		o->inexact += c->args[0] != 0; /* an address that was asked for */
	}
	if (text.len)
		add_step(g, STEP_CALL, text.data, c->desc->meaning)->maps = true;
	c_args_free(&args);
	buf_free(&text);
}

static void on_munmap(struct gather *g)
{
	const struct call *c = g->call;
	struct mapped *m = c->failed ? NULL : mapping_at(g->p, c->args[0]);
	struct buf text = { 0 };

	if (!m) {
		if (!c->failed)
			add_note(g, "of a mapping that was not seen to be made");
		return;
	}
	use(g, g->p->program.rings[m->ring].event);
	buf_adds(&text, "MUST(munmap(ring[");
	c_mark(&text, MARK_RING, m->ring);
	buf_addf(&text, "], %llu));", (unsigned long long)c->args[1]);
	add_step(g, STEP_CLOSE, text.data, c->desc->meaning)->ring = m->ring;
	if (c->args[1] == m->length)
		*m = g->p->mapped[--g->p->nmapped];
	buf_free(&text);
}

static const char *ioctl_object(const struct call *c)
{
	return c->desc->id == CALL_EPOLL_CTL ? "epoll_event" : "f_owner_ex";
}

/* What an ioctl is given or gives back that is no expression of a value. */
static bool ioctl_pointer(struct gather *g, const struct ioctl_desc *d, struct buf *out)
{
	const struct call *c = g->call;
	int attr;

	if (d->request == PERF_EVENT_IOC_SET_OUTPUT && call_int(c, 2) == -1) {
		/* as wide as the kernel takes it: 0xffffffff is another number */
		buf_adds(out, c->args[2] == UINT32_MAX && c->arch->word == 8 ?
			 "0xffffffffL" : "-1L");
		return true;
	}
	if (d->dir == IOCTL_VALUE || (c->failed && c->ret == EFAULT && d->arg != IOCTL_ARG_ATTR))
		return false;
	switch (d->arg) {
	case IOCTL_ARG_ATTR:
		attr = attr_of(g, g->call->args[2]);
		add_attr_ref(out, attr, g->call->args[2]);
		return true;
	case IOCTL_ARG_QUERY_BPF: {
		size_t len;
		const uint8_t *p = call_bytes(g->call, AT_ENTER, g->call->args[2], 4, &len);
		uint64_t ids = p && len == 4 ? load_uint(p, 4) : 0;

		if (!p)
			return false;
		/* ids_len, prog_cnt, ids */
		buf_addf(out, "(uint32_t[%llu]){ %llu }",
			 (unsigned long long)(ids < 4096 ? ids + 2 : 4098),
			 (unsigned long long)ids);
		return true;
	}
	default:
		if (d->dir != IOCTL_OUT)
			return false;
		buf_adds(out, "&(uint64_t){ 0 }");
		return true;
	}
}

/* F_SETOWN, F_SETSIG, O_ASYNC: signals that must not end the program. */
static void note_signals(struct gather *g)
{
	const struct call *c = g->call;
	int cmd = call_int(c, 1);

	if (cmd == F_SETFL && c->args[2] & O_ASYNC)
		g->p->program.io_signal = true;
	if (cmd == CMD_SETSIG)
		g->p->program.signals = true;
}

/* Pids that are ours. */
static void own_pid(struct gather *g, struct c_args *args)
{
	const struct call *c = g->call;
	int cmd = call_int(c, 1);

	if (c->desc->class != CLASS_DESC || args->n < 3)
		return;
	note_signals(g);
	if (cmd == F_SETOWN && call_int(c, 2) < 0) {
		buf_reset(&args->text[2]);
		buf_adds(&args->text[2], "-getpgrp()");
		g->p->program.inexact += !c->failed; /* it may have been another group */
	} else if (cmd == F_SETOWN && (call_int(c, 2) == c->pid || call_int(c, 2) == c->tid)) {
		buf_reset(&args->text[2]);
		buf_adds(&args->text[2], "getpid()");
	} else if (cmd == CMD_SETOWN_EX) {
		size_t len;
		const uint8_t *p = call_bytes(c, AT_ENTER, c->args[2], 8, &len);
		uint64_t pid = p && len == 8 ? load_uint(p + 4, 4) : 0;

		if (pid == (uint64_t)c->pid || pid == (uint64_t)c->tid) {
			buf_reset(&args->text[2]);
			buf_addf(&args->text[2], "&(struct f_owner_ex){ %s, getpid() }",
				 load_uint(p, 4) == F_OWNER_TID ? "F_OWNER_TID" :
								  "F_OWNER_PID");
		}
	}
}

static enum c_step_kind kind_of(const struct call *c, const struct ioctl_desc *d)
{
	if (d && (d->request == PERF_EVENT_IOC_ENABLE || d->request == PERF_EVENT_IOC_REFRESH))
		return STEP_START;
	if (d && d->request == PERF_EVENT_IOC_DISABLE)
		return STEP_STOP;
	if (c->desc->id == CALL_PRCTL)
		return c->args[0] == PR_TASK_PERF_EVENTS_ENABLE ? STEP_START : STEP_STOP;
	return STEP_CALL;
}

/* Another descriptor of the event at hand. */
static void add_duplicate(struct gather *g, struct buf *text)
{
	struct c_event e = { .attr = -1, .output = -1, .leader = -1 };
	int index, of = g->event;

	if (of >= 0)
		e = g->p->program.events[of];
	e.name = xstrdup(of >= 0 ? e.name : "event");
	e.used = true;
	e.closed = false;
	index = add_event(g->p, &e);
	map_set(&g->p->fds, (uint64_t)g->call->ret, (void *)(uintptr_t)(index + 1));
	g->other = of;
	g->event = index;
	buf_adds(text, "fd[");
	c_mark(text, MARK_EVENT, index);
	buf_adds(text, "] = ");
}

/* Whatever can be written as it is: NAME(ARGUMENTS). */
static void on_plain(struct gather *g)
{
	const struct call *c = g->call;
	const struct ioctl_desc *d = c->desc->class == CLASS_IOCTL ? ioctl_of(c) : NULL;
	struct c_args args = {
		.needs = &g->p->program.needs, .fd = name_fd, .ctx = g,
		.object = ioctl_object(c),
	};
	struct buf call = { 0 }, text = { 0 };
	bool makes_fd = call_result_kind(c) == RESULT_FD && !c->failed;

	c_args_make(&args, c, g->names);
	own_pid(g, &args);
	if (d && args.n == 3) {
		struct buf pointer = { 0 };

		if (ioctl_pointer(g, d, &pointer)) {
			buf_free(&args.text[2]);
			args.text[2] = pointer;
		}
	}
	if (g->strange) {
		add_note(g, "with a descriptor that the process had not opened");
		if (makes_fd) /* dup2() to the number of an event */
			map_del(&g->p->fds, (uint64_t)c->ret);
		goto out;
	}
	c_need_header(&g->p->program.needs, d ? "sys/ioctl.h" :
		      c->desc->class == CLASS_POLL ? "sys/epoll.h" :
		      c->desc->id == CALL_PRCTL ? "sys/prctl.h" : "fcntl.h");
	buf_addf(&call, "%s(", c->desc->id == CALL_FCNTL64 ? "fcntl" : c->desc->name);
	for (size_t i = 0; i < args.n; i++)
		buf_addf(&call, "%s%s", i ? ", " : "", buf_str(&args.text[i]));
	buf_addc(&call, ')');
	if (makes_fd)
		add_duplicate(g, &text);
	if (d && d->request == PERF_EVENT_IOC_SET_OUTPUT && g->event >= 0 && !c->failed)
		g->p->program.events[g->event].output = event_at(g->p, (int)c->args[2]);
	add_checked(&text, buf_str(&call), c);
	add_step(g, kind_of(c, d), text.data, d ? d->meaning : c->desc->meaning);
out:
	c_args_free(&args);
	buf_free(&call);
	buf_free(&text);
}

static bool passes_time(const struct c_step *s)
{
	return s->kind == STEP_READ || s->kind == STEP_POLL || s->kind == STEP_GONE;
}

static void on_read(struct gather *g)
{
	struct c_program *o = &g->p->program;
	int event = event_at(g->p, call_int(g->call, 0));

	use(g, event);
	if (event < 0 || g->call->failed)
		return;
	/* time and again without a call between: the last one will do */
	for (size_t i = o->nsteps; i-- > 0 && passes_time(&o->steps[i]); )
		if (o->steps[i].kind == STEP_READ && o->steps[i].events[0] == event) {
			memmove(&o->steps[i], &o->steps[i + 1],
				(o->nsteps - i - 1) * sizeof(*o->steps));
			o->nsteps--;
			break;
		}
	add_step(g, STEP_READ, NULL, "Reads the counts of an event or of its group");
}

static void on_close(struct gather *g)
{
	const struct call *c = g->call;
	int fd = call_int(c, 0), event = event_at(g->p, fd);
	struct buf text = { 0 };

	if (event < 0) {
		add_note(g, "of an event that the process had not opened");
		return;
	}
	map_del(&g->p->fds, (uint64_t)fd);
	g->p->program.events[event].closed = true;
	g->event = event;
	buf_adds(&text, "MUST(close(fd[");
	c_mark(&text, MARK_EVENT, event);
	buf_adds(&text, "]));");
	add_step(g, STEP_CLOSE, text.data, c->desc->meaning);
	buf_free(&text);
}

/* The replay -------------------------------------------------------------------------- */

static void begin_call(struct gather *g, struct call *c)
{
	g->p = process_of(g, c->pid);
	g->call = c;
	g->event = g->other = -1;
	g->strange = false;
}

static void note_thread(struct gather *g)
{
	if (!map_set(&g->p->tids, (uint64_t)g->call->tid, g))
		g->p->program.threads++;
}

static void on_enter(void *ctx, struct call *c)
{
	struct gather *g = ctx;

	if (model_concerns(g->model, c)) {
		begin_call(g, c);
		if (c->desc->id == CALL_CLOSE) {
			note_thread(g);
			on_close(g);
		} else if (c->desc->class == CLASS_POLL && c->desc->id != CALL_EPOLL_CTL) {
			add_step(g, STEP_POLL, NULL, NULL);
		}
	}
	model_enter(g->model, c);
}

/* What is passed on is used. */
static void note_passed(struct gather *g)
{
	struct c_args args = { .needs = &g->p->program.needs, .fd = name_fd, .ctx = g };

	c_args_make(&args, g->call, g->names);
	c_args_free(&args);
}

static void returned(struct gather *g)
{
	const struct call *c = g->call;

	switch (c->desc->class) {
	case CLASS_OPEN:
		on_open(g);
		break;
	case CLASS_MEMORY:
		if (c->desc->id == CALL_MUNMAP)
			on_munmap(g);
		else if (c->desc->id == CALL_MREMAP)
			add_note(g, "which moves a ring");
		else
			on_mmap(g);
		break;
	case CLASS_PASS:
		note_passed(g);
		add_note(g, "which passes events between processes");
		break;
	case CLASS_IOCTL:
		if (ioctl_of(c) && ioctl_of(c)->request == PERF_EVENT_IOC_SET_BPF)
			add_note(g, "PERF_EVENT_IOC_SET_BPF, which needs the BPF program");
		else
			on_plain(g);
		break;
	case CLASS_DESC:
		if (c->desc->id == CALL_CLOSE_RANGE)
			add_note(g, "whose numbers would mean other descriptors");
		else
			on_plain(g);
		break;
	default:
		on_plain(g);
		break;
	}
}

/* Does the program make the call at its place? */
static bool makes(const struct call *c)
{
	switch (c->desc->class) {
	case CLASS_PROCESS:
		return c->desc->id == CALL_PRCTL;
	case CLASS_POLL:
		return c->desc->id == CALL_EPOLL_CTL;
	case CLASS_READ:
		return false;
	default:
		return c->desc->id != CALL_CLOSE;
	}
}

static void on_exit_of(void *ctx, struct call *c)
{
	struct gather *g = ctx;
	bool concerns = model_concerns(g->model, c);

	/* the descriptors and mappings that it is about, before and after */
	if (concerns)
		begin_call(g, c);
	if (c->desc->class == CLASS_OPEN)
		model_exit(g->model, c);
	if (concerns && c->desc->class == CLASS_READ)
		on_read(g);
	else if (concerns && makes(c)) {
		note_thread(g);
		returned(g);
	}
	if (c->desc->class != CLASS_OPEN)
		model_exit(g->model, c);
}

static void on_born(void *ctx, const struct birth *b, uint64_t ns)
{
	struct gather *g = ctx;
	struct process *p = b->parent ? map_get(&g->by_pid, (uint64_t)b->parent) : NULL;
	struct c_program *o;

	(void)ns;
	model_born(g->model, b);
	if (b->pid != b->tid) {
		map_set(&g->by_pid, (uint64_t)b->tid, process_of(g, b->pid));
		return;
	}
	if (p) {
		o = &p->program;
		o->children = xrealloc(o->children, (o->nchildren + 1) * sizeof(*o->children));
		o->children[o->nchildren++] = (struct c_child){ .pid = b->tid };
	}
	map_del(&g->by_pid, (uint64_t)b->tid); /* a number that comes again */
	process_of(g, b->pid);
}

static void on_found(void *ctx, pid_t tid, int fd, bool cloexec)
{
	struct gather *g = ctx;

	model_found(g->model, tid, fd, cloexec);
}

static void on_found_ring(void *ctx, pid_t tid, uint64_t start, uint64_t end)
{
	struct gather *g = ctx;

	model_found_ring(g->model, tid, start, end);
}

/* What a process does that is some other's child. */
static void tell_parents(struct gather *g, pid_t pid, enum c_step_kind kind)
{
	for (size_t i = 0; i < g->nprocesses; i++) {
		struct c_child *child = child_of(g->processes[i], pid);

		if (!child || (kind == STEP_EXEC && child->execed))
			continue;
		child->execed |= kind == STEP_EXEC;
		g->p = g->processes[i];
		g->event = g->other = -1;
		add_step(g, kind, NULL, NULL)->child =
			(int)(child - g->p->program.children);
	}
}

static void on_execed(void *ctx, pid_t tid, pid_t former, uint64_t ns, const char *exe)
{
	struct gather *g = ctx;

	(void)ns, (void)exe;
	model_execed(g->model, tid, former);
	tell_parents(g, tid, STEP_EXEC);
}

static void on_gone(void *ctx, pid_t tid, uint64_t ns, enum view_end how, int status,
		    struct call *c)
{
	struct gather *g = ctx;

	(void)ns, (void)how, (void)status, (void)c;
	model_gone(g->model, tid);
	tell_parents(g, tid, STEP_GONE);
}

static const struct replay_ops ops = {
	.born = on_born, .found = on_found, .found_ring = on_found_ring,
	.enter = on_enter, .exit = on_exit_of, .execed = on_execed, .gone = on_gone,
};

static bool opened(const struct process *p, unsigned int event)
{
	for (size_t i = 0; i < p->program.nevents; i++)
		if (p->program.events[i].number == event)
			return true;
	return false;
}

static bool opens_more(const struct process *a, const struct process *b)
{
	if (a->program.opens != b->program.opens)
		return a->program.opens > b->program.opens;
	return a->program.nevents > b->program.nevents; /* those that failed */
}

static bool choose(struct gathered *out, const char *path, pid_t pid, unsigned int event)
{
	const struct gather *g = out->all;
	struct process *best = NULL;
	bool found = false;

	for (size_t i = 0; i < g->nprocesses; i++) {
		struct process *p = g->processes[i];

		if (pid ? p->pid == pid : event ? opened(p, event) : !found || opens_more(p, best)) {
			best = p;
			found = true;
		}
	}
	if (!found || !best->program.nevents) {
		if (pid)
			warn("%s: process %d opens no event", path, (int)pid);
		else if (event)
			warn("%s: there is no event %u; pevtrace decode --summary numbers "
			     "them", path, event);
		else
			warn("%s: no event is opened in it, there is nothing to generate",
			     path);
		return false;
	}
	for (size_t i = 0; i < g->nprocesses; i++)
		out->left_out += g->processes[i] != best && g->processes[i]->program.threads;
	out->program = &best->program;
	out->pid = best->pid;
	return true;
}

bool gather_read(struct gathered *out, FILE *f, const char *path, pid_t pid,
		 unsigned int event)
{
	const struct dump_facts *facts;
	struct gather *g;

	*out = (struct gathered){ .replay = replay_open(f, path, false) };
	if (!out->replay)
		return false;
	facts = replay_facts(out->replay);
	g = out->all = xcalloc(1, sizeof(*g));
	g->names = replay_names(out->replay);
	g->page_size = facts->page_size ? facts->page_size : 4096;
	g->model = model_new(g->names, false);
	if (!replay_run(out->replay, &ops, g) || !choose(out, path, pid, event))
		return false;
	out->program->release = facts->release;
	out->program->machine = facts->machine;
	out->program->command = facts->command;
	return true;
}

static void process_free(struct process *p)
{
	c_program_free(&p->program);
	map_free(&p->fds);
	map_free(&p->tids);
	free(p->mapped);
	free(p);
}

void gathered_free(struct gathered *out)
{
	struct gather *g = out->all;

	for (size_t i = 0; g && i < g->nprocesses; i++)
		process_free(g->processes[i]);
	if (g) {
		map_free(&g->by_pid);
		model_free(g->model);
		free(g->processes);
		free(g);
	}
	if (out->replay)
		replay_close(out->replay);
}
