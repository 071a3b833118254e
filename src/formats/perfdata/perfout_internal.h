/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the parts of the view that writes a perf.data file only. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/abi/tables.h"
#include "core/host/perf_features.h"
#include "core/lib/buf.h"
#include "core/lib/die.h"
#include "core/lib/map.h"
#include "formats/perfdata/perfout.h"

enum {
	FEATURES = PERF_FEATURES,
	RECORD_HEAD = 8, /* struct perf_event_header */
	RECORD_MOST = 0xfff8, /* bytes of a record, whose size is 16 bits */
};

/* A record of perf: a header (struct perf_event_header) alone. */
static const struct {
	uint32_t type;
	uint16_t misc, size;
} finished_round = { PERF_RECORD_FINISHED_ROUND, 0, RECORD_HEAD };

/* The file. */
struct perfout {
	const char *path;
	int fd;
	bool pipe, failed;
	bool cut_short; /* the rest of the session is not known */
	bool has_draft; /* the records that are in the file are a draft */
	struct buf pending; /* records that are not in the file yet */
	uint64_t data, data_end; /* those that are */
	uint64_t tables, tables_end;
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
	size_t nids_in_pipe; /* with so many ids; records of further ones get the first id */
	bool lacks_task_and_time; /* in its records */
	bool left_out; /* not written: its records lack task and time, those of others do not */
	bool adds_tid; /* its records get PERF_SAMPLE_TID, which format has then */
	bool sample_lacks_task; /* a sample has no task */
	bool has_timed_record; /* a record has a time */
	bool opened_by_perf; /* which stores attrs in the size that it passes */
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
	struct map ids_in_pipe; /* the same, of ids that were written to a pipe */
	bool formats_in_pipe; /* the formats of tracepoints were written to a pipe */
	struct perfout_word *words; /* names in the command line of perf */
	size_t nwords;
	struct map late_events; /* opened after records were written that do not fit to them */
	/* records */
	bool ids_decided; /* whether records get ids; until then, they are held */
	bool with_ids;
	struct buf held;
	uint64_t first_held_ns; /* 0: none was held */
	size_t draft_len; /* bytes of held that are in the file as well, in case of a kill */
	uint64_t flushed_ns; /* when records were last written for their age, or a draft */
	uint64_t first_sample_ns, last_sample_ns;
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
	uint64_t sorted_until_ns; /* perf has sorted, and forgotten, records until then; and */
	uint64_t sorted_next_ns; /* until then at the end of this round */
	/* tasks */
	struct map described_pids; /* pid of records -> that of the process in our namespace */
	struct map execs; /* pid -> time of its last exec, or birth if the id was used before (uint64_t) */
	struct map perf_tasks; /* tids that run perf */
	struct map commands; /* tids whose command line is reported */
	struct map threads; /* tid -> pid */
	/* what the file lacks */
	uint64_t missed_bytes; /* overwritten in ring buffers before they were read */
	uint64_t missed_aux_bytes;
	uint64_t records_too_long; /* with an id */
	uint64_t counts_unnamed; /* in samples, of events that are not in the file */
	/* AUX areas */
	struct map aux_areas; /* ring number -> index of the area, from 1 */
	bool aux_described; /* PERF_RECORD_AUXTRACE_INFO was written */
	uint64_t clock[4]; /* time_shift, time_mult, time_zero, cap_user_time_zero of a page */
	struct buf build_ids; /* the section of the feature */
};

/* Writing bytes (perfout_file.c) ---------------------------------------------- */

/*
 * Begin a record in b with a fixed part of size bytes, which is zero but for type and misc; return
 * its bytes.  End it: pad it and set its size, which must be RECORD_MOST at most to be written.
 */
uint8_t *perfout_begin_record(struct buf *b, uint32_t type, uint16_t misc, size_t size);
void perfout_end_record(struct buf *b);

/* Set the size in the header of a record to that of b. */
void perfout_set_size(struct buf *b);

/* Append zeros to what begins in b at from, until its length is a multiple of align. */
void perfout_pad(struct buf *b, size_t from, size_t align);

/*
 * Begin the records anew, behind all that is in the file, and set *from and *to to the place of
 * those before.  Return a stream to read them from, or NULL if the file cannot be read.
 */
FILE *perfout_restart(struct perfout *o, uint64_t *from, uint64_t *to);

/*
 * Write the records that are pending, so that the file is whole if pevtrace is killed.  features:
 * sections to end the file with; empty ones are left out.  A pipe gets the records only, and t and
 * features are ignored.
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

/* Events (perfout_events.c) ---------------------------------------------------- */

/*
 * Note the events that a command line has for perf, if that is in it: of that task, or of those whose
 * command line is not reported (0).
 */
