// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "formats/dump/reader.h"

#include <errno.h>
#include <stdio.h>

#include "core/abi/call_decode.h"
#include "core/abi/strings.h"
#include "core/abi/swap.h"
#include "formats/dump/reader_internal.h"

/* Lines about calls ---------------------------------------------------------------- */

/* Return a required member; set l->wrong if it is missing or out of range. */
static int64_t need_int(struct line *l, const char *key)
{
	int64_t v = 0;

	if (!dump_get_int(l->o, key, &v))
		l->wrong = key;
	return v;
}

static uint64_t need_uint(struct line *l, const char *key)
{
	uint64_t v = 0;

	if (!dump_get_uint(l->o, key, &v))
		l->wrong = key;
	return v;
}

static pid_t need_pid(struct line *l, const char *key)
{
	int64_t v = need_int(l, key);

	if (v < -1 || v > INT32_MAX)
		l->wrong = key;
	return (pid_t)v;
}

/* Read the raw arguments.  Older dumps lack the upper half of a loff_t in 32-bit calls. */
static void read_raw(struct line *l, struct call *c)
{
	struct json_value *raw = dump_get_array(l->o, "raw"), *word;
	size_t i = 0;

	if (!raw || (raw->len != c->desc->nargs && raw->len != call_registers(c))) {
		l->wrong = "raw";
		return;
	}
	json_for_each(word, raw)
		if (!dump_hex(word, &c->args[i++]))
			l->wrong = "raw";
}

/* Read the copies of memory of one phase; a "call" line has both. */
static void read_memory(struct line *l, struct call *c, enum call_phase phase)
{
	struct json_value *list = dump_get_array(l->o, "memory"), *m;

	if (!list) {
		l->wrong = "memory";
		return;
	}
	json_for_each(m, list) {
		uint8_t *bytes;
		uint64_t addr, want;
		const char *at;
		size_t len;

		if (m->type != JSON_OBJECT ||
		    !(at = dump_get_string(m, "at")) || !dump_get_hex(m, "addr", &addr) ||
		    !dump_get_uint(m, "want", &want) ||
		    !dump_get_bytes(m, "hex", &bytes, &len)) {
			l->wrong = "memory";
			return;
		}
		if (!strcmp(at, "enter") == (phase == AT_SYSCALL_ENTER))
			call_add_capture(c, phase, addr, (uint32_t)want, bytes, (uint32_t)len);
	}
}

static struct call *reader_begin_call(struct line *l)
{
	const char *name = dump_get_string(l->o, "call"), *arch = dump_get_string(l->o, "arch");
	const char *because = dump_get_string(l->o, "because");
	const char *signal = dump_get_string(l->o, "injected_signal");
	int64_t target;
	struct call *c;
	pid_t tid;

	if (!name || !arch)
		l->wrong = arch ? "call" : "arch";
	tid = need_pid(l, "tid");
	if (l->wrong)
		return NULL;
	c = xcalloc(1, sizeof(*c));
	c->desc = call_by_name(name);
	c->arch = arch_by_name(arch);
	c->tid = tid;
	c->pid = need_pid(l, "pid");
	if (dump_get_int(l->o, "target", &target) && target > 0 && target <= INT32_MAX)
		c->target = (pid_t)target;
	c->nr = need_uint(l, "nr");
	c->enter_ns = need_uint(l, "enter_ns");
	if (!dump_get_bool(l->o, "shown", &c->shown))
		l->wrong = "shown";
	if (!c->desc)
		l->wrong = "call (unknown to this version)";
	else if (!c->arch)
		l->wrong = "arch (unknown to this version)";
	else
		read_raw(l, c);
	dump_get_bool(l->o, "answered", &c->answered);
	/* the effects of -e inject= and --as-kernel on the call */
	dump_get_bool(l->o, "injected", &c->inject.injected);
	dump_get_uint(l->o, "enter_delay_ns", &c->inject.enter_delay_ns);
	dump_get_uint(l->o, "exit_delay_ns", &c->inject.exit_delay_ns);
	if (because)
		snprintf(c->inject.because, sizeof(c->inject.because), "%s", because);
	if (signal && !(c->inject.signal = signal_by_name(signal)))
		l->wrong = "injected_signal";
	read_memory(l, c, AT_SYSCALL_ENTER);
	if (!l->wrong && l->r->swapped)
		swap_call(c, AT_SYSCALL_ENTER, NULL);
	if (!l->wrong)
		return c;
	reader_free_call(c);
	return NULL;
}

