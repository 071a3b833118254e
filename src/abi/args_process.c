// SPDX-License-Identifier: LGPL-2.1-or-later
/* Arguments of the calls that create processes and run programs. */
#include "abi/args.h"

#include <string.h>

#include "abi/capture.h"
#include "abi/layout.h"
#include "abi/layout_emit.h"
#include "abi/strings.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

#define ARGV_MAX 32		/* strings worth copying */
#define ENVP_MAX 1024		/* pointers worth counting */
#define CLONE_ARGS_MAX 256

/* Read the i-th pointer of the captured vector; return false if it was not captured. */
static bool vector_at(const struct arg *a, size_t i, uint64_t *p)
{
	size_t len, word = a->call->arch->word;
	const uint8_t *b = call_bytes(a->call, AT_SYSCALL_ENTER,
				      arg_value(a) + i * word, word, &len);

	if (!b || len < word)
		return false;
	*p = load_uint(b, word);
	return true;
}

static void capture_argv(const struct arg *a, struct call *c,
			 enum call_phase phase, const struct mem *m)
{
	uint64_t p;

	if (phase != AT_SYSCALL_ENTER)
		return;
	capture_bytes(c, phase, arg_value(a), (ARGV_MAX + 1) * c->arch->word, m);
	for (size_t i = 0; i < ARGV_MAX && vector_at(a, i, &p) && p; i++)
		capture_string(c, phase, p, m);
}

static void emit_argv(const struct arg *a, struct sink *s)
{
	uint64_t p;
	size_t i;

	if (!vector_at(a, 0, &p)) {
		call_emit_unreadable(arg_name(a), arg_value(a), s);
		return;
	}
	s->ops->begin(s, arg_name(a), SINK_ARRAY);
	for (i = 0; vector_at(a, i, &p) && p; i++) {
		if (i == ARGV_MAX) {
			s->ops->note(s, "more", "and more");
			break;
		}
		call_emit_string(a->call, AT_SYSCALL_ENTER, NULL, p, s);
	}
	s->ops->end(s);
}

const struct arg_ops arg_argv = { capture_argv, emit_argv, NULL };

/* Capture the pointers only, for their number: environments may hold secrets. */
static void capture_envp(const struct arg *a, struct call *c,
			 enum call_phase phase, const struct mem *m)
{
	if (phase == AT_SYSCALL_ENTER)
		capture_bytes(c, phase, arg_value(a),
			      (ENVP_MAX + 1) * c->arch->word, m);
}

static void emit_envp(const struct arg *a, struct sink *s)
{
	uint64_t p;
	size_t n = 0;

	s->ops->addr(s, arg_name(a), arg_value(a));
	while (n < ENVP_MAX && vector_at(a, n, &p) && p)
		n++;
	if (arg_value(a))
		sink_notef(s, "vars", "%zu%s var%s", n, n == ENVP_MAX ? "+" : "",
			   n == 1 ? "" : "s");
}

const struct arg_ops arg_envp = { capture_envp, emit_envp, NULL };

static void note_exit_signal(uint64_t sig, struct sink *s)
{
	char name[32];

	if (!sig)
		return;
	signal_name((int)sig, name, sizeof(name));
	sink_notef(s, "exit_signal", "exit signal %s", name);
}

static void emit_clone_flags(const struct arg *a, struct sink *s)
{
	uint64_t flags = arg_value(a);

	s->ops->flags(s, arg_name(a), arg_desc(a)->xlat, flags & ~(uint64_t)ABI_CSIGNAL);
	note_exit_signal(flags & ABI_CSIGNAL, s);
}

const struct arg_ops arg_clone_flags = { .emit = emit_clone_flags };

static void capture_clone_args(const struct arg *a, struct call *c,
			       enum call_phase phase, const struct mem *m)
{
	uint64_t size = c->args[a->i + 1];

	if (phase == AT_SYSCALL_ENTER)
		capture_bytes(c, phase, arg_value(a),
			      size < CLONE_ARGS_MAX ? size : CLONE_ARGS_MAX, m);
}

static void emit_clone_args(const struct arg *a, struct sink *s)
{
	struct walk w = {
		.layout = &layout_clone_args, .call = a->call,
		.arch = a->call->arch, .names = a->names,
	};

	w.bytes = call_bytes(a->call, AT_SYSCALL_ENTER, arg_value(a), CLONE_ARGS_MAX, &w.len);
	if (!w.bytes) {
		call_emit_unreadable(arg_name(a), arg_value(a), s);
		return;
	}
	s->ops->begin(s, arg_name(a), SINK_OBJECT);
	layout_emit(&w, s);
	s->ops->end(s);
}

const struct arg_ops arg_clone_args = { capture_clone_args, emit_clone_args, NULL };
