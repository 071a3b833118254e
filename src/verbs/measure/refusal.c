// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/measure/refusal.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/abi/strings.h"
#include "core/abi/tables.h"
#include "core/host/facts.h"
#include "core/lib/die.h"
#include "experiment/trial.h"
#include "verbs/measure/measure.h"

void refusal_rights(struct buf *out)
{
	long level = rights_sysctl("perf_event_paranoid", LONG_MIN);

	if (level == LONG_MIN)
		buf_adds(out, "perf_event_paranoid cannot be read here");
	else
		buf_addf(out, "perf_event_paranoid is %ld here", level);
	buf_adds(out, "; CAP_PERFMON (or root) overrides it");
}

void refusal_requires(const struct judge_rights *r, struct buf *out)
{
	if (r->paranoid != INT_MIN) {
		buf_addf(out, "perf_event_paranoid %d%s", r->paranoid,
			 r->paranoid > -1 ? " or less" : "");
		if (r->perhaps != r->paranoid)
			buf_addf(out, " (perhaps %d does)", r->perhaps);
		buf_adds(out, r->cap ? ", or " : "");
	}
	buf_adds(out, r->cap ?: "");
}

void refusal_gate(const struct confinement *c, int error, struct buf *out)
{
	if (!c->seccomp && error == ENOSYS)
		buf_adds(out, "the kernel is built without perf events, or only imitates Linux, as "
			      "WSL 1 (use WSL 2) and gVisor (use runc) do");
	else
		buf_adds(out, "every call fails before it reaches perf");
	if (!c->seccomp && error != ENOSYS)
		buf_adds(out, ", though this process has no seccomp filter: the kernel may only imitate "
			      "Linux, as WSL 1 and gVisor do");
	if (!c->seccomp)
		return;
	buf_addf(out, ": this process has a seccomp filter (Seccomp is %d", c->seccomp);
	if (c->filters)
		buf_addf(out, ", Seccomp_filters %d", c->filters);
	buf_addf(out, ", NoNewPrivs %d), as containers and sandboxes set them; allow "
		      "perf_event_open in its profile (--security-opt=seccomp=FILE of Docker and Podman), "
		      "or add CAP_PERFMON, with which newer default profiles let it through, or "
		      "CAP_SYS_ADMIN", c->no_new_privs);
}

