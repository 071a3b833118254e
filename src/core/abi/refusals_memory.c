// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks of mmap(2) and of calls that change what is mapped. */
#include "core/abi/refusals_internal.h"

/* Arguments of mmap, and of mremap. */
enum { ADDR, LENGTH, PROT, FLAGS, FD, OFFSET };
enum { OLD_ADDR, OLD_LEN, NEW_LEN, REMAP_FLAGS, NEW_ADDR };

enum { MAP_TYPE = 0xf };	/* of flags */

static bool map_has(const struct refusal_input *in, uint64_t flags)
{
	return in->call->args[FLAGS] & flags;
}

static uint64_t map_type(const struct refusal_input *in)
{
	return in->call->args[FLAGS] & MAP_TYPE;
}

static bool map_is_fixed(const struct refusal_input *in)
{
	return map_has(in, ABI_MAP_FIXED | ABI_MAP_FIXED_NOREPLACE);
}

static bool map_unaligned(const struct refusal_input *in, uint64_t addr)
{
	return addr & (in->page - 1);
}

static bool power_of_2(uint64_t n)
{
	return n && !(n & (n - 1));
}

/* Judge a check since 6.17 that updates brought to older series. */
static int since_6_17(const struct refusal_input *in, enum fact refuses)
{
	static const uint32_t updates[] = {
		KVER(5, 10, 241), KVER(5, 15, 190), KVER(6, 1, 148), KVER(6, 6, 102),
		KVER(6, 12, 42), KVER(6, 15, 10), KVER(6, 16, 1), 0
	};
	uint32_t release = in->machine->release;
	int updated = rule_if_updated(release, updates);

	return rule_in_release(KVER(6, 17, 0), release) || updated == RULE_REFUSES ||
	       refuses == FACT_NO ? refuses_where(true, refuses) : updated;
}

REFUSES_IF(mmap_offset_align, map_unaligned(in, in->offset))
REFUSES_IF(mmap_huge, map_has(in, ABI_MAP_HUGETLB))
REFUSES_IF(mmap_empty, !call_word(in->call, LENGTH))

int refusal_mmap_beyond(const struct refusal_input *in)
{
	uint64_t end = in->machine->user_end;

	if (!in->len)
		return RULE_REFUSES; /* rounding it up was too much */
	return !end ? RULE_UNKNOWN :
	       refuses_if(in->len > end || (map_is_fixed(in) && in->addr > end - in->len));
}

REFUSES_IF(mmap_offset_end,
	   (in->call->desc->id == CALL_MMAP2 ? call_word(in->call, OFFSET) :
	    in->offset / in->page) > (UINT64_MAX - in->len) / in->page)
REFUSES_IF(mmap_address_align, map_is_fixed(in) && map_unaligned(in, in->addr))
/* vm.mmap_min_addr is at most this by default */
REFUSES(mmap_address_low,
	map_is_fixed(in) && in->addr < 65536 && lacks_cap(in, ABI_CAP_SYS_RAWIO) != FACT_NO ?
	RULE_UNKNOWN : RULE_PASSES)
REFUSES(mmap_in_use,
	!map_has(in, ABI_MAP_FIXED_NOREPLACE) ? RULE_PASSES :
	in->facts->covers == FACT_YES ? RULE_REFUSES : RULE_UNKNOWN)
REFUSES(mmap_lock_none,
	!map_has(in, ABI_MAP_LOCKED) || lacks_cap(in, ABI_CAP_IPC_LOCK) == FACT_NO ||
	in->facts->memory.limit ? RULE_PASSES : RULE_UNKNOWN)
/* How much memory the process has locked is not known. */
REFUSES(mmap_lock_limit,
	lacks_cap(in, ABI_CAP_IPC_LOCK) == FACT_NO || in->facts->memory.limit == UINT64_MAX ?
	RULE_PASSES : RULE_UNKNOWN)
REFUSES_IF(mmap_kind, !map_type(in) || map_type(in) > ABI_MAP_SHARED_VALIDATE)
REFUSES_IF(mmap_exec, in->call->args[PROT] & ABI_PROT_EXEC)
REFUSES_IF(mmap_grows, map_has(in, ABI_MAP_GROWSDOWN))
REFUSES(mmap_part, map_has(in, ABI_MAP_FIXED) ? since_6_17(in, in->facts->splits) : RULE_PASSES)

