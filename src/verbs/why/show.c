// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is shown of a call, as text and JSON: the state here that decides it, its line, its rules. */
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/abi/call_decode.h"
#include "core/abi/siginfo.h"
#include "core/abi/strings.h"
#include "core/abi/tables.h"
#include "core/host/cgroup.h"
#include "core/model/event_name.h"
#include "engine/rings/earlier.h"
#include "verbs/measure/refusal.h"
#include "verbs/why/why_internal.h"

struct rule_ask why_asked(const struct why *k, const struct why_call *c)
{
	return (struct rule_ask){
		.attr = c->len ? c->attr : NULL, .len = c->len,
		.pid = call_int(&c->call, 1), .cpu = call_int(&c->call, 2),
		.group_fd = call_int(&c->call, 3), .flags = c->call.args[4],
		.facts = &k->facts.rules,
	};
}

/* This machine -------------------------------------------------------------------------- */

static void here_caps(const struct show *s, struct buf *out)
{
	/* the last, CAP_KILL, matters for a signal only */
	bool signals = layout_get(&layout_perf_event_attr, ATTR_SIGTRAP, s->c->attr, s->c->len);

	const struct rule_machine *m = &s->k->facts.rules.machine;

	if (s->k->facts.own_caps == UINT64_MAX && m->caps_unread) {
		buf_adds(out, "its capabilities are not known");
		return;
	}
	for (size_t i = 0; i + !signals < JUDGE_CAPS; i++)
		buf_addf(out, "%s%s%s", i ? ", " : "",
			 (m->caps | m->caps_unread) >> judge_caps[i].bit & 1 ? "" : "no ",
			 judge_caps[i].name);
	if (m->caps_unread)
		buf_adds(out, ", which count only in the first user namespace; whether this is "
			      "it cannot be read");
}

static void here_sysctl(const char *name, bool unread, int64_t value, struct buf *out)
{
	if (unread)
		buf_addf(out, "%s is not known", name);
	else
		buf_addf(out, "%s is %lld", name, (long long)value);
}

static void here_pmus(const struct show *s, struct buf *out)
{
	const struct rule_machine *m = &s->k->facts.rules.machine;

	if (m->pmus_known != FACT_YES) {
		buf_adds(out, "the PMUs are not known");
		return;
	}
	buf_adds(out, "PMUs are");
	for (size_t i = 0; i < m->npmus; i++)
		buf_addf(out, "%s %s (%u)", i ? "," : "", m->pmus[i].name, m->pmus[i].type);
}

static void here_task(const struct show *s, struct buf *out)
{
	const struct rule_task *t = &s->k->facts.rules.target.task;

	buf_adds(out, t->exists == FACT_NO ? "no such task" :
		      t->living == FACT_NO ? "the task has ended" :
		      t->readable == FACT_NO ? "this user may not read the task" :
		      t->attachable == FACT_NO ? "this user may not trace the task" :
		      t->readable == FACT_UNKNOWN ? "nothing is known about the task" :
						    "this user may read the task");
}

static void here_slots(const struct show *s, struct buf *out)
{
	enum fact f = s->k->facts.rules.target.breakpoint;

	buf_adds(out, f == FACT_YES ? "a breakpoint is free" :
		      f == FACT_NO ? "no breakpoint is free" :
				     "unknown whether a breakpoint is free");
	if (f == FACT_NO && s->c->before.n)
		buf_addf(out, ", with the %zu events before it in the list open", s->c->before.n);
}

static void here_tracepoint(const struct rule_target *t, struct buf *out)
{
	if (t->tracepoint_name)
		buf_addf(out, "the tracepoint is %s", t->tracepoint_name);
	else
		buf_adds(out, t->tracepoint == FACT_NO ? "no tracepoint has that id" :
			      "the ids of tracepoints are not known");
}

