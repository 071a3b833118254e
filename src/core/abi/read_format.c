// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/read_format.h"

#include "core/abi/layout.h"
#include "xlat/constants.h"

/* A position in the bytes; decoding stops at the end. */
struct reader {
	const uint8_t *p, *end;
};

/* Read a number that the format has, and write it to s unless that is NULL. */
static bool read_take(struct reader *r, bool present, const char *key, uint64_t *v, struct sink *s)
{
	if (!present)
		return true;
	if (r->end - r->p < 8)
		return false;
	*v = load_uint(r->p, 8);
	r->p += 8;
	if (s)
		sink_uint(s, key, *v);
	return true;
}

static bool read_take_times(struct reader *r, uint64_t format, struct read_value *v, struct sink *s)
{
	return read_take(r, format & PERF_FORMAT_TOTAL_TIME_ENABLED, "time_enabled",
			 &v->enabled, s) &&
	       read_take(r, format & PERF_FORMAT_TOTAL_TIME_RUNNING, "time_running",
			 &v->running, s);
}

static void read_emit_id_lost(struct reader *r, uint64_t format, const struct names *n,
			      struct sink *s)
{
	const char *name;
	uint64_t v;

	if (!read_take(r, format & PERF_FORMAT_ID, "id", &v, s))
		return;
	name = format & PERF_FORMAT_ID && n && n->event ? n->event(n, v) : NULL;
	if (name)
		sink_note(s, "event", name);
	read_take(r, format & PERF_FORMAT_LOST, "lost", &v, s);
}

/* Note the scaled count of a multiplexed event. */
static void note_scaled(const struct read_value *t, struct sink *s)
{
	double part = t->enabled ? (double)t->running / (double)t->enabled : 1;

	if (t->running >= t->enabled)
		return;
	if (!t->running)
		sink_note(s, "scaled", "never ran: not counted");
	else
		sink_notef(s, "scaled", "ran %.2f%%: scaled %.0f", 100 * part,
			   (double)t->value / part);
}

static void read_emit_group(struct reader *r, uint64_t format, const struct names *n,
			    struct sink *s)
{
	bool timed = format & PERF_FORMAT_TOTAL_TIME_ENABLED &&
		     format & PERF_FORMAT_TOTAL_TIME_RUNNING;
	struct read_value t = { 0 };
	uint64_t nr;

	if (!read_take(r, true, "nr", &nr, s) || !read_take_times(r, format, &t, s))
		return;
	sink_begin(s, "values", SINK_ARRAY);
	for (uint64_t i = 0; i < nr && r->end - r->p >= 8; i++) {
		sink_begin(s, NULL, SINK_OBJECT);
		if (read_take(r, true, "value", &t.value, s)) {
			if (timed)
				note_scaled(&t, s);
			read_emit_id_lost(r, format, n, s);
		}
		sink_end(s);
	}
	sink_end(s);
}

void read_format_emit(const uint8_t *bytes, size_t len, uint64_t read_format,
		      const char *key, const struct names *n, struct sink *s)
{
	struct reader r = { bytes, bytes + len };
	struct read_value v = { 0 };

	sink_begin(s, key, SINK_OBJECT);
	if (read_format & PERF_FORMAT_GROUP) {
		read_emit_group(&r, read_format, n, s);
	} else if (read_take(&r, true, "value", &v.value, s) &&
		   read_take_times(&r, read_format, &v, s)) {
		if (read_format & PERF_FORMAT_TOTAL_TIME_ENABLED &&
		    read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
			note_scaled(&v, s);
		read_emit_id_lost(&r, read_format, n, s);
	}
	if (r.p < r.end)
		sink_bytes(s, "rest", r.p, (size_t)(r.end - r.p), false);
	sink_end(s);
}

void read_format_each(const uint8_t *bytes, size_t len, uint64_t read_format,
		      void (*hook)(void *ctx, const struct read_value *v),
		      void *ctx)
{
	bool group = read_format & PERF_FORMAT_GROUP;
	struct read_value v = {
		.timed = read_format & PERF_FORMAT_TOTAL_TIME_ENABLED &&
			 read_format & PERF_FORMAT_TOTAL_TIME_RUNNING,
		.has_id = read_format & PERF_FORMAT_ID,
		.has_lost = read_format & PERF_FORMAT_LOST,
	};
	struct reader r = { bytes, bytes + len };
	uint64_t nr = 1;

	/* a group has its times first, a single event its value */
	if (group && (!read_take(&r, true, NULL, &nr, NULL) ||
		      !read_take_times(&r, read_format, &v, NULL)))
		return;
	for (; v.index < nr && read_take(&r, true, NULL, &v.value, NULL); v.index++) {
		if ((!group && !read_take_times(&r, read_format, &v, NULL)) ||
		    !read_take(&r, v.has_id, NULL, &v.id, NULL) ||
		    !read_take(&r, v.has_lost, NULL, &v.lost, NULL))
			return;
		hook(ctx, &v);
	}
}
