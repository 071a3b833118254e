// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The kernel's checks of calls on events and their rings, on any call, event and machine: each byte selects
 * one of the values at which something ends.  The result is one of the checks, and the same again.
 */
#include "../unit/rules_world.h"

#include "../unit/fake.h"
#include "core/abi/call_decode.h"
#include "core/abi/ioctl.h"
#include "core/abi/refusals.h"
#include "fuzz.h"

enum { AT = 0x10000, PAGE = 4096 };

static uint8_t next(const uint8_t **data, size_t *len)
{
	uint8_t v;

	fuzz_take(data, len, &v, 1);
	return v;
}

#define PICK(list) ((list)[next(data, len) % COUNT(list)])

static enum fact take_fact(const uint8_t **data, size_t *len)
{
	return (enum fact)(next(data, len) % 3);
}

static uint64_t take_size(const uint8_t **data, size_t *len)
{
	static const uint64_t sizes[] = {
		0, 1, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE, 3 * PAGE, 4 * PAGE, 5 * PAGE, 8 * PAGE, 9 * PAGE,
		9 * PAGE + 1, 17 * PAGE, 129 * PAGE, 1ULL << 20, 1ULL << 40, UINT64_MAX - PAGE,
		UINT64_MAX - PAGE + 1, UINT64_MAX, 1ULL << 63,
	};

	return PICK(sizes);
}

static uint64_t take_address(const uint8_t **data, size_t *len)
{
	static const uint64_t addresses[] = {
		0, 65535, 65536, 61440, AT, AT + 1, AT + PAGE, AT - PAGE, AT + 8 * PAGE, (1ULL << 47) - PAGE,
		(1ULL << 47) - 2 * PAGE, (1ULL << 47) - 10 * PAGE, 1ULL << 47, UINT64_MAX - PAGE + 1,
	};

	return PICK(addresses);
}

static void take_attr(const uint8_t **data, size_t *len, uint8_t *attr, struct used_event *e)
{
	static const struct {
		unsigned int index;
		uint64_t v;
	} members[] = {
		{ ATTR_CONFIG, 1 }, { ATTR_CONFIG, 0 }, { ATTR_SAMPLE_PERIOD, 1000 },
		{ ATTR_SAMPLE_PERIOD, 99 }, { ATTR_FREQ, 1 }, { ATTR_INHERIT, 1 },
		{ ATTR_WRITE_BACKWARD, 1 }, { ATTR_USE_CLOCKID, 1 }, { ATTR_CLOCKID, 1 },
		{ ATTR_BP_TYPE, 2 }, { ATTR_BP_LEN, 4 }, { ATTR_BP_ADDR, AT }, { ATTR_DISABLED, 1 },
		{ ATTR_EXCLUDE_KERNEL, 1 }, { ATTR_SAMPLE_TYPE, 7 }, { ATTR_READ_FORMAT, 15 },
		{ ATTR_READ_FORMAT, 8 }, { ATTR_READ_FORMAT, 31 },
	};
	static const uint32_t types[] = { 1, 1, 2, 5, 8, 4, 77, 0, 9 };
	uint32_t set;

	memset(attr, 0, 136);
	field_set(&layout_perf_event_attr.fields[ATTR_SIZE], 136, attr);
	field_set(&layout_perf_event_attr.fields[ATTR_TYPE], PICK(types), attr);
	fuzz_take(data, len, &set, 4);
	for (size_t i = 0; i < COUNT(members); i++)
		if (set >> i & 1)
			field_set(&layout_perf_event_attr.fields[members[i].index], members[i].v, attr);
	e->attr = set >> 31 ? NULL : attr;
	e->len = e->attr ? 136 : 0;
}

static void take_event(const uint8_t **data, size_t *len, uint8_t *attr, struct used_event *e)
{
	static const uint64_t counts[] = { 0, 1, 8, 128, 682, 680, 2045 };

	take_attr(data, len, attr, e);
	e->event = take_fact(data, len);
	e->cpu = next(data, len) % 3 - 1;
	e->mapped = take_fact(data, len);
	e->redirected = take_fact(data, len);
	e->ring = take_fact(data, len);
	e->pages = PICK(counts);
	e->aux_length = next(data, len) % 4 ? 0 : 4 * PAGE;
	e->siblings = PICK(counts);
	e->filter = take_fact(data, len);
	e->program = take_fact(data, len);
}

static void take_machine(const uint8_t **data, size_t *len, struct rule_machine *m)
{
	static const uint32_t releases[] = {
		0, KVER(6, 18, 0), KVER(6, 16, 0), KVER(6, 16, 1), KVER(6, 17, 0), KVER(6, 19, 0),
		KVER(6, 1, 148), KVER(6, 1, 147), KVER(5, 10, 241), KVER(5, 4, 0), KVER(4, 4, 0),
		KVER(3, 2, 0), KVER(7, 3, 0), KVER(6, 12, 0), KVER(4, 17, 0), KVER(2, 6, 36),
	};
	static const uint64_t caps[] = { 0, 1ULL << ABI_CAP_IPC_LOCK, ~0ULL, 1ULL << ABI_CAP_PERFMON };

	m->release = PICK(releases);
	m->caps = PICK(caps);
	m->caps_unread = next(data, len) % 4 ? 0 : ~m->caps;
	m->unread = next(data, len) % 4 ? 0 : UNREAD_PARANOID | UNREAD_SAMPLE_RATE;
	m->paranoid = next(data, len) % 4 - 1;
	m->max_sample_rate = 1000;
	m->security = take_fact(data, len);
	m->user_end = next(data, len) % 4 ? (1ULL << 47) - PAGE : 0;
}

