// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a lesson consists of: values that texts show and %when tests, lines of calls, records. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/abi/strings.h"
#include "core/host/pmu.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "engine/rings/borrow.h"
#include "engine/rings/writer.h"
#include "verbs/learn/learn.h"

/* Values ------------------------------------------------------------------------------- */

static struct learn_value *find_value(const struct learn *l, const char *name)
{
	for (size_t i = 0; i < l->nvalues; i++)
		if (!strcmp(l->values[i].name, name))
			return &l->values[i];
	return NULL;
}

const char *learn_get(const struct learn *l, const char *name)
{
	const struct learn_value *v = find_value(l, name);

	return v ? v->text : NULL;
}

void learn_set(struct learn *l, const char *name, const char *fmt, ...)
{
	struct learn_value *v = find_value(l, name);
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	if (!v) {
		APPEND(l->values, l->nvalues) = (struct learn_value){ .name = xstrdup(name) };
		v = &l->values[l->nvalues - 1];
	}
	free(v->text);
	v->text = xstrdup(buf_str(&text));
	buf_free(&text);
}

const char *learn_error(int64_t result)
{
	const char *name = error_name((int)-result);

	return name ? name : "an error";
}

void learn_set_number(struct learn *l, const char *name, uint64_t v)
{
	learn_set(l, name, "%llu", (unsigned long long)v);
}

void learn_set_error(struct learn *l, const char *name, int64_t result)
{
	learn_set(l, name, "%s", result < 0 ? learn_error(result) : "none");
}

void learn_values_free(struct learn *l)
{
	for (size_t i = 0; i < l->nvalues; i++) {
		free(l->values[i].name);
		free(l->values[i].text);
	}
	free(l->values);
}

char *learn_fill_in(const struct learn *l, const char *text)
{
	struct buf out = { 0 };
	char name[64];
	const char *value;
	size_t n;

	while (*text) {
		n = *text == '{' ? strspn(text + 1, "abcdefghijklmnopqrstuvwxyz0123456789_") : 0;
		if (!n || text[1 + n] != '}' || n >= sizeof(name)) {
			buf_addc(&out, *text++);
			continue;
		}
		memcpy(name, text + 1, n);
		name[n] = '\0';
		value = learn_get(l, name);
		if (!value)
			die("lessons: no value for {%s}", name);
		buf_adds(&out, value);
		text += n + 2;
	}
	if (!out.data)
		buf_adds(&out, "");
	return out.data;
}

/* The machine -------------------------------------------------------------------------- */

#define NO_PMU "No PMU of that name is in /sys/bus/event_source/devices."

static bool has_hardware(struct host *h)
{
	/* hybrid machines have one for each kind of core */
	for (const struct pmu *p = host_pmus(h); p; p = p->next)
		if (!strncmp(p->name, "cpu", 3) || strstr(p->name, "_pmu"))
			return true;
	return false;
}

static bool has_task_rename(struct host *h)
{
	uint64_t id;

	return !host_tracepoint_id(h, "task:task_rename", &id);
}

static bool has_rings(struct host *h)
{
	(void)h;
	return !borrow_refusal();
}

static const struct learn_need needs[] = {
	{ "bpf", "BPF programs", .instrument = INSTRUMENT_BPF },
	{ "breakpoint", "hardware breakpoints", .instrument = INSTRUMENT_BREAKPOINT_DATA },
	{ "clock", "clock events", .instrument = INSTRUMENT_CLOCK_SAMPLES },
	{ "faults", "page-fault events", .instrument = INSTRUMENT_PAGE_FAULTS },
	{ "hardware", "hardware counters", .instrument = INSTRUMENT_HARDWARE,
	  .here = has_hardware, .unless_here =
	  "No PMU in /sys/bus/event_source/devices counts such events, as in many virtual "
	  "machines." },
	{ "msr", "the msr PMU", .instrument = INSTRUMENTS, .pmu = "msr", .unless_here = NO_PMU },
	{ "rings", "ring buffers that pevtrace may read", .instrument = INSTRUMENTS,
	  .here = has_rings, .unless_here =
	  "It cannot borrow descriptors here: that requires pidfd_getfd(2) of Linux 5.6, which a "
	  "container may hide." },
	{ "sigtrap", "signals of breakpoints", .instrument = INSTRUMENT_BREAKPOINT_SIGNAL },
	{ "task-clock", "task-clock events", .instrument = INSTRUMENT_CLOCK },
	{ "tracepoint", "tracepoints", .instrument = INSTRUMENT_TRACEPOINT,
	  .here = has_task_rename, .unless_here =
	  "Their numbers cannot be read here: that requires root, a mounted tracefs, and a "
	  "kernel with tracepoints that is not locked down." },
	{ "uprobe", "uprobes", .instrument = INSTRUMENT_UPROBE, .pmu = "uprobe",
	  .unless_here = NO_PMU },
};

