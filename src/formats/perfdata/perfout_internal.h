/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the parts of the view that writes a perf.data file only. */
#pragma once

#include <stdio.h>

#include "core/abi/layout.h"
#include "core/host/perf_features.h"
#include "core/lib/buf.h"
#include "core/lib/map.h"
#include "formats/perfdata/perfout.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"

enum {
	FEATURES = PERF_FEATURES,
	RECORD_HEAD = 8, /* struct perf_event_header */
	RECORD_MOST = 0xfff8, /* bytes of a record, whose size is 16 bits */
};

/* Events of one attr and one place in groups, on any CPUs and tasks: an "evsel" of perf. */
struct perfout_event {
	uint8_t *attr; /* as passed */
	size_t len;
	char *name;
	char *format_text; /* of a tracepoint; NULL: none, or not read yet */
	unsigned int number; /* of the first such event */
	size_t index; /* in the file */
	struct perfout_event *leader; /* NULL: leads itself, or is alone */
	struct record_format format;
	struct map targets; /* pid and CPU -> member */
	uint64_t *ids;
	size_t nids;
	bool in_pipe; /* it was written to a pipe, */
	size_t ids_in_pipe; /* with so many ids; records of further ones get the first id */
	bool lacks_task_and_time; /* in its records */
	bool left_out; /* not written: its records lack task and time, those of others do not */
	bool adds_tid; /* its records get PERF_SAMPLE_TID, which format has then */
	bool sample_lacks_task; /* a sample has no task */
	bool has_timed_record; /* a record has a time */
	bool of_perf; /* opened by perf, which stores attrs in the size that it passes */
};

/* An event of the session. */
struct perfout_member {
	struct perfout_event *event;
	unsigned int number;
	uint64_t id; /* 0: not known */
};

struct perfout_view {
	struct view view;
	struct perfout *out;
	struct session_facts facts; /* its texts are copies, except the command */
	struct model *model;
	const struct names *names;
	bool live;
	bool has_all_tasks; /* an event measures all tasks of a CPU */
	struct map tree_processes; /* whose records are synthesized as a tree, while that is done */
	/* events */
	struct perfout_event **events;
	size_t nevents;
	struct map members; /* event number -> struct perfout_member */
	struct map by_id; /* kernel id -> struct perfout_event */
	struct map piped; /* the same, of ids that were written to a pipe */
	bool formats_piped; /* the formats of tracepoints were written to a pipe */
	struct perfout_word *words; /* names in the command line of perf */
	size_t nwords;
	struct map late_events; /* opened after records were written that do not fit to them */
	/* records */
	bool ids_decided; /* whether records get ids; until then, they are held */
	bool with_ids;
	struct buf held;
	uint64_t held_ns; /* time of the first record that was held; 0: none */
	size_t draft_len; /* bytes of held that are in the file as well, in case of a kill */
	uint64_t flushed_ns; /* when records were last written for their age, or a draft */
	uint64_t first_ns, last_ns; /* of samples */
	uint64_t last_record_ns; /* of the last record that has a time */
	uint64_t greatest_record_ns;
	uint64_t synthesized_ns; /* of the records that are synthesized now */
	/* rounds: between two ends of a round, perf sorts */
	struct map rings_of_round; /* number -> whether it was read in this round */
	struct map rings_seen; /* numbers of all */
	struct map rings_never_read; /* numbers */
	bool round_has_records; /* records were written since the last round ended */
	uint64_t round_end_ns; /* when the last round ended */
	uint64_t calls_complete_ns; /* all calls until then are known, and so all rings */
	uint64_t idle_reads_ns[2]; /* ends of the reads of all rings since the last call, newest first */
	uint64_t round_ns, round_before_ns; /* greatest_record_ns at the ends of the last two rounds */
	/* tasks */
	struct map described_pids; /* pid of records -> that of the process in our namespace */
	struct map execs; /* pid -> time of its last exec, or birth if the id was used before (uint64_t) */
	struct map perf_tasks; /* tids that run perf */
	struct map commands; /* tids whose command line is reported */
	struct map threads; /* tid -> pid */
	/* what the file lacks */
	uint64_t missed, too_long;
	uint64_t unnamed; /* counts in samples whose event is not in the file */
	/* AUX areas */
	struct map aux_areas; /* ring number -> index of the area, from 1 */
	uint64_t aux_missed;
	bool aux_described; /* PERF_RECORD_AUXTRACE_INFO was written */
	struct perfout_time {
		uint64_t shift, mult, zero, valid; /* of perf_event_mmap_page */
	} time;
	struct buf build_ids; /* the section of the feature */
};

