/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader of a BPF ring buffer.  Unlike libbpf's, it maps parts of the buffer when it reaches
 * them, as mapping and unmapping 8 MiB takes longer than a short trace needs.
 *
 * Format: Documentation/bpf/ringbuf.rst.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct calls_message;

struct bpf_ring {
	int map;			/* of the caller */
	int epoll;			/* readable once a program woke up its reader */
	size_t size;
	unsigned long *consumed;	/* positions in the stream of all bytes, mapped */
	const unsigned long *produced;
	uint8_t *data;			/* space for the buffer, and for its beginning once more */
	bool *mapped;			/* parts of it */
};

/* Read the buffer of a map of so many bytes, at least 1 MiB.  Return false, with errno, if it fails. */
bool bpf_ring_open(struct bpf_ring *r, int map, size_t size);

/* Also after a failure, or of zeros. */
void bpf_ring_close(struct bpf_ring *r);

/* Call hook for each message; len: its bytes. */
void bpf_ring_read(struct bpf_ring *r,
		   void (*hook)(void *ctx, const struct calls_message *m, size_t len), void *ctx);
