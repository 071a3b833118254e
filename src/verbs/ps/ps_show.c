// SPDX-License-Identifier: LGPL-2.1-or-later
/* What pevtrace ps shows of events, as one table: columns of the list, lines of -v, JSON. */
#include "core/abi/tables.h"
#include "verbs/ps/ps.h"

#include <stdlib.h>
#include <sys/ioctl.h>

#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "core/model/event_name.h"

enum {
	HAS_ID = 1, HAS_COUNT = 2, HAS_TIMES = 4, HAS_SHARE = 8, HAS_LOST = 0x10, HAS_RING = 0x20,
	HAS_DOUBT = 0x80, HAS_GROUP = 0x100, HAS_PROGRAM = 0x200,
	HAS_OTHER_TYPE = 0x400, HAS_OLD_COUNT = 0x1000,
	HAS_ATTR = 0x800,	/* the kernel's own structure was read */
};

typedef void words_fn(const struct ps_row *r, struct buf *out);
typedef void emit_fn(const struct ps_row *r, struct sink *s);

/*
 * A fact about an event.  In JSON it is its number, what emit writes, or else its words.  The
 * columns of the list, and the members of JSON, are in the order of the table.
 */
struct ps_field {
	const char *key;	/* of the member in JSON, NULL: none */
	unsigned int needs;	/* what the event must have, or 0 */
	/* the number, if it has one: a member of struct events_facts of 4 or 8 bytes */
	size_t at, size;
	bool is_signed;
	emit_fn *emit;
	words_fn *words;	/* of its column */
	/* the column of the list */
	const char *heading;	/* NULL: none */
	const char *missing;	/* what is there if the event has it not */
	size_t width;		/* at least */
	bool right;		/* aligned there */
	bool shrinks;		/* a longer text is shortened if the terminal has no room */
	unsigned int shown;	/* what the event must have for a line of -v, or 0 */
};

/* What is known --------------------------------------------------------------------------- */

static uint32_t kernel_type(const struct events_event *v)
{
	return (uint32_t)layout_get(&layout_perf_event_attr, ATTR_TYPE, v->facts.attr,
				    v->facts.attr_len);
}

/* Store the attr of an event that needs the CPU's hardware, and whose count is known; or return 0. */
static size_t hardware_attr(struct ps *p, const struct events_event *v, uint8_t *attr)
{
	size_t len = events_attr(v, attr);

	return len && v->counted && instrument_is_hardware(p->machine.host, attr, len) ? len : 0;
}

/*
 * Append why an event's count is 0 if the reason is that such events do not count on this machine;
 * else return false.  Only events of the hardware are examined.
 */
static bool add_doubt(struct ps *p, const struct events_event *v, struct buf *out)
{
	uint8_t attr[EVENTS_ATTR_MAX];
	size_t len = hardware_attr(p, v, attr);

	return len && instrument_doubt(&p->instruments, attr, len, v->facts.count, out);
}

/* Return what is known of an event, and what it has: HAS_ bits. */
static unsigned int what_it_has(struct ps *p, const struct events_event *v)
{
	const struct events_facts *f = &v->facts;
	struct buf why = { 0 };
	unsigned int has = (v->identified ? HAS_ID : 0) | (v->counted ? HAS_COUNT : 0) |
			   (v->stale ? HAS_OLD_COUNT : 0) | (v->timed && !v->old_times ? HAS_TIMES : 0) |
			   (f->lost ? HAS_LOST : 0) |
			   (v->timed && f->enabled_ns ? HAS_SHARE : 0) |
			   (f->pages || f->aux_pages ? HAS_RING : 0) |
			   (add_doubt(p, v, &why) ? HAS_DOUBT : 0);

	buf_free(&why);
	if (f->attr_len)
		has |= HAS_ATTR | (kernel_type(v) != f->type ? HAS_OTHER_TYPE : 0) |
		       (f->leader != f->id || f->siblings ? HAS_GROUP : 0) |
		       (f->program ? HAS_PROGRAM : 0);
	return has;
}

/* Words ----------------------------------------------------------------------------------- */

