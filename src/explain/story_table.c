// SPDX-License-Identifier: LGPL-2.1-or-later
/* The table of a story's events, and its timeline. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/abi/strings.h"
#include "core/abi/tables.h"
#include "core/lib/die.h"
#include "explain/story_internal.h"
#include "formats/text/summary.h"
#include "formats/text/text.h"

/* Events ------------------------------------------------------------------------------ */

enum column {
	COL_EVENT, COL_CONFIG, COL_CPU, COL_FD, COL_GROUP, COL_ID, COL_TASK, COL_RING, COL_COUNT,
	COL_ENABLED, COL_RUNNING, COL_SCALED, COL_RECORDS, COLS
};

static const char *const heads[COLS] = {
	"EVENT", "CONFIG", "CPU", "FD", "GROUP", "ID", "TASK", "RING", "COUNT", "ENABLED",
	"RUNNING", "SCALED", "RECORDS",
};

struct table {
	const struct story_text *t;
	struct map rings;	/* number of the event -> its ring */
	struct buf (*rows)[COLS];
	size_t n, left;		/* rows, and events that have none */
	bool inherits;
};

/* Append numbers of events, sorted, "0-3,5", or nothing if they are all what counts as none. */
static void add_numbers(struct buf *out, const struct event *const *list, size_t n,
			int64_t (*of)(const struct event *e), int64_t none)
{
	const char *sep = "";
	size_t run;

	for (size_t i = 0; i < n; i += run) {
		int64_t first = of(list[i]), last;

		for (run = 1; i + run < n && of(list[i + run]) - first <= (int64_t)run &&
		     of(list[i + run]) >= first; run++)
			;
		if (first == none)
			continue;
		if (out->len > 12) {
			buf_adds(out, ",...");
			return;
		}
		last = of(list[i + run - 1]);
		buf_addf(out, "%s%lld", sep, (long long)first);
		/* of large numbers the last digits are enough: 15633750-51 */
		if (last != first && first > 99999 && last / 100 == first / 100)
			buf_addf(out, "-%02lld", (long long)last % 100);
		else if (last != first)
			buf_addf(out, "-%lld", (long long)last);
		sep = ",";
	}
}

static int64_t cpu_of(const struct event *e)
{
	return e->cpu;
}

static int64_t fd_of(const struct event *e)
{
	return e->fd;
}

static int64_t id_of(const struct event *e)
{
	return (int64_t)e->id;
}

static void cell_task(struct table *w, const struct event *const *list, size_t n,
		      struct buf *out)
{
	for (size_t i = 1; i < n; i++)
		if (list[i]->pid != list[0]->pid) {
			buf_adds(out, "several");
			return;
		}
	if (list[0]->flags & PERF_FLAG_PID_CGROUP)
		buf_adds(out, "cgroup");
	else if (list[0]->pid == -1)
		buf_adds(out, "all");
	else
		summary_add_task(w->t->s->m, list[0]->pid ? list[0]->pid : list[0]->opener, out);
	if (list[0]->pid != -1 && event_attr(list[0], ATTR_INHERIT)) {
		buf_adds(out, "+");
		w->inherits = true;
	}
}

static void cell_ring(const struct table *w, const struct event *const *list, size_t n,
		      struct buf *out)
{
	const struct ring *r = map_get(&w->rings, list[0]->number);
	const struct event **to = xcalloc(n, sizeof(*to));
	size_t nto = 0;

	for (size_t i = 0; i < n && !r; i++)
		if (list[i]->output)
			to[nto++] = list[i]->output;
	if (nto) {
		buf_adds(out, nto > 1 ? "fds " : "fd ");
		add_numbers(out, to, nto, fd_of, -1);
		buf_adds(out, "'s");
	}
	free(to);
	if (!r)
		return;
	if (!story_ring_kib(w->t, r)) {
		buf_adds(out, "no data");
		return;
	}
	if (n > 1)
		buf_addf(out, "%zux ", n);
	buf_addf(out, "%llu KiB", (unsigned long long)story_ring_kib(w->t, r));
}

