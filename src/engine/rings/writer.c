// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "engine/rings/writer.h"

/* How well an event matches a record. */
enum match { MATCH_NONE, MATCH_SIZE, MATCH_ID };

/* The search for the writer of one record. */
struct search {
	const struct ring *ring;
	const uint8_t *bytes;
	size_t len;
	struct event *writer;
	struct record_format format;
	enum match match;
	bool tied;			/* another event matches as well */
};

/* Return whether the attr asks for records of this type. */
static bool asks_for(const struct event *e, uint32_t type)
{
	static const struct {
		uint32_t type;
		unsigned int bit;
	} bits[] = {
		{ PERF_RECORD_SAMPLE, ATTR_SAMPLE_PERIOD },
		{ PERF_RECORD_MMAP, ATTR_MMAP }, { PERF_RECORD_MMAP, ATTR_MMAP_DATA },
		{ PERF_RECORD_MMAP2, ATTR_MMAP2 }, { PERF_RECORD_COMM, ATTR_COMM },
		{ PERF_RECORD_FORK, ATTR_TASK }, { PERF_RECORD_EXIT, ATTR_TASK },
		/* as perf_event_task_match() in the kernel */
		{ PERF_RECORD_FORK, ATTR_COMM }, { PERF_RECORD_EXIT, ATTR_COMM },
		{ PERF_RECORD_FORK, ATTR_MMAP }, { PERF_RECORD_EXIT, ATTR_MMAP },
		{ PERF_RECORD_FORK, ATTR_MMAP2 }, { PERF_RECORD_EXIT, ATTR_MMAP2 },
		{ PERF_RECORD_FORK, ATTR_MMAP_DATA }, { PERF_RECORD_EXIT, ATTR_MMAP_DATA },
		{ PERF_RECORD_SWITCH, ATTR_CONTEXT_SWITCH },
		{ PERF_RECORD_SWITCH_CPU_WIDE, ATTR_CONTEXT_SWITCH },
		{ PERF_RECORD_NAMESPACES, ATTR_NAMESPACES },
		{ PERF_RECORD_KSYMBOL, ATTR_KSYMBOL },
		{ PERF_RECORD_BPF_EVENT, ATTR_BPF_EVENT },
		{ PERF_RECORD_CGROUP, ATTR_CGROUP },
		{ PERF_RECORD_TEXT_POKE, ATTR_TEXT_POKE },
	};
	bool listed = false;

	for (size_t i = 0; i < sizeof(bits) / sizeof(*bits); i++) {
		if (bits[i].type != type)
			continue;
		listed = true;
		if (event_attr(e, bits[i].bit))
			return true;
	}
	return !listed; /* LOST, THROTTLE, ...: no bit requests them */
}

/*
 * Compare an event with the record.  An event that finds its own id in the record is the
 * writer.  Without ids it is the one whose format fits; if several fit, the event
 * that the ring belongs to.
 */
static void try_writer(void *ctx, struct event *e)
{
	struct search *k = ctx;
	struct sink s = { .ops = &sink_null_ops };
	struct record_format format;
	struct record_id id;
	enum match match;

	record_format_of(&format, e->attr, e->attr_len, arch_native());
	if (!record_identify(k->bytes, k->len, &format, &id))
		return;
	match = id.has_id && id.id == e->id ? MATCH_ID :
		id.has_id || !asks_for(e, id.type) ||
		record_emit(k->bytes, k->len, &format, NULL, &s, NULL) != k->len ?
		MATCH_NONE : MATCH_SIZE;
	k->tied = match == k->match && match == MATCH_SIZE;
	if (match < k->match || (match == k->match && k->writer &&
				 e != k->ring->event))
		return;
	k->match = match;
	k->writer = e;
	k->format = format;
}

void writer_find(struct model *m, struct ring *r, const uint8_t *bytes, size_t len,
		 struct record_format *format, struct activity_record *out)
{
	struct search k = { .ring = r, .bytes = bytes, .len = len };

	if (r->event->nsources)
		model_each_writer(m, r, try_writer, &k);
	if (!k.writer) {
		k.writer = r->event;
		record_format_of(&k.format, k.writer->attr, k.writer->attr_len,
				 arch_native());
	}
	*format = k.format;
	*out = (struct activity_record){
		.ring = r, .event = k.writer, .sure = !k.tied, .format = format,
		.bytes = bytes, .len = len,
	};
}
