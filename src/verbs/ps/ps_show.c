// SPDX-License-Identifier: LGPL-2.1-or-later
/* The list of pevtrace ps: a line for each event, with -v all that is known, or JSON. */
#include "verbs/ps/ps.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "core/abi/layout.h"
#include "core/abi/layout_emit.h"
#include "core/model/event_name.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Widths of columns, which are 80 with the blanks between them; NAME to HOLDER at the least. */
enum {
	ID = 7, NAME = 15, TARGET = 13, STATE = 7, COUNT = 8, RAN = 4, MORE = 4, HOLDER = 15,
};

/* enum perf_event_state of include/linux/perf_event.h; lower numbers are later ends. */
enum { STATE_EXIT = -3, STATE_ERROR, STATE_OFF, STATE_INACTIVE, STATE_ACTIVE };

static const char *state_word(const struct events_event *v)
{
	switch (v->facts.attr_len ? v->facts.state : INT32_MAX) {
	case STATE_ACTIVE:
		return "active";
	case STATE_INACTIVE:
		return "enabled";	/* but its task does not run, or others have the counters */
	case STATE_OFF:
		return "off";
	case STATE_ERROR:
		return "error";
	case INT32_MAX:
		return "?";
	}
	return v->facts.state == STATE_EXIT ? "exited" : "dead";
}

void ps_name(const struct ps *p, const struct events_event *v, struct buf *out)
{
	uint8_t attr[EVENTS_ATTR_MAX];
	size_t len = events_attr(v, attr);

	if (len)
		event_name(attr, len, &p->machine.names, out);
	else
		buf_adds(out, "?");
}

/* The name of the cgroup that it measures; the kernel's of the root is empty. */
static const char *cgroup_name(const struct events_facts *f, char name[EVENTS_CGROUP + 1])
{
	snprintf(name, EVENTS_CGROUP + 1, "%.*s", EVENTS_CGROUP,
		 *f->cgroup_name ? f->cgroup_name : "/");
	return name;
}

static void target_words(const struct events_event *v, struct buf *out)
{
	const struct events_facts *f = &v->facts;
	char cgroup[EVENTS_CGROUP + 1];

	if (!f->attr_len)
		buf_adds(out, "?");
	else if (f->target)
		buf_addf(out, "%.*s[%u]", EVENTS_COMM, f->target_comm, f->target);
	else if (f->cgroup)
		buf_adds(out, cgroup_name(f, cgroup));
	if (f->attr_len && f->cpu >= 0)
		buf_addf(out, "%scpu%d", f->target || f->cgroup ? " " : "", f->cpu);
}

/* Append a number in at most 6 columns. */
static void add_short(uint64_t n, struct buf *out)
{
	static const char units[] = " kMGTPE";
	size_t unit = 0;
	double v = (double)n;

	if (n < 1000000) {
		buf_addf(out, "%llu", (unsigned long long)n);
		return;
	}
	for (; v >= 1000; v /= 1000)
		unit++;
	buf_addf(out, "%.*f%c", v < 10 ? 2 : v < 100 ? 1 : 0, v, units[unit]);
}

/* The count, with a ? if it is old; in a later list, by how much it grew in a second. */
static void add_count(const struct ps *p, const struct events_event *v, struct buf *out)
{
	uint64_t before = (uintptr_t)map_get(&p->counts, v->facts.id);
	uint64_t count = v->facts.count;

	if (!v->counted) {
		buf_adds(out, "?");
	} else if (!before || v->stale) {
		add_short(count, out);
		buf_adds(out, v->stale ? "?" : "");
	} else {
		count = count > before - 1 ? count - (before - 1) : 0;
		add_short((uint64_t)((double)count * 1e9 / (double)(p->now_ns - p->before_ns)),
			  out);
		buf_adds(out, "/s");
	}
}

static void add_share(const struct events_event *v, struct buf *out)
{
	if (v->timed && v->facts.enabled_ns)
		buf_addf(out, "%.0f%%", 100 * (double)v->facts.running_ns /
				       (double)v->facts.enabled_ns);
	else
		buf_adds(out, "-");
}

