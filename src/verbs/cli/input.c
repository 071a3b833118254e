// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/cli/input.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/abi/siginfo.h"
#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "core/lib/program.h"
#include "explain/lexicon.h"
#include "formats/perfdata/perfdata.h"
#include "verbs/cli/views.h"
#include "xlat/constants.h"

/* Kinds ----------------------------------------------------------------------------- */

static const struct {
	const char *word, *meaning;
} kinds[] = {
	[INPUT_DUMP] = { "DUMP", "a dump of pevtrace" },
	[INPUT_PERF_DATA] = { "PERF.DATA", "a perf.data file" },
	[INPUT_LOG] = { "LOG", "a text with attrs, such as a log of strace or perf" },
	[INPUT_ATTR] = { "ATTR", "an attr" },
	[INPUT_EVENT] = { "EVENT", "an event" },
	[INPUT_COMMAND] = { "COMMAND", "a command" },
	[INPUT_PROGRAM] = { "PROGRAM", "a program" },
};

static bool is_certain(void *ctx, struct attr_text *a)
{
	/* a few hexadecimal digits may as well be a name or a number */
	*(bool *)ctx = !a->given || a->given >= PERF_ATTR_SIZE_VER0;
	return false;
}

bool input_has_attr(const char *arg)
{
	bool certain = false;

	return input_attrs(arg, NULL, is_certain, &certain) && certain;
}

enum input_kind input_file_kind(const char *path)
{
	enum input_kind kind = INPUT_OTHER;
	struct buf text = { 0 };
	struct stat st;
	char start[64];
	FILE *f;

	if (!strcmp(path, "-"))
		return INPUT_DUMP;
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG ? INPUT_NONE :
		       INPUT_OTHER;
	if (!fstat(fileno(f), &st) && !S_ISREG(st.st_mode)) {
		/* what is read of a pipe is gone */
		kind = S_ISDIR(st.st_mode) ? INPUT_OTHER : INPUT_DUMP;
	} else if (perfdata_is(f)) {
		kind = INPUT_PERF_DATA;
	} else if (fgets(start, sizeof(start), f)) {
		const char *brace = start + strspn(start, " \t");

		/* an object of JSON, not an attr in C or of Python */
		buf_addf(&text, "@%s", path);
		kind = (!strncmp(start, "\177ELF", 4) || !strncmp(start, "#!", 2)) && !access(path, X_OK) ?
		       INPUT_PROGRAM :
		       *brace == '{' && brace[1 + strspn(brace + 1, " \t")] == '"' &&
		       strncmp(brace, "{\"type\"", 7) ? INPUT_DUMP :
		       input_has_attr(buf_str(&text)) ? INPUT_LOG : INPUT_OTHER;
		buf_free(&text);
	}
	if (kind != INPUT_OTHER && kind != INPUT_PROGRAM)
		input_limit_outputs(path);
	fclose(f);
	return kind;
}

enum input_kind input_kind(const char *word, struct host *of, struct event_list *list)
{
	enum input_kind kind = input_file_kind(word);
	/* {type=1} is an attr, {cycles,type=1} a group; sample_freq=99 alone is both */
	bool braces = *word == '{' && word[strcspn(word, "=,/")] == '=';
	struct host *h;

	if (kind != INPUT_NONE)
		return kind;
	h = of ? of : host_new("/sys", NULL);
	if (!braces && event_list_add(list, h, word))
		kind = INPUT_EVENT;
	else if (*word != '@' && input_has_attr(word))
		kind = INPUT_ATTR;
	if (!of)
		host_free(h);
	return kind;
}

_Noreturn void input_no_file(const char *path)
{
	size_t dir = strrchr(path, '/') ? (size_t)(strrchr(path, '/') - path) + 1 : 0;
	char *where = xstrndup(dir ? path : "./", dir ? dir : 2);
	DIR *d = opendir(where);
	const char *name;
	struct nearest n;

	nearest_start(&n, path + dir, strlen(path + dir));
	while (d && (name = sysfile_next(d)))
		nearest_try(&n, name);
	if (d)
		closedir(d);
	free(where);
	die("cannot read '%s': %s%s%.*s%s%s", path, strerror(ENOENT),
	    *n.best ? "; did you mean " : "", *n.best ? (int)dir : 0, path, n.best,
	    *n.best ? "?" : "");
}

