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

#include "core/abi/strings.h"
#include "core/host/proc.h"
#include "core/lib/die.h"
#include "core/lib/output.h"
#include "core/lib/program.h"
#include "core/session/session.h"
#include "experiment/instruments.h"
#include "experiment/steps.h"
#include "experiment/trial.h"
#include "experiment/work.h"
#include "formats/text/text_view.h"
#include "xlat/tables.h"

struct claim_trace {
	struct names names;	/* first: the hooks cast it back */
	struct steps *run;
	struct text_options options;
	struct selection selection;
	struct session session;
	struct own_calls own_calls;
	struct output *out;
	int fd;			/* that out writes to */
};

static const char *claim_trace_pmu(const struct names *n, uint32_t type)
{
	return host_pmu(((const struct claim_trace *)n)->run->host, type);
}

static const char *claim_trace_tracepoint(const struct names *n, uint64_t id)
{
	return host_tracepoint(((const struct claim_trace *)n)->run->host, id);
}

static void claim_trace_show(struct claim_trace *t, enum selected selected)
{
	for (size_t i = 0; i < CALL_COUNT; i++)
		t->selection.calls[i] = selected;
}

static void trace_note(struct steps *run, const char *text)
{
	const struct claim_trace *t = run->ctx;
	struct buf line = { 0 };

	buf_addf(&line, "/* %s */\n", text);
	output_write(t->out, gettid(), buf_str(&line), line.len);
	buf_free(&line);
}

/* Leave calls out of the text until unmuted; a note says so. */
static void trace_mute(struct steps *run, bool muted)
{
	struct claim_trace *t = run->ctx;

	if (muted && t->selection.calls[0] != SELECT_NONE)
		trace_note(run, "and so on");
	claim_trace_show(t, muted ? SELECT_NONE : SELECT_ALL);
}

/*
 * Give the steps a session for their calls, which writes their text with the notes.  Return NULL if
 * out of memory.
 */
static struct claim_trace *claim_trace_new(struct steps *run)
{
	struct claim_trace *t = xcalloc(1, sizeof(*t));
	char path[32];

	*t = (struct claim_trace){
		.names = {
			.pmu = claim_trace_pmu, .tracepoint = claim_trace_tracepoint,
			.page_size = (uint32_t)sysconf(_SC_PAGESIZE),
		},
		.run = run, .fd = memfd_create("calls", MFD_CLOEXEC),
		.options = { .max_string = 64, .labels = true, .status = STATUS_ALL },
	};
	snprintf(path, sizeof(path), "/proc/self/fd/%d", t->fd);
	t->out = t->fd < 0 ? NULL : output_open(path, STDERR_FILENO, OUTPUT_ONE, CREATE_PUBLIC);
	if (!t->out) {
		free(t);
		return NULL;
	}
	claim_trace_show(t, SELECT_ALL);
	session_start(&t->session, &(struct session_setup){
		.source = &t->names, .selection = &t->selection,
	}, &(struct session_facts){ .arch = arch_native() });
	session_add_view(&t->session,
			 text_view_new(&t->options, &t->session.names, t->out, 0));
	own_calls_init(&t->own_calls, &t->session);
	session_feed(&t->session, &(struct activity){
		ACTIVITY_TASK, .task = { .tid = gettid(), .pid = getpid(), .attached = true },
	});
	run->own_calls = &t->own_calls;
	run->note = trace_note;
	run->mute = trace_mute;
	run->ctx = t;
	return t;
}

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

/* Leave the claim untried for that reason. */
static void distrust(struct claim_outcome *o, const char *why)
{
	o->verdict = CLAIM_UNTRIED;
	snprintf(o->steps.reason, sizeof(o->steps.reason), "%s", why);
}

static _Noreturn void claim_child(const struct claim_desc *c, const struct claim_lab *lab,
				  struct claim_outcome *outcome)
{
	struct claim_trace *trace;
	struct steps *run = xcalloc(1, sizeof(*run));
	const char *missing = mounts_proc_missing();
	enum step_result result;
	ssize_t n;

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
		distrust(outcome, missing ? missing : "cannot allocate memory for the trace");
		outcome->done = true;
		_exit(0);
	}
	if (run->exact == EXACT_FAULTS)
		work_memory_ready();
	result = lab->nobody ? steps_become_user(run) : STEP_OK;
	if (result == STEP_OK)
		result = steps_run(run, c->steps);
	outcome->verdict = result == STEP_OK ? CLAIM_TRUE :
			   result == STEP_FALSE ? CLAIM_FALSE : CLAIM_UNTRIED;
	steps_task_end(run);
	output_flush(trace->out);
	n = pread(trace->fd, outcome->calls, sizeof(outcome->calls) - 1, 0);
	outcome->calls[n > 0 ? n : 0] = '\0';
	session_end(&trace->session);
	output_close(trace->out);
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
	distrust(outcome, pid > 0 ? "the experiment did not end" : "cannot start a process for it");
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
 * Leave a claim untried, with the reason, if it measured something with an instrument that does not
 * work.  What is known of an instrument is enough for a true claim; a false one has it tried again.
 * Where an experiment consists of calls and measures nothing, it is enough that breakpoints exist;
 * for other events "needs" has words, unless their absence is what is claimed.
 */
static void check_control(struct claim_lab *lab, struct claim_outcome *o)
{
	for (unsigned int i = 0; i < INSTRUMENTS; i++) {
		struct instruments again = { .host = lab->known.host };
		enum instrument_verdict v;

		if (!(o->steps.instruments >> i & 1))
			continue;
		if (o->verdict == CLAIM_TRUE && o->steps.measured &&
		    instrument_fails(&lab->known, i))
			distrust_instrument(o, &lab->known, i);
		if (o->verdict != CLAIM_FALSE)
			continue;
		v = instrument_find(&again, i)->verdict;
		if (o->steps.measured ? v != INSTRUMENT_WORKS :
					v == INSTRUMENT_ABSENT && needs_breakpoints(i))
			distrust_instrument(o, &again, i);
	}
	if (o->verdict == CLAIM_FALSE && o->steps.exact && !exact_works(lab))
		distrust(o, *lab->control->steps.reason ? lab->control->steps.reason :
			 "its control failed: an exact event was not");
}

/* Claims ------------------------------------------------------------------------------- */

static void try_claim(const struct claim_desc *c, struct claim_lab *lab, unsigned int tries,
		      struct claim_outcome *outcome, struct claim_result *r)
{
	struct utsname u = { 0 };
	const char *text = u.release;
	uint32_t release;

	uname(&u);
	release = release_read(&text);
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
		/* choose what $exact is, by experiments, if this was not done yet */
		if (strstr(c->steps, "$exact") && !lab->chosen) {
			lab->chosen = true;
			lab->exact = EXACT_BREAKPOINT;
			while (lab->exact < EXACTS && !exact_works(lab))
				lab->exact++;
			if (lab->exact == EXACTS)
				lab->exact = EXACT_BREAKPOINT;
		}
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
		if ((opts->since && c->since < opts->since) ||
		    (opts->section && !strcasestr(c->section, opts->section)) ||
		    (opts->name && fnmatch(opts->name, c->name, 0)))
			continue;
		try_claim(c, &lab, opts->tries ? opts->tries : CLAIM_TRIES, outcome, &r);
		wrong += r.verdict == CLAIM_FALSE;
		report(ctx, &r);
	}
	host_free(lab.known.host);
	munmap(outcome, 2 * sizeof(*outcome));
	return wrong;
}
