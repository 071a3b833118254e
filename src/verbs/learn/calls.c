// SPDX-License-Identifier: LGPL-2.1-or-later
/* The lines that show the calls and records of experiments. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/abi/layout_emit.h"
#include "core/abi/strings.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "engine/rings/writer.h"
#include "formats/text/text.h"
#include "verbs/learn/learn.h"

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
	struct activity shown = { .kind = ACTIVITY_RECORD };

	if (!ring)
		return;
	writer_find(s->model, ring, bytes, len, &format, &shown.record);
	record.event = shown.record.event;
	record.format = &format;
	record.type = (uint32_t)load_uint(bytes, 4);
	shown.record.tid = gettid();
	shown.record.ns = clock_ns();
	if (!l->each || l->each(l->each_ctx, &record))
		session_feed(s, &shown);
	else
		model_recorded(ring, shown.record.event, bytes, len);
}

static const struct stream_ops stream_ops = { .record = show_record };

void learn_look(struct learn *l, struct step_event *e, learn_record_fn *each, void *ctx)
{
	struct stream stream = { .ops = &stream_ops, .ctx = l };

	l->each = each;
	l->each_ctx = ctx;
	stream_add(&stream, &(struct stream_ring){
		.fd = e->fd, .at = e->ring, .length = e->ring_len, .cpu = -1,
		.seen = e->shown,
	});
	stream_look(&stream, UINT64_MAX);
	e->shown = stream.rings[0].seen;
	stream_free(&stream);
}

bool learn_first(void *left, const struct learn_record *r)
{
	(void)r;
	return (*(int *)left)-- > 0;
}

void learn_page(struct learn *l, const struct step_event *e, const char *const *members, size_t n)
{
	const struct walk w = {
		.layout = &layout_perf_event_mmap_page, .bytes = e->ring, .len = RING_PAGE_BYTES,
	};
	struct buf text = { 0 };
	struct text_sink sink;

	text_sink_init(&sink, &text);
	sink.sink.full = true;
	text_sink_top(&sink, true, NULL);
	for (size_t i = 0; i < n; i++)
		for (unsigned int m = 0; m < w.layout->n; m++)
			if (!strcmp(w.layout->fields[m].name, members[i]))
				layout_emit_member(&w, m, &sink.sink);
	learn_say(l, "%s", buf_str(&text));
	buf_free(&text);
}