static void reader_feed_stack(struct line *l, pid_t tid)
{
	struct json_value *list = dump_get_array(l->o, "stack"), *f;
	struct view_frame frames[VIEW_FRAMES];
	const char *why = NULL;
	size_t kept = 0;
	uint64_t line;

	if (!list || !l->r->session->stacks)
		return;
	json_for_each(f, list) {
		if (f->type != JSON_OBJECT || kept == VIEW_FRAMES)
			continue;
		if (dump_get_string(f, "why")) {
			why = dump_get_string(f, "why");
			continue;
		}
		frames[kept] = (struct view_frame){
			.module = dump_get_text(f, "module"),
			.symbol = dump_get_text(f, "symbol"),
			.file = dump_get_text(f, "file"),
		};
		dump_get_hex(f, "offset", &frames[kept].offset);
		dump_get_hex(f, "ip", &frames[kept].ip);
		dump_get_bool(f, "inlined", &frames[kept].inlined);
		if (dump_get_uint(f, "line", &line))
			frames[kept].line = (uint32_t)line;
		kept++;
	}
	session_stack(l->r->session, tid, frames, kept, why);
}

static void reader_feed_enter(struct line *l)
{
	struct session *s = l->r->session;
	struct call *c = reader_begin_call(l), *before;

	if (!c)
		return;
	before = map_set(&l->r->begun, (uint64_t)c->tid, c);
	/* without -e trace= the dump decides */
	if (s->selection && s->selection->chosen)
		c->shown = c->shown && session_shows(s, c);
	session_enter(s, c);
	reader_free_call(before);
	reader_feed_stack(l, c->tid);
}

/* Note the number of the event or ring that the call created. */
static void reader_number_made(struct line *l, const struct call *c)
{
	const struct model *m = l->r->session->model;
	const struct event *e;
	const struct ring *r;

	if (c->failed || call_is_fake(c))
		return;
	e = c->desc->class == CLASS_OPEN ? model_opened(m, c) : NULL;
	r = c->desc->id == CALL_MMAP || c->desc->id == CALL_MMAP2 ?
	    model_ring_at(m, c->tid, (uint64_t)c->ret, (uint64_t)c->ret + 1) : NULL;
	if (e)
		reader_number(l, "event", e->number);
	if (r)
		reader_number(l, "ring", r->number);
}

static void reader_feed_exit(struct line *l)
{
	struct call *c = reader_call_of(l->r, need_pid(l, "tid"));
	uint64_t addr;
	int64_t error;

	if (!c) {
		l->wrong = "tid (its task is in no call)";
		return;
	}
	c->returned = true;
	c->start_ns = need_uint(l, "start_ns");
	c->exit_ns = need_uint(l, "exit_ns");
	c->failed = dump_get_int(l->o, "errno", &error);
	dump_get_bool(l->o, "no_event", &c->no_event);
	dump_get_bool(l->o, "answered", &c->answered);
	if (c->failed) {
		c->ret = error;
		if (error < 1 || error > ERRNO_MAX)
			l->wrong = "errno (not an error number)";
	} else if (dump_get_hex(l->o, "ret", &addr)) {
		c->ret = (int64_t)addr;
	} else {
		c->ret = need_int(l, "ret");
	}
	if (!c->failed && call_result_kind(c) == RESULT_FD &&
	    (c->ret < 0 || c->ret > INT32_MAX))
		l->wrong = "ret (not a descriptor)";
	read_memory(l, c, AT_SYSCALL_EXIT);
	if (l->wrong)
		return;
	if (l->r->swapped)
		swap_call(c, AT_SYSCALL_EXIT, &l->r->session->names);
	session_exit(l->r->session, c);
	reader_number_made(l, c);
	reader_drop_call(l->r, c->tid);
}

/* Lines ----------------------------------------------------------------------------- */

/* Warn of an error in the line; return whether to continue. */
static bool complain(struct reader *r, const char *what, const char *detail)
{
	r->whole = false;
	progress_end(&r->progress);
	warn("%s:%lu: %s%s%s", r->path, dump_line_number(r->reader), what, detail,
	     r->keep_going ? "; skipped" :
			     "; --keep-going of decode, diff and report skips such lines");
	return r->keep_going;
}

