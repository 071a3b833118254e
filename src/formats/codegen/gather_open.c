// SPDX-License-Identifier: LGPL-2.1-or-later
/* Gather opens and their targets. */
#include "core/abi/strings.h"
#include "core/abi/tables.h"
#include "formats/codegen/gather_steps.h"

#include <errno.h>
#include <string.h>

#include "core/abi/attr.h"
#include "core/lib/die.h"
#include "core/model/event_name.h"

/* Append the pid argument of an open. */
static void target_write(struct gather *g, pid_t pid, struct buf *out)
{
	struct c_program *o = &g->p->program;
	struct c_child *child = gather_child(g->p, pid);
	size_t i = 0;

	if (pid <= 0) {
		o->self |= !pid;
		c_mark(out, "", MARK_NUMBER, pid, "");
	} else if (child) {
		child->target = true;
		c_mark(out, "", MARK_CHILD, child - o->children, "");
	} else if (pid == g->p->pid) {
		o->self = true;
		buf_adds(out, "getpid()");
	} else if (g->call->failed) {
		c_mark(out, "", MARK_NUMBER, pid, ""); /* the pid may not exist */
	} else {
		while (i < o->nothers && o->others[i] != pid)
			i++;
		if (i == o->nothers) {
			APPEND(o->others, o->nothers) = pid;
		}
		c_mark(out, "other[", MARK_NUMBER, (long)i, "]");
	}
}

/* Append an open() of the cgroup directory, in place of its descriptor. */
static void target_cgroup(struct gather *g, int fd, struct buf *out)
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

int gather_attr(struct gather *g, uint64_t addr)
{
	struct c_program *o = &g->p->program;
	const struct call *c = g->call;
	size_t len, n;
	const uint8_t *bytes = call_bytes(c, AT_SYSCALL_ENTER, addr, SIZE_MAX, &len);
	struct c_program_attr *a;
	struct c_attr source;
	struct buf name = { 0 };

	/* the program cannot make the same bytes unreadable */
	if (bytes && (len < 8 || len < attr_wanted((uint32_t)load_uint(bytes + 4, 4))))
		o->inexact++;
	if (!bytes || !c_attr_make(&source, c, addr, g->names, true, &o->needs))
		return -1;
	for (n = 0; n < o->nattrs; n++) {
		a = &o->attrs[n];
		if (a->len == len && !memcmp(a->bytes, bytes, len) &&
		    c_attr_same_sets(&a->source, &source)) {
			c_attr_free(&source);
			return (int)n;
		}
	}
	a = &APPEND(o->attrs, o->nattrs);
	*a = (struct c_program_attr){ .source = source, .len = len };
	a->bytes = xmalloc(len);
	memcpy(a->bytes, bytes, len);
	event_name(bytes, len, g->names, &name);
	a->about = name.data ? name.data : xstrdup("event");
	return (int)n;
}

static uint64_t attr_member_value(const struct c_program_attr *a, unsigned int index)
{
	return layout_get(&layout_perf_event_attr, index, a->bytes, a->len);
}

void gather_checked(struct buf *out, const char *text, const struct call *c)
{
	const char *error = c->failed ? error_name((int)c->ret) : NULL;

	if (!c->failed)
		buf_addf(out, "MUST(%s);", text);
	else
		buf_addf(out, "FAILS(%s); /* %s in the trace */", text, error ? error : "an error");
}

struct c_step *gather_checked_step(struct gather *g, enum c_step_kind kind, const char *text,
				   const char *meaning)
{
	struct c_step *s = gather_step(g, kind, text, meaning);

	s->fails = g->call->failed;
	s->must = !s->fails;
	return s;
}

void gather_attr_ref(struct buf *out, int attr, uint64_t addr)
{
	if (attr >= 0)
		c_mark(out, "&", MARK_ATTR, attr, "");
	else if (addr)
		buf_addf(out, "(void *)0x%llx", (unsigned long long)addr);
	else
		buf_adds(out, "NULL");
}

