// SPDX-License-Identifier: LGPL-2.1-or-later
/* The state of this machine that decides a rule, in words. */
#include <string.h>
#include <sys/resource.h>

#include "core/abi/layout.h"
#include "verbs/judge/judge_show.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

static void here_caps(const struct show *s, struct buf *out)
{
	static const struct {
		const char *name;
		unsigned int bit;
	} caps[] = {
		{ "CAP_PERFMON", ABI_CAP_PERFMON }, { "CAP_SYS_ADMIN", ABI_CAP_SYS_ADMIN },
		{ "CAP_KILL", ABI_CAP_KILL }, /* matters for a signal only */
	};
	bool signals = layout_get(&layout_perf_event_attr, ATTR_SIGTRAP, s->c->attr, s->c->len);

	const struct rule_machine *m = &s->facts->rules.machine;

	for (size_t i = 0; i < sizeof(caps) / sizeof(*caps) - !signals; i++)
		buf_addf(out, "%s%s%s", i ? ", " : "",
			 (m->caps | m->caps_unread) >> caps[i].bit & 1 ? "" : "no ",
			 caps[i].name);
	if (m->caps_unread)
		buf_adds(out, ", which count only in the first user namespace; whether this is "
			      "it cannot be read");
}

static void here_sysctl(const char *name, bool unread, int64_t value, struct buf *out)
{
	if (unread)
		buf_addf(out, "%s cannot be read", name);
	else
		buf_addf(out, "%s is %lld", name, (long long)value);
}

static void here_pmus(const struct show *s, struct buf *out)
{
	const struct rule_machine *m = &s->facts->rules.machine;

	if (m->pmus_known != FACT_YES) {
		buf_adds(out, "the PMUs cannot be read from sysfs");
		return;
	}
	buf_adds(out, "PMUs are");
	for (size_t i = 0; i < m->npmus; i++)
		buf_addf(out, "%s %s (%u)", i ? "," : "", m->pmus[i].name, m->pmus[i].type);
}

static void here_task(const struct show *s, struct buf *out)
{
	const struct rule_task *t = &s->facts->rules.target.task;

	buf_adds(out, t->exists == FACT_NO ? "no such task" :
		      t->living == FACT_NO ? "the task has ended" :
		      t->readable == FACT_NO ? "this user may not read the task" :
		      t->attachable == FACT_NO ? "this user may not trace the task" :
		      t->readable == FACT_UNKNOWN ? "nothing is known about the task" :
						    "this user may read the task");
}

static void here_slots(const struct show *s, struct buf *out)
{
	enum fact f = s->facts->rules.target.breakpoint;

	buf_adds(out, f == FACT_YES ? "a breakpoint is free" :
		      f == FACT_NO ? "no breakpoint is free" :
				     "unknown whether a breakpoint is free");
	if (f == FACT_NO && s->c->before.n)
		buf_addf(out, ", with the %zu events before it in the list open", s->c->before.n);
}

bool show_here(const struct show *s, uint64_t by, struct buf *out)
{
	const struct rule_machine *m = &s->facts->rules.machine;
	const struct rule_target *t = &s->facts->rules.target;
	struct rlimit limit = { 0, 0 };

	switch (by) {
	case RULE_BY_ARCH:
		buf_addf(out, "the kernel's architecture is %s", m->arch->name);
		break;
	case RULE_BY_KERNEL:
		buf_addf(out, "the kernel is %s", s->facts->release);
		break;
	case RULE_BY_PARANOID:
		here_sysctl("perf_event_paranoid", m->unread & UNREAD_PARANOID, m->paranoid, out);
		break;
	case RULE_BY_CAPS:
		here_caps(s, out);
		break;
	case RULE_BY_LIMITS:
		here_sysctl("perf_event_max_sample_rate", m->unread & UNREAD_SAMPLE_RATE,
			    (int64_t)m->max_sample_rate, out);
		buf_adds(out, ", ");
		here_sysctl("perf_event_max_stack", m->unread & UNREAD_STACK,
			    (int64_t)m->max_stack, out);
		break;
	case RULE_BY_RLIMIT:
		getrlimit(RLIMIT_NOFILE, &limit);
		buf_addf(out, "RLIMIT_NOFILE is %llu", (unsigned long long)limit.rlim_cur);
		break;
	case RULE_BY_PMU:
		here_pmus(s, out);
		break;
	case RULE_BY_TRACEPOINT:
		if (t->tracepoint_name)
			buf_addf(out, "the tracepoint is %s", t->tracepoint_name);
		else
			buf_adds(out, t->tracepoint == FACT_NO ? "no tracepoint has that id" :
				      "tracefs cannot be read");
		break;
	case RULE_BY_CPU:
		if (m->unread & UNREAD_CPUS)
			buf_adds(out, "the numbers of CPUs cannot be read from sysfs");
		else
			buf_addf(out, "CPUs have numbers up to %u", m->cpus - 1);
		break;
	case RULE_BY_SLOTS:
		here_slots(s, out);
		break;
	case RULE_BY_TASK:
		here_task(s, out);
		break;
	case RULE_BY_FILE:
		if (t->path.error)
			buf_addf(out, "cannot open the file: %s", strerror(t->path.error));
		else
			buf_addf(out, "the file has %llu bytes",
				 (unsigned long long)t->path.size);
		break;
	default:
		return false;
	}
	return true;
}
