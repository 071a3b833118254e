// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/compiler.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conform/page.h"
#include "core/lib/die.h"
#include "core/lib/libc.h"
#include "core/lib/program.h"
#include "core/lib/scan_text.h"

extern char **environ;

enum { MORE_ARGS = 12 };

static const char *const files[] = { "source.c", "source.i", "source.o", "errors", "program", "out",
				     "err" };
enum { SOURCE, PREPROCESSED, OBJECT, ERRORS, PROGRAM };

void compiler_path(const struct compiler *c, const char *file, struct buf *out)
{
	buf_reset(out);
	buf_addf(out, "%s/%s", c->dir, file);
}

/* Run the compiler with these arguments.  Return true if it exits with 0. */
static bool run_compiler(struct compiler *c, const char *const *args)
{
	char *argv[COMPILER_ARGS + MORE_ARGS];
	posix_spawn_file_actions_t fa;
	struct buf errors = { 0 };
	size_t n = 0;
	int rc;
	pid_t pid;

	for (; c->words[n]; n++)
		argv[n] = (char *)c->words[n];
	for (; *args; args++)
		argv[n++] = (char *)*args;
	argv[n] = NULL;
	compiler_path(c, files[ERRORS], &errors);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&fa, 2, errors.data, O_WRONLY | O_CREAT | O_TRUNC,
					 0600);
	rc = posix_spawnp(&pid, argv[0], &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	buf_free(&errors);
	return !rc && child_wait(pid) == 0;
}

static void read_errors(struct compiler *c, struct buf *errors)
{
	struct buf path = { 0 };

	compiler_path(c, files[ERRORS], &path);
	buf_reset(errors);
	if (!access(path.data, R_OK))
		textfile_read(path.data, errors);
	buf_free(&path);
}

/* Write the source, and compile it with these options into a file, whose path is set in to. */
static bool compile(struct compiler *c, const char *source, const char *const *options, int file,
		    struct buf *to)
{
	const char *args[MORE_ARGS];
	struct buf from = { 0 };
	size_t n = 0;
	FILE *f;
	bool ok;

	compiler_path(c, files[SOURCE], &from);
	f = fopen(from.data, "we");
	ok = f && fputs(source, f) >= 0;
	if (f)
		ok = !fclose(f) && ok;
	if (!ok)
		warn("cannot write '%s': %s; set TMPDIR to another directory", from.data,
		     strerror(errno));
	compiler_path(c, files[file], to);
	for (; *options; options++)
		args[n++] = *options;
	args[n++] = "-o";
	args[n++] = to->data;
	args[n++] = from.data;
	args[n] = NULL;
	ok = ok && run_compiler(c, args);
	buf_free(&from);
	return ok;
}

/* Preprocess source into out, with macros (-dD).  Return false with its messages in errors. */
static bool compiler_preprocess(struct compiler *c, const char *source, struct buf *out,
			 struct buf *errors)
{
	struct buf to = { 0 };
	bool ok = compile(c, source, (const char *[]){ "-E", "-dD", NULL }, PREPROCESSED, &to);

	if (ok)
		ok = textfile_read(to.data, out);
	else
		read_errors(c, errors);
	buf_free(&to);
	return ok;
}

/*
 * Compile source to an object with BTF of all its types, and set object to its path, which
 * is valid until the next call.  Return false with the compiler's messages in errors.
 */
static bool compiler_types(struct compiler *c, const char *source, struct buf *object,
		    struct buf *errors)
{
	bool ok = compile(c, source, (const char *[]){
		"-gbtf", "-fno-eliminate-unused-debug-types", "-w", "-c", NULL,
	}, OBJECT, object);

	if (!ok)
		read_errors(c, errors);
	return ok;
}

bool compiler_program(struct compiler *c, const char *source, struct buf *program,
		      struct buf *messages)
{
	bool ok = compile(c, source, (const char *[]){ "-Wall", NULL }, PROGRAM, program);

	read_errors(c, messages);
	return ok;
}

static bool try_compiler(struct compiler *c, const char *command, bool btf)
{
	struct buf object = { 0 }, errors = { 0 };
	char *save = NULL, *word;
	size_t n = 0;
	bool ok;

	free(c->command);
	c->command = xstrdup(command);
	/* messages in ASCII */
	c->words[n++] = "env";
	c->words[n++] = "LC_ALL=C";
	for (word = strtok_r(c->command, " \t", &save); word && n < COMPILER_ARGS - 1;
	     word = strtok_r(NULL, " \t", &save))
		c->words[n++] = word;
	c->words[n] = NULL;
	ok = n > 2 && (btf ? compiler_types(c, "enum e { E } e;\n", &object, &errors) :
			 compiler_program(c, "int main(void) { return 0; }\n", &object, &errors));
	buf_free(&object);
	buf_free(&errors);
	return ok;
}

