// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/text/event_totals.h"

#include "formats/text/text.h"

void event_total_add(struct event_total *f, uint64_t value, uint64_t enabled, uint64_t running)
{
	f->opened = true;
	f->enabled += enabled;
	f->running += running;
	if (running && running < enabled)
		value = (uint64_t)((double)value * (double)enabled / (double)running);
	f->value += value;
}

/* Return what to print in place of a count, or NULL. */
static const char *no_count(const struct event_total *f)
{
	return !f->opened ? "<not opened>" : !f->running ? "<not counted>" : NULL;
}

static void add_comment(const struct event_total *f, struct buf *out)
{
	if (!no_count(f) && f->clock)
		buf_addf(out, " /* %.3f ms */", (double)f->value / 1e6);
	if (f->running && f->running < f->enabled)
		buf_addf(out, " /* scaled: on the PMU for %.2f %% of the time */",
			 100.0 * (double)f->running / (double)f->enabled);
}

void event_totals_print(const struct event_total *f, size_t n, double seconds, struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		const char *none = no_count(&f[i]);

		if (none)
			buf_addf(out, "%20s  ", none);
		else
			buf_addf(out, "%20llu  ", (unsigned long long)f[i].value);
		text_escaped(out, f[i].name);
		add_comment(&f[i], out);
		buf_addc(out, '\n');
	}
	buf_addf(out, "%20.9f  seconds\n", seconds);
}

void event_totals_line(const struct event_total *f, size_t n, double seconds, struct buf *out)
{
	buf_addf(out, "%.0f s:", seconds);
	for (size_t i = 0; i < n; i++) {
		const char *none = no_count(&f[i]);

		buf_adds(out, i ? ", " : " ");
		text_escaped(out, f[i].name);
		if (none)
			buf_addf(out, " %s", none);
		else
			buf_addf(out, " %llu", (unsigned long long)f[i].value);
	}
}
