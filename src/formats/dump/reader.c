// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/dump/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/layout.h"
#include "core/lib/die.h"
#include "formats/dump/reader_internal.h"
#include "xlat/tables.h"

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
	if (!strcmp(kind, KIND_CALL))
		reader_feed_call(&l);
	else if (!strcmp(kind, KIND_ENTER))
		reader_feed_enter(&l);
	else if (!strcmp(kind, KIND_EXIT))
		reader_feed_exit(&l);
	else if (!strcmp(kind, KIND_END))
		r->ended = true;
	else if (!reader_feed_activity(&l, kind))
		return complain(r, "unknown kind of line: ", kind);
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

static void reader_step(struct reader *r)
{
	uint64_t done, total;

	if (progress_is_due(&r->progress) && dump_progress(r->reader, &done, &total))
		progress_step(&r->progress, done >> 20, total >> 20);
}

/* Feed all lines; return false where a bad one ends it. */
static bool feed_all(struct reader *r, struct session *s)
{
	struct json_value *o;
	enum dump_line got;

	while ((got = dump_next(r->reader, &o)) != DUMP_EOF) {
		bool go_on = got == DUMP_LINE ? feed_line(r, o) :
			complain(r, "", dump_error(r->reader));

		if (!go_on)
			return false;
		if (dump_waits(r->reader))
			session_tick(s, 0);
		reader_step(r);
	}
	return true;
}

bool reader_run(struct reader *r, struct session *s)
{
	bool read;

	r->session = s;
	read = feed_all(r, s);
	progress_end(&r->progress);
	r->stopped = !read;
	if (!read)
		return false;
	if (!r->ended) {
		warn("%s:%lu: the dump is cut off: its last line is missing", r->path,
		     dump_line_number(r->reader));
		r->whole = false;
	}
	return r->whole;
}

static void read_command(struct reader *r, struct json_value *o)
{
	struct json_value *list = dump_get_array(o, "command"), *word;
	size_t n = 0;

	r->command = xcalloc(list ? list->len + 1 : 1, sizeof(char *));
	r->facts.command = r->command;
	if (!list)
		return;
	json_for_each(word, list)
		r->command[n++] = xstrdup(word->type == JSON_STRING ? word->text : "");
}

static void read_pids(struct reader *r, struct json_value *o)
{
	struct json_value *list = dump_get_array(o, "attached"), *pid;

	r->facts.pids = r->pids = xcalloc(list ? list->len + 1 : 1, sizeof(pid_t));
	if (!list)
		return;
	json_for_each(pid, list) {
		int64_t n;

		if (dump_int(pid, &n) && n > 0 && n <= INT32_MAX)
			r->pids[r->facts.npids++] = (pid_t)n;
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
	read_command(r, o);
	read_pids(r, o);
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
	r->names = reader_names_new(r->facts.page_size);
	return r;
}

void reader_close(struct reader *r)
{
	struct map_slot *slot;
	size_t at = 0;

	if (!r)
		return;
	while ((slot = map_next(&r->begun, &at)))
		reader_free_call(slot->value);
	map_free(&r->begun);
	for (size_t i = 0; i < sizeof(r->strings) / sizeof(*r->strings); i++)
		free(r->strings[i]);
	for (size_t i = 0; r->command && r->command[i]; i++)
		free(r->command[i]);
	free(r->command);
	free(r->pids);
	perf_features_free(&r->features);
	reader_names_free(r->names);
	dump_reader_free(r->reader);
	free(r);
}

const struct session_facts *reader_facts(const struct reader *r)
{
	return &r->facts;
}

const struct names *reader_names(const struct reader *r)
{
	return reader_names_hooks(r->names);
}
