// SPDX-License-Identifier: LGPL-2.1-or-later
/* Arguments of the calls that create processes and run programs. */
#include "core/abi/args.h"

#include <string.h>

#include "core/abi/strings.h"
#include "core/abi/tables.h"

/* Read the i-th pointer of the captured vector; return false if it was not captured. */
static bool vector_at(const struct arg *a, size_t i, uint64_t *p)
{
	size_t len, word = a->call->arch->word;
	const uint8_t *b = call_bytes(a->call, AT_SYSCALL_ENTER,
				      arg_word(a) + i * word, word, &len);

	if (!b || len < word)
		return false;
	*p = load_uint(b, word);
	return true;
}

void arg_capture_argv(const struct arg *a, struct call *c,
		      enum call_phase phase, const struct mem *m)
{
	size_t left = MEMORY_STRINGS_BYTES;
	uint64_t p;

	if (phase != AT_SYSCALL_ENTER)
		return;
	capture_bytes(c, phase, arg_word(a), (MEMORY_STRINGS + 1) * c->arch->word, m);
	for (size_t i = 0; i < MEMORY_STRINGS && left && vector_at(a, i, &p) && p; i++)
		left -= capture_string_of(c, phase, p, left, m);
}

void arg_emit_argv(const struct arg *a, struct sink *s)
{
	size_t left = MEMORY_STRINGS_BYTES, len;
	bool cut = false;
	uint64_t p;

	if (!vector_at(a, 0, &p)) {
		call_emit_unreadable(arg_name(a), arg_word(a), s);
		return;
	}
	sink_begin(s, arg_name(a), SINK_ARRAY);
	for (size_t i = 0; vector_at(a, i, &p) && p; i++) {
		if (i == MEMORY_STRINGS || !left) {
			sink_note(s, "more", "and more");
			break;
		}
		if (call_string(a->call, AT_SYSCALL_ENTER, p, &len, &cut))
			left -= len + !cut < left ? len + !cut : left;
		call_emit_string(a->call, AT_SYSCALL_ENTER, NULL, p, s);
	}
	sink_end(s);
}

void arg_emit_envp(const struct arg *a, struct sink *s)
{
	uint64_t p = 0;
	size_t n = 0;
	bool known = vector_at(a, 0, &p);

	sink_addr(s, arg_name(a), arg_word(a));
	while (n + 1 < MEMORY_VARS && vector_at(a, n, &p) && p)
		n++;
	if (known)
		sink_notef(s, "vars", "%zu%s var%s", n, n + 1 == MEMORY_VARS ? "+" : "",
			   n == 1 ? "" : "s");
}

/* Write the exit signal in the low byte as one of the flags, as strace does. */
void arg_emit_clone_flags(const struct arg *a, struct sink *s)
{
	struct xlat with_signal = *arg_desc(a)->xlat;
	struct xlat_entry entries[64];
	uint64_t signal = arg_word(a) & ABI_CSIGNAL;
	char name[32];

	if (signal && signal_name((int)signal, name, sizeof(name)) &&
	    with_signal.n < sizeof(entries) / sizeof(*entries)) {
		memcpy(entries, with_signal.entries, with_signal.n * sizeof(*entries));
		entries[with_signal.n++] = (struct xlat_entry){
			.value = signal, .mask = ABI_CSIGNAL, .name = name,
		};
		with_signal.entries = entries;
	}
	sink_flags(s, arg_name(a), &with_signal, arg_word(a));
	if (signal && s->full && with_signal.entries == entries)
		sink_notef(s, "exit_signal", "exit signal %s", name);
}

void arg_capture_clone_args(const struct arg *a, struct call *c,
			    enum call_phase phase, const struct mem *m)
{
	uint64_t size = c->args[a->i + 1], tids;
	size_t len;
	const uint8_t *p;

	if (phase != AT_SYSCALL_ENTER)
		return;
	capture_bytes(c, phase, arg_word(a),
		      size < MEMORY_STRUCT_BYTES ? size : MEMORY_STRUCT_BYTES, m);
	p = call_bytes(c, phase, arg_word(a), MEMORY_STRUCT_BYTES, &len);
	tids = p ? layout_get(&layout_clone_args, CLONE_ARGS_SET_TID_SIZE, p, len) : 0;
	if (tids)
		capture_bytes(c, phase, layout_get(&layout_clone_args, CLONE_ARGS_SET_TID, p, len),
			      4 * (tids < MEMORY_TIDS ? tids : MEMORY_TIDS), m);
}

void arg_emit_clone_args(const struct arg *a, struct sink *s)
{
	struct walk w = {
		.layout = &layout_clone_args, .call = a->call,
		.arch = a->call->arch, .names = a->names,
	};

	w.bytes = call_bytes(a->call, AT_SYSCALL_ENTER, arg_word(a), MEMORY_STRUCT_BYTES, &w.len);
	if (!w.bytes) {
		call_emit_unreadable(arg_name(a), arg_word(a), s);
		return;
	}
	sink_begin(s, arg_name(a), SINK_OBJECT);
	layout_emit(&w, s);
	layout_emit_tail(&w, s);
	sink_end(s);
}