/* Fill in what was counted. */
static void cells_count(const struct table *w, const struct event *const *list, size_t n,
			bool clock, struct buf *row)
{
	struct event_count sum = { 0 };
	bool never = true;

	for (size_t i = 0; i < n; i++) {
		const struct event_count *c = &list[i]->count;

		never &= list[i]->start == START_NEVER;
		sum.known |= c->known;
		sum.timed |= c->timed;
		sum.value += c->value;
		sum.enabled += c->enabled;
		sum.running += c->running;
	}
	if (never)
		buf_adds(&row[COL_COUNT], "never enabled");
	else if (sum.known)
		buf_addf(&row[COL_COUNT], "%llu%s", (unsigned long long)sum.value,
			 clock ? " ns" : "");
	else
		buf_adds(&row[COL_COUNT], "not read");
	if (!sum.timed || never)
		return;
	buf_addf(&row[COL_ENABLED], "%.3f ms", (double)sum.enabled / 1e6);
	/* the times of a software event differ if it joined a running group: that says nothing */
	if (sum.running == sum.enabled)
		buf_adds(&row[COL_RUNNING], sum.enabled ? "100 %" : "");
	else if (model_takes_turns(w->t->s->m, list[0]))
		buf_addf(&row[COL_RUNNING], "%.1f %%", 100.0 * (double)sum.running /
			 (double)sum.enabled);
	if (sum.running && n == 1 && model_takes_turns(w->t->s->m, list[0]))
		buf_addf(&row[COL_SCALED], "%.0f", (double)sum.value * (double)sum.enabled /
			 (double)sum.running);
}

static void table_row(struct table *w, const struct event *const *list, size_t n)
{
	const struct story_open open = story_open_of(list[0]);
	struct open_attr a = story_attr(w->t->s, list[0]);
	uint64_t records = 0;
	struct prose p;
	struct buf *row;

	w->rows = xrealloc(w->rows, (w->n + 1) * sizeof(*w->rows));
	row = w->rows[w->n++];
	memset(row, 0, sizeof(*w->rows));
	prose_init(&p, &row[COL_EVENT], 0);
	story_open_name(w->t->s, &open, &p);
	buf_add(&row[COL_EVENT], p.text.data, p.text.len);
	buf_free(&p.text);
	add_numbers(&row[COL_CPU], list, n, cpu_of, -1);
	add_numbers(&row[COL_FD], list, n, fd_of, -1);
	if (open_attr_source(&a) == SOURCE_TRACEPOINT)
		buf_addf(&row[COL_CONFIG], "%llu",
			 (unsigned long long)open_attr_get(&a, ATTR_CONFIG));
	if (list[0]->leader)
		buf_addf(&row[COL_GROUP], n == 1 ? "fd %d's" : "member", list[0]->leader->fd);
	else if (list[0]->leads)
		buf_adds(&row[COL_GROUP], "leader");
	add_numbers(&row[COL_ID], list, n, id_of, 0);
	cell_task(w, list, n, &row[COL_TASK]);
	cell_ring(w, list, n, &row[COL_RING]);
	if (open_attr_source(&a) != SOURCE_DUMMY || list[0]->start == START_NEVER)
		cells_count(w, list, n, open_attr_source(&a) == SOURCE_CLOCK, row);
	for (size_t i = 0; i < n; i++) {
		for (uint32_t type = 0; type < EVENT_RECORD_TYPES; type++)
			records += event_records(list[i], type);
	}
	if (row[COL_RING].len && story_looked(w->t->s))
		buf_addf(&row[COL_RECORDS], "%llu", (unsigned long long)records);
}

/* Write a row for each. */
static void table_rows(struct table *w, const struct event *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		table_row(w, &list[i], 1);
}

