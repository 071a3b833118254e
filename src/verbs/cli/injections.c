// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/cli/injections.h"

#include <errno.h>
#include <stdlib.h>

#include "core/abi/as_kernel.h"
#include "core/abi/strings.h"
#include "core/abi/when.h"
#include "core/host/facts.h"
#include "core/lib/die.h"
#include "engine/ptrace/regs.h"
#include "verbs/cli/select.h"
#include "xlat/constants.h"

/* Which of the calls that meet the condition: first, first + step, ... last. */
struct occasions {
	uint64_t first, last, step;	/* step 0: the first only */
};

struct injection {
	const char *name;		/* "-e inject" or "-e fault" */
	enum selected calls[CALL_COUNT];
	struct inject does;
	struct when *when;		/* NULL: always */
	struct occasions at;
	struct map seen;		/* call and tid -> how many, as a number, not a pointer */
};

struct injections {
	struct injection *list;
	size_t n;
	struct as_kernel old;		/* release 0: none */
	struct facts facts;		/* that it points into */
};

static struct injections *injection_made(struct injections **i)
{
	if (!regs_known(arch_native()))
		die("-e inject= and --as-kernel are not supported on this architecture");
	if (!*i)
		*i = xcalloc(1, sizeof(**i));
	return *i;
}

/* Reading ---------------------------------------------------------------------- */

static int64_t error_number(const char *word, const char *name)
{
	struct nearest near;
	uint64_t n;
	int error;

	if (scan_whole(word, SCAN_DECIMAL, 1, ERRNO_MAX, &n))
		return (int64_t)n;
	error = error_by_name(word, &near);
	if (error)
		return error;
	if (*near.best)
		die("unknown error '%s' in %s=%s", word, name, nearest_hint(&near));
	die("unknown error '%s' in %s=; use names such as EINVAL, or numbers from 1 to %d", word,
	    name, ERRNO_MAX);
}

/* Return the time in ns; without a unit it is in microseconds. */
static uint64_t duration(const char *word, const char *what, const char *name)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {
		{ "", 1e3 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "ns", 1 },
	};
	char *end;
	double n = strtod(word, &end);

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (end != word && !strcmp(end, units[i].unit) && n >= 0 && n * units[i].ns < 1e15)
			return n * units[i].ns < 1 ? 1 : (uint64_t)(n * units[i].ns); /* 0: no delay */
	die("%s in %s= requires a time such as 500, 20ms or 1.5s (without a unit: microseconds), "
	    "not '%s'", what, name, word);
}

/* Read FIRST, FIRST+, FIRST+STEP, FIRST..LAST or FIRST..LAST+STEP; return false on others. */
static bool read_occasions(const char *text, struct occasions *at)
{
	uint64_t first, last = UINT64_MAX, step = 0;

	if (!scan_number(&text, NULL, SCAN_DECIMAL, &first))
		return false;
	if (!strncmp(text, "..", 2)) {
		text += 2;
		if (!scan_number(&text, NULL, SCAN_DECIMAL, &last))
			return false;
		step = 1;
	}
	if (*text == '+') {
		step = 1;
		if (*++text && !scan_number(&text, NULL, SCAN_DECIMAL, &step))
			return false;
		if (!step)
			return false;
	}
	*at = (struct occasions){ first, last, step };
	return !*text && first && last >= first;
}

static void read_when(struct injection *in, const char *text)
{
	const struct call_desc *calls[CALL_COUNT];
	struct text_cursor c = { .at = text, .end = text + strlen(text) };
	size_t n = 0;

	if (scan_is_digit(*text)) {
		if (in->at.first)
			die("two counts of calls in %s=: '%s' is the second", in->name, text);
		if (!read_occasions(text, &in->at))
			die("'%s' in %s= is no count of calls: use N, N+, N+STEP, N..M or "
			    "N..M+STEP", text, in->name);
		return;
	}
	if (in->when)
		die("two conditions in %s=: join '%s' to the first with &&", in->name, text);
	for (size_t i = 0; i < CALL_COUNT; i++)
		if (in->calls[i])
			calls[n++] = &call_descs[i];
	in->when = when_read(&c, calls, n, NULL);
	if (!in->when)
		die("when=%s in %s=: %s", text, in->name, c.why);
}

static void take_once(const struct injection *in, bool taken, const char *what)
{
	if (taken)
		die("%s given twice in %s=; for other calls or times, repeat the option", what,
		    in->name);
}

