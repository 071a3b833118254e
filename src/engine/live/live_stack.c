// SPDX-License-Identifier: LGPL-2.1-or-later
/* Stacks of calls (-k). */
#include <stdlib.h>

#include "core/host/symbols.h"
#include "core/lib/die.h"
#include "engine/live/live.h"

/* The frames of one stack; their strings are allocated. */
struct stack {
	struct live *live;
	pid_t tid;
	struct view_frame frames[VIEW_FRAMES];
	size_t n;
};

static void stack_add(struct stack *s, const struct view_frame *f)
{
	if (s->n == VIEW_FRAMES)
		return;
	s->frames[s->n] = *f;
	s->frames[s->n].module = f->module ? xstrdup(f->module) : NULL;
	s->frames[s->n].symbol = f->symbol ? xstrdup(f->symbol) : NULL;
	s->frames[s->n++].file = f->file ? xstrdup(f->file) : NULL;
}

/* Add a frame, after those of the functions that are inlined at its address. */
static void stack_on_frame(void *ctx, const struct trace_frame *f)
{
	struct stack *s = ctx;
	struct symbols *y = s->live->symbols;
	struct view_frame v = {
		.module = f->module, .symbol = f->symbol, .offset = f->offset, .ip = f->ip,
	};
	struct code_line lines[CODE_LINES];
	const struct code *c = NULL;
	size_t n;

	if (f->module) {
		symbols_map(y, s->tid, f->start, f->end - f->start, f->pgoff, f->module);
		c = symbols_code(y, s->tid, f->ip, f->after_call);
	}
	n = c ? code_get_lines(c, lines) : 0;
	for (size_t i = 0; i + 1 < n; i++)
		stack_add(s, &(struct view_frame){
			.module = f->module, .symbol = lines[i].function, .ip = f->ip,
			.file = lines[i].file, .line = lines[i].line, .inlined = true,
		});
	if (n) {
		v.file = lines[n - 1].file;
		v.line = lines[n - 1].line;
	}
	if (c && code_symbol(c)) {
		v.symbol = code_symbol(c);
		v.offset = c->offset;
	}
	stack_add(s, &v);
}

void live_tell_stack(struct live *l, pid_t tid)
{
	struct stack s = { .live = l, .tid = tid };
	const char *why = trace_stack(l->tracer, tid, !symbols_of_files(), stack_on_frame, &s);

	session_stack(&l->session, tid, s.frames, s.n, why);
	while (s.n--) {
		free((char *)s.frames[s.n].module);
		free((char *)s.frames[s.n].symbol);
		free((char *)s.frames[s.n].file);
	}
}