static void find_term(void *ctx, const struct lexicon_entry *e)
{
	const char **word = ctx;

	if (*word && !strcasecmp(e->name, *word))
		*word = NULL;
}

bool input_hint(const struct verb_args *args, const char *word, struct buf *out)
{
	const char *colon = strrchr(word, ':'), *rest = word;
	char path[64];
	uint64_t n = 0;

	if (*word && !word[strspn(word, "0123456789:")])
		return false; /* a number alone, or bytes */
	snprintf(path, sizeof(path), "%.*s", colon ? (int)(colon - word) : 0, word);
	lexicon_each(find_term, &rest);
	if (colon && scan_whole(colon + 1, SCAN_DECIMAL, 0, UINT64_MAX, &n) && !access(path, F_OK))
		buf_addf(out, "'%s' is a line of a file, and %s uses whole ones, as '%s'; pevtrace why "
			 "and explain use a line", word, args->verb->name, path);
	else if (!rest)
		buf_addf(out, "'%s' is a term; pevtrace explain %s says what it means", word, word);
	else if (scan_whole(word, SCAN_C, 0, UINT32_MAX, &n) && ioctl_find((uint32_t)n, 8))
		buf_addf(out, "'%s' is the number of an ioctl; pevtrace decode --ioctl=%s decodes it",
			 word, word);
	else if (program_is(word))
		buf_addf(out, verb_reads(args->verb, "COMMAND") ?
			 "'%s' is a program; to run it, write -- before it" :
			 "'%s' is a program; pevtrace --json=DUMP %s records a dump of it", word, word);
	return out->len;
}

void input_check(const struct verb_args *args, const char *word, enum input_kind kind,
		 const char *why)
{
	const struct verb *const *v = args->all;
	struct buf can = { 0 };

	if (kind == INPUT_OTHER || (kind != INPUT_NONE && verb_reads(args->verb, kinds[kind].word)))
		return;
	if ((kind == INPUT_NONE || kind == INPUT_PROGRAM) && input_hint(args, word, &can))
		die("%s", buf_str(&can));
	if (kind == INPUT_NONE && *word != '/' && !strchr(word, '.') &&
	    verb_reads(args->verb, "EVENT"))
		die("no file%s '%s', and no event: %s",
		    verb_reads(args->verb, "ATTR") ? " or attr" : "", word, why);
	if (kind == INPUT_NONE)
		input_no_file(word);
	while (v && *v) {
		const struct verb *one = *v++;

		while (*v && !verb_reads(*v, kinds[kind].word))
			v++;
		if (verb_reads(one, kinds[kind].word))
			buf_addf(&can, "%s%s", !can.len ? "; pevtrace " : *v ? ", " : " or ",
				 one->name);
	}
	die("'%s' is %s, which %s cannot use%s%s", word, kinds[kind].meaning, args->verb->name,
	    buf_str(&can), can.len ? " can" : "");
}

enum input_kind input_operand(const struct verb_args *args, size_t i, struct host *of,
			      struct event_list *list)
{
	bool command = i == args->n;
	const char *word = command ? args->command[0] : args->words[i];
	enum input_kind kind = command ? INPUT_COMMAND : input_kind(word, of, list);

	input_check(args, word, kind, list->why);
	return kind;
}

/* Sessions -------------------------------------------------------------------------- */