void ps_name(struct ps *p, const struct events_event *v, struct buf *out)
{
	uint8_t attr[EVENTS_ATTR_MAX];
	size_t len = events_attr(v, attr);

	if (len)
		event_name(attr, len, &p->machine.names, out);
	else
		buf_adds(out, "?");
}

/* Append the name, and how many such events the row has. */
static void name_words(const struct ps_row *r, struct buf *out)
{
	ps_name(r->p, &r->sum, out);
	if (r->n > 1)
		buf_addf(out, " x%zu", r->n);
}

/* The name of the cgroup that it measures; the kernel's of the root is empty. */
static const char *cgroup_name(const struct events_facts *f, char name[EVENTS_CGROUP + 1])
{
	snprintf(name, EVENTS_CGROUP + 1, "%.*s", EVENTS_CGROUP,
		 *f->cgroup_name ? f->cgroup_name : "/");
	return name;
}

/* Append the task or cgroup and the CPUs that the events of the row measure. */
static void target_words(const struct ps_row *r, struct buf *out)
{
	const struct events_facts *f = &r->sum.facts;
	uint32_t *cpus = xcalloc(r->n, sizeof(*cpus));
	char cgroup[EVENTS_CGROUP + 1];
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct events_facts *g = &r->items[i].v->facts;

		if (g->cpu >= 0)
			cpus[n++] = (uint32_t)g->cpu;
		if (g->target != f->target || g->cgroup != f->cgroup ||
		    (g->cpu < 0) != (f->cpu < 0)) {
			buf_adds(out, "several");
			free(cpus);
			return;
		}
	}
	if (f->target)
		buf_addf(out, "%.*s[%u]", EVENTS_COMM, f->target_comm, f->target);
	else if (f->cgroup)
		buf_adds(out, cgroup_name(f, cgroup));
	if (n) {
		buf_adds(out, f->target || f->cgroup ? " cpu" : "cpu");
		buf_add_ranges(out, cpus, n);
	}
	free(cpus);
}

/* Return whether counters are shared: a task's event for one CPU does not run on others. */
static bool is_multiplexed(const struct ps_row *r)
{
	const struct events_facts *f = &r->sum.facts;

	return (r->has & (HAS_SHARE | HAS_ATTR)) == (HAS_SHARE | HAS_ATTR) &&
	       f->state >= STATE_INACTIVE && !(f->target && f->cpu >= 0) &&
	       f->type != PERF_TYPE_SOFTWARE && f->type != PERF_TYPE_TRACEPOINT &&
	       f->type != PERF_TYPE_BREAKPOINT &&
	       (double)f->running_ns < 0.995 * (double)f->enabled_ns;
}

