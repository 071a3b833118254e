// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/abi/strings.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/lib/libc.h"
#include "core/lib/nearest.h"
#include "core/lib/scan_text.h"
#include "xlat/tables.h"

/* libc keeps the first two of the kernel's real-time signals for itself. */
enum { KERNEL_RTMIN = 32, SIGNAL_MAX = 64 };

const char *call_string(const struct call *c, enum call_phase phase,
			uint64_t addr, size_t *len, bool *cut)
{
	const char *p = (const char *)call_bytes(c, phase, addr, SIZE_MAX, len);
	const char *nul;

	if (!p)
		return NULL;
	nul = memchr(p, '\0', *len);
	*cut = !nul;
	if (nul)
		*len = (size_t)(nul - p);
	return p;
}

void call_emit_unreadable(const char *key, uint64_t addr, struct sink *s)
{
	sink_addr(s, key, addr);
	if (addr)
		sink_note(s, "unreadable", "unreadable");
}

void call_note_unwritten(const struct call *c, struct sink *s)
{
	if (call_is_fake(c) && !c->failed)
		sink_note(s, "unwritten", c->answered ? "perhaps not written by the kernel" :
						     "not written by the kernel");
}

const uint8_t *call_bytes_or_note(const struct call *c, enum call_phase phase, const char *key,
				  uint64_t addr, size_t want, struct sink *s)
{
	size_t len;
	const uint8_t *p = call_bytes(c, phase, addr, want, &len);

	if (p && len == want)
		return p;
	call_emit_unreadable(key, addr, s);
	return NULL;
}

void call_emit_string(const struct call *c, enum call_phase phase,
		      const char *key, uint64_t addr, struct sink *s)
{
	size_t len;
	bool cut;
	const char *p = call_string(c, phase, addr, &len, &cut);

	if (p)
		sink_string(s, key, p, len, cut);
	else
		call_emit_unreadable(key, addr, s);
}

bool signal_name(int sig, char *text, size_t size)
{
	/* the C library has SIGPOLL; the kernel, its manual pages and strace have SIGIO */
	const char *name = sig == SIGIO ? "IO" : sigabbrev_np(sig);

	if (name)
		snprintf(text, size, "SIG%s", name);
	else if (sig == KERNEL_RTMIN)
		snprintf(text, size, "SIGRTMIN");
	else if (sig > KERNEL_RTMIN && sig <= SIGNAL_MAX)
		snprintf(text, size, "SIGRT_%d", sig - KERNEL_RTMIN);
	else
		snprintf(text, size, "%d", sig);
	return *text == 'S';
}

int signal_by_name(const char *name)
{
	static const struct {
		const char *name;
		int sig;
	} also[] = {
		{ "POLL", SIGPOLL }, { "CLD", SIGCHLD }, { "IOT", SIGIOT },
		{ "RT_0", KERNEL_RTMIN },
	};
	char known[32];
	uint64_t n;

	if (scan_whole(name, SCAN_DECIMAL, 1, SIGNAL_MAX, &n))
		return (int)n;
	if (!strncasecmp(name, "SIG", 3))
		name += 3;
	for (int sig = 1; sig <= SIGNAL_MAX; sig++)
		if (signal_name(sig, known, sizeof(known)) && !strcasecmp(known + 3, name))
			return sig;
	for (size_t i = 0; i < sizeof(also) / sizeof(*also); i++)
		if (!strcasecmp(also[i].name, name))
			return also[i].sig;
	return 0;
}

void call_emit_path(const struct call *c, enum call_phase phase, const char *key, uint64_t addr,
		    struct sink *s)
{
	size_t max = s->max_string;

	s->max_string = SIZE_MAX;
	call_emit_string(c, phase, key, addr, s);
	s->max_string = max;
}

static const struct xlat_entry *inner_error(int error)
{
	const struct xlat_entry *e = xlat_find(&xlat_kernel_errno, (uint64_t)error);

	return e ? e : xlat_find(&xlat_perf_open_errno, (uint64_t)error);
}

const char *error_name(int error)
{
	const struct xlat_entry *e;

	if (strerrorname_np(error))
		return strerrorname_np(error);
	e = inner_error(error);
	return e ? e->name : NULL;
}

const char *error_meaning(int error)
{
	const struct xlat_entry *e = strerrorname_np(error) ? NULL : inner_error(error);

	return e ? e->meaning : strerror(error);
}

void error_offer(struct nearest *n)
{
	for (int e = 1; e <= ERRNO_MAX; e++)
		if (error_name(e))
			nearest_try(n, error_name(e));
}

int error_by_name(const char *name, struct nearest *n)
{
	for (int e = 1; e <= ERRNO_MAX; e++)
		if (error_name(e) && !strcasecmp(error_name(e), name))
			return e;
	nearest_start(n, name, strlen(name));
	error_offer(n);
	return 0;
}

void emit_signal(const char *key, int sig, struct sink *s)
{
	char name[32];

	if (signal_name(sig, name, sizeof(name)))
		sink_symbol(s, key, name);
	else
		sink_sint(s, key, sig);
}
