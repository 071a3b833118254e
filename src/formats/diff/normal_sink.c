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

static void normal_put(struct normal_sink *s, const char *key, const char *value)
{
	draft_add(s->draft, path(s, key), value);
	s->is_number = false;
}

/* Return the empty buffer for a value. */
static struct buf *begin_value(struct sink *sink)
{
	struct buf *b = &normal_self(sink)->draft->scratch;

	buf_reset(b);
	return b;
}

static void normal_put_value(struct sink *sink, const char *key)
{
	normal_put(normal_self(sink), key, buf_str(&normal_self(sink)->draft->scratch));
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

static void normal_put_uint(struct sink *sink, const char *key, uint64_t v)
{
	struct normal_sink *s = normal_self(sink);

	if (!key && gives_ids(s)) {
		normal_put(s, key, "id");
		return;
	}
	/* BPF_TASK_FD_QUERY: a number of another process, and the kernel's answer */
	if (key && s->call->desc->class == CLASS_BPF &&
	    (!strcmp(key, "fd") || !strcmp(key, "prog_id"))) {
		normal_put(s, key, *key == 'f' ? "fd" : "id");
		return;
	}
	buf_addu(begin_value(sink), v);
	normal_put_value(sink, key);
	s->is_number = true;
	s->number = v;
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

static void normal_put_sint(struct sink *sink, const char *key, int64_t v)
{
	struct normal_sink *s = normal_self(sink);
	const struct arg_desc *arg = argument(s, key);
	struct buf *text = begin_value(sink);

	if (arg && arg->kind == ARG_EVENT_PID && v == -1)
		buf_adds(text, "every_task");
	else if (is_pid(s, key))
		normal_pid_text(s, arg && arg->kind == ARG_EVENT_PID ? call_target(s->call) : v,
				text);
	else
		buf_addf(text, "%lld", (long long)v);
	normal_put_value(sink, key);
}

static void normal_put_hex(struct sink *sink, const char *key, uint64_t v)
{
	if (v)
		buf_addx(begin_value(sink), v);
	else
		buf_addc(begin_value(sink), '0');
	normal_put_value(sink, key);
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
static void put_addr(struct sink *sink, const char *key, uint64_t v)
{
	struct normal_sink *s = normal_self(sink);
	struct buf *text = begin_value(sink);
	uintptr_t n;

	if (!v) {
		buf_adds(text, "NULL");
	} else if (s->depth) {
		n = (uintptr_t)map_get(&s->task->addresses, v);
		if (!n) {
			n = ++s->task->addrs;
			map_set(&s->task->addresses, v, (void *)n);
		}
		buf_addf(text, "addr%zu", (size_t)n);
	} else if (s->call->desc->class != CLASS_MEMORY || !ring_text(s, v, text)) {
		buf_adds(text, "addr");
	}
	normal_put_value(sink, key);
}

static void normal_put_enum(struct sink *sink, const char *key, const struct xlat *x, uint64_t v)
{
	const char *name = xlat_name(x, v);

	if (name)
		normal_put(normal_self(sink), key, name);
	else if (xlat_negative(x, v))
		normal_put_sint(sink, key, (int64_t)v);
	else
		normal_put_uint(sink, key, v);
}

/* Join flags with +, since | separates alternatives in expectations. */
static void normal_put_flags(struct sink *sink, const char *key, const struct xlat *x, uint64_t v)
{
	const struct xlat_entry *e;
	struct buf *text = begin_value(sink);
	uint64_t rest = v;
	size_t at = 0;

	while ((e = xlat_next_flag(x, &rest, &at)))
		buf_addf(text, "%s%s", text->len ? "+" : "", e->name);
	if (rest)
		buf_addf(text, "%s0x%llx", text->len ? "+" : "", (unsigned long long)rest);
	if (!text->len)
		buf_addc(text, '0');
	normal_put_value(sink, key);
}

static void normal_put_packed(struct sink *sink, const char *key, uint64_t raw,
			      const struct sink_part *parts, size_t n)
{
	struct buf *text = begin_value(sink);

	for (size_t i = 0; i < n; i++) {
		const char *name = parts[i].xlat ?
			xlat_name(parts[i].xlat, parts[i].value) : NULL;

		if (text->len)
			buf_addc(text, '+');
		if (name)
			buf_adds(text, name);
		else
			buf_addf(text, "0x%llx",
				 (unsigned long long)(parts[i].value << parts[i].shift));
	}
	if (!text->len)
		buf_addf(text, "0x%llx", (unsigned long long)raw);
	normal_put_value(sink, key);
}

/* Append a word with its special characters replaced by _. */
static void normal_add_word(struct buf *out, const char *word)
{
	for (; *word; word++)
		buf_addc(out, (unsigned char)*word <= ' ' || *word == 0x7f ||
			 strchr(SPECIAL, *word) ? '_' : *word);
}

static void normal_put_symbol(struct sink *sink, const char *key, const char *word)
{
	struct buf *text = begin_value(sink);

	normal_add_word(text, word);
	normal_put_value(sink, key);
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

static void normal_put_string(struct sink *sink, const char *key, const char *bytes,
			      size_t len, bool cut)
{
	struct buf *text = begin_value(sink);

	buf_addc(text, '"');
	normal_add_quoted(normal_self(sink), bytes, len, text);
	buf_adds(text, cut ? "\"..." : "\"");
	normal_put_value(sink, key);
}

static void normal_put_bytes(struct sink *sink, const char *key, const void *bytes, size_t len,
			     bool cut)
{
	const uint8_t *p = bytes;
	struct buf *text = begin_value(sink);

	buf_adds(text, "0x");
	for (size_t i = 0; i < len; i++)
		buf_addf(text, "%02x", p[i]);
	if (cut)
		buf_adds(text, "...");
	normal_put_value(sink, key);
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

static void normal_put_fd(struct sink *sink, const char *key, int64_t fd, const char *label)
{
	struct normal_sink *s = normal_self(sink);
	const struct arg_desc *arg = argument(s, key);
	struct buf *text = begin_value(sink);

	if (arg && arg->kind == ARG_EVENT_PID) {
		buf_adds(text, "cgroup:");
		normal_add_word(text, label ? label : "?");
	} else {
		normal_fd_text(s, fd, text);
	}
	normal_put_value(sink, key);
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
	.begin = normal_begin,
	.end = normal_end,
	.uint = normal_put_uint,
	.sint = normal_put_sint,
	.hex = normal_put_hex,
	.addr = put_addr,
	.enumeration = normal_put_enum,
	.flags = normal_put_flags,
	.packed = normal_put_packed,
	.symbol = normal_put_symbol,
	.string = normal_put_string,
	.bytes = normal_put_bytes,
	.fd = normal_put_fd,
	.note = note,
};

void normal_sink_init(struct normal_sink *s, struct normal *n, struct normal_task *t,
		      struct normal_draft *d, const struct call *c)
{
	*s = (struct normal_sink){
		.sink = { .ops = &normal_sink_ops, .max_string = 65536 },
		.normal = n, .task = t, .draft = d, .call = c,
	};
}
