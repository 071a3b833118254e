// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/claims.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "conform/claim_trace.h"
#include "core/abi/strings.h"
#include "core/host/proc.h"
#include "core/lib/die.h"
#include "core/lib/program.h"
#include "experiment/instruments.h"
#include "experiment/trial.h"
#include "experiment/work.h"
#include "xlat/tables.h"

/*
 * A claim is false, and a control failed, only if each of several runs contradicts it: other users
 * of breakpoints and rings, and the scheduler, disturb single runs.
 */
enum { CLAIM_TRIES = 4, TIMEOUT = 5 };	/* TIMEOUT: seconds for an experiment */

/* Outcome of a run, in memory shared with the process that runs the steps. */
struct claim_outcome {
	bool done;		/* the run reached its end; verdict is valid */
	enum claim_verdict verdict;
	struct steps_outcome steps;
	char calls[32768];	/* text of the calls */
};

/* Where the claims are tried. */
struct claim_lab {
	bool nobody;		/* as an ordinary user */
	int gate;		/* errno that something returns in place of the kernel, or 0 */
	bool chosen;		/* exact was chosen */
	enum steps_exact exact;
	struct instruments known;
	struct claim_outcome *control; /* of the last control experiment; shared memory */
};

/* A run in a process of its own ----------------------------------------------------------- */

static enum claim_verdict run_claim(struct steps *run, const struct claim_desc *c, bool nobody)
{
	enum step_result result = nobody ? steps_become_user(run) : STEP_OK;

	if (result == STEP_OK)
		result = steps_run(run, c->steps);
	return result == STEP_OK ? CLAIM_TRUE : result == STEP_FALSE ? CLAIM_FALSE : CLAIM_UNTRIED;
}

static _Noreturn void claim_child(const struct claim_desc *c, const struct claim_lab *lab,
				  struct claim_outcome *outcome)
{
	struct claim_trace *trace;
	struct steps *run = xcalloc(1, sizeof(*run));
	const char *missing = mounts_proc_missing();

	/* our parent may ignore or block signals */
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(TIMEOUT);
	run->outcome = &outcome->steps;
	run->exact = lab->exact;
	run->fit_attr = true;
	run->host = host_new("/sys", NULL);
	trace = missing ? NULL : claim_trace_new(run);
	if (!trace) {
		snprintf(outcome->steps.reason, sizeof(outcome->steps.reason), "%s", missing ? missing :
			 "cannot allocate memory for the trace");
		outcome->done = true;
		_exit(0);
	}
	if (run->exact == EXACT_FAULTS)
		work_memory_ready();
	outcome->verdict = run_claim(run, c, lab->nobody);
	steps_task_end(run);
	claim_trace_end(trace, outcome->calls, sizeof(outcome->calls));
	outcome->done = true;
	_exit(0);
}

/* Run the experiment once, in a child process. */
static void claim_try(const struct claim_desc *c, const struct claim_lab *lab,
		      struct claim_outcome *outcome)
{
	pid_t pid;

	memset(outcome, 0, sizeof(*outcome));
	fflush(NULL);
	pid = fork();
	if (!pid)
		claim_child(c, lab, outcome);
	child_wait(pid);
	if (pid > 0 && outcome->done)
		return;
	outcome->verdict = CLAIM_UNTRIED;
	snprintf(outcome->steps.reason, sizeof(outcome->steps.reason), "%s", pid > 0 ?
		 "the experiment did not end" : "cannot start a process for it");
}

/* Whether an experiment can be trusted: what it measures with is tried on something known ----- */

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

/* Choose what $exact is, by experiments, if this was not done yet. */
static void choose_exact(struct claim_lab *lab)
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
	snprintf(o->steps.reason, sizeof(o->steps.reason), "%s", why);
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

	if (o->verdict == CLAIM_TRUE && o->steps.measured && instrument_fails(&lab->known, i))
		distrust_instrument(o, &lab->known, i);
	if (o->verdict != CLAIM_FALSE)
		return;
	v = instrument_find(&again, i)->verdict;
	if (o->steps.measured ? v != INSTRUMENT_WORKS : v == INSTRUMENT_ABSENT && needs_breakpoints(i))
		distrust_instrument(o, &again, i);
}

