// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/page.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/lib/die.h"
#include "core/lib/hash.h"
#include "core/lib/late.h"
#include "core/lib/scan_text.h"

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_LZMA
#include <lzma.h>
#endif

/* Text files, which may be compressed ------------------------------------------------------ */

enum { TEXTFILE_MAX = 16 << 20 };	/* bytes, uncompressed */

#if defined(HAVE_ZLIB) || defined(HAVE_LZMA)

/* Unpack up to room bytes.  Return their number, 0 at the end, -1 if the data is corrupt. */
typedef int piece_fn(void *from, char *to, unsigned int room);

static bool unpack(const char *path, const char *as, void *from, piece_fn *next,
		   struct buf *out)
{
	char piece[4096];
	int n;

	while ((n = next(from, piece, sizeof(piece))) > 0) {
		buf_add(out, piece, (size_t)n);
		if (out->len <= TEXTFILE_MAX)
			continue;
		warn("cannot read '%s': more than %d MiB uncompressed", path,
		     TEXTFILE_MAX >> 20);
		return false;
	}
	if (n < 0)
		warn("cannot read '%s': corrupt %s data", path, as);
	return n == 0;
}

#endif
#ifdef HAVE_ZLIB

struct gzip {
	z_stream z;
	bool done;	/* ignore what follows the end */
};

static int gzip_next(void *from, char *to, unsigned int room)
{
	struct gzip *g = from;
	int rc;

	if (g->done)
		return 0;
	g->z.next_out = (Bytef *)to;
	g->z.avail_out = room;
	do
		rc = ZLIB(inflate)(&g->z, Z_NO_FLUSH);
	while (rc == Z_OK && g->z.avail_out == room);
	g->done = rc == Z_STREAM_END;
	if (rc != Z_OK && rc != Z_STREAM_END)
		return -1;
	return (int)(room - g->z.avail_out);
}

#endif

static bool gzip_read(const char *path, struct buf *packed, struct buf *out)
{
#ifdef HAVE_ZLIB
	struct gzip g = {
		.z = { .next_in = (Bytef *)packed->data, .avail_in = (uInt)packed->len },
	};
	bool ok;

	if (ZLIB(inflateInit2_)(&g.z, 15 + 16, ZLIB_VERSION, (int)sizeof(g.z)) != Z_OK)
		die("out of memory");
	ok = unpack(path, "gzip", &g, gzip_next, out);
	ZLIB(inflateEnd)(&g.z);
	return ok;
#else
	(void)packed, (void)out;
	warn("cannot read '%s': pevtrace was built without zlib; decompress it with gunzip", path);
	return false;
#endif
}

#ifdef HAVE_LZMA

static int xz_next(void *from, char *to, unsigned int room)
{
	lzma_stream *x = from;
	lzma_ret rc = LZMA_OK;

	x->next_out = (uint8_t *)to;
	x->avail_out = room;
	while (rc == LZMA_OK && x->avail_out == room)
		rc = LZMA(lzma_code)(x, LZMA_FINISH);
	if (rc != LZMA_OK && rc != LZMA_STREAM_END)
		return -1;
	return (int)(room - x->avail_out);
}

#endif

static bool xz_read(const char *path, struct buf *packed, struct buf *out)
{
#ifdef HAVE_LZMA
	lzma_stream x = LZMA_STREAM_INIT;
	bool ok;

	if (LZMA(lzma_stream_decoder)(&x, 64 << 20, 0) != LZMA_OK)
		die("out of memory");
	x.next_in = (const uint8_t *)packed->data;
	x.avail_in = packed->len;
	ok = unpack(path, "xz", &x, xz_next, out);
	LZMA(lzma_end)(&x);
	return ok;
#else
	(void)packed, (void)out;
	warn("cannot read '%s': pevtrace was built without liblzma; decompress it with unxz", path);
	return false;
#endif
}

bool textfile_read(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "re");
	struct buf raw = { 0 };
	char piece[4096];
	size_t n;
	bool ok;

	if (!f) {
		warn("cannot open '%s': %s", path, strerror(errno));
		return false;
	}
	while ((n = fread(piece, 1, sizeof(piece), f)) && raw.len <= TEXTFILE_MAX)
		buf_add(&raw, piece, n);
	ok = !ferror(f) && raw.len <= TEXTFILE_MAX;
	if (ferror(f))
		warn("cannot read '%s': %s", path, strerror(errno));
	else if (!ok)
		warn("cannot read '%s': longer than %d MiB", path, TEXTFILE_MAX >> 20);
	fclose(f);
	if (ok && raw.len >= 2 && !memcmp(raw.data, "\x1f\x8b", 2))
		ok = gzip_read(path, &raw, out);
	else if (ok && raw.len >= 6 && !memcmp(raw.data, "\xfd" "7zXZ", 6))
		ok = xz_read(path, &raw, out);
	else if (ok)
		buf_add(out, buf_str(&raw), raw.len);
	buf_free(&raw);
	return ok;
}

/* The page ---------------------------------------------------------------------------------- */

bool page_is_constant(const char *word)
{
	bool bar = false;

	for (const char *s = word; *s; s++) {
		if (!isupper((unsigned char)*s) && !isdigit((unsigned char)*s) && *s != '_')
			return false;
		bar |= *s == '_' && s[1];
	}
	return bar && isupper((unsigned char)*word) && word[strlen(word) - 1] != '_';
}