/* The event, its ring and AUX area ------------------------------------------------------------ */

REFUSES(mmap_inherit,
	!in->event->attr ? RULE_UNKNOWN :
	refuses_if(in->event->cpu == -1 && used_get(in->event, ATTR_INHERIT)))
REFUSES_IF(mmap_private, map_type(in) == ABI_MAP_PRIVATE)
REFUSES(mmap_security, unless_security(in))
REFUSES_IF(mmap_many, in->len / in->page > INT32_MAX)
REFUSES_IF(mmap_pages,
	   !in->offset && in->len != in->page && !power_of_2(in->len / in->page - 1))

/* Return whether the mapping is one more of the ring buffer that the event has, or writes to. */
static enum fact maps_again(const struct refusal_input *in)
{
	return in->offset ? FACT_NO : in->event->ring;
}

REFUSES(mmap_size,
	refuses_where(in->len / in->page != in->event->pages + 1, maps_again(in)))

int refusal_mmap_output(const struct refusal_input *in)
{
	enum fact alias = fact_and(maps_again(in), in->event->redirected);

	return alias == FACT_NO || in->event->mapped == FACT_YES ? RULE_PASSES :
	       rule_in_release(KVER(6, 19, 0), in->machine->release) ? refuses_where(true, alias) :
	       RULE_UNKNOWN;
}

static bool maps_aux(const struct refusal_input *in)
{
	return in->offset && in->event->ring != FACT_NO;
}

REFUSES(mmap_aux_first, in->offset ? refuses_unless(in->event->ring) : RULE_PASSES)
/* No tracer can read the first page, as memory of the kernel. */
REFUSES(mmap_aux_page, maps_aux(in) ? RULE_UNKNOWN : RULE_PASSES)
REFUSES_IF(mmap_aux_again,
	   maps_aux(in) && in->event->aux_length && in->event->aux_length != in->len)
REFUSES_IF(mmap_aux_pages, maps_aux(in) && !power_of_2(in->len / in->page))

int refusal_mmap_memlock(const struct refusal_input *in)
{
	const struct rule_memory *m = &in->facts->memory;
	enum fact lacks = lacks_cap(in, ABI_CAP_IPC_LOCK);
	bool unread = in->machine->unread & UNREAD_PARANOID;
	uint64_t room = m->limit > m->pinned ? m->limit - m->pinned : 0;

	/* one more mapping of the same memory is not counted */
	if (in->offset ? in->event->aux_length != 0 : in->event->ring == FACT_YES)
		return RULE_PASSES;
	if (lacks == FACT_NO || (!unread && in->machine->paranoid < 0) ||
	    (m->known == FACT_YES && in->len <= room))
		return RULE_PASSES;
	/* nobody tells what the user's other processes have of the first part */
	return m->known == FACT_YES && lacks == FACT_YES && !unread && in->len > room + m->free ?
	       RULE_REFUSES : RULE_UNKNOWN;
}

REFUSES(mmap_aux_none,
	!in->offset || in->event->aux_length ? RULE_PASSES :
	unless_own_checks(in, in->event, RULE_REFUSES))

/* munmap, mprotect, mremap --------------------------------------------------------------------- */

REFUSES_IF(munmap_align, map_unaligned(in, in->addr) || !in->len)
REFUSES(munmap_part, since_6_17(in, in->facts->splits))
REFUSES_IF(mprotect_align,
	   map_unaligned(in, in->addr) ||
	   in->call->args[PROT] & (ABI_PROT_GROWSDOWN | ABI_PROT_GROWSUP))
REFUSES(mprotect_range, in->facts->covered >= in->len ? RULE_PASSES : RULE_UNKNOWN)
REFUSES_IF(mprotect_exec, in->call->args[PROT] & ABI_PROT_EXEC)
/* The same protection again changes nothing, and passes. */
REFUSES(mprotect_part,
	since_6_17(in, in->facts->splits) == RULE_PASSES ? RULE_PASSES : RULE_UNKNOWN)

static uint64_t new_len(const struct refusal_input *in)
{
	return round_up(call_word(in->call, NEW_LEN), in->page);
}

