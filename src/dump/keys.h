/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lines of a dump: what the writer and the reader of them share.
 * pevtrace-json(5) describes them for everybody else.
 */
#ifndef PEVTRACE_DUMP_KEYS_H
#define PEVTRACE_DUMP_KEYS_H

/* Raised when a reader of the form before would misunderstand this one. */
#define DUMP_SCHEMA 1

/* Values of "kind". */
#define KIND_HEADER "header"
#define KIND_TASK "task"
#define KIND_FOUND "found"
#define KIND_FOUND_RING "found_ring"
#define KIND_COMM "comm"
#define KIND_NAME "name"
#define KIND_CALL "call"	/* a call from its beginning to its return */
#define KIND_ENTER "enter"	/* its beginning, where others come between */
#define KIND_EXIT "exit"	/* and its return */
#define KIND_ABANDONED "abandoned"
#define KIND_RECORD "record"
#define KIND_LOOK "look"
#define KIND_ID "id"
#define KIND_COUNT "count"
#define KIND_SIGNAL "signal"
#define KIND_EXEC "exec"
#define KIND_GONE "gone"
#define KIND_END "end"

#endif