bool page_is_errno(const char *word)
{
	size_t n = strlen(word);

	return n > 2 && n < 16 && *word == 'E' &&
	       strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == n;
}

void page_quote(const struct page *p, unsigned int line, struct buf *out)
{
	const char *s = buf_str(&p->source), *end = s + p->source.len;
	size_t n;

	while (line > 1 && s < end) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));

		s = nl ? nl + 1 : end;
		line--;
	}
	n = 0;
	while (s + n < end && s[n] != '\n')
		n++;
	for (; n && isspace((unsigned char)*s); n--)
		s++;
	while (n && isspace((unsigned char)s[n - 1]))
		n--;
	buf_add(out, s, n);
}

const struct page_entry *page_entry(const struct page *p, const char *name)
{
	for (size_t i = 0; i < p->nentries; i++)
		if (!strcmp(p->entries[i].name, name))
			return &p->entries[i];
	return NULL;
}

void page_index_words(struct page *p)
{
	for (size_t i = p->nwords; i--;) /* the first of each name stays */
		map_set(&p->words_by_hash, hash_text(HASH_START, p->words[i].name), &p->words[i]);
}

const struct page_word *page_word(const struct page *p, const char *name)
{
	const struct page_word *w = map_get(&p->words_by_hash, hash_text(HASH_START, name));

	return w && !strcmp(w->name, name) ? w : NULL;
}

/* A part of the page's text, by its lines. */
struct range {
	size_t first, end;
};

/* Return the first sections whose headings begin with a text. */
static struct range find_sections(const struct page *p, const char *heading)
{
	struct range r = { 0, 0 };
	size_t n = strlen(heading);

	while (r.first < p->nlines &&
	       strncmp(page_section(p, p->lines[r.first].section), heading, n))
		r.first++;
	for (r.end = r.first; r.end < p->nlines; r.end++)
		if (strncmp(page_section(p, p->lines[r.end].section), heading, n))
			break;
	return r;
}

static const char *text_at(const struct page *p, size_t line)
{
	return buf_str(&p->text) + (line < p->nlines ? p->lines[line].at : p->text.len);
}

/* Find words that do not begin inside a name. */
static const char *find_words(const char *from, const char *end, const char *words, size_t n)
{
	const char *text = from;

	while (from < end && (from = memmem(from, (size_t)(end - from), words, n))) {
		if (from == text || !scan_is_word(*from) || !scan_is_word(from[-1]))
			return from;
		from++;
	}
	return NULL;
}

/* Find words as page_find() does.  Return the index of their line, or SIZE_MAX. */
static size_t find_line(const struct page *p, struct range r, const char *words)
{
	static const char gap[] = " ... ";
	const char *from = text_at(p, r.first), *end = text_at(p, r.end);
	const char *rest = strstr(words, gap);

	if (rest) {
		from = find_words(from, end, words, (size_t)(rest - words));
		words = rest + strlen(gap);
	}
	from = from ? find_words(from, end, words, strlen(words)) : NULL;
	while (from && r.first + 1 < r.end && text_at(p, r.first + 1) <= from)
		r.first++;
	return from ? r.first : SIZE_MAX;
}

unsigned int page_find(const struct page *p, const char *section, const char *words)
{
	size_t i = find_line(p, find_sections(p, section), words);

	return i == SIZE_MAX ? 0 : p->lines[i].line;
}

bool page_omits(const struct page *p, const char *section, const char *words, const char *others)
{
	struct range r = find_sections(p, section);
	size_t at = find_line(p, r, words), tag = at;
	const struct page_line *l = p->lines;

	if (at == SIZE_MAX)
		return false;
	while (tag > r.first && !(l[tag].tag && l[tag].depth <= l[at].depth))
		tag--;
	if (l[tag].tag && l[tag].depth <= l[at].depth) {
		r.first = tag;
		/* up to the next tag of the same depth, or the end of its list */
		for (at++; at < r.end && l[at].depth >= l[tag].depth; at++)
			if (l[at].tag && l[at].depth == l[tag].depth)
				break;
		r.end = at;
	}
	return !api_desc_any(text_at(p, r.first), (size_t)(text_at(p, r.end) - text_at(p, r.first)),
			     others);
}

bool page_is_english(const struct page *p)
{
	for (size_t i = 0; i < p->nsections; i++)
		if (!strcmp(p->sections[i], "ERRORS"))
			return true;
	return false;
}

const char *page_section(const struct page *p, size_t section)
{
	return section < p->nsections ? p->sections[section] : "";
}

void page_free(struct page *p)
{
	for (size_t i = 0; i < p->nsections; i++)
		free(p->sections[i]);
	for (size_t i = 0; i < p->nentries; i++)
		free(p->entries[i].name);
	for (size_t i = 0; i < p->nwords; i++)
		free(p->words[i].name);
	for (size_t i = 0; i < p->nclaims; i++)
		free(p->claims[i].name);
	for (size_t i = 0; i < p->nexamples; i++) {
		free(p->examples[i].name);
		free(p->examples[i].text);
	}
	free(p->sections);
	free(p->lines);
	free(p->entries);
	free(p->words);
	map_free(&p->words_by_hash);
	free(p->claims);
	free(p->examples);
	free(p->structs);
	free(p->title);
	buf_free(&p->source);
	buf_free(&p->prose);
	buf_free(&p->text);
	api_desc_free(&p->desc);
	*p = (struct page){ .title = NULL };
}