static bool table_has(const struct table *w, unsigned int col)
{
	bool same = col == COL_TASK;

	for (size_t i = 0; i < w->n; i++) {
		same &= !strcmp(buf_str(&w->rows[i][col]), buf_str(&w->rows[0][col]));
		if (w->rows[i][col].len && col != COL_TASK)
			return true;
	}
	return col == COL_TASK && !same; /* one task is named above */
}

/* Return the heading; "sh[2]+" in the column of tasks is sh[2] with its children. */
static const char *table_head(const struct table *w, unsigned int col)
{
	return col == COL_TASK && w->inherits ? "TASK+CHILD" : heads[col];
}

static void table_print(const struct table *w)
{
	size_t width[COLS] = { 0 }, all = 0, most = w->t->p->width ? w->t->p->width : SIZE_MAX;
	struct buf *out = w->t->p->out;

	for (unsigned int c = 0; c < COLS; c++) {
		if (!table_has(w, c))
			continue;
		width[c] = strlen(table_head(w, c));
		for (size_t i = 0; i < w->n; i++)
			if (w->rows[i][c].len > width[c])
				width[c] = w->rows[i][c].len;
		all += width[c] + 2;
	}
	if (all - 2 > most)	/* the name, which the other columns identify, is cut */
		width[COL_EVENT] = width[COL_EVENT] > all - 2 - most + 8 ?
				   width[COL_EVENT] - (all - 2 - most) : 8;
	for (size_t i = 0; i <= w->n; i++) {
		size_t pad = 0;

		for (unsigned int c = 0; c < COLS; c++) {
			const char *text = i ? buf_str(&w->rows[i - 1][c]) : table_head(w, c);
			int len = (int)strlen(text), cut = width[c] < (size_t)len;

			if (!width[c])
				continue;
			buf_pad(out, *text ? pad : 0);
			/* long names of one kind differ near their end */
			if (cut)
				buf_addf(out, "%.*s..%s", (int)width[c] / 4, text,
					 text + len - (width[c] - 2 - width[c] / 4));
			else
				buf_adds(out, text);
			pad = (*text ? 0 : pad) + 2 + width[c] - (cut ? width[c] : (size_t)len);
		}
		buf_addc(out, '\n');
	}
	w->t->p->any = true;
}

void story_table(const struct story_text *t, size_t most)
{
	const struct event *kinds[STORY_ITEMS];
	struct table w = { .t = t };
	size_t events = 0;

	for (size_t i = 0; i < t->nrings; i++)
		if (!t->rings[i]->aux && !t->rings[i]->first)
			map_set(&w.rings, t->rings[i]->event->number, t->rings[i]);
	for (size_t i = 0; i < t->nfamilies; i++)
		events += event_known(t->families[i].events[0]) ? t->families[i].n : 0;
	for_each(f, t->families, t->nfamilies) {
		const struct event **list = xcalloc(f->n, sizeof(*list));
		size_t n = event_known(f->events[0]) ? family_kinds(f, kinds) : 0, listed;

		for (size_t k = 0; k < n; k++) {
			listed = family_of_kind(f, kinds[k], list);
			if (w.n >= most)
				w.left += listed;
			else if (events > most || (!t->full && story_is_dummy(t, f)))
				table_row(&w, list, listed);
			else
				table_rows(&w, list, listed);
		}
		free(list);
	}
	if (w.n) {
		prose_para(t->p);
		table_print(&w);
	}
	if (w.inherits && table_has(&w, COL_ENABLED)) {
		prose_line(t->p, 0, 2);
		prose_adds(t->p, "Counts and times of a task and its children are sums over all of them.");
		prose_end(t->p);
	}
	if (w.left) {
		prose_count(t->p, w.left, "more event.", "more events.");
		prose_end(t->p);
	}
	for (size_t i = 0; i < w.n; i++)
		for (unsigned int c = 0; c < COLS; c++)
			buf_free(&w.rows[i][c]);
	free(w.rows);
	map_free(&w.rings);
}