static bool ps_grouped(const struct events_event *v)
{
	return v->facts.attr_len && (v->facts.leader != v->facts.id || v->facts.siblings);
}

/* Store the attr of an event that needs the CPU's hardware, and whose count is known; or return 0. */
static size_t hardware_attr(struct ps *p, const struct events_event *v, uint8_t *attr)
{
	size_t len = events_attr(v, attr);

	return len && v->counted && instrument_is_hardware(p->machine.host, attr, len) ? len : 0;
}

bool ps_doubt(struct ps *p, const struct events_event *v, struct buf *out)
{
	uint8_t attr[EVENTS_ATTR_MAX];
	size_t len = hardware_attr(p, v, attr);

	return len && instrument_doubt(&p->instruments, attr, len, v->facts.count, out);
}

static void add_more(struct ps *p, const struct events_event *v, struct buf *out)
{
	const struct events_facts *f = &v->facts;
	struct buf why = { 0 };

	buf_addf(out, "%s%s%s%s%s%s", ps_doubt(p, v, &why) ? "!" : "",
		 ps_grouped(v) ? "g" : "", f->pages ? "r" : "",
		 f->aux_pages ? "a" : "", f->program ? "b" : "", f->lost ? "l" : "");
	buf_free(&why);
}

static void add_holder(const struct events_holder *h, struct buf *out)
{
	switch (h->reference) {
	case EVENTS_DESCRIPTOR:
		buf_addf(out, "%s[%u] %u", h->comm, h->tid, h->number);
		break;
	case EVENTS_MAPPING:
		buf_addf(out, "%s[%u] mmap", h->comm, h->tid);
		break;
	case EVENTS_LINK:
		buf_addf(out, "BPF link %u", h->number);
		break;
	case EVENTS_PTRACE:
		buf_addf(out, "%s[%u] ptrace", h->comm, h->tid);
		break;
	case EVENTS_KERNEL:
		buf_adds(out, "the kernel");
		break;
	}
}

static void add_holders(const struct events_event *v, struct buf *out)
{
	if (!v->nholders)
		return;
	add_holder(&v->holders[0], out);
	if (v->nholders > 1)
		buf_addf(out, " +%zu", v->nholders - 1);
}

/* Text ------------------------------------------------------------------------------------ */

/* End a column that began at from: one blank behind it at least. */
static size_t column(struct buf *out, size_t *from, size_t width, bool right)
{
	size_t len = out->len - *from;
	size_t fill = len < width ? width - len : 0;

	for (size_t i = 0; i < fill; i++)
		buf_addc(out, ' ');
	if (right && fill) {
		memmove(out->data + *from + fill, out->data + *from, len);
		memset(out->data + *from, ' ', fill);
	}
	buf_addc(out, ' ');
	return *from = out->len;
}

/*
 * Append text, without a part of it if it has more than width columns: without the end of a
 * process's name if its number fits, else with the first third kept.
 */
static void add_within(struct buf *text, size_t width, struct buf *out)
{
	const char *number = strrchr(buf_str(text), '[');
	size_t right = number ? strlen(number) : width, left;

	if (right >= width)
		right = width - width / 3 - 1;
	left = width - right - 1;
	if (text->len > width) {
		memmove(text->data + left + 1, text->data + text->len - right, right);
		text->data[left] = '~';
		text->data[width] = '\0';
	}
	text_escaped(out, buf_str(text));
	buf_reset(text);
}

static void grow_column(size_t *width, size_t wanted, size_t *room)
{
	size_t more = wanted > *width ? wanted - *width : 0;

	more = more < *room ? more : *room;
	*width += more;
	*room -= more;
}

