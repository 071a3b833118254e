// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The results of trials, as text or as JSON, without what differs from run to run: the table of
 * features, the kernel release that they indicate, and the limits here.
 */
#include <inttypes.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "core/abi/strings.h"
#include "core/lib/list.h"
#include "formats/dump/dump_activity.h"
#include "formats/dump/machine_file.h"
#include "verbs/list/features.h"
#include "verbs/measure/refusal.h"
#include "xlat/constants.h"

/* Kernel and machine ---------------------------------------------------------------------- */

void features_release(const struct features *fs, struct features_release *r)
{
	*r = (struct features_release){ .from = 0 };
	for_each(f, fs->list, fs->n) {
		if (!f->kind->dated || !f->since)
			continue;
		r->undecided += f->known == FACT_UNKNOWN;
		if (f->known == FACT_NO && (!r->before || f->since < r->before))
			r->before = f->since;
	}
	for_each(f, fs->list, fs->n) {
		if (f->kind->dated && f->known == FACT_YES && f->since > r->from &&
		    (!r->before || f->since < r->before))
			r->from = f->since;
	}
}

/* Compare major and minor only, as stable updates bring no features. */
bool features_release_fits(const struct features *fs, const struct features_release *r)
{
	uint32_t here = fs->facts.rules.machine.release >> 8;

	return r->from >> 8 <= here && (!r->before || here < r->before >> 8);
}

static bool has(const struct features *fs, unsigned int cap)
{
	/* those that may not count here are told by features_limits() */
	return (fs->facts.rules.machine.caps | fs->facts.rules.machine.caps_unread) >> cap & 1;
}

/* Append what these capabilities would allow, if the caller lacks them. */
static void rights(const struct features *fs, struct buf *out)
{
	const struct rule_machine *m = &fs->facts.rules.machine;
	struct rlimit limit = { 0, 0 };
	bool perfmon = has(fs, ABI_CAP_PERFMON) || has(fs, ABI_CAP_SYS_ADMIN);

	if (!perfmon && m->unread & UNREAD_PARANOID)
		buf_adds(out, "perf_event_paranoid cannot be read; without CAP_PERFMON it limits "
			      "what may be measured\n");
	else if (!perfmon)
		buf_addf(out, "perf_event_paranoid is %d without CAP_PERFMON: %sno other users' "
			      "tasks%s\n", m->paranoid, m->paranoid > 1 ? "no kernel events "
			 "(features that only count there show as accepted), " : "",
			 m->paranoid > 0 ? ", no whole CPUs" : "");
	if (!has(fs, ABI_CAP_SYS_ADMIN))
		buf_adds(out, "no CAP_SYS_ADMIN: no uprobes, no breakpoints in the kernel\n");
	if (has(fs, ABI_CAP_IPC_LOCK) || m->paranoid < 0)
		return;
	getrlimit(RLIMIT_MEMLOCK, &limit);
	buf_adds(out, "no CAP_IPC_LOCK: rings of this user are limited to ");
	if (fs->facts.mlock_kb >= 0)
		buf_addf(out, "%lld KiB per CPU (perf_event_mlock_kb)",
			 (long long)fs->facts.mlock_kb);
	else
		buf_adds(out, "perf_event_mlock_kb, which cannot be read, per CPU");
	if (limit.rlim_cur != RLIM_INFINITY)
		buf_addf(out, " and %llu KiB more per process (RLIMIT_MEMLOCK)",
			 (unsigned long long)limit.rlim_cur / 1024);
	buf_addc(out, '\n');
}

static void denied(const struct features *fs, struct buf *out)
{
	const char *sep = "";

	for_each(f, fs->list, fs->n) {
		if (f->result != FEATURE_NO || !f->rule || !f->sure ||
		    !(f->rule->by & RULE_BY_CAPS))
			continue;
		buf_addf(out, "%s%s", *sep ? sep : "more privilege would allow ", f->name.data);
		sep = ", ";
	}
	buf_adds(out, *sep ? "\n" : "");
}

static void no_hardware(const struct features *fs, struct buf *out)
{
	const struct rule_machine *m = &fs->facts.rules.machine;

	for (size_t i = 0; i < m->npmus; i++)
		if (m->pmus[i].desc && m->pmus[i].desc->traits & PMU_TRAIT_CORE)
			return;
	if (m->pmus_known != FACT_YES)
		buf_adds(out, "the PMUs cannot be read from sysfs\n");
	else
		buf_addf(out, "no core PMU: no hardware, cache or raw events, no branches%s\n",
			 fs->facts.confined.virtual ?
			 "; this is a virtual machine: its host decides whether it has one" : "");
}

