/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bpf(2), as far as it attaches programs to events, and the programs. */
#pragma once

#include "core/abi/call.h"

/* The part of union bpf_attr that a command uses, and its name there. */
struct bpf_part {
	uint32_t cmd;
	const struct layout *layout;
	const char *key;	/* NULL: the members are in the union itself */
	int fd, program;	/* members, -1: none */
};

/* Return the part of a command that may concern an event, or NULL. */
const struct bpf_part *bpf_part_of(uint32_t cmd);

/* What a bpf(2) call is about. */
struct bpf_command {
	uint32_t cmd;		/* of the table bpf_cmd */
	int fd;			/* of the event, or of a link to it */
	int program;		/* a descriptor, -1: none */
	pid_t pid;		/* BPF_TASK_FD_QUERY: whose fd it is; else 0 */
	uint32_t attach_type;	/* BPF_LINK_CREATE: of the table bpf_attach_type; else 0 */
};

/*
 * Read what the call is about from its captured memory.  Return false if it is no bpf(2), has
 * another command, or its memory was not readable.
 */
bool bpf_command(const struct call *c, struct bpf_command *out);

/* Append "BPF program 12 name (BPF_PROG_TYPE_KPROBE)". */
void bpf_program_text(const struct bpf_program *p, struct buf *out);

/* Return whether it is a name that the kernel accepts: letters, digits, '_' and '.'. */
bool bpf_program_name_valid(const char *name);

/* Note which program the descriptor is of, if that is known. */
void bpf_note_program(const struct call *c, const struct names *n, int64_t fd, struct sink *s);
