// SPDX-License-Identifier: LGPL-2.1-or-later
/* What pevtrace ps shows of an event, as one table: columns of the list, lines of -v, JSON. */
#include "verbs/ps/ps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "core/abi/layout.h"
#include "core/lib/die.h"
#include "core/model/event_name.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

enum { ID_WIDTH = 7 };	/* of its column, if it is no longer */

/* enum perf_event_state of include/linux/perf_event.h; lower numbers are later ends. */
enum { STATE_EXIT = -3, STATE_ERROR, STATE_OFF, STATE_INACTIVE, STATE_ACTIVE };

enum {
	HAS_ID = 1, HAS_COUNT = 2, HAS_TIMES = 4, HAS_SHARE = 8, HAS_LOST = 0x10, HAS_RING = 0x20,
	HAS_HOLDERS = 0x40, HAS_DOUBT = 0x80, HAS_GROUP = 0x100, HAS_PROGRAM = 0x200,
	HAS_OTHER_TYPE = 0x400, HAS_OLD_COUNT = 0x1000,
	HAS_ATTR = 0x800,	/* the kernel's own structure was read */
};

/* An event of the list. */
struct ps_row {
	struct ps *p;
	const struct events_event *v;
	const struct events_facts *f; /* of v */
	unsigned int has;	/* HAS_ bits: what is known of it */
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
	size_t width;		/* 80 in all, with a blank between them */
	bool right;		/* aligned there */
	bool grows;		/* if the terminal has room; else a longer text is shortened */
	/* the line of -v; lines are in the order of their ranks */
	enum { NO_LINE, TARGET, ATTR, TYPE, GROUP, TIMES, RING, PROGRAM, LOST, DOUBT, LINES } rank;
	const char *line;	/* its name */
	unsigned int shown;	/* what the event must have for it */
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
			   (v->stale ? HAS_OLD_COUNT : 0) | (v->timed ? HAS_TIMES : 0) |
			   (f->lost ? HAS_LOST : 0) |
			   (v->timed && f->enabled_ns ? HAS_SHARE : 0) |
			   (f->pages || f->aux_pages ? HAS_RING : 0) |
			   (v->nholders ? HAS_HOLDERS : 0) |
			   (add_doubt(p, v, &why) ? HAS_DOUBT : 0);

	buf_free(&why);
	if (f->attr_len)
		has |= HAS_ATTR | (kernel_type(v) != f->type ? HAS_OTHER_TYPE : 0) |
		       (f->leader != f->id || f->siblings ? HAS_GROUP : 0) |
		       (f->program ? HAS_PROGRAM : 0);
	return has;
}

/* Words ----------------------------------------------------------------------------------- */

static void id_words(const struct ps_row *r, struct buf *out)
{
	buf_addf(out, "%llu", (unsigned long long)r->f->id);
}

void ps_name(struct ps *p, const struct events_event *v, struct buf *out)
{
	uint8_t attr[EVENTS_ATTR_MAX];
	size_t len = events_attr(v, attr);

	if (len)
		event_name(attr, len, &p->machine.names, out);
	else
		buf_adds(out, "?");
}

static void name_words(const struct ps_row *r, struct buf *out)
{
	ps_name(r->p, r->v, out);
}

/* The name of the cgroup that it measures; the kernel's of the root is empty. */
static const char *cgroup_name(const struct events_facts *f, char name[EVENTS_CGROUP + 1])
{
	snprintf(name, EVENTS_CGROUP + 1, "%.*s", EVENTS_CGROUP,
		 *f->cgroup_name ? f->cgroup_name : "/");
	return name;
}

static void target_words(const struct ps_row *r, struct buf *out)
{
	const struct events_facts *f = r->f;
	char cgroup[EVENTS_CGROUP + 1];

	if (f->target)
		buf_addf(out, "%.*s[%u]", EVENTS_COMM, f->target_comm, f->target);
	else if (f->cgroup)
		buf_adds(out, cgroup_name(f, cgroup));
	if (f->cpu >= 0)
		buf_addf(out, "%scpu%d", f->target || f->cgroup ? " " : "", f->cpu);
}

