// SPDX-License-Identifier: LGPL-2.1-or-later
/* Whether 32-bit programs run: a child becomes one, which is in memory only. */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/lib/program.h"
#include "experiment/arch/compat_code.h"
#include "experiment/instruments_internal.h"

enum { ADDRESS = 0x400000 };

#ifdef COMPAT_MACHINE
struct compat_program {
	Elf32_Ehdr head;
	Elf32_Phdr segment;
	uint8_t code[sizeof(compat_code)];
};

static void fill_program(struct compat_program *p)
{
	*p = (struct compat_program){
		.head = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_EXEC, .e_machine = COMPAT_MACHINE, .e_version = EV_CURRENT,
			.e_entry = ADDRESS + offsetof(struct compat_program, code),
			.e_phoff = offsetof(struct compat_program, segment),
			.e_flags = COMPAT_FLAGS, .e_ehsize = sizeof(p->head),
			.e_phentsize = sizeof(p->segment), .e_phnum = 1,
		},
		.segment = {
			.p_type = PT_LOAD, .p_vaddr = ADDRESS, .p_filesz = sizeof(*p),
			.p_memsz = sizeof(*p), .p_flags = PF_R | PF_X, .p_align = 0x10000,
		},
	};
	memcpy(p->code, compat_code, sizeof(compat_code));
}

/* MFD_EXEC is of Linux 6.3: since then sysctl vm.memfd_noexec may require it. */
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

/* Become the program, or return why not. */
static void run_compat(const void *ctx, void *out)
{
	struct compat_program p;
	char *argv[] = { (char *)"compat", NULL }, *envp[] = { NULL };
	int fd, *error = out;

	(void)ctx;
	instrument_begin_child();
	fill_program(&p);
	fd = memfd_create("compat", MFD_CLOEXEC | MFD_EXEC);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("compat", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, &p, sizeof(p)) == sizeof(p)) {
		fexecve(fd, argv, envp);
		*error = errno;
	} else {
		*error = EIO; /* which says nothing of 32-bit programs */
	}
}

void instrument_try_compat(struct instrument_result *r)
{
	int error, status = child_run(run_compat, NULL, &error, sizeof(error));

	if (error == ENOEXEC)
		*r = instrument_absent(error);
	else if (error)
		r->why = "no program in memory can be executed";
	else if (status >= 0)
		r->verdict = WIFEXITED(status) && WEXITSTATUS(status) == COMPAT_STATUS ?
			     INSTRUMENT_WORKS : INSTRUMENT_DEAD;
}
#else
void instrument_try_compat(struct instrument_result *r)
{
	r->why = "pevtrace has no 32-bit program for this processor";
}
#endif
