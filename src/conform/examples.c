// SPDX-License-Identifier: LGPL-2.1-or-later
/* The example programs of a page. */
#include "conform/compare.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conform/compiler.h"
#include "conform/page.h"
#include "core/abi/strings.h"
#include "core/lib/die.h"
#include "core/lib/program.h"
#include "engine/rings/borrow.h"

enum { RUN_MSEC = 5000, OUTPUT_MAX = 65536, CANNOT_RUN = 126 };

/* One run of a program; its output is without NUL bytes. */
struct example_run {
	bool compiled, ran, timeout;
	int status;		/* of wait(2) */
	struct buf out, err;
};

/* Running ---------------------------------------------------------------------------------- */

static void redirect(const char *path, int to)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || dup2(fd, to) < 0)
		_exit(CANNOT_RUN);
	if (fd != to)
		close(fd);
}

_Noreturn static void run_child(const char *program, const char *out, const char *err)
{
	const struct rlimit size = { OUTPUT_MAX, OUTPUT_MAX };

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_FSIZE, &size);
	redirect("/dev/null", 0);
	redirect(out, 1);
	redirect(err, 2);
	execl(program, "example", (char *)NULL);
	_exit(CANNOT_RUN);
}

static void read_output(const char *path, struct buf *out)
{
	if (!access(path, R_OK))
		textfile_read(path, out);
	for (size_t i = 0; i < out->len; i++)
		if (!out->data[i])
			out->data[i] = '?';
}

/* Return false if the program cannot be executed. */
static bool run_program(const struct compiler *c, const char *program, struct example_run *r)
{
	struct buf out = { 0 }, err = { 0 };
	pid_t pid;
	int fd;

	compiler_path(c, "out", &out);
	compiler_path(c, "err", &err);
	fflush(NULL);
	pid = fork();
	if (!pid)
		run_child(program, out.data, err.data);
	if (pid > 0) {
		fd = process_open(pid);
		r->timeout = fd >= 0 && !process_ended(fd, RUN_MSEC);
		/* what the program started must not outlive it */
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
		r->status = child_wait(pid);
		if (fd >= 0)
			close(fd);
		else
			r->status = -1;	/* without pidfd_open(2), nothing was awaited */
	}
	read_output(out.data, &r->out);
	read_output(err.data, &r->err);
	buf_free(&out);
	buf_free(&err);
	r->ran = r->status != -1 && !(WIFEXITED(r->status) && WEXITSTATUS(r->status) == CANNOT_RUN);
	return r->ran;
}

static void run_free(struct example_run *r)
{
	buf_free(&r->out);
	buf_free(&r->err);
}

/* Judging ---------------------------------------------------------------------------------- */

/* Return true if the messages end with the text of an error that is due to the machine. */
static bool lacks_event(const struct buf *err)
{
	static const int errors[] = { ENOENT, EACCES, EPERM, ENOSYS, EOPNOTSUPP, ENODEV };
	size_t len = err->len;

	while (len && err->data[len - 1] == '\n')
		len--;
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		const char *text = strerror(errors[i]);
		size_t n = strlen(text);

		if (len >= n && !memcmp(err->data + len - n, text, n))
			return true;
	}
	return false;
}

/*
 * Compile an example after the text before, run it, and append how it differs from what the
 * page describes.  r->err has the compiler's messages if it does not compile.
 */
static void run_example(const struct conform *c, struct compiler *compiler,
			const struct page_example *e, const char *before, struct example_run *r,
			struct buf *why)
{
	const char *pattern = tables_pair(example_output_descs, e->name);
	struct buf source = { 0 }, program = { 0 }, messages = { 0 };
	char name[32];

	*r = (struct example_run){ .status = -1 };
	buf_addf(&source, "%s#line %u \"%s\"\n%s\n", before, e->line, c->page.desc.file, e->text);
	r->compiled = compiler_program(compiler, source.data, &program, &messages) &&
		      !messages.len;
	if (!r->compiled) {
		buf_adds(why, "cannot be compiled without warnings");
		buf_adds(&r->err, buf_str(&messages));
	} else if (!run_program(compiler, program.data, r)) {
		/* what differs is not known */
	} else if (r->timeout) {
		buf_addf(why, "does not end in %d seconds", RUN_MSEC / 1000);
	} else if (WIFSIGNALED(r->status)) {
		signal_name(WTERMSIG(r->status), name, sizeof(name));
		buf_addf(why, "is killed by %s", name);
	} else if (WEXITSTATUS(r->status)) {
		buf_addf(why, "exits with %d", WEXITSTATUS(r->status));
	} else if (r->err.len) {
		buf_adds(why, "writes to standard error");
	} else if (pattern && page_is_english(&c->page) &&
		   fnmatch(pattern, buf_str(&r->out), 0)) {
		buf_addf(why, "does not print '%s'", pattern);
	}
	buf_free(&source);
	buf_free(&program);
	buf_free(&messages);
}

/* Record that an example could not be tried: its messages, in one line, and what else ran. */
static void add_untried(struct conform *c, const struct example_run *r, const char *names)
{
	struct buf b = { 0 };

	buf_addf(&b, "it fails here: %.*s", (int)(r->err.len ? r->err.len - 1 : 0),
		 buf_str(&r->err));
	for (char *s = b.data; (s = strchr(s, '\n'));)
		*s = ' ';
	if (names)
		buf_addf(&b, "; with %s, it runs as described", names);
	compare_untried(c, b.data);
}

