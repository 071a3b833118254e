/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A target's memory and names, made up for decoder tests. */
#ifndef PEVTRACE_TESTS_FAKE_H
#define PEVTRACE_TESTS_FAKE_H

#include <string.h>

#include "core/abi/call.h"
#include "core/abi/layout.h"

/*
 * Return n bits of a 64-bit integer that have the value v, where a compiler places a bit-field
 * with first bits before it.
 */
static inline uint64_t bit_field(unsigned int first, unsigned int n, uint64_t v)
{
	return v << (BIG_ENDIAN_HERE ? 64 - first - n : first);
}

/* Return the same for an integer of 32 bits. */
static inline uint32_t bit_field32(unsigned int first, unsigned int n, uint32_t v)
{
	return v << (BIG_ENDIAN_HERE ? 32 - first - n : first);
}

/* Memory of one readable stretch; everything else is unmapped. */
struct fake_mem {
	struct mem mem;
	uint64_t start;
	const uint8_t *bytes;
	size_t len;
};

static size_t fake_read(const struct mem *m, uint64_t addr, void *dst, size_t len)
{
	const struct fake_mem *f = (const struct fake_mem *)m;
	uint64_t skip = addr - f->start;

	if (addr < f->start || skip >= f->len)
		return 0;
	if (len > f->len - skip)
		len = f->len - skip;
	memcpy(dst, f->bytes + skip, len);
	return len;
}

static inline struct fake_mem fake_mem(uint64_t start, const void *bytes, size_t len)
{
	return (struct fake_mem){ { fake_read }, start, bytes, len };
}

static const char *fake_pmu(const struct names *n, uint32_t type)
{
	(void)n;
	return type == 4 ? "cpu" : type == 8 ? "uprobe" : type == 9 ? "kprobe" : NULL;
}

static const char *fake_tracepoint(const struct names *n, uint64_t id)
{
	(void)n;
	return id == 318 ? "sched:sched_switch" : NULL;
}

static const char *fake_terms(const struct names *n, uint32_t type,
			      const uint64_t *config, size_t nconfigs)
{
	(void)n;
	(void)nconfigs;
	return type == 4 && config[0] == 0x1a8 ? "cpu/event=0xa8,umask=0x1/" : NULL;
}

static const char *fake_fd(const struct names *n, const struct call *c, int64_t fd)
{
	(void)n;
	(void)c;
	return fd == 5 ? "cpu-clock cpu0" : NULL;
}

/* fd 5 is an event that reads as a group, with everything; of fd 4 it is not known. */
static int64_t fake_read_format(const struct names *n, const struct call *c, int64_t fd)
{
	(void)n;
	(void)c;
	return fd == 5 ? 0x1f : fd == 6 ? 0x17 : fd == 4 ? NAMES_NO_FORMAT : NAMES_NO_EVENT;
}

static const char *fake_event(const struct names *n, uint64_t id)
{
	(void)n;
	return id == 22 ? "page-faults" : NULL;
}

static const struct names fake_names = {
	.pmu = fake_pmu, .tracepoint = fake_tracepoint, .terms = fake_terms,
	.fd = fake_fd, .read_format = fake_read_format, .event = fake_event,
	.page_size = 4096,
};

#endif
