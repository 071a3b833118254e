// SPDX-License-Identifier: LGPL-2.1-or-later
/* The records of a perf.data file: those of the kernel, and those that perf synthesizes. */
#include "formats/perfdata/perfout_internal.h"

enum { CONVERTED_MOST = 1 << 20 }; /* bytes of records in memory */

/* Before each record that is held. */
struct held {
	const struct perfout_event *event;
	uint64_t id, recent_ns;
	size_t len;
};

/* Append the sample_id of a record, with zeros for all but time and id. */
static void perfout_add_trailer(const struct record_format *f, uint64_t ns, uint64_t id,
				struct buf *out)
{
	static const uint64_t parts[] = {
		/* in their order */
		PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
		PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,	 PERF_SAMPLE_IDENTIFIER,
	};

	for (size_t i = 0; f->sample_id_all && i < sizeof(parts) / sizeof(*parts); i++)
		if (f->sample_type & parts[i])
			buf_add_u64(out, parts[i] == PERF_SAMPLE_TIME ? ns
					 : parts[i] & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER)
						 ? id
						 : 0);
}

/* Writing ------------------------------------------------------------------ */

/*
 * Return the id by which perf finds the event of a record: in a pipe the first one for one that was
 * not known when the event was written, as perf would have one more event of the same name.
 */
static uint64_t perfout_id_in_output(const struct perfout_view *v, const struct perfout_event *e,
				     uint64_t id)
{
	const struct perfout_event *own = map_get(&v->by_id, id);

	if (!v->out->pipe || map_get(&v->ids_in_pipe, id))
		return id;
	e = own ? own : e;
	return e->nids_in_pipe ? e->ids[0] : id;
}

/* Add a record with an id where perf looks for it: first in a sample, last in others. */
static void perfout_add_with_id(struct perfout_view *v, const struct held *h, const uint8_t *bytes)
{
	struct record_format own = h->event->format, now = perfout_format(v, h->event);
	bool sample = load_uint(bytes, 4) == PERF_RECORD_SAMPLE;
	uint64_t id = perfout_id_in_output(v, h->event, h->id);
	struct buf b = { 0 };

	buf_add(&b, bytes, RECORD_HEAD);
	if (sample)
		buf_add_u64(&b, id);
	buf_add(&b, bytes + RECORD_HEAD, h->len - RECORD_HEAD);
	if (!sample && own.sample_id_all)
		buf_add_u64(&b, id);
	else if (!sample)
		perfout_add_trailer(&now, h->recent_ns, id, &b);
	if (b.len > RECORD_MOST) {
		v->records_too_long++;
	} else {
		perfout_set_size(&b);
		buf_add(&v->out->pending, b.data, b.len);
	}
	buf_free(&b);
}

/* Add a synthesized record: its sample_id is that of the first event, zero except for the time. */
static void perfout_add_synthetic(struct perfout_view *v, const struct held *h,
				  const uint8_t *bytes)
{
	const struct perfout_event *first = perfout_first_event(v);
	struct record_format f = { 0 };
	struct buf b = { 0 };

	if (load_uint(bytes, 4) >= PERF_RECORD_HEADER_ATTR) { /* perf's own has no sample_id */
		buf_add(&v->out->pending, bytes, h->len);
		return;
	}
	if (first)
		f = perfout_format(v, first);
	buf_add(&b, bytes, h->len);
	perfout_add_trailer(&f, h->recent_ns, 0, &b);
	if (b.len <= RECORD_MOST) {
		perfout_set_size(&b);
		buf_add(&v->out->pending, b.data, b.len);
	}
	buf_free(&b);
}

