// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What might be changed of any open so that it succeeds, and what older kernels say of it: a byte for
 * the release, one for the processor and one for facts, the arguments, the attrs of the leader and of
 * the event.  A change changes the call, and its bytes alone.
 */
#include "../unit/rules_world.h"

#include "../unit/fake.h"
#include "core/abi/as_kernel.h"
#include "core/abi/change.h"
#include "fuzz.h"

const unsigned long fuzz_inputs = 2000;

static const uint32_t releases[] = {
	0, KVER(2, 6, 32), KVER(2, 6, 36), KVER(3, 3, 0), KVER(3, 12, 0), KVER(4, 1, 0), KVER(4, 12, 0),
	KVER(4, 17, 0), KVER(5, 3, 0), KVER(5, 10, 0), KVER(5, 15, 0), KVER(6, 1, 0), KVER(6, 12, 50),
	KVER(6, 15, 0), KVER(6, 18, 0), KVER(7, 3, 0),
};

static void show_change(const struct change *c)
{
	if (fuzz_shows())
		printf("%s=%s how %d, distance %u\n", change_name(c), c->string ? c->string : "", c->how,
		       c->distance);
	if (fuzz_shows() && !c->string)
		printf("%#llx\n", (unsigned long long)c->value);
}

static const struct change_stock stock = { "/usr/bin/true", 77 };

static void show_call(struct change_call *call)
{
	const struct rule_ask *a = &call->ask;

	if (!fuzz_shows())
		return;
	/* the address of the path differs in each run */
	if (layout_get(&layout_perf_event_attr, ATTR_UPROBE_PATH, call->attr, a->len) ==
	    (uintptr_t)stock.path)
		field_set(&layout_perf_event_attr.fields[ATTR_UPROBE_PATH], 0x5157, call->attr);
	printf("pid %d, cpu %d, group_fd %d, flags %#llx, len %zu:", a->pid, a->cpu, a->group_fd,
	       (unsigned long long)a->flags, a->len);
	for (size_t i = 0; a->attr && i < a->len && i < 144; i++)
		printf("%s%02x", i % 8 ? "" : " ", a->attr[i]);
	printf("\n");
}

/* Make each change alone, then some together. */
static void make_changes(const struct rule_ask *ask, const struct change_list *l)
{
	static struct change_call call, untouched;
	const struct change *pair[2];

	change_make(&untouched, ask, NULL, 0);
	show_call(&untouched);
	for (size_t i = 0; i < l->n; i++) {
		show_change(&l->list[i]);
		pair[0] = &l->list[i];
		change_make(&call, ask, pair, 1);
		show_call(&call);
		pair[1] = &l->list[(i * 7 + 3) % l->n];
		if (change_same_place(pair[0], pair[1]))
			continue;
		change_make(&call, ask, pair, 2);
		show_call(&call);
	}
}

static void show_need(void *ctx, const struct open_need *need)
{
	(void)ctx;
	if (fuzz_shows())
		printf("%s since %#x\n", need->name, need->since);
}

static void show_refusal(const char *who, const struct as_refusal *r)
{
	if (fuzz_shows())
		printf("%s: error %d, size %u%s, %s\n", who, r->error, r->attr_size,
		       r->lacks ? ", lacks" : "", r->because);
}

static void ask_kernels(const struct rule_ask *ask)
{
	struct call c = { .desc = call_by_name("perf_event_open"), .arch = ask->facts->machine.arch };
	struct as_refusal r;
	uint32_t oldest;

	c.args[1] = (uint64_t)(int64_t)ask->pid;
	c.args[2] = (uint64_t)(int64_t)ask->cpu;
	c.args[3] = (uint64_t)(int64_t)ask->group_fd;
	c.args[4] = ask->flags;
	open_need_each(ask->attr, ask->len, ask->flags, show_need, NULL);
	for (size_t i = 1; i < COUNT(releases); i += 2) {
		struct as_kernel k;

		as_kernel_init(&k, releases[i], &ask->facts->machine);
		r = as_kernel_refuses(&k, &c, ask->attr, ask->len, &ask->facts->target);
		show_refusal("perf_event_open", &r);
		c.desc = call_by_name("ioctl");
		c.args[1] = ioctl_descs[ask->len % ioctl_ndescs].request;
		r = as_kernel_refuses(&k, &c, ask->attr, ask->len, &ask->facts->target);
		show_refusal("ioctl", &r);
		c.desc = call_by_name("perf_event_open");
		c.args[1] = (uint64_t)(int64_t)ask->pid;
		as_kernel_free(&k);
	}
	oldest = as_kernel_oldest(ask, &r);
	if (fuzz_shows())
		printf("oldest %#x\n", oldest);
	show_refusal("older", &r);
}

static void take_world(const uint8_t **data, size_t *len, struct world *w, uint8_t *leader)
{
	static const uint64_t configs[] = { 0, 2, 9 };
	uint8_t which[3], small[4];

	make(w);
	fuzz_take(data, len, which, sizeof(which));
	w->facts.machine.release = releases[which[0] % COUNT(releases)];
	w->facts.machine.arch = which[1] & 1 ? &arch_x86_64 : arches[which[1] / 2 % 9];
	w->facts.machine.attr_size = which[2] & 1 ? 128 : 0;
	w->facts.machine.paranoid = which[2] / 2 % 4 - 1;
	w->facts.machine.npmus -= which[2] / 8 % 2;
	if (which[2] & 16)
		add_pmu(w, 4, "cpu");
	if (which[2] & 32)
		w->pmus[5].configs = configs, w->pmus[5].nconfigs = COUNT(configs);
	fuzz_take(data, len, small, sizeof(small));
	w->ask.pid = (int8_t)small[0];
	w->ask.cpu = (int8_t)small[1];
	w->ask.group_fd = (int8_t)small[2];
	w->ask.flags = small[3];
	fuzz_take(data, len, leader, 136);
	w->facts.target.group.attr = which[2] & 64 ? leader : NULL;
	w->facts.target.group.cpu = which[2] & 128 ? 1 : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct change_stock none = { NULL, 0 };
	static uint8_t leader[136];
	struct change_list l;
	struct world w;

	take_world(&data, &len, &w, leader);
	w.ask.attr = len ? data : NULL;
	w.ask.len = len < CHANGE_ATTR_MAX + 8 ? len : CHANGE_ATTR_MAX + 8;
	change_list(&w.ask, &fake_names, w.ask.flags & 1 ? &none : &stock, &l);
	make_changes(&w.ask, &l);
	change_list_free(&l);
	if (w.ask.attr)
		ask_kernels(&w.ask);
	return 0;
}