/* Return the dump of a program that opens the events on a child, lets it run, and reads them. */
static FILE *imagine_events(struct event_list *l, const char *word)
{
	FILE *f = fdopen(memfd_create("pevtrace-events", MFD_CLOEXEC), "r");
	char path[64];
	char *words[] = { (char *)"a program that opens", l->events[0].attr.label, NULL };
	struct own_session s = { .options.argv = NULL };
	struct own_calls *c = &s.own_calls;
	pid_t child = getpid() + 1;
	uint64_t counts[64] = { 0 };
	int *fds = xcalloc(l->n, sizeof(*fds));
	size_t ring = 9 * (size_t)sysconf(_SC_PAGESIZE);

	if (!f)
		die("cannot create a memory file for '%s': %s", word, strerror(errno));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(f));
	options_init(&s.options);
	s.options.json = true;
	s.options.output = path;
	s.options.argv = words;
	if (!own_session_start(&s))
		return f;
	c->imagined = 3;
	session_feed(&s.session, &(struct activity){
		ACTIVITY_TASK, .task = {
			.tid = child, .pid = child, .parent = getpid(), .ns = clock_ns(),
		},
	});
	for (size_t i = 0; i < l->n; i++) {
		struct event_spec *e = &l->events[i];
		bool leads = e->leader == i;

		event_default(e, ATTR_READ_FORMAT, PERF_FORMAT_TOTAL_TIME_ENABLED |
						   PERF_FORMAT_TOTAL_TIME_RUNNING);
		event_default(e, ATTR_DISABLED, leads);
		event_default(e, ATTR_ENABLE_ON_EXEC, leads);
		if (event_get(e, ATTR_SAMPLE_PERIOD))
			event_default(e, ATTR_SAMPLE_TYPE, PERF_SAMPLE_IP | PERF_SAMPLE_TID |
							   PERF_SAMPLE_TIME);
		fds[i] = own_call_open(c, &e->attr, child, -1, leads ? -1 : fds[e->leader],
				       PERF_FLAG_FD_CLOEXEC);
		if (event_get(e, ATTR_SAMPLE_PERIOD))
			own_call_mmap(c, fds[i], ring, 0, PROT_READ | PROT_WRITE, MAP_SHARED);
	}
	session_feed(&s.session, &(struct activity){
		ACTIVITY_EXEC, .exec = {
			.tid = child, .ns = clock_ns(), .former = child, .exe = "/bin/true",
		},
	});
	session_feed(&s.session, &(struct activity){
		ACTIVITY_GONE, .gone = { .tid = child, .ns = clock_ns() },
	});
	for (size_t i = 0; i < l->n; i++)
		own_call_read(c, fds[i], counts, sizeof(counts));
	free(fds);
	event_list_free(l);
	own_session_end(&s);
	return f;
}

int input_run_trace(const struct verb *trace, const char *const *options, char *const *command)
{
	size_t n = 1, words = 0;
	char **argv;
	int status;

	while (options[n - 1])
		n++;
	while (command[words])
		words++;
	argv = xcalloc(n + words + 2, sizeof(*argv));
	argv[0] = (char *)trace->name;
	memcpy(argv + 1, options, (n - 1) * sizeof(*argv));
	argv[n] = (char *)"--";
	memcpy(argv + n + 1, command, words * sizeof(*argv));
	status = verb_run(trace, NULL, (int)(n + words + 1), argv);
	free(argv);
	return status;
}

FILE *input_trace(const struct verb *trace, char *const *command, bool records, bool to_stdout,
		  int *ended)
{
	FILE *f = fdopen(memfd_create("pevtrace-trace", MFD_CLOEXEC), "r");
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction was_int, was_quit;
	struct stat written;
	char path[64];
	pid_t pid;

	if (!f)
		die("cannot create a memory file for the trace of '%s': %s", command[0],
		    strerror(errno));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(f));
	pid = fork();
	if (!pid) {
		if (to_stdout)
			dup2(STDERR_FILENO, STDOUT_FILENO);
		/* exit(3) would move the offsets of files that the caller reads */
		_exit(input_run_trace(trace, (const char *[]){
			"--json", "-o", path, "--summary", records ? "--records" : NULL, NULL,
		}, command));
	}
	if (pid < 0)
		die("cannot create a process to trace '%s': %s%s", command[0], strerror(errno),
		    error_advice(errno));
	/* ^C ends the command, not what is done with its trace */
	sigaction(SIGINT, &ignore, &was_int);
	sigaction(SIGQUIT, &ignore, &was_quit);
	*ended = child_wait(pid);
	sigaction(SIGINT, &was_int, NULL);
	sigaction(SIGQUIT, &was_quit, NULL);
	if (!fstat(fileno(f), &written) && written.st_size)
		return f;
	fclose(f);
	return NULL;
}

