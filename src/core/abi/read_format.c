// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/read_format.h"

#include "core/abi/layout.h"
#include "xlat/constants.h"

/* A position in the bytes; decoding stops at the end. */
struct reader {
	const uint8_t *p, *end;
};

static bool read_take(struct reader *r, const char *key, uint64_t *v, struct sink *s)
{
	if (r->end - r->p < 8)
		return false;
	*v = load_uint(r->p, 8);
	r->p += 8;
	sink_uint(s, key, *v);
	return true;
}

struct times {
	uint64_t enabled, running;
};

static bool read_take_times(struct reader *r, uint64_t format, struct times *t, struct sink *s)
{
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED &&
	    !read_take(r, "time_enabled", &t->enabled, s))
		return false;
	return !(format & PERF_FORMAT_TOTAL_TIME_RUNNING) ||
	       read_take(r, "time_running", &t->running, s);
}

static bool read_take_id_lost(struct reader *r, uint64_t format, const struct names *n,
			      struct sink *s)
{
	const char *name;
	uint64_t v;

	if (format & PERF_FORMAT_ID) {
		if (!read_take(r, "id", &v, s))
			return false;
		name = n && n->event ? n->event(n, v) : NULL;
		if (name)
			sink_note(s, "event", name);
	}
	return !(format & PERF_FORMAT_LOST) || read_take(r, "lost", &v, s);
}

/* Note the scaled count of a multiplexed event. */
static void note_scaled(uint64_t v, const struct times *t, struct sink *s)
{
	double part = t->enabled ? (double)t->running / (double)t->enabled : 1;

	if (t->running >= t->enabled)
		return;
	if (!t->running)
		sink_note(s, "scaled", "never ran: not counted");
	else
		sink_notef(s, "scaled", "ran %.2f%%: scaled %.0f", 100 * part,
			   (double)v / part);
}

static void read_emit_group(struct reader *r, uint64_t format, const struct names *n,
			    struct sink *s)
{
	bool timed = format & PERF_FORMAT_TOTAL_TIME_ENABLED &&
		     format & PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct times t = { 0 };
	uint64_t nr, v;

	if (!read_take(r, "nr", &nr, s) || !read_take_times(r, format, &t, s))
		return;
	sink_begin(s, "values", SINK_ARRAY);
	for (uint64_t i = 0; i < nr && r->end - r->p >= 8; i++) {
		sink_begin(s, NULL, SINK_OBJECT);
		if (read_take(r, "value", &v, s)) {
			if (timed)
				note_scaled(v, &t, s);
			read_take_id_lost(r, format, n, s);
		}
		sink_end(s);
	}
	sink_end(s);
}

static void read_emit_single(struct reader *r, uint64_t format, const struct names *n,
			     struct sink *s)
{
	struct times t = { 0 };
	uint64_t v;

	if (!read_take(r, "value", &v, s) || !read_take_times(r, format, &t, s))
		return;
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED &&
	    format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		note_scaled(v, &t, s);
	read_take_id_lost(r, format, n, s);
}

void read_format_emit(const uint8_t *bytes, size_t len, uint64_t read_format,
		      const char *key, const struct names *n, struct sink *s)
{
	struct reader r = { bytes, bytes + len };

	sink_begin(s, key, SINK_OBJECT);
	if (read_format & PERF_FORMAT_GROUP)
		read_emit_group(&r, read_format, n, s);
	else
		read_emit_single(&r, read_format, n, s);
	if (r.p < r.end)
		sink_bytes(s, "rest", r.p, (size_t)(r.end - r.p), false);
	sink_end(s);
}

static bool read_next(struct reader *r, bool wanted, uint64_t *v)
{
	if (!wanted)
		return true;
	if (r->end - r->p < 8)
		return false;
	*v = load_uint(r->p, 8);
	r->p += 8;
	return true;
}

void read_format_each(const uint8_t *bytes, size_t len, uint64_t read_format,
		      void (*hook)(void *ctx, const struct read_value *v),
		      void *ctx)
{
	bool enabled = read_format & PERF_FORMAT_TOTAL_TIME_ENABLED;
	bool running = read_format & PERF_FORMAT_TOTAL_TIME_RUNNING;
	bool group = read_format & PERF_FORMAT_GROUP;
	struct read_value v = {
		.timed = enabled && running,
		.has_id = read_format & PERF_FORMAT_ID,
		.has_lost = read_format & PERF_FORMAT_LOST,
	};
	struct reader r = { bytes, bytes + len };
	uint64_t nr = 1;

	if (!read_next(&r, group, &nr))
		return;
	/* a group has its times first, a single event its value */
	if (group && (!read_next(&r, enabled, &v.enabled) || !read_next(&r, running, &v.running)))
		return;
	for (; v.index < nr && read_next(&r, true, &v.value); v.index++) {
		if (!group && (!read_next(&r, enabled, &v.enabled) ||
			       !read_next(&r, running, &v.running)))
			return;
		if (!read_next(&r, v.has_id, &v.id) || !read_next(&r, v.has_lost, &v.lost))
			return;
		hook(ctx, &v);
	}
}
