// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "core/lib/list.h"
#include "formats/diff/normal_sink.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/abi/ioctl.h"
#include "core/lib/scan_text.h"

/* Return the key with its path, valid until the next call. */
static const char *path(struct normal_sink *s, const char *key)
{
	size_t at = s->prefix[s->depth];

	s->last = s->joined;
	if (key && !at)
		s->last = key;
	else if (key)
		snprintf(s->joined, sizeof(s->joined), "%.*s%s", (int)at, s->path, key);
	else if (at) /* an element has the array's name */
		snprintf(s->joined, sizeof(s->joined), "%.*s", (int)at - 1, s->path);
	else
		s->last = "value";
	return s->last;
}

/* Return the argument whose value is at the top level, or NULL. */
static const struct arg_desc *argument(const struct normal_sink *s, const char *key)
{
	const struct call_desc *d = s->call->desc;

	for (size_t i = 0; key && !s->depth && i < d->nargs; i++)
		if (!strcmp(d->args[i].name, key))
			return &d->args[i];
	return NULL;
}

static void normal_begin(struct sink *sink, const char *key, enum sink_shape shape)
{
	struct normal_sink *s = sink_self(sink);
	size_t at = s->prefix[s->depth];
	const struct arg_desc *arg = argument(s, key);

	(void)shape;
	if (s->depth + 1 >= NORMAL_DEPTH)
		return;
	s->depth++;
	if (arg && arg->kind == ARG_ATTR) {
		s->in_attr = s->depth; /* its members are known without the path */
	} else if (key) {
		snprintf(s->path + at, sizeof(s->path) - at, "%s.", key);
		at = strlen(s->path);
	}
	s->prefix[s->depth] = at;
}

static void normal_end(struct sink *sink)
{
	struct normal_sink *s = sink_self(sink);

	if (s->in_attr == s->depth)
		s->in_attr = 0;
	if (s->depth)
		s->depth--;
}

/* Return the number that the task gives to a value: the next one if the value is new. */
static size_t numbered(struct map *numbers, uint64_t v, unsigned int *last)
{
	uintptr_t n = (uintptr_t)map_get(numbers, v);

	if (!n) {
		n = ++*last;
		map_set(numbers, v, (void *)n);
	}
	return n;
}

/*
 * Append a number that may be an address, as no bit of it has a meaning for the kernel.  Below
 * the usual vm.mmap_min_addr is none.
 */
static void normal_add_data(struct normal_sink *s, uint64_t v, struct buf *out)
{
	if (v < 65536)
		buf_addu(out, v);
	else
		buf_addf(out, "data%zu", numbered(&s->task->addresses, v, &s->task->addrs));
}

/* Append a number, or a word for one that differs from run to run; return whether it is one. */
static bool normal_add_uint(struct normal_sink *s, const char *key, uint64_t v,
			    struct buf *out)
{
	const struct ioctl_desc *d = s->call->desc->class == CLASS_IOCTL ? ioctl_of(s->call) : NULL;

	/* ids that the kernel assigned */
	if (!key && s->depth && d && (d->dir == IOCTL_OUT || d->arg == IOCTL_ARG_QUERY_BPF)) {
		buf_adds(out, "id");
		return false;
	}
	/* BPF_TASK_FD_QUERY: a number of another process, and the kernel's answer */
	if (key && s->call->desc->class == CLASS_BPF &&
	    (!strcmp(key, "fd") || !strcmp(key, "prog_id"))) {
		buf_adds(out, *key == 'f' ? "fd" : "id");
		return false;
	}
	/* data.fd leaves the upper half of u64 as it was */
	if (s->depth && s->call->desc->id == CALL_EPOLL_CTL &&
	    (uint32_t)v == (uint32_t)s->call->args[2])
		normal_fd_text(s, (int32_t)v, out);
	else if (s->depth ? s->call->desc->id == CALL_EPOLL_CTL :
			    argument(s, key) && argument(s, key)->kind == ARG_IOCTL_ARG)
		normal_add_data(s, v, out);
	else
		buf_addu(out, v);
	return true;
}

static void normal_add_hex(struct normal_sink *s, const char *key, uint64_t v, struct buf *out)
{
	const struct arg_desc *arg = argument(s, key);
	bool attr = s->in_attr || (s->depth && s->call->desc->class == CLASS_IOCTL);
	bool data = attr ? key && !strcmp(key, layout_perf_event_attr.fields[ATTR_SIG_DATA].name) :
			   !arg || arg->kind == ARG_HEX || arg->kind == ARG_IOCTL_ARG ||
			   arg->kind == ARG_FCNTL_ARG;

	if (data && v >= 65536)
		normal_add_data(s, v, out);
	else
		buf_addf(out, v ? "0x%llx" : "0", (unsigned long long)v);
}

