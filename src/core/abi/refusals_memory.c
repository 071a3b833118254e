// SPDX-License-Identifier: LGPL-2.1-or-later
/* Checks of mmap(2) and of calls that change what is mapped. */
#include "core/abi/refusals_internal.h"

/* Arguments of mmap. */
enum { ADDR, LENGTH, PROT, FLAGS, FD, OFFSET };
enum { MAP_TYPE = 0xf };	/* of flags */

static uint64_t map_word(const struct refusal_facts *in, unsigned int i)
{
	return call_word(in->call, i);
}

static bool map_has(const struct refusal_facts *in, uint64_t flag)
{
	return in->call->args[FLAGS] & flag;
}

static bool map_fixed(const struct refusal_facts *in)
{
	return map_has(in, ABI_MAP_FIXED | ABI_MAP_FIXED_NOREPLACE);
}

static uint64_t map_offset(const struct refusal_facts *in)
{
	return map_word(in, OFFSET) << (in->call->desc->id == CALL_MMAP2 ?
					in->call->arch->mmap2_shift : 0);
}

static bool unaligned(const struct refusal_facts *in, uint64_t addr)
{
	return addr & (in->machine->page_size - 1);
}

uint64_t refusal_map_pages(const struct refusal_facts *in)
{
	uint64_t page = in->machine->page_size, len = map_word(in, LENGTH);

	return len / page + !!(len % page);
}

static bool power_of_2(uint64_t n)
{
	return n && !(n & (n - 1));
}

/* A check since 6.17 that updates brought to older series. */
static int since_6_17(const struct refusal_facts *in, enum fact refuses)
{
	static const uint32_t updates[] = {
		KVER(5, 10, 241), KVER(5, 15, 190), KVER(6, 1, 148), KVER(6, 6, 102),
		KVER(6, 12, 42), KVER(6, 15, 10), KVER(6, 16, 1), 0
	};
	uint32_t release = in->machine->release;

	if (refuses == FACT_NO || rule_in_release(KVER(6, 17, 0), release))
		return refuses_where(true, refuses);
	return rule_if_updated(release, updates) == RULE_PASSES ? RULE_PASSES : RULE_UNKNOWN;
}

REFUSES(mmap_offset_align, refuses_if(unaligned(in, map_offset(in))))
REFUSES(mmap_huge, refuses_if(map_has(in, ABI_MAP_HUGETLB)))
REFUSES(mmap_empty, refuses_if(!map_word(in, LENGTH)))

int refusal_mmap_beyond(const struct refusal_facts *in)
{
	uint64_t end = in->machine->user_end, len = refusal_map_pages(in) * in->machine->page_size;

	if (!len)
		return RULE_REFUSES; /* rounding it up was too much */
	if (!end)
		return RULE_UNKNOWN;
	return refuses_if(len > end || (map_fixed(in) && map_word(in, ADDR) > end - len));
}

int refusal_mmap_offset_end(const struct refusal_facts *in)
{
	uint64_t page = in->machine->page_size, first = map_word(in, OFFSET);

	if (in->call->desc->id != CALL_MMAP2)
		first /= page;
	return refuses_if(first > (UINT64_MAX - refusal_map_pages(in) * page) / page);
}

REFUSES(mmap_address_align, refuses_if(map_fixed(in) && unaligned(in, map_word(in, ADDR))))
/* vm.mmap_min_addr is at most this by default */
REFUSES(mmap_address_low,
	map_fixed(in) && map_word(in, ADDR) < 65536 &&
	rule_caps_lack(in->machine, ABI_CAP_SYS_RAWIO, ABI_CAP_SYS_RAWIO) != FACT_NO ?
	RULE_UNKNOWN : RULE_PASSES)
REFUSES(mmap_in_use,
	!map_has(in, ABI_MAP_FIXED_NOREPLACE) ? RULE_PASSES :
	in->covers == FACT_YES ? RULE_REFUSES : RULE_UNKNOWN)

int refusal_mmap_lock_none(const struct refusal_facts *in)
{
	enum fact lacks = rule_caps_lack(in->machine, ABI_CAP_IPC_LOCK, ABI_CAP_IPC_LOCK);

	if (!map_has(in, ABI_MAP_LOCKED) || lacks == FACT_NO)
		return RULE_PASSES;
	return in->memory.known == FACT_YES ?
	       refuses_where(!in->memory.limit, lacks) : RULE_UNKNOWN;
}

