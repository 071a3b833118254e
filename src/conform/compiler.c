// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conform/textfile.h"
#include "core/lib/die.h"
#include "core/lib/libc.h"
#include "core/lib/program.h"

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

static void file_path(const struct compiler *c, int file, struct buf *out)
{
	compiler_path(c, files[file], out);
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
	file_path(c, ERRORS, &errors);
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

static bool write_source(struct compiler *c, const char *source)
{
	struct buf path = { 0 };
	FILE *f;
	bool ok;

	file_path(c, SOURCE, &path);
	f = fopen(path.data, "we");
	ok = f && fputs(source, f) >= 0;
	if (f)
		ok = !fclose(f) && ok;
	if (!ok)
		warn("cannot write '%s': %s; set TMPDIR to another directory", path.data,
		     strerror(errno));
	buf_free(&path);
	return ok;
}

static void read_errors(struct compiler *c, struct buf *errors)
{
	struct buf path = { 0 };

	file_path(c, ERRORS, &path);
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
	bool ok = write_source(c, source);

	file_path(c, SOURCE, &from);
	file_path(c, file, to);
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

bool compiler_preprocess(struct compiler *c, const char *source, struct buf *out,
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

bool compiler_types(struct compiler *c, const char *source, struct buf *object,
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
