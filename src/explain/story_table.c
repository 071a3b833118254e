// SPDX-License-Identifier: LGPL-2.1-or-later
/* The table of a story's events. */
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
	bool tasks, inherits;	/* some events are of a task; and of those that it creates */
};

/* Append numbers of events, sorted, "0-3,5", or nothing if they are all what counts as none. */
static void add_numbers(struct buf *out, const struct event *const *list, size_t n,
			int64_t (*of)(const struct event *e), int64_t none)
{
	const char *sep = "";
	size_t run;

	for (size_t i = 0; i < n; i += run) {
		int64_t first = of(list[i]), last, unit = first > 99999 ? 100 : INT64_MAX;

		for (run = 1; i + run < n && of(list[i + run]) - first <= (int64_t)run &&
		     of(list[i + run]) >= first; run++)
			;
		if (first == none)
			continue;
		if (out->len > (first > 99999 ? 0 : 12)) {
			buf_adds(out, ",...");
			return;
		}
		last = of(list[i + run - 1]);
		buf_addf(out, "%s%lld", sep, (long long)first);
		/* of large numbers the last digits are enough: 15633750-51 */
		while (last / unit != first / unit && unit < 1000000000000)
			unit *= 10;
		if (last != first)
			buf_addf(out, "-%0*lld", first > 99999 ? 2 : 0, (long long)(last % unit));
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

static void cell_task(struct table *w, const struct event *const *list, size_t n, struct buf *out)
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
	w->tasks |= list[0]->pid != -1;
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
	return col != COL_TASK || !w->inherits ? heads[col] :
	       *story_heirs(w->t->s) == 't' ? "TASK+THREAD" : "TASK+CHILD";
}

static void table_print(const struct table *w)
{
	size_t width[COLS] = { 0 }, all = 0, most = w->t->p->width ? w->t->p->width : SIZE_MAX;
	static const enum column spare[] = { COL_ID, COL_RUNNING, COL_RECORDS };
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
	/* what else does not fit: the ids, and the least that differs */
	for (size_t i = 0; i < sizeof(spare) / sizeof(*spare) && most < all - 2 &&
	     all - 2 - most > width[COL_EVENT] / 2; i++) {
		all -= width[spare[i]] ? width[spare[i]] + 2 : 0;
		width[spare[i]] = 0;
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

/* Say how much of the time from the exec that enabled events a task ran, if it mostly slept. */
static void table_slept(const struct table *w)
{
	for (size_t i = 0; i < w->t->nevents; i++) {
		const struct event *e = w->t->events[i];
		const struct seen_task *task = e->count.timed ? story_task(w->t->s, e->pid) : NULL;

		for (size_t k = 0; task && task->gone && k < task->spans.n; k++) {
			const struct span *l = &task->spans.items[k];
			const uint64_t ns = task->gone_ns - l->first_ns;

			if (l->kind != SEEN_EXEC || !l->n || e->start != START_EXEC ||
			    ns <= 2 * e->count.enabled)
				continue;
			prose_addf(w->t->p, ": %.3f of the %.3f ms from exec to exit, else it slept or "
					    "waited", (double)e->count.enabled / 1e6, (double)ns / 1e6);
			return;
		}
	}
}

/* Say what the program read last, of an event whose count pevtrace read later. */
static void table_read(const struct story_text *t)
{
	for (size_t i = 0; i < t->nevents; i++) {
		const struct event *e = t->events[i];
		struct open_attr a = story_attr(t->s, e);

		if (!e->valued || story_probe(t->s, e) || open_attr_source(&a) == SOURCE_DUMMY ||
		    (e->read_value == e->count.value && e->read_enabled == e->count.enabled))
			continue;
		prose_addf(t->p, " COUNT of fd %d is what pevtrace read later; the program last "
			   "read %llu", e->fd, (unsigned long long)e->read_value);
		prose_addf(t->p, e->timed ? " in %.3f ms." : ".", (double)e->read_enabled / 1e6);
		return;
	}
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
	if (w.tasks && table_has(&w, COL_ENABLED)) {
		prose_line(t->p, 0, 2);
		prose_adds(t->p, "The time of a task's event passes only while the task is on a CPU");
		table_slept(&w);
		prose_adds(t->p, ".");
		if (w.inherits)
			prose_addf(t->p, " Counts and times of a task and its %s are sums over all "
					 "of them.", story_heirs(t->s));
	}
	if (w.n)
		table_read(t);
	prose_end(t->p);
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