/* What the process has locked is not known. */
REFUSES(mmap_lock_limit,
	rule_caps_lack(in->machine, ABI_CAP_IPC_LOCK, ABI_CAP_IPC_LOCK) == FACT_NO ||
	(in->memory.known == FACT_YES && in->memory.limit == UINT64_MAX) ?
	RULE_PASSES : RULE_UNKNOWN)
REFUSES(mmap_exec, refuses_if(in->call->args[PROT] & ABI_PROT_EXEC))
REFUSES(mmap_grows, refuses_if(map_has(in, ABI_MAP_GROWSDOWN)))

int refusal_mmap_kind(const struct refusal_facts *in)
{
	uint64_t type = in->call->args[FLAGS] & MAP_TYPE;

	return refuses_if(type != ABI_MAP_SHARED && type != ABI_MAP_PRIVATE &&
			  type != ABI_MAP_SHARED_VALIDATE);
}

REFUSES(mmap_part,
	map_has(in, ABI_MAP_FIXED) ? since_6_17(in, in->splits) : RULE_PASSES)

/* The event ----------------------------------------------------------------------------- */

int refusal_mmap_inherit(const struct refusal_facts *in)
{
	if (!in->event.attr)
		return RULE_UNKNOWN;
	return refuses_if(in->event.cpu == -1 && used_get(&in->event, ATTR_INHERIT));
}

REFUSES(mmap_private, refuses_if((in->call->args[FLAGS] & MAP_TYPE) == ABI_MAP_PRIVATE))
REFUSES(mmap_security, in->machine->security == FACT_NO ? RULE_PASSES : RULE_UNKNOWN)

REFUSES(mmap_many, refuses_if(refusal_map_pages(in) > INT32_MAX))

static bool maps_ring(const struct refusal_facts *in)
{
	return !map_offset(in);
}

REFUSES(mmap_pages,
	refuses_if(maps_ring(in) && refusal_map_pages(in) != 1 && !power_of_2(refusal_map_pages(in) - 1)))

/* Return whether the mapping is one more of the ring buffer that the event has, or writes to. */
static enum fact maps_again(const struct refusal_facts *in)
{
	return maps_ring(in) ? in->event.ring : FACT_NO;
}

REFUSES(mmap_size,
	refuses_where(refusal_map_pages(in) != in->event.pages + 1, maps_again(in)))

int refusal_mmap_output(const struct refusal_facts *in)
{
	enum fact alias = fact_and(fact_and(maps_again(in), in->event.redirected),
				   in->event.mapped == FACT_UNKNOWN ? FACT_UNKNOWN :
				   fact_of(in->event.mapped == FACT_NO));

	if (alias == FACT_NO || rule_in_release(KVER(6, 19, 0), in->machine->release))
		return refuses_where(true, alias);
	return RULE_UNKNOWN;
}

/* AUX areas and memory ------------------------------------------------------------------ */

/* Return aux_offset or aux_size of the first page, if it was captured. */
static bool page_aux(const struct refusal_facts *in, bool size, uint64_t *v)
{
	size_t len;
	const struct field *f = &layout_perf_event_mmap_page.fields[PERF_EVENT_MMAP_PAGE_AUX_OFFSET];
	const uint8_t *p = call_bytes(in->call, AT_SYSCALL_ENTER, in->event.at + f->offset,
				      PAGE_AUX_BYTES, &len);

	if (!in->event.at || !p || len < PAGE_AUX_BYTES)
		return false;
	*v = load_uint(p + (size ? 8 : 0), 8);
	return true;
}

/* Return whether the call maps an AUX area beside a ring buffer. */
static bool maps_aux(const struct refusal_facts *in)
{
	return !maps_ring(in) && in->event.ring != FACT_NO;
}

REFUSES(mmap_aux_first, maps_ring(in) ? RULE_PASSES : refuses_unless(in->event.ring))

int refusal_mmap_aux_offset(const struct refusal_facts *in)
{
	uint64_t is;

	if (!maps_aux(in))
		return RULE_PASSES;
	if (!page_aux(in, false, &is))
		return RULE_UNKNOWN;
	return refuses_if(is != map_offset(in) ||
			  is < (in->event.pages + 1) * in->machine->page_size);
}

int refusal_mmap_aux_size(const struct refusal_facts *in)
{
	uint64_t is;

	if (!maps_aux(in))
		return RULE_PASSES;
	if (!page_aux(in, true, &is))
		return RULE_UNKNOWN;
	return refuses_if(is != refusal_map_pages(in) * in->machine->page_size);
}