static void perfout_add_record(struct perfout_view *v, const struct held *h, const uint8_t *bytes)
{
	struct buf *out = &v->out->pending;
	uint64_t own, id;
	size_t at;

	if (!h->event) {
		perfout_add_synthetic(v, h, bytes);
		return;
	}
	if (h->event->left_out)
		return;
	if (v->with_ids && !(h->event->format.sample_type & PERF_SAMPLE_IDENTIFIER)) {
		perfout_add_with_id(v, h, bytes);
		return;
	}
	/* it has an id where perf looks for it, or needs none */
	at = perfout_id_at(h->event, load_uint(bytes, 4) == PERF_RECORD_SAMPLE, h->len);
	own = at ? load_uint(bytes + at, 8) : 0;
	id = perfout_id_in_output(v, h->event, own);
	if (!at || id == own) {
		buf_add(out, bytes, h->len);
		return;
	}
	buf_add(out, bytes, at);
	buf_add_u64(out, id);
	buf_add(out, bytes + at + sizeof(id), h->len - at - sizeof(id));
}

/* Give the id of its event to a record that is in the file.  *recent_ns: the time before it. */
static void perfout_convert_record(struct perfout_view *v, const uint8_t *bytes, size_t len,
				   uint64_t *recent_ns)
{
	const struct perfout_event *first = perfout_first_event(v);
	struct held h = { .event = first, .recent_ns = *recent_ns, .len = len };
	struct record_id id;

	if (!record_identify(bytes, len, &first->format, &id) ||
	    id.type >= PERF_RECORD_HEADER_ATTR) {
		buf_add(&v->out->pending, bytes, len);
		return;
	}
	if (id.has_time)
		*recent_ns = id.time;
	if (id.has_id && map_get(&v->by_id, id.id))
		h.event = map_get(&v->by_id, id.id);
	h.id = id.has_id ? id.id : first->nids ? first->ids[0] : 0;
	perfout_add_record(v, &h, bytes);
}

/* Copy the AUX data that follow a record; return how many bytes could be. */
static uint64_t perfout_convert_payload(struct perfout_view *v, const uint8_t *record, uint64_t most,
					FILE *f)
{
	uint64_t size = load_uint(record, 4) != PERF_RECORD_AUXTRACE ? 0 :
			layout_get(&layout_perf_auxtrace, PERF_AUXTRACE_SIZE, record,
				   layout_perf_auxtrace.size);
	uint64_t done = 0;
	uint8_t piece[4096];

	while (done < size && size <= most) {
		size_t n = size - done < sizeof(piece) ? size - done : sizeof(piece);

		if (fread(piece, 1, n, f) != n)
			break;
		buf_add(&v->out->pending, piece, n);
		done += n;
	}
	return done;
}

/*
 * Write all records of the file again, with ids, as an event appeared that perf could not tell
 * from the others.  Return false if the file cannot be read.
 */
static bool perfout_convert(struct perfout_view *v)
{
	uint64_t from = 0, to = 0, recent_ns = 0;
	uint8_t *bytes;
	FILE *f;

	if (v->out->pipe)
		return false;
	perfout_flush(v, PERFOUT_PART);
	f = perfout_restart(v->out, &from, &to);
	if (!f)
		return false;
	v->with_ids = true;
	bytes = xmalloc(RECORD_MOST);
	while (to - from >= RECORD_HEAD && fread(bytes, 1, RECORD_HEAD, f) == RECORD_HEAD) {
		size_t len = layout_get(&layout_perf_event_header, PERF_EVENT_HEADER_SIZE, bytes,
					RECORD_HEAD);

		if (len < RECORD_HEAD || len > RECORD_MOST || len > to - from ||
		    fread(bytes + RECORD_HEAD, 1, len - RECORD_HEAD, f) != len - RECORD_HEAD)
			break;
		perfout_convert_record(v, bytes, len, &recent_ns);
		from += len;
		from += perfout_convert_payload(v, bytes, to - from, f);
		if (v->out->pending.len > CONVERTED_MOST)
			perfout_flush(v, PERFOUT_PART);
	}
	if (from != to)
		warn("the perf.data file lacks %llu bytes of records: they cannot be read again",
		     (unsigned long long)(to - from));
	free(bytes);
	fclose(f);
	return true;
}