/* An event is enabled, not active, while its task does not run, or others have the counters. */
static void state_words(const struct ps_row *r, struct buf *out)
{
	static const char *const states[] = { "exited", "error", "off", "enabled", "active" };
	int state = r->sum.facts.state;

	if (!r->p->out.json && is_multiplexed(r))
		buf_adds(out, "multiplexed");
	else
		buf_adds(out, state < STATE_EXIT || state > STATE_ACTIVE ? "dead" :
			      states[state - STATE_EXIT]);
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

/* Append the count, with a ? if it is old; in a later list, by how much it grew in a second. */
static void count_words(const struct ps_row *r, struct buf *out)
{
	uint64_t before = 0, count = r->sum.facts.count, one;

	for (size_t i = 0; i < r->n; i++, before += one - 1) {
		one = (uintptr_t)map_get(&r->p->counts, r->items[i].v->facts.id);
		if (one && !r->sum.stale)
			continue;
		add_short(count, out);
		buf_adds(out, r->sum.stale ? "?" : "");
		return;
	}
	count = count > before ? count - before : 0;
	add_short((uint64_t)((double)count * 1e9 / (double)(r->p->now_ns - r->p->before_ns)), out);
	buf_adds(out, "/s");
}

static void share_words(const struct ps_row *r, struct buf *out)
{
	const struct events_facts *f = &r->sum.facts;

	buf_addf(out, "%.0f%%", 100 * (double)f->running_ns / (double)f->enabled_ns);
}

static void more_words(const struct ps_row *r, struct buf *out)
{
	const struct events_facts *f = &r->sum.facts;

	buf_addf(out, "%s%s%s%s%s%s", r->has & HAS_DOUBT ? "!" : "", r->has & HAS_GROUP ? "g" : "",
		 f->pages ? "r" : "", f->aux_pages ? "a" : "", f->program ? "b" : "",
		 f->lost ? "l" : "");
}

/* Append the holder, and how many processes, links or others hold the event besides. */
static void holder_words(const struct ps_row *r, struct buf *out)
{
	const struct events_holder *by = r->items->by, *h = r->sum.holders;
	size_t others = 0;

	if (by->pid)
		buf_addf(out, "%s[%u]", by->comm, by->tid);
	else
		buf_adds(out, by->reference == EVENTS_LINK ? "BPF link" : "the kernel");
	for (size_t i = 0, k; i < r->sum.nholders; i++) {
		for (k = 0; k < i && h[k].pid != h[i].pid; k++)
			;
		others += k == i && h[i].pid != by->pid;
	}
	if (others)
		buf_addf(out, " +%zu", others);
}

/* Append how it holds them: its descriptors, the id of a link, or else what. */
static void fd_words(const struct ps_row *r, struct buf *out)
{
	const struct events_holder *by = r->items->by;
	uint32_t *list = NULL;
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct events_event *v = r->items[i].v;

		list = xrealloc(list, (n + v->nholders) * sizeof(*list));
		for (size_t k = 0; k < v->nholders; k++)
			if (v->holders[k].pid == by->pid && v->holders[k].tid == by->tid &&
			    (v->holders[k].reference == EVENTS_DESCRIPTOR ||
			     v->holders[k].reference == EVENTS_LINK))
				list[n++] = v->holders[k].number;
	}
	if (n)
		buf_add_ranges(out, list, n);
	else
		buf_adds(out, by->reference == EVENTS_MAPPING ? "mmap" :
			      by->reference == EVENTS_PTRACE ? "ptrace" : "");
	free(list);
}

static void program_words(const struct ps_row *r, struct buf *out)
{
	buf_addf(out, "%.*s", EVENTS_COMM, r->sum.facts.program_name);
}

/* Values ---------------------------------------------------------------------------------- */

static void emit_now(const struct ps_row *r, struct sink *s)
{
	sink_uint(s, "at_ns", r->p->now_ns);
}

/* Text has the members that are not 0, as a trace. */
static void ps_emit_attr(const struct ps_row *r, struct sink *s)
{
	uint8_t attr[EVENTS_ATTR_MAX];
	const struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = attr, .len = events_attr(&r->sum, attr),
		.names = &r->p->machine.names,
	};

	sink_begin(s, "attr", SINK_OBJECT);
	layout_emit(&w, s);
	sink_end(s);
}

static void emit_type(const struct ps_row *r, struct sink *s)
{
	sink_uint(s, "kernel_type", kernel_type(&r->sum));
}

/* Write a name that may have any bytes, which text escapes. */
static void emit_name(const struct ps_row *r, struct sink *s, const char *key, const char *name)
{
	if (r->p->out.json)
		sink_symbol(s, key, name);
	else
		sink_string(s, key, name, strlen(name), false);
}

static void emit_target(const struct ps_row *r, struct sink *s)
{
	const struct events_facts *f = &r->sum.facts;
	char cgroup[EVENTS_CGROUP + 1], comm[EVENTS_COMM + 1];

	snprintf(comm, sizeof(comm), "%.*s", EVENTS_COMM, f->target_comm);
	sink_begin(s, "target", SINK_OBJECT);
	sink_sint(s, "cpu", f->cpu);
	if (f->target) {
		sink_uint(s, "pid", f->target_process);
		sink_uint(s, "tid", f->target);
		emit_name(r, s, "comm", comm);
	}
	if (f->cgroup) {
		sink_uint(s, "cgroup_id", f->cgroup);
		emit_name(r, s, "cgroup", cgroup_name(f, cgroup));
	}
	sink_end(s);
}

static void emit_stale(const struct ps_row *r, struct sink *s)
{
	(void)s;
	json_add_bool(&r->p->out.object, "stale", true);
}

static void emit_doubt(const struct ps_row *r, struct sink *s)
{
	uint8_t attr[EVENTS_ATTR_MAX];
	size_t len = hardware_attr(r->p, &r->sum, attr);

	instrument_emit_doubt(&r->p->instruments, attr, len, r->sum.facts.count, s);
}