static bool feed_line(struct reader *r, struct json_value *o)
{
	struct line l = { .r = r, .o = o };
	const char *kind = dump_get_string(o, "kind");

	if (!kind)
		return complain(r, "not a line of a dump: ", "no \"kind\"");
	if (r->ended)
		return complain(r, "a line after the end: ", kind);
	if (!strcmp(kind, KIND_CALL)) {
		reader_feed_enter(&l);
		if (!l.wrong)
			reader_feed_exit(&l);
	} else if (!strcmp(kind, KIND_ENTER)) {
		reader_feed_enter(&l);
	} else if (!strcmp(kind, KIND_EXIT)) {
		reader_feed_exit(&l);
	} else if (!strcmp(kind, KIND_END)) {
		r->ended = true;
	} else if (!reader_feed_activity(&l, kind)) {
		return complain(r, "unknown kind of line: ", kind);
	}
	return !l.wrong || complain(r, "missing or invalid: ", l.wrong);
}

bool reader_whole(const struct reader *r)
{
	return r->whole;
}

bool reader_stopped(const struct reader *r)
{
	return r->stopped;
}

unsigned long reader_line(const struct reader *r)
{
	return dump_line_number(r->reader);
}

void reader_progress(struct reader *r)
{
	progress_start(&r->progress, "MiB read");
}

bool reader_run(struct reader *r, struct session *s)
{
	uint64_t done, total;
	struct json_value *o;
	enum dump_line got;

	r->session = s;
	while ((got = dump_next(r->reader, &o)) != DUMP_EOF) {
		r->stopped = got == DUMP_LINE ? !feed_line(r, o) :
						!complain(r, "", dump_error(r->reader));
		if (r->stopped)
			break;
		if (dump_waits(r->reader))
			session_tick(s, 0);
		if (progress_is_due(&r->progress) && dump_progress(r->reader, &done, &total))
			progress_step(&r->progress, done >> 20, total >> 20);
	}
	progress_end(&r->progress);
	if (r->stopped)
		return false;
	if (!r->ended) {
		warn("%s:%lu: the dump is cut off: its last line is missing", r->path,
		     dump_line_number(r->reader));
		r->whole = false;
	}
	return r->whole;
}

/* The header ------------------------------------------------------------------------ */

/* Read the command and the tasks that were attached to. */
static void reader_read_targets(struct reader *r, struct json_value *o)
{
	struct json_value *words = dump_get_array(o, "command"), *word;
	struct json_value *pids = dump_get_array(o, "attached"), *pid;
	size_t n = 0;

	r->facts.command = r->command = xcalloc(words ? words->len + 1 : 1, sizeof(char *));
	if (words)
		json_for_each(word, words)
			r->command[n++] = xstrdup(word->type == JSON_STRING ? word->text : "");
	r->facts.pids = r->pids = xcalloc(pids ? pids->len + 1 : 1, sizeof(pid_t));
	if (!pids)
		return;
	json_for_each(pid, pids) {
		int64_t tid;

		if (dump_int(pid, &tid) && tid > 0 && tid <= INT32_MAX)
			r->pids[r->facts.npids++] = (pid_t)tid;
	}
}

static char *reader_copy(struct json_value *o, const char *key)
{
	const char *text = o ? dump_get_string(o, key) : NULL;

	return xstrdup(text ? text : "?");
}

/* Read what perf.data files say of the machine; absent in dumps without records. */
static void reader_read_features(struct reader *r, struct json_value *o)
{
	uint8_t *bytes;
	size_t len;

	for (unsigned int i = 0; o && i < PERF_FEATURES; i++) {
		const char *name = xlat_name(&xlat_perf_header_feature, i);

		if (name && dump_get_bytes(o, name, &bytes, &len))
			buf_add(&r->features.sections[i], bytes, len);
	}
	r->facts.features = &r->features;
}

