// SPDX-License-Identifier: LGPL-2.1-or-later
/* Records, by the formats of any attr: four words and a byte, then the records. */
#include "../unit/fake.h"
#include "core/abi/record.h"
#include "core/abi/swap.h"
#include "fuzz.h"
#include "core/lib/die.h"

struct shown {
	const uint8_t *bytes;
	size_t len, used;
	struct record_format format;
};

static bool raw(void *ctx, const uint8_t *data, size_t len, struct sink *s)
{
	(void)ctx;
	if (len % 8)
		return false; /* a format that is not known */
	sink_bytes(s, "field", data, len, false);
	return true;
}

static const char *symbol(void *ctx, int32_t pid, uint64_t ip, unsigned int cpumode,
			  bool after_call)
{
	(void)ctx;
	return cpumode && pid && (ip & 1) == after_call ? "main" : NULL;
}

static const struct record_hooks hooks = { .raw = raw, .symbol = symbol };

static void emit(void *ctx, struct sink *s)
{
	struct shown *r = ctx;

	sink_begin(s, "record", SINK_OBJECT);
	r->used = record_emit(r->bytes, r->len, &r->format, &fake_names, s, &hooks);
	sink_end(s);
}

static void swap_bytes(void *ctx, uint8_t *data, size_t len)
{
	(void)ctx;
	if (len)
		data[len - 1] ^= data[0];
}

/* Convert a copy, as if it was of the other byte order. */
static void convert(const struct shown *r)
{
	const struct record_hooks to_swap = { .swap_raw = swap_bytes };
	uint8_t *copy = xmalloc(r->len);

	memcpy(copy, r->bytes, r->len);
	swap_record(copy, r->len, &r->format, &to_swap);
	fuzz_show_bytes("swapped", copy, r->len);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct shown r = { .format.arch = arch_native() };
	struct record_id id;
	uint8_t flags;

	r.format.sample_type = fuzz_word(&data, &len);
	r.format.read_format = fuzz_word(&data, &len);
	r.format.branch_sample_type = fuzz_word(&data, &len);
	r.format.sample_regs_user = r.format.sample_regs_intr = fuzz_word(&data, &len);
	fuzz_take(&data, &len, &flags, 1);
	r.format.sample_id_all = flags & 1;
	if (flags & 2)
		r.format.arch = NULL;
	for (int i = 0; i < 64 && len; i++) {
		r.bytes = data;
		r.len = len;
		fuzz_sinks(emit, &r);
		convert(&r);
		if (!record_identify(data, len, &r.format, &id) || id.size > len)
			break;
		if (fuzz_shows())
			printf("%u %u %u used %zu, has %d%d%d%d: %llu %llu %u %d %d\n", id.type, id.misc,
			       id.size, r.used, id.has_id, id.has_time, id.has_cpu, id.has_tid,
			       (unsigned long long)(id.has_id ? id.id : 0),
			       (unsigned long long)(id.has_time ? id.time : 0), id.has_cpu ? id.cpu : 0,
			       id.has_tid ? id.pid : 0, id.has_tid ? id.tid : 0);
		data += id.size;
		len -= id.size;
	}
	return 0;
}
