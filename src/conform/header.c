// SPDX-License-Identifier: LGPL-2.1-or-later
/* A C header, as a compiler reads it. */
#include "conform/api_desc.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform/compiler.h"
#include "conform/page.h"
#include "core/lib/die.h"
#include "core/lib/scan_text.h"

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
	w->all = page_grow(w->all, w->n, sizeof(*w->all));
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
			w->files = xrealloc(w->files, (w->nfiles + 1) * sizeof(*w->files));
			w->files[w->nfiles++] = xstrndup(name + 1, (size_t)(close - name) - 1);
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

static void join_values(const struct api_desc *pieces, struct api_desc *s, size_t first, size_t n)
{
	for (size_t i = first; i < first + n; i++) {
		uint64_t v = 0;
		bool all = true;

		for (int p = 0; p < PIECES; p++) {
			const struct api_name *piece;
			char name[64];

			snprintf(name, sizeof(name), "pevtrace_%zu_%d", i, p);
			piece = api_name(pieces, name);
			all &= piece != NULL;
			v |= piece ? piece->value << p * PIECE_BITS : 0;
		}
		s->names[i].valued = all;
		s->names[i].value = v;
	}
}

/* Find the values of n names.  A macro that is no integer stops the compilation: halve. */
static void find_values(struct compiler *c, const char *include, struct api_desc *s, size_t first,
			size_t n)
{
	struct buf source = { 0 }, object = { 0 }, errors = { 0 };
	struct api_desc pieces = { 0 };

	if (!n)
		return;
	buf_addf(&source, "%senum pevtrace_values {\n", include);
	for (size_t i = first; i < first + n; i++)
		for (int p = 0; p < PIECES; p++)
			buf_addf(&source, "\tpevtrace_%zu_%d = (int)((unsigned long long)(%s) >> %d & "
				 "0xffffff),\n", i, p, s->names[i].name, p * PIECE_BITS);
	buf_adds(&source, "} pevtrace_values;\n");
	if (compiler_types(c, source.data, &object, &errors)) {
		if (btf_read(object.data, NULL, &pieces))
			join_values(&pieces, s, first, n);
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

static void add_includes(const char *const *headers, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		char *path = *headers[i] == '<' ? NULL : realpath(headers[i], NULL);

		if (*headers[i] == '<')
			buf_addf(out, "#include %s\n", headers[i]);
		else
			buf_addf(out, "#include \"%s\"\n", path ? path : headers[i]);
		free(path);
	}
}

static void keep_names(const struct api_desc *all, const struct words *w, struct api_desc *out)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct word *word = &w->all[i];
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
}

/* Move what the headers themselves define to out. */
static void keep_own(struct api_desc *all, const struct words *w, struct api_desc *out)
{
	keep_names(all, w, out);
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
	add_includes(headers, n, &include);
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