bool perfout_admit_event(struct perfout_view *v, struct perfout_event *e)
{
	const char *why = NULL;

	if (!v->ids_decided)
		return true;
	if (!perfout_fits(v, e) && !perfout_convert(v))
		why = "its records have no id in the same place";
	else if (v->formats_in_pipe && !e->in_pipe && perfout_is_tracepoint(e))
		why = "perf reads the formats of tracepoints once from a pipe";
	/* for its first record */
	if (why && !map_set(&v->late_events, e->number, e))
		warn("the records of %s are left out of the perf.data file: it was opened after "
		     "others had been written, and %s; write a dump with --json, and run pevtrace "
		     "report --format=perf-data on it", e->name, why);
	if (!why && v->out->pipe && perfout_pipe_event(v, e))
		perfout_pipe_formats(v);
	return !why;
}

void perfout_record(struct perfout_view *v, struct perfout_member *m, const uint8_t *bytes,
		    size_t len)
{
	struct held h = { .recent_ns = m ? v->last_record_ns : v->synthesized_ns, .len = len };

	if (m) {
		h.event = m->event;
		h.id = perfout_id(v, m);
	}
	if (v->ids_decided && m && m->event->left_out)
		return;
	if (!v->ids_decided) {
		buf_add(&v->held, &h, sizeof(h));
		buf_add(&v->held, bytes, len);
	} else if (!m || perfout_admit_event(v, m->event)) {
		perfout_add_record(v, &h, bytes);
	}
	/* whether they are left out is not decided when they are held; perf's own are not sorted */
	v->round_has_records |= m ? !m->event->left_out :
				    load_uint(bytes, 4) < PERF_RECORD_HEADER_ATTR;
}

void perfout_release(struct perfout_view *v)
{
	const uint8_t *at = (const uint8_t *)buf_str(&v->held);
	const uint8_t *end = at + v->held.len;

	while (at < end) {
		struct held h;

		memcpy(&h, at, sizeof(h));
		at += sizeof(h);
		perfout_add_record(v, &h, at);
		at += h.len;
	}
}

/* Tasks -------------------------------------------------------------------- */

void perfout_note_thread(struct perfout_view *v, pid_t tid, pid_t pid)
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

/* Synthesizing ------------------------------------------------------------- */

/* End a synthesized record, with a text behind it unless that is NULL, and write it. */
static void perfout_synthesize(struct perfout_view *v, struct buf *b, const char *text)
{
	if (text)
		buf_add(b, text, strlen(text) + 1);
	perfout_end_record(b);
	if (b->len <= RECORD_MOST)
		perfout_record(v, NULL, (const uint8_t *)b->data, b->len);
}

static void perfout_add_comm(struct perfout_view *v, const struct proc_image *p,
			     const struct proc_image_thread *t, struct buf *b)
{
	const struct layout *l = &layout_perf_record_comm;
	uint8_t *bytes = perfout_begin_record(b, PERF_RECORD_COMM, PERF_RECORD_MISC_USER, l->size);

	field_set(&l->fields[PERF_RECORD_COMM_PID], (uint32_t)p->pid, bytes);
	field_set(&l->fields[PERF_RECORD_COMM_TID], (uint32_t)t->tid, bytes);
	perfout_synthesize(v, b, t->comm);
}

/* parent: the process that created the thread, or whose child the process is */
static void perfout_add_fork(struct perfout_view *v, const struct proc_image *p,
			     const struct proc_image_thread *t, pid_t parent, struct buf *b)
{
	const struct layout *l = &layout_perf_record_task;
	uint8_t *bytes = perfout_begin_record(b, PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC,
					      l->size);

	field_set(&l->fields[PERF_RECORD_TASK_PID], (uint32_t)p->pid, bytes);
	field_set(&l->fields[PERF_RECORD_TASK_PPID], (uint32_t)parent, bytes);
	field_set(&l->fields[PERF_RECORD_TASK_TID], (uint32_t)t->tid, bytes);
	field_set(&l->fields[PERF_RECORD_TASK_PTID], (uint32_t)parent, bytes);
	perfout_synthesize(v, b, NULL);
}

