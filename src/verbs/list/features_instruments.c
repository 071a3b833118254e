// SPDX-License-Identifier: LGPL-2.1-or-later
/* The table of instruments, without the counts of those that work, which differ from run to run. */
#include <inttypes.h>
#include <string.h>

#include "core/abi/strings.h"
#include "verbs/list/features.h"

enum { NAME_WIDTH = 19, VERDICT_WIDTH = 13 };

static void text_instrument(struct features *fs, enum instrument i,
			    const struct instrument_result *r)
{
	struct buf *line = &fs->out.line;
	const char *verdict = instrument_verdict_name(r->verdict);

	showing_begin(&fs->out, true);
	buf_addf(line, "  %-*s", NAME_WIDTH, instrument_name(i));
	text_colored(line, fs->out.text.color, instrument_fails(&fs->instruments, i) ? COLOR_ERROR :
		     r->verdict == INSTRUMENT_WORKS ? COLOR_STRING : COLOR_NOTE, verdict);
	buf_pad(line, VERDICT_WIDTH - strlen(verdict));
	buf_adds(line, instrument_meaning(i));
	if (r->verdict <= INSTRUMENT_ABSENT)
		buf_addf(line, ": %s", instrument_reason(r));
	if (r->verdict == INSTRUMENT_IMPLAUSIBLE)
		buf_addf(line, ": %" PRIu64 ", where %" PRIu64 " to %" PRIu64 " are possible",
			 r->counted, r->least, r->most);
	showing_end(&fs->out);
}

static void json_instrument(struct features *fs, enum instrument i,
			    const struct instrument_result *r)
{
	struct sink *k;

	showing_begin(&fs->out, false);
	k = fs->out.sink;
	k->ops->symbol(k, "kind", "instrument");
	k->ops->symbol(k, "name", instrument_name(i));
	k->ops->symbol(k, "verdict", instrument_verdict_name(r->verdict));
	k->ops->symbol(k, "meaning", instrument_meaning(i));
	if (r->verdict == INSTRUMENT_ABSENT && r->error) {
		k->ops->sint(k, "errno", r->error);
		if (error_name(r->error))
			k->ops->symbol(k, "error", error_name(r->error));
	}
	if (r->verdict <= INSTRUMENT_ABSENT && (r->why || !r->error))
		k->ops->symbol(k, "why", instrument_reason(r));
	if (instrument_fails(&fs->instruments, i)) {
		k->ops->uint(k, "counted", r->counted);
		k->ops->uint(k, "least", r->least);
		k->ops->uint(k, "most", r->most);
	}
	showing_end(&fs->out);
}

void features_show_instruments(struct features *fs)
{
	struct instruments *is = &fs->instruments;
	bool all = !fs->words[0] && !fs->gate;

	if (!fs->out.json && !all)
		return;
	if (!fs->out.json)
		features_show_head(fs, "instruments",
				   "whether what measures works, where the result is known");
	for (int i = 0; i < INSTRUMENTS; i++)
		if (all || is->tried[i])
			(fs->out.json ? json_instrument : text_instrument)(
				fs, i, instrument_find(is, i));
	showing_flush(&fs->out);
}
