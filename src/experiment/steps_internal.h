/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files steps*.c share. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/lib/die.h"
#include "experiment/steps.h"
#include "experiment/work.h"

/* Signals that "catch" received, in memory that the second process shares. */
struct step_signals {
	uint64_t count, first_code, code, signo, fd, addr, data, type;
};

/* Return them, or NULL before steps_map_signals(). */
const volatile struct step_signals *steps_signals(void);

/* Map their memory, before the second process is started and without page faults in the handler. */
bool steps_map_signals(void);

/* Count a signal from here on.  Return false if it is none that experiments use. */
bool steps_catch(const char *name);

/* Show a note, if the caller wants any. */
void steps_note(struct steps *run, const char *text);

/* Store the result of a call, and compare it with what the step expects. */
enum step_result steps_check_result(struct steps *run, int64_t result);

/* Evaluate "a OP b" as signed numbers.  Return false if op is unknown. */
bool steps_compare(uint64_t a, const char *op, uint64_t b, bool *holds);

/* Return the first value with that path, or NULL. */
const struct record_value *record_values_find(const struct record_values *r, const char *path);
void record_values_free(struct record_values *r);

/*
 * Return the pid of the second process, which is started by the first call; 0: it cannot
 * be started or has ended.
 */
pid_t steps_task_pid(struct steps *run);

/* A workload with its argument, a number or a text. */
struct workload_request {
	char name[24], text[24];
	uint64_t n;
};

/* Wait for the end of the second process. */
void steps_task_wait(struct steps *run);

/* The steps that make calls on events, up to one without a name. */
extern const struct step_word steps_calls[];

enum step_result step_find(struct steps *run);
