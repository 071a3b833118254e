// SPDX-License-Identifier: LGPL-2.1-or-later
/* lessons/records.lesson */
#include <string.h>

#include "formats/text/text.h"
#include "lessons/lessons.h"
#include "verbs/learn/learn.h"
#include "xlat/tables.h"

enum { HEADER = 8, TYPE_AT = 0, MISC_AT = 4, SIZE_AT = 6 };

/* Keep the bytes of the first sample; show none. */
static bool keep_first_sample(void *ctx, const struct learn_record *r)
{
	struct learn *l = ctx;

	if (r->type == PERF_RECORD_SAMPLE && !l->kept.len)
		buf_add(&l->kept, r->bytes, r->len);
	return false;
}

static bool look_for_sample(struct learn *l, const char *name)
{
	buf_reset(&l->kept);
	learn_look(l, steps_event(&l->steps, name), keep_first_sample, l);
	return l->kept.len >= HEADER || learn_fail(l, "no sample in the ring");
}

/* Return a number in the kept bytes; 0 beyond their end. */
static uint64_t kept_at(const struct learn *l, size_t from, size_t width)
{
	const uint8_t *bytes = (const uint8_t *)l->kept.data;

	return from + width <= l->kept.len ? load_uint(bytes + from, width) : 0;
}

static const char *constant_name(const struct xlat *x, uint64_t v)
{
	const struct xlat_entry *e = xlat_find(x, v);

	return e ? e->name : "unknown";
}

bool learn_records_take(struct learn *l)
{
	if (!look_for_sample(l, "a"))
		return false;
	learn_set_number(l, "type", kept_at(l, TYPE_AT, 4));
	learn_set_number(l, "misc", kept_at(l, MISC_AT, 2));
	learn_set_number(l, "size", kept_at(l, SIZE_AT, 2));
	learn_set_hex(l, "size_hex", kept_at(l, SIZE_AT, 2));
	learn_set(l, "misc_name", "%s", constant_name(&xlat_perf_record_misc_cpumode,
						      kept_at(l, MISC_AT, 2) &
						      PERF_RECORD_MISC_CPUMODE_MASK));
	learn_set(l, "type_name", "%s",
		  constant_name(&xlat_perf_event_type, kept_at(l, TYPE_AT, 4)));
	learn_set_number(l, "pid", kept_at(l, 16, 4));
	learn_set_hex(l, "addr", kept_at(l, 32, 8));
	return true;
}

static void hex_lines(struct learn *l, const char *const *names)
{
	for (size_t from = 0; from + 8 <= l->kept.len; from += 8) {
		struct buf line = { 0 };

		for (size_t i = 0; i < 8; i++)
			buf_addf(&line, " %02x", (unsigned int)kept_at(l, from + i, 1));
		if (names)
			buf_addf(&line, "   %-12s 0x%llx", names[from / 8],
				 (unsigned long long)kept_at(l, from, 8));
		learn_say(l, "%2zu: %s", from, buf_str(&line));
		buf_free(&line);
	}
}

bool learn_records_hex(struct learn *l)
{
	hex_lines(l, NULL);
	return true;
}

bool learn_records_fields(struct learn *l)
{
	static const char *const names[] = {
		"header", "IP", "TID", "TIME", "ADDR", "PERIOD",
	};

	hex_lines(l, l->kept.len <= 8 * sizeof(names) / sizeof(*names) ? names : NULL);
	return true;
}

/* Show the kept bytes as decoded by the event's attr. */
static void show_decoded(struct learn *l, const char *name)
{
	const struct step_event *e = steps_event(&l->steps, name);
	struct record_format format;
	struct buf text = { 0 };
	struct text_sink sink;

	record_format_of(&format, e->attr, sizeof(e->attr), arch_native());
	text_sink_init(&sink, &text);
	text_sink_top(&sink, false, NULL);
	record_emit((const uint8_t *)l->kept.data, l->kept.len, &format, NULL, &sink.sink,
		    NULL);
	/* the sink escapes */
	buf_addf(learn_lines(l), "%s\n", buf_str(&text));
	buf_free(&text);
}

bool learn_records_decoded(struct learn *l)
{
	show_decoded(l, "a");
	return true;
}

/* Show a sample of "c" as what it is, and as another record. */
bool learn_records_mistaken(struct learn *l)
{
	const uint32_t type = PERF_RECORD_MMAP;

	if (!look_for_sample(l, "c"))
		return false;
	show_decoded(l, "c");
	memcpy(l->kept.data, &type, sizeof(type));
	show_decoded(l, "c");
	return true;
}
