/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A call of a target, out of bytes: six arguments, a result, and its memory. */
#ifndef PEVTRACE_TESTS_FUZZ_CALL_H
#define PEVTRACE_TESTS_FUZZ_CALL_H

#include "../unit/fake.h"
#include "core/abi/args.h"
#include "core/abi/bpf.h"
#include "core/abi/call_decode.h"
#include "core/abi/swap.h"
#include "fuzz.h"

enum { FUZZ_MEMORY = 0x10000 };	/* where the target's memory begins */

static inline void fuzz_emit_call(void *ctx, struct sink *s)
{
	const struct call *c = ctx;

	sink_begin(s, "call", SINK_OBJECT);
	call_args(c, AT_SYSCALL_ENTER, &fake_names, s);
	call_args(c, AT_SYSCALL_EXIT, &fake_names, s);
	sink_end(s);
	sink_begin(s, "results", SINK_OBJECT);
	call_results(c, &fake_names, s);
	sink_end(s);
	call_result_notes(c, &fake_names, s);
}

/* Show what of a call is not for readers, but for the model. */
static inline void fuzz_show_call(struct call *c)
{
	int fds[CALL_MAX_PASSED];
	struct bpf_command b;

	if (!fuzz_shows())
		return;
	if (c->desc->id == CALL_SENDMSG || c->desc->id == CALL_RECVMSG)
		for (int phase = AT_SYSCALL_ENTER; phase <= AT_SYSCALL_EXIT; phase++) {
			size_t n = call_passed_fds(c, (enum call_phase)phase, fds);

			printf("%zu descriptors", n);
			while (n)
				printf(" %d", fds[--n]);
			printf("\n");
		}
	if (bpf_command(c, &b))
		printf("bpf %u, fd %d, program %d, pid %d, type %u\n", b.cmd, b.fd, b.program,
		       (int)b.pid, b.attach_type);
	/* as if it was of a machine of the other byte order */
	swap_call(c, AT_SYSCALL_ENTER, &fake_names);
	swap_call(c, AT_SYSCALL_EXIT, &fake_names);
	for (size_t i = 0; i < c->ncaptures; i++) {
		const struct capture *k = &c->captures[i];

		printf("captured %d %#llx %u", k->phase, (unsigned long long)k->addr, k->want);
		/* nothing was captured: there may be no pool */
		fuzz_show_bytes("", k->len ? (const uint8_t *)c->pool.data + k->at : NULL, k->len);
	}
}

/*
 * Captures and decodes the call.  More of the bytes: 8 for each argument, 8 for the
 * result, negative for a failure; what is left is the memory, and changes while
 * the call is under way if the result is odd.  With bit 20 of it the result is one of -e inject=.
 */
static inline void fuzz_call(const struct call_desc *desc, const struct arch *arch,
			     const uint8_t *data, size_t len)
{
	struct call c = { .desc = desc, .arch = arch, .returned = true };
	struct fake_mem m;

	for (unsigned int i = 0; i < CALL_MAX_ARGS; i++)
		c.args[i] = fuzz_word(&data, &len);
	c.ret = (int64_t)fuzz_word(&data, &len);
	m = fake_mem(FUZZ_MEMORY, data, len);
	call_capture(&c, AT_SYSCALL_ENTER, &m.mem, &fake_names);
	if (c.ret & 1)
		m = fake_mem(FUZZ_MEMORY, data + len / 2, len - len / 2);
	c.failed = c.ret < 0;
	c.inject.injected = c.ret & 1 << 20 && !c.failed;
	c.ret = c.failed ? -(c.ret | -4096) : c.ret;
	call_capture(&c, AT_SYSCALL_EXIT, &m.mem, &fake_names);
	fuzz_sinks(fuzz_emit_call, &c);
	fuzz_show_call(&c);
	call_free(&c);
}

#endif