REFUSES(mmap_aux_again,
	refuses_if(maps_aux(in) && in->event.aux_length &&
		   (in->event.aux_offset != map_offset(in) ||
		    in->event.aux_length != refusal_map_pages(in) * in->machine->page_size)))
REFUSES(mmap_aux_pages, refuses_if(maps_aux(in) && !power_of_2(refusal_map_pages(in))))

int refusal_mmap_memlock(const struct refusal_facts *in)
{
	const struct rule_memory *m = &in->memory;
	uint64_t want = refusal_map_pages(in) * in->machine->page_size, room;
	enum fact lacks = rule_caps_lack(in->machine, ABI_CAP_IPC_LOCK, ABI_CAP_IPC_LOCK);

	/* one more mapping of the same memory is not counted */
	if (maps_ring(in) ? in->event.ring == FACT_YES : in->event.aux_length)
		return RULE_PASSES;
	if (lacks == FACT_NO ||
	    (!(in->machine->unread & UNREAD_PARANOID) && in->machine->paranoid < 0))
		return RULE_PASSES;
	if (m->known != FACT_YES)
		return RULE_UNKNOWN;
	room = m->limit > m->pinned ? m->limit - m->pinned : 0;
	if (want <= room)
		return RULE_PASSES;
	/* nobody tells what the user's other processes have of the first part */
	return lacks == FACT_YES && want > room + m->free &&
	       !(in->machine->unread & UNREAD_PARANOID) ? RULE_REFUSES : RULE_UNKNOWN;
}

int refusal_mmap_aux_none(const struct refusal_facts *in)
{
	const struct rule_pmu *p;

	if (maps_ring(in) || in->event.aux_length)
		return RULE_PASSES;
	if (!in->event.attr)
		return RULE_UNKNOWN;
	p = rules_pmu(in->machine, in->event.attr, in->event.len);
	/* no fully described PMU writes AUX data */
	return p && p->desc && !(p->desc->traits & PMU_TRAIT_OWN_CHECKS) ? RULE_REFUSES :
	       RULE_UNKNOWN;
}

/* munmap, mprotect, mremap -------------------------------------------------------------- */

enum { OLD_ADDR, OLD_LEN, NEW_LEN, REMAP_FLAGS, NEW_ADDR };

REFUSES(munmap_align, refuses_if(unaligned(in, map_word(in, ADDR)) || !map_word(in, LENGTH)))
REFUSES(munmap_part, since_6_17(in, in->splits))

REFUSES(mprotect_align,
	refuses_if(unaligned(in, map_word(in, ADDR)) ||
		   in->call->args[PROT] & (ABI_PROT_GROWSDOWN | ABI_PROT_GROWSUP)))
REFUSES(mprotect_range,
	in->covered >= refusal_map_pages(in) * in->machine->page_size ? RULE_PASSES : RULE_UNKNOWN)
REFUSES(mprotect_exec, refuses_if(in->call->args[PROT] & ABI_PROT_EXEC))

/* The same protection again changes nothing, and passes. */
int refusal_mprotect_part(const struct refusal_facts *in)
{
	int says = since_6_17(in, in->splits);

	return says == RULE_REFUSES ? RULE_UNKNOWN : says;
}

static uint64_t remap_pages(const struct refusal_facts *in, unsigned int i)
{
	uint64_t page = in->machine->page_size, len = map_word(in, i);

	return len / page + !!(len % page);
}

int refusal_mremap_flags(const struct refusal_facts *in)
{
	uint64_t flags = in->call->args[REMAP_FLAGS], page = in->machine->page_size;
	uint64_t known = ABI_MREMAP_MAYMOVE | ABI_MREMAP_FIXED | ABI_MREMAP_DONTUNMAP;
	uint64_t old = remap_pages(in, OLD_LEN) * page, new = remap_pages(in, NEW_LEN) * page;
	uint64_t from = map_word(in, OLD_ADDR), to = map_word(in, NEW_ADDR);
	bool moves = flags & ABI_MREMAP_FIXED;

	return refuses_if(flags & ~known || unaligned(in, from) || !new ||
			  (flags & ~(uint64_t)ABI_MREMAP_MAYMOVE &&
			   !(flags & ABI_MREMAP_MAYMOVE)) ||
			  (flags & ABI_MREMAP_DONTUNMAP && old != new) ||
			  (moves && (unaligned(in, to) || (from < to + new && to < from + old))));
}

