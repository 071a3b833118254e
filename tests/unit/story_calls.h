/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls of a task 100 that tests make up, and the story that is told of them. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>
#include <poll.h>

#include "core/abi/when.h"
#include "explain/story.h"
#include "fake.h"
#include "xlat/constants.h"

static struct model *m;
static struct view *story;
static uint64_t now;	/* ns */
static uint64_t lasts;	/* ns, of each call */

static inline int setup(void **state)
{
	const struct activity a = { ACTIVITY_TASK, .task = { .tid = 100, .pid = 100 } };

	(void)state;
	now = lasts = 0;
	m = model_new(&fake_names, true);
	story = story_view_new(m, &fake_names, &arch_x86_64, KVER(6, 1, 0));
	model_born(m, &a.task);
	story->ops->on[a.kind](story, &a);
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	story->ops->free(story);
	model_free(m);
	return 0;
}

/* As the session would tell them. */
static inline void happens(struct call *c)
{
	c->enter_ns = now;
	story->ops->enter(story, c);
	model_enter(m, c);
	now = c->exit_ns = now + lasts;
	model_exit(m, c);
	story->ops->exit(story, c);
	call_free(c);
}

static inline void opened_in(int ret, const uint8_t attr[128], int32_t pid, int group)
{
	struct call c = {
		.desc = call_by_name("perf_event_open"), .arch = &arch_x86_64, .tid = 100,
		.pid = 100, .returned = true, .ret = ret < 0 ? -ret : ret, .failed = ret < 0,
		.args = { 0x1000, (uint64_t)(int64_t)pid, (uint64_t)-1, (uint64_t)(int64_t)group, 0 },
	};

	call_add_capture(&c, AT_SYSCALL_ENTER, 0x1000, 128, attr, 128);
	happens(&c);
}

static inline void opened(int ret, const uint8_t attr[128], int32_t pid)
{
	opened_in(ret, attr, pid, -1);
}

static inline void controlled(int fd, uint32_t request, uint64_t arg)
{
	happens(&(struct call){
		.desc = call_by_name("ioctl"), .arch = &arch_x86_64, .tid = 100, .pid = 100,
		.returned = true, .args = { (uint64_t)fd, request, arg },
	});
}

static inline void closed(int fd)
{
	happens(&(struct call){
		.desc = call_by_name("close"), .arch = &arch_x86_64, .tid = 100, .pid = 100,
		.returned = true, .args = { (uint64_t)fd },
	});
}

static inline void put(uint8_t *attr, size_t at, uint64_t v)
{
	memcpy(attr + at, &v, sizeof(v));
}

static inline void put_type(uint8_t *attr, uint32_t type)
{
	store_uint(attr, 4, type);
	store_uint(attr + 4, 4, 128);
}

static inline void read_of(int fd, const uint64_t *values, uint32_t n)
{
	struct call c = {
		.desc = call_by_name("read"), .arch = &arch_x86_64, .tid = 100, .pid = 100,
		.returned = true, .ret = 8 * n, .args = { (uint64_t)fd, 0x2000, 8 * n },
	};

	call_add_capture(&c, AT_SYSCALL_EXIT, 0x2000, 8 * n, values, 8 * n);
	happens(&c);
}

/* The whole as one line of words, for the caller to free. */
static inline char *told(unsigned int width, bool deep, bool kernel)
{
	const struct story_options o = {
		.deep = deep, .kernel = kernel, .sharers = "perf[12] (cycles and 3 more)",
		.held = "agent[13] (intel_pt//)", .held_errno = EBUSY,
	};
	struct buf out = { 0 };
	struct prose p;

	prose_init(&p, &out, width);
	story_write(story, &o, &p);
	prose_free(&p);
	return out.data;
}

static inline void has(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("no '%s' in:\n%s", words, text);
}

static inline void tells(bool deep, const char *words)
{
	char *text = told(0, deep, false);

	has(text, words);
	free(text);
}

static inline void called(const char *name, uint64_t a0, uint64_t a1, uint64_t a2, int error)
{
	struct call c = {
		.desc = call_by_name(name), .arch = &arch_x86_64, .tid = 100, .pid = 100,
		.returned = true, .ret = error, .failed = error, .args = { a0, a1, a2 },
	};

	happens(&c);
}

static inline void recorded(struct event *e, const uint8_t *bytes, size_t len)
{
	static const struct record_format format = { .sample_type = PERF_SAMPLE_TIME };
	const struct activity a = {
		ACTIVITY_RECORD, .record = {
			.tid = 100, .event = e, .bytes = bytes, .len = len, .sure = true, .ns = now,
			.format = &format,
		},
	};

	story->ops->on[a.kind](story, &a);
}

static inline void mapped(int fd, uint64_t at)
{
	happens(&(struct call){
		.desc = call_by_name("mmap"), .arch = &arch_x86_64, .tid = 100, .pid = 100,
		.returned = true, .ret = (int64_t)at,
		.args = { 0, 2 * 4096, 3, 1, (uint64_t)fd },
	});
}

/* Wait for records of fd 3, up to a time in ms, or that of ppoll; -1: it does not return. */
static inline void polled(int ret, uint64_t ms, const uint64_t *ppoll)
{
	static const struct pollfd fds = { 3, POLLIN, 0 }, got = { 3, POLLIN, POLLIN };
	struct call c = {
		.desc = call_by_name(ppoll ? "ppoll" : "poll"), .arch = &arch_x86_64, .tid = 100,
		.pid = 100, .returned = true, .ret = ret, .args = { 0x3000, 1, ppoll ? 0x4000 : ms },
	};

	call_add_capture(&c, AT_SYSCALL_ENTER, 0x3000, 8, &fds, 8);
	if (ppoll)
		call_add_capture(&c, AT_SYSCALL_ENTER, 0x4000, 16, ppoll, 16);
	call_add_capture(&c, AT_SYSCALL_EXIT, 0x3000, 8, &got, 8);
	if (ret >= 0) {
		happens(&c);
		return;
	}
	c.enter_ns = now;
	story->ops->enter(story, &c);
	call_free(&c);
}
