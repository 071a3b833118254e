// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/diff/normal_sink.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/ioctl.h"

/* Characters with a special meaning, which a value without quotes must not contain. */
#define SPECIAL "*|\"\\ "

static struct normal_sink *normal_self(struct sink *s)
{
	return (struct normal_sink *)s; /* sink is its first member */
}

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
	struct normal_sink *s = normal_self(sink);
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
	struct normal_sink *s = normal_self(sink);

	if (s->in_attr == s->depth)
		s->in_attr = 0;
	if (s->depth)
		s->depth--;
}

/* Return whether the ioctl returns ids that the kernel assigned. */
static bool gives_ids(const struct normal_sink *s)
{
	const struct ioctl_desc *d;

	if (s->call->desc->class != CLASS_IOCTL || !s->depth)
		return false;
	d = ioctl_of(s->call);
	return d && (d->dir == IOCTL_OUT || d->arg == IOCTL_ARG_QUERY_BPF);
}

/* Append a number, or what stands for one that differs from run to run; return whether it is one. */
static bool normal_add_uint(const struct normal_sink *s, const char *key, uint64_t v,
			    struct buf *out)
{
	if (!key && gives_ids(s)) {
		buf_adds(out, "id");
		return false;
	}
	/* BPF_TASK_FD_QUERY: a number of another process, and the kernel's answer */
	if (key && s->call->desc->class == CLASS_BPF &&
	    (!strcmp(key, "fd") || !strcmp(key, "prog_id"))) {
		buf_adds(out, *key == 'f' ? "fd" : "id");
		return false;
	}
	buf_addu(out, v);
	return true;
}

void normal_pid_text(struct normal_sink *s, int64_t pid, struct buf *out)
{
	const struct normal_task *t = map_get(&s->normal->by_tid, (uint64_t)pid);
	uintptr_t n;

	if (!pid || (t && t == s->task)) {
		buf_adds(out, "self");
	} else if (t) {
		buf_adds(out, t->name);
	} else if (pid < 0) {
		buf_addf(out, "%lld", (long long)pid);
	} else {
		n = (uintptr_t)map_get(&s->task->other_pids, (uint64_t)pid);
		if (!n) {
			n = ++s->task->others;
			map_set(&s->task->other_pids, (uint64_t)pid, (void *)n);
		}
		buf_addf(out, "other%zu", (size_t)n);
	}
}

/* Return whether the value is a pid, or a process group (negative for F_SETOWN). */
static bool is_pid(const struct normal_sink *s, const char *key)
{
	const struct arg_desc *arg = argument(s, key);

	if (!arg)
		return s->depth && !s->in_attr && key && !strcmp(key, "pid");
	return arg->kind == ARG_EVENT_PID || arg->kind == ARG_PID ||
	       (arg->kind == ARG_FCNTL_ARG && call_int(s->call, 1) == F_SETOWN);
}

static void normal_add_sint(struct normal_sink *s, const char *key, int64_t v, struct buf *out)
{
	const struct arg_desc *arg = argument(s, key);

	if (arg && arg->kind == ARG_EVENT_PID && v == -1)
		buf_adds(out, "every_task");
	else if (is_pid(s, key))
		normal_pid_text(s, arg && arg->kind == ARG_EVENT_PID ? call_target(s->call) : v,
				out);
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

/* Append the event of the ring at that address, for munmap and mremap; return false if none. */
static bool ring_text(struct normal_sink *s, uint64_t addr, struct buf *out)
{
	struct normal_draft *d = s->draft;
	const struct ring *ring;

	if (!s->normal->model)
		return false;
	ring = model_ring_at(s->normal->model, s->call->tid, addr, addr + 1);
	if (!ring || ring->aux)
		return false;
	d->subject = normal_event_of(s->normal, s->task, ring->event);
	buf_adds(out, "ring:");
	refer(d, d->subject, out);
	return true;
}

/* Number the addresses in an attr; write others as "addr". */
static void normal_add_addr(struct normal_sink *s, uint64_t v, struct buf *out)
{
	uintptr_t n;

	if (!v) {
		buf_adds(out, "NULL");
	} else if (s->depth) {
		n = (uintptr_t)map_get(&s->task->addresses, v);
		if (!n) {
			n = ++s->task->addrs;
			map_set(&s->task->addresses, v, (void *)n);
		}
		buf_addf(out, "addr%zu", (size_t)n);
	} else if (s->call->desc->class != CLASS_MEMORY || !ring_text(s, v, out)) {
		buf_adds(out, "addr");
	}
}

/* Join flags with +, since | separates alternatives in expectations. */
static void normal_add_flags(const struct xlat *x, uint64_t v, struct buf *out)
{
	const struct xlat_entry *e;
	uint64_t rest = v;
	size_t at = 0;

	while ((e = xlat_next_flag(x, &rest, &at)))
		buf_addf(out, "%s%s", out->len ? "+" : "", e->name);
	if (rest)
		buf_addf(out, "%s0x%llx", out->len ? "+" : "", (unsigned long long)rest);
	if (!out->len)
		buf_addc(out, '0');
}

static void normal_add_packed(const struct value *v, struct buf *out)
{
	for (size_t i = 0; i < v->len; i++) {
		const struct sink_part *p = &v->parts[i];
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

/* Append a word with its special characters replaced by _. */
static void normal_add_word(struct buf *out, const char *word)
{
	for (; *word; word++)
		buf_addc(out, (unsigned char)*word <= ' ' || *word == 0x7f ||
			 strchr(SPECIAL, *word) ? '_' : *word);
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

		/* perf trace sets a filter with its own pid */
		if (isdigit(c) && compares_pid(bytes, i))
			for (; i + n < len && n < 9 && isdigit((unsigned char)bytes[i + n]); n++)
				pid = 10 * pid + bytes[i + n] - '0';
		if (n && pid) {
			normal_pid_text(s, pid, out);
			i += n - 1;
		} else if (c < ' ' || c == 0x7f) {
			buf_addf(out, "\\%03o", c);
		} else {
			if (strchr("*|\"\\", c))
				buf_addc(out, '\\');
			buf_addc(out, (char)c);
		}
	}
}

static void normal_add_bytes(const struct value *v, struct buf *out)
{
	buf_adds(out, "0x");
	for (size_t i = 0; i < v->len; i++)
		buf_addf(out, "%02x", (unsigned char)v->text[i]);
	if (v->cut)
		buf_adds(out, "...");
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
	struct normal_sink *s = normal_self(sink);
	struct buf *out = &s->draft->scratch;
	const char *name = v->kind == VALUE_ENUM ? xlat_name(v->xlat, v->number) : NULL;

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
		buf_addf(out, v->number ? "0x%llx" : "0", (unsigned long long)v->number);
		break;
	case VALUE_ADDR:
		normal_add_addr(s, v->number, out);
		break;
	case VALUE_FLAGS:
		normal_add_flags(v->xlat, v->number, out);
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
		normal_add_bytes(v, out);
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
	struct normal_sink *s = normal_self(sink);
	struct normal_draft *d = s->draft;
	struct draft_field *f = d->nfields ? &d->fields[d->nfields - 1] : NULL;
	const struct names *names = s->normal->names;
	const char *name = NULL, *field;

	if (!f || !s->in_attr || !s->is_number)
		return;
	field = buf_str(&f->key);
	if (strcmp(field, s->last))
		return;
	if (!strcmp(key, "pmu") && !strcmp(field, "type") && names->pmu)
		name = names->pmu(names, (uint32_t)s->number);
	else if (!strcmp(key, "event") && !strcmp(field, "config"))
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
