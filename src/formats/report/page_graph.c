// SPDX-License-Identifier: LGPL-2.1-or-later
/* The graph: openers, events in their groups, rings, and tasks that wait for these. */
#include "formats/report/page_internal.h"

/* Columns, from left to right. */
enum column { OPENERS, EVENTS, RINGS, READERS, COLUMNS };

enum {
	MARGIN = 12, HEAD = 30, HEIGHT = 46, GAP = 12, GROUP_GAP = 14, LETTER = 7,
	TEXT_X = 14, LINE_1 = 20, LINE_2 = 36,
};

static const struct {
	int x, width;
	const char *title;
} columns[COLUMNS] = {
	[OPENERS] = { MARGIN, 160, "Opened by" }, [EVENTS] = { 250, 300, "Events" },
	[RINGS] = { 640, 170, "Ring buffers" }, [READERS] = { 890, 160, "Waited on by" },
};

struct node {
	uint64_t key;		/* tid, or number of the event or ring */
	int y;
};

struct drawing {
	const struct report *r;
	struct buf *out;
	struct node *nodes[COLUMNS];
	size_t n[COLUMNS];
	int bottom[COLUMNS];
	bool cut;		/* events were left out */
};

static struct node *find_node(const struct drawing *d, enum column c, uint64_t key)
{
	for (size_t i = 0; i < d->n[c]; i++)
		if (d->nodes[c][i].key == key)
			return &d->nodes[c][i];
	return NULL;
}

static struct node *add_node(struct drawing *d, enum column c, uint64_t key)
{
	struct node *n = find_node(d, c, key);

	if (n)
		return n;
	n = &APPEND(d->nodes[c], d->n[c]);
	*n = (struct node){ key, d->bottom[c] };
	d->bottom[c] += HEIGHT + GAP;
	return n;
}

/* Place the events, members after their leader. */
static void place_events(struct drawing *d)
{
	struct event *const *events;
	size_t n = model_events(d->r->model, &events);

	for (size_t i = 0; i < n; i++) {
		const struct event *e = events[i];
		bool leads = false;

		if (e->leader || event_is_probe(e))
			continue;
		if (d->n[EVENTS] >= PAGE_GRAPH) {
			d->cut = true;
			return;
		}
		for (size_t k = i + 1; k < n && !leads; k++)
			leads = events[k]->leader == e;
		d->bottom[EVENTS] += leads ? GROUP_GAP : 0;
		add_node(d, EVENTS, e->number);
		for (size_t k = i + 1; leads && k < n; k++)
			if (events[k]->leader == e && d->n[EVENTS] < 2 * PAGE_GRAPH)
				add_node(d, EVENTS, events[k]->number);
		d->bottom[EVENTS] += leads ? GROUP_GAP : 0;
	}
}

static void place_others(struct drawing *d)
{
	struct task_info *const *tasks;
	struct ring *const *rings;
	size_t n = model_rings(d->r->model, &rings);

	for (size_t i = 0; i < d->n[EVENTS]; i++) {
		unsigned int number = (unsigned int)d->nodes[EVENTS][i].key;
		const struct event *e = model_event_number(d->r->model, number);

		if (!e->found)
			add_node(d, OPENERS, (uint64_t)e->opener);
	}
	for (size_t i = 0; i < n; i++)
		if (find_node(d, EVENTS, rings[i]->event->number))
			add_node(d, RINGS, rings[i]->number);
	n = model_tasks(d->r->model, &tasks);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < tasks[i]->npolled; k++)
			if (find_node(d, RINGS, tasks[i]->polled[k]->number))
				add_node(d, READERS, (uint64_t)tasks[i]->tid);
}

static void draw_edge(struct drawing *d, enum column from, const struct node *a, enum column to,
		      const struct node *b, const char *class)
{
	int x1 = columns[from].x + columns[from].width, x2 = columns[to].x;
	int y1 = a->y + HEIGHT / 2, y2 = b->y + HEIGHT / 2, bend = (x2 - x1) / 2;

	buf_addf(d->out, "<path class=\"edge %s\" data-a=\"%c%llu\" data-b=\"%c%llu\" "
		 "d=\"M%d %dC%d %d %d %d %d %d\"/>\n", class, "terw"[from],
		 (unsigned long long)a->key, "terw"[to], (unsigned long long)b->key,
		 x1, y1, x1 + bend, y1, x2 - bend, y2, x2, y2);
}