/* What stays is unmapped or moved in parts. */
int refusal_mremap_part(const struct refusal_facts *in)
{
	uint64_t old = remap_pages(in, OLD_LEN), new = remap_pages(in, NEW_LEN);
	bool moves = in->call->args[REMAP_FLAGS] & (ABI_MREMAP_FIXED | ABI_MREMAP_DONTUNMAP);

	if (old <= new && (!moves || old < new))
		return RULE_PASSES;
	return since_6_17(in, old > new && in->covers == FACT_YES ? FACT_YES : in->splits);
}

REFUSES(mremap_grow,
	refuses_where(remap_pages(in, NEW_LEN) > remap_pages(in, OLD_LEN) ||
		      remap_pages(in, OLD_LEN) * in->machine->page_size > in->covered, in->covers))
REFUSES(mremap_keep,
	refuses_where(in->call->args[REMAP_FLAGS] & ABI_MREMAP_DONTUNMAP, in->covers))

/* Numbers ------------------------------------------------------------------------------- */

static unsigned long long kib(uint64_t bytes)
{
	return (unsigned long long)(bytes / 1024);
}

void refusal_numbers_pages(const struct refusal_facts *in, struct buf *out)
{
	uint64_t pages = refusal_map_pages(in), n = 1;

	while (n < pages / 2)
		n *= 2;
	if (n + 1 > pages)
		n /= 2;
	buf_addf(out, "%llu pages; %llu (1+%llu) or %llu (1+%llu) would do", (unsigned long long)pages,
		 (unsigned long long)(n + 1), (unsigned long long)n,
		 (unsigned long long)(2 * n + 1), (unsigned long long)(2 * n));
}

void refusal_numbers_memlock(const struct refusal_facts *in, struct buf *out)
{
	const struct rule_memory *m = &in->memory;

	buf_addf(out, "%llu KiB requested", kib(refusal_map_pages(in) * in->machine->page_size));
	if (m->known == FACT_YES) {
		buf_addf(out, ", %llu KiB for all rings of the user", kib(m->free));
		if (m->limit != UINT64_MAX)
			buf_addf(out, " and %llu KiB more for the process", kib(m->limit));
		if (m->pinned)
			buf_addf(out, ", which has %llu KiB of that", kib(m->pinned));
	}
	if (m->rings)
		buf_addf(out, "; %u ring buffer%s of the traced processes hold%s %llu KiB, the largest "
			 "that of %s", m->rings, m->rings == 1 ? "" : "s", m->rings == 1 ? "s" : "",
			 kib(m->held), m->holder);
}

void refusal_numbers_aux(const struct refusal_facts *in, bool size, struct buf *out)
{
	uint64_t is;

	if (page_aux(in, size, &is))
		buf_addf(out, "%s is %llu", size ? "aux_size" : "aux_offset", (unsigned long long)is);
	if (!size && in->event.pages)
		buf_addf(out, "%sthe records end at %llu", out->len ? ", " : "",
			 (unsigned long long)((in->event.pages + 1) * in->machine->page_size));
}

bool refusal_repair_mmap(const struct refusal_facts *in, const struct refusal_desc *d,
			 uint64_t args[CALL_MAX_ARGS], int32_t *cpu)
{
	uint64_t page = in->machine->page_size, pages = args[LENGTH] / page, n = 1;

	switch (d->id) {
	case REFUSAL_MMAP_PAGES:
		while (n + 1 < pages && n < UINT32_MAX)
			n *= 2;
		args[LENGTH] = (n + 1) * page;
		return true;
	case REFUSAL_MMAP_MEMLOCK:
		args[LENGTH] = (pages / 2 + 1) * page;
		return pages > 2;
	case REFUSAL_MMAP_SIZE:
		args[LENGTH] = (in->event.pages + 1) * page;
		return true;
	case REFUSAL_MMAP_KIND:
	case REFUSAL_MMAP_PRIVATE:
		args[FLAGS] = (args[FLAGS] & ~(uint64_t)MAP_TYPE) | ABI_MAP_SHARED;
		return true;
	case REFUSAL_MMAP_EXEC:
		args[PROT] &= ~(uint64_t)ABI_PROT_EXEC;
		return true;
	case REFUSAL_MMAP_HUGE:
	case REFUSAL_MMAP_GROWS:
		args[FLAGS] &= ~(uint64_t)(ABI_MAP_HUGETLB | ABI_MAP_GROWSDOWN);
		return true;
	case REFUSAL_MMAP_INHERIT:
		*cpu = 0;
		return true;
	default:
		return false;
	}
}