FILE *input_session(const struct verb_args *args, size_t i, bool records, bool to_stdout,
		    const char **name)
{
	const char *word = i < args->n ? args->words[i] : args->command[0];
	struct event_list list = { 0 };
	enum input_kind kind = input_operand(args, i, NULL, &list);
	char killed[64];
	int ended;
	FILE *f;

	*name = word;
	if (kind == INPUT_EVENT)
		return imagine_events(&list, word);
	if (kind == INPUT_COMMAND) {
		f = input_trace(*args->all, args->command, records, to_stdout, &ended);
		if (WIFSIGNALED(ended)) {
			status_text(ended, killed, sizeof(killed));
			warn("'%s' was %s", word, killed);
		}
		if (!f)
			exit(EXIT_TROUBLE); /* why was reported */
		return f;
	}
	f = input_open(word, name);
	if (perfdata_is(f))	/* on standard input */
		input_check(args, *name, INPUT_PERF_DATA, NULL);
	return f;
}

void input_limit_outputs(const char *path)
{
	mode_t mask = umask(S_IRWXG | S_IRWXO);
	struct stat st;

	if (!stat(path, &st) && S_ISREG(st.st_mode)) {
		/* the group of the files that are created has the rights that others have on this */
		if (st.st_gid != getegid())
			st.st_mode &= (st.st_mode & S_IRWXO) << 3 | S_IRWXO;
		mask |= ~st.st_mode & (S_IRWXG | S_IRWXO);
	}
	umask(mask);
}

FILE *input_open(const char *path, const char **name)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;

	if (!f && errno == ENOENT)
		input_no_file(path);
	if (!f)
		die("cannot read '%s': %s", path, strerror(errno));
	input_limit_outputs(f == stdin ? "/dev/stdin" : path);
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

bool input_attrs(const char *arg, const char *option, input_attr_fn *use, void *ctx)
{
	struct attr_text *a = xmalloc(sizeof(*a)); /* large for a stack */
	struct text_cursor c = { .why = "no attr found" };
	enum attr_read got;
	struct attr_reader r;
	struct buf text = { 0 };
	bool read = input_text(arg, option, &text), ok = false, bad = false;

	if (read && input_is_binary(&text)) {
		ok = option && attr_text_bytes(&c, (const uint8_t *)text.data, text.len, a);
		if (ok)
			use(ctx, a);
	} else if (read) {
		attr_reader_init(&r, buf_str(&text), text.len);
		while ((got = attr_reader_next(&r, a)) == ATTR_BAD ||
		       (got == ATTR_READ && (ok = true) && use(ctx, a))) {
			if (got == ATTR_READ)
				continue;
			/* of a log the rest may be read */
			bad = true;
			memcpy(c.why, r.in.why, sizeof(c.why));
			if (option && r.resume < r.in.end)
				warn("%s: %s", option, c.why);
			r.in.at = r.resume;
			*r.in.why = '\0';
			if (r.in.at == r.in.end)
				break;
		}
	}
	if (read && option && (!ok || (bad && r.resume == r.in.end)))
		warn("cannot read %s: %s%s", option, c.why, nearest_hinted(c.why) ? "" :
		     "; use bytes, or an attr as C, strace or perf write it");
	buf_free(&text);
	free(a);
	return ok && !bad;
}

static bool take_one(void *ctx, struct attr_text *a)
{
	if (a->ioctl.given)
		return true;
	memcpy(ctx, a, sizeof(*a));
	return false;
}

bool input_attr(const char *arg, const char *option, struct attr_text *out)
{
	memset(out, 0, sizeof(*out));
	out->ioctl.given = true;	/* until an attr is read */
	return input_attrs(arg, option, take_one, out) && !out->ioctl.given;
}
