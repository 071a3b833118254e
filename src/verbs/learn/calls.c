// SPDX-License-Identifier: LGPL-2.1-or-later
/* The calls of experiments, and the lines that show them. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/abi/strings.h"
#include "engine/rings/writer.h"
#include "core/abi/layout_emit.h"
#include "core/host/event_syntax.h"
#include "verbs/learn/learn.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "formats/text/text.h"

/* Lines -------------------------------------------------------------------------------- */

/* Append what the session has written since the last call. */
static void take_lines(struct learn *l)
{
	char part[4096];
	ssize_t n;

	output_flush(l->own_session.views.text);
	while ((n = pread(l->trace, part, sizeof(part), l->taken)) > 0) {
		buf_add(&l->lines, part, (size_t)n);
		l->taken += n;
	}
}

struct buf *learn_lines(struct learn *l)
{
	take_lines(l);
	return &l->lines;
}

void learn_say(struct learn *l, const char *fmt, ...)
{
	struct buf *lines = learn_lines(l), text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	text_escaped(lines, buf_str(&text)); /* it may contain a path */
	buf_addc(lines, '\n');
	buf_free(&text);
}

bool learn_fail(struct learn *l, const char *fmt, ...)
{
	va_list ap;

	buf_reset(&l->why);
	va_start(ap, fmt);
	buf_vaddf(&l->why, fmt, ap);
	va_end(ap);
	return false;
}

bool learn_run_verb(struct learn *l, const struct verb *v, const char *const *words)
{
	int fd = memfd_create("lesson", MFD_CLOEXEC), argc = 0;
	char path[32], part[4096], *argv[16];
	ssize_t n;

	if (fd < 0)
		return learn_fail(l, "cannot create a temporary file");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	argv[argc++] = (char *)words[0];
	argv[argc++] = (char *)"-o";
	argv[argc++] = path;
	while (words[argc - 2] && argc < 15) {
		argv[argc] = (char *)words[argc - 2];
		argc++;
	}
	argv[argc] = NULL;
	verb_run(v, NULL, argc, argv);
	lseek(fd, 0, SEEK_SET);
	learn_lines(l);
	while ((n = read(fd, part, sizeof(part))) > 0)
		buf_add(&l->lines, part, (size_t)n);
	close(fd);
	return true;
}

/* Calls -------------------------------------------------------------------------------- */

int learn_try_open(struct learn *l, const char *event, pid_t pid, int cpu, int group)
{
	struct event_list list = { 0 };
	int fd;

	if (!event_list_add(&list, l->own_session.machine.host, event))
		die("lesson %s: '%s': %s", l->lesson->name, event, list.why);
	fd = own_call_open(&l->own_session.own_calls, &list.events[0].attr, pid, cpu, group,
			   PERF_FLAG_FD_CLOEXEC);
	event_list_free(&list);
	return fd;
}

bool learn_open(struct learn *l, unsigned int slot, const char *event, pid_t pid, int cpu,
		int group)
{
	int fd = learn_try_open(l, event, pid, cpu, group);

	l->fds[slot] = fd;
	return fd >= 0 || learn_fail(l, "cannot open '%s': %s; pevtrace why -e '%s' finds the "
				     "cause", event, learn_error(fd), event);
}

void learn_set_open_error(struct learn *l, const char *name, const char *event, pid_t pid,
			  int cpu, int group)
{
	int fd = learn_try_open(l, event, pid, cpu, group);

	if (fd >= 0)
		learn_close(l, fd);
	learn_set_error(l, name, fd);
}

int64_t learn_last_result(const struct learn *l)
{
	return l->own_session.own_calls.call.ret;
}

bool learn_read(struct learn *l, int fd, uint64_t *count)
{
	uint64_t words[64] = { 0 };
	ssize_t n = own_call_read(&l->own_session.own_calls, fd, words, sizeof(words));

	*count = words[0];
	return n > 0 || learn_fail(l, "cannot read the event: %s",
				   n ? learn_error(n) : "it is in error state");
}

int64_t learn_ioctl(struct learn *l, int fd, uint32_t request, uint64_t arg)
{
	return own_call_ioctl(&l->own_session.own_calls, fd, request, arg);
}

void learn_close(struct learn *l, int fd)
{
	own_call_close(&l->own_session.own_calls, fd);
}

void learn_close_slot(struct learn *l, unsigned int slot)
{
	learn_close(l, l->fds[slot]);
	l->fds[slot] = -1;
}

/* Rings -------------------------------------------------------------------------------- */

static void show_record(void *ctx, const struct stream_ring *from, const uint8_t *bytes,
			size_t len)
{
	struct learn *l = ctx;
	struct session *s = &l->own_session.session;
	uint64_t at = (uintptr_t)from->at;
	struct ring *ring = model_ring_at(s->model, gettid(), at, at + from->length);
	struct learn_record record = { .bytes = bytes, .len = len };
	struct record_format format;
	struct view_record shown;

	if (!ring)
		return;
	writer_find(s->model, ring, bytes, len, &format, &shown);
	record.event = shown.event;
	record.format = &format;
	record.type = (uint32_t)load_uint(bytes, 4);
	if (!l->each || l->each(l->each_ctx, &record))
		session_record(s, gettid(), clock_ns(), &shown);
	else
		model_recorded(ring, shown.event, bytes, len);
}

static const struct stream_ops stream_ops = { .record = show_record };

bool learn_map(struct learn *l, int fd, size_t pages)
{
	size_t length = (1 + pages) * (size_t)sysconf(_SC_PAGESIZE);
	struct stream_ring ring = { .fd = fd, .length = length, .cpu = -1 };
	int error = 0;

	l->stream.ops = &stream_ops;
	l->stream.ctx = l;
	ring.at = own_call_map(&l->own_session.own_calls, fd, length, true, &error);
	if (!ring.at)
		return learn_fail(l, "cannot map the ring: %s; raise ulimit -l or "
				  "kernel.perf_event_mlock_kb", error_name(error));
	stream_add(&l->stream, &ring);
	return true;
}

void learn_look(struct learn *l, learn_record_fn *each, void *ctx)
{
	l->each = each;
	l->each_ctx = ctx;
	stream_look(&l->stream, UINT64_MAX);
}

bool learn_first(void *left, const struct learn_record *r)
{
	(void)r;
	return (*(int *)left)-- > 0;
}

bool learn_count(void *n, const struct learn_record *r)
{
	(void)r;
	++*(unsigned int *)n;
	return false;
}

void learn_unmap(struct learn *l)
{
	stream_close(&l->stream, &l->own_session.own_calls);
}

void learn_page(struct learn *l, const struct stream_ring *r, const unsigned int *members,
		size_t n)
{
	const struct walk w = {
		.layout = &layout_perf_event_mmap_page, .bytes = r->at, .len = RING_PAGE_BYTES,
	};
	struct buf text = { 0 };
	struct text_sink sink;

	text_sink_init(&sink, &text);
	sink.sink.full = true;
	text_sink_top(&sink, true, NULL);
	for (size_t i = 0; i < n; i++)
		layout_emit_member(&w, members[i], &sink.sink);
	learn_say(l, "%s", buf_str(&text));
	buf_free(&text);
}