/* Writing bytes (perfout_file.c) ---------------------------------------------- */

/* Add to the records. */
void perfout_add(struct perfout *o, const void *bytes, size_t len);

bool perfout_is_pipe(const struct perfout *o);

bool perfout_is_cut_short(const struct perfout *o);

/*
 * Begin the records anew, behind all that is in the file, and set *from and *to to the place of
 * those before.  Return a stream to read them from, or NULL if the file cannot be read.
 */
FILE *perfout_restart(struct perfout *o, uint64_t *from, uint64_t *to);

/* Return whether it has no records yet. */
bool perfout_is_empty(const struct perfout *o);

/* Return how many bytes of records are not in the file yet. */
size_t perfout_pending(const struct perfout *o);

/*
 * Write the records that were added, so that the file is whole if pevtrace is killed: events
 * is their table, without offsets (perfout_events()), of which ids_len bytes are ids.
 * features: sections to end the file with; empty ones are left out.  A pipe gets the records only,
 * and t and features are ignored.
 */
enum perfout_stage {
	PERFOUT_DRAFT, /* the next write replaces all records */
	PERFOUT_PART,
	PERFOUT_LAST, /* cut off what else is in the file */
};
struct perfout_table {
	struct buf ids, attrs; /* attrs: of entry bytes each, followed by offset and size of ids */
	size_t entry;
};
void perfout_write(struct perfout *o, const struct perfout_table *t,
		   const struct buf features[FEATURES], enum perfout_stage stage);

/* Names (perfout_names.c) --------------------------------------------------------- */

/*
 * Note the events that a command line has for perf, if that is in it: of that task, or of those whose
 * command line is not reported (0).
 */
void perfout_know_command(struct perfout_view *v, pid_t tid, char *const *command);
void perfout_free_words(struct perfout_view *v);

/* Set the name of an event that the task opened. */
void perfout_name_event(struct perfout_view *v, struct perfout_event *p, pid_t opener);

/* Events (perfout_events.c) ---------------------------------------------------- */

/* Note that the task runs a program of that name or path, which may be perf. */
void perfout_know_program(struct perfout_view *v, pid_t tid, const char *exe);

/*
 * Return the event of the session in the file, with its id if that is known; NULL if its attr is
 * not known.
 */
struct perfout_member *perfout_member(struct perfout_view *v, const struct event *e);

/* Return a member of the event's attr, by its index. */
static inline uint64_t perfout_attr_of(const struct perfout_event *e, unsigned int member)
{
	return layout_get(&layout_perf_event_attr, member, e->attr, e->len);
}

/* Return the id of an event: one that no event of the kernel has if the kernel's is not known. */
uint64_t perfout_id(struct perfout_view *v, struct perfout_member *m);

/* Add an id to an event, unless it is known. */
void perfout_add_id(struct perfout_view *v, struct perfout_event *e, uint64_t id);

/*
 * Order the events and decide whether perf can tell their records apart as they are; or decide
 * that anew later.
 */
void perfout_decide(struct perfout_view *v);
void perfout_undecide(struct perfout_view *v);

/* Return whether records of the event can be written beside those before. */
bool perfout_fits(const struct perfout_view *v, const struct perfout_event *e);

/* Append the attr as it is written, padded to size bytes. */
void perfout_attr(const struct perfout_view *v, const struct perfout_event *e, size_t size,
		  struct buf *out);

/* Return the first event of the file, or NULL. */
const struct perfout_event *perfout_first_event(const struct perfout_view *v);

/* Return the size of the largest attr. */
size_t perfout_attr_size(const struct perfout_view *v);

/* Return whether the counts in the event's records get ids, so that perf reads them. */
bool perfout_adds_read_ids(const struct perfout_event *e);

/* Return the format of the event's records as they are written. */
struct record_format perfout_format(const struct perfout_view *v, const struct perfout_event *e);

/*
 * Append the tables of a file; or, to a pipe, what it does not have yet, and return whether anything
 * was written.
 */
void perfout_tables(const struct perfout_view *v, struct perfout_table *t);
bool perfout_pipe_event(struct perfout_view *v, struct perfout_event *e);

/* Return whether the event cannot be written to a pipe, which has the formats of other tracepoints. */
bool perfout_is_late_tracepoint(const struct perfout_view *v, const struct perfout_event *e);

/*
 * Return the id by which perf finds the event of a record: in a pipe the first one for one that was
 * not known when the event was written, as perf would have one more event of the same name.
 */
uint64_t perfout_piped_id(const struct perfout_view *v, const struct perfout_event *e, uint64_t id);