static void emit_holders(const struct ps_row *r, struct sink *s)
{
	static const char *const by[] = {
		[EVENTS_DESCRIPTOR] = "descriptor", [EVENTS_MAPPING] = "mapping",
		[EVENTS_LINK] = "link", [EVENTS_PTRACE] = "ptrace", [EVENTS_KERNEL] = "kernel",
	};

	sink_begin(s, "holders", SINK_ARRAY);
	for_each(h, r->sum.holders, r->sum.nholders) {
		sink_begin(s, NULL, SINK_OBJECT);
		sink_symbol(s, "by", by[h->reference]);
		if (h->pid) {
			sink_uint(s, "pid", h->pid);
			sink_uint(s, "tid", h->tid);
			emit_name(r, s, "comm", h->comm);
		}
		if (h->reference == EVENTS_DESCRIPTOR || h->reference == EVENTS_LINK)
			sink_uint(s, h->reference == EVENTS_LINK ? "id" : "fd", h->number);
		sink_end(s);
	}
	sink_end(s);
}

/* The table ------------------------------------------------------------------------------- */

#define NUMBER(member) \
	.at = offsetof(struct events_facts, member), .size = sizeof(((struct events_facts *)0)->member)
#define SIGNED(member) NUMBER(member), .is_signed = true
#define COLUMN(name, columns, otherwise) \
	.heading = name, .width = columns, .missing = otherwise

static const struct ps_field fields[] = {
	{ "at_ns", .emit = emit_now },
	{ NULL, 0, .words = holder_words, COLUMN("HELD BY", 7, ""), .shrinks = true },
	{ NULL, 0, .words = fd_words, COLUMN("FD", 2, ""), .shrinks = true },
	{ "id", HAS_ID, NUMBER(id) },
	{ "event", HAS_ATTR, .words = name_words, COLUMN("EVENT", 8, "?"), .shrinks = true },
	{ "attr", HAS_ATTR, .emit = ps_emit_attr },
	{ "kernel_type", HAS_ATTR, .emit = emit_type, .shown = HAS_OTHER_TYPE },
	{ "target", HAS_ATTR, .emit = emit_target, .words = target_words,
	  COLUMN("TARGET", 6, "?"), .shrinks = true },
	{ "state", HAS_ATTR, .words = state_words, COLUMN("STATE", 7, "?") },
	{ "on_cpu", HAS_ATTR, SIGNED(oncpu) },
	{ "leader", HAS_ATTR, NUMBER(leader), .shown = HAS_GROUP },
	{ "lost", HAS_ATTR, NUMBER(lost) },
	{ "ring_pages", HAS_ATTR, NUMBER(pages) },
	{ "aux_pages", HAS_ATTR, NUMBER(aux_pages) },
	{ "program_id", HAS_PROGRAM, NUMBER(program) },
	{ "program", HAS_PROGRAM, .words = program_words },
	{ "count", HAS_COUNT, NUMBER(count), .words = count_words, COLUMN("COUNT", 8, "?"),
	  .right = true },
	{ "stale", HAS_OLD_COUNT, .emit = emit_stale },
	{ "enabled_ns", HAS_TIMES, NUMBER(enabled_ns) },
	{ "running_ns", HAS_TIMES, NUMBER(running_ns) },
	{ NULL, HAS_SHARE, .words = share_words, COLUMN("RAN", 4, "-"), .right = true },
	{ NULL, 0, .words = more_words, COLUMN("MORE", 4, "") },
	{ "instrument", HAS_DOUBT, .emit = emit_doubt },
	{ "holders", 0, .emit = emit_holders },
};

enum { FIELDS = sizeof(fields) / sizeof(*fields) };

/* The list -------------------------------------------------------------------------------- */

static uint64_t ps_number(const struct ps_field *f, const struct ps_row *r)
{
	const void *at = (const char *)&r->sum.facts + f->at;

	return f->size == sizeof(__u32) ? *(const __u32 *)at : *(const __u64 *)at;
}

