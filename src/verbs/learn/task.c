// SPDX-License-Identifier: LGPL-2.1-or-later
/* Tasks (tasks.in): what to write, and whether the trace of a program shows what they want. */
#include <stdlib.h>
#include <sys/wait.h>

#include "core/abi/siginfo.h"
#include "core/abi/strings.h"
#include "core/abi/tables.h"
#include "core/abi/when.h"
#include "core/lib/die.h"
#include "formats/dump/reader.h"
#include "formats/text/text_fit.h"
#include "verbs/cli/input.h"
#include "verbs/cmd.h"
#include "verbs/learn/learn.h"

/* The values of an event that tasks.in describes. */
enum { VALUE, RUNNING, LEADS, SAMPLES, LOST, COMMS, MAPPINGS, EXITS, WRAPPED, TAIL, UNREAD, MISSED,
       THREADS, EXECS, SIGNALS, VALUES };

static const char *const value_names[VALUES] = {
	"value", "running", "leads", "samples", "lost", "comms", "mappings", "exits", "wrapped",
	"tail", "unread", "missed", "threads", "execs", "signals",
};

enum { WANTS = 8, POINT_COLUMNS = 76 };

/* What is known of an event. */
struct judged {
	const struct event *event;
	pid_t pid;			/* process that opened it; 0: the open was not seen */
	struct when_value values[VALUES + 1]; /* the last has no name */
	bool met[WANTS];
	char *line[WANTS];		/* of the last call that was tried, or NULL */
	char *opened;			/* of the open */
	int blind;			/* errno of the last look into its ring */
};

struct judge {
	struct view view;
	struct session session;
	const struct learn_want_desc *wants;
	size_t nwants;
	struct judged *list;
	size_t n;
	pid_t program;
	int status;			/* of wait(2), when that ended */
};

static struct judge *judge_of(struct view *v)
{
	return (struct judge *)v;
}

static struct judged *judged_of(struct judge *j, const struct event *e)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->list[i].event == e)
			return &j->list[i];
	GROW(j->list, j->n);
	j->list[j->n] = (struct judged){ .event = e };
	for (size_t i = 0; i < VALUES; i++)
		j->list[j->n].values[i].name = value_names[i];
	return &j->list[j->n++];
}

/* Judging ------------------------------------------------------------------------------ */

static bool is_met(const struct learn_want_desc *d, struct judged *k, const struct call *c)
{
	struct text_cursor at = { .at = d->condition, .end = d->condition + strlen(d->condition) };
	struct when *w = when_read(&at, &c->desc, 1, k->values);
	const struct event *e = k->event;
	bool holds;

	if (!w)
		die("tasks.in: '%s': %s", d->condition, at.why);
	k->values[LEADS].value = e->leads;
	k->values[LOST].value = e->lost_reported > e->lost_read ? e->lost_reported : e->lost_read;
	k->values[SAMPLES].value = event_records(e, PERF_RECORD_SAMPLE);
	k->values[COMMS].value = event_records(e, PERF_RECORD_COMM);
	k->values[EXITS].value = event_records(e, PERF_RECORD_EXIT);
	k->values[MAPPINGS].value = event_records(e, PERF_RECORD_MMAP) +
				    event_records(e, PERF_RECORD_MMAP2);
	holds = when_holds(w, c, e->attr, e->attr_len);
	when_free(w);
	return holds;
}

static char *line_of(struct judge *j, const struct call *c)
{
	struct buf line = { 0 };
	struct text_sink t;

	text_sink_init(&t, &line);
	call_text_rest(c, call_text_begin(c, &j->session.names, &t), &j->session.names, &t);
	buf_addc(&line, ' ');
	call_text_result(c, &j->session.names, &t);
	buf_addc(&line, '\n');
	return line.data;
}

static void judge_exit(struct view *v, const struct call *c)
{
	struct judge *j = judge_of(v);
	bool done = c->returned && !c->failed;
	const struct event *e = done ? model_subject(j->session.model, c) : NULL;
	struct judged *k;

	if (!e)
		return;
	k = judged_of(j, e);
	if (c->desc->class == CLASS_OPEN) {
		k->pid = c->pid;
		k->opened = line_of(j, c);
	} else if (c->desc->class == CLASS_READ) {
		k->values[VALUE].value = e->count.value;
		k->values[RUNNING].value = e->count.running;
	}
	for (size_t i = 0; i < j->nwants; i++) {
		const struct learn_want_desc *d = &j->wants[i];

		if (k->met[i] || strncmp(c->desc->name, d->call, strlen(d->call)))
			continue;
		free(k->line[i]);
		k->line[i] = line_of(j, c);
		k->met[i] = (!d->then || k->met[i - 1]) && is_met(d, k, c);
	}
}