void refusal_descriptors(const char *verb, size_t n)
{
	struct rlimit limit = { 0, 0 };

	getrlimit(RLIMIT_NOFILE, &limit);
	warn("%s requires %zu more descriptors: the limit of %llu is reached (EMFILE; hard "
	     "limit %llu); raise it (ulimit -n, LimitNOFILE= of systemd, --ulimit nofile= of "
	     "containers)", verb, n,
	     (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
}

void refusal_gate_words(struct buf *out, int error)
{
	struct confinement c;

	confinement_read(&c);
	refusal_gate(&c, error, out);
}

/* Events of a measurement ------------------------------------------------------------ */

/* A refused event and its target. */
struct refused {
	const struct measure *m;
	size_t event, target;
	const struct event_spec *e;
	int error;
};

static bool is_open(const struct refused *r, size_t i)
{
	return batch_fd(&r->m->batch, r->target, i) >= 0;
}

/* The rule ---------------------------------------------------------------------- */

/* Find the rule that refused it; append the rights that it lacks, if any. */
static void find_rule(const struct refused *r, struct facts *facts, struct judgement *out,
		      struct buf *lacks)
{
	const struct target *t = &r->m->targets[r->target];
	uint8_t attr[sizeof(r->e->attr.bytes)];
	const struct judge_case c = {
		.ask = {
			.attr = attr, .len = r->e->attr.len, .pid = t->pid, .cpu = t->cpu,
			.group_fd = r->e->leader == r->event ? -1 :
				    batch_fd(&r->m->batch, r->target, r->e->leader),
			.flags = r->m->batch.flags, .facts = &facts->rules,
		},
		.seen = r->error,
	};
	const struct event_list *l = &r->m->events;
	const struct attr_text *leader = &l->events[r->e->leader].attr;
	struct rule_group *g = &facts->rules.target.group;
	struct judge_rights rights;

	memcpy(attr, r->e->attr.bytes, sizeof(attr));
	own_call_place_strings(&r->e->attr, attr);
	facts_target(facts, &c.ask);
	if (r->e->leader != r->event)
		*g = (struct rule_group){
			.event = FACT_YES, .alive = FACT_YES, .leads = FACT_YES,
			.same_task = FACT_YES, .same_cgroup = FACT_YES, .ring = FACT_NO,
			.attr = leader->bytes, .len = leader->len, .cpu = t->cpu,
		};
	for (size_t i = r->e->leader + 1; i < r->event; i++) {
		if (l->events[i].leader != r->e->leader || !is_open(r, i))
			continue;
		g->siblings++;
		g->formats |= 1U << (event_get(&l->events[i], ATTR_READ_FORMAT) & 31);
	}
	if (r->error == ENOSPC)
		facts->rules.target.breakpoint = FACT_NO;
	judge_open(&c, out);
	/* another fault is mended first */
	if ((out->rule && !(out->rule->by & (RULE_BY_PARANOID | RULE_BY_CAPS))) ||
	    !judge_rights(&c.ask, &rights))
		return;
	refusal_requires(&rights, lacks);
	if (rights.paranoid != INT_MIN && !(facts->rules.machine.unread & UNREAD_PARANOID))
		buf_addf(lacks, " (it is %d here)", facts->rules.machine.paranoid);
}

/* The command --------------------------------------------------------------------- */

/* Append the event, and those that must be open before: its group, for a breakpoint breakpoints. */
static void add_events(struct buf *out, const struct refused *r)
{
	const struct event_list *l = &r->m->events;
	bool breakpoint = event_get(r->e, ATTR_TYPE) == PERF_TYPE_BREAKPOINT;
	size_t group = SIZE_MAX;

	for (size_t i = 0; i <= r->event; i++) {
		size_t leader = l->events[i].leader;
		bool grouped = event_grouped(l, i);

		if (i != r->event && (!is_open(r, i) || (leader != r->e->leader && !(breakpoint &&
		    event_get(&l->events[i], ATTR_TYPE) == PERF_TYPE_BREAKPOINT))))
			continue;
		if (group != SIZE_MAX && group != leader)
			buf_addc(out, '}');
		if (out->len)
			buf_addc(out, ',');
		if (grouped && group != leader)
			buf_addc(out, '{');
		group = grouped ? leader : SIZE_MAX;
		event_text(out, r->m->own_session.machine.host, &r->m->own_session.machine.names,
			   &l->events[i]);
	}
	if (group != SIZE_MAX)
		buf_addc(out, '}');
}

/* Add text as one word of a shell. */
static void add_word(struct buf *out, const char *text)
{
	if (*text && !strpbrk(text, " |&;<>()$`\\\"'*?[]#~{}!\n\t")) {
		buf_adds(out, text);
		return;
	}
	buf_addc(out, '\'');
	for (const char *p = text; *p; p++) {
		if (*p == '\'')
			buf_adds(out, "'\\''");
		else
			buf_addc(out, *p);
	}
	buf_addc(out, '\'');
}

void refusal_add_options(struct buf *out, const char *events, int32_t pid, int32_t cpu,
			 const char *cgroup)
{
	buf_adds(out, "-e ");
	add_word(out, events);
	if (cgroup) {
		buf_adds(out, " --cgroup=");
		add_word(out, cgroup);
	} else if (pid) {
		buf_addf(out, pid < 0 ? " -a" : " -p %d", (int)pid);
	}
	if (cpu != -1)
		buf_addf(out, " -C %d", cpu);
}

/* Append the pevtrace why that examines the call. */
static void add_command(struct buf *out, const struct refused *r)
{
	struct buf events = { 0 };
	const struct target *t = &r->m->targets[r->target];
	char link[64], path[4096];
	ssize_t n;

	add_events(&events, r);
	buf_adds(out, "pevtrace why ");
	snprintf(link, sizeof(link), "/proc/self/fd/%d", t->pid);
	n = r->m->batch.flags & PERF_FLAG_PID_CGROUP ? readlink(link, path, sizeof(path) - 1) : -1;
	path[n > 0 ? n : 0] = '\0';
	refusal_add_options(out, buf_str(&events), t->pid == r->m->work.pid ? 0 : t->pid, t->cpu,
			    n > 0 ? path : NULL);
	buf_free(&events);
}

static void refusal_open(const struct refused *r, struct facts *facts)
{
	const struct xlat_entry *e = xlat_find(&xlat_perf_open_errno, (uint64_t)r->error);
	const char *name = error_name(r->error);
	struct buf text = { 0 }, command = { 0 }, lacks = { 0 };
	struct rlimit limit;
	struct judgement j;

	if (trial_gate() == r->error) {
		refusal_gate_words(&text, r->error);
		warn("cannot open '%s': %s: %s", r->e->attr.label, name ? name : "error",
		     buf_str(&text));
		buf_free(&text);
		return;
	}
	find_rule(r, facts, &j, &lacks);
	if (j.rule)
		buf_addf(&text, "%s%s (rule %s)", j.sure ? "" : "perhaps: ", j.rule->meaning,
			 j.rule->name);
	else
		buf_adds(&text, e ? e->meaning : strerror(r->error));
	if (lacks.len)
		buf_addf(&text, "; it requires %s", buf_str(&lacks));
	if (r->error == EMFILE && !getrlimit(RLIMIT_NOFILE, &limit))
		buf_addf(&text, "; the limit is %llu: raise it (ulimit -n)",
			 (unsigned long long)limit.rlim_cur);
	warn("cannot open '%s': %s: %s", r->e->attr.label, name ? name : "error", buf_str(&text));
	add_command(&command, r);
	warn("find out more with: %s", buf_str(&command));
	buf_free(&lacks);
	buf_free(&text);
	buf_free(&command);
}

/* Return whether the event opened on any target: a thread may have exited meanwhile. */
static bool open_somewhere(const struct measure *m, size_t event)
{
	for (size_t t = 0; t < m->ntargets; t++)
		if (batch_fd(&m->batch, t, event) >= 0)
			return true;
	return false;
}

/* Facts are read only after a failure, as that costs time. */
void refusal_tell(const struct measure *m)
{
	const struct batch *b = &m->batch;
	struct facts facts = { 0 };
	struct refused r;

	for (size_t i = 0; i < m->events.n; i++) {
		const struct event_spec *e = &m->events.events[i];

		if (!b->errors[i] || (b->errors[i] == ESRCH && open_somewhere(m, i)))
			continue;
		if (e->leader != i && b->errors[e->leader] && !open_somewhere(m, e->leader)) {
			warn("cannot open '%s': its group leader was refused", e->attr.label);
			continue;
		}
		if (!facts.host)
			facts_open(&facts, m->own_session.machine.host);
		r = (struct refused){ .m = m, .event = i, .e = e, .error = b->errors[i] };
		while (r.target + 1 < m->ntargets && batch_fd(b, r.target, i) >= 0)
			r.target++;
		refusal_open(&r, &facts);
	}
	if (facts.host)
		facts_close(&facts);
}

/* Rings ------------------------------------------------------------------------------ */

void refusal_map(size_t rings, size_t pages, int error)
{
	unsigned long long kib = (1 + pages) * (unsigned long long)sysconf(_SC_PAGESIZE) / 1024;
	struct rlimit limit = { 0 };
	struct buf each = { 0 };
	long mlock;

	switch (error) {
	case EPERM:
		getrlimit(RLIMIT_MEMLOCK, &limit);
		mlock = rights_sysctl("perf_event_mlock_kb", -1);
		if (mlock >= 0)
			buf_addf(&each, "%ld KiB ", mlock);
		warn("cannot map %zu rings of %llu KiB: more than perf_event_mlock_kb (%s"
		     "for each CPU) and ulimit -l (%llu KiB) allow; use fewer pages with "
		     "--mmap, or CAP_IPC_LOCK", rings, kib, buf_str(&each),
		     (unsigned long long)limit.rlim_cur / 1024);
		buf_free(&each);
		break;
	case EINVAL:
		warn("cannot map a ring of %zu pages: EINVAL: use a power of two; an event of "
		     "any CPU with inherit=1 cannot have a ring, and all events must have the "
		     "same clock (use_clockid, clockid)", pages);
		break;
	case ENOMEM:
		warn("cannot map a ring of %llu KiB: out of memory; use fewer pages with "
		     "--mmap", kib);
		break;
	default:
		warn("cannot map a ring of %zu pages: %s", pages, strerror(error));
	}
}

void refusal_aux(size_t pages, int error)
{
	if (error == EOPNOTSUPP)
		warn("cannot map an AUX area: EOPNOTSUPP: no PMU of these events writes AUX "
		     "data, as intel_pt, intel_bts, arm_spe and cs_etm do; omit --aux");
	else if (error == EPERM)
		warn("cannot map an AUX area of %zu pages: EPERM: rings and areas exceed what "
		     "perf_event_mlock_kb and ulimit -l allow; use fewer pages with --aux, or "
		     "CAP_IPC_LOCK", pages);
	else if (error == EINVAL)
		warn("cannot map an AUX area of %zu pages: EINVAL: an event of any CPU with "
		     "inherit=1 cannot have one", pages);
	else
		warn("cannot map an AUX area of %zu pages: %s", pages, strerror(error));
}
