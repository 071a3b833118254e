// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/text/flaw_text.h"

#include "formats/text/text.h"

enum { FREE = 512 * 1024 };	/* bytes that perf_event_mlock_kb allows everybody, for each CPU */

static void add_bytes(uint64_t n, struct buf *out)
{
	if (n < 1024)
		buf_addf(out, "%llu bytes", (unsigned long long)n);
	else if (n < 1024 * 1024)
		buf_addf(out, "%.*f KiB", n % 1024 ? 1 : 0, (double)n / 1024);
	else
		buf_addf(out, "%.*f MiB", n % (1024 * 1024) ? 1 : 0, (double)n / (1024 * 1024));
}

/* Append a part of a whole; what is nearly nothing, or nearly all, does not become 0 or 100. */
static void add_percent(uint64_t n, uint64_t of, struct buf *out)
{
	double percent = 100.0 * (double)n / (double)of;

	if (n && percent < 0.1)
		buf_adds(out, "< 0.1 %");
	else if (n < of && percent > 99.9)
		buf_adds(out, "> 99.9 %");
	else
		buf_addf(out, "%.1f %%", percent);
}

void flaw_amount(enum flaw_id id, const struct flaw *f, struct buf *out)
{
	if ((id == FLAW_RECORDS_LOST || id == FLAW_MULTIPLEXED) && f->of && !f->partly)
		add_percent(f->n, f->of, out);
	else if (id == FLAW_RECORDS_OVERWRITTEN || id == FLAW_RECORDS_UNREAD)
		add_bytes(f->n, out);
	else if (id == FLAW_RECORDS_LOST || id == FLAW_SAMPLES_LOST || id == FLAW_THROTTLED)
		buf_addf(out, "%llu", (unsigned long long)f->n);
	else
		buf_addf(out, "%u", f->events);
}

static void lost_text(const struct flaw *f, struct buf *out)
{
	uint64_t more = f->enough ? f->enough : f->ring < FREE ? FREE : 2 * f->ring;

	buf_addf(out, "lost %llu ", (unsigned long long)f->n);
	if (f->of && !f->partly) {
		buf_addf(out, "of %s%llu records (", f->about ? "about " : "",
			 (unsigned long long)f->of);
		add_percent(f->n, f->of, out);
		buf_addc(out, ')');
	} else {
		buf_addf(out, "record%s", f->n == 1 ? "" : "s");
		if (f->of)
			buf_addf(out, " (%llu others were seen)", (unsigned long long)(f->of - f->n));
	}
	if (f->overwrite) {
		buf_adds(out, ": the ring was paused");
	} else if (f->ring) {
		buf_adds(out, ": ring of ");
		add_bytes(f->ring, out);
		if (f->bursts)
			buf_addf(out, " was full %llu time%s, for up to %llu record%s",
				 (unsigned long long)f->bursts, f->bursts == 1 ? "" : "s",
				 (unsigned long long)f->burst, f->burst == 1 ? "" : "s");
		if (f->page && more >= f->page)
			buf_addf(out, "; %s%llu pages (-m %llu)%s", f->enough ? "" : "try ",
				 (unsigned long long)(more / f->page),
				 (unsigned long long)(more / f->page),
				 f->enough ? " have room for these, too" : "");
	} else {
		buf_addf(out, ": %s", flaw_descs[FLAW_RECORDS_LOST].meaning);
	}
}

void flaw_text(enum flaw_id id, const struct flaw *f, struct buf *out)
{
	const struct flaw_desc *d = &flaw_descs[id];

	switch (id) {
	case FLAW_RECORDS_LOST:
		lost_text(f, out);
		return;
	case FLAW_SAMPLES_LOST:
		buf_addf(out, "lost %llu sample%s", (unsigned long long)f->n, f->n == 1 ? "" : "s");
		break;
	case FLAW_THROTTLED:
		buf_addf(out, "throttled %llu time%s", (unsigned long long)f->n, f->n == 1 ? "" : "s");
		break;
	case FLAW_RECORDS_OVERWRITTEN:
		flaw_amount(id, f, out);
		buf_adds(out, " of records were overwritten");
		break;
	case FLAW_RECORDS_UNREAD:
		flaw_amount(id, f, out);
		buf_adds(out, " of records were left in the ring");
		break;
	case FLAW_MULTIPLEXED:
		buf_adds(out, "ran ");
		flaw_amount(id, f, out);
		buf_adds(out, " of the time");
		break;
	default:
		buf_adds(out, d->consequence);
		break;
	}
	buf_addf(out, ": %s", d->meaning);
}

void flaw_line(enum flaw_id id, const struct flaw *f, struct buf *out)
{
	text_escaped(out, f->event);
	if (f->events > 1)
		buf_addf(out, " and %u more", f->events - 1);
	buf_adds(out, ": ");
	flaw_text(id, f, out);
}

void flaws_print(const struct flaws *f, const char *before, const char *after, bool color,
		 struct buf *out)
{
	static const enum text_color colors[] = {
		[FLAW_ERROR] = COLOR_ERROR, [FLAW_WARNING] = COLOR_WARNING,
		[FLAW_NOTE] = COLOR_NOTE,
	};
	struct buf line = { 0 };

	for (unsigned int severity = FLAW_ERROR; severity <= FLAW_NOTE; severity++)
		for (unsigned int i = 0; i < FLAW_COUNT; i++) {
			if (!f->of[i].events || flaw_descs[i].severity != severity)
				continue;
			buf_adds(&line, before);
			flaw_line(i, &f->of[i], &line);
			buf_adds(&line, after);
			text_colored(out, color, colors[severity], buf_str(&line));
			buf_addc(out, '\n');
			buf_reset(&line);
		}
	buf_free(&line);
}