/* Count what happens to tasks while events are open. */
static void judge_note(struct view *v, const struct activity *a)
{
	struct judge *j = judge_of(v);

	if (a->kind == ACTIVITY_TASK && !j->program)
		j->program = a->task.tid;
	if (a->kind == ACTIVITY_GONE && a->gone.tid == j->program)
		j->status = a->gone.status;
	for (struct judged *k = j->list; j->n && k < j->list + j->n; k++) {
		pid_t measured = k->event->pid > 0 ? k->event->pid : k->pid;

		if (a->kind == ACTIVITY_TASK)
			k->values[THREADS].value += a->task.pid == k->pid && a->task.tid != k->pid;
		else if (a->kind == ACTIVITY_EXEC)
			k->values[EXECS].value += a->exec.tid == measured;
		else if (a->kind == ACTIVITY_SIGNAL)
			k->values[SIGNALS].value += siginfo_is_wakeup(&a->signal.info) &&
						    a->signal.info.si_fd == k->event->fd;
	}
}

static void judge_look(struct view *v, const struct activity *a)
{
	const struct layout *layout = &layout_perf_event_mmap_page;
	const struct activity_look *look = &a->look;
	const uint8_t *page = look->page;
	const struct ring *r = look->ring;
	struct judged *k = judged_of(judge_of(v), r->event);
	uint64_t size = r->end - r->start - judge_of(v)->session.source->page_size, written;
	uint64_t head = layout_get(layout, PERF_EVENT_MMAP_PAGE_DATA_HEAD, page, look->page_len);
	uint64_t tail = layout_get(layout, PERF_EVENT_MMAP_PAGE_DATA_TAIL, page, look->page_len);

	k->blind = look->error;
	if (k->blind)
		return;
	written = event_attr(r->event, ATTR_WRITE_BACKWARD) ? -head : head;
	k->values[WRAPPED].value = written > size ? written - size : 0;
	k->values[TAIL].value = tail;
	k->values[UNREAD].value = head - tail;
	k->values[MISSED].value += look->missed;
}

static const struct view_ops judge_ops = {
	.on[ACTIVITY_TASK] = judge_note, .on[ACTIVITY_EXEC] = judge_note,
	.on[ACTIVITY_SIGNAL] = judge_note, .on[ACTIVITY_GONE] = judge_note,
	.on[ACTIVITY_LOOK] = judge_look, .exit = judge_exit,
};

/* Judge what must hold at the end; return how many wants are met before the first that is not. */
static size_t judge_end(struct judge *j, struct judged *k, const struct judged *ring)
{
	const struct call none = { .desc = call_by_name("perf_event_open") };
	size_t n = 0;

	memcpy(&k->values[WRAPPED], &ring->values[WRAPPED],
	       (THREADS - WRAPPED) * sizeof(*k->values));
	k->blind = ring->blind;
	for (size_t i = 0; i < j->nwants; i++)
		if (!strcmp(j->wants[i].call, "end"))
			k->met[i] = is_met(&j->wants[i], k, &none);
	while (n < j->nwants && k->met[n])
		n++;
	return n;
}

/* Return the event for which most is met, and in *met how much; NULL: none was opened. */
static struct judged *judge_best(struct judge *j, size_t *met)
{
	struct judged *best = NULL;

	for (size_t i = 0; i < j->n; i++) /* may add one, which moves the list */
		judged_of(j, event_writes_to(j->list[i].event));
	for (struct judged *k = j->list; j->n && k < j->list + j->n; k++) {
		size_t n = judge_end(j, k, judged_of(j, event_writes_to(k->event)));

		if (k->pid && (!best || n > *met)) {
			best = k;
			*met = n;
		}
	}
	return best;
}

/* The answer --------------------------------------------------------------------------- */

static void show_solution(const struct learn_task_desc *d, const struct lesson_text *t)
{
	lesson_text_marked(t, "A solution", "`examples/tasks/%s.c`, in the source of pevtrace and where its "
	       "documents are installed", d->name);
}

/* Show what is met, and the first want that is not: its call, or else the open, and a hint. */
static void show_wants(const struct judge *j, const struct judged *k, size_t met,
		       const struct lesson_text *t)
{
	struct learn *l = xcalloc(1, sizeof(*l));
	struct buf points = { 0 };

	for (const struct when_value *v = k->values; v->name; v++)
		learn_set_number(l, v->name, v->value);
	for (size_t i = 0; i < j->nwants && i <= met; i++) {
		char *text = learn_fill_in(l, i < met ? j->wants[i].seen : j->wants[i].missing);

		buf_adds(&points, i < met ? "+ " : "- ");
		text_fill(&points, text, strlen(text), 2, 2, POINT_COLUMNS);
		buf_addc(&points, '\n');
		free(text);
	}
	if (met + 1 < j->nwants)
		buf_addf(&points, "? %zu more to see\n", j->nwants - met - 1);
	lesson_text_block(t, buf_str(&points));
	if (met < j->nwants) {
		lesson_text_trace(t, k->line[met] ?: k->opened);
		lesson_text_marked(t, "Hint", "%s.", j->wants[met].hint);
	}
	learn_values_free(l);
	free(l);
	buf_free(&points);
}

