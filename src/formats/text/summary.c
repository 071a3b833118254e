// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/text/summary.h"

#include <stdlib.h>

#include "core/abi/bpf.h"
#include "core/abi/siginfo.h"
#include "core/abi/tables.h"
#include "core/judge/judge.h"
#include "core/lib/die.h"
#include "core/model/event_name.h"
#include "formats/text/open_attr.h"
#include "formats/text/text.h"

static void summary_count(struct buf *out, uint64_t n, const char *what)
{
	buf_addf(out, "%llu %s%s", (unsigned long long)n, what, n == 1 ? "" : "s");
}

void summary_add_task(const struct model *m, pid_t tid, struct buf *out)
{
	struct task_info *const *tasks;
	size_t n = model_tasks(m, &tasks);

	/* tids are reused: the last task is nearly always meant */
	while (n--) {
		if (tasks[n]->tid != tid || !*tasks[n]->comm)
			continue;
		text_escaped(out, tasks[n]->comm);
		buf_addf(out, "[%d]", (int)tid);
		return;
	}
	buf_addf(out, "task %d", (int)tid);
}

/* Events ------------------------------------------------------------------ */

void summary_add_target(const struct model *m, const struct event *e, struct buf *out)
{
	if (!event_known(e))
		return;
	if (e->flags & PERF_FLAG_PID_CGROUP && e->pid < 0)
		buf_adds(out, "a cgroup");
	else if (e->flags & PERF_FLAG_PID_CGROUP)
		buf_addf(out, "cgroup of fd %d", (int)e->pid);
	else if (e->pid == -1)
		buf_adds(out, "every task");
	else
		summary_add_task(m, e->pid ? e->pid : e->opener, out);
	if (event_attr(e, ATTR_INHERIT))
		buf_adds(out, " and its children");
	if (e->cpu >= 0)
		buf_addf(out, " on cpu %d", e->cpu);
}

void summary_add_mode(const struct names *names, const struct event *e, struct buf *out)
{
	const struct open_attr a = { .attr = e->attr, .len = e->attr_len, .names = names };
	uint64_t period = event_attr(e, ATTR_SAMPLE_PERIOD);
	enum event_source source = open_attr_source(&a);

	if (event_attr_known(e)) {
		if (source == SOURCE_DUMMY)
			buf_adds(out, ", for side-band records");
		else if (!period)
			buf_adds(out, ", counting");
		else if (event_attr(e, ATTR_FREQ))
			buf_addf(out, ", sampling about %llu times a second",
				 (unsigned long long)period);
		else if (source == SOURCE_CLOCK)
			buf_addf(out, ", sampling every %llu ns", (unsigned long long)period);
		else if (period == 1)
			buf_adds(out, ", sampling every event");
		else
			buf_addf(out, ", sampling every %llu events", (unsigned long long)period);
	}
	if (!e->bpf)
		return;
	buf_adds(out, ", with ");
	bpf_program_text(&e->program, out);
	if (e->bpf == BPF_DETACHED)
		buf_adds(out, " until its link was closed");
}

/* Append the release that an open requires, and why. */
static void summary_add_need(const struct names *names, const struct event *e,
			     struct summary_need *need, struct buf *out)
{
	struct judge_machine machine;
	struct rule_ask ask = {
		.attr = e->attr, .len = e->attr_len, .pid = e->pid, .cpu = e->cpu,
		.group_fd = -1, .flags = e->flags, .facts = &machine.facts,
	};

	if (!event_attr_known(e))
		return;
	if (need->attr != e->attr || need->flags != e->flags) {
		need->attr = e->attr;
		need->flags = e->flags;
		judge_unlimited(&machine, 0, names->arch ? names->arch : arch_native(), names,
				e->attr, e->attr_len);
		need->release = as_kernel_oldest(&ask, &need->older);
	}
	if (!need->older.error)
		return;
	buf_adds(out, "; requires Linux ");
	release_text(release_mainline(need->release), out);
	buf_addf(out, need->older.lacks ? " (%s)" : " (older kernels refuse it: %s)",
		 need->older.because);
}

void summary_add_life(const struct names *names, const struct model *m, const struct event *e,
		      struct summary_need *need, struct buf *out)
{
	static const char *const starts[] = {
		[START_NEVER] = "never enabled", [START_OPEN] = "enabled at open",
		[START_EXEC] = "enabled by exec", [START_IOCTL] = "enabled by ioctl",
		[START_PRCTL] = "enabled by prctl",
		[START_LEADER] = "enabled with its leader",
		[START_UNKNOWN] = "unknown when enabled",
	};

