// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/read-formats.lesson */
#include "core/abi/layout.h"
#include "verbs/learn/learn.h"
#include "lessons/lessons.h"

enum { PAGES = 10, SINGLE = 0, LEADER, MEMBER, SMALL = 16 };

#define FORMAT "PERF_FORMAT_TOTAL_TIME_ENABLED|PERF_FORMAT_TOTAL_TIME_RUNNING|PERF_FORMAT_ID"

bool learn_read_formats_prepare(struct learn *l)
{
	learn_set(l, "buffer", "%d", SMALL);
	return learn_start_child(l, child_touch, PAGES);
}

bool learn_read_formats_single(struct learn *l)
{
	uint64_t count;

	if (!learn_open(l, SINGLE, "page-faults:u,read_format=" FORMAT, l->child_pid, -1, -1) ||
	    !learn_run_child(l) || !learn_read(l, l->fds[SINGLE], &count))
		return false;
	learn_set_number(l, "single", (uint64_t)learn_last_result(l));
	return true;
}

bool learn_read_formats_bytes(struct learn *l)
{
	static const char *const names[] = { "value", "time_enabled", "time_running", "id" };
	const struct call *c = &l->own_session.own_calls.call;
	const uint8_t *bytes;
	size_t len;

	bytes = call_bytes(c, AT_SYSCALL_EXIT, c->args[1], (size_t)c->ret, &len);
	for (size_t at = 0; bytes && at + 8 <= len; at += 8) {
		struct buf line = { 0 };

		for (size_t i = 0; i < 8; i++)
			buf_addf(&line, "%02x ", bytes[at + i]);
		learn_say(l, "%2zu: %s  %-13s %llu", at, buf_str(&line), names[at / 8 % 4],
			  (unsigned long long)load_uint(bytes + at, 8));
		buf_free(&line);
	}
	return true;
}

bool learn_read_formats_group(struct learn *l)
{
	uint64_t nr;

	if (!learn_open(l, LEADER, "page-faults:u,read_format=GROUP|ID", l->child_pid, -1, -1) ||
	    !learn_open(l, MEMBER, "task-clock:u,read_format=GROUP|ID", l->child_pid, -1,
			l->fds[LEADER]) ||
	    !learn_run_child(l) || !learn_read(l, l->fds[LEADER], &nr))
		return false;
	learn_set_number(l, "group", (uint64_t)learn_last_result(l));
	return true;
}

bool learn_read_formats_id(struct learn *l)
{
	uint64_t id = 0;

	learn_ioctl(l, l->fds[MEMBER], PERF_EVENT_IOC_ID, (uintptr_t)&id);
	learn_set_number(l, "id", id);
	return true;
}

bool learn_read_formats_small(struct learn *l)
{
	uint64_t words[SMALL / 8];
	ssize_t n = own_call_read(&l->own_session.own_calls, l->fds[LEADER], words, SMALL);

	learn_set_error(l, "small", n);
	return true;
}