static void show_no_event(const struct judge *j, const struct lesson_text *t)
{
	const struct attempt *attempts;
	size_t n = model_attempts(j->session.model, &attempts);

	lesson_text_marked(t, "Missing", "the program opened no event%s%s.",
	       n ? ": perf_event_open failed with " : "",
	       n ? error_name(attempts[n - 1].error) ?: "an error" : "");
	lesson_text_marked(t, "Hint", n ? "'pevtrace why -- PROGRAM' says why, and what opens." :
			   "call syscall(SYS_perf_event_open, &attr, pid, cpu, group_fd, flags).");
}

static int answer(struct judge *j, const struct learn_task_desc *d, const struct lesson_text *t)
{
	size_t met = 0;
	const struct judged *best = judge_best(j, &met);
	bool passed = best && met == j->nwants;
	char ended[64];

	if (best && !passed && best->blind) {
		warn("the program cannot be judged: its ring could not be read: %s",
		     strerror(best->blind));
		return EXIT_TROUBLE;
	}
	lesson_text_marked(t, passed ? "Passed" : "Not passed", "%s (%s)", d->title, d->name);
	if (best)
		show_wants(j, best, met, t);
	else
		show_no_event(j, t);
	if (j->status) {
		status_text(j->status, ended, sizeof(ended));
		lesson_text_marked(t, "Note", "the program %s%s.", WIFEXITED(j->status) ? "" : "was ", ended);
	}
	if (!passed)
		show_solution(d, t);
	return passed ? EXIT_YES : EXIT_NO;
}

static int check_dump(const struct learn_task_desc *d, FILE *f, const struct lesson_text *t)
{
	struct reader *r = reader_open(f, "the trace", true);
	struct session_setup setup = { .keep = true };
	struct judge j = { .view.ops = &judge_ops, .wants = learn_want_descs };
	int status;

	if (!r)
		return EXIT_TROUBLE;
	while (strcmp(j.wants->task, d->name))
		j.wants++;
	while (j.wants[j.nwants].task && !strcmp(j.wants[j.nwants].task, d->name))
		if (++j.nwants > WANTS)
			die("tasks.in: too many rows of %s", d->name);
	setup.source = reader_names(r);
	session_start(&j.session, &setup, reader_facts(r));
	session_add_view(&j.session, &j.view);
	reader_run(r, &j.session);
	status = answer(&j, d, t);
	for (size_t i = 0; i < j.n; i++) {
		for (size_t k = 0; k < WANTS; k++)
			free(j.list[i].line[k]);
		free(j.list[i].opened);
	}
	free(j.list);
	session_end(&j.session);
	reader_close(r);
	return status;
}

/* Tasks -------------------------------------------------------------------------------- */

const struct learn_task_desc *task_find(const char *name)
{
	const struct learn_task_desc *d = learn_task_descs;

	while (d->name && strcmp(d->name, name))
		d++;
	return d->name ? d : NULL;
}

/* Say what the machine lacks for the task; return false if there is something. */
static bool task_works(const struct learn_task_desc *d, const struct lesson_text *t,
		       struct instruments *is)
{
	const char *words = d->needs;
	const struct learn_need *need;
	struct buf why = { 0 };
	bool works = true;

	while (works && (need = learn_need_next(&words)))
		works = learn_need_works(is, need, &why);
	if (!works)
		lesson_text_marked(t, "Not possible here", "%s", buf_str(&why));
	buf_free(&why);
	return works;
}

void task_show(const struct learn_task_desc *d, const struct lesson_text *t,
	       struct instruments *is)
{
	struct buf text = { 0 };

	buf_addf(&text, "%s.", d->text);
	lesson_text_title(t, d->name, d->title);
	lesson_text_paragraph(t, buf_str(&text));
	lesson_text_marked(t, "Have it checked", "`pevtrace learn --check %s ./program [ARG]...`", d->name);
	show_solution(d, t);
	task_works(d, t, is);
	buf_free(&text);
}

int task_check(const struct learn_task_desc *d, char *const *command, const struct lesson_text *t,
	       struct instruments *is)
{
	int ended; /* the dump has it, too */
	FILE *f = task_works(d, t, is) ?
		  input_trace(&trace_verb, command, true, false, &ended) : NULL;
	int status = f ? check_dump(d, f, t) : EXIT_TROUBLE;

	if (f)
		fclose(f);
	return status;
}