/* The timeline -------------------------------------------------------------------------- */

/* What is not noted as it is seen, but known at the end. */
enum { LINE_OPEN = SEEN_IOCTL + 32, LINE_PROBE, LINE_ENABLE_AGAIN };

/* What one task did to events. */
struct line {
	unsigned int kind;
	pid_t tid;
	uint64_t first, last, times;
	const struct event **list;
	size_t n;
};

struct timeline {
	const struct story_text *t;
	struct line *lines;
	size_t n;
};

static void line_add(struct timeline *w, unsigned int kind, const struct seen *seen)
{
	size_t at = 0;
	struct line *l;

	while (at < w->n && (w->lines[at].kind != kind || w->lines[at].tid != seen->tid))
		at++;
	if (at == 1024)
		return;
	if (at == w->n) {
		w->lines = xrealloc(w->lines, ++w->n * sizeof(*l));
		w->lines[at] = (struct line){ kind, seen->tid, seen->first_ns, seen->last_ns,
					      0, NULL, 0 };
	}
	l = &w->lines[at];
	l->first = seen->first_ns < l->first ? seen->first_ns : l->first;
	l->last = seen->last_ns > l->last ? seen->last_ns : l->last;
	l->times += seen->times;
	if (!seen->event)
		return;
	APPEND(l->list, l->n) = seen->event;
}

/* What is told of each kind, and the least that is left out first. */
static const struct {
	unsigned int kind;
	uint32_t request;
	const char *text;
	unsigned int weight;
} tellings[] = {
	{ SEEN_EXEC, 0, "executed ", 8 },
	{ SEEN_EXIT, 0, "exited", 6 },
	{ SEEN_WAIT, 0, "waited", 3 },
	{ SEEN_PRCTL_ENABLE, 0, "enabled all its events by prctl", 8 },
	{ SEEN_PRCTL_DISABLE, 0, "disabled all its events by prctl", 7 },
	{ SEEN_MAP, 0, "mapped ", 7 },
	{ SEEN_READ, 0, "read ", 3 },
	{ SEEN_CLOSE, 0, "closed ", 1 },
	{ SEEN_RESUME, 0, "resumed output of ", 9 },
	{ SEEN_RECORD + PERF_RECORD_SAMPLE, 0, "SAMPLE", 8 },
	{ SEEN_RECORD + PERF_RECORD_LOST, 0, "LOST", 9 },
	{ SEEN_RECORD + PERF_RECORD_THROTTLE, 0, "THROTTLE", 9 },
	{ SEEN_RECORD + PERF_RECORD_UNTHROTTLE, 0, "UNTHROTTLE", 6 },
	{ SEEN_RECORD + PERF_RECORD_LOST_SAMPLES, 0, "LOST_SAMPLES", 9 },
	{ LINE_OPEN, 0, "opened ", 9 },
	{ LINE_PROBE, 0, "", 4 },
	{ LINE_ENABLE_AGAIN, 0, "enabled, without effect, ", 2 },
	{ 0, PERF_EVENT_IOC_ENABLE, "enabled ", 8 },
	{ 0, PERF_EVENT_IOC_DISABLE, "disabled ", 6 },
	{ 0, PERF_EVENT_IOC_REFRESH, "enabled for some overflows (PERF_EVENT_IOC_REFRESH) ", 8 },
	{ 0, PERF_EVENT_IOC_RESET, "reset ", 3 },
	{ 0, PERF_EVENT_IOC_PERIOD, "set the period of ", 6 },
	{ 0, PERF_EVENT_IOC_SET_OUTPUT, "redirected ", 4 },
	{ 0, PERF_EVENT_IOC_SET_FILTER, "set the filter of ", 4 },
	{ 0, PERF_EVENT_IOC_SET_BPF, "attached a BPF program to ", 6 },
	{ 0, PERF_EVENT_IOC_PAUSE_OUTPUT, "paused output of ", 9 },
	{ 0, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, "modified ", 4 },
};

