// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The tasks of records without PERF_SAMPLE_TID.  An event that measures one task and is not
 * inherited tells whose they are: they get pid and tid, by which perf finds process and symbols.
 */
#include <stdlib.h>

#include "core/abi/layout.h"
#include "core/lib/die.h"
#include "formats/perfdata/perfout_internal.h"
#include "xlat/constants.h"

void perfout_know_thread(struct perfout_view *v, pid_t tid, pid_t pid)
{
	if (pid > 0)
		map_set(&v->threads, (uint64_t)tid, (void *)(uintptr_t)pid);
}

void perfout_begin_task(struct perfout_view *v, pid_t tid)
{
	uint64_t *begin_ns = xmalloc(sizeof(*begin_ns));

	*begin_ns = v->greatest_record_ns;
	free(map_set(&v->execs, (uint64_t)tid, begin_ns));
}

void perfout_add_tid(struct perfout_event *p, const struct event *e)
{
	p->adds_tid = !p->left_out && !(p->format.sample_type & PERF_SAMPLE_TID) &&
		      event_single_task(e) > 0;
	if (p->adds_tid)
		p->format.sample_type |= PERF_SAMPLE_TID;
}

/* Return the offset of pid and tid in a record, which has none, or 0: it has no sample_id. */
static size_t perfout_tid_at(const struct record_format *f, uint32_t type, size_t len)
{
	static const uint64_t before = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
	static const uint64_t after = PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
				      PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	size_t at, others;

	if (type == PERF_RECORD_SAMPLE) {
		at = RECORD_HEAD + 8 * (size_t)__builtin_popcountll(f->sample_type & before);
		return at <= len ? at : 0;
	}
	others = 8 * (size_t)__builtin_popcountll(f->sample_type & after);
	return f->sample_id_all && len >= RECORD_HEAD + others ? len - others : 0;
}

bool perfout_insert_tid(struct perfout_view *v, const struct activity_record *r,
			struct perfout_event *p, uint32_t type, struct buf *out)
{
	/* without ids, another event may have written it */
	pid_t tid = r->sure ? event_single_task(r->event) : -1;
	pid_t pid = tid > 0 ? (pid_t)(uintptr_t)map_get(&v->threads, (uint64_t)tid) : -1;
	size_t at = p->adds_tid ? perfout_tid_at(&p->format, type, r->len) : 0;

	if (type == PERF_RECORD_SAMPLE && (at ? tid < 0 : !(p->format.sample_type & PERF_SAMPLE_TID)))
		p->sample_lacks_task = true;
	if (!at)
		return false;
	buf_add(out, r->bytes, at);
	buf_add_u32(out, (uint32_t)(pid ? pid : tid)); /* a process that was never seen: its leader */
	buf_add_u32(out, (uint32_t)tid);
	buf_add(out, r->bytes + at, r->len - at);
	return true;
}

/* Return whether its samples are what BPF programs wrote with bpf_perf_event_output(). */
static bool perfout_is_bpf_output(const struct perfout_event *p)
{
	return perfout_attr_of(p, ATTR_TYPE) == PERF_TYPE_SOFTWARE &&
	       perfout_attr_of(p, ATTR_CONFIG) == PERF_COUNT_SW_BPF_OUTPUT;
}

void perfout_tell_taskless(const struct perfout_view *v)
{
	for (size_t i = 0; i < v->nevents; i++) {
		const struct perfout_event *p = v->events[i];

		if (!p->sample_lacks_task || p->left_out)
			continue;
		if (perfout_is_bpf_output(p))
			warn("samples of %s are data of BPF programs, without a task: perf report "
			     "-D shows their bytes", p->name);
		else
			warn("samples of %s have no PERF_SAMPLE_TID, and the event may measure "
			     "several tasks: perf cannot name their processes", p->name);
	}
}