/* Set the widths of columns: what they contain, on a terminal as far as it has room. */
static void measure_columns(struct ps *p, struct events_event *const *list, size_t n)
{
	size_t room = p->out.width > 80 ? p->out.width - 80 : p->out.width ? 0 : SIZE_MAX;
	size_t name = 0, target = 0, holder = 0;
	struct buf word = { 0 };

	for (size_t i = 0; i < n && room; i++) {
		buf_addf(&word, "%llu", (unsigned long long)list[i]->facts.id);
		word.len -= word.len < ID ? word.len : ID; /* what the id takes of the name */
		ps_name(p, list[i], &word);
		name = word.len > name ? word.len : name;
		buf_reset(&word);
		target_words(list[i], &word);
		target = word.len > target ? word.len : target;
		buf_reset(&word);
		add_holders(list[i], &word);
		holder = word.len > holder ? word.len : holder;
		buf_reset(&word);
	}
	buf_free(&word);
	p->name = NAME;
	p->target = TARGET;
	p->holder = HOLDER;
	grow_column(&p->name, name, &room);
	grow_column(&p->target, target, &room);
	grow_column(&p->holder, holder, &room);
}

/* Return whether the list is repeated in place, on a terminal of that size. */
static bool in_place(const struct ps *p, struct winsize *w)
{
	return p->watch && p->out.text.color && !p->options.text.full &&
	       !ioctl(fileno(p->out.out), TIOCGWINSZ, w);
}

/* End a line of the list; in place it gets no second one, so that the lines fit that are shown. */
static void end_row(struct ps *p)
{
	struct buf *line = &p->out.line;
	struct winsize w;

	if (in_place(p, &w) && w.ws_col && line->len > w.ws_col)
		line->len = w.ws_col;
	showing_end(&p->out);
}

static void show_row(struct ps *p, const struct events_event *v)
{
	struct buf *out = &p->out.line, word = { 0 };
	size_t from, name;

	showing_begin(&p->out, true);
	from = out->len;
	if (v->identified)
		buf_addf(out, "%llu", (unsigned long long)v->facts.id);
	else
		buf_adds(out, "?");
	name = ID + 1 + p->name - column(out, &from, ID, true); /* a long id takes some of it */
	ps_name(p, v, &word);
	add_within(&word, name, out);
	column(out, &from, name, false);
	target_words(v, &word);
	add_within(&word, p->target, out);
	column(out, &from, p->target, false);
	buf_adds(out, state_word(v));
	column(out, &from, STATE, false);
	add_count(p, v, out);
	column(out, &from, COUNT, true);
	add_share(v, out);
	column(out, &from, RAN, true);
	add_more(p, v, out);
	column(out, &from, MORE, false);
	add_holders(v, &word);
	add_within(&word, p->holder, out);
	end_row(p);
	buf_free(&word);
}

/* Begin the line "  head: ". */
static struct buf *ps_line(struct ps *p, const char *head)
{
	showing_begin(&p->out, true);
	buf_addf(&p->out.line, "  %s: ", head);
	return &p->out.line;
}

/* Text has the members that are not 0, as a trace. */
static void ps_emit_attr(const struct ps *p, const struct events_event *v, struct sink *s)
{
	uint8_t attr[EVENTS_ATTR_MAX];
	const struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = attr, .len = events_attr(v, attr),
		.names = &p->machine.names,
	};

	s->ops->begin(s, "attr", SINK_OBJECT);
	layout_emit(&w, s);
	s->ops->end(s);
}

static uint32_t kernel_type(const struct events_event *v)
{
	return (uint32_t)layout_get(&layout_perf_event_attr, ATTR_TYPE, v->facts.attr,
				    v->facts.attr_len);
}

static void show_attr_lines(struct ps *p, const struct events_event *v)
{
	struct buf *out = &p->out.line;
	const char *pmu;

	if (!v->facts.attr_len)
		return;
	ps_line(p, "attr");
	p->out.text.sink.full = false;
	ps_emit_attr(p, v, p->out.sink);
	p->out.text.sink.full = true;
	showing_end(&p->out);
	if (kernel_type(v) == v->facts.type)
		return;
	pmu = p->machine.names.pmu(&p->machine.names, kernel_type(v));
	ps_line(p, "changed");
	buf_addf(out, "the kernel passed it on with type=%u%s%s", kernel_type(v), pmu ? ", " : "",
		 pmu ? pmu : "");
	showing_end(&p->out);
}