/* Append the limits of this machine and user, one per line. */
static void features_limits(const struct features *fs, struct buf *out)
{
	const struct rule_machine *m = &fs->facts.rules.machine;

	rights(fs, out);
	denied(fs, out);
	no_hardware(fs, out);
	if (!host_has_tracepoints(fs->machine.host))
		buf_adds(out, "tracefs cannot be read: no tracepoints by name\n");
	if (fs->bpf_error)
		buf_addf(out, "no BPF program can be loaded: %s\n", strerror(fs->bpf_error));
	if (m->caps_unread)
		buf_adds(out, "the user namespace cannot be read: perf ignores capabilities of all "
			      "but the first one\n");
	else if (fs->facts.own_caps & ~m->caps)
		buf_adds(out, "this is a user namespace: perf ignores its capabilities\n");
	if (fs->gate) {
		refusal_gate_words(out, fs->gate);
		buf_addc(out, '\n');
	} else if (prctl(PR_GET_SECCOMP) == 2) {
		buf_adds(out, "a seccomp filter is active, as in containers: it may refuse "
			      "what the kernel accepts\n");
	}
	if (m->lockdown == FACT_YES)
		buf_adds(out, "the kernel is locked down: no registers of interrupted code\n");
	else if (m->security == FACT_YES)
		buf_adds(out, "SELinux checks perf events, too\n");
}

static const char *const feature_results[FEATURE_RESULTS] = {
	[FEATURE_UNTRIED] = "untried", [FEATURE_NO] = "no",
	[FEATURE_ACCEPTED] = "accepted", [FEATURE_DEAD] = "dead",
	[FEATURE_YES] = "yes",
};

static const enum text_color result_colors[FEATURE_RESULTS] = {
	[FEATURE_UNTRIED] = COLOR_NOTE, [FEATURE_NO] = COLOR_ERROR,
	[FEATURE_ACCEPTED] = COLOR_NOTE, [FEATURE_DEAD] = COLOR_ERROR,
	[FEATURE_YES] = COLOR_STRING,
};

/* Reasons ----------------------------------------------------------------------------- */

static bool unknown_here(const struct feature *f)
{
	return f->result == FEATURE_NO && f->known == FACT_NO;
}

static void reason(const struct feature *f, struct buf *out)
{
	const char *name = f->error ? error_name(f->error) : NULL;

	if (f->error)
		buf_addf(out, "%s%s%s", name ? name : "an error", f->on ? " on " : "",
			 f->on ? f->on : "");
	else if (f->on)
		buf_addf(out, "on %s", f->on);
	if (unknown_here(f) && f->error)
		buf_adds(out, ": this kernel does not know it");
	else if (f->rule)
		buf_addf(out, ", %sby rule %s: %s", f->sure ? "" : "perhaps ", f->rule->name,
			 f->rule->meaning);
	if (f->why.len)
		buf_addf(out, "%s%s", out->len ? ": " : "", buf_str(&f->why));
}

/* Return the release that brought a feature: of an update only where that series runs. */
static uint32_t shown_since(const struct features *fs, uint32_t since)
{
	return since >> 8 == fs->facts.rules.machine.release >> 8 ? since : release_mainline(since);
}

/* Rows ---------------------------------------------------------------------------------- */

/* The text of a row: three columns, of which the second is colored, and a reason behind them. */
struct text_row {
	const char *columns[3];
	size_t widths[3];	/* with the blanks behind them */
	enum text_color color;
	const char *separator;	/* before the reason in place of blanks, or NULL */
};

static void features_show_row(struct features *fs, const struct text_row *row, const struct buf *reason)
{
	struct buf *line = &fs->out.line;

	showing_begin(&fs->out, true);
	buf_adds(line, "  ");
	for (size_t i = 0; i < 3; i++) {
		size_t from = line->len, len;

		if (i == 1)
			text_colored(line, fs->out.text.color, row->color, row->columns[i]);
		else
			text_escaped(line, row->columns[i]);
		len = i == 1 ? strlen(row->columns[i]) : line->len - from;
		if ((i < 2 || (reason->len && !row->separator)) && len < row->widths[i])
			buf_pad(line, row->widths[i] - len);
	}
	if (reason->len && row->separator)
		buf_adds(line, row->separator);
	text_escaped(line, buf_str(reason));
	showing_end(&fs->out);
}

