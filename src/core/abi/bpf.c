// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/bpf.h"
#include "core/abi/tables.h"

#include <ctype.h>

const struct bpf_part *bpf_part_of(uint32_t cmd)
{
	static const struct bpf_part parts[] = {
		{ ABI_BPF_OBJ_PIN, &layout_bpf_obj_pin, NULL, BPF_OBJ_PIN_BPF_FD, -1 },
		{ ABI_BPF_TASK_FD_QUERY, &layout_bpf_task_fd_query, "task_fd_query",
		  BPF_TASK_FD_QUERY_FD, -1 },
		{ ABI_BPF_LINK_CREATE, &layout_bpf_link_create, "link_create",
		  BPF_LINK_CREATE_TARGET_FD, BPF_LINK_CREATE_PROG_FD },
		{ ABI_BPF_LINK_UPDATE, &layout_bpf_link_update, "link_update",
		  BPF_LINK_UPDATE_LINK_FD, BPF_LINK_UPDATE_NEW_PROG_FD },
		{ ABI_BPF_LINK_DETACH, &layout_bpf_link_detach, "link_detach",
		  BPF_LINK_DETACH_LINK_FD, -1 },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i].cmd == cmd)
			return &parts[i];
	return NULL;
}

bool bpf_command(const struct call *c, struct bpf_command *out)
{
	const struct bpf_part *part = c->desc->class == CLASS_BPF ?
				      bpf_part_of((uint32_t)c->args[0]) : NULL;
	const uint8_t *p;
	size_t len;

	p = part ? call_bytes(c, AT_SYSCALL_ENTER, call_word(c, 1), MEMORY_STRUCT_BYTES, &len) : NULL;
	if (!p)
		return false;
	*out = (struct bpf_command){
		.cmd = part->cmd, .program = -1,
		.fd = (int)layout_get(part->layout, (unsigned int)part->fd, p, len),
	};
	if (part->program >= 0)
		out->program = (int)layout_get(part->layout, (unsigned int)part->program, p, len);
	if (part->cmd == ABI_BPF_TASK_FD_QUERY)
		out->pid = (pid_t)layout_get(part->layout, BPF_TASK_FD_QUERY_PID, p, len);
	if (part->cmd == ABI_BPF_LINK_CREATE)
		out->attach_type = (uint32_t)layout_get(part->layout, BPF_LINK_CREATE_ATTACH_TYPE,
							p, len);
	return true;
}

bool bpf_program_name_valid(const char *name)
{
	size_t n = 0;

	while (isalnum((unsigned char)name[n]) || name[n] == '_' || name[n] == '.')
		n++;
	return !name[n] && n < sizeof((struct bpf_program){ 0 }.name);
}

void bpf_program_text(const struct bpf_program *p, struct buf *out)
{
	const char *type = xlat_name(&xlat_bpf_prog_type, p->type);

	if (!p->id) {
		buf_adds(out, "a BPF program");
		return;
	}
	buf_addf(out, "BPF program %u%s%s", p->id, *p->name ? " " : "", p->name);
	if (type)
		buf_addf(out, " (%s)", type);
	else
		buf_addf(out, " (type %u)", p->type);
}

void bpf_note_program(const struct call *c, const struct names *n, int64_t fd, struct sink *s)
{
	const struct bpf_program *p = n && n->program ? n->program(n, c, fd) : NULL;
	struct buf text = { 0 };

	if (!p)
		return;
	bpf_program_text(p, &text);
	sink_note(s, "program", buf_str(&text));
	buf_free(&text);
}