/*
 * Leave a claim untried, with the reason, if it measured something with an instrument that does not
 * work; for a false claim, the instrument is tried again now.
 */
static void check_control(struct claim_lab *lab, struct claim_outcome *o)
{
	for (unsigned int i = 0; i < INSTRUMENTS; i++)
		if (o->steps.instruments >> i & 1)
			check_instrument(lab, o, i);
	if (o->verdict == CLAIM_FALSE && o->steps.exact && !exact_works(lab))
		distrust(o, *lab->control->steps.reason ? lab->control->steps.reason :
			 "its control failed: an exact event was not");
}

/* Claims ------------------------------------------------------------------------------- */

static uint32_t running_release(void)
{
	struct utsname u = { 0 };
	const char *release = u.release;

	uname(&u);
	return release_read(&release);
}

static bool is_chosen(const struct claims_options *o, const struct claim_desc *c)
{
	return (!o->since || c->since >= o->since) &&
	       (!o->section || strcasestr(c->section, o->section)) &&
	       (!o->name || !fnmatch(o->name, c->name, 0));
}

static void try_claim(const struct claim_desc *c, struct claim_lab *lab, unsigned int tries,
		      struct claim_outcome *outcome, struct claim_result *r)
{
	uint32_t release = running_release();

	*r = (struct claim_result){ .claim = c };
	memset(outcome, 0, sizeof(*outcome));
	if (lab->gate) {
		snprintf(outcome->steps.reason, sizeof(outcome->steps.reason),
			 "blocked: every call fails before it reaches perf, with %s",
			 error_name(lab->gate) ?: "an error");
	} else if (release < c->since) {
		snprintf(outcome->steps.reason, sizeof(outcome->steps.reason),
			 "it applies to Linux %u.%u and later", c->since >> 16,
			 c->since >> 8 & 255);
	} else if (c->until && release >= c->until) {
		snprintf(outcome->steps.reason, sizeof(outcome->steps.reason),
			 "it applies to Linux before %u.%u", c->until >> 16, c->until >> 8 & 255);
	} else {
		if (strstr(c->steps, "$exact"))
			choose_exact(lab);
		do
			claim_try(c, lab, outcome);
		while (++r->tries < tries && (outcome->verdict == CLAIM_FALSE || !outcome->done));
		check_control(lab, outcome);
	}
	r->verdict = outcome->verdict;
	r->reason = r->verdict == CLAIM_UNTRIED ? outcome->steps.reason : "";
	r->expected = r->verdict == CLAIM_FALSE ? outcome->steps.expected : "";
	r->seen = r->verdict == CLAIM_FALSE ? outcome->steps.seen : "";
	r->calls = outcome->calls;
}

int conform_claims(const struct claims_options *opts,
		   void (*report)(void *ctx, const struct claim_result *r), void *ctx)
{
	const struct claim_desc *all = opts->claims ? opts->claims : claim_descs;
	struct claim_outcome *outcome = mmap(NULL, 2 * sizeof(*outcome), PROT_READ | PROT_WRITE,
					     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct claim_lab lab = { .nobody = opts->nobody, .control = outcome + 1 };
	struct claim_result r;
	int wrong = 0;

	if (outcome == MAP_FAILED)
		return -ENOMEM;
	lab.gate = trial_gate();
	lab.known.host = host_new("/sys", NULL);
	for (const struct claim_desc *c = all; c->name; c++) {
		if (!is_chosen(opts, c))
			continue;
		try_claim(c, &lab, opts->tries ? opts->tries : CLAIM_TRIES, outcome, &r);
		wrong += r.verdict == CLAIM_FALSE;
		report(ctx, &r);
	}
	host_free(lab.known.host);
	munmap(outcome, 2 * sizeof(*outcome));
	return wrong;
}