void perfout_note_command(struct perfout_view *v, pid_t tid, char *const *command);

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

/* Order the events and decide whether perf can tell their records apart as they are. */
void perfout_decide(struct perfout_view *v);

/* Return whether records of the event can be written beside those before. */
bool perfout_fits(const struct perfout_view *v, const struct perfout_event *e);

/* Return whether the event is in the tables of the file. */
bool perfout_is_written(const struct perfout_view *v, const struct perfout_event *e);

/* Append the attr as it is written, padded to size bytes. */
void perfout_attr(const struct perfout_view *v, const struct perfout_event *e, size_t size,
		  struct buf *out);

bool perfout_is_tracepoint(const struct perfout_event *e);

/* Read the format of an event if it is a tracepoint. */
void perfout_read_format(const struct perfout_view *v, struct perfout_event *e);

/* Return the first event of the file, or NULL. */
const struct perfout_event *perfout_first_event(const struct perfout_view *v);

/* Return the size of the largest attr. */
size_t perfout_attr_size(const struct perfout_view *v);

/* Return whether the counts in the event's records get ids, so that perf reads them. */
bool perfout_adds_read_ids(const struct perfout_event *e);

/* Return the format of the event's records as they are written. */
struct record_format perfout_format(const struct perfout_view *v, const struct perfout_event *e);

/* Write what a pipe does not have of the event yet; return whether anything was written. */
bool perfout_pipe_event(struct perfout_view *v, struct perfout_event *e);

/* Return the offset of the id in a record as the kernel writes it, or 0: it has none. */
size_t perfout_id_at(const struct perfout_event *e, bool sample, size_t len);

void perfout_free_events(struct perfout_view *v);

/* Records (perfout_records.c) --------------------------------------------------- */

/*
 * Write a record of an event (NULL: one that is synthesized, or of perf's own, with what follows
 * it), or hold it until events are open.
 */
void perfout_record(struct perfout_view *v, struct perfout_member *m, const uint8_t *bytes,
		    size_t len);

/*
 * Add an event to the file.  Return false after a warn() if the records written so far would have
 * to change and the output is a pipe.
 */
bool perfout_admit_event(struct perfout_view *v, struct perfout_event *e);

/* Add the records that are held to those of the file. */
void perfout_release(struct perfout_view *v);

/* Synthesize the records of a process that existed before. */
void perfout_on_measured(struct view *view, const struct activity *a);

/*
 * Synthesize a PERF_RECORD_LOST of an event whose ring was not read in time, or a
 * PERF_RECORD_LOST_SAMPLES.  lost: how many records at least
 */
void perfout_lost(struct perfout_view *v, struct perfout_member *m, uint32_t type, uint64_t lost);

/* Note that records so far are of another process or program than the task's. */
void perfout_begin_task(struct perfout_view *v, pid_t tid);

/* Note the process of a thread. */
void perfout_note_thread(struct perfout_view *v, pid_t tid, pid_t pid);

/* Mending records (perfout_mend.c) ------------------------------------------------- */

/*
 * Return a record as perf can read it: without a stale bit that makes perf abort, with its task and
 * with ids at counts; or r itself.  copies: room for the bytes.  Events of counts become events of
 * the file.
 */
struct activity_record perfout_mend(struct perfout_view *v, const struct activity_record *r,
				    uint32_t type, struct perfout_event *e, struct buf copies[2]);

/* Warnings (perfout_warnings.c) ------------------------------------------------------ */

/* Warn at the end of what the file lacks. */
void perfout_warn_losses(const struct perfout_view *v);

/* AUX areas (perfout_aux.c) ------------------------------------------------------ */

/* Tell perf of what the AUX data is, when an event is known that writes AUX data. */
void perfout_describe_aux(struct perfout_view *v);

/* Write AUX data. */
void perfout_aux(struct perfout_view *v, const struct activity_aux *a);

/* Note how the clock of the CPU relates to the time of records. */
void perfout_note_clock(struct perfout_view *v, const struct activity_look *l);

/* Features (perfout_features.c) --------------------------------------------------- */

/* Add a build id to those of the file. */
void perfout_add_build_id(struct perfout_view *v, const char *path, const uint8_t *id,
			  size_t size);

/* Write to a pipe those that are known at its start, or at its end. */
void perfout_pipe_features(struct perfout_view *v, bool end);

/* Write the formats of the tracepoints to a pipe if it has none: perf reads formats once only. */
void perfout_pipe_formats(struct perfout_view *v);

/* Write the records that are pending, with the tables. */
void perfout_flush(struct perfout_view *v, enum perfout_stage stage);