static struct sink *features_begin_json(struct features *fs, const char *kind)
{
	showing_begin(&fs->out, false);
	sink_symbol(fs->out.sink, "kind", kind);
	return fs->out.sink;
}

static void features_add_error(struct features *fs, int error)
{
	if (!error)
		return;
	sink_uint(fs->out.sink, "errno", (uint64_t)error);
	showing_add(&fs->out, "error", error_name(error));
}

static void json_feature(struct features *fs, const struct feature *f, const char *since)
{
	static const char *const known[] = {
		[FACT_UNKNOWN] = "unclear", [FACT_NO] = "no", [FACT_YES] = "yes",
	};
	struct sink *k = features_begin_json(fs, f->kind->name);

	sink_string(k, "name", buf_str(&f->name), f->name.len, false);
	sink_symbol(k, "result", feature_results[f->result]);
	sink_symbol(k, "known", known[f->known]);
	showing_add(&fs->out, "since", since);
	showing_add(&fs->out, "meaning", f->meaning);
	showing_add(&fs->out, "on", f->on);
	features_add_error(fs, f->error);
	if (f->rule && !unknown_here(f)) {
		sink_symbol(k, "rule", f->rule->name);
		showing_add(&fs->out, "rule_meaning", f->rule->meaning);
		json_add_bool(&fs->out.object, "sure", f->sure);
	}
	showing_add(&fs->out, "why", f->why.len ? f->why.data : NULL);
	showing_end(&fs->out);
}

/* Begin a table, with a line "NAME: MEANING". */
static void features_show_head(struct features *fs, const char *name, const char *meaning)
{
	struct showing *out = &fs->out;

	showing_begin(out, true);
	text_colored(&out->line, out->text.color, COLOR_CALL, name);
	if (meaning)
		buf_addf(&out->line, ": %s", meaning);
	showing_end(out);
}

void features_show(struct features *fs, size_t i)
{
	const struct feature *f = &fs->list[i];
	struct buf since = { 0 }, why = { 0 };
	size_t width = 0;

	if (f->since)
		release_text(shown_since(fs, f->since), &since);
	if (fs->out.json) {
		json_feature(fs, f, since.data);
	} else {
		for (size_t k = 0; k < fs->n; k++)
			if (fs->list[k].kind == f->kind && fs->list[k].name.len > width)
				width = fs->list[k].name.len;
		reason(f, &why);
		if (!i || f[-1].kind != f->kind)
			features_show_head(fs, f->kind->name, f->kind->meaning);
		features_show_row(fs, &(struct text_row){
			.columns = { buf_str(&f->name), feature_results[f->result],
				     f->since ? buf_str(&since) : "-" },
			.widths = { width + 2, 10, 9 }, .color = result_colors[f->result],
		}, &why);
	}
	showing_flush(&fs->out);
	buf_free(&since);
	buf_free(&why);
}

/* Show an instrument without the count of one that works, which differs from run to run. */
static void show_instrument(struct features *fs, enum instrument i)
{
	const struct instrument_result *r = instrument_find(&fs->instruments, i);
	const char *verdict = instrument_verdicts[r->verdict];
	bool fails = instrument_fails(&fs->instruments, i);
	struct buf why = { 0 };
	struct sink *k;

	if (r->verdict <= INSTRUMENT_ABSENT)
		buf_adds(&why, instrument_reason(r));
	if (fs->out.json) {
		k = features_begin_json(fs, "instrument");
		sink_string(k, "name", instrument_name(i), strlen(instrument_name(i)), false);
		sink_symbol(k, "verdict", verdict);
		sink_symbol(k, "meaning", instrument_meaning(i));
		features_add_error(fs, r->verdict == INSTRUMENT_ABSENT ? r->error : 0);
		if (why.len && (r->why || !r->error))
			sink_symbol(k, "why", buf_str(&why));
		if (fails) {
			sink_uint(k, "counted", r->counted);
			sink_uint(k, "least", r->least);
			sink_uint(k, "most", r->most);
		}
		showing_end(&fs->out);
	} else {
		if (r->verdict == INSTRUMENT_IMPLAUSIBLE)
			buf_addf(&why, "%" PRIu64 ", where %" PRIu64 " to %" PRIu64 " are possible",
				 r->counted, r->least, r->most);
		features_show_row(fs, &(struct text_row){
			.columns = { instrument_name(i), verdict, instrument_meaning(i) },
			.widths = { 19, 13 }, .separator = ": ",
			.color = fails ? COLOR_ERROR :
				 r->verdict == INSTRUMENT_WORKS ? COLOR_STRING : COLOR_NOTE,
		}, &why);
	}
	buf_free(&why);
}

