// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * BPF iterators that write a record for each reference to a perf event: descriptors,
 * mappings, BPF links, and the kernel's own for a task.  Structures of the kernel are declared
 * with the members that are read; libbpf finds their offsets (CO-RE).
 *
 * Kernel: include/linux/perf_event.h, kernel/events/internal.h (struct perf_buffer),
 * kernel/bpf/task_iter.c, kernel/bpf/link_iter.c, kernel/bpf/syscall.c (bpf_perf_link).
 */
#include "core/lib/types_bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "events_bpf.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#include "core/lib/pid_bpf.h"

struct file_operations;
struct perf_event;

struct file {
	const struct file_operations *f_op;
	void *private_data;
};

struct fdtable {
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct list_head {
	struct list_head *next;
};

struct perf_event_context {
	struct list_head event_list;
};

struct task_struct {
	struct pid *thread_pid;
	struct task_struct *group_leader, *parent;
	unsigned int ptrace;
	char comm[EVENTS_COMM];
	struct files_struct *files;
	struct perf_event_context *perf_event_ctxp;
};

struct task_struct___61 { /* to Linux 6.1: of hardware and software */
	struct perf_event_context *perf_event_ctxp[2];
};

struct vm_area_struct {
	unsigned long vm_start, vm_pgoff;
	struct file *vm_file;
};

struct hw_perf_event {
	struct task_struct *target;
};

struct perf_event_attr {
	__u32 type;
};

struct perf_buffer {
	int nr_pages, aux_nr_pages;
};

struct kernfs_node {
	__u64 id;
	const char *name;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct perf_cgroup {
	struct cgroup_subsys_state css;
};

struct bpf_prog_aux {
	__u32 id;
	char name[EVENTS_COMM];
};

struct bpf_prog {
	struct bpf_prog_aux *aux;
};

struct number { /* local64_t, atomic64_t */
	__u64 value;
};

struct pmu {
	int type;
};

enum perf_event_state { PERF_EVENT_STATE_OFF = -1 };

struct perf_event {
	struct list_head event_entry;
	struct perf_event *group_leader, *parent;
	struct pmu *pmu;
	enum perf_event_state state;
	int nr_siblings, oncpu, cpu;
	struct number count, child_count, lost_samples;
	struct number child_total_time_enabled, child_total_time_running;
	__u64 total_time_enabled, total_time_running;
	__u64 id;
	__u32 orig_type;
	struct perf_event_attr attr;
	struct hw_perf_event hw;
	struct perf_buffer *rb;
	struct task_struct *owner;
	struct perf_cgroup *cgrp;
	struct bpf_prog *prog;
};

enum bpf_link_type { BPF_LINK_TYPE_PERF_EVENT = 7 };

struct bpf_link {
	__u32 id;
	enum bpf_link_type type;
};

struct bpf_perf_link {
	struct bpf_link link;
	struct file *perf_file;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__task_file {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	__u32 fd;
	struct file *file;
};

struct bpf_iter__task_vma {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct vm_area_struct *vma;
};

struct bpf_iter__bpf_link {
	struct bpf_iter_meta *meta;
	struct bpf_link *link;
};

#pragma clang attribute pop

char events_license[] SEC("license") = "GPL";

/* A perf event of the process that reads: its file operations are those of all events. */
const volatile int own_fd = -1;

/* Only one thread reads, and the record is too large for the stack. */
struct events_record record;

/* Return the id of a task in the PID namespace of the process that reads; 0: it has none there. */
static __always_inline __u32 task_number(struct task_struct *task)
{
	struct task_struct *me = (struct task_struct *)bpf_get_current_task();
	struct pid *own = BPF_CORE_READ(me, thread_pid);
	__u32 level = BPF_CORE_READ(own, level);
	struct upid *at = pid_at(own, level);

	return at ? pid_in(BPF_CORE_READ(task, thread_pid), level, BPF_CORE_READ(at, ns)) : 0;
}

/* Return the event of a file, NULL if it is of another kind or that of own_fd. */
static __always_inline struct perf_event *event_of(struct file *file)
{
	struct task_struct *me = (struct task_struct *)bpf_get_current_task();
	struct file **fds = BPF_CORE_READ(me, files, fdt, fd), *own = 0;

	bpf_probe_read_kernel(&own, sizeof(own), fds + own_fd);
	if (!file || file == own || BPF_CORE_READ(file, f_op) != BPF_CORE_READ(own, f_op))
		return 0;
	return BPF_CORE_READ(file, private_data);
}

#define READ_NUMBER(to, e, member) \
	bpf_probe_read_kernel(&(to), sizeof(to), __builtin_preserve_access_index(&(e)->member))

static __always_inline void add_target_facts(struct events_facts *f, struct perf_event *e)
{
	struct task_struct *target = BPF_CORE_READ(e, hw.target);
	struct kernfs_node *kn;

	f->cpu = BPF_CORE_READ(e, cpu);
	if (target) {
		f->target = task_number(target);
		f->target_process = task_number(BPF_CORE_READ(target, group_leader));
		BPF_CORE_READ_STR_INTO(&f->target_comm, target, comm);
	}
	if (!bpf_core_field_exists(e->cgrp) || !BPF_CORE_READ(e, cgrp))
		return;
	kn = BPF_CORE_READ(e, cgrp, css.cgroup, kn);
	f->cgroup = BPF_CORE_READ(kn, id);
	bpf_probe_read_kernel_str(f->cgroup_name, sizeof(f->cgroup_name),
				  BPF_CORE_READ(kn, name));
}

static __always_inline void add_facts(struct events_facts *f, struct perf_event *e)
{
	struct perf_buffer *ring = BPF_CORE_READ(e, rb);
	__u32 len = bpf_core_field_size(e->attr);
	__u64 child = 0;

	f->id = BPF_CORE_READ(e, id);
	f->leader = BPF_CORE_READ(e, group_leader, id);
	f->siblings = BPF_CORE_READ(e, group_leader, nr_siblings);
	f->state = BPF_CORE_READ(e, state);
	f->oncpu = BPF_CORE_READ(e, oncpu);
	f->opener = task_number(BPF_CORE_READ(e, owner, group_leader));
	READ_NUMBER(f->count, e, count);
	READ_NUMBER(child, e, child_count);
	f->count += child;
	READ_NUMBER(child, e, child_total_time_enabled);
	f->enabled_ns = BPF_CORE_READ(e, total_time_enabled) + child;
	child = 0;
	READ_NUMBER(child, e, child_total_time_running);
	f->running_ns = BPF_CORE_READ(e, total_time_running) + child;
	if (bpf_core_field_exists(e->lost_samples))
		READ_NUMBER(f->lost, e, lost_samples);
	f->attr_len = len < EVENTS_ATTR_MAX ? len : EVENTS_ATTR_MAX;
	bpf_probe_read_kernel(f->attr, f->attr_len, __builtin_preserve_access_index(&e->attr));
	f->pmu = BPF_CORE_READ(e, pmu, type);
	f->type = BPF_CORE_READ(e, attr.type);
	if (bpf_core_field_exists(e->orig_type))
		f->type = BPF_CORE_READ(e, orig_type);
	add_target_facts(f, e);
	f->ring = (__u64)ring;
	if (ring) {
		f->pages = BPF_CORE_READ(ring, nr_pages);
		f->aux_pages = BPF_CORE_READ(ring, aux_nr_pages);
	}
	if (bpf_core_field_exists(e->prog) && BPF_CORE_READ(e, prog)) {
		f->program = BPF_CORE_READ(e, prog, aux, id);
		BPF_CORE_READ_STR_INTO(&f->program_name, e, prog, aux, name);
	}
}

/* Arguments of events_fill(): the verifier accepts no kernel pointers there. */
struct perf_event *record_event;
struct task_struct *record_task;

/* Fill in the rest of the record; not inlined, so that the verifier sees it once. */
__attribute__((noinline)) int events_fill(void)
{
	struct task_struct *task = record_task;

	record.pid = record.tid = 0;
	__builtin_memset(record.comm, 0, sizeof(record.comm));
	__builtin_memset(&record.facts, 0, sizeof(record.facts));
	if (task) {
		record.pid = task_number(BPF_CORE_READ(task, group_leader));
		record.tid = task_number(task);
		BPF_CORE_READ_STR_INTO(&record.comm, task, comm);
	}
	add_facts(&record.facts, record_event);
	return 0;
}

/* Write the record, whose number or address is set. */
static __always_inline void events_write(struct seq_file *seq, struct perf_event *e,
					 struct task_struct *task, __u32 reference)
{
	record.reference = reference;
	record_event = e;
	record_task = task;
	events_fill();
	bpf_seq_write(seq, &record, sizeof(record));
	record.number = record.start = record.page = 0;
}

SEC("iter/task_file")
int events_descriptors(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct perf_event *e = event_of(ctx->file);

	if (!e || !task)
		return 0;
	record.number = ctx->fd;
	events_write(ctx->meta->seq, e, task, EVENTS_DESCRIPTOR);
	return 0;
}

SEC("iter/task_vma")
int events_mappings(struct bpf_iter__task_vma *ctx)
{
	struct vm_area_struct *vma = ctx->vma;
	struct task_struct *task = ctx->task;
	struct perf_event *e;

	if (!vma || !task)
		return 0;
	e = event_of(BPF_CORE_READ(vma, vm_file));
	if (!e)
		return 0;
	record.start = BPF_CORE_READ(vma, vm_start);
	record.page = BPF_CORE_READ(vma, vm_pgoff);
	events_write(ctx->meta->seq, e, task, EVENTS_MAPPING);
	return 0;
}

SEC("iter/bpf_link")
int events_links(struct bpf_iter__bpf_link *ctx)
{
	struct bpf_perf_link *link = (struct bpf_perf_link *)ctx->link;
	struct perf_event *e;

	if (!link || BPF_CORE_READ(link, link.type) !=
	    (int)bpf_core_enum_value(enum bpf_link_type, BPF_LINK_TYPE_PERF_EVENT))
		return 0;
	e = event_of(BPF_CORE_READ(link, perf_file));
	if (!e)
		return 0;
	record.number = BPF_CORE_READ(link, link.id);
	events_write(ctx->meta->seq, e, 0, EVENTS_LINK);
	return 0;
}

/*
 * Events of a task that the kernel opened, such as breakpoints of ptrace(2), have no file.  So
 * many events of a context are looked at, the newest first.
 */
enum { LOOKED_AT = 64 };

static __always_inline void write_kernel_events(struct seq_file *seq, struct task_struct *task,
						struct perf_event_context *c)
{
	struct perf_event *const by_kernel = (struct perf_event *)-1L; /* TASK_TOMBSTONE */
	struct list_head *head = __builtin_preserve_access_index(&c->event_list), *at;
	struct task_struct *tracer = BPF_CORE_READ(task, ptrace) ? BPF_CORE_READ(task, parent) : 0;

	at = c ? BPF_CORE_READ(c, event_list.next) : head;
	for (int i = 0; i < LOOKED_AT && at && at != head; i++) {
		struct perf_event *e = (void *)at -
				       bpf_core_field_offset(struct perf_event, event_entry);

		if ((void *)BPF_CORE_READ(e, owner) == by_kernel && !BPF_CORE_READ(e, parent))
			events_write(seq, e, tracer, tracer ? EVENTS_PTRACE : EVENTS_KERNEL);
		at = BPF_CORE_READ(at, next);
	}
}

SEC("iter/task")
int events_kernel(struct bpf_iter__task *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct task_struct *task = ctx->task;
	struct task_struct___61 *old = (void *)task;

	if (!task)
		return 0;
	if (bpf_core_field_exists(task->perf_event_ctxp)) {
		write_kernel_events(seq, task, BPF_CORE_READ(task, perf_event_ctxp));
	} else {
		write_kernel_events(seq, task, BPF_CORE_READ(old, perf_event_ctxp[0]));
		write_kernel_events(seq, task, BPF_CORE_READ(old, perf_event_ctxp[1]));
	}
	return 0;
}