static void perfout_add_mapping(struct perfout_view *v, const struct proc_image *p,
				const struct proc_image_map *m, struct buf *b)
{
	const struct field *f = layout_perf_record_mmap.fields;
	const struct field *inode = layout_perf_record_mmap2_inode.fields;
	bool kernel = p->pid < 0;
	uint8_t *bytes = perfout_begin_record(
		b, kernel ? PERF_RECORD_MMAP : PERF_RECORD_MMAP2,
		kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
		kernel ? layout_perf_record_mmap.size : layout_perf_record_mmap2.size);

	/* MMAP2 begins like MMAP */
	field_set(&f[PERF_RECORD_MMAP_PID], (uint32_t)p->pid, bytes);
	field_set(&f[PERF_RECORD_MMAP_TID], kernel ? 0 : (uint32_t)p->pid, bytes);
	field_set(&f[PERF_RECORD_MMAP_ADDR], m->start, bytes);
	field_set(&f[PERF_RECORD_MMAP_LEN], m->end - m->start, bytes);
	field_set(&f[PERF_RECORD_MMAP_PGOFF], m->pgoff, bytes);
	if (!kernel) {
		field_set(&inode[PERF_RECORD_MMAP2_INODE_MAJ], m->major, bytes);
		field_set(&inode[PERF_RECORD_MMAP2_INODE_MIN], m->minor, bytes);
		field_set(&inode[PERF_RECORD_MMAP2_INODE_INO], m->inode, bytes);
		f = layout_perf_record_mmap2.fields;
		field_set(&f[PERF_RECORD_MMAP2_PROT], m->prot, bytes);
		field_set(&f[PERF_RECORD_MMAP2_FLAGS], m->flags, bytes);
	}
	perfout_synthesize(v, b, m->path);
}

/* last: of its program, which has a record, too */
static void perfout_add_function(struct perfout_view *v, const struct proc_image_function *f,
				 bool last, struct buf *b)
{
	const struct field *symbol = layout_perf_record_ksymbol.fields;
	const struct field *program = layout_perf_record_bpf_event.fields;
	uint8_t *bytes = perfout_begin_record(b, PERF_RECORD_KSYMBOL, 0,
					      layout_perf_record_ksymbol.size);

	field_set(&symbol[PERF_RECORD_KSYMBOL_ADDR], f->start, bytes);
	field_set(&symbol[PERF_RECORD_KSYMBOL_LEN], f->size, bytes);
	field_set(&symbol[PERF_RECORD_KSYMBOL_KSYM_TYPE], PERF_RECORD_KSYMBOL_TYPE_BPF, bytes);
	perfout_synthesize(v, b, f->name);
	if (!last || !f->program)
		return;
	bytes = perfout_begin_record(b, PERF_RECORD_BPF_EVENT, 0,
				     layout_perf_record_bpf_event.size);
	field_set(&program[PERF_RECORD_BPF_EVENT_BPF_TYPE], PERF_BPF_EVENT_PROG_LOAD, bytes);
	field_set(&program[PERF_RECORD_BPF_EVENT_ID], f->program, bytes);
	buf_add(b, f->tag, sizeof(f->tag));
	perfout_synthesize(v, b, NULL);
}

/*
 * Set the time of what is synthesized of a process: 0, as with perf; that of its exec, as its samples
 * before are of another program; or that of the sample for which it was read.
 */