void features_show_instruments(struct features *fs)
{
	bool all = !fs->words[0] && !fs->gate;

	if (!fs->out.json && !all)
		return;
	if (!fs->out.json)
		features_show_head(fs, "instruments",
				   "whether what measures works, where the result is known");
	for (int i = 0; i < INSTRUMENTS; i++)
		if (all || fs->instruments.tried[i])
			show_instrument(fs, i);
	showing_flush(&fs->out);
}

static struct buf *text_line(struct features *fs)
{
	showing_begin(&fs->out, true);
	buf_adds(&fs->out.line, "  ");
	return &fs->out.line;
}

static void text_kernel(struct features *fs)
{
	struct features_release r;
	struct buf *out;

	features_release(fs, &r);
	features_show_head(fs, "kernel", NULL);
	out = text_line(fs);
	buf_addf(out, "release %s, on %s", fs->facts.release,
		 fs->facts.rules.machine.arch->name);
	showing_end(&fs->out);
	out = text_line(fs);
	if (!r.from) {
		buf_adds(out, "no feature shows its release");
	} else {
		buf_adds(out, "every detectable feature is present up to ");
		release_text(shown_since(fs, r.from), out);
		buf_adds(out, features_release_fits(fs, &r) ? ", which agrees with its version" :
			      ", which disagrees with its version");
	}
	showing_end(&fs->out);
	if (r.before) {
		out = text_line(fs);
		buf_adds(out, "first missing features, of ");
		release_text(r.before, out);
		for (size_t i = 0, n = 0; i < fs->n; i++) {
			const struct feature *f = &fs->list[i];

			if (f->kind->dated && f->known == FACT_NO && f->since == r.before)
				buf_addf(out, "%s %s", n++ ? "," : ":", buf_str(&f->name));
		}
		showing_end(&fs->out);
	}
	if (r.undecided) {
		out = text_line(fs);
		buf_addf(out, "%zu features could not be detected either way", r.undecided);
		showing_end(&fs->out);
	}
}

static void json_machine(struct features *fs)
{
	struct sink *k = features_begin_json(fs, "kernel");
	struct buf limits = { 0 };
	struct features_release r;

	features_release(fs, &r);
	sink_symbol(k, "name", fs->facts.release);
	sink_symbol(k, "machine", fs->facts.rules.machine.arch->name);
	sink_uint(k, "attr_size", fs->attr_size);
	showing_add_release(&fs->out, "has", r.from);
	showing_add_release(&fs->out, "before", r.before);
	sink_begin(k, "missing", SINK_ARRAY);
	for (size_t i = 0; i < fs->n; i++)
		if (fs->list[i].kind->dated && fs->list[i].known == FACT_NO)
			sink_symbol(k, NULL, buf_str(&fs->list[i].name));
	sink_end(k);
	sink_uint(k, "undecided", r.undecided);
	json_add_bool(&fs->out.object, "fits", features_release_fits(fs, &r));
	showing_end(&fs->out);
	features_limits(fs, &limits);
	k = features_begin_json(fs, "here");
	if (!(fs->facts.rules.machine.unread & UNREAD_PARANOID))
		sink_sint(k, "paranoid", fs->facts.rules.machine.paranoid);
	sink_hex(k, "capabilities", fs->facts.rules.machine.caps);
	sink_begin(k, "limits", SINK_ARRAY);
	for (const char *line = buf_str(&limits); *line; line += strcspn(line, "\n") + 1)
		sink_string(k, NULL, line, strcspn(line, "\n"), false);
	sink_end(k);
	showing_end(&fs->out);
	buf_free(&limits);
}

void features_show_facts(struct features *fs)
{
	if (!fs->out.json || fs->words[0])
		return;
	features_begin_json(fs, KIND_MACHINE);
	machine_file_add(&fs->out.object, &fs->facts, fs->tracepoints);
	showing_end(&fs->out);
}

void features_show_machine(struct features *fs)
{
	struct buf limits = { 0 };

	if (fs->words && fs->words[0])
		return;
	if (fs->out.json) {
		json_machine(fs);
		return;
	}
	text_kernel(fs);
	features_show_head(fs, "here", NULL);
	features_limits(fs, &limits);
	if (!limits.len)
		buf_adds(&limits, "no limits\n");
	for (const char *line = buf_str(&limits); *line; line += strcspn(line, "\n") + 1) {
		buf_add(text_line(fs), line, strcspn(line, "\n"));
		showing_end(&fs->out);
	}
	buf_free(&limits);
}