static void state_words(const struct ps_row *r, struct buf *out)
{
	switch (r->f->state) {
	case STATE_ACTIVE:
		buf_adds(out, "active");
		break;
	case STATE_INACTIVE: /* but its task does not run, or others have the counters */
		buf_adds(out, "enabled");
		break;
	case STATE_OFF:
		buf_adds(out, "off");
		break;
	case STATE_ERROR:
		buf_adds(out, "error");
		break;
	default:
		buf_adds(out, r->f->state == STATE_EXIT ? "exited" : "dead");
	}
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
static void count_words(const struct ps_row *r, struct buf *out)
{
	uint64_t before = (uintptr_t)map_get(&r->p->counts, r->f->id);
	uint64_t count = r->f->count;

	if (!before || r->v->stale) {
		add_short(count, out);
		buf_adds(out, r->v->stale ? "?" : "");
		return;
	}
	count = count > before - 1 ? count - (before - 1) : 0;
	add_short((uint64_t)((double)count * 1e9 / (double)(r->p->now_ns - r->p->before_ns)), out);
	buf_adds(out, "/s");
}

static void share_words(const struct ps_row *r, struct buf *out)
{
	buf_addf(out, "%.0f%%", 100 * (double)r->f->running_ns / (double)r->f->enabled_ns);
}

static void more_words(const struct ps_row *r, struct buf *out)
{
	const struct events_facts *f = r->f;

	buf_addf(out, "%s%s%s%s%s%s", r->has & HAS_DOUBT ? "!" : "", r->has & HAS_GROUP ? "g" : "",
		 f->pages ? "r" : "", f->aux_pages ? "a" : "", f->program ? "b" : "",
		 f->lost ? "l" : "");
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

static void holders_words(const struct ps_row *r, struct buf *out)
{
	add_holder(&r->v->holders[0], out);
	if (r->v->nholders > 1)
		buf_addf(out, " +%zu", r->v->nholders - 1);
}

static void program_words(const struct ps_row *r, struct buf *out)
{
	buf_addf(out, "%.*s", EVENTS_COMM, r->f->program_name);
}

/* Append what a line of -v says. */
static void ps_add_detail(const struct ps_row *r, int rank, struct buf *out)
{
	const struct events_facts *f = r->f;
	const char *pmu;

	switch (rank) {
	case TARGET:
		if (f->cgroup)
			buf_addf(out, "cgroup %llu: ", (unsigned long long)f->cgroup);
		target_words(r, out);
		break;
	case TYPE:
		pmu = r->p->machine.names.pmu(&r->p->machine.names, kernel_type(r->v));
		buf_addf(out, "the kernel passed it on with type=%u%s%s", kernel_type(r->v),
			 pmu ? ", " : "", pmu ? pmu : "");
		break;
	case GROUP:
		if (f->leader == f->id)
			buf_addf(out, "leads %u", f->siblings);
		else
			buf_addf(out, "its leader is %llu", (unsigned long long)f->leader);
		break;
	case TIMES:
		buf_addf(out, "enabled %llu ns, ran %llu ns", (unsigned long long)f->enabled_ns,
			 (unsigned long long)f->running_ns);
		break;
	case RING:
		buf_addf(out, "1+%u pages", f->pages);
		if (f->aux_pages)
			buf_addf(out, ", AUX area of %u pages", f->aux_pages);
		break;
	case PROGRAM:
		buf_addf(out, "%u %.*s", f->program, EVENTS_COMM, f->program_name);
		break;
	case LOST:
		buf_addf(out, "%llu", (unsigned long long)f->lost);
		break;
	case DOUBT:
		add_doubt(r->p, r->v, out);
	}
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
		.layout = &layout_perf_event_attr, .bytes = attr, .len = events_attr(r->v, attr),
		.names = &r->p->machine.names,
	};

	sink_begin(s, "attr", SINK_OBJECT);
	layout_emit(&w, s);
	sink_end(s);
}

static void emit_type(const struct ps_row *r, struct sink *s)
{
	sink_uint(s, "kernel_type", kernel_type(r->v));
}

static void ps_emit_comm(struct sink *s, const char *comm)
{
	char text[EVENTS_COMM + 1] = "";

	memcpy(text, comm, EVENTS_COMM);
	sink_symbol(s, "comm", text);
}

static void emit_target(const struct ps_row *r, struct sink *s)
{
	const struct events_facts *f = r->f;
	char cgroup[EVENTS_CGROUP + 1];

	sink_begin(s, "target", SINK_OBJECT);
	sink_sint(s, "cpu", f->cpu);
	if (f->target) {
		sink_uint(s, "pid", f->target_process);
		sink_uint(s, "tid", f->target);
		ps_emit_comm(s, f->target_comm);
	}
	if (f->cgroup) {
		sink_uint(s, "cgroup_id", f->cgroup);
		sink_symbol(s, "cgroup", cgroup_name(f, cgroup));
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
	size_t len = hardware_attr(r->p, r->v, attr);

	instrument_emit_doubt(&r->p->instruments, attr, len, r->f->count, s);
}

static void emit_holders(const struct ps_row *r, struct sink *s)
{
	static const char *const by[] = {
		[EVENTS_DESCRIPTOR] = "descriptor", [EVENTS_MAPPING] = "mapping",
		[EVENTS_LINK] = "link", [EVENTS_PTRACE] = "ptrace", [EVENTS_KERNEL] = "kernel",
	};

	sink_begin(s, "holders", SINK_ARRAY);
	for (size_t i = 0; i < r->v->nholders; i++) {
		const struct events_holder *h = &r->v->holders[i];

		sink_begin(s, NULL, SINK_OBJECT);
		sink_symbol(s, "by", by[h->reference]);
		if (h->pid) {
			sink_uint(s, "pid", h->pid);
			sink_uint(s, "tid", h->tid);
			ps_emit_comm(s, h->comm);
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
#define LINE(of, name, if_it_has) \
	.rank = of, .line = name, .shown = if_it_has

static const struct ps_field fields[] = {
	{ "at_ns", .emit = emit_now },
	{ "id", HAS_ID, NUMBER(id), .words = id_words, COLUMN("ID", ID_WIDTH, "?"), .right = true },
	{ "event", HAS_ATTR, .words = name_words, COLUMN("EVENT", 15, "?"), .grows = true },
	{ "attr", HAS_ATTR, .emit = ps_emit_attr, LINE(ATTR, "attr", HAS_ATTR) },
	{ "kernel_type", HAS_ATTR, .emit = emit_type, LINE(TYPE, "changed", HAS_OTHER_TYPE) },
	{ "target", HAS_ATTR, .emit = emit_target, .words = target_words,
	  COLUMN("TARGET", 13, "?"), .grows = true, LINE(TARGET, "target", HAS_ATTR) },
	{ "state", HAS_ATTR, .words = state_words, COLUMN("STATE", 7, "?") },
	{ "on_cpu", HAS_ATTR, SIGNED(oncpu) },
	{ "leader", HAS_ATTR, NUMBER(leader), LINE(GROUP, "group", HAS_GROUP) },
	{ "lost", HAS_ATTR, NUMBER(lost), LINE(LOST, "lost samples", HAS_LOST) },
	{ "ring_pages", HAS_ATTR, NUMBER(pages), LINE(RING, "ring", HAS_RING) },
	{ "aux_pages", HAS_ATTR, NUMBER(aux_pages) },
	{ "program_id", HAS_PROGRAM, NUMBER(program), LINE(PROGRAM, "BPF program", HAS_PROGRAM) },
	{ "program", HAS_PROGRAM, .words = program_words },
	{ "count", HAS_COUNT, NUMBER(count), .words = count_words, COLUMN("COUNT", 8, "?"),
	  .right = true },
	{ "stale", HAS_OLD_COUNT, .emit = emit_stale },
	{ "enabled_ns", HAS_TIMES, NUMBER(enabled_ns), LINE(TIMES, "times", HAS_TIMES) },
	{ "running_ns", HAS_TIMES, NUMBER(running_ns) },
	{ NULL, HAS_SHARE, .words = share_words, COLUMN("RAN", 4, "-"), .right = true },
	{ NULL, 0, .words = more_words, COLUMN("MORE", 4, "") },
	{ "instrument", HAS_DOUBT, .emit = emit_doubt, LINE(DOUBT, "here", HAS_DOUBT) },
	{ "holders", 0, .emit = emit_holders },
	{ NULL, HAS_HOLDERS, .words = holders_words, COLUMN("HELD BY", 15, ""), .grows = true },
};

enum { FIELDS = sizeof(fields) / sizeof(*fields) };

/* The list -------------------------------------------------------------------------------- */

static void ps_add_cell(const struct ps_field *f, const struct ps_row *r, struct buf *out)
{
	if ((r->has & f->needs) == f->needs)
		f->words(r, out);
	else
		buf_adds(out, f->missing);
}

/* Return the columns by which an id is wider than its column: it takes them from the name. */
static size_t id_excess(const struct ps_row *r)
{
	char id[24];
	int len = snprintf(id, sizeof(id), "%llu", (unsigned long long)r->f->id);

	return r->has & HAS_ID && len > ID_WIDTH ? (size_t)len - ID_WIDTH : 0;
}

/* Set the widths of columns: what they contain, on a terminal as far as it has room. */
static void measure_columns(const struct ps *p, const struct ps_row *rows, size_t n, size_t *widths)
{
	size_t room = p->out.width > 80 ? p->out.width - 80 : p->out.width ? 0 : SIZE_MAX;
	struct buf word = { 0 };

	for (size_t i = 0; i < FIELDS; i++) {
		size_t wanted = widths[i] = fields[i].width, more;

		for (size_t k = 0; fields[i].grows && k < n && room; k++) {
			size_t len;

			buf_reset(&word);
			ps_add_cell(&fields[i], &rows[k], &word);
			len = word.len + (fields[i].words == name_words ? id_excess(&rows[k]) : 0);
			wanted = len > wanted ? len : wanted;
		}
		more = wanted - widths[i] < room ? wanted - widths[i] : room;
		widths[i] += more;
		room -= more;
	}
	buf_free(&word);
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

/* Show the row of an event, or the headings if it is NULL. */
static void ps_show_row(struct ps *p, const struct ps_row *r, const size_t *widths)
{
	struct buf *out = &p->out.line, word = { 0 };

	showing_begin(&p->out, true);
	for (size_t i = 0; i < FIELDS; i++) {
		const struct ps_field *f = &fields[i];
		size_t from = out->len, width = widths[i];

		if (!f->heading)
			continue;
		if (r && f->words == name_words)
			width -= id_excess(r);
		buf_reset(&word);
		if (r)
			ps_add_cell(f, r, &word);
		else
			buf_adds(&word, f->heading);
		if (f->grows)
			add_within(&word, width, out);
		else
			buf_adds(out, buf_str(&word));
		/* at least one blank behind it */
		if (i < FIELDS - 1) {
			size_t len = out->len - from;
			size_t fill = len < width ? width - len : 0;

			buf_pad(out, fill);
			if (f->right && fill) {
				memmove(out->data + from + fill, out->data + from, len);
				memset(out->data + from, ' ', fill);
			}
			buf_addc(out, ' ');
		}
	}
	end_row(p);
	buf_free(&word);
}

/* Show the line "  NAME: TEXT". */
static void ps_show_line(struct ps *p, const char *name, const char *text)
{
	showing_begin(&p->out, true);
	buf_addf(&p->out.line, "  %s: ", name);
	text_escaped(&p->out.line, text);
	showing_end(&p->out);
}

static void show_details(const struct ps_row *r)
{
	struct showing *out = &r->p->out;
	struct buf words = { 0 };

	for (int rank = NO_LINE + 1; rank < LINES; rank++) {
		const struct ps_field *f = fields;

		while ((int)f->rank != rank)
			f++;
		if (!(r->has & f->shown))
			continue;
		buf_reset(&words);
		ps_add_detail(r, rank, &words);
		if (rank == ATTR) {
			showing_begin(out, true);
			buf_adds(&out->line, "  attr: ");
			out->text.sink.full = false;
			ps_emit_attr(r, out->sink);
			out->text.sink.full = true;
			showing_end(out);
		} else {
			ps_show_line(r->p, f->line, buf_str(&words));
		}
	}
	for (size_t i = 0; i < r->v->nholders; i++) {
		buf_reset(&words);
		add_holder(&r->v->holders[i], &words);
		ps_show_line(r->p, "held by", buf_str(&words));
	}
	buf_free(&words);
}

static void show_text(struct ps *p, const struct ps_row *rows, size_t n)
{
	enum { BESIDE = 3 }; /* the head, what is left out, and the line of the cursor */
	size_t widths[FIELDS], shown = n;
	struct winsize w;

	/* of a repeated list, as many as fit on the terminal */
	if (in_place(p, &w) && w.ws_row > BESIDE && n + BESIDE - 1 > w.ws_row)
		shown = w.ws_row - BESIDE;
	if (p->watch && p->counts.slots && p->out.text.color)
		fputs("\033[H\033[J", p->out.out);
	if (!n)
		return;
	measure_columns(p, rows, shown, widths);
	ps_show_row(p, NULL, widths);
	for (size_t i = 0; i < shown; i++) {
		ps_show_row(p, &rows[i], widths);
		if (p->options.text.full)
			show_details(&rows[i]);
	}
	if (shown == n)
		return;
	showing_begin(&p->out, true);
	buf_addf(&p->out.line, "%zu more; select with -e or -p", n - shown);
	end_row(p);
}

/* JSON ------------------------------------------------------------------------------------ */

static void show_json(const struct ps_row *r)
{
	struct showing *out = &r->p->out;
	struct buf words = { 0 };
	const void *at;

	showing_begin(out, true);
	for (size_t i = 0; i < FIELDS; i++) {
		const struct ps_field *f = &fields[i];

		if (!f->key || (r->has & f->needs) != f->needs)
			continue;
		buf_reset(&words);
		at = (const char *)r->f + f->at;
		if (f->is_signed)
			sink_sint(out->sink, f->key, *(const __s32 *)at);
		else if (f->size)
			sink_uint(out->sink, f->key, f->size == sizeof(__u32) ?
				  *(const __u32 *)at : *(const __u64 *)at);
		else if (f->emit)
			f->emit(r, out->sink);
		else
			f->words(r, &words);
		if (words.len)
			sink_symbol(out->sink, f->key, buf_str(&words));
	}
	buf_free(&words);
	showing_end(out);
}

void ps_show(struct ps *p, struct events_event *const *list, size_t n)
{
	struct ps_row *rows = xcalloc(n, sizeof(*rows));

	for (size_t i = 0; i < n; i++)
		rows[i] = (struct ps_row){ p, list[i], &list[i]->facts, what_it_has(p, list[i]) };
	if (!p->out.json)
		show_text(p, rows, n);
	for (size_t i = 0; p->out.json && i < n; i++)
		show_json(&rows[i]);
	free(rows);
}
