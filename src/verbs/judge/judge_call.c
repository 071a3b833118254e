// SPDX-License-Identifier: LGPL-2.1-or-later
/* The call of perf_event_open(2) that is judged. */
#include "verbs/judge/judge.h"

#include <string.h>

#include "core/abi/layout.h"
#include "core/abi/strings.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

void judge_call_init(struct judge_call *c)
{
	memset(c, 0, sizeof(*c));
	c->call.desc = call_by_name("perf_event_open");
	c->call.arch = arch_native();
	c->call.returned = true;
}

void judge_call_free(struct judge_call *c)
{
	call_free(&c->call);
	for (size_t i = 0; i < ATTR_TEXT_STRINGS; i++)
		buf_free(&c->strings[i]);
}

void judge_call_args(struct judge_call *c, int32_t pid, int32_t cpu, int32_t group_fd,
		     uint64_t flags)
{
	c->call.args[1] = (uint64_t)(int64_t)pid;
	c->call.args[2] = (uint64_t)(int64_t)cpu;
	c->call.args[3] = (uint64_t)(int64_t)group_fd;
	c->call.args[4] = flags;
}

/* Copy a captured string, and point the attr to the copy. */
static void judge_take_string(struct judge_call *c, const struct field *f, struct buf *to)
{
	uint64_t addr = field_get(f, c->attr, c->len);
	const char *text;
	size_t len;
	bool cut;

	text = call_string(&c->call, AT_SYSCALL_ENTER, addr, &len, &cut);
	if (!text || f->offset + f->width > c->len)
		return;
	buf_reset(to);
	buf_add(to, text, len);
	buf_addc(to, '\0');
	field_set(f, (uintptr_t)to->data, c->attr);
}

void judge_call_prepare(struct judge_call *c, const struct names *names)
{
	const uint8_t *bytes = call_bytes(&c->call, AT_SYSCALL_ENTER, c->call.args[0],
					  sizeof(c->attr), &c->len);
	struct walk w = {
		.layout = &layout_perf_event_attr, .bytes = c->attr, .names = names,
	};
	const struct field *f;
	size_t at = 0, n = 0;

	if (!bytes) {
		c->len = 0;
		return;
	}
	memcpy(c->attr, bytes, c->len);
	w.len = c->len;
	while (n < ATTR_TEXT_STRINGS && (f = layout_next(&w, &at)))
		if (f->kind == FIELD_STRING)
			judge_take_string(c, f, &c->strings[n++]);
}
