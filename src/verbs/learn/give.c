// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/learn/give.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "verbs/learn/answer.h"

enum { TRIES = 2, LINE_BYTES = 256, READ_BYTES = 512 };

/* Texts ------------------------------------------------------------------------------- */

static bool is_value_name(char c)
{
	return islower((unsigned char)c) || isdigit((unsigned char)c) || c == '_';
}

/* Return a copy of text with each {name} replaced by its value. */
static char *fill_in(const struct learn *l, const char *text)
{
	struct buf out = { 0 };
	char name[64];
	const char *value;
	size_t n;

	while (*text) {
		for (n = 0; *text == '{' && is_value_name(text[1 + n]); n++)
			;
		if (!n || text[1 + n] != '}' || n >= sizeof(name)) {
			buf_addc(&out, *text++);
			continue;
		}
		memcpy(name, text + 1, n);
		name[n] = '\0';
		value = learn_get(l, name);
		if (!value)
			die("lesson %s: no value for {%s}", l->lesson->name, name);
		buf_adds(&out, value);
		text += n + 2;
	}
	if (!out.data)
		buf_adds(&out, "");
	return out.data;
}

/* Return whether all values are set, or not set, that the item's %when names. */
static bool is_selected(const struct learn *l, const struct lesson_item *i)
{
	const char *at = i->when ? i->when : "";
	char name[64];

	for (size_t len; (len = strcspn(at, " ")); at += len, at += *at == ' ') {
		bool set = *at != '!';

		snprintf(name, sizeof(name), "%.*s", (int)len - !set, at + !set);
		if (!!learn_get(l, name) != set)
			return false;
	}
	return true;
}

/* Questions ---------------------------------------------------------------------------- */

/* Read a line.  Return false at the end of input, ^C, and "quit". */
static bool read_answer(const struct learn *l, char line[LINE_BYTES])
{
	sigset_t interrupt;
	struct pollfd from[2] = { { .fd = STDIN_FILENO, .events = POLLIN } };
	struct signalfd_siginfo info;
	bool ended = false;
	size_t n = 0;
	char c;

	fputs("> ", l->text.out);
	fflush(l->text.out);
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	from[1] = (struct pollfd){ signalfd(-1, &interrupt, SFD_CLOEXEC), POLLIN, 0 };
	for (;;) {
		if (poll(from, 2, -1) < 0 && errno == EINTR)
			continue;
		if (from[1].revents)
			ended = read(from[1].fd, &info, sizeof(info)) > 0;
		if (ended || read(STDIN_FILENO, &c, 1) != 1) {
			ended = true;
			break;
		}
		if (c == '\n')
			break;
		if (n < LINE_BYTES - 1)
			line[n++] = c;
	}
	close(from[1].fd);
	line[n] = '\0';
	return !ended && strcmp(line, "quit") && strcmp(line, "q");
}

static bool ask_question(struct learn *l, const struct lesson_item *i)
{
	char *question = fill_in(l, i->text), *wanted = fill_in(l, i->answer);
	char *hint = fill_in(l, i->hint), *explain = fill_in(l, i->explain);
	char line[LINE_BYTES];
	bool here = true, right = false;

	lesson_text_marked(&l->text, "Question", question);
	for (int n = 0; l->ask && here && !right && n < TRIES; n++) {
		if (n)
			lesson_text_marked(&l->text, "Not quite", hint);
		here = read_answer(l, line);
		right = here && answer_accepts(wanted, line);
	}
	/* show the first of several answers */
	wanted[strcspn(wanted, "|")] = '\0';
	if (here) {
		lesson_text_marked(&l->text, right ? "Yes" : "Answer", wanted);
		lesson_text_paragraph(&l->text, explain);
		l->missed += l->ask && !right;
	}
	free(question);
	free(wanted);
	free(hint);
	free(explain);
	return here;
}

/* Items -------------------------------------------------------------------------------- */

static void show_lines(struct learn *l)
{
	struct buf *lines = learn_lines(l);

	if (lines->len)
		lesson_text_trace(&l->text, buf_str(lines));
	buf_reset(lines);
}

static bool run_experiment(struct learn *l, const struct lesson_item *i)
{
	bool ok = i->steps ? learn_steps(l, i->steps) : i->run(l);

	if (i->kind == LESSON_DO || !ok)
		show_lines(l);
	return ok;
}

static void show_item_text(struct learn *l, const struct lesson_item *i)
{
	char *text = fill_in(l, i->text);

	if (i->kind == LESSON_BLOCK)
		lesson_text_block(&l->text, text);
	else
		lesson_text_paragraph(&l->text, text);
	free(text);
}

