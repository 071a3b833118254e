// SPDX-License-Identifier: LGPL-2.1-or-later
/* The argument of bpf(2), whose members depend on the command. */
#include <errno.h>

#include "core/abi/args.h"
#include "core/abi/bpf.h"
#include "core/abi/call.h"
#include "core/abi/layout_emit.h"
#include "core/abi/strings.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

/* Return whether the kernel wrote its answer: with ENOSPC all but the end of the name. */
static bool answered(const struct call *c)
{
	return c->returned && !c->inject.injected && (!c->failed || c->ret == ENOSPC) &&
	       (uint32_t)c->args[0] == ABI_BPF_TASK_FD_QUERY;
}

void arg_capture_bpf_attr(const struct arg *a, struct call *c, enum call_phase phase,
			  const struct mem *m)
{
	const struct bpf_part *part = bpf_part_of((uint32_t)c->args[0]);
	uint32_t size = (uint32_t)c->args[a->i + 1];
	const uint8_t *p;
	size_t len;

	if (!part || (phase == AT_SYSCALL_EXIT && !answered(c)))
		return;
	capture_bytes(c, phase, arg_word(a), size < BPF_ATTR_MAX ? size : BPF_ATTR_MAX, m);
	p = call_bytes(c, phase, arg_word(a), BPF_ATTR_MAX, &len);
	if (p && part->cmd == ABI_BPF_OBJ_PIN && phase == AT_SYSCALL_ENTER)
		capture_string(c, phase, layout_get(part->layout, BPF_OBJ_PIN_PATHNAME, p, len), m);
	if (p && phase == AT_SYSCALL_EXIT)
		capture_string(c, phase, layout_get(part->layout, BPF_TASK_FD_QUERY_BUF, p, len), m);
}

void arg_emit_bpf_attr(const struct arg *a, struct sink *s)
{
	const struct bpf_part *part = bpf_part_of((uint32_t)a->call->args[0]);
	struct walk w = {
		.layout = part ? part->layout : NULL, .call = a->call, .arch = a->call->arch,
		.names = a->names, .phase = answered(a->call) ? AT_SYSCALL_EXIT : AT_SYSCALL_ENTER,
	};

	if (!part) {
		sink_addr(s, arg_name(a), arg_word(a));
		return;
	}
	w.bytes = call_bytes(a->call, w.phase, arg_word(a), BPF_ATTR_MAX, &w.len);
	if (!w.bytes) {
		call_emit_unreadable(arg_name(a), arg_word(a), s);
		return;
	}
	/* what the caller's memory has in place of an answer means nothing */
	if (part->cmd == ABI_BPF_TASK_FD_QUERY && !answered(a->call) &&
	    w.len > part->layout->fields[BPF_TASK_FD_QUERY_BUF].offset)
		w.len = part->layout->fields[BPF_TASK_FD_QUERY_BUF].offset;
	sink_begin(s, arg_name(a), SINK_OBJECT);
	if (part->key)
		sink_begin(s, part->key, SINK_OBJECT);
	layout_emit(&w, s);
	if (part->key)
		sink_end(s);
	layout_emit_tail(&w, s);
	sink_end(s);
}
