// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Raw data of tracepoints, by formats that a dump may bring: the text, a NUL, the
 * data.
 */
#include "fuzz.h"
#include "core/host/rawdata.h"

static const char *format;
static const uint8_t *raw;
static size_t raw_len;

static const char *format_of(void *ctx, uint64_t id)
{
	(void)ctx, (void)id;
	return format;
}

static void emit(void *ctx, struct sink *s)
{
	sink_begin(s, "raw", SINK_OBJECT);
	rawdata_emit(ctx, 0, raw, raw_len, s);
	sink_end(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const uint8_t *end = memchr(data, '\0', len);
	struct rawdata *r;

	if (!end)
		return 0;
	format = (const char *)data;
	raw = end + 1;
	raw_len = len - (size_t)(raw - data);
	r = rawdata_new(format_of, NULL);
	fuzz_sinks(emit, r);
	rawdata_free(r);
	return 0;
}