static void perfout_set_since(struct perfout_view *v, const struct proc_image *p)
{
	void *here = (void *)(uintptr_t)(uint32_t)p->here;
	const void *before = map_set(&v->described_pids, (uint64_t)p->pid, here);
	const uint64_t *exec_ns;
	bool timed = true;

	if (before && before != here) /* in another PID namespace */
		perfout_begin_task(v, p->here);
	if (!before) /* an exec has replaced nothing; the BPF engine may report it after samples */
		free(map_del(&v->execs, (uint64_t)p->here));
	exec_ns = map_get(&v->execs, (uint64_t)p->here);
	v->synthesized_ns = p->time_ns ? p->time_ns : exec_ns ? *exec_ns : 0;
	if (v->synthesized_ns && v->synthesized_ns < v->sorted_until_ns)
		v->synthesized_ns = v->sorted_until_ns;
	for (size_t i = 0; i < v->nevents; i++)
		timed &= v->events[i]->format.sample_id_all;
	if (!v->synthesized_ns || timed || v->with_ids)
		return;
	/* only a sample_id has a time */
	if (v->ids_decided)
		perfout_convert(v);
	else
		v->with_ids = true;
}

void perfout_on_measured(struct view *view, const struct activity *a)
{
	struct perfout_view *v = (struct perfout_view *)view; /* view is its first member */
	const struct proc_image *p = &a->measured.image;
	struct buf b = { 0 };

	perfout_set_since(v, p);
	for (size_t i = 0; i < p->nthreads && p->pid == p->here; i++)
		perfout_note_thread(v, p->threads[i].tid, p->pid);
	/* perf record describes the tree of processes only if it measures all */
	if (p->nthreads && v->has_all_tasks && !map_set(&v->tree_processes, (uint64_t)p->pid, v))
		perfout_add_fork(v, p, &p->threads[0], p->parent, &b);
	if (p->nthreads)
		perfout_add_comm(v, p, &p->threads[0], &b);
	for (size_t i = 0; i < p->nmaps; i++)
		perfout_add_mapping(v, p, &p->maps[i], &b);
	for (size_t i = 0; i < p->nfunctions; i++) {
		const struct proc_image_function *f = &p->functions[i];

		perfout_add_function(v, f, i + 1 == p->nfunctions || f[1].program != f->program,
				     &b);
	}
	for (size_t i = 1; i < p->nthreads; i++) {
		if (!p->time_ns)
			perfout_add_fork(v, p, &p->threads[i], p->pid, &b);
		perfout_add_comm(v, p, &p->threads[i], &b);
	}
	for (size_t at = 0, size; at + RECORD_HEAD <= p->records.len; at += size) {
		const uint8_t *bytes = (const uint8_t *)p->records.data + at;

		size = layout_get(&layout_perf_event_header, PERF_EVENT_HEADER_SIZE, bytes,
				  p->records.len - at);
		if (size < RECORD_HEAD || size > p->records.len - at) /* of a dump */
			break;
		if (load_uint(bytes, 4) < PERF_RECORD_HEADER_ATTR)
			perfout_record(v, NULL, bytes, size);
	}
	v->synthesized_ns = 0;
	buf_free(&b);
}

void perfout_lost(struct perfout_view *v, struct perfout_member *m, uint32_t type, uint64_t lost)
{
	const struct layout *samples = &layout_perf_record_lost_samples;
	const struct layout *l = &layout_perf_record_lost;
	struct buf b = { 0 };
	uint64_t ns = 0; /* as perf has it for lost samples */

	if (type == PERF_RECORD_LOST) {
		ns = v->last_record_ns; /* as the kernel has it */
		perfout_begin_record(&b, type, 0, l->size);
		field_set(&l->fields[PERF_RECORD_LOST_ID], perfout_id(v, m), (uint8_t *)b.data);
		field_set(&l->fields[PERF_RECORD_LOST_LOST], lost, (uint8_t *)b.data);
	} else {
		field_set(&samples->fields[PERF_RECORD_LOST_SAMPLES_LOST], lost,
			  perfout_begin_record(&b, type, 0, samples->size));
	}
	perfout_add_trailer(&m->event->format, ns, perfout_id(v, m), &b);
	perfout_end_record(&b);
	perfout_record(v, m, (const uint8_t *)b.data, b.len);
	buf_free(&b);
}