static void show_details(struct ps *p, const struct events_event *v)
{
	const struct events_facts *f = &v->facts;
	struct buf *out, word = { 0 };

	if (f->attr_len) {
		out = ps_line(p, "target");
		if (f->cgroup)
			buf_addf(out, "cgroup %llu: ", (unsigned long long)f->cgroup);
		target_words(v, &word);
		text_escaped(out, buf_str(&word));
		buf_reset(&word);
		showing_end(&p->out);
	}
	show_attr_lines(p, v);
	if (ps_grouped(v)) {
		out = ps_line(p, "group");
		if (f->leader == f->id)
			buf_addf(out, "leads %u", f->siblings);
		else
			buf_addf(out, "its leader is %llu", (unsigned long long)f->leader);
		showing_end(&p->out);
	}
	if (v->timed) {
		buf_addf(ps_line(p, "times"), "enabled %llu ns, ran %llu ns",
			 (unsigned long long)f->enabled_ns, (unsigned long long)f->running_ns);
		showing_end(&p->out);
	}
	if (f->pages || f->aux_pages) {
		out = ps_line(p, "ring");
		buf_addf(out, "1+%u pages", f->pages);
		if (f->aux_pages)
			buf_addf(out, ", AUX area of %u pages", f->aux_pages);
		showing_end(&p->out);
	}
	if (f->program) {
		buf_addf(&word, "%u %.*s", f->program, EVENTS_COMM, f->program_name);
		text_escaped(ps_line(p, "BPF program"), buf_str(&word));
		showing_end(&p->out);
	}
	if (f->lost) {
		buf_addf(ps_line(p, "lost samples"), "%llu", (unsigned long long)f->lost);
		showing_end(&p->out);
	}
	buf_reset(&word);
	if (ps_doubt(p, v, &word)) {
		buf_adds(ps_line(p, "here"), buf_str(&word));
		showing_end(&p->out);
	}
	for (size_t i = 0; i < v->nholders; i++) {
		buf_reset(&word);
		add_holder(&v->holders[i], &word);
		text_escaped(ps_line(p, "held by"), buf_str(&word));
		showing_end(&p->out);
	}
	buf_free(&word);
}

/* Return how many of n rows are shown: of a repeated list, as many as fit on the terminal. */
static size_t rows_shown(const struct ps *p, size_t n)
{
	enum { BESIDE = 3 }; /* the head, what is left out, and the line of the cursor */
	struct winsize w;

	if (!in_place(p, &w) || w.ws_row <= BESIDE || n + BESIDE - 1 <= w.ws_row)
		return n;
	return w.ws_row - BESIDE;
}

static void show_text(struct ps *p, struct events_event *const *list, size_t n)
{
	size_t shown = rows_shown(p, n);

	if (p->watch && p->counts.slots && p->out.text.color)
		fputs("\033[H\033[J", p->out.out);
	if (!n)
		return;
	measure_columns(p, list, shown);
	showing_begin(&p->out, true);
	buf_addf(&p->out.line, "%*s %-*s %-*s %-*s %*s %*s %-*s %s", ID, "ID", (int)p->name,
		 "EVENT", (int)p->target, "TARGET", STATE, "STATE", COUNT, "COUNT", RAN, "RAN", MORE, "MORE",
		 "HELD BY");
	end_row(p);
	for (size_t i = 0; i < shown; i++) {
		show_row(p, list[i]);
		if (p->options.text.full)
			show_details(p, list[i]);
	}
	if (shown == n)
		return;
	showing_begin(&p->out, true);
	buf_addf(&p->out.line, "%zu more; select with -e or -p", n - shown);
	end_row(p);
}

/* JSON ------------------------------------------------------------------------------------ */

static void json_comm(struct sink *s, const char *comm)
{
	char text[EVENTS_COMM + 1] = "";

	memcpy(text, comm, EVENTS_COMM);
	s->ops->symbol(s, "comm", text);
}

