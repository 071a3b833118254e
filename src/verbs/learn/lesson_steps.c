// SPDX-License-Identifier: LGPL-2.1-or-later
/* The steps that only lessons have, and how the steps of an experiment are run. */
#include "verbs/learn/learn.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/host/facts.h"
#include "core/judge/judge.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "engine/rings/bpf.h"
#include "core/judge/cause.h"
#include "experiment/trial.h"
#include "verbs/cmd.h"

enum { TIMEOUT = 60 };	/* seconds of an experiment that a process of its own makes */

/* The rules about an event ------------------------------------------------------------- */

/* An open of an event, and the facts about it. */
struct lesson_open {
	struct event_list list;
	struct facts facts;
	struct rule_ask ask;
};

static void lesson_open_init(struct lesson_open *o, struct learn *l, const char *event,
			     pid_t pid, int cpu)
{
	*o = (struct lesson_open){ .list = { 0 } };
	if (!event_list_add(&o->list, l->own_session.machine.host, event))
		die("lesson %s: '%s': %s", l->lesson->name, event, o->list.why);
	o->ask = (struct rule_ask){
		.attr = o->list.events[0].attr.bytes, .len = o->list.events[0].attr.len,
		.pid = pid, .cpu = cpu, .group_fd = -1, .flags = PERF_FLAG_FD_CLOEXEC,
		.facts = &o->facts.rules,
	};
	facts_open(&o->facts, l->own_session.machine.host);
	facts_target(&o->facts, &o->ask);
}

static void lesson_open_free(struct lesson_open *o)
{
	facts_close(&o->facts);
	event_list_free(&o->list);
}

/* Find the rule that explains why the kernel refused an event with error, a positive errno. */
static void judge_event(struct learn *l, const char *event, pid_t pid, int cpu, int error,
			struct judgement *out)
{
	struct lesson_open o;

	lesson_open_init(&o, l, event, pid, cpu);
	judge_open(&(struct judge_case){ .ask = o.ask, .seen = error }, out);
	lesson_open_free(&o);
}

static int try_lesson(void *ctx, const struct change *const *set, size_t n)
{
	struct change_call call;
	struct trial trial;

	change_make(&call, &((struct lesson_open *)ctx)->ask, set, n);
	return trial_open(&call.ask, NULL, &trial) ? trial.error : EAGAIN;
}

static void judge_lesson(void *ctx, const struct change *const *set, size_t n,
			  struct rule_verdict *v)
{
	struct change_call call;

	change_make(&call, &((struct lesson_open *)ctx)->ask, set, n);
	rules_judge(&call.ask, v);
}

/* The steps --------------------------------------------------------------------------- */

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

/* Accept the first *left records; *left becomes negative by the number of the others. */
static bool is_first(void *left, const struct learn_record *r)
{
	(void)r;
	return (*(int *)left)-- > 0;
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
	learn_look(learn_of(run), e, run->nwords > 2 ? is_first : NULL, &left);
	if (run->nwords > 3 && left < 0)
		learn_say(learn_of(run), "[... %d more]", -left);
	return STEP_OK;
}

/* page EVENT MEMBER...: members of the struct perf_event_mmap_page */
static enum step_result step_page(struct steps *run)
{
	struct step_event *e = run->nwords > 1 ? steps_event(run, run->words[1]) : NULL;
	struct walk w = { .layout = &layout_perf_event_mmap_page, .len = RING_PAGE_BYTES };
	struct buf text = { 0 };
	struct text_sink sink;

	if (!e || !e->ring)
		return steps_malformed(run);
	w.bytes = e->ring;
	text_sink_init(&sink, &text);
	sink.sink.full = true;
	text_sink_top(&sink, true, NULL);
	for (size_t i = 2; i < run->nwords; i++)
		for (unsigned int m = 0; m < w.layout->n; m++)
			if (!strcmp(w.layout->fields[m].name, run->words[i]))
				layout_emit_member(&w, m, &sink.sink);
	learn_say(learn_of(run), "%s", buf_str(&text));
	buf_free(&text);
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

/*
 * refused NAME EVENT [pid= cpu=]: open it, and set NAME to the error, or "none", NAME_why to a
 * sentence with the rule that explains it, and NAME_failed if the open failed
 */
static enum step_result step_refused(struct steps *run)
{
	struct learn *l = learn_of(run);
	enum step_result result;
	struct step_event *e;
	struct judgement j;
	char why[64], failed[64];

