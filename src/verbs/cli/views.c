// SPDX-License-Identifier: LGPL-2.1-or-later
#include "verbs/cli/views.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/lib/clock.h"
#include "core/lib/die.h"
#include "core/lib/pager.h"
#include "formats/dump/dump_view.h"
#include "formats/perfdata/measured.h"
#include "formats/perfdata/perfout.h"
#include "formats/text/flaw_text.h"
#include "formats/text/summary.h"
#include "formats/text/text_fit.h"

/* --json alone replaces the text; --json=FILE adds a dump. */
static bool views_open_outputs(struct views *v)
{
	const struct options *o = v->options;
	/* records have registers and stacks */
	mode_t mode = o->records ? CREATE_PRIVATE : CREATE_PUBLIC;

	if (o->json && !o->json_path) {
		v->json = output_open(o->output, STDOUT_FILENO, OUTPUT_ONE, mode);
		return v->json;
	}
	v->text = output_open(o->output, o->to_stdout ? STDOUT_FILENO : STDERR_FILENO,
			      o->separate ? OUTPUT_SEPARATE : o->append ? OUTPUT_APPEND : OUTPUT_ONE,
			      mode);
	if (!v->text || !o->json)
		return v->text;
	v->json = output_open(o->json_path, STDOUT_FILENO, OUTPUT_ONE, mode);
	if (!v->json)
		output_close(v->text);
	return v->json;
}

static void views_count(struct view *view, const struct call *c)
{
	if (c->shown)
		call_counts_add(&((struct views *)view)->counts, c);
}

static const struct view_ops counting_ops = { .exit = views_count };

static void views_cut_if_full(struct views *v, struct view *view, struct output *o)
{
	if (!view || !output_is_full(o))
		return;
	session_cut(v->session, view);
	output_end_head(o);
}

static struct views *views_of_cutting(struct view *view)
{
	return (struct views *)((char *)view - offsetof(struct views, cutting));
}

/* A call has returned, or a record was shown: no line is being written. */
static void views_cut(struct view *view, const struct call *c)
{
	struct views *v = views_of_cutting(view);

	(void)c;
	views_cut_if_full(v, v->lines, v->text);
	views_cut_if_full(v, v->dump, v->json);
}

static void views_cut_at_record(struct view *view, const struct activity *a)
{
	(void)a;
	views_cut(view, NULL);
}

static const struct view_ops cutting_ops = {
	.on[ACTIVITY_RECORD] = views_cut_at_record, .exit = views_cut,
};

static void views_add_text(struct views *v, struct session *s, const struct session_facts *f)
{
	struct options *o = v->options;
	const char *release = f->release;

	o->text.color = color_wanted(o->color, output_is_terminal(v->text));
	o->text.records = o->records;
	o->text.pid_always = o->output;
	o->text.comms = o->all;
	o->text.pid_never = o->separate;
	o->text.model = s->model;
	o->text.release = release ? release_read(&release) : 0;
	if (o->explain) {
		v->story = story_view_new(s->model, &s->names, f->arch,
					  o->text.release);
		session_add_view(s, v->story);
	} else if (!o->count) {
		v->lines = text_view_new(&o->text, &s->names, v->text, f->real_offset);
		session_add_view(s, v->lines);
	}
	if (o->table)
		session_add_view(s, &v->counting);
}

bool views_show_lines(const struct views *v)
{
	const struct options *o = v->options;

	return (v->text && !o->count && !o->explain && output_is_terminal(v->text)) ||
	       (v->json && output_is_terminal(v->json));
}

bool views_cannot_write(const struct views *v)
{
	return (!v->text || output_has_failed(v->text)) &&
	       (!v->json || output_has_failed(v->json)) && !v->perf_data;
}

/* Judge the calls for the machine of --machine, and say so. */
static void views_take_machine(struct views *v, struct session *s)
{
	struct buf words = { 0 };

	machine_open_file(&v->machine, v->options->machine);
	s->names.machine = v->machine.names.machine;
	v->options->text.host = v->machine.host;
	machine_add_words(&v->machine, &words);
	if (words.len && v->text) {
		buf_addc(&words, '\n');
		output_write(v->text, 0, buf_str(&words), words.len);
	}
	buf_free(&words);
}

bool views_start(struct views *v, struct session *s, struct options *o,
		 const struct names *source, const struct session_facts *facts)
{
	const struct session_setup setup = {
		.source = source, .selection = &o->select, .keep = o->keep || o->perf_data,
		.fd_names = o->text.labels, .symbols = o->symbols, .stacks = o->stacks,
	};

	*v = (struct views){ .counting.ops = &counting_ops, .options = o,
			     .cutting.ops = &cutting_ops };
	v->perf_data = o->perf_data ? perfout_open(o->perf_data) : NULL;
	if (o->perf_data && !v->perf_data)
		return false;
	if (!views_open_outputs(v)) {
		if (v->perf_data)
			perfout_close(v->perf_data);
		return false;
	}
	session_start(s, &setup, facts);
	if (o->machine)
		views_take_machine(v, s);
	if (!o->keep && o->perf_data)
		model_keep_few(s->model);
	if (v->text)
		views_add_text(v, s, facts);
	if (v->json) {
		v->dump = dump_view_new(facts, s->model, &s->names, v->json,
					o->text.status);
		session_add_view(s, v->dump);
	}
	if (v->perf_data)
		session_add_view(s, perfout_view_new(v->perf_data, facts, s->model, &s->names,
						     true));
	if (!o->max_size)
		return true;
	v->session = s;
	session_add_view(s, &v->cutting);
	if (v->text)
		output_limit(v->text, o->max_size);
	if (v->json)
		output_limit(v->json, o->max_size);
	return true;
}

