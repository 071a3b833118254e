// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/tables.h"
#include "formats/codegen/gather.h"

#include <stdlib.h>

#include "core/abi/ioctl.h"
#include "core/lib/die.h"
#include "formats/codegen/gather_steps.h"

static struct process *process_of(struct gather *g, pid_t pid)
{
	struct process *p = map_get(&g->by_pid, (uint64_t)pid);

	if (p)
		return p;
	p = xcalloc(1, sizeof(*p));
	p->pid = pid;
	map_set(&g->by_pid, (uint64_t)pid, p);
	GROW(g->processes, g->nprocesses);
	return g->processes[g->nprocesses++] = p;
}

static void gather_begin_call(struct gather *g, const struct call *c)
{
	g->p = process_of(g, c->pid);
	g->call = c;
	g->event = g->other = -1;
	g->strange = false;
}

static void note_thread(struct gather *g)
{
	if (!map_set(&g->p->tids, (uint64_t)g->call->tid, g))
		g->p->program.threads++;
}

static void gather_on_enter(struct view *v, const struct call *c)
{
	struct gather *g = view_self(v);

	if (c->inject.injected || !model_concerns(g->session.model, c))
		return;
	gather_begin_call(g, c);
	if (c->desc->id == CALL_CLOSE) {
		note_thread(g);
		gather_close(g);
	} else if (c->desc->class == CLASS_POLL && c->desc->id != CALL_EPOLL_CTL) {
		gather_step(g, STEP_POLL, NULL, NULL);
	}
}

static void gather_returned(struct gather *g)
{
	const struct call *c = g->call;
	struct c_args args;

	switch (c->desc->class) {
	case CLASS_OPEN:
		gather_open(g);
		break;
	case CLASS_MEMORY:
		if (c->desc->id == CALL_MUNMAP)
			gather_munmap(g);
		else if (c->desc->id == CALL_MREMAP)
			gather_note(g, "it moves a ring");
		else if (c->desc->id == CALL_SHMAT)
			gather_note(g, "shared memory replaces a ring");
		else
			gather_mmap(g);
		break;
	case CLASS_PASS:
		gather_args(g, &args); /* its descriptors are used */
		c_args_free(&args);
		gather_note(g, "it passes events between processes");
		break;
	case CLASS_IOCTL:
		if (ioctl_of(c) && ioctl_of(c)->request == PERF_EVENT_IOC_SET_BPF)
			gather_note(g, "PERF_EVENT_IOC_SET_BPF requires the BPF program");
		else
			gather_plain(g);
		break;
	case CLASS_BPF:
		gather_note(g, "bpf(2) requires the BPF program");
		break;
	case CLASS_DESC:
		if (c->desc->id == CALL_CLOSE_RANGE)
			gather_note(g, "its range would cover other descriptors");
		else
			gather_plain(g);
		break;
	default:
		gather_plain(g);
		break;
	}
}

/* Gather a call while the model still has the descriptors and mappings that it ends. */
static void gather_before_exit(struct view *v, const struct call *c)
{
	struct gather *g = view_self(v);

	g->concerns = model_concerns(g->session.model, c);
	if (!g->concerns)
		return;
	/* the kernel did not see the call */
	if (c->inject.injected) {
		process_of(g, c->pid)->program.injected = true;
		return;
	}
	gather_begin_call(g, c);
	if (c->desc->class == CLASS_READ) {
		gather_read_count(g);
	} else if (c->desc->class != CLASS_OPEN && c->desc->id != CALL_CLOSE && call_sets_up(c)) {
		note_thread(g);
		gather_returned(g);
	}
}

/* Gather an open when the model has its event. */
static void gather_on_exit(struct view *v, const struct call *c)
{
	struct gather *g = view_self(v);

	if (!g->concerns || c->inject.injected || c->desc->class != CLASS_OPEN)
		return;
	note_thread(g);
	gather_returned(g);
}

static void gather_on_born(struct view *v, const struct activity *a)
{
	const struct activity_task *b = &a->task;
	struct gather *g = view_self(v);
	struct process *p = b->parent ? map_get(&g->by_pid, (uint64_t)b->parent) : NULL;
	struct c_program *o;

	if (b->pid != b->tid) {
		map_set(&g->by_pid, (uint64_t)b->tid, process_of(g, b->pid));
		return;
	}
	if (p) {
		o = &p->program;
		APPEND(o->children, o->nchildren) = (struct c_child){ .pid = b->tid };
	}
	map_del(&g->by_pid, (uint64_t)b->tid); /* tids are reused */
	process_of(g, b->pid);
}

