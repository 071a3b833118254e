// SPDX-License-Identifier: LGPL-2.1-or-later
#include "render/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/die.h"
#include "lib/map.h"

/* A reader of the file sees lines that are at most this old, in seconds. */
#define FLUSH_AFTER 1

struct output {
	const char *path;
	bool separate;
	bool buffered;
	bool failed;
	FILE *file;		/* NULL with separate */
	struct map files;	/* separate: tid to FILE */
	time_t flushed;
};

static FILE *open_file(const char *path)
{
	FILE *f = fopen(path, "we");

	if (!f)
		warn("cannot write '%s': %s; name another file with -o", path,
		     strerror(errno));
	return f;
}

struct output *output_open(const char *path, FILE *standard, bool separate)
{
	struct output *o = xcalloc(1, sizeof(*o));

	o->path = path;
	o->separate = path && separate;
	o->buffered = path || standard == stdout;
	if (o->separate)
		return o;
	o->file = path ? open_file(path) : standard;
	if (!o->file) {
		free(o);
		return NULL;
	}
	return o;
}

/* Said once; the target goes on, and pevtrace fails at the end. */
static void fail(struct output *o)
{
	if (!o->failed)
		warn("cannot write the trace to %s: %s; the rest of it is lost",
		     o->path ? o->path : o->file == stdout ? "standard output" :
		     "standard error", strerror(errno));
	o->failed = true;
}

static FILE *file_of(struct output *o, pid_t tid)
{
	char path[4096];
	FILE *f;

	if (!o->separate)
		return o->file;
	f = map_get(&o->files, (uint64_t)tid);
	if (f)
		return f;
	snprintf(path, sizeof(path), "%s.%d", o->path, (int)tid);
	f = open_file(path);
	if (f)
		map_set(&o->files, (uint64_t)tid, f);
	else
		o->failed = true;
	return f;
}

void output_write(struct output *o, pid_t tid, const char *text, size_t len)
{
	struct timespec now;
	FILE *f;

	if (o->failed)
		return;
	f = file_of(o, tid);
	if (!f)
		return;
	if (fwrite(text, 1, len, f) != len) {
		fail(o);
		return;
	}
	if (o->buffered) {
		clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
		if (now.tv_sec - o->flushed < FLUSH_AFTER)
			return;
		o->flushed = now.tv_sec;
	}
	output_flush(o);
}

void output_flush(struct output *o)
{
	struct map_slot *slot;
	size_t at = 0;

	if (o->file && fflush(o->file))
		fail(o);
	while ((slot = map_next(&o->files, &at)))
		if (fflush(slot->value))
			fail(o);
}

bool output_is_terminal(const struct output *o)
{
	return o->file && isatty(fileno(o->file));
}

bool output_close(struct output *o)
{
	struct map_slot *slot;
	bool ok;
	size_t at = 0;

	while ((slot = map_next(&o->files, &at)))
		if (fclose(slot->value))
			fail(o);
	map_free(&o->files);
	/* the standard streams are not ours to close */
	if (o->file && (o->path ? fclose(o->file) : fflush(o->file)))
		fail(o);
	ok = !o->failed;
	free(o);
	return ok;
}