const struct learn_need *learn_need_next(const char **words)
{
	const char *word = *words + strspn(*words, " ");
	size_t len = strcspn(word, " ");

	*words = word + len;
	if (!len)
		return NULL;
	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
		if (strlen(needs[i].name) == len && !strncmp(needs[i].name, word, len))
			return &needs[i];
	die("lessons: unknown word of %%needs: '%.*s'", (int)len, word);
}

bool learn_need_works(struct instruments *is, const struct learn_need *n, struct buf *why)
{
	bool here = n->here ? n->here(is->host) :
		    !n->pmu || pmu_find(host_pmus(is->host), n->pmu, strlen(n->pmu));
	const struct instrument_result *r = NULL;

	if (here && n->instrument < INSTRUMENTS)
		r = instrument_find(is, n->instrument);
	if (here && (!r || r->verdict == INSTRUMENT_WORKS))
		return true;
	buf_addf(why, "This needs %s. ", n->meaning);
	if (!r) {
		buf_adds(why, n->unless_here);
	} else if (r->verdict == INSTRUMENT_ABSENT) {
		buf_addf(why, "The kernel refuses one here: %s (%s).", learn_error(-r->error),
			 strerror(r->error));
	} else if (r->verdict == INSTRUMENT_UNKNOWN) {
		buf_addf(why, "Whether one works could not be tried here: %s.",
			 instrument_reason(r));
	} else {
		buf_adds(why, "One ");
		instrument_complain(is, n->instrument, why);
		buf_addc(why, '.');
	}
	return false;
}

/* Lines -------------------------------------------------------------------------------- */

struct buf *learn_lines(struct learn *l)
{
	char part[4096];
	ssize_t n;

	/* append what the session has written since the last call */
	output_flush(l->own_session.views.text);
	while ((n = pread(l->trace, part, sizeof(part), l->taken)) > 0) {
		buf_add(&l->lines, part, (size_t)n);
		l->taken += n;
	}
	return &l->lines;
}

void learn_say(struct learn *l, const char *fmt, ...)
{
	struct buf *lines = learn_lines(l), text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	text_escaped(lines, buf_str(&text)); /* it may contain a path */
	buf_addc(lines, '\n');
	buf_free(&text);
}

bool learn_fail(struct learn *l, const char *fmt, ...)
{
	va_list ap;

	buf_reset(&l->why);
	va_start(ap, fmt);
	buf_vaddf(&l->why, fmt, ap);
	va_end(ap);
	return false;
}

bool learn_run_verb(struct learn *l, const struct verb *v, const char *const *words)
{
	int fd = memfd_create("lesson", MFD_CLOEXEC), argc = 0;
	char path[32], part[4096], *argv[16];
	ssize_t n;

	if (fd < 0)
		return learn_fail(l, "cannot create a temporary file");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	argv[argc++] = (char *)words[0];
	argv[argc++] = (char *)"-o";
	argv[argc++] = path;
	while (words[argc - 2] && argc < 15) {
		argv[argc] = (char *)words[argc - 2];
		argc++;
	}
	argv[argc] = NULL;
	verb_run(v, NULL, argc, argv);
	lseek(fd, 0, SEEK_SET);
	learn_lines(l);
	while ((n = read(fd, part, sizeof(part))) > 0)
		buf_add(&l->lines, part, (size_t)n);
	close(fd);
	return true;
}

/* Rings -------------------------------------------------------------------------------- */

static void show_record(void *ctx, const struct stream_ring *from, const uint8_t *bytes,
			size_t len)
{
	struct learn *l = ctx;
	struct session *s = &l->own_session.session;
	uint64_t at = (uintptr_t)from->at;
	struct ring *ring = model_ring_at(s->model, gettid(), at, at + from->length);
	struct learn_record record = { .bytes = bytes, .len = len };
	struct record_format format;
	struct activity shown = { .kind = ACTIVITY_RECORD };

	if (!ring)
		return;
	writer_find(s->model, ring, bytes, len, &format, &shown.record);
	record.type = (uint32_t)load_uint(bytes, 4);
	shown.record.tid = gettid();
	shown.record.ns = clock_ns();
	if (!l->each || l->each(l->each_ctx, &record))
		session_feed(s, &shown);
	else
		model_recorded(ring, shown.record.event, bytes, len);
}

static const struct stream_ops stream_ops = { .record = show_record };

void learn_look(struct learn *l, struct step_event *e, learn_record_fn *each, void *ctx)
{
	struct stream stream = { .ops = &stream_ops, .ctx = l };

	l->each = each;
	l->each_ctx = ctx;
	stream_add(&stream, &(struct stream_ring){
		.fd = e->fd, .at = e->ring, .length = e->ring_len, .cpu = -1,
		.seen = e->shown,
	});
	stream_look(&stream, UINT64_MAX);
	e->shown = stream.rings[0].seen;
	stream_free(&stream);
}