void compiler_close(struct compiler *c)
{
	char path[sizeof(c->dir) + 16];

	for (int i = 0; *c->dir && i < (int)(sizeof(files) / sizeof(*files)); i++) {
		snprintf(path, sizeof(path), "%s/%s", c->dir, files[i]);
		unlink(path);
	}
	if (*c->dir)
		rmdir(c->dir);
	*c->dir = '\0';
	free(c->command);
	c->command = NULL;
}

/* die() between open and close must not leave the directory behind. */
static void close_at_exit(int status, void *c)
{
	(void)status;
	compiler_close(c);
	free(c);
}

struct compiler *compiler_open(bool btf)
{
	const char *tmp = getenv("TMPDIR"), *cc = getenv("CC");
	struct compiler *c = xcalloc(1, sizeof(*c));

	on_exit(close_at_exit, c);
	if (!tmp || !*tmp || strlen(tmp) > sizeof(c->dir) - 24)
		tmp = "/tmp";
	snprintf(c->dir, sizeof(c->dir), "%s/pevtrace-XXXXXX", tmp);
	if (!mkdtemp(c->dir)) {
		warn("cannot create a directory in %s: %s; set TMPDIR to another directory", tmp,
		     strerror(errno));
		*c->dir = '\0';
		return NULL;
	}
	if ((cc && *cc && try_compiler(c, cc, btf)) || try_compiler(c, "cc", btf) ||
	    try_compiler(c, "gcc", btf))
		return c;
	if (btf)
		warn("no C compiler found that writes BTF (gcc -gbtf, since gcc 12); set CC to one, "
		     "or use --no-headers");
	compiler_close(c);
	return NULL;
}

/* Values are read from the BTF of enumerators, 24 bits each: old compilers write 32 bits. */
enum { PIECES = 3, PIECE_BITS = 24 };

/* An occurrence of a word in the headers themselves. */
struct word {
	char *name;
	size_t file;
	unsigned int line;
	bool macro;		/* #define with a value */
};

struct words {
	struct word *all;
	size_t n;
	char **files;		/* paths of the headers */
	size_t nfiles;
};

/* Preprocessor output --------------------------------------------------------------------- */

static void add_header_word(struct words *w, const char *s, size_t len, unsigned int line,
			    bool macro)
{
	w->all = xgrow(w->all, w->n, sizeof(*w->all));
	w->all[w->n++] = (struct word){
		.name = xstrndup(s, len), .file = w->nfiles - 1, .line = line, .macro = macro,
	};
}

/* A position in the preprocessor's output. */
struct place {
	unsigned int line, depth;
	bool ours;		/* depth 0 is our source, not text of the compiler */
};

/* Read "# 12 "file" 1", the position of the next line; 1 enters a file, 2 returns to one. */
static void read_line_marker(struct words *w, const char *s, const char *end, struct place *at)
{
	const char *name = memchr(s, '"', (size_t)(end - s)), *close;

	at->line = (unsigned int)strtoul(s + 1, NULL, 10);
	close = name ? memchr(name + 1, '"', (size_t)(end - name) - 1) : NULL;
	if (!close)
		return;
	if (memmem(close, (size_t)(end - close), " 1", 2)) {
		at->depth++;
		if (at->depth == 1 && at->ours) {
			APPEND(w->files, w->nfiles) = xstrndup(name + 1, (size_t)(close - name) - 1);
		}
	} else if (memmem(close, (size_t)(end - close), " 2", 2) && at->depth) {
		at->depth--;
	}
	if (!at->depth)
		at->ours = name[1] != '<';
}

/* Read the words of the headers that our source includes, and of macros those with a value. */
static void read_header_words(const char *text, struct words *w)
{
	struct place at = { .ours = false };

	for (const char *s = text, *end; *s; s = *end ? end + 1 : end) {
		end = strchrnul(s, '\n');
		if (!strncmp(s, "# ", 2)) {
			read_line_marker(w, s, end, &at);
			continue;
		}
		if (at.depth == 1 && at.ours && !strncmp(s, "#define ", 8)) {
			const char *name = s + 8;
			size_t n = scan_word(name, NULL), blanks = strspn(name + n, " \t");

			/* one with arguments is no constant */
			if (n && name[n] != '(' && name + n + blanks < end)
				add_header_word(w, name, n, at.line, true);
		} else if (at.depth == 1 && at.ours && *s != '#') {
			for (size_t n; s < end; s += n ? n : 1) {
				n = scan_word(s, end);
				if (n && !isdigit((unsigned char)*s))
					add_header_word(w, s, n, at.line, false);
			}
		}
		at.line++;
	}
}

/* Return the first occurrence of a word from an index on, or NULL. */
static const struct word *find_word(const struct words *w, size_t from, const char *name)
{
	for (size_t i = from; i < w->n; i++)
		if (!strcmp(w->all[i].name, name))
			return &w->all[i];
	return NULL;
}

/* Values ---------------------------------------------------------------------------------- */