/* Return the event that the call opened or failed to open. */
static struct c_event new_event(struct gather *g, int attr)
{
	const struct call *c = g->call;
	const struct c_program *o = &g->p->program;
	const struct event *made = c->failed ? NULL :
		model_event(g->session.model, c->tid, (int)c->ret);
	struct c_event e = {
		.number = made ? made->number : 0, .attr = attr,
		.leader = gather_event_at(g->p, call_int(c, 3)), .output = -1,
		.failed = c->failed,
	};
	struct buf name = { 0 };

	buf_adds(&name, attr < 0 ? "event" : o->attrs[attr].about);
	if (call_int(c, 2) >= 0)
		buf_addf(&name, " cpu%d", call_int(c, 2));
	e.name = name.data;
	if (attr >= 0) {
		const struct c_program_attr *a = &o->attrs[attr];

		e.read_format = attr_member_value(a, ATTR_READ_FORMAT);
		e.sample_type = attr_member_value(a, ATTR_SAMPLE_TYPE);
		e.sample_period = attr_member_value(a, ATTR_SAMPLE_PERIOD);
		if (attr_member_value(a, ATTR_TYPE) == PERF_TYPE_SOFTWARE &&
		    attr_member_value(a, ATTR_CONFIG) == PERF_COUNT_SW_DUMMY) {
			e.sample_period = 0; /* it never samples */
			e.watches = attr_member_value(a, ATTR_TASK) ||
				    attr_member_value(a, ATTR_COMM);
		}
		e.backward = attr_member_value(a, ATTR_WRITE_BACKWARD);
		e.sigtrap = attr_member_value(a, ATTR_SIGTRAP);
	}
	if (c->args[4] & PERF_FLAG_FD_OUTPUT)
		e.output = e.leader;
	if (c->args[4] & PERF_FLAG_FD_NO_GROUP)
		e.leader = -1;
	e.used = e.leader >= 0 && !c->failed;
	return e;
}

void gather_open(struct gather *g)
{
	const struct call *c = g->call;
	struct c_program *o = &g->p->program;
	int attr = gather_attr(g, c->args[0]), index;
	struct c_event e = new_event(g, attr);
	struct c_args args;
	struct buf call = { 0 }, text = { 0 };

	gather_args(g, &args); /* for group_fd and flags */
	g->strange = g->strange && !c->failed && call_int(c, 3) >= 0 &&
		gather_event_at(g->p, call_int(c, 3)) < 0;
	buf_adds(&call, "open_event(");
	gather_attr_ref(&call, attr, c->args[0]);
	buf_adds(&call, ", ");
	if (c->args[4] & PERF_FLAG_PID_CGROUP)
		target_cgroup(g, call_int(c, 1), &call);
	else
		target_write(g, call_target(c), &call);
	c_mark(&call, ", ", MARK_NUMBER, call_int(c, 2), ", ");
	buf_addf(&call, "%s, %s)", buf_str(&args.text[3]), buf_str(&args.text[4]));
	c_args_free(&args);
	index = gather_add_event(g->p, &e);
	if (!c->failed) {
		map_set(&g->p->fds, (uint64_t)c->ret, (void *)(uintptr_t)(index + 1));
		c_mark(&text, "fd[", MARK_EVENT, index, "] = ");
		o->opens++;
	}
	gather_checked(&text, buf_str(&call), c);
	if (c->failed && c->ret == E2BIG && attr >= 0) {
		c_mark(&text, "\n\t", MARK_MEMBERS, attr, ".size = ");
		buf_addf(&text, "%u; /* the kernel has overwritten it */",
			 (unsigned int)attr_member_value(&o->attrs[attr], ATTR_SIZE));
	}
	g->other = g->event;
	g->event = index;
	if (g->strange)
		o->inexact++;
	gather_checked_step(g, STEP_OPEN, text.data, c->desc->meaning);
	buf_free(&call);
	buf_free(&text);
}
