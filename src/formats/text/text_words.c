// SPDX-License-Identifier: LGPL-2.1-or-later
/* Side-band records in words: when, which task, and what it did. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/layout.h"
#include "core/lib/die.h"
#include "core/model/model.h"
#include "formats/text/text_fit.h"
#include "formats/text/text_view_internal.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* What records told of a task. */
struct words_task {
	char comm[16];
	uint64_t exec_ns;	/* it ran another program, whose file its next mapping tells; or 0 */
	bool placed;		/* its namespaces are known */
	uint64_t spaces[NR_NAMESPACES]; /* their inodes, by perf_ns_index */
};

/* A record that is shown. */
struct words {
	struct text_view *v;
	const struct activity_record *r;
	uint64_t ns;		/* when the kernel wrote it */
	struct record_id id;
};

/* The member of the fixed part of a record: MEMBER(r, task, TASK_PID). */
#define MEMBER(r, layout, name) \
	layout_get(&layout_perf_record_##layout, PERF_RECORD_##name, (r)->bytes, (r)->len)

/* Return the string behind the fixed part, of so many bytes; "" if it has no end. */
static const char *words_string(const struct activity_record *r, size_t fixed)
{
	bool ends = r->len > fixed && memchr(r->bytes + fixed, 0, r->len - fixed);

	return ends ? (const char *)r->bytes + fixed : "";
}

static struct words_task *words_task_of(struct text_view *v, uint64_t tid)
{
	struct words_task *t = map_get(&v->known, (uint32_t)tid);

	if (!t) {
		t = xcalloc(1, sizeof(*t));
		map_set(&v->known, (uint32_t)tid, t);
	}
	return t;
}

static void words_comm(struct words_task *t, const char *comm)
{
	snprintf(t->comm, sizeof(t->comm), "%s", comm);
}

/*
 * Append NAME[TID], the name only where records tell when it changes.  The kernel writes -1 for a
 * task that has ended.
 */
static void words_add_task(const struct words *w, uint64_t tid)
{
	bool named = !w->r || event_attr(w->r->event, ATTR_COMM);
	const struct words_task *t = named ? map_get(&w->v->known, (uint32_t)tid) : NULL;

	text_escaped(&w->v->line, t ? t->comm : "");
	if ((int32_t)tid >= 0)
		buf_addf(&w->v->line, "[%u]", (uint32_t)tid);
	else
		buf_adds(&w->v->line, "[?]");
}

/* Begin a line: TIME NAME[TID] WHAT. */
static struct buf *words_begin(const struct words *w, uint64_t tid, const char *what)
{
	buf_reset(&w->v->line);
	text_add_clock(w->v, w->ns);
	words_add_task(w, tid);
	buf_addc(&w->v->line, ' ');
	text_colored(&w->v->line, w->v->o->color, COLOR_CALL, what);
	return &w->v->line;
}

/* Append details as far as the terminal has room for them. */
static void words_detail(struct text_view *v, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	if (!text_width(v) || text_columns(buf_str(&v->line)) + text.len <= text_width(v))
		buf_adds(&v->line, buf_str(&text));
	buf_free(&text);
}

/* Write the line, if such records are to be shown. */
static void words_end(const struct words *w, uint32_t type)
{
	struct text_view *v = w->v;

	if (type < 32 && !(v->o->words & 1U << type))
		return;
	text_close_partial(v);
	if (text_width(v))
		text_wrap(&v->line, text_width(v));
	text_put_line(v, w->r ? w->r->tid : 0);
}

/* Show the exec of a task, with the file of the program, or "" if that is not known. */
static void words_exec(const struct words *w, uint64_t tid, const char *file)
{
	struct words_task *t = words_task_of(w->v, tid);
	struct buf *out;

	if (!t->exec_ns)
		return;
	t->exec_ns = 0;
	out = words_begin(w, tid, "exec");
	buf_adds(out, *file ? " " : "");
	text_escaped(out, file);
	words_end(w, PERF_RECORD_COMM);
}

/* Each kind of record ---------------------------------------------------------------------- */

static void words_comm_record(const struct words *w)
{
	uint64_t tid = MEMBER(w->r, comm, COMM_TID);
	const char *comm = words_string(w->r, layout_perf_record_comm.size);
	struct words_task *t = words_task_of(w->v, tid);
	const struct event *e = w->r->event;
	struct buf *out;

	words_exec(w, tid, "");
	if (w->id.misc & PERF_RECORD_MISC_COMM_EXEC) {
		words_comm(t, comm);
		t->exec_ns = w->ns;
		if (!event_attr(e, ATTR_MMAP) && !event_attr(e, ATTR_MMAP2))
			words_exec(w, tid, "");
		return;
	}
	out = words_begin(w, tid, "renamed ");
	text_escaped(out, comm);
	words_comm(t, comm);
	words_end(w, w->id.type);
}

static void words_mapping(const struct words *w, size_t fixed)
{
	uint64_t tid = MEMBER(w->r, mmap, MMAP_TID), prot = MEMBER(w->r, mmap2, MMAP2_PROT);
	const char *file = words_string(w->r, fixed);
	struct buf *out;

	/* the kernel maps the program first; before it, only what is of no file */
	if (*file == '/' && file[1] != '/')
		words_exec(w, tid, file);
	out = words_begin(w, tid, "mmap ");
	text_escaped(out, file);
	if (fixed == layout_perf_record_mmap2.size)
		words_detail(w->v, " %c%c%c", prot & 1 ? 'r' : '-', prot & 2 ? 'w' : '-',
			     prot & 4 ? 'x' : '-');
	words_detail(w->v, " 0x%llx bytes", (unsigned long long)MEMBER(w->r, mmap, MMAP_LEN));
	words_detail(w->v, " at 0x%llx", (unsigned long long)MEMBER(w->r, mmap, MMAP_ADDR));
	words_end(w, w->id.type);
}

/* A new task has its parent's name and namespaces. */
static void words_fork(const struct words *w)
{
	uint64_t tid = MEMBER(w->r, task, TASK_TID), parent = MEMBER(w->r, task, TASK_PTID);
	bool thread = MEMBER(w->r, task, TASK_PID) == MEMBER(w->r, task, TASK_PPID);
	const struct words_task *from = map_get(&w->v->known, (uint32_t)parent);

	words_exec(w, parent, "");
	free(map_del(&w->v->known, (uint32_t)tid));
	if (from)
		*words_task_of(w->v, tid) = *from;
	buf_addf(words_begin(w, parent, thread ? "new thread" : "fork"), " %u", (uint32_t)tid);
	words_end(w, w->id.type);
}

static void words_exit(const struct words *w)
{
	uint64_t tid = MEMBER(w->r, task, TASK_TID), pid = MEMBER(w->r, task, TASK_PID);

	words_exec(w, tid, "");
	words_begin(w, tid, "exit");
	if (tid != pid)
		buf_addf(&w->v->line, " of a thread of %u", (uint32_t)pid);
	words_end(w, w->id.type);
	free(map_del(&w->v->known, (uint32_t)tid));
}

/* Read the namespaces of a task; w: show those that are other ones than before, or NULL. */
static void words_namespaces(struct text_view *v, const uint8_t *bytes, size_t len,
			     const struct words *w)
{
	const struct layout *l = &layout_perf_record_namespaces, *link = &layout_perf_ns_link_info;
	uint64_t tid = layout_get(l, PERF_RECORD_NAMESPACES_TID, bytes, len);
	uint64_t n = layout_get(l, PERF_RECORD_NAMESPACES_NR_NAMESPACES, bytes, len);
	struct words_task *t = words_task_of(v, tid);
	bool shown = false;

	for (size_t i = 0; i < NR_NAMESPACES && i < n && len >= l->size + (i + 1) * link->size; i++) {
		uint64_t inode = layout_get(link, PERF_NS_LINK_INFO_INO,
					    bytes + l->size + i * link->size, link->size);
		const char *name = xlat_name(&xlat_perf_ns_index, i);

		if (w && t->placed && t->spaces[i] != inode) {
			buf_addc(shown ? &v->line : words_begin(w, tid, "namespaces"), ' ');
			for (; *name && *name != '_'; name++)
				buf_addc(&v->line, (char)tolower((unsigned char)*name));
			buf_addf(&v->line, ":[%llu]", (unsigned long long)inode);
			shown = true;
		}
		t->spaces[i] = inode;
	}
	t->placed = true;
	if (shown)
		words_end(w, PERF_RECORD_NAMESPACES);
}

static void words_switch(const struct words *w)
{
	bool off = w->id.misc & PERF_RECORD_MISC_SWITCH_OUT;
	struct buf *out = words_begin(w, (uint32_t)w->id.tid, off ? "off" : "on");

	if (w->id.has_cpu)
		buf_addf(out, " cpu%u", w->id.cpu);
	if (off && w->id.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)
		buf_adds(out, ", preempted");
	if (w->id.type == PERF_RECORD_SWITCH_CPU_WIDE) {
		buf_adds(out, off ? ", next " : ", after ");
		words_add_task(w, MEMBER(w->r, switch_cpu_wide, SWITCH_CPU_WIDE_NEXT_PREV_TID));
	}
	words_end(w, w->id.type);
}

/* What changes in the kernel, and what changed it. */
static void words_kernel(const struct words *w)
{
	const struct activity_record *r = w->r;
	uint64_t task = w->id.has_tid ? (uint32_t)w->id.tid : UINT32_MAX;
	uint64_t change = MEMBER(r, bpf_event, BPF_EVENT_BPF_TYPE);
	bool removed;

	switch (w->id.type) {
	case PERF_RECORD_KSYMBOL:
		removed = MEMBER(r, ksymbol, KSYMBOL_FLAGS) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
		text_escaped(words_begin(w, task, removed ? "kernel symbol removed: " :
					 "kernel symbol added: "),
			     words_string(r, layout_perf_record_ksymbol.size));
		words_detail(w->v, ", %llu bytes", (unsigned long long)MEMBER(r, ksymbol, KSYMBOL_LEN));
		words_detail(w->v, " at 0x%llx", (unsigned long long)MEMBER(r, ksymbol, KSYMBOL_ADDR));
		break;
	case PERF_RECORD_BPF_EVENT:
		buf_addf(words_begin(w, task, "BPF program"), " %u %s",
			 (uint32_t)MEMBER(r, bpf_event, BPF_EVENT_ID),
			 change == PERF_BPF_EVENT_PROG_LOAD ? "loaded" :
			 change == PERF_BPF_EVENT_PROG_UNLOAD ? "unloaded" : "changed");
		break;
	case PERF_RECORD_CGROUP:
		text_escaped(words_begin(w, task, "cgroup created: "),
			     words_string(r, layout_perf_record_cgroup.size));
		break;
	default:
		buf_addf(words_begin(w, task, "kernel code changed"), ": %u bytes at 0x%llx",
			 (uint32_t)MEMBER(r, text_poke, TEXT_POKE_NEW_LEN),
			 (unsigned long long)MEMBER(r, text_poke, TEXT_POKE_ADDR));
	}
	words_end(w, w->id.type);
}

static void words_lost(const struct words *w)
{
	bool samples = w->id.type == PERF_RECORD_LOST_SAMPLES;
	uint64_t n = samples ? MEMBER(w->r, lost_samples, LOST_SAMPLES_LOST) :
			       MEMBER(w->r, lost, LOST_LOST);
	struct buf text = { 0 };

	buf_addf(&text, "LOST %llu %s: ", (unsigned long long)n, samples ? "samples" : "records");
	if (samples)
		buf_adds(&text, "the hardware had no room");
	else if (w->r->event->cpu < 0)
		buf_adds(&text, "the ring was full");
	else
		buf_addf(&text, "the ring of cpu%d was full", w->r->event->cpu);
	buf_reset(&w->v->line);
	text_add_clock(w->v, w->ns);
	text_colored(&w->v->line, w->v->o->color, COLOR_ERROR, buf_str(&text));
	buf_free(&text);
	words_end(w, w->id.type);
}

/* A record that has no words of its own: what the table says of its type. */
static void words_other(const struct words *w)
{
	const struct xlat_entry *e = xlat_find(&xlat_perf_event_type, w->id.type);
	struct buf *out = words_begin(w, w->id.has_tid ? (uint32_t)w->id.tid : UINT32_MAX, "");

	if (e)
		buf_addf(out, "%c%s", tolower((unsigned char)*e->meaning), e->meaning + 1);
	else
		buf_addf(out, "record of the unknown type %u, %u bytes", w->id.type, w->id.size);
	words_end(w, w->id.type);
}

void text_words_record(struct text_view *v, const struct activity_record *r)
{
	struct words w = { .v = v, .r = r };

	if (!record_identify(r->bytes, r->len, r->format, &w.id))
		return;
	w.ns = w.id.has_time ? w.id.time : r->ns;
	switch (w.id.type) {
	case PERF_RECORD_COMM:
		words_comm_record(&w);
		break;
	case PERF_RECORD_MMAP:
		words_mapping(&w, layout_perf_record_mmap.size);
		break;
	case PERF_RECORD_MMAP2:
		words_mapping(&w, layout_perf_record_mmap2.size);
		break;
	case PERF_RECORD_FORK:
		words_fork(&w);
		break;
	case PERF_RECORD_EXIT:
		words_exit(&w);
		break;
	case PERF_RECORD_NAMESPACES:
		words_namespaces(v, r->bytes, r->len, &w);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		words_switch(&w);
		break;
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_BPF_EVENT:
	case PERF_RECORD_CGROUP:
	case PERF_RECORD_TEXT_POKE:
		words_kernel(&w);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		words_lost(&w);
		break;
	default:
		words_other(&w);
	}
}

/* Tasks that were there before -------------------------------------------------------------- */

void text_words_measured(struct view *view, const struct activity *a)
{
	struct text_view *v = text_self(view);
	const struct proc_image *p = &a->measured.image;
	const uint8_t *at = (const uint8_t *)p->records.data;
	size_t left = v->o->words ? p->records.len : 0, size;

	for (size_t i = 0; v->o->words && i < p->nthreads; i++)
		words_comm(words_task_of(v, (uint64_t)p->threads[i].tid), p->threads[i].comm);
	for (; left >= layout_perf_event_header.size; at += size, left -= size) {
		size = layout_get(&layout_perf_event_header, PERF_EVENT_HEADER_SIZE, at, left);
		if (size < layout_perf_event_header.size || size > left)
			break;
		if (layout_get(&layout_perf_event_header, PERF_EVENT_HEADER_TYPE, at, left) ==
		    PERF_RECORD_NAMESPACES)
			words_namespaces(v, at, size, NULL);
	}
}

void text_words_end(struct text_view *v)
{
	struct words w = { .v = v };
	struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&v->known, &at))) {
		w.ns = ((struct words_task *)slot->value)->exec_ns;
		words_exec(&w, slot->key, "");
	}
	map_free_values(&v->known);
}