static void views_free_features(struct perf_features *f)
{
	if (f)
		perf_features_free(f);
	free(f);
}

bool views_start_here(struct views *v, struct session *s, struct options *o,
		      const struct names *source)
{
	struct session_facts facts = {
		.arch = arch_native(), .page_size = source->page_size, .command = o->argv,
		.pids = o->pids, .npids = o->npids, .start_ns = clock_ns(),
	};
	struct perf_features *features = NULL;
	long cpus = sysconf(_SC_NPROCESSORS_CONF), online = sysconf(_SC_NPROCESSORS_ONLN);
	struct timespec real, mono;
	struct utsname u;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	facts.real_offset = (real.tv_sec - mono.tv_sec) * 1000000000LL +
			    (real.tv_nsec - mono.tv_nsec);
	facts.cpus = cpus > 0 ? (uint32_t)cpus : 0;
	facts.cpus_online = online > 0 ? (uint32_t)online : 0;
	if (!uname(&u)) {
		facts.nodename = u.nodename;
		facts.sysname = u.sysname;
		facts.release = u.release;
		facts.version = u.version;
		facts.machine = u.machine;
	}
	if (o->perf_data || o->explain || (o->json && o->records)) {
		features = xcalloc(1, sizeof(*features));
		perf_features_read(features);
		facts.features = features;
	}
	if (!views_start(v, s, o, source, &facts)) {
		views_free_features(features);
		return false;
	}
	v->features = features;
	if (features) {
		v->files = mapped_files_new(s);
		session_add_view(s, v->files);
	}
	return true;
}

/* Append what was wrong with events, in lines of so many columns; 0: any. */
static void views_add_flaws(const struct text_options *o, const struct session *s,
			    const char *before, const char *after, unsigned int columns,
			    struct buf *out)
{
	struct buf lines = { 0 };
	struct flaws flaws;

	session_flaws(s, &flaws);
	flaws_print(&flaws, before, after, o->color, &lines);
	if (columns && !o->any_width)
		text_wrap(&lines, columns);
	buf_add(out, buf_str(&lines), lines.len);
	buf_free(&lines);
}

static void views_write_tables(struct views *v, const struct session *s)
{
	const struct text_options *text = &v->options->text;
	unsigned int columns = text->width ? text->width : output_columns(v->text);
	struct buf table = { 0 };
	struct prose p;

	if (!v->options->count && !v->story && !(text->quiet & QUIET_EXIT))
		views_add_flaws(text, s, "+++ ", " +++", columns, &table);
	if (v->story) {
		prose_init(&p, &table, columns ? columns : terminal_columns(-1));
		p.color = p.links = text->color;
		story_write(v->story, &v->options->story, &p);
		prose_free(&p);
	}
	if (v->options->summary) {
		if (s->lost)
			buf_addf(&table, "Incomplete: %llu messages of the kernel were lost, so calls "
				 "are missing\n", (unsigned long long)s->lost);
		summary_print(s->model, &s->names, &table);
		if (v->options->story.doubts && !v->story)
			buf_addf(&table, "%s\n", v->options->story.doubts);
		if (columns && !text->any_width && !v->story)
			text_wrap(&table, columns);
	}
	if (v->options->table)
		call_counts_print(&v->counts, &v->options->counts, text->color, &table);
	if (v->options->count)
		views_add_flaws(text, s, "", "", columns, &table);
	output_write(v->text, getpid(), buf_str(&table), table.len);
	buf_free(&table);
}

bool views_end(struct views *v, struct session *s)
{
	bool ok = true;

	if (v->text)
		views_write_tables(v, s);
	if (v->files)
		mapped_files_report(v->files);
	session_end(s);
	views_free_features(v->features);
	if (v->machine.host)
		machine_close(&v->machine);
	if (v->text)
		ok = output_close(v->text);
	if (v->json)
		ok = output_close(v->json) && ok;
	return (!v->perf_data || perfout_close(v->perf_data)) && ok;
}

bool own_session_start(struct own_session *o)
{
	machine_live(&o->machine, o->options.symbols);
	o->options.text.host = o->machine.host;
	if (!views_start_here(&o->views, &o->session, &o->options, &o->machine.names)) {
		machine_close(&o->machine);
		return false;
	}
	own_calls_init(&o->own_calls, &o->session);
	session_feed(&o->session, &(struct activity){
		ACTIVITY_TASK, .task = {
			.tid = gettid(), .pid = getpid(), .ns = clock_ns(), .attached = true,
		},
	});
	return true;
}

bool own_session_end(struct own_session *o)
{
	bool written;

	session_feed(&o->session, &(struct activity){
		ACTIVITY_GONE, .gone = {
			.tid = gettid(), .ns = clock_ns(), .how = END_DETACHED,
		},
	});
	own_calls_free(&o->own_calls);
	written = views_end(&o->views, &o->session);
	machine_close(&o->machine);
	return written;
}
