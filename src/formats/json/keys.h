/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names that the writer and the reader of dumps share; see pevtrace-json(5). */
#pragma once

/* Increment it if older readers would misread a dump. */
#define DUMP_SCHEMA 1

/* Values of "kind". */
#define KIND_HEADER "header"
#define KIND_TASK "task"
#define KIND_FOUND "found"
#define KIND_DESCRIBED "described"
#define KIND_CLOSED "closed"
#define KIND_PROGRAM "program"
#define KIND_FOUND_RING "found_ring"
#define KIND_MEASURED "measured"
#define KIND_BUILD_ID "build_id"
#define KIND_COMM "comm"
#define KIND_COMMAND "command"
#define KIND_NAME "name"
#define KIND_CALL "call"	/* a whole call */
#define KIND_ENTER "enter"	/* the start of a call, if other lines precede its return */
#define KIND_EXIT "exit"	/* the return of that call */
#define KIND_ABANDONED "abandoned"
#define KIND_RECORD "record"
#define KIND_LOOK "look"
#define KIND_AUX "aux"
#define KIND_ID "id"
#define KIND_COUNT "count"
#define KIND_SIGNAL "signal"
#define KIND_EXEC "exec"
#define KIND_GONE "gone"
#define KIND_LOST "lost"
#define KIND_END "end"

/* Values of "byte_order" in the header; by default it is that of "arch". */
#define BYTE_ORDER_BIG "big"
#define BYTE_ORDER_LITTLE "little"