/* Select the call and its arguments. */
static void take_call(const uint8_t **data, size_t *len, struct call *c)
{
	static const char *const names[] = { "mmap", "mmap", "ioctl", "ioctl", "munmap", "mprotect",
					     "mremap", "read", "mmap2", "epoll_ctl", "fcntl" };
	static const uint64_t small[] = { 0, 1, 2, 3, 4, 5, 7, 8, 0x10, 0x22, 0x100000, 0x40000, 0x11, 15,
					  0x1000000, 0x2001, 0x12, 0x102, AT, AT + 1, UINT64_MAX, 16 };

	c->desc = call_by_name(PICK(names));
	for (unsigned int i = 0; i < 6; i++)
		c->args[i] = PICK(small);
	if (c->desc->id == CALL_IOCTL) {
		c->args[1] = ioctl_descs[next(data, len) % ioctl_ndescs].request;
		c->args[1] += !(next(data, len) % 16);
	} else if (c->desc->id == CALL_READ) {
		c->args[2] = take_size(data, len);
	} else {
		c->args[0] = take_address(data, len);
		c->args[1] = take_size(data, len);
		c->args[5] = next(data, len) % 2 ? take_size(data, len) : 0;
	}
	if (c->desc->id == CALL_MREMAP) {
		c->args[2] = take_size(data, len);
		c->args[4] = take_address(data, len);
	}
	c->returned = c->failed = true;
}

static void take_facts(const uint8_t **data, size_t *len, struct refusal_facts *f)
{
	static const int types[] = { 0, 1, 2, 5, 7 };

	f->same_event = take_fact(data, len);
	f->same_task = take_fact(data, len);
	f->splits = take_fact(data, len);
	f->covers = take_fact(data, len);
	f->covered = take_size(data, len);
	f->memory.known = take_fact(data, len);
	f->memory.free = take_size(data, len);
	f->memory.limit = take_size(data, len);
	f->memory.pinned = take_size(data, len);
	f->memory.rings = next(data, len) % 3;
	f->memory.held = 5 * PAGE;
	f->memory.holder = "cpu-clock";
	f->program = take_fact(data, len);
	f->program_type = (uint32_t)PICK(types);
	f->watched = take_fact(data, len);
}

static void show(const struct refusal_facts *f, const struct refusal_verdict *v)
{
	static const int errors[] = { EINVAL, EPERM, EACCES, EBUSY, ENOMEM, EFAULT, ENOSPC, EEXIST, EBADF };
	struct buf text = { 0 };

	for (int i = 0; i < REFUSAL_COUNT; i++) {
		if (fuzz_shows() && v->says[i])
			printf("%s %d ", refusal_descs[i].name, v->says[i]);
		buf_reset(&text);
		refusal_numbers(f, &refusal_descs[i], &text);
		fuzz_check_text(&text);
		if (fuzz_shows() && text.len)
			printf("(%s) ", buf_str(&text));
	}
	for (size_t i = 0; i < COUNT(errors); i++) {
		const struct refusal_desc *d;
		bool sure;

		d = refusals_cause(v, errors[i], &sure);
		if (fuzz_shows())
			printf("\n%d: %s %d", errors[i], d ? d->name : "-", d && sure);
	}
	if (fuzz_shows())
		printf("\nprogram type %u, read of %llu bytes\n", refusal_program_wanted(f),
		       (unsigned long long)refusal_read_required(f));
	buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct refusal_verdict v, again;
	static uint8_t attrs[2][136];
	struct call c = { .arch = arch_native() };
	struct refusal_facts f = { .call = &c };
	struct fake_mem m;
	struct world w;

	make(&w);
	add_pmu(&w, 4, "cpu");
	add_pmu(&w, 9, "kprobe");
	take_machine(&data, &len, &w.facts.machine);
	f.machine = &w.facts.machine;
	take_call(&data, &len, &c);
	take_event(&data, &len, attrs[0], &f.event);
	take_event(&data, &len, attrs[1], &f.other);
	take_facts(&data, &len, &f);
	/* what is left is the memory */
	m = fake_mem(AT, data, len);
	call_capture(&c, AT_SYSCALL_ENTER, &m.mem, &fake_names);
	refusals_judge(&f, &v);
	refusals_judge(&f, &again);
	if (v.refusal != again.refusal)
		fuzz_wrong("judged differently", v.refusal ? v.refusal->name : "succeeds");
	show(&f, &v);
	call_free(&c);
	return 0;
}
