// SPDX-License-Identifier: LGPL-2.1-or-later
#include "conform/textfile.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef HAVE_LZMA
#include <lzma.h>
#endif

#include "core/lib/die.h"
#include "core/lib/late.h"

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

static bool raw_read(const char *path, struct buf *out)
{
	FILE *f = fopen(path, "re");
	char piece[4096];
	bool ok;
	size_t n;

	if (!f) {
		warn("cannot open '%s': %s", path, strerror(errno));
		return false;
	}
	while ((n = fread(piece, 1, sizeof(piece), f)) && out->len <= TEXTFILE_MAX)
		buf_add(out, piece, n);
	ok = !ferror(f) && out->len <= TEXTFILE_MAX;
	if (ferror(f))
		warn("cannot read '%s': %s", path, strerror(errno));
	else if (!ok)
		warn("cannot read '%s': longer than %d MiB", path,
		     TEXTFILE_MAX >> 20);
	fclose(f);
	return ok;
}

bool textfile_read(const char *path, struct buf *out)
{
	struct buf raw = { 0 };
	bool ok = raw_read(path, &raw);

	if (ok && raw.len >= 2 && !memcmp(raw.data, "\x1f\x8b", 2))
		ok = gzip_read(path, &raw, out);
	else if (ok && raw.len >= 6 && !memcmp(raw.data, "\xfd" "7zXZ", 6))
		ok = xz_read(path, &raw, out);
	else if (ok)
		buf_add(out, buf_str(&raw), raw.len);
	buf_free(&raw);
	return ok;
}
