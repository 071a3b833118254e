// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/bpf/bpf_programs.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/lib/die.h"

/* Bytes that are mapped at once, more than a message has; and after which writers are told. */
enum { PART = 256 * 1024, TOLD = 32 * 1024 };

static void *ring_page(const struct bpf_ring *r, int protection, size_t number)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, page, protection, MAP_SHARED, r->map, (off_t)(number * page));

	return p == MAP_FAILED ? NULL : p;
}

bool bpf_ring_open(struct bpf_ring *r, int map, size_t size)
{
	struct epoll_event e = { .events = EPOLLIN };
	uint8_t *data = mmap(NULL, size + PART, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*r = (struct bpf_ring){
		.map = map, .size = size, .data = data == MAP_FAILED ? NULL : data,
		.mapped = xcalloc(size / PART + 1, sizeof(*r->mapped)),
		.epoll = epoll_create1(EPOLL_CLOEXEC),
	};
	r->consumed = ring_page(r, PROT_READ | PROT_WRITE, 0);
	r->produced = ring_page(r, PROT_READ, 1);
	return r->data && r->consumed && r->produced && r->epoll >= 0 &&
	       !epoll_ctl(r->epoll, EPOLL_CTL_ADD, map, &e);
}

void bpf_ring_close(struct bpf_ring *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!r->mapped)
		return;
	if (r->data)
		munmap(r->data, r->size + PART);
	if (r->consumed)
		munmap(r->consumed, page);
	if (r->produced)
		munmap((void *)r->produced, page);
	if (r->epoll >= 0)
		close(r->epoll);
	free(r->mapped);
	memset(r, 0, sizeof(*r));
}

static void ring_map_part(struct bpf_ring *r, size_t part)
{
	size_t data = 2 * (size_t)sysconf(_SC_PAGESIZE); /* behind the pages of the positions */

	if (r->mapped[part])
		return;
	if (mmap(r->data + part * PART, PART, PROT_READ, MAP_SHARED | MAP_FIXED, r->map,
		 (off_t)(data + part * PART % r->size)) == MAP_FAILED)
		die("cannot map the buffer of BPF programs: %s", strerror(errno));
	r->mapped[part] = true;
}

/* Return len bytes from a position on. */
static const uint8_t *ring_bytes(struct bpf_ring *r, unsigned long pos, size_t len)
{
	size_t at = pos & (r->size - 1);

	ring_map_part(r, at / PART);
	ring_map_part(r, (at + len - 1) / PART);
	return r->data + at;
}

void bpf_ring_read(struct bpf_ring *r,
		   void (*hook)(void *ctx, const struct calls_message *m, size_t len), void *ctx)
{
	unsigned long at = *r->consumed, told = at;

	while (at != __atomic_load_n(r->produced, __ATOMIC_ACQUIRE)) {
		const uint8_t *bytes = ring_bytes(r, at, BPF_RINGBUF_HDR_SZ);
		uint32_t head = __atomic_load_n((const uint32_t *)bytes, __ATOMIC_ACQUIRE);
		uint32_t len = head & ~BPF_RINGBUF_DISCARD_BIT;

		if (head & BPF_RINGBUF_BUSY_BIT)
			break;
		bytes = ring_bytes(r, at, BPF_RINGBUF_HDR_SZ + len) + BPF_RINGBUF_HDR_SZ;
		if (!(head & BPF_RINGBUF_DISCARD_BIT))
			hook(ctx, (const struct calls_message *)bytes, len); /* aligned to 8 */
		at += (BPF_RINGBUF_HDR_SZ + len + 7) & ~7UL;
		if (at - told < TOLD)
			continue;
		__atomic_store_n(r->consumed, at, __ATOMIC_RELEASE);
		told = at;
	}
	__atomic_store_n(r->consumed, at, __ATOMIC_RELEASE);
}
