/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the fuzzers have in common. */
#ifndef PEVTRACE_TESTS_FUZZ_H
#define PEVTRACE_TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/json/json_scan.h"
#include "formats/json/json_text.h"
#include "formats/text/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* How many inputs are worth their time in make check, where that is fewer. */
extern const unsigned long fuzz_inputs __attribute__((weak));

/* Takes what is there, up to n bytes, from the front; the rest of out is zero. */
static inline void fuzz_take(const uint8_t **data, size_t *len, void *out, size_t n)
{
	size_t have = n < *len ? n : *len;

	memset(out, 0, n);
	if (have)
		memcpy(out, *data, have);
	*data += have;
	*len -= have;
}

static inline uint64_t fuzz_word(const uint8_t **data, size_t *len)
{
	uint64_t v;

	fuzz_take(data, len, &v, sizeof(v));
	return v;
}

_Noreturn static inline void fuzz_wrong(const char *what, const char *text)
{
	printf("# %s: %.2000s\n", what, text);
	fflush(stdout);
	abort();
}

/* Show what is made of an input, where FUZZ_TEXT is set: for corpus_text.py. */
static inline bool fuzz_shows(void)
{
	return getenv("FUZZ_TEXT");
}

static inline void fuzz_show(const struct buf *out)
{
	if (fuzz_shows())
		printf("%s\n", buf_str(out));
}

static inline void fuzz_show_bytes(const char *what, const uint8_t *p, size_t len)
{
	if (!fuzz_shows())
		return;
	printf("%s %zu ", what, len);
	for (size_t i = 0; i < len; i++)
		printf("%02x", p[i]);
	printf("\n");
}

/* Nothing that a terminal would obey: text is printed as it is. */
static inline void fuzz_check_text(const struct buf *out)
{
	for (size_t i = 0; i < out->len; i++)
		if ((unsigned char)out->data[i] < ' ' || out->data[i] == 0x7f)
			fuzz_wrong("a control byte in", out->data);
}

/* Calls emit with each kind of sink; all that it begins, it must end, and JSON must be JSON. */
static inline void fuzz_sinks(void (*emit)(void *ctx, struct sink *s), void *ctx)
{
	static struct json_scan *scan;
	static struct buf out;
	struct text_sink t;
	struct json_text j;

	for (int how = 0; how < 4; how++) {
		buf_reset(&out);
		text_sink_init(&t, &out);
		t.sink.full = how & 1;
		t.sink.raw = how & 2;
		t.sink.max_string = how & 2 ? 4096 : 32;
		text_sink_top(&t, true, NULL);
		emit(ctx, &t.sink);
		if (t.depth)
			fuzz_wrong("not ended", buf_str(&out));
		fuzz_check_text(&out);
		fuzz_show(&out);
	}
	json_text_begin(&j);
	emit(ctx, &j.sink);
	if (j.depth)
		fuzz_wrong("not ended", "JSON");
	buf_free(&out);
	out = json_text_end(&j);
	if (!scan)
		scan = json_scan_new(JSON_TEXT_DEPTH);
	if (!json_scan_text(scan, out.data, out.len))
		fuzz_wrong("no JSON", json_scan_error(scan));
	fuzz_show(&out);
}

#endif