static void draw_edges(struct drawing *d)
{
	struct task_info *const *tasks;
	struct ring *const *rings;
	size_t nrings = model_rings(d->r->model, &rings), ntasks = model_tasks(d->r->model, &tasks);

	for (size_t i = 0; i < d->n[EVENTS]; i++) {
		const struct node *n = &d->nodes[EVENTS][i], *other;
		const struct event *e = model_event_number(d->r->model, (unsigned int)n->key);
		const struct event *to = event_writes_to(e);

		other = e->found ? NULL : find_node(d, OPENERS, (uint64_t)e->opener);
		if (other)
			draw_edge(d, OPENERS, other, EVENTS, n, "opens");
		for (size_t k = 0; k < nrings; k++) {
			other = rings[k]->event == to ?
				find_node(d, RINGS, rings[k]->number) : NULL;
			if (other)
				draw_edge(d, EVENTS, n, RINGS, other,
					  e->output ? "redirect" : "writes");
		}
	}
	for (size_t i = 0; i < ntasks; i++)
		for (size_t k = 0; k < tasks[i]->npolled; k++) {
			const struct node *a = find_node(d, RINGS, tasks[i]->polled[k]->number);
			const struct node *b = find_node(d, READERS, (uint64_t)tasks[i]->tid);

			if (a && b)
				draw_edge(d, RINGS, a, READERS, b, "waits");
		}
}

/* Draw frames around groups. */
static void draw_groups(struct drawing *d)
{
	for (size_t i = 0; i < d->n[EVENTS]; i++) {
		const struct node *n = &d->nodes[EVENTS][i];
		size_t k;

		for (k = i + 1; k < d->n[EVENTS]; k++) {
			const struct event *e = model_event_number(d->r->model,
				(unsigned int)d->nodes[EVENTS][k].key);

			if (!e->leader || e->leader->number != n->key)
				break;
		}
		if (k == i + 1)
			continue;
		buf_addf(d->out, "<rect class=\"group\" x=\"%d\" y=\"%d\" width=\"%d\" "
			 "height=\"%d\" rx=\"10\"/>\n", columns[EVENTS].x - 10, n->y - 8,
			 columns[EVENTS].width + 20,
			 d->nodes[EVENTS][k - 1].y - n->y + HEIGHT + 16);
	}
}

/* Draw a line of text, cut to a width in pixels. */
static void draw_fitting_text(struct buf *out, int y, const char *class, const char *text,
			      int width)
{
	size_t fits = (size_t)(width - 2 * TEXT_X) / LETTER + 1;
	struct buf cut = { 0 };

	if (strlen(text) > fits) {
		buf_add(&cut, text, fits - 2);
		buf_adds(&cut, "..");
		text = cut.data;
	}
	buf_addf(out, "<text class=\"%s\" x=\"%d\" y=\"%d\"", class, TEXT_X, y);
	html_put(out, ">", text, "</text>");
	buf_free(&cut);
}

static void draw_box(struct drawing *d, enum column c, const struct node *n, const char *class,
		     bool linked, const char *one, const char *two)
{
	struct buf *out = d->out;

	if (linked)
		buf_addf(out, "<a href=\"#%s-%llu\">", class, (unsigned long long)n->key);
	buf_addf(out, "<g class=\"node %s\" data-node=\"%c%llu\" transform=\"translate(%d %d)\">"
		 "<title>", class, "terw"[c], (unsigned long long)n->key, columns[c].x, n->y);
	html_addf(out, "%s: %s", one, two);
	buf_addf(out, "</title><rect width=\"%d\" height=\"%d\" rx=\"6\"/>", columns[c].width,
		 HEIGHT);
	draw_fitting_text(out, LINE_1, "one", one, columns[c].width);
	draw_fitting_text(out, LINE_2, "two", two, columns[c].width);
	buf_adds(out, linked ? "</g></a>\n" : "</g>\n");
}