/* Return the offset of the id in a record as the kernel writes it, or 0: it has none. */
size_t perfout_id_at(const struct perfout_event *e, bool sample, size_t len);

/* Warn of events whose records have times of different clocks. */
void perfout_tell_clocks(const struct perfout_view *v);

void perfout_free_events(struct perfout_view *v);

/* Records (perfout_records.c) --------------------------------------------------- */

/* Write a record, of an event or (NULL) synthesized, or hold it. */
void perfout_record(struct perfout_view *v, struct perfout_member *m, const uint8_t *bytes,
		    size_t len);

/*
 * Add an event to the file.  Return false after a warn() if the records written so far would have
 * to change and the output is a pipe.
 */
bool perfout_join(struct perfout_view *v, struct perfout_event *e);

/* Add the records that are held to those of the file. */
void perfout_release(struct perfout_view *v);

/* Synthesize the records of a process that existed before. */
void perfout_measured(struct perfout_view *v, const struct proc_image *p);

/* Synthesize a PERF_RECORD_LOST of an event whose ring was not read in time. */
void perfout_lost(struct perfout_view *v, struct perfout_member *m);

/* Synthesize a PERF_RECORD_LOST_SAMPLES of an event. */
void perfout_lost_samples(struct perfout_view *v, struct perfout_member *m, uint64_t lost);

/* Write or hold a record of perf's own, with what follows it (len includes that). */
void perfout_own_record(struct perfout_view *v, const uint8_t *bytes, size_t len);

/* Counts in records (perfout_reads.c) --------------------------------------------- */

/*
 * Append a record of e with ids added to its counts and return true; the caller sets the size in
 * its header.  Return false if no ids are added.  Counted events become events of the file.
 */
bool perfout_add_read_ids(struct perfout_view *v, struct event *e, const struct perfout_event *p,
			  const uint8_t *bytes, size_t len, struct buf *out);

/* Tasks of records (perfout_tasks.c) --------------------------------------------------- */

/* Note that records so far are of another process or program than the task's. */
void perfout_begin_task(struct perfout_view *v, pid_t tid);

/* Note the process of a thread. */
void perfout_know_thread(struct perfout_view *v, pid_t tid, pid_t pid);

/* Add PERF_SAMPLE_TID to the format of an event of the file if e measures one task only. */
void perfout_add_tid(struct perfout_event *p, const struct event *e);

/*
 * Append a record of p with pid and tid inserted and return true; the caller sets the size in its
 * header.  Return false if nothing is inserted.
 */
bool perfout_insert_tid(struct perfout_view *v, const struct activity_record *r,
			struct perfout_event *p, uint32_t type, struct buf *out);

/* Warn of the events whose samples have no task. */
void perfout_tell_taskless(const struct perfout_view *v);

/* Events without a ring (perfout_ringless.c) ----------------------------------------- */

/* Warn of the events that are not in the file, with what has their samples or counts. */
void perfout_tell_ringless(const struct perfout_view *v);

/* AUX areas (perfout_aux.c) ------------------------------------------------------ */

/* Tell perf of what the AUX data is, when an event is known that writes AUX data. */
void perfout_describe_aux(struct perfout_view *v);

/* Write AUX data. */
void perfout_aux(struct perfout_view *v, uint64_t ns, const struct activity_aux *a);

/* Remember how the clock of the CPU relates to the time of records. */
void perfout_know_time(struct perfout_view *v, const struct activity_look *l);

/* Features (perfout_features.c, perfout_tracing.c) -------------------------------- */

/* Append the sections of the features that are known, by their numbers. */
void perfout_features(const struct perfout_view *v, struct buf sections[FEATURES]);

/* Add a build id to those of the file. */
void perfout_add_build_id(struct perfout_view *v, const char *path, const uint8_t *id,
			  size_t size);

/* Write to a pipe those that are known at its start, or at its end. */
void perfout_pipe_features(struct perfout_view *v, bool end);

/* Write the formats of the tracepoints to a pipe if it has none: perf reads formats once only. */
void perfout_pipe_formats(struct perfout_view *v);

bool perfout_is_tracepoint(const struct perfout_event *e);

/* Read the format of an event if it is a tracepoint. */
void perfout_read_format(const struct perfout_view *v, struct perfout_event *e);

/* Write the records that were added, with the tables. */
void perfout_flush(struct perfout_view *v, enum perfout_stage stage);

/* Append the formats of the tracepoints among the events, as trace-cmd and perf have them. */
void perfout_tracing(const struct perfout_view *v, struct buf *out);