/* Read the header; return NULL, or the error. */
static const char *reader_read_header(struct reader *r, struct json_value *o)
{
	struct session_facts *f = &r->facts;
	struct json_value *kernel = dump_get_object(o, "kernel");
	const char *kind = dump_get_string(o, "kind"), *arch = dump_get_string(o, "arch"), *order;
	uint64_t page_size, cpus, online;
	int64_t schema;

	if (!kind || strcmp(kind, KIND_HEADER) || !dump_get_int(o, "schema", &schema))
		return "not a dump of pevtrace: the first line is not a header";
	if (schema != DUMP_SCHEMA) {
		snprintf(r->unknown_header, sizeof(r->unknown_header),
			 "schema %lld; this version reads schema %d", (long long)schema,
			 DUMP_SCHEMA);
		return r->unknown_header;
	}
	f->arch = arch ? arch_by_name(arch) : NULL;
	if (arch && !f->arch) {
		snprintf(r->unknown_header, sizeof(r->unknown_header),
			 "arch '%.30s', which this version does not know", arch);
		return r->unknown_header;
	}
	if (!arch ||
	    !dump_get_uint(o, "page_size", &page_size) || !page_size ||
	    page_size > 1 << 30 || !dump_get_int(o, "real_offset_ns", &f->real_offset) ||
	    !dump_get_uint(o, "start_ns", &f->start_ns))
		return "a header without arch, page_size, real_offset_ns or start_ns";
	order = dump_get_string(o, "byte_order");
	if (order && strcmp(order, BYTE_ORDER_BIG) && strcmp(order, BYTE_ORDER_LITTLE))
		return "a header whose byte_order is neither big nor little";
	r->swapped = (order ? !strcmp(order, BYTE_ORDER_BIG) : f->arch->big_endian) !=
		     BIG_ENDIAN_HERE;
	f->page_size = (uint32_t)page_size;
	f->pevtrace = r->strings[0] = reader_copy(o, "pevtrace");
	f->release = r->strings[1] = reader_copy(kernel, "release");
	f->machine = r->strings[2] = reader_copy(kernel, "machine");
	f->sysname = r->strings[3] = reader_copy(kernel, "sysname");
	f->version = r->strings[4] = reader_copy(kernel, "version");
	/* these are absent in dumps of older versions */
	if (kernel && dump_get_string(kernel, "nodename"))
		f->nodename = r->strings[5] = reader_copy(kernel, "nodename");
	if (dump_get_uint(o, "cpus", &cpus) && dump_get_uint(o, "cpus_online", &online)) {
		f->cpus = (uint32_t)cpus;
		f->cpus_online = (uint32_t)online;
	}
	if (!r->swapped)
		reader_read_features(r, dump_get_object(o, "features"));
	reader_read_targets(r, o);
	return NULL;
}

/* Return NULL, or why the file can be no dump, judged by its first byte. */
static const char *reader_other_format(FILE *f)
{
	int c = getc(f);

	if (c == EOF)
		return ferror(f) ? strerror(errno) : NULL;
	ungetc(c, f);
	switch (c) {
	case '{': case ' ': case '\t': case '\r': case '\n':
		return NULL;
	case 0x1f:
		return ": gzip data; decompress it with gunzip";
	case 0x28:
		return ": zstd data; decompress it with unzstd";
	case 0xfd:
		return ": xz data; decompress it with unxz";
	case 0x7f:
		return ": an ELF file; pevtrace --json=DUMP records one";
	default:
		return "; pevtrace --json=DUMP records one";
	}
}

struct reader *reader_open(FILE *f, const char *path, bool keep_going)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	struct json_value *o;
	const char *wrong;
	enum dump_line got;

	r->path = path;
	wrong = reader_other_format(f);
	if (wrong) {
		if (ferror(f))
			warn("cannot read '%s': %s", path, wrong);
		else
			warn("%s:1: not a dump of pevtrace%s", path, wrong);
		free(r);
		return NULL;
	}
	r->reader = dump_reader_new(f);
	r->keep_going = keep_going;
	r->whole = true;
	got = dump_next(r->reader, &o);
	wrong = got == DUMP_EOF ? "the file is empty" :
		got == DUMP_BAD ? dump_error(r->reader) : reader_read_header(r, o);
	if (wrong) {
		warn("%s:1: %s", path, wrong);
		reader_close(r);
		return NULL;
	}
	reader_names_init(&r->names, r->facts.page_size);
	return r;
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	map_each(slot, &r->begun)
		reader_free_call(slot->value);
	map_free(&r->begun);
	map_free(&r->events);
	map_free(&r->rings);
	for (size_t i = 0; i < sizeof(r->strings) / sizeof(*r->strings); i++)
		free(r->strings[i]);
	for (size_t i = 0; r->command && r->command[i]; i++)
		free(r->command[i]);
	free(r->command);
	free(r->pids);
	perf_features_free(&r->features);
	reader_names_free(&r->names);
	dump_reader_free(r->reader);
	free(r);
}

const struct session_facts *reader_facts(const struct reader *r)
{
	return &r->facts;
}

const struct names *reader_names(const struct reader *r)
{
	return &r->names.hooks;
}
