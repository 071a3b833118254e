// SPDX-License-Identifier: LGPL-2.1-or-later
/* Giving a lesson: its session, its items in order, questions and answers. */
#include "verbs/learn/learn.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/lib/die.h"

enum { TRIES = 2, LINE_BYTES = 256, READ_BYTES = 512, ANSWER_MAX = 256 };

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

/* Answers ------------------------------------------------------------------------------ */

/*
 * Write text in small letters, with one '_' between words and none at the ends; return it without
 * an article at its start.
 */
static const char *normalise(const char *text, size_t len, char *out)
{
	static const char *const articles[] = { "the_", "a_", "an_" };
	size_t n = 0;

	for (size_t i = 0; i < len && n < ANSWER_MAX - 1; i++) {
		unsigned char c = (unsigned char)text[i];
		bool part = isspace(c) || strchr("-_=`'\",.;!?()", c);

		if (!part)
			out[n++] = (char)tolower(c);
		else if (n && out[n - 1] != '_')
			out[n++] = '_';
	}
	while (n && out[n - 1] == '_')
		n--;
	out[n] = '\0';
	for (size_t i = 0; i < sizeof(articles) / sizeof(*articles); i++)
		if (!strncmp(out, articles[i], strlen(articles[i])))
			return out + strlen(articles[i]);
	return out;
}

/* Read a number at the start of text, and set *rest behind it. */
static bool answer_number(const char *text, uint64_t *v, const char **rest)
{
	static const char *const words[] = {
		"zero", "one", "two", "three", "four", "five", "six", "seven", "eight",
		"nine", "ten", "eleven", "twelve",
	};
	char digits[ANSWER_MAX];
	const char *end = digits;
	size_t n = 0, skipped = 0, len = strcspn(text, "_");

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strlen(words[i]) == len && !strncmp(text, words[i], len)) {
			*v = i;
			*rest = text + len;
			return true;
		}
	}
	if (!scan_is_digit(*text))
		return false;
	/* "1,000" is now 1_000: skip the '_' before three digits */
	while (isxdigit((unsigned char)text[n + skipped]) || text[n + skipped] == 'x' ||
	       (text[n + skipped] == '_' && strspn(text + n + skipped + 1, "0123456789") == 3)) {
		if (text[n + skipped] == '_') {
			skipped++;
			continue;
		}
		digits[n] = text[n + skipped];
		n++;
	}
	digits[n] = '\0';
	if (digits[0] == '0' && digits[1] == 'x')
		end += 2;
	if (!scan_number(&end, NULL, end > digits ? SCAN_HEX : SCAN_DECIMAL, v))
		return false;
	*rest = text + (end - digits) + skipped;
	return true;
}

static bool is_same_answer(const char *wanted, const char *given)
{
	uint64_t a, b;
	const char *rest;
	size_t w = strlen(wanted), g = strlen(given);

	if (!g)
		return false;
	if (!strcmp(wanted, given))
		return true;
	if (answer_number(wanted, &a, &rest) && !*rest) {
		if (!answer_number(given, &b, &rest) || a != b)
			return false;
		/* a unit may follow: one word */
		rest += *rest == '_';
		return !rest[strspn(rest, "abcdefghijklmnopqrstuvwxyz")];
	}
	if ((!strcmp(wanted, "yes") || !strcmp(wanted, "no")) && g == 1)
		return *given == *wanted;
	/* inherit=1 for inherit */
	if (g == w + 2 && !strncmp(wanted, given, w) && !strcmp(given + w, "_1"))
		return true;
	/* FORMAT_ID or ID for PERF_FORMAT_ID */
	return g > 1 && w > g && wanted[w - g - 1] == '_' && !strcmp(wanted + w - g, given);
}

bool answer_accepts(const char *wanted, const char *given)
{
	char right[ANSWER_MAX], answer[ANSWER_MAX];
	const char *said = normalise(given, strlen(given), answer);

	for (;; wanted++) {
		size_t len = strcspn(wanted, "|");

		if (is_same_answer(normalise(wanted, len, right), said))
			return true;
		wanted += len;
		if (!*wanted)
			return false;
	}
}

/* Questions ---------------------------------------------------------------------------- */