	run->wanted = "any";
	result = step_open(run);
	e = result == STEP_OK ? steps_event(run, run->words[1]) : NULL;
	if (!e)
		return result;
	snprintf(why, sizeof(why), "%s_why", e->name);
	snprintf(failed, sizeof(failed), "%s_failed", e->name);
	learn_set_error(l, e->name, run->ret);
	if (run->ret >= 0) {
		learn_set(l, why, "Nothing forbids it here.");
	} else {
		judge_event(l, run->words[2], e->pid, e->cpu, (int)-run->ret, &j);
		if (j.rule)
			learn_set(l, why, "%s `%s`: %s.", j.sure ? "Rule" : "Perhaps rule",
				  j.rule->name, j.rule->meaning);
		else
			learn_set(l, why, "No rule that pevtrace knows explains it: a seccomp "
				  "filter may.");
		learn_set(l, failed, "yes");
	}
	if (e->fd >= 0)
		own_call_close(run->own_calls, e->fd);
	e->fd = -1;
	return STEP_OK;
}

/* rule NAME EVENT: set NAME_rule and NAME_why to the rule that refuses EVENT with EINVAL */
static enum step_result step_rule(struct steps *run)
{
	struct learn *l = learn_of(run);
	struct judgement j;
	char name[64];

	if (run->nwords != 3)
		return steps_malformed(run);
	judge_event(l, run->words[2], 0, -1, EINVAL, &j);
	if (!j.sure)
		return STEP_OK;
	snprintf(name, sizeof(name), "%s_rule", run->words[1]);
	learn_set(l, name, "%s", j.rule->name);
	snprintf(name, sizeof(name), "%s_why", run->words[1]);
	learn_set(l, name, "%s", j.rule->meaning);
	return STEP_OK;
}

/* cause NAME EVENT: set NAME to the member to change in order to open EVENT on the caller itself */
static enum step_result step_cause(struct steps *run)
{
	static const struct cause_ops ops = { .open = try_lesson, .judge = judge_lesson };
	const struct change_stock stock = { .path = NULL };
	struct learn *l = learn_of(run);
	struct change_list changes = { .n = 0 };
	struct lesson_open o;
	struct cause cause;

	if (run->nwords != 3)
		return steps_malformed(run);
	lesson_open_init(&o, l, run->words[2], 0, -1);
	change_list(&o.ask, &l->own_session.machine.names, &stock, &changes);
	cause_find(&ops, &o, &changes, &cause);
	learn_set(l, run->words[1], "%s", cause.n ? change_name(cause.changes[0]) : "nothing");
	change_list_free(&changes);
	lesson_open_free(&o);
	return STEP_OK;
}

/* verb why WORD...: what pevtrace why WORD... prints */
static enum step_result step_verb(struct steps *run)
{
	const char *words[STEPS_WORDS + 1] = { NULL };
	struct buf line = { 0 };

	for (size_t i = 1; i < run->nwords; i++) {
		words[i - 1] = run->words[i];
		buf_addf(&line, " %s", run->words[i]);
	}
	learn_say(learn_of(run), "$ pevtrace%s", buf_str(&line));
	buf_free(&line);
	return words[0] && !strcmp(words[0], why_verb.name) &&
	       learn_run_verb(learn_of(run), &why_verb, words) ? STEP_OK : steps_malformed(run);
}

const struct step_word learn_step_words[] = {
	{ "attach", step_attach }, { "cause", step_cause }, { "page", step_page },
	{ "refused", step_refused }, { "rule", step_rule }, { "say", step_say },
	{ "set", step_set }, { "show", step_show }, { "verb", step_verb }, { NULL, NULL },
};

/* Running them ------------------------------------------------------------------------ */

/* Run steps in this process; end the lesson with what a step that fails says. */
static bool run_here(struct learn *l, const char *lines)
{
	const struct steps *run = &l->steps;
	const struct steps_outcome *o = &l->outcome;
	enum step_result result;
	const char *word;

	l->outcome = (struct steps_outcome){ .exact = false };
	l->steps.ret = 0;
	result = steps_run(&l->steps, lines);
	if (result == STEP_OK)
		return true;
	word = run->nwords ? run->words[0] : "";
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

/* Run steps in a forked process, which prints its own calls; the values that it sets come back. */
static bool run_apart(struct learn *l, const char *lines)
{
	FILE *values = tmpfile();
	char *name = NULL, *text = NULL;
	size_t name_size = 0, text_size = 0;
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
		ok = run_here(l, lines);
		output_flush(l->own_session.views.text);
		/* the values as "NAME\0TEXT\0", and the reason of a failure */
		for (size_t i = 0; i < l->nvalues; i++)
			fprintf(values, "%s%c%s%c", l->values[i].name, '\0', l->values[i].text,
				'\0');
		fputs(buf_str(&l->why), values);
		fputc('\0', values);
		fflush(values);
		_exit(!ok);
	}
	status = child_wait(pid);
	if (values) {
		rewind(values);
		while (getdelim(&name, &name_size, '\0', values) > 0 &&
		       getdelim(&text, &text_size, '\0', values) > 0)
			learn_set(l, name, "%s", text);
		if (name && *name && feof(values))
			learn_fail(l, "%s", name);
		free(name);
		free(text);
		fclose(values);
	}
	if (status < 0 || !WIFEXITED(status))
		return learn_fail(l, "the child process failed");
	return !WEXITSTATUS(status);
}

bool learn_steps(struct learn *l, const char *lines)
{
	static const char apart[] = "apart\n";

	return strncmp(lines, apart, strlen(apart)) ? run_here(l, lines) :
	       run_apart(l, lines + strlen(apart));
}