/* Return the index of what is told of a kind; -1: nothing. */
static int telling_of(unsigned int kind)
{
	for (size_t i = 0; i < sizeof(tellings) / sizeof(*tellings); i++)
		if (kind == (tellings[i].request ? story_ioctl_kind(tellings[i].request) :
						   tellings[i].kind))
			return (int)i;
	return -1;
}

static bool is_opener_or_target(const struct story_text *t, pid_t tid)
{
	return story_uses_events(t, tid) || story_is_target(t, tid);
}

/* Note opens, which the model knows, and what else was seen of events that are no probes. */
static void timeline_fill(struct timeline *w)
{
	const struct story_text *t = w->t;

	for (size_t i = 0; i < t->nevents; i++) {
		const struct event *e = t->events[i];
		struct seen open = { .tid = e->opener, .event = e, .first_ns = e->opened_ns,
				     .last_ns = e->opened_ns, .times = 1 };

		if (e->found)
			continue;
		line_add(w, story_probe(t->s, e) ? LINE_PROBE : LINE_OPEN, &open);
	}
	map_each(slot, &t->s->by_kind) {
		struct seen seen = *(const struct seen *)slot->value;
		bool record = seen.kind >= SEEN_RECORD && seen.kind < SEEN_IOCTL;

		if (seen.kind == SEEN_REFUSED) {
			line_add(w, LINE_PROBE, &seen);
		} else if (seen.event ? !story_probe(t->s, seen.event) :
					is_opener_or_target(t, seen.tid)) {
			seen.tid = record ? 0 : seen.tid;
			if (seen.kind == story_ioctl_kind(PERF_EVENT_IOC_ENABLE) &&
			    seen.event->start == START_OPEN &&
			    !story_times(t->s, story_ioctl_kind(PERF_EVENT_IOC_DISABLE), seen.event))
				seen.kind = LINE_ENABLE_AGAIN;
			if (telling_of(seen.kind) >= 0)
				line_add(w, seen.kind, &seen);
		}
	}
}