/* Read a line.  Return false at the end of input, ^C, and "quit". */
static bool read_answer(const struct learn *l, char line[LINE_BYTES])
{
	struct pollfd from[2] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = signalfd(-1, &l->interrupt, SFD_CLOEXEC), .events = POLLIN },
	};
	struct signalfd_siginfo info;
	bool ended = false;
	size_t n = 0;
	char c;

	fputs("(q leaves) > ", l->text.out);
	fflush(l->text.out);
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
	char *question = learn_fill_in(l, i->text), *wanted = learn_fill_in(l, i->answer);
	char *hint = learn_fill_in(l, i->hint), *explain = learn_fill_in(l, i->explain);
	char line[LINE_BYTES];
	bool here = true, right = false;

	lesson_text_marked(&l->text, "Question", "%s", question);
	for (int n = 0; l->ask && here && !right && n < TRIES; n++) {
		if (n)
			lesson_text_marked(&l->text, "Not quite", "%s", hint);
		here = read_answer(l, line);
		right = here && answer_accepts(wanted, line);
	}
	/* show the first of several answers */
	wanted[strcspn(wanted, "|")] = '\0';
	if (here) {
		lesson_text_marked(&l->text, right ? "Yes" : "Answer", "%s", wanted);
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

static enum given give_item(struct learn *l, const struct lesson_item *i)
{
	const char *need = i->text;
	char name[64], *text;
	bool ok;

	switch (i->kind) {
	case LESSON_TRY:
		lesson_text_heading(&l->text, 0, 0, "Try this");
		break;
	case LESSON_LACK:
		/* in later steps only that they need it, too */
		snprintf(name, sizeof(name), "%s_lack", need);
		lesson_text_paragraph(&l->text, learn_get(l, name));
		learn_set(l, name, "This, too, needs %s.", learn_need_next(&need)->meaning);
		break;
	case LESSON_SHOW:
		show_lines(l);
		break;
	case LESSON_ASK:
		return ask_question(l, i) ? GIVEN : GIVEN_UP;
	case LESSON_DO:
	case LESSON_HOLD:
		ok = i->steps ? learn_steps(l, i->steps) : i->run(l);
		if (i->kind == LESSON_DO || !ok)
			show_lines(l);
		return ok ? GIVEN : GIVEN_NOT;
	default:
		text = learn_fill_in(l, i->text);
		if (i->kind == LESSON_BLOCK)
			lesson_text_block(&l->text, text);
		else
			lesson_text_paragraph(&l->text, text);
		free(text);
	}
	return GIVEN;
}

/* Give the items that %when selects, until ^C; a step without any has no heading. */
static enum given give_items(struct learn *l)
{
	const struct timespec now = { 0, 0 };
	const struct lesson_item *heading = NULL;
	enum given how = GIVEN;
	unsigned int step = 0, steps = 0;

	for (size_t n = 0; n < l->lesson->n; n++)
		steps += l->lesson->items[n].kind == LESSON_STEP;
	for (size_t n = 0; how == GIVEN && n < l->lesson->n; n++) {
		const struct lesson_item *i = &l->lesson->items[n];

		if (sigtimedwait(&l->interrupt, NULL, &now) == SIGINT)
			return GIVEN_UP;
		step += i->kind == LESSON_STEP;
		if (i->kind == LESSON_STEP || i->kind == LESSON_TRY)
			heading = i->kind == LESSON_STEP ? i : NULL;
		if (i->kind == LESSON_STEP || !is_selected(l, i))
			continue;
		if (heading)
			lesson_text_heading(&l->text, step, steps, heading->text);
		heading = NULL;
		how = give_item(l, i);
	}
	if (how == GIVEN)
		lesson_text_marked(&l->text, "Read more", "%s", l->lesson->man);
	return how;
}

/* The lesson's session ------------------------------------------------------------------ */

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
	o->color = CHOICE_NEVER;
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

/*
 * Set a value of the name of each need of the lesson that works on this machine, NAME_lack to
 * the sentences of learn_need_works() for the others, and the page size.
 */
static void set_machine(struct learn *l)
{
	const char *words = l->lesson->needs ? l->lesson->needs : "";
	const struct learn_need *need;

	while ((need = learn_need_next(&words))) {
		struct buf why = { 0 };
		char lack[64];
		bool works;

		snprintf(lack, sizeof(lack), "%s_lack", need->name);
		works = learn_need_works(l->instruments, need, &why);
		steps_set_var(&l->steps, need->name, works);
		if (works)
			learn_set(l, need->name, "yes");
		else
			learn_set(l, lack, "%s", buf_str(&why));
		buf_free(&why);
	}
	learn_set(l, "page", "%ld", sysconf(_SC_PAGESIZE));
}

enum given give_lesson(struct learn *l)
{
	enum given how;
	sigset_t before;

	set_machine(l);
	if (!start_session(l))
		return GIVEN_NOT;
	sigemptyset(&l->interrupt);
	sigaddset(&l->interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &l->interrupt, &before);
	lesson_text_title(&l->text, l->lesson->name, l->lesson->title);
	if (l->ask)
		lesson_text_paragraph(&l->text, "Questions wait for an answer at '>'. To leave: q, "
				      "^D or ^C.");
	how = give_items(l);
	if (how == GIVEN_NOT) {
		fflush(l->text.out);
		warn("lesson %s: %s", l->lesson->name, buf_str(&l->why));
	} else if (how == GIVEN_UP) {
		fprintf(l->text.out, "\nLesson ended. 'pevtrace learn %s' starts it again.\n",
			l->lesson->name);
	}
	steps_free(&l->steps);
	if (!own_session_end(&l->own_session))
		how = GIVEN_NOT;
	options_free(&l->own_session.options);
	close(l->trace);
	learn_values_free(l);
	buf_free(&l->lines);
	buf_free(&l->why);
	buf_free(&l->kept);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return how;
}