/* Find the values of n names.  A macro that is no integer stops the compilation: halve. */
static void find_values(struct compiler *c, const char *include, struct api_desc *s, size_t first,
			size_t n)
{
	struct buf source = { 0 }, object = { 0 }, errors = { 0 };
	struct api_desc pieces = { 0 };
	const struct api_name *piece;
	char name[64];
	bool known;

	if (!n)
		return;
	buf_addf(&source, "%senum pevtrace_values {\n", include);
	for (size_t i = first; i < first + n; i++)
		for (int p = 0; p < PIECES; p++)
			buf_addf(&source, "\tpevtrace_%zu_%d = (int)((unsigned long long)(%s) >> %d & "
				 "0xffffff),\n", i, p, s->names[i].name, p * PIECE_BITS);
	buf_adds(&source, "} pevtrace_values;\n");
	if (compiler_types(c, source.data, &object, &errors)) {
		known = btf_read(object.data, NULL, &pieces);
		for (size_t i = first; i < first + n && known; i++) {
			s->names[i].valued = true;
			s->names[i].value = 0;
			for (int p = 0; p < PIECES; p++) {
				snprintf(name, sizeof(name), "pevtrace_%zu_%d", i, p);
				piece = api_name(&pieces, name);
				s->names[i].valued &= piece != NULL;
				s->names[i].value |= piece ? piece->value << p * PIECE_BITS : 0;
			}
		}
	} else if (n > 1) {
		find_values(c, include, s, first, n / 2);
		find_values(c, include, s, first + n / 2, n - n / 2);
	}
	api_desc_free(&pieces);
	buf_free(&source);
	buf_free(&object);
	buf_free(&errors);
}

/* Headers --------------------------------------------------------------------------------- */

/* Move what the headers themselves define to out. */
static void keep_own(struct api_desc *all, const struct words *w, struct api_desc *out)
{
	for_each(word, w->all, w->n) {
		const struct api_name *n = api_name(all, word->name);
		struct api_name *to;

		/* some compilers leave 64-bit enumerators out of BTF */
		if ((!n && !word->macro && !page_is_constant(word->name)) ||
		    api_name(out, word->name))
			continue;
		to = api_desc_add_name(out, word->name, n ? n->set : NULL);
		to->line = word->line;
		to->file = word->file ? xstrdup(w->files[word->file]) : NULL;
	}
	for (size_t i = 0; i < all->nstructs; i++) {
		const struct word *word = find_word(w, 0, all->structs[i].name);
		struct api_struct *to, empty;

		if (!word)
			continue;
		to = api_desc_add_struct(out, "");
		empty = *to;
		*to = all->structs[i];
		all->structs[i] = empty;
		to->line = word->line;
		for (size_t j = 0; j < to->n; j++) {
			const struct word *m = find_word(w, (size_t)(word - w->all),
							 to->members[j].name);

			to->members[j].line = m ? m->line : to->line;
		}
	}
}

bool header_read(const char *const *headers, size_t n, struct api_desc *out)
{
	struct buf include = { 0 }, text = { 0 }, object = { 0 }, errors = { 0 };
	struct api_desc all = { 0 };
	struct words w = { 0 };
	struct compiler *c = compiler_open(true);
	const char *error;
	bool ok;

	if (!c)
		return false;
	for (size_t i = 0; i < n; i++) {
		char *path = *headers[i] == '<' ? NULL : realpath(headers[i], NULL);

		if (*headers[i] == '<')
			buf_addf(&include, "#include %s\n", headers[i]);
		else
			buf_addf(&include, "#include \"%s\"\n", path ? path : headers[i]);
		free(path);
	}
	ok = compiler_preprocess(c, include.data, &text, &errors) &&
	     compiler_types(c, include.data, &object, &errors);
	if (!ok) {
		error = strstr(buf_str(&errors), "error:");
		error = error ? error : buf_str(&errors);
		warn("cannot compile %s: %.*s; name another header with --header, or use "
		     "--no-headers", headers[0], (int)strcspn(error, "\n"), error);
	}
	ok = ok && btf_read(object.data, NULL, &all);
	if (ok) {
		read_header_words(buf_str(&text), &w);
		ok = w.nfiles;
		/* some compilers write no line markers, or nothing */
		if (!ok)
			warn("the preprocessed text of %s does not name it; set CC to another "
			     "compiler, or use --no-headers", headers[0]);
	}
	if (ok) {
		keep_own(&all, &w, out);
		free(out->file);
		out->file = xstrdup(w.files[0]);
		find_values(c, include.data, out, 0, out->nnames);
	}
	for (size_t i = 0; i < w.n; i++)
		free(w.all[i].name);
	for (size_t i = 0; i < w.nfiles; i++)
		free(w.files[i]);
	free(w.all);
	free(w.files);
	api_desc_free(&all);
	compiler_close(c);
	buf_free(&include);
	buf_free(&text);
	buf_free(&object);
	buf_free(&errors);
	return ok;
}
