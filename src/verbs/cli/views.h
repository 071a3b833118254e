/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The views of a session that the options ask for, and where these write. */
#pragma once

#include "engine/rings/own_call.h"
#include "verbs/cli/machine.h"
#include "verbs/cli/options.h"

struct views {
	struct view counting;	/* for -c */
	struct view cutting;	/* for --max-size: after the others */
	struct session *session;
	struct view *lines, *dump; /* views that --max-size cuts, or NULL */
	struct call_counts counts;
	struct options *options;
	struct output *text;	/* lines and tables, or NULL */
	struct output *json;	/* the dump, or NULL */
	struct view *story;	/* or NULL */
	struct perfout *perf_data; /* or NULL */
	struct view *files;	/* for outputs that contain records, or NULL */
	struct perf_features *features; /* of this machine, for the same */
	struct machine machine;	/* of --machine, or unused */
};

/*
 * Start a session with the views for the options.  The options, source and facts->command
 * must outlive the session.  Return false after a warn() if an output cannot be opened.
 */
bool views_start(struct views *v, struct session *s, struct options *o,
		 const struct names *source, const struct session_facts *facts);

/* Start a session of this machine and time, with the command and pids in the options. */
bool views_start_here(struct views *v, struct session *s, struct options *o,
		      const struct names *source);

/* Return whether lines are shown on a terminal while activity is fed, not at the end only. */
bool views_show_lines(const struct views *v);

/* Return whether all outputs have failed. */
bool views_cannot_write(const struct views *v);

/* Write the tables, end the session, close the outputs.  Return false if a write failed. */
bool views_end(struct views *v, struct session *s);

/*
 * A session fed by calls of pevtrace itself (engine/rings/own_call.h), which are shown, counted and
 * dumped like the calls of a traced program.
 */
struct own_session {
	struct options options;	/* initialized, filled in and freed by the caller */
	struct machine machine;
	struct session session;
	struct views views;
	struct own_calls own_calls;
};

/*
 * Start a session.  The dump contains all calls; options.select chooses which are shown.
 * Return false after a warn(); own_session_end() must not be called then.
 */
bool own_session_start(struct own_session *o);

/* End the session; return false if output could not be written. */
bool own_session_end(struct own_session *o);