static void draw_node(struct drawing *d, enum column c, const struct node *n)
{
	const struct model *m = d->r->model;
	struct buf one = { 0 }, two = { 0 };
	const struct event *e;
	const struct ring *ring;
	struct task_info *const *tasks;
	size_t ntasks = model_tasks(m, &tasks);
	unsigned int times = 0;

	if (c == EVENTS) {
		e = model_event_number(m, (unsigned int)n->key);
		buf_addf(&one, "#%u %s", e->number, e->name);
		summary_add_mode(d->r->names, e, &two);
		draw_box(d, c, n, "event", true, buf_str(&one),
			 two.len ? two.data + 2 : "opened before the trace");
	} else if (c == RINGS) {
		ring = model_ring(m, (unsigned int)n->key);
		buf_addf(&one, "ring %u", ring->number);
		summary_add_size(ring, d->r->names->page_size, &two);
		draw_box(d, c, n, "ring", true, buf_str(&one), buf_str(&two));
	} else {
		summary_add_task(m, (pid_t)n->key, &one);
		for (size_t i = 0; i < ntasks; i++) /* tids are reused */
			if (tasks[i]->tid == (pid_t)n->key)
				times += c == OPENERS ? tasks[i]->opens : tasks[i]->polls;
		buf_addf(&two, "%u %s%s", times, c == OPENERS ? "open" : "wait",
			 times == 1 ? "" : "s");
		draw_box(d, c, n, "task", false, buf_str(&one), buf_str(&two));
	}
	buf_free(&one);
	buf_free(&two);
}

static void draw(struct drawing *d)
{
	int last = d->n[READERS] ? READERS : d->n[RINGS] ? RINGS : EVENTS;
	int width = columns[last].x + columns[last].width + MARGIN, most = 0;

	for (int c = 0; c < COLUMNS; c++)
		most = d->bottom[c] > most ? d->bottom[c] : most;
	for (int c = 0; c < COLUMNS; c++) /* center the columns vertically */
		for (size_t i = 0; i < d->n[c]; i++)
			d->nodes[c][i].y += (most - d->bottom[c]) / 2;
	buf_addf(d->out, "<div class=\"scroll graph\" tabindex=\"0\" role=\"region\" "
		 "aria-label=\"Drawing of events and rings\">\n<svg viewBox=\"0 0 %d %d\" "
		 "width=\"%d\" height=\"%d\" role=\"group\" aria-labelledby=\"graph-title "
		 "graph-desc\"><title id=\"graph-title\">Events and rings</title>"
		 "<desc id=\"graph-desc\">Who opened each event, which events form groups, "
		 "which ring their records go to and who waits for it. The tables of events, "
		 "rings and tasks have the same data.</desc>\n", width, most + MARGIN, width,
		 most + MARGIN);
	for (int c = 0; c <= last; c++)
		if (d->n[c])
			buf_addf(d->out, "<text class=\"head\" x=\"%d\" y=\"18\">%s</text>\n",
				 columns[c].x, columns[c].title);
	draw_groups(d);
	draw_edges(d);
	for (enum column c = OPENERS; c < COLUMNS; c++)
		for (size_t i = 0; i < d->n[c]; i++)
			draw_node(d, c, &d->nodes[c][i]);
	buf_adds(d->out, "</svg>\n</div>\n");
}

void part_graph(const struct report *r, struct buf *out)
{
	struct drawing d = { .r = r, .out = out };

	for (int c = 0; c < COLUMNS; c++)
		d.bottom[c] = HEAD;
	place_events(&d);
	place_others(&d);
	if (d.n[EVENTS])
		draw(&d);
	else
		buf_adds(out, "<p>No event was opened, or only probes.</p>\n");
	if (d.cut)
		buf_addf(out, "<p class=\"rest\">The first %zu events are drawn; the table has "
			 "more.</p>\n", d.n[EVENTS]);
	for (int c = 0; c < COLUMNS; c++)
		free(d.nodes[c]);
}
