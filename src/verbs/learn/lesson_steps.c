// SPDX-License-Identifier: LGPL-2.1-or-later
/* The steps that only lessons have, and how the steps of an experiment are run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/lib/child.h"
#include "core/lib/clock.h"
#include "engine/rings/bpf.h"
#include "verbs/cmd.h"
#include "verbs/learn/judge.h"

enum { TIMEOUT = 60 };	/* seconds of an experiment that a process of its own makes */

static struct learn *learn_of(struct steps *run)
{
	return run->ctx;
}

/* set NAME = N, hex N, "TEXT", yes or no; or error: the errno of the last call, or "none" */
static enum step_result step_set(struct steps *run)
{
	struct learn *l = learn_of(run);
	const char *name = run->words[1], *what = run->words[3];
	uint64_t v;

	if (run->nwords < 4)
		return steps_malformed(run);
	if (*what == '"') {
		learn_set(l, name, "%s", what + 1);
	} else if (!strcmp(what, "yes") || !strcmp(what, "no")) {
		learn_set(l, name, "%s", what);
	} else if (!strcmp(what, "error")) {
		learn_set_error(l, name, run->ret);
	} else if (!steps_value(run, run->words[run->nwords - 1], &v)) {
		return STEP_UNTRIED;
	} else {
		learn_set(l, name, strcmp(what, "hex") ? "%llu" : "0x%llx", (unsigned long long)v);
		steps_set_var(run, name, v);
	}
	return STEP_OK;
}

/* say "TEXT": a line among those of the calls */
static enum step_result step_say(struct steps *run)
{
	if (run->nwords != 2)
		return steps_malformed(run);
	learn_say(learn_of(run), "%s", run->words[1] + 1);
	return STEP_OK;
}

/*
 * show EVENT [N [more]]: the records of its ring that were not shown, or the first N of them, and
 * how many more there are
 */
static enum step_result step_show(struct steps *run)
{
	struct step_event *e = run->nwords > 1 ? steps_event(run, run->words[1]) : NULL;
	uint64_t n;
	int left = 0;

	if (!e || !e->ring)
		return steps_malformed(run);
	if (run->nwords > 2) {
		if (!steps_value(run, run->words[2], &n))
			return STEP_UNTRIED;
		left = (int)n;
	}
	learn_look(learn_of(run), e, run->nwords > 2 ? learn_first : NULL, &left);
	if (run->nwords > 3 && left < 0)
		learn_say(learn_of(run), "[... %d more]", -left);
	return STEP_OK;
}

/* page EVENT MEMBER...: members of the struct perf_event_mmap_page */
static enum step_result step_page(struct steps *run)
{
	struct step_event *e = run->nwords > 1 ? steps_event(run, run->words[1]) : NULL;

	if (!e || !e->ring)
		return steps_malformed(run);
	learn_page(learn_of(run), e, (const char *const *)run->words + 2, run->nwords - 2);
	return STEP_OK;
}

/* attach EVENT TYPE: a BPF program that returns 0; the event holds it */
static enum step_result step_attach(struct steps *run)
{
	struct step_event *e = run->nwords == 3 ? steps_event(run, run->words[1]) : NULL;
	uint64_t type;
	int64_t got;
	int program;

	if (!e || !steps_value(run, run->words[2], &type))
		return steps_malformed(run);
	program = bpf_load((uint32_t)type, 0);
	if (program < 0)
		return steps_untried(run, "cannot load a BPF program: %s", learn_error(program));
	got = own_call_ioctl(run->own_calls, e->fd, PERF_EVENT_IOC_SET_BPF, (uint64_t)program);
	close(program);
	return got >= 0 ? STEP_OK : steps_untried(run, "cannot attach a BPF program: %s",
						  learn_error(got));
}

/* refused NAME EVENT [pid= cpu=]: open it, and explain why that fails, if it does */
static enum step_result step_refused(struct steps *run)
{
	enum step_result result;
	struct step_event *e;

	run->wanted = "any";
	result = step_open(run);
	e = result == STEP_OK ? steps_event(run, run->words[1]) : NULL;
	if (!e)
		return result;
	learn_explain_refusal(learn_of(run), e, run->words[2], run->ret);
	if (e->fd >= 0)
		own_call_close(run->own_calls, e->fd);
	e->fd = -1;
	return STEP_OK;
}

/* rule NAME EVENT: set NAME_rule and NAME_why to the rule that refuses EVENT with EINVAL */
static enum step_result step_rule(struct steps *run)
{
	struct learn *l = learn_of(run);
	struct learn_verdict v;
	char name[64];

	if (run->nwords != 3)
		return steps_malformed(run);
	learn_judge(l, run->words[2], 0, -1, EINVAL, &v);
	if (!v.sure)
		return STEP_OK;
	snprintf(name, sizeof(name), "%s_rule", run->words[1]);
	learn_set(l, name, "%s", v.rule);
	snprintf(name, sizeof(name), "%s_why", run->words[1]);
	learn_set(l, name, "%s", v.meaning);
	return STEP_OK;
}