void injections_offer_parts(struct nearest *n, bool fault)
{
	static const char *const known[] = {
		"error=", "when=", "retval=", "delay_enter=", "delay_exit=", "signal=",
	};

	for (size_t i = 0; i < (fault ? 2 : sizeof(known) / sizeof(*known)); i++)
		nearest_try(n, known[i]);
}

static _Noreturn void unknown_part(const char *part, size_t len, const char *name)
{
	struct nearest n;

	if (!strncmp(part, "poke_", 5) || !strncmp(part, "syscall=", 8))
		die("'%s' of %s= is not supported; use strace", part, name);
	nearest_start(&n, part, len + (part[len] == '='));
	injections_offer_parts(&n, false);
	if (*n.best)
		die("unknown part '%s' of %s=; did you mean %s?", part, name, n.best);
	die("unknown part '%s' of %s=; valid are error=, retval=, delay_enter=, delay_exit=, "
	    "signal= and when=", part, name);
}

static void read_part(struct injection *in, const char *part, bool fault)
{
	struct inject *t = &in->does;
	const char *eq = strchr(part, '=');
	size_t len = eq ? (size_t)(eq - part) : strlen(part);
	const char *value = eq ? eq + 1 : "";

#define IS(word) (len == strlen(word) && !strncmp(part, word, len))
	if (IS("when")) {
		read_when(in, value);
	} else if (fault && !IS("error")) {
		die("'%s' in -e fault=: valid are error= and when=; use -e inject= for other parts",
		    part);
	} else if (IS("error") || IS("retval")) {
		take_once(in, t->injected, "error= or retval=");
		t->injected = true;
		if (IS("error"))
			t->ret = -error_number(value, in->name);
		else if (!scan_signed(value, SCAN_C, INT64_MIN, INT64_MAX, &t->ret))
			die("retval= in %s= requires a number, not '%s'", in->name, value);
	} else if (IS("delay") || IS("delay_enter")) {
		take_once(in, t->enter_delay_ns, "delay_enter=");
		t->enter_delay_ns = duration(value, "delay_enter=", in->name);
	} else if (IS("delay_exit")) {
		take_once(in, t->exit_delay_ns, "delay_exit=");
		t->exit_delay_ns = duration(value, "delay_exit=", in->name);
	} else if (IS("signal")) {
		take_once(in, t->signal, "signal=");
		t->signal = signal_number(value, "-e inject=:signal");
	} else {
		unknown_part(part, len, in->name);
	}
#undef IS
}

void injections_add(void *to, const char *expr, const struct verb_option *o)
{
	struct injections *all = injection_made(to);
	bool fault = !strcmp(o->name, "fault");
	struct injection *in;
	char *copy = xstrdup(expr), *save, *word = strtok_r(copy, ":", &save);
	struct inject *t;

	APPEND(all->list, all->n) = (struct injection){ .name = fault ? "-e fault" : "-e inject" };
	in = &all->list[all->n - 1];
	if (!word)
		die("%s= requires calls and what to do to them, such as "
		    "%s=perf_event_open:error=EINVAL:when='precise_ip>0'", in->name, in->name);
	selection_calls(word, in->name, in->calls);
	while ((word = strtok_r(NULL, ":", &save)))
		read_part(in, word, fault);
	free(copy);
	if (!in->at.first)
		in->at = (struct occasions){ 1, UINT64_MAX, 1 };
	t = &in->does;
	if (fault && !t->injected) {
		t->injected = true;
		t->ret = -ENOSYS;
	}
	if (!t->injected && !t->signal && !t->enter_delay_ns && !t->exit_delay_ns)
		die("-e inject=%s has no effect: add error=, retval=, delay_enter=, delay_exit= "
		    "or signal=", expr);
}

void injections_as_kernel(void *to, const char *release, const struct verb_option *o)
{
	struct injections *all = injection_made(to);
	uint32_t since = call_by_name("perf_event_open")->since;
	const char *end = release;
	uint32_t old = release_read(&end);

	(void)o;
	if (!old || *end)
		die("--as-kernel requires a release such as 5.4 or 2.6.32, not '%s'", release);
	if (old < since)
		die("Linux %s has no perf_event_open: it came with %u.%u.%u", release,
		    since >> 16, since >> 8 & 255, since & 255);
	all->old.release = old;
}

