// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lines about calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/call_decode.h"
#include "core/abi/strings.h"
#include "core/abi/swap.h"
#include "core/lib/die.h"
#include "formats/dump/reader_internal.h"

/* Return a required member; set l->wrong if it is missing or out of range. */
static int64_t need_int(struct line *l, const char *key)
{
	int64_t v = 0;

	if (!dump_get_int(l->o, key, &v))
		l->wrong = key;
	return v;
}

static uint64_t need_uint(struct line *l, const char *key)
{
	uint64_t v = 0;

	if (!dump_get_uint(l->o, key, &v))
		l->wrong = key;
	return v;
}

static bool need_bool(struct line *l, const char *key)
{
	bool v = false;

	if (!dump_get_bool(l->o, key, &v))
		l->wrong = key;
	return v;
}

static pid_t need_pid(struct line *l, const char *key)
{
	int64_t v = need_int(l, key);

	if (v < -1 || v > INT32_MAX)
		l->wrong = key;
	return (pid_t)v;
}

static const char *need_string(struct line *l, const char *key)
{
	const char *v = dump_get_string(l->o, key);

	if (!v)
		l->wrong = key;
	return v;
}

struct call *reader_call_of(struct reader *r, pid_t tid)
{
	return map_get(&r->begun, (uint64_t)tid);
}

void reader_free_call(struct call *c)
{
	if (!c)
		return;
	call_free(c);
	free(c);
}

void reader_drop_call(struct reader *r, pid_t tid)
{
	reader_free_call(map_del(&r->begun, (uint64_t)tid));
}

/* Read the raw arguments.  Older dumps lack the upper half of a loff_t in 32-bit calls. */
static void read_raw(struct line *l, struct call *c)
{
	struct json_value *raw = dump_get_array(l->o, "raw"), *word;
	size_t i = 0;

	if (!raw || (raw->len != c->desc->nargs && raw->len != call_registers(c))) {
		l->wrong = "raw";
		return;
	}
	json_for_each(word, raw)
		if (!dump_hex(word, &c->args[i++]))
			l->wrong = "raw";
}

/* Read the copies of memory of one phase; a "call" line has both. */
static void read_memory(struct line *l, struct call *c, enum call_phase phase)
{
	struct json_value *list = dump_get_array(l->o, "memory"), *m;

	if (!list) {
		l->wrong = "memory";
		return;
	}
	json_for_each(m, list) {
		uint8_t *bytes;
		uint64_t addr, want;
		const char *at;
		size_t len;

		if (m->type != JSON_OBJECT ||
		    !(at = dump_get_string(m, "at")) || !dump_get_hex(m, "addr", &addr) ||
		    !dump_get_uint(m, "want", &want) ||
		    !dump_get_bytes(m, "hex", &bytes, &len)) {
			l->wrong = "memory";
			return;
		}
		if (!strcmp(at, "enter") == (phase == AT_SYSCALL_ENTER))
			call_add_capture(c, phase, addr, (uint32_t)want, bytes, (uint32_t)len);
	}
}

/* Read the effects of -e inject= and --as-kernel on the call. */
static void read_injection(struct line *l, struct inject *t)
{
	const char *because = dump_get_string(l->o, "because");
	const char *sent = dump_get_string(l->o, "injected_signal");

	dump_get_bool(l->o, "injected", &t->injected);
	dump_get_uint(l->o, "enter_delay_ns", &t->enter_delay_ns);
	dump_get_uint(l->o, "exit_delay_ns", &t->exit_delay_ns);
	if (because)
		snprintf(t->because, sizeof(t->because), "%s", because);
	if (sent && !(t->signal = signal_by_name(sent)))
		l->wrong = "injected_signal";
}

static struct call *reader_begin_call(struct line *l)
{
	const char *name = need_string(l, "call"), *arch = need_string(l, "arch");
	pid_t tid = need_pid(l, "tid");
	int64_t target;
	struct call *c;

