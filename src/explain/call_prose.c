// SPDX-License-Identifier: LGPL-2.1-or-later
#include "explain/call_prose.h"

#include <string.h>

#include "core/abi/attr_text.h"
#include "core/abi/rules.h"
#include "core/abi/strings.h"
#include "explain/attr_items.h"
#include "explain/attr_prose.h"
#include "explain/attr_trigger.h"
#include "xlat/constants.h"
#include "xlat/tables.h"

static void call_measures(const struct call *c, struct prose *p)
{
	int32_t pid = call_target(c), cpu = call_int(c, 2), group = call_int(c, 3);

	prose_item(p);
	prose_addf(p, "pid=%d, cpu=%d, group_fd=%d: measures ", pid, cpu, group);
	if (c->args[4] & PERF_FLAG_PID_CGROUP)
		prose_addf(p, "the tasks of the cgroup of fd %d", pid);
	else if (pid < 0)
		prose_adds(p, "every task");
	else if (!pid)
		prose_adds(p, "the calling task");
	else
		prose_addf(p, "task %d", pid);
	if (cpu >= 0)
		prose_addf(p, " on CPU %d", cpu);
	else
		prose_adds(p, " on any CPU");
	if (group >= 0)
		prose_addf(p, ", in the group of fd %d", group);
	prose_adds(p, ".");
}

static void call_result(const struct call_prose *c, struct prose *p)
{
	const struct xlat_entry *e = xlat_find(&xlat_perf_open_errno, (uint64_t)c->error);

	if (!c->returned)
		return;
	prose_para(p);
	if (c->error)
		prose_addf(p, "The call failed: %s.", error_meaning(c->error));
	else
		prose_adds(p, "The call succeeded.");
	if (c->injected)
		prose_adds(p, " pevtrace injected this result: the kernel did not see the call.");
	if (c->injected || !c->error)
		return;
	if (e)
		prose_addf(p, " %s: %s.", e->name, e->meaning);
	prose_adds(p, " pevtrace why finds the cause.");
}

static void call_refusal(const struct call_prose *c, struct prose *p)
{
	if (!c->refused_by)
		return;
	prose_para(p);
	prose_addf(p, "This kernel would refuse it with %s (%s)", error_name(c->error),
		   error_meaning(c->error));
	if (c->assumed)
		rules_assumption_text(&p->text);
	prose_addf(p, ", by rule %s: %s. pevtrace why", c->refused_by->name,
		   c->refused_by->meaning);
	if (c->events) {
		prose_adds(p, " -e '");
		prose_name(p, c->events);
		prose_adds(p, "'");
	} else {
		prose_adds(p, ", given this attr,");
	}
	prose_adds(p, " finds what would open.");
}

static void call_attr(const struct call_prose *c, const struct open_attr *a, bool deep,
		      struct prose *p)
{
	struct attr_trigger trigger = attr_trigger_of(a);

	if (*c->label) {
		prose_name(p, c->label);
		prose_adds(p, ": ");
	}
	prose_adds(p, "perf_event_open asks for an event that ");
	prose_adds(p, open_attr_samples(a) ? "samples: " : "counts: ");
	attr_prose_what(a, p);
	prose_adds(p, ".");
	if (c->made)
		call_measures(c->call, p);
	attr_prose_event(a, p);
	attr_items_write(a, deep ? ITEM_DEEP : ITEM_FULL, p);
	if (open_attr_samples(a)) {
		prose_para(p);
		prose_adds(p, "When samples are taken: ");
		attr_trigger_write(&trigger, p);
	}
	prose_para(p);
	if (c->elided)
		prose_adds(p, "The text leaves members out (\"...\"). They are unknown: what is said "
			      "above covers only the members in the text, and what the call requires "
			      "cannot be told. strace -v and pevtrace leave nothing out.");
	else
		story_call_needs(a, c->call, p);
}

void call_prose_write(const struct call_prose *c, const struct story_options *o, struct prose *p)
{
	struct open_attr a = {
		.names = c->names, .arch = c->call->arch, .call = c->call,
		.pid = call_int(c->call, 1), .flags = c->call->args[4],
	};

	a.attr = call_bytes(c->call, AT_SYSCALL_ENTER, c->call->args[0], ATTR_TEXT_MAX,
			    &a.len);
	prose_para(p);
	if (!a.attr) {
		prose_adds(p, "The attr could not be read: EFAULT.");
		prose_end(p);
		return;
	}
	call_attr(c, &a, o->level == STORY_DEEP, p);
	if (c->made)
		call_result(c, p);
	else
		call_refusal(c, p);
	prose_end(p);
	if (o->kernel)
		story_call_steps(&a, p);
}
