// SPDX-License-Identifier: LGPL-2.1-or-later
#include "render/output.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/die.h"
#include "lib/map.h"

struct output {
	const char *path;
	bool separate;
	bool buffered;
	bool failed;
	FILE *file;		/* NULL with separate */
	struct map files;	/* separate: tid to FILE */
	struct map begun;	/* separate: tids whose file we have made */
};

static FILE *open_file(const char *path)
{
	FILE *f = fopen(path, "we");

	if (!f)
		warn("cannot write '%s': %s; name another file with -o", path,
		     strerror(errno));
	return f;
}

/* Whether the directory takes new files: to be said before the target runs. */
static bool can_make_files(const char *path)
{
	char *copy = xstrdup(path);
	bool ok = !access(dirname(copy), W_OK | X_OK);

	if (!ok)
		warn("cannot write '%s.PID': %s; name another file with -o", path,
		     strerror(errno));
	free(copy);
	return ok;
}

struct output *output_open(const char *path, FILE *standard, bool separate)
{
	struct output *o = xcalloc(1, sizeof(*o));

	o->path = path;
	o->separate = path && separate;
	o->buffered = path || standard == stdout;
	if (o->separate) {
		if (can_make_files(path))
			return o;
		free(o);
		return NULL;
	}
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

/* Out of descriptors: those of other tasks can be opened again to append. */
static void close_files(struct output *o)
{
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&o->files, &at)))
		if (fclose(slot->value))
			fail(o);
	map_free(&o->files);
}

static FILE *file_of(struct output *o, pid_t tid)
{
	char path[4096];
	const char *mode;
	FILE *f;

	if (!o->separate)
		return o->file;
	f = map_get(&o->files, (uint64_t)tid);
	if (f)
		return f;
	snprintf(path, sizeof(path), "%s.%d", o->path, (int)tid);
	/* a task's number may come again, and its file may have been closed */
	mode = map_set(&o->begun, (uint64_t)tid, o) ? "ae" : "we";
	f = fopen(path, mode);
	if (!f && (errno == EMFILE || errno == ENFILE)) {
		close_files(o);
		f = fopen(path, mode);
	}
	if (f)
		map_set(&o->files, (uint64_t)tid, f);
	else
		fail(o);
	return f;
}

void output_done(struct output *o, pid_t tid)
{
	FILE *f = o->separate ? map_del(&o->files, (uint64_t)tid) : NULL;

	if (f && fclose(f))
		fail(o);
}

void output_write(struct output *o, pid_t tid, const char *text, size_t len)
{
	FILE *f;

	if (o->failed || !len)
		return;
	f = file_of(o, tid);
	if (!f)
		return;
	if (fwrite(text, 1, len, f) != len) {
		fail(o);
		return;
	}
	if (!o->buffered)
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
	bool ok;

	close_files(o);
	map_free(&o->begun);
	/* the standard streams are not ours to close */
	if (o->file && (o->path ? fclose(o->file) : fflush(o->file)))
		fail(o);
	ok = !o->failed;
	free(o);
	return ok;
}