void normal_pid_text(struct normal_sink *s, int64_t pid, struct buf *out)
{
	const struct normal_task *t = map_get(&s->normal->by_tid, (uint64_t)pid);

	if (!pid || (t && t == s->task))
		buf_adds(out, "self");
	else if (t)
		buf_adds(out, t->name);
	else if (pid == -1)
		buf_adds(out, "-1");
	else if (pid < 0) { /* a process group */
		buf_addc(out, '-');
		normal_pid_text(s, -pid, out);
	}
	else
		buf_addf(out, "other%zu",
			 numbered(&s->task->other_pids, (uint64_t)pid, &s->task->others));
}

static void normal_add_sint(struct normal_sink *s, const char *key, int64_t v, struct buf *out)
{
	const struct arg_desc *arg = argument(s, key);
	bool target = arg && arg->kind == ARG_EVENT_PID;
	/* a pid, or a process group (negative for F_SETOWN) */
	bool pid = arg ? target || arg->kind == ARG_PID ||
			 (arg->kind == ARG_FCNTL_ARG && call_int(s->call, 1) == F_SETOWN) :
			 s->depth && !s->in_attr && key && !strcmp(key, "pid");

	if (target && v == -1)
		buf_adds(out, "every_task");
	else if (arg && s->call->desc->id == CALL_SHMAT)
		buf_adds(out, "id");
	else if (pid)
		normal_pid_text(s, target ? call_target(s->call) : v, out);
	else
		buf_addf(out, "%lld", (long long)v);
}

/* Append "\1N\2", a reference to the event. */
static void refer(struct normal_draft *d, const struct normal_event *e, struct buf *out)
{
	d->refers = true;
	buf_addc(out, REF_START);
	buf_addu(out, e->index);
	buf_addc(out, REF_END);
}

/*
 * Number the addresses in an attr; write others as "addr", but for munmap and mremap that of a
 * ring as the ring's event.
 */
static void normal_add_addr(struct normal_sink *s, uint64_t v, struct buf *out)
{
	const struct ring *ring = NULL;

	if (!s->depth && s->call->desc->class == CLASS_MEMORY && s->normal->model)
		ring = model_ring_at(s->normal->model, s->call->tid, v, v + 1);
	if (!v) {
		buf_adds(out, "NULL");
	} else if (s->depth) {
		buf_addf(out, "addr%zu", numbered(&s->task->addresses, v, &s->task->addrs));
	} else if (ring && !ring->aux) {
		s->draft->subject = normal_event_of(s->normal, s->task, ring->event);
		buf_adds(out, "ring:");
		refer(s->draft, s->draft->subject, out);
	} else {
		buf_adds(out, "addr");
	}
}

/* Join flags with +, since | separates alternatives in expectations. */
static void normal_add_flags(struct normal_sink *s, const struct xlat *x, uint64_t v,
			     struct buf *out)
{
	const struct xlat_entry *e;
	uint64_t rest = v;
	size_t at = 0;

	while ((e = xlat_next_flag(x, &rest, &at)))
		buf_addf(out, "%s%s", out->len ? "+" : "", e->name);
	if (rest >= 65536 && !s->depth && s->call->desc->class == CLASS_IOCTL) {
		/* ioctl(fd, PERF_EVENT_IOC_ENABLE) passes what is in a register */
		buf_adds(out, out->len ? "+" : "");
		normal_add_data(s, rest, out);
	} else if (rest)
		buf_addf(out, "%s0x%llx", out->len ? "+" : "", (unsigned long long)rest);
	if (!out->len)
		buf_addc(out, '0');
}

static void normal_add_packed(const struct value *v, struct buf *out)
{
	for_each(p, v->parts, v->len) {
		const char *name = p->xlat ? xlat_name(p->xlat, p->value) : NULL;

		if (out->len)
			buf_addc(out, '+');
		if (name)
			buf_adds(out, name);
		else
			buf_addf(out, "0x%llx", (unsigned long long)(p->value << p->shift));
	}
	if (!out->len)
		buf_addf(out, "0x%llx", (unsigned long long)v->number);
}

/* Return whether a filter compares a field whose name ends in "pid" with the text at bytes[at]. */
static bool compares_pid(const char *bytes, size_t at)
{
	while (at && bytes[at - 1] == ' ')
		at--;
	if (!at || !strchr("=!<>", bytes[at - 1]))
		return false;
	while (at && (bytes[at - 1] == ' ' || strchr("=!<>", bytes[at - 1])))
		at--;
	return at >= 3 && !strncmp(bytes + at - 3, "pid", 3);
}