/* Add a step to each process that has the pid as a child. */
static void step_of_child(struct gather *g, pid_t pid, enum c_step_kind kind)
{
	for (size_t i = 0; i < g->nprocesses; i++) {
		struct c_child *child = gather_child(g->processes[i], pid);

		if (!child || (kind == STEP_EXEC && child->execed))
			continue;
		child->execed |= kind == STEP_EXEC;
		g->p = g->processes[i];
		g->event = g->other = -1;
		gather_step(g, kind, NULL, NULL)->child =
			(int)(child - g->p->program.children);
	}
}

static void gather_on_execed(struct view *v, const struct activity *a)
{
	step_of_child(view_self(v), a->exec.tid, STEP_EXEC);
}

static void gather_on_gone(struct view *v, const struct activity *a)
{
	step_of_child(view_self(v), a->gone.tid, STEP_GONE);
}

static const struct view_ops gather_ops = {
	.on[ACTIVITY_TASK] = gather_on_born,
	.enter = gather_on_enter,
	.before_exit = gather_before_exit,
	.exit = gather_on_exit,
	.on[ACTIVITY_EXEC] = gather_on_execed,
	.on[ACTIVITY_GONE] = gather_on_gone,
};

static bool choose_process(struct gathered *out, const char *path, pid_t pid, unsigned int event)
{
	const struct gather *g = out->all;
	struct process *best = NULL;

	for (size_t i = 0; i < g->nprocesses; i++) {
		struct process *p = g->processes[i];
		const struct c_program *new = &p->program, *old = best ? &best->program : NULL;
		/* with failed opens, if as many succeeded */
		bool more = !best || (new->opens != old->opens ? new->opens > old->opens :
				      new->nevents > old->nevents);
		bool opened = false;

		for (size_t k = 0; k < new->nevents; k++)
			opened |= new->events[k].number == event;
		if (pid ? p->pid == pid : event ? opened : more)
			best = p;
	}
	if (!best || !best->program.nevents) {
		if (pid)
			warn("%s: process %d opens no event", path, (int)pid);
		else if (event)
			warn("%s: no event %u; see the numbers in pevtrace decode "
			     "--summary", path, event);
		else
			warn("%s: no event is opened: nothing to generate", path);
		return false;
	}
	for (size_t i = 0; i < g->nprocesses; i++)
		out->left_out += g->processes[i] != best && g->processes[i]->program.threads;
	out->program = &best->program;
	out->pid = best->pid;
	return true;
}

bool gather_read(struct gathered *out, FILE *f, const char *path, pid_t pid,
		 unsigned int event)
{
	const struct session_facts *facts;
	struct gather *g;

	*out = (struct gathered){ .dump = reader_open(f, path, false) };
	if (!out->dump)
		return false;
	reader_progress(out->dump);
	facts = reader_facts(out->dump);
	g = out->all = xcalloc(1, sizeof(*g));
	g->view.ops = &gather_ops;
	g->names = reader_names(out->dump);
	g->page_size = facts->page_size ? facts->page_size : 4096;
	session_start(&g->session, &(struct session_setup){ .source = g->names }, facts);
	session_add_view(&g->session, &g->view);
	if (!reader_run(out->dump, &g->session) || !choose_process(out, path, pid, event))
		return false;
	out->program->release = facts->release;
	out->program->machine = facts->machine;
	out->program->command = facts->command;
	return true;
}

void gathered_free(struct gathered *out)
{
	struct gather *g = out->all;

	for (size_t i = 0; g && i < g->nprocesses; i++) {
		struct process *p = g->processes[i];

		c_program_free(&p->program);
		map_free(&p->fds);
		map_free(&p->tids);
		free(p->mapped);
		free(p);
	}
	if (g) {
		map_free(&g->by_pid);
		session_end(&g->session);
		free(g->processes);
		free(g);
	}
	if (out->dump)
		reader_close(out->dump);
}