/* Say why a need does not work; in later steps only that they need it, too. */
static void show_lack(struct learn *l, const char *need)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_lack", need);
	lesson_text_paragraph(&l->text, learn_get(l, name));
	learn_set(l, name, "This, too, needs %s.", learn_need_next(&need)->meaning);
}

static bool interrupted(void)
{
	const struct timespec now = { 0, 0 };
	sigset_t interrupt;

	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	return sigtimedwait(&interrupt, NULL, &now) == SIGINT;
}

static enum given give_item(struct learn *l, const struct lesson_item *i)
{
	switch (i->kind) {
	case LESSON_TRY:
		lesson_text_heading(&l->text, 0, "Try this");
		break;
	case LESSON_LACK:
		show_lack(l, i->text);
		break;
	case LESSON_SHOW:
		show_lines(l);
		break;
	case LESSON_ASK:
		return ask_question(l, i) ? GIVEN : GIVEN_UP;
	case LESSON_DO:
	case LESSON_HOLD:
		return run_experiment(l, i) ? GIVEN : GIVEN_NOT;
	default:
		show_item_text(l, i);
	}
	return GIVEN;
}

/* Give the items that %when selects; a step without any has no heading. */
static enum given give_items(struct learn *l)
{
	const struct lesson_item *heading = NULL;
	enum given how = GIVEN;
	unsigned int step = 0;

	for (size_t n = 0; how == GIVEN && n < l->lesson->n; n++) {
		const struct lesson_item *i = &l->lesson->items[n];

		if (interrupted())
			return GIVEN_UP;
		if (i->kind == LESSON_STEP || i->kind == LESSON_TRY)
			heading = i->kind == LESSON_STEP ? i : NULL;
		if (i->kind == LESSON_STEP || !is_selected(l, i))
			continue;
		if (heading)
			lesson_text_heading(&l->text, ++step, heading->text);
		heading = NULL;
		how = give_item(l, i);
	}
	if (how == GIVEN)
		lesson_text_marked(&l->text, "Read more", l->lesson->man);
	return how;
}

/* The lesson's session ------------------------------------------------------------------ */

/* Start a session that writes lines into a memfd. */
static bool start_session(struct learn *l)
{
	struct options *o = &l->own_session.options;

	l->trace = memfd_create("trace", MFD_CLOEXEC);
	if (l->trace < 0) {
		warn("cannot create a temporary file: %s", strerror(errno));
		return false;
	}
	snprintf(l->path, sizeof(l->path), "/proc/self/fd/%d", l->trace);
	options_init(o);
	o->output = l->path;
	o->records = true;
	o->color = COLOR_NEVER;
	o->text.quiet = QUIET_ALL;
	if (!own_session_start(&l->own_session)) {
		close(l->trace);
		return false;
	}
	o->text.pid_never = true; /* the text view reads it for each line */
	l->steps.host = l->own_session.machine.host;
	l->steps.own_calls = &l->own_session.own_calls;
	l->steps.outcome = &l->outcome;
	l->steps.flags = PERF_FLAG_FD_CLOEXEC;
	l->steps.read_bytes = READ_BYTES;
	l->steps.more = learn_step_words;
	l->steps.ctx = l;
	return true;
}

static bool end_session(struct learn *l)
{
	bool written;

	steps_free(&l->steps);
	written = own_session_end(&l->own_session);
	options_free(&l->own_session.options);
	close(l->trace);
	for (size_t i = 0; i < l->nvalues; i++) {
		free(l->values[i].name);
		free(l->values[i].text);
	}
	free(l->values);
	buf_free(&l->lines);
	buf_free(&l->why);
	buf_free(&l->kept);
	return written;
}

enum given give_lesson(struct learn *l)
{
	enum given how;
	sigset_t interrupt, before;

	learn_set_machine(l);
	if (!start_session(l))
		return GIVEN_NOT;
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, &before);
	lesson_text_title(&l->text, l->lesson->name, l->lesson->title);
	how = give_items(l);
	if (how == GIVEN_NOT) {
		char *text = xstrdup(buf_str(&l->why));

		fflush(l->text.out);
		warn("lesson %s: %s", l->lesson->name, text);
		free(text);
	} else if (how == GIVEN_UP) {
		fprintf(l->text.out, "\nLesson ended. 'pevtrace learn %s' starts it again.\n",
			l->lesson->name);
	}
	if (!end_session(l))
		how = GIVEN_NOT;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return how;
}
