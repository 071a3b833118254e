// SPDX-License-Identifier: LGPL-2.1-or-later
/* Side-band records in words: when, which task, and what it did. */
#include <ctype.h>
#include <stdlib.h>

#include "core/abi/tables.h"
#include "core/lib/die.h"
#include "formats/text/text_fit.h"
#include "formats/text/text_view_internal.h"

/* What records told of a task. */
struct words_task {
	char comm[16];
	uint64_t exec_ns;	/* it ran a program whose file its next mapping tells; or 0 */
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

#define NO_TASK UINT64_MAX

/* The member of the fixed part of a record: MEMBER(w, task, TASK_PID). */
#define MEMBER(w, layout, name) \
	layout_get(&layout_perf_record_##layout, PERF_RECORD_##name, (w)->r->bytes, (w)->r->len)
#define MEMBER_ULL(w, layout, name) ((unsigned long long)MEMBER(w, layout, name))

/* Return the string behind the fixed part, of so many bytes; "" if it has no end. */
static const char *words_string(const struct words *w, size_t fixed)
{
	bool ends = w->r->len > fixed && memchr(w->r->bytes + fixed, 0, w->r->len - fixed);

	return ends ? (const char *)w->r->bytes + fixed : "";
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

/* Return whether it is the id of one task: 0 is any of other PID namespaces, -1 any that ended. */
static bool words_one_task(uint64_t tid)
{
	return (int32_t)tid > 0;
}

/* Append NAME[TID], the name only where records tell when it changes. */
static void words_add_task(const struct words *w, uint64_t tid)
{
	bool named = words_one_task(tid) && (!w->r || event_attr(w->r->event, ATTR_COMM));
	const struct words_task *t = named ? map_get(&w->v->known, (uint32_t)tid) : NULL;

	text_escaped(&w->v->line, t ? t->comm : "");
	buf_addf(&w->v->line, (int32_t)tid < 0 ? "[?]" : "[%u]", (uint32_t)tid);
}

/* Begin a line: TIME NAME[TID] WHAT, and more, which is escaped; of what is lost without a task. */
static void words_begin(const struct words *w, uint64_t tid, const char *what,
			const char *more, ...)
{
	struct buf *line = &w->v->line, text = { 0 };
	va_list ap;

	va_start(ap, more);
	buf_vaddf(&text, more, ap);
	va_end(ap);
	buf_reset(line);
	text_add_clock(w->v, w->ns);
	if (tid != NO_TASK) {
		words_add_task(w, tid);
		buf_addc(line, ' ');
	}
	text_colored(line, w->v->o->color, tid == NO_TASK ? COLOR_ERROR : COLOR_CALL, what);
	buf_adds(line, text.len ? " " : "");
	text_escaped(line, buf_str(&text));
	buf_free(&text);
}

/* Append a detail if the terminal has room for it. */
static void words_detail(const struct words *w, const char *name, uint64_t n, const char *unit)
{
	char text[64];
	int len = snprintf(text, sizeof(text), " %s0x%llx%s", name, (unsigned long long)n, unit);
	unsigned int width = text_width(w->v);

	if (!width || text_columns(buf_str(&w->v->line)) + (size_t)len <= width)
		buf_adds(&w->v->line, text);
}

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

	if (!t->exec_ns)
		return;
	t->exec_ns = 0;
	words_begin(w, tid, "exec", "%s", file);
	words_end(w, PERF_RECORD_COMM);
}

/* Tasks ------------------------------------------------------------------------------------ */

static void words_comm(const struct words *w)
{
	uint64_t tid = MEMBER(w, comm, COMM_TID);
	const char *comm = words_string(w, layout_perf_record_comm.size);
	struct words_task *t = words_task_of(w->v, tid);
	const struct event *e = w->r->event;
	bool execs = w->id.misc & PERF_RECORD_MISC_COMM_EXEC;

	words_exec(w, tid, "");
	words_begin(w, tid, "renamed", "%s", comm);
	snprintf(t->comm, sizeof(t->comm), "%s", comm);
	if (execs)
		t->exec_ns = w->ns;
	else
		words_end(w, w->id.type);
	if (!words_one_task(tid) || (!event_attr(e, ATTR_MMAP) && !event_attr(e, ATTR_MMAP2)))
		words_exec(w, tid, "");
}

static void words_mapping(const struct words *w, size_t fixed)
{
	uint64_t tid = MEMBER(w, mmap, MMAP_TID), prot = MEMBER(w, mmap2, MMAP2_PROT);
	const char *file = words_string(w, fixed);
	bool known = fixed == layout_perf_record_mmap2.size;

	/* the kernel maps the program first; before it, only what is of no file */
	if (*file == '/' && file[1] != '/')
		words_exec(w, tid, file);
	words_begin(w, tid, "mmap", known ? "%s %c%c%c" : "%s", file, prot & 1 ? 'r' : '-',
		    prot & 2 ? 'w' : '-', prot & 4 ? 'x' : '-');
	words_detail(w, "", MEMBER(w, mmap, MMAP_LEN), " bytes");
	words_detail(w, "at ", MEMBER(w, mmap, MMAP_ADDR), "");
	words_end(w, w->id.type);
}

/* A new task has its parent's name and namespaces. */
static void words_fork(const struct words *w)
{
	uint64_t tid = MEMBER(w, task, TASK_TID), parent = MEMBER(w, task, TASK_PTID);
	bool thread = MEMBER(w, task, TASK_PID) == MEMBER(w, task, TASK_PPID);

	words_exec(w, parent, "");
	if (words_one_task(parent))
		*words_task_of(w->v, tid) = *words_task_of(w->v, parent);
	words_begin(w, parent, thread ? "new thread" : "fork", "%u", (uint32_t)tid);
	words_end(w, w->id.type);
}

static void words_exit(const struct words *w)
{
	uint64_t tid = MEMBER(w, task, TASK_TID), pid = MEMBER(w, task, TASK_PID);

	words_exec(w, tid, "");
	words_begin(w, tid, "exit", tid == pid ? "" : "of a thread of %u", (uint32_t)pid);
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
	struct buf text = { 0 };

	n = n < NR_NAMESPACES ? n : NR_NAMESPACES;
	for (size_t i = 0; i < n && len >= l->size + (i + 1) * link->size; i++) {
		uint64_t inode = layout_get(link, PERF_NS_LINK_INFO_INO,
					    bytes + l->size + i * link->size, link->size);
		const char *name = xlat_name(&xlat_perf_ns_index, i);

		if (words_one_task(tid) && t->placed && t->spaces[i] != inode) {
			buf_adds(&text, text.len ? " " : "");
			for (; *name && *name != '_'; name++)
				buf_addc(&text, (char)tolower((unsigned char)*name));
			buf_addf(&text, ":[%llu]", (unsigned long long)inode);
		}
		t->spaces[i] = inode;
	}
	t->placed = true;
	if (w && text.len) {
		words_begin(w, tid, "namespaces", "%s", buf_str(&text));
		words_end(w, w->id.type);
	}
	buf_free(&text);
}

/* Others ----------------------------------------------------------------------------------- */

static void words_switch(const struct words *w, uint64_t task)
{
	bool off = w->id.misc & PERF_RECORD_MISC_SWITCH_OUT;

	words_begin(w, task, off ? "off" : "on", "cpu%u%s", w->id.cpu,
		    off && w->id.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? ", preempted" : "");
	if (w->id.type == PERF_RECORD_SWITCH_CPU_WIDE) {
		buf_adds(&w->v->line, off ? ", next " : ", after ");
		words_add_task(w, MEMBER(w, switch_cpu_wide, SWITCH_CPU_WIDE_NEXT_PREV_TID));
	}
}

/* Begin the line of a record that tells of no task; task: during which it was written. */
static void words_kernel(const struct words *w, uint64_t task)
{
	const struct xlat_entry *e = xlat_find(&xlat_perf_event_type, w->id.type);
	uint64_t change = MEMBER(w, bpf_event, BPF_EVENT_BPF_TYPE);
	uint64_t lost = MEMBER(w, lost, LOST_LOST);

	switch (w->id.type) {
	case PERF_RECORD_LOST:
		words_begin(w, NO_TASK, "LOST", "%llu record%s: the ring was full",
			    (unsigned long long)lost, lost == 1 ? "" : "s");
		break;
	case PERF_RECORD_KSYMBOL:
		words_begin(w, task, "kernel symbol", MEMBER(w, ksymbol, KSYMBOL_FLAGS) &
			    PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER ? "removed: %s" : "added: %s",
			    words_string(w, layout_perf_record_ksymbol.size));
		words_detail(w, "at ", MEMBER(w, ksymbol, KSYMBOL_ADDR), "");
		break;
	case PERF_RECORD_BPF_EVENT:
		words_begin(w, task, "BPF program", "%u %s",
			    (uint32_t)MEMBER(w, bpf_event, BPF_EVENT_ID),
			    change == PERF_BPF_EVENT_PROG_LOAD ? "loaded" :
			    change == PERF_BPF_EVENT_PROG_UNLOAD ? "unloaded" : "changed");
		break;
	case PERF_RECORD_CGROUP:
		words_begin(w, task, "cgroup", "created: %s",
			    words_string(w, layout_perf_record_cgroup.size));
		break;
	case PERF_RECORD_TEXT_POKE:
		words_begin(w, task, "kernel code", "changed: %llu bytes at 0x%llx",
			    MEMBER_ULL(w, text_poke, TEXT_POKE_NEW_LEN),
			    MEMBER_ULL(w, text_poke, TEXT_POKE_ADDR));
		break;
	default: /* what the table says */
		words_begin(w, task, "record", "%u: %s", w->id.type, e ? e->meaning : "unknown");
	}
}

void text_words_record(struct text_view *v, const struct activity_record *r)
{
	struct words w = { .v = v, .r = r };
	uint64_t task;

	if (!record_identify(r->bytes, r->len, r->format, &w.id))
		return;
	w.ns = w.id.has_time ? w.id.time : r->ns;
	task = w.id.has_tid ? (uint32_t)w.id.tid : UINT32_MAX;
	switch (w.id.type) {
	case PERF_RECORD_COMM:
		words_comm(&w);
		return;
	case PERF_RECORD_MMAP:
		words_mapping(&w, layout_perf_record_mmap.size);
		return;
	case PERF_RECORD_MMAP2:
		words_mapping(&w, layout_perf_record_mmap2.size);
		return;
	case PERF_RECORD_FORK:
		words_fork(&w);
		return;
	case PERF_RECORD_EXIT:
		words_exit(&w);
		return;
	case PERF_RECORD_NAMESPACES:
		words_namespaces(v, r->bytes, r->len, &w);
		return;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		words_switch(&w, task);
		break;
	default:
		words_kernel(&w, task);
	}
	words_end(&w, w.id.type);
}

/* Tasks that were there before -------------------------------------------------------------- */

void text_words_measured(struct view *view, const struct activity *a)
{
	struct text_view *v = text_self(view);
	const struct proc_image *p = &a->measured.image;
	const uint8_t *at = (const uint8_t *)p->records.data;
	const struct layout *head = &layout_perf_event_header;
	size_t left = v->o->words ? p->records.len : 0, size;

	for (size_t i = 0; v->o->words && i < p->nthreads; i++)
		snprintf(words_task_of(v, (uint64_t)p->threads[i].tid)->comm,
			 sizeof(p->threads[i].comm), "%s", p->threads[i].comm);
	for (; left >= head->size; at += size, left -= size) {
		size = layout_get(head, PERF_EVENT_HEADER_SIZE, at, left);
		if (size < head->size || size > left)
			break;
		if (layout_get(head, PERF_EVENT_HEADER_TYPE, at, left) == PERF_RECORD_NAMESPACES)
			words_namespaces(v, at, size, NULL);
	}
}

void text_words_end(struct text_view *v)
{
	struct words w = { .v = v };

	map_each(slot, &v->known) {
		w.ns = ((struct words_task *)slot->value)->exec_ns;
		words_exec(&w, slot->key, "");
	}
	map_free_values(&v->known);
}