static void ps_add_cell(const struct ps_field *f, const struct ps_row *r, struct buf *out)
{
	if ((r->has & f->needs) == f->needs)
		f->words(r, out);
	else
		buf_adds(out, f->missing);
}

/*
 * Shorten text that has more than width columns: by the end of a process's name if its number
 * fits, else in its middle, behind that many columns; or, if at is not less than width, by its
 * first at - width columns and its end.
 */
static void cut_within(struct buf *text, size_t width, size_t at)
{
	const char *number = strrchr(buf_str(text), '[');
	size_t digits = number ? strlen(number) : width, end = text->len - width, from;

	if (text->len <= width)
		return;
	at = digits < width ? width - digits - 1 : at;
	from = at < width ? end + at : at - width < end ? at - width : end;
	at = at < width ? at : 0;
	memmove(text->data + at, text->data + from, width - at);
	text->data[width - 1] = from + width < text->len && !at ? '~' : text->data[width - 1];
	text->data[at] = '~';
	text->data[width] = '\0';
	text->len = width;
}

/* Return where to cut the cells of a column that are too wide, so that most of them still differ. */
static size_t best_cut(const struct ps_field *f, const struct ps_row *rows, size_t n, size_t width)
{
	size_t best = 0, most = 0;
	bool cut = true;

	for (size_t k = 0; cut && most < n && k < 4 * width; k++) {
		size_t at = (width / 3 + k) % (4 * width), different = 0;
		struct buf word = { 0 };
		struct map seen = { 0 };

		cut = false;
		for (size_t i = 0; i < n; i++) {
			buf_reset(&word);
			ps_add_cell(f, &rows[i], &word);
			cut |= word.len > width;
			cut_within(&word, width, at);
			different += !map_set(&seen, hash_text(HASH_START, buf_str(&word)), &seen);
		}
		best = different > most ? at : best;
		most = different > most ? different : most;
		map_free(&seen);
		buf_free(&word);
	}
	return best;
}

/*
 * Set the widths of columns: what they contain, less if a terminal has no room for that.  Return
 * false if rows are wider than it even so.
 */
static bool measure_columns(const struct ps *p, const struct ps_row *rows, size_t n, size_t *widths)
{
	struct buf word = { 0 };
	size_t total = 0, widest;

	for (size_t i = 0; i < FIELDS; total += fields[i].heading ? 1 + widths[i] : 0, i++) {
		widths[i] = fields[i].width;
		for (size_t k = 0; fields[i].heading && k < n; k++) {
			buf_reset(&word);
			ps_add_cell(&fields[i], &rows[k], &word);
			widths[i] = word.len > widths[i] ? word.len : widths[i];
		}
	}
	buf_free(&word);
	for (; p->out.width && total > p->out.width + 1; total--, widths[widest]--) {
		widest = FIELDS;
		for (size_t i = 0; i < FIELDS; i++)
			if (fields[i].shrinks && widths[i] > fields[i].width &&
			    (widest == FIELDS || widths[i] > widths[widest]))
				widest = i;
		if (widest == FIELDS)
			return false;
	}
	return true;
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

	if (in_place(p, &w) && w.ws_col && line->len > w.ws_col &&
	    !memchr(line->data, '\033', line->len))
		line->len = w.ws_col;
	showing_end(&p->out);
}

/* Return the colour of a cell: what is wrong with its event, and a holder that was named before. */
static enum text_color color_of(const struct ps_field *f, const struct ps_row *r)
{
	if (f->words == holder_words)
		return r->again ? COLOR_NOTE : COLOR_CALL;
	if (f->words == state_words && is_multiplexed(r))
		return COLOR_WARNING;
	if (f->words == state_words)
		return r->sum.facts.state < STATE_OFF ? COLOR_ERROR : COLOR_NONE;
	return f->words == more_words && r->has & (HAS_DOUBT | HAS_LOST) ? COLOR_ERROR : COLOR_NONE;
}

