// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/cli/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "core/lib/nearest.h"
#include "formats/perfdata/perfdata.h"

FILE *input_open(const char *path, const char **name)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;

	if (!f)
		die("cannot read '%s': %s", path, strerror(errno));
	*name = f == stdin ? "standard input" : path;
	return f;
}

void input_close(FILE *f)
{
	if (f != stdin)
		fclose(f);
}

bool input_is_terminal(const char *path)
{
	return !strcmp(path, "-") && isatty(STDIN_FILENO);
}

bool input_has_calls(FILE *f, const char *name)
{
	if (!perfdata_is(f))
		return true;
	warn("%s is a perf.data file, which has no calls; pevtrace --json=DUMP records them",
	     name);
	return false;
}

bool input_is_log(const char *path)
{
	struct stat st;
	char *line = NULL;
	size_t size = 0;
	bool found = false, json = false;
	FILE *f;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	f = fopen(path, "re");
	while (f && !found && !json && getline(&line, &size, f) >= 0) {
		json = line[strspn(line, " \t")] == '{';
		found = strstr(line, "perf_event_open(");
	}
	free(line);
	if (f)
		fclose(f);
	return found && !json;
}

/* Arguments ------------------------------------------------------------------------- */

/* Limit of the size of an argument; texts and records are usually below a thousandth of it. */
#define READ_MAX ((size_t)256 << 20)

bool input_text(const char *arg, const char *option, struct buf *text)
{
	const char *name = *arg == '@' ? arg + 1 : "standard input";
	FILE *f = stdin;
	char room[4096];
	bool small = true, ok;
	size_t n;

	buf_reset(text);
	if (*arg != '@' && strcmp(arg, "-")) {
		buf_adds(text, arg);
		return true;
	}
	if (*arg == '@')
		f = fopen(name, "re");
	if (!f) {
		warn("cannot read '%s' for %s: %s", name, option, strerror(errno));
		return false;
	}
	if (f != stdin && perfdata_is(f)) {
		warn("'%s' for %s is a perf.data file; pevtrace decode FILE shows it", name,
		     option);
		fclose(f);
		return false;
	}
	/* a terminal would be read on after its end */
	while (small && !feof(f) && (n = fread(room, 1, sizeof(room), f)) > 0) {
		buf_add(text, room, n);
		small = text->len <= READ_MAX;
	}
	ok = small && !ferror(f);
	if (!small)
		warn("'%s' for %s: more than 256 MiB; split it", name, option);
	else if (!ok)
		warn("cannot read '%s' for %s: %s", name, option, strerror(errno));
	input_close(f);
	return ok;
}

bool input_is_binary(const struct buf *text)
{
	for (size_t i = 0; i < text->len; i++) {
		unsigned char c = (unsigned char)text->data[i];

		if (c < ' ' && !(c >= '\t' && c <= '\r') && c != 033)
			return true;
	}
	return false;
}

bool input_bad_attr(const char *option, const char *why)
{
	warn("cannot read %s: %s%s", option, why, nearest_hinted(why) ? "" :
	     "; use bytes, or an attr as C, strace or perf write it");
	return false;
}

bool input_attr(const char *arg, const char *option, struct attr_text *out)
{
	struct text_cursor c = { .why = "" };
	struct buf text = { 0 };
	struct attr_reader r;
	bool ok = input_text(arg, option, &text);

	if (ok && input_is_binary(&text)) {
		ok = attr_text_bytes(&c, (const uint8_t *)text.data, text.len, out) ||
		     input_bad_attr(option, c.why);
	} else if (ok) {
		attr_reader_init(&r, buf_str(&text), text.len);
		ok = attr_reader_next(&r, out) == ATTR_READ || input_bad_attr(option, r.in.why);
	}
	buf_free(&text);
	return ok;
}
