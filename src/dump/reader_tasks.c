// SPDX-License-Identifier: LGPL-2.1-or-later
/* Lines about tasks, and about events and rings apart from calls. */
#include <limits.h>
#include <string.h>

#include "dump/reader_internal.h"

/* Tasks --------------------------------------------------------------------------- */

void reader_tell_task(struct line *l)
{
	const struct birth b = {
		.tid = need_pid(l, "tid"), .pid = need_pid(l, "pid"),
		.parent = need_pid(l, "parent"), .attached = need_bool(l, "attached"),
		.shares_files = need_bool(l, "shares_files"),
		.shares_memory = need_bool(l, "shares_memory"),
	};
	uint64_t ns = need_uint(l, "ns");

	if (!l->wrong)
		l->r->ops->born(l->r->ctx, &b, ns);
}

void reader_tell_found(struct line *l)
{
	pid_t tid = need_pid(l, "tid");
	int64_t fd = need_int(l, "fd");
	bool cloexec = need_bool(l, "cloexec");

	if (fd < 0 || fd > INT32_MAX)
		l->wrong = "fd";
	if (!l->wrong)
		l->r->ops->found(l->r->ctx, tid, (int)fd, cloexec);
}

void reader_tell_found_ring(struct line *l)
{
	pid_t tid = need_pid(l, "tid");
	uint64_t start = 0, end = 0;

	if (!dump_get_hex(l->o, "start", &start) || !dump_get_hex(l->o, "end", &end) ||
	    start >= end)
		l->wrong = "start or end";
	if (!l->wrong && l->r->ops->found_ring)
		l->r->ops->found_ring(l->r->ctx, tid, start, end);
}

void reader_tell_comm(struct line *l)
{
	pid_t tid = need_pid(l, "tid");
	const char *comm = dump_get_text(l->o, "comm");

	if (!comm)
		l->wrong = "comm";
	if (!l->wrong && l->r->ops->comm)
		l->r->ops->comm(l->r->ctx, tid, comm);
}

void reader_tell_exec(struct line *l)
{
	pid_t tid = need_pid(l, "tid"), former = need_pid(l, "former");
	uint64_t ns = need_uint(l, "ns");
	struct call *c, *before = NULL;

	if (l->wrong)
		return;
	c = former == tid ? NULL : map_del(&l->r->begun, (uint64_t)former);
	if (c) {
		c->tid = tid;
		before = map_set(&l->r->begun, (uint64_t)tid, c);
	}
	l->r->ops->execed(l->r->ctx, tid, former, ns, dump_get_text(l->o, "exe"));
	reader_free_call(before);
}

void reader_tell_gone(struct line *l)
{
	const char *how = need_string(l, "how");
	pid_t tid = need_pid(l, "tid");
	uint64_t ns = need_uint(l, "ns");
	int64_t status = 0;
	enum view_end end = END_EXIT;

	if (l->wrong)
		return;
	if (!strcmp(how, "detached"))
		end = END_DETACHED;
	else if (!strcmp(how, "superseded"))
		end = END_SUPERSEDED;
	else if (!strcmp(how, "exit"))
		status = need_int(l, "status");
	else
		l->wrong = "how";
	if (status < 0 || status > 0xffff)
		l->wrong = "status";
	if (l->wrong)
		return;
	l->r->ops->gone(l->r->ctx, tid, ns, end, (int)status, reader_call_of(l->r, tid));
	reader_drop_call(l->r, tid);
}

void reader_tell_signal(struct line *l)
{
	pid_t tid = need_pid(l, "tid");
	uint64_t ns = need_uint(l, "ns");
	const uint8_t *bytes;
	siginfo_t info;
	size_t len;

	if (!dump_get_bytes(l->o, "hex", &bytes, &len)) {
		l->wrong = "hex";
		return;
	}
	memset(&info, 0, sizeof(info));
	memcpy(&info, bytes, len < sizeof(info) ? len : sizeof(info));
	if (!l->wrong && l->r->ops->signalled)
		l->r->ops->signalled(l->r->ctx, tid, ns, &info);
}

/* Rings --------------------------------------------------------------------------- */

void reader_tell_record(struct line *l)
{
	pid_t tid = need_pid(l, "tid");
	uint64_t ns = need_uint(l, "ns");
	unsigned int ring = need_number(l, "ring"), event = need_number(l, "event");
	bool sure = need_bool(l, "sure");
	const uint8_t *bytes;
	size_t len;

	if (!dump_get_bytes(l->o, "hex", &bytes, &len)) {
		l->wrong = "hex";
		return;
	}
	if (!l->wrong && l->r->ops->record)
		l->r->ops->record(l->r->ctx, tid, ns, ring, event, sure, bytes, len);
}

void reader_tell_look(struct line *l)
{
	pid_t tid = need_pid(l, "tid");
	uint64_t ns = need_uint(l, "ns"), missed = need_uint(l, "missed");
	unsigned int ring = need_number(l, "ring");
	bool torn = need_bool(l, "torn");
	const uint8_t *page;
	int64_t error = 0;
	size_t len;

	if (!dump_get_bytes(l->o, "page", &page, &len)) {
		l->wrong = "page";
		return;
	}
	/* dumps from before it was told have none */
	if (dump_get_int(l->o, "error", &error) && (error < 0 || error > INT_MAX))
		l->wrong = "error";
	if (!l->wrong && l->r->ops->looked)
		l->r->ops->looked(l->r->ctx, tid, ns, ring, missed, torn, page, len,
				 (int)error);
}

void reader_tell_id(struct line *l)
{
	unsigned int event = need_number(l, "event");
	uint64_t id = need_uint(l, "id");

	if (!l->wrong && l->r->ops->learnt_id)
		l->r->ops->learnt_id(l->r->ctx, event, id);
}

void reader_tell_count(struct line *l)
{
	unsigned int event = need_number(l, "event");
	uint64_t id = need_uint(l, "id");
	struct event_count count = { .known = true, .value = need_uint(l, "count") };
	uint64_t format;
	bool known = dump_get_hex(l->o, "read_format", &format);

	count.timed = dump_get_uint(l->o, "time_enabled", &count.enabled) &&
		      dump_get_uint(l->o, "time_running", &count.running);
	if (!l->wrong && l->r->ops->count)
		l->r->ops->count(l->r->ctx, event, id, &count,
				 known ? &format : NULL);
}
