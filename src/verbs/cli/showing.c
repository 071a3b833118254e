// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/cli/showing.h"

#include <errno.h>

#include "core/lib/die.h"
#include "formats/text/text_fit.h"

void showing_open(struct showing *s, const struct options *o)
{
	*s = (struct showing){ .path = o->output, .json = o->json };
	if (s->path && !strcmp(s->path, "-"))
		s->path = NULL;
	s->out = create_stream(s->path);
	s->page = !s->path && !o->no_pager;
	if (!s->out)
		die("cannot write '%s': %s; name another file with -o", s->path,
		    create_error(errno));
	text_sink_init(&s->text, &s->line);
	s->text.sink.full = o->text.full;
	s->text.sink.max_string = o->text.max_string;
	s->text.labels = true;
	s->text.color = color_wanted(o->color, pager_is_terminal(fileno(s->out)));
	if (!s->json && pager_is_terminal(fileno(s->out)))
		s->width = terminal_columns(fileno(s->out));
}

void showing_begin(struct showing *s, bool plain)
{
	if (s->json) {
		json_text_begin(&s->object);
		s->sink = &s->object.sink;
		return;
	}
	buf_reset(&s->line);
	text_sink_top(&s->text, !plain, NULL);
	s->sink = &s->text.sink;
}

void showing_add(struct showing *s, const char *key, const char *text)
{
	if (text)
		sink_symbol(s->sink, key, text);
}

void showing_add_release(struct showing *s, const char *key, uint32_t release)
{
	struct buf text = { 0 };

	if (release)
		release_text(release, &text);
	showing_add(s, key, text.data);
	buf_free(&text);
}

/* Report a failure to write, once; a pager that the user has left is none. */
static void showing_fail(struct showing *s)
{
	if (!s->failed && !pager_was_left())
		warn("cannot write to %s: %s", s->path ? s->path : "standard output",
		     strerror(errno));
	s->failed = true;
}

void showing_write(struct showing *s, const struct buf *text)
{
	if (s->page && text->len)
		pager_start();
	s->page &= !text->len;
	if (!s->failed && text->len && fwrite(text->data, 1, text->len, s->out) != text->len)
		showing_fail(s);
}

void showing_end(struct showing *s)
{
	if (s->json) {
		buf_free(&s->line);
		s->line = json_text_end(&s->object);
	}
	buf_addc(&s->line, '\n');
	if (s->width)
		text_wrap(&s->line, s->width);
	showing_write(s, &s->line);
}

void showing_flush(struct showing *s)
{
	if (!s->failed && fflush(s->out))
		showing_fail(s);
}

void showing_progress(const struct showing *s, struct progress *p, const char *what)
{
	progress_start(p, what);
	p->on &= !pager_is_terminal(fileno(s->out));
}

bool showing_close(struct showing *s)
{
	bool ok = !ferror(s->out);

	/* cppcheck-suppress useClosedFile ; closed on the other branch only */
	if ((s->path ? fclose(s->out) : fflush(s->out)) || !ok)
		showing_fail(s);
	buf_free(&s->line);
	return !s->failed;
}
