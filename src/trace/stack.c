// SPDX-License-Identifier: LGPL-2.1-or-later
#include "trace/stack.h"

#include "trace/task.h"

#ifdef HAVE_LIBUNWIND
#include <libunwind-ptrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/die.h"

enum { MAX_FRAMES = 64, MAX_SYMBOL = 512 };

struct mapping {
	uint64_t start, end, offset;
	char *path;
};

/*
 * One address space for each task: libunwind caches unwind information by
 * address, which means something else in another process or after exec.
 */
struct stack_cache {
	unw_addr_space_t space;
	void *upt;
	struct mapping *maps;
	size_t nmaps;
};

static void free_maps(struct stack_cache *c)
{
	for (size_t i = 0; i < c->nmaps; i++)
		free(c->maps[i].path);
	free(c->maps);
	c->maps = NULL;
	c->nmaps = 0;
}

void stack_forget(struct stack_cache **cache)
{
	struct stack_cache *c = *cache;

	if (!c)
		return;
	free_maps(c);
	_UPT_destroy(c->upt);
	unw_destroy_addr_space(c->space);
	free(c);
	*cache = NULL;
}

static struct stack_cache *make_cache(pid_t tid)
{
	struct stack_cache *c = xcalloc(1, sizeof(*c));

	c->space = unw_create_addr_space(&_UPT_accessors, 0);
	c->upt = c->space ? _UPT_create(tid) : NULL;
	if (!c->upt) {
		if (c->space)
			unw_destroy_addr_space(c->space);
		free(c);
		return NULL;
	}
	unw_set_caching_policy(c->space, UNW_CACHE_GLOBAL);
	return c;
}

/* Executable mappings only: frames are nowhere else. */
static void read_maps(struct stack_cache *c, pid_t tid)
{
	char path[32], line[4400];
	size_t cap = 0;
	FILE *f;

	free_maps(c);
	unw_flush_cache(c->space, 0, 0);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tid);
	f = fopen(path, "re");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		unsigned long long start, end, offset;
		char x;
		int name = 0;

		if (sscanf(line, "%llx-%llx %*c%*c%c%*c %llx %*s %*s %n",
			   &start, &end, &x, &offset, &name) != 4 ||
		    x != 'x' || !name)
			continue;
		line[strcspn(line, "\n")] = '\0';
		if (c->nmaps == cap) {
			cap = cap ? 2 * cap : 16;
			c->maps = xrealloc(c->maps, cap * sizeof(*c->maps));
		}
		c->maps[c->nmaps++] = (struct mapping){ start, end, offset,
							xstrdup(line + name) };
	}
	fclose(f);
}

static const struct mapping *find_in(const struct stack_cache *c, uint64_t ip)
{
	for (size_t i = 0; i < c->nmaps; i++)
		if (c->maps[i].start <= ip && ip < c->maps[i].end)
			return &c->maps[i];
	return NULL;
}

/* *fresh: the maps were read in this walk, and need not be again. */
static const struct mapping *find_mapping(struct stack_cache *c, pid_t tid,
					  uint64_t ip, bool *fresh)
{
	const struct mapping *m = find_in(c, ip);

	if (m || *fresh)
		return m;
	*fresh = true;
	read_maps(c, tid);
	return find_in(c, ip);
}

static void describe(struct stack_cache *c, pid_t tid, unw_cursor_t *cursor,
		     struct trace_frame *f, char *symbol, bool *fresh)
{
	const struct mapping *m = find_mapping(c, tid, f->ip, fresh);
	unw_word_t offset = 0;
	int err = unw_get_proc_name(cursor, symbol, MAX_SYMBOL, &offset);

	f->module = m && *m->path ? m->path : NULL;
	if ((!err || err == -UNW_ENOMEM) && *symbol) {
		f->symbol = symbol;
		f->offset = offset;
	} else if (f->module) {
		f->offset = f->ip - m->start + m->offset;
	}
}

static const char *walk(struct stack_cache *c, pid_t tid,
			void (*frame)(void *ctx, const struct trace_frame *f),
			void *ctx)
{
	unw_cursor_t cursor;
	bool fresh = false;

	if (unw_init_remote(&cursor, c->space, c->upt))
		return "the registers of the task cannot be read";
	for (int i = 0; i < MAX_FRAMES; i++) {
		struct trace_frame f = { 0 };
		char symbol[MAX_SYMBOL] = "";
		unw_word_t ip;
		int more;

		if (unw_get_reg(&cursor, UNW_REG_IP, &ip))
			return "the instruction pointer cannot be read";
		if (!ip)
			return NULL;
		f.ip = ip;
		describe(c, tid, &cursor, &f, symbol, &fresh);
		frame(ctx, &f);
		more = unw_step(&cursor);
		if (!more)
			return NULL;
		if (more < 0)
			return i ? "the stack goes on, but without unwind "
				   "information"
				 : "no unwind information at this address";
	}
	return "the stack is deeper than 64 frames";
}

const char *trace_stack(struct tracer *t, pid_t tid,
			void (*frame)(void *ctx, const struct trace_frame *f),
			void *ctx)
{
	struct task *task = task_find(t, tid);

	if (!task)
		return "the task is gone";
	if (task->arch && task->arch != arch_native())
		return "the program is of another architecture than pevtrace";
	if (!task->stack)
		task->stack = make_cache(tid);
	if (!task->stack)
		return "libunwind cannot look into the task";
	return walk(task->stack, tid, frame, ctx);
}

#else

void stack_forget(struct stack_cache **cache)
{
	(void)cache;
}

const char *trace_stack(struct tracer *t, pid_t tid,
			void (*frame)(void *ctx, const struct trace_frame *f),
			void *ctx)
{
	(void)t;
	(void)tid;
	(void)frame;
	(void)ctx;
	return "this pevtrace was built without libunwind";
}

#endif