static void normal_add_quoted(struct normal_sink *s, const char *bytes, size_t len,
			      struct buf *out)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)bytes[i];
		int64_t pid = 0;
		size_t n = 0;

		/* perf trace sets a filter with its own pid; a path may lead through a process */
		if (isdigit(c) && (compares_pid(bytes, i) ||
				   (i >= 6 && !memcmp(bytes + i - 6, "/proc/", 6))))
			for (; i + n < len && n < 9 && isdigit((unsigned char)bytes[i + n]); n++)
				pid = 10 * pid + bytes[i + n] - '0';
		if (n && pid) {
			normal_pid_text(s, pid, out);
			i += n - 1;
		} else if (!(n = utf8_shown(bytes + i, len - i))) {
			buf_addf(out, "\\%03o", c);
		} else {
			if (strchr("*|\"\\", c))
				buf_addc(out, '\\');
			buf_add(out, bytes + i, n);
			i += n - 1;
		}
	}
}

void normal_fd_text(struct normal_sink *s, int64_t fd, struct buf *out)
{
	const struct event *e = fd < 0 || fd > INT32_MAX ? NULL :
		model_event(s->normal->model, s->call->tid, (int)fd);

	if (fd < 0)
		buf_addf(out, "%lld", (long long)fd);
	else if (s->displaced)
		refer(s->draft, s->displaced, out);
	else if (e)
		refer(s->draft, normal_event_of(s->normal, s->task, e), out);
	else
		buf_adds(out, "fd");
}

static void normal_add_fd(struct normal_sink *s, const char *key, const struct value *v,
			  struct buf *out)
{
	const struct arg_desc *arg = argument(s, key);

	if (arg && arg->kind == ARG_EVENT_PID) {
		buf_adds(out, "cgroup:");
		normal_add_word(out, v->text ? v->text : "?");
	} else {
		normal_fd_text(s, (int64_t)v->number, out);
	}
}

static void normal_put(struct sink *sink, const char *key, const struct value *v)
{
	struct normal_sink *s = sink_self(sink);
	struct buf *out = &s->draft->scratch;
	const char *name = v->kind == VALUE_ENUM ? xlat_name(v->xlat, v->number) : NULL;

	/* the lower half of u64 */
	if (s->depth && s->call->desc->id == CALL_EPOLL_CTL && key && !strcmp(key, "u32"))
		return;
	buf_reset(out);
	s->is_number = false;
	s->number = v->number;
	switch (v->kind) {
	case VALUE_ENUM:
		if (name)
			buf_adds(out, name);
		else if (xlat_negative(v->xlat, v->number))
			normal_add_sint(s, key, (int64_t)v->number, out);
		else
			s->is_number = normal_add_uint(s, key, v->number, out);
		break;
	case VALUE_UINT:
		s->is_number = normal_add_uint(s, key, v->number, out);
		break;
	case VALUE_SINT:
		normal_add_sint(s, key, (int64_t)v->number, out);
		break;
	case VALUE_HEX:
		normal_add_hex(s, key, v->number, out);
		break;
	case VALUE_ADDR:
		normal_add_addr(s, v->number, out);
		break;
	case VALUE_FLAGS:
		normal_add_flags(s, v->xlat, v->number, out);
		break;
	case VALUE_PACKED:
		normal_add_packed(v, out);
		break;
	case VALUE_SYMBOL:
		normal_add_word(out, v->text);
		break;
	case VALUE_STRING:
		buf_addc(out, '"');
		normal_add_quoted(s, v->text, v->len, out);
		buf_adds(out, v->cut ? "\"..." : "\"");
		break;
	case VALUE_BYTES:
		buf_adds(out, "0x");
		for (size_t i = 0; i < v->len; i++)
			buf_addf(out, "%02x", (unsigned char)v->text[i]);
		buf_adds(out, v->cut ? "..." : "");
		break;
	case VALUE_FD:
		normal_add_fd(s, key, v, out);
		break;
	}
	draft_add(s->draft, path(s, key), buf_str(out));
}

/* Replace a PMU's type and a tracepoint's id, which differ between kernels, by names. */
static void note(struct sink *sink, const char *key, const char *text)
{
	struct normal_sink *s = sink_self(sink);
	struct normal_draft *d = s->draft;
	struct draft_field *f = d->nfields ? &d->fields[d->nfields - 1] : NULL;
	const struct names *names = s->normal->names;
	const char *name = NULL;

	if (!f || !s->in_attr || !s->is_number || strcmp(buf_str(&f->key), s->last))
		return;
	if (!strcmp(key, "pmu") && !strcmp(s->last, "type") && names->pmu)
		name = names->pmu(names, (uint32_t)s->number);
	else if (!strcmp(key, "event") && !strcmp(s->last, "config"))
		name = text;
	if (!name)
		return;
	buf_reset(&f->value);
	normal_add_word(&f->value, name);
}

static const struct sink_ops normal_sink_ops = {
	.begin = normal_begin, .end = normal_end, .value = normal_put, .note = note,
};

void normal_sink_init(struct normal_sink *s, struct normal *n, struct normal_task *t,
		      struct normal_draft *d, const struct call *c)
{
	*s = (struct normal_sink){
		.sink = { .ops = &normal_sink_ops, .max_string = 65536 },
		.normal = n, .task = t, .draft = d, .call = c,
	};
}