	if (!e->found) {
		buf_adds(out, "opened by ");
		summary_add_task(m, e->opener, out);
		buf_addf(out, " as fd %d; %s", e->fd, starts[e->start]);
		summary_add_need(names, e, need, out);
	} else {
		buf_addf(out, "fd %d%s", e->fd, e->described ? ", opened before attach" : "");
	}
	if (e->id)
		buf_addf(out, "; id %llu", (unsigned long long)e->id);
	if (e->filter) {
		buf_adds(out, "; filter ");
		text_quoted(out, e->filter, strlen(e->filter), 64, false, HEX_NEVER);
	}
	buf_adds(out, e->closed ? "; closed" : "; open to the end");
}

void summary_add_counter(const struct event *e, struct buf *out)
{
	const struct event_count *c = &e->count;

	if (e->reads) {
		buf_adds(out, "read ");
		summary_count(out, e->reads, "time");
		buf_adds(out, c->known ? "; " : "");
	}
	if (!c->known)
		return;
	buf_addf(out, "count %llu", (unsigned long long)c->value);
	if (c->timed && c->running < c->enabled && c->running)
		buf_addf(out, ", ran %.2f%%: scaled %.0f",
			 100.0 * (double)c->running / (double)c->enabled,
			 (double)c->value * (double)c->enabled / (double)c->running);
	else if (c->timed && c->enabled && !c->running)
		buf_adds(out, ", never on the PMU");
}

void summary_add_records(const struct event *e, struct buf *out)
{
	uint64_t lost = e->lost_read > e->lost_reported ? e->lost_read : e->lost_reported;
	const char *sep = "";

	for (uint32_t type = 0; type < EVENT_RECORD_TYPES; type++) {
		const char *name = xlat_name(&xlat_perf_event_type, type);

		if (!event_records(e, type))
			continue;
		buf_addf(out, "%s%llu ", sep, (unsigned long long)event_records(e, type));
		buf_adds(out, name ? name + strlen(xlat_perf_event_type.prefix) :
				     "of unknown type");
		sep = ", ";
	}
	if (lost)
		buf_addf(out, "%s%llu lost", sep, (unsigned long long)lost);
}

static void summary_detail(struct buf *out, const char *what, struct buf *text)
{
	if (text->len)
		buf_addf(out, "       %s%s\n", what, buf_str(text));
	buf_reset(text);
}

static void print_events(const struct model *m, const struct names *names, struct buf *out)
{
	struct event *const *events;
	size_t n = model_events(m, &events), probes = 0;
	struct summary_need need = { .attr = NULL };
	struct buf text = { 0 };

	for (size_t i = 0; i < n; i++)
		probes += event_is_probe(events[i]);
	if (n > probes)
		buf_addf(out, "Events: %zu\n", n - probes);
	for (size_t i = 0; i < n; i++) {
		const struct event *e = events[i];

		if (event_is_probe(e))
			continue;
		buf_addf(out, "  #%-3u ", e->number);
		text_escaped(out, e->name);
		if (event_known(e))
			buf_adds(out, ": ");
		summary_add_target(m, e, out);
		summary_add_mode(names, e, out);
		if (e->leader)
			buf_addf(out, ", in the group of #%u", e->leader->number);
		buf_addc(out, '\n');
		summary_add_life(names, m, e, &need, &text);
		summary_detail(out, "", &text);
		summary_add_counter(e, &text);
		summary_detail(out, "", &text);
		summary_add_records(e, &text);
		summary_detail(out, "records: ", &text);
	}
	buf_free(&text);
	if (probes)
		buf_addf(out, "Probes, opened and closed unused: %zu\n", probes);
	for (size_t i = 0; i < n; i++) {
		if (!event_is_probe(events[i]))
			continue;
		buf_addf(out, "  #%-3u ", events[i]->number);
		text_escaped(out, events[i]->name);
		buf_addc(out, '\n');
	}
}

/* Failed opens -------------------------------------------------------------- */

static bool same_attempt(const struct attempt *a, const struct attempt *b)
{
	return a->tid == b->tid && a->error == b->error && a->injected == b->injected &&
	       a->attr_len == b->attr_len &&
	       a->pid == b->pid && !memcmp(a->attr, b->attr, a->attr_len);
}

static void print_attempt(const struct model *m, const struct names *n,
			  const struct attempt *a, size_t times, struct buf *out)
{
	const struct event *e = attempt_instead(m, a);
	struct buf text = { 0 };

	buf_adds(out, "  ");
	event_name_probed(a->attr, a->attr_len, n, a->probed, &text);
	text_escaped(out, buf_str(&text));
	buf_reset(&text);
	error_name_text(a->error, &text);
	buf_addf(out, ": %s%s", buf_str(&text), a->injected ? ", injected" : "");
	buf_reset(&text);
	if (times > 1)
		buf_addf(out, ", %zu times", times);
	if (e) {
		attempt_compare(a, e, &text);
		buf_addf(out, "; then #%u ", e->number);
		text_escaped(out, e->name);
		buf_addf(out, " opened, which differs in %s",
			 text.len ? buf_str(&text) : "nothing");
	} else if (event_name_knows(a->attr_len)) {
		buf_adds(out, "; no similar event opened");
	}
	buf_addc(out, '\n');
	buf_free(&text);
}