/* Show a row, or the headings if it is NULL. */
static void ps_show_row(struct ps *p, const struct ps_row *r, const size_t *widths,
			const size_t *cuts)
{
	struct buf *out = &p->out.line, word = { 0 }, text = { 0 };

	showing_begin(&p->out, true);
	for (size_t i = 0; i < FIELDS; i++) {
		const struct ps_field *f = &fields[i];
		size_t fill;

		if (!f->heading)
			continue;
		buf_reset(&word);
		buf_reset(&text);
		if (r)
			ps_add_cell(f, r, &word);
		else
			buf_adds(&word, f->heading);
		if (f->shrinks)
			cut_within(&word, widths[i], cuts[i]);
		text_escaped(&text, buf_str(&word));
		fill = text.len < widths[i] ? widths[i] - text.len : 0;
		buf_pad(out, f->right ? fill : 0);
		text_colored(out, p->color, r ? color_of(f, r) : COLOR_NONE, buf_str(&text));
		buf_pad(out, 1 + (f->right ? 0 : fill));
	}
	for (; out->len && out->data[out->len - 1] == ' '; out->len--)
		;
	end_row(p);
	buf_free(&word);
	buf_free(&text);
}

static void emit_field(const struct ps_field *f, const struct ps_row *r, struct sink *s)
{
	struct buf words = { 0 };

	if (!f->key || (r->has & f->needs) != f->needs)
		return;
	if (f->is_signed)
		sink_sint(s, f->key, (int32_t)ps_number(f, r));
	else if (f->size)
		sink_uint(s, f->key, ps_number(f, r));
	else if (f->emit)
		f->emit(r, s);
	else
		f->words(r, &words);
	if (words.len)
		emit_name(r, s, f->key, buf_str(&words));
	buf_free(&words);
}

/* Show below the row what it has no columns for: the members of JSON that are not 0. */
static void show_details(const struct ps_row *r)
{
	struct showing *out = &r->p->out;
	struct buf doubt = { 0 };

	add_doubt(r->p, &r->sum, &doubt);
	out->text.sink.full = false;
	for_each(f, fields, FIELDS) {
		size_t before;

		showing_begin(out, true);
		buf_addf(&out->line, "  %s: ", f->key ?: "");
		before = out->line.len;
		if (f->emit == emit_doubt)
			buf_adds(&out->line, buf_str(&doubt));
		else if ((!f->heading || f->emit) && f->emit != emit_now && !f->is_signed &&
			 (r->has & f->shown) == f->shown && (!f->size || ps_number(f, r)))
			emit_field(f, r, out->sink);
		if (out->line.len > before)
			showing_end(out);
	}
	out->text.sink.full = true;
	buf_free(&doubt);
}

static void show_text(struct ps *p, const struct ps_row *rows, size_t n, const char *total)
{
	enum { BESIDE = 3 }; /* the head, the total, and the line of the cursor */
	size_t widths[FIELDS], cuts[FIELDS], shown = n;
	struct winsize w;

	/* of a repeated list, as many as fit on the terminal */
	if (in_place(p, &w) && w.ws_row > BESIDE && n + BESIDE > w.ws_row)
		shown = w.ws_row - BESIDE;
	if (p->watch && p->counts.slots && p->out.text.color)
		fputs("\033[H\033[J", p->out.out);
	if (!n)
		return;
	p->color = measure_columns(p, rows, shown, widths) && p->out.text.color;
	for (size_t i = 0; i < FIELDS; i++)
		cuts[i] = fields[i].shrinks ? best_cut(&fields[i], rows, shown, widths[i]) : 0;
	ps_show_row(p, NULL, widths, cuts);
	for (size_t i = 0; i < shown; i++) {
		ps_show_row(p, &rows[i], widths, cuts);
		if (p->options.text.full)
			show_details(&rows[i]);
	}
	showing_begin(&p->out, true);
	if (shown < n)
		buf_addf(&p->out.line, "%zu more; select with -e or -p; ", n - shown);
	buf_adds(&p->out.line, total);
	end_row(p);
}

void ps_show(struct ps *p, struct ps_row *rows, size_t n, const char *total)
{
	for (struct ps_row *r = rows; r < rows + n; r++) {
		r->has = what_it_has(p, &r->sum);
		if (!p->out.json)
			continue;
		showing_begin(&p->out, true);
		for (size_t i = 0; i < FIELDS; i++)
			emit_field(&fields[i], r, p->out.sink);
		showing_end(&p->out);
	}
	if (!p->out.json)
		show_text(p, rows, n, total);
}
