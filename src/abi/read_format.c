// SPDX-License-Identifier: LGPL-2.1-or-later
#include "abi/read_format.h"

#include <stdbool.h>

#include "abi/layout.h"
#include "xlat/constants.h"

/* A position in the bytes; reading past the end stops everything behind. */
struct reader {
	const uint8_t *p, *end;
};

static bool take(struct reader *r, const char *key, uint64_t *v, struct sink *s)
{
	if (r->end - r->p < 8)
		return false;
	*v = load_uint(r->p, 8);
	r->p += 8;
	s->ops->uint(s, key, *v);
	return true;
}

static bool take_times(struct reader *r, uint64_t format, struct sink *s)
{
	uint64_t v;

	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED && !take(r, "time_enabled", &v, s))
		return false;
	return !(format & PERF_FORMAT_TOTAL_TIME_RUNNING) ||
	       take(r, "time_running", &v, s);
}

static bool take_id_lost(struct reader *r, uint64_t format, struct sink *s)
{
	uint64_t v;

	if (format & PERF_FORMAT_ID && !take(r, "id", &v, s))
		return false;
	return !(format & PERF_FORMAT_LOST) || take(r, "lost", &v, s);
}

static void emit_group(struct reader *r, uint64_t format, struct sink *s)
{
	uint64_t nr, v;

	if (!take(r, "nr", &nr, s) || !take_times(r, format, s))
		return;
	s->ops->begin(s, "values", SINK_ARRAY);
	for (uint64_t i = 0; i < nr && r->end - r->p >= 8; i++) {
		s->ops->begin(s, NULL, SINK_OBJECT);
		if (take(r, "value", &v, s))
			take_id_lost(r, format, s);
		s->ops->end(s);
	}
	s->ops->end(s);
}

void read_format_emit(const uint8_t *bytes, size_t len, uint64_t read_format,
		      const char *key, struct sink *s)
{
	struct reader r = { bytes, bytes + len };
	uint64_t v;

	s->ops->begin(s, key, SINK_OBJECT);
	if (read_format & PERF_FORMAT_GROUP)
		emit_group(&r, read_format, s);
	else if (take(&r, "value", &v, s) && take_times(&r, read_format, s))
		take_id_lost(&r, read_format, s);
	if (r.p < r.end)
		s->ops->bytes(s, "rest", r.p, (size_t)(r.end - r.p), false);
	s->ops->end(s);
}