void injections_begin(struct injections *i, struct host *host)
{
	uint32_t release = i ? i->old.release : 0;

	if (!release)
		return;
	facts_open(&i->facts, host);
	if (i->facts.rules.machine.release && release > i->facts.rules.machine.release)
		die("--as-kernel: cannot emulate a newer kernel than this one, which is %s",
		    i->facts.release);
	as_kernel_init(&i->old, release, &i->facts.rules.machine);
}

void injections_free(struct injections *i)
{
	if (!i)
		return;
	for (size_t k = 0; k < i->n; k++) {
		when_free(i->list[k].when);
		map_free(&i->list[k].seen);
	}
	as_kernel_free(&i->old);
	facts_close(&i->facts);
	free(i->list);
	free(i);
}

/* Deciding --------------------------------------------------------------------- */

bool injections_want(const struct injections *i, enum call_id id)
{
	for (size_t k = 0; i && k < i->n; k++)
		if (i->list[k].calls[id])
			return true;
	return i && i->old.release && (id == CALL_PERF_EVENT_OPEN || id == CALL_IOCTL);
}

/* Return the attr of the event that the call opens or uses; NULL if unknown. */
static const uint8_t *injection_attr_of(const struct model *m, const struct call *c, size_t *len)
{
	const struct event *e;

	if (c->desc->id == CALL_PERF_EVENT_OPEN)
		return call_bytes(c, AT_SYSCALL_ENTER, c->args[0], 4096, len);
	e = model_subject(m, c);
	if (e && !event_attr_known(e))
		e = NULL;
	*len = e ? e->attr_len : 0;
	return e ? e->attr : NULL;
}

static uint64_t seen_key(enum call_id id, pid_t tid)
{
	return (uint64_t)id << 32 | (uint32_t)tid;
}

void injections_move(struct injections *i, pid_t from, pid_t to)
{
	for (size_t k = 0; i && k < i->n; k++) {
		struct injection *in = &i->list[k];

		for (enum call_id id = 0; in->seen.len && id < CALL_COUNT; id++) {
			void *n = map_del(&in->seen, seen_key(id, from));

			if (n && to)
				map_set(&in->seen, seen_key(id, to), n);
		}
	}
}

static void be_older(struct injections *i, const struct model *m, struct call *c,
		     const uint8_t *attr, size_t len)
{
	struct rule_target target = { .descriptor = FACT_UNKNOWN };
	const struct event *leader = model_event(m, c->tid, call_int(c, 3));
	bool open = c->desc->id == CALL_PERF_EVENT_OPEN;
	struct buf because = { 0 };
	struct as_refusal r;

	/* a cgroup's descriptor is the tracee's */
	if (open && !(c->args[4] & PERF_FLAG_PID_CGROUP))
		target.task.exists = facts_task_exists(call_target(c));
	if (open && leader) /* the kernel here counts its members */
		target.group = (struct rule_group){ .event = FACT_YES, .attr = leader->attr,
						    .len = leader->attr_len, .cpu = leader->cpu };
	else if (open && call_int(c, 3) < 0)
		target.group.event = FACT_NO;
	r = as_kernel_refuses(&i->old, c, attr, len, &target);
	if (!r.error)
		return;
	buf_adds(&because, "Linux ");
	release_text(i->old.release, &because);
	c->inject = (struct inject){ .injected = true, .ret = -r.error,
				     .attr_size = r.attr_size };
	buf_addf(&because, ": %s", r.because);
	snprintf(c->inject.because, sizeof(c->inject.because), "%s", buf_str(&because));
	buf_free(&because);
}

void injections_ask(struct injections *i, const struct model *m, struct call *c)
{
	const struct injection *last = NULL;
	const uint8_t *attr;
	size_t len;

	if (!i)
		return;
	attr = injection_attr_of(m, c, &len);
	/* every injection counts the call; the last that matches applies */
	for_each(in, i->list, i->n) {
		const struct occasions *at = &in->at;
		uint64_t key = seen_key(c->desc->id, c->tid), n;

		if (!in->calls[c->desc->id] || (in->when && !when_holds(in->when, c, attr, len)))
			continue;
		n = (uintptr_t)map_get(&in->seen, key) + 1;
		map_set(&in->seen, key, (void *)(uintptr_t)n);
		if (n >= at->first && n <= at->last &&
		    (at->step ? (n - at->first) % at->step == 0 : n == at->first))
			last = in;
	}
	if (last)
		c->inject = last->does;
	c->inject.injected &= regs_known(c->arch);
	if (!last && i->old.release && regs_known(c->arch))
		be_older(i, m, c, attr, len);
}