	if (l->wrong)
		return NULL;
	c = xcalloc(1, sizeof(*c));
	c->desc = call_by_name(name);
	c->arch = arch_by_name(arch);
	c->tid = tid;
	c->pid = need_pid(l, "pid");
	if (dump_get_int(l->o, "target", &target) && target > 0 && target <= INT32_MAX)
		c->target = (pid_t)target;
	c->nr = need_uint(l, "nr");
	c->enter_ns = need_uint(l, "enter_ns");
	c->shown = need_bool(l, "shown");
	if (!c->desc)
		l->wrong = "call (unknown to this version)";
	else if (!c->arch)
		l->wrong = "arch (unknown to this version)";
	else
		read_raw(l, c);
	read_injection(l, &c->inject);
	read_memory(l, c, AT_SYSCALL_ENTER);
	if (!l->wrong && l->r->swapped)
		swap_call(c, AT_SYSCALL_ENTER, NULL);
	if (!l->wrong)
		return c;
	reader_free_call(c);
	return NULL;
}

static void reader_feed_stack(struct line *l, pid_t tid)
{
	struct json_value *list = dump_get_array(l->o, "stack"), *f;
	struct view_frame frames[VIEW_FRAMES];
	const char *why = NULL;
	size_t kept = 0;
	uint64_t line;

	if (!list || !l->r->session->stacks)
		return;
	json_for_each(f, list) {
		if (f->type != JSON_OBJECT || kept == VIEW_FRAMES)
			continue;
		if (dump_get_string(f, "why")) {
			why = dump_get_string(f, "why");
			continue;
		}
		frames[kept] = (struct view_frame){
			.module = dump_get_text(f, "module"),
			.symbol = dump_get_text(f, "symbol"),
			.file = dump_get_text(f, "file"),
		};
		dump_get_hex(f, "offset", &frames[kept].offset);
		dump_get_hex(f, "ip", &frames[kept].ip);
		dump_get_bool(f, "inlined", &frames[kept].inlined);
		if (dump_get_uint(f, "line", &line))
			frames[kept].line = (uint32_t)line;
		kept++;
	}
	session_stack(l->r->session, tid, frames, kept, why);
}

void reader_feed_enter(struct line *l)
{
	struct session *s = l->r->session;
	struct call *c = reader_begin_call(l), *before;

	if (!c)
		return;
	before = map_set(&l->r->begun, (uint64_t)c->tid, c);
	/* without -e trace= the dump decides */
	if (s->selection && s->selection->chosen)
		c->shown = c->shown && session_shows(s, c);
	session_enter(s, c);
	reader_free_call(before);
	reader_feed_stack(l, c->tid);
}

static void finish_call(struct line *l, struct call *c)
{
	uint64_t addr;
	int64_t error;

	c->returned = true;
	c->start_ns = need_uint(l, "start_ns");
	c->exit_ns = need_uint(l, "exit_ns");
	c->failed = dump_get_int(l->o, "errno", &error);
	dump_get_bool(l->o, "no_event", &c->no_event);
	if (c->failed) {
		c->ret = error;
		if (error < 1 || error > ERRNO_MAX)
			l->wrong = "errno (not an error number)";
	} else if (dump_get_hex(l->o, "ret", &addr)) {
		c->ret = (int64_t)addr;
	} else {
		c->ret = need_int(l, "ret");
	}
	if (!c->failed && call_result_kind(c) == RESULT_FD &&
	    (c->ret < 0 || c->ret > INT32_MAX))
		l->wrong = "ret (not a descriptor)";
	read_memory(l, c, AT_SYSCALL_EXIT);
	if (l->wrong)
		return;
	if (l->r->swapped)
		swap_call(c, AT_SYSCALL_EXIT, &l->r->session->names);
	session_exit(l->r->session, c);
	reader_drop_call(l->r, c->tid);
}

void reader_feed_exit(struct line *l)
{
	struct call *c = reader_call_of(l->r, need_pid(l, "tid"));

	if (c)
		finish_call(l, c);
	else
		l->wrong = "tid (its task is in no call)";
}

void reader_feed_call(struct line *l)
{
	struct call *c;

	reader_feed_enter(l);
	c = l->wrong ? NULL : reader_call_of(l->r, need_pid(l, "tid"));
	if (c)
		finish_call(l, c);
}