static int compare_events(const void *a, const void *b)
{
	const struct event *x = *(const struct event *const *)a, *y = *(const struct event *const *)b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

/* Remove what weighs least, the latest of it, until most lines are left. */
static size_t timeline_cut(struct timeline *w, size_t most)
{
	size_t cut = 0;

	for (; w->n > most; cut++) {
		size_t least = 0;

		for (size_t i = 1; i < w->n; i++)
			if (tellings[telling_of(w->lines[i].kind)].weight <=
			    tellings[telling_of(w->lines[least].kind)].weight)
				least = i;
		free(w->lines[least].list);
		memmove(&w->lines[least], &w->lines[least + 1],
			(--w->n - least) * sizeof(*w->lines));
	}
	return cut;
}

static void line_task(const struct timeline *w, const struct line *l)
{
	const struct seen_task *task = story_task(w->t->s, l->tid);
	const struct event **list = xcalloc(w->t->nevents + 1, sizeof(*list));
	struct prose *p = w->t->p;
	size_t n = 0;
	char name[32];

	if (l->kind == SEEN_WAIT && task && task->wait) {
		prose_addf(p, " with %s", task->wait->name);
	} else if (l->kind == SEEN_EXEC && task) {
		for (size_t i = 0; i < w->t->nevents; i++)
			if (w->t->events[i]->start == START_EXEC && l->tid ==
			    (w->t->events[i]->pid ? w->t->events[i]->pid : w->t->events[i]->opener))
				list[n++] = w->t->events[i];
		prose_name(p, task->exe ? task->exe : "a program");
		prose_adds(p, n ? ", which enabled " : "");
		if (n)
			story_fds(list, n, p);
	} else if (l->kind == SEEN_EXIT && task && task->gone) {
		if (WIFSIGNALED(task->status)) {
			signal_name(WTERMSIG(task->status), name, sizeof(name));
			prose_addf(p, ", killed by %s", name);
		} else {
			prose_addf(p, " with status %d", WEXITSTATUS(task->status));
		}
	}
	free(list);
}

/* Write which of the events are enabled from then on. */
static void line_opened(const struct timeline *w, const struct line *l)
{
	const struct event **list = xcalloc(l->n, sizeof(*list));
	static const struct {
		enum event_start start;
		const char *text;
	} starts[] = { { START_OPEN, ", enabled" }, { START_LEADER, ", enabled with the leader" } };

	for (size_t i = 0; i < 2; i++) {
		size_t n = 0;

		for (size_t k = 0; k < l->n; k++)
			if (l->list[k]->start == starts[i].start)
				list[n++] = l->list[k];
		if (n)
			prose_adds(w->t->p, starts[i].text);
		if (n && n < l->n) {
			prose_adds(w->t->p, " ");
			story_fds(list, n, w->t->p);
		}
	}
	free(list);
}

static void timeline_line(const struct timeline *w, struct line *l)
{
	const struct story *s = w->t->s;
	struct prose *p = w->t->p;
	char number[32];
	int len = snprintf(number, sizeof(number), "%.3f",
			   l->first > s->start_ns ? (double)(l->first - s->start_ns) / 1e6 : 0.0);

	prose_line(p, len < 9 ? 9 - (unsigned int)len : 0, 13);
	prose_addf(p, "%s ms ", number);
	if (l->tid)
		story_who(s, l->tid, p);
	prose_adds(p, l->tid ? " " : "");
	if (l->kind >= SEEN_RECORD && l->kind < SEEN_IOCTL)
		prose_addf(p, "%llu ", (unsigned long long)l->times);
	prose_adds(p, tellings[telling_of(l->kind)].text);
	if (l->kind >= SEEN_RECORD && l->kind < SEEN_IOCTL)
		prose_adds(p, l->times == 1 ? " record was seen of " : " records were seen of ");
	if (l->kind == LINE_PROBE) {
		prose_adds(p, "probes and failed opens:");
		prose_count(p, l->times, "call", "calls");
	} else if (l->n) {
		qsort(l->list, l->n, sizeof(*l->list), compare_events);
		if (l->kind == SEEN_MAP)
			prose_adds(p, l->n == 1 ? "the ring of " : "the rings of ");
		story_fds(l->list, l->n, p);
		if (l->kind == LINE_OPEN)
			line_opened(w, l);
	} else {
		line_task(w, l);
	}
	if (l->times > (l->n ? l->n : 1) && l->kind != LINE_PROBE &&
	    (l->kind < SEEN_RECORD || l->kind >= SEEN_IOCTL)) {
		prose_adds(p, ", ");
		prose_times(p, l->times);
	}
	if (l->last - l->first >= 1000000 && l->kind != LINE_OPEN && l->kind != LINE_PROBE &&
	    l->kind != SEEN_MAP)
		prose_addf(p, ", until %.3f", (double)(l->last - s->start_ns) / 1e6);
}

void story_timeline(const struct story_text *t, size_t most)
{
	struct timeline w = { .t = t };
	size_t cut;

	timeline_fill(&w);
	if (w.n)
		qsort(w.lines, w.n, sizeof(*w.lines), compare_lines);
	cut = timeline_cut(&w, most);
	if (w.n)
		prose_para(t->p);
	for (size_t i = 0; i < w.n; i++) {
		timeline_line(&w, &w.lines[i]);
		free(w.lines[i].list);
	}
	if (cut) {
		prose_line(t->p, 10, 13);
		prose_addf(t->p, "and %zu more: --deep", cut);
	}
	prose_end(t->p);
	free(w.lines);
}