/* Rings and tasks ------------------------------------------------------------ */

void summary_find_writers(const struct model *m, struct summary_writers *w)
{
	struct event *const *events;
	size_t n = model_events(m, &events);

	w->first = xcalloc(n + 1, sizeof(*w->first));
	w->next = xcalloc(n + 1, sizeof(*w->next));
	while (n--) { /* numbers start at 1 and ascend in this list */
		const struct event *e = events[n], *to = event_writes_to(e);

		w->next[e->number] = w->first[to->number];
		w->first[to->number] = e->number;
	}
}

void summary_free_writers(struct summary_writers *w)
{
	free(w->first);
	free(w->next);
}

unsigned int summary_first_writer(const struct summary_writers *w, const struct ring *r)
{
	return r->aux ? 0 : w->first[r->event->number];
}

void summary_add_size(const struct ring *r, uint32_t page, struct buf *out)
{
	uint64_t pages = (r->end - r->start) / page;

	if (r->aux && event_known(r->event))
		buf_addf(out, "AUX area of %llu KiB", (unsigned long long)(pages * page / 1024));
	else if (pages < 2)
		buf_adds(out, "control page only");
	else
		buf_addf(out, "%llu KiB", (unsigned long long)((pages - 1) * page / 1024));
	if (r->overwrite && (r->aux || pages > 1))
		buf_adds(out, ", overwritten when full");
}

static void print_ring(const struct summary_writers *w, const struct ring *r, uint32_t page,
		       struct buf *out)
{
	const char *sep = "; written by ";

	buf_addf(out, "  %u of ", r->number);
	if (!event_known(r->event)) {
		buf_adds(out, "an event opened before attach");
	} else {
		buf_addf(out, "#%u ", r->event->number);
		text_escaped(out, r->event->name);
	}
	buf_adds(out, ": ");
	summary_add_size(r, page, out);
	buf_addf(out, ", in process %d", (int)r->pid);
	for (unsigned int i = summary_first_writer(w, r); i; i = w->next[i]) {
		buf_addf(out, "%s#%u", sep, i);
		sep = ", ";
	}
	buf_addc(out, '\n');
	if (r->looks) {
		buf_adds(out, "       ");
		summary_count(out, r->looks, "look");
		buf_adds(out, ", ");
		summary_count(out, r->records, "record");
		buf_addf(out, " seen, %llu bytes missed%s\n", (unsigned long long)r->missed,
			 r->torn ? ", and invalid bytes" : "");
	}
	if (r->blind) {
		buf_adds(out, "       ");
		summary_count(out, r->blind, "look");
		buf_addf(out, " failed (%s): contents unknown\n", strerror(r->blind_error));
	}
}

static void print_tasks(const struct model *m, struct buf *out)
{
	struct task_info *const *tasks;
	size_t n = model_tasks(m, &tasks);

	buf_adds(out, "Tasks that use events:\n");
	for (size_t i = 0; i < n; i++) {
		const struct task_info *t = tasks[i];
		const char *sep = "; waits for ring ";

		if (!t->opens && !t->failures && !t->reads && !t->polls)
			continue;
		buf_adds(out, "  ");
		summary_add_task(m, t->tid, out);
		buf_adds(out, ": ");
		summary_count(out, t->opens, "open");
		if (t->failures)
			buf_addf(out, ", %u failed", t->failures);
		buf_adds(out, ", ");
		summary_count(out, t->reads, "read");
		buf_adds(out, ", ");
		summary_count(out, t->polls, "wait");
		for (size_t j = 0; j < t->npolled; j++) {
			buf_addf(out, "%s%u", sep, t->polled[j]->number);
			sep = ", ";
		}
		buf_addc(out, '\n');
	}
}

void summary_print(const struct model *m, const struct names *n, struct buf *out)
{
	struct event *const *events;
	const struct attempt *a;
	size_t nevents = model_events(m, &events), count = model_attempts(m, &a);
	struct ring *const *rings;
	size_t nrings = model_rings(m, &rings);
	struct summary_writers w;

	if (!nevents && !count) {
		buf_adds(out, "No event was opened.\n");
		return;
	}
	print_events(m, n, out);
	if (count)
		buf_addf(out, "Failed opens: %zu\n", count);
	for (size_t i = 0, run; i < count; i += run) {
		for (run = 1; i + run < count && same_attempt(&a[i], &a[i + run]);)
			run++;
		print_attempt(m, n, &a[i], run, out);
	}
	if (nrings)
		buf_addf(out, "Rings: %zu\n", nrings);
	summary_find_writers(m, &w);
	for (size_t i = 0; i < nrings; i++)
		print_ring(&w, rings[i], n->page_size, out);
	summary_free_writers(&w);
	print_tasks(m, out);
}
