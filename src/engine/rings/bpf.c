// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/rings/bpf.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/abi/bpf.h"
#include "core/host/proc.h"
#include "engine/rings/borrow.h"

int bpf_load(uint32_t type, int32_t result)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = result },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr a;
	long fd;

	memset(&a, 0, sizeof(a));
	a.prog_type = type;
	a.insns = (uintptr_t)code;
	a.insn_cnt = sizeof(code) / sizeof(*code);
	a.license = (uintptr_t)"GPL";
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &a, sizeof(a));
	return fd < 0 ? -errno : (int)fd;
}

/* Describe the program behind a descriptor of pevtrace, and close it. */
static bool describe_program(int own, struct bpf_program *out)
{
	static const char program_link[] = "anon_inode:bpf-prog";
	struct bpf_prog_info info = { 0 };
	union bpf_attr a;
	bool known;

	if (own < 0)
		return false;
	memset(&a, 0, sizeof(a));
	a.info.bpf_fd = (uint32_t)own;
	a.info.info_len = sizeof(info);
	a.info.info = (uintptr_t)&info;
	known = proc_fd_is(getpid(), own, program_link) > 0 &&
		!syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &a, sizeof(a));
	close(own);
	if (!known)
		return false;
	*out = (struct bpf_program){ .id = info.id, .type = info.type };
	if (bpf_program_name_valid(info.name))
		strcpy(out->name, info.name);
	return true;
}

bool bpf_program_of(pid_t pid, pid_t tid, int fd, struct bpf_program *out)
{
	return describe_program(borrow_fd(pid, tid, fd), out);
}

bool bpf_attached_program(pid_t tid, int fd, struct bpf_program *out)
{
	union bpf_attr query, get;

	memset(&query, 0, sizeof(query));
	query.task_fd_query.pid = (uint32_t)tid;
	query.task_fd_query.fd = (uint32_t)fd;
	*out = (struct bpf_program){ 0 };
	if (syscall(SYS_bpf, BPF_TASK_FD_QUERY, &query, sizeof(query)))
		return errno == EOPNOTSUPP;
	memset(&get, 0, sizeof(get));
	get.prog_id = query.task_fd_query.prog_id;
	describe_program((int)syscall(SYS_bpf, BPF_PROG_GET_FD_BY_ID, &get, sizeof(get)), out);
	return true;
}
