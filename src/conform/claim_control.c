// SPDX-License-Identifier: LGPL-2.1-or-later
/* Whether an experiment can be trusted: what it measures with is tried on something known. */
#include <stdio.h>
#include <string.h>

#include "conform/claim.h"

/* An experiment with $exact that claims nothing but that it counts and samples. */
static const struct claim_desc exact_control = {
	.name = "control",
	.steps = "open a $exact:u,sample_period=1,sample_type=IP\n"
		 "map a 2\nwork write 5\nread a\nexpect a.value == 5\nfind a SAMPLE -> 5\n",
};

static bool exact_works(struct claim_lab *lab)
{
	for (unsigned int i = 0; i < CLAIM_TRIES; i++) {
		claim_try(&exact_control, lab, lab->control);
		if (lab->control->verdict == CLAIM_TRUE)
			return true;
	}
	return false;
}

void claim_choose_exact(struct claim_lab *lab)
{
	if (lab->chosen)
		return;
	lab->chosen = true;
	for (lab->exact = EXACT_BREAKPOINT; lab->exact < EXACTS; lab->exact++)
		if (exact_works(lab))
			return;
	lab->exact = EXACT_BREAKPOINT;
}

static void distrust(struct claim_outcome *o, const char *why)
{
	o->verdict = CLAIM_UNTRIED;
	snprintf(o->reason, sizeof(o->reason), "%s", why);
}

static bool needs_breakpoints(enum instrument i)
{
	return i == INSTRUMENT_BREAKPOINT_DATA || i == INSTRUMENT_BREAKPOINT_CODE ||
	       i == INSTRUMENT_BREAKPOINT_SIGNAL;
}

/* Leave the claim untried because of an instrument that is not known to work. */
static void distrust_instrument(struct claim_outcome *o, struct instruments *is, enum instrument i)
{
	const struct instrument_result *r = instrument_find(is, i);
	struct buf why = { 0 };

	if (instrument_fails(is, i) && needs_breakpoints(i))
		buf_adds(&why, "breakpoints do not fire on this machine");
	else
		buf_addf(&why, "its control failed: %s ", instrument_name(i));
	if (r->verdict == INSTRUMENT_ABSENT)
		buf_addf(&why, "cannot be opened: %s", instrument_reason(r));
	else if (!instrument_fails(is, i))
		buf_addf(&why, "could not be tried: %s", instrument_reason(r));
	else if (!needs_breakpoints(i))
		instrument_complain(is, i, &why);
	distrust(o, buf_str(&why));
	buf_free(&why);
}

/*
 * What is known of an instrument is enough for a true claim; a false one has it tried again.  Where
 * an experiment consists of calls and measures nothing, it is enough that breakpoints exist; for
 * other events "needs" has words, unless their absence is what is claimed.
 */
static void check_instrument(struct claim_lab *lab, struct claim_outcome *o, enum instrument i)
{
	struct instruments again = { .host = lab->known.host };
	enum instrument_verdict v;

	if (o->verdict == CLAIM_TRUE && o->measured && instrument_fails(&lab->known, i))
		distrust_instrument(o, &lab->known, i);
	if (o->verdict != CLAIM_FALSE)
		return;
	v = instrument_find(&again, i)->verdict;
	if (o->measured ? v != INSTRUMENT_WORKS : v == INSTRUMENT_ABSENT && needs_breakpoints(i))
		distrust_instrument(o, &again, i);
}

void claim_check_control(struct claim_lab *lab, struct claim_outcome *o)
{
	for (unsigned int i = 0; i < INSTRUMENTS; i++)
		if (o->instruments >> i & 1)
			check_instrument(lab, o, i);
	if (o->verdict == CLAIM_FALSE && o->exact && !exact_works(lab))
		distrust(o, *lab->control->reason ? lab->control->reason :
			 "its control failed: an exact event was not");
}