static void add_example_finding(struct conform *c, const struct page_example *e, const char *kernel,
				const char *why, const struct example_run *r)
{
	struct finding *f = compare_add_page(c, FINDING_EXAMPLE, NULL, e->name, e->section, e->line,
					     "The example %s", why);
	struct buf detail = { 0 };

	if (r->ran)
		finding_place(f, FINDING_KERNEL, kernel, 0, NULL);
	buf_addf(&detail, "%s%s", buf_str(&r->out), buf_str(&r->err));
	if (detail.len)
		finding_detail(f, &detail);
	buf_free(&detail);
}

/* An example failed, perhaps as its event cannot be opened: try it with another one. */
static void try_other_event(struct conform *c, struct compiler *compiler,
			    const struct page_example *e, const char *kernel, const char *why,
			    const struct example_run *own)
{
	const char *names = tables_pair(example_event_descs, e->name);
	struct example_run r = { .ran = false };
	struct buf other_why = { 0 }, before = { 0 };
	size_t n, equals;

	if (names) {
		/* "#define A B" for each of "A=B,...", after the header that declares them */
		buf_adds(&before, "#include <linux/perf_event.h>\n");
		for (const char *s, *rest = names; (s = text_item(&rest, ',', &n));) {
			equals = strcspn(s, "=");
			buf_addf(&before, "#define %.*s %.*s\n", (int)equals, s,
				 (int)(n - equals - 1), s + equals + 1);
		}
		run_example(c, compiler, e, before.data, &r, &other_why);
		if (other_why.len)
			buf_addf(&other_why, ", with %s", names);
	}
	if (r.ran && !other_why.len)
		add_untried(c, own, names);
	else if (r.ran && (own->status != r.status || strcmp(buf_str(&own->err), buf_str(&r.err))))
		add_example_finding(c, e, kernel, other_why.data, &r);
	else if (lacks_event(&own->err))
		add_untried(c, own, NULL);
	else
		add_example_finding(c, e, kernel, why, own);
	run_free(&r);
	buf_free(&other_why);
	buf_free(&before);
}

void examples_skip(struct conform *c, const char *reason)
{
	for (size_t i = 0; i < c->page.nexamples; i++) {
		compare_begin(c, "example: %s", c->page.examples[i].name);
		compare_untried(c, xstrdup(reason));
	}
}

void examples_try(struct conform *c, const char *kernel)
{
	struct compiler *compiler = c->page.nexamples ? compiler_open(false) : NULL;

	if (!compiler) {
		examples_skip(c, "no C compiler was found; set CC to one");
		return;
	}
	for_each(e, c->page.examples, c->page.nexamples) {
		struct example_run r;
		struct buf why = { 0 };

		compare_begin(c, "example: %s", e->name);
		run_example(c, compiler, e, "", &r, &why);
		if (r.compiled && !r.ran)
			compare_untried(c, xstrdup("it cannot be run: set TMPDIR to a directory "
						   "where programs can"));
		else if (why.len && r.ran && r.err.len)
			try_other_event(c, compiler, e, kernel, why.data, &r);
		else if (why.len)
			add_example_finding(c, e, kernel, why.data, &r);
		run_free(&r);
		buf_free(&why);
	}
	compiler_close(compiler);
}

/* Messages --------------------------------------------------------------------------------- */

/* Return the end of a call whose "(" is at s. */
static const char *message_end(const char *s)
{
	unsigned int depth = 0;
	bool quoted = false;

	for (; *s; s++) {
		if (quoted && *s == '\\' && s[1])
			s++;
		else if (*s == '"')
			quoted = !quoted;
		else if (!quoted && *s == '(')
			depth++;
		else if (!quoted && *s == ')' && !--depth)
			return s;
	}
	return s;
}

/* Return a newline at the end of a string in the call of that function, or NULL. */
static const char *newline_in_call(const char *text, const char *function)
{
	size_t n = strlen(function);

	for (const char *s = text; (s = strstr(s, function)); s += n) {
		const char *end, *found;

		if ((s > text && (isalnum((unsigned char)s[-1]) || s[-1] == '_')) || s[n] != '(')
			continue;
		end = message_end(s + n);
		found = memmem(s, (size_t)(end - s), "\\n\"", 3);
		if (found)
			return found;
	}
	return NULL;
}

/* Find messages that err(3) or perror(3) completes, but which end with a newline already. */
void compare_page_examples(struct conform *c)
{
	static const char *const functions[] = { "err", "errx", "warn", "warnx", "perror" };

	for_each(e, c->page.examples, c->page.nexamples) {
		compare_begin(c, "messages: %s", e->name);
		for (size_t j = 0; j < sizeof(functions) / sizeof(*functions); j++) {
			const char *at = newline_in_call(e->text, functions[j]);
			unsigned int line = e->line;

			if (!at)
				continue;
			for (const char *s = e->text; s < at; s++)
				line += *s == '\n';
			compare_add_page(c, FINDING_EXAMPLE_MESSAGE, NULL, e->name, e->section,
					 line, "%s(3) ends the message; the newline before that "
					 "breaks its line", functions[j]);
		}
	}
}