/* Append the state here of what one RULE_BY_ bit names; return false if nothing applies. */
static bool here_cgroup(const struct show *s, struct buf *out)
{
	char mount[PATH_MAX / 2];
	bool found = !s->k->elsewhere && cgroup_mount(mount, sizeof(mount));

	if (found)
		buf_addf(out, "cgroups for perf events are below %s", mount);
	return found;
}

static bool here_add(const struct show *s, uint64_t by, struct buf *out)
{
	const struct rule_machine *m = &s->k->facts.rules.machine;
	const struct rule_target *t = &s->k->facts.rules.target;
	struct rlimit limit = { 0, 0 };

	switch (by) {
	case RULE_BY_ARCH:
		buf_addf(out, "the kernel's architecture is %s", m->arch->name);
		break;
	case RULE_BY_KERNEL:
		if (!*s->k->facts.release)
			return false;
		buf_addf(out, "the kernel is %s", s->k->facts.release);
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
		if (s->k->elsewhere)
			return false;
		getrlimit(RLIMIT_NOFILE, &limit);
		buf_addf(out, "RLIMIT_NOFILE is %llu", (unsigned long long)limit.rlim_cur);
		break;
	case RULE_BY_PMU:
		here_pmus(s, out);
		break;
	case RULE_BY_TRACEPOINT:
		here_tracepoint(t, out);
		break;
	case RULE_BY_CPU:
		if (m->unread & UNREAD_CPUS)
			buf_adds(out, "the numbers of CPUs are not known");
		else
			buf_addf(out, "CPUs have numbers up to %u", m->cpus - 1);
		break;
	case RULE_BY_SLOTS:
		here_slots(s, out);
		break;
	case RULE_BY_TASK:
		here_task(s, out);
		break;
	case RULE_BY_CGROUP:
		return here_cgroup(s, out);
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

/* Return whether the state of that RULE_BY_ bit could not be read. */
static bool state_is_unread(const struct show *s, uint64_t by)
{
	const struct rule_machine *m = &s->k->facts.rules.machine;
	const struct rule_target *t = &s->k->facts.rules.target;

	switch (by) {
	case RULE_BY_PARANOID:
		return m->unread & UNREAD_PARANOID;
	case RULE_BY_LIMITS:
		return m->unread & (UNREAD_SAMPLE_RATE | UNREAD_STACK);
	case RULE_BY_CPU:
		return m->unread & UNREAD_CPUS;
	case RULE_BY_CAPS:
		return m->caps_unread;
	case RULE_BY_PMU:
		return m->pmus_known != FACT_YES;
	case RULE_BY_TRACEPOINT:
		return t->tracepoint == FACT_UNKNOWN;
	case RULE_BY_TASK:
		return t->task.exists == FACT_UNKNOWN || t->task.readable == FACT_UNKNOWN;
	default:
		return false;
	}
}

bool here_add_remedy(const struct show *s, const struct rule_desc *d, bool here, struct buf *out)
{
	const struct xlat *x = &xlat_rule_by;
	size_t before = out->len;

	for (size_t i = 0; i < x->n; i++) {
		uint64_t by = d->by & x->entries[i].value;
		const struct term_desc *term = by ? term_by_name(x->entries[i].name) : NULL;
		struct buf state = { 0 };

		if (!term || by & (RULE_BY_ATTR | RULE_BY_CALL))
			continue;
		buf_adds(out, out->len > before ? ", or " : "");
		text_meaning(out, term->text);
		if (here && here_add(s, by, &state))
			buf_addf(out, ": %s", buf_str(&state));
		buf_free(&state);
	}
	return out->len > before;
}

bool here_add_unread(const struct show *s, struct buf *out)
{
	const struct xlat *x = &xlat_rule_by;

	for (size_t i = 0; i < RULE_COUNT; i++) {
		if (s->answer->judged.rules.says[i] != RULE_UNKNOWN)
			continue;
		for (size_t k = 0; k < x->n; k++)
			if (rule_descs[i].by & x->entries[k].value &&
			    state_is_unread(s, x->entries[k].value))
				return here_add(s, x->entries[k].value, out);
	}
	return false;
}

/* Obstacles ------------------------------------------------------------------------ */

static void capability_words(const struct show *s, struct buf *out)
{
	const struct facts *f = &s->k->facts;
	const struct confinement *c = &s->k->facts.confined;

	here_add(s, RULE_BY_CAPS, out);
	if (f->own_caps & ~(f->rules.machine.caps | f->rules.machine.caps_unread))
		buf_adds(out, "; its capabilities are valid only in this user namespace, as of uid 0 in a "
			      "rootless container: run it outside, or in a container of root");
	if (!(c->bounding >> ABI_CAP_PERFMON & 1) && !(c->bounding >> ABI_CAP_SYS_ADMIN & 1))
		buf_adds(out, "; the bounding set has neither, as in a container: "
			      "start it with them (--cap-add=PERFMON)");
	else if (c->no_new_privs)
		buf_adds(out, "; NoNewPrivs prevents programs from gaining them");
}

static void paranoid_words(const struct show *s, struct buf *out)
{
	here_add(s, RULE_BY_PARANOID, out);
	if (s->k->facts.confined.container || s->k->facts.first_user_ns == FACT_NO)
		buf_adds(out, ", on the host: only there can it be changed");
}

static void pmu_words(const struct show *s, struct buf *out)
{
	buf_adds(out, s->k->facts.rules.machine.pmus_known == FACT_YES ?
		      "no PMU here counts such events" :
		      "perhaps no PMU there counts such events: the PMUs are not known");
	if (s->k->facts.confined.virtual)
		buf_adds(out, "; this is a virtual machine, and its host decides whether it has "
			      "counters");
}

static void seccomp_words(const struct show *s, struct buf *out)
{
	refusal_gate(&s->k->facts.confined, s->r->simplest, out);
}

static void security_words(const struct show *s, struct buf *out)
{
	buf_adds(out, s->r->simplest ?
		      "SELinux does not let this process use perf events: its audit log has the denial "
		      "(ausearch -m avc)" :
		      "the kernel is locked down to confidentiality, for root as well: boot with "
		      "lockdown=integrity, see kernel_lockdown(7)");
}

const char *here_add_block(const struct show *s, enum why_block b, struct buf *out)
{
	static const struct {
		const char *name;
		void (*add)(const struct show *s, struct buf *out);
		uint64_t by;		/* the state that is named first, or 0 */
		const char *words;
		bool held;		/* by processes, which are named */
		bool confined;		/* containers do that */
	} blocks[] = {
		[BLOCK_SECCOMP] = { "seccomp", .add = seccomp_words, .confined = true },
		[BLOCK_NO_SYSCALL] = { "no_syscall", .add = seccomp_words },
		[BLOCK_SECURITY] = { "security", .add = security_words },
		[BLOCK_PARANOID] = { "paranoid", .add = paranoid_words },
		[BLOCK_CAPABILITY] = { "capability", .add = capability_words, .confined = true },
		[BLOCK_DESCRIPTORS] = { "descriptors", .by = RULE_BY_RLIMIT,
					.words = ", and so many descriptors are open" },
		[BLOCK_PMU] = { "pmu", .add = pmu_words },
		[BLOCK_BREAKPOINTS] = { "breakpoints", .by = RULE_BY_SLOTS, .held = true },
		[BLOCK_BUSY] = { "busy", .words = "other events use the PMU", .held = true },
		[BLOCK_FILE] = { "file", .by = RULE_BY_FILE },
	};
	const struct rule_ask *a = &s->r->ask;
	const struct holders_of of = {
		.type = (uint32_t)layout_get(&layout_perf_event_attr, ATTR_TYPE, a->attr, a->len),
		.tid = a->flags & PERF_FLAG_PID_CGROUP ? -1 : a->pid ? a->pid : getpid(),
		.cpu = a->cpu,
	};
	struct buf held = { 0 };

	if (blocks[b].add)
		blocks[b].add(s, out);
	if (blocks[b].by)
		here_add(s, blocks[b].by, out);
	buf_adds(out, blocks[b].words ? blocks[b].words : "");
	if (blocks[b].held && !s->k->elsewhere)
		holders_add(&of, &s->k->machine.names, &held);
	if (held.len)
		buf_addf(out, "; held by %s", buf_str(&held));
	buf_free(&held);
	if (blocks[b].confined && s->k->facts.confined.container)
		buf_addf(out, "; this is a container (%s)", s->k->facts.confined.container);
	return blocks[b].name;
}

void show_with_pmu(const struct show *s)
{
	const struct rule_ask ask = why_asked(s->k, s->c);
	const struct rule_desc *others[RULE_COUNT];
	size_t n = judge_with_pmu(&ask, others), kept = 0;

	/* but for those that are shown as such already */
	for (size_t i = 0; i < n; i++) {
		bool shown = s->answer && judge_refuses(&s->answer->judged.rules, others[i]->id);

		for (size_t k = 0; s->r && k < s->r->cause.nfaults; k++)
			shown |= s->r->cause.faults[k].rule == others[i];
		if (!shown)
			others[kept++] = others[i];
	}
	n = kept;
	if (!n)
		return;
	if (s->out->json)
		sink_begin(s->out->sink, "with_pmu", SINK_ARRAY);
	else
		show_line(s, COLOR_NONE, "with a PMU");
	for (size_t i = 0; i < n; i++)
		if (s->out->json)
			sink_symbol(s->out->sink, NULL, others[i]->name);
		else
			buf_addf(&s->out->line, "%s%s (%s)", i ? ", " : "also refused by ", others[i]->name,
				 others[i]->meaning);
	show_end(s);
}

/* Append the state of an obstacle, once in a run; first: it is the first of what is required. */
static void add_state(const struct show *s, enum why_block b, bool first, struct buf *out)
{
	if (s->out->json || !(s->k->said & 1U << b)) {
		buf_adds(out, first ? ": " : "; ");
		here_add_block(s, b, out);
	}
	s->k->said |= 1U << b;
}

void here_add_required(const struct show *s, struct buf *out)
{
	const struct why_fix *f = &s->r->fix;
	bool level = f->rights.paranoid != INT_MIN;

	if (f->lacks) {
		refusal_requires(&f->rights, out);
		if (level)
			add_state(s, BLOCK_PARANOID, true, out);
		add_state(s, BLOCK_CAPABILITY, !level, out);
	}
	if (s->r->blocked[BLOCK_PMU]) {
		buf_adds(out, out->len ? "; and a PMU with such events" : "a PMU with such events");
		add_state(s, BLOCK_PMU, true, out);
	}
}

/* Lines and members of JSON ----------------------------------------------------------- */

void show_heading(const struct show *s, enum text_color color, const char *heading)
{
	text_colored(&s->out->line, s->out->text.color && color != COLOR_NONE, color, heading);
	buf_adds(&s->out->line, ": ");
}

struct buf *show_line(const struct show *s, enum text_color color, const char *heading)
{
	showing_begin(s->out, false);
	buf_adds(&s->out->line, "  ");
	show_heading(s, color, heading);
	return &s->out->line;
}

void show_end(const struct show *s)
{
	if (s->out->json)
		sink_end(s->out->sink);
	else
		showing_end(s->out);
}

void show_outcome(const struct show *s, int error)
{
	struct json_text *o = &s->out->object;
	const char *name = error ? error_name(error) : NULL;

	if (!s->out->json && error)
		error_text(error, &s->out->line);
	else if (!s->out->json)
		buf_adds(&s->out->line, "it opens");
	else
		json_add_bool(o, "opens", !error);
	if (s->out->json && error)
		json_add_int(o, "errno", error);
	if (s->out->json && name)
		json_add_string(o, "error", name);
}

void show_add_label(const struct show *s, struct buf *out)
{
	struct buf name = { 0 };

	if (!*s->c->label)
		event_name(s->c->attr, s->c->len, &s->k->machine.names, &name);
	text_escaped(out, *s->c->label ? s->c->label : buf_str(&name));
	buf_free(&name);
}

void show_add_reason(const struct show *s, const struct rule_desc *rule, bool sure, int error)
{
	struct buf *out = &s->out->line, name = { 0 };

	if (rule)
		buf_addf(out, "%s%s (rule %s, ", sure ? "" : "perhaps: ", rule->meaning,
			 rule->name);
	else
		buf_adds(out, "no known rule explains it (");
	if (error_name(error))
		buf_adds(&name, error_name(error));
	else
		buf_addf(&name, "error %d", error);
	text_colored(out, s->out->text.color, COLOR_ERROR, buf_str(&name));
	buf_addc(out, ')');
	buf_free(&name);
}

void show_add_cause(const struct show *s, const struct rule_desc *rule, bool sure, int error)
{
	show_heading(s, COLOR_ERROR, "cause");
	if (rule && *rule->fields) {
		sink_begin(s->out->sink, NULL, SINK_OBJECT);
		show_rule_members(s, rule);
		sink_end(s->out->sink);
		buf_adds(&s->out->line, ": ");
	}
	show_add_reason(s, rule, sure, error);
}

/* Calls ------------------------------------------------------------------------------- */

/* Return the attr as captured, with the pointers of the call; *len is 0 without one. */
static const uint8_t *captured_attr(const struct call *c, size_t *len)
{
	const uint8_t *bytes = call_bytes(c, AT_SYSCALL_ENTER, c->args[0], WHY_ATTR_MAX, len);

	*len = bytes ? *len : 0;
	return bytes ? bytes : (const uint8_t *)"";
}

struct walk show_walk(const struct show *s, const struct call *c)
{
	struct walk w = {
		.layout = &layout_perf_event_attr, .call = c, .arch = c->arch,
		.names = &s->k->machine.names,
	};

	w.bytes = captured_attr(c, &w.len);
	return w;
}

void show_call(const struct show *s, const char *label, const struct call *c, int e)
{
	struct buf *out = &s->out->line, error = { 0 };

	showing_begin(s->out, true);
	if (*label) {
		text_escaped(out, label);
		buf_adds(out, ": ");
	}
	call_text_begin(c, &s->k->machine.names, &s->out->text);
	buf_adds(out, ") = ");
	if (e)
		error_text(e, &error);
	else
		buf_adds(&error, "fd");
	text_colored(out, e && s->out->text.color, COLOR_ERROR, buf_str(&error));
	call_result_notes(c, &s->k->machine.names, s->out->sink);
	buf_free(&error);
	showing_end(s->out);
}

void show_json_call(const struct show *s, const struct call *c)
{
	struct sink *k = s->out->sink;
	size_t len;
	const uint8_t *bytes = captured_attr(c, &len);

	sink_begin(k, "args", SINK_OBJECT);
	call_args(c, AT_SYSCALL_ENTER, &s->k->machine.names, k);
	sink_end(k);
	json_add_bytes(&s->out->object, "attr_bytes", bytes, len);
}

/* Rules ------------------------------------------------------------------------------- */

void show_rule_members(const struct show *s, const struct rule_desc *d)
{
	struct walk w = show_walk(s, &s->c->call);

	judge_emit_fields(&w, &s->c->call, d, s->k->facts.rules.machine.release, s->out->sink);
}

void show_rule_text(const struct show *s, const struct rule_desc *d)
{
	const struct xlat *x = &xlat_rule_by;
	struct buf *out, words = { 0 };
	const char *sep = "";

	out = show_line(s, COLOR_NONE, "checked");
	buf_adds(out, "since Linux ");
	release_text(release_mainline(d->since), out);
	if (d->until) {
		buf_adds(out, ", until ");
		release_text(d->until, out);
	}
	buf_adds(out, "; decided by ");
	for (size_t i = 0; i < x->n; i++) {
		if (!(d->by & x->entries[i].value))
			continue;
		buf_addf(out, "%s%s", sep, x->entries[i].meaning);
		sep = ", ";
	}
	showing_end(s->out);
	for (size_t i = 0; i < x->n; i++) {
		size_t before = words.len;

		if (!(d->by & x->entries[i].value))
			continue;
		buf_adds(&words, before ? "; " : "");
		if (!here_add(s, x->entries[i].value, &words) && words.len > before)
			words.data[words.len = before] = '\0';
	}
	if (words.len) {
		text_escaped(show_line(s, COLOR_NONE, "here"), buf_str(&words));
		showing_end(s->out);
	}
	buf_free(&words);
}

void show_rule_json(const struct show *s, const struct rule_desc *d)
{
	const struct xlat *x = &xlat_rule_by;
	struct sink *k = s->out->sink;
	struct buf words = { 0 };

	sink_symbol(k, "rule", d->name);
	sink_symbol(k, "meaning", d->meaning);
	sink_begin(k, "fields", SINK_OBJECT);
	show_rule_members(s, d);
	sink_end(k);
	showing_add_release(s->out, "since", d->since);
	showing_add_release(s->out, "until", d->until);
	sink_begin(k, "by", SINK_ARRAY);
	for (size_t i = 0; i < x->n; i++)
		if (d->by & x->entries[i].value)
			sink_symbol(k, NULL, x->entries[i].meaning);
	sink_end(k);
	sink_begin(k, "here", SINK_ARRAY);
	for (size_t i = 0; i < x->n; i++) {
		buf_reset(&words);
		if (d->by & x->entries[i].value && here_add(s, x->entries[i].value, &words))
			sink_symbol(k, NULL, buf_str(&words));
	}
	sink_end(k);
	buf_free(&words);
}

/* What both kinds of answers have ----------------------------------------------------- */

void show_head(const struct show *s)
{
	const struct why_call *c = s->c;

	showing_begin(s->out, false);
	sink_symbol(s->out->sink, "call", c->call.desc->name);
	showing_add(s->out, "machine", s->k->options.machine);
	if (*c->label)
		sink_string(s->out->sink, "label", c->label, strlen(c->label), false);
	show_json_call(s, &c->call);
}

void show_seen(const struct show *s)
{
	unsigned int times = s->times;
	struct sink *k = s->out->sink;

	if (!s->c->from_dump || !s->c->returned)
		return;
	if (s->out->json)
		sink_begin(k, s->seen ? "command" : s->c->from_log ? "log" : "dump", SINK_OBJECT);
	else
		show_line(s, COLOR_NONE, s->seen ? "in the command" :
			  s->c->from_log ? "in the log" : "in the dump");
	show_outcome(s, s->c->error);
	if (s->out->json) {
		if (s->c->injected)
			sink_uint(k, "injected", 1);
		if (s->seen)
			sink_uint(k, "times", times);
	} else {
		if (s->c->injected)
			buf_adds(&s->out->line, " (injected: the kernel was not asked)");
		if (times > 1)
			buf_addf(&s->out->line, ", %u times", times);
	}
	show_end(s);
}

void show_doubt(const struct show *s)
{
	struct instruments *is = &s->k->instruments;
	struct buf why = { 0 };

	if (s->k->quiet || !instrument_is_hardware(is->host, s->c->attr, s->c->len))
		return;
	if (s->out->json) {
		instrument_emit_doubt(is, s->c->attr, s->c->len, 0, s->out->sink);
	} else if (instrument_doubt(is, s->c->attr, s->c->len, 0, &why)) {
		buf_adds(show_line(s, COLOR_NONE, "here"), buf_str(&why));
		showing_end(s->out);
	}
	buf_free(&why);
}
