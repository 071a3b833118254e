// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The kernel's checks on any call and machine, and how a task's end and a
 * signal are shown: facts, the attr of a group leader and the attr.  The result is one of the rules, and the
 * same when the call is judged again.
 */
#include "core/abi/rules.h"
#include "core/abi/siginfo.h"
#include "fuzz.h"

enum { PMUS = 12 };

/* Bring n facts into the range of their type. */
static void limit_facts(enum fact *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		from[i] = (unsigned int)from[i] % 3;
}

static void take_machine(const uint8_t **data, size_t *len, struct rule_machine *m,
			 struct rule_pmu *pmus)
{
	static const uint64_t configs[] = { 0, 3 };
	const struct pmu_desc *d = pmu_descs;

	fuzz_take(data, len, m, sizeof(*m));
	m->arch = arch_native();
	m->page_size = 4096u << (m->page_size % 5);
	m->cpus %= 8192;
	limit_facts(&m->cgroups, 6);
	m->release = m->release & 1 ? 0 : KVER(m->release >> 16 & 7, m->release >> 8 & 31, 0);
	m->npmus %= PMUS + 1;
	m->pmus = pmus;
	for (size_t i = 0; i < PMUS; i++) {
		pmus[i] = (struct rule_pmu){
			.type = (uint32_t)i, .name = d->name ? d->name : "cpu", .configs = configs,
			.nconfigs = i % 3, .desc = d->name ? d : NULL,
		};
		d += !!d->name; /* the last has none */
	}
}

static void take_target(const uint8_t **data, size_t *len, struct rule_target *t,
			uint8_t *leader)
{
	fuzz_take(data, len, t, sizeof(*t));
	limit_facts(&t->descriptor, 6);
	t->tracepoint_name = t->tracepoint == FACT_YES ? "ftrace:function" : NULL;
	limit_facts(&t->task.exists, 5);
	limit_facts(&t->group.event, 6);
	limit_facts(&t->path.readable, 1);
	limit_facts(&t->path.regular, 2);
	t->path.empty = t->path.size & 1;
	t->path.too_long = t->path.size & 2;
	t->path.error = t->path.error % 200;
	t->path.error = t->path.error < 0 ? 0 : t->path.error;
	t->group.len %= 129;
	fuzz_take(data, len, leader, 128);
	t->group.attr = t->group.siblings & 1 ? leader + 128 - t->group.len : NULL;
}

static void judge(const struct rule_ask *ask)
{
	static struct rule_verdict v, again;

	rules_judge(ask, &v);
	memset(&again, 0, sizeof(again));
	rules_judge(ask, &again);
	if (v.rule != again.rule || v.error != again.error)
		fuzz_wrong("judged differently", v.rule ? v.rule->name : "opens");
	if (v.rule && v.error <= 0)
		fuzz_wrong("refuses without an error", v.rule->name);
	for (int i = 0; i < RULE_COUNT; i++)
		rules_error(&v, (enum rule_id)i);
	for (int error = 1; error < 200; error++)
		rules_explain(&v, error);
}

static void emit_siginfo(void *ctx, struct sink *s)
{
	siginfo_emit(ctx, s);
}

static void show_end(const uint8_t *data, size_t len)
{
	static struct buf out;
	siginfo_t info;
	char text[64];
	int64_t error;
	int status;

	fuzz_take(&data, &len, &info, sizeof(info));
	info.si_signo %= 70;
	fuzz_sinks(emit_siginfo, &info);
	fuzz_take(&data, &len, &status, sizeof(status));
	status_text(status, text, sizeof(text));
	fuzz_take(&data, &len, &error, sizeof(error));
	buf_reset(&out);
	error_text(error, &out);
	fuzz_check_text(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct rule_facts facts;
	static struct rule_pmu pmus[PMUS];
	static uint8_t leader[128];
	struct rule_ask ask = { .facts = &facts };
	int32_t task[3];

	show_end(data, len);
	fuzz_take(&data, &len, task, sizeof(task));
	ask.pid = task[0];
	ask.cpu = task[1];
	ask.group_fd = task[2];
	ask.flags = fuzz_word(&data, &len);
	take_machine(&data, &len, &facts.machine, pmus);
	take_target(&data, &len, &facts.target, leader);
	ask.attr = len ? data : NULL;
	ask.len = len;
	judge(&ask);
	return 0;
}