/* cause NAME EVENT: set NAME to the member to change in order to open EVENT */
static enum step_result step_cause(struct steps *run)
{
	if (run->nwords != 3)
		return steps_malformed(run);
	learn_set_cause(learn_of(run), run->words[1], run->words[2]);
	return STEP_OK;
}

/* verb VERB WORD...: what pevtrace VERB WORD... prints */
static enum step_result step_verb(struct steps *run)
{
	const struct verb *const verbs[] = { &why_verb };
	const char *words[STEPS_WORDS + 1] = { NULL };
	struct buf line = { 0 };

	for (size_t i = 1; i < run->nwords; i++) {
		words[i - 1] = run->words[i];
		buf_addf(&line, " %s", run->words[i]);
	}
	learn_say(learn_of(run), "$ pevtrace%s", buf_str(&line));
	buf_free(&line);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++)
		if (words[0] && !strcmp(words[0], verbs[i]->name) &&
		    learn_run_verb(learn_of(run), verbs[i], words))
			return STEP_OK;
	return steps_malformed(run);
}

const struct step_word learn_step_words[] = {
	{ "attach", step_attach }, { "cause", step_cause }, { "page", step_page },
	{ "refused", step_refused }, { "rule", step_rule }, { "say", step_say },
	{ "set", step_set }, { "show", step_show }, { "verb", step_verb }, { NULL, NULL },
};

/* Running them ------------------------------------------------------------------------ */

/* End the lesson with what the step that failed says. */
static bool fail_step(struct learn *l, enum step_result result)
{
	const struct steps *run = &l->steps;
	const struct steps_outcome *o = &l->outcome;
	const char *word = run->nwords ? run->words[0] : "";

	if (run->ret < 0 && !strcmp(word, "open"))
		return learn_fail(l, "cannot open '%s': %s; pevtrace why -e '%s' finds the cause",
				  run->words[2], learn_error(run->ret), run->words[2]);
	if (run->ret < 0 && !strcmp(word, "map"))
		return learn_fail(l, "cannot map the ring: %s; raise ulimit -l or "
				  "kernel.perf_event_mlock_kb", learn_error(run->ret));
	if (result == STEP_FALSE)
		return learn_fail(l, "%s: %s", o->expected, o->seen);
	return learn_fail(l, "%s", o->reason);
}

static bool run_steps(struct learn *l, const char *lines)
{
	enum step_result result;

	l->outcome = (struct steps_outcome){ .exact = false };
	l->steps.ret = 0;
	result = steps_run(&l->steps, lines);
	return result == STEP_OK || fail_step(l, result);
}

/* Write the values as "NAME\0TEXT\0", and the reason of a failure. */
static void send_values(const struct learn *l, FILE *to)
{
	for (size_t i = 0; i < l->nvalues; i++)
		fprintf(to, "%s%c%s%c", l->values[i].name, '\0', l->values[i].text, '\0');
	fputs(buf_str(&l->why), to);
	fputc('\0', to);
	fflush(to);
}

static void receive_values(struct learn *l, FILE *from)
{
	char *name = NULL, *text = NULL;
	size_t n = 0, t = 0;

	while (getdelim(&name, &n, '\0', from) > 0 && getdelim(&text, &t, '\0', from) > 0)
		learn_set(l, name, "%s", text);
	if (name && *name && feof(from))
		learn_fail(l, "%s", name);
	free(name);
	free(text);
}

/* Run steps in a forked process, which prints its own calls; the values that it sets come back. */
static bool run_apart(struct learn *l, const char *lines)
{
	FILE *values = tmpfile();
	int status;
	bool ok;
	pid_t pid;

	fflush(l->text.out);
	learn_lines(l);
	pid = values ? fork() : -1;
	if (!pid) {
		alarm(TIMEOUT);
		l->own_session.options.text.pid_never = false;
		session_feed(&l->own_session.session, &(struct activity){
			ACTIVITY_TASK, .task = {
				.tid = getpid(), .pid = getpid(), .parent = getppid(),
				.ns = clock_ns(),
			},
		});
		ok = run_steps(l, lines);
		output_flush(l->own_session.views.text);
		send_values(l, values);
		_exit(!ok);
	}
	status = child_wait(pid);
	if (values) {
		rewind(values);
		receive_values(l, values);
		fclose(values);
	}
	if (status < 0 || !WIFEXITED(status))
		return learn_fail(l, "the child process failed");
	return !WEXITSTATUS(status);
}

bool learn_steps(struct learn *l, const char *lines)
{
	static const char apart[] = "apart\n";

	return strncmp(lines, apart, strlen(apart)) ? run_steps(l, lines) :
	       run_apart(l, lines + strlen(apart));
}
