// SPDX-License-Identifier: LGPL-2.1-or-later
/* What read(2) gives for an event: its read_format, then the bytes. */
#include "../unit/fake.h"
#include "core/abi/read_format.h"
#include "fuzz.h"

struct values {
	const uint8_t *bytes;
	size_t len, n;
	uint64_t format;
};

static void emit(void *ctx, struct sink *s)
{
	const struct values *v = ctx;

	read_format_emit(v->bytes, v->len, v->format, "values", &fake_names, s);
}

static void count(void *ctx, const struct read_value *value)
{
	struct values *v = ctx;

	if (value->index != v->n++)
		fuzz_wrong("out of order", "values");
	if (fuzz_shows())
		printf("%zu %llu %llu %llu %llu\n", (size_t)value->index, (unsigned long long)value->value,
		       (unsigned long long)value->id, (unsigned long long)value->enabled,
		       (unsigned long long)value->running);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct values v = { .format = fuzz_word(&data, &len), .bytes = data, .len = len };

	fuzz_sinks(emit, &v);
	read_format_each(data, len, v.format, count, &v);
	if (v.n > len / 8)
		fuzz_wrong("more than there are", "values");
	return 0;
}
