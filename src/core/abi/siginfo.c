// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/siginfo.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "core/abi/arch.h"
#include "core/abi/strings.h"
#include "core/abi/swap.h"
#include "core/abi/tables.h"

void status_text(int status, char *text, size_t size)
{
	char name[32];

	if (WIFEXITED(status)) {
		snprintf(text, size, "exited with %d", WEXITSTATUS(status));
		return;
	}
	signal_name(WTERMSIG(status), name, sizeof(name));
	snprintf(text, size, "killed by %s%s", name, WCOREDUMP(status) ? " (core dumped)" : "");
}

/* Codes from -60 to 0 and SI_KERNEL mean the same for every signal. */
static const struct xlat *codes_of(const siginfo_t *i)
{
	if (i->si_code <= 0 || i->si_code == 0x80)
		return &xlat_si_code;
	switch (i->si_signo) {
	case SIGCHLD:
		return &xlat_si_code_chld;
	case SIGTRAP:
		return &xlat_si_code_trap;
	case SIGILL:
		return &xlat_si_code_ill;
	case SIGFPE:
		return &xlat_si_code_fpe;
	case SIGSYS:
		return &xlat_si_code_sys;
	case SIGSEGV:
		return &xlat_si_code_segv;
	case SIGBUS:
		return &xlat_si_code_bus;
	default:
		/* F_SETSIG lets any signal carry what SIGIO does */
		return &xlat_si_code_poll;
	}
}

/*
 * si_perf_data, si_perf_type and si_perf_flags (since 5.13) follow si_addr;
 * the system's siginfo_t need not know them.
 */
static void emit_perf(const siginfo_t *i, struct sink *s)
{
	const uint8_t *p = (const uint8_t *)&i->si_addr + sizeof(void *);
	unsigned long data;
	uint32_t word[2];

	memcpy(&data, p, sizeof(data));
	memcpy(word, p + sizeof(data), sizeof(word));
	sink_addr(s, "si_addr", (uintptr_t)i->si_addr);
	sink_hex(s, "si_perf_data", data);
	sink_enum(s, "si_perf_type", &xlat_perf_type_id, word[0]);
	sink_flags(s, "si_perf_flags", &xlat_si_perf_flags, word[1]);
}

static void emit_sender(const siginfo_t *i, struct sink *s)
{
	sink_sint(s, "si_pid", i->si_pid);
	sink_uint(s, "si_uid", i->si_uid);
}

static void emit_child(const siginfo_t *i, struct sink *s)
{
	char name[32];

	emit_sender(i, s);
	sink_sint(s, "si_status", i->si_status);
	if (i->si_code != CLD_EXITED) {
		signal_name(i->si_status, name, sizeof(name));
		sink_note(s, "status", name);
	}
	sink_sint(s, "si_utime", i->si_utime);
	sink_sint(s, "si_stime", i->si_stime);
}

bool siginfo_is_wakeup(const siginfo_t *i)
{
	return codes_of(i) == &xlat_si_code_poll && xlat_name(&xlat_si_code_poll, (uint64_t)i->si_code);
}

static void emit_rest(const siginfo_t *i, struct sink *s)
{
	const struct arch *arch;

	if (i->si_code <= 0) {
		emit_sender(i, s);
		if (i->si_code == SI_QUEUE)
			sink_addr(s, "si_value", (uintptr_t)i->si_value.sival_ptr);
		return;
	}
	if (i->si_signo == SIGTRAP && i->si_code == 6) {
		emit_perf(i, s); /* TRAP_PERF */
	} else if (i->si_signo == SIGSEGV || i->si_signo == SIGBUS ||
		   i->si_signo == SIGILL || i->si_signo == SIGFPE ||
		   i->si_signo == SIGTRAP) {
		sink_addr(s, "si_addr", (uintptr_t)i->si_addr);
	} else if (i->si_code == SI_KERNEL) {
		return;
	} else if (i->si_signo == SIGCHLD) {
		emit_child(i, s);
	} else if (i->si_signo == SIGSYS) {
		/* the call that a seccomp filter refused, by its number in that ABI */
		arch = arch_find(i->si_arch, (uint32_t)i->si_syscall);
		sink_addr(s, "si_call_addr", (uintptr_t)i->si_call_addr);
		sink_sint(s, "si_syscall", i->si_syscall);
		sink_hex(s, "si_arch", i->si_arch);
		if (arch)
			sink_note(s, "arch", arch->name);
	} else if (siginfo_is_wakeup(i)) {
		sink_sint(s, "si_band", i->si_band);
		sink_fd(s, "si_fd", i->si_fd, NULL);
	}
}

void siginfo_emit(const siginfo_t *i, struct sink *s)
{
	const struct xlat *codes = codes_of(i);
	char name[32];

	signal_name(i->si_signo, name, sizeof(name));
	sink_begin(s, NULL, SINK_OBJECT);
	sink_symbol(s, "si_signo", name);
	if (xlat_name(codes, (uint64_t)(int64_t)i->si_code))
		sink_enum(s, "si_code", codes, (uint64_t)(int64_t)i->si_code);
	else
		sink_sint(s, "si_code", i->si_code);
	emit_rest(i, s);
	sink_end(s);
}

void swap_siginfo(siginfo_t *i)
{
	uint8_t *p = (uint8_t *)i;

	swap_words(p, 12, 4);	/* si_signo, si_errno, si_code */
	if (i->si_code <= 0 || i->si_signo == SIGCHLD) {
		swap_words(p + 16, 8, 4);	/* si_pid, si_uid */
		if (i->si_code <= 0)
			swap_words(p + 24, 8, 8);	/* si_value */
		else
			swap_words(p + 24, 4, 4);	/* si_status */
		swap_words(p + 32, 16, 8);	/* si_utime, si_stime */
		return;
	}
	swap_words(p + 16, 8, 8);	/* si_addr or si_band */
	if (siginfo_is_wakeup(i)) {
		swap_words(p + 24, 4, 4);	/* si_fd */
	} else if (i->si_signo == SIGSYS) {
		swap_words(p + 24, 8, 4);	/* si_syscall, si_arch */
	} else {
		swap_words(p + 24, 8, 8);	/* si_perf_data */
		swap_words(p + 32, 8, 4);	/* si_perf_type, si_perf_flags */
	}
}

void error_name_text(int64_t error, struct buf *out)
{
	const char *name = error > 0 && error <= ERRNO_MAX ? error_name((int)error) : NULL;

	if (name)
		buf_addf(out, "%s (%s)", name, error_meaning((int)error));
	else
		buf_addf(out, "errno %lld", (long long)error);
}

void error_text(int64_t error, struct buf *out)
{
	/* a target never sees the results that the kernel turns into a restart */
	bool restart = error == ABI_ERESTARTSYS || error == ABI_ERESTARTNOINTR ||
		       error == ABI_ERESTARTNOHAND || error == ABI_ERESTART_RESTARTBLOCK;

	buf_adds(out, restart ? "? " : "-1 ");
	error_name_text(error, out);
}