static bool remaps(const struct refusal_input *in, uint64_t flags)
{
	return in->call->args[REMAP_FLAGS] & flags;
}

int refusal_mremap_flags(const struct refusal_input *in)
{
	uint64_t must_move = ABI_MREMAP_FIXED | ABI_MREMAP_DONTUNMAP;
	uint64_t to = call_word(in->call, NEW_ADDR);

	return refuses_if(remaps(in, ~(must_move | ABI_MREMAP_MAYMOVE)) ||
			  map_unaligned(in, in->addr) ||
			  !new_len(in) ||
			  (remaps(in, must_move) && !remaps(in, ABI_MREMAP_MAYMOVE)) ||
			  (remaps(in, ABI_MREMAP_DONTUNMAP) && in->len != new_len(in)) ||
			  (remaps(in, ABI_MREMAP_FIXED) &&
			   (map_unaligned(in, to) ||
			    (in->addr < to + new_len(in) && to < in->addr + in->len))));
}

/* The rest of the mapping is unmapped or moved in parts. */
REFUSES(mremap_part,
	in->len < new_len(in) || (in->len == new_len(in) &&
	!remaps(in, ABI_MREMAP_FIXED | ABI_MREMAP_DONTUNMAP)) ? RULE_PASSES :
	since_6_17(in, in->len > new_len(in) && in->facts->covers == FACT_YES ? FACT_YES :
		   in->facts->splits))
REFUSES(mremap_grow,
	refuses_where(new_len(in) > in->len || in->len > in->facts->covered, in->facts->covers))
REFUSES(mremap_keep, refuses_where(remaps(in, ABI_MREMAP_DONTUNMAP), in->facts->covers))

/* Numbers ------------------------------------------------------------------------------------- */

/* Return the power of two that is at most n; 1 at least. */
static uint64_t power_below(uint64_t n)
{
	return n > 1 ? 1ULL << (63 - __builtin_clzll(n)) : 1;
}

static void memlock_numbers(const struct refusal_input *in, struct buf *out)
{
	const struct rule_memory *m = &in->facts->memory;

	buf_addf(out, "%llu KiB requested", (unsigned long long)in->len / 1024);
	if (m->free)
		buf_addf(out, ", %llu KiB for all rings of the user",
			 (unsigned long long)m->free / 1024);
	if (m->known == FACT_YES && m->limit != UINT64_MAX)
		buf_addf(out, " and %llu KiB more for the process, which has %llu KiB of that",
			 (unsigned long long)m->limit / 1024, (unsigned long long)m->pinned / 1024);
	if (m->rings)
		buf_addf(out, "; ring buffers of the traced processes: %u of %llu KiB, the largest "
			 "that of %s", m->rings, (unsigned long long)m->held / 1024, m->holder);
}

void refusal_memory_numbers(const struct refusal_input *in, enum refusal_id id, struct buf *out)
{
	unsigned long long pages = in->len / in->page, n = power_below(pages - 1);
	bool elsewhere = in->event->redirected == FACT_YES;
	bool first = !elsewhere && (maps_again(in) != FACT_YES || !in->event->pages);

	if (id == REFUSAL_MMAP_PAGES && first)
		buf_addf(out, "%llu pages; %llu (1+%llu) or %llu (1+%llu) would do", pages, n + 1, n,
			 2 * n + 1, 2 * n);
	else if (id == REFUSAL_MMAP_AUX_PAGES)
		buf_addf(out, "%llu pages", pages);
	else if (id == REFUSAL_MMAP_PAGES || id == REFUSAL_MMAP_SIZE)
		buf_addf(out, "it has 1+%llu pages, %llu were requested",
			 (unsigned long long)in->event->pages, pages);
	else if (id == REFUSAL_MMAP_MEMLOCK)
		memlock_numbers(in, out);
	else if (id == REFUSAL_MMAP_AUX_PAGE && in->event->pages)
		buf_addf(out, "the records end at %llu",
			 (unsigned long long)((in->event->pages + 1) * in->page));
	if (elsewhere && in->event->output && id >= REFUSAL_MMAP_PAGES && id <= REFUSAL_MMAP_OUTPUT)
		buf_addf(out, "%sread the ring of fd %d", id == REFUSAL_MMAP_OUTPUT ? "" :
			 "; it needs no mapping of its own: ", in->event->output);
}