static void json_target(const struct events_event *v, struct sink *s)
{
	const struct events_facts *f = &v->facts;
	char cgroup[EVENTS_CGROUP + 1];

	s->ops->begin(s, "target", SINK_OBJECT);
	s->ops->sint(s, "cpu", f->cpu);
	if (f->target) {
		s->ops->uint(s, "pid", f->target_process);
		s->ops->uint(s, "tid", f->target);
		json_comm(s, f->target_comm);
	}
	if (f->cgroup) {
		s->ops->uint(s, "cgroup_id", f->cgroup);
		s->ops->symbol(s, "cgroup", cgroup_name(f, cgroup));
	}
	s->ops->end(s);
}

static void json_holders(const struct events_event *v, struct sink *s)
{
	static const char *const by[] = {
		[EVENTS_DESCRIPTOR] = "descriptor", [EVENTS_MAPPING] = "mapping",
		[EVENTS_LINK] = "link", [EVENTS_PTRACE] = "ptrace", [EVENTS_KERNEL] = "kernel",
	};

	s->ops->begin(s, "holders", SINK_ARRAY);
	for (size_t i = 0; i < v->nholders; i++) {
		const struct events_holder *h = &v->holders[i];

		s->ops->begin(s, NULL, SINK_OBJECT);
		s->ops->symbol(s, "by", by[h->reference]);
		if (h->pid) {
			s->ops->uint(s, "pid", h->pid);
			s->ops->uint(s, "tid", h->tid);
			json_comm(s, h->comm);
		}
		if (h->reference == EVENTS_DESCRIPTOR || h->reference == EVENTS_LINK)
			s->ops->uint(s, h->reference == EVENTS_LINK ? "id" : "fd", h->number);
		s->ops->end(s);
	}
	s->ops->end(s);
}

/* What only the kernel's own structure tells. */
static void json_facts(const struct ps *p, const struct events_event *v, struct sink *s)
{
	const struct events_facts *f = &v->facts;
	struct buf name = { 0 };

	ps_name(p, v, &name);
	s->ops->symbol(s, "event", buf_str(&name));
	buf_free(&name);
	ps_emit_attr(p, v, s);
	s->ops->uint(s, "kernel_type", kernel_type(v));
	json_target(v, s);
	s->ops->symbol(s, "state", state_word(v));
	s->ops->sint(s, "on_cpu", f->oncpu);
	s->ops->uint(s, "leader", f->leader);
	s->ops->uint(s, "lost", f->lost);
	s->ops->uint(s, "ring_pages", f->pages);
	s->ops->uint(s, "aux_pages", f->aux_pages);
	if (f->program) {
		char program[EVENTS_COMM + 1] = "";

		memcpy(program, f->program_name, EVENTS_COMM);
		s->ops->uint(s, "program_id", f->program);
		s->ops->symbol(s, "program", program);
	}
}

static void json_doubt(struct ps *p, const struct events_event *v, struct sink *s)
{
	uint8_t attr[EVENTS_ATTR_MAX];
	size_t len = hardware_attr(p, v, attr);

	if (len)
		instrument_emit_doubt(&p->instruments, attr, len, v->facts.count, s);
}

static void show_json(struct ps *p, const struct events_event *v)
{
	const struct events_facts *f = &v->facts;
	struct sink *s;

	showing_begin(&p->out, true);
	s = p->out.sink;
	s->ops->uint(s, "at_ns", p->now_ns);
	if (v->identified)
		s->ops->uint(s, "id", f->id);
	if (f->attr_len)
		json_facts(p, v, s);
	if (v->counted)
		s->ops->uint(s, "count", f->count);
	if (v->stale)
		json_add_bool(&p->out.object, "stale", true);
	if (v->timed) {
		s->ops->uint(s, "enabled_ns", f->enabled_ns);
		s->ops->uint(s, "running_ns", f->running_ns);
	}
	json_doubt(p, v, s);
	json_holders(v, s);
	showing_end(&p->out);
}

void ps_show(struct ps *p, struct events_event *const *list, size_t n)
{
	if (!p->out.json)
		show_text(p, list, n);
	for (size_t i = 0; p->out.json && i < n; i++)
		show_json(p, list[i]);
}
